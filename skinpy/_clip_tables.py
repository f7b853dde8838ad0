"""A clip as plain data: Clip.to_dict and Clip.to_records."""

from typing import Any

import numpy as np

from ._types import Array
from .clip import Channel, Clip

_GROUPS = (("", "values"), ("in_", "in_tangents"), ("out_", "out_tangents"))


def clip_dict(clip: Clip) -> dict[str, Any]:
    """See Clip.to_dict."""
    return {
        "name": clip.name,
        "kind": clip.kind,
        "duration": clip.duration,
        "ticks_per_second": clip.ticks_per_second,
        "additive": clip.is_additive,
        "events": [{"time": event.time, "name": event.name} for event in clip.events],
        "channels": [_channel_dict(channel) for channel in clip.channels],
    }


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
    records = np.zeros(sum(len(channel.times) for channel in channels), _dtype(longest))
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
