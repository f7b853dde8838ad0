"""The assets of a model: skeleton, mesh, skin, morph targets, materials and report; views of its block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, SupportsIndex, overload

import numpy as np

from . import _block, _core
from ._arguments import instance, item_at, items_of, text
from ._strict import Strict
from ._text import printable, quoted, unicode_text
from ._types import Array, Floats
from .errors import unknown_name
from .models.extras import Extras, index, read_extras, read_joints, rows
from .models.surface import surface

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
    """Views into the block of a model. Attributes cannot be set."""

    _block: _core.Block

    def __init__(self, block: _core.Block) -> None:
        self.__dict__["_block"] = instance("block", block, _core.Block, "a block")

    def __reduce_ex__(self: Any, protocol: SupportsIndex) -> tuple[Any, ...]:
        from .models.pickling import reduced_asset

        return reduced_asset(self, int(protocol))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"models never change: {name!r} cannot be set")


class Skeleton(_Asset):
    """The J joints of a model, depth first from the root of the file; every node of the file is a joint.

    Arrays are read-only views, float32 unless stated. Matrices are row-major for column vectors.

    Examples
    --------
    >>> skeleton = skinpy.character().skeleton
    >>> skeleton
    <Skeleton: 26 joints, root 'ROOT'>
    >>> head = skeleton.index("Head")
    >>> skeleton.names[skeleton.parents[head]]
    'Neck'
    """

    @cached_property
    def parents(self) -> Array:
        """(J,) int32: parent of each joint, -1 for a root. Parents come before their children."""
        return _block.section(self._block, "JOINT_PARENTS")

    @cached_property
    def translation(self) -> Floats:
        """(J,3): translation of each joint at rest, relative to its parent."""
        return _block.section(self._block, "REST_TRANSLATION")

    @cached_property
    def rotation(self) -> Floats:
        """(J,4): rotation of each joint at rest, relative to its parent, a unit quaternion x y z w."""
        return _block.section(self._block, "REST_ROTATION")

    @cached_property
    def scale(self) -> Floats:
        """(J,3): scale of each joint at rest."""
        return _block.section(self._block, "REST_SCALE")

    @cached_property
    def rest_local(self) -> Floats:
        """(J,4,4): transform from each joint to its parent at rest, as the file has it.

        It may hold shear, which translation, rotation and scale cannot express.
        """
        return _block.section(self._block, "REST_LOCAL")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the joints, as the file has them. Several joints may have the same name."""
        return _block.texts(self._block, _block.section(self._block, "JOINT_NAMES"))

    @property
    def extras(self) -> tuple[Any, ...]:
        """The data that the author attached to each joint, such as custom properties of Blender.

        These are the `extras` of the nodes of a glTF file, as plain data; None for joints without any.
        """
        return read_joints(read_extras(self._block), len(self))

    @cached_property
    def rest_global(self) -> Floats:
        """(J,4,4): transform from each joint to scene space at rest."""
        matrices = _core.Model(self._block, ()).globals()
        return _block.read_only(matrices)

    @cached_property
    def _first_index(self) -> dict[str, int]:
        """The first joint of each name."""
        return {name: joint for joint, name in reversed(list(enumerate(self.names)))}

    def index(self, name: str) -> int:
        """Return the index of the first joint with a name.

        Parameters
        ----------
        name : str
            The exact name.

        Returns
        -------
        int
            The index of the joint.

        Raises
        ------
        KeyError
            If no joint has this name. The message has the closest names.
        """
        try:
            return self._first_index[text("name", name)]
        except KeyError:
            raise unknown_name("joint", name, self.names) from None

    def __len__(self) -> int:
        return len(self.parents)

    def __repr__(self) -> str:
        return f"<Skeleton: {len(self)} joints, root {quoted(self.names[0])}>"


@dataclass(frozen=True)
class Submesh:
    """A section of the mesh that belongs to one node and has one material.

    Attributes
    ----------
    name : str
        Name of the mesh in the file.
    node : int
        The joint that the mesh hangs on.
    material : int or None
        Index into `Model.materials`, or None for a section without a material.
    vertex_range : range
        The rows of the vertices in the arrays of `Mesh`.
    face_range : range
        The rows of the faces in `Mesh.faces`.
    visible : bool
        Whether it is drawn. FBX files have hidden models. The vertices of hidden submeshes are posed,
        measured and stored as all others are; pictures and `Model.bounds` leave them out.
    """

    name: str
    node: int
    material: int | None
    vertex_range: range
    face_range: range
    visible: bool = True


class Mesh(_Asset):
    """All meshes of the scene in one vertex buffer and one index buffer: V vertices and F faces.

    Arrays are read-only views. Every vertex has K influences. Texture coordinates have their origin at the
    top left of the image, as in glTF.
    """

    @cached_property
    def positions(self) -> Floats:
        """(V,3) float32: positions of the vertices, in the space of the mesh at bind."""
        return _block.section(self._block, "POSITIONS")

    @cached_property
    def normals(self) -> Floats:
        """(V,3) float32: normals of length 1.

        Vertices without normals in the file have those that are smooth across vertices of equal position.
        """
        return _block.section(self._block, "NORMALS")

    @cached_property
    def uvs(self) -> Floats | None:
        """(V,2) float32: texture coordinates, origin at the top left of the image; or None."""
        return self._optional("UVS")

    @cached_property
    def colors(self) -> Floats | None:
        """(V,4) float32: colors of the vertices, linear RGBA; or None."""
        return self._optional("COLORS")

    @cached_property
    def tangents(self) -> Floats | None:
        """(V,4) float32: tangents, a direction and the handedness of the third axis; or None."""
        return self._optional("TANGENTS")

    @cached_property
    def slots(self) -> Array:
        """(V,K) uint16: slots of the palette that each vertex follows.

        The joints of the vertices are ``model.skin.joints[mesh.slots]``.
        """
        return self._influences("VERTEX_SLOTS")

    @cached_property
    def weights(self) -> Floats:
        """(V,K) float32: weights of the slots, in descending order, with a sum of 1."""
        return self._influences("VERTEX_WEIGHTS")

    @cached_property
    def faces(self) -> Array:
        """(F,3) uint32: the vertices of each triangle."""
        return _block.section(self._block, "FACES")

    def _influences(self, name: str) -> Array:
        """A section of slots or weights as rows of K."""
        return _block.section(self._block, name).reshape(-1, int(_block.info(self._block)["influences"]))

    def _optional(self, name: str) -> Floats | None:
        """A section that the file may lack."""
        return _block.section(self._block, name) if name in self._block.sections else None

    @cached_property
    def submeshes(self) -> tuple[Submesh, ...]:
        """The submeshes, in the order of their nodes and, within a node, in the order of the file."""
        return tuple(
            Submesh(
                _block.text(self._block, one["name"]),
                int(one["node"]),
                int(one["material"]) if one["material"] >= 0 else None,
                range(one["first_vertex"], int(one["first_vertex"]) + int(one["vertex_count"])),
                range(one["first_face"], int(one["first_face"]) + int(one["face_count"])),
                not one["flags"] & _block.HIDDEN,
            )
            for one in _block.section(self._block, "SUBMESHES")
        )

    @cached_property
    def interleaved(self) -> Array:
        """(V,) structured array: one vertex buffer for the GPU, with the fields in the order of `format`.

        The fields are position (3 float32), normal (3 float32), uv (2 float32, zeros if the file has no
        texture coordinates), color and tangent (4 float32 each, only if the mesh has them), slots (K uint16)
        and weights (K float32). K is filled up with weights of 0 to 4 or 8.
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
        """The format of `interleaved` in the words of moderngl, such as "3f 3f 2f 4u2 4f"."""
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
    """The S slots of the palette: each is a joint and an inverse bind matrix.

    Arrays are read-only views. docs/conventions.md explains slots.
    """

    @cached_property
    def joints(self) -> Array:
        """(S,) int32: the joint of each slot."""
        return _block.section(self._block, "SLOT_JOINTS")

    @cached_property
    def inverse_bind(self) -> Floats:
        """(S,4,4) float32: transform from mesh space at bind to the space of the joint ("offset matrix")."""
        return _block.section(self._block, "SLOT_INVERSE_BIND")

    def __len__(self) -> int:
        return len(self.joints)

    def __repr__(self) -> str:
        return f"<Skin: {len(self)} slots>"


@dataclass(frozen=True, eq=False)
class Target:
    """A morph target ("blend shape"): differences of E vertices, which are added in proportion to a weight.

    Attributes
    ----------
    name : str
        Name of the morph target.
    node : int
        The joint that the mesh of the target hangs on.
    default_weight : float
        The weight at rest.
    vertices : (E,) uint32 ndarray
        The vertices that the target moves, in ascending order.
    positions : (E, 3) float32 ndarray
        Differences of the positions.
    normals : (E, 3) float32 ndarray or None
        Differences of the normals.
    """

    name: str
    node: int
    default_weight: float
    vertices: Array
    positions: Floats
    normals: Floats | None

    def __repr__(self) -> str:
        return f"<Target {quoted(self.name)}: moves {len(self.vertices)} vertices>"


def read_targets(block: _core.Block) -> tuple[Target, ...]:
    """The morph targets of a block."""
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
    """An image, encoded as the file has it, or as plain pixels.

    Attributes
    ----------
    name : str
        Name of the image in the file.
    format : str
        The encoding, such as "png" or "jpg"; or "rgba8" for plain pixels, RGBA from the top row down.
    data : memoryview
        The bytes, read-only.
    width : int
        Width in pixels for the format "rgba8"; 0 for encoded images, which hold their own size.
    height : int
        Height in pixels for the format "rgba8"; 0 for encoded images.
    """

    name: str
    format: str
    data: memoryview
    width: int
    height: int

    def image(self) -> Array:
        """Return the pixels of the image.

        Returns
        -------
        (h, w, 4) uint8 ndarray
            Pixels in sRGB with straight alpha; row 0 is the top row.

        Raises
        ------
        LoadError
            If the data is broken or of another format. The message has the name of the texture.
        LimitExceeded
            If the image has more pixels than ``PIL.Image.MAX_IMAGE_PIXELS``, or is in more pieces, such as
            the scans of a JPEG or the strips of a TIFF, than encoders write. Both are found out before any
            pixel is decoded.
        ImportError
            If Pillow is not installed and the format is not "rgba8".

        Notes
        -----
        PNG, JPEG, WebP, GIF, BMP, TIFF, DDS, PSD, PPM, PCX, SGI, QOI and TGA are decoded. The bytes and not
        `format` decide which of these an image is. Of several frames the first is returned.
        """
        from ._images import pixels

        return pixels(self)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        from .models.pickling import read_texture, stored

        data = stored(self.data, int(protocol))
        return read_texture, (self.name, self.format, data, self.width, self.height)

    def __repr__(self) -> str:
        return f"<Texture {quoted(self.name)}: {printable(self.format)}, {len(self.data)} bytes>"


@dataclass(frozen=True)
class Material:
    """The appearance of submeshes.

    Attributes
    ----------
    name : str
        Name of the material in the file.
    base_color : tuple of 4 float
        Linear RGB and alpha, which multiply the texture.
    texture : Texture or None
        The image of the base color.
    double_sided : bool
        Whether the back of a face is drawn.
    alpha : {"opaque", "mask", "blend"}
        What the opacity does: nothing, cut out what is below `alpha_cutoff`, or let the background through.
    alpha_cutoff : float
        The limit for "mask".
    uv_transform : tuple of 3 tuples of 3 float
        A matrix for columns (u, v, 1), which is applied to the texture coordinates.
    wrap : tuple of 2 str
        What the image shows beyond its edges, along u and v: "repeat", "clamp_to_edge" or "mirrored_repeat".
    min_filter : str or None
        The filter where the image is drawn smaller than it is: "nearest", "linear", or one of the four with
        mipmaps as glTF names them, such as "linear_mipmap_linear". None leaves the choice to the renderer.
    mag_filter : {"nearest", "linear"} or None
        The filter where the image is drawn larger than it is. None leaves the choice to the renderer.
    metallic_factor : float
        From 0, no metal, to 1; multiplies the blue channel of its texture. Files without it have 0.
    roughness_factor : float
        From 0, a mirror, to 1; multiplies the green channel of its texture. Files without it have 0.8.
    emissive_factor : tuple of 3 float
        Linear RGB of the light that the material gives off; multiplies its texture.
    emissive_strength : float
        Multiplies `emissive_factor`; may be above 1.
    normal_scale : float
        Multiplies the x and y of the normals in `normal_texture`.
    occlusion_strength : float
        How much the red channel of `occlusion_texture` darkens, from 0 to 1.
    slots : mapping of str to mapping
        The textures other than that of the base color, by slot: "metallic_roughness_texture",
        "normal_texture", "occlusion_texture" and "emissive_texture". Each has "texture" (a `Texture` or
        None) and what the file has beside it, such as "tex_coord" and "extensions" with
        "KHR_texture_transform".
    extensions : mapping of str to mapping
        The values of glTF extensions of the material, by the name of the extension, such as
        "KHR_materials_clearcoat". Their names are those of glTF in snake_case ("clearcoat_factor"). A texture
        is a mapping with "texture" (a `Texture` or None) beside the members that the file has. A material
        that light does not change has the extension "KHR_materials_unlit".
    """

    name: str
    base_color: tuple[float, float, float, float]
    texture: Texture | None
    double_sided: bool
    alpha: str
    alpha_cutoff: float
    uv_transform: tuple[tuple[float, float, float], ...]
    wrap: tuple[str, str] = ("repeat", "repeat")
    min_filter: str | None = None
    mag_filter: str | None = None
    metallic_factor: float = 0.0
    roughness_factor: float = 0.8
    emissive_factor: tuple[float, float, float] = (0.0, 0.0, 0.0)
    emissive_strength: float = 1.0
    normal_scale: float = 1.0
    occlusion_strength: float = 1.0
    slots: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    extensions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)

    @property
    def metallic_roughness_texture(self) -> Texture | None:
        """The texture that `metallic_factor` (blue) and `roughness_factor` (green) multiply."""
        return self._image_of("metallic_roughness_texture")

    @property
    def normal_texture(self) -> Texture | None:
        """The texture of the normals."""
        return self._image_of("normal_texture")

    @property
    def occlusion_texture(self) -> Texture | None:
        """The texture of the occlusion (red)."""
        return self._image_of("occlusion_texture")

    @property
    def emissive_texture(self) -> Texture | None:
        """The texture that `emissive_factor` multiplies."""
        return self._image_of("emissive_texture")

    def _image_of(self, slot: str) -> Texture | None:
        """The texture of a slot, or None."""
        found: Texture | None = self.slots.get(slot, {}).get("texture")
        return found


def read_textures(block: _core.Block) -> tuple[Texture, ...]:
    """The textures of a block; their data are views into the block."""
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


def file_textures(block: _core.Block, extras: Extras) -> list[Texture | None]:
    """The model's texture, or None, for each texture of the file; the file's materials number these."""
    textures = read_textures(block)
    numbers = (index(number, len(textures)) for number in rows(extras.get("textures")))
    return [None if number is None else textures[number] for number in numbers]


def read_materials(block: _core.Block) -> tuple[Material, ...]:
    """The materials of a block, with their textures."""
    textures, extras = read_textures(block), read_extras(block)
    surfaces = rows(extras.get("materials"))
    images = file_textures(block, extras)
    materials = []
    for number, one in enumerate(_block.section(block, "MATERIALS")):
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
                (_block.WRAPS[one["wrap"][0]], _block.WRAPS[one["wrap"][1]]),
                _block.FILTERS[one["min_filter"]],
                _block.FILTERS[one["mag_filter"]],
                **(surface(surfaces[number], images) if number < len(surfaces) else {}),
            )
        )
    return tuple(materials)


@dataclass(frozen=True)
class ReportEntry:
    """All cases of one fault that an import has repaired, or of one thing that it has lost.

    Attributes
    ----------
    code : str
        A stable name of the fault, such as "weights_normalized".
    severity : {"repaired", "lost"}
        Whether the model is as it was meant or lacks something.
    count : int
        Number of cases.
    first : str
        The first case, such as the name of a mesh; safe to print.
    message : str
        A sentence about the fault.
    """

    code: str
    severity: str
    count: int
    first: str
    message: str

    def __str__(self) -> str:
        words = f"{self.severity}: {self.message} ({self.count} times, first: {self.first})"
        return printable(words)


class Report(Strict, Sequence[ReportEntry]):
    """The faults that were repaired, and the things that were lost, when a model was made: a sequence.

    There is one `ReportEntry` for each fault. The report prints itself.
    """

    def __init__(self, entries: Sequence[ReportEntry]) -> None:
        given = items_of("entries", entries, "a sequence of ReportEntry")
        self._entries = tuple(instance("entries", one, ReportEntry, "ReportEntry") for one in given)

    @classmethod
    def read(cls, blocks: Sequence[_core.Block]) -> Report:
        """Read the reports of several blocks.

        Parameters
        ----------
        blocks : sequence of Block
            Blocks of models or of clips.

        Returns
        -------
        Report
            The entries of all blocks, block by block.
        """
        entries: list[ReportEntry] = []
        for block in items_of("blocks", blocks, "a sequence of blocks"):
            instance("blocks", block, _core.Block, "a sequence of blocks")
            rows = _block.section(block, "REPORT")
            codes, firsts, messages = (
                [printable(unicode_text(one)) for one in _block.texts(block, rows[field])]
                for field in ("code", "first", "message")
            )
            severities = (_block.SEVERITIES[number] for number in rows["severity"].tolist())
            entries += map(ReportEntry, codes, severities, rows["count"].tolist(), firsts, messages)
        return cls(entries)

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
        return item_at(self._entries, index)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[ReportEntry]:
        return iter(self._entries)

    def __repr__(self) -> str:
        if not self:
            return "<Report: nothing was repaired or lost>"
        return "<Report:\n  " + "\n  ".join(map(str, self)) + ">"
