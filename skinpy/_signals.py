"""Code that signals must not interrupt, and code that must not swallow what they raise."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_Handler = Callable[[int, FrameType | None], object]

#: Signals that ask a process to end: its service or its batch system stops, or its terminal is closed.
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def _handler(number: int) -> _Handler | None:
    """The handler of a signal, or None. Only the main thread calls handlers, so other threads have None."""
    handler = signal.getsignal(number)
    return handler if callable(handler) and threading.current_thread() is threading.main_thread() else None


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delay Ctrl-C and its like until the end of the block, where the handler is called and may raise.

    This is for a process or a file descriptor, which the system returns as a number. Python could handle a
    signal before an object holds the number, and the process or descriptor would be lost. The block should
    be short.
    """
    handlers = {number: handler for number in (*_ENDING, signal.SIGINT) if (handler := _handler(number))}
    waiting: dict[int, FrameType | None] = {}
    for number in handlers:
        signal.signal(number, waiting.__setitem__)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in [number for number in handlers if number in waiting][:1]:
            handlers[number](number, waiting[number])


@contextmanager
def cleaned_up() -> Iterator[None]:
    """Let the block clean up before SIGTERM or SIGHUP ends the process, as they would at once.

    The signal raises SystemExit in the block. After the block, whatever became of that, the process ends by
    the signal. Only the main thread can do so, and only for signals that have no handler and are not ignored.
    A handler that is set within the block stays, and a process that is forked there has nothing to clean up.
    """
    process = os.getpid()
    main = threading.current_thread() is threading.main_thread()
    numbers = [number for number in _ENDING if main and signal.getsignal(number) == signal.SIG_DFL]
    heard: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() != process:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        heard.append(number)
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)  # a second signal must not disturb the cleaning
        raise SystemExit(128 + number)  # as shells report the end by a signal

    try:
        for number in numbers:
            signal.signal(number, end)
        yield
    finally:
        for number in numbers:
            if heard or signal.getsignal(number) is end:
                signal.signal(number, signal.SIG_DFL)
        if heard:
            signal.raise_signal(heard[0])


@contextmanager
def answered() -> Iterator[None]:
    """Let Ctrl-C end the block with KeyboardInterrupt, even if code in the block replaces the exception.

    This is for libraries whose compiled code calls Python and replaces what that raises by another error, or
    ignores it.
    """
    handler = _handler(signal.SIGINT)
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
