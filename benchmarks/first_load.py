"""The first load of a process, as a script does one: no library is open yet, no memory has been used before.

python -m benchmarks.first_load apart|here FILE

Printed are the seconds of skinpy.load alone, isolated or in this process.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from .measure import Pair, in_new_process

ROUNDS = 7


def pair(path: Path) -> Pair:
    """Isolated loads against loads in the process, each in a new one, in turn."""
    sides = ("apart", "here")
    times: dict[str, list[float]] = {side: [] for side in sides}
    for i in range(ROUNDS):
        for side in sides[:: -1 if i % 2 else 1]:
            times[side].append(float(in_new_process("first_load", side, path)))
    apart, here = times["apart"], times["here"]
    return Pair(
        [b / a for a, b in zip(apart, here, strict=True)], float(np.median(apart)), float(np.median(here))
    )


def main(side: str, path: str) -> None:
    import warnings

    import skinpy

    warnings.simplefilter("ignore", skinpy.SkinpyWarning)
    start = time.perf_counter()
    kept = skinpy.load(path, isolate=side == "apart", allow_formats=skinpy.DEFAULT_FORMATS)
    print(time.perf_counter() - start)
    del kept


if __name__ == "__main__":
    main(*sys.argv[1:])
