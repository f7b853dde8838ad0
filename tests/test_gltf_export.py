"""model.save("x.glb"): what is written is valid glTF, and comes back as the model that was saved.

Files are judged three times: by `check`, which reads JSON and bytes alone; by the float64 twin that evaluates
a glTF file directly; and by our own importer. Where node and the package three are there (SKINPY_NODE_MODULES
names a folder that has them), three.js poses the files too.
"""

import inspect
import json
import os
import shutil
import struct
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import builders
import import_cases
import numpy as np
import pytest
from conftest import DATA, HANGS, data_file
from twin import GltfFile

import skinpy
from skinpy import _block
from skinpy.files import glb_lines
from skinpy.files.png import png

SIZES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
DTYPES = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
BUNDLED = ["character", "crane", "chair"]
BUILT = [
    name
    for name, make in inspect.getmembers(builders, inspect.isfunction)
    if make.__module__ == "builders"
    and all(one.default is not one.empty for one in inspect.signature(make).parameters.values())
    and make.__annotations__.get("return") == "Gltf"
    and name != "random_model"
]
MODELS = [
    "AnimatedMorphCube.gltf",
    "BCN_Epileptic.X",
    "BoxAnimated.glb",
    "Fox.glb",
    "RiggedFigure.dae",
    "RiggedFigure.md5mesh",
    "SimpleMorph.gltf",
    "SimpleSkin.gltf",
    "huesitos.fbx",
    "interpolation_test.gltf",
    "maya_blend_shape_cube.fbx",
    "maya_game_sausage.fbx",
    "sinusoidal.bvh",
]


def load(source: Any, **options: Any) -> skinpy.Model:
    """Load with all influences; losses of the source file do not matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        return skinpy.load(source, max_influences=8, **options)


def saved(model: skinpy.Model, folder: Path) -> bytes:
    path = folder / "out.glb"
    model.save(path)
    assert [one.name for one in folder.iterdir()] == ["out.glb"]
    return path.read_bytes()


# ---- a strict reader ------------------------------------------------------------------------------------


def check(data: bytes) -> dict[str, Any]:
    """Check everything that skinpy writes in a .glb against the specification."""
    magic, version, total, size, kind = struct.unpack_from("<4sIII4s", data)
    assert (magic, version, total, kind) == (b"glTF", 2, len(data), b"JSON")
    assert size % 4 == 0
    document: dict[str, Any] = json.loads(data[20 : 20 + size])
    binary = b""
    if len(data) > 20 + size:
        length, kind = struct.unpack_from("<I4s", data, 20 + size)
        assert kind == b"BIN\0"
        assert length % 4 == 0
        assert 28 + size + length == len(data)
        binary = data[28 + size :]
        assert 0 <= length - document["buffers"][0]["byteLength"] < 4
    assert all(document[name] for name in document if name != "scene")  # empty lists are not allowed
    check_views(document)
    arrays = [read(document, binary, one) for one in document.get("accessors", [])]
    check_nodes(document)
    for mesh in document.get("meshes", []):
        check_mesh(document, mesh, arrays)
    for skin in document.get("skins", []):
        assert len(set(skin["joints"])) == len(skin["joints"])
        binds = arrays[skin["inverseBindMatrices"]]
        assert binds.shape == (len(skin["joints"]), 16)
        np.testing.assert_array_equal(binds[:, 3::4], np.tile([0, 0, 0, 1], (len(binds), 1)))
    for animation in document.get("animations", []):
        check_animation(document, animation, arrays)
    for image in document.get("images", []):
        assert image["mimeType"] in ("image/png", "image/jpeg")
    return document


def check_views(document: dict[str, Any]) -> None:
    end = 0
    for view in document.get("bufferViews", []):
        assert view["byteOffset"] % 4 == 0
        assert view["byteOffset"] >= end
        assert view["byteLength"] > 0
        end = view["byteOffset"] + view["byteLength"]
    if "buffers" in document:
        assert end <= document["buffers"][0]["byteLength"]


def read(document: dict[str, Any], binary: bytes, accessor: dict[str, Any]) -> np.ndarray:
    view = document["bufferViews"][accessor["bufferView"]]
    width = WIDTHS[accessor["type"]]
    row = width * SIZES[accessor["componentType"]]
    assert accessor["count"] * row == view["byteLength"]
    if view.get("target") == 34962:
        assert row % 4 == 0
    dtype = np.dtype(DTYPES[accessor["componentType"]])
    array = np.frombuffer(binary, dtype, accessor["count"] * width, view["byteOffset"]).reshape(-1, width)
    if dtype.kind == "f":
        assert np.isfinite(array).all()
    if "min" in accessor:
        np.testing.assert_array_equal(np.float32(accessor["min"]), array.min(axis=0).astype(np.float32))
        np.testing.assert_array_equal(np.float32(accessor["max"]), array.max(axis=0).astype(np.float32))
    return array


def check_nodes(document: dict[str, Any]) -> None:
    nodes = document["nodes"]
    children = [child for node in nodes for child in node.get("children", [])]
    assert len(set(children)) == len(children)
    assert sorted(set(range(len(nodes))) - set(children)) == document["scenes"][0]["nodes"]
    moved = {
        channel["target"]["node"]
        for animation in document.get("animations", [])
        for channel in animation["channels"]
        if channel["target"]["path"] not in ("weights", "pointer")
    }
    for number, node in enumerate(nodes):
        if "matrix" in node:
            assert number not in moved
            assert not {"translation", "rotation", "scale"} & node.keys()
            assert np.array(node["matrix"])[3::4].tolist() == [0, 0, 0, 1]
        if "rotation" in node:
            assert abs(np.linalg.norm(node["rotation"]) - 1) < 1e-6
        if "skin" in node:
            assert "mesh" in node


def check_mesh(document: dict[str, Any], mesh: dict[str, Any], arrays: list[np.ndarray]) -> None:
    for primitive in mesh["primitives"]:
        attributes = primitive["attributes"]
        count = len(arrays[attributes["POSITION"]])
        assert {"min", "max"} <= document["accessors"][attributes["POSITION"]].keys()
        assert all(len(arrays[index]) == count for index in attributes.values())
        faces = arrays[primitive["indices"]]
        assert len(faces) % 3 == 0
        assert faces.max() < min(count, np.iinfo(faces.dtype).max)
        for name, width in (("WEIGHTS", 8), ("JOINTS", 8)):
            sets = [
                arrays[attributes[f"{name}_{i}"]] for i in range(width // 4) if f"{name}_{i}" in attributes
            ]
            if name == "WEIGHTS" and sets:
                np.testing.assert_allclose(np.concatenate(sets, 1).sum(1, dtype=float), 1, atol=1e-6)
        for target in primitive.get("targets", []):
            assert {"min", "max"} <= document["accessors"][target["POSITION"]].keys()
            assert all(len(arrays[index]) == count for index in target.values())
        if "targets" in primitive:
            assert len(primitive["targets"]) == len(mesh["weights"]) == len(mesh["extras"]["targetNames"])


def check_animation(document: dict[str, Any], animation: dict[str, Any], arrays: list[np.ndarray]) -> None:
    goals = [json.dumps(channel["target"], sort_keys=True) for channel in animation["channels"]]
    assert goals
    assert len(set(goals)) == len(goals)
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        times, values = arrays[sampler["input"]][:, 0], arrays[sampler["output"]]
        assert {"min", "max"} <= document["accessors"][sampler["input"]].keys()
        assert times[0] >= 0
        assert (np.diff(times) > 0).all()
        rows = len(times) * (3 if sampler["interpolation"] == "CUBICSPLINE" else 1)
        if channel["target"]["path"] == "weights":
            node = document["nodes"][channel["target"]["node"]]
            rows *= len(document["meshes"][node["mesh"]]["weights"])
        assert len(values) == rows
        if channel["target"]["path"] == "rotation" and sampler["interpolation"] != "CUBICSPLINE":
            np.testing.assert_allclose(np.linalg.norm(values.astype(float), axis=1), 1, atol=1e-5)


# ---- there and back -------------------------------------------------------------------------------------


def size_of(model: skinpy.Model) -> float:
    return max(float(np.abs(model.bounds(0 if len(model.clips) else None)).max()), 1e-30)


def in_meters(model: skinpy.Model, lengths: np.ndarray) -> np.ndarray:
    """Lengths (...,3) or matrices (...,4,4) as a .glb has them. A unit of 1 changes no bit."""
    scaled = lengths.astype(np.float64)
    if lengths.shape[-1] == 4:
        scaled[..., :3, 3] *= model.unit_meters or 1.0
        return scaled
    return scaled * (model.unit_meters or 1.0)


def assert_same(first: skinpy.Model, again: skinpy.Model) -> None:
    """All arrays of the mesh to the bit (in meters to a rounding), all motion to 1e-6 of the size."""
    nearly = 0.0 if first.unit_meters in (None, 1.0) else 1e-7
    assert again.skeleton.names == first.skeleton.names
    np.testing.assert_array_equal(again.skeleton.parents, first.skeleton.parents)
    assert [(s.name, s.node, s.material, s.vertex_range, s.face_range) for s in again.mesh.submeshes] == [
        (s.name, s.node, s.material, s.vertex_range, s.face_range) for s in first.mesh.submeshes
    ]
    for name in ("uvs", "colors", "faces"):
        np.testing.assert_array_equal(getattr(again.mesh, name), getattr(first.mesh, name))
    np.testing.assert_allclose(again.mesh.positions, in_meters(first, first.mesh.positions), rtol=nearly)
    np.testing.assert_allclose(again.mesh.normals, first.mesh.normals, atol=2e-7)
    assert [(m.name, m.base_color, m.double_sided, m.alpha) for m in again.materials] == [
        (m.name, m.base_color, m.double_sided, m.alpha) for m in first.materials
    ]
    for old, new in zip(first.materials, again.materials, strict=True):
        assert (old.texture is None) == (new.texture is None)
        if old.texture is not None and new.texture is not None and old.texture.format in ("png", "jpg"):
            assert bytes(old.texture.data) == bytes(new.texture.data)
    assert [(t.name, t.node, t.default_weight) for t in again.targets] == [
        (t.name, t.node, t.default_weight) for t in first.targets
    ]
    for old_target, new_target in zip(first.targets, again.targets, strict=True):
        for name in ("vertices", "normals"):
            np.testing.assert_array_equal(getattr(new_target, name), getattr(old_target, name))
        wanted = in_meters(first, old_target.positions)
        np.testing.assert_allclose(new_target.positions, wanted, rtol=nearly)
    assert_same_motion(first, again)


def assert_same_motion(first: skinpy.Model, again: skinpy.Model) -> None:
    tolerance = 1e-6 * size_of(again)
    assert again.clips.names == first.clips.names
    for clip in [None, *range(len(first.clips))]:
        duration = 0.0 if clip is None else first.clips[clip].duration
        if clip is not None:
            assert abs(again.clips[clip].duration - duration) <= 1e-6 * max(duration, 1)
        times = np.linspace(0, duration, 33)
        old, new = (one.pose(clip, times, loop="clamp") for one in (first, again))
        # Steps jump at times that float32 rounds: there either side of the jump is right.
        steady = np.ones(33, bool)
        for channel in first.clips[clip].channels if clip is not None else ():
            if channel.interpolation == "step":
                steady &= np.abs(times[:, None] - channel.times).min(axis=1) > 1e-6 * max(duration, 1)
        wanted = in_meters(first, old.globals()[steady])
        np.testing.assert_allclose(new.globals()[steady, :, :3, 3], wanted[..., :3, 3], atol=tolerance)
        wanted = in_meters(first, old.palette()[steady])
        nearly = 4 * tolerance + 4e-6 * max(1.0, np.abs(wanted[..., :3, :3]).max(initial=0))
        np.testing.assert_allclose(new.palette()[steady], wanted, atol=nearly)
        positions, normals = again.deform(new)
        wanted = in_meters(first, first.deform(old)[0][steady])
        np.testing.assert_allclose(positions[steady], wanted, rtol=0, atol=tolerance)
        np.testing.assert_allclose(normals[steady], first.deform(old)[1][steady], rtol=0, atol=4e-6)


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_models_come_back(name: str, tmp_path: Path) -> None:
    model = getattr(skinpy, name)()
    data = saved(model, tmp_path)
    check(data)
    again = skinpy.load(tmp_path / "out.glb")
    assert not again.report
    assert_same(model, again)
    assert saved(model, tmp_path) == data


@pytest.mark.parametrize("name", BUILT)
def test_awkward_models_come_back(name: str, tmp_path: Path) -> None:
    model = load(getattr(builders, name)().glb(), format="glb")
    data = saved(model, tmp_path)
    check(data)
    again = load(tmp_path / "out.glb")
    if len(again.skeleton) == len(model.skeleton):
        assert_same(model, again)
    else:  # a joint that stands twice in one skin has a node more
        assert set(again.skeleton.names) == set(model.skeleton.names)
        assert_same_vertices(model, again)


def assert_same_vertices(first: skinpy.Model, again: skinpy.Model) -> None:
    for clip in range(len(first.clips)):
        times = np.linspace(0, first.clips[clip].duration, 17)
        old, new = (one.deform(one.pose(clip, times, loop="clamp"))[0] for one in (first, again))
        np.testing.assert_allclose(new, old, rtol=0, atol=1e-6 * size_of(first))


@pytest.mark.parametrize("seed", range(6))
def test_generated_models_come_back(seed: int, tmp_path: Path) -> None:
    model = load(builders.random_model(seed, joints=12 + 5 * seed, vertices=300).glb(), format="glb")
    check(saved(model, tmp_path))
    assert_same(model, load(tmp_path / "out.glb"))


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared test data")
@pytest.mark.parametrize("name", MODELS)
def test_models_of_other_formats_come_back(name: str, tmp_path: Path) -> None:
    model = load(data_file("models", name))
    check(saved(model, tmp_path))
    assert_same(model, load(tmp_path / "out.glb"))


@pytest.mark.parametrize("seed", [1, 2])
def test_the_file_says_it_without_our_importer(seed: int, tmp_path: Path) -> None:
    """The float64 twin evaluates the written file from its JSON."""
    for model in (
        load(builders.random_model(seed, joints=9, vertices=60).glb(), format="glb"),
        skinpy.crane(),
    ):
        file = GltfFile(saved(model, tmp_path))
        for clip in range(len(model.clips)):
            for time in np.linspace(0.01, model.clips[clip].duration * 0.98, 5):
                globals_ = file.globals(clip, time)
                wanted = np.concatenate([file.vertices(part, globals_)[0] for part in file.parts()])
                got = model.deform(model.pose(clip, time))[0]
                np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-6 * size_of(model))


# ---- meters, and +Y up ----------------------------------------------------------------------------------


def whole(unit: float, up: str) -> skinpy.Model:
    """A character with cubic keys, root motion and an event, in another unit, with another up axis."""
    parts = sections_of(load(builders.random_model(4, joints=9, vertices=60).glb(), format="glb", up=up))
    parts["INFO"]["unit_meters"] = unit
    model = packed(parts)
    rng = np.random.default_rng(8)
    keys = {"translation": rng.normal(size=(5, 2, 3)), "rotation": rng.normal(size=(5, 2, 4))}
    names = [model.skeleton.names[0], model.skeleton.names[3]]
    model = model.add_clips(skinpy.Clip.from_arrays("go", fps=2, joints=names, **keys))
    moved = model.clips["go"].extract_root_motion(names[0]).add_event(0.5, "step")
    return model.add_clips(moved, replace=True)


@pytest.mark.parametrize(("unit", "up"), [(0.01, "+Y"), (1.0, "+Z"), (0.0254, "-X"), (100.0, "-Y")])
def test_a_glb_is_in_meters_with_y_up(unit: float, up: str, tmp_path: Path) -> None:
    """glTF 2.0, 3.4: all linear distances are in meters, and +Y is up."""
    model = whole(unit, up)
    check(saved(model, tmp_path))
    again = load(tmp_path / "out.glb")
    assert (again.unit_meters, again.up) == (1.0, "+Y")
    turn = np.array(TURNS[up], np.float64)
    for clip in [None, *model.clips.names]:
        times = np.linspace(0, model.clips[clip].duration if clip else 0, 17)
        old, new = (one.deform(one.pose(clip, times, loop="clamp"))[0] for one in (model, again))
        wanted = unit * old @ turn.T
        np.testing.assert_allclose(new, wanted, rtol=0, atol=2e-6 * np.abs(wanted).max())
    assert again.clips["go"].events == model.clips["go"].events
    (old, new) = (one.clips["go"].root_motion for one in (model, again))
    assert old is not None
    assert new is not None
    change = np.eye(4)
    change[:3, :3] = turn
    for time in np.linspace(0, 2, 7):
        wanted = change @ old.sample(time) @ change.T
        wanted[:3, 3] *= unit
        np.testing.assert_allclose(new.sample(time), wanted, rtol=0, atol=3e-6 * max(1.0, unit))


#: Rotations that bring an axis to +Y. Of those for Z up, -Y becomes +Z, as in every importer that turns Z up.
TURNS = {
    "+Y": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "+Z": [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
    "-X": [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
    "-Y": [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
}


def test_hips_of_a_character_in_centimeters(tmp_path: Path) -> None:
    """The case fbx-in-centimeters-to-glb: hips at 1 m, not at 100 m."""
    model = load(import_cases.fbx(), format="fbx")
    assert model.unit_meters == 0.01
    check(saved(model, tmp_path))
    heights = [np.abs(one.bounds()).max() for one in (model, load(tmp_path / "out.glb"))]
    assert heights[1] == pytest.approx(0.01 * heights[0], rel=1e-6)


def test_cameras_and_lights_are_scaled_too(tmp_path: Path) -> None:
    file = builders.beside_geometry()
    file.more["cameras"].append(
        {"type": "orthographic", "orthographic": {"xmag": 2, "ymag": 1, "znear": 0, "zfar": 9}}
    )
    file.more["extensions"]["KHR_lights_punctual"]["lights"][0]["range"] = 30
    model = load(file.glb(), format="glb")
    model.save(tmp_path / "out.glb", unit_meters=0.1)
    document = check((tmp_path / "out.glb").read_bytes())
    perspective, orthographic = (one[one["type"]] for one in document["cameras"])
    assert perspective == {"yfov": 1, "znear": pytest.approx(0.01)}
    assert orthographic == {"xmag": 0.2, "ymag": 0.1, "znear": 0, "zfar": pytest.approx(0.9)}
    assert document["extensions"]["KHR_lights_punctual"]["lights"][0]["range"] == 3
    assert load(file.glb(), format="glb").cameras == model.cameras


def test_a_unit_that_the_model_does_not_know(tmp_path: Path) -> None:
    model = strip()
    assert model.unit_meters is None
    model.save(tmp_path / "as_it_is.glb")
    model.save(tmp_path / "centimeters.glb", unit_meters=0.01)
    np.testing.assert_array_equal(load(tmp_path / "as_it_is.glb").mesh.positions, model.mesh.positions)
    wanted = np.float32(0.01 * model.mesh.positions.astype(float))
    np.testing.assert_array_equal(load(tmp_path / "centimeters.glb").mesh.positions, wanted)
    model.add_clips(still_clip("still")).save(tmp_path / "x.skn", unit_meters=0.01)
    again = skinpy.load(tmp_path / "x.skn")
    assert (again.unit_meters, again.clips.names) == (0.01, ("still",))
    np.testing.assert_array_equal(again.mesh.positions, model.mesh.positions)
    with pytest.raises(ValueError, match="unit_meters is 0; expected"):
        model.save(tmp_path / "x.glb", unit_meters=0.0)
    with pytest.raises(ValueError, match="beyond float32"):
        model.save(tmp_path / "x.glb", unit_meters=1e39)
    assert not (tmp_path / "x.glb").exists()


# ---- what glTF cannot hold as it is ---------------------------------------------------------------------


def strip(**options: Any) -> skinpy.Model:
    """Two joints, one triangle, and the caller's arrays."""
    rest = np.tile(np.eye(4), (2, 1, 1))
    rest[1, 1, 3] = 1.0
    arguments: dict[str, Any] = {
        "positions": [[0, 0, 0], [1, 0, 0], [0, 2, 0]],
        "faces": [[0, 1, 2]],
        "joints": [[0, 1]] * 3,
        "weights": [[1, 0], [0.7, 0.3], [0.2, 0.8]],
    }
    return skinpy.Model.from_arrays(
        options.pop("names", ["a", "b"]), options.pop("parents", [-1, 0]), rest, **(arguments | options)
    )


def test_from_arrays(tmp_path: Path) -> None:
    model = strip(uvs=[[0, 0], [1, 0.25], [0.5, 1]])
    check(saved(model, tmp_path))
    assert_same(model, load(tmp_path / "out.glb"))


def test_several_roots_get_one_above(tmp_path: Path) -> None:
    model = strip(parents=[-1, -1])
    document = check(saved(model, tmp_path))
    assert document["scenes"][0]["nodes"] == [2]
    assert load(tmp_path / "out.glb").skeleton.names == ("ROOT", "a", "b")


def test_a_clip_without_channels(tmp_path: Path) -> None:
    model = repacked(strip(clips=[still_clip("still"), still_clip("more")]), 0, CHANNELS=0)
    assert not model.clips["still"].channels
    check(saved(model, tmp_path))
    again = load(tmp_path / "out.glb")
    assert again.clips.names == ("still",)
    np.testing.assert_allclose(again.globals("still", 0.0), model.globals("still", 0.0))


def still_clip(name: str) -> skinpy.Clip:
    return skinpy.Clip.from_arrays(name, times=[0.0], joints=["a"], translation=np.zeros((1, 1, 3)))


def sections_of(model: skinpy.Model) -> dict[str, np.ndarray]:
    packed = model._joined()
    return {name: _block.section(packed, name).copy() for name in packed.sections}


def packed(sections: dict[str, np.ndarray]) -> skinpy.Model:
    return skinpy.Model(_block.pack(sections, int(sections["INFO"]["influences"][0])))


def repacked(model: skinpy.Model, channels: int, **sections: int) -> skinpy.Model:
    """The model with its first clip alone, with fewer channels, and with some sections cut to fewer rows."""
    parts = sections_of(model)
    records = parts["CLIPS"][:1].copy()
    records["channel_count"], records["duration"] = channels, max(parts["CLIPS"]["duration"])
    parts |= {"CLIPS": records} | {name: parts[name][:rows] for name, rows in sections.items()}
    return packed(parts)


def value_at(line: glb_lines.KeyLine, time: float) -> Any:
    return glb_lines.between(line, np.array([time]))[0][0]


@pytest.mark.parametrize("interpolation", ["linear", "step"])
def test_keys_before_zero(interpolation: str, tmp_path: Path) -> None:
    keys = np.random.default_rng(5).normal(size=(4, 2, 4))
    clip = skinpy.Clip.from_arrays(
        "turn", times=[-1, -0.25, 0.5, 2], joints=["a", "b"], rotation=keys, interpolation=interpolation
    )
    model = strip(clips=[clip])
    check(saved(model, tmp_path))
    assert_same_motion(model, load(tmp_path / "out.glb"))


def test_cutting_a_cubic_segment_keeps_its_curve() -> None:
    rng = np.random.default_rng(3)
    values, before, after = rng.normal(size=(3, 3, 2))
    line = glb_lines.KeyLine(0, "scale", "cubic", np.array([-1.0, 0.5, 2.0]), values, before, after)
    cut = glb_lines.cut(line, 1.25)
    np.testing.assert_allclose(cut.times, [0, 0.5, 1.25])
    for time in np.linspace(0, 1.25, 9):
        np.testing.assert_allclose(value_at(cut, time), value_at(line, time), atol=1e-12)


def test_times_that_float32_cannot_tell_apart(tmp_path: Path) -> None:
    times = [0.0, 1000.0, 1000.0 + 1e-6, 1000.0 + 2e-6, 1001.0]
    moves = np.zeros((5, 2, 3))
    moves[:, 1, 1] = [1, 2, 3, 4, 5]
    model = strip(clips=[skinpy.Clip.from_arrays("late", times=times, joints=["a", "b"], translation=moves)])
    check(saved(model, tmp_path))
    assert len(load(tmp_path / "out.glb").clips["late"].channels[1].times) == 5


def test_names_that_are_no_unicode(tmp_path: Path) -> None:
    model = strip(names=["caf\udce9", 'quote " and \\ and \n'])
    check(saved(model, tmp_path))
    assert load(tmp_path / "out.glb").skeleton.names == ("caf�", 'quote " and \\ and \n')


def test_a_model_without_a_mesh(tmp_path: Path) -> None:
    model = strip(
        positions=np.zeros((0, 3)), faces=[], joints=np.zeros((0, 1), int), weights=np.zeros((0, 1))
    )
    document = check(saved(model, tmp_path))
    assert "meshes" not in document
    assert load(tmp_path / "out.glb").skeleton.names == ("a", "b")


def test_names_of_a_mesh_that_lost_a_part(tmp_path: Path) -> None:
    file = builders.Gltf()
    p, _, f = builders.box()
    parts = [file.primitive(p, f) for _ in range(4)]
    parts[0]["mode"] = parts[2]["mode"] = 1
    file.node(mesh=file.mesh(*parts, name="m"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        model = skinpy.load(file.glb())
    assert [part.name for part in model.mesh.submeshes] == ["m-1", "m-3"]
    model.save(tmp_path / "m.glb")
    assert [part.name for part in skinpy.load(tmp_path / "m.glb").mesh.submeshes] == ["m-0", "m-1"]


def test_a_joint_that_stands_twice_in_one_skin(tmp_path: Path) -> None:
    """The second slot of the same joint gets a node of its own, with the joint's name."""
    parts = sections_of(strip())
    parts["SLOT_JOINTS"][:] = 1
    parts["SLOT_INVERSE_BIND"][1, :3, 3] = (0.5, -2.0, 0.25)
    model = packed(parts)
    document = check(saved(model, tmp_path))
    assert len(document["skins"][0]["joints"]) == 2
    again = load(tmp_path / "out.glb")
    assert again.skeleton.names == ("a", "b", "b")
    np.testing.assert_allclose(again.deform(again.pose())[0], model.deform(model.pose())[0], atol=1e-6)


def test_joints_that_are_not_depth_first(tmp_path: Path) -> None:
    rest = np.tile(np.eye(4), (4, 1, 1))
    rest[1:, :3, 3] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    model = skinpy.Model.from_arrays(
        ["root", "left", "right", "tip of left"],
        [-1, 0, 0, 1],
        rest,
        positions=np.eye(3),
        faces=[[0, 1, 2]],
        joints=[[1, 3], [2, 0], [3, 2]],
        weights=[[0.6, 0.4]] * 3,
    )
    check(saved(model, tmp_path))
    again = load(tmp_path / "out.glb")
    assert again.skeleton.names == ("root", "left", "tip of left", "right")
    first, second = (one.pose().rotate("left", degrees=50, axis=(1, 2, 3)) for one in (model, again))
    np.testing.assert_allclose(again.deform(second)[0], model.deform(first)[0], atol=1e-6)


def with_texture(pixels: np.ndarray) -> skinpy.Model:
    """A triangle with a raw texture, masked, double-sided, with a rotated and scaled texture."""
    parts = sections_of(strip(uvs=[[0, 0], [1, 0.25], [0.5, 1]]))
    pool = _block.TextPool(parts["TEXT"].tobytes())
    material = np.zeros(1, _block.RECORDS["MATERIALS"])
    material["name"], material["base_color"] = pool.add("cloth"), (0.5, 0.25, 1, 0.75)
    material["double_sided"], material["alpha"], material["alpha_cutoff"] = 1, 1, 0.3
    turn, wide, high = 0.7, 2.0, 0.5
    c, s = np.cos(turn), np.sin(turn)
    material["uv_transform"] = [[c * wide, s * high, 0.25], [-s * wide, c * high, -0.5]]
    texture = np.zeros(1, _block.RECORDS["TEXTURES"])
    texture["name"], texture["format"] = pool.add("raw"), pool.add("rgba8")
    texture["height"], texture["width"] = pixels.shape[:2]
    texture["length"] = pixels.size
    parts["SUBMESHES"]["material"] = 0
    parts |= {"MATERIALS": material, "TEXTURES": texture, "TEXTURE_DATA": pixels.ravel()}
    return packed(parts | {"TEXT": pool.section()})


def test_materials_come_back(tmp_path: Path) -> None:
    pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(7).integers(0, 256, (4, 6, 4), dtype=np.uint8)
    model = with_texture(pixels)
    document = check(saved(model, tmp_path))
    assert document["extensionsUsed"] == ["KHR_texture_transform"]
    (old,), (new,) = model.materials, load(tmp_path / "out.glb").materials
    assert (new.name, new.double_sided, new.alpha) == ("cloth", True, "mask")
    assert new.base_color == old.base_color
    assert new.alpha_cutoff == old.alpha_cutoff
    np.testing.assert_allclose(new.uv_transform, old.uv_transform, atol=1e-6)
    assert new.texture is not None
    np.testing.assert_array_equal(new.texture.image(), pixels)


def test_shear_of_a_texture_is_told(tmp_path: Path) -> None:
    parts = sections_of(with_texture(np.zeros((2, 2, 4), np.uint8)))
    parts["MATERIALS"]["uv_transform"] = [[1, 0.5, 0], [0, 1, 0]]
    with pytest.warns(skinpy.SkinpyWarning, match="'cloth'.*shear"):
        check(saved(packed(parts), tmp_path))


def test_a_texture_that_is_broken_is_told(tmp_path: Path) -> None:
    parts = sections_of(with_texture(np.zeros((2, 2, 4), np.uint8)))
    pool = _block.TextPool(parts["TEXT"].tobytes())
    parts["TEXTURES"]["format"], parts["TEXTURES"]["width"], parts["TEXTURES"]["height"] = (
        pool.add("tga"),
        0,
        0,
    )
    with pytest.warns(skinpy.SkinpyWarning, match="texture 'raw' .*; it is left out"):
        document = check(saved(packed(parts | {"TEXT": pool.section()}), tmp_path))
    assert "images" not in document


def test_raw_textures_become_png(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (5, 3, 4), dtype=np.uint8)
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "x.png").write_bytes(png(pixels))
    with image.open(tmp_path / "x.png") as picture:
        np.testing.assert_array_equal(np.asarray(picture), pixels)


# ---- morph targets --------------------------------------------------------------------------------------

MORPHS: dict[str, Any] = {
    "targets": {
        "up": ([[0, 0, 0], [0, 1, 0], [0, 0.5, 0]], [[0, 0, 0], [0.1, 0, 0], [0, 0.2, 0]]),
        "out": [[0, 0, 1], [0, 0, 0], [0, 0, 0.5]],
    }
}


def weight_clip(name: str, times: list[float], targets: list[str], weights: Any, interpolation: str) -> Any:
    return skinpy.Clip.from_arrays(
        name, times=times, targets=targets, weights=weights, interpolation=interpolation
    )


def weights_of(document: dict[str, Any], data: bytes, clip: int, time: float) -> np.ndarray:
    """The weights at a time, from the file's own sampler."""
    animation = document["animations"][clip]
    channel = next(c for c in animation["channels"] if c["target"]["path"] == "weights")
    sampler = animation["samplers"][channel["sampler"]]
    size = struct.unpack_from("<I", data, 12)[0]
    times, values = (
        read(document, data[28 + size :], document["accessors"][sampler[k]]) for k in ("input", "output")
    )
    rows = values.reshape(len(times), -1, 2)  # two targets
    assert rows.shape[1] == 1
    if sampler["interpolation"] == "STEP":
        return rows[np.searchsorted(times[:, 0], time, side="right") - 1, 0]
    return np.array([np.interp(time, times[:, 0], rows[:, 0, target]) for target in range(2)])


@pytest.mark.parametrize("interpolation", ["linear", "step"])
def test_morph_targets_come_back(interpolation: str, tmp_path: Path) -> None:
    times, weights = [0.0, 0.25, 1.0], [[0, 1], [2, 0], [-1, 0.5]]
    model = strip(**MORPHS).add_clips(weight_clip("act", times, ["up", "out"], weights, interpolation))
    check(saved(model, tmp_path))
    again = load(tmp_path / "out.glb")
    assert [target.name for target in again.targets] == ["up", "out"]
    for target, other in zip(model.targets, again.targets, strict=True):
        assert set(target.vertices) == set(other.vertices)
    assert_same_motion(model, again)


@pytest.mark.parametrize("kinds", [("linear", "linear"), ("step", "step"), ("linear", "step")])
def test_weights_of_all_targets_become_one_channel(kinds: tuple[str, str], tmp_path: Path) -> None:
    model = strip(**MORPHS)
    first = weight_clip("act", [0.0, 0.5, 1.0], ["up"], [[0], [2], [-1]], kinds[0])
    second = weight_clip("act", [0.0, 0.3, 0.7], ["out"], [[1], [0], [3]], kinds[1])
    both = repacked(model.add_clips([first, second]), 2)  # in one clip, with their own times
    data = saved(both, tmp_path)
    document = check(data)
    mesh = document["meshes"][0]
    assert mesh["extras"]["targetNames"] == ["up", "out"]
    assert mesh["weights"] == [0, 0]
    for time in (0.05, 0.29, 0.31, 0.49, 0.51, 0.69, 0.8, 0.99):
        np.testing.assert_allclose(
            weights_of(document, data, 0, time), both.pose("act", time).morph_weights, atol=1e-6
        )


def test_parts_of_a_cut_mesh_keep_the_targets_that_move_them(tmp_path: Path) -> None:
    parts = strip(**MORPHS, faces=[[0, 0, 1], [1, 1, 2], [2, 2, 2]]).as_rigid()
    assert [part.node for part in parts.mesh.submeshes] == [0, 1]
    document = check(saved(parts, tmp_path))
    shown = [mesh["extras"]["targetNames"] for mesh in document["meshes"]]
    assert shown == [["up", "out"], ["up", "out"]]


@pytest.mark.parametrize("kind", ["linear", "step"])
def test_linear_and_step_said_in_cubic_keys(kind: str) -> None:
    values = np.array([[0.0], [2.0], [-1.0]])
    line = glb_lines.KeyLine(0, "weights", kind, np.array([0.0, 0.5, 1.0]), values, 0 * values, 0 * values)
    cubic = glb_lines.converted(line, "cubic")
    assert cubic.interpolation == "cubic"
    for time in (0.0, 0.2, 0.49, 0.6, 0.99, 1.0):
        np.testing.assert_allclose(value_at(cubic, time), value_at(line, time), atol=1e-12)


# ---- the call -------------------------------------------------------------------------------------------


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'\.gltf'.*'\.skn' or '\.glb'"):
        skinpy.crane().save(tmp_path / "x.gltf")
    with pytest.raises(ValueError, match=r"'\.bvh'; expected '\.skn' or '\.glb'; Clip\.save writes \.bvh"):
        skinpy.crane().save(tmp_path / "x.bvh")
    assert not list(tmp_path.iterdir())


def test_a_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.GLB"
    path.write_bytes(b"old")

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        skinpy.crane().save(path)
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["x.GLB"]


def test_added_clips_are_written_too(tmp_path: Path) -> None:
    clip = skinpy.Clip.from_arrays("nod", fps=2, joints=["boom"], rotation=[[[0, 0, 0, 1]], [[0, 0, 1, 1]]])
    model = skinpy.crane().add_clips(clip)
    check(saved(model, tmp_path))
    assert_same(model, skinpy.load(tmp_path / "out.glb"))


# ---- three.js -------------------------------------------------------------------------------------------

MODULES = os.environ.get("SKINPY_NODE_MODULES", "")
HAS_THREE = bool(shutil.which("node")) and (Path(MODULES) / "node_modules" / "three").is_dir()


def morphing() -> skinpy.Model:
    """The mesh is on a node that is not a joint of its skin: three.js finds no targets on joints."""
    clip = weight_clip("act", [0.0, 0.5, 1.0], ["up", "out"], [[0, 1], [2, 0], [-1, 0.5]], "linear")
    return strip(**MORPHS, joints=[[1]] * 3, weights=[[1]] * 3).add_clips(clip)


@pytest.mark.extras
@pytest.mark.skipif(
    not HAS_THREE, reason="SKINPY_NODE_MODULES: no folder with node_modules/three, or no node"
)
@pytest.mark.parametrize(
    ("make", "clip", "time"),
    [
        (skinpy.crane, "raise", 1.3),
        (skinpy.crane, "lift", 2.9),
        (skinpy.chair, "roll", 0.8),
        (skinpy.character, "walk", 0.37),
        (lambda: skinpy.character().as_rigid(), "wave", 1.1),
        (morphing, "act", 0.3),
    ],
    ids=["crane-raise", "crane-lift", "chair-roll", "character-walk", "parts-wave", "morph"],
)
def test_three_js_poses_it_alike(
    make: Callable[[], skinpy.Model], clip: str, time: float, tmp_path: Path
) -> None:
    model = make()
    saved(model, tmp_path)
    script = Path(__file__).with_name("gltf_three.mjs")
    command = ["node", str(script), MODULES, str(tmp_path / "out.glb"), clip, str(time)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANGS)
    found = json.loads(done.stdout)
    assert [name for name, _ in found["clips"]] == list(model.clips.names)
    wanted = model.deform(model.pose(clip, time))[0]
    # Three.js keeps matrices in float64, but bone matrices and keys in float32.
    np.testing.assert_allclose(found["vertices"], wanted, rtol=0, atol=2e-6 * size_of(model))
