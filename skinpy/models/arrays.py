"""Model.from_arrays: arrays, checked and arranged as the sections of a block."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _block, _core
from .._arguments import any_array, check_shape, floats, mapping, names_of
from .._text import quoted
from .._types import Array, Floats
from ..errors import LoadError
from ..models.frames import smooth_normals, unit
from .look import Look, look_sections

#: Differences of a morph target: of positions (V,3), or of positions and normals.
Differences: TypeAlias = npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike]


def model_block(
    names: Sequence[str],
    parents: npt.ArrayLike,
    rest: npt.ArrayLike,
    positions: npt.ArrayLike,
    faces: npt.ArrayLike,
    joints: npt.ArrayLike,
    weights: npt.ArrayLike,
    inverse_bind: npt.ArrayLike | None,
    normals: npt.ArrayLike | None,
    uvs: npt.ArrayLike | None,
    targets: Mapping[str, Differences] | None,
    look: Look,
) -> _core.Block:
    """The block of Model.from_arrays, which documents the arguments."""
    skeleton = _skeleton(names, parents, rest)
    count = len(skeleton["JOINT_PARENTS"])
    points = floats("positions", positions, ("V", 3))
    triangles = _faces(faces, len(points))
    joint_indices, sorted_weights = _influences(joints, weights, len(points), count)
    slot_joints, slots = _slots(joint_indices)
    if inverse_bind is None:
        binds = _inverse_rest(names, skeleton["REST_LOCAL"], skeleton["JOINT_PARENTS"])
    else:
        binds = _affine("inverse_bind", inverse_bind, count)
    if normals is None:
        directions = smooth_normals(points[None], triangles)[0]
    else:
        directions = unit(floats("normals", normals, (len(points), 3)))
    pool = _block.TextPool()
    sections = {
        **skeleton,
        "JOINT_NAMES": pool.names(names),
        "SLOT_JOINTS": slot_joints,
        "SLOT_INVERSE_BIND": binds[slot_joints],
        "POSITIONS": points,
        "NORMALS": directions,
        "VERTEX_SLOTS": slots,
        "VERTEX_WEIGHTS": sorted_weights,
        "FACES": triangles,
        "INFO": _info(count, len(slot_joints), len(points), len(triangles), sorted_weights.shape[1], pool),
        **_targets({} if targets is None else targets, len(points), pool),
        **look_sections(look, uvs is not None, len(points), pool),
    }
    sections["SUBMESHES"] = _submesh(pool, len(points), len(triangles), 0 if "MATERIALS" in sections else -1)
    sections["INFO"]["targets"] = len(targets or {})
    if uvs is not None:
        sections["UVS"] = floats("uvs", uvs, (len(points), 2))
    sections["TEXT"] = pool.section()
    try:
        return _block.pack(sections, sorted_weights.shape[1])
    except LoadError as error:
        raise ValueError(str(error)) from None


# ---- arguments ----------------------------------------------------------------------------------------


def _affine(name: str, value: npt.ArrayLike, count: int) -> Floats:
    """Finite matrices (count,4,4) whose last row is 0 0 0 1."""
    matrices = floats(name, value, (count, 4, 4))
    if count and not (matrices[:, 3] == (0, 0, 0, 1)).all():
        raise ValueError(f"{name} holds a matrix that is not affine; expected a last row of 0 0 0 1")
    return matrices


def _integers(name: str, value: npt.ArrayLike, shape: tuple[int | str, ...], limit: int, what: str) -> Array:
    """Integers from 0 to limit - 1; `what` is the noun for the things that they count, such as "joints"."""
    array = any_array(name, value)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{name} has dtype {array.dtype}; expected integers")
    check_shape(name, array, shape)
    if array.size and (array.min() < 0 or array.max() >= limit):
        wrong = array.max() if array.max() >= limit else array.min()
        raise ValueError(f"{name} holds {wrong}; there are {limit} {what}")
    return array.astype(np.int64)


def _faces(faces: npt.ArrayLike, vertices: int) -> Array:
    """Triangles (F,3) uint32; an empty array of any width has none."""
    array = any_array("faces", faces)
    if not array.size and array.ndim <= 2:
        array = np.zeros((0, 3), np.uint32)
    return _integers("faces", array, ("F", 3), vertices, "vertices").astype(np.uint32)


def _skeleton(names: Sequence[str], parents: npt.ArrayLike, rest: npt.ArrayLike) -> dict[str, Array]:
    """The sections of the joints, except their names."""
    count = len(names_of("names", names))
    if not count:
        raise ValueError("names is empty; expected at least one joint")
    tree = any_array("parents", parents)
    check_shape("parents", tree, (count,))
    if not np.issubdtype(tree.dtype, np.integer):
        raise TypeError(f"parents has dtype {tree.dtype}; expected integers")
    wrong = np.flatnonzero((tree < -1) | (tree >= np.arange(count)))
    if len(wrong):
        raise ValueError(
            f"parents[{wrong[0]}] is {tree[wrong[0]]}; expected a joint before this one, or -1 for a root"
        )
    local = _affine("rest", rest, count)
    translation, rotation, scale = _core._decompose(local)
    _check_joints("rest", names, scale, "the scale of joint")
    return {
        "JOINT_PARENTS": tree.astype(np.int32),
        "REST_LOCAL": local,
        "REST_TRANSLATION": translation,
        "REST_ROTATION": rotation,
        "REST_SCALE": scale,
    }


def _influences(
    joints: npt.ArrayLike, weights: npt.ArrayLike, vertices: int, joint_count: int
) -> tuple[Array, Floats]:
    """Joints and weights (V,K), largest weight first.

    Weights are divided by their sum. The last nonzero weight becomes 1 minus the sum of the others in
    float32.
    """
    given = floats("weights", weights, (vertices, "K"), np.float64)
    if not 1 <= given.shape[1] <= _core.MAX_INFLUENCES:
        raise ValueError(f"weights has shape {given.shape}; expected ({vertices}, K) with K from 1 to 8")
    indices = _integers("joints", joints, given.shape, joint_count, "joints")
    if (given < 0).any():
        raise ValueError(f"weights holds {given[given < 0][0]:g}; expected numbers that are 0 or more")
    total = given.sum(axis=1, keepdims=True)
    if (total == 0).any():
        vertex = int(np.flatnonzero(total == 0)[0])
        raise ValueError(f"weights of vertex {vertex} are all 0; expected at least one that is positive")
    order = np.argsort(-given, axis=1, kind="stable")
    sorted_weights = np.take_along_axis(given / total, order, axis=1).astype(np.float32)
    last = np.count_nonzero(sorted_weights, axis=1) - 1
    rows = np.arange(vertices)
    others = sorted_weights.astype(np.float64)
    others[rows, last] = 0
    rest = (1.0 - others.sum(axis=1)).astype(np.float32)
    # Rounding may lift the last weight above the one before it. Then both get the smaller value.
    before_last = np.where(last > 0, sorted_weights[rows, np.maximum(last - 1, 0)], rest)
    sorted_weights[rows, last] = np.minimum(rest, before_last)
    return np.take_along_axis(indices, order, axis=1), sorted_weights


def _slots(joints: Array) -> tuple[Array, Array]:
    """The joints in the order of first use, and the indices (V,K) of each vertex into these."""
    used, first, inverse = np.unique(joints.ravel(), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(used), np.int64)
    rank[order] = np.arange(len(used))
    if len(used) > _core.MAX_SLOTS:
        raise LoadError(f"joints needs {len(used)} palette slots; expected at most {_core.MAX_SLOTS}")
    return used[order].astype(np.int32), rank[inverse].reshape(joints.shape).astype(np.uint16)


def _inverse_rest(names: Sequence[str], local: Floats, parents: Array) -> Floats:
    """(J,4,4): the inverses of the global rest transforms."""
    world = local.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        for joint, parent in enumerate(parents):
            if parent >= 0:
                world[joint] = world[parent] @ world[joint]
    _check_joints("rest", names, world, "the global transform of joint")
    try:
        inverse = np.linalg.inv(world)
    except np.linalg.LinAlgError:
        raise ValueError(
            "rest holds a joint whose global transform has no inverse; expected inverse_bind as well"
        ) from None
    inverse[:, 3] = (0, 0, 0, 1)
    with np.errstate(over="ignore"):
        binds: Floats = inverse.astype(np.float32)
    _check_joints("rest", names, binds, "the inverse of the global transform of joint")
    return binds


def _check_joints(name: str, names: Sequence[str], rows: Array, what: str) -> None:
    """ValueError, which names the joint, if a row that was computed from an argument is not finite."""
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=tuple(range(1, rows.ndim))))
    if len(wrong):
        raise ValueError(
            f"{name} overflows: {what} {names[wrong[0]]!r} is beyond float32 (3.4e38); "
            "expected matrices with smaller numbers, and an inverse"
        )


def _targets(targets: Mapping[str, Differences], vertices: int, pool: _block.TextPool) -> dict[str, Array]:
    """The sections of the morph targets: the differences of the vertices that each target moves."""
    records, moved = [], [np.zeros(0, np.uint32)]
    positions, normals = [np.zeros((0, 3), np.float32)], [np.zeros((0, 3), np.float32)]
    first = 0
    for name, given in mapping("targets", targets, "a mapping of names to differences").items():
        both = given if isinstance(given, tuple) else (given, np.zeros((vertices, 3)))
        if len(both) != 2:
            raise ValueError(
                f"targets[{quoted(name)}] has {len(both)} arrays; expected positions and normals"
            )
        of_positions = floats(f"targets[{quoted(name)}]", both[0], (vertices, 3))
        of_normals = floats(f"normals of targets[{quoted(name)}]", both[1], (vertices, 3))
        rows = np.flatnonzero(of_positions.any(axis=1) | of_normals.any(axis=1))
        records.append((pool.add(name), 0, 0.0, first, len(rows)))
        moved.append(rows.astype(np.uint32))
        positions.append(of_positions[rows])
        normals.append(of_normals[rows])
        first += len(rows)
    return {
        "TARGETS": np.array(records, _block.RECORDS["TARGETS"]),
        "TARGET_VERTICES": np.concatenate(moved),
        "TARGET_POSITIONS": np.concatenate(positions),
        "TARGET_NORMALS": np.concatenate(normals),
    }


def _submesh(pool: _block.TextPool, vertices: int, faces: int, material: int) -> Array:
    """The section SUBMESHES: all of the mesh, or nothing for a model without vertices."""
    rows = [(pool.add("mesh"), 0, material, 0, vertices, 0, faces, 0, 0)] if vertices else []
    return np.array(rows, _block.RECORDS["SUBMESHES"])


def _info(
    joints: int, slots: int, vertices: int, faces: int, influences: int, pool: _block.TextPool
) -> Array:
    """The section INFO."""
    info: Array = np.zeros(1, _block.RECORDS["INFO"])
    info["kind"], info["influences"], info["joints"], info["slots"] = _block.MODEL, influences, joints, slots
    info["vertices"], info["faces"] = vertices, faces
    info["source_format"] = pool.add("arrays")
    return info
