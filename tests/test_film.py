"""Films, read back by Pillow and by ffmpeg: frames, times, pixels; no half-written file stays behind."""

from __future__ import annotations

import builtins
import contextlib
import errno
import os
import re
import runpy
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HANGS

pytest.importorskip("PIL", reason="Pillow (the extra `view`) writes the films")

from PIL import Image

import skinpy
from skinpy.output import mp4, save_film

HEIGHT, WIDTH, COUNT = 20, 32, 7
PILLOW_SUFFIXES = [".png", ".apng", ".gif", ".webp"]


def program() -> str | None:
    with contextlib.suppress(ImportError):
        return mp4.find_ffmpeg()
    return None


needs_ffmpeg = pytest.mark.skipif(not program(), reason="no ffmpeg on the PATH or in imageio-ffmpeg")
SUFFIXES = [*PILLOW_SUFFIXES, pytest.param(".mp4", marks=needs_ffmpeg)]


def moving(count: int = COUNT, size: tuple[int, int] = (HEIGHT, WIDTH)) -> list[Any]:
    """A red square that moves over blue, opaque; no two frames are equal."""
    frames = []
    for number in range(count):
        frame = np.full((*size, 4), (20, 40, 200, 255), np.uint8)
        frame[4:12, 2 * number : 2 * number + 8] = (220, 30, 10, 255)
        frames.append(frame)
    return frames


def decoded(path: Path) -> tuple[list[Any], list[float]]:
    """RGBA frames, and the duration of each in milliseconds."""
    frames, durations = [], []
    with Image.open(path) as image:
        for number in range(getattr(image, "n_frames", 1)):
            image.seek(number)
            image.load()
            frames.append(np.array(image.convert("RGBA")))
            durations.append(float(image.info["duration"]))
    return frames, durations


def decoded_mp4(path: Path, width: int, height: int) -> Any:
    """(N, h, w, 3), by ffmpeg."""
    where = program()
    assert where
    command = [where, "-loglevel", "error", "-i", f"file:{path}", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    data = subprocess.run(command, capture_output=True, check=True, timeout=HANGS).stdout
    return np.frombuffer(data, np.uint8).reshape(-1, height, width, 3)


# ---- what is written ----------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".png", ".apng", ".PNG"])
def test_png_keeps_every_byte_and_its_transparency(suffix: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frames = list(rng.integers(0, 256, (4, HEIGHT, WIDTH, 4), np.uint8))
    got, durations = decoded(save_film(tmp_path / f"a{suffix}", frames, 8))
    np.testing.assert_array_equal(got, frames)
    assert durations == [125.0] * 4


def test_gif_has_the_frames_on_the_background(tmp_path: Path) -> None:
    frames = moving()
    for frame in frames:
        frame[15:, :, 3] = 0
    got, _ = decoded(save_film(tmp_path / "a.gif", frames, 20, background=(10, 240, 30)))
    assert len(got) == COUNT
    for have, want in zip(got, frames, strict=True):
        # Three colors fit into a GIF; the palette is chosen from averages of 5 to 6 bits.
        np.testing.assert_allclose(have[:15].astype(int), want[:15], atol=4)
        np.testing.assert_allclose(have[15:].astype(int) - (10, 240, 30, 255), 0, atol=4)


def test_webp_is_close_and_keeps_transparency(tmp_path: Path) -> None:
    frames = moving()
    for frame in frames:
        frame[15:, :, 3] = 100
    got, _ = decoded(save_film(tmp_path / "a.webp", frames, 20))
    assert len(got) == COUNT
    for have, want in zip(got, frames, strict=True):
        np.testing.assert_array_equal(have[..., 3], want[..., 3])
        # Quality 90 stores color for two by two pixels: inside an area it is right, at an edge it is blurred.
        assert np.abs(have.astype(int) - want).mean() < 6


@pytest.mark.parametrize(
    ("suffix", "fps", "first"),
    [(".png", 30, [33, 34, 33]), (".gif", 30, [30, 40, 30]), (".webp", 24, [42, 41, 42]), (".gif", 50, [20])],
)
def test_rounded_times_keep_the_length_of_the_film(
    suffix: str, fps: float, first: list[int], tmp_path: Path
) -> None:
    """By hand: 33.3, 66.7, 100 ms round to 33, 67, 100 and to 30, 70, 100; 41.7, 83.3, 125 to 42, 83, 125."""
    count = int(fps) // 2
    _, durations = decoded(save_film(tmp_path / f"a{suffix}", moving(count, (20, 80)), fps))
    assert durations[: len(first)] == first
    assert len(durations) == count and sum(durations) == 500


@pytest.mark.parametrize("suffix", PILLOW_SUFFIXES)
def test_it_repeats_for_ever(suffix: str, tmp_path: Path) -> None:
    with Image.open(save_film(tmp_path / f"a{suffix}", moving(), 10)) as image:
        assert image.info["loop"] == 0


@pytest.mark.parametrize("suffix", [".png", ".gif"])
def test_equal_frames_in_a_row_become_a_longer_one(suffix: str, tmp_path: Path) -> None:
    a, b, *_ = moving()
    got, durations = decoded(save_film(tmp_path / f"a{suffix}", [a, a, a, b], 10))
    assert len(got) == 2 and durations == [300, 100]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_one_frame_is_a_film(suffix: str, tmp_path: Path) -> None:
    assert save_film(tmp_path / f"a{suffix}", moving(1), 10).stat().st_size > 50


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_generator_may_fill_one_array_again_and_again(suffix: str, tmp_path: Path) -> None:
    def refilled() -> Iterator[Any]:
        array = np.empty((HEIGHT, WIDTH, 4), np.uint8)
        for frame in moving():
            array[:] = frame
            yield array[:, ::-1][:, ::-1]  # and need not be contiguous

    whole = save_film(tmp_path / f"whole{suffix}", moving(), 10)
    lazy = save_film(tmp_path / f"lazy{suffix}", refilled(), 10)
    assert lazy.read_bytes() == whole.read_bytes()


@needs_ffmpeg
def test_mp4_has_the_frames(tmp_path: Path) -> None:
    frames = moving()
    frames[0][15:, :, 3] = 0
    path = save_film(tmp_path / "a.mp4", (frame for frame in frames), 24, background=(10, 240, 30))
    got = decoded_mp4(path, WIDTH, HEIGHT)
    want = np.array(frames)[..., :3].astype(int)
    want[0, 15:] = (10, 240, 30)
    assert got.shape == want.shape
    # Color is stored for two by two pixels and then compressed; the wrong matrix, BT.601 taken for BT.709,
    # would be off by 20 in the even areas.
    assert np.abs(got - want).mean() < 6
    assert np.abs(got[3, 8, 9:11] - want[3, 8, 9:11]).max() <= 10
    assert np.abs(got[3, 17, 25:] - want[3, 17, 25:]).max() <= 10


@needs_ffmpeg
def test_mp4_says_its_rate_and_colors(tmp_path: Path) -> None:
    path = save_film(tmp_path / "a.mp4", moving(48, (20, 120)), 24)
    said = subprocess.run([str(program()), "-i", str(path)], capture_output=True, text=True).stderr
    assert "Duration: 00:00:02.00" in said
    assert re.search(r"Video: h264.*yuv420p\(tv, bt709/bt709/iec61966-2-1.*\b24 fps", said), said


@needs_ffmpeg
def test_odd_sizes_of_an_mp4_get_the_last_row_and_column_twice(tmp_path: Path) -> None:
    path = save_film(tmp_path / "a.mp4", moving(3, (21, 33)), 24)
    got = decoded_mp4(path, 34, 22).astype(int)
    assert len(got) == 3
    np.testing.assert_allclose(got[:, 21], got[:, 20], atol=6)
    np.testing.assert_allclose(got[:, :, 33], got[:, :, 32], atol=6)


@needs_ffmpeg
def test_an_mp4_holds_one_frame_at_a_time(tmp_path: Path) -> None:
    alive = 0

    class Frame(np.ndarray):  # type: ignore[type-arg]
        def __del__(self) -> None:
            nonlocal alive
            alive -= self.base is None

    most = 0

    def frames() -> Iterator[Any]:
        nonlocal alive, most
        for number in range(30):
            alive += 1
            frame = Frame((HEIGHT, WIDTH, 4), np.uint8)
            frame[:] = number
            most = max(most, alive)
            yield frame

    save_film(tmp_path / "a.mp4", frames(), 24)
    assert most <= 3


# ---- what is refused ----------------------------------------------------------------------------------

BAD: list[tuple[str, Any, Any, type[Exception], str]] = [
    ("a.avi", moving(1), 10, ValueError, r"'a\.avi'; expected .*\.png, \.apng, \.gif, \.webp, \.mp4"),
    ("a", moving(1), 10, ValueError, "expected one of the suffixes"),
    ("a.png", [], 10, ValueError, "frames is empty; expected at least one"),
    ("a.png", iter([]), 10, ValueError, "frames is empty; expected at least one"),
    ("a.gif", [*moving(2), *moving(1, (8, 24))], 10, ValueError, "frame 2 is 24x8 pixels; expected 32x20"),
    ("a.png", [moving(1)[0][..., :3]], 10, ValueError, "frame 0 has shape"),
    ("a.png", ["no"], 10, TypeError, "frame 0 is str; expected an array"),
    ("a.png", moving(1), 0, ValueError, "fps is 0; expected more than 0"),
    ("a.png", moving(1), -3, ValueError, "fps is -3; expected more than 0"),
    ("a.png", moving(1), float("nan"), ValueError, "fps is nan; expected"),
    ("a.png", moving(1), float("inf"), ValueError, "fps is inf; expected .* at most 1000 in .png"),
    ("a.gif", moving(1), 60, ValueError, "fps is 60; expected .* at most 50 in .gif"),
    ("a.png", moving(1), "fast", TypeError, "fps is 'fast'; expected a number"),
    ("a.png", moving(3), 1e-5, ValueError, "PNG cannot hold this film .*write an .mp4"),
    ("a.gif", moving(3), 0.001, ValueError, "GIF cannot hold this film .*write an .mp4"),
]
BAD_MP4: list[tuple[str, Any, Any, type[Exception], str]] = [
    ("a.mp4", [], 10, ValueError, "frames is empty; expected at least one"),
    ("a.mp4", [*moving(2), *moving(1, (8, 24))], 10, ValueError, "frame 2 is 24x8 pixels; expected 32x20"),
    ("a.mp4", moving(1), float("inf"), ValueError, "fps is inf; expected a finite number"),
]


@pytest.mark.parametrize(
    ("name", "frames", "fps", "error", "words"),
    [*BAD, *(pytest.param(*case, marks=needs_ffmpeg) for case in BAD_MP4)],
)
def test_bad_arguments(
    name: str, frames: Any, fps: Any, error: type[Exception], words: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        save_film(name, frames, fps)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_nothing_stays_of_a_film_that_fails(suffix: str, error: type[BaseException], tmp_path: Path) -> None:
    def frames() -> Iterator[Any]:
        yield from moving(3)
        raise error("in the middle")

    with pytest.raises(error, match="in the middle"):
        save_film(tmp_path / f"a{suffix}", frames(), 10)
    assert list(tmp_path.iterdir()) == []
    old = tmp_path / f"old{suffix}"
    old.write_bytes(b"old")
    with pytest.raises(error, match="in the middle"):
        save_film(old, frames(), 10)
    assert old.read_bytes() == b"old" and list(tmp_path.iterdir()) == [old]


def never() -> Iterator[Any]:
    raise AssertionError("a frame is drawn, though nobody can write it")
    yield


def test_without_ffmpeg_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(mp4.shutil, "which", lambda _: None)
    monkeypatch.setattr(mp4.importlib, "import_module", absent)
    with pytest.raises(ImportError, match=r"needs ffmpeg: pip install 'skinpy-anim\[video\]'.*PATH"):
        save_film(tmp_path / "a.mp4", never(), 10)


def test_without_pillow_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any) -> Any:
        if name == "PIL":
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match=r"needs Pillow: pip install 'skinpy-anim\[view\]'"):
        save_film(tmp_path / "a.gif", never(), 10)


def fake_ffmpeg(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    path = folder / "ffmpeg"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    assert shutil.which("ffmpeg") == str(path)


@pytest.mark.parametrize(
    "script", ["echo no such encoder >&2; exit 1", "cat >/dev/null; echo no such encoder; exit 3"]
)
def test_a_failing_ffmpeg_has_its_own_words(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that ends before it reads, and one that reads all; frames exceed the buffer of a pipe."""
    fake_ffmpeg(tmp_path / "bin", script, monkeypatch)
    (tmp_path / "out").mkdir()
    with pytest.raises(skinpy.SkinpyError, match=r"ffmpeg \(.*bin/ffmpeg\) failed: no such encoder"):
        save_film(tmp_path / "out" / "a.mp4", moving(5, (400, 400)), 10)
    assert list((tmp_path / "out").iterdir()) == []


def test_an_ffmpeg_that_a_signal_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_ffmpeg(tmp_path / "bin", "kill -SEGV $$", monkeypatch)
    with pytest.raises(skinpy.SkinpyError, match="failed: signal 11 ended it"):
        save_film(tmp_path / "a.mp4", moving(2), 10)


@needs_ffmpeg
@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no files in memory")
def test_no_folder_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where TMPDIR is wrong and /tmp may not be written to."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    save_film(tmp_path / "a.mp4", moving(2), 10)
    assert (tmp_path / "a.mp4").stat().st_size > 0


@pytest.mark.parametrize("status", [0, 1])
def test_an_ffmpeg_that_finds_no_room_has_failed_whatever_its_status(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ffmpeg 5.1 says, and its status 0, where the disk is full before the end of the file."""
    words = "Error writing trailer of file:a.mp4: No space left on device"
    fake_ffmpeg(tmp_path / "bin", f"cat >/dev/null; echo {words} >&2; exit {status}", monkeypatch)
    (tmp_path / "out").mkdir()
    with pytest.raises(OSError, match=r"No space left on device; make room") as caught:
        save_film(tmp_path / "out" / "a.mp4", moving(5), 10)
    assert caught.value.errno == errno.ENOSPC and caught.value.filename == str(tmp_path / "out" / "a.mp4")
    assert list((tmp_path / "out").iterdir()) == []


@needs_ffmpeg
def test_a_name_may_hold_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("-y %03d.mp4", "http:a b.mp4", "ä'\".mp4"):
        save_film(name, moving(2), 10)
        assert len(decoded_mp4(tmp_path / name, WIDTH, HEIGHT)) == 2


# ---- the example --------------------------------------------------------------------------------------


def test_the_example_walks_runs_turns_and_waves(tmp_path: Path) -> None:
    pytest.importorskip("moderngl", reason="the example draws: install the extra 'view'")
    act = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "act.py"))
    assert act["main"](["-o", str(tmp_path / "act.png"), "--size", "48x36", "--fps", "4"]) == 0
    with Image.open(tmp_path / "act.png") as image:
        assert image.n_frames == 36 and image.size == (48, 36)  # nine seconds, no two frames alike

    model = skinpy.character()
    controller = skinpy.AnimationController(model)
    places, playing = [], set()
    for place in act["act"](controller, 60):
        places.append(place)
        playing |= {(name, one.clip.name) for name, tracks in controller.layers.items() for one in tracks}
    assert {("base", "walk"), ("base", "run"), ("arm", "wave")} <= playing
    ways = np.linalg.norm(np.diff(np.array(places)[:, :3, 3], axis=0), axis=1) * 60
    # The speeds that docs/character.md states, within 3 %.
    np.testing.assert_allclose([ways[60], ways[180]], [0.74, 2.1], rtol=0.03)
    headings = np.unwrap([np.arctan2(place[0, 2], place[2, 2]) for place in places])
    assert headings[-1] - headings[0] == pytest.approx(2 * np.pi, abs=0.05)
