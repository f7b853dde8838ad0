"""skinpy.rotation against scipy.spatial.transform, hand-made numbers, and itself there and back."""

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from conftest import HANGS

import skinpy
from skinpy import rotation
from skinpy._types import Array

NEAR = 1e-12  # float64: a few dozen roundings of numbers near 1
PLAIN = ["".join(order) for order in itertools.permutations("xyz")]
PROPER = [f"{a}{b}{a}" for a, b in itertools.permutations("xyz", 2)]
ORDERS = [order for lower in PLAIN + PROPER for order in (lower, lower.upper())]
HALF = np.sqrt(0.5)


@pytest.fixture(scope="module")
def scipy() -> Any:
    return pytest.importorskip(
        "scipy.spatial.transform", reason="compares with SciPy: the extra 'dev'"
    ).Rotation


def quaternions() -> Any:
    """(4,50,4) of all kinds: random ones, tiny and nearly half turns, both signs, exact axes."""
    rng = np.random.default_rng(5)
    found = rng.normal(size=(200, 4))
    found[:20, :3] *= 1e-9
    found[20:40, 3] *= 1e-9
    found[40:60] = np.concatenate([np.eye(4), -np.eye(4), *[np.eye(4)] * 3])
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).reshape(4, 50, 4)


def same(found: Any, wanted: Any, atol: float = NEAR) -> None:
    """Quaternions that are the same rotations."""
    assert found.shape == wanted.shape
    sign = np.where((found * wanted).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
    np.testing.assert_allclose(found * sign, wanted, atol=atol)


def test_it_is_imported_when_it_is_asked_for() -> None:
    code = (
        "import sys, skinpy; assert 'skinpy.rotation' not in sys.modules; skinpy.rotation.to_6d([0, 0, 0, 1])"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=HANGS)
    with pytest.raises(AttributeError, match="no attribute 'rotations'"):
        getattr(skinpy, "rotations")  # noqa: B009


# ---- against SciPy ---------------------------------------------------------------------------------------


def test_matrices(scipy: Any) -> None:
    q = quaternions()
    wanted = scipy.from_quat(q.reshape(-1, 4)).as_matrix().reshape(4, 50, 3, 3)
    np.testing.assert_allclose(rotation.to_matrix(q), wanted, atol=NEAR)
    found = rotation.from_matrix(wanted)
    same(found, q)
    assert (found[..., 3] >= 0).all()


def test_matrices_that_are_no_rotations(scipy: Any) -> None:
    rng = np.random.default_rng(6)
    off = rotation.to_matrix(quaternions()[0]) * 3.0 + rng.normal(size=(50, 3, 3)) * 0.3
    found = rotation.to_matrix(rotation.from_matrix(off))
    # The nearest rotation is that which aligns the columns best (Kabsch).
    for given, nearest in zip(off, found, strict=True):
        best, _ = scipy.align_vectors(given.T, np.eye(3))
        np.testing.assert_allclose(nearest, best.as_matrix(), atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles(scipy: Any, order: str) -> None:
    rng = np.random.default_rng(7)
    angles = rng.uniform(-200, 200, (2, 40, 3))
    wanted = scipy.from_euler(order, angles.reshape(-1, 3), degrees=True)
    same(rotation.from_euler(order, angles, degrees=True), wanted.as_quat().reshape(2, 40, 4))
    found = rotation.to_euler(wanted.as_quat().reshape(2, 40, 4), order, degrees=True)
    np.testing.assert_allclose(found.reshape(-1, 3), wanted.as_euler(order, degrees=True), atol=1e-8)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.filterwarnings("ignore:Gimbal lock")  # SciPy warns of it
def test_gimbal_lock(scipy: Any, order: str) -> None:
    middles = (0.0, np.pi) if order[0] == order[2] else (np.pi / 2, -np.pi / 2)
    for middle, first, third in itertools.product(middles, (-2.0, 0.3), (0.0, 1.1)):
        q = rotation.from_euler(order, [first, middle, third])
        found = rotation.to_euler(q, order)
        assert found[2] == 0.0
        # The square root of float64 is lost where the middle angle is found.
        same(rotation.from_euler(order, found), q, 1e-7)
        np.testing.assert_allclose(found, scipy.from_quat(q).as_euler(order), atol=1e-6)


@pytest.mark.parametrize("order", ["x", "Y", "z", "xy", "ZX"])
def test_fewer_axes(scipy: Any, order: str) -> None:
    angles = np.random.default_rng(8).uniform(-3, 3, (7, len(order)))
    same(rotation.from_euler(order, angles), scipy.from_euler(order, angles).as_quat())
    if len(order) == 1:
        same(rotation.from_euler(order, angles[0, 0]), scipy.from_euler(order, angles[0, 0]).as_quat())


def test_rotation_vectors(scipy: Any) -> None:
    q = quaternions()
    wanted = scipy.from_quat(q.reshape(-1, 4)).as_rotvec().reshape(4, 50, 3)
    found = rotation.to_rotvec(q)
    # Half a turn about an axis and about its opposite are the same rotation.
    turned = np.abs(np.linalg.norm(found, axis=-1) - np.pi) < 1e-7
    flip = np.where((found * wanted).sum(axis=-1) < 0, -1.0, 1.0)[..., None]
    np.testing.assert_allclose(np.where(turned[..., None], flip, 1.0) * found, wanted, atol=1e-11)
    same(rotation.from_rotvec(wanted), q)
    large = np.random.default_rng(9).normal(size=(30, 3)) * 300
    same(rotation.from_rotvec(large, degrees=True), scipy.from_rotvec(large, degrees=True).as_quat())


def test_products_inverses_and_vectors(scipy: Any) -> None:
    a, b = quaternions()[0], quaternions()[1]
    first, second = scipy.from_quat(a), scipy.from_quat(b)
    same(rotation.multiply(a, b), (first * second).as_quat())
    same(rotation.inverse(a), first.inv().as_quat())
    v = np.random.default_rng(10).normal(size=(50, 3))
    np.testing.assert_allclose(rotation.apply(a, v), first.apply(v), atol=NEAR)
    np.testing.assert_allclose(rotation.apply(a[0], v), scipy.from_quat(a[0]).apply(v), atol=NEAR)
    np.testing.assert_array_equal(rotation.normalize(a * 3, canonical=True)[:, 3] >= 0, np.ones(len(a), bool))


def test_slerp(scipy: Any) -> None:
    slerp = pytest.importorskip("scipy.spatial.transform").Slerp
    start, end = quaternions()[0], quaternions()[1]
    shares = np.linspace(0, 1, 7)
    for a, b in zip(start, end, strict=True):
        if abs(a @ b) > 1e-6:  # at half a turn apart there is no shorter arc
            wanted = slerp([0, 1], scipy.from_quat([a, b]))(shares).as_quat()
            same(rotation.slerp(a, b, shares), wanted, 1e-9)
    assert rotation.slerp(start, end, 0.5).shape == (50, 4)
    assert rotation.slerp(start, end[0], shares[:, None]).shape == (7, 50, 4)


# ---- by hand ---------------------------------------------------------------------------------------------


def test_a_quarter_turn_about_z_in_every_form() -> None:
    q = np.array([0, 0, HALF, HALF])
    matrix = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    np.testing.assert_allclose(rotation.to_matrix(q), matrix, atol=NEAR)
    np.testing.assert_allclose(rotation.from_matrix(matrix), q, atol=NEAR)
    np.testing.assert_allclose(rotation.to_euler(q, "xyz", degrees=True), [0, 0, 90], atol=1e-10)
    np.testing.assert_allclose(rotation.from_euler("Z", 90, degrees=True), q, atol=NEAR)
    np.testing.assert_allclose(rotation.to_rotvec(q), [0, 0, np.pi / 2], atol=NEAR)
    axis, angle = rotation.to_axis_angle(-q, degrees=True)
    np.testing.assert_allclose(axis, [0, 0, 1], atol=NEAR)
    np.testing.assert_allclose(angle, 90, atol=1e-10)
    np.testing.assert_allclose(rotation.from_axis_angle([0, 0, 5], 90, degrees=True), q, atol=NEAR)
    np.testing.assert_allclose(rotation.to_6d(q), [0, 1, 0, -1, 0, 0], atol=NEAR)
    np.testing.assert_allclose(rotation.from_6d([0, 2, 0, -3, 1, 0]), q, atol=NEAR)
    np.testing.assert_allclose(rotation.apply(q, [1, 0, 0]), [0, 1, 0], atol=NEAR)


def test_extrinsic_and_intrinsic_order() -> None:
    # About the scene's x and then its y, z goes to -y and stays there; about the turned y it goes to x.
    quarter = [90, 90]
    np.testing.assert_allclose(
        rotation.apply(rotation.from_euler("xy", quarter, True), [0, 0, 1]), [0, -1, 0], atol=NEAR
    )
    np.testing.assert_allclose(
        rotation.apply(rotation.from_euler("XY", quarter, True), [0, 0, 1]), [1, 0, 0], atol=NEAR
    )


def test_there_and_back() -> None:
    q = quaternions()
    same(rotation.from_6d(rotation.to_6d(q)), q)
    same(rotation.from_axis_angle(*rotation.to_axis_angle(q)), q)
    assert rotation.to_axis_angle(q)[1].shape == (4, 50)
    same(rotation.multiply(q, rotation.inverse(q)), np.broadcast_to([0.0, 0, 0, 1], q.shape))
    axis, angle = rotation.to_axis_angle([0, 0, 0, 1])
    assert axis.tolist() == [1, 0, 0] and angle == 0


def test_any_leading_axes_and_sizes() -> None:
    none = np.zeros((0, 4))
    assert rotation.to_matrix(none).shape == (0, 3, 3) and rotation.from_matrix(
        np.zeros((0, 3, 3))
    ).shape == (0, 4)
    assert rotation.to_euler(none, "xyz").shape == (0, 3) and rotation.from_6d(np.zeros((2, 0, 6))).shape == (
        2,
        0,
        4,
    )
    assert rotation.from_axis_angle([1, 0, 0], np.zeros((2, 5))).shape == (2, 5, 4)
    assert rotation.normalize([0, 0, 0, 1e-300]).tolist() == [0, 0, 0, 1]
    assert rotation.normalize(np.float32([0, 0, 3e38, 0])).tolist() == [0, 0, 1, 0]


def test_matrices_of_a_model() -> None:
    model = skinpy.character()
    pose = model.pose("run", [0.1, 0.2])
    turned = rotation.from_matrix(pose.locals()[..., :3, :3])
    # float32 matrices of float32 quaternions
    same(turned, pose.rotation.astype(np.float64), 1e-6)


# ---- arguments -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: rotation.to_matrix([1, 0, 0]),
            ValueError,
            r"quaternion has shape \(3,\); expected \(..., 4\)",
        ),
        (lambda: rotation.to_matrix(1.0), ValueError, r"quaternion has shape \(\)"),
        (lambda: rotation.to_matrix([0, 0, 0, 0]), ValueError, "row of zeros"),
        (lambda: rotation.to_matrix([0, 0, np.nan, 1]), ValueError, "not finite"),
        (lambda: rotation.to_matrix(["a", "b", "c", "d"]), ValueError, "quaternion"),
        (lambda: rotation.from_matrix(np.eye(4)), ValueError, r"expected \(..., 3, 3\)"),
        (lambda: rotation.from_matrix(np.diag([1, 1, -1])), ValueError, "determinant is not positive"),
        (lambda: rotation.from_matrix(np.diag([1, 1, 0])), ValueError, "determinant is not positive"),
        (lambda: rotation.from_euler("xYz", [1, 2, 3]), ValueError, "order is 'xYz'"),
        (lambda: rotation.from_euler("xxy", [1, 2, 3]), ValueError, "neighboring axes that differ"),
        (lambda: rotation.from_euler("", [1, 2, 3]), ValueError, "order is ''"),
        (
            lambda: rotation.from_euler("xyz", [1, 2]),
            ValueError,
            r"angles has shape \(2,\); expected \(..., 3\)",
        ),
        (lambda: rotation.from_euler(3, [1, 2]), TypeError, "order is 3"),  # type: ignore[arg-type]
        (lambda: rotation.to_euler([0, 0, 0, 1], "xy"), ValueError, "expected three"),
        (lambda: rotation.to_rotvec([0, 0, 0, 1], "yes"), TypeError, "degrees"),  # type: ignore[arg-type]
        (lambda: rotation.from_6d([1, 0, 0, 2, 0, 0]), ValueError, "parallel"),
        (lambda: rotation.from_6d([1, 0, 0, 0, 0, 0]), ValueError, "six holds a row of zeros"),
        (
            lambda: rotation.multiply(np.ones((2, 4)), np.ones((3, 4))),
            ValueError,
            r"first has leading axes \(2,\)",
        ),
        (lambda: rotation.from_axis_angle(np.ones((2, 3)), np.ones(3)), ValueError, "angle"),
    ],
)
def test_bad_arguments(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


# ---- numbers of all sizes ----------------------------------------------------------------------------

#: From the smallest that float64 has to nearly the largest; the squares of most are out of its range.
SIZES = [0.0, 1.0, 5e-324, 1e-320, 1e-300, 1e-160, 1e154, 1.4e154, 1e160, 1e300, 1.7e308]
LONG = np.longdouble  # its exponents reach 10^4932 on x86-64, so the twins below need no care
needs_longdouble = pytest.mark.skipif(np.finfo(LONG).maxexp < 4096, reason="longdouble is float64 here")


def extreme(width: int, *, zeros: bool = True) -> Array:
    rng = np.random.default_rng(width)
    found = rng.choice(SIZES, (3000, width)) * rng.choice([-1.0, 1.0], (3000, width))
    return found if zeros else found[found.any(axis=1)]


def longer(rows: Array) -> tuple[Any, Any]:
    """Lengths (N,1) and directions (N,C) in long double, directions of 0 for rows of 0."""
    length = np.sqrt((rows.astype(LONG) ** 2).sum(axis=-1, keepdims=True))
    return length, rows.astype(LONG) / np.where(length > 0, length, 1)


@needs_longdouble
@pytest.mark.filterwarnings("error")
def test_results_are_unit_quaternions_for_numbers_of_all_sizes() -> None:
    q, vectors = extreme(4, zeros=False), extreme(3)
    axes = extreme(3, zeros=False)
    found = {
        "normalize": rotation.normalize(q),
        "inverse": rotation.inverse(q),
        "multiply": rotation.multiply(q, q[::-1]),
        "from_rotvec": rotation.from_rotvec(vectors),
        "from_rotvec in degrees": rotation.from_rotvec(vectors, degrees=True),
        "from_axis_angle": rotation.from_axis_angle(axes, vectors[: len(axes), 0]),
        "from_euler": rotation.from_euler("xyz", vectors),
        "slerp": rotation.slerp(q, q[::-1], np.linspace(-1e6, 1e6, len(q))),
        "from_matrix": rotation.from_matrix(rotation.to_matrix(q) * 1e300),
        "from_6d": rotation.from_6d(rotation.to_6d(q) * 1e-300),
    }
    for name, quaternions in found.items():  # four roundings, and those of products
        np.testing.assert_allclose(longer(quaternions)[0], 1.0, rtol=0, atol=1e-15, err_msg=name)
    np.testing.assert_allclose(found["normalize"], longer(q)[1].astype(float), rtol=0, atol=4e-16)


@needs_longdouble
@pytest.mark.filterwarnings("error")
def test_rotation_vectors_of_all_sizes() -> None:
    vectors = extreme(3, zeros=False)
    made = rotation.from_rotvec(vectors)
    length, direction = longer(vectors)
    sine, axis = longer(made[:, :3])
    turned = sine[:, 0] > 1e-9  # others are too near a whole turn to have an axis
    dot = np.abs((direction * axis).sum(axis=1))[turned]
    np.testing.assert_allclose(dot.astype(float), 1.0, rtol=0, atol=1e-15)
    alone = np.zeros((len(SIZES), 3))
    alone[:, 1] = SIZES  # about one axis the angle is exact, and sin and cos are those of the library
    half = np.array(SIZES) / 2
    want = np.stack([0 * half, np.sin(half), 0 * half, np.cos(half)], axis=1)
    np.testing.assert_allclose(rotation.from_rotvec(alone), want, rtol=1e-15, atol=0)
    small = vectors[length[:, 0] < 3]
    np.testing.assert_allclose(
        rotation.to_rotvec(rotation.from_rotvec(small)), small, rtol=1e-14, atol=1e-323
    )


@needs_longdouble
@pytest.mark.filterwarnings("error")
def test_axes_and_angles_of_tiny_rotations() -> None:
    for size in (1e-160, 1e-200, 1e-300, 1e-310):
        axis, angle = rotation.to_axis_angle([0, size, 0, 1])
        np.testing.assert_array_equal(axis, [0, 1, 0])
        assert angle == 2 * size
        np.testing.assert_array_equal(rotation.to_rotvec([0, 0, size, -1]), [0, 0, -2 * size])


@needs_longdouble
@pytest.mark.filterwarnings("error")
def test_vectors_of_all_sizes_are_rotated() -> None:
    q, vectors = extreme(4, zeros=False)[:2500], extreme(3)[:2500]
    matrices, length = rotation.to_matrix(q), longer(vectors)[0]
    for one, matrix, vector, size in zip(q, matrices, vectors, length[:, 0], strict=True):
        want = matrix.astype(LONG) @ vector.astype(LONG)
        if np.abs(want).max() > np.finfo(float).max * (1 - 1e-9):
            with pytest.raises(ValueError, match=r"^vector holds a vector that is beyond float64"):
                rotation.apply(one, vector)
            continue
        off = np.abs(rotation.apply(one, vector) - want).max()
        assert off <= 2e-15 * size + 5e-324 * 4


@pytest.mark.parametrize("size", [1e-310, 1e-160, 1e154, 1e300])
def test_matrices_of_all_sizes(size: float) -> None:
    q = rotation.normalize(np.random.default_rng(4).normal(size=(200, 4)), canonical=True)
    matrix, six = rotation.to_matrix(q), rotation.to_6d(q)
    for back in (rotation.from_matrix(matrix * size), rotation.from_6d(six * size)):
        # 1e-310 has 44 bits
        np.testing.assert_allclose(np.abs((back * q).sum(axis=1)), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 10**400])
def test_numbers_that_are_not_finite_are_refused_by_name(bad: Any) -> None:
    calls: list[tuple[str, Any]] = [
        ("quaternion", lambda: rotation.normalize([bad, 0, 0, 1])),
        ("first", lambda: rotation.multiply([bad, 0, 0, 1], [0, 0, 0, 1])),
        ("quaternion", lambda: rotation.inverse([0, bad, 0, 1])),
        ("vector", lambda: rotation.apply([0, 0, 0, 1], [0, bad, 0])),
        ("share", lambda: rotation.slerp([0, 0, 0, 1], [0, 0, 1, 1], bad)),
        ("matrix", lambda: rotation.from_matrix([[bad, 0, 0], [0, 1, 0], [0, 0, 1]])),
        ("quaternion", lambda: rotation.to_matrix([0, 0, bad, 1])),
        ("angles", lambda: rotation.from_euler("xyz", [0, bad, 0])),
        ("quaternion", lambda: rotation.to_euler([0, 0, bad, 1], "xyz")),
        ("rotvec", lambda: rotation.from_rotvec([0, bad, 0])),
        ("quaternion", lambda: rotation.to_rotvec([0, 0, bad, 1])),
        ("axis", lambda: rotation.from_axis_angle([0, bad, 0], 1)),
        ("angle", lambda: rotation.from_axis_angle([0, 1, 0], bad)),
        ("quaternion", lambda: rotation.to_axis_angle([0, bad, 0, 1])),
        ("quaternion", lambda: rotation.to_6d([0, bad, 0, 1])),
        ("six", lambda: rotation.from_6d([0, bad, 0, 1, 0, 0])),
    ]
    for name, call in calls:
        with pytest.raises(ValueError, match=f"^{name} holds a number"):
            call()


def test_shares_have_a_bound() -> None:
    with pytest.raises(ValueError, match=r"^share holds 1e\+07; expected numbers from -1e6 to 1e6"):
        rotation.slerp([0, 0, 0, 1], [0, 0, 1, 1], 1e7)
