"""Calls each public function again and again and looks for memory that stays: python tests/hostile/leaks.py

N cycles of a function may leave no byte of the core's and no open file; and in the second half of them
Python's blocks may not grow by more than two in 1,000 calls. They are counted a few times on the way, always
after a collection, and their slope is the median of the slopes between any two counts: what the interpreter
and NumPy keep for good, and caches that fill by chance, are single steps, which do not move it. Where it
rises, the half is called again, up to three times, and it is a leak where it rises each time. Prints a line
for each function that had fewer cycles or leaks, and a sum; ends with 1 where one leaks.

    --cycles N       cycles of each function (1000)
    --seconds S      at most so long with one function, about (no limit), but ten cycles at least; its line
                     says how many it had. The main entry points have all of them, however long they take
    --only WORD ...  functions of that name, or, where there is none, whose name holds the word
    --draw           those that draw, too
"""

from __future__ import annotations

import argparse
import gc
import itertools
import math
import os
import statistics
import sys
import tempfile
import time
import warnings
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE.parent, HERE.parent.parent):
    sys.path.insert(0, str(folder))

import opened_files  # noqa: E402
import public_functions  # noqa: E402
from drawing import finish_drawing  # noqa: E402

from skinpy import _core  # noqa: E402

WARM_UP = 5
LEAST = 5  # calls in each half, however long they take: one block that each keeps is then above TOLERANCE
MAIN = ("load", "Model.save", "Model.palette", "Model.pose", "Model.deform")
READINGS = 10  # of Python's blocks, in the second half of the calls
TOLERANCE = 2.0  # blocks in 1,000 calls, and in one round of them
AGAIN = 3  # more rounds for a function by which Python's blocks grew


@dataclass
class Left:
    """What a function left behind after `cycles` calls."""

    name: str
    cycles: int
    core_bytes: int
    blocks: float  #: of Python, by which 1,000 calls grow: the least of the rounds
    files: int
    seconds: float

    @property
    def leaks(self) -> bool:
        return self.core_bytes != 0 or self.files > 0 or self.blocks > TOLERANCE

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.cycles} cycles, {self.core_bytes} bytes of the core, "
            f"{self.blocks:.1f} blocks of Python in 1,000 calls, {self.files} files, {self.seconds:.1f} s"
        )


#: Empties the caches of attributes. Python 3.13 has another name for it, and 3.14 warns about the old one.
clear_caches = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache


def open_files() -> int:
    return len(opened_files.open_files()) if os.path.isdir("/proc/self/fd") else 0


def held() -> tuple[int, int, int]:
    finish_drawing()
    clear_caches()  # which hold on to thousands of names, put in by chance
    gc.collect()
    finish_drawing()
    return _core._bytes_in_use(), sys.getallocatedblocks(), open_files()


def measure(name: str, call: Callable[[], object], cycles: int, seconds: float | None) -> Left:
    for _ in range(WARM_UP):
        call()
    start = time.perf_counter()
    core_before, _, files_before = held()
    first = repeat(call, (cycles + 1) // 2, seconds and seconds / 2)
    second = min(cycles // 2, first)
    left = Left(name, first + second, 0, math.inf, 0, 0.0)
    for _ in range(1 + AGAIN):
        slope = blocks_per_call(call, second)
        left.blocks = min(left.blocks, 1000 * slope if second * slope > TOLERANCE else 0.0)
        if left.blocks <= TOLERANCE:
            break
    core, _, files = held()
    left.core_bytes, left.files = core - core_before, files - files_before
    left.seconds = time.perf_counter() - start
    return left


def blocks_per_call(call: Callable[[], object], cycles: int) -> float:
    """By how many blocks Python grows: the median of the slopes between any two counts."""
    calls = array("q", sorted({cycles * part // (READINGS - 1) for part in range(READINGS)}))
    counts = array("q", calls)  # a list would hold each number in a block of its own
    for part, wanted in enumerate(calls):
        repeat(call, wanted - (calls[part - 1] if part else 0), None)
        counts[part] = held()[1]
    readings = list(zip(calls, counts, strict=True))
    slopes = [
        (late[1] - early[1]) / (late[0] - early[0]) for early, late in itertools.combinations(readings, 2)
    ]
    return statistics.median(slopes) if slopes else 0.0


def repeat(call: Callable[[], object], cycles: int, seconds: float | None) -> int:
    """How often it was called."""
    start = time.perf_counter()
    for done in range(cycles):
        if seconds is not None and done >= LEAST and time.perf_counter() - start > seconds:
            return done
        call()
    return cycles


def chosen(names: list[str], only: Sequence[str]) -> list[str]:
    """Those that one of `only` means; all where that is empty."""
    meant = [{word} if word in names else {name for name in names if word in name} for word in only]
    return [name for name in names if not only or any(name in one for one in meant)]


def survey(
    cycles: int, seconds: float | None = None, only: Sequence[str] = (), draw: bool = False
) -> tuple[list[Left], list[Left]]:
    """(all, those that leak)."""
    with tempfile.TemporaryDirectory() as folder:
        world = public_functions.World(Path(folder))
        calls = public_functions.cases(world)
        if draw:
            calls |= public_functions.drawn_cases(world)
        found = []
        for name in chosen(list(calls), only):
            gc.collect()
            gc.freeze()  # so that each collection looks at what is new alone
            found.append(measure(name, calls[name], cycles, None if name in MAIN else seconds))
        gc.unfreeze()
    return found, [left for left in found if left.leaks]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found, leaking = survey(options.cycles, options.seconds, options.only, options.draw)
    for left in found:
        if left.leaks or left.cycles < options.cycles:
            print(("LEAK " if left.leaks else "") + str(left))
    full = sum(left.cycles == options.cycles for left in found)
    print(
        f"{len(found)} functions, {full} of them with all {options.cycles} cycles, "
        f"{sum(left.cycles for left in found):,} calls in {sum(left.seconds for left in found):.0f} s: "
        f"{len(leaking)} leak, {sum(left.core_bytes for left in found)} bytes of the core left in all"
    )
    return 1 if leaking or not found else 0


if __name__ == "__main__":
    sys.exit(main())
