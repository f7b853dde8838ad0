"""Which peers are here. One that is not is named with the reason, on the screen and on the page."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import three_side


@dataclass
class Peers:
    """Versions of the peers that are here, and why others are not."""

    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    numba: Any = None  # NumbaModel
    usd: Any = None  # UsdModel
    three: Any = None  # three_side.play
    momentum: Any = None  # MomentumModel
    gigahertz: float | None = None  # the clock, which takes numba to measure
    spend_cycles: Any = None  # numba_side.spend_cycles, likewise


def find() -> Peers:
    found = Peers({"NumPy": np.__version__})
    _find_numba(found)
    _find_usd(found)
    reason = three_side.missing()
    if reason:
        found.missing["three.js"] = reason
    else:
        found.three, found.versions["three.js"] = three_side.play, three_side.version()
    _find_momentum(found)
    return found


def _find_numba(found: Peers) -> None:
    try:
        from .numba_side import NumbaModel, gigahertz, spend_cycles
    except ImportError as error:
        found.missing["numba"] = f"{error}; `pip install numba`"
    else:
        found.numba, found.versions["numba"] = NumbaModel, importlib.metadata.version("numba")
        if platform.machine() == "x86_64":
            found.gigahertz, found.spend_cycles = round(gigahertz(), 2), spend_cycles


def _find_momentum(found: Peers) -> None:
    try:
        from .momentum_side import MomentumModel
    except ImportError as error:
        why = f"{error}; `pip install pymomentum-cpu`"
        if sys.version_info < (3, 12):
            why = "pymomentum-cpu has wheels for Python 3.12 and 3.13 alone, this is an older one"
        found.missing["Momentum"] = why
    else:
        found.momentum = MomentumModel
        found.versions["Momentum"] = importlib.metadata.version("pymomentum-cpu")


def _find_usd(found: Peers) -> None:
    try:
        from .usd_side import UsdModel
    except ImportError as error:
        found.missing["UsdSkel"] = f"{error}; `pip install usd-core`"
    else:
        found.usd, found.versions["UsdSkel"] = UsdModel, importlib.metadata.version("usd-core")
