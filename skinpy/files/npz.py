"""Motion as NumPy arrays in one .npz file: Clip.to_npz, and load of such files.

A file is not trusted. It is read without pickle, and the shape of each array is compared with the bytes that
its member has before anything is read.
"""

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import numpy as np

from .. import _block, _core
from .._arguments import axis_of, brief, path_of
from .._progress import working
from .._text import printable, quoted_list, unicode_text
from .._types import Array, PathLike
from ..clip import Channel, Clip
from ..clips.edit import derived
from ..clips.evaluate import trs
from ..clips.events import Motion, checked_event, sorted_events
from ..clips.smpl import is_smpl, model_from_smpl
from ..errors import LimitExceeded, LoadError
from ..kinds.sampling import frame_times
from ..rotation import from_matrix
from .frames import frame_rate, posed_model, warn_left_out, whole_frames
from .npz_arrays import npy_header
from .whole import replacing

if TYPE_CHECKING:
    from ..model import Model

FORMAT, VERSION = "skinpy clip", 1
#: The arrays that are read: their kinds of numbers, and their shapes with letters for lengths.
_ARRAYS: dict[str, tuple[str, tuple[int | str, ...]]] = {
    "format": ("U", ()),
    "version": ("iu", ()),
    "name": ("U", ()),
    "times": ("f", ("N",)),
    "joints": ("U", ("J",)),
    "parents": ("i", ("J",)),
    "rest": ("f", ("J", 4, 4)),
    "translation": ("f", ("N", "J", 3)),
    "rotation": ("f", ("N", "J", 4)),
    "scale": ("f", ("N", "J", 3)),
    "targets": ("U", ("M",)),
    "weights": ("f", ("N", "M")),
    "root_motion": ("f", ("N", 4, 4)),
    "event_times": ("f", ("E",)),
    "event_names": ("U", ("E",)),
    "up": ("U", ()),
    "unit_meters": ("f", ()),
}
_OPTIONAL = ("root_motion",)
_MAX_MEMBERS = 1000
_SAME = 1e-5  #: of a rest matrix: how far rounding may move it


# ---- writing ------------------------------------------------------------------------------------------


def save_npz(path: PathLike, clip: Clip, fps: float | None) -> Path:
    """Write a clip; see `Clip.to_npz`."""
    target, model = Path(path_of("path", path)), posed_model(clip)
    if target.suffix.lower() != ".npz":
        raise ValueError(f"path ends in {brief(target.suffix)}; expected '.npz'")
    rate = frame_rate(clip, fps)
    whole_frames(clip, rate)  # checks their number
    with working(f"writing {target.name}"):
        arrays = _arrays(model, clip, rate, frame_times(clip.duration, rate))
        warn_left_out(
            clip,
            "an .npz has only poses",
            {"visibility and materials": [channel.path for channel in clip._look_channels]},
        )
        with replacing(target) as file:
            np.savez(file, allow_pickle=False, **arrays)
    return target


def _arrays(model: "Model", clip: Clip, rate: float, times: Array) -> dict[str, Array]:
    """The arrays of a file, by name."""
    pose, skeleton = model.pose(clip, times, loop="clamp"), model.skeleton
    arrays: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": unicode_text(clip.name),
        "fps": rate,
        "times": times,
        "joints": [unicode_text(name) for name in skeleton.names],
        "parents": skeleton.parents,
        "rest": skeleton.rest_local,
        "translation": pose.translation,
        "rotation": pose.rotation,
        "scale": pose.scale,
        "positions": model.joint_positions(clip, times, loop="clamp"),
        "targets": np.array([unicode_text(target.name) for target in model.targets], np.str_),
        "weights": pose.morph_weights,
        "event_times": np.array([event.time for event in clip.events], np.float64),
        "event_names": np.array([unicode_text(event.name) for event in clip.events], np.str_),
        "up": model.up,
        "unit_meters": np.nan if model.unit_meters is None else model.unit_meters,
    }
    if clip.root_motion is not None:
        arrays["root_motion"] = clip.root_motion.sample(times)
    return {name: np.asarray(value) for name, value in arrays.items()}


# ---- reading ------------------------------------------------------------------------------------------


def read_npz(file: BinaryIO, counts: tuple[int, int, int, int, int]) -> _core.Block:
    """The block of a model without a mesh that has the clip of a file; `counts` are those of the limits.

    The file is one of `Clip.to_npz`, or has parameters of SMPL.
    """
    what = "a clip as Clip.to_npz writes it"
    try:
        with zipfile.ZipFile(file) as archive:
            if is_smpl(one.filename.removesuffix(".npy") for one in archive.infolist()):
                what = "motion of SMPL"
                return model_from_smpl(file, counts[0], counts[4])._joined()
            arrays = _members(archive, counts)
        return _model_block(arrays)
    except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError, EOFError) as error:
        raise LoadError(f"this is not an .npz file: {printable(error)}") from None
    except (TypeError, ValueError, KeyError) as error:
        raise LoadError(f"this is not {what}: {printable(error.args[0])}") from None


def _members(archive: zipfile.ZipFile, counts: tuple[int, int, int, int, int]) -> dict[str, Array]:
    """The arrays that a clip has, checked."""
    members = {one.filename.removesuffix(".npy"): one for one in archive.infolist()[:_MAX_MEMBERS]}
    missing = [name for name in _ARRAYS if name not in members and name not in _OPTIONAL]
    if missing:
        raise LoadError(
            f"the file has no array {quoted_list(missing)}; expected a file that Clip.to_npz wrote, "
            "or motion of SMPL with poses and trans"
        )
    used = {name: members[name] for name in _ARRAYS if name in members}
    size = sum(one.file_size for one in used.values())
    if size > counts[0]:
        raise LimitExceeded(
            f"the arrays take {size} bytes, the limit of file_bytes is {counts[0]}; "
            f"allow it with limits=skinpy.Limits(file_bytes={size})"
        )
    arrays, lengths = {}, dict[str, int]()
    for name, member in used.items():
        with archive.open(member) as stream:
            arrays[name] = _array(name, stream, member.file_size, lengths)
    for what, count, limit in (("joints", "J", "nodes"), ("keys", "N", "keys")):
        number = lengths[count] * (10 * lengths["J"] if count == "N" else 1)
        most = counts[1] if limit == "nodes" else counts[4]
        if number > most:
            raise LimitExceeded(
                f"the clip has {number} {what}, the limit of {limit} is {most}; "
                f"allow it with limits=skinpy.Limits({limit}={number})"
            )
    return arrays


def _array(name: str, stream: IO[bytes], size: int, lengths: dict[str, int]) -> Array:
    """One array, whose header must fit the bytes that follow and the lengths of the arrays before it."""
    shape, fortran, dtype = npy_header(name, stream)
    kinds, wanted = _ARRAYS[name]
    if dtype.kind not in kinds:
        raise ValueError(f"array {name!r} has dtype {dtype}; expected one of kind {kinds!r}")
    fits = len(shape) == len(wanted) and all(
        one == (lengths.setdefault(other, one) if isinstance(other, str) else other)
        for one, other in zip(shape, wanted, strict=True)
    )
    if not fits:
        raise ValueError(f"array {name!r} has shape {shape}; expected {_words(wanted, lengths)}")
    data, count = stream.read(size), prod(map(int, shape))
    if len(data) != count * dtype.itemsize or not dtype.itemsize:
        raise ValueError(f"array {name!r} has {len(data)} bytes; expected {count * dtype.itemsize}")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def _words(wanted: Sequence[int | str], lengths: Mapping[str, int]) -> str:
    return f"({', '.join(str(lengths.get(str(one), one)) for one in wanted)})"


def _model_block(arrays: Mapping[str, Array]) -> _core.Block:
    """The block of the model."""
    from ..model import Model

    if str(arrays["format"]) != FORMAT or arrays["version"] != VERSION:
        came = f"{printable(arrays['format'])!r} of version {arrays['version']}"
        raise ValueError(f"its format is {came}; expected {FORMAT!r} of version {VERSION}")
    names, targets = arrays["joints"].tolist(), _numbered(arrays["targets"].tolist())
    moving: dict[str, Any] = {path: arrays[path] for path in ("translation", "rotation", "scale")}
    morphs: dict[str, Any] = {"targets": targets, "weights": arrays["weights"]} if targets else {}
    clip = Clip.from_arrays(str(arrays["name"]), times=arrays["times"], **moving, **morphs)
    model = Model.from_arrays(
        names,
        arrays["parents"],
        arrays["rest"],
        positions=np.zeros((0, 3)),
        faces=[],
        joints=np.zeros((0, 1), int),
        weights=np.zeros((0, 1)),
        targets={name: np.zeros((0, 3)) for name in targets},
    )
    clip = derived(clip, _without_still_shear(clip, model), clip.duration)
    bound = _completed(model.add_clips(clip).clips[-1], arrays)
    joined = model.add_clips(bound)._joined()
    sections = {name: _block.section(joined, name) for name in joined.sections}
    sections["INFO"] = sections["INFO"].copy()
    unit = float(arrays["unit_meters"])
    sections["INFO"]["unit_meters"] = 0.0 if np.isnan(unit) else unit
    sections["INFO"]["up"] = _block.AXES.index(axis_of("up", str(arrays["up"])))
    return _block.pack(sections, 1)


def _numbered(names: list[str]) -> list[str]:
    """Names of which each is there once: repeated ones get a number."""
    numbered: dict[str, None] = {}
    for name in names:
        free, number = name, 1
        while free in numbered:
            number += 1
            free = f"{name}.{number}"
        numbered[free] = None
    return list(numbered)


def _without_still_shear(clip: Clip, model: "Model") -> list[Channel]:
    """The channels, but for those of joints at rest whose rest matrix has shear, which no channels hold."""
    skeleton = model.skeleton
    rest = {path: getattr(skeleton, path) for path in ("translation", "rotation", "scale")}
    plain = trs(*(one.astype(np.float64) for one in rest.values()))
    off = np.abs(plain - skeleton.rest_local).max(axis=(1, 2), initial=0.0)
    sheared = off > _SAME * np.abs(skeleton.rest_local).max(axis=(1, 2), initial=0.0)
    moving = {
        one.joint
        for one in clip.channels
        if one.path in rest and not np.allclose(one.values, rest[one.path][one.joint], _SAME, _SAME)
    }
    return [
        one for one in clip.channels if one.path not in rest or not sheared[one.joint] or one.joint in moving
    ]


def _completed(clip: Clip, arrays: Mapping[str, Array]) -> Clip:
    """The clip with its rate, its events and its root motion."""
    pairs = zip(arrays["event_times"].tolist(), arrays["event_names"].tolist(), strict=True)
    events = sorted_events([checked_event(time, name, clip.duration) for time, name in pairs])
    motion = None
    if "root_motion" in arrays:
        matrices = arrays["root_motion"].astype(np.float64)
        keys = np.concatenate([matrices[:, :3, 3], from_matrix(matrices[:, :3, :3])], axis=1)
        motion = Motion(arrays["times"].astype(np.float64), keys.astype(np.float32))
    return derived(clip, clip.channels, clip.duration, events=events, motion=motion)
