"""The reader of .iqm: skeleton, skin, frames, vertex arrays of all types, and refusals.

tests/contract/iqm.py has a file for each thing that the format holds. The truth is NumPy in float64 from
iqm.txt.
"""

import struct
from typing import Any

import iqm_writer as iqm
import numpy as np
import pytest
from import_cases import IDENTITY
from iqm_writer import REST, STRIP, Iqm, strip, turned
from test_import import codes, entry, load

import skinpy

Array = Any
STEP = 5e-5  # rotations of 16 bits, on 4 units; weights of 8 bits are exact parts of 255
EXACT = 1e-6
Z_UP = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], float)  # to +Y up


def rotation(q: Array) -> Array:
    x, y, z, w = np.asarray(q, float) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def local(numbers: Array) -> Array:
    """output = (input * scale) * rotation + translation"""
    out = np.reshape(IDENTITY, (4, 4)).astype(float)
    out[:3, :3] = rotation(numbers[3:7]) * np.asarray(numbers[7:], float)
    out[:3, 3] = numbers[:3]
    return out


def in_order(model: Any, points: Array) -> Array:
    """The model's vertices in the order of the file's positions."""
    rest = model.mesh.positions
    return np.array([int(np.abs(rest - point).max(axis=1).argmin()) for point in points])


def test_skeleton_skin_and_clip() -> None:
    model = load(strip().bytes(), "iqm")
    assert model.skeleton.names == ("<IQMRoot>", "a", "b") and model.skeleton.parents.tolist() == [-1, 0, 1]
    assert codes(model) == {"axes_converted", "normals_generated"}
    (clip,) = model.clips
    assert (clip.name, clip.duration, clip.ticks_per_second) == ("turn", 0.5, 10)
    order = in_order(model, STRIP)
    rest = model.deform(model.pose(), normals=False)[0][order]
    assert np.allclose(rest, STRIP @ Z_UP.T, atol=EXACT)
    weights = np.array([0, 0, 127 / 255, 127 / 255, 1, 1])[:, None]
    for frame, half in enumerate(np.linspace(0, np.pi / 4, 6)):
        skin = local(turned(half)) @ np.linalg.inv(local(turned(0)))
        moved = STRIP @ skin[:3, :3].T + skin[:3, 3]
        want = ((1 - weights) * STRIP + weights * moved) @ Z_UP.T
        got = model.deform(model.pose(0, frame / 10), normals=False)[0][order]
        assert np.allclose(got, want, atol=STEP)


def test_joints_stand_depth_first() -> None:
    """Whatever their order in the file is, as long as parents come first."""
    names, parents = "abcdefg", (-1, 0, 0, 1, -1, 2, 1)
    places = [(i, i * i, 1) for i in range(7)]
    joints = [
        (name, parent, (*place, *REST[3:]))
        for name, parent, place in zip(names, parents, places, strict=True)
    ]
    model = load(Iqm(joints=joints).bytes(), "iqm")
    assert model.skeleton.names == ("<IQMRoot>", *"abdgcfe")
    for i, (name, parent) in enumerate(zip(names, parents, strict=True)):
        joint = model.skeleton.index(name)
        above = model.skeleton.parents[joint]
        assert model.skeleton.names[above] == ("<IQMRoot>" if parent < 0 else names[parent])
        assert model.skeleton.rest_local[joint, :3, 3].tolist() == list(places[i])


def test_scale_and_constant_channels() -> None:
    """A channel that does not change has one key; scale comes before rotation."""
    moved = (1, 2, 3, 0, 0, np.sin(0.4), np.cos(0.4), 2, 1, 0.5)
    file = strip(frames=[[REST, turned(0)], [moved, turned(0)]], clips=[("go", 0, 2, 1.0)])
    model = load(file.bytes(), "iqm")
    got = model.globals(0, 1.0)[model.skeleton.index("a")]
    want = local(moved)
    assert np.allclose(got[:3, :3], Z_UP @ want[:3, :3], atol=STEP)
    assert np.allclose(got[:3, 3], Z_UP @ want[:3, 3], atol=STEP)
    assert sorted(len(channel.times) for channel in model.clips[0].channels) == [1, 1, 1, 2, 2, 2]


def test_clips_are_ranges_of_frames() -> None:
    clips = [("first", 0, 3, 10.0), ("second", 2, 4, 5.0), ("one", 5, 1, 10.0)]
    model = load(strip(clips=clips).bytes(), "iqm")
    assert [(clip.name, round(clip.duration, 6)) for clip in model.clips] == [
        ("first", 0.2),
        ("second", 0.6),
        ("one", 0),
    ]
    halves = np.linspace(0, np.pi / 4, 6)
    for name, time, frame in (("first", 0.2, 2), ("second", 0.0, 2), ("second", 0.6, 5), ("one", 0.0, 5)):
        got = model.globals(name, time)[2]
        assert np.allclose(got[:3, :3], Z_UP @ local(turned(halves[frame]))[:3, :3], atol=STEP)


@pytest.mark.parametrize(
    ("kind", "scale"),
    [("i1", 1), ("<i2", 1), ("<i4", 1), ("u1", 1), ("<u2", 1), ("<u4", 1), ("<f2", 1), ("<f8", 1)],
)
def test_positions_of_all_types(kind: str, scale: float) -> None:
    points = STRIP * (3 if kind[-2] in "iu" else 1.25)
    file = strip(arrays=[(iqm.POSITION, kind, points)], frames=(), clips=[])
    model = load(file.bytes(), "iqm")
    assert np.allclose(model.mesh.positions[in_order(model, points)], points, atol=EXACT)


def test_halves() -> None:
    """The largest and the smallest ones."""
    points = np.array([[65504, 6e-8, -1.5], [6.1e-5, -0.1, 0], [1, 2, 3]] * 2, "<f2")
    got = load(
        strip(arrays=[(iqm.POSITION, "<f2", points)], frames=(), clips=[]).bytes(), "iqm"
    ).mesh.positions
    assert {tuple(row) for row in got.tolist()} == {tuple(row) for row in points.astype("f4").tolist()}


@pytest.mark.parametrize("kind", ["u1", "<u2", "<f4"])
def test_attributes(kind: str) -> None:
    parts = {"u1": 255, "<u2": 65535, "<f4": 1}[kind]
    colors = np.linspace(0, 1, 24).reshape(6, 4)
    stored = np.round(colors * parts) if parts > 1 else colors
    uvs = np.linspace(0, 1, 12).reshape(6, 2)
    arrays = [
        *strip().arrays,
        (iqm.TEXCOORD, "<f4", uvs),
        (iqm.NORMAL, "<f4", np.tile([0.6, 0, 0.8], (6, 1))),
        (iqm.TANGENT, "<f4", np.tile([0.8, 0, -0.6, -1], (6, 1))),
        (iqm.COLOR, kind, stored),
        (iqm.CUSTOM, "<f4", np.zeros((6, 1))),
    ]
    model = load(strip(arrays=arrays).bytes(), "iqm")
    order = in_order(model, STRIP)
    assert np.allclose(model.mesh.uvs[order], uvs, atol=EXACT)
    assert np.allclose(model.mesh.normals[order], (0.6, 0, 0.8), atol=EXACT)
    assert np.allclose(model.mesh.tangents[order], (0.8, 0, -0.6, -1), atol=EXACT)
    assert np.allclose(model.mesh.colors[order], stored / parts, atol=EXACT)
    assert codes(model) == {"axes_converted"}


def test_vertices_without_weights_follow_their_first_joint() -> None:
    arrays = [(iqm.POSITION, "<f4", STRIP), (iqm.BLEND_INDEX, "<i4", [[1]] * 6)]
    model = load(strip(arrays=arrays).bytes(), "iqm")
    assert np.allclose(model.mesh.weights[:, 0], 1)
    assert model.skin.joints[model.mesh.slots[:, 0]].tolist() == [model.skeleton.index("b")] * 6


def test_faces_look_outwards() -> None:
    """Front faces are clockwise in the file."""
    points = np.array([(i & 1, i >> 1 & 1, i >> 2) for i in range(8)], float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [(q[0], *q[i : i + 2]) for q in quads for i in (1, 2)]
    file = Iqm(arrays=[(iqm.POSITION, "<f4", points)], meshes=[("box", "", 0, 8, 0, 12)], triangles=faces)
    model = load(file.bytes(), "iqm")
    corners = model.mesh.positions[model.mesh.faces].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert len(normals) == 12 and ((normals * (corners.mean(axis=1) - 0.5)).sum(axis=1) > 0).all()


def test_meshes_and_their_materials() -> None:
    meshes = [("low", "red.png", 0, 4, 0, 2), ("high", "blue.png", 2, 4, 2, 2)]
    model = load(strip(meshes=meshes).bytes(), "iqm")
    assert [(part.name, part.material) for part in model.mesh.submeshes] == [("low", 0), ("high", 1)]
    assert [material.name for material in model.materials] == ["red.png", "blue.png"]
    assert entry(model, "textures_missing").count == 2


def test_frames_without_bytes_take_no_memory() -> None:
    """Nothing moves, so that a frame has no numbers and there may be any number of frames."""
    file = bytearray(strip(frames=[[REST, turned(0)]] * 2, clips=[("still", 0, 4_000_000_000, 10.0)]).bytes())
    struct.pack_into("<I", file, 16 + 4 * 19, 4_000_000_000)
    model = load(bytes(file), "iqm")
    assert model.clips[0].duration == pytest.approx(399_999_999.9)
    assert all(len(channel.times) == 1 for channel in model.clips[0].channels)


def test_shared_rows_count_against_the_limits() -> None:
    meshes = [("", "", 0, 6, 0, 4)] * 1000
    with pytest.raises(skinpy.LimitExceeded, match="vertices"):
        load(strip(meshes=meshes).bytes(), "iqm", limits=skinpy.Limits(vertices=5000))
    clips = [("", 0, 6, 10.0)] * 1000
    with pytest.raises(skinpy.LimitExceeded, match="keys"):
        load(strip(clips=clips).bytes(), "iqm", limits=skinpy.Limits(keys=5000))


@pytest.mark.parametrize(
    ("number", "value", "words"),
    [
        (0, 1, "version is 1; expected 2"),
        (3, 10**9, "1000000000 bytes of names lie beyond the end"),
        (5, 10**9, "1000000000 meshes lie"),
        (6, 2**32 - 1, "1 meshes lie beyond"),
        (8, 3, "vertices or triangles that the file does not have"),
        (10, 2, "vertices or triangles that the file does not have"),
        (13, 10**9, "joints lie"),
        (15, 10**9, "poses lie"),
        (17, 10**9, "animations lie"),
        (19, 2**32 - 1, "frames lie"),
    ],
)
def test_tables_beyond_the_end(number: int, value: int, words: str) -> None:
    file = bytearray(strip().bytes())
    struct.pack_into("<I", file, 16 + 4 * number, value)
    with pytest.raises(skinpy.LoadError, match=words):
        load(bytes(file), "iqm")


def test_other_refusals() -> None:
    with pytest.raises(skinpy.LoadError, match="within its header"):
        load(strip().bytes()[:100], "iqm")
    for parents in ((1, -1), (0, -1), (-1, 7), (-1, 1)):
        joints = [(name, parent, REST) for name, parent in zip("ab", parents, strict=True)]
        with pytest.raises(skinpy.LoadError, match=r"joint \d has a parent that does not stand before it"):
            load(strip(joints=joints).bytes(), "iqm")


def test_weights_of_joints_that_do_not_exist() -> None:
    arrays = [
        (iqm.POSITION, "<f4", STRIP),
        (iqm.BLEND_INDEX, "u1", [[9, 1]] * 6),
        (iqm.BLEND_WEIGHT, "u1", [[9, 246]] * 6),
    ]
    assert entry(load(strip(arrays=arrays).bytes(), "iqm"), "joint_index_out_of_range").count == 6


def test_long_names() -> None:
    model = load(strip(joints=[("x" * 3000, -1, REST), ("b", 0, turned(0))]).bytes(), "iqm")
    assert model.skeleton.names[1] == "x" * 1023 and "names_cut" in codes(model)


def test_rest_poses_that_multiply_beyond_float32() -> None:
    far = (3e38, 3e38, 3e38, 0, 0, 0.7, 0.7, 1e-30, 1, 1)
    model = load(strip(joints=[("a", -1, far), ("b", 0, far)]).bytes(), "iqm")
    assert np.isfinite(model.skin.inverse_bind).all() and "numbers_repaired" in codes(model)
