"""Joints of ground truth: their positions, and which of them are visible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skinpy.kinds import VertexAnimation

from ..moment import Moment
from ..scene.facets import Facets
from .layers import Hits, Sight

if TYPE_CHECKING:
    from skinpy.model import Model

_OWN_WEIGHT = 0.5  # weight of nearby joints from which a point of the surface belongs to a joint
_RADIUS_PERCENT = 90.0  # of a joint's vertices lie within the radius of its limb; the rest is a cape or a hat
_RADIUS_VERTICES = 256  # of one joint that are looked at, at most


def joint_positions(model: Model, moment: Moment) -> NDArray[np.float64]:
    """Positions (J, 3) float64 in scene space; NaN for vertex animations and bare palettes."""
    pose, motion = moment.pose, moment.motion
    if isinstance(motion, VertexAnimation) or isinstance(pose, np.ndarray):
        return np.full((len(model.skeleton.parents), 3), np.nan)
    if pose is not None:
        return pose.globals(affine=True)[..., 3].astype(np.float64)
    positions = model.joint_positions(
        motion, moment.time, loop=moment.loop, rotation=moment.rotation, root=moment.root
    )
    return positions.astype(np.float64)


def visible_joints(
    sight: Sight, joints: NDArray[np.float64], parents: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Whether each of `joints` (J, 3) in scene space is visible, (J,).

    A visible joint is in the picture, and the surface at its pixel does not hide it. A joint lies inside its
    limb, so the surface of the limb does not count as hiding: a surface that belongs to the joint or to
    joints at most two links away (by half of its weights or more), and is not farther in front of the joint
    than the limb is thick.
    """
    camera = sight.lens.camera
    points = sight.lens.to_camera(joints)
    pixels, depth = sight.lens.to_pixels(points), points[:, 2]
    width, height = sight.lens.size
    with np.errstate(invalid="ignore"):  # a joint at NaN is not in the picture
        inside = ((pixels >= 0) & (pixels < (width, height))).all(axis=1)
        inside &= (depth >= camera.near) & (depth <= camera.far)
    visible = inside.copy()
    columns, rows = pixels[inside].astype(np.intp).T
    flat = rows * width + columns
    covered = sight.codes.reshape(-1)[flat] != 0
    behind = np.flatnonzero(inside)[covered]
    if len(behind):
        visible[behind] = _unhidden(sight, Hits(sight, flat[covered]), behind, joints, depth, parents)
    return visible


def _unhidden(
    sight: Sight,
    hits: Hits,
    chosen: NDArray[np.intp],
    joints: NDArray[np.float64],
    depth: NDArray[np.float64],
    parents: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Whether each of the joints `chosen` (N,) is not hidden by the surface `hits` (N,) at its pixel."""
    gap = depth[chosen] - hits.points[:, 2]
    followed, weights = hits.weights()
    known = followed < len(parents)  # larger numbers stand for no joint
    own = nearby(chosen[:, None], np.where(known, followed, 0), parents) & known
    own_weight = (weights * own).sum(axis=1)
    thickness = 2 * radii(sight.facets, sight.vertices.positions, joints, parents)[chosen]
    seen: NDArray[np.bool_] = (gap <= 0) | ((own_weight >= _OWN_WEIGHT) & (gap <= thickness))
    return seen


def nearby(first: NDArray[Any], second: NDArray[Any], parents: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether joints are at most two links apart in the skeleton, for arrays of their indices."""
    grandparents = np.where(parents >= 0, parents[parents], -1)
    related: NDArray[np.bool_] = (
        (first == second)
        | (parents[first] == second)
        | (parents[second] == first)
        | (grandparents[first] == second)
        | (grandparents[second] == first)
        | ((parents[first] == parents[second]) & (parents[first] >= 0))
    )
    return related


def radii(
    facets: Facets,
    positions: NDArray[np.float32],
    joints: NDArray[np.float64],
    parents: NDArray[np.int32],
) -> NDArray[np.float64]:
    """The radii (J,) of the limbs of joints, in model units.

    Nine of ten vertices that follow a joint most are within the radius of its links to its children, or of
    the joint itself where it has none. A joint without such vertices has the radius of its neighbors.
    """
    radius = np.full(len(parents), np.nan)
    order = np.argsort(facets.owner, kind="stable")
    bounds = np.searchsorted(facets.owner[order], np.arange(len(parents) + 1))
    for joint in np.flatnonzero(np.diff(bounds)):
        own = order[bounds[joint] : bounds[joint + 1]]
        points = positions[own[:: -(-len(own) // _RADIUS_VERTICES)]].astype(np.float64)
        ends = joints[parents == joint] if (parents == joint).any() else joints[[joint]]
        radius[joint] = np.percentile(_distances(points, joints[joint], ends), _RADIUS_PERCENT)
    while np.isnan(radius).any() and not np.isnan(radius).all():
        radius = _filled(radius, parents)
    filled: NDArray[np.float64] = np.nan_to_num(radius, nan=0.0)
    return filled


def _filled(radius: NDArray[np.float64], parents: NDArray[np.int32]) -> NDArray[np.float64]:
    """Radii with each NaN replaced by the largest of the neighbors, or the mean if no neighbor has one."""
    children = np.flatnonzero(parents >= 0)
    above, known = parents[children], np.nan_to_num(radius, nan=-np.inf)
    best = np.full(len(radius), -np.inf)
    np.maximum.at(best, children, known[above])
    np.maximum.at(best, above, known[children])
    missing = np.isnan(radius)
    if not np.isfinite(best[missing]).any():  # a separate tree of joints without vertices
        best[missing] = np.nanmean(radius)
    return np.where(missing & np.isfinite(best), best, radius)


def _distances(
    points: NDArray[np.float64], start: NDArray[np.float64], ends: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Distances (N,) of points (N, 3) to the nearest of the segments from `start` (3,) to `ends` (C, 3)."""
    nearest = np.full(len(points), np.inf)
    for end in ends:
        axis = end - start
        along = np.clip((points - start) @ axis / max(float(axis @ axis), 1e-300), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(points - start - along[:, None] * axis, axis=1))
    return nearest
