"""A model that plays and the camera that looks at it: what windows and live views show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._arguments import check_model, finite
from ..._one_process import OneProcess
from ...model import Model
from ...playing.controller import AnimationController
from ...render import Camera, Floor, Overlays
from ...render.arguments import check_samples, check_size
from ...render.overlays.options import check_overlays
from ...render.overlays.plan import split_overlays
from .camera_rig import CameraRig
from .clip_player import ClipPlayer
from .controller_player import ControllerPlayer
from .layer import Layer
from .motions import MotionList
from .painter import Painter
from .picking import joints_on_screen, nearest_joint
from .player import Player
from .state import SharedState

if TYPE_CHECKING:
    from ..._types import Loop
    from ...render.posing import ClipLike

BACKGROUND = "#e9eef5"


class Stage(OneProcess):
    """A model that plays, and the camera that looks at it.

    Time passes in `player.advance`; `frame` draws. Any thread may call any method.

    Parameters
    ----------
    model : Model
        The model that is shown.
    clip : Clip, VertexAnimation, str or int, optional
        What plays, as in `Renderer.frame`. Without it the first clip plays, or the rest pose is shown where
        there is no clip.
    controller : AnimationController, optional
        A controller of this model, which takes the place of a clip.
    size : (int, int), pixels, default (640, 480)
        Width and height of the frames.
    floor : Floor or bool, optional
        The floor; True for an ordinary one.
    overlays : Overlays, optional
        What is drawn over the model to explain it.
    camera : Camera, optional
        The first camera. Without it the whole clip is fitted to the picture.
    layer : Layer or str, optional
        A second clip over the first, or the name of one.
    speed : float, default 1.0
        Seconds of the clip per second.
    loop : {"wrap", "pingpong", "clamp", "once"}, default "wrap"
        What happens beyond the ends of the clip.
    playing : bool, default True
        Whether time passes.
    background : str or sequence of float, optional
        Background color, as for `Renderer`; None for a transparent one.
    samples : int, default 4
        Samples per pixel.
    uv : UVAnimation or dict, optional
        Moved texture coordinates, as for `Renderer`.

    Raises
    ------
    KeyError
        If the model has no clip of this name.
    IndexError
        If the model has no clip of this number.
    ValueError
        If a clip or controller belongs to another model, both are given, or a number is out of range.
    TypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> stage = skinpy.view.Stage(skinpy.character(), "walk", size=(320, 240))
    >>> stage.player.advance(0.25)
    >>> stage.rig.orbit(40, 0)  # as a drag by 40 pixels to the right
    >>> stage.player.time_label
    '0.25 / 1.00 s'
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
        self._state = SharedState()
        size = check_size(size)
        self._painter = Painter(floor, background, samples, uv)
        self._overlays = check_overlays(overlays)
        self._player = _player(self._state, model, clip, controller, playing)
        self.player.speed, self.player.loop, self.player.layer = speed, loop, layer
        self._motions = MotionList(self.player.poser, self.player.clip)
        self._rig = CameraRig(self._state, self._player, size, camera)
        self.rig.boxed = self._overlays is not None and self._overlays.boxes

    @property
    def player(self) -> Player:
        """What plays, and its time: `clip`, `time`, `playing`, `speed`, `loop`, `layer`, `seek` and more."""
        return self._player

    @property
    def rig(self) -> CameraRig:
        """The camera and what the user does with it: `orbit`, `pan`, `zoom`, `fit`, `reset` and more."""
        return self._rig

    @property
    def changes(self) -> int:
        """A counter of changes: it differs when there may be something new to draw."""
        return self._state.changes

    # ---- what is shown ----------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The model that is shown."""
        return self.player.model

    @property
    def clips(self) -> tuple[str, ...]:
        """Names of all that `choose` takes by number. Names may occur twice."""
        return self._motions.names

    @property
    def number(self) -> int | None:
        """The number of what plays, among `clips`; None for the rest pose and for a clip from elsewhere."""
        return self._motions.number(self.player.clip)

    def choose(self, clip: ClipLike) -> None:
        """Play something else from its start.

        A camera that the user has not moved is fitted to the new clip. A controller fades to the new clip in
        its base layer. If an error is raised, nothing has changed.

        Parameters
        ----------
        clip : Clip, VertexAnimation, str or int, optional
            What to play: a name, a number in `clips`, a Clip or a VertexAnimation; None is the first clip.

        Raises
        ------
        KeyError
            If the model has no clip of this name.
        IndexError
            If there is no clip of this number.
        ValueError
            If the clip belongs to another model.
        TypeError
            If `clip` has the wrong type.
        """
        with self._state.lock:
            self.player.start(self._motions.find(clip))
            self.rig.refit()

    def rest(self) -> None:
        """Show the rest pose; a controller fades to it in its base layer."""
        with self._state.lock:
            self.player.start(None)
            self.rig.refit()

    def replace(self, model: Model, clip: ClipLike = None) -> None:
        """Show another model, or a newer version of this one.

        A controller and a layer are dropped; settings and a camera that the user has moved stay. The caller
        takes care of overlays that name joints which the new model lacks.

        Parameters
        ----------
        model : Model
            The new model.
        clip : Clip, VertexAnimation, str or int, optional
            What to play. Without it, the clip of the same name goes on at the same time, if there is one.

        Raises
        ------
        KeyError
            If the model has no clip of this name.
        IndexError
            If the model has no clip of this number.
        ValueError
            If the clip belongs to another model.
        TypeError
            If an argument has the wrong type.
        """
        check_model("model", model)
        with self._state.lock:
            old = self.player
            goes_on = clip is None and old.clip is not None and old.clip_name in model.clips
            new = ClipPlayer(self._state, model, old.clip_name if goes_on else clip, old.playing)
            new.speed, new.loop = old.speed, old.loop
            self._motions = MotionList(new.poser, new.clip)
            if goes_on:
                new.time = old.time
            else:
                new.start(None if clip is None and old.clip is None else new.clip)
            self._player = new
            self._painter.forget()
            self.rig.follow(new)

    # ---- the picture ------------------------------------------------------------------------------------

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the frames in pixels. Settable."""
        return self.rig.size

    @size.setter
    def size(self, value: tuple[int, int]) -> None:
        self.rig.size = check_size(value)

    @property
    def floor(self) -> bool:
        """Whether there is a floor. Settable, also to a Floor."""
        return self._painter.floor

    @floor.setter
    def floor(self, value: bool | Floor) -> None:
        with self._state.change():
            self._painter.floor = value

    @property
    def overlays(self) -> Overlays | None:
        """What is drawn over the model to explain it, or None. Settable."""
        return self._overlays

    @overlays.setter
    def overlays(self, value: Overlays | None) -> None:
        with self._state.change():
            self._overlays = check_overlays(value)
            self.rig.boxed = self._overlays is not None and self._overlays.boxes

    @property
    def idle_overlays(self) -> dict[str, str]:
        """Names of the overlays that are set but have nothing to show for what plays, and why.

        `frame` leaves them out. They are seen again when something plays that has what they show.
        """
        with self._state.lock:
            if self._overlays is None:
                return {}
            return split_overlays(self._overlays, self.player.poser, self.player.moment())[1]

    def frame(
        self,
        out: NDArray[np.uint8] | None = None,
        *,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
    ) -> NDArray[np.uint8]:
        """Draw the current picture.

        Overlays that have nothing to show for what plays are left out: see `idle_overlays`.

        Parameters
        ----------
        out : (h, w, 4) uint8 ndarray, optional
            The array that takes the picture.
        size : (int, int), pixels, optional
            Width and height of this picture alone, such as a coarser one while something moves.
        samples : int, optional
            Samples per pixel of this picture alone.

        Returns
        -------
        (h, w, 4) uint8 ndarray
            The picture, RGBA, row 0 on top; `out` if that is given.

        Raises
        ------
        ValueError
            If `size`, `samples` or the shape of `out` is wrong.
        TypeError
            If an argument has the wrong type.
        KeyError
            If an overlay names a joint that the model does not have.
        IndexError
            If an overlay gives the number of a joint that the model does not have.
        GraphicsError
            If OpenGL fails.
        """
        with self._state.lock:
            size = self.size if size is None else check_size(size)
            shades = None if samples is None else check_samples(samples)
            renderer = self._painter.renderer(self.model, size, shades)
            moment, camera, overlays = self.player.moment(), self.rig.camera, self._overlays
            covered = round(self.rig.inset * size[1] / self.size[1])
        if overlays is not None:
            overlays = split_overlays(overlays, self.player.poser, moment)[0]
        return renderer.picture(moment, camera, overlays, out, covered)

    def joints_on_screen(self) -> NDArray[np.float64]:
        """Return where the joints are in the picture.

        Returns
        -------
        (J, 2) float64 ndarray
            Pixels from the left and top of the picture, NaN behind the camera; (0, 2) for a vertex animation,
            which moves no joints.
        """
        with self._state.lock:
            pose, camera, size = self.player.pose(), self.rig.camera, self.size
        return np.zeros((0, 2)) if pose is None else joints_on_screen(pose, camera, size)

    def joint_at(self, x: float, y: float, reach: float = 14.0) -> int | None:
        """Return the joint that is seen nearest to a position.

        Parameters
        ----------
        x, y : float, pixels
            The position, from the left and top of the picture.
        reach : float, pixels, default 14.0
            The largest distance between position and joint.

        Returns
        -------
        int or None
            The number of the joint; None if no joint is in reach.
        """
        place = finite("x", x), finite("y", y)
        return nearest_joint(self.joints_on_screen(), *place, finite("reach", reach))

    def close(self) -> None:
        """Free what the stage holds on the GPU; the next `frame` makes it anew."""
        with self._state.lock:
            self._painter.close()


def _player(
    state: SharedState,
    model: Model,
    clip: ClipLike,
    controller: AnimationController | None,
    playing: bool,
) -> Player:
    """The player for what a caller gives: a controller, or a clip."""
    check_model("model", model)
    if controller is None:
        return ClipPlayer(state, model, clip, playing)
    player = ControllerPlayer(state, model, controller, playing)
    if clip is not None:
        raise ValueError("clip is given together with controller; expected one of them")
    return player
