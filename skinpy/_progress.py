"""Progress of long work: one line on a terminal, which is gone at the end; elsewhere nothing is written."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TextIO, TypeVar

from ._text import printable

Item = TypeVar("Item")

DELAY = 0.5  #: seconds of work before the line appears
_INTERVAL = 0.25  # seconds between two updates
_ESTIMATED = 1.0  # seconds of work before the line says how many are left


@dataclass
class _Work:
    """Something that takes long: how much of it is done, of how much in all."""

    title: str
    total: int | None = None
    done: int = 0
    start: float = field(default_factory=time.monotonic)

    def text(self) -> str:
        """What the line says."""
        seconds = time.monotonic() - self.start
        if not self.total:
            return f"{self.title}: {seconds:.0f} s"
        words = f"{self.title}: {100 * self.done // self.total} % ({self.done} of {self.total})"
        if not self.done or seconds < _ESTIMATED:
            return words
        return f"{words}, {seconds * (self.total - self.done) / self.done:.0f} s left"


class _Line:
    """The line of a terminal, and the work that it tells of. A thread keeps it up to date."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.stack: list[_Work] = []  # the innermost work last, which is shown
        self.owner = threading.get_ident()
        self._lock = threading.Lock()  # held while something is written
        self._width = 0  # of what is written
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_up, name="skinpy-progress", daemon=True)
        self._thread.start()

    def _keep_up(self) -> None:
        wait = DELAY
        with suppress(OSError, ValueError):  # a terminal that was closed
            while not self._ended.wait(wait):
                wait = _INTERVAL
                work = self.stack[-1:]
                if work:
                    self._write(work[0].text())

    def _write(self, text: str) -> None:
        columns = shutil.get_terminal_size().columns - 1
        shown = printable(text)
        if not shown.isascii():  # letters may be two columns wide
            columns //= 2
        shown = shown if len(shown) <= columns else shown[: max(columns - 3, 0)] + "..."
        with self._lock:
            self.stream.write("\r" + shown.ljust(self._width))
            self.stream.flush()
            self._width = len(shown)

    def erase(self) -> None:
        """Leave an empty line, at whose start other text can be written."""
        with self._lock, suppress(OSError, ValueError):
            if self._width:
                self.stream.write("\r" + " " * self._width + "\r")
                self.stream.flush()
            self._width = 0

    def end(self) -> None:
        """Remove the line for good."""
        self._ended.set()
        self._thread.join()
        self.erase()


_line: _Line | None = None  # of the work that runs now; it belongs to the thread that began it


def _terminal() -> TextIO | None:
    """Standard error, if it is a terminal in which a line can be written again."""
    stream = sys.stderr
    if stream is None or os.environ.get("TERM") == "dumb":
        return None
    with suppress(ValueError, OSError):  # a stream that was closed
        if stream.isatty():
            return stream
    return None


@contextmanager
def working(title: str, total: int | None = None) -> Iterator[_Work]:
    """A block of work that may take long; what it yields takes the number of steps that are done."""
    global _line
    work, line = _Work(title, total), _line
    if line is None:
        stream = _terminal()
        if stream is None:
            yield work
            return
        _line = line = _Line(stream)
    elif line.owner != threading.get_ident():  # the line belongs to one thread
        yield work
        return
    depth = len(line.stack)
    line.stack.append(work)
    try:
        yield work
    finally:
        del line.stack[depth:]  # with the work of loops that an error has stopped
        if not line.stack:
            line.end()
            _line = None if _line is line else _line


def shown(items: Iterable[Item], total: int | None, title: str) -> Iterator[Item]:
    """Iterate over items and count them in the line; `total` is None if it is unknown.

    Where an error may stop the loop, it belongs into a block of `working`, which removes the line then.
    """
    with working(title, total) as work:
        for item in items:
            yield item
            work.done += 1


def erase() -> None:
    """Leave an empty line before something else is written to the terminal."""
    if _line is not None:
        _line.erase()
