"""Ways to paint a mesh other than by lit.frag: which shaders draw it, and what they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import moderngl

from .mesh import Attributes, Elements

# Sets the uniforms of a paint's program, apart from where the vertices are.
Prepare: TypeAlias = Callable[[moderngl.Program], None]


@dataclass(frozen=True)
class Paint:
    """The shaders that a scene's faces, edges or vertices go through after its vertex shader.

    `attributes` are vertex attributes beside the mesh's own, one value per vertex; `defines` are macros for
    all stages.
    """

    fragment: str
    geometry: str | None = None
    defines: Mapping[str, int | str] = field(default_factory=dict)
    attributes: tuple[Attributes, ...] = ()
    of: Elements = "faces"


FACE_NUMBERS = Paint("faces.frag", "faces.geom")  # which face a pixel shows, for ground truth
