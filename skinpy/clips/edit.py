"""New clips from the channels of old ones: Clip.trim and Clip.resample, and the block that holds a result."""

from collections.abc import Sequence
from dataclasses import replace
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _block
from .._arguments import finite
from .._types import Array, Floats
from ..clip import Channel, Clip
from ..kinds.sampling import frame_times
from ..limits import Limits
from ..models.frames import checked_rate
from .arrays import clip_info, target_records
from .evaluate import key_tolerance, sample_channel
from .events import NO_MOTION, ClipRows, Event, Motion

if TYPE_CHECKING:
    from ..model import Model


def derived(
    source: Clip,
    channels: Sequence[Channel],
    duration: float,
    *,
    events: Sequence[Event] | None = None,
    motion: Motion | EllipsisType | None = ...,
    additive: bool | None = None,
    model: "Model | None" = None,
) -> Clip:
    """A clip like `source`, bound like it, with other channels. Equal time lines are stored once.

    Events, root motion and being additive are those of `source` unless they are given. With `model` the clip
    is bound to that one, whose joints and targets the channels name.
    """
    pool = _block.TextPool()
    times, values = _Rows(np.float64), _Rows(np.float32)
    rows = np.zeros(len(channels), _block.RECORDS["CHANNELS"])
    for row, channel in zip(rows, channels, strict=True):
        row["joint"] = channel.target if channel.joint is None else channel.joint
        row["path"] = _block.PATHS.index(channel.path)
        row["interpolation"] = _block.INTERPOLATIONS.index(channel.interpolation)
        row["key_count"] = len(channel.times)
        row["stride"] = _block.PATH_WIDTHS[row["path"]]
        row["times"] = times.add(channel.times, shared=True)
        row["values"] = values.add(channel.values)
        for field in ("in_tangents", "out_tangents"):
            tangents = getattr(channel, field)
            row[field] = _block.NO_ARRAY if tangents is None else values.add(tangents)
    moved = source._motion if isinstance(motion, EllipsisType) else motion
    record = ClipRows(pool)
    record.add(
        source,
        len(channels),
        duration=duration,
        events=source.events if events is None else events,
        additive=source.is_additive if additive is None else additive,
        motion=NO_MOTION
        if moved is None
        else (len(moved.times), times.add(moved.times, shared=True), values.add(moved.values)),
    )
    joints, targets = source._joint_names, source._target_names
    if model is not None:
        joints, targets = model.skeleton.names, tuple(target.name for target in model.targets)
    sections = {
        "INFO": clip_info(len(joints), len(targets)),
        "JOINT_NAMES": pool.names(joints),
        "TARGETS": target_records(targets, pool),
        "CHANNELS": rows,
        **record.sections(),
        "TIMES": times.section(),
        "VALUES": values.section(),
        "TEXT": pool.section(),
    }
    return Clip(_block.pack(sections, 1), 0, source.model if model is None else model, source.name)


class _Rows:
    """Numbers of a section, one array after another."""

    def __init__(self, dtype: type[np.floating[Any]]) -> None:
        self._arrays: list[Array] = [np.empty(0, dtype)]
        self._places: dict[bytes, int] = {}
        self._count = 0

    def add(self, array: Array, *, shared: bool = False) -> int:
        """Place of the array's first number."""
        flat = np.ascontiguousarray(array, self._arrays[0].dtype).ravel()
        key = flat.tobytes() if shared else b""
        if shared and key in self._places:
            return self._places[key]
        place = self._count
        self._places[key] = place
        self._arrays.append(flat)
        self._count += len(flat)
        return place

    def section(self) -> Array:
        return np.concatenate(self._arrays)


_MOST_KEYS = Limits().keys  # a clip that is made may have as many as one that is loaded


# ---- resampling -----------------------------------------------------------------------------------


def resampled(clip: Clip, fps: float) -> Clip:
    """See Clip.resample."""
    line = frame_times(clip.duration, checked_rate(fps))
    moved = sum(len(channel.times) > 1 for channel in clip.channels)
    if moved * len(line) > _MOST_KEYS:
        raise ValueError(
            f"fps is {fps:g}, which is {len(line)} keys for each of {moved} channels; expected a lower fps, "
            f"for at most {_MOST_KEYS} keys"
        )
    channels = []
    for channel in clip.channels:
        if len(channel.times) > 1:
            values = sample_channel(channel, line, key_tolerance(clip)).astype(np.float32)
            step = channel.interpolation == "step"
            channel = replace(
                channel,
                interpolation="step" if step else "linear",
                times=line,
                values=values,
                in_tangents=None,
                out_tangents=None,
            )
        channels.append(channel)
    return derived(clip, channels, clip.duration)


# ---- trimming -------------------------------------------------------------------------------------


def trimmed(clip: Clip, start: float, end: float | None) -> Clip:
    """See Clip.trim."""
    start, last = finite("start", start), clip.duration if end is None else finite("end", end)
    slack = key_tolerance(clip)
    if not (0.0 <= start < last <= clip.duration + slack):
        raise ValueError(
            f"start is {start} and end is {last}; "
            f"expected 0 <= start < end <= {clip.duration:g}, the clip's duration"
        )
    last = min(last, clip.duration)
    return derived(
        clip,
        [_cut(one, start, last, slack) for one in clip.channels],
        last - start,
        events=_kept_events(clip.events, start, last),
        motion=None if clip._motion is None else _cut_motion(clip._motion, start, last, slack),
    )


def _kept_events(events: Sequence[Event], start: float, end: float) -> list[Event]:
    return [replace(event, time=event.time - start) for event in events if start <= event.time <= end]


def _cut_motion(motion: Motion, start: float, end: float, slack: float) -> Motion:
    """The travel from start to end: that part of the keys, with keys of its own at both."""
    place = Channel(0, None, "", "translation", "linear", motion.times, motion.values[:, :3], None, None)
    turn = replace(place, path="rotation", values=motion.values[:, 3:])
    parts = [_cut(one, start, end, slack) for one in (place, turn)]
    return Motion(parts[0].times, np.concatenate([part.values for part in parts], axis=1))


def _cut(channel: Channel, start: float, end: float, slack: float) -> Channel:
    """The channel from start to end, with keys of its own at both, its times counted from start."""
    line = channel.times
    if len(line) == 1:
        return replace(channel, times=np.zeros(1))
    inside = (line > start + slack) & (line < end - slack)
    ends = np.array([start, end])
    times = np.concatenate([ends[:1], line[inside], ends[1:]])
    values = _with_ends(channel.values[inside], sample_channel(channel, ends, slack))
    if channel.interpolation == "cubic":
        return replace(_cut_cubic(channel, inside, ends), times=times - start)
    return replace(channel, times=times - start, values=values)


def _with_ends(inside: Array, ends: Array) -> Floats:
    return np.concatenate([ends[:1], inside, ends[1:]]).astype(np.float32)


def _cut_cubic(channel: Channel, inside: Array, ends: Array) -> Channel:
    """A part of a Hermite spline is one again, whose end tangents are its slopes there. Times are not set.

    Where the part reaches beyond the keys the curve is level, and so are the tangents on that side.
    """
    assert channel.in_tangents is not None and channel.out_tangents is not None
    line = channel.times
    points, slopes = _raw_hermite(channel, ends)
    into, out = channel.in_tangents[inside].copy(), channel.out_tangents[inside].copy()
    kept = np.flatnonzero(inside)
    if len(kept) and kept[0] == 0:
        into[0] = 0.0
    if len(kept) and kept[-1] == len(line) - 1:
        out[-1] = 0.0
    return replace(
        channel,
        values=_with_ends(channel.values[inside], points),
        in_tangents=_with_ends(into, slopes),
        out_tangents=_with_ends(out, slopes),
    )


def _raw_hermite(channel: Channel, times: Array) -> tuple[Array, Array]:
    """(N,C) values, rotations not normalized, and (N,C) slopes per second."""
    assert channel.in_tangents is not None and channel.out_tangents is not None
    line, values = channel.times, channel.values.astype(np.float64)
    low = np.clip(np.searchsorted(line, times, side="right") - 1, 0, len(line) - 2)
    h = (line[low + 1] - line[low])[:, None]
    within = ((times >= line[0]) & (times <= line[-1]))[:, None]
    u = np.clip((times - line[low])[:, None] / h, 0.0, 1.0)
    a, b = values[low], values[low + 1]
    out, into = channel.out_tangents[low] * h, channel.in_tangents[low + 1] * h
    points = (2 * u**3 - 3 * u**2 + 1) * a + (u**3 - 2 * u**2 + u) * out
    points += (3 * u**2 - 2 * u**3) * b + (u**3 - u**2) * into
    slopes = (6 * u**2 - 6 * u) * (a - b) + (3 * u**2 - 4 * u + 1) * out + (3 * u**2 - 2 * u) * into
    return points, np.where(within, slopes / h, 0.0)
