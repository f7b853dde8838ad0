"""Channels: the keys of one property of a joint, of a morph target or of a material."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _block, _core
from .._text import quoted
from .._types import Array, Floats

__all__ = ["Channel"]


@dataclass(frozen=True, eq=False)
class Channel:
    """The K keys of one property of a joint, of a morph target or of a material.

    Arrays are read-only. The arrays of a clip's own channels are views of what the clip stores, so keys may
    lie apart in memory, and may all be the same memory if the channel does not move.

    Attributes
    ----------
    joint : int or None
        Index of the joint; None for weights and materials.
    target : int or None
        Index of the morph target; None for joints and materials.
    name : str
        Name of the joint, the morph target or the material.
    path : str
        The property that the keys change. "translation", "rotation" and "scale" of a joint and "weights" of a
        morph target are parts of a pose. "visibility" of a joint is 0 where the joint and all joints below it
        are hidden. Materials have "base_color_factor", "metallic_factor", "roughness_factor",
        "emissive_factor", "emissive_strength", "alpha_cutoff", "normal_scale", "occlusion_strength", and for
        their base-color texture "uv_offset", "uv_rotation" and "uv_scale". docs/clips.md explains them.
    interpolation : {"step", "linear", "cubic"}
        How values between two keys are found.
    times : (K,) float64 ndarray, seconds
        Times of the keys, increasing.
    values : (K, C) float32 ndarray
        Values of the keys: 3 numbers for translations and scales, x y z w for rotations, 1 for weights and
        visibility, 1 to 4 for a value of a material.
    in_tangents : (K, C) float32 ndarray or None
        Slopes before each key, per second; None unless the interpolation is "cubic".
    out_tangents : (K, C) float32 ndarray or None
        Slopes after each key, per second; None unless the interpolation is "cubic".
    material : int or None
        Index of the material; None for joints and morph targets.
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
    material: int | None = None

    @property
    def poses(self) -> bool:
        """Whether the channel is part of a pose: it moves a joint or a morph target."""
        return _block.PATHS.index(self.path) <= _block.WEIGHT_PATH

    @property
    def moved(self) -> int:
        """The index of the joint, morph target or material that the channel changes."""
        index = self.joint if self.joint is not None else self.target
        index = self.material if index is None else index
        assert index is not None
        return index

    def __repr__(self) -> str:
        return f"<Channel: {quoted(self.name)} {self.path}, {len(self.times)} {self.interpolation} keys>"


def owner_of(path: int) -> str:
    """What a channel with this path in `_block.PATHS` changes: a "joint", "target" or "material"."""
    if path >= _block.FIRST_MATERIAL_PATH:
        return "material"
    return "target" if path == _block.WEIGHT_PATH else "joint"


def owners(path: int, moved: int) -> dict[str, int | None]:
    """The fields joint, target and material of a channel that changes the one with index `moved`."""
    fields: dict[str, int | None] = {"joint": None, "target": None, "material": None}
    return fields | {owner_of(path): moved}


def read_channels(
    block: _core.Block, records: Array, names: dict[str, tuple[str, ...]]
) -> tuple[Channel, ...]:
    """The channels of records of section CHANNELS, as views into their block.

    names has the names of all joints, targets and materials, by "joint", "target" and "material".
    """
    times, values = _block.section(block, "TIMES"), _block.section(block, "VALUES")

    def keys(record: Any, field: str) -> Floats | None:
        return None if record[field] == _block.NO_ARRAY else _block.channel_keys(values, record, field)

    channels = []
    for record in _block.records(records):
        first, moved, path = int(record["times"]), int(record["joint"]), int(record["path"])
        channels.append(
            Channel(
                **owners(path, moved),
                name=names[owner_of(path)][moved],
                path=_block.PATHS[path],
                interpolation=_block.INTERPOLATIONS[record["interpolation"]],
                times=times[first : first + int(record["key_count"])],
                values=_block.channel_keys(values, record, "values"),
                in_tangents=keys(record, "in_tangents"),
                out_tangents=keys(record, "out_tangents"),
            )
        )
    return tuple(channels)
