"""What a user is told when a file loses something or cannot be loaded: what it is, and what to do."""

import json
from pathlib import Path
from typing import Any

import builders
import import_cases as cases
import pytest

import skinpy
from skinpy.__main__ import main

MATERIAL = "newmtl paint\nmap_Kd {}\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


def painted(folder: Path, image: str) -> Path:
    """An .obj whose material names this image."""
    (folder / "a.obj").write_bytes(cases.obj(head="mtllib a.mtl\n", middle="usemtl paint\n"))
    (folder / "a.mtl").write_text(MATERIAL.format(image))
    return folder / "a.obj"


def warning_of(path: Path, **options: Any) -> str:
    with pytest.warns(skinpy.SkinpyWarning) as caught:
        skinpy.load(path, **options)
    (warning,) = caught
    assert warning.filename == __file__
    return str(warning.message)


def error_of(path: Path, **options: Any) -> str:
    with pytest.raises(skinpy.LoadError) as caught:
        skinpy.load(path, **options)
    return str(caught.value)


# ---- warnings ------------------------------------------------------------------------------------------


def test_the_warning_names_the_first_loss_and_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_bytes(cases.obj(head="mtllib gone.mtl\n") + b"l 1 2\n")
    words = warning_of(tmp_path / "a.obj")
    assert words == (
        "lost while loading: points and lines are not supported; they were left out (1 times, first: mesh "
        "'defaultobject'); remedy: remove loose points and edges, or turn them into faces. Also lost: the "
        "model refers to files that cannot be read (1 times, first: 'gone.mtl')"
    )


@pytest.mark.parametrize("isolate", [True, False])
@pytest.mark.parametrize("named", ["wood.png", "images/wood.png", r"C:\\work\\wood.png"])
def test_a_name_in_other_letters_is_found(tmp_path: Path, named: str, isolate: bool) -> None:
    """A path that does not lead to an image is looked for beside the model as well."""
    path = painted(tmp_path, named)
    (tmp_path / "Wood.PNG").write_bytes(b"")
    words = warning_of(path, isolate=isolate)
    assert "wood.png'; there is 'Wood.PNG'); remedy: give the file the name that the model uses" in words
    assert "there is" not in warning_of(path, isolate=isolate, external="none")


def test_a_library_in_other_letters_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_bytes(cases.obj(head="mtllib Paint.mtl\n"))
    (tmp_path / "PAINT.MTL").write_text("")
    assert "'Paint.mtl'; there is 'PAINT.MTL')" in warning_of(tmp_path / "a.obj")


def test_folders_in_other_letters_are_found_but_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "model" / "Data").mkdir(parents=True)
    (tmp_path / "model" / "Data" / "A.bin").write_bytes(b"")
    path = gltf_with_buffer(tmp_path / "model", "data/a.bin")
    assert error_of(path).endswith("'data/a.bin' does not exist; there is 'Data/A.bin'")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "B.bin").write_bytes(b"")
    (tmp_path / "model" / "Link").symlink_to(tmp_path / "out")
    assert "there is" not in error_of(gltf_with_buffer(tmp_path / "model", "link/b.bin"))


def test_a_texture_that_is_a_git_lfs_pointer(tmp_path: Path) -> None:
    path = painted(tmp_path, "wood.png")
    (tmp_path / "wood.png").write_bytes(POINTER)
    assert "'wood.png' is a Git LFS pointer); remedy: run git lfs pull" in warning_of(path)
    (finding,) = (one for one in skinpy.check(path) if one.code == "textures_missing")
    assert finding.remedy == "run git lfs pull"


@pytest.mark.parametrize("content", [b"\x28\xb5\x2f\xfd compressed", b"BLENDER-v402RENDH" + bytes(200)])
def test_blend_files_that_assimp_cannot_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.blend").write_bytes(content)
    words = error_of(tmp_path / "a.blend", allow_formats=("blend",))
    assert words.endswith("; export the scene from Blender as glTF 2.0 (.glb)")


@pytest.mark.parametrize(
    ("name", "content", "remedy"),
    [
        ("a.md2", cases.md2(), "read all frames with skinpy.VertexAnimation.load"),
        ("a.fbx", cases.fbx(path="RotationPivot"), "bake it into joints or textures"),
    ],
)
def test_the_remedy_fits_the_cause(tmp_path: Path, name: str, content: bytes, remedy: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert f"remedy: {remedy}" in warning_of(tmp_path / name)
    assert any(finding.remedy.startswith(remedy) for finding in skinpy.check(tmp_path / name))


def test_no_remedy_blames_what_is_harmless() -> None:
    from skinpy.checking.report import _MEANING

    for _, remedy in _MEANING.values():
        assert "contradict" not in remedy and not remedy.endswith(".")


# ---- errors --------------------------------------------------------------------------------------------


def gltf_with_buffer(folder: Path, uri: str) -> Path:
    document = json.loads(builders.shear().gltf())
    document["buffers"][0]["uri"] = uri
    (folder / "a.gltf").write_text(json.dumps(document))
    return folder / "a.gltf"


def test_a_buffer_that_is_not_there(tmp_path: Path) -> None:
    path = gltf_with_buffer(tmp_path, "data.bin")
    assert error_of(path).endswith("'data.bin' is not a file in the model's folder that may be read; put it "
                                   "beside the model")  # fmt: skip
    (tmp_path / "Data.BIN").write_bytes(b"")
    assert error_of(path).endswith("'data.bin' does not exist; there is 'Data.BIN'")
    (tmp_path / "data.bin").write_bytes(POINTER)
    assert error_of(path).endswith("'data.bin' is a Git LFS pointer; run git lfs pull")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.glb", POINTER, "this is a Git LFS pointer, not a model; run git lfs pull"),
        ("a.glb", b"\n<!DOCTYPE html><html>", "this is a web page, not a model; download the model itself"),
        ("a.glb", b"PK\3\4 and so on", "is a zip archive; extract the model first"),
        ("a.zip", b"PK\3\4 and so on", "extract the archive and load the model in it"),
        ("a.xyz", b"glTF\2\0\0\0", 'begins as a .glb file does; pass format="glb"'),
        ("a.fbx", b"glTF\2\0\0\0", 'begins as a .glb file does; pass format="glb"'),
        ("a.xyz", b"nothing", 'format="..." names the format of the content'),
        ("a.blend", b"BLENDER-v300", "export the scene from Blender as glTF 2.0 (.glb), or allow it with"),
        ("a.usdz", b"PK\3\4 and so on", "convert the file to glTF, for example with Blender"),
        ("a.max", b"", "export the scene from 3ds Max as FBX"),
        ("a.m3d", b"3DMO" + bytes(8), "; export the model as glTF 2.0 (.glb)"),
        ("a.mtl", b"newmtl a", "load the .obj file that names it"),
        ("a.fbx", cases.fbx(version=6100), "convert the file to FBX 2011 or newer"),
    ],
)
def test_an_error_says_what_to_do(
    tmp_path: Path, name: str, content: bytes, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert words in error_of(tmp_path / name)
    assert main(["check", str(tmp_path / name)]) == 1
    assert words in capsys.readouterr().err
