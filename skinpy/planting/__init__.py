"""Feet that stand: where a clip's feet and hands touch the ground, and a clip whose feet stay there."""

from .locking import lock_feet

__all__ = ["lock_feet"]
