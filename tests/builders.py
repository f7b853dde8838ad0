"""Models made by script: a small glTF 2.0 writer, a seeded generator and the awkward cases real data lacks.

Every function that returns a model returns a `Gltf`; `.glb()` gives its bytes and `.gltf()` the same as JSON
with the buffer inside. The writer knows nothing of skinpy, so what it writes is judged by `twin.GltfFile`.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import skinpy

_COMPONENT = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
_KIND = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_INTERPOLATION = {"step": "STEP", "linear": "LINEAR", "cubic": "CUBICSPLINE"}


class Gltf:
    """Collects nodes, meshes, skins and animations and packs them into one buffer."""

    def __init__(self) -> None:
        self.blob = bytearray()
        self.nodes: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.skins: list[dict[str, Any]] = []
        self.animations: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.views: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.roots: list[int] = []
        self.more: dict[str, Any] = {}  # further members of the document

    # -- data

    def _view(self, array: NDArray[Any]) -> int:
        self.blob += b"\0" * (-len(self.blob) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.blob), "byteLength": array.nbytes})
        self.blob += array.tobytes()
        return len(self.views) - 1

    def accessor(self, array: ArrayLike, dtype: str = "f4", *, normalized: bool = False) -> int:
        """(count,) or (count, components), stored as `dtype`."""
        a = np.ascontiguousarray(array, "<" + dtype)
        a = a.reshape(len(a), -1)
        entry: dict[str, Any] = {
            "bufferView": self._view(a),
            "componentType": _COMPONENT[dtype],
            "count": len(a),
            "type": _KIND[a.shape[1]],
        }
        if normalized:
            entry["normalized"] = True
        if a.size and not normalized:
            entry["min"], entry["max"] = a.min(0).tolist(), a.max(0).tolist()
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def sparse(self, base: ArrayLike | None, count: int, at: ArrayLike, values: ArrayLike) -> int:
        """An accessor whose rows `at` are replaced; without a base the rest is zero."""
        v = np.ascontiguousarray(values, "<f4")
        full = np.zeros((count, v.shape[1]), np.float32) if base is None else np.array(base, np.float32)
        full[np.asarray(at)] = v
        entry: dict[str, Any] = {
            "componentType": 5126,
            "count": count,
            "type": _KIND[v.shape[1]],
            "min": full.min(0).tolist(),
            "max": full.max(0).tolist(),
            "sparse": {
                "count": len(v),
                "indices": {"bufferView": self._view(np.asarray(at, "<u2")), "componentType": 5123},
                "values": {"bufferView": self._view(v)},
            },
        }
        if base is not None:
            entry["bufferView"] = self._view(np.ascontiguousarray(base, "<f4"))
        self.accessors.append(entry)
        return len(self.accessors) - 1

    # -- scene

    def node(
        self,
        name: str | None = None,
        parent: int | None = None,
        *,
        t: ArrayLike | None = None,
        r: ArrayLike | None = None,
        s: ArrayLike | None = None,
        matrix: ArrayLike | None = None,
        mesh: int | None = None,
        skin: int | None = None,
    ) -> int:
        """Appends a node; translation, x y z w rotation, scale, or a (4, 4) for column vectors."""
        entry: dict[str, Any] = {} if name is None else {"name": name}
        for key, value in (("translation", t), ("rotation", r), ("scale", s)):
            if value is not None:
                entry[key] = _floats(value)
        if matrix is not None:
            entry["matrix"] = _floats(np.asarray(matrix, float).T)
        if mesh is not None:
            entry["mesh"] = mesh
        if skin is not None:
            entry["skin"] = skin
        self.nodes.append(entry)
        index = len(self.nodes) - 1
        if parent is None:
            self.roots.append(index)
        else:
            self.nodes[parent].setdefault("children", []).append(index)
        return index

    def primitive(
        self,
        positions: ArrayLike,
        faces: ArrayLike | None,
        *,
        normals: ArrayLike | None = None,
        uvs: ArrayLike | None = None,
        joints: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        weight_dtype: str = "f4",
        material: int | None = None,
    ) -> dict[str, Any]:
        """One primitive; joints and weights (V, 4n) become the sets JOINTS_0 ... JOINTS_{n-1}."""
        p = positions if isinstance(positions, int) else self.accessor(positions)
        attributes: dict[str, Any] = {"POSITION": p}
        if normals is not None:
            attributes["NORMAL"] = self.accessor(normals)
        if uvs is not None:
            attributes["TEXCOORD_0"] = self.accessor(uvs)
        if joints is not None and weights is not None:
            j, w = np.asarray(joints), np.asarray(weights)
            for k in range(j.shape[1] // 4):
                own = slice(4 * k, 4 * k + 4)
                attributes[f"JOINTS_{k}"] = self.accessor(j[:, own], "u1" if j.max(initial=0) < 256 else "u2")
                attributes[f"WEIGHTS_{k}"] = self._weights(w[:, own], weight_dtype)
        out: dict[str, Any] = {"attributes": attributes}
        if faces is not None:
            out["indices"] = self.accessor(np.ravel(np.asarray(faces)), "u4")
        if material is not None:
            out["material"] = material
        return out

    def _weights(self, w: NDArray[Any], dtype: str) -> int:
        if dtype == "f4":
            return self.accessor(w)
        return self.accessor(np.rint(w * np.iinfo(dtype).max), dtype, normalized=True)

    def mesh(self, *primitives: dict[str, Any], name: str | None = None) -> int:
        self.meshes.append({"primitives": list(primitives), **({} if name is None else {"name": name})})
        return len(self.meshes) - 1

    def skin(self, joints: Sequence[int], inverse_bind: ArrayLike | None = None) -> int:
        """inverse_bind (n, 4, 4) for column vectors; None leaves them out of the file."""
        entry: dict[str, Any] = {"joints": [int(j) for j in joints]}
        if inverse_bind is not None:
            matrices = np.asarray(inverse_bind, np.float64).swapaxes(-1, -2)
            entry["inverseBindMatrices"] = self.accessor(matrices.reshape(-1, 16))
        self.skins.append(entry)
        return len(self.skins) - 1

    def animation(self, name: str | None, *channels: dict[str, Any]) -> int:
        """`channels` come from `channel`."""
        entry: dict[str, Any] = (
            {"channels": [], "samplers": []}
            if name is None
            else {
                "name": name,
                "channels": [],
                "samplers": [],
            }
        )
        for channel in channels:
            entry["channels"].append({"sampler": len(entry["samplers"]), "target": channel["target"]})
            entry["samplers"].append(channel["sampler"])
        self.animations.append(entry)
        return len(self.animations) - 1

    def channel(
        self,
        node: int,
        path: str,
        times: ArrayLike | int,
        values: ArrayLike,
        interpolation: str = "linear",
        tangents: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> dict[str, Any]:
        """`times` in seconds, or the accessor that another channel uses; `tangents` (in, out) for cubic."""
        v = np.asarray(values, np.float32)
        if tangents is not None:
            v = np.stack([np.asarray(tangents[0], np.float32), v, np.asarray(tangents[1], np.float32)], 1)
            v = v.reshape(-1, v.shape[-1])
        sampler = {
            "input": times if isinstance(times, int) else self.accessor(times),
            "output": self.accessor(v),
            "interpolation": _INTERPOLATION[interpolation],
        }
        return {"target": {"node": node, "path": path}, "sampler": sampler}

    # -- output

    def document(self) -> dict[str, Any]:
        out: dict[str, Any] = {"asset": {"version": "2.0", "generator": "skinpy tests"}}
        out |= {"scene": 0, "scenes": [{"nodes": self.roots}], "nodes": self.nodes}
        for key, value in (
            ("meshes", self.meshes),
            ("skins", self.skins),
            ("animations", self.animations),
            ("materials", self.materials),
            ("accessors", self.accessors),
            ("bufferViews", self.views),
        ):
            if value:
                out[key] = value
        if self.blob:
            out["buffers"] = [{"byteLength": len(self.blob)}]
        return out | self.more

    def glb(self) -> bytes:
        text = json.dumps(self.document(), separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        blob = bytes(self.blob) + b"\0" * (-len(self.blob) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
        if blob:
            chunks += struct.pack("<II", len(blob), 0x004E4942) + blob
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks

    def gltf(self) -> bytes:
        document = self.document()
        if self.blob:
            data = base64.b64encode(bytes(self.blob)).decode()
            document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + data
        return json.dumps(document).encode()


def beside_geometry() -> Gltf:
    """A file with all that is kept as data: scenes, cameras, lights, variants, VRM, extras and materials."""
    file = Gltf()
    variants = {"mappings": [{"material": 1, "variants": [0, 1]}]}
    primitive = file.primitive(np.eye(3), [[0, 1, 2]], uvs=np.eye(3)[:, :2], material=0)
    primitive["extensions"] = {"KHR_materials_variants": variants}
    root = file.node("root", mesh=file.mesh(primitive))
    leaf = file.node("leaf", root)
    file.nodes[root] |= {"extras": {"tags": ["\u00e9", None, True, 1.5e3]}, "camera": 0}
    constraint = {"VRMC_node_constraint": {"constraint": {"aim": {"source": root}}}}
    file.nodes[leaf]["extensions"] = constraint | {"KHR_lights_punctual": {"light": 0}}
    transform = {"KHR_texture_transform": {"offset": [0.5, 0], "scale": [2, 3], "rotation": 1}}
    file.materials += [
        {
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "extensions": transform}},
            "normalTexture": {"index": 1, "scale": 2},
            "extensions": {"KHR_materials_clearcoat": {"clearcoatTexture": {"index": 0}}},
        },
        {"extensions": {"KHR_materials_pbrSpecularGlossiness": {"diffuseTexture": {"index": 1}}}},
    ]
    clip = file.channel(leaf, "translation", [0, 1], np.zeros((2, 2)))
    pointer = "/materials/0/pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform/offset"
    clip["target"] = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": pointer}}}
    file.animation("scroll", clip)
    image = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
    file.more = {
        "scenes": [{"nodes": [root], "name": "day"}, {"nodes": [leaf]}],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}],
        "images": [{"uri": image}, {"uri": image}],
        "textures": [{"source": 0, "sampler": 0}, {"extensions": {"EXT_texture_webp": {"source": 1}}}],
        "samplers": [{"wrapS": 33071, "wrapT": 33648, "minFilter": 9984, "magFilter": 9728}],
        "extensionsUsed": ["VRMC_vrm", "KHR_animation_pointer", "ACME_look"],
        "extensions": {
            "KHR_lights_punctual": {"lights": [{"type": "spot", "spot": {"outerConeAngle": 1}}]},
            "KHR_materials_variants": {"variants": [{"name": "a"}, {"name": "b"}]},
            "VRMC_vrm": {"specVersion": "1.0", "humanoid": {"humanBones": {"hips": {"node": root}}}},
        },
    }
    return file


def _floats(value: ArrayLike) -> list[float]:
    return [float(x) for x in np.ravel(np.asarray(value, np.float32))]


# ---------------------------------------------------------------------------------------------- pieces

Rng = np.random.Generator


def quaternions(rng: Rng, n: int, spread: float = np.pi) -> NDArray[Any]:
    """(n, 4) unit quaternions turning by up to `spread` about random axes."""
    axis = rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    half = rng.uniform(-spread, spread, (n, 1)) / 2
    return np.concatenate([axis * np.sin(half), np.cos(half)], 1)


def about(axis: ArrayLike, degrees: float) -> NDArray[Any]:
    """The unit quaternion of a turn about an axis."""
    a = np.asarray(axis, float) / np.linalg.norm(axis)
    half = np.radians(degrees) / 2
    return np.append(a * np.sin(half), np.cos(half))


def matrix_of(t: ArrayLike, q: ArrayLike, s: ArrayLike) -> NDArray[Any]:
    x, y, z, w = np.asarray(q, float) / np.linalg.norm(q)
    m = np.eye(4)
    m[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    m[:3, :3] *= np.asarray(s, float)
    m[:3, 3] = t
    return m


def box(center: ArrayLike = (0, 0, 0), half: ArrayLike = (0.5, 0.5, 0.5)) -> tuple[Any, Any, Any]:
    """24 positions, 24 normals and 12 faces."""
    positions, normals, faces = [], [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            n = np.zeros(3)
            n[axis] = sign
            u, v = np.roll(n, 1), np.roll(n, 2) * sign
            base = len(positions)
            positions += [n + a * u + b * v for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            normals += [n] * 4
            faces += [(base, base + 1, base + 2), (base, base + 2, base + 3)]
    return np.array(positions) * half + center, np.array(normals), np.array(faces)


def tube(rng: Rng, rings: int, sides: int, length: float = 1.0, radius: float = 0.1) -> tuple[Any, Any, Any]:
    """A bumpy tube along +y: (rings*sides) positions, unit normals, faces."""
    a = np.arange(sides) / sides * 2 * np.pi
    y = np.linspace(0, length, rings)
    r = radius * rng.uniform(0.8, 1.2, (rings, sides))
    p = np.stack([r * np.cos(a), np.repeat(y[:, None], sides, 1), r * np.sin(a)], -1).reshape(-1, 3)
    n = np.tile(np.stack([np.cos(a), 0 * a, np.sin(a)], -1), (rings, 1))
    i, j = np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij")
    at, right = (i * sides + j).ravel(), (i * sides + (j + 1) % sides).ravel()
    up = at + sides
    return p, n, np.concatenate([np.stack([at, up, right], 1), np.stack([right, up, right + sides], 1)])


def rest_globals(file: Gltf) -> NDArray[Any]:
    """(N, 4, 4): every node to the scene at rest, in float64. Parents were appended before their children."""
    out = np.zeros((len(file.nodes), 4, 4))
    out[file.roots] = np.eye(4)
    for i, n in enumerate(file.nodes):
        if "matrix" in n:
            local = np.array(n["matrix"]).reshape(4, 4).T
        else:
            local = matrix_of(
                n.get("translation", (0, 0, 0)), n.get("rotation", (0, 0, 0, 1)), n.get("scale", (1, 1, 1))
            )
        out[i] = out[i] @ local
        out[n.get("children", [])] = out[i]
    return out


def bind(file: Gltf, joints: Sequence[int]) -> NDArray[Any]:
    """Inverse bind matrices that leave the mesh as it stands when the joints are at rest."""
    return np.linalg.inv(rest_globals(file)[list(joints)])


def skin_weights(rng: Rng, vertices: int, joints: int, width: int = 4) -> tuple[Any, Any]:
    """(V, width) different joints and weights that sum to 1 in float32, none of them equal."""
    used = min(width, joints)
    index = np.zeros((vertices, width), np.int64)
    weight = np.zeros((vertices, width))
    # random steps around the ring of joints that cannot come full circle
    steps = rng.integers(1, joints // used + 1, (vertices, used))
    index[:, :used] = (np.cumsum(steps, 1) + rng.integers(joints, size=(vertices, 1))) % joints
    weight[:, :used] = rng.uniform(0.05, 1.0, (vertices, used))
    return index, weight / weight.sum(1, keepdims=True)


def smooth_tangents(rng: Rng, values: NDArray[Any], size: float) -> tuple[Any, Any]:
    """In and out tangents per second that differ on every key."""
    return rng.normal(size=values.shape) * size, rng.normal(size=values.shape) * size


# ---------------------------------------------------------------------------------------------- generator

_LINES: dict[str, Callable[[Rng, float, int], NDArray[Any]]] = {
    "uniform": lambda rng, d, n: np.linspace(0, d, n),
    "random": lambda rng, d, n: np.concatenate([[0], np.sort(rng.uniform(0.01 * d, 0.99 * d, n - 2)), [d]]),
}


def random_model(
    seed: int,
    *,
    joints: int | None = None,
    vertices: int | None = None,
    shared_times: bool | None = None,
    kinds: Sequence[str] = ("linear", "linear", "linear", "step", "cubic", "constant"),
    clips: int = 2,
) -> Gltf:
    """A branching skeleton, a skinned cloud of triangles and clips that mix what clips can hold.

    8 to 200 joints and 500 to 4,000 vertices unless the caller says otherwise; the same seed, the same file.
    """
    rng = np.random.default_rng(seed)
    joints = int(rng.integers(8, 201)) if joints is None else joints
    vertices = int(rng.integers(500, 4001)) if vertices is None else vertices
    shared_times = bool(rng.integers(2)) if shared_times is None else shared_times
    file = Gltf()
    root = file.node("armature", r=about((1, 0, 0), -90) if seed % 3 == 0 else None)
    nodes = [file.node("j0", root, t=rng.normal(size=3) * 0.1)]
    for j in range(1, joints):
        # mostly the newest joint, sometimes an older one: limbs of different lengths
        parent = nodes[-1] if rng.random() < 0.8 else nodes[int(rng.integers(len(nodes)))]
        offset = (0, 0.15, 0) + rng.normal(size=3) * 0.03
        nodes.append(file.node(f"j{j}", parent, t=offset, r=quaternions(rng, 1, 0.5)[0]))
    index, weight = skin_weights(rng, vertices, joints)
    anchors = rest_globals(file)[nodes, :3, 3]
    positions = anchors[index[:, 0]] + rng.normal(size=(vertices, 3)) * 0.05
    normals = rng.normal(size=(vertices, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    corner = np.arange(vertices - 2)
    faces = np.stack([corner, corner + 1, corner + 2], 1)
    mesh = file.mesh(
        file.primitive(
            positions, faces, normals=normals, uvs=rng.random((vertices, 2)), joints=index, weights=weight
        )
    )
    file.node("body", root, mesh=mesh, skin=file.skin(nodes, bind(file, nodes)))
    for clip in range(clips):
        _random_clip(file, rng, f"clip {clip}", nodes, shared_times, kinds)
    return file


def _random_clip(
    file: Gltf, rng: Rng, name: str, nodes: Sequence[int], shared_times: bool, kinds: Sequence[str]
) -> None:
    duration = float(np.float32(rng.uniform(0.5, 4.0)))
    count = int(rng.integers(5, 60))
    line = "uniform" if shared_times else "random"
    common = file.accessor(_LINES[line](rng, duration, count))
    channels = []
    for node in nodes:
        for path in ("translation", "rotation", "scale"):
            if rng.random() < {"translation": 0.3, "rotation": 0.95, "scale": 0.2}[path]:
                kind = str(rng.choice(list(kinds)))
                times: Any = common
                n = count
                if not shared_times or kind == "constant":
                    n = 1 if kind == "constant" else int(rng.integers(3, 40))
                    times = np.zeros(1) if n == 1 else _LINES[line](rng, duration, n)
                channels.append(_random_channel(file, rng, node, path, times, n, kind))
    file.animation(name, *channels)


def _random_channel(
    file: Gltf, rng: Rng, node: int, path: str, times: Any, n: int, kind: str
) -> dict[str, Any]:
    if path == "rotation":
        values = quaternions(rng, n, 0.8)
    elif path == "scale":
        values = rng.uniform(0.8, 1.25, (n, 3))
    else:
        rest = np.array(file.nodes[node].get("translation", (0, 0, 0)))
        values = rest + rng.normal(size=(n, 3)) * 0.02
    if kind == "cubic":
        return file.channel(node, path, times, values, "cubic", smooth_tangents(rng, values, 0.2))
    return file.channel(node, path, times, values, "step" if kind == "step" else "linear")


# --------------------------------------------------------------------------------------------- awkward models


def chain(joints: int, *, step: float = 0.05, seed: int = 7, skinned: bool = True) -> Gltf:
    """Joints in one line, every one of them turning; a tube around them."""
    rng = np.random.default_rng(seed)
    file = Gltf()
    nodes: list[int] = []
    for j in range(joints):
        nodes.append(file.node(f"link{j}", nodes[-1] if nodes else None, t=(0, step if j else 0.0, 0)))
    top = file.node("tube", nodes[0])
    if skinned:
        p, n, f = tube(rng, joints + 1, 6, step * joints, 2 * step)
        near = np.clip((p[:, 1] / step).astype(int), 0, joints - 1)
        index = np.stack([near, np.clip(near + 1, 0, joints - 1), near * 0, near * 0], 1)
        weight = np.tile([0.7, 0.3, 0.0, 0.0], (len(p), 1))
        weight[index[:, 0] == index[:, 1]] = (1, 0, 0, 0)
        index[index[:, 0] == index[:, 1], 1] = 0
        file.nodes[top]["mesh"] = file.mesh(file.primitive(p, f, normals=n, joints=index, weights=weight))
        file.nodes[top]["skin"] = file.skin(nodes, bind(file, nodes))
    times = file.accessor(np.linspace(0, 2, 9))
    file.animation("curl", *(file.channel(n, "rotation", times, quaternions(rng, 9, 0.6)) for n in nodes))
    return file


def many_joints(joints: int = 300) -> Gltf:
    """More joints than a byte can number, all of them used by vertices."""
    rng = np.random.default_rng(3)
    file = Gltf()
    root = file.node("root")
    nodes = [file.node(f"j{j}", root, t=(j % 20, j // 20, 0.0)) for j in range(joints)]
    p, n, f = zip(*(box((j % 20, j // 20, 0.0), (0.3, 0.3, 0.3)) for j in range(joints)), strict=True)
    faces = np.concatenate([face + 24 * j for j, face in enumerate(f)])
    index = np.zeros((24 * joints, 4), int)
    index[:, 0] = np.repeat(np.arange(joints), 24)
    index[:, 1] = (index[:, 0] + 1) % joints
    weight = np.tile([0.75, 0.25, 0, 0], (len(index), 1))
    mesh = file.mesh(
        file.primitive(np.concatenate(p), faces, normals=np.concatenate(n), joints=index, weights=weight)
    )
    file.node("crowd", mesh=mesh, skin=file.skin(nodes, bind(file, nodes)))
    times = file.accessor(np.linspace(0, 1, 5))
    file.animation("turn", *(file.channel(n, "rotation", times, quaternions(rng, 5)) for n in nodes))
    return file


def shear() -> Gltf:
    """Non-uniform animated scale above turning joints: the globals hold shear, normals need the cofactors."""
    rng = np.random.default_rng(5)
    file = Gltf()
    nodes: list[int] = []
    for j in range(4):
        nodes.append(
            file.node(
                f"s{j}",
                nodes[-1] if nodes else None,
                t=(0, 0.5 if j else 0.0, 0),
                r=about((1, 1, j), 25),
                s=(1.0, 1.0 + 0.3 * j, 0.8),
            )
        )
    p, n, f = tube(rng, 12, 10, 2.0, 0.3)
    index, weight = skin_weights(rng, len(p), 4)
    mesh = file.mesh(file.primitive(p, f, normals=n, joints=index, weights=weight))
    file.node("body", mesh=mesh, skin=file.skin(nodes, bind(file, nodes)))
    channels = []
    for node in nodes:
        channels.append(file.channel(node, "rotation", np.linspace(0, 1, 6), quaternions(rng, 6)))
        channels.append(file.channel(node, "scale", np.linspace(0, 1, 4), rng.uniform(0.3, 3.0, (4, 3))))
    file.animation("squash", *channels)
    return file


def two_offsets() -> Gltf:
    """Two meshes on the same joints with different inverse bind matrices: one joint, two slots."""
    rng = np.random.default_rng(6)
    file = Gltf()
    a = file.node("a")
    b = file.node("b", a, t=(0, 1, 0))
    p, n, f = box()
    index = np.zeros((24, 4), int)
    index[:, 0] = p[:, 1] > 0
    weight = np.tile([1.0, 0, 0, 0], (24, 1))
    inverse = bind(file, [a, b])
    moved = inverse @ matrix_of((2, 0, 0), about((0, 1, 0), 40), (1, 1, 1))
    for name, matrices in (("left", inverse), ("right", moved), ("left again", inverse)):
        mesh = file.mesh(file.primitive(p, f, normals=n, joints=index, weights=weight))
        file.node(name, mesh=mesh, skin=file.skin([a, b], matrices))
    file.animation("bend", file.channel(b, "rotation", np.linspace(0, 1, 5), quaternions(rng, 5)))
    return file


def many_slots(joints: int) -> Gltf:
    """Two skins with different offsets on the same joints, every one of them used: 2 * joints slots."""
    file = Gltf()
    root = file.node("root")
    nodes = [file.node(f"j{j}", root) for j in range(joints)]
    p = np.arange(joints)[:, None] * [1.0, 0.0, 0.0]
    index = np.arange(joints)[:, None] * [1, 0, 0, 0]
    weight = np.tile([1.0, 0, 0, 0], (joints, 1))
    corners = np.arange(joints - 2)[:, None] + [0, 1, 2]
    primitive = file.primitive(p, corners, joints=index, weights=weight)
    for shift in (0.0, 1.0):
        inverse = np.tile(matrix_of((0, 0, shift), (0, 0, 0, 1), (1, 1, 1)), (joints, 1, 1))
        file.node(f"body {shift}", mesh=file.mesh(primitive), skin=file.skin(nodes, inverse))
    return file


def eight_influences() -> Gltf:
    """JOINTS_1 and WEIGHTS_1: eight different influences on every vertex."""
    rng = np.random.default_rng(8)
    file = Gltf()
    root = file.node("root")
    nodes = [file.node(f"j{j}", root, t=rng.normal(size=3)) for j in range(12)]
    p, n, f = tube(rng, 10, 8)
    index, weight = skin_weights(rng, len(p), 12, 8)
    mesh = file.mesh(file.primitive(p, f, normals=n, joints=index, weights=weight))
    file.node("body", root, mesh=mesh, skin=file.skin(nodes, bind(file, nodes)))
    times = file.accessor(np.linspace(0, 1, 5))
    file.animation("shake", *(file.channel(n, "rotation", times, quaternions(rng, 5, 1.0)) for n in nodes))
    return file


def mixed_channels() -> Gltf:
    """Nine channels, no two with the same key times, step, linear and cubic on each of T, R and S."""
    rng = np.random.default_rng(9)
    file = Gltf()
    nodes: list[int] = []
    for j in range(9):
        nodes.append(file.node(f"m{j}", nodes[-1] if j % 3 else None, t=(0.3 * j, 0.2, 0)))
    p, n, f = box((0, 0, 0), (0.1, 0.1, 0.1))
    for node in nodes:
        file.nodes[node]["mesh"] = file.mesh(file.primitive(p, f, normals=n))
    channels = []
    for j, node in enumerate(nodes):
        path = ("translation", "rotation", "scale")[j % 3]
        kind = ("step", "linear", "cubic")[j // 3]
        keys = 4 + j
        times = np.sort(rng.uniform(0.05 * j, 2.0 - 0.03 * j, keys))
        values = quaternions(rng, keys) if path == "rotation" else rng.uniform(0.5, 2.0, (keys, 3))
        tangents = smooth_tangents(rng, values, 1.0) if kind == "cubic" else None
        channels.append(file.channel(node, path, times, values, kind, tangents))
    file.animation("mixed", *channels)
    return file


def mesh_nodes() -> Gltf:
    """Props with transforms of their own under animated joints; a skinned mesh whose node's is ignored."""
    rng = np.random.default_rng(10)
    file = Gltf()
    root = file.node("root", r=about((1, 0, 0), -90), s=(2, 2, 2))
    arm = file.node("arm", root, t=(1, 0, 0))
    hand = file.node("hand", arm, t=(0, 1, 0), r=about((0, 0, 1), 30))
    p, n, f = box((0, 0, 0), (0.2, 0.3, 0.4))
    prop = file.mesh(file.primitive(p, f, normals=n), name="prop")
    file.node("sword", hand, t=(0.1, 0.4, 0), r=about((0, 1, 0), 70), s=(1, 3, 1), mesh=prop)
    index = np.zeros((24, 4), int)
    index[:, 0], index[:, 1] = 0, 1
    weight = np.tile([0.4, 0.6, 0, 0], (24, 1))
    body = file.mesh(file.primitive(p, f, normals=n, joints=index, weights=weight), name="body")
    skin = file.skin([arm, hand], bind(file, [arm, hand]))
    file.node("body", hand, t=(5, 6, 7), r=about((1, 2, 3), 80), s=(4, 4, 4), mesh=body, skin=skin)
    file.animation(
        "swing",
        file.channel(arm, "rotation", np.linspace(0, 1, 5), quaternions(rng, 5)),
        file.channel(hand, "rotation", np.linspace(0, 1, 3), quaternions(rng, 3)),
    )
    return file


def negative_scale() -> Gltf:
    """A mirrored limb: negative scale at rest and through zero in the clip; normals keep pointing out."""
    file = Gltf()
    root = file.node("root")
    right = file.node("right", root, t=(1, 0, 0))
    left = file.node("left", root, t=(-1, 0, 0), s=(-1, 1, 1))
    p, n, f = box((0, 0, 0), (0.3, 0.2, 0.4))
    mesh = file.mesh(file.primitive(p, f, normals=n))
    file.node("right box", right, mesh=mesh)
    file.node("left box", left, mesh=mesh)
    index = np.tile([0, 1, 0, 0], (24, 1))
    weight = np.tile([0.25, 0.75, 0, 0], (24, 1))
    body = file.mesh(file.primitive(p * 2, f, normals=n, joints=index, weights=weight))
    file.node("skinned", mesh=body, skin=file.skin([right, left], bind(file, [right, left])))
    turns = [about((0, 1, 0), a) for a in (0, 120, 240, 350)]
    scales = [(-1, 1, 1), (-2, 0.5, 1), (-0.5, -1.5, -1), (-1, 1, 1)]
    file.animation(
        "mirror",
        file.channel(left, "rotation", np.linspace(0, 1, 4), turns),
        file.channel(left, "scale", np.linspace(0, 1, 4), scales),
    )
    return file


def shared_mesh() -> Gltf:
    """One mesh of two primitives under three nodes (a truck's wheels), one of them animated."""
    file = Gltf()
    root = file.node("truck", t=(0, 1, 0))
    p, n, f = box((0, 0, 0), (0.3, 0.3, 0.1))
    hub = file.primitive(p * 0.5, f, normals=n)
    wheel = file.mesh(file.primitive(p, f, normals=n), hub, name="wheel")
    nodes = [file.node("wheel", root, t=(x, 0, 0), mesh=wheel) for x in (-1.0, 0.0, 1.0)]
    file.animation(
        "roll", file.channel(nodes[1], "rotation", (0, 1, 2), [about((0, 0, 1), a) for a in (0, 120, 240)])
    )
    return file


def awkward_names() -> Gltf:
    """Duplicate, empty and missing names, a slash, and letters beyond ASCII; every node moves by itself."""
    file = Gltf()
    p, n, f = box((0, 0, 0), (0.1, 0.1, 0.1))
    root = file.node("joint")
    names = ["joint", "", None, "a/b|c:d", "\u00e9p\u00e9e \u624b", "joint", None, "", "nodes[2]", "joint1"]
    nodes: list[int] = []
    for j, name in enumerate(names):
        parent = root if j % 2 == 0 else nodes[-1]
        nodes.append(file.node(name, parent, t=(j, 0.5, 0)))
    for node in nodes:
        file.nodes[node]["mesh"] = file.mesh(file.primitive(p, f, normals=n))
    index = np.tile([0, 1, 2, 3], (24, 1))
    weight = np.tile([0.4, 0.3, 0.2, 0.1], (24, 1))
    body = file.mesh(file.primitive(p * 3, f, normals=n, joints=index, weights=weight))
    bones = [nodes[0], nodes[5], nodes[1], nodes[7]]
    file.node("joint", root, mesh=body, skin=file.skin(bones, bind(file, bones)))
    channels = []
    for j, node in enumerate([root, *nodes]):
        values = [(j, 0, 0), (j, 1 + j, 0), (j, 0, j)]
        channels.append(file.channel(node, "translation", (0, 0.5, 1), values))
    file.animation("shift", *channels)
    return file


def skin_without_ibm() -> Gltf:
    """`inverseBindMatrices` left out: the identity, as glTF's specification says."""
    file = Gltf()
    a = file.node("a", t=(0, 0.5, 0))
    b = file.node("b", a, t=(0, 1, 0))
    p, n, f = box()
    index = np.zeros((24, 4), int)
    index[:, 1] = 1
    weight = np.tile([0.5, 0.5, 0, 0], (24, 1))
    mesh = file.mesh(file.primitive(p, f, normals=n, joints=index, weights=weight))
    file.node("body", mesh=mesh, skin=file.skin([a, b]))
    file.animation("bend", file.channel(b, "rotation", (0, 1), [about((1, 0, 0), a) for a in (0, 90)]))
    return file


def sparse_accessors() -> Gltf:
    """Positions with a few rows replaced, key values that are zero but for one row."""
    file = Gltf()
    node = file.node("box")
    p, n, f = box()
    positions = file.sparse(p, 24, [3, 7, 20], [(2, 2, 2), (3, 3, 3), (-4, 0, 1)])
    primitive = file.primitive(p, f, normals=n)
    primitive["attributes"]["POSITION"] = positions
    file.nodes[node]["mesh"] = file.mesh(primitive)
    channel = file.channel(node, "translation", (0, 1, 2, 3), np.zeros((4, 3)))
    channel["sampler"]["output"] = file.sparse(None, 4, [1, 2], [(1, 2, 3), (4, 5, 6)])
    file.animation("hop", channel)
    return file


def make_sparse(file: Gltf, index: int, rng: Rng) -> None:
    """Replaces some rows of an accessor by noise, and puts them right by its sparse part."""
    entry = file.accessors[index]
    view = file.views[entry["bufferView"]]
    size = view["byteLength"] // entry["count"]
    at = view["byteOffset"]
    bytes_of = np.frombuffer(bytes(file.blob[at : at + view["byteLength"]]), "u1").reshape(-1, size)
    wrong = np.sort(rng.choice(entry["count"], (entry["count"] + 1) // 2, replace=False))
    entry["sparse"] = {
        "count": len(wrong),
        "indices": {"bufferView": file._view(wrong.astype("<u2")), "componentType": 5123},
        "values": {"bufferView": file._view(bytes_of[wrong].copy())},
    }
    noise = bytes_of.copy()
    noise[wrong] = 1
    file.blob[at : at + view["byteLength"]] = noise.tobytes()


def all_attributes() -> Gltf:
    """A skinned, morphed and animated box with all attributes."""
    rng = np.random.default_rng(3)
    file = Gltf()
    positions, normals, faces = box()
    count = len(positions)
    weights = rng.uniform(0.1, 1, (count, 4))
    primitive = file.primitive(
        positions,
        faces,
        normals=normals,
        uvs=rng.uniform(size=(count, 2)),
        joints=rng.integers(0, 2, (count, 4)),
        weights=weights / weights.sum(1)[:, None],
    )
    primitive["attributes"]["TANGENT"] = file.accessor(np.tile([1.0, 0, 0, -1], (count, 1)))
    primitive["attributes"]["COLOR_0"] = file.accessor(rng.uniform(size=(count, 4)))
    moved = {"POSITION": file.accessor(rng.normal(size=(count, 3)))}
    primitive["targets"] = [moved | {"NORMAL": file.accessor(rng.normal(size=(count, 3)))}]
    joints = [file.node("a"), file.node("b", t=(1, 0, 0))]
    binds = np.stack([matrix_of(rng.normal(size=3), (0, 0, 0, 1), (1, 1, 1)) for _ in joints])
    body = file.node("body", mesh=file.mesh(primitive), skin=file.skin(joints, binds))
    file.animation(
        "all",
        file.channel(0, "translation", [0, 0.5, 1], rng.normal(size=(3, 3))),
        file.channel(1, "scale", [0, 1], rng.uniform(1, 2, (2, 3)), "step"),
        file.channel(body, "weights", [0, 1, 2], [[0], [1], [0.5]]),
    )
    return file


def late_first_key() -> Gltf:
    """Keys from 1.25 s on: before it the first value holds, and clip time 0 is the file's 0."""
    steps = [(1, 0, 0), (2, 0, 0), (2, 5, 0)]
    return _one_box("late", ("translation", (1.25, 2.0, 2.5), steps), ("rotation", (1.5, 2.5), None))


def single_key() -> Gltf:
    """One key at 0: a clip of duration 0 that is one pose."""
    return _one_box("pose", ("translation", (0.0,), [(1, 2, 3)]), ("rotation", (0.0,), None))


def single_late_key() -> Gltf:
    """One key at 0.5 s: a duration of half a second and a value that never changes."""
    return _one_box("pose", ("translation", (0.5,), [(1, 2, 3)]))


def empty_clip() -> Gltf:
    """A clip whose channel names a node that no mesh hangs on, beside one with ordinary keys."""
    file = _one_box("move", ("translation", (0, 1), [(0, 0, 0), (1, 0, 0)]))
    spare = file.node("spare")
    file.animation(None, file.channel(spare, "translation", (0, 0.5), [(0, 0, 0), (0, 1, 0)]))
    file.animation("move", file.channel(spare, "scale", (0, 0.25), [(1, 1, 1), (2, 2, 2)]))
    return file


def _one_box(name: str, *channels: tuple[str, Any, Any]) -> Gltf:
    file = Gltf()
    node = file.node("box", t=(0, 0, 1))
    p, n, f = box()
    file.nodes[node]["mesh"] = file.mesh(file.primitive(p, f, normals=n))
    rng = np.random.default_rng(11)
    made = []
    for path, times, values in channels:
        values = quaternions(rng, len(times)) if values is None else values
        made.append(file.channel(node, path, times, values))
    file.animation(name, *made)
    return file


def far_away(distance: float = 1e5) -> Gltf:
    """A turning chain that stands far from the origin."""
    file = chain(12)
    file.nodes[0]["translation"] = [distance, 0.0, -distance / 2]
    file.skins[0].pop("inverseBindMatrices")
    file.skins[0]["inverseBindMatrices"] = file.accessor(
        bind(file, file.skins[0]["joints"]).swapaxes(-1, -2).reshape(-1, 16)
    )
    return file


def several_roots() -> Gltf:
    """Four roots, one of them a bare node, each with its own transform; a skin over two of the trees."""
    rng = np.random.default_rng(12)
    file = Gltf()
    file.node("bare", t=(9, 9, 9))
    a = file.node("a", t=(1, 0, 0), r=about((1, 0, 0), 45))
    b = file.node("b", t=(-1, 0, 0), s=(2, 2, 2))
    c = file.node("c", b, t=(0, 0.5, 0))
    p, n, f = box()
    index, weight = skin_weights(rng, 24, 3)
    mesh = file.mesh(file.primitive(p, f, normals=n, joints=index, weights=weight))
    file.node("body", t=(3, 3, 3), mesh=mesh, skin=file.skin([a, b, c], bind(file, [a, b, c])))
    times = file.accessor(np.linspace(0, 1, 4))
    file.animation("spin", *(file.channel(x, "rotation", times, quaternions(rng, 4)) for x in (a, b, c)))
    return file


def matrix_nodes() -> Gltf:
    """Nodes given as matrices: a mirror, and a shear that no T*R*S can hold, above a joint that moves."""
    file = Gltf()
    sheared = np.eye(4)
    sheared[:3, :3] = [[1.0, 0.6, 0.2], [0.0, 1.2, 0.0], [0.0, 0.3, 0.7]]
    sheared[:3, 3] = (0.5, 1.0, -0.25)
    root = file.node("root", matrix=matrix_of((1, 2, 3), about((0, 1, 0), 30), (1.5, 1.5, 1.5)))
    a = file.node("sheared", root, matrix=sheared)
    b = file.node("moving", a, t=(0, 1, 0))
    mirror = file.node("mirror", root, matrix=np.diag([-1.0, 1.0, 1.0, 1.0]))
    p, n, f = box((0, 0, 0), (0.2, 0.4, 0.3))
    for node in (a, b, mirror):
        file.nodes[node]["mesh"] = file.mesh(file.primitive(p, f, normals=n))
    turns = [about((1, 0, 1), x) for x in (0, 100, 170)]
    file.animation("wave", file.channel(b, "rotation", (0, 1, 2), turns))
    return file


def uneven_weights() -> Gltf:
    """Weights that sum to less and to more than 1, vertices without any, and the same joint named twice."""
    file = chain(6)
    rng = np.random.default_rng(13)
    p, n, f = tube(rng, 8, 6, 0.3, 0.1)
    index, weight = skin_weights(rng, len(p), 6)
    weight[:10] *= 0.2
    weight[10:20] *= 1.7
    weight[20:24] = 0.0
    index[24:28, 1] = index[24:28, 0]
    mesh = file.mesh(file.primitive(p, f, normals=n, joints=index, weights=weight))
    file.nodes[6]["mesh"], file.nodes[6]["translation"] = mesh, [0.5, 0.25, 0.125]
    return file


def packed_weights() -> Gltf:
    """Weights stored as normalized bytes and as normalized shorts."""
    file = chain(6)
    rng = np.random.default_rng(14)
    for dtype in ("u1", "u2"):
        p, n, f = tube(rng, 8, 6, 0.3, 0.1)
        index, weight = skin_weights(rng, len(p), 6)
        mesh = file.mesh(file.primitive(p, f, normals=n, joints=index, weights=weight, weight_dtype=dtype))
        file.node(dtype, 0, mesh=mesh, skin=0)
    return file


def loose_vertices() -> Gltf:
    """Vertices that no face uses, indices that run backward, and a primitive without indices."""
    file = Gltf()
    p, n, f = box()
    root = file.node("root")
    file.node("holes", root, mesh=file.mesh(file.primitive(p, f[::-2], normals=n)))
    file.node("soup", root, mesh=file.mesh(file.primitive(p[f.ravel()], None, normals=n[f.ravel()])))
    file.animation("turn", file.channel(root, "rotation", (0, 1), [about((0, 1, 0), a) for a in (0, 90)]))
    return file


AWKWARD: dict[str, Callable[[], Gltf]] = {
    "many_joints": many_joints,
    "shear": shear,
    "two_offsets": two_offsets,
    "eight_influences": eight_influences,
    "mixed_channels": mixed_channels,
    "mesh_nodes": mesh_nodes,
    "negative_scale": negative_scale,
    "shared_mesh": shared_mesh,
    "awkward_names": awkward_names,
    "skin_without_ibm": skin_without_ibm,
    "sparse_accessors": sparse_accessors,
    "late_first_key": late_first_key,
    "single_key": single_key,
    "single_late_key": single_late_key,
    "empty_clip": empty_clip,
    "far_away": far_away,
    "several_roots": several_roots,
    "matrix_nodes": matrix_nodes,
    "uneven_weights": uneven_weights,
    "packed_weights": packed_weights,
    "loose_vertices": loose_vertices,
    "chain_64": lambda: chain(64),
}


def triangle(**more: Any) -> skinpy.Model:
    """One face that follows one joint, "a", at the origin; `more` goes to Model.from_arrays."""
    return skinpy.Model.from_arrays(
        ["a"],
        [-1],
        np.eye(4)[None],
        positions=np.eye(3),
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1]] * 3,
        **more,
    )
