"""The container of a .glb file: chunks, the buffer with views and accessors, numbers and names in JSON."""

import json
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._text import unicode_text
from .._types import Array

#: componentType of the accessors that are written here.
_COMPONENTS = {"<f4": 5126, "|u1": 5121, "<u2": 5123, "<u4": 5125}
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


def glb(document: dict[str, Any], data: bytes) -> bytes:
    """Return the file: header, JSON chunk padded with spaces, BIN chunk padded with zeros."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if data:
        data += b"\0" * (-len(data) % 4)
        chunks += struct.pack("<I4s", len(data), b"BIN\0") + data
    check_size(12 + len(chunks))
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def check_size(size: int) -> None:
    """Raise ValueError if a .glb cannot hold as many bytes."""
    if size >= 2**32:
        raise ValueError(f"the model takes {size} bytes; a .glb holds less than 4 GiB")


class Buffer:
    """The buffer of a file, its views and accessors; equal arrays are stored once."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self._known: dict[tuple[Any, ...], int] = {}

    def view(self, data: bytes | memoryview, target: int | None = None) -> int:
        """Add a view of `data`, at a multiple of 4 bytes; return its index."""
        check_size(len(self.data) + len(data))  # before memory is allocated
        self.data += b"\0" * (-len(self.data) % 4)
        entry = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)}
        self.data += data
        self.views.append(entry | ({} if target is None else {"target": target}))
        return len(self.views) - 1

    def add(self, rows: Array, target: int | None = None, *, limits: bool = False) -> int:
        """Add an accessor of numbers (N,) or (N,C); return its index.

        Every row must be a multiple of 4 bytes, except for indices. `limits` adds the bounds of the columns.
        """
        little = np.ascontiguousarray(rows, rows.dtype.newbyteorder("<"))
        type_name = _TYPES[little.shape[1] if little.ndim == 2 else 1]
        data = little.tobytes()
        key = (data, little.dtype.str, type_name, target, limits)
        if key not in self._known:
            entry: dict[str, Any] = {
                "bufferView": self.view(data, target),
                "componentType": _COMPONENTS[little.dtype.str],
                "count": len(little),
                "type": type_name,
            }
            if limits:
                wide = little.reshape(len(little), -1)
                entry |= {"min": numbers(wide.min(axis=0)), "max": numbers(wide.max(axis=0))}
            self.accessors.append(entry)
            self._known[key] = len(self.accessors) - 1
        return self._known[key]


def numbers(values: Iterable[Any]) -> list[float]:
    """Return float32 numbers as the shortest decimals that read back as the same float32."""
    return [float(str(np.float32(value))) for value in values]


def named(name: str) -> dict[str, Any]:
    """Return the entry of a name, or none for an empty name."""
    return {"name": unicode_text(name)} if name else {}
