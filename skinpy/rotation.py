"""Conversions of rotations in batches: quaternions, matrices, Euler angles, axes with angles, 6-D vectors.

Every conversion goes through quaternions, which are x y z w. (...) stands for any leading axes, also for
none, and results are float64. Conventions are those of ``scipy.spatial.transform.Rotation`` for the forms
that SciPy has. Matrices are for column vectors. Angles are in radians unless ``degrees=True``.
docs/rotations.md has examples.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ._arguments import brief, check_finite, flag, numbers
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

#: Radians. Nearer than this to a gimbal lock the third Euler angle is set to 0, as in SciPy.
_GIMBAL_LOCK_ANGLE = 1e-7
#: Beyond this the digits of a share no longer tell where on the circle it ends.
_MAX_SHARE = 1e6
#: Two directions are parallel if the sine of the angle between them is at most this.
_PARALLEL_SINE = 1e-9


def _given(name: str, value: npt.ArrayLike, *shape: int) -> Array:
    """The argument as finite float64 numbers of shape (...) + `shape`."""
    array = numbers(name, value)
    if array.shape[array.ndim - len(shape) :] != shape or array.ndim < len(shape):
        raise ValueError(f"{name} has shape {array.shape}; expected (..., {', '.join(map(str, shape))})")
    check_finite(name, array)
    return array


def _unit(name: str, value: npt.ArrayLike, width: int) -> Array:
    """The argument as rows (..., width) of length 1; ValueError if a row has length 0."""
    rows = _given(name, value, width)
    if not rows.any(axis=-1).all():
        raise ValueError(f"{name} holds a row of zeros, which has no direction")
    return _split(rows)[1]


def _split(rows: Array) -> tuple[Array, Array]:
    """The lengths (..., 1) of rows (..., n), and rows of length 1, of zeros where the length is 0.

    The largest number of each row becomes 1 first, so that no square overflows or underflows.
    """
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    near = rows / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(near, axis=-1, keepdims=True)
    with np.errstate(over="ignore"):  # a length beyond float64, which nobody asks for
        return largest * length, near / np.where(length > 0, length, 1.0)


def _canonical(quaternion: Array) -> Array:
    """The one of q and -q whose w is positive or, if w is 0, whose first nonzero number is positive."""
    wxyz = quaternion[..., [3, 0, 1, 2]]
    first = np.take_along_axis(wxyz, (wxyz != 0).argmax(axis=-1)[..., None], axis=-1)
    return np.where(first < 0, -quaternion, quaternion) + 0.0


def _radians(angle: Array, degrees: bool) -> Array:
    """An angle that came from the caller, in radians."""
    return np.radians(angle) if flag("degrees", degrees) else angle


def _in_unit_of_caller(angle: Array, degrees: bool) -> Array:
    """An angle in radians, converted to what the caller asked for."""
    return np.degrees(angle) if flag("degrees", degrees) else angle


# ---- quaternions -----------------------------------------------------------------------------------------


def normalize(quaternion: npt.ArrayLike, *, canonical: bool = False) -> Array:
    """Return quaternions of length 1.

    Parameters
    ----------
    quaternion : array_like, shape (..., 4), x y z w
        Quaternions of any length but 0.
    canonical : bool, default False
        Whether the result has ``w >= 0``: q and -q are the same rotation.

    Returns
    -------
    (..., 4) float64 ndarray
        The quaternions divided by their lengths.

    Raises
    ------
    ValueError
        If a quaternion has length 0, the shape is wrong, or a number is not finite.
    TypeError
        If `quaternion` does not hold real numbers or `canonical` is not a bool.

    Examples
    --------
    >>> skinpy.rotation.normalize([0, 0, 3, -4], canonical=True)
    array([ 0. ,  0. , -0.6,  0.8])
    """
    unit = _unit("quaternion", quaternion, 4)
    return _canonical(unit) if flag("canonical", canonical) else unit


def multiply(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """Return the rotation that rotates by `second` and then by `first`, as matrices multiply.

    Parameters
    ----------
    first, second : array_like, shape (..., 4), x y z w
        Quaternions of any length but 0. Leading axes broadcast.

    Returns
    -------
    (..., 4) float64 ndarray
        Unit quaternions ``first * second``.

    Raises
    ------
    ValueError
        If a quaternion has length 0, a shape is wrong, leading axes do not broadcast, or a number is not
        finite.
    TypeError
        If an argument does not hold real numbers.
    """
    a, b = _unit("first", first, 4), _unit("second", second, 4)
    return kinematics.quaternion_product(*_together("first", a, "second", b))


def inverse(quaternion: npt.ArrayLike) -> Array:
    """Return the rotation that undoes each rotation.

    Parameters
    ----------
    quaternion : array_like, shape (..., 4), x y z w
        Quaternions of any length but 0.

    Returns
    -------
    (..., 4) float64 ndarray
        Unit quaternions: the conjugates.

    Raises
    ------
    ValueError
        If a quaternion has length 0, the shape is wrong, or a number is not finite.
    TypeError
        If an argument does not hold real numbers.
    """
    return np.asarray(_unit("quaternion", quaternion, 4) * np.array([-1.0, -1.0, -1.0, 1.0]) + 0.0)


def apply(quaternion: npt.ArrayLike, vector: npt.ArrayLike) -> Array:
    """Return rotated vectors.

    Parameters
    ----------
    quaternion : array_like, shape (..., 4), x y z w
        Rotations, as quaternions of any length but 0. Leading axes broadcast.
    vector : array_like, shape (..., 3)
        The vectors to rotate.

    Returns
    -------
    (..., 3) float64 ndarray
        The rotated vectors.

    Raises
    ------
    ValueError
        If a quaternion has length 0, a shape is wrong, leading axes do not broadcast, a number is not
        finite, or a rotated vector is beyond float64.
    TypeError
        If an argument does not hold real numbers.
    """
    q, v = _together("quaternion", _unit("quaternion", quaternion, 4), "vector", _given("vector", vector, 3))
    largest = np.abs(v).max(axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        rotated: Array = kinematics.rotated(q, v / np.where(largest > 0, largest, 1.0)) * largest
    if not np.isfinite(rotated).all():
        raise ValueError("vector holds a vector that is beyond float64 (1.8e308) when rotated")
    return rotated


def slerp(start: npt.ArrayLike, end: npt.ArrayLike, share: npt.ArrayLike) -> Array:
    """Return rotations between two rotations, on the shorter arc at constant angular speed.

    Parameters
    ----------
    start, end : array_like, shape (..., 4), x y z w
        Quaternions of any length but 0. Leading axes broadcast.
    share : array_like, shape (...)
        How far the result lies on the arc: 0 is `start` and 1 is `end`, or its negative. From -1e6 to 1e6:
        numbers outside 0 to 1 go on around the circle.

    Returns
    -------
    (..., 4) float64 ndarray
        Unit quaternions.

    Raises
    ------
    ValueError
        If a quaternion has length 0, a shape is wrong, leading axes do not broadcast, a number is not
        finite, or a share is beyond 1e6.
    TypeError
        If an argument does not hold real numbers.

    Examples
    --------
    >>> quarter = skinpy.rotation.from_euler("z", 90, degrees=True)
    >>> half_way = skinpy.rotation.slerp([0, 0, 0, 1], quarter, 0.5)
    >>> skinpy.rotation.to_euler(half_way, "xyz", degrees=True).round(6)
    array([ 0.,  0., 45.])
    """
    a, b = _together("start", _unit("start", start, 4), "end", _unit("end", end, 4))
    shares = _given("share", share)
    if shares.size and np.abs(shares).max() > _MAX_SHARE:
        raise ValueError(f"share holds {np.abs(shares).max():g}; expected numbers from -1e6 to 1e6")
    a, column = _together("start", a, "share", shares[..., None])
    return evaluate.slerp(a, np.broadcast_to(b, a.shape), column[..., 0])


def _together(first: str, a: Array, second: str, b: Array) -> tuple[Array, Array]:
    """Both arrays with the same leading axes; ValueError if these do not broadcast."""
    try:
        lead = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    except ValueError:
        raise ValueError(
            f"{first} has leading axes {a.shape[:-1]} and {second} has {b.shape[:-1]}; "
            "expected axes that broadcast"
        ) from None
    return np.broadcast_to(a, (*lead, a.shape[-1])), np.broadcast_to(b, (*lead, b.shape[-1]))


# ---- matrices --------------------------------------------------------------------------------------------


def to_matrix(quaternion: npt.ArrayLike) -> Array:
    """Return the rotation matrices of quaternions.

    Parameters
    ----------
    quaternion : array_like, shape (..., 4), x y z w
        Quaternions of any length but 0.

    Returns
    -------
    (..., 3, 3) float64 ndarray
        Matrices for column vectors: ``matrix @ vector``.

    Raises
    ------
    ValueError
        If a quaternion has length 0, the shape is wrong, or a number is not finite.
    TypeError
        If an argument does not hold real numbers.
    """
    q = _unit("quaternion", quaternion, 4)
    rows = np.ones((*q.shape[:-1], 3))
    return evaluate.trs(0.0 * rows, q, rows)[..., :3, :3]


def from_matrix(matrix: npt.ArrayLike) -> Array:
    """Return the quaternions of rotation matrices.

    Parameters
    ----------
    matrix : array_like, shape (..., 3, 3)
        Matrices for column vectors. A matrix that is not a rotation stands for the rotation that is nearest
        to it by the sum of squares (polar decomposition), so an even scale does not matter.

    Returns
    -------
    (..., 4) float64 ndarray, x y z w
        Unit quaternions with ``w >= 0``.

    Raises
    ------
    ValueError
        If a determinant is not positive (the matrix mirrors or is singular), the shape is wrong, or a number
        is not finite.
    TypeError
        If `matrix` does not hold real numbers.
    """
    given = _given("matrix", matrix, 3, 3)
    left, sizes, right = np.linalg.svd(given)
    if not (np.linalg.det(left) * np.linalg.det(right) > 0).all() or not (sizes[..., 2] > 0).all():
        raise ValueError("matrix holds a matrix whose determinant is not positive; expected rotations")
    return _from_rotation(left @ right)


def _from_rotation(m: Array) -> Array:
    """Quaternions of rotation matrices (...,3,3).

    The outer product 4 q q^T is linear in the numbers of the matrix, and each of its rows is a multiple of q.
    The row with the largest diagonal element is the longest and loses the fewest digits.
    """
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
    """Indices of the axes, and whether the rotations are about the axes of the scene (extrinsic).

    `counts` are the numbers of axes that are allowed.
    """
    if not isinstance(order, str):
        raise TypeError(f"order is {brief(order)}; expected a str such as 'xyz' or 'XYZ'")
    extrinsic = order == order.lower()
    axes = ["xyz".find(letter) for letter in order.lower()]
    if not (extrinsic or order == order.upper()) or -1 in axes or len(axes) not in counts:
        wanted = "three" if counts == (3,) else "one to three"
        raise ValueError(f"order is {brief(order)}; expected {wanted} of the letters x, y, z, or of X, Y, Z")
    if any(a == b for a, b in pairwise(axes)):
        raise ValueError(f"order is {brief(order)}; expected neighboring axes that differ")
    return axes, extrinsic


def from_euler(order: str, angles: npt.ArrayLike, degrees: bool = False) -> Array:
    """Return the quaternions of Euler angles.

    Parameters
    ----------
    order : str
        One to three axes. Lower case ("xyz") is extrinsic: the rotations follow one another about the axes
        of the scene. Upper case ("XYZ") is intrinsic: each rotation is about an axis that the rotations
        before it have moved. "xyz" with angles a, b, c is the same as "ZYX" with c, b, a.
    angles : array_like, shape (..., n)
        Angles about the n axes. For one axis a single number will do.
    degrees : bool, default False
        Whether the angles are in degrees; otherwise they are in radians.

    Returns
    -------
    (..., 4) float64 ndarray, x y z w
        Unit quaternions.

    Raises
    ------
    ValueError
        If `order` names other axes, an axis twice in a row or more than three, the shape of `angles` does
        not fit, or a number is not finite.
    TypeError
        If `order` is not a str, `angles` does not hold real numbers, or `degrees` is not a bool.

    Examples
    --------
    >>> skinpy.rotation.from_euler("y", 180, degrees=True).round(6)
    array([0., 1., 0., 0.])
    """
    axes, extrinsic = _axes(order, (1, 2, 3))
    given = numbers("angles", angles)
    if len(axes) == 1 and given.ndim == 0:
        given = given[None]
    if given.ndim and given.shape[-1] != len(axes):
        raise ValueError(
            f"angles has shape {given.shape}; expected (..., {len(axes)}), as order is {brief(order)}"
        )
    half = _radians(_given("angles", given, len(axes)), degrees) / 2.0
    result = np.zeros((*half.shape[:-1], 4))
    result[..., 3] = 1.0
    for number, axis in enumerate(axes):
        step = np.zeros_like(result)
        step[..., axis], step[..., 3] = np.sin(half[..., number]), np.cos(half[..., number])
        pair = (step, result) if extrinsic else (result, step)
        result = kinematics.quaternion_product(*pair)
    return result


def to_euler(quaternion: npt.ArrayLike, order: str, degrees: bool = False) -> Array:
    """Return the Euler angles of quaternions.

    Parameters
    ----------
    quaternion : array_like, shape (..., 4), x y z w
        Quaternions of any length but 0.
    order : str
        Three axes in lower case (extrinsic) or upper case (intrinsic), as in `from_euler`.
    degrees : bool, default False
        Whether the result is in degrees; otherwise it is in radians.

    Returns
    -------
    (..., 3) float64 ndarray
        The first and third angle are from -180 to 180 degrees. The second is from -90 to 90 or, if the first
        and third axis are the same, from 0 to 180.

    Raises
    ------
    ValueError
        If `order` is not three axes, a quaternion has length 0, the shape is wrong, or a number is not
        finite.
    TypeError
        If `order` is not a str, `quaternion` does not hold real numbers, or `degrees` is not a bool.

    Notes
    -----
    In a gimbal lock only the sum or the difference of the first and third angle is defined. The third angle
    is 0 there, as in SciPy. The method is from Bernardes and Viollet, "Quaternion to Euler angles conversion:
    a direct, general and computationally efficient method", PLOS ONE 17 (2022).
    """
    axes, extrinsic = _axes(order, (3,))
    q = _unit("quaternion", quaternion, 4)
    i, j, k = axes if extrinsic else axes[::-1]  # intrinsic rotations are extrinsic ones in reverse
    proper = i == k  # proper Euler angles; the others are Tait-Bryan angles
    if proper:
        k = 3 - i - j
    sign = float((i - j) * (j - k) * (k - i) // 2)  # the sign of the permutation of the axes
    a, b, c, d = q[..., 3], q[..., i], q[..., j], sign * q[..., k]
    if not proper:  # this makes the middle angle a right angle larger, which is taken back below
        a, b, c, d = a - c, b + d, c + a, d - b
    middle = 2.0 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    start, end = half_sum - half_difference, half_sum + half_difference
    if not extrinsic:
        start, end = end, start
    locked_at_0, locked_at_pi = middle <= _GIMBAL_LOCK_ANGLE, middle >= np.pi - _GIMBAL_LOCK_ANGLE
    difference = 2.0 * half_difference * (-1.0 if extrinsic else 1.0)
    start = np.where(locked_at_0, 2.0 * half_sum, np.where(locked_at_pi, difference, start))
    end = np.where(locked_at_0 | locked_at_pi, 0.0, end)
    if not proper:
        middle = middle - np.pi / 2.0
        start, end = (start, sign * end) if extrinsic else (sign * start, end)
    angles = np.stack([start, middle, end], axis=-1)
    wrapped = np.where(np.abs(angles) > np.pi, angles - 2.0 * np.pi * np.sign(angles), angles)
    return _in_unit_of_caller(wrapped, degrees)


# ---- axis and angle --------------------------------------------------------------------------------------


def from_rotvec(rotvec: npt.ArrayLike, degrees: bool = False) -> Array:
    """Return the quaternions of rotation vectors.

    Parameters
    ----------
    rotvec : array_like, shape (..., 3)
        Vectors whose direction is the axis and whose length is the angle.
    degrees : bool, default False
        Whether the lengths are in degrees; otherwise they are in radians.

    Returns
    -------
    (..., 4) float64 ndarray, x y z w
        Unit quaternions.

    Raises
    ------
    ValueError
        If the shape is wrong or a number is not finite.
    TypeError
        If an argument does not hold real numbers, or `degrees` is not a bool.
    """
    angle, axis = _split(_radians(_given("rotvec", rotvec, 3), degrees) / 2.0)
    return np.concatenate([axis * np.sin(angle), np.cos(angle)], axis=-1)


def to_rotvec(quaternion: npt.ArrayLike, degrees: bool = False) -> Array:
    """Return the rotation vectors of quaternions.

    Parameters
    ----------
    quaternion : array_like, shape (..., 4), x y z w
        Quaternions of any length but 0.
    degrees : bool, default False
        Whether the lengths of the result are in degrees; otherwise they are in radians.

    Returns
    -------
    (..., 3) float64 ndarray
        Vectors whose direction is the axis and whose length is the angle, at most 180 degrees.

    Raises
    ------
    ValueError
        If a quaternion has length 0, the shape is wrong, or a number is not finite.
    TypeError
        If an argument does not hold real numbers, or `degrees` is not a bool.
    """
    q = _canonical(_unit("quaternion", quaternion, 4))
    sine, axis = _split(q[..., :3])
    return _in_unit_of_caller(axis * (2.0 * np.arctan2(sine, q[..., 3:])), degrees)


def from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike, degrees: bool = False) -> Array:
    """Return the quaternions of right-handed rotations about axes.

    Parameters
    ----------
    axis : array_like, shape (..., 3)
        Axes of any length but 0. Leading axes broadcast.
    angle : array_like, shape (...)
        Angles about the axes.
    degrees : bool, default False
        Whether the angles are in degrees; otherwise they are in radians.

    Returns
    -------
    (..., 4) float64 ndarray, x y z w
        Unit quaternions.

    Raises
    ------
    ValueError
        If an axis has length 0, a shape is wrong, leading axes do not broadcast, or a number is not
        finite.
    TypeError
        If an argument does not hold real numbers, or `degrees` is not a bool.
    """
    directions, angles = _unit("axis", axis, 3), _radians(_given("angle", angle), degrees)
    directions, column = _together("axis", directions, "angle", angles[..., None])
    return np.concatenate([directions * np.sin(column / 2.0), np.cos(column / 2.0)], axis=-1)


def to_axis_angle(quaternion: npt.ArrayLike, degrees: bool = False) -> tuple[Array, Array]:
    """Return the axes and angles of quaternions.

    Parameters
    ----------
    quaternion : array_like, shape (..., 4), x y z w
        Quaternions of any length but 0.
    degrees : bool, default False
        Whether the angles are in degrees; otherwise they are in radians.

    Returns
    -------
    axis : (..., 3) float64 ndarray
        Axes of length 1. The axis of a rotation by 0 is x.
    angle : (...) float64 ndarray
        Angles from 0 to 180 degrees.

    Raises
    ------
    ValueError
        If a quaternion has length 0, the shape is wrong, or a number is not finite.
    TypeError
        If an argument does not hold real numbers, or `degrees` is not a bool.
    """
    angle, axis = _split(to_rotvec(quaternion))
    axis = np.where(angle == 0, np.array([1.0, 0.0, 0.0]), axis)
    return axis, _in_unit_of_caller(angle[..., 0], degrees)


# ---- 6-D -------------------------------------------------------------------------------------------------


def to_6d(quaternion: npt.ArrayLike) -> Array:
    """Return the 6-D form of quaternions: the first column of the rotation matrix, then the second.

    This form is continuous, which helps networks learn rotations.

    Parameters
    ----------
    quaternion : array_like, shape (..., 4), x y z w
        Quaternions of any length but 0.

    Returns
    -------
    (..., 6) float64 ndarray
        Two orthogonal columns of length 1 each.

    Raises
    ------
    ValueError
        If a quaternion has length 0, the shape is wrong, or a number is not finite.
    TypeError
        If an argument does not hold real numbers.

    Notes
    -----
    The form is from Zhou et al., "On the continuity of rotation representations in neural networks", CVPR
    2019. PyTorch3D takes the first two rows of the matrix, which are the columns of the inverse rotation.
    """
    matrix = to_matrix(quaternion)
    return np.concatenate([matrix[..., 0], matrix[..., 1]], axis=-1)


def from_6d(six: npt.ArrayLike) -> Array:
    """Return the quaternions of 6-D forms.

    Parameters
    ----------
    six : array_like, shape (..., 6)
        The first two columns of rotation matrices. Columns that are not orthonormal are made so by the
        method of Gram and Schmidt; the first keeps its direction.

    Returns
    -------
    (..., 4) float64 ndarray, x y z w
        Unit quaternions with ``w >= 0``.

    Raises
    ------
    ValueError
        If a column is 0, both are parallel, the shape is wrong, or a number is not finite.
    TypeError
        If `six` does not hold real numbers.
    """
    given = _given("six", six, 6)
    first, second = _unit("six", given[..., :3], 3), _unit("six", given[..., 3:], 3)
    rest = second - (first * second).sum(axis=-1, keepdims=True) * first
    if not (np.linalg.norm(rest, axis=-1) > _PARALLEL_SINE).all():
        raise ValueError("six holds two vectors that are parallel; expected two directions")
    second = evaluate.unit(rest)
    return _from_rotation(np.stack([first, second, np.cross(first, second)], axis=-1))
