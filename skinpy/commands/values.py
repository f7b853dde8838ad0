"""Reads the values of options. Each reader raises ArgumentTypeError, which argparse shows with the usage.

A value that is wrong for every file is told here, before a file is read, and ends the program with status 2.
Readers of what is drawn import the package that draws when they are called.
"""

import math
from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from .._arguments import axis_of
from .._text import quoted
from ..limits import Limits, allowed_formats

_MAX_COUNT = 2**63 - 1
_MAX_DIGITS = 20  # of a count: Python refuses to read numbers of some thousand digits
_MAX_MEBIBYTES = _MAX_COUNT >> 20
_MAX_SIDE = 1 << 20  # pixels of a picture: more than any GPU draws
_MIN_FRAME, _MAX_FRAMES = 24, 100  # pixels of a side, and number, of frames in a row of a sheet
_MAX_SPEED = 64.0
_POSES = ("rest", "t", "a", "auto")  # reference poses of retargeting
_MAX_INSTANCES = 1_000_000  # of a crowd: their palettes fill the memory long before a picture shows them

#: Files of a model with its clips, and of the motion of one clip.
MODEL_SUFFIXES, MOTION_SUFFIXES = (".glb", ".skn"), (".bvh", ".npz")
#: The fields of `Limits` that are counts; memory and seconds have options of their own.
COUNTED_LIMITS = tuple(field.name for field in fields(Limits) if field.name not in ("memory", "seconds"))


def wrong(text: str, why: str) -> ArgumentTypeError:
    """The error for the value of an option."""
    return ArgumentTypeError(f"{quoted(text)} {why}")


def size(text: str) -> tuple[int, int]:
    """Width and height in pixels, from WIDTHxHEIGHT."""
    try:
        width, height = (int(number) for number in text.lower().split("x"))
    except ValueError:
        raise wrong(text, "is not a size; expected WIDTHxHEIGHT, such as 640x480") from None
    if width < 1 or height < 1:
        raise wrong(text, "is not a size; width and height must be 1 or more")
    if max(width, height) > _MAX_SIDE:
        raise wrong(text, f"is too large; expected at most {_MAX_SIDE}x{_MAX_SIDE}")
    return width, height


def frame_size(text: str) -> tuple[int, int]:
    """The size of a frame on a sheet, from WIDTHxHEIGHT."""
    found = size(text)
    if min(found) < _MIN_FRAME:
        raise wrong(text, f"is too small; expected {_MIN_FRAME}x{_MIN_FRAME} pixels or more")
    return found


def count(text: str, maximum: int = _MAX_COUNT, unit: str = "") -> int:
    """A whole number from 1 to `maximum`; `unit` follows the maximum in the error message."""
    if not text.isdecimal() or not text.strip("0"):
        raise wrong(text, "is not a count; expected a whole number, 1 or more")
    number = int(text) if len(text) <= _MAX_DIGITS else maximum + 1
    if number > maximum:
        raise wrong(text, f"is too large; expected 1 to {maximum}{unit}")
    return number


def instances(text: str) -> int:
    """How many instances a crowd has."""
    return count(text, _MAX_INSTANCES)


def mebibytes(text: str) -> int:
    """A size of memory: reads MiB, returns bytes."""
    return count(text, _MAX_MEBIBYTES, " MiB") << 20


def number(text: str) -> float:
    """A finite number."""
    try:
        found = float(text)
    except ValueError:
        raise wrong(text, "is not a number; expected a number such as 0.5") from None
    if not math.isfinite(found):
        raise wrong(text, "is not finite; expected a finite number")
    return found


def rate(text: str) -> float:
    """Frames per second, above 0."""
    found = number(text)
    if found <= 0:
        raise wrong(text, "is not a rate; expected frames per second, a number above 0")
    return found


def distance(text: str) -> float:
    """A distance, 0 or more."""
    found = number(text)
    if found < 0:
        raise wrong(text, "is not a distance; expected 0 or more")
    return found


def length(text: str) -> float:
    """A length, above 0."""
    found = number(text)
    if found <= 0:
        raise wrong(text, "is not a length; expected meters, a number above 0")
    return found


def clip_scale(text: str) -> float | str:
    """A factor above 0, or "auto"."""
    if text == "auto":
        return text
    found = number(text)
    if found <= 0:
        raise wrong(text, "is not a factor; expected a number above 0, or auto")
    return found


def speed(text: str) -> float:
    """Seconds of a clip per second."""
    found = number(text)
    if abs(found) > _MAX_SPEED:
        raise wrong(text, f"is too fast; expected {-_MAX_SPEED:g} to {_MAX_SPEED:g}")
    return found


def index(text: str) -> int:
    """The number of a vertex, from 0."""
    if not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise wrong(text, "is not a whole number; expected 0 or more")
    return int(text)


def frames(text: str) -> int:
    """How many frames a row of a sheet has."""
    return count(text, _MAX_FRAMES)


def seconds(text: str) -> float:
    """A time limit in seconds, above 0 and finite."""
    refusal = wrong(text, "is not a time limit; expected a number of seconds above 0")
    try:
        limit = float(text)
    except ValueError:
        raise refusal from None
    if not 0 < limit < math.inf:
        raise refusal
    return limit


def pair(text: str) -> tuple[str, str]:
    """The names of a source joint and a target joint, from SOURCE=TARGET; the second may be empty."""
    source, equals, target = text.partition("=")
    if not source or not equals:
        raise wrong(text, "is not a pair of joints; expected SOURCE=TARGET, such as Hips=pelvis")
    return source, target


def reference_word(text: str) -> str:
    """A reference pose: "rest", "t", "a" or "auto"."""
    if text not in _POSES:
        raise wrong(text, f"is not a reference pose; expected {', '.join(_POSES[:-1])} or {_POSES[-1]}")
    return text


def reference_pose(text: str) -> str | float:
    """A reference pose of a source: a word, or a time of the clip in seconds."""
    if text in _POSES:
        return text
    try:
        return number(text)
    except ArgumentTypeError:
        words = ", ".join(_POSES)
        raise wrong(text, f"is not a reference pose; expected {words} or a time in seconds") from None


def file_format(text: str) -> str:
    """A file extension that may name a format, with or without the dot."""
    try:
        allowed_formats((text,), True)
    except (TypeError, ValueError):
        raise wrong(text, "is not a format; expected a file extension, such as lws") from None
    return text


def axis(text: str) -> str:
    """An axis with its sign, such as "+Z"; without a sign it is positive."""
    try:
        return axis_of("axis", text)
    except ValueError:
        raise wrong(text, "is not an axis; expected +X, -X, +Y, -Y, +Z or -Z") from None


def limit(text: str) -> tuple[str, int]:
    """One of `COUNTED_LIMITS` and its value, from NAME=N."""
    name, _, value = text.partition("=")
    if name not in COUNTED_LIMITS or not value:
        names = f"{', '.join(COUNTED_LIMITS[:-1])} or {COUNTED_LIMITS[-1]}"
        raise wrong(text, f"is not a limit; expected NAME=N, where NAME is {names}")
    checked(text, lambda: count(value))
    return name, int(value)


# ---- what the package that draws checks ----------------------------------------------------------------


def checked(text: str, check: Callable[[], object]) -> str:
    """`text` itself, if what checks it raises nothing."""
    try:
        check()
    except (TypeError, ValueError, ArgumentTypeError) as error:
        given = quoted(text)
        raise ArgumentTypeError(str(error) if given in str(error) else f"{given}: {error}") from None
    return text


def color(text: str) -> str:
    """A color such as "#204060"."""
    from ..render.color import parse_color

    return checked(text, lambda: parse_color("color", text))


def color_or_none(text: str) -> str:
    """A color, or "none"."""
    return text if text == "none" else color(text)


def overlay(text: str) -> str:
    """One overlay, as NAME or NAME=VALUE."""
    from ..render import Overlays

    return checked(text, lambda: Overlays.parse([text]))


def layer(text: str) -> str:
    """The name of a layer of ground truth."""
    from ..render.truth.layers import check_aov

    return checked(text, lambda: check_aov([text]))


def drawn_file(text: str) -> str:
    """A file whose suffix selects a picture, a film or a page."""
    from ..output.clip_file import kind_of

    return checked(text, lambda: kind_of(text))


def page_file(text: str) -> str:
    """A file for a page."""
    if Path(text).suffix.lower() not in (".html", ".htm"):
        raise wrong(text, "is not a page; expected a file that ends in .html or .htm")
    return text


def motion_file(text: str) -> str:
    """A file for a model with clips, or for the motion of one clip."""
    if Path(text).suffix.lower() not in (*MODEL_SUFFIXES, *MOTION_SUFFIXES):
        wanted = "expected one that ends in .glb, .skn, .bvh or .npz"
        raise wrong(text, f"is not a file that can be written; {wanted}")
    return text


def picture_file(text: str) -> str:
    """A file for a picture."""
    from ..output.picture import check_format

    return checked(text, lambda: check_format(Path(text).suffix))


def plot_file(text: str) -> str:
    """A file for a plot, of a format that matplotlib knows."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        return text  # the command says that matplotlib is missing
    known = FigureCanvasBase.filetypes
    if Path(text).suffix[1:].lower() not in known:
        raise wrong(text, f"is not a plot; expected a file that ends in {', '.join(known)}")
    return text
