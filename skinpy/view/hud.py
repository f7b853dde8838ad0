"""What lies over the picture in a window: the bar with the time, the panel with the keys, messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..output.contact_sheet import fitting
from ..output.picture import pillow

Image = NDArray[np.uint8]

# In points: pixels of a screen of ordinary density.
BAR_HEIGHT = 46
_MARGIN = 14
_TRACK_Y = 13
_TEXT_Y = 24
_LETTERS = 13
_LINE = 18
_BUTTON = 12
_LONGEST = 400  # letters of a message
_SHARES = (1.0, 0.9, 0.8, 0.7, 0.6)  # of the ordinary size of letters: where a panel has little room

_DARK = (22, 26, 34)
_INK = (240, 243, 248, 255)
_FAINT = (104, 110, 122, 255)
_BLUE = (96, 165, 250, 255)
_RED = (150, 30, 34)


class Playing(NamedTuple):
    """What the bar tells."""

    share: float  #: 0 to 1: how far into the clip
    moving: bool
    left: str
    right: str


class Bar:
    """Where the bar and its parts lie in a window of `size` pixels, `scale` pixels a point."""

    def __init__(self, size: tuple[int, int], scale: float = 1.0) -> None:
        self.size = size
        self.scale = scale
        self.height = min(round(BAR_HEIGHT * scale), size[1])
        self.first = _MARGIN * scale  #: pixels from the left at which the clip begins
        self.last = max(size[0] - _MARGIN * scale, self.first + 1.0)  #: and at which it ends

    @property
    def top(self) -> int:
        """Pixels from the window's top to the bar."""
        return self.size[1] - self.height

    def has(self, y: float) -> bool:
        """Whether a place, pixels from the top, is on the bar."""
        return y >= self.top

    def is_button(self, x: float, y: float) -> bool:
        """Whether the button that plays and pauses is there."""
        return x < self.first + 2 * _BUTTON * self.scale and y >= self.top + (_TEXT_Y - 4) * self.scale

    def share(self, x: float) -> float:
        """How far into the clip it is at a place, pixels from the left: 0 to 1."""
        return min(max((x - self.first) / (self.last - self.first), 0.0), 1.0)

    def draw(self, playing: Playing) -> Image:
        """The bar, (height, width, 4) uint8."""
        image, pen = _sheet((self.size[0], self.height), (*_DARK, 205))
        scale, y = self.scale, _TRACK_Y * self.scale
        x = self.first + playing.share * (self.last - self.first)
        thick = max(round(3 * scale), 1)
        pen.line([(self.first, y), (self.last, y)], fill=_FAINT, width=thick)
        pen.line([(self.first, y), (x, y)], fill=_BLUE, width=thick)
        knob = 6 * scale
        pen.ellipse([x - knob, y - knob, x + knob, y + knob], fill=_INK)
        self._draw_button(pen, playing.moving)
        font = _font(_LETTERS * scale)
        room = self.last - self.first - 2 * _BUTTON * scale
        right = fitting(playing.right, font, int(room))
        start = self.last - font.getlength(right)
        pen.text((start, _TEXT_Y * scale), right, fill=_INK, font=font)
        left = self.first + 2 * _BUTTON * scale
        words = fitting(playing.left, font, max(int(start - left - _BUTTON * scale), 0))
        pen.text((left, _TEXT_Y * scale), words, fill=_INK, font=font)
        return np.asarray(image)

    def _draw_button(self, pen: Any, moving: bool) -> None:
        """Two bars while it plays, a triangle while it does not."""
        side, x, y = _BUTTON * self.scale, self.first, (_TEXT_Y + 2) * self.scale
        if moving:
            for left in (0.0, 0.6):
                pen.rectangle([x + left * side, y, x + (left + 0.3) * side, y + side], fill=_INK)
        else:
            pen.polygon([(x, y), (x, y + side), (x + side * 0.9, y + side / 2)], fill=_INK)


Rows = tuple[tuple[str, str], ...]


class _Block(NamedTuple):
    """Rows of a panel that stand one below another."""

    rows: Rows
    left: float
    second: float  #: where the words begin


def _blocks(rows: Rows, scale: float, size: tuple[int, int]) -> tuple[list[_Block], float, float]:
    """The rows in blocks side by side, all of about one length, and width and height that they take."""
    line, pad, font = _LINE * scale, _MARGIN * scale, _font(_LETTERS * scale)
    most = max(int((size[1] - 2 * pad) // line), 1)
    lines = math.ceil(len(rows) / math.ceil(len(rows) / most))
    blocks, left = [], pad
    for start in range(0, len(rows), lines):
        part = rows[start : start + lines]
        second = left + max(font.getlength(row[0]) for row in part) + pad
        blocks.append(_Block(part, left, second))
        left = second + max(font.getlength(row[1]) for row in part) + 2 * pad
    return blocks, left - pad, lines * line + 2 * pad


@lru_cache(maxsize=8)
def panel(rows: Rows, scale: float, size: tuple[int, int]) -> Image:
    """Two columns of words, in letters as large as `size`, pixels, allows: (h, w, 4) uint8, read-only."""
    for share in _SHARES:
        letters = scale * share
        blocks, width, height = _blocks(rows, letters, size)
        if width <= size[0] and height <= size[1]:
            break
    image, pen = _sheet((min(round(width), size[0]), min(round(height), size[1])), (*_DARK, 225))
    font = _font(_LETTERS * letters)
    for block in blocks:
        for number, (key, words) in enumerate(block.rows):
            y = (_MARGIN + number * _LINE) * letters
            pen.text((block.left, y), key, fill=_BLUE, font=font)
            pen.text((block.second, y), words, fill=_INK, font=font)
    return _finished(image)


@lru_cache(maxsize=8)
def note(words: str, scale: float, width: int, error: bool) -> Image:
    """A message in lines of at most `width` pixels, on red where it is an error: (h, w, 4), read-only."""
    font, pad, line = _font(_LETTERS * scale), _MARGIN * scale, _LINE * scale
    lines = _broken(words[:_LONGEST], font, max(width - 2 * pad, 1.0))
    height = round(len(lines) * line + pad)
    image, pen = _sheet((width, height), (*_RED, 235) if error else (*_DARK, 205))
    for number, text in enumerate(lines):
        pen.text((pad, pad / 2 + number * line), text, fill=_INK, font=font)
    return _finished(image)


def _broken(words: str, font: Any, width: float) -> Sequence[str]:
    """The words in lines that fit; one that is too long by itself is cut."""
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(fitting(word, font, int(width)))
    return lines or [""]


def _sheet(size: tuple[int, int], color: tuple[int, int, int, int]) -> tuple[Any, Any]:
    """An image of one color, and what draws into it."""
    from PIL import ImageDraw

    image = pillow().new("RGBA", (max(size[0], 1), max(size[1], 1)), color)
    return image, ImageDraw.Draw(image)


def _finished(image: Any) -> Image:
    array = np.array(image)
    array.flags.writeable = False
    return array


@lru_cache(maxsize=8)
def _font(size: float) -> Any:
    """Pillow's own font in that size, pixels; in the one size that it has where it lacks FreeType."""
    from PIL import ImageFont

    try:
        return ImageFont.load_default(size)
    except (ImportError, TypeError):  # TypeError: before Pillow 10.1
        return ImageFont.load_default()
