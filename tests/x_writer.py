"""Writes .x files in each of their encodings, after Microsoft's X File Format Reference (DirectX 9)."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any
IDENTITY = np.eye(4)


@dataclass(frozen=True)
class Object:
    """Type name { members }: whole numbers, floats, texts, references and objects."""

    type: str
    name: str = ""
    members: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Reference:
    name: str


def flat(values: Any) -> tuple[Any, ...]:
    """Members of nested lists one after another; numbers keep their kind."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, list | tuple):
        return tuple(one for value in values for one in flat(value))
    return (values,)


def thing(type: str, *members: Any, name: str = "") -> Object:
    return Object(type, name, flat(members))


def rows_of(matrix: Array) -> list[float]:
    """Row vectors: the columns one after another."""
    return [float(value) for value in np.asarray(matrix).T.reshape(-1)]


def frame(name: str, *inside: Any, matrix: Array = IDENTITY) -> Object:
    return thing("Frame", thing("FrameTransformMatrix", rows_of(matrix)), *inside, name=name)


def mesh(points: Array, faces: Sequence[Sequence[int]], *inside: Any, name: str = "") -> Object:
    corners = np.asarray(points, float)
    lists = [[len(face), list(face)] for face in faces]
    return thing("Mesh", len(corners), corners, len(faces), lists, *inside, name=name)


def weights(joint: str, vertices: Sequence[int], values: Sequence[float], matrix: Array = IDENTITY) -> Object:
    return thing(
        "SkinWeights", joint, len(vertices), list(vertices), list(map(float, values)), rows_of(matrix)
    )


def keys(type: int, rows: Sequence[tuple[int, Sequence[float]]]) -> Object:
    """Times and numbers; of type 0 w, x, y, z."""
    members = [[time, len(values), [float(value) for value in values]] for time, values in rows]
    return thing("AnimationKey", type, len(rows), members)


def animation(joint: str, *inside: Object) -> Object:
    return thing("Animation", Reference(joint), *inside)


def clip(name: str, *animations: Any) -> Object:
    return thing("AnimationSet", *animations, name=name)


def ticks(number: int) -> Object:
    return thing("AnimTicksPerSecond", number)


# ---- encodings -----------------------------------------------------------------------------------------


def head(encoding: str, bits: int = 32) -> bytes:
    return f"xof 0303{encoding:4}{bits:04}".encode()


def words(one: Any) -> str:
    if isinstance(one, Object):
        inside = " ".join(words(member) for member in one.members)
        return f"{one.type} {one.name} {{ {inside} }}\n"
    if isinstance(one, Reference):
        return f"{{ {one.name} }}"
    if isinstance(one, str):
        return f'"{one}";'
    return f"{one:.9g};" if isinstance(one, float) else f"{one};"


def text_body(objects: Sequence[Object]) -> bytes:
    return "".join(words(one) for one in objects).encode()


def text(*objects: Object) -> bytes:
    return head("txt ") + b"\n" + text_body(objects)


def token(number: int) -> bytes:
    return struct.pack("<H", number)


def name_token(name: str, number: int = 1) -> bytes:
    return token(number) + struct.pack("<I", len(name.encode())) + name.encode()


def number_tokens(members: Sequence[Any], bits: int) -> bytes:
    """Lists of whole numbers and of floats; one whole number alone is an integer."""
    out, at = b"", 0
    while at < len(members):
        end = at
        while end < len(members) and type(members[end]) is type(members[at]):
            end += 1
        values = members[at:end]
        if isinstance(values[0], float):
            kind = "f" if bits == 32 else "d"
            out += token(7) + struct.pack(f"<I{len(values)}{kind}", len(values), *values)
        elif len(values) == 1:
            out += token(3) + struct.pack("<I", values[0] % 2**32)
        else:
            out += token(6) + struct.pack(f"<I{len(values)}I", len(values), *(v % 2**32 for v in values))
        at = end
    return out


def tokens(one: Object, bits: int) -> bytes:
    out = name_token(one.type) + (name_token(one.name) if one.name else b"") + token(10)
    numbers: list[Any] = []
    for member in one.members:
        if isinstance(member, int | float):
            numbers.append(member)
            continue
        out, numbers = out + number_tokens(numbers, bits), []
        if isinstance(member, Object):
            out += tokens(member, bits)
        elif isinstance(member, Reference):
            out += token(10) + name_token(member.name) + token(11)
        else:
            out += name_token(member, 2) + token(20)
    return out + number_tokens(numbers, bits) + token(11)


def binary_body(objects: Sequence[Object], bits: int = 32) -> bytes:
    return b"".join(tokens(one, bits) for one in objects)


def binary(*objects: Object, bits: int = 32) -> bytes:
    return head("bin ", bits) + binary_body(objects, bits)


def compressed(encoding: str, body: bytes, size: int = 32768) -> bytes:
    """MSZIP: blocks of so many bytes, each of which may refer to the 32 KiB before it."""
    out = head(encoding) + struct.pack("<I", 16 + len(body))
    for at in range(0, len(body), size):
        block = body[at : at + size]
        before = body[max(0, at - 32768) : at]
        packer = (
            zlib.compressobj(9, zlib.DEFLATED, -15, zdict=before)
            if before
            else zlib.compressobj(9, wbits=-15)
        )
        data = b"CK" + packer.compress(block) + packer.flush()
        out += struct.pack("<HH", len(block), len(data)) + data
    return out
