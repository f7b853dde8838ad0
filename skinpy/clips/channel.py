"""Channels: the keys of one component of a joint, or of the weight of one morph target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _block, _core
from .._types import Array, Floats

__all__ = ["Channel"]


@dataclass(frozen=True, eq=False)
class Channel:
    """The K keys of a joint's translation, rotation or scale, or of a morph target's weight.

    Arrays are read-only. The arrays of a clip's own channels are views of what the clip stores, so keys may
    lie apart in memory, and may all be the same memory if the channel does not move.

    Attributes
    ----------
    joint : int or None
        Index of the joint; None for weights.
    target : int or None
        Index of the morph target; None for joints.
    name : str
        Name of the joint or of the morph target.
    path : {"translation", "rotation", "scale", "weights"}
        What the keys are.
    interpolation : {"step", "linear", "cubic"}
        How values between two keys are found.
    times : (K,) float64 ndarray, seconds
        Times of the keys, increasing.
    values : (K, C) float32 ndarray
        Values of the keys: 3 numbers for translations and scales, x y z w for rotations, 1 for weights.
    in_tangents : (K, C) float32 ndarray or None
        Slopes before each key, per second; None unless the interpolation is "cubic".
    out_tangents : (K, C) float32 ndarray or None
        Slopes after each key, per second; None unless the interpolation is "cubic".
    """

    joint: int | None
    target: int | None
    name: str
    path: str
    interpolation: str
    times: Array
    values: Floats
    in_tangents: Floats | None
    out_tangents: Floats | None

    def __repr__(self) -> str:
        return f"<Channel: {self.name!r} {self.path}, {len(self.times)} {self.interpolation} keys>"


def read_channels(
    block: _core.Block, records: Array, joint_names: tuple[str, ...], target_names: tuple[str, ...]
) -> tuple[Channel, ...]:
    """The channels of records of section CHANNELS, as views into their block."""
    times, values = _block.section(block, "TIMES"), _block.section(block, "VALUES")

    def keys(record: Any, field: str) -> Floats | None:
        return None if record[field] == _block.NO_ARRAY else _block.channel_keys(values, record, field)

    channels = []
    for record in _block.records(records):
        first, moved = int(record["times"]), int(record["joint"])
        is_weight = record["path"] == _block.WEIGHT_PATH
        channels.append(
            Channel(
                joint=None if is_weight else moved,
                target=moved if is_weight else None,
                name=(target_names if is_weight else joint_names)[moved],
                path=_block.PATHS[record["path"]],
                interpolation=_block.INTERPOLATIONS[record["interpolation"]],
                times=times[first : first + int(record["key_count"])],
                values=_block.channel_keys(values, record, "values"),
                in_tangents=keys(record, "in_tangents"),
                out_tangents=keys(record, "out_tangents"),
            )
        )
    return tuple(channels)
