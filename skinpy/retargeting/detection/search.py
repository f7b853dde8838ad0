"""The search for a humanoid: limbs first, then the trunk that holds them, fingers and face."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...posing.kinematics import up_vector
from ..bones import ARM, BONES, CORE, LEG, SIDES
from .figure import Figure
from .fingers import find_fingers
from .limbs import find_limb
from .trunk import find_trunk

if TYPE_CHECKING:
    from ...model import Model

_FEWEST = 5  # core bones below which a figure is not human


def detect(model: Model) -> tuple[dict[str, int], dict[str, str]]:
    """Return the joint of each bone that is found, and a sentence for every bone."""
    skeleton = model.skeleton
    holders = {submesh.node for submesh in model.mesh.submeshes} - set(model.skin.joints.tolist())
    origins = np.asarray(skeleton.rest_global[:, :3, 3], np.float64)
    figure = Figure(skeleton.names, skeleton.parents, origins, up_vector(model), frozenset(holders))
    found = search(figure)
    joints = {bone: found[bone] for bone in BONES if bone in found}
    reasons = {
        bone: f"Its joint is named {figure.names[joints[bone]]!r}." if bone in joints else "None is named so."
        for bone in BONES
    }
    return joints, reasons


def search(figure: Figure) -> dict[str, int]:
    """Return the joint of each bone that is found in a figure."""
    limbs: dict[str, int] = {}
    for side in SIDES:
        for parts in (LEG, ARM):
            limbs |= {side + part: joint for part, joint in find_limb(figure, side, parts).items()}
    found = limbs | find_trunk(figure, limbs)
    for side in SIDES:
        found |= find_fingers(figure, side, found.get(f"{side}Hand"))
        if eyes := figure.with_part("eye", side):
            found[f"{side}Eye"] = eyes[0]
    if jaws := figure.with_part("jaw"):
        found["jaw"] = jaws[0]
    return found if sum(bone in found for bone in CORE) >= _FEWEST else {}
