"""What is shown and how: a model, what it plays, the time, the camera. Window and live view share it."""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._arguments import finite, flag
from ..clip import Clip
from ..errors import unknown_clip_number
from ..kinds import VertexAnimation
from ..model import Model
from ..playing.controller import AnimationController
from ..render import Camera, Floor, Overlays, Renderer
from ..render.arguments import check_size
from ..render.overlays.options import check_overlays
from ..render.posing import Poser, clip_number
from ..render.renderer import SharingRenderer
from ..render.scene.floor import chosen_floor
from .layer import Layer, Mixed
from .orbit import Orbit

if TYPE_CHECKING:
    from .._types import Loop
    from ..playing.tracks import Track
    from ..pose import Pose
    from ..render.posing import ClipLike, Motion

#: The loop modes, in the order in which a key goes through them.
LOOPS: tuple[Loop, ...] = ("wrap", "pingpong", "clamp", "once")
BACKGROUND = "#e9eef5"

_DEGREES = 360.0  # that a drag over the picture's height turns the camera by
_STEP = 0.9  # of the distance that is left after one step of the wheel
_FADE = 0.2  # seconds in which a controller goes to another clip
_SPEED = 64.0  # the most that a player is asked for
_RENDERERS = 2  # kept: for pictures at rest, and for coarser ones of what moves

_Drawn: TypeAlias = tuple[tuple[int, int], bool, int]  # size, whether on a floor, samples


class Stage:
    """A model that plays, and the camera that looks at it: all that a window or a notebook needs to know.

    `clip` is as in `Renderer.frame`: a Clip, its name or number, or a VertexAnimation; None is the first
    clip, or the rest pose where there is none. A `controller` (of this model) takes its place. `layer` is a
    second clip over the first: a Layer, or the name of a clip. `size` is (width, height) in pixels;
    `background`, `samples` and `uv` are those of `Renderer`. `floor` is a Floor, or True for an ordinary one.
    `overlays` are `skinpy.render.Overlays`. `camera` None has the whole clip in the picture.

    Time goes on in `advance`; `frame` draws. Any thread may call any method. `changes` counts what was
    changed, so that one can tell whether there is anything new to draw.

    Raises KeyError or IndexError for an unknown clip; TypeError or ValueError for wrong arguments; and when
    it draws, what `Renderer` raises.
    """

    def __init__(
        self,
        model: Model,
        clip: ClipLike = None,
        *,
        controller: AnimationController | None = None,
        size: tuple[int, int] = (640, 480),
        floor: Floor | bool | None = None,
        overlays: Overlays | None = None,
        camera: Camera | None = None,
        layer: Layer | str | None = None,
        speed: float = 1.0,
        loop: Loop = "wrap",
        playing: bool = True,
        background: str | Sequence[float] | None = BACKGROUND,
        samples: int = 4,
        uv: Any = None,
    ) -> None:
        self._lock = threading.RLock()
        self._options = {"background": background, "samples": samples, "uv": uv}
        self._size = check_size(size)
        self._inset = 0
        chosen = chosen_floor(floor)
        self._floor, self._on_floor = chosen or Floor(), chosen is not None
        self._overlays = check_overlays(overlays)
        self._speed, self._loop, self._playing = 1.0, LOOPS[0], flag("playing", playing)
        self._time = 0.0
        self._layer: Layer | None = None
        self._mixed: Mixed | None = None
        self._renderers: dict[_Drawn, Renderer] = {}
        self.changes = 0  #: counts what was changed
        self._take(model, clip, controller)
        self.speed, self.loop, self.layer = speed, loop, layer
        self._moved = camera is not None  # by hand: then it stays where it is
        self._eye = self._fitted() if camera is None else self._through(camera)

    def _take(self, model: Model, clip: ClipLike, controller: AnimationController | None) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"model is {type(model).__name__}; expected a Model")
        if controller is not None and not isinstance(controller, AnimationController):
            raise TypeError(f"controller is {type(controller).__name__}; expected an AnimationController")
        if controller is not None and controller.model is not model:
            raise ValueError("controller is of another model; expected one whose `model` is this one")
        if controller is not None and clip is not None:
            raise ValueError("clip is given together with controller; expected one of them")
        poser = Poser(model)
        motion = None if controller is not None else poser.motion(clip)
        self._poser, self._controller, self._motion = poser, controller, motion
        own = (motion,) if isinstance(motion, VertexAnimation) else ()
        self._motions: tuple[Motion, ...] = (*own, *model.clips)

    # ---- what is shown ----------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The model."""
        return self._poser.model

    @property
    def controller(self) -> AnimationController | None:
        """What poses the model in place of a clip, or None."""
        return self._controller

    @property
    def clip(self) -> Motion:
        """What plays: a Clip or VertexAnimation; None for the rest pose. Of a controller, that of `track`."""
        if self._controller is None:
            return self._motion
        track = self.track
        return None if track is None else track.clip

    @property
    def clips(self) -> tuple[str, ...]:
        """Names of all that can be chosen; `choose` takes their numbers. Names may occur twice."""
        return tuple("" if motion is None else motion.name for motion in self._motions)

    @property
    def number(self) -> int | None:
        """Of what plays, among `clips`; None for the rest pose and for a clip from elsewhere."""
        clip = self.clip
        return next(
            (n for n, motion in enumerate(self._motions) if clip is not None and motion == clip), None
        )

    @property
    def clip_name(self) -> str:
        """Name of what plays, "rest pose" where nothing does."""
        clip = self.clip
        return "rest pose" if clip is None else clip.name or "unnamed"

    @property
    def track(self) -> Track | None:
        """Of a controller: the newest track of the base layer; None where that plays no clip."""
        tracks = () if self._controller is None else self._controller.layers["base"]
        return tracks[-1] if tracks and tracks[-1].clip is not None else None

    @property
    def layers(self) -> Mapping[str, tuple[Track, ...]]:
        """Of a controller: the tracks of each layer, whose weights can be set; else empty."""
        return {} if self._controller is None else self._controller.layers

    def choose(self, clip: ClipLike) -> None:
        """Play something else from its start: a name, a number in `clips`, a Clip or a VertexAnimation; None
        is the first clip.

        A camera that nobody moved gets the new clip into the picture. A controller fades to it in its base
        layer. Raises KeyError, IndexError, TypeError or ValueError, and then nothing has changed.
        """
        with self._lock:
            motion = self._find(clip)
            self._poser.extent(motion)  # raises for a clip of another model
            if self._controller is None:
                self._mixed = self._mix(motion, self._layer, self._loop)
                self._motion = motion
                self._time = self._start
            else:
                self._controller.cross_fade(motion, _FADE, loop=self._loop)
            self._refit()

    @property
    def layer(self) -> Layer | None:
        """A second clip over what plays, or None. Settable, also to the name of a clip. A controller has
        layers of its own. Raises what a controller's `play` raises, and then nothing has changed."""
        return self._layer

    @layer.setter
    def layer(self, value: Layer | str | None) -> None:
        layer = Layer(value) if isinstance(value, str) else value
        if layer is not None and not isinstance(layer, Layer):
            raise TypeError(f"layer is of type {type(layer).__name__}; expected a Layer, a name or None")
        with self._lock:
            self._mixed = self._mix(self._motion, layer, self._loop)
            self._layer = layer
            self._changed()

    def _mix(self, motion: Motion, layer: Layer | None, loop: Loop) -> Mixed | None:
        if layer is None:
            return None
        if self._controller is not None:
            raise ValueError("layer is given, but a controller has layers of its own: play the clip in one")
        if isinstance(motion, VertexAnimation):
            raise ValueError("layer is given, but a vertex animation plays; expected a clip under it")
        return Mixed(self.model, motion, layer, loop)

    def _find(self, clip: ClipLike) -> Motion:
        if clip is None or isinstance(clip, str | Clip | VertexAnimation):
            return self._poser.motion(clip)
        number = clip_number(clip)
        if not 0 <= number < len(self._motions):
            raise unknown_clip_number("clip", number, self.clips)
        return self._motions[number]

    def rest(self) -> None:
        """Show the rest pose; a controller fades to it in its base layer."""
        with self._lock:
            self._motion, self._time = None, 0.0
            self._mixed = self._mix(None, self._layer, self._loop)
            if self._controller is not None:
                self._controller.cross_fade(None, _FADE)
            self._refit()

    def replace(self, model: Model, clip: ClipLike = None) -> None:
        """Show another model, or a newer form of this one; any controller goes.

        With `clip` None the clip of the same name goes on, if there is one, at the same time. A layer goes;
        settings and a camera that was moved stay; joints that overlays name and the new model lacks are the
        caller's care.
        """
        with self._lock:
            name, resting = self.clip_name, self.clip is None
            same = clip is None and not resting and name in model.clips
            self._take(model, name if same else clip, None)
            if not same:
                self._time = self._start
            if clip is None and resting:
                self._motion = None
            self._layer = self._mixed = None
            self._renderers.clear()
            self._refit()

    # ---- time -------------------------------------------------------------------------------------

    @property
    def duration(self) -> float:
        """Seconds of the clip; 0 for the rest pose."""
        if self._controller is not None:
            track = self.track
            return 0.0 if track is None else track.duration
        return 0.0 if self._motion is None else float(self._motion.duration)

    @property
    def time(self) -> float:
        """Seconds that were played, not wrapped: 2.5 durations is in the third turn. Settable."""
        if self._controller is None:
            return self._time
        track = self.track
        return self._controller.time if track is None else track.position

    @time.setter
    def time(self, value: float) -> None:
        seconds = finite("time", value)
        with self._lock:
            if self._controller is None:
                self._time = seconds
            elif self.track is not None:
                self._controller.seek(seconds)
            self._changed()

    @property
    def position(self) -> float:
        """Seconds within the clip, 0 to `duration`: where a slider stands."""
        loop = self._loop if self.track is None else self.track.loop
        return _within(self.time, self.duration, loop)

    def seek(self, position: float) -> None:
        """Go to `position`, seconds within the clip; what lies outside is brought to the nearer end."""
        self.time = min(max(finite("position", position), 0.0), self.duration)

    def advance(self, seconds: float) -> None:
        """Let so many seconds go by: nothing happens while it does not play. ValueError below 0.

        Without a controller, the loop modes "clamp" and "once" stop at the end.
        """
        step = finite("seconds", seconds)
        if step < 0:
            raise ValueError(f"seconds is {step:g}; expected 0 or more")
        with self._lock:
            if not self._playing or step == 0:
                return
            if self._controller is not None:
                self._controller.advance(step * abs(self._speed))
            elif self._motion is not None:
                self._time += step * self._speed
                if self._loop in ("clamp", "once") and self._is_over:
                    self._time = min(max(self._time, 0.0), self.duration)
                    self._playing = False
            self._changed()

    def step(self, frames: int, fps: float = 30.0) -> None:
        """Stop, and go on by so many frames of 1 / fps seconds; back, where it is negative. The loop mode
        says what comes beyond the ends."""
        with self._lock:
            self._playing = False
            time = self.time + frames / fps
            self.time = min(max(time, 0.0), self.duration) if self._loop in ("clamp", "once") else time

    @property
    def playing(self) -> bool:
        """Whether `advance` goes on. Settable: at the end of a loop mode that ends, it starts anew."""
        return self._playing

    @playing.setter
    def playing(self, value: bool) -> None:
        with self._lock:
            self._playing = flag("playing", value)
            ends = self._controller is None and self._loop in ("clamp", "once")
            if self._playing and ends and self._is_over:
                self._time = self._start
            self._changed()

    @property
    def speed(self) -> float:
        """Seconds of the clip per second, -64 to 64; negative ones play backwards, but not a controller."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        speed = finite("speed", value)
        if abs(speed) > _SPEED:
            raise ValueError(f"speed is {speed:g}; expected {-_SPEED:g} to {_SPEED:g}")
        self._speed = speed
        self._changed()

    @property
    def loop(self) -> Loop:
        """What happens beyond the clip's ends, as in `Model.pose`. Settable; a controller's track starts
        anew where it stands, without other tracks of its layer."""
        return self._loop

    @loop.setter
    def loop(self, value: Loop) -> None:
        if value not in LOOPS:
            raise ValueError(f"loop is {value!r}; expected one of {', '.join(map(repr, LOOPS))}")
        with self._lock:
            if self._controller is None:
                self._mixed = self._mix(self._motion, self._layer, value)
                self._time = _within(self._time, self.duration, self._loop)
            elif self.track is not None and value != self.track.loop:
                old = self.track
                new = self._controller.cross_fade(
                    old.clip, 0.0, weight=old.weight, speed=old.speed, loop=value
                )
                new.position = _within(old.position, old.duration, old.loop)
            self._loop = value
            self._changed()

    @property
    def time_label(self) -> str:
        """Position and duration, such as "0.31 / 1.20 s"."""
        return f"{self.position:.2f} / {self.duration:.2f} s"

    @property
    def _start(self) -> float:
        """Where playing begins: the end, where a clip that does not repeat is played backwards."""
        return self.duration if self._speed < 0 and self._loop in ("clamp", "once") else 0.0

    @property
    def _is_over(self) -> bool:
        """Whether the end has come, in the direction in which it plays."""
        return self._time <= 0.0 if self._speed < 0 else self._time >= self.duration

    # ---- the camera -------------------------------------------------------------------------------

    @property
    def eye(self) -> Orbit:
        """Where the camera is. Settable."""
        return self._eye

    @eye.setter
    def eye(self, value: Orbit) -> None:
        if not isinstance(value, Orbit):
            raise TypeError(f"eye is {type(value).__name__}; expected an Orbit")
        with self._lock:
            self._eye, self._moved = value, True
            self._changed()

    @property
    def camera(self) -> Camera:
        """The camera of the next frame."""
        return self._eye.camera()

    def orbit(self, dx: float, dy: float) -> None:
        """Turn the camera as a drag by so many pixels does, to the right and down: the model follows."""
        turn = _DEGREES / self._size[1]
        with self._lock:
            self.eye = self._eye.turned(-dx * turn, dy * turn)

    def pan(self, dx: float, dy: float) -> None:
        """Move the camera so that the model goes so many pixels to the right and down."""
        height = self._size[1]
        with self._lock:
            self.eye = self._eye.panned(dx / height, -dy / height)

    def zoom(self, steps: float, x: float | None = None, y: float | None = None) -> None:
        """Nearer by so many steps of the wheel, a tenth of the way each; farther, where it is negative.

        What lies under the pointer at `x`, `y` (pixels from the left and from the top; None: the middle)
        stays there.
        """
        width, height = self._size
        across = 0.0 if x is None else (x - width / 2) / height
        upward = 0.0 if y is None else (height / 2 - y) / height
        with self._lock:
            self.eye = self._eye.zoomed(_STEP ** min(max(steps, -60.0), 60.0), across, upward)

    def look(self, azimuth: float, elevation: float) -> None:
        """Look from there, in degrees as in `Camera.frame`, with all of the clip in the picture."""
        with self._lock:
            camera = Camera.frame(
                self._poser.extent(self.clip),
                up=self.model.up,
                azimuth=azimuth,
                elevation=elevation,
                aspect=self._aspect,
            )
            self.eye = self._lifted(self._through(camera))

    def fit(self) -> None:
        """Get all of the clip into the picture, from where the camera looks now."""
        self.look(self._eye.azimuth, self._eye.elevation)

    def reset_camera(self) -> None:
        """The camera as it was before anybody moved it: as `render` has it."""
        with self._lock:
            self._moved = False
            self._refit()

    @property
    def inset(self) -> int:
        """Pixels at the bottom of the picture that something covers: what is to be seen is fitted above
        them. Settable; what is more than half of the height counts as half."""
        return self._inset

    @inset.setter
    def inset(self, value: int) -> None:
        with self._lock:
            if value != self._inset:
                self._inset = value
                self._refit()

    @property
    def _free(self) -> float:
        """Share of the height that nothing covers."""
        return 1.0 - min(max(self._inset, 0) / self._size[1], 0.5)

    @property
    def _aspect(self) -> float:
        """Width by height of the part of the picture that nothing covers."""
        return self._size[0] / (self._size[1] * self._free)

    def _lifted(self, orbit: Orbit) -> Orbit:
        """The place from which the free part of the picture shows what all of it shows from `orbit`."""
        farther = dataclasses.replace(orbit, distance=orbit.distance / self._free)
        return farther.panned(0.0, (1.0 - self._free) / 2)

    def _fitted(self) -> Orbit:
        return self._lifted(self._through(self._poser.motion_camera(self.clip, None, self._aspect)))

    def _through(self, camera: Camera) -> Orbit:
        radius = float(np.linalg.norm(np.ptp(self._poser.extent(self.clip), axis=0))) / 2
        return Orbit.through(camera, up=self.model.up, radius=radius if 0 < radius < math.inf else None)

    def _refit(self) -> None:
        """What is shown has changed: a camera that nobody moved goes along."""
        if not self._moved:
            self._eye = self._fitted()
        self._changed()

    # ---- the picture ------------------------------------------------------------------------------

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the frames, pixels. Settable."""
        return self._size

    @size.setter
    def size(self, value: tuple[int, int]) -> None:
        size = check_size(value)
        with self._lock:
            if size != self._size:
                self._size = size
                self._refit()

    @property
    def floor(self) -> bool:
        """Whether there is a floor. Settable, also to a Floor."""
        return self._on_floor

    @floor.setter
    def floor(self, value: bool | Floor) -> None:
        with self._lock:
            if isinstance(value, Floor):
                self._floor, self._on_floor = value, True
                self._renderers.clear()
            else:
                self._on_floor = flag("floor", value)
            self._changed()

    @property
    def overlays(self) -> Overlays | None:
        """What is drawn over the model to explain it, or None. Settable; TypeError for what is none."""
        return self._overlays

    @overlays.setter
    def overlays(self, value: Overlays | None) -> None:
        self._overlays = check_overlays(value)
        self._changed()

    def frame(
        self,
        out: NDArray[np.uint8] | None = None,
        *,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
    ) -> NDArray[np.uint8]:
        """The picture of now: (h, w, 4) uint8, RGBA, row 0 on top; `out`, of that shape, takes it.

        `size` and `samples` are for this picture alone, such as a coarser one while something moves.
        """
        with self._lock:
            size = self._size if size is None else check_size(size)
            samples = self._options["samples"] if samples is None else samples
            renderer = self._drawing((size, self._on_floor, samples))
            pose = self._pose()
            shot: dict[str, Any] = {"camera": self._eye.camera(), "out": out}
            clip = None
            if pose is not None:
                shot |= {"pose": pose, "time": self._controller.time if self._controller else 0.0}
            else:
                clip = self._motion
                shot |= {"time": self._time, "loop": self._loop}
            if self._overlays is not None:
                shot["overlays"] = self._overlays
        return renderer.frame(clip, **shot)

    def joints_on_screen(self) -> NDArray[np.float64]:
        """(J, 2): where the joints are in the picture, pixels from its left and top, NaN behind the eye.

        (0, 2) for a vertex animation, which does not move joints.
        """
        with self._lock:
            if isinstance(self.clip, VertexAnimation):
                return np.zeros((0, 2))
            pose = self._pose() or self.model.pose(self.clip, self._time, loop=self._loop)
            places = pose.globals(affine=True)[:, :, 3].astype(np.float64)
            camera, (width, height) = self._eye.camera(), self._size
        matrix = camera.projection(width / height) @ camera.view()
        clip = places @ matrix[:, :3].T + matrix[:, 3]
        with np.errstate(divide="ignore", invalid="ignore"):
            x, y = np.where(clip[:, 3:] > 0, clip[:, :2] / clip[:, 3:], np.nan).T
        return np.stack([(1 + x) * width / 2, (1 - y) * height / 2], axis=1)

    def joint_at(self, x: float, y: float, reach: float = 14.0) -> int | None:
        """The joint that is seen nearest to a place, pixels from the left and top; None beyond `reach`."""
        away = np.hypot(*(self.joints_on_screen() - (x, y)).T)
        if not len(away) or not np.nanmin(away, initial=math.inf) <= reach:
            return None
        return int(np.nanargmin(away))

    def close(self) -> None:
        """Free what it holds on the GPU; the next `frame` makes it anew."""
        with self._lock:
            for renderer in self._renderers.values():
                renderer.close()
            self._renderers.clear()

    def _pose(self) -> Pose | None:
        """The pose to draw in place of a clip."""
        if self._controller is not None:
            return self._controller.pose()
        if self._mixed is not None:
            return self._mixed.pose(self._time)
        return self.model.pose() if self._motion is None else None

    def _drawing(self, wanted: _Drawn) -> Renderer:
        """The renderer of this size, floor and samples; all of them share what is on the GPU."""
        found = self._renderers.pop(wanted, None)
        if found is None:
            size, floor, samples = wanted
            found = SharingRenderer(
                self.model,
                size=size,
                samples=samples,
                floor=self._floor if floor else None,
                **{name: value for name, value in self._options.items() if name != "samples"},
            )
        self._renderers[wanted] = found
        while len(self._renderers) > _RENDERERS:
            del self._renderers[next(iter(self._renderers))]
        return found

    def _changed(self) -> None:
        self.changes += 1


def _within(time: float, duration: float, loop: Loop) -> float:
    """`time` brought into 0 to `duration`, as the loop mode does."""
    if duration <= 0:
        return 0.0
    if 0 <= time <= duration or loop in ("clamp", "once"):
        return min(max(time, 0.0), duration)
    if loop == "pingpong":
        return duration - abs(time % (2 * duration) - duration)
    return time % duration
