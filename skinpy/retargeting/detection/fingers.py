"""Find the joints of the fingers: chains below the hand, from the palm to the tip."""

from __future__ import annotations

from ..bones import FINGERS, segments_of
from .figure import Figure

_MOST = 64  # joints of one finger's name that are looked at


def find_fingers(figure: Figure, side: str, hand: int | None) -> dict[str, int]:
    """Return the joints of the fingers of one hand, without ends and, but for the thumb, metacarpals."""
    found: dict[str, int] = {}
    for finger in FINGERS:
        joints = figure.with_part(finger, side)
        if hand is not None:
            joints = [one for one in joints if figure.is_above(hand, one)] or joints
        chain = _chain(figure, joints[:_MOST])
        if finger != "Thumb":
            chain = _without_metacarpal(figure, chain)
        found |= dict(zip((side + bone for bone in segments_of(finger)), chain, strict=False))
    return found


def _chain(figure: Figure, joints: list[int]) -> list[int]:
    """Return the longest line of joints each of which is below the one before."""
    chains: dict[int, list[int]] = {}
    for joint in reversed(joints):
        below = [chains[one] for one in chains if figure.is_above(joint, one)]
        chains[joint] = [joint, *max(below, key=len, default=[])]
    return max(reversed(chains.values()), key=len, default=[])


def _without_metacarpal(figure: Figure, chain: list[int]) -> list[int]:
    """Return a chain without its metacarpal, which is called so, or is number 0 of four that have no end."""
    chain = [one for one in chain if not figure.readings[one].metacarpal]
    if len(chain) > 3 and figure.children[chain[3]]:
        first = figure.readings[chain[0]].digits
        return chain[1:] if first and int(first[-1]) == 0 else chain
    return chain
