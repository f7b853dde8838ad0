"""Writes .3ds files, after the chunks of the 3D Studio File Toolkit (1996)."""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any
NO_PARENT = 0xFFFF
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)


def chunk(number: int, *body: bytes) -> bytes:
    joined = b"".join(body)
    return struct.pack("<HI", number, 6 + len(joined)) + joined


def name_of(text: str) -> bytes:
    return text.encode() + b"\0"


def mesh(
    name: str,
    points: Array,
    faces: Sequence[Sequence[int]],
    *more: bytes,
    matrix: Array = None,
    uvs: Array = None,
) -> bytes:
    """Points in the space of the scene; the matrix is the mesh's own. `more` are chunks behind the faces."""
    rows = np.asarray(points, "<f4")
    lists = chunk(0x4110, struct.pack("<H", len(rows)), rows.tobytes())
    if uvs is not None:
        lists += chunk(0x4140, struct.pack("<H", len(uvs)), np.asarray(uvs, "<f4").tobytes())
    if matrix is not None:
        lists += chunk(0x4160, np.asarray(matrix, "<f4")[:3].T.tobytes())
    corners = b"".join(struct.pack("<4H", *face, 7) for face in faces)
    lists += chunk(0x4120, struct.pack("<H", len(faces)), corners, *more)
    return chunk(0x4000, name_of(name), chunk(0x4100, lists))


def smoothing(groups: Sequence[int]) -> bytes:
    return chunk(0x4150, struct.pack(f"<{len(groups)}I", *groups))


def painted(name: str, faces: Sequence[int]) -> bytes:
    return chunk(0x4130, name_of(name), struct.pack(f"<H{len(faces)}H", len(faces), *faces))


def material(name: str, color: Sequence[int] = (255, 0, 0), *more: bytes) -> bytes:
    return chunk(0xAFFF, chunk(0xA000, name_of(name)), chunk(0xA020, chunk(0x11, bytes(color))), *more)


def texture(image: str, *more: bytes) -> bytes:
    return chunk(0xA200, chunk(0xA300, name_of(image)), *more)


def track(number: int, keys: Sequence[tuple[int, Sequence[float]]], curve: Sequence[float] = ()) -> bytes:
    """Keys at frames; `curve`: tension, continuity, bias, ease to and ease from of all of them."""
    flags = (1 << len(curve)) - 1
    rows = b"".join(
        struct.pack(f"<IH{len(curve) + len(values)}f", frame % 2**32, flags, *curve, *values)
        for frame, values in keys
    )
    return chunk(number, struct.pack("<H8xI", 0, len(keys)), rows)


def places(*keys: tuple[int, Sequence[float]], curve: Sequence[float] = ()) -> bytes:
    return track(0xB020, keys, curve)


def turns(*keys: tuple[int, Sequence[float]], curve: Sequence[float] = ()) -> bytes:
    """Angle and axis."""
    return track(0xB021, keys, curve)


def scales(*keys: tuple[int, Sequence[float]], curve: Sequence[float] = ()) -> bytes:
    return track(0xB022, keys, curve)


def node(
    name: str,
    number: int,
    parent: int,
    *tracks: bytes,
    pivot: Sequence[float] = (0, 0, 0),
    instance: str = "",
    kind: int = 0xB002,
) -> bytes:
    head = chunk(0xB030, struct.pack("<H", number))
    head += chunk(0xB010, name_of(name), struct.pack("<HHH", 0, 0, parent))
    if instance:
        head += chunk(0xB011, name_of(instance))
    return chunk(kind, head, chunk(0xB013, struct.pack("<3f", *pivot)), *tracks)


def file(objects: Sequence[bytes], nodes: Sequence[bytes] = ()) -> bytes:
    """Materials and objects, and nodes."""
    keyframer = chunk(0xB000, chunk(0xB008, struct.pack("<II", 0, 100)), *nodes) if nodes else b""
    return chunk(0x4D4D, chunk(0x0002, struct.pack("<I", 3)), chunk(0x3D3D, *objects), keyframer)


def still(to: Sequence[float] = (0, 0, 0)) -> tuple[bytes, ...]:
    """Tracks of one key each."""
    return places((0, to)), turns((0, (0, 0, 0, 1))), scales((0, (1, 1, 1)))
