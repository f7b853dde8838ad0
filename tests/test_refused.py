"""Files that are refused: the error names the file once, says what it is, and what to do next."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import import_cases
import numpy as np
import pytest

import skinpy
from skinpy.__main__ import main

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n"
PAGE = b"<!DOCTYPE html>\n<html><head><title>Not found</title></head><body>" + b"Q" * 3000
PNG = b"\x89PNG\r\n\x1a\n" + bytes(200)
PULL = "run git lfs pull"
DOWNLOAD = "download the model itself"
AGAIN = "download or export it again"
EXTRACT = "extract the model first"
KNOWN = ("glb", "gltf", "fbx", "dae", "bvh", "obj", "x", "stl", "3ds", "smd", "iqm", "b3d", "md5mesh", "vrm")


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("model.fbx", b"Kaydara FBX Binary")
    return stream.getvalue()


def saved(change: Callable[[bytearray], object]) -> bytes:
    """A saved model, changed."""
    path = Path(skinpy.__file__).parent / "data" / "chair.glb"
    model = skinpy.load(path.read_bytes(), format="glb")
    from skinpy import _block

    data = bytearray(_block.memory(model._joined()))
    change(data)
    return bytes(data)


def cut(data: bytearray) -> None:
    del data[500:]


def newer(data: bytearray) -> None:
    struct.pack_into("<I", data, 8, 99)


#: Name, content, and the next step that the error has.
CASES: dict[str, tuple[bytes, str]] = {
    **{f"pointer.{suffix}": (LFS, PULL) for suffix in (*KNOWN, "skn", "blend", "usdz", "zip", "unknown")},
    **{f"page.{suffix}": (PAGE, DOWNLOAD) for suffix in (*KNOWN, "skn", "txt", "html", "unknown")},
    **{f"empty.{suffix}": (b"", AGAIN) for suffix in KNOWN},
    **{
        f"archive.{suffix}": (archive(), EXTRACT)
        for suffix in ("glb", "gltf", "fbx", "dae", "bvh", "obj", "x")
    },
    **{f"packed.{suffix}": (gzip.compress(b"x"), EXTRACT) for suffix in ("glb", "fbx")},
    **{
        f"image.{suffix}": (PNG, "load the model that names it")
        for suffix in ("glb", "fbx", "dae", "png", "ktx2")
    },
    **{f"a.{suffix}": (b"\x01\x02Q", "extract the archive") for suffix in ("zip", "7z", "rar", "tar", "tgz")},
    **{
        f"a.{suffix}": (b"#usda 1.0\n", "convert the file to glTF, for example with Blender")
        for suffix in ("usd", "usda", "usdc", "usdz")
    },
    "a.blend": (b"BLENDER-v300" + bytes(99), "export the scene from Blender as glTF 2.0"),
    "a.blend1": (b"BLENDER-v300" + bytes(99), "export the scene from Blender as glTF 2.0"),
    "a.drc": (b"DRACO" + bytes(99), "export the model as glTF 2.0"),
    "a.max": (bytes(99), "export the scene from 3ds Max as FBX"),
    "a.ma": (bytes(99), "export the scene from Maya as FBX"),
    "a.uasset": (bytes(99), "export the model from the game engine"),
    "a.c3d": (bytes(99), "convert the motion to BVH"),
    "a.abc": (bytes(99), "export the scene as glTF or FBX"),
    "a.mtl": (b"newmtl a\n", "load the .obj file that names it"),
    "a.bin": (bytes(99), "load the .gltf file that names it"),
    "a.unknown": (b"Q" * 999, "export the model as glTF 2.0"),
    **{
        f"rar.{suffix}": (b"Rar!\x1a\x07" + bytes(99), "this is a RAR archive; extract the model first")
        for suffix in ("glb", "fbx", "bvh", "dae", "iqm")
    },
    "packed.x": (b"7z\xbc\xaf'\x1c" + bytes(99), "this is a 7-Zip archive; extract the model first"),
    "bzip2.glb": (bz2.compress(b"x"), "compressed with bzip2; extract the model first"),
    "xz.glb": (lzma.compress(b"x"), "compressed with xz; extract the model first"),
    "zstd.glb": (b"\x28\xb5\x2f\xfd" + bytes(30), "compressed with Zstandard; extract the model first"),
    "pdf.glb": (b"%PDF-1.4\n", "this is a PDF document; download the model itself"),
    "program.fbx": (b"MZ" + bytes(300), "this is a program; download the model itself"),
    "program.unknown": (b"\x7fELF" + bytes(300), "this is a program; download the model itself"),
    "maya.fbx": (b"//Maya ASCII 2020 scene\n", "this is a scene of Maya; export it from Maya as FBX"),
    "max.fbx": (b"\xd0\xcf\x11\xe0" + bytes(99), "export it from 3ds Max as FBX"),
    "alembic.fbx": (
        b"Ogawa" + bytes(99),
        "this is Alembic, which is not read; export the scene",
    ),
    "blender.glb": (b"BLENDER-v300" + bytes(99), "export the scene from Blender as glTF 2.0"),
    "usd.gltf": (b"#usda 1.0\n", "convert the file to glTF"),
    "wide.bvh": ("HIERARCHY".encode("utf-16"), "this is text in UTF-16; save it as UTF-8"),
    "wide.gltf": ("{}".encode("utf-16"), "this is text in UTF-16; save it as UTF-8"),
    "begins.glb": (b"<ply>", AGAIN),
    "lost.fbx": (b"404: Not Found", AGAIN),
    "broken.gltf": (b'{"asset":{"version":"2.0"},', AGAIN),
    "answer.gltf": (b'{"message":"Not Found"}', AGAIN),
    "list.gltf": (b"[1, 2]", AGAIN),
    "small.obj": (b"404: Not Found", "too small; download it again"),
    "empty": (b"", AGAIN),
    "empty.unknown": (b"", AGAIN),
    "without": (b"Q" * 999, 'pass format="..."'),
    "a.lws": (b"LWSC", 'allow_formats=(*skinpy.DEFAULT_FORMATS, "lws")'),
    "is.glb": (b"Kaydara FBX Binary  \0\x1a\0" + bytes(99), 'pass format="fbx"'),
    "is.fbx": (b"glTF" + bytes(99), 'pass format="glb"'),
    "old.fbx": (
        b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 5000) + bytes(99),
        "convert the file to FBX 2011 or newer",
    ),
    "old.gltf": (b'{"asset":{"version":"1.0"}}', "convert the file to glTF 2.0"),
    "cut.glb": (b"glTF" + struct.pack("<II", 2, 9999) + bytes(8), "download or copy it again"),
    "cut.skn": (saved(cut), "copy or save it again"),
    "newer.skn": (saved(newer), "load the original file again, and save it"),
    "a.skn": (b"Q" * 999, "save the model again"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_next_step(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, step = CASES[name]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(skinpy.LoadError) as error:
        skinpy.load(path)
    words = str(error.value)
    assert words.startswith(f"{path}: ") and words.count(str(path)) == 1 and step in words
    assert max(map(len, re.findall("Q+", words)), default=0) <= 100
    assert main(["info", str(path)]) == 1
    shown = capsys.readouterr().err
    assert shown.count(str(path)) == 1 and " ".join(words.split()) in shown


@pytest.mark.parametrize("name", ["pointer.md2", "page.md3", "empty.md3"])
def test_the_next_step_of_stored_frames(name: str, tmp_path: Path) -> None:
    data, step = {"pointer": (LFS, PULL), "page": (PAGE, DOWNLOAD), "empty": (b"", AGAIN)}[name.split(".")[0]]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(skinpy.LoadError, match=step) as error:
        skinpy.VertexAnimation.load(path, allow_formats=("md2", "md3", "mdl"))
    assert str(error.value).count(str(path)) == 1


def test_files_of_other_kinds(tmp_path: Path) -> None:
    chair = skinpy.chair()
    for data, step in ((LFS, PULL), (b"\xff\xf1 {}", "it is not an .npz file|it is not text in UTF-8")):
        (tmp_path / "file").write_bytes(data)
        for load in (lambda path: skinpy.BakedTexture.load(path, chair), skinpy.StateMachine.load):
            with pytest.raises((skinpy.LoadError, ValueError), match=step) as error:
                load(tmp_path / "file")
            assert str(error.value).count(str(tmp_path)) == 1 and "codec" not in str(error.value)


def test_folders_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "folder.glb").mkdir()
    with pytest.raises(skinpy.LoadError, match="Is a directory; give the path of a file in it"):
        skinpy.load(tmp_path / "folder.glb")
    with pytest.raises(FileNotFoundError, match="No such file"):
        skinpy.load(tmp_path / "none.glb")


LONG = "Q" * 900
#: What names a clip, a joint or a state of a long name.
LONG_NAMED: dict[str, Callable[[skinpy.Model, skinpy.Clip], object]] = {
    "joint": lambda model, clip: model.skeleton.index("x"),
    "clip": lambda model, clip: model.clips["x"],
    "number": lambda model, clip: model.pose(99),
    "plot": lambda model, clip: clip.plot("knee"),
    "trim": lambda model, clip: clip.trim(3.0, 2.0),
    "other model": lambda model, clip: skinpy.chair().pose(clip),
    "additive": lambda model, clip: clip.additive("rest").additive("rest"),
    "key of a state": lambda model, clip: skinpy.StateMachine({"start": LONG, "states": {LONG: {"x": 1}}}),
    "transition": lambda model, clip: skinpy.StateMachine(
        {"start": LONG, "states": {LONG: {"clip": 0}}, "transitions": [{"from": LONG, "to": f"{LONG}b"}]}
    ),
    "end": lambda model, clip: skinpy.StateMachine(
        {"start": LONG, "states": {LONG: {"clip": 0, "loop": "once"}}}
    ),
}


@pytest.mark.parametrize("named", LONG_NAMED)
def test_long_names_are_cut(named: str) -> None:
    model = skinpy.load(import_cases.bvh((LONG, f"{LONG}a", "knee")), format="bvh")
    model = model.add_clips(
        skinpy.Clip.from_arrays(LONG, fps=2, joints=[LONG], translation=np.eye(3)[:, None])
    )
    with pytest.raises((ValueError, LookupError)) as error:
        LONG_NAMED[named](model, model.clips[LONG])
    assert max(map(len, re.findall("Q+", str(error.value))), default=0) <= 100
