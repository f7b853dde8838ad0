"""The reader of .x: its encodings, names, references, keys and refusals.

tests/contract/x.py has a file for each thing that the format holds. The truth here is NumPy in float64 from
Microsoft's X File Format Reference; .x is left-handed, and z becomes -z.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import x_writer as x
from conftest import data_file
from test_import import codes, entry, load

import skinpy

Array = Any
EXACT = 1e-6  # float32 of numbers up to 5
STRIP = np.array([(column, row, 0) for row in (0, 2, 4) for column in (0, 1)], float)
BENT = np.array(
    [(0, 0, 0), (1, 0, 0), (0, 2, 0), (0.5, 2.5, 0), (-2, 2, 0), (-2, 3, 0)]
)  # b turned by 90 degrees
FACES = [(0, 1, 3, 2), (2, 3, 5, 4)]


def at(*to: float) -> Array:
    matrix = np.eye(4)
    matrix[:3, 3] = to
    return matrix


def strip(*more: x.Object, key: int = 4) -> list[x.Object]:
    """Joint a at the origin moves y 0, joint b at y 2 moves y 4, both move y 2 by halves; b turns about z."""
    turned = at(0, 2, 0) @ np.array([[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    skin = [
        x.weights("a", (0, 1, 2, 3), (1, 1, 0.5, 0.5)),
        x.weights("b", (2, 3, 4, 5), (0.5, 0.5, 1, 1), at(0, -2, 0)),
    ]
    body = x.mesh(STRIP, FACES, *skin, *more, name="strip")
    frames = x.frame("root", x.frame("a", x.frame("b", matrix=at(0, 2, 0))), body)
    half = 0.5**0.5
    rows: list[tuple[int, Any]] = [(0, x.rows_of(at(0, 2, 0))), (30, x.rows_of(turned))]
    if key == 0:
        rows = [(0, (1, 0, 0, 0)), (30, (half, 0, 0, -half))]
    return [x.ticks(30), frames, x.clip("turn", x.animation("b", x.keys(key, rows)))]


def is_bent(model: Any) -> None:
    rest, bent = (model.deform(pose, normals=False)[0] for pose in (model.pose(), model.pose(0, 1.0)))
    for corner, want in zip(STRIP, BENT, strict=True):
        which = np.abs(rest - corner).max(axis=1) < EXACT
        assert which.any() and np.allclose(bent[which], want, atol=EXACT)


# ---- encodings -----------------------------------------------------------------------------------------

ENCODINGS: dict[str, Callable[..., bytes]] = {
    "text": x.text,
    "bytes": x.binary,
    "bytes of 64 bits": lambda *objects: x.binary(*objects, bits=64),
    "compressed text": lambda *objects: x.compressed("tzip", x.text_body(objects), 500),
    "compressed bytes": lambda *objects: x.compressed("bzip", x.binary_body(objects)),
}


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize("key", [0, 4])
def test_encodings_hold_the_same(encode: Callable[..., bytes], key: int) -> None:
    model = load(encode(*strip(key=key)), "x")
    is_bent(model)
    assert codes(model) == {"axes_converted", "normals_generated"}
    assert model.skeleton.names == ("root", "a", "b") and model.clips[0].name == "turn"


def test_blocks_refer_to_those_before_them() -> None:
    """Much more than the window of 32 KiB, in blocks of another size."""
    many = [x.frame(f"frame{i % 7}_{i}", matrix=at(i, 0, 0)) for i in range(3000)]
    body = x.text_body(many)
    assert len(body) > 200_000
    for size in (32768, 10000):
        model = load(x.compressed("tzip", body, size), "x")
        assert len(model.skeleton.names) == 3001
        assert model.skeleton.rest_global[3000, 0, 3] == 2999


def test_compressed_bytes_that_are_damaged() -> None:
    whole = x.compressed("tzip", x.text_body(strip()), 500)
    for damaged in (whole[:-30], whole[:40] + b"\xff" * 20 + whole[60:], whole[:24] + b"XX" + whole[26:]):
        with pytest.raises(skinpy.LoadError, match="damaged"):
            load(damaged, "x")


def test_compressed_bytes_count_against_the_limit() -> None:
    file = x.compressed("tzip", x.text_body([x.frame("a")]) + b" " * 3_000_000)
    assert len(file) < 10_000
    with pytest.raises(skinpy.LimitExceeded, match="file_bytes"):
        load(file, "x", limits=skinpy.Limits(file_bytes=1_000_000))


# ---- text ----------------------------------------------------------------------------------------------


def test_separators_comments_and_templates_do_not_matter() -> None:
    plain = x.text(*strip()).decode()
    template = "template Frame {\n <3d82ab46-62da-11cf-ab39-0020af71e433>\n [...]\n}\n"
    head, body = plain[:17], plain[17:]
    for text in (
        body.replace(";", ",\n"),
        body.replace(";", ";;,;"),
        template + body.replace("{", "{ // comment }\n"),
        body.replace("}", "# comment {\n}"),
        body.replace("Frame", "FRAME").replace("FRAMETransform", "FrameTransform"),
        body.replace("{ b }", "{ b <3d82ab46-62da-11cf-ab39-0020af71e433> }"),
        body.replace("\n", "\r\n"),
    ):
        is_bent(load((head + text).encode(), "x"))


def test_whole_numbers() -> None:
    """A decimal comma does not exist."""
    file = b"xof 0303txt 0032\nFrame a { Mesh { 3; 0;0;0;,1;0;0;,0;1;0;; 1; 3;0,1,2;; } }"
    file += b"AnimationSet s { Animation { {a} AnimationKey { 2; 2; 0;3;0,0,0;;,25;3;2,0,0;;; } } }"
    model = load(file, "x")
    assert model.globals(0, 1.0)[0, 0, 3] == 2
    assert len(model.mesh.faces) == 1


def test_numbers_that_are_none() -> None:
    file = x.text(x.frame("a", matrix=at(1, 2, 3)))
    for word in (b"-1.#IND00", b"1.#QNAN0", b"nan", b"-nan(ind)", b"inf"):
        model = load(file.replace(b" 2;", b" " + word + b";"), "x")
        assert model.skeleton.rest_global[0, :3, 3].tolist() == [1, 0, -3]
        assert "numbers_repaired" in codes(model)


def test_columns_that_are_longer_than_float32_can_say() -> None:
    matrix = at(1, 2, 3)
    matrix[:3, 0] = 3e38
    model = load(x.text(x.frame("a", matrix=matrix)), "x")
    assert model.skeleton.rest_global[0].tolist() == at(1, 2, -3).tolist()
    assert "numbers_repaired" in codes(model)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (x.text(x.frame("a"))[:-10], "line [0-9]+: the file ends within an object"),
        (x.binary(x.frame("a"))[:-2], "byte [0-9]+: the file ends within an object"),
        (x.head("txt ") + b"\nFrame a b { }", 'line 2: an object without its "{"'),
        (x.head("txt ") + b"\nFrame a { { a ", 'a reference without its "}"'),
        (x.head("txt ") + b"\ntemplate a { ", 'a template without its "}"'),
        (x.head("txt ") + b'\nSkinWeights { "a', "ends within a name, a text"),
        (x.head("com ") + b"\nFrame a { }", "encoding is unknown"),
        (x.head("txt "), "no frame and no mesh"),
        (x.text(x.frame("a", x.thing("Mesh", 1000000, 0.0))), "fewer numbers than its counts say"),
        (x.text(x.frame("a", x.thing("Mesh", 1, [0.0] * 3, 1, 4000000000))), "fewer numbers"),
        (x.text(x.frame("a", x.thing("Mesh", -1))), "fewer numbers"),
        (x.head("bin ") + x.name_token("Frame")[:-2], "ends within a name"),
    ],
)
def test_refusals(file: bytes, words: str) -> None:
    with pytest.raises(skinpy.LoadError, match=words) as caught:
        load(file, "x")
    assert len(str(caught.value)) < 200


# ---- names and references ------------------------------------------------------------------------------


def test_frames_without_names_and_several_roots() -> None:
    model = load(x.text(x.frame("", x.frame("", matrix=at(0, 1, 0))), x.frame("b")), "x")
    assert model.skeleton.names == ("ROOT", "", "", "b")
    assert model.skeleton.parents.tolist() == [-1, 0, 1, 0]


def test_a_mesh_that_stands_alone_has_a_node_of_its_own() -> None:
    model = load(x.text(x.frame("a", matrix=at(9, 9, 9)), x.mesh(STRIP, FACES, name="strip")), "x")
    assert model.skeleton.names == ("ROOT", "a", "strip")
    assert {tuple(row) for row in model.mesh.positions.tolist()} == {tuple(row) for row in STRIP.tolist()}


def test_animations_may_stand_outside_of_their_set() -> None:
    keys = x.keys(2, [(0, (0, 0, 0)), (25, (3, 0, 0))])
    outside = x.thing("Animation", x.Reference("a"), keys, name="move")
    model = load(x.text(x.frame("a"), outside, x.clip("s", x.Reference("move"))), "x")
    assert model.globals(0, 1.0)[0, 0, 3] == 3


def test_names_that_joints_of_a_skin_share_are_lost() -> None:
    model = load(x.text(*strip(), x.frame("b", matrix=at(7, 7, 7))), "x")
    assert entry(model, "names_ambiguous").severity == "lost" and entry(model, "names_ambiguous").count == 2
    is_bent(model)
    assert "names_ambiguous" not in codes(load(x.text(*strip(), x.frame("c"), x.frame("c")), "x"))


def test_a_set_without_animations_is_no_clip() -> None:
    assert not load(x.text(x.frame("a"), x.clip("empty")), "x").clips


# ---- keys ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [-1, 2**32 - 1, -100])
@pytest.mark.parametrize("encode", [x.text, x.binary])
def test_keys_before_0(first: int, encode: Callable[..., bytes]) -> None:
    """4294967295 is -1 in 32 bits."""
    keys = x.keys(2, [(first, (-2, 0, 0)), (100, (2, 0, 0))])
    model = load(encode(x.ticks(100), x.frame("a"), x.clip("s", x.animation("a", keys))), "x")
    (channel,) = model.clips[0].channels
    start = -0.01 if first > 0 else first / 100
    assert np.allclose(channel.times, (start, 1)) and model.clips[0].duration == 1
    want = -2 + 4 * (0 - start) / (1 - start)
    assert model.globals(0, 0.0)[0, 0, 3] == pytest.approx(want, abs=1e-6)


def test_scale_keys_are_not_mirrored() -> None:
    keys = x.keys(1, [(0, (1, 2, 3))])
    model = load(x.text(x.frame("a"), x.clip("s", x.animation("a", keys))), "x")
    assert np.diag(model.globals(0, 0.0)[0]).tolist() == [1, 2, 3, 1]


# ---- meshes --------------------------------------------------------------------------------------------


def test_each_material_is_a_submesh() -> None:
    paints = [x.thing("Material", i / 4, 0.0, 0.0, 1.0, 0.0, [0.0] * 6, name=f"m{i}") for i in range(3)]
    listed = x.thing("MeshMaterialList", 3, 2, 1, 0, *paints)
    model = load(x.text(*strip(listed)), "x")
    assert [part.material for part in model.mesh.submeshes] == [0, 1]
    assert [material.name for material in model.materials] == ["m0", "m1", "m2"]
    is_bent(model)
    alone = load(x.text(*strip(x.thing("MeshMaterialList", 1, 1, 0, paints[0]))), "x")
    assert [part.material for part in alone.mesh.submeshes] == [
        0
    ]  # the last number is that of all further faces
    none = load(x.text(*strip(x.thing("MeshMaterialList", 3, 2, 9, 9, *paints))), "x")
    assert [part.material for part in none.mesh.submeshes] == [None]


def test_faces_look_outwards() -> None:
    """A box in a left-handed system, its faces clockwise as seen from outside."""
    points = np.array([(i & 1, i >> 1 & 1, i >> 2) for i in range(8)], float)
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    model = load(x.text(x.frame("box", x.mesh(points, faces))), "x")
    corners = model.mesh.positions[model.mesh.faces].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    outwards = corners.mean(axis=1) - (0.5, 0.5, -0.5)
    assert len(normals) == 12 and ((normals * outwards).sum(axis=1) > 0).all()


def test_normals_that_do_not_fit() -> None:
    for normals in (
        x.thing("MeshNormals", 1, [0.0, 0.0, 1.0], 1, 4, 0, 0, 0, 0),
        x.thing("MeshNormals", 1, [0.0, 0.0, 1.0], 2, 4, 0, 0, 0, 5, 4, 0, 0, 0, 0),
        x.thing("MeshNormals", 5, [0.0, 0.0, 1.0]),
        x.thing("MeshNormals"),
    ):
        assert entry(load(x.text(*strip(normals)), "x"), "attributes_dropped").count == 1


def test_corners_of_more_influences_than_the_file_has_numbers_are_refused() -> None:
    """One vertex with many influences, which many faces use."""
    crowd = [x.weights("a", [0] * 500, [0.001] * 500) for _ in range(4)]
    fan = x.mesh(STRIP, [(0, 0, 0)] * 1000, *crowd)
    with pytest.raises(skinpy.LoadError, match="more than 64 joints each"):
        load(x.text(x.frame("a", fan)), "x")


def test_references_count_against_the_limits() -> None:
    body = x.mesh(STRIP, FACES * 50, name="one")
    frames = [x.frame(f"f{i}", *[x.Reference("one")] * 100) for i in range(100)]
    with pytest.raises(skinpy.LimitExceeded, match="vertices"):
        load(x.text(body, *frames), "x", limits=skinpy.Limits(vertices=100_000))
    keys = x.keys(2, [(i, (0, 0, 0)) for i in range(1000)])
    outside = x.thing("Animation", x.Reference("a"), keys, name="move")
    with pytest.raises(skinpy.LimitExceeded, match="keys"):
        load(
            x.text(x.frame("a"), outside, x.clip("s", *[x.Reference("move")] * 1000)),
            "x",
            limits=skinpy.Limits(keys=100_000),
        )


@pytest.mark.parametrize("name", ["whole_numbers.x", "x-skinweights-of-no-vertex.x"])
def test_cases_of_the_shared_data(name: str) -> None:
    model = load(data_file("cases", name))
    if name == "whole_numbers.x":
        assert model.globals(0, 1.0)[0, 0, 3] == 2
    else:
        is_bent(model)


def test_isolation_is_not_asked_for() -> None:
    """Its reader is skinpy's own, so that an import in this process reads it by default."""
    assert load(x.text(*strip()), "x", isolate=False).clips[0].name == "turn"
