"""An explanation as text of at most 100 columns."""

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._types import Array
from . import words

if TYPE_CHECKING:
    from .explanation import Explanation, Influence, JointStep, Sampled

_WIDTH = 100


def as_text(explanation: "Explanation") -> str:
    """Return the text; see `Explanation.text`."""
    steps = (_vertex, _influences, _joints, _palette, _sum, _outcomes)
    lines = [_fit(words.title(explanation)), "  " + words.clock(explanation)]
    for number, step in enumerate(steps, 1):
        heading, *rest = step(explanation)
        lines += ["", f"{number}. {heading}", *rest]
    return "\n".join(line.rstrip() for line in lines)


def _fit(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 3] + "..."


def _line(name: str, values: Array, indent: int = 3) -> str:
    return f"{' ' * indent}{name:<14}{words.row(values)}"


def _vertex(one: "Explanation") -> Iterator[str]:
    yield "The vertex in mesh space, in bind pose"
    yield _line("position", one.bind_position)
    yield _line("normal", one.bind_normal)
    for step in one.morphs:
        yield _fit(f"   morph {words.weighted(step)}")
        if step.sampled is not None:
            yield from _channel(step.sampled)
        yield _line("  adds", step.weight * step.position)
        yield _line("  to normal", step.weight * step.normal)
    if one.morphs:
        yield _line("morphed", one.position)
        yield _line("its normal", one.normal)
    else:
        yield "   No morph target moves the vertex."


def _influences(one: "Explanation") -> Iterator[str]:
    yield "The palette slots that move the vertex, and their weights"
    yield f"   {'slot':>5}  {'joint':>5}  {'weight':>9}  name"
    for each in one.influences:
        yield f"   {each.slot:>5}  {each.joint:>5}  {each.weight:9.6f}  {words.quoted(each.name)}"
    yield f"   {'sum':>12}  {sum(each.weight for each in one.influences):9.6f}"


def _channel(sampled: "Sampled") -> Iterator[str]:
    yield f"   {sampled.path}: {words.keys(sampled)}"
    for name, values in words.key_rows(sampled):
        yield _line(f"  {name}", values)


def _joints(one: "Explanation") -> Iterator[str]:
    yield "The joints, from the root: keys -> T, R, S -> local -> global"
    for number, step in enumerate(one.joints):
        if number:
            yield ""
        yield _fit(f"   -- joint {step.joint} {words.quoted(step.name)}, parent {step.parent}")
        for sampled in step.channels:
            yield from _channel(sampled)
        yield from _matrices(step)


def _matrices(step: "JointStep") -> Iterator[str]:
    if not step.channels:
        yield "   No channel moves the joint."
    for name, values in words.components(step) if step.channels else ():
        yield _line(name, values)
    yield from _side_by_side(
        (words.local_source(step), step.local), (words.global_source(step), step.globals)
    )


def _side_by_side(*matrices: tuple[str, Array]) -> Iterator[str]:
    """Yield matrices with headings, 44 columns each."""
    yield "   " + "".join(f"{heading:<48}" for heading, _ in matrices)
    texts = [words.numbers(matrix) for _, matrix in matrices]
    for start in range(0, 16, 4):
        cells = ["".join(f"{text:>11}" for text in each[start : start + 4]) for each in texts]
        yield "   " + "    ".join(cells)


def _palette(one: "Explanation") -> Iterator[str]:
    yield "The palette matrices: global of the joint * inverse bind"
    for number, each in enumerate(one.influences):
        if number:
            yield ""
        yield from _slot(each)
    yield f"   {words.palette_error(one)}"


def _slot(each: "Influence") -> Iterator[str]:
    name = words.quoted(each.name)
    yield _fit(f"   -- slot {each.slot}, joint {each.joint} {name}, weight {each.weight:.6f}")
    yield from _side_by_side(("inverse bind (offset matrix)", each.inverse_bind), ("palette", each.palette))
    yield _line("by this slot", each.position)


def _sum(one: "Explanation") -> Iterator[str]:
    yield "The weighted sum of the palette matrices, and the vertex multiplied by it"
    yield from _side_by_side(("M = sum of weight * palette", one.matrix), ("for row vectors", one.matrix.T))
    best = one["NumPy"]
    assert best.position is not None and best.normal is not None
    yield _line("M @ position", best.position)
    yield _line("normal", best.normal) + "   (cofactors of M @ normal, of length 1)"


def _outcomes(one: "Explanation") -> Iterator[str]:
    yield "The same result by every method (off by: distance from NumPy's, in model units)"
    yield f"   {'':<13}{'position':>33}  off by{'normal':>33}  off by"
    for each in one.outcomes:
        name = f"   {each.way:<13}"
        if each.position is None or each.normal is None:
            name += "  "
            hanging = " " * len(name)
            yield from textwrap.wrap(each.note, _WIDTH, initial_indent=name, subsequent_indent=hanging)
            continue
        cells = zip((each.position, each.normal), (each.position_error, each.normal_error), strict=True)
        yield name + "".join(f"{words.row(values)}{words.error(off):>8}" for values, off in cells)
    for each in one.outcomes:
        if each.position is not None:
            yield f"   {each.way}: {each.note}"
