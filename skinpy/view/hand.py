"""What a hand does to a picture in a browser, as jupyter_rfb tells it, and what that does to a stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .stage import Stage

_NOTCH = 100.0  # pixels that a browser scrolls by for one step of a wheel
_LEFT = 1  # number of the button; the others (right 2, middle 3) pan
_KEY_FPS = 30.0  # frames that the arrow keys go by


class Hand:
    """Drags, the wheel and keys, as moves of a stage's camera and time.

    A drag with the left button orbits, with the right or the middle one, or with Shift, it pans; the wheel
    zooms to the pointer; a double click resets the camera. Space plays and stops, the arrow keys step.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._height = float(stage.size[1])  # of the picture in the browser's pixels, in which events are
        self._at: tuple[float, float] | None = None  # where the pointer was, while a button is down

    def resized(self, height: float) -> None:
        """The picture is so high in the browser now, in the browser's own pixels."""
        self._height = max(float(height), 1.0)

    @property
    def dragging(self) -> bool:
        """Whether a button is down."""
        return self._at is not None

    def take(self, event: Mapping[str, Any]) -> bool:
        """Do what an event says; whether that changed the stage."""
        act = _ACTS.get(event["type"])
        before = self._stage.changes
        if act is not None:
            act(self, event)
        return self._stage.changes != before

    def _down(self, event: Mapping[str, Any]) -> None:
        self._at = (event["x"], event["y"])

    def _up(self, event: Mapping[str, Any]) -> None:
        self._at = None

    def _move(self, event: Mapping[str, Any]) -> None:
        if self._at is None:
            return
        scale = self._scale
        dx, dy = (event["x"] - self._at[0]) * scale, (event["y"] - self._at[1]) * scale
        if dx or dy:
            self._at = (event["x"], event["y"])
            turns = event["button"] == _LEFT and "Shift" not in event["modifiers"]
            (self._stage.orbit if turns else self._stage.pan)(dx, dy)

    def _wheel(self, event: Mapping[str, Any]) -> None:
        scale = self._scale
        self._stage.zoom(-event["dy"] / _NOTCH, event["x"] * scale, event["y"] * scale)

    def _double(self, event: Mapping[str, Any]) -> None:
        self._stage.reset_camera()

    def _key(self, event: Mapping[str, Any]) -> None:
        stage, key = self._stage, event["key"]
        if key == " ":
            stage.playing = not stage.playing
        elif key in ("ArrowLeft", "ArrowRight"):
            stage.step(1 if key == "ArrowRight" else -1, _KEY_FPS)

    @property
    def _scale(self) -> float:
        """Pixels of the stage in one of the browser's."""
        return self._stage.size[1] / self._height


_ACTS = {
    "pointer_down": Hand._down,
    "pointer_move": Hand._move,
    "pointer_up": Hand._up,
    "wheel": Hand._wheel,
    "double_click": Hand._double,
    "key_down": Hand._key,
}
