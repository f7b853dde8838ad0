"""Blitz3D's B3D, after its specification."""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import test_import_games as games

from . import Case
from ._files import has_texture, image

TITLE = "Blitz3D"


def one(content: bytes, *codes: str, played: Any = None) -> Case:
    return Case({"a.b3d": content, "wood.png": image()}, played, codes)


def animated(*anims: bytes) -> bytes:
    """A mesh whose vertices follow a joint with keys."""
    keys = games.b3d_keys((1, (0, 0, 0)), (6, (5, 0, 0)))
    bone = games.b3d_node("bone", games.b3d_bone(*games.ALL), keys)
    return games.b3d(games.b3d_node("root", games.b3d_mesh(), bone, *anims))


def follows(model: Any) -> None:
    """Ten frames a second."""
    for time, x in ((0.1, 0.0), (0.35, 2.5), (0.6, 5.0)):
        wanted = games.flipped(games.CORNERS) + (x, 0, 0)
        assert np.allclose(games.deformed(model, time), wanted, atol=games.EXACT)


def twins(name: str) -> bytes:
    """Two joints of one name, of which each has keys and vertices."""
    legs = [
        games.b3d_node(name, games.b3d_bone(*bones), games.b3d_keys((1, (0, 0, 0)), (6, (x, 0, 0))))
        for x, bones in ((5, games.ALL[:1]), (9, games.ALL[1:]))
    ]
    return games.b3d(games.b3d_node("root", games.b3d_mesh(), *legs, games.b3d_anim()))


def both_move(model: Any) -> None:
    wanted = games.flipped(games.CORNERS) + [(5, 0, 0), (9, 0, 0), (9, 0, 0)]
    assert np.allclose(games.deformed(model, 0.6), wanted, atol=games.EXACT)


def vertices(flags: int, sets: int, size: int, rows: Sequence[Sequence[float]]) -> bytes:
    """With more numbers for each vertex."""
    numbers = [[*point, *row] for point, row in zip(games.CORNERS, rows, strict=True)]
    head = struct.pack("<3i", flags, sets, size)
    return games.chunk("VRTS", head + np.asarray(numbers, "<f4").tobytes())


def mesh(vrts: bytes, brush: int = -1) -> bytes:
    faces = struct.pack("<i", brush) + np.arange(3, dtype="<i4").tobytes()
    return games.chunk("MESH", struct.pack("<i", -1) + vrts + games.chunk("TRIS", faces))


def rigid(inside: bytes, *before: bytes) -> bytes:
    return games.b3d(*before, games.b3d_node("root", inside))


PLAIN = struct.pack("<5f", 0, 0, 1, 1, 0)


def texture(name: str) -> bytes:
    return name.encode() + b"\0" + struct.pack("<2i", 1, 2) + PLAIN


def brush(*textures: int) -> bytes:
    head = struct.pack("<i", max(len(textures), 1)) + b"paint\0"
    color = struct.pack("<5f2i", 0.2, 0.4, 0.6, 0.5, 0.0, 1, 0)
    return games.chunk("BRUS", head + color + struct.pack(f"<{max(len(textures), 1)}i", *(textures or (-1,))))


def painted(*names: str) -> bytes:
    images = [games.chunk("TEXS", b"".join(map(texture, names)))] if names else []
    plain = vertices(0, 0, 0, ((),) * 3)
    return rigid(mesh(plain, 0), *images, brush(*range(len(names))))


def has_normals(model: Any) -> None:
    assert np.allclose(model.mesh.normals, (0.6, 0, -0.8), atol=1e-6)


def has_uvs(model: Any) -> None:
    assert np.allclose(model.mesh.uvs, [(0, 0), (1, 0), (0, 0.5)], atol=1e-6)


def has_color(model: Any) -> None:
    (paint,) = (one for one in model.materials if one.name == "paint")
    assert np.allclose(paint.base_color, (0.2, 0.4, 0.6, 0.5), atol=1e-6)


LOOKS = tuple((0.6, 0, 0.8, *row, 1) for row in np.eye(3))

CASES = {
    "joints, their weights and keys": lambda: one(animated(games.b3d_anim()), played=follows),
    "keys without an animation": lambda: one(animated(), "channels_dropped"),
    "animations of different rates": lambda: one(
        animated(games.b3d_anim(), games.b3d_anim(rate=20)), "channels_dropped"
    ),
    "normals": lambda: one(rigid(mesh(vertices(1, 0, 0, ((0.6, 0, 0.8),) * 3))), played=has_normals),
    "colors of vertices": lambda: one(rigid(mesh(vertices(3, 0, 0, LOOKS))), "attributes_dropped"),
    "texture coordinates": lambda: one(
        rigid(mesh(vertices(0, 1, 2, ((0, 0), (1, 0), (0, 0.5))))), played=has_uvs
    ),
    "further texture coordinates": lambda: one(
        rigid(mesh(vertices(0, 2, 2, ((0, 0, 0, 0),) * 3))), "attributes_ignored"
    ),
    "color and opacity of a brush": lambda: one(painted(), played=has_color),
    "texture of a brush": lambda: one(painted("wood.png"), played=has_texture),
    "a texture of a brush that the file does not have": lambda: one(
        rigid(mesh(vertices(0, 0, 0, ((),) * 3), 0), brush(3)), "textures_missing", played=has_color
    ),
    "offset, scale and rotation of a texture": lambda: one(
        painted("wood.png").replace(PLAIN, struct.pack("<5f", 0.5, 0, 2, 2, 0)), "looks_ignored"
    ),
    "further textures of a brush": lambda: one(painted("wood.png", "light.png"), "looks_ignored"),
    "joints of one name": lambda: one(twins("leg"), "duplicate_names", played=both_move),
    "joints without a name": lambda: one(twins(""), played=both_move),
}
