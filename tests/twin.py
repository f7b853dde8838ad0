"""The slow float64 twin: what skinpy has to compute, written from the formulas and from nothing else.

Two things live here. `Rig` evaluates raw arrays (channels, parents, rest, slots, vertices) whichever way
they were obtained; `Rig.of(model)` takes them from a loaded model, so that a comparison judges sampling,
hierarchy, palette and skin. `GltfFile` reads a glTF file with json and NumPy alone and evaluates it directly,
so that a comparison judges the importer too. Matrices are for column vectors, quaternions are x, y, z, w.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

KEY_TOLERANCE_TICKS = 1e-4  # key times pass through float32 milliseconds: on a key means this close to it


# ---------------------------------------------------------------------------------------------- time


def clip_time(time: float, duration: float, loop: str = "wrap", ticks_per_second: float = 1000.0) -> float:
    """The time inside the clip. t = d is the end pose, 2d, 3d, ... are the start."""
    if not np.isfinite(time):
        raise ValueError("time is not finite")
    if duration <= 0.0:
        return 0.0
    if loop in ("clamp", "once"):
        return min(max(time, 0.0), duration)
    if loop == "pingpong":
        u = time - np.floor(time / (2.0 * duration)) * 2.0 * duration
        return float(u if u <= duration else 2.0 * duration - u)
    if loop != "wrap":
        raise ValueError(loop)
    if abs(time - duration) <= KEY_TOLERANCE_TICKS / ticks_per_second:
        return duration
    return float(time - np.floor(time / duration) * duration)


# ---------------------------------------------------------------------------------------------- quaternions


def unit(v: Array) -> Array:
    """v / |v|; zero stays zero."""
    v = np.asarray(v, np.float64)
    n = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.divide(v, n, out=np.zeros_like(v), where=n > 0)


def slerp(a: Array, b: Array, u: float) -> Array:
    """The point at u on the shorter great arc from a to b."""
    a, b = unit(a), unit(b)
    if np.dot(a, b) < 0:
        b = -b
    # 2*atan2 of the chord and the sum keeps its digits for both tiny and nearly opposite arcs.
    angle = 2.0 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b))
    if angle < 1e-9:
        return unit((1 - u) * a + u * b)
    return unit((np.sin((1 - u) * angle) * a + np.sin(u * angle) * b) / np.sin(angle))


def nlerp(a: Array, b: Array, u: float) -> Array:
    """The chord from a to b, normalized."""
    a, b = unit(a), unit(b)
    return unit((1 - u) * a + u * (-b if np.dot(a, b) < 0 else b))


def rotation_matrix(q: Array) -> Array:
    """(..., 4) unit x, y, z, w -> (..., 3, 3)."""
    x, y, z, w = np.moveaxis(np.asarray(q, np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(r, -1) for r in rows], -2)


def trs_matrix(t: Array, q: Array, s: Array) -> Array:
    """T * R * S as (..., 4, 4)."""
    t, q, s = (np.asarray(a, np.float64) for a in (t, q, s))
    m = np.zeros((*t.shape[:-1], 4, 4))
    m[..., :3, :3] = rotation_matrix(unit(q)) * s[..., None, :]
    m[..., :3, 3] = t
    m[..., 3, 3] = 1
    return m


# ---------------------------------------------------------------------------------------------- channels


@dataclass
class Track:
    """One channel: what moves, and its keys (times in seconds, tangents per second)."""

    joint: int
    path: str
    interpolation: str
    times: Array
    values: Array
    in_tangents: Array | None = None
    out_tangents: Array | None = None

    def sample(self, tau: float, rotation: str = "slerp", tolerance: float = 1e-7) -> Array:
        """The value at tau; outside the keys the first or last value, whatever the tangents say."""
        times, values = self.times, self.values
        near = tau + tolerance if self.interpolation == "step" else tau
        k = int(np.searchsorted(times, near, side="right")) - 1
        turning = self.path == "rotation"
        if k < 0 or k >= len(times) - 1 or self.interpolation == "step":
            v = values[min(max(k, 0), len(times) - 1)]
            return unit(v) if turning else v
        span = times[k + 1] - times[k]
        u = (tau - times[k]) / span
        if self.interpolation == "cubic":
            v = self._hermite(k, u, span)
            return unit(v) if turning else v
        if turning:
            return (slerp if rotation == "slerp" else nlerp)(values[k], values[k + 1], u)
        return (1 - u) * values[k] + u * values[k + 1]

    def _hermite(self, k: int, u: float, span: float) -> Array:
        assert self.in_tangents is not None and self.out_tangents is not None
        return (
            (2 * u**3 - 3 * u**2 + 1) * self.values[k]
            + (u**3 - 2 * u**2 + u) * span * self.out_tangents[k]
            + (-2 * u**3 + 3 * u**2) * self.values[k + 1]
            + (u**3 - u**2) * span * self.in_tangents[k + 1]
        )


@dataclass
class Motion:
    """A clip: duration in seconds and its channels."""

    name: str
    duration: float
    ticks_per_second: float
    tracks: list[Track]

    def tau(self, time: float, loop: str) -> float:
        return clip_time(time, self.duration, loop, self.ticks_per_second)


# ---------------------------------------------------------------------------------------------- the rig


def mean_rotation(rotations: Any, weights: Any, plane: bool = False) -> Array:
    """The mean (4,) of K unit quaternions that weigh.

    Of two it is the nlerp along the shorter arc; of more, and of two with `plane`, the eigenvector of
    sum(w q qT) with the largest eigenvalue, by LAPACK.
    """
    q, w = np.asarray(rotations, np.float64), np.asarray(weights, np.float64)
    if len(q) == 1:
        return np.array(q[0])
    if len(q) == 2 and not plane:
        return unit(w[0] * q[0] + w[1] * (-q[1] if q[0] @ q[1] < 0 else q[1]))
    found: Array = np.linalg.eigh(np.einsum("k,ki,kj->ij", w, q, q))[1][:, -1]
    return found


def blended_normals(blended: Array, normals: Array) -> Array:
    """normalize(inverse transpose * n) by cofactors times the determinant's sign: right for mirrors too."""
    m = blended[..., :3, :3]
    a, b, c = m[..., 0, :], m[..., 1, :], m[..., 2, :]
    cofactor = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=-2)
    sign = np.where(np.linalg.det(m) < 0, -1.0, 1.0)
    return unit(sign[..., None] * np.einsum("...ij,...j->...i", cofactor, normals))


def skin(palette: Array, slots: Any, weights: Array, positions: Array, normals: Array | None = None) -> Any:
    """Linear blend skinning: the weighted sum of matrices, then the vertex."""
    blended = np.einsum("vk,vkij->vij", np.asarray(weights, np.float64), palette[np.asarray(slots, np.int64)])
    moved = np.einsum("vij,vj->vi", blended[:, :3, :3], positions) + blended[:, :3, 3]
    return moved, None if normals is None else blended_normals(blended, normals)


@dataclass
class Rig:
    """Raw arrays of a model in float64 and everything that can be computed from them."""

    names: Sequence[str]
    parents: Any
    translation: Array
    rotation: Array
    scale: Array
    rest_local: Array
    motions: list[Motion]
    slot_joints: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    inverse_bind: Array = field(default_factory=lambda: np.zeros((0, 4, 4)))
    positions: Array = field(default_factory=lambda: np.zeros((0, 3)))
    normals: Array | None = None
    slots: Any = None
    weights: Any = None

    @classmethod
    def of(cls, model: Any) -> Rig:
        """The arrays that a loaded model shows, and nothing that it computed."""
        s, mesh = model.skeleton, model.mesh
        return cls(
            names=list(s.names),
            parents=np.array(s.parents, np.int64),
            translation=np.array(s.translation, np.float64),
            rotation=np.array(s.rotation, np.float64),
            scale=np.array(s.scale, np.float64),
            rest_local=np.array(s.rest_local, np.float64),
            motions=[motion_of(clip) for clip in model.clips],
            slot_joints=np.array(model.skin.joints, np.int64),
            inverse_bind=np.array(model.skin.inverse_bind, np.float64),
            positions=np.array(mesh.positions, np.float64),
            normals=None if mesh.normals is None else np.array(mesh.normals, np.float64),
            slots=np.array(mesh.slots, np.int64),
            weights=np.array(mesh.weights, np.float64),
        )

    def motion(self, clip: int | str) -> Motion:
        if isinstance(clip, str):
            return next(m for m in self.motions if m.name == clip)
        return self.motions[clip]

    def pose(
        self, clip: int | str | None, time: float, loop: str = "wrap", rotation: str = "slerp"
    ) -> tuple[Array, Array, Array]:
        """T, R and S of every joint."""
        t, q, s = self.translation.copy(), self.rotation.copy(), self.scale.copy()
        if clip is not None:
            motion = self.motion(clip)
            tau = motion.tau(time, loop)
            for track in motion.tracks:
                target = {"translation": t, "rotation": q, "scale": s}.get(track.path)
                if target is not None:
                    tolerance = KEY_TOLERANCE_TICKS / motion.ticks_per_second
                    target[track.joint] = track.sample(tau, rotation, tolerance)
        return t, q, s

    def locals(self, t: Array, q: Array, s: Array) -> Array:
        """T*R*S, but the rest matrix itself (it may hold shear) where T, R and S are the rest's bits."""
        local = trs_matrix(t, q, s)
        same = np.ones(len(self.names), bool)
        for value, rest in ((t, self.translation), (q, self.rotation), (s, self.scale)):
            same &= (value.astype(np.float32) == rest.astype(np.float32)).all(-1)
        local[same] = self.rest_local[same]
        return local

    def chain(self, local: Array, root: Array | None = None) -> Array:
        """global(j) = global(parent) * local(j); `root` stands in front of every tree."""
        out = np.empty_like(local)
        top = np.eye(4) if root is None else np.asarray(root, np.float64)
        for j, parent in enumerate(self.parents):
            out[j] = (top if parent < 0 else out[parent]) @ local[j]
        return out

    def globals(
        self,
        clip: int | str | None,
        time: float = 0.0,
        *,
        loop: str = "wrap",
        rotation: str = "slerp",
        root: Array | None = None,
    ) -> Array:
        """(J, 4, 4): joint to scene."""
        return self.chain(self.locals(*self.pose(clip, time, loop, rotation)), root)

    def palette(
        self, clip: int | str | None, time: float = 0.0, *, inverse_root: bool = False, **options: Any
    ) -> Array:
        """(S, 4, 4): global(joint of the slot) * inverse bind matrix of the slot."""
        out = self.globals(clip, time, **options)[self.slot_joints] @ self.inverse_bind
        return np.linalg.inv(self.rest_local[0]) @ out if inverse_root else out

    def deform(self, clip: int | str | None, time: float = 0.0, **options: Any) -> Any:
        """(V, 3) positions and normals in scene space."""
        palette = self.palette(clip, time, **options)
        return skin(palette, self.slots, self.weights, self.positions, self.normals)

    def depth(self) -> int:
        """Joints on the longest way from a root to a leaf."""
        depth = np.ones(len(self.names), np.int64)
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                depth[j] = depth[parent] + 1
        return int(depth.max(initial=0))

    def reach(self, globals_: Array, positions: Array) -> float:
        """max(size, largest distance of a joint or vertex from the origin): what 1e-6 is meant of."""
        points = np.concatenate([globals_[:, :3, 3], positions.reshape(-1, 3)])
        size = float(np.ptp(points, axis=0).max())
        return max(size, float(np.linalg.norm(points, axis=-1).max()))


def motion_of(clip: Any) -> Motion:
    """The raw channels of a clip."""

    def wide(a: Any) -> Any:
        return None if a is None else np.array(a, np.float64)

    tracks = []
    for c in clip.channels:
        if c.path != "weights":
            keys = (c.times, c.values, c.in_tangents, c.out_tangents)
            tracks.append(Track(c.joint, c.path, c.interpolation, *map(wide, keys)))
    return Motion(clip.name, clip.duration, clip.ticks_per_second, tracks)


# ---------------------------------------------------------------------------------------------- glTF


_COMPONENT = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_INTERPOLATION = {"STEP": "step", "LINEAR": "linear", "CUBICSPLINE": "cubic"}
_WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


@dataclass
class Part:
    """One primitive under one node, as the file stores it."""

    node: int
    positions: Array
    normals: Array | None
    faces: Any
    joints: Any  # (V, K) indices into the skin's joints, or None for a rigid part
    weights: Any
    skin: int | None


class GltfFile:
    """A glTF 2.0 file read with json and NumPy and evaluated straight from what stands in it."""

    def __init__(self, source: str | Path | bytes) -> None:
        self.folder = Path(source).parent if not isinstance(source, bytes) else Path()
        data = source if isinstance(source, bytes) else Path(source).read_bytes()
        self.chunk = b""
        self.buffers: dict[int, bytes] = {}
        if data[:4] == b"glTF":
            (length,) = struct.unpack_from("<I", data, 12)
            text = data[20 : 20 + length]
            if len(data) > 20 + length:
                (size,) = struct.unpack_from("<I", data, 20 + length)
                self.chunk = data[28 + length : 28 + length + size]
        else:
            text = data
        self.json: dict[str, Any] = json.loads(text)
        self.nodes: list[dict[str, Any]] = self.json.get("nodes", [])
        self.children = [n.get("children", []) for n in self.nodes]
        self.parents = np.full(len(self.nodes), -1)
        for i, kids in enumerate(self.children):
            self.parents[kids] = i
        self.roots = self.json["scenes"][self.json.get("scene", 0)]["nodes"]
        self.motions = [self._motion(i, a) for i, a in enumerate(self.json.get("animations", []))]

    # -- reading

    def _buffer(self, index: int) -> bytes:
        if index not in self.buffers:
            uri = self.json["buffers"][index].get("uri")
            if uri is None:
                self.buffers[index] = self.chunk
            elif uri.startswith("data:"):
                self.buffers[index] = base64.b64decode(uri.split(",", 1)[1])
            else:
                self.buffers[index] = (self.folder / uri).read_bytes()
        return self.buffers[index]

    def _view(self, index: int) -> bytes:
        view = self.json["bufferViews"][index]
        start = view.get("byteOffset", 0)
        return self._buffer(view["buffer"])[start : start + view["byteLength"]]

    def _strided(self, view: int, offset: int, dtype: str, count: int, width: int) -> Any:
        item = np.dtype(dtype).itemsize * width
        stride = self.json["bufferViews"][view].get("byteStride", item)
        raw = np.frombuffer(self._view(view), np.uint8)
        rows = offset + np.arange(count)[:, None] * stride + np.arange(item)
        return np.frombuffer(raw[rows].tobytes(), dtype).reshape(count, width).copy()

    def array(self, index: int) -> Any:
        """(count, components) of an accessor: float64 for floats and normalized integers."""
        acc = self.json["accessors"][index]
        dtype, width, count = _COMPONENT[acc["componentType"]], _WIDTH[acc["type"]], acc["count"]
        if "bufferView" in acc:
            out = self._strided(acc["bufferView"], acc.get("byteOffset", 0), dtype, count, width)
        else:
            out = np.zeros((count, width), dtype)
        if "sparse" in acc:
            sparse, n = acc["sparse"], acc["sparse"]["count"]
            where, what = sparse["indices"], sparse["values"]
            at = self._strided(
                where["bufferView"], where.get("byteOffset", 0), _COMPONENT[where["componentType"]], n, 1
            )
            out[at[:, 0]] = self._strided(what["bufferView"], what.get("byteOffset", 0), dtype, n, width)
        if acc.get("normalized"):
            return np.maximum(out / float(np.iinfo(dtype).max), -1.0)
        return out.astype(np.float64) if dtype == "<f4" else out.astype(np.int64)

    def _motion(self, index: int, animation: dict[str, Any]) -> Motion:
        tracks = []
        for channel in animation["channels"]:
            target, sampler = channel["target"], animation["samplers"][channel["sampler"]]
            if "node" not in target or target["path"] == "weights":
                continue
            times = self.array(sampler["input"])[:, 0]
            values = self.array(sampler["output"])
            kind = _INTERPOLATION[sampler.get("interpolation", "LINEAR")]
            tangents: tuple[Any, Any] = (None, None)
            if kind == "cubic":
                triple = values.reshape(len(times), 3, -1)
                values, tangents = triple[:, 1], (triple[:, 0], triple[:, 2])
            tracks.append(Track(target["node"], target["path"], kind, times, values, *tangents))
        inputs = [self.array(s["input"])[:, 0] for s in animation["samplers"]]
        duration = max((float(t[-1]) for t in inputs), default=0.0)
        return Motion(animation.get("name", f"clip{index}"), duration, 1000.0, tracks)

    # -- structure

    def order(self) -> list[int]:
        """Nodes depth first, children in file order; -1 in front stands for the joint above several roots."""
        out: list[int] = []
        stack = list(reversed(self.roots))
        while stack:
            node = stack.pop()
            out.append(node)
            stack.extend(reversed(self.children[node]))
        return out if len(self.roots) == 1 else [-1, *out]

    def name(self, node: int) -> str:
        return self.nodes[node].get("name") or f"nodes[{node}]"

    def parts(self) -> list[Part]:
        """Every primitive under every node, in node order, then in the mesh's order."""
        out = []
        for i in self.order():
            node = self.nodes[i] if i >= 0 else {}
            if "mesh" in node:
                for primitive in self.json["meshes"][node["mesh"]]["primitives"]:
                    out.append(self._part(i, primitive, node.get("skin")))
        return out

    def _part(self, node: int, primitive: dict[str, Any], skin_index: int | None) -> Part:
        attributes = primitive["attributes"]
        positions = self.array(attributes["POSITION"])
        normals = self.array(attributes["NORMAL"]) if "NORMAL" in attributes else None
        if "indices" in primitive:
            faces = self.array(primitive["indices"])[:, 0].reshape(-1, 3)
        else:
            faces = np.arange(len(positions)).reshape(-1, 3)
        joints = weights = None
        if skin_index is not None:
            sets = [i for i in range(8) if f"JOINTS_{i}" in attributes]
            joints = np.concatenate([self.array(attributes[f"JOINTS_{i}"]) for i in sets], 1)
            weights = np.concatenate([self.array(attributes[f"WEIGHTS_{i}"]) for i in sets], 1)
        return Part(node, positions, normals, faces, joints, weights, skin_index)

    # -- evaluation

    def local(self, node: int, clip: int | None, tau: float, rotation: str = "slerp") -> Array:
        json_node = self.nodes[node]
        tracks = [] if clip is None else [t for t in self.motions[clip].tracks if t.joint == node]
        if "matrix" in json_node and not tracks:
            return np.array(json_node["matrix"], np.float64).reshape(4, 4).T
        trs = {
            "translation": np.array(json_node.get("translation", (0, 0, 0)), np.float64),
            "rotation": np.array(json_node.get("rotation", (0, 0, 0, 1)), np.float64),
            "scale": np.array(json_node.get("scale", (1, 1, 1)), np.float64),
        }
        for track in tracks:
            trs[track.path] = track.sample(tau, rotation)
        return trs_matrix(trs["translation"], trs["rotation"], trs["scale"])

    def globals(
        self, clip: int | None, time: float = 0.0, loop: str = "wrap", rotation: str = "slerp"
    ) -> Array:
        """(N, 4, 4) by the file's node index: node to scene."""
        tau = 0.0 if clip is None else self.motions[clip].tau(time, loop)
        out = np.tile(np.eye(4), (len(self.nodes), 1, 1))
        for node in self.order():
            if node >= 0:
                local = self.local(node, clip, tau, rotation)
                out[node] = local if self.parents[node] < 0 else out[self.parents[node]] @ local
        return out

    def inverse_binds(self, skin_index: int) -> Array:
        skin_json = self.json["skins"][skin_index]
        if "inverseBindMatrices" not in skin_json:
            return np.tile(np.eye(4), (len(skin_json["joints"]), 1, 1))
        return self.array(skin_json["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(-1, -2)

    def palette(self, skin_index: int, globals_: Array) -> Array:
        return globals_[self.json["skins"][skin_index]["joints"]] @ self.inverse_binds(skin_index)

    def vertices(self, part: Part, globals_: Array, influences: int = 8) -> Any:
        """Scene-space positions and normals of one part: rigid, or by its `influences` largest weights."""
        if part.skin is None:
            rigid = np.zeros((len(part.positions), 1), np.int64)
            return skin(globals_[part.node][None], rigid, np.ones(rigid.shape), part.positions, part.normals)
        # one more matrix for vertices that no joint holds: they follow their own node
        palette = np.concatenate([self.palette(part.skin, globals_), globals_[part.node][None]])
        pick = np.argsort(-part.weights, axis=1, kind="stable")[:, :influences]
        joints = np.take_along_axis(part.joints, pick, 1)
        weights = np.take_along_axis(part.weights, pick, 1)
        total = weights.sum(1)
        loose = total <= 0
        joints[loose, 0], weights[loose, 0], total[loose] = len(palette) - 1, 1.0, 1.0
        return skin(palette, joints, weights / total[:, None], part.positions, part.normals)
