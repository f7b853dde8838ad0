"""DirectX .x, after Microsoft's X File Format Reference (DirectX 9)."""

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import x_writer as x

import skinpy

from . import Case
from ._files import has_faces

TITLE = "DirectX"
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
Check = Callable[[Any], None]


def file(*objects: x.Object, played: Check | None = None, codes: tuple[str, ...] = (), **more: bytes) -> Case:
    beside = {name.replace("_", "."): content for name, content in more.items()}
    return Case({"a.x": x.text(*objects), **beside}, played=played, codes=codes)


def triangle(*inside: x.Object) -> x.Object:
    """A frame at x = 2 with a triangle."""
    return x.frame("tri", x.mesh(CORNERS, [[0, 2, 1]], *inside), matrix=at(2, 0, 0))


def at(*to: float) -> Any:
    matrix = np.eye(4)
    matrix[:3, 3] = to
    return matrix


def moved(rows: Any, type: int = 2, joint: str = "arm") -> x.Object:
    return x.clip("go", x.animation(joint, x.keys(type, rows)))


def joint_at(time: float, want: Any, name: str = "arm") -> Check:
    def check(model: Any) -> None:
        got = model.globals(0, time)[model.skeleton.index(name)]
        assert np.allclose(got, want, atol=1e-6), got

    return check


def has_positions(*want: Any) -> Check:
    def check(model: Any) -> None:
        got = model.deform(model.pose(), normals=False)[0]
        assert sorted(map(tuple, np.round(got, 6).tolist())) == sorted(map(tuple, np.asarray(want, float)))

    return check


# ---- meshes --------------------------------------------------------------------------------------------


def pentagon() -> Case:
    points = [(0, 0, 0), (1, 0, 0), (2, 1, 0), (1, 2, 0), (0, 2, 0)]
    return file(x.frame("five", x.mesh(points, [range(5)])), played=has_faces(3))


def attributes() -> Case:
    normals = x.thing("MeshNormals", 1, 0.6, 0.0, 0.8, 1, 3, 0, 0, 0)
    uvs = x.thing("MeshTextureCoords", 3, 0.0, 0.25, 1.0, 0.25, 0.0, 1.0)
    colors = x.thing("MeshVertexColors", 3, *(n for i in range(3) for n in (i, *np.eye(4)[i])))
    return file(triangle(normals, uvs, colors), played=has_attributes)


def has_attributes(model: Any) -> None:
    mesh = model.mesh
    order = [int(np.flatnonzero((mesh.positions == corner).all(axis=1))[0]) for corner in CORNERS]
    assert np.allclose(mesh.normals, (0.6, 0, -0.8), atol=1e-6)
    assert np.allclose(mesh.uvs[order], [(0, 0.25), (1, 0.25), (0, 1)])
    assert np.allclose(mesh.colors[order][:, :3], np.eye(3))


def declared() -> Case:
    """FLOAT3 normals, FLOAT2 texture coordinates and D3DCOLOR."""
    elements = [2, 0, 3, 0, 1, 0, 5, 0, 4, 0, 10, 0]
    rows = [
        ((0.6, 0, 0.8), uv, 0xFF << shift) for uv, shift in (((0, 0.25), 16), ((1, 0.25), 8), ((0, 1), 0))
    ]
    words = [
        n
        for normal, uv, color in rows
        for n in (*struct.unpack("<5I", struct.pack("<5f", *normal, *uv)), color)
    ]
    return file(triangle(x.thing("DeclData", 3, elements, len(words), words)), played=has_attributes)


def second_uvs() -> Case:
    uvs = x.thing("MeshTextureCoords", 3, [0.0] * 6)
    return file(triangle(uvs, uvs), played=has_faces(1), codes=("attributes_dropped",))


def referred() -> Case:
    """One mesh at two places."""
    places = [x.frame(name, x.Reference("one"), matrix=at(5 * i, 0, 0)) for i, name in enumerate("ab")]
    want = [*CORNERS, *(CORNERS + (5, 0, 0))]
    return file(x.mesh(CORNERS, [[0, 2, 1]], name="one"), *places, played=has_positions(*want))


# ---- skins ---------------------------------------------------------------------------------------------


def skinned(*weights: x.Object, played: Check | None = None, codes: tuple[str, ...] = ()) -> Case:
    arm = x.frame("arm", matrix=at(0, 1, 0))
    body = x.frame("body", x.mesh(CORNERS, [[0, 2, 1]], *weights), arm)
    return file(body, moved([(0, (0, 1, 0)), (25, (0, 3, 0))]), played=played, codes=codes)


def moves_a_corner(model: Any) -> None:
    got = model.deform(model.pose(0, 1.0), normals=False)[0]
    assert sorted(map(tuple, np.round(got, 6).tolist())) == [(0, 0, 0), (0, 3, 0), (1, 0, 0)]


BODY = x.weights("body", (0, 1), (1, 1))
ARM = x.weights("arm", (2,), (1,), at(0, -1, 0))


def bad_weights() -> Case:
    more = x.weights("arm", (2, 9), (1, 1), at(0, -1, 0))
    return skinned(BODY, more, played=moves_a_corner, codes=("weights_dropped",))


def ambiguous() -> Case:
    twice = [x.frame("arm", matrix=at(i, 0, 0)) for i in range(2)]
    moves = moved([(0, (0, 0, 0)), (25, (0, 3, 0))])
    return file(triangle(), *twice, moves, played=joint_at(1.0, at(0, 3, 0)), codes=("names_ambiguous",))


# ---- clips ---------------------------------------------------------------------------------------------


def clip(*sets: x.Object, played: Check | None = None, codes: tuple[str, ...] = ()) -> Case:
    return file(triangle(), x.frame("arm"), x.ticks(10), *sets, played=played, codes=codes)


def all_keys() -> Case:
    """A turn of 90 degrees about z, scales, and places."""
    half = 0.5**0.5
    keys = [
        x.keys(0, [(0, (half, 0, 0, -half))]),
        x.keys(1, [(0, (1, 1, 1)), (10, (3, 1, 1))]),
        x.keys(2, [(0, (0, 0, 0)), (10, (0, 0, 2))]),
    ]
    want = np.array([[0, -1, 0, 0], [3, 0, 0, 0], [0, 0, 1, -2], [0, 0, 0, 1]], float)
    return clip(x.clip("go", x.animation("arm", *keys)), played=joint_at(1.0, want))


def matrix_keys(sheared: bool) -> Case:
    matrix = at(1, 2, 3) @ np.diag([2, 1, 1, 1])
    if sheared:
        matrix[0, 1] = 0.7
        rows = [(0, x.rows_of(matrix))]
        return clip(moved(rows, 4), played=has_faces(1), codes=("matrix_keys_lost",))
    rows = [(0, x.rows_of(np.eye(4))), (10, x.rows_of(matrix))]
    return clip(moved(rows, 4), played=joint_at(1.0, at(1, 2, -3) @ np.diag([2, 1, 1, 1])))


def starts_before_0(model: Any) -> None:
    (channel,) = model.clips[0].channels
    assert np.allclose(channel.times, (-0.1, 1.0)) and model.clips[0].duration == 1.0


# ---- materials -----------------------------------------------------------------------------------------


def painted(
    *inside: x.Object,
    played: Check | None = None,
    codes: tuple[str, ...] = (),
    specular: tuple[float, ...] = (0.0, 0.0, 0.0),
) -> Case:
    material = x.thing("Material", 1.0, 0.5, 0.0, 0.25, 0.0, specular, [0.0] * 3, *inside, name="paint")
    texture = skinpy.character().materials[0].texture
    assert texture is not None
    listed = x.thing("MeshMaterialList", 1, 1, 0, x.Reference("paint"))
    return file(material, triangle(listed), played=played, codes=codes, wood_png=bytes(texture.data))


def has_color(model: Any) -> None:
    assert (
        np.allclose(model.materials[0].base_color, (1, 0.5, 0, 0.25)) and model.materials[0].alpha == "blend"
    )
    assert model.materials[0].name == "paint"


def has_texture(model: Any) -> None:
    assert model.materials[0].texture is not None


def encoded() -> Case:
    body = x.binary_body([triangle(), x.frame("arm"), moved([(0, (0, 0, 0)), (25, (0, 3, 0))])])
    return Case({"a.x": x.compressed("bzip", body)}, played=joint_at(1.0, at(0, 3, 0)))


CASES = {
    "frames and their matrices": lambda: file(triangle(), played=has_positions(*(CORNERS + (2, 0, 0)))),
    "text and binary files, compressed or not": encoded,
    "left-handed axes": lambda: file(
        x.frame("far", matrix=at(0, 0, 3)),
        moved([(0, (0, 0, 3))], joint="far"),
        played=joint_at(0, at(0, 0, -3), "far"),
        codes=("axes_converted",),
    ),
    "polygons of any number of corners": pentagon,
    "faces of fewer than three corners": lambda: file(
        x.frame("a", x.mesh(CORNERS, [[0, 1]])), codes=("points_lines_dropped", "meshes_dropped")
    ),
    "faces of vertices that do not exist": lambda: file(
        x.frame("a", x.mesh(CORNERS, [[0, 1, 7]])), codes=("faces_dropped", "meshes_dropped")
    ),
    "meshes to which frames refer": referred,
    "patches and progressive meshes": lambda: file(
        x.frame("a", x.thing("PatchMesh", 0, 0)), codes=("geometry_ignored",)
    ),
    "normals, texture coordinates, colors of vertices": attributes,
    "the same in `DeclData`": declared,
    "`FVFData`": lambda: file(
        triangle(x.thing("FVFData", 0x100, 6, [0] * 6)), played=has_faces(1), codes=("attributes_dropped",)
    ),
    "a second set of texture coordinates": second_uvs,
    "color and opacity of a material": lambda: painted(played=has_color),
    "texture of the color": lambda: painted(x.thing("TextureFilename", "wood.png"), played=has_texture),
    "a texture that does not exist": lambda: painted(
        x.thing("TextureFilename", "gone.png"), played=has_color, codes=("textures_missing",)
    ),
    "specular and emissive color": lambda: painted(
        played=has_color, codes=("looks_ignored",), specular=(0.5, 0.5, 0.5)
    ),
    "other textures and effects": lambda: painted(
        x.thing("TextureFilename", "wood.png"),
        x.thing("NormalmapFilename", "bump.png"),
        x.thing("EffectInstance", "a"),
        played=has_texture,
        codes=("looks_ignored",),
    ),
    "skins": lambda: skinned(BODY, ARM, played=moves_a_corner),
    "`SkinWeights` of no vertex": lambda: skinned(
        BODY, ARM, x.weights("body", (), ()), played=moves_a_corner
    ),
    "weights of vertices that do not exist": bad_weights,
    "a name that several frames have, in a skin or an animation": ambiguous,
    "keys of rotation, scale and translation": all_keys,
    "matrix keys": lambda: matrix_keys(sheared=False),
    "matrix keys that shear": lambda: matrix_keys(sheared=True),
    "keys before 0": lambda: clip(moved([(-1, (0, 0, 0)), (10, (0, 3, 0))]), played=starts_before_0),
    "keys of other types": lambda: clip(moved([(0, (0, 0, 0))], 7), codes=("channels_dropped",)),
    "an animation of a frame that does not exist": lambda: clip(
        moved([(0, (0, 0, 0))], joint="gone"), codes=("channels_dropped",)
    ),
}
