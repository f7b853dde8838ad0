"""The list of motions among which a viewer chooses: a vertex animation, if there is one, and the clips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...clip import Clip
from ...errors import unknown_clip_number
from ...kinds import VertexAnimation
from ...render.posing import Poser, clip_number

if TYPE_CHECKING:
    from ...render.posing import ClipLike, Motion


class MotionList:
    """The motions of one model, by number and by name. Names may occur twice."""

    def __init__(self, poser: Poser, shown: Motion) -> None:
        self._poser = poser
        stored = (shown,) if isinstance(shown, VertexAnimation) else ()
        self._motions: tuple[Motion, ...] = (*stored, *poser.model.clips)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the motions."""
        return tuple("" if motion is None else motion.name for motion in self._motions)

    def number(self, shown: Motion) -> int | None:
        """The number of a motion; None for the rest pose and for a clip from elsewhere."""
        if shown is None:
            return None
        return next((number for number, motion in enumerate(self._motions) if motion == shown), None)

    def find(self, clip: ClipLike) -> Motion:
        """The motion that a caller means by a name, a number in this list, a Clip or a VertexAnimation.

        None means the first clip, or the rest pose where there is no clip. Raises KeyError, IndexError,
        TypeError or ValueError, also for a motion of another model.
        """
        if clip is None or isinstance(clip, str | Clip | VertexAnimation):
            motion = self._poser.motion(clip)
        else:
            number = clip_number(clip)
            if not 0 <= number < len(self._motions):
                raise unknown_clip_number("clip", number, self.names)
            motion = self._motions[number]
        self._poser.facts.extent(motion)  # raises for a clip of another model
        return motion
