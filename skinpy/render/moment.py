"""The arguments of a frame, as one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from skinpy._types import Loop, Rotation
    from skinpy.pose import Pose

    from .posing import Motion, PoseLike


class Moment(NamedTuple):
    """Which pose of a model a frame shows: a motion at a time, or a pose that the caller has.

    `Poser.moment` makes it from the arguments of `Renderer.frame`, and `Poser.figure` poses the model.
    """

    motion: Motion  # None is the rest pose, or stands beside `pose`
    time: float = 0.0  # seconds; beside a pose, of the texture and the floor alone
    pose: PoseLike | None = None  # in place of the motion
    loop: Loop = "wrap"
    rotation: Rotation = "slerp"
    root: ArrayLike | None = None  # (4, 4)
    morph_weights: ArrayLike | None = None  # (M,), in place of those of the motion or pose
    pose_at: Callable[[float], Pose] | None = None  # of a time, in place of the motion's: a layer over it
