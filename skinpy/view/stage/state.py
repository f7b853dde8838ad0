"""The lock and the counter of changes that the parts of one stage share."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class SharedState:
    """Any thread may call any method of a stage, so its parts change under one lock.

    `changes` counts the changes: a viewer compares it to see whether there is anything new to draw.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.changes = 0

    @contextmanager
    def change(self) -> Iterator[None]:
        """A block that changes the stage. An error inside counts as no change."""
        with self.lock:
            yield
            self.changes += 1
