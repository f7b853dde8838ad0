"""Shows images in a window: each is a texture, drawn over those before it.

The stage draws in the OpenGL context of the graphics thread. The window has its own context and only shows
finished pictures, so the two share nothing and each stays in its thread. With software rendering, where it
matters most, copying the picture costs less than a tenth of drawing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from ...render.gpu import context as gl
from ...render.gpu.shader import programs

Image = NDArray[np.uint8]
#: An image (h, w, 4), and its upper left corner in pixels from the left and top of the window.
Layer = tuple[Image, int, int]


class _Loader:
    """What moderngl expects of an OpenGL context that another library has made current."""

    def __init__(self, find: Callable[[str], int | None]) -> None:
        self._find = find

    def load_opengl_function(self, name: str) -> int:
        return self._find(name) or 0

    def __enter__(self) -> _Loader:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def release(self) -> None:
        pass


class Screen:
    """Shows images in the OpenGL context that is current on this thread; `find` returns GL functions by name.

    All calls belong on that thread. They raise GraphicsError for errors that OpenGL reports.
    """

    def __init__(self, find: Callable[[str], int | None]) -> None:
        loader: Any = _Loader(find)  # moderngl's types know dicts alone
        self._context = moderngl.create_context(context=loader)
        # Python may drop objects on any thread; `show` frees them on this one.
        self._context.gc_mode = "context_gc"
        self._program = programs(self._context).get("present.vert", "window.frag")
        self._triangle = self._context.vertex_array(self._program, [])
        self._textures: list[moderngl.Texture] = []

    def show(self, size: tuple[int, int], layers: Iterable[Layer]) -> None:
        """Draw the layers on white, the lowest first, in a window of `size` pixels."""
        context = self._context
        screen: Any = context.screen  # moderngl's types have viewports of two numbers
        context.gc()
        screen.use()
        screen.viewport = (0, 0, *size)
        screen.clear(1.0, 1.0, 1.0, 1.0)
        context.enable_only(moderngl.BLEND)
        context.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        self._program["image"] = 0
        for number, (image, left, top) in enumerate(layers):
            height, width = image.shape[:2]
            corner = left, size[1] - top - height
            screen.viewport = (*corner, width, height)
            self._program["corner"] = corner
            self._texture(number, image).use(0)
            self._triangle.render(moderngl.TRIANGLES, vertices=3)
        gl.check(context, "showing a picture in a window")

    def _texture(self, number: int, image: Image) -> moderngl.Texture:
        """The image as a texture; the texture of the previous frame is reused if it has the same size."""
        size = image.shape[1], image.shape[0]
        if number == len(self._textures):
            self._textures.append(self._context.texture(size, 4))
        elif self._textures[number].size != size:
            self._textures[number] = self._context.texture(size, 4)
        self._textures[number].write(np.ascontiguousarray(image))
        return self._textures[number]
