"""Code that Ctrl-C must not interrupt, and code that must not swallow it."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_Handler = Callable[[int, FrameType | None], object]


def _handler() -> _Handler | None:
    """The handler of Ctrl-C, or None. Only the main thread calls handlers, so other threads have None."""
    handler = signal.getsignal(signal.SIGINT)
    return handler if callable(handler) and threading.current_thread() is threading.main_thread() else None


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, where its handler is called and may raise.

    This is for a process or a file descriptor, which the system returns as a number. Python could handle a
    signal before an object holds the number, and the process or descriptor would be lost. The block should
    be short.
    """
    handler = _handler()
    if handler is None:
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if waiting:
            handler(*waiting[0])


@contextmanager
def answered() -> Iterator[None]:
    """Let Ctrl-C end the block with KeyboardInterrupt, even if code in the block replaces the exception.

    This is for libraries whose compiled code calls Python and replaces what that raises by another error, or
    ignores it.
    """
    handler = _handler()
    if handler is None:
        yield
        return
    raised: list[BaseException] = []

    def record(number: int, frame: FrameType | None) -> None:
        try:
            handler(number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    try:
        signal.signal(signal.SIGINT, record)
        yield
    except BaseException as error:
        if raised and error not in raised:
            raise raised[0] from error
        raise
    finally:
        signal.signal(signal.SIGINT, handler)
    if raised:
        raise raised[0]
