"""skinpy convert: between all formats that are written, several files in one, and folders."""

import warnings
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest

import skinpy
from skinpy.__main__ import main

CHARACTER = Path(skinpy.__file__).parent / "data" / "character.glb"
SUFFIXES = (".glb", ".skn", ".bvh", ".npz")


def run(*words: Any) -> int:
    return main(["convert", *map(str, words)])


def loaded(path: Path) -> skinpy.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        return skinpy.load(path)


def usage(capsys: pytest.CaptureFixture[str], *words: Any) -> str:
    with pytest.raises(SystemExit) as stop:
        run(*words)
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("first", SUFFIXES)
@pytest.mark.parametrize("second", SUFFIXES)
def test_between_all_formats(first: str, second: str, tmp_path: Path) -> None:
    """All joints stay where they are, from format to format."""
    one, two = tmp_path / f"one{first}", tmp_path / f"two{second}"
    assert run(CHARACTER, "-o", one, "--clip", "wave") == 0
    assert run(one, "-o", two) == 0
    model, again = skinpy.character(), loaded(two)
    assert again.clips.names == ("Motion" if ".bvh" in (first, second) else "wave",)
    times = np.linspace(0, 2.4, 61)
    index = [again.skeleton.index(name) for name in model.skeleton.names]
    found = again.joint_positions(0, times, loop="clamp")[:, index]
    np.testing.assert_allclose(found, model.joint_positions("wave", times, loop="clamp"), atol=2e-5)
    assert len(again.mesh.faces) == (0 if {first, second} & {".bvh", ".npz"} else len(model.mesh.faces))


def test_one_file_with_the_clips_of_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("walk", "run"):
        assert run(CHARACTER, "-o", tmp_path / f"{name}.bvh", "--clip", name) == 0
    out = tmp_path / "all.skn"
    assert run(CHARACTER, tmp_path / "walk.bvh", tmp_path / "run.bvh", "-o", out) == 0
    assert skinpy.load(out).clips.names == ("walk", "run", "wave", "Motion", "run|Motion")
    assert "all.skn with 'walk', 'run', 'wave', 'Motion', 'run|Motion'" in capsys.readouterr().out
    assert run(CHARACTER, tmp_path / "run.bvh", "-o", out, "--clip", "Motion", "--clip", "0") == 0
    assert skinpy.load(out).clips.names == ("Motion", "walk")
    skinpy.crane().save(tmp_path / "crane.glb")
    still = skinpy.Model.from_arrays(
        ["a"], [-1], [np.eye(4)], positions=np.eye(3), faces=[[0, 1, 2]], joints=[[0]] * 3, weights=[[1]] * 3
    )
    still.save(tmp_path / "still.skn")
    assert run(CHARACTER, tmp_path / "still.skn", "-o", out) == 1
    assert "still.skn has no clips; expected some to add" in capsys.readouterr().err


def test_clips_in_another_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skinpy.character().save(tmp_path / "meters.glb")
    skinpy.character().save(tmp_path / "large.glb", unit_meters=100)
    assert run(tmp_path / "meters.glb", tmp_path / "large.glb", "-o", tmp_path / "out.skn") == 0
    told = capsys.readouterr().err
    assert "another unit" in told
    assert told.endswith("on the command line, with --scale auto\n")
    assert (
        run(tmp_path / "meters.glb", tmp_path / "large.glb", "-o", tmp_path / "out.skn", "--scale", "auto")
        == 0
    )
    assert not capsys.readouterr().err
    model = skinpy.load(tmp_path / "out.skn")
    positions = (model.joint_positions(clip, 0.2) for clip in ("walk", "large|walk"))
    np.testing.assert_allclose(*positions, atol=1e-5)


def test_a_unit_that_the_file_does_not_say(tmp_path: Path) -> None:
    assert (
        run(CHARACTER, "-o", tmp_path / "walk.bvh", "--clip", "walk", "--joint", "Hips", "--fps", "50") == 0
    )
    assert run(tmp_path / "walk.bvh", "-o", tmp_path / "walk.glb", "--unit", "0.01") == 0
    bvh, model = skinpy.load(tmp_path / "walk.bvh"), skinpy.load(tmp_path / "walk.glb")
    assert bvh.skeleton.names[0] == "Hips"
    assert len(bvh.clips[0].channels[0].times) == 51
    np.testing.assert_allclose(
        model.joint_positions(0, 0.5), 0.01 * bvh.joint_positions(0, 0.5).astype(float), atol=1e-7
    )


def test_all_influences_are_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    skinpy.Model.from_arrays(
        [f"j{joint}" for joint in range(8)],
        [-1] * 8,
        np.tile(np.eye(4), (8, 1, 1)),
        positions=rng.random((40, 3)),
        faces=[[0, 1, 2]],
        joints=np.tile(np.arange(8), (40, 1)),
        weights=rng.random((40, 8)) + 0.1,
    ).save(tmp_path / "in.glb")
    assert run(tmp_path / "in.glb", "-o", tmp_path / "out.skn") == 0
    assert skinpy.load(tmp_path / "out.skn").mesh.slots.shape[1] == 8


# ---- folders ----------------------------------------------------------------------------------------------


def test_a_folder_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        files.append(tmp_path / str(number) / "same name.glb")
        files[-1].write_bytes(builders.random_model(number, joints=8, vertices=30, clips=1).glb())
    out = tmp_path / "out"
    assert run(CHARACTER, *files, "-o", out, "--to", "npz") == 0
    wanted = ["character-run", "character-walk", "character-wave", "same name", "same name-2"]
    assert sorted(path.stem for path in out.iterdir()) == wanted
    assert loaded(out / "character-run.npz").clips.names == ("run",)
    capsys.readouterr()
    assert run(CHARACTER, "-o", out, "--to", "npz") == 1
    assert "character-walk.npz: the file exists; name another folder" in capsys.readouterr().err
    assert run(CHARACTER, "-o", out, "--to", "npz", "--force") == 0
    assert run(CHARACTER, *files, "-o", out, "--to", "skn") == 0
    assert sum(path.suffix == ".skn" for path in out.iterdir()) == 3


def test_what_fails_is_told_and_the_rest_is_converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.glb").write_bytes(b"glTF")
    still = skinpy.Model.from_arrays(
        ["a"], [-1], [np.eye(4)], positions=np.eye(3), faces=[[0, 1, 2]], joints=[[0]] * 3, weights=[[1]] * 3
    )
    still.save(tmp_path / "still.glb")
    files = [tmp_path / "broken.glb", tmp_path / "none.glb", tmp_path / "still.glb", CHARACTER]
    assert run(*files, "-o", tmp_path / "out", "--to", "bvh") == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 4
    for line, name in zip(told, ("broken.glb", "none.glb", "still.glb"), strict=False):
        assert line.startswith("skinpy: warning: ")
        assert line.count(name) == 1
    assert told[-1] == "skinpy: 3 of 4 files were not converted"
    assert len(list((tmp_path / "out").iterdir())) == 3
    assert run(CHARACTER, "-o", tmp_path / "still.glb", "--to", "bvh") == 1
    assert "still.glb" in capsys.readouterr().err


# ---- what does not go together ----------------------------------------------------------------------------


def test_one_clip_in_a_file_of_motion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(CHARACTER, "-o", tmp_path / "x.bvh") == 1
    told = capsys.readouterr().err
    assert (
        "x.bvh holds one clip, but there are 3; choose one with --clip, or write all with --to bvh: 'walk'"
        in told
    )
    assert run(CHARACTER, "-o", tmp_path / "x.bvh", "--clip", "jump") == 1
    assert "jump" in capsys.readouterr().err
    assert run(CHARACTER, "-o", tmp_path / "x.bvh", "--clip", "walk", "--joint", "Hip") == 1
    assert "Hips" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "out"), "--output 'out' is not a file that can be written; expected one that ends in .glb"),
        (("-o", "out.fbx"), "'out.fbx'"),
        (("-o", "out.glb", "--fps", "30"), "--fps does not go with this; expected it for .bvh or .npz"),
        (("-o", "out.npz", "--joint", "Hips"), "--joint does not go with this; expected it for .bvh"),
        (("-o", "out.bvh", "--unit", "1"), "--unit does not go with this; expected it for .glb or .skn"),
        (
            ("-o", "out.glb", "--scale", "auto"),
            "--scale does not go with this; expected it for several",
        ),
        (("-o", "out.glb", "--force"), "--force does not go with this; expected it for a folder"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together(
    words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in usage(capsys, "missing.glb", *words)
