"""Where names stand beside their joints, so that each can be read: numbers only, no OpenGL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scene.view import View
from .glyphs import Glyphs, make_glyphs, shown_name

_AWAY = 6  # pixels from a joint to its name
_DOT = 3  # pixels around a joint that names of others keep clear
_ALWAYS = "".join(map(chr, range(32, 127)))  # letters of which there are glyphs, whatever the names
_MOST = 300  # names that are looked at for one picture


class NamePlaces:
    """Names of joints, laid out anew for each picture."""

    def __init__(self, names: Sequence[str], parents: NDArray[np.int32]) -> None:
        """Raises ImportError without Pillow."""
        self._names = [shown_name(name) for name in names]
        self.glyphs: Glyphs = make_glyphs(frozenset("".join([_ALWAYS, *self._names])))
        # Those with many joints below them come first: a hand before its fingers.
        below = np.ones(len(parents), np.int64)
        for joint in range(len(parents) - 1, 0, -1):
            if parents[joint] >= 0:
                below[parents[joint]] += below[joint]
        self._order = np.argsort(-below, kind="stable")

    def letters(self, joints: NDArray[Any], view: View, size: tuple[int, int]) -> NDArray[np.float32]:
        """Letters (N, 6), as `Glyphs.lay` gives them, of the names that find room in a picture.

        `joints` (J, 3) are in scene space. A name stands right or left of its joint, or a line higher or
        lower; one that would lie over another name or joint everywhere is left out.
        """
        places, seen = _pixels(joints, view, size)
        order = self._order[seen[self._order]]
        taken = np.concatenate([places[order] - _DOT, places[order] + _DOT], axis=1)
        lines = [np.zeros((0, 6), np.float32)]
        for number, joint in enumerate(order[:_MOST].tolist()):
            words = self._names[joint]
            if not words.strip():
                continue
            others = np.delete(taken, number, axis=0)  # all dots but its own
            for box in self._candidates(places[joint], self.glyphs.width(words)):
                if _inside(box, size) and not _overlap(box, others):
                    taken = np.concatenate([taken, [box]])
                    lines.append(self.glyphs.lay(words, int(box[0]), int(box[1])))
                    break
        return np.concatenate(lines)

    def _candidates(self, place: NDArray[np.float64], width: int) -> Iterator[NDArray[np.float64]]:
        """Boxes (4,), left, top, right and bottom, where a name may stand; the best first."""
        height = self.glyphs.height
        x, y = np.round(place)
        for down in (0, -1, 1):
            top = y - height // 2 + down * (height - 2)
            for left in (x + _AWAY, x - _AWAY - width):
                yield np.array([left, top, left + width, top + height])


def _pixels(
    points: NDArray[Any], view: View, size: tuple[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Where points (N, 3) are in the picture, (N, 2) from its top left, and which of them are inside."""
    clip = np.column_stack([points, np.ones(len(points))]) @ view.projection().T
    in_front = clip[:, 3] > view.camera.near
    device = clip[:, :2] / np.where(in_front, clip[:, 3], 1.0)[:, None]
    places = (device * (1, -1) + 1) * np.array(size) / 2
    return places, in_front & (np.abs(device) <= 1).all(axis=1)


def _inside(box: NDArray[np.float64], size: tuple[int, int]) -> bool:
    return bool((box >= 0).all() and box[2] <= size[0] and box[3] <= size[1])


def _overlap(box: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Whether a box overlaps any of the others (N, 4)."""
    return bool(((others[:, :2] < box[2:]) & (others[:, 2:] > box[:2])).all(axis=1).any())
