"""An explanation as HTML: tables and folds, without scripts; the page loads nothing."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .._text import html_text
from .._types import Array
from . import words

if TYPE_CHECKING:
    from .explanation import Explanation, Influence, JointStep, Outcome, Sampled

_STYLE = """
.skinpy-explain { line-height: 1.45; max-width: 60em; }
.skinpy-explain h3 { margin: 1.4em 0 0.3em; font-size: 1.05em; }
.skinpy-explain h3.title { margin-top: 0; font-size: 1.25em; }
.skinpy-explain p { margin: 0.3em 0; }
.skinpy-explain table { border-collapse: collapse; margin: 0.3em 1.2em 0.6em 0; font-size: 0.92em; }
.skinpy-explain td, .skinpy-explain th { padding: 0.08em 0.55em; text-align: right; border: 0;
  font-weight: normal; font-variant-numeric: tabular-nums; background: none; white-space: nowrap; }
.skinpy-explain th { color: #6b7785; }
.skinpy-explain td.name, .skinpy-explain th.name { text-align: left; }
.skinpy-explain table.matrix { border: solid #8796a8; border-width: 0 1.5px; border-radius: 5px; }
.skinpy-explain .side { display: flex; flex-wrap: wrap; align-items: flex-end; }
.skinpy-explain .side p { color: #6b7785; font-size: 0.92em; }
.skinpy-explain details { border-left: 3px solid #2f5f9866; margin: 0.4em 0; padding-left: 0.8em; }
.skinpy-explain summary { cursor: pointer; }
"""


def as_page(explanation: "Explanation") -> str:
    """Return a whole page; see `Explanation.html`."""
    title = _text(words.title(explanation))
    style = "body { font-family: system-ui, sans-serif; margin: 2em auto; padding: 0 1em; max-width: 62em; }"
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>{style}</style>\n</head>\n<body>\n{as_fragment(explanation)}\n</body>\n</html>\n"
    )


def as_fragment(explanation: "Explanation") -> str:
    """Return the HTML that a notebook shows."""
    steps = (_vertex, _influences, _joints, _palette, _sum, _outcomes)
    lines = [
        f"<style>{_STYLE}</style>",
        f'<h3 class="title">{_text(words.title(explanation))}</h3>',
        f"<p>{_text(words.clock(explanation))}</p>",
    ]
    for number, step in enumerate(steps, 1):
        heading, *rest = step(explanation)
        lines += [f"<h3>{number}. {heading}</h3>", *rest]
    return '<div class="skinpy-explain">\n' + "\n".join(lines) + "\n</div>"


# ---- steps -----------------------------------------------------------------------------------------------


def _vertex(one: "Explanation") -> Iterator[str]:
    yield "The vertex in mesh space, in bind pose"
    yield _rows([("position", one.bind_position), ("normal", one.bind_normal)])
    for step in one.morphs:
        yield f"<p>Morph {_text(words.weighted(step))}</p>"
        if step.sampled is not None:
            yield _channel(step.sampled)
        yield _rows([("adds", step.weight * step.position), ("to the normal", step.weight * step.normal)])
    if one.morphs:
        yield _rows([("morphed position", one.position), ("its normal", one.normal)])
    else:
        yield "<p>No morph target moves the vertex.</p>"


def _influences(one: "Explanation") -> Iterator[str]:
    yield "The palette slots that move the vertex, and their weights"
    lines = [
        [str(each.slot), str(each.joint), f"{each.weight:.6f}", words.quoted(each.name)]
        for each in one.influences
    ]
    lines.append(["sum", "", f"{sum(each.weight for each in one.influences):.6f}", ""])
    yield _table(lines, ["slot", "joint", "weight", "name"], named=3)


def _channel(sampled: "Sampled") -> str:
    return f"<p>{sampled.path}: {_text(words.keys(sampled))}</p>" + _rows(words.key_rows(sampled))


def _joints(one: "Explanation") -> Iterator[str]:
    yield "The joints, from the root: keys &rarr; T, R, S &rarr; local &rarr; global"
    ends = {each.joint for each in one.influences}
    for step in one.joints:
        yield _joint(step, step.joint in ends)


def _joint(step: "JointStep", is_open: bool) -> str:
    title = f"joint {step.joint} <b>{_text(words.quoted(step.name))}</b>, parent {step.parent}"
    body = [_channel(sampled) for sampled in step.channels]
    body.append(_rows(words.components(step)) if step.channels else "<p>No channel moves the joint.</p>")
    body.append(
        _side_by_side((words.local_source(step), step.local), (words.global_source(step), step.globals))
    )
    return _fold(title, body, is_open)


def _palette(one: "Explanation") -> Iterator[str]:
    yield "The palette matrices: global of the joint * inverse bind"
    for each in one.influences:
        yield _slot(each)
    yield f"<p>{words.palette_error(one)}</p>"


def _slot(each: "Influence") -> str:
    name = f"<b>{_text(words.quoted(each.name))}</b>"
    title = f"slot {each.slot}, joint {each.joint} {name}, weight {each.weight:.6f}"
    matrices = _side_by_side(("inverse bind (offset matrix)", each.inverse_bind), ("palette", each.palette))
    return _fold(title, [matrices, _rows([("by this slot", each.position)])], True)


def _sum(one: "Explanation") -> Iterator[str]:
    yield "The weighted sum of the palette matrices, and the vertex multiplied by it"
    yield _side_by_side(("M = sum of weight * palette", one.matrix), ("for row vectors", one.matrix.T))
    best = one["NumPy"]
    assert best.position is not None and best.normal is not None
    yield _rows([("M @ position", best.position), ("normal", best.normal)])
    yield "<p>The normal is cofactors of M @ normal, of length 1.</p>"


def _outcomes(one: "Explanation") -> Iterator[str]:
    yield "The same result by every method"
    head = ["method", "position", "", "", "off by", "normal", "", "", "off by"]
    yield _table([_outcome(each) for each in one.outcomes], head, named=0)
    yield "<p>The columns &quot;off by&quot; have the distance from NumPy's result, in model units.</p>"
    for each in one.outcomes:
        yield f"<p>{_text(each.way)}: {_text(each.note)}</p>"


def _outcome(each: "Outcome") -> list[str]:
    if each.position is None or each.normal is None:
        return [each.way, "skipped", *[""] * 7]
    position = [*words.numbers(each.position), words.error(each.position_error)]
    normal = [*words.numbers(each.normal), words.error(each.normal_error)]
    return [each.way, *position, *normal]


# ---- HTML ------------------------------------------------------------------------------------------------


def _text(string: str) -> str:
    """Return a string as HTML text."""
    return html_text(string)


def _fold(title: str, body: Iterable[str], is_open: bool) -> str:
    opened = " open" if is_open else ""
    return f"<details{opened}><summary>{title}</summary>" + "".join(body) + "</details>"


def _table(lines: Iterable[list[str]], head: list[str], named: int) -> str:
    """Return a table; the column `named` holds names."""

    def row(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(cell(number, text, tag) for number, text in enumerate(cells)) + "</tr>"

    def cell(number: int, text: str, tag: str) -> str:
        style = ' class="name"' if number == named else ""
        return f"<{tag}{style}>{_text(text)}</{tag}>"

    body = "".join(row(cells, "td") for cells in lines)
    return f"<table><thead>{row(head, 'th')}</thead><tbody>{body}</tbody></table>"


def _rows(rows: Iterable[tuple[str, Array]]) -> str:
    """Return a table of numbers, one line each, with names in front."""
    lines = []
    for name, values in rows:
        cells = "".join(f"<td>{number}</td>" for number in words.numbers(values))
        lines.append(f'<tr><th class="name">{_text(name)}</th>{cells}</tr>')
    return "<table>" + "".join(lines) + "</table>"


def _side_by_side(*matrices: tuple[str, Array]) -> str:
    return '<div class="side">' + "".join(_matrix(name, each) for name, each in matrices) + "</div>"


def _matrix(name: str, matrix: Array) -> str:
    cells = [f"<td>{number}</td>" for number in words.numbers(matrix)]
    lines = ["<tr>" + "".join(cells[start : start + 4]) + "</tr>" for start in range(0, 16, 4)]
    return f'<div><p>{_text(name)}</p><table class="matrix">{"".join(lines)}</table></div>'
