"""The words and numbers of an explanation that its text and its HTML share."""

from typing import TYPE_CHECKING

import numpy as np

from .._types import Array

if TYPE_CHECKING:
    from .explanation import Explanation, JointStep, MorphStep, Sampled

_MAX_NAME = 40  # characters of a name that are shown


def quoted(name: str) -> str:
    """Return a name in quotes; characters that cannot be printed are escaped, long names are shortened."""
    shown = repr(name)
    return shown if len(shown) <= _MAX_NAME else f"{shown[: _MAX_NAME - 12]}...{shown[-9:]}"


def numbers(values: Array) -> list[str]:
    """Return numbers with as many decimals as fit into ten characters for the largest of them."""
    flat = np.asarray(values, np.float64).ravel()
    largest = float(np.abs(flat).max(initial=0.0))
    if largest and not 1e-3 <= largest < 1e7:
        return [f"{number + 0.0:.3e}" for number in flat]
    decimals = 6 - max(int(np.floor(np.log10(largest))), 0) if largest else 6
    return [f"{round(float(number), decimals) + 0.0:.{decimals}f}" for number in flat]


def row(values: Array) -> str:
    """Return numbers in one line, in columns of eleven characters."""
    return "".join(f"{number:>11}" for number in numbers(values))


def error(value: float | None) -> str:
    """Return a distance in a few digits."""
    return "-" if value is None else f"{value:.1e}" if value else "0"


def title(explanation: "Explanation") -> str:
    """Return the title: the vertex, the clip and the time."""
    one = explanation
    when = "in the rest pose" if one.clip is None else f"in {quoted(one.clip)} at {one.time:g} s"
    return f"Vertex {one.vertex} of {quoted(one.submesh)} {when}"


def clock(explanation: "Explanation") -> str:
    """Return the sentence that takes the time asked for to the time within the clip."""
    one = explanation
    if one.clip is None:
        return "There is no clip, so every joint is at rest."
    return (
        f'{one.time:g} s with loop "{one.loop}" is {one.local_time:.6g} s within the clip, '
        f"which lasts {one.duration:.6g} s."
    )


def keys(sampled: "Sampled") -> str:
    """Return which keys count, and how."""
    first, count = sampled.key, sampled.key_count
    if len(sampled.times) == 1:
        if count == 1:
            return f"{sampled.interpolation}, the only key, at {sampled.times[0]:.6g} s"
        which = "first" if first == 0 else "last"
        return f"{sampled.interpolation}, held at the {which} of {count} keys, at {sampled.times[0]:.6g} s"
    start, end = sampled.times
    return (
        f"{sampled.interpolation}, keys {first} and {first + 1} of {count}, "
        f"at {start:.6g} s and {end:.6g} s, fraction {sampled.fraction:.4f}"
    )


def key_rows(sampled: "Sampled") -> list[tuple[str, Array]]:
    """Return the numbers of a channel, each line with its name."""
    rows = [(f"key {sampled.key + n}", value) for n, value in enumerate(sampled.values)]
    if sampled.out_tangent is not None and sampled.in_tangent is not None:
        rows.insert(1, ("out tangent", sampled.out_tangent))
        rows.insert(2, ("in tangent", sampled.in_tangent))
    return [*rows, ("value", sampled.value)]


def components(step: "JointStep") -> list[tuple[str, Array]]:
    """Return T, R and S of a joint, each with its source: keys or rest."""
    moved = {sampled.path for sampled in step.channels}
    paths = {"T": "translation", "R": "rotation", "S": "scale"}
    return [
        (f"{letter} ({'keys' if path in moved else 'rest'})", getattr(step, path))
        for letter, path in paths.items()
    ]


def local_source(step: "JointStep") -> str:
    """Return the formula of the local matrix of a joint."""
    return "local = rest matrix of the file" if step.at_rest else "local = T * R * S"


def global_source(step: "JointStep") -> str:
    """Return the formula of the global matrix of a joint."""
    return "global = local (a root)" if step.parent < 0 else f"global = global of joint {step.parent} * local"


def weighted(step: "MorphStep") -> str:
    """Return a morph target and its weight."""
    source = "" if step.sampled is not None else " by default (no channel moves it)"
    return f"target {step.target} {quoted(step.name)}, weight {step.weight:.6g}{source}"


def palette_error(explanation: "Explanation") -> str:
    """Return the sentence on the difference of the palettes."""
    error_text = error(explanation.palette_error)
    return f"The palette of the C code differs from these matrices by {error_text} at most."
