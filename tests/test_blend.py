"""Blending of poses against a float64 twin of the formulas in csrc/core/pose/sk_blend.h, and by properties.

The mean of three rotations and more is that of F. L. Markley and others, "Averaging Quaternions" (2007), for
which the twin asks LAPACK.

Tolerance 2e-6 absolute: numbers of about 1, in float32 at both ends, with all sums in float64 between."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import SIMD
from twin import mean_rotation

import skinpy
from skinpy import Clip, Mask, Model, Pose, _core, blend

CLOSE = 2e-6


@pytest.fixture(autouse=True, params=SIMD)
def path(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each test runs on the plain path and by the SIMD kernels."""
    try:
        before = _core._simd(request.param)
    except ValueError:
        pytest.skip("this processor or this build lacks it")
    yield request.param
    _core._simd(before)


@pytest.fixture(scope="module")
def model() -> Model:
    return skinpy.character()


def random_pose(model: Model, rng: np.random.Generator, lead: tuple[int, ...] = ()) -> Pose:
    """Any rotations at all, scales and places."""
    pose = model.pose(None, np.zeros(lead))
    pose.translation = rng.normal(size=pose.translation.shape)
    turns = rng.normal(size=pose.rotation.shape)
    pose.rotation = turns / np.linalg.norm(turns, axis=-1, keepdims=True)
    pose.scale = rng.uniform(0.5, 2.0, pose.scale.shape)
    return pose


def near_pose(model: Model, rng: np.random.Generator) -> Pose:
    """Rotations within 60 degrees of the rest pose."""
    pose = random_pose(model, rng)
    axis = rng.normal(size=(len(model.skeleton.names), 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    angle = rng.uniform(0, np.pi / 3, (len(axis), 1))
    turn = np.hstack([axis * np.sin(angle / 2), np.cos(angle / 2)])
    pose.rotation = [product(q, r) for q, r in zip(turn, model.skeleton.rotation, strict=True)]
    return pose


def product(a: Any, b: Any) -> Any:
    x, y, z, w = np.asarray(a, np.float64)
    matrix = np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])
    return matrix @ np.asarray(b, np.float64)


def same_rotations(a: Any, b: Any) -> float:
    """The largest difference of quaternions, whatever their signs."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return float(np.minimum(np.abs(a - b).max(-1), np.abs(a + b).max(-1)).max())


def twin(
    model: Model, poses: list[Pose], weights: list[float], masks: list[Any] | None = None
) -> tuple[Any, ...]:
    """Joint by joint in float64."""
    rest = model.skeleton
    t, r, s = rest.translation.astype(float), rest.rotation.astype(float), rest.scale.astype(float)
    for j in range(len(rest.names)):
        w = np.array(
            [
                one * (1.0 if masks is None or masks[i] is None else float(masks[i][j]))
                for i, one in enumerate(weights)
            ]
        )
        live = [i for i in range(len(w)) if w[i] > 0]
        if not live:
            continue
        total = max(w.sum(), 0.1)
        sources = [(w[i], poses[i].translation[j], poses[i].rotation[j], poses[i].scale[j]) for i in live]
        if w.sum() < 0.1:
            sources.append((0.1 - w.sum(), t[j], r[j], s[j]))
        rt = sum(one[0] * one[1].astype(float) for one in sources) / total
        rs = sum(one[0] * one[3].astype(float) for one in sources) / total
        rr = mean_rotation([one[2] for one in sources], [one[0] for one in sources])
        t[j], r[j], s[j] = rt, rr, rs
    return t, r, s


def check(result: Pose, expected: tuple[Any, ...], close: float = CLOSE) -> None:
    assert np.abs(result.translation - expected[0]).max() <= close
    assert same_rotations(result.rotation, expected[1]) <= close
    assert np.abs(result.scale - expected[2]).max() <= close


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_the_sum_is_that_of_the_formula(model: Model, count: int, seed: int) -> None:
    rng = np.random.default_rng([seed, count])
    poses = [random_pose(model, rng) for _ in range(count)]
    weights = rng.uniform(0, 2, count).tolist()
    check(blend(poses, weights), twin(model, poses, weights), 1e-5)  # opposite quaternions may nearly cancel


@pytest.mark.parametrize("seed", range(4))
def test_masks_weigh_each_joint(model: Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    poses = [near_pose(model, rng) for _ in range(3)]
    masks = [rng.uniform(0, 1, len(model.skeleton.names)).astype(np.float32) for _ in range(2)]
    masks[0][: len(masks[0]) // 2] = 0
    weights = [0.3, 0.02, 0.6]
    result = blend(poses, weights, masks=[Mask.array(masks[0]), Mask.array(masks[1]), None])
    check(result, twin(model, poses, weights, [*masks, None]))


@pytest.mark.parametrize("weight", [0.0, 1e-3, 0.05, 0.0999, 0.1, 0.5])
def test_the_rest_pose_takes_what_is_missing(model: Model, weight: float) -> None:
    poses = [near_pose(model, np.random.default_rng(5))]
    check(blend(poses, [weight]), twin(model, poses, [weight]))


def test_two_poses_blend_like_nlerp_along_the_shorter_arc(model: Model) -> None:
    rng = np.random.default_rng(7)
    a, b = random_pose(model, rng), random_pose(model, rng)
    for u in (0.0, 0.25, 0.5, 1.0):
        q, p = a.rotation.astype(float), b.rotation.astype(float)
        p = np.where((q * p).sum(-1, keepdims=True) < 0, -p, p)
        mixed = (1 - u) * q + u * p
        mixed /= np.linalg.norm(mixed, axis=-1, keepdims=True)
        result = blend([a, b], [1 - u, u])
        assert same_rotations(result.rotation, mixed) <= 1e-6
        assert np.abs(result.translation - ((1 - u) * a.translation + u * b.translation)).max() <= CLOSE


def test_the_order_does_not_matter(model: Model) -> None:
    rng = np.random.default_rng(8)
    poses, weights = [near_pose(model, rng) for _ in range(4)], [0.1, 0.7, 0.4, 1.3]
    first = blend(poses, weights)
    for order in ([3, 2, 1, 0], [1, 3, 0, 2]):
        other = blend([poses[i] for i in order], [weights[i] for i in order])
        check(other, (first.translation, first.rotation, first.scale), 1e-6)


def test_a_pose_with_itself_changes_no_bit(model: Model) -> None:
    pose = random_pose(model, np.random.default_rng(9))
    result = blend([pose, pose, pose], [0.1, 0.7, 0.4])
    for name in ("translation", "rotation", "scale", "morph_weights"):
        assert np.array_equal(getattr(result, name), getattr(pose, name))


def test_rotations_stay_unit(model: Model) -> None:
    rng = np.random.default_rng(10)
    result = blend([random_pose(model, rng) for _ in range(6)], rng.uniform(0, 1, 6))
    assert np.abs(np.linalg.norm(result.rotation, axis=-1) - 1).max() <= 1e-6


def test_many_poses_at_once(model: Model) -> None:
    rng = np.random.default_rng(11)
    a, b = random_pose(model, rng, (2, 3)), random_pose(model, rng, (2, 3))
    weights = rng.uniform(0, 1, (2, 3))
    result = blend([a, b], [weights, 0.5])
    for place in np.ndindex(2, 3):
        one, two = model.pose(), model.pose()
        for pose, many in ((one, a), (two, b)):
            for name in ("translation", "rotation", "scale"):
                setattr(pose, name, getattr(many, name)[place])
        single = blend([one, two], [float(weights[place]), 0.5])
        assert np.array_equal(result.translation[place], single.translation)
        assert np.array_equal(result.rotation[place], single.rotation)


@pytest.mark.parametrize(
    ("poses", "weights", "masks", "error", "words"),
    [
        (0, [], None, ValueError, "poses is empty"),
        (2, [0.5], None, ValueError, "weights has 1 entries; expected 2"),
        (2, [0.5, -0.5], None, ValueError, "weights\\[1\\] holds -0.5"),
        (2, [0.5, float("nan")], None, ValueError, "weights\\[1\\]"),
        (2, [0.5, 0.5], [None], ValueError, "expected a sequence of 2 masks"),
        (2, [0.5, 0.5], [None, Mask.array([1, 0])], ValueError, "mask has 2 weights; the skeleton has"),
        (2, [0.5, 0.5], [None, Mask.below("Chesst")], KeyError, "did you mean 'Chest'"),
        (2, [0.5, 0.5], [None, "Chest"], TypeError, "expected a Mask or None"),
    ],
)
def test_faults_are_named(
    model: Model, poses: int, weights: Any, masks: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        blend([model.pose() for _ in range(poses)], weights, masks=masks)


def test_poses_of_two_models_do_not_blend(model: Model) -> None:
    with pytest.raises(ValueError, match="another model"):
        blend([model.pose(), skinpy.crane().pose()], [0.5, 0.5])


# ---- means of three and more --------------------------------------------------------------------------

KINDS = ["any", "near", "nearly the same", "opposite", "about one axis", "one of 1e-6", "little weight"]
#: From this gap between the two largest eigenvalues on, 1e-6. Weights and M are float32 on the SIMD paths:
#: what they round, about 3e-8, is divided by the gap.
CLEAR = 0.05


def many_rotations(kind: str, count: int, joints: int) -> tuple[Any, Any]:
    """Rotations (N, K, J, 4) and weights (N, K)."""
    rng = np.random.default_rng([KINDS.index(kind), count])
    q = rng.normal(size=(60, count, joints, 4))
    if kind in ("near", "nearly the same"):
        q = q * (0.3 if kind == "near" else 1e-4) + rng.normal(size=(60, 1, joints, 4))
    if kind == "opposite":
        q[:, 1] = 1e-3 * q[:, 1] - q[:, 0]
    if kind == "about one axis":
        q[..., :2] = 0
    weights = rng.dirichlet(np.ones(count), 60)
    if kind == "one of 1e-6":
        weights[:, -1] = 1e-6
        weights[:, 0] += 0.1
    if kind == "little weight":
        weights *= 0.07
    return (q / np.linalg.norm(q, axis=-1, keepdims=True)).astype(np.float32), weights


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [3, 4, 9])
def test_three_and_more_have_the_mean_of_markley(model: Model, kind: str, count: int) -> None:
    """Any order of the poses gives it. Where the two largest eigenvalues meet it is a unit quaternion all the
    same, whose sum of w (q . v)^2 is the largest."""
    rest = model.skeleton.rotation.astype(np.float64)
    q, weights = many_rotations(kind, count, len(rest))
    poses = []
    for k in range(count):
        pose = model.pose(None, np.zeros(len(q)))
        pose.rotation = q[:, k]
        poses.append(pose)
    products = np.einsum("nk,nkji,nkjl->njil", weights, q.astype(np.float64), q.astype(np.float64))
    missing = np.maximum(0.1 - weights.sum(1), 0)
    products += missing[:, None, None, None] * rest[:, :, None] * rest[:, None, :]
    products /= products.trace(axis1=-2, axis2=-1)[..., None, None]
    eigenvalues, vectors = np.linalg.eigh(products)
    clear = eigenvalues[..., 3] - eigenvalues[..., 2] > CLEAR
    assert clear.mean() > 0.5
    order = np.random.default_rng(count).permutation(count)
    for number in (range(count), order):
        found = blend([poses[k] for k in number], [weights[:, k] for k in number]).rotation.astype(np.float64)
        assert same_rotations(found[clear], vectors[..., 3][clear]) <= 1e-6
        assert np.abs(np.linalg.norm(found, axis=-1) - 1).max() <= 1e-6
        assert (found * rest).sum(-1).min() > -1e-5
        sums = np.einsum("nji,njil,njl->nj", found, products, found)
        assert (eigenvalues[..., 3] - sums).max() <= 1e-6


def about_z(model: Model, degrees: float) -> Pose:
    pose = model.pose()
    angle = np.radians(degrees) / 2
    pose.rotation = np.tile([0, 0, np.sin(angle), np.cos(angle)], (len(model.skeleton.names), 1))
    return pose


@pytest.mark.parametrize("degrees", [(10, 40, -30), (0, 80, 170), (100, -130, 20, 60), (120, -120, 175)])
def test_turns_about_one_axis_have_the_mean_of_directions(degrees: tuple[float, ...]) -> None:
    """By hand: the mean of angles is the direction of sum w (cos, sin)."""
    model = chain_of(9, np.random.default_rng(1))
    weights = np.arange(1, len(degrees) + 1) / 3
    x, y = (float(weights @ f(np.radians(degrees))) for f in (np.cos, np.sin))
    found = blend([about_z(model, one) for one in degrees], weights.tolist()).rotation
    assert same_rotations(found, about_z(model, float(np.degrees(np.arctan2(y, x)))).rotation) <= 1e-6


def test_a_third_pose_of_little_weight_turns_nothing() -> None:
    """With signs taken against the rest rotation, 120 and -120 degrees gave 0 as soon as a third weighed."""
    model = chain_of(9, np.random.default_rng(1))
    low, high = about_z(model, -120), about_z(model, 120)
    alone = blend([low, high], [0.5, 0.5])
    assert same_rotations(alone.rotation, about_z(model, 180).rotation) <= 1e-6
    for third in (0.0, 5.0, 100.0):
        for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
            poses, weights = [low, high, about_z(model, third)], [0.5, 0.5, 1e-6]
            found = blend([poses[n] for n in order], [weights[n] for n in order]).rotation
            assert (
                np.abs(found - alone.rotation).max() <= 3e-6
            )  # 1e-6 of 180 degrees over a gap of 0.5; with its sign


def test_rotations_that_have_no_mean() -> None:
    """The projection of the rest rotation, whatever the order: turns by thirds, and four at right angles."""
    model = chain_of(9, np.random.default_rng(1))
    half_turns = [model.pose() for _ in range(4)]
    for pose, q in zip(half_turns, np.eye(4), strict=True):
        pose.rotation = np.tile(q, (9, 1))
    for poses in ([about_z(model, one) for one in (0, 120, 240)], half_turns, half_turns[1:]):
        for turn in range(len(poses)):
            found = blend(poses[turn:] + poses[:turn], [1.0] * len(poses)).rotation
            assert same_rotations(found, model.skeleton.rotation) <= 1e-6


@pytest.mark.parametrize("count", [2, 3])
def test_the_rest_pose_is_a_source_where_weights_are_little(model: Model, count: int) -> None:
    rng = np.random.default_rng(count)
    poses, weights = [near_pose(model, rng) for _ in range(count)], [0.02] * count
    check(blend(poses, weights), twin(model, poses, weights))


def test_clips_of_a_plane_are_averaged_two_like_three() -> None:
    rng = np.random.default_rng(14)
    model = chain_of(13, rng)
    entries: list[Any] = [(model.clips[n], 0.0, w, 0, None, 0, None, True) for n, w in ((0, 0.3), (1, 0.7))]
    layers: list[Any] = [(BASE, 0.5, entries)]
    found = model._mix_pose(layers, model.pose()).rotation
    first, second = (clip.sample(0.0).rotation for clip in model.clips[:2])
    wanted = [mean_rotation([a, b], [0.3, 0.7], plane=True) for a, b in zip(first, second, strict=True)]
    assert same_rotations(found, wanted) <= 1e-6
    assert same_rotations(found, blend([model.pose(0), model.pose(1)], [0.3, 0.7]).rotation) > 1e-3


# ---- masks -------------------------------------------------------------------------------------------


def test_masks_find_their_joints(model: Model) -> None:
    names = model.skeleton.names
    below = {names[j] for j in np.flatnonzero(Mask.below("LeftUpperArm").weights(model))}
    assert below == {"LeftUpperArm", "LeftLowerArm", "LeftHand", "LeftFingers"}
    arms = {names[j] for j in np.flatnonzero(Mask.named("*Arm", "Hip?").weights(model))}
    assert arms == {name for name in names if name.endswith("Arm")} | {"Hips"}
    both = Mask.below("Spine").weights(model) + (~Mask.below("Spine")).weights(model)
    assert (both == 1).all()
    with pytest.raises(ValueError, match="read-only"):
        Mask.below("Spine").weights(model)[0] = 1


@pytest.mark.parametrize(
    "mask", [Mask.below("Spine", "Hips"), ~Mask.named("*Arm*"), Mask.array(np.linspace(0, 1, 26))]
)
def test_masks_are_plain_data(model: Model, mask: Mask) -> None:
    import json

    again = Mask.from_dict(json.loads(json.dumps(mask.to_dict())))
    assert again == mask
    assert np.array_equal(again.weights(model), mask.weights(model))


@pytest.mark.parametrize(
    "data", [{}, {"below": ["a"], "named": ["b"]}, {"below": ["a"], "more": 1}, "below", []]
)
def test_masks_refuse_other_data(data: Any) -> None:
    with pytest.raises(ValueError, match="mask is"):
        Mask.from_dict(data)


@pytest.mark.parametrize("weights", [[0.5, 1.5], [-0.1], [float("nan")], [[1.0]]])
def test_masks_hold_weights_from_0_to_1(weights: Any) -> None:
    with pytest.raises(ValueError, match="weights"):
        Mask.array(weights)


# ---- layers, on both paths -------------------------------------------------------------------------------

BASE, OVERRIDE, ADD = range(3)


def chain_of(joints: int, rng: np.random.Generator) -> Model:
    """A chain with one clip for each of four random poses of it, rotations within 60 degrees of the rest."""
    names = [f"j{number}" for number in range(joints)]
    rest = np.tile(np.eye(4), (joints, 1, 1))
    rest[:, :3, 3] = rng.normal(size=(joints, 3))
    corners: dict[str, Any] = {"positions": np.eye(3), "faces": [[0, 1, 2]], "joints": np.zeros((3, 1), int)}
    model = Model.from_arrays(names, np.arange(joints) - 1, rest, **corners, weights=np.ones((3, 1)))
    poses = [near_pose(model, rng) for _ in range(4)]
    return model.add_clips(
        [
            Clip.from_arrays(
                f"pose {number}",
                times=[0.0],
                joints=names,
                translation=pose.translation[None],
                rotation=pose.rotation[None],
                scale=pose.scale[None],
            )
            for number, pose in enumerate(poses)
        ]
    )


def random_layers(model: Model, rng: np.random.Generator) -> list[Any]:
    joints = len(model.skeleton.names)
    layers: list[Any] = []
    for mode in (BASE, OVERRIDE, ADD, OVERRIDE, ADD):
        entries = []
        for number in rng.permutation(4)[: rng.integers(0, 5)]:
            clip = model.clips[int(number)]
            mask = rng.uniform(0, 1, joints) * (rng.random(joints) < 0.7)
            mask[rng.random(joints) < 0.3] = 1
            weight = float(rng.choice([0.0, 0.03, 0.4, 1.0]))
            masked = mask.astype(np.float32) if rng.random() < 0.7 else None
            plane = bool(rng.random() < 0.2)
            clip = clip.additive("rest") if mode == ADD else clip
            entries.append((clip, 0.0, weight, 0, masked, 0, None, plane))
        layers.append((mode, 0.5, entries))
    return layers


@pytest.mark.parametrize("joints", [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 22])
def test_layers_of_every_size_agree_with_the_plain_path(path: str, joints: int) -> None:
    """Numbers of about 3 through five layers in float32: some 20 roundings of 1e-7 of that."""
    rng = np.random.default_rng(joints)
    model = chain_of(joints, rng)
    for _ in range(12):
        layers = random_layers(model, rng)
        result = model._mix_pose(layers, model.pose())
        _core._simd("plain")
        plain = model._mix_pose(layers, model.pose())
        _core._simd(path)
        check(result, (plain.translation, plain.rotation, plain.scale), 1e-5)
        assert np.isfinite(result.rotation).all()


def test_what_does_not_weigh_may_hold_anything(model: Model) -> None:
    rng = np.random.default_rng(12)
    pose, wild = random_pose(model, rng), random_pose(model, rng)
    for name in ("translation", "rotation", "scale"):
        getattr(wild, name)[...] = np.nan
    nowhere = Mask.array(np.zeros(len(model.skeleton.names)))
    for poses, weights, masks in (
        ([pose, wild], [1.0, 0.0], [None, None]),
        ([wild, pose], [1.0, 0.3], [nowhere, None]),
        ([wild, pose, wild], [1.0, 0.2, 0.0], [nowhere, None, None]),
    ):
        result = blend(poses, weights, masks=masks)
        for name in ("translation", "rotation", "scale"):
            assert np.array_equal(getattr(result, name), getattr(pose, name))


@pytest.mark.parametrize("count", [1, 2, 5, 32, 33])
def test_poses_without_weight_change_no_bit(model: Model, count: int) -> None:
    """However many they are: of the poses that weigh, the SIMD path takes 32."""
    rng = np.random.default_rng(count)
    poses = [random_pose(model, rng) for _ in range(45)]
    weights = np.zeros(45)
    weights[rng.choice(45, count, replace=False)] = rng.uniform(0.1, 1, count)
    got = blend(poses, weights)
    want = blend([poses[n] for n in np.flatnonzero(weights)], weights[weights > 0])
    assert got.translation.tobytes() == want.translation.tobytes()
    assert got.rotation.tobytes() == want.rotation.tobytes()
    assert got.scale.tobytes() == want.scale.tobytes()


def test_full_layers_and_no_differences_change_no_bit(path: str) -> None:
    rng = np.random.default_rng(13)
    model = chain_of(13, rng)
    below, over = model.clips[0], model.clips[1]
    mask = (np.arange(13) % 3 == 0).astype(np.float32)
    plan: list[Any] = [
        (BASE, 0.5, [(below, 0.0, 0.7, 0, None, 0)]),
        (OVERRIDE, 0.5, [(over, 0.0, 1.0, 0, mask, 0)]),
    ]
    still = below.additive("first")  # every difference is none
    plan.append((ADD, 0.5, [(still, 0.0, 0.6, 0, None, 0)]))
    result = model._mix_pose(plan, model.pose())
    low, high = below.sample(0.0), over.sample(0.0)
    for name in ("translation", "rotation", "scale"):
        wanted = np.where(mask[:, None] == 1, getattr(high, name), getattr(low, name))
        assert np.array_equal(getattr(result, name), wanted)
