"""Cameras: where the eye is, and how the scene is projected. No OpenGL."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skinpy._arguments import between, brief, check_shape, finite, floats, numbers, one_of

# Up axis -> (up, front): glTF and most others face +Z where Y is up; Z-up tools face -Y.
_AXES = {
    "+X": ((1, 0, 0), (0, 0, 1)),
    "-X": ((-1, 0, 0), (0, 0, 1)),
    "+Y": ((0, 1, 0), (0, 0, 1)),
    "-Y": ((0, -1, 0), (0, 0, 1)),
    "+Z": ((0, 0, 1), (0, -1, 0)),
    "-Z": ((0, 0, -1), (0, -1, 0)),
}
_NEAR_RATIO = 0.01  # distance of the near plane, by the distance of the target
_ASPECTS = (1e-6, 1e6)  # width by height: beyond them matrices overflow
_MAX_COORDINATE = 1e100  # of an eye or a target: squares of larger numbers are infinite
_FAR_RADII = 100.0  # far plane, in radii of the framed box behind the target


def up_vector(up: str) -> NDArray[np.float64]:
    """The unit vector (3,) float64 of an axis such as "+Y". Raises ValueError for an unknown axis."""
    return np.array(_axes(up)[0], np.float64)


def front_vector(up: str) -> NDArray[np.float64]:
    """The unit vector (3,) float64 along which models with that up axis face: +Z, or -Y where up is Z."""
    return np.array(_axes(up)[1], np.float64)


def _axes(up: str) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    axis = f"+{up}" if isinstance(up, str) and f"+{up}" in _AXES else up
    one_of("up", axis, tuple(_AXES))
    return _AXES[axis]


@dataclass(frozen=True)
class Camera:
    """A perspective camera in scene space.

    Parameters
    ----------
    eye : array_like, shape (3,), scene units
        Where the camera stands.
    target : array_like, shape (3,), scene units
        The point that it looks at, which is in the middle of the picture.
    up : array_like, shape (3,), default (0.0, 1.0, 0.0)
        The direction that points up in the picture. It must not lie along the view.
    fov : float, degrees, default 30.0
        The whole vertical angle of the picture, 1 to 170. The horizontal one follows from the aspect.
    near : float, scene units, default 0.01
        Distance of the near plane. Nothing nearer is drawn.
    far : float, scene units, default 1000.0
        Distance of the far plane. Nothing farther is drawn.

    Raises
    ------
    ValueError
        If a vector is not 3 finite numbers, the eye is at the target, the angle is outside 1 to 170
        degrees, or the planes are not 0 < near < far.

    Examples
    --------
    >>> camera = skinpy.render.Camera((0, 1, 3), target=(0, 1, 0), fov=40)
    >>> camera.view()[:3, 3]
    array([ 0., -1., -3.])
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
        check_fov(self.fov)
        if not 0 < finite("near", self.near) < finite("far", self.far):
            raise ValueError(f"near is {self.near}, far is {self.far}; expected 0 < near < far")
        if not np.any(np.subtract(self.eye, self.target)):
            raise ValueError(f"eye and target are both {self.eye}; expected two different points")

    @classmethod
    def look_at(
        cls, eye: ArrayLike, target: ArrayLike = (0, 0, 0), *, up: str | ArrayLike = "+Y", fov: float = 30.0
    ) -> Camera:
        """Return a camera at one point that looks at another.

        The near plane is at a hundredth of the distance of the target, the far plane at a hundred times it.

        Parameters
        ----------
        eye : array_like, shape (3,), scene units
            Where the camera stands.
        target : array_like, shape (3,), scene units, default (0, 0, 0)
            The point that it looks at.
        up : str or array_like, shape (3,), default "+Y"
            An axis such as "+Z", or the direction that points up in the picture.
        fov : float, degrees, default 30.0
            The vertical angle of the picture, 1 to 170.

        Returns
        -------
        Camera
            The camera.

        Raises
        ------
        ValueError
            If a number is not finite, the axis is unknown, the eye is at the target, or the angle is
            outside 1 to 170 degrees.
        """
        eye_, target_ = _vector("eye", eye), _vector("target", target)
        distance = math.dist(eye_, target_) or 1.0
        upward = up_vector(up) if isinstance(up, str) else up
        near, far = distance * _NEAR_RATIO, distance * _FAR_RADII
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
        """Return the nearest camera that has a whole box in the picture, centered.

        Parameters
        ----------
        bounds : array_like, shape (2, 3), scene units
            Lowest and highest corner of the box, as `Model.bounds` returns them. A box that is not finite
            (that of an empty mesh) counts as a unit box around the origin.
        up : str, default "+Y"
            The up axis of the scene. The front of the box is at +Z, or at -Y where the up axis is Z.
        azimuth : float, degrees, default 30.0
            How far the eye moves around the box from its front to its left.
        elevation : float, degrees, default 12.0
            How far the eye moves upwards, -90 to 90.
        fov : float, degrees, default 30.0
            The vertical angle of the picture, 1 to 170.
        aspect : float, default 4/3
            Width of the picture by its height.
        margin : float, default 0.06
            Fraction of the picture to leave free at each side, 0 to 0.4.

        Returns
        -------
        Camera
            The camera.

        Raises
        ------
        ValueError
            If the box has another shape, the axis is unknown, or an angle, the aspect or the margin is out
            of range.

        Examples
        --------
        >>> model = skinpy.character()
        >>> camera = skinpy.render.Camera.frame(model.bounds("walk"), up=model.up, azimuth=90)
        """
        return Framing(up, azimuth, elevation, fov, aspect, margin).camera(box_corners(bounds))

    def axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the axes of the picture in scene space.

        Returns
        -------
        right : (3,) float64 ndarray
            Unit vector to the right in the picture.
        up : (3,) float64 ndarray
            Unit vector upwards in the picture.
        back : (3,) float64 ndarray
            Unit vector from the target towards the eye.
        """
        back = _unit(np.subtract(self.eye, self.target))
        right = np.cross(self.up, back)
        if np.linalg.norm(right) < 1e-9 * float(np.linalg.norm(self.up)):  # looking along `up`
            right = np.cross((0.0, 0.0, 1.0) if abs(back[2]) < 0.9 else (0.0, 1.0, 0.0), back)
        right = _unit(right)
        return right, np.cross(back, right), back

    def view(self) -> NDArray[np.float64]:
        """Return the matrix from scene space to eye space, in which the eye looks along -Z.

        Returns
        -------
        (4, 4) float64 ndarray
            The matrix, for column vectors.
        """
        matrix = np.eye(4)
        matrix[:3, :3] = self.axes()
        matrix[:3, 3] = -matrix[:3, :3] @ np.array(self.eye)
        return matrix

    def projection(self, aspect: float) -> NDArray[np.float64]:
        """Return the matrix from eye space to clip space, in which depth goes from -1 to 1.

        Parameters
        ----------
        aspect : float
            Width of the picture by its height.

        Returns
        -------
        (4, 4) float64 ndarray
            The matrix, for column vectors.

        Raises
        ------
        ValueError
            If the aspect is not a number above 0.
        """
        between("aspect", aspect, *_ASPECTS)
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
    """From which side, and how tightly, a camera frames points: the arguments of `Camera.frame`."""

    up: str = "+Y"
    azimuth: float = 30.0
    elevation: float = 12.0
    fov: float = 30.0
    aspect: float = 4 / 3
    margin: float = 0.06

    def __post_init__(self) -> None:
        _axes(self.up)
        check_fov(self.fov)
        finite("azimuth", self.azimuth)
        between("aspect", self.aspect, *_ASPECTS)
        between("elevation", self.elevation, -90.0, 90.0, " degrees")
        between("margin", self.margin, 0.0, 0.4)

    def directions(self) -> NDArray[np.float64]:
        """(5, 3) float64: the camera depends only on the points that lie farthest along these directions.

        They are the normals of the picture's four sides (left, right, bottom, top), and the direction to the
        eye.
        A point at depth `z` towards the eye and `x` across is inside when |x - shift| <= (distance - z) * t,
        t being the tangent of half the angle: shift + distance * t >= x + z * t, and likewise with -x.
        """
        right, upward, back = _view_axes(self.up, self.azimuth, self.elevation)
        wide, high = self._tangents()
        return np.stack(
            [back * wide - right, back * wide + right, back * high - upward, back * high + upward, back]
        )

    def farthest(self, points: NDArray[np.float32]) -> NDArray[np.float64]:
        """The points (5, 3) of (N, 3) that the camera depends on; the origin if there are no points."""
        if not len(points):
            return np.zeros((1, 3))
        directions = self.directions().astype(np.float32)
        farthest: NDArray[np.intp] = (points @ directions.T).argmax(axis=0)
        return points[farthest].astype(np.float64)

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
            distance * _NEAR_RATIO,
            distance + radius * _FAR_RADII,
        )

    def _tangents(self) -> tuple[float, float]:
        """Tangents of half the angle that may be filled, across and upwards."""
        high = math.tan(math.radians(self.fov) / 2) * (1 - 2 * self.margin)
        return high * self.aspect, high


def _vector(name: str, value: ArrayLike) -> tuple[float, float, float]:
    try:
        array = floats(name, value, (3,), np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {brief(value)}; expected 3 finite numbers") from None
    if np.abs(array).max() > _MAX_COORDINATE:
        raise ValueError(f"{name} is {brief(value)}; expected numbers of at most {_MAX_COORDINATE:g}")
    return float(array[0]), float(array[1]), float(array[2])


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return unit


def check_fov(fov: float) -> None:
    """TypeError or ValueError unless it is an angle that a picture can show."""
    between("fov", fov, 1.0, 170.0, " degrees")


def moved_box(box: NDArray[np.float64], root: ArrayLike | None) -> NDArray[np.float64]:
    """The box around a box (2, 3) moved by a root transform (4, 4); an infinite box stays as it is."""
    if root is None or not np.isfinite(box).all():
        return box
    matrix = np.asarray(root, np.float64)
    moved = box_corners(box) @ matrix[:3, :3].T + matrix[:3, 3]
    return np.stack([moved.min(axis=0), moved.max(axis=0)])


def box_corners(bounds: ArrayLike) -> NDArray[np.float64]:
    """The 8 corners of a box, (8, 3); those of a unit box where the box is not finite."""
    box = numbers("bounds", bounds)
    check_shape("bounds", box, (2, 3))
    if not np.isfinite(box).all():
        box = np.array([[-0.5] * 3, [0.5] * 3])
    return np.stack(np.meshgrid(*box.T, indexing="ij"), axis=-1).reshape(-1, 3)


def _view_axes(
    up: str, azimuth: float, elevation: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Right, up and back of a camera that is moved around the front by the two angles (degrees)."""
    upward, front = (np.array(axis, np.float64) for axis in _axes(up))
    side = np.cross(upward, front)
    around, rise = math.radians(azimuth), math.radians(elevation)
    level = math.cos(around) * front + math.sin(around) * side
    back = math.cos(rise) * level + math.sin(rise) * upward
    right = math.cos(around) * side - math.sin(around) * front
    return right, np.cross(back, right), back
