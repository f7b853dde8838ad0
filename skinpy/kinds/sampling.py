"""The times at which a motion is sampled to be stored frame by frame, and the limits of what is stored."""

import math

import numpy as np

from .._types import Array

MAX_BYTES = 4 << 30  #: of the vertices or matrices that one call bakes
_MAX_FRAMES = 10_000_000  # of one clip: more than a day of it at 100 frames per second
_SAME_FRAME = 1e-4  # frames: an end that is this close to a frame is that frame


def frame_times(duration: float, fps: float) -> Array:
    """Return the seconds 0, 1 / fps, 2 / fps, ... before `duration`, and `duration` itself.

    Raises ValueError, before any memory is allocated, for more frames than any clip needs.
    """
    if duration * fps > _MAX_FRAMES:
        raise ValueError(
            f"fps is {fps:g}, which is {duration * fps:.3g} frames of {duration:g} s; expected a lower fps, "
            f"for at most {_MAX_FRAMES} frames"
        )
    if duration <= 0:
        return np.zeros(1)
    count = math.ceil(duration * fps - _SAME_FRAME)
    return np.append(np.arange(count) / fps, duration)
