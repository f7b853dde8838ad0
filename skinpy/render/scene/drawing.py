"""All that the drawing of a frame needs besides the scene, as one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import moderngl

from ..figure import Figure
from .texturing import Texturing
from .view import View


class Drawing(NamedTuple):
    """A figure to draw, from where it is seen, and the bound framebuffer."""

    figure: Figure
    view: View
    framebuffer: moderngl.Framebuffer
    texturing: Texturing
    ground: Callable[[], None] | None  # draws the floor, after opaque and before blended faces
