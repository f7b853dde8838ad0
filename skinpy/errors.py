"""Exceptions and warnings of skinpy, and the errors that several modules raise in the same words.

Wrong arguments raise TypeError, ValueError, IndexError or KeyError.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ._text import printable, printable_lines, quoted_list

if TYPE_CHECKING:
    from .assets import ReportEntry

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
    """The base class of the exceptions that skinpy defines.

    Messages quote files and paths. No terminal obeys them: control characters are escaped, as Python does it.
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(printable_lines(one) if isinstance(one, str) else one for one in arguments))


class LoadError(SkinpyError):
    """A file or block cannot be made into a model.

    The message names the file and says why.
    """


class ImporterCrashed(LoadError):
    """The process that imports a file was ended by a signal."""


class LimitExceeded(LoadError):
    """A file needs more than a limit allows.

    The message names the limit.
    """


class FormatRefused(LoadError):
    """A file is of a format that is not allowed.

    The message names the format and says how to allow it.
    """


class ShaderError(SkinpyError):
    """A shader does not compile.

    The message has the file, the line and the message of the driver.
    """


class GraphicsError(SkinpyError):
    """OpenGL cannot draw.

    Either there is no context, and the message names the packages that provide one, or OpenGL reports an
    error.
    """


class SkinpyWarning(UserWarning):
    """Something in the input was lost.

    `Model.report` has the details.
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(printable(one) if isinstance(one, str) else one for one in arguments))


def unknown_name(what: str, name: object, names: Iterable[str], argument: str | None = None) -> KeyError:
    """The KeyError for a `name` that is not among `names`; the message suggests the closest names.

    `what` is the noun for the thing that is named, such as "joint"; `argument` is what the argument is
    called where that is another word.
    """
    import difflib  # imported here because only errors need it

    from ._arguments import brief

    wanted = name if isinstance(name, str) else brief(name)
    known = list(dict.fromkeys(names))
    close = difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
    if not close:
        close = [one for one in known if one.lower() == wanted.lower()]
    if close:
        hint = "did you mean " + quoted_list(close, " or ") + "?"
    elif known:
        hint = f"there are {quoted_list(known)}"
    else:
        hint = f"there is no {what}"
    where = f"{argument}: " if argument not in (None, what) else ""
    return KeyError(f"{where}unknown {what} {brief(name)}: {hint}")


def unknown_clip_number(argument: str, number: int, names: Sequence[str]) -> IndexError:
    """The IndexError for an `argument` whose `number` is out of range; `names` are those of all clips."""
    from ._arguments import brief  # only errors need it

    if not names:
        return IndexError(f"{argument} is {brief(number)}; the model has no clips")
    there = f"clips 0 to {len(names) - 1}" if len(names) > 1 else "clip 0 alone"
    return IndexError(f"{argument} is {brief(number)}; the model has {there} ({quoted_list(names)})")


def warn_of_losses(lost: Sequence[ReportEntry], while_what: str) -> None:
    """Give one SkinpyWarning for the report entries `lost`, or none if there are no entries.

    The warning names the first loss and its remedy, then the other losses.
    """
    if not lost:
        return
    import warnings

    from .checking.remedies import remedy_of  # only losses need it

    first, *others = (str(entry).removeprefix("lost: ") for entry in lost)
    words = f"lost while {while_what}: {first}; remedy: {remedy_of(lost[0])}"
    if others:
        words += f". Also lost: {'; '.join(others)}"
    # Level 3 is the caller of the public function, which calls this one.
    warnings.warn(words, SkinpyWarning, stacklevel=3)
