"""Paints: shaders that draw a mesh in place of lit.frag, and what they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import moderngl

from .mesh import Attributes, Elements

# Sets the uniforms of a paint's program, except those that pose the vertices.
Prepare: TypeAlias = Callable[[moderngl.Program], None]


@dataclass(frozen=True)
class Paint:
    """The shaders that follow the vertex shader of a scene, for its faces, edges or vertices.

    `attributes` are vertex attributes besides those of the mesh, one value per vertex. `defines` are macros
    for all stages.
    """

    fragment: str
    geometry: str | None = None
    defines: Mapping[str, int | str] = field(default_factory=dict)
    attributes: tuple[Attributes, ...] = ()
    of: Elements = "faces"


FACE_NUMBERS = Paint("faces.frag", "faces.geom")  # the number of the face that a pixel shows
