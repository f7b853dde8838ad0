"""Writing a model as binary glTF 2.0: nodes, meshes, skins, materials with their images, and animations.

The names of the format are those of the specification (registry.khronos.org/glTF/specs/2.0). Its matrices
are column-major for column vectors; quaternions are x y z w and texture coordinates start at the top left,
as here.
"""

import json
import math
import struct
import warnings
import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._text import unicode_text
from .._types import Array
from ..assets import Material, Submesh, Target, Texture
from ..errors import LoadError, SkinpyWarning
from . import glb_keys

if TYPE_CHECKING:
    from ..model import Model

#: componentType of the accessors that are written here.
_COMPONENTS = {"<f4": 5126, "|u1": 5121, "<u2": 5123, "<u4": 5125}
_KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_VERTICES, _INDICES = 34962, 34963  # bufferView.target
_MIME = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg"}
#: How far T * R * S may be from a joint's rest matrix, relative to it, before the matrix itself is written.
_MATRIX_TOLERANCE = 1e-6
_TEXTURE_TRANSFORM = "KHR_texture_transform"


def model_glb(model: "Model") -> bytes:
    """The bytes of a .glb file with all of `model` that glTF can hold."""
    return glb(*_Writer(model).document())


def glb(document: dict[str, Any], data: bytes) -> bytes:
    """The container: header, JSON chunk filled up with spaces, BIN chunk filled up with zeros."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if data:
        data += b"\0" * (-len(data) % 4)
        chunks += struct.pack("<I4s", len(data), b"BIN\0") + data
    check_size(12 + len(chunks))
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def check_size(size: int) -> None:
    """Raises ValueError where a .glb cannot hold as many bytes."""
    if size >= 2**32:
        raise ValueError(f"the model takes {size} bytes; a .glb holds less than 4 GiB")


class Buffer:
    """The one buffer, its views and accessors; equal arrays are stored once."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self._known: dict[tuple[Any, ...], int] = {}

    def view(self, data: bytes | memoryview, target: int | None = None) -> int:
        """A view of its own for `data`, at a multiple of 4 bytes."""
        check_size(len(self.data) + len(data))  # before memory runs out
        self.data += b"\0" * (-len(self.data) % 4)
        entry = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)}
        self.data += data
        self.views.append(entry | ({} if target is None else {"target": target}))
        return len(self.views) - 1

    def add(self, rows: Array, target: int | None = None, *, limits: bool = False) -> int:
        """An accessor of (N,) or (N,C) numbers; every row must be a multiple of 4 bytes but for indices."""
        little = np.ascontiguousarray(rows, rows.dtype.newbyteorder("<"))
        kind = _KINDS[little.shape[1] if little.ndim == 2 else 1]
        data = little.tobytes()
        key = (data, little.dtype.str, kind, target, limits)
        if key not in self._known:
            entry: dict[str, Any] = {
                "bufferView": self.view(data, target),
                "componentType": _COMPONENTS[little.dtype.str],
                "count": len(little),
                "type": kind,
            }
            if limits:
                wide = little.reshape(len(little), -1)
                entry |= {"min": numbers(wide.min(axis=0)), "max": numbers(wide.max(axis=0))}
            self.accessors.append(entry)
            self._known[key] = len(self.accessors) - 1
        return self._known[key]


def numbers(values: Iterable[Any]) -> list[float]:
    """float32 numbers as the shortest decimals that are read back as the same float32."""
    return [float(str(np.float32(value))) for value in values]


def named(name: str) -> dict[str, Any]:
    return {"name": unicode_text(name)} if name else {}


class _Writer:
    """One document under construction."""

    def __init__(self, model: "Model") -> None:
        self.model = model
        self.buffer = Buffer()
        self.nodes: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.skins: list[dict[str, Any]] = []
        self.images: list[dict[str, Any]] = []
        self.shown = _by_node(model.mesh.submeshes)
        self.targets = glb_keys.targets_of_nodes(model)

    def document(self) -> tuple[dict[str, Any], bytes]:
        """The JSON document and the bytes of its buffer."""
        animations = glb_keys.animations(self.model, self.targets, self.buffer)
        roots = self._add_nodes({channel.joint for clip in self.model.clips for channel in clip.channels})
        for node, submeshes in self.shown.items():
            self._add_mesh(node, submeshes)
        parts: dict[str, list[Any]] = {
            "nodes": self.nodes,
            "meshes": self.meshes,
            "skins": self.skins,
            "animations": animations,
            "materials": [self._material(material) for material in self.model.materials],
            "images": self.images,
            "accessors": self.buffer.accessors,
            "bufferViews": self.buffer.views,
        }
        if self.images:
            parts["textures"] = [{"source": image, "sampler": 0} for image in range(len(self.images))]
            parts["samplers"] = [{"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497}]
        if self.buffer.data:
            parts["buffers"] = [{"byteLength": len(self.buffer.data)}]
        if any("extensions" in surface for surface in _textures_of(parts["materials"])):
            parts["extensionsUsed"] = [_TEXTURE_TRANSFORM]
        head: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"skinpy {_core._build_info()['version']}"},
            "scene": 0,
            "scenes": [{"nodes": roots}],
        }
        return head | {name: part for name, part in parts.items() if part}, bytes(self.buffer.data)

    # ---- nodes --------------------------------------------------------------------------------------

    def _add_nodes(self, moving: set[int | None]) -> list[int]:
        """One node per joint, with its number; returns the scene's root."""
        skeleton = self.model.skeleton
        built = _matrices(skeleton.translation, skeleton.rotation, skeleton.scale)
        for joint, name in enumerate(skeleton.names):
            rest = skeleton.rest_local[joint].astype(np.float64)
            near = np.abs(built[joint] - rest).max() <= _MATRIX_TOLERANCE * max(np.abs(rest).max(), 1e-30)
            node = named(name)
            if joint in moving or near:  # glTF lets nothing but T, R and S be animated
                node |= self._parts(joint)
            else:
                node["matrix"] = numbers(rest.T.ravel())
            self.nodes.append(node)
            parent = int(skeleton.parents[joint])
            if parent >= 0:
                self.nodes[parent].setdefault("children", []).append(joint)
        roots = [int(joint) for joint in np.flatnonzero(skeleton.parents < 0)]
        if len(roots) > 1:  # the joints of a skin need a common root
            self.nodes.append({"name": "ROOT", "children": roots})
            return [len(self.nodes) - 1]
        return roots

    def _parts(self, joint: int) -> dict[str, Any]:
        """Translation, rotation and scale, where they are not what glTF takes anyway."""
        skeleton = self.model.skeleton
        rows = (
            ("translation", skeleton.translation[joint], (0, 0, 0)),
            ("rotation", skeleton.rotation[joint], (0, 0, 0, 1)),
            ("scale", skeleton.scale[joint], (1, 1, 1)),
        )
        return {name: numbers(row) for name, row, usual in rows if (row != usual).any()}

    # ---- meshes and skins ---------------------------------------------------------------------------

    def _add_mesh(self, node: int, submeshes: list[Submesh]) -> None:
        """All submeshes of one node: one mesh, and a skin unless its vertices only follow the node."""
        mesh, skin = self.model.mesh, self.model.skin
        span = np.concatenate([np.asarray(one.vertex_range) for one in submeshes])
        slots, used = mesh.slots[span], mesh.weights[span] > 0
        needed = np.unique(slots[used])
        rigid = len(needed) == 1 and skin.joints[needed[0]] == node
        rigid &= bool((skin.inverse_bind[needed[0]] == np.eye(4, dtype=np.float32)).all())
        if not rigid and len(self.shown) == 1:
            needed = np.arange(len(skin))  # also those that no vertex follows
        primitives = [self._primitive(one, None if rigid else needed) for one in submeshes]
        self.nodes[node]["mesh"] = len(self.meshes)
        entry = named(_mesh_name(submeshes)) | {"primitives": primitives}
        targets = [self.model.targets[number] for number in self.targets.get(node, [])]
        if targets:
            for one, primitive in zip(submeshes, primitives, strict=True):
                primitive["targets"] = [self._target(target, one.vertex_range) for target in targets]
            entry["weights"] = numbers(target.default_weight for target in targets)
            entry["extras"] = {"targetNames": [unicode_text(target.name) for target in targets]}
        self.meshes.append(entry)
        if not rigid:
            self.nodes[node]["skin"] = len(self.skins)
            self._add_skin(needed)

    def _primitive(self, submesh: Submesh, needed: Array | None) -> dict[str, Any]:
        """needed, where there is a skin: the slots in it, rising."""
        mesh = self.model.mesh
        part = slice(submesh.vertex_range.start, submesh.vertex_range.stop)
        attributes = {"POSITION": self.buffer.add(mesh.positions[part], _VERTICES, limits=True)}
        streams = (
            ("NORMAL", mesh.normals),
            ("TANGENT", mesh.tangents),
            ("TEXCOORD_0", mesh.uvs),
            ("COLOR_0", mesh.colors),
        )
        for name, stream in streams:
            if stream is not None:
                attributes[name] = self.buffer.add(stream[part], _VERTICES)
        if needed is not None:
            attributes |= self._influences(mesh.slots[part], mesh.weights[part], needed)
        faces = mesh.faces[submesh.face_range.start : submesh.face_range.stop].ravel() - np.uint32(part.start)
        # The largest number of a type would end a strip and is not allowed.
        indices = faces.astype("<u2") if len(submesh.vertex_range) < 2**16 else faces.astype("<u4")
        primitive = {"attributes": attributes, "indices": self.buffer.add(indices, _INDICES)}
        return primitive | ({} if submesh.material is None else {"material": submesh.material})

    def _influences(self, slots: Array, weights: Array, needed: Array) -> dict[str, int]:
        """JOINTS_n and WEIGHTS_n, four influences each; where the weight is 0 the joint is 0 too."""
        sets = 2 if slots.shape[1] > 4 and (weights[:, 4:] > 0).any() else 1
        width = min(4 * sets, slots.shape[1])
        joints = np.zeros((len(slots), 4 * sets), "u1" if len(needed) <= 256 else "<u2")
        shares = np.zeros((len(slots), 4 * sets), "<f4")
        shares[:, :width] = weights[:, :width]
        places = np.searchsorted(needed, slots[:, :width])
        joints[:, :width] = np.where(shares[:, :width] > 0, places, 0)
        found = {}
        for number in range(sets):
            four = slice(4 * number, 4 * number + 4)
            found[f"JOINTS_{number}"] = self.buffer.add(joints[:, four], _VERTICES)
            found[f"WEIGHTS_{number}"] = self.buffer.add(shares[:, four], _VERTICES)
        return found

    def _target(self, target: Target, vertices: range) -> dict[str, int]:
        """The differences of all vertices of a primitive."""
        start, stop = np.searchsorted(target.vertices, (vertices.start, vertices.stop))
        place = target.vertices[start:stop] - np.uint32(vertices.start)
        found = {}
        for name, rows in (("POSITION", target.positions), ("NORMAL", target.normals)):
            if rows is not None:
                full = np.zeros((len(vertices), 3), np.float32)
                full[place] = rows[start:stop]
                found[name] = self.buffer.add(full, _VERTICES, limits=name == "POSITION")
        return found

    def _add_skin(self, slots: Array) -> None:
        """A joint that stands in two slots gets a node more: glTF wants the joints of a skin to differ."""
        joints: list[int] = []
        seen: set[int] = set()
        for slot in slots:
            joint = int(self.model.skin.joints[slot])
            if joint in seen:
                self.nodes[joint].setdefault("children", []).append(len(self.nodes))
                self.nodes.append(named(self.model.skeleton.names[joint]))
                joint = len(self.nodes) - 1
            seen.add(joint)
            joints.append(joint)
        binds = self.model.skin.inverse_bind[slots].swapaxes(1, 2).reshape(-1, 16)
        self.skins.append({"joints": joints, "inverseBindMatrices": self.buffer.add(binds)})

    # ---- materials ----------------------------------------------------------------------------------

    def _material(self, material: Material) -> dict[str, Any]:
        surface: dict[str, Any] = {
            "baseColorFactor": [min(max(value, 0.0), 1.0) for value in numbers(material.base_color)],
            "metallicFactor": 0.0,
            "roughnessFactor": 0.8,
        }
        if material.texture is not None and (image := self._image(material.texture)) is not None:
            surface["baseColorTexture"] = {"index": image} | _texture_transform(material)
        entry = named(material.name) | {"pbrMetallicRoughness": surface}
        if material.double_sided:
            entry["doubleSided"] = True
        if material.alpha != "opaque":
            entry["alphaMode"] = material.alpha.upper()
        if material.alpha == "mask":
            entry["alphaCutoff"] = numbers([material.alpha_cutoff])[0]
        return entry

    def _image(self, texture: Texture) -> int | None:
        """The image's number, stored once; PNG and JPEG as they are, what glTF does not know as PNG."""
        mime, data = _MIME.get(texture.format), texture.data
        if mime is None:
            try:
                mime, data = "image/png", memoryview(png(texture.image()))
            except (ImportError, LoadError) as error:
                warnings.warn(f"{error}; it is left out", SkinpyWarning, stacklevel=2)
                return None
        known = {image["bufferView"]: number for number, image in enumerate(self.images)}
        for view, number in known.items():
            place = self.buffer.views[view]
            if place["byteLength"] == len(data):
                start = place["byteOffset"]
                if self.buffer.data[start : start + len(data)] == data:
                    return number
        entry = {"bufferView": self.buffer.view(data), "mimeType": mime}
        # "*0" is Assimp's way to say "the first image inside the file".
        self.images.append(entry | named("" if texture.name.startswith("*") else texture.name))
        return len(self.images) - 1


def _texture_transform(material: Material) -> dict[str, Any]:
    """KHR_texture_transform: scaled, then turned counter-clockwise in the picture, then moved."""
    (a, b, u), (c, d, v) = np.asarray(material.uv_transform, np.float64)[:2].tolist()
    if (a, b, u, c, d, v) == (1, 0, 0, 0, 1, 0):
        return {}
    turn, wide = math.atan2(-c, a), math.hypot(a, c)
    high = math.sin(turn) * b + math.cos(turn) * d
    if abs(a * b + c * d) > 1e-5 * wide * math.hypot(b, d):
        warnings.warn(
            f"material {material.name!r}: glTF knows no shear of textures, which is lost",
            SkinpyWarning,
            stacklevel=2,
        )
    entry = {"offset": numbers((u, v)), "rotation": numbers([turn])[0], "scale": numbers((wide, high))}
    return {"extensions": {_TEXTURE_TRANSFORM: entry}}


def _textures_of(materials: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one["pbrMetallicRoughness"].get("baseColorTexture", {}) for one in materials]


def _by_node(submeshes: Sequence[Submesh]) -> dict[int, list[Submesh]]:
    """The submeshes that show anything, by the joint that they hang on."""
    found: dict[int, list[Submesh]] = {}
    for one in submeshes:
        if one.face_range and one.vertex_range:
            found.setdefault(one.node, []).append(one)
    return found


def _mesh_name(submeshes: list[Submesh]) -> str:
    """ "Body" for the parts "Body-0", "Body-2", ..., as the importer names the primitives that it keeps."""
    names = [one.name.rpartition("-") for one in submeshes]
    base = names[0][0]
    numbers = [int(number) for stem, _, number in names if stem == base and number.isdecimal()]
    rising = len(numbers) == len(names) > 1 and all(a < b for a, b in pairwise(numbers))
    return base if rising and base else submeshes[0].name


def _matrices(translation: Array, rotation: Array, scale: Array) -> Array:
    """(J,4,4) float64 T * R * S."""
    x, y, z, w = rotation.astype(np.float64).T
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrices = np.tile(np.eye(4), (len(rotation), 1, 1))
    matrices[:, :3, :3] = turn.transpose(2, 0, 1) * scale[:, None, :]
    matrices[:, :3, 3] = translation
    return matrices


def png(pixels: Array) -> bytes:
    """(h,w,4) uint8 as a PNG file, RGBA, without filters."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 4 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
