"""Joints by goal, against geometry written here in float64 from the formulas, and by properties.

Places are read from `pose.globals()`, which other tests hold to a twin. They are float32, as are the turns
that a goal writes: what is compared in scene space agrees to 1e-5 of the limb (float32 has 6e-8, times the
handful of factors of a chain), and 1e-4 of the limb is what is promised for a hit.
"""

import numpy as np
import pytest

import skinpy

Rotation = pytest.importorskip("scipy.spatial.transform").Rotation

NAMES = ("base", "upper", "lower", "hand", "finger", "other")
PARENTS = (-1, 0, 1, 2, 3, 0)
HIT = 1e-4


def matrix(t=(0, 0, 0), r=(0, 0, 0, 1), s=(1, 1, 1)) -> np.ndarray:
    m = np.eye(4)
    m[:3, :3] = Rotation.from_quat(r).as_matrix() * np.broadcast_to(s, 3)
    m[:3, 3] = t
    return m


def model_of(rest, names=NAMES, parents=PARENTS) -> skinpy.Model:
    return skinpy.Model.from_arrays(
        names,
        parents,
        np.asarray(rest, np.float32),
        positions=np.eye(3),
        faces=[[0, 1, 2]],
        joints=np.zeros((3, 1), int),
        weights=np.ones((3, 1)),
    )


def random_limb(seed: int, scale: str = "even", lead=(5,)) -> skinpy.Pose:
    """Poses of a limb of random lengths, rest orientations and scales below a base with any scale."""
    rng = np.random.default_rng(seed)
    base = {"one": [1, 1, 1], "even": [1.7] * 3, "uneven": [0.5, 2.0, 1.3], "mirrored": [-1.0, 1.2, 0.8]}[
        scale
    ]
    rest = [matrix(rng.normal(size=3), Rotation.random(random_state=seed).as_quat(), base)]
    for joint in range(1, len(NAMES)):
        size = (
            1.0
            if scale == "one"
            else rng.uniform(0.6, 1.6) * (-1 if scale == "mirrored" and joint < 3 else 1)
        )
        rotation = Rotation.random(random_state=100 * seed + joint).as_quat()
        rest.append(matrix(rng.normal(size=3) + 0.2, rotation, [size] * 3))
    front = matrix(rng.normal(size=3), Rotation.random(random_state=seed + 7).as_quat(), [1.1] * 3)
    pose = model_of(rest).pose(time=np.zeros(lead), root=front)
    pose.rotation[...] = turned(rng, pose.rotation.shape)
    return pose


def turned(rng: np.random.Generator, shape) -> np.ndarray:
    q = rng.normal(size=shape)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def places(pose: skinpy.Pose, *joints: str) -> list[np.ndarray]:
    found = pose.globals().astype(float)[..., :3, 3]
    return [found[..., pose.model.skeleton.index(joint), :] for joint in joints]


def length(vector: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vector, axis=-1)


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / length(vector)[..., None]


def limb_length(pose: skinpy.Pose) -> np.ndarray:
    upper, lower, hand = places(pose, "upper", "lower", "hand")
    return length(lower - upper) + length(hand - lower)


def same_but_rotations(pose: skinpy.Pose, before: skinpy.Pose, *joints: str) -> None:
    numbers = [pose.model.skeleton.index(joint) for joint in joints]
    rest = [j for j in range(len(pose.model.skeleton.names)) if j not in numbers]
    np.testing.assert_array_equal(pose.translation, before.translation)
    np.testing.assert_array_equal(pose.scale, before.scale)
    np.testing.assert_array_equal(pose.rotation[..., rest, :], before.rotation[..., rest, :])
    np.testing.assert_allclose(length(pose.rotation[..., numbers, :].astype(float)), 1, atol=2e-7)


# ---- two bones --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["one", "even", "uneven", "mirrored"])
@pytest.mark.parametrize("with_pole", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_two_bone_hits_what_another_pose_of_the_limb_reaches(seed, scale, with_pole) -> None:
    pose = random_limb(seed, scale)
    rng = np.random.default_rng(seed + 1000)
    goal = pose.copy()
    goal.rotation[:, 1:3] = turned(rng, (5, 2, 4))
    (target,) = places(goal, "hand")
    before = pose.copy()
    reached = pose.two_bone_ik("hand", target, pole=rng.normal(size=(5, 3)) * 3 if with_pole else None)
    assert reached.shape == (5,) and reached.dtype == bool and reached.all()
    assert (length(places(pose, "hand")[0] - target) < HIT * limb_length(pose)).all()
    same_but_rotations(pose, before, "upper", "lower")
    if scale in ("one", "even"):
        for a, b in (("upper", "lower"), ("lower", "hand")):
            after, first = (length(np.subtract(*places(p, a, b))) for p in (pose, before))
            np.testing.assert_allclose(after, first, rtol=1e-5)


def test_two_bone_with_a_pole_stands_where_the_law_of_cosines_says() -> None:
    for seed in range(10):
        pose = random_limb(seed, "even")
        rng = np.random.default_rng(seed)
        start, middle, end = places(pose, "upper", "lower", "hand")
        a, b = length(middle - start), length(end - middle)
        direction = unit(rng.normal(size=(5, 3)))
        c = abs(a - b) + rng.uniform(0.02, 0.98, 5) * (a + b - abs(a - b))
        target, pole = start + direction * c[:, None], start + rng.normal(size=(5, 3))
        assert pose.two_bone_ik("hand", target, pole=pole).all()
        cosine = (a**2 + c**2 - b**2) / (2 * a * c)
        side = unit((pole - start) - np.sum((pole - start) * direction, -1)[:, None] * direction)
        along, across = a * cosine, a * np.sqrt(1 - cosine**2)
        wanted = start + along[:, None] * direction + across[:, None] * side
        assert (length(places(pose, "lower")[0] - wanted) < 1e-5 * (a + b) * 5).all()


def aligned(start: np.ndarray, end: np.ndarray) -> Rotation:
    """The shortest turn between two directions, by Rodrigues' formula."""
    axis = np.cross(unit(start), unit(end))
    angle = np.arctan2(length(axis), np.sum(unit(start) * unit(end), -1))
    return Rotation.from_rotvec(unit(axis) * angle[..., None])


def test_two_bone_without_a_pole_bends_in_its_plane_and_makes_the_shortest_turn() -> None:
    for seed in range(10):
        pose = random_limb(seed, "even")
        start, middle, end = places(pose, "upper", "lower", "hand")
        upper, lower = middle - start, end - middle
        a, b = length(upper), length(lower)
        c = abs(a - b) + np.linspace(0.1, 0.9, 5) * (a + b - abs(a - b))
        target = start + unit(np.random.default_rng(seed).normal(size=(5, 3))) * c[:, None]
        assert pose.two_bone_ik("hand", target).all()
        bend = np.pi - np.arccos((a**2 + b**2 - c**2) / (2 * a * b))
        hinge = unit(np.cross(upper, lower))
        bent = upper + Rotation.from_rotvec(hinge * bend[:, None]).apply(unit(upper)) * b[:, None]
        wanted = start + aligned(bent, target - start).apply(upper)
        assert (length(places(pose, "lower")[0] - wanted) < 5e-5 * (a + b)).all()


@pytest.mark.parametrize("scale", ["one", "even"])
@pytest.mark.parametrize("with_pole", [False, True])
def test_two_bone_out_of_reach_gives_the_nearest_pose(scale, with_pole) -> None:
    for seed in range(10):
        pose = random_limb(seed, scale)
        rng = np.random.default_rng(seed)
        start, middle, end = places(pose, "upper", "lower", "hand")
        a, b = length(middle - start), length(end - middle)
        direction = unit(rng.normal(size=(5, 3)))
        pole = rng.normal(size=(5, 3)) if with_pole else None
        far = pose.copy()
        assert not far.two_bone_ik("hand", start + direction * (1.5 * (a + b))[:, None], pole=pole).any()
        wanted = start + direction * (a + b)[:, None]
        assert (length(places(far, "hand")[0] - wanted) < 1e-5 * (a + b)).all()
        near = pose.copy()
        assert not near.two_bone_ik("hand", start + direction * (0.5 * abs(a - b))[:, None], pole=pole).any()
        wanted = start + direction * abs(a - b)[:, None]
        assert (length(places(near, "hand")[0] - wanted) < 1e-5 * (a + b)).all()


def straight_limb(lower: float = 1.0, bend: float = 0.0, lead=()) -> skinpy.Pose:
    """Two bones along x, 1 and `lower` long, bent about z by `bend` degrees."""
    rest = [
        matrix(),
        matrix((0, 1, 0)),
        matrix((1, 0, 0)),
        matrix((lower, 0, 0)),
        matrix((0, 0, 1)),
        matrix(),
    ]
    return model_of(rest).pose(time=np.zeros(lead)).rotate("lower", degrees=bend, axis="z")


@pytest.mark.parametrize("bend", [0, 180, 1e-5, 179.99999, 90])
@pytest.mark.parametrize("lower", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("pole", [None, (0, 5, 0), (0, 1, 0), (9, 1, 0), (0, 1, 4)])
def test_two_bone_holds_where_directions_vanish(bend, lower, pole) -> None:
    start = np.array([0, 1, 0.0])
    targets = start + [
        (0, 0, 0),
        (1, 0, 0),
        (-1, 0, 0),
        (2, 0, 0),
        (-2, 0, 0),
        (0, 1.2, 0),
        (1e-9, 0, 0),
        (9, 0, 0),
    ]
    pose = straight_limb(lower, bend, lead=(len(targets),))
    reached = pose.two_bone_ik("hand", targets, pole=pole)
    assert np.isfinite(pose.rotation).all()
    distance = length(targets - start)
    nearest = np.clip(distance, abs(1 - lower), 1 + lower)
    np.testing.assert_array_equal(reached, abs(distance - nearest) < HIT)
    np.testing.assert_allclose(length(places(pose, "hand")[0] - targets), abs(distance - nearest), atol=2e-6)


def test_a_straight_limb_bends_to_the_pole_without_a_twist() -> None:
    pose = straight_limb()
    assert pose.two_bone_ik("hand", (np.sqrt(2), 1, 0), pole=(1, 1, 7)).all()
    np.testing.assert_allclose(places(pose, "lower")[0], (np.sqrt(0.5), 1, np.sqrt(0.5)), atol=1e-6)
    # A bend of 45 degrees about y, and nothing about the limb's own axis x.
    turn = Rotation.from_quat(pose.rotation[1]).as_rotvec(degrees=True)
    np.testing.assert_allclose(turn, (0, -45, 0), atol=1e-4)


def test_two_bone_beyond_uneven_scale_of_its_own_joints() -> None:
    """K (e1 + e2) of sk_goal.c with K no similarity: targets that a bend in the limb's plane reaches."""
    for scale in ((2, 0.7, 1), (0.4, 1.5, -1), (1, 3, 1)):
        pose = straight_limb(0.8, 35, lead=(7,)).set("upper", scale=scale)
        goal = pose.copy()
        rng = np.random.default_rng(3)
        bends = np.radians(np.linspace(5, 175, 7))
        goal.set("lower", rotation=Rotation.from_rotvec(bends[:, None] * [0, 0, 1]).as_quat())
        goal.set("upper", rotation=turned(rng, (7, 4)))
        (target,) = places(goal, "hand")
        assert pose.two_bone_ik("hand", target, pole=rng.normal(size=(7, 3))).all()
        assert (length(places(pose, "hand")[0] - target) < HIT).all()
        far = straight_limb(0.8, 35).set("upper", scale=scale)
        assert not far.two_bone_ik("hand", (0, 99, 0)).any()
        assert places(far, "hand")[0][1] > 1.0 and abs(places(far, "hand")[0][0]) < 1e-5


def test_joints_between_move_along() -> None:
    pose = random_limb(4, "even")
    before = pose.copy()
    start, middle, end = places(pose, "upper", "lower", "finger")
    reach = length(middle - start) + length(end - middle)
    target = start + unit(np.ones((5, 3))) * (0.8 * reach)[:, None]
    assert pose.two_bone_ik("finger", target, middle="lower").all()
    assert (length(places(pose, "finger")[0] - target) < HIT * reach).all()
    same_but_rotations(pose, before, "upper", "lower")
    other = before.copy()
    assert other.two_bone_ik(4, target, root=1, middle=2).all()
    np.testing.assert_array_equal(other.rotation, pose.rotation)


def test_weight_blends_by_nlerp() -> None:
    target = (0.9, 1.6, 0.7)
    full, half, none = (straight_limb(1, 20) for _ in range(3))
    full.two_bone_ik("hand", target)
    assert half.two_bone_ik("hand", target, weight=0.25).all()
    assert none.two_bone_ik("hand", target, weight=0).all()
    start = straight_limb(1, 20).rotation.astype(float)
    np.testing.assert_array_equal(none.rotation, straight_limb(1, 20).rotation)
    wanted = full.rotation.astype(float)
    wanted *= np.where(np.sum(start * wanted, -1, keepdims=True) < 0, -1, 1)
    np.testing.assert_allclose(half.rotation, unit(0.75 * start + 0.25 * wanted), atol=2e-7)
    many = straight_limb(1, 20, lead=(3,))
    many.two_bone_ik("hand", target, weight=[0, 0.25, 1])
    np.testing.assert_array_equal(many.rotation, np.stack([none.rotation, half.rotation, full.rotation]))


def test_soften_comes_near_to_the_limit_and_never_there() -> None:
    distances = np.linspace(0.1, 6, 60)
    pose = straight_limb(1, 20, lead=(60,))
    targets = np.stack([distances, np.ones(60), np.zeros(60)], -1)
    reached = pose.two_bone_ik("hand", targets, soften=0.9)
    got = length(places(pose, "hand")[0] - [0, 1, 0])
    wanted = np.where(distances <= 1.8, distances, 2 - 0.2 * np.exp(-(distances - 1.8) / 0.2))
    np.testing.assert_allclose(got, wanted, atol=5e-6)
    np.testing.assert_array_equal(reached, distances - wanted < 2 * HIT)


@pytest.mark.parametrize("factor", [3, -1])
def test_of_a_rotation_its_direction_alone_counts(factor) -> None:
    """q, 3q and -q are the same turn, also where the way to the goal starts there."""
    one, other = straight_limb(1, 20), straight_limb(1, 20)
    other.rotation *= factor
    untouched = other.copy()
    untouched.two_bone_ik("hand", (0.9, 1.6, 0.7), weight=0)
    np.testing.assert_array_equal(untouched.rotation, other.rotation)
    for pose in (one, other):
        pose.two_bone_ik("hand", (0.9, 1.6, 0.7), weight=0.4)
    np.testing.assert_allclose(other.rotation[1:3] * np.sign(factor), one.rotation[1:3], atol=2e-7)


# ---- aim ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["one", "even", "uneven", "mirrored"])
def test_aim_points_the_axis_at_the_target(scale) -> None:
    for seed in range(6):
        pose = random_limb(seed, scale)
        before = pose.copy()
        target = np.random.default_rng(seed).normal(size=(5, 3)) * 4
        axis = np.array([0.3, -0.8, 0.5])
        assert pose.aim("lower", target, axis=axis).all()
        same_but_rotations(pose, before, "lower")
        globals_ = pose.globals()[:, 2].astype(float)
        pointed = unit(globals_[:, :3, :3] @ axis)
        np.testing.assert_allclose(pointed, unit(target - globals_[:, :3, 3]), atol=2e-5)


def test_aim_makes_the_shortest_turn() -> None:
    pose = straight_limb()
    target = np.array([2.0, 1.5, 3.0])
    assert pose.aim("lower", target)
    angle = Rotation.from_quat(pose.rotation[2]).magnitude()
    np.testing.assert_allclose(angle, np.arccos(unit(target - [1, 1, 0])[2]), atol=1e-6)


def test_aim_with_a_pole_lets_up_point_there() -> None:
    pose = random_limb(2, "even")
    rng = np.random.default_rng(5)
    target, pole = rng.normal(size=(5, 3)) * 3, rng.normal(size=(5, 3)) * 3
    assert pose.aim("lower", target, axis="-x", up="z", pole=pole).all()
    globals_ = pose.globals()[:, 2].astype(float)
    line = unit(target - globals_[:, :3, 3])
    up = unit(globals_[:, :3, 2])
    side = pole - globals_[:, :3, 3]
    side = unit(side - np.sum(side * line, -1)[:, None] * line)
    np.testing.assert_allclose(up, side, atol=2e-5)
    np.testing.assert_allclose(unit(-globals_[:, :3, 0]), line, atol=2e-5)


def test_aim_backwards_and_on_the_spot() -> None:
    pose = straight_limb(lead=(3,))
    before = pose.copy()
    reached = pose.aim("lower", [(1, 1, -4), (1, 1, 0), (1, 1, 2)], pole=(1, 1, -9))
    np.testing.assert_array_equal(reached, [True, False, True])
    np.testing.assert_array_equal(pose.rotation[1:], before.rotation[1:])
    np.testing.assert_allclose(pose.globals()[0, 2, :3, 2], (0, 0, -1), atol=1e-6)


# ---- FABRIK ---------------------------------------------------------------------------------------------


def tail(joints: int, seed: int, scale: bool = False, lead=()) -> skinpy.Pose:
    """A chain of any length; where scale is asked for each joint has its own, even, below an uneven base."""
    rng = np.random.default_rng(seed)
    rest = [
        matrix(rng.normal(size=3), Rotation.random(random_state=seed).as_quat(), (1, 2, -0.5) if scale else 1)
    ]
    for joint in range(joints):
        size = rng.uniform(0.8, 1.25) * rng.choice([-1, 1]) if scale else 1
        rest.append(
            matrix(rng.normal(size=3), Rotation.random(random_state=seed + joint).as_quat(), [size] * 3)
        )
    names = ["base", *(f"tail {joint}" for joint in range(joints))]
    return model_of(rest, names, range(-1, joints)).pose(time=np.zeros(lead))


@pytest.mark.parametrize("joints", [2, 3, 5, 12])
@pytest.mark.parametrize("scale", [False, True])
def test_fabrik_hits_what_another_pose_of_the_chain_reaches(joints, scale) -> None:
    for seed in range(6):
        pose = tail(joints, seed, scale, lead=(4,))
        rng = np.random.default_rng(seed)
        goal, before, end = pose.copy(), pose.copy(), f"tail {joints - 1}"
        goal.rotation[:, 1:-1] = turned(rng, (4, joints - 1, 4))
        (target,) = places(goal, end)
        reached = pose.fabrik(end, target, root="tail 0", iterations=2000)
        assert reached.shape == (4,) and reached.all()
        chain = [f"tail {joint}" for joint in range(joints)]
        bones = [length(a - b) for a, b in zip(places(pose, *chain)[1:], places(pose, *chain), strict=False)]
        assert (length(places(pose, end)[0] - target) < 2.5 * HIT * sum(bones)).all()
        same_but_rotations(pose, before, *chain[:-1])
        if not scale:
            first = [
                length(a - b)
                for a, b in zip(places(before, *chain)[1:], places(before, *chain), strict=False)
            ]
            np.testing.assert_allclose(bones, first, rtol=2e-5)


def reach(points: np.ndarray, target: np.ndarray, iterations: int) -> np.ndarray:
    """Algorithm 1 of Aristidou and Lasenby (2011), as printed there, for a target within reach."""
    p = points.copy()
    d = length(np.diff(p, axis=0))
    first, n = p[0].copy(), len(p)
    for _ in range(iterations):
        p[n - 1] = target
        for i in range(n - 2, -1, -1):
            share = d[i] / length(p[i + 1] - p[i])
            p[i] = (1 - share) * p[i + 1] + share * p[i]
        p[0] = first
        for i in range(n - 1):
            share = d[i] / length(p[i + 1] - p[i])
            p[i + 1] = (1 - share) * p[i] + share * p[i + 1]
    return p


@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_fabrik_is_the_published_algorithm(iterations) -> None:
    for seed in range(5):
        pose = tail(6, seed)
        points = pose.globals()[1:, :3, 3].astype(float)
        reachable = 0.5 * length(np.diff(points, axis=0)).sum()
        target = points[0] + unit(np.random.default_rng(seed).normal(size=3)) * reachable
        pose.fabrik("tail 5", target, root="tail 0", iterations=iterations, tolerance=1e-12)
        wanted = reach(points, target, iterations)
        np.testing.assert_allclose(pose.globals()[1:, :3, 3], wanted, atol=2e-5)


def test_fabrik_out_of_reach_is_straight() -> None:
    pose = tail(6, 1)
    points = pose.globals()[1:, :3, 3].astype(float)
    lengths = length(np.diff(points, axis=0))
    direction = unit(np.array([1, -2, 0.5]))
    assert not pose.fabrik("tail 5", points[0] + 1.2 * lengths.sum() * direction, root="tail 0")
    wanted = points[0] + np.append(0, np.cumsum(lengths))[:, None] * direction
    np.testing.assert_allclose(pose.globals()[1:, :3, 3], wanted, atol=1e-5)


@pytest.mark.parametrize(
    "target", [(2.0, 0, 0), (0, 0, 0), (-1, 0, 0), (3, 1, 0), (4, 0, 0), (-4, 0, 0), (-9, 0, 0)]
)
def test_fabrik_leaves_the_line_it_lies_on(target) -> None:
    rest = [matrix(), matrix(), *[matrix((1, 0, 0))] * 4]
    pose = model_of(rest, ("base", *"abcde"), range(-1, 5)).pose()
    reached = pose.fabrik("e", target, root="a")
    assert np.isfinite(pose.rotation).all()
    assert reached == (length(np.array(target)) <= 4)
    np.testing.assert_allclose(
        length(places(pose, "e")[0] - target), max(length(np.array(target)) - 4, 0), atol=5e-4
    )


@pytest.mark.parametrize("target", [(1, 0, 0), (0.5, 0, 0), (0, 0, 0), (-0.3, 0, 0), (1.9, 0, 0)])
def test_two_links_on_a_line_leave_it(target) -> None:
    """Where reaching alone stays on the line: the end goes past the target and back for ever."""
    rest = [matrix(), matrix(), *[matrix((1, 0, 0))] * 2]
    pose = model_of(rest, ("base", *"abc"), range(-1, 3)).pose()
    assert pose.fabrik("c", target, root="a")
    np.testing.assert_allclose(places(pose, "c")[0], target, atol=2.1e-4)


@pytest.mark.parametrize("scale", [False, True])
def test_two_links_get_wherever_their_lengths_allow(scale) -> None:
    """Every target that another pose of the chain reaches, at once; reaching alone misses 2 in 100."""
    for seed in range(10):
        pose = tail(3, seed, scale, lead=(200,))
        goal, before = pose.copy(), pose.copy()
        rng = np.random.default_rng(seed)
        goal.rotation[:, 1:3] = turned(rng, (200, 2, 4))
        (target,) = places(goal, "tail 2")
        assert pose.fabrik("tail 2", target, root="tail 0", iterations=1, tolerance=2e-6).all()
        same_but_rotations(pose, before, "tail 0", "tail 1")


@pytest.mark.parametrize("distance", [0.5, 0.5001, 0.7, 1.4, 2.4999, 2.5])
def test_two_links_bend_by_the_law_of_cosines_in_their_plane(distance) -> None:
    """Links of 1.5 and 1, bent in the plane z = 0 to the left: so they stay, turned by the least."""
    rest = [
        matrix(),
        matrix(),
        matrix((1.5, 0, 0), Rotation.from_euler("z", 40, True).as_quat()),
        matrix((1, 0, 0)),
    ]
    pose = model_of(rest, ("base", *"abc"), range(-1, 3)).pose()
    end = places(pose, "c")[0].astype(float)
    target = end / length(end) * distance
    assert pose.fabrik("c", target, root="a")
    knee, reached = (one.astype(float) for one in places(pose, "b", "c"))
    # Rotations are float32; near a straight or folded limb the knee moves by the root of what the end does.
    np.testing.assert_allclose(reached, target, atol=2e-6)
    angle = np.arccos(np.clip((1.5**2 + distance**2 - 1) / (2 * 1.5 * distance), -1, 1))
    wanted = Rotation.from_rotvec([0, 0, -angle]).apply(target / distance * 1.5)
    np.testing.assert_allclose(knee, wanted, atol=2e-3 if distance in (0.5, 2.5) else 2e-6)


def test_two_links_out_of_reach_come_as_near_as_they_can() -> None:
    rest = [matrix(), matrix(), matrix((1.5, 0, 0)), matrix((1, 0, 0))]
    for distance, near in ((3.0, 2.5), (0.2, 0.5)):
        pose = model_of(rest, ("base", *"abc"), range(-1, 3)).pose()
        assert not pose.fabrik("c", (0, distance, 0), root="a")
        np.testing.assert_allclose(places(pose, "c")[0], (0, near, 0), atol=2e-6)


def test_fabrik_under_uneven_scale_says_the_truth() -> None:
    rng = np.random.default_rng(8)
    for seed in range(10):
        pose = tail(5, seed, lead=(20,))
        pose.scale[:, 1:] = rng.uniform(0.5, 2, (5, 3))
        goal = pose.copy()
        goal.rotation[:, 1:5] = turned(rng, (20, 4, 4))
        (target,) = places(goal, "tail 4")
        reached = pose.fabrik("tail 4", target, root="tail 0", iterations=500)
        points = np.stack(places(pose, *(f"tail {joint}" for joint in range(5))))
        chain = length(np.diff(points, axis=0)).sum(0)
        np.testing.assert_array_equal(reached, length(points[-1] - target) <= HIT * chain * (1 + 1e-3))
        assert reached.mean() > 0.5


def test_fabrik_weight_takes_the_shorter_arc() -> None:
    """Many rounds, as under uneven scale, may add up to more than half a turn."""
    rng = np.random.default_rng(8)
    for seed in range(10):
        pose = tail(5, seed, lead=(20,))
        pose.scale[:, 1:] = rng.uniform(0.3, 3, (5, 3))
        half, full, target = pose.copy(), pose.copy(), rng.normal(size=(20, 3)) * 2
        full.fabrik("tail 4", target, root="tail 0")
        half.fabrik("tail 4", target, root="tail 0", weight=0.3)
        before, after = unit(pose.rotation.astype(float)), full.rotation.astype(float)
        after = after * np.where(np.sum(before * after, -1, keepdims=True) < 0, -1, 1)
        wanted = unit(0.7 * before + 0.3 * after)
        sign = np.where(np.sum(wanted * half.rotation, -1, keepdims=True) < 0, -1, 1)
        np.testing.assert_allclose(half.rotation * sign, wanted, atol=5e-7)


def test_fabrik_weight_zero_and_reached_already_change_nothing() -> None:
    pose = tail(5, 3)
    before = pose.copy()
    assert pose.fabrik("tail 4", places(pose, "tail 4")[0], root="tail 0")
    pose.fabrik("tail 4", (0, 0, 0), root="tail 0", weight=0)
    same_but_rotations(pose, before, *[f"tail {joint}" for joint in range(4)])
    np.testing.assert_allclose(pose.globals(), before.globals(), atol=1e-6)


# ---- attachments -----------------------------------------------------------------------------------------


def test_attach_is_the_global_times_the_offset() -> None:
    pose = random_limb(3, "uneven")
    offset = matrix((0.1, 0.2, 0.3), Rotation.random(random_state=1).as_quat())
    globals_ = pose.globals().astype(float)
    held = pose.attach("hand", offset)
    assert held.dtype == np.float32 and held.shape == (5, 4, 4)
    np.testing.assert_allclose(held, globals_[:, 3] @ offset, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(pose.attach(3), pose.globals()[:, 3])
    each = np.stack([offset @ matrix((n, 0, 0)) for n in range(5)])
    np.testing.assert_allclose(pose.attach("hand", each), globals_[:, 3] @ each, rtol=1e-6, atol=1e-6)


# ---- all of them -----------------------------------------------------------------------------------------

GOALS = {
    "two_bone": lambda pose, target, **more: pose.two_bone_ik("hand", target, **more),
    "aim": lambda pose, target, **more: pose.aim("hand", target, **more),
    "fabrik": lambda pose, target, **more: pose.fabrik("finger", target, root="upper", **more),
}


@pytest.mark.parametrize("goal", GOALS)
def test_a_batch_equals_its_poses_one_by_one(goal) -> None:
    pose = random_limb(6, "mirrored", lead=(2, 3))
    rng = np.random.default_rng(0)
    target = rng.normal(size=(2, 3, 3)) * 2
    wanted, flags = np.empty_like(pose.rotation), np.empty((2, 3), bool)
    for place in np.ndindex(2, 3):
        arrays = (pose.translation, pose.rotation, pose.scale, pose.morph_weights)
        single = skinpy.Pose(pose.model, *(array[place].copy() for array in arrays), pose.root)
        flags[place] = GOALS[goal](single, target[place])
        wanted[place] = single.rotation
    np.testing.assert_array_equal(GOALS[goal](pose, target), flags)
    np.testing.assert_array_equal(pose.rotation, wanted)


@pytest.mark.parametrize("goal", GOALS)
def test_one_target_serves_all_and_a_root_may_be_each_ones_own(goal) -> None:
    pose = random_limb(6, "even", lead=(4,))
    roots = np.stack([matrix((n, 0, 1)) for n in range(4)])
    each = skinpy.Pose(pose.model, pose.translation, pose.rotation, pose.scale, pose.morph_weights, roots)
    moved = each.copy()
    target = np.array([0.5, 1.0, 0.2])
    GOALS[goal](moved, target)
    single = each.copy()
    GOALS[goal](single, np.broadcast_to(target, (4, 3)))
    np.testing.assert_array_equal(moved.rotation, single.rotation)
    # Moving character and target alike changes nothing (1e-5: scene coordinates are float32).
    still = skinpy.Pose(
        each.model, *(a.copy() for a in (each.translation, each.rotation)), each.scale, each.morph_weights
    )
    GOALS[goal](still, target - roots[:, :3, 3])
    np.testing.assert_allclose(moved.rotation, still.rotation, atol=1e-5)


@pytest.mark.parametrize("goal", GOALS)
def test_a_scale_of_zero_above_gives_false_and_moves_nothing(goal) -> None:
    pose = random_limb(6, "even").set("base", scale=0)
    before = pose.copy()
    assert not GOALS[goal](pose, (1, 2, 3)).any()
    np.testing.assert_array_equal(pose.rotation, before.rotation)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("scale", [(0, 0, 0), (1, 0, 1), (1e-30, 1, 1)])
def test_a_scale_of_zero_within_gives_no_nan(goal, scale) -> None:
    pose = random_limb(6, "even").set("upper", scale=scale).set("lower", scale=scale).set("hand", scale=scale)
    GOALS[goal](pose, (1, 2, 3))
    assert np.isfinite(pose.rotation).all()


def test_no_poses_are_no_poses() -> None:
    for goal in GOALS.values():
        assert goal(random_limb(6, lead=(0, 2)), (1, 2, 3)).shape == (0, 2)


BAD = {
    "name": (KeyError, "hand", lambda p: p.two_bone_ik("hamd", (0, 0, 0))),
    "index": (IndexError, "99", lambda p: p.aim(99, (0, 0, 0))),
    "root name": (KeyError, "upper", lambda p: p.fabrik("hand", (0, 0, 0), root="uper")),
    "attach name": (KeyError, "hand", lambda p: p.attach("Hamd")),
    "short": (ValueError, "'upper'|'base'", lambda p: p.two_bone_ik("upper", (0, 0, 0))),
    "no parent": (ValueError, "'base', which has no parent", lambda p: p.two_bone_ik("base", (0, 0, 0))),
    "root is other": (ValueError, "'other'", lambda p: p.two_bone_ik("hand", (0, 0, 0), root="other")),
    "middle below": (ValueError, "'finger'", lambda p: p.two_bone_ik("hand", (0, 0, 0), middle="finger")),
    "no ancestor": (ValueError, "'other'.*'hand'", lambda p: p.fabrik("hand", (0, 0, 0), root="other")),
    "itself": (ValueError, "'hand'", lambda p: p.fabrik("hand", (0, 0, 0), root="hand")),
    "target shape": (ValueError, r"target has shape \(2,\)", lambda p: p.aim("hand", (0, 0))),
    "target lead": (ValueError, r"\(4, 3\).*\(5, 3\)", lambda p: p.aim("hand", np.zeros((4, 3)))),
    "target nan": (ValueError, "target.*finite", lambda p: p.fabrik("hand", (0, np.nan, 0), root="upper")),
    "pole inf": (ValueError, "pole.*finite", lambda p: p.two_bone_ik("hand", (0, 0, 0), pole=(0, 0, np.inf))),
    "pole shape": (ValueError, "pole has shape", lambda p: p.aim("hand", (0, 0, 0), pole=3)),
    "weight": (ValueError, "weight.*0 to 1", lambda p: p.aim("hand", (0, 0, 1), weight=1.5)),
    "weight nan": (ValueError, "weight", lambda p: p.fabrik("hand", (0, 0, 1), root="upper", weight=np.nan)),
    "weight shape": (
        ValueError,
        "weight has shape",
        lambda p: p.two_bone_ik("hand", (0, 0, 1), weight=[1, 1]),
    ),
    "soften": (ValueError, "soften is 0", lambda p: p.two_bone_ik("hand", (0, 0, 1), soften=0)),
    "soften high": (ValueError, "soften is 1.5", lambda p: p.two_bone_ik("hand", (0, 0, 1), soften=1.5)),
    "axis": (ValueError, "axis is 'w'", lambda p: p.aim("hand", (0, 0, 1), axis="w")),
    "axis zero": (ValueError, "axis has length 0", lambda p: p.aim("hand", (0, 0, 1), axis=(0, 0, 0))),
    "up shape": (ValueError, "up has shape", lambda p: p.aim("hand", (0, 0, 1), up=(0, 0))),
    "iterations": (
        ValueError,
        "iterations is 0",
        lambda p: p.fabrik("hand", (0, 0, 1), root="upper", iterations=0),
    ),
    "float": (
        TypeError,
        "iterations is 1.5",
        lambda p: p.fabrik("hand", (0, 0, 1), root="upper", iterations=1.5),
    ),
    "tolerance": (
        ValueError,
        "tolerance is 0",
        lambda p: p.fabrik("hand", (0, 0, 1), root="upper", tolerance=0),
    ),
    "offset": (ValueError, r"offset has shape \(3, 4\)", lambda p: p.attach("hand", np.eye(4)[:3])),
    "offset nan": (ValueError, "offset.*finite", lambda p: p.attach("hand", np.full((4, 4), np.nan))),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_answered_and_change_nothing(case) -> None:
    error, words, call = BAD[case]
    pose = random_limb(1)
    before = pose.copy()
    with pytest.raises(error, match=words):
        call(pose)
    np.testing.assert_array_equal(pose.rotation, before.rotation)


@pytest.mark.parametrize("goal", GOALS)
def test_a_pose_that_may_not_be_written_is_not(goal) -> None:
    pose = random_limb(1)
    rotation = pose.rotation.copy()
    rotation.flags.writeable = False
    shown = skinpy.Pose(pose.model, pose.translation, rotation, pose.scale, pose.morph_weights)
    with pytest.raises(ValueError, match="rotation is read-only"):
        GOALS[goal](shown, (0, 0, 1))
