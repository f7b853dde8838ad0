"""Numbers, flags and clips that no public call takes: errors that name the argument."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy import Model
from skinpy.root_motion import RootMotion
from skinpy.storage import compare

HUGE = 10**400  # an int that no float holds: float() raises OverflowError


@pytest.fixture(scope="module")
def model() -> Model:
    return skinpy.character()


def motion(model: Model) -> RootMotion:
    found = model.clips["walk"].root_motion_from_feet().root_motion
    assert found is not None
    return found


Call = Callable[[Model, Any], Any]
HUGE_IN: dict[str, Call] = {
    "target": lambda m, v: m.pose().two_bone_ik("LeftHand", [v, 0, 0]),
    "pole": lambda m, v: m.pose().two_bone_ik("LeftHand", [0, 0, 0], pole=[v, 0, 0]),
    "weight": lambda m, v: m.pose().two_bone_ik("LeftHand", [0, 0, 0], weight=v),
    "soften": lambda m, v: m.pose().two_bone_ik("LeftHand", [0, 0, 0], soften=v),
    "axis": lambda m, v: m.pose().aim("LeftHand", [1, 0, 0], axis=[v, 0, 0]),
    "tolerance": lambda m, v: m.pose().fabrik("LeftHand", [0, 0, 0], root="Chest", tolerance=v),
    "offset": lambda m, v: m.pose().attach("LeftHand", np.full((4, 4), v, object)),
    "degrees": lambda m, v: m.pose().rotate("LeftHand", degrees=v, axis="x"),
    "vector": lambda m, v: m.pose().translate("LeftHand", [0, v, 0]),
    "reference": lambda m, v: m.clips["walk"].additive(v),
    "time": lambda m, v: m.clips["walk"].add_event(v, "step"),
    "start": lambda m, v: m.clips["walk"].trim(v),
    "end": lambda m, v: m.clips["walk"].trim(0, v),
    "fps": lambda m, v: m.clips["walk"].resample(v),
    "max_error": lambda m, v: m.clips["walk"].compress(v),
    "duration": lambda m, v: motion(m).delta(0.0, 1.0, duration=v),
}


@pytest.mark.parametrize("name", HUGE_IN)
def test_an_int_beyond_floats_is_refused_by_name(model: Model, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} .* beyond what a float holds"):
        HUGE_IN[name](model, HUGE)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.pose("walk", HUGE),
        lambda m: m.palette("walk", HUGE),
        lambda m: motion(m).sample(HUGE),
    ],
)
def test_so_is_such_a_time(model: Model, call: Callable[[Model], Any]) -> None:
    with pytest.raises(ValueError, match=r"^time .* beyond what a float holds"):
        call(model)


def test_as_many_iterations_as_one_likes(model: Model) -> None:
    """They are an upper limit, so there is no number too large."""
    assert model.pose().fabrik("LeftHand", [0.0, 0.0, 0.0], root="Chest", iterations=HUGE).shape == ()
    with pytest.raises(ValueError, match="iterations is -1; expected at least 1"):
        model.pose().fabrik("LeftHand", [0.0, 0.0, 0.0], root="Chest", iterations=-HUGE)


FLAGS: dict[str, Call] = {
    "yaw": lambda m, v: m.clips["walk"].extract_root_motion(yaw=v),
    "replace": lambda m, v: m.add_clips(m.clips["walk"], replace=v),
    "join_vertices": lambda m, v: skinpy.load(b"", join_vertices=v),
    "ignore_animated_scale": lambda m, v: skinpy.load(b"", ignore_animated_scale=v),
    "mmap": lambda m, v: skinpy.load("no file", mmap=v),
    "additive": lambda m, v: skinpy.AnimationController(m).play("walk", additive=v),
}


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", ["no", 0, 1, None, []])
def test_flags_are_true_or_false(model: Model, name: str, value: Any) -> None:
    if name == "join_vertices" and value is None:
        return  # the default: what the format suggests
    with pytest.raises(TypeError, match=f"^{name} is .*; expected True or False$"):
        FLAGS[name](model, value)


def test_flags_of_numpy_are_flags(model: Model) -> None:
    replaced = model.add_clips(model.clips["walk"], replace=np.bool_(True))
    assert sorted(clip.name for clip in replaced.clips) == sorted(clip.name for clip in model.clips)


def test_keywords_come_in_any_order(model: Model) -> None:
    """Those of C functions: each finds its own value, and is named where it is unknown or comes twice."""
    wanted = model.palette("walk", 0.3, loop="clamp", rotation="nlerp", inverse_root=True)
    for words in (("loop", "rotation", "inverse_root"), ("inverse_root", "rotation", "loop")):
        given: dict[str, Any] = {"loop": "clamp", "rotation": "nlerp", "inverse_root": True}
        found = model.palette("walk", 0.3, **{word: given[word] for word in words})
        assert np.array_equal(found, wanted)
    assert np.array_equal(model.palette(time=0.3, clip="walk"), model.palette("walk", 0.3))
    with pytest.raises(TypeError, match="unexpected keyword argument 'lop'"):
        model.palette("walk", 0.3, lop="clamp")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="two values for argument 'clip'"):
        model.palette("walk", 0.3, inverse_root=True, clip="run")  # type: ignore[misc]


# ---- clips -----------------------------------------------------------------------------------------


def drawing(name: str) -> Any:
    """Something of skinpy.render, skinpy.output or skinpy.view."""
    pytest.importorskip("moderngl")
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"skinpy.{module}"), attribute)


TAKES_A_CLIP: dict[str, Call] = {
    "clips": lambda m, v: m.clips[v],
    "pose": lambda m, v: m.pose(v),
    "palette": lambda m, v: m.palette(v, 0.0),
    "bounds": lambda m, v: m.bounds(v),
    "explain": lambda m, v: m.explain(0, v),
    "bake_vertices": lambda m, v: m.bake_vertices(v, 30),
    "bake_texture": lambda m, v: m.bake_texture([v]),
    "compare": lambda m, v: compare(m, v),
    "retarget": lambda m, v: skinpy.retarget(v, m, m),
    "play": lambda m, v: skinpy.AnimationController(m).play(v),
    "render": lambda m, v: m.render(v),
    "page": lambda m, v: m.page([v]),
    "sheet": lambda m, v: drawing("output.sheet")(m, [v]),
    "Stage": lambda m, v: drawing("view.Stage")(m, v),
    "Stage.choose": lambda m, v: drawing("view.Stage")(m).choose(v),
    "Crowd": lambda m, v: drawing("render.Crowd")(m, [np.eye(4)], clips=[v]),
}


@pytest.mark.parametrize("name", TAKES_A_CLIP)
def test_a_number_of_no_clip_is_refused_with_the_range(model: Model, name: str) -> None:
    for number in (3, -4, np.int64(7)):
        with pytest.raises(IndexError, match=rf"^clip is {number}; .* clips 0 to 2 \(walk, run, wave\)$"):
            TAKES_A_CLIP[name](model, number)
    with pytest.raises(KeyError, match="unknown clip 'wlak': did you mean 'walk'"):
        TAKES_A_CLIP[name](model, "wlak")
    for wrong in (0.5, True):
        with pytest.raises(TypeError, match=r"^clip is "):
            TAKES_A_CLIP[name](model, wrong)


def test_numbers_of_clips_where_there_are_few_or_many() -> None:
    def still(count: int) -> Model:
        place = np.zeros((1, 1, 3))
        clips = [
            skinpy.Clip.from_arrays(f"c{i}", times=[0], joints=["a"], translation=place) for i in range(count)
        ]
        corners = {"positions": np.eye(3), "faces": [[0, 1, 2]], "joints": [[0]] * 3, "weights": [[1]] * 3}
        return Model.from_arrays(["a"], [-1], [np.eye(4)], **corners, clips=clips)

    for count, words in (
        (0, "clip is 20; the model has no clips"),
        (1, r"clip is 20; the model has clip 0 alone \(c0\)"),
        (10, r"clip is 20; the model has clips 0 to 9 \(c0, c1, c2, c3, c4, c5, c6, c7 and 2 more\)"),
    ):
        with pytest.raises(IndexError, match=words):
            still(count).pose(20)
    with pytest.raises(IndexError, match=r"^clip is \d+; the model has no clips"):
        still(0).pose(HUGE)
