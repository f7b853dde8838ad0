"""The bind pose: the posture in which a mesh was bound to its skeleton, from the inverse bind matrices.

It is the pose in which the character was modeled, a T or an A. The rest pose of a file may be another one,
for example a step of a walk where the exporter wrote the frame that was shown.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from .. import rotation as quaternions
from .._types import Array
from ..posing.kinematics import conjugate
from .rest import Rest, product

if TYPE_CHECKING:
    from ..model import Model

_SAME_LENGTH = 0.02  # of the size: joints are this near to their places at rest, from their parents
_SNAP_DEGREES = 30.0  # a bind pose that is turned by less against the scene's axes stands along them

#: The 24 rotations (24,3,3) between the axes of a scene.
_QUARTER_TURNS = np.array(
    [
        matrix
        for order in itertools.permutations(np.eye(3))
        for signs in itertools.product((1.0, -1.0), repeat=3)
        if np.linalg.det(matrix := np.array(order) * np.array(signs)[:, None]) > 0
    ]
)


def bind_rotation(model: Model, hips: int) -> Array | None:
    """Return the local rotations (J,4) of the bind pose, or None where the matrices show no posture.

    Joints without a slot stay at rest. Where several meshes hang on a joint, the first one counts. There is
    no posture where joints are mirrored, or are elsewhere from their parents than at rest: then something
    else than rotations tells the two poses apart.
    """
    rest = Rest(model)
    slots = {int(joint): slot for slot, joint in reversed(list(enumerate(model.skin.joints)))}
    with np.errstate(all="ignore"):
        binds = np.linalg.pinv(model.skin.inverse_bind.astype(np.float64))
    linear = binds[:, :3, :3]
    plain = np.isfinite(binds).all() and (np.linalg.det(linear) > 0).all() and (rest.flip[:, 3] == 1).all()
    if hips not in slots or not plain:
        return None
    globals = quaternions.from_matrix(linear / np.linalg.norm(linear, axis=1, keepdims=True))
    scene = _scene_of(product(rest.rotations[hips], conjugate(globals[slots[hips]])))
    local = rest.rotation.copy()
    now = rest.rotations.copy()
    for joint, parent in enumerate(rest.parents):
        above = now[parent] if parent >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
        if joint in slots:
            now[joint] = product(scene, globals[slots[joint]])
            local[joint] = product(conjugate(above), now[joint])
        else:
            now[joint] = product(above, rest.rotation[joint])
    return local if _lengths_agree(rest, binds, slots) else None


def _scene_of(rotation: Array) -> Array:
    """Return the rotation (4,) from the mesh's space to the scene; one between axes if it is near to one."""
    matrix = quaternions.to_matrix(rotation)
    nearest = _QUARTER_TURNS[np.argmax(np.einsum("nij,ij->n", _QUARTER_TURNS, matrix))]
    cosine = (np.einsum("ij,ij->", nearest, matrix) - 1.0) / 2.0
    near = cosine > np.cos(np.radians(_SNAP_DEGREES))
    return np.asarray(quaternions.from_matrix(nearest) if near else rotation)


def _lengths_agree(rest: Rest, binds: Array, slots: dict[int, int]) -> bool:
    """Return whether nearly all joints are from their parents as at rest, but for one scale."""
    pairs = [(joint, int(rest.parents[joint])) for joint in slots if int(rest.parents[joint]) in slots]
    if not pairs:
        return False
    joints, parents = np.array(pairs).T
    places = np.array([binds[slots[joint], :3, 3] for joint in joints])
    above = np.array([binds[slots[parent], :3, 3] for parent in parents])
    ours = np.linalg.norm(places - above, axis=1)
    theirs = np.linalg.norm(rest.origins[joints] - rest.origins[parents], axis=1)
    scale = ours.sum() / theirs.sum() if theirs.sum() > 0 else 0.0
    size = np.linalg.norm(np.ptp(rest.origins[joints], axis=0))
    return bool(np.mean(np.abs(ours - scale * theirs) <= _SAME_LENGTH * scale * size) > 0.9)
