"""Baked animation: the palettes of whole clips as the texels of one texture.

A vertex shader that has the texture poses any number of characters without the CPU: the shader reads two
frames of a clip and interpolates linearly between them, number by number. `Model.bake_texture` makes a
texture, `skinpy.render.Crowd` draws with it; docs/crowds.md has the layout for other engines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _block, _core
from .._arguments import any_array, brief, check_model, instance, integer, numbers, opened
from .._progress import working
from .._text import POINTER_REMEDY, is_pointer, printable, quoted
from .._types import Array, Floats, Loop, PathLike, Rotation
from ..clip import Clip
from ..errors import LoadError
from ..files.whole import replacing
from ..models.frames import chunks
from ..models.pickling import need_vertices
from .baked_clip import SLOT_TEXELS, BakedClip
from .baked_file import entries_of, read_entries, same_clips, stored

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["INSTANCE", "BakedTexture"]

ClipLike: TypeAlias = Clip | str | int

#: `error` measures this many times between two frames or keys, and at most so many times in all.
_ERROR_STEPS = 4
_MAX_ERROR_TIMES = 4096

#: What the shader needs to know of one instance: 16 bytes.
INSTANCE = np.dtype([("row", "<u4"), ("frames", "<u4"), ("frame", "<u4"), ("share", "<f4")])


@dataclass(frozen=True, eq=False, repr=False)
class BakedTexture:
    """Clips of a model as a texture of floats; `Model.bake_texture` makes it, and it never changes.

    Frame n lies in texture row n % H, in column n // H of `columns`, each of which is 3 * S texels wide. Slot
    s of the frame has the texels 3 * s to 3 * s + 2 of the column: the three rows of its 3x4 matrix.

    Attributes
    ----------
    data : (H, W, 4) float32 or float16 ndarray, read-only
        The texels, row-major: what a GPU takes as RGBA32F or RGBA16F.
    clips : tuple of BakedClip
        The frames of each clip, in the order in which the clips were given.
    slots : int
        Number S of slots in the palette of the model.
    rotation : {"slerp", "nlerp"}
        How the clips were sampled.
    model : Model
        The model whose palettes were baked.
    sources : tuple of Clip
        The clips that were baked.
    """

    data: Array
    clips: tuple[BakedClip, ...]
    slots: int
    rotation: Rotation
    model: Model
    sources: tuple[Clip, ...]

    def __post_init__(self) -> None:
        check_model("model", self.model)
        data = instance("data", self.data, np.ndarray, "an array")
        object.__setattr__(self, "data", _block.read_only(data))

    def __reduce__(self) -> tuple[Any, ...]:
        return BakedTexture, (self.data, self.clips, self.slots, self.rotation, self.model, self.sources)

    @property
    def columns(self) -> int:
        """The number of frames that lie side by side in a row of the texture."""
        return int(self.data.shape[1]) // (SLOT_TEXELS * self.slots)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the texture."""
        return int(self.data.nbytes)

    def index(self, clip: ClipLike) -> int:
        """Return the index of a clip among `clips`.

        Parameters
        ----------
        clip : Clip, str or int
            A clip, a name (which means the first clip of that name) or an index.

        Returns
        -------
        int
            The index.

        Raises
        ------
        KeyError
            If no clip of this name was baked.
        IndexError
            If no clip of this index was baked.
        TypeError
            If `clip` is of another type.
        """
        if isinstance(clip, Clip):
            clip = clip.name
        names = [one.name for one in self.clips]
        if isinstance(clip, str):
            if clip not in names:
                there = ", ".join(map(repr, names))
                raise KeyError(f"clip {brief(clip)} was not baked; there are {there}")
            return names.index(clip)
        number = integer("clip", clip, "a Clip, its name or its number")
        if not 0 <= number < len(names):
            raise IndexError(
                f"clip is {brief(number)}; expected 0 to {len(names) - 1}, a clip of the texture"
            )
        return number

    def instances(
        self,
        clip_index: npt.ArrayLike,
        time: npt.ArrayLike,
        *,
        loop: Loop = "wrap",
        out: Array | None = None,
    ) -> Array:
        """Return what a shader needs to pose instances, 16 bytes each.

        Parameters
        ----------
        clip_index : array_like of int
            Index of each instance's clip among `clips`.
        time : array_like, seconds
            Time of each instance, broadcast with `clip_index`.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside a clip, as in `Model.palette`.
        out : ndarray of skinpy.kinds.baking.INSTANCE, optional
            An array that the result is written to.

        Returns
        -------
        ndarray of skinpy.kinds.baking.INSTANCE
            Fields "row" and "frames" of the clip, "frame" within the clip, uint32, and "share", float32: how
            far the instance is from that frame to the next, 0 to 1. The shape is that of `clip_index` and
            `time` broadcast together.

        Raises
        ------
        ValueError
            If an index is no clip, a time is not finite, shapes do not go together, or `out` does not fit.
        TypeError
            If `clip_index` does not hold whole numbers, `time` no numbers, or `out` is not an array.
        """
        index, seconds = self._checked(clip_index, time)
        result = np.empty(index.shape, INSTANCE) if out is None else _checked_instances(out, index.shape)
        for number, clip in enumerate(self.clips):
            chosen = index == number
            if not chosen.any():
                continue
            positions = _core._find_frames(
                clip.times, seconds[chosen], loop, clip.duration, clip.ticks_per_second
            )
            frame = np.floor(positions)
            of_clip = np.empty(positions.shape, INSTANCE)
            of_clip["row"], of_clip["frames"] = clip.row, clip.frames
            of_clip["frame"], of_clip["share"] = frame, positions - frame
            result[chosen] = of_clip
        return result

    def palette(self, clip: ClipLike, time: npt.ArrayLike, *, loop: Loop = "wrap") -> Floats:
        """Return the palette that the shader makes at one time or at many.

        The steps and the precision are those of the shader: two frames, and linear interpolation between each
        two numbers. A GPU may round the last bit in another way.

        Parameters
        ----------
        clip : Clip, str or int
            A baked clip, its name or its index among `clips`.
        time : array_like, shape (...), seconds
            Times at which the clip is sampled.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip.

        Returns
        -------
        (..., S, 3, 4) float32 ndarray
            The matrices of the slots.

        Raises
        ------
        KeyError
            If no clip of this name was baked.
        IndexError
            If no clip of this index was baked.
        ValueError
            If a time is not finite or `loop` is unknown.
        TypeError
            If an argument has the wrong type.
        """
        return self.palettes(self.instances(self.index(clip), time, loop=loop))

    def palettes(self, instances: Array) -> Floats:
        """Return the palettes of instances.

        Parameters
        ----------
        instances : (...) ndarray of skinpy.kinds.baking.INSTANCE
            What `BakedTexture.instances` gave.

        Returns
        -------
        (..., S, 3, 4) float32 ndarray
            The matrices of the slots of each instance.
        """
        wanted = "an array that BakedTexture.instances made"
        if instance("instances", instances, np.ndarray, wanted).dtype != INSTANCE:
            raise ValueError(f"instances has dtype {instances.dtype}; expected {wanted}")
        start = instances["row"].astype(np.int64)
        last = instances["frames"].astype(np.int64) - 1
        frame = instances["frame"].astype(np.int64)
        first = self._matrices(start + np.minimum(frame, last))
        second = self._matrices(start + np.minimum(frame + 1, last))
        fraction = np.asarray(instances["share"], np.float32)[..., None, None, None]
        blended: Floats = first + fraction * (second - first)
        return blended

    def error(self, clip: ClipLike | None = None) -> float:
        """Return the largest distance of any vertex from where `Model.palette` has it, in model units.

        Parameters
        ----------
        clip : Clip, str or int, optional
            A baked clip, its name or its index. Without it the largest error of all clips is returned.

        Returns
        -------
        float
            The error in model units.

        Raises
        ------
        KeyError
            If no clip of this name was baked.
        IndexError
            If no clip of this index was baked.
        TypeError
            If `clip` is of another type.

        Notes
        -----
        The error is measured at every frame, at every key and at three times between any two of these (at
        4096 times of a clip at most), with the morph targets at their default weights.
        """
        if clip is not None:
            return self._clip_error(self.index(clip))
        return max(self._clip_error(number) for number in range(len(self.clips)))

    def save(self, path: PathLike) -> None:
        """Write the texture to an .npz file, which appears whole or not at all.

        The entries are "data", "slots", "rotation" and one for each field of the clips.

        Parameters
        ----------
        path : str or os.PathLike
            The file.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        with replacing(path) as file:
            np.savez(file, **entries_of(self.data, self.clips, self.slots, self.rotation))

    @classmethod
    def load(cls, path: PathLike, model: Model) -> BakedTexture:
        """Return a texture that `save` wrote.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        model : Model
            The model that the texture was baked from.

        Returns
        -------
        BakedTexture
            The texture.

        Raises
        ------
        LoadError
            If the file holds no baked texture.
        ValueError
            If the model has another number of slots, or other clips.
        OSError
            If the file cannot be read.
        """
        check_model("model", model)
        with opened("path", path) as file:
            try:
                data, clips, slots, rotation = stored(read_entries(file))
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise LoadError(f"{printable(path)} holds no baked texture: {error}") from None
            except Exception as error:  # zipfile and zlib have exceptions of their own
                file.seek(0)
                words = POINTER_REMEDY if is_pointer(file.read(64)) else f"it is not an .npz file ({error})"
                raise LoadError(f"{printable(path)} holds no baked texture: {words}") from None
        return cls(data, clips, slots, rotation, model, same_clips(model, clips, slots))

    def __repr__(self) -> str:
        height, width = self.data.shape[:2]
        frames = ", ".join(f"{quoted(clip.name)} {clip.frames}" for clip in self.clips)
        return (
            f"<BakedTexture: {width} x {height} texels of {self.data.dtype}, {self.slots} slots, "
            f"frames: {frames}>"
        )

    def _checked(self, clip_index: npt.ArrayLike, time: npt.ArrayLike) -> tuple[Array, Array]:
        """Return checked indices and seconds of one shape."""
        # A copy: an array that only looks enormous, one number broadcast, fails here at once.
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
        """Return the matrices (...,S,3,4) float32 of frames (...), given by index."""
        height = self.data.shape[0]
        grid = self.data.reshape(height, self.columns, self.slots, SLOT_TEXELS, 4)
        matrices: Array = grid[frames % height, frames // height]
        return matrices.astype(np.float32, copy=False)

    def _clip_error(self, number: int) -> float:
        model = self.model
        need_vertices(model, "the error of a baked texture")
        times = _measured_times(self.sources[number], self.clips[number])
        worst = 0.0
        with working(f"measuring {self.clips[number].name}", len(times)) as work:
            for span in chunks(len(times), 12 * self.slots + 6 * len(model.mesh.positions)):
                exact = model.palette(
                    self.sources[number], times[span], affine=True, loop="clamp", rotation=self.rotation
                )
                baked = self.palette(number, times[span], loop="clamp")
                gap = model.deform(baked, normals=False)[0].astype(np.float64)
                gap -= model.deform(exact, normals=False)[0]
                worst = max(worst, float(np.linalg.norm(gap, axis=-1).max()))
                work.done = span.stop
        return worst


def _measured_times(source: Clip, clip: BakedClip) -> Array:
    """Return the seconds at which the error is measured: it is largest between frames, or at a key."""
    keys = [channel.times for channel in source._pose_channels]
    # A step channel is farthest off right before its step, by more than the tolerance of key times.
    keys += [
        channel.times - 2e-4 / source.ticks_per_second
        for channel in source._pose_channels
        if channel.interpolation == "step"
    ]
    corners = np.unique(np.clip(np.concatenate([clip.times, *keys]), 0.0, clip.duration))
    positions = np.arange((len(corners) - 1) * _ERROR_STEPS + 1) / _ERROR_STEPS
    if len(positions) > _MAX_ERROR_TIMES:
        positions = np.linspace(0.0, len(corners) - 1.0, _MAX_ERROR_TIMES)
    times: Array = np.interp(positions, np.arange(len(corners)), corners)
    return times


def _checked_instances(out: Array, shape: tuple[int, ...]) -> Array:
    """Return `out` if the instances can be written to it."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out is of type {type(out).__name__}; expected a numpy.ndarray")
    if out.shape != shape or out.dtype != INSTANCE or not out.flags.writeable:
        raise ValueError(
            f"out has shape {out.shape} and dtype {out.dtype}; expected {shape} of "
            "skinpy.kinds.baking.INSTANCE, writable"
        )
    return out
