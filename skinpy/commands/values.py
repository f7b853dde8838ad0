"""Reads the values of options. Each reader raises ArgumentTypeError, which argparse shows with the usage."""

import math
from argparse import ArgumentTypeError
from dataclasses import fields

from .._arguments import axis_of
from ..limits import Limits, allowed_formats

_MAX_COUNT = 2**63 - 1
_MAX_DIGITS = 20  # of a count: Python refuses to read numbers of some thousand digits
_MAX_MEBIBYTES = _MAX_COUNT >> 20
_MAX_INSTANCES = 1_000_000  # of a crowd: their palettes fill the memory long before a picture shows them

#: The fields of `Limits` that are counts; memory and seconds have options of their own.
COUNTED_LIMITS = tuple(field.name for field in fields(Limits) if field.name not in ("memory", "seconds"))


def size(text: str) -> tuple[int, int]:
    """Width and height in pixels, from WIDTHxHEIGHT."""
    try:
        width, height = (int(number) for number in text.lower().split("x"))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a size; expected WIDTHxHEIGHT, such as 640x480") from None
    if width < 1 or height < 1:
        raise ArgumentTypeError(f"{text!r} is not a size; width and height must be 1 or more")
    return width, height


def count(text: str, maximum: int = _MAX_COUNT, unit: str = "") -> int:
    """A whole number from 1 to `maximum`; `unit` follows the maximum in the error message."""
    if not text.isdecimal() or not text.strip("0"):
        raise ArgumentTypeError(f"{text!r} is not a count; expected a whole number, 1 or more")
    number = int(text) if len(text) <= _MAX_DIGITS else maximum + 1
    if number > maximum:
        raise ArgumentTypeError(f"{text!r} is too large; expected 1 to {maximum}{unit}")
    return number


def instances(text: str) -> int:
    """How many instances a crowd has."""
    return count(text, _MAX_INSTANCES)


def mebibytes(text: str) -> int:
    """A size of memory: reads MiB, returns bytes."""
    return count(text, _MAX_MEBIBYTES, " MiB") << 20


def number(text: str) -> float:
    """Any number, infinity and NaN included: the called function refuses what it cannot use."""
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number; expected a number such as 0.5") from None


def whole(text: str) -> int:
    """A whole number, also a negative one."""
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a whole number") from None


def seconds(text: str) -> float:
    """A time limit in seconds, above 0 and finite."""
    limit = number(text)
    if not 0 < limit < math.inf:
        raise ArgumentTypeError(f"{text!r} is not a time limit; expected a number of seconds above 0")
    return limit


def file_format(text: str) -> str:
    """A file extension that may name a format, with or without the dot."""
    try:
        allowed_formats((text,), True)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{text!r} is not a format; expected a file extension, such as lws") from None
    return text


def axis(text: str) -> str:
    """An axis with its sign, such as "+Z"; without a sign it is positive."""
    try:
        return axis_of("axis", text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not an axis; expected +X, -X, +Y, -Y, +Z or -Z") from None


def limit(text: str) -> tuple[str, int]:
    """One of `COUNTED_LIMITS` and its value, from NAME=N."""
    name, _, value = text.partition("=")
    if name not in COUNTED_LIMITS or not value:
        names = f"{', '.join(COUNTED_LIMITS[:-1])} or {COUNTED_LIMITS[-1]}"
        raise ArgumentTypeError(f"{text!r} is not a limit; expected NAME=N, where NAME is {names}")
    return name, count(value)
