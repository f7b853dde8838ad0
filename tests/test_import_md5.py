"""MD5 against a NumPy twin in float64.

The format has x, y, z of a unit quaternion; w taken in float32 would be off by up to 5e-4 here. What skinpy
reads must be as exact as float32 keys are: 1e-6 over a chain of three joints.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import import_cases as cases
import numpy as np
import pytest
from test_import import codes, entry, load, rest_positions

import skinpy

EXACT = 1e-6  # half a unit in the last place of float32 for numbers up to 2, over a few products
Z_UP_TO_Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
NAMES = ("hip", "thigh", "arm", "shin")  # not depth first: that would be hip, thigh, shin, arm
PARENTS = (-1, 0, 0, 1)


def turn(axis: Any, w: float) -> Any:
    """x, y, z of a unit quaternion."""
    return np.asarray(axis, np.float64) / np.linalg.norm(axis) * np.sqrt(1.0 - w * w)


def matrix(translation: Any, xyz: Any) -> Any:
    """MD5 counts w negative."""
    x, y, z = xyz
    w = -np.sqrt(max(0.0, 1.0 - x * x - y * y - z * z))
    out = np.eye(4)
    out[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    out[:3, 3] = translation
    return out


REST = (
    ((0.0, 0.0, 1.0), turn((1, 0, 0), 3e-4)),
    ((0.3, 0.0, 0.9), turn((1, 2, -1), 2e-4)),
    ((-0.4, 0.1, 1.5), turn((0, 1, 0), 0.6)),
    ((0.3, 0.2, 0.1), turn((0, 0, 1), 1e-4)),
)
# the arm has no flags: its base frame holds in every frame, wherever its first number would be
BASE = (
    ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ((0.25, -0.5, 0.125), turn((3, 1, 2), 2.5e-4)),
    ((-0.25, 0.5, 1.0), turn((0, 2, 1), 0.5)),
    ((0.0, 0.5, -0.25), (0.0, turn((1, 1, 1), 3e-4)[1], 0.0)),
)
# translation x, y, z, rotation x, y, z from the lowest bit on
JOINTS = (("hip", -1, 63, 0), ("thigh", 0, 0, 0), ("arm", 0, 0, 99), ("shin", 1, 0b101010, 6))


def frames() -> list[list[float]]:
    out = []
    for w in (1e-4, 3e-4, 5e-4, 0.3):
        x, _, z = turn((1, 1, 1), 3e-4)
        hip = [0.1 * w, 1.0, 0.5, *turn((1, -w, 0.2), w)]
        out.append([*hip, 0.75, -x, z])  # y comes from the base frame
    return out


def animated(values: list[float]) -> list[Any]:
    """Each joint's matrix below its parent in one frame."""
    locals_ = [matrix(*BASE[2])] * 4
    locals_[0] = matrix(values[:3], values[3:6])
    locals_[1] = matrix(*BASE[1])
    locals_[3] = matrix((0.0, values[6], -0.25), (values[7], BASE[3][1][1], values[8]))
    return locals_


def below_root(locals_: list[Any]) -> Any:
    out: list[Any] = []
    for parent, local in zip(PARENTS, locals_, strict=True):
        out.append((Z_UP_TO_Y_UP if parent < 0 else out[parent]) @ local)
    return np.array(out)


def expected() -> Any:
    return np.array([below_root(animated(values)) for values in frames()])


POINTS = np.array([[0.3, 0.2, 0.1], [-0.4, 0.6, 1.5], [0.5, 0.5, 0.5], [0.1, -0.9, 0.4]])
INFLUENCES = (((0, 1.0),), ((2, 1.0),), ((1, 0.5), (3, 0.5)), ((3, 0.75), (0, 0.25)))


def mesh_text() -> bytes:
    joints = [(name, parent, *rest) for name, parent, rest in zip(NAMES, PARENTS, REST, strict=True)]
    vertices = [
        [(j, w, (np.linalg.inv(matrix(*REST[j])) @ [*point, 1.0])[:3]) for j, w in influences]
        for point, influences in zip(POINTS, INFLUENCES, strict=True)
    ]
    return cases.md5_mesh(joints, vertices, [(0, 1, 2), (2, 3, 0)])


def anim_text() -> bytes:
    return cases.md5_anim(JOINTS, BASE, frames())


def error_of(model: Any) -> float:
    """Largest element by which the joints differ at the times of the frames."""
    joints = [model.skeleton.index(name) for name in NAMES]
    got = model.globals(model.clips[0], np.arange(4) / 4.0)[:, joints]
    return float(np.abs(got - expected()).max())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "man.md5mesh").write_bytes(mesh_text())
    (tmp_path / "man.md5anim").write_bytes(anim_text())
    return tmp_path


def nearest(points: Any, cloud: Any) -> float:
    return float(np.linalg.norm(points[:, None] - cloud[None], axis=2).min(1).max())


def test_animation_beside_the_mesh(folder: Path) -> None:
    model = load(folder / "man.md5mesh")
    assert error_of(model) <= EXACT
    assert codes(model) <= {"textures_missing", "units_converted", "axes_converted", "normals_generated"}


def test_rest_pose_and_mesh(folder: Path) -> None:
    model = load(folder / "man.md5mesh")
    joints = [model.skeleton.index(name) for name in NAMES]
    rest = np.array([Z_UP_TO_Y_UP @ matrix(*one) for one in REST])
    assert np.abs(model.skeleton.rest_global[joints] - rest).max() <= EXACT
    up = Z_UP_TO_Y_UP[:3, :3]
    assert nearest(rest_positions(model), POINTS @ up.T) <= EXACT
    assert nearest(POINTS @ up.T, rest_positions(model)) <= EXACT  # no point is missing
    moved = []
    for point, influences in zip(POINTS, INFLUENCES, strict=True):
        offsets = [np.linalg.inv(matrix(*REST[j])) @ [*point, 1.0] for j, _ in influences]
        turns = [expected()[2, j] for j, _ in influences]
        weights = [w for _, w in influences]
        moved.append(sum(w * m @ o for w, m, o in zip(weights, turns, offsets, strict=True))[:3])
    got = model.deform(model.pose(model.clips[0], 0.5), normals=False)[0]
    assert nearest(got, np.array(moved)) <= 2 * EXACT


def test_animation_alone(folder: Path) -> None:
    """Its rest pose is the first frame."""
    for source in (folder / "man.md5anim", (folder / "man.md5anim").read_bytes()):
        model = load(source)
        joints = [model.skeleton.index(name) for name in NAMES]
        first = below_root(animated(frames()[0]))
        assert np.abs(model.skeleton.rest_global[joints] - first).max() <= EXACT
        assert np.abs(model.globals(0, 0.0)[joints] - first).max() <= EXACT
        assert codes(model) == {"axes_converted"} and not model.materials


def test_an_animation_is_added_to_a_mesh(folder: Path) -> None:
    (folder / "man.md5anim").rename(folder / "run.md5anim")
    model = load(folder / "man.md5mesh")
    assert not model.clips
    with_clip = model.add_clips(folder / "run.md5anim")
    assert error_of(with_clip) <= EXACT


def test_a_joint_that_no_frame_moves_has_one_key(folder: Path) -> None:
    clip = load(folder / "man.md5mesh").clips[0]
    keys = {(channel.joint, channel.path): len(channel.times) for channel in clip.channels}
    assert sorted(keys.values()) == [1] * 4 + [4] * 4
    assert clip.ticks_per_second == 4 and clip.duration == 0.75 and clip.name == "clip0"


def test_the_tree_and_the_names(folder: Path) -> None:
    model = load(folder / "man.md5mesh")
    head = ("<MD5_Root>", "<MD5_Mesh>", "<MD5_Hierarchy>")
    assert model.skeleton.names == (*head, "hip", "thigh", "shin", "arm")
    assert model.skeleton.parents.tolist() == [-1, 0, 0, 2, 3, 4, 3]
    (submesh,) = model.mesh.submeshes
    assert submesh.name == "skin.msh" and model.materials[0].name == "skin"
    assert load(folder / "man.md5anim").skeleton.names == (head[2], "hip", "thigh", "shin", "arm")


def test_equal_names_bind_by_order(folder: Path) -> None:
    for path in folder.iterdir():
        text = path.read_bytes().replace(b'"arm"', b'"thigh"').replace(b'"shin"', b'"thigh"')
        path.write_bytes(text)
    model = load(folder / "man.md5mesh")
    assert "duplicate_names" in codes(model) and "names_ambiguous" not in codes(model)
    order = [3, 4, 6, 5]  # depth first
    got = model.globals(model.clips[0], np.arange(4) / 4.0)[:, order]
    assert float(np.abs(got - expected()).max()) <= EXACT
    others = [("thigh", -1, 0, 0), ("head", 0, 0, 0)]
    (folder / "man.md5anim").write_bytes(cases.md5_anim(others, BASE[:2], frames()))
    lost = load(folder / "man.md5mesh")
    assert entry(lost, "channels_dropped").first == "joint 'head' of the motion"
    assert entry(lost, "names_ambiguous").severity == "lost"


# ---- texts that are not as they should be ------------------------------------------------------------------


def replace(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    def edit(text: bytes) -> bytes:
        assert old in text
        return text.replace(old, new, 1)

    return edit


HARMLESS: dict[str, Callable[[bytes], bytes]] = {
    "carriage returns": lambda text: text.replace(b"\n", b"\r\n"),
    "another number of frames": replace(b"numFrames 4", b"numFrames 2"),
    "another number of components": replace(b"Components 9", b"Components 3"),
    "more numbers in a frame than anybody takes": replace(b"}\n\nframe 1", b"1 2 3 4e1\n}\n\nframe 1"),
    "an empty frame, which has no keys": lambda text: text + b"frame 4 {\n}\n\n",
    "other sections": replace(b"baseframe", b"extras {\n\t7 8 9\n}\n\nbaseframe"),
    "nothing behind the last brace": bytes.rstrip,
    "forty digits": replace(b"0.75 ", b"0.75" + b"0" * 38 + b" "),
    "exponents": replace(b"0.75 ", b"75.0e-2 "),
}
MORE_HARMLESS = {
    "more words to a joint": replace(b'"hip"\t-1 63 0', b'"hip"\t-1 63 0 0'),
    "more words to a base frame": replace(b")\n}\n\nframe 0", b") 5\n}\n\nframe 0"),
    "names without quotes": lambda text: text.replace(b'"hip"', b"hip").replace(b'"arm"', b"arm"),
    "keywords in capitals": replace(b"hierarchy", b"HIERARCHY"),
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "comments": replace(b"baseframe {", b"// frame 0 { 1 }\nbaseframe { // first"),
    "bounds behind the frames": lambda text: text + text[text.index(b"bounds") : text.index(b"baseframe")],
    "frames in another order": lambda text: (
        text[: text.index(b"frame 0")] + text[text.index(b"frame 1") :] + frame_of(text, 0)
    ),
}


def frame_of(text: bytes, number: int) -> bytes:
    begin = text.index(b"frame %d" % number)
    return text[begin : text.index(b"}", begin) + 2]


@pytest.mark.parametrize("name", [*HARMLESS, *MORE_HARMLESS])
def test_harmless_texts_are_exact(folder: Path, name: str) -> None:
    (folder / "man.md5anim").write_bytes((HARMLESS | MORE_HARMLESS)[name](anim_text()))
    assert error_of(load(folder / "man.md5mesh")) <= EXACT


def test_frames_that_the_file_does_not_count(folder: Path) -> None:
    (folder / "man.md5anim").write_bytes(anim_text().replace(b"numFrames 4", b"numFrames 9"))
    note = entry(load(folder / "man.md5mesh"), "frame_count_repaired")
    assert (note.severity, note.first) == ("repaired", "numFrames is 9, but there are 4")


def test_a_rate_that_is_none(folder: Path) -> None:
    for rate in (b"frameRate 0", b"frameRate -4", b"", b"frameRate nan"):
        (folder / "man.md5anim").write_bytes(anim_text().replace(b"frameRate 4", rate))
        model = load(folder / "man.md5mesh")
        assert model.clips[0].ticks_per_second == 25 and "ticks_per_second_assumed" in codes(model)


def test_numbers_that_are_missing_make_no_keys(folder: Path) -> None:
    values = frames()
    (folder / "man.md5anim").write_bytes(
        cases.md5_anim(JOINTS, BASE, [values[0], values[1][:7], *values[2:]])
    )
    model = load(folder / "man.md5mesh")
    assert "numbers_repaired" in codes(model)
    joints = [model.skeleton.index(name) for name in NAMES]
    got = model.globals(model.clips[0], np.arange(4) / 4.0)[:, joints]
    assert np.abs(got - expected())[[0, 2, 3]].max() <= EXACT
    assert np.abs(got - expected())[1, :3].max() <= EXACT  # all but the shin, which has one number of three


HARMLESS_MESHES: dict[str, Callable[[bytes], bytes]] = {
    "more words to a joint": replace(b"\t// 1\n", b"\t77\n"),
    "carriage returns": lambda text: text.replace(b"\n", b"\r"),
    "no numbers of entries": lambda text: re.sub(rb"\tnum\w+ \d+\n", b"", text),
    "lists in another order": lambda text: (
        text[: text.index(b"\tnumverts")] + text[text.index(b"\tnumtris") : text.rindex(b"}")]
        + text[text.index(b"\tnumverts") : text.index(b"\tnumtris")] + b"}\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMLESS_MESHES)
def test_harmless_meshes_are_exact(folder: Path, name: str) -> None:
    (folder / "man.md5mesh").write_bytes(HARMLESS_MESHES[name](mesh_text()))
    model = load(folder / "man.md5mesh")
    joints = [model.skeleton.index(joint) for joint in NAMES]
    rest = np.array([Z_UP_TO_Y_UP @ matrix(*one) for one in REST])
    assert np.abs(model.skeleton.rest_global[joints] - rest).max() <= EXACT
    up = POINTS @ Z_UP_TO_Y_UP[:3, :3].T
    assert max(nearest(rest_positions(model), up), nearest(up, rest_positions(model))) <= EXACT
    assert error_of(model) <= EXACT
    assert not codes(model) - {"textures_missing", "axes_converted", "normals_generated"}


def one_vertex(*weights: tuple[int, float, Any]) -> bytes:
    """A triangle of which the first vertex has these weights."""
    joints = [("a", -1, (0, 0, 0), (0, 0, 0)), ("b", 0, (0, 0, 2), (0, 0, 0))]
    others = [[(0, 1.0, (1.0, 0.0, 0.0))], [(0, 1.0, (0.0, 1.0, 0.0))]]
    return cases.md5_mesh(joints, [list(weights), *others], [(0, 1, 2)])


def first_vertex(model: Any) -> Any:
    """As the file has it, Z up; the vertices keep their order."""
    return model.mesh.positions[0]


def test_weights_that_disagree_on_the_point_are_lost(tmp_path: Path) -> None:
    sound = load(one_vertex((0, 0.5, (0, 0, 1)), (1, 0.5, (0, 0, -1.000001))), "md5mesh")
    assert "weight_positions_lost" not in codes(sound)
    model = load(one_vertex((0, 0.5, (0, 0, 1)), (1, 0.5, (1, 0, -1))), "md5mesh")
    note = entry(model, "weight_positions_lost")
    assert (note.severity, note.count) == ("lost", 1) and note.first.startswith("vertex 0 of mesh 1")
    assert np.allclose(first_vertex(model), (0.5, 0, 1), rtol=0, atol=EXACT)


def test_weights_that_do_not_sum_to_one() -> None:
    """The game takes the sum of their points as it is."""
    model = load(one_vertex((0, 0.5, (0, 0, 1)), (1, 0.25, (0, 0, -1))), "md5mesh")
    assert "weights_normalized" in codes(model)
    assert np.allclose(first_vertex(model), (0, 0, 0.75), rtol=0, atol=EXACT)


def test_weights_of_joints_that_are_not_there() -> None:
    model = load(one_vertex((0, 0.5, (0, 0, 1)), (9, 0.5, (0, 0, -1))), "md5mesh")
    assert entry(model, "joint_index_out_of_range").first == "vertex 0 of mesh 1 follows joint 9 of 2"
    assert np.allclose(first_vertex(model), (0, 0, 1), rtol=0, atol=EXACT)


def test_weights_that_are_not_there() -> None:
    text = one_vertex((0, 0.5, (0, 0, 1)), (1, 0.5, (0, 0, -1)))
    model = load(text.replace(b"vert 2 ( 0.0 0.0 ) 3 1", b"vert 2 ( 0.0 0.0 ) 3 5"), "md5mesh")
    note = entry(model, "weights_dropped")
    assert (note.severity, note.count, note.first) == ("lost", 4, "vertex 2 of mesh 1: weight 4 of 4")
    counted = load(text.replace(b"numverts 3", b"numverts 8"), "md5mesh")
    assert entry(counted, "numbers_repaired").first == "mesh 1: numverts is 8, but there are 3"


def test_faces_of_vertices_that_are_not_there() -> None:
    text = one_vertex((0, 1.0, (0, 0, 1))).replace(b"numtris 1", b"numtris 2\n\ttri 1 0 1 3")
    assert entry(load(text, "md5mesh"), "faces_dropped").count == 1


def test_a_rotation_that_is_longer_than_one() -> None:
    model = load(one_vertex((0, 1.0, (0, 0, 1))).replace(b"( 0 0 0 )", b"( 2 0 0 )", 2), "md5mesh")
    assert entry(model, "rotations_normalized").first.startswith("joint 'a': x, y and z of length 2")
    assert np.isfinite(model.skeleton.rest_global).all()


MANY = b"".join(b"\tvert %d ( 0 0 ) 0 9000\n" % i for i in range(2, 20))
BROKEN: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a parent that is not there": (replace(b'"thigh"\t0', b'"thigh"\t9'), "joint 1 has the parent 9"),
    "a circle": (replace(b'"hip"\t-1', b'"hip"\t3'), "joint 0 is a child of its own"),
    "no parenthesis": (
        replace(b"( 0.0 0.0 ) 0", b"( 0.0 0.0 ] 0"),
        r"line 17: there is '\]' where \( u v \)",
    ),
    "a number that is far away": (
        replace(b"vert 3", b"vert 4294967294"),
        "line 20: a vertex, triangle or weight has the number 4294967294",
    ),
    "a negative number": (replace(b"tri 0 0", b"tri 0 -1"), "there is '-1' where a vertex of a triangle"),
    "no end": (lambda text: text[:-3], "the file ends in line 30, where '}' is expected"),
    "no joints": (lambda text: text[: text.index(b"joints {")], 'there is neither "joints" nor "hierarchy"'),
    "meshes first": (
        lambda text: text.replace(b"joints {", b"mesh { }\njoints {"),
        "a list of joints in front of the meshes",
    ),
    "weights that are shared too often": (
        lambda _: cases.md5_mesh(
            [("a", -1, (0, 0, 0), (0, 0, 0))], [[(0, 1.0, (0, 0, 0))] * 9000], [(0, 0, 0)]
        ).replace(b"\tnumtris", b"\tvert 1 ( 0 0 ) 0 9000\n" + MANY + b"\tnumtris"),
        "the vertices of mesh 1 have 180000 weights, of which 9000 are listed",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_meshes_are_refused_with_their_line(name: str) -> None:
    edit, words = BROKEN[name]
    with pytest.raises(skinpy.LoadError, match=words):
        load(edit(mesh_text()), "md5mesh")


def test_a_broken_animation_beside_the_mesh_is_named(folder: Path) -> None:
    text = replace(b"baseframe {\n\t( 0 0 0 )", b"baseframe {\n\t( 0 0 0 ]")(anim_text())
    (folder / "man.md5anim").write_bytes(text)
    with pytest.raises(skinpy.LoadError, match=r"in the \.md5anim file beside it, line 24: there is '\]'"):
        load(folder / "man.md5mesh")


def test_keys_need_numbers() -> None:
    """Joints times frames must not fill the memory."""
    joints = [("a", -1, 63, 0)] * 3000
    text = cases.md5_anim(joints, [BASE[0]] * 3000, [[0.0]] * 3000)
    with pytest.raises(skinpy.LoadError, match="3000 frames of 3000 joints that move, but only 3000 numbers"):
        load(text, "md5anim")


@pytest.mark.parametrize("suffix", ["md5mesh", "md5anim"])
def test_cut_texts(folder: Path, suffix: str) -> None:
    path = folder / f"man.{suffix}"
    text = path.read_bytes()
    loaded = 0
    for size in range(0, len(text), 23):
        path.write_bytes(text[:size])
        try:
            model = load(folder / "man.md5mesh")
        except skinpy.LoadError:
            continue
        loaded += 1
        assert np.isfinite(model.skeleton.rest_global).all()
        assert all(np.isfinite(model.globals(clip, 0.25)).all() for clip in model.clips)
    assert loaded or suffix == "md5mesh"  # its last brace is the end
