"""What was found in a skeleton, and why, in one sentence per bone."""

from __future__ import annotations

from dataclasses import dataclass

from ..._text import quoted
from ..bones import SIDES
from .figure import Figure
from .vocabulary import FINGER_WORDS, PARTS, SIDED_PARTS

#: Why a joint is a bone whatever it is called.
_PLACES = {
    "hips": "is where the legs and the upper body meet",
    "spine": "is the first between the hips and the arms",
    "chest": "lies between the hips and the arms",
    "upperChest": "lies between the hips and the arms, the last below the neck",
    "neck": "is the first between the arms and the head",
    "head": "is the last of the line from the hips, beyond the arms",
}


@dataclass(frozen=True)
class Search:
    """What was found in a skeleton: joints by bone, and how."""

    found: dict[str, int]
    by_name: frozenset[str] = frozenset()  #: bones whose joints are named like them
    between: frozenset[str] = frozenset()  #: bones whose joints are the only ones between two others
    rejected: str = ""  #: why there is no figure at all, as a sentence


def reason(figure: Figure, result: Search, bone: str) -> str:
    """Return one sentence on why a joint is a bone, or on what was tried."""
    joint = result.found.get(bone)
    if joint is None:
        return result.rejected or _tried(bone)
    name, reading = quoted(figure.names[joint]), figure.readings[joint]
    if bone in result.between:
        return f"Joint {name} is the only one that it can be, between named joints above and below."
    if bone not in result.by_name:
        return f"Joint {name} has this place in the structure: two equal legs, a trunk and two equal arms."
    if bone in _PLACES and not reading.score(bone):
        return f"Joint {name} {_PLACES[bone]}."
    return f"Joint {name} is named like it ({quoted(reading.word)}) and fits the joints above and below."


def _tried(bone: str) -> str:
    """Return a sentence on the names that were looked for."""
    side = next((one for one in SIDES if bone.startswith(one)), "")
    part = bone.removeprefix(side)
    part = {"Eye": "eye", "chest": "spine", "upperChest": "spine"}.get(part, part)
    words = [word for word, parts in (SIDED_PARTS if side else PARTS).items() if part in parts]
    words = words or [word for word, finger in FINGER_WORDS.items() if part.startswith(finger)]
    where = f" of the {side} side" if side else ""
    return (
        f"No joint{where} that fits is named like it ({', '.join(words[:6])}), and the structure shows none."
    )
