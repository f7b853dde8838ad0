"""Cameras on a circle around a model."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skinpy._arguments import brief, finite, whole

from .camera import Camera, Framing, front_vector, up_vector
from .posing import Poser

if TYPE_CHECKING:
    from skinpy.model import Model

    from .posing import ClipLike, Motion

_MAX_CAMERAS = 1_000_000
_RING = 64  # points of a circle that is to be in the picture


def turntable(
    model: Model,
    clip: ClipLike = None,
    count: int = 120,
    *,
    aspect: float = 4 / 3,
    azimuth: float = 30.0,
    elevation: float = 12.0,
    fov: float = 30.0,
    margin: float = 0.06,
) -> list[Camera]:
    """Return cameras on a level circle around a model, each with the whole clip in the picture.

    All have the same distance. Each stands 360 / count degrees further to the model's left than the one
    before, so that the first follows the last.

    Parameters
    ----------
    model : Model
        The model.
    clip : Clip, VertexAnimation, str or int, optional
        The clip, as in `Renderer.frame`.
    count : int, default 120
        Number of cameras.
    aspect : float, default 4/3
        Width of the pictures by their height.
    azimuth : float, degrees, default 30.0
        Where the first camera stands, as in `Camera.frame`.
    elevation : float, degrees, default 12.0
        How far all cameras look down, as in `Camera.frame`.
    fov : float, degrees, default 30.0
        The vertical angle of the pictures, 1 to 170.
    margin : float, default 0.06
        Fraction of the picture to leave free at each side, 0 to 0.4.

    Returns
    -------
    list of Camera
        The cameras.

    Raises
    ------
    KeyError
        If the model has no clip of this name.
    IndexError
        If the model has no clip of this index.
    ValueError
        If the count is below 1, or an angle, the aspect or the margin is out of range.
    TypeError
        If `clip` or `count` has the wrong type.

    Examples
    --------
    >>> len(skinpy.render.turntable(skinpy.character(), "walk", 24))
    24
    """
    count = whole("count", count, 1)
    if count > _MAX_CAMERAS:
        raise ValueError(f"count is {brief(count)}; expected at most {_MAX_CAMERAS}")
    finite("azimuth", azimuth)
    poser = Poser(model)
    framing = Framing(model.up, 0.0, elevation, fov, aspect, margin)
    return circling(poser, poser.motion(clip), count, framing, azimuth)


def circling(
    poser: Poser, motion: Motion, count: int, framing: Framing, azimuth: float = 30.0, box: bool = False
) -> list[Camera]:
    """Cameras around a motion, as `turntable` returns them; with `box`, the box around it is seen too."""
    middle, radius, half_height = poser.facts.pillar(motion, box)
    up = up_vector(poser.model.up)
    camera = framing.camera(_cylinder(middle, radius, half_height, up, front_vector(poser.model.up)))
    angles = math.radians(azimuth) + 2 * math.pi * np.arange(count) / count
    return [_rotated(camera, middle, up, angle) for angle in angles.tolist()]


def _cylinder(
    middle: NDArray[np.float64],
    radius: float,
    half_height: float,
    up: NDArray[np.float64],
    front: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(128, 3): the corners of a prism around an upright cylinder, symmetric to `front`."""
    angles = 2 * np.pi * np.arange(_RING) / _RING
    wide = radius / math.cos(math.pi / _RING)  # the circle touches the prism's faces from inside
    ring = middle + wide * (np.outer(np.cos(angles), front) + np.outer(np.sin(angles), np.cross(up, front)))
    return np.concatenate([ring - half_height * up, ring + half_height * up])


def _rotated(camera: Camera, middle: NDArray[np.float64], up: NDArray[np.float64], angle: float) -> Camera:
    """The camera moved around the upright axis through `middle`, to the model's left, by radians."""
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = up
    rotation = c * np.eye(3) + s * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) + (1 - c) * np.outer(up, up)
    eye, target = (
        tuple((middle + rotation @ (point - middle)).tolist()) for point in (camera.eye, camera.target)
    )
    upwards = tuple((rotation @ camera.up).tolist())
    return dataclasses.replace(camera, eye=eye, target=target, up=upwards)
