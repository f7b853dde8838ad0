"""The controller, and the tracks, passed events and recordings that it returns."""

from .playing.controller import AnimationController
from .playing.recording import Recording
from .playing.track import PassedEvent, Track

__all__ = ["AnimationController", "PassedEvent", "Recording", "Track"]
