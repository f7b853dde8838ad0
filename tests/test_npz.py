"""clip.to_npz: NumPy reads the arrays without pickle, and skinpy.load makes a model of them again."""

import io
import warnings
import zipfile
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest

import skinpy


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def written(folder: Path, **changes: Any) -> Path:
    """A file whose arrays are those of "wave" but for changes; None leaves an array out."""
    path = skinpy.character().clips["wave"].to_npz(folder / "wave.npz")
    arrays = arrays_of(path) | changes
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
    return path


def quiet(path: Path, **options: Any) -> skinpy.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        return skinpy.load(path, **options)


@pytest.mark.parametrize("seed", range(4))
def test_the_arrays_are_the_poses(seed: int, tmp_path: Path) -> None:
    model = skinpy.load(builders.random_model(seed, joints=12, vertices=60).glb(), format="glb", up="+Z")
    clip = model.clips[1]
    arrays = arrays_of(clip.to_npz(tmp_path / "x.npz", fps=24))
    times = arrays["times"]
    assert times[0] == 0
    assert times[-1] == clip.duration
    np.testing.assert_allclose(np.diff(times)[:-1], 1 / 24)
    pose = model.pose(clip, times, loop="clamp")
    for name in ("translation", "rotation", "scale"):
        np.testing.assert_array_equal(arrays[name], getattr(pose, name))
    np.testing.assert_array_equal(arrays["weights"], pose.morph_weights)
    np.testing.assert_allclose(arrays["positions"], pose.globals()[..., :3, 3], atol=1e-6)
    assert arrays["joints"].tolist() == list(model.skeleton.names)
    assert (arrays["fps"], arrays["up"], arrays["unit_meters"]) == (24, "+Z", 1)
    again = quiet(tmp_path / "x.npz")
    assert (again.up, again.unit_meters, again.skeleton.names) == ("+Z", 1.0, model.skeleton.names)
    assert again.clips.names == (clip.name,)
    assert [one.name for one in again.targets] == [one.name for one in model.targets]
    found = again.pose(0, times, loop="clamp")
    np.testing.assert_allclose(found.globals(), pose.globals(), atol=2e-6)
    np.testing.assert_allclose(found.morph_weights, pose.morph_weights, atol=1e-6)


def test_root_motion_and_events_come_back(tmp_path: Path) -> None:
    model = skinpy.character()
    clip = model.clips["walk"].root_motion_from_feet().add_event(0.25, "left").add_event(0.75, "right")
    again = skinpy.load(clip.to_npz(tmp_path / "x.npz")).clips[0]
    assert again.events == clip.events
    assert clip.root_motion is not None
    assert again.root_motion is not None
    for time in np.linspace(0, 1, 9):
        np.testing.assert_allclose(again.root_motion.sample(time), clip.root_motion.sample(time), atol=1e-6)
    back = model.add_clips(tmp_path / "x.npz")
    assert back.clips.names == ("walk", "run", "wave", "x|walk")
    times = np.arange(26) / 25
    positions = (back.joint_positions(one, times) for one in ("walk", "x|walk"))
    np.testing.assert_allclose(*positions, atol=1e-6)


def test_bytes_and_open_files(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert skinpy.load(path.read_bytes(), format="npz").clips.names == ("wave",)
    with path.open("rb") as file:
        assert skinpy.load(file, format="npz").clips.names == ("wave",)


def test_a_single_pose_and_a_model_without_unit(tmp_path: Path) -> None:
    stand = skinpy.Clip.from_arrays("stand", times=[0.0], rotation=[[[0, 0, 0, 1]]])
    empty: dict[str, Any] = {"positions": np.zeros((0, 3)), "faces": [], "weights": np.zeros((0, 1))}
    model = skinpy.Model.from_arrays(
        ["\u00e9 \u4eba"], [-1], [np.eye(4)], joints=np.zeros((0, 1), int), **empty, clips=[stand]
    )
    again = skinpy.load(model.clips[0].to_npz(tmp_path / "x.npz"))
    assert (again.skeleton.names, again.unit_meters, again.clips[0].duration) == (("\u00e9 \u4eba",), None, 0)


# ---- files that are not .npz files -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"times": None, "rest": None}, "no array 'times', 'rest'; expected a file that Clip.to_npz wrote"),
        ({"version": 2}, "of version 2; expected 'skinpy clip' of version 1"),
        ({"format": "other"}, "its format is 'other'"),
        ({"rotation": np.zeros((5, 26, 4))}, r"'rotation' has shape \(5, 26, 4\); expected \(61, 26, 4\)"),
        ({"rotation": np.zeros((61, 26, 4))}, "length 0"),
        ({"joints": np.arange(26)}, "'joints' has dtype int64"),
        ({"parents": np.full(26, 30)}, "parents"),
        ({"times": np.full(61, np.nan)}, "times"),
        ({"times": np.zeros(61)}, "times"),
        ({"translation": np.full((61, 26, 3), np.inf)}, "translation"),
        ({"rest": np.zeros((26, 4, 4))}, "rest"),
        ({"up": "+W"}, r"up is '\+W'"),
        ({"unit_meters": -1.0}, "unit"),
        ({"event_times": [9.0], "event_names": ["late"]}, "time is 9"),
        ({"name": np.array(["a", "b"])}, "'name' has shape"),
    ],
    ids=str,
)
def test_arrays_that_are_no_clip(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(skinpy.LoadError, match=f"wave.npz: .*{words}"):
        quiet(written(tmp_path, **changes))


def test_pickles_are_not_read(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (pytest.fail, ("it was unpickled",))

    path = written(tmp_path, joints=np.array([Bomb()] * 26, object))
    with pytest.raises(skinpy.LoadError, match="'joints' has dtype object"):
        skinpy.load(path)


def member(header: str, data: bytes = b"") -> bytes:
    """An .npy file with any header."""
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<U11', 'fortran_order': False, 'shape': (1000000000000,)}",
        "{'descr': '<U11', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<U0', 'fortran_order': False, 'shape': ()}",
        "{'descr': '|O', 'fortran_order': False, 'shape': ()}",
        "__import__('os').abort()",
        "(" * 9000,
        "",
    ],
    ids=["huge", "negative", "of no bytes", "objects", "code", "nested", "empty"],
)
def test_headers_that_lie(header: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    replaced = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(replaced, "w") as new:
        for one in old.infolist():
            new.writestr(one.filename, member(header) if one.filename == "format.npy" else old.read(one))
    path.write_bytes(replaced.getvalue())
    with pytest.raises(skinpy.LoadError, match=r"wave\.npz: "):
        skinpy.load(path)


def test_broken_archives(tmp_path: Path) -> None:
    path = written(tmp_path)
    data = path.read_bytes()
    for broken in (b"", b"PK", b"no zip at all", data[:-30], data[:5000] + bytes(5000) + data[10000:]):
        path.write_bytes(broken)
        with pytest.raises(skinpy.LoadError, match=r"wave\.npz: "):
            skinpy.load(path)


def test_limits(tmp_path: Path) -> None:
    path = written(tmp_path)
    np.savez_compressed(path, **arrays_of(path))
    for limits, words in (
        ({"file_bytes": 1000}, "the limit of file_bytes is 1000"),
        ({"file_bytes": path.stat().st_size + 1}, r"the arrays take \d+ bytes, the limit of file_bytes"),
        ({"nodes": 25}, "26 joints, the limit of nodes is 25"),
        ({"keys": 1000}, "15860 keys, the limit of keys is 1000"),
    ):
        with pytest.raises(skinpy.errors.LimitExceeded, match=words):
            skinpy.load(path, limits=skinpy.Limits(**limits))


# ---- the call ---------------------------------------------------------------------------------------------


def test_what_cannot_be_written(tmp_path: Path) -> None:
    walk = skinpy.character().clips["walk"]
    with pytest.raises(ValueError, match=r"path ends in '\.np'; expected '\.npz'"):
        walk.to_npz(tmp_path / "x.np")
    with pytest.raises(ValueError, match="additive"):
        walk.additive().to_npz(tmp_path / "x.npz")
    with pytest.raises(ValueError, match="fps is 0"):
        walk.to_npz(tmp_path / "x.npz", fps=0)
    with pytest.raises(ValueError, match="bound to no model"):
        skinpy.Clip.from_arrays("a", times=[0], rotation=[[[0, 0, 0, 1]]]).to_npz(tmp_path / "x.npz")
    assert not list(tmp_path.iterdir())


def test_still_joints_keep_the_shear_of_their_rest(tmp_path: Path) -> None:
    """No translation, rotation and scale hold a shear, so a joint that stands still must have no keys."""
    sheared = np.eye(4)
    sheared[0, 1] = 0.5
    raised = np.eye(4)
    raised[1, 3] = 1.0
    model = skinpy.Model.from_arrays(
        ["root", "tip"],
        [-1, 0],
        [sheared, raised],
        positions=[[0, 0, 0]],
        faces=[],
        joints=[[0]],
        weights=[[1]],
    )
    turn = [[[0, 0, 0, 1]], [[0, 0, 0.6, 0.8]]]
    clip = model.add_clips(skinpy.Clip.from_arrays("x", times=[0, 1], joints=["tip"], rotation=turn)).clips[0]
    again = skinpy.load(clip.to_npz(tmp_path / "x.npz"))
    wanted = clip.model.globals(clip, [0.0, 1.0], loop="clamp")  # type: ignore[union-attr]
    assert np.allclose(again.globals(0, [0.0, 1.0], loop="clamp"), wanted, atol=1e-6)


def test_targets_of_one_name_get_a_number(tmp_path: Path) -> None:
    weights = np.zeros((16, 2), np.float32)
    weights[:, 1] = 1.0
    path = skinpy.character().clips["wave"].to_npz(tmp_path / "wave.npz")
    weights = np.resize(weights, (len(arrays_of(path)["times"]), 2))
    model = quiet(written(tmp_path, targets=np.array(["a", "a"]), weights=weights))
    assert [target.name for target in model.targets] == ["a", "a.2"]
    assert np.array_equal(model.pose(0, 0.0).morph_weights, [0.0, 1.0])
