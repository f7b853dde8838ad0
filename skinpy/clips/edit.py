"""New clips from the channels of old ones: Clip.trim, Clip.resample, and the block of the result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _block
from .._arguments import finite
from .._text import quoted
from .._types import Array, Floats
from ..clip import Channel, Clip
from ..kinds.sampling import frame_times
from ..limits import Limits
from ..models.frames import checked_rate
from .arrays import name_sections, names_of_model
from .evaluate import key_tolerance, sample_channel
from .events import NO_MOTION, ClipRows, Event, Motion

if TYPE_CHECKING:
    from ..model import Model

_SMALLER = "expected smaller numbers, whose differences and products float32 can hold"


def derived(
    source: Clip,
    channels: Sequence[Channel],
    duration: float,
    *,
    events: Sequence[Event] | None = None,
    motion: Motion | EllipsisType | None = ...,
    additive: bool | None = None,
    model: "Model | None" = None,
    name: str | None = None,
    ticks: float | None = None,
) -> Clip:
    """A clip with other channels than `source`, bound to the same model. Equal time lines are stored once.

    Events, root motion, the mark of additive clips, the name and the ticks per second are those of `source`
    unless they are given. With `model` the clip is bound to that model, whose joints and targets the channels
    name.
    """
    name = source.name if name is None else name
    names = source._names if model is None else names_of_model(model)
    for channel in channels:
        _check_keys(source, channel, names)
    pool = _block.TextPool()
    times, values = _Rows(np.float64), _Rows(np.float32)
    rows = _channel_records(channels, times, values)
    root_motion = source._motion if isinstance(motion, EllipsisType) else motion
    if root_motion is not None and not np.isfinite(root_motion.values).all():
        raise ValueError(
            f"clip {quoted(source.name)} overflows: its root motion is beyond float32 (3.4e38); {_SMALLER}"
        )
    record = ClipRows(pool)
    record.add(
        source,
        len(channels),
        _motion_record(root_motion, times, values),
        duration=duration,
        events=events,
        additive=additive,
        name=name,
        ticks=ticks,
    )
    sections = {
        **name_sections(names, pool),
        "CHANNELS": rows,
        **record.sections(),
        "TIMES": times.section(),
        "VALUES": values.section(),
        "TEXT": pool.section(),
    }
    return Clip(_block.pack(sections, 1), 0, source.model if model is None else model, name)


def with_keys(
    channel: Channel, change: Callable[[Array], Array], slopes: Callable[[Array], Array] | None = None
) -> Channel:
    """The channel with values (N,C) changed by a function, and tangents by `slopes` or by the same one."""

    def tangents(rows: Floats | None) -> Floats | None:
        return None if rows is None else (slopes or change)(rows.astype(np.float64)).astype(np.float32)

    return replace(
        channel,
        values=change(channel.values.astype(np.float64)).astype(np.float32),
        in_tangents=tangents(channel.in_tangents),
        out_tangents=tangents(channel.out_tangents),
    )


def _check_keys(source: Clip, channel: Channel, names: Mapping[str, Sequence[str]]) -> None:
    """ValueError, which names clip and joint, if a key of a new clip is not finite."""
    for field in ("values", "in_tangents", "out_tangents"):
        rows = getattr(channel, field)
        if rows is None or np.isfinite(rows).all():
            continue
        key = int(np.argmin(np.isfinite(rows).all(axis=1)))
        kind = next(kind for kind in ("joint", "target", "material") if getattr(channel, kind) is not None)
        name = names[kind][channel.moved]
        raise ValueError(
            f"clip {quoted(source.name)} overflows: the {channel.path} of {quoted(name)} at "
            f"{channel.times[key]:.6g} s is beyond float32 (3.4e38); {_SMALLER}"
        )


def _channel_records(channels: Sequence[Channel], times: "_Rows", values: "_Rows") -> Array:
    """The section CHANNELS of channels, whose keys are added to TIMES and VALUES."""
    rows = np.zeros(len(channels), _block.RECORDS["CHANNELS"])
    for row, channel in zip(rows, channels, strict=True):
        row["joint"] = channel.moved
        row["path"] = _block.PATHS.index(channel.path)
        row["interpolation"] = _block.INTERPOLATIONS.index(channel.interpolation)
        row["key_count"] = len(channel.times)
        row["stride"] = _block.PATH_WIDTHS[row["path"]]
        row["times"] = times.add(channel.times, shared=True)
        row["values"] = values.add(channel.values)
        for field in ("in_tangents", "out_tangents"):
            tangents = getattr(channel, field)
            row[field] = _block.NO_ARRAY if tangents is None else values.add(tangents)
    return rows


def _motion_record(motion: Motion | None, times: "_Rows", values: "_Rows") -> tuple[int, int, int]:
    """The number of keys of a root motion and their offsets in TIMES and VALUES, where they are added."""
    if motion is None:
        return NO_MOTION
    return len(motion.times), times.add(motion.times, shared=True), values.add(motion.values)


class _Rows:
    """A section of numbers under construction."""

    def __init__(self, dtype: type[np.floating[Any]]) -> None:
        self._arrays: list[Array] = [np.empty(0, dtype)]
        self._offsets: dict[bytes, int] = {}  # of arrays that are shared, by their bytes
        self._count = 0

    def add(self, array: Array, *, shared: bool = False) -> int:
        """Append an array and return the offset of its first number; `shared` arrays are stored once."""
        flat = np.ascontiguousarray(array, self._arrays[0].dtype).ravel()
        key = flat.tobytes() if shared else b""
        if shared and key in self._offsets:
            return self._offsets[key]
        offset = self._count
        self._offsets[key] = offset
        self._arrays.append(flat)
        self._count += len(flat)
        return offset

    def section(self) -> Array:
        """All numbers, one array after another."""
        return np.concatenate(self._arrays)


# ---- resampling -----------------------------------------------------------------------------------

#: A new clip may have as many keys as a clip that is loaded.
_MAX_KEYS = Limits().keys


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def resampled(clip: Clip, fps: float) -> Clip:
    """See Clip.resample."""
    line = frame_times(clip.duration, checked_rate(fps))
    moving = sum(len(channel.times) > 1 for channel in clip.channels)
    if moving * len(line) > _MAX_KEYS:
        raise ValueError(
            f"fps is {fps:g}, which gives {len(line)} keys to each of {moving} channels; "
            f"expected a lower fps, for at most {_MAX_KEYS} keys"
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


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def trimmed(clip: Clip, start: float, end: float | None) -> Clip:
    """See Clip.trim."""
    start, last = finite("start", start), clip.duration if end is None else finite("end", end)
    slack = key_tolerance(clip)
    if not (0.0 <= start < last <= clip.duration + slack):
        raise ValueError(
            f"start is {start} and end is {last}; "
            f"expected 0 <= start < end <= {clip.duration:g}, the duration of the clip"
        )
    last = min(last, clip.duration)
    return derived(
        clip,
        [cut_channel(one, start, last, slack) for one in clip.channels],
        last - start,
        events=_kept_events(clip.events, start, last),
        motion=None if clip._motion is None else cut_motion(clip._motion, start, last, slack),
    )


def _kept_events(events: Sequence[Event], start: float, end: float) -> list[Event]:
    """The events from start to end, with times that count from start."""
    return [replace(event, time=event.time - start) for event in events if start <= event.time <= end]


def cut_motion(motion: Motion, start: float, end: float, slack: float) -> Motion:
    """The root motion from start to end, cut like a channel of translation and one of rotation."""
    translation = Channel(
        0, None, "", "translation", "linear", motion.times, motion.values[:, :3], None, None
    )
    rotation = replace(translation, path="rotation", values=motion.values[:, 3:])
    cut = [cut_channel(one, start, end, slack) for one in (translation, rotation)]
    return Motion(cut[0].times, np.concatenate([one.values for one in cut], axis=1))


def cut_channel(channel: Channel, start: float, end: float, slack: float) -> Channel:
    """The channel from start to end, with a key at both; its times count from start."""
    line = channel.times
    if len(line) == 1:
        return replace(channel, times=np.zeros(1))
    inside = (line > start + slack) & (line < end - slack)
    ends = np.array([start, end])
    times = np.concatenate([ends[:1], line[inside], ends[1:]])
    values = _with_ends(channel.values[inside], sample_channel(channel, ends, slack))
    if channel.interpolation == "cubic":
        return replace(_cut_cubic(channel, inside, ends, slack), times=times - start)
    return replace(channel, times=times - start, values=values)


def _with_ends(inside: Array, ends: Array) -> Floats:
    """Rows between the two rows of `ends`."""
    return np.concatenate([ends[:1], inside, ends[1:]]).astype(np.float32)


def _cut_cubic(channel: Channel, inside: Array, ends: Array, slack: float) -> Channel:
    """The values and tangents of a section of a Hermite spline, which is a Hermite spline too.

    The tangents at its ends are the slopes there, at a key those of its inner side. Beyond the keys the curve
    is level, so tangents on that side are 0. The times of the channel are not changed.
    """
    assert channel.in_tangents is not None and channel.out_tangents is not None
    into, out = channel.in_tangents.copy(), channel.out_tangents.copy()
    into[0] = out[-1] = 0.0
    points, slopes = _raw_hermite(channel, ends)
    starts, stops = slopes.copy(), slopes.copy()
    for key in np.flatnonzero(np.abs(channel.times - ends[0]) <= slack):
        starts[0] = out[key]
    for key in np.flatnonzero(np.abs(channel.times - ends[1]) <= slack):
        stops[1] = into[key]
    return replace(
        channel,
        values=_with_ends(channel.values[inside], points),
        in_tangents=_with_ends(into[inside], stops),
        out_tangents=_with_ends(out[inside], starts),
    )


def _raw_hermite(channel: Channel, times: Array) -> tuple[Array, Array]:
    """Values (N,C) of a spline, with rotations that are not normalized, and slopes (N,C) per second."""
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
