"""Retargeting: figures whose answer is known by construction, formulas by SciPy, and real skeletons.

Errors are fractions of the size of the figure. Positions and keys are float32, so a few 1e-7 per joint of a
chain are noise; 1e-5 is what the project promises.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import data_file
from scipy.spatial.transform import Rotation

import skinpy
from skinpy.clip import Channel
from skinpy.clips.edit import derived
from skinpy.retargeting.joint_names import labels, side_pairs

NAMES = ("Hips", "Spine", "Head", "LeftArm", "RightArm", "LeftLeg", "LeftFoot", "RightLeg", "RightFoot")
PARENTS = (-1, 0, 1, 1, 1, 0, 5, 0, 7)
PLACES = np.array(
    [(0, 1, 0), (0, 1.4, 0), (0, 1.7, 0), (0.3, 1.5, 0), (-0.3, 1.5, 0)]
    + [(0.1, 0.9, 0), (0.1, 0, 0.1), (-0.1, 0.9, 0), (-0.1, 0, 0.1)],
    dtype=np.float64,
)
Y_TO_Z = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # y up, z ahead -> z up, -y ahead


def figure(
    places: Any = PLACES,
    axes: Any = None,
    names: tuple[str, ...] = NAMES,
    parents: tuple[int, ...] = PARENTS,
) -> Any:
    """A figure with four vertices on every joint, which show its motion; axes (J,3,3) of the joints."""
    count = len(names)
    frames = np.repeat(np.eye(4)[None], count, 0)
    frames[:, :3, 3] = places
    if axes is not None:
        frames[:, :3, :3] = axes
    local = [frames[j] if p < 0 else np.linalg.inv(frames[p]) @ frames[j] for j, p in enumerate(parents)]
    corners = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    positions = (np.asarray(places)[:, None] + corners).reshape(-1, 3)
    joints = np.repeat(np.arange(count), 4)[:, None]
    return skinpy.Model.from_arrays(
        names,
        parents,
        np.array(local),
        positions=positions,
        faces=np.arange(count * 4).reshape(-1, 4)[:, :3],
        joints=joints,
        weights=np.ones((count * 4, 1)),
    )


def turned_axes(seed: int, count: int = len(NAMES)) -> np.ndarray:
    return Rotation.random(count, random_state=seed).as_matrix()


def keyed(model: Any, seed: int, *, interpolation: str = "linear", scale: bool = False) -> Any:
    """Rotation keys for all joints and translation keys for the first, each at times of their own."""
    rng = np.random.default_rng(seed)
    skeleton, channels = model.skeleton, []
    for joint in range(len(skeleton)):
        times = np.sort(rng.choice(np.arange(1, 40), 6, replace=False)) / 20.0
        for path, spread in (("translation", 0.3), ("rotation", 0.5), ("scale", 0.1)):
            if (path == "translation" and joint) or (path == "scale" and not scale):
                continue
            values = getattr(skeleton, path)[joint] + spread * rng.normal(
                size=(6, 4 if path == "rotation" else 3)
            )
            if path == "scale":
                values = values[:, :1] * np.ones(3)  # even, so that it does not depend on the axes
            if path == "rotation":
                values /= np.linalg.norm(values, axis=1, keepdims=True)
            slopes = [rng.normal(size=values.shape).astype(np.float32) for _ in range(2)]
            if path == "scale":
                slopes = [one[:, :1] * np.ones(3, np.float32) for one in slopes]
            tangents = slopes if interpolation == "cubic" else [None, None]
            channels.append(
                Channel(joint, None, "", path, interpolation, times, values.astype(np.float32), *tangents)
            )
    empty = model.add_clips(skinpy.Clip.from_arrays("move", times=[0.0, 2.0], rotation=rest_keys(model)))
    return derived(empty.clips["move"], channels, 2.0)


def rest_keys(model: Any) -> np.ndarray:
    return np.repeat(model.skeleton.rotation[None], 2, 0)


def vertices(model: Any, clip: Any, times: Any) -> np.ndarray:
    owner = clip.model
    assert owner._block is model._block
    found: np.ndarray = owner.deform(owner.palette(clip, times), normals=False)[0]
    return found


def z_up(model: Any, tmp_path: Path) -> Any:
    """The model with +Z up: loaded from a file, with the axis given."""
    path = tmp_path / "figure.glb"
    model.save(path)
    return skinpy.load(path, up="+Z")


TIMES = np.linspace(0.0, 2.0, 97)


# ---- known by construction ----------------------------------------------------------------------------


@pytest.mark.parametrize("interpolation", ["linear", "step", "cubic"])
def test_the_same_skeleton_gives_the_same_poses(interpolation: str) -> None:
    model = figure(axes=turned_axes(1))
    clip = keyed(model, 2, interpolation=interpolation, scale=True)
    result = skinpy.retarget(clip, clip.model, model)
    assert result.model is model and result.name == "move" and result.duration == 2.0
    assert np.abs(vertices(model, result, TIMES) - vertices(model, clip, TIMES)).max() < 1e-5
    assert len(result.channels) == len(clip.channels)
    for ours, theirs in zip(result.channels, clip.channels, strict=True):
        assert (ours.times == theirs.times).all() and ours.interpolation == theirs.interpolation


@pytest.mark.parametrize("interpolation", ["linear", "step", "cubic"])
def test_the_axes_of_joints_do_not_matter(interpolation: str) -> None:
    source, target = figure(axes=turned_axes(1)), figure(axes=turned_axes(7))
    clip = keyed(source, 3, interpolation=interpolation, scale=True)
    result = skinpy.retarget(clip, source, target)
    assert np.abs(source.skeleton.rotation - target.skeleton.rotation).max() > 0.5
    assert np.abs(vertices(target, result, TIMES) - vertices(source, clip, TIMES)).max() < 1e-5


@pytest.mark.parametrize("ratio", [0.01, 2.5])
def test_a_larger_figure_takes_larger_steps(ratio: float) -> None:
    source, target = figure(axes=turned_axes(1)), figure(PLACES * ratio, axes=turned_axes(4))
    clip = keyed(source, 3)
    result = skinpy.retarget(clip, source, target)
    ours, theirs = target.joint_positions(result, TIMES), source.joint_positions(clip, TIMES)
    assert np.abs(ours - ratio * theirs).max() < 1e-5 * ratio * 2


def test_z_up_becomes_y_up(tmp_path: Path) -> None:
    source = z_up(figure(PLACES @ Y_TO_Z.T, axes=turned_axes(1)), tmp_path)
    target = figure(axes=turned_axes(4))
    assert (source.up, target.up) == ("+Z", "+Y")
    clip = keyed(source, 3)
    result = skinpy.retarget(clip, source, target)
    assert source.skeleton.names == NAMES
    ours, theirs = target.joint_positions(result, TIMES), source.joint_positions(clip, TIMES)
    assert np.abs(ours - theirs @ Y_TO_Z).max() < 1e-5 * 2


def test_a_figure_that_looks_elsewhere_walks_there() -> None:
    """The target looks along x where the source looks along z."""
    turn = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    source, target = figure(), figure(PLACES @ turn.T)
    clip = keyed(source, 5)
    result = skinpy.retarget(clip, source, target)
    want = source.joint_positions(clip, TIMES) @ turn.T
    assert np.abs(target.joint_positions(result, TIMES) - want).max() < 1e-5 * 2


def test_a_turned_root_node_does_not_matter() -> None:
    """The target's root has a quarter turn and a scale of 100, as files of other tools have."""
    names, parents = ("World", *NAMES), (-1, *(0 if p < 0 else p + 1 for p in PARENTS))
    source = figure(axes=turned_axes(1))
    root = np.eye(4)
    root[:3, :3] = 100 * Rotation.from_euler("x", -90, degrees=True).as_matrix()
    frames = np.repeat(np.eye(4)[None], len(NAMES), 0)
    frames[:, :3, :3], frames[:, :3, 3] = 100 * turned_axes(4), PLACES
    frames = np.concatenate([root[None], frames])
    local = [frames[j] if p < 0 else np.linalg.inv(frames[p]) @ frames[j] for j, p in enumerate(parents)]
    target = skinpy.Model.from_arrays(
        names, parents, np.array(local), positions=np.zeros((0, 3)), faces=np.zeros((0, 3), int),
        joints=np.zeros((0, 1), int), weights=np.zeros((0, 1)),
    )  # fmt: skip
    clip = keyed(source, 3)
    result = skinpy.retarget(clip, source, target)
    ours = target.joint_positions(result, TIMES)[:, 1:]
    assert np.abs(ours - source.joint_positions(clip, TIMES)).max() < 1e-5 * 2


def test_negative_scales_at_rest_do_not_matter() -> None:
    """The target is the same figure whose joints' frames are left-handed, or flipped twice."""
    source = figure()
    flips = np.array([np.diag(s) for s in [(-1, 1, 1), (1, -1, -1), (1, 1, 1), (-1, -1, -1)]])
    axes = turned_axes(4) @ flips[np.arange(len(NAMES)) % 4]
    target = figure(axes=axes)
    assert (target.skeleton.scale < 0).any()
    clip = keyed(source, 3)
    result = skinpy.retarget(clip, source, target)
    assert np.abs(vertices(target, result, TIMES) - vertices(source, clip, TIMES)).max() < 1e-5 * 2


def test_joints_of_one_name_are_paired_in_order() -> None:
    names = ("Hips", "part", "part", *NAMES[3:])
    source, target = (figure(axes=turned_axes(seed), names=names) for seed in (1, 2))
    clip = keyed(source, 3)
    result = skinpy.retarget(clip, source, target)
    assert np.abs(vertices(target, result, TIMES) - vertices(source, clip, TIMES)).max() < 1e-5


# ---- by the formula ------------------------------------------------------------------------------------


def test_displacements_from_rest_are_the_same_and_limbs_keep_their_lengths() -> None:
    """Other proportions and rest postures: global(t) = source(t) * source rest^-1 * target rest (SciPy)."""
    rng = np.random.default_rng(0)
    places = PLACES + rng.normal(0, 0.05, PLACES.shape)
    source, target = figure(axes=turned_axes(1)), figure(places, axes=turned_axes(5))
    clip = keyed(source, 6)
    result = skinpy.retarget(clip, source, target)
    times = np.linspace(0, 2, 31)
    theirs, ours = source.globals(clip, times).astype(float), target.globals(result, times).astype(float)
    for joint in range(len(NAMES)):
        start = Rotation.from_matrix(source.skeleton.rest_global[joint, :3, :3])
        end = Rotation.from_matrix(target.skeleton.rest_global[joint, :3, :3])
        want = Rotation.from_matrix(theirs[:, joint, :3, :3]) * start.inv() * end
        assert np.abs(ours[:, joint, :3, :3] - want.as_matrix()).max() < 1e-5
        parent = PARENTS[joint]
        if parent >= 0:
            reach = np.linalg.norm(ours[:, joint, :3, 3] - ours[:, parent, :3, 3], axis=1)
            assert np.abs(reach - np.linalg.norm(places[joint] - places[parent])).max() < 1e-5
    heights = [p[0, 1] - p[:, 1].min() for p in (PLACES, places)]
    want = places[0] + heights[1] / heights[0] * (theirs[:, 0, :3, 3] - PLACES[0])
    assert np.abs(ours[:, 0, :3, 3] - want).max() < 1e-5


def test_joints_between_are_passed_over_on_both_sides() -> None:
    """The source's spine has one more joint, which moves; the target's legs have one more, which rests."""
    names = ("Hips", "Spine", "Extra", "Head")
    places = np.array([(0.0, 1, 0), (0, 1.3, 0), (0, 1.5, 0), (0, 1.7, 0)])
    source = figure(places, turned_axes(1, 4), names, (-1, 0, 1, 2))
    bent = np.array([(0.0, 1, 0), (0.1, 1.2, 0), (0, 1.3, 0), (0, 1.7, 0)])
    target = figure(bent, turned_axes(2, 4), ("Hips", "Other", "Spine", "Head"), (-1, 0, 1, 2))
    clip = keyed(source, 8)
    with pytest.warns(skinpy.SkinpyWarning, match=r"'move': 1 moved .*'Extra'.*match_joints"):
        result = skinpy.retarget(clip, source, target)
    assert {channel.name for channel in result.channels} == {"Hips", "Spine", "Head"}
    keys = next(c for c in result.channels if c.name == "Head" and c.path == "rotation").times
    moving = [c.times for c in clip.channels if c.name in ("Extra", "Head")]
    assert np.isin(np.concatenate(moving), keys).all()  # sampled at the union of both, and between
    assert np.diff(keys).max() < 1 / 29
    theirs, ours = source.globals(clip, keys).astype(float), target.globals(result, keys).astype(float)
    for name in ("Hips", "Spine", "Head"):
        one, other = source.skeleton.index(name), target.skeleton.index(name)
        turn = theirs[:, one, :3, :3] @ source.skeleton.rest_global[one, :3, :3].T
        assert np.abs(ours[:, other, :3, :3] - turn @ target.skeleton.rest_global[other, :3, :3]).max() < 1e-5


@pytest.mark.parametrize("names", [("Root", "Hips"), ("Root", "Pelvis")])
def test_a_root_above_the_hips_moves_the_figure(names: tuple[str, str]) -> None:
    """The root moves and rotates; the target has no root, so its hips follow the source's hips."""
    source = figure(np.array([(0, 0, 0), (0, 1.0, 0), (0, 0, 0.1)]), None, (*names, "Foot"), (-1, 0, 1))
    target = figure(np.array([(0, 2.0, 0), (0, 0, 0.2)]), turned_axes(3, 2), ("Hips", "foot"), (-1, 0))
    turns = Rotation.from_euler("y", [[0], [80], [170]], degrees=True).as_quat()
    clip = skinpy.Clip.from_arrays(
        "turn", times=[0, 0.5, 2.0], joints=["Root"],
        translation=np.array([(0, 0, 0), (1, 0, 0), (1, 0.5, 2)])[:, None], rotation=turns[:, None],
    )  # fmt: skip
    mover = source.add_clips(clip)
    with pytest.warns(skinpy.SkinpyWarning, match="left out: 'Root'"):
        result = skinpy.retarget("turn", mover, target, {names[1]: "Hips", "Foot": "foot"})
    ours, theirs = target.joint_positions(result, TIMES), mover.joint_positions("turn", TIMES)[:, 1:]
    # Rotations about one axis and straight lines: what lies between the samples is right too.
    assert np.abs(ours - 2 * theirs).max() < 1e-3
    keys = result.channels[0].times
    ours, theirs = target.joint_positions(result, keys), mover.joint_positions("turn", keys)[:, 1:]
    assert np.abs(ours - 2 * theirs).max() < 1e-5


def test_steps_among_moving_joints_stay_sharp() -> None:
    """One target joint follows two, one of which jumps; the pose is right before and after the jump."""
    places = np.array([(0.0, 0, 0), (0, 1, 0), (0, 2, 0)])
    source = figure(places, None, ("A", "B", "C"), (-1, 0, 1))
    target = figure(places[[0, 2]], None, ("A", "C"), (-1, 0))
    clip = keyed(source, 4)
    turns = [c for c in clip.channels if c.path == "rotation"]
    jump = Channel(1, None, "", "rotation", "step", np.array([0.0, 1.0]), turns[1].values[:2], None, None)
    clip = derived(clip, [turns[0], jump, turns[2]], 2.0)
    with pytest.warns(skinpy.SkinpyWarning, match="left out: 'B'"):
        result = skinpy.retarget(clip, source, target, {"A": "A", "C": "C"})
    times = np.array([0.0, 0.999, 1.0, 1.001])
    ours = target.globals(result, times)[:, 1, :3, :3]
    assert np.abs(ours - source.globals(clip, times)[:, 2, :3, :3]).max() < 1e-3
    assert np.abs(ours[1] - ours[2]).max() > 0.1


def test_motion_capture_whose_rest_pose_lies_at_the_origin() -> None:
    """The source's hips are at 0 at rest and at their height in the clip; the target stands on the ground."""
    source, target = figure(PLACES - PLACES[0]), figure(PLACES * 2)
    clip = source.add_clips(
        skinpy.Clip.from_arrays(
            "stand", times=[0.0, 1.0], joints=["Hips"], translation=[[(0, 1.0, 0)], [(0, 1.0, 3)]]
        )
    ).clips[0]
    result = skinpy.retarget(clip, source, target)
    ours = target.joint_positions(result, [0.0, 1.0])
    assert np.abs(ours[0] - 2 * PLACES).max() < 1e-5
    assert np.abs(ours[1] - 2 * PLACES - (0, 0, 6)).max() < 1e-5
    back = skinpy.retarget(clip, source, source)
    assert np.abs(source.joint_positions(back, 0.5) - source.joint_positions(clip, 0.5)).max() < 1e-5


def test_a_figure_around_the_origin_does_not_push_others_into_the_ground() -> None:
    """Its hips are at 0 at rest and stay there in the clip, so only their motion counts."""
    source, target = figure(PLACES - PLACES[0]), figure(PLACES * 2)
    clip = source.add_clips(
        skinpy.Clip.from_arrays("bob", fps=1, joints=["Hips"], translation=[[(0, -0.1, 0)], [(0, 0.1, 1)]])
    ).clips[0]
    result = skinpy.retarget(clip, source, target)
    want = np.array([(0, -0.2, 0), (0, 0.2, 2)])[:, None] + 2 * PLACES
    assert np.abs(target.joint_positions(result, [0.0, 1.0]) - want).max() < 1e-5


def test_what_clips_carry_goes_along() -> None:
    source, target = figure(), figure(PLACES * 2)
    clip = keyed(source, 3).add_event(0.5, "step")
    result = skinpy.retarget(clip, source, target)
    assert result.events == clip.events
    from skinpy.clips.events import Motion

    values = np.zeros((2, 7), np.float32)
    values[:, 6], values[1, :3] = 1.0, (0, 0, 3)
    moved = skinpy.retarget(clip._with(motion=Motion(np.array([0.0, 2.0]), values)), source, target)._motion
    assert moved is not None and np.abs(moved.values[1] - (0, 0, 6, 0, 0, 0, 1)).max() < 1e-6


def test_rigid_parts_slide_as_they_did() -> None:
    """No hips, several roots: every piece moves along the source's path times the ratio of sizes."""
    names, parents = ("base", "slide", "other"), (-1, 0, -1)
    places = np.array([(0.0, 0, 0), (1, 0, 0), (4, 0, 0)])
    source, target = (
        figure(places, None, names, parents),
        figure(3 * places, turned_axes(1, 3), names, parents),
    )
    keys = np.array([[(0, 0, 0), (1, 0, 0), (4, 0, 0)], [(0, 0, 1), (2, 0, 0), (4, 5, 0)]])
    owner = source.add_clips(skinpy.Clip.from_arrays("go", fps=1, joints=names, translation=keys))
    result = skinpy.retarget("go", owner, target)
    ours, theirs = target.joint_positions(result, [0, 0.3, 1]), owner.joint_positions("go", [0, 0.3, 1])
    assert np.abs(ours - 3 * theirs).max() < 1e-5


# ---- names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "part"),
    [
        (["Hips", "pelvis", "mixamorig:Hips", "Bip01 Pelvis", "J_Bip_C_Hips"], ("", "hips")),
        (["LeftUpLeg", "thigh_l", "thigh.L", "lThigh", "Bip01 L Thigh", "LeftHip"], ("left", "upperleg")),
        (["RightForeArm", "lowerarm_r", "RightElbow", "forearm.R", "right_forearm"], ("right", "lowerarm")),
        (["RightShoulder", "clavicle_r", "R_Collar"], ("right", "shoulder")),
        (["LeftFoot", "L_Ankle", "foot_l", "LFoot", "leftfoot"], ("left", "foot")),
        (["Spine", "spine_02", "Chest", "Spine2"], ("", "spine")),
    ],
)
def test_names_of_rigs_say_the_part(names: list[str], part: tuple[str, str]) -> None:
    assert {label.part for name in names for label in labels([name, "x"])[:1]} == {part}


def test_sides_are_paired() -> None:
    assert side_pairs(["LeftLeg", "RightLeg", "Left", "Head"]) == [(0, 1)]
    assert side_pairs(["arm.L.001", "arm.R.001", "arm.R.002"]) == [(0, 1)]
    assert side_pairs(["lhip", "rhip", "lead", "root"]) == [(0, 1)]
    running = ["b_Root_00", "b_LeftLeg_01", "b_RightLeg_02", "b_Head_03"]
    assert side_pairs(running) == [(1, 2)]
    assert side_pairs(["leg_L_1", "leg_L_2", "leg_R_1", "leg_R_2"]) == [(0, 2), (1, 3)]


def test_auto_pairs_chains_by_their_ends() -> None:
    source = figure(
        np.arange(15.0).reshape(5, 3), None, ("mixamorig:Hips", "Spine", "Spine1", "Spine2", "LeftUpLeg"),
        (-1, 0, 1, 2, 0),
    )  # fmt: skip
    target = figure(
        np.arange(12.0).reshape(4, 3), None, ("pelvis", "spine_01", "chest", "thigh_l"), (-1, 0, 1, 0)
    )
    match = skinpy.match_joints(source, target, "auto")
    assert match.pairs == (
        ("mixamorig:Hips", "pelvis"), ("Spine", "spine_01"), ("Spine2", "chest"), ("LeftUpLeg", "thigh_l"),
    )  # fmt: skip
    assert match.unmapped_source == ("Spine1",) and match.unmapped_target == ()
    assert "4 pairs" in repr(match)


def test_bad_input() -> None:
    model, other = figure(), figure(names=tuple("abcdefghi"))
    clip = keyed(model, 1)
    cases: list[tuple[Any, Any, str]] = [
        ({"Hipz": "a"}, KeyError, "source joint 'Hipz'.*'Hips'"),
        ({"Hips": "aa"}, KeyError, "target joint 'aa'"),
        ({"Hips": "a", "Spine": "a"}, ValueError, "'Hips' and 'Spine' for the same joint 'a'"),
        ("exact", ValueError, "joint_map is 'exact'"),
        (3, TypeError, "joint_map is of type int"),
        (None, ValueError, "no joint of the source is mapped"),
        ({}, ValueError, "no joint of the source is mapped"),
    ]
    for joint_map, error, words in cases:
        with pytest.raises(error, match=words):
            skinpy.retarget(clip, model, other, joint_map)
    with pytest.raises(ValueError, match=r"of another model.*add_clips"):
        skinpy.retarget(clip, other, model)
    with pytest.raises(KeyError, match="jump"):
        skinpy.retarget("jump", model, other)


@pytest.mark.parametrize("joint_map", [None, "auto", {"base": "base"}])
def test_a_clip_of_which_nothing_has_a_counterpart_is_refused(joint_map: Any) -> None:
    """The bases of a crane and a chair have one name, but no clip moves them."""
    crane, chair = skinpy.crane(), skinpy.chair()
    for source, target in ((crane, chair), (chair, crane)):
        with pytest.raises(
            ValueError, match=r"nothing that clip '\w+' moves has a counterpart.*match_joints"
        ):
            skinpy.retarget(0, source, target, joint_map)


def test_a_clip_that_moves_nothing_stays_one() -> None:
    """Its one channel has the rest pose of a joint that the target lacks: there is nothing to lose."""
    model, other = figure(), figure(names=("Hips", *"abcdefgh"))
    rest = model.skeleton.rotation[model.skeleton.index("Head")]
    still = skinpy.Clip.from_arrays("still", fps=30, joints=["Head"], rotation=[[rest]])
    assert not skinpy.retarget(still, model, other).channels


def test_an_unbound_clip_is_bound_to_the_source_first() -> None:
    model = figure()
    free = skinpy.Clip.from_arrays("free", fps=30, joints=["Head"], rotation=[[(0, 0, 1, 1)]])
    result = skinpy.retarget(free, model, model)
    assert [channel.name for channel in result.channels] == ["Head"]


# ---- real skeletons --------------------------------------------------------------------------------------


def load(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        return skinpy.load(data_file("models", name))


@pytest.mark.parametrize(
    "name",
    ["Fox.glb", "RiggedFigure.glb", "RiggedFigure.dae", "huesitos.fbx", "sinusoidal.bvh", "BCN_Epileptic.X"]
    + ["BoxAnimated.glb", "interpolation_test.gltf", "AnimatedMorphCube.gltf"],
)
def test_real_clips_on_their_own_skeleton(name: str) -> None:
    model = load(name)
    for clip in model.clips:
        result = skinpy.retarget(clip, model, model)
        times = np.linspace(0, clip.duration, 173)
        want = model.joint_positions(clip, times)
        size = max(float(np.ptp(want.reshape(-1, 3), axis=0).max()), 1.0)
        assert np.abs(model.joint_positions(result, times) - want).max() < 1e-5 * size
        poses = model.pose(result, times), model.pose(clip, times)
        assert np.abs(poses[0].morph_weights - poses[1].morph_weights).max(initial=0.0) < 1e-6


def test_a_real_clip_between_real_skeletons() -> None:
    """The same figure in two formats: one has a root that is Z-up and other names; positions must agree."""
    source, target = load("RiggedFigure.dae"), load("RiggedFigure.glb")
    assert [*source.skeleton.parents] == [*target.skeleton.parents]  # so joints correspond by their number
    joint_map = dict(zip(source.skeleton.names, target.skeleton.names, strict=True))
    clip = source.clips[0]
    result = skinpy.retarget(clip, source, target, joint_map)
    times = np.linspace(0, clip.duration, 60)
    ours, theirs = target.joint_positions(result, times), source.joint_positions(clip, times)
    assert np.abs(ours - theirs).max() < 1e-4


@pytest.mark.parametrize("target", ["BCN_Epileptic.X", "Fox.glb"])
def test_the_bundled_character_lends_its_walk(target: str) -> None:
    source, other = skinpy.character(), load(target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        # Displacements from the rest poses are what is compared below, whatever posture these show.
        result = skinpy.retarget("walk", source, other, "auto", source_pose="rest", target_pose="rest")
    pairs = dict(skinpy.match_joints(source, other, "auto").pairs)
    assert {"LeftUpperArm", "RightUpperArm", "LeftHand", "LeftFoot", "Spine", "Chest"} <= pairs.keys()
    assert {other.skeleton.index(name) for name in pairs.values() if name != "ROOT"} <= {*other.skin.joints}
    times = np.linspace(0, 1, 40)
    start = source.globals("walk", times).astype(float)
    end = other.globals(result, times).astype(float)
    for ours, theirs in pairs.items():
        one, two = source.skeleton.index(ours), other.skeleton.index(theirs)
        turn = start[:, one, :3, :3] @ np.linalg.inv(source.skeleton.rest_global[one, :3, :3])
        want = turn @ other.skeleton.rest_global[two, :3, :3]
        assert np.abs(end[:, two, :3, :3] - want).max() < 1e-3, theirs


def test_joints_side_by_side_follow_a_deep_chain() -> None:
    """Each of them moves and rotates as the whole chain above its source joint does."""
    names = tuple(f"link{j}" for j in range(120))
    places = np.stack([np.zeros(120), np.arange(120.0), np.zeros(120)], axis=1)
    chain = figure(places, None, names, tuple(range(-1, 119)))
    flat = figure(places, None, names, (-1,) * 120)
    clip = keyed(chain, 4)
    result = skinpy.retarget(clip, chain, flat)
    for channel in result.channels:  # at its keys: between them so many turns add up to a rush
        joint, times = channel.joint, channel.times
        want, found = (m.globals(c, times)[:, joint] for m, c in ((chain, clip), (flat, result)))
        if channel.path == "rotation":
            assert np.abs(found[:, :3, :3] - want[:, :3, :3]).max() < 2e-5
        else:
            assert np.abs(found[:, :3, 3] - want[:, :3, 3]).max() < 1e-5 * 120
