"""Find the bones of a humanoid by the names of the joints and the structure of the skeleton."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bones import BONES
from .joint_names import labels

if TYPE_CHECKING:
    from ..model import Model

_PARTS = {
    "hips": "hips",
    "neck": "neck",
    "head": "head",
    "shoulder": "Shoulder",
    "upperarm": "UpperArm",
    "lowerarm": "LowerArm",
    "hand": "Hand",
    "upperleg": "UpperLeg",
    "lowerleg": "LowerLeg",
    "foot": "Foot",
    "toe": "Toes",
}


def detect(model: Model) -> tuple[dict[str, int], dict[str, str]]:
    """Return the joint of each bone that is found, and a sentence for every bone."""
    names = model.skeleton.names
    found: dict[str, int] = {}
    spine = []
    for joint, label in enumerate(labels(names)):
        side, part = label.part
        if part == "spine" and not side:
            spine.append(joint)
        elif part in _PARTS:
            found.setdefault(side + _PARTS[part], joint)
    found |= dict(zip(("spine", "chest", "upperChest"), spine, strict=False))
    joints = {bone: found[bone] for bone in BONES if bone in found}
    reasons = {
        bone: f"Its joint is named {names[joints[bone]]!r}." if bone in joints else "No joint is named so."
        for bone in BONES
    }
    return joints, reasons
