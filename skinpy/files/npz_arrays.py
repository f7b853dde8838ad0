"""Arrays of an .npz file that may come from a stranger: each is checked by its header before it is read.

Pickled objects are never read, and no text of a file is evaluated. No more memory is used than a limit,
whatever a compressed entry says about itself.
"""

import re
from collections.abc import Iterable
from math import prod
from typing import IO, Any
from zipfile import ZipFile, ZipInfo

import numpy as np

from .._text import quoted
from .._types import Array

_MAX_HEADER = 1 << 12  # bytes
_HEADER = re.compile(
    r"\{'descr': '([<>|][a-zA-Z][0-9]{0,9})', 'fortran_order': (True|False), "
    r"'shape': \(([0-9]{0,18}(?:, ?[0-9]{1,18}){0,3},?)\),? ?\}\s*"
)


def npy_header(name: str, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and dtype of an array, from the header as NumPy writes it; NumPy would evaluate it."""
    start = stream.read(8)
    size = {b"\x01": 2, b"\x02": 4, b"\x03": 4}.get(start[6:7], 0)
    length = int.from_bytes(stream.read(size), "little")
    text = stream.read(min(length, _MAX_HEADER)).decode("latin-1")
    found = _HEADER.fullmatch(text)
    if start[:6] != b"\x93NUMPY" or not found:
        raise ValueError(f"array {name!r} has no header of NumPy; expected that of an .npy file")
    shape = tuple(int(one) for one in found[3].split(",") if one.strip())
    return shape, found[2] == "True", np.dtype(found[1])


def npz_names(file: IO[bytes]) -> list[str]:
    """The names of the arrays of a file."""
    with ZipFile(file) as archive:
        return [member.filename.removesuffix(".npy") for member in archive.infolist()]


def read_arrays(file: IO[bytes], names: Iterable[str], max_bytes: int) -> dict[str, Array | None]:
    """The arrays of these names that a file has, of at most so many bytes together; None for one of objects.

    ValueError if an array is too large or is damaged.
    """
    wanted, found = set(names), dict[str, Array | None]()
    left = max_bytes
    with ZipFile(file) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if name in wanted and name not in found:
                array = found[name] = _read_array(archive, member, name, left)
                left -= 0 if array is None else array.nbytes
    return found


def _read_array(archive: ZipFile, member: ZipInfo, name: str, max_bytes: int) -> Array | None:
    """The array of one entry, or None for an array of Python objects."""
    with archive.open(member) as stream:
        shape, by_columns, dtype = npy_header(name, stream)
        if dtype.hasobject:
            return None
        size = prod(shape) * dtype.itemsize
        if not dtype.itemsize or size > max_bytes:
            raise ValueError(
                f"array {quoted(name)} has shape {shape} and dtype {dtype}, {size} bytes; "
                f"expected at most {max_bytes}"
            )
        data = stream.read(size)
        if len(data) != size or stream.read(1):
            raise ValueError(f"array {quoted(name)} has other than the {size} bytes that its shape needs")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if by_columns else "C")
