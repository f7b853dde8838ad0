"""What an image may cost: counted in scans, pieces, strips and reads, because times depend on the machine."""

from __future__ import annotations

import base64
import os
import signal
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import skinpy

pytest.importorskip("PIL")
import builders
import hostile_images
import import_cases
from fbx_writer import Fbx, record
from test_import import textured as gltf_textured
from test_import_collada import painted as dae_painted

from skinpy import _image_structure, _images

Way = Callable[[bytes, Path], Path]


def texture(data: bytes) -> skinpy.Texture:
    return skinpy.Texture("skin", "png", memoryview(data), 0, 0)


@pytest.mark.parametrize("name", hostile_images.REFUSED)
def test_what_costs_too_much_is_refused_by_name(name: str) -> None:
    make, words = hostile_images.REFUSED[name]
    with pytest.raises(skinpy.LoadError, match=words) as caught:
        texture(make()).image()
    assert str(caught.value).startswith("texture 'skin' ")


@pytest.mark.parametrize("name", hostile_images.DECODED)
def test_what_only_looks_like_it_is_decoded(name: str) -> None:
    assert texture(hostile_images.DECODED[name]()).image().shape[2] == 4


def test_scans_are_counted_to_the_end_of_the_image() -> None:
    """A second image behind the first, as in files of two photos, is not decoded."""
    data = hostile_images.encoded("JPEG", progressive=True)
    many = hostile_images.scans(500, progressive=True)
    assert np.array_equal(texture(data + many).image(), texture(data).image())


def test_a_decoder_cannot_read_the_same_bytes_again_and_again() -> None:
    source = _image_structure.Source(bytes(1 << 20), "texture 'skin'")
    for _ in range(5):
        source.seek(0)
        source.read()
    source.seek(0)
    with pytest.raises(skinpy.LimitExceeded, match=r"texture 'skin' is in too many pieces.*of 1048576;"):
        source.read()
    source = _image_structure.Source(bytes(100), "texture 'skin'")
    for _ in range(10_001):
        source.read(1)
    with pytest.raises(skinpy.LimitExceeded, match=r"takes 10002 reads .* at most 10001 reads"):
        source.read(1)


def test_decoders_in_python_read_byte_by_byte() -> None:
    """A QOI of noise takes two reads for each four bytes, which is far more than other decoders may take."""
    data = hostile_images.encoded("QOI", side=256)
    reads = []

    class Counted(_image_structure.Source):
        def read(self, size: int | None = -1, /) -> bytes:
            reads.append(size)
            return super().read(size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_images, "Source", Counted)
        texture(data).image()
    assert 20_000 < len(reads) < 10_000 + len(data)


# ---- Ctrl-C ----------------------------------------------------------------------------------------


def test_ctrl_c_is_answered_while_a_decoder_works() -> None:
    canceled, ended = threading.Event(), threading.Event()

    def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)  # the main thread waits, and is told
        assert canceled.wait(60)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        _images._answering(work, canceled.set)
    assert ended.wait(60)


def test_a_decoder_that_is_canceled_ends_at_its_next_read() -> None:
    source = _image_structure.Source(bytes(100), "texture 'skin'")
    assert source.read(10) == bytes(10)
    source.cancel()
    with pytest.raises(skinpy.LimitExceeded):
        source.read(10)


def test_without_another_thread_images_are_decoded_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none)
    assert texture(hostile_images.encoded("PNG")).image().shape == (16, 16, 4)
    with pytest.raises(skinpy.LoadError, match="texture 'skin' begins with"):
        texture(b"none").image()


def test_other_threads_decode_in_themselves() -> None:
    names = []
    thread = threading.Thread(
        target=lambda: _images._answering(
            lambda: names.append(threading.current_thread().name), lambda: None
        ),
        name="own",
    )
    thread.start()
    thread.join()
    assert names == ["own"]


# ---- standard error --------------------------------------------------------------------------------

KINDS = [
    *(("TIFF", compression) for compression in ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg", None)),
    *(
        (kind, None)
        for kind in ("PNG", "JPEG", "WEBP", "GIF", "BMP", "DDS", "PPM", "PCX", "SGI", "TGA", "QOI")
    ),
]


@pytest.mark.parametrize(("kind", "compression"), KINDS)
def test_broken_images_write_nothing(
    kind: str, compression: str | None, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nor do they warn: pytest makes errors of warnings, which are not LoadError."""
    options = {"compression": compression} if compression else {}
    whole = hostile_images.encoded(kind, side=64, **options)
    random = np.random.default_rng(7)
    outcomes = set()
    for _ in range(60):
        data = bytearray(whole)
        for at in random.integers(0, len(data), 4):
            data[min(at, int(random.integers(0, len(data))))] = random.integers(0, 256)
        try:
            texture(bytes(data[: random.integers(len(data) // 2, 2 * len(data))])).image()
            outcomes.add("decoded")
        except skinpy.LoadError:
            outcomes.add("refused")
    assert "refused" in outcomes
    assert capfd.readouterr() == ("", "")


def test_what_pillow_logs_is_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    tags = [(273, "I", [-1]), (279, "I", [1])]
    data = bytearray(hostile_images.tiff(1, 1, b"\0", *tags))
    at = data.index(b"\x15\1\3\0\1\0\0\0")  # SamplesPerPixel
    data[at + 8] = 200
    with pytest.raises(skinpy.LoadError):
        texture(bytes(data)).image()
    assert capfd.readouterr() == ("", "")


# ---- what is no image ------------------------------------------------------------------------------

#: Bytes that a model may name as its image, and that are none.
NO_IMAGES = {
    "users": b"root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n",
    "a script": b"#!/bin/sh\nrm -rf ~\n",
    "a page": b"<!DOCTYPE html><html><script>alert(1)</script></html>",
    "a picture of vectors": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    "a pointer of Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    "a key": b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n",
    "a text that begins like BMP": b"BM is a short name for benchmark, of which this text is about.",
    "a text that begins like PNM": b"P5 of five points, of which this is the first.",
    "a text that begins with a new line": b"\n\1\1 and more, as PCX does" + b"." * 200,
    "PostScript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n",
    "PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "ELF": b"\x7fELF\2\1\1" + bytes(200),
    "a zip": b"PK\3\4" + bytes(200),
    "RIFF of sound": b"RIFF\x24\0\0\0WAVEfmt " + bytes(30),
    "indices": np.arange(400, dtype="<u2").tobytes(),
    "indices of a strip": np.add.outer(np.arange(60), (0, 2, 3)).astype("<u2").tobytes(),
    "positions": np.linspace(-1, 1, 300).astype("<f4").tobytes(),
    "a glTF": b'{"asset":{"version":"2.0"}}',
    "zeros": bytes(400),
    "noise": np.random.default_rng(3).bytes(400),
    "nothing": b"",
}


def gltf_beside(data: bytes, folder: Path) -> Path:
    (folder / "wood.png").write_bytes(data)
    (folder / "a.gltf").write_bytes(gltf_textured({"uri": "wood.png"}).gltf())
    return folder / "a.gltf"


def gltf_in_uri(data: bytes, folder: Path) -> Path:
    uri = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    (folder / "a.gltf").write_bytes(gltf_textured({"uri": uri}).gltf())
    return folder / "a.gltf"


def obj_beside(data: bytes, folder: Path) -> Path:
    (folder / "wood.png").write_bytes(data)
    (folder / "a.mtl").write_text("newmtl wood\nmap_Kd wood.png\n")
    (folder / "a.obj").write_bytes(import_cases.obj(head="mtllib a.mtl\n", middle="usemtl wood\n"))
    return folder / "a.obj"


def dae_beside(data: bytes, folder: Path) -> Path:
    (folder / "wood.png").write_bytes(data)
    (folder / "a.dae").write_bytes(import_cases.dae_textured(""))
    return folder / "a.dae"


def dae_inside(data: bytes, folder: Path) -> Path:
    image = f'<image id="img"><init_from><hex format="PNG">{data.hex()}</hex></init_from></image>'
    params = '<newparam sid="p"><sampler2D><instance_image url="#img"/></sampler2D></newparam>'
    shading = '<phong><diffuse><texture texture="p" texcoord="UV"/></diffuse></phong>'
    (folder / "a.dae").write_bytes(dae_painted(shading, params, image))
    return folder / "a.dae"


def fbx_painted() -> tuple[Fbx, int]:
    """A triangle with a texture, and the texture's number."""
    file = Fbx()
    mesh = file.model("mesh", kind="Mesh")
    file.triangle(mesh)
    material = file.add("Material", "Material::m", "", to=mesh)
    texture = file.add("Texture", "Texture::t", "", record("RelativeFilename", "wood.png"))
    file.join(texture, material, "DiffuseColor")
    return file, texture


def fbx_beside(data: bytes, folder: Path) -> Path:
    (folder / "wood.png").write_bytes(data)
    (folder / "a.fbx").write_bytes(fbx_painted()[0].bytes())
    return folder / "a.fbx"


def fbx_in_text(data: bytes, folder: Path, piece: int = 4096) -> Path:
    file, texture = fbx_painted()
    file.add("Video", "Video::v", "Clip", record("Content", "HERE"), to=texture)
    text = base64.b64encode(data).decode()
    pieces = [f'"{text[at : at + piece]}"' for at in range(0, len(text), piece)]
    (folder / "a.fbx").write_bytes(file.bytes().replace(b'"HERE"', ",\n ".join(["", *pieces]).encode()))
    return folder / "a.fbx"


def fbx_in_small_pieces(data: bytes, folder: Path) -> Path:
    return fbx_in_text(data, folder, 12)


def fbx_in_binary(data: bytes, folder: Path) -> Path:
    file, texture = fbx_painted()
    file.add("Video", "Video::v", "Clip", record("Content", data), to=texture)
    (folder / "a.fbx").write_bytes(file.bytes("binary"))
    return folder / "a.fbx"


#: Ways in which a file has an image: inside it, or beside it.
WAYS = [gltf_beside, gltf_in_uri, obj_beside, dae_beside, dae_inside, fbx_beside, fbx_in_text]
WAYS += [fbx_in_small_pieces, fbx_in_binary]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_image_does_not_become_a_texture(way: Way, tmp_path: Path) -> None:
    for name, data in NO_IMAGES.items():
        if not data and way not in (gltf_beside, obj_beside, dae_beside, fbx_beside):
            continue
        path = way(data, tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", skinpy.SkinpyWarning)
            model = skinpy.load(path, isolate=False)
        assert all(material.texture is None for material in model.materials), name
        codes = {entry.code for entry in model.report if entry.severity == "lost"}
        assert codes & {"textures_not_images", "textures_missing"}, name
        if "textures_not_images" not in codes:  # a pointer beside the model has its own words
            assert name == "a pointer of Git LFS"
        assert all(entry.first.isprintable() for entry in model.report)


@pytest.mark.parametrize("way", WAYS)
def test_images_become_textures_whatever_they_are_called(way: Way, tmp_path: Path) -> None:
    for kind in ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "DDS", "PPM", "PCX", "SGI", "TGA", "QOI"):
        data = hostile_images.encoded(kind)
        model = skinpy.load(way(data, tmp_path), isolate=False)
        texture = next(material.texture for material in model.materials if material.texture)
        assert bytes(texture.data) == data, kind
        assert texture.format == {"JPEG": "jpg"}.get(kind, kind.lower())


@pytest.mark.parametrize("name", NO_IMAGES)
def test_nothing_that_is_written_carries_what_is_no_image(name: str, tmp_path: Path) -> None:
    """Not even for a texture that was made by hand."""
    data = NO_IMAGES[name]
    model = builders.triangle(uvs=[[0, 0], [1, 0], [0, 1]], texture=texture(data))
    with pytest.warns(skinpy.SkinpyWarning, match="'skin'"):
        model.save(tmp_path / "a.glb")
    with pytest.warns(skinpy.SkinpyWarning, match="'skin'"):
        model.to_html(tmp_path / "a.html")
    written = (tmp_path / "a.glb").read_bytes() + (tmp_path / "a.html").read_bytes()
    assert b'"images"' not in (tmp_path / "a.glb").read_bytes()
    if data.strip(b"\0"):
        assert data not in written and base64.b64encode(data)[:-4] not in written
