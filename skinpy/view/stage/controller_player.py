"""Plays what an `AnimationController` says: the controller keeps the time and the tracks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...playing.controller import AnimationController
from ...render.moment import Moment
from .player import Player, wrapped

if TYPE_CHECKING:
    from ..._types import Loop
    from ...model import Model
    from ...playing.track import Track
    from ...pose import Pose
    from ...render.posing import Motion
    from .layer import Layer
    from .state import SharedState

_FADE = 0.2  # seconds of the cross-fade to another clip


class ControllerPlayer(Player):
    """Shows and advances a controller. Its clip and time are those of the newest track of the base layer."""

    def __init__(
        self, state: SharedState, model: Model, controller: AnimationController, playing: bool
    ) -> None:
        super().__init__(state, model, playing)
        if not isinstance(controller, AnimationController):
            raise TypeError(f"controller is {type(controller).__name__}; expected an AnimationController")
        if controller.model is not model:
            raise ValueError("controller is of another model; expected one whose `model` is this one")
        self._controller = controller

    @property
    def controller(self) -> AnimationController:
        """The controller that poses the model."""
        return self._controller

    @property
    def tracks(self) -> Mapping[str, tuple[Track, ...]]:
        """The tracks of each layer, whose weights can be set."""
        return self._controller.layers

    @property
    def _track(self) -> Track | None:
        """The newest track of the base layer; None where it fades to no clip."""
        tracks = self._controller.layers["base"]
        return tracks[-1] if tracks and tracks[-1].clip is not None else None

    @property
    def clip(self) -> Motion:
        """The clip of the newest track of the base layer; None for the rest pose."""
        track = self._track
        return None if track is None else track.clip

    @property
    def duration(self) -> float:
        """Length of the clip in seconds; 0 for the rest pose."""
        track = self._track
        return 0.0 if track is None else track.duration

    @property
    def position(self) -> float:
        """Seconds within the clip, 0 to `duration`: where a time slider stands."""
        track = self._track
        return wrapped(self.time, self.duration, self._loop if track is None else track.loop)

    def start(self, motion: Motion) -> None:
        """Fade to another motion of the model in the base layer; None is the rest pose."""
        with self._state.change():
            if motion is None:
                self._controller.cross_fade(None, _FADE)
            else:
                # A controller refuses a VertexAnimation with TypeError.
                self._controller.cross_fade(motion, _FADE, loop=self._loop)  # type: ignore[arg-type]

    def _set_layer(self, layer: Layer | None) -> None:
        if layer is not None:
            raise ValueError("layer is given, but a controller has layers of its own: play the clip in one")

    def _get_time(self) -> float:
        track = self._track
        return self._controller.time if track is None else track.position

    def _set_time(self, seconds: float) -> None:
        if self._track is not None:
            self._controller.seek(seconds)

    def _advance(self, seconds: float) -> None:
        self._controller.advance(seconds * abs(self._speed))

    def _set_loop(self, loop: Loop) -> None:
        old = self._track
        if old is not None and loop != old.loop:
            new = self._controller.cross_fade(old.clip, 0.0, weight=old.weight, speed=old.speed, loop=loop)
            new.position = wrapped(old.position, old.duration, old.loop)
        self._loop = loop

    def pose(self) -> Pose:
        """The pose that the controller mixes now."""
        return self._controller.pose()

    def moment(self) -> Moment:
        """The pose that the controller mixes now."""
        return Moment(None, self._controller.time, self.pose())
