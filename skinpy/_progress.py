"""Progress of long work: a bar on a terminal where tqdm is installed, nothing anywhere else."""

import importlib
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Thing = TypeVar("Thing")


def shown(things: Iterable[Thing], total: int | None, what: str) -> Iterator[Thing]:
    """`things`, one after another, counted on standard error; `total` is None where nobody knows it."""
    if sys.stderr is not None and sys.stderr.isatty():
        try:
            bars = importlib.import_module("tqdm")  # by name: it has no types of its own
        except ImportError:
            pass
        else:
            with bars.tqdm(things, desc=what, total=total, leave=False, delay=0.5) as bar:
                yield from bar
            return
    yield from things
