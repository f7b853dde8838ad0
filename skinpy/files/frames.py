"""The frames at which a clip is stored by writers of whole frames: BVH and .npz."""

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._text import quoted, quoted_list
from .._types import Array
from ..clip import Clip
from ..errors import SkinpyWarning
from ..kinds.sampling import frame_times
from ..limits import Limits
from ..models.frames import checked_rate

if TYPE_CHECKING:
    from ..model import Model

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


def posed_model(clip: Clip) -> "Model":
    """The model of a clip; ValueError for a clip that has none, or whose channels are not poses."""
    if clip.is_additive:
        raise ValueError(
            f"clip {quoted(clip.name)} is additive, so it has no poses of its own; "
            "expected the clip that it was made from"
        )
    return clip._bound_model()


def warn_left_out(clip: Clip, reason: str, kinds: Mapping[str, Sequence[str]]) -> None:
    """Warn the caller of the method that writes of what a file cannot hold of a clip: names by kind."""
    lost = [f"{kind} ({quoted_list(list(dict.fromkeys(names)))})" for kind, names in kinds.items() if names]
    if lost:
        message = f"{reason}; of clip {quoted(clip.name)} are left out: {', '.join(lost)}"
        warnings.warn(message, SkinpyWarning, stacklevel=4)
