"""Figures and axes in the style of skinpy. matplotlib is imported late, and without pyplot and its state."""

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._arguments import brief, path_of
from ._signals import answered
from ._text import printable
from ._types import PathLike
from .files.whole import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#2b3440"


def new_figure(width: float, height: float) -> "Figure":
    """An empty Figure, with sizes in inches; ImportError that names the extra if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plot() needs matplotlib: pip install 'skinpy-anim[plot]'") from None
    figure = Figure(figsize=(width, height), dpi=100, layout="constrained")
    # Notebooks can show figures only after pyplot has been imported. This figure shows itself without it.
    vars(figure)["_repr_png_"] = partial(_png, figure)
    return figure


def _png(figure: "Figure") -> bytes:
    """The figure as a PNG."""
    buffer = io.BytesIO()
    with answered():
        figure.savefig(buffer, format="png")
    return buffer.getvalue()


def put_title(figure: "Figure", words: str) -> None:
    """Write a title above a figure; names in it are no formulas of matplotlib."""
    figure.suptitle(printable(words).replace("$", r"\$"), color=INK)


def tidy(axes: "Axes", grid: Any) -> None:
    """Reduce axes to thin lines, with a grid along "x", "y" or "both"."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=INK, labelsize=9)
    axes.grid(axis=grid, color="#d5dbe3", linewidth=0.6)
    axes.set_axisbelow(True)


def plotted(draw: Callable[[], "Figure"], path: PathLike | None) -> "Figure":
    """The figure that `draw` makes, which is also written to a path; the file extension selects the format.

    The file appears whole or not at all. ValueError for a file extension that matplotlib does not know.
    """
    # matplotlib replaces exceptions raised in some callbacks by ValueError, KeyboardInterrupt too.
    with answered():
        figure = draw()
        if path is not None:
            _save(figure, path)
    return figure


def _save(figure: "Figure", path: PathLike) -> None:
    """Write the figure to a file."""
    ending = Path(path_of("path", path)).suffix
    suffix = ending.lower()[1:]
    known = figure.canvas.get_supported_filetypes()
    if suffix not in known:
        raise ValueError(f"path ends in {brief(ending)}; expected one of {', '.join(known)}")
    with replacing(path) as file:
        figure.savefig(file, format=suffix)
