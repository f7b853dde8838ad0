"""Checks of a model for faults that loading does not stop at, each with a rule, a size and a remedy."""

from .checks import check
from .findings import Finding, Findings, Level

__all__ = ["Finding", "Findings", "Level", "check"]
