"""Checks of a whole state machine: states that cannot be reached, dead ends, and endless cycles."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

from .._text import quoted
from .states import Condition, State, Transition

_Edges = Mapping[str, Sequence[tuple[str, tuple[Condition, ...]]]]


def check_reachable(
    start: str, states: Mapping[str, State], outgoing: Mapping[str, Sequence[Transition]]
) -> None:
    """Raise ValueError for states that cannot be reached, and for states that end without a way out."""
    found, waiting = {start}, [start]
    while waiting:
        for transition in outgoing[waiting.pop()]:
            if transition.target not in found:
                found.add(transition.target)
                waiting.append(transition.target)
    lost = [name for name in states if name not in found]
    if lost:
        names = ", ".join(map(repr, lost))
        raise ValueError(
            f"no transitions lead from the start {start!r} to {names}; expected a way to every state"
        )
    for name, state in states.items():
        if state.loop == "once" and not state.final and not outgoing[name]:
            raise ValueError(
                f'state {quoted(name)} ends and no transition leads out of it; mark it "final": true'
            )


def check_cycles(outgoing: Mapping[str, Sequence[Transition]], instant: Iterable[str] = ()) -> None:
    """Raise ValueError for a cycle of transitions that could be taken again and again at one time.

    Such transitions are immediate, or lead out of the states in `instant`, whose clips have no length. A
    trigger is used up, so a cycle with one ends. A cycle whose conditions cannot all hold is never taken.
    """
    at_once = set(instant)
    edges = {
        name: [
            (one.target, one.when)
            for one in transitions
            if (one.switch == "immediate" or name in at_once)
            and not any(condition.is_trigger for condition in one.when)
        ]
        for name, transitions in outgoing.items()
    }
    names = list(edges)
    for first in names:
        cycle = _cycle(edges, first, [first], ())
        if cycle:
            raise ValueError(
                f"the transitions {' -> '.join(map(repr, [*cycle, first]))} could follow each other at one "
                'time without end; use "end" or "sync", a trigger, or conditions that exclude each other'
            )
        # No cycle goes through this state, so the search goes on without it.
        edges = {
            name: [edge for edge in out if edge[0] != first] for name, out in edges.items() if name != first
        }


def _cycle(edges: _Edges, first: str, path: list[str], when: tuple[Condition, ...]) -> list[str] | None:
    """Return the states of a cycle from `path` back to `first` whose conditions can all hold."""
    for target, conditions in edges[path[-1]]:
        together = (*when, *conditions)
        if (target != first and target in path) or not can_hold(together):
            continue
        found = path if target == first else _cycle(edges, first, [*path, target], together)
        if found:
            return found
    return None


def can_hold(conditions: Sequence[Condition]) -> bool:
    """Return whether some values of the parameters fulfill all conditions at once."""
    names = {condition.name for condition in conditions}
    return all(
        _one_can_hold([condition for condition in conditions if condition.name == name]) for name in names
    )


def _one_can_hold(conditions: Sequence[Condition]) -> bool:
    """Return whether a value fulfills all conditions on one parameter.

    It is enough to try the bounds, and values between and beyond them.
    """
    bounds = sorted({condition.value for condition in conditions})
    if isinstance(conditions[0].value, bool):
        return any(all(condition.holds(value) for condition in conditions) for value in (False, True))
    between = [(low + high) / 2 for low, high in itertools.pairwise(bounds)]
    tries = [*bounds, *between, bounds[0] - 1 - abs(bounds[0]), bounds[-1] + 1 + abs(bounds[-1])]
    return any(all(condition.holds(value) for condition in conditions) for value in tries)
