"""BVH, after Meredith and Maddock, "Motion Capture File Formats Explained" (2001)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import Case

TITLE = "Biovision"
ROTATIONS = "Zrotation Xrotation Yrotation"


def text(
    channels: str = f"Xposition Yposition Zposition {ROTATIONS}",
    rows: Sequence[str] = ("0 0 0 0 0 0 0 0 0", "1 2 3 0 0 90 0 0 90"),
    *,
    frames: str = "2",
    time: str = "1",
    name: str = "hand",
) -> bytes:
    """A hip at (5, 6, 7), and a joint 2 above it with an end site 1 above that."""
    count = len(channels.split())
    lines = ["HIERARCHY", "ROOT hip", "{", "OFFSET 5 6 7", f"CHANNELS {count} {channels}"]
    lines += [f"JOINT {name}", "{", "OFFSET 0 2 0", f"CHANNELS 3 {ROTATIONS}"]
    lines += ["End Site", "{", "OFFSET 0 1 0", "}", "}", "}"]
    lines += ["MOTION", f"Frames: {frames}", f"Frame Time: {time}", *rows, ""]
    return "\n".join(lines).encode()


def one(content: bytes, *codes: str, played: Any = None) -> Case:
    return Case({"a.bvh": content}, played, codes)


def hip_at(*place: float, time: float = 1.0) -> Any:
    """Where the hip is at a time."""

    def check(model: Any) -> None:
        assert np.allclose(model.globals(0, time)[0, :3, 3], place, atol=1e-6)

    return check


def turns(model: Any) -> None:
    """By 90 degrees about y, in two joints; half of it at half time."""
    for time, degrees in ((1.0, 90), (0.5, 45)):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        got = model.globals(0, time)
        assert np.allclose(got[0, :3, :3], [[c, 0, s], [0, 1, 0], [-s, 0, c]], atol=1e-6)
        assert np.allclose(got[1, :3, :3] @ (1, 0, 0), (c * c - s * s, 0, -2 * s * c), atol=1e-6)


def turns_four_times(model: Any) -> None:
    """X, Y, X and Z by 90 degrees each: the matrices multiplied in this order."""
    x = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    y = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    z = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert np.allclose(model.globals(0, 1.0)[0, :3, :3], x @ y @ x @ z, atol=1e-6)


def is_scaled(model: Any) -> None:
    assert np.allclose(np.diag(model.globals(0, 1.0)[0])[:3], (1, 3, 1), atol=1e-6)


def has_names(*names: str) -> Any:
    def check(model: Any) -> None:
        assert model.skeleton.names == names

    return check


def both_turn(model: Any) -> None:
    turns(model)
    assert model.skeleton.names[:2] == ("hip", "hip")


SECOND_ROOT = b"ROOT tail\n{\nOFFSET 0 0 1\nCHANNELS 1 Xposition\n}\nMOTION"
LAX = (
    text()
    .replace(b"HIERARCHY", b"# by hand\n\nhierarchy")
    .replace(b"ROOT", b"Root")
    .replace(b"\n{", b" { // open")
)

CASES = {
    "positions, which replace `OFFSET`": lambda: one(text(), played=hip_at(1, 2, 3)),
    "positions along some axes": lambda: one(
        text("Zposition Yrotation", ("0 0 0 0 0", "3 0 0 0 0")), played=hip_at(5, 6, 3)
    ),
    "rotations, in their order": lambda: one(text(), played=turns),
    "more than three rotations of a joint": lambda: one(
        text("Xrotation Yrotation Xrotation Zrotation", ("0 0 0 0 0 0 0", "90 90 90 90 0 0 0")),
        played=turns_four_times,
    ),
    "scale (`Xscale`, an extension)": lambda: one(text("Yscale", ("1 0 0 0", "3 0 0 0")), played=is_scaled),
    "end sites": lambda: one(text(), played=has_names("hip", "hand", "EndSite_hand")),
    "names of several words": lambda: one(
        text(name="left  hand"), played=has_names("hip", "left hand", "EndSite_left hand")
    ),
    "joints of one name": lambda: one(text(name="hip"), "duplicate_names", played=both_turn),
    "several roots": lambda: one(
        text(rows=("0 0 0 0 0 0 0 0 0 4",))
        .replace(b"MOTION", SECOND_ROOT)
        .replace(b"Frames: 2", b"Frames: 1"),
        played=has_names("ROOT", "hip", "hand", "EndSite_hand", "tail"),
    ),
    "capital and small letters, comments, empty lines": lambda: one(LAX, played=turns),
    "another number of frames than `Frames:` says": lambda: one(
        text(frames="7"), "frame_count_repaired", played=turns
    ),
    "frames over several lines": lambda: one(
        text(rows=("0 0 0 0 0 0", "0 0 0", "1 2 3 0 0 90", "0 0 90")), played=turns
    ),
    "frames with too few numbers": lambda: one(
        text(rows=("0 0 0 0 0 0 0 0 0", "1 2 3")), "numbers_repaired", played=hip_at(1, 2, 3)
    ),
    "frames with too many numbers": lambda: one(
        text(rows=("0 0 0 0 0 0 0 0 0", "1 2 3 0 0 90 0 0 90 17")), "channels_dropped", played=turns
    ),
    "a second motion": lambda: one(text() + b"MOTION\nFrames: 0\nFrame Time: 0.1\n", "channels_dropped"),
    "numbers that are not finite": lambda: one(
        text(rows=("0 0 0 0 0 0 0 0 0", "nan 2 3 0 0 90 0 0 90")), "numbers_repaired", played=turns
    ),
    "no frame time, such as 0": lambda: one(
        text(time="0"), "ticks_per_second_assumed", played=hip_at(1, 2, 3, time=0.04)
    ),
    "channels of another name": lambda: Case(
        {"a.bvh": text("Wposition", ())}, refused="where a channel, such as Xrotation, is expected"
    ),
}
