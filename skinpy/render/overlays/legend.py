"""The legend of a colored surface: the scale with its numbers, in a corner of the picture. No OpenGL."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .glyphs import Glyphs, shown_name
from .marks import Lines, dot_lines, no_lines
from .scale import scale_colors

_MARGIN = 10  # pixels to the edges of the picture
_LENGTH, _THICKNESS = 96, 8  # pixels of the bar
_STEPS = 48  # of color along the bar
_GAP = 5  # pixels
_MIN_SIZE = 160, 80  # pixels of a picture with room for a legend


class Legend:
    """A scale from 0 to 1 for the weight of a joint, or a dot for each number of influences."""

    def __init__(self, title: str, counts: int | None) -> None:
        """`counts` is the largest number of influences; None is a scale for a weight."""
        self._title = shown_name(title)
        self._counts = counts

    def lay_out(self, glyphs: Glyphs, size: tuple[int, int]) -> tuple[Lines, NDArray[np.float32]]:
        """Lines, in pixels from the top left of the picture, and letters; none if there is no room."""
        if size[0] < _MIN_SIZE[0] or size[1] < _MIN_SIZE[1]:
            return no_lines(), np.zeros((0, 6), np.float32)
        top = size[1] - _MARGIN - glyphs.height
        lines, letters = self._bar(glyphs, top) if self._counts is None else self._dots(glyphs, top)
        letters.append(glyphs.lay_out(self._title, _MARGIN, top - glyphs.height))
        return lines, np.concatenate(letters)

    def _bar(self, glyphs: Glyphs, top: int) -> tuple[Lines, list[NDArray[np.float32]]]:
        start = _MARGIN + glyphs.width("0") + _GAP + _THICKNESS / 2
        values = np.linspace(0.0, 1.0, _STEPS)
        x = start + _LENGTH * values
        lines = dot_lines(x, top + glyphs.height / 2, scale_colors(values), _THICKNESS)
        end = round(start + _LENGTH + _THICKNESS / 2 + _GAP)
        return lines, [glyphs.lay_out("0", _MARGIN, top), glyphs.lay_out("1", end, top)]

    def _dots(self, glyphs: Glyphs, top: int) -> tuple[Lines, list[NDArray[np.float32]]]:
        assert self._counts is not None
        pitch = _THICKNESS + glyphs.width("8") + 2 * _GAP
        x = _MARGIN + _THICKNESS / 2 + pitch * np.arange(self._counts, dtype=np.float64)
        colors = scale_colors(np.arange(self._counts) / max(self._counts - 1, 1))
        letters = [
            glyphs.lay_out(str(number + 1), round(float(column) + _THICKNESS / 2 + 2), top)
            for number, column in enumerate(x)
        ]
        return dot_lines(x, top + glyphs.height / 2, colors, _THICKNESS), letters
