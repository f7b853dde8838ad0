"""Steps that Ctrl-C must not cut in two."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def undisturbed() -> Iterator[None]:
    """A block in which Ctrl-C waits: its handler is called at the end, and may raise there.

    For what the system hands out by number, a process or a descriptor: Python would look for signals between
    the system's answer and the object that holds it, and nobody would know the number. It should be short.
    """
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield  # handlers are called in the main thread alone
        return
    waiting: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if waiting:
            usual(*waiting[0])
