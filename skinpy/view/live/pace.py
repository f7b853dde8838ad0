"""Chooses how finely to draw what moves, so that it moves smoothly."""

from __future__ import annotations

from typing import NamedTuple

_SLOW, _QUICK = 0.045, 0.012  # seconds per picture: above or below, a coarser or finer picture is tried
_KEEP = 0.7  # weight of the former mean in the running one
_SETTLE = 8  # pictures that are drawn before a finer one is tried again
_MIN_SIDE = 64  # pixels


class Fineness(NamedTuple):
    """The resolution of a picture, and its samples per pixel (None: those of the stage)."""

    scale: float  #: of width and height, 0 to 1
    samples: int | None


_LEVELS = (Fineness(1.0, None), Fineness(1.0, 0), Fineness(0.7, 0), Fineness(0.5, 0))


class Pace:
    """Finds the fineness at which a picture takes less than about a twentieth of a second.

    It starts with the finest, and follows the time that pictures take. Drivers without a GPU take three times
    as long for four samples per pixel.
    """

    def __init__(self) -> None:
        self._level = 0
        self._mean: float | None = None
        self._seen = 0

    @property
    def fineness(self) -> Fineness:
        """How to draw the next picture while something moves."""
        return _LEVELS[self._level]

    @property
    def is_finest(self) -> bool:
        """Whether what moves is drawn as finely as what is at rest."""
        return self._level == 0

    def took(self, seconds: float) -> None:
        """Note that a picture of the current fineness has taken `seconds`."""
        self._mean = seconds if self._mean is None else _KEEP * self._mean + (1 - _KEEP) * seconds
        self._seen += 1
        if self._seen < 3:  # the first pictures of a size take longer, as buffers are made
            self._mean = min(self._mean, seconds)
        elif self._mean > _SLOW and self._level + 1 < len(_LEVELS):
            self._go(self._level + 1)
        elif self._mean < _QUICK and self._level > 0 and self._seen > _SETTLE:
            self._go(self._level - 1)

    def _go(self, level: int) -> None:
        self._level, self._mean, self._seen = level, None, 0


def reduced(size: tuple[int, int], scale: float) -> tuple[int, int]:
    """`size` times `scale`; a side is not made smaller than 64 pixels."""
    least = min(*size, _MIN_SIDE)
    width, height = (max(round(side * scale), least) for side in size)
    return width, height
