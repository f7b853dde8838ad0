"""Small files and strange values that once took gigabytes, minutes, or ended in an error of the innards."""

import mmap
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import builders
import numpy as np
import pytest

import skinpy
from skinpy import _block, _core
from skinpy.clips.matching import without_prefix
from skinpy.models.frames import corners


def peak_of(call: Callable[[], object]) -> int:
    """The most bytes that Python and NumPy hold at once because of a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def calls_of(call: Callable[[], object]) -> int:
    """How many functions, of Python and of C, are called because of a call."""
    count = 0

    def see(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def shown_often(nodes: int, *, targets: int = 0, skinned: bool = False) -> skinpy.Model:
    """A model of many nodes that all have the same mesh of one blended box."""
    file = builders.Gltf()
    file.materials.append({"alphaMode": "BLEND"})
    p, _, f = builders.box()
    influences = np.tile([1, 0, 0, 0], (len(p), 1)) if skinned else None
    part = file.primitive(p, f, joints=influences, weights=influences, material=0)
    part["targets"] = [{"POSITION": part["attributes"]["POSITION"]}] * targets
    joints = [file.node(), file.node()] if skinned else []
    skin = file.skin(joints) if skinned else None
    mesh = file.mesh(part if targets else {key: part[key] for key in part if key != "targets"})
    for _ in range(nodes):
        file.node(mesh=mesh, skin=skin)
    return skinpy.load(file.glb())


def weights_at_rest(keys: int, targets: int) -> skinpy.Model:
    """A mesh whose weights have many keys, all of them 0."""
    file = builders.Gltf()
    p, _, f = builders.box()
    part = file.primitive(p, f)
    part["targets"] = [{"POSITION": part["attributes"]["POSITION"]}] * targets
    node = file.node(mesh=file.mesh(part))
    file.animation("rest", file.channel(node, "weights", np.arange(keys), np.zeros((keys * targets, 1))))
    return skinpy.load(file.glb())


def put_sparse(path: Path, size: int) -> Path:
    """A file that begins as a saved model does, and then has nothing in it."""
    path.write_bytes(_block.MAGIC)
    os.truncate(path, size)
    return path


@pytest.mark.parametrize("name", ["a.skn", "a.glb", "a.obj", "a"])
def test_a_large_file_that_begins_as_a_saved_model(tmp_path: Path, name: str) -> None:
    """By whatever name: the limit of the importer is no reason to read it as a saved one."""
    path = put_sparse(tmp_path / name, 1 << 40)
    with pytest.raises(skinpy.LimitExceeded, match="file_bytes") as error:
        skinpy.load(path)
    assert str(path) in str(error.value)
    put_sparse(path, 5000)
    with pytest.raises(skinpy.LimitExceeded, match="the limit of file_bytes is 4999"):
        skinpy.load(path, limits=skinpy.Limits(file_bytes=4999))
    with pytest.raises(skinpy.LoadError) as broken:
        skinpy.load(path)
    assert type(broken.value) is skinpy.LoadError


def test_a_saved_model_in_bytes(tmp_path: Path) -> None:
    skinpy.character().save(tmp_path / "a.skn")
    data = (tmp_path / "a.skn").read_bytes()
    with pytest.raises(
        skinpy.LimitExceeded, match=f"file_bytes is {len(data) - 1}; allow it with .*={len(data)}"
    ):
        skinpy.load(data, limits=skinpy.Limits(file_bytes=len(data) - 1))
    assert skinpy.load(data, limits=skinpy.Limits(file_bytes=len(data))).skeleton.names


@pytest.mark.parametrize(("name", "count"), [("nodes", 26), ("vertices", 3971), ("keys", 452 + 483 + 946)])
@pytest.mark.parametrize("mapped", [True, False])
def test_a_saved_model_has_limits_too(tmp_path: Path, name: str, count: int, mapped: bool) -> None:
    """Keys that stand still take no bytes, so that the file's length alone says little."""
    path = tmp_path / "a.skn"
    skinpy.character().save(path)
    less = skinpy.Limits(**{name: count - 1})  # type: ignore[arg-type]
    for source in (path, path.read_bytes()):
        with pytest.raises(skinpy.LimitExceeded, match=f"{name} is {count - 1}; allow it with .*={count}"):
            skinpy.load(source, limits=less, mmap=mapped and source is path)
    exact = skinpy.Limits(**{name: count})  # type: ignore[arg-type]
    assert skinpy.load(path, limits=exact, mmap=mapped).skeleton.names


def test_a_saved_model_under_another_name(tmp_path: Path) -> None:
    skinpy.character().save(tmp_path / "a.skn")
    os.rename(tmp_path / "a.skn", tmp_path / "a.glb")
    assert np.array_equal(skinpy.load(tmp_path / "a.glb").palette(0, 0.3), skinpy.character().palette(0, 0.3))


def test_names_that_share_a_long_text(tmp_path: Path) -> None:
    """A small block must not become gigabytes of strings."""
    model = skinpy.character()
    sections = {name: np.array(_block.section(model._block, name)) for name in model._block.sections}
    long = len(sections["TEXT"])
    sections["TEXT"] = np.concatenate([sections["TEXT"], np.full(8 << 20, ord("a"), np.uint8)])
    for count, fits in ((8, True), (20, False)):
        sections["JOINT_NAMES"][:count]["offset"] = long
        sections["JOINT_NAMES"][:count]["length"] = 8 << 20
        if fits:
            _block.pack(sections, int(sections["INFO"]["influences"][0]))
            continue
        with pytest.raises(skinpy.LoadError, match=r"the strings have \d+ bytes together; at most \d+ are"):
            _block.pack(sections, int(sections["INFO"]["influences"][0]))


def test_a_block_is_read_from_an_open_file(tmp_path: Path) -> None:
    skinpy.character().save(tmp_path / "a.skn")
    data = (tmp_path / "a.skn").read_bytes()
    with open(tmp_path / "a.skn", "rb", buffering=0) as file:
        assert bytes(memoryview(_core.Block.read(file.fileno(), len(data)))) == data  # type: ignore[arg-type]
        with pytest.raises(skinpy.LoadError):  # the file is at its end
            _core.Block.read(file.fileno(), len(data))
        file.seek(0)
        assert _core.Block.read(file.fileno(), 10 * len(data)).nbytes == len(data)
        with pytest.raises(ValueError, match="size is -1; expected 0 or more"):
            _core.Block.read(file.fileno(), -1)
    with pytest.raises(OSError, match="Bad file descriptor"):
        _core.Block.read(-1, 100)
    with pytest.raises(MemoryError):
        _core.Block.read(0, 2**62)


def test_bytes_over_the_limit_are_not_copied(tmp_path: Path) -> None:
    """A terabyte of a sparse file: refused at once."""
    path = put_sparse(tmp_path / "large", 1 << 40)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for format in ("glb", None):
            with pytest.raises(skinpy.LimitExceeded, match="file_bytes is 268435456; allow it with"):
                skinpy.load(data, format=format)


def test_a_block_of_clips_is_no_model(tmp_path: Path) -> None:
    clip = skinpy.Clip.from_arrays("turn", fps=1, joints=["a"], rotation=np.tile([0.0, 0, 0, 1], (2, 1, 1)))
    path = tmp_path / "clip.skn"
    path.write_bytes(bytes(memoryview(clip._block)))  # type: ignore[arg-type]
    for given in (path, path.read_bytes()):
        with pytest.raises(skinpy.LoadError, match="holds clips alone"):
            skinpy.load(given)


@pytest.mark.parametrize("entry", ["unreadable/" + "x" * 300, "", "."])
def test_entries_of_the_path_that_are_no_folders(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is too long breaks no load, and the working directory brings in no library."""
    library = tmp_path / "cmeel.prefix" / "lib" / "libassimp.so.6"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"no library")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [entry or "", str(tmp_path / ("y" * 300)), *sys.path])
    assert skinpy.load(builders.chain(2).glb()).skeleton.names


@pytest.mark.parametrize("format", ["g" * 65, "glb\0"])
def test_what_is_no_suffix(format: str) -> None:
    with pytest.raises(ValueError, match=r"format is .*; expected a suffix"):
        skinpy.load(b"glTF", format=format)


def test_long_names_are_matched_and_listed_in_no_time(tmp_path: Path) -> None:
    """In time that grows with their length, not with its square."""
    assert without_prefix("a" * 5_000_000) == "a" * 5_000_000
    assert without_prefix("a:b|c:" + "d\n" * 500_000) == "d\n" * 500_000
    file = builders.Gltf()
    p, _, f = builders.box()
    part = file.primitive(p, f)
    for number in range(3000):
        file.node(mesh=file.mesh(part, name=f"{number}" + "n" * 1000))
    assert len(skinpy.load(file.glb()).mesh.submeshes) == 3000


def test_times_beyond_all_measure(tmp_path: Path) -> None:
    """What is counted per second ends somewhere, and what a format cannot hold is said."""
    model = skinpy.character()
    for last in (1e307, 1e-310):
        clip = skinpy.Clip.from_arrays(
            "long", times=[0, last], joints=["Hips"], translation=[[[0, 0, 0]], [[1, 0, 0]]]
        )
        with_it = model.add_clips(clip)
        assert np.isfinite(with_it.bounds("long")).all()
        with_it.check()
        with_it.clips["long"].root_motion_from_feet()
        if last > 1:
            with pytest.raises(ValueError, match="float32, up to"):
                with_it.save(tmp_path / "long.glb")


def test_many_blended_parts_take_no_table_of_all_slots_each() -> None:
    """What they are sorted by is as large as what moves them: for 1000 parts not 32 MB."""
    pytest.importorskip("moderngl")
    from skinpy.render.scene.geometry import read_surfaces, sort_faces

    model = shown_often(1000)
    surfaces, _ = read_surfaces(model, lambda texture: None)
    assert peak_of(lambda: sort_faces(model, surfaces)) < 8e6
    _, draws = sort_faces(model, surfaces)
    palette = model.palette(affine=True)
    posed, _ = model.deform(model.palette())
    for number in (0, 999):
        blended = draws[number].blended
        assert blended is not None
        assert blended.slots.tolist() == [number]
        middle = posed[blended.vertices.start : blended.vertices.stop].mean(axis=0)
        np.testing.assert_allclose(blended.posed_center(palette), middle, atol=1e-6)


@pytest.mark.parametrize("what", [{"targets": 1}, {"targets": 8}, {"skinned": True}])
def test_a_mesh_of_many_nodes_is_saved_node_by_node(what: dict[str, Any], tmp_path: Path) -> None:
    """Twice as many take twice the work, whatever they have."""
    few, many = (shown_often(nodes, **what) for nodes in (50, 100))
    for model in (few, many):
        model.save(tmp_path / "warm.glb")  # what is read once and kept
    once, twice = (calls_of(lambda one=one: one.save(tmp_path / "a.glb")) for one in (few, many))
    assert twice < 2.3 * once


def test_many_keys_of_many_weights_are_saved_together(tmp_path: Path) -> None:
    """The work grows with the targets alone, and the memory is a few times what is written."""
    few, many = (weights_at_rest(keys, 100) for keys in (500, 1000))
    for model in (few, many):
        model.save(tmp_path / "warm.glb")
    once, twice = (calls_of(lambda one=one: one.save(tmp_path / "a.glb")) for one in (few, many))
    assert twice < 1.5 * once
    assert peak_of(lambda: many.save(tmp_path / "a.glb")) < 12 * (tmp_path / "a.glb").stat().st_size


def test_more_weights_than_a_glb_holds_are_refused_first(tmp_path: Path) -> None:
    targets = {str(number): np.eye(3) for number in range(1 << 12)}
    clip = skinpy.Clip.from_arrays("long", fps=1, targets=["0"], weights=np.zeros((1 << 18, 1)))
    model = builders.triangle(targets=targets, clips=[clip])

    def save() -> None:
        with pytest.raises(ValueError, match=r"takes \d{10} bytes; a \.glb holds less than 4 GiB"):
            model.save(tmp_path / "a.glb")

    assert peak_of(save) < 1 << 27


@pytest.fixture
def posed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the vertices that are posed; more than a second or so of it fails at once."""
    counts: list[int] = []
    deform = skinpy.Model.deform

    def counted(*args: Any, **options: Any) -> Any:
        result = deform(*args, **options)
        counts.append(result[0].size // 3)
        assert sum(counts) <= 1_000_000_000
        return result

    monkeypatch.setattr(skinpy.Model, "deform", counted)
    return counts


def zeros_that_move(vertices: int, seconds: float) -> skinpy.Model:
    """A file of a kilobyte: vertices without data, and a clip of two keys."""
    file = builders.Gltf()
    part = file.primitive(file.sparse(None, vertices, [0], [[0.0, 0, 0]]), [[0, 1, 2]])
    node = file.node(mesh=file.mesh(part))
    file.animation("far", file.channel(node, "translation", [0, seconds], [[0, 0, 0], [1, 0, 0]]))
    data = file.glb()
    assert len(data) < 1500
    return skinpy.load(data)


def test_the_bounds_of_many_vertices_in_a_long_clip(posed: list[int]) -> None:
    model = zeros_that_move(3_000_000, 1000)
    np.testing.assert_array_equal(model.bounds(0), [[0, 0, 0], [1, 0, 0]])
    assert 100_000_000 < sum(posed) < 250_000_000


def test_bounds_are_looked_for_a_column_at_a_time() -> None:
    """Which is what took nearly all the time; and they are those of the points, bit by bit."""
    points = np.random.default_rng(2).normal(size=(4, 50, 3)).astype(np.float32)
    assert corners(points).dtype == np.float32
    np.testing.assert_array_equal(corners(points)[:, 0], points.min(axis=1))
    np.testing.assert_array_equal(corners(points)[:, 1], points.max(axis=1))
    model = skinpy.character()
    frames = model.deform(model.pose("run", [0.0, 0.1, 0.2], loop="clamp"), normals=False)[0]
    np.testing.assert_array_equal(corners(frames)[1], [frames[1].min(axis=0), frames[1].max(axis=0)])


def test_the_page_of_many_vertices_in_a_long_clip(posed: list[int]) -> None:
    pytest.importorskip("moderngl", reason="pages use the shaders of skinpy.render: install the extra `view`")
    pytest.importorskip("PIL", reason="Pillow (the extra `view`) reads textures")
    zeros_that_move(1_000_000, 100).page()
    assert sum(posed) < 100_000_000


def still_keys(keys: int, channels: int, letters: int) -> skinpy.Clip:
    """Of a small file: one time line and one value for every key of all channels, and a long name."""
    file = builders.Gltf()
    nodes = [file.node("n" * letters), *[file.node() for _ in range(1, channels)]]
    one = file.channel(nodes[0], "translation", np.arange(keys) / 30, np.zeros((keys, 3)))
    file.animation("still", *[one | {"target": {"node": node, "path": "translation"}} for node in nodes])
    data = file.glb()
    assert len(data) < 250_000
    return skinpy.load(data).clips[0]


def test_tables_of_keys_keep_a_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    """One value for all keys of a channel, or one long name, must not become gigabytes."""
    many = still_keys(2000, 1000, 10)
    with pytest.raises(ValueError, match=r"'still' has 2000000 keys, which take \d+ MB as records with"):
        many.to_records()
    with pytest.raises(ValueError, match=r"which take \d+ MB as lists; expected a shorter clip \(trim\)"):
        many.to_dict()
    named = still_keys(300, 100, 5000)
    with pytest.raises(ValueError, match=r"names of up to 5000 letters; .* clip\.channels has the keys"):
        named.to_records()
    assert len(named.to_dict()["channels"]) == 100
    monkeypatch.setattr("skinpy.clips.tables._MAX_BYTES", 0)  # in proportion: as long as one likes
    walk = skinpy.character().clips["walk"]
    assert len(walk.to_records()) == sum(len(channel["times"]) for channel in walk.to_dict()["channels"])
