"""Joints of ground truth: where they are, and which of them are seen."""

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

_OWN_SHARE = 0.5  # of the weights at a point of the surface, from which it belongs to the surroundings
_RADIUS_PERCENT = 90.0  # of a joint's vertices lie within a limb's radius; a cape or a hat does not count
_RADIUS_VERTICES = 256  # looked at for each joint at most


def joint_positions(model: Model, moment: Moment) -> NDArray[np.float64]:
    """(J, 3) float64, scene space; NaN where nobody knows: in vertex animations, and for bare palettes."""
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
    """(J,): whether each of `joints` (J, 3), scene space, is seen.

    It is in the picture, and the surface at its pixel is not in front of it; or it is, but belongs to the
    joint's surroundings (by half of its weights or more, to joints at most two links away) and is not farther
    in front than its limb is thick: a joint lies inside its limb.
    """
    camera = sight.lens.camera
    places = sight.lens.to_camera(joints)
    pixels, depth = sight.lens.to_pixels(places), places[:, 2]
    width, height = sight.lens.size
    with np.errstate(invalid="ignore"):  # what is NaN is not in the picture
        inside = ((pixels >= 0) & (pixels < (width, height))).all(axis=1)
        inside &= (depth >= camera.near) & (depth <= camera.far)
    visible = inside.copy()
    columns, rows = pixels[inside].astype(np.intp).T
    flat = rows * width + columns
    covered = sight.codes.reshape(-1)[flat] != 0
    asked = np.flatnonzero(inside)[covered]
    if len(asked):
        visible[asked] = _uncovered(sight, Hits(sight, flat[covered]), asked, joints, depth, parents)
    return visible


def _uncovered(
    sight: Sight,
    hits: Hits,
    asked: NDArray[np.intp],
    joints: NDArray[np.float64],
    depth: NDArray[np.float64],
    parents: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Whether the surface `hits` (N,) leaves each of the joints `asked` (N,) visible."""
    gap = depth[asked] - hits.place[:, 2]
    followed, weights = hits.weights()
    known = followed < len(parents)  # the rest has no weight
    own = nearby(asked[:, None], np.where(known, followed, 0), parents) & known
    share = (weights * own).sum(axis=1)
    thick = 2 * radii(sight.facets, sight.vertices.positions, joints, parents)[asked]
    seen: NDArray[np.bool_] = (gap <= 0) | ((share >= _OWN_SHARE) & (gap <= thick))
    return seen


def nearby(first: NDArray[Any], second: NDArray[Any], parents: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether two joints are at most two links apart in the skeleton; arrays of their numbers."""
    above = parents
    over = np.where(above >= 0, parents[above], -1)
    related: NDArray[np.bool_] = (
        (first == second)
        | (above[first] == second)
        | (above[second] == first)
        | (over[first] == second)
        | (over[second] == first)
        | ((above[first] == above[second]) & (above[first] >= 0))
    )
    return related


def radii(
    facets: Facets,
    positions: NDArray[np.float32],
    joints: NDArray[np.float64],
    parents: NDArray[np.int32],
) -> NDArray[np.float64]:
    """(J,) model units: how far the vertices that follow a joint most are from its links to its children, or
    from itself where it has none; nine of ten are nearer. Without such vertices it is what neighbors have.
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
    """What is NaN, filled with the largest of the neighbors, or the mean where no neighbor helps."""
    children = np.flatnonzero(parents >= 0)
    above, known = parents[children], np.nan_to_num(radius, nan=-np.inf)
    best = np.full(len(radius), -np.inf)
    np.maximum.at(best, children, known[above])
    np.maximum.at(best, above, known[children])
    missing = np.isnan(radius)
    if not np.isfinite(best[missing]).any():  # a tree of its own, without a vertex
        best[missing] = np.nanmean(radius)
    return np.where(missing & np.isfinite(best), best, radius)


def _distances(
    points: NDArray[np.float64], start: NDArray[np.float64], ends: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(N,) of points (N, 3) to the nearest of the lines from `start` (3,) to `ends` (C, 3)."""
    nearest = np.full(len(points), np.inf)
    for end in ends:
        axis = end - start
        share = np.clip((points - start) @ axis / max(float(axis @ axis), 1e-300), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(points - start - share[:, None] * axis, axis=1))
    return nearest
