"""Writing a clip as BVH: offsets of joints, and for each frame positions and Euler angles.

The format has no standard; this follows M. Meredith and S. Maddock, "Motion Capture File Formats Explained"
(2001), and what mocap tools write. A joint's rotation is Rz * Rx * Ry, in degrees. Position channels replace
the OFFSET of a joint. Some readers, such as that of three.js, add them to it instead: so the OFFSET of what
carries the figure, a root or the hips below one that stands still, is 0, as in much of the mocap data.
"""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._arguments import path_of
from .._progress import working
from .._text import quoted_list, unicode_text
from .._types import Array, PathLike
from ..clip import Clip
from ..errors import SkinpyWarning
from ..posing.kinematics import joint_number
from .bvh_motion import BvhMotion
from .frames import frame_rate, posed_model, warn_left_out, whole_frames
from .whole import replacing

if TYPE_CHECKING:
    from ..model import Model
    from ..posing.kinematics import JointLike

_POSITIONS, _ROTATIONS = "Xposition Yposition Zposition", "Zrotation Xrotation Yrotation"
_UNWRITABLE = re.compile(r"([\s{}\x00-\x1f\x7f]|//)+")  #: a name ends at these: blanks, braces, comments
_DIGITS = 8  # of positions, counted from the first one of the figure's size
_ANGLE_DECIMALS = 6
_MAX_INDENT = 64  # of deep chains, whose blanks would take more than all else
_LINES = 1024  # of motion, written at once
_END = "EndSite_"  # what `load` puts before the name of the joint that an end site belongs to


def save_bvh(
    path: PathLike, clip: Clip, fps: float | None, joint: "JointLike | None", drawing: Mapping[str, object]
) -> Path:
    """Write a clip; see `Clip.save`, whose arguments for pictures are `drawing`: all must be None."""
    target, model = Path(path_of("path", path)), posed_model(clip)
    for name, value in drawing.items():
        if value is not None:
            raise ValueError(f"{name} is for pictures, films and pages, but .bvh is motion; expected none")
    top = None if joint is None else joint_number(model.pose(), joint)
    rate = frame_rate(clip, fps)
    times = whole_frames(clip, rate)
    with working(f"writing {target.name}"):
        motion = BvhMotion(model, clip, times, top)
        hierarchy = _Hierarchy(model, motion)
        lost = {
            "scales of joints": motion.scaled,
            "weights of morph targets": [one.name for one in clip.channels if one.path == "weights"],
            "visibility and materials": [one.path for one in clip._look_channels],
            "events": [event.name for event in clip.events],
        }
        warn_left_out(clip, "BVH has only translations and rotations", lost)
        with replacing(target) as file:
            file.write(hierarchy.text().encode())
            file.write(f"MOTION\nFrames: {len(times)}\nFrame Time: {1 / rate:.12g}\n".encode())
            for lines in hierarchy.lines():
                file.write(lines.encode())
    return target


class _Hierarchy:
    """The joints of a file: their names, which of them are end sites, and the channels of the others."""

    def __init__(self, model: "Model", motion: BvhMotion) -> None:
        self.motion = motion
        self.parents = motion.parents.tolist()
        self.children: list[list[int]] = [[] for _ in self.parents]
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                self.children[parent].append(joint)
        names, kept = model.skeleton.names, np.flatnonzero(motion.kept).tolist()
        self.roots = [joint for joint in kept if self.parents[joint] < 0]
        self.ends = {joint for joint in kept if self._is_end(names, joint)}
        self.names = _written_names({joint: names[joint] for joint in kept if joint not in self.ends})
        self.decimals = max(_ANGLE_DECIMALS, _DIGITS - floor(log10(motion.size or 1.0)))
        self.order: list[int] = []  # of the joints with channels, as the file lists them

    def _is_end(self, names: Sequence[str], joint: int) -> bool:
        """Whether `load` has made the joint of an end site: it is written as one again."""
        parent = self.parents[joint]
        named = parent >= 0 and names[joint] == _END + names[parent]
        return named and not self.children[joint] and not self.motion.moves[joint]

    def text(self) -> str:
        """The section HIERARCHY; it sets `order`."""
        self.order = []
        lines = ["HIERARCHY"]
        waiting = [(joint, 0) for joint in reversed(self.roots)]
        depth = 0
        while waiting:  # without recursion, as chains may be thousands of joints deep
            joint, level = waiting.pop()
            lines += [_indent(deeper) + "}" for deeper in range(depth - 1, level - 1, -1)]
            lines += self._opened(joint, _indent(level))
            depth = level + 1
            if joint not in self.ends:
                waiting += [(child, depth) for child in reversed(self.children[joint])]
        lines += [_indent(deeper) + "}" for deeper in range(depth - 1, -1, -1)]
        return "\n".join(lines) + "\n"

    def _opened(self, joint: int, indent: str) -> list[str]:
        """The lines of a joint up to its children; a joint without children gets an end site of length 0."""
        offset = "OFFSET " + self._numbers_of(self.motion.offsets[joint])
        if joint in self.ends:
            return [f"{indent}End Site", f"{indent}{{", f"{indent}\t{offset}"]
        self.order.append(joint)
        channels = f"6 {_POSITIONS} {_ROTATIONS}" if self.motion.travels[joint] else f"3 {_ROTATIONS}"
        kind = "ROOT" if self.parents[joint] < 0 else "JOINT"
        lines = [f"{kind} {self.names[joint]}", "{", f"\t{offset}", f"\tCHANNELS {channels}"]
        if not self.children[joint]:
            lines += ["\tEnd Site", "\t{", "\t\tOFFSET 0.0 0.0 0.0", "\t}"]
        return [indent + line for line in lines]

    def lines(self) -> Iterator[str]:
        """The frames, some lines at once."""
        template = []
        for joint in self.order:
            template += [f"%.{self.decimals}f"] * (3 if self.motion.travels[joint] else 0)
            template += [f"%.{_ANGLE_DECIMALS}f"] * 3
        line = " ".join(template) + "\n"
        count = len(self.motion.angles)
        for first, end in pairwise([*range(0, count, _LINES), count]):
            rows = self._numbers(slice(first, end)).tolist()
            yield "".join([line % tuple(row) for row in rows])

    def _numbers(self, frames: slice) -> Array:
        """The numbers (N,C) of frames."""
        columns = []
        for joint in self.order:
            if self.motion.travels[joint]:
                columns.append(_rounded(self.motion.positions[frames, joint], self.decimals))
            columns.append(_rounded(self.motion.angles[frames, joint], _ANGLE_DECIMALS))
        return np.concatenate(columns, axis=1)

    def _numbers_of(self, lengths: Array) -> str:
        return " ".join(f"{one:.{self.decimals}f}" for one in _rounded(lengths, self.decimals).tolist())


def _indent(level: int) -> str:
    return "\t" * min(level, _MAX_INDENT)


def _rounded(values: Array, decimals: int) -> Array:
    """Values in which those that would be written as -0 are 0."""
    return np.where(np.abs(values) < 0.5 * 10.0**-decimals, 0.0, values)


# ---- names ----------------------------------------------------------------------------------------


def _written_names(names: Mapping[int, str]) -> dict[int, str]:
    """Names by joint without blanks and braces, each once; a SkinpyWarning tells of those that differ."""
    written: dict[int, str] = {}
    taken, changed = set[str](), []
    for joint, name in names.items():
        plain = _UNWRITABLE.sub("_", unicode_text(name)) or "joint"
        free, number = plain, 1
        while free in taken:
            number += 1
            free = f"{plain}_{number}"
        taken.add(free)
        if free != name:
            changed.append(f"{name} as {free}")
        written[joint] = free
    if changed:
        message = (
            f"names of joints in BVH differ, without blanks and braces; written are {quoted_list(changed)}"
        )
        warnings.warn(message, SkinpyWarning, stacklevel=5)
    return written
