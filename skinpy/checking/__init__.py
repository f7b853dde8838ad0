"""Checks of a model for faults that loading does not stop at, each with a rule, a place and a remedy."""

from .checks import check
from .findings import Finding, Findings, Level

__all__ = ["check", "Finding", "Findings", "Level"]
