"""The frame of a clip that is nearest to a posture: a reference pose where the rest pose shows no posture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._types import Array
from ..clip import Clip
from ..clips.evaluate import unit
from ..posing.kinematics import up_vector
from .limbs import CORNERS, FEET, LIMBS, UPRIGHT_DEGREES, Figure, body_of

_FRAMES = 128  # of a clip, at most, among which one is sought
_ON_FLOOR = 0.25  # of the frames: those in which a foot is lowest show its slope on the floor


@dataclass(frozen=True)
class Frame:
    """The frame of a clip that is nearest to a posture."""

    clip: Clip
    time: float
    cost: float  #: mean angle of limbs and trunk in degrees
    degrees: dict[str, float]


def nearest_frame(figure: Figure, clip: Clip, wanted: Mapping[str, Array]) -> Frame | None:
    """Return the frame in which the figure stands and its limbs, from where it faces, are as wanted."""
    if clip.is_additive or not figure.joints.keys() >= set(CORNERS):
        return None
    times = np.linspace(0.0, clip.duration, _FRAMES if clip.duration > 0 else 1)
    origins = figure.model.joint_positions(clip, times).astype(np.float64)
    trunks = body_of(origins[:, [figure.joints[bone] for bone in CORNERS]])
    up = up_vector(figure.model)
    left = unit(trunks[:, 0] - (trunks[:, 0] @ up)[:, None] * up)
    axes = np.stack([left, np.broadcast_to(up, left.shape), np.cross(left, up)], axis=1)
    angles = {}
    for bone in wanted.keys() & figure.directions().keys():
        along = origins[:, figure.joints[LIMBS[bone]]] - origins[:, figure.joints[bone]]
        along = np.einsum("nij,nj->ni", axes, unit(along))
        angles[bone] = np.degrees(np.arccos(np.clip(along @ wanted[bone], -1.0, 1.0)))
    for foot in {*FEET} & figure.directions().keys():
        toes = origins[:, figure.joints[LIMBS[foot]]]
        angles[foot] = _tilt(origins[:, figure.joints[foot]], toes, up)
    leans = np.degrees(np.arccos(np.clip(trunks[:, 1] @ up, -1.0, 1.0)))
    costs = np.mean([leans, *angles.values()], axis=0)
    costs = np.where(leans < UPRIGHT_DEGREES, costs, np.nan)
    if not np.isfinite(costs).any():
        return None
    best = int(np.nanargmin(costs))
    degrees = {bone: float(values[best]) for bone, values in angles.items()}
    return Frame(clip, float(times[best]), float(costs[best]), degrees)


def _tilt(ankle: Array, toes: Array, up: Array) -> Array:
    """Return how far a foot (N,3), (N,3) is from the slope that it has on the floor, in degrees (N,)."""
    along = toes - ankle
    slopes = np.degrees(np.arctan2(along @ up, np.linalg.norm(along - np.outer(along @ up, up), axis=-1)))
    heights = toes @ up
    on_floor = heights <= np.quantile(heights, _ON_FLOOR)
    return np.asarray(np.abs(slopes - np.median(slopes[on_floor])))
