"""Numbers and names of an Explanation, as its text and its HTML both write them."""

from typing import TYPE_CHECKING

import numpy as np

from .._types import Array

if TYPE_CHECKING:
    from .explanation import Explanation, JointStep, MorphStep, Outcome, Sampled

_LONGEST = 40  # letters of a name that are shown


def quoted(name: str) -> str:
    """A name in quotes, with what cannot be printed escaped, and the middle left out of long ones."""
    words = repr(name)
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 12]}...{words[-9:]}"


def numbers(values: Array) -> list[str]:
    """Numbers with as many decimals as the largest of them leaves room for in ten letters."""
    flat = np.asarray(values, np.float64).ravel()
    largest = float(np.abs(flat).max(initial=0.0))
    if largest and not 1e-3 <= largest < 1e7:
        return [f"{number + 0.0:.3e}" for number in flat]
    decimals = 6 - max(int(np.floor(np.log10(largest))), 0) if largest else 6
    return [f"{round(float(number), decimals) + 0.0:.{decimals}f}" for number in flat]


def row(values: Array) -> str:
    """Numbers in one line, in columns of eleven letters."""
    return "".join(f"{number:>11}" for number in numbers(values))


def error(value: float | None) -> str:
    """A distance, in a few digits."""
    return "-" if value is None else f"{value:.1e}" if value else "0"


def title(explanation: "Explanation") -> str:
    """What is explained."""
    one = explanation
    place = "in the rest pose" if one.clip is None else f"in {quoted(one.clip)} at {one.time:g} s"
    return f"Vertex {one.vertex} of {quoted(one.submesh)} {place}"


def clock(explanation: "Explanation") -> str:
    """From the time asked for to the time within the clip."""
    one = explanation
    if one.clip is None:
        return "No clip: every joint is at rest."
    return f'{one.time:g} s with loop "{one.loop}" is {one.local_time:.6g} s of {one.duration:.6g} s.'


def keys(sampled: "Sampled") -> str:
    """Which keys count, and how."""
    first, count = sampled.key, sampled.key_count
    if len(sampled.times) == 1:
        if count == 1:
            return f"{sampled.interpolation}, the only key, at {sampled.times[0]:.6g} s"
        which = "first" if first == 0 else "last"
        return f"{sampled.interpolation}, the {which} of {count} keys holds, at {sampled.times[0]:.6g} s"
    start, end = sampled.times
    return (
        f"{sampled.interpolation}, keys {first} and {first + 1} of {count}, "
        f"at {start:.6g} s and {end:.6g} s, fraction {sampled.fraction:.4f}"
    )


def key_rows(sampled: "Sampled") -> list[tuple[str, Array]]:
    """The numbers of a channel, each line with its name."""
    rows = [(f"key {sampled.key + n}", value) for n, value in enumerate(sampled.values)]
    if sampled.out_tangent is not None and sampled.in_tangent is not None:
        rows.insert(1, ("out tangent", sampled.out_tangent))
        rows.insert(2, ("in tangent", sampled.in_tangent))
    return [*rows, ("value", sampled.value)]


def parts(step: "JointStep") -> list[tuple[str, Array]]:
    """T, R and S of a joint, each with where it comes from."""
    moved = {sampled.path for sampled in step.channels}
    paths = {"T": "translation", "R": "rotation", "S": "scale"}
    return [
        (f"{letter} ({'keys' if path in moved else 'rest'})", getattr(step, path))
        for letter, path in paths.items()
    ]


def origin(step: "JointStep") -> str:
    """Where a joint's local matrix comes from."""
    return "local = the file's rest matrix" if step.at_rest else "local = T * R * S"


def placed(step: "JointStep") -> str:
    """Where a joint's global matrix comes from."""
    return "global = local: a root" if step.parent < 0 else f"global = global of joint {step.parent} * local"


def weighed(step: "MorphStep") -> str:
    """A morph target and its weight."""
    source = "" if step.sampled is not None else ", as no channel moves it"
    return f"target {step.target} {quoted(step.name)}, weight {step.weight:.6g}{source}"


def way(outcome: "Outcome") -> str:
    """A way to compute the vertex, as people call it."""
    return {"shader": "vertex shader"}.get(outcome.way, outcome.way)
