"""Root motion: taken out of clips that travel, and told from the feet of those that walk in place.

The property that matters: root motion times residual is the original. Tolerances are relative to the size of
the model: 1e-5 is what docs/root-motion.md promises between keys, and float32 globals add 1e-6 of the
distance from the origin; in float64 (RootMotion alone) 1e-9.
"""

import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import data_file

import skinpy
from skinpy import Clip, Model, RootMotion
from skinpy.clips import root_motion
from skinpy.clips.carrier import carrier
from skinpy.clips.evaluate import sample_channel as keyed
from skinpy.clips.evaluate import trs

LOOPS = ("wrap", "clamp", "once", "pingpong")


def turn(axis: Any, angle: Any) -> Any:
    """Quaternions x y z w of right-handed turns."""
    half = np.asarray(angle, float)[..., None] / 2
    unit = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.concatenate([np.sin(half) * unit, np.cos(half)], axis=-1)


def rotation_matrix(axis: int, angle: float) -> Any:
    """(4,4) turn about axis 0, 1 or 2."""
    matrix, (i, j) = np.eye(4), {0: (1, 2), 1: (2, 0), 2: (0, 1)}[axis]
    matrix[i, i] = matrix[j, j] = math.cos(angle)
    matrix[i, j], matrix[j, i] = -math.sin(angle), math.sin(angle)
    return matrix


def moved(x: float, y: float, z: float) -> Any:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def walker(clip: Clip, root: Any = None, joints: tuple[str, ...] = ("Root", "Hips", "Head")) -> Model:
    """Root at the origin, hips 1 up, head 1 further up (as the hips see it), no mesh."""
    rest = np.tile(np.eye(4), (len(joints), 1, 1))
    rest[1:, 1, 3] = 1.0
    if root is not None:
        rest[0] = root
    none = np.zeros((0, 3))
    return Model.from_arrays(
        joints,
        range(-1, len(joints) - 1),
        rest,
        positions=none,
        faces=none.astype(int),
        joints=np.zeros((0, 1), int),
        weights=np.zeros((0, 1)),
        clips=[clip],
    )


def turning(keys: int = 31, joint: str = "Hips", seed: int = 4) -> Clip:
    """Goes along a curve, turns by more than a whole turn about +Y, bobs and sways."""
    rng = np.random.default_rng(seed)
    times = np.linspace(0.0, 2.0, keys)
    way = np.stack([3.0 * times, 1.0 + 0.1 * np.sin(9 * times), np.sin(2 * times)], axis=-1)
    yaw, sway = turn((0, 1, 0), 4.0 * times), turn(rng.normal(size=3) * (1, 0.3, 1), 0.3 * np.sin(7 * times))
    x, y, z, w = yaw.T
    a, b, c, d = sway.T
    rotation = np.stack(
        [
            w * a + d * x + y * c - z * b,
            w * b + d * y + z * a - x * c,
            w * c + d * z + x * b - y * a,
            w * d - x * a - y * b - z * c,
        ],
        axis=-1,
    )
    return Clip.from_arrays(
        "go", times=times, joints=[joint], translation=way[:, None], rotation=rotation[:, None]
    )


def below(model: Model, joint: int) -> Any:
    found = np.zeros(len(model.skeleton), bool)
    found[joint] = True
    for number, parent in enumerate(model.skeleton.parents):
        found[number] |= parent >= 0 and found[parent]
    return found


def check_property(clip: Clip, joint: str, tolerance: float = 1e-5, **options: Any) -> Clip:
    """root motion @ residual = original, at keys, between them and at the end; gives the residual."""
    model = clip.model
    assert model is not None
    residual = clip.extract_root_motion(joint, **options)
    motion = residual.root_motion
    assert motion is not None and residual.model is model and residual.duration == clip.duration
    times = np.unique(np.concatenate([motion.times, np.linspace(0.0, clip.duration, 401)]))
    which = below(model, model.skeleton.index(joint))
    wanted = model.globals(clip, times, loop="clamp")[:, which].astype(np.float64)
    left = model.globals(residual, times, loop="clamp")[:, which].astype(np.float64)
    points = np.ptp(model.joint_positions(clip, 0.0), axis=0).max()
    size = max(float(np.ptp(model.bounds(), axis=0).max()), float(points))
    far = float(np.abs(wanted[..., :3, 3]).max())
    away = np.abs(motion.sample(times)[:, None] @ left - wanted)[..., :3, 3].max()
    assert away <= tolerance * size + 2e-6 * far
    assert np.array_equal(motion.sample(0.0), np.eye(4))
    return residual


# ---- bad input ------------------------------------------------------------------------------------


def test_bad_arguments_are_refused_by_name() -> None:
    model = skinpy.character()
    walk = model.clips["walk"]
    with pytest.raises(KeyError, match="Hips"):
        walk.extract_root_motion("Hip")
    with pytest.raises(IndexError, match="joint"):
        walk.extract_root_motion(999)
    with pytest.raises(TypeError, match="joint"):
        walk.extract_root_motion(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="translation"):
        walk.extract_root_motion(translation="up")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nothing to extract"):
        walk.extract_root_motion(translation=None, yaw=False)
    with pytest.raises(ValueError, match="add_clips"):
        turning().extract_root_motion()
    with pytest.raises(ValueError, match="add_clips"):
        turning().root_motion_from_feet()
    with pytest.raises(KeyError, match="LeftFoot"):
        walk.root_motion_from_feet(["Leftfoot"])
    with pytest.raises(ValueError, match="feet"):
        walk.root_motion_from_feet([])
    with pytest.raises(TypeError, match="feet"):
        walk.root_motion_from_feet("LeftFoot")
    with pytest.raises(ValueError, match="already"):
        walk.root_motion_from_feet().extract_root_motion()
    with pytest.raises(ValueError, match="additive"):
        walk.additive().extract_root_motion()
    with pytest.raises(ValueError, match="additive"):
        walk.additive().root_motion_from_feet()
    assert walk.root_motion is None


@pytest.mark.parametrize(
    ("times", "translation", "rotation", "words"),
    [
        ([], np.zeros((0, 3)), np.zeros((0, 4)), "times"),
        ([0, 0], np.zeros((2, 3)), np.ones((2, 4)), "times"),
        ([0, math.nan], np.zeros((2, 3)), np.ones((2, 4)), "times"),
        ([0, 1], np.zeros((3, 3)), np.ones((2, 4)), "translation"),
        ([0, 1], np.full((2, 3), math.inf), np.ones((2, 4)), "translation"),
        ([0, 1], np.zeros((2, 3)), np.zeros((2, 4)), "rotation"),
        ([0, 1], np.zeros((2, 3)), np.ones((2, 3)), "rotation"),
    ],
)
def test_bad_keys_are_refused_by_name(times: Any, translation: Any, rotation: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RootMotion(times, translation, rotation)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_positions_have_to_be_finite(bad: float) -> None:
    motion = RootMotion([0, 1], np.zeros((2, 3)), turn((0, 1, 0), [0, 1]))
    for call in (
        lambda: motion.sample(bad),
        lambda: motion.sample([0.0, bad]),
        lambda: motion.delta(bad, 1.0),
        lambda: motion.delta(0.0, bad),
        lambda: motion.delta(bad, bad),
        lambda: motion.delta(0.0, [1.0, bad]),
        lambda: motion.delta(0.0, 1.0, "wrap", bad),
        lambda: motion.delta(0.0, 1.0, "wrap", -1.0),
        lambda: motion.delta(0.0, 1.0, "around"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match="expected"):
            call()


# ---- RootMotion by itself -------------------------------------------------------------------------


def quarter() -> RootMotion:
    """2 along +X, then a quarter turn to the left about +Y at once with 1 along +Z; 2 s."""
    return RootMotion([0, 1, 2], [(0, 0, 0), (2, 0, 0), (2, 0, 1)], turn((0, 1, 0), [0, 0, np.pi / 2]))


def test_sample_by_hand() -> None:
    motion = quarter()
    assert np.allclose(motion.sample(0.5), moved(1, 0, 0), atol=1e-15)
    assert np.allclose(motion.sample(1.5), moved(2, 0, 0.5) @ rotation_matrix(1, np.pi / 4), atol=1e-15)
    assert np.allclose(motion.sample([-1.0, 7.0]), [np.eye(4), motion.sample(2.0)], atol=0)
    assert motion.sample(np.zeros((2, 3))).shape == (2, 3, 4, 4) and motion.sample(1.0).dtype == np.float64
    assert motion.duration == 2.0 and not motion.translation.flags.writeable


def test_keys_are_taken_relative_to_the_first() -> None:
    shift = moved(5, 0, -3) @ rotation_matrix(1, 1.0)
    other = RootMotion([0, 1], [(5, 0, -3), (6, 0, -3)], turn((0, 1, 0), [1.0, 1.0]))
    assert np.array_equal(other.sample(0), np.eye(4))
    assert np.allclose(other.sample(1), np.linalg.inv(shift) @ moved(1, 0, 0) @ shift, atol=1e-15)


def test_delta_by_hand() -> None:
    """A loop ends 2 along X and 1 along Z, turned left: the next one goes along what is left of it."""
    motion, end = quarter(), moved(2, 0, 1) @ rotation_matrix(1, np.pi / 2)
    assert np.allclose(motion.delta(0.0, 2.0), end, atol=1e-15)
    assert np.allclose(motion.delta(2.0, 3.0), moved(2, 0, 0), atol=1e-15)
    # Turned by a quarter about +Y, +X becomes -Z.
    assert np.allclose(motion.delta(0.0, 3.0)[:3, 3], (2, 0, -1), atol=1e-15)
    assert np.allclose(motion.delta(-2.0, 0.0), end, atol=1e-15)
    assert np.allclose(motion.delta(0.0, -2.0), np.linalg.inv(end), atol=1e-15)
    assert np.allclose(motion.delta(0.0, 8.0), np.eye(4), atol=1e-14)  # four quarter turns close the way
    for loop in ("clamp", "once"):
        assert np.allclose(motion.delta(-5.0, 9.0, loop), end, atol=1e-15)
    assert np.allclose(motion.delta(0.0, 3.0, "pingpong"), moved(2, 0, 0), atol=1e-15)
    assert np.allclose(motion.delta(1.0, 7.0, "pingpong"), np.eye(4), atol=1e-15)
    assert np.allclose(motion.delta(0.0, 3.0, "wrap", 1.0), moved(6, 0, 0), atol=1e-15)


def random_motion(seed: int) -> RootMotion:
    rng = np.random.default_rng(seed)
    times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.01, 0.3, 12))])
    return RootMotion(times, rng.normal(size=(13, 3)), rng.normal(size=(13, 4)))


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("seed", range(3))
def test_deltas_chain_over_any_loops(loop: Any, seed: int) -> None:
    motion, rng = random_motion(seed), np.random.default_rng(seed + 50)
    positions = rng.uniform(-9, 9, 60)
    deltas = motion.delta(positions[:-1], positions[1:], loop)
    chained = np.eye(4)
    for one in deltas:
        chained = chained @ one
    assert np.abs(chained - motion.delta(positions[0], positions[-1], loop)).max() < 1e-9
    assert np.array_equal(deltas[7], motion.delta(float(positions[7]), float(positions[8]), loop))
    assert np.array_equal(motion.delta(3.21, 3.21, loop), np.eye(4))


def test_wrapping_is_a_power_of_the_whole() -> None:
    motion = random_motion(9)
    whole, last = motion.sample(motion.duration), motion.sample(0.4)
    wanted = np.linalg.matrix_power(whole, 1000) @ last
    found = motion.delta(0.0, 1000 * motion.duration + 0.4)
    assert np.abs(found - wanted).max() < 1e-9 * max(1.0, np.abs(wanted).max())


def test_nothing_is_travelled_in_no_time() -> None:
    still = RootMotion([0.0], [(4, 5, 6)], [(0, 1, 0, 1)])
    for loop in LOOPS:
        assert np.array_equal(still.delta(-3.0, 8.0, loop), np.eye(4))  # type: ignore[arg-type]
    assert np.array_equal(still.sample([0.0, 4.0]), np.tile(np.eye(4), (2, 1, 1)))
    assert np.array_equal(quarter().delta(0.0, 5.0, "wrap", 0.0), np.eye(4))


def test_a_delta_takes_no_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy is asked for the result alone: a controller asks for a delta in each frame, and takes 14 us."""
    asked = []

    class Watched:
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return getattr(np, name)

    motion = random_motion(1)
    monkeypatch.setattr(root_motion, "np", Watched())
    for loop in LOOPS:
        asked.clear()
        motion.delta(0.31, 7.33, loop)  # type: ignore[arg-type]
        assert asked == ["array"]


# ---- taken out of clips ---------------------------------------------------------------------------


def test_a_straight_way_keeps_its_keys() -> None:
    clip = Clip.from_arrays(
        "go",
        times=[0, 0.5, 2],
        joints=["Hips"],
        translation=[[(1, 1, 0)], [(2, 1.5, 0)], [(3, 1, 4)]],
    )
    model = walker(clip)
    residual = check_property(model.clips[0], "Hips", 1e-6)
    motion = residual.root_motion
    assert motion is not None
    assert np.allclose(motion.times, (0, 0.5, 2)) and np.allclose(
        motion.translation, [(0, 0, 0), (1, 0, 0), (2, 0, 4)]
    )
    (channel,) = residual.channels
    assert np.allclose(channel.values, [(1, 1, 0), (1, 1.5, 0), (1, 1, 0)], atol=1e-6)
    everything = check_property(model.clips[0], "Hips", 1e-6, translation="all")
    assert np.allclose(everything.channels[0].values, (1, 1, 0), atol=1e-6)


def test_a_turn_about_up_alone_is_taken_whole() -> None:
    """By hand: the hips stand at (1, 1, 0) and turn by 90 degrees, so nothing is left to the residual."""
    clip = Clip.from_arrays(
        "turn",
        times=[0, 1],
        joints=["Hips"],
        translation=np.tile((1.0, 1, 0), (2, 1, 1)),
        rotation=turn((0, 1, 0), [0, np.pi / 2])[:, None],
    )
    residual = check_property(walker(clip).clips[0], "Hips")
    motion = residual.root_motion
    assert motion is not None
    turned = moved(1, 0, 0) @ rotation_matrix(1, np.pi / 2) @ moved(-1, 0, 0)
    assert np.allclose(motion.sample(1), turned, atol=1e-6)
    model = residual.model
    assert model is not None
    stays = model.globals(residual, [0, 0.3, 1.0], loop="clamp")
    assert np.allclose(stays, stays[:1], atol=1e-5)


@pytest.mark.parametrize(
    ("translation", "yaw"), [("ground", True), ("ground", False), ("all", True), ("all", False), (None, True)]
)
def test_root_motion_and_residual_are_the_original(translation: Any, yaw: bool) -> None:
    clip = walker(turning()).clips[0]
    residual = check_property(clip, "Hips", translation=translation, yaw=yaw)
    model, motion = residual.model, residual.root_motion
    assert model is not None and motion is not None
    hips = model.globals(residual, np.linspace(0, 2, 50), loop="clamp")[:, 1].astype(float)
    if translation:
        axes = [0, 2] if translation == "ground" else [0, 1, 2]
        assert np.ptp(hips[:, axes, 3], axis=0).max() < 1e-5
    if translation == "ground":
        assert np.abs(motion.translation[:, 1]).max() == 0.0
        assert np.ptp(hips[:, 1, 3]) > 0.15  # the bob stays
    if yaw:  # no twist about up is left: Q21 - Q12 = 0 in a frame with up last
        assert np.abs(hips[:, 0, 2] - hips[:, 2, 0]).max() < 1e-5
        angle = np.unwrap(2 * np.arctan2(motion.rotation[:, 1], motion.rotation[:, 3]))
        assert abs(angle[-1] - 8.0) < 0.2  # more than a whole turn, up to what the sway adds
    else:
        assert np.array_equal(motion.rotation, np.tile((0, 0, 0, 1.0), (len(motion.times), 1)))


@pytest.mark.parametrize("scale", [1.0, 0.01, 25.0])
def test_parents_with_axes_and_scale_of_their_own(scale: float) -> None:
    """A rest transform as files with Z up have it: the hips' own space is turned and scaled."""
    root = moved(3, 0, -2) @ rotation_matrix(0, -np.pi / 2) @ np.diag([scale, scale, scale, 1])
    residual = check_property(walker(turning(), root).clips[0], "Hips")
    motion = residual.root_motion
    assert motion is not None and np.abs(motion.translation[:, 1]).max() == 0.0


def test_parents_that_move() -> None:
    """The joint has no channel; what carries it does, turned over and scaled evenly."""
    root = rotation_matrix(2, 0.5) @ np.diag([2.0, 2, 2, 1])
    clip = walker(turning(joint="Root"), root).clips[0]
    residual = check_property(clip, "Hips")
    assert {one.name for one in residual.channels} == {"Root", "Hips"}
    times = np.linspace(0, 2, 9)
    np.testing.assert_allclose(  # float keys on one time line or on two
        residual.sample(times, loop="clamp").translation[:, 0],
        clip.sample(times, loop="clamp").translation[:, 0],
        atol=1e-6,
    )


def test_a_mirrored_parent() -> None:
    check_property(walker(turning(), np.diag([-1.5, 1.5, 1.5, 1])).clips[0], "Hips")


def test_parents_scaled_unevenly() -> None:
    across, along = np.diag([2.0, 1, 1, 1]), np.diag([1.0, 3, 1, 1])
    with pytest.raises(ValueError, match="unevenly"):
        walker(turning(), across).clips[0].extract_root_motion("Hips")
    check_property(walker(turning(), across).clips[0], "Hips", yaw=False)
    check_property(walker(turning(), along).clips[0], "Hips")  # along the axis of the turn nothing shears
    clip = Clip.from_arrays(
        "flat",
        times=[0, 1],
        joints=["Root", "Hips"],
        translation=[[(0, 0, 0), (0, 1, 0)], [(4, 0, 0), (0, 1, 0)]],
        scale=[[(1, 1, 1), (1, 1, 1)], [(0, 1, 1), (1, 1, 1)]],
    )
    with pytest.raises(ValueError, match="scaled to 0"):
        walker(clip).clips[0].extract_root_motion("Hips")


def test_steps_jump_where_they_did() -> None:
    clip = Clip.from_arrays(
        "jump",
        times=[0, 1, 2],
        joints=["Hips"],
        translation=[[(0, 1, 0)], [(5, 1, 0)], [(5, 1, 3)]],
        interpolation="step",
    )
    motion = check_property(walker(clip).clips[0], "Hips").root_motion
    assert motion is not None
    assert np.allclose(
        motion.sample([0.99, 1.0, 1.99, 2.0])[:, :3, 3], [(0, 0, 0), (5, 0, 0), (5, 0, 0), (5, 0, 3)]
    )


def swaying(joints: int, moving: int) -> Clip:
    """A chain of which the first joints sway, each a little, and the first one travels."""
    names = tuple(f"j{number}" for number in range(joints))
    times = np.linspace(0.0, 2.0, 5)
    turns = turn((0.2, 1, 0.1), 0.9 * np.sin(3 * times[:, None] + np.arange(moving)))
    way = np.zeros((len(times), moving, 3))
    way[:, 0, 0], way[:, 1:, 1] = times, 1.0
    clip = Clip.from_arrays("sway", times=times, joints=names[:moving], rotation=turns, translation=way)
    return walker(clip, joints=names).clips[0]


def test_parents_that_stand_still_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr("skinpy.clips.trajectory.trs", lambda *of: calls.append(1) or trs(*of))
    check_property(swaying(500, 2), "j499")
    assert len(calls) < 100


def test_many_parents_that_move_are_posed_so_often_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    clip, poses = swaying(100, 100), []
    monkeypatch.setattr(
        "skinpy.clips.trajectory.sample_channel", lambda *of: poses.append(len(of[1])) or keyed(*of)
    )
    for most, error in ((300_000, 1e-5), (100_000, 1e-3)):
        poses.clear()
        monkeypatch.setattr("skinpy.clips.trajectory._MAX_POSES", most)
        check_property(clip, "j99", error)
        assert sum(poses) / 2 <= most  # two channels each
    monkeypatch.setattr("skinpy.clips.trajectory._MAX_POSES", 400)
    with pytest.raises(ValueError, match=r"'j99' depends on 100 moving joints at 5 times .* \(resample\)"):
        clip.extract_root_motion("j99")


def test_clips_that_do_not_travel() -> None:
    pose = Clip.from_arrays("pose", times=[0], joints=["Hips"], translation=[[(7, 1, 2)]])
    for clip in (walker(pose).clips[0], walker(turning(joint="Head")).clips[0]):
        residual = check_property(clip, "Hips")
        motion = residual.root_motion
        assert motion is not None and np.array_equal(motion.sample(clip.duration), np.eye(4))
        assert [one.name for one in residual.channels] == [one.name for one in clip.channels]
        assert np.array_equal(motion.delta(-3.0, 10.0), np.eye(4))


FAR, NEAR, STILL = (4, 0, 0), (0.3, 0, 0), (0, 0, 0)


@pytest.mark.parametrize(
    ("ways", "wanted"),
    [
        ({"Root": FAR, "Hips": NEAR}, "Root"),
        ({"Root": NEAR, "Hips": FAR}, "Hips"),
        ({"Root": STILL, "Hips": NEAR}, "Hips"),
        ({"Hips": NEAR, "Head": FAR}, "Hips"),  # too little hangs on the head
        ({"Root": STILL, "Head": STILL}, "Root"),
        ({"Root": FAR, "Hips": FAR}, "Root"),
    ],
)
def test_which_joint_carries_the_character(ways: Any, wanted: str) -> None:
    keys = [[STILL] * len(ways), list(ways.values())]
    clip = Clip.from_arrays("c", times=[0, 1], joints=list(ways), translation=keys)
    bound = walker(clip, joints=("Root", "Hips", "Spine", "Head")).clips[0]
    assert bound.model is not None
    assert bound.model.skeleton.names[carrier(bound)] == wanted
    automatic, named = bound.extract_root_motion().root_motion, bound.extract_root_motion(wanted).root_motion
    assert automatic is not None and named is not None
    assert np.array_equal(automatic.translation, named.translation)


def test_the_bundled_character() -> None:
    model = skinpy.character()
    for clip in model.clips:
        automatic = clip.extract_root_motion()
        by_name = check_property(clip, "Hips")
        assert automatic.root_motion is not None and by_name.root_motion is not None
        assert np.array_equal(automatic.root_motion.translation, by_name.root_motion.translation)
        check_property(clip, "LeftHand", translation="all")


def even(clip: Clip, joint: str) -> bool:
    """Whether no joint above is scaled unevenly."""
    model = clip.model
    assert model is not None
    parent = model.skeleton.parents[model.skeleton.index(joint)]
    if parent < 0:
        return True
    times = np.linspace(0, clip.duration, 20)
    lengths = np.linalg.norm(model.globals(clip, times, loop="clamp")[:, parent, :3, :3], axis=-2)
    return bool((np.ptp(lengths, axis=-1) < 1e-5 * lengths.max()).all())


@pytest.mark.parametrize(
    "name",
    [
        "Fox.glb",
        "RiggedFigure.glb",
        "box_nested_animation.dae",
        "maya_game_sausage.fbx",
        "BCN_Epileptic.X",
        "sinusoidal.bvh",
    ],
)
@pytest.mark.parametrize("translation", ["ground", "all"])
def test_files(name: str, translation: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        model = skinpy.load(data_file("models", name))
    for clip in model.clips:
        moving = sorted({one.name for one in clip.channels if one.joint is not None})[:6]
        for joint in moving:
            check_property(clip, joint, translation=translation, yaw=even(clip, joint))


# ---- told from the feet ---------------------------------------------------------------------------


@pytest.mark.parametrize(("clip", "speed"), [("walk", 0.74), ("run", 2.1), ("wave", 0.0)])
def test_feet_tell_the_speed(clip: str, speed: float) -> None:
    model = skinpy.character()
    source = model.clips[clip]
    result = source.root_motion_from_feet()
    motion = result.root_motion
    assert motion is not None
    velocity = motion.sample(source.duration)[:3, 3] / source.duration
    assert np.allclose(velocity, (0, 0, speed), atol=0.01) and velocity[1] == 0.0
    assert np.array_equal(model.palette(result, 0.3), model.palette(source, 0.3))
    named = source.root_motion_from_feet(["LeftFoot", "RightFoot"]).root_motion
    assert named is not None and np.allclose(
        named.sample(source.duration), motion.sample(source.duration), atol=0.01
    )


@pytest.mark.parametrize("name", ["walk", "run"])
def test_planted_feet_do_not_slide(name: str) -> None:
    """Vertices within 2 mm of the ground, over two loops: each slides by at most 1.5 % of the stride while it
    stays there, and half of them by at most 0.3 % (measured: 1.1 % and 0.12 %). In place it is the stride's
    own share of the contact, tens of percent.
    """
    model = skinpy.character()
    clip = model.clips[name].root_motion_from_feet()
    motion, duration = clip.root_motion, clip.duration
    assert motion is not None
    times = np.linspace(0, 2 * duration, 1201)
    points = model.deform(model.palette(clip, times), normals=False)[0].astype(float)
    travelled = motion.delta(0.0, times)
    stride = float(np.linalg.norm(motion.sample(duration)[:3, 3]))
    planted = points[..., 1] < points[..., 1].min() + 0.002
    slides = {True: [], False: []}  # type: dict[bool, list[float]]
    for vertex in np.flatnonzero(planted.any(axis=0)):
        at = np.flatnonzero(planted[:, vertex])
        for contact in np.split(at, np.flatnonzero(np.diff(at) > 1) + 1):
            if len(contact) > 5:
                place = points[contact, vertex]
                there = np.einsum("nij,nj->ni", travelled[contact, :3, :3], place) + travelled[contact, :3, 3]
                for carried, way in ((True, there), (False, place)):
                    slides[carried].append(float(np.linalg.norm(np.ptp(way[:, [0, 2]], axis=0))) / stride)
    assert len(slides[True]) > 50
    assert max(slides[True]) < 0.015 and np.median(slides[True]) < 0.003
    assert max(slides[False]) > 0.1


# ---- kept -----------------------------------------------------------------------------------------


def test_root_motion_is_kept_with_the_clip(tmp_path: Path) -> None:
    model = walker(turning())
    residual = model.clips[0].extract_root_motion("Hips")
    motion = residual.root_motion
    assert motion is not None
    again = pickle.loads(pickle.dumps(residual)).root_motion
    added = model.add_clips(residual, replace=True).clips["go"].root_motion
    model.add_clips(residual, replace=True).save(tmp_path / "walker.skn")
    saved = skinpy.load(tmp_path / "walker.skn").clips["go"].root_motion
    for other in (again, added, saved):
        assert other is not None and np.array_equal(other.sample(1.3), motion.sample(1.3))
    part = residual.trim(0.5, 1.5).root_motion
    assert part is not None
    assert np.allclose(part.sample(1.0), motion.delta(0.5, 1.5), atol=1e-5)


def test_a_controller_travels_as_the_clip_did() -> None:
    """Root motion summed up frame by frame by the controller, and the pose inside it: the original."""
    model = walker(turning())
    clip = model.clips[0]
    controller = skinpy.AnimationController(model)
    controller.play(clip.extract_root_motion("Hips"))
    place = np.eye(4)
    for frame in range(1, 61):
        controller.advance(1 / 60)
        place = place @ controller.root_delta
        original = model.globals(clip, frame / 60, loop="clamp")[1:]
        assert np.abs(place @ controller.pose().globals()[1:] - original).max() < 5e-5  # of a size of 2
