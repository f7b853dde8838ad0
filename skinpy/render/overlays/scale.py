"""The color scale of overlays: from dark blue through green to light yellow.

Lightness and hue change evenly in the color space OKLab. So more is always lighter, also in grayscale and for
color-blind viewers.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

STEPS = 256
_LIGHTNESS = 0.30, 0.92  # of OKLab, at 0 and at 1
_HUE = 290.0, 102.0  # degrees, at 0 and at 1
_CHROMA = 0.16  # where the screen can show as much
_WINDOW = 28  # steps on each side, over which the chroma is smoothed

# OKLab to the cube roots of the responses of the cones, and from these responses to linear sRGB.
_TO_ROOTS = np.array(
    [[1, 0.3963377774, 0.2158037573], [1, -0.1055613458, -0.0638541728], [1, -0.0894841775, -1.2914855480]]
)
_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


def scale_colors(values: ArrayLike) -> NDArray[np.float64]:
    """Linear red, green and blue (..., 3) for values (...) from 0 to 1, interpolated between the steps."""
    positions = np.clip(values, 0.0, 1.0) * STEPS - 0.5
    table = scale_table()[0]
    return np.stack([np.interp(positions, np.arange(STEPS), table[:, i]) for i in range(3)], axis=-1)


@cache
def scale_table() -> NDArray[np.float32]:
    """The linear colors (1, STEPS, 3) float32 of values at the middles of the steps."""
    value = (np.arange(STEPS) + 0.5) / STEPS
    lightness = _LIGHTNESS[0] + (_LIGHTNESS[1] - _LIGHTNESS[0]) * value
    hue = np.radians(_HUE[0] + (_HUE[1] - _HUE[0]) * value)
    low, high = np.zeros(STEPS), np.full(STEPS, _CHROMA)
    for _ in range(24):  # bisection for the largest chroma that the screen can show
        middle = (low + high) / 2
        rgb = _linear_rgb(lightness, middle, hue)
        fits = ((rgb >= 0) & (rgb <= 1)).all(axis=-1)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    # The minimum over a window, then the mean: corners of the curve would show as lines in the scale.
    windows = np.lib.stride_tricks.sliding_window_view
    lowest = windows(np.pad(low, _WINDOW, mode="edge"), 2 * _WINDOW + 1).min(axis=1)
    chroma = windows(np.pad(lowest, _WINDOW, mode="edge"), 2 * _WINDOW + 1).mean(axis=1)
    return np.clip(_linear_rgb(lightness, chroma, hue), 0.0, 1.0).astype(np.float32)[None]


def _linear_rgb(lightness: NDArray[Any], chroma: NDArray[Any], hue: NDArray[Any]) -> NDArray[np.float64]:
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=-1)
    rgb: NDArray[np.float64] = (lab @ _TO_ROOTS.T) ** 3 @ _TO_RGB.T
    return rgb
