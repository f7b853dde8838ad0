"""What joint names say: side, part of the body, number. For mirroring and for matching two skeletons."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

#: Letters in a row, numbers; capitals begin a word, and a row of capitals is one ("LFoot" is L and Foot).
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_SIDES = {"left": "left", "l": "left", "lt": "left", "right": "right", "r": "right", "rt": "right"}
OTHER_SIDE = {"left": "right", "right": "left"}

#: Words that rigs put into every name and that say nothing about the part.
_NOISE = {"mixamorig", "valve", "biped", "bip", "b", "c", "j", "bone", "joint", "jnt", "def", "rig"}

#: The word for a part of the body -> how rigs call it; and how they do where the name also has a side.
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
    """What a name says, in lower case."""

    side: str  #: "left", "right" or ""
    words: tuple[str, ...]  #: all the others, also numbers

    @property
    def part(self) -> tuple[str, str]:
        """(side, part of the body or whatever the words say without numbers and noise)."""
        letters = [word for word in self.words if not word.isdigit()]
        said = "".join(word for word in letters if word not in _NOISE) or "".join(letters)
        if self.side and said in _SIDED:
            return self.side, _SIDED[said]
        return self.side, _SYNONYMS.get(said, said)


def labels(names: Sequence[str]) -> list[Label]:
    """One label per name. Running numbers that an exporter put behind (nearly) all names are left out."""
    ends = [re.search(r"_(\d+)$", name) for name in names]
    numbers = [int(end[1]) for end in ends if end]
    running = len(numbers) > 0.75 * len(names) and len(set(numbers)) == len(numbers)
    return [
        _label(name[: end.start()] if running and end else name)
        for name, end in zip(names, ends, strict=True)
    ]


def _label(name: str) -> Label:
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
    """(left, right) places of names that differ by their side alone; of equal names the first counts.

    Also names that differ by a first letter l or r with nothing to set it apart, as in lhand and rhand.
    """
    said = labels(names)
    first = {label: place for place, label in reversed(list(enumerate(said)))}
    pairs = []
    for label, place in first.items():
        partner = first.get(Label("right", label.words))
        if label.side == "left" and partner is not None:
            pairs.append((place, partner))
    plain = {names[place].lower(): place for label, place in first.items() if not label.side}
    for name, place in plain.items():
        if len(name) > 1 and name[0] == "l" and "r" + name[1:] in plain:
            pairs.append((place, plain["r" + name[1:]]))
    return sorted(pairs)


_SIDE_WORD = re.compile(r"left|right|(?<![^\W_])[lr](?![^\W_])", re.IGNORECASE)
_SWAPPED = {"left": "right", "right": "left", "l": "r", "r": "l"}


def other_side(text: str) -> str:
    """The text with left and right swapped: "foot_left" becomes "foot_right"."""

    def swapped(match: re.Match[str]) -> str:
        word = match[0]
        other = _SWAPPED[word.lower()]
        return other.upper() if word.isupper() else other.title() if word[0].isupper() else other

    return _SIDE_WORD.sub(swapped, text)


def same_parts(
    source: Sequence[str], target: Sequence[str], without: tuple[frozenset[int], frozenset[int]]
) -> list[tuple[int, int]]:
    """(source, target) places of names that say the same part of the body, but for places `without`.

    Several of one part, as the joints of a spine, are paired in order: the first with the first, the last
    with the last, and between them evenly.
    """
    chains: list[dict[tuple[str, str], list[int]]] = []
    for names, left_out in zip((source, target), without, strict=True):
        found: dict[tuple[str, str], list[int]] = {}
        for place, label in enumerate(labels(names)):
            if place not in left_out:
                found.setdefault(label.part, []).append(place)
        chains.append(found)
    pairs = []
    for part, ours in chains[0].items():
        theirs = chains[1].get(part, [])
        count = min(len(ours), len(theirs))
        for step in range(count):
            share = step / (count - 1) if count > 1 else 0.0
            pairs.append((ours[round(share * (len(ours) - 1))], theirs[round(share * (len(theirs) - 1))]))
    return sorted(pairs)
