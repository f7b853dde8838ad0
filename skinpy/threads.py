"""The number of threads that one call of skinpy may use."""

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
    """Set how many threads each later call of skinpy may use, the calling thread included.

    Results are the same to the bit for every number. The environment variable SKINPY_NUM_THREADS sets the
    number that holds from the import on.

    Parameters
    ----------
    n : int or None
        A number from 1 to 256; with 1 skinpy makes no threads. None restores the default: the number of
        processors that this process may use (its affinity and the quota of its control groups), at most 64.

    Raises
    ------
    TypeError
        If `n` is neither an int nor None.
    ValueError
        If `n` is out of range.

    Notes
    -----
    Threads are made when a call first needs them and sleep between calls. This function waits until calls of
    other Python threads have finished, and ends threads beyond the new number.
    """
    count = 0 if n is None else whole("n", n, 1, _core.MAX_THREADS, wanted="an int or None")
    _core._set_thread_count(count)


def get_num_threads() -> int:
    """Return the number of threads that one call of skinpy may use, the calling thread included.

    Returns
    -------
    int
        The number that `set_num_threads`, the environment or the default gives.
    """
    return _core._thread_count()


def _read_environment() -> None:
    """Use the number of threads in the environment variable, if it is set; warn if it is not a number."""
    text = os.environ.get(_VARIABLE)
    if text is None:
        return
    count = int(text) if text.isdecimal() and len(text) < 10 else 0
    if 1 <= count <= _core.MAX_THREADS:
        _core._set_thread_count(count)
    else:
        message = f"{_VARIABLE} is {text!r}; expected a whole number from 1 to {_core.MAX_THREADS}"
        # Level 4 is the module that imports skinpy, which imports this module.
        warnings.warn(f"{message}; using {get_num_threads()} threads", SkinpyWarning, stacklevel=4)


_read_environment()
