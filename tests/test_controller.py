"""The controller: tracks, layers, fades, keyed changes, events, records.

Where a test says "equal" it means bit by bit. Other poses are compared to 2e-6, which is float32 at numbers
of about 1; times and positions to 1e-9 s, as they are sums of a few hundred float64 steps."""

import contextlib
import copy
import itertools
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy import AnimationController, Clip, Mask, Model, Pose, blend
from skinpy.playing.passing import passed
from skinpy.playing.recording import Recording

CLOSE = 2e-6
PARTS = ("translation", "rotation", "scale", "morph_weights")


@pytest.fixture(scope="module")
def model() -> Model:
    return skinpy.character()


@pytest.fixture
def controller(model: Model) -> AnimationController:
    return AnimationController(model)


def assert_equal(pose: Pose, other: Pose) -> None:
    for name in PARTS:
        assert np.array_equal(getattr(pose, name), getattr(other, name)), name


def assert_close(pose: Pose, other: Pose, close: float = CLOSE) -> None:
    for name in ("translation", "scale", "morph_weights"):
        assert np.abs(getattr(pose, name) - getattr(other, name)).max(initial=0) <= close, name
    signs = np.sign((pose.rotation * other.rotation).sum(-1, keepdims=True))
    assert np.abs(pose.rotation - signs * other.rotation).max() <= close


def marked(model: Model, clip: str = "walk", times: tuple[float, ...] = (0.0, 0.3, 0.75)) -> Clip:
    """A clip of the model with events at fractions of its duration."""
    found = model.clips[clip]
    for time in times:
        found = found.add_event(time * found.duration, f"at {time}")
    return found


# ---- one clip ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loop", ["wrap", "clamp", "pingpong", "once"])
def test_one_clip_is_what_the_model_plays(model: Model, controller: AnimationController, loop: Any) -> None:
    track = controller.play("walk", loop=loop, speed=0.5)
    for _ in range(9):
        controller.advance(0.25)
        expected = model.pose("walk", track.position, loop=loop)
        assert_equal(controller.pose(), expected)
        assert np.array_equal(controller.palette(), expected.palette())
    assert track.position == (1.125 if loop != "once" else min(1.125, track.duration))
    assert track.finished == (loop == "once" and track.duration <= 1.125)


def test_nothing_played_is_the_rest_pose(model: Model, controller: AnimationController) -> None:
    assert_equal(controller.pose(), model.pose())
    assert controller.advance(1.0) == []
    assert np.array_equal(controller.palette(affine=True), model.palette(None, affine=True))


def test_palettes_go_where_they_are_wanted(model: Model, controller: AnimationController) -> None:
    controller.play("run")
    controller.advance(0.2)
    root = np.diag([2.0, 2.0, 2.0, 1.0])
    out = np.empty((len(model.skin), 3, 4), np.float32)
    assert controller.palette(out, root=root, inverse_root=True) is out
    pose = model.pose("run", 0.2, root=root)
    assert np.array_equal(out, pose.palette(affine=True, inverse_root=True))
    with pytest.raises(ValueError, match="out"):
        controller.palette(np.empty((3, 4, 4), np.float32))


def test_backwards_from_the_end(model: Model, controller: AnimationController) -> None:
    track = controller.play("walk", speed=-1.0, loop="once")
    assert track.position == track.duration
    controller.advance(0.25)
    assert_equal(controller.pose(), model.pose("walk", track.duration - 0.25))
    controller.advance(10.0)
    assert track.finished
    assert track.position == 0.0


def test_pause_seek_stop(model: Model, controller: AnimationController) -> None:
    track = controller.play("walk")
    controller.pause()
    assert controller.advance(1.0) == []
    assert (controller.time, track.position) == (0.0, 0.0)
    controller.resume()
    controller.seek(0.4)
    controller.advance(0.1)
    assert track.position == 0.5
    controller.stop()
    assert controller.layers["base"] == ()
    assert_equal(controller.pose(), model.pose())


# ---- fades --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ease", ["linear", "smooth"])
def test_a_cross_fade_is_the_nlerp_of_both(model: Model, controller: AnimationController, ease: Any) -> None:
    old = controller.play("walk")
    controller.advance(0.3)
    before = controller.pose()
    new = controller.cross_fade("run", 0.4, ease=ease)
    assert_equal(controller.pose(), before)
    for step in (0.1, 0.2):
        controller.advance(step)
        u = (controller.time - 0.3) / 0.4
        share = u if ease == "linear" else 3 * u * u - 2 * u**3
        walk, run = model.pose("walk", old.position), model.pose("run", new.position)
        assert_close(controller.pose(), blend([walk, run], [1 - share, share]))
    controller.advance(0.1)
    assert controller.layers["base"] == (new,)
    assert_equal(controller.pose(), model.pose("run", new.position))
    assert new.position == pytest.approx(0.4, abs=1e-12)


def test_a_fade_within_a_fade_keeps_the_sum(controller: AnimationController) -> None:
    controller.play("walk")
    controller.cross_fade("run", 1.0)
    controller.advance(0.5)
    controller.cross_fade("wave", 1.0, ease="linear")
    for _ in range(4):
        controller.advance(0.2)
        assert sum(track.fade for track in controller.layers["base"]) == pytest.approx(1.0, abs=1e-12)
    controller.advance(0.25)
    assert [track.clip.name for track in controller.layers["base"] if track.clip] == ["wave"]


@pytest.mark.parametrize("steps", [1, 7, 100])
def test_a_warp_keeps_phases_equal(controller: AnimationController, steps: int) -> None:
    old = controller.play("walk", speed=0.8)
    controller.advance(0.33)
    first = old.phase
    new = controller.cross_fade("run", 0.5, warp=True)
    assert new.phase == pytest.approx(first, abs=1e-12)
    for _ in range(steps):
        controller.advance(0.4 / steps)
        assert new.phase == pytest.approx(old.phase, abs=1e-12)
    slow, fast = 0.8 / old.duration, 1.0 / new.duration
    assert new.phase - first == pytest.approx(slow * 0.4 + (fast - slow) * 0.4**2 / 2 / 0.5, abs=1e-9)
    end = new.phase + slow * 0.1 + (fast - slow) * (0.5**2 - 0.4**2) / 2 / 0.5
    controller.advance(0.3)
    assert new.phase == pytest.approx(end + fast * 0.2, abs=1e-9)


def test_stop_with_a_fade_goes_to_what_is_below(model: Model, controller: AnimationController) -> None:
    walk = controller.play("walk")
    controller.play("wave", layer="upper", mask=Mask.below("Chest"))
    controller.advance(0.2)
    controller.stop("upper", fade=0.4)
    controller.advance(0.2)
    (wave,) = controller.layers["upper"]
    assert wave.fade == pytest.approx(0.5)
    below, above = model.pose("walk", walk.position), model.pose("wave", wave.position)
    chest = Mask.below("Chest").weights(model) > 0
    half = blend([below, above], [0.5, 0.5])
    assert np.abs(controller.pose().rotation[chest] - half.rotation[chest]).max() <= CLOSE
    controller.advance(0.2)
    assert controller.layers["upper"] == ()
    assert_equal(controller.pose(), model.pose("walk", walk.position))
    controller.stop(fade=0.5)
    controller.advance(0.25)
    assert_close(controller.pose(), blend([model.pose("walk", walk.position), model.pose()], [0.5, 0.5]))
    controller.advance(0.25)
    assert_equal(controller.pose(), model.pose())


# ---- layers -------------------------------------------------------------------------------------------


def test_a_full_layer_hides_what_is_below(model: Model, controller: AnimationController) -> None:
    controller.play("walk")
    controller.play("run", layer="top")
    controller.advance(0.4)
    assert_equal(controller.pose(), model.pose("run", 0.4))


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0, 3.0])
def test_a_layer_is_laid_over_by_weight_and_mask(
    model: Model, controller: AnimationController, weight: float
) -> None:
    mask = np.linspace(0, 1, len(model.skeleton.names)).astype(np.float32)
    controller.play("walk")
    controller.play("wave", layer="upper", mask=Mask.array(mask), weight=weight)
    controller.advance(0.6)
    below, above, pose = model.pose("walk", 0.6), model.pose("wave", 0.6), controller.pose()
    for joint in range(len(mask)):
        u = min(1.0, weight * float(mask[joint]))
        a, b = below.rotation[joint].astype(float), above.rotation[joint].astype(float)
        mixed = (1 - u) * a + u * (b if a @ b >= 0 else -b)
        mixed /= np.linalg.norm(mixed)
        assert np.abs(pose.rotation[joint] - mixed).max() <= CLOSE
        line = (1 - u) * below.translation[joint].astype(float) + u * above.translation[joint]
        assert np.abs(pose.translation[joint] - line).max() <= CLOSE


def test_additive_layers_add_differences(model: Model, controller: AnimationController) -> None:
    controller.play("walk")
    controller.advance(0.25)
    below = controller.pose()
    controller.play("wave", layer="add", additive=True)
    assert_close(controller.pose(), below)  # its first pose is the reference
    controller.advance(0.5)
    walk, wave, first = model.pose("walk", 0.75), model.pose("wave", 0.5), model.pose("wave", 0.0)
    pose = controller.pose()
    assert np.abs(pose.translation - (walk.translation + wave.translation - first.translation)).max() <= CLOSE
    for joint in range(len(model.skeleton.names)):
        difference = turn(wave.rotation[joint]) @ turn(first.rotation[joint]).T
        assert np.abs(turn(pose.rotation[joint]) - difference @ turn(walk.rotation[joint])).max() <= 1e-5


def turn(quaternion: Any) -> Any:
    x, y, z, w = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_half_of_an_additive_layer(model: Model, controller: AnimationController) -> None:
    controller.play("wave", layer="add", additive=True, weight=0.5)
    controller.advance(0.5)
    wave, first = model.pose("wave", 0.5), model.pose("wave", 0.0)
    half = 0.5 * (wave.translation.astype(float) - first.translation)
    assert np.abs(controller.pose().translation - (model.pose().translation + half)).max() <= CLOSE


# ---- tracks of one layer --------------------------------------------------------------------------------


def test_weights_are_a_partition_and_order_does_not_matter(model: Model) -> None:
    poses = []
    for order in itertools.permutations([("walk", 0.4), ("run", 1.0), ("wave", 0.2)]):
        controller = AnimationController(model)
        for clip, weight in order:
            controller.add_track(clip, weight=weight)
        controller.advance(0.37)
        poses.append(controller.pose())
    expected = blend([model.pose(clip, 0.37) for clip in ("walk", "run", "wave")], [0.4, 1.0, 0.2])
    for pose in poses:
        assert_close(pose, expected, 1e-6)


@pytest.mark.parametrize("factor", [0.0, 0.3, 0.5, 1.0])
def test_the_classic_priority_blend(model: Model, controller: AnimationController, factor: float) -> None:
    """Low: walk and run, 1 to 3. High: wave alone, whatever its weight. Then both by one factor."""
    controller.add_track("walk", weight=0.25)
    controller.add_track("run", weight=0.75)
    controller.add_track("wave", weight=0.4, priority="high")
    controller.key_priority_blend(factor, 0.0)
    controller.advance(0.5)
    low = blend([model.pose("walk", 0.5), model.pose("run", 0.5)], [0.25, 0.75])
    expected = blend([low, model.pose("wave", 0.5)], [1 - factor, factor])
    assert_close(controller.pose(), expected)


def test_disabled_tracks_neither_move_nor_weigh(model: Model, controller: AnimationController) -> None:
    walk, run = controller.add_track("walk"), controller.add_track("run")
    walk.enabled = False
    controller.advance(0.3)
    assert walk.position == 0.0
    assert_equal(controller.pose(), model.pose("run", 0.3))
    walk.enabled, run.weight = True, 0.0
    controller.advance(0.2)
    assert_equal(controller.pose(), model.pose("walk", 0.2))


# ---- keyed changes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 3, 50])
@pytest.mark.parametrize("ease", ["linear", "smooth"])
def test_a_keyed_speed_is_integrated(controller: AnimationController, steps: int, ease: Any) -> None:
    """Speed 1 up to 1 s, then to 3 by 2 s. Both eases have the mean 2 in between; at half of it the linear
    one has covered 1 + 0.25 (u + u^2), the smooth one u + 2 (u^3 - u^4 / 2)."""
    track = controller.play("walk")
    key = controller.key_speed(track, 3.0, 1.0, 1.0, ease)
    for _ in range(steps):
        controller.advance(1.5 / steps)
    u = 0.5
    covered = u + u * u if ease == "linear" else u + 2 * (u**3 - u**4 / 2)
    assert track.position == pytest.approx(1 + covered, abs=1e-9)
    assert key.state == "done"
    controller.advance(1.5)
    assert track.position == pytest.approx(1 + 2 + 3, abs=1e-9)
    assert track.speed == 3.0


def test_keyed_weights_positions_and_enables(model: Model, controller: AnimationController) -> None:
    walk, run = controller.add_track("walk"), controller.add_track("run", weight=0.0)
    controller.key_weight(run, 1.0, 0.5, 1.0)
    controller.key_weight(walk, 0.0, 0.5, 1.0)
    controller.key_position(run, 0.25, 1.0)
    controller.key_enable(walk, False, 1.25)
    controller.advance(1.0)
    assert (walk.weight, run.weight, run.position) == (0.5, 0.5, 0.25)
    controller.advance(0.5)
    assert not walk.enabled
    assert (walk.position, run.position) == (1.25, 0.75)
    assert_equal(controller.pose(), model.pose("run", 0.75))


def test_keys_can_be_cancelled(controller: AnimationController) -> None:
    track = controller.play("walk")
    key, other = controller.key_speed(track, 5.0, 0.5), controller.key_speed(track, 2.0, 0.75)
    controller.cancel(key)
    controller.advance(1.0)
    assert (key.state, other.state) == ("cancelled", "done")
    assert track.position == pytest.approx(0.75 + 0.5)


def test_keys_of_a_track_that_left_are_cancelled(controller: AnimationController) -> None:
    track = controller.play("walk")
    key = controller.key_speed(track, 5.0, 0.5)
    controller.play("run")
    assert key.state == "cancelled"
    with pytest.raises(ValueError, match="does not play"):
        controller.key_speed(track, 1.0, 2.0)


def test_play_ends_all_tracks_with_their_changes(controller: AnimationController) -> None:
    tracks = [controller.add_track(clip) for clip in ("walk", "run", "wave")]
    keys = [controller.key_weight(track, 0.5, 1.0) for track in tracks]
    controller.play("walk")
    assert [key.state for key in keys] == ["cancelled"] * 3


@pytest.mark.parametrize("seed", range(5))
def test_results_do_not_depend_on_the_steps(model: Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ends = []
    for count in (1, 4, 77):
        controller = AnimationController(model)
        controller.play(marked(model))
        controller.advance(0.5)
        new = controller.cross_fade("run", 0.7, ease="smooth", warp=True)
        controller.key_speed(new, 2.0, 0.9, 1.1)
        controller.play("wave", layer="upper", mask=Mask.below("Chest"))
        controller.stop("upper", fade=1.5)
        cuts = np.sort(np.concatenate([[0, 2.5], rng.uniform(0, 2.5, count - 1)]))
        events = [event for dt in np.diff(cuts) for event in controller.advance(float(dt))]
        ends.append((controller.pose(), [(event.name, round(event.at, 6)) for event in events]))
    for pose, events in ends[1:]:
        assert_close(pose, ends[0][0])
        assert events == ends[0][1]


# ---- events -----------------------------------------------------------------------------------------------


def unrolled(times: list[float], d: float, loop: str, low: float, high: float) -> dict[float, int]:
    """All positions from low to high that have an event, found by going through every cycle."""
    met: dict[float, int] = {}
    period = 2 * d if loop == "pingpong" else d
    for turn_number in range(math.floor(low / period) - 2, math.ceil(high / period) + 2):
        for time in times:
            if loop == "pingpong":
                places = {2 * turn_number * d + time, 2 * turn_number * d + 2 * d - time}
                if time == d:
                    places = {2 * turn_number * d + d}
                if time == 0:
                    places = {2 * turn_number * d}
            else:
                places = {turn_number * d + time}
            for place in places:
                if low <= place <= high:
                    met[place] = met.get(place, 0) + 1
    return met


@pytest.mark.parametrize("loop", ["wrap", "pingpong"])
@pytest.mark.parametrize("seed", range(12))
def test_no_event_is_missed_or_doubled(model: Model, loop: Any, seed: int) -> None:
    """Against a list of all cycles: random speeds in both directions, in steps of up to several cycles."""
    rng = np.random.default_rng(seed)
    fractions = [0.0, 0.25, 0.5, 1.0] if seed % 2 else [0.1, 0.6]
    controller = AnimationController(model)
    track = controller.play(marked(model, times=tuple(fractions)), loop=loop)
    d = track.duration
    times = [f * d for f in fractions]
    track.position = start = float(rng.uniform(-2, 2) * d)
    low = high = start
    met: list[Any] = []
    expected: dict[float, int] = {}
    for number in range(40):
        track.speed = float(rng.normal() * 2) if number % 3 else 1.0
        before = track.position
        met += controller.advance(float(rng.choice([0.0, 0.01, 0.125, 1.0, 3.5])))
        low, high = min(before, track.position), max(before, track.position)
        for place, count in unrolled(times, d, loop, low, high).items():
            if place != before or before == start:
                expected[place] = expected.get(place, 0) + count
    assert len(met) == sum(expected.values())
    assert all(event.at <= controller.time for event in met)
    assert [event.at for event in met] == sorted(event.at for event in met)


def test_events_at_the_seam_and_at_the_start(model: Model, controller: AnimationController) -> None:
    clip = model.clips["walk"].add_event(0.0, "start").add_event(model.clips["walk"].duration, "end")
    track = controller.play(clip)
    assert [event.name for event in controller.advance(0.0)] == []
    assert [event.name for event in controller.advance(0.1)] == ["start"]
    assert [event.name for event in controller.advance(clip.duration)] == ["end", "start"]
    assert [event.name for event in controller.advance(3 * clip.duration)] == ["end", "start"] * 3
    track.speed = -1.0
    assert [event.name for event in controller.advance(clip.duration)] == ["start", "end"]


def test_what_an_event_says(model: Model, controller: AnimationController) -> None:
    clip = model.clips["walk"].add_event(0.25, "foot_left")
    track = controller.play(clip, layer="legs", weight=0.5, speed=0.5)
    (event,) = controller.advance(0.75)
    assert (event.name, event.time, event.clip, event.layer, event.track) == (
        "foot_left",
        0.25,
        clip,
        "legs",
        track,
    )
    assert event.weight == 0.5
    assert event.at == pytest.approx(0.5)


def test_more_events_than_anybody_can_use_are_refused(model: Model, controller: AnimationController) -> None:
    track = controller.play(model.clips["walk"].add_event(0.5, "foot"))
    with pytest.raises(ValueError, match=r"dt is 1e\+09; track 0 would pass 1e\+09 events"):
        controller.advance(1e9)
    assert (controller.time, track.position) == (0.0, 0.0)


def brief(duration: float, at: tuple[float, ...] = (0.0,)) -> Model:
    """One joint, moved by a clip with events at fractions of its duration."""
    clip = skinpy.Clip.from_arrays(
        "brief", times=[0, duration], joints=["root"], translation=[[[0.0] * 3], [[1.0] * 3]]
    )
    for place in at:
        clip = clip.add_event(place * clip.duration, f"at {place}")
    return bare(clip)


def bare(*clips: Clip) -> Model:
    none: dict[str, Any] = {"positions": np.zeros((0, 3)), "faces": np.zeros((0, 3), int)}
    none |= {"joints": np.zeros((0, 1), int), "weights": np.zeros((0, 1))}
    return Model.from_arrays(["root"], [-1], [np.eye(4)], clips=clips, **none)


@pytest.mark.parametrize("duration", [1e-9, 1e-40, 1e-310])
@pytest.mark.parametrize("loop", ["wrap", "pingpong"])
def test_short_steps_of_still_shorter_clips_are_refused(duration: float, loop: Any) -> None:
    model = brief(duration)
    controller = AnimationController(model)
    track = controller.play(0, loop=loop)
    with pytest.raises(ValueError, match=r"dt is 0\.0166667; track 0 would pass .* events; expected"):
        controller.advance(1 / 60)
    assert (controller.time, track.position) == (0.0, 0.0)
    assert [event.name for event in controller.advance(track.duration / 2)] == ["at 0.0"]
    controller.play(0, loop="once")
    assert len(controller.advance(1 / 60)) == 1


def test_speeds_to_come_are_looked_at_too(model: Model, controller: AnimationController) -> None:
    track = controller.play(marked(model))
    assert controller.advance(1 / 60)  # and no look is needed for the next
    track.speed = 1e6
    with pytest.raises(ValueError, match="dt is 100; track 0 would pass"):
        controller.advance(100)
    track.speed = 1.0
    controller.key_speed(track, 1e6, controller.time + 1.0)
    with pytest.raises(ValueError, match="dt is 100; track 0 would pass"):
        controller.advance(100)


def test_a_phase_that_another_clip_drives_is_looked_at() -> None:
    step, hurry = brief(1.0).clips[0], brief(1e-9, ()).clips[0]
    model = bare(step, hurry)
    controller = AnimationController(model)
    controller.play(1)
    controller.cross_fade(0, 1.0, warp=True)
    with pytest.raises(ValueError, match=r"dt is 0\.5; track 1 would pass 5e"):
        controller.advance(0.5)


@pytest.mark.parametrize("duration", [1e300, 1e307, 1e308])
@pytest.mark.parametrize("loop", ["wrap", "clamp", "pingpong", "once"])
def test_events_of_endless_clips(duration: float, loop: Any) -> None:
    controller = AnimationController(brief(duration, (0.0, 1.0)))
    controller.play(0, loop=loop)
    assert [event.name for event in controller.advance(1.0)] == ["at 0.0"]
    assert controller.advance(1.0) == []


@pytest.mark.parametrize("loop", ["wrap", "pingpong"])
def test_passing_itself_is_bounded(loop: Any) -> None:
    event = skinpy.Event(0.0, "e")
    for duration in (5e-324, 1e-310, 1e-9):
        with pytest.raises(ValueError, match=r"dt is too long for a clip of .* events would be passed"):
            passed([event], duration, loop, 0.0, 1.0, True)
        with pytest.raises(ValueError, match="dt is too long"):
            passed([event], duration, loop, 1.0, 0.0, True)
    many = [event] * 600_000  # a clip's own events, however many, can be looked through
    assert len(passed(many, 1.0, loop, 0.5, 2.5, False)) >= len(many)


@pytest.mark.parametrize("speed", [1.0, -1.0])
def test_what_has_finished_stays_so(controller: AnimationController, speed: float) -> None:
    track = controller.play("walk", loop="once", speed=speed)
    for dt in (5.0, 0.0, 0.1):
        controller.advance(dt)
        assert track.finished
    track.speed = 0.0
    controller.advance(0.1)
    assert track.finished
    track.speed = -speed
    controller.advance(0.1)
    assert not track.finished


def test_backwards_round_a_loop_starts_at_0(model: Model, controller: AnimationController) -> None:
    track = controller.play("walk", speed=-1.0)
    assert track.position == 0.0
    controller.advance(0.25)
    assert_equal(controller.pose(), model.pose("walk", track.duration - 0.25))


def test_fades_without_a_step_between_do_not_pile_up(controller: AnimationController) -> None:
    controller.play("walk")
    for _ in range(10):
        controller.cross_fade("run", 1.0)
    assert [track.number for track in controller.layers["base"]] == [0, 10]


def test_a_machine_may_switch_as_often_as_time_allows(controller: AnimationController) -> None:
    ends = [{"from": "a", "to": "b", "switch": "end"}, {"from": "b", "to": "a", "switch": "end"}]
    states = {"a": {"clip": "walk", "speed": 100.0}, "b": {"clip": "run", "speed": 100.0}}
    player = controller.run(skinpy.StateMachine({"start": "a", "states": states, "transitions": ends}))
    controller.advance(100.0)
    assert controller.time == 100.0
    assert len(player.history) > 1


def test_once_passes_its_end_once(model: Model, controller: AnimationController) -> None:
    clip = model.clips["walk"].add_event(model.clips["walk"].duration, "end")
    track = controller.play(clip, loop="once")
    names = [event.name for _ in range(5) for event in controller.advance(0.4 * clip.duration)]
    assert names == ["end"]
    assert track.finished


# ---- what is kept from frame to frame ---------------------------------------------------------------------

MACHINE: dict[str, Any] = {
    "start": "walk",
    "parameters": {"speed": 0.0, "hello": "trigger"},
    "states": {
        "walk": {"clip": "walk"},
        "go": {"space": {"kind": "1d", "points": [[0, "walk"], [1, "run"]]}, "parameter": "speed"},
        "wave": {"clip": "wave", "loop": "once", "speed": 3.0},
    },
    "transitions": [
        {"from": "walk", "to": "go", "when": [["speed", ">", 0.5]], "fade": 0.1, "warp": True},
        {"from": "go", "to": "walk", "when": [["speed", "<", 0.5]], "switch": "sync", "sync": 0.3},
        {"from": "*", "to": "wave", "when": [["hello"]], "fade": 0.1},
        {"from": "wave", "to": "walk", "switch": "end", "fade": 0.05},
    ],
}


def change_something(controller: AnimationController, model: Model, rng: np.random.Generator) -> None:
    """Make one random call among all that change what plays."""

    def some(low: float, high: float) -> float:
        return float(rng.uniform(low, high))

    def pick(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    numbers = range(len(model.clips))
    clip: Any = pick(*numbers, skinpy.BlendSpace1D({0: pick(*numbers), 1: pick(*numbers)}))
    layer = pick("base", "base", "upper")
    mask = pick(None, Mask.below("Chest"))
    tracks = [track for one in controller.layers.values() for track in one]
    track = pick(*tracks) if tracks else controller.play("walk")
    now, ease = controller.time, pick("linear", "smooth")
    name, value = pick(("weight", some(0, 2)), ("speed", some(-1, 2)), ("position", some(-3, 3)))
    calls: list[Any] = [
        lambda: controller.play(clip, layer=layer, mask=mask, loop=pick("wrap", "once", "pingpong", "clamp")),
        lambda: controller.play("wave", layer="add", additive=True, weight=some(0, 1)),
        lambda: controller.add_track(clip, layer=layer, speed=some(-1, 2), priority=pick("low", "high")),
        lambda: controller.cross_fade(clip, pick(0.0, some(0, 0.3)), layer=layer, ease=ease),
        lambda: controller.cross_fade(
            pick("walk", "run"), some(0, 0.3), warp=bool(controller.layers["base"][-1:])
        ),
        lambda: controller.stop(pick(None, "base"), fade=pick(0.0, some(0, 0.3))),
        lambda: controller.seek(some(-1, 2)),
        lambda: controller.key_weight(track, some(0, 2), now + some(0, 0.2), pick(0.0, some(0, 0.2)), ease),
        lambda: controller.key_speed(track, some(-1, 2), now + some(0, 0.2), pick(0.0, some(0, 0.2)), ease),
        lambda: controller.key_position(track, some(0, 2), now + some(0, 0.2)),
        lambda: controller.key_enable(track, pick(True, False), now + some(0, 0.2)),
        lambda: controller.key_priority_blend(some(0, 1), now + some(0, 0.1), pick(0.0, 0.1)),
        lambda: setattr(track, name, value),
        lambda: setattr(track, "enabled", pick(True, True, False)),
        lambda: controller.run(skinpy.StateMachine(MACHINE), layer=pick("base", "lower")),
        *(lambda p=player: p.parameters.update(speed=some(0, 1)) for player in controller.players),
        *(lambda p=player: p.trigger("hello") for player in controller.players),
        *(lambda p=player: p.travel(pick("walk", "go", "wave")) for player in controller.players),
    ]
    if track.parameter is not None:
        calls.append(lambda: setattr(track, "parameter", some(-0.5, 1.5)))
    with contextlib.suppress(ValueError):  # a warp without anything to warp from, a way that leads nowhere
        pick(*calls)()


@pytest.fixture(scope="module")
def lively(model: Model) -> Model:
    """The model with two more clips: one with root motion, one with events."""
    joint = model.skeleton.names[0]
    moved = np.zeros((2, 1, 3))
    moved[1, 0, 2] = 1.5
    clip = Clip.from_arrays("go", times=[0.0, 0.8], joints=[joint], translation=moved)
    travels = model.add_clips([clip]).clips["go"].extract_root_motion(joint)
    return model.add_clips([travels, marked(model)])


def forget(controller: AnimationController) -> None:
    controller._invalidate()
    for room in controller.layers.values():
        for track in room:
            track._motion._summarize()


def live(controller: AnimationController, model: Model, seed: int, each_step: Any) -> list[Any]:
    """All results of a controller with random calls and steps."""
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    for _ in range(60):
        if rng.random() < 0.4:
            change_something(controller, model, rng)
        each_step(controller)
        events = controller.advance(float(rng.choice([0.0, 1 / 60, 0.05, 0.4])))
        found += [[(one.name, one.at, one.weight, one.track.number) for one in events]]
        found += [[(one.state, len(one.history)) for one in controller.players]]
        found += [[(one.position, one.finished) for room in controller.layers.values() for one in room]]
        found += [controller.palette(), controller.root_delta]
    return found


@pytest.mark.parametrize("seed", range(16))
def test_what_is_kept_from_frame_to_frame_changes_nothing(lively: Model, seed: int) -> None:
    """A controller whose caches are invalidated before every step does exactly the same."""
    kept = live(AnimationController(lively), lively, seed, lambda controller: None)
    forgot = live(AnimationController(lively), lively, seed, forget)
    for one, other in zip(kept, forgot, strict=True):
        assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


# ---- copies and records -----------------------------------------------------------------------------------


def act(controller: AnimationController, model: Model) -> list[Any]:
    """Some calls of every sort, and the palettes after each."""
    palettes = []
    track = controller.play("walk", speed=0.9)
    key = controller.key_speed(track, 1.5, 0.4, 0.3, "smooth")
    controller.key_weight(track, 0.7, 0.1)
    doomed = controller.key_position(track, 0.0, 0.6)
    controller.play("wave", layer="upper", mask=Mask.below("Chest"), weight=0.8)
    for number in range(40):
        if number == 10:
            controller.cancel(doomed)
            track.weight = 0.9
        if number == 20:
            controller.cross_fade("run", 0.2, warp=True, ease="smooth")
            controller.play("wave", layer="add", additive=True, weight=np.float32(0.3))
        if number == 30:
            controller.stop("upper", fade=0.1)
            controller.seek(0.3)
        controller.advance(1 / 37)
        palettes.append(controller.palette())
    assert key.state == "done"
    return palettes


def test_the_same_calls_give_the_same_bits(model: Model) -> None:
    first, second = act(AnimationController(model), model), act(AnimationController(model), model)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_a_recording_replays_bit_for_bit(model: Model, controller: AnimationController) -> None:
    recording = controller.record()
    palettes = act(controller, model)
    recording.stop()
    controller.advance(1.0)  # after the end: not noted
    again = Recording.from_json(recording.to_json())
    assert again.calls == recording.calls
    for source in (recording, again):
        played = [replayed.palette() for replayed in AnimationController.replay(model, source)]
        assert len(played) == len(palettes)
        assert all(np.array_equal(a, b) for a, b in zip(played, palettes, strict=True))


def test_failed_calls_are_not_recorded(controller: AnimationController) -> None:
    recording = controller.record()
    with pytest.raises(KeyError):
        controller.play("wlak")
    controller.play("walk")
    assert [call[0] for call in recording.calls] == ["play"]


def test_recordings_of_clip_objects_stay_in_memory(model: Model, controller: AnimationController) -> None:
    recording = controller.record()
    controller.play(model.clips["walk"].trim(0.1, 0.5))
    controller.advance(0.2)
    (replayed,) = AnimationController.replay(model, recording)
    assert np.array_equal(replayed.palette(), controller.palette())
    with pytest.raises(ValueError, match="Clip object"):
        recording.to_json()


@pytest.mark.parametrize("text", ["{}", "[1]", '[["delete", [], {}]]', '[["advance", 1, {}]]'])
def test_recordings_refuse_other_text(text: str) -> None:
    with pytest.raises(ValueError, match="not a recording"):
        Recording.from_json(text)


#: What JSON may have in the place of a value.
OTHERS = [None, [], {}, "x", "", -1, 0, 1e308, True, [[]], "walk", 10**400, "a" * 5000, [1, 2], {"a": 1}]


def places(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in JSON."""
    yield place
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inside:
        yield from places(value, (*place, key))


def with_other(data: Any, place: tuple[Any, ...], other: Any) -> Any:
    if not place:
        return other
    copied = copy.copy(data)
    copied[place[0]] = with_other(data[place[0]], place[1:], other)
    return copied


def test_recordings_with_any_value_replaced_play_or_name_the_fault(
    model: Model, controller: AnimationController
) -> None:
    recording = controller.record()
    track = controller.play("walk", speed=1.5)
    controller.add_track("run", mask=Mask.below("Spine"))
    controller.cross_fade(skinpy.BlendSpace1D([(1.4, "walk"), (4.0, "run")]), 0.3)
    controller.seek(0.2)
    track.weight = 0.5
    states = {"walk": {"clip": "walk"}, "run": {"clip": "run"}}
    ways = [{"from": "walk", "to": "run", "when": [["go"]], "fade": 0.2}]
    parameters = {"go": "trigger", "speed": 1.0}
    machine = {"start": "walk", "parameters": parameters, "states": states, "transitions": ways}
    player = controller.run(skinpy.StateMachine(machine))
    player.trigger("go")
    player.parameters["speed"] = 2.0
    player.travel("run")
    controller.advance(0.1)
    calls = json.loads(recording.to_json())
    assert [call[0] for call in calls] == (
        ["play", "add_track", "cross_fade", "seek", "set", "run", "player", "player", "player", "advance"]
    )
    played = 0
    for place in places(calls):
        for other in OTHERS:
            text = json.dumps(with_other(calls, place, other))
            try:
                (replayed,) = AnimationController.replay(model, Recording.from_json(text))
                assert np.isfinite(replayed.palette()).all()
                played += 1
            except (TypeError, ValueError, KeyError, IndexError) as error:
                words = str(error)
                assert len(words) < 350
                for python in (
                    "unhashable",
                    "positional",
                    "keyword argument",
                    "has no attribute",
                    "object is not",
                    "subscript",
                ):
                    assert python not in words, (place, other)
    assert played > 30


def test_a_clone_has_players_of_its_own(model: Model, controller: AnimationController) -> None:
    states = {"walk": {"clip": "walk"}, "run": {"clip": "run"}}
    ways = [{"from": "walk", "to": "run", "when": [["go"]], "fade": 0.2}, {"from": "run", "to": "walk"}]
    machine = skinpy.StateMachine(
        {"start": "walk", "states": states, "transitions": [ways[0], {**ways[1], "switch": "end"}]}
        | {"parameters": {"go": "trigger"}}
    )
    player = controller.run(machine)
    controller.advance(0.1)
    other = controller.clone()
    (copied,) = other.players
    assert controller.players == (player,)
    copied.trigger("go")
    other.advance(0.3)
    controller.advance(0.3)
    assert (copied.state, player.state) == ("run", "walk")


def test_pickles_of_other_versions_are_refused(controller: AnimationController) -> None:
    """Those of before fades that interrupt each other had no number."""
    controller.play("walk")
    attributes, slots = controller.__getstate__()
    number = slots.pop("_format")
    for other in (slots, {**slots, "_format": number + 1}):
        with pytest.raises(ValueError, match="another version of skinpy"):
            AnimationController.__new__(AnimationController).__setstate__((attributes, other))


def test_a_clone_goes_its_own_way(model: Model, controller: AnimationController) -> None:
    controller.play("walk")
    controller.advance(0.1)
    controller.cross_fade("run", 1.0, warp=True)
    controller.advance(0.3)
    other = controller.clone()
    assert other.model is model
    assert_equal(other.pose(), controller.pose())
    controller.advance(0.5)
    before = controller.pose()
    other.advance(0.5)
    assert_equal(other.pose(), before)
    other.play("wave")
    assert_equal(controller.pose(), before)
    assert other.layers["base"][0] not in controller.layers["base"]


# ---- faults ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda c: c.play("wlak"), KeyError, "did you mean 'walk'"),
        (lambda c: c.play(17), IndexError, "clip is 17"),
        (lambda c: c.play(1.5), TypeError, "clip"),
        (lambda c: c.play("walk", mask=Mask.below("Cheest")), KeyError, "Chest"),
        (lambda c: c.play("walk", mask=[1.0]), TypeError, "mask is of type list"),
        (lambda c: c.cross_fade(slice(1), 0.2), TypeError, "clip is of type slice"),
        (lambda c: c.play("walk", weight=-1), ValueError, "weight is -1; expected 0 or more"),
        (lambda c: c.play("walk", speed=math.nan), ValueError, "speed is nan"),
        (lambda c: c.play("walk", loop="round"), ValueError, "loop is 'round'; expected one of 'wrap'"),
        (lambda c: c.play("walk", priority="middle"), ValueError, "priority is 'middle'"),
        (lambda c: c.play("walk", layer=3), TypeError, "layer is 3"),
        (lambda c: c.cross_fade("run", -0.1), ValueError, "seconds is -0.1"),
        (lambda c: c.cross_fade("run", 0.1, ease="bouncy"), ValueError, "ease is 'bouncy'"),
        (lambda c: c.cross_fade("run", 0.1, layer="new", warp=True), ValueError, "warp needs a track"),
        (lambda c: c.advance(-0.1), ValueError, "dt is -0.1"),
        (lambda c: c.advance(math.inf), ValueError, "dt is inf"),
        (lambda c: c.advance("soon"), TypeError, "dt is 'soon'"),
        (lambda c: c.seek(math.nan), ValueError, "position is nan"),
        (lambda c: c.seek(0.0, layer="uper"), KeyError, "unknown layer 'uper'"),
        (lambda c: c.stop("uper"), KeyError, "unknown layer"),
        (lambda c: c.stop(fade=-1), ValueError, "fade is -1"),
        (
            lambda c: c.key_speed(c.layers["base"][0], 1.0, -1.0),
            ValueError,
            "start is -1; the controller is at",
        ),
        (lambda c: c.key_speed("walk", 1.0, 1.0), TypeError, "track is of type str"),
        (lambda c: c.key_priority_blend(2.0, 1.0), ValueError, "blend is 2; expected 0 to 1"),
        (lambda c: c.cancel("key"), TypeError, "key is 'key'"),
        (lambda c: setattr(c.layers["base"][0], "weight", -2), ValueError, "weight is -2"),
        (lambda c: setattr(c.layers["base"][0], "parameter", 1), ValueError, "has no parameter"),
        (lambda c: c.play("walk", weight=1e31), ValueError, r"weight is 1e\+31; expected 0 or more"),
        (lambda c: c.play("walk", speed=1e308), ValueError, r"speed is 1e\+308; expected at most"),
        (lambda c: c.play("walk", speed=10**400), ValueError, "speed is beyond what a float holds"),
        (lambda c: c.play("walk", additive="no"), TypeError, "additive is 'no'; expected True or False"),
        (lambda c: c.cross_fade("run", 0.1, warp="no"), TypeError, "warp is 'no'"),
        (lambda c: c.advance(1e308), ValueError, r"dt is 1e\+308"),
        (lambda c: setattr(c.layers["base"][0], "enabled", "false"), TypeError, "enabled is 'false'"),
        (lambda c: next(AnimationController.replay(c.model, [])), TypeError, "recording is of type list"),
        (lambda c: AnimationController(None), TypeError, "model is of type NoneType"),
        (lambda c: Mask.below("Spine").weights(None), TypeError, "model is of type NoneType"),
        (lambda c: skinpy.retarget("walk", None, c.model), TypeError, "source is of type NoneType"),
        (lambda c: c.record(), ValueError, "record\\(\\) comes before"),
    ],
)
def test_faults_are_named_and_change_nothing(
    controller: AnimationController, call: Any, error: type[Exception], words: str
) -> None:
    controller.play("walk")
    controller.advance(0.2)
    before, layers = controller.pose(), dict(controller.layers)
    with pytest.raises(error, match=words):
        call(controller)
    assert dict(controller.layers) == layers
    assert_equal(controller.pose(), before)
    assert controller.time == 0.2


def test_clips_of_other_models_are_refused(controller: AnimationController) -> None:
    with pytest.raises(ValueError, match="add_clips"):
        controller.play(skinpy.crane().clips[0])


def test_a_weight_that_arrives_with_the_end_of_a_fade(controller: AnimationController) -> None:
    """Both ramps end at one time, and the end of the fade removes the track with its other ramps."""
    leaving = controller.play("walk")
    controller.cross_fade("run", 0.25)
    controller.key_weight(leaving, 0.5, 0.0, 0.25)
    controller.advance(0.25)
    assert [track.clip.name for track in controller.layers["base"] if track.clip is not None] == ["run"]


def test_the_name_of_a_joint_is_a_mask() -> None:
    """As in view.Layer: the joint and all below it; also in a recording that is replayed."""
    model = skinpy.character()
    poses = []
    for mask in ("Chest", Mask.below("Chest")):
        controller = AnimationController(model)
        notes = controller.record()
        controller.play("walk")
        controller.play("wave", layer="over", mask=mask)
        controller.add_track("run", layer="other", mask=mask, weight=0.5)
        controller.cross_fade("run", 0.1, layer="over", mask=mask)
        controller.advance(0.2)
        poses.append(controller.pose().rotation)
        again = [one.pose().rotation.copy() for one in AnimationController.replay(model, notes)]
        np.testing.assert_array_equal(again[-1], poses[-1])
    np.testing.assert_array_equal(poses[0], poses[1])
    with pytest.raises(KeyError, match="mask: unknown joint 'Chets': did you mean 'Chest'"):
        AnimationController(model).play("walk", mask="Chets")
