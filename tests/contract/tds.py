"""3D Studio .3ds, after the chunks of the 3D Studio File Toolkit (1996)."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tds_writer as tds
from tds_writer import CORNERS, NO_PARENT

import skinpy

from . import Case
from ._files import has_faces

TITLE = "3D Studio"
Check = Callable[[Any], None]
CURVED = [(0, (0, 0, 0)), (10, (1, 0, 0)), (20, (0, 0, 0))]


def one(
    played: Check | None,
    *codes: str,
    objects: Sequence[bytes] = (),
    nodes: Sequence[bytes] = (),
    images: bool = False,
) -> Case:
    texture = skinpy.character().materials[0].texture
    assert texture is not None
    beside = {"wood.png": bytes(texture.data)} if images else {}
    return Case({"a.3ds": tds.file(objects or [triangle()], nodes), **beside}, played=played, codes=codes)


def triangle(*more: bytes, faces: Sequence[Sequence[int]] = ((0, 1, 2),), **options: Any) -> bytes:
    return tds.mesh("a", CORNERS, faces, *more, **options)


def node(*tracks: bytes, **options: Any) -> list[bytes]:
    return [tds.node("a", 0, NO_PARENT, *(tracks or tds.still()), **options)]


def stands_at(*to: float) -> Check:
    def check(model: Any) -> None:
        got = model.deform(model.pose(), normals=False)[0]
        x, y, z = np.asarray(to)
        assert np.allclose(got.min(axis=0), (x, z, -y - 1), atol=1e-5), got

    return check


def x_at(time: float, want: float) -> Check:
    def check(model: Any) -> None:
        assert abs(model.globals(0, time)[1][0, 3] - want) < 1e-5

    return check


def turns_in_order(model: Any) -> None:
    """A quarter about x, then one about z, both clockwise: y goes to -z, which stays."""
    got = model.globals(0, 0.8)[1][:3, 1]
    assert np.allclose(got, (0, -1, 0), atol=1e-5), got


def has_names(*names: str) -> Check:
    def check(model: Any) -> None:
        assert model.skeleton.names == ("<3DSRoot>", *names)

    return check


def has_uvs(model: Any) -> None:
    assert {tuple(uv) for uv in model.mesh.uvs.tolist()} == {(0, 1), (0.5, 1), (0, 0.25)}


def has_color(model: Any) -> None:
    assert model.materials[0].base_color == (1, 0, 0, 1)


def has_texture(model: Any) -> None:
    assert model.materials[0].texture is not None


def is_hidden(model: Any) -> None:
    assert not model.mesh.submeshes[0].visible


def is_smooth(model: Any) -> None:
    """Both faces have the normals of neither where they meet."""
    normals = model.mesh.normals[np.isclose(model.mesh.positions[:, [0, 2]], 0).all(axis=1)]
    assert np.allclose(np.abs(normals @ (0, 0, 1)), 0.5**0.5, atol=1e-5)


def folded() -> bytes:
    points = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (0, 0, 1)]
    return tds.mesh("a", points, [(0, 2, 1), (0, 1, 3)], tds.smoothing([1, 1]))


def painted(*more: bytes) -> list[bytes]:
    return [tds.material("red", (255, 0, 0), *more), triangle(tds.painted("RED", [0]))]


def roll() -> bytes:
    return tds.node("eye", 1, NO_PARENT, tds.track(0xB024, [(0, (0,)), (9, (90,))]), kind=0xB003)


def target() -> bytes:
    return tds.node("eye", 1, NO_PARENT, tds.places(*CURVED), kind=0xB004)


QUARTERS = [(0, (0, 0, 0, 1)), (10, (np.pi / 2, 1, 0, 0)), (20, (np.pi / 2, 0, 0, 1))]
FAR = [(0, (0, 0, 0, 1)), (10, (4, 1, 0, 0)), (20, (1, 1, 0, 0))]
KEYS = tds.places((0, (0, 0, 0)), (25, (2, 0, 0)))
TREE = [*node(), tds.node("b", 7, 0, *tds.still()), tds.node("$$$DUMMY", 3, 7, *tds.still(), instance="c")]

CASES = {
    "meshes": lambda: one(has_faces(1)),
    "axes": lambda: one(stands_at(0, 0, 0), "axes_converted"),
    "faces of vertices that do not exist": lambda: one(
        has_faces(1), "faces_dropped", objects=[triangle(faces=[(0, 1, 2), (0, 1, 9)])]
    ),
    "a mesh without faces": lambda: one(None, "meshes_dropped", objects=[triangle(faces=[])]),
    "texture coordinates": lambda: one(has_uvs, objects=[triangle(uvs=[(0, 0), (0.5, 0), (0, 0.75)])]),
    "smoothing groups": lambda: one(is_smooth, objects=[folded()]),
    "color and opacity of a material": lambda: one(has_color, objects=painted()),
    "texture of the color": lambda: one(has_texture, objects=painted(tds.texture("wood.png")), images=True),
    "a texture that does not exist": lambda: one(
        has_color, "textures_missing", objects=painted(tds.texture("gone.png"))
    ),
    "specular and emissive color": lambda: one(
        has_color, "looks_ignored", objects=painted(tds.chunk(0xA030, tds.chunk(0x11, bytes((9, 9, 9)))))
    ),
    "other textures of a material": lambda: one(
        has_color, "looks_ignored", objects=painted(tds.chunk(0xA230, tds.chunk(0xA300, b"bump.png\0")))
    ),
    "cameras and lights": lambda: one(
        has_faces(1),
        "cameras_lights_ignored",
        objects=[triangle(), tds.chunk(0x4000, b"sun\0", tds.chunk(0x4600))],
    ),
    "hidden objects": lambda: one(
        is_hidden, objects=[tds.chunk(0x4000, b"a\0", tds.chunk(0x4010), triangle()[8:])]
    ),
    "the tree of nodes": lambda: one(has_names("a", "b", "c"), nodes=TREE),
    "matrices of meshes and pivots of nodes": lambda: one(
        stands_at(4, 0, -2), nodes=node(*tds.still((5, 0, 0)), pivot=(1, 0, 2))
    ),
    "keys of positions and scales: tension, continuity, bias": lambda: one(
        x_at(0.2, 0.625), "ticks_per_second_assumed", nodes=node(tds.places(*CURVED))
    ),
    "keys of rotations: tension, continuity, bias": lambda: one(
        turns_in_order, nodes=node(*tds.still()[:1], tds.turns(*QUARTERS))
    ),
    "keys of more than 180 degrees among other rotation keys": lambda: one(
        x_at(0.8, 0), "interpolation_ignored", nodes=node(*tds.still()[:1], tds.turns(*FAR))
    ),
    "ease of keys": lambda: one(
        x_at(1, 2),
        "interpolation_ignored",
        nodes=node(tds.places((0, (0, 0, 0)), (25, (2, 0, 0)), curve=(0, 0, 0, 1, 0))),
    ),
    "keys that hide an object": lambda: one(
        x_at(1, 2), "visibility_ignored", nodes=node(KEYS, tds.track(0xB029, [(0, ())]))
    ),
    "keys that morph an object": lambda: one(
        x_at(1, 2), "morph_targets_dropped", nodes=node(KEYS, tds.track(0xB026, [(0, ()), (9, ())]))
    ),
    "keys of the roll of a camera": lambda: one(x_at(1, 2), "channels_dropped", nodes=[*node(KEYS), roll()]),
    "keys of the target of a camera or a light": lambda: one(
        x_at(1, 2), "channels_dropped", nodes=[*node(KEYS), target()]
    ),
}
