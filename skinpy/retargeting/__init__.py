"""Motion from one character to another: joints matched by name, rotations carried between rest poses."""

from .clips import retarget
from .humanoid import Humanoid
from .matching import JointMatch, match_joints

__all__ = ["Humanoid", "JointMatch", "match_joints", "retarget"]
