"""What keys, the mouse and files do in a window. This module knows no window system, and draws nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..controls.actions import Actions
from ..controls.keys import STAGE_KEYS, Key, find_key
from ..source import Source
from ..stage import Stage
from ..stage.mending import drop_idle, mend
from .files import WindowFiles
from .messages import Messages
from .mouse import MOUSE_HELP, Mouse
from .panels import BarState, message_image, panel

if TYPE_CHECKING:
    from .screen import Layer

_PANEL_MARGIN = 12  # points


class Controls:
    """Joins the parts of a window's input: keys, `mouse`, `files` and `messages`.

    Positions are pixels of the picture, from its left and top; `scale` is the number of pixels per point.
    """

    def __init__(self, stage: Stage, source: Source | None = None) -> None:
        self.stage = stage
        self.messages = Messages()
        self.actions = Actions(stage, self.messages.say)
        self.mouse = Mouse(self.actions, self.messages)
        self.files = WindowFiles(self.actions, source, self.messages)
        self.closing = False  #: whether the window is to be closed
        self.full_screen = False  #: whether the window is to fill the screen
        self.helping = False  #: whether the panel with the keys is shown
        self._presses = 0  # of keys
        self._drawn = stage.overlays  # those of the last picture, or the first

    @property
    def scale(self) -> float:
        """Pixels per point."""
        return self.mouse.scale

    @scale.setter
    def scale(self, value: float) -> None:
        self.mouse.scale = value

    @property
    def changes(self) -> tuple[object, ...]:
        """A value that differs when there may be something new to draw."""
        return self.stage.changes, self.messages.changes, self.messages.current is not None, self._presses

    # ---- what happens -----------------------------------------------------------------------------------

    def press(self, name: str) -> bool:
        """Do what a key does, given its letter or a name such as "page_up"; whether the key does anything."""
        for keys, target in ((STAGE_KEYS, self.actions), (WINDOW_KEYS, self)):
            key = find_key(keys, name)
            if key is not None:
                self._do(key, target, name)
                return True
        return False

    def _do(self, key: Key, target: object, name: str) -> None:
        self.messages.forget_error()
        self.messages.attempt(lambda: key.act(target, name))
        self._presses += 1

    def advance(self, seconds: float) -> None:
        """Let time pass; while the user drags the time bar, it stands still."""
        if self.mouse.drag != "scrub":
            self.stage.player.advance(seconds)

    def escape(self) -> None:
        """Close the panel, leave the full screen, or close the window."""
        if self.helping:
            self.helping = False
        elif self.full_screen:
            self.full_screen = False
        else:
            self.closing = True

    def close(self) -> None:
        """Close the window."""
        self.closing = True

    def toggle_help(self) -> None:
        """Show or hide the panel with the keys."""
        self.helping = not self.helping

    def toggle_full_screen(self) -> None:
        """Fill the screen, or go back to a window."""
        self.full_screen = not self.full_screen

    # ---- what is drawn ----------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The title of the window."""
        source = self.files.source
        name = "skinpy" if source is None else f"{source.path.name} - skinpy"
        return f"{self.stage.player.clip_name} - {name}"

    def take_picture(self, out: NDArray[np.uint8], samples: int | None) -> None:
        """Draw the stage into `out`.

        What cannot be drawn, such as an overlay, is taken out, and an error says why. Raises what
        `Stage.frame` raises if nothing that can be taken out is to blame.
        """
        stage = self.stage
        idle = drop_idle(stage)
        try:
            stage.frame(out, samples=samples)
        except Exception as error:
            if not mend(stage, self._drawn):
                raise
            self.messages.fail(error)
            stage.frame(out, samples=samples)
        else:
            if idle:
                self.messages.fail(ValueError(idle))
        self._drawn = stage.overlays

    def layers(self) -> list[Layer]:
        """What lies over the picture: the time bar, the message at the top, and the panel between the two."""
        bar, scale, width = self.mouse.bar(), self.scale, self.stage.size[0]
        layers: list[Layer] = [(bar.draw(self._bar_state()), 0, bar.top)]
        message, top = self.messages.current, 0
        if message is not None and bar.top > 0:
            image = message_image(message.text, scale, width, message.is_error)[: bar.top]
            layers.append((image, 0, 0))
            top = len(image)
        margin = round(_PANEL_MARGIN * scale)
        room = width - 2 * margin, bar.top - top - 2 * margin
        if self.helping and min(room) > 0:
            rows = tuple((key.shown, key.help) for key in KEYS) + MOUSE_HELP
            layers.append((panel(rows, scale, room), margin, top + margin))
        return layers

    def _bar_state(self) -> BarState:
        stage, player = self.stage, self.stage.player
        fraction = player.position / player.duration if player.duration > 0 else 0.0
        number = "" if stage.number is None else f"{stage.number + 1}/{len(stage.clips)} "
        joint = None if stage.overlays is None else stage.overlays.weights
        weights = "" if joint is None else f"   weights of {self.actions.overlays.joint_name(joint)}"
        right = f"{player.time_label}   speed {player.speed:g}   {player.loop}   H: keys"
        return BarState(fraction, player.playing, f"{number}{player.clip_name}{weights}", right)


#: Keys that only windows have; they act on `Controls`.
WINDOW_KEYS = (
    Key(
        ("p",),
        "P",
        "save a picture (.png) in the current folder",
        lambda controls, _: controls.files.save_picture(controls.stage.frame()),
    ),
    Key(("f11",), "F11", "full screen", lambda controls, _: controls.toggle_full_screen()),
    Key(("h", "?", "f1"), "H", "show or hide this help", lambda controls, _: controls.toggle_help()),
    Key(("q",), "Q", "close the window", lambda controls, _: controls.close()),
    Key(("escape",), "Escape", "close help, full screen or window", lambda controls, _: controls.escape()),
)
#: All keys of a window, in the order of its help.
KEYS = (*STAGE_KEYS, *WINDOW_KEYS)
