"""The frames of one clip in a baked texture."""

from dataclasses import dataclass
from functools import cached_property

from .. import _block
from .._types import Array
from .sampling import frame_times

__all__ = ["BakedClip"]

#: Texels of a palette slot: the rows of its 3x4 matrix.
SLOT_TEXELS = 3


@dataclass(frozen=True)
class BakedClip:
    """The frames of one clip in a `BakedTexture`.

    Frames are at 0, 1 / fps, 2 / fps, ... seconds and at the end of the clip. A loop has both: the last frame
    is the end pose, and the first frame follows it at once.

    Attributes
    ----------
    name : str
        Name of the clip.
    row : int
        Index of its first frame.
    frames : int
        Number of its frames, at least one.
    fps : float
        Frames per second.
    duration : float, seconds
        Length of the clip.
    ticks_per_second : float
        The unit of the clip's key times, which decides how late a time still counts as the end.
    """

    name: str
    row: int
    frames: int
    fps: float
    duration: float
    ticks_per_second: float

    @cached_property
    def times(self) -> Array:
        """The times of the frames, (frames,) float64 seconds."""
        return _block.read_only(frame_times(self.duration, self.fps))
