"""A posed mesh for trimesh: Model.to_trimesh."""

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Loop
from ..models.overflow import refuse_points
from ..models.pickling import need_vertices

if TYPE_CHECKING:
    from ..clip import Clip
    from ..model import Model


def posed_mesh(model: "Model", clip: "Clip | str | int | None", time: float, loop: Loop) -> Any:
    """Return the posed mesh; see `Model.to_trimesh`."""
    try:
        trimesh = importlib.import_module("trimesh")  # by name, so that type checks do without trimesh
    except ImportError:
        raise ImportError("to_trimesh() needs trimesh: pip install trimesh") from None
    pose = model.pose(clip, time, loop=loop)
    if pose.translation.ndim != 2:
        raise ValueError(f"time has shape {np.shape(time)}; expected one time")
    need_vertices(model, "to_trimesh")
    if not len(model.mesh.positions):  # trimesh fails in NumPy, in its words
        raise ValueError("model has no vertices; expected a model with a mesh")
    positions, normals = model.deform(pose)
    source = model.clips[clip] if isinstance(clip, str | int) else clip
    refuse_points(model, positions[None], source, np.array([time]))
    mesh, numbers = model.mesh, np.zeros(len(model.mesh.faces), np.int32)
    for number, submesh in enumerate(mesh.submeshes):
        numbers[submesh.face_range.start : submesh.face_range.stop] = number
    visual = None
    if mesh.uvs is not None:  # trimesh has the origin of textures at the bottom left
        visual = trimesh.visual.TextureVisuals(uv=mesh.uvs * [1.0, -1.0] + [0.0, 1.0])
    return trimesh.Trimesh(
        vertices=positions,
        faces=mesh.faces.astype(np.int64),
        vertex_normals=normals,
        visual=visual,
        face_attributes={"submesh": numbers},
        process=False,
    )
