"""Rules of skinpy.check for the joints of a model at rest: their number, names, scales and use."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from .. import _block
from .._text import quoted
from .._types import Array
from .findings import Finding, finding
from .subject import Subject
from .units import ZERO_SCALE, unit_factor


def joint_limit(subject: Subject) -> Iterator[Finding]:
    """Find more palette slots than the target program holds."""
    slots, limit = len(subject.model.skin), subject.joints
    if limit is not None and slots > limit:
        first = subject.names[subject.model.skin.joints[limit]]
        yield finding(
            "joints_over_limit",
            "error",
            f"{slots} joints move vertices; the limit is {limit}, and the first beyond it is {first!r}",
            "give vertices of small joints (fingers, face) to their parents, or split the mesh",
            joint=first,
            size=slots,
        )


def duplicate_names(subject: Subject) -> Iterator[Finding]:
    """Find names that several joints have."""
    for name, count in Counter(subject.names).items():
        if count > 1:
            yield finding(
                "duplicate_names",
                "warning",
                f"{count} joints are named {quoted(name)}; the name refers to the first of them",
                "give each joint a name of its own, because clips are bound by name",
                joint=name,
                size=count,
            )


def rest_scales(subject: Subject) -> Iterator[Finding]:
    """Find rest scales that look like another unit, or that flatten or mirror a joint."""
    scale = subject.model.skeleton.scale.astype(np.float64)
    yield from _unit_scales(subject, scale)
    flat = (np.abs(scale) < ZERO_SCALE).any(axis=1)
    for joint in np.flatnonzero(flat).tolist():
        name = subject.names[joint]
        yield finding(
            "zero_scale",
            "warning",
            f"joint {quoted(name)} has a scale of {_triple(scale[joint])} at rest, which flattens it",
            "give the rest pose a scale of 1; a joint of scale 0 has no inverse",
            joint=name,
            size=np.abs(scale[joint]).min(),
        )
    for joint in np.flatnonzero(~flat & (scale < 0).any(axis=1)).tolist():
        name = subject.names[joint]
        yield finding(
            "negative_scale",
            "warning",
            f"joint {quoted(name)} has a scale of {_triple(scale[joint])} at rest, which mirrors it",
            "apply the mirroring to the mesh: a negative scale turns faces inside out in some engines",
            joint=name,
            size=scale[joint].min(),
        )


def _unit_scales(subject: Subject, scale: Array) -> Iterator[Finding]:
    """Find the first joint whose scale is a factor between two units."""
    factors = unit_factor(scale)
    if any(entry.code == "units_converted" for entry in subject.model.report):
        factors[0] = 0.0  # the loader has scaled the root
    for joint in np.flatnonzero(factors)[:1].tolist():
        count = int((factors > 0).sum())
        others = f", as are {count - 1} other joints" if count > 1 else ""
        yield finding(
            "unit_scale",
            "warning",
            f"joint {quoted(subject.names[joint])} is scaled by {factors[joint]:g} at rest{others}; "
            "two units are mixed",
            "apply the scale in the authoring program, or export in meters",
            joint=subject.names[joint],
            size=factors[joint],
        )


def _triple(scale: Array) -> str:
    return " ".join(f"{value:.4g}" for value in scale)


def unused_joints(subject: Subject) -> Iterator[Finding]:
    """Find joints that move no vertex and that no clip moves, neither themselves nor below."""
    model = subject.model
    if not len(model.mesh.positions):
        return
    used = np.zeros(len(subject.names), bool)
    used[model.skin.joints[np.unique(model.mesh.slots[model.mesh.weights > 0])]] = True
    used[[submesh.node for submesh in model.mesh.submeshes]] = True
    for clip in subject.clips:
        records = clip._channel_records
        used[records["joint"][records["path"] < _block.WEIGHT_PATH]] = True
    parents = model.skeleton.parents
    for joint in range(len(used) - 1, 0, -1):
        if parents[joint] >= 0:
            used[parents[joint]] |= used[joint]
    unused = np.flatnonzero(~used)
    if len(unused):
        first = subject.names[unused[0]]
        moves, them = ("joint moves", "it") if len(unused) == 1 else ("joints move", "them")
        yield finding(
            "unused_joints",
            "note",
            f"{len(unused)} {moves} no vertex, and no clip moves {them}; the first is {quoted(first)}",
            "leave them out of the export, unless something is to be attached to them",
            joint=first,
            size=len(unused),
        )
