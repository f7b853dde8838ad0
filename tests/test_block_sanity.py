"""Blocks that are whole but hold nonsense: a mutation of any section is refused by name, or the model that it
makes is sane. Sane means what the rest of the library relies on: poses and skinned vertices are finite, and
saving as .glb keeps every face, every key and the rest pose."""

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
from conftest import DATA as DATA_FOLDER

import skinpy
from skinpy import _block
from skinpy._types import Array
from skinpy.files.png import png

pytestmark = pytest.mark.filterwarnings("ignore::skinpy.SkinpyWarning")


def full_model() -> skinpy.Model:
    """Two submeshes of different nodes, and all that a block can hold."""
    file = builders.all_attributes()
    positions, normals, faces = builders.box((3, 0, 0))
    primitive = file.primitive(positions, faces, normals=normals, uvs=positions[:, :2], material=0)
    file.materials.append({"name": "m", "pbrMetallicRoughness": {"metallicFactor": 0.5}, "alphaMode": "MASK"})
    file.node("prop", mesh=file.mesh(primitive))
    model = skinpy.load(file.glb(), max_influences=4)
    textured = skinpy.Model.from_arrays(
        ["a"],
        [-1],
        [np.eye(4)],
        positions=np.eye(3),
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1]] * 3,
        uvs=np.eye(3)[:, :2],
        texture=png(np.zeros((2, 2, 4), np.uint8)),
    )
    sections = sections_of(model) | {
        name: _block.section(textured._block, name) for name in ("TEXTURES", "TEXTURE_DATA")
    }
    sections["TEXTURES"] = sections["TEXTURES"].copy()
    pool = _block.TextPool(sections["TEXT"].tobytes())
    sections["TEXTURES"]["name"], sections["TEXTURES"]["format"] = pool.add("image"), pool.add("png")
    sections["MATERIALS"] = sections["MATERIALS"].copy()
    sections["MATERIALS"]["texture"][0] = 0
    sections["TEXT"] = pool.section()
    model = skinpy.Model(_block.pack(sections, 4))
    walk = model.clips[0].add_event(0.25, "step")
    model = model.add_clips([walk.extract_root_motion(), walk.trim(0.1, 0.7)], replace=True)
    return skinpy.Model(model._joined())


def sections_of(model: skinpy.Model) -> dict[str, Array]:
    return {name: _block.section(model._block, name) for name in model._block.sections}


#: What bytes of numbers may become: signs, sizes and bits that are no number's.
VALUES: dict[str, list[Any]] = {
    "f": [0.0, 1.0, -1.0, 0.5, 2.0, 1e-30, 1e30, 3e38, -3e38, np.nan, np.inf],
    "u": [0, 1, 2, 3, 255, 2**16 - 1, 2**31, 2**32 - 1, 2**64 - 1],
    "i": [0, 1, 2, -1, -2, 2**31 - 1, -(2**31)],
}


def mutations(data: bytes, name: str, sections: Any, count: int) -> Iterator[bytes]:
    """Copies of a block in which one number of a section is another one, or two rows are exchanged."""
    rng = np.random.default_rng([len(name), *name.encode()])
    offset, rows, stride = sections[name]
    dtype = _block.RECORDS.get(name) or np.dtype(_block._NUMBERS[name][0])
    for _ in range(count):
        copy = bytearray(data)
        view = np.frombuffer(copy, dtype, rows * stride // dtype.itemsize, offset)
        if rows > 1 and rng.random() < 0.2:
            table = np.frombuffer(copy, np.uint8, rows * stride, offset).reshape(rows, stride)
            a, b = rng.choice(rows, 2, replace=False)
            table[[a, b]] = table[[b, a]]
        else:
            column = view
            while column.dtype.names:
                column = column[str(rng.choice(column.dtype.names))]
            flat = rng.integers(column.size)
            values = np.array(VALUES[column.dtype.kind], object)
            with np.errstate(over="ignore"):
                limits = np.iinfo(column.dtype) if column.dtype.kind != "f" else None
                fitting = [v for v in values if limits is None or limits.min <= v <= limits.max]
                column[np.unravel_index(flat, column.shape)] = fitting[rng.integers(len(fitting))]
        yield bytes(copy)


def is_finite(*arrays: Array) -> bool:
    return all(bool(np.isfinite(array).all()) for array in arrays)


def assert_sane(model: skinpy.Model, path: Path) -> None:
    """What a model of a block that was taken must keep."""
    large = max(
        (float(np.abs(channel.values).max()) for clip in model.clips for channel in clip.channels),
        default=0.0,
    )
    skeleton, mesh = model.skeleton, model.mesh
    for array in (skeleton.translation, skeleton.scale, mesh.positions, model.skin.inverse_bind):
        large = max(large, float(np.abs(array).max()))
    for target in model.targets:
        large = max(large, float(np.abs(target.positions).max(initial=0)), abs(target.default_weight))
    if large > 1e5:  # products of such numbers may leave the range of float32, as the docs say
        return
    for clip in (None, *model.clips):
        pose = model.pose(clip, [0.0, 0.3, 1e6] if clip else 0.0)
        assert is_finite(pose.palette(), *model.deform(pose))
    lengths = np.linalg.norm(mesh.normals, axis=1)
    assert ((np.abs(lengths - 1) < 3e-3) | (lengths == 0)).all()
    for submesh in mesh.submeshes:
        used = mesh.faces[submesh.face_range.start : submesh.face_range.stop]
        assert not used.size or (
            used.min() >= submesh.vertex_range.start and used.max() < submesh.vertex_range.stop
        )
    assert all(channel.times[-1] <= clip.duration for clip in model.clips for channel in clip.channels)
    if (model.unit_meters or 1.0) > 1e30:  # lengths in meters leave the range of float32
        with pytest.raises(ValueError, match="in meters"):
            model.save(path)
        return
    model.save(path)
    again = skinpy.load(path, max_influences=8)
    assert len(again.mesh.faces) == len(mesh.faces) and len(again.mesh.positions) == len(mesh.positions)
    assert sorted(map(tuple, again.mesh.faces.tolist())) == sorted(
        map(tuple, in_order_of_nodes(model).tolist())
    )
    assert [len(clip.channels) for clip in again.clips if clip.duration] == [
        max(len(clip.channels), 1) for clip in model.clips if clip.duration
    ]


def in_order_of_nodes(model: skinpy.Model) -> Array:
    """The faces with the vertices as a .glb has them: submeshes by node."""
    submeshes = sorted(model.mesh.submeshes, key=lambda one: one.node)
    vertices = np.concatenate([np.asarray(one.vertex_range, np.int64) for one in submeshes])
    place = np.empty(len(vertices), np.int64)
    place[vertices] = np.arange(len(vertices))
    return place[model.mesh.faces]


MODEL = full_model()
DATA = bytes(_block.memory(MODEL._block))


def test_the_model_has_all_sections() -> None:
    empty = {"REPORT", "COLORS", "TANGENTS", "EXTRAS"} - set(MODEL._block.sections)
    assert set(MODEL._block.sections) | {"REPORT"} == {*_block.RECORDS, *_block._NUMBERS}, empty


@pytest.mark.parametrize("name", sorted(MODEL._block.sections))
def test_a_mutated_section_is_refused_or_sane(name: str, tmp_path: Path) -> None:
    taken = 0
    for data in mutations(DATA, name, MODEL._block.sections, 60):
        try:
            model = skinpy.load(data)
        except skinpy.LoadError:
            continue
        taken += 1
        if taken < 16:
            assert_sane(model, tmp_path / "a.glb")


def changed(name: str, change: Callable[[Array], None]) -> bytes:
    """The block with other rows in one section."""
    data = bytearray(DATA)
    offset, rows, stride = MODEL._block.sections[name]
    dtype = _block.RECORDS.get(name) or np.dtype(_block._NUMBERS[name][0])
    change(np.frombuffer(data, dtype, rows * stride // dtype.itemsize, offset))
    return bytes(data)


def swap_submeshes(rows: Array) -> None:
    fields = ["first_vertex", "vertex_count", "first_face", "face_count"]
    rows[fields] = rows[fields][::-1].copy()


def long_normal(numbers: Array) -> None:
    numbers[:3] = 1e37


def face_of_another_submesh(numbers: Array) -> None:
    numbers[0] = len(MODEL.mesh.positions) - 1


def short_clip(rows: Array) -> None:
    rows["duration"][0] *= 0.5


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("SUBMESHES", swap_submeshes, "submesh 0 begins at vertex"),
        ("NORMALS", long_normal, "vertex 0: its row in NORMALS has the length 1.7"),
        ("FACES", face_of_another_submesh, "face 0 uses vertex"),
        ("CLIPS", short_clip, "beyond its duration"),
    ],
)
def test_files_and_pickles_are_read_by_the_same_rules(
    name: str, change: Callable[[Array], None], words: str, tmp_path: Path
) -> None:
    data = changed(name, change)
    (tmp_path / "a.skn").write_bytes(data)
    for mapped in (False, True):
        with pytest.raises(skinpy.LoadError, match=words):
            skinpy.load(tmp_path / "a.skn", mmap=mapped)
    stored = pickle.dumps(MODEL)
    assert stored.count(DATA) == 1
    with pytest.raises(skinpy.LoadError, match=words):
        pickle.loads(stored.replace(DATA, data))


# ---- EXTRAS: the same judgment as Python's reader of JSON --------------------------------------------

TEXTS = [
    b'{"a": [1, -2.5e+3, {"b": "c\\u00e9\\n", "d": {}}, [], true, false, null], "": "\x01\xff"}',
    b" {} ",
    b'{"a":0,"b":[0.5,[[[]]],{"c":-0}]}',
    b"[]",
    b"1",
    b'{"a":01}',
    b'{"a":1.}',
    b'{"a":+1}',
    b'{"a":.5}',
    b'{"a":1e}',
    b'{"a":"\\x"}',
    b'{"a":"\\u12g4"}',
    b'{"a":1,}',
    b'{"a" 1}',
    b"{,}",
    b'{"a":[1 2]}',
    b'{"a":NaN}',
    b'{"a":Infinity}',
    b'{"a":tru}',
    b"{}{}",
    b"{'a':1}",
    b'{"a":[1,]}',
    b'{"a":[}]',
]


def is_object(text: bytes) -> bool:
    """The judgment of Python's reader."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        words = text.decode("utf-8", "surrogateescape")
        return isinstance(json.loads(words, strict=False, parse_constant=refuse), dict)
    except ValueError:
        return False


def is_taken(text: bytes) -> bool:
    sections = sections_of(MODEL) | {"EXTRAS": np.frombuffer(text, np.uint8)}
    try:
        _block.pack(sections, MODEL.mesh.slots.shape[1])
    except skinpy.LoadError:
        return False
    return True


def test_extras_are_judged_as_python_judges_json() -> None:
    rng = np.random.default_rng(35)
    texts = list(TEXTS)
    letters = np.frombuffer(b'{}[],:"\\ 01-+.eEtrufalsn\t\0', np.uint8)
    for start in TEXTS[:3]:
        for _ in range(300):
            text = bytearray(start)
            text[rng.integers(len(text))] = rng.choice(letters)
            texts.append(bytes(text) if rng.random() < 0.7 else bytes(text[: rng.integers(1, len(text))]))
    judged = [is_object(text) for text in texts]
    assert sum(judged) > 50 < len(texts) - sum(judged)
    assert [is_taken(text) for text in texts] == judged


def test_extras_have_limits_below_those_of_python() -> None:
    def nested(depth: int) -> bytes:
        return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"

    assert is_taken(nested(129)) and not is_taken(nested(130))
    assert is_taken(b'{"a":' + b"1" * 1000 + b"}") and not is_taken(b'{"a":' + b"1" * 1001 + b"}")


# ---- arrays -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-45, 1e-30, 1e-3, 1e3, 1e30, 3e38])
def test_normals_of_arrays_become_unit_whatever_their_size(size: float) -> None:
    given = np.array([[size, 0, 0], [0, 0, 0], [size, -size, size]], np.float32)
    model = builders.triangle(normals=given)
    root = np.sqrt(1 / 3)
    np.testing.assert_allclose(model.mesh.normals, [[1, 0, 0], [0, 0, 0], [root, -root, root]], atol=1e-7)


@pytest.mark.parametrize("name", ["normal_of_length_1e37.skn", "submesh_ranges_swapped.skn"])
def test_the_shared_cases_are_refused(name: str) -> None:
    path = DATA_FOLDER / "cases" / name
    if not path.exists():
        pytest.skip(f"SKINPY_DATA: no file cases/{name}")
    with pytest.raises(skinpy.LoadError, match="the block"):
        skinpy.load(path)


def test_rest_scales_too_small_for_all_digits_are_kept(tmp_path: Path) -> None:
    """Below 1.2e-38, float32 has fewer digits, so a rest matrix is further from its rotation and scale."""
    rest = np.eye(4)
    rest[:3, :3] = skinpy.rotation.to_matrix([0.5, 0.5, 0.1, 0.7]) * [1e-44, 4e-45, 3e-45]
    node = {"matrix": rest.T.ravel().tolist()}
    document = {"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [node]}
    model = skinpy.load(json.dumps(document).encode(), format="gltf")
    model.save(tmp_path / "tiny.skn")
    loaded = skinpy.load(tmp_path / "tiny.skn")
    np.testing.assert_array_equal(loaded.skeleton.rest_local, model.skeleton.rest_local)
