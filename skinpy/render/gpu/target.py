"""The framebuffers of a frame: samples in linear light are averaged, then encoded as an sRGB picture."""

from __future__ import annotations

from collections.abc import Sequence

import moderngl
import numpy as np
from numpy.typing import NDArray

from skinpy.errors import GraphicsError

from ..color import srgb_to_linear
from . import context as gl
from .shader import programs


class Target:
    """Framebuffers of one size. All calls belong on the context's thread.

    Half floats hold linear, premultiplied color until the last step: only there is the mean of samples
    right, and 8 bits are too few for dark or nearly transparent colors.
    """

    def __init__(self, context: moderngl.Context, size: tuple[int, int], samples: int) -> None:
        gl.check_fits(context, size)
        self.size = size
        self.samples = clamp_samples(context, samples)
        self.context = context
        try:
            self._make_framebuffers(size)
        except moderngl.Error as error:
            raise GraphicsError(
                f"size is {size[0]}x{size[1]}, for which this OpenGL has no memory ({error}): "
                "choose a smaller size"
            ) from None
        self._present = programs(context).get("present.vert", "present.frag", defines={"TOP_FIRST": 1})
        self._triangle = context.vertex_array(self._present, [])
        gl.check(context, f"making a picture of size {size}")

    def _make_framebuffers(self, size: tuple[int, int]) -> None:
        context = self.context
        self._linear = context.texture(size, 4, dtype="f2")
        depth = context.depth_renderbuffer(size, samples=self.samples)
        if self.samples:
            color = context.renderbuffer(size, 4, samples=self.samples, dtype="f2")
            self.framebuffer = context.framebuffer([color], depth)
            self._resolved = context.framebuffer([self._linear])
        else:
            self.framebuffer = self._resolved = context.framebuffer([self._linear], depth)
        self._picture = context.framebuffer([context.renderbuffer(size, 4)])

    def begin(self, background: Sequence[float]) -> None:
        """Bind and clear. `background` is red, green, blue and straight alpha: sRGB, 0 to 1."""
        alpha = background[3]
        red, green, blue = (srgb_to_linear(part) * alpha for part in background[:3])
        self.framebuffer.use()
        self.framebuffer.depth_mask = True
        self.framebuffer.clear(red, green, blue, alpha)

    def finish(self, out: NDArray[np.uint8]) -> None:
        """Average the samples and read the picture into `out`, (h, w, 4) uint8, C-contiguous."""
        context = self.context
        if self.samples:
            context.copy_framebuffer(self._resolved, self.framebuffer)
        self._picture.use()
        context.enable_only(moderngl.NOTHING)
        self._linear.use(0)
        self._present["resolved"] = 0
        self._triangle.render(moderngl.TRIANGLES, vertices=3)
        self._picture.read_into(out, components=4)
        gl.check(context, "drawing a frame")


def clamp_samples(context: moderngl.Context, samples: int) -> int:
    """`samples` lowered to a power of two that the context has; 0 is no multisampling."""
    allowed = min(samples, int(context.max_samples))
    return 0 if allowed < 2 else 1 << (allowed.bit_length() - 1)
