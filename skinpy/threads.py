"""How many threads one call may use."""

from __future__ import annotations

import os
import warnings
from typing import SupportsIndex

from . import _core
from ._arguments import whole
from .errors import SkinpyWarning

__all__ = ["set_num_threads", "get_num_threads"]

_VARIABLE = "SKINPY_NUM_THREADS"


def set_num_threads(n: SupportsIndex | None) -> None:
    """Lets each call of skinpy work on up to `n` threads, the calling one included, from now on.

    - n: 1 to 256; 1 means that skinpy makes no threads of its own, None the default: the processors that
      this process may use (affinity and the quota of its control groups), at most 64.

    Results are bit-identical whatever the number. Threads are made when they are first of use and then
    sleep between calls; this function waits for work of other Python threads, and ends threads that are too
    many. The environment variable SKINPY_NUM_THREADS sets the number that counts from the import on.

    Raises TypeError where n is no int, ValueError where it is out of range.
    """
    count = 0 if n is None else whole("n", n, 1, _core.MAX_THREADS, wanted="an int or None")
    _core._set_thread_count(count)


def get_num_threads() -> int:
    """Threads that one call may use, the calling one included; see `set_num_threads`."""
    return _core._thread_count()


def _read_environment() -> None:
    """Takes the number that the environment asks for, where there is one."""
    wish = os.environ.get(_VARIABLE)
    if wish is None:
        return
    count = int(wish) if wish.isdecimal() and len(wish) < 10 else 0
    if 1 <= count <= _core.MAX_THREADS:
        _core._set_thread_count(count)
    else:
        words = f"{_VARIABLE} is {wish!r}; expected a whole number from 1 to {_core.MAX_THREADS}"
        # The caller of "import skinpy": it imported the package, which imported this module.
        warnings.warn(f"{words}; using {get_num_threads()} threads", SkinpyWarning, stacklevel=4)


_read_environment()
