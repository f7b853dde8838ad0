"""Joints of a clip matched to those of a model: by name, without prefix, then without regard to case."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from .._types import Array

# Namespaces and paths ("a:b:", "Armature|"), and words that tools put in front with an underscore.
_NAMESPACE = re.compile(r"\A.*[:|]", re.DOTALL)
_WORD = re.compile(r"\A(?:character|mixamorig|armature)\d*_", re.IGNORECASE)


def without_prefix(name: str) -> str:
    """`name` without namespaces and without a word such as "Character1_"."""
    return _WORD.sub("", _NAMESPACE.sub("", name, count=1), count=1) if name else name


def find_exact(names: Sequence[str], among: Sequence[str]) -> Array:
    """The index of each name in `among`, of the first if several are equal; -1 for names without one."""
    first = {name: index for index, name in reversed(list(enumerate(among)))}
    return np.array([first.get(name, -1) for name in names], np.int32)


def match_joints(names: Sequence[str], among: Sequence[str], moved: Iterable[int]) -> tuple[Array, list[int]]:
    """The index in `among` of each joint of `names` that is `moved`, and the joints matched inexactly.

    Joints without a match have -1. Exact names are matched first. The others are matched by name without
    prefix, then also without regard to case, as long as that name is unique on both sides. A joint of `among`
    is matched once, to the first of `names`.
    """
    wanted = list(moved)
    matches = np.full(len(names), -1, np.int32)
    if tuple(names) == tuple(among):  # in one skeleton, joints of equal names differ by their index
        matches[wanted] = wanted
        return matches, []
    taken: set[int] = set()
    for joint, match in zip(wanted, find_exact([names[joint] for joint in wanted], among), strict=True):
        if match >= 0 and int(match) not in taken:
            matches[joint] = match
            taken.add(int(match))
    exact = {joint for joint in wanted if matches[joint] >= 0}
    for key in (without_prefix, lambda name: without_prefix(name).casefold()):
        _match_by(key, names, among, wanted, matches, taken)
    return matches, [joint for joint in wanted if matches[joint] >= 0 and joint not in exact]


def _match_by(
    key: Callable[[str], str],
    names: Sequence[str],
    among: Sequence[str],
    wanted: list[int],
    matches: Array,
    taken: set[int],
) -> None:
    """Match joints without a match whose key is unique on both sides; changes `matches` and `taken`."""
    keys = [key(name) for name in among]
    key_counts, wanted_counts = Counter(keys), Counter(key(names[joint]) for joint in wanted)
    index_of = {word: index for index, word in enumerate(keys) if word and key_counts[word] == 1}
    for joint in wanted:
        word = key(names[joint])
        match = index_of.get(word, -1)
        if matches[joint] < 0 and wanted_counts[word] == 1 and match >= 0 and match not in taken:
            matches[joint] = match
            taken.add(match)
