"""What can go wrong in a state machine as a whole: states beyond reach, dead ends, endless circles."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .state_machine import Condition, State, Transition

Edges = Mapping[str, Sequence[tuple[str, "tuple[Condition, ...]"]]]


def check_ways(start: str, states: "Mapping[str, State]", ways: "Mapping[str, Sequence[Transition]]") -> None:
    """ValueError for states that no way leads to from the start, and for those that end with no way out."""
    found, waiting = {start}, [start]
    while waiting:
        for transition in ways[waiting.pop()]:
            if transition.target not in found:
                found.add(transition.target)
                waiting.append(transition.target)
    lost = [name for name in states if name not in found]
    if lost:
        raise ValueError(f"no transitions lead from the start {start!r} to {', '.join(map(repr, lost))}")
    for name, state in states.items():
        if state.loop == "once" and not state.final and not ways[name]:
            raise ValueError(f'state {name!r} ends and no transition leads out of it; mark it "final": true')


def check_circles(ways: "Mapping[str, Sequence[Transition]]", instant: Iterable[str] = ()) -> None:
    """ValueError for a circle of transitions that could be taken again and again without any time passing.

    Those are immediate ones, and all out of the states in `instant`, whose clips have no length. A trigger
    is used up, so a circle with one ends; one whose conditions cannot all hold is never taken either.
    """
    at_once = set(instant)
    edges = {
        name: [
            (one.target, one.when)
            for one in transitions
            if (one.switch == "immediate" or name in at_once)
            and not any(part.is_trigger for part in one.when)
        ]
        for name, transitions in ways.items()
    }
    names = list(edges)
    for first in names:
        circle = _circle(edges, first, [first], ())
        if circle:
            raise ValueError(
                f"the transitions {' -> '.join(map(repr, [*circle, first]))} could follow each other at one "
                'instant without end; use "end" or "sync", a trigger, or conditions that exclude each other'
            )
        # Circles through it are done with: fewer ways for the rest.
        edges = {
            name: [edge for edge in out if edge[0] != first] for name, out in edges.items() if name != first
        }


def _circle(edges: Edges, first: str, path: list[str], when: "tuple[Condition, ...]") -> list[str] | None:
    """The states of a circle that goes on from `path` back to `first` with conditions that can all hold."""
    for target, conditions in edges[path[-1]]:
        together = (*when, *conditions)
        if (target != first and target in path) or not can_hold(together):
            continue
        found = path if target == first else _circle(edges, first, [*path, target], together)
        if found:
            return found
    return None


def can_hold(conditions: "Sequence[Condition]") -> bool:
    """Whether some values of the parameters fulfil all conditions at once."""
    names = {condition.name for condition in conditions}
    return all(_one_can_hold([part for part in conditions if part.name == name]) for name in names)


def _one_can_hold(conditions: "Sequence[Condition]") -> bool:
    """The same for conditions on one parameter: it is enough to try the bounds, and what lies around them."""
    bounds = sorted({condition.value for condition in conditions})
    if isinstance(conditions[0].value, bool):
        return any(all(part.holds(value) for part in conditions) for value in (False, True))
    between = [(low + high) / 2 for low, high in itertools.pairwise(bounds)]
    tries = [*bounds, *between, bounds[0] - 1 - abs(bounds[0]), bounds[-1] + 1 + abs(bounds[-1])]
    return any(all(part.holds(value) for part in conditions) for value in tries)
