"""Poses, globals, palettes and deformed vertices against the float64 twin, and the rules of the calls.

The tolerance everywhere is the specification's: 1e-6 of max(size, largest distance of a joint or vertex from
the origin) for chains up to 64 joints deep, growing in proportion beyond.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
from builders import AWKWARD, Gltf
from twin import Rig, clip_time

import skinpy

PRECISION = 1e-6
DEEP = 64

MODELS: dict[str, Callable[[], Gltf]] = {
    **AWKWARD,
    **{f"seed {s}": lambda s=s: builders.random_model(s) for s in range(4)},
}


class Pair:
    """A loaded model and its twin."""

    def __init__(self, file: Gltf, **options: Any) -> None:
        self.model = skinpy.load(file.glb(), format="glb", **options)
        self.rig = Rig.of(self.model)

    def reach(self, globals_: Any, positions: Any) -> float:
        """What one part in a million is taken of, with the growth for deep chains."""
        return self.rig.reach(globals_, positions) * max(1.0, self.rig.depth() / DEEP)


@pytest.fixture(scope="module")
def cache() -> dict[str, Pair]:
    return {}


@pytest.fixture
def pair(request: pytest.FixtureRequest, cache: dict[str, Pair]) -> Pair:
    name = request.param
    if name not in cache:
        cache[name] = Pair(MODELS[name]())
    return cache[name]


@pytest.fixture(scope="module")
def mixed() -> Pair:
    """Step, linear and cubic on T, R and S, no two channels with the same keys; rigid boxes."""
    return Pair(builders.mixed_channels())


@pytest.fixture(scope="module")
def skinned() -> Pair:
    return Pair(builders.shear())


@pytest.fixture(scope="module")
def prop() -> Pair:
    """Several submeshes, skinned and rigid, below a root that is not the identity."""
    return Pair(builders.mesh_nodes())


def times_of(duration: float, seed: int = 0, count: int = 6) -> Any:
    """Some times before, in and after the loop, among them both ends."""
    rng = np.random.default_rng(seed)
    return np.concatenate([[0.0, duration], rng.uniform(-1.5, 2.5, count) * max(duration, 0.5)])


# ---------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("pair", MODELS, indirect=True)
@pytest.mark.parametrize("rotation", ["slerp", "nlerp"])
def test_values(pair: Pair, rotation: str) -> None:
    """Pose, globals, palette, joint positions and vertices of every model, in and out of the loop."""
    model, rig = pair.model, pair.rig
    for q, clip in enumerate(model.clips):
        times = times_of(clip.duration, q)
        poses = model.pose(clip, times, rotation=rotation)
        globals_ = model.globals(clip, times, rotation=rotation)
        palettes = model.palette(clip, times, rotation=rotation)
        positions, normals = model.deform(palettes)
        for i, t in enumerate(times):
            compare_pose(poses, i, rig.pose(q, t, rotation=rotation))
            want = rig.globals(q, t, rotation=rotation)
            moved, turned = rig.deform(q, t, rotation=rotation)
            limit = PRECISION * pair.reach(want, moved)
            assert_near(globals_[i], want, limit, rig.reach(want, moved))
            assert_near(palettes[i], rig.palette(q, t, rotation=rotation), limit, palette_reach(rig))
            assert np.abs(positions[i] - moved).max(initial=0) <= limit
            assert_normals(normals[i], turned, pair, q, t, rotation)


def compare_pose(poses: Any, i: int, want: tuple[Any, Any, Any]) -> None:
    """T and S to float32 of their size; quaternions to a few units of it, of either sign."""
    for got, value in ((poses.translation[i], want[0]), (poses.scale[i], want[2])):
        assert np.abs(got - value).max() <= 2e-7 * max(1.0, float(np.abs(value).max()))
    q = poses.rotation[i].astype(np.float64)
    flip = np.where((q * want[1]).sum(-1, keepdims=True) < 0, -1, 1)
    assert np.abs(q * flip - want[1]).max() <= 5e-7


def palette_reach(rig: Rig) -> float:
    """How far bind-space vertices are from the origin: what a palette's 3x3 is multiplied by."""
    return float(np.linalg.norm(rig.positions, axis=-1).max(initial=1e-3))


def assert_near(got: Any, want: Any, limit: float, reach: float) -> None:
    """Matrices: the translation within `limit`; the 3x3 within it at `reach` from the origin, and no closer
    than float32 holds its entries."""
    if not got.size:
        assert want.size == 0
        return
    entries = float(np.abs(want[..., :3, :3]).max())
    moved = float(np.abs(want[..., :3, 3]).max())
    assert np.abs(got - want)[..., :3, 3].max() <= max(limit, PRECISION * moved)
    assert np.abs(got - want)[..., :3, :3].max() <= max(limit / reach, PRECISION * entries)
    assert np.array_equal(got[..., 3, :], np.broadcast_to([0, 0, 0, 1], got[..., 3, :].shape))


def assert_normals(got: Any, want: Any, pair: Pair, q: int, t: float, rotation: str) -> None:
    """Unit and in the right direction, wherever the blended matrix is far enough from flat to have one."""
    rig = pair.rig
    blended = np.einsum("vk,vkij->vij", rig.weights, rig.palette(q, t, rotation=rotation)[rig.slots])
    values = np.linalg.svd(blended[:, :3, :3], compute_uv=False)
    firm = values[:, 2] > 0.05 * values[:, 0]
    error = np.abs(got - want).max(-1)[firm]
    assert error.max(initial=0) <= 2e-5
    assert np.allclose(np.linalg.norm(got, axis=-1)[firm], 1, atol=1e-6)


@pytest.mark.parametrize("joints", [64, 128, 256, 512])
def test_deep_chains(joints: int) -> None:
    """The error grows in proportion to the depth, not faster."""
    pair = Pair(builders.chain(joints))
    times = times_of(pair.model.clips[0].duration)
    assert pair.rig.depth() >= joints
    positions, _ = pair.model.deform(pair.model.palette(0, times))
    for i, t in enumerate(times):
        moved, _ = pair.rig.deform(0, t)
        limit = PRECISION * pair.reach(pair.rig.globals(0, t), moved)
        assert np.abs(positions[i] - moved).max() <= limit


def test_float32_key_times() -> None:
    """Key times of one third and of 1/24 s: keys are where the file has them, to half a tick's tolerance."""
    file = Gltf()
    node = file.node("box")
    times = np.arange(1, 40, dtype=np.float32) / np.float32(24)
    values = np.arange(39)[:, None] * np.ones(3)
    file.animation("count", file.channel(node, "translation", times, values, "step"))
    model = skinpy.load(file.glb(), format="glb")
    got = model.pose(0, times.astype(np.float64)).translation[:, model.skeleton.index("box"), 0]
    assert np.array_equal(got, values[:, 0])
    exact = model.pose(0, np.arange(1, 40) / 24).translation[:, model.skeleton.index("box"), 0]
    assert np.array_equal(exact, values[:, 0])


def test_step_on_and_beside_a_key() -> None:
    file = Gltf()
    node = file.node("box")
    file.animation("jump", file.channel(node, "scale", (0, 0.5, 1.0), [[1] * 3, [2] * 3, [3] * 3], "step"))
    model = skinpy.load(file.glb(), format="glb")
    joint = model.skeleton.index("box")
    got = model.pose(0, [0.5 - 1e-6, 0.5 - 5e-8, 0.5, 0.75, 1.0 - 1e-6, 1.0], loop="clamp")
    assert got.scale[:, joint, 0].tolist() == [1, 2, 2, 2, 2, 3]


@pytest.mark.parametrize("degrees", [0.01, 30, 179, 181, 300, 359.99])
def test_slerp_and_nlerp(degrees: float) -> None:
    """The shorter arc, at constant speed for slerp; nlerp has the same ends and middle."""
    file = Gltf()
    node = file.node("box")
    turns = [builders.about((1, 2, 3), 10), builders.about((1, 2, 3), 10 + degrees)]
    file.animation("turn", file.channel(node, "rotation", (0, 1), turns))
    model = skinpy.load(file.glb(), format="glb")
    short = degrees if degrees <= 180 else degrees - 360
    u = np.linspace(0, 1, 11)
    got = model.pose(0, u, loop="clamp").rotation[:, -1].astype(np.float64)
    want = np.array([builders.about((1, 2, 3), 10 + short * x) for x in u])
    want *= np.sign((got * want).sum(-1, keepdims=True))
    assert np.abs(got - want).max() <= 3e-7
    chord = model.pose(0, u, loop="clamp", rotation="nlerp").rotation[:, -1]
    ends = chord[[0, 5, 10]] * np.sign((chord * got).sum(-1, keepdims=True))[[0, 5, 10]]
    assert np.abs(ends - got[[0, 5, 10]]).max() <= 3e-7
    assert np.allclose(np.linalg.norm(chord, axis=-1), 1, atol=2e-7)


# ---------------------------------------------------------------------------------------------- time


LOOPS = [
    # loop, time in durations, time in the clip in durations
    ("wrap", 0.0, 0.0),
    ("wrap", 1.0, 1.0),
    ("wrap", 2.0, 0.0),
    ("wrap", 3.0, 0.0),
    ("wrap", 0.25, 0.25),
    ("wrap", 1.25, 0.25),
    ("wrap", 7.75, 0.75),
    ("wrap", -0.25, 0.75),
    ("wrap", -1.0, 0.0),
    ("wrap", -3.5, 0.5),
    ("clamp", -0.5, 0.0),
    ("clamp", 0.5, 0.5),
    ("clamp", 1.0, 1.0),
    ("clamp", 9.0, 1.0),
    ("once", -0.5, 0.0),
    ("once", 1.0, 1.0),
    ("once", 5.25, 1.0),
    ("pingpong", 0.0, 0.0),
    ("pingpong", 0.75, 0.75),
    ("pingpong", 1.0, 1.0),
    ("pingpong", 1.25, 0.75),
    ("pingpong", 2.0, 0.0),
    ("pingpong", 2.5, 0.5),
    ("pingpong", -0.25, 0.25),
    ("pingpong", -1.0, 1.0),
    ("pingpong", -1.5, 0.5),
]


@pytest.fixture(scope="module")
def ruler() -> Any:
    """A clip of 2 s in which a box moves by its time: x = t, with a turn so that the ends differ."""
    file = Gltf()
    node = file.node("box")
    file.animation("ruler", file.channel(node, "translation", (0, 2), [(0, 0, 0), (2, 0, 0)]))
    return skinpy.load(file.glb(), format="glb")


@pytest.mark.parametrize(("loop", "time", "inside"), LOOPS)
def test_loop_modes(ruler: Any, loop: str, time: float, inside: float) -> None:
    got = ruler.joint_positions("ruler", 0.0)  # the plain call exists and starts at the start
    assert got[-1, 0] == 0.0
    for call in (ruler.globals, lambda c, t, **o: ruler.pose(c, t, **o).globals()):
        assert call("ruler", 2.0 * time, loop=loop)[-1, 0, 3] == pytest.approx(2.0 * inside, abs=1e-6)
    assert clip_time(2.0 * time, 2.0, loop) == pytest.approx(2.0 * inside)


@pytest.mark.parametrize("ticks", [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
def test_the_seam(ruler: Any, ticks: float) -> None:
    """Within 1e-4 tick of d is the end pose; past it the clip starts again."""
    time = 2.0 + ticks * 1e-4 / ruler.clips[0].ticks_per_second * 0.999
    got = ruler.globals("ruler", time)[-1, 0, 3]
    assert got == pytest.approx(0.0 if ticks > 1 else 2.0, abs=1e-6)
    assert ruler.globals("ruler", 2 * time)[-1, 0, 3] == pytest.approx(0.0 if ticks >= 0 else 2.0, abs=1e-6)


def test_zero_duration() -> None:
    model = skinpy.load(builders.single_key().glb(), format="glb")
    assert model.clips[0].duration == 0
    for loop in ("wrap", "clamp", "pingpong", "once"):
        got = model.globals(0, [-3.0, 0.0, 0.1, 1e9], loop=loop)
        assert (got == got[0]).all()
        assert got[0, -1, :3, 3].tolist() == [1, 2, 3]


def test_rest_pose(skinned: Pair) -> None:
    model, rig = skinned.model, skinned.rig
    rest = rig.globals(None)
    limit = PRECISION * skinned.reach(rest, rig.positions)
    assert np.abs(model.pose().globals() - rest).max() <= limit
    assert np.abs(model.globals(None, 3.0) - rest).max() <= limit
    assert np.abs(model.skeleton.rest_global - rest).max() <= limit
    assert np.array_equal(model.pose().locals(), model.skeleton.rest_local)


def test_rest_matrix_with_shear() -> None:
    """The rest matrix itself while T, R and S are bit-equal to the rest; T*R*S once one differs."""
    model = skinpy.load(builders.matrix_nodes().glb(), format="glb")
    rig = Rig.of(model)
    joint = model.skeleton.index("sheared")
    pose = model.pose(0, 0.5)
    assert np.array_equal(pose.locals()[joint], model.skeleton.rest_local[joint])
    pose.translation[joint, 0] = np.nextafter(pose.translation[joint, 0], np.float32(9))
    t, q, s = (np.asarray(a, np.float64) for a in (pose.translation, pose.rotation, pose.scale))
    assert np.abs(pose.locals() - rig.locals(t, q, s)).max() <= 1e-6
    assert np.abs(pose.locals()[joint] - model.skeleton.rest_local[joint]).max() > 0.05


# ---------------------------------------------------------------------------------------------- options


def a_root(seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    t, q, s = rng.normal(size=3), builders.quaternions(rng, 1)[0], (2.0, 0.5, 1.5)
    return builders.matrix_of(t, q, s).astype(np.float32)


def test_root(prop: Pair) -> None:
    model, rig, root = prop.model, prop.rig, a_root()
    want = rig.palette(0, 0.3, root=root)
    limit = PRECISION * prop.reach(rig.globals(0, 0.3, root=root), rig.positions)
    for got in (
        model.palette(0, 0.3, root=root),
        model.palette(0, 0.3, root=root.astype(np.float64)),
        model.pose(0, 0.3, root=root).palette(),
    ):
        assert_near(got, want, limit, palette_reach(rig))
    assert_near(model.globals(0, 0.3, root=root), rig.globals(0, 0.3, root=root), limit, 1.0)


def test_a_root_for_every_time(prop: Pair) -> None:
    model, rig = prop.model, prop.rig
    times = np.array([[0.1, 0.2, 0.9], [1.4, -0.3, 0.0]])
    roots = np.array([a_root(i) for i in range(6)]).reshape(2, 3, 4, 4)
    got = model.globals(0, times, root=roots)
    assert got.shape == (2, 3, len(rig.names), 4, 4)
    for i in np.ndindex(2, 3):
        assert_near(got[i], rig.globals(0, times[i], root=roots[i]), 1e-5, 1.0)


def test_inverse_root(prop: Pair) -> None:
    """The inverse of the root's REST global in front of everything, `root=` included."""
    model, rig, root = prop.model, prop.rig, a_root()
    limit = PRECISION * prop.reach(rig.globals(0, 0.3, root=root), rig.positions)
    for options in ({}, {"root": root}):
        got = model.palette(0, 0.3, inverse_root=True, **options)
        want = rig.palette(0, 0.3, inverse_root=True, **options)
        assert_near(got, want, limit, palette_reach(rig))
        again = model.pose(0, 0.3, **options).palette(inverse_root=True)
        assert np.abs(got - again).max() <= limit


def near(got: Any, want: Any) -> bool:
    """A pose's rotations are rounded to float once more than those that go straight into a matrix."""
    return bool(np.abs(got - want).max() <= 5e-7 * max(1.0, np.abs(want).max()))


def test_affine_and_rows(prop: Pair) -> None:
    """3x4 are the first three rows of 4x4; row vectors are the transpose."""
    model = prop.model
    full = model.palette(0, [0.1, 0.4])
    assert np.array_equal(model.palette(0, [0.1, 0.4], affine=True), full[..., :3, :])
    assert near(model.pose(0, [0.1, 0.4]).palette(affine=True), full[..., :3, :])
    assert np.array_equal(model.globals(0, 0.1, affine=True), model.globals(0, 0.1)[:, :3])
    assert np.array_equal(model.deform(full)[0], model.deform(np.ascontiguousarray(full[..., :3, :]))[0])
    v = np.array([1.0, 2.0, 3.0, 1.0])
    assert np.allclose(skinpy.to_row_vectors(full[0, 0]), full[0, 0].T)
    assert np.allclose(v @ skinpy.to_row_vectors(full[0, 0]), full[0, 0] @ v)


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (2, 1, 3), (0,), (2, 0)])
def test_shapes(prop: Pair, shape: tuple[int, ...]) -> None:
    """The shape of the times is in front of every result, also where nothing is asked for."""
    model = prop.model
    joints, slots, vertices = len(model.skeleton.names), len(model.skin.joints), len(model.mesh.positions)
    times = np.linspace(0, 1, int(np.prod(shape))).reshape(shape)
    pose = model.pose(0, times)
    assert pose.translation.shape == (*shape, joints, 3)
    assert pose.rotation.shape == (*shape, joints, 4)
    assert pose.scale.shape == (*shape, joints, 3)
    assert pose.locals().shape == pose.globals().shape == (*shape, joints, 4, 4)
    assert pose.palette().shape == model.palette(0, times).shape == (*shape, slots, 4, 4)
    assert model.globals(0, times).shape == (*shape, joints, 4, 4)
    assert model.joint_positions(0, times).shape == (*shape, joints, 3)
    positions, normals = model.deform(pose)
    assert positions.shape == normals.shape == (*shape, vertices, 3)
    assert model.deform(pose, normals=False)[1] is None
    for array in (pose.locals(), model.palette(0, times), positions):
        assert array.dtype == np.float32 and array.flags.c_contiguous and array.flags.writeable


@pytest.mark.parametrize("times", [0, 0.5, np.float32(0.5), [0.1, 0.2], (0, 1), np.arange(3, dtype=np.int32)])
def test_what_a_time_may_be(prop: Pair, times: Any) -> None:
    want = prop.model.globals(0, np.asarray(times, np.float64))
    assert np.array_equal(prop.model.globals(0, times), want)


def test_batches_are_bit_equal_to_single_calls(skinned: Pair) -> None:
    model = skinned.model
    times = np.linspace(-1, 2, 21)
    palettes = model.palette(0, times)
    positions, normals = model.deform(palettes)
    poses = model.pose(0, times)
    for i, t in enumerate(times):
        assert np.array_equal(palettes[i], model.palette(0, t))
        assert near(palettes[i], model.pose(0, t).palette())
        assert np.array_equal(poses.rotation[i], model.pose(0, float(t)).rotation)
        one, turned = model.deform(palettes[i])
        assert np.array_equal(one, positions[i]) and np.array_equal(turned, normals[i])
    assert near(poses.palette(), palettes)
    assert near(model.deform(poses)[0], positions)


def test_joint_positions(prop: Pair) -> None:
    times = [[0.0, 0.3], [0.7, 2.0]]
    got = prop.model.joint_positions(0, times)
    assert np.abs(got - prop.model.globals(0, times)[..., :3, 3]).max() <= 1e-6


def test_pose_is_the_callers(skinned: Pair) -> None:
    """Writing to a pose changes what is computed from it, and nothing else."""
    model, rig = skinned.model, skinned.rig
    pose, other = model.pose(0, 0.4), model.pose(0, 0.4)
    pose.translation[1] += (1, 2, 3)
    pose.rotation[2] = builders.about((0, 0, 1), 77)
    pose.scale[3] *= 2
    t, q, s = (np.asarray(a, np.float64) for a in (pose.translation, pose.rotation, pose.scale))
    want = rig.chain(rig.locals(t, q, s))
    limit = PRECISION * skinned.reach(want, rig.positions)
    assert np.abs(pose.globals() - want).max() <= 4 * limit
    assert np.abs(pose.palette() - other.palette()).max() > 0.1
    assert near(other.palette(), model.palette(0, 0.4))


def test_out(prop: Pair) -> None:
    """`out` receives the result, is returned, and may be one of many frames."""
    model = prop.model
    joints, slots, vertices = len(model.skeleton.names), len(model.skin.joints), len(model.mesh.positions)
    ring = np.full((4, slots, 3, 4), np.nan, np.float32)
    assert model.palette(0, 0.3, out=ring[1], affine=True) is not None
    assert np.array_equal(ring[1], model.palette(0, 0.3, affine=True))
    assert np.isnan(ring[[0, 2, 3]]).all()
    for call, shape in (
        (lambda out: model.globals(0, [0.1, 0.2], out=out), (2, joints, 4, 4)),
        (lambda out: model.palette(0, [0.1, 0.2], out), (2, slots, 3, 4)),
        (lambda out: model.pose(0, [0.1, 0.2]).locals(out), (2, joints, 3, 4)),
        (lambda out: model.pose(0, [0.1, 0.2]).globals(out), (2, joints, 4, 4)),
        (lambda out: model.pose(0, [0.1, 0.2]).palette(out), (2, slots, 4, 4)),
    ):
        out = np.full(shape, np.nan, np.float32)
        assert call(out) is out
        assert np.isfinite(out).all()
    pair = (np.empty((2, vertices, 3), np.float32), np.empty((2, vertices, 3), np.float32))
    got = model.deform(model.pose(0, [0.1, 0.2]), out=pair)
    assert got[0] is pair[0] and got[1] is pair[1]
    assert near(pair[0], model.deform(model.palette(0, [0.1, 0.2]))[0])


def test_clip_is_an_index_a_name_or_a_clip(prop: Pair) -> None:
    model = prop.model
    want = model.palette(0, 0.3)
    for clip in ("swing", model.clips[0], model.clips["swing"], -1, np.int64(0)):
        assert np.array_equal(model.palette(clip, 0.3), want)
        assert near(model.pose(clip, 0.3).palette(), want)
    assert model.clips.names == ("swing",) and "swing" in model.clips and "walk" not in model.clips


# ---------------------------------------------------------------------------------------------- ownership


def test_arrays_outlive_the_model() -> None:
    model = skinpy.load(builders.shear().glb(), format="glb")
    copies, views = [], []
    arrays = [model.skeleton.parents, model.skeleton.rest_global, model.mesh.positions, model.mesh.weights]
    arrays += [model.skin.inverse_bind, model.mesh.faces, model.mesh.interleaved]
    arrays += [model.clips[0].channels[0].times, model.clips[0].channels[0].values]
    for array in arrays:
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        copies.append(array.copy())
        views.append(array)
    pose = model.pose(0, 0.2)
    want = pose.palette().copy()
    del model, arrays, array
    gc.collect()
    junk = [np.zeros(10000) for _ in range(100)]  # written over whatever was freed
    assert all(np.array_equal(a, b) for a, b in zip(copies, views, strict=True))
    assert np.array_equal(pose.palette(), want) and junk


# ---------------------------------------------------------------------------------------------- storage


def same_model(a: Any, b: Any) -> None:
    """Bit-equal in everything that a model shows."""
    assert a.skeleton.names == b.skeleton.names and a.clips.names == b.clips.names
    for part, fields in (
        ("skeleton", ("parents", "translation", "rotation", "scale", "rest_local", "rest_global")),
        ("mesh", ("positions", "normals", "uvs", "colors", "tangents", "slots", "weights", "faces")),
        ("skin", ("joints", "inverse_bind")),
    ):
        for field in fields:
            x, y = getattr(getattr(a, part), field), getattr(getattr(b, part), field)
            assert (x is None) == (y is None)
            assert x is None or (x.tobytes() == y.tobytes() and x.shape == y.shape and x.dtype == y.dtype)
    assert [(s.name, s.node, s.vertex_range, s.face_range) for s in a.mesh.submeshes] == [
        (s.name, s.node, s.vertex_range, s.face_range) for s in b.mesh.submeshes
    ]
    assert [(e.code, e.severity, e.count) for e in a.report] == [
        (e.code, e.severity, e.count) for e in b.report
    ]
    assert (a.up, a.unit_meters) == (b.up, b.unit_meters)
    for x, y in zip(a.clips, b.clips, strict=True):
        assert (x.name, x.duration, x.ticks_per_second) == (y.name, y.duration, y.ticks_per_second)
        times = times_of(x.duration)
        assert a.palette(x, times).tobytes() == b.palette(y, times).tobytes()


@pytest.mark.parametrize("name", ["shear", "mesh_nodes", "mixed_channels", "awkward_names", "uneven_weights"])
def test_pickle_and_save(name: str, tmp_path: Path) -> None:
    model = skinpy.load(MODELS[name]().glb(), format="glb")
    same_model(model, pickle.loads(pickle.dumps(model)))
    model.save(tmp_path / "m.skn")
    same_model(model, skinpy.load(tmp_path / "m.skn"))
    same_model(model, skinpy.load(str(tmp_path / "m.skn"), mmap=True))
    same_model(model, skinpy.load((tmp_path / "m.skn").read_bytes(), format="skn"))


# ---------------------------------------------------------------------------------------------- from arrays


def arrays(rng: Any, joints: int = 6, vertices: int = 30) -> dict[str, Any]:
    parents = np.array([-1, *(int(rng.integers(j)) for j in range(1, joints))])
    rest = np.array(
        [builders.matrix_of(rng.normal(size=3), q, (1, 1, 1)) for q in builders.quaternions(rng, joints)]
    )
    index, weight = builders.skin_weights(rng, vertices, joints)
    return {
        "names": [f"n{j}" for j in range(joints)],
        "parents": parents,
        "rest": rest.astype(np.float32),
        "positions": rng.normal(size=(vertices, 3)).astype(np.float32),
        "faces": np.arange(vertices).reshape(-1, 3),
        "joints": index,
        "weights": weight.astype(np.float32),
        "inverse_bind": None,
    }


def bound_globals(a: dict[str, Any]) -> Any:
    out = np.array(a["rest"], np.float64)
    for j, parent in enumerate(a["parents"]):
        out[j] = out[j] if parent < 0 else out[parent] @ out[j]
    return out


def test_model_from_arrays() -> None:
    a = arrays(np.random.default_rng(20))
    inverse = np.linalg.inv(bound_globals(a)).astype(np.float32)
    model = skinpy.Model.from_arrays(
        a["names"],
        a["parents"],
        a["rest"],
        positions=a["positions"],
        faces=a["faces"],
        joints=a["joints"],
        weights=a["weights"],
        inverse_bind=inverse,
    )
    assert model.skeleton.names == tuple(a["names"])
    assert np.array_equal(model.skeleton.parents, a["parents"])
    assert np.array_equal(model.mesh.positions, a["positions"])
    assert np.array_equal(model.skin.joints[model.mesh.slots], order_of(a))
    assert np.abs(model.deform(model.pose())[0] - a["positions"]).max() <= 1e-5
    assert model.mesh.normals.shape == (30, 3)


def order_of(a: dict[str, Any]) -> Any:
    """The joints of every vertex, the heaviest first."""
    return np.take_along_axis(a["joints"], np.argsort(-a["weights"], 1, kind="stable"), 1)


@pytest.mark.parametrize("how", ["fps", "times"])
@pytest.mark.parametrize("interpolation", ["linear", "step"])
def test_clip_from_arrays(how: str, interpolation: str) -> None:
    rng = np.random.default_rng(21)
    a = arrays(rng)
    model = skinpy.Model.from_arrays(
        a["names"],
        a["parents"],
        a["rest"],
        positions=a["positions"],
        faces=a["faces"],
        joints=a["joints"],
        weights=a["weights"],
    )
    times = np.arange(9) / 30 if how == "fps" else np.sort(rng.uniform(0, 2, 9))
    translation = rng.normal(size=(9, 2, 3)).astype(np.float32)
    rotation = builders.quaternions(rng, 18).reshape(9, 2, 4).astype(np.float32)
    clip = skinpy.Clip.from_arrays(
        "made",
        **({"fps": 30} if how == "fps" else {"times": times}),
        joints=["n4", "n1"],
        translation=translation,
        rotation=rotation,
        interpolation=interpolation,
    )
    assert clip.name == "made" and clip.model is None
    assert clip.duration == pytest.approx(times[-1], abs=1e-12)
    with pytest.raises(ValueError, match="add_clips"):
        model.pose(clip, 0.0)
    grown = model.add_clips(clip)
    assert "made" in grown.clips and "made" not in model.clips
    assert grown.clips["made"].model is grown
    rig = Rig.of(grown)
    for t in (0.0, 0.11, float(times[-1]), 0.9 * float(times[-1])):
        want = rig.globals("made", t)
        assert np.abs(grown.globals("made", t) - want).max() <= PRECISION * 4 * rig.reach(want, rig.positions)
    at_key = grown.pose("made", times[3])
    assert np.abs(at_key.translation[[4, 1]] - translation[3]).max() <= 1e-6


# ---------------------------------------------------------------------------------------------- errors


def test_unknown_clip(prop: Pair) -> None:
    for call in (prop.model.pose, prop.model.palette, prop.model.globals, prop.model.joint_positions):
        with pytest.raises(KeyError, match="swing"):
            call("swnig", 0.0)
    with pytest.raises(KeyError, match="swing"):
        prop.model.clips["Swing"]
    with pytest.raises(IndexError):
        prop.model.pose(3, 0.0)
    with pytest.raises(TypeError):
        prop.model.pose(1.5, 0.0)
    with pytest.raises(KeyError, match="hand"):
        prop.model.skeleton.index("hnad")


@pytest.mark.parametrize("time", [np.nan, np.inf, -np.inf, [0.0, np.nan], np.array([[0.0, 1.0, np.inf]])])
def test_times_that_are_not_finite(prop: Pair, time: Any) -> None:
    out = np.full((*np.shape(time), len(prop.model.skin.joints), 4, 4), 7.0, np.float32)
    for call in (prop.model.pose, prop.model.globals, prop.model.joint_positions):
        with pytest.raises(ValueError, match=r"time"):
            call(0, time)
    with pytest.raises(ValueError, match=r"time"):
        prop.model.palette(0, time, out=out)
    assert (out == 7).all()


def test_options_that_do_not_exist(prop: Pair) -> None:
    with pytest.raises(ValueError, match="wrap"):
        prop.model.palette(0, 0.0, loop="again")
    with pytest.raises(ValueError, match="slerp"):
        prop.model.palette(0, 0.0, rotation="squad")
    with pytest.raises(TypeError):
        prop.model.palette(0, 0.0, colour="red")


def bad_outs(shape: tuple[int, ...]) -> Iterator[tuple[str, Any, type[Exception], str]]:
    """What `out` must not be, one line each: name, value, exception, what the message has to name."""
    good = np.full(shape, 7.0, np.float32)
    frozen = good.copy()
    frozen.flags.writeable = False
    yield "a list", good.tolist(), TypeError, "ndarray"
    yield "bytes", bytearray(good.nbytes), TypeError, "ndarray"
    yield "one slot too many", np.zeros((shape[0] + 1, *shape[1:]), np.float32), ValueError, str(shape[0])
    yield "no leading axis", np.zeros((1, *shape), np.float32), ValueError, r"\(1, "
    yield "one axis less", np.zeros(shape[:-1], np.float32), ValueError, "shape"
    yield "3x3", np.zeros((*shape[:-2], 3, 3), np.float32), ValueError, "3, 3"
    yield "float64", good.astype(np.float64), ValueError, "float64.*float32|float32.*float64"
    yield "int32", good.astype(np.int32), ValueError, "int32.*float32|float32.*int32"
    yield "big endian", good.astype(">f4"), ValueError, "byte order|>f4|native"
    yield "fortran order", np.asfortranarray(np.full(shape, 7.0, np.float32)), ValueError, "contiguous"
    yield "every second", np.full((2 * shape[0], *shape[1:]), 7.0, np.float32)[::2], ValueError, "contiguous"
    yield "read-only", frozen, ValueError, "read-only"


@pytest.mark.parametrize("which", range(12))
@pytest.mark.parametrize(
    "call", ["model.palette", "model.globals", "pose.locals", "pose.globals", "pose.palette"]
)
def test_bad_out(prop: Pair, call: str, which: int) -> None:
    """Refused with both sides named, and nothing written."""
    model = prop.model
    count = len(model.skin.joints) if call.endswith("palette") else len(model.skeleton.names)
    name, out, error, words = list(bad_outs((count, 4, 4)))[which]
    before = np.array(out, copy=True) if isinstance(out, np.ndarray) else out
    pose = model.pose(0, 0.1)
    functions = {
        "model.palette": lambda: model.palette(0, 0.1, out=out),
        "model.globals": lambda: model.globals(0, 0.1, out=out),
        "pose.locals": lambda: pose.locals(out),
        "pose.globals": lambda: pose.globals(out=out),
        "pose.palette": lambda: pose.palette(out=out),
    }
    with pytest.raises(error, match=words):
        functions[call]()
    assert not isinstance(out, np.ndarray) or np.array_equal(out, before), name


def test_out_against_affine(prop: Pair) -> None:
    """`affine` and what `out` has must not contradict each other."""
    model, slots = prop.model, len(prop.model.skin.joints)
    with pytest.raises(ValueError, match="affine"):
        model.palette(0, 0.0, out=np.zeros((slots, 4, 4), np.float32), affine=True)
    with pytest.raises(ValueError, match="affine"):
        model.palette(0, 0.0, out=np.zeros((slots, 3, 4), np.float32), affine=False)


def test_out_that_overlaps_an_input(prop: Pair) -> None:
    model = prop.model
    joints, vertices = len(model.skeleton.names), len(model.mesh.positions)
    memory = np.zeros(64 + 2 * 16 * joints, np.float32)
    root = memory[:16].reshape(4, 4)
    root[...] = np.eye(4)
    out = memory[8 : 8 + 16 * joints].reshape(joints, 4, 4)
    with pytest.raises(ValueError, match="overlap"):
        model.globals(0, 0.1, out=out, root=root)
    palette = model.palette(0, 0.1)
    both = np.zeros((vertices, 3), np.float32)
    with pytest.raises(ValueError, match="overlap"):
        model.deform(palette, out=(both, both))
    pose = model.pose(0, 0.1)
    if pose.translation.size >= joints * 3:
        with pytest.raises(ValueError, match=r"overlap|shape"):
            pose.globals(out=pose.rotation)


def test_bad_deform(prop: Pair) -> None:
    model = prop.model
    slots, vertices = len(model.skin.joints), len(model.mesh.positions)
    palette = model.palette(0, 0.1)
    good = np.zeros((vertices, 3), np.float32)
    for bad, words in (
        (palette[:-1], str(slots)),
        (palette[:, :3, :3], "3, 3"),
        (palette[0], "shape"),
        (np.full_like(palette, np.nan)[..., :2], "shape"),
    ):
        with pytest.raises(ValueError, match=words):
            model.deform(bad)
    for out, error in (
        (good, (TypeError, ValueError)),
        ((good,), (TypeError, ValueError)),
        ((good, good.tolist()), TypeError),
        ((good.astype(np.float64), good.copy()), ValueError),
        ((np.zeros((vertices + 1, 3), np.float32), good.copy()), ValueError),
        ((np.zeros((2, vertices, 3), np.float32), good.copy()), ValueError),
    ):
        with pytest.raises(error):
            model.deform(palette, out=out)
    assert (good == 0).all()
    with pytest.raises(TypeError):
        model.deform("swing")


def test_pose_of_another_model(prop: Pair, skinned: Pair) -> None:
    with pytest.raises(ValueError, match="model"):
        prop.model.deform(skinned.model.pose(0, 0.1))
    with pytest.raises(ValueError, match="add_clips"):
        prop.model.palette(skinned.model.clips[0], 0.1)


def test_bad_roots(prop: Pair) -> None:
    for root in (np.eye(3), np.zeros((2, 4, 4)), np.eye(4)[None], "up"):
        with pytest.raises((ValueError, TypeError), match="root"):
            prop.model.globals(0, [0.1, 0.2, 0.3], root=root)
        with pytest.raises((ValueError, TypeError)):
            prop.model.pose(0, [0.1, 0.2, 0.3], root=root).globals()


BAD_ARRAYS = [
    ("parents", lambda a: [0, 0, 0, 0, 0, 0]),
    ("parents", lambda a: [-1, 2, 1, 0, 0, 0]),
    ("parents", lambda a: [-1, 0, 0]),
    ("names", lambda a: ["a", "b"]),
    ("rest", lambda a: np.zeros((6, 3, 3))),
    ("rest", lambda a: np.full((6, 4, 4), np.nan)),
    ("positions", lambda a: a["positions"][:, :2]),
    ("positions", lambda a: np.full((30, 3), np.inf)),
    ("faces", lambda a: [[0, 1, 30]]),
    ("faces", lambda a: [[0, 1]]),
    ("joints", lambda a: np.full((30, 4), 6)),
    ("joints", lambda a: a["joints"][:5]),
    ("weights", lambda a: a["weights"][:, :2]),
    ("weights", lambda a: -a["weights"]),
    ("inverse_bind", lambda a: np.zeros((5, 4, 4))),
]


@pytest.mark.parametrize("which", range(len(BAD_ARRAYS)))
def test_bad_arrays(which: int) -> None:
    a = arrays(np.random.default_rng(22))
    name, spoil = BAD_ARRAYS[which]
    a[name] = spoil(a)
    with pytest.raises((ValueError, TypeError)):
        skinpy.Model.from_arrays(
            a["names"],
            a["parents"],
            a["rest"],
            positions=a["positions"],
            faces=a["faces"],
            joints=a["joints"],
            weights=a["weights"],
            inverse_bind=a["inverse_bind"],
        )


@pytest.mark.parametrize(
    "options",
    [
        {"fps": 30, "times": [0, 1], "translation": np.zeros((2, 1, 3))},
        {"translation": np.zeros((2, 1, 3))},
        {"fps": 0, "translation": np.zeros((2, 1, 3))},
        {"fps": np.nan, "translation": np.zeros((2, 1, 3))},
        {"times": [0, 0], "translation": np.zeros((2, 1, 3))},
        {"times": [1, 0], "translation": np.zeros((2, 1, 3))},
        {"times": [0, np.inf], "translation": np.zeros((2, 1, 3))},
        {"times": [0, 1, 2], "translation": np.zeros((2, 1, 3))},
        {"fps": 30, "translation": np.zeros((2, 2, 3))},
        {"fps": 30, "translation": np.zeros((2, 1, 4))},
        {"fps": 30, "translation": np.full((2, 1, 3), np.nan)},
        {"fps": 30, "rotation": np.zeros((2, 1, 3))},
        {"fps": 30, "translation": np.zeros((2, 1, 3)), "interpolation": "spline"},
    ],
)
def test_bad_clip_arrays(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        skinpy.Clip.from_arrays("bad", joints=["n0"], **options)
