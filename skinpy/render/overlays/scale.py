"""The color scale of overlays: from dark blue over green to light yellow, evenly in what the eye sees.

Lightness grows in even steps, in the color space OKLab, so that more is always lighter, also in gray and for
those who tell few hues apart; the hue turns evenly meanwhile.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

STEPS = 256
_LIGHTNESS = 0.30, 0.92  # of OKLab, at 0 and at 1
_HUE = 290.0, 102.0  # degrees, the same
_CHROMA = 0.16  # where the screen can show as much
_REACH = 28  # steps

# OKLab to the cube roots of the cones' responses, and from these responses to linear sRGB.
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
    """Linear red, green and blue (..., 3) for values (...) from 0 to 1, on the lines between the steps."""
    places = np.clip(values, 0.0, 1.0) * STEPS - 0.5
    table = scale_table()[0]
    return np.stack([np.interp(places, np.arange(STEPS), table[:, part]) for part in range(3)], axis=-1)


@cache
def scale_table() -> NDArray[np.float32]:
    """(1, STEPS, 3) float32, linear: the colors for values at the middles of so many steps."""
    place = (np.arange(STEPS) + 0.5) / STEPS
    lightness = _LIGHTNESS[0] + (_LIGHTNESS[1] - _LIGHTNESS[0]) * place
    hue = np.radians(_HUE[0] + (_HUE[1] - _HUE[0]) * place)
    low, high = np.zeros(STEPS), np.full(STEPS, _CHROMA)
    for _ in range(24):  # the most colorful that the screen shows, by halving
        middle = (low + high) / 2
        rgb = _linear_rgb(lightness, middle, hue)
        fits = ((rgb >= 0) & (rgb <= 1)).all(axis=-1)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    # No more than any within reach can have, then the mean: without corners, which would show as lines.
    windows = np.lib.stride_tricks.sliding_window_view
    least = windows(np.pad(low, _REACH, mode="edge"), 2 * _REACH + 1).min(axis=1)
    chroma = windows(np.pad(least, _REACH, mode="edge"), 2 * _REACH + 1).mean(axis=1)
    return np.clip(_linear_rgb(lightness, chroma, hue), 0.0, 1.0).astype(np.float32)[None]


def _linear_rgb(lightness: NDArray[Any], chroma: NDArray[Any], hue: NDArray[Any]) -> NDArray[np.float64]:
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=-1)
    rgb: NDArray[np.float64] = (lab @ _TO_ROOTS.T) ** 3 @ _TO_RGB.T
    return rgb
