"""The controller: it owns time, plays clips in layers, and returns the events that were passed.

This module has what users call: arguments are checked, tracks are made and calls are recorded here.
`playback` moves the layers through time.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from .._arguments import between, brief, check_model, finite, flag, instance, one_of, text
from .._text import quoted
from .._types import Array, Floats, Loop
from ..clip import Clip
from ..errors import unknown_name
from ..mask import Mask, mask_of
from ..pose import Pose
from . import inertia
from .animated import EASES, METHODS, Ease, Method
from .blend_space import BlendSpace1D, BlendSpace2D
from .bounds import MAX_SECONDS, MAX_SPEED, not_negative, weight_of, within
from .fades import hold_oldest
from .layer import Key, Layer
from .motion import Motion
from .playback import Playback, start_warp
from .recording import Recording, plain, recorded
from .root_travel import traveled
from .track import LOOPS, PRIORITIES, PassedEvent, Priority, Track

if TYPE_CHECKING:
    from .._options import ViewOptions
    from ..model import Model
    from ..view import LiveView
    from .state_machine import StateMachine
    from .state_player import StatePlayer

__all__ = ["AnimationController"]

#: What a track plays: a clip, its name or its index, or a blend space.
Playable: TypeAlias = Clip | str | SupportsIndex | BlendSpace1D | BlendSpace2D

_FORMAT = 2  #: of pickles: counts the changes of what controllers, layers and tracks consist of


class AnimationController:
    """Plays clips of one model over time, in layers.

    A layer holds tracks, which are blended with each other. Layers are laid over each other in the order in
    which they were first used, "base" first of all; docs/controller.md has the formulas. The same calls give
    the same bits, and (up to rounding) the number of steps in which time advances does not matter.

    Parameters
    ----------
    model : Model
        The model whose clips are played.

    Raises
    ------
    TypeError
        If `model` is not a Model.

    Examples
    --------
    >>> controller = skinpy.AnimationController(skinpy.character())
    >>> run = controller.play("run")
    >>> wave = controller.play("wave", layer="upper", mask=skinpy.Mask.below("Chest"))
    >>> events = controller.advance(1 / 60)
    >>> controller.palette().shape
    (24, 4, 4)
    """

    __slots__ = (  # without __dict__, a misspelled name is an error
        "__weakref__",
        "_call_depth",
        "_key_count",
        "_model",
        "_paused",
        "_playback",
        "_recording",
        "_track_count",
    )

    def __init__(self, model: Model) -> None:
        check_model("model", model)
        self._model = model
        self._paused = False
        self._playback = Playback()
        self._track_count = self._key_count = 0  # so far
        self._recording: Recording | None = None
        self._call_depth = 0  # of calls that are part of one call from outside

    @property
    def model(self) -> Model:
        """The model that the controller plays."""
        return self._model

    @property
    def paused(self) -> bool:
        """Whether `advance` does nothing, from `pause` until `resume`."""
        return self._paused

    @property
    def time(self) -> float:
        """The seconds that have been advanced."""
        return self._playback.time

    @property
    def layers(self) -> Mapping[str, tuple[Track, ...]]:
        """The tracks of each layer, including those that fade out, in the order of the layers."""
        return MappingProxyType({name: tuple(layer.tracks) for name, layer in self._playback.layers.items()})

    @property
    def players(self) -> tuple[StatePlayer, ...]:
        """The players of the state machines that run; a clone has players of its own."""
        return tuple(self._playback.players)

    # ---- what plays ---------------------------------------------------------------------------------

    @recorded
    def play(
        self,
        clip: Playable,
        *,
        layer: str = "base",
        mask: Mask | str | None = None,
        weight: float = 1.0,
        speed: float = 1.0,
        loop: Loop = "wrap",
        additive: bool = False,
        priority: Priority = "low",
    ) -> Track:
        """Play a clip from its start, in place of what its layer played.

        If an argument is wrong, nothing changes.

        Parameters
        ----------
        clip : str, int, Clip or blend space
            A clip of the model, its name or its index, or a `BlendSpace1D` or `BlendSpace2D`.
        layer : str, default "base"
            Name of the layer, which is made if it is new.
        mask : Mask or str, optional
            The weight of the track for each joint. The name of a joint stands for that joint and all below
            it. Without it the track moves all joints.
        weight : float, default 1.0
            The weight of the track, 0 or more.
        speed : float, default 1.0
            Seconds of the clip per second. A negative speed plays the clip backwards; with loop "clamp" or
            "once" it then starts at its end.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip.
        additive : bool, default False
            Whether the clip is added to the layers below. A clip that is not additive is made additive
            against its first pose.
        priority : {"low", "high"}, default "low"
            The group of the layer that the track belongs to; see `add_track`.

        Returns
        -------
        Track
            The track that plays the clip.

        Raises
        ------
        KeyError
            If the model has no clip of this name, or the mask names an unknown joint. The message has the
            closest names.
        IndexError
            If the model has no clip of this index.
        ValueError
            If a number is out of bounds, an option is unknown, the clip belongs to another model, or a blend
            space is to be made additive.
        TypeError
            If an argument has the wrong type.
        """
        track = self._checked_track(clip, layer, mask, weight, speed, loop, additive, priority)
        target = self._layer(layer)
        for old in list(target.tracks):
            self._playback.remove(old)
        self._playback.set_inertia(target, None)
        target.tracks = []
        target.add(track)
        target.additive = flag("additive", additive) or self._is_additive(clip)
        return track

    @recorded
    def add_track(
        self,
        clip: Playable,
        *,
        layer: str = "base",
        mask: Mask | str | None = None,
        weight: float = 1.0,
        speed: float = 1.0,
        loop: Loop = "wrap",
        priority: Priority = "low",
    ) -> Track:
        """Play a clip from its start beside what its layer plays.

        The tracks of a layer are blended by their weights, those of priority "low" and of "high" separately.
        The two results are mixed by one factor, the priority blend of the layer: 0 is low alone, 1 is high
        alone, and the factor starts at 0.5. `key_priority_blend` changes it.

        Parameters
        ----------
        clip : str, int, Clip or blend space
            A clip of the model, its name or its index, or a `BlendSpace1D` or `BlendSpace2D`.
        layer : str, default "base"
            Name of the layer, which is made if it is new.
        mask : Mask or str, optional
            The weight of the track for each joint. The name of a joint stands for that joint and all below
            it. Without it the track moves all joints.
        weight : float, default 1.0
            The weight of the track, 0 or more.
        speed : float, default 1.0
            Seconds of the clip per second, as in `play`.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip.
        priority : {"low", "high"}, default "low"
            The group of the layer that the track belongs to.

        Returns
        -------
        Track
            The track that plays the clip.

        Raises
        ------
        KeyError
            If the model has no clip of this name, or the mask names an unknown joint.
        IndexError
            If the model has no clip of this index.
        ValueError
            If a number is out of bounds, an option is unknown, or the clip belongs to another model.
        TypeError
            If an argument has the wrong type.
        """
        found = self._playback.layers.get(text("layer", layer, "a name"))
        additive = found is not None and found.additive
        track = self._checked_track(clip, layer, mask, weight, speed, loop, additive, priority)
        self._layer(layer).add(track)
        return track

    @recorded
    def cross_fade(
        self,
        clip: Playable | None,
        seconds: float,
        *,
        layer: str = "base",
        ease: Ease = "linear",
        warp: bool = False,
        mask: Mask | str | None = None,
        weight: float = 1.0,
        speed: float = 1.0,
        loop: Loop = "wrap",
        method: Method = "blend",
    ) -> Track:
        """Fade from what a layer plays to a clip, from its start.

        With method "blend" the factor of the new track goes from 0 to 1, and those of the others to 0: at the
        start the pose is the old one, at the end the new one. A fade that interrupts a fade blends its result
        so far with the new clip; the clips of the earlier fade play on, in the proportion that they have
        reached. A layer that would play nine of them holds the two oldest still, as one pose.

        With method "inertial" the layer plays the new clip alone from the start, and adds the difference from
        the pose and the velocity before, which dies out within the given seconds.

        From an empty layer the clip fades in over the layers below, and in "base" over the rest pose. The
        layer stays additive, or not additive.

        Parameters
        ----------
        clip : str, int, Clip, blend space or None
            A clip of the model, its name or its index, a `BlendSpace1D` or `BlendSpace2D`, or None for the
            rest pose.
        seconds : float
            Length of the fade, 0 or more.
        layer : str, default "base"
            Name of the layer, which is made if it is new.
        ease : {"linear", "smooth"}, default "linear"
            The course of the fade: u, or 3 u^2 - 2 u^3. An inertial fade has a course of its own.
        warp : bool, default False
            Whether the new clip starts at the phase (position / duration) of the old one, and both play at
            the mean of their rates, weighted by the fade, so that their phases stay equal. In an inertial
            fade the new clip plays at its own rate.
        mask : Mask or str, optional
            The weight of the track for each joint. The name of a joint stands for that joint and all below
            it. Without it the mask of what the layer played stays.
        weight : float, default 1.0
            The weight of the track, 0 or more.
        speed : float, default 1.0
            Seconds of the clip per second, as in `play`.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the clip.
        method : {"blend", "inertial"}, default "blend"
            Whether both clips play and are blended, or the difference from what was dies out.

        Returns
        -------
        Track
            The track that plays the clip.

        Raises
        ------
        KeyError
            If the model has no clip of this name, or the mask names an unknown joint.
        IndexError
            If the model has no clip of this index.
        ValueError
            If a number is out of bounds, an option is unknown, the clip belongs to another model, `warp` is
            asked for without an old track or with a clip of duration 0, or an inertial fade has an ease.
        TypeError
            If an argument has the wrong type.
        """
        span = not_negative("seconds", seconds)
        one_of("ease", ease, tuple(EASES))
        one_of("method", method, METHODS)
        if method == "inertial" and ease != "linear":
            raise ValueError(
                f"ease is {ease!r}, but an inertial fade has a course of its own; expected 'linear'"
            )
        found = self._playback.layers.get(text("layer", layer, "a name"))
        old = found.staying[-1] if found is not None and found.staying else None
        if mask is None and old is not None:
            mask = old.mask
        if flag("warp", warp) and (old is None or old.duration <= 0 or self._find(clip).duration <= 0):
            raise ValueError("warp needs a track to fade from; expected one, and durations above 0")
        additive = found is not None and found.additive
        track = self._checked_track(clip, layer, mask, weight, speed, loop, additive, "low")
        if old is not None:
            track._priority = old._priority
        target = self._layer(layer)
        if warp and old is not None:
            track._position = old.phase * track.duration
        if method == "inertial":
            self._fade_by_inertia(target, track, span)
        else:
            self._fade_by_blend(target, track, span, ease)
            if warp and old is not None and span > 0:
                start_warp(old, track)
        self._playback.settle()
        return track

    def _fade_by_blend(self, target: Layer, track: Track, span: float, ease: str) -> None:
        """Fade what a layer plays out, and a new track in."""
        if not target.tracks and target.name == "base":
            target.add(self._new_track("base", Motion(None), None, 1.0, 1.0, "wrap", "low"))
        hold_oldest(self, target)
        self._playback.fade_out(target.tracks, span, ease)
        target.generation += 1
        target.add(track)
        self._playback.fade_in(track, span, ease)

    def _fade_by_inertia(self, target: Layer, track: Track, span: float) -> None:
        """Play a new track in place of what a layer plays, and let the difference die out."""
        before = inertia.state(self._playback, self.model, target, -1) if span > 0 else None
        for one in list(target.tracks):
            self._playback.remove(one)
        self._playback.set_inertia(target, None)
        target.add(track)
        if before is not None:
            after = inertia.state(self._playback, self.model, target, 1)
            self._playback.set_inertia(target, inertia.inertia_between(before, after, span), span)

    @recorded
    def stop(self, layer: str | None = None, *, fade: float = 0.0) -> None:
        """End what a layer plays, or what all layers play.

        The layer "base" goes to the rest pose.

        Parameters
        ----------
        layer : str, optional
            Name of the layer. Without it all layers end.
        fade : float, seconds, default 0.0
            Length of the fade, 0 or more.

        Raises
        ------
        KeyError
            If there is no such layer.
        ValueError
            If `fade` is negative or not finite.
        TypeError
            If `fade` is not a number.
        """
        span = not_negative("fade", fade)
        targets = list(self._playback.layers.values()) if layer is None else [self._known_layer(layer)]
        for target in targets:
            if target.name == "base" and span > 0 and target.staying:
                self.cross_fade.__wrapped__(self, None, span)  # type: ignore[attr-defined]
            playing = [track for track in target.staying if track.clip is not None]
            self._playback.fade_out(playing, span, "linear")
            if span == 0:
                self._playback.set_inertia(target, None)
        self._playback.settle()

    @recorded
    def pause(self) -> None:
        """Let `advance` do nothing until `resume`."""
        self._paused = True

    @recorded
    def resume(self) -> None:
        """End a pause."""
        self._paused = False

    @recorded
    def seek(self, position: float, *, layer: str = "base") -> None:
        """Set the position of the tracks of a layer; events in between are not passed.

        Parameters
        ----------
        position : float, seconds
            The position within the clips.
        layer : str, default "base"
            Name of the layer.

        Raises
        ------
        KeyError
            If there is no such layer.
        ValueError
            If `position` is not finite or too large.
        TypeError
            If `position` is not a number.
        """
        wanted = within("position", position, MAX_SECONDS)
        for track in self._known_layer(layer).staying:
            track._apply("position", wanted)

    # ---- time ---------------------------------------------------------------------------------------

    def advance(self, dt: float) -> list[PassedEvent]:
        """Advance time and return the events that were passed.

        An event counts as passed at the end of a step, not at its start; where playing begins, it counts at
        the start too. Each event is returned once per pass, also backwards and in several cycles of a loop.
        Keyed changes and ends of fades take effect at their own times within the step.

        Parameters
        ----------
        dt : float, seconds
            Length of the step, 0 or more.

        Returns
        -------
        list of PassedEvent
            The events in the order in which they were passed.

        Raises
        ------
        ValueError
            If `dt` is negative or not finite, or so long that more than a million events would be passed.
        TypeError
            If `dt` is not a number.
        """
        if self._recording is None:  # not decorated: a step is the one call of every frame
            return self._advance(dt)
        with self._one_call():
            events = self._advance(dt)
        self._record("advance", dt)
        return events

    def _advance(self, dt: float) -> list[PassedEvent]:
        step = dt if type(dt) is float and 0.0 <= dt <= 1.0 else not_negative("dt", dt)
        if self.paused:
            self._playback.legs = []
            return []
        return self._playback.advance(step)

    def _invalidate(self) -> None:
        """Drop what is cached from frame to frame; see `Playback.invalidate`."""
        self._playback.invalidate()

    # ---- keyed changes --------------------------------------------------------------------------------

    @recorded
    def key_speed(
        self, track: Track, speed: float, start: float, duration: float = 0.0, ease: Ease = "linear"
    ) -> Key:
        """Change the speed of a track at a later time, at once or gradually.

        A later key of the same value continues from the value that an earlier one has reached.

        Parameters
        ----------
        track : Track
            A track that plays in this controller.
        speed : float
            The new speed, seconds of the clip per second.
        start : float, seconds
            Time of the controller at which the change starts.
        duration : float, seconds, default 0.0
            Length of the change, 0 or more.
        ease : {"linear", "smooth"}, default "linear"
            The course of the change.

        Returns
        -------
        Key
            The key, which `cancel` takes back while it waits.

        Raises
        ------
        ValueError
            If `start` is in the past, `duration` is negative, a number is out of bounds, `ease` is unknown,
            or the track does not play any more.
        TypeError
            If an argument has the wrong type.
        """
        value = within("speed", speed, MAX_SPEED)
        return self._key(self._playing(track), "speed", value, start, duration, ease)

    @recorded
    def key_weight(
        self, track: Track, weight: float, start: float, duration: float = 0.0, ease: Ease = "linear"
    ) -> Key:
        """Change the weight of a track at a later time, at once or gradually.

        Parameters
        ----------
        track : Track
            A track that plays in this controller.
        weight : float
            The new weight, 0 or more.
        start : float, seconds
            Time of the controller at which the change starts.
        duration : float, seconds, default 0.0
            Length of the change, 0 or more.
        ease : {"linear", "smooth"}, default "linear"
            The course of the change.

        Returns
        -------
        Key
            The key, which `cancel` takes back while it waits.

        Raises
        ------
        ValueError
            If `start` is in the past, `duration` is negative, a number is out of bounds, `ease` is unknown,
            or the track does not play any more.
        TypeError
            If an argument has the wrong type.
        """
        return self._key(self._playing(track), "weight", weight_of(weight), start, duration, ease)

    @recorded
    def key_position(self, track: Track, position: float, start: float) -> Key:
        """Set the position of a track at a later time.

        Parameters
        ----------
        track : Track
            A track that plays in this controller.
        position : float, seconds
            The new position within the clip.
        start : float, seconds
            Time of the controller at which the position is set.

        Returns
        -------
        Key
            The key, which `cancel` takes back while it waits.

        Raises
        ------
        ValueError
            If `start` is in the past, a number is out of bounds, or the track does not play any more.
        TypeError
            If an argument has the wrong type.
        """
        value = within("position", position, MAX_SECONDS)
        return self._key(self._playing(track), "position", value, start, 0.0, "linear")

    @recorded
    def key_enable(self, track: Track, enabled: bool, start: float) -> Key:
        """Enable or disable a track at a later time.

        Parameters
        ----------
        track : Track
            A track that plays in this controller.
        enabled : bool
            Whether the track moves and has a weight from then on.
        start : float, seconds
            Time of the controller at which the track is enabled or disabled.

        Returns
        -------
        Key
            The key, which `cancel` takes back while it waits.

        Raises
        ------
        ValueError
            If `start` is in the past, or the track does not play any more.
        TypeError
            If an argument has the wrong type.
        """
        value = flag("enabled", enabled)
        return self._key(self._playing(track), "enabled", value, start, 0.0, "linear")

    @recorded
    def key_priority_blend(
        self, blend: float, start: float, duration: float = 0.0, ease: Ease = "linear", *, layer: str = "base"
    ) -> Key:
        """Change the priority blend of a layer at a later time, at once or gradually.

        Parameters
        ----------
        blend : float
            The new factor, from 0 (priority "low" alone) to 1 ("high" alone).
        start : float, seconds
            Time of the controller at which the change starts.
        duration : float, seconds, default 0.0
            Length of the change, 0 or more.
        ease : {"linear", "smooth"}, default "linear"
            The course of the change.
        layer : str, default "base"
            Name of the layer.

        Returns
        -------
        Key
            The key, which `cancel` takes back while it waits.

        Raises
        ------
        KeyError
            If there is no such layer.
        ValueError
            If `blend` is not 0 to 1, `start` is in the past, `duration` is negative, or `ease` is unknown.
        TypeError
            If an argument has the wrong type.
        """
        value = between("blend", blend, 0.0, 1.0)
        return self._key(self._known_layer(layer), "priority_blend", value, start, duration, ease)

    @recorded
    def cancel(self, key: Key) -> None:
        """Take back a key that still waits; a key that is done stays done.

        Parameters
        ----------
        key : Key
            What a key method of this controller returned.

        Raises
        ------
        TypeError
            If `key` is not a Key.
        """
        if not isinstance(key, Key):
            raise TypeError(f"key is {brief(key)}; expected what a key_ method returned")
        self._playback.schedule.cancel(key)

    def _key(
        self, target: Track | Layer, name: str, value: Any, start: float, duration: float, ease: str
    ) -> Key:
        """Return a new key, after the checks that all keys have in common."""
        begin, span = finite("start", start), not_negative("duration", duration)
        one_of("ease", ease, tuple(EASES))
        if begin < self.time:
            raise ValueError(
                f"start is {begin:g}; the controller is at {self.time:g} s already; expected a later time"
            )
        key = Key(target, name, value, begin, span, ease, self._key_count)
        self._key_count += 1
        self._playback.schedule.keys.append(key)
        if self._recording is not None:
            self._recording._keep(key)
        return key

    def _playing(self, track: Track) -> Track:
        """Return a track that plays in this controller."""
        instance("track", track, Track, "a Track")
        if track._controller is not self or track not in self._playback.layers[track.layer].tracks:
            raise ValueError(
                f"track is number {track.number}, which does not play in this controller any more; "
                "expected one of controller.layers"
            )
        return track

    # ---- results ----------------------------------------------------------------------------------------

    def pose(self, *, root: npt.ArrayLike | None = None) -> Pose:
        """Return the present pose.

        Parameters
        ----------
        root : array_like, shape (4, 4), optional
            A transform that is multiplied in front of the root joint's local transform.

        Returns
        -------
        Pose
            A new pose, which belongs to the caller.

        Raises
        ------
        ValueError
            If `root` has another shape or is not finite.
        TypeError
            If `root` does not hold numbers.
        """
        pose = self.model._mix_pose(self._playback.planned(), self.model.pose(root=root))
        self._playback.seen = True
        return pose

    def palette(
        self,
        out: Floats | None = None,
        *,
        affine: bool | None = None,
        root: npt.ArrayLike | None = None,
        inverse_root: bool = False,
    ) -> Floats:
        """Return the present palette, that of `pose`, in one call of C.

        Parameters
        ----------
        out : (S, 4, 4) or (S, 3, 4) float32 ndarray, optional
            An array that the matrices are written to.
        affine : bool, optional
            Whether the last row of each matrix is left out. Without it the shape of `out` decides, and
            without `out` matrices have four rows.
        root : array_like, shape (4, 4), optional
            A transform that is multiplied in front of the root joint's local transform.
        inverse_root : bool, default False
            Whether everything is multiplied from the left by the inverse of the root's global rest matrix.

        Returns
        -------
        (S, 4, 4) or (S, 3, 4) float32 ndarray
            The matrices of the palette slots.

        Raises
        ------
        ValueError
            If `out` does not fit, or `root` has another shape or is not finite.
        TypeError
            If an argument has the wrong type.
        """
        palette = self.model._mix_palette(
            self._playback.planned(), out, affine=affine, root=root, inverse_root=inverse_root
        )
        self._playback.seen = True
        return palette

    def view(self, **options: Unpack[ViewOptions]) -> LiveView:
        """Return a live view for a notebook, which advances this controller while it plays.

        A slider for each track sets its weight. docs/notebook.md has an example.

        Parameters
        ----------
        **options
            Options of `skinpy.view.LiveView`.

        Returns
        -------
        skinpy.view.LiveView
            The view.

        Raises
        ------
        ImportError
            If the extra "jupyter" is not installed.
        """
        from ..view import LiveView

        return LiveView(self.model, controller=self, **options)

    @property
    def root_delta(self) -> Array:
        """The root motion of the base layer in the last `advance`, (4, 4) float64.

        The transform of the character after the step is that before the step @ root_delta. Clips without
        root motion stand still; several clips are blended by their weights.
        """
        delta = np.eye(4)
        for legs in self._playback.legs:
            delta = delta @ traveled(legs)
        return delta

    @recorded
    def run(
        self, machine: StateMachine, *, layer: str = "base", mask: Mask | str | None = None
    ) -> StatePlayer:
        """Let a state machine decide what a layer plays.

        The machine starts in its first state, in place of what the layer played and of a machine that ran
        there. docs/state-machines.md has an example.

        Parameters
        ----------
        machine : StateMachine
            The machine.
        layer : str, default "base"
            Name of the layer, which is made if it is new.
        mask : Mask or str, optional
            The weight of the layer for each joint. The name of a joint stands for that joint and all below
            it.

        Returns
        -------
        skinpy.state_machine.StatePlayer
            The player, which has the state and the parameters.

        Raises
        ------
        KeyError
            If the model lacks a clip of the machine, or a clip lacks an event.
        ValueError
            If states without length form an endless cycle, or are warped.
        TypeError
            If an argument has the wrong type.
        """
        from .state_player import StatePlayer

        player = StatePlayer(self, machine, layer=layer, mask=mask)
        others = [one for one in self._playback.players if one.layer != layer]
        self._playback.players = [*others, player]
        if self._recording is not None:
            self._recording._keep(player)
        return player

    # ---- copies and recordings ----------------------------------------------------------------------------

    def clone(self) -> AnimationController:
        """Return a controller in the same state that is independent of this one.

        Returns
        -------
        AnimationController
            A controller that shares clips and model, without a recording.
        """
        recording, self._recording = self._recording, None
        try:
            return copy.deepcopy(self)
        finally:
            self._recording = recording

    def __copy__(self) -> AnimationController:
        return self.clone()

    def __getstate__(self) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        state: Any = super().__getstate__()
        attributes, slots = state  # two dicts, as there are slots, or None and a dict
        return attributes, {**slots, "_model": self.model._rig, "_format": _FORMAT}

    def __setstate__(self, state: tuple[dict[str, Any] | None, dict[str, Any]]) -> None:
        if state[1].pop("_format", 1) != _FORMAT:
            raise ValueError(
                "the pickle holds a controller of another version of skinpy, which has other parts; "
                "make the controller again, or replay a recording of it"
            )
        for name, value in chain(*((part or {}).items() for part in state)):
            setattr(self, name, value)

    def record(self) -> Recording:
        """Start to record every call as plain data.

        Returns
        -------
        skinpy.controller.Recording
            The recording, which grows until its `stop`.

        Raises
        ------
        ValueError
            If the controller has played something already.
        """
        if self.time or self._track_count or self._key_count or self._playback.players or self.paused:
            raise ValueError(
                "record() comes before the first call; this controller has played something already"
            )
        self._recording = Recording()
        return self._recording

    @classmethod
    def replay(cls, model: Model, recording: Recording) -> Iterator[AnimationController]:
        """Repeat the recorded calls on a new controller; the poses are the same bit for bit.

        Parameters
        ----------
        model : Model
            A model with the same clips.
        recording : skinpy.controller.Recording
            The recorded calls.

        Yields
        ------
        AnimationController
            The controller, after each `advance`.

        Raises
        ------
        KeyError
            If the model lacks a clip.
        TypeError
            If `recording` is not a Recording.
        """
        instance("recording", recording, Recording, "a Recording")
        controller = cls(model)
        for name in recording.calls_on(controller):
            if name == "advance":
                yield controller

    @contextmanager
    def _one_call(self) -> Iterator[None]:
        """Treat all calls within the block as part of one call from outside."""
        self._call_depth += 1
        try:
            yield
        finally:
            self._call_depth -= 1

    def _record(self, method: str, /, *args: Any, **keywords: Any) -> None:
        """Record a call, unless it is part of another or nothing is recorded."""
        if self._recording is not None and self._call_depth == 0:
            named = {name: plain(value) for name, value in keywords.items()}
            self._recording._add(method, [plain(value) for value in args], named)

    # ---- making tracks ----------------------------------------------------------------------------------

    def _layer(self, name: str) -> Layer:
        """Return a layer, which is made if it is new."""
        return self._playback.layers.setdefault(name, Layer(name))

    def _known_layer(self, name: str) -> Layer:
        if text("layer", name, "a name") not in self._playback.layers:
            raise unknown_name("layer", name, self._playback.layers)
        return self._playback.layers[name]

    def _is_additive(self, clip: Any) -> bool:
        found = self._find(clip).clip
        return found is not None and found.is_additive

    def _find(self, clip: Any) -> Motion:
        """Return a clip by name, index or itself, a blend space, the motion of a state, or None (rest)."""
        if clip is None:
            return Motion(None)
        if isinstance(clip, Motion):
            return clip
        if isinstance(clip, BlendSpace1D | BlendSpace2D):
            return Motion(None, clip.bind(self.model))
        if isinstance(clip, slice):  # of clips
            raise TypeError("clip is of type slice; expected a Clip, a name, an index or None")
        if not isinstance(clip, Clip):
            return Motion(self.model.clips[clip])
        if clip.model is not self.model:
            raise ValueError(
                f"clip {quoted(clip.name)} is not bound to this model; "
                "model.add_clips(clip) returns a model that has it"
            )
        return Motion(clip)

    def _checked_track(
        self,
        clip: Any,
        layer: str,
        mask: Mask | str | None,
        weight: float,
        speed: float,
        loop: Loop,
        additive: bool,
        priority: Priority,
    ) -> Track:
        """Return a new track after all checks; nothing of the controller has changed yet."""
        if not isinstance(layer, str) or not layer:
            raise TypeError(f"layer is {brief(layer)}; expected a name")
        one_of("loop", loop, LOOPS)
        one_of("priority", priority, PRIORITIES)
        motion = self._find(clip)
        if flag("additive", additive) and motion.clip is not None and not motion.clip.is_additive:
            if motion.space is not None:
                raise ValueError("a blend space cannot be made additive; make it of additive clips")
            motion = Motion(motion.clip.additive())
        rate = within("speed", speed, MAX_SPEED)
        track = self._new_track(layer, motion, mask_of(mask), weight_of(weight), rate, loop, priority)
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
        track = Track(self, self._track_count, layer, motion, mask, weight, speed, loop, priority)
        self._track_count += 1
        if self._recording is not None:
            self._recording._keep(track)
        return track

    def __repr__(self) -> str:
        layers = self._playback.layers
        tracks = sum(len(layer.tracks) for layer in layers.values())
        return f"<AnimationController at {self.time:.3f} s: {tracks} tracks in {len(layers)} layers>"
