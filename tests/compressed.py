"""Writes compressed glTF, by the specifications alone: what skinpy reads of it is then judged by them.

The streams are valid, not small: every delta of meshopt stands as a whole byte, every number of Draco as it
is. `meshopt` takes a file of builders.py, `draco` makes one stream.
"""

import base64
import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import builders
import numpy as np
from numpy.typing import ArrayLike, NDArray

import skinpy

EXT = "EXT_meshopt_compression"
KHR = "KHR_meshopt_compression"
DRACO = "KHR_draco_mesh_compression"

# ---- EXT_meshopt_compression, Appendix A -----------------------------------------------------------------


def attributes(rows: NDArray[np.uint8]) -> bytes:
    """Mode 0, version 0, of (count, stride) bytes: all deltas as bytes (delta encoding mode 3)."""
    count, stride = rows.shape
    out = bytearray(b"\xa0")
    block = min((8192 // stride) & ~15, 256)
    before = rows[:1]
    for first in range(0, count, block):
        part = rows[first : first + block]
        delta = (part - np.concatenate([before, part[:-1]])).view(np.int8).astype(np.int16)
        zigzag = np.where(delta < 0, -2 * delta - 1, 2 * delta).astype(np.uint8)
        groups = -(-len(part) // 16)
        padded = np.zeros((16 * groups, stride), np.uint8)
        padded[: len(part)] = zigzag
        for byte in range(stride):
            out += b"\xff" * -(-groups // 4) + padded[:, byte].tobytes()
        before = part[-1:]
    return bytes(out) + bytes(max(32 - stride, 0)) + rows[:1].tobytes()


def leb128(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def zigzag(value: int) -> int:
    return -2 * value - 1 if value < 0 else 2 * value


def triangles(indices: Sequence[int]) -> bytes:
    """Mode 1: every triangle with three indices of its own (0xff, 0xff)."""
    data, last = bytearray(), 0
    for number, index in enumerate(indices):
        data += (b"\xff" if number % 3 == 0 else b"") + leb128(zigzag(index - last))
        last = index
    return b"\xe1" + b"\xff" * (len(indices) // 3) + bytes(data) + bytes(16)


def sequence(indices: Sequence[int]) -> bytes:
    """Mode 2, with one and the other baseline in turn."""
    data, last = bytearray(), [0, 0]
    for number, index in enumerate(indices):
        baseline = number % 2
        data += leb128(zigzag(index - last[baseline]) << 1 | baseline)
        last[baseline] = index
    return b"\xd1" + bytes(data) + bytes(4)


# ---- Appendix B: what the filters make of whole numbers --------------------------------------------------


def rounded(values: NDArray[Any]) -> NDArray[Any]:
    """To whole numbers, halves away from zero."""
    return np.copysign(np.floor(np.abs(values) + 0.5), values)


def octahedral(numbers: NDArray[Any]) -> NDArray[Any]:
    largest = np.iinfo(numbers.dtype).max
    one = numbers[:, 2].astype(float)
    x, y = numbers[:, 0] / one, numbers[:, 1] / one
    z = 1 - abs(x) - abs(y)
    fold = np.minimum(z, 0)
    vectors = np.stack([x - np.copysign(fold, x), y - np.copysign(fold, y), z], 1)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.concatenate([rounded(vectors * largest), numbers[:, 3:]], 1).astype(numbers.dtype)


def quaternion(numbers: NDArray[np.int16]) -> NDArray[np.int16]:
    out = np.zeros_like(numbers)
    for row, (x, y, z, head) in enumerate(numbers.astype(int)):
        short = np.array([x, y, z]) / (head | 3) / np.sqrt(2)
        longest = np.sqrt(max(0.0, 1 - short @ short))
        where = ((head & 3) + np.array([1, 2, 3, 0])) % 4
        out[row, where] = rounded(np.append(short, longest) * 32767)
    return out


def color(numbers: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Of 8 bits, and so with the highest bit of the last number set."""
    y, co, cg, alpha = np.concatenate(
        [numbers[:, :1], numbers[:, 1:3].view(np.int8), numbers[:, 3:]], 1, dtype=int
    ).T
    alpha &= 127
    return np.stack([y + co - cg, y + cg, y - co - cg, alpha << 1 | alpha & 1], 1).astype(np.uint8)


def exponential(numbers: NDArray[np.int32]) -> NDArray[np.float32]:
    mantissa = (numbers.astype(np.int64) + (1 << 23)) % (1 << 24) - (1 << 23)
    return np.ldexp(mantissa.astype(np.float64), numbers >> 24).astype(np.float32)


# ---- a whole file ----------------------------------------------------------------------------------------

_SIZES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def packed(document: dict[str, Any], view: int, blob: bytes, mode: str) -> tuple[bytes, int, str]:
    """The stream of a bufferView, its stride and its mode; `mode` is that of indices."""
    accessor = next(one for one in document["accessors"] if one.get("bufferView") == view)
    number = document["accessors"].index(accessor)
    at = document["bufferViews"][view]
    data = blob[at["byteOffset"] : at["byteOffset"] + at["byteLength"]]
    size = _SIZES[accessor["componentType"]]
    stride = at.get("byteStride", size * _WIDTHS[accessor["type"]])
    if any(one.get("indices") == number for mesh in document["meshes"] for one in mesh["primitives"]):
        indices = np.frombuffer(data, f"<u{size}").tolist()
        return (triangles if mode == "TRIANGLES" else sequence)(indices), stride, mode
    return attributes(np.frombuffer(data, np.uint8).reshape(-1, stride)), stride, "ATTRIBUTES"


def meshopt(
    file: builders.Gltf,
    *,
    extension: str = EXT,
    mode: str = "TRIANGLES",
    filters: Mapping[int, str] | None = None,
    fallback: bool = False,
    changed: Mapping[str, Any] | None = None,
) -> bytes:
    """The file as .gltf with all bufferViews compressed, indices by `mode`.

    `filters` names the filter of an accessor, whose numbers are then those that the filter starts from.
    With a fallback the plain bytes are there as well, and the extension is not required. `changed` are
    fields of the first view's compression.
    """
    document = json.loads(json.dumps(file.document()))
    names = {document["accessors"][number]["bufferView"]: name for number, name in (filters or {}).items()}
    plain, stream = bytes(file.blob), bytearray()
    for view, entry in enumerate(document["bufferViews"]):
        data, stride, how = packed(document, view, plain, mode)
        fields = {"buffer": 0, "byteOffset": len(stream), "byteLength": len(data), "byteStride": stride}
        fields |= {"count": entry["byteLength"] // stride, "mode": how}
        if view in names:
            fields["filter"] = names[view]
        if view == 0:
            fields |= changed or {}
        stream += data
        entry |= {"buffer": 1, "extensions": {extension: fields}}
    uri = "data:application/octet-stream;base64,"
    document["buffers"] = [
        {"byteLength": len(stream), "uri": uri + base64.b64encode(stream).decode()},
        {"byteLength": len(plain), "extensions": {extension: {"fallback": True}}},
    ]
    if fallback:
        document["buffers"][1]["uri"] = uri + base64.b64encode(plain).decode()
    else:
        document["extensionsRequired"] = [extension]
    document["extensionsUsed"] = [extension]
    return json.dumps(document).encode()


# ---- Draco bitstream 2.2 ---------------------------------------------------------------------------------

_TYPES = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "u4": 6, "f4": 9}
POSITION, NORMAL, COLOR, UV, GENERIC = range(5)


def draco(faces: ArrayLike, *parts: tuple[int, int, str, ArrayLike], points: int | None = None) -> bytes:
    """A mesh by the sequential method, with indices and values as they are.

    Each part is an attribute: its kind, its unique id, the type of its numbers and its (points, width)
    numbers.
    """
    corners = np.ravel(np.asarray(faces))
    count = len(np.asarray(parts[0][3])) if points is None else points
    index = "<u1" if count < 256 else "<u2"
    out = b"DRACO" + bytes([2, 2, 1, 0]) + b"\0\0" + leb128(len(corners) // 3) + leb128(count)
    out += b"\1" + corners.astype(index).tobytes()
    out += b"\1" + leb128(len(parts))
    for kind, number, dtype, values in parts:
        out += bytes([kind, _TYPES[dtype], np.asarray(values).shape[1], 0]) + leb128(number)
    out += bytes(len(parts))  # all are decoded as they are
    return out + b"".join(np.asarray(values, f"<{dtype}").tobytes() for _, _, dtype, values in parts)


STANDARD, PREDICTIVE, VALENCE = range(3)


def edgebreaker(vertices: int, faces: int, traversal: int = STANDARD) -> bytes:
    """A stream that states so much, and has nothing of it."""
    head = b"DRACO" + bytes([2, 2, 1, 1, 0, 0, traversal]) + leb128(vertices) + leb128(faces)
    return head + b"\0" + leb128(faces) + b"\0" + struct.pack("<Q", 0) * 4


def with_draco(document: dict[str, Any], streams: Sequence[bytes], required: bool = True) -> bytes:
    """The document as .gltf; the bufferViews behind its own are the streams, in a buffer of theirs."""
    document = json.loads(json.dumps(document))
    buffers = document.setdefault("buffers", [])
    views = document.setdefault("bufferViews", [])
    offset = 0
    for stream in streams:
        views.append({"buffer": len(buffers), "byteOffset": offset, "byteLength": len(stream)})
        offset += len(stream)
    uri = "data:application/octet-stream;base64," + base64.b64encode(b"".join(streams)).decode()
    buffers.append({"byteLength": offset, "uri": uri})
    document["extensionsUsed"] = [DRACO]
    if required:
        document["extensionsRequired"] = [DRACO]
    return json.dumps(document).encode()


def accessor(component: int, count: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"componentType": component, "count": count, "type": kind, **more}


def document(*primitives: dict[str, Any], accessors: list[dict[str, Any]]) -> dict[str, Any]:
    skin = [{"joints": [0, 1]}]
    nodes = [{"name": "a", "children": [1]}, {"name": "b"}, {"mesh": 0, "skin": 0}]
    return {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0, 2]}],
        "nodes": nodes,
        "skins": skin,
        "meshes": [{"primitives": list(primitives)}],
        "accessors": accessors,
    }


def primitive(view: int, ids: dict[str, int], first: int = 0) -> dict[str, Any]:
    """Its accessors are those from `first` on: the attributes in their order, then the indices."""
    return {
        "attributes": {name: first + number for number, name in enumerate(ids)},
        "indices": first + len(ids),
        "extensions": {DRACO: {"bufferView": view, "attributes": ids}},
    }


def tube() -> bytes:
    """builders.tube(np.random.default_rng(5), 4, 5), whose upper end follows the joint b."""
    ids = {"POSITION": 0, "NORMAL": 1, "JOINTS_0": 2, "WEIGHTS_0": 3}
    accessors = [accessor(5126, 20, "VEC3"), accessor(5126, 20, "VEC3"), accessor(5121, 20, "VEC4")]
    accessors += [accessor(5121, 20, "VEC4", normalized=True), accessor(5123, 90, "SCALAR")]
    return with_draco(document(primitive(0, ids), accessors=accessors), [base64.b64decode(TUBE)])


#: Made by `gltf-transform draco` 4.5.1 of this model.
TUBE = """
RFJBQ08CAgEBAAAAFB4DHgEBHQkBCe+6rkurqrSqCv8BEf8CzEL/AsxC/wLMQgT/AAAAAAABAAACAAABAAkDAAACAQEJAwABAwEE
AgQAAgEBBAIEAAMBAQEBAA8faQaZCWkGzQyZCc0MaQYJKLnbiIfnE/6e4joAaLp9IFUFAKIUVfVAgRIAJjgrAFAwLAKAMHEawLVd
AOJqAYCZ7wOoBAAACGGeAGyRBQAAQAD8CIsAoB3cGQAwHSUFABHrAYBhnCoApCMIADwVAAAAAP8/AAD8HMW9AAAAAN+q6b0AAIA/
DgADAQALA2kWG2UWNRMGrUAMpRaz//8DQJ8IBgBAMAiOEq4BcG0fggEAECw4SrgGcG0fgqME/wMAAP8BAAAKAQEBAQECNT/MA23f
sQAAAAABAAAAAQEBAQKrAQU8zP//m5kBmQEH/dyAffokgQAAAAD/AAAA
"""


def box(count: int, corners: int) -> bytes:
    """builders.box(): positions and normals name one accessor, of `count` elements, and the indices that of
    `corners`.
    """
    part = primitive(0, {"POSITION": 0, "NORMAL": 1})
    part |= {"attributes": {"POSITION": 0, "NORMAL": 0}, "indices": 1}
    accessors = [accessor(5126, count, "VEC3"), accessor(5123, corners, "SCALAR")]
    return with_draco(document(part, accessors=accessors), [base64.b64decode(BOX)])


#: Made by the encoder of Draco 1.5, by edgebreaker: it states 8 vertices, and the normals make 24 points of
#: them. Positions have 10 bits, normals 8.
BOX = """
RFJBQ08CAgEBAAAACAwBCwEAA9+jBQEBEFUEQ0W8RwL/AAAAAQABAAkDAAACAQEJAwABAwEBAQADAwEoARgDAMiwMaJABAAAAAAA/wMA
AAAAAL8AAAC/AAAAvwAAgD8KBgMBAQEBAUABAP8AAAB/AAAA/wKhQQg=
"""


def glb(gltf: bytes) -> bytes:
    """A .gltf as .glb, with its first buffer in the binary chunk."""
    document = json.loads(gltf)
    blob = base64.b64decode(document["buffers"][0].pop("uri").partition(",")[2])
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    blob += bytes(-len(blob) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(blob), b"BIN\0") + blob
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def examples(file: builders.Gltf) -> dict[str, bytes]:
    """Files by name, of the compressions that this skinpy reads."""
    info, found = skinpy.build_info(), {}
    if info["built_with_meshoptimizer"]:
        found = {"meshopt.glb": glb(meshopt(file)), "indices.gltf": meshopt(file, mode="INDICES")}
    if info["built_with_draco"]:
        found |= {"draco.glb": glb(tube()), "draco_box.glb": glb(box(8, 30))}
    return found
