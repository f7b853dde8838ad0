"""clip.save("x.bvh"): an independent reader finds every joint where the clip has it.

`Read` below is written from the description of the format (Meredith and Maddock, "Motion Capture File Formats
Explained", 2001) and knows nothing of skinpy; three.js is another reader, where node and the package three
are there (SKINPY_NODE_MODULES names a folder that has them).
"""

import json
import os
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import builders
import import_cases
import numpy as np
import pytest
from conftest import DATA, HANGS, data_file

import skinpy

NEARLY = 1e-5  # of the size: what float32, which the clip is stored in, leaves of chains of these lengths


class Read:
    """A BVH file: names, parents, offsets and channels of joints and end sites, and frames (N,C)."""

    def __init__(self, text: str) -> None:
        head, _, motion = text.partition("MOTION\n")
        self.names: list[str] = []
        self.parents: list[int] = []
        self.offsets: list[list[float]] = []
        self.channels: list[list[str]] = []
        self.is_end: list[bool] = []
        open_joints = [-1]
        lines = [line.split() for line in head.splitlines()]
        assert lines.pop(0) == ["HIERARCHY"]
        for words in lines:
            if words[0] in ("ROOT", "JOINT", "End"):
                assert len(words) == 2
                assert (words[0] == "ROOT") == (open_joints[-1] == -1)
                self.names.append(words[1])
                self.parents.append(open_joints[-1])
                self.is_end.append(words[0] == "End")
                self.channels.append([])
                open_joints.append(len(self.names) - 1)
            elif words[0] == "OFFSET":
                self.offsets.append([float(one) for one in words[1:]])
            elif words[0] == "CHANNELS":
                assert int(words[1]) == len(words) - 2
                self.channels[open_joints[-1]] = words[2:]
            elif words[0] == "}":
                open_joints.pop()
            else:
                assert words == ["{"]
        assert open_joints == [-1]
        count, time, *rows = motion.splitlines()
        self.frame_time = float(time.removeprefix("Frame Time: "))
        self.frames = np.array([[float(one) for one in row.split()] for row in rows])
        assert self.frames.shape == (int(count.removeprefix("Frames: ")), sum(map(len, self.channels)))

    @property
    def joints(self) -> list[int]:
        return [joint for joint, is_end in enumerate(self.is_end) if not is_end]

    def positions(self) -> np.ndarray:
        """The positions (N,J,3) of all joints but the end sites; positions replace offsets."""
        matrices = np.zeros((len(self.frames), len(self.names), 4, 4))
        column = 0
        for joint, parent in enumerate(self.parents):
            local = np.tile(np.eye(4), (len(self.frames), 1, 1))
            local[:, :3, 3] = self.offsets[joint]
            for channel in self.channels[joint]:
                axis, values = "XYZ".index(channel[0]), self.frames[:, column]
                column += 1
                if channel[1:] == "position":
                    local[:, axis, 3] = values
                else:
                    assert channel[1:] == "rotation"
                    local[:, :3, :3] = local[:, :3, :3] @ about(axis, np.radians(values))
            matrices[:, joint] = local if parent < 0 else matrices[:, parent] @ local
        return np.asarray(matrices[:, self.joints][..., :3, 3])

    def angles(self, name: str) -> np.ndarray:
        """The degrees (N,3) of a joint, about Z, X and Y."""
        joint = self.names.index(name)
        end = sum(map(len, self.channels[: joint + 1]))
        return self.frames[:, end - 3 : end]


def about(axis: int, angles: np.ndarray) -> np.ndarray:
    """Rotations (N,3,3) about an axis."""
    found = np.tile(np.eye(3), (len(angles), 1, 1))
    one, two = (axis + 1) % 3, (axis + 2) % 3
    found[:, one, one] = found[:, two, two] = np.cos(angles)
    found[:, two, one] = np.sin(angles)
    found[:, one, two] = -found[:, two, one]
    return found


def saved(clip: skinpy.Clip, folder: Path, **options: Any) -> Read:
    path = folder / "out.bvh"
    assert clip.save(path, **options) == path
    assert [one.name for one in folder.iterdir()] == ["out.bvh"]
    return Read(path.read_text())


def assert_same_motion(clip: skinpy.Clip, folder: Path, turn: Any = None, **options: Any) -> Read:
    """Both readers have the joints of the model where the clip has them, in the model's order.

    With the option `joint` these are that joint and, in this order of joints, all after it.
    """
    read = saved(clip, folder, **options)
    model = clip.model
    assert model is not None
    times = np.minimum(np.arange(len(read.frames)) * read.frame_time, clip.duration)
    points = model.joint_positions(clip, times, loop="clamp").astype(float)
    if clip.root_motion is not None:
        travel = clip.root_motion.sample(times)
        points = points @ travel[:, :3, :3].swapaxes(1, 2) + travel[:, None, :3, 3]
    wanted = points if turn is None else points @ np.array(turn, float).T
    kept = [one for one, name in enumerate(model.skeleton.names) if not name.startswith("EndSite_")]
    if "joint" in options:
        kept = kept[kept.index(model.skeleton.index(options["joint"])) :]
    size = max(np.ptp(model.joint_positions(None, 0.0), axis=0).max(), np.abs(wanted).max() / 100, 1e-30)
    np.testing.assert_allclose(read.positions(), wanted[:, kept], rtol=0, atol=NEARLY * size)
    again = skinpy.load(folder / "out.bvh")
    assert again.clips[0].duration == pytest.approx((len(times) - 1) * read.frame_time, abs=1e-9)
    index = [one for one, name in enumerate(again.skeleton.names) if not name.startswith("EndSite_")]
    index = index[len(index) - len(kept) :]  # several roots get one above them
    found = again.joint_positions(0, np.arange(len(times)) * read.frame_time, loop="clamp")[:, index]
    np.testing.assert_allclose(found, wanted[:, kept], rtol=0, atol=NEARLY * size)
    return read


def rig(parents: list[int], rest: Any, **clip: Any) -> skinpy.Clip:
    """The clip of a model without a mesh."""
    names = clip.pop("names", [f"j{joint}" for joint in range(len(parents))])
    empty: dict[str, Any] = {"positions": np.zeros((0, 3)), "faces": [], "weights": np.zeros((0, 1))}
    made = skinpy.Clip.from_arrays("go", fps=clip.pop("rate", 30), **clip)
    model = skinpy.Model.from_arrays(
        names, parents, rest, joints=np.zeros((0, 1), int), **empty, clips=[made]
    )
    return model.clips[0]


def random_rest(rng: np.random.Generator, count: int, scale: Any = 1.0) -> np.ndarray:
    rest = np.tile(np.eye(4), (count, 1, 1))
    for matrix in rest:
        q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        matrix[:3, :3] = q * np.sign(np.linalg.det(q)) * scale
    rest[:, :3, 3] = rng.normal(size=(count, 3))
    return rest


def turns(rng: np.random.Generator, frames: int, joints: int) -> np.ndarray:
    return np.cumsum(rng.normal(size=(frames, joints, 4)) * 0.3, axis=0) + [0, 0, 0, 3]


# ---- motion ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["walk", "run", "wave"])
def test_the_character_moves_alike(name: str, tmp_path: Path) -> None:
    read = assert_same_motion(skinpy.character().clips[name], tmp_path)
    assert read.names[:4] == ["ROOT", "Explorer", "Site", "Hips"]
    (tmp_path / "out.bvh").unlink()
    read = assert_same_motion(skinpy.character().clips[name], tmp_path, joint="Hips")
    assert read.names[:2] == ["Hips", "Spine"]
    assert read.channels[0] == ["Xposition", "Yposition", "Zposition", "Zrotation", "Xrotation", "Yrotation"]
    assert read.channels[-2] == ["Zrotation", "Xrotation", "Yrotation"]


@pytest.mark.parametrize("seed", range(4))
def test_generated_models_move_alike(seed: int, tmp_path: Path) -> None:
    """Step, linear and cubic keys, translations and scales."""
    model = skinpy.load(builders.random_model(seed, joints=12, vertices=60).glb(), format="glb")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)  # scales
        for clip in model.clips:
            assert_same_motion(clip, tmp_path, fps=24)
            (tmp_path / "out.bvh").unlink()


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared test data")
@pytest.mark.parametrize(
    "name",
    ["Fox.glb", "RiggedFigure.dae", "RiggedFigure.md5mesh", "huesitos.fbx", "maya_game_sausage.fbx"],
)
def test_characters_of_other_formats_move_alike(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        assert_same_motion(skinpy.load(data_file("models", name)).clips[0], tmp_path)


@pytest.mark.parametrize("scale", [1.0, 0.01, -1.0, [1.0, -1.0, 1.0], [2.0, 0.5, 1.0]])
def test_rest_rotations_and_scales(scale: Any, tmp_path: Path) -> None:
    """The zero pose is the rest pose: offsets of joints in scene space. Uneven scales take positions."""
    rng = np.random.default_rng(3)
    rest = random_rest(rng, 5, scale)
    clip = rig([-1, 0, 1, 1, 3], rest, rotation=turns(rng, 20, 5))
    read = assert_same_motion(clip, tmp_path)
    world = [clip.model.skeleton.rest_global[joint, :3, 3] for joint in range(5)]
    for joint, parent in ((1, 0), (2, 1), (4, 3)):
        row = read.joints[joint]
        np.testing.assert_allclose(read.offsets[row], world[joint] - world[parent], atol=1e-5)
    needs = [len(read.channels[one]) for one in read.joints]
    assert needs == ([6, 3, 3, 3, 3] if np.ndim(scale) == 0 else needs)


def test_joints_that_translate_get_positions(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rest = random_rest(rng, 4)
    moves = np.tile(rest[:, :3, 3], (12, 1, 1))
    moves[:, 2] += np.linspace(0, 1, 12)[:, None]
    clip = rig([-1, 0, 1, 2], rest, rotation=turns(rng, 12, 4), translation=moves)
    read = assert_same_motion(clip, tmp_path)
    assert [len(read.channels[one]) for one in read.joints] == [6, 3, 6, 3]


def test_scales_and_morphs_are_reported(tmp_path: Path) -> None:
    """Joints are where the scale puts them; only the scale itself is lost."""
    rest = random_rest(np.random.default_rng(5), 3)
    clip = rig([-1, 0, 1], rest, scale=np.linspace(1, 2, 9)[:, None, None] * np.ones((1, 3, 3)))
    with pytest.warns(
        skinpy.SkinpyWarning, match=r"'go' are left out: scales of joints \('j0', 'j1', 'j2'\)$"
    ):
        assert_same_motion(clip, tmp_path)
    cube = skinpy.Model.from_arrays(
        ["a"], [-1], [np.eye(4)], positions=np.eye(3), faces=[[0, 1, 2]], joints=[[0]] * 3,
        weights=[[1]] * 3, targets={"smile": np.eye(3)},
    )  # fmt: skip
    smile = skinpy.Clip.from_arrays("smile", fps=2, targets=["smile"], weights=[[0], [1]])
    clip = cube.add_clips(smile).clips[0].add_event(0.5, "blink")
    with pytest.warns(skinpy.SkinpyWarning, match=r"morph targets \('smile'\), events \('blink'\)") as told:
        clip.save(tmp_path / "out.bvh")
    assert told[0].filename == __file__


def test_root_motion_is_part_of_the_motion(tmp_path: Path) -> None:
    clip = skinpy.character().clips["walk"].root_motion_from_feet()
    assert_same_motion(clip, tmp_path)
    assert np.abs(Read((tmp_path / "out.bvh").read_text()).positions()[-1, 0]).max() > 0.3


@pytest.mark.parametrize(
    ("up", "turn"),
    [("+Z", [[1, 0, 0], [0, 0, 1], [0, -1, 0]]), ("-X", [[0, 1, 0], [-1, 0, 0], [0, 0, 1]])],
)
def test_y_is_up(up: str, turn: Any, tmp_path: Path) -> None:
    data = builders.random_model(1, joints=8, vertices=30, kinds=["linear"]).glb()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        assert_same_motion(skinpy.load(data, format="glb", up=up).clips[0], tmp_path, turn)


def test_it_can_be_retargeted_back(tmp_path: Path) -> None:
    """The zero pose is the rest pose, so retargeting gives the same motion, but for where the hips rest."""
    model = skinpy.character()
    model.clips["wave"].save(tmp_path / "wave.bvh", joint="Hips")
    source = skinpy.load(tmp_path / "wave.bvh")
    back = skinpy.retarget(source.clips[0], source, model)
    times = np.linspace(0, back.duration, 13)
    found, wanted = (model.joint_positions(one, times) for one in (back, "wave"))
    hips = model.skeleton.index("Hips")
    found, wanted = (points[:, hips:] - points[:, hips, None] for points in (found, wanted))
    np.testing.assert_allclose(found, wanted, atol=1e-5)


# ---- angles ---------------------------------------------------------------------------------------------


def test_angles_go_on_beyond_a_full_turn(tmp_path: Path) -> None:
    angles = np.radians(np.linspace(0, 1080, 61))
    quaternions = np.zeros((61, 1, 4))
    quaternions[:, 0, 1], quaternions[:, 0, 3] = np.sin(angles / 2), np.cos(angles / 2)
    read = assert_same_motion(rig([-1], [np.eye(4)], rotation=quaternions), tmp_path)
    np.testing.assert_allclose(np.abs(np.diff(read.angles("j0"), axis=0)).max(axis=1), 18, atol=1e-3)


@pytest.mark.parametrize("direction", [1, -1])
def test_through_the_gimbal_lock_and_still_in_it(direction: int, tmp_path: Path) -> None:
    """The middle angle passes a right angle; at exactly that angle the outer ones are not defined."""
    x = np.concatenate([np.linspace(60, 90, 13), np.full(5, 90.0), np.linspace(90, 130, 13)]) * direction
    rotation = skinpy.rotation.from_euler("YXZ", np.stack([0 * x + 20, x, 0 * x], axis=-1), degrees=True)
    read = assert_same_motion(rig([-1], [np.eye(4)], rotation=rotation[:, None]), tmp_path)
    assert np.abs(np.diff(read.angles("j0"), axis=0)).max() < 181
    read_back = skinpy.load(tmp_path / "out.bvh")
    found = read_back.pose(0, np.arange(31) / 30, loop="clamp").rotation[:, 0].astype(float)
    np.testing.assert_allclose(np.abs((found * rotation).sum(axis=1)), 1, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_no_angle_jumps(seed: int, tmp_path: Path) -> None:
    """Steps of at most 9 degrees: an angle jumps only next to the gimbal lock, by half a turn at most."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3) / 3
    rotation = skinpy.rotation.from_rotvec(np.cumsum(axis * 0.15 + rng.normal(size=(200, 3)) * 0.02, axis=0))
    read = assert_same_motion(rig([-1], [np.eye(4)], rotation=rotation[:, None]), tmp_path)
    steps = np.abs(np.diff(read.angles("j0"), axis=0)).max(axis=1)
    near = np.abs(np.cos(np.radians(read.angles("j0")[:-1, 1]))) < 0.25
    assert steps[~near].max() < 45
    assert steps.max() < 181


# ---- names and structure --------------------------------------------------------------------------------


def test_several_roots(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    clip = rig([-1, 0, -1, 2], random_rest(rng, 4), rotation=turns(rng, 8, 4))
    read = assert_same_motion(clip, tmp_path)
    assert [read.parents[one] for one in read.joints].count(-1) == 2


def test_awkward_names(tmp_path: Path) -> None:
    names = ["Left Hand", "{curly}", "arm", "arm", "", "a//b", "caf\udce9", "x:y", "arm_2"]
    clip = rig(
        [-1, *range(8)], random_rest(np.random.default_rng(7), 9), names=names, rotation=np.ones((3, 9, 4))
    )
    with pytest.warns(skinpy.SkinpyWarning, match="'Left Hand as Left_Hand'") as told:
        read = assert_same_motion(clip, tmp_path)
    assert told[0].filename == __file__
    written = [read.names[one] for one in read.joints]
    assert written == ["Left_Hand", "_curly_", "arm", "arm_2", "joint", "a_b", "caf\ufffd", "x:y", "arm_2_2"]


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    """End sites stay end sites, in the order of the file, with its rate."""
    (tmp_path / "in.bvh").write_bytes(import_cases.bvh())
    model = skinpy.load(tmp_path / "in.bvh")
    (tmp_path / "in.bvh").unlink()
    read = assert_same_motion(model.clips[0], tmp_path)
    again = skinpy.load(tmp_path / "out.bvh")
    assert again.skeleton.names == model.skeleton.names
    np.testing.assert_array_equal(again.skeleton.parents, model.skeleton.parents)
    assert len(read.frames) == 31  # two frames, of one second, are keys of a curve
    assert "EndSite_" not in read.names


def test_a_thousand_joints_deep(tmp_path: Path) -> None:
    clip = rig(list(range(-1, 999)), [np.eye(4)] * 1000, rotation=np.ones((2, 1000, 4)))
    assert len(assert_same_motion(clip, tmp_path).joints) == 1000


# ---- frames ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "frames", "fps", "wanted"),
    [(60, 61, None, (61, 60)), (10, 11, None, (31, 30)), (60, 61, 7.5, (9, 7.5)), (30, 32, 12, (14, 12))],
    ids=["its own", "curves", "given", "the end is held"],
)
def test_the_rate(rate: float, frames: int, fps: float | None, wanted: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    clip = rig([-1, 0], random_rest(rng, 2), rate=rate, rotation=turns(rng, frames, 2))
    read = assert_same_motion(clip, tmp_path, fps=fps)
    assert (len(read.frames), 1 / read.frame_time) == (wanted[0], pytest.approx(wanted[1]))


def test_a_single_pose(tmp_path: Path) -> None:
    clip = rig([-1, 0], random_rest(np.random.default_rng(1), 2), rotation=np.ones((1, 2, 4)))
    assert len(saved(clip, tmp_path).frames) == 1


# ---- the call -------------------------------------------------------------------------------------------


def test_what_cannot_be_written(tmp_path: Path) -> None:
    model = skinpy.character()
    walk, path = model.clips["walk"], tmp_path / "x.bvh"
    with pytest.raises(ValueError, match="'walk' is additive"):
        model.add_clips(walk.additive(), replace=True).clips["walk"].save(path)
    with pytest.raises(ValueError, match="bound to no model"):
        skinpy.Clip.from_arrays("nod", fps=1, rotation=[[[0, 0, 0, 1]]]).save(path)
    for options in ({"time": 0.5}, {"turntable": True}, {"size": (9, 9)}, {"background": "#fff"}):
        with pytest.raises(ValueError, match=f"{next(iter(options))} is for pictures"):
            walk.save(path, **options)
    for fps in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="fps is"):
            walk.save(path, fps=fps)
    with pytest.raises(KeyError, match="Hip"):
        walk.save(path, joint="Hip")
    with pytest.raises(ValueError, match=r"joint is for \.bvh"):
        walk.save(tmp_path / "x.png", joint="Hips")
    with pytest.raises(ValueError, match="expected a lower fps"):
        walk.save(path, fps=5e6)
    with pytest.raises(ValueError, match=r"Clip\.save also writes \.bvh"):
        walk.save(tmp_path / "x.fbx")
    assert not list(tmp_path.iterdir())


def test_a_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.bvh"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        skinpy.character().clips["walk"].save(path)
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["x.bvh"]


# ---- three.js -------------------------------------------------------------------------------------------

MODULES = os.environ.get("SKINPY_NODE_MODULES", "")
HAS_THREE = bool(shutil.which("node")) and (Path(MODULES) / "node_modules" / "three").is_dir()


@pytest.mark.extras
@pytest.mark.skipif(
    not HAS_THREE, reason="SKINPY_NODE_MODULES: no folder with node_modules/three, or no node"
)
@pytest.mark.parametrize("name", ["walk", "run", "wave"])
def test_three_js_moves_it_alike(name: str, tmp_path: Path) -> None:
    """BVHLoader adds positions to offsets, and keeps rotations in float64 and keys in float32."""
    model = skinpy.character()
    model.clips[name].save(tmp_path / "out.bvh", fps=30)
    read = Read((tmp_path / "out.bvh").read_text())
    times = np.arange(len(read.frames)) * read.frame_time
    command = ["node", str(Path(__file__).with_name("bvh_three.mjs")), MODULES, str(tmp_path / "out.bvh")]
    done = subprocess.run(
        [*command, *map(str, times[:-1])], capture_output=True, text=True, check=True, timeout=HANGS
    )
    found = json.loads(done.stdout)
    assert found["names"] == list(model.skeleton.names)
    wanted = model.joint_positions(name, times[:-1])
    np.testing.assert_allclose(found["frames"], wanted, rtol=0, atol=1e-4)
