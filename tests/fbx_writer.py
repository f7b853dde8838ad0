"""Writes small FBX files, as text and as binary, from one tree of records."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from fbx_twin import Curve
from import_cases import FBX_SECOND
from test_import import NARROW_FBX, WIDE_FBX, check_sanity, load

Keys = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Form:
    """How a binary file is written."""

    version: int = 7400
    order: str = "<"  # of the bytes of a number
    deflated: bool = False  # arrays
    zero_ends: bool = False  # records without a list in them do not say where they end

    @property
    def head(self) -> str:
        """Of a record: three numbers and the length of its name."""
        return self.order + (WIDE_FBX if self.version >= 7500 else NARROW_FBX)[1:]


FORMS = ["text", "binary", "wide"]
RARE_FORMS = {
    "big-endian": Form(order=">"),
    "wide, big-endian": Form(7700, ">"),
    "deflated": Form(deflated=True),
    "zero ends": Form(zero_ends=True),
    "wide, zero ends": Form(7500, zero_ends=True),
}
BINARY_FORMS = {"binary": Form(), "wide": Form(7500), **RARE_FORMS}


class Long(int):
    """A number that takes eight bytes: an id, a time."""


class Z(int):
    """A number of the type Z, one byte; files with audio have some."""


def record(name: str, *values: Any, inside: list[Any] | None = None) -> Any:
    return (name, values, inside)


# ---- writing -------------------------------------------------------------------------------------------


FLAGS = {"step": 0x2, "step next": 0x102, "linear": 0x4, "cubic": 0x8 | 0x400}
WEIGHTED = 0x3000000  # this key's right tangent and the next one's left tangent have weights


class Letter(str):
    """A letter that a text has without quotation marks; in a binary file it is a number of one byte."""


def text_of(value: Any) -> str:
    if isinstance(value, Letter):
        return value
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:.17g}" if isinstance(value, float) else str(value)


def array_text(name: str, array: Any) -> str:
    """From version 7.2 on, attributes of keys are written as the integers of their bits."""
    if name == "KeyAttrDataFloat":
        array = array.view("i4")
    return ",".join(f"{number:.9g}" if array.dtype.kind == "f" else str(number) for number in array)


def as_text(records: list[Any], indent: str = "") -> str:
    out = ""
    for name, values, inside in records:
        array = next((value for value in values if isinstance(value, np.ndarray)), None)
        if array is not None:
            out += f"{indent}{name}: *{array.size} {{\n{indent}\ta: {array_text(name, array)}\n{indent}}}\n"
            continue
        out += f"{indent}{name}: {', '.join(map(text_of, values))}"
        out += "\n" if inside is None else f" {{\n{as_text(inside, indent + chr(9))}{indent}}}\n"
    return out


def array_bytes(array: Any, form: Form) -> bytes:
    letter = {"float64": "d", "float32": "f", "int64": "l", "int32": "i", "bool": "b", "int8": "c"}
    data = array.astype(array.dtype.newbyteorder(form.order)).tobytes()
    packed = zlib.compress(data) if form.deflated else data
    head = struct.pack(form.order + "III", array.size, int(form.deflated), len(packed))
    return letter[array.dtype.name].encode() + head + packed


def value_bytes(value: Any, form: Form) -> bytes:
    if isinstance(value, np.ndarray):
        return array_bytes(value, form)
    if isinstance(value, Letter):
        return b"C" + value.encode()
    if isinstance(value, bytes):
        return b"R" + struct.pack(form.order + "I", len(value)) + value
    if isinstance(value, str):
        kind, split, name = value.partition("::")
        text = (name + "\0\1" + kind if split else value).encode()
        return b"S" + struct.pack(form.order + "I", len(text)) + text
    letter, code = next(
        (letter, code)
        for sort, letter, code in ((Long, b"L", "q"), (Z, b"Z", "b"), (int, b"I", "i"), (float, b"D", "d"))
        if isinstance(value, sort)
    )
    return letter + struct.pack(form.order + code, value)


def as_binary(records: list[Any], at: int, form: Form) -> bytes:
    size, out = struct.calcsize(form.head), b""
    for name, values, inside in records:
        words = b"".join(value_bytes(value, form) for value in values)
        start = at + len(out) + size + len(name) + len(words)
        below = b"" if inside is None else as_binary(inside, start, form)
        end = 0 if form.zero_ends and inside is None else start + len(below)
        out += struct.pack(form.head, end, len(values), len(words), len(name)) + name.encode() + words + below
    return out + bytes(size)


class Fbx:
    """Objects and connections; ids count up from 1."""

    def __init__(self, *settings: Any) -> None:
        self.objects: list[Any] = []
        self.connections: list[Any] = []
        self.definitions: list[Any] = []  # with the templates of properties
        self.settings = [prop("TimeMode", "enum", 10), *settings]  # 25 frames per second

    def add(self, kind: str, name: str, word: str, *inside: Any, to: int | None = None) -> int:
        number = len(self.objects) + 1
        self.objects.append(record(kind, Long(number), name, word, inside=list(inside)))
        if to is not None:
            self.join(number, to)
        return number

    def join(self, child: int, parent: int, path: str = "") -> None:
        words = ("OP", Long(child), Long(parent), path) if path else ("OO", Long(child), Long(parent))
        self.connections.append(record("C", *words))

    def model(self, name: str, parent: int = 0, kind: str = "LimbNode", **properties: Any) -> int:
        """`properties` with _ for a space: Lcl_Rotation=(0, 0, 90)."""
        listed = []
        for key, value in properties.items():
            word = key.replace("_", " ")
            numbers = [float(number) for number in value] if isinstance(value, tuple) else [value]
            sort = "enum" if isinstance(value, int) else word if word.startswith("Lcl") else "Vector3D"
            listed.append(prop(word, sort, *numbers))
        return self.add("Model", f"Model::{name}", kind, record("Version", 232), table(*listed), to=parent)

    def stack(
        self, name: str = "move", start: float | None = None, stop: float | None = None, bare: bool = False
    ) -> int:
        """Its layer."""
        times = [("LocalStart", start), ("LocalStop", stop)]
        listed = [time_of(word, second) for word, second in times if second is not None]
        inside = [] if bare else [table(*listed)]
        stack = self.add("AnimationStack", f"AnimStack::{name}", "", *inside, to=0)
        return self.add("AnimationLayer", "AnimLayer::base", "", to=stack)

    def curves(
        self, layer: int, target: int, path: str, default: Sequence[float] | None, **axes: Keys | Curve
    ) -> int:
        """A curve node with curves of the given axes; `default` is what it has for those without."""
        words = ("DeformPercent",) if path == "DeformPercent" else "XYZ"
        listed = [
            prop(f"d|{axis}", "Number", float(value))
            for axis, value in zip(words, default or (), strict=False)
        ]
        node = self.add("AnimationCurveNode", f"AnimCurveNode::{path[4:5]}", "", table(*listed), to=layer)
        self.join(node, target, path)
        for axis, keys in axes.items():
            curve = keys if isinstance(keys, Curve) else Curve(keys)
            self.join(self.curve(curve), node, f"d|{axis}")
        return node

    def curve(self, curve: Curve) -> int:
        """A group of attributes for each key; without a kind of keys there are no attributes at all."""
        times = np.array([round(key.time * FBX_SECOND) for key in curve.keys], "i8")
        values = np.array([key.value for key in curve.keys], "f4")
        inside = [record("KeyVer", 4008), record("KeyTime", times), record("KeyValueFloat", values)]
        if curve.has_kinds:
            data = np.zeros((len(times), 4), "f4")
            for i, key in enumerate(curve.keys):
                data[i, :2] = key.right, key.next_left
                weights = round(key.right_weight * 10_000) | round(key.next_left_weight * 10_000) << 16
                data.view("i4")[i, 2] = weights
            flags = np.array([FLAGS[key.kind] | WEIGHTED * key.weighted for key in curve.keys], "i4")
            inside += [record("KeyAttrFlags", flags), record("KeyAttrDataFloat", data.ravel())]
            inside += [record("KeyAttrRefCount", np.ones(len(times), "i4"))]
        for name, (letter, count) in (("Pre", curve.before), ("Post", curve.after)):
            rules = [record("Type", Letter(letter)), record("Repetition", count)]
            inside.append(record(f"{name}-Extrapolation", inside=rules))
        return self.add("AnimationCurve", "AnimCurve::", "", *inside)

    def triangle(self, model: int) -> int:
        points = np.array([0, 0, 0, 1, 0, 0, 0, 1, 0], "f8")
        corners = np.array([0, 1, -3], "i4")
        inside = [record("Vertices", points), record("PolygonVertexIndex", corners)]
        return self.add("Geometry", "Geometry::g", "Mesh", *inside, to=model)

    def records(self, version: int) -> list[Any]:
        head = [record("FBXHeaderVersion", 1003), record("FBXVersion", version), record("Creator", "tests")]
        return [
            record("FBXHeaderExtension", inside=head),
            record("GlobalSettings", inside=[record("Version", 1000), table(*self.settings)]),
            record("Definitions", inside=[record("Version", 100), record("Count", 1), *self.definitions]),
            record("Objects", inside=self.objects),
            record("Connections", inside=self.connections),
        ]

    def bytes(self, form: str = "text") -> bytes:
        if form == "text":
            return ("; FBX 7.4.0 project file\n" + as_text(self.records(7400))).encode()
        how = BINARY_FORMS[form]
        start = b"Kaydara FBX Binary  \0\x1a" + bytes([how.order == ">"])
        start += struct.pack(how.order + "I", how.version)
        return start + as_binary(self.records(how.version), len(start), how)

    def load(self, form: str = "text") -> Any:
        model = load(self.bytes(form), "fbx")
        check_sanity(model)
        return model


def prop(name: str, kind: str, *values: Any) -> Any:
    return record("P", name, kind, "", "A", *values)


def time_of(name: str, second: float) -> Any:
    return record("P", name, "KTime", "Time", "", Long(round(second * FBX_SECOND)))


def table(*properties: Any) -> Any:
    return record("Properties70", inside=list(properties))
