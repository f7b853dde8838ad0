"""The camera that a hand moves: round a target, along the picture, nearer and farther. Numbers only."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..render import Camera
from ..render.camera import front_vector, up_vector

_NEAREST = 0.02  # of the radius: as near to the target as it goes
_FARTHEST = 50.0
_NEAR_SHARE = 0.01  # near plane, as a share of the distance to the target
_FAR_RADII = 100.0  # far plane behind the target, in radii


@dataclass(frozen=True)
class Orbit:
    """A place on a sphere round a target, from which a camera looks at it; the horizon stays level.

    `target` is 3 numbers, `distance` the way to it, scene units. `azimuth` and `elevation`, degrees, are
    those of `Camera.frame`: from straight in front of the model (+Z, or -Y where up is Z) to its left, and
    upwards, -90 to 90. `up` is the scene's axis, such as "+Y"; `fov` the vertical angle of the picture in
    degrees. `radius` is the size of what is looked at: it bounds how near and how far one can go.
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
        """The place of a camera, its horizon made level. `radius` None takes a third of the distance."""
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
        """Right, up and back (towards the eye) of the picture in scene space: unit vectors (3,) float64."""
        upward, front, side = _frame(self.up)
        turn, rise = math.radians(self.azimuth), math.radians(self.elevation)
        level = math.cos(turn) * front + math.sin(turn) * side
        back = math.cos(rise) * level + math.sin(rise) * upward
        right = math.cos(turn) * side - math.sin(turn) * front
        return right, np.cross(back, right), back

    def camera(self) -> Camera:
        """The camera there. Its own `up` is that of the picture, so that it may look straight down."""
        _, upward, back = self.axes()
        eye = np.array(self.target) + self.distance * back
        near, far = self.distance * _NEAR_SHARE, self.distance + self.radius * _FAR_RADII
        return Camera(_numbers(eye), self.target, _numbers(upward), self.fov, near, far)

    def turned(self, azimuth: float, elevation: float) -> Orbit:
        """Further round the target by so many degrees, and up; it stops at the top and at the bottom."""
        rise = min(max(self.elevation + elevation, -90.0), 90.0)
        return replace(self, azimuth=(self.azimuth + azimuth + 180.0) % 360.0 - 180.0, elevation=rise)

    def panned(self, across: float, upward: float) -> Orbit:
        """Moved so that what lies in the target's plane goes to the right and up in the picture.

        The unit of both is the picture's height.
        """
        right, up, _ = self.axes()
        step = -(across * right + upward * up) * self.height
        return replace(self, target=_numbers(np.array(self.target) + step))

    def zoomed(self, factor: float, across: float = 0.0, upward: float = 0.0) -> Orbit:
        """The distance times `factor`, within what the radius allows.

        What lies in the target's plane at `across` and `upward` from the picture's middle, in heights of the
        picture, stays there. Raises ValueError for a factor that is not above 0.
        """
        if not 0 < factor < math.inf:
            raise ValueError(f"factor is {factor}; expected a number above 0")
        wanted = self.distance * factor
        least, most = self.radius * _NEAREST, self.radius * _FARTHEST
        # Where it starts beyond a limit it may stay, but not go further.
        distance = min(max(wanted, min(least, self.distance)), max(most, self.distance))
        away = 1 - distance / self.distance
        # Towards the place under the pointer: it is there in the new picture, as it was in the old.
        nearer = self.panned(-across * away, -upward * away)
        return replace(nearer, distance=distance)

    @property
    def height(self) -> float:
        """Scene units from the picture's bottom to its top, in the target's plane."""
        return 2 * self.distance * math.tan(math.radians(self.fov) / 2)


def _frame(up: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The model's up, front and left in scene space: unit vectors (3,)."""
    upward, front = up_vector(up), front_vector(up)
    return upward, front, np.cross(upward, front)


def _numbers(vector: NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = vector.tolist()
    return x, y, z
