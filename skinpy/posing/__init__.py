"""Changes of poses: forward kinematics (by hand) and inverse kinematics (by goal)."""
