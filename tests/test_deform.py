"""Skinning on the CPU: the plain path and the SIMD kernels against formulas in float64."""

import gc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from conftest import SIMD

import skinpy
from skinpy import _core

EPSILON = 6e-8  # half a unit in the last place of a float32 near 1
BLOCK = 128  # vertices that the jobs take at once; the tests only choose counts near it
SHARED = 512  # and where vertices share their slots

Make = Callable[..., skinpy.Model]


@pytest.fixture(
    params=[
        "plain",
        *(f"{simd}{more}" for simd in SIMD[1:] for more in ("", ", shared slots")),
    ]
)
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """Makes models, and runs a test once on each path; there is one more where vertices share their slots."""
    before = _core._simd(None)
    try:
        _core._simd(request.param.split(",")[0])
    except ValueError:
        pytest.skip("this processor or this build lacks it")
    yield partial(build, shared="shared" in request.param)
    _core._simd(before)


@pytest.fixture
def threads() -> Iterator[None]:
    before = skinpy.get_num_threads()
    yield
    skinpy.set_num_threads(before)


def build(
    seed: int,
    vertices: int,
    influences: int,
    joints: int = 11,
    targets: Any = None,
    mixed: bool = True,
    shared: bool = False,
) -> skinpy.Model:
    rng = np.random.default_rng(seed)
    rest = np.tile(np.eye(4), (joints, 1, 1))
    weights = rng.uniform(0.1, 1, (vertices, influences))
    slots = rng.permutation(vertices * influences).reshape(vertices, influences) % joints
    if mixed:  # each vertex has a number of its own of influences
        weights[np.arange(influences) >= rng.integers(1, influences + 1, (vertices, 1))] = 0
    if shared:  # of 200 neighbors 1 to 19 have the same ones, in any order, each with its own weights
        sets = rng.permutation(np.repeat(np.arange(20), [*range(1, 20), 10]))
        some = np.arange(vertices) // 200 * 20 + np.resize(sets, vertices)
        some = np.minimum(some, vertices - 1)
        slots = np.resize(rng.permutation(joints), slots.shape)
        weights = np.where(weights[some] > 0, rng.uniform(0.1, 1, (vertices, influences)), 0)
        order = np.argsort(rng.uniform(size=(vertices, influences)), axis=1)
        weights, slots = (np.take_along_axis(a, order, 1) for a in (weights, slots[some]))
    normals = rng.normal(0, 1, (vertices, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    normals[rng.uniform(size=vertices) < 0.05] = 0
    return skinpy.Model.from_arrays(
        [f"j{i}" for i in range(joints)],
        np.arange(joints) - 1,
        rest,
        positions=rng.uniform(-1, 1, (vertices, 3)),
        normals=normals,
        faces=rng.integers(0, max(vertices, 1), (8 if vertices else 0, 3)),
        joints=slots,
        weights=weights,
        targets=targets,
    )


def rotations(rng: Any, count: int) -> Any:
    turns, _ = np.linalg.qr(rng.normal(0, 1, (count, 3, 3)))
    return turns * np.sign(np.linalg.det(turns))[:, None, None]


def palette_of(kind: str, count: int, seed: int = 5) -> Any:
    rng = np.random.default_rng(seed)
    near = np.eye(3) + rng.normal(0, 0.2, (count, 3, 3))  # far enough from singular when blended
    turns = rotations(rng, count)
    each = rng.uniform(-1, 1, (count, 1, 1))
    found = {
        "near": near,
        "turns": turns,
        "mirrored": near * [[-1], [1], [1]],
        "some mirrored": turns * np.where(each > 0, 1, -1),
        "uneven": near * [[1e-3], [1], [50]],
        "tiny": near * 1e-16,
        "huge": near * 1e16,
        "all sizes": near * 10.0 ** (12 * each),
        "flat": near * [[1], [0], [1]],
        "zero": near * (each > 0),
    }[kind]
    moves = rng.uniform(-3, 3, (count, 3, 1)) * np.abs(found).max((1, 2), keepdims=True)
    return np.concatenate([found, moves], axis=2).astype(np.float32)


KINDS = ["near", "turns", "mirrored", "some mirrored", "uneven", "tiny", "huge", "all sizes", "flat", "zero"]


def cofactors(m: Any, sign: float) -> Any:
    """Rows: cross products of the rows of m; with sign +1 in place of -1 a bound of their terms."""

    def cross(a: Any, b: Any) -> Any:
        return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] + sign * a[..., [2, 0, 1]] * b[..., [1, 2, 0]]

    x, y, z = m[..., 0, :], m[..., 1, :], m[..., 2, :]
    return np.stack([cross(y, z), cross(z, x), cross(x, y)], axis=-2)


def check(model: skinpy.Model, palette: Any, got: Any, points: Any = None, normals: Any = None) -> None:
    """Float64 truth. Each sum may be off by its rounded steps times the sum of its terms' sizes."""
    mesh, steps = model.mesh, model.mesh.weights.shape[1] + 6
    points = mesh.positions.astype(np.float64) if points is None else points
    normals = mesh.normals.astype(np.float64) if normals is None else normals
    weights, m = mesh.weights.astype(np.float64), palette.astype(np.float64)[mesh.slots][..., :3, :]
    blended, sizes = (np.einsum("vk,vkij->vij", weights, x) for x in (m, np.abs(m)))
    want = np.einsum("vij,vj->vi", blended[..., :3], points) + blended[..., 3]
    terms = np.einsum("vij,vj->vi", sizes[..., :3], np.abs(points)) + sizes[..., 3]
    assert (np.abs(got[0] - want) <= steps * EPSILON * terms).all()
    assert got[0].dtype == np.float32 and steps * EPSILON < 1e-6
    if got[1] is not None:
        check_normals(blended[..., :3], sizes[..., :3], normals, got[1], steps)


def check_normals(blended: Any, sizes: Any, normals: Any, got: Any, steps: int) -> None:
    turned = np.einsum("vij,vj->vi", cofactors(blended, -1), normals)
    length = np.linalg.norm(turned, axis=1)
    terms = np.linalg.norm(np.einsum("vij,vj->vi", cofactors(sizes, 1), np.abs(normals)), axis=1)
    zero = (normals == 0).all(1) | (terms == 0)
    assert (got[zero] == 0).all()
    # What blending and cofactors may be off, against the length; where that is much it says nothing.
    error = 2 * steps * EPSILON * terms[~zero] / np.maximum(length[~zero], 1e-300)
    sure = error < 0.05
    assert np.abs(np.linalg.norm(got[~zero][sure], axis=1) - 1).max(initial=0) < 5e-7
    determinant = np.linalg.det(blended)[~zero]
    largest = np.einsum("vj,vj->v", sizes[:, 0], cofactors(sizes, 1)[:, 0])[~zero]
    known = np.abs(determinant) > 2 * steps * EPSILON * largest  # else either sign is right
    want = (turned / np.maximum(length, 1e-300)[:, None])[~zero] * np.where(determinant < 0, -1, 1)[:, None]
    flipped = np.where((np.einsum("vi,vi->v", want, got[~zero]) < 0) & ~known, -1, 1)[:, None]
    off = np.linalg.norm(got[~zero] - flipped * want, axis=1)
    assert (off[sure] <= 5e-7 + 1.5 * error[sure]).all()
    assert sure.any() or zero.all() or len(error) < 20


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("influences", [1, 2, 3, 4, 5, 6, 7, 8])
def test_every_number_of_influences(make: Make, kind: str, influences: int) -> None:
    model = make(influences, 2 * BLOCK + 77, influences)
    palette = palette_of(kind, len(model.skin.joints))
    check(model, palette, model.deform(palette))


@pytest.mark.parametrize(
    "vertices",
    [1, 2, 7, 8, 9, 15, 16, 17, BLOCK - 9, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 5]
    + [SHARED - 1, SHARED, SHARED + 1, 2 * SHARED + 3],
)
@pytest.mark.parametrize("mixed", [False, True])
def test_every_number_of_vertices(make: Make, vertices: int, mixed: bool) -> None:
    model = make(3, vertices, 4, mixed=mixed)
    palette = palette_of("near", len(model.skin.joints))
    rows = np.zeros((len(palette), 4, 4), np.float32)  # 4x4, the last row of which is not looked at
    rows[:, :3] = palette
    check(model, palette, model.deform(palette))
    for a, b in zip(model.deform(palette), model.deform(rows), strict=True):
        np.testing.assert_array_equal(a, b)
    alone, nothing = model.deform(palette, normals=False)
    np.testing.assert_array_equal(alone, model.deform(palette)[0])
    assert nothing is None


@pytest.mark.parametrize("joints", [1, 8192, 8193, 65535])
def test_many_slots(make: Make, joints: int) -> None:
    """Each of them is used."""
    model = make(7, 11 * (joints // 4) + 211, 4, joints=joints, mixed=False)
    assert len(model.skin.joints) == joints
    palette = palette_of("near", joints)
    check(model, palette, model.deform(palette))


@pytest.mark.parametrize("offset", range(1, 8))
def test_arrays_may_start_at_any_float(make: Make, offset: int) -> None:
    model = make(9, BLOCK + 13, 4)
    count, palette = model.mesh.positions.size, palette_of("turns", len(model.skin.joints))
    memory = np.full((2, count + 16), np.float32(77))
    out = tuple(row[offset : offset + count].reshape(-1, 3) for row in memory)
    given = np.empty(palette.size + 8, np.float32)[offset:][: palette.size].reshape(palette.shape)
    given[:] = palette
    model.deform(given, out=out)
    check(model, palette, out)
    for row in memory:  # nothing beside it was written
        assert (row[:offset] == 77).all() and (row[offset + count :] == 77).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
def test_numbers_that_are_none_stay_with_their_vertices(make: Make, bad: float) -> None:
    model = make(13, 2 * BLOCK + 3, 4)
    palette = palette_of("near", len(model.skin.joints))
    clean = model.deform(palette)
    palette[2] = bad
    touched = ((model.mesh.slots == 2) & (model.mesh.weights > 0)).any(1)
    assert touched.any() and not touched.all()
    for got, want in zip(model.deform(palette), clean, strict=True):
        np.testing.assert_allclose(got[~touched], want[~touched], rtol=0, atol=1e-5)


def test_both_paths_agree_where_one_lane_leaves_the_range_of_float() -> None:
    """Slot 0 is tiny, slot 1 is not: neighbors in one vector take different ways and come out alike."""
    model = build(17, 64, 1, joints=2)
    palette = palette_of("near", 2)
    palette[0, :, :3] *= 1e-20
    check(model, palette, model.deform(palette))
    before = _core._simd("plain")
    plain = model.deform(palette)
    _core._simd(before)
    np.testing.assert_allclose(model.deform(palette)[1], plain[1], rtol=0, atol=2e-6)


# ---- morph targets, poses, batches, threads ----------------------------------------------------------


def test_morph_targets_cross_blocks(make: Make) -> None:
    """Dense, sparse and idle targets, weights of their own for each palette."""
    rng, count = np.random.default_rng(19), 3 * BLOCK + 31
    sparse = np.zeros((count, 3))
    sparse[[0, BLOCK - 1, BLOCK, count - 1]] = 1, 2, 3
    middle = np.zeros((count, 3))
    middle[BLOCK + 3 : BLOCK + 90] = rng.normal(0, 1, (87, 3))
    turns = rng.normal(0, 0.3, (count, 3))
    targets = {
        "dense": (rng.normal(0, 0.2, (count, 3)), turns),
        "sparse": sparse,
        "middle": (middle, np.where(middle != 0, turns, 0)),
        "idle": np.zeros((count, 3)),
    }
    model = make(19, count, 4, targets=targets)
    palettes = np.stack([palette_of("turns", len(model.skin.joints), seed) for seed in range(5)])
    weights = rng.uniform(-1, 1, (5, 4)).astype(np.float32)
    weights[1] = 0
    weights[2, 0] = weights[3, [0, 2]] = 0
    positions, normals = model.deform(palettes, morph_weights=weights)
    for n in range(5):
        points, directions = (a.astype(np.float64) for a in (model.mesh.positions, model.mesh.normals))
        for target, weight in zip(model.targets, weights[n].astype(np.float64), strict=True):
            points[target.vertices] += weight * target.positions
            if target.normals is not None:
                directions[target.vertices] += weight * target.normals
        check_near(model, palettes[n], (positions[n], normals[n]), points, directions)


def check_near(model: skinpy.Model, palette: Any, got: Any, points: Any, normals: Any) -> None:
    """Like check, but the points themselves are sums of four float32 products: 1e-6 of the size."""
    blended = np.einsum(
        "vk,vkij->vij", model.mesh.weights.astype(np.float64), palette.astype(np.float64)[model.mesh.slots]
    )
    want = np.einsum("vij,vj->vi", blended[..., :3], points) + blended[..., 3]
    assert np.abs(got[0] - want).max() <= 1e-6 * np.abs(want).max()
    turned = np.einsum("vij,vj->vi", cofactors(blended[..., :3], -1), normals)
    turned *= np.sign(np.linalg.det(blended[..., :3]))[:, None]
    length = np.linalg.norm(turned, axis=1, keepdims=True)
    long = (length > 0.02)[:, 0]  # shorter ones are what is left of larger terms
    assert np.abs(got[1] - turned / np.maximum(length, 1e-30))[long].max() <= 5e-5


def test_a_pose_is_deformed_as_its_palette(make: Make) -> None:
    model = make(23, BLOCK + 50, 4, targets={"up": np.tile([0.0, 1, 0], (BLOCK + 50, 1))})
    pose = model.pose(time=np.arange(7))
    rng = np.random.default_rng(1)
    pose.rotation[:] = rng.normal(0, 1, pose.rotation.shape)
    pose.rotation /= np.linalg.norm(pose.rotation, axis=-1, keepdims=True)
    pose.morph_weights[:] = rng.uniform(-1, 1, pose.morph_weights.shape)
    got = model.deform(pose)
    want = model.deform(pose.palette(), morph_weights=pose.morph_weights)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_any_number_of_threads_gives_the_same_bits(make: Make, threads: None) -> None:
    shape = np.random.default_rng(2).normal(0, 1, (70_001, 3))
    shape[::3] = 0
    large = make(29, 70_001, 4, targets={"all": shape})
    small = make(31, 300, 4)
    pose = small.pose(time=np.linspace(0, 1, 400))
    pose.translation[:] = np.random.default_rng(3).normal(0, 1, pose.translation.shape)
    batch = np.stack([palette_of("near", 11, seed) for seed in range(300)])
    jobs = [
        lambda: large.deform(palette_of("near", 11), morph_weights=[0.5]),
        lambda: large.deform(batch[:3], morph_weights=[[0.5], [0], [2]]),
        lambda: small.deform(batch),
        lambda: small.deform(pose),
    ]
    skinpy.set_num_threads(1)
    alone = [job() for job in jobs]
    for count in (2, 3, 7):
        skinpy.set_num_threads(count)
        for job, want in zip(jobs, alone, strict=True):
            for a, b in zip(job(), want, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("vertices", "offset"), [(300, 0), (300, 1), (301, 0)])
def test_large_results_are_the_small_ones(make: Make, vertices: int, offset: int) -> None:
    """More than 16 MiB, which are written past caches of up to twice that, where aligned to 16 bytes."""
    model, count = make(43, vertices, 4), 2400
    batch = np.stack([palette_of("near", 11, seed) for seed in range(8)])
    memory = np.empty((2, count * vertices * 3 + 4), np.float32)
    starts = [-(row.ctypes.data // 4) % 4 + offset for row in memory]
    out = tuple(
        row[start : start + count * vertices * 3].reshape(count, vertices, 3)
        for row, start in zip(memory, starts, strict=True)
    )
    model.deform(np.tile(batch, (count // 8, 1, 1, 1)), out=out)
    for got, want in zip(out, model.deform(batch), strict=True):
        np.testing.assert_array_equal(got, np.tile(want, (count // 8, 1, 1)))


def test_no_vertices_and_no_palettes(make: Make) -> None:
    model = make(37, 20, 4)
    empty = np.empty((0, 11, 3, 4), np.float32)
    assert [a.shape for a in model.deform(empty) if a is not None] == [(0, 20, 3), (0, 20, 3)]


@pytest.mark.parametrize("shared", [False, True])
def test_what_deforming_keeps_goes_with_the_model(shared: bool) -> None:
    model = build(41, 5000, 4, shared=shared)
    palette = palette_of("near", 11)
    gc.collect()
    first = _core._bytes_in_use()
    want = model.deform(palette)
    kept = _core._bytes_in_use() - first
    if _core._simd(None) != "plain":
        if shared:  # a place, weights, points and normals of a vertex, some of them twice
            assert 5000 * (2 + 24) < kept <= 5000 * (2 + 4 * 4 + 24) * 1.6
        else:  # a place, slots and weights
            assert 0 < kept <= 5000 * (2 + 4 * 6) + 10_000
    assert _core._bytes_in_use() - first == kept
    np.testing.assert_array_equal(model.deform(palette)[0], want[0])
    assert _core._bytes_in_use() - first == kept
    del model
    gc.collect()
    assert _core._bytes_in_use() < first
