"""The significance of keys: the error up to which each may be dropped, found once for all bounds.

The keys of a span are measured against the line (or arc, or step) between the two ends of the span. The worst
key gets its error as significance and splits the span, and so on (Ramer 1972, Douglas and Peucker 1973). No
key counts more than the key that split its span. So for every bound, the keys above it describe the channel,
and all other keys lie within the bound.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._types import Array
from ..clips.evaluate import slerp


@dataclass(frozen=True, eq=False)
class Bundle:
    """Channels of the same path and interpolation with the same key times."""

    numbers: list[int]  #: which channels of the clip
    times: Array  #: (K,) seconds
    values: Array  #: (n,K,C) float64
    reach: Array  #: (n,) the largest distance, in model units, that a vertex moves when a value changes by 1
    is_rotation: bool  #: values are quaternions
    is_step: bool  #: a key holds until the next

    def distance(self, a: Array, b: Array) -> Array:
        """Return model units (n,K) between two arrays of values (n,K,C)."""
        if self.is_rotation:
            a, b = a / _length(a), b / _length(b)
            b = np.where((a * b).sum(axis=-1, keepdims=True) < 0, -b, b)
        off = np.linalg.norm(a - b, axis=-1)
        with np.errstate(invalid="ignore"):  # a difference of 0 moves nothing, even at infinity
            return np.where(off == 0.0, 0.0, off * self.reach[:, None])

    def deviation(self, low: Array, high: Array) -> Array:
        """Return model units (n,K) from each value to the line between the keys `low` and `high` (n,K)."""
        rows = np.arange(len(self.values))[:, None]
        start = self.values[rows, low]
        if self.is_step:
            return self.distance(self.values, start)
        span = self.times[high] - self.times[low]
        fraction = (self.times - self.times[low]) / np.where(span > 0, span, 1.0)
        end = self.values[rows, high]
        between = (
            slerp(start, end, fraction) if self.is_rotation else start + fraction[..., None] * (end - start)
        )
        return self.distance(self.values, between)

    def spread(self) -> Array:
        """Return model units (n,) from the first value to the farthest."""
        return np.asarray(self.distance(self.values, self.values[:, :1]).max(axis=1))


def _length(rows: Array) -> Array:
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(np.where(length > 0, length, 1.0))


def own_significance(bundle: Bundle, floor: float) -> Array:
    """Return the error (n,K), in model units, up to which each key can be dropped from its channel.

    The ends are infinite. Keys that matter less than `floor` are 0.
    """
    return _split(len(bundle.values), len(bundle.times), bundle.deviation, floor)


def common_significance(bundles: Sequence[Bundle], floor: float) -> Array:
    """Return the error (K,) up to which all channels together can drop each key.

    All bundles have the same key times.
    """

    def worst(low: Array, high: Array) -> Array:
        found = []
        for bundle in bundles:
            shape = (len(bundle.values), low.shape[1])
            deviation = bundle.deviation(np.broadcast_to(low, shape), np.broadcast_to(high, shape))
            found.append(deviation.max(axis=0))
        return np.asarray(np.max(found, axis=0)[None])

    return np.asarray(_split(1, len(bundles[0].times), worst, floor)[0])


def _split(rows: int, keys: int, deviation: Callable[[Array, Array], Array], floor: float) -> Array:
    """Return significances (rows,keys); `deviation(low, high)` measures every key within its span."""
    found = np.zeros((rows, keys))
    found[:, [0, -1]] = np.inf
    key_numbers = np.broadcast_to(np.arange(keys), found.shape)
    while True:
        kept = found > 0
        low = np.maximum.accumulate(np.where(kept, key_numbers, 0), axis=1)
        after = np.where(kept, key_numbers, keys - 1)
        after = np.concatenate([after[:, 1:], after[:, -1:]], axis=1)
        high = np.minimum.accumulate(after[:, ::-1], axis=1)[:, ::-1]
        away = np.where(kept, 0.0, deviation(low, high)).ravel()
        starts = np.flatnonzero(kept)
        span = np.cumsum(kept) - 1  # number of the span that each key belongs to
        worst = np.maximum.reduceat(away, starts)
        worst_keys = np.flatnonzero((away > floor) & (away == worst[span]))
        if not len(worst_keys):
            return found
        _, first = np.unique(span[worst_keys], return_index=True)
        chosen = worst_keys[first]
        row, key = chosen // keys, chosen % keys
        limit = np.minimum(found[row, low[row, key]], found[row, high[row, key]])
        found[row, key] = np.minimum(away[chosen], limit)
