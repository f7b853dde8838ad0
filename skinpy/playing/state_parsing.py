"""Parsing of state machines: plain data become checked states, transitions and conditions.

Errors begin with where they are: "state 'go': ...", "transitions[2] (go -> stand): ...".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from .._arguments import brief, finite, flag, items_of, one_of
from .._text import printable, quoted
from ..errors import unknown_name
from .animated import METHODS
from .blend_space import BlendSpace1D, space_from_dict
from .states import OPERATORS, Condition, State, Transition, Value

_MAX_SHOWN = 40  # characters of the name of a state, where a message says of which transition it is


class Parser:
    """The data of a machine, parsed: parameters, triggers, states, start and transitions."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        _check_keys("data", data, ("start", "states", "parameters", "transitions"), ("start", "states"))
        parameters = _mapping("parameters", data.get("parameters", {}))
        self.triggers = frozenset(
            name for name, value in parameters.items() if isinstance(value, str) and value == "trigger"
        )
        self.parameters = {
            name: False if name in self.triggers else parameter_value(f"parameter {quoted(name)}", value)
            for name, value in parameters.items()
        }
        states = _mapping("states", data["states"])
        if "*" in states:
            raise ValueError('states has a state named "*", which means any state')
        self.states = {name: self._state(f"state {quoted(name)}", one) for name, one in states.items()}
        self.start = known("start", "state", data["start"], self.states)
        given = data.get("transitions", [])
        if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
            raise TypeError(f"transitions is of type {type(given).__name__}; expected a list")
        self.transitions = tuple(self._transition(number, one) for number, one in enumerate(given))

    def _state(self, where: str, data: Any) -> State:
        """Return one state."""
        _check_keys(where, data, tuple(field.name for field in fields(State)))
        if ("clip" in data) == ("space" in data):
            raise ValueError(f'{where}: expected either "clip" or "space"')
        space = space_from_dict(data["space"]) if "space" in data else None
        clip = data.get("clip")
        if space is None and (isinstance(clip, bool) or not isinstance(clip, str | int)):
            raise TypeError(f"{where}: clip is {brief(clip)}; expected a name or an index")
        wanted = (0,) if space is None else (0, 1) if isinstance(space, BlendSpace1D) else (0, 2)
        names = self._space_parameters(where, data.get("parameter", ()), wanted)
        speed = finite(f"{where}: speed", data.get("speed", 1.0))
        if speed <= 0:
            raise ValueError(f"{where}: speed is {speed:g}; expected above 0")
        loop = _word(f"{where}: loop", data.get("loop", "wrap"), ("wrap", "once"))
        return State(clip, space, names, loop, speed, flag(f"{where}: final", data.get("final", False)))

    def _space_parameters(self, where: str, given: Any, wanted: tuple[int, ...]) -> tuple[str, ...]:
        """Return the names of the parameters that move a blend space; `wanted` are the possible numbers."""
        names = (given,) if isinstance(given, str) else items_of(f"{where}: parameter", given, "names")
        if len(names) not in wanted:
            raise ValueError(
                f"{where}: parameter has {len(names)} names; expected {' or '.join(map(str, wanted))}"
            )
        for name in names:
            known(where, "parameter", name, self.parameters)
            if isinstance(self.parameters[name], bool):
                raise TypeError(
                    f"{where}: parameter {quoted(name)} is not a number, which a blend space needs"
                )
        return tuple(names)

    def _transition(self, number: int, data: Any) -> Transition:
        """Return one transition."""
        where = f"transitions[{number}]"
        keys = {"origin": "from", "target": "to"}
        _check_keys(
            where, data, tuple(keys.get(one.name, one.name) for one in fields(Transition)), ("from", "to")
        )
        origin, target = (printable(data[end])[:_MAX_SHOWN] for end in ("from", "to"))
        where = f"{where} ({origin} -> {target})"
        origin = "*" if data["from"] == "*" else known(where, "state", data["from"], self.states)
        target = known(where, "state", data["to"], self.states)
        when = data.get("when", ())
        if isinstance(when, str) or not isinstance(when, Sequence):
            raise TypeError(f"{where}: when is {brief(when)}; expected a list of conditions")
        fade = finite(f"{where}: fade", data.get("fade", 0.0))
        if fade < 0:
            raise ValueError(f"{where}: fade is {fade:g}; expected 0 or more seconds")
        warp = flag(f"{where}: warp", data.get("warp", False))
        if warp and fade == 0:
            raise ValueError(f"{where}: warp needs a fade; fade is 0")
        priority = data.get("priority", 0)
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise TypeError(f"{where}: priority is {brief(priority)}; expected an int")
        ease = _word(f"{where}: ease", data.get("ease", "linear"), ("linear", "smooth"))
        method = _word(f"{where}: method", data.get("method", "blend"), METHODS)
        if method == "inertial" and ease != "linear":
            raise ValueError(f"{where}: ease is {ease!r}, but an inertial fade has its own course")
        switch = _word(f"{where}: switch", data.get("switch", "immediate"), ("immediate", "end", "sync"))
        return Transition(
            origin,
            target,
            tuple(self._condition(where, one) for one in when),
            fade,
            ease,
            switch,
            _sync_point(where, switch, data.get("sync")),
            warp,
            method,
            priority,
        )

    def _condition(self, where: str, data: Any) -> Condition:
        """Return one condition of a transition."""
        if isinstance(data, str) or not isinstance(data, Sequence) or len(data) not in (1, 3):
            raise ValueError(
                f"{where}: condition is {brief(data)}; expected [parameter, operator, value] or [parameter]"
            )
        name = known(where, "parameter", data[0], self.parameters)
        is_bool = isinstance(self.parameters[name], bool)
        if len(data) == 1:
            if not is_bool:
                raise ValueError(
                    f"{where}: condition {brief(data)} is on a number; expected an operator and a value"
                )
            return Condition(name, "==", True, name in self.triggers)
        sign = _word(f"{where}: operator", data[1], tuple(OPERATORS))
        value = parameter_value(f"{where}: value of condition {brief(list(data))}", data[2])
        if isinstance(value, bool) != is_bool:
            kind = "true or false" if is_bool else "a number"
            raise TypeError(
                f"{where}: condition {brief(list(data))} compares with {brief(data[2])}; expected {kind}"
            )
        if is_bool and (sign not in ("==", "!=") or name in self.triggers):
            raise ValueError(
                f"{where}: condition {brief(list(data))} has an operator for numbers; "
                f"expected [{quoted(name)}]"
            )
        return Condition(name, sign, value)


def known(
    where: str,
    what: str,
    name: Any,
    names: Mapping[str, Any] | Sequence[str] | frozenset[str],
    argument: str | None = None,
) -> str:
    """Return `name` if it is one of the names; raise KeyError, with the close ones, otherwise."""
    if not isinstance(name, str) or name not in names:
        raise unknown_name(f"{what} in {where}", name, names, argument)
    return name


def parameter_value(where: str, value: Any) -> Value:
    """Return a bool, or a finite number as float."""
    return value if isinstance(value, bool) else finite(where, value)


def _mapping(where: str, data: Any) -> Mapping[str, Any]:
    """Return a mapping whose keys are names."""
    if not isinstance(data, Mapping):
        raise TypeError(f"{where} is of type {type(data).__name__}; expected a dict")
    for key in data:
        if not isinstance(key, str) or not key:
            raise TypeError(f"{where} has the key {quoted(key)}; expected names")
    return data


def _check_keys(where: str, data: Any, names: Sequence[str], needed: Sequence[str] = ()) -> None:
    """Raise an error unless the keys of a mapping are among `names`, and all that are needed are there."""
    for key in _mapping(where, data):
        if key not in names:
            raise ValueError(unknown_name(f"key in {where}", key, names).args[0])
    for key in needed:
        if key not in data:
            raise ValueError(f"{where} has no {quoted(key)}; expected {', '.join(map(repr, needed))}")


def _word(where: str, value: Any, words: Sequence[str]) -> Any:
    """Return `value` if it is one of the words."""
    one_of(where, value, words)
    return value


def _sync_point(where: str, switch: str, value: Any) -> str | float | None:
    """Return the sync point of a transition: name of an event, a phase, or None."""
    if (switch == "sync") != (value is not None):
        raise ValueError(
            f"{where}: sync is {brief(value)} and switch is {brief(switch)}; "
            'expected switch "sync" with a sync point, and no sync point with any other switch'
        )
    if value is None or (isinstance(value, str) and value):
        return value
    phase = finite(f"{where}: sync", value)
    if not 0 <= phase < 1:
        raise ValueError(
            f"{where}: sync is {phase:g}; expected the name of an event, or a phase from 0 to below 1"
        )
    return phase
