"""Clips made of clips: Clip.transform, reverse, speed, cut and concatenate, each compared by sampling."""

import math
import pickle
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from builders import Gltf, all_attributes, box, matrix_nodes, random_model, several_roots
from test_events import stepping

import skinpy
from skinpy import Clip
from skinpy._types import Array
from skinpy.clips.edit import derived
from skinpy.clips.events import Motion

SEEDS = range(6)
#: Values are float32 and at most about 2, and rotations are interpolated from float32 keys.
CLOSE = 1e-6


@cache
def model_of(seed: int) -> skinpy.Model:
    """Two clips with step, linear, cubic and constant channels, many of which only one clip has."""
    file = random_model(seed, joints=10, vertices=500, shared_times=seed % 2 == 0)
    return skinpy.load(file.glb(), format="glb", isolate=False)


def moving(clip: Clip, seed: int) -> Clip:
    """The clip with a root motion that goes and turns, and with two events."""
    rng = np.random.default_rng(seed)
    times = np.linspace(0.0, clip.duration, 5)
    angle = np.cumsum(rng.uniform(-0.8, 0.8, 5))
    keys = np.zeros((5, 7))
    keys[:, :3] = np.cumsum(rng.normal(size=(5, 3)), axis=0)
    keys[:, 4], keys[:, 6] = np.sin(angle / 2), np.cos(angle / 2)
    clip = clip.add_event(0.25 * clip.duration, "left").add_event(0.75 * clip.duration, "right")
    return clip._with(motion=Motion(times, keys.astype(np.float32)))


def times_of(clip: Clip) -> Array:
    """Times all over the clip, at all keys, and at both sides of each."""
    near = 1e-3 / clip.ticks_per_second  # beyond the tolerance of a key, which is 1e-4 ticks
    keys = np.concatenate([channel.times for channel in clip.channels])
    times = np.concatenate([np.linspace(0, clip.duration, 101), keys, keys - near, keys + near])
    return np.unique(times[(times >= 0) & (times <= clip.duration)])


def away(one: skinpy.Pose, other: skinpy.Pose) -> float:
    """The largest difference of a number of two poses, of quaternions with the sign that is nearer."""
    turned = one.rotation, other.rotation
    apart = np.minimum(np.abs(turned[0] - turned[1]).max(-1), np.abs(turned[0] + turned[1]).max(-1))
    names = ("translation", "scale", "morph_weights")
    return max(
        *(float(np.abs(getattr(one, name) - getattr(other, name)).max(initial=0)) for name in names),
        float(apart.max()),
    )


def pose(clip: Clip, times: Array) -> skinpy.Pose:
    return clip.sample(times, loop="clamp")


def way(clip: Clip) -> skinpy.RootMotion:
    """The root motion of a clip that has one."""
    motion = clip.root_motion
    assert motion is not None
    return motion


def turn(degrees: float) -> Array:
    """A rotation about an uneven axis with a translation."""
    matrix = np.eye(4)
    axis = np.array([0.36, 0.48, 0.8])
    matrix[:3, :3] = skinpy.rotation.to_matrix(skinpy.rotation.from_axis_angle(axis, degrees, degrees=True))
    matrix[:3, 3] = 1.5, -2.0, 0.25
    return matrix


# ---- reverse --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_a_reversed_clip_shows_the_same_from_the_end(seed: int) -> None:
    for clip in model_of(seed).clips:
        back = clip.reverse()
        assert back.duration == clip.duration and back.name == clip.name and back.model is clip.model
        times = times_of(clip)
        assert away(pose(back, times), pose(clip, clip.duration - times)) <= CLOSE
        assert away(pose(back.reverse(), times), pose(clip, times)) <= CLOSE


@pytest.mark.parametrize("loop", ["wrap", "clamp", "pingpong", "once"])
def test_a_reversed_clip_loops_as_the_clip_does(loop: Any) -> None:
    clip = model_of(3).clips[0]
    times = np.random.default_rng(1).uniform(-2.0, 3.0, 200) * clip.duration
    shown = clip.reverse().sample(times, loop=loop)
    assert away(shown, clip.sample(clip.duration - times, loop=loop)) <= CLOSE


def test_frames_of_steps_come_in_the_opposite_order() -> None:
    model = triangle_with(np.arange(6.0), "step")
    clip = model.clips[0]
    frames = np.arange(6) / 10
    shown = pose(clip.reverse(), frames).translation[:, 0, 0]
    assert shown.tolist() == [5, 4, 3, 2, 1, 0]
    assert pose(clip.reverse().reverse(), frames).translation[:, 0, 0].tolist() == [0, 1, 2, 3, 4, 5]


def triangle_with(values: Array, interpolation: str = "linear", name: str = "clip") -> skinpy.Model:
    """A model of one joint with a clip of these x, at 10 keys per second."""
    translation = np.zeros((len(values), 1, 3))
    translation[:, 0, 0] = values
    clip = Clip.from_arrays(name, fps=10, translation=translation, interpolation=interpolation)
    return skinpy.Model.from_arrays(
        ["a"], [-1], np.eye(4)[None], positions=np.eye(3), faces=[[0, 1, 2]], joints=[[0]] * 3,
        weights=[[1]] * 3, clips=[clip],
    )  # fmt: skip


def test_keys_before_the_start_are_cut() -> None:
    translation = np.zeros((3, 1, 3))
    translation[:, 0, 0] = 0, 2, 3
    early = Clip.from_arrays("early", times=[-1.0, 1.0, 2.0], translation=translation)
    model = triangle_with(np.zeros(2))
    clip = model.add_clips(early).clips["early"]
    times = np.linspace(0, 2, 21)
    assert away(pose(clip.reverse(), times), pose(clip, 2 - times)) <= CLOSE
    still = Clip.from_arrays("still", times=[-1.0, 0.0], translation=translation[:2])
    bound = model.add_clips(still).clips["still"]
    assert bound.duration == 0
    assert away(bound.reverse().sample(0.0), bound.sample(0.0)) <= CLOSE
    at_minus_one = Clip.from_arrays("before", times=[-2.0, -1.0], translation=translation[:2])
    bound = model.add_clips(at_minus_one).clips["before"]
    assert away(bound.reverse().sample(0.0), bound.sample(0.0)) <= CLOSE


def test_events_and_root_motion_go_back() -> None:
    clip = stepping()
    back = clip.reverse()
    assert [(one.time, one.name) for one in back.events] == [(0.25, "right"), (0.75, "left")]
    there, here = way(clip), way(back)
    times = np.linspace(0, 1, 17)
    wanted = np.linalg.inv(there.sample(1.0)) @ there.sample(1.0 - times)
    assert np.abs(here.sample(times) - wanted).max() <= 4 * CLOSE
    assert here.duration == 1.0
    assert np.abs(there.sample(1.0) @ here.sample(1.0) - np.eye(4)).max() <= 4 * CLOSE


# ---- speed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("factor", [0.3, 2.0])
def test_a_faster_clip_shows_the_same_earlier(seed: int, factor: float) -> None:
    for clip in model_of(seed).clips:
        clip = moving(clip, seed)
        fast = clip.speed(factor)
        assert fast.duration == clip.duration / factor
        assert fast.ticks_per_second == clip.ticks_per_second * factor
        times = times_of(clip)
        assert away(pose(fast, times / factor), pose(clip, times)) <= CLOSE
        assert [one.time * factor for one in fast.events] == pytest.approx([one.time for one in clip.events])
        there = way(clip).sample(times)
        assert np.abs(way(fast).sample(times / factor) - there).max() <= CLOSE


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (0, "factor is 0; expected a number above 0$"),
        (-1.0, r"factor is -1\.0; .*clip\.reverse\(\) plays a clip backward"),
        (math.nan, "finite number"),
        (1e-320, "expected a factor that keeps its key times finite"),
        (1e308, "expected a factor that keeps its key times finite"),
    ],
)
def test_factors_that_no_clip_can_have(factor: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        skinpy.character().clips["walk"].speed(1.0 if factor == 1e308 else factor).speed(factor)


# ---- cut and concatenate --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_pieces_show_the_whole_and_join_to_it(seed: int) -> None:
    for clip in model_of(seed).clips:
        clip = moving(clip, seed)
        cuts: list[str | float] = [0.3 * clip.duration, "right", 0.3 * clip.duration]
        parts = clip.cut(cuts)
        assert [one.name for one in parts] == [f"{clip.name} {number}" for number in (1, 2, 3)]
        assert [[one.name for one in part.events] for part in parts] == [["left"], [], ["right"]]
        start = 0.0
        for part in parts:
            times = np.linspace(0, part.duration, 31)[1:-1]
            assert away(pose(part, times), pose(clip, start + times)) <= 2 * CLOSE
            start += part.duration
        whole = Clip.concatenate(parts)
        times = times_of(clip)
        assert whole.duration == pytest.approx(clip.duration)
        assert away(pose(whole, times), pose(clip, times)) <= 2 * CLOSE
        assert [(round(one.time, 9), one.name) for one in whole.events] == [
            (round(one.time, 9), one.name) for one in clip.events
        ]
        moved = np.abs(way(whole).sample(times) - way(clip).sample(times)).max()
        assert moved <= 1e-5  # translations of up to about 10 in float32


def test_a_cut_at_a_corner_of_a_curve() -> None:
    """A cubic key whose slopes before and after differ, as where a ball bounces."""
    model = triangle_with(np.zeros(2))
    slopes = np.zeros((3, 3), np.float32)
    corner = replace(
        model.clips[0].channels[0],
        interpolation="cubic",
        times=np.array([0.0, 0.5, 1.0]),
        values=np.array([[1, 0, 0], [0, 0, 0], [1, 0, 0]], np.float32),
        in_tangents=slopes - np.array([4, 0, 0], np.float32),
        out_tangents=slopes + np.array([4, 0, 0], np.float32),
    )
    clip = derived(model.clips[0], [corner], 1.0)
    times = np.linspace(0, 0.5, 11)
    for start, part in zip((0.0, 0.5), clip.cut(0.5), strict=True):
        assert away(pose(part, times), pose(clip, start + times)) <= CLOSE
    assert away(pose(clip.trim(0, 0.5), times), pose(clip, times)) <= CLOSE


def test_where_a_clip_is_cut() -> None:
    clip = triangle_with(np.arange(5.0)).clips[0].add_event(0.0, "a").add_event(0.4, "b").add_event(0.2, "a")
    assert [one.duration for one in clip.cut("a")] == pytest.approx([0.2, 0.2])
    assert [len(one.events) for one in clip.cut("a")] == [1, 2]
    assert [one.duration for one in clip.cut(["a", 0.1])] == pytest.approx([0.1, 0.1, 0.2])
    assert [one.duration for one in clip.cut(np.array([0.1, 0.3]))] == pytest.approx([0.1, 0.2, 0.1])
    assert [one.name for one in clip.cut("b")] == ["clip 1"] and clip.cut([])[0].events == clip.events
    still = triangle_with(np.zeros(1)).clips[0].add_event(0.0, "go")
    assert [one.duration for one in still.cut("go")] == [0.0] and still.cut(0.0)[0].events == still.events
    with pytest.raises(KeyError, match="unknown event 'A'"):
        clip.cut("A")
    with pytest.raises(ValueError, match=r"events has the time 0\.5; expected 0 to 0\.4"):
        clip.cut([0.1, 0.5])
    for wrong in (None, True, [None], b"a"):
        with pytest.raises(TypeError, match="events"):
            clip.cut(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", SEEDS)
def test_each_clip_plays_at_its_time(seed: int) -> None:
    one, other = (moving(clip, seed + number) for number, clip in enumerate(model_of(seed).clips))
    clips = [one, other, one.reverse(), one]
    whole = Clip.concatenate(clips, name="all")
    assert whole.name == "all" and whole.model is one.model
    assert whole.duration == pytest.approx(sum(clip.duration for clip in clips))
    start, reached = 0.0, np.eye(4)
    instant = 1e-3 / whole.ticks_per_second
    for clip in clips:
        times = times_of(clip)
        times = times[times < clip.duration - instant]
        if steps := [line.times for line in clip.channels if line.interpolation == "step"]:
            # Where other clips have linear keys, a step takes 3e-4 ticks.
            jumps = np.concatenate(steps)
            times = times[np.abs(times[:, None] - jumps).min(axis=1) > 2 * instant]
        assert away(pose(whole, start + times), pose(clip, times)) <= 2 * CLOSE
        travel = way(whole).sample(start + times) - reached @ way(clip).sample(times)
        assert np.abs(travel).max() <= 1e-5  # translations of up to about 20 in float32
        start, reached = start + clip.duration, reached @ way(clip).sample(clip.duration)
    assert away(pose(whole, np.array([start])), pose(one, np.array([one.duration]))) <= 2 * CLOSE
    assert len(whole.events) == 8


def test_a_joint_is_shared_or_jumps() -> None:
    model = triangle_with(np.array([0.0, 1.0]))
    up, on = model.clips[0], model.add_clips(triangle_with(np.array([1.0, 3.0]), name="on").clips[0])
    on_clip = on.clips["on"]
    smooth = Clip.concatenate([on.clips["clip"], on_clip])
    assert smooth.name == "clip+on" and smooth.channels[0].times.tolist() == [0, 0.1, 0.2]
    assert smooth.channels[0].values[:, 0].tolist() == [0, 1, 3]
    jump = Clip.concatenate([up, up]).channels[0]
    assert (
        jump.times == pytest.approx([0, 0.1, 0.1, 0.2], abs=1e-4) and 0 < jump.times[2] - jump.times[1] < 1e-3
    )
    assert jump.values[:, 0] == pytest.approx([0, 1, 0, 1], abs=1e-3)
    assert pose(Clip.concatenate([up, up]), np.array([0.1])).translation[0, 0, 0] == 0
    walk = skinpy.character().clips["walk"]  # the same keys at both ends, as a loop has
    assert len(Clip.concatenate([walk] * 3).channels[0].times) <= 3 * len(walk.channels[0].times) - 2


def test_poses_without_length_show_at_the_end_alone() -> None:
    moved = triangle_with(np.array([0.0, 1.0]))
    model = moved.add_clips(triangle_with(np.array([7.0]), name="still").clips[0])
    move, still = model.clips["clip"], model.clips["still"].add_event(0.0, "here")
    last = Clip.concatenate([still, move, still])
    assert pose(last, np.array([0.0, 0.05, 0.1])).translation[:, 0, 0] == pytest.approx([0, 0.5, 7])
    assert [one.time for one in last.events] == [0.0, 0.1]
    assert Clip.concatenate([still, still]).duration == 0
    assert Clip.concatenate([still, still]).sample(0.0).translation[0, 0] == 7


def test_steps_beside_curves_and_lines() -> None:
    """A joint's step, linear and cubic rotations and translations in one clip."""
    file = Gltf()
    node = file.node("a", t=(0, 1, 0), r=(0, 0.6, 0, 0.8))
    p, n, f = box()
    file.nodes[node]["mesh"] = file.mesh(file.primitive(p, f, normals=n))
    rng = np.random.default_rng(5)
    turns = rng.normal(size=(3, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    slopes = rng.normal(size=(2, 3, 4))
    for kind in ("step", "linear", "cubic"):
        tangents = tuple(slopes) if kind == "cubic" else None
        moves = tuple(slopes[..., :3]) if kind == "cubic" else None
        file.animation(
            kind,
            file.channel(node, "rotation", [0.5, 1, 2], turns, kind, tangents),
            file.channel(node, "translation", [0, 1, 1.5], turns[:, :3], kind, moves),
        )
    file.animation("rest", file.channel(node, "scale", [0, 1], np.ones((2, 3))))
    model = skinpy.load(file.glb(), format="glb", isolate=False)
    for order in ("step linear", "linear cubic", "cubic step", "cubic rest step", "step rest", "rest linear"):
        clips = [model.clips[name] for name in order.split()]
        whole = Clip.concatenate(clips)
        times = np.linspace(0.001, 0.998, 313)
        start = 0.0
        for clip in clips:
            shown = pose(whole, start + times * clip.duration)
            assert away(shown, pose(clip, times * clip.duration)) <= CLOSE
            start += clip.duration


def test_looks_and_targets_hold_their_rest() -> None:
    model = skinpy.load(all_attributes().glb(), format="glb", isolate=False)
    other = derived(model.clips[0], [one for one in model.clips[0].channels if one.joint is None], 2.0)
    first = derived(model.clips[0], [one for one in model.clips[0].channels if one.joint is not None], 1.0)
    whole = Clip.concatenate([first, other, first])
    times = np.array([0.3, 0.9])
    assert away(pose(whole, times), pose(first, times)) <= CLOSE
    assert away(pose(whole, 1 + times), pose(other, times)) <= CLOSE
    assert away(pose(whole, 3 + times), pose(first, times)) <= CLOSE


def test_differences_are_joined_to_differences() -> None:
    model = skinpy.character()
    wave, nod = (model.clips[name].additive() for name in ("wave", "walk"))
    whole = Clip.concatenate([wave, nod])
    assert whole.is_additive
    times = np.linspace(0, 0.9, 7)
    assert away(pose(whole, times), pose(wave, times)) <= CLOSE
    assert away(pose(whole, wave.duration + times), pose(nod, times)) <= CLOSE
    assert wave.reverse().is_additive and wave.speed(2).is_additive and wave.cut(0.1)[1].is_additive
    with pytest.raises(ValueError, match="'wave' is additive and 'run' is not"):
        Clip.concatenate([model.clips["run"], wave])


def test_what_cannot_be_joined() -> None:
    model = skinpy.character()
    walk = model.clips["walk"]
    with pytest.raises(ValueError, match="clips is empty"):
        Clip.concatenate([])
    with pytest.raises(ValueError, match="clips\\[1\\], 'clip', is of another model"):
        Clip.concatenate([walk, triangle_with(np.zeros(2)).clips[0]])
    with pytest.raises(ValueError, match="bound to no model"):
        Clip.concatenate([stepping()])
    for wrong in ("walk", ["walk"], walk, None):
        with pytest.raises(TypeError, match="clips"):
            Clip.concatenate(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="name"):
        Clip.concatenate([walk], name=3)  # type: ignore[arg-type]


def test_a_clip_without_root_motion_stands_still() -> None:
    model = triangle_with(np.zeros(2)).add_clips(stepping(joints=["a"]))
    go = model.clips["stroll"]
    stay = go._with(motion=None)
    there = way(go).sample(1.0)
    motion = way(Clip.concatenate([stay, go, stay, go]))
    found = motion.sample([1.0, 1.5, 2.0, 2.7, 4.0])
    wanted = [np.eye(4), way(go).sample(0.5), there, there, there @ there]
    assert np.abs(found - wanted).max() <= 1e-5


# ---- transform ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_a_transformed_clip_is_the_transform_times_the_clip(seed: int, scale: float) -> None:
    model = model_of(seed)
    matrix = turn(40.0 * seed) @ np.diag([scale, scale, scale, 1.0])
    for clip in model.clips:
        clip = moving(clip, seed)
        moved = clip.transform(matrix)
        assert moved.events == clip.events and moved.model is model and moved.name == clip.name
        times = times_of(clip)
        wanted = matrix @ model.globals(clip, times, loop="clamp").astype(np.float64)
        assert np.abs(model.globals(moved, times, loop="clamp") - wanted).max() <= 1e-5
        travel = matrix @ way(clip).sample(times) @ np.linalg.inv(matrix)
        assert np.abs(way(moved).sample(times) - travel).max() <= 1e-5
        kinds = [(one.interpolation, len(one.times)) for one in clip.channels if one.joint]
        assert kinds == [(one.interpolation, len(one.times)) for one in moved.channels if one.joint]


def test_roots_at_rest_and_roots_that_move() -> None:
    model = skinpy.load(several_roots().glb(), format="glb", isolate=False)
    matrix = turn(70)
    clip = model.clips[0].transform(matrix)
    times = np.linspace(0, 1, 9)
    wanted = matrix @ model.globals(model.clips[0], times)
    assert np.abs(model.globals(clip, times) - wanted).max() <= 1e-5
    back = clip.transform(np.linalg.inv(matrix))
    assert np.abs(model.globals(back, times) - model.globals(model.clips[0], times)).max() <= 1e-5


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.diag([-1.0, 1, 1, 1]), r"is a reflection; .*clip\.mirror\(\)"),
        (np.diag([1.0, 2, 1, 1]), r"scales the three axes by \[1\.0, 2\.0, 1\.0\]"),
        (np.diag([0.0, 0, 0, 1]), "scales the three axes"),
        (np.eye(4) + np.eye(4, k=1) * [[0.3], [0], [0], [0]], "shear|scales the three axes"),
        (np.diag([1.0, 1, 1, 2]), "the last row of matrix is"),
        (np.full((4, 4), np.nan), "not finite"),
        (np.eye(3), r"matrix has shape \(3, 3\)"),
    ],
)
def test_matrices_that_no_figure_can_follow(matrix: Array, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        skinpy.character().clips[0].transform(matrix)


def test_joined_half_turns_keep_their_way() -> None:
    """The clips' ends differ by rounding, which would decide the way of a turn by exactly 180 degrees."""
    turn = [[0, 0, 0, 1], [0, 1, 0, -4.371139e-08], [0, -8.742278e-08, 0, -1]]
    nothing = {"positions": np.zeros((0, 3)), "faces": np.zeros((0, 3), int)}
    nothing |= {"joints": np.zeros((0, 1), int), "weights": np.zeros((0, 1))}
    model = skinpy.Model.from_arrays(["cube"], [-1], np.eye(4)[None], **nothing)
    rotation = np.array(turn)[:, None]
    clip = model.add_clips(Clip.from_arrays("turn", times=[0.0, 1.0, 2.0], rotation=rotation)).clips[0]
    joined = Clip.concatenate([clip, clip])
    times = np.linspace(0.01, 1.99, 50)
    for start in (0.0, 2.0):
        off = np.abs(model.globals(joined, times + start) - model.globals(clip, times)).max()
        assert off < CLOSE, start


def test_clips_that_cannot_be_transformed() -> None:
    with pytest.raises(ValueError, match="bound to no model"):
        stepping().transform(np.eye(4))
    with pytest.raises(ValueError, match=r"is additive; .*then take additive\(\)"):
        skinpy.character().clips[0].additive().transform(np.eye(4))
    file = matrix_nodes()
    file.nodes[0]["matrix"][1] = 0.9
    model = skinpy.load(file.glb(), format="glb", isolate=False)
    with pytest.raises(ValueError, match="'root' is a root whose rest matrix has shear"):
        model.clips[0].transform(turn(5))


# ---- all of them ----------------------------------------------------------------------------------


EDITS: dict[str, Any] = {
    "transform": lambda clip: clip.transform(turn(20)),
    "reverse": lambda clip: clip.reverse(),
    "speed": lambda clip: clip.speed(1.5),
    "cut": lambda clip: clip.cut(0.2)[1],
    "concatenate": lambda clip: Clip.concatenate([clip, clip]),
}


@pytest.mark.parametrize("edit", EDITS)
def test_compressed_quantized_and_pickled_clips(edit: str) -> None:
    source = skinpy.character().clips["run"]
    coded = skinpy.storage.quantize(source, 1e-4).clip()
    for clip in (source.compress(1e-3), coded, pickle.loads(pickle.dumps(source))):
        made = EDITS[edit](clip)
        assert made.error is None and made.model is clip.model
        assert np.isfinite(made.sample(np.linspace(0, made.duration, 5)).rotation).all()
        again = pickle.loads(pickle.dumps(made))
        assert away(again.sample(0.1), made.sample(0.1)) == 0


def test_looks_go_along() -> None:
    file = random_model(1, joints=3, vertices=500, clips=1)
    model = skinpy.load(file.glb(), format="glb", isolate=False)
    clip = model.clips[0]
    one = clip.channels[0]
    shown = replace(
        one, joint=2, target=None, path="visibility", interpolation="step", in_tangents=None,
        out_tangents=None, times=np.array([0.0, 0.25]), values=np.array([[1], [0]], np.float32),
    )  # fmt: skip
    clip = derived(clip, [*clip.channels, shown], clip.duration)
    seen = [bool(clip.visible_joints(time)[2]) for time in (0.1, 0.3)]
    assert seen == [True, False]
    d = clip.duration
    assert [bool(clip.reverse().visible_joints(d - time)[2]) for time in (0.1, 0.3)] == seen
    assert [bool(clip.speed(2).visible_joints(time / 2)[2]) for time in (0.1, 0.3)] == seen
    assert [bool(clip.transform(turn(9)).visible_joints(time)[2]) for time in (0.1, 0.3)] == seen
    plain = model.clips[0]
    whole = Clip.concatenate([clip, plain, clip])
    assert [bool(whole.visible_joints(t)[2]) for t in (0.1, 0.3, d + 0.1, 2 * d + 0.3)] == [
        True,
        False,
        True,
        False,
    ]
