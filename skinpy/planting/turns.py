"""Rotations of many frames that `skinpy.rotation` does not have. Quaternions are x y z w."""

import numpy as np

from .. import rotation
from .._types import Array
from ..clips.evaluate import unit

_EVEN = 1e-5  # how far rows of a rotation may be from length 1 and right angles
_OPPOSITE = 1e-9  # 1 + cosine below which two directions count as opposite


def shortest(start: Array, end: Array) -> Array:
    """Return the shortest rotations (N,4) from directions (N,3), of any length but 0, to others."""
    a, b = unit(start), unit(end)
    cosine = (a * b).sum(axis=-1, keepdims=True)
    found = np.concatenate([np.cross(a, b), 1.0 + cosine], axis=-1)
    opposite = cosine[..., 0] < _OPPOSITE - 1.0
    if opposite.any():
        aside = np.eye(3)[np.argmin(np.abs(a[opposite]), axis=-1)]
        found[opposite, :3], found[opposite, 3] = np.cross(a[opposite], aside), 0.0
    return unit(found)


def mean_rotation(rotations: Array) -> Array:
    """Return the mean (4,) of unit quaternions (N,4): the largest eigenvector of the sum of q qT.

    Markley, Cheng, Crassidis and Oshman, "Averaging Quaternions", Journal of Guidance, Control, and Dynamics
    30, 2007.
    """
    return np.asarray(np.linalg.eigh(rotations.T @ rotations)[1][:, -1])


def oriented(matrices: Array) -> Array:
    """Return the rotations (N,4) of matrices (N,3,3) with scale, which may mirror."""
    volumes = np.linalg.det(matrices)
    even = matrices / np.cbrt(volumes)[:, None, None]
    off = np.abs(even @ even.swapaxes(1, 2) - np.eye(3)).max(initial=0.0)
    # Singular values, which find the nearest rotation, take most of the time where no scale is uneven.
    return rotation._from_rotation(even) if off < _EVEN else rotation.from_matrix(even)


def same_signs(rotations: Array) -> Array:
    """Return quaternions (N,4), each with the sign that is nearer to the one before."""
    signs = np.where((rotations[1:] * rotations[:-1]).sum(axis=1) < 0, -1.0, 1.0)
    return np.asarray(rotations * np.concatenate([np.ones(1), np.cumprod(signs)])[:, None])
