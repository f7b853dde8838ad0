"""Root motion with keys where straight lines between the keys of the clip are not accurate enough."""

import numpy as np

from .._types import Array
from .evaluate import slerp, trs
from .trajectory import RootKeys, Trajectory

#: How far the result may be off between keys, before it is rounded to float32: a fraction of the size.
_MAX_ERROR = 5e-6
#: How often spans that are off further are cut.
_MAX_ROUNDS = 4
#: Pieces that a span is cut into in one round.
_MAX_PIECES = 16
#: Spans shorter than this many tolerances of the sampler are not cut.
_MIN_SPAN = 8.0
_MAX_KEYS = 65536
#: The time that one call takes beyond its poses, counted in poses of one joint.
_CALL_COST = 200
#: Where in a span the error is measured.
_FRACTIONS = np.array([0.25, 0.5, 0.75])


def refined_keys(trajectory: Trajectory, tolerance: float) -> RootKeys:
    """Keys at the times of the clip's keys, and between these where the error is too large.

    tolerance is the time within which the sampler takes two times for one, in seconds. The number of keys
    and of poses is bounded, so long clips of long chains may keep a larger error.
    """
    times = trajectory.times
    keys = trajectory.keys(times)
    poses_left = trajectory.max_times - 2 * (len(times) + _CALL_COST)
    for _ in range(_MAX_ROUNDS):
        poses_left -= 4 * len(times) + 2 * _CALL_COST  # to measure the spans, and to compute the new keys
        room = min(_MAX_KEYS - len(times), poses_left)
        if room <= 0:
            break
        spans = np.flatnonzero(np.diff(times) > _MIN_SPAN * tolerance)
        added = _cuts(_errors(trajectory, keys, spans) / (_MAX_ERROR * trajectory.size), room)
        if not added.any():
            break
        times = _with_cuts(times, spans, added)
        keys = trajectory.keys(times)
        poses_left -= int(added.sum())
    return keys


def _cuts(excess: Array, room: int) -> Array:
    """The number of keys to add in each span, at most `room` in all.

    excess is the error of each span over the allowed one. The error of a straight line falls with the square
    of the number of pieces.
    """
    added = np.ceil(np.sqrt(excess)).clip(1, _MAX_PIECES).astype(np.int64) - 1
    if added.sum() > room:
        added = added * room // added.sum()
    return np.asarray(added)


def _with_cuts(times: Array, spans: Array, added: Array) -> Array:
    """The times, and `added` (W,) evenly spaced times within each of the spans (W,)."""
    gaps = np.diff(times)
    cuts = [
        times[span] + gaps[span] * np.arange(1, count + 1) / (count + 1)
        for span, count in zip(spans.tolist(), added.tolist(), strict=True)
    ]
    return np.unique(np.concatenate([times, *cuts]))


def _errors(trajectory: Trajectory, keys: RootKeys, spans: Array) -> Array:
    """(W,) scene units: the largest error within each of the spans (W,).

    The error is how far interpolated keys move a point that is as far from the joint as the model is large.
    """
    gaps = np.diff(keys.times)
    between = keys.times[spans, None] + _FRACTIONS * gaps[spans, None]
    flat = between.ravel()
    joint = trajectory.posed(flat)
    low = np.repeat(spans, len(_FRACTIONS))
    fraction = np.broadcast_to(_FRACTIONS, between.shape).ravel()

    def on_line(rows: Array) -> Array:
        return np.asarray(rows[low] + fraction[:, None] * (rows[low + 1] - rows[low]))

    motion = keys.motion.astype(np.float64)
    ones = np.ones((len(flat), 3))
    travelled = trs(on_line(motion[:, :3]), slerp(motion[low, 3:], motion[low + 1, 3:], fraction), ones)
    rotation = joint.rotation
    if trajectory.has_yaw:
        rotation = slerp(keys.rotation[low], keys.rotation[low + 1], fraction)
    here = travelled @ joint.parent @ trs(on_line(keys.translation), rotation, joint.scale)
    difference = here - joint.here
    scale = np.cbrt(np.abs(np.linalg.det(joint.here[:, :3, :3])))
    bent = np.linalg.norm(difference[:, :3, :3], axis=(1, 2)) / np.where(scale > 0, scale, 1.0)
    errors = np.linalg.norm(difference[:, :3, 3], axis=1) + trajectory.size * bent
    return np.asarray(errors.reshape(between.shape).max(axis=1, initial=0.0))
