"""What a controller plays: tracks, their layers, and values that change over time."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .. import _core
from .._arguments import finite, flag
from .._types import Floats, Loop
from ..clip import Clip
from ..mask import Mask
from .passing import passed

if TYPE_CHECKING:
    from .controller import AnimationController

Ease = Literal["linear", "smooth"]
Priority = Literal["low", "high"]

#: What the core samples: clip, time, weight, loop, mask, priority.
Entry = tuple[_core.Clip | None, float, float, int, Floats | None, int]
#: What the core lays over the layers below: mode, priority blend, entries.
PlannedLayer = tuple[int, float, list[Entry]]
#: An entry of a list at a place, whose time is the track's position at a rate; then the rest of it.
PlannedClip = tuple[list[Entry], int, "Track", float, Clip | None, float, int, Floats | None, int]

LOOPS: tuple[Loop, ...] = ("wrap", "clamp", "pingpong", "once")  # the numbers of the core's enums
_ONCE = LOOPS.index("once")
PRIORITIES: tuple[Priority, ...] = ("low", "high")

# Beyond these float64 has no digits left to tell one frame from the next, or sums overflow.
MOST_SECONDS = 1e9
MOST_SPEED = 1e6
MOST_WEIGHT = 1e30
_FAR = 1e300  # seconds that events are looked for ahead

#: Each ease and its integral from 0: "linear" u, "smooth" the cubic 3 u^2 - 2 u^3 (Hermite).
EASES: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "linear": (lambda u: u, lambda u: u * u / 2),
    "smooth": (lambda u: u * u * (3 - 2 * u), lambda u: u * u * u * (1 - u / 2)),
}


class Animated:
    """A number over time: constant, or on its way from one value to another."""

    __slots__ = ("ease", "leaving", "origin", "span", "start", "value")

    def __init__(self, value: float) -> None:
        self.value = value  #: at the end of the way
        self.origin = value
        self.start = self.span = 0.0
        self.ease = "linear"
        self.leaving: Track | None = None  #: the track that goes when the value has arrived

    @property
    def end(self) -> float:
        return self.start + self.span

    def set(self, value: float) -> None:
        self.value = value
        self.span = 0.0

    def go(self, value: float, start: float, span: float, ease: str) -> None:
        """From what it is at `start` to `value` within `span` seconds."""
        self.origin = self.at(start)
        self.value, self.start, self.span, self.ease = value, start, span, ease

    def at(self, time: float) -> float:
        if self.span == 0.0 or time >= self.start + self.span:
            return self.value
        return self.origin + (self.value - self.origin) * EASES[self.ease][0]((time - self.start) / self.span)

    def integral(self, start: float, end: float) -> float:
        """Over times that lie on the same side of where the way ends."""
        if self.span == 0.0 or start >= self.start + self.span:
            return self.value * (end - start)
        area = EASES[self.ease][1]
        eased = area((end - self.start) / self.span) - area((start - self.start) / self.span)
        return self.origin * (end - start) + (self.value - self.origin) * self.span * eased


class Motion:
    """What a track plays: one clip, a blend space bound to a model, or the rest pose."""

    def __init__(self, clip: Clip | None, space: Any = None) -> None:
        self.clip = clip
        self.space = space
        self.parameter: Any = None
        self.samples: tuple[tuple[Clip | None, float], ...] = ((clip, 1.0),)
        self.duration = 0.0 if clip is None else clip.duration
        self._look()
        if space is not None:
            self.move(space.parameter)

    def _look(self) -> None:
        """What `advance` asks at every step."""
        self.events = () if self.clip is None else self.clip.events
        self.calm = (0.0, 0.0)  # seconds of the clip, unwrapped, between which no event lies
        self.travels = False
        for clip, _ in self.samples:
            if clip is not None and clip._motion is not None:
                self.travels = True

    def passed(self, loop: Loop, old: float, new: float, fresh: bool) -> list[tuple[float, int]]:
        """The events between two positions, as `_passing.passed` gives them, in seconds of the clip."""
        assert self.clip is not None
        low, high = self.calm
        if low <= old < high and low < new < high and not fresh:
            return []
        duration = self.clip.duration
        far = new + 2 * min(duration, _FAR)
        ahead = passed(self.events, duration, loop, new, far, False)
        self.calm = (new, ahead[0][0] if ahead else far)
        return passed(self.events, duration, loop, old, new, fresh)

    def move(self, parameter: Any) -> None:
        """Goes to another place of the blend space, one that it has checked."""
        self.parameter = parameter
        samples: tuple[tuple[Clip, float], ...] = self.space._samples(parameter)
        self.samples, self.duration, most = samples, 0.0, 0.0
        for clip, weight in samples:
            self.duration += weight * clip.duration
            if weight > most:
                self.clip, most = clip, weight
        self._look()


@dataclass(frozen=True)
class PassedEvent:
    """An event that `advance` went past."""

    name: str  #: as in the clip
    time: float  #: seconds in the clip
    clip: Clip
    layer: str
    track: "Track"
    weight: float  #: of the track, with its fade, when the event was passed
    at: float  #: seconds of the controller


class Track:
    """One clip or blend space that plays in a layer; made by the controller's play, cross_fade and add_track.

    What can be set takes effect at once; the controller's key_ methods change it later, or slowly.
    """

    __slots__ = (  # and no __dict__: a name that is misspelled is an error
        "__weakref__",
        "_controller",
        "_enabled",
        "_fade",
        "_fresh",
        "_loop",
        "_mask_array",
        "_motion",
        "_position",
        "_priority",
        "_speed",
        "_warp",
        "_weight",
        "finished",
        "layer",
        "mask",
        "number",
    )

    def __init__(
        self,
        controller: "AnimationController",
        number: int,
        layer: str,
        motion: Motion,
        mask: Mask | None,
        weight: float,
        speed: float,
        loop: Loop,
        priority: Priority,
    ) -> None:
        self._controller = controller
        self._motion = motion
        self._mask_array = None if mask is None else mask.weights(controller.model)
        self._weight = Animated(weight)
        self._speed = Animated(speed)
        self._fade = Animated(1.0)
        self._position = 0.0
        self._enabled = True
        self._priority = PRIORITIES.index(priority)
        self._loop = LOOPS.index(loop)
        self._fresh = True  # the position itself has not been passed yet
        self._warp: Warp | None = None
        self.number = number  #: counts the controller's tracks from 0
        self.layer = layer  #: name of the layer
        self.mask = mask  #: of the layer's weight, or None
        self.finished = False  #: whether a track with loop "once" has come to its end

    @property
    def clip(self) -> Clip | None:
        """The clip; of a blend space the one that weighs most; None for the rest pose."""
        return self._motion.clip

    @property
    def duration(self) -> float:
        """Seconds of one turn at speed 1; of a blend space the weighted mean."""
        return self._motion.duration

    @property
    def loop(self) -> Loop:
        """What happens outside the clip: "wrap", "clamp", "pingpong" or "once"."""
        return LOOPS[self._loop]

    @property
    def priority(self) -> Priority:
        """The group of the layer that it belongs to, "low" or "high"."""
        return PRIORITIES[self._priority]

    @property
    def position(self) -> float:
        """Seconds of the clip that were played, not wrapped: 2.5 durations is in the third turn. Settable."""
        return self._position

    @position.setter
    def position(self, value: float) -> None:
        self._set("position", within("position", value, MOST_SECONDS))

    @property
    def phase(self) -> float:
        """position / duration, 0 for a clip without duration."""
        return self._position / self._motion.duration if self._motion.duration > 0 else 0.0

    @property
    def weight(self) -> float:
        """Share of the layer, 0 or more, without the fade. Settable."""
        return self._weight.at(self._controller.time)

    @weight.setter
    def weight(self, value: float) -> None:
        self._set("weight", weight_of(value))

    @property
    def fade(self) -> float:
        """0 to 1: how far it has faded in, or has not faded out yet."""
        return self._fade.at(self._controller.time)

    @property
    def speed(self) -> float:
        """Seconds of the clip per second; also negative. Settable."""
        return self._speed.at(self._controller.time)

    @speed.setter
    def speed(self, value: float) -> None:
        self._set("speed", within("speed", value, MOST_SPEED))

    @property
    def enabled(self) -> bool:
        """Whether it moves and weighs. Settable."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._set("enabled", flag("enabled", value))

    @property
    def parameter(self) -> Any:
        """Place in a blend space, a number or a tuple of two; None for a clip. Settable; the phase stays."""
        return self._motion.parameter

    @parameter.setter
    def parameter(self, value: Any) -> None:
        if self._motion.space is None:
            raise ValueError(f"track plays a clip, which has no parameter; {value!r} came")
        self._set("parameter", self._motion.space.check(value))

    def _set(self, name: str, value: Any) -> None:
        self._controller._record("set", track=self.number, name=name, value=value)
        self._apply(name, value)

    def _apply(self, name: str, value: Any) -> None:
        self._controller._forget()
        if name == "position":
            self._position, self._fresh, self.finished = value, True, False
        elif name == "enabled":
            self._enabled = value
        elif name == "parameter":
            phase = self.phase
            self._motion.move(value)
            self._position = phase * self._motion.duration
        else:
            getattr(self, f"_{name}").set(value)

    # ---- for the controller ------------------------------------------------------------------------

    def _strength(self, time: float) -> float:
        """Weight with the fade; 0 where it is not enabled."""
        weight, fade = self._weight, self._fade
        if weight.span == fade.span == 0.0:
            return weight.value * fade.value if self._enabled else 0.0
        share = (weight.value if weight.span == 0.0 else weight.at(time)) * (
            fade.value if fade.span == 0.0 else fade.at(time)
        )
        return share if self._enabled else 0.0

    def _enter(self, entries: list[Entry], clips: list[PlannedClip], strength: float) -> None:
        """Takes places in a layer's entries, one for each clip."""
        motion = self._motion
        for clip, share in motion.samples:
            rate = 1.0
            if motion.space is not None and clip is not None:  # its clips go at one phase
                rate = clip.duration / motion.duration if motion.duration > 0 else 0.0
            entry = (clip, 0.0, strength * share, self._loop, self._mask_array, self._priority)
            clips.append((entries, len(entries), self, rate, clip, *entry[2:]))
            entries.append(entry)

    @property
    def _is_even(self) -> bool:
        """Whether it moves by speed * time, and there is nothing else to look at."""
        return not (
            self._speed.span
            or self._warp is not None
            or self._loop == _ONCE
            or self._motion.events
            or self._fresh
        )

    def _way(self, start: float, end: float) -> float:
        """Seconds of the clip between two times of the controller without a change in between."""
        if self._warp is not None:
            return self._warp.phases(start, end) * self._motion.duration
        speed = self._speed
        return speed.value * (end - start) if speed.span == 0.0 else speed.integral(start, end)

    def _when(self, way: float, start: float, end: float) -> float:
        """When it has gone `way` seconds of the clip since `start`, at `end` at the latest: by halving."""
        if self._warp is None and self._speed.span == 0.0:
            return min(max(start + way / self._speed.value, start), end) if self._speed.value else start
        low, high, sign = start, end, math.copysign(1.0, way)
        for _ in range(60):
            middle = (low + high) / 2
            if sign * self._way(start, middle) < sign * way:
                low = middle
            else:
                high = middle
        return high

    def _move(self, start: float, end: float) -> float:
        """Plays from `start` to `end`, seconds of the controller; returns where it was."""
        old, duration = self._position, self._motion.duration
        new = old + self._way(start, end)
        if self._loop == _ONCE:
            clamped = min(max(new, 0.0), duration)
            if new != old:
                self.finished = (
                    clamped != new or (clamped == duration and new > old) or (clamped == 0.0 and new < old)
                )
            new = clamped
        self._position = new
        return old

    def __repr__(self) -> str:
        name = self.clip.name if self.clip is not None else "rest pose"
        return (
            f"<Track {self.number} in {self.layer!r}: {name!r} at {self._position:.3f} s, "
            f"weight {self.weight:g}{'' if self.fade == 1 else f', fade {self.fade:.2f}'}>"
        )


#: Places in (-1, 1) and weights of the Gauss-Legendre quadrature that is exact up to degree 7: a fade and
#: a speed are cubic at most, and change their polynomials only where a step is cut.
_GAUSS = tuple(
    (sign * math.sqrt(3 / 7 + root * 2 / 7 * math.sqrt(6 / 5)), (18 - root * math.sqrt(30)) / 36)
    for root in (-1, 1)
    for sign in (-1, 1)
)


class Warp:
    """A cross-fade that keeps the phases of two tracks equal: both go at the mean of their rates."""

    def __init__(self, old: Track, new: Track) -> None:
        self.old, self.new = old, new

    def phases(self, start: float, end: float) -> float:
        """Turns of either clip between two times: the integral of (1 - f) r_old + f r_new, f the fade."""
        middle, half, turns = (start + end) / 2, (end - start) / 2, 0.0
        for place, weight in _GAUSS:
            time = middle + half * place
            share = self.new._fade.at(time)
            old, new = self.old._speed.at(time), self.new._speed.at(time)
            turns += weight * ((1 - share) * old / self.old.duration + share * new / self.new.duration)
        return half * turns

    def dissolve(self) -> None:
        self.old._warp = self.new._warp = None


class Layer:
    """Tracks that are blended with each other, laid over the layers below."""

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
    """A change that waits for its time; the controller's key_ methods make it, `cancel` takes it back."""

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


# ---- checks of arguments -----------------------------------------------------------------------------


def not_negative(name: str, value: Any, most: float = MOST_SECONDS) -> float:
    """A float from 0 to `most`."""
    number = finite(name, value)
    if not 0 <= number <= most:
        raise ValueError(f"{name} is {number:g}; expected 0 or more, and at most {most:g}")
    return number


def weight_of(value: Any) -> float:
    """A weight that can be summed."""
    return not_negative("weight", value, MOST_WEIGHT)


def within(name: str, value: Any, most: float) -> float:
    """A float from -most to most."""
    number = finite(name, value)
    if abs(number) > most:
        raise ValueError(f"{name} is {number:g}; expected at most {most:g}, whatever the sign")
    return number


def one_of(name: str, value: Any, words: tuple[str, ...]) -> None:
    """ValueError unless `value` is among the words."""
    if value not in words:
        raise ValueError(f"{name} is {value!r}; expected one of {', '.join(map(repr, words))}")
