"""Scales that look like another unit, and scales that flatten."""

import numpy as np

from .._types import Array

#: Factors between the units in use: meters, centimeters, millimeters, inches; and how well they must fit.
UNIT_FACTORS = (0.001, 0.01, 0.0254, 2.54, 39.3701, 100.0, 1000.0)
UNIT_FIT = 1e-3

#: A smaller scale flattens its joint: six digits are what float32 holds besides 1.
ZERO_SCALE = 1e-6


def unit_factor(scale: Array) -> Array:
    """Return the factor (...,) of UNIT_FACTORS that a scale (...,3) is on all axes, or 0."""
    found = np.zeros(scale.shape[:-1])
    for factor in UNIT_FACTORS:
        found[(np.abs(scale / factor - 1.0) <= UNIT_FIT).all(axis=-1)] = factor
    return found
