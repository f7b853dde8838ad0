"""Lines that overlays draw, from joints and boxes: numbers only, no OpenGL.

Lines are (N, 11) float32: start (3) and end (3) in scene space, linear RGB and alpha (4), width in pixels. A
line that ends where it starts is a dot.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .color import parse_color, srgb_to_linear

Lines: TypeAlias = NDArray[np.float32]

LINE_FLOATS = 11

_LINK, _LINK_WIDTH = "#ffc233", 2.5
_JOINT, _JOINT_WIDTH = "#ffffff", 6.0


def skeleton_lines(joints: NDArray[Any], parents: NDArray[np.int32]) -> Lines:
    """Links from the joints (J, 3) to their parents, and a dot at each joint."""
    children = np.flatnonzero(parents >= 0)
    links = lines(joints[parents[children]], joints[children], _LINK, _LINK_WIDTH)
    return np.concatenate([links, lines(joints, joints, _JOINT, _JOINT_WIDTH)])


def lines(starts: NDArray[Any], ends: NDArray[Any], color: str, width: float, alpha: float = 1.0) -> Lines:
    """Lines from (N, 3) to (N, 3) of one color, sRGB, and one width in pixels."""
    result = np.empty((len(starts), LINE_FLOATS), np.float32)
    result[:, :3], result[:, 3:6] = starts, ends
    result[:, 6:9], result[:, 9], result[:, 10] = linear(color), alpha, width
    return result


def linear(color: str) -> tuple[float, float, float]:
    """Linear red, green and blue of a color "#rrggbb"."""
    red, green, blue, _ = (srgb_to_linear(part) for part in parse_color("color", color))
    return red, green, blue


def no_lines() -> Lines:
    """None, (0, 11)."""
    return np.zeros((0, LINE_FLOATS), np.float32)
