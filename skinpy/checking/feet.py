"""The rule of skinpy.check for feet that slide over the ground."""

from collections.abc import Iterator

import numpy as np

from .. import _block
from .._types import Array
from ..clip import Clip
from ..posing.kinematics import up_vector
from .findings import Finding, finding
from .subject import TRAVELS, Subject

#: Fraction of the travel speed at which planted feet slide: feet that roll from heel to toe are never at rest
#: everywhere, so the estimate is not 0 for them either.
_SLIDES = 0.15

#: The fewest joints of a figure that walks: a body and two feet. Fewer belong to an object that tumbles.
_MIN_JOINTS = 3

#: Planted points with the velocity of the body, within this fraction, are not feet: the body flies or rolls.
_CARRIED = 0.3


def foot_slide(subject: Subject, clip: Clip) -> Iterator[Finding]:
    """Find feet that do not stand while the clip, or its root motion, moves the body over the ground.

    The feet of a clip that walks in place may have any steady speed, so such a clip cannot be judged.
    """
    if clip.is_additive or clip.duration <= 0:
        return
    records = clip._channel_records
    if len(np.unique(records["joint"][records["path"] < _block.WEIGHT_PATH])) < _MIN_JOINTS:
        return
    travel = subject.travel(clip) + _root_travel(subject, clip)
    speed = float(np.linalg.norm(travel)) / clip.duration
    if speed * clip.duration <= TRAVELS * subject.size:
        return
    feet = clip._with(motion=None).root_motion_from_feet()._motion
    assert feet is not None
    planted = -feet.values[-1, :3].astype(np.float64) / clip.duration
    planted = planted + (travel - subject.travel(clip)) / clip.duration
    slide = float(np.linalg.norm(planted))
    if slide > _SLIDES * speed and np.linalg.norm(planted - travel / clip.duration) > _CARRIED * speed:
        yield finding(
            "foot_slide",
            "warning",
            f"planted feet slide at {slide:.4g} model units per second, {100 * slide / speed:.3g} % of the "
            f"speed of {speed:.4g} at which the clip travels",
            "adapt the path to the steps with Clip.root_motion_from_feet, or lock the feet with lock_feet",
            clip=clip.name,
            size=slide,
        )


def _root_travel(subject: Subject, clip: Clip) -> Array:
    """Return the translation (3,) of the clip's root motion over the ground; 0 without root motion."""
    motion = clip.root_motion
    if motion is None:
        return np.zeros(3)
    up = up_vector(subject.model)
    path = np.asarray(motion.sample(clip.duration), np.float64)[:3, 3]
    return np.asarray(path - (path @ up) * up)
