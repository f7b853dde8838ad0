"""Cameras: where the eye is, and how the scene is projected. Numbers only, no OpenGL."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Up axis -> (up, front): glTF and most others face +Z where Y is up; Z-up tools face -Y.
_AXES = {
    "+X": ((1, 0, 0), (0, 0, 1)),
    "-X": ((-1, 0, 0), (0, 0, 1)),
    "+Y": ((0, 1, 0), (0, 0, 1)),
    "-Y": ((0, -1, 0), (0, 0, 1)),
    "+Z": ((0, 0, 1), (0, -1, 0)),
    "-Z": ((0, 0, -1), (0, -1, 0)),
}
_NEAR_SHARE = 0.01  # near plane, as a share of the distance to the target
_FAR_RADII = 100.0  # far plane, in radii of the framed box behind the target


def up_vector(up: str) -> NDArray[np.float64]:
    """The unit vector (3,) float64 of an axis such as "+Y". Raises ValueError for another text."""
    return np.array(_axes(up)[0], np.float64)


def front_vector(up: str) -> NDArray[np.float64]:
    """The unit vector (3,) float64 that models face along with that up axis: +Z, or -Y where up is Z."""
    return np.array(_axes(up)[1], np.float64)


def _axes(up: str) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    if up not in _AXES:
        raise ValueError(f"up is {up!r}; expected one of {', '.join(map(repr, _AXES))}")
    return _AXES[up]


@dataclass(frozen=True)
class Camera:
    """A perspective camera in scene space. Units are the scene's; the angle is in degrees.

    `eye`, `target` and `up` are 3 numbers each; `up` need only not lie along the view. `fov` is the whole
    vertical angle of the picture; the width follows from the picture's aspect. What lies nearer than `near`
    or farther than `far` is not drawn.
    """

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    up: tuple[float, float, float] = (0.0, 1.0, 0.0)
    fov: float = 30.0
    near: float = 0.01
    far: float = 1000.0

    def __post_init__(self) -> None:
        for name in ("eye", "target", "up"):
            object.__setattr__(self, name, _vector(name, getattr(self, name)))
        _check_fov(self.fov)
        if not 0 < self.near < self.far < math.inf:
            raise ValueError(f"near is {self.near}, far is {self.far}; expected 0 < near < far")
        if not np.any(np.subtract(self.eye, self.target)):
            raise ValueError(f"eye and target are both {self.eye}; expected two places")

    @classmethod
    def look_at(
        cls, eye: ArrayLike, target: ArrayLike = (0, 0, 0), *, up: str | ArrayLike = "+Y", fov: float = 30.0
    ) -> Camera:
        """A camera at `eye` (3,) that looks at `target` (3,); `up` is an axis such as "+Z", or (3,).

        Near and far planes are put well before and behind the target. Raises ValueError for values that
        are not finite, an eye at the target, or an angle outside 1 to 170 degrees.
        """
        eye_, target_ = _vector("eye", eye), _vector("target", target)
        distance = math.dist(eye_, target_) or 1.0
        upward = up_vector(up) if isinstance(up, str) else up
        near, far = distance * _NEAR_SHARE, distance * _FAR_RADII
        return cls(eye_, target_, _vector("up", upward), fov, near, far)

    @classmethod
    def frame(
        cls,
        bounds: ArrayLike,
        *,
        up: str = "+Y",
        azimuth: float = 30.0,
        elevation: float = 12.0,
        fov: float = 30.0,
        aspect: float = 4 / 3,
        margin: float = 0.06,
    ) -> Camera:
        """The nearest camera that has all of `bounds` in the picture, centered.

        `bounds` is (2, 3), a box's least and greatest corner, as `model.bounds(clip)` gives it; no box at
        all (not finite) stands for a unit one. `azimuth` and `elevation`, degrees, turn the eye around the
        model from straight in front of it, to its left and upwards; in front is +Z, or -Y where the up axis
        is Z. `aspect` is the picture's width by its height; `margin` the share of it to leave free at each
        side. Raises ValueError for a wrong shape, axis, angle, aspect or margin.
        """
        return Framing(up, azimuth, elevation, fov, aspect, margin).camera(_corners(bounds))

    def axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Right, up and back (towards the eye) of the picture in scene space: unit vectors (3,) float64."""
        back = _unit(np.subtract(self.eye, self.target))
        right = np.cross(self.up, back)
        if np.linalg.norm(right) < 1e-9 * float(np.linalg.norm(self.up)):  # looking along `up`
            right = np.cross((0.0, 0.0, 1.0) if abs(back[2]) < 0.9 else (0.0, 1.0, 0.0), back)
        right = _unit(right)
        return right, np.cross(back, right), back

    def view(self) -> NDArray[np.float64]:
        """Scene space to eye space, (4, 4) float64; the eye looks along its own -Z."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.axes()
        matrix[:3, 3] = -matrix[:3, :3] @ np.array(self.eye)
        return matrix

    def projection(self, aspect: float) -> NDArray[np.float64]:
        """Eye space to clip space, (4, 4) float64, depth -1 to 1, for a picture of that width by height."""
        _check_positive("aspect", aspect)
        focal = 1 / math.tan(math.radians(self.fov) / 2)
        depth = self.near - self.far
        matrix = np.zeros((4, 4))
        matrix[0, 0] = focal / aspect
        matrix[1, 1] = focal
        matrix[2, 2:] = (self.far + self.near) / depth, 2 * self.far * self.near / depth
        matrix[3, 2] = -1
        return matrix


@dataclass(frozen=True)
class Framing:
    """From where, and how tightly, a camera frames what it is given: the arguments of `Camera.frame`."""

    up: str = "+Y"
    azimuth: float = 30.0
    elevation: float = 12.0
    fov: float = 30.0
    aspect: float = 4 / 3
    margin: float = 0.06

    def __post_init__(self) -> None:
        _axes(self.up)
        _check_fov(self.fov)
        _check_positive("aspect", self.aspect)
        if not -90 <= self.elevation <= 90:
            raise ValueError(f"elevation is {self.elevation}; expected -90 to 90 degrees")
        if not 0 <= self.margin <= 0.4:
            raise ValueError(f"margin is {self.margin}; expected 0 to 0.4")

    def directions(self) -> NDArray[np.float64]:
        """(5, 3) float64: the points that lie farthest along these are all that the camera depends on.

        They are the normals of the picture's four sides (left, right, bottom, top) and the way to the eye.
        A point at depth `z` towards the eye and `x` across is inside when |x - shift| <= (distance - z) * t,
        t being the tangent of half the angle: shift + distance * t >= x + z * t, and likewise with -x.
        """
        right, upward, back = _view_axes(self.up, self.azimuth, self.elevation)
        wide, high = self._tangents()
        return np.stack(
            [back * wide - right, back * wide + right, back * high - upward, back * high + upward, back]
        )

    def camera(self, points: NDArray[np.float64]) -> Camera:
        """The nearest camera that has all points (N, 3), N > 0, in the picture, centered."""
        right, upward, back = _view_axes(self.up, self.azimuth, self.elevation)
        wide, high = self._tangents()
        lowest, highest = points.min(axis=0), points.max(axis=0)
        radius = float(np.linalg.norm(highest - lowest)) / 2 or 1.0
        center = (lowest + highest) / 2
        left, right_, bottom, top, near = ((points - center) @ self.directions().T).max(axis=0)
        # Each pair of opposite sides gives a distance, and the shift that centers between the two.
        distance = max((left + right_) / (2 * wide), (bottom + top) / (2 * high), near + radius * 0.1)
        target = center + (right_ - left) / 2 * right + (top - bottom) / 2 * upward
        return Camera(
            _vector("eye", target + distance * back),
            _vector("target", target),
            _vector("up", up_vector(self.up) if abs(self.elevation) < 89.9 else upward),
            self.fov,
            distance * _NEAR_SHARE,
            distance + radius * _FAR_RADII,
        )

    def _tangents(self) -> tuple[float, float]:
        """Of half the angle that may be filled, across and upwards."""
        high = math.tan(math.radians(self.fov) / 2) * (1 - 2 * self.margin)
        return high * self.aspect, high


def _vector(name: str, value: ArrayLike) -> tuple[float, float, float]:
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ValueError(f"{name} is {value!r}; expected 3 finite numbers")
    return float(array[0]), float(array[1]), float(array[2])


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return unit


def _check_positive(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"{name} is {value}; expected a number above 0")


def _check_fov(fov: float) -> None:
    if not 1 <= fov <= 170:
        raise ValueError(f"fov is {fov}; expected 1 to 170 degrees")


def _corners(bounds: ArrayLike) -> NDArray[np.float64]:
    """The box's 8 corners, (8, 3); of a unit box where there is none."""
    box = np.asarray(bounds, np.float64)
    if box.shape != (2, 3):
        raise ValueError(f"bounds has shape {box.shape}; expected (2, 3)")
    if not np.isfinite(box).all():
        box = np.array([[-0.5] * 3, [0.5] * 3])
    return np.stack(np.meshgrid(*box.T, indexing="ij"), axis=-1).reshape(-1, 3)


def _view_axes(
    up: str, azimuth: float, elevation: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Right, up and back of a camera that looks at the front, turned by the two angles (degrees)."""
    upward, front = (np.array(axis, np.float64) for axis in _axes(up))
    side = np.cross(upward, front)
    turn, rise = math.radians(azimuth), math.radians(elevation)
    level = math.cos(turn) * front + math.sin(turn) * side
    back = math.cos(rise) * level + math.sin(rise) * upward
    right = math.cos(turn) * side - math.sin(turn) * front
    return right, np.cross(back, right), back
