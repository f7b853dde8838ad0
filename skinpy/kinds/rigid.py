"""Model.as_rigid: the mesh cut into parts, each of which follows one joint alone."""

from typing import TYPE_CHECKING

import numpy as np

from .. import _block, _core
from .._types import Array

if TYPE_CHECKING:
    from ..model import Model


def rigid_block(model: "Model") -> _core.Block:
    """The block of model.as_rigid(): as the model's own, but for the mesh, its parts and the slots."""
    old = model._joined()
    sections = {name: _block.section(old, name) for name in old.sections}
    pool = _block.TextPool(sections["TEXT"].tobytes() if "TEXT" in sections else b"")
    cut = _Cut(model)
    sections |= cut.vertices()
    sections |= {"SUBMESHES": cut.submeshes(pool), "FACES": cut.faces}
    if "TARGETS" in sections:
        sections |= cut.targets(sections)
    joints, slots = np.unique(cut.joints, return_inverse=True)
    sections["SLOT_JOINTS"] = joints.astype(np.int32)
    sections["SLOT_INVERSE_BIND"] = np.tile(np.eye(4, dtype=np.float32), (len(joints), 1, 1))
    sections["VERTEX_SLOTS"] = slots.reshape(-1, 1).astype(np.uint16)
    sections["VERTEX_WEIGHTS"] = np.ones((len(slots), 1), np.float32)
    info = sections["INFO"].copy()
    info["influences"], info["slots"] = 1, len(joints)
    info["vertices"], info["faces"] = len(slots), len(cut.faces)
    sections |= {"INFO": info, "TEXT": pool.section()}
    return _block.pack(sections, 1)


class _Cut:
    """Which part every face belongs to, and the vertices that the parts need."""

    def __init__(self, model: "Model") -> None:
        self.model = model
        mesh, skin = model.mesh, model.skin
        slot = face_slots(mesh.faces, mesh.slots, mesh.weights)
        submesh = np.zeros(len(mesh.faces), np.int64)
        for number, one in enumerate(mesh.submeshes):
            submesh[one.face_range.start : one.face_range.stop] = number
        # Parts in the order of their joints, then of the submeshes that they are cut from.
        sources = max(len(mesh.submeshes), 1)
        parts, part = np.unique(skin.joints[slot] * np.int64(sources) + submesh, return_inverse=True)
        self.part_joints, self.part_sources = parts // sources, parts % sources
        order = np.argsort(part, kind="stable")
        self.face_parts = part[order]
        # A vertex is there once for each part and slot that needs it.
        count = np.int64(max(len(mesh.positions), 1))
        keys = (part * np.int64(max(len(skin), 1)) + slot)[:, None] * count + mesh.faces
        kept, place = np.unique(keys[order], return_inverse=True)
        self.source = kept % count  #: the vertex of the model that each new one is
        self.slot = kept // count % max(len(skin), 1)
        self.vertex_parts = kept // count // max(len(skin), 1)
        self.joints = skin.joints[self.slot]
        self.binds = skin.inverse_bind[self.slot].astype(np.float64)
        faces = place.reshape(-1, 3)
        mirrored = np.linalg.det(skin.inverse_bind[slot[order], :3, :3].astype(np.float64)) < 0
        faces[mirrored] = faces[mirrored][:, ::-1]  # the front stays the front in the joint's space
        self.faces = faces.astype(np.uint32)

    def vertices(self) -> dict[str, Array]:
        """The vertex streams, in the spaces of the joints."""
        mesh = self.model.mesh
        turned = self.binds[:, :3, :3]
        positions = _apply(turned, mesh.positions[self.source]) + self.binds[:, :3, 3]
        normals, _ = self._normals()
        found = {"POSITIONS": positions.astype(np.float32), "NORMALS": normals.astype(np.float32)}
        if mesh.uvs is not None:
            found["UVS"] = mesh.uvs[self.source]
        if mesh.colors is not None:
            found["COLORS"] = mesh.colors[self.source]
        if mesh.tangents is not None:
            tangents = mesh.tangents[self.source].astype(np.float64)
            tangents[:, :3] = _unit(_apply(turned, tangents[:, :3]))[0]
            tangents[:, 3] *= np.where(np.linalg.det(turned) < 0, -1.0, 1.0)
            found["TANGENTS"] = tangents.astype(np.float32)
        return found

    def _normals(self) -> tuple[Array, Array]:
        """Unit normals, and what their lengths were divided by."""
        return _unit(_apply(_cofactors(self.binds[:, :3, :3]), self.model.mesh.normals[self.source]))

    def submeshes(self, pool: _block.TextPool) -> Array:
        """One for each part, on its joint; named after the submesh and, where that is cut, the joint."""
        rows = []
        sources, names = self.model.mesh.submeshes, self.model.skeleton.names
        for part, (joint, source) in enumerate(zip(self.part_joints, self.part_sources, strict=True)):
            whole = np.count_nonzero(self.part_sources == source) == 1
            name = sources[source].name if whole else f"{sources[source].name}/{names[joint]}"
            vertices = np.searchsorted(self.vertex_parts, (part, part + 1))
            faces = np.searchsorted(self.face_parts, (part, part + 1))
            material = sources[source].material
            spans = (vertices[0], vertices[1] - vertices[0], faces[0], faces[1] - faces[0])
            rows.append((pool.add(name), joint, -1 if material is None else material, *spans))
        return np.array(rows, _block.RECORDS["SUBMESHES"])

    def targets(self, sections: dict[str, Array]) -> dict[str, Array]:
        """The morph targets, for the vertices as they are now."""
        records = sections["TARGETS"].copy()
        lines: dict[str, list[Array]] = {"TARGET_VERTICES": [], "TARGET_POSITIONS": [], "TARGET_NORMALS": []}
        _, lengths = self._normals()
        for number, target in enumerate(self.model.targets):
            place = np.full(len(self.model.mesh.positions), -1, np.int64)
            place[target.vertices] = np.arange(len(target.vertices))
            moved = np.flatnonzero(place[self.source] >= 0)
            rows = place[self.source[moved]]
            turned = self.binds[moved, :3, :3]
            records["first"][number] = sum(map(len, lines["TARGET_VERTICES"]))
            records["count"][number] = len(moved)
            lines["TARGET_VERTICES"].append(moved.astype(np.uint32))
            lines["TARGET_POSITIONS"].append(_apply(turned, target.positions[rows]))
            if target.normals is not None:
                normals = _apply(_cofactors(turned), target.normals[rows])
                lines["TARGET_NORMALS"].append(normals / lengths[moved])
        found = {"TARGETS": records}
        for name, (row, kind) in {
            "TARGET_VERTICES": ((), np.uint32),
            "TARGET_POSITIONS": ((3,), np.float32),
            "TARGET_NORMALS": ((3,), np.float32),
        }.items():
            if name in sections:
                found[name] = np.concatenate([np.zeros((0, *row)), *lines[name]]).astype(kind)
        return found


def face_slots(faces: Array, slots: Array, weights: Array) -> Array:
    """(F,) the slot that each face follows: that of most of its corners, by their largest weights.

    Where all three differ it is the one whose vertex follows it most; of equal ones the first.
    """
    a, b, c = (slots[faces[:, corner], 0].astype(np.int64) for corner in range(3))
    strongest = np.argmax(weights[faces, 0], axis=1) if len(faces) else np.zeros(0, np.int64)
    lonely = np.stack([a, b, c], axis=1)[np.arange(len(faces)), strongest]
    return np.asarray(np.where(b == c, b, np.where((a == b) | (a == c), a, lonely)))


def _apply(matrices: Array, vectors: Array) -> Array:
    """(N,3,3) times (N,3), in float64."""
    return np.asarray(np.einsum("nij,nj->ni", matrices, vectors.astype(np.float64)))


def _cofactors(matrices: Array) -> Array:
    """(N,3,3) inverse transposes times the determinants, with the determinants' signs: for normals."""
    a, b, c = (matrices[:, row] for row in range(3))
    rows = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    return np.asarray(rows * np.where(np.linalg.det(matrices) < 0, -1.0, 1.0)[:, None, None])


def _unit(rows: Array) -> tuple[Array, Array]:
    """Rows of length 1, those of length 0 as they are; and the lengths (N,1), 1 in place of 0."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    length = np.where(length > 0, length, 1.0)
    return rows / length, length
