"""A clip's looks, all that it changes beside the pose: visibility, material values, texture transforms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from .._arguments import finite
from .._types import Array, Floats, Loop
from ..clip import Channel, Clip
from ..models.extras import index, number, numbers, rows, table
from ..models.factors import clamped_value
from .evaluate import key_tolerance, sample_channel

if TYPE_CHECKING:
    from ..kinds import UVAnimation
    from ..model import Model

#: The paths of texture transforms, and what they are called in UVAnimation and glTF.
UV_PATHS = {"uv_offset": "offset", "uv_rotation": "rotation", "uv_scale": "scale"}
_CUBIC_STEPS = 16  # linear keys for each span of a cubic texture transform


def _local_time(clip: Clip, time: float, loop: Loop) -> Array:
    """(1,): the time within the clip, by the loop mode."""
    ends = np.array([0.0, clip.duration]) if clip.duration > 0 else np.zeros(1)
    place = _core._find_frames(ends, finite("time", time), loop, clip.duration, clip.ticks_per_second)
    return np.atleast_1d(np.asarray(place, np.float64) * clip.duration)


def _value(clip: Clip, channel: Channel, time: Array) -> Array:
    """(C,) float64: a channel at a time within the clip."""
    return np.asarray(sample_channel(channel, time, key_tolerance(clip))[0])


# ---- materials --------------------------------------------------------------------------------------


def material_values(clip: Clip, time: float, loop: Loop) -> dict[int, dict[str, Floats]]:
    """See Clip.material_values."""
    local = _local_time(clip, time, loop)
    found: dict[int, dict[str, Floats]] = {}
    for channel in clip._look_channels:
        if channel.material is not None and channel.path not in UV_PATHS:
            value = clamped_value(channel.path, _value(clip, channel, local))
            found.setdefault(channel.material, {})[channel.path] = value
    for (material, _), animation in uv_animations(clip).items():
        found.setdefault(material, {})["uv_transform"] = animation.sample(local[0], loop="clamp")
    return found


def _rest_transform(model: Model, material: int) -> dict[str, Array]:
    """Offset (2,), rotation (1,) and scale (2,) of the base-color texture without an animation."""
    given = table((rows(model._extras.get("materials")) + [None] * (material + 1))[material])
    other = table(table(given.get("extensions")).get("KHR_materials_pbrSpecularGlossiness"))
    use = other.get("diffuseTexture") or table(given.get("pbrMetallicRoughness")).get("baseColorTexture")
    transform = table(table(table(use).get("extensions")).get("KHR_texture_transform"))
    return {
        "offset": np.array(numbers(transform.get("offset"), (0.0, 0.0))),
        "rotation": np.array([number(transform.get("rotation"), 0.0)]),
        "scale": np.array(numbers(transform.get("scale"), (1.0, 1.0))),
    }


def uv_animations(clip: Clip) -> dict[tuple[int, str], UVAnimation]:
    """See Clip.uv_animations."""
    tracks: dict[int, dict[str, Channel]] = {}
    for channel in clip._look_channels:
        if channel.material is not None and channel.path in UV_PATHS:
            tracks.setdefault(channel.material, {})[UV_PATHS[channel.path]] = channel
    return {(material, "base_color"): _animation(clip, material, one) for material, one in tracks.items()}


def _animation(clip: Clip, material: int, tracks: dict[str, Channel]) -> UVAnimation:
    """The animation of all channels of one material."""
    from ..kinds import UVAnimation

    model = clip._bound_model()
    steps = all(channel.interpolation == "step" for channel in tracks.values())
    times = np.unique(np.concatenate([_key_times(channel, steps) for channel in tracks.values()]))
    keys: dict[str, Array] = {"times": times}
    for name, rest in _rest_transform(model, material).items():
        channel = tracks.get(name)
        keys[name] = np.tile(rest, (len(times), 1)) if channel is None else sample_channel(channel, times)
    keys["rotation"] = keys["rotation"][:, 0]
    return UVAnimation(
        keys=keys,
        pivot=(0.0, 0.0),
        wrap=_wrap(model.materials[material].wrap),
        interpolation="step" if steps else "linear",
        name=clip.name,
    )


def _wrap(modes: tuple[str, str]) -> str:
    """The wrap mode of `UVAnimation`, which has one for u and v; of two different modes, clamping wins."""
    if "clamp_to_edge" in modes:
        return "clamp"
    return "mirror" if "mirrored_repeat" in modes else "repeat"


def _key_times(channel: Channel, steps: bool) -> Array:
    """Times of linear keys that show the channel. A step becomes two keys at neighboring floats."""
    line = channel.times
    if channel.interpolation == "cubic" and len(line) > 1:
        fractions = np.arange(_CUBIC_STEPS) / _CUBIC_STEPS
        return np.append((line[:-1, None] + fractions * np.diff(line)[:, None]).ravel(), line[-1])
    if channel.interpolation == "step" and not steps:
        return np.concatenate([line, np.nextafter(line[1:], -math.inf)])
    return line


def rest_value(model: Model, path: str, moved: int) -> Array:
    """(C,): the value that a channel of this path replaces, of a joint, a morph target or a material."""
    if path in ("translation", "rotation", "scale"):
        return np.asarray(getattr(model.skeleton, path)[moved])
    if path == "weights":
        return np.array([model.targets[moved].default_weight])
    if path == "visibility":
        return np.array([float(moved not in rows(model._extras.get("hidden")))])
    if path in UV_PATHS:
        return _rest_transform(model, moved)[UV_PATHS[path]]
    material = model.materials[moved]
    return np.atleast_1d(material.base_color if path == "base_color_factor" else getattr(material, path))


# ---- visibility -------------------------------------------------------------------------------------


def visible_joints(model: Model, clip: Clip | None, time: float, loop: Loop) -> Array:
    """(J,) bool: whether a joint and all above it are visible, at rest without a clip."""
    count = len(model.skeleton)
    shown = np.ones(count, np.bool_)
    for joint in rows(model._extras.get("hidden")):
        if (place := index(joint, count)) is not None:
            shown[place] = False
    if clip is not None:
        local = _local_time(clip, time, loop)
        for channel in clip._look_channels:
            if channel.joint is not None:
                shown[channel.joint] = _value(clip, channel, local)[0] != 0
    for joint, parent in enumerate(model.skeleton.parents):
        if parent >= 0:
            shown[joint] &= shown[parent]
    return shown


def visible_submeshes(model: Model, clip: Clip | None, time: float, loop: Loop) -> Array:
    """(number of submeshes,) bool: which are drawn.

    A submesh that is hidden although its joint is visible at rest, as in FBX, stays hidden.
    """
    nodes = np.array([one.node for one in model.mesh.submeshes], np.int64)
    own = np.array([one.visible for one in model.mesh.submeshes], np.bool_)
    if clip is None or all(channel.joint is None for channel in clip._look_channels):
        return own
    at_rest = visible_joints(model, None, 0.0, loop)
    return np.asarray((own | ~at_rest[nodes]) & visible_joints(model, clip, time, loop)[nodes])
