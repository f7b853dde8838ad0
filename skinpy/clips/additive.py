"""Clip.additive: a clip as differences from one pose.

With r the value of a channel in the reference pose, the differences are v - r for translations and weights,
q * conj(r) for rotations and v / r for scales. All of these are linear in the value, so they apply exactly to
the tangents of cubic keys too; and a slerp between q0 * conj(r) and q1 * conj(r) is the slerp between q0 and
q1, times conj(r). Added to the reference pose with a weight of 1 the result is the clip again. ozz-animation
uses the same rule.
"""

from collections.abc import Callable

import numpy as np

from .._arguments import brief, finite
from .._text import quoted
from .._types import Array
from ..clip import Channel, Clip
from ..posing.kinematics import conjugate, quaternion_product
from .edit import derived, with_keys
from .evaluate import key_tolerance, sample_channel, unit


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def difference(clip: Clip, reference: str | float) -> Clip:
    """See Clip.additive."""
    if clip.is_additive:
        raise ValueError(f"clip {quoted(clip.name)} is additive already; expected a clip of poses")
    value_of = _reference(clip, reference)
    channels = [_difference(channel, value_of(channel)) for channel in clip._pose_channels]
    return derived(clip, channels, clip.duration, motion=None, additive=True)


def _reference(clip: Clip, reference: str | float) -> Callable[[Channel], Array]:
    """A function that returns the value (C,) float64 of a channel in the reference pose."""
    if isinstance(reference, str):
        if reference not in ("first", "rest"):
            raise ValueError(f"reference is {brief(reference)}; expected 'first', 'rest' or seconds")
        if reference == "rest":
            return _rest(clip)
        reference = 0.0
    if isinstance(reference, bool) or not isinstance(reference, (int, float, np.integer, np.floating)):
        raise TypeError(f"reference is {brief(reference)}; expected 'first', 'rest' or seconds")
    if not 0.0 <= finite("reference", reference) <= clip.duration:
        raise ValueError(
            f"reference is {brief(reference)}; expected 'first', 'rest' or seconds, 0 to {clip.duration:g}"
        )
    time = np.array([float(reference)])
    return lambda channel: np.asarray(sample_channel(channel, time, key_tolerance(clip))[0])


def _rest(clip: Clip) -> Callable[[Channel], Array]:
    """A function that returns the value (C,) float64 of a channel in the rest pose."""
    model = clip._bound_model()
    skeleton, targets = model.skeleton, model.targets
    rest = {"translation": skeleton.translation, "rotation": skeleton.rotation, "scale": skeleton.scale}

    def value(channel: Channel) -> Array:
        if channel.joint is None:
            assert channel.target is not None
            return np.array([targets[channel.target].default_weight])
        return np.asarray(rest[channel.path][channel.joint], np.float64)

    return value


def _difference(channel: Channel, reference: Array) -> Channel:
    """The channel with its differences from a value (C,)."""
    if channel.path == "rotation":
        inverse = conjugate(unit(reference))
        return with_keys(channel, lambda rows: quaternion_product(rows, inverse))
    if channel.path != "scale":
        return with_keys(channel, lambda rows: rows - reference, lambda rows: rows)
    if not reference.all():
        raise ValueError(
            f"reference has a scale of 0 for {quoted(channel.name)}; expected a pose whose scales are not 0"
        )
    return with_keys(channel, lambda rows: np.asarray(rows / reference))
