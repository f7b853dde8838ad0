"""Motion from one character to another: joints matched by name, rotations carried between rest poses."""

from .clips import JointMatch, match_joints, retarget

__all__ = ["JointMatch", "match_joints", "retarget"]
