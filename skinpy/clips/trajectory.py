"""The trajectory of one joint through the scene, cut into root motion and what remains of the joint.

With G(t) the global transform of the joint in scene space, p(t) its origin and u the axis that is up, the
root motion is

    M(t) = K(t) inverse(K(0)),    K(t) = translate(level component of p(t)) * rotate(u, psi(t)),

an upright frame that goes where the joint goes and faces where the joint faces. The yaw psi is the twist
about u of Q = rotation of G(t) * inverse of the rotation of G at rest, in the swing-twist decomposition
Q = swing * twist. With the quaternion (v, w) of Q it is psi = 2 atan2(v.u, w); in terms of the matrix Q this
is psi = atan2(axial(Q).u, trace(Q) - u.Qu).

What remains of the joint is its residual inverse(M) G. With P the global transform of its parent and L its
local transform, the new local transform is inverse(P) inverse(M) P L.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import _block
from .._text import quoted
from .._types import Array
from ..clip import Clip
from ..posing.kinematics import conjugate, quaternion_product, rotated, up_vector
from .channel import Channel
from .evaluate import key_tolerance, sample_channel, trs, unit

#: Poses of moving joints that one clip may take, over all times: a few seconds.
_MAX_POSES = 10_000_000
#: A joint that moves by less does not travel: a fraction of the size, or radians.
_MIN_TRAVEL = 1e-6
#: How far the yaw, seen in the space of the parent, may be from a rotation.
_MAX_SHEAR = 1e-4


@dataclass(frozen=True, eq=False)
class RootKeys:
    """The root motion and what remains of the joint, at times (N,).

    motion (N,7) float32 is a translation and a quaternion; translation (N,3) and rotation (N,4) are those of
    the residual, relative to the parent.
    """

    times: Array
    motion: Array
    translation: Array
    rotation: Array


@dataclass(frozen=True, eq=False)
class PosedJoint:
    """Global transforms (N,4,4) of a joint and its parent, and its own components, at times (N,)."""

    parent: Array
    here: Array
    translation: Array
    rotation: Array
    scale: Array


@dataclass(frozen=True, eq=False)
class _Link:
    """A joint of the chain from the root that moves, with its channels.

    still (4,4) is the transform of the joints between it and the link above it, which do not move.
    """

    still: Array
    joint: int
    channels: list[Channel]


class Trajectory:
    """The trajectory of a joint in float64.

    travels and has_yaw say whether the joint moves as far as root motion counts, and whether it rotates about
    up. times are those of the keys that the trajectory depends on. max_times is how many times the joint may
    be posed at in all.
    """

    def __init__(self, clip: Clip, joint: int, size: float, translation: str | None, yaw: bool) -> None:
        model = clip._bound_model()
        self.size = size
        self._clip, self._joint = clip, joint
        self._skeleton = model.skeleton
        self._up = up_vector(model)
        chain = _path_from_root(self._skeleton.parents, joint)
        self._channels = [one for one in clip._pose_channels if one.joint in set(chain)]
        self._links = self._moving_links(chain)
        self.max_times = _MAX_POSES // len(self._links)
        level = np.eye(3) - np.outer(self._up, self._up)
        self._extracted_axes = {"all": np.eye(3), "ground": level, None: np.zeros((3, 3))}[translation]
        self._rest_rotation = _nearest_orthogonal(self._rest_matrix(chain))
        self.has_yaw = yaw
        times = self._key_times()
        self._check_size(times)
        origins, angles = self._frames(times)
        self.has_yaw = bool(np.abs(angles).max() > _MIN_TRAVEL)
        distance = np.linalg.norm(origins - origins[0], axis=1).max()
        self.travels = self.has_yaw or bool(distance > _MIN_TRAVEL * size)
        self.times = times if self.has_yaw else self._key_times()

    def _check_size(self, times: Array) -> None:
        """ValueError if the chain is too long for so many times."""
        if len(times) * len(self._links) > _MAX_POSES:
            raise ValueError(
                f"the trajectory of {quoted(self._skeleton.names[self._joint])} depends on "
                f"{len(self._links)} moving joints at {len(times)} times of keys, together more than "
                f"{_MAX_POSES}; expected a joint nearer to the root, or a clip with fewer times (resample)"
            )

    def _rest_matrix(self, chain: list[int]) -> Array:
        """(3,3): the upper left of the global rest transform of the last joint of the chain."""
        matrix = np.eye(3)
        for joint in chain:
            matrix = matrix @ self._skeleton.rest_local[joint, :3, :3].astype(np.float64)
        return matrix

    def _key_times(self) -> Array:
        """The times of the keys that the trajectory depends on, both ends, and a time before each step."""
        clip, slack = self._clip, 2.0 * key_tolerance(self._clip)
        lines = [np.array([0.0, clip.duration])]
        for one in self._channels:
            own_rotation = self.has_yaw and one.path == "rotation"
            if one.joint != self._joint or one.path == "translation" or own_rotation:
                lines.append(one.times)
                if one.interpolation == "step":
                    lines.append(one.times[1:] - slack)
        times = np.unique(np.clip(np.concatenate(lines), 0.0, clip.duration))
        # The sampler takes two times that are closer together for one.
        kept = np.concatenate([[True], np.diff(times) > 0.75 * slack])
        kept[-1:] = True
        return np.asarray(times[kept])

    def _moving_links(self, chain: list[int]) -> list[_Link]:
        """The joint, last, and its ancestors that move; the still joints between two are one matrix."""
        moving: dict[int, list[Channel]] = {}
        for one in self._channels:
            assert one.joint is not None
            moving.setdefault(one.joint, []).append(one)
        links, still = [], np.eye(4)
        for joint in chain:
            if joint in moving or joint == self._joint:
                links.append(_Link(still, joint, moving.get(joint, [])))
                still = np.eye(4)
            else:
                still = still @ self._skeleton.rest_local[joint].astype(np.float64)
        return links

    def posed(self, times: Array) -> PosedJoint:
        """The joint at times (N,)."""
        here = np.broadcast_to(np.eye(4), (len(times), 4, 4))
        for link in self._links:
            parent = here @ link.still
            components = self._components(link, times)
            if link.channels:
                here = parent @ trs(*components)
            else:  # the matrix of the file may hold shear
                here = parent @ self._skeleton.rest_local[link.joint].astype(np.float64)
        return PosedJoint(parent, here, *components)

    def _components(self, link: _Link, times: Array) -> list[Array]:
        """Translation (N,3), rotation (N,4) and scale (N,3) of a joint, relative to its parent."""
        rest = self._skeleton.translation, self._skeleton.rotation, self._skeleton.scale
        found = {
            path: np.repeat(values[link.joint][None].astype(np.float64), len(times), axis=0)
            for path, values in zip(_block.PATHS, rest, strict=False)
        }
        for one in link.channels:
            found[one.path] = sample_channel(one, times, key_tolerance(self._clip))
        found["rotation"] = unit(found["rotation"])
        return list(found.values())

    def _frames(self, times: Array, here: Array | None = None) -> tuple[Array, Array]:
        """The upright frame at times, which start at 0.

        (N,3) the extracted axes of the origin, and (N,) the yaw in radians, continuous and relative to the
        first.
        """
        if here is None:
            here = self.posed(times).here
        origins = here[:, :3, 3] @ self._extracted_axes
        if not self.has_yaw:
            return origins, np.zeros(len(times))
        q, u = _nearest_orthogonal(here[:, :3, :3]) @ self._rest_rotation.T, self._up
        axial = np.stack([q[:, 2, 1] - q[:, 1, 2], q[:, 0, 2] - q[:, 2, 0], q[:, 1, 0] - q[:, 0, 1]], axis=-1)
        angles = np.unwrap(np.arctan2(axial @ u, np.trace(q, axis1=1, axis2=2) - (q @ u) @ u))
        return origins, angles - angles[0]

    def keys(self, times: Array) -> RootKeys:
        """The root motion as it is stored, and the residual of exactly that; times start at 0."""
        joint = self.posed(times)
        origins, angles = self._frames(times, joint.here)
        half = angles[:, None] / 2
        yaw = np.hstack([np.sin(half) * self._up, np.cos(half)])
        motion = np.hstack([origins - rotated(yaw, np.repeat(origins[:1], len(times), axis=0)), yaw])
        motion = motion.astype(np.float32)
        stored = unit(motion[:, 3:].astype(np.float64))
        back = conjugate(stored)
        origin = rotated(back, joint.here[:, :3, 3] - motion[:, :3])
        to_parent = self._inverse(joint.parent)
        translation = np.einsum("nij,nj->ni", to_parent, origin - joint.parent[:, :3, 3])
        rotation = quaternion_product(self._in_parent(back, joint.parent, to_parent), joint.rotation)
        return RootKeys(times, motion, translation, rotation)

    def _inverse(self, parent: Array) -> Array:
        """(N,3,3): the inverses of the upper left of transforms (N,4,4)."""
        try:
            return np.asarray(np.linalg.inv(parent[:, :3, :3]))
        except np.linalg.LinAlgError:
            raise ValueError(
                f"an ancestor of {quoted(self._skeleton.names[self._joint])} is scaled to 0; "
                "root motion needs the inverse of its transform"
            ) from None

    def _in_parent(self, yaw: Array, parent: Array, to_parent: Array) -> Array:
        """Rotations (N,4) about up, seen in the space of the parent: inverse(P) yaw P.

        ValueError if that is not a rotation.
        """
        axis = unit(to_parent @ self._up) * np.sign(np.linalg.det(parent[:, :3, :3]))[:, None]
        seen = np.hstack([(yaw[:, :3] @ self._up)[:, None] * axis, yaw[:, 3:]])
        zeros, ones = np.zeros((len(yaw), 3)), np.ones((len(yaw), 3))
        exact = to_parent @ trs(zeros, yaw, ones)[:, :3, :3] @ parent[:, :3, :3]
        if np.abs(exact - trs(zeros, seen, ones)[:, :3, :3]).max() > _MAX_SHEAR:
            raise ValueError(
                f"an ancestor of {quoted(self._skeleton.names[self._joint])} is scaled unevenly, so that "
                "a rotation would shear the joint; expected yaw=False, or a joint above the scaled one"
            )
        return seen


def _path_from_root(parents: Sequence[int] | Array, joint: int) -> list[int]:
    """The joints from the root down to this one."""
    path = [joint]
    while parents[path[-1]] >= 0:
        path.append(int(parents[path[-1]]))
    return path[::-1]


def _nearest_orthogonal(matrices: Array) -> Array:
    """(...,3,3): the orthogonal matrices nearest to others (polar decomposition)."""
    left, _, right = np.linalg.svd(matrices)
    return np.asarray(left @ right)
