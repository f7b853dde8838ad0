"""One vertex explained: the keys, joints and weights behind its position, step by step."""

from .chain import explain
from .explanation import Explanation, Influence, JointStep, MorphStep, Outcome, Sampled

__all__ = ["Explanation", "Influence", "JointStep", "MorphStep", "Outcome", "Sampled", "explain"]
