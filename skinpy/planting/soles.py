"""The soles of feet and hands: the few points of a limb that can touch the ground."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..clips.evaluate import unit
from ..models.bounds import box
from ..posing.kinematics import up_vector

if TYPE_CHECKING:
    from ..model import Model

#: Tangents of the tilts at which the lowest vertices of a foot are looked for, each in eight directions.
_TILTS = (0.3, 1.0, 2.5)
#: The rear and the front of a sole, as fractions of its length.
_REAR, _FRONT = 0.35, 0.6
#: A sole shorter than this fraction of the size has no rear and no front.
_MIN_LENGTH = 0.01
#: The soles of feet are within this fraction of the size above the lowest point of the rest pose.
_FOOT_LEVEL = 0.25
#: A vertex belongs to a foot if it follows the foot's joints with at least this weight.
_MIN_WEIGHT = 0.5


@dataclass(frozen=True, eq=False)
class Sole:
    """Points that move with a limb as rigid parts of its joints, and may touch the ground.

    The points are the vertices that are lowest in some tilt of the rest pose, or the origins of the joints of
    a model without vertices there.
    """

    joint: int  #: the joint of the limb: an ankle, a hand
    owners: Array  #: (K,) the joint that each point moves with
    offsets: Array  #: (K,4) homogeneous points in the spaces of these joints
    rear: Array  #: (K,) bool: the points of the heel
    front: Array  #: (K,) bool: the points of the ball and the toes
    height: float  #: of the lowest point above the scene's origin, at rest
    is_foot: bool  #: whether the figure stands on it at rest, so that its hips may come down for it

    @property
    def has_length(self) -> bool:
        """Whether the sole has a rear and a front, so that it can lie flat."""
        return not (self.rear & self.front).any()

    def heel(self) -> Sole:
        """Return the points of the heel alone, if the sole has a heel."""
        if not self.has_length:
            return self
        kept = self.rear
        return replace(
            self, owners=self.owners[kept], offsets=self.offsets[kept], rear=kept[kept], front=kept[kept]
        )

    def positions(self, globals_: Array) -> Array:
        """Return the points (N,K,3) float64 for global transforms (N,J,3|4,4)."""
        matrices = globals_[:, self.owners, :3].astype(np.float64)
        return np.asarray(np.einsum("nkij,kj->nki", matrices, self.offsets))


def rest_level(model: Model) -> float:
    """Return the height of the lowest point of the rest pose."""
    up = up_vector(model)
    return float(np.where(up < 0, box(model)[1], box(model)[0]) @ up)


def figure_size(model: Model) -> float:
    """Return the longest side of the box around the mesh, or the joints, at rest."""
    return float(np.ptp(box(model), axis=0).max())


def below(model: Model, joint: int, without: frozenset[int] = frozenset()) -> Array:
    """Return which joints (J,) are a joint or its descendants, but for the branches of some joints."""
    inside = np.zeros(len(model.skeleton), bool)
    inside[joint] = True
    for one, parent in enumerate(model.skeleton.parents):
        if parent >= 0 and inside[parent] and one not in without:
            inside[one] = True
    return inside


def sole_of(model: Model, joint: int, without: frozenset[int] = frozenset()) -> Sole:
    """Return the sole of a joint with its descendants, but for the branches of joints in `without`."""
    up, size = up_vector(model), figure_size(model)
    inside = below(model, joint, without)
    points, owners = _vertices(model, inside)
    ankle = model.skeleton.rest_global[joint, :3, 3].astype(np.float64)
    if not len(points):
        points, owners = _origins(model, joint, inside, up)
    ahead = _ahead(points - ankle, up)
    chosen = _lowest(points, up, ahead)
    points, owners = points[chosen], owners[chosen]
    along = points @ ahead
    length = float(np.ptp(along))
    position = (along - along.min()) / length if length > _MIN_LENGTH * size else np.zeros(len(points))
    is_long = length > _MIN_LENGTH * size
    back = np.linalg.pinv(model.skeleton.rest_global.astype(np.float64))[owners]
    homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    return Sole(
        joint,
        owners,
        np.einsum("kij,kj->ki", back, homogeneous),
        (position <= _REAR) | (not is_long),
        (position >= _FRONT) | (not is_long),
        float((points @ up).min()),
        bool((points @ up).min() <= rest_level(model) + _FOOT_LEVEL * size),
    )


def _vertices(model: Model, inside: Array) -> tuple[Array, Array]:
    """Return the vertices (P,3) that mainly follow some joints, at rest in the scene, and these joints."""
    mesh = model.mesh
    if not len(mesh.positions):
        return np.zeros((0, 3)), np.zeros(0, np.intp)
    joints = model.skin.joints[mesh.slots]
    weights = np.where(inside[joints], mesh.weights, 0.0)
    chosen = np.flatnonzero(weights.sum(axis=1) >= _MIN_WEIGHT)
    if not len(chosen):
        return np.zeros((0, 3)), np.zeros(0, np.intp)
    rest = model.deform(model.pose(), normals=False)[0][chosen].astype(np.float64)
    strongest = weights[chosen].argmax(axis=1)
    return rest, joints[chosen, strongest]


def _origins(model: Model, joint: int, inside: Array, up: Array) -> tuple[Array, Array]:
    """Return the origins of a joint's descendants, and the point on the sole that is below the joint.

    The sole is as low as the lowest descendant. A joint without descendants is the only point.
    """
    places = model.skeleton.rest_global[:, :3, 3].astype(np.float64)
    numbers = np.flatnonzero(inside)
    lowest = float((places[below(model, joint)] @ up).min())
    points = places[numbers]
    points[0] += (lowest - points[0] @ up) * up
    return points, numbers


def _ahead(points: Array, up: Array) -> Array:
    """Return the level unit vector along the longer side of points around an ankle, towards their mean."""
    level = points - (points @ up)[:, None] * up
    mean = level.mean(axis=0)
    spread = level - mean
    axis = np.linalg.svd(spread, full_matrices=False)[2][0] if len(points) > 2 else mean
    axis = axis - (axis @ up) * up
    if not np.linalg.norm(axis) > 0:
        axis = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    return np.asarray(unit(axis) * (1.0 if axis @ mean >= 0 else -1.0))


def _lowest(points: Array, up: Array, ahead: Array) -> Array:
    """Return the indices of the points that are lowest when the sole is level or tilted to some side."""
    aside = np.cross(up, ahead)
    angles = np.arange(8) * (np.pi / 4)
    sides = np.cos(angles)[:, None] * ahead + np.sin(angles)[:, None] * aside
    downs = np.concatenate([-up[None], *(tilt * sides - up for tilt in _TILTS)])
    return np.unique((points @ downs.T).argmax(axis=0))
