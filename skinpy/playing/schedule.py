"""The schedule of a controller: keys that wait for their time, and numbers on their way."""

from .animated import Animated
from .layer import Key
from .track import Track


class Schedule:
    """The changes that are to come: keys, and ramps of numbers such as fades."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.ramps: list[Animated] = []

    def next_time(self, end: float) -> float:
        """Return the time of the next change, at most `end`."""
        time = end
        for key in self.keys:
            time = min(time, key.start)
        for ramp in self.ramps:
            time = min(time, ramp.end)
        return time

    def take_due(self, time: float) -> list[Key]:
        """Remove the keys whose time has come; return them in the order of their times."""
        due = [key for key in self.keys if key.start <= time]
        for key in due:
            self.keys.remove(key)
        return sorted(due, key=lambda key: (key.start, key.number))

    def take_ended(self, time: float) -> list[Animated]:
        """Remove the ramps that have ended, whose numbers are constant from now on; return them."""
        ended = [ramp for ramp in self.ramps if ramp.end <= time]
        for ramp in ended:
            self.ramps.remove(ramp)
            ramp.span = 0.0
        return ended

    def ramp(self, value: Animated, to: float, start: float, span: float, ease: str) -> None:
        """Let a number go from its value at `start` to another, in place of the ramp that it is on."""
        if value in self.ramps:
            self.ramps.remove(value)
        value.go(to, start, span, ease)
        self.ramps.append(value)

    def cancel(self, key: Key) -> None:
        """Remove a key that still waits."""
        if key in self.keys:
            self.keys.remove(key)
            key._state = "cancelled"

    def drop(self, track: Track) -> None:
        """Remove all changes of a track."""
        own = (track._weight, track._speed, track._fade)
        self.ramps = [ramp for ramp in self.ramps if not any(ramp is one for one in own)]
        for key in [key for key in self.keys if key._target is track]:
            self.cancel(key)
