"""The rule of skinpy.check for pops: rotations and translations that jump from one key to the next."""

from collections.abc import Iterator

import numpy as np

from .._types import Array
from ..clip import Channel, Clip
from ..clips.evaluate import unit
from .findings import Finding, finding, listed
from .subject import Subject

#: Degrees, and fraction of the size: a smaller jump is hard to tell from a quick movement.
_MIN_DEGREES, _MIN_DISTANCE = 20.0, 0.05

#: Degrees, and sizes, per second: the smallest jump within a twentieth of a second; slower is a movement.
_MIN_ROTATION_SPEED, _MIN_SPEED = 400.0, 1.0

#: A jump is this many times as fast as the median of so many gaps between keys on each side, and as either of
#: the two next to it. Quick, stylized movements may start within one frame, but they last for two or more.
_FACTOR, _NEIGHBORS, _NEXT_FACTOR = 8.0, 3, 4.0

#: The next key leaves a single wrong key as quickly as it was reached: the keys around it are at most this
#: fraction of the distance to it apart. A quick movement goes on instead.
_RETURNS = 0.3

#: Seconds: a change over a longer gap is no jump. A gap longer than a frame at 24 per second counts only
#: where the gaps around are at most _MAX_SPACING times as long. Otherwise it is a quick pose between slow
#: ones, as animators set them.
_MAX_GAP, _FRAME, _MAX_SPACING = 0.1, 1 / 24 + 1e-6, 3.0


def pops(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """Find rotations and translations that jump from one key to the next, far faster than around it."""
    found = []
    for channel in subject.channels(clip):
        if channel.joint is None or channel.path == "scale" or channel.interpolation == "step":
            continue
        values = channel.values.astype(np.float64)
        if channel.path == "rotation":
            distances = [_degrees(values, step) for step in (1, 2)]
            key = _jump_of(channel.times, distances, _MIN_DEGREES, _MIN_ROTATION_SPEED)
        else:
            stretch = float(subject.stretch[channel.joint])
            distances = [_distances(values, step) * stretch for step in (1, 2)]
            key = _jump_of(channel.times, distances, _MIN_DISTANCE * subject.size, _MIN_SPEED * subject.size)
        if key is not None:
            found.append(_pop(clip, channel, key, float(distances[0][key])))
    yield from listed(found)


def _jump_of(times: Array, distances: list[Array], least: float, speed: float) -> int | None:
    """Return the number of the gap that jumps, or None; few keys and small distances have no jump."""
    if len(distances[0]) <= _NEIGHBORS or distances[0].max() < least:
        return None
    return jump(times, distances[0], distances[1], least, speed)


def _degrees(rotations: Array, step: int) -> Array:
    """Return the shorter angle (K-step,) from each rotation to the one `step` keys on."""
    rows = unit(rotations)
    return np.asarray(
        np.degrees(2.0 * np.arccos(np.abs((rows[step:] * rows[:-step]).sum(axis=1)).clip(0.0, 1.0)))
    )


def _distances(positions: Array, step: int) -> Array:
    """Return the distance (K-step,) from each position to the one `step` keys on."""
    return np.asarray(np.linalg.norm(positions[step:] - positions[:-step], axis=1))


def _pop(clip: Clip, channel: Channel, key: int, size: float) -> Finding:
    """Return the finding of the jump from a key to the next."""
    is_rotation = channel.path == "rotation"
    seconds = float(channel.times[key + 1] - channel.times[key])
    amount = f"{size:.3g} degrees" if is_rotation else f"{size:.4g} model units"
    return finding(
        "rotation_pop" if is_rotation else "translation_pop",
        "warning",
        f"the {channel.path} changes by {amount} within {seconds:.3f} s, far faster than around it",
        "filter the curve (Euler filter) or remove the key; use step keys if the jump is intended",
        clip=clip.name,
        joint=channel.name,
        time=channel.times[key + 1],
        size=size,
    )


def jump(times: Array, distance: Array, across: Array, least: float, speed: float) -> int | None:
    """Return the number of the gap between keys with the largest jump, or None; K - 1 > _NEIGHBORS.

    `distance` (K-1,) is that from each key to the next, `across` (K-2,) to the next but one. A jump is at
    least `least` far and `speed` fast, and _FACTOR times as fast as the median around it. A cut is one such
    gap between two slower ones; a wrong key has one on each side.
    """
    gaps = np.diff(times)
    rate = distance / gaps
    around, spacing = _median_around(rate), _median_around(gaps)
    fast = (distance >= least) & (rate >= speed) & (rate > _FACTOR * around)
    fast &= (gaps <= _FRAME) | ((gaps <= _MAX_GAP) & (spacing <= _MAX_SPACING * gaps))
    next_to = np.maximum(np.append(rate[1:], 0.0), np.append(0.0, rate[:-1]))
    jumps = fast & (rate > _NEXT_FACTOR * next_to)
    returns = fast[1:] & fast[:-1] & (across <= _RETURNS * np.minimum(distance[1:], distance[:-1]))
    jumps[:-1] |= returns
    return int(np.where(jumps, distance, -1.0).argmax()) if jumps.any() else None


def _median_around(values: Array) -> Array:
    """Return for each value the median of up to _NEIGHBORS values on each side."""
    offsets = [offset for offset in range(-_NEIGHBORS, _NEIGHBORS + 1) if offset]
    index = np.arange(len(values))[:, None] + offsets
    outside = (index < 0) | (index >= len(values))
    return np.asarray(np.nanmedian(np.where(outside, np.nan, values[index.clip(0, len(values) - 1)]), axis=1))
