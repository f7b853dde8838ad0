"""The ground under a clip: how it moves below a clip that plays in place, and how high it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._types import Array
from ..clip import Channel, Clip
from ..clips.carrier import carrier
from ..clips.evaluate import sample_channel, trs, unit
from ..clips.stepping import common_velocity
from ..posing.kinematics import up_vector
from .soles import Sole, figure_size

#: A clip whose carrier keeps within this fraction of the size over the ground plays in place.
_IN_PLACE = 0.25
_MAX_PATH_TIMES = 512
#: The velocity of a walk in place is measured at this rate, in Hz, with a number of steps in this range.
_RATE, _MIN_STEPS, _MAX_STEPS = 60.0, 32, 960
#: The weight of a point falls off over this fraction of the size above the low percentile of the soles'
#: heights, and over this vertical speed in sizes per second.
_LOW, _LOW_PERCENTILE, _LEVEL = 0.05, 20.0, 0.05
#: A figure that drifts by less than this fraction of its size in a whole clip does not walk, and neither do
#: points whose velocities differ by more than this fraction of the speed.
_MIN_DRIFT, _MAX_SPREAD = 0.01, 0.5
#: The last pose of a loop is the first one to within this fraction of the size.
_MAX_SEAM = 0.02


@dataclass(frozen=True, eq=False)
class Ground:
    """The transform from the scene of a clip to the ground, on which planted feet stand still."""

    clip: Clip
    velocity: Array  #: (3,) of the character over the ground, for a clip in place without root motion

    def transforms(self, times: Array) -> Array:
        """Return the transforms (N,4,4) from the scene to the ground at times (N,)."""
        motion = self.clip._motion
        if motion is None:
            found = np.repeat(np.eye(4)[None], len(times), axis=0)
            found[:, :3, 3] = times[:, None] * self.velocity
            return found
        line = Channel(0, None, "", "translation", "linear", motion.times, motion.values[:, :3], None, None)
        turn = replace(line, path="rotation", values=motion.values[:, 3:])
        ones = np.ones((len(times), 3))
        return trs(sample_channel(line, times), unit(sample_channel(turn, times)), ones)

    def lap(self) -> Array | None:
        """Return the transform (4,4) on the ground from one round of a looping clip to the next.

        None for a clip whose last pose is not its first one, somewhere else on the ground.
        """
        clip = self.clip
        if not clip.duration > 0:
            return None
        model = clip._bound_model()
        ends = model.joint_positions(clip, [0.0, clip.duration], loop="clamp").astype(np.float64)
        up = up_vector(model)
        joint = carrier(clip)
        travel = ends[1, joint] - ends[0, joint]
        travel -= (travel @ up) * up
        if not self._travels(float(np.linalg.norm(travel))):
            travel = np.zeros(3)
        off = np.linalg.norm(ends[1] - travel - ends[0], axis=1).max()
        if not off <= _MAX_SEAM * figure_size(model):
            return None
        lap = self.transforms(np.array([clip.duration]))[0]
        step = np.eye(4)
        step[:3, 3] = travel
        return np.asarray(lap @ step)

    def _travels(self, distance: float) -> bool:
        return distance > _IN_PLACE * figure_size(self.clip._bound_model())


def ground_of(clip: Clip, soles: Sequence[Sole]) -> Ground:
    """Return the ground of a clip: that of its root motion, a still one, or one that moves below its steps.

    A clip in place without root motion is taken for a walk of the limbs with these soles.
    """
    still = Ground(clip, np.zeros(3))
    if clip._motion is not None or not clip.duration > 0 or not soles:
        return still
    model = clip._bound_model()
    times = np.linspace(0.0, clip.duration, _MAX_PATH_TIMES)
    up = up_vector(model)
    path = model.joint_positions(clip, times, loop="clamp")[:, carrier(clip)].astype(np.float64)
    path -= (path @ up)[:, None] * up
    if still._travels(float(np.linalg.norm(np.ptp(path, axis=0)))):
        return still
    return Ground(clip, _walking_velocity(clip, soles))


def _walking_velocity(clip: Clip, soles: Sequence[Sole]) -> Array:
    """Return the level velocity (3,) of a character in place over the ground; zero if it does not walk.

    It is minus the velocity that most low points of soles have which neither rise nor fall. Below a foot
    without toes that rolls, other points go deeper, so the lowest points alone would tell another velocity.
    """
    model = clip._bound_model()
    up, size = up_vector(model), figure_size(model)
    count = int(np.clip(np.ceil(clip.duration * _RATE), _MIN_STEPS, _MAX_STEPS))
    times = np.linspace(0.0, clip.duration, count + 1)
    matrices = model.globals(clip, times, loop="clamp")
    points = np.concatenate([sole.positions(matrices) for sole in soles], axis=1)
    velocities = np.diff(points, axis=0) / times[1]
    rises = velocities @ up
    heights = (points[1:] + points[:-1]) @ up / 2.0
    above = np.maximum(heights - np.percentile(heights.min(axis=1), _LOW_PERCENTILE), 0.0)
    weights = np.exp(-((above / (_LOW * size)) ** 2 + (rises / (_LEVEL * size)) ** 2) / 2.0)
    level = velocities - rises[..., None] * up
    planted, spread = common_velocity(level.reshape(-1, 3), weights.ravel())
    speed = float(np.linalg.norm(planted))
    if speed * clip.duration < _MIN_DRIFT * size or spread > _MAX_SPREAD * speed:
        return np.zeros(3)
    return np.asarray(-planted)
