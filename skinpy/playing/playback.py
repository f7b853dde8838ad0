"""Playback: how the layers of a controller move through time, and what the core blends of them.

A step is cut at every change, so that between two changes each track has one formula. What does not change
from frame to frame is cached until `invalidate`.

Two rotations that a fade mixes may move through 180 degrees apart. The fade stays on the side that it took
in the frame before. A frame is the state in which a step begins (a long step is cut into several), whether
or not its pose is asked for: the calls alone decide what a pose is. The signs that tell the side are seen
when the pose of a frame is made, and kept when the next step begins.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._types import Floats
from .layer import Key, Layer
from .passing import MAX_EVENTS
from .root_travel import Leg
from .schedule import Schedule
from .track import Entry, PassedEvent, PlannedClip, Track, Warp

if TYPE_CHECKING:
    from .animated import Animated
    from .inertia import Inertia
    from .state_player import StatePlayer

#: What the core lays over the layers below: mode, priority blend, entries and, of what fades, the signs of
#: the layer over those below, inertia, and its seconds and span.
PlannedFades = tuple[Floats | None, Floats | None, float, float]
PlannedLayer = tuple[int, float, list[Entry], PlannedFades | None]

#: The layers for the core, the entries to update at every frame, the layers to update while they have ramps
#: (by number), and the layers that have signs, with those of their pairs.
_Plan: TypeAlias = tuple[
    list[PlannedLayer],
    list[PlannedClip],
    list[tuple[int, Layer]],
    list[tuple[Layer, dict[tuple[int, int], Floats]]],
]

_BASE, _OVERRIDE, _ADD = range(3)  # modes of a layer, as the core numbers them
_MAX_CHANGES = 10_000  # at one time: more are an endless cycle of state changes
_FRAME = 1 / 29  # seconds: longer steps of a fade are cut, so that joints turn less than half a turn in each
_MAX_FRAMES = 1000  # in one step
_LIGHT = 1e-7  # a weight that float32 does not see beside 1


class Playback:
    """The layers of a controller, their time, and the changes and players that act on them."""

    __slots__ = (
        "_longest",
        "_moves",
        "_plan",
        "_signed",
        "layers",
        "legs",
        "players",
        "schedule",
        "seen",
        "time",
    )

    def __init__(self) -> None:
        self.time = 0.0  #: seconds that have been played
        self.layers: dict[str, Layer] = {"base": Layer("base")}
        self.schedule = Schedule()
        self.players: list[StatePlayer] = []  #: of state machines
        self.legs: list[list[Leg]] = []  #: what the base layer did in each section of the last step
        self._moves: tuple[list[tuple[Track, float]], list[Track], bool] | None = None  # see _find_moves
        self._plan: _Plan | None = None
        self._signed = False  # whether a step begins with signs to keep
        self.seen = False  #: whether the core has made the present pose, and the signs of this frame
        self._longest = -1.0  # seconds of a step that cannot pass too many events

    def invalidate(self) -> None:
        """Drop the caches: anything but the time and the positions that it moves has changed."""
        self._moves = self._plan = None
        self.seen = False
        self._longest = -1.0
        for player in self.players:
            player._invalidate()

    # ---- time ---------------------------------------------------------------------------------------

    def advance(self, step: float) -> list[PassedEvent]:
        """Play `step` seconds; return the events that were passed, in order."""
        events: list[PassedEvent] = []
        self.legs = []
        if step > self._longest:
            self._check_events(step)
        end = self.time + step
        if self.schedule.keys or self.schedule.ramps or self.players or self._signed:
            self._move_by_changes(end, events, max(_FRAME, step / _MAX_FRAMES))
        else:
            self._move(end, events)
        return events

    def _move_by_changes(self, end: float, events: list[PassedEvent], frame: float) -> None:
        """Play all tracks up to `end`, from one change to the next; what has signs by a frame at most."""
        changes_here = 0
        while changes_here < _MAX_CHANGES:
            stop, switching = self._next_stop(end)
            changes_here += 1
            if stop > self.time:
                if self._plan is not None and not self._plan[3]:
                    self._signed = False  # this is what most frames come to, so it is not a call
                elif self._keep_signs() and stop > self.time + frame:
                    stop, switching = self.time + frame, []
                self._move(stop, events)
                changes_here = 0
            changed = self._change()
            for player in switching:
                player._act()
                changed = True
            if stop >= end and not changed:
                return
        raise RuntimeError(f"advance made more than {_MAX_CHANGES} changes at {self.time:g} s without an end")

    def _next_stop(self, end: float) -> tuple[float, list[StatePlayer]]:
        """Return the time of the next change, at most `end`, and the players that switch then."""
        stop, now, candidates = self.schedule.next_time(end), self.time, []
        for player in self.players:
            seconds = player._due(end)
            if seconds is not None:
                stop = min(stop, now + seconds)
                candidates.append((now + seconds, player))
        stop = max(stop, now)
        return stop, [player for due, player in candidates if due <= stop]

    def _move(self, end: float, events: list[PassedEvent]) -> None:
        """Play all tracks up to `end`, without any change on the way."""
        start = self.time
        if self._moves is None:
            self._moves = self._find_moves()
        even, others, travels = self._moves
        for track, speed in even:
            track._position += speed * (end - start)
        if others:
            met: list[PassedEvent] = []
            legs: list[Leg] = []
            for track in others:
                old = track._move(start, end)
                if track._motion.events:
                    met += _passed(track, old, start, end)
                elif track._fresh and track._position != old:
                    track._fresh = False
                    self._moves = None
                if travels and track.layer == "base":
                    legs.append(_leg(track, old, 0.5 * (start + end)))
            if travels:
                self.legs.append(legs)
            if met:
                events += sorted(met, key=lambda event: event.at)
        self.time = end

    def _find_moves(self) -> tuple[list[tuple[Track, float]], list[Track], bool]:
        """Return how tracks move until something changes.

        These are the tracks that only move evenly, with their speeds, all other enabled tracks, and whether
        the base layer has root motion.
        """
        tracks = [track for layer in self.layers.values() for track in layer.tracks if track._enabled]
        travels = any(track._motion.travels and track.layer == "base" for track in tracks)
        even, others = [], []
        for track in tracks:
            if track._is_even and not (travels and track.layer == "base"):
                even.append((track, track._speed.value))
            else:
                others.append(track)
        return even, others, travels

    # ---- events -------------------------------------------------------------------------------------

    def _check_events(self, step: float) -> None:
        """Raise ValueError for a step that passes too many events; store the longest step that does not."""
        longest = math.inf
        for layer in self.layers.values():
            for track in layer.tracks:
                if not track._motion.events or track.loop not in ("wrap", "pingpong"):
                    continue
                number = len(track._motion.events)
                count = number * self._most_cycles(track, step)
                if count > MAX_EVENTS:
                    raise ValueError(
                        f"dt is {step:g}; track {track.number} would pass {count:.3g} events; expected a "
                        f"shorter step or a lower speed, for at most {MAX_EVENTS:g}"
                    )
                rate = number * self._most_cycles(track, 1.0)
                longest = min(longest, MAX_EVENTS / rate if rate else math.inf)
        self._longest = longest

    def _most_cycles(self, track: Track, seconds: float) -> float:
        """Return the cycles of the clip within `seconds`, at the highest present or keyed speed."""
        cycles = 0.0
        for one in (track,) if track._warp is None else (track._warp.old, track._warp.new):
            speeds = [one._speed.origin, one._speed.value]
            speeds += [key._value for key in self.schedule.keys if key._target is one and key.name == "speed"]
            if one.duration > 0:
                cycles = max(cycles, seconds * max(map(abs, speeds)) / one.duration)
        return cycles

    # ---- changes ------------------------------------------------------------------------------------

    def _change(self) -> bool:
        """Make the changes that are due now; return whether there were any."""
        if not (self.schedule.keys or self.schedule.ramps):
            return False
        due = self.schedule.take_due(self.time)
        for key in due:
            self._apply(key)
        changed = self.settle() or bool(due)
        if changed:
            self.invalidate()
        return changed

    def _apply(self, key: Key) -> None:
        """Make the change of a key: at once, or as a ramp that begins now."""
        key._state = "done"
        if isinstance(key._target, Track) and key.name in ("position", "enabled"):
            key._target._apply(key.name, key._value)
            return
        value: Animated = getattr(key._target, key.name if isinstance(key._target, Layer) else f"_{key.name}")
        self.schedule.ramp(value, key._value, key.start, key.duration, key._ease)

    def settle(self) -> bool:
        """End the ramps whose time is over, with what depends on them; return whether there were any."""
        ended = self.schedule.take_ended(self.time)
        for ramp in ended:
            if ramp.leaving is not None:
                self.remove(ramp.leaving)
        if ended:
            for layer in self.layers.values():
                if layer.inertia is not None and layer.inertia.ramp in ended:
                    layer.inertia = None
                for track in layer.tracks:
                    if track._warp is not None and track._warp.new._fade.span == 0.0:
                        track._warp.dissolve()
        return bool(ended)

    def fade_out(self, tracks: list[Track], span: float, ease: str) -> None:
        """Let tracks fade out within `span` seconds; then they are removed."""
        for track in list(tracks):
            if track._warp is not None:
                track._warp.dissolve()
            if track._strength(self.time) <= _LIGHT and track.fade <= _LIGHT:
                self.remove(track)
                continue
            track._fade.leaving = track
            self.schedule.ramp(track._fade, 0.0, self.time, span, ease)

    def fade_in(self, track: Track, span: float, ease: str) -> None:
        """Let a track fade in within `span` seconds."""
        track._fade.set(0.0)
        self.schedule.ramp(track._fade, 1.0, self.time, span, ease)

    def remove(self, track: Track) -> None:
        """Remove a track, with all changes that it was to have."""
        tracks = self.layers[track.layer].tracks
        if track in tracks:
            tracks.remove(track)
        if not tracks:
            self.layers[track.layer].cover = None
        if track._warp is not None:
            track._warp.dissolve()
        self.schedule.drop(track)

    def set_inertia(self, layer: Layer, inertia: Inertia | None, span: float = 0.0) -> None:
        """Give a layer a difference that dies out within `span` seconds, in place of one that it has."""
        if layer.inertia is not None:
            self.schedule.ramps.remove(layer.inertia.ramp)
        layer.inertia = inertia
        if inertia is not None:
            self.schedule.ramp(inertia.ramp, 1.0, self.time, span, "linear")

    # ---- what the core blends -----------------------------------------------------------------------

    def planned(self) -> list[PlannedLayer]:
        """Return the layers for the core, at the present time."""
        if self._plan is None:
            self._plan = self._find_plan(list(self.layers.values()), self.time)
        planned, clips, moving, _ = self._plan
        if self.schedule.ramps:
            self._move_ramps(planned, clips, moving)
            return planned
        for entries, index, track, rate, _, clip, weight, loop, mask, priority, signs, plane in clips:
            entries[index] = (clip, track._position * rate, weight, loop, mask, priority, signs, plane)
        return planned

    def _move_ramps(
        self, planned: list[PlannedLayer], clips: list[PlannedClip], moving: list[tuple[int, Layer]]
    ) -> None:
        """Update what `planned` gives the core while weights and fades are on their way."""
        time = self.time
        for entries, index, track, rate, share, clip, _, loop, mask, priority, signs, plane in clips:
            weight = track._strength(time) * share
            entries[index] = (clip, track._position * rate, weight, loop, mask, priority, signs, plane)
        for number, layer in moving:
            mode, _, entries, _ = planned[number]
            planned[number] = mode, layer.priority_blend.at(time), entries, _fades(layer, time)

    def planned_near(self, layer: Layer, shift: float) -> list[PlannedLayer]:
        """Return a layer and those below for the core, `shift` seconds before or after the present time."""
        layers = list(self.layers.values())
        return self._planned_once(layers[: layers.index(layer) + 1], shift)

    def entries_of(self, tracks: list[Track]) -> list[Entry]:
        """Return the entries of tracks of one layer, at the present time."""
        layer = Layer(tracks[0].layer)
        layer.tracks, layer.signs = tracks, self.layers[layer.name].signs
        return self._planned_once([layer], 0.0)[0][2]

    def _planned_once(self, layers: list[Layer], shift: float) -> list[PlannedLayer]:
        """Return layers for the core, `shift` seconds before or after the present time."""
        planned, clips, _, _ = self._find_plan(layers, self.time + shift)
        for entries, index, track, rate, _, clip, weight, loop, mask, priority, signs, plane in clips:
            position = track._position_near(shift) * rate
            entries[index] = (clip, position, weight, loop, mask, priority, signs, plane)
        return planned

    def _find_plan(self, layers: list[Layer], time: float) -> _Plan:
        """Return the plan of layers, which holds until something changes but positions and ramps."""
        planned: list[PlannedLayer] = []
        clips: list[PlannedClip] = []
        moving, signed = [], []
        for layer in layers:
            entries: list[Entry] = []
            signs = self._add_tracks(layer, time, entries, clips)
            mode = _ADD if layer.additive else _OVERRIDE if planned else _BASE
            partial = mode == _OVERRIDE or any(entry[4] is not None for entry in entries)
            if layer.cover is None and mode != _ADD and layer.fades and partial:
                layer.cover = _no_signs(layer.tracks[0])
            if entries and (signs or layer.cover is not None):
                signed.append((layer, signs))
            if layer.inertia is not None or layer.priority_blend.span:
                moving.append((len(planned), layer))
            planned.append((mode, layer.priority_blend.at(time), entries, _fades(layer, time)))
        return planned, clips, moving, signed

    def _add_tracks(
        self, layer: Layer, time: float, entries: list[Entry], clips: list[PlannedClip]
    ) -> dict[tuple[int, int], Floats]:
        """Add the entries of a layer; return the signs of its pairs of generations."""
        signs: dict[tuple[int, int], Floats] = {}
        oldest = None
        for track in layer.tracks:
            strength = max(track._strength(time), 0.0)
            if strength == 0.0 and not (track._enabled and (track._fade.span or track._weight.span)):
                continue
            oldest = track._generation if oldest is None else oldest
            key, own = (track._generation, track._priority), None
            if track._generation > oldest and key not in signs and not layer.additive:
                own = signs[key] = layer.signs.setdefault(key, _no_signs(track))
            track._add_entries(entries, clips, strength, own)
        return signs

    def _keep_signs(self) -> bool:
        """Keep the signs of this frame for the next one; return whether there are any."""
        if self._plan is None:
            self._plan = self._find_plan(list(self.layers.values()), self.time)
        signed = self._plan[3]
        self._signed = bool(signed)
        if signed and not self.seen:
            model = signed[0][0].tracks[0]._controller.model
            model._mix_pose(self.planned(), model.pose())
        self.seen = False
        for layer, signs in signed:
            layer.signs = signs
            for one in signs.values():
                one[0] = one[1]
            if layer.cover is not None:
                layer.cover[0] = layer.cover[1]
                if not layer.fades and not (layer.cover[0, :, 3] < 0).any():
                    layer.cover = self._plan = None  # it is on the side of the shorter arc
        return self._signed


def _no_signs(track: Track) -> Floats:
    """Return the signs of a pair that was in no frame yet."""
    return np.zeros((2, len(track._controller.model.skeleton.names), 4), np.float32)


def _fades(layer: Layer, time: float) -> PlannedFades | None:
    """Return what the core needs so that a layer does not jump."""
    inertia = layer.inertia
    if inertia is None:
        return None if layer.cover is None else (layer.cover, None, 0.0, 0.0)
    return layer.cover, inertia.rows, time - inertia.ramp.start, inertia.ramp.span


def start_warp(old: Track, new: Track) -> None:
    """Let two tracks play at equal phases, from the phase of the old one on."""
    new._position = old.phase * new.duration
    old._warp = new._warp = Warp(old, new)


def _leg(track: Track, old: float, time: float) -> Leg:
    """Return what a track did since it was at `old`, with its weight at `time`."""
    motion = track._motion
    return motion.samples, motion.duration, old, track._position, track.loop, track._strength(time)


def _passed(track: Track, old: float, start: float, end: float) -> list[PassedEvent]:
    """Return the events of a track between `old` and its position, with the times when they were passed."""
    motion, new, fresh = track._motion, track._position, track._fresh
    clip = motion.clip
    if clip is None or (new == old and not (fresh and motion.duration == 0)):
        return []
    track._fresh = False
    scale = clip.duration / motion.duration if motion.duration > 0 else 1.0
    met = []
    for position, number in motion.passed(track.loop, old * scale, new * scale, fresh):
        at = track._time_after(position / scale - old, start, end)
        event = motion.events[number]
        weight = track._strength(at)
        met.append(PassedEvent(event.name, event.time, clip, track.layer, track, weight, at))
    return met
