"""Clip.concatenate: several clips of one model, one after another, as one clip.

Each clip has its keys at the time at which it begins. Where the end of one clip and the start of the next
agree, they share a key; where they do not, the value jumps: the first clip's last key lies an instant before
the joint, and the next clip's first key on it. A channel has one interpolation, so clips that differ in that
get what holds both: a step becomes two linear keys an instant apart, and linear keys become cubic ones, which
is exact for numbers, and for rotations with more keys where they turn far.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from .._arguments import instance, items_of, text
from .._text import quoted
from .._types import Array, Floats
from ..clip import Channel, Clip
from .edit import cut_channel, cut_motion, derived, with_keys
from .evaluate import key_tolerance, same_signs, unit
from .events import Event, Motion
from .looks import rest_value
from .root_motion import IDENTITY, inverse, product
from .timing import within

#: Values that differ by less, as a fraction of the largest (of 1 for rotations), share a key at a joint.
_SAME = 1e-6
#: Tolerances of a key's time between two keys of a jump, which must lie farther apart than one.
_INSTANT = 3.0
#: Radians between two quaternions. A Hermite spline along so short an arc is off it by less than 1e-7.
_MAX_ARC = 0.1


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def concatenated(clips: Iterable[Clip], name: str | None) -> Clip:
    """See Clip.concatenate."""
    given = _checked(clips)
    name = "+".join(clip.name for clip in given) if name is None else text("name", name)
    starts = np.concatenate([[0.0], np.cumsum([clip.duration for clip in given])]).tolist()
    # A clip of no length is only seen at the end.
    shown = [number for number, clip in enumerate(given) if clip.duration > 0 or number == len(given) - 1]
    timeline = _Timeline(
        [given[number] for number in shown], [starts[number] for number in shown], starts[-1]
    )
    events = [
        Event(start + event.time, event.name)
        for clip, start in zip(given, starts, strict=False)
        for event in clip.events
    ]
    return derived(
        given[0],
        timeline.channels(),
        starts[-1],
        events=events,
        motion=_joined_motion(given, starts),
        name=name,
        ticks=timeline.ticks,
    )


def _checked(clips: Iterable[Clip]) -> list[Clip]:
    """The clips; an error unless there are any, all of one model, and all or none are additive."""
    given = [
        instance(f"clips[{number}]", clip, Clip, "a Clip")
        for number, clip in enumerate(items_of("clips", clips, "clips of one model"))
    ]
    if not given:
        raise ValueError("clips is empty; expected at least one clip")
    first = given[0]
    rig = first._bound_model()._block.rig
    for number, clip in enumerate(given):
        if clip._bound_model()._block.rig is not rig:
            raise ValueError(
                f"clips[{number}], {quoted(clip.name)}, is of another model than clips[0]; "
                "clips[0].model.add_clips(clip) binds it to that model, and skinpy.retarget carries it over"
            )
        if clip.is_additive != first.is_additive:
            additive, plain = (clip, first) if clip.is_additive else (first, clip)
            raise ValueError(
                f"clip {quoted(additive.name)} is additive and {quoted(plain.name)} is not; "
                "expected clips of poses alone, or additive clips alone"
            )
    return given


class _Timeline:
    """Clips of one model, each of which begins at its own time."""

    def __init__(self, clips: Sequence[Clip], starts: Sequence[float], end: float) -> None:
        self._clips, self._starts = clips, starts
        self.ticks = max(clip.ticks_per_second for clip in clips)
        self._slack = min(key_tolerance(clip) for clip in clips)
        self._instant = max(_INSTANT * self._slack, 4.0 * float(np.spacing(end)))
        self._keyed = [
            {(one.path, one.moved): within(one, clip.duration, key_tolerance(clip)) for one in clip.channels}
            for clip in clips
        ]

    def channels(self) -> list[Channel]:
        """All channels."""
        moved = dict.fromkeys(key for keyed in self._keyed for key in keyed)
        return [self._channel(path, index) for path, index in moved]

    def _channel(self, path: str, moved: int) -> Channel:
        """The channel of all clips; clips that have none hold the rest."""
        spans = [
            keyed.get((path, moved)) or _held(clip, path, moved, self._like(path, moved))
            for keyed, clip in zip(self._keyed, self._clips, strict=True)
        ]
        alike = [replace(one, times=one.times[:1], values=one.values[:1]) for one in spans]
        if all(_is_still(one) for one in spans) and all(_agree(alike[0], one) for one in alike[1:]):
            return _one_key(spans[0])
        kinds = {one.interpolation for one in spans if not _is_still(one)}
        kind = "cubic" if "cubic" in kinds else "linear" if "linear" in kinds else "step"
        return self._chained([_spread(*each, kind) for each in zip(spans, self._clips, strict=True)], kind)

    def _like(self, path: str, moved: int) -> Channel:
        """The first channel of this path that moves the same."""
        return next(keyed[path, moved] for keyed in self._keyed if (path, moved) in keyed)

    def _chained(self, spans: list[Channel], kind: str) -> Channel:
        """Channels with keys at both ends of their clips, one after another, with one interpolation."""
        made = [
            self._fitted(span, after, kind) for span, after in zip(spans, [*spans[1:], None], strict=True)
        ]
        for number in range(len(made) - 1):
            before, after = made[number], _same_sign(made[number], made[number + 1])
            if self._starts[number] + before.times[-1] >= self._starts[number + 1]:
                before, after = _sharing(before, after)
            made[number], made[number + 1] = before, after
        values = _joined(made, "values")
        assert values is not None
        return replace(
            made[0],
            times=np.concatenate([one.times + at for one, at in zip(made, self._starts, strict=True)]),
            values=values,
            in_tangents=_joined(made, "in_tangents"),
            out_tangents=_joined(made, "out_tangents"),
        )

    def _fitted(self, span: Channel, after: Channel | None, kind: str) -> Channel:
        """A span with another interpolation, which ends an instant early if the next begins elsewhere."""
        end = float(span.times[-1])
        if kind != "step" and after is not None and end > 2.0 * self._instant and not _can_share(span, after):
            span = cut_channel(span, 0.0, end - self._instant, self._slack)
        if span.interpolation == "step" and kind != "step":
            span = _without_steps(span, self._instant)
            return span if kind == "linear" else _level(span)
        return _curved(span) if span.interpolation == "linear" and kind == "cubic" else span


def _spread(channel: Channel, clip: Clip, kind: str) -> Channel:
    """A clip's channel with keys at both ends of the clip; one that stands still has the interpolation."""
    if not _is_still(channel):
        return cut_channel(channel, 0.0, clip.duration, key_tolerance(clip))
    ends = np.unique([0.0, clip.duration])
    values = np.repeat(channel.values[:1], len(ends), axis=0)
    channel = replace(_one_key(channel), interpolation=kind, times=ends, values=values)
    return _level(channel) if kind == "cubic" else channel


def _held(clip: Clip, path: str, moved: int, like: Channel) -> Channel:
    """The channel of a clip that has none: the value at rest, or no difference in an additive clip."""
    if clip.is_additive:
        none = {"rotation": [0.0, 0.0, 0.0, 1.0], "scale": [1.0, 1.0, 1.0]}
        value = np.array(none.get(path, [0.0] * like.values.shape[1]))
    else:
        value = rest_value(clip._bound_model(), path, moved)
    return _one_key(replace(like, values=value[None].astype(np.float32)))


def _one_key(channel: Channel) -> Channel:
    """A channel of one key with the first value of another."""
    return replace(
        channel,
        interpolation="linear",
        times=np.zeros(1),
        values=channel.values[:1],
        in_tangents=None,
        out_tangents=None,
    )


def _is_still(channel: Channel) -> bool:
    """Whether the channel has one value at all times."""
    tangents = (channel.in_tangents, channel.out_tangents)
    moves = len(channel.times) > 1 and any(one is not None and one.any() for one in tangents)
    return not moves and bool((channel.values == channel.values[0]).all())


def _agree(before: Channel, after: Channel) -> bool:
    """Whether a channel ends with the value with which another begins."""
    one, other = before.values[-1].astype(np.float64), after.values[0].astype(np.float64)
    if before.path == "rotation":
        one, other = unit(one), unit(other)
        other = -other if one @ other < 0 else other
    largest = max(1.0 if before.path == "rotation" else 0.0, np.abs(one).max(), np.abs(other).max())
    return bool(np.abs(one - other).max() <= _SAME * largest)


def _can_share(before: Channel, after: Channel) -> bool:
    """Whether the first key of a channel can take the place of the last key of another.

    The two may differ by rounding. Where the last two keys are half a turn apart, that would decide which way
    the joint turns between them.
    """
    if not _agree(before, after):
        return False
    if before.path != "rotation" or len(before.values) < 2:
        return True
    old, new = before.values[-2] @ before.values[-1], before.values[-2] @ _same_sign(before, after).values[0]
    return bool((old < 0) == (new < 0))


def _same_sign(before: Channel, after: Channel) -> Channel:
    """The second channel, with all its quaternions negated if that brings it nearer to the first's end."""
    if before.path != "rotation" or not float(before.values[-1] @ after.values[0]) < 0:
        return after
    return with_keys(after, np.negative)


def _sharing(before: Channel, after: Channel) -> tuple[Channel, Channel]:
    """The first channel without its last key, whose place the first key of the second takes."""
    if before.in_tangents is None or after.in_tangents is None or before.out_tangents is None:
        return replace(before, times=before.times[:-1], values=before.values[:-1]), after
    into = np.concatenate([before.in_tangents[-1:], after.in_tangents[1:]])
    shorter = replace(
        before,
        times=before.times[:-1],
        values=before.values[:-1],
        in_tangents=before.in_tangents[:-1],
        out_tangents=before.out_tangents[:-1],
    )
    return shorter, replace(after, in_tangents=into)


def _joined(channels: Sequence[Channel], field: str) -> Floats | None:
    """The rows of one field of all channels; None where these have no tangents."""
    rows = [getattr(one, field) for one in channels]
    return None if rows[0] is None else np.concatenate(rows)


def _level(channel: Channel) -> Channel:
    """The channel as a cubic one with slopes of 0."""
    slopes = np.zeros_like(channel.values)
    return replace(channel, interpolation="cubic", in_tangents=slopes, out_tangents=slopes)


def _without_steps(channel: Channel, before: float) -> Channel:
    """Step keys as linear ones: each value is repeated `before` seconds before the next key."""
    late = channel.times[1:] - before
    kept = late > channel.times[:-1]
    times = np.concatenate([channel.times, late[kept]])
    values = np.concatenate([channel.values, channel.values[:-1][kept]])
    order = np.argsort(times, kind="stable")
    return replace(channel, interpolation="linear", times=times[order], values=values[order])


def _curved(channel: Channel) -> Channel:
    """Linear keys as cubic ones. Arcs of rotations get more keys, so that a spline follows them."""
    times, values = channel.times, channel.values.astype(np.float64)
    if channel.path == "rotation":
        times, values, slopes = _arcs(times, unit(values))
    else:
        slopes = np.diff(values, axis=0) / np.diff(times)[:, None]
        slopes = np.stack([slopes, slopes])
    level = np.zeros((1, values.shape[1]))
    return replace(
        channel,
        interpolation="cubic",
        times=times,
        values=values.astype(np.float32),
        in_tangents=np.concatenate([level, slopes[1]]).astype(np.float32),
        out_tangents=np.concatenate([slopes[0], level]).astype(np.float32),
    )


def _arcs(times: Array, values: Array) -> tuple[Array, Array, Array]:
    """Times, quaternions (N,4), and the slopes (2,N-1,4) at the start and the end of each span, of slerps."""
    values = same_signs(values)
    starts, ends = values[:-1], values[1:]
    angles = 2.0 * np.arctan2(np.linalg.norm(ends - starts, axis=1), np.linalg.norm(ends + starts, axis=1))
    counts = np.ceil(angles / _MAX_ARC).astype(int).clip(1)
    spans = np.repeat(np.arange(len(counts)), counts)
    u = np.concatenate([np.arange(count) / count for count in counts])
    first, sideways, angle = starts[spans], _sideways(starts, ends)[spans], angles[spans, None]
    width = np.diff(times)[spans, None]

    def at(fraction: Array) -> tuple[Array, Array]:
        turned = fraction[:, None] * angle
        value = np.cos(turned) * first + np.sin(turned) * sideways
        slope = (np.cos(turned) * sideways - np.sin(turned) * first) * angle / width
        return value, slope

    value, slope = at(u)
    _, slope_at_end = at(u + 1.0 / counts[spans])
    line = times[spans] + u * width[:, 0]
    slopes = np.stack([slope, slope_at_end])
    return np.append(line, times[-1]), np.concatenate([value, values[-1:]]), slopes


def _sideways(starts: Array, ends: Array) -> Array:
    """The unit vectors at right angles to `starts`, in the direction of `ends`; 0 where both are one."""
    return unit(ends - (ends * starts).sum(axis=1, keepdims=True) * starts)


# ---- root motion ----------------------------------------------------------------------------------


def _joined_motion(clips: Sequence[Clip], starts: Sequence[float]) -> Motion | None:
    """The root motions, each of which continues where the one before has led. Other clips stand still."""
    if all(clip._motion is None for clip in clips):
        return None
    times, rows = [0.0], [IDENTITY]
    for clip, start in zip(clips, starts, strict=False):
        if not clip.duration > 0:
            continue
        reached, motion = rows[-1], clip._motion
        if motion is None:
            times, rows = [*times, start + clip.duration], [*rows, reached]
            continue
        cut = cut_motion(motion, 0.0, clip.duration, key_tolerance(clip))
        keys = [tuple(row) for row in cut.values.astype(np.float64).tolist()]
        front = product(reached, inverse(keys[0]))
        times = [*times, *(start + cut.times[1:]).tolist()]
        rows = [*rows, *(product(front, key) for key in keys[1:])]
    return Motion(np.array(times), np.array(rows, np.float32))
