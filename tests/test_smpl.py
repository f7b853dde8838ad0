"""Clip.from_smpl: parameters of SMPL, SMPL-H and SMPL-X as clips.

The truth is a slow twin of the body models' kinematics: Rodrigues' formula for each joint, and the joints one
after another, in the axes of the file. The files are made here, with the keys that AMASS and smplx write.
"""

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy import Clip, LoadError, SkinpyWarning
from skinpy._types import Array
from skinpy.clips.smpl_body import joint_places, scaled, unit_body
from skinpy.files.npz_arrays import read_arrays

#: Tables of the body models: the parents of SMPL's joints, then of what SMPL, SMPL-H and SMPL-X add.
SMPL = [-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19]
FINGERS = [20, 22, 23, 20, 25, 26, 20, 28, 29, 20, 31, 32, 20, 34, 35]
PARENTS = {
    66: SMPL,
    72: [*SMPL, 20, 21],
    156: [*SMPL, *FINGERS, *(21 if one == 20 else one + 15 for one in FINGERS)],
}
PARENTS[165] = [
    *[*SMPL, 15, 15, 15],
    *(one if one < 22 else one + 3 for one in PARENTS[156][22:]),
]
#: Z up to Y up.
UPRIGHT = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
#: Rotations are float32 quaternions, about ten of which are multiplied; lengths are about 2 m.
CLOSE = 1e-6


def rodrigues(vector: Array) -> Array:
    """The matrix of a rotation vector, by Rodrigues' formula."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def kinematics(poses: Array, trans: Array, joints: Array, parents: list[int]) -> tuple[Array, Array]:
    """Global rotations (N,J,3,3) and positions (N,J,3) in the axes of the file."""
    turns, places = np.zeros((len(poses), len(parents), 3, 3)), np.zeros((len(poses), len(parents), 3))
    for frame, row in enumerate(poses.reshape(len(poses), -1, 3)):
        for joint, parent in enumerate(parents):
            turn = rodrigues(row[joint])
            if parent < 0:
                turns[frame, joint], places[frame, joint] = turn, joints[0] + trans[frame]
            else:
                turns[frame, joint] = turns[frame, parent] @ turn
                offset = turns[frame, parent] @ (joints[joint] - joints[parent])
                places[frame, joint] = places[frame, parent] + offset
    return turns, places


def motion(width: int, frames: int = 7, seed: int = 0) -> dict[str, Any]:
    """Arrays as in AMASS: a figure that stands upright, more or less, with random joints."""
    rng = np.random.default_rng(seed)
    poses = rng.normal(size=(frames, width)) * 0.5
    poses[:, 3:6] *= 6  # beyond 180 and 360 degrees
    poses[:, :3] = np.array([np.pi / 2, 0, 0]) + rng.normal(size=(frames, 3)) * 0.1
    return {"poses": poses, "trans": rng.normal(size=(frames, 3)), "mocap_framerate": np.array(120.0)}


@pytest.mark.parametrize("width", PARENTS)
def test_joints_are_where_the_twin_has_them(width: int) -> None:
    data = motion(width, seed=width)
    joints = np.random.default_rng(3).normal(size=(width // 3, 3)) * 0.3
    clip = Clip.from_smpl(data, joints=joints)
    model, times = clip.model, np.arange(7) / 120
    assert model is not None and len(model.skeleton) == width // 3 and model.clips[0] == clip
    assert (clip.duration, clip.ticks_per_second) == (6 / 120, 120)
    assert (model.unit_meters, model.up) == (1.0, "+Y")
    assert model.skeleton.parents.tolist() == PARENTS[width]
    turns, places = kinematics(data["poses"], data["trans"], joints, PARENTS[width])
    shown = model.globals(clip, times).astype(np.float64)
    assert np.abs(shown[..., :3, :3] - UPRIGHT @ turns).max() <= CLOSE
    assert np.abs(shown[..., :3, 3] - places @ UPRIGHT.T).max() <= 5 * CLOSE  # of lengths up to about 5


def test_names_are_those_of_the_body_models() -> None:
    names = {width: Clip.from_smpl(motion(width)).model.skeleton.names for width in PARENTS}  # type: ignore[union-attr]
    assert names[72][22:] == ("left_hand", "right_hand") and names[66] == names[165][:22]
    assert names[165][22:26] == ("jaw", "left_eye_smplhf", "right_eye_smplhf", "left_index1")
    assert names[156][22:26] == ("left_index1", "left_index2", "left_index3", "left_middle1")
    assert names[156][37:38] == ("right_index1",) and names[156][-1] == "right_thumb3"


def test_the_figure_stands_as_a_person_at_rest() -> None:
    clip = Clip.from_smpl(motion(165), height=1.8)
    skeleton = clip.model.skeleton  # type: ignore[union-attr]
    places = {name: skeleton.rest_global[number, :3, 3] for number, name in enumerate(skeleton.names)}
    assert places["pelvis"] == pytest.approx([0, 0.555 * 1.8, 0], abs=1e-6)
    assert min(place[1] for place in places.values()) == pytest.approx(0.012 * 1.8, abs=1e-6)
    for name, place in places.items():
        if name.startswith("left"):
            other = places[name.replace("left", "right", 1)]
            assert place == pytest.approx(other * [-1, 1, 1], abs=1e-6) and place[0] > 0
    assert places["left_foot"][2] > places["left_ankle"][2]
    assert clip.model.humanoid.missing == ()  # type: ignore[union-attr]


# ---- forms ----------------------------------------------------------------------------------------


def parts_of(poses: Array) -> dict[str, Array]:
    """A row of SMPL-X part by part, as AMASS has it beside "poses"."""
    bounds = {"root_orient": 3, "pose_body": 66, "pose_jaw": 69, "pose_eye": 75, "pose_hand": 165}
    starts = [0, *bounds.values()]
    return {name: poses[:, start:end] for (name, end), start in zip(bounds.items(), starts, strict=False)}


def same(one: Clip, other: Clip) -> bool:
    times = np.linspace(0, one.duration, 11)
    return one.sample(times).rotation.tobytes() == other.sample(times).rotation.tobytes() and np.array_equal(
        one.sample(times).translation, other.sample(times).translation
    )


def test_parts_and_the_names_of_smplx() -> None:
    data = motion(165)
    clip = Clip.from_smpl(data)
    rest = {"trans": data["trans"], "mocap_frame_rate": 120}
    parts = parts_of(data["poses"])
    assert same(clip, Clip.from_smpl(parts | rest))
    hands, eyes = np.split(parts["pose_hand"], 2, axis=1), np.split(parts["pose_eye"], 2, axis=1)
    named = {
        "global_orient": parts["root_orient"],
        "body_pose": parts["pose_body"].reshape(-1, 21, 3),
        "jaw_pose": parts["pose_jaw"],
        "leye_pose": eyes[0],
        "reye_pose": eyes[1],
        "left_hand_pose": hands[0],
        "right_hand_pose": hands[1],
        "transl": data["trans"],
        "fps": [120.0],
    }
    assert same(clip, Clip.from_smpl(named))
    body = {"root_orient": parts["root_orient"], "pose_body": parts["pose_body"]} | rest
    assert len(Clip.from_smpl(body).model.skeleton) == 22  # type: ignore[union-attr]
    smpl = {"global_orient": named["global_orient"], "body_pose": np.zeros((7, 69))} | rest
    assert len(Clip.from_smpl(smpl).model.skeleton) == 24  # type: ignore[union-attr]
    jaw = Clip.from_smpl(body | {"pose_jaw": parts["pose_jaw"]})
    assert jaw.model.skeleton.names[22:] == ("jaw", "left_eye_smplhf", "right_eye_smplhf")  # type: ignore[union-attr]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_files_as_amass_has_them(save: Any, tmp_path: Path) -> None:
    data = motion(156)
    more = {
        "betas": np.zeros(16),
        "dmpls": np.zeros((7, 8)),
        "gender": np.array(b"female"),
        "surface_model_type": np.array(["smplh"], dtype=object),  # never read, and so not known
        "labels": np.array([{"a": 1}], dtype=object),
    }
    save(tmp_path / "01_01_poses.npz", **data, **more)
    clip = Clip.from_smpl(tmp_path / "01_01_poses.npz")
    assert clip.name == "01_01_poses" and same(clip, Clip.from_smpl(data))
    with np.load(tmp_path / "01_01_poses.npz") as opened:
        arrays = {name: opened[name] for name in data}
    assert same(clip, Clip.from_smpl(arrays, name="a")) and Clip.from_smpl(arrays, name="a").name == "a"
    assert Clip.from_smpl(arrays, fps=60).duration == 0.1
    assert Clip.from_smpl(arrays).name == "smpl"


def test_files_are_loaded_as_models_too(tmp_path: Path) -> None:
    data = motion(156)
    np.savez(tmp_path / "01_01_poses.npz", **data, betas=np.zeros(16))
    model = skinpy.load(tmp_path / "01_01_poses.npz")
    assert model.clips.names == ("01_01_poses",) and len(model.skeleton) == 52
    assert same(model.clips[0], Clip.from_smpl(data))
    loaded = skinpy.load((tmp_path / "01_01_poses.npz").read_bytes(), format="npz")
    assert loaded.clips.names == ("smpl",)
    with pytest.raises(LoadError, match="not motion of SMPL: source has 364 rotations; expected at most 100"):
        skinpy.load(tmp_path / "01_01_poses.npz", limits=skinpy.Limits(keys=100))
    np.savez(tmp_path / "a.npz", poses=np.zeros((2, 156)), trans=np.zeros((2, 3)))
    with pytest.raises(LoadError, match=r"this is not motion of SMPL: .*expected mocap_framerate"):
        skinpy.load(tmp_path / "a.npz")


def test_one_frame_and_still_joints() -> None:
    data = motion(156, frames=1)
    assert Clip.from_smpl(data).duration == 0
    still = np.zeros((5, 156))
    still[:, 3:6] = np.linspace(0, 1, 5)[:, None]
    still[:, 0] = np.pi / 2
    clip = Clip.from_smpl({"poses": still, "trans": np.zeros((5, 3)), "fps": 30})
    assert [one.name for one in clip.channels if len(one.times) > 1] == ["pelvis", "left_hip"]


# ---- height and axes ------------------------------------------------------------------------------


@pytest.mark.parametrize("up", ["+Z", "+Y", "-Y", "+X"])
@pytest.mark.parametrize("width", [156, 165])
def test_the_height_is_that_of_feet_on_the_ground(up: str, width: int) -> None:
    """Legs bend at random, with a translation that keeps the lowest sole on the ground."""
    axes = {"+Z": UPRIGHT, "+Y": np.eye(3), "-Y": np.diag([1.0, -1, -1])}
    upright = axes.get(up, np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]))
    rng = np.random.default_rng(7)
    poses = np.zeros((40, width))
    poses[:, :3] = skinpy.rotation.to_rotvec(skinpy.rotation.from_matrix(upright.T))
    poses[:, 3:9] = rng.normal(size=(40, 6)) * 0.4
    body = scaled(unit_body(("body",), width == 165), 1.62)
    local = skinpy.rotation.from_rotvec(poses.reshape(40, -1, 3)[:, :22])
    local[:, 0] = [0, 0, 0, 1]
    ground = np.minimum(body.positions[:, 1], 0.05 * 1.62) - joint_places(body, local)[..., 1]
    trans = np.outer(ground.max(axis=1), upright[1]) - body.pelvis
    clip = Clip.from_smpl({"poses": poses, "trans": trans, "fps": 30}, up=up)
    model = clip.model
    assert model is not None
    assert model.skeleton.translation[0, 1] == pytest.approx(0.555 * 1.62, abs=1e-4)
    places = model.joint_positions(clip, np.arange(40) / 30)
    assert places[:, :, 1].min() == pytest.approx(0.012 * 1.62, abs=2e-3)
    assert np.abs(model.globals(clip, 0.0)[0, :3, :3] - np.eye(3)).max() <= CLOSE


def test_a_figure_far_from_the_ground_has_the_average_height() -> None:
    data = motion(66) | {"trans": np.full((7, 3), 50.0)}
    assert Clip.from_smpl(data).model.skeleton.translation[0, 1] == pytest.approx(0.555 * 1.7)  # type: ignore[union-attr]


def test_a_wrong_axis_is_warned_of() -> None:
    poses = np.zeros((3, 66))
    data: dict[str, Any] = {"poses": poses, "trans": np.zeros((3, 3)), "fps": 30}
    with pytest.warns(
        SkinpyWarning, match=r"'smpl' does not stand: .* along \+Y of the source; give up='\+Y'"
    ):
        Clip.from_smpl(data)
    Clip.from_smpl(data, up="+Y")


def test_on_another_character() -> None:
    """The left arm up and the right knee bent, on the bundled character."""
    poses = np.zeros((2, 66))
    poses[:, 0] = np.pi / 2
    poses[1, 16 * 3 + 2] = np.pi / 2  # left_shoulder, about +Z
    poses[1, 5 * 3] = np.pi / 2  # right_knee, about +X
    clip = Clip.from_smpl({"poses": poses, "trans": np.tile([0, 0, 0.9], (2, 1)), "fps": 30}, height=1.7)
    assert clip.model is not None
    target = skinpy.character()
    moved = skinpy.retarget(clip, clip.model, target, "auto")
    places = target.joint_positions(moved, moved.duration)
    bones = target.humanoid

    def direction(start: str, end: str) -> Array:
        way = places[bones.joint(end)] - places[bones.joint(start)]
        return np.asarray(way / np.linalg.norm(way))

    # Within 10 degrees: the character's own T-pose is not quite straight.
    assert direction("leftUpperArm", "leftLowerArm") @ [0, 1, 0] > np.cos(np.radians(10))
    assert direction("rightUpperArm", "rightLowerArm") @ [-1, 0, 0] > np.cos(np.radians(10))
    assert direction("rightLowerLeg", "rightFoot") @ [0, 0, -1] > np.cos(np.radians(10))
    assert direction("leftLowerLeg", "leftFoot") @ [0, -1, 0] > np.cos(np.radians(10))


# ---- what is refused ------------------------------------------------------------------------------


WRONG: dict[str, tuple[Any, str]] = {
    "nothing": ({}, r"source has nothing; expected poses, or root_orient \(N, 3\) and pose_body"),
    "no body": ({"root_orient": np.zeros((2, 3))}, "source has 'root_orient'; expected poses, or root"),
    "no translation": ({"poses": np.zeros((2, 66))}, r"source has 'poses'; expected trans \(N, 3\), too"),
    "AIST++": ({"smpl_poses": np.zeros((2, 72))}, "source has 'smpl_poses'; expected poses, or"),
    "no rate": (
        {"poses": np.zeros((2, 66)), "trans": np.zeros((2, 3))},
        "source has 'poses', 'trans'; expected mocap_framerate, or fps as an argument",
    ),
    "matrices": ({"poses": np.zeros((2, 24, 3, 3))}, r"poses has shape \(2, 24, 3, 3\); expected \(N, 66 or"),
    "columns": ({"poses": np.zeros((2, 63))}, r"expected \(N, 66 or 72 or 156 or 165\)"),
    "a PCA": (
        {"root_orient": np.zeros((2, 3)), "pose_body": np.zeros((2, 63)), "pose_hand": np.zeros((2, 24))},
        r"pose_hand has shape \(2, 24\); expected \(N, 90\)",
    ),
    "no frames": (motion(66) | {"poses": np.zeros((0, 66))}, "poses has no frames"),
    "frames": (motion(66) | {"trans": np.zeros((3, 3))}, "trans has 3 frames; expected 7"),
    "frames of parts": (
        parts_of(motion(165)["poses"]) | {"pose_jaw": np.zeros((2, 3))},
        "pose_jaw has 2 frames; expected 7",
    ),
    "NaN": (motion(66) | {"poses": np.full((7, 66), np.nan)}, r"poses\[0, 0\] is nan"),
    "infinite": (motion(66) | {"trans": np.full((7, 3), np.inf)}, r"trans\[0, 0\] is inf"),
    "rate": (motion(66) | {"mocap_framerate": 0.0}, "mocap_framerate is 0; expected a number above 0"),
    "an animal": (motion(66) | {"surface_model_type": "animal_dog"}, "surface_model_type is 'animal_dog'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_arrays_that_are_no_motion(wrong: str, tmp_path: Path) -> None:
    arrays, words = WRONG[wrong]
    with pytest.raises(ValueError, match=words):
        Clip.from_smpl(arrays)
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(LoadError, match=f"a.npz holds no motion of SMPL: .*{words}"):
        Clip.from_smpl(tmp_path / "a.npz")


def npy(header: str, data: bytes = b"") -> bytes:
    """An .npy file with this header."""
    text = header.encode() + b" " * (118 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def archive(**entries: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in entries.items():
            made.writestr(f"{name}.npy", data)
    return file.getvalue()


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000000, 156)}"
SHORT = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 66)}"
FILES: dict[str, tuple[bytes, str]] = {
    "a pickle": (pickle.dumps({"smpl_poses": 1}), "it is a pickle, .* give a mapping"),
    "an array": (npy(SHORT, bytes(1056)), "whose columns have no names"),
    "text": (b"poses", "it is not an .npz file"),
    "empty": (b"", "it is not an .npz file"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
    "a short archive": (archive(poses=npy(SHORT, bytes(1056)))[:-30], "not a zip file"),
    "too large": (
        archive(poses=npy(HUGE)),
        r"array 'poses' has shape \(100000000, 156\) .*124800000000 bytes",
    ),
    "too short": (archive(poses=npy(SHORT, bytes(1000))), "other than the 1056 bytes"),
    "too long": (archive(poses=npy(SHORT, bytes(1057))), "other than the 1056 bytes"),
    "no array": (archive(poses=b"hello, world"), "has no header of NumPy"),
    "a program": (archive(poses=npy("__import__('os').abort()")), "array 'poses' has no header of NumPy"),
}


@pytest.mark.parametrize("kind", FILES)
def test_files_that_hold_no_motion(kind: str, tmp_path: Path) -> None:
    data, words = FILES[kind]
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(LoadError, match=words):
        Clip.from_smpl(tmp_path / "a.npz")


def test_objects_are_never_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **(motion(66) | {"poses": np.array([[1.0], None], dtype=object)}))
    with pytest.raises(LoadError, match="poses holds Python objects, which are never read"):
        Clip.from_smpl(tmp_path / "a.npz")


def test_an_archive_that_unpacks_to_more_than_allowed() -> None:
    file = io.BytesIO()
    np.savez_compressed(file, a=np.zeros(1000), b=np.zeros(1000))
    assert len(file.getvalue()) < 2000
    assert set(read_arrays(file, ["a", "b"], 16_000)) == {"a", "b"}
    with pytest.raises(ValueError, match=r"array 'b' .*8000 bytes; expected at most 7000"):
        read_arrays(file, ["a", "b"], 15_000)


def test_options() -> None:
    with pytest.raises(ValueError, match="height and joints"):
        Clip.from_smpl(motion(66), height=1.7, joints=np.zeros((22, 3)))
    with pytest.raises(ValueError, match=r"joints has shape \(21, 3\); expected \(22, 3\)"):
        Clip.from_smpl(motion(66), joints=np.zeros((21, 3)))
    with pytest.raises(ValueError, match="up is 'up'"):
        Clip.from_smpl(motion(66), up="up")
    for height in (0, 1e308):
        with pytest.raises(ValueError, match=r"height is .*; expected 0\.001 to 10000 meters"):
            Clip.from_smpl(motion(66), height=height)
    with pytest.raises(ValueError, match="fps is -1; expected a number above 0"):
        Clip.from_smpl(motion(66), fps=-1)
    with pytest.raises(FileNotFoundError):
        Clip.from_smpl("nowhere.npz")
    with pytest.raises(
        TypeError, match=r"source is of type ndarray; expected the path of an \.npz file or a mapping"
    ):
        Clip.from_smpl(np.zeros((2, 66)))  # type: ignore[arg-type]
