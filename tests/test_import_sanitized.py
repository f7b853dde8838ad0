"""The importer under the address and the undefined behavior sanitizer, while its allocations fail one by one.

tests/importer/memory.c says what is asked of it. Leaks inside Assimp are not looked for: only its C++ side
would show them, and it has some.
"""

import os
from pathlib import Path

import builders
import compressed
import import_cases as cases
import pytest
import test_import_games
from c_compiler import build_importer, run
from conftest import data_file
from hostile.seed_models import instances, outside, own_seeds, pointers, sparse
from test_contract import tables

import skinpy

GAMES = ("x", "iqm", "3ds")  #: formats of games whose seeds for the mutator are read as well
MODELS = (
    "RiggedFigure.glb",
    "interpolation_test.gltf",
    "AnimatedMorphCube.gltf",
    "box_nested_animation.dae",
    "huesitos.fbx",
    "maya_blend_shape_cube.fbx",
)
#: Stacks, layers with animated weights, extrapolation, skins, in-between shapes, scale that is not inherited.
FBX = (
    "maya_anim_layers_7500_binary.fbx",
    "maya_blend_inbetween_7500_binary.fbx",
    "maya_anim_extrapolation_7700_binary.fbx",
    "maya_game_sausage_7500_binary_deform.fbx",
    "maya_scale_no_inherit_7700_ascii.fbx",
    "blender_293_embedded_textures_7400_binary.fbx",
)
BROKEN = ("weights_negative.gltf", "times_inf.gltf", "normals_short.gltf", "skin_no_ibm.gltf")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, objects_folder: Path) -> Path:
    return build_importer(tmp_path_factory.mktemp("importer"), objects_folder, "memory")


def check(program: Path, monkeypatch: pytest.MonkeyPatch, step: int, *files: Path) -> None:
    library = skinpy.build_info()["assimp"]
    assert library
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", ""))
    done = run(program, library, str(step), *files)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("allocations tried") == len(files)
    assert done.stdout.count("bytes, the same block") == len(files)


def test_small_models(program: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    files = {
        "a.glb": builders.random_model(3).glb(),
        "a.gltf": builders.awkward_names().gltf(),
        "b.gltf": builders.sparse_accessors().gltf(),
        "c.gltf": builders.beside_geometry().gltf(),
        **{f"{make.__name__}.gltf": make() for make in (instances, outside, pointers, sparse)},
        "a.bvh": cases.bvh(),
        "b.bvh": cases.bvh_awkward(),
        "a.obj": cases.obj(),
        "a.x": cases.x_file(skin=[("gone", (0, 1), cases.x_matrix()), ("arm", (2,), cases.x_matrix())]),
        **{f"own_{seed.name}.{seed.format}": seed.data for seed in own_seeds() if seed.format in GAMES},
        "a.dae": cases.dae(up="Z_UP", nodes='<node id="a" name="b"/>'),
        "a.fbx": cases.fbx(layers=2),
        "a.md2": cases.md2(),
        "b.fbx": cases.fbx_textured(cases.fbx_property("Scaling", "Vector", 2, 4, 1)),
        "c.fbx": cases.fbx_shapes(between=True),
        "c.dae": cases.dae_morphed(),
        "d.dae": cases.dae_scene(),
        "b.dae": cases.dae_textured("<repeatU>2</repeatU>"),
        "a.md5mesh": cases.MD5_MESH,  # with the animation beside it
        "a.md5anim": cases.MD5_ANIM,
        "b.obj": cases.obj(head="mtllib gone.mtl\n", middle="usemtl red\n"),
        **compressed.examples(builders.random_model(2, joints=3, vertices=9)),
        **{f"game.{format}": data for format, data in test_import_games.awkward().items()},
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    check(program, monkeypatch, 1, *(tmp_path / name for name in files))


def test_files_of_the_contract(program: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file with each element of each format that loads without options."""
    files = []
    for title, table in tables().items():
        for number, make in enumerate(table.values()):
            case = make()
            if case.refused or case.options:
                continue
            folder = tmp_path / f"{title}{number}".replace(" ", "")
            folder.mkdir()
            for name, data in case.files.items():
                (folder / name).write_bytes(data)
            files.append(folder / next(iter(case.files)))
    assert len(files) > 100
    check(program, monkeypatch, 11, *files)


def test_shared_models(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = [data_file("models", name) for name in MODELS]
    models += [data_file("fbx", name) for name in FBX]
    check(program, monkeypatch, 1, *models, *(data_file("hostile", "semantic", name) for name in BROKEN))
