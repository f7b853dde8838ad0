"""The ground under a clip: how it moves below a clip that plays in place, and how high it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._types import Array
from ..clip import Channel, Clip
from ..clips.carrier import carrier
from ..clips.evaluate import sample_channel, trs, unit
from ..posing.kinematics import up_vector
from .soles import figure_size

#: A clip whose carrier keeps within this fraction of the size over the ground plays in place.
_IN_PLACE = 0.25
_MAX_PATH_TIMES = 512
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


def ground_of(clip: Clip, feet: Sequence[str]) -> Ground:
    """Return the ground of a clip: that of its root motion, a still one, or one that moves below its steps.

    A clip in place without root motion is taken for a walk, whose ground moves as
    `Clip.root_motion_from_feet` finds it.
    """
    still = Ground(clip, np.zeros(3))
    if clip._motion is not None or not clip.duration > 0 or not feet:
        return still
    model = clip._bound_model()
    times = np.linspace(0.0, clip.duration, _MAX_PATH_TIMES)
    up = up_vector(model)
    path = model.joint_positions(clip, times, loop="clamp")[:, carrier(clip)].astype(np.float64)
    path -= (path @ up)[:, None] * up
    if still._travels(float(np.linalg.norm(np.ptp(path, axis=0)))):
        return still
    motion = clip.root_motion_from_feet(feet)._motion
    assert motion is not None
    return Ground(clip, motion.values[-1, :3].astype(np.float64) / clip.duration)
