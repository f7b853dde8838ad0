"""Morph targets: weights from clips and by hand, applied before the skin, against a float64 NumPy twin."""

import pickle
from typing import Any

import numpy as np
import pytest

import skinpy

RNG = np.random.default_rng(11)
VERTICES, JOINTS = 40, 3
NAMES = ["smile", "blink", "still"]


def make() -> skinpy.Model:
    """A bending strip of three joints with three targets; the last moves nothing."""
    rest = np.tile(np.eye(4), (JOINTS, 1, 1))
    rest[1:, 1, 3] = 1.0
    points = RNG.uniform(-1, 1, (VERTICES, 3)) + (0, 1, 0)
    weights = RNG.uniform(0, 1, (VERTICES, 2))
    smile = RNG.normal(0, 0.2, (VERTICES, 3))
    smile[::2] = 0
    blink = np.zeros((VERTICES, 3))
    blink[5] = (0, 0.5, 0)
    normals = RNG.normal(0, 0.3, (VERTICES, 3))
    keys = np.zeros((3, JOINTS, 4))
    keys[..., 3] = 1
    keys[1] = (0, 0, 0.6, 0.8)
    clip = skinpy.Clip.from_arrays(
        "act",
        times=[0.0, 0.5, 1.0],
        joints=["a", "b", "c"],
        rotation=keys,
        targets=["blink", "smile"],
        weights=[[0, 0], [1, 0.5], [0, -2]],
    )
    return skinpy.Model.from_arrays(
        ["a", "b", "c"],
        [-1, 0, 1],
        rest,
        positions=points,
        faces=RNG.integers(0, VERTICES, (60, 3)),
        joints=RNG.integers(0, JOINTS, (VERTICES, 2)),
        weights=weights,
        targets={"smile": (smile, normals), "blink": blink, "still": np.zeros((VERTICES, 3))},
        clips=[clip],
    )


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return make()


def twin(model: skinpy.Model, palette: Any, weights: Any) -> tuple[Any, Any]:
    """Positions and normals in float64 from the formulas: v + sum w d, then the weighted palette."""
    points = model.mesh.positions.astype(np.float64)
    normals = model.mesh.normals.astype(np.float64)
    for target, weight in zip(model.targets, np.asarray(weights, np.float64), strict=True):
        points[target.vertices] += weight * target.positions
        if target.normals is not None:
            normals[target.vertices] += weight * target.normals
    blended = np.einsum(
        "vk,vkij->vij", model.mesh.weights.astype(np.float64), palette.astype(np.float64)[model.mesh.slots]
    )
    moved = np.einsum("vij,vj->vi", blended[:, :3, :3], points) + blended[:, :3, 3]
    turned = np.einsum("vji,vj->vi", np.linalg.inv(blended[:, :3, :3]), normals)
    return moved, turned / np.linalg.norm(turned, axis=1, keepdims=True)


def check(got: tuple[Any, Any], want: tuple[Any, Any]) -> None:
    # float32 sums of a few products: api.md, Precision
    scale = max(np.ptp(want[0], axis=0).max(), np.abs(want[0]).max())
    assert np.abs(got[0] - want[0]).max() <= 1e-6 * scale
    assert np.abs(got[1] - want[1]).max() <= 2e-5  # normals of matrices that are far from orthogonal


def test_targets_show_what_they_move(model: skinpy.Model) -> None:
    assert [target.name for target in model.targets] == NAMES
    assert model.targets[0].vertices.tolist() == list(range(VERTICES))  # its normals change everywhere
    assert model.targets[1].vertices.tolist() == [5]
    assert np.allclose(model.targets[1].positions, [[0, 0.5, 0]])
    assert len(model.targets[2].vertices) == 0
    assert not model.targets[0].positions.flags.writeable


def test_weights_come_from_the_clip(model: skinpy.Model) -> None:
    pose = model.pose("act", [0.0, 0.25, 0.5, 0.75, 1.0])
    assert pose.morph_weights.shape == (5, 3) and pose.morph_weights.dtype == np.float32
    want = [[0, 0, 0], [0.25, 0.5, 0], [0.5, 1, 0], [-0.75, 0.5, 0], [-2, 0, 0]]
    assert np.allclose(pose.morph_weights, want, atol=1e-7)
    assert model.pose().morph_weights.tolist() == [0, 0, 0]


def test_channels_of_weights(model: skinpy.Model) -> None:
    channels = [channel for channel in model.clips[0].channels if channel.path == "weights"]
    assert [(c.target, c.name, c.joint) for c in channels] == [(1, "blink", None), (0, "smile", None)]
    assert channels[0].values.shape == (3, 1)


@pytest.mark.parametrize("time", [0.0, 0.3, 0.5, 0.9])
def test_deform_of_a_pose(model: skinpy.Model, time: float) -> None:
    pose = model.pose("act", time)
    check(model.deform(pose), twin(model, pose.palette(), pose.morph_weights))


def test_deform_of_many_poses(model: skinpy.Model) -> None:
    pose = model.pose("act", [[0.1, 0.2], [0.6, 0.7]])
    positions, normals = model.deform(pose)
    assert normals is not None and positions.shape == (2, 2, VERTICES, 3)
    for place in np.ndindex(2, 2):
        check(
            (positions[place], normals[place]), twin(model, pose.palette()[place], pose.morph_weights[place])
        )


def test_bounds_of_a_clip_follow_its_weights(model: skinpy.Model) -> None:
    clip = model.clips[0]
    times = np.linspace(0, clip.duration, int(np.ceil(clip.duration * 30)) + 1)
    points = model.deform(model.pose(clip, times, loop="clamp"))[0].reshape(-1, 3)
    assert np.array_equal(model.bounds(clip), [points.min(axis=0), points.max(axis=0)])
    still = model.deform(model.palette(clip, times, loop="clamp"))[0].reshape(-1, 3)
    assert not np.array_equal(still.max(axis=0), points.max(axis=0))  # else the test would say nothing


def test_weights_by_hand(model: skinpy.Model) -> None:
    pose = model.pose()
    pose.morph_weights[1] = 3.0
    check(model.deform(pose), twin(model, pose.palette(), [0, 3, 0]))
    palette = model.palette("act", [0.2, 0.8])
    one = model.deform(palette, morph_weights=[0.5, -1, 9])
    many = model.deform(palette, morph_weights=[[0.5, -1, 9]] * 2)
    assert np.array_equal(one[0], many[0]) and np.array_equal(one[1], many[1])
    for n in range(2):
        check((one[0][n], one[1][n]), twin(model, palette[n], [0.5, -1, 9]))


def test_without_weights_the_defaults_count(model: skinpy.Model) -> None:
    palette = model.palette("act", 0.5)
    assert np.array_equal(model.deform(palette)[0], model.deform(palette, morph_weights=[0, 0, 0])[0])


def test_bad_weights(model: skinpy.Model) -> None:
    palette = model.palette("act", [0.1, 0.2])
    with pytest.raises(ValueError, match=r"morph_weights has shape \(2,\); expected \(2, 3\)"):
        model.deform(palette, morph_weights=[1, 2])
    with pytest.raises(ValueError, match="goes with a palette"):
        model.deform(model.pose(), morph_weights=[0, 0, 0])
    with pytest.raises(TypeError, match="morph_weights"):
        model.deform(palette, morph_weights="much")
    with pytest.raises(ValueError, match=r"morph_weights has shape \(4,\); expected \(3,\)"):
        model.pose().morph_weights = [1, 2, 3, 4]


def test_out_must_not_overlap_the_weights(model: skinpy.Model) -> None:
    memory = np.zeros(VERTICES * 3, np.float32)
    out = memory.reshape(VERTICES, 3)
    with pytest.raises(ValueError, match="overlaps"):
        model.deform(model.palette(), morph_weights=memory[:3], out=(out, np.empty_like(out)))


def test_targets_are_kept(model: skinpy.Model, tmp_path: Any) -> None:
    model.save(tmp_path / "face.skn")
    for again in (skinpy.load(tmp_path / "face.skn"), pickle.loads(pickle.dumps(model))):
        pose, other = again.pose("act", 0.4), model.pose("act", 0.4)
        assert np.array_equal(pose.morph_weights, other.morph_weights)
        assert np.array_equal(again.deform(pose)[0], model.deform(other)[0])
    pose = model.pose("act", 0.4)
    assert np.array_equal(pickle.loads(pickle.dumps(pose)).morph_weights, pose.morph_weights)


def test_clips_find_targets_by_name(model: skinpy.Model) -> None:
    clip = skinpy.Clip.from_arrays(
        "face", fps=2, targets=["smile", "frown"], weights=[[0, 1], [1, 1]], joints=[]
    )
    with pytest.warns(skinpy.SkinpyWarning, match="frown"):
        more = model.add_clips(clip)
    assert more.pose("face", 0.25).morph_weights.tolist() == [0.5, 0, 0]
    with pytest.raises(ValueError, match=r"weights has shape \(2, 2\); expected \(N, 1\)"):
        skinpy.Clip.from_arrays("face", fps=2, targets=["smile"], weights=[[0, 1], [1, 1]])


def test_targets_without_the_right_shape() -> None:
    with pytest.raises(ValueError, match=r"targets\['smile'\] has shape \(2, 3\); expected \(1, 3\)"):
        skinpy.Model.from_arrays(
            ["a"],
            [-1],
            [np.eye(4)],
            positions=[[0, 0, 0]],
            faces=[],
            joints=[[0]],
            weights=[[1]],
            targets={"smile": np.zeros((2, 3))},
        )
