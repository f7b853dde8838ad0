"""Events and root motion: kept by everything that makes, binds or stores a clip."""

import copy
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy.clips.events import Motion

STEPS = (skinpy.Event(0.25, "left"), skinpy.Event(0.75, "right"))


def still(name: str = "stroll", joints: list[str] | None = None) -> skinpy.Clip:
    """One second in which one joint moves along a straight line."""
    keys = np.zeros((3, 1, 3))
    keys[:, 0, 2] = [0, 0.5, 1]
    return skinpy.Clip.from_arrays(name, times=[0, 0.5, 1], joints=joints, translation=keys)


def motion() -> Motion:
    """From 0 to 4 along x within a second, with half a rotation about z."""
    half = math.sqrt(0.5)
    values = np.array([[0, 0, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, half, half], [4, 0, 0, 0, 0, 1, 0]], np.float32)
    return Motion(np.array([0, 0.5, 1]), values)


def stepping(**options: Any) -> skinpy.Clip:
    return still(**options).add_event(0.75, "right").add_event(0.25, "left")._with(motion=motion())


def holds_all(clip: skinpy.Clip) -> None:
    assert clip.events == STEPS
    assert clip._motion is not None
    np.testing.assert_array_equal(clip._motion.times, motion().times)
    np.testing.assert_array_equal(clip._motion.values, motion().values)


def test_events_come_sorted_and_the_old_clip_stays() -> None:
    clip = still()
    assert clip.events == ()
    more = (
        clip.add_event(1, "end").add_event(0, "start").add_event(1.0, "after").add_event(np.float32(0.5), "m")
    )
    assert [(one.time, one.name) for one in more.events] == [
        (0, "start"),
        (0.5, "m"),
        (1, "end"),
        (1, "after"),
    ]
    assert all(type(one.time) is float for one in more.events)
    assert clip.events == () and more._block is clip._block
    assert more != clip and more == more._with() and hash(more) == hash(clip)


def test_a_bound_clip_stays_bound() -> None:
    model = skinpy.character()
    clip = model.clips[0].add_event(0.125, "blink")
    assert clip.model is model and model.clips[0].events == ()
    np.testing.assert_array_equal(model.pose(clip, 0.3).rotation, model.pose(0, 0.3).rotation)


@pytest.mark.parametrize(
    ("time", "wanted"),
    [(-1e-9, r"0 <= time <= 1\.0"), (1.0000001, r"0 <= time <= 1\.0")]
    + [(time, "a finite number") for time in (math.nan, math.inf, -math.inf)],
)
def test_times_outside_the_clip_are_refused(time: float, wanted: str) -> None:
    with pytest.raises(ValueError, match=f"time is .*; expected {wanted}"):
        still().add_event(time, "x")


@pytest.mark.parametrize(
    ("time", "name"), [(0.5, ""), (0.5, 3), (0.5, None), (0.5, b"x"), ("0.5", "x"), (True, "x")]
)
def test_wrong_types_are_refused(time: Any, name: Any) -> None:
    with pytest.raises(TypeError, match=r"name is|time is"):
        still().add_event(time, name)


def test_an_event_does_not_change() -> None:
    with pytest.raises(AttributeError):
        STEPS[0].time = 1.0  # type: ignore[misc]


# ---- keeping -------------------------------------------------------------------------------------------


def test_pickle_of_a_loose_clip() -> None:
    holds_all(pickle.loads(pickle.dumps(stepping())))
    holds_all(copy.deepcopy(stepping()))


def test_pickle_of_a_bound_clip_leaves_the_models_own_alone() -> None:
    model = skinpy.character()
    given = model.clips[1].add_event(0.0, "go")
    for pair in ((given, model), (model, given)):
        again = pickle.loads(pickle.dumps(pair))
        clip = again[pair.index(given)]
        assert clip.events == (skinpy.Event(0.0, "go"),) and clip.model in again
        assert clip.model.clips[1].events == () and clip.model.clips[1] is not clip
    assert pickle.loads(pickle.dumps(given)).model.clips.names == ()


def test_pickle_of_what_is_derived_from_a_bound_clip() -> None:
    clip = skinpy.character().clips[0].trim(0.0, 0.5).add_event(0.5, "end")
    again = pickle.loads(pickle.dumps(clip))
    assert again.events == clip.events and again.duration == clip.duration and again.model is not None


@pytest.mark.parametrize("suffix", [".skn", "pickle", "added"])
def test_a_model_keeps_what_its_clips_carry(tmp_path: Path, suffix: str) -> None:
    joint = skinpy.character().skeleton.names[2]
    model = skinpy.character().add_clips([stepping(joints=[joint]), still("plain", [joint])])
    first = model.clips[0].name
    model = model.add_clips(model.clips[0].add_event(0.0, "zero"), replace=True)
    if suffix == ".skn":
        model.save(tmp_path / "model.skn")
        model = skinpy.load(tmp_path / "model.skn")
    elif suffix == "pickle":
        model = pickle.loads(pickle.dumps(model))
    holds_all(model.clips["stroll"])
    assert model.clips["plain"].events == () and model.clips["plain"]._motion is None
    assert model.clips[first].events == (skinpy.Event(0.0, "zero"),)
    np.testing.assert_array_equal(model.clips["stroll"].channels[0].values[:, 2], [0, 0.5, 1])


def test_it_is_kept_when_a_clip_changes_hands_twice(tmp_path: Path) -> None:
    """Bind, save and load the clip, add it to another model behind another clip, and elsewhere."""
    character = skinpy.character()
    joint = character.skeleton.names[2]
    character.add_clips([still("a", [joint]), stepping(joints=[joint])]).save(tmp_path / "first.skn")
    other = skinpy.character().add_clips(tmp_path / "first.skn", names=["a", "stroll"])
    holds_all(other.clips["stroll"])
    without = other.add_clips(other.clips["stroll"]._with(events=(), motion=None), replace=True)
    again = pickle.loads(pickle.dumps(without))
    assert again.clips["stroll"].events == () and again.clips["stroll"]._motion is None


def test_replace_puts_the_new_events_in_place() -> None:
    model = skinpy.character()
    name = model.clips[0].name
    other = model.add_clips(model.clips[0].add_event(0.0, "start"), replace=True)
    assert other.clips.names.count(name) == 1
    assert other.clips[name].events == (skinpy.Event(0.0, "start"),)


# ---- clips made of clips -------------------------------------------------------------------------------


def test_trim_moves_events_and_cuts_the_motion() -> None:
    clip = stepping().add_event(0.5, "cut").trim(0.5, 1.0)
    assert clip.events == (skinpy.Event(0.0, "cut"), skinpy.Event(0.25, "right"))
    assert clip._motion is not None
    np.testing.assert_array_equal(clip._motion.times, [0, 0.5])
    np.testing.assert_allclose(clip._motion.values, motion().values[1:], atol=1e-7)


def test_trim_between_keys_of_the_motion() -> None:
    """A quarter and three quarters of the way: 45 and 135 degrees, 1 and 3 along x."""
    clip = stepping().trim(0.25, 0.75)
    assert clip.events == (skinpy.Event(0.0, "left"), skinpy.Event(0.5, "right"))
    assert clip._motion is not None
    wanted = [
        [1, 0, 0, 0, 0, math.sin(math.pi / 8), math.cos(math.pi / 8)],
        [2, 0, 0, 0, 0, math.sin(math.pi / 4), math.cos(math.pi / 4)],
        [3, 0, 0, 0, 0, math.sin(3 * math.pi / 8), math.cos(3 * math.pi / 8)],
    ]
    np.testing.assert_array_equal(clip._motion.times, [0, 0.25, 0.5])
    np.testing.assert_allclose(clip._motion.values, wanted, atol=1e-6)


def test_resample_keeps_both() -> None:
    holds_all(stepping().resample(10))


def test_compress_keeps_both() -> None:
    joint = skinpy.character().skeleton.names[2]
    model = skinpy.character().add_clips(stepping(joints=[joint]))
    holds_all(model.clips["stroll"].compress())
