"""The peak memory of one load, in a process of its own.

python -m benchmarks.memory skinpy|assimp FIRST FILE

FIRST is loaded before, so that libraries and their tables are there, and free memory is given back. Printed
are the bytes by which resident memory rose above what it was, at its highest, while FILE was loaded.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path
from typing import Any

from .measure import in_new_process

SIDES = ("skinpy", "assimp")


def peak(side: str, first: Path, path: Path) -> int:
    """Bytes; asks a new process."""
    return int(in_new_process("memory", side, first, path))


def load_here(path: Path) -> Any:
    """skinpy's load in this process, as Assimp's is."""
    import skinpy

    return skinpy.load(path, isolate=False, allow_formats=skinpy.DEFAULT_FORMATS)


def _resident(what: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {what}")


def _give_back() -> None:
    """What is free goes back to the system.

    How much of it is at hand is by chance, as after Python compiled its modules, and would be taken off.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's
    if trim is not None:
        trim(0)


def main(side: str, first: str, path: str) -> None:
    if side == "assimp":
        from .assimp_side import Assimp

        open_file = Assimp().open
    else:
        import warnings

        import skinpy

        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        open_file = load_here  # type: ignore[assignment]
    open_file(Path(first))
    _give_back()
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what there is now
    before = _resident("VmRSS:")
    kept = open_file(Path(path))
    print(_resident("VmHWM:") - before)
    del kept


if __name__ == "__main__":
    main(*sys.argv[1:])
