"""Inverse kinematics: the arguments of Pose.two_bone_ik, aim, fabrik and attach.

csrc/core/pose/sk_goal.c solves; this module checks what the caller gave and judges what the solver reached.
"""

from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments import check_finite, finite, numbers, whole
from .._types import Array, Floats
from .kinematics import AxisLike, JointLike, axis_vector, fits, joint_number, rows

if TYPE_CHECKING:
    from ..pose import Pose

#: A limb has reached its target if it misses by at most this fraction of its length.
MAX_MISS = 1e-4
#: The core counts iterations in int32.
_MAX_ITERATIONS = 2**31 - 1


def two_bone_ik(
    pose: "Pose",
    end: JointLike,
    target: npt.ArrayLike,
    middle: JointLike | None,
    root: JointLike | None,
    pole: npt.ArrayLike | None,
    weight: npt.ArrayLike,
    soften: float,
) -> npt.NDArray[np.bool_]:
    """See Pose.two_bone_ik."""
    last = joint_number(pose, end, "end")
    between = _parent(pose, last, "end") if middle is None else joint_number(pose, middle, "middle")
    first = _parent(pose, between, "middle") if root is None else joint_number(pose, root, "root")
    _check_ancestor(pose, "middle", between, "end", last)
    _check_ancestor(pose, "root", first, "middle", between)
    misses = _core._two_bone(
        pose,
        (first, between, last),
        _points(pose, "target", target),
        None if pole is None else _points(pose, "pole", pole),
        _weights(pose, weight),
        finite("soften", soften),
    )
    return np.asarray(misses <= MAX_MISS)


def aim(
    pose: "Pose",
    joint: JointLike,
    target: npt.ArrayLike,
    axis: AxisLike,
    up: AxisLike,
    pole: npt.ArrayLike | None,
    weight: npt.ArrayLike,
) -> npt.NDArray[np.bool_]:
    """See Pose.aim."""
    misses = _core._aim(
        pose,
        joint_number(pose, joint),
        _points(pose, "target", target),
        None if pole is None else _points(pose, "pole", pole),
        _weights(pose, weight),
        axis_vector(axis, ()),
        axis_vector(up, (), "up"),
    )
    return np.asarray(misses == 0)


def fabrik(
    pose: "Pose",
    end: JointLike,
    target: npt.ArrayLike,
    root: JointLike,
    iterations: SupportsIndex,
    tolerance: float,
    weight: npt.ArrayLike,
) -> npt.NDArray[np.bool_]:
    """See Pose.fabrik."""
    last, first = joint_number(pose, end, "end"), joint_number(pose, root, "root")
    _check_ancestor(pose, "root", first, "end", last)
    misses = _core._fabrik(
        pose,
        first,
        last,
        _points(pose, "target", target),
        _weights(pose, weight),
        min(whole("iterations", iterations, 1), _MAX_ITERATIONS),
        finite("tolerance", tolerance),
    )
    return np.asarray(misses <= tolerance)


def attach(pose: "Pose", joint: JointLike, offset: npt.ArrayLike | None) -> Floats:
    """See Pose.attach."""
    number = joint_number(pose, joint)
    lead = pose.translation.shape[:-2]
    if offset is None:
        return pose.globals()[..., number, :, :].copy()
    held = numbers("offset", offset)
    if held.ndim < 2 or held.shape[-2:] != (4, 4) or not fits(held.shape[:-2], lead):
        other = f" or {(*lead, 4, 4)}" if lead else ""
        raise ValueError(f"offset has shape {held.shape}; expected (4, 4){other}")
    check_finite("offset", held)
    return (pose.globals()[..., number, :, :].astype(np.float64) @ held).astype(np.float32)


# ---- arguments ------------------------------------------------------------------------------------


def _points(pose: "Pose", name: str, value: npt.ArrayLike) -> Array:
    """(N,3) float64: one point for each of the N poses."""
    lead = pose.translation.shape[:-2]
    return np.broadcast_to(rows(name, value, lead, 3), (*lead, 3)).reshape(-1, 3)


def _weights(pose: "Pose", value: npt.ArrayLike) -> Array:
    """(N,) float64 from 0 to 1: one weight for each of the N poses."""
    lead = pose.translation.shape[:-2]
    weights = numbers("weight", value)
    if not fits(weights.shape, lead):
        other = f" or an array of shape {lead}" if lead else ""
        raise ValueError(f"weight has shape {weights.shape}; expected a number{other}")
    if not ((weights >= 0) & (weights <= 1)).all():
        raise ValueError("weight holds a number outside 0 to 1; expected 0 to 1")
    return np.broadcast_to(weights, lead).reshape(-1)


def _quoted_name(pose: "Pose", joint: int) -> str:
    """The name of a joint for a message."""
    return repr(pose.model.skeleton.names[joint])


def _parent(pose: "Pose", joint: int, role: str) -> int:
    """The parent of a joint; `role` is the argument that stands for the joint in a message."""
    parent = int(pose.model.skeleton.parents[joint])
    if parent < 0:
        raise ValueError(
            f"{role} is {_quoted_name(pose, joint)}, which has no parent; expected a chain of three joints"
        )
    return parent


def _check_ancestor(pose: "Pose", role: str, ancestor: int, role_below: str, joint: int) -> None:
    """ValueError unless one joint is an ancestor of another; roles are the arguments that stand for them."""
    above = int(pose.model.skeleton.parents[joint])
    while above > ancestor:  # parents have smaller indices than their children
        above = int(pose.model.skeleton.parents[above])
    if above != ancestor:
        raise ValueError(
            f"{role} is {_quoted_name(pose, ancestor)}; "
            f"expected an ancestor of {role_below}, {_quoted_name(pose, joint)}"
        )
