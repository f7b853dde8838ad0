"""Binding of clips to a model: what their channels move is matched by name."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _block, _core
from .._arguments import flag, names_of
from .._text import quoted
from .._types import Array
from ..clip import Clip, Entry
from ..errors import unknown_name
from ..pose import Pose
from .arrays import name_sections, names_of_model
from .channel import owner_of
from .events import NO_MOTION, ClipRows
from .matching import find_exact, match_joints
from .units import Scale, checked_scale, fitted

if TYPE_CHECKING:
    from .._confinement import Confinement
    from ..model import Model


@dataclass(frozen=True, eq=False)
class Matches:
    """The model's joint, target and material for each of a clip's; -1 for those without a match.

    inexact are the joints of the clip whose match has a name that is not exactly the same.
    """

    joints: Array
    targets: Array
    materials: Array
    inexact: tuple[int, ...] = ()

    def of(self, channels: Array) -> Array:
        """The joint, target or material of the model for each channel record."""
        matched = np.empty(len(channels), np.int32)
        weights = channels["path"] == _block.WEIGHT_PATH
        materials = channels["path"] >= _block.FIRST_MATERIAL_PATH
        for chosen, found in (
            (weights, self.targets),
            (materials, self.materials),
            (~weights & ~materials, self.joints),
        ):
            matched[chosen] = found[channels["joint"][chosen]]
        return matched


def find_matches(clip: Clip, names: Mapping[str, tuple[str, ...]]) -> Matches:
    """The matches of a clip: joints as in `matching`, morph targets and materials by exact name.

    Joints of a clip without names are matched by index.
    """
    joints = clip._joint_names
    targets, materials = (find_exact(clip._names[kind], names[kind]) for kind in ("target", "material"))
    if not joints or any(joints):
        records = clip._channel_records
        of_joints = [owner_of(path) == "joint" for path in records["path"].tolist()]
        moved = np.unique(records["joint"][of_joints])
        found, inexact = match_joints(joints, names["joint"], moved.tolist())
        return Matches(found, targets, materials, tuple(inexact))
    if len(joints) != len(names["joint"]):
        raise ValueError(
            f"clip {quoted(clip.name)} has {len(joints)} unnamed joints; the model has {len(names['joint'])}"
        )
    return Matches(np.arange(len(joints), dtype=np.int32), targets, materials)


def join(clips: Sequence[Clip], matches: Sequence[Matches] | None, pool: _block.TextPool) -> dict[str, Array]:
    """The sections that hold all clips, which may be of different blocks.

    matches, one per clip, give each channel its joint or target; channels without one are left out.
    """
    offsets: dict[int, tuple[int, int]] = {}
    times, values = _Joined(np.float64), _Joined(np.float32)
    records, channels = ClipRows(pool), []
    for number, clip in enumerate(clips):
        block = clip._block
        if id(block) not in offsets:
            added = times.add(_block.section(block, "TIMES")), values.add(_block.section(block, "VALUES"))
            offsets[id(block)] = added
        rows = clip._channel_records.copy()
        if matches is not None:
            rows["joint"] = matches[number].of(rows)
            rows = rows[rows["joint"] >= 0]
        _shift(rows, *offsets[id(block)])
        channels.append(rows)
        root, motion = clip._motion, NO_MOTION
        if root is not None:
            motion = (len(root.times), times.add(root.times), values.add(root.values.ravel()))
        records.add(clip, len(rows), motion)
    return records.sections() | {
        "CHANNELS": np.concatenate([np.empty(0, _block.RECORDS["CHANNELS"]), *channels]),
        "TIMES": times.array(),
        "VALUES": values.array(),
    }


class _Joined:
    """Arrays that become one."""

    def __init__(self, dtype: type[np.floating[Any]]) -> None:
        self._parts: list[Array] = [np.empty(0, dtype)]
        self._length = 0

    def add(self, part: Array) -> int:
        """The offset of the part."""
        self._parts.append(part)
        self._length += len(part)
        return self._length - len(part)

    def array(self) -> Array:
        return np.concatenate(self._parts)


def _shift(channels: Array, times: int, values: int) -> None:
    """Add the offsets of a block in TIMES and VALUES to channel records."""
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
        """Add an entry, which shows the first case, if there are cases."""
        if cases:
            code_text, case, message_text = (self._pool.add(text) for text in (code, cases[0], message))
            number = _block.SEVERITIES.index(severity)
            self._rows.append((code_text, number, 0, len(cases), case, message_text))

    def section(self) -> Array:
        """The section REPORT."""
        return np.array(self._rows, _block.RECORDS["REPORT"])


def _unmatched_names(clips: Sequence[Clip], matches: Sequence[Matches]) -> list[str]:
    """Names of what the model lacks, one for each channel that moves it."""
    names = []
    for clip, match in zip(clips, matches, strict=True):
        records = clip._channel_records
        for record in records[match.of(records) < 0]:
            names.append(clip._names[owner_of(int(record["path"]))][record["joint"]])
    return names


def _inexact_pairs(clips: Sequence[Clip], matches: Sequence[Matches], names: tuple[str, ...]) -> list[str]:
    """The pairs of matched joints whose names differ, each pair once."""
    pairs = {}
    for clip, match in zip(clips, matches, strict=True):
        for joint in match.inexact:
            pairs[f"{quoted(clip._joint_names[joint])} is {quoted(names[match.joints[joint]])}"] = True
    return list(pairs)


def _sheared_names(model: "Model", channels: Array) -> list[str]:
    """Names of joints that channels move and whose rest matrix holds shear."""
    moved = np.unique(channels["joint"][channels["path"] < _block.WEIGHT_PATH])
    skeleton = model.skeleton
    product = Pose(
        model,
        skeleton.translation + np.float32(0),
        skeleton.rotation
        * np.float32(-1),  # an equal rotation with other bits, so it is not taken for the rest pose
        skeleton.scale + np.float32(0),
        np.zeros(len(model.targets), np.float32),
    ).locals()
    size = np.abs(skeleton.rest_local[:, :3, :3]).max(axis=(1, 2))
    off = np.abs(product - skeleton.rest_local)[:, :3, :3].max(axis=(1, 2)) > 1e-4 * size
    return [skeleton.names[joint] for joint in moved if off[joint]]


def bind(clips: Sequence[Clip], model: "Model") -> _core.Block:
    """A block with clips whose channels move the joints and targets of a model.

    The report of the block has what was lost.
    """
    names = names_of_model(model)
    matches = [find_matches(clip, names) for clip in clips]
    pool = _block.TextPool()
    sections = {
        **name_sections(names, pool),
    }
    sections |= join(clips, matches, pool)
    unmatched = _unmatched_names(clips, matches)
    if unmatched and not len(sections["CHANNELS"]):
        raise ValueError(
            f"no joint of clip {quoted(clips[0].name)} is in the model; expected one that it moves: "
            f"{quoted(unmatched[0])}, ..."
        )
    notes = _Notes(pool)
    notes.add(
        "channels_dropped",
        "channels of added clips that move nothing of the model were left out",
        [quoted(name) for name in unmatched],
    )
    notes.add(
        "joints_matched",
        "joints of added clips were matched without prefix or without regard to case",
        _inexact_pairs(clips, matches, names["joint"]),
        "repaired",
    )
    notes.add(
        "shear_lost",
        "animated joints have shear in their rest matrix, which is lost while they move",
        [quoted(name) for name in _sheared_names(model, sections["CHANNELS"])],
    )
    sections["REPORT"] = notes.section()
    sections["TEXT"] = pool.section()
    return _block.pack(sections, 1)


def merged_reports(blocks: Sequence[_core.Block], pool: _block.TextPool) -> Array:
    """The section REPORT with the entries of all blocks; their texts go to `pool`."""
    entries = []
    for block in blocks:
        rows = _block.section(block, "REPORT").copy()
        for row in rows:
            for field in ("code", "first", "message"):
                row[field] = pool.add(_block.text(block, row[field]))
        entries.append(rows)
    return np.concatenate([np.empty(0, _block.RECORDS["REPORT"]), *entries])


# ---- sources of clips -------------------------------------------------------------------------------


def _sources(source: Any, confined: "Confinement") -> list[tuple[str, list[Clip]]]:
    """The stem of the path and the clips of each source; the stem is empty for a source without a path."""
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
        f"source is of type {type(source).__name__}; expected a Clip, a Model, a path or a sequence of these"
    )


def _free_name(name: str, stem: str, taken: set[str], numbers: dict[str, int]) -> str:
    """A name that is not taken: `name`, then "stem|name", then that with a number from 2 on.

    `numbers` keeps the last number of each name, so that many clips of one name take linear time.
    """
    if name not in taken:
        return name
    long_name = f"{stem}|{name}" if stem else name
    number = numbers.get(long_name, 1)
    free = long_name
    while free in taken:
        number += 1
        free = f"{long_name}.{number}"
    numbers[long_name] = number
    return free


def add_entries(
    model: "Model",
    source: Any,
    names: Sequence[str] | None,
    replace: bool,
    scale: Scale,
    confined: "Confinement",
) -> list[Entry]:
    """The clips of a model and those of sources; Model.add_clips documents the arguments."""
    flag("replace", replace)
    scale = checked_scale(scale)
    sources = _sources(source, confined)
    if names is not None:
        chosen, known = names_of("names", names), [clip.name for _, clips in sources for clip in clips]
        for name in chosen:
            if name not in known:
                raise unknown_name("clip", name, known)
        sources = [(stem, [clip for clip in clips if clip.name in chosen]) for stem, clips in sources]
    entries: list[Entry] = list(model._clip_entries)
    taken, numbers = {entry[0] for entry in entries}, dict[str, int]()
    for stem, given in sources:
        clips = fitted(given, model, scale)
        block = bind(clips, model) if clips else model._block
        for index, clip in enumerate(clips):
            if replace and clip.name in taken:
                entries = [entry for entry in entries if entry[0] != clip.name]
                taken.remove(clip.name)
            name = _free_name(clip.name, stem, taken, numbers)
            taken.add(name)
            entries.append((name, block, index))
    return entries
