"""Letters for overlays: a table of glyphs in the default font of Pillow, and lines of text made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._text import unicode_text

_PIXELS = 12.0  # of the font
_RIM = 1  # pixels around the letters
_MAX_LETTERS = 40  # of a name that are shown


#: Of boxes (N, 4): left, top, right and bottom in pixels.
NO_BOXES: NDArray[np.float64] = np.zeros((0, 4))


@dataclass(frozen=True)
class Glyphs:
    """Glyphs side by side in one picture, and where each of them is.

    `texels` (h, w, 2) uint8 are ink, and ink with its rim. `lefts` are the first columns of the glyphs, with
    their rims; `advances` are the pixels from one letter of a line to the next.
    """

    texels: NDArray[np.uint8]
    numbers: dict[str, int]
    lefts: NDArray[np.int64]
    advances: NDArray[np.float64]

    @property
    def height(self) -> int:
        """The height of a line in pixels."""
        return int(self.texels.shape[0])

    def width(self, words: str) -> int:
        """The width of a line in pixels."""
        return int(np.ceil(self.advances[[self.numbers[letter] for letter in words]].sum())) + 2 * _RIM

    def fitting(self, words: str, width: float) -> str:
        """The words, or as many letters of them as find room in `width` pixels together with three dots."""
        if self.width(words) <= width:
            return words
        ends = np.cumsum(self.advances[[self.numbers[letter] for letter in words]])
        count = int(np.searchsorted(ends, width - self.width("..."), side="right"))
        return words[:count].rstrip() + "..." if count else ""

    def lay_out(self, words: str, left: int, top: int) -> NDArray[np.float32]:
        """The letters of a line at a point of the picture, (N, 6).

        Each has left, top, width and height in the picture, and left and top of its glyph in `texels`.
        """
        numbers = np.array([self.numbers[letter] for letter in words], np.intp)
        result = np.empty((len(numbers), 6), np.float32)
        advances = self.advances[numbers]
        result[:, 0], result[:, 1] = left + np.round(np.cumsum(advances) - advances), top
        result[:, 2], result[:, 3] = np.diff(self.lefts)[numbers], self.height
        result[:, 4], result[:, 5] = self.lefts[numbers], 0.0
        return result


def no_letters() -> NDArray[np.float32]:
    """An array of no letters, (0, 6)."""
    return np.zeros((0, 6), np.float32)


def shown_name(name: str) -> str:
    """A name as one line of printable letters, cut if it is long."""
    clean = unicode_text(name)
    line = "".join(letter if letter.isprintable() else " " for letter in clean)
    return line if len(line) <= _MAX_LETTERS else line[: _MAX_LETTERS - 3] + "..."


@lru_cache(maxsize=8)
def make_glyphs(letters: frozenset[str]) -> Glyphs:
    """Glyphs for these letters. Raises ImportError without Pillow."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise ImportError("writing names needs Pillow: pip install 'skinpy-anim[view]'") from error
    font: Any = ImageFont.load_default()
    scalable = not isinstance(font, ImageFont.ImageFont)
    if scalable:
        font = ImageFont.load_default(_PIXELS)
    ordered = sorted(letters)
    # Pillow without FreeType has only the letters of Latin-1.
    drawn = ordered if scalable else [one if one < "\u0100" else "?" for one in ordered]
    boxes = [font.getbbox(letter) for letter in drawn]
    top = min((int(np.floor(box[1])) for box in boxes), default=0)
    height = max((int(np.ceil(box[3])) for box in boxes), default=1) - top
    # A glyph may begin left of its origin, or end beyond its advance: leave a pixel more on each side.
    sizes = [max(int(np.ceil(box[2])), 1) + 2 * _RIM + 1 for box in boxes]
    lefts = np.cumsum([0, *sizes])
    image = Image.new("L", (max(int(lefts[-1]), 1), height + 2 * _RIM), 0)
    for letter, left in zip(drawn, lefts[:-1].tolist(), strict=True):
        ImageDraw.Draw(image).text((left + _RIM, _RIM - top), letter, fill=255, font=font)
    ink = np.asarray(image)
    advances = np.array([font.getlength(letter) for letter in drawn])
    numbers = {letter: number for number, letter in enumerate(ordered)}
    return Glyphs(np.stack([ink, _spread(ink)], axis=2), numbers, lefts, advances)


def _spread(ink: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The largest ink of each pixel and its neighbors; those at corners count less."""
    padded = np.pad(ink, _RIM).astype(np.float32)
    height, width = ink.shape
    result = np.zeros(ink.shape, np.float32)
    for down in range(3):
        for right in range(3):
            weight = 0.6 if down != 1 and right != 1 else 1.0
            result = np.maximum(result, weight * padded[down : down + height, right : right + width])
    return result.astype(np.uint8)
