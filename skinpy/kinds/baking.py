"""Baked animation: the palettes of whole clips as the texels of one texture.

A vertex shader that has the texture poses any number of characters by itself: it reads two frames of a clip
and goes along the straight line between them, number by number. `Model.bake_texture` makes one,
`skinpy.render.Crowd` draws with it; docs/crowds.md has the layout for other engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _block, _core
from .._arguments import any_array, integer, numbers, whole
from .._types import Array, Floats, Loop, PathLike, Rotation
from ..clip import Clip
from ..errors import LoadError
from ..files.whole import replacing
from ..models.frames import checked_rate, chunks
from .kinds import MOST_BYTES, frame_times

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["BakedClip", "BakedTexture", "bake_texture"]

Precision: TypeAlias = Literal["float32", "float16"]
ClipLike: TypeAlias = Clip | str | int

#: Texels of the largest side that OpenGL 4.1, Direct3D 11 and WebGPU's usual devices all have.
MAX_SIDE = 16384
#: Texels of a palette slot: the rows of its 3x4 matrix.
_SLOT_TEXELS = 3
#: `error` divides what lies between two frames or keys into so many steps, and looks at so many times.
_ERROR_STEPS = 4
_ERROR_TIMES = 4096

#: Fields of a clip that a file keeps.
_CLIP_FIELDS = ("name", "row", "frames", "fps", "duration", "ticks_per_second")

#: What the shader needs to know of one instance: 16 bytes.
INSTANCE = np.dtype([("row", "<u4"), ("frames", "<u4"), ("frame", "<u4"), ("share", "<f4")])


@dataclass(frozen=True)
class BakedClip:
    """Where one clip lies among the frames of a `BakedTexture`.

    Frames are at 0, 1 / fps, 2 / fps, ... seconds and at the clip's end, which both ends of a loop have:
    the last frame is the end pose, and after it comes the first one, with nothing in between.
    """

    name: str
    row: int  #: number of its first frame
    frames: int  #: how many it has, at least one
    fps: float
    duration: float  #: seconds
    ticks_per_second: float

    @cached_property
    def times(self) -> Array:
        """(frames,) float64: seconds of each frame."""
        return _block.read_only(frame_times(self.duration, self.fps))


@dataclass(frozen=True, eq=False, repr=False)
class BakedTexture:
    """Clips of a model as a float texture; get one from `Model.bake_texture`. It never changes.

    - data: (H, W, 4) float32 or float16, read-only, row-major: what a GPU takes as RGBA32F or RGBA16F.
    - clips: where each clip lies, in the order in which they were given.
    - slots: S of the model's palette.

    Frame n lies in texture row n % H, in column n // H of `columns`, which are 3 * S texels wide. Slot s of
    it takes the texels 3 * s to 3 * s + 2 of the column: the three rows of its 3x4 matrix.
    """

    data: Array
    clips: tuple[BakedClip, ...]
    slots: int
    rotation: Rotation  #: how the clips were sampled
    model: Model
    sources: tuple[Clip, ...]  #: the clips that were baked

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", _block.read_only(self.data))

    def __reduce__(self) -> tuple[Any, ...]:
        return BakedTexture, (self.data, self.clips, self.slots, self.rotation, self.model, self.sources)

    @property
    def columns(self) -> int:
        """Frames that lie side by side in a row of the texture."""
        return int(self.data.shape[1]) // (_SLOT_TEXELS * self.slots)

    @property
    def nbytes(self) -> int:
        """Bytes of the texture."""
        return int(self.data.nbytes)

    def index(self, clip: ClipLike) -> int:
        """Number of a clip among `clips`: a Clip, a name (the first of that name) or a number.

        Raises KeyError or IndexError for one that was not baked.
        """
        if isinstance(clip, Clip):
            clip = clip.name
        names = [one.name for one in self.clips]
        if isinstance(clip, str):
            if clip not in names:
                raise KeyError(f"clip {clip!r} was not baked; there are {', '.join(map(repr, names))}")
            return names.index(clip)
        number = integer("clip", clip, "a Clip, its name or its number")
        if not 0 <= number < len(names):
            raise IndexError(f"clip is {number}; the texture has clips 0 to {len(names) - 1}")
        return number

    def instances(
        self,
        clip_index: npt.ArrayLike,
        time: npt.ArrayLike,
        *,
        loop: Loop = "wrap",
        out: Array | None = None,
    ) -> Array:
        """What a shader needs to pose instances: 16 bytes each, the shape of clip_index and time together.

        clip_index holds numbers of clips, time seconds; `loop` is as in `Model.palette`. The fields are
        "row" and "frames" of the clip, "frame" within the clip, uint32, and "share", float32: how far the
        instance is on the way from that frame to the next. `out`, of dtype `skinpy.kinds.baking.INSTANCE`,
        takes the result.

        Raises TypeError or ValueError for an index that is no whole number or no clip, a time that is not
        finite, shapes that do not go together, and an unfit out.
        """
        index, seconds = self._checked(clip_index, time)
        result = np.empty(index.shape, INSTANCE) if out is None else _checked_instances(out, index.shape)
        for number, clip in enumerate(self.clips):
            chosen = index == number
            if not chosen.any():
                continue
            places = _core._find_frames(
                clip.times, seconds[chosen], loop, clip.duration, clip.ticks_per_second
            )
            whole = np.floor(places)
            part = np.empty(places.shape, INSTANCE)
            part["row"], part["frames"] = clip.row, clip.frames
            part["frame"], part["share"] = whole, places - whole
            result[chosen] = part
        return result

    def palette(self, clip: ClipLike, time: npt.ArrayLike, *, loop: Loop = "wrap") -> Floats:
        """(...,S,3,4) float32: the palette that the shader makes at `time` (...) seconds.

        The same steps in the same precision: two frames, and the straight line between each two numbers.
        A GPU may round the last bit in another way. Raises KeyError, IndexError, ValueError, TypeError.
        """
        return self.palettes(self.instances(self.index(clip), time, loop=loop))

    def palettes(self, instances: Array) -> Floats:
        """(...,S,3,4) float32: the palettes of instances (...) as `instances` gives them."""
        start = instances["row"].astype(np.int64)
        last = instances["frames"].astype(np.int64) - 1
        frame = instances["frame"].astype(np.int64)
        first = self._matrices(start + np.minimum(frame, last))
        second = self._matrices(start + np.minimum(frame + 1, last))
        share = np.asarray(instances["share"], np.float32)[..., None, None, None]
        blended: Floats = first + share * (second - first)
        return blended

    def error(self, clip: ClipLike | None = None) -> float:
        """Model units: the largest distance of any vertex from where `Model.palette` has it.

        Of one clip, or of all of them. Measured at every frame, at every key, and at three times between any
        two of these (at 4096 times of a clip at most), with the morph targets at their default weights.
        """
        if clip is not None:
            return self._clip_error(self.index(clip))
        return max(self._clip_error(number) for number in range(len(self.clips)))

    def save(self, path: PathLike) -> None:
        """Writes an .npz file: "data", and an entry for each field of the clips. It appears whole or not at
        all. Raises OSError."""
        entries: dict[str, Any] = {
            name: np.array([getattr(clip, name) for clip in self.clips]) for name in _CLIP_FIELDS
        }
        entries |= {"data": self.data, "slots": self.slots, "rotation": self.rotation}
        with replacing(path) as file:
            np.savez(file, **entries)

    @classmethod
    def load(cls, path: PathLike, model: Model) -> BakedTexture:
        """A texture that `save` wrote, of the model that it was baked from.

        Raises LoadError for a file that is none, ValueError where the model has other slots or clips, and
        OSError.
        """
        with open(path, "rb") as file:
            try:
                with np.load(file, allow_pickle=False) as archive:
                    data, clips, slots, rotation = _stored({name: archive[name] for name in archive.files})
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise LoadError(f"{path} holds no baked texture: {error}") from None
            except Exception as error:  # zipfile and zlib have exceptions of their own
                raise LoadError(f"{path} holds no baked texture: {type(error).__name__}") from None
        return cls(data, clips, slots, rotation, model, _same_clips(model, clips, slots))

    def __repr__(self) -> str:
        height, width = self.data.shape[:2]
        frames = ", ".join(f"{clip.name!r} {clip.frames}" for clip in self.clips)
        return (
            f"<BakedTexture: {width} x {height} texels of {self.data.dtype}, {self.slots} slots, "
            f"frames: {frames}>"
        )

    def _checked(self, clip_index: npt.ArrayLike, time: npt.ArrayLike) -> tuple[Array, Array]:
        # A copy, so that what only looks enormous, one number again and again, is refused at once.
        index = np.asarray(any_array("clip_index", clip_index), order="C")
        if index.dtype.kind not in "iu":
            raise TypeError(f"clip_index has dtype {index.dtype}; expected whole numbers")
        if index.size and (index.min() < 0 or index.max() >= len(self.clips)):
            worst = index.min() if index.min() < 0 else index.max()
            raise ValueError(f"clip_index holds {worst}; expected 0 to {len(self.clips) - 1}")
        seconds = numbers("time", time)
        try:
            shape = np.broadcast_shapes(index.shape, seconds.shape)
        except ValueError:
            raise ValueError(
                f"clip_index has shape {index.shape}, time {seconds.shape}; expected one shape for both"
            ) from None
        return np.broadcast_to(index, shape), np.broadcast_to(seconds, shape)

    def _matrices(self, frames: Array) -> Floats:
        """(...,S,3,4) float32 of frames (...), by number."""
        height = self.data.shape[0]
        grid = self.data.reshape(height, self.columns, self.slots, _SLOT_TEXELS, 4)
        matrices: Array = grid[frames % height, frames // height]
        return matrices.astype(np.float32, copy=False)

    def _clip_error(self, number: int) -> float:
        model = self.model
        times = _looked_at(self.sources[number], self.clips[number])
        worst = 0.0
        for part in chunks(len(times), 12 * self.slots + 6 * len(model.mesh.positions)):
            exact = model.palette(
                self.sources[number], times[part], affine=True, loop="clamp", rotation=self.rotation
            )
            ours = self.palette(number, times[part], loop="clamp")
            gap = model.deform(ours, normals=False)[0].astype(np.float64)
            gap -= model.deform(exact, normals=False)[0]
            worst = max(worst, float(np.linalg.norm(gap, axis=-1).max()))
        return worst


def bake_texture(
    model: Model,
    clips: ClipLike | Sequence[ClipLike] | None = None,
    fps: float = 30.0,
    *,
    dtype: Precision = "float32",
    rotation: Rotation = "slerp",
    limit: int = MAX_SIDE,
) -> BakedTexture:
    """See `Model.bake_texture`."""
    rate = checked_rate(fps)
    if dtype not in ("float32", "float16"):
        raise ValueError(f"dtype is {dtype!r}; expected 'float32' or 'float16'")
    sources = _sources_of(model, clips)
    slots = len(model.skin.joints)
    if not slots:
        raise ValueError("model has no mesh; there is nothing to bake")
    most = MOST_BYTES // (_SLOT_TEXELS * 4 * np.dtype(dtype).itemsize * slots)
    baked, row = [], 0
    for clip in sources:  # all checks come before memory is taken
        count = row + 1 + int(min(clip.duration * rate, 1e18))
        _layout(count, slots, limit)
        if count > most:
            raise ValueError(
                f"clips have {count} frames of {slots} slots; expected fewer clips, or a lower fps, for at "
                f"most {most} frames"
            )
        count = len(frame_times(clip.duration, rate))
        baked.append(BakedClip(clip.name, row, count, rate, clip.duration, clip.ticks_per_second))
        row += count
    height, columns = _layout(row, slots, limit)
    grid = np.zeros((height, columns, slots, _SLOT_TEXELS, 4), dtype)
    for place, source in zip(baked, sources, strict=True):
        frames = np.arange(place.row, place.row + place.frames)
        for part in chunks(len(frames), 64 * len(model.skeleton) + 24 * slots):  # poses take memory too
            palettes = model.palette(source, place.times[part], affine=True, loop="clamp", rotation=rotation)
            _check_range(source, palettes, dtype)
            grid[frames[part] % height, frames[part] // height] = palettes
    return BakedTexture(grid.reshape(height, -1, 4), tuple(baked), slots, rotation, model, sources)


def _check_range(clip: Clip, palettes: Floats, dtype: Precision) -> None:
    largest = np.abs(palettes).max()
    if not largest <= np.finfo(dtype).max:
        words = "; expected dtype='float32'" if np.isfinite(largest) else ""
        raise ValueError(
            f"clip {clip.name!r} has a matrix with {largest:.6g} in it, which {dtype} cannot hold (at most "
            f"{np.finfo(dtype).max:.6g}){words}"
        )


def _sources_of(model: Model, clips: ClipLike | Sequence[ClipLike] | None) -> tuple[Clip, ...]:
    if clips is None:
        chosen: Sequence[ClipLike] = tuple(model.clips)
    elif isinstance(clips, (Clip, str)) or not isinstance(clips, Sequence):
        chosen = (clips,)
    else:
        chosen = clips
    if not chosen:
        raise ValueError("clips is empty; expected at least one clip to bake")
    return tuple(clip if isinstance(clip, Clip) else model.clips[clip] for clip in chosen)


def _layout(frames: int, slots: int, limit: int) -> tuple[int, int]:
    """Rows of the texture, and columns of frames: as few columns as the limit allows."""
    side = whole("limit", limit, 1)
    width = _SLOT_TEXELS * slots
    if width > side:
        raise ValueError(
            f"a frame of {slots} slots is {width} texels wide; the limit for a side of a texture is {side}"
        )
    columns = -(-frames // side)
    if columns * width > side:
        raise ValueError(
            f"clips have {frames} frames of {slots} slots; a texture of {side} x {side} texels, the limit, "
            f"holds {side // width * side}. Expected fewer clips, or a lower fps"
        )
    return -(-frames // columns), columns


def _looked_at(source: Clip, clip: BakedClip) -> Array:
    """Seconds at which the error of a baked clip is measured: it is largest between frames, or at a key."""
    keys = [channel.times for channel in source.channels]
    # what steps is farthest off right before it does, by more than the tolerance of key times
    keys += [
        channel.times - 2e-4 / source.ticks_per_second
        for channel in source.channels
        if channel.interpolation == "step"
    ]
    corners = np.unique(np.clip(np.concatenate([clip.times, *keys]), 0.0, clip.duration))
    places = np.arange((len(corners) - 1) * _ERROR_STEPS + 1) / _ERROR_STEPS
    if len(places) > _ERROR_TIMES:
        places = np.linspace(0.0, len(corners) - 1.0, _ERROR_TIMES)
    times: Array = np.interp(places, np.arange(len(corners)), corners)
    return times


def _checked_instances(out: Array, shape: tuple[int, ...]) -> Array:
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out is of type {type(out).__name__}; expected a numpy.ndarray")
    if out.shape != shape or out.dtype != INSTANCE or not out.flags.writeable:
        raise ValueError(
            f"out has shape {out.shape} and dtype {out.dtype}; expected {shape} of "
            "skinpy.kinds.baking.INSTANCE, writable"
        )
    return out


def _stored(entries: dict[str, Array]) -> tuple[Array, tuple[BakedClip, ...], int, Rotation]:
    """Data, clips, slots and rotation in the entries of a file; ValueError where they do not fit together."""
    data, slots, rotation = entries["data"], int(entries["slots"]), str(entries["rotation"])
    if data.ndim != 3 or data.shape[2] != 4 or data.dtype not in (np.float32, np.float16):
        raise ValueError(f"its data have shape {data.shape} and dtype {data.dtype}")
    if slots < 1 or data.shape[1] < 1 or data.shape[1] % (_SLOT_TEXELS * slots):
        raise ValueError(f"its data are {data.shape[1]} texels wide for {slots} slots")
    if not np.isfinite(data).all():
        raise ValueError("its data hold a number that is not finite")
    if rotation not in ("slerp", "nlerp"):
        raise ValueError(f"its rotation is {rotation!r}")
    room = data.shape[0] * (data.shape[1] // (_SLOT_TEXELS * slots))
    clips = _stored_clips(entries, room)
    way: Rotation = "slerp" if rotation == "slerp" else "nlerp"
    return np.ascontiguousarray(data), clips, slots, way


def _stored_clips(entries: dict[str, Array], room: int) -> tuple[BakedClip, ...]:
    """The clips in the entries of a file whose data hold `room` frames."""
    numbers = zip(*(entries[name].tolist() for name in _CLIP_FIELDS), strict=True)
    clips, row = [], 0
    for name, first, frames, fps, duration, ticks in numbers:
        clip = BakedClip(str(name), int(first), int(frames), checked_rate(fps), float(duration), float(ticks))
        if clip.row != row or not 0 < clip.frames <= room - row or not clip.ticks_per_second > 0:
            raise ValueError(f"its clip {clip.name!r} does not lie where it should")
        if not 0 <= clip.duration < room / clip.fps or len(clip.times) != clip.frames:
            raise ValueError(f"its clip {clip.name!r} has {clip.frames} frames for {clip.duration:g} s")
        clips.append(clip)
        row += clip.frames
    if not clips:
        raise ValueError("it has no clips")
    return tuple(clips)


def _same_clips(model: Model, clips: tuple[BakedClip, ...], slots: int) -> tuple[Clip, ...]:
    """The clips of the model that were baked; ValueError where it is not the model of the bake."""
    if len(model.skin.joints) != slots:
        raise ValueError(f"model has {len(model.skin.joints)} slots; the baked texture has {slots}")
    for clip in clips:
        if clip.name not in model.clips or model.clips[clip.name].duration != clip.duration:
            raise ValueError(
                f"model has no clip {clip.name!r} of {clip.duration:g} s; model.add_clips gives one that has"
            )
    return tuple(model.clips[clip.name] for clip in clips)
