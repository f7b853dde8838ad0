"""STL, in text and in bytes."""

import struct
from typing import Any

import numpy as np

from . import Case
from ._files import CORNERS, has_corners

TITLE = "STL"


def text(*names: str) -> bytes:
    """A solid of one triangle for each name."""
    corners = "".join(f"vertex {x} {y} {z}\n" for x, y, z in CORNERS)
    facet = f"facet normal 0.6 0 0.8\nouter loop\n{corners}endloop\nendfacet\n"
    return "".join(f"solid {name}\n{facet}endsolid {name}\n" for name in names).encode()


def binary(attribute: int = 0, head: bytes = b"made here") -> bytes:
    numbers = struct.pack("<12fH", 0.6, 0, 0.8, *np.ravel(CORNERS), attribute)
    return head.ljust(80) + struct.pack("<I", 1) + numbers


def has_two_parts(model: Any) -> None:
    assert [part.name for part in model.mesh.submeshes] == ["left", "right"]


def has_facet_normals(model: Any) -> None:
    assert np.allclose(model.mesh.normals, (0.6, 0, 0.8), atol=1e-6)


def is_red(model: Any) -> None:
    assert np.allclose(model.mesh.colors, (1, 0, 0, 1), atol=1e-6)


CASES = {
    "triangles, in text files": lambda: Case({"a.stl": text("box")}, has_corners),
    "triangles, in binary files": lambda: Case({"a.stl": binary()}, has_corners),
    "normals": lambda: Case({"a.stl": binary()}, has_facet_normals),
    "several solids": lambda: Case({"a.stl": text("left", "right")}, has_two_parts),
    "colors of facets": lambda: Case({"a.stl": binary(1 << 15 | 31 << 10)}, is_red),
}
