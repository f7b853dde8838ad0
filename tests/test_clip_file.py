"""`clip.save`, `skinpy render` of films, and the cameras of a turntable. Files are read back by Pillow."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("moderngl", reason="films are drawn: install the extra 'view'")
pytest.importorskip("PIL", reason="Pillow (the extra `view`) writes the films")

from PIL import Image
from test_film import decoded, decoded_mp4, needs_ffmpeg

import skinpy
from skinpy.__main__ import main
from skinpy.output import clip_file, film, mp4
from skinpy.output.clip_file import loop_times
from skinpy.render import Camera, Floor, turntable
from skinpy.render.gpu import context as gl

CHARACTER = str(Path(skinpy.__file__).parent / "data" / "character.glb")
SIZE = (48, 36)
SUFFIXES = [".apng", ".gif", ".webp", pytest.param(".mp4", marks=needs_ffmpeg)]


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return skinpy.character()


# ---- what is refused -----------------------------------------------------------------------------------

BAD: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    (
        "a.avi",
        {},
        ValueError,
        r"path is 'a\.avi'; expected \.png.* for a picture, \.apng.*\.mp4 for a film, or \.html or \.htm for",
    ),
    ("a", {}, ValueError, "path is 'a'; expected"),
    ("a.html", {"turntable": True}, ValueError, "turntable is for pictures and films"),
    ("a.webp", {"time": 0.1}, ValueError, r"time is 0\.1, but \.webp is a film .*; expected \.png"),
    ("a.png", {"fps": 10}, ValueError, r"fps is for films, but \.png is a picture; expected \.apng"),
    ("a.png", {"turntable": True}, ValueError, "turntable is for films"),
    ("a.gif", {"fps": 60}, ValueError, "fps is 60; expected more than 0 and at most 50 in .gif"),
    ("a.webp", {"fps": 0}, ValueError, "fps is 0; expected more than 0"),
    ("a.png", {"size": (0, 36)}, ValueError, r"size is \(0, 36\); expected .* at least 1 pixel"),
    ("a.webp", {"size": (48, 0)}, ValueError, r"size is \(48, 0\); expected .* at least 1 pixel"),
    ("a.webp", {"size": (10**6, 2)}, ValueError, r"size is 1000000x2; .* at most \d+ pixels a side"),
    ("a.png", {"time": math.nan}, ValueError, "time is nan; expected a finite number"),
    ("a.png", {"background": "mauve-ish"}, ValueError, "background is 'mauve-ish'"),
    ("no/folder/a.png", {}, FileNotFoundError, r"make the folder first: 'no/folder/a\.png'"),
    ("no/folder/a.webp", {}, FileNotFoundError, r"make the folder first: 'no/folder/a\.webp'"),
    ("file/a.gif", {}, NotADirectoryError, r"choose another folder: 'file/a\.gif'"),
    ("folder.png", {}, IsADirectoryError, r"give the name of a file: 'folder\.png'"),
    ("n" * 300 + ".apng", {}, OSError, "choose a shorter name"),
]


@pytest.mark.parametrize(("name", "options", "error", "words"), BAD)
def test_bad_arguments(
    model: skinpy.Model,
    name: str,
    options: dict[str, Any],
    error: type[Exception],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(error, match=words):
        model.clips["run"].save(name, **{"size": SIZE, **options})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.png"]


def test_a_turntable_has_its_own_cameras(model: skinpy.Model, tmp_path: Path) -> None:
    camera = Camera.frame(model.bounds())
    with pytest.raises(ValueError, match="camera is given together with turntable"):
        model.clips["run"].save(tmp_path / "a.webp", camera=camera, turntable=True)


def test_a_clip_of_no_model_says_how_to_bind_it(model: skinpy.Model, tmp_path: Path) -> None:
    clip = skinpy.Clip.from_arrays("turn", fps=1, rotation=np.tile([0.0, 0, 0, 1], (2, 1, 1)))
    with pytest.raises(ValueError, match=r"'turn' is bound to no model; model\.add_clips\(clip\)"):
        clip.save(tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "suffix", [".png", ".apng", ".gif", ".webp", pytest.param(".mp4", marks=needs_ffmpeg)]
)
def test_a_full_disk(model: skinpy.Model, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"full{suffix}"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device; make room.*full\." + suffix[1:]) as caught:
        model.clips["run"].save(path, size=SIZE)
    assert caught.value.errno == 28
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_disk_that_is_full_in_the_middle_keeps_nothing(tmp_path: Path) -> None:
    """Files of 2,000 bytes at most; the old film stays as it was."""
    old = tmp_path / "a.webp"
    old.write_bytes(b"old")
    code = f"""if True:
        import resource
        import skinpy

        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        skinpy.character().clips["run"].save({str(old)!r}, size={SIZE})
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "File too large; raise the limit of file size (ulimit -f), or choose another disk" in done.stderr
    assert old.read_bytes() == b"old" and list(tmp_path.iterdir()) == [old]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_nobody_may_write(model: skinpy.Model, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="choose a folder that you may write to"):
        model.clips["run"].save(tmp_path / "a.webp", size=SIZE)


@pytest.mark.parametrize("suffix", [".png", ".webp"])
def test_without_opengl(
    model: skinpy.Model, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(**_: Any) -> Any:
        raise OSError("libEGL.so is not there")

    monkeypatch.setattr(gl.moderngl, "create_standalone_context", none)
    monkeypatch.setattr(gl, "_thread", None)  # a thread whose context is still to be made
    with pytest.raises(skinpy.GraphicsError, match=r"no OpenGL 3\.3 context.*install the packages"):
        model.clips["run"].save(tmp_path / f"a{suffix}", size=SIZE)
    assert list(tmp_path.iterdir()) == []


def test_without_ffmpeg(model: skinpy.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> str:
        raise ImportError("writing .mp4 needs ffmpeg")

    monkeypatch.setattr(mp4, "find_ffmpeg", absent)
    monkeypatch.setattr(clip_file, "_Drawn", None)  # the error comes before anything is drawn
    with pytest.raises(ImportError, match="needs ffmpeg"):
        model.clips["run"].save(tmp_path / "a.mp4", size=SIZE)
    assert list(tmp_path.iterdir()) == []


# ---- pictures and films --------------------------------------------------------------------------------


def test_a_picture_is_what_render_gives(model: skinpy.Model, tmp_path: Path) -> None:
    clip = model.clips["run"]
    assert clip.save(tmp_path / "a.png", time=0.2, size=SIZE) == tmp_path / "a.png"
    with Image.open(tmp_path / "a.png") as image:
        assert getattr(image, "n_frames", 1) == 1
        np.testing.assert_array_equal(np.asarray(image), model.render("run", 0.2, SIZE))


def test_options_reach_the_renderer(model: skinpy.Model, tmp_path: Path) -> None:
    path = model.clips["walk"].save(tmp_path / "a.png", size=SIZE, background="#204060", floor=Floor())
    with Image.open(path) as image:
        want = model.render("walk", 0.0, SIZE, background="#204060", floor=Floor())
        np.testing.assert_array_equal(np.asarray(image), want)
    with pytest.raises(TypeError, match="colour"):
        model.clips["walk"].save(tmp_path / "b.png", colour="red")


def test_times_of_one_turn() -> None:
    """By hand: 0.7 s at 10 fps are 7 frames; 0.74 s too, a bit further apart, so that the film repeats."""
    np.testing.assert_allclose(loop_times(0.7, 10), np.arange(7) / 10)
    np.testing.assert_allclose(loop_times(0.74, 10), np.arange(7) * 0.74 / 7)
    np.testing.assert_array_equal(loop_times(0.001, 10), [0])
    np.testing.assert_array_equal(loop_times(0.0, 10), [0])
    with pytest.raises(ValueError, match=r"fps is 1e\+09, .* expected a lower fps or a shorter clip"):
        loop_times(0.7, 1e9)


def test_times_of_a_turntable() -> None:
    """Four seconds or more: three loops of 1.5 s, one of 9 s; the camera circles a pose for four seconds."""
    np.testing.assert_allclose(loop_times(1.5, 10, 4.0), np.arange(45) / 10)
    np.testing.assert_allclose(loop_times(9.0, 10, 4.0), np.arange(90) / 10)
    np.testing.assert_array_equal(loop_times(0.0, 10, 4.0), np.zeros(40))


def test_an_apng_is_one_turn(model: skinpy.Model, tmp_path: Path) -> None:
    clip = model.clips["run"]
    count = round(clip.duration * 10)
    got, durations = decoded(clip.save(tmp_path / "a.apng", fps=10, size=SIZE))
    assert durations == [100.0] * count
    want = [model.render(clip, number * clip.duration / count, SIZE) for number in range(count)]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_formats_with_loss_have_the_frames(model: skinpy.Model, suffix: str, tmp_path: Path) -> None:
    clip = model.clips["run"]
    got, _ = decoded(clip.save(tmp_path / f"a{suffix}", fps=10, size=SIZE, background="#ffffff"))
    assert len(got) == round(clip.duration * 10)
    want = model.render(clip, 0.0, SIZE, background="#ffffff")
    assert np.abs(got[0].astype(int) - want).mean() < 3  # of 255
    assert np.abs(255 - want.astype(int)).mean() > 9  # that much a blank picture would be off


@needs_ffmpeg
def test_an_mp4_has_the_frames(model: skinpy.Model, tmp_path: Path) -> None:
    clip = model.clips["run"]
    got = decoded_mp4(clip.save(tmp_path / "a.mp4", fps=10, size=SIZE), *SIZE)
    assert len(got) == round(clip.duration * 10)


def test_clips_that_come_from_others_are_drawn(model: skinpy.Model, tmp_path: Path) -> None:
    clip = model.clips["run"].trim(0.1, 0.4)
    got, _ = decoded(clip.save(tmp_path / "a.apng", fps=10, size=SIZE))
    assert len(got) == 3
    np.testing.assert_array_equal(got[0], model.render(clip, 0.0, SIZE))


def test_progress_knows_how_many_frames(
    model: skinpy.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def shown(things: Any, total: int | None, what: str) -> Any:
        seen.append((total, what))
        return iter(things)

    monkeypatch.setattr(film, "shown", shown)
    model.clips["run"].save(tmp_path / "a.gif", fps=10, size=SIZE)
    assert seen == [(round(model.clips["run"].duration * 10), "a.gif")]


# ---- the turntable -------------------------------------------------------------------------------------


@pytest.mark.parametrize("elevation", [0.0, 12.0, 60.0, -30.0])
def test_a_turntable_sees_everything_from_one_distance(model: skinpy.Model, elevation: float) -> None:
    """Every vertex of the clip, projected by each camera, lies in the picture with its margin of 6 %."""
    aspect = 1.5
    cameras = turntable(model, "wave", 12, aspect=aspect, elevation=elevation)
    times = np.linspace(0, model.clips["wave"].duration, 40)
    points = model.deform(model.palette("wave", times, affine=True, loop="clamp"))[0].reshape(-1, 3)
    points = np.c_[points, np.ones(len(points))]
    most = 0.0
    for camera in cameras:
        seen = points @ (camera.projection(aspect) @ camera.view()).T
        assert (seen[:, 3] > camera.near).all()
        most = max(most, np.abs(seen[:, :2] / seen[:, 3:]).max())
    assert 0.7 < most <= 1 - 2 * 0.06 + 0.01  # 1 %: between two of the framing's 30 times a second
    distances = [math.dist(camera.eye, camera.target) for camera in cameras]
    np.testing.assert_allclose(distances, distances[0])


@pytest.mark.parametrize("up", ["+Y", "+Z", "-X"])
def test_a_turntable_goes_round_once(up: str) -> None:
    model = skinpy.load(CHARACTER, up=up)
    cameras = turntable(model, None, 8, azimuth=20.0, elevation=10.0)
    for number, camera in enumerate(cameras):
        back = Camera.frame([[-1] * 3, [1] * 3], up=up, azimuth=20 + 45 * number, elevation=10).axes()[2]
        np.testing.assert_allclose(camera.axes()[2], back, atol=1e-6)


def test_a_turntable_of_a_single_point() -> None:
    one = np.eye(4)[None]
    model = skinpy.Model.from_arrays(
        ["root"],
        [-1],
        one,
        positions=np.zeros((3, 3)),
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1]] * 3,
    )
    assert len(turntable(model, None, 3)) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"count": 0}, "count is 0"),
        ({"azimuth": math.inf}, "azimuth is inf"),
        ({"elevation": 91}, "elevation"),
    ],
)
def test_bad_turntables(model: skinpy.Model, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        turntable(model, "run", **options)


def test_a_film_on_a_turntable(model: skinpy.Model, tmp_path: Path) -> None:
    clip = model.clips["run"]
    turns = math.ceil(4 / clip.duration)
    count = round(turns * clip.duration * 5)
    got, _ = decoded(clip.save(tmp_path / "a.apng", fps=5, size=SIZE, turntable=True))
    assert len(got) == count
    camera = turntable(model, clip, count, aspect=SIZE[0] / SIZE[1])[7]
    want = model.render(clip, 7 * turns * clip.duration / count, SIZE, camera=camera)
    np.testing.assert_array_equal(got[7], want)


# ---- the command line ----------------------------------------------------------------------------------


def test_the_command_line_picks_the_film_by_suffix(tmp_path: Path) -> None:
    options = ["render", CHARACTER, "--clip", "run", "--size", "48x36", "-o"]
    assert main([*options, str(tmp_path / "a.apng"), "--fps", "10"]) == 0
    assert main([*options, str(tmp_path / "b.apng"), "--fps", "5", "--turntable"]) == 0
    assert main([*options, str(tmp_path / "c.png")]) == 0
    counts = []
    for name in ("a.apng", "b.apng", "c.png"):
        with Image.open(tmp_path / name) as image:
            counts.append(getattr(image, "n_frames", 1))
    assert counts == [7, 21, 1]  # 0.7 s at 10 fps; six turns of it, 4.2 s, at 5 fps


def test_the_demo_may_be_a_film(tmp_path: Path) -> None:
    assert main(["demo", "-o", str(tmp_path / "a.apng"), "--fps", "4", "--size", "48x36"]) == 0
    with Image.open(tmp_path / "a.apng") as image:
        assert image.n_frames == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "no/a.webp"], "make the folder first"),
        (["-o", "/dev/full.webp/a.gif"], "make the folder first"),
    ],
)
def test_bad_films_are_one_line_and_status_1(
    options: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["render", CHARACTER, "--size", "48x36", *options]) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith("skinpy: ") and shown.err.count("\n") == 1 and words in shown.err
    assert list(tmp_path.iterdir()) == []
