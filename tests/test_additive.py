"""Additive clips: differences by hand, and laid over their reference by a NumPy twin of the rule."""

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy._types import Array
from skinpy.clip import Channel
from skinpy.clips.edit import derived
from skinpy.storage import quantize

HALF = math.sqrt(0.5)


def product(a: Array, b: Array) -> Array:
    """Hamilton product, component by component: i^2 = j^2 = k^2 = ijk = -1."""
    ax, ay, az, aw = np.moveaxis(a.astype(np.float64), -1, 0)
    bx, by, bz, bw = np.moveaxis(b.astype(np.float64), -1, 0)
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=-1,
    )


def morphing() -> skinpy.Model:
    """A chain of two joints with a morph target, at rest turned, moved and scaled."""
    rest = np.tile(np.eye(4), (2, 1, 1))
    rest[0, :3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]  # a quarter about z
    rest[1, :3, 3] = [0, 2, 0]
    rest[1, :3, :3] *= 4
    return skinpy.Model.from_arrays(
        ["a", "b"],
        [-1, 0],
        rest,
        positions=np.eye(3),
        faces=[[0, 1, 2]],
        joints=[[0], [1], [1]],
        weights=np.ones((3, 1)),
        targets={"smile": np.eye(3)},
    )


def moving(interpolation: str = "linear") -> skinpy.Clip:
    """Joint b over a second; at 0.5 s it is halfway."""
    return skinpy.Clip.from_arrays(
        "move",
        times=[0, 1],
        joints=["b"],
        translation=[[[1, 2, 3]], [[3, 2, 1]]],
        rotation=[[[0, 0, 0, 1]], [[HALF, 0, 0, HALF]]],
        scale=[[[2, 2, 2]], [[6, 1, 2]]],
        targets=["smile"],
        weights=[[0.5], [1]],
        interpolation=interpolation,
    )


def cubic(model: skinpy.Model) -> skinpy.Clip:
    """All paths of joint b, and the morph target, by splines with random keys and tangents."""
    random = np.random.default_rng(5)
    channels = []
    for path, width in (("translation", 3), ("rotation", 4), ("scale", 3), ("weights", 1)):
        values = random.uniform(0.5, 2, (3, width)).astype(np.float32)
        if path == "rotation":
            values /= np.linalg.norm(values, axis=1, keepdims=True)
        tangents = random.uniform(-1, 1, (2, 3, width)).astype(np.float32)
        moved: tuple[int | None, int | None] = (None, 0) if path == "weights" else (1, None)
        channels.append(Channel(*moved, "x", path, "cubic", np.array([0, 0.4, 1]), values, *tangents))
    return derived(model.add_clips(moving()).clips[0], channels, 1.0)


def laid_over(model: skinpy.Model, clip: skinpy.Clip, below: skinpy.Pose, times: Array) -> skinpy.Pose:
    """The differences of `clip` with weight 1 over `below`."""
    difference = model.pose(clip, times)
    found = model.pose(None, times)
    found.translation = below.translation + difference.translation
    found.rotation = product(difference.rotation, np.broadcast_to(below.rotation, difference.rotation.shape))
    found.scale = below.scale * difference.scale
    found.morph_weights = below.morph_weights + difference.morph_weights
    return found


def assert_same(found: skinpy.Pose, wanted: skinpy.Pose) -> None:
    """Two poses of numbers up to 8: each difference is rounded to float32 once, and the sum again."""
    for name in ("translation", "scale", "morph_weights"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=3e-6, err_msg=name)
    turns = [
        rows / np.linalg.norm(rows, axis=-1, keepdims=True) for rows in (found.rotation, wanted.rotation)
    ]
    away = np.minimum(np.abs(turns[0] - turns[1]).max(axis=-1), np.abs(turns[0] + turns[1]).max(axis=-1))
    assert away.max() < 1e-6


# ---- by hand -------------------------------------------------------------------------------------------


def test_differences_from_the_first_pose() -> None:
    model = morphing().add_clips(moving())
    clip = model.clips[0].additive()
    assert clip.is_additive and not model.clips[0].is_additive and clip.model is model
    start, end = model.pose(clip, 0.0), model.pose(clip, 1.0)
    np.testing.assert_array_equal(start.translation, np.zeros((2, 3)))
    np.testing.assert_array_equal(start.rotation, [[0, 0, 0, 1]] * 2)
    np.testing.assert_array_equal(start.scale, np.ones((2, 3)))
    np.testing.assert_array_equal(start.morph_weights, [0])
    np.testing.assert_allclose(end.translation, [[0, 0, 0], [2, 0, -2]])
    np.testing.assert_allclose(end.rotation, [[0, 0, 0, 1], [HALF, 0, 0, HALF]], atol=1e-7)
    np.testing.assert_allclose(end.scale, [[1, 1, 1], [3, 0.5, 1]])
    np.testing.assert_allclose(end.morph_weights, [0.5])


def test_differences_from_a_time() -> None:
    """Halfway: translation 2 2 2, 45 degrees about x, scale 4 1.5 2, weight 0.75."""
    model = morphing().add_clips(moving())
    pose = model.pose(model.clips[0].additive(0.5), [0.0, 0.5, 1.0])
    np.testing.assert_allclose(pose.translation[:, 1], [[-1, 0, 1], [0, 0, 0], [1, 0, -1]], atol=1e-7)
    eighth = [math.sin(math.pi / 8), 0, 0, math.cos(math.pi / 8)]
    np.testing.assert_allclose(pose.rotation[2, 1], eighth, atol=1e-7)
    np.testing.assert_allclose(pose.rotation[0, 1], [-eighth[0], 0, 0, eighth[3]], atol=1e-7)
    np.testing.assert_allclose(pose.scale[:, 1], [[0.5, 4 / 3, 1], [1, 1, 1], [1.5, 2 / 3, 1]], rtol=1e-6)
    np.testing.assert_allclose(pose.morph_weights[:, 0], [-0.25, 0, 0.25], atol=1e-7)


def test_differences_from_rest() -> None:
    """Joint b rests at 0 2 0, scale 4, not turned; the target's default weight is 0."""
    model = morphing().add_clips(moving())
    pose = model.pose(model.clips[0].additive("rest"), 1.0)
    np.testing.assert_allclose(pose.translation, [[0, 0, 0], [3, 0, 1]])
    np.testing.assert_allclose(pose.rotation, [[0, 0, 0, 1], [HALF, 0, 0, HALF]], atol=1e-7)
    np.testing.assert_allclose(pose.scale, [[1, 1, 1], [1.5, 0.25, 0.5]])
    np.testing.assert_allclose(pose.morph_weights, [1])


def test_a_rotation_is_taken_off_on_the_right() -> None:
    """q = a quarter about z after a quarter about x; from the x turn, the z turn is left, in that order."""
    about_x, about_z = np.array([HALF, 0, 0, HALF]), np.array([0, 0, HALF, HALF])
    clip = skinpy.Clip.from_arrays(
        "turn", times=[0, 1], joints=["b"], rotation=[[about_x], [product(about_z, about_x)]]
    )
    model = morphing().add_clips(clip)
    np.testing.assert_allclose(model.pose(model.clips[0].additive(), 1.0).rotation[1], about_z, atol=1e-7)


# ---- against the rule ----------------------------------------------------------------------------------


@pytest.mark.parametrize("interpolation", ["step", "linear", "cubic"])
@pytest.mark.parametrize("reference", ["first", "rest", 0.7])
def test_laid_over_its_reference_it_is_the_clip_again(interpolation: str, reference: Any) -> None:
    model = morphing()
    clip = cubic(model) if interpolation == "cubic" else model.add_clips(moving(interpolation)).clips[0]
    assert clip.model is not None
    model = clip.model
    times = np.linspace(0, 1, 21)
    poses = {"first": model.pose(clip, 0.0), "rest": model.pose(), 0.7: model.pose(clip, 0.7)}
    below = poses[reference]
    found = laid_over(model, clip.additive(reference), below, times)
    wanted = model.pose(clip, times)
    assert_same(found, wanted)


@pytest.mark.parametrize("name", ["walk", "wave"])
def test_the_character_too(name: str) -> None:
    model = skinpy.character()
    clip = model.clips[name]
    times = np.linspace(0, clip.duration, 40)
    assert_same(laid_over(model, clip.additive(), model.pose(clip, 0.0), times), model.pose(clip, times))
    assert_same(laid_over(model, clip.additive("rest"), model.pose(), times), model.pose(clip, times))


# ---- refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["last", -0.1, 1.1, math.nan, math.inf])
def test_unknown_references(reference: Any) -> None:
    with pytest.raises(ValueError, match="reference is"):
        moving().additive(reference)


@pytest.mark.parametrize("reference", [None, True, [0.5]])
def test_references_of_other_types(reference: Any) -> None:
    with pytest.raises(TypeError, match="reference is"):
        moving().additive(reference)


def test_where_it_makes_no_sense() -> None:
    model = morphing().add_clips(moving())
    clip = model.clips[0].additive()
    with pytest.raises(ValueError, match="additive already"):
        clip.additive()
    with pytest.raises(ValueError, match="is additive"):
        clip.compress()
    with pytest.raises(ValueError, match="is additive"):
        quantize(clip)
    with pytest.raises(ValueError, match="bound to no model"):
        moving().additive("rest")
    flat = skinpy.Clip.from_arrays("flat", times=[0, 1], joints=["b"], scale=[[[1, 0, 1]], [[1, 1, 1]]])
    with pytest.raises(ValueError, match="scale of 0 for 'b'"):
        flat.additive()


# ---- kept ----------------------------------------------------------------------------------------------


def test_it_stays_additive(tmp_path: Path) -> None:
    model = morphing()
    loose = moving().add_event(0.5, "middle").additive()
    assert loose.is_additive and loose.events == (skinpy.Event(0.5, "middle"),)
    assert pickle.loads(pickle.dumps(loose)).is_additive
    assert loose.trim(0.25, 0.5).is_additive and loose.resample(4).is_additive
    more = model.add_clips([moving(), loose])
    assert [clip.is_additive for clip in more.clips] == [False, True]
    more.save(tmp_path / "model.skn")
    for again in (skinpy.load(tmp_path / "model.skn"), pickle.loads(pickle.dumps(more))):
        assert [clip.is_additive for clip in again.clips] == [False, True]
        assert again.clips[1].events == loose.events
        np.testing.assert_array_equal(again.pose(1, 1.0).scale, more.pose(1, 1.0).scale)


def test_the_root_motion_is_left_out() -> None:
    from skinpy.clips.events import Motion

    motion = Motion(np.array([0.0]), np.array([[1, 2, 3, 0, 0, 0, 1]], np.float32))
    assert moving()._with(motion=motion).additive()._motion is None
