"""Places for the names of joints beside the joints, such that each can be read. No OpenGL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scene.view import View
from .glyphs import NO_BOXES, Glyphs, make_glyphs, no_letters, shown_name

_GAP = 6  # pixels from a joint to its name
_DOT = 3  # pixels around a joint that the names of others keep clear
_LETTERS = "".join(map(chr, range(32, 127)))  # letters with glyphs in any case
_MAX_RATIO = 0.45  # of the width of the picture, for a name that is not cut
_SHORTEST = 60.0  # pixels of a name that is not cut, however narrow the picture is
_MAX_NAMES = 300  # that are tried in one picture


class NameLayout:
    """Lays out the names of joints for each picture."""

    def __init__(self, names: Sequence[str], parents: NDArray[np.int32]) -> None:
        """Raises ImportError without Pillow."""
        self._names = [shown_name(name) for name in names]
        self.glyphs: Glyphs = make_glyphs(frozenset("".join([_LETTERS, *self._names])))
        # Joints with many joints below them come first: a hand before its fingers.
        below = np.ones(len(parents), np.int64)
        for joint in range(len(parents) - 1, 0, -1):
            if parents[joint] >= 0:
                below[parents[joint]] += below[joint]
        self._order = np.argsort(-below, kind="stable")

    def letters(
        self,
        joints: NDArray[Any],
        view: View,
        size: tuple[int, int],
        room: tuple[int, int] | None = None,
        taken: NDArray[np.float64] = NO_BOXES,
    ) -> NDArray[np.float32]:
        """The letters (N, 6) of the names that find room in a picture, as `Glyphs.lay_out` returns them.

        `joints` (J, 3) are in scene space. A name is right or left of its joint, or a line higher or lower
        there. A name that would overlap another name or joint, or one of the boxes `taken` (N, 4), at all
        these positions is left out. `room` is the width and height, from the top left, that names may take.
        """
        positions, seen = _pixels(joints, view, size)
        order = self._order[seen[self._order]]
        dots = np.concatenate([positions[order] - _DOT, positions[order] + _DOT], axis=1)
        taken = np.concatenate([dots, taken])
        lines = [no_letters()]
        longest = max(_MAX_RATIO * size[0], _SHORTEST)
        for number, joint in enumerate(order[:_MAX_NAMES].tolist()):
            words = self.glyphs.fitting(self._names[joint], longest)
            if not words.strip():
                continue
            others = np.delete(taken, number, axis=0)  # all but the dot of this joint
            for box in self._candidates(positions[joint], self.glyphs.width(words)):
                if _inside(box, room or size) and not _overlap(box, others):
                    taken = np.concatenate([taken, [box]])
                    lines.append(self.glyphs.lay_out(words, int(box[0]), int(box[1])))
                    break
        return np.concatenate(lines)

    def _candidates(self, position: NDArray[np.float64], width: int) -> Iterator[NDArray[np.float64]]:
        """Boxes (4,) for a name, left, top, right and bottom, the best first."""
        height = self.glyphs.height
        x, y = np.round(position)
        for down in (0, -1, 1):
            top = y - height // 2 + down * (height - 2)
            for left in (x + _GAP, x - _GAP - width):
                yield np.array([left, top, left + width, top + height])


def _pixels(
    points: NDArray[Any], view: View, size: tuple[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The pixels (N, 2) of points (N, 3), from the top left of the picture, and which of them are inside."""
    clip = np.column_stack([points, np.ones(len(points))]) @ view.projection().T
    in_front = clip[:, 3] > view.camera.near
    device = clip[:, :2] / np.where(in_front, clip[:, 3], 1.0)[:, None]
    pixels = (device * (1, -1) + 1) * np.array(size) / 2
    return pixels, in_front & (np.abs(device) <= 1).all(axis=1)


def _inside(box: NDArray[np.float64], size: tuple[int, int]) -> bool:
    return bool((box >= 0).all() and box[2] <= size[0] and box[3] <= size[1])


def _overlap(box: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Whether a box overlaps any of the others (N, 4)."""
    return bool(((others[:, :2] < box[2:]) & (others[:, 2:] > box[:2])).all(axis=1).any())
