"""What skinpy promises for speed, row by row, and what the results say to each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Results = dict[str, Any]
Value = tuple[float, str]  # a figure and the model that it is of

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Target:
    """One line of the table. Higher is better where `least` is True."""

    what: str
    promise: str
    limit: float
    values: Callable[[Results], list[Value]]
    unit: str = "x"
    least: bool = True
    needs: str = ""  # the peer without which there is nothing to say

    def holds(self, value: float) -> bool:
        return value >= self.limit if self.least else value <= self.limit


def median_ratio(entry: dict[str, Any]) -> float:
    return float(np.median(entry["ratios"]))


def times(job: str, rival: str) -> Callable[[Results], list[Value]]:
    """How many times faster than the rival."""
    return lambda results: [
        (median_ratio(row["pairs"][job][rival]), row["model"])
        for row in results["rows"]
        if rival in row["pairs"].get(job, {})
    ]


def multiple(job: str, rival: str, rows: str = "rows") -> Callable[[Results], list[Value]]:
    """Skinpy's time as a multiple of the rival's."""
    return lambda results: [
        (1 / median_ratio(row["pairs"][job][rival]), row["model"])
        for row in results[rows]
        if rival in row["pairs"].get(job, {})
    ]


def one_pose_time(results: Results) -> list[Value]:
    """Microseconds of the models with 19 to 22 slots or joints."""
    return [
        (1e6 * row["pairs"]["one pose"]["NumPy"]["seconds"], row["model"])
        for row in results["rows"]
        if "one pose" in row["pairs"] and row["slots"] >= 19 and row["joints"] <= 22
    ]


def vertex_time(results: Results) -> list[Value]:
    """Nanoseconds a vertex at 3.7 GHz, of the models with 4 influences that stay in the cache."""
    return [
        (row["facts"]["cycles a vertex"] / 3.7, row["model"])
        for row in results["rows"]
        if "cycles a vertex" in row["facts"]
        and row["influences"] >= 3.9
        and 1_000 <= row["vertices"] <= 20_000
    ]


def joint_time(results: Results) -> list[Value]:
    """Nanoseconds a joint in a crowd."""
    return [
        (1e6 * row["pairs"]["crowd of 1,000"]["NumPy"]["seconds"] / row["joints"], row["model"])
        for row in results["rows"]
        if "crowd of 1,000" in row["pairs"] and row["joints"] >= 8
    ]


def isolation(least: int, most: float, share: float = 0.0) -> Callable[[Results], list[Value]]:
    """Milliseconds that isolation adds to the load of files with `least` to `most` bytes.

    `share` of the load in this process may be added besides, and does not count.
    """
    return lambda results: [
        (1e3 * (pair["seconds"] - (1 + share) * pair["baseline"]), row["model"])
        for row in (*results["rows"], *results.get("formats", ()))
        for pair in [row["pairs"].get("isolated load", {}).get("in this process")]
        if pair and least <= row["facts"]["file bytes"] <= most
    ]


def errors(results: Results) -> list[Value]:
    return [(row["facts"]["error"], row["model"]) for row in results["rows"] if "error" in row["facts"]]


def peaks(results: Results) -> list[Value]:
    return [
        (row["facts"]["peak bytes"] / row["facts"]["Assimp's peak bytes"], row["model"])
        for row in results["rows"]
        if row["facts"]["Assimp's peak bytes"] >= MEBIBYTE
    ]


def clip_bytes(share: str, least: float) -> Callable[[Results], list[Value]]:
    """Stored and compiled together over Assimp's keys, of clips of which that share or more stands still."""

    def found(results: Results) -> list[Value]:
        values = []
        for row in results["rows"]:
            facts = row["facts"]
            if facts.get("compiled bytes") is not None and facts.get(share, -1) >= least:
                together = facts["clip bytes"] + facts["compiled bytes"]
                values.append((together / facts["Assimp's key bytes"], row["model"]))
        return values

    return found


def instructions(job: str) -> Callable[[Results], list[Value]]:
    def found(results: Results) -> list[Value]:
        record = results["instructions"]
        return [(record["counts"][job], record["key"])] if record else []

    return found


CROWD, LINES = "crowd of 1,000 at different times", "one time line per channel (FBX, COLLADA)"
ISOLATED = "isolated load, over one in this process"
ONE, CLIP, SKIN = "one pose into `out`, called from Python", "a clip at 60 Hz", "CPU skinning"


TARGETS = (
    Target(f"{CROWD}, against NumPy", "40x", 40, times("crowd of 1,000", "NumPy")),
    Target(f"{CROWD}, against numba", "8x", 8, times("crowd of 1,000", "numba"), needs="numba"),
    Target(
        f"{CROWD}, against `np.copyto` of the result",
        "at most 5x its time",
        5,
        multiple("crowd of 1,000", "copy"),
        least=False,
    ),
    Target(f"{CROWD}, error of the size", "1e-6", 1e-6, errors, unit="", least=False),
    Target(
        f"{CROWD}, instructions a joint",
        "62 to 100",
        100,
        instructions("one line: batch, a joint"),
        unit="",
        least=False,
        needs="instructions",
    ),
    Target(
        f"{LINES}, equal times, batch",
        "at most 1.3x",
        1.3,
        multiple("copies: batch", "one line", "lines"),
        least=False,
    ),
    Target(
        f"{LINES}, equal times, one pose",
        "at most 1.3x",
        1.3,
        multiple("copies: one pose", "one line", "lines"),
        least=False,
    ),
    Target(
        f"{LINES}, thinned keys, batch",
        "at most 1.3x",
        1.3,
        multiple("parts: batch", "one line", "lines"),
        least=False,
    ),
    Target(
        f"{LINES}, thinned keys, one pose",
        "at most 1.3x",
        1.3,
        multiple("parts: one pose", "one line", "lines"),
        least=False,
    ),
    Target(
        "random times against sequential, batch",
        "1.1x",
        1.1,
        multiple("random batch", "in order"),
        least=False,
    ),
    Target(
        "random times against sequential, pose by pose",
        "1.1x",
        1.1,
        multiple("random poses", "in order"),
        least=False,
    ),
    Target(f"{ONE}, 19 to 22 joints", "at most 0.6 us", 0.6, one_pose_time, unit=" us", least=False),
    Target(f"{ONE}, against NumPy", "100x", 100, times("one pose", "NumPy")),
    Target(f"{ONE}, against usd-core", "8x", 8, times("one pose", "UsdSkel"), needs="UsdSkel"),
    Target(f"{ONE}, against numba", "4x", 4, times("one pose", "numba"), needs="numba"),
    Target(f"{CLIP}, against NumPy", "30x", 30, times("clip at 60 Hz", "NumPy")),
    Target(f"{CLIP}, against numba", "6x", 6, times("clip at 60 Hz", "numba"), needs="numba"),
    Target(f"{CLIP}, against usd-core", "25x", 25, times("clip at 60 Hz", "UsdSkel"), needs="UsdSkel"),
    Target(f"{SKIN}, against NumPy", "5x", 5, times("deform", "NumPy")),
    Target(f"{SKIN}, against numba", "3x", 3, times("deform", "numba"), needs="numba"),
    Target(
        f"{SKIN}, against usd-core (positions only)", "5x", 5, times("deform", "UsdSkel"), needs="UsdSkel"
    ),
    Target(
        f"{SKIN}, 4 influences",
        "under 2.9 ns a vertex at 3.7 GHz",
        2.9,
        vertex_time,
        unit=" ns",
        least=False,
        needs="numba",
    ),
    Target(
        "500,000 to 1M vertices, against a copy of the same bytes",
        "at most 1.6x",
        1.6,
        multiple("big deform", "copy"),
        least=False,
    ),
    Target("blend of 2 clips, crowd, against NumPy", "30x", 30, times("blend of 2", "NumPy")),
    Target("blend of 3 clips, crowd, against NumPy", "30x", 30, times("blend of 3", "NumPy")),
    Target("2 threads, crowd of 1,000", "1.7x", 1.7, times("crowd of 1,000 on 2 threads", "1 thread")),
    Target("2 threads, crowd of 5,000", "1.7x", 1.7, times("crowd of 5,000 on 2 threads", "1 thread")),
    Target("2 threads, skinning from 50,000 vertices", "1.7x", 1.7, times("deform on 2 threads", "1 thread")),
    Target(
        "load in this process, against bare Assimp",
        "at most 1.25x",
        1.25,
        multiple("load", "Assimp"),
        least=False,
    ),
    Target(
        f"{ISOLATED}, files of 50 to 200 kB",
        "at most 10 ms more",
        10.0,
        isolation(50_000, 200_000),
        unit=" ms",
        least=False,
    ),
    Target(
        f"{ISOLATED} and a third, files above 200 kB",
        "at most 10 ms more",
        10.0,
        isolation(200_001, float("inf"), share=1 / 3),
        unit=" ms",
        least=False,
    ),
    Target("load, peak memory against Assimp's", "at most 1.3x", 1.3, peaks, least=False),
    Target(
        "clip memory against Assimp's keys, 40 % of them in constant tracks",
        "half",
        0.5,
        clip_bytes("repeated keys", 0.4),
        least=False,
    ),
    Target(
        "clip memory against Assimp's keys, 40 % constant tracks, also of one key",
        "half",
        0.5,
        clip_bytes("constant tracks", 0.4),
        least=False,
    ),
    Target(
        "controller of three layers, against three plain samples and one more",
        "at most 1x",
        1,
        multiple("controller", "four plain palettes"),
        least=False,
    ),
)


@dataclass(frozen=True)
class Verdict:
    """What the results say to one target."""

    target: Target
    count: int
    held: int
    median: float
    quartiles: tuple[float, float]
    worst: Value
    of: dict[str, float]  #: the figure of each model


def judge(target: Target, results: Results) -> Verdict | None:
    """None where nothing was measured."""
    values = target.values(results)
    if not values:
        return None
    figures = np.array([value for value, _ in values])
    worst = values[int(figures.argmin() if target.least else figures.argmax())]
    low, high = np.quantile(figures, (0.25, 0.75))
    held = sum(target.holds(value) for value, _ in values)
    median, of = float(np.median(figures)), {model: value for value, model in values}
    return Verdict(target, len(values), held, median, (float(low), float(high)), worst, of)
