"""State machines as plain data: which clip plays when, and how one clip leads to the next.

The machine never changes; a StatePlayer has the present state. docs/state-machines.md has every key.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .._arguments import opened, path_of
from .._json import parse_json
from .._strict import Strict
from .._text import quoted
from .._types import PathLike
from ..files.whole import replacing
from .state_checks import check_cycles, check_reachable
from .state_parsing import Parser, known
from .states import State, Transition, Value, state_data, transition_data

__all__ = ["StateMachine"]


class StateMachine(Strict):
    """States, parameters and transitions, checked; equal by value, and never changed.

    docs/state-machines.md has every key of the data.

    Parameters
    ----------
    data : mapping
        "start" (name of a state) and "states" (mapping of names to states), and optionally "parameters"
        (mapping of names to a number, a bool or "trigger") and "transitions" (list).

    Raises
    ------
    KeyError
        If a state or a parameter is unknown. All messages tell where.
    ValueError
        If a key or an operator is unknown, a number is not finite, a fade is negative, a state cannot be
        reached, a state ends without a transition out of it and is not final, or transitions form a cycle
        that could be taken at one time without end.
    TypeError
        If a value has the wrong type.

    Examples
    --------
    >>> machine = skinpy.StateMachine({
    ...     "start": "stand",
    ...     "parameters": {"speed": 0.0, "hello": "trigger"},
    ...     "states": {
    ...         "stand": {"clip": "walk", "speed": 0.1},
    ...         "go": {"clip": "walk"},
    ...         "greet": {"clip": "wave", "loop": "once"},
    ...     },
    ...     "transitions": [
    ...         {"from": "stand", "to": "go", "when": [["speed", ">", 0.1]], "fade": 0.2},
    ...         {"from": "go", "to": "stand", "when": [["speed", "<=", 0.1]], "fade": 0.2},
    ...         {"from": "stand", "to": "greet", "when": [["hello"]], "fade": 0.2},
    ...         {"from": "greet", "to": "stand", "fade": 0.3, "switch": "end"},
    ...     ],
    ... })
    >>> controller = skinpy.AnimationController(skinpy.character())
    >>> player = controller.run(machine)
    >>> player.parameters["speed"] = 1.2
    >>> events = controller.advance(0.1)
    >>> player.state
    'go'
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        parsed = Parser(data)
        self._start, self._states = parsed.start, parsed.states
        self._parameters, self._triggers = parsed.parameters, parsed.triggers
        self._transitions = parsed.transitions
        self._outgoing = {
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
        check_reachable(self._start, self._states, self._outgoing)
        check_cycles(self._outgoing)

    @property
    def start(self) -> str:
        """The name of the state that a player begins with."""
        return self._start

    @property
    def states(self) -> Mapping[str, State]:
        """The states by name."""
        return MappingProxyType(self._states)

    @property
    def parameters(self) -> Mapping[str, Value]:
        """The values of the parameters at the start, float or bool; triggers are False."""
        return MappingProxyType(self._parameters)

    @property
    def triggers(self) -> frozenset[str]:
        """The names of the parameters that are triggers."""
        return self._triggers

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions in the order of the list."""
        return self._transitions

    def ways(self, state: str) -> tuple[Transition, ...]:
        """Return the transitions out of a state, in the order in which a player tries them.

        Parameters
        ----------
        state : str
            Name of the state.

        Returns
        -------
        tuple of Transition
            The transitions, including those from any state.

        Raises
        ------
        KeyError
            If there is no such state.
        """
        return tuple(self._outgoing[known("ways", "state", state, self._states)])

    def route(self, origin: str, target: str) -> tuple[Transition, ...]:
        """Return the shortest route from one state to another, whatever the conditions.

        Parameters
        ----------
        origin, target : str
            Names of the states.

        Returns
        -------
        tuple of Transition
            The first shortest route that a breadth-first search finds; empty where both states are one.

        Raises
        ------
        KeyError
            If there is no such state.
        ValueError
            If no transitions lead from `origin` to `target`.
        """
        known("route", "state", origin, self._states, "origin")
        known("route", "state", target, self._states, "target")
        routes: dict[str, tuple[Transition, ...]] = {origin: ()}
        waiting = deque([origin])
        while waiting and target not in routes:
            name = waiting.popleft()
            for one in self._outgoing[name]:
                if one.target not in routes:
                    routes[one.target] = (*routes[name], one)
                    waiting.append(one.target)
        if target not in routes:
            raise ValueError(f"no transitions lead from {quoted(origin)} to {quoted(target)}")
        return routes[target]

    def to_dict(self) -> dict[str, Any]:
        """Return the machine as data that the constructor takes.

        Returns
        -------
        dict
            The data, without the keys that have their default value.
        """
        parameters = {
            name: "trigger" if name in self._triggers else v for name, v in self._parameters.items()
        }
        return {
            "start": self._start,
            "parameters": parameters,
            "states": {name: state_data(state) for name, state in self._states.items()},
            "transitions": [transition_data(one) for one in self._transitions],
        }

    def to_json(self) -> str:
        """Return the machine as JSON.

        Returns
        -------
        str
            Indented JSON that `from_json` reads.
        """
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> StateMachine:
        """Return the machine of a JSON text.

        Parameters
        ----------
        text : str or bytes
            The data as JSON.

        Returns
        -------
        StateMachine
            The machine.

        Raises
        ------
        KeyError
            If a state or a parameter is unknown.
        ValueError
            If the text is not JSON, or the machine has a fault.
        TypeError
            If a value has the wrong type.
        """
        return cls(parse_json("text", text))

    def save(self, path: PathLike) -> None:
        """Write the machine to a JSON file, which appears whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            The file.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        with replacing(path) as file:
            file.write((self.to_json() + "\n").encode("utf-8", "backslashreplace"))

    @classmethod
    def load(cls, path: PathLike) -> StateMachine:
        """Return the machine of a JSON file.

        Parameters
        ----------
        path : str or os.PathLike
            The file.

        Returns
        -------
        StateMachine
            The machine.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        KeyError
            If a state or a parameter is unknown.
        ValueError
            If the text is not JSON, or the machine has a fault.
        TypeError
            If a value has the wrong type.
        """
        name = path_of("path", path)
        file = f"the file {quoted(name)}"
        with opened("path", name) as stream:
            data = parse_json(file, stream.read())
        try:
            return cls(data)
        except (KeyError, TypeError, ValueError) as error:
            raise type(error)(f"{file} holds no state machine: {error.args[0]}") from None

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
