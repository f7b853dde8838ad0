"""Numbers, flags and clips that no public call takes: errors that name the argument."""

import importlib
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy import Model
from skinpy.clips.root_motion import RootMotion
from skinpy.storage import compare

HUGE = 10**400  # an int that no float holds: float() raises OverflowError


def drawing(name: str) -> Any:
    """Something of skinpy.render, skinpy.output or skinpy.view."""
    pytest.importorskip("moderngl")
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"skinpy.{module}"), attribute)


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
    with pytest.raises(ValueError, match=r"^iterations is -10+; expected at least 1$"):
        model.pose().fabrik("LeftHand", [0.0, 0.0, 0.0], root="Chest", iterations=-HUGE)


#: name: (the call, the least and the most that it takes; None: as many as one likes)
WHOLE: dict[str, tuple[Call, int, int | None]] = {
    "max_influences": (lambda m, v: skinpy.load(b"", max_influences=v), 1, 8),
    "frame": (lambda m, v: skinpy.load(b"", frame=v), 0, 2**31 - 1),
    "iterations": (
        lambda m, v: m.pose().fabrik("LeftHand", [0, 0, 0], root="Chest", iterations=v),
        1,
        None,
    ),
    "limit": (lambda m, v: m.bake_texture("wave", 1.0, limit=v), 1, None),
    "limit of sheets": (lambda m, v: drawing("output.sheet")(m, limit=v), 1, None),
    "limit of pages": (lambda m, v: m.page("wave", limit=v), 1, None),
    "texture_size": (lambda m, v: m.page("wave", texture_size=v), 1, None),
    "height": (lambda m, v: m.page("wave", height=v), 1, None),
    "joints": (lambda m, v: m.check(joints=v), 1, None),
    "frames": (lambda m, v: drawing("output.sheet")(m, frames=v), 1, 100),
    "count": (lambda m, v: drawing("render.grid")(m, v), 1, None),
    "count of cameras": (lambda m, v: drawing("render.turntable")(m, None, v), 1, None),
    "samples": (lambda m, v: drawing("render.Renderer")(m, samples=v), 0, 64),
    "overlay onion": (lambda m, v: drawing("render.Overlays")(onion=v), 0, 16),
    "n": (lambda m, v: skinpy.set_num_threads(v), 1, 256),
    "memory": (lambda m, v: skinpy.Limits(memory=v), 1, 2**63 - 1),
    "keys": (lambda m, v: skinpy.Limits(keys=v), 1, 2**63 - 1),
}
NO_INTEGERS = ("3", 2.0, 0.5, True, False, np.True_, np.float32(2), [2], np.array([2, 3]), 1j, object())


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_are_whole_and_in_their_range(model: Model, name: str) -> None:
    call, least, most = WHOLE[name]
    word = name.partition(" of ")[0]
    for value in NO_INTEGERS:
        with pytest.raises(TypeError, match=f"^{word} is .*; expected (a whole number|an int)( or None)?$"):
            call(model, value)
    bounds = f"at least {least}" if most is None else f"{least} to {most}"
    beyond = (least - 1, -HUGE) if most is None else (least - 1, -HUGE, most + 1, HUGE)
    for number in (*beyond, np.int64(least - 1)):
        with pytest.raises(ValueError, match=f"^{word} is {number}; expected {bounds}$"):
            call(model, number)


def test_integers_of_numpy_are_whole_numbers(model: Model) -> None:
    places = drawing("render.grid")(model, 3)
    for three in (np.int8(3), np.uint64(3), np.array(3)):
        assert np.array_equal(drawing("render.grid")(model, three), places)
        assert model.check(joints=three) == model.check(joints=3)
        assert drawing("render.Overlays")(onion=three) == drawing("render.Overlays")(onion=3)


NUMBERS_OF: dict[str, Call] = {
    "vertex": lambda m, v: m.explain(v),
    "joint": lambda m, v: m.pose().set(v, scale=1.0),
    "clip": lambda m, v: m.bake_texture("wave", 1.0).index(v),
    "clip of pictures": lambda m, v: m.render(v),
    "overlay weights": lambda m, v: drawing("render.Overlays")(weights=v),
    "overlay trajectories": lambda m, v: drawing("render.Overlays")(trajectories=[v]),
}


@pytest.mark.parametrize("name", NUMBERS_OF)
def test_numbers_of_things_are_integers(model: Model, name: str) -> None:
    for value in (2.0, 0.5, True, np.True_, np.float32(2), 1j, object()):
        with pytest.raises(TypeError, match=f"^{name.partition(' of ')[0]} is .*; expected "):
            NUMBERS_OF[name](model, value)


FLAGS: dict[str, Call] = {
    "yaw": lambda m, v: m.clips["walk"].extract_root_motion(yaw=v),
    "replace": lambda m, v: m.add_clips(m.clips["walk"], replace=v),
    "join_vertices": lambda m, v: skinpy.load(b"", join_vertices=v),
    "ignore_animated_scale": lambda m, v: skinpy.load(b"", ignore_animated_scale=v),
    "mmap": lambda m, v: skinpy.load("no file", mmap=v),
    "isolate": lambda m, v: skinpy.load("no file", isolate=v),
    "additive": lambda m, v: skinpy.AnimationController(m).play("walk", additive=v),
    "warp": lambda m, v: skinpy.AnimationController(m).cross_fade("walk", 0.2, warp=v),
    "enabled": lambda m, v: setattr(skinpy.AnimationController(m).play("walk"), "enabled", v),
    "degrees": lambda m, v: skinpy.rotation.to_rotvec([0, 0, 0, 1], v),
    "canonical": lambda m, v: skinpy.rotation.normalize([0, 0, 0, 1], canonical=v),
    "inverse_root": lambda m, v: m.palette("walk", 0.0, inverse_root=v),
    "inverse_root of poses": lambda m, v: m.pose().palette(inverse_root=v),
    "inverse_root of crowds": lambda m, v: m.crowd_palette(["walk"], [0], [0.0], inverse_root=v),
    "inverse_root of controllers": lambda m, v: skinpy.AnimationController(m).palette(inverse_root=v),
    "normals": lambda m, v: m.deform(m.pose(), normals=v),
    "turntable": lambda m, v: m.clips["walk"].save("walk.gif", turntable=v),
    "turntable of pages": lambda m, v: m.clips["walk"].save("walk.html", turntable=v),
    "playing": lambda m, v: drawing("view.Stage")(m, playing=v),
    "controls": lambda m, v: drawing("view.LiveView")(m, controls=v),
    "overlay names": lambda m, v: drawing("render.Overlays")(names=v),
}
FLAGS_OR_NONE: dict[str, Call] = {
    "affine": lambda m, v: m.palette("walk", 0.0, affine=v),
    "affine of globals": lambda m, v: m.globals("walk", 0.0, affine=v),
    "affine with out": lambda m, v: m.palette(
        "walk", 0.0, np.zeros((len(m.skin), 4, 4), np.float32), affine=v
    ),
    "affine of poses": lambda m, v: m.pose().palette(affine=v),
    "affine of poses' locals": lambda m, v: m.pose().locals(affine=v),
    "affine of poses' globals": lambda m, v: m.pose().globals(affine=v),
    "affine of crowds": lambda m, v: m.crowd_palette(["walk"], [0], [0.0], affine=v),
    "affine of controllers": lambda m, v: skinpy.AnimationController(m).palette(affine=v),
}


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", ["no", 0, 1, 2.0, None, [], np.zeros(1, bool)])
def test_flags_are_true_or_false(model: Model, name: str, value: Any) -> None:
    if name == "join_vertices" and value is None:
        return  # the default: what the format suggests
    word = name.partition(" of ")[0]
    with pytest.raises(TypeError, match=f"^{word} is .*; expected True or False$"):
        FLAGS[name](model, value)


@pytest.mark.parametrize("name", FLAGS_OR_NONE)
def test_some_may_be_none(model: Model, name: str) -> None:
    for value in ("no", 0, 1, 2, [], np.zeros(1, bool)):
        with pytest.raises(TypeError, match=r"^affine is .*; expected True, False or None$"):
            FLAGS_OR_NONE[name](model, value)
    for value in (None, False, np.False_):
        assert FLAGS_OR_NONE[name](model, value).shape[-2:] == (4, 4)
    if "out" not in name:
        assert FLAGS_OR_NONE[name](model, np.True_).shape[-2:] == (3, 4)


def test_flags_of_numpy_are_flags(model: Model) -> None:
    replaced = model.add_clips(model.clips["walk"], replace=np.bool_(True))
    assert sorted(clip.name for clip in replaced.clips) == sorted(clip.name for clip in model.clips)
    for value in (True, False):
        wanted = model.palette("walk", 0.5, inverse_root=value)
        assert np.array_equal(model.palette("walk", 0.5, inverse_root=np.bool_(value)), wanted)
    assert model.deform(model.pose(), normals=np.False_)[1] is None


def test_so_is_that_of_ground_truth(tmp_path: Path) -> None:
    truth = drawing("render.GroundTruth")
    with pytest.raises(TypeError, match=r"^compressed is 'no'; expected True or False$"):
        truth.save(object.__new__(truth), tmp_path / "truth.npz", compressed="no")


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


# ---- what is something else altogether --------------------------------------------------------------

SHORT = np.zeros(64, np.uint8)
ROTATION = np.ones((3, 1, 4))
SOMETHING_ELSE: dict[str, tuple[Call, type[Exception], str]] = {
    "title": (lambda m, v: m.page("wave", title=3), TypeError, "title is 3; expected str or None"),
    "a number for a model": (
        lambda m, v: skinpy.match_joints(m, 3),  # type: ignore[arg-type]
        TypeError,
        "target is of type int; expected a Model",
    ),
    "None for a model": (
        lambda m, v: skinpy.match_joints(None, m),  # type: ignore[arg-type]
        TypeError,
        "source is of type NoneType; expected a Model",
    ),
    "a row for matrices": (
        lambda m, v: skinpy.to_row_vectors([1.0, 2.0]),
        ValueError,
        "matrices has shape (2,); expected (..., 4, 4) or (..., 3, 4)",
    ),
    "two rows of three": (
        lambda m, v: skinpy.to_row_vectors(np.zeros((2, 3))),
        ValueError,
        "matrices has shape (2, 3); expected (..., 4, 4) or (..., 3, 4)",
    ),
    "an array to check": (
        lambda m, v: skinpy.check(SHORT),  # type: ignore[arg-type]
        TypeError,
        "model_or_path is of type ndarray; expected a Model or a path",
    ),
    "one array for two": (
        lambda m, v: m.deform(m.palette("wave", 0), out=3),
        TypeError,
        "out is 3; expected a tuple (positions, normals) of two arrays",
    ),
    "a clip that is not there": (
        lambda m, v: m.clips.index("swim"),
        ValueError,
        "value is 'swim'; expected one of ['walk', 'run', 'wave']",
    ),
    "times that stand still": (
        lambda m, v: skinpy.Clip.from_arrays("", times=[0, 1, 1], joints=["a"], rotation=ROTATION),
        ValueError,
        "times[2] is 1 after 1; expected times that increase",
    ),
    "a quaternion of zeros": (
        lambda m, v: skinpy.Clip.from_arrays(
            "", fps=1, joints=["a"], rotation=ROTATION * [[[1]], [[0]], [[1]]]
        ),
        ValueError,
        "rotation[1, 0] is a quaternion of length 0; expected a length above 0",
    ),
    "a number that is none": (
        lambda m, v: skinpy.Clip.from_arrays(
            "", fps=1, joints=["a"], rotation=ROTATION * [[[1, 1, 1, np.nan]]]
        ),
        ValueError,
        "rotation holds a number that is not finite in float32: rotation[0, 0, 3] is nan",
    ),
    "no times": (
        lambda m, v: skinpy.Clip.from_arrays("", joints=["a"], rotation=ROTATION),
        ValueError,
        "expected exactly one of fps and times; neither came",
    ),
    "ragged matrices": (
        lambda m, v: skinpy.to_row_vectors([[1.0], [1.0, 2.0]]),
        ValueError,
        "matrices is ragged; expected an array of one shape",
    ),
    "None to deform": (
        lambda m, v: m.deform(None),
        TypeError,
        "pose_or_palette is None; expected a Pose, or",
    ),
    "a name to deform": (
        lambda m, v: m.deform("walk"),
        TypeError,
        "pose_or_palette is 'walk'; expected a Pose",
    ),
    "a model to deform": (lambda m, v: m.deform(m), TypeError, "pose_or_palette is <"),
    "an array without axes": (
        lambda m, v: skinpy.load(np.array(3)),
        TypeError,
        "path_or_bytes is array(3); expected a path or bytes",
    ),
    "days": (
        lambda m, v: skinpy.load(np.zeros(3, "M8[D]")),
        TypeError,
        "path_or_bytes is of type ndarray; expected a path or bytes",
    ),
    "every second byte": (
        lambda m, v: skinpy.load(SHORT[::2]),
        ValueError,
        "path_or_bytes is not C-contiguous; expected contiguous bytes",
    ),
    "a null character": (
        lambda m, v: skinpy.load("a\0b.glb"),
        ValueError,
        "path is 'a\\x00b.glb'; expected a path without null characters",
    ),
    "no bytes": (lambda m, v: skinpy.load(b""), skinpy.LoadError, "the model's bytes are empty"),
    "no rows": (
        lambda m, v: skinpy.load(np.zeros((0, 3))),
        skinpy.LoadError,
        "the model's bytes are empty",
    ),
}


@pytest.mark.parametrize("name", SOMETHING_ELSE)
def test_what_is_something_else_is_named(model: Model, name: str) -> None:
    call, error, words = SOMETHING_ELSE[name]
    with pytest.raises(error, match=f"^{re.escape(words)}"):
        call(model, None)


@pytest.mark.parametrize("isolate", [True, False])
def test_bytes_that_look_like_a_path(isolate: bool) -> None:
    hint = "; bytes are the contents of a file; to load the file of that name, call load("
    for name in ("nope.glb", "some folder/a file.3ds", "a.md5mesh"):
        with pytest.raises(skinpy.LoadError, match=re.escape(f"{hint}{name!r})")):
            skinpy.load(name.encode(), isolate=isolate)
    for other in (b"xx", b"1.5", b"v 0 0.25\nv 1 0.5\nf 1.a", bytes(2000) + b".glb", b"glTF" + bytes(20)):
        with pytest.raises(skinpy.LoadError) as caught:
            skinpy.load(other, isolate=isolate)
        assert hint not in str(caught.value)


def test_matrices_may_be_lists() -> None:
    matrix = [[1.0, 2.0, 3.0, 4.0]] * 3
    assert np.array_equal(skinpy.to_row_vectors(matrix), np.array(matrix).T)
    given = np.zeros((5, 3, 4), np.float32)
    assert np.shares_memory(skinpy.to_row_vectors(given), given)


def test_what_the_core_is_asked_for_by_hand() -> None:
    for influences in (0, 9, 2**31):
        with pytest.raises(ValueError, match=rf"^influences is {influences}; expected 1 to 8$"):
            skinpy._core.Block.pack({"VERTEX_SLOTS": b"12"}, influences)
    with pytest.raises(TypeError, match=r"^isolation is None; expected a tuple$"):
        skinpy._core._sandbox(None)  # type: ignore[arg-type]


# ---- names that are misspelled -----------------------------------------------------------------------


def test_attributes_that_there_are_not_cannot_be_set(model: Model) -> None:
    controller = skinpy.AnimationController(model)
    track, clip = controller.play("walk"), model.clips["walk"]
    for thing, name in (
        (model.pose(), "rotations"),
        (model.pose(), "root"),
        (controller, "speed"),
        (track, "spedd"),
        (track, "clip"),
        (clip, "foo"),
        (clip, "name"),
        (model, "clip"),
    ):
        with pytest.raises(AttributeError, match=name):
            setattr(thing, name, 1)


def test_subclasses_may_have_attributes_of_their_own(model: Model) -> None:
    class Named(skinpy.Pose):
        name: str

    class Counted(skinpy.AnimationController):
        steps = 0

    pose = model.pose("walk", 0.5)
    named = Named(model, pose.translation, pose.rotation, pose.scale, pose.morph_weights)
    named.name = "mid-step"
    assert np.array_equal(named.palette(), pose.palette())
    counted = Counted(model)
    counted.play("walk")
    counted.steps += 1
    counted.advance(0.5)
    assert counted.clone().steps == 1
    plain = skinpy.AnimationController(model)
    plain.play("walk", speed=2.0)
    plain.advance(0.5)
    assert np.array_equal(pickle.loads(pickle.dumps(plain)).palette(), plain.palette())
    assert np.array_equal(pickle.loads(pickle.dumps(pose)).palette(), pose.palette())


# ---- clips -----------------------------------------------------------------------------------------


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
        with pytest.raises(
            IndexError, match=rf"^clip is {number}; .* clips 0 to 2 \('walk', 'run', 'wave'\)$"
        ):
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
        (1, r"clip is 20; the model has clip 0 alone \('c0'\)"),
        (
            10,
            r"clip is 20; the model has clips 0 to 9 \('c0', 'c1', .*, 'c7' and 2 more\)",
        ),
    ):
        with pytest.raises(IndexError, match=words):
            still(count).pose(20)
    with pytest.raises(IndexError, match=r"^clip is 10+\.\.\.0+; the model has no clips"):
        still(0).pose(HUGE)
