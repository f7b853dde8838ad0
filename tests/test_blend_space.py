"""Blend spaces: weights by hand, against SciPy's triangulation, and as properties over random parameters."""

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy import BlendSpace1D, BlendSpace2D
from skinpy.playing.blend_space import space_from_dict
from skinpy.playing.triangles import delaunay

SPEEDS: dict[float, Any] = {0: "idle", 1.4: "walk", 4.0: "run"}
SQUARE: dict[tuple[float, float], Any] = {(0, 0): "a", (1, 0): "b", (0, 1): "c", (1, 1): "d", (0.5, 0.5): "m"}
#: Weights are quotients of sums of products of numbers about 1: a few roundings of 1.1e-16 each.
ROUNDING = 1e-14


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return skinpy.character()


@pytest.mark.parametrize(
    ("kind", "points", "error", "words"),
    [
        (BlendSpace1D, {0: "walk"}, ValueError, "1 points; expected 2"),
        (BlendSpace1D, {}, ValueError, "0 points"),
        (BlendSpace1D, {0: "walk", math.nan: "run"}, ValueError, "points is nan"),
        (BlendSpace1D, {0: "walk", math.inf: "run"}, ValueError, "points is inf"),
        (BlendSpace1D, {-1.7e308: "walk", 1.7e308: "run"}, ValueError, "too far apart"),
        (BlendSpace1D, [(1, "walk"), (1.0, "run")], ValueError, "points has 1.0 twice"),
        (BlendSpace1D, [(0.0, "walk"), (-0.0, "run")], ValueError, "twice"),
        (BlendSpace1D, [(1, "walk", 2), (2, "run")], ValueError, "pairs"),
        (BlendSpace1D, {0: "walk", "1": "run"}, TypeError, "'1'; expected a number"),
        (BlendSpace1D, {0: "walk", True: "run"}, TypeError, "True; expected a number"),
        (BlendSpace1D, {0: "walk", 1: 2.5}, TypeError, "2.5 at 1"),
        (BlendSpace1D, {0: "walk", 1: None}, TypeError, "None at 1"),
        (BlendSpace2D, {(0, 0): "walk", (1, 0): "run"}, ValueError, "on one line"),
        (BlendSpace2D, {(i / 10, i * 3 / 10): "walk" for i in range(2)}, ValueError, "on one line"),
        (BlendSpace2D, {(i, 3 * i): "walk" for i in range(7)}, ValueError, "on one line"),
        (BlendSpace2D, {0: "walk", 1: "run"}, TypeError, "expected a pair"),
        (BlendSpace2D, {(0, 0, 0): "walk", (1, 0, 0): "run"}, TypeError, "expected a pair"),
        (BlendSpace2D, {(0, 0): "walk", (1, math.nan): "run"}, ValueError, "nan"),
        (BlendSpace2D, {(0, 0): "a", (1, 0): "b", (1e-320, 0): "c"}, ValueError, "one line"),
        (BlendSpace2D, {(0, 0): "a", (1e3, 0): "b", (0, 1): "c", (5e-324, 0): "d"}, ValueError, "too close"),
        (BlendSpace2D, {(i / 10, i * 3 / 10 - 1): "walk" for i in range(7)}, ValueError, "on one line"),
        (BlendSpace2D, {(-1.7e308, 0): "a", (1.7e308, 0): "b", (0, 1): "c"}, ValueError, "too far apart"),
    ],
)
def test_bad_points(kind: Any, points: Any, error: type[Exception], words: str) -> None:
    pairs = [(k, v) for k, v in points.items()] if isinstance(points, dict) else points
    with pytest.raises(error, match=words):
        kind(points)
    with pytest.raises(error, match=words):
        kind(pairs)


def test_1d_by_hand() -> None:
    space = BlendSpace1D(SPEEDS)
    found = space.weights([-3, 0, 0.7, 1.4, 2.05, 4, 99])
    expected = [[1, 0, 0], [1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0.75, 0.25], [0, 0, 1], [0, 0, 1]]
    assert np.abs(found - expected).max() < ROUNDING
    assert space.parameter == 0.0
    assert BlendSpace1D(SPEEDS, 1.4).parameter == 1.4


def test_1d_points_in_any_order() -> None:
    mixed = BlendSpace1D({4.0: "run", 0: "idle", 1.4: "walk"})
    assert np.array_equal(mixed.weights([0.3, 2])[:, [1, 2, 0]], BlendSpace1D(SPEEDS).weights([0.3, 2]))


def test_2d_by_hand() -> None:
    """Corners a b c d of a square and its center m: four triangles."""
    space = BlendSpace2D(SQUARE)
    assert space.triangles.shape == (4, 3)
    cases = {
        (0.5, 0.25): [0.25, 0.25, 0, 0, 0.5],  # halfway from the middle of ab to m
        (0.25, 0.5): [0.25, 0, 0.25, 0, 0.5],
        (0.25, 0.0): [0.75, 0.25, 0, 0, 0],
        (0.25, -5.0): [0.75, 0.25, 0, 0, 0],  # outside: the nearest point of the hull
        (7.0, -1.0): [0, 1, 0, 0, 0],
        (0.75, 0.75): [0, 0, 0, 0.5, 0.5],
        (1e300, 0.25): [0, 0.75, 0, 0.25, 0],
    }
    for where, expected in cases.items():
        # 1e-9 for the far one: what a million extents leave of the position along the edge
        assert np.abs(space.weights(where) - expected).max() < (1e-9 if where[0] > 1e9 else ROUNDING), where


def grid() -> dict[tuple[float, float], str]:
    """A grid, which has many points on one line and on one circle."""
    return {(x / 10, y / 7): f"{x} {y}" for x in range(5) for y in range(4)}


def cloud(count: int, seed: int) -> dict[tuple[float, float], str]:
    points = np.random.default_rng(seed).normal(size=(count, 2)).tolist()
    return {(x, y): str(number) for number, (x, y) in enumerate(points)}


SPACES = {
    "square": SQUARE,
    "grid": grid(),
    "circle": {(math.cos(a), math.sin(a)): str(a) for a in range(9)},
    "sliver": {(0, 0): "a", (1, 0): "b", (2, 1e-6): "c", (3, 0): "d"},
    "tiny": {(1e-200 * x, 1e-200 * y): f"{x} {y}" for x, y in SQUARE},
    "large": {(1e200 * x, 1e200 * y): f"{x} {y}" for x, y in SQUARE},
    "cloud": cloud(30, 3),
}


@pytest.mark.parametrize("name", SPACES)
def test_2d_properties(name: str) -> None:
    """A partition of unity, exact at the points, linear precision inside the hull, continuous everywhere."""
    space = BlendSpace2D(SPACES[name])
    places = np.array([where for where, _ in space.points])
    assert np.array_equal(space.weights(places), np.eye(len(places)))
    low, size = places.min(0), np.ptp(places, 0).max()
    at = low + size * np.random.default_rng(5).uniform(-0.5, 1.5, (2000, 2))
    weights = space.weights(at)
    assert weights.min() >= 0.0
    assert np.abs(weights.sum(-1) - 1).max() < ROUNDING
    assert (weights > 0).sum(-1).max() <= 3
    # sum(w * point) is the parameter, or its projection on the hull: so 0 or less along the way out
    landed = weights @ places / size
    again = space.weights(landed * size) @ places / size
    assert np.abs(again - landed).max() < 1e-12
    inside = np.random.default_rng(6).dirichlet(np.ones(len(places)), 500) @ places
    assert np.abs(space.weights(inside) @ places - inside).max() < 1e-12 * size
    # the projection is no farther than any point of the hull
    distance = np.linalg.norm((at / size) - landed, axis=-1)
    assert (distance <= np.linalg.norm((at - inside[:1]) / size, axis=-1) + 1e-12).all()


@pytest.mark.parametrize("name", ["square", "grid", "circle", "cloud"])
def test_2d_weights_are_continuous(name: str) -> None:
    """Along paths through the plane a small step changes no weight by more than its slope allows."""
    space = BlendSpace2D(SPACES[name])
    places = np.array([where for where, _ in space.points])
    low, size = places.min(0), np.ptp(places, 0).max()
    corners = places[space.triangles]
    (a, b, c) = corners[:, 0], corners[:, 1], corners[:, 2]
    area = np.abs(np.cross(np.c_[b - a, 0 * a[:, 0]], np.c_[c - a, 0 * a[:, 0]])[:, 2])
    longest = np.linalg.norm(corners - np.roll(corners, 1, 1), axis=-1).max(-1)
    slope = (longest / area).max()  # the slope of a corner's weight is 1 / its height
    rng = np.random.default_rng(8)
    for _ in range(20):
        ends = low + size * rng.uniform(-0.5, 1.5, (2, 2))
        way = ends[0] + np.linspace(0, 1, 500)[:, None] * (ends[1] - ends[0])
        step = np.linalg.norm(ends[1] - ends[0]) / 499
        change = np.abs(np.diff(space.weights(way), axis=0)).max()
        assert change <= slope * step * (1 + 1e-6)


def test_triangles_are_those_of_scipy() -> None:
    spatial = pytest.importorskip("scipy.spatial")
    for seed, count in enumerate([3, 4, 5, 6, 9, 17, 40]):
        points = list(cloud(count, seed))
        ours = {tuple(sorted(one)) for one in delaunay(points)}
        theirs = {tuple(sorted(one.tolist())) for one in spatial.Delaunay(np.array(points)).simplices}
        assert ours == theirs


def test_triangles_fill_a_grid_and_do_not_depend_on_the_order() -> None:
    points = list(grid())
    found = delaunay(points)
    assert len(found) == 2 * 4 * 3
    mixed = [points[number] for number in np.random.default_rng(2).permutation(len(points))]
    as_points = [{points[corner] for corner in one} for one in found]
    assert all({mixed[corner] for corner in one} in as_points for one in delaunay(mixed))


def test_batches_and_bad_parameters() -> None:
    line, plane = BlendSpace1D(SPEEDS), BlendSpace2D(SQUARE)
    assert line.weights(1.0).shape == (3,)
    assert line.weights(np.ones((2, 4))).shape == (2, 4, 3)
    assert line.weights(np.ones((0,))).shape == (0, 3)
    assert plane.weights(np.ones((2, 4, 2))).shape == (2, 4, 5)
    for space, wrong in ((line, [0, math.nan]), (plane, [[0, math.inf]]), (plane, [1, 2, 3]), (plane, 1.0)):
        with pytest.raises(ValueError, match="parameter"):
            space.weights(wrong)
    with pytest.raises(TypeError, match="parameter"):
        line.weights("fast")


def test_bound(model: skinpy.Model) -> None:
    bound = BlendSpace1D({0: "walk", 1: 1, 2: model.clips["wave"]}, 0.5).bind(model)
    assert [clip.name for clip in bound.clips] == ["walk", "run", "wave"]
    assert bound.parameter == 0.5
    assert bound.samples(0.25) == ((model.clips["walk"], 0.75), (model.clips["run"], 0.25))
    assert bound.samples(1) == ((model.clips["run"], 1.0),)
    assert bound.check(np.float32(0.5)) == 0.5 and type(bound.check(np.float32(0.5))) is float
    for wrong, error in ((math.nan, ValueError), ("fast", TypeError), ((1, 2), TypeError), (None, TypeError)):
        with pytest.raises(error, match="parameter"):
            bound.check(wrong)


def test_a_clip_at_two_points_comes_once(model: skinpy.Model) -> None:
    bound = BlendSpace2D({(0, 0): "walk", (1, 0): "walk", (0, 1): "run"}).bind(model)
    samples = dict(bound.samples((0.25, 0.25)))
    assert samples == {
        model.clips["walk"]: pytest.approx(0.75, abs=ROUNDING),
        model.clips["run"]: pytest.approx(0.25, abs=ROUNDING),
    }
    assert bound.check(np.array([1, 2])) == (1.0, 2.0)


def test_binding_errors(model: skinpy.Model) -> None:
    with pytest.raises(KeyError, match="did you mean 'walk'"):
        BlendSpace1D({0: "wlak", 1: "run"}).bind(model)
    with pytest.raises(IndexError):
        BlendSpace1D({0: "walk", 1: 99}).bind(model)
    with pytest.raises(ValueError, match="not bound to this model"):
        BlendSpace1D({0: "walk", 1: skinpy.crane().clips[0]}).bind(model)


@pytest.mark.parametrize("space", [BlendSpace1D(SPEEDS, 2), BlendSpace2D(SQUARE, (0.5, 1))])
def test_data_goes_out_and_comes_back(space: Any) -> None:
    data = json.loads(json.dumps(space.to_dict(), allow_nan=False))
    assert type(space).from_dict(data) == space == space_from_dict(data) == pickle.loads(pickle.dumps(space))
    assert hash(space_from_dict(data)) == hash(space)
    assert space != type(space)(space.points)  # another default
    other = BlendSpace2D if isinstance(space, BlendSpace1D) else BlendSpace1D
    with pytest.raises(ValueError, match="kind"):
        other.from_dict(data)
    for change in ({"kind": "3d"}, {"extra": 1}, {"points": []}):
        with pytest.raises(ValueError, match=r"kind|extra|points"):
            space_from_dict(data | change)
    with pytest.raises(AttributeError):
        space.points = ()


def test_a_clip_is_no_data(model: skinpy.Model) -> None:
    with pytest.raises(TypeError, match="give the space its name"):
        BlendSpace1D({0: model.clips[0], 1: "run"}).to_dict()


def test_a_controller_plays_all_clips_of_a_space_at_one_phase(model: skinpy.Model) -> None:
    """Walking (1 s) and running (0.7 s), half of each: a cycle is 0.85 s, and the pose is that of `blend`."""
    controller = skinpy.AnimationController(model)
    track = controller.play(BlendSpace1D({0: "walk", 1: "run"}, 0.5))
    walk, run = model.clips["walk"], model.clips["run"]
    assert track.duration == pytest.approx((walk.duration + run.duration) / 2)
    controller.advance(0.4 * track.duration)
    assert track.phase == pytest.approx(0.4)
    parts = [clip.sample(0.4 * clip.duration) for clip in (walk, run)]
    found, expected = controller.pose(), skinpy.blend(parts, [0.5, 0.5])
    # float32 of size 1, sampled and blended in two orders
    assert np.abs(found.translation - expected.translation).max() < 1e-6
    same = np.abs((found.rotation * expected.rotation).sum(-1))
    assert same.min() > 1 - 1e-6
    track.parameter = 1.0
    assert track.phase == pytest.approx(0.4)
    assert np.abs(controller.pose().translation - parts[1].translation).max() < 1e-6


def test_nothing_jumps_at_edges_and_points_of_a_plane() -> None:
    """Clips that are up to 140 degrees apart, along lines that cross edges and points: no joint turns by more
    than the step explains. With nlerp at an edge and the eigenvector beside it some do."""
    rng = np.random.default_rng(6)
    names, count = [f"j{number}" for number in range(9)], 5
    rest = np.tile(np.eye(4), (9, 1, 1))
    corners: dict[str, Any] = {"positions": np.eye(3), "faces": [[0, 1, 2]], "joints": np.zeros((3, 1), int)}
    model = skinpy.Model.from_arrays(names, np.arange(9) - 1, rest, **corners, weights=np.ones((3, 1)))
    axis = rng.normal(size=(count, 9, 3))
    angle = rng.uniform(0, np.radians(35), (count, 9, 1))  # half of the angle from the rest rotation
    turns = np.concatenate(
        [np.sin(angle) * axis / np.linalg.norm(axis, axis=-1, keepdims=True), np.cos(angle)], -1
    )
    model = model.add_clips(
        [
            skinpy.Clip.from_arrays(name, times=[0.0, 1.0], joints=names, rotation=np.stack([turn, turn]))
            for name, turn in zip("abcdm", turns, strict=True)
        ]
    )
    controller = skinpy.AnimationController(model)
    track = controller.play(BlendSpace2D(SQUARE))
    for start, end in (
        ((0.25, -0.1), (0.25, 1.1)),
        ((0, 0), (1, 1)),
        ((0.3, 0.5), (0.7, 0.5)),
        ((-0.2, 0), (1.2, 0)),
    ):
        found = []
        for u in np.linspace(0, 1, 401):
            track.parameter = (start[0] + u * (end[0] - start[0]), start[1] + u * (end[1] - start[1]))
            found.append(controller.pose().rotation.astype(np.float64))
        cosine = np.abs((np.array(found[1:]) * found[:-1]).sum(-1))
        step = np.degrees(2 * np.arccos(np.minimum(cosine, 1.0))).max()
        assert (
            step < 3.0
        )  # 140 degrees along half a unit, at the steepest some four times as fast; 0.003 units a step
