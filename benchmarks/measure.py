"""Alternated pairs: both sides run in turn in one process, and each pair gives one ratio."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Work = Callable[[], Any]


@dataclass
class Pair:
    """Ratios of baseline to skinpy over the rounds, and both medians in seconds."""

    ratios: list[float]
    ours: float
    theirs: float

    @property
    def median(self) -> float:
        return float(np.median(self.ratios))

    @property
    def quartiles(self) -> tuple[float, float]:
        low, high = np.quantile(self.ratios, (0.25, 0.75))
        return float(low), float(high)


def seconds(work: Work, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats


def repeats_for(work: Work, at_least: float) -> int:
    """So many calls that one sample lasts `at_least` seconds; the first call only warms up."""
    work()
    once = seconds(work, 1)
    return max(1, min(100_000, int(at_least / max(once, 1e-7))))


def alternate(
    ours: Work, theirs: Work, *, rounds: int = 15, sample: float = 4e-3, budget: float = 1.5
) -> Pair:
    """Up to `rounds` pairs within `budget` seconds, never less than 5; who begins changes every round."""
    count_ours, count_theirs = repeats_for(ours, sample), repeats_for(theirs, sample)
    a, b = [], []
    start = time.perf_counter()
    for i in range(rounds):
        if i % 2:
            a.append(seconds(ours, count_ours))
            b.append(seconds(theirs, count_theirs))
        else:
            b.append(seconds(theirs, count_theirs))
            a.append(seconds(ours, count_ours))
        if i >= 4 and time.perf_counter() - start > budget:
            break
    return Pair([y / x for x, y in zip(a, b, strict=True)], float(np.median(a)), float(np.median(b)))
