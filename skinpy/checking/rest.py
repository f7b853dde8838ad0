"""Rules of skinpy.check that look at a model at rest: its joints, weights and faces."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from .. import _block
from .._types import Array
from ..models.frames import chunks
from .findings import Finding, Level
from .subject import Subject

#: Influences that skinpy.load keeps by default, and that the vertex formats of most engines hold.
KEPT_INFLUENCES = 4

#: Of the size: one pixel of a figure that is 1000 pixels tall. What is less cannot be seen.
VISIBLE = 1e-3

#: Vertices at which the error of dropped influences is measured: those with the most to lose.
_MEASURED_VERTICES = 5_000

#: Frames at which it is measured, of one clip and of all together: about a second for as many vertices.
_FRAMES_OF_A_CLIP, _FRAMES_IN_ALL = 24, 480

#: Factors between the units in use: meters, centimeters, millimeters, inches; and how well they must fit.
UNIT_FACTORS = (0.001, 0.01, 0.0254, 2.54, 39.3701, 100.0, 1000.0)
UNIT_FIT = 1e-3

#: A scale of less flattens its joint: six digits are what float32 holds beside 1.
ZERO_SCALE = 1e-6

#: Roundings of float32 that a triangle's height is off by when its corners are computed from others.
_ROUNDINGS = 4


def unit_factor(scale: Array) -> Array:
    """(...,) the factor of UNIT_FACTORS that a scale (...,3) is on all axes, or 0."""
    found = np.zeros(scale.shape[:-1])
    for factor in UNIT_FACTORS:
        found[(np.abs(scale / factor - 1.0) <= UNIT_FIT).all(axis=-1)] = factor
    return found


# ---- joints -----------------------------------------------------------------------------------------


def joint_limit(subject: Subject) -> Iterator[Finding]:
    """More palette slots than a target holds."""
    slots, limit = len(subject.model.skin), subject.joints
    if limit is not None and slots > limit:
        first = subject.names[subject.model.skin.joints[limit]]
        words = f"{slots} joints move vertices; the limit is {limit}, and the first beyond it is {first!r}"
        remedy = "give vertices of small joints (fingers, face) to their parents, or split the mesh"
        yield Finding("joints_over_limit", "error", None, first, None, float(slots), words, remedy)


def duplicate_names(subject: Subject) -> Iterator[Finding]:
    """Names that several joints have."""
    for name, count in Counter(subject.names).items():
        if count > 1:
            words = f"{count} joints are called {name!r}; the name stands for the first of them"
            remedy = "give each joint a name of its own, as clips are bound by name"
            yield Finding("duplicate_names", "warning", None, name, None, float(count), words, remedy)


def rest_scales(subject: Subject) -> Iterator[Finding]:
    """Rest scales that look like another unit, that mirror or that flatten a joint."""
    scale = subject.model.skeleton.scale.astype(np.float64)
    factors = unit_factor(scale)
    if any(entry.code == "units_converted" for entry in subject.model.report):
        factors[0] = 0.0  # the loader's own
    for joint in np.flatnonzero(factors)[:1].tolist():
        count, factor = int((factors > 0).sum()), float(factors[joint])
        more = f", as are {count - 1} others" if count > 1 else ""
        words = f"joint {subject.names[joint]!r} is scaled by {factor:g} at rest{more}: two units are mixed"
        remedy = "apply the scale in the authoring program, or export in meters"
        yield Finding("unit_scale", "warning", None, subject.names[joint], None, factor, words, remedy)
    flat = (np.abs(scale) < ZERO_SCALE).any(axis=1)
    for joint in np.flatnonzero(flat).tolist():
        words = f"joint {subject.names[joint]!r} has a scale of {_triple(scale[joint])} at rest"
        remedy = "give the rest pose a scale of 1; a joint of scale 0 has no inverse"
        size = float(np.abs(scale[joint]).min())
        yield Finding("zero_scale", "warning", None, subject.names[joint], None, size, words, remedy)
    for joint in np.flatnonzero(~flat & (scale < 0).any(axis=1)).tolist():
        words = f"joint {subject.names[joint]!r} has a scale of {_triple(scale[joint])} at rest"
        remedy = "apply the mirroring to the mesh: a negative scale turns faces inside out in some engines"
        size = float(scale[joint].min())
        yield Finding("negative_scale", "warning", None, subject.names[joint], None, size, words, remedy)


def _triple(scale: Array) -> str:
    return " ".join(f"{value:.4g}" for value in scale)


def unused_joints(subject: Subject) -> Iterator[Finding]:
    """Joints that nothing hangs on and no clip moves, neither themselves nor below."""
    model = subject.model
    if not len(model.mesh.positions):
        return
    used = np.zeros(len(subject.names), bool)
    used[model.skin.joints[np.unique(model.mesh.slots[model.mesh.weights > 0])]] = True
    used[[submesh.node for submesh in model.mesh.submeshes]] = True
    for clip in subject.clips:
        records = clip._channel_records
        used[records["joint"][records["path"] != _block.WEIGHT_PATH]] = True
    parents = model.skeleton.parents
    for joint in range(len(used) - 1, 0, -1):
        if parents[joint] >= 0:
            used[parents[joint]] |= used[joint]
    idle = np.flatnonzero(~used)
    if len(idle):
        first = subject.names[idle[0]]
        words = f"{len(idle)} joints move no vertex and no clip moves them; the first is {first!r}"
        remedy = "leave them out of the export, unless something is to be attached to them"
        yield Finding("unused_joints", "note", None, first, None, float(len(idle)), words, remedy)


# ---- mesh -------------------------------------------------------------------------------------------


def degenerate_faces(subject: Subject) -> Iterator[Finding]:
    """Faces without an area: two corners are one, or all lie on a line within the roundings of float32."""
    mesh = subject.model.mesh
    found: list[int] = []
    for part in chunks(len(mesh.faces), 30):
        a, b, c = (mesh.positions[mesh.faces[part, corner]].astype(np.float64) for corner in range(3))
        edges = np.stack([b - a, c - b, a - c])
        longest = np.linalg.norm(edges, axis=-1).max(axis=0)
        rounding = _ROUNDINGS * np.finfo(np.float32).eps * np.abs(np.stack([a, b, c])).max(axis=(0, 2))
        area = np.linalg.norm(np.cross(edges[0], edges[1]), axis=-1)
        found += (part.start + np.flatnonzero(area <= rounding * longest)).tolist()
    if found:
        words = f"{len(found)} of {len(mesh.faces)} faces have no area; the first is face {found[0]}"
        remedy = "merge vertices that lie together and delete the faces that this flattens"
        yield Finding("degenerate_faces", "note", None, None, None, float(len(found)), words, remedy)


def many_influences(subject: Subject) -> Iterator[Finding]:
    """What it costs to keep the four largest influences of each vertex: measured over all clips."""
    mesh, skin = subject.model.mesh, subject.model.skin
    if mesh.weights.shape[1] <= KEPT_INFLUENCES:
        return
    dropped = mesh.weights[:, KEPT_INFLUENCES:].sum(axis=1)
    count = int((dropped > 0).sum())
    if not count:
        return
    chosen = np.argsort(-dropped, kind="stable")[: min(count, _MEASURED_VERTICES)]
    error, vertex, clip, time = _worst_loss(subject, np.sort(chosen))
    level: Level = "warning" if error > VISIBLE * subject.size else "note"
    joint = subject.names[skin.joints[mesh.slots[vertex, KEPT_INFLUENCES]]]
    most = int((mesh.weights > 0).sum(axis=1).max())
    words = (
        f"{count} vertices have up to {most} influences; with the {KEPT_INFLUENCES} largest alone vertex "
        f"{vertex} is {error:.4g} away ({100 * error / subject.size:.2g} % of the size)"
    )
    remedy = f"limit influences to {KEPT_INFLUENCES} and paint again, or load with max_influences={most}"
    yield Finding("influences_over_4", level, clip, joint, time, error, words, remedy)


def _worst_loss(subject: Subject, chosen: Array) -> tuple[float, int, str | None, float | None]:
    """(distance, vertex, clip, time) of the worst that dropping influences of `chosen` vertices does.

    A vertex is lost by sum (weight - kept weight) * palette * position, at rest and over the clips; morph
    targets are left out.
    """
    mesh = subject.model.mesh
    weights = mesh.weights[chosen].astype(np.float64)
    kept = np.where(np.arange(weights.shape[1]) < KEPT_INFLUENCES, weights, 0.0)
    change = weights / weights.sum(axis=1, keepdims=True) - kept / kept.sum(axis=1, keepdims=True)
    points = np.concatenate([mesh.positions[chosen], np.ones((len(chosen), 1))], axis=1)
    worst: tuple[float, int, str | None, float | None] = (-1.0, 0, None, None)
    for clip, times in subject.looks(_FRAMES_OF_A_CLIP, _FRAMES_IN_ALL):
        for part in chunks(len(times), 16 * len(chosen) + 12 * len(subject.model.skin)):
            palettes = subject.model.palette(clip, times[part], affine=True, loop="clamp")
            off = np.zeros((len(palettes), len(chosen), 3))
            for slots, share in zip(mesh.slots[chosen].T, change.T, strict=True):
                off += share[:, None] * np.einsum("tpij,pj->tpi", palettes[:, slots], points)
            distance = np.linalg.norm(off, axis=-1)
            frame, place = np.unravel_index(int(distance.argmax()), distance.shape)
            if distance[frame, place] > worst[0]:
                time = None if clip is None else float(times[part][frame])
                name = None if clip is None else clip.name
                worst = float(distance[frame, place]), int(chosen[place]), name, time
    return worst
