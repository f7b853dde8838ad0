"""Clip.speed, Clip.reverse and Clip.cut: the keys of a clip at other times."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .._arguments import brief, finite, items_of
from .._text import quoted
from .._types import Array
from ..clip import Channel, Clip
from ..errors import unknown_name
from .edit import cut_channel, cut_motion, derived
from .evaluate import key_tolerance, sample_channel
from .events import Event, Motion
from .root_motion import inverse, product

# ---- speed ----------------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def sped(clip: Clip, factor: float) -> Clip:
    """See Clip.speed."""
    if not finite("factor", factor) > 0:
        remedy = "; clip.reverse() plays a clip backward" if factor < 0 else ""
        raise ValueError(f"factor is {brief(factor)}; expected a number above 0{remedy}")
    factor = float(factor)
    ticks, duration = clip.ticks_per_second * factor, clip.duration / factor
    lines = [channel.times / factor for channel in clip.channels]
    if not (0 < ticks < np.inf and duration < np.inf and all(map(_increases, lines))):
        raise ValueError(
            f"factor is {factor:g}, with which clip {quoted(clip.name)} would last {duration:g} s; "
            "expected a factor that keeps its key times finite and apart"
        )
    channels = [_sped(channel, line, factor) for channel, line in zip(clip.channels, lines, strict=True)]
    motion = clip._motion
    return derived(
        clip,
        channels,
        duration,
        events=[replace(event, time=event.time / factor) for event in clip.events],
        motion=None if motion is None else replace(motion, times=motion.times / factor),
        ticks=ticks,
    )


def _sped(channel: Channel, times: Array, factor: float) -> Channel:
    """The channel with other key times, and slopes that are steeper by the factor."""
    if channel.in_tangents is None or channel.out_tangents is None:
        return replace(channel, times=times)
    scaled = [
        (tangents.astype(np.float64) * factor).astype(np.float32)
        for tangents in (channel.in_tangents, channel.out_tangents)
    ]
    return replace(channel, times=times, in_tangents=scaled[0], out_tangents=scaled[1])


def _increases(line: Array) -> bool:
    """Whether times are finite and increase."""
    return bool(np.isfinite(line).all() and (np.diff(line) > 0).all())


# ---- reverse --------------------------------------------------------------------------------------


def reversed_clip(clip: Clip) -> Clip:
    """See Clip.reverse."""
    duration, slack = clip.duration, key_tolerance(clip)
    after = max(2.0 * slack, 4.0 * float(np.spacing(duration)))  # see _reversed
    channels = [_reversed(within(one, duration, slack), duration, after) for one in clip.channels]
    events = [replace(event, time=duration - event.time) for event in reversed(clip.events)]
    motion = None if clip._motion is None else _reversed_motion(clip._motion, duration, slack)
    return derived(clip, channels, duration, events=events, motion=motion)


def within(channel: Channel, duration: float, slack: float) -> Channel:
    """The channel with no key outside the clip; one that has none there is returned as it is."""
    line = channel.times
    if line[0] >= 0.0 and line[-1] <= duration:
        return channel
    if duration > 0.0:
        return cut_channel(channel, 0.0, duration, slack)
    values = sample_channel(channel, np.zeros(1), slack).astype(np.float32)
    still = None if channel.in_tangents is None else np.zeros_like(values)
    return replace(channel, times=np.zeros(1), values=values, in_tangents=still, out_tangents=still)


def _reversed(channel: Channel, duration: float, after: float) -> Channel:
    """The channel backward in time.

    A step key at t shows its value from its tolerance before t until the tolerance before the next key, at u.
    So in the reversed channel the value begins `after`, twice the tolerance, later than duration - u, and it
    ends as much later than duration - t.
    """
    line = channel.times
    if len(line) == 1:
        return channel
    times, values = duration - line[::-1], channel.values[::-1]
    if channel.interpolation == "step":
        times = np.minimum(np.concatenate([times[:1], times[:-1] + after]), duration)
        kept = np.append(np.diff(times) > 0, True)
        return replace(channel, times=times[kept], values=values[kept])
    if channel.in_tangents is None or channel.out_tangents is None:
        return replace(channel, times=times, values=values)
    return replace(
        channel,
        times=times,
        values=values,
        in_tangents=-channel.out_tangents[::-1],
        out_tangents=-channel.in_tangents[::-1],
    )


def _reversed_motion(motion: Motion, duration: float, slack: float) -> Motion:
    """The way back: with M the motion and d the duration, M(d)^-1 M(d - t)."""
    if not duration > 0.0:
        return motion
    cut = cut_motion(motion, 0.0, duration, slack)
    keys = [tuple(row) for row in cut.values[::-1].astype(np.float64).tolist()]
    back = inverse(keys[0])
    return Motion(duration - cut.times[::-1], np.array([product(back, key) for key in keys], np.float32))


# ---- cut ------------------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def pieces(clip: Clip, events: str | float | Iterable[str | float]) -> list[Clip]:
    """See Clip.cut."""
    slack = key_tolerance(clip)
    times = np.unique([0.0, *_cut_times(clip, events)])
    starts = times[np.append(np.diff(times) > slack, clip.duration - times[-1] > slack)]
    if not len(starts):  # a single pose, or a clip that is shorter than the tolerance
        return [derived(clip, clip.channels, clip.duration, name=f"{clip.name} 1")]
    starts[0] = 0.0
    ends = [*starts[1:].tolist(), clip.duration]
    return [
        _piece(clip, number, float(start), end, slack)
        for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1)
    ]


def _cut_times(clip: Clip, events: str | float | Iterable[str | float]) -> list[float]:
    """The times of all events of the given names, and the times that are given."""
    alone = isinstance(events, str | int | float | np.number)
    given = [events] if alone else items_of("events", events, "names of events, seconds, or both")
    names = dict.fromkeys(event.name for event in clip.events)
    times: list[float] = []
    for one in given:
        if isinstance(one, str):
            if one not in names:
                raise unknown_name("event", one, names, "events")
            times += [event.time for event in clip.events if event.name == one]
        else:
            time = finite("events", one)
            if not 0.0 <= time <= clip.duration:
                raise ValueError(
                    f"events has the time {time:g}; expected 0 to {clip.duration:g}, the duration of the clip"
                )
            times.append(time)
    return times


def _piece(clip: Clip, number: int, start: float, end: float, slack: float) -> Clip:
    """The section from start to end. An event at its end belongs to the next piece, unless it is the last."""
    is_last = end == clip.duration
    events = [
        Event(min(max(event.time - start, 0.0), end - start), event.name)
        for event in clip.events
        if start - slack <= event.time and (is_last or event.time < end - slack)
    ]
    return derived(
        clip,
        [cut_channel(one, start, end, slack) for one in clip.channels],
        end - start,
        events=events,
        motion=None if clip._motion is None else cut_motion(clip._motion, start, end, slack),
        name=f"{clip.name} {number}",
    )
