"""Rotations from one form into another, in batches: quaternion, matrix, Euler angles, axis and angle, 6-D.

Quaternions are x y z w, the middle of all conversions. (...) stands for any leading axes, also none; results
are float64. Conventions are SciPy's (`scipy.spatial.transform.Rotation`) where it has the form. Matrices are
for column vectors. Angles are radians unless degrees=True. docs/rotations.md has examples.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ._arguments import check_finite, flag, numbers
from ._types import Array
from .clips import evaluate
from .posing import kinematics

__all__ = [
    "normalize",
    "multiply",
    "inverse",
    "apply",
    "slerp",
    "from_matrix",
    "to_matrix",
    "from_euler",
    "to_euler",
    "from_rotvec",
    "to_rotvec",
    "from_axis_angle",
    "to_axis_angle",
    "from_6d",
    "to_6d",
]

_LOCKED = 1e-7  # radians: so near to a gimbal lock the third Euler angle counts as 0, as in SciPy
_FLAT = 1e-9  # sine of the angle under which two directions count as parallel


def _given(name: str, value: npt.ArrayLike, *shape: int) -> Array:
    """Finite float64 (...) + shape."""
    array = numbers(name, value)
    if array.shape[array.ndim - len(shape) :] != shape or array.ndim < len(shape):
        raise ValueError(f"{name} has shape {array.shape}; expected (..., {', '.join(map(str, shape))})")
    check_finite(name, array)
    return array


def _unit(name: str, value: npt.ArrayLike, width: int) -> Array:
    """Rows (..., width) of length 1; ValueError for one of length 0."""
    rows = _given(name, value, width)
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    if not largest.all():
        raise ValueError(f"{name} holds a row of zeros, which has no direction")
    return evaluate.unit(rows / largest)  # so that no square is too large or too small


def _canonical(quaternion: Array) -> Array:
    """Of q and -q that with w > 0, or where w is 0, whose first number that is not 0 is positive."""
    order = quaternion[..., [3, 0, 1, 2]]
    first = np.take_along_axis(order, (order != 0).argmax(axis=-1)[..., None], axis=-1)
    return np.where(first < 0, -quaternion, quaternion) + 0.0


def _radians(angle: Array, degrees: bool) -> Array:
    return np.radians(angle) if flag("degrees", degrees) else angle


def _shown(angle: Array, degrees: bool) -> Array:
    return np.degrees(angle) if flag("degrees", degrees) else angle


# ---- quaternions -----------------------------------------------------------------------------------------


def normalize(quaternion: npt.ArrayLike, *, canonical: bool = False) -> Array:
    """(...,4) of length 1. canonical=True takes, of q and -q, the one with w >= 0.

    Raises ValueError for rows of zeros, a wrong shape and numbers that are not finite; TypeError for what
    holds no numbers. So do all functions here.
    """
    unit = _unit("quaternion", quaternion, 4)
    return _canonical(unit) if flag("canonical", canonical) else unit


def multiply(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """(...,4): the rotation `second` and then `first`, as matrices multiply. Leading axes broadcast."""
    a, b = _unit("first", first, 4), _unit("second", second, 4)
    return kinematics.quaternion_product(*_together("first", a, "second", b))


def inverse(quaternion: npt.ArrayLike) -> Array:
    """(...,4): the rotation back."""
    return np.asarray(_unit("quaternion", quaternion, 4) * np.array([-1.0, -1.0, -1.0, 1.0]) + 0.0)


def apply(quaternion: npt.ArrayLike, vector: npt.ArrayLike) -> Array:
    """(...,3): vectors (...,3), turned. Leading axes broadcast."""
    q, v = _unit("quaternion", quaternion, 4), _given("vector", vector, 3)
    return kinematics.rotated(*_together("quaternion", q, "vector", v))


def slerp(start: npt.ArrayLike, end: npt.ArrayLike, share: npt.ArrayLike) -> Array:
    """(...,4): `share` (...) of the way from start (...,4) to end (...,4), on the shorter arc.

    0 is start and 1 is end, or its negative. Leading axes broadcast.
    """
    a, b = _together("start", _unit("start", start, 4), "end", _unit("end", end, 4))
    a, column = _together("start", a, "share", _given("share", share)[..., None])
    return evaluate.slerp(a, np.broadcast_to(b, a.shape), column[..., 0])


def _together(first: str, a: Array, second: str, b: Array) -> tuple[Array, Array]:
    """Both with the same leading axes."""
    try:
        lead = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    except ValueError:
        raise ValueError(
            f"{first} has leading axes {a.shape[:-1]}, {second} {b.shape[:-1]}; expected such that broadcast"
        ) from None
    return np.broadcast_to(a, (*lead, a.shape[-1])), np.broadcast_to(b, (*lead, b.shape[-1]))


# ---- matrices --------------------------------------------------------------------------------------------


def to_matrix(quaternion: npt.ArrayLike) -> Array:
    """(...,3,3) of quaternions (...,4), for column vectors: `m @ v`."""
    q = _unit("quaternion", quaternion, 4)
    rows = np.ones((*q.shape[:-1], 3))
    return evaluate.trs(0.0 * rows, q, rows)[..., :3, :3]


def from_matrix(matrix: npt.ArrayLike) -> Array:
    """(...,4) with w >= 0, of matrices (...,3,3): of the rotation nearest to each, if it is none itself.

    Nearest by the sum of squares (polar decomposition): an even scale does not matter. Raises ValueError
    where the determinant is not positive: a mirror, or a matrix that is flat.
    """
    given = _given("matrix", matrix, 3, 3)
    left, sizes, right = np.linalg.svd(given)
    if not (np.linalg.det(left) * np.linalg.det(right) > 0).all() or not (sizes[..., 2] > 0).all():
        raise ValueError("matrix holds one whose determinant is not positive; expected rotations")
    return _from_rotation(left @ right)


def _from_rotation(m: Array) -> Array:
    """Quaternions of rotation matrices. 4 q q^T is linear in m; its row with the largest diagonal is q."""
    table = np.empty((*m.shape[:-2], 4, 4))
    diagonal = np.diagonal(m, axis1=-2, axis2=-1)
    trace = diagonal.sum(axis=-1)
    table[..., 3, 3] = 1.0 + trace
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        table[..., i, i] = 1.0 + 2.0 * diagonal[..., i] - trace
        table[..., i, j] = table[..., j, i] = m[..., j, i] + m[..., i, j]
        table[..., i, 3] = table[..., 3, i] = m[..., k, j] - m[..., j, k]
    largest = np.diagonal(table, axis1=-2, axis2=-1).argmax(axis=-1)
    rows = np.take_along_axis(table, largest[..., None, None], axis=-2)[..., 0, :]
    return _canonical(evaluate.unit(rows))


# ---- Euler angles ----------------------------------------------------------------------------------------


def _axes(order: str, counts: tuple[int, ...]) -> tuple[list[int], bool]:
    """Numbers of the axes, and whether they are the scene's (extrinsic)."""
    if not isinstance(order, str):
        raise TypeError(f"order is {order!r}; expected a str such as 'xyz' or 'XYZ'")
    extrinsic = order == order.lower()
    axes = ["xyz".find(letter) for letter in order.lower()]
    if not (extrinsic or order == order.upper()) or -1 in axes or len(axes) not in counts:
        wanted = "three" if counts == (3,) else "one to three"
        raise ValueError(f"order is {order!r}; expected {wanted} of x, y, z, or of X, Y, Z")
    if any(a == b for a, b in pairwise(axes)):
        raise ValueError(f"order is {order!r}; expected neighbors that differ")
    return axes, extrinsic


def from_euler(order: str, angles: npt.ArrayLike, degrees: bool = False) -> Array:
    """(...,4) of angles (...,n) about the n axes that order names; for one axis also a number.

    Lower case ("xyz") is extrinsic: turns about the axes of the scene, one after another. Upper case ("XYZ")
    is intrinsic: each turn about an axis that the turns before have turned. "xyz" with a, b, c is "ZYX" with
    c, b, a.
    """
    axes, extrinsic = _axes(order, (1, 2, 3))
    given = numbers("angles", angles)
    if len(axes) == 1 and given.ndim == 0:
        given = given[None]
    half = _radians(_given("angles", given, len(axes)), degrees) / 2.0
    result = np.zeros((*half.shape[:-1], 4))
    result[..., 3] = 1.0
    for place, axis in enumerate(axes):
        turn = np.zeros_like(result)
        turn[..., axis], turn[..., 3] = np.sin(half[..., place]), np.cos(half[..., place])
        pair = (turn, result) if extrinsic else (result, turn)
        result = kinematics.quaternion_product(*pair)
    return result


def to_euler(quaternion: npt.ArrayLike, order: str, degrees: bool = False) -> Array:
    """(...,3) angles of quaternions (...,4) about the three axes that order names, as in `from_euler`.

    The first and third are from -180 to 180 degrees, the second from -90 to 90, or from 0 to 180 where the
    first and the third axis are the same. In a gimbal lock, where only their sum or difference counts, the
    third is 0. (Bernardes and Viollet, Quaternion to Euler angles conversion, 2022.)
    """
    axes, extrinsic = _axes(order, (3,))
    q = _unit("quaternion", quaternion, 4)
    i, j, k = axes if extrinsic else axes[::-1]  # intrinsic turns are the extrinsic ones backward
    proper = i == k
    if proper:
        k = 3 - i - j
    sign = float((i - j) * (j - k) * (k - i) // 2)  # of the permutation
    a, b, c, d = q[..., 3], q[..., i], q[..., j], sign * q[..., k]
    if not proper:  # as if the middle angle were a right angle larger
        a, b, c, d = a - c, b + d, c + a, d - b
    middle = 2.0 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    start, end = half_sum - half_difference, half_sum + half_difference
    if not extrinsic:
        start, end = end, start
    level, over = middle <= _LOCKED, middle >= np.pi - _LOCKED
    turned = 2.0 * half_difference * (-1.0 if extrinsic else 1.0)
    start = np.where(level, 2.0 * half_sum, np.where(over, turned, start))
    end = np.where(level | over, 0.0, end)
    if not proper:
        middle = middle - np.pi / 2.0
        start, end = (start, sign * end) if extrinsic else (sign * start, end)
    found = np.stack([start, middle, end], axis=-1)
    return _shown(np.where(np.abs(found) > np.pi, found - 2.0 * np.pi * np.sign(found), found), degrees)


# ---- axis and angle --------------------------------------------------------------------------------------


def from_rotvec(rotvec: npt.ArrayLike, degrees: bool = False) -> Array:
    """(...,4) of rotation vectors (...,3): the direction is the axis, the length the angle."""
    half = _radians(_given("rotvec", rotvec, 3), degrees) / 2.0
    angle = np.linalg.norm(half, axis=-1, keepdims=True)
    return np.concatenate([half * np.sinc(angle / np.pi), np.cos(angle)], axis=-1)


def to_rotvec(quaternion: npt.ArrayLike, degrees: bool = False) -> Array:
    """(...,3) rotation vectors of quaternions (...,4); their length is at most half a turn."""
    q = _canonical(_unit("quaternion", quaternion, 4))
    sine = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., 3:])
    ratio = np.where(sine > 0, angle / np.where(sine > 0, sine, 1.0), 2.0)
    return _shown(q[..., :3] * ratio, degrees)


def from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike, degrees: bool = False) -> Array:
    """(...,4): right-handed turns by angle (...) about axis (...,3), which has any length but 0.

    Leading axes broadcast.
    """
    directions, angles = _unit("axis", axis, 3), _radians(_given("angle", angle), degrees)
    directions, column = _together("axis", directions, "angle", angles[..., None])
    return np.concatenate([directions * np.sin(column / 2.0), np.cos(column / 2.0)], axis=-1)


def to_axis_angle(quaternion: npt.ArrayLike, degrees: bool = False) -> tuple[Array, Array]:
    """Axes (...,3) of length 1 and angles (...), from 0 to half a turn, of quaternions (...,4).

    Where nothing turns the axis is x.
    """
    vector = to_rotvec(quaternion)
    angle = np.linalg.norm(vector, axis=-1)
    still = angle[..., None] == 0
    axis = np.where(still, np.array([1.0, 0.0, 0.0]), vector / np.where(still, 1.0, angle[..., None]))
    return axis, _shown(angle, degrees)


# ---- 6-D -------------------------------------------------------------------------------------------------


def to_6d(quaternion: npt.ArrayLike) -> Array:
    """(...,6) of quaternions (...,4): the first column of the matrix, then the second.

    A form without jumps, for networks (Zhou et al., On the continuity of rotation representations, 2019).
    PyTorch3D takes the first two rows: those are the columns of the inverse.
    """
    matrix = to_matrix(quaternion)
    return np.concatenate([matrix[..., 0], matrix[..., 1]], axis=-1)


def from_6d(six: npt.ArrayLike) -> Array:
    """(...,4) with w >= 0, of (...,6): two columns, made orthonormal by Gram and Schmidt from the first on.

    Raises ValueError where one of them is 0 or they are parallel.
    """
    given = _given("six", six, 6)
    first, second = _unit("six", given[..., :3], 3), _unit("six", given[..., 3:], 3)
    rest = second - (first * second).sum(axis=-1, keepdims=True) * first
    if not (np.linalg.norm(rest, axis=-1) > _FLAT).all():
        raise ValueError("six holds two vectors that are parallel; expected two directions")
    second = evaluate.unit(rest)
    return _from_rotation(np.stack([first, second, np.cross(first, second)], axis=-1))
