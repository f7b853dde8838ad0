"""Forward kinematics: what Pose.set, Pose.rotate and Pose.translate do to the arrays of a pose.

Quaternions are x y z w. The arithmetic is float64, and results are stored as float32.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from .._arguments import brief, check_finite, integer, numbers, one_of
from .._types import Array
from ..errors import unknown_name

if TYPE_CHECKING:
    from ..model import Model
    from ..pose import Pose

JointLike: TypeAlias = str | SupportsIndex
Space: TypeAlias = Literal["local", "parent"]
AxisLike: TypeAlias = str | Sequence[float] | Array

_AXES = {
    sign + letter: np.array(vector) * (-1.0 if sign == "-" else 1.0)
    for sign in ("", "+", "-")
    for letter, vector in zip("xyz", np.eye(3), strict=True)
}


def set_components(
    pose: "Pose",
    joint: JointLike,
    translation: npt.ArrayLike | None,
    rotation: npt.ArrayLike | None,
    scale: npt.ArrayLike | None,
) -> None:
    """See Pose.set. All arguments are checked before anything is written."""
    number = joint_number(pose, joint)
    lead = pose.translation.shape[:-2]
    changes: list[tuple[Array, Array]] = []
    if translation is not None:
        changes.append((pose.translation, rows("translation", translation, lead, 3)))
    if rotation is not None:
        changes.append((pose.rotation, _unit("rotation", rows("rotation", rotation, lead, 4))))
    if scale is not None:
        given = numbers("scale", scale)
        even = np.full(3, given) if given.ndim == 0 else given
        changes.append((pose.scale, rows("scale", even, lead, 3)))
    for target, values in changes:
        target[..., number, :] = values


def rotate(
    pose: "Pose",
    joint: JointLike,
    rotation: npt.ArrayLike | None,
    degrees: npt.ArrayLike | None,
    radians: npt.ArrayLike | None,
    axis: AxisLike | None,
    space: Space,
) -> None:
    """See Pose.rotate."""
    number = joint_number(pose, joint)
    lead = pose.rotation.shape[:-2]
    change = _rotation_change(rotation, degrees, radians, axis, lead)
    _check_space(space)
    before = pose.rotation[..., number, :].astype(np.float64)
    after = quaternion_product(before, change) if space == "local" else quaternion_product(change, before)
    pose.rotation[..., number, :] = after


def translate(pose: "Pose", joint: JointLike, vector: npt.ArrayLike, space: Space) -> None:
    """See Pose.translate."""
    number = joint_number(pose, joint)
    offset = rows("vector", vector, pose.translation.shape[:-2], 3)
    _check_space(space)
    if space == "local":
        offset = rotated(_unit("rotation of the joint", pose.rotation[..., number, :]), offset)
    pose.translation[..., number, :] += offset


# ---- arguments ------------------------------------------------------------------------------------


def joint_number(pose: "Pose", joint: JointLike, argument: str = "joint") -> int:
    """Index of a joint given by name (KeyError) or by number, from -J to J-1 (IndexError)."""
    if isinstance(joint, str):
        names = pose.model.skeleton.names
        if joint not in names:
            raise unknown_name("joint", joint, names, argument)
        return pose.model.skeleton.index(joint)
    number = integer(argument, joint, "a name or an index")
    count = pose.translation.shape[-2]
    if not -count <= number < count:
        there = f"the skeleton has {count} joints"
        raise IndexError(f"{argument} is {brief(number)}; {there}; expected {-count} to {count - 1}")
    return number + count if number < 0 else number


def rows(name: str, value: npt.ArrayLike, lead: tuple[int, ...], width: int) -> Array:
    """Finite float64 numbers of shape (width,) up to (...,width); `lead` are the leading axes of the pose."""
    array = numbers(name, value)
    if array.ndim < 1 or array.shape[-1] != width or not fits(array.shape[:-1], lead):
        other = f" or {(*lead, width)}" if lead else ""
        raise ValueError(f"{name} has shape {array.shape}; expected {(width,)}{other}")
    check_finite(name, array)
    return array


def fits(shape: tuple[int, ...], lead: tuple[int, ...]) -> bool:
    """Whether an array of this shape broadcasts to the leading axes of the pose without adding to them."""
    try:
        return np.broadcast_shapes(shape, lead) == lead
    except ValueError:
        return False


def _rotation_change(
    rotation: npt.ArrayLike | None,
    degrees: npt.ArrayLike | None,
    radians: npt.ArrayLike | None,
    axis: AxisLike | None,
    lead: tuple[int, ...],
) -> Array:
    """The unit quaternion (...,4) that the arguments of Pose.rotate stand for."""
    forms = {"rotation": rotation, "degrees": degrees, "radians": radians}
    given = [name for name, value in forms.items() if value is not None]
    if len(given) != 1:
        came = " and ".join(given) or "none"
        raise TypeError(f"expected exactly one of rotation, degrees and radians; {came} came")
    if rotation is not None:
        if axis is not None:
            raise TypeError("axis is given with a rotation; expected it with degrees or radians only")
        return _unit("rotation", rows("rotation", rotation, lead, 4))
    if axis is None:
        raise TypeError(f'{given[0]} is given without axis; expected "x", "y", "z" or a vector for axis')
    angle = numbers(given[0], degrees if radians is None else radians)  # type: ignore[arg-type]
    if not fits(angle.shape, lead):
        other = f" or an array of shape {lead}" if lead else ""
        raise ValueError(f"{given[0]} has shape {angle.shape}; expected a number{other}")
    check_finite(given[0], angle)
    half = (np.deg2rad(angle) if radians is None else angle) / 2
    sine = np.sin(half)[..., None] * axis_vector(axis, lead)
    cosine = np.broadcast_to(np.cos(half)[..., None], (*sine.shape[:-1], 1))
    return np.concatenate([sine, cosine], axis=-1)


def axis_vector(axis: AxisLike, lead: tuple[int, ...], name: str = "axis") -> Array:
    """The unit vector (3,) or (...,3) of an axis that is named or given; `name` is the argument."""
    if isinstance(axis, str):
        try:
            return _AXES[axis.lower()]
        except KeyError:
            raise ValueError(
                f'{name} is {brief(axis)}; expected "x", "y", "z", "-x", "-y", "-z" or a vector'
            ) from None
    return _unit(name, rows(name, axis, lead, 3))


def up_vector(model: "Model") -> Array:
    """(3,) float64: the unit vector of the axis that Model.up names."""
    return _AXES[model.up.lower()].copy()


def _unit(name: str, rows: Array) -> Array:
    """Rows of length 1 in float64; ValueError if a row has length 0."""
    wide = rows.astype(np.float64)
    length = np.linalg.norm(wide, axis=-1, keepdims=True)
    if not np.isfinite(length).all():  # the squares of large numbers
        wide = wide / np.abs(wide).max(axis=-1, keepdims=True)
        length = np.linalg.norm(wide, axis=-1, keepdims=True)
    if (length == 0).any():
        raise ValueError(f"{name} has length 0; expected a length above 0")
    return np.asarray(wide / length)


def _check_space(space: str) -> None:
    """TypeError or ValueError unless the space is known."""
    one_of("space", space, ("local", "parent"))


# ---- quaternions ----------------------------------------------------------------------------------


#: For each of x, y and z the next axis in the cycle, and the one after that.
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def quaternion_product(a: Array, b: Array) -> Array:
    """Hamilton's product a * b of quaternions (...,4): the rotation b, then a."""
    vector = a[..., 3:] * b[..., :3] + b[..., 3:] * a[..., :3] + _cross(a[..., :3], b[..., :3])
    real = a[..., 3:] * b[..., 3:] - (a[..., :3] * b[..., :3]).sum(axis=-1, keepdims=True)
    return np.concatenate([vector, real], axis=-1)


def conjugate(rotation: Array) -> Array:
    """The inverses of unit quaternions (...,4)."""
    return np.asarray(rotation * (-1.0, -1.0, -1.0, 1.0))


def rotated(rotation: Array, vector: Array) -> Array:
    """Vectors (...,3) rotated by unit quaternions (...,4), (u, w): v + 2 u x (u x v + w v)."""
    u, w = rotation[..., :3], rotation[..., 3:]
    return np.asarray(vector + 2 * _cross(u, _cross(u, vector) + w * vector))


def _cross(a: Array, b: Array) -> Array:
    """The cross product of vectors (...,3), equal to the bit to np.cross, which is slow for few vectors."""
    return np.asarray(a.take(_NEXT, -1) * b.take(_LAST, -1) - a.take(_LAST, -1) * b.take(_NEXT, -1))
