"""The picture of a Comparison."""

from typing import TYPE_CHECKING

from .._plots import INK, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .comparison import Comparison

_COLORS = {"vertex": "#b5482f", "keyed": "#d9924a", "rigid": "#7a8ea3", "skinned": "#2f5f98", "uv": "#5b8c5a"}
_LEAST = 1e-6  # percent of the size: less is drawn as this


def draw(comparison: "Comparison") -> "Figure":
    """Bytes of motion on the left, errors on the right, both on logarithmic scales; one line per row."""
    rows = comparison.rows
    figure = new_figure(9.0, 0.7 + 0.42 * (len(rows) + 1))
    left, right = figure.subplots(1, 2, sharey=True)
    places = range(len(rows))
    colors = [_COLORS[row.kind] for row in rows]
    left.barh(places, [max(row.motion, 1) for row in rows], color=colors, height=0.62)
    left.set_xscale("log")
    left.set_yticks(places, [row.name for row in rows])
    for place, row in enumerate(rows):
        left.annotate(
            f"{row.motion:,}",
            (max(row.motion, 1), place),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=INK,
        )
    smallest, largest = (pick(max(row.motion, 1) for row in rows) for pick in (min, max))
    left.set_xlim(smallest / 4, largest * 40)  # room for the numbers
    left.set_xlabel("bytes of motion")
    right.scatter([max(row.max_percent, _LEAST) for row in rows], places, color=colors, s=48, label="max")
    right.scatter(
        [max(row.rms_percent, _LEAST) for row in rows],
        places,
        facecolors="none",
        edgecolors=colors,
        s=48,
        label="RMS",
    )
    right.set_xscale("log")
    right.margins(x=0.1)
    right.set_xlabel("error, percent of the size")
    if comparison.size > 0 and comparison.allowed > 0:
        bound = 100.0 * comparison.allowed / comparison.size
        right.axvline(bound, color=INK, linestyle=":", linewidth=1.0, label="allowed")
    right.legend(loc="upper left", fontsize=8, frameon=False, labelcolor=INK, ncols=3, borderaxespad=0.1)
    right.set_ylim(len(rows) - 0.5, -1.1)
    for axes in (left, right):
        tidy(axes, "x")
    figure.suptitle(
        f"{comparison.clip}: {comparison.duration:.2f} s, {comparison.vertices:,} vertices", color=INK
    )
    return figure
