"""Every array argument in every form that NumPy has, and every `out`: the right answer or an error by name.

What holds the same numbers gives the same bits; what does not is refused by the argument's name; nothing is
written beside an `out`; and times and weights of any size give what the float64 twin gives.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import builders
import numpy as np
import public_functions
import pytest
from conftest import SIMD
from public_functions import TRIANGLES, TURN, frames_of_a_square
from twin import Rig, clip_time

import skinpy
from skinpy import rotation as turns

hypothesis = pytest.importorskip(
    "hypothesis", reason="no hypothesis (in the extra dev), which makes the arrays"
)
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

#: The same examples each time, and few: what takes long belongs to the full run.
short = settings(
    derandomize=True,
    max_examples=60,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # the machine may be
)

MODEL = skinpy.character()
OTHER = skinpy.crane()
FACE = public_functions.face()
BAKED = OTHER.bake_texture("slew", 4.0)
MOTION = skinpy.RootMotion([0.0, 1.0], np.zeros((2, 3)), np.tile(TURN, (2, 1)))
SQUARE = skinpy.VertexAnimation.every_frame(frames_of_a_square(), 10.0, faces=TRIANGLES)
UV = skinpy.UVAnimation(scroll=(0.5, 0.0))
LINE = skinpy.BlendSpace1D({0.0: "walk", 1.0: "run"})
PLANE = skinpy.BlendSpace2D({(0, 0): "walk", (1, 0): "run", (0, 1): "wave"})

TIMES = np.array([0.25, 0.5, 0.75, 0.125])
ROOT = np.array([[0.0, 0, 1, 2], [0, 1, 0, 0.5], [-1, 0, 0, 1], [0, 0, 0, 1]])
WEIGHTS = np.array([0.5, 0.25, 1.0, 0.75])
POINT, POINTS = np.array([0.25, 1.0, 0.5]), np.array([[0.25, 1, 0.5], [0.5, 1, 0], [0, 1, 1], [1, 1, 0.5]])
QUATERNIONS = np.array([[0.5, 0.5, 0.5, 0.5], [0, 0, 1, 0], [0.5, -0.5, 0.5, 0.5], [1, 0, 0, 0]])
INDICES = np.array([0, 1, 2, 1])
PALETTE = np.round(MODEL.palette("walk", 0.25), 2).astype(np.float32)


def four(**options: Any) -> skinpy.Pose:
    return MODEL.pose("walk", TIMES, **options)


def after(change: Callable[[skinpy.Pose], object]) -> list[Any]:
    pose = four()
    return [change(pose), pose.translation, pose.rotation, pose.scale]


def assigned(name: str, value: Any) -> list[Any]:
    """The arrays of a pose after pose.name = value; where that is refused they are as they were."""
    pose = FACE.pose(None, TIMES)
    before = bits([pose.translation, pose.rotation, pose.scale, pose.morph_weights])
    try:
        setattr(pose, name, value)
    except (TypeError, ValueError):
        assert bits([pose.translation, pose.rotation, pose.scale, pose.morph_weights]) == before
        raise
    return [pose.translation, pose.rotation, pose.scale, pose.morph_weights]


def head(**options: Any) -> Any:
    """A model of one joint; options take the place of its arrays."""
    arrays = {
        "parents": np.array([-1]),
        "rest": np.eye(4)[None],
        "positions": frames_of_a_square(1)[0],
        "faces": TRIANGLES,
        "joints": np.zeros((4, 1), int),
        "weights": np.ones((4, 1)),
    } | options
    model = skinpy.Model.from_arrays(["head"], **arrays)
    return [bytes(model._block)]


def nod(**options: Any) -> Any:
    clip = skinpy.Clip.from_arrays("nod", joints=["Hips"], **({"times": TIMES[:3]} | options))
    return [clip.to_records()]


Call = Callable[[Any], Any]
#: name: (the word that errors must have, values that float16 holds too, the call)
FLOATS: dict[str, tuple[str, Any, Call]] = {
    "Model.palette time": ("time", TIMES, lambda a: MODEL.palette("walk", a)),
    "Model.palette root": ("root", ROOT, lambda a: MODEL.palette("walk", 0.25, root=a)),
    "Model.globals time": ("time", TIMES, lambda a: MODEL.globals("walk", a)),
    "Model.globals root": ("root", ROOT, lambda a: MODEL.globals("walk", 0.25, root=a)),
    "Model.joint_positions time": ("time", TIMES, lambda a: MODEL.joint_positions("walk", a)),
    "Model.pose time": ("time", TIMES, lambda a: MODEL.pose("walk", a)),
    "Model.pose root": ("root", ROOT, lambda a: MODEL.pose("walk", 0.25, root=a).palette()),
    "Model.crowd_palette time": (
        "time",
        TIMES,
        lambda a: MODEL.crowd_palette(["walk", "run", "wave"], INDICES, a),
    ),
    "Model.crowd_palette weights": (
        "weights",
        WEIGHTS,
        lambda a: MODEL.crowd_palette(["walk", "run", "wave"], INDICES, TIMES, weights=a),
    ),
    "Model.crowd_palette root": (
        "root",
        ROOT,
        lambda a: MODEL.crowd_palette(["walk", "run", "wave"], INDICES, TIMES, root=a),
    ),
    "Model.deform palette": ("palette", PALETTE, lambda a: MODEL.deform(a)),
    "Model.deform morph_weights": (
        "morph_weights",
        np.array([0.5]),
        lambda a: FACE.deform(FACE.palette(), morph_weights=a),
    ),
    "Clip.sample time": ("time", TIMES, lambda a: MODEL.clips["walk"].sample(a)),
    "blend weights": ("weights", WEIGHTS, lambda a: skinpy.blend([four(), four()], [a, 0.5])),
    "Pose.two_bone_ik target": ("target", POINTS, lambda a: after(lambda p: p.two_bone_ik("LeftHand", a))),
    "Pose.two_bone_ik pole": (
        "pole",
        POINTS,
        lambda a: after(lambda p: p.two_bone_ik("LeftHand", POINT, pole=a)),
    ),
    "Pose.two_bone_ik weight": (
        "weight",
        WEIGHTS,
        lambda a: after(lambda p: p.two_bone_ik("LeftHand", POINT, weight=a)),
    ),
    "Pose.aim target": ("target", POINTS, lambda a: after(lambda p: p.aim("Head", a))),
    "Pose.aim axis": ("axis", POINT, lambda a: after(lambda p: p.aim("Head", POINT, axis=a))),
    "Pose.aim up": ("up", POINT, lambda a: after(lambda p: p.aim("Head", POINT, up=a))),
    "Pose.aim pole": ("pole", POINTS, lambda a: after(lambda p: p.aim("Head", POINT, pole=a))),
    "Pose.aim weight": ("weight", WEIGHTS, lambda a: after(lambda p: p.aim("Head", POINT, weight=a))),
    "Pose.fabrik target": (
        "target",
        POINTS,
        lambda a: after(lambda p: p.fabrik("LeftHand", a, root="LeftShoulder")),
    ),
    "Pose.fabrik weight": (
        "weight",
        WEIGHTS,
        lambda a: after(lambda p: p.fabrik("LeftHand", POINT, root="LeftShoulder", weight=a)),
    ),
    "Pose.translation =": ("translation", POINTS[:, None], lambda a: assigned("translation", a)),
    "Pose.rotation =": ("rotation", QUATERNIONS[:, None], lambda a: assigned("rotation", a)),
    "Pose.scale =": ("scale", POINTS[:, None], lambda a: assigned("scale", a)),
    "Pose.morph_weights =": ("morph_weights", WEIGHTS[:, None], lambda a: assigned("morph_weights", a)),
    "Pose.set translation": ("translation", POINTS, lambda a: after(lambda p: p.set("Head", translation=a))),
    "Pose.set rotation": ("rotation", QUATERNIONS, lambda a: after(lambda p: p.set("Head", rotation=a))),
    "Pose.set scale": ("scale", POINTS, lambda a: after(lambda p: p.set("Head", scale=a))),
    "Pose.rotate rotation": ("rotation", QUATERNIONS, lambda a: after(lambda p: p.rotate("Head", a))),
    "Pose.rotate degrees": (
        "degrees",
        WEIGHTS,
        lambda a: after(lambda p: p.rotate("Head", degrees=a, axis="y")),
    ),
    "Pose.rotate axis": ("axis", POINTS, lambda a: after(lambda p: p.rotate("Head", degrees=5.0, axis=a))),
    "Pose.translate vector": ("vector", POINTS, lambda a: after(lambda p: p.translate("Head", a))),
    "Pose.attach offset": ("offset", ROOT, lambda a: four().attach("Head", a)),
    "RootMotion.sample time": ("time", TIMES, lambda a: MOTION.sample(a)),
    "RootMotion.delta start": ("start", TIMES, lambda a: MOTION.delta(a, 1.0)),
    "BakedTexture.palette time": ("time", TIMES, lambda a: BAKED.palette("slew", a)),
    "BakedTexture.instances time": ("time", TIMES, lambda a: BAKED.instances([0] * 4, a)),
    "VertexAnimation.sample time": ("time", TIMES, lambda a: SQUARE.sample(a)),
    "VertexAnimation.places time": ("time", TIMES, lambda a: SQUARE.places(a)),
    "VertexAnimation.every_frame frames": (
        "frames",
        np.round(frames_of_a_square() * 4) / 4,
        lambda a: skinpy.VertexAnimation.every_frame(a, 10.0, faces=TRIANGLES).frames,
    ),
    "UVAnimation.sample time": ("time", TIMES, lambda a: UV.sample(a)),
    "UVAnimation.apply uvs": ("uvs", POINTS[:, :2], lambda a: UV.apply(a, 0.5)),
    "Mask.array weights": ("weights", np.full(26, 0.5), lambda a: skinpy.Mask.array(a).weights(MODEL)),
    "BlendSpace1D.weights parameter": ("parameter", WEIGHTS, lambda a: LINE.weights(a)),
    "BlendSpace2D.weights parameter": ("parameter", POINTS[:, :2], lambda a: PLANE.weights(a)),
    "Model.from_arrays rest": ("rest", ROOT[None], lambda a: head(rest=a)),
    "Model.from_arrays positions": ("positions", frames_of_a_square(1)[0], lambda a: head(positions=a)),
    "Model.from_arrays weights": ("weights", np.ones((4, 1)), lambda a: head(weights=a)),
    "Model.from_arrays normals": ("normals", frames_of_a_square(1)[0] + 0.5, lambda a: head(normals=a)),
    "Model.from_arrays uvs": ("uvs", POINTS[:, :2], lambda a: head(uvs=a)),
    "Model.from_arrays inverse_bind": ("inverse_bind", ROOT[None], lambda a: head(inverse_bind=a)),
    "Clip.from_arrays times": ("times", TIMES[:3], lambda a: nod(times=a, translation=np.zeros((3, 1, 3)))),
    "Clip.from_arrays translation": ("translation", POINTS[:3, None], lambda a: nod(translation=a)),
    "Clip.from_arrays rotation": ("rotation", QUATERNIONS[:3, None], lambda a: nod(rotation=a)),
    "Clip.from_arrays scale": ("scale", POINTS[:3, None] + 1, lambda a: nod(scale=a)),
    "rotation.multiply": ("", QUATERNIONS, lambda a: turns.multiply(a, TURN)),
    "rotation.apply": ("", POINTS, lambda a: turns.apply(TURN, a)),
    "rotation.slerp": ("", WEIGHTS, lambda a: turns.slerp(TURN, QUATERNIONS, a)),
}
INTEGERS: dict[str, tuple[str, Any, Call]] = {
    "Model.crowd_palette clip_index": (
        "clip_index",
        INDICES,
        lambda a: MODEL.crowd_palette(["walk", "run", "wave"], a, TIMES),
    ),
    "BakedTexture.instances clip_index": (
        "clip_index",
        np.zeros(4, int),
        lambda a: BAKED.instances(a, TIMES),
    ),
    "Model.from_arrays parents": ("parents", np.array([-1]), lambda a: head(parents=a)),
    "Model.from_arrays faces": ("faces", TRIANGLES, lambda a: head(faces=a)),
    "Model.from_arrays joints": ("joints", np.zeros((4, 1), int), lambda a: head(joints=a)),
}
ARGUMENTS = FLOATS | INTEGERS


def bits(result: Any) -> Any:
    if isinstance(result, skinpy.Pose):
        result = [result.translation, result.rotation, result.scale]
    if isinstance(result, tuple | list):
        return [bits(part) for part in result]
    return result.tobytes() if isinstance(result, np.ndarray) else repr(result)


def unaligned(array: Any) -> Any:
    memory = np.zeros(array.nbytes + 1, np.uint8)[1:]
    moved = memory.view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def frozen(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


def every_second(array: Any) -> Any:
    wide = np.full((*array.shape[:-1], 2 * array.shape[-1]), 77, array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


FORMS: dict[str, Callable[[Any], Any]] = {
    "big endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "little endian": lambda a: a.astype(a.dtype.newbyteorder("<")),
    "fortran order": np.asfortranarray,
    "every second": every_second,
    "backward": lambda a: a[::-1].copy()[::-1],
    "unaligned": unaligned,
    "read-only": frozen,
    "a list": lambda a: a.tolist(),
    "a subclass": lambda a: a.view(np.recarray),
    "a memory map of nothing": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
}


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_any_form_of_the_same_numbers_gives_the_same_bits(name: str) -> None:
    _, values, call = ARGUMENTS[name]
    values = np.asarray(values)
    dtypes = ("f8", "f4", "f2", "g") if values.dtype.kind == "f" else ("i8", "i4", "i2", "i1")
    wanted = bits(call(values))
    for dtype in dtypes:
        exact = values.astype(dtype)
        if not np.array_equal(exact, values):
            continue
        assert bits(call(exact)) == wanted, dtype
        for form, change in FORMS.items():
            if form == "a list" and dtype == "g":
                continue
            assert bits(call(change(exact))) == wanted, f"{form} of {dtype}"


BAD: dict[str, Callable[[Any], Any]] = {
    "complex": lambda a: a.astype(complex),
    "text": lambda a: np.full(a.shape, "a"),
    "objects": lambda a: np.full(a.shape, None),
    "days": lambda a: np.zeros(a.shape, "M8[D]"),
    "records": lambda a: np.zeros(a.shape, [("a", "f4"), ("b", "f4")]),
    "ragged": lambda a: [[1.0], [1.0, 2.0]],
    "nothing like it": lambda a: object(),
    "a word": lambda a: "abc",
    "many axes": lambda a: a.reshape(a.shape + (1,) * (31 - a.ndim)) if a.ndim < 31 else a,
    "other shape": lambda a: np.zeros((3, 5, 7), a.dtype),
    "empty": lambda a: np.zeros((0, *a.shape[1:], 11), a.dtype),
}
NOT_FINITE: dict[str, Callable[[Any], Any]] = {
    "nan": lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size - 1, np.nan, a),
    "infinite": lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size - 1, np.inf, a),
    "minus infinite": lambda a: np.full(a.shape, -np.inf),
}
#: Arguments of any shape: their own axes come first in the result.
ANY_SHAPE = ("time", "start", "parameter", "clip_index", "")


def error_of(call: Call, argument: Any) -> str | None:
    """What its TypeError or ValueError says; None where there is none."""
    try:
        call(argument)
    except (TypeError, ValueError) as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_what_is_no_such_array_is_refused_by_name(name: str) -> None:
    word, values, call = ARGUMENTS[name]
    values = np.asarray(values)
    for bad, change in BAD.items():
        if word in ANY_SHAPE and bad in ("other shape", "empty", "many axes"):
            continue
        said = error_of(call, change(values))
        assert said is not None, f"{bad} was taken"
        assert word.split("_")[-1].rstrip("s") in said, f"{bad}: {said}"


@pytest.mark.parametrize("name", sorted(FLOATS))
def test_numbers_that_are_not_finite(name: str) -> None:
    """Refused by the argument's name; rotations and palettes alone give back what cannot be computed, and a
    pose holds it: its arrays can be written to as well."""
    word, values, call = ARGUMENTS[name]
    for bad, change in NOT_FINITE.items():
        said = error_of(call, change(np.asarray(values, np.float64)))
        if said is None:
            free = name.startswith("rotation.") or name.endswith(" =")
            assert free or word in ("palette", "morph_weights"), f"{bad} was taken"
        else:
            assert word.rstrip("s") in said, f"{bad}: {said}"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("root", lambda: MODEL.palette("walk", 0.0, root=1e300 * np.eye(4))),
        ("root", lambda: MODEL.pose(root=1e300 * np.eye(4))),
        ("palette", lambda: MODEL.deform(PALETTE.astype(float) * 1e300)),
        ("morph_weights", lambda: FACE.deform(FACE.palette(), morph_weights=[1e300])),
        ("scale", lambda: assigned("scale", 1e300)),
    ],
)
def test_numbers_beyond_float32(name: str, call: Callable[[], Any]) -> None:
    """Refused by name, and without NumPy's warning."""
    with pytest.raises(ValueError, match=f"^{name} holds a number that is not finite in float32$"):
        call()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("translation", 1j, "translation has dtype complex128; expected real numbers"),
        ("rotation", np.datetime64("2020-01-01"), "rotation has dtype datetime64[D]; expected real numbers"),
        ("scale", None, "scale has dtype object; expected real numbers"),
        ("translation", "x", "translation has dtype <U1; expected real numbers"),
        ("rotation", [[1], [1, 2]], "rotation is ragged, or contains something other than numbers"),
        ("rotation", np.zeros(5), "rotation has shape (5,); expected (26, 4)"),
        ("scale", np.zeros((2, 26, 3)), "scale has shape (2, 26, 3); expected (26, 3)"),
        ("morph_weights", [1.0, 2.0], "morph_weights has shape (2,); expected (0,)"),
    ],
)
def test_what_no_array_of_a_pose_takes(name: str, value: Any, words: str) -> None:
    pose = MODEL.pose("walk", 0.25)
    before = getattr(pose, name).tobytes()
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(words)}$"):
        setattr(pose, name, value)
    assert getattr(pose, name).tobytes() == before


def test_what_spreads_over_arrays_of_a_pose() -> None:
    """As NumPy's own assignment does: numbers, rows, a column, and axes of length 1 in front."""
    for value in (
        2,
        0.5,
        True,
        [1.0, 2.0, 3.0],
        np.ones((J, 1)),
        np.ones((1, 1, J, 3)),
        np.ones((1, 3), "f2"),
    ):
        pose, wanted = MODEL.pose(), MODEL.pose()
        pose.scale = value  # type: ignore[assignment]
        wanted.scale[...] = value
        assert np.array_equal(pose.scale, wanted.scale)
    pose = four()
    pose.rotation = pose.rotation[::-1]
    assert np.array_equal(pose.rotation, four().rotation[::-1])


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    def late(*_: object) -> None:
        raise AssertionError(f"took more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_enormous_arrays(name: str) -> None:
    """That take no memory themselves, and 2^55 bytes and more to copy: an error, at once."""
    _, values, call = ARGUMENTS[name]
    values = np.asarray(values)
    for enormous in (
        np.broadcast_to(values, (1 << 52, *values.shape)),
        np.broadcast_to(values.reshape(-1)[:1], (1 << 55,)),
        np.broadcast_to(values.reshape(-1)[:1], (1 << 20, 1 << 20, 1 << 12)),
    ):
        with at_most(100), pytest.raises((MemoryError, ValueError, OverflowError)):
            call(enormous)


# --------------------------------------------------------------------------------------------------- out

S, J, V = len(MODEL.skin), len(MODEL.skeleton), len(MODEL.mesh.positions)
OUTS: dict[str, tuple[tuple[int, ...], Callable[[Any], Any]]] = {
    "Model.palette": ((4, S, 4, 4), lambda out: MODEL.palette("walk", TIMES, out)),
    "Model.palette affine": ((4, S, 3, 4), lambda out: MODEL.palette("walk", TIMES, out, affine=True)),
    "Model.globals": ((4, J, 4, 4), lambda out: MODEL.globals("walk", TIMES, out)),
    "Model.joint_positions": ((4, J, 3), lambda out: MODEL.joint_positions("walk", TIMES, out)),
    "Model.crowd_palette": (
        (4, S, 4, 4),
        lambda out: MODEL.crowd_palette(["walk", "run", "wave"], INDICES, TIMES, out=out),
    ),
    "Pose.locals": ((4, J, 4, 4), lambda out: four().locals(out)),
    "Pose.globals": ((4, J, 3, 4), lambda out: four().globals(out)),
    "Pose.palette": ((4, S, 4, 4), lambda out: four().palette(out)),
    "AnimationController.palette": ((S, 4, 4), lambda out: playing().palette(out)),
    "Model.deform": ((V, 3), lambda out: MODEL.deform(PALETTE, normals=False, out=(out, None))[0]),
    "VertexAnimation.sample": (
        (4, 4, 3),
        lambda out: SQUARE.sample(TIMES, (out, np.empty((4, 4, 3), np.float32)))[0],
    ),
}


def playing() -> skinpy.AnimationController:
    controller = skinpy.AnimationController(MODEL)
    controller.play("walk")
    return controller


def new(shape: tuple[int, ...]) -> Any:
    return np.zeros(shape, np.float32)


@pytest.mark.parametrize("name", sorted(OUTS))
@pytest.mark.parametrize("simd", SIMD)
def test_nothing_beside_out_is_written(name: str, simd: str) -> None:
    """Canaries on both sides of it, at every alignment of 4 bytes to a cache line."""
    shape, call = OUTS[name]
    try:
        before = skinpy._core._simd(simd)
    except ValueError:
        pytest.skip(f"no {simd} here")
    try:
        wanted = call(new(shape)).tobytes()
        for shift in range(16):
            size = int(np.prod(shape))
            memory = np.full(size + 64 + shift, -123.0, np.float32)
            out = memory[32 + shift : 32 + shift + size].reshape(shape)
            assert call(out) is out
            assert out.tobytes() == wanted
            memory[32 + shift : 32 + shift + size] = -123.0
            assert (memory == -123.0).all()
    finally:
        skinpy._core._simd(before)


BAD_OUTS: dict[str, Callable[[tuple[int, ...]], Any]] = {
    "float64": lambda s: np.zeros(s),
    "float16": lambda s: np.zeros(s, "f2"),
    "integers": lambda s: np.zeros(s, "i4"),
    "other byte order": lambda s: np.zeros(s, ">f4"),
    "fortran order": lambda s: np.zeros(s, np.float32, order="F"),
    "every second": lambda s: every_second(new(s)),
    "backward": lambda s: new(s)[::-1],
    "unaligned": lambda s: unaligned(new(s)),
    "read-only": lambda s: frozen(new(s)),
    "one for all": lambda s: np.lib.stride_tricks.as_strided(new((1,) * len(s)), s, (0,) * len(s)),
    "too many": lambda s: new((s[0] + 1, *s[1:])),
    "too few": lambda s: new((s[0] - 1, *s[1:])),
    "one axis more": lambda s: new((1, *s)),
    "flat": lambda s: new((int(np.prod(s)),)),
    "none": lambda s: new((0, *s[1:])),
    "memory of the model": lambda s: np.frombuffer(MODEL._block, np.float32, int(np.prod(s))).reshape(s),
    "a list": lambda s: new(s).tolist(),
    "a memoryview": lambda s: memoryview(new(s)),
    "a number": lambda s: 1.0,
}


@pytest.mark.parametrize("name", sorted(OUTS))
def test_what_cannot_be_written_to_is_refused(name: str) -> None:
    shape, call = OUTS[name]
    for bad, make in BAD_OUTS.items():
        out = make(shape)
        before = out.tobytes() if isinstance(out, np.ndarray) else None
        said = error_of(call, out)
        assert said is not None, f"{bad} was taken"
        assert "out" in said, f"{bad}: {said}"
        if before is not None:
            assert out.tobytes() == before, f"{bad} was written to"


def test_outs_that_overlap_what_is_read() -> None:
    pose = four()
    for call in (pose.locals, pose.globals):
        wide = np.zeros(J * 16 * 4 + J * 4 * 4, np.float32)
        shared = skinpy.Pose(
            MODEL,
            pose.translation,
            wide[: 4 * J * 4].reshape(4, J, 4),
            pose.scale,
            pose.morph_weights,
        )
        shared.rotation[:] = pose.rotation
        wanted = call()
        for shift, fits in ((4 * J * 4, True), (4 * J * 4 - 1, False), (0, False)):
            out = wide[shift : shift + 4 * J * 16].reshape(4, J, 4, 4)
            method = getattr(shared, call.__name__)
            if fits:
                assert np.array_equal(method(out), wanted)
            else:
                with pytest.raises(ValueError, match="overlaps"):
                    method(out)
    both = new((V + 1, 3))
    with pytest.raises(ValueError, match="overlaps"):
        MODEL.deform(PALETTE, out=(both[:V], both[1:]))
    times = new((16, S, 4, 4))
    with pytest.raises(ValueError, match="overlaps"):
        MODEL.palette("walk", times.reshape(-1).view(np.float64)[:16], times)


def test_poses_over_arrays_of_the_caller() -> None:
    """Read-only ones can be read and are not written; what is changed underneath is seen, or refused."""
    pose = four()
    arrays = [frozen(a) for a in (pose.translation, pose.rotation, pose.scale, pose.morph_weights)]
    still = skinpy.Pose(MODEL, *arrays)
    assert np.array_equal(still.palette(), pose.palette())
    before = arrays[1].tobytes()
    for change in (
        lambda: still.two_bone_ik("LeftHand", POINT),
        lambda: still.aim("Head", POINT),
        lambda: still.fabrik("LeftHand", POINT, root="LeftShoulder"),
        lambda: still.set("Head", rotation=TURN),
        lambda: still.rotate("Head", TURN),
        lambda: still.translate("Head", POINT),
        lambda: setattr(still, "rotation", TURN),
        lambda: MODEL.clips["walk"].sample(TIMES, out=still),
    ):
        with pytest.raises(ValueError, match="read-only"):
            change()
    assert arrays[1].tobytes() == before
    for bad in (pose.rotation.astype(">f4"), pose.rotation.astype(float), pose.rotation[:, ::2], np.zeros(3)):
        with pytest.raises(ValueError, match=r"rotation|leading"):
            skinpy.Pose(MODEL, pose.translation, bad, pose.scale, pose.morph_weights)
    shrunk = four()
    shrunk.translation.resize((1, 2, 3), refcheck=False)
    with pytest.raises(ValueError, match="translation"):
        shrunk.palette()


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 2), (1,), ()])
def test_empty_and_single(shape: tuple[int, ...]) -> None:
    times = np.zeros(shape)
    assert MODEL.palette("walk", times).shape == (*shape, S, 4, 4)
    assert MODEL.joint_positions("walk", times).shape == (*shape, J, 3)
    pose = MODEL.pose("walk", times)
    assert pose.locals().shape == (*shape, J, 4, 4)
    assert MODEL.deform(pose)[0].shape == (*shape, V, 3)
    assert pose.two_bone_ik("LeftHand", POINT).shape == shape
    assert skinpy.blend([pose, pose], [1, 1]).palette().shape == (*shape, S, 4, 4)
    assert SQUARE.sample(times)[0].shape == (*shape, 4, 3)
    if len(shape) == 1:
        assert MODEL.crowd_palette(["walk"], np.zeros(shape, int), times).shape == (*shape, S, 4, 4)


# -------------------------------------------------------------------------- by hypothesis, and the twin

RANDOM = skinpy.load(builders.random_model(5, vertices=50).glb(), format="glb")
RIG = Rig.of(RANDOM)
ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True, width=64)
USUAL = st.floats(-1e3, 1e3, allow_subnormal=True)
LOOPS = st.sampled_from(["wrap", "clamp", "pingpong", "once"])


@short
@given(
    hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3), elements=ANY_FLOAT
    ),
    LOOPS,
)
def test_times_of_any_size(times: Any, loop: str) -> None:
    """Finite ones, huge and denormal, give finite matrices that follow the twin's time; others an error."""
    if not np.isfinite(times).all():
        with pytest.raises(ValueError, match="time"):
            RANDOM.palette(0, times, loop=loop)
        return
    got = RANDOM.palette(0, times, loop=loop)
    assert got.shape == (*times.shape, len(RANDOM.skin), 4, 4)
    assert np.isfinite(got).all()


@short
@given(USUAL, LOOPS)
def test_times_against_the_twin(time: float, loop: str) -> None:
    duration = RANDOM.clips[0].duration
    inside = clip_time(time, duration, loop)
    if min(inside, duration - inside) < 1e-3:  # at the seam either side is right to rounding
        return
    got = RANDOM.palette(0, time, loop=loop)
    want = RIG.palette(0, time, loop=loop)
    reach = max(np.abs(want).max(), 1.0)
    assert np.abs(got - want).max() <= 2e-5 * reach


@short
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=ANY_FLOAT),
    st.integers(0, 2**31),
)
def test_weights_of_any_size(weights: Any, seed: int) -> None:
    """A crowd's weights, from 0 to 1e30: finite palettes; others are refused by name."""
    rng = np.random.default_rng(seed)
    index = rng.integers(-1, 3, weights.shape)
    times = rng.uniform(-2, 2, weights.shape)
    allowed = np.isfinite(weights) & (weights >= 0) & (weights <= 1e30)
    if not allowed.all():
        with pytest.raises(ValueError, match="weights"):
            MODEL.crowd_palette(["walk", "run", "wave"], index, times, weights=weights)
        return
    got = MODEL.crowd_palette(["walk", "run", "wave"], index, times, weights=weights)
    assert np.isfinite(got).all()


@short
@given(st.lists(ANY_FLOAT, min_size=1, max_size=4))
def test_blend_weights_of_any_size(weights: list[float]) -> None:
    poses = [MODEL.pose(number % 3, 0.1 * number) for number in range(len(weights))]
    if all(np.isfinite(w) and 0 <= w <= 1e30 for w in weights):
        assert np.isfinite(skinpy.blend(poses, weights).palette()).all()
    else:
        with pytest.raises(ValueError, match="weights"):
            skinpy.blend(poses, weights)


@short
@given(hnp.arrays(np.float32, (S, 3, 4), elements=st.floats(width=32)))
def test_palettes_of_any_numbers_do_no_harm(palette: Any) -> None:
    """What is not finite comes out at the vertices that follow it; nothing else happens."""
    positions, normals = MODEL.deform(palette)
    assert positions.shape == normals.shape == (V, 3)


@short
@given(
    hnp.arrays(np.float32, (J, 4), elements=st.floats(width=32)),
    hnp.arrays(np.float32, (J, 3), elements=st.floats(width=32)),
)
def test_poses_of_any_numbers_do_no_harm(rotation: Any, translation: Any) -> None:
    pose = MODEL.pose()
    pose.rotation[:], pose.translation[:] = rotation, translation
    with np.errstate(all="ignore"):
        assert pose.palette().shape == (S, 4, 4)
        assert MODEL.deform(pose)[0].shape == (V, 3)
        pose.copy().two_bone_ik("LeftHand", POINT)
        pose.copy().aim("Head", POINT)
        pose.copy().fabrik("LeftHand", POINT, root="LeftShoulder")


@short
@given(
    hnp.arrays(
        hnp.array_dtypes() | hnp.scalar_dtypes(),
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    )
)
def test_any_array_for_a_time(times: Any) -> None:
    """Real numbers that are finite are times, of any dtype and shape; all else is an error."""
    with np.errstate(all="ignore"):  # a longdouble may be beyond what is computed with
        real = times.dtype.kind in "biuf" and np.isfinite(times.astype(np.float64)).all()
    if real:
        assert RANDOM.palette(0, times).shape == (*times.shape, len(RANDOM.skin), 4, 4)
    else:
        with pytest.raises((TypeError, ValueError), match="time"):
            RANDOM.palette(0, times)
