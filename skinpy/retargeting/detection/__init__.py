"""Find the bones of a humanoid by the names of the joints and the structure of the skeleton."""

from .search import detect

__all__ = ["detect"]
