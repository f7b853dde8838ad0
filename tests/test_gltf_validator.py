"""The validator of Khronos (npm gltf-validator) finds no error in what skinpy writes.

It runs where node and the package are there: SKINPY_NODE_MODULES names a folder that has node_modules.
"""

import json
import os
import shutil
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path

import builders
import import_cases
import pytest
from conftest import DATA, HANGS, data_file
from test_gltf_export import BUILT, MODELS, load, packed, sections_of

import skinpy
from skinpy.__main__ import main

MODULES = os.environ.get("SKINPY_NODE_MODULES", "")
HAS_VALIDATOR = bool(shutil.which("node")) and (Path(MODULES) / "node_modules" / "gltf-validator").is_dir()
#: Its images are a few bytes that look like images, for tests that compare bytes.
FAKE_IMAGES = "beside_geometry"

pytestmark = [
    pytest.mark.extras,
    pytest.mark.skipif(
        not HAS_VALIDATOR,
        reason="SKINPY_NODE_MODULES: no folder with node_modules/gltf-validator, or no node",
    ),
]


def assert_valid(folder: Path) -> None:
    """No .glb of a folder has an error. (Warnings are of what the model is like, such as nested meshes.)"""
    files = sorted(map(str, folder.glob("*.glb")))
    assert files
    script = Path(__file__).with_name("gltf_validate.mjs")
    done = subprocess.run(
        ["node", str(script), MODULES, *files], capture_output=True, text=True, check=True, timeout=HANGS
    )
    found = json.loads(done.stdout)
    assert list(found) == files
    errors = {
        Path(file).name: [one for one in of_file if one.startswith("error")]
        for file, of_file in found.items()
    }
    assert not {name: of_file for name, of_file in errors.items() if of_file}


def save_all(models: dict[str, Callable[[], skinpy.Model]], folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        for name, make in models.items():
            make().save(folder / f"{name}.glb")


def test_it_finds_errors(tmp_path: Path) -> None:
    skinpy.crane().save(tmp_path / "crane.glb")
    data = (tmp_path / "crane.glb").read_bytes()
    (tmp_path / "crane.glb").write_bytes(data.replace(b'"SCALAR"', b'"VECTOR"'))
    with pytest.raises(AssertionError, match=r"crane\.glb"):
        assert_valid(tmp_path)


def test_models(tmp_path: Path) -> None:
    bundled = {name: getattr(skinpy, name) for name in ("character", "crane", "chair")}
    built = {
        name: lambda name=name: load(getattr(builders, name)().glb(), format="glb")
        for name in BUILT
        if name != FAKE_IMAGES
    }
    save_all(bundled | built, tmp_path)
    assert_valid(tmp_path)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared test data")
def test_models_of_other_formats(tmp_path: Path) -> None:
    save_all({name: lambda name=name: load(data_file("models", name)) for name in MODELS}, tmp_path)
    assert_valid(tmp_path)


def test_models_in_other_units_with_other_axes(tmp_path: Path) -> None:
    for number, (unit, up) in enumerate(
        [(0.01, "+Y"), (1.0, "+Z"), (0.0254, "-X"), (100.0, "-Y"), (1e-3, "-Z")]
    ):
        data = builders.random_model(number, joints=12, vertices=60).glb()
        sections = sections_of(load(data, format="glb", up=up))
        sections["INFO"]["unit_meters"] = unit
        packed(sections).save(tmp_path / f"{number}.glb")
    assert_valid(tmp_path)


def test_retargeted_and_converted_models(tmp_path: Path) -> None:
    """Motion from BVH on the character, with events and root motion; an FBX in centimeters from a shell."""
    model = skinpy.character()
    model.clips["walk"].save(tmp_path / "walk.bvh", joint="Hips")
    source = skinpy.load(tmp_path / "walk.bvh")
    clip = (
        skinpy.retarget(source.clips[0], source, model, "auto").root_motion_from_feet().add_event(0.5, "step")
    )
    model.add_clips(clip).save(tmp_path / "retargeted.glb")
    (tmp_path / "model.fbx").write_bytes(import_cases.fbx())
    assert main(["convert", str(tmp_path / "model.fbx"), "-o", str(tmp_path / "converted.glb")]) == 0
    assert (
        main(["convert", str(tmp_path / "walk.bvh"), "-o", str(tmp_path / "bvh.glb"), "--unit", "0.01"]) == 0
    )
    assert_valid(tmp_path)
