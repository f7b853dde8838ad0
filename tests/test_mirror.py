"""Clip.mirror: figures whose mirror image is known, mirrored twice, and real skeletons.

In the mirror image of a figure that is symmetric at rest, each joint has the position of its partner,
reflected. Numbers are float32, so 1e-6 per unit is the error of two roundings.
"""

import warnings
from dataclasses import replace
from typing import Any

import builders
import numpy as np
import pytest
from conftest import data_file
from scipy.spatial.transform import Rotation
from test_retarget import NAMES, PLACES, TIMES, figure, keyed, turned_axes

import skinpy
from skinpy.clip import Channel
from skinpy.clips.edit import derived
from skinpy.retargeting import source_motion, transfer
from skinpy.retargeting.joint_names import other_side
from skinpy.retargeting.rest import Rest

PARTNER = [NAMES.index(n.replace("Left", "@").replace("Right", "Left").replace("@", "Right")) for n in NAMES]
ACROSS_X = np.diag([-1.0, 1, 1])


@pytest.mark.parametrize("interpolation", ["linear", "step", "cubic"])
def test_a_symmetric_figure_moves_as_its_mirror_image(interpolation: str) -> None:
    """Whatever the axes of its joints: positions, and the directions of attached vertices, are reflected."""
    model = figure(axes=turned_axes(1))
    clip = keyed(model, 2, interpolation=interpolation, scale=True)
    result = clip.mirror()
    ours, theirs = model.joint_positions(result, TIMES), model.joint_positions(clip, TIMES)
    assert np.abs(ours - theirs[:, PARTNER] @ ACROSS_X).max() < 1e-5
    # Displacements of the frames from rest, conjugated with the reflection.
    rest = model.skeleton.rest_global[:, :3, :3].astype(float)
    moved = [model.globals(one, TIMES)[..., :3, :3] @ np.linalg.inv(rest) for one in (result, clip)]
    assert np.abs(moved[0] - ACROSS_X @ moved[1][:, PARTNER] @ ACROSS_X).max() < 1e-5


@pytest.mark.parametrize("interpolation", ["linear", "step", "cubic"])
def test_twice_is_the_clip_itself(interpolation: str) -> None:
    rng = np.random.default_rng(0)
    model = figure(PLACES + rng.normal(0, 0.03, PLACES.shape), axes=turned_axes(1))  # not quite symmetric
    clip = keyed(model, 2, interpolation=interpolation, scale=True)
    twice = clip.mirror().mirror()
    assert np.abs(model.joint_positions(twice, TIMES) - model.joint_positions(clip, TIMES)).max() < 3e-6
    ours = {(c.path, c.joint): c for c in twice.channels}
    assert len(ours) == len(clip.channels)
    for channel in clip.channels:
        other = ours[channel.path, channel.joint]
        assert (other.times == channel.times).all() and other.interpolation == channel.interpolation
        sign = -1 if (other.values[0] * channel.values[0]).sum() < 0 else 1  # -q is the same rotation
        assert np.abs(sign * other.values - channel.values).max() < 1e-6
        if channel.in_tangents is not None:
            assert other.in_tangents is not None
            assert np.abs(sign * other.in_tangents - channel.in_tangents).max() < 1e-5


@pytest.mark.parametrize("name", ["walk", "run", "wave"])
def test_the_bundled_character(name: str) -> None:
    model = skinpy.character()
    clip, names = model.clips[name], model.skeleton.names
    swapped = [names.index(other_side(one)) for one in names]
    result = clip.mirror()
    times = np.linspace(0, clip.duration, 50)
    ours, theirs = model.joint_positions(result, times), model.joint_positions(clip, times)
    assert np.abs(ours - theirs[:, swapped] * (-1, 1, 1)).max() < 1e-6
    assert np.abs(model.joint_positions(result.mirror(), times) - theirs).max() < 1e-6
    assert np.abs(ours - theirs).max() > 0.05


def test_the_plane_is_found_and_may_be_given() -> None:
    turn = Rotation.from_euler("y", 30, degrees=True).as_matrix()
    model = figure(PLACES @ turn.T)
    clip = keyed(model, 4)
    normal = turn @ (1.0, 0, 0)
    reflection = np.eye(3) - 2 * np.outer(normal, normal)
    want = model.joint_positions(clip, TIMES)[:, PARTNER] @ reflection
    for axis in (None, normal, 3 * normal):
        assert np.abs(model.joint_positions(clip.mirror(axis=axis), TIMES) - want).max() < 1e-5
    straight = figure()
    clip = keyed(straight, 4)
    ours, theirs = (straight.pose(clip.mirror(axis=axis), TIMES).rotation for axis in (None, "x"))
    assert np.abs(ours - theirs).max() == 0


def test_a_symmetric_figure_that_looks_along_x() -> None:
    """The plane follows from where left and right are, not from the name of an axis."""
    turn = Rotation.from_euler("y", 90, degrees=True).as_matrix()
    model = figure(PLACES @ turn.T, axes=turned_axes(3))
    clip = keyed(model, 4)
    want = model.joint_positions(clip, TIMES)[:, PARTNER] * (1, 1, -1)
    assert np.abs(model.joint_positions(clip.mirror(), TIMES) - want).max() < 1e-5


def test_pairs_say_who_swaps() -> None:
    model = figure(names=tuple("abcdefghi"))
    named = figure()
    clip, like = keyed(model, 4), keyed(named, 4)
    pairs = {"d": "e", "f": "h", "g": "i"}
    want = named.joint_positions(like.mirror(), TIMES)
    for given in (pairs, list(pairs.items())):
        assert np.abs(model.joint_positions(clip.mirror(pairs=given), TIMES) - want).max() < 1e-6


def test_targets_events_and_root_motion_swap() -> None:
    from skinpy.clips.events import Event, Motion

    plain = figure()
    difference = np.ones((36, 3))
    names = ("smile_L", "smile_R", "blink")
    model = skinpy.Model.from_arrays(
        plain.skeleton.names, plain.skeleton.parents, plain.skeleton.rest_local,
        positions=plain.mesh.positions, faces=plain.mesh.faces, joints=plain.mesh.slots[:, :1],
        weights=plain.mesh.weights[:, :1], targets=dict.fromkeys(names, difference),
    )  # fmt: skip
    weights = np.array([(0.0, 0.5, 1.0), (0.25, 0.75, 0.1)])
    free = skinpy.Clip.from_arrays("face", times=[0.0, 1.0], targets=names, weights=weights)
    clip = model.add_clips(free).clips[0].add_event(0.5, "foot_left")
    turn = Rotation.from_euler("y", 40, degrees=True).as_quat()
    keys = np.array([(0, 0, 0, 0, 0, 0, 1), (1, 2, 3, *turn)], np.float32)
    clip = clip._with(motion=Motion(np.array([0.0, 1.0]), keys))
    result = clip.mirror()
    assert result.events == (Event(0.5, "foot_right"),)
    assert np.abs(result.sample(1.0).morph_weights - weights[1, [1, 0, 2]]).max() < 1e-6
    assert result._motion is not None
    assert np.abs(result._motion.values[1, :3] - (-1, 2, 3)).max() < 1e-6
    after = Rotation.from_quat(result._motion.values[1, 3:]).as_euler("yxz", degrees=True)
    assert np.abs(after - (-40, 0, 0)).max() < 1e-4


def test_sides_in_words() -> None:
    words = ["foot_left", "LeftFoot", "L_step", "step.R", "RIGHT", "light", "clap"]
    assert [other_side(word) for word in words] == [
        "foot_right", "RightFoot", "R_step", "step.L", "LEFT", "light", "clap",
    ]  # fmt: skip


def test_a_figure_with_one_leg_longer_in_joints() -> None:
    """Left and right differ in their chains: sampled, and the joints called left and right are reflected."""
    names = ("Hips", "LeftLeg", "Knee", "LeftFoot", "RightLeg", "RightFoot")
    places = np.array([(0, 1, 0), (0.1, 1, 0), (0.1, 0.5, 0), (0.1, 0, 0), (-0.1, 1, 0), (-0.1, 0, 0)])
    model = figure(places, turned_axes(2, 6), names, (-1, 0, 1, 2, 0, 4))
    clip = keyed(model, 5)
    result = clip.mirror()
    rest = model.skeleton.rest_global[:, :3, :3].astype(float)
    keys = next(c for c in result.channels if (c.name, c.path) == ("RightFoot", "rotation")).times
    moved = [model.globals(one, keys)[..., :3, :3] @ np.linalg.inv(rest) for one in (result, clip)]
    assert np.abs(moved[0][:, 5] - ACROSS_X @ moved[1][:, 3] @ ACROSS_X).max() < 1e-5


def test_bad_input() -> None:
    model, plain = figure(), figure(names=tuple("abcdefghi"))
    clip = keyed(model, 1)
    with pytest.raises(ValueError, match=r"no joints are called left and right.*give axis"):
        keyed(plain, 1).mirror()
    with pytest.raises(ValueError, match=r"bound to no model.*add_clips"):
        skinpy.Clip.from_arrays("free", fps=30, rotation=np.ones((1, 9, 4))).mirror()
    with pytest.raises(KeyError, match=r"'LeftFot'.*'LeftFoot'"):
        clip.mirror(pairs={"LeftFot": "RightFoot"})
    with pytest.raises(ValueError, match="'LeftFoot' twice"):
        clip.mirror(pairs=[("LeftFoot", "RightFoot"), ("LeftLeg", "LeftFoot")])
    with pytest.raises(ValueError, match="two names"):
        clip.mirror(pairs=["LR"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="axis is 'up'"):
        clip.mirror(axis="up")
    additive = derived(clip, clip.channels, clip.duration, additive=True)
    with pytest.raises(ValueError, match="is additive"):
        additive.mirror()
    with pytest.raises(ValueError, match="is additive"):
        skinpy.retarget(additive, model, model)


@pytest.mark.parametrize("name", ["Fox.glb", "BCN_Epileptic.X", "RiggedFigure.dae"])
def test_real_skeletons(name: str) -> None:
    """Real rest poses are not quite symmetric; mirrored twice, the clip is the same, and once it is near."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        model = skinpy.load(data_file("models", name))
    clip = model.clips[0]
    times = np.linspace(0, clip.duration, 40)
    want = model.joint_positions(clip, times)
    size = float(np.ptp(want.reshape(-1, 3), axis=0).max())
    result = clip.mirror()
    assert np.abs(model.joint_positions(result.mirror(), times) - want).max() < 3e-6 * size
    from skinpy.retargeting.joint_names import side_pairs

    partner = np.arange(len(model.skeleton))
    for left, right in side_pairs(model.skeleton.names):
        partner[left], partner[right] = right, left
    assert (partner != np.arange(len(partner))).sum() >= 12
    ours: Any = model.joint_positions(result, times)
    rest = model.skeleton.rest_global[:, :3, 3]
    asymmetry = np.abs(rest - rest[partner] * (-1, 1, 1)).max()
    assert np.abs(ours - want[:, partner] * (-1, 1, 1)).max() < 3 * asymmetry + 1e-4 * size
    assert asymmetry < 0.05 * size


def test_a_joint_that_slides_takes_its_partners_way() -> None:
    """Translations of joints other than the hips are reflected too, and step keys stay step keys."""
    model = figure(axes=turned_axes(6))
    base = keyed(model, 1)
    keys = model.skeleton.translation[3] + np.array([(0, 0, 0), (0.1, 0.2, 0.3)], np.float32)
    slide = Channel(3, None, "", "translation", "step", np.array([0.0, 1.0]), keys, None, None)
    clip = derived(base, [slide], 2.0)
    result = clip.mirror()
    assert [(c.name, c.interpolation) for c in result.channels] == [("RightArm", "step")]
    ours, theirs = model.joint_positions(result, TIMES), model.joint_positions(clip, TIMES)
    assert np.abs(ours - theirs[:, PARTNER] @ ACROSS_X).max() < 1e-6


def deep(joints: int, seed: int = 3) -> Any:
    """A chain in which channels with several time lines rotate all joints but each fifth."""
    model = skinpy.load(builders.chain(joints).glb(), format="glb")
    channels = [replace(c, times=c.times + c.joint % 2) for c in model.clips[0].channels if c.joint % 5]
    return derived(model.clips[0], channels, 3.0)


def test_key_times_at_the_end_of_all_numbers() -> None:
    """The number of samples between keys is limited."""
    model = figure()
    base = keyed(model, 1)
    far = [replace(c, times=c.times * 1e307) for c in base.channels]
    pairs = {"Hips": "LeftFoot", "LeftArm": "RightLeg"}  # their motion is that of several joints
    result = derived(base, far, base.duration * 1e307).mirror(axis="x", pairs=pairs)
    longest = max(len(c.times) for c in result.channels)
    keys = sum(len(c.times) for c in base.channels)
    assert 2**17 < longest <= 2**18 + keys
    assert all(np.isfinite(c.values).all() for c in result.channels)


def test_paths_and_anchors_of_trees_of_any_shape() -> None:
    """Against lists of all joints above."""
    rng = np.random.default_rng(2)
    for joints in (1, 2, 30):
        parents = [-1, *(int(rng.integers(-1, j)) for j in range(1, joints))]
        rest = Rest(
            figure(np.zeros((joints, 3)), None, tuple(f"j{j}" for j in range(joints)), tuple(parents))
        )
        for one in range(joints):
            for other in range(-1, joints):
                down, up = rest.line(one), rest.line(other)
                common = [joint for joint in down if joint in up]
                want = [[joint for joint in line if joint not in common] for line in (down, up)]
                assert list(rest.paths(one, other)) == want
        followed = rng.integers(-1, 2, joints)
        for joint, found in enumerate(transfer.anchors(rest, followed)):
            above = [int(followed[one]) for one in rest.line(joint)[:-1] if followed[one] >= 0]
            assert found == (above[-1] if above else -1)


def test_caching_transforms_of_ancestors_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With pairs from both ends of a chain, the motion of each joint depends on many others."""
    clip = deep(40)
    pairs = {f"link{j}": f"link{39 - j}" for j in range(20)}
    results = []
    for most in (source_motion._MAX_KEPT, 3000, 0):
        monkeypatch.setattr(source_motion, "_MAX_KEPT", most)
        results.append(clip.mirror(axis="x", pairs=pairs).channels)
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one.values, two.values)
            np.testing.assert_array_equal(one.times, two.times)


def test_a_deep_chain_mirrored_twice_is_the_clip_itself() -> None:
    clip = deep(300)
    twice = clip.mirror(axis="x").mirror(axis="x")
    assert [(c.joint, c.path) for c in twice.channels] == [(c.joint, c.path) for c in clip.channels]
    for one, two in zip(clip.channels, twice.channels, strict=True):
        np.testing.assert_allclose(np.abs((one.values * two.values).sum(axis=1)), 1.0, atol=1e-6)
