"""B3D, MilkShape, SMD and .x where Assimp reads them otherwise than their programs, in small files.

The truth is NumPy in float64 from each format's definition. B3D and .x are left-handed, and z becomes -z.
"""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from test_import import codes, load

Array = Any
Keys = Sequence[tuple[float, Sequence[float]]]
EXACT = 2e-5  # float32 matrices and keys of numbers up to 20, over a few products
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])
CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.5), (0.0, 2.0, 1.0))


def move(to: Sequence[float]) -> Array:
    out = np.eye(4)
    out[:3, 3] = to
    return out


def scale(by: Sequence[float]) -> Array:
    return np.diag([*by, 1.0])


def turn(axis: int, angle: float) -> Array:
    out = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out[i, i] = out[j, j] = np.cos(angle)
    out[j, i] = np.sin(angle)
    out[i, j] = -out[j, i]
    return out


def euler(angles: Sequence[float]) -> Array:
    """About x first, then y, then z."""
    x, y, z = (turn(axis, angle) for axis, angle in enumerate(angles))
    return z @ y @ x


def place(matrix: Array, points: Array) -> Array:
    return np.asarray(points, np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def deformed(model: Any, time: float | None) -> Array:
    """Positions at a time of the first clip; None: at rest."""
    pose = model.pose() if time is None else model.pose(0, time)
    return model.deform(pose, normals=False)[0]


# ---- B3D -----------------------------------------------------------------------------------------------


def chunk(tag: str, body: bytes) -> bytes:
    return tag.encode() + struct.pack("<I", len(body)) + body


def b3d(*nodes: bytes) -> bytes:
    return chunk("BB3D", struct.pack("<i", 1) + b"".join(nodes))


def b3d_node(
    name: str,
    *inside: bytes,
    at: Sequence[float] = (0, 0, 0),
    size: Sequence[float] = (1, 1, 1),
    quaternion: Sequence[float] = (1, 0, 0, 0),
) -> bytes:
    """The quaternion is w, x, y, z."""
    head = name.encode() + b"\0" + struct.pack("<10f", *at, *size, *quaternion)
    return chunk("NODE", head + b"".join(inside))


def b3d_mesh(points: Sequence[Sequence[float]] = CORNERS) -> bytes:
    vertices = struct.pack("<3i", 0, 0, 0) + np.asarray(points, "<f4").tobytes()
    faces = struct.pack("<i", -1) + np.arange(len(points), dtype="<i4").tobytes()
    return chunk("MESH", struct.pack("<i", -1) + chunk("VRTS", vertices) + chunk("TRIS", faces))


def b3d_bone(*weights: tuple[int, float]) -> bytes:
    return chunk("BONE", b"".join(struct.pack("<if", *one) for one in weights))


ALL = tuple((vertex, 1.0) for vertex in range(3))


def b3d_keys(*keys: tuple[int, Sequence[float]]) -> bytes:
    """Of the translation."""
    return chunk(
        "KEYS", struct.pack("<i", 1) + b"".join(struct.pack("<i3f", frame, *to) for frame, to in keys)
    )


def b3d_anim(frames: int = 10, rate: float = 10.0) -> bytes:
    return chunk("ANIM", struct.pack("<iif", 0, frames, rate))


def flipped(points: Array) -> Array:
    return np.asarray(points, np.float64) * (1, 1, -1)


def test_b3d_vertices_are_in_the_space_of_the_node_that_holds_the_mesh() -> None:
    keys = b3d_keys((0, (0, 1, 0)), (10, (0, 3, 1)))
    bone = b3d_node("bone", b3d_bone(*ALL), keys, at=(0, 1, 0))
    inner = b3d_node("mesh", b3d_mesh(), b3d_anim(), bone, at=(10, 0, 3), size=(2, 2, 0.5))
    model = load(b3d(b3d_node("root", inner, at=(0, -1, 4))), "b3d")
    mesh = move((0, -1, 4)) @ move((10, 0, 3)) @ scale((2, 2, 0.5))
    assert np.allclose(deformed(model, None), flipped(place(mesh, CORNERS)), atol=EXACT)
    moved = place(mesh @ move((0, 2, 1)), CORNERS)
    assert np.allclose(deformed(model, 1.0), flipped(moved), atol=EXACT)


def bone_at(name: str, to: Sequence[float], *weights: tuple[int, float]) -> bytes:
    """A bone that goes within ten frames from where it is at rest to another place."""
    return b3d_node(name, b3d_bone(*weights), b3d_keys((0, (0, 1, 0)), (10, to)), at=(0, 1, 0))


def test_b3d_vertices_of_a_bone_are_those_of_its_own_mesh() -> None:
    far = np.add(CORNERS, (5, 0, 0))
    one = b3d_node("one", b3d_mesh(), bone_at("a", (0, 3, 0), *ALL))
    two = b3d_node("two", b3d_mesh(far), bone_at("b", (4, 1, 0), *ALL), at=(0, 0, 2))
    model = load(b3d(b3d_node("root", b3d_anim(), one, two)), "b3d")
    wanted = [*np.add(CORNERS, (0, 2, 0)), *np.add(far, (4, 0, 2))]
    assert np.allclose(deformed(model, 1.0), flipped(wanted), atol=EXACT)
    inner = b3d_node("inner", b3d_mesh(far))  # its mesh ends with it: the bone behind it is of the outer one
    model = load(b3d(b3d_node("outer", b3d_mesh(), b3d_anim(), inner, bone_at("a", (0, 3, 0), *ALL))), "b3d")
    assert np.allclose(
        deformed(model, 1.0), flipped([*np.add(CORNERS, (0, 2, 0)), *far]), atol=EXACT
    )  # and the one beside its mesh is of the last mesh
    beside = b3d_node("root", b3d_anim(), b3d_node("mesh", b3d_mesh()), bone_at("a", (0, 3, 0), *ALL))
    assert np.allclose(
        deformed(load(b3d(beside), "b3d"), 1.0), flipped(np.add(CORNERS, (0, 2, 0))), atol=EXACT
    )


def test_b3d_more_than_256_nodes_and_more_than_four_weights() -> None:
    crowd = [b3d_node(f"j{i}", at=(i, 0, 0)) for i in range(300)]
    bones = [bone_at(f"b{i}", (0, 1 + i, 0), *((vertex, 0.2) for vertex in range(3))) for i in range(5)]
    file = b3d(b3d_node("mesh", b3d_mesh(), b3d_anim(), *crowd, *bones))
    model = load(file, "b3d", max_influences=8)
    assert {model.skeleton.names[joint] for joint in model.skin.joints} == {f"b{i}" for i in range(5)}
    assert np.allclose(deformed(model, 1.0), flipped(np.add(CORNERS, (0, 2, 0))), atol=EXACT)
    assert "influences_dropped" in codes(load(file, "b3d"))


def test_b3d_weights_of_vertices_that_do_not_exist_are_lost() -> None:
    one = b3d_node("one", b3d_mesh(), bone_at("a", (0, 3, 0), *ALL))
    two = b3d_node("two", b3d_mesh(), bone_at("b", (4, 1, 0), *ALL, (3, 1.0)))
    model = load(b3d(b3d_node("root", b3d_anim(), one, two)), "b3d")
    assert "weights_dropped" in codes(model)
    wanted = [*np.add(CORNERS, (0, 2, 0)), *np.add(CORNERS, (4, 0, 0))]
    assert np.allclose(deformed(model, 1.0), flipped(wanted), atol=EXACT)


def test_b3d_animations_of_one_rate_are_one_clip() -> None:
    keys = b3d_keys((0, (0, 0, 0)), (10, (0, 3, 0)))
    one = b3d_node("one", b3d_mesh(), b3d_anim(), keys)
    model = load(b3d(b3d_node("root", one, b3d_node("two", b3d_anim(), keys))), "b3d")
    assert len(model.clips) == 1 and model.clips[0].duration == 1
    for name in ("one", "two"):
        assert np.allclose(model.globals(0, 1.0)[model.skeleton.index(name)], move((0, 3, 0)), atol=EXACT)
    assert "channels_dropped" not in codes(model)
    other = b3d_node("two", b3d_anim(rate=25), keys)
    for file in (b3d(b3d_node("root", one, other)), b3d(b3d_node("one", b3d_mesh(), keys))):
        model = load(file, "b3d")
        assert len(model.clips) == 0 and "channels_dropped" in codes(model)


def test_b3d_rate_0_is_60() -> None:
    keys = b3d_keys((0, (0, 0, 0)), (60, (0, 3, 0)))
    model = load(b3d(b3d_node("mesh", b3d_mesh(), b3d_anim(60, 0), keys)), "b3d")
    assert model.clips[0].duration == 1 and model.clips[0].ticks_per_second == 60
    assert "ticks_per_second_assumed" not in codes(model)


# ---- MilkShape -------------------------------------------------------------------------------------------


class Joint:
    """Rest angles and place, and keys (seconds, numbers) of both within it."""

    def __init__(
        self,
        name: str,
        parent: str = "",
        angles: Sequence[float] = (0, 0, 0),
        at: Sequence[float] = (0, 0, 0),
        turns: Keys = (),
        moves: Keys = (),
    ) -> None:
        self.name, self.parent = name, parent
        self.rest = move(at) @ euler(angles)
        self.turns, self.moves = turns, moves
        self.bytes = struct.pack(
            "<B32s32s6fHH", 0, name.encode(), parent.encode(), *angles, *at, len(turns), len(moves)
        ) + b"".join(struct.pack("<4f", time, *key) for time, key in (*turns, *moves))

    def posed(self, key: int) -> Array:
        """MilkShape: the rest pose, and within it the key."""
        return self.rest @ move(self.moves[key][1]) @ euler(self.turns[key][1])


def ms3d(joints: Sequence[Joint], bones: Sequence[int], tail: bytes = b"", points: Array = CORNERS) -> bytes:
    """Triangles of three points each in one group; bones: the joint of each point."""
    count = len(points) // 3
    out = b"MS3D000000" + struct.pack("<iH", 4, len(points))
    for point, bone in zip(points, bones, strict=True):
        out += struct.pack("<B3fbB", 0, *point, bone, 1)
    out += struct.pack("<H", count)
    for face in range(count):
        out += struct.pack("<4H15f2B", 0, *range(3 * face, 3 * face + 3), *[0, 0, 1] * 3, *[0.0] * 6, 1, 0)
    out += struct.pack("<HB32sH", 1, 0, b"group", count) + np.arange(count, dtype="<u2").tobytes()
    out += struct.pack("<bHffiH", -1, 0, 24.0, 0.0, 30, len(joints))
    return out + b"".join(joint.bytes for joint in joints) + tail


def two_joints() -> list[Joint]:
    return [
        Joint(
            "a",
            "",
            (0.3, -0.5, 0.8),
            (1, 2, 3),
            ((0, (0, 0, 0)), (1, (0.4, 0.1, -0.3))),
            ((0, (0, 0, 0)), (1, (1, 2, 3))),
        ),
        Joint(
            "b",
            "a",
            (-0.2, 0.6, 0.1),
            (0, 1, 0),
            ((0, (0, 0, 0)), (1, (0, 0.9, 0))),
            ((0, (0, 0, 0)), (1, (0, 0.5, 1))),
        ),
    ]


def skins(joints: Sequence[Joint]) -> list[Array]:
    """What a and b do to a vertex, at their last key."""
    a, b = joints
    return [
        a.posed(-1) @ np.linalg.inv(a.rest),
        a.posed(-1) @ b.posed(-1) @ np.linalg.inv(a.rest @ b.rest),
    ]


def test_ms3d_keys_move_within_the_rest_pose() -> None:
    joints = two_joints()
    model = load(ms3d(joints, (0, 1, 1)), "ms3d")
    assert np.allclose(deformed(model, None), CORNERS, atol=EXACT)
    a = model.skeleton.index("a")
    assert np.allclose(model.globals(0, 1.0)[a], joints[0].posed(-1), atol=EXACT)
    matrices = skins(joints)
    wanted = [place(matrices[bone], point) for point, bone in zip(CORNERS, (0, 1, 1), strict=True)]
    assert np.allclose(deformed(model, 1.0), wanted, atol=EXACT)
    assert "numbers_repaired" not in codes(model)
    assert model.clips[0].duration == pytest.approx(1.0)


Weights = Sequence[tuple[Sequence[int], Sequence[int]]]  # of each vertex: three joints, three weights


def ms3d_tail(version: int, weights: Weights, comments: Sequence[bytes] = ()) -> bytes:
    """Comments of the first group and of the model, then what MilkShape 1.8 has for each vertex."""
    out = struct.pack("<iI", 1, len(comments))
    out += b"".join(struct.pack("<iI", 0, len(text)) + text for text in comments)
    out += struct.pack("<III", 0, 0, bool(comments))
    if comments:
        out += struct.pack("<I", len(comments[0])) + comments[0]
    more = bytes(4 * (version - 1))
    return (
        out + struct.pack("<i", version) + b"".join(struct.pack("<3b3B", *a, *b) + more for a, b in weights)
    )


NOBODY = (-1, -1, -1)


@pytest.mark.parametrize("comments", [(), (b"hi", b"", b"a longer comment by its author")])
@pytest.mark.parametrize(("version", "whole"), [(1, 255), (2, 100), (3, 100)])
def test_ms3d_weights(version: int, whole: int, comments: Sequence[bytes]) -> None:
    part = whole // 5
    weights: Weights = [
        (NOBODY, (0, 0, 0)),  # none: all of it follows b
        ((1, -1, -1), (3 * part, whole - 3 * part, 0)),
        ((0, 0, 0), (part, 0, 0)),  # the fourth has what is left
    ]
    joints = two_joints()
    model = load(ms3d(joints, (1, 0, 1), ms3d_tail(version, weights, comments)), "ms3d")
    a, b = skins(joints)
    wanted = [
        place(b, CORNERS[0]),
        0.6 * place(a, CORNERS[1]) + 0.4 * place(b, CORNERS[1]),
        0.2 * place(b, CORNERS[2]) + 0.8 * place(a, CORNERS[2]),
    ]
    assert np.allclose(deformed(model, 1.0), wanted, atol=EXACT)
    assert np.allclose(deformed(model, None), CORNERS, atol=EXACT)
    assert not codes(model)


def test_ms3d_weights_that_cannot_be_read_are_lost() -> None:
    joints = two_joints()
    weights: Weights = [((1, -1, -1), (60, 40, 0))] * 3
    whole = ms3d_tail(2, weights, (b"a comment",))
    plain = load(ms3d(joints, (0, 0, 1)), "ms3d")
    for tail in (
        whole[:-1],
        whole[:20],
        ms3d_tail(2, ())[:-4] + struct.pack("<i", 4) + bytes(90),
        b"\xff" * 9,
    ):
        model = load(ms3d(joints, (0, 0, 1), tail), "ms3d")
        assert "weights_dropped" in codes(model)
        assert np.array_equal(deformed(model, 1.0), deformed(plain, 1.0))
    for tail in (b"\1", ms3d_tail(2, ())[:-4], struct.pack("<i", 1) + bytes(16)):
        assert not codes(load(ms3d(joints, (0, 0, 1), tail), "ms3d"))


def test_ms3d_vertices_without_joint_follow_the_mesh() -> None:
    joints = two_joints()
    weights: Weights = [((1, 1, 1), (60, 40, 0))] * 3
    model = load(ms3d(joints, (-1, 0, 1), ms3d_tail(2, weights)), "ms3d")
    a, b = skins(joints)
    wanted = [CORNERS[0], 0.6 * place(a, CORNERS[1]) + 0.4 * place(b, CORNERS[1]), place(b, CORNERS[2])]
    assert np.allclose(deformed(model, 1.0), wanted, atol=EXACT)
    assert "vertices_unweighted" in codes(model)
    rigid = load(ms3d(joints, NOBODY, ms3d_tail(2, weights)), "ms3d")
    assert np.allclose(deformed(rigid, 1.0), CORNERS, atol=EXACT)


# ---- SMD -----------------------------------------------------------------------------------------------

Row = tuple[int, Sequence[float]]  # a joint's number, its place and its angles
REST: Row = (0, (1, 2, 3, 0.3, -0.5, 0.8))
CHILD: Row = (1, (0, 1, 0, -0.2, 0.6, 0.1))


def smd(*frames: tuple[int, Sequence[Row]], material: str = "wood.bmp", mesh: bool = True) -> str:
    """Two joints a and b; a triangle that follows a, b and b."""
    out = 'version 1\nnodes\n0 "a" -1\n1 "b" 0\nend\nskeleton\n'
    for time, rows in frames:
        out += f"time {time}\n"
        out += "".join(f"{joint} {' '.join(f'{n:.6f}' for n in numbers)}\n" for joint, numbers in rows)
    out += "end\n"
    if mesh:
        vertices = zip((0, 1, 1), CORNERS, strict=True)
        rows_of = (f"{joint} {' '.join(f'{n:.6f}' for n in point)} 0 0 1 0 0\n" for joint, point in vertices)
        out += f"triangles\n{material}\n{''.join(rows_of)}end\n"
    return out


def smd_local(row: Row) -> Array:
    return move(row[1][:3]) @ euler(row[1][3:])


TURNED: Row = (1, (0, 2, 0, -0.2, 0.9, 0.4))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_smd_comments_within_sections(newline: str) -> None:
    plain = smd((0, (REST, CHILD)), (10, (REST, TURNED)))
    file = plain
    for word in ("version 1", "nodes", '0 "a" -1', '1 "b" 0', "skeleton", "time 10", "triangles", "end"):
        file = file.replace(f"{word}\n", f"// {word} before\n{word}\n// {word} behind\n")
    file = file.replace("wood.bmp\n", "wood.bmp\n// of the first vertex\n")
    model, same = (load(text.replace("\n", newline).encode(), "smd") for text in (file, plain))
    assert model.skeleton.names == same.skeleton.names == ("<SMD_root>", "a", "b")
    assert np.array_equal(deformed(model, 0.4), deformed(same, 0.4))
    b = smd_local(REST) @ smd_local(TURNED)
    assert np.allclose(model.globals(0, 0.4)[2], b, atol=EXACT)


@pytest.mark.parametrize("name", ["my wood.bmp", "  a  b\tc.bmp ", "end of wood.bmp"])
def test_smd_names_of_materials_have_blanks(name: str) -> None:
    frames = ((0, (REST, CHILD)),)
    model = load(smd(*frames, material=name).encode(), "smd")
    assert np.allclose(model.mesh.positions, CORNERS, atol=EXACT)
    missing = next(entry for entry in model.report if entry.code == "textures_missing")
    assert missing.first == f"'{name.strip().replace(chr(9), ' ')}'"


@pytest.mark.parametrize("first", [-4, 5])
def test_smd_time_0_is_that_of_the_file(first: int) -> None:
    model = load(smd((first, (REST, CHILD)), (first + 10, (REST, TURNED)), mesh=False).encode(), "smd")
    clip = model.clips[0]
    assert clip.duration == pytest.approx((first + 10) / 25)
    assert np.allclose(clip.channels[0].times, [first / 25, (first + 10) / 25])
    halfway = model.globals(0, (first + 5) / 25)[model.skeleton.index("b")]
    assert np.allclose(halfway[:3, 3], (smd_local(REST) @ (0, 1.5, 0, 1))[:3], atol=EXACT)


def test_smd_has_no_rate_and_turns_no_axes() -> None:
    model = load(smd((0, (REST, CHILD)), (10, (REST, TURNED)), mesh=False).encode(), "smd")
    assert codes(model) == {"ticks_per_second_assumed"}
    assert model.clips[0].ticks_per_second == 25


# ---- .x ------------------------------------------------------------------------------------------------


def x_matrix(matrix: Array) -> str:
    """Row vectors: its columns one after another."""
    return ",".join(f"{value:.6f}" for value in np.asarray(matrix).T.reshape(-1))


def x_keys(joint: str, keys: Sequence[tuple[int, Array]], kind: int) -> str:
    rows = ",".join(f"{time};16;{x_matrix(matrix)};;" for time, matrix in keys)
    return f"Animation {{ {{{joint}}} AnimationKey {{ {kind}; // matrices\n {len(keys)}; {rows}; }} }}\n"


def x_file(a: Sequence[tuple[int, Array]], b: Sequence[tuple[int, Array]], kind: int = 4) -> bytes:
    """Frames a > b, and the keys of both: 30 ticks in a second."""
    mesh = "Mesh m { 3; 0.0;0.0;0.0;, 1.0;0.0;0.0;, 0.0;2.0;1.0;; 1; 3;0,1,2;; }"
    frame = f"Frame b {{ FrameTransformMatrix {{ {x_matrix(b[0][1])};; }} }}"
    return (
        f"xof 0303txt 0032\nFrame a {{ FrameTransformMatrix {{ {x_matrix(a[0][1])};; }} {mesh} {frame} }}\n"
        "AnimTicksPerSecond { 30; }\n"
        f"AnimationSet s {{ {x_keys('a', a, kind)} {x_keys('b', b, kind)} }}\n"
    ).encode()


A = [
    (0, move((1, 2, 3)) @ euler((0.3, 0, 0.5))),
    (30, move((2, 2, 3)) @ euler((0.3, 0, 0.9)) @ scale((2, 1, 1))),
]
MIRRORED = [scale((1, 1, -1)), euler((0.3, 0.7, -2)) @ scale((2, -1, 0.5)), scale((-1, -2, -3))]


@pytest.mark.parametrize("kind", [3, 4])
@pytest.mark.parametrize("mirrored", MIRRORED)
def test_x_matrix_keys_may_mirror(mirrored: Array, kind: int) -> None:
    b = [
        (0, move((0, 1, 0)) @ turn(1, -0.7)),
        (15, move((0, 1, 1)) @ mirrored),
        (30, move((1, 1, 1)) @ mirrored),
    ]
    model = load(x_file(A, b, kind), "x")
    for time, outer, inner in ((0, A[0][1], b[0][1]), (30, A[1][1], b[2][1])):
        globals_ = model.globals(0, time / 30)
        assert np.allclose(globals_[model.skeleton.index("a")], MIRROR @ outer @ MIRROR, atol=EXACT)
        assert np.allclose(globals_[model.skeleton.index("b")], MIRROR @ outer @ inner @ MIRROR, atol=EXACT)
    assert not {"matrix_keys_lost", "rotations_normalized"} & codes(model)


def test_x_matrix_keys_that_shear_are_lost() -> None:
    sheared = np.eye(4)
    sheared[0, 1] = 0.8
    for matrix in (sheared, MIRRORED[0] @ sheared):
        b = [(0, np.eye(4)), (30, matrix)]
        assert "matrix_keys_lost" in codes(load(x_file(A, b), "x"))
    assert "matrix_keys_lost" not in codes(load(x_file(A, A), "x"))


def awkward() -> dict[str, bytes]:
    """A file of each format for which all that skinpy does itself is needed."""
    weights: Weights = [((1, -1, -1), (60, 40, 0))] * 3
    parts = [
        b3d_node(name, b3d_mesh(), b3d_anim(), bone_at(f"bone of {name}", (0, 3, 0), *ALL))
        for name in ("one", "two")
    ]
    text = smd((5, (REST, CHILD)), (10, (REST, TURNED)), material="my wood.bmp")
    return {
        "b3d": b3d(b3d_node("root", *parts)),
        "ms3d": ms3d(two_joints(), (0, 1, 1), ms3d_tail(2, weights, (b"a comment",))),
        "smd": text.replace("nodes\n", "nodes\n// comment\n").encode(),
        "x": x_file(A, [(0, MIRRORED[0]), (30, MIRRORED[1])]),
    }
