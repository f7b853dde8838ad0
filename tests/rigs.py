"""Skeletons as tools and data sets name them, with a believable rest pose, and the joint of each bone.

A rig is written as lines of joints, each below the one before: the first of a line may stand in an earlier
line, and a line that begins with ">" goes on with the one before. Lines with a word for left are repeated
with the one for right. `truth` names the joints of `CENTER` and `LEFT`, in this order, "-" where the rig has
none that is certain.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

import numpy as np

import skinpy

CENTER = ("hips", "spine", "neck", "head")
LEFT = (
    *("leftUpperLeg", "leftLowerLeg", "leftFoot", "leftToes"),
    *("leftShoulder", "leftUpperArm", "leftLowerArm", "leftHand"),
)

#: Where the bones of a figure of 1.7 m in a T-pose are, in meters: x to its left, y up, z to the front.
PLACES = {
    "hips": (0, 0.95, 0),
    "spine": (0, 1.05, 0),
    "neck": (0, 1.45, 0),
    "head": (0, 1.55, 0.01),
    "leftUpperLeg": (0.09, 0.9, 0),
    "leftLowerLeg": (0.1, 0.5, 0.01),
    "leftFoot": (0.1, 0.09, -0.02),
    "leftToes": (0.1, 0.02, 0.11),
    "leftShoulder": (0.03, 1.4, 0),
    "leftUpperArm": (0.17, 1.4, 0),
    "leftLowerArm": (0.44, 1.4, -0.01),
    "leftHand": (0.69, 1.4, 0),
}


@dataclass(frozen=True)
class Rig:
    """The joints of one convention."""

    source: str  #: where its names are published
    lines: str
    truth: str
    sides: tuple[tuple[str, str], ...] = (("Left", "Right"),)

    def tree(self) -> dict[str, str]:
        """The parent of each joint, "" for the root."""
        parents: dict[str, str] = {}
        for line in self.both_sides():
            names = [one.strip() for one in line.split(">")]
            parents.setdefault(names[0], "")
            for above, name in itertools.pairwise(names):
                assert parents.setdefault(name, above) == above, (
                    f"{name} is below {parents[name]} and {above}"
                )
        return parents

    def both_sides(self) -> list[str]:
        lines = re.sub(r"\s*\n\s*> ", " > ", self.lines).strip().splitlines()
        return lines + [self.mirrored(one) for one in lines if self.mirrored(one) != one]

    def mirrored(self, text: str) -> str:
        """The text with the right side's words in place of the left's."""
        for left, right in self.sides:
            if len(left) > 1 or not left.isascii():
                text = text.replace(left, right)
            else:  # a letter that is a word, or that begins one: lThigh and l_thigh, but not "calf_l"
                text = re.sub(rf"(?<![A-Za-z]){left}(?=[A-Z_ ])", right, text)
        return text

    def bones(self) -> dict[str, str]:
        """The joint of each bone in `truth`, on both sides."""
        names = [one.strip() for one in self.truth.split(",")]
        found = dict(zip((*CENTER, *LEFT), names, strict=True))
        right = {bone.replace("left", "right"): self.mirrored(found[bone]) for bone in LEFT}
        return {bone: name for bone, name in (found | right).items() if name != "-"}

    def skeleton(self) -> tuple[list[str], list[int], np.ndarray]:
        """Names and parents of the joints, depth first, and their positions (J,3)."""
        tree = self.tree()
        children: dict[str, list[str]] = {"": []}
        for name, parent in tree.items():
            children.setdefault(parent, []).append(name)
        names: list[str] = []
        open_ones = children[""][::-1]
        while open_ones:
            names.append(open_ones.pop())
            open_ones += children.get(names[-1], [])[::-1]
        parents = [names.index(tree[one]) if tree[one] else -1 for one in names]
        return names, parents, self._positions(names, parents)

    def _positions(self, names: list[str], parents: list[int]) -> np.ndarray:
        """The known places of bones; a joint above one is on the way to it, one below none is further on."""
        known: dict[int, np.ndarray] = {}
        for bone, name in self.bones().items():
            place = np.array(PLACES[bone.replace("right", "left")], float)
            known[names.index(name)] = place * ((-1, 1, 1) if bone.startswith("right") else (1, 1, 1))
        places = np.zeros((len(names), 3))
        for joint, parent in enumerate(parents):
            above = places[parent] if parent >= 0 else np.zeros(3)
            if joint in known:
                places[joint] = known[joint]
                continue
            steps, goal = _next_known(joint, parents, known)
            if parent < 0:
                continue
            if goal is not None:
                places[joint] = above + (known[goal] - above) / (steps + 1)
            else:
                way = above - (places[parents[parent]] if parents[parent] >= 0 else 0)
                length = max(float(np.linalg.norm(way)), 1e-9)
                places[joint] = above + way / length * 0.03
        return places

    def model(self) -> skinpy.Model:
        """The rig as a model with a vertex per joint."""
        names, parents, places = self.skeleton()
        return figure(names, parents, places)


def _next_known(joint: int, parents: list[int], known: dict[int, np.ndarray]) -> tuple[int, int | None]:
    """The nearest joint below with a known place, and how many steps it is away."""
    best: tuple[int, int | None] = (0, None)
    for one in sorted(known):
        steps, at = 0, one
        while at > joint:
            at, steps = parents[at], steps + 1
        if at == joint and (best[1] is None or steps < best[0]):
            best = steps, one
    return best


def figure(names: list[str], parents: list[int], places: np.ndarray) -> skinpy.Model:
    """A model with joints at these places, without rotations, and a vertex at each."""
    rest = np.tile(np.eye(4), (len(names), 1, 1))
    for joint, parent in enumerate(parents):
        rest[joint, :3, 3] = places[joint] - (places[parent] if parent >= 0 else 0)
    return skinpy.Model.from_arrays(
        names,
        parents,
        rest,
        positions=places,
        faces=np.zeros((0, 3), int),
        joints=np.arange(len(names))[:, None],
        weights=np.ones((len(names), 1)),
    )
