"""The figure of a comparison: bytes and errors of each form."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._plots import INK, new_figure, put_title, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .comparison import Comparison, Row

_COLORS = {"vertex": "#b5482f", "keyed": "#d9924a", "rigid": "#7a8ea3", "skinned": "#2f5f98", "uv": "#5b8c5a"}
_MIN_PERCENT = 1e-6  # of the size: smaller errors are drawn as this


def draw(comparison: "Comparison") -> "Figure":
    """Return a figure with bytes of motion on the left and errors on the right, one line per row."""
    rows = comparison.rows
    figure = new_figure(9.0, 0.7 + 0.42 * (len(rows) + 1))
    left, right = figure.subplots(1, 2, sharey=True)
    colors = [_COLORS[row.kind] for row in rows]
    _draw_bytes(left, rows, colors)
    _draw_errors(right, comparison, colors)
    right.set_ylim(len(rows) - 0.5, -1.1)
    for axes in (left, right):
        tidy(axes, "x")
    put_title(figure, f"{comparison.clip}: {comparison.duration:.2f} s, {comparison.vertices:,} vertices")
    return figure


def _draw_bytes(axes: "Axes", rows: "Sequence[Row]", colors: list[str]) -> None:
    """Draw a bar for the bytes of each row, with their number."""
    sizes = [max(row.motion, 1) for row in rows]
    lines = range(len(rows))
    axes.barh(lines, sizes, color=colors, height=0.62)
    axes.set_xscale("log")
    axes.set_yticks(lines, [row.name for row in rows])
    for line, row in enumerate(rows):
        axes.annotate(
            f"{row.motion:,}",
            (sizes[line], line),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=INK,
        )
    axes.set_xlim(min(sizes) / 4, max(sizes) * 40)  # room for the numbers
    axes.set_xlabel("bytes of motion")


def _draw_errors(axes: "Axes", comparison: "Comparison", colors: list[str]) -> None:
    """Draw a dot for the largest error and a ring for the RMS error of each row, and the error allowed."""
    rows = comparison.rows
    lines = range(len(rows))
    axes.scatter([max(row.max_percent, _MIN_PERCENT) for row in rows], lines, color=colors, s=48, label="max")
    axes.scatter(
        [max(row.rms_percent, _MIN_PERCENT) for row in rows],
        lines,
        facecolors="none",
        edgecolors=colors,
        s=48,
        label="RMS",
    )
    axes.set_xscale("log")
    axes.margins(x=0.1)
    axes.set_xlabel("error, percent of the size")
    if comparison.size > 0 and comparison.allowed > 0:
        bound = 100.0 * comparison.allowed / comparison.size
        axes.axvline(bound, color=INK, linestyle=":", linewidth=1.0, label="allowed")
    axes.legend(loc="upper left", fontsize=8, frameon=False, labelcolor=INK, ncols=3, borderaxespad=0.1)
