"""Offscreen pictures of models.

`render` draws one picture, a `Renderer` many, and a `Crowd` many instances in one picture. A `Camera` sees
them (`turntable` returns cameras around a model), a `Floor` may be under them, and `Overlays` explain them.
`Renderer.render` returns a picture with `GroundTruth`.

The package needs moderngl (the extra "view") and an OpenGL 3.3 context, which Mesa's software renderer also
provides. ``import skinpy`` alone does not load it.
"""

import sys as _sys

# The other project called skinpy has a module `render`, which its first module imports: this one, where both
# projects were installed into one folder.
if not hasattr(_sys.modules["skinpy"], "__version__"):
    raise ImportError(
        "another package called skinpy was installed over skinpy-anim, or removed from the same folder. "
        "Remedy: pip uninstall skinpy skinpy-anim, then pip install skinpy-anim"
    )

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
