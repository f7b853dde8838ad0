"""Images over the picture of a window: the time bar, the panel with the keys, messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...output.contact_sheet import fitting
from ...output.picture import pillow

Image = NDArray[np.uint8]

# In points: pixels of a screen of ordinary density.
BAR_HEIGHT = 46
_MARGIN = 14
_TRACK_Y = 13
_TEXT_Y = 24
_FONT_SIZE = 13
_LINE = 18
_BUTTON = 12
_MAX_LETTERS = 400  # of a message
_FONT_SCALES = (1.0, 0.9, 0.8, 0.7, 0.6)  # tried one after another, until a panel fits

_DARK = (22, 26, 34)
_INK = (240, 243, 248, 255)
_FAINT = (104, 110, 122, 255)
_BLUE = (96, 165, 250, 255)
_RED = (150, 30, 34)


class BarState(NamedTuple):
    """What the time bar shows."""

    fraction: float  #: 0 to 1: the position within the clip
    playing: bool
    left: str  #: text at the left end
    right: str  #: text at the right end


class Bar:
    """The time bar in a window of `size` pixels, with `scale` pixels per point: where its elements lie."""

    def __init__(self, size: tuple[int, int], scale: float = 1.0) -> None:
        self.size = size
        self.scale = scale
        self.height = min(round(BAR_HEIGHT * scale), size[1])
        #: Pixels from the left where the clip begins, and where it ends.
        self.first = _MARGIN * scale
        self.last = max(size[0] - _MARGIN * scale, self.first + 1.0)

    @property
    def top(self) -> int:
        """Pixels from the top of the window to the bar."""
        return self.size[1] - self.height

    def has(self, y: float) -> bool:
        """Whether the bar covers the height `y`, in pixels from the top."""
        return y >= self.top

    def is_button(self, x: float, y: float) -> bool:
        """Whether (x, y), in pixels from the left and top, is on the button that plays and pauses."""
        return x < self.first + 2 * _BUTTON * self.scale and y >= self.top + (_TEXT_Y - 4) * self.scale

    def fraction(self, x: float) -> float:
        """The position within the clip, 0 to 1, at `x` pixels from the left."""
        return min(max((x - self.first) / (self.last - self.first), 0.0), 1.0)

    def draw(self, state: BarState) -> Image:
        """The image of the bar, (height, width, 4) uint8."""
        image, pen = _sheet((self.size[0], self.height), (*_DARK, 205))
        scale, y = self.scale, _TRACK_Y * self.scale
        x = self.first + state.fraction * (self.last - self.first)
        thick = max(round(3 * scale), 1)
        pen.line([(self.first, y), (self.last, y)], fill=_FAINT, width=thick)
        pen.line([(self.first, y), (x, y)], fill=_BLUE, width=thick)
        knob = 6 * scale
        pen.ellipse([x - knob, y - knob, x + knob, y + knob], fill=_INK)
        self._draw_button(pen, state.playing)
        font = _font(_FONT_SIZE * scale)
        room = self.last - self.first - 2 * _BUTTON * scale
        right = fitting(state.right, font, int(room))
        start = self.last - font.getlength(right)
        pen.text((start, _TEXT_Y * scale), right, fill=_INK, font=font)
        left = self.first + 2 * _BUTTON * scale
        text = fitting(state.left, font, max(int(start - left - _BUTTON * scale), 0))
        pen.text((left, _TEXT_Y * scale), text, fill=_INK, font=font)
        return np.asarray(image)

    def _draw_button(self, pen: Any, playing: bool) -> None:
        """Draw two bars during playback, and a triangle while it is paused."""
        side, x, y = _BUTTON * self.scale, self.first, (_TEXT_Y + 2) * self.scale
        if playing:
            for left in (0.0, 0.6):
                pen.rectangle([x + left * side, y, x + (left + 0.3) * side, y + side], fill=_INK)
        else:
            pen.polygon([(x, y), (x, y + side), (x + side * 0.9, y + side / 2)], fill=_INK)


Rows = tuple[tuple[str, str], ...]


class _Column(NamedTuple):
    """A column of rows, one below another."""

    rows: Rows
    left: float
    second: float  #: pixels from the left where the second text of each row begins


def _columns(rows: Rows, scale: float, size: tuple[int, int]) -> tuple[list[_Column], float, float]:
    """The rows in columns of about equal length, and the width and height that they take in pixels."""
    line, pad, font = _LINE * scale, _MARGIN * scale, _font(_FONT_SIZE * scale)
    most = max(int((size[1] - 2 * pad) // line), 1)
    lines = math.ceil(len(rows) / math.ceil(len(rows) / most))
    columns, left = [], pad
    for start in range(0, len(rows), lines):
        some = rows[start : start + lines]
        second = left + max(font.getlength(row[0]) for row in some) + pad
        columns.append(_Column(some, left, second))
        left = second + max(font.getlength(row[1]) for row in some) + 2 * pad
    return columns, left - pad, lines * line + 2 * pad


@lru_cache(maxsize=8)
def panel(rows: Rows, scale: float, size: tuple[int, int]) -> Image:
    """The image of a table of keys and what they do, in letters as large as `size` in pixels allows.

    Returns a read-only (h, w, 4) uint8 array.
    """
    for font_scale in _FONT_SCALES:
        letters = scale * font_scale
        columns, width, height = _columns(rows, letters, size)
        if width <= size[0] and height <= size[1]:
            break
    shown = min(round(width), size[0]), min(round(height), size[1])
    image, pen = _sheet(shown, (*_DARK, 225))
    font = _font(_FONT_SIZE * letters)
    for column in columns:
        for number, row in enumerate(column.rows):
            y = (_MARGIN + number * _LINE) * letters
            if y + _LINE * letters > shown[1]:  # no room, even in the smallest letters
                break
            for text, left, color in zip(row, (column.left, column.second), (_BLUE, _INK), strict=True):
                room = round(shown[0] - left - _MARGIN * letters) + 1  # sizes are rounded
                pen.text((left, y), fitting(text, font, max(room, 0)), fill=color, font=font)
    return _finished(image)


@lru_cache(maxsize=8)
def message_image(text: str, scale: float, width: int, is_error: bool) -> Image:
    """The image of a message in lines of at most `width` pixels, on red if it is an error.

    Returns a read-only (h, w, 4) uint8 array.
    """
    font, pad, line = _font(_FONT_SIZE * scale), _MARGIN * scale, _LINE * scale
    lines = _wrapped(text[:_MAX_LETTERS], font, max(width - 2 * pad, 1.0))
    height = round(len(lines) * line + pad)
    image, pen = _sheet((width, height), (*_RED, 235) if is_error else (*_DARK, 205))
    for number, one in enumerate(lines):
        pen.text((pad, pad / 2 + number * line), one, fill=_INK, font=font)
    return _finished(image)


def _wrapped(text: str, font: Any, width: float) -> Sequence[str]:
    """The text in lines that fit; a word that is too long by itself is cut."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(fitting(word, font, int(width)))
    return lines or [""]


def _sheet(size: tuple[int, int], color: tuple[int, int, int, int]) -> tuple[Any, Any]:
    """An image of one color, and the pen that draws into it."""
    from PIL import ImageDraw

    image = pillow().new("RGBA", (max(size[0], 1), max(size[1], 1)), color)
    return image, ImageDraw.Draw(image)


def _finished(image: Any) -> Image:
    array = np.array(image)
    array.flags.writeable = False
    return array


@lru_cache(maxsize=8)
def _font(size: float) -> Any:
    """Pillow's own font in a size in pixels; without FreeType, Pillow has only one size."""
    from PIL import ImageFont

    try:
        return ImageFont.load_default(size)
    except (ImportError, TypeError):  # TypeError: before Pillow 10.1
        return ImageFont.load_default()
