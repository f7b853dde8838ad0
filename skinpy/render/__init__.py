"""Offscreen pictures of models: a `Renderer` for many, `render` for one, `Crowd` for many instances in one
picture, the `Camera` they see through (`turntable` turns one round a model), the `Floor` they stand on, and
`Overlays` that explain them. `Renderer.render` gives a picture with `GroundTruth`.

Needs moderngl (the extra `view`) and an OpenGL 3.3 context, which Mesa's software renderer also gives.
`import skinpy` alone does not load this package.
"""

try:
    import moderngl as _moderngl  # noqa: F401
except ImportError as error:
    raise ImportError("drawing needs moderngl: pip install 'skinpy-anim[view]'") from error

from .camera import Camera
from .crowd.crowd import Crowd
from .crowd.grid import grid
from .overlays.options import Overlays
from .overlays.plan import available_overlays
from .renderer import Renderer, render
from .scene.floor import Floor
from .scene.ground import ground_velocity
from .truth.ground_truth import GroundTruth
from .turntable import turntable

__all__ = [
    "Camera",
    "Crowd",
    "Floor",
    "GroundTruth",
    "Overlays",
    "Renderer",
    "available_overlays",
    "grid",
    "ground_velocity",
    "render",
    "turntable",
]
