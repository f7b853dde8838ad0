"""Forward kinematics by hand, against matrices written from the formulas (float64) and SciPy's rotations."""

import numpy as np
import pytest

import skinpy
from skinpy.posing import kinematics

scipy_rotation = pytest.importorskip("scipy.spatial.transform").Rotation


@pytest.fixture(scope="module")
def crane() -> skinpy.Model:
    return skinpy.crane()


def local_matrix(t: np.ndarray, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """T * R * S of one joint."""
    m = np.eye(4)
    m[:3, :3] = scipy_rotation.from_quat(q).as_matrix() * s
    m[:3, 3] = t
    return m


def globals_of(model: skinpy.Model, locals_: list[np.ndarray]) -> np.ndarray:
    found: list[np.ndarray] = []
    for joint, parent in enumerate(model.skeleton.parents):
        found.append(locals_[joint] if parent < 0 else found[parent] @ locals_[joint])
    return np.stack(found)


def rest_locals(model: skinpy.Model) -> list[np.ndarray]:
    s = model.skeleton
    return [
        local_matrix(*(a.astype(float) for a in row))
        for row in zip(s.translation, s.rotation, s.scale, strict=True)
    ]


AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-z": (0, 0, -1), "+Y": (0, 1, 0)}


@pytest.mark.parametrize("axis", [*AXES, (1.0, 2.0, -0.5), np.array([0, 3, 0])], ids=str)
@pytest.mark.parametrize("space", ["local", "parent"])
@pytest.mark.parametrize("joint", ["slew", "boom", "line"])
def test_rotate_is_a_matrix_on_the_right_side(crane, axis, space, joint) -> None:
    direction = np.array(AXES[axis] if isinstance(axis, str) else axis, float)
    turn = np.eye(4)
    turn[:3, :3] = scipy_rotation.from_rotvec(
        np.radians(33) * direction / np.linalg.norm(direction)
    ).as_matrix()
    wanted = rest_locals(crane)
    number = crane.skeleton.index(joint)
    rest = wanted[number].copy()
    wanted[number][:3, :3] = ((rest @ turn) if space == "local" else (turn @ rest))[:3, :3]
    pose = crane.pose()
    assert pose.rotate(joint, degrees=33, axis=axis, space=space) is pose
    np.testing.assert_allclose(pose.globals(), globals_of(crane, wanted), atol=2e-6)
    other = crane.pose().rotate(number, radians=np.radians(33), axis=axis, space=space)
    np.testing.assert_array_equal(other.rotation, pose.rotation)


def test_rotate_by_a_quaternion_of_any_length(crane) -> None:
    turn = np.array([0.2, -0.4, 0.1, 0.7])
    rest = scipy_rotation.from_quat(crane.skeleton.rotation[crane.skeleton.index("boom")].astype(float))
    pose = crane.pose().rotate("boom", 5 * turn)
    wanted = (rest * scipy_rotation.from_quat(turn)).as_matrix()
    got = scipy_rotation.from_quat(pose.rotation[crane.skeleton.index("boom")].astype(float)).as_matrix()
    np.testing.assert_allclose(got, wanted, atol=1e-6)
    assert np.isclose(np.linalg.norm(pose.rotation[crane.skeleton.index("boom")]), 1, atol=1e-6)


@pytest.mark.parametrize("space", ["local", "parent"])
def test_translate(crane, space) -> None:
    vector, number = np.array([0.3, -1.2, 0.25]), crane.skeleton.index("jib")
    rest = rest_locals(crane)[number]
    wanted = rest[:3, 3] + (rest[:3, :3] @ vector if space == "local" else vector)
    pose = crane.pose()
    assert pose.translate("jib", vector, space=space) is pose
    np.testing.assert_allclose(pose.translation[number], wanted, atol=1e-6)


def test_the_scale_of_the_joint_does_not_lengthen_a_translation(crane) -> None:
    pose = crane.pose().set("boom", scale=3.0)
    before = pose.translation[2].copy()
    pose.translate(2, (1, 0, 0))
    assert np.isclose(np.linalg.norm(pose.translation[2] - before), 1, atol=1e-6)


def test_set_replaces_what_is_given(crane) -> None:
    pose, number = crane.pose(), crane.skeleton.index("hook")
    before = pose.copy()
    assert pose.set("hook", translation=(0, -5, 0)) is pose
    np.testing.assert_array_equal(pose.translation[number], np.float32([0, -5, 0]))
    np.testing.assert_array_equal(pose.rotation, before.rotation)
    np.testing.assert_array_equal(pose.scale, before.scale)
    pose.set("hook", rotation=(0, 0, 2, 0), scale=(1, 2, 3))
    np.testing.assert_array_equal(pose.rotation[number], np.float32([0, 0, 1, 0]))
    np.testing.assert_array_equal(pose.scale[number], np.float32([1, 2, 3]))
    others = np.arange(len(crane.skeleton)) != number
    np.testing.assert_array_equal(pose.translation[others], before.translation[others])


def test_batches_broadcast(crane) -> None:
    angles = np.linspace(-20, 20, 6).reshape(2, 3)
    pose = crane.pose("slew", np.arange(6.0).reshape(2, 3))
    one_by_one = [crane.pose("slew", float(t)) for t in range(6)]
    offsets = np.arange(18.0).reshape(2, 3, 3) / 10
    pose.rotate("boom", degrees=angles, axis="z").translate("hook", offsets).translate("jib", (0, 0, 1))
    pose.set("cable", scale=(1, 2, 1)).rotate(-1, (0, 0, 0, 1))
    for single, angle, offset in zip(one_by_one, angles.ravel(), offsets.reshape(-1, 3), strict=True):
        single.rotate("boom", degrees=angle, axis="z").translate("hook", offset).translate("jib", (0, 0, 1))
        single.set("cable", scale=(1, 2, 1)).rotate(-1, (0, 0, 0, 1))
    wanted = np.stack([single.globals() for single in one_by_one]).reshape(2, 3, -1, 4, 4)
    np.testing.assert_array_equal(pose.globals(), wanted)


def test_driving_the_crane_by_hand_is_driving_it_by_keys(crane) -> None:
    """About 2.25 s into "raise" the boom is 24 degrees higher and the jib 26 lower than at rest."""
    by_hand = crane.pose().rotate("boom", degrees=24, axis="z").rotate("jib", degrees=-26, axis="z")
    by_hand.rotate("line", degrees=2, axis="z")
    np.testing.assert_allclose(by_hand.globals(), crane.globals("raise", 2.25), atol=0.02)
    hook = crane.skeleton.index("hook")
    assert np.allclose(by_hand.globals()[hook, :3, :3], np.eye(3), atol=1e-6)  # the line hangs straight down


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda p: p.rotate("bom", degrees=3, axis="x"), KeyError, "did you mean 'boom'"),
        (lambda p: p.set("Boom", (0, 0, 0)), KeyError, "'boom'"),
        (lambda p: p.translate(7, (0, 0, 0)), IndexError, "7 joints"),
        (lambda p: p.translate(True, (0, 0, 0)), TypeError, "joint is True"),
        (lambda p: p.translate(1.5, (0, 0, 0)), TypeError, "joint is 1.5"),
        (lambda p: p.rotate("boom"), TypeError, "exactly one"),
        (lambda p: p.rotate("boom", degrees=1, radians=1, axis="x"), TypeError, "degrees and radians came"),
        (lambda p: p.rotate("boom", degrees=1), TypeError, "degrees is given without axis"),
        (lambda p: p.rotate("boom", (0, 0, 0, 1), axis="x"), TypeError, "axis is given with a rotation"),
        (lambda p: p.rotate("boom", (0, 0, 0, 0)), ValueError, "rotation has length 0"),
        (lambda p: p.rotate("boom", (0, 0, 1)), ValueError, r"rotation has shape \(3,\)"),
        (lambda p: p.rotate("boom", degrees=[1, 2], axis="x"), ValueError, r"degrees has shape \(2,\)"),
        (lambda p: p.rotate("boom", degrees=np.nan, axis="x"), ValueError, "not finite"),
        (lambda p: p.rotate("boom", degrees=1, axis="w"), ValueError, "axis is 'w'"),
        (lambda p: p.rotate("boom", degrees=1, axis=(0, 0, 0)), ValueError, "axis has length 0"),
        (lambda p: p.rotate("boom", degrees=1, axis="x", space="world"), ValueError, "space is 'world'"),
        (lambda p: p.translate("boom", (1, 2)), ValueError, r"vector has shape \(2,\)"),
        (lambda p: p.translate("boom", (1, 2, np.inf)), ValueError, "not finite"),
        (lambda p: p.set("boom", (0, 0, 0), (0, 0, 0, 0)), ValueError, "rotation has length 0"),
        (lambda p: p.set("boom", scale=(1, 2)), ValueError, r"scale has shape \(2,\)"),
    ],
)
def test_bad_input_changes_nothing(crane, call, error, words) -> None:
    pose = crane.pose()
    with pytest.raises(error, match=words):
        call(pose)
    rest = crane.pose()
    for name in ("translation", "rotation", "scale"):
        np.testing.assert_array_equal(getattr(pose, name), getattr(rest, name))


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((9, 3), (3,)), ((4,), (5, 4)), ((2, 1, 3), (4, 3))])
def test_products_of_vectors_are_numpys(shapes) -> None:
    """To the bit, whatever the shapes and where the vectors lie in memory."""
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=shape)[..., :3] for shape in shapes)
    np.testing.assert_array_equal(kinematics._cross(a, b), np.cross(a, b))
    turned = np.asfortranarray(np.broadcast_to(a, (*a.shape[:-1], 3)))
    np.testing.assert_array_equal(kinematics._cross(turned, b), np.cross(a, b))
