"""The table of the rules of skinpy.check, and the one loop that runs them."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from ..clip import Clip
from ..model import Model
from .feet import foot_slide
from .findings import Finding, Findings
from .joints import duplicate_names, joint_limit, rest_scales, unused_joints
from .jumps import pops
from .keys import quaternion_flips, scale_keys, short_clip
from .loops import loop_seam
from .mesh import degenerate_faces, many_influences, overflows
from .report import report_findings
from .subject import Subject

ModelRule: TypeAlias = Callable[[Subject], Iterator[Finding]]
ClipRule: TypeAlias = Callable[[Subject, Clip], Iterator[Finding]]

#: In the order of the findings within a level. A new rule is a function and a row here, and in docs/check.md.
MODEL_RULES: tuple[ModelRule, ...] = (
    report_findings,
    joint_limit,
    duplicate_names,
    rest_scales,
    many_influences,
    unused_joints,
    degenerate_faces,
)
#: Rules for the keys themselves, and rules for the poses, which need poses that are finite.
KEY_RULES: tuple[ClipRule, ...] = (short_clip, scale_keys, quaternion_flips)
POSE_RULES: tuple[ClipRule, ...] = (pops, loop_seam, foot_slide)


def findings_of(model: Model, joints: int | None) -> Findings:
    """Return what all rules find; `joints` is the limit of palette slots, or None."""
    subject = Subject(model, joints)
    found: list[Finding] = []
    # Numbers near the largest overflow in sums and products; what is not finite exceeds no threshold.
    with np.errstate(all="ignore"):
        for model_rule in MODEL_RULES:
            found += model_rule(subject)
        found += overflows(subject, None)
        for clip in subject.clips:
            beyond = overflows(subject, clip)
            for clip_rule in KEY_RULES if beyond else KEY_RULES + POSE_RULES:
                found += clip_rule(subject, clip)
            found += beyond
    return Findings(found)
