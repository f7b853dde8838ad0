"""Inertial fades: only the new clip plays, and its difference from the pose before dies out.

The curve is in csrc/core/pose/sk_fade.h: the quintic of D. Bollo, "Inertialization: High-Performance
Animation Transitions in Gears of War" (GDC 2018). It takes the part of the start velocity that leads straight
to zero, and a difference that would cross zero dies out sooner. Bollo drops the rest of the velocity; here it
dies out too, by a curve of its own, so that the velocity has no jump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import rotation
from .._types import Array, Floats
from ..posing.kinematics import conjugate, quaternion_product
from .animated import Animated

if TYPE_CHECKING:
    from ..model import Model
    from .layer import Layer
    from .playback import Playback

_STEP = 1 / 4096  # seconds of the controller between the poses that a velocity is the difference of
_SHORTEST = 1 / 60  # seconds: however small a difference is, its velocity does not end in less
_NOTHING = 1e-12  # a difference without a direction


class Inertia:
    """The difference that a layer has left from a motion that has ended."""

    def __init__(self, rows: Floats, ramp: Animated) -> None:
        self.rows = rows  #: (3 J + M, 8): of T, of R as rotation vectors, of S and of morph weights
        self.ramp = ramp  #: goes from 0 to 1 while the difference dies out


class State(NamedTuple):
    """A pose of a layer and those below it, and how fast it moves: a second."""

    rotation: Array  #: (J, 4)
    spin: Array  #: (J, 3): angular velocities, in the space of the parent joint
    values: Array  #: (2 J + M, 3): T, S and morph weights
    speed: Array  #: (2 J + M, 3)


def state(playback: Playback, model: Model, layer: Layer, side: int) -> State:
    """Return the present state of a layer.

    Velocities are those of the time before (`side` -1) or after (1). Where a joint jumps there, as at the
    seam of a loop or at a key of a step channel, they are those of the other side, or 0.
    """
    turned, values = _pose(playback, model, layer, 0.0)
    spin, speed, jumps, other_jumps = _velocities(playback, model, layer, side, turned, values)
    if jumps.any() or other_jumps.any():
        spins, speeds, *both = _velocities(playback, model, layer, -side, turned, values)
        spin = np.where(jumps, np.where(both[0], 0.0, spins), spin)
        speed = np.where(other_jumps, np.where(both[1], 0.0, speeds), speed)
    return State(turned, spin, values, speed)


def _pose(playback: Playback, model: Model, layer: Layer, shift: float) -> tuple[Array, Array]:
    """Return rotations (J, 4) and the other values (2 J + M, 3) of a time near the present one."""
    pose = model._mix_pose(playback.planned_near(layer, shift), model.pose())
    weights = np.zeros((len(pose.morph_weights), 3))
    weights[:, 0] = pose.morph_weights
    return pose.rotation.astype(np.float64), np.concatenate([pose.translation, pose.scale, weights])


def _velocities(
    playback: Playback, model: Model, layer: Layer, side: int, turned: Array, values: Array
) -> tuple[Array, Array, Array, Array]:
    """Return angular velocities and velocities of one side, and where they are jumps.

    Half of a step moves a joint half as far as the whole step, but a jump as far.
    """
    moves = []
    for steps in (1, 2):
        there, others = _pose(playback, model, layer, side * steps * _STEP)
        moves.append((_vector(_nearer(_from_to(turned, there))), others - values))
    (turn, move), (turn_of_two, move_of_two) = moves
    rate = side / _STEP
    return rate * turn, rate * move, _jumps(turn, turn_of_two), _jumps(move, move_of_two)


def _jumps(one: Array, two: Array) -> Array:
    """Return (..., 1) where a move in one step is not about half of that in two steps."""
    lengths = [np.linalg.norm(move, axis=-1, keepdims=True) for move in (one, two)]
    return np.asarray(lengths[0] > 0.75 * lengths[1])


def inertia_between(old: State, new: State, span: float) -> Inertia:
    """Return the difference from a new state to an old one, which dies out within `span` seconds."""
    joints = len(old.rotation)
    turn = _nearer(_from_to(new.rotation, old.rotation))
    # The turn a step earlier, if both sides go on evenly.
    back = rotation.from_rotvec(-_STEP * old.spin), rotation.from_rotvec(_STEP * new.spin)
    earlier = quaternion_product(quaternion_product(back[0], turn), back[1])
    vector = _vector(turn)
    earlier *= np.where((earlier * turn).sum(-1, keepdims=True) < 0, -1.0, 1.0)
    spin = (vector - _vector(earlier)) / _STEP
    values, speed = old.values - new.values, old.speed - new.speed
    x = np.concatenate([values[:joints], vector, values[joints:]])
    v = np.concatenate([speed[:joints], spin, speed[joints:]])
    return Inertia(_rows(x, v, span), Animated(0.0))


def _from_to(start: Array, end: Array) -> Array:
    """Return the rotations that lead from unit quaternions to others: end * conj(start)."""
    return quaternion_product(end, conjugate(start))


def _nearer(quaternion: Array) -> Array:
    """Return quaternions with the sign of at most 180 degrees."""
    return np.where(quaternion[:, 3:] < 0, -quaternion, quaternion)


def _vector(quaternion: Array) -> Array:
    """Return rotation vectors, of more than 180 degrees where w < 0."""
    sine = np.linalg.norm(quaternion[:, :3], axis=-1, keepdims=True)
    scale = np.where(sine > 0, 2 * np.arctan2(sine, quaternion[:, 3:]) / np.where(sine > 0, sine, 1.0), 2.0)
    return np.asarray(scale * quaternion[:, :3])


def _rows(x: Array, v: Array, span: float) -> Floats:
    """Return the rows of sk_inertia for differences and their velocities, (N, 3) each."""
    size = np.linalg.norm(x, axis=-1, keepdims=True)
    direction = np.where(size > _NOTHING, x / np.maximum(size, _NOTHING), 0.0)
    toward = np.minimum((v * direction).sum(-1, keepdims=True), 0.0)
    free = (v - toward * direction) * span
    seconds = np.full_like(size, span)
    falls = toward < 0
    seconds[falls] = np.clip(-5 * size[falls] / toward[falls], min(span, _SHORTEST), span)
    start = np.where(falls, toward * seconds / np.maximum(size, _NOTHING), 0.0)
    return np.ascontiguousarray(np.concatenate([x, free, 1 / seconds, start], axis=1), np.float32)
