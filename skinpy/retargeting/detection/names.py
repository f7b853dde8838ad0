"""What the name of a joint tells of a human figure: the side, the parts of the body it may be, or a helper.

A name may fit several parts: a shoulder is a clavicle or an upper arm, a leg the upper or the lower one. Each
part therefore has a score from 0 to 1, and the structure of the skeleton decides (see `limbs` and `trunk`).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from ..bones import LEG
from .vocabulary import (
    CONTEXT,
    FINGER_WORDS,
    HELPERS,
    JAPANESE,
    METACARPAL_WORDS,
    NOISE,
    ON_FOURS,
    PARTS,
    SIDE_WORDS,
    SIDED_PARTS,
    TAIL_OF_COPY,
)

#: Words and numbers; a capital begins a word, and a row of capitals is a word ("LFoot" is L and Foot).
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_LONG_SIDE = re.compile(r"(left|right)(.+)")
_LONG_SIDE_LAST = re.compile(r"(.+)(left|right)")
#: OptiTrack's LUArm and LFArm: the capitals of the side and of the part are one word.
_TWO_CAPITALS = {"u": "upper", "f": "fore"}
_UPPER_JOINT = "/unscaled"  # of a joint of FBX that became two: it rotates and carries the children
_LONGEST = 128  # characters of a name that are read
_BRACKETS = re.compile(r"\[[^\]]*\]")  # Skyrim repeats a name in short: "NPC L Thigh [LThg]"
_COMMON = 0.6  # fraction of the names that must share a first or last word before it counts as a prefix
_UNKNOWN_WORD = 0.4  # what each word that is not known takes from the score
_RELATED = 0.1  # what a word of the same limb takes, as in "arm_hand"
_COPY = 0.01  # what LegD, a copy of Leg in the rigs of mmd_tools, takes from the score
_LONGEST_RUN = 4  # words that are read as one
_FEWEST = 8  # joints below which no prefix is looked for


@dataclass(frozen=True)
class Reading:
    """What one name tells.

    `parts` has a score for each part that the name fits: "hips", "spine", "chest", "neck", "head", "jaw",
    and for a joint with a side "UpperLeg" and so on, "eye", and a finger as "Thumb" or "Index".
    """

    side: str = ""
    parts: dict[str, float] = field(default_factory=dict)
    word: str = ""  #: the known word that the parts come from, such as "wrist"
    digits: tuple[str, ...] = ()  #: the numbers behind the first word, as written
    helper: bool = False  #: a twist, an end, an IK target, a control: no bone of the figure
    metacarpal: bool = False
    deform: bool = False  #: Rigify's prefix DEF-
    on_fours: str = ""  #: the part of an animal's leg, such as "LowerLeg" of LeftFrontKnee

    def score(self, part: str) -> float:
        """How well the name fits a part of the body: 0 for not at all."""
        return 0.0 if self.helper else self.parts.get(part, 0.0)


def read_names(names: Sequence[str]) -> list[Reading]:
    """Return what each name tells, without the running numbers and the prefixes that most names share."""
    words = [_words(name) for name in _without_running_numbers(names)]
    deform = ["def" in (word.lower() for word in one[:4]) for one in words]  # perhaps behind a prefix
    for last in (False, True):
        while common := _common_word(words, last):
            words = [_without(one, common, last) for one in words]
    readings = [_read(one, marked) for one, marked in zip(words, deform, strict=True)]
    return _with_numbered_fingers(readings)


def _without_running_numbers(names: Sequence[str]) -> list[str]:
    """Return the names without the running numbers that some exporters add to nearly all of them."""
    ends = [re.search(r"_(\d+)$", name) for name in names]
    numbers = [int(end[1]) for end in ends if end]
    running = len(numbers) > 0.75 * len(names) and len(set(numbers)) == len(numbers)
    return [name[: end.start()] if running and end else name for name, end in zip(names, ends, strict=True)]


def _words(name: str) -> list[str]:
    """Return the words of a name behind its namespaces; Japanese words become English ones."""
    name = unicodedata.normalize("NFKC", name.removesuffix(_UPPER_JOINT))
    name = next((one for one in reversed(re.split(r"[:|]", name)) if one), "")
    name = _BRACKETS.sub("", name) or name
    if not name.isascii():
        name = TAIL_OF_COPY.sub(" copy", name)
        for japanese, english in JAPANESE.items():
            name = name.replace(japanese, f" {english} ")
    return _WORD.findall(name[:_LONGEST])


def _common_word(words: list[list[str]], last: bool) -> str:
    """Return the first (or last) word that most names share, in lower case, unless it means something."""
    long = [one for one in words if len(one) > 1]
    if len(long) < _FEWEST:
        return ""
    word, count = Counter(one[-1 if last else 0].lower() for one in long).most_common(1)[0]
    known = word in PARTS or word in SIDED_PARTS or word in SIDE_WORDS or word in FINGER_WORDS
    numeral = last and word.isdigit()
    return "" if count < _COMMON * len(words) or known or numeral else word


def _without(words: list[str], common: str, last: bool) -> list[str]:
    """Return the words without the common one."""
    if len(words) < 2 or words[-1 if last else 0].lower() != common:
        return words
    return words[:-1] if last else words[1:]


def _read(words: list[str], deform: bool) -> Reading:
    """Return what the words of one name tell."""
    side, letters, digits = _sided(words)
    whole = "".join(word for word in letters if word not in NOISE)
    helper = any(word in HELPERS for word in letters) and whole not in (SIDED_PARTS if side else PARTS)
    metacarpal = any(word in METACARPAL_WORDS for word in letters)
    if _is_vertebra(side, letters, digits):
        return Reading("", {"neck" if letters == ["c"] else "spine": 0.9}, "vertebra", digits, helper)
    finger = next((FINGER_WORDS[word] for word in letters if word in FINGER_WORDS), "")
    if finger and side and not {"toe", "toes", "foot"} & set(letters):
        return Reading(side, {finger: 1.0}, finger, digits, helper, metacarpal, deform)
    if side and digits and "finger" in letters:
        return Reading(side, {}, "finger", digits, helper, metacarpal, deform)
    parts, word = _parts(side, [one for one in letters if one not in METACARPAL_WORDS] or letters)
    if letters[-1:] == ["d"]:
        parts = {part: score - _COPY for part, score in parts.items() if score > _COPY}
    on_fours = _part_on_fours(letters) if side else ""
    return Reading(side, parts, word, digits, helper, metacarpal and not parts, deform, on_fours)


def _part_on_fours(letters: list[str]) -> str:
    """Return the part of a leg that is called a front or a hind one; empty if it is not."""
    for word, following in pairwise(letters):
        parts = SIDED_PARTS.get(following, {})
        if word in ON_FOURS and parts and (part := max(parts, key=lambda one: parts[one])) in LEG:
            return part
    return ""


def _is_vertebra(side: str, letters: list[str], digits: tuple[str, ...]) -> bool:
    """Whether the name is that of a vertebra, such as L5, T12 or C7 (Xsens)."""
    if len(digits) != 1:
        return False
    if side:
        return side == "left" and not letters and int(digits[0]) in range(1, 6)
    return letters in (["t"], ["c"]) and int(digits[0]) in range(1, 13)


def _sided(words: list[str]) -> tuple[str, list[str], tuple[str, ...]]:
    """Return the side, the other words in lower case, and the numbers behind the first of them."""
    side = ""
    letters: list[str] = []
    digits: list[str] = []
    for at, word in enumerate(words):
        lower = word.lower()
        if lower.isdigit():
            if at > 1 or (letters and letters[-1] not in NOISE) or not letters:
                digits.append(lower)
            continue
        found, rest = _side_of(lower, words[at + 1].lower() if at + 1 < len(words) else "")
        if found and not side:
            side = found
            letters += [rest] if rest else []
        else:
            letters.append(lower)
    return side, letters, tuple(digits)


def _side_of(word: str, following: str) -> tuple[str, str]:
    """Return the side that a word states, and what is left of it: "lefthand", "lhand", "handl" and "l"."""
    if word in SIDE_WORDS:
        return SIDE_WORDS[word], ""
    if glued := _LONG_SIDE.fullmatch(word):
        return glued[1], glued[2]
    if (glued := _LONG_SIDE_LAST.fullmatch(word)) and (glued[1] in SIDED_PARTS or glued[1] in FINGER_WORDS):
        return glued[2], glued[1]
    if len(word) == 2 and word[0] in "lr" and word[1] in _TWO_CAPITALS and following == "arm":
        return SIDE_WORDS[word[0]], _TWO_CAPITALS[word[1]]
    if word[:1] in ("l", "r") and (word[1:] in SIDED_PARTS or word[1:] in FINGER_WORDS):
        return SIDE_WORDS[word[0]], word[1:]
    if word[-1:] in ("l", "r") and word[:-1] in SIDED_PARTS:
        return SIDE_WORDS[word[-1]], word[:-1]
    return "", ""


def _parts(side: str, letters: list[str]) -> tuple[dict[str, float], str]:
    """Return the parts of the body that the words fit, with scores, and the known word."""
    table = SIDED_PARTS if side else PARTS
    meaning = [word for word in letters if word not in NOISE]
    for words in (letters, meaning):
        if (whole := "".join(words)) in table:
            return dict(table[whole]), whole
    # The longest known run of words counts. Of several, those that do not name a limb come first, then the
    # best, then the last.
    for length in range(min(len(meaning) - 1, _LONGEST_RUN), 0, -1):
        runs = ["".join(meaning[at : at + length]) for at in range(len(meaning) - length + 1)]
        known = [
            (run not in CONTEXT, max(table[run].values()), at)
            for at, run in enumerate(runs)
            if table.get(run)
        ]
        if known:
            at = max(known)[2]
            others = [*meaning[:at], *meaning[at + length :]]
            left = sum(_RELATED if word in CONTEXT else _UNKNOWN_WORD for word in others)
            return {part: score - left for part, score in table[runs[at]].items() if score > left}, runs[at]
    return {}, ""


def _with_numbered_fingers(readings: list[Reading]) -> list[Reading]:
    """Return the readings with the names of fingers for those that are numbered.

    3ds Max Biped counts from 0, the thumb, and adds a digit per segment: Finger0, Finger01, Finger02. Others
    count from 1 and have a number of its own for the segment: finger1-2.
    """
    numbered = [one.side != "" and one.word == "finger" and one.digits != () for one in readings]
    fingers = [
        int(one.digits[0][0]) if is_one else -1 for one, is_one in zip(readings, numbered, strict=True)
    ]
    firsts = set(fingers) - {-1}
    start = 0 if 0 in firsts else 1
    if len(firsts) < (5 if start else 2) or max(firsts) >= start + 5:
        return readings
    order = ("Thumb", "Index", "Middle", "Ring", "Little")
    return [
        replace(one, parts={order[finger - start]: 1.0}) if finger >= 0 else one
        for one, finger in zip(readings, fingers, strict=True)
    ]
