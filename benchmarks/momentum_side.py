"""Momentum's Python package (pymomentum-cpu, for CPython 3.12, 3.13): globals of given poses, and skinning.

It plays no keys, so it gets poses, as its joint parameters: translations, Euler angles, one scale a joint. As
that scale is one for all axes, it is asked for poses whose scales are 1. It skins positions alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pymomentum import geometry


class MomentumModel:
    """A loaded model as a Momentum character whose rest pose is the identity everywhere."""

    def __init__(self, model: Any) -> None:
        mesh, parents = model.mesh, np.asarray(model.skeleton.parents)
        still, origin = np.array([0, 0, 0, 1], np.float32), np.zeros(3, np.float32)
        joints = [geometry.Joint(f"j{j}", int(p), still, origin) for j, p in enumerate(parents)]
        skeleton = geometry.Skeleton(joints)
        none = geometry.ParameterTransform([], skeleton, np.zeros((7 * len(joints), 0), np.float32))
        self.slots = np.asarray(model.skin.joints)
        weights = geometry.SkinWeights(
            self.slots[np.asarray(mesh.slots)].astype(np.int32), np.array(mesh.weights, np.float32)
        )
        shape = geometry.Mesh(np.array(mesh.positions), np.array(mesh.faces, np.int32))
        character = geometry.Character("model", skeleton, none)
        self.character = character.with_mesh_and_skin_weights(shape, weights)

    def parameters(self, pose: Any) -> Any:
        """(N, 7 J) joint parameters of a Pose of N poses whose scales are 1."""
        ones = np.ones((*pose.translation.shape[:-1], 1), np.float32)
        state = np.concatenate([pose.translation, pose.rotation, ones], -1)
        return geometry.local_skeleton_state_to_joint_parameters(self.character, state)

    def globals(self, parameters: Any) -> Any:
        """(N, J, 8): translation, rotation, scale of every joint."""
        return geometry.joint_parameters_to_skeleton_state(self.character, parameters)

    def matrices(self, palette: Any) -> Any:
        """(J, 4, 4) for `deform`: with the identity at rest they are the palette's own."""
        out = np.tile(np.eye(4, dtype=np.float32), (len(self.character.skeleton.joints), 1, 1))
        out[self.slots, :3] = palette
        return out

    def deform(self, matrices: Any) -> Any:
        """(V, 3) positions."""
        return self.character.skin_points(matrices)
