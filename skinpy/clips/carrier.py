"""The joint that carries a character through the scene."""

import numpy as np

from .._types import Array
from ..clip import Clip
from ..storage.skin_error import size_of

#: A translation whose keys lie within this fraction of the size does not move.
_MIN_SPAN = 1e-4
#: A joint counts from this fraction of the most descendants, and of the farthest span; see carrier.
_MIN_FRACTION = 0.5


def carrier(clip: Clip) -> int:
    """The index of the joint that carries the character.

    Joints count if a channel of their translation or rotation has keys that differ, and if they have at least
    half as many descendants as the one with the most. The carrier is the first of these whose translation
    spans at least half as far, in scene space, as that of any of them. If no translation moves, it is the
    first of these joints; if nothing moves, it is joint 0.
    """
    spans = _spans(clip)
    if not spans:
        return 0
    descendants = _descendant_counts(clip._bound_model().skeleton.parents)
    most = max(descendants[joint] for joint in spans)
    trunk = sorted(joint for joint in spans if descendants[joint] >= _MIN_FRACTION * most)
    farthest = max(spans[joint] for joint in trunk)
    return next(joint for joint in trunk if spans[joint] >= _MIN_FRACTION * farthest)


def _descendant_counts(parents: Array) -> Array:
    """(J,): how many joints hang on each joint, the joint itself included."""
    counts = np.ones(len(parents), np.int64)
    for joint in range(len(parents) - 1, -1, -1):
        if parents[joint] >= 0:
            counts[parents[joint]] += counts[joint]
    return counts


def _spans(clip: Clip) -> dict[int, float]:
    """How far the translation of each moving joint spans, in scene units; 0 for joints that only rotate."""
    skeleton = clip._bound_model().skeleton
    stretch = np.linalg.norm(skeleton.rest_global[:, :3, :3], axis=1).max(axis=1)
    size = size_of(clip) or 1.0
    spans: dict[int, float] = {}
    for channel in clip._pose_channels:
        if channel.joint is None or channel.path == "scale" or not np.ptp(channel.values, axis=0).any():
            continue
        parent = int(skeleton.parents[channel.joint])
        span = 0.0
        if channel.path == "translation":
            span = float(np.linalg.norm(np.ptp(channel.values, axis=0)))
            span *= float(stretch[parent]) if parent >= 0 else 1.0
        spans[channel.joint] = max(spans.get(channel.joint, 0.0), span if span > _MIN_SPAN * size else 0.0)
    return spans
