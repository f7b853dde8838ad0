"""Checks of the arguments that renderers and crowds share."""

from __future__ import annotations

from collections.abc import Mapping, Set

import numpy as np
from numpy.typing import NDArray

from skinpy._arguments import brief, integer, items_of, whole

MAX_SIDE = 1 << 20  #: pixels of a picture: more than any GPU draws
_MAX_SAMPLES = 64


def check_size(size: tuple[int, int]) -> tuple[int, int]:
    """`size` as (width, height) in pixels. Raises TypeError or ValueError."""
    wanted = "(width, height), two whole numbers"
    sides = items_of("size", size, wanted)
    if isinstance(size, Set | Mapping) or len(sides) != 2:
        raise TypeError(f"size is {brief(size)}; expected {wanted}")
    width, height = (integer("size", side, wanted) for side in sides)
    if width < 1 or height < 1:
        raise ValueError(f"size is {brief(size)}; expected (width, height) of at least 1 pixel each")
    if max(width, height) > MAX_SIDE:
        raise ValueError(f"size is {brief(size)}; expected (width, height) of at most {MAX_SIDE} pixels each")
    return width, height


def check_samples(samples: int) -> int:
    """`samples` as a number from 0 to 64. Raises TypeError or ValueError."""
    return whole("samples", samples, 0, _MAX_SAMPLES)


def checked_picture(out: NDArray[np.uint8] | None, size: tuple[int, int]) -> NDArray[np.uint8]:
    """`out`, or a new array (h, w, 4) uint8, for a picture of `size`. Raises TypeError or ValueError."""
    width, height = size
    if out is None:
        return np.empty((height, width, 4), np.uint8)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out is {type(out).__name__}; expected an array ({height}, {width}, 4) of uint8")
    if out.shape != (height, width, 4) or out.dtype != np.uint8:
        raise ValueError(
            f"out has shape {out.shape} and type {out.dtype}; expected ({height}, {width}, 4) of uint8"
        )
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError("out is read-only or not C-contiguous; expected a writable, C-contiguous array")
    return out
