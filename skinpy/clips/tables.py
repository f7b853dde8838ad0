"""A clip as plain data: Clip.to_dict and Clip.to_records."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import Array
from ..clip import Channel, Clip

_GROUPS = (("", "values"), ("in_", "in_tangents"), ("out_", "out_tangents"))

#: Bytes that a table may have in any case, and how many times those of the clip's own keys: a channel that
#: stands still stores one value for all keys, and one time line serves any number of channels.
_ALWAYS, _TIMES = 256 << 20, 1000
_FLOAT, _LIST, _ENTRY = 24, 56, 8  #: bytes in CPython


def clip_dict(clip: Clip) -> dict[str, Any]:
    """See Clip.to_dict."""
    channels = clip.channels
    _check_size(clip, "lists", sum(map(_listed_bytes, channels)), channels)
    return {
        "name": clip.name,
        "kind": clip.kind,
        "duration": clip.duration,
        "ticks_per_second": clip.ticks_per_second,
        "additive": clip.is_additive,
        "events": [{"time": event.time, "name": event.name} for event in clip.events],
        "channels": [_channel_dict(channel) for channel in channels],
    }


def _check_size(clip: Clip, form: str, size: int, channels: Sequence[Channel], words: str = "") -> None:
    """ValueError where a table takes memory out of all proportion to the clip."""
    if size > max(_ALWAYS, _TIMES * clip.nbytes):
        keys = sum(len(channel.times) for channel in channels)
        raise ValueError(
            f"clip {clip.name!r} has {keys} keys, which are {size / 1e6:.0f} MB as {form}{words}; expected a "
            "part of the clip (trim) or fewer keys (resample). clip.channels has them as arrays"
        )


def _listed_bytes(channel: Channel) -> int:
    """What the numbers of a channel take as lists."""
    row: int = _LIST + channel.values.shape[1] * (_FLOAT + _ENTRY) + _ENTRY
    groups = sum(getattr(channel, group) is not None for _, group in _GROUPS)
    return len(channel.times) * (_FLOAT + _ENTRY + groups * row)


def _channel_dict(channel: Channel) -> dict[str, Any]:
    plain: dict[str, Any] = {
        name: getattr(channel, name) for name in ("joint", "target", "name", "path", "interpolation")
    }
    for name in ("times", "values", "in_tangents", "out_tangents"):
        array = getattr(channel, name)
        plain[name] = None if array is None else array.tolist()
    return plain


def clip_records(clip: Clip) -> Array:
    """See Clip.to_records."""
    channels = clip.channels
    longest = max((len(channel.name) for channel in channels), default=0)
    dtype, count = _dtype(longest), sum(len(channel.times) for channel in channels)
    words = f" with names of up to {longest} letters" if longest else ""
    _check_size(clip, "records", count * dtype.itemsize, channels, words)
    records = np.zeros(count, dtype)
    start = 0
    for number, channel in enumerate(channels):
        rows = records[start : start + len(channel.times)]
        start += len(rows)
        rows["channel"] = number
        rows["joint"] = -1 if channel.joint is None else channel.joint
        rows["target"] = -1 if channel.target is None else channel.target
        for name in ("name", "path", "interpolation"):
            rows[name] = getattr(channel, name)
        rows["key"] = np.arange(len(rows))
        rows["time"] = channel.times
        for prefix, group in _GROUPS:
            values = getattr(channel, group)
            for column, letter in enumerate("xyzw"):
                there = values is not None and column < values.shape[1]
                rows[prefix + letter] = values[:, column] if there else np.nan
    return records


def _dtype(longest: int) -> "np.dtype[Any]":
    words = [("name", f"<U{max(longest, 1)}"), ("path", "<U11"), ("interpolation", "<U6")]
    numbers = [(prefix + letter, "<f4") for prefix, _ in _GROUPS for letter in "xyzw"]
    places = [("channel", "<i4"), ("joint", "<i4"), ("target", "<i4")]
    return np.dtype([*places, *words, ("key", "<i4"), ("time", "<f8"), *numbers])
