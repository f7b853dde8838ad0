"""The reader of .3ds: its tree, pivots, rotations in their order, curves, smoothing groups, and refusals.

tests/contract/tds.py has a file for each thing that the format holds. The truth is NumPy in float64: lib3ds
and the 3D Studio File Toolkit for what a file means, Kochanek and Bartels (1984) for curves.
"""

import struct
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import tds_writer as tds
from tds_writer import CORNERS, NO_PARENT
from test_import import codes, entry, load
from test_import_iqm import Z_UP, rotation

import skinpy

Array = Any
EXACT = 2e-6  # float32 of numbers up to 10, over a few products
FACE = [(0, 1, 2)]


def about(angle: float, axis: Array) -> Array:
    """A clockwise angle, as the file counts."""
    unit = np.asarray(axis, float) / np.linalg.norm(axis)
    return rotation((*(-np.sin(angle / 2) * unit), np.cos(angle / 2)))


def affine(turn: Array = None, move: Array = (0, 0, 0), scale: Array = (1, 1, 1)) -> Array:
    out = np.zeros((4, 4))
    out[:3, :3] = (np.eye(3) if turn is None else turn) * np.asarray(scale, float)
    out[:, 3] = (*move, 1)
    return out


def up() -> Array:
    return affine(Z_UP)


def deformed(model: Any, time: float | None = None) -> Array:
    pose = model.pose() if time is None else model.pose(0, time)
    return np.asarray(model.deform(pose, normals=False)[0], float)


def same_points(got: Array, want: Array, tolerance: float = EXACT) -> bool:
    """Whether both are the same points in any order."""
    distance = np.linalg.norm(np.asarray(got)[:, None] - np.asarray(want, float)[None], axis=2)
    return bool((distance.min(axis=0) <= tolerance).all() and (distance.min(axis=1) <= tolerance).all())


def test_rotations_are_relative_and_in_their_order() -> None:
    """Each key turns what the ones before it made, about axes that do not turn with it."""
    keys = [(0, (0.3, 1, 0, 0)), (10, (0.8, 0, 1, 0)), (20, (-0.5, 1, 1, 2)), (25, (1.1, 0, 0, 1))]
    nodes = [tds.node("a", 0, NO_PARENT, tds.places((0, (0, 0, 0))), tds.turns(*keys))]
    model = load(tds.file([tds.mesh("a", CORNERS, FACE)], nodes), "3ds")
    turn = np.eye(3)
    for frame, (angle, *axis) in keys:
        turn = about(angle, axis) @ turn
        assert np.allclose(model.globals(0, frame / 25)[1][:3, :3], Z_UP @ turn, atol=EXACT)
    assert "interpolation_ignored" not in codes(model)


def product(a: Array, b: Array) -> Array:
    (x, y, z, w), (p, q, r, s) = a, b
    return np.array(
        [
            w * p + x * s + y * r - z * q,
            w * q - x * r + y * s + z * p,
            w * r + x * q - y * p + z * s,
            w * s - x * p - y * q - z * r,
        ]
    )


def log_of(q: Array) -> Array:
    q = q if q[3] >= 0 else -q
    length = np.linalg.norm(q[:3])
    return q[:3] * (np.arctan2(length, q[3]) / length if length else 0)


def exp_of(v: Array) -> Array:
    angle = np.linalg.norm(v)
    return np.array([*(v * np.sinc(angle / np.pi)), np.cos(angle)])


def slerp(a: Array, b: Array, u: float) -> Array:
    b = b if a @ b >= 0 else -b
    angle = np.arccos(min(1.0, float(a @ b)))
    return a if angle < 1e-9 else (np.sin((1 - u) * angle) * a + np.sin(u * angle) * b) / np.sin(angle)


def squad(times: Array, q: list[Array], curve: Array, time: float) -> Array:
    """Spherical cubics as lib3ds evaluates them; continuity is 0."""
    tension, _, bias = curve
    between = [log_of(product(a * (-1, -1, -1, 1), b)) for a, b in pairwise(q)]

    def inner(k: int, out: bool) -> Array:
        before, after = between[max(k - 1, 0)], between[min(k, len(between) - 1)]
        past = following = 1.0
        if 0 < k < len(q) - 1:
            middle = (times[k + 1] - times[k - 1]) / 2
            past, following = (times[k] - times[k - 1]) / middle, (times[k + 1] - times[k]) / middle
        t = (1 - tension) / 2
        if out:
            return product(
                q[k],
                exp_of((t * (1 + bias) * following * before + (t * (1 - bias) * following - 1) * after) / 2),
            )
        return product(
            q[k], exp_of(((1 - t * (1 + bias) * past) * before - t * (1 - bias) * past * after) / 2)
        )

    k = min(int(np.searchsorted(times, time, "right")) - 1, len(q) - 2)
    u = (time - times[k]) / (times[k + 1] - times[k])
    return slerp(slerp(q[k], q[k + 1], u), slerp(inner(k, True), inner(k + 1, False), u), 2 * u * (1 - u))


@pytest.mark.parametrize("curve", [(0, 0, 0), (0.6, 0, 0), (0, 0, -0.7)])
@pytest.mark.parametrize("count", [2, 4])
def test_curves_of_rotations(curve: tuple[float, float, float], count: int) -> None:
    keys = [(0, (0.3, 1, 0, 0)), (10, (0.8, 0, 1, 0)), (20, (-1.5, 1, 1, 2)), (25, (1.1, 0, 0, 1))][:count]
    nodes = [tds.node("a", 0, NO_PARENT, tds.places((0, (0, 0, 0))), tds.turns(*keys, curve=curve))]
    model = load(tds.file([tds.mesh("a", CORNERS, FACE)], nodes), "3ds")
    whole: list[Array] = []
    for _, (angle, *axis) in keys:
        unit = np.asarray(axis, float) / np.linalg.norm(axis)
        turn = np.array([*(-np.sin(angle / 2) * unit), np.cos(angle / 2)])
        whole.append(product(turn, whole[-1]) if whole else turn)
    times = np.array([frame / 25 for frame, _ in keys])
    for time in np.linspace(0, times[-1], 41):
        want = Z_UP @ rotation(squad(times, whole, curve, float(time)))
        assert np.allclose(model.globals(0, float(time))[1][:3, :3], want, atol=1e-4)  # 1e-5 of a quaternion
    assert "interpolation_ignored" not in codes(model)


def test_curves_of_turns_beyond_half_a_turn_are_arcs() -> None:
    keys = [(0, (0, 0, 0, 1)), (10, (4, 0, 0, 1)), (20, (1, 0, 0, 1))]
    nodes = [tds.node("a", 0, NO_PARENT, tds.places((0, (0, 0, 0))), tds.turns(*keys))]
    model = load(tds.file([tds.mesh("a", CORNERS, FACE)], nodes), "3ds")
    assert entry(model, "interpolation_ignored").severity == "lost"
    assert np.allclose(model.globals(0, 0.6)[1][:3, :3], Z_UP @ about(4.5, (0, 0, 1)), atol=EXACT)


@pytest.mark.parametrize("angle", [0.5, 3.5, 2 * np.pi, -9.0, 40.0])
def test_turns_of_more_than_half_a_turn(angle: float) -> None:
    """The angle runs evenly from key to key, however far it goes."""
    keys = [(0, (0, 0, 0, 1)), (25, (angle, 0, 0, 1))]
    nodes = [tds.node("a", 0, NO_PARENT, tds.places((0, (0, 0, 0))), tds.turns(*keys))]
    model = load(tds.file([tds.mesh("a", CORNERS, FACE)], nodes), "3ds")
    for part in np.linspace(0, 1, 17):
        want = Z_UP @ about(angle * part, (0, 0, 1))
        assert np.allclose(model.globals(0, part)[1][:3, :3], want, atol=EXACT)
    assert "interpolation_ignored" not in codes(model)


def test_parents_are_told_by_their_ids() -> None:
    """A tree in which Assimp takes ids for levels."""
    parents = {0: NO_PARENT, 1: 0, 2: 1, 3: 0, 4: 1, 9: 3}
    nodes = [tds.node(f"n{i}", i, parent, *tds.still((i + 1, 0, 0))) for i, parent in parents.items()]
    nodes.insert(0, nodes.pop())  # a child may stand before its parent
    model = load(tds.file([], nodes), "3ds")
    assert model.skeleton.names[0] == "<3DSRoot>"
    for i, parent in parents.items():
        above = model.skeleton.parents[model.skeleton.index(f"n{i}")]
        assert model.skeleton.names[above] == ("<3DSRoot>" if parent == NO_PARENT else f"n{parent}")


def test_nodes_that_are_their_own_ancestors() -> None:
    nodes = [
        tds.node("a", 0, 1, *tds.still()),
        tds.node("b", 1, 0, *tds.still()),
        tds.node("c", 2, 2, *tds.still()),
    ]
    assert set(load(tds.file([], nodes), "3ds").skeleton.names) == {"<3DSRoot>", "a", "b", "c"}


@pytest.mark.parametrize("mirror", [False, True])
def test_matrix_and_pivot(mirror: bool) -> None:
    """The mesh as the file has it stands at its matrix; its node turns it about the pivot."""
    matrix = affine(about(0.7, (1, 2, 3)), (3, -1, 2), (1, 2, 0.5))
    if mirror:
        matrix = matrix @ np.diag([-1, 1, 1, 1])
    points = CORNERS @ matrix[:3, :3].T + matrix[:3, 3]
    pivot = np.array([0.25, 0.5, -1])
    child = [tds.places((0, (1, 2, 3))), tds.turns((0, (0.4, 0, 1, 1))), tds.scales((0, (1, 2, 1)))]
    nodes = [
        tds.node("dummy", 0, NO_PARENT, tds.places((0, (5, 0, 0))), tds.turns((0, (0.9, 0, 0, 1)))),
        tds.node("a", 1, 0, *child, pivot=pivot),
    ]
    model = load(tds.file([tds.mesh("a", points, FACE, matrix=matrix)], nodes), "3ds")
    local = CORNERS * ((-1, 1, 1) if mirror else (1, 1, 1))
    if mirror:
        local = (np.linalg.inv(matrix) @ np.c_[points, np.ones(3)].T).T[:, :3] * (-1, 1, 1)
    tree = (
        up() @ affine(about(0.9, (0, 0, 1)), (5, 0, 0)) @ affine(about(0.4, (0, 1, 1)), (1, 2, 3), (1, 2, 1))
    )
    want = (local - pivot) @ tree[:3, :3].T + tree[:3, 3]
    assert same_points(deformed(model), want, 1e-5)


def test_objects_that_no_node_places_stay_where_they_are() -> None:
    matrix = affine(move=(9, 9, 9))
    objects = [tds.mesh("a", CORNERS, FACE, matrix=matrix), tds.mesh("b", CORNERS + 5, FACE)]
    for nodes in ([], [tds.node("b", 0, NO_PARENT, *tds.still((1, 0, 0)))]):
        model = load(tds.file(objects, nodes), "3ds")
        b = CORNERS + 5 + ((1, 0, 0) if nodes else (0, 0, 0))
        assert same_points(deformed(model), np.r_[CORNERS, b] @ Z_UP.T)
        assert {part.name for part in model.mesh.submeshes} == {"a", "b"}


def test_one_object_at_two_nodes() -> None:
    nodes = [
        tds.node("a", 0, NO_PARENT, *tds.still((0, 0, 0)), pivot=(0, 0, 1)),
        tds.node("a", 1, NO_PARENT, *tds.still((5, 0, 0)), instance="second"),
    ]
    model = load(tds.file([tds.mesh("a", CORNERS, FACE)], nodes), "3ds")
    assert model.skeleton.names == ("<3DSRoot>", "a", "second")
    assert same_points(deformed(model), np.r_[CORNERS - (0, 0, 1), CORNERS + (5, 0, 0)] @ Z_UP.T)


def hermite(a: float, b: float, out: float, into: float, u: float) -> float:
    return (
        (2 * u**3 - 3 * u**2 + 1) * a
        + (u**3 - 2 * u**2 + u) * out
        + (-2 * u**3 + 3 * u**2) * b
        + (u**3 - u**2) * into
    )


def tcb_tangents(times: Array, values: Array, k: int, curve: Array) -> tuple[float, float]:
    """Incoming and outgoing, for spans of length 1: Kochanek and Bartels, with their rule for frame times."""
    tension, continuity, bias = curve
    before = values[k] - values[k - 1] if k else values[1] - values[0]
    after = values[k + 1] - values[k] if k + 1 < len(values) else before
    if not k:
        before = after
    into = (
        (1 - tension) * ((1 - continuity) * (1 + bias) * before + (1 + continuity) * (1 - bias) * after) / 2
    )
    out = (1 - tension) * ((1 + continuity) * (1 + bias) * before + (1 - continuity) * (1 - bias) * after) / 2
    if 0 < k < len(values) - 1 and continuity == 0:
        past, following = times[k] - times[k - 1], times[k + 1] - times[k]
        into, out = into * 2 * past / (past + following), out * 2 * following / (past + following)
    return into, out


@pytest.mark.parametrize("curve", [(0, 0, 0), (0.6, 0, 0), (0, 0, -0.7), (-0.5, 0, 0.3)])
def test_curves_of_places_and_scales(curve: tuple[float, float, float]) -> None:
    frames, x = [0, 10, 15, 40], [0.0, 3.0, -1.0, 2.0]
    rows = [(frame, (value, 1.0, 2.0)) for frame, value in zip(frames, x, strict=True)]
    for make, row in ((tds.places, 3), (tds.scales, 0)):
        keys = [(frame, (abs(v[0]) + 1, 1, 1)) for frame, v in rows] if make is tds.scales else rows
        values = [key[1][0] for key in keys]
        nodes = [tds.node("a", 0, NO_PARENT, tds.places((0, (0, 0, 0))), make(*keys, curve=curve))]
        model = load(tds.file([tds.mesh("a", CORNERS, FACE)], nodes), "3ds")
        for k in range(3):
            _, out = tcb_tangents(frames, values, k, curve)
            into, _ = tcb_tangents(frames, values, k + 1, curve)
            for u in (0, 0.3, 0.5, 0.9):
                time = (frames[k] + u * (frames[k + 1] - frames[k])) / 25
                want = hermite(values[k], values[k + 1], out, into, u)
                assert model.globals(0, time)[1][0, row] == pytest.approx(want, abs=1e-5)
        assert "interpolation_ignored" not in codes(model)


def test_ease_is_not_played() -> None:
    keys = tds.places((0, (0, 0, 0)), (10, (1, 0, 0)), curve=(0, 0, 0, 0.5, 0))
    model = load(tds.file([tds.mesh("a", CORNERS, FACE)], [tds.node("a", 0, NO_PARENT, keys)]), "3ds")
    assert entry(model, "interpolation_ignored").first == "'a': keys with ease"


def test_keys_before_0() -> None:
    keys = tds.places((-25, (0, 0, 0)), (25, (2, 0, 0)))
    model = load(tds.file([tds.mesh("a", CORNERS, FACE)], [tds.node("a", 0, NO_PARENT, keys)]), "3ds")
    assert model.clips[0].channels[0].times.tolist() == [-1, 1]
    assert model.globals(0, 0.0)[1][0, 3] == pytest.approx(1)


TENT = np.array(
    [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 1), (2, 1, 1), (1, 0, 0), (1, 1, 0)], float
)
LEFT, RIGHT = np.array([0, 0, 1.0]), np.array([-(0.5**0.5), 0, 0.5**0.5])


@pytest.mark.parametrize(
    ("groups", "joined"), [((1, 1), True), ((3, 2), True), ((1, 2), False), ((0, 0), False)]
)
def test_smoothing_groups(groups: tuple[int, int], joined: bool) -> None:
    """Two squares meet at an edge, with points of their own there; faces that share a group are joined."""
    faces = [(0, 1, 2), (0, 2, 3), (6, 4, 5), (6, 5, 7)]
    each = tds.smoothing([groups[0]] * 2 + [groups[1]] * 2)
    model = load(tds.file([tds.mesh("tent", TENT, faces, each)]), "3ds")
    mesh = model.mesh
    edge = np.isclose(mesh.positions[:, 0], 1)
    found = {tuple(np.round(normal, 5)) for normal in mesh.normals[edge].tolist()}
    if joined:
        assert all(0.1 < -x < 0.7 for x, _, _ in found)
    else:
        assert found == {tuple(np.round(normal, 5)) for normal in (LEFT, RIGHT)}
    assert "normals_generated" not in codes(model)


def test_materials() -> None:
    image = tds.texture(
        "wood.png", tds.chunk(0xA354, struct.pack("<f", 2)), tds.chunk(0xA358, struct.pack("<f", 0.5))
    )
    clear = tds.chunk(0xA050, tds.chunk(0x30, struct.pack("<h", 25)))
    faces = [(0, 1, 2), (3, 4, 5), (0, 1, 5)]
    objects = [
        tds.material("Red"),
        tds.material("blue", (0, 0, 255), clear, tds.chunk(0xA081), image),
        tds.mesh("a", np.r_[CORNERS, CORNERS + 1], faces, tds.painted("BLUE", [1]), tds.painted("red", [0])),
    ]
    model = load(tds.file(objects), "3ds")
    assert [part.material for part in model.mesh.submeshes] == [None, 0, 1]
    red, blue = model.materials
    assert red.base_color == (1, 0, 0, 1) and blue.base_color == (0, 0, 1, 0.75)
    assert blue.double_sided and blue.alpha == "blend" and not red.double_sided
    assert entry(model, "textures_missing").first == "'wood.png'"


def test_hidden_objects() -> None:
    hidden = tds.mesh("a", CORNERS, FACE)
    name = tds.name_of("a")
    inside = hidden[6 + len(name) :]
    hidden = tds.chunk(0x4000, name, tds.chunk(0x4010), inside)
    model = load(tds.file([hidden, tds.mesh("b", CORNERS, FACE)]), "3ds")
    assert [part.visible for part in model.mesh.submeshes] == [False, True]


def test_many_materials_keep_their_names() -> None:
    objects = [tds.material(f"m{i}", (i, 0, 0)) for i in range(40)]
    faces = [tds.painted(f"M{i}", [i]) for i in range(40)]
    objects.append(tds.mesh("a", CORNERS, FACE * 40, *faces))
    assert [part.material for part in load(tds.file(objects), "3ds").mesh.submeshes] == list(range(40))


def test_faces_and_texture_coordinates_that_do_not_fit() -> None:
    model = load(tds.file([tds.mesh("a", CORNERS, [(0, 1, 2), (0, 1, 9)], uvs=[(0, 0)])]), "3ds")
    assert entry(model, "faces_dropped").count == 1 and entry(model, "attributes_dropped").count == 1
    assert len(model.mesh.faces) == 1


@pytest.mark.parametrize("cut", [5, 40, 90])
def test_files_that_are_cut(cut: int) -> None:
    """Chunks end with their parent; what is not there is left out."""
    whole = tds.file([tds.mesh("a", CORNERS, FACE)], [tds.node("a", 0, NO_PARENT, *tds.still())])
    assert load(whole[:-cut], "3ds").skeleton.names == ("<3DSRoot>", "a")


def test_a_file_of_nothing_is_refused() -> None:
    with pytest.raises(skinpy.LoadError, match="there is no mesh in the file"):
        load(tds.file([]), "3ds")


def test_nodes_count_against_the_limit_of_vertices() -> None:
    nodes = [tds.node("a", i, NO_PARENT, *tds.still()) for i in range(500)]
    big = tds.mesh("a", CORNERS, FACE * 1000)
    with pytest.raises(skinpy.LimitExceeded, match="vertices"):
        load(tds.file([big], nodes), "3ds", limits=skinpy.Limits(vertices=100_000))
