"""Images of models, hostile or broken: one error, no other program, no memory; and what writes goes on."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import textwrap
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy import _images

PIL = pytest.importorskip("PIL")
from PIL import EpsImagePlugin, Image  # noqa: E402

EPS = textwrap.dedent(
    """\
    %!PS-Adobe-3.0 EPSF-3.0
    %%BoundingBox: 0 0 8 8
    %%EndComments
    0 0 8 8 rectfill
    %%EOF
    """
).encode()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int) -> bytes:
    """A black picture of one bit a pixel."""
    rows = bytes(1 + (width + 7) // 8) * 100
    press = zlib.compressobj(9)
    body = b"".join(press.compress(rows) for _ in range(height // 100)) + press.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def bmp(width: int, height: int) -> bytes:
    """A header and nothing behind it; a negative height means that the top row comes first."""
    sizes = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + sizes


def gif(width: int, height: int) -> bytes:
    """A large screen with a small picture on it."""
    data = bytearray(encoded("GIF"))
    data[6:10] = struct.pack("<HH", width, height)
    return bytes(data)


def tiff(size: int, tile: int) -> bytes:
    """A small picture of a large tile."""
    data = zlib.compress(bytes(tile * tile), 9)
    values = {256: size, 257: size, 258: 8, 259: 8, 262: 1, 277: 1, 322: tile, 323: tile, 324: 0}
    values |= {324: 8 + 2 + 12 * 10 + 4, 325: len(data)}
    tags = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in values.items())
    return b"II*\0" + struct.pack("<IH", 8, len(values)) + tags + bytes(4) + data


def encoded(kind: str, **options: Any) -> bytes:
    """A picture of noise, 16 pixels wide and high."""
    buffer = io.BytesIO()
    noise = np.random.default_rng(5).integers(0, 255, (16, 16, 3), np.uint8)
    Image.fromarray(noise).save(buffer, kind, **options)
    return buffer.getvalue()


def texture(data: bytes, suffix: str = "png") -> skinpy.Texture:
    return skinpy.Texture(f"skin.{suffix}", suffix, memoryview(data), 0, 0)


def square(data: bytes, suffix: str = "png") -> skinpy.Model:
    return skinpy.Model.from_arrays(
        ["root"],
        [-1],
        [np.eye(4)],
        positions=[[-1, 0, 0], [1, 0, 0], [1, 2, 0], [-1, 2, 0]],
        faces=[[0, 1, 2], [0, 2, 3]],
        joints=[[0]] * 4,
        weights=[[1]] * 4,
        uvs=[[0, 1], [1, 1], [1, 0], [0, 0]],
        texture=texture(data, suffix),
    )


LARGE = 13_000  # squared more than Pillow's limit, and less than twice that, where it only warns

#: Suffix, bytes, and what the error says beside the texture's name.
BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "PNG that Pillow warns of": ("png", lambda: png(LARGE, LARGE), "13000 x 13000 pixels"),
    "PNG that Pillow refuses": ("png", lambda: png(20_000, 20_000), "more than 178956970 pixels"),
    "BMP": ("bmp", lambda: bmp(LARGE, LARGE), "13000 x 13000 pixels"),
    "BMP from top to bottom": ("bmp", lambda: bmp(LARGE, -LARGE), "13000 x 13000 pixels"),
    "BMP as large as can be": ("bmp", lambda: bmp(2**31 - 1, 2**31 - 1), "more than 178956970 pixels"),
    "BMP of a negative width": ("bmp", lambda: bmp(-5, 5), "expected at most 89478485"),
    "GIF": ("gif", lambda: gif(65535, 65535), "more than 178956970 pixels"),
    "TIFF of one tile": ("tif", lambda: tiff(4, LARGE), "tiles of 13000 x 13000 pixels"),
    "PPM": ("ppm", lambda: b"P6 13000 13000 255\n", "13000 x 13000 pixels"),
    "QOI": ("qoi", lambda: b"qoif" + struct.pack(">IIBB", LARGE, LARGE, 4, 0), "13000 x 13000 pixels"),
}

BROKEN: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "nothing": ("png", lambda: b"", "begins with b''"),
    "no picture": ("png", lambda: b"no picture at all", "begins with b'no pictu'"),
    "EPS": ("png", lambda: EPS, "begins with b'%!PS-Ado'.*expected one of PNG, JPEG"),
    "half a PNG": ("png", lambda: encoded("PNG")[:400], "cannot be decoded"),
    "PNG of two chunks": ("png", lambda: encoded("PNG")[:45], "skin.png"),
    "half a JPEG": ("jpg", lambda: encoded("JPEG")[:500], "cannot be decoded"),
    "half a BMP": ("bmp", lambda: encoded("BMP")[:400], "cannot be decoded"),
    "half a GIF": ("gif", lambda: encoded("GIF")[:-100], "cannot be decoded"),
    "half a TIFF": ("tif", lambda: encoded("TIFF")[:300], r"skin\.tif"),
    "half a WebP": ("webp", lambda: encoded("WEBP", lossless=True)[:300], r"skin\.webp"),
    "half a DDS": ("dds", lambda: encoded("DDS")[:300], "cannot be decoded"),
    "half a TGA": ("tga", lambda: encoded("TGA")[:300], "cannot be decoded"),
    "BMP without pixels": ("bmp", lambda: bmp(64, 64), "cannot be decoded"),
}

HOSTILE = {**BOMBS, **BROKEN}


@pytest.fixture
def ghostscript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that appears when somebody runs Ghostscript."""
    ran = tmp_path / "it ran"
    program = tmp_path / "bin" / "gs"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n: > '{ran}'\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(EpsImagePlugin, "gs_binary", None)  # what Pillow has found before
    return ran


@pytest.mark.parametrize(
    "kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "DDS", "PPM", "PCX", "SGI", "TGA"]
)
def test_formats_that_are_decoded(kind: str) -> None:
    data = encoded(kind)
    with Image.open(io.BytesIO(data)) as picture:
        assert picture.format == kind and kind in _images.FORMATS
        wanted = np.asarray(picture.convert("RGBA"))
    assert np.array_equal(texture(data, "any").image(), wanted)


def test_of_several_frames_the_first() -> None:
    buffer = io.BytesIO()
    first, *others = (Image.new("RGB", (4, 4), color) for color in ("red", "lime", "blue"))
    first.save(buffer, "GIF", save_all=True, append_images=others)
    red, green, blue, alpha = texture(buffer.getvalue(), "gif").image().reshape(-1, 4).T
    assert (red > 250).all() and not green.any() and not blue.any() and (alpha == 255).all()


def test_pixels_as_they_are() -> None:
    plain = skinpy.Texture("plain", "rgba8", memoryview(bytes(range(24))), 3, 2)
    assert plain.image().shape == (2, 3, 4) and plain.image()[1, 2, 3] == 23
    assert np.array_equal(np.asarray(_images.decoded(plain)), plain.image())
    with pytest.raises(skinpy.LoadError, match=r"'plain' has 24 bytes; expected 48, four for each of 3 x 4"):
        skinpy.Texture("plain", "rgba8", memoryview(bytes(24)), 3, 4).image()


@pytest.mark.parametrize("name", HOSTILE)
def test_one_error_with_the_name(name: str) -> None:
    suffix, make, words = HOSTILE[name]
    with pytest.raises(skinpy.LoadError, match=words) as caught:
        texture(make(), suffix).image()
    assert f"'skin.{suffix}'" in str(caught.value)
    assert isinstance(caught.value, skinpy.LimitExceeded) == (name in BOMBS)


def test_the_limit_is_that_of_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = texture(encoded("PNG"))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 256)
    assert picture.image().shape == (16, 16, 4)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 255)
    with pytest.raises(skinpy.LimitExceeded, match=r"16 x 16 pixels; expected at most 255"):
        picture.image()
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(skinpy.LimitExceeded, match=r"more than 200 pixels; expected at most 100"):
        picture.image()
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    assert picture.image().shape == (16, 16, 4)


def test_a_bomb_takes_no_memory() -> None:
    """In a process of its own, whose largest size is then its own."""
    code = """
        import resource, sys, skinpy
        from PIL import Image
        Image.init()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        data = sys.stdin.buffer.read()
        try:
            skinpy.Texture("a", "png", memoryview(data), 0, 0).image()
        except skinpy.LimitExceeded:
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    for make in (lambda: png(LARGE, LARGE), lambda: tiff(4, LARGE), lambda: bmp(LARGE, LARGE)):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
            input=make(),
            capture_output=True,
            check=True,
        )
        assert int(done.stdout) < 32 << 10, done.stderr  # KiB; decoded, the least of them takes 20 MiB


def test_no_other_program_is_run(ghostscript: Path, tmp_path: Path) -> None:
    with Image.open(io.BytesIO(EPS)) as picture, pytest.raises((OSError, subprocess.SubprocessError)):
        picture.load()
    assert ghostscript.exists(), "Pillow by itself does run it"
    ghostscript.unlink()
    with pytest.raises(skinpy.LoadError, match=r"skin\.png"):
        texture(EPS).image()
    for suffix in ("png", "eps"):
        model = square(EPS, suffix)
        for write in WRITERS.values():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", skinpy.SkinpyWarning)
                write(model, tmp_path)
    assert not ghostscript.exists()


# ---- what draws and writes goes on ---------------------------------------------------------------------


def write_picture(model: skinpy.Model, folder: Path) -> None:
    pytest.importorskip("moderngl")
    assert model.render(size=(32, 32))[16, 16, 3] == 255


def write_glb(model: skinpy.Model, folder: Path) -> None:
    model.save(folder / "a.glb")
    again = skinpy.load(folder / "a.glb", isolate=False)
    assert len(again.mesh.faces) == 2


def write_page(model: skinpy.Model, folder: Path) -> None:
    model.to_html(folder / "a.html")
    assert (folder / "a.html").stat().st_size > 1000


WRITERS = {"render": write_picture, "save .glb": write_glb, "to_html": write_page}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_decoded_is_left_out(name: str, writer: str, tmp_path: Path) -> None:
    """With a warning; but .glb keeps the bytes of what begins as PNG or JPEG, as they are."""
    suffix, make, words = HOSTILE[name]
    data = make()
    model = square(data, suffix)
    if writer == "save .glb" and data.startswith((b"\x89PNG\r\n", b"\xff\xd8\xff")):
        write_glb(model, tmp_path)
        assert data in (tmp_path / "a.glb").read_bytes()
        return
    with pytest.warns(skinpy.SkinpyWarning, match=words) as caught:
        WRITERS[writer](model, tmp_path)
    assert len(caught) == 1 and f"'skin.{suffix}'" in str(caught[0].message)


# ---- several images of a model -------------------------------------------------------------------------


def images_of(pictures: list[skinpy.Texture]) -> tuple[list[int | None], list[Any]]:
    """For a model of such textures, a material each: the number of each material's image, and the images."""
    from skinpy.render.scene.geometry import read_surfaces

    sides = np.eye(3)
    materials = [skinpy.Material("", (1, 1, 1, 1), one, False, "opaque", 0.5, sides) for one in pictures]  # type: ignore[arg-type]
    surfaces, images = read_surfaces(SimpleNamespace(materials=materials), _images.Album().add)  # type: ignore[arg-type]
    return [surface.image for surface in surfaces], images


def test_images_of_the_same_bytes_are_decoded_once() -> None:
    first, other = encoded("PNG"), encoded("BMP")
    plain = [skinpy.Texture("", "rgba8", memoryview(bytes(24)), *size) for size in ((3, 2), (2, 3))]
    numbers, images = images_of([texture(first), texture(other), texture(bytes(first)), *plain])
    assert numbers == [0, 1, 0, 2, 3] and len(images) == 4


def test_images_have_no_more_pixels_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the five is far below the limit of one."""
    pictures = [texture(encoded(kind)) for kind in ("PNG", "BMP", "GIF", "TIFF", "TGA")]  # of 16 x 16 pixels
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 320)
    assert images_of(pictures)[0] == [0, 1, 2, 3, 4]
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 319)
    with pytest.warns(skinpy.SkinpyWarning, match=r"to 1280 pixels; expected at most 1276.*it is not drawn"):
        assert images_of(pictures)[0] == [0, 1, 2, 3, None]
    plain = skinpy.Texture("plain", "rgba8", memoryview(bytes(4 * 512)), 32, 16)
    with pytest.warns(skinpy.SkinpyWarning, match="skin.png"):
        assert images_of([plain, *pictures[1:4], pictures[0]])[0] == [0, 1, 2, None, None]
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    assert images_of(pictures)[0] == [0, 1, 2, 3, 4]
