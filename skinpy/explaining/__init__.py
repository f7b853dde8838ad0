"""One vertex explained: the keys, joints and weights behind its position, step by step."""

from .explanation import Explanation, Influence, JointStep, MorphStep, Outcome, Sampled, explain

__all__ = ["Explanation", "Influence", "JointStep", "MorphStep", "Outcome", "Sampled", "explain"]
