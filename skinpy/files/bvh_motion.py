"""The motion of a BVH file: what its joints do, so that all of them are where the model has them.

At rest the joints of BVH have no rotation. So a joint of the file has the rotation that the joint of the
model has made from its rest pose, in scene space: with Q the global rotations, D(t) = Q(t) * Q(rest)^-1, and
relative to its parent p, D_p(t)^-1 * D(t). Its offset is the way from its parent at rest; where the way at t,
seen from D_p(t), is another one, as joints that translate or are scaled have it, the joint needs position
channels. +Y is up by custom, so the scene is rotated where the model has another axis up.
"""

from typing import TYPE_CHECKING

import numpy as np

from .._progress import shown
from .._types import Array
from ..clip import Clip
from ..clips.evaluate import Evaluator, unit
from ..models.frames import chunks
from ..models.space import to_y_up
from ..posing.kinematics import conjugate, quaternion_product, rotated
from ..retargeting.rest import Rest
from ..rotation import from_matrix, to_euler

if TYPE_CHECKING:
    from ..model import Model

_SAME = 1e-6  #: of an offset's length, plus a tenth of it of the size: an offset this near does not change
_LOCK = 1e-6  #: radians from a right angle: only the sum or difference of the outer angles is defined
_AT_ONCE = 1 << 17  # transforms that are computed at once


class BvhMotion:
    """The frames of a file.

    `kept` (J,) says which joints the file has: all, or with `top` that joint and all below it. parents (J,)
    are -1 for roots of the file. offsets (J,3) are the ways from parent to joint at rest; 0 for those that
    carry the figure: joints that need positions and have nothing that moves above them. positions (N,J,3)
    replace them in each frame, and angles (N,J,3) are the degrees about Z, X and Y. `travels` says which
    joints need positions, `moves` which ones leave the rest pose, and `scaled` has the names of those whose
    scale does.
    """

    def __init__(self, model: "Model", clip: Clip, times: Array, top: int | None = None) -> None:
        self._model, self._clip = model, clip
        self._rest, self._evaluator = Rest(model), Evaluator(model)
        self._turn, self._matrix = to_y_up(model.up)
        self._root = clip.root_motion
        joints = range(len(self._rest.parents))
        self.kept, self.parents = np.ones(len(joints), bool), self._rest.parents.copy()
        if top is not None:
            for joint, parent in enumerate(self._rest.parents):
                self.kept[joint] = joint == top or (parent >= 0 and self.kept[parent])
            self.parents[top] = -1
        points = _rest_points(model) @ self._matrix.T
        ways = self._from_parents(points)
        self.size = float(np.ptp(points, axis=0).max())
        self.positions = np.empty((len(times), len(joints), 3))
        self.angles = np.empty_like(self.positions)
        scaled = np.zeros(len(joints), bool)
        spans = list(chunks(len(times), max(_AT_ONCE // len(joints), 1)))
        for span in shown(spans, len(spans), "sampling"):
            scaled |= self._fill(span, times[span])
        self.scaled = [model.skeleton.names[joint] for joint in np.flatnonzero(scaled)]
        follow(self.angles)
        off = np.abs(self.positions - ways).max(axis=(0, 2))
        same = _SAME * (np.linalg.norm(ways, axis=1) + 0.1 * self.size)
        self.moves = (off > same) | (np.abs(self.angles) > _SAME).any(axis=(0, 2))
        self.travels = (off > same) | (self.parents < 0)
        still = np.ones(len(joints), bool)  # all joints above this one
        for joint, parent in enumerate(self.parents):
            still[joint] = parent < 0 or (still[parent] and not self.moves[parent])
        self.offsets = np.where((still & self.travels)[:, None], 0.0, ways)

    def _from_parents(self, points: Array) -> Array:
        """The ways (...,J,3) from the parents to points (...,J,3); of a root, from the origin."""
        parents = self.parents
        from_parents: Array = points - np.where(parents[:, None] >= 0, points[..., parents, :], 0.0)
        return from_parents

    def _fill(self, span: slice, times: Array) -> Array:
        """Set positions and angles (of any turn) of some frames; return which joints (J,) are scaled."""
        pose = self._model.pose(self._clip, times, loop="clamp")
        points = self._evaluator.chain(pose.translation, pose.rotation, pose.scale)[..., :3, 3]
        turns = self._turns(pose.rotation)
        if self._root is not None:
            travel = self._root.sample(times)
            points = points @ travel[:, :3, :3].swapaxes(1, 2) + travel[:, None, :3, 3]
            turns = quaternion_product(from_matrix(travel[:, :3, :3])[:, None], turns)
        points = points @ self._matrix.T
        turns = quaternion_product(quaternion_product(self._turn, turns), conjugate(self._turn))
        back = conjugate(turns[:, self.parents])
        back[:, self.parents < 0] = (0.0, 0.0, 0.0, 1.0)
        self.positions[span] = rotated(back, self._from_parents(points))
        self.angles[span] = to_euler(quaternion_product(back, turns), "ZXY", degrees=True)
        off = np.abs(pose.scale - self._rest.scale) > _SAME * np.abs(self._rest.scale)
        return np.asarray(off.any(axis=(0, 2)))

    def _turns(self, rotation: Array) -> Array:
        """The rotations D(t) (N,J,4) that the joints have made from the rest pose, in scene space."""
        rest = self._rest
        turns = quaternion_product(
            unit(rotation.astype(np.float64)), np.broadcast_to(rest.flip, rotation.shape)
        )
        for joint, parent in enumerate(rest.parents):
            if parent >= 0:
                turns[:, joint] = quaternion_product(turns[:, parent], turns[:, joint])
        return quaternion_product(turns, conjugate(rest.rotations))


def follow(angles: Array) -> None:
    """Choose the angles (N,J,3) in degrees about Z, X and Y that change least between frames, in place.

    (a, b, c) and (a + 180, 180 - b, c + 180) are the same rotation, and so is each with a full turn more.
    Where the middle angle is a right angle, only a + c (or a - c, at -90) matters: c stays as it was.
    """
    sine = np.sin(np.radians(angles[..., 1]))
    locked = np.abs(np.cos(np.radians(angles[..., 1]))) < _LOCK
    for frame in range(1, len(angles)):
        before, first = angles[frame - 1], angles[frame].copy()
        at = locked[frame]
        if at.any():
            sign = np.where(sine[frame] > 0, 1.0, -1.0)[at]
            first[at, 0] += sign * (first[at, 2] - before[at, 2])
            first[at, 2] = before[at, 2]
        second = np.stack([first[:, 0] + 180.0, 180.0 - first[:, 1], first[:, 2] + 180.0], axis=-1)
        both = np.stack([first, second])
        both += 360.0 * np.rint((before - both) / 360.0)
        farther = np.abs(both[1] - before).max(axis=1) < np.abs(both[0] - before).max(axis=1)
        angles[frame] = np.where(farther[:, None], both[1], both[0])


def _rest_points(model: "Model") -> Array:
    """The positions (J,3) of the joints at rest, in float64."""
    matrices = model.skeleton.rest_local.astype(np.float64)
    for joint, parent in enumerate(model.skeleton.parents):
        if parent >= 0:
            matrices[joint] = matrices[parent] @ matrices[joint]
    return np.asarray(matrices[:, :3, 3])
