"""Clips of other files find their joints: exactly, without prefix, without case, and never two for one."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import skinpy
from skinpy.clips.matching import without_prefix


def chain(names: Sequence[str]) -> skinpy.Model:
    """A chain of joints with one vertex."""
    rest = np.tile(np.eye(4), (len(names), 1, 1))
    return skinpy.Model.from_arrays(
        names, range(-1, len(names) - 1), rest, positions=[[0, 0, 0]], faces=[], joints=[[0]], weights=[[1]]
    )


def moving(names: Sequence[str]) -> skinpy.Clip:
    """Joint number n of `names` at x = n + 1."""
    keys = np.zeros((1, len(names), 3))
    keys[0, :, 0] = np.arange(len(names)) + 1
    return skinpy.Clip.from_arrays("move", fps=1, joints=names, translation=keys)


def found(model: Sequence[str], clip: Sequence[str]) -> list[str]:
    """For each joint of the model the name of the clip's joint that moves it, or ""."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        more = chain(model).add_clips(moving(clip))
    joints = [channel.joint for channel in more.clips[0].channels]
    assert len(joints) == len(set(joints))
    places = more.pose("move", 0.0).translation[:, 0].astype(int)
    return ["" if place == 0 else clip[place - 1] for place in places]


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", skinpy.SkinpyWarning)
        yield


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("Hips", "Hips"),
        ("mixamorig:Hips", "Hips"),
        ("mixamorig9:Hips", "Hips"),
        ("mixamorig_Hips", "Hips"),
        ("Armature|Hips", "Hips"),
        ("Armature_Hips", "Hips"),
        ("a:b:Hips", "Hips"),
        ("scene|a:b|Hips", "Hips"),
        ("Character1_Hips", "Hips"),
        ("character12_Hips", "Hips"),
        ("a:Character1_LeftArm", "LeftArm"),
        ("Left_Arm", "Left_Arm"),
        ("My_Character1_Hips", "My_Character1_Hips"),
        ("a:", ""),
        ("", ""),
    ],
)
def test_prefixes(name: str, bare: str) -> None:
    assert without_prefix(name) == bare


@pytest.mark.parametrize(
    ("model", "clip", "wanted"),
    [
        # prefixes on either side, and on both
        (["Hips", "Spine"], ["mixamorig:Spine", "mixamorig:Hips"], ["mixamorig:Hips", "mixamorig:Spine"]),
        (["a:b:Hips", "a:b:Spine"], ["Hips", "Spine"], ["Hips", "Spine"]),
        (["Armature|Hips"], ["Character1_Hips"], ["Character1_Hips"]),
        # case, alone and behind a prefix
        (["hips", "SPINE"], ["Hips", "spine"], ["Hips", "spine"]),
        (["hips"], ["ns:HIPS"], ["ns:HIPS"]),
        # the exact name goes before the others, wherever it stands
        (["Hips"], ["x:Hips", "Hips"], ["Hips"]),
        (["hips", "Hips"], ["Hips", "hips"], ["hips", "Hips"]),
        (["x:Hips", "Hips"], ["Hips"], ["", "Hips"]),
        # the prefix goes before the case
        (["Hips", "HIPS"], ["x:HIPS"], ["", "x:HIPS"]),
        (["Hips"], ["x:Hips", "hips"], ["x:Hips"]),
        # unclear: nothing, on either side
        (["x:Hips", "y:Hips", "Root"], ["Hips", "Root"], ["", "", "Root"]),
        (["Hips", "Root"], ["x:Hips", "y:Hips", "Root"], ["", "Root"]),
        (["hips", "HIPS", "Root"], ["Hips", "Root"], ["", "", "Root"]),
        # equal names: the first counts, unless the skeletons are the same
        (["a", "b", "a"], ["a", "b"], ["a", "b", ""]),
        (["a", "b"], ["a", "a", "b"], ["a", "b"]),
        # a name of prefix alone is none
        (["b", "c:"], ["a:", "b"], ["b", ""]),
    ],
)
def test_what_finds_what(model: list[str], clip: list[str], wanted: list[str]) -> None:
    assert found(model, clip) == wanted


def test_joints_of_equal_names_in_one_skeleton_keep_their_places() -> None:
    model = chain(list("aba")).add_clips(moving(list("aba")))
    np.testing.assert_array_equal(model.pose("move").translation[:, 0], [1, 2, 3])


def test_the_report() -> None:
    with pytest.warns(skinpy.SkinpyWarning, match="'x:Tail'") as caught:
        model = chain(["Hips", "Spine", "head"]).add_clips(moving(["x:Hips", "Spine", "x:Head", "x:Tail"]))
    assert len(caught) == 1 and "Hips" not in str(caught[0].message)
    dropped, matched = model.report
    assert (dropped.code, dropped.count, dropped.first) == ("channels_dropped", 1, "'x:Tail'")
    assert (matched.code, matched.severity, matched.count) == ("joints_matched", "repaired", 2)
    assert matched.first == "'x:Hips' is 'Hips'"


def test_without_a_loss_nothing_is_said() -> None:
    model = chain(["Hips"]).add_clips([moving(["x:Hips"]), moving(["x:Hips"])])
    assert [(one.code, one.count) for one in model.report] == [("joints_matched", 1)] * 2
    assert not len(chain(["Hips"]).add_clips(moving(["Hips"])).report)


def test_nothing_found_at_all() -> None:
    with pytest.raises(ValueError, match="no joint of clip 'move' is in the model"):
        chain(["Hips"]).add_clips(moving(["Tail"]))


def test_a_file_of_another_tool(tmp_path: Path) -> None:
    """The character's own walk under the names of another exporter moves it as before."""
    model = skinpy.character()
    walk = model.clips["walk"]
    others = skinpy.Model.from_arrays(
        [f"mixamorig:{name.upper()}" for name in model.skeleton.names],
        model.skeleton.parents,
        model.skeleton.rest_local,
        positions=[[0, 0, 0]],
        faces=[],
        joints=[[0]],
        weights=[[1]],
    )
    loose = skinpy.Clip(walk._block, walk._index, others, "walk")  # by number: both have the same joints
    holder = skinpy.Model(others._block, [("walk", loose._block, loose._index)])
    holder.save(tmp_path / "stroll.skn")
    more = model.add_clips(tmp_path / "stroll.skn")
    assert more.clips.names[-1] == "stroll|walk"
    np.testing.assert_array_equal(more.palette("stroll|walk", 0.4), model.palette("walk", 0.4))
    (entry,) = more.report
    assert entry.code == "joints_matched" and entry.count == len({one.joint for one in walk.channels})
