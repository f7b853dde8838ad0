"""MD5 rotations near w = 0, against a NumPy twin in float64.

The format has x, y, z of a unit quaternion; Assimp takes w in float32, which is off by up to 5e-4 here. What
skinpy reads from the text itself must be as exact as float32 keys are: 1e-6 over a chain of three joints.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import import_cases as cases
import numpy as np
import pytest
from test_import import codes, load, rest_positions

import skinpy

EXACT = 1e-6  # half a unit in the last place of float32 for numbers up to 2, over a few products
LOST = 1e-5  # what is above was read by Assimp
Z_UP_TO_Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
NAMES = ("hip", "thigh", "arm", "shin")  # not depth first: that would be hip, thigh, shin, arm
PARENTS = (-1, 0, 0, 1)


def turn(axis: Any, w: float) -> Any:
    """x, y, z of a unit quaternion."""
    return np.asarray(axis, np.float64) / np.linalg.norm(axis) * np.sqrt(1.0 - w * w)


def matrix(translation: Any, xyz: Any) -> Any:
    """MD5 counts w negative, as Assimp does."""
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
# the arm has no keys: its base frame is not read
BASE = (
    ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ((0.25, -0.5, 0.125), turn((3, 1, 2), 2.5e-4)),
    ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
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
    locals_ = [np.linalg.inv(matrix(*REST[0])) @ matrix(*REST[2])] * 4
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
    """Its rest pose is the first frame, but for the arm, which has no keys there."""
    base = [*JOINTS[:2], ("arm", 0, 0, 0), JOINTS[3]]
    (folder / "alone.md5anim").write_bytes(cases.md5_anim(base, BASE, frames()))
    for source in (folder / "alone.md5anim", (folder / "alone.md5anim").read_bytes()):
        model = load(source)
        locals_ = animated(frames()[0])
        locals_[2] = matrix(*BASE[2])
        joints = [model.skeleton.index(name) for name in NAMES]
        assert np.abs(model.skeleton.rest_global[joints] - below_root(locals_)).max() <= EXACT
        assert np.abs(model.globals(0, 0.0)[joints] - below_root(locals_)).max() <= EXACT


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
UNCLEAR: dict[str, Callable[[bytes], bytes]] = {
    "more words to a joint": replace(b'"hip"\t-1 63 0', b'"hip"\t-1 63 0 0'),
    "more words to a base frame": replace(b")\n}\n\nframe 0", b") 5\n}\n\nframe 0"),
    "a base frame without a parenthesis": replace(b"baseframe {\n\t( 0 0 0 )", b"baseframe {\n\t( 0 0 0 ]"),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_texts_are_exact(folder: Path, name: str) -> None:
    (folder / "man.md5anim").write_bytes(HARMLESS[name](anim_text()))
    assert error_of(load(folder / "man.md5mesh")) <= EXACT


@pytest.mark.parametrize("name", UNCLEAR)
def test_of_unclear_texts_assimps_keys_stay(folder: Path, name: str) -> None:
    (folder / "man.md5anim").write_bytes(UNCLEAR[name](anim_text()))
    assert LOST < error_of(load(folder / "man.md5mesh")) <= 2e-3


def test_an_unclear_mesh_stays_whole(folder: Path) -> None:
    """Nodes, inverse bind matrices and positions are Assimp's, all of them: at rest nothing is bent."""
    text = replace(b"\t// 1\n", b"\t77\n")(mesh_text())
    (folder / "man.md5mesh").write_bytes(text)
    model = load(folder / "man.md5mesh")
    joints = [model.skeleton.index(name) for name in NAMES]
    rest = np.array([Z_UP_TO_Y_UP @ matrix(*one) for one in REST])
    assert LOST < np.abs(model.skeleton.rest_global[joints] - rest).max() <= 2e-3
    assert (
        nearest(rest_positions(model), model.mesh.positions @ model.globals(None, 0.0)[0][:3, :3].T) <= EXACT
    )


def test_cut_texts(folder: Path) -> None:
    """Animations only: Assimp itself reads beyond a mesh that is cut between its vertices and weights."""
    text = anim_text()
    loaded = 0
    for size in range(0, len(text), 23):
        (folder / "man.md5anim").write_bytes(text[:size])
        try:
            model = load(folder / "man.md5mesh")
        except skinpy.LoadError:
            continue
        loaded += 1
        assert np.isfinite(model.skeleton.rest_global).all()
        assert all(np.isfinite(model.globals(clip, 0.25)).all() for clip in model.clips)
    assert loaded
