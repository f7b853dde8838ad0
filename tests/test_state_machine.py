"""State machines: faulty data, times of switches computed by hand, and steps of any length."""

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy import StateMachine
from skinpy.playing.state_checks import can_hold
from skinpy.playing.state_player import StatePlayer, Switch
from skinpy.playing.states import OPERATORS, Condition

#: Switches lie where a division and a product put them: a few roundings of numbers about 10.
EXACT = 1e-12


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    """A model with clips of round lengths: "a" 1 s, "b" 2 s with events at 0.5 and 1.5 s, "pose" 0 s."""
    skeleton = skinpy.character()

    def clip(name: str, seconds: float) -> skinpy.Clip:
        times = [0.0, seconds] if seconds else [0.0]
        moved = np.zeros((len(times), 1, 3))
        moved[-1, 0, 0] = seconds
        joint = skeleton.skeleton.names[0]
        return skinpy.Clip.from_arrays(name, times=times, joints=[joint], translation=moved)

    b = clip("b", 2.0).add_event(0.5, "left").add_event(1.5, "right").add_event(1.0, "middle")
    return skeleton.add_clips([clip("a", 1.0), b, clip("pose", 0.0)])


def machine(transitions: list[dict[str, Any]], /, **more: Any) -> dict[str, Any]:
    data = {
        "start": "A",
        "states": {"A": {"clip": "a"}, "B": {"clip": "b"}},
        "parameters": {"speed": 0.0, "on": True, "jump": "trigger"},
        "transitions": transitions,
    }
    return data | more


TO_B = {"from": "A", "to": "B", "switch": "end"}
TO_A = {"from": "B", "to": "A", "switch": "end"}


def run(model: skinpy.Model, data: dict[str, Any]) -> tuple[skinpy.AnimationController, StatePlayer]:
    controller = skinpy.AnimationController(model)
    return controller, controller.run(StateMachine(data))


def switches(player: StatePlayer) -> list[tuple[float, str]]:
    return [(entry.time, entry.after) for entry in player.history]


# ---- data ------------------------------------------------------------------------------------------


def with_way(**change: Any) -> dict[str, Any]:
    return machine([TO_B | change, TO_A])


ONCE = {"A": {"clip": "a"}, "B": {"clip": "b", "loop": "once"}}
LINE = {"kind": "1d", "points": [[0, "a"], [1, "b"]]}
PLANE = {"kind": "2d", "points": [[[0, 0], "a"], [[1, 0], "b"], [[0, 1], "a"]]}


def with_state(**state: Any) -> dict[str, Any]:
    return machine([TO_B, TO_A], states={"A": {"clip": "a"}, "B": state})


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ([], TypeError, "data is of type list"),
        ({"states": {"A": {"clip": "a"}}}, ValueError, "data has no 'start'"),
        ({"start": "A"}, ValueError, "data has no 'states'"),
        (machine([], state={}), ValueError, "unknown key in data 'state': did you mean 'states'"),
        (machine([], start="C"), KeyError, "unknown state in start 'C'"),
        (machine([TO_B, TO_A], start=["A"]), KeyError, "unknown state in start"),
        (machine([], states={}), KeyError, "unknown state in start 'A'"),
        (machine([], states={"A": {"clip": "a"}, 3: {"clip": "b"}}), TypeError, "states has the key 3"),
        (machine([], states={"A": {"clip": "a"}, "*": {"clip": "b"}}), ValueError, "any state"),
        (machine([], states={"A": "a"}), TypeError, "state 'A' is of type str"),
        (machine([], transitions={}), TypeError, "transitions is of type dict"),
        (machine([], parameters={"speed": math.nan}), ValueError, "parameter 'speed' is nan"),
        (machine([], parameters={"speed": "fast"}), TypeError, "parameter 'speed' is 'fast'"),
        (with_state(clip="b", spede=1), ValueError, "state 'B' 'spede': did you mean 'speed'"),
        (with_state(), ValueError, 'state \'B\': expected either "clip" or "space"'),
        (with_state(clip="b", space=LINE), ValueError, "expected either"),
        (with_state(clip=1.5), TypeError, "clip is 1.5"),
        (with_state(clip="b", speed=0), ValueError, "state 'B': speed is 0; expected above 0"),
        (with_state(clip="b", speed=math.inf), ValueError, "state 'B': speed is inf"),
        (with_state(clip="b", loop="clamp"), ValueError, "state 'B': loop is 'clamp'"),
        (with_state(clip="b", final="yes"), TypeError, "state 'B': final is 'yes'"),
        (with_state(clip="b", parameter="speed"), ValueError, "parameter has 1 names; expected 0"),
        (with_state(space=LINE, parameter=["speed", "speed"]), ValueError, "2 names; expected 0 or 1"),
        (with_state(space=PLANE, parameter="speed"), ValueError, "1 names; expected 0 or 2"),
        (with_state(space=LINE, parameter="sped"), KeyError, "unknown parameter in state 'B' 'sped'"),
        (with_state(space=LINE, parameter="on"), TypeError, "parameter 'on' is not a number"),
        (with_state(space={"kind": "4d"}), ValueError, "kind '4d'"),
        (with_way(to="C"), KeyError, r"unknown state in transitions\[0\] \(A -> C\) 'C'"),
        (machine([{"from": "X", "to": "B"}]), KeyError, r"transitions\[0\] \(X -> B\) 'X'"),
        (machine([{"from": "A"}]), ValueError, r"transitions\[0\] has no 'to'"),
        (with_way(to="*"), KeyError, "unknown state"),
        (with_way(fad=1), ValueError, r"key in transitions\[0\] 'fad': did you mean 'fade'"),
        (with_way(fade=-1), ValueError, r"transitions\[0\] \(A -> B\): fade is -1; expected 0 or more"),
        (with_way(fade=math.nan), ValueError, "fade is nan"),
        (with_way(fade="slow"), TypeError, "fade is 'slow'"),
        (with_way(ease="bouncy"), ValueError, "ease is 'bouncy'"),
        (with_way(switch="later"), ValueError, "switch is 'later'"),
        (with_way(switch="sync"), ValueError, "sync is None"),
        (with_way(sync=0.5), ValueError, "with a sync point"),
        (with_way(switch="sync", sync=1.0), ValueError, "sync is 1; expected"),
        (with_way(switch="sync", sync=math.nan), ValueError, "sync is nan"),
        (with_way(warp=1), TypeError, "warp is 1"),
        (with_way(warp=True), ValueError, "warp needs a fade; fade is 0"),
        (with_way(priority=0.5), TypeError, "priority is 0.5"),
        (with_way(when="on"), TypeError, "when is 'on'"),
        (with_way(when=["on"]), ValueError, "condition is 'on'"),
        (with_way(when=[["speed", ">"]]), ValueError, "condition is"),
        (with_way(when=[["sped", ">", 1]]), KeyError, "did you mean 'speed'"),
        (with_way(when=[["speed", "=>", 1]]), ValueError, "operator is '=>'; expected one of"),
        (with_way(when=[["speed", ">", math.nan]]), ValueError, "nan"),
        (with_way(when=[["speed", ">", True]]), TypeError, "compares with True; expected a number"),
        (with_way(when=[["speed"]]), ValueError, "expected an operator"),
        (with_way(when=[["on", "==", 1.0]]), TypeError, "expected true or false"),
        (with_way(when=[["on", ">", True]]), ValueError, "operator for numbers"),
        (with_way(when=[["jump", "==", True]]), ValueError, r"expected \['jump'\]"),
        (machine([TO_A]), ValueError, "no transitions lead from the start 'A' to 'B'"),
        (machine([TO_B], states=ONCE), ValueError, "state 'B' ends and no transition leads out"),
        (machine([{"from": "*", "to": "B"}], states=ONCE), ValueError, "state 'B' ends"),
        (machine([{"from": "A", "to": "B"}, {"from": "B", "to": "A"}]), ValueError, "'A' -> 'B' -> 'A'"),
        (machine([{"from": "*", "to": "B"}, {"from": "*", "to": "A"}]), ValueError, "'A' -> 'B' -> 'A'"),
        (machine([TO_B, {"from": "B", "to": "B"}]), ValueError, "'B' -> 'B'"),
    ],
)
def test_bad_data(data: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        StateMachine(data)


def way(origin: str, target: str, *when: list[Any]) -> dict[str, Any]:
    return {"from": origin, "to": target, "when": list(when)}


@pytest.mark.parametrize(
    ("there", "back", "endless"),
    [
        (["speed", ">", 0.1], ["speed", "<=", 0.1], False),
        (["speed", ">", 0.1], ["speed", "<", 0.2], True),
        (["speed", ">=", 0.1], ["speed", "<=", 0.1], True),  # exactly at 0.1
        (["speed", "==", 1], ["speed", "!=", 1], False),
        (["speed", "!=", 1], ["speed", "!=", 2], True),
        (["on"], ["on", "==", False], False),
        (["on"], ["speed", ">", 0], True),
        (["jump"], ["speed", ">", 0], False),  # the trigger is used up
    ],
)
def test_circles_at_one_instant(there: list[Any], back: list[Any], endless: bool) -> None:
    data = machine([way("A", "B", there), way("B", "A", back)])
    if endless:
        with pytest.raises(ValueError, match="without end"):
            StateMachine(data)
    else:
        StateMachine(data)


def test_whether_conditions_can_hold_is_what_trying_many_values_says() -> None:
    rng = np.random.default_rng(4)
    tries = np.arange(-1, 5, 0.25)
    seen = set()
    for _ in range(500):
        conditions = [
            Condition("x", str(rng.choice(list(OPERATORS))), float(rng.integers(0, 4)))
            for _ in range(rng.integers(1, 5))
        ]
        expected = any(all(one.holds(float(value)) for one in conditions) for value in tries)
        assert can_hold(conditions) == expected, conditions
        seen.add(expected)
    assert seen == {True, False}


FULL = {
    "start": "A",
    "parameters": {"speed": 0.5, "turn": 0.0, "on": False, "jump": "trigger"},
    "states": {
        "A": {"clip": "a"},
        "B": {"space": PLANE, "parameter": ["speed", "turn"], "speed": 2.0},
        "C": {"space": LINE, "parameter": "speed"},
        "D": {"clip": 1, "loop": "once", "final": True},
    },
    "transitions": [
        {"from": "A", "to": "B", "when": [["speed", ">", 1], ["on"]], "fade": 0.25, "ease": "smooth"},
        {
            "from": "B",
            "to": "C",
            "when": [["on", "==", False]],
            "switch": "sync",
            "sync": "left",
            "fade": 1.5,
            "warp": True,
        },
        {"from": "C", "to": "A", "switch": "sync", "sync": 0.5},
        {"from": "*", "to": "D", "when": [["jump"]], "priority": 3},
    ],
}


def test_data_go_out_and_come_back(tmp_path: Any) -> None:
    first = StateMachine(FULL)
    assert json.loads(first.to_json()) == first.to_dict()
    assert StateMachine(first.to_dict()).to_json() == first.to_json()
    first.save(tmp_path / "machine.json")
    others = [
        StateMachine.from_json(first.to_json()),
        StateMachine.load(tmp_path / "machine.json"),
        pickle.loads(pickle.dumps(first)),
        copy.deepcopy(first),
    ]
    assert all(one == first and hash(one) == hash(first) for one in others)
    assert first.transitions[0].when == (Condition("speed", ">", 1.0), Condition("on", "==", True))
    assert first.to_dict()["transitions"] == FULL["transitions"]
    assert first != StateMachine(FULL | {"start": "B", "transitions": [*FULL["transitions"]]})
    with pytest.raises(ValueError, match="Expecting"):
        StateMachine.from_json("{")


def test_a_machine_never_changes() -> None:
    data = copy.deepcopy(FULL)
    one = StateMachine(data)
    data["states"].clear()
    data["transitions"][0]["fade"] = 9
    assert one == StateMachine(FULL)
    with pytest.raises(TypeError):
        one.states["A"] = None  # type: ignore[index]
    with pytest.raises(AttributeError):
        one.transitions[0].fade = 3  # type: ignore[misc]


def test_ways_are_in_order_of_priority() -> None:
    assert [one.target for one in StateMachine(FULL).ways("A")] == ["D", "B"]
    assert [one.target for one in StateMachine(FULL).ways("D")] == []


# ---- playing ---------------------------------------------------------------------------------------


def test_clips_and_events_are_looked_for_when_it_is_run(model: skinpy.Model) -> None:
    controller = skinpy.AnimationController(model)
    wrong = machine([TO_B, TO_A], states={"A": {"clip": "wlak"}, "B": {"clip": "b"}})
    with pytest.raises(KeyError, match="did you mean 'walk'"):
        controller.run(StateMachine(wrong))
    sync = {"switch": "sync", "sync": "lefft"}
    with pytest.raises(KeyError, match=r"clip 'b'.*'B' -> 'A' 'lefft': did you mean 'left'"):
        controller.run(StateMachine(machine([TO_B, TO_A | sync])))
    still = {"A": {"clip": "pose"}, "B": {"clip": "b"}}
    with pytest.raises(ValueError, match="warp needs clips that last"):
        controller.run(StateMachine(machine([TO_B | {"warp": True, "fade": 0.1}, TO_A], states=still)))
    both = {"A": {"clip": "pose"}, "B": {"clip": "pose"}}
    with pytest.raises(ValueError, match="without end"):
        controller.run(StateMachine(machine([TO_B, TO_A], states=both)))
    with pytest.raises(TypeError, match="expected a StateMachine"):
        StatePlayer(controller, {})  # type: ignore[arg-type]
    assert controller.layers["base"] == ()


def test_ends(model: skinpy.Model) -> None:
    """A lasts 1 s, then B lasts 2 s at double speed, so 1 s too: a switch at every whole second."""
    data = machine([TO_B, TO_A], states={"A": {"clip": "a"}, "B": {"clip": "b", "speed": 2.0}})
    controller, player = run(model, data)
    assert player.state == "A" and player.history == (Switch(0.0, None, "A"),)
    controller.advance(0.999)
    assert player.state == "A"
    controller.advance(2.501)
    assert player.state == "B"
    assert player.track.clip == model.clips["b"]
    assert player.track.position == pytest.approx(1.0, abs=EXACT)
    assert [name for _, name in switches(player)] == ["A", "B", "A", "B"]
    assert [time for time, _ in switches(player)] == pytest.approx([0, 1, 2, 3], abs=EXACT)


def test_a_fade_ends_with_the_clip(model: skinpy.Model) -> None:
    controller, player = run(model, machine([TO_B | {"fade": 0.25}, TO_A | {"fade": 9.0}]))
    controller.advance(0.8)
    assert player.state == "B"
    assert player.track.fade == pytest.approx(0.2, abs=1e-9)  # 0.05 s of 0.25 s
    controller.advance(0.2)
    assert player.track.fade == 1.0
    # B goes on from its own 0 at 0.75 s; of 2 s, at most half is the fade: 1.75 s
    controller.advance(1.0)
    assert [name for _, name in switches(player)] == ["A", "B", "A"]
    assert [time for time, _ in switches(player)] == pytest.approx([0, 0.75, 1.75], abs=EXACT)


@pytest.mark.parametrize(
    ("sync", "at"),
    [("left", 1.5), ("right", 2.5), ("middle", 2.0), (0.0, 3.0), (0.25, 1.5), (0.75, 2.5)],
)
def test_sync_points(model: skinpy.Model, sync: Any, at: float) -> None:
    """B begins at 1 s and takes 2 s; the phase at which B begins counts a cycle later."""
    controller, player = run(model, machine([TO_B, TO_A | {"switch": "sync", "sync": sync}]))
    controller.advance(3.4)
    found = [time for time, name in switches(player) if name == "A"]
    assert found[1] == pytest.approx(at, abs=EXACT)


def test_conditions_on_numbers_are_looked_at_when_advance_begins(model: skinpy.Model) -> None:
    controller, player = run(
        model, machine([way("A", "B", ["speed", ">", 0.5]), way("B", "A", ["speed", "<=", 0.5])])
    )
    controller.advance(0.3)
    assert player.state == "A"
    player.parameters["speed"] = 1
    assert player.state == "A"
    controller.advance(0.0)
    assert player.state == "B"
    player.parameters["speed"] = 0.5
    controller.advance(0.2)
    assert player.state == "A" and player.track.position == pytest.approx(0.2, abs=EXACT)


def test_a_condition_that_comes_late(model: skinpy.Model) -> None:
    """A loop switches at its next end; a clip that plays once has ended already."""
    when = {"when": [["on", "==", False]]}
    for loop, expected in (("wrap", 2.0), ("once", 1.4)):
        states = {"A": {"clip": "a", "loop": loop}, "B": {"clip": "b"}}
        controller, player = run(model, machine([TO_B | when, TO_A], states=states))
        controller.advance(1.4)
        assert player.state == "A"
        player.parameters["on"] = False
        controller.advance(1.0)
        assert switches(player)[1] == (pytest.approx(expected, abs=EXACT), "B")


def test_a_trigger_is_used_up_once(model: skinpy.Model) -> None:
    data = machine([way("A", "B", ["jump"]), way("B", "A", ["jump"])])
    controller, player = run(model, data)
    player.trigger("jump")
    assert player.parameters["jump"] is True
    controller.advance(0.5)
    assert player.state == "B" and player.parameters["jump"] is False
    controller.advance(0.5)
    assert player.state == "B"
    player.trigger("jump")
    player.parameters["jump"] = False  # thought better of it
    controller.advance(0.5)
    assert player.state == "B"


def test_the_highest_priority_wins_then_the_first(model: skinpy.Model) -> None:
    states = {name: {"clip": "a"} for name in "ABCD"}
    for priorities, expected in (((0, 0, 0), "B"), ((0, 1, 1), "C"), ((-2, -3, -1), "D")):
        ways = [
            {"from": "A", "to": target, "switch": "end", "priority": priority}
            for target, priority in zip("BCD", priorities, strict=True)
        ]
        controller, player = run(model, machine(ways, states=states))
        controller.advance(1.5)
        assert player.state == expected


def test_any_state_leads_to_all_but_itself(model: skinpy.Model) -> None:
    data = machine([TO_B, TO_A, {"from": "*", "to": "C", "when": [["on", "==", False]]}])
    data["states"] = data["states"] | {"C": {"clip": "a", "loop": "once", "final": True}}
    for until in (0.5, 1.5):
        controller, player = run(model, data)
        controller.advance(until)
        player.parameters["on"] = False
        controller.advance(0.25)
        controller.advance(5)
        assert player.state == "C" and player.track.finished
        assert switches(player)[-1][0] == until


def test_travel(model: skinpy.Model) -> None:
    """The shortest route, whatever the conditions, with ends and sync points."""
    never = [["on", "==", False]]
    states = {name: {"clip": "b"} for name in "ABCDE"}
    ways = [
        {"from": "A", "to": "B", "when": never},
        {"from": "B", "to": "C", "when": never},
        {"from": "C", "to": "D", "when": never},
        {"from": "A", "to": "E", "when": never, "switch": "end"},
        {"from": "E", "to": "D", "when": never, "switch": "sync", "sync": "left"},
        {"from": "D", "to": "A", "when": [["jump"]]},
    ]
    controller, player = run(model, machine(ways, states=states))
    assert player.travel("A") == ()
    assert player.travel("D") == ("E", "D") == player.route
    controller.advance(0.5)
    assert player.state == "A"
    controller.advance(9.5)
    assert switches(player)[1:] == [(pytest.approx(2.0), "E"), (pytest.approx(2.5), "D")]
    assert player.route == ()
    player.travel("C")
    controller.advance(0.0)  # all three at once
    assert [name for _, name in switches(player)[-3:]] == ["A", "B", "C"]
    with pytest.raises(KeyError, match="unknown state in route 'X'"):
        player.travel("X")
    one_way = machine([TO_B])
    controller, player = run(model, one_way)
    controller.advance(1.5)
    with pytest.raises(ValueError, match="no transitions lead from 'B' to 'A'"):
        player.travel("A")


def test_blend_spaces_follow_their_parameters(model: skinpy.Model) -> None:
    states = {
        "A": {"space": LINE, "parameter": "speed"},
        "B": {"space": PLANE, "parameter": ["speed", "turn"]},
    }
    data = machine([TO_B, TO_A], states=states, parameters={"speed": 0.5, "turn": 0.0})
    controller, player = run(model, data)
    assert player.track.parameter == 0.5
    assert player.track.duration == pytest.approx(1.5)
    controller.advance(0.75)  # half a turn
    player.parameters["speed"] = 1.0
    assert player.track.parameter == 1.0
    controller.advance(0.9)  # 0.45 turns of 2 s
    assert player.state == "A"
    controller.advance(0.2)
    assert player.state == "B" and switches(player)[1][0] == pytest.approx(1.75, abs=EXACT)
    assert player.track.parameter == (1.0, 0.0)
    player.parameters["turn"] = 0.25
    assert player.track.parameter == (1.0, 0.25)


def test_parameters_are_checked(model: skinpy.Model) -> None:
    _, player = run(model, machine([TO_B, TO_A]))
    cases: list[tuple[str, Any, type[Exception], str]] = [
        ("sped", 1, KeyError, "did you mean 'speed'"),
        ("speed", math.nan, ValueError, "'speed' is nan"),
        ("speed", True, TypeError, "expected a number"),
        ("speed", "1", TypeError, "expected a number"),
        ("on", 1, TypeError, "expected True or False"),
        ("jump", 1.0, TypeError, "expected True or False"),
    ]
    for name, value, error, words in cases:
        with pytest.raises(error, match=words):
            player.parameters[name] = value
    with pytest.raises(KeyError, match="unknown trigger"):
        player.trigger("on")
    with pytest.raises(TypeError, match="cannot be deleted"):
        del player.parameters["on"]
    assert dict(player.parameters) == {"speed": 0.0, "on": True, "jump": False}


def test_history_holds_the_last_64(model: skinpy.Model) -> None:
    controller, player = run(model, machine([TO_B, TO_A]))
    controller.advance(300.0)
    assert len(player.history) == 64
    assert player.history[-1].after == player.state


WANDER = {
    "start": "A",
    "parameters": {"speed": 0.4, "on": True, "jump": "trigger"},
    "states": {
        "A": {"clip": "a"},
        "B": {"clip": "b", "speed": 1.5},
        "C": {"space": LINE, "parameter": "speed", "speed": 0.8},
        "D": {"clip": "b", "loop": "once"},
    },
    "transitions": [
        {"from": "A", "to": "B", "switch": "end", "fade": 0.3, "ease": "smooth"},
        {"from": "B", "to": "C", "switch": "sync", "sync": "right", "fade": 0.4, "warp": True},
        {"from": "C", "to": "D", "switch": "sync", "sync": 0.3, "fade": 0.1},
        {"from": "C", "to": "A", "when": [["jump"]], "fade": 0.2, "priority": 1},
        {"from": "D", "to": "A", "switch": "end", "when": [["on"]], "fade": 0.5},
    ],
}


def test_steps_do_not_matter(model: skinpy.Model) -> None:
    """The same 12 seconds in one step, in sixtieths and in random steps: same switches, same pose."""
    rng = np.random.default_rng(11)
    random = rng.uniform(0, 0.5, 400)
    random = random[: int(np.searchsorted(np.cumsum(random), 12.0))]
    ways = [[12.0], [1 / 60] * 720, [*random.tolist(), 12.0 - float(random.sum())], [0.25] * 48]
    results = []
    for steps in ways:
        controller, player = run(model, WANDER)
        player.trigger("jump")
        for step in steps:
            controller.advance(step)
        results.append((switches(player), player.track.position, controller.pose().translation))
    first = results[0]
    assert len(first[0]) > 8
    for one in results[1:]:
        assert [name for _, name in one[0]] == [name for _, name in first[0]]
        # 720 sums of steps round by 1e-16 of 12 each: 1e-12
        assert np.abs(np.subtract([t for t, _ in one[0]], [t for t, _ in first[0]])).max() < 1e-10
        assert one[1] == pytest.approx(first[1], abs=1e-10)
        assert np.abs(one[2] - first[2]).max() < 1e-5  # float32 poses of size 2


def random_machine(rng: np.random.Generator) -> dict[str, Any]:
    """Two to five states of any kind, with up to eleven transitions of any kind between them."""
    names = list("ABCDE")[: rng.integers(2, 6)]

    def pick(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    states, ways = {}, []
    for name in names:
        plays = pick({"clip": "b"}, {"clip": "a"}, {"space": LINE, "parameter": "speed"})
        states[name] = plays | {"speed": pick(0.5, 1.0, 1.3), "loop": pick("wrap", "once")}
    for _ in range(rng.integers(2, 12)):
        one = {"from": pick(*names, "*"), "to": pick(*names), "fade": pick(0.0, 0.2, 0.6)}
        one |= {"switch": pick("immediate", "end", "sync"), "ease": pick("linear", "smooth")}
        one |= {"warp": bool(one["fade"] and pick(True, False)), "priority": pick(0, 1)}
        if one["switch"] == "sync":
            one["sync"] = pick(0.0, 0.25, 0.7)
        one["when"] = pick([], [["jump"]], [["speed", pick(">", "<"), pick(0.3, 0.6)]])
        ways.append(one)
    return machine(ways, states=states, parameters={"speed": 0.45, "jump": "trigger"})


def test_steps_do_not_matter_for_random_machines(model: skinpy.Model) -> None:
    """Valid machines switch the same in one step as in many, and none loops forever."""
    rng = np.random.default_rng(0)
    length, run_so_far, total = (
        5.9371,
        0,
        0,
    )  # at no round time, where the last switch would be a matter of roundings
    while run_so_far < 40:
        data = random_machine(rng)
        try:
            StateMachine(data)
        except ValueError:
            continue
        run_so_far += 1
        found = []
        for cuts in (0, 60):
            controller, player = run(model, data)
            player.trigger("jump")
            times = np.r_[0.0, np.sort(rng.uniform(0, length, cuts)), length]
            for step in np.diff(times).tolist():
                controller.advance(step)
            found.append(switches(player))
        assert [name for _, name in found[0]] == [name for _, name in found[1]]
        assert np.abs(np.subtract([t for t, _ in found[0]], [t for t, _ in found[1]])).max() < 1e-10
        total += len(found[0])
    assert total > 50


def test_a_clone_goes_its_own_way(model: skinpy.Model) -> None:
    controller, player = run(model, machine([TO_B, TO_A]))
    controller.advance(0.5)
    other = controller.clone()
    controller.advance(0.6)
    assert player.state == "B"
    assert [track.clip.name for track in other.layers["base"] if track.clip] == ["a"]
    other.advance(0.6)
    assert np.array_equal(other.pose().translation, controller.pose().translation)


def test_a_recording_replays_the_player(model: skinpy.Model) -> None:
    controller = skinpy.AnimationController(model)
    recording = controller.record()
    player = controller.run(StateMachine(WANDER))
    player.trigger("jump")
    poses = []
    for number in range(40):
        if number == 10:
            player.parameters["speed"] = 0.9
        if number == 20:
            player.travel("D")
        controller.advance(0.21)
        poses.append(controller.pose().translation)
    text = recording.to_json()
    again = skinpy.AnimationController.replay(model, type(recording).from_json(text))
    for number, one in enumerate(again):
        assert np.array_equal(one.pose().translation, poses[number])
    assert number == 39


@pytest.mark.parametrize("fade", [0.0, 0.3, 3.0])
def test_a_layer_that_is_stopped_by_hand_is_taken_up_again(model: skinpy.Model, fade: float) -> None:
    warped = {"fade": 0.2, "warp": True}
    controller, player = run(model, machine([TO_B | warped, TO_A | warped]))
    controller.advance(0.1)
    controller.stop(fade=fade)
    controller.advance(1.2)
    assert player.state == "B" and player.track in controller.layers["base"]
    assert player.track.fade == 1.0
