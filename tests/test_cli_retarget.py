"""The command `skinpy retarget`: what it writes, what it prints, and what it refuses."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from test_cli import CHARACTER, run, still

import skinpy

#: A walker whose joints have other names than those of the bundled character. It lacks hands, and has a tail.
HIERARCHY = (
    ("pelvis", -1, (0, 0.9, 0)),
    ("spine_01", 0, (0, 0.2, 0)),
    ("head", 1, (0, 0.4, 0)),
    ("thigh_l", 0, (0.1, -0.05, 0)),
    ("calf_l", 3, (0, -0.4, 0)),
    ("foot_l", 4, (0, -0.4, 0)),
    ("thigh_r", 0, (-0.1, -0.05, 0)),
    ("calf_r", 6, (0, -0.4, 0)),
    ("foot_r", 7, (0, -0.4, 0)),
    ("upperarm_l", 1, (0.2, 0.3, 0)),
    ("lowerarm_l", 9, (0.3, 0, 0)),
    ("upperarm_r", 1, (-0.2, 0.3, 0)),
    ("lowerarm_r", 11, (-0.3, 0, 0)),
    ("tail", 0, (0, 0, -0.2)),
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file with two clips, of which the first swings a thigh and the tail."""
    names, parents, offsets = zip(*HIERARCHY, strict=True)
    rest = np.repeat(np.eye(4)[None], len(names), axis=0)
    rest[:, :3, 3] = offsets
    empty = {"positions": np.zeros((0, 3)), "faces": np.zeros((0, 3), int)}
    skin = {"joints": np.zeros((0, 1), int), "weights": np.zeros((0, 1))}
    angles = np.array([0.0, 0.3, -0.3]) / 2
    swing = np.stack([np.sin(angles), 0 * angles, 0 * angles, np.cos(angles)], axis=-1)
    clips = [
        skinpy.Clip.from_arrays(
            "swing", fps=10, joints=["thigh_l", "tail"], rotation=swing[:, None].repeat(2, 1)
        ),
        skinpy.Clip.from_arrays("lean", fps=10, joints=["spine_01"], rotation=swing[:, None]),
    ]
    path = tmp_path / "walker.skn"
    skinpy.Model.from_arrays(names, parents, rest, **empty, **skin, clips=clips).save(path)
    return path


def test_a_character_with_the_clips_of_another(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is written is what the library makes of the same files."""
    out = tmp_path / "out.glb"
    assert run("retarget", source, "character", "-o", out) == 0
    shown = capsys.readouterr()
    written, walker, character = skinpy.load(out), skinpy.load(source), skinpy.character()
    assert written.clips.names == (*character.clips.names, "swing", "lean")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        clip = skinpy.retarget("swing", walker, character, "auto")
    for time in (0.0, 0.1, 0.2):
        want = character.joint_positions(clip, time)
        got = written.joint_positions("swing", time)
        joints = [written.skeleton.index(name) for name in character.skeleton.names if name != "ROOT"]
        others = [character.skeleton.index(name) for name in character.skeleton.names if name != "ROOT"]
        assert np.abs(got[joints] - want[others]).max() < 1e-5  # .glb holds float32, and is 1.7 m high
    assert shown.err == ""
    assert "  pairs     pelvis     -> Hips\n" in shown.out and "thigh_l    -> LeftUpperLeg\n" in shown.out
    assert "  left out  tail\n" in shown.out and "  at rest   " in shown.out
    assert "with the new clips 'swing', 'lean'" in shown.out


def test_one_clip_on_a_file(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.skn"
    assert run("retarget", source, CHARACTER, "-o", out, "--clip", "lean") == 0
    assert skinpy.load(out).clips.names == (*skinpy.character().clips.names, "lean")
    assert "with the new clip 'lean'" in capsys.readouterr().out


def test_the_motion_alone(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A .bvh or .npz file has one clip, with the joints of the character."""
    out = tmp_path / "out.bvh"
    assert run("retarget", source, "character", "-o", out) == 1
    assert "choose one with --clip" in capsys.readouterr().err and not out.exists()
    assert run("retarget", source, "character", "-o", out, "--clip", "swing") == 0
    motion, character = skinpy.load(out), skinpy.character()
    assert {*character.skeleton.names} - {*motion.skeleton.names} <= {"ROOT", "Explorer"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        clip = skinpy.retarget("swing", skinpy.load(source), character, "auto")
    knee = [model.skeleton.index("LeftLowerLeg") for model in (motion, character)]
    got, want = motion.joint_positions(0, 0.1)[knee[0]], character.joint_positions(clip, 0.1)[knee[1]]
    assert np.abs(got - want).max() < 1e-4  # meters; .bvh holds degrees with a few digits

    assert run("retarget", source, "character", "-o", tmp_path / "out.npz", "--clip", "swing") == 0
    arrays = skinpy.load(tmp_path / "out.npz")
    assert arrays.skeleton.names == character.skeleton.names
    got = arrays.joint_positions(0, 0.1)
    assert np.abs(got - character.joint_positions(clip, 0.1)).max() < 1e-5  # meters; .npz holds float32


def test_parameters_of_smpl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An .npz file is one of AMASS, or one that `Clip.to_npz` wrote."""
    poses = np.zeros((4, 156))
    poses[:, 0] = np.pi / 2  # upright, where +Z is up
    poses[:, 50] = [0, -0.4, -0.8, -1.2]  # the left shoulder about +Z: the arm goes down
    parameters, out = tmp_path / "arm.npz", tmp_path / "out.skn"
    np.savez(parameters, poses=poses, trans=np.tile([0, 0, 0.92], (4, 1)), mocap_framerate=30)
    assert run("retarget", parameters, "character", "-o", out) == 0
    assert "with the new clip 'arm'" in capsys.readouterr().out
    character, written = skinpy.character(), skinpy.load(out)
    elbow, hand = (written.skeleton.index(name) for name in ("LeftLowerArm", "LeftHand"))
    start, end = written.joint_positions("arm", [0.0, 0.1])[:, [elbow, hand]]
    slopes = [
        np.degrees(np.arcsin((arm[1] - arm[0])[1] / np.linalg.norm(arm[1] - arm[0]))) for arm in (start, end)
    ]
    assert np.allclose(slopes, [0, -np.degrees(1.2)], atol=0.1)

    character.clips["run"].to_npz(tmp_path / "run.npz")
    assert run("retarget", tmp_path / "run.npz", "character", "-o", out) == 0
    assert "with the new clip 'run.2'" in capsys.readouterr().out

    (tmp_path / "bad.npz").write_bytes(b"no archive")
    assert run("retarget", tmp_path / "bad.npz", "character", "-o", out) == 1
    assert "bad.npz" in capsys.readouterr().err


def test_pairs_of_ones_own(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--pair changes what was found; --joint-map replaces it."""
    out = tmp_path / "out.skn"
    swapped = ("--pair", "thigh_l=RightUpperLeg", "--pair", "head=")
    assert run("retarget", source, "character", "-o", out, *swapped) == 0
    shown = capsys.readouterr().out
    assert "thigh_l    -> RightUpperLeg\n" in shown and "thigh_r" not in shown.split("left out")[0]
    assert "  head " not in shown and "  pelvis " in shown
    rest, written = skinpy.character().skeleton, skinpy.load(out)
    moved = np.abs(written.pose("swing", 0.1).rotation - rest.rotation).max(axis=1) > 0.01
    assert moved[rest.index("RightUpperLeg")] and not moved[rest.index("LeftUpperLeg")]

    for name, text in (("map.json", '{"tail": "Head"}'), ("map.toml", 'tail = "Head"')):
        (tmp_path / name).write_text(text)
        words = ("--joint-map", tmp_path / name, "--clip", "swing")
        assert run("retarget", source, "character", "-o", out, *words) == 0
        assert "  pairs     tail -> Head\n  left out  thigh_l\n" in capsys.readouterr().out


def test_reference_poses(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The words of the options are those of the library, and t and a are poses of the humanoid."""
    out, walker, character = tmp_path / "out.skn", skinpy.load(source), skinpy.character()
    for words, arguments in (
        (("rest", "rest"), {"source_pose": "rest", "target_pose": "rest"}),
        (("0.1", "t"), {"source_pose": 0.1, "target_pose": character.humanoid.t_pose()}),
        (("auto", "a"), {"source_pose": "auto", "target_pose": character.humanoid.a_pose()}),
    ):
        options = ("--clip", "swing", "--source-pose", words[0], "--target-pose", words[1])
        assert run("retarget", source, "character", "-o", out, *options) == 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", skinpy.SkinpyWarning)
            clip = skinpy.retarget("swing", walker, character, "auto", **arguments)
            match = skinpy.match_poses("swing", walker, character, "auto", **arguments)
        want = character.joint_positions(clip, 0.1)
        assert np.array_equal(skinpy.load(out).joint_positions("swing", 0.1), want)
        shown = capsys.readouterr().out
        assert f"  poses     of 'swing': source {match.source_from}; target {match.target_from}\n" in shown
        assert f"leftUpperArm {match.degrees['leftUpperArm']:.0f}" in shown


def test_feet_that_are_locked(source: Path, tmp_path: Path) -> None:
    out, walker, character = tmp_path / "out.skn", skinpy.load(source), skinpy.character()
    assert run("retarget", source, "character", "-o", out, "--clip", "lean", "--lock-feet") == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        clip = skinpy.lock_feet(skinpy.retarget("lean", walker, character, "auto"))
    want = character.joint_positions(clip, 0.1)
    assert np.array_equal(skinpy.load(out).joint_positions("lean", 0.1), want)


def test_a_picture_of_both(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("moderngl")
    out, picture = tmp_path / "out.skn", tmp_path / "both.png"
    assert run("retarget", source, "character", "-o", out, "--clip", "0", "--picture", picture) == 0
    assert f"  drew      {picture}" in capsys.readouterr().out
    with image.open(picture) as opened:
        pixels = np.asarray(opened)[..., :3].astype(int)
    assert pixels.shape == (2 * 182 + 6, 8 * 120 + 12, 3)
    for row in (slice(22, 182), slice(204, 364)):  # both rows show something in every frame
        frames = pixels[row, 6:-6].reshape(160, 8, 120, 3)
        assert (frames.min(axis=(0, 2, 3)) < 160).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--clip", "swnig"), "did you mean 'swing'"),
        (("--pair", "thihg_l=LeftUpperLeg"), "did you mean 'thigh_l'"),
        (("--pair", "thihg_l="), "did you mean 'thigh_l'"),
        (("--pair", "thigh_l=LeftUperLeg"), "did you mean 'LeftUpperLeg'"),
        (("--joint-map", "none.json"), "'none.json': No such file or directory"),
        (("--joint-map", "list.json"), "expected a JSON object or a TOML table of names"),
        (("--joint-map", "bad.toml"), "--joint-map 'bad.toml' cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.json").write_text(json.dumps(["Hips"]))
    (tmp_path / "bad.toml").write_text("Hips = ")
    assert run("retarget", source, "character", "-o", "out.glb", *words) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith("skinpy: ") and shown.err.count("\n") == 1 and message in shown.err
    assert shown.out == "" and not (tmp_path / "out.glb").exists()


def test_a_source_without_clips(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    still().save(tmp_path / "still.skn")
    assert run("retarget", tmp_path / "still.skn", "character", "-o", tmp_path / "out.glb") == 1
    assert "has no clips; there is nothing to retarget" in capsys.readouterr().err
