"""The floor: a textured disc under the model that fades out at its edge and moves with the steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from skinpy.kinds import UVAnimation

from ..._arguments import between, brief, finite, floats, items_of, numbers, positive
from ..color import parse_color
from ..gpu.shader import programs
from ..gpu.uploads import Uploads
from .geometry import Surface
from .mesh import begin_blending, set_surface, upload_image
from .shadow import ShadowArea, ShadowMap, Stamp
from .texturing import set_wrap
from .view import View

_CHECK_PIXELS = 128  # side of one square of the checker
_SEAM_PIXELS = 2  # half the line between two squares
_SEAM_SHADE = 0.82
# Radius and alpha of the rings that the disc is made of.
_RINGS = ((0.0, 1.0), (0.5, 1.0), (0.65, 0.82), (0.8, 0.46), (0.92, 0.13), (1.0, 0.0))
_SEGMENTS = 72
_SURFACE = Surface(base_color=(1.0, 1.0, 1.0, 1.0), alpha="blend", double_sided=False)


@dataclass(frozen=True, eq=False)
class Floor:
    """A textured ground plane under a model that scrolls with its walk.

    It is perpendicular to `Model.up` and fades out towards its edge.

    Parameters
    ----------
    size : float, scene units, optional
        Diameter of the plane. Without it, six times the size of the model.
    colors : tuple of two colors, default ("#d3d8de", "#aab3bf")
        The two colors of the checker: "#rrggbb", or 3 sRGB numbers from 0 to 1.
    texture : (h, w, 3) or (h, w, 4) uint8 ndarray, sRGB, optional
        An image that repeats in place of the checker. Its row 0 is far from a viewer in front of the model.
    tile : float, scene units, optional
        Side of one square of the checker, or of the texture. Without it, a fifth of the size of the model.
    height : float, scene units, optional
        Height of the plane along the up axis. Without it, the lowest point of the whole clip, or of the
        rest pose where a pose is drawn.
    speed : float or array_like, shape (3,), scene units per second, default "auto"
        How fast the model walks. The floor moves the other way, as under a camera that follows. A number is
        the speed along the front of the model (+Z, or -Y where up is Z), 3 numbers are a velocity. "auto" is
        the velocity of `ground_velocity`, 0 without a clip. None stands still.
    uv : UVAnimation, optional
        An animation of the floor's texture coordinates, on top of that motion.
    shadow : float, default 0.7
        How dark the soft shadow of the model is, 0 (none) to 1.

    Raises
    ------
    ValueError
        If a number is out of range, or an array has the wrong shape.
    TypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> floor = skinpy.render.Floor(speed=1.4, colors=("#ffffff", "#dddddd"))
    >>> skinpy.render.render(skinpy.character(), "walk", size=(160, 120), floor=floor).shape
    (120, 160, 4)
    """

    size: float | None = None
    colors: tuple[str | Sequence[float], str | Sequence[float]] = ("#d3d8de", "#aab3bf")
    texture: NDArray[np.uint8] | None = None
    tile: float | None = None
    height: float | None = None
    speed: float | Sequence[float] | str | None = "auto"
    uv: UVAnimation | None = None
    shadow: float = 0.7

    def __post_init__(self) -> None:
        for name in ("size", "tile"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name), "a number above 0, or None")
        between("shadow", self.shadow, 0.0, 1.0)
        if self.height is not None:
            finite("height", self.height)
        colors = items_of("colors", self.colors, "two colors")
        if len(colors) != 2:
            raise ValueError(f"colors is {brief(self.colors)}; expected two colors")
        for color in colors:
            parse_color("colors", color)
        if self.texture is not None:
            _rgba(self.texture)
        if self.uv is not None and not isinstance(self.uv, UVAnimation):
            raise TypeError(f"uv is {type(self.uv).__name__}; expected a UVAnimation, or None")
        self.velocity(np.zeros(3))

    def velocity(self, front: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the velocity at which a model walks on the floor.

        Parameters
        ----------
        front : (3,) float64 ndarray
            Unit vector along which the model faces.

        Returns
        -------
        (3,) float64 ndarray or None
            The velocity in scene units per second, or None where `speed` is "auto".

        Raises
        ------
        ValueError
            If `speed` has another shape or is not finite.
        TypeError
            If `speed` is not numeric.
        """
        if isinstance(self.speed, str) and self.speed == "auto":
            return None
        wanted = 'expected a number, 3 numbers, "auto" or None'
        if isinstance(self.speed, str):
            raise TypeError(f"speed is {brief(self.speed)}; {wanted}")
        speed = numbers("speed", 0.0 if self.speed is None else self.speed)
        if speed.shape not in ((), (3,)) or not np.isfinite(speed).all():
            raise ValueError(f"speed is {brief(self.speed)}; {wanted}")
        return speed * floats("front", front, (3,), np.float64) if speed.shape == () else speed

    @property
    def image(self) -> NDArray[np.uint8]:
        """The image that repeats on the floor, (h, w, 4) uint8, sRGB."""
        if self.texture is not None:
            return _rgba(self.texture)
        first, second = (parse_color("colors", color) for color in self.colors)
        return _checker(first, second)

    @property
    def tiles(self) -> int:
        """Number of tiles in a row of the image: 2 in a checker, 1 in a texture."""
        return 2 if self.texture is None else 1


def chosen_floor(floor: Floor | bool | None) -> Floor | None:
    """The floor of an argument: True is a default Floor, False and None are none. Raises TypeError."""
    if isinstance(floor, Floor):
        return floor
    if floor is None or isinstance(floor, bool):
        return Floor() if floor else None
    raise TypeError(f"floor is {type(floor).__name__}; expected a Floor, True or False")


@dataclass(frozen=True)
class FloorPlane:
    """Where the floor lies in one frame.

    `center` (3,) is in scene space; the vectors `right` and `near` (3,) lead from there to the edge. `uv`
    (3, 3) takes points of the unit disc, columns (along right, along near, 1), to texture coordinates.
    `shadow` is the area of the shadow on the floor; None is no shadow.
    """

    center: NDArray[np.float64]
    right: NDArray[np.float64]
    near: NDArray[np.float64]
    uv: NDArray[np.float64]
    shadow: ShadowArea | None = None


class FloorScene:
    """The floor on the GPU. All calls belong on the context's thread."""

    def __init__(self, context: moderngl.Context, floor: Floor) -> None:
        self._context = context
        self.uploads = Uploads(context)
        # No anisotropy: the floor fills the picture, and Mesa's software renderer would take twice as long.
        self._texture = upload_image(self.uploads, floor.image, anisotropy=1.0)
        wrap = "repeat" if floor.uv is None else floor.uv.wrap
        self._wrap = (wrap, wrap)
        self._program = programs(context).get("floor.vert", "lit.frag")
        corners = disc()
        self._count = len(corners)
        content = [(self.uploads.buffer(corners), "2f 1f", "in_place", "in_alpha")]
        self._array = context.vertex_array(self._program, content)
        self._shadow: ShadowMap | None = None  # made when the first shadow is cast

    def cast(self, stamp: Stamp, plane: FloorPlane) -> None:
        """Prepare the shadow of the figure that `stamp` draws, if the plane has one.

        Call it before the frame begins, as it binds another framebuffer.
        """
        if plane.shadow is None:
            return
        if self._shadow is None or self._shadow.texels != plane.shadow.texels:
            self._shadow = ShadowMap(self.uploads, plane.shadow.texels)
        self._shadow.cast(stamp, plane.shadow)

    def draw(self, plane: FloorPlane, view: View, framebuffer: moderngl.Framebuffer) -> None:
        """Draw the floor behind what is nearer; it writes no depth, so it hides nothing drawn later."""
        program = self._program
        view.set_uniforms(program)
        program["center"], program["right"], program["near"] = (
            tuple(plane.center),
            tuple(plane.right),
            tuple(plane.near),
        )
        program["uv_transform"] = tuple(plane.uv.T.ravel())
        program["base_texture"] = 0
        set_surface(program, _SURFACE)
        set_wrap(program, self._texture, self._wrap)
        self._texture.use(0)
        self._context.enable_only(moderngl.DEPTH_TEST)
        begin_blending(self._context, framebuffer)
        self._array.render(moderngl.TRIANGLES, self._count)
        framebuffer.depth_mask = True
        if plane.shadow is not None and self._shadow is not None:
            radius = float(np.linalg.norm(plane.right))
            self._shadow.draw(plane.shadow, plane.center, radius, view, framebuffer)


def _rgba(texture: Any) -> NDArray[np.uint8]:
    if not isinstance(texture, np.ndarray) or texture.dtype != np.uint8:
        raise TypeError("texture is not an array of uint8; expected (h, w, 3) or (h, w, 4) of uint8, or None")
    if texture.ndim != 3 or texture.shape[2] not in (3, 4) or 0 in texture.shape:
        raise ValueError(f"texture has shape {texture.shape}; expected (h, w, 3) or (h, w, 4)")
    if texture.shape[2] == 4:
        return np.ascontiguousarray(texture)
    return np.concatenate([texture, np.full((*texture.shape[:2], 1), 255, np.uint8)], axis=2)


@cache
def _checker(first: tuple[float, ...], second: tuple[float, ...]) -> NDArray[np.uint8]:
    """A checker of two by two squares with thin seams, (h, w, 4)."""
    pixel = np.arange(2 * _CHECK_PIXELS)
    is_second = (pixel >= _CHECK_PIXELS)[:, None] ^ (pixel >= _CHECK_PIXELS)
    image = np.where(is_second[..., None], second, first)
    edge = np.minimum(pixel % _CHECK_PIXELS, _CHECK_PIXELS - 1 - pixel % _CHECK_PIXELS) < _SEAM_PIXELS
    image[edge[:, None] | edge, :3] *= _SEAM_SHADE
    return np.round(image * 255).astype(np.uint8)


def disc() -> NDArray[np.float32]:
    """The unit disc as triangles, (N, 3) float32: the point on the disc and the alpha of each corner."""
    angles = np.linspace(0, 2 * np.pi, _SEGMENTS + 1)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rings = [np.column_stack([radius * circle, np.full(len(circle), alpha)]) for radius, alpha in _RINGS]
    faces = []
    for inner, outer in pairwise(rings):
        a, b, c, d = inner[:-1], inner[1:], outer[:-1], outer[1:]
        # right x near points down (near is towards the viewer), so this order faces up.
        faces += [np.stack([a, d, c], axis=1), np.stack([a, b, d], axis=1)]
    return np.concatenate(faces).reshape(-1, 3).astype(np.float32)
