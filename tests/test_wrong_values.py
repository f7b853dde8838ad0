"""Every public function and every property that can be set, with wrong values in each argument.

A call succeeds, or raises TypeError, ValueError, KeyError, IndexError or an error of skinpy whose message
names the argument and says what came and what was expected. In the quick run each argument gets a sample of
the values, which differs from argument to argument; in the full run it gets all of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import public_functions
import pytest
import wrong_values
from conftest import FULL_RUN

import skinpy
from skinpy._arguments import brief
from skinpy.controller import Recording

pytestmark = pytest.mark.filterwarnings("ignore")

_SHARE = 1 if FULL_RUN else 5  # one value of so many is tried
#: Cases that do not call the function by its name: its caller has another one, whose arguments are tried.
NOT_BY_NAME = {"Animation.sample", "view.Player.start"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> public_functions.World:
    return public_functions.World(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def cases(world: public_functions.World) -> dict[str, wrong_values.Case]:
    return public_functions.cases(world)


@pytest.fixture(scope="module")
def drawn(world: public_functions.World) -> dict[str, wrong_values.Case]:
    pytest.importorskip("moderngl")
    return public_functions.drawn_cases(world)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # "x" is a path that can be written


def chosen(world: public_functions.World, place: str) -> Iterator[tuple[str, Any]]:
    """The values that an argument gets."""
    start = zlib.crc32(place.encode()) % _SHARE
    yield from list(wrong_values.values(world).items())[start::_SHARE]


def faults_of(world: public_functions.World, calls: dict[str, wrong_values.Case]) -> tuple[int, list[str]]:
    """How many calls were made, and what is wrong with them."""
    made, found = 0, []
    callables = public_functions.public_callables()
    for full in sorted(calls.keys() & callables.keys() - NOT_BY_NAME):
        for parameter in wrong_values.parameters(full):
            for name, value in chosen(world, f"{full}.{parameter}"):
                reached: list[bool] = []

                def call(full: str = full, parameter: str = parameter, value: Any = value) -> None:
                    reached.append(wrong_values.replaced(full, calls[full], parameter, value))  # noqa: B023

                wrong = wrong_values.attempt(call, parameter, value)
                if reached == [False]:
                    wrong = "its call in public_functions.py does not call it by its name"
                made += 1
                if wrong:
                    found.append(f"{full}({parameter}={name}): {wrong}")
    return made, found


def check(made: int, found: list[str], least: int) -> None:
    assert made * _SHARE > least
    assert not found, f"{len(found)} of {made} calls:\n" + "\n".join(found[:100])


def test_wrong_arguments(world: public_functions.World, cases: dict[str, wrong_values.Case]) -> None:
    check(*faults_of(world, cases), 25_000)


def test_wrong_arguments_of_what_draws(
    world: public_functions.World, drawn: dict[str, wrong_values.Case], opengl: None
) -> None:
    check(*faults_of(world, drawn), 14_000)


# ---- properties ----------------------------------------------------------------------------------------


def settable(world: public_functions.World) -> dict[str, Callable[[], Any]]:
    """What makes an object with properties that can be set, by the name of its class."""
    controller = skinpy.AnimationController(world.model)
    return {
        "Pose": lambda: world.model.pose("walk", [0.1, 0.2]),
        "Track": lambda: controller.play("walk"),
        "Track with a parameter": lambda: controller.play(world.line),
    }


def drawn_settable(world: public_functions.World) -> dict[str, Callable[[], Any]]:
    view = pytest.importorskip("skinpy.view")
    stage = view.Stage(world.other, "slew", size=(16, 16))
    return {"Stage": lambda: stage, "Player": lambda: stage.player, "CameraRig": lambda: stage.rig}


def set_all(world: public_functions.World, things: dict[str, Callable[[], Any]]) -> tuple[int, list[str]]:
    made, found = 0, []
    for title, make in things.items():
        for name in sorted(public_functions.members(type(make()))):
            if not can_be_set(type(make()), name):
                continue
            for what, value in chosen(world, f"{title}.{name}"):
                thing = make()
                wrong = wrong_values.attempt(
                    lambda thing=thing, name=name, value=value: setattr(thing, name, value),  # type: ignore[misc]
                    name,
                    value,
                )
                made += 1
                if wrong:
                    found.append(f"{title}.{name} = {what}: {wrong}")
    return made, found


def can_be_set(kind: type, name: str) -> bool:
    member = getattr(kind, name)
    if isinstance(member, property):
        return member.fset is not None
    return not callable(member) and name in ("translation", "rotation", "scale", "morph_weights")


def test_wrong_values_of_properties(world: public_functions.World) -> None:
    check(*set_all(world, settable(world)), 700)


def test_wrong_values_of_properties_of_what_draws(world: public_functions.World, opengl: None) -> None:
    check(*set_all(world, drawn_settable(world)), 700)


# ---- values inside of arguments ------------------------------------------------------------------------

Inside = Callable[[public_functions.World, Any], object]
MACHINE: dict[str, Any] = {
    "start": "a",
    "states": {"a": {"clip": "walk"}, "b": {"clip": "run"}},
    "parameters": {"x": 1.0, "go": "trigger"},
    "transitions": [{"from": "a", "to": "b", "when": [["go"]]}, {"from": "b", "to": "a", "switch": "end"}],
}


def machine(**changes: Any) -> skinpy.StateMachine:
    return skinpy.StateMachine(MACHINE | changes)


def transition(**changes: Any) -> skinpy.StateMachine:
    return machine(transitions=[{"from": "a", "to": "b", "when": [["go"]]} | changes])


def player(world: public_functions.World) -> Any:
    return skinpy.AnimationController(world.model).run(machine())


#: What a value stands in, by the word that the message has for it.
INSIDE: dict[str, Inside] = {
    "clip of clips": lambda w, v: w.model.clips[v],
    "index of a report": lambda w, v: w.model.report[v],
    "index of findings": lambda w, v: w.findings[v],
    "way of an explanation": lambda w, v: w.model.explain(1)[v],
    "trigger of a player": lambda w, v: player(w).trigger(v),
    "state of a player": lambda w, v: player(w).travel(v),
    "parameter of a player": lambda w, v: player(w).parameters.__setitem__("x", v),
    "parameter by name": lambda w, v: player(w).parameters.__setitem__(v, 1.0),
    "text of a recording": lambda w, v: Recording.from_json(v),
    "start of a machine": lambda w, v: machine(start=v),
    "states of a machine": lambda w, v: machine(states=v),
    "state of a machine": lambda w, v: machine(states={"a": v}),
    "clip of a state": lambda w, v: machine(states={"a": {"clip": v}}, transitions=[]),
    "speed of a state": lambda w, v: machine(states={"a": {"clip": "walk", "speed": v}}, transitions=[]),
    "parameters of a machine": lambda w, v: machine(parameters=v, transitions=[]),
    "parameter of a machine": lambda w, v: machine(parameters={"x": v}, transitions=[]),
    "transitions of a machine": lambda w, v: machine(transitions=v),
    "transitions of one": lambda w, v: machine(transitions=[v]),
    "when of a transition": lambda w, v: transition(when=v),
    "fade of a transition": lambda w, v: transition(fade=v),
    "sync of a transition": lambda w, v: transition(switch="sync", sync=v),
    "condition of one": lambda w, v: transition(when=[["x", ">", v]]),
    "operator of a condition": lambda w, v: transition(when=[["x", v, 1.0]]),
    "kind of a mask": lambda w, v: skinpy.Mask(v, ("*",)).weights(w.model),
    "values of a mask": lambda w, v: skinpy.Mask("named", v).weights(w.model),
    "data of names": lambda w, v: skinpy.Mask.from_dict({"below": v}),
    "weights of data": lambda w, v: skinpy.Mask.from_dict({"array": v}),
    "inverted of a mask": lambda w, v: skinpy.Mask.from_dict({"below": ["a"], "inverted": v}),
    "points of a space": lambda w, v: skinpy.BlendSpace1D({0.0: v, 1.0: "run"}),
    "points of a plane": lambda w, v: skinpy.BlendSpace2D([((0, 0), "a"), ((1, v), "b"), ((0, 1), "c")]),
    "keys of times": lambda w, v: skinpy.UVAnimation(keys={"times": v, "offset": [[0, 0]]}),
    "keys of offsets": lambda w, v: skinpy.UVAnimation(keys={"times": [0.0], "offset": v}),
    "poses of a blend": lambda w, v: skinpy.blend([v], [1.0]),
    "weights of a blend": lambda w, v: skinpy.blend([w.model.pose()], [v]),
    "masks of a blend": lambda w, v: skinpy.blend([w.model.pose()], [1.0], masks=[v]),
    "clips of a crowd": lambda w, v: w.model.crowd_palette([v], [[0]], [[0.1]]),
    "names of clips": lambda w, v: w.model.add_clips(w.loose, names=[v]),
}


@pytest.mark.parametrize("title", INSIDE)
def test_wrong_values_inside_of_arguments(world: public_functions.World, title: str) -> None:
    """The message names the argument, or the part of it that is wrong."""
    found = []
    for name, value in chosen(world, title):
        wrong = wrong_values.attempt(lambda value=value: INSIDE[title](world, value), title, value)  # type: ignore[misc]
        if wrong and not wrong.startswith("the argument is not named"):
            found.append(f"{name}: {wrong}")
    assert not found, "\n".join(found)


# ---- the test itself, and the words of values ----------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "wrong"),
    [
        (AttributeError("time is None; expected a number"), "another kind"),
        (OverflowError("time is 1; expected less"), "another kind"),
        (MemoryError("time"), "another kind"),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "time"), "another kind"),
        (TypeError("float() argument must be a string or a real number, not 'NoneType'"), "Python's own"),
        (TypeError("'NoneType' object is not subscriptable"), "Python's own"),
        (ValueError("clip is 1; expected a name"), "not named"),
        (ValueError("time is wrong"), "nothing is expected"),
        (ValueError("time is " + "1" * 1000 + "; expected less"), "letters"),
        (TypeError("time is None; expected a number"), None),
        (KeyError("unknown time 'x': did you mean 'y'?"), None),
        (skinpy.LimitExceeded("time is 9; expected at most 8"), None),
    ],
)
def test_what_is_wrong_with_an_error(error: Exception, wrong: str | None) -> None:
    found = wrong_values.fault(error, "time", None)
    assert found is None if wrong is None else wrong in (found or "")


class Loud:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1.5, "1.5"),
        ("a\x1b\n", r"'a\x1b\n'"),
        ([1, [2]], "[1, [2]]"),
        (np.zeros((2, 3), np.float32), "an array (2, 3) of float32"),
        (Loud(), None),
        (10**5000, None),
        ("y" * 10**6, None),
        ([["y" * 1000] * 1000] * 1000, None),
        (dict.fromkeys(range(10**5), "\x1b"), None),
        (np.float64(1), "1.0"),
    ],
    ids=range(10),
)
def test_a_value_in_a_message_is_one_short_line(value: Any, words: str | None) -> None:
    shown = brief(value)
    assert 0 < len(shown) <= 100 and shown.isprintable()
    if words is not None:
        assert words in shown
