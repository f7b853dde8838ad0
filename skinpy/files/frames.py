"""The frames at which a clip is stored by writers of whole frames: BVH and .npz."""

import numpy as np

from .._types import Array
from ..clip import Clip
from ..kinds.sampling import frame_times
from ..limits import Limits
from ..models.frames import checked_rate

_FPS = 30.0  # of clips whose keys are not evenly spaced
_MIN_FPS = 20.0  # fewer keys a second are keys of curves, and not frames
_SAME = 1e-3  # frames: how far a key may be off its frame
_ROUNDING = 1e-6  # of a rate: what float32 leaves of one that is a whole number


def frame_rate(clip: Clip, fps: float | None) -> float:
    """The frames per second: `fps`, or without it the rate of the clip's keys if these are even, or 30."""
    if fps is not None:
        return checked_rate(fps)
    lines = [channel.times for channel in clip.channels if len(channel.times) > 1]
    if not lines:
        return _FPS
    longest = max(lines, key=len)
    step = float(longest[-1] - longest[0]) / (len(longest) - 1)
    if 1 / step < _MIN_FPS or any(np.abs(line / step - np.rint(line / step)).max() > _SAME for line in lines):
        return _FPS
    rate = 1 / step
    return float(round(rate)) if abs(rate - round(rate)) < _ROUNDING * rate else rate


def whole_frames(clip: Clip, fps: float) -> Array:
    """The times (N,) in seconds of frames 1 / fps apart, the last at the end of the clip or up to one behind.

    Raises ValueError, before memory is allocated, for more joints of frames than a loaded clip may have keys.
    """
    count, joints = len(frame_times(clip.duration, fps)), max(len(clip._joint_names), 1)
    limit = Limits().keys
    if count * joints > limit:
        raise ValueError(
            f"fps is {fps:g}, which gives {count} frames of {joints} joints; "
            f"expected a lower fps, for at most {limit} transforms"
        )
    return np.arange(count) / fps
