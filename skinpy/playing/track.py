"""Tracks: the clips and blend spaces that a controller plays, and the events that they pass."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .. import _core
from .._arguments import brief, flag
from .._text import quoted
from .._types import Floats, Loop
from ..clip import Clip
from ..mask import Mask
from .animated import Animated
from .bounds import MAX_SECONDS, MAX_SPEED, weight_of, within
from .motion import Motion

if TYPE_CHECKING:
    from .controller import AnimationController

__all__ = ["PassedEvent", "Track"]

Priority = Literal["low", "high"]

#: What the core samples: clip or held pose, time, weight, loop, mask, priority, signs, plane.
Entry = tuple[_core.Clip | Floats | None, float, float, int, Floats | None, int, Floats | None, bool]
#: How an entry of a list is made at every frame: the list, the index, and the track whose position times a
#: rate is the time, and whose strength times a share is the weight; then the rest of the entry.
PlannedClip = tuple[
    list[Entry],
    int,
    "Track",
    float,
    float,
    Clip | Floats | None,
    float,
    int,
    Floats | None,
    int,
    Floats | None,
    bool,
]

LOOPS: tuple[Loop, ...] = ("wrap", "clamp", "pingpong", "once")  # the numbers of the core's enums
_ONCE = LOOPS.index("once")
_ROUNDING = 1e-9  # seconds of the clip: a step that goes less beyond the end ends there
PRIORITIES: tuple[Priority, ...] = ("low", "high")


@dataclass(frozen=True)
class PassedEvent:
    """An event that `AnimationController.advance` passed.

    Attributes
    ----------
    name : str
        Name of the event in the clip.
    time : float, seconds
        Time of the event in the clip.
    clip : Clip
        The clip that has the event.
    layer : str
        Name of the layer.
    track : Track
        The track that passed the event.
    weight : float
        Weight of the track, with its fade, when the event was passed.
    at : float, seconds
        Time of the controller when the event was passed.
    """

    name: str
    time: float
    clip: Clip
    layer: str
    track: "Track"
    weight: float
    at: float


class Track:
    """One clip or blend space that plays in a layer of a controller.

    `AnimationController.play`, `AnimationController.cross_fade` and `AnimationController.add_track` make
    tracks. Setting a property takes effect at once; the key methods of the controller change it later, or
    gradually.
    """

    __slots__ = (  # without __dict__, a misspelled name is an error
        "__weakref__",
        "_controller",
        "_enabled",
        "_fade",
        "_finished",
        "_fresh",
        "_generation",
        "_layer",
        "_loop",
        "_mask",
        "_mask_array",
        "_motion",
        "_number",
        "_position",
        "_priority",
        "_speed",
        "_stands",
        "_warp",
        "_weight",
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
        self._fresh = True  # an event at the position itself has not been passed yet
        self._warp: Warp | None = None
        self._generation = 0  # of the layer's cross-fades
        self._stands = False  # whether it plays once and has stood at an end since before the present time
        self._number = number
        self._layer = layer
        self._mask = mask
        self._finished = False

    @property
    def number(self) -> int:
        """The number of the track: it counts those of the controller from 0."""
        return self._number

    @property
    def layer(self) -> str:
        """The name of the layer."""
        return self._layer

    @property
    def mask(self) -> Mask | None:
        """The mask of the layer's weight for each joint."""
        return self._mask

    @property
    def finished(self) -> bool:
        """Whether a track with loop "once" has reached its end."""
        return self._finished

    @property
    def clip(self) -> Clip | None:
        """The clip; of a blend space that with the largest weight; None for the rest pose or a held pose."""
        return self._motion.clip

    @property
    def duration(self) -> float:
        """The seconds of one cycle at speed 1; of a blend space the weighted mean."""
        return self._motion.duration

    @property
    def loop(self) -> Loop:
        """What happens outside the clip: "wrap", "clamp", "pingpong" or "once"."""
        return LOOPS[self._loop]

    @property
    def priority(self) -> Priority:
        """The group of the layer that the track belongs to, "low" or "high"."""
        return PRIORITIES[self._priority]

    @property
    def position(self) -> float:
        """The seconds of the clip that were played, not wrapped: 2.5 durations is in the third cycle."""
        return self._position

    @position.setter
    def position(self, value: float) -> None:
        self._set("position", within("position", value, MAX_SECONDS))

    @property
    def phase(self) -> float:
        """The position divided by the duration; 0 for a clip of duration 0."""
        return self._position / self._motion.duration if self._motion.duration > 0 else 0.0

    @property
    def weight(self) -> float:
        """The weight in the layer, 0 or more, without the fade."""
        return self._weight.at(self._controller.time)

    @weight.setter
    def weight(self, value: float) -> None:
        self._set("weight", weight_of(value))

    @property
    def fade(self) -> float:
        """The factor of the fade: from 0 to 1 while the track fades in, and back while it fades out."""
        return self._fade.at(self._controller.time)

    @property
    def speed(self) -> float:
        """The seconds of the clip per second; negative speeds play backwards."""
        return self._speed.at(self._controller.time)

    @speed.setter
    def speed(self, value: float) -> None:
        self._set("speed", within("speed", value, MAX_SPEED))

    @property
    def enabled(self) -> bool:
        """Whether the track moves and has a weight."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._set("enabled", flag("enabled", value))

    @property
    def parameter(self) -> Any:
        """The parameter of the blend space, a number or a pair; None for a clip. Setting keeps the phase."""
        return self._motion.parameter

    @parameter.setter
    def parameter(self, value: Any) -> None:
        if self._motion.space is None:
            raise ValueError(
                f"parameter is {brief(value)}, but the track plays a clip, which has no parameter; "
                "expected a track of a blend space"
            )
        self._set("parameter", self._motion.space.check(value))

    def _set(self, name: str, value: Any) -> None:
        """Record and apply a change that the user made."""
        self._controller._record("set", track=self.number, name=name, value=value)
        self._apply(name, value)

    def _apply(self, name: str, value: Any) -> None:
        """Change a property now."""
        self._controller._invalidate()
        if name == "position":
            self._position, self._fresh, self._finished = value, True, False
            self._stands = False
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
        """Return the weight with the fade; 0 for a track that is not enabled."""
        weight, fade = self._weight, self._fade
        if weight.span == fade.span == 0.0:
            return weight.value * fade.value if self._enabled else 0.0
        strength = (weight.value if weight.span == 0.0 else weight.at(time)) * (
            fade.value if fade.span == 0.0 else fade.at(time)
        )
        return strength if self._enabled else 0.0

    def _add_entries(
        self, entries: list[Entry], clips: list[PlannedClip], strength: float, signs: Floats | None
    ) -> None:
        """Add an entry to those of a layer for each clip; the first one gets the signs."""
        motion = self._motion
        for clip, share in motion.samples:
            rate = 1.0
            if motion.space is not None and clip is not None:  # the clips of a space have one phase
                rate = clip.duration / motion.duration if motion.duration > 0 else 0.0
            played = clip if motion.held is None else motion.held
            entry = (
                played,
                0.0,
                strength * share,
                self._loop,
                self._mask_array,
                self._priority,
                signs,
                motion.plane,
            )
            clips.append((entries, len(entries), self, rate, share, played, *entry[2:]))
            entries.append(entry)
            signs = None

    def _position_near(self, shift: float) -> float:
        """Return the position that many seconds before or after the present time, if all goes on evenly."""
        if not self._enabled or self._stands:
            return self._position
        now = self._controller.time
        return self._position + self._distance(now, now + shift)

    @property
    def _is_even(self) -> bool:
        """Whether a step is speed * time, and nothing else can happen."""
        return not (
            self._speed.span
            or self._warp is not None
            or self._loop == _ONCE
            or self._motion.events
            or self._fresh
        )

    def _distance(self, start: float, end: float) -> float:
        """Return the seconds of the clip between two times of the controller, without changes in between."""
        if self._warp is not None:
            return self._warp.phases(start, end) * self._motion.duration
        speed = self._speed
        return speed.value * (end - start) if speed.span == 0.0 else speed.integral(start, end)

    def _time_after(self, distance: float, start: float, end: float) -> float:
        """Return when the track has played `distance` seconds of the clip since `start`, by bisection."""
        if self._warp is None and self._speed.span == 0.0:
            return min(max(start + distance / self._speed.value, start), end) if self._speed.value else start
        low, high, sign = start, end, math.copysign(1.0, distance)
        for _ in range(60):
            middle = (low + high) / 2
            if sign * self._distance(start, middle) < sign * distance:
                low = middle
            else:
                high = middle
        return high

    def _move(self, start: float, end: float) -> float:
        """Play from `start` to `end`, seconds of the controller; return the position before."""
        old, duration = self._position, self._motion.duration
        new = old + self._distance(start, end)
        if self._loop == _ONCE:
            clamped = min(max(new, 0.0), duration)
            if new != old:
                self._finished = (
                    clamped != new or (clamped == duration and new > old) or (clamped == 0.0 and new < old)
                )
            self._stands = abs(new - clamped) > _ROUNDING
            new = clamped
        self._position = new
        return old

    def __repr__(self) -> str:
        still = "rest pose" if self._motion.held is None else "held pose"
        name = self.clip.name if self.clip is not None else still
        return (
            f"<Track {self.number} in {quoted(self.layer)}: {quoted(name)} at {self._position:.3f} s, "
            f"weight {self.weight:g}{'' if self.fade == 1 else f', fade {self.fade:.2f}'}>"
        )


#: Nodes in (-1, 1) and weights of the Gauss-Legendre quadrature that is exact up to degree 7. A fade and a
#: speed are cubic at most, and steps are cut where their polynomials change.
_GAUSS = tuple(
    (sign * math.sqrt(3 / 7 + root * 2 / 7 * math.sqrt(6 / 5)), (18 - root * math.sqrt(30)) / 36)
    for root in (-1, 1)
    for sign in (-1, 1)
)


class Warp:
    """A cross-fade that keeps the phases of two tracks equal: both play at the mean of their rates."""

    def __init__(self, old: Track, new: Track) -> None:
        self.old, self.new = old, new

    def phases(self, start: float, end: float) -> float:
        """Return the cycles between two times: the integral of (1 - f) r_old + f r_new, f being the fade."""
        middle, half, cycles = (start + end) / 2, (end - start) / 2, 0.0
        for node, weight in _GAUSS:
            time = middle + half * node
            fade = self.new._fade.at(time)
            old, new = self.old._speed.at(time), self.new._speed.at(time)
            cycles += weight * ((1 - fade) * old / self.old.duration + fade * new / self.new.duration)
        return half * cycles

    def dissolve(self) -> None:
        """Let both tracks play at their own rates again."""
        self.old._warp = self.new._warp = None
