"""The entries of an .npz file with a baked texture: how they are written, and how they are checked."""

from __future__ import annotations

from math import prod
from typing import IO, TYPE_CHECKING, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from .._arguments import brief
from .._text import quoted
from .._types import Array, Rotation
from ..clip import Clip
from ..models.frames import checked_rate
from .baked_clip import SLOT_TEXELS, BakedClip

if TYPE_CHECKING:
    from ..model import Model

#: Fields of a clip that a file keeps.
_CLIP_FIELDS = ("name", "row", "frames", "fps", "duration", "ticks_per_second")


def entries_of(data: Array, clips: tuple[BakedClip, ...], slots: int, rotation: Rotation) -> dict[str, Any]:
    """Return the entries of a file by name."""
    fields = {name: np.array([getattr(clip, name) for clip in clips]) for name in _CLIP_FIELDS}
    return {**fields, "data": data, "slots": slots, "rotation": rotation}


#: The kinds of dtypes and the number of axes of each entry.
_ENTRIES = {
    "data": ("f", 3),
    "slots": ("iu", 0),
    "rotation": ("U", 0),
    "name": ("U", 1),
    "row": ("iu", 1),
    "frames": ("iu", 1),
    "fps": ("fiu", 1),
    "duration": ("fiu", 1),
    "ticks_per_second": ("fiu", 1),
}


def read_entries(file: IO[bytes]) -> dict[str, Array]:
    """Return the entries of a file; raise ValueError for a file with other ones.

    Each is checked by its header before it is read. Entries are stored without compression, as numpy.savez
    does, so they need no more memory than the file has bytes.
    """
    with ZipFile(file) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        if len(members) != len(archive.infolist()) or members.keys() != _ENTRIES.keys():
            raise ValueError(f"its entries are {brief(sorted(members))}; expected {', '.join(_ENTRIES)}")
        return {name: _read_entry(archive, member, name) for name, member in members.items()}


def _read_entry(archive: ZipFile, member: ZipInfo, name: str) -> Array:
    """Return the array of one entry."""
    if member.compress_type != ZIP_STORED:
        raise ValueError(f"its entry {quoted(name)} is compressed")
    kinds, axes = _ENTRIES[name]
    with archive.open(member) as entry:
        if np.lib.format.read_magic(entry) != (1, 0):
            raise ValueError(
                f"its entry {quoted(name)} has another version than NumPy writes for such arrays"
            )
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(entry)
        bytes_left = member.file_size - entry.tell()
        if dtype.kind not in kinds or len(shape) != axes or prod(shape) * dtype.itemsize != bytes_left:
            raise ValueError(
                f"its entry {quoted(name)} has shape {brief(shape)} and dtype {brief(dtype)} in "
                f"{bytes_left} bytes"
            )
        array = np.frombuffer(entry.read(), dtype)
    if array.nbytes != bytes_left:
        raise ValueError(f"its entry {quoted(name)} ends too early")
    return array.reshape(shape, order="F" if by_columns else "C")


def stored(entries: dict[str, Array]) -> tuple[Array, tuple[BakedClip, ...], int, Rotation]:
    """Return data, clips, slots and rotation; raise ValueError where the entries do not fit together."""
    data, slots, rotation = entries["data"], int(entries["slots"]), str(entries["rotation"])
    if data.ndim != 3 or data.shape[2] != 4 or data.dtype not in (np.float32, np.float16):
        raise ValueError(f"its data have shape {data.shape} and dtype {data.dtype}")
    if slots < 1 or data.shape[1] < 1 or data.shape[1] % (SLOT_TEXELS * slots):
        raise ValueError(f"its data are {data.shape[1]} texels wide for {slots} slots")
    if not np.isfinite(data).all():
        raise ValueError("its data hold a number that is not finite")
    if rotation not in ("slerp", "nlerp"):
        raise ValueError(f"its rotation is {brief(rotation)}")
    capacity = data.shape[0] * (data.shape[1] // (SLOT_TEXELS * slots))
    checked: Rotation = "slerp" if rotation == "slerp" else "nlerp"
    return np.ascontiguousarray(data), _stored_clips(entries, capacity), slots, checked


def _stored_clips(entries: dict[str, Array], capacity: int) -> tuple[BakedClip, ...]:
    """Return the clips of a file whose data hold `capacity` frames."""
    counts = {name: len(entries[name]) for name in _CLIP_FIELDS}
    if len(set(counts.values())) > 1:
        raise ValueError(f"its clips have {', '.join(f'{count} {name}' for name, count in counts.items())}")
    numbers = zip(*(entries[name].tolist() for name in _CLIP_FIELDS), strict=True)
    clips, row = [], 0
    for name, first, frames, fps, duration, ticks in numbers:
        clip = BakedClip(str(name), int(first), int(frames), checked_rate(fps), float(duration), float(ticks))
        if not clip.ticks_per_second > 0:
            raise ValueError(f"its clip {quoted(clip.name)} has {ticks:g} ticks per second")
        if clip.row != row or not 0 < clip.frames <= capacity - row:
            raise ValueError(f"its clip {quoted(clip.name)} does not begin where the clip before ends")
        if not 0 <= clip.duration < capacity / clip.fps or len(clip.times) != clip.frames:
            raise ValueError(f"its clip {quoted(clip.name)} has {clip.frames} frames for {clip.duration:g} s")
        clips.append(clip)
        row += clip.frames
    if not clips:
        raise ValueError("it has no clips")
    return tuple(clips)


def same_clips(model: Model, clips: tuple[BakedClip, ...], slots: int) -> tuple[Clip, ...]:
    """Return the clips of the model that were baked; raise ValueError if another model was baked."""
    if len(model.skin.joints) != slots:
        raise ValueError(
            f"model has {len(model.skin.joints)} slots; expected {slots}, as the baked texture has"
        )
    for clip in clips:
        if clip.name not in model.clips or model.clips[clip.name].duration != clip.duration:
            raise ValueError(
                f"model has no clip {quoted(clip.name)} of {clip.duration:g} s; model.add_clips gives "
                "one that has"
            )
    return tuple(model.clips[clip.name] for clip in clips)
