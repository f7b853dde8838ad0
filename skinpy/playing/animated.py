"""Numbers that change over time: constant, or on the way from one value to another."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .track import Track

Ease = Literal["linear", "smooth"]
Method = Literal["blend", "inertial"]

METHODS: tuple[Method, ...] = ("blend", "inertial")  # of a cross-fade

#: Each ease and its integral from 0: "linear" is u, "smooth" the cubic 3 u^2 - 2 u^3 (Hermite).
EASES: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "linear": (lambda u: u, lambda u: u * u / 2),
    "smooth": (lambda u: u * u * (3 - 2 * u), lambda u: u * u * u * (1 - u / 2)),
}


class Animated:
    """A number over time: constant, or a ramp from one value to another.

    Times are seconds of the controller. A span of 0 means that the value is constant.
    """

    __slots__ = ("ease", "leaving", "origin", "span", "start", "value")

    def __init__(self, value: float) -> None:
        self.value = value  #: at the end of the ramp
        self.origin = value  #: at the start of the ramp
        self.start = self.span = 0.0
        self.ease = "linear"
        self.leaving: Track | None = None  #: the track that is removed at the end of the ramp

    @property
    def end(self) -> float:
        """The time at which the ramp ends."""
        return self.start + self.span

    def set(self, value: float) -> None:
        """Make the number constant."""
        self.value = value
        self.span = 0.0

    def go(self, value: float, start: float, span: float, ease: str) -> None:
        """Start a ramp from the value at `start` to `value`, within `span` seconds."""
        self.origin = self.at(start)
        self.value, self.start, self.span, self.ease = value, start, span, ease

    def at(self, time: float) -> float:
        """Return the value at a time."""
        if self.span == 0.0 or time >= self.start + self.span:
            return self.value
        return self.origin + (self.value - self.origin) * EASES[self.ease][0]((time - self.start) / self.span)

    def integral(self, start: float, end: float) -> float:
        """Return the integral between two times that are on the same side of the end of the ramp."""
        if self.span == 0.0 or start >= self.start + self.span:
            return self.value * (end - start)
        area = EASES[self.ease][1]
        eased = area((end - self.start) / self.span) - area((start - self.start) / self.span)
        return self.origin * (end - start) + (self.value - self.origin) * self.span * eased
