"""skinpy.check: a linter for animated models. docs/check.md has all codes, their units and the thresholds."""

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
from ..models.pickling import need_vertices
from .findings import Findings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._types import PathLike
    from ..limits import Limits
    from ..loading import External, Isolate

__all__ = ["check"]


def check(
    model_or_path: Model | PathLike,
    *,
    joints: int | None = None,
    isolate: Isolate = True,
    limits: Limits = USUAL,
    allow_formats: Iterable[str] | None = None,
    external: External = "folder",
) -> Findings:
    """Return the faults of an animated model, with a remedy for each.

    docs/check.md lists all faults, their units and the thresholds. Clips are measured in a bounded number of
    frames.

    Parameters
    ----------
    model_or_path : Model, str or os.PathLike
        A model, or a file to load. A file is loaded with up to 8 influences per vertex, so that the error of
        fewer can be measured; for a Model only the number of influences that loading dropped is known.
    joints : int, optional
        The number of palette slots (joints that move vertices) that the target program holds.
    isolate : bool or "strict", default True
        Whether a file is imported in a process of its own, as in `skinpy.load`.
    limits : Limits, optional
        Limits of the import, as in `skinpy.load`.
    allow_formats : iterable of str, optional
        File extensions that may be loaded, as in `skinpy.load`.
    external : {"folder", "none", "any"}, default "folder"
        Which files a file may name, as in `skinpy.load`.

    Returns
    -------
    Findings
        The faults that were found; empty if there are none.

    Raises
    ------
    LoadError
        If the file cannot be read, for example because a number is not finite.
    FileNotFoundError
        If there is no such file.
    ValueError
        If `joints` is less than 1, an option is unknown, or the model came out of a pickle without its
        vertices.
    TypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> skinpy.check(skinpy.character(), joints=16)[0].code
    'joints_over_limit'
    """
    from .rules import findings_of  # the rules import modules that no other call needs

    confined = confinement(isolate, limits, allow_formats, external)
    limit = None if joints is None else whole("joints", joints, 1, wanted="a whole number or None")
    if isinstance(model_or_path, Model):
        need_vertices(model_or_path, "check")
        return findings_of(model_or_path, limit)
    if not isinstance(model_or_path, str | os.PathLike):
        kind = type(model_or_path).__name__
        raise TypeError(f"model_or_path is of type {kind}; expected a Model or a path")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkinpyWarning)  # the findings have the same
        model = load(model_or_path, max_influences=_core.MAX_INFLUENCES, **confined)
    return findings_of(model, limit)
