"""The NumPy version that skinpy is measured against: batched, float32, no Python loop over joints or times.

It is meant to be as fast as NumPy can reasonably be made to be:
- channels with the same path, interpolation and key times are one gather and one interpolation together, and
  all those that share their times with few others are one search, one gather and one interpolation too;
- channels of one key are folded into the base pose when the clip is prepared;
- joints are sorted by depth, so one level of the hierarchy is a slice and one batched product;
- matrices are 3x4, and their product is chosen between np.matmul and sums of broadcast products at the start;
- skinning blends matrices by one dense BLAS product or by gathers, whichever is faster for the model.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

PATHS = ("translation", "rotation", "scale")
Product = Callable[[Any, Any], Any]


def product_by_matmul(a: Any, b: Any) -> Any:
    """(..., 3, 4) * (..., 3, 4) as affine matrices."""
    out = a[..., :3] @ b
    out[..., 3] += a[..., 3]
    return out


def product_by_sums(a: Any, b: Any) -> Any:
    out = a[..., :, 0:1] * b[..., 0:1, :]
    out += a[..., :, 1:2] * b[..., 1:2, :]
    out += a[..., :, 2:3] * b[..., 2:3, :]
    out[..., 3] += a[..., 3]
    return out


def faster(choices: list[Callable[..., Any]], *arguments: Any) -> Callable[..., Any]:
    """The choice with the best of three runs."""

    def best(f: Callable[..., Any]) -> float:
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            f(*arguments)
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    return min(choices, key=best)


@dataclass
class Group:
    """Channels that share path and interpolation.

    Either all of them share one time line, and a key of all is one row of `values`; or each has its own, and
    all lines stand in one array, shifted so that they follow one another and one search serves them all.
    """

    path: str
    interpolation: str
    joints: Any  # (n,) rows among the joints that move
    lines: list[Any]  # one for all, or one for each: (K,)
    values: Any  # (K, n, C), or (sum of K, C)
    tangents: tuple[Any, Any] | None  # in, out, shaped like values

    def __post_init__(self) -> None:
        counts = np.array([len(t) for t in self.lines])
        self.first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self.last = self.first + counts - (1 if self.interpolation == "step" else 2)
        self.shift = np.arange(len(counts)) * (1.0 + max(float(t[-1]) for t in self.lines))
        self.shifted = np.concatenate([t + s for t, s in zip(self.lines, self.shift, strict=True)])
        self.times = np.concatenate(self.lines)
        self.ends = np.array([[t[0], t[-1]] for t in self.lines]).T

    def sample(self, tau: Any) -> Any:
        """(N,) -> (N, n, C)."""
        alone = self.values.ndim == 3
        tau = tau if alone else np.clip(tau[:, None], *self.ends)
        near = 1e-7 if self.interpolation == "step" else 0.0
        k = np.searchsorted(self.shifted, tau + (near if alone else self.shift + near), side="right") - 1
        k = np.clip(k, self.first[0] if alone else self.first, self.last[0] if alone else self.last)
        if self.interpolation == "step":
            return self.values[k]
        span = self.times[k + 1] - self.times[k]
        u = (np.clip(tau, *self.ends) - self.times[k]) / span
        wide = (slice(None), None, None) if alone else (slice(None), slice(None), None)
        return self._between(k, u.astype(np.float32)[wide], span.astype(np.float32)[wide])

    def _between(self, k: Any, u: Any, span: Any) -> Any:
        a, b = self.values[k], self.values[k + 1]
        if self.tangents is not None:
            u2, u3 = u * u, u * u * u
            out = a + (3 * u2 - 2 * u3) * (b - a)
            out += (u3 - 2 * u2 + u) * span * self.tangents[1][k]
            out += (u3 - u2) * span * self.tangents[0][k + 1]
            return normalized(out) if self.path == "rotation" else out
        return slerp(a, b, u) if self.path == "rotation" else a + u * (b - a)


def normalized(q: Any) -> Any:
    return q / np.sqrt(np.einsum("...i,...i->...", q, q))[..., None]


def slerp(a: Any, b: Any, u: Any) -> Any:
    """Shorter arc; a straight line below 1e-3 rad, where the two differ by less than float32 can hold."""
    dot = np.einsum("...i,...i->...", a, b)[..., None]
    sign = np.where(dot < 0, np.float32(-1), np.float32(1))
    angle = np.arccos(np.minimum(dot * sign, np.float32(1)))
    sine = np.sin(angle)
    near = sine < 1e-3
    sine[near] = 1
    wa = np.where(near, 1 - u, np.sin((1 - u) * angle) / sine)
    wb = np.where(near, u, np.sin(u * angle) / sine) * sign
    return normalized(wa * a + wb * b)


@dataclass
class Prepared:
    """A clip: its groups of channels, and what the moving joints have where no key moves them."""

    duration: float
    moved: Any  # depth order of the joints that have a channel
    base: list[Any]  # T, R, S of those joints
    groups: list[Group]


class NumpyModel:
    """A loaded model prepared for batched evaluation with NumPy."""

    def __init__(self, model: Any) -> None:
        parents = np.asarray(model.skeleton.parents)
        depth = np.zeros(len(parents), int)
        for j, parent in enumerate(parents):
            depth[j] = 0 if parent < 0 else depth[parent] + 1
        self.order = np.argsort(depth, kind="stable")  # depth order -> joint
        self.rank = np.argsort(self.order)  # joint -> depth order
        self.parents = np.where(parents < 0, -1, self.rank[parents])[self.order]
        starts = np.searchsorted(depth[self.order], np.arange(depth.max(initial=0) + 2))
        self.levels = [slice(a, b) for a, b in pairwise(starts)]
        s = model.skeleton
        rest = (s.translation, s.rotation, s.scale)
        self.rest = [np.array(r, np.float32)[self.order] for r in rest]
        self.rest_local = np.array(s.rest_local, np.float32)[self.order][:, :3]
        self.slots = self.rank[np.asarray(model.skin.joints)]
        self.inverse_bind = np.array(model.skin.inverse_bind, np.float32)[:, :3]
        self.clips = [self._prepare(clip) for clip in model.clips]
        self.product: Product = product_by_matmul
        self._prepare_mesh(model.mesh, len(self.slots))

    # -- preparing

    def _prepare(self, clip: Any) -> Prepared:
        base, rows = [r.copy() for r in self.rest], {p: i for i, p in enumerate(PATHS)}
        together: dict[Any, list[Any]] = {}
        moving = np.zeros(len(self.parents), bool)
        for channel in clip.channels:
            if channel.path not in rows:
                continue
            joint = self.rank[channel.joint]
            moving[joint] = True
            if len(channel.times) == 1:
                base[rows[channel.path]][joint] = channel.values[0]
            else:
                key = (channel.path, channel.interpolation, np.asarray(channel.times).tobytes())
                together.setdefault(key, []).append(channel)
        moved = np.flatnonzero(moving)
        within = np.cumsum(moving) - 1  # depth order -> row among the joints that move
        groups = [self._group(c, within, np.stack) for c in together.values() if len(c) > 3]
        apart: dict[Any, list[Any]] = {}
        for channels in together.values():
            if len(channels) <= 3:
                apart.setdefault((channels[0].path, channels[0].interpolation), []).extend(channels)
        groups += [self._group(c, within, np.concatenate) for c in apart.values()]
        return Prepared(clip.duration, moved, [b[moved] for b in base], groups)

    def _group(self, channels: list[Any], within: Any, join: Callable[..., Any]) -> Group:
        """np.stack for channels that share their times, np.concatenate for those that do not."""
        first, axis = channels[0], 1 if join is np.stack else 0
        tangents = None
        if first.interpolation == "cubic":
            ins, outs = ([getattr(c, f"{side}_tangents") for c in channels] for side in ("in", "out"))
            tangents = (join(ins, axis), join(outs, axis))
        joints = within[self.rank[[c.joint for c in channels]]]
        values = join([np.asarray(c.values) for c in channels], axis)
        shared = channels[:1] if join is np.stack else channels
        lines = [np.array(c.times) for c in shared]
        return Group(first.path, first.interpolation, joints, lines, values, tangents)

    def _prepare_mesh(self, mesh: Any, slot_count: int) -> None:
        self.positions = np.array(mesh.positions, np.float32)
        self.normals = np.array(mesh.normals, np.float32)
        self.vertex_slots = np.ascontiguousarray(np.asarray(mesh.slots).T.astype(np.intp))
        self.vertex_weights = np.ascontiguousarray(np.asarray(mesh.weights).T)[..., None]
        self.dense = None
        if 0 < slot_count * len(self.positions) <= 4_000_000:
            self.dense = np.zeros((len(self.positions), slot_count), np.float32)
            rows = np.arange(len(self.positions))
            for slots, weights in zip(self.vertex_slots, self.vertex_weights, strict=True):
                np.add.at(self.dense, (rows, slots), weights[:, 0])
        self.blend = self._blend_by_gather

    def tune(self, times: Any, clip: int = 0) -> NumpyModel:
        """Picks the faster matrix product and the faster blend for this model and batch."""
        local = self.local_matrices(clip, times)
        self.product = faster([product_by_matmul, product_by_sums], local, local)  # type: ignore[assignment]
        if self.dense is not None:
            palette = self.palette(clip, times[:1])[0]
            self.blend = faster([self._blend_by_gather, self._blend_by_product], palette)  # type: ignore
        return self

    # -- evaluating

    def wrap(self, clip: int, times: Any) -> Any:
        d = self.clips[clip].duration
        if d <= 0:
            return np.zeros_like(times)
        return np.where(np.abs(times - d) <= 1e-7, d, times - np.floor(times / d) * d)

    def sample(self, clip: int, times: Any) -> list[Any]:
        """(N,) seconds -> T, R, S of the joints that the clip moves, (N, moved, 3 | 4 | 3)."""
        prepared = self.clips[clip]
        tau = self.wrap(clip, times)
        pose = []
        for path, base in zip(PATHS, prepared.base, strict=True):
            value = np.broadcast_to(base, (len(tau), *base.shape))
            groups = [g for g in prepared.groups if g.path == path]
            if groups:
                value = value.copy()
                for group in groups:
                    value[:, group.joints] = group.sample(tau)
            pose.append(value)
        return pose

    def local_matrices(self, clip: int, times: Any) -> Any:
        """(N,) seconds -> (N, J, 3, 4) in depth order."""
        out = np.empty((len(times), *self.rest_local.shape), np.float32)
        out[...] = self.rest_local
        out[:, self.clips[clip].moved] = trs_matrices(*self.sample(clip, times))
        return out

    def palette(self, clip: int, times: Any) -> Any:
        """(N, S, 3, 4)."""
        return self._palette(self.local_matrices(clip, times))

    def _palette(self, out: Any) -> Any:
        """Locals (N, J, 3, 4) in depth order, which become globals -> (N, S, 3, 4)."""
        for level in self.levels[1:]:
            out[:, level] = self.product(out[:, self.parents[level]], out[:, level])
        return self.product(out[:, self.slots], self.inverse_bind)

    def crowd(self, clips: Any, times: Any, weights: Any) -> Any:
        """Blends of K clips, (N, K) each, weights that sum to 1 -> (N, S, 3, 4).

        Weighted sums; quaternions on the side of the rest rotation, normalized. Of three clips that is less
        than skinpy does, which finds the mean rotation by an eigenvector.
        """
        used = np.unique(clips)
        moved = np.unique(np.concatenate([self.clips[c].moved for c in used]))
        poses = [np.empty((clips.size, len(moved), r.shape[1]), np.float32) for r in self.rest]
        for c in used:
            rows = np.flatnonzero(clips == c)
            own = np.searchsorted(moved, self.clips[c].moved)
            for pose, value, rest in zip(poses, self.sample(c, times.ravel()[rows]), self.rest, strict=True):
                if len(own) == len(moved):
                    pose[rows] = value
                else:
                    whole = np.repeat(rest[None, moved], len(rows), 0)
                    whole[:, own] = value
                    pose[rows] = whole
        away = np.einsum("nji,ji->nj", poses[1], self.rest[1][moved]) < 0
        shares = weights.reshape(-1, 1)
        t, q, s = (
            np.einsum(
                "nk...,nk...->n...",
                pose.reshape(*clips.shape, *pose.shape[1:]),
                by.reshape(*clips.shape, -1, 1),
            )
            for pose, by in zip(poses, (shares, np.where(away, -shares, shares), shares), strict=True)
        )
        out = np.empty((len(times), *self.rest_local.shape), np.float32)
        out[...] = self.rest_local
        out[:, moved] = trs_matrices(t, normalized(q), s)
        return self._palette(out)

    # -- skinning

    def _blend_by_gather(self, palette: Any) -> Any:
        rows = palette.reshape(-1, 12)
        out = rows[self.vertex_slots[0]] * self.vertex_weights[0]
        for slots, weights in zip(self.vertex_slots[1:], self.vertex_weights[1:], strict=True):
            out += rows[slots] * weights
        return out.reshape(-1, 3, 4)

    def _blend_by_product(self, palette: Any) -> Any:
        return (self.dense @ palette.reshape(-1, 12)).reshape(-1, 3, 4)

    def deform(self, palette: Any) -> tuple[Any, Any]:
        """(S, 3, 4) -> (V, 3) positions and normals by cofactors."""
        m = self.blend(palette)
        positions = np.einsum("vij,vj->vi", m[..., :3], self.positions) + m[..., 3]
        a, b, c = m[:, 0, :3], m[:, 1, :3], m[:, 2, :3]
        bc = cross(b, c)
        turned = np.empty_like(positions)
        for i, row in enumerate((bc, cross(c, a), cross(a, b))):
            np.einsum("vi,vi->v", row, self.normals, out=turned[:, i])
        turned *= np.where(np.einsum("vi,vi->v", a, bc) < 0, np.float32(-1), np.float32(1))[:, None]
        length = np.sqrt(np.einsum("vi,vi->v", turned, turned))
        turned /= np.where(length > 0, length, 1)[:, None]
        return positions, turned


def cross(a: Any, b: Any) -> Any:
    """np.cross without its checks and axis moves, which cost more than the work."""
    out = np.empty_like(a)
    out[:, 0] = a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1]
    out[:, 1] = a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2]
    out[:, 2] = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return out


def trs_matrices(t: Any, q: Any, s: Any) -> Any:
    """T * R * S as (..., 3, 4) float32."""
    out = np.empty((*t.shape[:-1], 3, 4), np.float32)
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    sx, sy, sz = s[..., 0], s[..., 1], s[..., 2]
    out[..., 0, 0] = (1 - yy - zz) * sx
    out[..., 0, 1] = (xy - wz) * sy
    out[..., 0, 2] = (xz + wy) * sz
    out[..., 1, 0] = (xy + wz) * sx
    out[..., 1, 1] = (1 - xx - zz) * sy
    out[..., 1, 2] = (yz - wx) * sz
    out[..., 2, 0] = (xz - wy) * sx
    out[..., 2, 1] = (yz + wx) * sy
    out[..., 2, 2] = (1 - xx - yy) * sz
    out[..., 3] = t
    return out
