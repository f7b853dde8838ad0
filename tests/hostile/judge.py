"""What a load of a hostile file may end in, and what it must never do to this process.

An exception of ours, or a model whose block the reader takes again, that skinpy.check looks through, and
whose poses are finite wherever they are asked for. Anything else is a fault, in words.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import skinpy
from skinpy import _core

#: The errors that a hostile file may end in, with the kinds of LoadError first.
OUTCOMES: tuple[tuple[str, type[BaseException]], ...] = (
    ("FormatRefused", skinpy.FormatRefused),
    ("LimitExceeded", skinpy.LimitExceeded),
    ("ImporterCrashed", skinpy.ImporterCrashed),
    ("LoadError", skinpy.LoadError),
    ("SkinpyError", skinpy.SkinpyError),
    ("FileNotFoundError", FileNotFoundError),
    ("MemoryError", MemoryError),
)
KINDS = ("model", *(name for name, _ in OUTCOMES))
MOST_CLIPS = 8  # looked at, from each end of the list
MOST_USUAL = 1e6  # the largest number in a model whose poses float32 must be able to hold


@dataclass(frozen=True)
class Outcome:
    kind: str  #: one of KINDS, or the name of an exception that is none of ours
    words: str  #: of the exception
    faults: tuple[str, ...]  #: what must not be
    seconds: float  #: of the load alone
    overflows: bool = False  #: numbers of the file are so large that float32 cannot hold what comes of them
    growth: int = 0  #: bytes by which this process grew at most during the load; 0: the system does not tell


def resident_bytes() -> int:
    """Memory of this process that is in use now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def reset_peak() -> bool:
    """Lets peak_bytes count from now on; False where the system does not allow it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_bytes() -> int:
    """The most memory of this process that was in use at once, since the peak was reset."""
    words = Path("/proc/self/status").read_text().split()
    return int(words[words.index("VmHWM:") + 1]) << 10


def outcome_of(load: Callable[[], skinpy.Model], *, with_check: bool = True) -> Outcome:
    """What `load` ends in. with_check=False leaves out skinpy.check, which takes longer than the load."""
    grown = 0

    def measured() -> skinpy.Model:
        nonlocal grown
        before = resident_bytes() if reset_peak() else None
        try:
            return load()
        finally:
            grown = 0 if before is None else peak_bytes() - before

    outcome = _outcome_of(measured, with_check)
    return replace(outcome, growth=grown)


def _outcome_of(load: Callable[[], skinpy.Model], with_check: bool) -> Outcome:
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", skinpy.SkinpyWarning)
            model = load()
    except Exception as error:
        seconds = time.perf_counter() - begin
        for kind, ours in OUTCOMES:
            if isinstance(error, ours):
                faults = () if str(error) or kind == "MemoryError" else (f"{kind} without a word",)
                return Outcome(kind, str(error), faults, seconds)
        kind = type(error).__name__
        return Outcome(kind, str(error), (f"{kind} is no error of ours: {error}",), seconds)
    seconds = time.perf_counter() - begin
    try:
        faults, unbounded = faults_of(model, with_check), not_finite(model)
    except Exception as error:
        return Outcome(
            "model", "", (f"{type(error).__name__} from a model that was loaded: {error}",), seconds
        )
    if unbounded and largest(model) > MOST_USUAL:
        return Outcome("model", "; ".join(unbounded), faults, seconds, overflows=True)
    return Outcome("model", "", (*faults, *unbounded), seconds)


def faults_of(model: skinpy.Model, with_check: bool) -> tuple[str, ...]:
    """What the reader and Model.check say of a model that was loaded: numbers of its own must be finite."""
    _core.Block(bytes(memoryview(model._block)))  # the reader takes it as any other, or raises
    faults = [f"{name} are not finite" for name, array in own_numbers(model) if not np.isfinite(array).all()]
    return (*faults, *(broken_numbers(model) if with_check else ()))


def clips_of(model: skinpy.Model) -> list[skinpy.Clip]:
    return [*model.clips[:MOST_CLIPS], *model.clips[MOST_CLIPS:][-MOST_CLIPS:]]


def own_numbers(model: skinpy.Model) -> Iterator[tuple[str, Any]]:
    """The arrays of the model itself."""
    yield "positions", model.mesh.positions
    yield "weights", model.mesh.weights
    yield "inverse bind matrices", model.skin.inverse_bind
    for clip in clips_of(model):
        for channel in clip.channels:
            for part in ("times", "values", "in_tangents", "out_tangents"):
                array = getattr(channel, part)
                if array is not None:
                    yield f"{part} of {clip.name!r}", array


def largest(model: skinpy.Model) -> float:
    """The largest number among keys, rest pose, skin and positions."""
    arrays = [array for _, array in own_numbers(model)]
    arrays.append(model.globals(None, 0.0))
    return max((float(np.abs(array).max()) for array in arrays if array.size), default=0.0)


def not_finite(model: skinpy.Model) -> list[str]:
    """Poses and vertices, of the rest pose and of clips, inside and far outside, that are not finite."""
    arrays: dict[str, Any] = {"rest palette": model.palette(None, 0.0)}
    for clip in clips_of(model):
        times = np.array([-1.0, 0.0, 0.37 * clip.duration, clip.duration, 1e9])
        arrays[f"palettes of {clip.name!r}"] = palettes = model.palette(clip, times, affine=True)
        arrays[f"globals of {clip.name!r}"] = model.globals(clip, times[2])
        positions, normals = model.deform(palettes[2])
        arrays[f"vertices of {clip.name!r}"] = positions
        if normals is not None:
            arrays[f"normals of {clip.name!r}"] = normals
    return [f"{name} are not finite" for name, array in arrays.items() if not np.isfinite(array).all()]


def broken_numbers(model: skinpy.Model) -> list[str]:
    """Errors that Model.check finds in the model itself; what was wrong in the file is in its report."""
    # Numbers of any size are sane. Whether poses may overflow depends on them: see not_finite.
    told = {"overflow", *(entry.code for entry in model.report)}
    return [f"{one.code}: {one.message}" for one in model.check().errors if one.code not in told]
