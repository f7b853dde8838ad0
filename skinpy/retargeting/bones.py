"""The standard bones of a humanoid, with the names of VRM 1.0, and what VRM files say of theirs.

Sources: the specifications of VRMC_vrm 1.0 (page "humanoid"), VRMC_vrm_animation 1.0 and VRM 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..models.extras import index, rows, table, text

SIDES = ("left", "right")
FINGERS = ("Thumb", "Index", "Middle", "Ring", "Little")
TRUNK = ("hips", "spine", "chest", "upperChest", "neck", "head", "leftEye", "rightEye", "jaw")
LEG = ("UpperLeg", "LowerLeg", "Foot", "Toes")
ARM = ("Shoulder", "UpperArm", "LowerArm", "Hand")


def segments_of(finger: str) -> tuple[str, str, str]:
    """The bones of a finger without their side, from the palm to the tip."""
    inner = ("Metacarpal", "Proximal") if finger == "Thumb" else ("Proximal", "Intermediate")
    return f"{finger}{inner[0]}", f"{finger}{inner[1]}", f"{finger}Distal"


#: All bones, the trunk first, then the limbs, then the fingers.
BONES: tuple[str, ...] = (
    *TRUNK,
    *(side + bone for side in SIDES for bone in LEG),
    *(side + bone for side in SIDES for bone in ARM),
    *(side + bone for side in SIDES for finger in FINGERS for bone in segments_of(finger)),
)

#: The bones without which a figure has no limbs to retarget.
CORE: tuple[str, ...] = (
    *("hips", "spine", "head"),
    *(side + bone for side in SIDES for bone in (*LEG[:3], *ARM[1:])),
)

#: VRM 0 calls the three joints of a thumb otherwise than VRM 1.0.
_OLD_THUMB = {"ThumbProximal": "ThumbMetacarpal", "ThumbIntermediate": "ThumbProximal"}
_OF_OLD = {side + old: side + new for side in SIDES for old, new in _OLD_THUMB.items()}


def bones_of_vrm(vrm: Mapping[str, Any], joints: int) -> dict[str, int]:
    """Return the joint of each bone that a VRM file names; what it says is not trusted (see `Model.vrm`)."""
    old = vrm["version"] == 0
    figure = vrm.get("humanoid") or table(vrm.get("VRMC_vrm_animation")).get("humanoid")
    said = table(figure).get("humanBones")
    if old:
        nodes = {text(table(one).get("bone")): table(one).get("node") for one in rows(said)}
    else:
        nodes = {name: table(one).get("node") for name, one in table(said).items()}
    joint_of_node = vrm["joint_of_node"]
    found: dict[str, int] = {}
    for name, node in nodes.items():
        bone = _OF_OLD.get(name, name) if old else name
        number = index(node, len(joint_of_node))
        joint = None if number is None else index(joint_of_node[number], joints)
        if bone in BONES and joint is not None and joint not in found.values():
            found[bone] = joint
    return {bone: found[bone] for bone in BONES if bone in found}
