"""What the pointer and the keys do in the picture of a live view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..controls.actions import Actions
from ..controls.keys import STAGE_KEYS, find_key
from ..controls.overlay_actions import REACH
from ..stage import Stage

_WHEEL_STEP = 100.0  # pixels that a browser scrolls by for one step of a wheel
_LEFT = 1  # number of the button; the others (right 2, middle 3) pan
_CLICK = 4.0  # the browser's pixels: a movement of less, with the button down, is a click and no drag
# Names of keys in browsers, where windows have other names; the others are letters, digits and signs.
_NAMES = {"ArrowLeft": "left", "ArrowRight": "right", "PageDown": "page_down", "PageUp": "page_up"}
_NAMES |= {"Backspace": "backspace", "Home": "home"}


class Input:
    """Turns events of jupyter_rfb into changes of a stage; `say` shows a message to the user.

    A drag with the left button orbits; with the right or the middle button, or with Shift, it pans. The wheel
    zooms to the pointer, and a double click resets the camera. While the skeleton is shown, a click on a
    joint shows its weights. The keys are `STAGE_KEYS`. Errors are raised.
    """

    def __init__(self, stage: Stage, say: Callable[[str], None]) -> None:
        self._stage = stage
        self._actions = Actions(stage, say)
        self._height = float(stage.size[1])  # of the picture, in the browser's pixels, as events are
        self._pointer: tuple[float, float] | None = None  # where the pointer was, while a button is down
        self._traveled = 0.0  # the browser's pixels, since the button went down

    def resized(self, height: float) -> None:
        """The picture has another height in the browser, in the browser's own pixels."""
        self._height = max(float(height), 1.0)

    @property
    def dragging(self) -> bool:
        """Whether a button is down."""
        return self._pointer is not None

    def take(self, event: Mapping[str, Any]) -> None:
        """Do what an event asks for."""
        act = _ACTS.get(event["type"])
        if act is not None:
            act(self, event)

    def _down(self, event: Mapping[str, Any]) -> None:
        self._pointer, self._traveled = (event["x"], event["y"]), 0.0

    def _up(self, event: Mapping[str, Any]) -> None:
        self._move(event)  # the browser may leave out the last movement before a release
        pointer, self._pointer = self._pointer, None
        is_click = event["button"] == _LEFT and self._traveled < _CLICK
        if pointer is not None and is_click and self._shows_joints:
            scale = self._scale
            self._actions.overlays.pick(pointer[0] * scale, pointer[1] * scale, REACH * scale)

    @property
    def _shows_joints(self) -> bool:
        overlays = self._stage.overlays
        return overlays is not None and (overlays.skeleton or overlays.weights is not None)

    def _move(self, event: Mapping[str, Any]) -> None:
        if self._pointer is None:
            return
        dx, dy = event["x"] - self._pointer[0], event["y"] - self._pointer[1]
        if dx or dy:
            self._pointer, self._traveled = (event["x"], event["y"]), self._traveled + abs(dx) + abs(dy)
            orbits = event["button"] == _LEFT and "Shift" not in event["modifiers"]
            move = self._stage.rig.orbit if orbits else self._stage.rig.pan
            move(dx * self._scale, dy * self._scale)

    def _wheel(self, event: Mapping[str, Any]) -> None:
        scale = self._scale
        self._stage.rig.zoom(-event["dy"] / _WHEEL_STEP, event["x"] * scale, event["y"] * scale)

    def _double_click(self, event: Mapping[str, Any]) -> None:
        self._actions.reset_camera()

    def _key(self, event: Mapping[str, Any]) -> None:
        name = event["key"]
        name = _NAMES.get(name, name if len(name) == 1 else "")
        key = find_key(STAGE_KEYS, name)
        if key is not None and not {"Control", "Alt", "Meta"} & set(event["modifiers"]):
            key.act(self._actions, name)

    @property
    def _scale(self) -> float:
        """Pixels of the stage per pixel of the browser."""
        return self._stage.size[1] / self._height


_ACTS = {
    "pointer_down": Input._down,
    "pointer_move": Input._move,
    "pointer_up": Input._up,
    "wheel": Input._wheel,
    "double_click": Input._double_click,
    "key_down": Input._key,
}
