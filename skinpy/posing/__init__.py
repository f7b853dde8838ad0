"""Poses changed by hand and by goal: forward kinematics, inverse kinematics."""
