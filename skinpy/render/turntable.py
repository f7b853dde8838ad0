"""Cameras on a circle round a model."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skinpy._arguments import whole

from .camera import Camera, Framing, front_vector, up_vector
from .posing import Poser

if TYPE_CHECKING:
    from skinpy.model import Model

    from .posing import ClipLike

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
    """`count` cameras on a level circle round the model, all as far from it, with all of the clip in the
    picture. `clip` is as in `Renderer.frame`.

    The first looks from `azimuth` and `elevation`, degrees, as in `Camera.frame`; each further one stands
    360 / count degrees further to the model's left, so that after the last the first comes again. `aspect` is
    the picture's width by its height. Raises KeyError or IndexError for an unknown clip; ValueError for a
    wrong count, angle, aspect or margin.
    """
    count = whole("count", count, 1)
    if not math.isfinite(azimuth):
        raise ValueError(f"azimuth is {azimuth}; expected a finite number of degrees")
    poser = Poser(model)
    framing = Framing(model.up, 0.0, elevation, fov, aspect, margin)
    middle, radius, half_height = poser.pillar(poser.motion(clip))
    up = up_vector(model.up)
    camera = framing.camera(_cylinder(middle, radius, half_height, up, front_vector(model.up)))
    angles = math.radians(azimuth) + 2 * math.pi * np.arange(count) / count
    return [_turned(camera, middle, up, angle) for angle in angles.tolist()]


def _cylinder(
    middle: NDArray[np.float64],
    radius: float,
    half_height: float,
    up: NDArray[np.float64],
    front: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(128, 3): the corners of a prism round an upright cylinder, alike on both sides of `front`."""
    angles = 2 * np.pi * np.arange(_RING) / _RING
    wide = radius / math.cos(math.pi / _RING)  # the circle touches the prism's faces from inside
    ring = middle + wide * (np.outer(np.cos(angles), front) + np.outer(np.sin(angles), np.cross(up, front)))
    return np.concatenate([ring - half_height * up, ring + half_height * up])


def _turned(camera: Camera, middle: NDArray[np.float64], up: NDArray[np.float64], angle: float) -> Camera:
    """The camera turned about the upright axis through `middle`, to the left as the model sees it."""
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = up
    turn = c * np.eye(3) + s * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) + (1 - c) * np.outer(up, up)
    eye, target = (
        tuple((middle + turn @ (place - middle)).tolist()) for place in (camera.eye, camera.target)
    )
    upwards = tuple((turn @ camera.up).tolist())
    return dataclasses.replace(camera, eye=eye, target=target, up=upwards)
