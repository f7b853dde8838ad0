"""What keys, buttons and files do in a window. It knows no window system, and draws nothing itself."""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import PathLike
from ..errors import SkinpyError
from ..output import save_picture
from ..render import Overlays
from .hud import Bar, Playing, note, panel
from .source import Source
from .stage import LOOPS, Stage

if TYPE_CHECKING:
    from .screen import Layer

_SPEEDS = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0)
_VIEWS = ((0.0, 0.0), (90.0, 0.0), (180.0, 0.0), (-90.0, 0.0), (0.0, 90.0))  # front, left, back, right, top
_GHOSTS = (0, 1, 2, 4)
_CLICK = 4.0  # points: what moves less with a button down is no drag
_REACH = 14.0  # points between a click and the joint that it means
_SECONDS = 4.0  # that a message stays; errors stay until the next key or button
# What loading, drawing and saving may raise for what a user does.
_FAULTS = (SkinpyError, OSError, ValueError, KeyError, IndexError, ImportError, MemoryError)


class Key(NamedTuple):
    """A row of the table of keys: the names that mean it, as it is shown, what it does."""

    names: tuple[str, ...]
    shown: str
    words: str
    act: Callable[[Controls, str], None]


class Controls:
    """Turns keys, buttons and dropped files into changes of a stage, and says what lies over the picture.

    Places are pixels of the picture, from its left and top; `scale` is how many of them make a point.
    """

    def __init__(self, stage: Stage, source: Source | None = None) -> None:
        self.stage = stage
        self.source = source
        self.scale = 1.0  #: pixels per point
        self.closing = False  #: whether the window is to go
        self.full_screen = False  #: whether it is to fill the screen
        self.helping = False  #: whether the keys are shown
        self.grab: str | None = None  #: what a drag does now: "orbit", "pan", "scrub" or nothing
        self.joint: int | None = None  #: the joint that was clicked, or whose weights were last shown
        self._last = self._pressed = (0.0, 0.0)
        self._view = -1
        self._drawn: Overlays | None = None  # those of the last picture
        self._message: tuple[str, bool, float] | None = None  # words, error, until
        self._coming: Callable[[], None] | None = None  # what takes long, and has been announced
        self._changes = 0

    # ---- what is to be drawn ------------------------------------------------------------------------

    @property
    def changes(self) -> tuple[int, int, bool]:
        """Another value when there is something new to draw."""
        if self._message is not None and self._message[2] < time.monotonic():
            self._message = None
        return self.stage.changes, self._changes, self._message is not None

    @property
    def title(self) -> str:
        """Of the window."""
        name = "skinpy" if self.source is None else f"{self.source.path.name} - skinpy"
        return f"{self.stage.clip_name} - {name}"

    def bar(self) -> Bar:
        """Where the bar lies."""
        return Bar(self.stage.size, self.scale)

    def take_picture(self, out: NDArray[np.uint8], samples: int | None) -> None:
        """Have the stage drawn into `out`. Where overlays ask for what is not there, those before come back,
        and the reason is shown. Raises what `Stage.frame` raises for other reasons."""
        stage = self.stage
        try:
            stage.frame(out, samples=samples)
        except _FAULTS as error:
            if not stage.overlays:
                raise
            self.fail(error)
            stage.overlays = self._drawn if self._drawn != stage.overlays else None
            self.take_picture(out, samples)
        else:
            self._drawn = stage.overlays

    def layers(self) -> list[Layer]:
        """What lies over the picture, the lowest first."""
        stage, bar = self.stage, self.bar()
        layers: list[Layer] = [(bar.draw(self._playing()), 0, bar.top)]
        width, edge = stage.size[0], round(12 * self.scale)
        if self.helping:
            rows = tuple((key.shown, key.words) for key in KEYS) + MOUSE
            image = panel(rows, self.scale, (max(width - 2 * edge, 1), max(bar.top - 2 * edge, 1)))
            layers.append((image, edge, edge))
        if self._message is not None:
            words, error, _ = self._message
            layers.append((note(words, self.scale, width, error), 0, 0))
        return layers

    def _playing(self) -> Playing:
        stage = self.stage
        share = stage.position / stage.duration if stage.duration > 0 else 0.0
        number = "" if stage.number is None else f"{stage.number + 1}/{len(stage.clips)} "
        weights = None if stage.overlays is None else stage.overlays.weights
        shown = "" if weights is None else f"   weights of {self._joint_name(weights)}"
        right = f"{stage.time_label}   speed {stage.speed:g}   {stage.loop}   H: keys"
        return Playing(share, stage.playing, f"{number}{stage.clip_name}{shown}", right)

    def say(self, words: str, error: bool = False) -> None:
        """Show a message over the picture."""
        self._message = (words, error, float("inf") if error else time.monotonic() + _SECONDS)
        self._changes += 1

    # ---- keys ---------------------------------------------------------------------------------------

    def press(self, name: str) -> bool:
        """A key by its name (its letter, or such as "page_up"); whether it means anything."""
        key = _BY_NAME.get(name) or _BY_NAME.get(name.lower())
        if key is None:
            return False
        self._forget_error()
        self._attempt(lambda: key.act(self, name))
        self._changes += 1
        return True

    def _attempt(self, act: Callable[[], None]) -> None:
        """Do something that may fail through no fault of ours, and say so then."""
        try:
            act()
        except _FAULTS as error:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """Show an error."""
        words = error.args[0] if isinstance(error, KeyError) and error.args else error
        self.say(str(words) or type(error).__name__, error=True)

    def _forget_error(self) -> None:
        if self._message is not None and self._message[1]:
            self._message = None
            self._changes += 1

    def play_or_pause(self) -> None:
        """The other of the two."""
        self.stage.playing = not self.stage.playing

    def escape(self) -> None:
        """Out of the panel, out of the full screen, or out of the window."""
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
        """Show the keys, or hide them."""
        self.helping = not self.helping

    def toggle_full_screen(self) -> None:
        """Fill the screen, or no more."""
        self.full_screen = not self.full_screen

    def toggle_floor(self) -> None:
        """With or without a floor."""
        self.stage.floor = not self.stage.floor

    def choose(self, number: int) -> None:
        """A clip by its number from 0 on; -1 is the rest pose."""
        if number < 0:
            self.stage.rest()
        elif number < len(self.stage.clips):
            self.stage.choose(number)
        else:
            self.say(f"there is no clip {number + 1}: {len(self.stage.clips)} in this file")
        self._changes += 1

    def next_clip(self, step: int) -> None:
        """The clip so many places further in the list, which goes round."""
        count = len(self.stage.clips)
        if count:
            number = self.stage.number
            self.choose((number + step) % count if number is not None else (0 if step > 0 else count - 1))

    def faster(self, step: int) -> None:
        """The next speed up or down, in the direction in which it plays."""
        speed = self.stage.speed
        if step > 0:
            found = next((one for one in _SPEEDS if one > abs(speed) + 1e-9), _SPEEDS[-1])
        else:
            found = next((one for one in reversed(_SPEEDS) if one < abs(speed) - 1e-9), _SPEEDS[0])
        self.stage.speed = -found if speed < 0 else found

    def reverse(self) -> None:
        """Play the other way round."""
        self.stage.speed = -self.stage.speed

    def usual(self) -> None:
        """At its own speed, from its start."""
        self.stage.speed = 1.0
        self.stage.seek(0.0)

    def next_loop(self) -> None:
        """The next loop mode."""
        self.stage.loop = LOOPS[(LOOPS.index(self.stage.loop) + 1) % len(LOOPS)]

    def next_view(self) -> None:
        """From the front, the model's left, its back, its right, from above."""
        self._view = (self._view + 1) % len(_VIEWS)
        self.stage.look(*_VIEWS[self._view])

    def reset_camera(self) -> None:
        """The camera as at first."""
        self._view = -1
        self.stage.reset_camera()

    # ---- overlays -----------------------------------------------------------------------------------

    def change(self, **values: Any) -> None:
        """Set fields of the overlays; what cannot be together with them goes."""
        if values.get("influences"):
            values["weights"] = None
        elif values.get("weights") is not None:
            values["influences"] = False
        self.stage.overlays = dataclasses.replace(self.stage.overlays or Overlays(), **values)

    def toggle(self, name: str) -> None:
        """The other value of a field of the overlays that is True or False."""
        self.change(**{name: not getattr(self.stage.overlays, name, False)})

    def next_ghosts(self) -> None:
        """More ghosts before and after the pose, then none."""
        now = getattr(self.stage.overlays, "onion", 0)
        self.change(onion=next((count for count in _GHOSTS if count > now), 0))

    def next_weights(self, step: int) -> None:
        """The weights of the next joint that has any; after the last, none."""
        joints = np.unique(self.stage.model.skin.joints).tolist()
        if not joints:
            raise ValueError("this model has no joints that move vertices")
        shown = getattr(self.stage.overlays, "weights", None)
        if shown is None:
            start = 0 if step > 0 else len(joints) - 1
            number = joints.index(self.joint) if self.joint in joints else start
        else:
            number = joints.index(self.joint) + step if self.joint in joints else 0
        on = 0 <= number < len(joints)
        self.joint = joints[number] if on else None
        self.change(weights=self.joint)

    def toggle_trajectory(self) -> None:
        """The way of the joint that was clicked or whose weights are shown."""
        if self.joint is None:
            self.say("click on a joint first, or show the weights of one by K")
            return
        ways = getattr(self.stage.overlays, "trajectories", ())
        rest = tuple(way for way in ways if way != self.joint)
        self.change(trajectories=rest if len(rest) < len(ways) else (*ways, self.joint))

    def pick(self, x: float, y: float) -> None:
        """Show the weights of the joint at a place; none, where they are shown already or nothing is near."""
        joint = self.stage.joint_at(x, y, _REACH * self.scale)
        shown = getattr(self.stage.overlays, "weights", None)
        if joint is None and shown is None:
            return
        off = joint is None or (joint == self.joint and shown is not None)
        self.joint = joint
        self.change(weights=None if off else joint)
        if joint is not None:
            self.say(f"joint {joint}: {self._joint_name(joint)}")

    def _joint_name(self, joint: str | int) -> str:
        names = self.stage.model.skeleton.names
        return names[joint] if isinstance(joint, int) and 0 <= joint < len(names) else str(joint)

    # ---- the mouse ----------------------------------------------------------------------------------

    def button_down(self, x: float, y: float, button: str = "left", shift: bool = False) -> None:
        """A button of the mouse goes down: "left", "middle" or "right"."""
        self._forget_error()
        self._last = self._pressed = (x, y)
        bar = self.bar()
        if button == "left" and bar.has(y):
            if bar.is_button(x, y):
                self.play_or_pause()
            else:
                self.grab = "scrub"
                self._scrub(x)
        elif button == "left" and not shift:
            self.grab = "orbit"
        else:
            self.grab = "pan"

    def move(self, x: float, y: float) -> None:
        """The mouse moves."""
        dx, dy = x - self._last[0], y - self._last[1]
        self._last = (x, y)
        if self.grab == "orbit":
            self.stage.orbit(dx, dy)
        elif self.grab == "pan":
            self.stage.pan(dx, dy)
        elif self.grab == "scrub":
            self._scrub(x)

    def button_up(self, x: float, y: float) -> None:
        """The button goes up; where the mouse has hardly moved, that was a click."""
        still = max(abs(x - self._pressed[0]), abs(y - self._pressed[1])) < _CLICK * self.scale
        if self.grab == "orbit" and still:
            self._attempt(lambda: self.pick(x, y))
        self.grab = None

    def scroll(self, steps: float, x: float, y: float) -> None:
        """The wheel turns; on the bar it goes frame by frame."""
        if self.bar().has(y):
            self.stage.step(round(steps) or (1 if steps > 0 else -1))
        else:
            self.stage.zoom(steps, x, y)

    def _scrub(self, x: float) -> None:
        self.stage.seek(self.bar().share(x) * self.stage.duration)

    # ---- time and files -----------------------------------------------------------------------------

    def advance(self, seconds: float) -> None:
        """Let time go by; while somebody scrubs it stands still."""
        if self.grab != "scrub":
            self.stage.advance(seconds)

    def drop(self, paths: Sequence[PathLike]) -> None:
        """Say that the first of these files is being loaded; `settle` loads it."""
        if paths:
            source = Source(paths[0])
            more = f"; {len(paths) - 1} more were dropped, one window shows one" if len(paths) > 1 else ""
            self._coming = lambda: self._open(source, more)
            self.say(f"loading {source.path.name}")

    def settle(self) -> None:
        """Do what takes long, after it has been said. Where a file cannot be loaded, what is there stays."""
        act, self._coming = self._coming, None
        if act is not None:
            self._attempt(act)

    def _open(self, source: Source, more: str) -> None:
        model, clip = source.load()
        self.source, self.joint = source, None
        self._without_joints()
        self.stage.replace(model, clip)
        self.reset_camera()
        self.say(f"{source.path.name}: {model!r}{more}")

    def look_for_changes(self) -> None:
        """Load the file again if it has changed; where that fails, the model stays as it is."""
        if self.source is not None and self.source.has_changed():
            source = self.source
            self._attempt(lambda: self._reload(source))

    def _reload(self, source: Source) -> None:
        model, clip = source.load()
        if model.skeleton.names != self.stage.model.skeleton.names:
            self.joint = None
            self._without_joints()
        self.stage.replace(model, clip)
        self.say(f"{source.path.name} has changed, and was loaded again")

    def _without_joints(self) -> None:
        """Overlays name joints of the model that was there."""
        if self.stage.overlays is not None:
            self.change(weights=None, trajectories=())

    def save(self, picture: NDArray[np.uint8], folder: PathLike = ".") -> None:
        """Write a picture beside those that are there: fox-001.png, fox-002.png and so on."""
        self._attempt(lambda: self._save(picture, Path(folder)))

    def _save(self, picture: NDArray[np.uint8], folder: Path) -> None:
        stem = "skinpy" if self.source is None else self.source.path.stem
        pattern = re.compile(re.escape(stem) + r"-(\d+)\.png")
        found = [pattern.fullmatch(path.name) for path in folder.iterdir()]
        number = max((int(match[1]) for match in found if match), default=0) + 1
        self.say(f"wrote {save_picture(folder / f'{stem}-{number:03d}.png', picture)}")

    def want_picture(self) -> None:
        """Write a picture of what is shown, without bar and messages, into the present folder."""
        self.save(self.stage.frame())


KEYS = (
    Key((" ",), "Space", "play or pause", lambda it, _: it.play_or_pause()),
    Key(("left", ","), "Left", "a frame back", lambda it, _: it.stage.step(-1)),
    Key(("right", "."), "Right", "a frame on", lambda it, _: it.stage.step(1)),
    Key(
        tuple("1234567890"),
        "1 ... 9, 0",
        "a clip by its number; 0: the rest pose",
        lambda it, name: it.choose(int(name) - 1),
    ),
    Key(("page_down", "]"), "Page down, ]", "the next clip", lambda it, _: it.next_clip(1)),
    Key(("page_up", "["), "Page up, [", "the clip before", lambda it, _: it.next_clip(-1)),
    Key(("+", "="), "+", "faster", lambda it, _: it.faster(1)),
    Key(("-", "_"), "-", "slower", lambda it, _: it.faster(-1)),
    Key(("backspace",), "Backspace", "from the start, at its own speed", lambda it, _: it.usual()),
    Key(("z",), "Z", "play the other way round", lambda it, _: it.reverse()),
    Key(("l",), "L", "loop mode: wrap, pingpong, clamp, once", lambda it, _: it.next_loop()),
    Key(("r", "home"), "R, Home", "the camera as at first", lambda it, _: it.reset_camera()),
    Key(("c",), "C", "all of it into the picture, from here", lambda it, _: it.stage.fit()),
    Key(("v",), "V", "from the front, a side, the back, above", lambda it, _: it.next_view()),
    Key(("f",), "F", "floor", lambda it, _: it.toggle_floor()),
    Key(("j",), "J", "skeleton", lambda it, _: it.toggle("skeleton")),
    Key(("n",), "N", "names of joints", lambda it, _: it.toggle("names")),
    Key(("a",), "A", "axes of joints", lambda it, _: it.toggle("axes")),
    Key(("b",), "B", "the rest pose behind", lambda it, _: it.toggle("rest")),
    Key(("x",), "X", "boxes", lambda it, _: it.toggle("boxes")),
    Key(("m",), "M", "normals", lambda it, _: it.toggle("normals")),
    Key(("w",), "W", "wireframe", lambda it, _: it.toggle("wireframe")),
    Key(("i",), "I", "how many joints move a vertex", lambda it, _: it.toggle("influences")),
    Key(("k",), "K", "weights of the next joint", lambda it, _: it.next_weights(1)),
    Key(("K",), "Shift K", "weights of the joint before", lambda it, _: it.next_weights(-1)),
    Key(("t",), "T", "the way of that joint", lambda it, _: it.toggle_trajectory()),
    Key(("o",), "O", "ghosts before and after", lambda it, _: it.next_ghosts()),
    Key(("p",), "P", "write a picture (.png) into this folder", lambda it, _: it.want_picture()),
    Key(("f11",), "F11", "full screen", lambda it, _: it.toggle_full_screen()),
    Key(("h", "?", "f1"), "H", "these keys", lambda it, _: it.toggle_help()),
    Key(("q",), "Q", "close the window", lambda it, _: it.close()),
    Key(("escape",), "Escape", "close this, the full screen, the window", lambda it, _: it.escape()),
)
_BY_NAME = {name: key for key in KEYS for name in key.names}

#: What the mouse does, in the words of the panel.
MOUSE = (
    ("Drag", "turn"),
    ("Shift drag", "move; also the middle button"),
    ("Wheel", "nearer and farther"),
    ("Click", "weights of a joint"),
    ("Drop a file", "show it"),
)
