"""Rotations of many frames that `skinpy.rotation` does not have. Quaternions are x y z w."""

import numpy as np

from .. import rotation
from .._types import Array

_EVEN = 1e-5  # how far rows of a rotation may be from length 1 and right angles


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
