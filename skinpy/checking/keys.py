"""Rules of skinpy.check that look at the keys of one clip."""

from collections.abc import Iterator

import numpy as np

from .._types import Array
from ..clip import Channel, Clip
from ..clips.evaluate import unit
from .findings import Finding, Level
from .rest import UNIT_FIT, ZERO_SCALE, unit_factor
from .subject import Subject

#: Findings of one rule in one clip; further joints are counted in the last one's message.
LISTED = 8

#: Seconds: a clip of less than half a frame at 60 frames per second shows one pose at most.
_SHORT = 1 / 120

#: Degrees, and share of the size: a jump of less is hard to tell from a quick movement.
_POP_DEGREES, _POP_DISTANCE = 20.0, 0.05

#: Degrees, and sizes, per second: the least jump within a twentieth of a second; slower is a movement.
_POP_TURNING, _POP_MOVING = 400.0, 1.0

#: How many times as fast as the median of so many gaps between keys on each side, and as either of the two
#: next to it. Quick, stylized movements may start within one frame, but they last for two or more.
_POP_FACTOR, _POP_NEIGHBORS, _POP_NEXT = 8.0, 3, 4.0

#: A single wrong key is left as quickly as it was reached: the keys around it are as close as this share of
#: the way to it. A quick movement goes on instead.
_POP_RETURNS = 0.3

#: Seconds: over a longer gap it is no jump. Longer ones than a frame at 24 per second count where the gaps
#: around are at most _POP_DENSE times as long: else it is a quick pose between slow ones, as animators set.
_POP_GAP, _POP_FRAME, _POP_DENSE = 0.1, 1 / 24 + 1e-6, 3.0


# ---- lengths ----------------------------------------------------------------------------------------


def short_clip(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """Clips without channels, and clips whose keys all lie within less than a frame."""
    keys = max((len(channel.times) for channel in subject.channels(clip)), default=0)
    duration = clip.duration
    if not keys:
        words, remedy = "the clip has no channel: it shows the rest pose", "remove it, or export its joints"
        yield Finding("empty_clip", "note", clip.name, None, None, duration, words, remedy)
    elif keys > 1 and duration < _SHORT:
        words = f"the clip lasts {duration:.3g} s for {keys} keys: less than a frame"
        remedy = "check the frame rate and the unit of time of the export"
        yield Finding("short_clip", "warning", clip.name, None, None, duration, words, remedy)


# ---- scale ------------------------------------------------------------------------------------------


def scale_keys(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """Scale keys of another unit than the rest pose's, and such as mirror or flatten a joint."""
    rest = subject.model.skeleton.scale.astype(np.float64)
    found: list[Finding] = []
    for channel in subject.channels(clip):
        if channel.path != "scale" or channel.joint is None:
            continue
        values = channel.values.astype(np.float64)
        if not clip.is_additive and (np.abs(rest[channel.joint]) > ZERO_SCALE).all():
            found += _unit_keys(clip, channel, values / rest[channel.joint])
        found += _flat_keys(clip, channel, values, rest[channel.joint])
    yield from _listed(found)


def _unit_keys(clip: Clip, channel: Channel, ratio: Array) -> Iterator[Finding]:
    factors = unit_factor(ratio)
    if len(factors) and factors[0] > 0 and np.abs(factors - factors[0]).max() <= UNIT_FIT * factors[0]:
        factor, first = float(factors[0]), float(channel.times[0])
        words = f"all scale keys are {factor:g} times the rest scale: two units are mixed"
        remedy = "apply the scale before exporting, or load with ignore_animated_scale=True"
        yield Finding("unit_scale", "warning", clip.name, channel.name, first, factor, words, remedy)


def _flat_keys(clip: Clip, channel: Channel, values: Array, rest: Array) -> Iterator[Finding]:
    smallest = np.abs(values).min(axis=1)
    key = int(smallest.argmin())
    if smallest[key] < ZERO_SCALE:
        words = "the scale is 0 here: what follows the joint is flat or gone"
        remedy = "nothing where something is to be hidden; else use a small scale that is not 0"
        time, size = float(channel.times[key]), float(smallest[key])
        yield Finding("zero_scale", "note", clip.name, channel.name, time, size, words, remedy)
    turned = np.flatnonzero((values * np.where(rest < 0, -1.0, 1.0) < -ZERO_SCALE).any(axis=1))
    if len(turned):
        words = "the scale is negative here and not at rest: it mirrors, and passes 0 on its way"
        remedy = "turn the joint instead of mirroring it"
        time, size = float(channel.times[turned[0]]), float(values[turned].min())
        yield Finding("negative_scale", "warning", clip.name, channel.name, time, size, words, remedy)


# ---- rotations --------------------------------------------------------------------------------------


def quaternion_flips(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """Neighboring rotation keys of opposite sign: q and -q are one rotation, but not to every player."""
    found = []
    for channel in subject.channels(clip):
        if channel.path != "rotation" or channel.interpolation == "step":
            continue
        flips = np.flatnonzero((channel.values[1:] * channel.values[:-1]).sum(axis=1) < 0)
        if not len(flips):
            continue
        # Cubic curves are laid through the numbers as they are; straight ones take the shorter arc.
        level: Level = "warning" if channel.interpolation == "cubic" else "note"
        way = "takes the long way round" if level == "warning" else "may, in some programs, turn the long way"
        words = f"{len(flips)} times the sign of the rotation changes to the next key; it {way}"
        remedy = "negate keys so that the dot product of neighbors is not negative"
        time, size = float(channel.times[flips[0] + 1]), float(len(flips))
        found.append(Finding("quaternion_flip", level, clip.name, channel.name, time, size, words, remedy))
    yield from _listed(found)


# ---- jumps ------------------------------------------------------------------------------------------


def pops(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """Rotations and translations that jump from one key to the next, faster by far than around it."""
    found = []
    for channel in subject.channels(clip):
        if channel.joint is None or channel.path == "scale" or channel.interpolation == "step":
            continue
        values = channel.values.astype(np.float64)
        turning = channel.path == "rotation"
        unit_of, measure = (1.0, _degrees) if turning else (subject.size, _distances)
        stretch = 1.0 if turning else float(subject.stretch[channel.joint])
        least, speed = (_POP_DEGREES, _POP_TURNING) if turning else (_POP_DISTANCE, _POP_MOVING)
        way = measure(values, 1) * stretch
        if len(way) <= _POP_NEIGHBORS or way.max() < least * unit_of:
            continue
        key = jump(channel.times, way, measure(values, 2) * stretch, least * unit_of, speed * unit_of)
        if key is not None:
            found.append(_pop(clip, channel, key, float(way[key]), turning))
    yield from _listed(found)


def _degrees(rotations: Array, step: int) -> Array:
    """(K-step,) from each rotation to the one `step` keys on, by the shorter way."""
    rows = unit(rotations)
    return np.asarray(
        np.degrees(2.0 * np.arccos(np.abs((rows[step:] * rows[:-step]).sum(axis=1)).clip(0.0, 1.0)))
    )


def _distances(places: Array, step: int) -> Array:
    """(K-step,) from each place to the one `step` keys on."""
    return np.asarray(np.linalg.norm(places[step:] - places[:-step], axis=1))


def _pop(clip: Clip, channel: Channel, key: int, size: float, turning: bool) -> Finding:
    seconds = float(channel.times[key + 1] - channel.times[key])
    amount = f"turns {size:.3g} degrees" if turning else f"moves {size:.4g} model units"
    words = f"the {channel.path} {amount} within {seconds:.3f} s, far more than around it"
    remedy = "filter the curve (Euler filter) or remove the key; where the jump is meant, use step keys"
    code = "rotation_pop" if turning else "translation_pop"
    time = float(channel.times[key + 1])
    return Finding(code, "warning", clip.name, channel.name, time, size, words, remedy)


def jump(times: Array, way: Array, across: Array, least: float, speed: float) -> int | None:
    """Number of the gap between keys where `way` (K-1,) jumps most, or None; K - 1 > _POP_NEIGHBORS.

    across (K-2,) is the way from each key to the next but one. A jump is at least `least` far and `speed`
    fast, and _POP_FACTOR times as fast as the median around it; a cut is one such gap between two slower
    ones, a wrong key has one on each side of it.
    """
    gaps = np.diff(times)
    rate = way / gaps
    around, spacing = _median_around(rate), _median_around(gaps)
    fast = (way >= least) & (rate >= speed) & (rate > _POP_FACTOR * around)
    fast &= (gaps <= _POP_FRAME) | ((gaps <= _POP_GAP) & (spacing <= _POP_DENSE * gaps))
    next_to = np.maximum(np.append(rate[1:], 0.0), np.append(0.0, rate[:-1]))
    jumps = fast & (rate > _POP_NEXT * next_to)
    returns = fast[1:] & fast[:-1] & (across <= _POP_RETURNS * np.minimum(way[1:], way[:-1]))
    jumps[:-1] |= returns
    return int(np.where(jumps, way, -1.0).argmax()) if jumps.any() else None


def _median_around(values: Array) -> Array:
    """The median of up to _POP_NEIGHBORS values on each side of each."""
    offsets = [offset for offset in range(-_POP_NEIGHBORS, _POP_NEIGHBORS + 1) if offset]
    place = np.arange(len(values))[:, None] + offsets
    outside = (place < 0) | (place >= len(values))
    return np.asarray(np.nanmedian(np.where(outside, np.nan, values[place.clip(0, len(values) - 1)]), axis=1))


def _listed(found: list[Finding]) -> Iterator[Finding]:
    """The largest of each code, by size; the last one tells how many more there are."""
    for code in dict.fromkeys(one.code for one in found):
        own = sorted((one for one in found if one.code == code), key=lambda one: -abs(one.size or 0.0))
        yield from own[: LISTED - 1]
        for one in own[LISTED - 1 : LISTED]:
            more = f" (and {len(own) - LISTED} more joints)" if len(own) > LISTED else ""
            yield Finding(
                one.code, one.level, one.clip, one.joint, one.time, one.size, one.message + more, one.remedy
            )
