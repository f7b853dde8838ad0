"""The SIMD kernels of the jobs against the plain path, and both against the float64 twin, on awkward clips.

Tolerance 1e-6 of max(size, largest distance of a joint or vertex from the origin), growing in proportion for
chains deeper than 64 joints: the project's own (api.md, Precision). A matrix is judged by where it puts
points around the joint, no farther from it than a joint is long, which is where vertices are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, get_args

import builders
import numpy as np
import pytest
from conftest import SIMD
from crowd_twin import DEEP, PRECISION, instance_globals, instance_palette
from simd_cases import CASES, LINK, Case

import skinpy
from skinpy import _core
from skinpy._types import Loop, Rotation

LOOPS: tuple[Any, ...] = get_args(Loop)
ROTATIONS: tuple[Any, ...] = get_args(Rotation)


@contextmanager
def running(path: str) -> Iterator[None]:
    before = _core._simd(path)
    try:
        yield
    finally:
        _core._simd(before)


def is_there(path: str) -> bool:
    try:
        with running(path):
            return True
    except ValueError:
        return False


#: The SIMD path of this kind of processor, 64-bit ARM or x86-64; test_avx512.py compares its other one.
FAST = SIMD[1]
needs_simd = pytest.mark.skipif(not is_there(FAST), reason="this processor or this build lacks it")
PATHS = [pytest.param("plain"), pytest.param(FAST, marks=needs_simd)]


@pytest.fixture(scope="module")
def made() -> dict[str, Case]:
    return {}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, made: dict[str, Case]) -> Case:
    name = request.param
    if name not in made:
        made[name] = CASES[name]()
    return made[name]


# ---- how far apart --------------------------------------------------------------------------------------


class Judge:
    """Points around the joints, and the limits that follow from where a pose takes them."""

    def __init__(self, case: Case) -> None:
        self.rig = case.rig
        self.growth = max(1.0, case.depth / DEEP)
        around = np.concatenate([np.zeros((1, 3)), np.eye(3) * LINK])
        self.joint_points = np.broadcast_to(around, (len(self.rig.names), 4, 3))
        bind = np.linalg.inv(self.rig.inverse_bind)
        self.slot_points = around @ bind[:, :3, :3].swapaxes(-1, -2) + bind[:, None, :3, 3]

    @staticmethod
    def moved(matrices: Any, points: Any) -> Any:
        """(...,P,4,3): where matrices (...,P,3|4,4) take their points (P,4,3)."""
        wide = np.asarray(matrices, np.float64)
        return np.einsum("...pij,pkj->...pki", wide[..., :3, :3], points) + wide[..., None, :3, 3]

    @staticmethod
    def reach(points: Any) -> Any:
        """(...): size or largest distance from the origin of points (...,P,4,3)."""
        if not points.size:
            return np.ones(points.shape[:-3])
        size = (points.max((-3, -2)) - points.min((-3, -2))).max(-1)
        return np.maximum(size, np.linalg.norm(points, axis=-1).max((-2, -1)))

    def limit(self, globals_: Any) -> Any:
        """(...): how far from where it should be a point may come to lie."""
        return PRECISION * self.growth * self.reach(self.moved(globals_, self.joint_points))

    def check(self, what: str, got: Any, want: Any, limit: Any) -> None:
        """Matrices of the slots, if `what` is "palette", or of the joints; limit is (...)."""
        points = self.slot_points if what == "palette" else self.joint_points
        here, there = self.moved(got, points), self.moved(want, points)
        limit = np.maximum(limit, PRECISION * self.growth * self.reach(there))
        apart = np.abs(here - there).max((-3, -2, -1), initial=0)
        if not apart.size:
            return
        worst = np.unravel_index(np.argmax(apart / limit), apart.shape)
        assert (apart <= limit).all(), f"{what}{worst}: {(apart / limit)[worst]:.3g} times the limit"


def check_pose(got: Any, want: Any, limit: Any) -> None:
    """T within the limit of points, S and morph weights of their size; quaternions of either sign."""
    assert (np.abs(got[0] - want[0]).max((-2, -1)) <= limit).all()
    q, p = (np.asarray(value[1], np.float64) for value in (got, want))
    flip = np.where((q * p).sum(-1, keepdims=True) < 0, -1.0, 1.0)
    assert np.abs(q * flip - p).max() <= PRECISION
    assert np.abs(got[2] - want[2]).max() <= PRECISION * max(1.0, np.abs(want[2]).max())
    assert np.abs(got[3] - want[3]).max(initial=0) <= PRECISION


def pose_of(model: Any, *arguments: Any, **options: Any) -> tuple[Any, ...]:
    pose = model.pose(*arguments, **options)
    return pose.translation, pose.rotation, pose.scale, pose.morph_weights


# ---- what is asked --------------------------------------------------------------------------------------


def times_of(rng: np.random.Generator, clip: Any, count: int) -> Any:
    """Before, in and after the clip, near and far; its ends; on keys and right beside them."""
    d = clip.duration or 1.0
    lines = [c.times for c in clip.channels] or [np.zeros(1)]
    keys = np.concatenate(lines)
    beside = rng.choice([0.0, 0.0, 1e-9, -1e-9, 1e-3, -1e-3], count)
    some = [
        rng.uniform(-2.5, 3.5, count) * d,
        rng.uniform(0, 1, count) * d,
        rng.choice(keys, count) + beside,
        rng.choice([0.0, d, -d, 2 * d, keys.min() / 2, (keys.max() + d) / 2], count),
        rng.uniform(-1e5, 1e5, count) * d,
    ]
    return np.choose(rng.integers(len(some), size=count), some)


def root_of(rng: np.random.Generator, count: int) -> Any:
    """None, one for all, or one each: turned, moved and scaled."""
    kind = rng.integers(3)
    if kind == 0:
        return None
    many = [
        builders.matrix_of(rng.normal(size=3), builders.quaternions(rng, 1)[0], rng.uniform(0.5, 2, 3))
        for _ in range(1 if kind == 1 else count)
    ]
    return np.array(many[0] if kind == 1 else many, np.float32)


def in_both(job: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, Any]:
    """What the job gives on the SIMD and on the plain path."""
    with running(FAST):
        fast = job(*arguments, **options)
    with running("plain"):
        return fast, job(*arguments, **options)


def compare(case: Case, clip: Any, times: Any, rng: np.random.Generator, **how: Any) -> None:
    """All that can be had of one clip, on both paths."""
    model, judge = case.model, Judge(case)
    root = root_of(rng, times.size)
    if root is not None and root.ndim == 3:
        root = root.reshape(*times.shape, 4, 4)
    affine = bool(rng.integers(2))
    moved = {**how, "root": root}
    fast, plain = in_both(model.globals, clip, times, affine=affine, **moved)
    limit = judge.limit(plain)
    judge.check("globals", fast, plain, limit)
    inverse_root = bool(rng.integers(2))
    pair = in_both(model.palette, clip, times, affine=affine, inverse_root=inverse_root, **moved)
    judge.check("palette", *pair, limit)
    fast, plain = in_both(model.joint_positions, clip, times, **moved)
    assert (np.abs(fast - plain).max((-2, -1)) <= limit).all()
    fast, plain = in_both(pose_of, model, clip, times, **how)
    check_pose(fast, plain, judge.limit(model.globals(clip, times, **how)))
    pose = model.pose(clip, times, **moved)
    judge.check("palette", *in_both(pose.palette, affine=affine), limit)
    judge.check("globals", *in_both(pose.globals), limit)


# ---- the kernels against the plain path ------------------------------------------------------------------


@needs_simd
@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("loop", LOOPS)
def test_one_clip(case: Case, loop: Any, rotation: Any) -> None:
    rng = np.random.default_rng(LOOPS.index(loop))
    for clip in case.clips:
        times = times_of(rng, clip, int(rng.integers(1, 41)))
        compare(case, clip, times, rng, loop=loop, rotation=rotation)


@needs_simd
def test_single_times(case: Case) -> None:
    """One pose has kernels of its own."""
    rng = np.random.default_rng(20)
    for clip in case.clips:
        for number, time in enumerate(times_of(rng, clip, 16)):
            compare(
                case, clip, np.asarray(time), rng, loop=LOOPS[number % 4], rotation=ROTATIONS[number // 4 % 2]
            )


@needs_simd
@pytest.mark.parametrize("name", ["many lines", "far keys, one line", "cubic", "random 103"])
def test_every_number_of_times(name: str) -> None:
    case = CASES[name]()
    rng = np.random.default_rng(30)
    clip = case.clips[0]
    times = times_of(rng, clip, 40)
    judge = Judge(case)
    with running("plain"):
        want, limit = case.model.palette(clip, times), judge.limit(case.model.globals(clip, times))
    with running(FAST):
        for count in range(1, 41):
            memory = np.full((count + 1, *want.shape[1:]), 7, np.float32)
            case.model.palette(clip, times[:count], out=memory[:count])
            judge.check("palette", memory[:count], want[:count], limit[:count])
            assert (memory[count] == 7).all()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", ["coarse ticks", "coarse ticks, merged"])
def test_beside_the_keys_of_others(name: str, path: str) -> None:
    """Nearer to a key than 1e-4 of a tick a step channel is on it; others are where their curve is, even if
    the key is not their own and stands on a line that they share."""
    case = CASES[name]()
    judge = Judge(case)
    for number, clip in enumerate(case.clips):
        keys = np.unique(np.concatenate([c.times for c in clip.channels]))
        tick = 1 / clip.ticks_per_second
        for beside in (-0.9e-4 * tick, -0.5e-4 * tick, -1.1e-4 * tick, 1e-4 * tick):
            inside = keys[(keys > 1e-3) & (keys < clip.duration - tick)]
            times = inside[:: max(1, len(inside) // 8)] + beside
            with running(path):
                got = case.model.globals(clip, times, loop="clamp")
            want = np.stack([case.rig.globals(number, time, loop="clamp") for time in times])
            judge.check("globals", got, want, judge.limit(want))


# ---- crowds ---------------------------------------------------------------------------------------------


def crowd_of(rng: np.random.Generator, case: Case, count: int, k: int) -> tuple[Any, Any, Any]:
    index = rng.integers(-1, len(case.clips), (count, k))
    times = np.stack([times_of(rng, case.clips[0], count) for _ in range(k)], axis=1)
    weights = rng.uniform(0, 1, (count, k)) * (rng.random((count, k)) < 0.8)
    weights[rng.random(count) < 0.2] *= 0.05
    return index, times, weights


def steady(case: Case, index: Any, times: Any, weights: Any, **how: Any) -> Any:
    """(N,): whether an instance's blended rotations have a direction.

    Two must not be at a right angle to each other, as quaternions; of more, one eigenvalue must be the
    largest.
    """
    q = np.stack([case.model.pose(clip, times, **how).rotation for clip in case.clips]).astype(np.float64)
    q = np.take_along_axis(q, np.maximum(index, 0)[None, ..., None, None], 0)[0]  # (N,K,J,4)
    rest = np.broadcast_to(case.model.skeleton.rotation.astype(np.float64), (len(q), 1, *q.shape[2:]))
    weights = np.where(index < 0, 0.0, weights)
    missing = np.maximum(0.1 - weights.sum(1), 0)[:, None]
    weights, q = np.concatenate([weights, missing], 1), np.concatenate([q, rest], 1)
    sums = np.einsum("nk,nkji,nkjl->njil", weights / weights.sum(1, keepdims=True), q, q)
    eigenvalues = np.linalg.eigvalsh(sums)
    apart = (eigenvalues[..., 3] - eigenvalues[..., 2]).min(-1)
    used = weights > 0
    first, last = used.argmax(1), used.shape[1] - 1 - used[:, ::-1].argmax(1)
    each = np.arange(len(q))
    dots = np.abs((q[each, first] * q[each, last]).sum(-1)).min(-1)
    return (used.sum(1) < 2) | np.where(used.sum(1) == 2, dots > 1e-4, apart > 0.1)


@needs_simd
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_crowds(case: Case, k: int) -> None:
    rng = np.random.default_rng(40 + k)
    model, judge = case.model, Judge(case)
    for _ in range(2):
        count = int(rng.integers(1, 41))
        cells = crowd_of(rng, case, count, k)
        how: dict[str, Any] = {"loop": LOOPS[rng.integers(4)], "rotation": ROTATIONS[rng.integers(2)]}
        clear = steady(case, *cells, **how)
        how |= {"affine": bool(rng.integers(2)), "inverse_root": bool(rng.integers(2))}
        index, times, weights = cells
        fast, plain = in_both(
            model.crowd_palette, case.clips, index, times, weights=weights, root=root_of(rng, count), **how
        )
        assert np.isfinite(fast).all()
        judge.check("palette", fast[clear], plain[clear], judge.limit(model.globals()))


@needs_simd
def test_every_number_of_instances() -> None:
    case = CASES["random 104"]()
    rng = np.random.default_rng(31)
    index, times, weights = crowd_of(rng, case, 40, 3)
    clear = steady(case, index, times, weights)
    judge = Judge(case)
    limit = judge.limit(case.model.globals())
    with running("plain"):
        want = case.model.crowd_palette(case.clips, index, times, weights=weights)
    with running(FAST):
        for count in range(1, 41):
            memory = np.full((count + 1, *want.shape[1:]), 7, np.float32)
            case.model.crowd_palette(
                case.clips, index[:count], times[:count], weights=weights[:count], out=memory[:count]
            )
            here = clear[:count]
            judge.check("palette", memory[:count][here], want[:count][here], limit)
            assert (memory[count] == 7).all()


@needs_simd
@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_large_crowd_of_many_clips(k: int) -> None:
    """More instances than a range holds, of clips that few, many or none of them show; some stand twice."""
    cases = [CASES[name]() for name in ("one line", "many lines", "cubic", "random 105")]
    rng = np.random.default_rng(32)
    for case in cases:
        clips = [case.clips[number % len(case.clips)] for number in range(9)]
        case = Case(case.model, clips, case.rig)
        index, times, weights = crowd_of(rng, case, 333, k)
        index[rng.random(index.shape) < 0.5] = 4
        index[index == 7] = -1
        weights[rng.random(333) < 0.05] = 0
        how: dict[str, Any] = {"weights": weights, "root": root_of(rng, 333)}
        fast, plain = in_both(case.model.crowd_palette, clips, index, times, **how)
        clear = steady(case, index, times, weights)
        judge = Judge(case)
        judge.check("palette", fast[clear], plain[clear], judge.limit(case.model.globals()))
        rest = ((weights == 0) | (index < 0)).all(1)
        assert rest.any()
        assert np.abs(fast[rest] - plain[rest]).max() <= PRECISION * np.abs(plain[rest]).max()


# ---- against the float64 twin ---------------------------------------------------------------------------


def steady_times(rng: np.random.Generator, clip: Any, count: int) -> Any:
    """No key, and no seam of the loop, within a millionth of a second."""
    d = clip.duration or 1.0
    keys = np.concatenate([[0.0, d], *(c.times for c in clip.channels)])
    times = rng.uniform(-1.5, 2.5, 4 * count) * d
    phase = np.mod(times, 2 * d)
    phase = np.stack([np.mod(times, d), np.where(phase > d, 2 * d - phase, phase), times])
    apart = np.abs(phase[..., None] - keys).min((0, -1))
    return times[apart > 1e-5][:count]


@pytest.mark.parametrize("path", PATHS)
def test_one_clip_in_float64(case: Case, path: str) -> None:
    rng = np.random.default_rng(60)
    model, judge, rig = case.model, Judge(case), case.rig
    for number, clip in enumerate(case.clips):
        for loop, rotation in zip(LOOPS, ROTATIONS * 2, strict=True):
            how: dict[str, Any] = {"loop": loop, "rotation": rotation}
            times = steady_times(rng, clip, 3)
            root, inverse_root = root_of(rng, len(times)), bool(rng.integers(2))
            with running(path):
                got = model.globals(clip, times, root=root, **how)
                palette = model.palette(clip, times, root=root, inverse_root=inverse_root, **how)
                pose = pose_of(model, clip, times, **how)
            for i, time in enumerate(times):
                front = root if root is None or root.ndim == 2 else root[i]
                globals_ = rig.globals(number, time, root=front, **how)
                limit = judge.limit(globals_)
                judge.check("globals", got[i], globals_, limit)
                judge.check("palette", palette[i], instance_palette(rig, globals_, inverse_root), limit)
                weights = pose[3][i]  # the twin has none
                check_pose([part[i] for part in pose], [*rig.pose(number, time, **how), weights], limit)


@pytest.mark.parametrize("path", PATHS)
def test_crowds_in_float64(case: Case, path: str) -> None:
    rng = np.random.default_rng(70)
    judge = Judge(case)
    for k in (1, 2, 4):
        index, _, weights = crowd_of(rng, case, 3, k)
        times = np.resize(steady_times(rng, case.clips[0], 3 * k), (3, k))
        with running(path):
            got = case.model.crowd_palette(case.clips, index, times, weights=weights)
        for n in np.flatnonzero(steady(case, index, times, weights)):
            globals_ = instance_globals(case.rig, list(zip(index[n], times[n], weights[n], strict=True)))
            limit = judge.limit(globals_)
            judge.check("palette", got[n], instance_palette(case.rig, globals_), limit)


# ---- deep chains ------------------------------------------------------------------------------------------


def turned_chain(seed: int, depth: int, kind: str) -> tuple[Any, Any]:
    """A chain without lengths, three keys of any rotations a joint; what the last joint shows in float64."""
    rng = np.random.default_rng(seed)
    keys = rng.normal(size=(3, depth, 4)).astype(np.float32)
    keys /= np.linalg.norm(keys, axis=-1, keepdims=True)
    names = [f"j{i}" for i in range(depth)]
    clip = skinpy.Clip.from_arrays("turns", fps=1, joints=names, rotation=keys, interpolation=kind)
    model = skinpy.Model.from_arrays(
        names,
        np.arange(-1, depth - 1),
        np.tile(np.eye(4), (depth, 1, 1)),
        positions=np.eye(3),
        faces=[[0, 1, 2]],
        joints=[[depth - 1]] * 3,
        weights=[[1]] * 3,
        clips=[clip],
    )
    whole = np.eye(3)
    for channel in sorted(model.clips[0].channels, key=lambda channel: channel.joint):
        a, b = (np.asarray(channel.values[i], np.float64) for i in (1, 2))
        if kind == "linear":
            b = b if a @ b >= 0 else -b
            angle = np.arccos(min(1.0, a @ b / np.linalg.norm(a) / np.linalg.norm(b)))
            a = (np.sin(0.63 * angle) * a + np.sin(0.37 * angle) * b) / np.sin(angle)
        x, y, z, w = a / np.linalg.norm(a)
        turn = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
        whole = whole @ np.array(turn)
    return model, whole


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", ["step", "linear"])
@pytest.mark.parametrize("depth", [8, 12, 13, 16, 17, 24, 25, 40, 64])
def test_rotations_at_the_end_of_deep_chains(depth: int, kind: str, path: str) -> None:
    """Every entry of the last matrix within 1e-6, whatever the way to it; turns are as large as they get."""
    for seed in range(8):
        model, want = turned_chain(seed, depth, kind)
        with running(path):
            shown = {
                "one": model.palette(0, 1.37)[0],
                "batch": model.palette(0, [1.37] * 5)[3, 0],
                "globals": model.globals(0, 1.37)[-1],
                "pose": model.pose(0, 1.37).palette()[0],
                "blend": model.crowd_palette([0, 0], [[0, 1]] * 3, [[1.37] * 2] * 3)[1, 0],
            }
        for way, matrix in shown.items():
            assert np.abs(matrix[:3, :3] - want).max() <= PRECISION, f"{way}, seed {seed}"


@pytest.mark.parametrize("path", PATHS)
def test_uneven_rest_matrices(path: str) -> None:
    """Inverse binds that stretch one way hundreds of times more than another lose no digits."""
    rng = np.random.default_rng(51)
    rest = np.tile(np.eye(4), (3, 1, 1))
    rest[:, :3, :3] += rng.normal(size=(3, 3, 3)) * 0.4
    rest[:, :3, 3] = rng.normal(size=(3, 3))
    model = skinpy.Model.from_arrays(
        ["a", "b", "c"],
        [-1, 0, 1],
        rest,
        positions=np.eye(3),
        faces=[[0, 1, 2]],
        joints=[[2]] * 3,
        weights=[[1]] * 3,
    )
    want = np.eye(4)
    for local in np.asarray(model.skeleton.rest_local, np.float64):
        want = want @ local
    want = want @ np.asarray(model.skin.inverse_bind[0], np.float64)
    with running(path):
        shown = model.palette(None)[0], model.palette(None, [0.0] * 4)[2, 0], model.pose().palette()[0]
    for matrix in shown:
        assert np.abs(matrix - want).max() <= PRECISION


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_rotation_that_is_no_number_shows(bad: float, path: str) -> None:
    pose = skinpy.character().pose()
    pose.rotation[2] = bad
    with running(path):
        assert np.isnan(pose.globals()[2]).any()
