"""Corrections that come and go: curves over the times of frames that have no corners."""

import numpy as np

from .._types import Array

_RATE = 60.0  # Hz, of the cells in which an envelope is found


def smooth(x: Array) -> Array:
    """Return 0 to 1 with level ends: 3 x^2 - 2 x^3."""
    x = np.clip(x, 0.0, 1.0)
    return np.asarray(x * x * (3.0 - 2.0 * x))


def eased(times: Array, values: Array, starts: Array, ends: Array, blend: float) -> Array:
    """Return values (N,C) that are kept in runs of frames, and die out within `blend` seconds around them.

    In a shorter gap the value at the end of one run passes over into that at the start of the next.
    """
    last = len(starts) - 1
    frames = np.arange(len(times))
    run = np.searchsorted(starts, frames, side="right") - 1  # that a frame is in or behind; -1 before all
    before, after = np.maximum(run, 0), np.minimum(run + 1, last)
    gaps = np.concatenate([[np.inf], times[starts[1:]] - times[ends[:-1]], [np.inf]])
    window = np.maximum(np.minimum(blend, gaps[run + 1]), 1e-12)
    falling = smooth(1.0 - (times - times[ends[before]]) / window) * (run >= 0)
    rising = smooth(1.0 - (times[starts[after]] - times) / window) * (run < last)
    eased = falling[:, None] * values[ends[before]] + rising[:, None] * values[starts[after]]
    inside = (run >= 0) & (frames <= ends[before])
    return np.where(inside[:, None], values, eased)


def envelope(times: Array, values: Array, seconds: float) -> Array:
    """Return a smooth curve (N,) that is nowhere below values >= 0, and 0 soon beyond twice `seconds`.

    It is the running mean of the running maximum, both over `seconds` to either side.
    """
    if not values.any() or len(times) < 2:
        return values
    count = max(int(np.ceil((times[-1] - times[0]) * _RATE)), 1)
    cells = np.minimum(((times - times[0]) * _RATE).astype(np.intp), count - 1)
    most = np.zeros(count)
    np.maximum.at(most, cells, values)
    # A time is between two cells: each has the largest of both neighbors, too.
    side = int(np.ceil(seconds * _RATE)) + 1
    peaks = np.lib.stride_tricks.sliding_window_view(np.pad(most, side), 2 * side + 1).max(axis=1)
    # A mean with weights that rise and fall evenly has no corners.
    weights = 1.0 - np.abs(np.arange(-side, side + 1)) / (side + 1.0)
    mean = np.convolve(np.pad(peaks, side, mode="edge"), weights / weights.sum(), mode="valid")
    centers = times[0] + (np.arange(count) + 0.5) / _RATE
    return np.asarray(np.maximum(np.interp(times, centers, mean), values))
