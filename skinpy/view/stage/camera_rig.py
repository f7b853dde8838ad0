"""The camera of a stage: it shows the whole clip until the user moves it, and then stays where it is."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ..._arguments import between, finite, flag, instance, whole
from ...render import Camera
from ...render.arguments import MAX_SIDE, check_size
from .orbit import Orbit
from .player import Player
from .state import SharedState

_DRAG_DEGREES = 360.0  # that a drag over the height of the picture turns the camera by
_WHEEL_FACTOR = 0.9  # of the distance that is left after one step of the wheel
_MAX_PIXELS = 1e6  # that a pointer moves in one call
_MAX_STEPS = 60.0  # of the wheel in one call


class CameraRig:
    """The camera that the user moves around what plays: `Stage.rig`.

    The camera shows the whole clip until the user moves it, and then stays where it is. Positions are pixels
    of the picture. Any thread may use it.
    """

    def __init__(
        self, state: SharedState, player: Player, size: tuple[int, int], camera: Camera | None
    ) -> None:
        self._state, self._player, self._size = state, player, size
        self._inset, self._boxed = 0, False
        self._moved = camera is not None  # by the user: then it stays where it is
        self._eye = self._fitted() if camera is None else self._through(camera)

    @property
    def eye(self) -> Orbit:
        """Where the camera is. Settable."""
        return self._eye

    @eye.setter
    def eye(self, value: Orbit) -> None:
        if not isinstance(value, Orbit):
            raise TypeError(f"eye is {type(value).__name__}; expected an Orbit")
        with self._state.change():
            self._eye, self._moved = value, True

    @property
    def camera(self) -> Camera:
        """The camera of the next frame. Settable; the horizon of the new camera is made level."""
        return self._eye.camera()

    @camera.setter
    def camera(self, value: Camera) -> None:
        if not isinstance(value, Camera):
            raise TypeError(f"camera is {type(value).__name__}; expected a Camera")
        with self._state.lock:
            self.eye = Orbit.through(value, up=self._eye.up, radius=self._eye.radius)

    # ---- what the user does -------------------------------------------------------------------------------

    def orbit(self, dx: float, dy: float) -> None:
        """Turn the camera as a drag does: the model follows the pointer.

        Parameters
        ----------
        dx, dy : float, pixels
            Movement of the pointer to the right and down. The height of the picture is one full turn.
        """
        degrees = _DRAG_DEGREES / self._size[1]
        across, down = _pixels("dx", dx), _pixels("dy", dy)
        with self._state.lock:
            self.eye = self._eye.turned(-across * degrees, down * degrees)

    def pan(self, dx: float, dy: float) -> None:
        """Move the camera along the picture, so that the model follows the pointer.

        Parameters
        ----------
        dx, dy : float, pixels
            Movement of the pointer to the right and down.
        """
        height = self._size[1]
        across, down = _pixels("dx", dx), _pixels("dy", dy)
        with self._state.lock:
            self.eye = self._eye.panned(across / height, -down / height)

    def zoom(self, steps: float, x: float | None = None, y: float | None = None) -> None:
        """Move the camera nearer or away; what lies under the pointer stays there.

        Parameters
        ----------
        steps : float
            Steps of the wheel, a tenth of the distance each; negative steps move away.
        x, y : float, pixels, optional
            The pointer, from the left and top of the picture; by default its middle.
        """
        width, height = self._size
        across = 0.0 if x is None else (_pixels("x", x) - width / 2) / height
        upward = 0.0 if y is None else (height / 2 - _pixels("y", y)) / height
        factor = _WHEEL_FACTOR ** min(max(finite("steps", steps), -_MAX_STEPS), _MAX_STEPS)
        with self._state.lock:
            self.eye = self._eye.zoomed(factor, across, upward)

    # ---- fitting ----------------------------------------------------------------------------------------

    def look(self, azimuth: float, elevation: float) -> None:
        """Fit the whole clip to the picture, seen from a direction.

        Parameters
        ----------
        azimuth, elevation : float, degrees
            The direction, as in `Camera.frame`.
        """
        with self._state.lock:
            camera = Camera.frame(
                self._player.poser.facts.extent(self._player.clip),
                up=self._player.model.up,
                azimuth=azimuth,
                elevation=elevation,
                aspect=self._free_aspect,
            )
            self.eye = self._lifted(self._through(camera))

    def fit(self) -> None:
        """Fit the whole clip to the picture, seen from where the camera is now."""
        self.look(self._eye.azimuth, self._eye.elevation)

    def reset(self) -> None:
        """Put the camera where it was before the user moved it: where `render` has it."""
        with self._state.lock:
            self._moved = False
            self.refit()

    def refit(self) -> None:
        """Follow a change of what is shown, or of its size; a camera that the user moved stays."""
        with self._state.change():
            if not self._moved:
                self._eye = self._fitted()

    def follow(self, player: Player) -> None:
        """Show what another player plays.

        Parameters
        ----------
        player : Player
            The other player.
        """
        instance("player", player, Player, "a Player")  # type: ignore[type-abstract]
        with self._state.lock:
            self._player = player
            self.refit()

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the picture in pixels. Settable."""
        return self._size

    @size.setter
    def size(self, value: tuple[int, int]) -> None:
        size = check_size(value)
        with self._state.lock:
            if size != self._size:
                self._size = size
                self.refit()

    @property
    def inset(self) -> int:
        """Pixels at the bottom of the picture that something covers: clips are fitted above them. Settable.

        At most half of the height counts.
        """
        return self._inset

    @inset.setter
    def inset(self, value: int) -> None:
        inset = whole("inset", value, 0, MAX_SIDE, wanted="a whole number of pixels")
        with self._state.lock:
            if inset != self._inset:
                self._inset = inset
                self.refit()

    @property
    def boxed(self) -> bool:
        """Whether the corners of the box around the clip are to be in the picture too. Settable."""
        return self._boxed

    @boxed.setter
    def boxed(self, value: bool) -> None:
        boxed = flag("boxed", value)
        with self._state.lock:
            if boxed != self._boxed:
                self._boxed = boxed
                self.refit()

    @property
    def _free_height(self) -> float:
        """The part of the height that nothing covers, 0.5 to 1."""
        return 1.0 - min(max(self._inset, 0) / self._size[1], 0.5)

    @property
    def _free_aspect(self) -> float:
        """Width by height of the part of the picture that nothing covers."""
        return self._size[0] / (self._size[1] * self._free_height)

    def _lifted(self, orbit: Orbit) -> Orbit:
        """The orbit from which the free part of the picture shows what all of it shows from `orbit`."""
        farther = dataclasses.replace(orbit, distance=orbit.distance / self._free_height)
        return farther.panned(0.0, (1.0 - self._free_height) / 2)

    def _fitted(self) -> Orbit:
        facts, clip = self._player.poser.facts, self._player.clip
        return self._lifted(self._through(facts.camera(clip, None, self._free_aspect, self._boxed)))

    def _through(self, camera: Camera) -> Orbit:
        instance("camera", camera, Camera, "a Camera")
        extent = self._player.poser.facts.extent(self._player.clip)
        radius = float(np.linalg.norm(np.ptp(extent, axis=0))) / 2
        return Orbit.through(
            camera, up=self._player.model.up, radius=radius if 0 < radius < math.inf else None
        )


def _pixels(name: str, value: float) -> float:
    """A distance or a coordinate in pixels."""
    return between(name, value, -_MAX_PIXELS, _MAX_PIXELS)
