"""Exceptions and warnings of skinpy. Argument faults stay TypeError, ValueError, IndexError and KeyError."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = [
    "SkinpyError",
    "LoadError",
    "ImporterCrashed",
    "LimitExceeded",
    "FormatRefused",
    "ShaderError",
    "GraphicsError",
    "SkinpyWarning",
]


class SkinpyError(Exception):
    """Base of all errors that are skinpy's own."""


class LoadError(SkinpyError):
    """A file or block cannot be made into a model; the text names it and says why."""


class ImporterCrashed(LoadError):
    """The import of a file ended with a signal."""


class LimitExceeded(LoadError):
    """A file would take more than a limit allows; the text says which."""


class FormatRefused(LoadError):
    """A file is of a format that is not allowed; the text says which, and how to allow it."""


class ShaderError(SkinpyError):
    """A shader does not compile; the text has the file, the line and the driver's words."""


class GraphicsError(SkinpyError):
    """OpenGL cannot draw: no context (the text names the packages that bring one), or an error it reports."""


class SkinpyWarning(UserWarning):
    """Something of the input was lost; `model.report` has the details."""


def unknown_name(what: str, name: object, names: Iterable[str]) -> KeyError:
    """The KeyError for a `name` that is not among `names`, with the close ones."""
    import difflib  # of no use until something goes wrong

    known = list(dict.fromkeys(names))
    close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    if not close:
        close = [one for one in known if one.lower() == str(name).lower()]
    if close:
        hint = "did you mean " + " or ".join(map(repr, close)) + "?"
    elif known:
        listed = ", ".join(map(repr, known[:8]))
        hint = f"there are {listed}" + (f" and {len(known) - 8} more" if len(known) > 8 else "")
    else:
        hint = f"there is no {what} at all"
    return KeyError(f"unknown {what} {name!r}: {hint}")


def unknown_clip_number(argument: str, number: int, names: Sequence[str]) -> IndexError:
    """The IndexError for an `argument` that is the `number` of no clip; `names` are those of all clips."""
    if not names:
        return IndexError(f"{argument} is {number}; the model has no clips")
    listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    there = f"clips 0 to {len(names) - 1}" if len(names) > 1 else "clip 0 alone"
    return IndexError(f"{argument} is {number}; the model has {there} ({listed})")


def warn_of_losses(lost: Iterable[object], while_what: str) -> None:
    """One SkinpyWarning for report entries of severity "lost", where there are any."""
    import warnings

    words = "; ".join(map(str, lost)).replace("lost: ", "")
    if words:
        # The caller of the public function: it called this one.
        warnings.warn(f"lost while {while_what}: {words}", SkinpyWarning, stacklevel=3)
