"""Progress of long work: a bar on a terminal if tqdm is installed, and nothing otherwise."""

import importlib
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ._text import printable

Item = TypeVar("Item")


def shown(items: Iterable[Item], total: int | None, title: str) -> Iterator[Item]:
    """Iterate over items and show the progress on standard error; `total` is None if it is unknown."""
    if sys.stderr is not None and sys.stderr.isatty():
        try:
            bars = importlib.import_module("tqdm")  # by name, because it has no types
        except ImportError:
            pass
        else:
            with bars.tqdm(items, desc=printable(title), total=total, leave=False, delay=0.5) as bar:
                yield from bar
            return
    yield from items
