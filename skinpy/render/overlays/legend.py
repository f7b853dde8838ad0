"""The legend of a colored surface: the scale with its numbers, in a corner. Numbers only, no OpenGL."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .glyphs import Glyphs, shown_name
from .marks import Lines, dot_lines, no_lines
from .scale import scale_colors

_MARGIN = 10  # pixels to the picture's edges
_BAR, _THICK = 96, 8  # pixels
_STEPS = 48  # of color along the bar
_GAP = 5  # pixels
_LEAST = 160, 80  # pixels of a picture that has room for it


class Legend:
    """A scale from 0 to 1 for a joint's weight, or a dot for each number of influences."""

    def __init__(self, title: str, counts: int | None) -> None:
        """`counts` is the largest number of influences, None for a weight."""
        self._title = shown_name(title)
        self._counts = counts

    def lay(self, glyphs: Glyphs, size: tuple[int, int]) -> tuple[Lines, NDArray[np.float32]]:
        """Lines, in pixels from the picture's top left, and letters; nothing where there is no room."""
        if size[0] < _LEAST[0] or size[1] < _LEAST[1]:
            return no_lines(), np.zeros((0, 6), np.float32)
        top = size[1] - _MARGIN - glyphs.height
        lines, letters = self._bar(glyphs, top) if self._counts is None else self._dots(glyphs, top)
        letters.append(glyphs.lay(self._title, _MARGIN, top - glyphs.height))
        return lines, np.concatenate(letters)

    def _bar(self, glyphs: Glyphs, top: int) -> tuple[Lines, list[NDArray[np.float32]]]:
        start = _MARGIN + glyphs.width("0") + _GAP + _THICK / 2
        places = np.linspace(0.0, 1.0, _STEPS)
        x = start + _BAR * places
        lines = dot_lines(x, top + glyphs.height / 2, scale_colors(places), _THICK)
        end = round(start + _BAR + _THICK / 2 + _GAP)
        return lines, [glyphs.lay("0", _MARGIN, top), glyphs.lay("1", end, top)]

    def _dots(self, glyphs: Glyphs, top: int) -> tuple[Lines, list[NDArray[np.float32]]]:
        assert self._counts is not None
        pitch = _THICK + glyphs.width("8") + 2 * _GAP
        x = _MARGIN + _THICK / 2 + pitch * np.arange(self._counts, dtype=np.float64)
        colors = scale_colors(np.arange(self._counts) / max(self._counts - 1, 1))
        letters = [
            glyphs.lay(str(number + 1), round(float(place) + _THICK / 2 + 2), top)
            for number, place in enumerate(x)
        ]
        return dot_lines(x, top + glyphs.height / 2, colors, _THICK), letters
