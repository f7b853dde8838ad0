"""Draws the pictures of a live view when the browser asks for them, and passes the browser's events on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._text import html_text
from ..stage import Stage
from ..stage.mending import drop_idle, mend
from .input import Input
from .pace import Pace, reduced

_FPS = 30.0  # at most, while a clip plays: the rest of the time is the notebook's
_MAX_STEP_SECONDS = 0.5  # that the clip moves from one picture to the next, however late that one comes
_REST_SECONDS = 0.25  # after the last movement, until a fine picture replaces a coarse one
_HOLD_SECONDS = 0.4  # after a move of the time slider, in which the clip does not go on by itself
_PANEL_SECONDS = 0.12  # between two updates of the panel while a clip plays: each change is a message
_MAX_SIZE = 4096  # pixels per side, whatever the browser asks for
_LONG_AGO = -1e9  # seconds


class LiveLoop:
    """Joins the parts of a live view: the stage, the canvas in the browser, and the panel below it.

    A picture is drawn only if there is something new, the browser has shown the last one, and the view is in
    sight: the canvas asks for it then. Errors are shown in the panel.
    """

    def __init__(self, stage: Stage, canvas: ModuleType, panel: ModuleType) -> None:
        self.stage = stage
        self.lock = threading.RLock()  #: held while a picture is drawn
        self.closed = False  #: whether the view has been closed
        self._input, self._pace = Input(stage, self._say), Pace()
        self._drawn_at = self._changed_at = self._panel_at = _LONG_AGO  # times of the last of each
        self._held_until = _LONG_AGO  # while the user moves the time slider
        self._ran = False  # whether the clip played when the last picture was drawn
        self._good_overlays = stage.overlays  # with which a picture was drawn
        stage.frame()  # what cannot be drawn raises here, not in the browser
        self.canvas = canvas.Canvas(stage.size, self.draw, self.take)
        self.panel = panel.Panel(stage, self._act, self._hold)

    def refresh(self) -> None:
        """Show what has changed."""
        if self.closed:
            return
        self._changed_at = time.monotonic()
        self.panel.show(time=not self.is_held)
        self.canvas.ask()

    def close(self) -> None:
        """Draw no more."""
        self.closed = True
        self.stage.player.playing = False

    # ---- pictures ---------------------------------------------------------------------------------------

    def draw(self) -> NDArray[np.uint8] | None:
        """The next picture for the browser; None if there is none to show."""
        with self.lock:
            if self.closed:
                return None
            start = time.monotonic()
            try:
                moves = self._advance(start)
                idle = drop_idle(self.stage)
                picture = self._picture(moves, start)
                self._good_overlays = self.stage.overlays
            except Exception as error:
                self._give_up(error)
                return None
            if idle:
                self._show_error(ValueError(idle))
            playing = self.stage.player.playing
            if not playing or start - self._panel_at > _PANEL_SECONDS:
                self._panel_at = start
                self._try(lambda: self.panel.show(time=not self.is_held))
            if playing:
                self.canvas.ask_later(max(0.0, start + 1 / _FPS - time.monotonic()))
            elif moves and not self._pace.is_finest:
                self.canvas.ask_later(_REST_SECONDS)
            return picture

    def _advance(self, now: float) -> bool:
        """Let the time since the last picture pass; returns whether anything moves."""
        if self._ran and not self.is_held:
            self.stage.player.advance(min(now - self._drawn_at, _MAX_STEP_SECONDS))
        playing = self.stage.player.playing
        self._drawn_at, self._ran = now, playing and not self.is_held
        return playing or self._input.dragging or now - self._changed_at < _REST_SECONDS * 0.9

    def _picture(self, moves: bool, start: float) -> NDArray[np.uint8]:
        if not moves:
            return self.stage.frame()
        fraction, samples = self._pace.fineness
        picture = self.stage.frame(size=reduced(self.stage.size, fraction), samples=samples)
        self._pace.took(time.monotonic() - start)
        return picture

    def _give_up(self, error: Exception) -> None:
        """A picture could not be drawn: go on without what fails, or pause if that cannot be taken out."""
        self._show_error(error)
        if mend(self.stage, self._good_overlays):
            self._try(self.refresh)
        else:
            self.stage.player.playing = False
            self._try(self.panel.show)

    # ---- events -----------------------------------------------------------------------------------------

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event of the pointer, the keyboard, or the size of the picture."""
        kind = event["type"]
        if self.closed or kind == "close":
            return
        if kind == "resize":
            self._act(lambda: self._resize(event))
        elif kind == "show":
            # A page that was loaded again does not confirm the pictures that the old page got, and
            # jupyter_rfb waits for that: so one is sent without being asked for.
            picture = self.draw()
            if picture is not None:
                self.canvas.send_frame(picture)
        else:
            if kind in ("pointer_down", "wheel", "key_down"):
                self.panel.show_message("")
            before = self.stage.changes
            self._try(lambda: self._input.take(event))
            if self.stage.changes != before:
                self._try(self.refresh)

    def _resize(self, event: Mapping[str, Any]) -> None:
        self._input.resized(event["height"])
        width, height = (max(round(event[side] * event["ratio"]), 1) for side in ("width", "height"))
        shrink = min(1.0, _MAX_SIZE / max(width, height))
        self.stage.size = max(round(width * shrink), 1), max(round(height * shrink), 1)

    def _act(self, action: Callable[[], object]) -> None:
        """Do what the user asks for in the panel, and show what comes of it."""
        self.panel.show_message("")
        self._try(action)
        self._try(self.refresh)

    def _try(self, action: Callable[[], object]) -> None:
        try:
            action()
        except Exception as error:
            self._show_error(error)

    def _hold(self) -> None:
        self._held_until = time.monotonic() + _HOLD_SECONDS

    @property
    def is_held(self) -> bool:
        """Whether the user is moving the time slider."""
        return time.monotonic() < self._held_until

    def _say(self, text: str) -> None:
        self.panel.show_message(html_text(text))

    def _show_error(self, error: Exception) -> None:
        text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        line = f"{type(error).__name__}: {html_text(text)}"
        self.panel.show_message(f'<span style="color:#c62828">{line}</span>')
