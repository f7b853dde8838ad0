"""The table of what each form of a clip takes in bytes, and of its errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from .._plots import plotted
from .._text import html_text, quoted
from .._types import PathLike
from ..kinds import Kind

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Comparison", "Row"]


@dataclass(frozen=True)
class Row:
    """One form in which a clip can be stored, its bytes and its errors.

    Errors are distances from the vertices of the source clip, evaluated in float64.

    Attributes
    ----------
    name : str
        Name of the form, such as "key frames".
    kind : {"vertex", "keyed", "rigid", "skinned"}
        The kind of animation that the form is.
    geometry : int
        Bytes that are stored once, whatever the clip.
    motion : int
        Bytes of the clip.
    per_second : float or None
        Bytes of motion per second; None for a clip of duration 0.
    per_frame : int
        Bytes that are sent to the GPU for each picture, besides camera and lights.
    max_error : float, model units
        The largest distance of any vertex at any time.
    rms_error : float, model units
        The root of the mean square of all these distances.
    max_percent : float
        `max_error` in percent of the size.
    rms_percent : float
        `rms_error` in percent of the size.
    """

    name: str
    kind: Kind
    geometry: int
    motion: int
    per_second: float | None
    per_frame: int
    max_error: float
    rms_error: float
    max_percent: float
    rms_percent: float


@dataclass(frozen=True, repr=False)
class Comparison:
    """The table that `compare` returns; it shows itself in a terminal and in Jupyter.

    Attributes
    ----------
    rows : tuple of Row
        The forms in which the clip was stored.
    clip : str
        Name of the clip.
    duration : float, seconds
        Length of the clip.
    fps : float
        Frames per second of the full frames.
    allowed : float, model units
        The error that key frames, dropped keys and fewer bits were allowed.
    size : float, model units
        The longest side of the box around the vertices at the start of the clip.
    vertices : int
        Number of vertices of the model.
    """

    rows: tuple[Row, ...]
    clip: str
    duration: float
    fps: float
    allowed: float
    size: float
    vertices: int

    def to_dict(self) -> dict[str, Any]:
        """Return the table as data for JSON.

        Returns
        -------
        dict
            The fields by name, as numbers, strings, lists and dicts.
        """
        found = asdict(self)
        found["rows"] = list(found["rows"])
        return found

    @property
    def _title(self) -> str:
        return (
            f"{quoted(self.clip)}: {self.duration:.3f} s, {self.vertices:,} vertices, {self.fps:g} frames/s; "
            f"size {self.size:.4g}, error allowed {self.allowed:.3g}"
        )

    def __repr__(self) -> str:
        table = [_HEADINGS, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[column]) for line in table) for column in range(len(_HEADINGS))]
        lines = [
            "  ".join(
                cell.ljust(width) if not column else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in table
        ]
        return "\n".join([self._title, *lines])

    def _repr_html_(self) -> str:
        def line(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html_text(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line(_cells(row), "td") for row in self.rows)
        caption = f"<caption>{html_text(self._title)}</caption>"
        return f"<table>{caption}<thead>{line(_HEADINGS, 'th')}</thead><tbody>{body}</tbody></table>"

    def plot(self, path: PathLike | None = None) -> Figure:
        """Return a matplotlib figure of bytes and errors.

        Parameters
        ----------
        path : str or os.PathLike, optional
            A file that the figure is written to as well. The file extension selects the format; the file
            appears whole or not at all.

        Returns
        -------
        matplotlib.figure.Figure
            Bytes of motion on the left, errors on the right, both on logarithmic scales.

        Raises
        ------
        ImportError
            If matplotlib (the extra `plot`) is not installed.
        ValueError
            If matplotlib does not know the file extension.
        OSError
            If the file cannot be written.
        """
        from .plot import draw

        return plotted(partial(draw, self), path)


_HEADINGS = (
    "stored as",
    "kind",
    "geometry B",
    "motion B",
    "B/s",
    "B/frame to GPU",
    "max error",
    "% of size",
    "RMS error",
    "% of size",
)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        row.kind,
        f"{row.geometry:,}",
        f"{row.motion:,}",
        "-" if row.per_second is None else f"{row.per_second:,.0f}",
        f"{row.per_frame:,}",
        f"{row.max_error:.2e}",
        f"{row.max_percent:.5f}",
        f"{row.rms_error:.2e}",
        f"{row.rms_percent:.5f}",
    )
