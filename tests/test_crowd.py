"""Model.crowd_palette: against its float64 twin, against skinpy.blend, by properties, and what it refuses.

Tolerance 1e-6 of the reach, the project's own for palettes (api.md, Precision); crowd_twin.assert_palette
says what that means for a matrix."""

import gc
import sys
import threading
from typing import Any

import builders
import numpy as np
import pytest
from crowd_twin import assert_palette, instance_globals, instance_palette, reach_of
from twin import Rig

import skinpy
from skinpy import Clip, Model, _core

ALL_K = (1, 2, 3, 4)


class Crowd:
    """A model, its twin, and random instances of it."""

    def __init__(self, model: Model) -> None:
        self.model, self.rig = model, Rig.of(model)
        self.bind_reach = float(np.linalg.norm(self.rig.positions, axis=-1).max(initial=1e-3))

    def instances(self, seed: int, count: int, k: int) -> tuple[Any, Any, Any]:
        """Every clip and none; times before, in and after the clips; some weights are 0 or little."""
        rng = np.random.default_rng([seed, count, k])
        index = rng.integers(-1, len(self.model.clips), (count, k))
        longest = max((clip.duration for clip in self.model.clips), default=1.0)
        weights = rng.uniform(0, 1, (count, k)) * (rng.random((count, k)) < 0.8)
        weights[rng.random(count) < 0.2] *= 0.05
        return index, rng.uniform(-1.5, 2.5, (count, k)) * longest, weights

    def check(self, got: Any, index: Any, time: Any, weights: Any, **options: Any) -> None:
        """All instances against the twin."""
        inverse_root, root = options.pop("inverse_root", False), options.pop("root", None)
        for n, row in enumerate(zip(index, time, weights, strict=True)):
            sources = list(zip(*row, strict=True))
            front = None if root is None else np.broadcast_to(root, (len(index), 4, 4))[n]
            globals_ = instance_globals(self.rig, sources, front, **options)
            want = instance_palette(self.rig, globals_, inverse_root)
            assert_palette(got[n], want, reach_of(self.rig, globals_), self.bind_reach)


MODELS = {
    "random 8": lambda: builders.random_model(31, joints=8, vertices=500, clips=3).glb(),
    "random 40": lambda: builders.random_model(32, joints=40, vertices=500, shared_times=False).glb(),
    "mixed": lambda: builders.mixed_channels().glb(),
    "sheared": lambda: builders.shear().glb(),
    "mirrored": lambda: builders.negative_scale().glb(),
    "deep": lambda: builders.chain(150).glb(),
    "all in float": lambda: builders.random_model(
        33, joints=9, vertices=500, kinds=("linear",), clips=3
    ).glb(),
    "a line of 13": lambda: builders.chain(13).glb(),
    "one key": lambda: builders.single_late_key().glb(),
    "no keys": lambda: builders.empty_clip().glb(),
}


@pytest.fixture(scope="module", params=MODELS)
def crowd(request: pytest.FixtureRequest) -> Crowd:
    return Crowd(skinpy.load(MODELS[request.param](), format="glb"))


@pytest.fixture(scope="module")
def walkers() -> Crowd:
    return Crowd(skinpy.character())


def a_root(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    turn = builders.quaternions(rng, 1)[0]
    return builders.matrix_of(rng.normal(size=3), turn, rng.uniform(0.5, 2, 3)).astype(np.float32)


# ---- values -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", ALL_K)
def test_instances_are_those_of_the_twin(crowd: Crowd, k: int) -> None:
    index, time, weights = crowd.instances(1, 7, k)
    got = crowd.model.crowd_palette(crowd.model.clips, index, time, weights=weights)
    crowd.check(got, index, time, weights)


@pytest.mark.parametrize("rotation", ["slerp", "nlerp"])
@pytest.mark.parametrize("loop", ["wrap", "clamp", "pingpong", "once"])
def test_loops_and_rotations(walkers: Crowd, loop: Any, rotation: Any) -> None:
    index, time, weights = walkers.instances(2, 5, 2)
    got = walkers.model.crowd_palette(
        walkers.model.clips, index, time, weights=weights, loop=loop, rotation=rotation
    )
    walkers.check(got, index, time, weights, loop=loop, rotation=rotation)


@pytest.mark.parametrize("inverse_root", [False, True])
@pytest.mark.parametrize("each", [False, True])
def test_roots(crowd: Crowd, each: bool, inverse_root: bool) -> None:
    index, time, weights = crowd.instances(3, 4, 3)
    root = np.stack([a_root(n) for n in range(4)]) if each else a_root(9)
    options: dict[str, Any] = {"root": root, "inverse_root": inverse_root}
    got = crowd.model.crowd_palette(crowd.model.clips, index, time, weights=weights, **options)
    crowd.check(got, index, time, weights, **options)


@pytest.mark.parametrize("k", ALL_K)
def test_an_instance_is_the_palette_of_skinpy_blend(crowd: Crowd, k: int) -> None:
    """Unused places are left out of the blend; without any there is the rest pose."""
    model = crowd.model
    index, time, weights = crowd.instances(4, 9, k)
    got = model.crowd_palette(model.clips, index, time, weights=weights)
    for n in range(len(index)):
        used = [i for i in range(k) if index[n, i] >= 0]
        poses = [model.pose(int(index[n, i]), time[n, i]) for i in used]
        pose = skinpy.blend(poses, weights[n, used]) if poses else model.pose()
        want = pose.palette().astype(np.float64)
        assert_palette(got[n], want, reach_of(crowd.rig, pose.globals().astype(np.float64)), crowd.bind_reach)


def test_one_clip_is_model_palette(walkers: Crowd) -> None:
    model, times = walkers.model, np.linspace(-1, 5, 23)
    got = model.crowd_palette(["run"], np.zeros(23, int), times)
    assert_palette(got, model.palette("run", times).astype(np.float64), 2.0, walkers.bind_reach)


def test_two_clips_half_and_half_by_hand() -> None:
    """One joint: from a quarter turn about z and x = 0 to none and x = 4: 45 degrees and x = 2."""
    names, rest = ["only"], np.eye(4)[None]
    mesh = {"positions": np.eye(3), "faces": [[0, 1, 2]], "joints": [[0]] * 3, "weights": np.ones((3, 1))}
    quarter = [0, 0, np.sin(np.pi / 4), np.cos(np.pi / 4)]
    clips = [
        Clip.from_arrays(
            "a", times=[0.0], joints=names, rotation=[[quarter]], translation=np.zeros((1, 1, 3))
        ),
        Clip.from_arrays("b", times=[0.0], joints=names, translation=[[[4, 0, 0]]]),
    ]
    model = Model.from_arrays(names, [-1], rest, **mesh, clips=clips)
    got = model.crowd_palette(["a", "b"], [[0, 1], [0, -1], [-1, -1]], 0.0, affine=True)
    half = np.sqrt(0.5)
    assert np.allclose(got[0, 0], [[half, -half, 0, 2], [half, half, 0, 0], [0, 0, 1, 0]], atol=1e-6)
    assert np.allclose(got[1, 0], [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]], atol=1e-6)
    assert np.array_equal(got[2, 0], np.eye(4)[:3])


def turner() -> Model:
    """Three joints, and clips that hold each at a turn about an axis: x, y or z, to or fro."""
    names, rest = ["a", "b", "c"], np.tile(np.eye(4), (3, 1, 1))
    rest[1:, 1, 3] = 0.5
    mesh = {
        "positions": np.eye(3),
        "faces": [[0, 1, 2]],
        "joints": [[0], [1], [2]],
        "weights": np.ones((3, 1)),
    }
    clips = [
        Clip.from_arrays("still", times=[0.0], joints=names, rotation=np.tile([0, 0, 0, 1.0], (1, 3, 1)))
    ]
    for degrees in (180, 179.99, 170, -170):
        for axis in np.eye(3):
            turn = np.tile(builders.about(axis, degrees), (1, 3, 1))
            clips.append(Clip.from_arrays(f"{axis} {degrees}", times=[0.0], joints=names, rotation=turn))
    return Model.from_arrays(names, [-1, 0, 1], rest, **mesh, clips=clips)


@pytest.mark.parametrize("k", ALL_K[1:])
def test_rotations_that_nearly_cancel(k: int) -> None:
    """Where float would lose digits, or the side to which a half turn goes: as right as elsewhere, and each
    instance the same to the bit whoever stands beside it."""
    crowd, rng = Crowd(turner()), np.random.default_rng(k)
    index, weights = rng.integers(0, len(crowd.model.clips), (200, k)), rng.uniform(0.5, 1, (200, k))
    weights[:60] = 1.0
    got = crowd.model.crowd_palette(crowd.model.clips, index, 0.0, weights=weights)
    distances = np.array([distance(crowd.rig, i, w) for i, w in zip(index, weights, strict=True)])
    clear = distances > (1e-3 if k == 2 else 5e-3)  # what cancels altogether has no direction
    assert clear.sum() > 100 and (distances[clear] < 0.05).any() == (k > 2)
    crowd.check(got[clear], index[clear], np.zeros((clear.sum(), k)), weights[clear])
    for n in range(len(index)):
        alone = crowd.model.crowd_palette(
            crowd.model.clips, index[n : n + 1], 0.0, weights=weights[n : n + 1]
        )
        assert np.array_equal(alone[0], got[n])


def distance(rig: Rig, index: Any, weights: Any) -> Any:
    """How far the rotations of any joint are from canceling each other: the length of the sum of two, and by
    how much the largest eigenvalue exceeds the second one where there are more."""
    turns = np.array([rig.pose(int(clip), 0.0)[1] for clip in index])
    shares = weights / weights.sum()
    if len(turns) == 2:
        turns[1] *= np.where((turns[0] * turns[1]).sum(-1) < 0, -1, 1)[:, None]
        return np.linalg.norm((shares[:, None, None] * turns).sum(0), axis=-1).min()
    eigenvalues = np.linalg.eigvalsh(np.einsum("k,kji,kjl->jil", shares, turns, turns))
    return (eigenvalues[:, 3] - eigenvalues[:, 2]).min()


# ---- properties ---------------------------------------------------------------------------------------


def same(walkers: Crowd, a: Any, b: Any) -> bool:
    return bool(np.abs(a - b).max() <= 1e-6 * 2.0)


@pytest.mark.parametrize("seed", range(3))
def test_order_and_size_of_weights_do_not_matter(walkers: Crowd, seed: int) -> None:
    """Weights that sum to 0.1 or more; the character is under 2 units tall."""
    model, clips = walkers.model, walkers.model.clips
    index, time, weights = walkers.instances(seed, 20, 4)
    weights = np.random.default_rng(seed).uniform(0.2, 1, weights.shape)
    first = model.crowd_palette(clips, index, time, weights=weights)
    turned = model.crowd_palette(clips, index[:, ::-1], time[:, ::-1], weights=weights[:, ::-1])
    assert same(walkers, first, turned)
    assert same(walkers, first, model.crowd_palette(clips, index, time, weights=weights * 37.5))
    order = np.random.default_rng(seed).permutation(20)
    again = model.crowd_palette(clips, index[order], time[order], weights=weights[order])
    assert same(walkers, first[order], again)
    half = model.crowd_palette(clips, index[3:], time[3:], weights=weights[3:])
    assert same(walkers, first[3:], half)


def test_without_weights_the_used_clips_have_equal_shares(walkers: Crowd) -> None:
    index, time, _ = walkers.instances(5, 30, 4)
    clips = walkers.model.clips
    got = walkers.model.crowd_palette(clips, index, time)
    assert np.array_equal(got, walkers.model.crowd_palette(clips, index, time, weights=np.ones((30, 4))))


def test_where_nothing_weighs_there_is_the_rest_pose(crowd: Crowd) -> None:
    """Bit by bit: a joint at rest has the file's own matrix."""
    model = crowd.model
    index = np.array([[-1, -1], [0, 0], [-1, 0]])
    weights = np.array([[1.0, 2.0], [0.0, 0.0], [5.0, 0.0]])
    got = model.crowd_palette(model.clips, index, 0.3, weights=weights)
    assert np.array_equal(got, np.broadcast_to(model.palette(), got.shape))


def test_unused_places_change_nothing(walkers: Crowd) -> None:
    model, clips = walkers.model, walkers.model.clips
    index, time, _ = walkers.instances(6, 12, 1)
    wide = np.concatenate([np.full((12, 1), -1), index, np.full((12, 2), -1)], axis=1)
    times = np.concatenate([time + 1, time, time - 1, time * 0], axis=1)
    weights = np.array([[1e30, 0.7, 3.0, 0.0]])
    assert same(
        walkers,
        model.crowd_palette(clips, index, time),
        model.crowd_palette(clips, wide, times, weights=weights),
    )


# ---- arguments ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "time", "weights"),
    [
        (np.zeros(5, int), np.arange(5.0), None),
        (0, np.arange(5.0), None),
        (np.zeros((5, 1), int), 0.5, None),
        (np.zeros((5, 3), int), np.arange(5.0), None),
        (np.zeros(5, int), np.ones((5, 2)), [[0.25, 0.75]]),
        ([[0, 1, 2]], np.arange(5.0), 1.0),
        ([[0, 1]], np.ones((5, 1)), np.ones((5, 2))),
        (0, 0.5, np.ones((5, 4))),
    ],
)
def test_arrays_are_spread_as_numpy_does(walkers: Crowd, index: Any, time: Any, weights: Any) -> None:
    model, clips = walkers.model, walkers.model.clips
    tables = [np.asarray(a)[..., None] if np.ndim(a) < 2 else np.asarray(a) for a in (index, time)]
    wide_weights = np.ones((1, 1)) if weights is None else np.atleast_2d(weights)
    whole = np.broadcast_arrays(*tables, wide_weights)
    got = model.crowd_palette(clips, index, time, weights=weights)
    assert got.shape == (5, len(model.skin), 4, 4) and got.dtype == np.float32
    assert np.array_equal(got, model.crowd_palette(clips, whole[0], whole[1], weights=whole[2]))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64, ">i4"])
def test_indices_of_any_integers(walkers: Crowd, dtype: Any) -> None:
    index, time, _ = walkers.instances(7, 6, 2)
    index = np.abs(index)
    want = walkers.model.crowd_palette(walkers.model.clips, index, time)
    got = walkers.model.crowd_palette(walkers.model.clips, index.astype(dtype)[::-1], time[::-1])
    assert np.array_equal(got[::-1], want)


def test_lists_and_nobody(walkers: Crowd) -> None:
    model = walkers.model
    slots = len(model.skin)
    assert model.crowd_palette(["walk", "run"], [[0, 1]], [[0, 1]]).shape == (1, slots, 4, 4)
    assert model.crowd_palette(["walk"], [], []).shape == (0, slots, 4, 4)
    assert model.crowd_palette([], [-1, -1], 0.0, affine=True).shape == (2, slots, 3, 4)
    assert np.array_equal(model.crowd_palette([], [-1], 0.0)[0], model.palette())


def test_clips_are_clips_names_or_indices(walkers: Crowd) -> None:
    model = walkers.model
    want = model.crowd_palette(model.clips, [0, 1, 2], 0.4)
    names = model.clips.names
    assert np.array_equal(model.crowd_palette((names[0], 1, model.clips[-1]), [0, 1, 2], 0.4), want)
    many = model.crowd_palette([0] * 65_532 + [0, 1, 2], [65_532, 65_533, 65_534], 0.4)
    assert np.array_equal(many, want)


def test_clips_of_elsewhere() -> None:
    model = skinpy.character()
    names = list(model.skeleton.names)
    fresh = Clip.from_arrays("fresh", times=[0.0], joints=names[:1], translation=[[[0, 7, 0]]])
    more = model.add_clips(fresh)
    got = more.crowd_palette(["walk", "fresh"], [1, 0], 0.0)
    assert np.abs(got[1] - model.palette("walk", 0.0)).max() <= 2e-6
    assert np.abs(got[0] - more.palette("fresh", 0.0)).max() <= 1e-6 * 7


def test_a_model_without_a_mesh_has_no_slots() -> None:
    model = skinpy.load(builders.chain(3, skinned=False).glb(), format="glb")
    assert model.crowd_palette([0], [0, 0], 0.1).shape == (2, 0, 4, 4)


# ---- out ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [3, 4])
def test_out_and_affine(walkers: Crowd, rows: int) -> None:
    model, clips = walkers.model, walkers.model.clips
    index, time, weights = walkers.instances(8, 6, 3)
    out = np.full((6, len(model.skin), rows, 4), np.nan, np.float32)
    assert model.crowd_palette(clips, index, time, weights=weights, out=out) is out
    whole = model.crowd_palette(clips, index, time, weights=weights)
    assert np.array_equal(out, whole[..., :rows, :])
    assert np.array_equal(whole[..., 3, :], np.broadcast_to([0, 0, 0, 1], whole.shape[:2] + (4,)))
    affine = model.crowd_palette(clips, index, time, weights=weights, affine=True)
    assert np.array_equal(affine, whole[..., :3, :])


S = 24  # slots of the character


def bad_outs() -> dict[str, tuple[Any, type[Exception], str]]:
    fine = np.zeros((2, S, 4, 4), np.float32)
    locked = fine.copy()
    locked.flags.writeable = False
    return {
        "no array": ([0.0], TypeError, "out is of type list"),
        "instances": (fine[:1], ValueError, r"out has shape \(1, 24, 4, 4\); expected \(2, 24, 4, 4\)"),
        "dtype": (fine.astype(np.float64), ValueError, "out has dtype float64"),
        "byte order": (fine.astype(">f4"), ValueError, "out has dtype >f4"),
        "locked": (locked, ValueError, "read-only"),
        "strides": (np.zeros((2, S, 4, 8), np.float32)[..., ::2], ValueError, "not C-contiguous"),
    }


@pytest.mark.parametrize("which", bad_outs())
def test_bad_out(walkers: Crowd, which: str) -> None:
    out, error, words = bad_outs()[which]
    before = np.array(out, copy=True)
    with pytest.raises(error, match=words):
        walkers.model.crowd_palette([0], [0, 0], 0.5, out=out)
    assert np.array_equal(out, before)


def test_out_may_not_be_the_root(walkers: Crowd) -> None:
    memory = np.zeros((2, S, 4, 4), np.float32)
    memory[0, 0] = np.eye(4)
    with pytest.raises(ValueError, match="overlaps an input"):
        walkers.model.crowd_palette([0], [0, 0], 0.5, root=memory[0, 0], out=memory)
    with pytest.raises(ValueError, match=r"affine=True asks for \(..., 3, 4\)"):
        walkers.model.crowd_palette([0], [0, 0], 0.5, affine=True, out=memory)


# ---- faults -------------------------------------------------------------------------------------------


def late(place: Any, value: float, shape: Any = 20) -> Any:
    array = np.zeros(shape)
    array[place] = value
    return array


FAULTS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"clip_index": late(17, 5).astype(int)}, ValueError, r"clip_index\[17\] is 5; expected -1 to 2"),
    ({"clip_index": [[0, 1], [0, -2]]}, ValueError, r"clip_index\[1, 1\] is -2; expected -1 to 2"),
    ({"clip_index": [0, 5_000_000_000]}, ValueError, r"clip_index\[1\] is 5000000000; expected an integer"),
    ({"clip_index": np.array([0, 2**64 - 1], np.uint64)}, ValueError, r"clip_index\[1\] is 1844674407370955"),
    ({"clip_index": [0.0]}, TypeError, "clip_index has dtype float64; expected integers"),
    ({"clip_index": [True]}, TypeError, "has dtype bool; expected integers"),
    ({"clip_index": ["walk"]}, TypeError, "expected integers"),
    ({"clip_index": None}, TypeError, "clip_index has dtype object"),
    ({"clip_index": np.zeros((2, 5), int)}, ValueError, "K = 5; expected 1 to 4"),
    ({"clip_index": np.zeros((2, 0), int)}, ValueError, "K = 0; expected 1 to 4"),
    (
        {"clip_index": np.zeros((2, 2, 2), int)},
        ValueError,
        r"clip_index has shape \(2, 2, 2\); expected \(N,\)",
    ),
    (
        {"clip_index": [0, 0], "time": [0, 1, 2]},
        ValueError,
        r"time has shape \(3,\); expected 2 or 1 rows, as clip",
    ),
    (
        {"clip_index": [[0, 0]], "time": np.ones((1, 3))},
        ValueError,
        r"time has shape \(1, 3\); expected 2 or 1 columns, as clip_index has 2",
    ),
    (
        {"weights": np.ones(7)},
        ValueError,
        r"weights has shape \(7,\); expected 4 or 1 rows, as clip_index has 4",
    ),
    ({"time": late(17, np.nan), "clip_index": 0}, ValueError, r"time\[17\] is nan; expected finite seconds"),
    ({"time": late((1, 2), np.inf, (4, 3))}, ValueError, r"time\[1, 2\] is inf"),
    ({"time": "now"}, TypeError, "time has dtype <U3; expected real numbers"),
    ({"time": [1j] * 4}, TypeError, "expected real numbers"),
    ({"weights": [0, 1, -0.25, 1]}, ValueError, r"weights\[2\] is -0.25; expected 0 or more"),
    ({"weights": [[1, np.nan]]}, ValueError, r"weights\[0, 1\] is nan"),
    ({"weights": [np.inf, 1, 1, 1]}, ValueError, r"weights\[0\] is inf"),
    (
        {"weights": [1e31, 1, 1, 1]},
        ValueError,
        r"weights\[0\] is 1e\+31; expected 0 or more, and at most 1e\+30",
    ),
    ({"weights": [{}, 1, 1, 1]}, TypeError, "weights has dtype object; expected real numbers"),
    ({"clips": "walk"}, TypeError, "clips is of type str; expected a sequence"),
    ({"clips": 3}, TypeError, "clips is of type int; expected a sequence"),
    ({"clips": None}, TypeError, "clips is of type NoneType"),
    ({"clips": {"walk"}}, TypeError, "clips is of type set; expected a sequence"),
    ({"clips": [0, None, 1]}, TypeError, r"clips\[1\] is None; expected a Clip, a name or an index"),
    ({"clips": ["walk", "jogg"]}, KeyError, "jogg"),
    ({"clips": [0, 3]}, IndexError, r"clips\[1\] is 3; the model has clips 0 to 2 \('walk', 'run', 'wave'\)"),
    ({"clips": [0.0]}, TypeError, r"clips\[0\] is of type float"),
    ({"clips": [0] * 65_536}, ValueError, "clips holds 65536 clips; expected at most 65535"),
    ({"clips": []}, ValueError, r"clip_index\[0\] is 0; expected -1"),
    ({"loop": "round"}, ValueError, "loop is 'round'; expected one of"),
    ({"rotation": "lerp"}, ValueError, "rotation is 'lerp'; expected one of"),
    ({"root": np.eye(3)}, ValueError, r"root has shape \(3, 3\); expected \(4, 4, 4\)"),
    ({"root": np.full((4, 4), np.nan)}, ValueError, "root holds a number that is not finite"),
    ({"mask": None}, TypeError, "unexpected keyword argument 'mask'"),
]


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_faults_are_named(walkers: Crowd, number: int) -> None:
    changes, error, words = FAULTS[number]
    arguments = {"clips": walkers.model.clips, "clip_index": np.zeros(4, int), "time": 0.5} | changes
    out = np.zeros((4, S, 4, 4), np.float32)
    with pytest.raises(error, match=words):
        walkers.model.crowd_palette(**arguments, out=out)
    assert not out.any()


def test_all_three_must_be_given(walkers: Crowd) -> None:
    with pytest.raises(TypeError, match="missing the argument 'time'"):
        walkers.model.crowd_palette(walkers.model.clips, [0])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="at most 3 positional"):
        walkers.model.crowd_palette([0], [0], 0.0, [1.0])  # type: ignore[misc]


def test_additive_clips_are_refused_by_name(walkers: Crowd) -> None:
    model = walkers.model
    waved = model.add_clips(model.clips["wave"].additive(), names=["wave"], replace=True)
    assert waved.clips["wave"].is_additive
    for clip in ("wave", waved.clips["wave"]):
        with pytest.raises(
            ValueError, match=r"clips\[1\] is .*wave.*, which is additive; expected clips that hold"
        ):
            waved.crowd_palette(["walk", clip], [0], 0.0)


def test_clips_of_another_model_are_refused(walkers: Crowd) -> None:
    other = skinpy.crane()
    with pytest.raises(ValueError, match="not bound to this model"):
        walkers.model.crowd_palette([other.clips[0]], [0], 0.0)


# ---- memory and threads -------------------------------------------------------------------------------


def test_nothing_is_kept(walkers: Crowd) -> None:
    """Neither memory of the core nor references, of calls that end well and badly."""
    model = walkers.model
    clips, index, time = [0, "run", model.clips[2]], np.zeros((9, 2), int), np.zeros((9, 2))
    watched = (model._block, clips, clips[2], index, time)

    def calls() -> None:
        model.crowd_palette(clips, index, time, root=np.eye(4))
        for changes, error, _ in FAULTS:
            with pytest.raises(error):
                model.crowd_palette(**{"clips": clips, "clip_index": np.zeros(4, int), "time": 0.5} | changes)
        with pytest.raises(ValueError, match="out has shape"):
            model.crowd_palette(clips, index, time, out=np.zeros(3, np.float32))

    calls()
    gc.collect()  # errors may hold on to what raised them until the collector comes
    before, counts = _core._bytes_in_use(), [sys.getrefcount(thing) for thing in watched]
    for _ in range(5):
        calls()
    gc.collect()
    assert _core._bytes_in_use() == before
    assert [sys.getrefcount(thing) for thing in watched] == counts


@pytest.mark.parametrize("k", [1, 3])
def test_the_number_of_threads_changes_no_bit(walkers: Crowd, k: int) -> None:
    """Enough instances for several ranges, and not a multiple of any."""
    index, time, weights = walkers.instances(11, 403, k)
    root = np.stack([a_root(n) for n in range(403)])
    before = skinpy.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3, 7):
            skinpy.set_num_threads(threads)
            results.append(
                walkers.model.crowd_palette(walkers.model.clips, index, time, weights=weights, root=root)
            )
    finally:
        skinpy.set_num_threads(before)
    assert all(np.array_equal(result, results[0]) for result in results)


def test_many_threads_at_once(walkers: Crowd) -> None:
    """The GIL is released during such calls; all give the bits that one alone gives."""
    model = walkers.model
    index, time, weights = walkers.instances(10, 150, 2)
    want = model.crowd_palette(model.clips, index, time, weights=weights)
    results: list[Any] = [None] * 4

    def work(number: int) -> None:
        for _ in range(5):
            results[number] = model.crowd_palette(model.clips, index, time, weights=weights)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(result, want) for result in results)
