"""The rest pose of a skeleton, as motion is transferred from it and to it.

Quaternions are x y z w; everything is computed in float64.
"""

from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..clips.evaluate import trs, unit
from ..posing.kinematics import quaternion_product

if TYPE_CHECKING:
    from ..model import Model


class Rest:
    """The rest pose of a skeleton in float64, with rotations that stay right under negative scales.

    With local rotations (J,4) of one's own it is the rest pose with these, which is what a reference pose is.
    """

    def __init__(self, model: "Model", rotation: Array | None = None) -> None:
        skeleton = model.skeleton
        self.parents = skeleton.parents
        self.translation = skeleton.translation.astype(np.float64)
        self.rotation = unit((skeleton.rotation if rotation is None else rotation).astype(np.float64))
        self.scale = skeleton.scale.astype(np.float64)
        self.flip = _flips(self.scale)
        self.matrices = trs(self.translation, self.rotation, self.scale)  #: global; without shear
        self.rotations = quaternion_product(self.rotation, self.flip)  #: global
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                self.matrices[joint] = self.matrices[parent] @ self.matrices[joint]
                self.rotations[joint] = quaternion_product(self.rotations[parent], self.rotations[joint])

    @property
    def origins(self) -> Array:
        """The positions (J,3) of the joints in scene space."""
        return np.asarray(self.matrices[:, :3, 3])

    def line(self, joint: int) -> list[int]:
        """Return the joint and its ancestors, the root first."""
        found = []
        while joint >= 0:
            found.append(joint)
            joint = int(self.parents[joint])
        return found[::-1]

    def paths(self, joint: int, other: int) -> tuple[list[int], list[int]]:
        """Return the joints from the nearest common ancestor down to each of two joints, outermost first.

        -1 stands for the scene. The common ancestor itself is left out.
        """
        paths: tuple[list[int], list[int]] = [], []
        while joint != other:  # parents come before children: the higher index is not a common ancestor
            if joint > other:
                paths[0].append(joint)
                joint = int(self.parents[joint])
            else:
                paths[1].append(other)
                other = int(self.parents[other])
        return paths[0][::-1], paths[1][::-1]

    def parent_linear(self, joint: int) -> Array:
        """Return the rest transform (3,3) of directions from the joint's parent to the scene."""
        parent = int(self.parents[joint])
        return np.eye(3) if parent < 0 else np.asarray(self.matrices[parent, :3, :3])

    def parent_rotation(self, joint: int) -> Array:
        """Return the global rest rotation (4,) of the joint's parent."""
        parent = int(self.parents[joint])
        return np.array([0.0, 0.0, 0.0, 1.0]) if parent < 0 else np.asarray(self.rotations[parent])


def _flips(scale: Array) -> Array:
    """Return the rotations (J,4) that negative scales (J,3) amount to, apart from a point reflection.

    The point reflection, -1, commutes with every rotation, so it never shows in a displacement from rest.
    """
    signs = np.where(scale < 0, -1.0, 1.0)
    signs *= signs.prod(axis=1, keepdims=True)
    flips = np.zeros((len(scale), 4))
    flips[:, 3] = 1.0
    flipped = signs.min(axis=1, initial=1.0) < 0  # two negative signs: a half turn about the third axis
    flips[flipped, :3], flips[flipped, 3] = np.maximum(signs[flipped], 0.0), 0.0
    return flips


def product(*rotations: Array) -> Array:
    """Return the product of quaternions (...,4); the last rotates first."""
    total = rotations[0]
    for one in rotations[1:]:
        total = quaternion_product(total, one)
    return total
