"""What windows and live views share: a model that plays, the camera that looks at it, and the picture."""

from .camera_rig import CameraRig
from .layer import Layer
from .orbit import Orbit
from .player import LOOPS, Player
from .stage import BACKGROUND, Stage

__all__ = ["BACKGROUND", "LOOPS", "CameraRig", "Layer", "Orbit", "Player", "Stage"]
