"""The message over the picture of a window: one at a time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from ...errors import SkinpyError

_SECONDS = 4.0  # that a message stays; an error stays until the next key or button

#: What loading, drawing and saving may raise for what a user does.
FAULTS = (SkinpyError, OSError, ValueError, KeyError, IndexError, ImportError, MemoryError)


class Message(NamedTuple):
    """A sentence, whether it is an error, and until when it is shown, in seconds of `time.monotonic`."""

    text: str
    is_error: bool
    until: float


class Messages:
    """Keeps the message that is shown."""

    def __init__(self) -> None:
        self._message: Message | None = None
        self.changes = 0  #: a counter of changes

    @property
    def current(self) -> Message | None:
        """The message to show now, or None."""
        if self._message is not None and self._message.until < time.monotonic():
            self._message = None
        return self._message

    def say(self, text: str) -> None:
        """Show a message for some seconds."""
        self._show(Message(text, False, time.monotonic() + _SECONDS))

    def fail(self, error: BaseException) -> None:
        """Show an error until the next key or button."""
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        self._show(Message(str(text) or type(error).__name__, True, math.inf))

    def _show(self, message: Message) -> None:
        self._message = message
        self.changes += 1

    def forget_error(self) -> None:
        """Hide an error: the user has seen it."""
        if self._message is not None and self._message.is_error:
            self._message = None
            self.changes += 1

    def attempt(self, action: Callable[[], object]) -> None:
        """Do what may fail through no fault of ours, and show the error then."""
        try:
            action()
        except FAULTS as error:
            self.fail(error)
