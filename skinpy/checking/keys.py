"""Rules of skinpy.check for the keys of a clip: its length, scale keys and signs of rotation keys."""

from collections.abc import Iterator

import numpy as np

from .._types import Array
from ..clip import Channel, Clip
from .findings import Finding, Level, finding, listed
from .subject import Subject
from .units import UNIT_FIT, ZERO_SCALE, unit_factor

#: Seconds: a clip of less than half a frame at 60 frames per second shows one pose at most.
_MIN_SECONDS = 1 / 120


def short_clip(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """Find clips without channels, and clips whose keys all lie within less than half a frame."""
    keys = max((len(channel.times) for channel in clip.channels), default=0)
    duration = clip.duration
    if not keys:
        yield finding(
            "empty_clip",
            "note",
            "the clip has no channel and shows the rest pose",
            "remove the clip, or export the joints that it animates",
            clip=clip.name,
            size=duration,
        )
    elif keys > 1 and duration < _MIN_SECONDS:
        yield finding(
            "short_clip",
            "warning",
            f"the clip has {keys} keys within {duration:.3g} s, less than half a frame at 60 per second",
            "check the frame rate and the unit of time of the export",
            clip=clip.name,
            size=duration,
        )


# ---- scale ------------------------------------------------------------------------------------------


def scale_keys(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """Find scale keys of another unit than the rest pose, and scale keys that mirror or flatten a joint."""
    rest = subject.model.skeleton.scale.astype(np.float64)
    found: list[Finding] = []
    for channel in subject.channels(clip):
        if channel.path != "scale" or channel.joint is None:
            continue
        values = channel.values.astype(np.float64)
        if not clip.is_additive and (np.abs(rest[channel.joint]) > ZERO_SCALE).all():
            found += _unit_keys(clip, channel, values / rest[channel.joint])
        found += _flat_keys(clip, channel, values)
        found += _mirroring_keys(clip, channel, values, rest[channel.joint])
    yield from listed(found)


def _unit_keys(clip: Clip, channel: Channel, ratio: Array) -> Iterator[Finding]:
    """Find a channel whose keys are all the rest scale times a factor between two units."""
    factors = unit_factor(ratio)
    if len(factors) and factors[0] > 0 and np.abs(factors - factors[0]).max() <= UNIT_FIT * factors[0]:
        yield finding(
            "unit_scale",
            "warning",
            f"all scale keys are {factors[0]:g} times the rest scale; two units are mixed",
            "apply the scale before exporting, or load with ignore_animated_scale=True",
            clip=clip.name,
            joint=channel.name,
            time=channel.times[0],
            size=factors[0],
        )


def _flat_keys(clip: Clip, channel: Channel, values: Array) -> Iterator[Finding]:
    """Find the key with the smallest scale, if that is 0."""
    smallest = np.abs(values).min(axis=1)
    key = int(smallest.argmin())
    if smallest[key] < ZERO_SCALE:
        yield finding(
            "zero_scale",
            "note",
            "the scale is 0 at this time; everything that follows the joint is flat or invisible",
            "nothing, if something is to be hidden; otherwise use a small scale that is not 0",
            clip=clip.name,
            joint=channel.name,
            time=channel.times[key],
            size=smallest[key],
        )


def _mirroring_keys(clip: Clip, channel: Channel, values: Array, rest: Array) -> Iterator[Finding]:
    """Find keys of a negative scale, where the scale at rest is positive."""
    mirrored = np.flatnonzero((values * np.where(rest < 0, -1.0, 1.0) < -ZERO_SCALE).any(axis=1))
    if len(mirrored):
        yield finding(
            "negative_scale",
            "warning",
            "the scale is negative at this time and not at rest; it mirrors the joint and passes through 0",
            "rotate the joint instead of mirroring it",
            clip=clip.name,
            joint=channel.name,
            time=channel.times[mirrored[0]],
            size=values[mirrored].min(),
        )


# ---- rotations --------------------------------------------------------------------------------------


def quaternion_flips(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """Find neighboring rotation keys of opposite sign: q and -q are one rotation, but not to every player."""
    found = []
    for channel in subject.channels(clip):
        if channel.path != "rotation" or channel.interpolation == "step":
            continue
        flips = np.flatnonzero((channel.values[1:] * channel.values[:-1]).sum(axis=1) < 0)
        if not len(flips):
            continue
        # A cubic curve goes through the numbers as they are; linear keys take the shorter arc.
        cubic = channel.interpolation == "cubic"
        level: Level = "warning" if cubic else "note"
        effect = (
            "the joint rotates the long way there" if cubic else "some programs rotate the long way there"
        )
        found.append(
            finding(
                "quaternion_flip",
                level,
                f"the sign of the rotation changes {len(flips)} times from one key to the next; {effect}",
                "negate keys so that the dot product of neighboring keys is not negative",
                clip=clip.name,
                joint=channel.name,
                time=channel.times[flips[0] + 1],
                size=len(flips),
            )
        )
    yield from listed(found)
