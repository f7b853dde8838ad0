"""MD5 of Doom 3, version 10."""

from collections.abc import Sequence
from typing import Any

import import_cases as cases
import numpy as np

import skinpy

from . import Case

TITLE = "MD5"
STILL = (0.0, 0.0, 0.0)
JOINTS = [("hip", -1, STILL, STILL), ("knee", 0, (0.0, 0.0, 2.0), STILL)]
TRIANGLE = [[(0, 1.0, STILL)], [(0, 1.0, (1.0, 0.0, 0.0))], [(1, 1.0, (0.0, 0.0, 1.0))]]
BASE = [(STILL, STILL), ((0.0, 0.0, 2.0), STILL)]
MOVES = [("hip", -1, 0, 0), ("knee", 0, 4, 0)]  #: z of the knee is in the frames


def mesh(vertices: Any = TRIANGLE, joints: Any = JOINTS, shader: bytes = b"wood.png") -> bytes:
    return cases.md5_mesh(joints, vertices, [(0, 1, 2)]).replace(b'"skin"', b'"%s"' % shader)


def motion(
    joints: Any = MOVES, base: Any = BASE, frames: Sequence[Sequence[float]] = ((2.0,), (5.0,))
) -> bytes:
    return cases.md5_anim(joints, base, frames)


def image() -> bytes:
    texture = skinpy.character().materials[0].texture
    assert texture is not None
    return bytes(texture.data)


def one(
    model: bytes, *codes: str, played: Any = None, beside: bytes | None = None, texture: str = "wood.png"
) -> Case:
    files = {"a.md5mesh": model, texture: image()}
    return Case(files if beside is None else files | {"a.md5anim": beside}, played, codes)


def knee_at(height: float, time: float = 0.25) -> Any:
    """Z of the file is Y of the model."""

    def check(model: Any) -> None:
        where = model.globals(0, time)[model.skeleton.names.index("knee"), :3, 3]
        assert np.allclose(where, (0, height, 0), atol=1e-6)

    return check


def rests(model: Any) -> None:
    place = model.skeleton.rest_global[model.skeleton.index("knee"), :3, 3]
    assert np.allclose(place, (0, 2, 0), atol=1e-6)
    rest = model.deform(model.pose())[0]
    assert np.allclose(rest, [(0, 0, 0), (1, 0, 0), (0, 3, 0)], atol=1e-6)


def follows(model: Any) -> None:
    moved = model.deform(model.pose(0, 0.25))[0]
    assert np.allclose(moved, [(0, 0, 0), (1, 0, 0), (0, 6, 0)], atol=1e-6)


def is_textured(model: Any) -> None:
    assert model.materials[0].texture.data == image()


def has_uvs(model: Any) -> None:
    """Both count from the top of the image."""
    assert np.allclose(model.mesh.uvs[1], (0.25, 0.75), atol=1e-6)


def has_two_meshes(model: Any) -> None:
    assert [one.name for one in model.mesh.submeshes] == ["wood.png.msh", "wood.png.msh"]


def both_move(model: Any) -> None:
    assert np.allclose(model.globals(0, 0.25)[-1, :3, 3], (0, 5, 0), atol=1e-6)


def first_moves(model: Any) -> None:
    assert np.allclose(model.globals(0, 0.25)[model.skeleton.index("hip"), :3, 3], (0, 5, 0), atol=1e-6)


def twice() -> bytes:
    text = mesh()
    return text + text[text.index(b"mesh {") :]


def twins(second: str = "hip") -> list[tuple[Any, ...]]:
    return [JOINTS[0], (second, *JOINTS[1][1:])]


CASES = {
    "joints and their rest pose": lambda: one(mesh(), played=rests),
    "weights": lambda: one(mesh(), played=follows, beside=motion()),
    "texture coordinates": lambda: one(mesh().replace(b"1 ( 0.0 0.0 )", b"1 ( 0.25 0.75 )"), played=has_uvs),
    "several meshes": lambda: one(twice(), played=has_two_meshes),
    "a shader that is an image": lambda: one(mesh(), played=is_textured),
    "a shader that is a material": lambda: one(
        mesh(shader=b"wood"), played=is_textured, texture="wood_d.tga"
    ),
    "a shader whose image does not exist": lambda: one(mesh(shader=b"gone"), "textures_missing"),
    "weights that do not sum to 1": lambda: one(
        mesh([[(0, 0.5, STILL)], *TRIANGLE[1:]]), "weights_normalized", played=rests
    ),
    "weights that give a vertex different positions at rest": lambda: one(
        mesh([[(0, 0.5, (-1.0, 0.0, 0.0)), (1, 0.5, (1.0, 0.0, -2.0))], *TRIANGLE[1:]]),
        "weight_positions_lost",
        played=rests,
    ),
    "weights that a vertex refers to and the file does not have": lambda: one(
        mesh().replace(b") 2 1", b") 2 2"), "weights_dropped", played=rests
    ),
    "weights of joints that do not exist": lambda: one(
        mesh([[(0, 0.5, STILL), (7, 0.5, STILL)], *TRIANGLE[1:]]), "joint_index_out_of_range", played=rests
    ),
    "faces of vertices that do not exist": lambda: one(
        mesh().replace(b"numtris 1", b"numtris 2\n\ttri 1 0 1 9"), "faces_dropped", played=rests
    ),
    "the motion of the same name beside the mesh": lambda: one(mesh(), played=knee_at(5), beside=motion()),
    "a motion alone": lambda: Case({"a.md5anim": motion()}, knee_at(5)),
    "joints that no frame moves": lambda: one(
        mesh(),
        played=knee_at(4),
        beside=motion([*MOVES[:1], ("knee", 0, 0, 9)], [BASE[0], ((0, 0, 4), STILL)]),
    ),
    "joints of the motion in another order": lambda: one(
        mesh(), played=knee_at(5), beside=motion([("knee", -1, 4, 0), ("hip", -1, 0, 0)], BASE[::-1])
    ),
    "joints of one name": lambda: one(
        mesh(joints=twins()),
        "duplicate_names",
        played=both_move,
        beside=motion([MOVES[0], ("hip", *MOVES[1][1:])]),
    ),
    "joints of one name in another order": lambda: one(
        mesh(joints=[("top", -1, STILL, STILL), *[(one[0], 0, *one[2:]) for one in twins()]]),
        "names_ambiguous",
        played=first_moves,
        beside=motion([("hip", -1, 4, 0)], BASE[:1]),
    ),
    "joints of the motion that the mesh does not have": lambda: one(
        mesh(), "channels_dropped", beside=motion([MOVES[0], ("head", 0, 4, 0)])
    ),
    "another number of frames than `numFrames` says": lambda: one(
        mesh(),
        "frame_count_repaired",
        played=knee_at(5),
        beside=motion().replace(b"numFrames 2", b"numFrames 9"),
    ),
    "frames with too few numbers": lambda: one(
        mesh(), "numbers_repaired", played=knee_at(5, 0.5), beside=motion(frames=[(2.0,), (), (5.0,)])
    ),
    "no frame rate": lambda: one(
        mesh(),
        "ticks_per_second_assumed",
        played=knee_at(5, 0.04),
        beside=motion().replace(b"frameRate 4", b""),
    ),
}
