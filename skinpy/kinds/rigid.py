"""Model.as_rigid: the mesh cut into submeshes, each of which follows one joint alone."""

from typing import TYPE_CHECKING

import numpy as np

from .. import _block, _core
from .._text import quoted
from .._types import Array
from ..models.extras import cut_extras, read_extras, write_extras
from ..models.pickling import need_vertices

if TYPE_CHECKING:
    from ..model import Model


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def rigid_block(model: "Model") -> _core.Block:
    """Return the block of ``model.as_rigid()``: all but the mesh, its submeshes and the slots is kept."""
    need_vertices(model, "as_rigid")
    old = model._joined()
    sections = {name: _block.section(old, name) for name in old.sections}
    pool = _block.TextPool(sections["TEXT"].tobytes() if "TEXT" in sections else b"")
    cut = RigidCut(model)
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
    if "EXTRAS" in sections:
        extras = cut_extras(read_extras(old), cut.piece_sources.tolist())
        sections["EXTRAS"] = write_extras(extras)
    return _block.pack(sections, 1)


class RigidCut:
    """The piece that every face belongs to, and the vertices that the pieces need.

    A piece is what one joint carries of one submesh of the model.
    """

    def __init__(self, model: "Model") -> None:
        self.model = model
        mesh, skin = model.mesh, model.skin
        slot = face_slots(mesh.faces, mesh.slots, mesh.weights)
        submesh = np.zeros(len(mesh.faces), np.int64)
        for number, one in enumerate(mesh.submeshes):
            submesh[one.face_range.start : one.face_range.stop] = number
        # Pieces in the order of their joints, then of the submeshes that they are cut from.
        sources = max(len(mesh.submeshes), 1)
        pieces, piece = np.unique(skin.joints[slot] * np.int64(sources) + submesh, return_inverse=True)
        self.piece_joints, self.piece_sources = pieces // sources, pieces % sources
        order = np.argsort(piece, kind="stable")
        self.face_pieces = piece[order]
        # A vertex is stored once for each pair of a piece and a slot that needs it.
        count = np.int64(max(len(mesh.positions), 1))
        keys = (piece * np.int64(max(len(skin), 1)) + slot)[:, None] * count + mesh.faces
        kept, corner = np.unique(keys[order], return_inverse=True)
        self.source = kept % count  #: the vertex of the model that each new one is
        self.slot = kept // count % max(len(skin), 1)
        self.vertex_pieces = kept // count // max(len(skin), 1)
        self.joints = skin.joints[self.slot]
        self.binds = skin.inverse_bind[self.slot].astype(np.float64)
        faces = corner.reshape(-1, 3)
        mirrored = np.linalg.det(skin.inverse_bind[slot[order], :3, :3].astype(np.float64)) < 0
        faces[mirrored] = faces[mirrored][:, ::-1]  # the front stays the front in the space of the joint
        self.faces = faces.astype(np.uint32)

    def vertices(self) -> dict[str, Array]:
        """Return the vertex streams, in the spaces of the joints."""
        mesh = self.model.mesh
        linear = self.binds[:, :3, :3]
        positions = _apply(linear, mesh.positions[self.source]) + self.binds[:, :3, 3]
        normals, _ = self._normals()
        for what, rows in (("vertex", positions), ("normal of vertex", normals)):
            self._check_finite(what, rows, np.arange(len(rows)))
        found = {"POSITIONS": positions.astype(np.float32), "NORMALS": normals.astype(np.float32)}
        if mesh.uvs is not None:
            found["UVS"] = mesh.uvs[self.source]
        if mesh.colors is not None:
            found["COLORS"] = mesh.colors[self.source]
        if mesh.tangents is not None:
            tangents = mesh.tangents[self.source].astype(np.float64)
            tangents[:, :3] = _unit(_apply(linear, tangents[:, :3]))[0]
            tangents[:, 3] *= np.where(np.linalg.det(linear) < 0, -1.0, 1.0)
            found["TANGENTS"] = tangents.astype(np.float32)
        return found

    def _check_finite(self, what: str, rows: Array, vertices: Array) -> None:
        """ValueError, which names the joint, if a row for one of the new vertices is beyond float32."""
        wrong = np.flatnonzero(~np.isfinite(rows.astype(np.float32)).all(axis=1))
        if len(wrong):
            vertex = vertices[wrong[0]]
            name = self.model.skeleton.names[self.joints[vertex]]
            raise ValueError(
                f"the {what} {self.source[vertex]} in the space of joint {quoted(name)} is beyond float32 "
                "(3.4e38); expected smaller positions and inverse bind matrices"
            )

    def _normals(self) -> tuple[Array, Array]:
        """Return unit normals, and the lengths that they were divided by."""
        return _unit(_apply(_cofactors(self.binds[:, :3, :3]), self.model.mesh.normals[self.source]))

    def submeshes(self, pool: _block.TextPool) -> Array:
        """Return one submesh for each piece, on its joint.

        A piece has the name of its submesh, and is hidden if the submesh is; where a submesh is cut into
        several, the joint is added to the name.
        """
        rows = []
        sources, names = self.model.mesh.submeshes, self.model.skeleton.names
        for piece, (joint, source) in enumerate(zip(self.piece_joints, self.piece_sources, strict=True)):
            uncut = np.count_nonzero(self.piece_sources == source) == 1
            name = sources[source].name if uncut else f"{sources[source].name}/{names[joint]}"
            vertices = np.searchsorted(self.vertex_pieces, (piece, piece + 1))
            faces = np.searchsorted(self.face_pieces, (piece, piece + 1))
            material = sources[source].material
            spans = (vertices[0], vertices[1] - vertices[0], faces[0], faces[1] - faces[0])
            flags = 0 if sources[source].visible else _block.HIDDEN
            rows.append((pool.add(name), joint, -1 if material is None else material, *spans, flags, 0))
        return np.array(rows, _block.RECORDS["SUBMESHES"])

    def targets(self, sections: dict[str, Array]) -> dict[str, Array]:
        """Return the morph targets, for the new vertices."""
        records = sections["TARGETS"].copy()
        lines: dict[str, list[Array]] = {"TARGET_VERTICES": [], "TARGET_POSITIONS": [], "TARGET_NORMALS": []}
        _, lengths = self._normals()
        for number, target in enumerate(self.model.targets):
            row_of = np.full(len(self.model.mesh.positions), -1, np.int64)
            row_of[target.vertices] = np.arange(len(target.vertices))
            moved = np.flatnonzero(row_of[self.source] >= 0)
            rows = row_of[self.source[moved]]
            linear = self.binds[moved, :3, :3]
            records["first"][number] = sum(map(len, lines["TARGET_VERTICES"]))
            records["count"][number] = len(moved)
            lines["TARGET_VERTICES"].append(moved.astype(np.uint32))
            lines["TARGET_POSITIONS"].append(_apply(linear, target.positions[rows]))
            self._check_finite(
                f"target {quoted(target.name)} at vertex", lines["TARGET_POSITIONS"][-1], moved
            )
            if target.normals is not None:
                normals = _apply(_cofactors(linear), target.normals[rows])
                lines["TARGET_NORMALS"].append(normals / lengths[moved])
                self._check_finite(
                    f"target {quoted(target.name)} at normal", lines["TARGET_NORMALS"][-1], moved
                )
        found = {"TARGETS": records}
        for name, (row, dtype) in {
            "TARGET_VERTICES": ((), np.uint32),
            "TARGET_POSITIONS": ((3,), np.float32),
            "TARGET_NORMALS": ((3,), np.float32),
        }.items():
            if name in sections:
                found[name] = np.concatenate([np.zeros((0, *row)), *lines[name]]).astype(dtype)
        return found


def face_slots(faces: Array, slots: Array, weights: Array) -> Array:
    """Return the slot (F,) that each face follows: that of most of its corners, by their largest weights.

    Where all three corners differ, the face follows the slot with the largest weight of the three, and the
    first of equal ones.
    """
    a, b, c = (slots[faces[:, corner], 0].astype(np.int64) for corner in range(3))
    strongest = np.argmax(weights[faces, 0], axis=1) if len(faces) else np.zeros(0, np.int64)
    alone = np.stack([a, b, c], axis=1)[np.arange(len(faces)), strongest]
    return np.asarray(np.where(b == c, b, np.where((a == b) | (a == c), a, alone)))


def _apply(matrices: Array, vectors: Array) -> Array:
    """Return matrices (N,3,3) times vectors (N,3), in float64."""
    return np.asarray(np.einsum("nij,nj->ni", matrices, vectors.astype(np.float64)))


def _cofactors(matrices: Array) -> Array:
    """Return inverse transposes (N,3,3) times the determinants, with the determinants' signs: for normals."""
    a, b, c = (matrices[:, row] for row in range(3))
    rows = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    return np.asarray(rows * np.where(np.linalg.det(matrices) < 0, -1.0, 1.0)[:, None, None])


def _unit(rows: Array) -> tuple[Array, Array]:
    """Return rows of length 1, with rows of length 0 unchanged, and the lengths (N,1), 1 in place of 0."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    length = np.where(length > 0, length, 1.0)
    return rows / length, length
