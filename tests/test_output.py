"""Pictures as files: formats, transparency, and that no half-written file stays behind."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("PIL", reason="Pillow (the extra `view`) writes the pictures")

from PIL import Image

from skinpy.files.whole import replacing
from skinpy.output import encode_picture, save_picture


@pytest.fixture
def frame() -> Any:
    """A small frame with every alpha from 0 to 255."""
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 256, (16, 24, 4), np.uint8)
    pixels.reshape(-1, 4)[:256, 3] = np.arange(256)
    return pixels


def decoded(path: Path | bytes) -> Any:
    with Image.open(io.BytesIO(path) if isinstance(path, bytes) else path) as image:
        return np.array(image)


BAD = [
    ("not an array", lambda f: encode_picture([[0]], "png"), TypeError),
    ("no alpha", lambda f: encode_picture(f[..., :3], "png"), ValueError),
    ("no rows", lambda f: encode_picture(f[:0], "png"), ValueError),
    ("floats", lambda f: encode_picture(f.astype(np.float32), "png"), ValueError),
    ("unknown format", lambda f: encode_picture(f, "xyz"), ValueError),
    ("unknown suffix", lambda f: save_picture("a.xyz", f), ValueError),
    ("no suffix", lambda f: save_picture("a", f), ValueError),
    ("background of two", lambda f: encode_picture(f, "jpg", background=(0, 0)), ValueError),
    ("background too bright", lambda f: encode_picture(f, "bmp", background=(0, 0, 256)), ValueError),
]


@pytest.mark.parametrize(("case", "call", "error"), BAD, ids=[b[0] for b in BAD])
def test_bad_arguments(
    case: str, call: Any, error: type[Exception], frame: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match="expected"):
        call(frame)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["png", "PNG", "webp", "tif", "tiff"])
def test_formats_with_transparency_keep_every_byte(suffix: str, frame: Any, tmp_path: Path) -> None:
    path = save_picture(tmp_path / f"a.{suffix}", frame)
    got = decoded(path)
    assert got.shape == frame.shape
    seen = frame[..., 3] > 0  # WebP may drop the color of what is wholly transparent
    assert (got[..., 3] == frame[..., 3]).all()
    assert (got[seen] == frame[seen]).all()


def test_a_sliced_frame_is_saved_as_it_looks(frame: Any, tmp_path: Path) -> None:
    assert (decoded(save_picture(tmp_path / "a.png", frame[::-1, ::2])) == frame[::-1, ::2]).all()


def test_bmp_lays_the_frame_on_the_background_in_linear_light(frame: Any) -> None:
    got = decoded(encode_picture(frame, "bmp", background=(10, 128, 255)))

    def linear(v: Any) -> Any:
        v = np.asarray(v, np.float64) / 255
        return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)

    alpha = frame[..., 3:] / 255.0
    want = linear(frame[..., :3]) * alpha + linear([10, 128, 255]) * (1 - alpha)
    assert np.abs(linear(got) - want).max() < 0.5 / 255 * 2.4  # half a step, at the steep end of sRGB
    opaque, clear = frame[..., 3] == 255, frame[..., 3] == 0
    assert (got[opaque] == frame[opaque][:, :3]).all()
    assert (got[clear] == (10, 128, 255)).all()


def test_jpeg_is_close(tmp_path: Path) -> None:
    y, x = np.mgrid[0:32, 0:48]
    frame = np.stack([x * 5, y * 7, x + y, np.full_like(x, 255)], axis=-1).astype(np.uint8)
    got = decoded(save_picture(tmp_path / "a.jpg", frame)).astype(int)
    assert np.abs(got - frame[..., :3]).max() < 16


def test_format_beats_suffix(frame: Any, tmp_path: Path) -> None:
    path = save_picture(tmp_path / "picture", frame, format=".png")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_failure_leaves_the_old_file_and_nothing_else(frame: Any, tmp_path: Path) -> None:
    path = save_picture(tmp_path / "a.png", frame)
    before = path.read_bytes()

    def write_half() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_half()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.png"]


def test_missing_folder(frame: Any, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no/a\.png'"):
        save_picture(tmp_path / "no" / "a.png", frame)
    assert os.listdir(tmp_path) == []


def test_a_link_stays_a_link(frame: Any, tmp_path: Path) -> None:
    save_picture(tmp_path / "real.png", frame)
    (tmp_path / "link.png").symlink_to("real.png")
    save_picture(tmp_path / "link.png", frame[::-1])
    assert (tmp_path / "link.png").is_symlink()
    assert (decoded(tmp_path / "real.png") == frame[::-1]).all()


def test_a_new_file_has_ordinary_permissions(frame: Any, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    path = save_picture(tmp_path / "a.png", frame)
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_what_is_no_file_is_not_replaced(frame: Any) -> None:
    save_picture(os.devnull, frame, format="png")
    assert not Path(os.devnull).is_file()
