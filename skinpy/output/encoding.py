"""What the encoders of films have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .picture import flatten

Frame: TypeAlias = NDArray[np.uint8]
Color: TypeAlias = tuple[int, int, int]


class FilmJob(NamedTuple):
    """What an encoder needs. The frames are checked, of one size, and at least one."""

    file: BinaryIO
    frames: Iterator[Frame]
    fps: float
    background: Color  # sRGB, 0 to 255


def opaque(frame: Frame, background: Color) -> Frame:
    """The frame composited over a color, (h, w, 3)."""
    return frame[..., :3] if (frame[..., 3] == 255).all() else flatten(frame, background)
