"""Playback of a model: what poses it, and at which time. `ClipPlayer` and `ControllerPlayer` are players."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..._arguments import between, finite, flag, one_of, positive, whole
from ...model import Model
from ...playing.bounds import MAX_SECONDS, within
from ...playing.controller import AnimationController
from ...render.posing import Poser
from .layer import Layer
from .state import SharedState

if TYPE_CHECKING:
    from ..._types import Loop
    from ...playing.track import Track
    from ...pose import Pose
    from ...render.moment import Moment
    from ...render.posing import Motion

#: The loop modes, in the order in which a key goes through them.
LOOPS: tuple[Loop, ...] = ("wrap", "pingpong", "clamp", "once")
#: The loop modes that stop at the end of a clip.
STOPPING_LOOPS: tuple[Loop, ...] = ("clamp", "once")

_MAX_SPEED = 64.0
_MAX_FRAMES, _MIN_FPS = 1_000_000_000, 1e-6  # of a step


class Player(ABC):
    """What poses a model, and the time at which it does so: `Stage.player`.

    Any thread may use it.
    """

    def __init__(self, state: SharedState, model: Model, playing: bool) -> None:
        self._state = state
        self._speed, self._loop, self._playing = 1.0, LOOPS[0], flag("playing", playing)
        self._layer: Layer | None = None
        self._model = model
        self._poser = Poser(model)

    @property
    def model(self) -> Model:
        """The model."""
        return self._model

    @property
    def poser(self) -> Poser:
        """Finds extents and cameras of the model's motions."""
        return self._poser

    # ---- what plays -------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def clip(self) -> Motion:
        """The Clip or VertexAnimation that plays; None for the rest pose."""

    @property
    def clip_name(self) -> str:
        """Name of the clip that plays, or "rest pose"."""
        clip = self.clip
        return "rest pose" if clip is None else clip.name or "unnamed"

    @property
    def controller(self) -> AnimationController | None:
        """The controller that poses the model, or None."""
        return None

    @property
    def tracks(self) -> Mapping[str, tuple[Track, ...]]:
        """The tracks of each layer of a controller, whose weights can be set; empty without a controller."""
        return {}

    @property
    def layer(self) -> Layer | None:
        """A second clip over the first, or None. Settable, also to the name of a clip.

        A controller has layers of its own: setting one raises ValueError then.
        """
        return self._layer

    @layer.setter
    def layer(self, value: Layer | str | None) -> None:
        layer = Layer(value) if isinstance(value, str) else value
        if layer is not None and not isinstance(layer, Layer):
            raise TypeError(f"layer is of type {type(layer).__name__}; expected a Layer, a name or None")
        with self._state.change():
            self._set_layer(layer)

    @abstractmethod
    def _set_layer(self, layer: Layer | None) -> None: ...

    @abstractmethod
    def start(self, motion: Motion) -> None:
        """Play another motion of the model from its start.

        Parameters
        ----------
        motion : Clip, VertexAnimation or None
            The motion; None for the rest pose.
        """

    # ---- time -------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def duration(self) -> float:
        """Length of the clip in seconds; 0 for the rest pose."""

    @property
    def time(self) -> float:
        """Seconds played, not wrapped: 2.5 durations is in the third repetition. Settable, to 1e9 at most."""
        return self._get_time()

    @time.setter
    def time(self, value: float) -> None:
        seconds = within("time", value, MAX_SECONDS)
        with self._state.change():
            self._set_time(seconds)

    @abstractmethod
    def _get_time(self) -> float: ...

    @abstractmethod
    def _set_time(self, seconds: float) -> None: ...

    @property
    def position(self) -> float:
        """Seconds within the clip, 0 to `duration`: where a time slider stands."""
        return wrapped(self.time, self.duration, self._loop)

    @property
    def time_label(self) -> str:
        """Position and duration, such as "0.31 / 1.20 s"."""
        return f"{self.position:.2f} / {self.duration:.2f} s"

    def seek(self, position: float) -> None:
        """Go to a position within the clip.

        Parameters
        ----------
        position : float, seconds
            The position; one outside of the clip is moved to the nearer end.

        Raises
        ------
        ValueError
            If the position is not finite.
        TypeError
            If the position is not a number.
        """
        self.time = min(max(finite("position", position), 0.0), self.duration)

    def advance(self, seconds: float) -> None:
        """Let time pass; nothing happens while playback is paused.

        Without a controller, the loop modes "clamp" and "once" stop at the end of the clip.

        Parameters
        ----------
        seconds : float, seconds
            The time that passes; the clip moves by `speed` times as much.

        Raises
        ------
        ValueError
            If `seconds` is below 0 or not finite.
        TypeError
            If `seconds` is not a number.
        """
        step = finite("seconds", seconds)
        if step < 0:
            raise ValueError(f"seconds is {step:g}; expected 0 or more")
        with self._state.lock:
            if self._playing and step > 0:
                with self._state.change():
                    self._advance(step)

    @abstractmethod
    def _advance(self, seconds: float) -> None: ...

    def step(self, frames: int, fps: float = 30.0) -> None:
        """Pause, and move by some frames. The loop mode says what comes beyond the ends of the clip.

        Parameters
        ----------
        frames : int
            The number of frames; negative numbers move back.
        fps : float, default 30.0
            Frames per second.
        """
        count = whole("frames", frames, -_MAX_FRAMES, _MAX_FRAMES, wanted="a whole number of frames")
        seconds = count / max(positive("fps", fps), _MIN_FPS)
        with self._state.change():
            self._playing = False
            time = self.time + seconds
            self.time = min(max(time, 0.0), self.duration) if self._loop in STOPPING_LOOPS else time

    @property
    def playing(self) -> bool:
        """Whether `advance` moves the time. Settable: at the end of a clip that stops there, it restarts."""
        return self._playing

    @playing.setter
    def playing(self, value: bool) -> None:
        with self._state.change():
            self._playing = flag("playing", value)
            if self._playing and self._is_over:
                self._set_time(self._start_time)

    @property
    def _start_time(self) -> float:
        """Where playing begins, in seconds."""
        return 0.0

    @property
    def _is_over(self) -> bool:
        """Whether playback has come to the end of a clip that stops there."""
        return False

    @property
    def speed(self) -> float:
        """Seconds of the clip per second, -64 to 64; negative speeds play backwards, but not a controller."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        speed = between("speed", value, -_MAX_SPEED, _MAX_SPEED)
        with self._state.change():
            self._speed = speed

    @property
    def loop(self) -> Loop:
        """What happens beyond the ends of the clip, as in `Model.pose`. Settable.

        Setting it restarts a controller's track where it stands, without other tracks of its layer.
        """
        return self._loop

    @loop.setter
    def loop(self, value: Loop) -> None:
        one_of("loop", value, LOOPS)
        with self._state.change():
            self._set_loop(value)

    @abstractmethod
    def _set_loop(self, loop: Loop) -> None: ...

    # ---- drawing ----------------------------------------------------------------------------------------

    @abstractmethod
    def pose(self) -> Pose | None:
        """Return the pose now.

        Returns
        -------
        Pose or None
            The pose; None for a vertex animation, which has none.
        """

    @abstractmethod
    def moment(self) -> Moment:
        """Return what to draw now.

        Returns
        -------
        Moment
            The clip with its time, or the pose of a controller.
        """


def wrapped(time: float, duration: float, loop: Loop) -> float:
    """`time` brought into 0 to `duration`, as the loop mode does."""
    if duration <= 0:
        return 0.0
    if 0 <= time <= duration or loop in STOPPING_LOOPS:
        return min(max(time, 0.0), duration)
    if loop == "pingpong":
        return duration - abs(time % (2 * duration) - duration)
    return time % duration
