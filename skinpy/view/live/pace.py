"""How finely to draw what moves, so that it keeps moving."""

from __future__ import annotations

from typing import NamedTuple

_SLOW, _QUICK = 0.045, 0.012  # seconds for a picture: above, and below which another fineness is tried
_KEEP = 0.7  # share of the former mean in the running one
_SETTLE = 8  # pictures to see before a finer one is tried again
_SMALLEST = 64  # pixels, the lesser side


class Fineness(NamedTuple):
    """Of a picture: its share of the full width and height, and its samples per pixel (None: as wanted)."""

    share: float
    samples: int | None


_LEVELS = (Fineness(1.0, None), Fineness(1.0, 0), Fineness(0.7, 0), Fineness(0.5, 0))


class Pace:
    """Finds the fineness at which a picture takes less than about a twentieth of a second.

    It starts with the finest, and goes by how long pictures took. Drivers without a GPU take three times as
    long for four samples a pixel.
    """

    def __init__(self) -> None:
        self._level = 0
        self._mean: float | None = None
        self._seen = 0

    @property
    def fineness(self) -> Fineness:
        """What to draw next, while something moves."""
        return _LEVELS[self._level]

    @property
    def is_finest(self) -> bool:
        """Whether what moves is drawn as finely as what rests."""
        return self._level == 0

    def took(self, seconds: float) -> None:
        """A picture of the present fineness was drawn in so many seconds."""
        self._mean = seconds if self._mean is None else _KEEP * self._mean + (1 - _KEEP) * seconds
        self._seen += 1
        if self._seen < 3:  # the first of a kind takes longer: buffers are made
            self._mean = min(self._mean, seconds)
        elif self._mean > _SLOW and self._level + 1 < len(_LEVELS):
            self._go(self._level + 1)
        elif self._mean < _QUICK and self._level > 0 and self._seen > _SETTLE:
            self._go(self._level - 1)

    def _go(self, level: int) -> None:
        self._level, self._mean, self._seen = level, None, 0


def reduced(size: tuple[int, int], share: float) -> tuple[int, int]:
    """`size` times `share`, but not below 64 pixels a side where it was not."""
    least = min(*size, _SMALLEST)
    width, height = (max(round(side * share), least) for side in size)
    return width, height
