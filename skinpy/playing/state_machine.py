"""State machines as plain data: which clip plays when, and how one goes over into the next.

    machine = skinpy.StateMachine({
        "start": "stand",
        "parameters": {"speed": 0.0, "hello": "trigger"},
        "states": {
            "stand": {"clip": "idle"},
            "go": {"clip": "walk"},
            "greet": {"clip": "wave", "loop": "once"},
        },
        "transitions": [
            {"from": "stand", "to": "go", "when": [["speed", ">", 0.1]], "fade": 0.2},
            {"from": "go", "to": "stand", "when": [["speed", "<=", 0.1]], "fade": 0.2},
            {"from": "stand", "to": "greet", "when": [["hello"]], "fade": 0.2},
            {"from": "greet", "to": "stand", "fade": 0.3, "switch": "end"},
        ],
    })
    player = controller.run(machine)
    player.parameters["speed"] = 1.2

The machine never changes; a StatePlayer has the state. docs/state-machines.md has every key.
"""

from __future__ import annotations

import json
import math
import operator
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from .._arguments import finite, flag
from .._types import PathLike
from ..clip import Clip
from ..errors import unknown_name
from ..files.whole import replacing
from .blend_space import BlendSpace1D, BlendSpace2D, space_from_dict
from .state_checks import check_circles, check_ways

if TYPE_CHECKING:
    from ..mask import Mask
    from .controller import AnimationController
    from .tracks import Track

__all__ = ["Condition", "State", "StateMachine", "StatePlayer", "Switch", "Transition"]

Value = float | bool
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_EARLY = 1e-6  #: seconds before a switch that was foreseen, from which it is looked at at every step
_NEAR = 1e-9  #: turns, or seconds: what roundings add up to, over which one instant counts as the same
_HISTORY = 64  #: switches that a player remembers


@dataclass(frozen=True)
class Condition:
    """A comparison of a parameter with a value: `["speed", ">", 0.1]`; `["jump"]` where it is to be true."""

    name: str  #: of the parameter
    operator: str  #: one of > >= < <= == !=
    value: Value  #: float, or bool
    is_trigger: bool = False  #: whether the parameter is used up by a transition that asks for it

    def holds(self, value: Value) -> bool:
        """Whether a parameter of this value fulfils it."""
        return OPERATORS[self.operator](value, self.value)


@dataclass(frozen=True)
class State:
    """What plays in one state: a clip or a blend space."""

    clip: str | int | None = None  #: name or index of the clip; None where a space plays
    space: BlendSpace1D | BlendSpace2D | None = None
    parameter: tuple[str, ...] = ()  #: parameters that move the space: one for a line, two for a plane
    loop: Literal["wrap", "once"] = "wrap"
    speed: float = 1.0  #: seconds of the clip per second, above 0
    final: bool = False  #: whether it is meant to end without a way out


@dataclass(frozen=True)
class Transition:
    """A way from one state, or from any ("*"), to another."""

    origin: str  #: "from" in the data
    target: str  #: "to" in the data
    when: tuple[Condition, ...] = ()  #: all must hold
    fade: float = 0.0  #: seconds
    ease: Literal["linear", "smooth"] = "linear"
    switch: Literal["immediate", "end", "sync"] = "immediate"
    sync: str | float | None = None  #: name of an event, or a phase from 0 to below 1
    warp: bool = False  #: whether the phases are kept in step during the fade
    priority: int = 0  #: of several at one instant the highest is taken, then the first in the list


class StateMachine:
    """States, parameters and transitions, checked; made from plain data, equal by value, never changed.

    data has start (name of a state), states (dict), and may have parameters (dict: a number, a bool, or
    "trigger") and transitions (list). Raises, with words that say where: KeyError for unknown states and
    parameters; TypeError and ValueError for unknown keys and operators, values of a wrong kind, NaN, a
    negative fade, states that no way leads to, states that end with no way out and are not final, and circles
    of transitions that could be taken without end at one instant.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        _check_keys("data", data, ("start", "states", "parameters", "transitions"), ("start", "states"))
        parameters = _mapping("parameters", data.get("parameters", {}))
        self._triggers = frozenset(name for name, value in parameters.items() if value == "trigger")
        self._parameters = {
            name: False if name in self._triggers else _value(f"parameter {name!r}", value)
            for name, value in parameters.items()
        }
        states = _mapping("states", data["states"])
        if "*" in states:
            raise ValueError('states has one called "*", which means any state')
        self._states = {name: self._state(f"state {name!r}", one) for name, one in states.items()}
        self._start = _known("start", "state", data["start"], self._states)
        given = data.get("transitions", [])
        if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
            raise TypeError(f"transitions is of type {type(given).__name__}; expected a list")
        self._transitions = tuple(self._transition(number, one) for number, one in enumerate(given))
        self._ways = {
            name: sorted(
                (
                    one
                    for one in self._transitions
                    if one.origin == name or (one.origin == "*" and one.target != name)
                ),
                key=lambda one: -one.priority,
            )
            for name in self._states
        }
        check_ways(self._start, self._states, self._ways)
        check_circles(self._ways)

    @property
    def start(self) -> str:
        """Name of the state that a player begins with."""
        return self._start

    @property
    def states(self) -> Mapping[str, State]:
        """The states by name."""
        return MappingProxyType(self._states)

    @property
    def parameters(self) -> Mapping[str, Value]:
        """The parameters' values at the start: float or bool; triggers are False."""
        return MappingProxyType(self._parameters)

    @property
    def triggers(self) -> frozenset[str]:
        """Names of the parameters that are triggers."""
        return self._triggers

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions as they are listed."""
        return self._transitions

    def ways(self, state: str) -> tuple[Transition, ...]:
        """The transitions out of a state, those from "*" included, in the order in which they are looked at.
        Raises KeyError for an unknown state."""
        return tuple(self._ways[_known("ways", "state", state, self._states)])

    def route(self, origin: str, target: str) -> tuple[Transition, ...]:
        """The fewest transitions that lead from one state to another, whatever their conditions: the first
        that a search by breadth finds. Empty where both are the same.

        Raises KeyError for an unknown state and ValueError where no way leads there.
        """
        _known("route", "state", origin, self._states)
        _known("route", "state", target, self._states)
        routes: dict[str, tuple[Transition, ...]] = {origin: ()}
        waiting = deque([origin])
        while waiting and target not in routes:
            name = waiting.popleft()
            for one in self._ways[name]:
                if one.target not in routes:
                    routes[one.target] = (*routes[name], one)
                    waiting.append(one.target)
        if target not in routes:
            raise ValueError(f"no transitions lead from {origin!r} to {target!r}")
        return routes[target]

    def to_dict(self) -> dict[str, Any]:
        """The machine as data, which the constructor takes; what has its usual value is left out."""
        parameters = {
            name: "trigger" if name in self._triggers else v for name, v in self._parameters.items()
        }
        return {
            "start": self._start,
            "parameters": parameters,
            "states": {name: _state_data(state) for name, state in self._states.items()},
            "transitions": [_transition_data(one) for one in self._transitions],
        }

    def to_json(self) -> str:
        """The machine as JSON, indented."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> StateMachine:
        """The machine of a JSON text. Raises ValueError for text that is no JSON, and what the constructor
        raises."""
        return cls(json.loads(text))

    def save(self, path: PathLike) -> None:
        """Writes the JSON to a file, which appears whole or not at all. Raises OSError."""
        with replacing(path) as file:
            file.write((self.to_json() + "\n").encode("utf-8"))

    @classmethod
    def load(cls, path: PathLike) -> StateMachine:
        """Reads a JSON file. Raises FileNotFoundError and what `from_json` raises."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, StateMachine) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._start, frozenset(self._states), self._transitions))

    def __reduce__(self) -> tuple[Any, ...]:
        return StateMachine, (self.to_dict(),)

    def __deepcopy__(self, _: Any) -> StateMachine:
        return self

    def __repr__(self) -> str:
        return f"<StateMachine: {len(self._states)} states, {len(self._transitions)} transitions>"

    # ---- from data ---------------------------------------------------------------------------------

    def _state(self, where: str, data: Any) -> State:
        _check_keys(where, data, tuple(field.name for field in fields(State)))
        if ("clip" in data) == ("space" in data):
            raise ValueError(f'{where}: expected either "clip" or "space"')
        space = space_from_dict(data["space"]) if "space" in data else None
        clip = data.get("clip")
        if space is None and (isinstance(clip, bool) or not isinstance(clip, str | int)):
            raise TypeError(f"{where}: clip is {clip!r}; expected a name or an index")
        given = data.get("parameter", ())
        names = (given,) if isinstance(given, str) else tuple(given)
        wanted = (0,) if space is None else (0, 1) if isinstance(space, BlendSpace1D) else (0, 2)
        if len(names) not in wanted:
            raise ValueError(
                f"{where}: parameter has {len(names)} names; expected {' or '.join(map(str, wanted))}"
            )
        for name in names:
            _known(where, "parameter", name, self._parameters)
            if isinstance(self._parameters[name], bool):
                raise TypeError(f"{where}: parameter {name!r} is no number")
        speed = finite(f"{where}: speed", data.get("speed", 1.0))
        if speed <= 0:
            raise ValueError(f"{where}: speed is {speed:g}; expected above 0")
        loop = _word(f"{where}: loop", data.get("loop", "wrap"), ("wrap", "once"))
        return State(clip, space, names, loop, speed, flag(f"{where}: final", data.get("final", False)))

    def _transition(self, number: int, data: Any) -> Transition:
        where = f"transitions[{number}]"
        keys = {"origin": "from", "target": "to"}
        _check_keys(
            where, data, tuple(keys.get(one.name, one.name) for one in fields(Transition)), ("from", "to")
        )
        where = f"{where} ({data['from']} -> {data['to']})"
        origin = "*" if data["from"] == "*" else _known(where, "state", data["from"], self._states)
        target = _known(where, "state", data["to"], self._states)
        when = data.get("when", ())
        if isinstance(when, str) or not isinstance(when, Sequence):
            raise TypeError(f"{where}: when is {when!r}; expected a list of conditions")
        fade = finite(f"{where}: fade", data.get("fade", 0.0))
        if fade < 0:
            raise ValueError(f"{where}: fade is {fade:g}; expected 0 or more seconds")
        warp = flag(f"{where}: warp", data.get("warp", False))
        if warp and fade == 0:
            raise ValueError(f"{where}: warp goes with a fade; fade is 0")
        priority = data.get("priority", 0)
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise TypeError(f"{where}: priority is {priority!r}; expected an int")
        switch = _word(f"{where}: switch", data.get("switch", "immediate"), ("immediate", "end", "sync"))
        return Transition(
            origin,
            target,
            tuple(self._condition(where, one) for one in when),
            fade,
            _word(f"{where}: ease", data.get("ease", "linear"), ("linear", "smooth")),
            switch,
            _sync_point(where, switch, data.get("sync")),
            warp,
            priority,
        )

    def _condition(self, where: str, data: Any) -> Condition:
        if isinstance(data, str) or not isinstance(data, Sequence) or len(data) not in (1, 3):
            raise ValueError(
                f"{where}: condition is {data!r}; expected [parameter, operator, value] or [parameter]"
            )
        name = _known(where, "parameter", data[0], self._parameters)
        is_bool = isinstance(self._parameters[name], bool)
        if len(data) == 1:
            if not is_bool:
                raise ValueError(
                    f"{where}: condition {data!r} is on a number; expected an operator and a value"
                )
            return Condition(name, "==", True, name in self._triggers)
        sign = _word(f"{where}: operator", data[1], tuple(OPERATORS))
        value = _value(f"{where}: value of condition {list(data)!r}", data[2])
        if isinstance(value, bool) != is_bool:
            kind = "true or false" if is_bool else "a number"
            raise TypeError(f"{where}: condition {list(data)!r} compares with {data[2]!r}; expected {kind}")
        if is_bool and (sign not in ("==", "!=") or name in self._triggers):
            raise ValueError(
                f"{where}: condition {list(data)!r} has an operator for numbers; expected [{name!r}]"
            )
        return Condition(name, sign, value)


@dataclass(frozen=True)
class Switch:
    """An entry of a player's history."""

    time: float  #: seconds of the controller
    before: str | None  #: name of the state that was left; None at the start
    after: str  #: name of the state that was entered


class StatePlayer:
    """Runs a state machine in one layer of a controller; `controller.run` makes it.

    It switches while the controller advances, at the exact time, so the steps of `advance` do not matter.
    Conditions are looked at at the beginning of every advance and after every switch, with the parameters as
    they are then. Raises KeyError for clips and events that the model lacks, and ValueError for states whose
    clips have no length and that make a circle (see StateMachine) or are warped.
    """

    def __init__(
        self,
        controller: AnimationController,
        machine: StateMachine,
        layer: str = "base",
        mask: Mask | None = None,
    ) -> None:
        if not isinstance(machine, StateMachine):
            raise TypeError(f"machine is of type {type(machine).__name__}; expected a StateMachine")
        _check_clips(machine, {name: _clips_of(controller, state) for name, state in machine.states.items()})
        self._controller = controller
        self._machine = machine
        self.layer = layer  #: name of the controller's layer
        self._mask = mask
        self._values: dict[str, Value] = dict(machine.parameters)
        self._route: tuple[Transition, ...] = ()
        self._next: Transition | None = None
        self._quiet = -math.inf  # seconds of the controller before which nothing switches
        self._history: deque[Switch] = deque(maxlen=_HISTORY)
        self._enter(None, machine.start, None)
        self.number = self._track.number  #: that of its first track; names it in a recording

    @property
    def machine(self) -> StateMachine:
        """The machine that it runs."""
        return self._machine

    @property
    def state(self) -> str:
        """Name of the state: of the new one from the beginning of a fade."""
        return self._state

    @property
    def track(self) -> Track:
        """The controller's track that plays the state."""
        return self._track

    @property
    def parameters(self) -> MutableMapping[str, Value]:
        """The parameters by name. Setting one raises KeyError for an unknown name, TypeError for a value of
        another kind, ValueError for a number that is not finite. A trigger is true until it is used."""
        return _Parameters(self)

    @property
    def history(self) -> tuple[Switch, ...]:
        """The last 64 switches, the start included, the latest at the end."""
        return tuple(self._history)

    @property
    def route(self) -> tuple[str, ...]:
        """Names of the states that `travel` still leads through."""
        return tuple(one.target for one in self._route)

    def trigger(self, name: str) -> None:
        """Sets a trigger; the next transition that asks for it is taken and uses it up. Raises KeyError."""
        self._values[_known("trigger", "trigger", name, self._machine.triggers)] = True
        self._forget()
        self._controller._record("player", name, player=self.number, method="trigger")

    def travel(self, state: str) -> tuple[str, ...]:
        """Goes to a state by the fewest transitions, and returns the names of the states on the way.

        Their conditions are not asked, but their ends and sync points are waited for. Until it has arrived,
        no other transition is taken. From the state it is in already there is no way to go. Raises KeyError
        for an unknown state and ValueError where no way leads there.
        """
        self._route = self._machine.route(self._state, state)
        self._forget()
        self._controller._record("player", state, player=self.number, method="travel")
        return self.route

    def _set(self, name: str, value: Value) -> None:
        old = self.parameters[name]
        checked = _value(f"parameter {name!r}", value)
        if isinstance(old, bool) != isinstance(checked, bool):
            kind = "True or False" if isinstance(old, bool) else "a number"
            raise TypeError(f"parameter {name!r} is set to {value!r}; expected {kind}")
        if checked != old:
            self._values[name] = checked
            self._forget()
        if name in self._machine.states[self._state].parameter:
            self._move_space()
        self._controller._record("player", name, checked, player=self.number, method="_set")

    # ---- for the controller ------------------------------------------------------------------------

    def _due(self, end: float) -> float | None:
        """Seconds to the next switch, if it comes before `end` on the controller's clock or just then."""
        if end < self._quiet:
            return None
        self._next, found = None, math.inf
        ways: Sequence[Transition] = self._route[:1] or self._machine._ways[self._state]
        for transition in ways:
            if self._route or all(part.holds(self._values[part.name]) for part in transition.when):
                seconds = self._seconds_to(transition)
                if seconds < found - _NEAR:
                    self._next, found = transition, seconds
        now = self._controller.time
        if found <= end - now:
            return found
        if (
            self._track._position >= 0
        ):  # before its start a clip that plays once does not go on evenly: it jumps
            self._quiet = now + found - _EARLY
        return None

    def _forget(self) -> None:
        """What `_due` found does not hold any more: something other than the time has changed."""
        self._quiet = -math.inf

    def _act(self) -> None:
        """The switch that `_due` has announced."""
        transition = self._next
        assert transition is not None
        self._next, self._route = None, self._route[1:]
        for part in transition.when:
            if part.is_trigger:
                self._values[part.name] = False
        self._enter(self._state, transition.target, transition)

    def _enter(self, before: str | None, name: str, transition: Transition | None) -> None:
        state, controller = self._machine.states[name], self._controller
        clip = state.clip if state.space is None else state.space
        options: dict[str, Any] = {
            "layer": self.layer,
            "mask": self._mask,
            "speed": state.speed,
            "loop": state.loop,
        }
        if transition is None:
            self._track = controller.play(clip, **options)
        else:
            fade = self._fade(transition)
            # Where someone else has stopped the layer, there is nothing to keep in step with.
            plays = self._track in controller.layers[self.layer] and self._track._fade.leaving is None
            warp = transition.warp and plays
            options |= {"ease": transition.ease, "warp": warp}
            self._track = controller.cross_fade(clip, fade, **options)
        self._state = name
        self._forget()
        self._move_space()
        self._entered = self._track.phase
        self._history.append(Switch(controller.time, before, name))

    def _move_space(self) -> None:
        """Brings the parameters to the blend space that plays."""
        names = self._machine.states[self._state].parameter
        if names:
            place = tuple(float(self._values[name]) for name in names)
            self._track._apply("parameter", place if len(place) > 1 else place[0])

    def _fade(self, transition: Transition) -> float:
        """Seconds of the fade: one that ends with the clip takes at most half of it."""
        track = self._track
        if transition.switch != "end" or track.speed <= 0:
            return transition.fade
        return float(min(transition.fade, track.duration / track.speed / 2))

    def _seconds_to(self, transition: Transition) -> float:
        """Until it may be taken if its conditions hold; infinite where that cannot be told, or never is."""
        track = self._track
        if transition.switch == "immediate" or track.duration == 0:
            return 0.0
        if track.speed <= 0 or track._speed.span or track._warp is not None:
            return math.inf  # asked again when a warp or a keyed change of speed has ended
        rate = track.speed / track.duration  # turns per second
        if transition.switch == "end":
            marks = [1.0 - self._fade(transition) * rate]
        elif isinstance(transition.sync, str):
            clip = track.clip
            assert clip is not None
            marks = [event.time / clip.duration for event in clip.events if event.name == transition.sync]
        else:
            marks = [float(transition.sync or 0.0)]
        return float(
            min((self._turns_to(mark, transition.switch) for mark in marks), default=math.inf) / rate
        )

    def _turns_to(self, mark: float, switch: str) -> float:
        """Turns of the clip until its phase next comes to `mark`, from 0 to 1.

        The phase at which the state began has not come yet: a clip that starts at its sync point goes round
        once. One that was missed by no more than a rounding has.
        """
        phase = self._track.phase
        if self._machine.states[self._state].loop == "once":
            missed = mark < phase - _NEAR or mark <= self._entered + _NEAR
            return max(mark - phase, 0.0) if not missed else 0.0 if switch == "end" else math.inf
        after = max(min(self._entered, phase) + _NEAR, phase - _NEAR)
        return float(max(math.floor(after - mark) + 1 + mark - phase, 0.0))

    def __repr__(self) -> str:
        return f"<StatePlayer in layer {self.layer!r}: {self._state!r}>"


class _Parameters(MutableMapping[str, Value]):
    """A player's parameters, checked when they are set."""

    def __init__(self, player: StatePlayer) -> None:
        self._player = player

    def __getitem__(self, name: str) -> Value:
        return self._player._values[_known("parameters", "parameter", name, self._player._values)]

    def __setitem__(self, name: str, value: Value) -> None:
        self._player._set(name, value)

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"parameter {name!r} cannot be deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._player._values)

    def __len__(self) -> int:
        return len(self._player._values)

    def __repr__(self) -> str:
        return repr(self._player._values)


# ---- checks of a machine's clips -------------------------------------------------------------------


def _clips_of(controller: AnimationController, state: State) -> tuple[Clip, ...]:
    if state.space is not None:
        return state.space.bind(controller.model).clips
    assert state.clip is not None
    return (controller.model.clips[state.clip],)


def _check_clips(machine: StateMachine, clips: Mapping[str, Sequence[Clip]]) -> None:
    """Every event that is waited for is there, and states without length make no circle and no warp."""
    instant = [name for name in clips if min(clip.duration for clip in clips[name]) == 0]
    check_circles(machine._ways, instant)
    for name, ways in machine._ways.items():
        for one in ways:
            where = f"the transition {name!r} -> {one.target!r}"
            if isinstance(one.sync, str):
                for clip in clips[name]:
                    _known(
                        where, f"event of clip {clip.name!r}", one.sync, [event.name for event in clip.events]
                    )
            short = [state for state in (name, one.target) if state in instant]
            if one.warp and short:
                raise ValueError(f"{where}: warp needs clips that last; one of {short[0]!r} has no length")


# ---- checks of data --------------------------------------------------------------------------------


def _mapping(where: str, data: Any) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise TypeError(f"{where} is of type {type(data).__name__}; expected a dict")
    for key in data:
        if not isinstance(key, str) or not key:
            raise TypeError(f"{where} has the key {key!r}; expected names")
    return data


def _check_keys(where: str, data: Any, known: Sequence[str], needed: Sequence[str] = ()) -> None:
    for key in _mapping(where, data):
        if key not in known:
            raise ValueError(unknown_name(f"key in {where}", key, known).args[0])
    for key in needed:
        if key not in data:
            raise ValueError(f"{where} has no {key!r}")


def _known(
    where: str, what: str, name: Any, names: Mapping[str, Any] | Sequence[str] | frozenset[str]
) -> str:
    if not isinstance(name, str) or name not in names:
        raise unknown_name(f"{what} in {where}", name, names)
    return name


def _value(where: str, value: Any) -> Value:
    return value if isinstance(value, bool) else finite(where, value)


def _word(where: str, value: Any, words: Sequence[str]) -> Any:
    if value not in words:
        raise ValueError(f"{where} is {value!r}; expected one of {', '.join(map(repr, words))}")
    return value


def _sync_point(where: str, switch: str, value: Any) -> str | float | None:
    if (switch == "sync") != (value is not None):
        raise ValueError(f'{where}: sync is {value!r} and switch {switch!r}; "sync" goes with a sync point')
    if value is None or (isinstance(value, str) and value):
        return value
    phase = finite(f"{where}: sync", value)
    if not 0 <= phase < 1:
        raise ValueError(
            f"{where}: sync is {phase:g}; expected an event's name, or a phase from 0 to below 1"
        )
    return phase


def _state_data(state: State) -> dict[str, Any]:
    data = _changed(state)
    if state.space is not None:
        data["space"] = state.space.to_dict()
    if state.parameter:
        data["parameter"] = state.parameter[0] if len(state.parameter) == 1 else list(state.parameter)
    return data


def _transition_data(one: Transition) -> dict[str, Any]:
    data = {"from": one.origin, "to": one.target} | _changed(one)
    del data["origin"], data["target"]
    if one.when:
        data["when"] = [
            [part.name]
            if part.value is True and part.operator == "=="
            else [part.name, part.operator, part.value]
            for part in one.when
        ]
    return data


def _changed(one: State | Transition) -> dict[str, Any]:
    """The fields that have not their default value."""
    values = {field.name: (getattr(one, field.name), field.default) for field in fields(one)}
    return {name: value for name, (value, usual) in values.items() if usual is MISSING or value != usual}
