"""Rules of skinpy.check for the mesh: faces without an area, many influences, results that overflow."""

from collections.abc import Iterator

import numpy as np

from .._types import Array
from ..clip import Clip
from ..models.frames import chunks
from ..models.overflow import find_overflow, overflow_words
from .findings import Finding, finding
from .subject import VISIBLE, Subject

#: Influences that skinpy.load keeps by default, and that the vertex formats of most engines hold.
KEPT_INFLUENCES = 4

#: Vertices at which the error of dropped influences is measured: those with the most to lose.
_MAX_VERTICES = 5_000

#: Frames at which the error is measured, of one clip and of all together: about a second of work.
_FRAMES_OF_A_CLIP, _FRAMES_IN_ALL = 24, 480

#: float32 roundings that the height of a triangle is off by when its corners are computed from others.
_ROUNDINGS = 4


def degenerate_faces(subject: Subject) -> Iterator[Finding]:
    """Find faces without an area: two corners are one, or all lie on a line within float32 rounding."""
    mesh = subject.model.mesh
    found: list[int] = []
    for span in chunks(len(mesh.faces), 30):
        a, b, c = (mesh.positions[mesh.faces[span, corner]].astype(np.float64) for corner in range(3))
        edges = np.stack([b - a, c - b, a - c])
        longest = np.linalg.norm(edges, axis=-1).max(axis=0)
        rounding = _ROUNDINGS * np.finfo(np.float32).eps * np.abs(np.stack([a, b, c])).max(axis=(0, 2))
        area = np.linalg.norm(np.cross(edges[0], edges[1]), axis=-1)
        found += (span.start + np.flatnonzero(area <= rounding * longest)).tolist()
    if found:
        yield finding(
            "degenerate_faces",
            "note",
            f"{len(found)} of {len(mesh.faces)} faces have no area; the first is face {found[0]}",
            "merge vertices at the same position and delete the faces that become flat",
            size=len(found),
        )


def overflows(subject: Subject, clip: Clip | None) -> list[Finding]:
    """Find the first transform or vertex of a clip, or of the rest pose, that float32 cannot hold."""
    if clip is not None and clip.is_additive:
        return []
    beyond = find_overflow(subject.model, clip)
    if beyond is None:
        return []
    return [
        finding(
            "overflow",
            "error",
            f"{overflow_words(clip, beyond)}; results computed from it are infinite",
            "use smaller translations, scales and positions; the file's unit may be wrong",
            clip=None if clip is None else clip.name,
            joint=beyond.joint,
            time=None if clip is None else beyond.time,
        )
    ]


def many_influences(subject: Subject) -> Iterator[Finding]:
    """Measure the error, over all clips, of keeping only the four largest influences of each vertex."""
    mesh, skin = subject.model.mesh, subject.model.skin
    if mesh.weights.shape[1] <= KEPT_INFLUENCES:
        return
    dropped = mesh.weights[:, KEPT_INFLUENCES:].sum(axis=1)
    count = int((dropped > 0).sum())
    if not count:
        return
    chosen = np.argsort(-dropped, kind="stable")[: min(count, _MAX_VERTICES)]
    error, vertex, clip, time = _worst_loss(subject, np.sort(chosen))
    most = int((mesh.weights > 0).sum(axis=1).max())
    yield finding(
        "influences_over_4",
        "warning" if error > VISIBLE * subject.size else "note",
        f"{count} vertices have up to {most} influences; if only the {KEPT_INFLUENCES} largest are kept, "
        f"vertex {vertex} moves by {error:.4g} model units ({100 * error / subject.size:.2g} % of the size)",
        f"limit influences to {KEPT_INFLUENCES} in the authoring program, or load with max_influences={most}",
        clip=clip,
        joint=subject.names[skin.joints[mesh.slots[vertex, KEPT_INFLUENCES]]],
        time=time,
        size=error,
    )


def _worst_loss(subject: Subject, chosen: Array) -> tuple[float, int, str | None, float | None]:
    """Return (distance, vertex, clip, time) of the largest error of dropping influences of some vertices.

    The error of a vertex is the sum of (weight - kept weight) * palette * position, at rest and over the
    clips; morph targets are left out.
    """
    mesh = subject.model.mesh
    weights = mesh.weights[chosen].astype(np.float64)
    kept = np.where(np.arange(weights.shape[1]) < KEPT_INFLUENCES, weights, 0.0)
    change = weights / weights.sum(axis=1, keepdims=True) - kept / kept.sum(axis=1, keepdims=True)
    points = np.concatenate([mesh.positions[chosen], np.ones((len(chosen), 1))], axis=1)
    worst: tuple[float, int, str | None, float | None] = (-1.0, 0, None, None)
    for clip, times in subject.looks(_FRAMES_OF_A_CLIP, _FRAMES_IN_ALL):
        for span in chunks(len(times), 16 * len(chosen) + 12 * len(subject.model.skin)):
            palettes = subject.model.palette(clip, times[span], affine=True, loop="clamp")
            off = np.zeros((len(palettes), len(chosen), 3))
            for slots, weight in zip(mesh.slots[chosen].T, change.T, strict=True):
                off += weight[:, None] * np.einsum("tpij,pj->tpi", palettes[:, slots], points)
            distance = np.linalg.norm(off, axis=-1)
            frame, row = np.unravel_index(int(distance.argmax()), distance.shape)
            if distance[frame, row] > worst[0]:
                time = None if clip is None else float(times[span][frame])
                name = None if clip is None else clip.name
                worst = float(distance[frame, row]), int(chosen[row]), name, time
    return worst
