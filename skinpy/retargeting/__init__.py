"""Motion from one character to another: joints matched by name, rotations carried between rest poses."""

from .clips import retarget
from .matching import JointMatch, match_joints

__all__ = ["JointMatch", "match_joints", "retarget"]
