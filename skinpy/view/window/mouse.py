"""What the mouse does in a window: it orbits and pans, scrubs the time bar, and picks joints."""

from __future__ import annotations

from ..controls.actions import Actions
from ..controls.overlay_actions import REACH
from .messages import Messages
from .panels import Bar

_CLICK = 4.0  # points: a movement of less, with the button down, is a click and no drag

#: What the mouse does, as rows of the help.
MOUSE_HELP = (
    ("Drag", "orbit"),
    ("Shift drag", "pan; also with the middle or right button"),
    ("Wheel", "zoom"),
    ("Click", "weights of a joint"),
    ("Drop a file", "show that file"),
)


class Mouse:
    """Turns events of the mouse into changes of a stage.

    Positions are pixels of the picture, from its left and top; `scale` is the number of pixels per point.
    """

    def __init__(self, actions: Actions, messages: Messages) -> None:
        self._actions, self._messages = actions, messages
        self._stage = actions.stage
        self.scale = 1.0
        #: What a drag does now: "orbit", "pan" or "scrub"; None while no button is down.
        self.drag: str | None = None
        self._last = self._pressed = (0.0, 0.0)

    def bar(self) -> Bar:
        """The time bar, where it lies now."""
        return Bar(self._stage.size, self.scale)

    def button_down(self, x: float, y: float, button: str = "left", shift: bool = False) -> None:
        """A button is pressed: "left", "middle" or "right"."""
        self._messages.forget_error()
        self._last = self._pressed = (x, y)
        bar = self.bar()
        if button == "left" and bar.has(y):
            if bar.is_button(x, y):
                self._actions.play_or_pause()
            else:
                self.drag = "scrub"
                self._scrub(x)
        elif button == "left" and not shift:
            self.drag = "orbit"
        else:
            self.drag = "pan"

    def move(self, x: float, y: float) -> None:
        """The mouse has moved to (x, y)."""
        dx, dy = x - self._last[0], y - self._last[1]
        self._last = (x, y)
        if self.drag == "orbit":
            self._stage.rig.orbit(dx, dy)
        elif self.drag == "pan":
            self._stage.rig.pan(dx, dy)
        elif self.drag == "scrub":
            self._scrub(x)

    def button_up(self, x: float, y: float) -> None:
        """The button is released; if the mouse has hardly moved, that was a click."""
        moved = max(abs(x - self._pressed[0]), abs(y - self._pressed[1]))
        if self.drag == "orbit" and moved < _CLICK * self.scale:
            self._messages.attempt(lambda: self._actions.overlays.pick(x, y, REACH * self.scale))
        self.drag = None

    def scroll(self, steps: float, x: float, y: float) -> None:
        """The wheel has turned; on the time bar it steps frame by frame."""
        if self.bar().has(y):
            self._stage.player.step(round(steps) or (1 if steps > 0 else -1))
        else:
            self._stage.rig.zoom(steps, x, y)

    def _scrub(self, x: float) -> None:
        self._stage.player.seek(self.bar().fraction(x) * self._stage.player.duration)
