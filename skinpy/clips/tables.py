"""Clip.to_dict and Clip.to_records: a clip as plain data."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._text import quoted
from .._types import Array
from ..clip import Channel, Clip

_GROUPS = (("", "values"), ("in_", "in_tangents"), ("out_", "out_tangents"))

#: Bytes that a table may always have; a larger table may have this many times the bytes of the clip. A table
#: can be far larger than its clip, because a channel that does not move stores one value for all keys, and
#: channels share time lines.
_MAX_BYTES, _MAX_GROWTH = 256 << 20, 1000
#: Bytes of a float, of an empty list, and of each item of a list in CPython.
_FLOAT_BYTES, _LIST_BYTES, _ITEM_BYTES = 24, 56, 8


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
    """ValueError if a table of `size` bytes is out of all proportion to the clip."""
    if size > max(_MAX_BYTES, _MAX_GROWTH * clip.nbytes):
        keys = sum(len(channel.times) for channel in channels)
        raise ValueError(
            f"clip {quoted(clip.name)} has {keys} keys, which take {size / 1e6:.0f} MB as "
            f"{form}{words}; expected "
            "a shorter clip (trim) or fewer keys (resample). clip.channels has the keys as arrays"
        )


def _listed_bytes(channel: Channel) -> int:
    """The bytes of the numbers of a channel as lists."""
    row: int = _LIST_BYTES + channel.values.shape[1] * (_FLOAT_BYTES + _ITEM_BYTES) + _ITEM_BYTES
    groups = sum(getattr(channel, group) is not None for _, group in _GROUPS)
    return len(channel.times) * (_FLOAT_BYTES + _ITEM_BYTES + groups * row)


def _channel_dict(channel: Channel) -> dict[str, Any]:
    """A channel as plain data."""
    plain: dict[str, Any] = {
        name: getattr(channel, name)
        for name in ("joint", "target", "material", "name", "path", "interpolation")
    }
    for name in ("times", "values", "in_tangents", "out_tangents"):
        array = getattr(channel, name)
        plain[name] = None if array is None else array.tolist()
    return plain


def clip_records(clip: Clip) -> Array:
    """See Clip.to_records."""
    channels = clip.channels
    width = max((len(channel.name) for channel in channels), default=0)
    dtype, count = _dtype(width), sum(len(channel.times) for channel in channels)
    words = f" with names of up to {width} letters" if width else ""
    _check_size(clip, "records", count * dtype.itemsize, channels, words)
    records = np.zeros(count, dtype)
    start = 0
    for number, channel in enumerate(channels):
        rows = records[start : start + len(channel.times)]
        start += len(rows)
        rows["channel"] = number
        rows["joint"] = -1 if channel.joint is None else channel.joint
        rows["target"] = -1 if channel.target is None else channel.target
        rows["material"] = -1 if channel.material is None else channel.material
        for name in ("name", "path", "interpolation"):
            rows[name] = getattr(channel, name)
        rows["key"] = np.arange(len(rows))
        rows["time"] = channel.times
        for prefix, group in _GROUPS:
            values = getattr(channel, group)
            for column, letter in enumerate("xyzw"):
                exists = values is not None and column < values.shape[1]
                rows[prefix + letter] = values[:, column] if exists else np.nan
    return records


def _dtype(width: int) -> "np.dtype[Any]":
    """The fields of a row, with names of up to `width` letters."""
    words = [("name", f"<U{max(width, 1)}"), ("path", "<U18"), ("interpolation", "<U6")]
    numbers = [(prefix + letter, "<f4") for prefix, _ in _GROUPS for letter in "xyzw"]
    indices = [(name, "<i4") for name in ("channel", "joint", "target", "material")]
    return np.dtype([*indices, *words, ("key", "<i4"), ("time", "<f8"), *numbers])
