"""The floor: a textured disc that fades out at its edge, under the model and moving with its steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from skinpy.kinds import UVAnimation

from ..color import parse_color
from ..gpu.shader import programs
from ..gpu.uploads import Uploads
from .geometry import Surface
from .mesh import begin_blending, set_surface, upload_image
from .shadow import ShadowMap, ShadowPlace, Stamp
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
    """A textured ground plane at the lowest point of what is drawn, across `model.up`.

    `size` is the diameter in scene units (None: six times the model's size); it fades out towards its edge.
    `colors` are the two of the checker, "#rrggbb" or 3 numbers each, sRGB; `texture`, (h, w, 3|4) uint8
    sRGB with row 0 on top (far from who looks at the model's front), takes its place. `tile` is the side of
    one square of the checker, or of the texture, in scene units (None: a fifth of the model's size).
    `height` is how far up the plane lies, in scene units (None: the lowest point of the whole clip, of the
    rest pose for `pose=`).

    `speed` is how fast the model walks: the floor moves the other way, as under a camera that follows. A
    number is in scene units per second of the clip, along the model's front (+Z, or -Y where up is Z); 3
    numbers are a velocity; "auto" is what cancels the motion of the lowest points best (see
    `ground_velocity`), 0 where there is no clip; None stands still. `uv` is a UVAnimation of the floor's
    texture coordinates, on top of that.

    `shadow`, 0 to 1, is how dark the soft shadow is under what touches the floor or hovers over it; 0 is
    none.

    Raises ValueError or TypeError for wrong arguments.
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
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ValueError(f"{name} is {value!r}; expected a number above 0, or None")
        if not isinstance(self.shadow, (int, float)) or not 0 <= self.shadow <= 1:
            raise ValueError(f"shadow is {self.shadow!r}; expected a number from 0 to 1")
        if self.height is not None and not math.isfinite(self.height):
            raise ValueError(f"height is {self.height!r}; expected a finite number, or None")
        if len(self.colors) != 2:
            raise ValueError(f"colors is {self.colors!r}; expected two colors")
        for color in self.colors:
            parse_color("colors", color)
        if self.texture is not None:
            _rgba(self.texture)
        if self.uv is not None and not isinstance(self.uv, UVAnimation):
            raise TypeError(f"uv is {type(self.uv).__name__}; expected a UVAnimation, or None")
        self.velocity(np.zeros(3))

    def velocity(self, front: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """(3,) scene units per second at which the model walks, its front being `front`; None: "auto"."""
        if isinstance(self.speed, str) and self.speed == "auto":
            return None
        wanted = 'expected a number, 3 numbers, "auto" or None'
        try:
            speed = np.asarray(0.0 if self.speed is None else self.speed, np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"speed is {self.speed!r}; {wanted}") from None
        if speed.shape not in ((), (3,)) or not np.isfinite(speed).all():
            raise ValueError(f"speed is {self.speed!r}; {wanted}")
        return speed * front if speed.shape == () else speed

    @property
    def image(self) -> NDArray[np.uint8]:
        """(h, w, 4) uint8: what repeats on the floor."""
        if self.texture is not None:
            return _rgba(self.texture)
        first, second = (parse_color("colors", color) for color in self.colors)
        return _checker(first, second)

    @property
    def tiles(self) -> int:
        """Tiles in a row of the image."""
        return 2 if self.texture is None else 1


def chosen_floor(floor: Floor | bool | None) -> Floor | None:
    """The Floor that is meant: True is an ordinary one, False and None are none; else TypeError."""
    if isinstance(floor, Floor):
        return floor
    if floor is None or isinstance(floor, bool):
        return Floor() if floor else None
    raise TypeError(f"floor is {type(floor).__name__}; expected a Floor, True or False")


@dataclass(frozen=True)
class FloorPlace:
    """Where the floor lies in one frame.

    `center` (3,), scene space; `right` and `near` (3,) lead from there to the edge; `uv` (3, 3) makes
    texture coordinates of places on the unit disc, which are columns (along right, along near, 1). `shadow`
    is where the shadow of what is drawn falls, if it has one.
    """

    center: NDArray[np.float64]
    right: NDArray[np.float64]
    near: NDArray[np.float64]
    uv: NDArray[np.float64]
    shadow: ShadowPlace | None = None


class FloorScene:
    """The floor on the GPU. All calls belong on the context's thread."""

    def __init__(self, context: moderngl.Context, floor: Floor) -> None:
        self._context = context
        self.uploads = Uploads(context)
        # The floor fills the picture: with anisotropy, Mesa's software renderer takes twice as long for all.
        self._texture = upload_image(self.uploads, floor.image, anisotropy=1.0)
        self._wrap = "repeat" if floor.uv is None else floor.uv.wrap
        self._program = programs(context).get("floor.vert", "lit.frag")
        corners = disc()
        self._count = len(corners)
        content = [(self.uploads.buffer(corners), "2f 1f", "in_place", "in_alpha")]
        self._array = context.vertex_array(self._program, content)
        self._shadow: ShadowMap | None = None  # made when something first casts one

    def cast(self, stamp: Stamp, place: FloorPlace) -> None:
        """Make the shadow of what `stamp` draws ready, if it has one, before the frame begins: it binds
        another framebuffer.
        """
        if place.shadow is None:
            return
        if self._shadow is None or self._shadow.texels != place.shadow.texels:
            self._shadow = ShadowMap(self.uploads, place.shadow.texels)
        self._shadow.cast(stamp, place.shadow)

    def draw(self, place: FloorPlace, view: View, framebuffer: moderngl.Framebuffer) -> None:
        """Draw the floor over what is there and not nearer; it hides nothing that comes later."""
        program = self._program
        view.set_uniforms(program)
        program["center"], program["right"], program["near"] = (
            tuple(place.center),
            tuple(place.right),
            tuple(place.near),
        )
        program["uv_transform"] = tuple(place.uv.T.ravel())
        program["base_texture"] = 0
        set_surface(program, _SURFACE)
        set_wrap(program, self._texture, self._wrap)
        self._texture.use(0)
        self._context.enable_only(moderngl.DEPTH_TEST)
        begin_blending(self._context, framebuffer)
        self._array.render(moderngl.TRIANGLES, self._count)
        framebuffer.depth_mask = True
        if place.shadow is not None and self._shadow is not None:
            radius = float(np.linalg.norm(place.right))
            self._shadow.draw(place.shadow, place.center, radius, view, framebuffer)


def _rgba(texture: Any) -> NDArray[np.uint8]:
    if not isinstance(texture, np.ndarray) or texture.dtype != np.uint8:
        raise TypeError("texture is no array of uint8; expected (h, w, 3) or (h, w, 4) of uint8, or None")
    if texture.ndim != 3 or texture.shape[2] not in (3, 4) or 0 in texture.shape:
        raise ValueError(f"texture has shape {texture.shape}; expected (h, w, 3) or (h, w, 4)")
    if texture.shape[2] == 4:
        return np.ascontiguousarray(texture)
    return np.concatenate([texture, np.full((*texture.shape[:2], 1), 255, np.uint8)], axis=2)


@cache
def _checker(first: tuple[float, ...], second: tuple[float, ...]) -> NDArray[np.uint8]:
    """(h, w, 4): two by two squares with thin seams."""
    place = np.arange(2 * _CHECK_PIXELS)
    odd = (place >= _CHECK_PIXELS)[:, None] ^ (place >= _CHECK_PIXELS)
    image = np.where(odd[..., None], second, first)
    edge = np.minimum(place % _CHECK_PIXELS, _CHECK_PIXELS - 1 - place % _CHECK_PIXELS) < _SEAM_PIXELS
    image[edge[:, None] | edge, :3] *= _SEAM_SHADE
    return np.round(image * 255).astype(np.uint8)


def disc() -> NDArray[np.float32]:
    """The unit disc as triangles, (N, 3) float32: place on it and alpha of each corner."""
    angles = np.linspace(0, 2 * np.pi, _SEGMENTS + 1)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rings = [np.column_stack([radius * circle, np.full(len(circle), alpha)]) for radius, alpha in _RINGS]
    faces = []
    for inner, outer in pairwise(rings):
        a, b, c, d = inner[:-1], inner[1:], outer[:-1], outer[1:]
        # right x near points down (near is towards the viewer), so this order faces up.
        faces += [np.stack([a, d, c], axis=1), np.stack([a, b, d], axis=1)]
    return np.concatenate(faces).reshape(-1, 3).astype(np.float32)
