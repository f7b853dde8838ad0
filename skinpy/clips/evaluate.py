"""Clips evaluated in float64 with NumPy: slow, and the reference for the measurement of errors.

Interpolation follows appendix C of glTF 2.0. The palette of a slot is the global transform of its joint times
its inverse bind matrix, and a vertex is the sum of weight * palette * position over its slots. Matrices are
for column vectors, quaternions are x y z w.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..clip import Channel, Clip

if TYPE_CHECKING:
    from ..model import Model

#: A time that lies up to this many ticks before a key counts as the time of the key.
_KEY_TOLERANCE_TICKS = 1e-4
_MAX_SAMPLES = 2**18  # of one channel, besides its keys: in clips of hours the gaps are longer


def key_tolerance(clip: Clip) -> float:
    """How many seconds before a key a time still counts as the time of the key."""
    return _KEY_TOLERANCE_TICKS / clip.ticks_per_second


def unit(rows: Array) -> Array:
    """Rows (...,C) divided by their lengths; rows of length 0 stay as they are."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1.0))


def slerp(start: Array, end: Array, fraction: Array) -> Array:
    """Unit quaternions (...,4) on the shorter arc between two; `fraction` (...) goes from 0 to 1."""
    a, b = unit(start), unit(end)
    b = np.where((a * b).sum(axis=-1, keepdims=True) < 0, -b, b)
    # The lengths of difference and sum are accurate for tiny arcs and for arcs of nearly 180 degrees.
    chord, total = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    angle = 2.0 * np.arctan2(chord, total)[..., None]
    u = fraction[..., None]
    sine = np.sin(angle)
    flat = sine < 1e-9
    sine = np.where(flat, 1.0, sine)
    first = np.where(flat, 1.0 - u, np.sin((1.0 - u) * angle) / sine)
    return unit(first * a + np.where(flat, u, np.sin(u * angle) / sine) * b)


def same_signs(rotations: Array) -> Array:
    """Quaternions (N,4), each with the sign that is nearer to the one before."""
    signs = np.where((rotations[1:] * rotations[:-1]).sum(axis=1) < 0, -1.0, 1.0)
    return np.asarray(rotations * np.concatenate([np.ones(1), np.cumprod(signs)])[:, None])


def shortest_rotation(start: Array, end: Array) -> Array:
    """The shortest rotations (...,4) from directions (...,3), of any length, to others.

    Between opposite directions it is a half turn about any axis at right angles to them.
    """
    a, b = np.broadcast_arrays(unit(start), unit(end))
    real = 1.0 + (a * b).sum(axis=-1, keepdims=True)
    opposite = real < 1e-9
    aside = np.cross(a, np.eye(3)[np.argmin(np.abs(a), axis=-1)])
    vector = np.where(opposite, aside, np.cross(a, b))
    return unit(np.concatenate([vector, np.where(opposite, 0.0, real)], axis=-1))


def sample_channel(channel: Channel, times: Array, tolerance: float = 0.0) -> Array:
    """(N,C) float64: the channel at times (N,) in seconds; outside the keys it is the nearest key."""
    line, values = channel.times, channel.values.astype(np.float64)
    low = np.clip(np.searchsorted(line, times + tolerance, side="right") - 1, 0, len(line) - 1)
    high = np.minimum(low + 1, len(line) - 1)
    span = line[high] - line[low]
    fraction = np.clip((times - line[low]) / np.where(span > 0, span, 1.0), 0.0, 1.0) * (span > 0)
    is_rotation = channel.path == "rotation"
    if channel.interpolation == "step":
        return values[low]
    if channel.interpolation == "cubic":
        curve = _hermite(channel, values, low, high, fraction, span)
        return unit(curve) if is_rotation else curve
    if is_rotation:
        return slerp(values[low], values[high], fraction)
    return np.asarray(values[low] + fraction[:, None] * (values[high] - values[low]))


def _hermite(channel: Channel, values: Array, low: Array, high: Array, fraction: Array, span: Array) -> Array:
    """(N,C): cubic splines between keys `low` and `high`; `span` is the time between these, in seconds."""
    assert channel.in_tangents is not None and channel.out_tangents is not None
    u, h = fraction[:, None], span[:, None]
    return np.asarray(
        (2 * u**3 - 3 * u**2 + 1) * values[low]
        + (u**3 - 2 * u**2 + u) * h * channel.out_tangents[low].astype(np.float64)
        + (3 * u**2 - 2 * u**3) * values[high]
        + (u**3 - u**2) * h * channel.in_tangents[high].astype(np.float64)
    )


class Evaluator:
    """A model in float64: its global transforms and its skinned vertices."""

    def __init__(self, model: "Model") -> None:
        self._model = model
        skeleton, mesh, skin = model.skeleton, model.mesh, model.skin
        self._rest = {
            "translation": skeleton.translation,
            "rotation": skeleton.rotation,
            "scale": skeleton.scale,
            "weights": np.array([[target.default_weight] for target in model.targets]).reshape(-1, 1),
        }
        self._positions = mesh.positions.astype(np.float64)
        self._binds = skin.inverse_bind.astype(np.float64)
        self._rest_local = skeleton.rest_local.astype(np.float64)

    def _sample(self, clip: Clip, times: Array) -> dict[str, Array]:
        """Translation (N,J,3), rotation (N,J,4), scale (N,J,3) and morph weights (N,M,1) by path."""
        found = {
            path: np.repeat(rest[None].astype(np.float64), len(times), axis=0)
            for path, rest in self._rest.items()
        }
        for channel in clip._pose_channels:
            moved = channel.target if channel.joint is None else channel.joint
            found[channel.path][:, moved] = sample_channel(channel, times, key_tolerance(clip))
        return found

    def globals(self, clip: Clip, times: Array) -> Array:
        """(N,J,4,4): transforms from the joints to scene space at times (N,)."""
        pose = self._sample(clip, times)
        return self.chain(pose["translation"], pose["rotation"], pose["scale"])

    def chain(self, translation: Array, rotation: Array, scale: Array) -> Array:
        """(N,J,4,4): global transforms of poses of T (N,J,3), R (N,J,4) and S (N,J,3)."""
        found = trs(translation.astype(np.float64), unit(rotation.astype(np.float64)), scale)
        resting = np.ones(found.shape[:2], bool)
        for path, given in (("translation", translation), ("rotation", rotation), ("scale", scale)):
            resting &= (given.astype(np.float32) == self._rest[path]).all(axis=-1)
        # A joint at rest has the matrix of the file, which may hold shear.
        found = np.where(resting[..., None, None], self._rest_local, found)
        for joint, parent in enumerate(self._model.skeleton.parents):
            if parent >= 0:
                found[:, joint] = found[:, parent] @ found[:, joint]
        return found

    def deform(self, clip: Clip, times: Array) -> Array:
        """(N,V,3): the morphed, skinned vertices in scene space, at times (N,) from 0 to the duration."""
        mesh, skin = self._model.mesh, self._model.skin
        pose = self._sample(clip, times)
        matrices = self.chain(pose["translation"], pose["rotation"], pose["scale"])
        palette = matrices[:, skin.joints] @ self._binds
        points = np.repeat(self._positions[None], len(times), axis=0)
        for number, target in enumerate(self._model.targets):
            points[:, target.vertices] += pose["weights"][:, number, None] * target.positions
        moved = np.zeros_like(points)
        for column in range(mesh.slots.shape[1]):
            used = np.flatnonzero(mesh.weights[:, column])
            matrices = palette[:, mesh.slots[used, column], :3]
            moved_by_slot = np.einsum("nvij,nvj->nvi", matrices[..., :3], points[:, used]) + matrices[..., 3]
            moved[:, used] += mesh.weights[used, column, None].astype(np.float64) * moved_by_slot
        return moved


def trs(translation: Array, rotation: Array, scale: Array) -> Array:
    """(...,4,4): matrices T * R * S of translations, unit quaternions and scales."""
    x, y, z, w = np.moveaxis(rotation, -1, 0)
    matrices = np.zeros((*translation.shape[:-1], 4, 4))
    matrices[..., 0, 0], matrices[..., 0, 1] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w)
    matrices[..., 0, 2], matrices[..., 1, 0] = 2 * (x * z + y * w), 2 * (x * y + z * w)
    matrices[..., 1, 1], matrices[..., 1, 2] = 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    matrices[..., 2, 0], matrices[..., 2, 1] = 2 * (x * z - y * w), 2 * (y * z + x * w)
    matrices[..., 2, 2] = 1 - 2 * (x * x + y * y)
    matrices[..., :3, :3] *= scale[..., None, :]
    matrices[..., :3, 3] = translation
    matrices[..., 3, 3] = 1.0
    return matrices


def key_times(channels: Sequence[Channel], slack: float, steps: bool, longest: float) -> Array:
    """All key times of channels, for sampling what several of them determine.

    Unless all channels are steps, there is also a time just before each step, and no gap over `longest` s.
    """
    lines = [channel.times for channel in channels]
    if not steps:
        first, last = min(line[0] for line in lines), max(line[-1] for line in lines)
        before = [c.times[1:] - 3 * slack for c in channels if c.interpolation == "step"]
        lines = [*lines, *before]
        step = max(longest, (last - first) / _MAX_SAMPLES)
        grid = np.arange(1, int((last - first) / step) + 1) * step + first
        keys = np.unique(np.concatenate(lines))
        after = np.clip(np.searchsorted(keys, grid), 1, len(keys) - 1)
        gap = keys[after] - keys[after - 1] if len(keys) > 1 else np.zeros(len(grid))
        lines = [keys, grid[(gap > step * 1.01) & (grid < last)]]
    times = np.unique(np.concatenate(lines))
    return np.asarray(times[np.concatenate([np.ones(1, bool), np.diff(times) > slack])])
