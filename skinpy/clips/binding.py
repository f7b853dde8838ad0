"""Clips of elsewhere made for a model: channels find their joints and morph targets by name."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _block, _core
from .._arguments import flag, names_of
from .._types import Array
from ..clip import Clip, Entry
from ..errors import unknown_name
from ..pose import Pose
from .arrays import clip_info, target_records
from .events import NO_MOTION, ClipRows
from .matching import find_exact, match_joints

if TYPE_CHECKING:
    from .._confinement import Confinement
    from ..model import Model


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
    similar: tuple[int, ...] = ()  #: joints of the clip that were found by other than their exact name

    def of(self, channels: Array) -> Array:
        """The model's joint or target of each channel record."""
        weights = channels["path"] == _block.WEIGHT_PATH
        places = np.empty(len(channels), np.int32)
        places[weights] = self.targets[channels["joint"][weights]]
        places[~weights] = self.joints[channels["joint"][~weights]]
        return places


def find_places(clip: Clip, names: Names) -> Places:
    """Joints as _matching has it; morph targets by exact name; a clip without joint names goes by number."""
    joints = clip._joint_names
    targets = find_exact(clip._target_names, names.targets)
    if not joints or any(joints):
        records = clip._channel_records
        moved = np.unique(records["joint"][records["path"] != _block.WEIGHT_PATH])
        found, similar = match_joints(joints, names.joints, moved.tolist())
        return Places(found, targets, tuple(similar))
    if len(joints) != len(names.joints):
        raise ValueError(
            f"clip {clip.name!r} has {len(joints)} unnamed joints; the model has {len(names.joints)}"
        )
    return Places(np.arange(len(joints), dtype=np.int32), targets)


def join(clips: Sequence[Clip], places: Sequence[Places] | None, pool: _block.TextPool) -> dict[str, Array]:
    """The sections that hold all `clips`, whatever block each is of.

    places, one per clip, give every channel its joint or target; those that have none are left out.
    """
    offsets: dict[int, tuple[int, int]] = {}
    times: list[Array] = []
    values: list[Array] = []
    records, channels = ClipRows(pool), []
    for number, clip in enumerate(clips):
        block = clip._block
        if id(block) not in offsets:
            offsets[id(block)] = (sum(map(len, times)), sum(map(len, values)))
            times.append(_block.section(block, "TIMES"))
            values.append(_block.section(block, "VALUES"))
        rows = clip._channel_records.copy()
        if places is not None:
            rows["joint"] = places[number].of(rows)
            rows = rows[rows["joint"] >= 0]
        _shift(rows, *offsets[id(block)])
        channels.append(rows)
        motion = NO_MOTION
        if clip._motion is not None:
            motion = (len(clip._motion.times), sum(map(len, times)), sum(map(len, values)))
            times.append(clip._motion.times)
            values.append(clip._motion.values.ravel())
        records.add(
            clip,
            len(rows),
            duration=clip.duration,
            events=clip.events,
            additive=clip.is_additive,
            motion=motion,
        )
    return records.sections() | {
        "CHANNELS": np.concatenate([np.empty(0, _block.RECORDS["CHANNELS"]), *channels]),
        "TIMES": np.concatenate([np.empty(0), *times]),
        "VALUES": np.concatenate([np.empty(0, np.float32), *values]),
    }


def _shift(channels: Array, times: int, values: int) -> None:
    channels["times"] += np.uint64(times)
    for field in ("values", "in_tangents", "out_tangents"):
        column = channels[field]
        column[column != _block.NO_ARRAY] += np.uint64(values)


# ---- binding --------------------------------------------------------------------------------------


class _Notes:
    """The section REPORT of a block of clips."""

    def __init__(self, pool: _block.TextPool) -> None:
        self._pool = pool
        self._rows: list[tuple[Any, ...]] = []

    def add(self, code: str, message: str, cases: list[str], severity: str = "lost") -> None:
        """An entry where there are cases, of which the first is shown."""
        if cases:
            words = [self._pool.add(text) for text in (code, cases[0], message)]
            number = _block.SEVERITIES.index(severity)
            self._rows.append((words[0], number, 0, len(cases), words[1], words[2]))

    def section(self) -> Array:
        return np.array(self._rows, _block.RECORDS["REPORT"])


def _missed(clips: Sequence[Clip], places: Sequence[Places]) -> list[str]:
    """Joints and targets that channels of the clips move and the model lacks, one entry per channel."""
    missed = []
    for clip, place in zip(clips, places, strict=True):
        records = clip._channel_records
        for record in records[place.of(records) < 0]:
            weights = record["path"] == _block.WEIGHT_PATH
            missed.append((clip._target_names if weights else clip._joint_names)[record["joint"]])
    return missed


def _similar(clips: Sequence[Clip], places: Sequence[Places], names: tuple[str, ...]) -> list[str]:
    """The pairs of joints that are not called the same, each once."""
    pairs = {}
    for clip, place in zip(clips, places, strict=True):
        for joint in place.similar:
            pairs[f"{clip._joint_names[joint]!r} is {names[place.joints[joint]]!r}"] = True
    return list(pairs)


def _sheared(model: "Model", channels: Array) -> list[str]:
    """Names of joints that channels move and whose rest matrix is no product of T, R and S."""
    moved = np.unique(channels["joint"][channels["path"] != _block.WEIGHT_PATH])
    skeleton = model.skeleton
    product = Pose(
        model,
        skeleton.translation + np.float32(0),
        skeleton.rotation * np.float32(-1),  # the same rotation, but not the rest pose's bits
        skeleton.scale + np.float32(0),
        np.zeros(len(model.targets), np.float32),
    ).locals()
    size = np.abs(skeleton.rest_local[:, :3, :3]).max(axis=(1, 2))
    off = np.abs(product - skeleton.rest_local)[:, :3, :3].max(axis=(1, 2)) > 1e-4 * size
    return [skeleton.names[joint] for joint in moved if off[joint]]


def bind(clips: Sequence[Clip], model: "Model") -> _core.Block:
    """A block with `clips`, made for the joints and targets of `model`; what is lost is in its report."""
    names = Names(model.skeleton.names, tuple(target.name for target in model.targets))
    places = [find_places(clip, names) for clip in clips]
    pool = _block.TextPool()
    sections = {
        "INFO": clip_info(len(names.joints), len(names.targets)),
        "JOINT_NAMES": pool.names(names.joints),
        "TARGETS": target_records(names.targets, pool),
    }
    sections |= join(clips, places, pool)
    notes = _Notes(pool)
    missed = _missed(clips, places)
    if missed and not len(sections["CHANNELS"]):
        raise ValueError(f"no joint of clip {clips[0].name!r} is in the model: {missed[0]!r}, ...")
    dropped = "channels of added clips that move nothing of the model; left out"
    notes.add("channels_dropped", dropped, [repr(name) for name in missed])
    similar = "joints of added clips that were found without prefix or without regard to case"
    notes.add("joints_matched", similar, _similar(clips, places, names.joints), "repaired")
    notes.add(
        "shear_lost",
        "animated joints whose rest matrix holds shear; it is lost where they move",
        [repr(name) for name in _sheared(model, sections["CHANNELS"])],
    )
    sections["REPORT"] = notes.section()
    sections["TEXT"] = pool.section()
    return _block.pack(sections, 1)


def merged_reports(blocks: Sequence[_core.Block], pool: _block.TextPool) -> Array:
    """The section REPORT with the entries of all blocks, their texts in `pool`."""
    entries = []
    for block in blocks:
        rows = _block.section(block, "REPORT").copy()
        for row in rows:
            for field in ("code", "first", "message"):
                row[field] = pool.add(_block.text(block, row[field]))
        entries.append(rows)
    return np.concatenate([np.empty(0, _block.RECORDS["REPORT"]), *entries])


# ---- what a model gets ------------------------------------------------------------------------------


def _sources(source: Any, confined: "Confinement") -> list[tuple[str, list[Clip]]]:
    """(stem, clips) of each source; only a path has a stem."""
    if isinstance(source, Clip):
        return [("", [source])]
    if isinstance(source, _core.Model):
        return [("", list(source.clips))]  # type: ignore[attr-defined]  # skinpy.Model, which imports this
    if isinstance(source, (str, os.PathLike)):
        from ..loading import load

        return [(Path(source).stem, list(load(source, **confined).clips))]
    if isinstance(source, Sequence):
        return [pair for one in source for pair in _sources(one, confined)]
    raise TypeError(
        f"source is of type {type(source).__name__}; expected a Clip, a Model, a path or a list of them"
    )


def _free_name(name: str, stem: str, taken: set[str]) -> str:
    """`name`, or the stem in front of it, or that with a number, whichever is not taken first."""
    if name not in taken:
        return name
    wanted = f"{stem}|{name}" if stem else name
    number = 1
    free = wanted
    while free in taken:
        number += 1
        free = f"{wanted}.{number}"
    return free


def add_entries(
    model: "Model", source: Any, names: Sequence[str] | None, replace: bool, confined: "Confinement"
) -> list[Entry]:
    """The clips of `model` and those of `source`, as Model.add_clips has it."""
    flag("replace", replace)
    sources = _sources(source, confined)
    if names is not None:
        wanted, there = names_of("names", names), [clip.name for _, clips in sources for clip in clips]
        for name in wanted:
            if name not in there:
                raise unknown_name("clip", name, there)
        sources = [(stem, [clip for clip in clips if clip.name in wanted]) for stem, clips in sources]
    entries: list[Entry] = list(model._clip_entries)
    for stem, clips in sources:
        block = bind(clips, model) if clips else model._block
        for index, clip in enumerate(clips):
            if replace:
                entries = [entry for entry in entries if entry[0] != clip.name]
            name = _free_name(clip.name, stem, {entry[0] for entry in entries})
            entries.append((name, block, index))
    return entries
