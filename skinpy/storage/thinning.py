"""Which keys a channel can do without: an error at which each may be dropped, found once for all bounds.

Keys of a span are measured against the line (or arc, or step) between its two ends; the worst one gets its
error and splits the span, and so on (Ramer 1972, Douglas and Peucker 1973). No key counts more than the one
that split its span, so that for every bound the keys above it belong together, and all others lie within it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._types import Array
from ..clips.evaluate import slerp


@dataclass(frozen=True, eq=False)
class Bundle:
    """Channels of one kind with the same key times."""

    numbers: list[int]  #: which channels of the clip
    times: Array  #: (K,) seconds
    values: Array  #: (n,K,C) float64
    reach: Array  #: (n,) how far a vertex goes, in model units, when a value changes by 1
    turning: bool  #: quaternions
    step: bool

    def distance(self, a: Array, b: Array) -> Array:
        """(n,K) model units between two arrays of values (n,K,C)."""
        if self.turning:
            a, b = a / _length(a), b / _length(b)
            b = np.where((a * b).sum(axis=-1, keepdims=True) < 0, -b, b)
        off = np.linalg.norm(a - b, axis=-1)
        with np.errstate(invalid="ignore"):  # what is not off does not move what is at infinity
            return np.where(off == 0.0, 0.0, off * self.reach[:, None])

    def deviation(self, low: Array, high: Array) -> Array:
        """(n,K) model units from each value to what the keys low and high (n,K) of its span make of it."""
        rows = np.arange(len(self.values))[:, None]
        start = self.values[rows, low]
        if self.step:
            return self.distance(self.values, start)
        span = self.times[high] - self.times[low]
        share = (self.times - self.times[low]) / np.where(span > 0, span, 1.0)
        end = self.values[rows, high]
        made = slerp(start, end, share) if self.turning else start + share[..., None] * (end - start)
        return self.distance(self.values, made)

    def spread(self) -> Array:
        """(n,) model units that any value is away from the first."""
        return np.asarray(self.distance(self.values, self.values[:, :1]).max(axis=1))


def _length(rows: Array) -> Array:
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(np.where(length > 0, length, 1.0))


def own_significance(bundle: Bundle, floor: float) -> Array:
    """(n,K) model units: the error up to which a key can be dropped from its channel; the ends are infinite.

    Keys that matter less than floor are 0.
    """
    return _split(len(bundle.values), len(bundle.times), bundle.deviation, floor)


def common_significance(bundles: Sequence[Bundle], floor: float) -> Array:
    """(K,): the same for a key that all channels of all bundles, which have the same times, drop together."""

    def worst(low: Array, high: Array) -> Array:
        found = []
        for bundle in bundles:
            shape = (len(bundle.values), low.shape[1])
            deviation = bundle.deviation(np.broadcast_to(low, shape), np.broadcast_to(high, shape))
            found.append(deviation.max(axis=0))
        return np.asarray(np.max(found, axis=0)[None])

    return np.asarray(_split(1, len(bundles[0].times), worst, floor)[0])


def _split(rows: int, keys: int, deviation: Callable[[Array, Array], Array], floor: float) -> Array:
    """(rows,keys) significances; deviation(low, high) measures every key within its span."""
    found = np.zeros((rows, keys))
    found[:, [0, -1]] = np.inf
    place = np.broadcast_to(np.arange(keys), found.shape)
    while True:
        kept = found > 0
        low = np.maximum.accumulate(np.where(kept, place, 0), axis=1)
        after = np.where(kept, place, keys - 1)
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
