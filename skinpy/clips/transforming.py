"""Clip.transform: a clip in which the figure moves through the scene in another position, direction and size.

With X = (s Q | p) the transform and T, R, S a root joint's components, X T R S has the translation s Q T + p,
the rotation Q R and the scale s S. Each is linear in the keys, which are carried over one by one with their
interpolation and tangents. Root motion M(t) becomes X M(t) X^-1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import rotation as rotations
from .._arguments import floats
from .._text import quoted
from .._types import Array, Floats
from ..clip import Channel, Clip
from ..posing.kinematics import conjugate, quaternion_product, rotated
from .edit import derived, with_keys
from .evaluate import slerp, trs, unit
from .events import Motion
from .root_motion import RootMotion

if TYPE_CHECKING:
    from ..model import Model

#: How far a transform may be off a similarity, and a rest matrix off T * R * S, as a fraction of its size.
_TOLERANCE = 1e-5
#: The largest error of a root motion between keys, as a fraction of the transform's translation.
_MOTION_ERROR = 1e-6


@dataclass(frozen=True)
class Similarity:
    """A uniform scale, then a rotation (4,) x y z w, then a translation (3,)."""

    translation: Array
    rotation: Array
    scale: float


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not finite, and refused by name
def transformed(clip: Clip, matrix: npt.ArrayLike) -> Clip:
    """See Clip.transform."""
    model = clip._bound_model()
    if clip.is_additive:
        raise ValueError(
            f"clip {quoted(clip.name)} is additive; expected the clip that it was made from: transform that, "
            "then take additive()"
        )
    change = _similarity(matrix)
    roots = np.flatnonzero(model.skeleton.parents < 0).tolist()
    _refuse_shear(model, roots)
    keyed = {(channel.joint, channel.path): channel for channel in clip.channels if channel.joint in roots}
    kept = [one for one in clip.channels if (one.joint, one.path) not in keyed or one.path == "visibility"]
    changed = [
        with_keys(keyed.get((root, path)) or _resting(model, root, path), values, slopes)
        for root in roots
        for path, (values, slopes) in _maps(change).items()
    ]
    motion = None if clip.root_motion is None else _changed_motion(clip.root_motion, change)
    return derived(clip, [*kept, *changed], clip.duration, motion=motion)


def _similarity(matrix: npt.ArrayLike) -> Similarity:
    """The parts of a matrix; ValueError unless it is a rotation, a translation and a uniform scale."""
    given = floats("matrix", matrix, (4, 4), np.float64)
    wanted = "expected a rotation, a translation and a uniform scale above 0"
    if np.abs(given[3] - [0.0, 0.0, 0.0, 1.0]).max() > _TOLERANCE:
        raise ValueError(f"the last row of matrix is {given[3].tolist()}; expected 0, 0, 0, 1")
    linear = given[:3, :3]
    lengths = np.linalg.norm(linear, axis=0)
    scale = float(np.cbrt(lengths.prod()))
    if not (0 < scale < math.inf) or np.ptp(lengths) > _TOLERANCE * scale:
        raise ValueError(f"matrix scales the three axes by {lengths.tolist()}; {wanted}")
    axes = linear / scale
    if np.abs(axes.T @ axes - np.eye(3)).max() > _TOLERANCE:
        raise ValueError(f"matrix has a shear; {wanted}")
    if np.linalg.det(axes) < 0:
        raise ValueError(
            f"matrix is a reflection; {wanted}: clip.mirror() swaps left and right, which no figure does by "
            "a transform of its roots"
        )
    return Similarity(given[:3, 3], rotations.from_matrix(axes).astype(np.float64), scale)


def _refuse_shear(model: "Model", roots: list[int]) -> None:
    """ValueError if a root has a rest matrix with shear, which no T, R and S of a channel can hold."""
    skeleton = model.skeleton
    plain = trs(
        skeleton.translation.astype(np.float64),
        unit(skeleton.rotation.astype(np.float64)),
        skeleton.scale.astype(np.float64),
    )
    off = np.abs(plain - skeleton.rest_local)[:, :3, :3].max(axis=(1, 2), initial=0.0)
    for root in roots:
        if off[root] > _TOLERANCE * np.abs(skeleton.rest_local[root, :3, :3]).max():
            raise ValueError(
                f"joint {quoted(skeleton.names[root])} is a root whose rest matrix has shear, which no keys "
                "hold; give the matrix to Model.pose or Model.palette as root instead"
            )


_Map = Callable[[Array], Array]


def _maps(change: Similarity) -> dict[str, tuple[_Map, _Map]]:
    """What the transform makes of values (N,C) and of slopes (N,C), for each path that it changes."""

    def turned(vectors: Array) -> Array:
        return np.asarray(change.scale * rotated(change.rotation, vectors))

    def rotation(keys: Array) -> Array:
        return quaternion_product(change.rotation, keys)

    def scale(keys: Array) -> Array:
        return np.asarray(change.scale * keys)

    maps: dict[str, tuple[_Map, _Map]] = {
        "translation": (lambda keys: turned(keys) + change.translation, turned)
    }
    if np.abs(change.rotation[:3]).max() > 0:
        maps["rotation"] = rotation, rotation
    if change.scale != 1.0:
        maps["scale"] = scale, scale
    return maps


def _resting(model: "Model", root: int, path: str) -> Channel:
    """A channel of one key, which holds a root at rest."""
    skeleton = model.skeleton
    value: Floats = getattr(skeleton, path)[root][None]
    return Channel(root, None, skeleton.names[root], path, "linear", np.zeros(1), value, None, None)


def _changed_motion(motion: RootMotion, change: Similarity) -> Motion:
    """X M(t) X^-1, with R' = Q R Q^-1 and the translation p + s Q m - R' p.

    The last term moves on an arc where R' turns, so such spans get more keys: an arc of angle a and radius r
    is off its chord by at most r a^2 / 8.
    """
    times, translation, rotation = motion.times, motion.translation, motion.rotation
    if change.translation.any():
        times, translation, rotation = _refined(times, translation, rotation)
    turned = quaternion_product(quaternion_product(change.rotation, rotation), conjugate(change.rotation))
    moved = change.scale * rotated(change.rotation, translation)
    moved = moved + change.translation - rotated(turned, change.translation)
    return Motion(times, np.concatenate([moved, turned], axis=1).astype(np.float32))


def _refined(times: Array, translation: Array, rotation: Array) -> tuple[Array, Array, Array]:
    """The keys of a root motion with so many more that no span turns by more than a small angle."""
    cosines = np.abs((rotation[1:] * rotation[:-1]).sum(axis=1)).clip(0.0, 1.0)
    counts = np.ceil(2.0 * np.arccos(cosines) / math.sqrt(8.0 * _MOTION_ERROR)).astype(int).clip(1)
    spans = np.repeat(np.arange(len(counts)), counts)
    u = np.concatenate([np.arange(count) / count for count in counts] or [np.zeros(0)])
    lines = times[spans] + u * (times[spans + 1] - times[spans])
    moved = translation[spans] + u[:, None] * (translation[spans + 1] - translation[spans])
    turned = slerp(rotation[spans], rotation[spans + 1], u)
    return (
        np.append(lines, times[-1]),
        np.concatenate([moved, translation[-1:]]),
        np.concatenate([turned, rotation[-1:]]),
    )
