"""Writing a model as binary glTF 2.0: nodes, meshes, skins, materials with their images, and animations.

The names of the format are those of the specification (registry.khronos.org/glTF/specs/2.0). Its matrices
are column-major for column vectors; quaternions are x y z w and texture coordinates start at the top left,
as here.
"""

import math
import warnings
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._text import quoted, unicode_text
from .._types import Array
from ..assets import Material, Submesh, Target, Texture, file_textures
from ..clips.looks import UV_PATHS, visible_joints
from ..errors import LoadError, SkinpyWarning
from ..models.space import in_meters
from .glb_animations import animations, targets_of_nodes
from .glb_buffer import Buffer, glb, named, numbers
from .glb_data import add_nodes, add_variants, animated, material_members, used_extensions
from .png import png

if TYPE_CHECKING:
    from ..model import Model

_VERTICES, _INDICES = 34962, 34963  # bufferView.target
_MIME = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}  # by the first bytes
#: How far T * R * S may be from a joint's rest matrix, relative to it, before the matrix itself is written.
_MATRIX_TOLERANCE = 1e-6
#: Largest cosine between the columns of a texture's transform that counts as no shear.
_SHEAR_TOLERANCE = 1e-5
_TEXTURE_TRANSFORM = "KHR_texture_transform"
_WRAPS = {"repeat": 10497, "clamp_to_edge": 33071, "mirrored_repeat": 33648}
_FILTERS = {
    "nearest": 9728,
    "linear": 9729,
    "nearest_mipmap_nearest": 9984,
    "linear_mipmap_nearest": 9985,
    "nearest_mipmap_linear": 9986,
    "linear_mipmap_linear": 9987,
}
#: The sampler of all textures but those of base colors.
_SAMPLER = {"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497}


def model_glb(model: "Model") -> bytes:
    """Return the bytes of a .glb file with everything of `model` that glTF can hold, in meters and +Y up."""
    return glb(*_Writer(in_meters(model)).document())


class _Writer:
    """A document under construction."""

    def __init__(self, model: "Model") -> None:
        self.model = model
        self.buffer = Buffer()
        self.nodes: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.skins: list[dict[str, Any]] = []
        self.images: list[dict[str, Any]] = []
        self.samplers: list[dict[str, int]] = []
        self.textures: list[dict[str, int]] = []
        self._known: dict[tuple[int, ...], int] = {}  # textures by image and sampler
        self.primitives: dict[int, dict[str, Any]] = {}  # by the number of their submesh
        self.shown = _by_node(model.mesh.submeshes)
        seen = visible_joints(model, None, 0.0, "clamp")
        _warn_of_hidden([one for one in model.mesh.submeshes if not one.visible and seen[one.node]])
        self.targets = targets_of_nodes(model)
        self.animated = animated(model)

    def document(self) -> tuple[dict[str, Any], bytes]:
        """Return the JSON document and the bytes of its buffer."""
        clips = animations(self.model, self.targets, self.buffer)
        roots = self._add_nodes(
            {channel.joint for clip in self.model.clips for channel in clip._pose_channels}
        )
        for node, submeshes in self.shown.items():
            self._add_mesh(node, submeshes)
        members = add_nodes(self.model, self.nodes, self.animated.get("visibility", set()))
        root = members.pop("extensions", {}) | add_variants(self.model, self.primitives)
        lists: dict[str, list[Any]] = {
            "nodes": self.nodes,
            "meshes": self.meshes,
            "skins": self.skins,
            "animations": clips,
            "materials": [self._material(number) for number in range(len(self.model.materials))],
            "images": self.images,
            "samplers": self.samplers,
            "textures": self.textures,
            "accessors": self.buffer.accessors,
            "bufferViews": self.buffer.views,
        }
        if self.buffer.data:
            lists["buffers"] = [{"byteLength": len(self.buffer.data)}]
        document = {name: entries for name, entries in lists.items() if entries} | members
        document |= {"extensions": root} if root else {}
        if used := used_extensions(document):
            document["extensionsUsed"] = sorted(used)
        head: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"skinpy {_core._build_info()['version']}"},
            "scene": 0,
            "scenes": [{"nodes": roots}],
        }
        return head | document, bytes(self.buffer.data)

    # ---- nodes --------------------------------------------------------------------------------------

    def _add_nodes(self, moving: set[int | None]) -> list[int]:
        """Add one node per joint, with the same index; return the roots of the scene."""
        skeleton = self.model.skeleton
        built = _matrices(skeleton.translation, skeleton.rotation, skeleton.scale)
        for joint, name in enumerate(skeleton.names):
            rest = skeleton.rest_local[joint].astype(np.float64)
            near = np.abs(built[joint] - rest).max() <= _MATRIX_TOLERANCE * max(np.abs(rest).max(), 1e-30)
            node = named(name)
            if joint in moving or near:  # glTF animates only T, R and S
                node |= self._components(joint)
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

    def _components(self, joint: int) -> dict[str, Any]:
        """Return translation, rotation and scale, without those that glTF takes by default."""
        skeleton = self.model.skeleton
        rows = (
            ("translation", skeleton.translation[joint], (0, 0, 0)),
            ("rotation", skeleton.rotation[joint], (0, 0, 0, 1)),
            ("scale", skeleton.scale[joint], (1, 1, 1)),
        )
        return {name: numbers(row) for name, row, default in rows if (row != default).any()}

    # ---- meshes and skins ---------------------------------------------------------------------------

    def _add_mesh(self, node: int, submeshes: list[Submesh]) -> None:
        """Add the submeshes of one node as a mesh, with a skin unless the vertices only follow the node."""
        mesh, skin = self.model.mesh, self.model.skin
        span = np.concatenate([np.asarray(one.vertex_range) for one in submeshes])
        slots, used = mesh.slots[span], mesh.weights[span] > 0
        needed = np.unique(slots[used])
        rigid = len(needed) == 1 and skin.joints[needed[0]] == node
        rigid &= bool((skin.inverse_bind[needed[0]] == np.eye(4, dtype=np.float32)).all())
        if not rigid and len(self.shown) == 1:
            needed = np.arange(len(skin))  # also the slots that no vertex follows
        primitives = [self._primitive(one, None if rigid else needed) for one in submeshes]
        for one, primitive in zip(submeshes, primitives, strict=True):
            self.primitives[self._numbers[id(one)]] = primitive
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

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """The number of each submesh, by its identity."""
        return {id(one): number for number, one in enumerate(self.model.mesh.submeshes)}

    def _primitive(self, submesh: Submesh, needed: Array | None) -> dict[str, Any]:
        """Return the primitive of a submesh; `needed` has the slots of its skin, if it has one."""
        mesh = self.model.mesh
        span = slice(submesh.vertex_range.start, submesh.vertex_range.stop)
        attributes = {"POSITION": self.buffer.add(mesh.positions[span], _VERTICES, limits=True)}
        streams = (
            ("NORMAL", mesh.normals),
            ("TANGENT", mesh.tangents),
            ("TEXCOORD_0", mesh.uvs),
            ("COLOR_0", mesh.colors),
        )
        for name, stream in streams:
            if stream is not None:
                attributes[name] = self.buffer.add(stream[span], _VERTICES)
        if needed is not None:
            attributes |= self._influences(mesh.slots[span], mesh.weights[span], needed)
        faces = mesh.faces[submesh.face_range.start : submesh.face_range.stop].ravel() - np.uint32(span.start)
        # The largest index of a type would restart a strip, so glTF does not allow it.
        indices = faces.astype("<u2") if len(submesh.vertex_range) < 2**16 else faces.astype("<u4")
        primitive = {"attributes": attributes, "indices": self.buffer.add(indices, _INDICES)}
        return primitive | ({} if submesh.material is None else {"material": submesh.material})

    def _influences(self, slots: Array, weights: Array, needed: Array) -> dict[str, int]:
        """Return JOINTS_n and WEIGHTS_n, four influences each; where the weight is 0 the joint is 0 too."""
        sets = 2 if slots.shape[1] > 4 and (weights[:, 4:] > 0).any() else 1
        width = min(4 * sets, slots.shape[1])
        joints = np.zeros((len(slots), 4 * sets), "u1" if len(needed) <= 256 else "<u2")
        padded = np.zeros((len(slots), 4 * sets), "<f4")
        padded[:, :width] = weights[:, :width]
        skin_joints = np.searchsorted(needed, slots[:, :width])
        joints[:, :width] = np.where(padded[:, :width] > 0, skin_joints, 0)
        found = {}
        for number in range(sets):
            four = slice(4 * number, 4 * number + 4)
            found[f"JOINTS_{number}"] = self.buffer.add(joints[:, four], _VERTICES)
            found[f"WEIGHTS_{number}"] = self.buffer.add(padded[:, four], _VERTICES)
        return found

    def _target(self, target: Target, vertices: range) -> dict[str, int]:
        """Return the differences that a target adds to all vertices of a primitive."""
        start, stop = np.searchsorted(target.vertices, (vertices.start, vertices.stop))
        moved = target.vertices[start:stop] - np.uint32(vertices.start)
        found = {}
        for name, rows in (("POSITION", target.positions), ("NORMAL", target.normals)):
            if rows is not None:
                full = np.zeros((len(vertices), 3), np.float32)
                full[moved] = rows[start:stop]
                found[name] = self.buffer.add(full, _VERTICES, limits=name == "POSITION")
        return found

    def _add_skin(self, slots: Array) -> None:
        """Add a skin. A joint in two slots gets an extra node, as the joints of a glTF skin must differ."""
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

    def _material(self, number: int) -> dict[str, Any]:
        """Return the entry of a material."""
        material = self.model.materials[number]
        needs_strength = number in self.animated.get("emissive_strength", ())
        needs_transform = any(number in self.animated.get(path, ()) for path in UV_PATHS)
        members, surface = material_members(self.model, number, self._texture_of, needs_strength)
        surface["baseColorFactor"] = [min(max(value, 0.0), 1.0) for value in numbers(material.base_color)]
        if material.texture is not None:
            texture = self._texture(material.texture, _sampler(material))
            if texture is not None:
                surface["baseColorTexture"] = {"index": texture} | _texture_transform(
                    material, needs_transform
                )
        entry = named(material.name) | {"pbrMetallicRoughness": surface} | members
        if material.double_sided:
            entry["doubleSided"] = True
        if material.alpha != "opaque":
            entry["alphaMode"] = material.alpha.upper()
        if material.alpha == "mask":
            entry["alphaCutoff"] = numbers([material.alpha_cutoff])[0]
        return entry

    def _texture_of(self, number: int) -> int | None:
        """Return the index of the written texture for a texture of the file that is not a base color."""
        places = self._places
        found = places[number] if 0 <= number < len(places) else None
        return None if found is None else self._texture(found, _SAMPLER)

    @cached_property
    def _places(self) -> list[Texture | None]:
        """The texture of the model for each of the file's."""
        return file_textures(self.model._block, self.model._extras)

    def _texture(self, texture: Texture, sampler: dict[str, int]) -> int | None:
        """Return the index of the glTF texture, a pair of image and sampler; each pair is stored once."""
        image = self._image(texture)
        if image is None:
            return None
        key = (image, *sampler.values())
        if key not in self._known:
            if sampler not in self.samplers:
                self.samplers.append(sampler)
            self._known[key] = len(self.textures)
            self.textures.append({"source": image, "sampler": self.samplers.index(sampler)})
        return self._known[key]

    def _image(self, texture: Texture) -> int | None:
        """Return the index of the image, stored once: PNG and JPEG unchanged, other formats as PNG."""
        data = texture.data
        head = b"" if texture.format == "rgba8" else bytes(data[:8])
        mime = next((mime for first, mime in _MIME.items() if head.startswith(first)), None)
        if mime is None:
            try:
                mime, data = "image/png", memoryview(png(texture.image()))
            except (ImportError, LoadError) as error:
                warnings.warn(f"{error}; it is left out", SkinpyWarning, stacklevel=2)
                return None
        known = {image["bufferView"]: number for number, image in enumerate(self.images)}
        for view, number in known.items():
            entry = self.buffer.views[view]
            if entry["byteLength"] == len(data):
                start = entry["byteOffset"]
                if self.buffer.data[start : start + len(data)] == data:
                    return number
        # "*0" is Assimp's name for the first image inside the file.
        image = {"bufferView": self.buffer.view(data), "mimeType": mime}
        self.images.append(image | named("" if texture.name.startswith("*") else texture.name))
        return len(self.images) - 1


def _texture_transform(material: Material, needed: bool) -> dict[str, Any]:
    """Return KHR_texture_transform: scale, then rotation counterclockwise in the picture, then offset.

    The identity is left out unless it is `needed`, for a clip that changes it.
    """
    (a, b, u), (c, d, v) = np.asarray(material.uv_transform, np.float64)[:2].tolist()
    if (a, b, u, c, d, v) == (1, 0, 0, 0, 1, 0) and not needed:
        return {}
    rotation, scale_u = math.atan2(-c, a), math.hypot(a, c)
    scale_v = math.sin(rotation) * b + math.cos(rotation) * d
    if abs(a * b + c * d) > _SHEAR_TOLERANCE * scale_u * math.hypot(b, d):
        warnings.warn(
            f"material {quoted(material.name)}: glTF has no shear of textures, so the shear is lost",
            SkinpyWarning,
            stacklevel=2,
        )
    scale = numbers((scale_u, scale_v))
    entry = {"offset": numbers((u, v)), "rotation": numbers([rotation])[0], "scale": scale}
    return {"extensions": {_TEXTURE_TRANSFORM: entry}}


def _sampler(material: Material) -> dict[str, int]:
    """Return the sampler of the base-color texture, whose numbers are those of OpenGL."""
    wrap_u, wrap_v = (_WRAPS[mode] for mode in material.wrap)
    return {
        "magFilter": _FILTERS[material.mag_filter or "linear"],
        "minFilter": _FILTERS[material.min_filter or "linear_mipmap_linear"],
        "wrapS": wrap_u,
        "wrapT": wrap_v,
    }


def _warn_of_hidden(submeshes: list[Submesh]) -> None:
    """Warn of hidden submeshes, which other programs will draw."""
    if submeshes:
        warnings.warn(
            f"glTF cannot hold hidden submeshes; {len(submeshes)} are written as visible ones, the first is "
            f"{quoted(submeshes[0].name)}",
            SkinpyWarning,
            stacklevel=2,
        )


def _by_node(submeshes: Sequence[Submesh]) -> dict[int, list[Submesh]]:
    """Return the submeshes with faces, by the joint that they are attached to."""
    found: dict[int, list[Submesh]] = {}
    for one in submeshes:
        if one.face_range and one.vertex_range:
            found.setdefault(one.node, []).append(one)
    return found


def _mesh_name(submeshes: list[Submesh]) -> str:
    """Return "Body" for submeshes "Body-0", "Body-2", ...: the importer names kept primitives like that."""
    names = [one.name.rpartition("-") for one in submeshes]
    base = names[0][0]
    numbers = [int(number) for stem, _, number in names if stem == base and number.isdecimal()]
    increasing = len(numbers) == len(names) > 1 and all(a < b for a, b in pairwise(numbers))
    return base if increasing and base else submeshes[0].name


def _matrices(translation: Array, rotation: Array, scale: Array) -> Array:
    """Return T * R * S (J,4,4) in float64."""
    x, y, z, w = rotation.astype(np.float64).T
    linear = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrices = np.tile(np.eye(4), (len(rotation), 1, 1))
    matrices[:, :3, :3] = linear.transpose(2, 0, 1) * scale[:, None, :]
    matrices[:, :3, 3] = translation
    return matrices
