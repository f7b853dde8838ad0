"""What a hand does to a picture in a browser, as jupyter_rfb tells it, and what that does to a stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .stage import Stage
from .window_controls import Controls

_NOTCH = 100.0  # pixels that a browser scrolls by for one step of a wheel
_LEFT = 1  # number of the button; the others (right 2, middle 3) pan
_CLICK = 4.0  # the browser's pixels: what moves less with a button down is no drag
# Keys as browsers call them, where windows have other names; the others are letters, digits and signs.
_NAMES = {"ArrowLeft": "left", "ArrowRight": "right", "PageDown": "page_down", "PageUp": "page_up"}
_NAMES |= {"Backspace": "backspace", "Home": "home"}
_FOREIGN = frozenset("pPhHqQ?")  # files, panels and windows are not here


class _Keys(Controls):
    """What keys and clicks do in windows; errors go on to who asked."""

    def __init__(self, stage: Stage, say: Callable[[str], None]) -> None:
        super().__init__(stage)
        self._say = say

    def say(self, words: str, error: bool = False) -> None:
        """Tell it in the view."""
        self._say(words)

    def fail(self, error: BaseException) -> None:
        """The view shows errors itself."""
        raise error


class Hand:
    """Drags, clicks, the wheel and keys, as changes of a stage; `say` is told what they found.

    A drag with the left button orbits, with the right or the middle one, or with Shift, it pans; the wheel
    zooms to the pointer; a double click resets the camera. Where the skeleton is shown, a click on a joint
    shows its weights. Keys are those of windows.
    """

    def __init__(self, stage: Stage, say: Callable[[str], None]) -> None:
        self._stage = stage
        self._keys = _Keys(stage, say)
        self._height = float(stage.size[1])  # of the picture in the browser's pixels, in which events are
        self._at: tuple[float, float] | None = None  # where the pointer was, while a button is down
        self._travelled = 0.0  # since it went down, the browser's pixels

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
        self._at, self._travelled = (event["x"], event["y"]), 0.0

    def _up(self, event: Mapping[str, Any]) -> None:
        self._move(event)  # the last moves may come after it, and are then told by it alone
        at, self._at = self._at, None
        overlays = self._stage.overlays
        shown = overlays is not None and (overlays.skeleton or overlays.weights is not None)
        if at is not None and shown and event["button"] == _LEFT and self._travelled < _CLICK:
            self._keys.scale = self._scale
            self._keys.pick(at[0] * self._scale, at[1] * self._scale)

    def _move(self, event: Mapping[str, Any]) -> None:
        if self._at is None:
            return
        dx, dy = event["x"] - self._at[0], event["y"] - self._at[1]
        if dx or dy:
            self._at, self._travelled = (event["x"], event["y"]), self._travelled + abs(dx) + abs(dy)
            turns = event["button"] == _LEFT and "Shift" not in event["modifiers"]
            (self._stage.orbit if turns else self._stage.pan)(dx * self._scale, dy * self._scale)

    def _wheel(self, event: Mapping[str, Any]) -> None:
        scale = self._scale
        self._stage.zoom(-event["dy"] / _NOTCH, event["x"] * scale, event["y"] * scale)

    def _double(self, event: Mapping[str, Any]) -> None:
        self._stage.reset_camera()

    def _key(self, event: Mapping[str, Any]) -> None:
        key = event["key"]
        name = _NAMES.get(key, key if len(key) == 1 and key not in _FOREIGN else None)
        if name is not None and not {"Control", "Alt", "Meta"} & set(event["modifiers"]):
            self._keys.press(name)

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
