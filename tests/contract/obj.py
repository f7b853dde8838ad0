"""Wavefront OBJ, after the specification of version 3.0 (1995)."""

from typing import Any

import import_cases as cases
import numpy as np

import skinpy

from . import Case
from ._files import has_color

TITLE = "Wavefront OBJ"
TRIANGLE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"


def one(text: bytes, **more: Any) -> Case:
    return Case({"a.obj": text}, **more)


def image() -> bytes:
    texture = skinpy.character().materials[0].texture
    assert texture is not None
    return bytes(texture.data)


def painted(lines: str, **more: Any) -> Case:
    """A square with a material of these lines, and an image."""
    file = cases.obj(head="mtllib a.mtl\n", middle="usemtl paint\n")
    return Case({"a.obj": file, "a.mtl": f"newmtl paint\n{lines}\n".encode(), "wood.png": image()}, **more)


def has_corners(count: int) -> Any:
    def check(model: Any) -> None:
        assert len(model.mesh.faces) == count

    return check


def has_colors(model: Any) -> None:
    assert np.allclose(model.mesh.colors[:, :3], np.eye(3), atol=1e-6)


def has_normals(model: Any) -> None:
    assert np.allclose(model.mesh.normals, (0.6, 0, 0.8), atol=1e-6)


def has_uvs(model: Any) -> None:
    """From the top of the image, where the file counts from its bottom."""
    assert {tuple(uv) for uv in np.round(model.mesh.uvs, 6).tolist()} == {
        (0, 1),
        (1, 1),
        (1, 0.25),
        (0, 0.25),
    }


def has_parts(model: Any) -> None:
    assert [part.name for part in model.mesh.submeshes] == ["left", "right"]


def has_texture(model: Any) -> None:
    assert next(one for one in model.materials if one.name == "paint").texture.data == image()


def is_clamped(model: Any) -> None:
    paint = next(one for one in model.materials if one.name == "paint")
    assert paint.wrap == ("clamp_to_edge", "clamp_to_edge")


CASES = {
    "polygons of any number of corners": lambda: one(
        b"v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 1 0\nf 1 2 3 4 5\n", played=has_corners(3)
    ),
    "indices counted from the end": lambda: one(TRIANGLE + b"f -3 -2 -1\n", played=has_corners(1)),
    "normals": lambda: one(TRIANGLE + b"vn 0.6 0 0.8\nf 1//1 2//1 3//1\n", played=has_normals),
    "texture coordinates": lambda: one(cases.obj(), played=has_uvs),
    "colors of vertices": lambda: one(
        b"v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nf 1 2 3\n", played=has_colors
    ),
    "objects and groups": lambda: one(TRIANGLE + b"o left\nf 1 2 3\no right\nf 3 2 1\n", played=has_parts),
    "color and opacity of a material (`Kd`, `d`)": lambda: painted("Kd 0.2 0.4 0.6\nd 0.5", played=has_color),
    "texture of the color (`map_Kd`)": lambda: painted("map_Kd wood.png", played=has_texture),
    "emissive and specular color (`Ke`, `Ks`)": lambda: painted("Ke 0 1 0", codes=("looks_ignored",)),
    "other textures (`map_Ks`, `map_d`, `bump` ...)": lambda: painted(
        "map_Ks wood.png", codes=("looks_ignored",)
    ),
    "a texture that does not exist": lambda: painted("map_Kd gone.png", codes=("textures_missing",)),
    "a material library that does not exist": lambda: one(
        cases.obj(head="mtllib gone.mtl\n"), codes=("files_missing",)
    ),
    "wrapping of a texture (`-clamp on`)": lambda: painted("map_Kd -clamp on wood.png", played=is_clamped),
    "placement of a texture (`-s`, `-o`, `-t`)": lambda: painted(
        "map_Kd -s 2 2 1 wood.png", codes=("looks_ignored",)
    ),
    "free-form curves and surfaces": lambda: one(
        TRIANGLE + b"f 1 2 3\ncstype bezier\ndeg 1\ncurv 0 1 1 2\nparm u 0 1\nend\n",
        codes=("geometry_ignored",),
    ),
    "lines": lambda: one(TRIANGLE + b"f 1 2 3\nl 1 2\n", codes=("points_lines_dropped",)),
    "points": lambda: one(TRIANGLE + b"f 1 2 3\np 1 2\n", codes=("points_lines_dropped",)),
}
