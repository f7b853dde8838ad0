"""Steps that Ctrl-C must not cut in two, and such that must not swallow it."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_Handler = Callable[[int, FrameType | None], object]


def _handler() -> _Handler | None:
    """Of Ctrl-C; None where it has none that this thread calls (the main thread alone calls handlers)."""
    usual = signal.getsignal(signal.SIGINT)
    return usual if callable(usual) and threading.current_thread() is threading.main_thread() else None


@contextmanager
def undisturbed() -> Iterator[None]:
    """A block in which Ctrl-C waits: its handler is called at the end, and may raise there.

    For what the system hands out by number, a process or a descriptor: Python would look for signals between
    the system's answer and the object that holds it, and nobody would know the number. It should be short.
    """
    usual = _handler()
    if usual is None:
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if waiting:
            usual(*waiting[0])


@contextmanager
def answered() -> Iterator[None]:
    """A block that Ctrl-C ends, whatever becomes of KeyboardInterrupt on its way out of it.

    For libraries whose compiled code calls Python and makes an error of its own of what that raises, or none.
    """
    usual = _handler()
    if usual is None:
        yield
        return
    raised: list[BaseException] = []

    def hear(number: int, frame: FrameType | None) -> None:
        try:
            usual(number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    try:
        signal.signal(signal.SIGINT, hear)
        yield
    except BaseException as error:
        if raised and error not in raised:
            raise raised[0] from error
        raise
    finally:
        signal.signal(signal.SIGINT, usual)
    if raised:
        raise raised[0]
