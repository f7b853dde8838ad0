"""Animation clips ("animation sets"): channels of keys on the joints of one skeleton."""

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from . import _block, _core
from ._types import Array, Floats
from .errors import LoadError

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Channel", "Clip", "Clips"]


@dataclass(frozen=True, eq=False)
class Channel:
    """The keys of a joint's translation, rotation or scale, or of a morph target's weight, as the file has
    them. Read-only arrays."""

    joint: int | None  #: index of the joint; None for weights
    target: int | None  #: index of the morph target; None for joints
    name: str  #: of the joint or the target
    path: str  #: "translation", "rotation", "scale" or "weights"
    interpolation: str  #: "step", "linear" or "cubic"
    times: Array  #: (K,) float64 seconds, increasing
    values: Floats  #: (K,3), (K,4) x y z w for rotations, (K,1) for weights
    in_tangents: Floats | None  #: like values, per second; None unless cubic
    out_tangents: Floats | None

    def __repr__(self) -> str:
        return f"<Channel: {self.name!r} {self.path}, {len(self.times)} {self.interpolation} keys>"


class Clip(_core.Clip):
    """One animation clip. Clips never change; get them from `model.clips` or `Clip.from_arrays`."""

    _block: _core.Block
    _index: int
    _model: "Model | None"
    _record: Any
    _name: str

    def __new__(
        cls, block: _core.Block, index: int, model: "Model | None" = None, name: str | None = None
    ) -> "Clip":
        self = super().__new__(cls, block, index, None if model is None else model._block)
        self._block = block
        self._index = index
        self._model = model
        self._record = _block.section(block, "CLIPS")[index]
        self._name = _block.text(block, self._record["name"]) if name is None else name
        return self

    def __init__(self, *_: Any, **__: Any) -> None:
        """See __new__."""

    @classmethod
    def from_arrays(
        cls,
        name: str,
        *,
        fps: float | None = None,
        times: npt.ArrayLike | None = None,
        joints: Sequence[str] | None = None,
        translation: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        scale: npt.ArrayLike | None = None,
        targets: Sequence[str] = (),
        weights: npt.ArrayLike | None = None,
        interpolation: str = "linear",
    ) -> "Clip":
        """A clip from keys in arrays; it belongs to no model until `model.add_clips(clip)`.

        translation (N,J,3), rotation (N,J,4) x y z w and scale (N,J,3) are the keys of J joints at N times;
        those left out have no channels. Rotations are normalized. Exactly one of fps (key n is at n / fps)
        and times (N,), increasing seconds, is given; the clip lasts until the last key. joints has the J
        names by which the clip is bound to a model; without it, joint j is the model's joint j.
        weights (N,M) are keys of the weights of the M morph targets that targets names. interpolation is
        "linear" or "step".

        Raises ValueError for a wrong shape, for times that do not increase and for numbers that are not
        finite.
        """
        arrays = _key_arrays({"translation": translation, "rotation": rotation, "scale": scale})
        if weights is not None:
            arrays["weights"] = _weight_keys(weights, len(targets))
        return _from_arrays(cls, name, fps, times, joints, tuple(targets), arrays, interpolation)

    @property
    def name(self) -> str:
        """Name of the clip."""
        return self._name

    @property
    def model(self) -> "Model | None":
        """The model whose joints the channels move, or None."""
        return self._model

    @property
    def duration(self) -> float:
        """Seconds; 0 for a clip that is one pose."""
        return float(self._record["duration"])

    @property
    def ticks_per_second(self) -> float:
        """The unit of time that the file had, for those who need it; all times here are seconds."""
        return float(self._record["ticks_per_second"])

    @property
    def events(self) -> tuple[()]:
        """The clip's events: none."""
        return ()

    @cached_property
    def _joint_names(self) -> tuple[str, ...]:
        return tuple(_block.text(self._block, place) for place in _block.section(self._block, "JOINT_NAMES"))

    @cached_property
    def _target_names(self) -> tuple[str, ...]:
        return tuple(_block.text(self._block, one["name"]) for one in _block.section(self._block, "TARGETS"))

    @property
    def _channel_records(self) -> Array:
        first = int(self._record["first_channel"])
        return _block.section(self._block, "CHANNELS")[first : first + int(self._record["channel_count"])]

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """The channels, as the file has them; a joint without one keeps its rest transform."""
        times, values = _block.section(self._block, "TIMES"), _block.section(self._block, "VALUES")

        def rows(first: int, count: int, width: int) -> Floats | None:
            if first == _block.NO_ARRAY:
                return None
            return values[first : first + count * width].reshape(count, width)

        channels = []
        for one in self._channel_records:
            count, width = int(one["key_count"]), _block.PATH_WIDTHS[one["path"]]
            moved, weights = int(one["joint"]), one["path"] == _block.WEIGHT_PATH
            keys = rows(int(one["values"]), count, width)
            assert keys is not None
            channels.append(
                Channel(
                    None if weights else moved,
                    moved if weights else None,
                    (self._target_names if weights else self._joint_names)[moved],
                    _block.PATHS[one["path"]],
                    _block.INTERPOLATIONS[one["interpolation"]],
                    times[int(one["times"]) : int(one["times"]) + count],
                    keys,
                    rows(int(one["in_tangents"]), count, width),
                    rows(int(one["out_tangents"]), count, width),
                )
            )
        return tuple(channels)

    @property
    def nbytes(self) -> int:
        """Bytes of the stored channels: key times (shared ones once), values and tangents."""
        lines = {(channel.times.ctypes.data, len(channel.times)) for channel in self.channels}
        total = sum(8 * count for _, count in lines)
        for channel in self.channels:
            for array in (channel.values, channel.in_tangents, channel.out_tangents):
                total += 0 if array is None else array.nbytes
        return total

    @property
    def compiled_nbytes(self) -> int:
        """Bytes of the form that is fast to sample; 0 while there is none."""
        return 0

    def __reduce__(self) -> tuple[Any, ...]:
        if self._model is None:
            return _unpickle_free, (bytes(_block.memory(self._block)), self._index, self._name)
        for number, entry in enumerate(self._model._clip_entries):
            if entry[1] is self._block and entry[2] == self._index:
                return _unpickle_bound, (self._model, number)
        return _unpickle_derived, (self._model, bytes(_block.memory(self._block)), self._index, self._name)

    def __repr__(self) -> str:
        unbound = "" if self._model is not None else ", bound to no model"
        return f"<Clip {self.name!r}: {self.duration:.3f} s, {len(self._channel_records)} channels{unbound}>"


def _unpickle_free(data: bytes, index: int, name: str) -> Clip:
    return Clip(_core.Block(data), index, None, name)


def _unpickle_bound(model: "Model", number: int) -> Clip:
    return model.clips[number]


def _unpickle_derived(model: "Model", data: bytes, index: int, name: str) -> Clip:
    return Clip(_core.Block(data), index, model, name)


class Clips(Sequence[Clip]):
    """The clips of a model, by number or by exact name. Iteration yields Clips."""

    def __init__(self, model: "Model", cache: "weakref.WeakValueDictionary[int, Clip]") -> None:
        self._model = model
        self._cache = cache

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the clips; of equal ones, `clips[name]` finds the first."""
        return tuple(entry[0] for entry in self._model._clip_entries)

    def __len__(self) -> int:
        return len(self._model._clip_entries)

    @overload
    def __getitem__(self, index: int | str) -> Clip: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Clip, ...]: ...
    def __getitem__(self, index: int | str | slice) -> Clip | tuple[Clip, ...]:
        if isinstance(index, slice):
            return tuple(self._at(number) for number in range(*index.indices(len(self))))
        return self._at(self._model._clip_number(index))

    def _at(self, number: int) -> Clip:
        clip = self._cache.get(number)
        if clip is None:
            name, block, index = self._model._clip_entries[number]
            clip = Clip(block, index, self._model, name)
            self._cache[number] = clip
        return clip

    def __iter__(self) -> Iterator[Clip]:
        return (self._at(number) for number in range(len(self)))

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str):
            return item in self.names
        return isinstance(item, Clip) and any(clip is item for clip in self)

    def __repr__(self) -> str:
        return "<Clips: " + (", ".join(map(repr, self.names)) or "none") + ">"


# ---- clips from arrays ---------------------------------------------------------------------------


def _key_times(
    fps: float | None, times: npt.ArrayLike | None, arrays: dict[str, Floats]
) -> tuple[Array, float]:
    """(N,) seconds and the ticks per second that belong to them."""
    if (fps is None) == (times is None):
        raise ValueError("give exactly one of fps and times")
    if fps is not None:
        if not (np.isfinite(fps) and fps > 0):
            raise ValueError(f"fps is {fps}; expected a positive number")
        count = len(next(iter(arrays.values()))) if arrays else 1
        return np.arange(count) / float(fps), float(fps)
    line = np.asarray(times, np.float64)
    if line.ndim != 1 or not len(line):
        raise ValueError(f"times has shape {line.shape}; expected (N,) with N > 0")
    if not np.isfinite(line).all() or (np.diff(line) <= 0).any():
        raise ValueError("times must be finite and increasing")
    return line, 1000.0


def _key_arrays(named: dict[str, npt.ArrayLike | None]) -> dict[str, Floats]:
    """The arrays that were given, as finite float32 (N,J,3|4) that agree in N and J."""
    arrays: dict[str, Floats] = {}
    for path, given in named.items():
        width = _block.PATH_WIDTHS[_block.PATHS.index(path)]
        if given is None:
            continue
        array = np.asarray(given, np.float32)
        first = next(iter(arrays.values())).shape[:2] if arrays else array.shape[:2]
        if array.ndim != 3 or array.shape != (*first, width) or not array.shape[0]:
            counts = f"{first[0]}, {first[1]}" if arrays else "N, J"
            raise ValueError(f"{path} has shape {array.shape}; expected ({counts}, {width})")
        if not np.isfinite(array).all():
            raise ValueError(f"{path} holds a number that is not finite")
        arrays[path] = array
    if "rotation" in arrays:
        arrays["rotation"] = _unit(arrays["rotation"])
    return arrays


def _weight_keys(weights: npt.ArrayLike, targets: int) -> Floats:
    """(N,M,1) keys of morph weights."""
    array = np.asarray(weights, np.float32)
    if array.ndim != 2 or array.shape[1] != targets or not len(array):
        raise ValueError(f"weights has shape {array.shape}; expected (N, {targets}), one column per target")
    if not np.isfinite(array).all():
        raise ValueError("weights holds a number that is not finite")
    return array[..., None]


def _unit(rotation: Floats) -> Floats:
    length = np.linalg.norm(rotation.astype(np.float64), axis=-1, keepdims=True)
    if (length == 0).any():
        raise ValueError("rotation holds a quaternion of length 0")
    unit: Floats = (rotation / length).astype(np.float32)
    return unit


def _from_arrays(
    cls: type[Clip],
    name: str,
    fps: float | None,
    times: npt.ArrayLike | None,
    joints: Sequence[str] | None,
    targets: tuple[str, ...],
    arrays: dict[str, Floats],
    interpolation: str,
) -> Clip:
    if interpolation not in ("linear", "step"):
        raise ValueError(f"interpolation is {interpolation!r}; expected 'linear' or 'step'")
    line, ticks = _key_times(fps, times, arrays)
    moving = [array.shape[1] for path, array in arrays.items() if path != "weights"]
    count = moving[0] if moving else len(joints or ())
    if joints is not None and len(joints) != count:
        raise ValueError(f"joints has {len(joints)} names; expected {count}")
    for path, array in arrays.items():
        if len(array) != len(line):
            raise ValueError(f"{path} has {len(array)} keys; expected {len(line)}, one per time")
    pool = _block.TextPool()
    channels = _channel_rows(arrays, interpolation)
    values = [np.ascontiguousarray(np.swapaxes(array, 0, 1)).ravel() for array in arrays.values()]
    sections = {
        "INFO": _clip_info(count, len(targets)),
        "JOINT_NAMES": pool.names(joints if joints is not None else [""] * count),
        "TARGETS": _target_names(targets, pool),
        "CLIPS": np.array(
            [(pool.add(name), max(float(line[-1]), 0.0), ticks, 0, len(channels))],
            _block.RECORDS["CLIPS"],
        ),
        "CHANNELS": channels,
        "TIMES": line,
        "VALUES": np.concatenate(values) if values else np.empty(0, np.float32),
        "TEXT": pool.section(),
    }
    try:
        return cls(_block.pack(sections, 1), 0)
    except LoadError as error:
        raise ValueError(str(error)) from None


def _clip_info(joints: int, targets: int) -> Array:
    info = np.zeros(1, _block.RECORDS["INFO"])
    info["kind"], info["influences"] = _block.CLIPS_ONLY, 1
    info["joints"], info["targets"] = joints, targets
    return info


def _target_names(names: Sequence[str], pool: _block.TextPool) -> Array:
    """The section TARGETS of a block of clips: names alone."""
    return np.array([(pool.add(name), 0, 0, 0, 0) for name in names], _block.RECORDS["TARGETS"])


def _channel_rows(arrays: dict[str, Floats], interpolation: str) -> Array:
    """One channel per path and joint (or target); the values lie path by path, joint by joint."""
    parts = [np.zeros(0, _block.RECORDS["CHANNELS"])]
    start = 0
    for path, array in arrays.items():
        keys, moved, width = array.shape
        rows = np.zeros(moved, _block.RECORDS["CHANNELS"])
        rows["joint"] = np.arange(moved)
        rows["path"] = _block.PATHS.index(path)
        rows["key_count"] = keys
        rows["values"] = start + np.arange(moved) * keys * width
        start += array.size
        parts.append(rows)
    channels = np.concatenate(parts)
    channels["interpolation"] = _block.INTERPOLATIONS.index(interpolation)
    channels["in_tangents"] = channels["out_tangents"] = _block.NO_ARRAY
    return channels


# ---- binding and joining ------------------------------------------------------------------------------

Entry = tuple[str, _core.Block, int]  #: a model's clip: its name, its block, its number in the block


@dataclass(frozen=True)
class Names:
    """What channels can move: joints and morph targets, by name."""

    joints: tuple[str, ...]
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Places:
    """Where the joints and targets of a clip are among those of a model; -1 where they are not."""

    joints: Array
    targets: Array

    def of(self, channels: Array) -> Array:
        """The model's joint or target of each channel record."""
        weights = channels["path"] == _block.WEIGHT_PATH
        places = np.empty(len(channels), np.int32)
        places[weights] = self.targets[channels["joint"][weights]]
        places[~weights] = self.joints[channels["joint"][~weights]]
        return places


def _find(names: tuple[str, ...], among: tuple[str, ...]) -> Array:
    first = {name: place for place, name in reversed(list(enumerate(among)))}
    return np.array([first.get(name, -1) for name in names], np.int32)


def find_places(clip: Clip, names: Names) -> Places:
    """Names are exact, of equal ones the first counts; a clip without joint names goes by number."""
    joints = clip._joint_names
    targets = _find(clip._target_names, names.targets)
    if not joints or any(joints):
        return Places(_find(joints, names.joints), targets)
    if len(joints) != len(names.joints):
        raise ValueError(
            f"clip {clip.name!r} has {len(joints)} unnamed joints; the model has {len(names.joints)}"
        )
    return Places(np.arange(len(joints), dtype=np.int32), targets)


def join(
    entries: Sequence[Entry], places: Sequence[Places] | None, pool: _block.TextPool
) -> dict[str, Array]:
    """The sections CLIPS, CHANNELS, TIMES and VALUES that hold all `entries`, whatever block each came from.

    places, one per entry, give every channel its joint or target; those that have none are left out.
    """
    offsets: dict[int, tuple[int, int]] = {}
    times: list[Array] = []
    values: list[Array] = []
    records, channels, count = [], [], 0
    for number, (name, block, index) in enumerate(entries):
        if id(block) not in offsets:
            offsets[id(block)] = (sum(map(len, times)), sum(map(len, values)))
            times.append(_block.section(block, "TIMES"))
            values.append(_block.section(block, "VALUES"))
        clip = _block.section(block, "CLIPS")[index]
        first = int(clip["first_channel"])
        rows = _block.section(block, "CHANNELS")[first : first + int(clip["channel_count"])].copy()
        if places is not None:
            rows["joint"] = places[number].of(rows)
            rows = rows[rows["joint"] >= 0]
        _shift(rows, *offsets[id(block)])
        records.append((pool.add(name), clip["duration"], clip["ticks_per_second"], count, len(rows)))
        channels.append(rows)
        count += len(rows)
    return {
        "CLIPS": np.array(records, _block.RECORDS["CLIPS"]),
        "CHANNELS": np.concatenate([np.empty(0, _block.RECORDS["CHANNELS"]), *channels]),
        "TIMES": np.concatenate([np.empty(0), *times]),
        "VALUES": np.concatenate([np.empty(0, np.float32), *values]),
    }


def _shift(channels: Array, times: int, values: int) -> None:
    channels["times"] += np.uint64(times)
    for field in ("values", "in_tangents", "out_tangents"):
        column = channels[field]
        column[column != _block.NO_ARRAY] += np.uint64(values)


def bind(clips: Sequence[Clip], names: Names) -> tuple[_core.Block, list[str]]:
    """A block with `clips`, made for `names`; and the joints and targets of the clips that `names` lacks."""
    places = [find_places(clip, names) for clip in clips]
    missed: dict[str, None] = {}
    for clip, place in zip(clips, places, strict=True):
        records = clip._channel_records
        for record in records[place.of(records) < 0]:
            weights = record["path"] == _block.WEIGHT_PATH
            missed[(clip._target_names if weights else clip._joint_names)[record["joint"]]] = None
    pool = _block.TextPool()
    sections = {
        "INFO": _clip_info(len(names.joints), len(names.targets)),
        "JOINT_NAMES": pool.names(names.joints),
        "TARGETS": _target_names(names.targets, pool),
    }
    sections |= join([(clip.name, clip._block, clip._index) for clip in clips], places, pool)
    sections["TEXT"] = pool.section()
    return _block.pack(sections, 1), list(missed)
