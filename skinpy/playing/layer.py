"""Layers of a controller, and keys: changes that wait for their time."""

from typing import Any

from .animated import Animated
from .track import Track


class Layer:
    """Tracks that are blended with each other, on top of the layers below."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tracks: list[Track] = []
        self.additive = False
        self.priority_blend = Animated(0.5)

    @property
    def staying(self) -> list[Track]:
        """The tracks that are not fading out."""
        return [track for track in self.tracks if track._fade.leaving is None]


class Key:
    """A change that waits for its time; the controller's key methods make it, and `cancel` takes it back."""

    def __init__(
        self,
        target: Track | Layer,
        name: str,
        value: Any,
        start: float,
        duration: float,
        ease: str,
        number: int,
    ) -> None:
        self._target = target
        self._value = value
        self._ease = ease
        self.name = name  #: "speed", "weight", "position", "enabled" or "priority_blend"
        self.start = start  #: seconds of the controller
        self.duration = duration  #: seconds
        self.number = number  #: counts the controller's keys from 0
        self.state = "waiting"  #: then "done", or "cancelled"

    def __repr__(self) -> str:
        return f"<Key {self.number}: {self.name} to {self._value} at {self.start:g} s, {self.state}>"
