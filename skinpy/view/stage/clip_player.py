"""Plays one clip, vertex animation or the rest pose, and a layer over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kinds import VertexAnimation
from ...render.moment import Moment
from .layer import Layer, LayeredClip
from .player import STOPPING_LOOPS, Player, wrapped

if TYPE_CHECKING:
    from ..._types import Loop
    from ...model import Model
    from ...pose import Pose
    from ...render.posing import ClipLike, Motion
    from .state import SharedState


class ClipPlayer(Player):
    """Plays one motion at a time, and keeps the time itself."""

    def __init__(self, state: SharedState, model: Model, clip: ClipLike, playing: bool) -> None:
        super().__init__(state, model, playing)
        self._motion = self.poser.motion(clip)
        self._time = 0.0
        self._layered: LayeredClip | None = None  # the clip together with the layer, if there is one

    @property
    def clip(self) -> Motion:
        """The Clip or VertexAnimation that plays; None for the rest pose."""
        return self._motion

    @property
    def duration(self) -> float:
        """Length of the clip in seconds; 0 for the rest pose."""
        return 0.0 if self._motion is None else float(self._motion.duration)

    def start(self, motion: Motion) -> None:
        """Play another motion of the model from its start; None is the rest pose."""
        with self._state.change():
            self._layered = self._with_layer(motion, self._layer, self._loop)
            self._motion = motion
            self._time = self._start_time

    @property
    def _start_time(self) -> float:
        """Where playing begins: at the end, where a clip that stops is played backwards."""
        return self.duration if self._speed < 0 and self._loop in STOPPING_LOOPS else 0.0

    @property
    def _is_over(self) -> bool:
        """Whether playback has come to the end of a clip that stops there, in the direction of play."""
        if self._loop not in STOPPING_LOOPS:
            return False
        return self._time <= 0.0 if self._speed < 0 else self._time >= self.duration

    def _get_time(self) -> float:
        return self._time

    def _set_time(self, seconds: float) -> None:
        self._time = seconds

    def _advance(self, seconds: float) -> None:
        if self._motion is None:
            return
        self._time += seconds * self._speed
        if self._is_over:
            self._time = min(max(self._time, 0.0), self.duration)
            self._playing = False

    def _set_loop(self, loop: Loop) -> None:
        self._layered = self._with_layer(self._motion, self._layer, loop)
        self._time = wrapped(self._time, self.duration, self._loop)
        self._loop = loop

    def _set_layer(self, layer: Layer | None) -> None:
        self._layered = self._with_layer(self._motion, layer, self._loop)
        self._layer = layer

    def _with_layer(self, motion: Motion, layer: Layer | None, loop: Loop) -> LayeredClip | None:
        if layer is None:
            return None
        if isinstance(motion, VertexAnimation):
            raise ValueError("layer is given, but a vertex animation plays; expected a clip under it")
        return LayeredClip(self.model, motion, layer, loop)

    def pose(self) -> Pose | None:
        """The pose now; None for a vertex animation, which has none."""
        if isinstance(self._motion, VertexAnimation):
            return None
        if self._layered is not None:
            return self._layered.pose(self._time)
        return self.model.pose(self._motion, self._time, loop=self._loop)

    def moment(self) -> Moment:
        """What to draw now. Under a layer the clip still moves textures, materials and the floor."""
        pose_at = None if self._layered is None else self._layered.pose
        return Moment(self._motion, self._time, loop=self._loop, pose_at=pose_at)
