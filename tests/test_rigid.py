"""Rigid models: the crane and the chair, and `as_rigid` against a slow twin that works face by face."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
from conftest import HANGS, needs_checkout

import skinpy

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "examples" / "make_rigid_models.py"


# ---- crane and chair ------------------------------------------------------------------------------------


def test_the_script_makes_the_same_files() -> None:
    needs_checkout()
    subprocess.run([sys.executable, str(SCRIPT), "--check"], check=True, timeout=HANGS)
    for name in ("crane", "chair"):
        assert (ROOT / "skinpy" / "data" / f"{name}.glb").stat().st_size < 60_000


@pytest.mark.parametrize(
    ("make", "joints", "clips"),
    [
        (skinpy.crane, {"base", "slew", "boom", "jib", "line", "cable", "hook"}, ("slew", "raise", "lift")),
        (skinpy.chair, {"base", "lift", "seat", "back", "caster1", "wheel5"}, ("spin", "roll", "height")),
    ],
)
def test_bundled_machines(make: Any, joints: set[str], clips: tuple[str, ...]) -> None:
    model = make()
    assert joints <= set(model.skeleton.names)
    assert model.clips.names == clips
    assert not model.report
    assert len(model.materials) >= 4
    assert {clip.kind for clip in model.clips} == {"rigid"}
    assert_is_rigid(model)
    for clip in model.clips:  # they can be looped
        start, end = model.globals(clip, [0.0, clip.duration])
        np.testing.assert_allclose(start, end, atol=2e-5)


def assert_is_rigid(model: skinpy.Model) -> None:
    assert (model.mesh.weights[:, 0] == 1).all()
    assert (model.mesh.weights[:, 1:] == 0).all()
    np.testing.assert_array_equal(model.skin.inverse_bind, np.tile(np.eye(4), (len(model.skin), 1, 1)))
    for part in model.mesh.submeshes:
        joints = model.skin.joints[model.mesh.slots[part.vertex_range.start : part.vertex_range.stop, 0]]
        assert (joints == part.node).all()


def test_the_line_hangs_straight_down_and_the_cable_ends_at_the_hook() -> None:
    crane = skinpy.crane()
    cable, hook, jib = (crane.skeleton.index(name) for name in ("cable", "hook", "jib"))
    for clip in ("raise", "lift"):
        found = crane.globals(clip, np.linspace(0, crane.clips[clip].duration, 61))
        np.testing.assert_allclose(found[:, hook, :3, 1], np.tile([0, 1, 0], (61, 1)), atol=1e-5)
        end = found[:, cable] @ np.array([0, -3.2, 0, 1])
        np.testing.assert_allclose(end[:, :3], found[:, hook, :3, 3], atol=2e-5)
    assert np.ptp(crane.globals("raise", np.linspace(0, 6, 61))[:, jib, 1, 3]) > 2


def test_the_wheels_roll_without_slipping() -> None:
    chair = skinpy.chair()
    times = np.linspace(0.625, 1.625, 9)  # on keys, while the forks are straight
    wheel, base = chair.skeleton.index("wheel1"), chair.skeleton.index("base")
    q = chair.pose("roll", times).rotation[:, wheel].astype(float)
    angle = np.unwrap(2 * np.arctan2(q[:, 0], q[:, 3]))
    way = chair.globals("roll", times)[:, base, 2, 3]
    np.testing.assert_allclose(np.diff(angle) * 0.029, np.diff(way), atol=2e-5)
    assert abs(chair.bounds("roll")[0, 1]) < 1e-3  # and stand on the floor


# ---- as_rigid -------------------------------------------------------------------------------------------


def face_slot(slots: list[int], weights: list[float]) -> int:
    """The slot of a face, by counting: most corners, else the strongest corner."""
    slot, votes = Counter(slots).most_common(1)[0]
    return slot if votes > 1 else slots[int(np.argmax(weights))]


def twin_triangles(model: skinpy.Model, clip: Any, time: float) -> tuple[np.ndarray, np.ndarray]:
    """(F,3,3) corners and normals of all faces moved as wholes, in the order of joints, then submeshes."""
    mesh, skin = model.mesh, model.skin
    matrices = model.globals(clip, time).astype(np.float64)
    rows = []
    for number, part in enumerate(mesh.submeshes):
        for face in range(part.face_range.start, part.face_range.stop):
            corners = mesh.faces[face]
            slot = face_slot(mesh.slots[corners, 0].tolist(), mesh.weights[corners, 0].tolist())
            matrix = matrices[skin.joints[slot]] @ skin.inverse_bind[slot]
            points = mesh.positions[corners] @ matrix[:3, :3].T + matrix[:3, 3]
            normals = mesh.normals[corners] @ np.linalg.inv(matrix[:3, :3])
            lengths = np.linalg.norm(normals, axis=1, keepdims=True)
            rows.append(((int(skin.joints[slot]), number, face), points, normals / lengths))
    rows.sort(key=lambda row: row[0])
    return np.array([row[1] for row in rows]), np.array([row[2] for row in rows])


def cases() -> dict[str, Any]:
    return {
        "random 3": lambda: skinpy.load(builders.random_model(3, joints=9, vertices=120).glb(), format="glb"),
        "random 4": lambda: skinpy.load(builders.random_model(4, joints=14, vertices=90).glb(), format="glb"),
        "eight": lambda: skinpy.load(builders.eight_influences().glb(), format="glb", max_influences=8),
        "two offsets": lambda: skinpy.load(builders.two_offsets().glb(), format="glb"),
        "mirrored": lambda: skinpy.load(builders.negative_scale().glb(), format="glb"),
        "rigid already": skinpy.crane,
        "character": skinpy.character,
    }


@pytest.mark.filterwarnings("ignore::skinpy.SkinpyWarning")
@pytest.mark.parametrize("name", cases())
def test_faces_move_as_wholes(name: str) -> None:
    model = cases()[name]()
    parts = model.as_rigid()
    assert_is_rigid(parts)
    assert parts.skeleton.names == model.skeleton.names
    assert parts.clips.names == model.clips.names
    assert {clip.kind for clip in parts.clips} <= {"rigid"}
    assert parts.materials == model.materials or len(parts.materials) == len(model.materials)
    size = float(np.abs(model.bounds()).max())
    for clip, time in [(None, 0.0), *((clip, 0.4 * clip.duration) for clip in model.clips)]:
        wanted, normals = twin_triangles(model, None if clip is None else clip.name, time)
        points, directions = parts.deform(parts.pose(None if clip is None else clip.name, time))
        got, turned = points[parts.mesh.faces], directions[parts.mesh.faces]
        back = np.abs(got[:, 0] - wanted[:, 0]).max(axis=1) > 1e-5 * size  # mirrored: the other way round
        got[back], turned[back] = got[back][:, ::-1], turned[back][:, ::-1]
        np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-6 * size)
        np.testing.assert_allclose(turned, normals, rtol=0, atol=2e-5)


def test_cutting_what_is_rigid_changes_nothing() -> None:
    chair = skinpy.chair()
    parts = chair.as_rigid()
    assert [part.name for part in parts.mesh.submeshes] == [part.name for part in chair.mesh.submeshes]
    for name in ("positions", "faces"):
        np.testing.assert_array_equal(getattr(parts.mesh, name), getattr(chair.mesh, name))
    np.testing.assert_array_equal(parts.mesh.slots[:, 0], chair.mesh.slots[:, 0])
    # The file's normals are rounded; here their length is 1.
    np.testing.assert_allclose(parts.mesh.normals, chair.mesh.normals, atol=1e-4)


def test_the_front_stays_the_front() -> None:
    """A mirroring inverse bind flips the faces in the joint's space, and its global flips them back."""
    rest = np.tile(np.eye(4), (1, 1, 1))
    rest[0, 0, 0] = -1
    model = skinpy.Model.from_arrays(
        ["a"],
        [-1],
        rest,
        positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1]] * 3,
    )
    parts = model.as_rigid()
    corners = parts.mesh.positions[parts.mesh.faces[0]]
    across = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    assert across @ parts.mesh.normals[0] > 0
    np.testing.assert_allclose(parts.deform(parts.pose())[1][:, 2], 1, atol=1e-6)


def test_names_and_materials_of_the_parts() -> None:
    character = skinpy.character()
    parts = character.as_rigid()
    names = [part.name for part in parts.mesh.submeshes]
    assert "Explorer-0/LeftLowerArm" in names
    assert len(set(names)) == len(names)
    sources = {part.name: part.material for part in character.mesh.submeshes}
    for part in parts.mesh.submeshes:
        source, _, joint = part.name.partition("/")
        assert part.material == sources[source]
        assert not joint or parts.skeleton.names[part.node] == joint
    assert [part.node for part in parts.mesh.submeshes] == sorted(part.node for part in parts.mesh.submeshes)


def gap(parts: skinpy.Model, pose: skinpy.Pose) -> float:
    """How far vertices that meet at rest are from each other."""
    rest = np.round(parts.deform(parts.pose())[0].astype(float), 5)
    _, place = np.unique(rest, axis=0, return_inverse=True)
    now = parts.deform(pose)[0].astype(float)
    order = np.argsort(place.ravel(), kind="stable")
    starts = np.flatnonzero(np.diff(place.ravel()[order], prepend=-1))
    low, high = (f.reduceat(now[order], starts, axis=0) for f in (np.minimum, np.maximum))
    return float(np.linalg.norm(high - low, axis=1).max())


def test_gaps_open_where_joints_bend() -> None:
    character = skinpy.character()
    parts = character.as_rigid()
    assert gap(parts, parts.pose()) < 2e-5
    assert gap(parts, parts.pose("walk", 0.24)) > 0.03
    assert gap(character, character.pose("walk", 0.24)) < 1e-3  # the skin closes them


def test_morph_targets_go_along() -> None:
    rng = np.random.default_rng(2)
    rest = np.tile(np.eye(4), (2, 1, 1))
    rest[1, 1, 3], rest[1, :3, :3] = 1.0, np.diag([2.0, 1.0, 0.5])
    model = skinpy.Model.from_arrays(
        ["a", "b"],
        [-1, 0],
        rest,
        positions=rng.uniform(-1, 1, (20, 3)),
        faces=rng.integers(0, 20, (30, 3)),
        joints=np.tile([0, 1], (20, 1)),
        weights=rng.uniform(0, 1, (20, 2)),
        targets={"bulge": (rng.normal(size=(20, 3)), rng.normal(size=(20, 3))), "tip": np.eye(20, 3)},
    )
    parts = model.as_rigid()
    assert [target.name for target in parts.targets] == ["bulge", "tip"]
    slots = [
        face_slot(model.mesh.slots[f, 0].tolist(), model.mesh.weights[f, 0].tolist())
        for f in model.mesh.faces
    ]
    order = np.argsort(model.skin.joints[slots], kind="stable")
    pose, parts_pose = model.pose(), parts.pose()
    for one in (pose, parts_pose):
        one.rotate("b", degrees=40, axis=(1, 2, 0))
        one.morph_weights[:] = (0.7, -1.5)
    palette = pose.palette().astype(float)
    moved = model.mesh.positions.astype(float)
    for target, weight in zip(model.targets, pose.morph_weights, strict=True):
        moved[target.vertices] += weight * target.positions
    wanted = [
        moved[f] @ palette[s][:3, :3].T + palette[s][:3, 3]
        for f, s in zip(model.mesh.faces, slots, strict=True)
    ]
    got = parts.deform(parts_pose)[0][parts.mesh.faces]
    np.testing.assert_allclose(got, np.array(wanted)[order], rtol=0, atol=1e-5)
    bulge = model.targets[0]
    assert bulge.normals is not None
    bent = model.mesh.normals.astype(float)
    bent[bulge.vertices] += pose.morph_weights[0] * bulge.normals
    turned = np.array(
        [bent[f] @ np.linalg.inv(palette[s][:3, :3]) for f, s in zip(model.mesh.faces, slots, strict=True)]
    )
    turned /= np.linalg.norm(turned, axis=2, keepdims=True)
    np.testing.assert_allclose(
        parts.deform(parts_pose)[1][parts.mesh.faces], turned[order], rtol=0, atol=1e-4
    )


def test_added_clips_and_models_without_a_mesh() -> None:
    clip = skinpy.Clip.from_arrays("nod", fps=2, joints=["boom"], rotation=[[[0, 0, 0, 1]], [[0, 0, 1, 1]]])
    crane = skinpy.crane().add_clips(clip)
    np.testing.assert_array_equal(crane.as_rigid().globals("nod", 0.3), crane.globals("nod", 0.3))
    bare = skinpy.Model.from_arrays(
        ["a"],
        [-1],
        np.eye(4)[None],
        positions=np.zeros((0, 3)),
        faces=[],
        joints=np.zeros((0, 1), int),
        weights=np.zeros((0, 1)),
    ).as_rigid()
    assert len(bare.mesh.positions) == len(bare.skin) == len(bare.mesh.submeshes) == 0
