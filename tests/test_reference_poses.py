"""Reference poses of retargeting: the formula by a slow twin, and figures whose answer is known.

Angles are compared to 0.05 degrees: positions are float32, so the direction of a limb of a tenth of the size
is known to about 1e-5 radians, and the chain of a limb adds up a few of these.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import data_file
from scipy.spatial.transform import Rotation
from test_retarget import Y_TO_Z, keyed, z_up

import skinpy
from skinpy.clip import Channel
from skinpy.clips.edit import derived

SIDED = ("Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot", "ToeBase")
NAMES = ("Hips", "Spine", "Neck", "Head", *(f"Left{n}" for n in SIDED), *(f"Right{n}" for n in SIDED))
PARENTS = (-1, 0, 1, 2, *(1, 4, 5, 6, 0, 8, 9, 10), *(1, 12, 13, 14, 0, 16, 17, 18))
TRUNK = [(0, 0.95, 0), (0, 1.1, 0), (0, 1.5, 0), (0, 1.6, 0)]
ARM = [(0.03, 1.42, 0), (0.18, 1.45, 0), (0.45, 1.45, 0), (0.7, 1.45, 0)]
LEG = [(0.1, 0.9, 0), (0.1, 0.5, 0), (0.1, 0.1, 0), (0.1, 0.02, 0.15)]
T_POSE = np.array([*TRUNK, *ARM, *LEG, *((-x, y, z) for x, y, z in (*ARM, *LEG))])
LIMBS = {
    side + bone: side + end
    for side in ("left", "right")
    for bone, end in zip(
        ("UpperArm", "LowerArm", "UpperLeg", "LowerLeg"),
        ("LowerArm", "Hand", "LowerLeg", "Foot"),
        strict=True,
    )
}
TIMES = np.linspace(0.0, 2.0, 41)


def turn(axis: str, degrees: float) -> np.ndarray:
    matrix: np.ndarray = Rotation.from_euler(axis, degrees, degrees=True).as_matrix()
    return matrix


def posed(places: np.ndarray, turns: dict[str, np.ndarray]) -> np.ndarray:
    """Places (J,3) after joints, with all below them, were turned in the scene."""
    result = places.copy()
    for name, matrix in turns.items():
        joint = NAMES.index(name)
        below = [j for j in range(len(NAMES)) if joint in line(j)]
        result[below] = (result[below] - result[joint]) @ matrix.T + result[joint]
    return result


def line(joint: int) -> list[int]:
    return [] if joint < 0 else [joint, *line(PARENTS[joint])]


def figure(
    places: np.ndarray = T_POSE, seed: int | None = None, names: tuple[str, ...] = NAMES, scale: float = 1.0
) -> Any:
    """A figure with joints at places; a seed turns the axes of its joints at random."""
    frames = np.repeat(np.eye(4)[None], len(names), 0)
    frames[:, :3, 3] = places * scale
    if seed is not None:
        frames[:, :3, :3] = Rotation.random(len(names), random_state=seed).as_matrix()
    local = [frames[j] if p < 0 else np.linalg.inv(frames[p]) @ frames[j] for j, p in enumerate(PARENTS)]
    return skinpy.Model.from_arrays(
        names,
        PARENTS,
        np.array(local),
        positions=places * scale,
        faces=np.zeros((0, 3), int),
        joints=np.arange(len(names))[:, None],
        weights=np.ones((len(names), 1)),
    )


A_POSE = posed(T_POSE, {"LeftArm": turn("z", -50), "RightArm": turn("z", 50)})


def directions(model: Any, clip: Any, times: Any = TIMES) -> dict[str, np.ndarray]:
    origins = model.joint_positions(clip, times).astype(float)
    found = {}
    for bone, end in LIMBS.items():
        along = origins[:, model.humanoid.joint(end)] - origins[:, model.humanoid.joint(bone)]
        found[bone] = along / np.linalg.norm(along, axis=1, keepdims=True)
    return found


def worst_angle(
    one: dict[str, np.ndarray], other: dict[str, np.ndarray], matrix: Any = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
) -> float:
    """The largest angle in degrees between the limbs of two figures."""
    chords = [np.linalg.norm(one[bone] @ np.asarray(matrix).T - other[bone], axis=1).max() for bone in LIMBS]
    return float(np.degrees(2 * np.arcsin(max(chords) / 2)))


def moving(model: Any, seed: int = 1, amount: float = 0.3) -> Any:
    """A clip in which all joints turn about their rest, with keys of one time line, and the hips travel."""
    rng = np.random.default_rng(seed)
    times = np.linspace(0.0, 2.0, 9)
    channels = []
    for joint in range(len(model.skeleton)):
        change = Rotation.from_rotvec(amount * rng.normal(size=(9, 3)))
        values = (Rotation.from_quat(model.skeleton.rotation[joint]) * change).as_quat()
        channels.append(
            Channel(joint, None, "", "rotation", "linear", times, values.astype(np.float32), None, None)
        )
    hips = model.skeleton.translation[0] + 0.1 * rng.normal(size=(9, 3)).cumsum(0)
    channels.append(Channel(0, None, "", "translation", "linear", times, hips.astype(np.float32), None, None))
    return derived(bound(model), channels, 2.0)


def bound(model: Any) -> Any:
    rotation = np.repeat(model.skeleton.rotation[None], 2, 0)
    return model.add_clips(skinpy.Clip.from_arrays("move", times=[0.0, 2.0], rotation=rotation)).clips[-1]


def any_pose(model: Any, seed: int, amount: float = 0.6) -> Any:
    """The rest pose with every joint but the hips turned at random."""
    pose, rng = model.pose(), np.random.default_rng(seed)
    for joint in range(1, len(NAMES)):
        pose.rotate(joint, Rotation.from_rotvec(amount * rng.normal(size=3)).as_quat())
    return pose


# ---- the formula --------------------------------------------------------------------------------------


def test_a_slow_twin_of_the_formula() -> None:
    """target(t) = source(t) source_ref^-1 target_ref for the global rotations of each joint."""
    source, target = figure(seed=1), figure(A_POSE, seed=2)
    clip = moving(source)
    given = {"source_pose": any_pose(source, 3), "target_pose": any_pose(target, 4)}
    result = skinpy.retarget(clip, source, target, **given)
    match = skinpy.match_poses(clip, source, target, **given)
    ours = target.globals(result, TIMES).astype(float)[..., :3, :3]
    theirs = source.globals(clip, TIMES).astype(float)[..., :3, :3]
    before = match.source.globals().astype(float)[:, :3, :3]
    after = match.target.globals().astype(float)[:, :3, :3]
    # 1e-5: a chain of six float32 rotations.
    assert np.abs(ours - theirs @ np.linalg.inv(before) @ after).max() < 1e-5
    # Only the hips may differ from what was given: the figure is turned to face where the other does.
    assert np.abs(match.source.rotation[1:] - given["source_pose"].rotation[1:]).max() < 1e-6
    assert (match.target.translation == target.pose().translation).all()


@pytest.mark.parametrize("interpolation", ["linear", "step", "cubic"])
def test_keys_are_carried_one_by_one(interpolation: str) -> None:
    source, target = figure(seed=1), figure(A_POSE, seed=2)
    clip = keyed(source, 5, interpolation=interpolation)
    result = skinpy.retarget(clip, source, target)
    theirs = {(channel.path, channel.joint): channel for channel in clip.channels}
    rotations = [channel for channel in result.channels if channel.path == "rotation"]
    assert len(rotations) == len(NAMES)
    for channel in rotations:
        own = theirs["rotation", channel.joint]
        assert (channel.times == own.times).all() and channel.interpolation == interpolation


def test_joints_that_are_not_mapped_stay_as_in_the_reference_pose() -> None:
    source, target = figure(seed=1), figure(seed=2)
    pose = target.pose().rotate("Neck", degrees=25, axis="x")
    mapping = {name: name for name in NAMES if name != "Neck"}
    with pytest.warns(skinpy.SkinpyWarning, match="'Neck'"):
        result = skinpy.retarget(
            moving(source), source, target, mapping, source_pose="rest", target_pose=pose
        )
    neck = NAMES.index("Neck")
    assert np.abs(target.pose(result, TIMES).rotation[:, neck] - pose.rotation[neck]).max() < 1e-6


# ---- found by itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize("places", [T_POSE, posed(T_POSE, {"LeftArm": turn("z", -3)})])
def test_rest_poses_that_agree_are_taken_as_they_are(places: np.ndarray, scale: float) -> None:
    source, target = figure(seed=1, scale=scale), figure(places, seed=2)
    clip = moving(source)
    found = skinpy.retarget(clip, source, target)
    stated = skinpy.retarget(clip, source, target, source_pose="rest", target_pose="rest")
    assert len(found.channels) == len(stated.channels)
    for one, other in zip(found.channels, stated.channels, strict=True):
        assert (one.joint, one.path) == (other.joint, other.path)
        assert (one.times == other.times).all() and (one.values == other.values).all()
    match = skinpy.match_poses(clip, source, target)
    assert (match.source_from, match.target_from) == ("the rest pose", "the rest pose")


SPREAD = posed(
    T_POSE,
    {"LeftUpLeg": turn("z", 20), "RightUpLeg": turn("z", -20)}
    | {"LeftFoot": turn("z", -20), "RightFoot": turn("z", 20)},
)


@pytest.mark.parametrize("source_places", [T_POSE, A_POSE, SPREAD])
@pytest.mark.parametrize("target_places", [T_POSE, A_POSE, SPREAD])
def test_limbs_point_where_those_of_the_source_do(
    source_places: np.ndarray, target_places: np.ndarray
) -> None:
    source, target = figure(source_places, seed=1), figure(target_places, seed=2, scale=3.0)
    clip = moving(source)
    assert (
        worst_angle(directions(source, clip), directions(target, skinpy.retarget(clip, source, target)))
        < 0.05
    )


@pytest.mark.parametrize("degrees", [90, 180, -90])
def test_a_source_that_faces_elsewhere(degrees: float) -> None:
    source, target = figure(A_POSE @ turn("y", degrees).T, seed=1), figure(seed=2)
    clip = moving(source)
    result = skinpy.retarget(clip, source, target)
    back = turn("y", -degrees)
    assert worst_angle(directions(source, clip), directions(target, result), back) < 0.05
    ways = [model.joint_positions(one, TIMES)[:, 0] for model, one in ((source, clip), (target, result))]
    assert np.abs((ways[0] - ways[0][0]) @ back.T - (ways[1] - ways[1][0])).max() < 1e-5


def test_a_source_with_another_up_axis(tmp_path: Path) -> None:
    source, target = z_up(figure(A_POSE @ Y_TO_Z.T, seed=1, scale=100.0), tmp_path), figure(seed=2)
    clip = moving(source)
    result = skinpy.retarget(clip, source, target)
    assert worst_angle(directions(source, clip), directions(target, result), Y_TO_Z.T) < 0.05


def test_a_mirrored_clip() -> None:
    source, target = figure(A_POSE, seed=1), figure(seed=2)
    clip = moving(source).mirror()
    result = skinpy.retarget(clip, source, target)
    assert worst_angle(directions(source, clip), directions(target, result)) < 0.05


def test_the_angles_are_told() -> None:
    match = skinpy.match_poses(moving(source := figure(A_POSE)), source, figure())
    assert match.degrees["leftUpperArm"] == pytest.approx(50, abs=0.05)
    assert match.degrees["leftUpperLeg"] == pytest.approx(0, abs=0.05)
    assert "leftUpperArm     50.0 degrees apart" in str(match) and "leftHand" in match.not_compared
    assert repr(match).startswith(
        "<PoseMatch: source: the rest pose, with limbs turned; target: the rest pose; "
    )


def pile(seed: int) -> tuple[Any, Any, Any]:
    """A figure, the same one with all limbs along x at rest, and clips of both with the same motion."""
    good = figure(seed=seed)
    clip = moving(good, amount=0.15)
    offsets = T_POSE - T_POSE[[max(parent, 0) for parent in PARENTS]]
    along = np.linalg.norm(offsets, axis=1)[:, None] * np.array([1.0, 0.0, 0.0])
    # Hips and shoulders keep their width, as in files of motion capture.
    wide = [j for j, name in enumerate(NAMES) if name.endswith(("Shoulder", "UpLeg"))]
    along[wide] = offsets[wide] @ turn("z", -90).T @ turn("x", 30).T
    places = np.zeros_like(along)
    for joint, parent in enumerate(PARENTS):
        places[joint] = along[joint] + (places[parent] if parent >= 0 else 0)
    heap = figure(places)
    # Each joint of the heap turns by what brings its children's offsets to those of the good figure.
    rigid = np.empty((len(NAMES), 3, 3))
    for joint in range(len(NAMES)):
        children = [j for j, parent in enumerate(PARENTS) if parent == joint]
        rigid[joint] = (
            Rotation.align_vectors(offsets[children], along[children])[0].as_matrix()
            if children
            else np.eye(3)
        )
    times = np.linspace(0.0, 2.0, 61)
    turned = good.globals(clip, times).astype(float)[..., :3, :3] @ np.linalg.inv(
        good.skeleton.rest_global[:, :3, :3]
    )
    turned = turned @ rigid
    channels = []
    for joint, parent in enumerate(PARENTS):
        local = turned[:, joint] if parent < 0 else np.swapaxes(turned[:, parent], 1, 2) @ turned[:, joint]
        values = Rotation.from_matrix(local).as_quat().astype(np.float32)
        channels.append(Channel(joint, None, "", "rotation", "linear", times, values, None, None))
    hips = good.joint_positions(clip, times)[:, 0].astype(np.float32)
    channels.append(Channel(0, None, "", "translation", "linear", times, hips, None, None))
    return good, clip, derived(bound(heap), channels, 2.0)


def test_a_rest_pose_that_is_no_pose() -> None:
    """The clip itself shows how joints of a heap of bones are twisted: a frame of it is the reference."""
    good, clip, heaped = pile(1)
    heap = heaped.model
    assert "clip 'move' at" in skinpy.match_poses(heaped, heap, good).source_from
    result = skinpy.retarget(heaped, heap, good)
    times = np.linspace(0.0, 2.0, 61)  # those of the keys
    # Joints with several children (pelvis, spine) fit only nearly, so the heap itself is the truth.
    assert worst_angle(directions(heap, heaped, times), directions(good, result, times)) < 0.05
    ours, theirs = (good.globals(one, times).astype(float)[..., :3, :3] for one in (result, clip))
    apart = np.degrees(
        Rotation.from_matrix((ours @ np.swapaxes(theirs, -1, -2)).reshape(-1, 3, 3)).magnitude()
    )
    # A perfect reference would give 0; every joint of the frame that is taken is 0.15 rad off by noise.
    assert np.median(apart) < 15 and apart.max() < 60
    hips = [good.joint_positions(one, times)[:, 0] for one in (result, clip)]
    # The path is the same; how high the figure stands is found from where the source's feet are lowest.
    assert np.abs((hips[0] - hips[0][0]) - (hips[1] - hips[1][0])).max() < 0.02


def test_a_heap_as_the_target() -> None:
    good, clip, heaped = pile(1)
    heap = heaped.model.add_clips(heaped, replace=True)
    result = skinpy.retarget(clip, good, heap)
    assert worst_angle(directions(good, clip), directions(heap, result)) < 0.05


def with_fingers(places: np.ndarray) -> Any:
    """A figure with an index and a little finger on each hand."""
    names, parents, spots = list(NAMES), list(PARENTS), list(places)
    for side in ("Left", "Right"):
        hand = NAMES.index(side + "Hand")
        along = places[hand] - places[NAMES.index(side + "ForeArm")]
        for finger, ahead in (("Index", 0.03), ("Pinky", -0.03)):
            for number in (1, 2, 3):
                names.append(f"{side}Hand{finger}{number}")
                parents.append(hand if number == 1 else len(names) - 2)
                spots.append(places[hand] + along * (0.2 + 0.1 * number) + (0, 0, ahead))
    frames = np.repeat(np.eye(4)[None], len(names), 0)
    frames[:, :3, 3] = spots
    local = [frames[j] if p < 0 else np.linalg.inv(frames[p]) @ frames[j] for j, p in enumerate(parents)]
    return skinpy.Model.from_arrays(
        names,
        parents,
        np.array(local),
        positions=np.array(spots),
        faces=np.zeros((0, 3), int),
        joints=np.arange(len(names))[:, None],
        weights=np.ones((len(names), 1)),
    )


def across_hand(model: Any, clip: Any, side: str) -> np.ndarray:
    origins = model.joint_positions(clip, TIMES).astype(float)
    along = origins[:, model.humanoid.joint(f"{side}IndexProximal")]
    along = along - origins[:, model.humanoid.joint(f"{side}LittleProximal")]
    unit: np.ndarray = along / np.linalg.norm(along, axis=1, keepdims=True)
    return unit


def test_fingers_without_a_hand_turn_nothing() -> None:
    source, target = with_fingers(T_POSE), with_fingers(A_POSE)
    bones = {bone: name for bone, name in target.humanoid.items() if bone != "leftHand"}
    pairs = {name: name for name in target.skeleton.names if name != "LeftHand"}
    assert skinpy.Humanoid(target, bones).joint("leftIndexProximal") == target.humanoid.joint(
        "leftIndexProximal"
    )
    with pytest.warns(skinpy.SkinpyWarning, match="LeftHand"):
        result = skinpy.retarget(moving(source), source, target, pairs)
    assert np.isfinite(target.joint_positions(result, TIMES)).all()


@pytest.mark.parametrize(("degrees", "left"), [(80, 0), (30, 30)])
def test_palms_that_are_far_off_are_turned(degrees: float, left: float) -> None:
    """Within 45 degrees hands are as the poses have them."""
    source, target = with_fingers(T_POSE), with_fingers(A_POSE)
    forearm = A_POSE[NAMES.index("LeftHand")] - A_POSE[NAMES.index("LeftForeArm")]
    pose = target.pose().rotate("LeftHand", degrees=degrees, axis=forearm)
    clip = moving(source)
    result = skinpy.retarget(clip, source, target, target_pose=pose)
    chords = np.linalg.norm(across_hand(source, clip, "left") - across_hand(target, result, "left"), axis=1)
    assert np.abs(np.degrees(2 * np.arcsin(chords / 2)) - left).max() < 0.1


def test_the_bind_pose_counts_where_the_rest_pose_is_a_step() -> None:
    """A character that was modeled in a T and whose file rests in a step of a walk."""
    modeled = with_fingers(T_POSE)
    step = modeled.pose()
    for joint, degrees, axis in (
        ("LeftArm", -70, "z"),
        ("LeftUpLeg", -30, "x"),
        ("RightHand", 50, "x"),
        ("Neck", 9, "x"),
    ):
        step.rotate(joint, degrees=degrees, axis=axis)
    places = step.globals()[:, :3, 3].astype(float)
    resting = skinpy.Model.from_arrays(
        modeled.skeleton.names,
        modeled.skeleton.parents,
        step.locals(),
        positions=places,
        faces=np.zeros((0, 3), int),
        joints=np.arange(len(places))[:, None],
        weights=np.ones((len(places), 1)),
        inverse_bind=modeled.skin.inverse_bind,
    )
    source = with_fingers(A_POSE)
    clip = moving(source)
    match = skinpy.match_poses(clip, source, resting)
    assert match.target_from == "the bind pose"
    assert np.abs(match.target.globals()[:, :3, :3] - modeled.pose().globals()[:, :3, :3]).max() < 1e-5
    ours, theirs = (
        model.globals(skinpy.retarget(clip, source, model), TIMES)[..., :3, :3]
        for model in (resting, modeled)
    )
    assert np.abs(ours - theirs).max() < 1e-5


def test_what_is_no_posture_anywhere_is_told() -> None:
    good, _, heaped = pile(1)
    with pytest.warns(
        skinpy.SkinpyWarning, match="no good reference pose of the source was found.*UpperLeg 1[0-9]"
    ):
        skinpy.retarget(bound(heaped.model), heaped.model, good)
    lying = figure(T_POSE @ turn("x", -90).T)
    clip = moving(lying, amount=0.1)
    for function in (skinpy.retarget, skinpy.match_poses):
        with pytest.warns(skinpy.SkinpyWarning, match="the source stands neither at rest nor") as caught:
            function(clip, lying, good)
        assert {warning.filename for warning in caught} == {__file__}  # the caller's line


def test_figures_that_are_no_humanoids_are_as_before() -> None:
    crane = skinpy.crane()
    clip = crane.clips[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        match = skinpy.match_poses(clip, crane, crane)
    assert not match.degrees and match.source_from == "the rest pose"


# ---- given --------------------------------------------------------------------------------------------


def test_arms_that_hang_at_45_degrees() -> None:
    """The case: the zero pose has its arms up, and both frames show them 45 degrees below the horizontal."""
    source = skinpy.load(data_file("cases/bvh-zero-pose-arms-up.bvh"))
    for target in (figure(seed=2), figure(A_POSE), skinpy.character()):
        result = skinpy.retarget(source.clips[0], source, target, "auto")
        found = directions(target, result, [0.0])
        half = np.sqrt(0.5)
        for bone, x in (("leftUpperArm", half), ("leftLowerArm", half), ("rightUpperArm", -half)):
            assert np.abs(found[bone][0] - (x, -half, 0)).max() < 1e-4
    # Given by hand: the frame goes with an A pose of the target.
    given = {"source_pose": 0.5, "target_pose": target.humanoid.a_pose()}
    result = skinpy.retarget(source.clips[0], source, target, "auto", **given)
    assert np.abs(directions(target, result, [0.0])["leftUpperArm"][0] - (half, -half, 0)).max() < 1e-4


def test_standard_poses_of_both_sides_go_together() -> None:
    source, target = figure(A_POSE, seed=1), figure(SPREAD, seed=2)
    clip = moving(source)
    for name in ("t_pose", "a_pose"):
        given = {
            f"{side}_pose": getattr(model.humanoid, name)()
            for side, model in (("source", source), ("target", target))
        }
        result = skinpy.retarget(clip, source, target, **given)
        assert worst_angle(directions(source, clip), directions(target, result)) < 0.05


def test_a_reference_pose_may_face_anywhere() -> None:
    """A frame in which the figure is turned by 130 degrees is a reference as good as one that faces ahead."""
    source, target = figure(seed=1), figure(seed=2)
    clip = moving(source)
    ahead = any_pose(source, 3, 0.2)
    turned = ahead.copy().rotate(0, Rotation.from_euler("y", 130, degrees=True).as_quat(), space="parent")
    one, other = (
        skinpy.retarget(clip, source, target, source_pose=p, target_pose="rest") for p in (ahead, turned)
    )
    assert np.abs(target.globals(one, TIMES) - target.globals(other, TIMES)).max() < 1e-5


def test_one_given_pose_finds_the_other() -> None:
    source, target = figure(seed=1), figure(seed=2)
    clip = moving(source)
    for given in ({"source_pose": source.humanoid.a_pose()}, {"target_pose": target.humanoid.a_pose()}):
        result = skinpy.retarget(clip, source, target, **given)
        assert worst_angle(directions(source, clip), directions(target, result)) < 0.05


def test_legs_that_are_spread_at_rest_stand_on_the_same_floor() -> None:
    """With straight legs the hips of such a figure are higher than at rest, and its feet where they were."""
    source, target = figure(SPREAD, seed=1), figure(seed=2, scale=2.0)
    straight = source.humanoid.t_pose()
    raised = SPREAD[:, 1].min() - T_POSE[:, 1].min()
    times = np.array([0.0, 2.0])
    hips = np.array([[0, 0.95 + raised, 0]] * 2, np.float32)
    rows = [("rotation", joint, np.stack([rotation] * 2)) for joint, rotation in enumerate(straight.rotation)]
    channels = [
        Channel(joint, None, "", path, "linear", times, values, None, None)
        for path, joint, values in [*rows, ("translation", 0, hips)]
    ]
    result = skinpy.retarget(derived(bound(source), channels, 2.0), source, target)
    assert target.joint_positions(result, 1.0)[0, 1] == pytest.approx(1.9, abs=1e-4)


# ---- T and A ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "degrees"), [("t_pose", 0.0), ("a_pose", 45.0)])
@pytest.mark.parametrize("places", [T_POSE, A_POSE, SPREAD])
def test_straight_limbs(places: np.ndarray, name: str, degrees: float) -> None:
    model = figure(places, seed=3)
    pose = getattr(model.humanoid, name)()
    origins = pose.globals()[:, :3, 3].astype(float)
    drop = np.radians(degrees)
    for bone, end in LIMBS.items():
        along = origins[model.humanoid.joint(end)] - origins[model.humanoid.joint(bone)]
        aside = 1.0 if bone.startswith("left") else -1.0
        want = (aside * np.cos(drop), -np.sin(drop), 0) if bone.endswith("Arm") else (0, -1, 0)
        assert np.abs(along / np.linalg.norm(along) - want).max() < 1e-5
    for kept in ("Spine", "Head", "LeftFoot"):  # feet keep their slope on the floor
        joint = NAMES.index(kept)
        assert np.abs(pose.globals()[joint, :3, :3] - model.skeleton.rest_global[joint, :3, :3]).max() < 1e-5
    assert (pose.translation == model.pose().translation).all()


def test_the_character_takes_a_t() -> None:
    model = skinpy.character()
    pose = model.humanoid.t_pose()
    arm = [model.humanoid.joint(bone) for bone in ("leftUpperArm", "leftHand")]
    origins = pose.globals()[arm, :3, 3]
    assert abs(origins[0, 1] - origins[1, 1]) < 1e-5


def test_what_a_standard_pose_needs() -> None:
    model = figure()
    with pytest.raises(KeyError, match="no leftLowerLeg"):
        skinpy.Humanoid(model, {b: n for b, n in model.humanoid.items() if b != "leftLowerLeg"}).t_pose()
    places = T_POSE.copy()
    places[NAMES.index("LeftHand")] = places[NAMES.index("LeftForeArm")]
    short = skinpy.Humanoid(figure(places), dict(model.humanoid))
    with pytest.raises(
        ValueError, match=r"leftLowerArm, from joint 'LeftForeArm' to 'LeftHand', .* length 0"
    ):
        short.t_pose()
    flat = T_POSE.copy()
    flat[:, 0] = 0
    flat[NAMES.index("LeftHand")] += 0.1
    with pytest.raises(ValueError, match=r"length 0|no left and right"):
        skinpy.Humanoid(figure(flat), dict(model.humanoid)).a_pose()


def test_limbs_of_length_0_are_told_and_left_alone() -> None:
    places = A_POSE.copy()
    places[NAMES.index("LeftHand")] = places[NAMES.index("LeftForeArm")]
    source, target = figure(places), figure()
    match = skinpy.match_poses(moving(source), source, target)
    assert match.not_compared["leftLowerArm"] == "it has length 0 in the source"
    assert np.isfinite(match.source.rotation).all() and "leftUpperArm" in match.degrees


def test_feet_that_hang_from_the_root_are_no_ends_of_legs() -> None:
    """In rigs for IK a foot is beside the leg, and turning the leg does not move it."""
    model = figure(A_POSE)
    parents = [0 if name.endswith("Foot") else parent for name, parent in zip(NAMES, PARENTS, strict=True)]
    frames = model.skeleton.rest_global.astype(float)
    local = [frames[j] if p < 0 else np.linalg.inv(frames[p]) @ frames[j] for j, p in enumerate(parents)]
    rig = skinpy.Model.from_arrays(
        NAMES,
        parents,
        np.array(local),
        positions=A_POSE,
        faces=np.zeros((0, 3), int),
        joints=np.arange(len(NAMES))[:, None],
        weights=np.ones((len(NAMES), 1)),
    )
    rig_bones = skinpy.Humanoid(rig, dict(model.humanoid))
    with pytest.raises(ValueError, match=r"leftLowerLeg, .*: its end does not hang from it"):
        rig_bones.t_pose()
    match = skinpy.match_poses(moving(model), model, rig)
    assert {"leftLowerLeg", "rightLowerLeg"} <= match.not_compared.keys()


# ---- refused ------------------------------------------------------------------------------------------


def test_wrong_reference_poses_are_refused() -> None:
    source, target = figure(), figure(scale=2.0)
    clip = moving(source)

    def refused(kind: type[Exception], message: str, **given: Any) -> None:
        for function in (skinpy.retarget, skinpy.match_poses):
            with pytest.raises(kind, match=message):
                function(clip, source, target, **given)

    refused(
        ValueError, "source_pose is 'tpose'; expected a Pose, a time, 'rest' or 'auto'", source_pose="tpose"
    )
    refused(ValueError, "target_pose is 'T'", target_pose="T")
    refused(
        ValueError, "source_pose is 2.5 s; expected a time of clip 'move', from 0 to 2 s", source_pose=2.5
    )
    refused(ValueError, "source_pose is -1 s", source_pose=-1)
    refused(ValueError, "source_pose is nan", source_pose=float("nan"))
    refused(TypeError, "source_pose is ", source_pose=[1, 2])
    refused(TypeError, "target_pose is 0.5; .*target.pose", target_pose=0.5)
    refused(
        ValueError,
        "target_pose is a pose of another model; expected a pose of the target",
        target_pose=source.pose(),
    )
    refused(ValueError, r"source_pose holds poses of shape \(3,\)", source_pose=source.pose(clip, [0, 1, 2]))
    bad = source.pose()
    bad.rotation[3] = np.nan
    refused(ValueError, "source_pose.rotation holds a number that is not finite", source_pose=bad)
    bad.rotation[3] = 0
    refused(ValueError, "source_pose.rotation of joint 'Head' has length 0", source_pose=bad)


def test_a_mirrored_figure_is_told() -> None:
    """Its left is where right should be; pairs of left with right put it right."""
    source, target = figure(A_POSE * (-1, 1, 1)), figure()
    clip = moving(source)
    with pytest.warns(skinpy.SkinpyWarning, match="toes of the source point backward"):
        skinpy.retarget(clip, source, target)
    swapped = {"Left": "Right", "Right": "Left"}
    pairs = {
        name: swapped.get(name[: 4 + (name[0] == "R")], "") + name.removeprefix("Left").removeprefix("Right")
        for name in NAMES
    }
    result = skinpy.retarget(clip, source, target, pairs)
    ours, theirs = directions(target, result), directions(source, clip)
    for bone in LIMBS:
        other = bone.replace("left", "RIGHT").replace("right", "left").replace("RIGHT", "right")
        assert np.abs(ours[other] - theirs[bone]).max() < 1e-3
