"""Alternated pairs: both sides run in turn in one process, and each pair gives one ratio."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Work = Callable[[], Any]


def nothing() -> None:
    """What is done before a sample where nothing has to be."""


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

    def entry(self) -> dict[str, Any]:
        """For the JSON: worst, quartile, median, quartile, best; rounds; seconds of both sides."""
        spread = [float(f"{q:.4g}") for q in np.quantile(self.ratios, (0, 0.25, 0.5, 0.75, 1))]
        seconds, baseline = float(f"{self.ours:.4g}"), float(f"{self.theirs:.4g}")
        return {"ratios": spread, "rounds": len(self.ratios), "seconds": seconds, "baseline": baseline}


def in_new_process(module: str, *words: str | Path) -> str:
    """What `python -m benchmarks.MODULE WORDS` prints."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, words)]
    root = Path(__file__).resolve().parent.parent
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def seconds(work: Work, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats


def repeats_for(work: Work, at_least: float) -> int:
    """So many calls that one sample lasts `at_least` seconds; the first call only warms up."""
    work()
    once = seconds(work, 1)
    if once < at_least / 20:  # one short call says little about many
        once = seconds(work, 20)
    return max(1, min(100_000, int(at_least / max(once, 1e-7))))


def alternate(
    ours: Work,
    theirs: Work,
    *,
    rounds: int = 15,
    sample: float = 4e-3,
    budget: float = 0.5,
    before: tuple[Work, Work] = (nothing, nothing),
    clock: Callable[[Work, int], float] = seconds,
) -> Pair:
    """Up to `rounds` pairs within `budget` seconds, never less than 5; who begins changes every round.

    `before` holds what is done, untimed, before every sample of ours and of theirs: to switch threads or the
    SIMD path. `clock` gives the seconds of a call, over so many of them.
    """
    sides = ((before[0], ours), (before[1], theirs))
    counts = []
    for prepare, work in sides:
        prepare()
        counts.append(repeats_for(work, sample))
    times: tuple[list[float], list[float]] = ([], [])
    start = time.perf_counter()
    for i in range(rounds):
        for side in (1, 0) if i % 2 else (0, 1):
            sides[side][0]()
            times[side].append(clock(sides[side][1], counts[side]))
        if i >= 4 and time.perf_counter() - start > budget:
            break
    a, b = times
    return Pair([y / x for x, y in zip(a, b, strict=True)], float(np.median(a)), float(np.median(b)))
