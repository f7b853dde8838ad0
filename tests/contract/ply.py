"""PLY, in text and in bytes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import Case
from ._files import CORNERS, has_colors, has_corners, image

TITLE = "PLY"
SQUARE = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0))


def ply(
    names: Sequence[str] = (),
    rows: Sequence[Sequence[float]] = ((), (), ()),
    kind: str = "float",
    comment: str = "",
    faces: Sequence[Sequence[int]] = ((0, 1, 2),),
    corners: Sequence[Sequence[float]] = CORNERS,
    more: tuple[str, str] = ("", ""),
) -> bytes:
    """Vertices with more properties than x, y and z; `more` are lines of the head and of the body."""
    head = ["ply", "format ascii 1.0", *([f"comment {comment}"] if comment else [])]
    head += [f"element vertex {len(corners)}", *(f"property float {axis}" for axis in "xyz")]
    head += [f"property {kind} {name}" for name in names]
    head += [f"element face {len(faces)}", "property list uchar int vertex_indices"] if faces else []
    body = [" ".join(map(str, [*a, *b])) for a, b in zip(corners, rows, strict=True)]
    body += [" ".join(map(str, [len(face), *face])) for face in faces]
    return "\n".join([*head, f"{more[0]}end_header", *body, more[1]]).encode()


def has_normals(model: Any) -> None:
    assert np.allclose(model.mesh.normals, (0.6, 0, 0.8), atol=1e-6)


def has_uvs(model: Any) -> None:
    assert np.allclose(model.mesh.uvs, [(0, 1), (1, 1), (0, 0)], atol=1e-6)


def has_two_faces(model: Any) -> None:
    assert len(model.mesh.faces) == 2 and len(model.mesh.positions) == 4


def has_texture(model: Any) -> None:
    assert [one.texture.data for one in model.materials if one.texture] == [image()]


UVS = ((0, 0), (1, 0), (0, 1))
CORNER_UVS = (
    ply()
    .decode()
    .replace("end_header", "property list uchar float texcoord\nend_header")
    .replace("3 0 1 2", "3 0 1 2 6 0 0 1 0 0 1")
)
COLORS = ((255, 0, 0), (0, 255, 0), (0, 0, 255))

CASES = {
    "vertices and triangles": lambda: Case({"a.ply": ply()}, has_corners),
    "polygons": lambda: Case(
        {"a.ply": ply(rows=((),) * 4, corners=SQUARE, faces=((0, 1, 2, 3),))}, has_two_faces
    ),
    "normals (`nx`, `ny`, `nz`)": lambda: Case(
        {"a.ply": ply(("nx", "ny", "nz"), ((0.6, 0, 0.8),) * 3)}, has_normals
    ),
    "texture coordinates (`s`, `t`, `u`, `v`, `texture_u`, `texture_v`)": lambda: Case(
        {"a.ply": ply(("texture_u", "texture_v"), UVS)}, has_uvs
    ),
    "texture coordinates of the corners of faces (`texcoord`)": lambda: Case(
        {"a.ply": CORNER_UVS.encode()}, has_uvs
    ),
    "colors of vertices": lambda: Case({"a.ply": ply(("red", "green", "blue"), COLORS, "uchar")}, has_colors),
    "a texture (`comment TextureFile`)": lambda: Case(
        {"a.ply": ply(("s", "t"), UVS, comment="TextureFile wood.png"), "wood.png": image()}, has_texture
    ),
    "points without faces": lambda: Case(
        {"a.ply": ply(faces=())}, refused="the file has points and no faces"
    ),
    "edges": lambda: Case(
        {"a.ply": ply(more=("element edge 1\nproperty int vertex1\nproperty int vertex2\n", "0 1\n"))},
        codes=("points_lines_dropped",),
    ),
}
