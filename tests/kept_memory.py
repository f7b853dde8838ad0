"""What the process keeps from one load to the next (csrc/worker/worker_kept.c), seen from outside."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

HEAP = "/memfd:skinpy-heap (deleted)"
PATIENCE = 30.0  #: seconds


def open_files() -> dict[int, str]:
    """All but the one of the memory that is kept."""
    return {number: name for number, name in all_files().items() if name != HEAP}


def heap_file() -> int | None:
    """The descriptor of the heap that is kept, when nobody is at work on it any more."""
    end = time.monotonic() + PATIENCE
    while is_cleaned() and time.monotonic() < end:
        time.sleep(0.001)
    return next((number for number, name in all_files().items() if name == HEAP), None)


def forget_heap() -> None:
    """The next load finds that it is gone."""
    if (number := heap_file()) is not None:
        os.close(number)


def is_cleaned() -> bool:
    """Whether a thread makes or clears it just now, or waits to."""
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            if (task / "comm").read_text() == "skinpy-heap\n":
                return True
    return False


def all_files() -> dict[int, str]:
    """What the descriptors stand for."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one that lists them
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found
