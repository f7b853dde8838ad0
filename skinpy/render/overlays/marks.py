"""The lines of overlays, made from joints and boxes. No OpenGL.

Lines are (N, 11) float32: start (3) and end (3) in scene space, linear RGB and alpha (4), width in pixels. A
line that ends where it starts is a dot.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..color import parse_color, srgb_to_linear

Lines: TypeAlias = NDArray[np.float32]

LINE_FLOATS = 11

_LINK, _LINK_WIDTH = "#ffc233", 2.5
_JOINT, _JOINT_WIDTH = "#ffffff", 6.0
_AXES, _AXIS_WIDTH = ("#f2453d", "#3fbf4a", "#3b82f6"), 1.75
_AXIS_RATIO = 0.45  # length of an axis, by the mean length of a joint's links
_AXIS_LIMITS = 0.006, 0.05  # shortest and longest axis, by the size of the skeleton
_BOX, _BOX_WIDTH = "#0f9d8f", 1.5
_TRAJECTORY, _TRAJECTORY_WIDTH, _NOW_WIDTH = "#d946c4", 2.0, 8.0
_TICK_WIDTH = 4.5


def skeleton_lines(joints: NDArray[Any], parents: NDArray[np.int32]) -> Lines:
    """Links from the joints (J, 3) to their parents, and a dot at each joint."""
    children = np.flatnonzero(parents >= 0)
    links = lines(joints[parents[children]], joints[children], _LINK, _LINK_WIDTH)
    return np.concatenate([links, joint_dots(joints)])


def joint_dots(joints: NDArray[Any]) -> Lines:
    """A dot at each of the joints (J, 3)."""
    return lines(joints, joints, _JOINT, _JOINT_WIDTH)


def axis_lines(joints: NDArray[Any], parents: NDArray[np.int32]) -> Lines:
    """The directions of x, y and z of joints (J, 3, 4): red, green and blue."""
    starts = np.asarray(joints[:, :, 3], np.float64)
    lengths = _axis_lengths(starts, parents)[:, None]
    result = []
    for axis, color in enumerate(_AXES):
        direction = np.array(joints[:, :, axis], np.float64)
        direction /= np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-300)
        result.append(lines(starts, starts + lengths * direction, color, _AXIS_WIDTH))
    return np.concatenate(result)


def _axis_lengths(joints: NDArray[np.float64], parents: NDArray[np.int32]) -> NDArray[np.float64]:
    """The lengths (J,) of axes in scene units; they are short where links are short."""
    children = np.flatnonzero(parents >= 0)
    lengths = np.linalg.norm(joints[children] - joints[parents[children]], axis=1)
    sums, counts = np.zeros(len(joints)), np.zeros(len(joints))
    for ends in (children, parents[children]):
        np.add.at(sums, ends, lengths)
        np.add.at(counts, ends, 1)
    size = float(np.ptp(joints, axis=0).max()) or 1.0
    means = sums / np.maximum(counts, 1)
    return np.clip(_AXIS_RATIO * means, _AXIS_LIMITS[0] * size, _AXIS_LIMITS[1] * size)


def box_lines(box: NDArray[np.float64], alpha: float) -> Lines:
    """The twelve edges of a box (2, 3); none if the box is not finite."""
    if not np.isfinite(box).all():
        return no_lines()
    corners = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    ends = [(i, i | bit) for bit in (1, 2, 4) for i in range(8) if not i & bit]
    starts, stops = np.array(ends).T
    return lines(corners[starts], corners[stops], _BOX, _BOX_WIDTH, alpha)


def trajectory_lines(points: NDArray[Any], ticks: NDArray[Any], now: NDArray[Any]) -> Lines:
    """A line through points (N, 3), a dot at each of `ticks` (K, 3), and a larger dot at `now` (3,)."""
    here = np.reshape(now, (1, 3))
    return np.concatenate(
        [
            lines(points[:-1], points[1:], _TRAJECTORY, _TRAJECTORY_WIDTH),
            lines(ticks, ticks, _TRAJECTORY, _TICK_WIDTH),
            lines(here, here, _JOINT, _NOW_WIDTH),
        ]
    )


def lines(starts: NDArray[Any], ends: NDArray[Any], color: str, width: float, alpha: float = 1.0) -> Lines:
    """Lines from `starts` (N, 3) to `ends` (N, 3) with one sRGB color and one width in pixels."""
    result = np.empty((len(starts), LINE_FLOATS), np.float32)
    result[:, :3], result[:, 3:6] = starts, ends
    result[:, 6:9], result[:, 9], result[:, 10] = linear(color), alpha, width
    return result


def dot_lines(x: NDArray[np.float64], y: float, colors: NDArray[np.float64], width: float) -> Lines:
    """Dots in row `y` of the picture at columns `x` (N,), in linear colors (N, 3)."""
    result = np.zeros((len(x), LINE_FLOATS), np.float32)
    result[:, 0], result[:, 3] = x, x
    result[:, 1], result[:, 4] = y, y
    result[:, 6:9], result[:, 9], result[:, 10] = colors, 1.0, width
    return result


def linear(color: str) -> tuple[float, float, float]:
    """Linear red, green and blue of a color "#rrggbb"."""
    red, green, blue, _ = (srgb_to_linear(part) for part in parse_color("color", color))
    return red, green, blue


def no_lines() -> Lines:
    """An array of no lines, (0, 11)."""
    return np.zeros((0, LINE_FLOATS), np.float32)
