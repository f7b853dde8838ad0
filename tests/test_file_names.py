"""Names of files: any that the system has, of models and of the files that they bring in."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import builders
import pytest
from hostile.seed_models import Seed, own_seeds

import skinpy

#: Names without suffix: what separates folders elsewhere, drives, marks of URIs and of shells.
ODD = [
    *("a\\b", "\\a", "a\\..\\b", "C:a", "a:b", "..a", "a..b", "~a", "a%20b", "a#b", "a?b", "a b", " a"),
    *("a\n b", "a\x1bb", "a\udcffb", "-a", "a.b.c", "ä骨", ".a", "a*[b]", '"a"', "a;b", "x" * 200),
]
#: One of each format. MD5 brings in a file of its own name, and is tested below.
SEEDS = {seed.format: seed for seed in own_seeds() if not seed.format.startswith("md5")}


def facts(path: Path | str) -> tuple[str, list[str]]:
    """The model and its report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        model = skinpy.load(path)
    return repr(model), [f"{one.code}: {one.first}" for one in model.report]


@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
def test_models_of_any_name(seed: Seed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same model and the same report, by any name, also by a path from another folder."""
    for name, content in seed.beside:
        (tmp_path / name).write_bytes(content)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    plain = tmp_path / f"model.{seed.format}"
    plain.write_bytes(seed.data)
    wanted = facts(plain)
    for name in ODD:
        path = tmp_path / f"{name}.{seed.format}"
        path.write_bytes(seed.data)
        assert facts(path) == wanted, ascii(name)
        assert facts(os.path.join("..", path.name)) == wanted, ascii(name)


def test_motion_of_the_same_odd_name(tmp_path: Path) -> None:
    (seed,) = [one for one in own_seeds() if one.format == "md5mesh"][:1]
    for name in ODD:
        (tmp_path / f"{name}.md5mesh").write_bytes(seed.data)
        (tmp_path / f"{name}.md5anim").write_bytes(dict(seed.beside)["model.md5anim"])
        assert "1 clips" in facts(tmp_path / f"{name}.md5mesh")[0], ascii(name)


def gltf_with(uri: str) -> tuple[bytes, bytes]:
    """A glTF whose buffer is in another file, and the bytes of that."""
    document = json.loads(builders.chain(3).gltf())
    (buffer,) = document["buffers"]
    data = base64.b64decode(buffer["uri"].split(",")[1])
    buffer["uri"] = uri
    return json.dumps(document).encode(), data


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        *(
            ("a%5Cb.bin", "a\\b.bin"),
            ("a\\b.bin", "a\\b.bin"),
            ("a\\b.bin", "a/b.bin"),
            ("C:b.bin", "C:b.bin"),
        ),
        *(("a%20b.bin", "a b.bin"), ("./b.bin", "b.bin"), ("a/./b.bin", "a/b.bin"), ("%C3%A4.bin", "ä.bin")),
    ],
)
def test_files_that_a_model_brings_in(uri: str, name: str, tmp_path: Path) -> None:
    """A backslash separates folders, as on Windows, unless there is a file with it in its name."""
    model, data = gltf_with(uri)
    path = tmp_path / "a\\model.gltf"
    path.write_bytes(model)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(data)
    for external in ("folder", "any"):
        assert len(skinpy.load(path, external=external).skeleton) == 4  # type: ignore[arg-type]


def test_a_backslash_leads_nowhere_outside(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for uri in ("..\\b.bin", "..%5Cb.bin", "../b.bin", "\\..\\b.bin", "C:\\..\\b.bin", "x\\..\\..\\b.bin"):
        model, data = gltf_with(uri)
        (folder / "model.gltf").write_bytes(model)
        (tmp_path / "b.bin").write_bytes(data)
        with pytest.raises(skinpy.LoadError, match=r"b\.bin' is not a file in the model's folder"):
            skinpy.load(folder / "model.gltf")


@pytest.mark.parametrize(
    ("uri", "name"),
    [("x.bin", "X.BIN"), ("sub/x.bin", "Sub/X.bin"), ("sub\\x.bin", "sub/X.bin"), ("ä.bin", "Ä.bin")],
)
def test_other_letters_get_a_hint(uri: str, name: str, tmp_path: Path) -> None:
    model, data = gltf_with(uri)
    (tmp_path / "model.gltf").write_bytes(model)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(skinpy.LoadError) as error:
        skinpy.load(tmp_path / "model.gltf")
    assert str(error.value).endswith(f"'{uri}' does not exist; there is '{name}'")


def test_other_letters_of_what_is_lost_get_a_hint(tmp_path: Path) -> None:
    (square,) = [seed for seed in own_seeds() if seed.format == "obj"][:1]
    (tmp_path / "model.obj").write_bytes(square.data)
    (tmp_path / "Beside.MTL").write_bytes(b"newmtl red\n")
    _, report = facts(tmp_path / "model.obj")
    assert "files_missing: 'beside.mtl'; there is 'Beside.MTL'" in report


#: Loads a file as another user than root, to whom no file is closed; without root, as the one who runs it.
AS_USER = """
import sys
import skinpy
skinpy.character()
import os
os.getuid() or os.setuid(65534)
try:
    skinpy.load(sys.argv[1])
except skinpy.LoadError as error:
    print(error)
"""


def test_a_file_that_the_user_may_not_read_is_told_as_that() -> None:
    """It lies beside the model already; pytest's own folders are closed to other users."""
    model, data = gltf_with("x.bin")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "model.gltf").write_bytes(model)
        (folder / "x.bin").write_bytes(data)
        (folder / "x.bin").chmod(0)
        command = [sys.executable, "-c", AS_USER, str(folder / "model.gltf")]
        said = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout.strip()
    assert said.endswith("'x.bin' is there, but the system does not let this user read it")


def test_paths_that_no_system_holds() -> None:
    """Half of a character is no byte, and no letter."""
    for call in (
        lambda path: skinpy.load(path),
        lambda path: skinpy.load(path, isolate=False),
        lambda path: skinpy.character().save(path),
        lambda path: skinpy.StateMachine.load(path),
        lambda path: skinpy.VertexAnimation.load(path),
        lambda path: skinpy.BakedTexture.load(path, skinpy.crane()),
    ):
        with pytest.raises(ValueError, match=r"'a\\ud800\.glb'") as error:
            call("a\ud800.glb")
        assert not isinstance(error.value, UnicodeError)


def test_a_scene_of_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    """A name as the model has it selects the scene."""
    document = json.loads(builders.chain(2).gltf())
    document["scenes"] = [{"nodes": [0], "name": "first"}, {"nodes": [0], "name": "NAME"}]
    path = tmp_path / "model.gltf"
    path.write_bytes(json.dumps(document).encode().replace(b"NAME", b"s\xff"))
    assert skinpy.load(path).scenes[1] == "s\udcff"
    assert skinpy.load(path, scene="s\udcff").scenes[1] == "s\udcff"
    with pytest.raises(skinpy.LoadError, match="first"):
        skinpy.load(path, scene="s\udcfe")
    with pytest.raises(ValueError, match="scene is"):
        skinpy.load(path, scene="\ud800")
