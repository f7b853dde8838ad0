"""JSON from outside, parsed to plain data that the rest of the library can walk through."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ._arguments import brief, wrong_type
from ._text import POINTER_REMEDY, is_pointer, printable

#: Brackets within one another. What skinpy writes has five.
_MAX_NESTING = 100


def parse_json(name: str, text: str | bytes) -> Any:
    """The data of a JSON text; `name` is what the text is, for the error.

    Raises TypeError for what is no text, and ValueError for a text that is not JSON, is nested too deep, or
    holds a number that is not finite or has thousands of digits.
    """
    if not isinstance(text, str | bytes):
        raise wrong_type(name, text, "str or bytes of JSON")
    try:
        data = json.loads(text, parse_constant=_refuse)
    except ValueError as error:  # of JSON, or of bytes that are not UTF-8
        raise ValueError(f"{name} is {brief(text)}; expected JSON: {_reason(text, error)}") from None
    except RecursionError:
        deep = True
    else:
        deep = _is_deep(data)
    if deep:
        raise ValueError(f"{name} is {brief(text)}; expected JSON that is nested at most {_MAX_NESTING} deep")
    return data


def _reason(text: str | bytes, error: ValueError) -> str:
    """Why a text is not JSON, and what to do about it if that is known."""
    if is_pointer(text):
        return POINTER_REMEDY
    return "it is not text in UTF-8" if isinstance(error, UnicodeError) else printable(error)


def _is_deep(data: Any) -> bool:
    """Whether lists and objects are nested more than _MAX_NESTING deep. Goes down level by level."""
    level = _holders([data])
    for _ in range(_MAX_NESTING):
        level = _holders(
            one for holder in level for one in (holder.values() if isinstance(holder, dict) else holder)
        )
    return bool(level)


def _holders(values: Iterable[Any]) -> list[Any]:
    return [one for one in values if isinstance(one, list | dict)]


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a number in JSON")
