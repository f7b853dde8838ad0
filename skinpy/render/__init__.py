"""Offscreen pictures of models: a `Renderer` for many, `render` for one, and the `Camera` they see through.

Needs moderngl (the extra `view`) and an OpenGL 3.3 context, which Mesa's software renderer also gives.
`import skinpy` alone does not load this package.
"""

try:
    import moderngl as _moderngl  # noqa: F401
except ImportError as error:
    raise ImportError("drawing needs moderngl: pip install 'skinpy-anim[view]'") from error

from .camera import Camera
from .renderer import Renderer, render

__all__ = ["Camera", "Renderer", "render"]
