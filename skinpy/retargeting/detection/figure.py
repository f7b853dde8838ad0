"""A skeleton as the search for a humanoid sees it: names that are read, a tree, and positions at rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from ..._types import Array
from .names import Reading, read_names


class Figure:
    """The joints of one skeleton, depth first, so that what is below a joint comes right behind it.

    Attributes
    ----------
    names : sequence of str
        Names of the joints.
    parents : (J,) ndarray
        Parent of each joint, -1 for a root.
    origins : (J,3) float64 ndarray
        Positions of the joints at rest, in scene space.
    allowed : frozenset of int
        Joints that may be bones: without those that hold a mesh, and in a rig of Rigify only those that
        deform.
    """

    def __init__(self, names: Sequence[str], parents: Array, origins: Array, without: frozenset[int]) -> None:
        self.names, self.parents, self.origins = names, parents, origins
        self.readings: list[Reading] = read_names(names)
        self.depth = np.zeros(len(names), int)
        self.behind = np.arange(1, len(names) + 1)  # one more than the last joint below each
        self.children: list[list[int]] = [[] for _ in names]
        for joint, parent in enumerate(parents.tolist()):
            if parent >= 0:
                self.depth[joint] = self.depth[parent] + 1
                self.children[parent].append(joint)
        for joint in range(len(names) - 1, 0, -1):
            parent = parents[joint]
            if parent >= 0:
                self.behind[parent] = max(self.behind[parent], self.behind[joint])
        self.without = without
        deforming = [joint for joint, reading in enumerate(self.readings) if reading.deform]
        self.allowed = frozenset(deforming if len(deforming) >= 10 else range(len(names))) - without

    @cached_property
    def size(self) -> float:
        """The diagonal of the box around the joints at rest."""
        return float(np.linalg.norm(np.ptp(self.origins, axis=0))) if len(self.origins) else 0.0

    def is_above(self, joint: int, other: int) -> bool:
        """Whether the other joint is below the joint; a joint is not below itself."""
        return joint < other < int(self.behind[joint])

    def line(self, joint: int) -> list[int]:
        """Return the joint and all joints above it, from below."""
        found = []
        while joint >= 0:
            found.append(joint)
            joint = int(self.parents[joint])
        return found

    def between(self, joint: int, other: int) -> list[int]:
        """Return the allowed joints between a joint and one below it, without both, from above."""
        line = self.line(other)[1:]
        return (
            [one for one in line[: line.index(joint)] if one in self.allowed][::-1] if joint in line else []
        )

    def common(self, joints: Iterable[int]) -> int:
        """Return the lowest joint that is, or is above, each of the joints; -1 if there is none."""
        shared: list[int] | None = None
        for joint in joints:
            line = self.line(joint)
            shared = line if shared is None else [one for one in shared if one in set(line)]
        return shared[0] if shared else -1

    def distance(self, joint: int, other: int) -> float:
        """The distance of two joints at rest."""
        return float(np.linalg.norm(self.origins[joint] - self.origins[other]))

    def with_part(self, part: str, side: str = "") -> list[int]:
        """Return the allowed joints whose names fit a part of the body on a side, in the skeleton's order."""
        return [
            joint
            for joint, reading in enumerate(self.readings)
            if reading.side == side and reading.score(part) > 0 and joint in self.allowed
        ]

    def part(self, joint: int) -> Figure:
        """Return the joint and all below it as a figure of its own."""
        end = int(self.behind[joint])
        parents = np.where(self.parents[joint:end] >= joint, self.parents[joint:end] - joint, -1)
        without = frozenset(one - joint for one in self.without if joint <= one < end)
        return Figure(self.names[joint:end], parents, self.origins[joint:end], without)
