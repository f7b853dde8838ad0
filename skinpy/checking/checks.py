"""skinpy.check: a linter for animated files. docs/check.md has all codes, their units and the thresholds."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from .. import _core
from .._arguments import whole
from .._confinement import USUAL, confinement
from ..errors import SkinpyWarning
from ..loading import load
from ..model import Model
from .findings import Finding, Findings, Level

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._types import PathLike
    from ..limits import Limits
    from ..loading import External

__all__ = ["check", "Finding", "Findings", "Level"]


def check(
    model_or_path: Model | PathLike,
    *,
    joints: int | None = None,
    isolate: bool = True,
    limits: Limits = USUAL,
    allow_formats: Iterable[str] | None = None,
    external: External = "folder",
) -> Findings:
    """What is wrong, or odd, in an animated model: docs/check.md.

    A path is loaded with up to 8 influences a vertex, so that what fewer cost can be measured; of a Model,
    what its loading dropped is known by count alone. joints is how many palette slots (joints that move
    vertices) the program that is to show it holds. Clips are looked at in a bounded number of frames.
    isolate, limits, allow_formats and external are as in skinpy.load, for a path.

    Raises TypeError and ValueError for the arguments, FileNotFoundError, and LoadError for what cannot be
    read: numbers that are not finite, among others.
    """
    from .rules import findings_of  # the rules bring modules along that no other call needs

    confined = confinement(isolate, limits, allow_formats, external)
    limit = None if joints is None else whole("joints", joints, 1, wanted="a whole number or None")
    if isinstance(model_or_path, Model):
        return findings_of(model_or_path, limit)
    if not isinstance(model_or_path, str | os.PathLike):
        kind = type(model_or_path).__name__
        raise TypeError(f"model_or_path is of type {kind}; expected a Model or a path")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkinpyWarning)  # the findings say it
        model = load(model_or_path, max_influences=_core.MAX_INFLUENCES, **confined)
    return findings_of(model, limit)
