"""glTF compressed with meshopt or Draco: what comes out, what is refused, and what a broken file may do.

The streams come from compressed.py, which writes them by the specifications; one is of gltf-transform. Tests
of a library that this build lacks are skipped by name.
"""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import builders
import compressed
import numpy as np
import pytest
from c_compiler import build_apart
from compressed import DRACO, EXT, KHR, accessor, document, primitive
from conftest import HANGS
from numpy.typing import NDArray

import skinpy

INFO = skinpy.build_info()


def needs(name: str) -> pytest.MarkDecorator:
    missing = INFO[f"built_with_{name}"] is None
    return pytest.mark.skipif(missing, reason=f"this skinpy was built without {name}")


def version() -> tuple[int, ...]:
    return tuple(int(part) for part in (INFO["built_with_meshoptimizer"] or "0").split("."))


def load(data: bytes, **options: Any) -> skinpy.Model:
    return skinpy.load(data, format="gltf", isolate=False, **options)


def block(model: skinpy.Model) -> bytes:
    return bytes(memoryview(model._block))


# ---- meshopt ---------------------------------------------------------------------------------------------


@needs("meshoptimizer")
@pytest.mark.parametrize("mode", ["TRIANGLES", "INDICES"])
@pytest.mark.parametrize("fallback", [False, True])
def test_meshopt_gives_back_every_byte(mode: str, fallback: bool) -> None:
    """Vertices, faces, influences, inverse bind matrices and keys: filter NONE loses nothing."""
    file = builders.random_model(3, joints=5, vertices=700)
    model = load(compressed.meshopt(file, mode=mode, fallback=fallback))
    assert len(model.report) == 0
    assert block(model) == block(load(file.gltf()))


@needs("meshoptimizer")
def test_meshopt_reads_khr_where_the_library_is_new_enough() -> None:
    file = builders.random_model(3)
    data = compressed.meshopt(file, extension=KHR)
    if version() >= (0, 23):
        assert block(load(data)) == block(load(file.gltf()))
    else:
        with pytest.raises(skinpy.LoadError, match=rf"{KHR}.*gltfpack -c .*0\.23 or newer"):
            load(data)


def filtered(raw: bool) -> tuple[builders.Gltf, dict[int, str]]:
    """A file with an accessor for each filter: what the filter starts from, or what it makes of it."""
    rng = np.random.default_rng(7)
    positions, _, faces = builders.box()
    file = builders.Gltf()
    flat = rng.uniform(-1, 1, (24, 2)) * 0.5
    normals = np.concatenate(
        [compressed.rounded(flat * 127), np.full((24, 1), 127), np.zeros((24, 1))], 1
    ).astype("i1")
    keys = np.concatenate(
        [compressed.rounded(rng.uniform(-0.5, 0.5, (9, 3)) * 2047), np.full((9, 1), 2047)], 1
    )
    rotations = keys.astype("i2")
    rotations[:, 3] = rotations[:, 3] & ~3 | rng.integers(0, 4, 9)
    moves = (rng.integers(-20, -8, (9, 3)) << 24 | rng.integers(0, 1 << 24, (9, 3))).astype(np.int32)
    if not raw:
        normals, rotations = compressed.octahedral(normals), compressed.quaternion(rotations)
    floats = moves.view(np.float32) if raw else compressed.exponential(moves)
    primitive = file.primitive(positions, faces)
    normal = primitive["attributes"]["NORMAL"] = file.accessor(normals, "i1", normalized=True)
    file.accessors[normal] |= {"type": "VEC3"}
    file.views[-1]["byteStride"] = 4
    node = file.node("box", mesh=file.mesh(primitive))
    turn = file.channel(node, "rotation", np.arange(9.0), np.zeros((9, 4)))
    rotation = turn["sampler"]["output"] = file.accessor(rotations, "i2", normalized=True)
    move = file.channel(node, "translation", np.arange(9.0), np.zeros((9, 3)))
    translation = move["sampler"]["output"] = bits(file, floats)
    file.animation("go", turn, move)
    return file, {normal: "OCTAHEDRAL", rotation: "QUATERNION", translation: "EXPONENTIAL"}


def bits(file: builders.Gltf, floats: NDArray[np.float32]) -> int:
    """An accessor of just these bits, which may be no numbers: without its least and largest."""
    accessor = file.accessor(floats)
    for name in ("min", "max"):
        del file.accessors[accessor][name]
    return accessor


@needs("meshoptimizer")
def test_meshopt_filters() -> None:
    """Against their formulas. The extension allows one unit of the last place, 1/127 here for normals and
    1/32767 for rotations; EXPONENTIAL is exact. What is normalized afterwards moves by a part of that.
    """
    raw, filters = filtered(raw=True)
    model, plain = load(compressed.meshopt(raw, filters=filters)), load(filtered(raw=False)[0].gltf())
    assert len(model.report) == 0, "what is rounded is no repair"
    assert np.array_equal(model.mesh.positions, plain.mesh.positions)
    assert abs(model.mesh.normals - plain.mesh.normals).max() <= 1.5 / 127
    times = np.linspace(0, 8, 33)
    found, expected = (one.pose("go", times) for one in (model, plain))
    assert np.array_equal(found.translation, expected.translation)
    assert abs(found.rotation - expected.rotation).max() <= 2 / 32767


@needs("meshoptimizer")
def test_meshopt_filter_of_colors() -> None:
    """The filter that the KHR extension adds; 0.25 of the library brings it."""
    known = version() >= (0, 25)
    rng = np.random.default_rng(3)
    y, chroma = rng.integers(64, 192, (24, 1)), rng.integers(-32, 32, (24, 2))
    raw = np.concatenate([y, chroma & 255, rng.integers(128, 256, (24, 1))], 1).astype(np.uint8)
    positions, _, faces = builders.box()
    file = builders.Gltf()
    primitive = file.primitive(positions, faces)
    colors = primitive["attributes"]["COLOR_0"] = file.accessor(raw, "u1", normalized=True)
    file.node("box", mesh=file.mesh(primitive))
    data = compressed.meshopt(file, extension=KHR if known else EXT, filters={colors: "COLOR"})
    if known:
        assert abs(load(data).mesh.colors * 255 - compressed.color(raw)).max() <= 1 + 1e-4
    else:
        with pytest.raises(skinpy.LoadError, match=r"COLOR needs skinpy built with meshoptimizer 0\.25"):
            load(data)


BROKEN = {
    "an unknown mode": ({"mode": "POINTS"}, r"bufferViews\[0\].*mode, filter, stride or count"),
    "an unknown filter": ({"filter": "SEPIA"}, "mode, filter, stride or count"),
    "a filter of another stride": ({"filter": "QUATERNION"}, "mode, filter, stride or count"),
    "no stride": ({"byteStride": 0}, "mode, filter, stride or count"),
    "an odd stride": ({"byteStride": 6}, "mode, filter, stride or count"),
    "a large stride": ({"byteStride": 260}, "mode, filter, stride or count"),
    "more than the bytes can hold": ({"count": 100_000_000}, "mode, filter, stride or count"),
    "more than there can be": ({"count": 1 << 52}, "mode, filter, stride or count"),
    "no bytes": ({"byteLength": 0}, "mode, filter, stride or count"),
    "bytes that are not there": ({"byteLength": 1 << 40}, r"bufferViews\[0\]: bytes .* not in its buffer"),
    "another buffer": ({"buffer": 7}, r"buffers\[7\] does not exist"),
    "fewer bytes": ({"byteLength": 100}, "compressed bytes are broken"),
    "fewer elements": ({"count": 24}, "broken|do not lie in its bufferView"),
}


@needs("meshoptimizer")
@pytest.mark.parametrize("case", BROKEN)
def test_broken_meshopt_is_explained(case: str) -> None:
    changed, words = BROKEN[case]
    file = builders.random_model(3, joints=3, vertices=300)
    with pytest.raises(skinpy.LoadError, match=words):
        load(compressed.meshopt(file, changed=changed))


@needs("meshoptimizer")
def test_views_that_nobody_asks_for_are_not_decoded() -> None:
    """These would be 33 GB."""
    stride, count = 256, 32 * 4096
    stream = b"\xa0" + bytes(count // 32 * stride) + bytes(stride)
    fields = {
        "buffer": 0,
        "byteLength": len(stream),
        "byteStride": stride,
        "count": count,
        "mode": "ATTRIBUTES",
    }
    view = {"buffer": 0, "byteLength": stride * count, "extensions": {EXT: fields}}
    uri = "data:;base64," + base64.b64encode(stream).decode()
    gltf = {"asset": {"version": "2.0"}, "nodes": [{"name": "alone"}]}
    gltf |= {"buffers": [{"byteLength": len(stream), "uri": uri}], "bufferViews": [view] * 1000}
    assert load(json.dumps(gltf).encode()).skeleton.names == ("alone",)


# ---- Draco -----------------------------------------------------------------------------------------------


IDS = {"POSITION": 3, "NORMAL": 1, "TEXCOORD_0": 0, "COLOR_0": 9, "TANGENT": 4, "JOINTS_0": 7, "WEIGHTS_0": 8}


def box_with_all() -> tuple[dict[str, Any], bytes, dict[str, NDArray[Any]]]:
    """A box with every attribute, its stream and its numbers; quantized ones are normalized integers."""
    rng = np.random.default_rng(2)
    positions, normals, faces = builders.box()
    tangents = np.concatenate([np.roll(normals, 1, axis=1), np.ones((24, 1))], 1)
    colors, uvs = rng.integers(0, 256, (24, 4)), rng.integers(0, 65536, (24, 2))
    weights = rng.integers(128, 255, (24, 1))
    joints = np.tile([1, 0, 0, 0], (24, 1))
    weights = np.concatenate([weights, 255 - weights, 0 * weights, 0 * weights], 1)
    stream = compressed.draco(
        faces,
        (compressed.UV, 0, "u2", uvs),
        (compressed.NORMAL, 1, "f4", normals),
        (compressed.POSITION, 3, "f4", positions),
        (compressed.GENERIC, 4, "f4", tangents),
        (compressed.GENERIC, 7, "u1", joints),
        (compressed.GENERIC, 8, "u1", weights),
        (compressed.COLOR, 9, "u1", colors),
    )
    accessors = [
        accessor(5126, 24, "VEC3"),
        accessor(5126, 24, "VEC3"),
        accessor(5123, 24, "VEC2", normalized=True),
        accessor(5121, 24, "VEC4", normalized=True),
        accessor(5126, 24, "VEC4"),
        accessor(5121, 24, "VEC4"),
        accessor(5121, 24, "VEC4", normalized=True),
        accessor(5123, 36, "SCALAR"),
    ]
    truth = {"positions": positions, "normals": normals, "uvs": uvs / 65535, "colors": colors / 255}
    truth |= {"tangents": tangents, "faces": faces, "weights": weights / 255}
    return document(primitive(0, IDS), accessors=accessors), stream, truth


@needs("draco")
def test_draco_gives_back_every_number() -> None:
    gltf, stream, truth = box_with_all()
    model = load(compressed.with_draco(gltf, [stream]))
    for name, values in truth.items():
        found = getattr(model.mesh, name)
        assert np.allclose(found[..., : values.shape[-1]], values, rtol=0, atol=1e-6), name
    assert np.allclose(weights_of(model, "b"), truth["weights"][:, 0], atol=1e-6)


def weights_of(model: skinpy.Model, joint: str) -> NDArray[Any]:
    is_joint = model.skin.joints[model.mesh.slots] == model.skeleton.names.index(joint)
    return (model.mesh.weights * is_joint).sum(1)


@needs("draco")
def test_draco_of_gltf_transform() -> None:
    """Made by `gltf-transform draco` 4.5.1, by edgebreaker, which orders vertices anew, with positions of 14
    bits and normals of 10.
    """
    positions, normals, faces = builders.tube(np.random.default_rng(5), 4, 5)
    model = load(compressed.tube())
    away = np.linalg.norm(model.mesh.positions[:, None] - positions[None], axis=-1)
    order = away.argmin(1)
    assert sorted(order) == list(range(20))
    step = np.ptp(positions, axis=0).max() / (2**14 - 1)
    assert away.min(1).max() <= step  # half a step along each axis would be 0.87
    assert abs(model.mesh.normals - normals[order]).max() <= 4 / 2**10
    turned = {tuple(np.roll(face, -np.argmin(face))) for face in order[model.mesh.faces]}
    assert turned == {tuple(np.roll(face, -np.argmin(face))) for face in faces}
    weight = np.rint(np.clip(positions[order, 1], 0, 1) * 255) / 255
    assert np.allclose(weights_of(model, "b"), weight, atol=1e-6)


def two_triangles(stream_of: tuple[int, int], views: int) -> bytes:
    """Two primitives, whose streams are one or two, in one bufferView each."""
    streams = [
        compressed.draco([[0, 1, 2]], (compressed.POSITION, 0, "f4", [[n, 0, 0], [n, 1, 0], [n, 0, 1]]))
        for n in range(views)
    ]
    parts = [primitive(view, {"POSITION": 0}, 2 * number) for number, view in enumerate(stream_of)]
    accessors = [accessor(5126, 3, "VEC3"), accessor(5123, 3, "SCALAR")] * 2
    return compressed.with_draco(document(*parts, accessors=accessors), streams)


@needs("draco")
@pytest.mark.parametrize(("stream_of", "x"), [((0, 1), [0, 1]), ((0, 0), [0, 0])])
def test_draco_of_several_primitives(stream_of: tuple[int, int], x: list[int]) -> None:
    model = load(two_triangles(stream_of, 2), join_vertices=False)
    assert model.mesh.positions[::3, 0].tolist() == x


@needs("draco")
def test_decoded_numbers_belong_to_an_attribute_of_a_primitive() -> None:
    """Not to the accessor, which two primitives name here."""
    gltf = json.loads(two_triangles((0, 1), 2))
    gltf["meshes"][0]["primitives"][1] |= {"attributes": {"POSITION": 0}, "indices": 1}
    model = load(json.dumps(gltf).encode(), join_vertices=False)
    assert codes(model) <= {"vertices_unweighted", "inverse_bind_missing", "normals_generated"}
    assert model.mesh.positions[::3, 0].tolist() == [0, 1]


def codes(model: skinpy.Model) -> set[str]:
    return {entry.code for entry in model.report}


def counts_entry(model: skinpy.Model) -> skinpy.ReportEntry:
    (entry,) = [entry for entry in model.report if entry.code == "compressed_counts_repaired"]
    assert entry.severity == "repaired"
    return entry


def corners_of(positions: NDArray[Any], normals: NDArray[Any], faces: NDArray[Any]) -> list[Any]:
    """Each face as its corners, where the first of them is the least."""
    corners = np.concatenate([positions, normals], 1)[faces].round(2) + 0.0
    return sorted(min(np.roll(face, by, 0).tolist() for by in range(3)) for face in corners)


@needs("draco")
@pytest.mark.parametrize(("count", "corners"), [(24, 36), (8, 30), (9999, 3)])
def test_the_counts_of_the_stream_hold(count: int, corners: int) -> None:
    """Also where two attributes name one accessor: both counts are reported then."""
    model = load(compressed.box(count, corners))
    positions, normals, faces = builders.box()
    assert corners_of(model.mesh.positions, model.mesh.normals, model.mesh.faces) == corners_of(
        positions, normals, faces
    )
    if count == 24:
        assert "compressed_counts_repaired" not in codes(model)
        return
    entry = counts_entry(model)
    assert entry.count == 3
    assert f"meshes[0].primitives[0].indices has 36 elements, its accessor states {corners}" in str(entry)


@needs("draco")
@pytest.mark.parametrize("number", [1, 7])
def test_counts_that_are_not_true_are_reported_by_name(number: int) -> None:
    model = load(changed(accessors={number: {"count": 23}}))
    entry = counts_entry(model)
    assert entry.count == 1
    name, count = ("NORMAL", 24) if number == 1 else ("indices", 36)
    assert f"primitives[0].{name} has {count} elements, its accessor states 23" in str(entry)


@needs("draco")
@pytest.mark.parametrize("mode", [4, 5, 6])
@pytest.mark.parametrize("indexed", [True, False])
def test_a_stream_has_triangles_whatever_the_primitive_says(mode: int, indexed: bool) -> None:
    gltf = json.loads(changed(primitive={"mode": mode}))
    if not indexed:
        del gltf["meshes"][0]["primitives"][0]["indices"]
    model = load(json.dumps(gltf).encode())
    assert codes(model) == {"inverse_bind_missing"}
    assert model.mesh.faces.tolist() == builders.box()[2].tolist()


def with_plain(count: int) -> bytes:
    """The box with all, whose normals and morph target are plain numbers of so many vertices."""
    gltf, stream, _ = box_with_all()
    numbers = np.tile(np.float32([0, 1, 0]), (count, 1)).tobytes()
    uri = "data:;base64," + base64.b64encode(numbers).decode()
    gltf |= {"buffers": [{"byteLength": len(numbers), "uri": uri}]}
    gltf["bufferViews"] = [{"buffer": 0, "byteLength": len(numbers)}]
    gltf["accessors"][0]["count"] = 5  # of the positions, which is not true
    gltf["accessors"] += [accessor(5126, count, "VEC3", bufferView=0)]
    part = gltf["meshes"][0]["primitives"][0]
    part["attributes"]["NORMAL"] = 8
    part["targets"] = [{"POSITION": 8}]
    ids = {name: number for name, number in IDS.items() if name != "NORMAL"}
    part["extensions"][DRACO] = {"bufferView": 1, "attributes": ids}
    return compressed.with_draco(gltf, [stream])


@needs("draco")
def test_plain_numbers_beside_compressed_ones() -> None:
    """They must have the count of the stream; else they are left out by name."""
    model = load(with_plain(24))
    assert codes(model) == {"compressed_counts_repaired", "inverse_bind_missing"}
    assert model.mesh.normals.tolist() == [[0, 1, 0]] * 24
    assert len(model.targets) == 1
    with pytest.warns(skinpy.SkinpyWarning):
        model = load(with_plain(5))
    words = {one.code: str(one) for one in model.report}
    assert "primitives[0].NORMAL: 5 elements for 24 vertices" in words["attributes_dropped"]
    assert "target 0 of mesh" in words["morph_targets_dropped"]
    assert len(model.mesh.positions) == 24 and len(model.targets[0].vertices) == 0


LIMITED = {
    "points": (compressed.draco([[0, 1, 2]], (compressed.POSITION, 0, "f4", np.eye(3))), 1),
    "points that are not there": (
        compressed.draco([[0, 1, 2]], (compressed.POSITION, 0, "f4", [[0, 0, 0]]), points=1 << 30),
        1,
    ),
    "points that edgebreaker does not state": (base64.b64decode(compressed.BOX), 10),
    "vertices": (compressed.edgebreaker(1 << 30, 1 << 20, compressed.VALENCE), 10),
    "faces": (compressed.edgebreaker(5, 1 << 30, compressed.VALENCE), 10),
}


@needs("draco")
@pytest.mark.parametrize("case", LIMITED)
def test_the_limits_hold_for_what_a_stream_states(case: str) -> None:
    """Its accessors state a single triangle."""
    stream, most = LIMITED[case]
    accessors = [accessor(5126, 3, "VEC3"), accessor(5123, 3, "SCALAR")]
    gltf = document(primitive(0, {"POSITION": 0}), accessors=accessors)
    with pytest.raises(skinpy.LimitExceeded, match=r"limits=skinpy\.Limits\(vertices="):
        load(compressed.with_draco(gltf, [stream]), limits=skinpy.Limits(vertices=most))


@needs("draco")
@pytest.mark.parametrize("times", [1, 2])
def test_the_limits_hold_for_all_primitives_and_nodes_together(times: int) -> None:
    """Two primitives of three points each, in a mesh that one or two nodes have."""
    gltf = json.loads(two_triangles((0, 1), 2))
    gltf["scenes"][0]["nodes"] += [len(gltf["nodes"])] * (times - 1)
    gltf["nodes"] += [{"mesh": 0}] * (times - 1)
    data = json.dumps(gltf).encode()
    load(data, limits=skinpy.Limits(vertices=6 * times))
    with pytest.raises(
        skinpy.LimitExceeded, match=rf"has {6 * times} vertices, the limit is {6 * times - 1}"
    ):
        load(data, limits=skinpy.Limits(vertices=6 * times - 1))


def changed(**changes: Any) -> bytes:
    """The box with all, where "accessor" or "primitive" has other fields, or the stream is another one."""
    gltf, stream, _ = box_with_all()
    for number, fields in changes.get("accessors", {}).items():
        gltf["accessors"][number] |= fields
    part = gltf["meshes"][0]["primitives"][0]
    part |= changes.get("primitive", {})
    part["extensions"][DRACO] |= changes.get("extension", {})
    return compressed.with_draco(gltf, [changes.get("stream", stream)])


def wide() -> bytes:
    positions = builders.box()[0]
    parts = [(compressed.POSITION, 3, "f4", positions)]
    parts += [(compressed.GENERIC, 10 + n, "f4", np.zeros((24, 16))) for n in range(4)]
    return compressed.draco(builders.box()[2], *parts)


REFUSED = {
    "another width": ({"accessors": {3: {"type": "VEC3"}}}, r"no attribute 9 that fits accessors\[3\]"),
    "numbers that do not fit": (
        {"accessors": {2: {"componentType": 5120}}},
        r"no attribute 0 that fits accessors\[2\]",
    ),
    "an unknown attribute": ({"extension": {"attributes": {"POSITION": 99}}}, "no attribute 99"),
    "no such accessor": ({"primitive": {"attributes": {"POSITION": 8}}}, r"accessors\[8\] does not exist"),
    "no such indices": ({"primitive": {"indices": 8}}, r"accessors\[8\] does not exist"),
    "no view": ({"extension": {"bufferView": 7}}, r"bufferViews\[7\] does not exist"),
    "no bytes": ({"stream": b""}, "broken"),
    "half of the bytes": ({"stream": box_with_all()[1][:200]}, "broken"),
    "another version": ({"stream": b"DRACO\2\1" + box_with_all()[1][7:]}, "not a mesh of Draco 2.2"),
    "many numbers for each point": ({"stream": wide()}, "broken"),
    "more faces than the bytes can hold": ({"stream": compressed.edgebreaker(24, 1 << 20)}, "broken"),
    "more plain faces than the bytes can hold": (
        {"stream": b"DRACO" + bytes([2, 2, 1, 0, 0, 0]) + compressed.leb128(1 << 20) + b"\3\1" + bytes(99)},
        "broken",
    ),
    "faces without their data": ({"stream": compressed.edgebreaker(24, 12)}, "broken"),
}


@needs("draco")
@pytest.mark.parametrize("case", REFUSED)
def test_broken_draco_is_explained(case: str) -> None:
    changes, words = REFUSED[case]
    with pytest.raises(skinpy.LoadError, match=words):
        load(changed(**changes))


@needs("draco")
@needs("draco")
@pytest.mark.parametrize("used", [0, 1])
def test_several_attributes_of_a_stream_have_one_accessor(used: int) -> None:
    """Exporters give sets of texture coordinates the accessor of the first one."""
    _, _, truth = box_with_all()
    uvs = (truth["uvs"], 1 - truth["uvs"])
    shared = compressed.draco(
        truth["faces"],
        (compressed.POSITION, 0, "f4", truth["positions"]),
        (compressed.UV, 1, "f4", uvs[0]),
        (compressed.UV, 2, "f4", uvs[1]),
    )
    accessors = [accessor(5126, 24, "VEC3"), accessor(5126, 24, "VEC2"), accessor(5123, 36, "SCALAR")]
    part = primitive(0, {"POSITION": 0, "TEXCOORD_0": 1, "TEXCOORD_1": 2})
    part |= {"attributes": {"POSITION": 0, "TEXCOORD_0": 1, "TEXCOORD_1": 1}, "indices": 2, "material": 0}
    gltf = document(part, accessors=accessors)
    gltf["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "texCoord": used}}}]
    gltf["textures"] = [{}]
    with pytest.warns(skinpy.SkinpyWarning, match="textures cannot be read"):
        model = load(compressed.with_draco(gltf, [shared]))
    assert "attributes_dropped" not in codes(model)
    assert np.allclose(model.mesh.uvs, uvs[used], rtol=0, atol=1e-6)


def test_faces_of_points_that_are_not_there_are_left_out() -> None:
    faces = [[0, 1, 2], [0, 1, 200]]
    stream = compressed.draco(faces, (compressed.POSITION, 0, "f4", [[0, 0, 0], [1, 0, 0], [0, 1, 0]]))
    accessors = [accessor(5126, 3, "VEC3"), accessor(5123, 6, "SCALAR")]
    gltf = document(primitive(0, {"POSITION": 0}), accessors=accessors)
    with pytest.warns(skinpy.SkinpyWarning, match="faces refer to vertices that do not exist"):
        model = load(compressed.with_draco(gltf, [stream]))
    assert model.mesh.faces.tolist() == [[0, 1, 2]]
    assert "faces_dropped" in {entry.code for entry in model.report}


@needs("draco")
def test_memory_that_draco_does_not_get_is_no_crash() -> None:
    """The worker has 200 MB, and the library wants some 30 bytes for each of 40 million faces."""
    faces = 40_000_000
    accessors = [accessor(5126, 1000, "VEC3"), accessor(5125, 3 * faces, "SCALAR")]
    gltf = document(primitive(0, {"POSITION": 0}), accessors=accessors)
    data = compressed.with_draco(gltf, [compressed.edgebreaker(1000, faces, compressed.VALENCE)])
    limits = skinpy.Limits(vertices=200_000_000, memory=200 << 20)
    if "limits" not in INFO["isolation"]:
        pytest.skip("this system sets a worker no limits")
    with pytest.raises((MemoryError, skinpy.LimitExceeded)) as caught:
        skinpy.load(data, format="gltf", isolate=True, limits=limits)
    assert not isinstance(caught.value, skinpy.ImporterCrashed)


# ---- builds without the libraries ------------------------------------------------------------------------

WITHOUT = """
import sys, skinpy
from pathlib import Path
info = skinpy.build_info()
print(skinpy.__file__, info["built_with_meshoptimizer"], info["built_with_draco"])
for path in sys.argv[1:]:
    try:
        print(len(skinpy.load(path, isolate=False).mesh.positions))
    except skinpy.LoadError as error:
        print(error)
"""


@pytest.mark.ci
def test_a_build_without_the_libraries(tmp_path: Path) -> None:
    """It refuses with a remedy, and reads plain data that is there beside the compressed."""
    without = {"SKINPY_MESHOPTIMIZER_DIR": "none", "SKINPY_DRACO_DIR": "none"}
    folder = build_apart(tmp_path, SKINPY_DEBUG="1", **without)  # an optimized build takes twice as long
    gltf, stream, _ = box_with_all()
    plain = builders.Gltf()
    plain.node("box", mesh=plain.mesh(plain.primitive(*builders.box()[::2])))
    both = json.loads(plain.gltf())
    both["meshes"][0]["primitives"][0]["extensions"] = {DRACO: {"bufferView": 9, "attributes": {}}}
    unnamed = json.loads(compressed.with_draco(gltf, [stream], required=False))
    files = {
        "meshopt": compressed.meshopt(plain),
        "khr": compressed.meshopt(plain, extension=KHR),
        "draco": compressed.with_draco(gltf, [stream]),
        "draco_not_required": json.dumps(unnamed).encode(),
        "meshopt_and_plain": compressed.meshopt(plain, fallback=True),
        "draco_and_plain": json.dumps(both).encode(),
    }
    paths = [tmp_path / f"{name}.gltf" for name in files]
    for path, data in zip(paths, files.values(), strict=True):
        path.write_bytes(data)
    command = (sys.executable, "-c", WITHOUT, *(str(path) for path in paths))
    done = subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(folder)}, capture_output=True, text=True, timeout=HANGS
    )
    assert done.returncode == 0, done.stderr
    head, *lines = done.stdout.splitlines()
    assert head == f"{folder}/skinpy/__init__.py None None"
    remedies = (f"{EXT}.*gltf-transform copy.*libmeshoptimizer-dev", f"{KHR}.*gltfpack -c.*0.23 or newer")
    remedies += (f"{DRACO}.*gltf-transform copy.*libdraco-dev",) * 2
    for line, remedy in zip(lines, remedies, strict=False):
        assert re.search(remedy, line), line
    assert lines[4:] == ["24", "24"]
