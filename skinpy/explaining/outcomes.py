"""The end of an explanation, by every method: NumPy, the C code, the vertex shader and row vectors."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..clips.evaluate import unit
from ..errors import SkinpyError, SkinpyWarning
from .explanation import Influence, JointStep, Outcome

if TYPE_CHECKING:
    from ..model import Model
    from ..pose import Pose


def outcomes(
    model: Model,
    pose: Pose,
    vertex: int,
    skinned: tuple[Array, Array, Array],
    chain: tuple[dict[int, JointStep], tuple[Influence, ...]],
) -> tuple[Outcome, ...]:
    """Return the vertex by every method, with the distances from the first.

    `skinned` has the blended matrix, and the position and the normal that it transforms; `chain` has the
    joints and influences that the matrix comes from.
    """
    _, position, normal = skinned
    best = Outcome("NumPy", *_skinned(*skinned), 0.0, 0.0, "the chain above, in float64")
    others = (
        _by_c(model, pose, vertex),
        _by_shader(model, pose, vertex),
        _by_row_vectors(*chain, position, normal),
    )
    return (best, *(_measured(one, best) for one in others))


def double(values: Array) -> Array:
    """Return the values in float64."""
    return values.astype(np.float64)


def normal_matrix(blended: Array) -> Array:
    """Return the cofactors (3,3) times the sign of the determinant.

    That is the inverse transpose times a positive factor, and it exists for flat matrices too.
    """
    a, b, c = blended
    cofactors = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)])
    return -cofactors if np.linalg.det(blended) < 0 else cofactors


def _skinned(matrix: Array, position: Array, normal: Array) -> tuple[Array, Array]:
    """Return position and unit normal under a matrix for column vectors."""
    return matrix[:3, :3] @ position + matrix[:3, 3], unit(normal_matrix(matrix[:3, :3]) @ normal)


def _by_c(model: Model, pose: Pose, vertex: int) -> Outcome:
    """Return the vertex as the C code deforms it."""
    positions, normals = model.deform(pose)
    note = "model.deform(model.pose(clip, time)), in float32"
    return _outcome("C", positions[vertex], normals[vertex], note)


def _by_shader(model: Model, pose: Pose, vertex: int) -> Outcome:
    """Return the vertex as the vertex shader computes it, or the reason why it cannot."""
    try:
        from ..render import Renderer

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkinpyWarning)  # textures do not change vertices
            with Renderer(model, size=(1, 1), samples=0) as renderer:
                positions, normals = renderer.skinned_vertices(pose=pose)
    except (ImportError, SkinpyError) as error:
        reason = " ".join(str(error).split())
        return Outcome(
            "shader", None, None, None, None, f"skipped, because there is no OpenGL here: {reason}"
        )
    note = "the vertex shader that draws pictures, with the palette of the C code, in float32"
    return _outcome("shader", positions[vertex], normals[vertex], note)


def _by_row_vectors(
    joints: dict[int, JointStep], influences: tuple[Influence, ...], position: Array, normal: Array
) -> Outcome:
    """Return the vertex by the reversed chain: vectors stand on the left, every matrix is transposed."""
    to_scene: dict[int, Array] = {}
    for step in joints.values():
        local = step.local.T
        to_scene[step.joint] = local @ to_scene[step.parent] if step.parent >= 0 else local
    matrix = np.zeros((4, 4))
    for one in influences:
        matrix += one.weight * (one.inverse_bind.T @ to_scene[one.joint])
    moved = np.append(position, 1.0) @ matrix
    directed = unit(normal @ normal_matrix(matrix[:3, :3]))
    return _outcome(
        "row vectors", moved[:3], directed, "v @ sum of weight * inverse bind @ global, in float64"
    )


def _outcome(way: str, position: Array, normal: Array, note: str) -> Outcome:
    """Return an outcome in float64 that is not measured yet."""
    return Outcome(way, double(position), double(normal), None, None, note)


def _measured(one: Outcome, best: Outcome) -> Outcome:
    """Return the outcome with its distances from the best; an outcome that was skipped has none."""
    if one.position is None or one.normal is None:
        return one
    errors = (np.linalg.norm(one.position - best.position), np.linalg.norm(one.normal - best.normal))
    return Outcome(one.way, one.position, one.normal, float(errors[0]), float(errors[1]), one.note)
