"""Clip.contacts: when feet and hands stand on the ground, from the height and the speed of their soles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._arguments import names_of
from .._progress import working
from .._text import quoted
from .._types import Array
from ..clip import Clip
from ..clips.events import Event, sorted_events
from ..models.frames import chunks
from ..models.overflow import refuse_overflow
from ..models.pickling import need_vertices
from ..posing.kinematics import up_vector
from .ground import Ground, ground_of
from .limbs import feet_and_toes, feet_of
from .soles import Sole, below, figure_size, sole_of

if TYPE_CHECKING:
    from ..model import Model

#: Hz: the rate at which contacts are looked for.
_RATE = 60.0
#: Times at which contacts are looked for at most: in clips of more than four hours they lie farther apart.
_MAX_TIMES = 2**20
#: A point of a sole touches the ground below this fraction of the size above it, and below this many sizes
#: per second. A person's planted foot is below 8 cm and 0.4 m/s.
_HEIGHT, _SPEED = 0.045, 0.25
#: The level of the ground is this percentile of the heights of soles that stand still.
_LOW_PERCENTILE = 5.0
#: Seconds: a shorter contact, or a shorter gap between two, is noise.
_SHORTEST = 0.06
#: Seconds: a foot that stands still so long on a step or a box, while nothing of the figure is lower, has
#: contact there. The feet are as still for 0.1 s at the top of a jump.
_ON_STEP = 0.25


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contacts of soles with the ground."""

    ground: Ground
    floor: float  #: the level of the ground: a low percentile of soles that stand still
    level: float | None  #: the median height of soles in contact with the ground; None without contacts
    lap: Array | None  #: see `Ground.lap`
    intervals: list[Array]  #: (n,2) seconds for each sole, from 0 to the duration


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def contacts(clip: Clip, joints: Sequence[str] | None) -> dict[str, Array]:
    """See Clip.contacts."""
    model = checked_model(clip, "contacts")
    names = model.skeleton.names
    numbers = feet_and_toes(model) if joints is None else joint_numbers(model, joints)
    soles = [_sole_beside(model, joint, numbers) for joint in numbers]
    found = found_contacts(clip, soles)
    return {names[joint]: one for joint, one in zip(numbers, found.intervals, strict=True)}


def _sole_beside(model: Model, joint: int, numbers: list[int]) -> Sole:
    """Return the sole of a joint without what other joints move; of a foot beside its toes, the heel."""
    others = frozenset(numbers) - {joint}
    sole = sole_of(model, joint, others)
    return sole.heel() if below(model, joint)[list(others)].any() else sole


def with_contact_events(clip: Clip, joints: Sequence[str] | None) -> Clip:
    """See Clip.add_contact_events."""
    checked_model(clip, "add_contact_events")
    events = list(clip.events)
    for name, intervals in contacts(clip, joints).items():
        crosses = len(intervals) > 0 and intervals[0, 0] <= 0 and intervals[-1, 1] >= clip.duration
        is_one = crosses and Ground(clip, np.zeros(3)).lap() is not None
        for number, (start, end) in enumerate(intervals.tolist()):
            if not (is_one and number == 0):
                events.append(Event(start, f"{name} down"))
            if not (is_one and number == len(intervals) - 1):
                events.append(Event(end, f"{name} up"))
    return clip._with(events=sorted_events(events))


def checked_model(clip: Clip, what: str) -> Model:
    """Return the model of a clip whose feet may stand on the ground; ValueError for other clips."""
    model = clip._bound_model()
    if clip.is_additive:
        raise ValueError(
            f"clip {quoted(clip.name)} is additive; expected the clip that it was made from, because "
            "differences of poses do not stand on the ground"
        )
    need_vertices(model, what)
    refuse_overflow(model, clip)
    if not figure_size(model) > 0:
        raise ValueError(
            f"the figure of clip {quoted(clip.name)} has size 0: all its joints are in one point; "
            "expected limbs with a length"
        )
    return model


def joint_numbers(model: Model, joints: Sequence[str], argument: str = "joints") -> list[int]:
    """Return the indices of joints given by name."""
    names = names_of(argument, joints)
    if not names:
        raise ValueError(f"{argument} is empty; expected names of joints, or None for the feet")
    numbers = [model.skeleton.index(name) for name in names]
    return list(dict.fromkeys(numbers))


def found_contacts(clip: Clip, soles: Sequence[Sole]) -> Contacts:
    """Find the contacts of soles."""
    model = clip._bound_model()
    feet = [sole_of(model, joint) for joint in feet_of(model)]
    ground = ground_of(clip, feet or soles)
    steps = int(np.clip(np.ceil(clip.duration * _RATE), 1, _MAX_TIMES))
    times = np.linspace(0.0, clip.duration, steps + 1)
    paths, lowest = sole_paths(clip, soles, ground, times)
    lap, size, up = ground.lap(), figure_size(model), up_vector(model)
    heights = [path @ up for path in paths]
    speeds = [_speeds(path, times, lap) for path in paths]
    still = [speed < _SPEED * size for speed in speeds]
    standing = [height[calm] for height, calm in zip(heights, still, strict=True)]
    levels = np.concatenate(standing) if standing else np.zeros(0)
    floor = float(np.percentile(levels, _LOW_PERCENTILE)) if len(levels) else 0.0
    intervals, touching = [], [np.zeros(0)]
    for height, speed in zip(heights, speeds, strict=True):
        margin = np.maximum((height - floor) / (_HEIGHT * size), speed / (_SPEED * size)).min(axis=1)
        touching.append(height.min(axis=1)[margin < 1])
        calm = (speed / (_SPEED * size)).min(axis=1)
        near = height.min(axis=1) - np.minimum(lowest, height.min(axis=1)) < _HEIGHT * size
        margin = np.where(_on_steps(calm, near, times), np.minimum(margin, calm), margin)
        intervals.append(_runs(margin, times, lap is not None))
    planted = np.concatenate(touching)
    level = float(np.median(planted)) if len(planted) else None
    return Contacts(ground, floor, level, lap, intervals)


def sole_paths(clip: Clip, soles: Sequence[Sole], ground: Ground, times: Array) -> tuple[list[Array], Array]:
    """Return the points (N,K,3) of each sole on the ground, and the height (N,) of the lowest joint."""
    model = clip._bound_model()
    up = up_vector(model)
    paths = [np.empty((len(times), len(sole.owners), 3)) for sole in soles]
    lowest = np.empty(len(times))
    with working("finding contacts", len(times)) as work:
        for span in chunks(len(times), 16 * len(model.skeleton)):
            matrices = model.globals(clip, times[span], loop="clamp")
            moved = ground.transforms(times[span])
            for path, sole in zip(paths, soles, strict=True):
                path[span] = on_ground(moved, sole.positions(matrices))
            lowest[span] = (on_ground(moved, matrices[..., :3, 3].astype(np.float64)) @ up).min(axis=1)
            work.done += span.stop - span.start
    return paths, lowest


def on_ground(transforms: Array, points: Array) -> Array:
    """Return points (N,K,3) transformed by matrices (N,4,4)."""
    return np.asarray(points @ transforms[:, :3, :3].swapaxes(1, 2) + transforms[:, None, :3, 3])


def _speeds(path: Array, times: Array, lap: Array | None) -> Array:
    """Return the speeds (N,K) of points, measured over two steps; a loop goes on at its ends."""
    if len(times) < 2:
        return np.zeros(path.shape[:2])
    step = times[1] - times[0]
    if lap is None:
        before, after = 2 * path[:1] - path[1:2], 2 * path[-1:] - path[-2:-1]
    else:
        back = np.linalg.inv(lap)
        before, after = on_ground(back[None], path[-2:-1]), on_ground(lap[None], path[1:2])
    whole = np.concatenate([before, path, after])
    return np.asarray(np.linalg.norm(whole[2:] - whole[:-2], axis=-1) / (2 * step))


def _on_steps(calm: Array, near: Array, times: Array) -> Array:
    """Return where (N,) a sole stands still for long and is the lowest of the figure meanwhile."""
    found = np.zeros(len(times), bool)
    for start, end in zip(*_ends(calm < 1), strict=True):
        if times[end] - times[start] >= _ON_STEP and near[start : end + 1].any():
            found[start : end + 1] = True
    return found


def _ends(mask: Array) -> tuple[Array, Array]:
    """Return the first and the last indices of the runs of a mask (N,)."""
    edges = np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1


def _runs(margin: Array, times: Array, loops: bool) -> Array:
    """Return the intervals (n,2) in which a margin (N,) is below 1, without the shortest.

    Their ends are where the line between two measurements crosses 1. In a loop an interval that crosses the
    end is as long as its two sections together.
    """
    if len(times) < 2:
        return np.array([[times[0], times[0]]]) if margin[0] < 1 else np.zeros((0, 2))
    count, step = len(times), times[1] - times[0]
    shortest = min(_SHORTEST, times[-1])
    pad = min(count - 1, int(np.ceil(_SHORTEST / step)) + 1) if loops else 0
    padded = np.concatenate([margin[count - 1 - pad : count - 1], margin, margin[1 : 1 + pad]])
    line = times[0] + (np.arange(len(padded)) - pad) * step
    starts, ends = _ends(padded < 1)
    runs = np.stack([_crossing(padded, line, starts, -1), _crossing(padded, line, ends, 1)], axis=1)
    runs = _joined(runs)
    at_end = (runs[:, 0] <= line[0]) | (runs[:, 1] >= line[-1])
    runs = runs[(runs[:, 1] - runs[:, 0] >= shortest) | (at_end & (pad == 0) & (runs[:, 1] > runs[:, 0]))]
    runs = np.clip(runs, times[0], times[-1])
    return np.asarray(runs[runs[:, 1] > runs[:, 0]])


def _crossing(margin: Array, line: Array, ends: Array, side: int) -> Array:
    """Return the times at which a margin crosses 1 beyond the first (side -1) or last (1) of runs."""
    other = np.clip(ends + side, 0, len(line) - 1)
    rise = margin[other] - margin[ends]
    fraction = np.where(rise > 0, (1.0 - margin[ends]) / np.where(rise > 0, rise, 1.0), 0.0)
    return np.asarray(line[ends] + np.clip(fraction, 0.0, 1.0) * (line[other] - line[ends]))


def _joined(runs: Array) -> Array:
    """Return intervals (n,2) without the short gaps between them."""
    if not len(runs):
        return runs
    apart = runs[1:, 0] - runs[:-1, 1] >= _SHORTEST
    starts = runs[np.concatenate([[True], apart]), 0]
    ends = runs[np.concatenate([apart, [True]]), 1]
    return np.stack([starts, ends], axis=1)
