"""What a model is made of: skeleton, mesh, skin, materials, report. Views into the model's block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from . import _block, _core
from ._text import printable
from ._types import Array, Floats
from .errors import unknown_name

__all__ = [
    "Skeleton",
    "Mesh",
    "Submesh",
    "Skin",
    "Target",
    "Material",
    "Texture",
    "Report",
    "ReportEntry",
]


class _Asset:
    """A part of a model: views into its block, which nobody can replace."""

    _block: _core.Block

    def __init__(self, block: _core.Block) -> None:
        self.__dict__["_block"] = block

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"models never change: {name!r} cannot be set")


class Skeleton(_Asset):
    """The joints of a model, depth first from the file's root; every node of the file is one.

    All arrays are read-only float32 views; matrices are row-major for column vectors.
    """

    @cached_property
    def parents(self) -> Array:
        """(J,) int32: parent of each joint, -1 for a root; parents come before their children."""
        return _block.section(self._block, "JOINT_PARENTS")

    @cached_property
    def translation(self) -> Floats:
        """(J,3) rest translation to the parent."""
        return _block.section(self._block, "REST_TRANSLATION")

    @cached_property
    def rotation(self) -> Floats:
        """(J,4) rest rotation, unit quaternion x y z w."""
        return _block.section(self._block, "REST_ROTATION")

    @cached_property
    def scale(self) -> Floats:
        """(J,3) rest scale."""
        return _block.section(self._block, "REST_SCALE")

    @cached_property
    def rest_local(self) -> Floats:
        """(J,4,4) rest transform to the parent as the file has it; may hold shear that T*R*S cannot."""
        return _block.section(self._block, "REST_LOCAL")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the joints, as the file has them; they need not differ."""
        return _block.texts(self._block, _block.section(self._block, "JOINT_NAMES"))

    @cached_property
    def rest_global(self) -> Floats:
        """(J,4,4) rest transform to scene space, the root's included."""
        matrices = _core.Model(self._block, ()).globals()
        return _block.read_only(matrices)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: joint for joint, name in reversed(list(enumerate(self.names)))}

    def index(self, name: str) -> int:
        """Index of the first joint called `name`; KeyError with the close names."""
        try:
            return self._numbers[name]
        except KeyError:
            raise unknown_name("joint", name, self.names) from None

    def __len__(self) -> int:
        return len(self.parents)

    def __repr__(self) -> str:
        return f"<Skeleton: {len(self)} joints, root {self.names[0]!r}>"


@dataclass(frozen=True)
class Submesh:
    """A part of the mesh that hangs on one node and has one material."""

    name: str
    node: int  #: the joint it hangs on
    material: int | None  #: index into model.materials
    vertex_range: range
    face_range: range


class Mesh(_Asset):
    """All meshes of the scene in one vertex and one index buffer. Arrays are read-only views.

    Texture coordinates have their origin at the top left of the image, as in glTF.
    """

    @cached_property
    def positions(self) -> Floats:
        """(V,3) float32, in the space of the mesh at bind."""
        return _block.section(self._block, "POSITIONS")

    @cached_property
    def normals(self) -> Floats:
        """(V,3) float32, unit length; made smooth by position where the file has none."""
        return _block.section(self._block, "NORMALS")

    @cached_property
    def uvs(self) -> Floats | None:
        """(V,2) float32, origin at the top left of the image, or None."""
        return self._optional("UVS")

    @cached_property
    def colors(self) -> Floats | None:
        """(V,4) float32 linear RGBA, or None."""
        return self._optional("COLORS")

    @cached_property
    def tangents(self) -> Floats | None:
        """(V,4) float32: direction and handedness, or None."""
        return self._optional("TANGENTS")

    @cached_property
    def slots(self) -> Array:
        """(V,K) uint16, indices into the palette; a vertex's joints are `model.skin.joints[slots]`."""
        return self._influences("VERTEX_SLOTS")

    @cached_property
    def weights(self) -> Floats:
        """(V,K) float32, falling, sum 1."""
        return self._influences("VERTEX_WEIGHTS")

    @cached_property
    def faces(self) -> Array:
        """(F,3) uint32."""
        return _block.section(self._block, "FACES")

    def _influences(self, name: str) -> Array:
        return _block.section(self._block, name).reshape(-1, int(_block.info(self._block)["influences"]))

    def _optional(self, name: str) -> Floats | None:
        return _block.section(self._block, name) if name in self._block.sections else None

    @cached_property
    def submeshes(self) -> tuple[Submesh, ...]:
        """The parts, in node order, then in the order of the node's meshes."""
        return tuple(
            Submesh(
                _block.text(self._block, one["name"]),
                int(one["node"]),
                int(one["material"]) if one["material"] >= 0 else None,
                range(one["first_vertex"], int(one["first_vertex"]) + int(one["vertex_count"])),
                range(one["first_face"], int(one["first_face"]) + int(one["face_count"])),
            )
            for one in _block.section(self._block, "SUBMESHES")
        )

    @cached_property
    def interleaved(self) -> Array:
        """(V,) structured array, the buffer that is uploaded once; fields in the order of `format`.

        position 3f4, normal 3f4, uv 2f4 (zeros where the file has none), color 4f4 and tangent 4f4 (only
        where present), slots Ku2, weights Kf4; K is filled with zero weights to 4 or 8.
        """
        streams: dict[str, tuple[str, int, Array | None]] = {
            "position": ("<f4", 3, self.positions),
            "normal": ("<f4", 3, self.normals),
            "uv": ("<f4", 2, self.uvs),
        }
        if self.colors is not None:
            streams["color"] = ("<f4", 4, self.colors)
        if self.tangents is not None:
            streams["tangent"] = ("<f4", 4, self.tangents)
        padded = 4 if self.slots.shape[1] <= 4 else 8
        streams["slots"] = ("<u2", padded, self.slots)
        streams["weights"] = ("<f4", padded, self.weights)
        dtype = np.dtype([(name, code, (width,)) for name, (code, width, _) in streams.items()])
        buffer = np.zeros(len(self.positions), dtype)
        for name, (_, _, values) in streams.items():
            if values is not None:
                buffer[name][:, : values.shape[1]] = values
        return _block.read_only(buffer)

    @property
    def format(self) -> str:
        """`interleaved` as a moderngl buffer format, such as "3f 3f 2f 4u2 4f"."""
        words = []
        fields = self.interleaved.dtype.fields
        assert fields is not None
        for name in self.interleaved.dtype.names or ():
            base, shape = fields[name][0].subdtype or (fields[name][0], (1,))
            words.append(f"{shape[0]}{'u2' if base.kind == 'u' else 'f'}")
        return " ".join(words)

    def __repr__(self) -> str:
        return (
            f"<Mesh: {len(self.positions)} vertices, {len(self.faces)} faces, "
            f"{len(self.submeshes)} submeshes, {self.slots.shape[1]} influences>"
        )


class Skin(_Asset):
    """The palette's slots: each is a joint and an inverse bind matrix. Arrays are read-only views."""

    @cached_property
    def joints(self) -> Array:
        """(S,) int32: the joint of each slot."""
        return _block.section(self._block, "SLOT_JOINTS")

    @cached_property
    def inverse_bind(self) -> Floats:
        """(S,4,4) float32: mesh space at bind to joint space ("offset matrix")."""
        return _block.section(self._block, "SLOT_INVERSE_BIND")

    def __len__(self) -> int:
        return len(self.joints)

    def __repr__(self) -> str:
        return f"<Skin: {len(self)} slots>"


@dataclass(frozen=True, eq=False)
class Target:
    """A morph target ("blend shape"): differences to some vertices, added in proportion to a weight.

    Arrays are read-only views; E vertices are moved.
    """

    name: str
    node: int  #: the joint whose mesh it changes
    default_weight: float
    vertices: Array  #: (E,) uint32, increasing
    positions: Floats  #: (E,3) differences of position
    normals: Floats | None  #: (E,3) differences of normal, or None

    def __repr__(self) -> str:
        return f"<Target {self.name!r}: moves {len(self.vertices)} vertices>"


def read_targets(block: _core.Block) -> tuple[Target, ...]:
    vertices = _block.section(block, "TARGET_VERTICES")
    positions = _block.section(block, "TARGET_POSITIONS")
    normals = _block.section(block, "TARGET_NORMALS") if "TARGET_NORMALS" in block.sections else None
    targets = []
    for one in _block.section(block, "TARGETS"):
        rows = slice(int(one["first"]), int(one["first"]) + int(one["count"]))
        targets.append(
            Target(
                _block.text(block, one["name"]),
                int(one["node"]),
                float(one["default_weight"]),
                vertices[rows],
                positions[rows],
                None if normals is None else normals[rows],
            )
        )
    return tuple(targets)


@dataclass(frozen=True)
class Texture:
    """An image as the file has it, encoded, or raw rows of RGBA (format "rgba8", top row first)."""

    name: str
    format: str  #: "png", "jpg", ... or "rgba8"
    data: memoryview  #: read-only
    width: int  #: for "rgba8" alone, else 0
    height: int

    def image(self) -> Array:
        """(h,w,4) uint8, row 0 on top, sRGB, straight alpha. Needs Pillow unless the format is "rgba8".

        Decodes PNG, JPEG, WebP, GIF, BMP, TIFF, DDS, PSD, PPM, PCX, SGI, QOI and TGA, whatever the name says;
        of several frames the first. The header says the size before any pixel is decoded.

        Raises LoadError with the texture's name for what is broken or of another format, and of its kinds
        LimitExceeded for more pixels than PIL.Image.MAX_IMAGE_PIXELS; ImportError without Pillow.
        """
        from ._images import pixels

        return pixels(self)

    def __repr__(self) -> str:
        return f"<Texture {self.name!r}: {printable(self.format)}, {len(self.data)} bytes>"


@dataclass(frozen=True)
class Material:
    """How a submesh looks."""

    name: str
    base_color: tuple[float, float, float, float]  #: linear RGB and alpha; multiplies the texture
    texture: Texture | None
    double_sided: bool
    alpha: str  #: "opaque", "mask" or "blend"
    alpha_cutoff: float  #: for "mask"
    uv_transform: tuple[tuple[float, float, float], ...]  #: (3,3), applied to columns (u, v, 1)


def read_textures(block: _core.Block) -> tuple[Texture, ...]:
    data = _block.section(block, "TEXTURE_DATA").data
    return tuple(
        Texture(
            _block.text(block, one["name"]),
            _block.text(block, one["format"]),
            data[int(one["offset"]) : int(one["offset"]) + int(one["length"])],
            int(one["width"]),
            int(one["height"]),
        )
        for one in _block.section(block, "TEXTURES")
    )


def read_materials(block: _core.Block) -> tuple[Material, ...]:
    textures = read_textures(block)
    materials = []
    for one in _block.section(block, "MATERIALS"):
        red, green, blue, alpha = (float(value) for value in one["base_color"])
        materials.append(
            Material(
                _block.text(block, one["name"]),
                (red, green, blue, alpha),
                textures[one["texture"]] if one["texture"] >= 0 else None,
                bool(one["double_sided"]),
                _block.ALPHAS[one["alpha"]],
                float(one["alpha_cutoff"]),
                (*((float(a), float(b), float(c)) for a, b, c in one["uv_transform"]), (0.0, 0.0, 1.0)),
            )
        )
    return tuple(materials)


@dataclass(frozen=True)
class ReportEntry:
    """One kind of thing that an import repaired or lost."""

    code: str  #: stable, such as "weights_normalized"
    severity: str  #: "repaired" or "lost"
    count: int
    first: str  #: the first case, in words that can be printed
    message: str

    def __str__(self) -> str:
        words = f"{self.severity}: {self.message} ({self.count} times, first: {self.first})"
        return printable(words)


class Report(Sequence[ReportEntry]):
    """What was repaired and what was lost on the way into a model, one entry per kind."""

    def __init__(self, entries: Sequence[ReportEntry]) -> None:
        self._entries = tuple(entries)

    @classmethod
    def read(cls, blocks: Sequence[_core.Block]) -> Report:
        """The reports of several blocks, one after another."""
        return cls(
            [
                ReportEntry(
                    printable(_block.text(block, one["code"])),
                    _block.SEVERITIES[one["severity"]],
                    int(one["count"]),
                    printable(_block.text(block, one["first"])),
                    printable(_block.text(block, one["message"])),
                )
                for block in blocks
                for one in _block.section(block, "REPORT")
            ]
        )

    @property
    def lost(self) -> Report:
        """The entries of severity "lost"."""
        return Report([entry for entry in self if entry.severity == "lost"])

    @property
    def repaired(self) -> Report:
        """The entries of severity "repaired"."""
        return Report([entry for entry in self if entry.severity == "repaired"])

    @overload
    def __getitem__(self, index: int) -> ReportEntry: ...
    @overload
    def __getitem__(self, index: slice) -> Report: ...
    def __getitem__(self, index: int | slice) -> ReportEntry | Report:
        if isinstance(index, slice):
            return Report(self._entries[index])
        return self._entries[index]

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[ReportEntry]:
        return iter(self._entries)

    def __repr__(self) -> str:
        if not self:
            return "<Report: nothing was repaired or lost>"
        return "<Report:\n  " + "\n  ".join(map(str, self)) + ">"
