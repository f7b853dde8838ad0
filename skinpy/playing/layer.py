"""Layers of a controller, and keys: changes that wait for their time."""

from typing import TYPE_CHECKING, Any

from .._strict import Strict
from .._types import Floats
from .animated import Animated
from .track import Track

if TYPE_CHECKING:
    from .inertia import Inertia


class Layer:
    """Tracks that are blended with each other, on top of the layers below."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tracks: list[Track] = []
        self.additive = False
        self.priority_blend = Animated(0.5)
        self.generation = 0  #: number of cross-fades so far
        #: Signs of the core (sk_mix.h), of this frame and the one before: of pairs of generations, by the
        #: number and the priority of the newer one, and of the layer and those below.
        self.signs: dict[tuple[int, int], Floats] = {}
        self.cover: Floats | None = None
        self.inertia: Inertia | None = None

    @property
    def fades(self) -> bool:
        """Whether a track fades in or out."""
        return any(track._fade.span for track in self.tracks)

    def add(self, track: Track) -> None:
        """Add a track to the newest generation."""
        track._generation = self.generation
        self.tracks.append(track)

    @property
    def staying(self) -> list[Track]:
        """The tracks that are not fading out."""
        return [track for track in self.tracks if track._fade.leaving is None]


class Key(Strict):
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
        self._name = name
        self._start = start
        self._duration = duration
        self._number = number
        self._state = "waiting"

    @property
    def name(self) -> str:
        """What changes: "speed", "weight", "position", "enabled" or "priority_blend"."""
        return self._name

    @property
    def start(self) -> float:
        """When the change begins, in seconds of the controller."""
        return self._start

    @property
    def duration(self) -> float:
        """How long the change takes, in seconds."""
        return self._duration

    @property
    def number(self) -> int:
        """The number of the key: it counts those of the controller from 0."""
        return self._number

    @property
    def state(self) -> str:
        """Whether it is "waiting", "done" or "cancelled"."""
        return self._state

    def __repr__(self) -> str:
        return f"<Key {self.number}: {self.name} to {self._value} at {self.start:g} s, {self.state}>"
