"""The controller: it owns time, plays clips in layers, and says what was passed on the way."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments import finite, flag
from .._types import Array, Floats, Loop
from ..clip import Clip
from ..mask import Mask
from ..pose import Pose
from .passing import MOST_EVENTS
from .recording import Recording, plain
from .root_travel import Leg, travelled
from .tracks import (
    EASES,
    LOOPS,
    MOST_SECONDS,
    MOST_SPEED,
    PRIORITIES,
    Animated,
    Ease,
    Entry,
    Key,
    Layer,
    Motion,
    PassedEvent,
    PlannedClip,
    PlannedLayer,
    Priority,
    Track,
    Warp,
    not_negative,
    one_of,
    weight_of,
    within,
)

if TYPE_CHECKING:
    from ..model import Model
    from ..view import LiveView
    from .state_machine import StateMachine, StatePlayer

__all__ = ["AnimationController"]

_BASE, _OVERRIDE, _ADD = range(3)  # modes of a layer, as the core numbers them
_MOST_CHANGES = 10_000  # at one time, before a circle of state changes is called one

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def _recorded(
    method: Callable[Concatenate[AnimationController, _Arguments], _Result],
) -> Callable[Concatenate[AnimationController, _Arguments], _Result]:
    """Notes calls from outside for the recording; what a call does by further calls is not noted.

    Each may change what plays, so what is kept from frame to frame is forgotten.
    """

    @wraps(method)
    def noted(self: AnimationController, *args: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
        self._forget()
        if self._recording is None:
            return method(self, *args, **keywords)
        with self._one_call():
            result = method(self, *args, **keywords)
        self._record(method.__name__, *args, **keywords)
        return result

    return noted  # type: ignore[return-value]


class AnimationController:
    """Plays clips of one model, over time, in layers.

        controller = skinpy.AnimationController(model)
        controller.play("run")
        controller.play("wave", layer="upper", mask=skinpy.Mask.below("Chest"))
        events = controller.advance(1 / 60)
        palette = controller.palette()

    A layer holds tracks, blended with each other; layers are laid over each other in the order in which they
    were first used, "base" first of all: docs/controller.md has the formulas. The same calls give the same
    bits, and (to rounding) it does not matter in how many steps time advances.
    """

    __slots__ = (  # and no __dict__: a name that is misspelled is an error
        "__weakref__",
        "_depth",
        "_drivers",
        "_keys",
        "_layers",
        "_legs",
        "_longest",
        "_made",
        "_moves",
        "_plan",
        "_ramps",
        "_recording",
        "model",
        "paused",
        "time",
    )

    def __init__(self, model: Model) -> None:
        if not isinstance(model, _core.Model):
            raise TypeError(f"model is of type {type(model).__name__}; expected a Model")
        self.model = model  #: whose clips are played
        self.time = 0.0  #: seconds that have been advanced
        self.paused = False  #: whether `advance` does nothing
        self._layers: dict[str, Layer] = {"base": Layer("base")}
        self._keys: list[Key] = []
        self._ramps: list[Animated] = []
        self._drivers: list[Any] = []
        self._legs: list[list[Leg]] = []
        self._moves: tuple[list[tuple[Track, float]], list[Track], bool] | None = None  # see _how_to_move
        self._plan: tuple[list[PlannedLayer], list[PlannedClip]] | None = None  # see _how_to_blend
        self._longest = -1.0  # seconds of a step that needs no look at how many events it passes
        self._made = [0, 0]  # tracks and keys so far
        self._recording: Recording | None = None
        self._depth = 0

    @property
    def layers(self) -> Mapping[str, tuple[Track, ...]]:
        """The tracks of each layer, those that are fading out too, in the order of the layers."""
        return MappingProxyType({name: tuple(layer.tracks) for name, layer in self._layers.items()})

    @property
    def players(self) -> tuple[StatePlayer, ...]:
        """The players of the state machines that run; `clone` gives a controller with players of its own."""
        return tuple(self._drivers)

    # ---- what plays ---------------------------------------------------------------------------------

    @_recorded
    def play(
        self,
        clip: Any,
        *,
        layer: str = "base",
        mask: Mask | None = None,
        weight: float = 1.0,
        speed: float = 1.0,
        loop: Loop = "wrap",
        additive: bool = False,
        priority: Priority = "low",
    ) -> Track:
        """Plays a clip from its start, in place of what its layer played; returns its track.

        clip is a name, an index, a Clip bound to this model, or a blend space. mask gives each joint a share
        of the layer, weight (0 or more) all of them; speed is in seconds of the clip per second, and a
        negative one plays it backwards; with loop "clamp" or "once" it then starts at its end. additive adds
        the clip to the layers below: one that is not additive is made so against its first pose. priority is
        the group of the layer: see `add_track`.

        Raises KeyError (unknown clip or joint, with the close names), IndexError, ValueError and TypeError;
        nothing changes then.
        """
        track = self._track(clip, layer, mask, weight, speed, loop, additive, priority)
        room = self._layer(layer)
        for old in room.tracks:
            self._leave(old)
        room.tracks = [track]
        room.additive = flag("additive", additive) or self._is_additive(clip)
        return track

    @_recorded
    def add_track(
        self,
        clip: Any,
        *,
        layer: str = "base",
        mask: Mask | None = None,
        weight: float = 1.0,
        speed: float = 1.0,
        loop: Loop = "wrap",
        priority: Priority = "low",
    ) -> Track:
        """Plays a clip from its start beside what its layer plays; arguments and errors are those of `play`.

        The tracks of a layer are blended by their weights, those of priority "low" and of "high" apart; the
        two results are mixed by one factor, the layer's priority blend: 0 is low alone, 1 high alone, 0.5
        from the start; `key_priority_blend` changes it.
        """
        room = self._layers.get(layer)
        additive = room is not None and room.additive
        track = self._track(clip, layer, mask, weight, speed, loop, additive, priority)
        self._layer(layer).tracks.append(track)
        return track

    @_recorded
    def cross_fade(
        self,
        clip: Any,
        seconds: float,
        *,
        layer: str = "base",
        ease: Ease = "linear",
        warp: bool = False,
        mask: Mask | None = None,
        weight: float = 1.0,
        speed: float = 1.0,
        loop: Loop = "wrap",
    ) -> Track:
        """Fades from what a layer plays to a clip, from its start, within `seconds`; returns its track.

        The new track's share goes from 0 to 1 and those of the others to 0, by ease "linear" (u) or "smooth"
        (3 u^2 - 2 u^3): at the start the pose is the old one's, at the end the new one's. From an empty layer
        it comes out of what is below it, in "base" out of the rest pose. With warp=True the new clip starts
        at the phase (position / duration) of the old one, and both play at the mean of their rates, by their
        shares, so that their phases stay equal. mask None keeps the mask of what the layer played; whether
        the layer is additive stays.

        Raises what `play` raises; ValueError for negative seconds, and for a warp without an old track or
        with a clip of duration 0.
        """
        span = not_negative("seconds", seconds)
        one_of("ease", ease, tuple(EASES))
        room = self._layers.get(layer)
        old = room.staying[-1] if room is not None and room.staying else None
        if mask is None and old is not None:
            mask = old.mask
        if flag("warp", warp) and (old is None or old.duration <= 0 or self._find(clip).duration <= 0):
            raise ValueError("warp needs a track in the layer that is faded from, and clips of some duration")
        track = self._track(clip, layer, mask, weight, speed, loop, room is not None and room.additive, "low")
        if old is not None:
            track._priority = old._priority
        room = self._layer(layer)
        if not room.tracks and layer == "base":
            room.tracks.append(self._new_track(layer, Motion(None), None, 1.0, 1.0, "wrap", "low"))
        self._fade_out(room.tracks, span, ease)
        room.tracks.append(track)
        track._fade.set(0.0)
        self._ramp(track._fade, 1.0, self.time, span, ease)
        if warp and old is not None and span > 0:
            self._warp(old, track)
        elif warp and old is not None:
            track._position = old.phase * track.duration
        self._settle()
        return track

    @_recorded
    def stop(self, layer: str | None = None, *, fade: float = 0.0) -> None:
        """Ends what a layer plays, or all of them, within `fade` seconds; "base" goes to the rest pose.

        Raises KeyError for an unknown layer and ValueError for a negative fade.
        """
        span = not_negative("fade", fade)
        rooms = list(self._layers.values()) if layer is None else [self._known_layer(layer)]
        for room in rooms:
            if room.name == "base" and span > 0 and room.staying:
                self.cross_fade.__wrapped__(self, None, span)  # type: ignore[attr-defined]
            self._fade_out([track for track in room.staying if track.clip is not None], span, "linear")
        self._settle()

    @_recorded
    def pause(self) -> None:
        """Lets `advance` do nothing until `resume`."""
        self.paused = True

    @_recorded
    def resume(self) -> None:
        """Ends a pause."""
        self.paused = False

    @_recorded
    def seek(self, position: float, *, layer: str = "base") -> None:
        """Puts the tracks of a layer at `position` seconds of their clips; events in between are not passed.

        Raises KeyError for an unknown layer and ValueError for a position that is not finite.
        """
        wanted = within("position", position, MOST_SECONDS)
        for track in self._known_layer(layer).staying:
            track._apply("position", wanted)

    # ---- time ---------------------------------------------------------------------------------------

    def advance(self, dt: float) -> list[PassedEvent]:
        """Moves on by dt seconds, 0 or more; returns the events that were passed, in order.

        An event counts as passed at the end of a step, not at its start; where playing begins it counts at
        the start too. Each is returned once per pass, also backwards and in several turns of a loop.
        Keyed changes and ends of fades take effect at their own times within the step.
        """
        if self._recording is None:  # not @_recorded: a step is the one call that is made at every frame
            return self._advance(dt)
        with self._one_call():
            events = self._advance(dt)
        self._record("advance", dt)
        return events

    def _advance(self, dt: float) -> list[PassedEvent]:
        step = dt if type(dt) is float and 0.0 <= dt <= 1.0 else not_negative("dt", dt)
        events: list[PassedEvent] = []
        self._legs = []
        if self.paused:
            return events
        if step > self._longest:
            self._check_events(step)
        end = self.time + step
        if self._keys or self._ramps or self._drivers:
            self._move_by_changes(end, events)
        else:
            self._move(end, events)
        return events

    def _move_by_changes(self, end: float, events: list[PassedEvent]) -> None:
        """Plays all tracks up to `end`, from one change to the next."""
        changes_here = 0
        while changes_here < _MOST_CHANGES:
            stop, due = self._next_stop(end)
            changes_here += 1
            if stop > self.time:
                self._move(stop, events)
                changes_here = 0
            changed = self._change()
            for driver in due:
                driver._act()
                changed = True
            if stop >= end and not changed:
                return
        raise RuntimeError(f"advance: more than {_MOST_CHANGES} changes at {self.time:g} s")

    def _next_stop(self, end: float) -> tuple[float, list[StatePlayer]]:
        """The time of the next change, at most `end`, and the players that switch then."""
        stop, now, asked = end, self.time, []
        for key in self._keys:
            stop = min(stop, key.start)
        for ramp in self._ramps:
            stop = min(stop, ramp.end)
        for driver in self._drivers:
            seconds = driver._due(end)
            if seconds is not None:
                stop = min(stop, now + seconds)
                asked.append((now + seconds, driver))
        stop = max(stop, now)
        return stop, [driver for due, driver in asked if due <= stop]

    def _check_events(self, step: float) -> None:
        """ValueError for a step that would pass more events than anybody can use; notes which would not."""
        longest = math.inf
        for layer in self._layers.values():
            for track in layer.tracks:
                if not track._motion.events or track.loop not in ("wrap", "pingpong"):
                    continue
                number = len(track._motion.events)
                count = number * self._most_turns(track, step)
                if count > MOST_EVENTS:
                    raise ValueError(
                        f"dt is {step:g}; track {track.number} would pass {count:.3g} events; expected a "
                        f"shorter step or a lower speed, for at most {MOST_EVENTS:g}"
                    )
                rate = number * self._most_turns(track, 1.0)
                longest = min(longest, MOST_EVENTS / rate if rate else math.inf)
        self._longest = longest

    def _most_turns(self, track: Track, seconds: float) -> float:
        """Turns of the clip within `seconds`, at the highest speed that a track has or is to have."""
        turns = 0.0
        for one in (track,) if track._warp is None else (track._warp.old, track._warp.new):
            speeds = [one._speed.origin, one._speed.value]
            speeds += [key._value for key in self._keys if key._target is one and key.name == "speed"]
            if one.duration > 0:
                turns = max(turns, seconds * max(map(abs, speeds)) / one.duration)
        return turns

    def _move(self, end: float, events: list[PassedEvent]) -> None:
        """Plays all tracks up to `end`, without any change on the way."""
        start = self.time
        if self._moves is None:
            self._moves = self._how_to_move()
        even, others, travels = self._moves
        for track, speed in even:
            track._position += speed * (end - start)
        if others:
            met: list[PassedEvent] = []
            legs: list[Leg] = []
            for track in others:
                old = track._move(start, end)
                if track._motion.events:
                    met += self._passed(track, old, start, end)
                elif track._fresh and track._position != old:
                    track._fresh = False
                    self._moves = None
                if travels and track.layer == "base":
                    legs.append(self._leg(track, old, 0.5 * (start + end)))
            if travels:
                self._legs.append(legs)
            if met:
                events += sorted(met, key=lambda event: event.at)
        self.time = end

    def _how_to_move(self) -> tuple[list[tuple[Track, float]], list[Track], bool]:
        """The tracks that do nothing but go on evenly, with their speeds, all others that are enabled, and
        whether the base layer has root motion; it holds until something changes."""
        tracks = [track for layer in self._layers.values() for track in layer.tracks if track._enabled]
        travels = any(track._motion.travels and track.layer == "base" for track in tracks)
        even, others = [], []
        for track in tracks:
            if track._is_even and not (travels and track.layer == "base"):
                even.append((track, track._speed.value))
            else:
                others.append(track)
        return even, others, travels

    @staticmethod
    def _leg(track: Track, old: float, time: float) -> Leg:
        """What a track did since it was at `old`, with its weight at `time`."""
        motion = track._motion
        return motion.samples, motion.duration, old, track._position, track.loop, track._strength(time)

    @staticmethod
    def _passed(track: Track, old: float, start: float, end: float) -> list[PassedEvent]:
        """The events of one track's way from `old` to its position, with the times at which they were met."""
        motion, new, fresh = track._motion, track._position, track._fresh
        clip = motion.clip
        if clip is None or (new == old and not (fresh and motion.duration == 0)):
            return []
        track._fresh = False
        scale = clip.duration / motion.duration if motion.duration > 0 else 1.0
        met = []
        for position, number in motion.passed(track.loop, old * scale, new * scale, fresh):
            at = track._when(position / scale - old, start, end)
            event = motion.events[number]
            weight = track._strength(at)
            met.append(PassedEvent(event.name, event.time, clip, track.layer, track, weight, at))
        return met

    def _change(self) -> bool:
        """Does what is due at the present time; whether anything was."""
        if not (self._keys or self._ramps):
            return False
        due = [key for key in self._keys if key.start <= self.time]
        for key in sorted(due, key=lambda key: (key.start, key.number)):
            self._keys.remove(key)
            self._turn(key)
        changed = self._settle() or bool(due)
        if changed:
            self._forget()
        return changed

    def _forget(self) -> None:
        """What is kept from frame to frame does not hold any more: called when anything but the time and the
        positions that it moves has changed."""
        self._moves = self._plan = None
        self._longest = -1.0
        for driver in self._drivers:
            driver._forget()

    def _turn(self, key: Key) -> None:
        key.state = "done"
        if isinstance(key._target, Track) and key.name in ("position", "enabled"):
            key._target._apply(key.name, key._value)
            return
        value: Animated = getattr(key._target, key.name if isinstance(key._target, Layer) else f"_{key.name}")
        self._ramp(value, key._value, key.start, key.duration, key._ease)

    # ---- fades and ramps ----------------------------------------------------------------------------

    def _ramp(self, value: Animated, to: float, start: float, span: float, ease: str) -> None:
        if value in self._ramps:
            self._ramps.remove(value)
        value.go(to, start, span, ease)
        self._ramps.append(value)

    def _settle(self) -> bool:
        """Ends the ramps that have arrived; whether any had."""
        arrived = [ramp for ramp in self._ramps if ramp.end <= self.time]
        for ramp in arrived:
            self._ramps.remove(ramp)
            ramp.span = 0.0
            if ramp.leaving is not None:
                self._leave(ramp.leaving)
        if arrived:
            for layer in self._layers.values():
                for track in layer.tracks:
                    if track._warp is not None and track._warp.new._fade.span == 0.0:
                        track._warp.dissolve()
        return bool(arrived)

    def _fade_out(self, tracks: list[Track], span: float, ease: str) -> None:
        for track in list(tracks):
            if track._warp is not None:
                track._warp.dissolve()
            if track._strength(self.time) == 0 and track.fade == 0:  # it has not even begun to fade in
                self._leave(track)
                continue
            track._fade.leaving = track
            self._ramp(track._fade, 0.0, self.time, span, ease)

    def _leave(self, track: Track) -> None:
        """Takes a track out, with what was still to happen to it."""
        tracks = self._layers[track.layer].tracks
        if track in tracks:
            tracks.remove(track)
        if track._warp is not None:
            track._warp.dissolve()
        own = (track._weight, track._speed, track._fade)
        self._ramps = [ramp for ramp in self._ramps if not any(ramp is one for one in own)]
        for key in [key for key in self._keys if key._target is track]:
            self._cancel(key)

    @staticmethod
    def _warp(old: Track, new: Track) -> None:
        new._position = old.phase * new.duration
        old._warp = new._warp = Warp(old, new)

    # ---- keyed changes --------------------------------------------------------------------------------

    @_recorded
    def key_speed(
        self, track: Track, speed: float, start: float, duration: float = 0.0, ease: Ease = "linear"
    ) -> Key:
        """Lets a track's speed go to `speed` from `start`, seconds of the controller, for `duration` seconds.

        Returns a Key that `cancel` takes back while it waits. A later key of the same value takes over from
        where an earlier one has come. Raises ValueError for a start that is past or a negative duration, and
        for a track that plays no more.
        """
        return self._key(
            self._playing(track), "speed", within("speed", speed, MOST_SPEED), start, duration, ease
        )

    @_recorded
    def key_weight(
        self, track: Track, weight: float, start: float, duration: float = 0.0, ease: Ease = "linear"
    ) -> Key:
        """Lets a track's weight go to `weight`, 0 or more; as `key_speed`."""
        return self._key(self._playing(track), "weight", weight_of(weight), start, duration, ease)

    @_recorded
    def key_position(self, track: Track, position: float, start: float) -> Key:
        """Puts a track at `position` seconds of its clip when `start` comes; as `key_speed`."""
        value = within("position", position, MOST_SECONDS)
        return self._key(self._playing(track), "position", value, start, 0.0, "linear")

    @_recorded
    def key_enable(self, track: Track, enabled: bool, start: float) -> Key:
        """Lets a track move and weigh, or not, from `start` on; as `key_speed`."""
        return self._key(self._playing(track), "enabled", flag("enabled", enabled), start, 0.0, "linear")

    @_recorded
    def key_priority_blend(
        self, blend: float, start: float, duration: float = 0.0, ease: Ease = "linear", *, layer: str = "base"
    ) -> Key:
        """Lets a layer's priority blend go to `blend`, 0 (low alone) to 1 (high alone); as `key_speed`."""
        value = finite("blend", blend)
        if not 0 <= value <= 1:
            raise ValueError(f"blend is {value:g}; expected 0 to 1")
        return self._key(self._known_layer(layer), "priority_blend", value, start, duration, ease)

    @_recorded
    def cancel(self, key: Key) -> None:
        """Takes back a key that still waits; one that was done stays done."""
        if not isinstance(key, Key):
            raise TypeError(f"key is {key!r}; expected what a key_ method returned")
        self._cancel(key)

    def _cancel(self, key: Key) -> None:
        if key in self._keys:
            self._keys.remove(key)
            key.state = "cancelled"

    def _key(
        self, target: Track | Layer, name: str, value: Any, start: float, duration: float, ease: str
    ) -> Key:
        begin, span = finite("start", start), not_negative("duration", duration)
        one_of("ease", ease, tuple(EASES))
        if begin < self.time:
            raise ValueError(f"start is {begin:g}; the controller is at {self.time:g} s already")
        key = Key(target, name, value, begin, span, ease, self._made[1])
        self._made[1] += 1
        self._keys.append(key)
        if self._recording is not None:
            self._recording._keep(key)
        return key

    def _playing(self, track: Track) -> Track:
        if not isinstance(track, Track):
            raise TypeError(f"track is of type {type(track).__name__}; expected a Track")
        if track._controller is not self or track not in self._layers[track.layer].tracks:
            raise ValueError(f"track {track.number} does not play in this controller any more")
        return track

    # ---- results ----------------------------------------------------------------------------------------

    def pose(self, *, root: npt.ArrayLike | None = None) -> Pose:
        """The present pose, a new Pose; root, (4,4), is multiplied in front of the root joint's local."""
        return self.model._mix_pose(self._planned(), self.model.pose(root=root))

    def palette(
        self,
        out: Floats | None = None,
        *,
        affine: bool | None = None,
        root: npt.ArrayLike | None = None,
        inverse_root: bool = False,
    ) -> Floats:
        """The present palette, (S,4,4) or (S,3,4) float32: that of `pose()`, made in one call of C.

        Arguments and errors are those of Model.palette.
        """
        return self.model._mix_palette(
            self._planned(), out, affine=affine, root=root, inverse_root=inverse_root
        )

    def _planned(self) -> list[PlannedLayer]:
        """What the core blends at present."""
        if self._plan is None or self._ramps:
            self._plan = self._how_to_blend()
        plan, clips = self._plan
        for entries, place, track, rate, clip, weight, loop, mask, priority in clips:
            entries[place] = (clip, track._position * rate, weight, loop, mask, priority)
        return plan

    def _how_to_blend(self) -> tuple[list[PlannedLayer], list[PlannedClip]]:
        """The layers as the core wants them, and what to put in them at every frame; it holds until something
        changes but the tracks' positions."""
        plan: list[PlannedLayer] = []
        clips: list[PlannedClip] = []
        for layer in self._layers.values():
            entries: list[Entry] = []
            for track in layer.tracks:
                strength = track._strength(self.time)
                if strength > 0.0:
                    track._enter(entries, clips, strength)
            mode = _ADD if layer.additive else _OVERRIDE if plan else _BASE
            plan.append((mode, layer.priority_blend.at(self.time), entries))
        return plan, clips

    def view(self, **options: Any) -> LiveView:
        """A live view for a notebook, which advances this controller while it plays: docs/notebook.md.

        A slider for each track sets its weight. See skinpy.view.LiveView for the options and errors. Needs
        the extra "jupyter": ImportError without it.
        """
        from ..view import LiveView

        return LiveView(self.model, controller=self, **options)

    @property
    def root_delta(self) -> Array:
        """(4,4) float64: how the root travelled in the last `advance`, by the root motion of the base layer.

        The transform of the character after the step is that before it @ root_delta. Clips without root
        motion stand still; several are blended by their weights.
        """
        delta = np.eye(4)
        for legs in self._legs:
            delta = delta @ travelled(legs)
        return delta

    @_recorded
    def run(self, machine: StateMachine, *, layer: str = "base", mask: Mask | None = None) -> StatePlayer:
        """Lets a state machine decide what a layer plays; returns its player: docs/state-machines.md.

        It starts in the machine's first state, in place of what the layer played and of a machine that ran
        there. Raises KeyError for clips that the model lacks, ValueError and TypeError.
        """
        from .state_machine import StatePlayer

        player = StatePlayer(self, machine, layer=layer, mask=mask)
        self._drivers = [one for one in self._drivers if one.layer != layer] + [player]
        if self._recording is not None:
            self._recording._keep(player)
        return player

    # ---- copies and records ------------------------------------------------------------------------------

    def clone(self) -> AnimationController:
        """A controller in the same state that goes its own way; clips and model are shared, no recording."""
        recording, self._recording = self._recording, None
        try:
            return copy.deepcopy(self)
        finally:
            self._recording = recording

    def record(self) -> Recording:
        """Starts to note every call as plain data; returns the Recording, which grows until its `stop`.

        Raises ValueError for a controller that has played something already.
        """
        if self.time or self._made != [0, 0] or self._drivers or self.paused:
            raise ValueError(
                "record() comes before the first call; this controller has played something already"
            )
        self._recording = Recording()
        return self._recording

    @classmethod
    def replay(cls, model: Model, recording: Recording) -> Iterator[AnimationController]:
        """Makes the recorded calls again, on a model with the same clips; yields after each advance.

        What is yielded is the controller. The poses are the same bit for bit. Raises KeyError for clips that
        the model lacks.
        """
        if not isinstance(recording, Recording):
            raise TypeError(f"recording is of type {type(recording).__name__}; expected a Recording")
        controller = cls(model)
        for name in recording.calls_on(controller):
            if name == "advance":
                yield controller

    @contextmanager
    def _one_call(self) -> Iterator[None]:
        """What is called within it is part of one call from outside."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def _record(self, method: str, /, *args: Any, **keywords: Any) -> None:
        """Notes a call, unless it is part of another or nothing is recorded."""
        if self._recording is not None and self._depth == 0:
            self._recording._note(
                method, [plain(one) for one in args], {k: plain(v) for k, v in keywords.items()}
            )

    # ---- making tracks ----------------------------------------------------------------------------------

    def _layer(self, name: str) -> Layer:
        return self._layers.setdefault(name, Layer(name))

    def _known_layer(self, name: str) -> Layer:
        if name not in self._layers:
            from ..errors import unknown_name

            raise unknown_name("layer", name, self._layers)
        return self._layers[name]

    def _is_additive(self, clip: Any) -> bool:
        found = self._find(clip).clip
        return found is not None and found.is_additive

    def _find(self, clip: Any) -> Motion:
        """A clip by name, index or itself, None for the rest pose, or a blend space."""
        if clip is None:
            return Motion(None)
        if hasattr(clip, "bind"):
            return Motion(None, clip.bind(self.model))
        if not isinstance(clip, Clip):
            return Motion(self.model.clips[clip])
        if clip.model is not self.model:
            raise ValueError(
                f"clip {clip.name!r} is not bound to this model; model.add_clips(clip) gives one that has it"
            )
        return Motion(clip)

    def _track(
        self,
        clip: Any,
        layer: str,
        mask: Mask | None,
        weight: float,
        speed: float,
        loop: Loop,
        additive: bool,
        priority: Priority,
    ) -> Track:
        """A checked track; nothing of the controller has changed yet."""
        if not isinstance(layer, str) or not layer:
            raise TypeError(f"layer is {layer!r}; expected a name")
        if mask is not None and not isinstance(mask, Mask):
            raise TypeError(f"mask is of type {type(mask).__name__}; expected a Mask")
        one_of("loop", loop, LOOPS)
        one_of("priority", priority, PRIORITIES)
        motion = self._find(clip)
        if flag("additive", additive) and motion.clip is not None and not motion.clip.is_additive:
            if motion.space is not None:
                raise ValueError("a blend space cannot be made additive; make it of additive clips")
            motion = Motion(motion.clip.additive())
        rate = within("speed", speed, MOST_SPEED)
        track = self._new_track(layer, motion, mask, weight_of(weight), rate, loop, priority)
        if rate < 0 and loop in ("clamp", "once"):
            track._position = track.duration
        return track

    def _new_track(
        self,
        layer: str,
        motion: Motion,
        mask: Mask | None,
        weight: float,
        speed: float,
        loop: Loop,
        priority: Priority,
    ) -> Track:
        track = Track(self, self._made[0], layer, motion, mask, weight, speed, loop, priority)
        self._made[0] += 1
        if self._recording is not None:
            self._recording._keep(track)
        return track

    def __repr__(self) -> str:
        tracks = sum(len(layer.tracks) for layer in self._layers.values())
        return f"<AnimationController at {self.time:.3f} s: {tracks} tracks in {len(self._layers)} layers>"
