"""The keys of a glTF channel: cut to the clip, held to its end, or converted to another interpolation."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array

if TYPE_CHECKING:
    from ..clip import Channel


@dataclass(frozen=True)
class KeyLine:
    """The keys of one channel: times (K,) float64 seconds, values (K,C), tangents per second."""

    node: int
    path: str
    interpolation: str
    times: Array
    values: Array
    in_tangents: Array
    out_tangents: Array


def line_of(channel: "Channel", node: int) -> KeyLine:
    """Return the keys of a channel for a node."""
    zeros = zero_tangents(channel.values)
    return KeyLine(
        node,
        channel.path,
        channel.interpolation,
        channel.times,
        _wide(channel.values),
        zeros if channel.in_tangents is None else _wide(channel.in_tangents),
        zeros if channel.out_tangents is None else _wide(channel.out_tangents),
    )


def zero_tangents(values: Array) -> Array:
    """Return tangents of 0 for as many values, in the memory of one number."""
    return np.broadcast_to(0.0, values.shape)


def _wide(keys: Array) -> Array:
    """Return keys in float64; a channel that stores one value for all keys still does."""
    stored = keys if keys.strides[0] else keys[:1]
    return np.broadcast_to(stored.astype(np.float64), keys.shape)


def held(line: KeyLine, time: float) -> KeyLine:
    """Return the line with one more key, which repeats the last one at `time`."""
    still = np.zeros((1, line.values.shape[1]))
    return replace(
        line,
        times=np.append(line.times, time),
        values=np.concatenate([line.values, line.values[-1:]]),
        in_tangents=np.concatenate([line.in_tangents, still]),
        out_tangents=np.concatenate([line.out_tangents[:-1], still, still]),
    )


def cut(line: KeyLine, duration: float) -> KeyLine:
    """Return the keys from 0 to `duration`, with new keys at these ends where the channel extends beyond."""
    times = line.times
    inside = (times >= 0) & (times <= duration)
    if inside.all():
        return line
    kept = times[inside]
    if times[0] < 0:
        kept = np.union1d(kept, 0.0)
    if times[-1] > duration:
        kept = np.union1d(kept, duration)
    values, before, behind = between(line, kept)
    return replace(line, times=kept, values=values, in_tangents=before, out_tangents=behind)


def between(line: KeyLine, times: Array) -> tuple[Array, Array, Array]:
    """Return values, in-tangents and out-tangents at `times` that leave each segment the same curve."""
    after = np.searchsorted(line.times, times, side="right")
    key = np.maximum(after - 1, 0)
    on_key = line.times[key] == times
    values = line.values[key]
    before, behind = (
        np.where(on_key[:, None], tangents[key], 0.0) for tangents in (line.in_tangents, line.out_tangents)
    )
    new = np.flatnonzero(~on_key & (after > 0) & (after < len(line.times)))
    if len(new) and line.interpolation != "step":
        values[new], slopes = _inside(line, times[new], key[new])
        before[new] = behind[new] = slopes
    return values, before, behind


def _inside(line: KeyLine, times: Array, key: Array) -> tuple[Array, Array]:
    """Return values and tangents at `times`, each of which lies between a key and the next."""
    span = (line.times[key + 1] - line.times[key])[:, None]
    u = (times - line.times[key])[:, None] / span
    a, b = line.values[key], line.values[key + 1]
    if line.interpolation == "linear":
        if line.path == "rotation":
            rotations = [_slerp(*row) for row in zip(a, b, u[:, 0], strict=True)]
            return np.asarray(rotations), zero_tangents(a)
        return np.asarray(a + (b - a) * u), zero_tangents(a)
    m, n = line.out_tangents[key] * span, line.in_tangents[key + 1] * span
    u2, u3 = u * u, u * u * u
    values = (2 * u3 - 3 * u2 + 1) * a + (u3 - 2 * u2 + u) * m + (3 * u2 - 2 * u3) * b + (u3 - u2) * n
    slopes = (6 * u2 - 6 * u) * (a - b) + (3 * u2 - 4 * u + 1) * m + (3 * u2 - 2 * u) * n
    return values, slopes / span


def _slerp(a: Array, b: Array, u: float) -> Array:
    """Return the point at u on the shorter great arc."""
    cosine = float(a @ b)
    b = -b if cosine < 0 else b
    angle = np.arccos(min(abs(cosine), 1.0))
    if angle < 1e-6:
        return np.asarray(a + (b - a) * u)
    mixed = np.sin((1 - u) * angle) * a + np.sin(u * angle) * b
    return np.asarray(mixed / np.linalg.norm(mixed))


def converted(line: KeyLine, interpolation: str) -> KeyLine:
    """Return the same curve with keys of another interpolation, which must be as general at least."""
    if line.interpolation == interpolation or len(line.times) == 1:
        return replace(line, interpolation=interpolation)
    if line.interpolation == "step":  # the earlier value holds until one float32 before the next key
        before = np.nextafter(line.times[1:].astype(np.float32), np.float32(-np.inf)).astype(np.float64)
        times = np.concatenate([line.times, np.maximum(before, line.times[:-1])])
        values = np.concatenate([line.values, line.values[:-1]])
        times, first = np.unique(times, return_index=True)
        values = values[first]
        line = KeyLine(
            line.node, line.path, "linear", times, values, zero_tangents(values), zero_tangents(values)
        )
    if interpolation == "linear":
        return line
    slope = np.diff(line.values, axis=0) / np.diff(line.times)[:, None]
    still = np.zeros((1, line.values.shape[1]))
    return replace(
        line,
        interpolation="cubic",
        in_tangents=np.concatenate([still, slope]),
        out_tangents=np.concatenate([slope, still]),
    )
