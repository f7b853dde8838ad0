"""Cross-fades that do not jump: interrupted, through 180 degrees apart, and inertial ones.

A jump is measured as the angle between the poses of two moments 0.1 ms apart (`STEP`). No joint of the models
below may turn by more than 0.8 degrees in that time: a fade of 0.05 s over 180 degrees goes at 3,600 degrees
a second with method "blend", and at up to 1.9 times that with "inertial", whose curve is the quintic with
velocity 0 at its ends. Flips are 180 degrees."""

import itertools
import json
import pickle
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy import AnimationController, Clip, Mask, Model, Pose
from skinpy import rotation as rot
from skinpy.playing.recording import Recording

STEP = 1e-4
JUMP = 0.8  # degrees in STEP
CLOSE = 2e-6
METHODS: tuple[Any, ...] = ("blend", "inertial")


def model_of(*clips: Clip, joints: int = 1) -> Model:
    none: dict[str, Any] = {"positions": np.zeros((0, 3)), "faces": np.zeros((0, 3), int)}
    none |= {"joints": np.zeros((0, 1), int), "weights": np.zeros((0, 1))}
    names = [f"j{number}" for number in range(joints)]
    return Model.from_arrays(names, list(range(-1, joints - 1)), [np.eye(4)] * joints, clips=clips, **none)


def turning(name: str, start: float, end: float, duration: float = 4.0, axis: Any = (0.0, 0.0, 1.0)) -> Clip:
    """One joint that turns evenly about an axis; degrees."""
    angles = np.linspace(start, end, 65)
    turns = rot.from_axis_angle(np.tile(axis, (65, 1)), angles, degrees=True)
    return Clip.from_arrays(name, times=np.linspace(0, duration, 65), joints=["j0"], rotation=turns[:, None])


def lively(seed: int, joints: int = 4) -> Model:
    """Joints that swing about random axes, around random rotations, and move."""
    rng = np.random.default_rng(seed)
    clips = []
    for number in range(5):
        duration = float(rng.uniform(0.5, 2))
        times = np.linspace(0, duration, 24)
        wave = np.sin(times / duration * 2 * np.pi)[:, None, None]
        middle = rot.from_rotvec(directions(rng, joints) * rng.uniform(0, 3.1, (joints, 1)))
        swing = rot.from_rotvec(2.5 * wave * rng.uniform(0, 1, (joints, 1)) * directions(rng, joints))
        names = [f"j{joint}" for joint in range(joints)]
        clip = Clip.from_arrays(
            f"c{number}",
            times=times,
            joints=names,
            rotation=rot.multiply(swing, middle[None]),
            translation=wave * rng.normal(size=(joints, 3)),
        )
        clips.append(clip)
    return model_of(*clips, joints=joints)


def directions(rng: np.random.Generator, count: int) -> Any:
    found = rng.normal(size=(count, 3))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def angles(turns: Any, others: Any) -> Any:
    """The angles between rotations (..., 4), degrees: by the sine, which is exact where they are small."""
    between = rot.multiply(rot.inverse(turns), others)
    return np.degrees(2 * np.arctan2(np.linalg.norm(between[..., :3], axis=-1), np.abs(between[..., 3])))


def angle(pose: Pose, other: Pose) -> float:
    """The largest angle of a joint between two poses, degrees."""
    return float(angles(pose.rotation, other.rotation).max())


def largest_jump(controller: AnimationController, seconds: float) -> float:
    """Play, and return the largest angle within STEP, degrees."""
    turns = [controller.pose().rotation]
    for _ in range(round(seconds / STEP)):
        controller.advance(STEP)
        turns.append(controller.pose().rotation)
    return float(angles(turns[:-1], turns[1:]).max())


# ---- no jumps ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_fade_that_is_interrupted_on_the_far_side(method: Any) -> None:
    """From 120 to -120 degrees goes through 180; from there on to 0. It turned by 180 degrees at once."""
    model = model_of(turning("a", 120, 120), turning("b", -120, -120), turning("c", 0, 0))
    controller = AnimationController(model)
    controller.play("a")
    controller.advance(0.1)
    jumps = []
    for clip in ("b", "c", "a"):
        before = controller.pose()
        controller.cross_fade(clip, 0.3, method=method)
        jumps += [angle(before, controller.pose()), largest_jump(controller, 0.1)]
    assert max(jumps) < 0.2
    if method == "blend":
        controller = AnimationController(model)
        controller.play("a")
        controller.cross_fade("b", 0.3)
        controller.advance(0.15)
        assert controller.pose().rotation[0] @ [0, 0, 1, 0] == pytest.approx(1, abs=1e-6)


def test_a_plain_fade_stays_on_its_side() -> None:
    """The clips go through 180 degrees apart in the middle of the fade: from 100 to 260."""
    still, moving = turning("still", 0, 0), turning("moving", 100, 260, 1.0)
    for names in (("still", "moving"), ("moving", "still")):
        controller = AnimationController(model_of(still, moving))
        controller.play(names[0])
        controller.cross_fade(names[1], 0.9)
        assert largest_jump(controller, 0.95) < 0.1


@pytest.mark.parametrize("how", ["in", "out", "masked"])
def test_a_layer_that_fades_over_others_stays_on_its_side(how: str) -> None:
    controller = AnimationController(model_of(turning("still", 0, 0), turning("moving", 100, 260, 1.0)))
    controller.play("still")
    mask = Mask.array([0.5]) if how == "masked" else None
    if how == "out":
        controller.play("moving", layer="over")
        controller.stop("over", fade=0.9)
    else:
        controller.cross_fade("moving", 0.9, layer="over", mask=mask)
    assert largest_jump(controller, 0.95) < 0.2


@pytest.mark.parametrize("layers", [("base",), ("base", "over"), ("base", "added")])
@pytest.mark.parametrize("methods", [("blend",), ("inertial",), METHODS])
@pytest.mark.parametrize("seed", range(2))
def test_random_fades_never_jump(seed: int, methods: Any, layers: Any) -> None:
    """Fades of 0.05 to 0.6 s, that interrupt each other, in steps of 0.1 ms to 0.1 s."""
    rng = np.random.default_rng(seed)
    model = lively(seed)
    controller = AnimationController(model)
    controller.play(0)
    if "over" in layers:
        controller.play(1, layer="over", mask=Mask.below("j1"))
    if "added" in layers:
        small = model.clips[1].additive()
        controller.play(small, layer="added", weight=0.3)
    for _ in range(40):
        if rng.random() < 0.4:
            before, layer = controller.pose(), layers[rng.integers(len(layers))]
            clip: Any = int(rng.integers(5))
            clip = model.clips[clip].additive() if layer == "added" else clip
            method, weight = methods[rng.integers(len(methods))], 0.3 if layer == "added" else 1.0
            seconds = float(rng.uniform(0.05, 0.6))
            controller.cross_fade(clip, seconds, layer=layer, method=method, weight=weight)
            assert angle(before, controller.pose()) < 0.01
            np.testing.assert_allclose(controller.pose().translation, before.translation, atol=1e-5)
        controller.advance(float(np.exp(rng.uniform(np.log(1e-4), np.log(0.1)))))
        pose, probe = controller.pose(), controller.clone()
        probe.advance(STEP)
        assert angle(pose, probe.pose()) < JUMP


@pytest.mark.parametrize("method", METHODS)
def test_a_state_machine_never_jumps(method: Any) -> None:
    states = {f"s{number}": {"clip": number} for number in range(5)}
    ways = [
        {"from": f"s{a}", "to": f"s{b}", "fade": 0.3, "method": method, "when": [["next", "==", b]]}
        for a, b in itertools.permutations(range(5), 2)
    ]
    machine = {"start": "s0", "states": states, "transitions": ways, "parameters": {"next": 0}}
    controller = AnimationController(lively(7))
    player = controller.run(skinpy.StateMachine(machine))
    for number in (3, 1, 4, 2, 0, 3):
        player.parameters["next"] = number
        assert largest_jump(controller, 0.08) < JUMP
    assert player.state == "s3"


# ---- what a blended fade is -------------------------------------------------------------------------------


def nlerp_on_a_side(a: Any, b: Any, share: float, side: Any) -> tuple[Any, Any]:
    """The nlerp in float64, (J, 4), and b with the sign that continues `side`: b seen from a, before."""
    seen = rot.multiply(rot.inverse(a), b)
    signs = np.where(((seen if side is None else side) * seen).sum(-1, keepdims=True) < 0, -1, 1)
    signs = signs if side is not None else np.where(seen[:, 3:] < 0, -1, 1)
    mean = (1 - share) * a + share * signs * b
    return mean / np.linalg.norm(mean, axis=-1, keepdims=True), signs * seen


def test_an_interrupted_fade_blends_its_result_so_far() -> None:
    """Pair by pair, by nlerp in float64 with the signs of the frame before; the rest as one mean."""
    model = lively(11)
    controller = AnimationController(model)
    controller.play(0)
    sides: dict[int, Any] = {}
    for clip in (1, 2, 3, 4, 0):
        controller.cross_fade(clip, 0.6)
        for step in range(21):
            controller.advance(0.01 if step else 0.0)
            tracks = controller.layers["base"]
            poses = [model.pose(track.clip, track.position) for track in tracks]
            shares = np.array([track.fade for track in tracks])
            assert shares.sum() == pytest.approx(1, abs=1e-12)
            result = poses[0].rotation.astype(float)
            for number, track in enumerate(tracks[1:], 1):
                share = shares[number] / shares[: number + 1].sum()
                turn = poses[number].rotation.astype(float)
                result, sides[track.number] = nlerp_on_a_side(result, turn, share, sides.get(track.number))
            got = controller.pose()
            assert np.abs(1 - np.abs((got.rotation * result).sum(-1))).max() < CLOSE
            mean = sum(share * pose.translation for share, pose in zip(shares, poses, strict=True))
            np.testing.assert_allclose(got.translation, mean, atol=CLOSE)
    assert any((side[:, 3] < 0).any() for side in sides.values())  # some pair has gone past 180 degrees


def test_the_length_of_steps_does_not_choose_the_side() -> None:
    """The clips are 100 to 260 degrees apart within one step, or within many."""
    model = model_of(turning("still", 0, 0), turning("moving", 100, 260, 1.0))
    ends = []
    for steps in (1, 3, 40, 500):
        controller = AnimationController(model)
        controller.play("still")
        controller.cross_fade("moving", 1.2)
        for _ in range(steps):
            controller.advance(0.8 / steps)
        ends.append(controller.pose().rotation)
    np.testing.assert_allclose(ends, np.broadcast_to(ends[-1], np.shape(ends)), atol=CLOSE)


def acted(seed: int, pose_every: int) -> tuple[AnimationController, Recording, list[Any]]:
    """Random fades, weights and steps; a pose in every so many steps, and palettes now and then."""
    rng = np.random.default_rng(seed)
    controller = AnimationController(lively(seed))
    recording = controller.record()
    controller.play(0)
    controller.play(1, layer="over", mask=Mask.below("j1"))
    palettes = []
    for number in range(60):
        if rng.random() < 0.3:
            layer, method = ("base", "over")[rng.integers(2)], METHODS[rng.integers(2)]
            seconds = float(rng.uniform(0.05, 0.6))
            controller.cross_fade(int(rng.integers(5)), seconds, layer=layer, method=method)
        if rng.random() < 0.1:
            controller.layers["base"][-1].weight = float(rng.uniform(0.5, 2))
        if pose_every and number % pose_every == 0:
            assert np.array_equal(controller.pose().palette(), controller.palette())
        controller.advance(float(rng.choice([1 / 60, 0.1, 0.3, 0.001])))
        if number % 10 == 9:
            palettes.append(controller.palette())
    return controller, recording, palettes


@pytest.mark.parametrize("seed", range(3))
def test_asking_for_poses_changes_nothing(seed: int) -> None:
    controller, recording, palettes = acted(seed, 1)
    for every in (0, 3):
        assert all(map(np.array_equal, palettes, acted(seed, every)[2]))
    again = Recording.from_json(recording.to_json())
    played = [one.palette() for one in AnimationController.replay(controller.model, again)]
    assert all(map(np.array_equal, palettes, played[9::10]))
    copies = [controller.clone(), pickle.loads(pickle.dumps(controller))]
    for one in (controller, *copies):
        one.cross_fade(2, 0.3)
        one.advance(0.1)
    assert all(np.array_equal(controller.palette(), copy.palette()) for copy in copies)


@pytest.mark.parametrize("layer", ["base", "over", "added"])
def test_a_thousand_fades_in_a_second(layer: str) -> None:
    model = lively(3)
    controller = AnimationController(model)
    controller.play(0)
    controller.add_track(1, priority="high")
    weight = 0.3 if layer == "added" else 1.0
    if layer == "over":
        controller.play(1, layer=layer, mask=Mask.below("j1"))
    if layer == "added":
        controller.play(1, layer=layer, additive=True, weight=weight)
    before, after = [], []
    for number in range(1000):
        before.append(controller.pose().rotation)
        clip: Any = number % 5
        clip = model.clips[clip].additive() if layer == "added" else clip
        controller.cross_fade(clip, 1.0, layer=layer, weight=weight)
        after.append(controller.pose().rotation)
        controller.advance(1e-3)
        assert len(controller.layers[layer]) <= 9  # of eight generations, and one more of the other priority
    assert angles(before, after).max() < 0.01
    fades = sum(track.fade for track in controller.layers[layer])
    assert fades == pytest.approx(1.0 if layer != "base" else fades, abs=1e-9)
    controller.advance(1.0)
    assert len(controller.layers[layer]) == 1


@pytest.mark.parametrize("method", METHODS)
def test_tracks_beside_each_other_are_one_side_of_a_fade(method: Any) -> None:
    model = lively(6)
    controller = AnimationController(model)
    controller.play(0)
    controller.cross_fade(1, 0.2, method=method)
    controller.advance(0.3)
    controller.add_track(2, weight=3.0)
    both = skinpy.blend([model.pose(1, 0.3), model.pose(2, 0.0)], [1, 3])
    np.testing.assert_allclose(controller.pose().rotation, both.rotation, atol=CLOSE)
    for clip in range(12):
        before = controller.pose()
        controller.cross_fade(clip % 5, 0.3, method=method)
        controller.add_track((clip + 1) % 5, weight=0.0)  # of no weight yet: a third in the same generation
        assert angle(before, controller.pose()) < 0.01
        assert len({track._generation for track in controller.layers["base"]}) <= 8
        controller.advance(0.02)


@pytest.mark.parametrize("method", METHODS)
def test_blend_spaces_are_sides_of_fades(method: Any) -> None:
    """A plane averages two rotations by another rule than a line, which only concerns its own."""
    controller = AnimationController(skinpy.character())
    line = skinpy.BlendSpace1D({0.0: "walk", 1.0: "wave"}, parameter=0.3)
    corners: Any = {(0, 0): "run", (1, 0): "wave", (0, 1): "walk"}
    plane = skinpy.BlendSpace2D(corners, parameter=(0.4, 0.0))
    controller.play(line)
    for space in (plane, line, plane, line):
        controller.advance(0.01)
        before = controller.pose()
        controller.cross_fade(space, 0.2, method=method)
        assert angle(before, controller.pose()) < 0.01
        assert largest_jump(controller, 0.1) < JUMP
    assert largest_jump(controller, 0.2) < JUMP  # over the end of the last one


# ---- inertial fades ---------------------------------------------------------------------------------------


def values(pose: Pose) -> Any:
    return np.concatenate([pose.translation.ravel(), pose.scale.ravel(), pose.morph_weights])


@pytest.mark.parametrize("seed", range(3))
def test_an_inertial_fade_keeps_position_and_velocity(seed: int) -> None:
    """Also where it interrupts another one, and a blended one.

    The step is 1 ms. In that time a velocity changes by the accelerations of clips and of the difference: of
    fades of 0.3 s and clips of about 10 a second they are below 1,000 a second squared for turns, and a
    difference whose velocity leads to zero dies out with up to 0.8 v^2 / |x| (see sk_fade.h)."""
    rng = np.random.default_rng(seed)
    controller = AnimationController(lively(seed))
    controller.play(0)
    controller.advance(0.37)
    step = 1e-3
    changes = []
    methods: tuple[Any, ...] = ("inertial", "inertial", "blend", "inertial", "inertial")
    for number, method in enumerate(methods):
        probe = [controller.clone()]
        controller.advance(step)
        before = controller.pose()
        old_turn = rot.to_rotvec(rot.multiply(before.rotation, rot.inverse(probe[0].pose().rotation))) / step
        old_move = (values(before) - values(probe[0].pose())) / step
        track = controller.cross_fade((number + 1) % 5, 0.3, method=method)
        start = controller.pose()
        np.testing.assert_allclose(values(start), values(before), atol=2e-6)
        assert angle(start, before) < 1e-3
        controller.advance(step)
        after = controller.pose()
        if method == "inertial":
            assert controller.layers["base"] == (track,)
            new_turn = rot.to_rotvec(rot.multiply(after.rotation, rot.inverse(before.rotation))) / step
            changes.append(np.abs(new_turn - old_turn).max())
            changes.append(np.abs((values(after) - values(before)) / step - old_move).max())
        controller.advance(float(rng.uniform(0.05, 0.2)))
    assert max(changes) < 1.0, changes


def even(speed: float, start: float) -> Clip:
    """A joint that moves evenly along x."""
    move = [[[start, 0, 0]], [[start + 100 * speed, 0, 0]]]
    return Clip.from_arrays(f"{speed} from {start}", times=[0, 100], joints=["j0"], translation=move)


@pytest.mark.parametrize("speed", [-30.0, -8.0, -2.0, 0.0, 3.0])
def test_the_curve_is_bollos_quintic(speed: float) -> None:
    """A difference of 1 with a velocity, against the polynomial in float64; it never crosses zero."""
    controller = AnimationController(model_of(even(speed, 1.0 - 5.0 * speed), even(0.0, 0.0)))
    controller.play(0)
    controller.advance(5.0)
    controller.cross_fade(1, 0.4, method="inertial")
    found, times = [], np.arange(0, 44) / 100
    for _ in times:
        found.append(float(controller.pose().translation[0, 0]))
        controller.advance(0.01)
    u, v = times / 0.4, speed * 0.4
    if speed < 0:
        end = min(0.4, -5 / speed)
        u, v = times / end, speed * end
        a = max(0.0, -8 * v - 20)
    else:
        a = 0.0  # the rest of v: a curve without start acceleration
    c = [-(a + 6 * v + 12) / 2, (3 * a + 16 * v + 30) / 2, -(3 * a + 12 * v + 20) / 2, a / 2, v, 1.0]
    if speed > 0:
        c = [-6 - 3 * v, 15 + 8 * v, -10 - 6 * v, 0.0, v, 1.0]
    expected = np.where(u < 1, np.polyval(c, u), 0.0)
    np.testing.assert_allclose(found, expected, atol=2e-4 * max(1.0, abs(speed)))
    assert min(found) > -1e-4 * max(1.0, abs(speed))
    assert found[-1] == 0.0


def test_a_new_clip_of_the_same_motion_changes_nothing() -> None:
    controller = AnimationController(model_of(turning("a", 0, 360), turning("b", 90, 450)))
    controller.play("a")
    controller.advance(1.0)
    controller.cross_fade("b", 0.3, method="inertial")
    for _ in range(30):
        controller.advance(0.01)
        expected = rot.from_axis_angle([0, 0, 1], 90 * controller.time, degrees=True)
        assert abs(controller.pose().rotation[0] @ expected) == pytest.approx(1, abs=1e-6)


def test_a_seam_is_no_velocity() -> None:
    """The loop goes back by 90 degrees at its end, and a step key jumps by 50."""
    moves = [[[0, 0, 0]], [[50, 0, 0]], [[50, 0, 0]]]
    times = [0, 0.5, 1.0]
    step = Clip.from_arrays("step", times=times, joints=["j0"], translation=moves, interpolation="step")
    model = model_of(turning("seam", 0, 90, 1.0), step, turning("still", 0, 0))
    for clip, at in (("seam", 2.0), ("step", 0.5)):
        controller = AnimationController(model)
        controller.play(clip)
        controller.advance(at)
        before = controller.pose()
        controller.cross_fade("still", 0.4, method="inertial")
        turned = []
        for _ in range(40):
            controller.advance(0.01)
            turned.append(controller.pose())
        assert max(angle(pose, before) for pose in turned) < 15  # 90 degrees a second for a while
        assert max(np.abs(pose.translation).max() for pose in turned) <= 50.001


@pytest.mark.parametrize(("seconds", "speed"), [(1.0, 90.0), (1.1, 0.0), (0.5, 90.0)])
def test_a_clip_that_has_ended_has_no_velocity(seconds: float, speed: float) -> None:
    """One that ends at this moment has; in one step or in two."""
    for steps in (1, 2):
        controller = AnimationController(model_of(turning("once", 0, 90, 1.0), turning("still", 0, 0)))
        controller.play("once", loop="once")
        for _ in range(steps):
            controller.advance(seconds / steps)
        before = controller.pose()
        controller.cross_fade("still", 0.4, method="inertial")
        controller.advance(1e-3)
        assert angle(before, controller.pose()) == pytest.approx(speed * 1e-3, abs=2e-3)


def test_morph_weights_and_scales_die_out_too() -> None:
    """Against the curve of a difference that has no velocity: 1 - 10 u^3 + 15 u^4 - 6 u^5."""
    corners = {"positions": np.eye(3), "faces": [[0, 1, 2]], "joints": np.zeros((3, 1), int)}
    arrays: Any = corners | {"weights": np.ones((3, 1)), "targets": {"smile": np.ones((3, 3))}}
    keys: Any = {"scale": [[[3.0, 2.0, 1.0]]] * 2, "targets": ["smile"], "weights": [[0.5]] * 2}
    big = Clip.from_arrays("big", times=[0.0, 1.0], joints=["j0"], **keys)
    model = Model.from_arrays(["j0"], [-1], [np.eye(4)], clips=[big], **arrays)
    controller = AnimationController(model)
    controller.play("big")
    controller.cross_fade(None, 0.5, method="inertial")
    for step in range(11):
        u = step / 10
        left = 1 - 10 * u**3 + 15 * u**4 - 6 * u**5
        expected = 1 + left * np.array([2.0, 1.0, 0.0])
        np.testing.assert_allclose(controller.pose().scale[0], expected, atol=CLOSE)
        np.testing.assert_allclose(controller.pose().morph_weights, 0.5 * left, atol=CLOSE)
        controller.advance(0.05)


def test_an_inertial_fade_ends_with_the_bits_of_the_clip() -> None:
    model = skinpy.character()
    controller = AnimationController(model)
    controller.play("walk")
    controller.play("wave", layer="upper", mask=Mask.below("Chest"))
    controller.advance(0.4)
    before = controller.pose()
    track = controller.cross_fade("run", 0.25, method="inertial", warp=True)
    assert (track.fade, track.weight) == (1.0, 1.0)
    assert track.phase == pytest.approx(0.4 / model.clips["walk"].duration, abs=1e-12)
    chest = Mask.below("Chest").weights(model) > 0
    assert np.array_equal(controller.pose().rotation[chest], before.rotation[chest])
    controller.advance(0.25)
    run = model.pose("run", track.position)
    assert np.array_equal(controller.pose().rotation[~chest], run.rotation[~chest])


def test_only_the_new_clip_passes_events() -> None:
    model = skinpy.character()
    walk, run = (model.clips[name].add_event(0.1, name) for name in ("walk", "run"))
    controller = AnimationController(model)
    controller.play(walk, speed=0.1)
    controller.cross_fade(run, 0.5, method="inertial")
    assert {(event.name, event.weight) for event in controller.advance(1.2)} == {("run", 1.0)}


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_from_an_empty_layer_to_the_rest_pose_and_away(seconds: float) -> None:
    model = skinpy.character()
    controller = AnimationController(model)
    controller.cross_fade("run", seconds, method="inertial")
    expected = model.pose() if seconds else model.pose("run", 0.0)
    np.testing.assert_allclose(controller.pose().rotation, expected.rotation, atol=CLOSE)
    controller.advance(0.1)
    controller.cross_fade(None, seconds, method="inertial")
    controller.advance(seconds)
    assert np.array_equal(controller.pose().rotation, model.pose().rotation)
    controller.cross_fade("run", seconds, method="inertial")
    controller.play("walk")  # at once
    assert np.array_equal(controller.pose().rotation, model.pose("walk", 0.0).rotation)
    controller.cross_fade("run", seconds, method="inertial")
    controller.stop()
    assert np.array_equal(controller.pose().rotation, model.pose().rotation)


def test_a_mask_may_change() -> None:
    """The layer covers other joints than before, and all of them go there without a jump."""
    controller = AnimationController(lively(5))
    controller.play(0)
    controller.play(1, layer="over", mask=Mask.named("j2"))
    controller.advance(0.2)
    before = controller.pose()
    controller.cross_fade(2, 0.3, layer="over", mask=Mask.named("j1"), method="inertial")
    assert angle(before, controller.pose()) < 0.01
    assert largest_jump(controller, 0.31) < JUMP


# ---- words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "spring"}, "method is 'spring'; expected one of 'blend', 'inertial'"),
        ({"method": "inertial", "ease": "smooth"}, "ease is 'smooth', but an inertial fade has"),
    ],
)
def test_methods_are_checked(options: Any, words: str) -> None:
    controller = AnimationController(skinpy.character())
    controller.play("walk")
    with pytest.raises(ValueError, match=words):
        controller.cross_fade("run", 0.1, **options)
    assert len(controller.layers["base"]) == 1
    states = {"a": {"clip": "walk"}, "b": {"clip": "run"}}
    way = {"from": "a", "to": "b", "fade": 0.1, "switch": "end", **options}
    with pytest.raises(ValueError, match=r"transitions\[0\] \(a -> b\): (method|ease) is"):
        skinpy.StateMachine({"start": "a", "states": states, "transitions": [way]})


def test_a_transition_has_a_method() -> None:
    """An inertial one that waits for the end of a clip begins there, for the old clip does not play on."""
    model = skinpy.character()
    states = {"wave": {"clip": "wave", "loop": "once"}, "run": {"clip": "run"}}
    way = {"from": "wave", "to": "run", "fade": 0.2, "switch": "end", "method": "inertial"}
    data = {"start": "wave", "states": states, "transitions": [way]}
    machine = skinpy.StateMachine(data)
    assert machine.to_dict()["transitions"] == [way]
    assert skinpy.StateMachine(json.loads(machine.to_json())) == machine
    controller = AnimationController(model)
    player = controller.run(machine)
    controller.advance(5.0)
    assert player.history[-1].time == pytest.approx(model.clips["wave"].duration, abs=1e-6)
    assert controller.layers["base"] == (player.track,)


# ---- what the core is given -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "fades", "words"),
    [
        ((None, 0.0, 1.0, 0, None, 0, np.zeros((2, 3, 4), np.float32)), None, "signs"),
        ((None, 0.0, 1.0, 0, None, 0, np.zeros((2, 4, 4))), None, "signs"),
        ((None, 0.0, 1.0, 0, None, 0, np.frombuffer(bytes(128), np.float32).reshape(2, 4, 4)), None, "signs"),
        ((np.zeros(39, np.float32), 0.0, 1.0, 0, None, 0, None), None, "given"),
        ((None, 0.0, 1.0, 0, None, 0, None, False, None), None, "an entry must be a tuple"),
        ((None, 0.0, 1.0, 0, None, 0), (None, None, 0.0), "fades must be a tuple"),
        ((None, 0.0, 1.0, 0, None, 0), (np.zeros((2, 4, 3), np.float32), None, 0.0, 1.0), "cover"),
        ((None, 0.0, 1.0, 0, None, 0), (None, np.zeros((11, 8), np.float32), 0.0, 1.0), "inertia"),
        ((None, 0.0, 1.0, 0, None, 0), (None, None, "soon", 1.0), "real number"),
    ],
)
def test_the_core_refuses_other_arrays(entry: Any, fades: Any, words: str) -> None:
    model = lively(0)
    with pytest.raises((TypeError, ValueError), match=words):
        model._mix_pose([(0, 0.5, [entry], fades)], model.pose())
