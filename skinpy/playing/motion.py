"""What a track plays: one clip, a blend space, or the rest pose."""

from typing import Any

from .._types import Floats, Loop
from ..clip import Clip
from .passing import passed

_FAR = 1e300  # seconds: the farthest that the next event is looked for


class Motion:
    """One clip, a blend space bound to a model, or the rest pose."""

    def __init__(self, clip: Clip | None, space: Any = None) -> None:
        self.clip = clip  #: of a blend space the clip with the largest weight; None for the rest pose
        self.space = space
        self.plane = space is not None and space.in_plane
        self.parameter: Any = None
        self.held: Floats | None = None  #: a pose that stands still, in place of a clip; see `fades`
        self.samples: tuple[tuple[Clip | None, float], ...] = ((clip, 1.0),)  #: clips and their weights
        self.duration = 0.0 if clip is None else clip.duration
        self._summarize()
        if space is not None:
            self.move(space.parameter)

    def _summarize(self) -> None:
        """Store what `advance` asks at every step."""
        self.events = () if self.clip is None else self.clip.events
        self.calm = (0.0, 0.0)  # seconds of the clip, not wrapped, between which there is no event
        self.travels = any(clip is not None and clip._motion is not None for clip, _ in self.samples)

    def passed(self, loop: Loop, old: float, new: float, fresh: bool) -> list[tuple[float, int]]:
        """Return the events between two positions, seconds of the clip; see `passing.passed`."""
        assert self.clip is not None
        low, high = self.calm
        if low <= old < high and low < new < high and not fresh:
            return []
        duration = self.clip.duration
        far = new + 2 * min(duration, _FAR)
        next_events = passed(self.events, duration, loop, new, far, False)
        self.calm = (new, next_events[0][0] if next_events else far)
        return passed(self.events, duration, loop, old, new, fresh)

    def move(self, parameter: Any) -> None:
        """Set the parameter of the blend space, which the space has checked."""
        self.parameter = parameter
        samples: tuple[tuple[Clip, float], ...] = self.space._samples(parameter)
        self.samples, self.duration, most = samples, 0.0, 0.0
        for clip, weight in samples:
            self.duration += weight * clip.duration
            if weight > most:
                self.clip, most = clip, weight
        self._summarize()
