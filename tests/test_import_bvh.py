"""BVH files as programs write them, against a NumPy twin that reads the same joints and numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from import_cases import bvh
from test_import import codes, entry, load

import skinpy

EXACT = 1e-5  # of places up to 20: half a unit in the last place of float32, over a chain of three
FRAME_TIME = 0.25
ROTATIONS = "Zrotation Xrotation Yrotation"


@dataclass
class Joint:
    name: str
    parent: int
    offset: tuple[float, float, float]
    channels: Sequence[str]


def joints(root: str, knee: str = ROTATIONS, *, names: Sequence[str] = ("hip", "knee", "toe")) -> list[Joint]:
    """A chain of three."""
    return [
        Joint(names[0], -1, (1.5, -2.0, 0.25), root.split()),
        Joint(names[1], 0, (0.5, 1.0, -3.0), knee.split()),
        Joint(names[2], 1, (0.0, 2.0, 0.125), ROTATIONS.split()),
    ]


def motion(skeleton: Sequence[Joint], frames: int = 4) -> Any:
    """A row of numbers for each frame: positions up to 5, degrees up to 60, with two decimals."""
    width = sum(len(joint.channels) for joint in skeleton)
    rng = np.random.default_rng(3)
    kinds = np.array([name.endswith("rotation") for joint in skeleton for name in joint.channels])
    return np.round(rng.uniform(-1, 1, (frames, width)) * np.where(kinds, 60, 5), 2)


def text(skeleton: Sequence[Joint], rows: Any) -> str:
    """Chains, one behind the other; each but the last ends without an end site."""
    lines, depth = ["HIERARCHY"], 0
    for joint in skeleton:
        if joint.parent < 0:
            lines, depth = [*lines, *["}"] * depth], 0
        lines += [f"{'ROOT' if joint.parent < 0 else 'JOINT'} {joint.name}", "{"]
        lines += ["OFFSET " + " ".join(map(str, joint.offset))]
        lines += [f"CHANNELS {len(joint.channels)} " + " ".join(joint.channels)]
        depth += 1
    lines += ["End Site", "{", "OFFSET 0 1 0", "}", *["}"] * depth]
    lines += ["MOTION", f"Frames: {len(rows)}", f"Frame Time: {FRAME_TIME}"]
    return "\n".join([*lines, *(" ".join(map(str, row)) for row in rows), ""])


def rotation(axis: str, degrees: float) -> Any:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    first, second = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[axis]
    out = np.eye(4)
    out[first, first] = out[second, second] = c
    out[first, second], out[second, first] = -s, s
    return out


def truth(skeleton: Sequence[Joint], row: Any) -> Any:
    """Where the joints are: a position stands in place of the offset, rotations follow in their order."""
    out: list[Any] = []
    numbers = iter(row)
    for joint in skeleton:
        place, turn = np.array(joint.offset, np.float64), np.eye(4)
        for channel in joint.channels:
            value = next(numbers)
            if channel.endswith("position"):
                place["XYZ".index(channel[0])] = value
            else:
                turn = turn @ rotation(channel[0], value)
        turn[:3, 3] = place
        out.append(turn if joint.parent < 0 else out[joint.parent] @ turn)
    return np.array(out)


def check(model: Any, skeleton: Sequence[Joint], rows: Any) -> None:
    """Each joint at each frame; keys lie exactly on the frames."""
    assert len(model.clips) == 1 and model.clips[0].duration == pytest.approx(FRAME_TIME * (len(rows) - 1))
    where = [model.skeleton.index(joint.name) for joint in skeleton]
    for frame in sorted({0, 1, len(rows) // 2, len(rows) - 1}):
        got = model.globals(0, frame * FRAME_TIME)[where]
        assert np.allclose(got, truth(skeleton, rows[frame]), rtol=0, atol=EXACT)


CHANNELS = {
    "six": "Xposition Yposition Zposition Zrotation Xrotation Yrotation",
    "rotations first": "Zrotation Xrotation Yrotation Xposition Yposition Zposition",
    "positions alone": "Xposition Yposition Zposition",
    "another order": "Zposition Xposition Yposition",
    "one position": "Yposition Zrotation Xrotation Yrotation",
    "two positions": "Zposition Xposition Yrotation Xrotation Zrotation",
    "one of each": "Xrotation Zposition",
    "two rotations": "Xposition Yposition Zposition Yrotation Zrotation",
    "mixed": "Xposition Xrotation Yposition Yrotation",
}


@pytest.mark.parametrize("where", ["root", "joint"])
@pytest.mark.parametrize("kind", CHANNELS)
def test_positions_come_with_any_number_of_channels(kind: str, where: str) -> None:
    skeleton = joints(CHANNELS[kind]) if where == "root" else joints(ROTATIONS, CHANNELS[kind])
    rows = motion(skeleton)
    model = load(text(skeleton, rows).encode(), "bvh")
    check(model, skeleton, rows)
    assert model.skeleton.names == ("hip", "knee", "toe", "EndSite_toe")
    assert not model.report


def test_a_joint_without_an_offset_stays_at_its_parent() -> None:
    skeleton = joints("Xposition")
    rows = motion(skeleton)
    file = text(skeleton, rows).replace("OFFSET 1.5 -2.0 0.25\n", "")
    skeleton[0].offset = (0, 0, 0)
    check(load(file.encode(), "bvh"), skeleton, rows)


MORE = {
    "seven": "Xposition Yposition Zposition Zrotation Xrotation Yrotation Zrotation",
    "five rotations": "Yrotation Zposition Xrotation Yrotation Xrotation Zrotation",
    "four rotations, no position": "Xrotation Yrotation Xrotation Zrotation",
    "none": "",
}


@pytest.mark.parametrize("where", ["root", "joint"])
@pytest.mark.parametrize("kind", MORE)
def test_any_number_of_rotations_is_multiplied_in_order(kind: str, where: str) -> None:
    skeleton = joints(MORE[kind]) if where == "root" else joints(ROTATIONS, MORE[kind])
    rows = motion(skeleton)
    model = load(text(skeleton, rows).encode(), "bvh")
    check(model, skeleton, rows)
    assert not model.report


def test_scale_is_played() -> None:
    skeleton = joints("Zrotation Xscale Yscale", "Zscale")
    rows = motion(skeleton)
    model = load(text(skeleton, rows).encode(), "bvh")
    scales = {channel.joint: channel.values for channel in model.clips[0].channels if channel.path == "scale"}
    assert np.allclose(scales[0], np.column_stack([rows[:, 1:3], np.ones(4)]), rtol=0, atol=EXACT)
    assert np.allclose(scales[1], np.column_stack([np.ones((4, 2)), rows[:, 3]]), rtol=0, atol=EXACT)


def test_a_clip_has_the_channels_of_the_file_alone() -> None:
    """An OFFSET is the skeleton's: a clip that moves another skeleton leaves that one its lengths."""
    model = load(bvh(), "bvh")
    assert [(channel.joint, channel.path) for channel in model.clips[0].channels] == [
        (0, "translation"),
        (0, "rotation"),
        (1, "rotation"),
    ]


def test_values_belong_to_joints_by_order() -> None:
    skeleton = joints(CHANNELS["six"], names=("leg", "leg", "leg"))
    rows = motion(skeleton)
    model = load(text(skeleton, rows).encode(), "bvh")
    assert codes(model) == {"duplicate_names"} and entry(model, "duplicate_names").severity == "repaired"
    for frame in range(4):
        got = model.globals(0, frame * FRAME_TIME)[:3]
        assert np.allclose(got, truth(skeleton, rows[frame]), rtol=0, atol=EXACT)


def test_names_of_several_words() -> None:
    skeleton = joints(CHANNELS["six"], names=("the hip", "left  knee", "toe\tof it"))
    rows = motion(skeleton)
    model = load(text(skeleton, rows).encode(), "bvh")
    names = ("the hip", "left knee", "toe of it")
    for joint, name in zip(skeleton, names, strict=True):
        joint.name = name
    assert model.skeleton.names == (*names, "EndSite_toe of it")
    check(model, skeleton, rows)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("HIERARCHY", "\ufeffHIERARCHY"),
        ("Frames: ", "Frames:"),
        ("Frame Time: ", "Frame Time:"),
        ("\n", "\r\n"),
        ("\n", "  \n\t"),
        ("\n", "\r"),
        ("HIERARCHY", "# by hand\n\n// HIERARCHY\n HIERARCHY"),
        ("\n", "\n\n"),
        ("HIERARCHY", "hierarchy"),
        ("ROOT", "Root"),
        ("JOINT", "joint"),
        ("End Site", "END SITE"),
        ("CHANNELS", "Channels"),
        ("position", "POSITION"),
        ("rotation", "Rotation"),
        ("MOTION", "Motion"),
        ("Frames: ", "FRAMES : "),
        ("Frame Time: ", "frame\ttime:\t"),
        ("\nROOT", "\n# by hand\n  // twice\nROOT"),
        ("MOTION", "MOTION // of a take"),
        ("\n{", " {"),
        ("\n{", "{"),
        ("JOINT toe", "JOINT toe // the last"),
        ("End Site\n{\nOFFSET 0 1 0\n}", "End Site\n{\nOFFSET 0 1 0\nCHANNELS 0\n}"),
    ],
)
@pytest.mark.parametrize("kind", ["six", "one position"])
def test_ways_to_write_the_same(old: str, new: str, kind: str) -> None:
    skeleton = joints(CHANNELS[kind])
    rows = motion(skeleton)
    model = load(text(skeleton, rows).replace(old, new).encode(), "bvh")
    check(model, skeleton, rows)
    assert not model.report


@pytest.mark.parametrize("names", [("hip", "tail"), ("ROOT", "ROOT__")])
def test_several_roots_get_one_above_them(names: tuple[str, str]) -> None:
    skeleton = [
        *joints("Yposition", names=(names[0], "a", "b")),
        *joints(CHANNELS["six"], names=(names[1], "c", "d")),
    ]
    skeleton[4].parent, skeleton[5].parent = 3, 4
    rows = motion(skeleton)
    file = text(skeleton, rows)
    model = load(file.encode(), "bvh")
    above = "ROOT" if names[0] == "hip" else "ROOT___"
    assert model.skeleton.names[0] == above and model.skeleton.parents.tolist()[:2] == [-1, 0]
    assert [model.skeleton.parents[model.skeleton.index(name)] for name in names] == [0, 0]
    assert "duplicate_names" not in codes(model)
    check(model, skeleton, rows)


def test_a_large_file_of_which_the_head_is_read_first(tmp_path: Path) -> None:
    """More than 1 MiB: what is to be done is seen in its first 64 KiB, or its hierarchy is longer."""
    skeleton = joints("Xposition Yposition Zposition")
    rows = motion(skeleton, 40_000)
    path = tmp_path / "large.bvh"
    path.write_text(text(skeleton, rows))
    assert path.stat().st_size > 1 << 20
    for isolate in (True, False):
        check(skinpy.load(path, isolate=isolate), skeleton, rows)
    path.write_text(text(skeleton, rows).replace("CHANNELS", "\n" * 100_000 + "CHANNELS"))
    check(skinpy.load(path), skeleton, rows)


def numbers(row: Any) -> str:
    return " ".join(map(str, row))


@pytest.mark.parametrize("stated", ["2", "7", "400000000", "-1", "0", "nan"])
def test_another_number_of_frames_than_stated(stated: str) -> None:
    skeleton = joints(CHANNELS["six"])
    rows = motion(skeleton)
    model = load(text(skeleton, rows).replace("Frames: 4", f"Frames: {stated}").encode(), "bvh")
    check(model, skeleton, rows)
    note = entry(model, "frame_count_repaired")
    assert note.severity == "repaired" and "4" in note.first.split("there are ")[1]
    assert codes(model) == {"frame_count_repaired"}


def test_a_frame_over_several_lines_and_several_in_one() -> None:
    skeleton = joints(CHANNELS["six"])
    rows = motion(skeleton)
    whole = text(skeleton, rows)
    head = whole[: whole.index(numbers(rows[0]))]
    for body in (
        "".join(f"{numbers(row[:5])}\n{numbers(row[5:])}\n\n" for row in rows),
        "\n".join(map(str, rows.ravel())),
        numbers(rows.ravel()),
        f"{numbers(rows[:3].ravel())}\n{numbers(rows[3, :2])}\n{numbers(rows[3, 2:])}",
    ):
        model = load((head + body).encode(), "bvh")
        check(model, skeleton, rows)
        assert not model.report


@pytest.mark.parametrize("frame", [0, 1, 3])
def test_frames_with_too_few_numbers_have_keys_for_those_that_they_have(frame: int) -> None:
    skeleton = joints(CHANNELS["six"])
    rows = motion(skeleton)
    file = text(skeleton, rows).replace(numbers(rows[frame]), numbers(rows[frame, :9]))
    model = load(file.encode(), "bvh")
    note = entry(model, "numbers_repaired")
    assert note.first == f"frame {frame} has 9 of 12 numbers" and codes(model) == {"numbers_repaired"}
    got = model.globals(0, frame * FRAME_TIME)
    assert np.allclose(got[:2], truth(skeleton, rows[frame])[:2], rtol=0, atol=EXACT)
    for other in set(range(4)) - {frame}:
        got = model.globals(0, other * FRAME_TIME)[:3]
        assert np.allclose(got, truth(skeleton, rows[other]), rtol=0, atol=EXACT)


def test_numbers_of_no_channel_are_lost() -> None:
    skeleton = joints(CHANNELS["six"])
    rows = motion(skeleton)
    file = text(skeleton, rows).replace(numbers(rows[2]), numbers(rows[2]) + " 17.5 3")
    model = load(file.encode(), "bvh")
    check(model, skeleton, rows)
    note = entry(model, "channels_dropped")
    assert (note.severity, note.count, note.first) == ("lost", 2, "frame 2 has 14 numbers for 12 channels")


@pytest.mark.parametrize("word", ["nan", "-NaN", "inf", "-nan(ind)", "1.#QNAN", "-1.#IND00"])
def test_numbers_that_are_not_finite_make_no_keys(word: str) -> None:
    skeleton = joints(CHANNELS["six"])
    rows = motion(skeleton)
    line = [word, *numbers(rows[1, 1:]).split()]
    model = load(text(skeleton, rows).replace(numbers(rows[1]), numbers(line)).encode(), "bvh")
    assert codes(model) == {"numbers_repaired"}
    between = rows[1].copy()
    between[:3] = (rows[0, :3] + rows[2, :3]) / 2
    got = model.globals(0, FRAME_TIME)[:3]
    assert np.allclose(got, truth(skeleton, between), rtol=0, atol=EXACT)


def test_ways_to_write_numbers() -> None:
    skeleton = joints(CHANNELS["six"])
    rows = np.array(
        [[1e-5, 1, 1, -1, 0.5, -0.25, 1.5, 12345.678901234567, 0, 1e2, 123456789012345678, 3.5]] * 2
    )
    words = "1e-5 +1 1. -1.0 .5 -.25 1,5 12345.678901234567 0 1.E+2 123456789012345678 0.0350e+02"
    file = text(skeleton, rows).replace(numbers(rows[0]), words)
    model = load(file.encode(), "bvh")
    got = {(one.joint, one.path): one.values[0] for one in model.clips[0].channels}
    assert np.allclose(got[0, "translation"], rows[0, :3], rtol=1e-7, atol=0)
    check(model, skeleton, rows)


def test_what_follows_the_stated_frames_is_no_motion() -> None:
    skeleton = joints(CHANNELS["six"])
    rows = motion(skeleton)
    model = load((text(skeleton, rows) + "END of the take\n1 2 3\n").encode(), "bvh")
    check(model, skeleton, rows)
    assert not model.report


def test_a_skeleton_alone() -> None:
    skeleton = joints(CHANNELS["six"])
    file = text(skeleton, motion(skeleton))
    model = load(file[: file.index("MOTION")].encode(), "bvh")
    assert model.skeleton.names == ("hip", "knee", "toe", "EndSite_toe") and not model.clips
    assert not model.report


def test_thousands_of_joints_and_frames_of_none() -> None:
    skeleton = [Joint(f"joint {i}", i - 1, (0, 1, 0), ROTATIONS.split()) for i in range(3000)]
    model = load(text(skeleton, motion(skeleton, 2) * 0).encode(), "bvh")
    assert len(model.skeleton) == 3001 and len(model.clips[0].channels) == 3000
    assert model.globals(0, 0.0)[3000, 1, 3] == 3001  # the end site
    still = [Joint("hip", -1, (1, 2, 3), [])]
    assert not load(text(still, np.zeros((4, 0))).encode(), "bvh").clips[0].channels


BROKEN: dict[str, tuple[Callable[[str], str], str]] = {
    "no frames": (
        lambda file: file[: file.index("Frame Time")],
        r"the file ends in line \d+, where Frame Time:",
    ),
    "no brace": (lambda file: file.replace("{", "", 1), r"line 4: there is 'OFFSET' where '{' is expected"),
    "a name over two lines": (
        lambda file: file.replace("JOINT knee", "JOINT left\nknee"),
        r"line 7: there is 'knee' where '{'",
    ),
    "an unknown channel": (
        lambda file: file.replace("Yposition", "Wposition"),
        r"line 5: there is 'Wposition' where a channel, such as Xrotation, is expected",
    ),
    "more channels than there are": (
        lambda file: file.replace("CHANNELS 1", "CHANNELS 9999999"),
        r"line 6: there is 'JOINT' where a channel",
    ),
    "a word for a number": (
        lambda file: file.replace("CHANNELS 1", "CHANNELS one"),
        r"line 5: there is 'one' where the number of channels",
    ),
    "a word in a frame": (
        lambda file: file.replace("Frame Time: 0.25\n", "Frame Time: 0.25\nfirst "),
        r"line 2\d: there is 'first' where a number is expected",
    ),
    "channels behind the children": (
        lambda file: file.replace("End Site", "JOINT x { } CHANNELS 0 End Site"),
        r"one list of channels in front of a joint's children",
    ),
    "no joint": (lambda _: "HIERARCHY\nMOTION\n", "line 2: there is 'MOTION' where ROOT"),
    "an open joint": (lambda file: file[: file.index("JOINT")], "the file ends in line 6"),
    "control characters": (
        lambda file: file.replace("JOINT knee", "\x1b[31mJOINT" + "\x7f" * 300),
        r"line 6: there is '\[31mJOINT\?{51}\.\.\.' where",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_broken_is_refused_with_its_line(kind: str) -> None:
    skeleton = joints("Yposition")
    edit, words = BROKEN[kind]
    with pytest.raises(skinpy.LoadError, match=words):
        load(edit(text(skeleton, motion(skeleton))).encode(), "bvh")


def test_half_a_file_loads_what_is_there() -> None:
    """Cut within its frames, a file has those that are whole; else the error says where it ends."""
    skeleton = joints("Yposition")
    rows = motion(skeleton)
    file = text(skeleton, rows)
    for size in range(0, len(file), 7):
        try:
            model = load(file[:size].encode() or b" ", "bvh")
        except skinpy.LoadError:
            assert size < file.index("Frame Time") + 20
            continue
        assert np.isfinite(model.skeleton.rest_global).all()
        if size > file.index("Frame Time") + 20 and model.clips[0].channels:
            got = model.globals(0, 0.0)[0]
            assert codes(model) & {"frame_count_repaired", "numbers_repaired"} or size > len(file) - 20
            assert np.isfinite(got).all()
