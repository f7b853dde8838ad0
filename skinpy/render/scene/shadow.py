"""The soft shadow on the floor under a figure.

No light casts it. A point of the ground is the darker, the more of the sky above it the figure covers, and
the lower the figure is there. The figure (or a crowd) is drawn from straight above into a small map. Each
texel keeps how near the lowest point over it is to the ground, on two scales: contact and cover. The map is
blurred and drawn on the floor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import moderngl
import numpy as np
from numpy.typing import NDArray

from ..gpu.shader import programs
from ..gpu.uploads import Uploads
from .mesh import begin_blending
from .paint import Paint, Prepare
from .view import View

# Draws all that casts a shadow in one call with the shaders of a paint: `Scene.stamp` of a figure.
Stamp: TypeAlias = Callable[[Paint, Prepare], None]

TEXELS = 128  # side of the map of one figure
_MAX_TEXELS = 2048  # side of the map of a crowd
_CAST = Paint("shadow_cast.frag")
# By the size of the model:
FADES = (0.03, 0.2)  # heights at which contact, and cover, are down to 1/e
DEVIATIONS = (0.008, 0.032)  # standard deviations of the blurs
STEP = 0.25  # the side of the map grows in such steps, so that its texels keep their size in a motion
MARGIN = 2.5  # around the figure, in deviations of the wider blur
_MAX_TEXEL = 0.02  # side of a texel in the map of a crowd, unless that has its largest number of texels


@dataclass(frozen=True)
class ShadowArea:
    """The square of the ground that a figure may darken.

    `center` (3,) is in scene space; `right`, `near` and `up` (3,) are unit vectors. `reach` is half the side
    and `size` the size of the model, both in scene units. `strength` is 0 to 1. `texels` is the side of the
    map.
    """

    center: NDArray[np.float64]
    right: NDArray[np.float64]
    near: NDArray[np.float64]
    up: NDArray[np.float64]
    reach: float
    size: float
    strength: float
    texels: int = TEXELS

    def projection(self) -> NDArray[np.float64]:
        """The matrix (4, 4) from scene space to the map: right and near from -1 to 1, the height 0."""
        matrix = np.zeros((4, 4))
        matrix[0, :3], matrix[1, :3] = self.right / self.reach, self.near / self.reach
        matrix[:2, 3] = -matrix[:2, :3] @ self.center
        matrix[3, 3] = 1.0
        return matrix


def shadow_area(
    box: NDArray[np.float64],
    ground: NDArray[np.float64],
    axes: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    size: float,
    strength: float,
) -> ShadowArea | None:
    """Where the shadow of a figure in `box` (2, 3) falls; None for a box that is not finite.

    `ground` (3,) is a point on the ground. `axes` are its unit vectors right, near and up, along axes of the
    scene.
    """
    if not np.isfinite(box).all() or strength == 0:
        return None
    right, near, up = axes
    middle, half = box.mean(axis=0), np.ptp(box, axis=0) / 2
    widest = max(float(half @ np.abs(right)), float(half @ np.abs(near)))
    step = STEP * size
    reach = float(np.ceil((widest + MARGIN * DEVIATIONS[1] * size) / step)) * step
    center = middle + ((ground - middle) @ up) * up
    return ShadowArea(center, right, near, up, reach, size, strength)


def crowd_texels(reach: float, size: float) -> int:
    """Side of the map of a crowd of figures of `size`; a power of two, so that it rarely changes."""
    texels = TEXELS
    while texels < _MAX_TEXELS and 2 * reach / texels > _MAX_TEXEL * size:
        texels *= 2
    return texels


class ShadowMap:
    """The map of a shadow on the GPU. All calls belong on the context's thread."""

    def __init__(self, uploads: Uploads, texels: int) -> None:
        self._context = context = uploads.context
        self.texels = texels
        textures = [context.texture((texels, texels), 2, dtype="f2") for _ in range(2)]
        for texture in textures:
            texture.repeat_x = texture.repeat_y = False
        self._texture, self._between = textures
        self._framebuffer, self._other = (context.framebuffer([texture]) for texture in textures)
        self._blur = programs(context).get("present.vert", "shadow_blur.frag")
        self._program = programs(context).get("shadow.vert", "shadow.frag")
        self._triangle = context.vertex_array(self._blur, [])
        self._square = context.vertex_array(self._program, [])

    def cast(self, stamp: Stamp, area: ShadowArea) -> None:
        """Draw the map of the figure that `stamp` draws. Another framebuffer is bound afterwards."""
        context = self._context

        def prepare(program: moderngl.Program) -> None:
            program["view_projection"] = tuple(area.projection().T.ravel())
            program["ground_center"], program["ground_up"] = tuple(area.center), tuple(area.up)
            program["fades"] = tuple(area.size * fade for fade in FADES)

        self._framebuffer.use()
        self._framebuffer.clear()
        context.enable_only(moderngl.BLEND)
        context.blend_equation = moderngl.MAX, moderngl.MAX
        stamp(_CAST, prepare)
        context.blend_equation = moderngl.FUNC_ADD, moderngl.FUNC_ADD
        context.enable_only(moderngl.NOTHING)
        deviations = [max(area.size * wide / (2 * area.reach) * self.texels, 0.3) for wide in DEVIATIONS]
        self._blur["deviations"], self._blur["reach"] = tuple(deviations), int(np.ceil(2.5 * deviations[1]))
        self._blur["sharp"] = 0
        self._blur_along((1, 0), self._texture, self._other)
        self._blur_along((0, 1), self._between, self._framebuffer)

    def _blur_along(
        self, direction: tuple[int, int], source: moderngl.Texture, target: moderngl.Framebuffer
    ) -> None:
        target.use()
        source.use(0)
        self._blur["direction"] = direction
        self._triangle.render(moderngl.TRIANGLES, vertices=3)

    def draw(
        self,
        area: ShadowArea,
        floor_center: NDArray[np.float64],
        floor_radius: float,
        view: View,
        framebuffer: moderngl.Framebuffer,
    ) -> None:
        """Darken the floor, which is drawn already, by the map. From below nothing is seen."""
        if (np.array(view.camera.eye) - area.center) @ area.up <= 0:
            return
        program = self._program
        view.set_projection(program)
        program["center"] = tuple(area.center)
        program["right"], program["near"] = tuple(area.reach * area.right), tuple(area.reach * area.near)
        program["strength"], program["map"] = area.strength, 0
        program["floor_center"], program["floor_radius"] = tuple(floor_center), floor_radius
        self._texture.use(0)
        self._context.enable_only(moderngl.DEPTH_TEST)
        begin_blending(self._context, framebuffer)
        self._square.render(moderngl.TRIANGLE_STRIP, 4)
        framebuffer.depth_mask = True
