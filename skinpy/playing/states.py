"""The records of a state machine: states, transitions and their conditions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal

from .blend_space import BlendSpace1D, BlendSpace2D

__all__ = ["Condition", "State", "Transition"]

Value = float | bool
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Condition:
    """A comparison of a parameter with a value.

    In the data it is ``["speed", ">", 0.1]``, or ``["jump"]`` for a parameter that must be true.

    Attributes
    ----------
    name : str
        Name of the parameter.
    operator : {">", ">=", "<", "<=", "==", "!="}
        The comparison.
    value : float or bool
        What the parameter is compared with.
    is_trigger : bool
        Whether the parameter is a trigger, which a transition with this condition uses up.
    """

    name: str
    operator: str
    value: Value
    is_trigger: bool = False

    def holds(self, value: Value) -> bool:
        """Return whether the condition holds for a value of the parameter.

        Parameters
        ----------
        value : float or bool
            The value of the parameter.

        Returns
        -------
        bool
            Whether the condition holds.
        """
        return OPERATORS[self.operator](value, self.value)


@dataclass(frozen=True)
class State:
    """What plays in one state: a clip or a blend space.

    Attributes
    ----------
    clip : str, int or None
        Name or index of the clip; None where a space plays.
    space : BlendSpace1D, BlendSpace2D or None
        The blend space.
    parameter : tuple of str
        Names of the parameters that move the space: one for a line, two for a plane.
    loop : {"wrap", "once"}
        Whether the clip repeats.
    speed : float
        Seconds of the clip per second, above 0.
    final : bool
        Whether a state without a transition out of it may end.
    """

    clip: str | int | None = None
    space: BlendSpace1D | BlendSpace2D | None = None
    parameter: tuple[str, ...] = ()
    loop: Literal["wrap", "once"] = "wrap"
    speed: float = 1.0
    final: bool = False


@dataclass(frozen=True)
class Transition:
    """A transition from one state, or from any ("*"), to another.

    Attributes
    ----------
    origin : str
        Name of the state that is left; "from" in the data.
    target : str
        Name of the state that is entered; "to" in the data.
    when : tuple of Condition
        Conditions, all of which must hold.
    fade : float, seconds
        Length of the cross-fade.
    ease : {"linear", "smooth"}
        Course of the cross-fade.
    switch : {"immediate", "end", "sync"}
        When the transition happens once its conditions hold: at once, at the end of the clip, or at the sync
        point.
    sync : str, float or None
        The sync point: name of an event, or a phase from 0 to below 1.
    warp : bool
        Whether the phases of both clips stay equal during the fade.
    method : {"blend", "inertial"}
        Whether both clips play and are blended, or only the new one plays, as in
        `AnimationController.cross_fade`.
    priority : int
        Of several transitions at one time, the highest priority is taken, then the first in the list.
    """

    origin: str
    target: str
    when: tuple[Condition, ...] = ()
    fade: float = 0.0
    ease: Literal["linear", "smooth"] = "linear"
    switch: Literal["immediate", "end", "sync"] = "immediate"
    sync: str | float | None = None
    warp: bool = False
    method: Literal["blend", "inertial"] = "blend"
    priority: int = 0


def state_data(state: State) -> dict[str, Any]:
    """Return a state as data."""
    data = _changed(state)
    if state.space is not None:
        data["space"] = state.space.to_dict()
    if state.parameter:
        data["parameter"] = state.parameter[0] if len(state.parameter) == 1 else list(state.parameter)
    return data


def transition_data(transition: Transition) -> dict[str, Any]:
    """Return a transition as data."""
    data = {"from": transition.origin, "to": transition.target} | _changed(transition)
    del data["origin"], data["target"]
    if transition.when:
        data["when"] = [_condition_data(condition) for condition in transition.when]
    return data


def _condition_data(condition: Condition) -> list[Any]:
    """Return a condition as data: the name alone for a parameter that must be true."""
    if condition.value is True and condition.operator == "==":
        return [condition.name]
    return [condition.name, condition.operator, condition.value]


def _changed(record: State | Transition) -> dict[str, Any]:
    """Return the fields that do not have their default value."""
    values = {field.name: (getattr(record, field.name), field.default) for field in fields(record)}
    return {name: value for name, (value, usual) in values.items() if usual is MISSING or value != usual}
