"""What joint names tell: side, part of the body, number. Mirroring and matching skeletons use it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

#: Words and numbers; a capital begins a word, and a row of capitals is a word ("LFoot" is L and Foot).
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_SIDES = {"left": "left", "l": "left", "lt": "left", "right": "right", "r": "right", "rt": "right"}

#: Words that rigs put into every name and that do not tell the part of the body.
_NOISE = {"mixamorig", "valve", "biped", "bip", "b", "c", "j", "bone", "joint", "jnt", "def", "rig"}

#: Synonyms of the words for parts of the body; `_SIDED` has those that differ where a name has a side.
_PARTS = {
    "hips": ("hip", "pelvis"),
    "spine": ("chest", "upperchest", "torso", "lowerback", "abdomen"),
    "shoulder": ("clavicle", "collar", "collarbone"),
    "upperarm": ("uparm", "arm", "shldr"),
    "lowerarm": ("forearm", "elbow"),
    "hand": ("wrist",),
    "upperleg": ("upleg", "thigh"),
    "lowerleg": ("leg", "calf", "shin", "knee"),
    "foot": ("ankle",),
    "toe": ("toebase", "toes", "ball"),
}
_SYNONYMS = {word: part for part, words in _PARTS.items() for word in words}
_SIDED = {"hip": "upperleg", "hips": "upperleg"}


@dataclass(frozen=True)
class Label:
    """What a name tells, in lower case."""

    side: str  #: "left", "right" or ""
    words: tuple[str, ...]  #: all other words, and numbers

    @property
    def part(self) -> tuple[str, str]:
        """The side and the part of the body, or else the words without numbers and noise."""
        letters = [word for word in self.words if not word.isdigit()]
        name = "".join(word for word in letters if word not in _NOISE) or "".join(letters)
        if self.side and name in _SIDED:
            return self.side, _SIDED[name]
        return self.side, _SYNONYMS.get(name, name)


def labels(names: Sequence[str]) -> list[Label]:
    """Return one label per name, without the running numbers that some exporters add to nearly all names."""
    ends = [re.search(r"_(\d+)$", name) for name in names]
    numbers = [int(end[1]) for end in ends if end]
    running = len(numbers) > 0.75 * len(names) and len(set(numbers)) == len(numbers)
    return [
        _label(name[: end.start()] if running and end else name)
        for name, end in zip(names, ends, strict=True)
    ]


def _label(name: str) -> Label:
    """Return what one name tells."""
    side, words = "", []
    for word in _WORD.findall(re.split(r"[:|]", name)[-1]):
        lower = word.lower()
        glued = re.match(r"(left|right)(.+)", lower)
        found = glued[1] if glued else _SIDES.get(lower, "")
        if found and not side:
            side = found
            if glued:
                words.append(glued[2])
        else:
            words.append(lower)
    return Label(side, tuple(words))


def side_pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the (left, right) indices of names that differ by their side alone; the first of equal names.

    Names that differ by a first letter l or r without a separator, as in lhand and rhand, count too.
    """
    first = {label: index for index, label in reversed(list(enumerate(labels(names))))}
    pairs = []
    for label, index in first.items():
        partner = first.get(Label("right", label.words))
        if label.side == "left" and partner is not None:
            pairs.append((index, partner))
    sideless = {names[index].lower(): index for label, index in first.items() if not label.side}
    for name, index in sideless.items():
        if len(name) > 1 and name[0] == "l" and "r" + name[1:] in sideless:
            pairs.append((index, sideless["r" + name[1:]]))
    return sorted(pairs)


_SIDE_WORD = re.compile(r"left|right|(?<![^\W_])[lr](?![^\W_])", re.IGNORECASE)
_SWAPPED = {"left": "right", "right": "left", "l": "r", "r": "l"}


def other_side(text: str) -> str:
    """Return the text with left and right swapped: "foot_left" becomes "foot_right"."""

    def swapped(match: re.Match[str]) -> str:
        word = match[0]
        other = _SWAPPED[word.lower()]
        return other.upper() if word.isupper() else other.title() if word[0].isupper() else other

    return _SIDE_WORD.sub(swapped, text)


def evenly(source: Sequence[int], target: Sequence[int]) -> list[tuple[int, int]]:
    """Return pairs from two chains: the first with the first, the last with the last, and between evenly."""
    count = min(len(source), len(target))
    fractions = [step / (count - 1) if count > 1 else 0.0 for step in range(count)]
    return [
        (source[round(fraction * (len(source) - 1))], target[round(fraction * (len(target) - 1))])
        for fraction in fractions
    ]


def same_parts(
    source: Sequence[str], target: Sequence[str], without: tuple[frozenset[int], frozenset[int]]
) -> list[tuple[int, int]]:
    """Return the (source, target) indices of names of the same part of the body, but for indices `without`.

    Several joints of one part, as of a spine, are paired in order: the first with the first, the last with
    the last, and between them evenly.
    """
    chains: list[dict[tuple[str, str], list[int]]] = []
    for names, left_out in zip((source, target), without, strict=True):
        found: dict[tuple[str, str], list[int]] = {}
        for index, label in enumerate(labels(names)):
            if index not in left_out:
                found.setdefault(label.part, []).append(index)
        chains.append(found)
    pairs: list[tuple[int, int]] = []
    for part, source_chain in chains[0].items():
        target_chain = chains[1].get(part, [])
        pairs += evenly(source_chain, target_chain)
    return sorted(pairs)
