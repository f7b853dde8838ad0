"""The sections of a block as NumPy arrays, and blocks from sections (csrc/core/model/sk_block.h)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from . import _core
from ._text import quoted
from ._types import Array

_TEXT = [("offset", "<u4"), ("length", "<u4")]

#: The records of a block, field by field as the structs of sk_block.h.
RECORDS: dict[str, np.dtype[Any]] = {
    "INFO": np.dtype(
        [
            ("kind", "<u4"),
            ("influences", "<u4"),
            ("joints", "<u4"),
            ("slots", "<u4"),
            ("vertices", "<u8"),
            ("faces", "<u8"),
            ("unit_meters", "<f8"),
            ("up", "<u4"),
            ("source_format", _TEXT),
            ("targets", "<u4"),
            ("reserved", "<u4", (2,)),
        ]
    ),
    "JOINT_NAMES": np.dtype(_TEXT),
    "SUBMESHES": np.dtype(
        [
            ("name", _TEXT),
            ("node", "<i4"),
            ("material", "<i4"),
            ("first_vertex", "<u4"),
            ("vertex_count", "<u4"),
            ("first_face", "<u4"),
            ("face_count", "<u4"),
            ("flags", "<u4"),
            ("reserved", "<u4"),
        ]
    ),
    "TARGETS": np.dtype(
        [
            ("name", _TEXT),
            ("node", "<i4"),
            ("default_weight", "<f4"),
            ("first", "<u8"),
            ("count", "<u8"),
        ]
    ),
    "MATERIALS": np.dtype(
        [
            ("name", _TEXT),
            ("base_color", "<f4", (4,)),
            ("texture", "<i4"),
            ("double_sided", "<u4"),
            ("alpha", "<u4"),
            ("alpha_cutoff", "<f4"),
            ("uv_transform", "<f4", (2, 3)),
            ("wrap", "u1", (2,)),
            ("min_filter", "u1"),
            ("mag_filter", "u1"),
        ]
    ),
    "TEXTURES": np.dtype(
        [
            ("name", _TEXT),
            ("format", _TEXT),
            ("width", "<u4"),
            ("height", "<u4"),
            ("offset", "<u8"),
            ("length", "<u8"),
        ]
    ),
    "CLIPS": np.dtype(
        [
            ("name", _TEXT),
            ("duration", "<f8"),
            ("ticks_per_second", "<f8"),
            ("first_channel", "<u4"),
            ("channel_count", "<u4"),
            ("flags", "<u4"),
            ("first_event", "<u4"),
            ("event_count", "<u4"),
            ("motion_count", "<u4"),
            ("motion_times", "<u8"),
            ("motion_values", "<u8"),
        ]
    ),
    "EVENTS": np.dtype([("time", "<f8"), ("name", _TEXT)]),
    "CHANNELS": np.dtype(
        [
            ("joint", "<i4"),
            ("path", "u1"),
            ("interpolation", "u1"),
            ("in_cells", "<u2"),
            ("key_count", "<u4"),
            ("stride", "<u4"),
            ("times", "<u8"),
            ("values", "<u8"),
            ("in_tangents", "<u8"),
            ("out_tangents", "<u8"),
        ]
    ),
    "REPORT": np.dtype(
        [
            ("code", _TEXT),
            ("severity", "<u4"),
            ("reserved", "<u4"),
            ("count", "<u8"),
            ("first", _TEXT),
            ("message", _TEXT),
        ]
    ),
}

#: Sections of plain numbers: their dtype and the shape of one row; -1 stands for the number of influences.
_NUMBERS: dict[str, tuple[str, tuple[int, ...]]] = {
    "TEXT": ("u1", ()),
    "JOINT_PARENTS": ("<i4", ()),
    "REST_TRANSLATION": ("<f4", (3,)),
    "REST_ROTATION": ("<f4", (4,)),
    "REST_SCALE": ("<f4", (3,)),
    "REST_LOCAL": ("<f4", (4, 4)),
    "SLOT_JOINTS": ("<i4", ()),
    "SLOT_INVERSE_BIND": ("<f4", (4, 4)),
    "POSITIONS": ("<f4", (3,)),
    "NORMALS": ("<f4", (3,)),
    "UVS": ("<f4", (2,)),
    "COLORS": ("<f4", (4,)),
    "TANGENTS": ("<f4", (4,)),
    "VERTEX_SLOTS": ("<u2", (-1,)),
    "VERTEX_WEIGHTS": ("<f4", (-1,)),
    "FACES": ("<u4", (3,)),
    "TARGET_VERTICES": ("<u4", ()),
    "TARGET_POSITIONS": ("<f4", (3,)),
    "TARGET_NORMALS": ("<f4", (3,)),
    "TEXTURE_DATA": ("u1", ()),
    "TIMES": ("<f8", ()),
    "VALUES": ("<f4", ()),
    "EXTRAS": ("u1", ()),
}

MODEL, CLIPS_ONLY = 1, 2  # sk_block_kind
NO_ARRAY = 2**64 - 1  # SK_NONE64: the offset of an array that does not exist
ADDITIVE = 1  # SK_CLIP_ADDITIVE
HIDDEN = 1  # SK_SUBMESH_HIDDEN
CELL = 4  # SK_CELL: floats in a cell
MOTION_WIDTH = 7  # SK_MOTION_WIDTH: the translation and the quaternion of a key of root motion
MAGIC = b"SKNBLK\r\n"

#: Names for the enums of sk_block.h, in the same order.
AXES = (None, "+X", "-X", "+Y", "-Y", "+Z", "-Z")
ALPHAS = ("opaque", "mask", "blend")
WRAPS = ("repeat", "clamp_to_edge", "mirrored_repeat")
FILTERS = (
    None,
    "nearest",
    "linear",
    "nearest_mipmap_nearest",
    "linear_mipmap_nearest",
    "nearest_mipmap_linear",
    "linear_mipmap_linear",
)
PATHS = (
    *("translation", "rotation", "scale", "weights", "visibility"),
    *("base_color_factor", "metallic_factor", "roughness_factor", "emissive_factor", "emissive_strength"),
    *("alpha_cutoff", "normal_scale", "occlusion_strength", "uv_offset", "uv_rotation", "uv_scale"),
)
PATH_WIDTHS = (3, 4, 3, 1, 1, 4, 1, 1, 3, 1, 1, 1, 1, 2, 1, 2)
WEIGHT_PATH = 3  # paths before it move a joint
FIRST_MATERIAL_PATH = 5  # from here on, a channel changes a material
INTERPOLATIONS = ("step", "linear", "cubic")
SEVERITIES = ("repaired", "lost")


def memory(block: _core.Block) -> memoryview:
    """The bytes of a block, read-only."""
    data: Any = block  # a buffer, but only Python 3.12 and later has a type for that
    return memoryview(data)


def section(block: _core.Block, name: str) -> Array:
    """The rows of a section as a read-only array that keeps the block alive; empty if it is absent."""
    offset, rows, stride = block.sections.get(name, (0, 0, 0))
    row: tuple[int, ...] = ()
    if name in RECORDS:
        dtype = RECORDS[name]
    else:
        code, row = _NUMBERS[name]
        dtype = np.dtype(code)
        if row == (-1,):
            row = (stride // dtype.itemsize,)
    count = rows * (stride // dtype.itemsize)
    array = np.frombuffer(memory(block), dtype, count, offset) if rows else np.empty(0, dtype)
    return read_only(array.reshape((rows, *row)))


def read_only(array: Array) -> Array:
    """A view of an array that cannot be made writable again."""
    array.flags.writeable = False
    return array[...]


def channel_keys(values: Array, channel: Any, field: str) -> Array:
    """(K,C): the "values" or tangents of a channel, as a view into the section VALUES.

    All rows of a channel that does not move are the same memory.
    """
    shape = (int(channel["key_count"]), PATH_WIDTHS[channel["path"]])
    size = values.itemsize
    keys: Array = np.ndarray(
        shape, values.dtype, values, size * int(channel[field]), (size * int(channel["stride"]), size)
    )
    return keys


def stored_floats(channels: Array) -> int:
    """The number of floats in the section VALUES that belong to channels, tangents included."""
    keys, widths = channels["key_count"].astype(np.int64), np.array(PATH_WIDTHS)[channels["path"]]
    cells = (keys + 1) * CELL  # the last key is stored twice
    plain = np.where(channels["stride"] == 0, 1, keys) * widths
    arrays = np.where(channels["in_tangents"] == NO_ARRAY, 1, 3)
    return int((np.where(channels["in_cells"] == 1, cells, plain) * arrays).sum())


def info(block: _core.Block) -> Any:
    """The only record of the section INFO."""
    return section(block, "INFO")[0, ...]


def records(rows: Array) -> Iterator[Any]:
    """Each row as an array without axes.

    Plain iteration makes np.void objects, and NumPy crashes if it has no memory for a field of these.
    """
    return (rows[number, ...] for number in range(len(rows)))


def text(block: _core.Block, span: Any) -> str:
    """The string of one record (offset, length); bytes that are not UTF-8 become lone surrogates."""
    return texts(block, np.atleast_1d(span))[0]


def texts(block: _core.Block, records: Any) -> tuple[str, ...]:
    """The strings of records (N,) of offsets and lengths; the section TEXT is looked up once."""
    pool = section(block, "TEXT").data
    spans = zip(records["offset"].tolist(), records["length"].tolist(), strict=True)
    return tuple(str(pool[start : start + length], "utf-8", "surrogateescape") for start, length in spans)


class TextPool:
    """The strings of a block under construction."""

    def __init__(self, start: bytes = b"") -> None:
        self._bytes = bytearray(start)

    def add(self, words: str) -> tuple[int, int]:
        """Append a string and return its offset and length, as records hold them."""
        try:
            encoded = words.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise ValueError(
                f"the name {quoted(words)} has half a character (a lone surrogate); expected whole characters"
            ) from None
        start = len(self._bytes)
        self._bytes += encoded
        return (start, len(encoded)) if encoded else (0, 0)

    def names(self, names: Iterable[str]) -> Array:
        """The section JOINT_NAMES, whose strings are appended."""
        return np.array([self.add(name) for name in names], RECORDS["JOINT_NAMES"])

    def section(self) -> Array:
        """The section TEXT with all strings so far."""
        return np.frombuffer(bytes(self._bytes), "u1")


def pack(sections: Mapping[str, Array], influences: int) -> _core.Block:
    """A new block from sections, which are checked; LoadError names a fault."""
    return _core.Block.pack({name: np.ascontiguousarray(data) for name, data in sections.items()}, influences)
