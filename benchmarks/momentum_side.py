"""Momentum's Python package, and why it is not measured: pymomentum-cpu has wheels for CPython 3.12 and 3.13
alone, and asks for one version of torch."""

from __future__ import annotations

import importlib.util
import sys


def missing() -> str:
    """Why it is not measured here."""
    if importlib.util.find_spec("pymomentum") is not None:
        return "pymomentum is installed, but benchmarks/momentum_side.py measures nothing with it yet"
    if sys.version_info < (3, 12):
        return "pymomentum-cpu has no wheel for this Python, it needs 3.12 or 3.13 and torch"
    return "pymomentum-cpu is not installed"
