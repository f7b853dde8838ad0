"""What skinpy prints of objects: representations of everything that can be reached from one."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from public_functions import members

import skinpy

#: A name that a terminal obeys, if it gets it: the title of its window, colors, the direction of writing,
#: line ends of several kinds, and control characters of Latin-1.
EVIL = "\x1b]0;title\x07\x1b[31m\u202e\u2028\n\r\x9b1m\x85"

_MAX_OBJECTS = 3000  # of one walk
_MAX_ITEMS = 20  # of a sequence
_PLAIN = str | bytes | int | float | np.ndarray | memoryview


def obeyed(text: object) -> list[str]:
    """The lines of the text that hold anything but printable characters."""
    return [line for line in str(text).split("\n") if not line.isprintable()]


def unprintable(*roots: object) -> list[str]:
    """A line for each representation of skinpy's objects that a terminal would obey."""
    return [
        f"{type(thing).__qualname__}: {words!r}"
        for thing in reached(*roots)
        for words in {repr(thing), str(thing)}
        if type(thing).__module__.startswith("skinpy") and obeyed(words)
    ]


def reached(*roots: object) -> Iterator[Any]:
    """The objects, and all that their public properties and items lead to; each once."""
    waiting, seen, kept = [*roots], set(), []
    while waiting and len(seen) < _MAX_OBJECTS:
        thing = waiting.pop(0)
        if thing is None or id(thing) in seen or isinstance(thing, _PLAIN):
            continue
        seen.add(id(thing))
        kept.append(thing)  # so that no later object has its number
        yield thing
        waiting += _parts(thing)


def _parts(thing: Any) -> list[Any]:
    parts: list[Any] = []
    if isinstance(thing, Mapping):
        parts += [*thing.values()][:_MAX_ITEMS]
    elif isinstance(thing, Sequence | set | frozenset):
        parts += [*thing][:_MAX_ITEMS]
    for name in sorted(members(type(thing)) | set(getattr(type(thing), "__dataclass_fields__", ()))):
        if not callable(getattr(type(thing), name, None)):
            try:
                parts.append(getattr(thing, name))
            except Exception:
                continue
    return parts


def evil_bundled(name: str) -> bytes:
    """A bundled model in which every name begins with EVIL."""
    data = (Path(skinpy.__file__).parent / "data" / f"{name}.glb").read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + size])
    _rename(document)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text + data[20 + size :]
    return struct.pack("<III", 0x46546C67, 2, 12 + len(body)) + body


def _rename(value: Any) -> None:
    if isinstance(value, dict):
        if "name" in value:
            value["name"] = EVIL + value["name"]
        if "targetNames" in value:
            value["targetNames"] = [EVIL + name for name in value["targetNames"]]
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _rename(one)
