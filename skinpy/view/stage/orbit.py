"""A camera on an orbit around a target: it can be turned, panned and zoomed. Numbers only."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..._arguments import between, finite, instance, positive
from ...render import Camera
from ...render.camera import front_vector, up_vector

_MIN_DISTANCE, _MAX_DISTANCE = 0.02, 50.0  # from the target, in radii
_MAX_PAN = 1e6  # in heights of the picture
_NEAR_PLANE = 0.01  # in distances to the target
_FAR_PLANE = 100.0  # behind the target, in radii


@dataclass(frozen=True)
class Orbit:
    """A camera that looks at a target from a point on a sphere around it; the horizon stays level.

    Parameters
    ----------
    target : (float, float, float), scene units
        The point that the camera looks at.
    distance : float, scene units
        The distance from the camera to the target.
    azimuth : float, degrees, default 30.0
        The direction of the camera as in `Camera.frame`: from straight in front of the model (+Z, or -Y where
        Z is up) to its left.
    elevation : float, degrees, -90 to 90, default 12.0
        The height of the camera above the horizon of the target.
    up : str, default "+Y"
        The axis of the scene that points up.
    fov : float, degrees, default 30.0
        The vertical angle of the picture.
    radius : float, scene units, default 1.0
        The size of what the camera looks at. It bounds how near and how far zooming can go.

    Examples
    --------
    >>> orbit = skinpy.view.Orbit((0.0, 1.0, 0.0), 4.0)
    >>> orbit.turned(90.0, 0.0).azimuth
    120.0
    """

    target: tuple[float, float, float]
    distance: float
    azimuth: float = 30.0
    elevation: float = 12.0
    up: str = "+Y"
    fov: float = 30.0
    radius: float = 1.0

    @classmethod
    def through(cls, camera: Camera, *, up: str = "+Y", radius: float | None = None) -> Orbit:
        """Return the orbit of a camera, with its horizon made level.

        Parameters
        ----------
        camera : Camera
            The camera.
        up : str, default "+Y"
            The axis of the scene that points up.
        radius : float, scene units, optional
            The size of what the camera looks at; by default a third of the distance.

        Returns
        -------
        Orbit
            The orbit.
        """
        instance("camera", camera, Camera, "a Camera")
        right, _, back = camera.axes()
        upward, front, side = _frame(up)
        # Where it looks along `up`, the picture's right says more about the azimuth than the view does.
        steep = abs(back @ upward) > 0.999
        sine, cosine = (-right @ front, right @ side) if steep else (back @ side, back @ front)
        distance = math.dist(camera.eye, camera.target)
        return cls(
            camera.target,
            distance,
            math.degrees(math.atan2(sine, cosine)),
            math.degrees(math.asin(min(max(float(back @ upward), -1.0), 1.0))),
            up,
            camera.fov,
            distance / 3 if radius is None else radius,
        )

    def axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the axes of the picture in scene space.

        Returns
        -------
        right : (3,) float64 ndarray
            Unit vector to the right of the picture.
        up : (3,) float64 ndarray
            Unit vector to the top of the picture.
        back : (3,) float64 ndarray
            Unit vector from the target to the camera.
        """
        upward, front, side = _frame(self.up)
        around, rise = math.radians(self.azimuth), math.radians(self.elevation)
        level = math.cos(around) * front + math.sin(around) * side
        back = math.cos(rise) * level + math.sin(rise) * upward
        right = math.cos(around) * side - math.sin(around) * front
        return right, np.cross(back, right), back

    def camera(self) -> Camera:
        """Return the camera.

        Returns
        -------
        Camera
            The camera. Its own `up` is that of the picture, so that it may look straight down.
        """
        _, upward, back = self.axes()
        eye = np.array(self.target) + self.distance * back
        near, far = self.distance * _NEAR_PLANE, self.distance + self.radius * _FAR_PLANE
        return Camera(_numbers(eye), self.target, _numbers(upward), self.fov, near, far)

    def turned(self, azimuth: float, elevation: float) -> Orbit:
        """Return the orbit after a turn around the target; it stops at the top and at the bottom.

        Parameters
        ----------
        azimuth : float, degrees
            Turn to the model's left.
        elevation : float, degrees
            Turn upwards.

        Returns
        -------
        Orbit
            The new orbit.
        """
        around = self.azimuth + finite("azimuth", azimuth)
        rise = min(max(self.elevation + finite("elevation", elevation), -90.0), 90.0)
        return replace(self, azimuth=(around + 180.0) % 360.0 - 180.0, elevation=rise)

    def panned(self, across: float, upward: float) -> Orbit:
        """Return the orbit after a movement along the picture.

        What lies in the target's plane moves by this much in the picture.

        Parameters
        ----------
        across, upward : float, heights of the picture
            Movement to the right and upwards.

        Returns
        -------
        Orbit
            The new orbit.
        """
        right, up, _ = self.axes()
        sideways = between("across", across, -_MAX_PAN, _MAX_PAN)
        upwards = between("upward", upward, -_MAX_PAN, _MAX_PAN)
        step = -(sideways * right + upwards * up) * self.height
        return replace(self, target=_numbers(np.array(self.target) + step))

    def zoomed(self, factor: float, across: float = 0.0, upward: float = 0.0) -> Orbit:
        """Return the orbit at another distance, within what the radius allows.

        Parameters
        ----------
        factor : float
            The new distance, in distances now.
        across, upward : float, heights of the picture, default 0.0
            A position in the target's plane, to the right of and above the picture's middle: what lies there
            stays there.

        Returns
        -------
        Orbit
            The new orbit.

        Raises
        ------
        ValueError
            If the factor is not a number above 0.
        """
        wanted = self.distance * positive("factor", factor)
        sideways = between("across", across, -_MAX_PAN, _MAX_PAN)
        upwards = between("upward", upward, -_MAX_PAN, _MAX_PAN)
        least, most = self.radius * _MIN_DISTANCE, self.radius * _MAX_DISTANCE
        # A camera that starts beyond a limit may stay there, but not go further.
        distance = min(max(wanted, min(least, self.distance)), max(most, self.distance))
        away = 1 - distance / self.distance
        # Towards the point under the pointer, which stays there in the picture.
        nearer = self.panned(-sideways * away, -upwards * away)
        return replace(nearer, distance=distance)

    @property
    def height(self) -> float:
        """The height of the picture in scene units, in the target's plane."""
        return 2 * self.distance * math.tan(math.radians(self.fov) / 2)


def _frame(up: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The model's up, front and left in scene space: unit vectors (3,)."""
    upward, front = up_vector(up), front_vector(up)
    return upward, front, np.cross(upward, front)


def _numbers(vector: NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = vector.tolist()
    return x, y, z
