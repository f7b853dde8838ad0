"""Motion from one character to another: joints paired as bones of a humanoid, and reference poses."""

from .clips import match_poses, retarget
from .humanoid import Humanoid
from .matching import JointMatch, match_joints
from .references import PoseMatch

__all__ = ["Humanoid", "JointMatch", "PoseMatch", "match_joints", "match_poses", "retarget"]
