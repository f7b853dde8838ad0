"""Which joint of a model a joint of a clip is: by name, then without prefix, then without regard to case."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from .._types import Array

# Namespaces and paths ("a:b:", "Armature|"), and the words that tools put in front with an underscore.
_NAMESPACE = re.compile(r"\A.*[:|]", re.DOTALL)
_WORD = re.compile(r"\A(?:character|mixamorig|armature)\d*_", re.IGNORECASE)


def without_prefix(name: str) -> str:
    """`name` without namespaces and without a word such as "Character1_"."""
    return _WORD.sub("", _NAMESPACE.sub("", name, count=1), count=1) if name else name


def find_exact(names: Sequence[str], among: Sequence[str]) -> Array:
    """Where each name is in `among`, the first of equal ones; -1 where it is not."""
    first = {name: place for place, name in reversed(list(enumerate(among)))}
    return np.array([first.get(name, -1) for name in names], np.int32)


def match_joints(names: Sequence[str], among: Sequence[str], moved: Iterable[int]) -> tuple[Array, list[int]]:
    """Where the joints `moved` of `names` are in `among`, -1 where they are not; and which are not there by
    their exact name.

    Exact names go first. What is left is looked up without prefixes, then also without case, where that
    names one joint on either side alone. No joint of `among` is found twice: the first of `names` has it.
    """
    wanted = list(moved)
    places = np.full(len(names), -1, np.int32)
    if tuple(names) == tuple(among):  # equal names in one skeleton are told apart by their places
        places[wanted] = wanted
        return places, []
    taken: set[int] = set()
    for joint, place in zip(wanted, find_exact([names[joint] for joint in wanted], among), strict=True):
        if place >= 0 and int(place) not in taken:
            places[joint] = place
            taken.add(int(place))
    exact = {joint for joint in wanted if places[joint] >= 0}
    for key in (without_prefix, lambda name: without_prefix(name).casefold()):
        _match_by(key, names, among, wanted, places, taken)
    return places, [joint for joint in wanted if places[joint] >= 0 and joint not in exact]


def _match_by(
    key: Callable[[str], str],
    names: Sequence[str],
    among: Sequence[str],
    wanted: list[int],
    places: Array,
    taken: set[int],
) -> None:
    """Fills `places` that are -1 and adds to `taken`, where a key stands for one joint on either side."""
    keys = [key(name) for name in among]
    there, here = Counter(keys), Counter(key(names[joint]) for joint in wanted)
    place_of = {word: place for place, word in enumerate(keys) if word and there[word] == 1}
    for joint in wanted:
        word = key(names[joint])
        place = place_of.get(word, -1)
        if places[joint] < 0 and here[word] == 1 and place >= 0 and place not in taken:
            places[joint] = place
            taken.add(place)
