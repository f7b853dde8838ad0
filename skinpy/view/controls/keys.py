"""The table of the keys that windows and live views share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .actions import Actions


class Key(NamedTuple):
    """A row of a table of keys."""

    names: tuple[str, ...]  #: the names of the key: its letters, or such as "page_up"
    shown: str  #: the key as the help shows it
    help: str  #: what the key does
    act: Callable[[Any, str], None]  #: does it, given what the keys of the table act on, and the name pressed


def _toggle(letter: str, overlay: str, help: str) -> Key:
    return Key((letter,), letter.upper(), help, lambda actions, _: actions.overlays.toggle(overlay))


def _previous_weights(actions: Actions, _: str) -> None:
    actions.overlays.next_weights(-1)


def _choose(actions: Actions, name: str) -> None:
    actions.choose(int(name) - 1)


#: Keys that act on `Actions`.
STAGE_KEYS = (
    Key((" ",), "Space", "play or pause", lambda actions, _: actions.play_or_pause()),
    Key(("left", ","), "Left", "previous frame", lambda actions, _: actions.stage.player.step(-1)),
    Key(("right", "."), "Right", "next frame", lambda actions, _: actions.stage.player.step(1)),
    Key(tuple("1234567890"), "1 ... 9, 0", "play clip 1 to 9; 0: rest pose", _choose),
    Key(("page_down", "]"), "Page down, ]", "next clip", lambda actions, _: actions.next_clip(1)),
    Key(("page_up", "["), "Page up, [", "previous clip", lambda actions, _: actions.next_clip(-1)),
    Key(("+", "="), "+", "faster", lambda actions, _: actions.faster()),
    Key(("-", "_"), "-", "slower", lambda actions, _: actions.slower()),
    Key(("backspace",), "Backspace", "restart at normal speed", lambda actions, _: actions.restart()),
    Key(("z",), "Z", "reverse the direction", lambda actions, _: actions.reverse()),
    Key(("l",), "L", "loop mode: wrap, pingpong, clamp, once", lambda actions, _: actions.next_loop()),
    Key(("r", "home"), "R, Home", "reset camera", lambda actions, _: actions.reset_camera()),
    Key(("c",), "C", "fit to window", lambda actions, _: actions.stage.rig.fit()),
    Key(("v",), "V", "view from front, sides, back, above", lambda actions, _: actions.next_direction()),
    Key(("f",), "F", "floor", lambda actions, _: actions.toggle_floor()),
    _toggle("j", "skeleton", "skeleton"),
    _toggle("n", "names", "joint names"),
    _toggle("a", "axes", "joint axes"),
    _toggle("b", "rest", "rest pose as a ghost"),
    _toggle("x", "boxes", "bounding boxes"),
    _toggle("m", "normals", "normals"),
    _toggle("w", "wireframe", "wireframe"),
    _toggle("i", "influences", "number of joints per vertex"),
    Key(("k",), "K", "weights of the next joint", lambda actions, _: actions.overlays.next_weights()),
    Key(("K",), "Shift K", "weights of the previous joint", _previous_weights),
    Key(("t",), "T", "trajectory of the joint", lambda actions, _: actions.overlays.toggle_trajectory()),
    Key(("o",), "O", "ghosts before and after", lambda actions, _: actions.overlays.next_ghosts()),
)


def find_key(keys: tuple[Key, ...], name: str) -> Key | None:
    """The row of a key by one of its names; a capital letter without a row stands for the small one."""
    by_name = {name: key for key in keys for name in key.names}
    return by_name.get(name) or by_name.get(name.lower())
