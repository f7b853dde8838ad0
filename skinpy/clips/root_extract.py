"""Clip.extract_root_motion and Clip.root_motion_from_feet: where the root motion of a clip comes from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._arguments import flag, names_of, one_of
from .._text import quoted
from .._types import Array
from ..clip import Channel, Clip
from ..models.overflow import refuse_overflow
from ..models.pickling import need_vertices
from ..posing.kinematics import JointLike, joint_number, up_vector
from ..storage.skin_error import size_of
from .carrier import carrier
from .edit import derived
from .evaluate import key_tolerance
from .events import Motion
from .root_motion import IDENTITY
from .root_refine import refined_keys
from .stepping import chosen_vertices, walking_velocity
from .trajectory import RootKeys, Trajectory

if TYPE_CHECKING:
    from ..model import Model


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def extracted(clip: Clip, joint: JointLike | None, translation: str | None, yaw: bool) -> Clip:
    """See Clip.extract_root_motion."""
    model = _checked_model(clip)
    need_vertices(model, "extract_root_motion")
    one_of("translation", translation, ("ground", "all", None))
    if not flag("yaw", yaw) and translation is None:
        raise ValueError("translation is None and yaw is False, so there is nothing to extract")
    number = carrier(clip) if joint is None else joint_number(model.pose(), joint)
    trajectory = Trajectory(clip, number, size_of(clip) or 1.0, translation, yaw)
    if not trajectory.travels:
        ends = np.unique([0.0, clip.duration])
        values = np.tile(np.array(IDENTITY, np.float32), (len(ends), 1))
        return derived(clip, clip.channels, clip.duration, motion=Motion(ends, values))
    keys = refined_keys(trajectory, key_tolerance(clip))
    return _with_root_motion(clip, number, keys, trajectory.has_yaw)


def _checked_model(clip: Clip) -> "Model":
    """The model of a clip that can get root motion; ValueError for other clips."""
    model = clip._bound_model()
    if clip.is_additive:
        raise ValueError(f"clip {quoted(clip.name)} is additive; differences of poses have no root motion")
    if clip._motion is not None:
        raise ValueError(
            f"clip {quoted(clip.name)} has root motion already; expected the clip that it was made from"
        )
    refuse_overflow(model, clip)
    return model


def _with_root_motion(clip: Clip, joint: int, keys: RootKeys, has_yaw: bool) -> Clip:
    """The clip with the root motion, and with what remains in the channels of the joint."""
    changed = {"translation": keys.translation} | ({"rotation": keys.rotation} if has_yaw else {})
    channels = [one for one in clip.channels if one.joint != joint or one.path not in changed]
    for path, values in changed.items():
        rows = values.astype(np.float32)
        name = clip._joint_names[joint]
        channels.append(Channel(joint, None, name, path, "linear", keys.times, rows, None, None))
    return derived(clip, channels, clip.duration, motion=Motion(keys.times, keys.motion))


# ---- from feet ------------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def from_feet(clip: Clip, feet: Sequence[str] | None) -> Clip:
    """See Clip.root_motion_from_feet."""
    model = _checked_model(clip)
    need_vertices(model, "root_motion_from_feet")
    standing = None if feet is None else _standing_points(model, feet)
    mesh, joints = model.mesh, len(model.skeleton)
    vertices = len(mesh.positions)

    def points(times: Array, chosen: Array | None) -> Array:
        if not vertices:
            positions = model.joint_positions(clip, times, loop="clamp").astype(np.float64)
            return positions if chosen is None else positions[:, chosen]
        palettes = model.palette(clip, times, loop="clamp")
        return chosen_vertices(mesh, palettes, np.arange(vertices) if chosen is None else chosen)

    size = float(np.ptp(model.bounds(), axis=0).max())
    count = vertices or joints
    velocity = walking_velocity(points, count, clip.duration, size, up_vector(model), standing)
    ends = np.unique([0.0, clip.duration])
    values = np.zeros((len(ends), 7), np.float32)
    values[:, :3], values[:, 6] = ends[:, None] * velocity, 1.0
    return clip._with(motion=Motion(ends, values))


def _standing_points(model: "Model", feet: Sequence[str]) -> Array:
    """Indices of the vertices that mainly follow feet, or of the joints of a model without vertices."""
    names = names_of("feet", feet)
    if not names:
        raise ValueError("feet is empty; expected names of joints, or None for all joints")
    in_foot = np.zeros(len(model.skeleton), bool)
    in_foot[[model.skeleton.index(name) for name in names]] = True
    for joint, parent in enumerate(model.skeleton.parents):
        in_foot[joint] |= parent >= 0 and in_foot[parent]
    if not len(model.mesh.positions):
        return np.flatnonzero(in_foot)
    mesh = model.mesh
    strongest = np.take_along_axis(mesh.slots, mesh.weights.argmax(axis=1)[:, None], axis=1)[:, 0]
    found = np.flatnonzero(in_foot[model.skin.joints[strongest]])
    if not len(found):
        raise ValueError(
            f"feet are {', '.join(map(repr, names))}; no vertex follows them or their descendants"
        )
    return found
