"""Crowds: thousands of instances of one model in one picture, drawn by one call per material."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import moderngl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from skinpy._arguments import floats, whole
from skinpy.clip import Clip
from skinpy.kinds.baking import INSTANCE, BakedTexture

from ..arguments import check_samples, check_size, checked_picture
from ..camera import Camera, Framing, front_vector, up_vector
from ..color import parse_color
from ..gpu import context as gl
from ..gpu.closing import Closing
from ..gpu.target import Target
from ..gpu.uploads import table_limits
from ..posing import Poser
from ..scene.floor import Floor, FloorPlace, FloorScene, chosen_floor
from ..scene.geometry import geometry
from ..scene.ground import Ground
from ..scene.texturing import PLAIN
from ..scene.view import View
from .instances import Staging
from .scene import CrowdScene

if TYPE_CHECKING:
    from skinpy._types import Loop, Rotation
    from skinpy.model import Model

T = TypeVar("T")

_ELEVATION = 25.0  # degrees that a crowd's camera stands above it by default: those behind are seen too
_SPACING = 1.25  # from instance to instance in a grid, in widths of the model


class _Resources(NamedTuple):
    scene: CrowdScene
    target: Target
    floor: FloorScene | None


class Crowd(Closing[_Resources]):
    """Draws many instances of one model, offscreen: one draw call for each material, however many there are.

    `placements`, (N, 3, 4) or (N, 4, 4), say where each instance stands: scene space of the model to scene
    space of the picture, column vectors, any affine transform. They go to the GPU once.

    - Without `baked` each frame works out the palettes of all instances (`Model.crowd_palette`) and sends
      them in one write: 48 bytes per instance and slot. Any clips, blends and palettes of your own.
    - With `baked`, a texture that `Model.bake_texture` made of this model, the vertex shader poses each
      instance by itself, and a frame sends 16 bytes per instance.

    `clips`, a sequence of Clips, names or numbers, is what clip_index counts in: by default all clips of the
    model; with `baked` it is what was baked, and not given here. `morph_weights` (M,) are those of all
    instances, by default the file's. `size`, `samples`, `background` and `floor` are as in `Renderer`; the
    floor lies still, and the instances have shadows on it. Blended faces are drawn in the order of the
    instances: give the farthest first.

    Any thread may call it; drawing happens on the process's graphics thread. `close()`, or leaving a
    `with` block, frees what it holds on the GPU; so does dropping it.

    Raises ValueError or TypeError for wrong arguments, a model without a mesh, and a texture baked from
    another model; KeyError or IndexError for unknown clips; GraphicsError where there is no OpenGL 3.3, and
    where palettes or the baked texture are larger than the context's textures; ShaderError where the driver
    refuses a shader; ImportError where the model has encoded textures and Pillow is not installed.
    """

    _noun = "Crowd"

    def __init__(
        self,
        model: Model,
        placements: ArrayLike,
        *,
        baked: BakedTexture | None = None,
        clips: Sequence[Clip | str | int] | None = None,
        size: tuple[int, int] = (640, 480),
        samples: int = 4,
        background: str | Sequence[float] | None = None,
        floor: Floor | bool | None = None,
        morph_weights: ArrayLike | None = None,
    ) -> None:
        self._poser = Poser(model)
        if not self._poser.has_mesh:
            raise ValueError("model has no mesh; a crowd of it has nothing to show")
        self._placements = _checked_placements(placements)
        self._baked = _checked_bake(baked, model, clips)
        self._clips = _chosen_clips(model, baked, clips)
        self._size = check_size(size)
        self._background = (0.0,) * 4 if background is None else parse_color("background", background)
        self._up = up_vector(model.up)
        ground = chosen_floor(floor)
        self._ground = None if ground is None else Ground(self._poser, ground)
        self._lock = threading.Lock()  # the memory for a frame is used again by the next
        weights = self._poser.morph_weights(morph_weights)
        limit = gl.call(table_limits)[0]
        slots = len(model.skin.joints)
        self._staging = None if baked is not None else Staging(len(self), slots, limit)
        self._instances = np.zeros(len(self), INSTANCE)
        self._own(self._upload(check_samples(samples), ground, weights))

    def __len__(self) -> int:
        """N, the number of instances."""
        return len(self._placements)

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the pictures, pixels."""
        return self._size

    @property
    def samples(self) -> int:
        """Samples per pixel in use; 0 is none."""
        return self._resources().target.samples

    @property
    def clips(self) -> tuple[str, ...]:
        """Names of the clips that clip_index counts in."""
        return tuple(clip.name for clip in self._clips)

    @property
    def uploaded_bytes(self) -> int:
        """Bytes sent into buffers and textures on the GPU for this crowd so far.

        The mesh, its textures, the placements (48 bytes each), the floor and a baked texture go there once. A
        frame adds 16 bytes per instance with a baked texture; without one 48 bytes per instance and slot,
        rounded up to whole rows of 256 slots (of 4,096 for the largest crowds). Uniforms are not counted.
        """
        resources = self._resources()
        return resources.scene.uploads.total + (
            0 if resources.floor is None else resources.floor.uploads.total
        )

    def place(self, placements: ArrayLike) -> None:
        """Move the instances: other placements (N, 3, 4) or (N, 4, 4), of as many instances, sent at once."""
        resources = self._resources()
        moved = _checked_placements(placements)
        if len(moved) != len(self):
            raise ValueError(f"placements has {len(moved)} instances; the crowd has {len(self)}")
        with self._lock:
            gl.call(lambda context: resources.scene.place(moved), of=resources.target.context)
            self._placements = moved

    def camera(
        self,
        *,
        azimuth: float = 30.0,
        elevation: float = _ELEVATION,
        fov: float = 30.0,
        margin: float = 0.06,
    ) -> Camera:
        """The nearest camera that has all instances in the picture, whichever of the clips they play.

        The arguments are those of `Camera.frame`.
        """
        framing = Framing(self._poser.model.up, azimuth, elevation, fov, self._aspect, margin)
        return framing.camera(self._corners())

    def frame(
        self,
        clip_index: ArrayLike = 0,
        time: ArrayLike = 0.0,
        *,
        weights: ArrayLike | None = None,
        palettes: NDArray[np.float32] | None = None,
        camera: Camera | None = None,
        loop: Loop = "wrap",
        rotation: Rotation | None = None,
        out: NDArray[np.uint8] | None = None,
    ) -> NDArray[np.uint8]:
        """One picture: (h, w, 4) uint8, RGBA, row 0 on top, sRGB, straight alpha.

        `clip_index` and `time` (seconds) are one number for all, or (N,). Without `baked` they may be (N, K)
        with K up to 4 for clips that are blended by `weights`, as in `Model.crowd_palette`, where (1, K) is
        the same for all instances; or `palettes`, (N, S, 3, 4) or (N, S, 4, 4), take the place of all three.
        A model without clips is drawn at rest. `rotation` is "slerp" unless given; a baked texture has been
        sampled already. `camera` None is `camera()`. `out`, (h, w, 4) uint8 and C-contiguous, takes the
        picture and is returned.

        Raises ValueError or TypeError for numbers of no clip, wrong shapes, times that are not finite, and
        for what a baked texture cannot do; GraphicsError after `close()`, and for what OpenGL reports.
        """
        resources = self._resources()
        picture = checked_picture(out, self._size)
        view = View(self.camera() if camera is None else camera, self._aspect, self._up)
        place = None if self._ground is None else self._ground.under(self._extent(), self._scale)
        background = self._background

        def draw(context: moderngl.Context, numbers: NDArray[Any]) -> None:
            _draw(resources, numbers, view, place, background, picture)

        self._with_numbers(draw, clip_index, time, weights, palettes, loop, rotation)
        return picture

    def skinned_vertices(
        self,
        clip_index: ArrayLike = 0,
        time: ArrayLike = 0.0,
        *,
        weights: ArrayLike | None = None,
        palettes: NDArray[np.float32] | None = None,
        loop: Loop = "wrap",
        rotation: Rotation | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Positions and normals as the GPU computes them: (N, V, 3) float32 each, scene space.

        What `Model.deform` gives for each instance's palette, moved by its placement, from the vertex shader
        that draws the pictures (by transform feedback). Arguments and errors are those of `frame`.
        """
        scene = self._resources().scene

        def transform(context: moderngl.Context, numbers: NDArray[Any]) -> NDArray[np.float32]:
            return scene.skinned_vertices(numbers)

        vertices = self._with_numbers(transform, clip_index, time, weights, palettes, loop, rotation)
        return vertices[..., :3].copy(), vertices[..., 3:].copy()

    # ---- what a frame sends ---------------------------------------------------------------------

    def _with_numbers(
        self,
        job: Callable[[moderngl.Context, NDArray[Any]], T],
        clip_index: ArrayLike,
        time: ArrayLike,
        weights: ArrayLike | None,
        palettes: NDArray[np.float32] | None,
        loop: Loop,
        rotation: Rotation | None,
    ) -> T:
        """What `job` gives on the graphics thread, for the numbers of the frame."""
        with self._lock:
            if self._staging is None:
                if weights is not None or palettes is not None or rotation is not None:
                    raise ValueError(
                        "weights, palettes and rotation are not for a baked texture: it has one clip for "
                        "each instance, sampled already"
                    )
                self._fill_instances(clip_index, time, loop)
                numbers: NDArray[Any] = self._instances
            else:
                if palettes is not None:
                    self._copy_palettes(self._staging.palettes, palettes)
                else:
                    way = "slerp" if rotation is None else rotation
                    self._fill_palettes(self._staging.palettes, clip_index, time, weights, loop, way)
                numbers = self._staging.texels
            return gl.call(lambda context: job(context, numbers), of=self._resources().target.context)

    def _fill_instances(self, clip_index: ArrayLike, time: ArrayLike, loop: Loop) -> None:
        assert self._baked is not None
        index, seconds = self._spread(clip_index, time)
        self._baked.instances(index, seconds, loop=loop, out=self._instances)

    def _fill_palettes(
        self,
        out: NDArray[np.float32],
        clip_index: ArrayLike,
        time: ArrayLike,
        weights: ArrayLike | None,
        loop: Loop,
        rotation: Rotation,
    ) -> None:
        model = self._poser.model
        if not self._clips:
            out[:] = model.palette(None, 0.0, affine=True)
            return
        index, seconds = self._spread(clip_index, time)
        shares = None if weights is None else self._array("weights", weights)
        model.crowd_palette(
            self._clips, index, seconds, weights=shares, out=out, loop=loop, rotation=rotation
        )

    def _copy_palettes(self, out: NDArray[np.float32], palettes: NDArray[np.float32]) -> None:
        given = np.asarray(palettes)
        count, slots = out.shape[:2]
        if given.shape not in ((count, slots, 3, 4), (count, slots, 4, 4)):
            raise ValueError(
                f"palettes has shape {given.shape}; expected ({count}, {slots}, 3, 4) "
                f"or ({count}, {slots}, 4, 4)"
            )
        out[:] = given[:, :, :3]

    def _spread(self, clip_index: ArrayLike, time: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """Both as arrays with a row for each instance, (N,) or (N, K)."""
        index, seconds = self._array("clip_index", clip_index), self._array("time", time)
        rows = (len(self), *index.shape[1:])
        return np.broadcast_to(index, rows), np.broadcast_to(seconds, (len(self), *seconds.shape[1:]))

    def _array(self, name: str, value: ArrayLike) -> NDArray[Any]:
        """`value` as an array of a row for each instance, or of one row for all."""
        wanted = f"one number or ({len(self)},)"
        if self._baked is None:
            wanted += f", ({len(self)}, K) or (1, K)"
        try:
            array = np.asarray(value)
        except ValueError:
            raise ValueError(f"{name} is ragged; expected {wanted}") from None
        most_axes = 2 if self._baked is None else 1
        if array.ndim > most_axes or (array.ndim and len(array) not in (1, len(self))):
            raise ValueError(f"{name} has shape {array.shape}; expected {wanted}")
        return array if array.ndim else array[None]

    # ---- where it all is ------------------------------------------------------------------------

    @property
    def _aspect(self) -> float:
        return self._size[0] / self._size[1]

    @functools.cached_property
    def _box(self) -> NDArray[np.float64]:
        """(8, 3): corners of the box around all clips of the model, or around its rest pose."""
        extents = [self._poser.extent(clip) for clip in self._clips or (None,)]
        box = np.stack([np.min([e[0] for e in extents], axis=0), np.max([e[1] for e in extents], axis=0)])
        return np.stack(np.meshgrid(*box.T, indexing="ij"), axis=-1).reshape(-1, 3)

    def _corners(self) -> NDArray[np.float64]:
        """(8 * N, 3): the box of each instance, where it stands."""
        places = self._placements.astype(np.float64)
        placed: NDArray[np.float64] = np.einsum("nij,cj->nci", places[..., :3], self._box)
        return (placed + places[:, None, :, 3]).reshape(-1, 3)

    def _extent(self) -> NDArray[np.float64]:
        """Lowest and highest corner of the crowd, (2, 3)."""
        corners = self._corners()
        return np.stack([corners.min(axis=0), corners.max(axis=0)])

    @property
    def _scale(self) -> float:
        """By how much the instances are larger than the model: half of them are less so."""
        volumes = np.abs(np.linalg.det(self._placements[..., :3].astype(np.float64)))
        return float(np.median(np.cbrt(volumes))) or 1.0

    def _upload(self, samples: int, floor: Floor | None, weights: NDArray[np.float32]) -> _Resources:
        prepared = geometry(self._poser.model)  # needs no OpenGL, so it is done here
        posing = self._baked if self._staging is None else self._staging
        assert posing is not None
        places, size = self._placements, self._size

        def make(context: moderngl.Context) -> _Resources:
            scene = CrowdScene(context, prepared, places, posing, weights)
            target = Target(context, size, samples)
            ground = None if floor is None else FloorScene(context, floor)
            gl.check(context, "sending the crowd to the GPU")
            return _Resources(scene, target, ground)

        return gl.call(make)


def grid(model: Model, count: int, *, spacing: float | None = None) -> NDArray[np.float32]:
    """Placements (count, 3, 4) float32 of a square grid on the ground, around the origin, facing the front.

    Rows go from the back to the front, the last of them may be shorter. `spacing` is the distance of
    neighbors in scene units; None: one and a quarter times the model's width at rest. Raises ValueError for
    a count below 1 and a spacing that is not positive.
    """
    number = whole("count", count, 1)
    if spacing is None:
        wide = np.ptp(model.bounds(), axis=0)[up_vector(model.up) == 0]
        spacing = _SPACING * float(wide.max()) or 1.0
    if not 0 < spacing < math.inf:
        raise ValueError(f"spacing is {spacing}; expected a number above 0, or None")
    side = math.isqrt(number - 1) + 1
    row, column = np.divmod(np.arange(number), side)
    in_row = np.minimum(number - row * side, side)
    front = front_vector(model.up)
    right = np.cross(up_vector(model.up), front)
    across, along = column - (in_row - 1) / 2, row - row[-1] / 2
    places = np.zeros((number, 3, 4), np.float32)
    places[:, :, :3] = np.eye(3)
    places[:, :, 3] = spacing * (across[:, None] * right + along[:, None] * front)
    return places


def _checked_placements(placements: ArrayLike) -> NDArray[np.float32]:
    """(N, 3, 4) float32, a copy; ValueError, TypeError."""
    wanted: tuple[int | str, ...] = ("N", 4, 4) if np.shape(placements)[1:] == (4, 4) else ("N", 3, 4)
    array = floats("placements", placements, wanted)
    if not len(array):
        raise ValueError("placements is empty; expected at least one instance")
    if array.shape[1] == 4 and (array[:, 3] != (0, 0, 0, 1)).any():
        raise ValueError("placements has a last row other than 0 0 0 1; expected affine transforms")
    return np.array(array[:, :3])


def _checked_bake(
    baked: BakedTexture | None, model: Model, clips: Sequence[Clip | str | int] | None
) -> BakedTexture | None:
    if baked is None:
        return None
    if not isinstance(baked, BakedTexture):
        raise TypeError(f"baked is {type(baked).__name__}; expected a BakedTexture, or None")
    if baked.model is not model:
        raise ValueError("baked is of another model; expected a texture of bake_texture of this one")
    if clips is not None:
        raise ValueError("clips is given together with baked; the clips are those that were baked")
    return baked


def _chosen_clips(
    model: Model, baked: BakedTexture | None, clips: Sequence[Clip | str | int] | None
) -> tuple[Clip, ...]:
    if baked is not None:
        return baked.sources
    if clips is None:
        return tuple(model.clips)
    if isinstance(clips, str) or not isinstance(clips, Sequence):
        raise TypeError(f"clips is {type(clips).__name__}; expected a sequence of Clips, names or numbers")
    return tuple(clip if isinstance(clip, Clip) else model.clips[clip] for clip in clips)


def _draw(
    resources: _Resources,
    numbers: NDArray[Any],
    view: View,
    place: FloorPlace | None,
    background: Sequence[float],
    out: NDArray[np.uint8],
) -> None:
    scene, target, floor = resources
    scene.pose(numbers)
    ground = None
    if floor is not None and place is not None:
        floor.cast(scene.stamp, place)
        ground = functools.partial(floor.draw, place, view, target.framebuffer)
    target.begin(background)
    scene.draw(view, target.framebuffer, PLAIN, ground)
    target.finish(out)
