"""The picture of a live view in the browser: a widget of jupyter_rfb that draws when there is something new.

Front ends run callbacks in the kernel's main thread or in other threads (JupyterLab 4 with ipykernel 7 does
both, one after the other), each with its own asyncio loop. Pictures are requested in the loop that got the
last message: while a cell blocks the main thread, the picture keeps moving if messages arrive elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from IPython.utils.capture import capture_output
from jupyter_rfb import RemoteFrameBuffer
from numpy.typing import NDArray
from traitlets import Dict

Frame = NDArray[np.uint8]

_BORDER = 1  # pixels that jupyter_rfb draws inside its size


class Canvas(RemoteFrameBuffer):  # type: ignore[misc]  # without types
    """Shows the pictures that `draw` returns: one per request, after the browser has shown the last one.

    `take` gets the events of the browser. Neither may raise; `draw` may return None for no picture.
    """

    # As in jupyter_rfb, but a confirmation of the browser is not sent back to it thirty times a second.
    _frame_feedback = Dict({}).tag(sync=True, echo_update=False)

    def __init__(
        self,
        size: tuple[int, int],
        draw: Callable[[], Frame | None],
        take: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._draw, self._take = draw, take
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        # The widget displays an area for errors above the view; a view shows errors itself, inside.
        with capture_output(stdout=True, stderr=False, display=True):
            super().__init__(
                css_width=f"{size[0] + 2 * _BORDER}px", css_height=f"{size[1] + 2 * _BORDER}px", cursor="grab"
            )
        self.observe(self._note_loop, names=["_frame_feedback", "_has_visible_views"])

    # ---- called by jupyter_rfb -----------------------------------------------------------------------

    def get_frame(self) -> Frame | None:
        """The next picture for the browser."""
        return self._draw()

    def handle_event(self, event: dict[str, Any]) -> None:
        """Take an event of the browser."""
        self._note_loop()
        self._take(event)

    # ---- called by a view --------------------------------------------------------------------------

    def ask(self) -> None:
        """Request a picture as soon as the browser is ready for it. Any thread may call this."""
        self._in_loop(self.request_draw)

    def ask_later(self, seconds: float) -> None:
        """Request a picture in some seconds, in place of an earlier request for later."""
        self._in_loop(self._set_timer, seconds)

    def _set_timer(self, seconds: float) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no loop would run the timer
            return
        if self._closed:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(seconds, self.request_draw)

    def close(self, *args: Any, **options: Any) -> None:
        """Remove the picture from the browser."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self.request_draw()  # cancels the lossless picture that jupyter_rfb would still send
        super().close(*args, **options)

    def _note_loop(self, *_: Any) -> None:
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    def _in_loop(self, function: Callable[..., None], *arguments: Any) -> None:
        try:
            running: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if self._loop is not None and self._loop is not running and self._loop.is_running():
            try:
                self._loop.call_soon_threadsafe(function, *arguments)
            except RuntimeError:  # that loop has been closed
                self._loop = None
            else:
                return
        function(*arguments)
