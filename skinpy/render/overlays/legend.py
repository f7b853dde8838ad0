"""The legend of a colored surface: the scale with its numbers, in a corner of the picture. No OpenGL."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .glyphs import NO_BOXES, Glyphs, no_letters, shown_name
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

    def lay_out(
        self, glyphs: Glyphs, size: tuple[int, int]
    ) -> tuple[Lines, NDArray[np.float32], NDArray[np.float64]]:
        """Lines, in pixels from the top left of the picture, letters, and the box (1, 4) of both.

        All are empty if there is no room. A title that is too long is cut.
        """
        if size[0] < _MIN_SIZE[0] or size[1] < _MIN_SIZE[1]:
            return no_lines(), no_letters(), NO_BOXES
        top, width = size[1] - _MARGIN - glyphs.height, size[0] - 2 * _MARGIN
        lines, letters = self._bar(glyphs, top) if self._counts is None else self._dots(glyphs, top, width)
        letters.append(glyphs.lay_out(glyphs.fitting(self._title, width), _MARGIN, top - glyphs.height))
        words = np.concatenate(letters)
        right = max(float((words[:, 0] + words[:, 2]).max()), float(lines[:, 0].max()) + _THICKNESS / 2)
        box = np.array([[_MARGIN, top - glyphs.height, right, size[1] - _MARGIN]])
        return lines, words, box

    def _bar(self, glyphs: Glyphs, top: int) -> tuple[Lines, list[NDArray[np.float32]]]:
        start = _MARGIN + glyphs.width("0") + _GAP + _THICKNESS / 2
        values = np.linspace(0.0, 1.0, _STEPS)
        x = start + _LENGTH * values
        lines = dot_lines(x, top + glyphs.height / 2, scale_colors(values), _THICKNESS)
        end = round(start + _LENGTH + _THICKNESS / 2 + _GAP)
        return lines, [glyphs.lay_out("0", _MARGIN, top), glyphs.lay_out("1", end, top)]

    def _dots(self, glyphs: Glyphs, top: int, width: int) -> tuple[Lines, list[NDArray[np.float32]]]:
        """A dot and its number for each number of influences, or for as many as find room in `width`."""
        assert self._counts is not None
        pitch = _THICKNESS + glyphs.width("8" * len(str(self._counts))) + 2 * _GAP
        numbers = _spread(self._counts, max(width // pitch, 2))
        x = _MARGIN + _THICKNESS / 2 + pitch * np.arange(len(numbers), dtype=np.float64)
        colors = scale_colors((numbers - 1) / max(self._counts - 1, 1))
        letters = [
            glyphs.lay_out(str(number), round(column + _THICKNESS / 2 + 2), top)
            for number, column in zip(numbers.tolist(), x.tolist(), strict=True)
        ]
        return dot_lines(x, top + glyphs.height / 2, colors, _THICKNESS), letters


def _spread(last: int, count: int) -> NDArray[Any]:
    """The whole numbers from 1 to `last`, or `count` of them, evenly spread, with the first and the last."""
    return np.unique(np.round(np.linspace(1, last, min(last, count))).astype(int))
