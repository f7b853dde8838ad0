"""BVH files as programs write them, against a NumPy twin that reads the same joints and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
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


def test_positions_of_more_than_three_rotations_are_said() -> None:
    skeleton = joints("Xposition Yposition Zposition Zrotation Xrotation Yrotation Zrotation")
    rows = motion(skeleton)
    model = load(text(skeleton, rows).encode(), "bvh")
    note = entry(model, "channels_dropped")
    assert (note.severity, note.count) == ("lost", 1) and "'hip', which has 7 channels" in note.first
    rows[:, :3] = skeleton[0].offset
    check(model, skeleton, rows)


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


def test_what_is_written_counts_against_the_limit(tmp_path: Path) -> None:
    """A row of "1" becomes one of six numbers."""
    skeleton = [Joint("a", -1, (1.25, 1.25, 1.25), ["Xposition"])]
    path = tmp_path / "grows.bvh"
    path.write_text(text(skeleton, np.ones((10_000, 1), int)))
    size = path.stat().st_size
    assert skinpy.load(path).clips[0].duration == pytest.approx(FRAME_TIME * 9_999)
    with pytest.raises(skinpy.LimitExceeded, match=r"the limit of file_bytes is"):
        skinpy.load(path, limits=skinpy.Limits(file_bytes=2 * size))


BROKEN = {
    "no frames": lambda file: file[: file.index("Frame Time")],
    "half a frame": lambda file: file[: len(file) - 20],
    "no brace": lambda file: file.replace("{", "", 1),
    "a name over two lines": lambda file: file.replace("JOINT knee", "JOINT left\nknee"),
    "an unknown channel": lambda file: file.replace("Yposition", "Wposition"),
    "more channels than there are": lambda file: file.replace("CHANNELS 1", "CHANNELS 9999999"),
    "a word for a number": lambda file: file.replace("CHANNELS 1", "CHANNELS one"),
    "a joint in an end site": lambda file: file.replace("OFFSET 0 1 0", "JOINT x { }"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_broken_is_refused_in_assimps_words(kind: str) -> None:
    skeleton = joints("Yposition")
    with pytest.raises(skinpy.LoadError, match=r"Expected|Unexpected|Unknown|Invalid|Cannot parse"):
        load(BROKEN[kind](text(skeleton, motion(skeleton))).encode(), "bvh")
