"""The numba version that skinpy is measured against: compiled loops over instances, joints and vertices.

It is what a capable user would write for a loaded model:
- a key is found once for each different line of key times, not once for each channel;
- channels of one key are folded into the base pose, and joints that no channel moves keep their matrix;
- everything is float32 in three flat arrays, as each array that is handed to compiled code costs 0.1 us;
- one thread, cached; with fastmath, which is the faster and stays within 1e-5 of the size.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import njit

CHAIN = 4  # cycles of one step of _chain on x86-64: an exclusive or, and a product of integers
PATHS = {"translation": 0, "rotation": 1, "scale": 2}
WIDTHS = (3, 4, 3)
STEP, LINEAR, CUBIC = 0, 1, 2
KINDS = {"step": STEP, "linear": LINEAR, "cubic": CUBIC}
compiled = njit(cache=True, fastmath=True)


class NumbaModel:
    """A loaded model packed for compiled code.

    `ints` begins with the offsets of its own sections and of those of `floats`; see _pack and _parts.
    """

    def __init__(self, model: Any) -> None:
        self.lines: dict[Any, int] = {}
        self.line_table: list[tuple[int, int]] = []
        self.channel_table: list[tuple[int, int, int]] = []
        self.times: list[Any] = [np.array([c.duration for c in model.clips])]
        self.values: list[Any] = []
        clips = [self._clip(model.skeleton, clip) for clip in model.clips]
        s = model.skeleton
        ints = [s.parents, model.skin.joints, self.line_table, self.channel_table]
        ints += [[c[0] for c in clips], [c[1] for c in clips], [c[2] for c in clips]]
        floats = [np.array(s.rest_local)[:, :3], np.array(model.skin.inverse_bind)[:, :3]]
        rest = np.concatenate([s.translation, s.rotation, s.scale], 1)
        floats += [[*(c[3] for c in clips), rest], np.concatenate([*self.values, [0]])]
        self.ints, self.floats = _pack(ints, floats)
        self.seconds = np.concatenate(self.times)
        self.joint_count, self.slot_count = len(s.parents), len(model.skin.joints)
        mesh = model.mesh
        self.mesh = tuple(
            np.ascontiguousarray(a, t)
            for a, t in (
                (mesh.positions, np.float32),
                (mesh.normals, np.float32),
                (mesh.slots, np.uint16),
                (mesh.weights, np.float32),
            )
        )
        self.deformed = (np.empty_like(self.mesh[0]), np.empty_like(self.mesh[1]))

    def _clip(self, skeleton: Any, clip: Any) -> tuple[Any, Any, Any, Any]:
        """Range of lines, (J,) whether a joint moves, (J, 3) channel or -1, (J, 10) base pose."""
        count = len(skeleton.names)
        base = np.concatenate([skeleton.translation, skeleton.rotation, skeleton.scale], 1).astype(np.float32)
        moved, channels = np.zeros(count, np.int32), np.full((count, 3), -1, np.int32)
        first_line = len(self.line_table)
        self.lines.clear()
        for channel in clip.channels:
            if channel.path not in PATHS:
                continue
            path, j = PATHS[channel.path], channel.joint
            moved[j] = 1
            if len(channel.times) == 1:
                start = (0, 3, 7)[path]
                base[j, start : start + WIDTHS[path]] = channel.values[0]
                continue
            channels[j, path] = len(self.channel_table)
            self.channel_table.append(self._channel(channel))
        return (first_line, len(self.line_table)), moved, channels, base

    def _channel(self, channel: Any) -> tuple[int, int, int]:
        """Its line, its first float among the values, its kind; a cubic key is in-tangent, value, out."""
        step = channel.interpolation == "step"
        times = np.asarray(channel.times)
        line = self.lines.setdefault((step, times.tobytes()), len(self.line_table))
        if line == len(self.line_table):
            self.line_table.append((sum(map(len, self.times)), len(times)))
            self.times.append(times - 1e-7 if step else times)
        values = np.asarray(channel.values)
        if channel.interpolation == "cubic":
            values = np.stack([channel.in_tangents, values, channel.out_tangents], 1)
        first = sum(map(len, self.values))
        self.values.append(values.astype(np.float32).ravel())
        return line, first, KINDS[channel.interpolation]

    def pose(self, clip: int, time: float, out: Any) -> Any:
        """(S, 3, 4) of one time."""
        _one(self.ints, self.floats, self.seconds, clip, time, out)
        return out

    def palette(self, clip: int, times: Any, out: Any) -> Any:
        """(N, S, 3, 4)."""
        _many(self.ints, self.floats, self.seconds, clip, times, out)
        return out

    def crowd(self, clips: Any, times: Any, weights: Any, out: Any) -> Any:
        """(N, S, 3, 4) of blends of K clips: clips, times and weights are (N, K)."""
        _blended(self.ints, self.floats, self.seconds, clips, times, weights, out)
        return out

    def deform(self, palette: Any) -> tuple[Any, Any]:
        """(S, 3, 4) -> (V, 3) positions and normals by cofactors, in arrays that are kept."""
        _deform(palette, *self.mesh, *self.deformed)
        return self.deformed


def spend_cycles(cycles: int) -> None:
    """Takes so many cycles of this thread's clock, by a chain of operations whose cycles are known."""
    _chain(cycles // CHAIN)


def gigahertz() -> float:
    """The clock at which this thread runs; the best of 9."""
    cycles, best = 8_000_000, 0.0
    spend_cycles(cycles)
    for _ in range(9):
        start = time.perf_counter()
        spend_cycles(cycles)
        best = max(best, 1e-9 * cycles / (time.perf_counter() - start))
    return best


def _pack(ints: list[Any], floats: list[Any]) -> tuple[Any, Any]:
    """One array of each; the ints begin with where every section of both begins."""
    flat = [np.asarray(a, np.int32).ravel() for a in ints]
    real = [np.asarray(a, np.float32).ravel() for a in floats]
    head = len(flat) + len(real) + 2
    starts = [*(head + np.cumsum([0, *map(len, flat)])), *np.cumsum([0, *map(len, real)])]
    return np.concatenate([np.array(starts, np.int32), *flat]), np.concatenate(real)


@compiled
def _chain(steps):  # type: ignore[no-untyped-def]
    x = np.uint64(1)
    for i in range(steps):
        x = (x ^ np.uint64(i)) * np.uint64(0x9E3779B97F4A7C15)
    return x


@compiled
def _parts(ints, floats):  # type: ignore[no-untyped-def]
    """The sections that _pack laid one after another; offsets of ints at 0 to 7, of floats at 8 to 12."""
    return (
        ints[ints[0] : ints[1]],  # parents (J,)
        ints[ints[1] : ints[2]],  # joints of the slots (S,)
        ints[ints[2] : ints[3]],  # lines: first time, count
        ints[ints[3] : ints[4]],  # channels: line, first float, kind
        ints[ints[4] : ints[5]],  # clips: first line, last line
        ints[ints[5] : ints[6]],  # clips: (J,) moved
        ints[ints[6] : ints[7]],  # clips: (J, 3) channel
        floats[ints[8] : ints[9]],  # rest locals (J, 12)
        floats[ints[9] : ints[10]],  # inverse binds (S, 12)
        floats[ints[10] : ints[11]],  # clips: (J, 10) base; the rest pose behind the last
        floats[ints[11] : ints[12]],  # values
    )


@compiled
def _find_keys(parts, seconds, clip, time, key, fraction, span):  # type: ignore[no-untyped-def]
    """For every line of the clip: the key before the time, how far it is to the next, seconds between."""
    lines, clips = parts[2], parts[4]
    duration = seconds[clip]
    tau = 0.0
    if duration > 0:
        tau = time - np.floor(time / duration) * duration
        if abs(time - duration) <= 1e-7:
            tau = duration
    for line in range(clips[2 * clip], clips[2 * clip + 1]):
        first, count = lines[2 * line], lines[2 * line + 1]
        low, high = first, first + count - 1  # the last key at or before tau
        while low < high:
            middle = (low + high + 1) >> 1
            if seconds[middle] <= tau:
                low = middle
            else:
                high = middle - 1
        key[line], fraction[line], span[line] = low - first, 0.0, 0.0
        if low < first + count - 1 and tau > seconds[low]:
            wide = seconds[low + 1] - seconds[low]
            fraction[line], span[line] = (tau - seconds[low]) / wide, wide


@compiled
def _vector(parts, channel, base, key, fraction, span):  # type: ignore[no-untyped-def]
    """Three numbers of a translation or scale; `base` is where they stand where no key moves them."""
    values = parts[10]
    if channel < 0:
        rest = parts[9]
        return rest[base], rest[base + 1], rest[base + 2]
    line, first, kind = parts[3][3 * channel], parts[3][3 * channel + 1], parts[3][3 * channel + 2]
    if kind == CUBIC:
        a = first + 9 * key[line]
        h0, h1, h2, h3 = _hermite(fraction[line], span[line])
        if span[line] == 0:
            return values[a + 3], values[a + 4], values[a + 5]
        return (
            h0 * values[a + 3] + h1 * values[a + 6] + h2 * values[a + 12] + h3 * values[a + 9],
            h0 * values[a + 4] + h1 * values[a + 7] + h2 * values[a + 13] + h3 * values[a + 10],
            h0 * values[a + 5] + h1 * values[a + 8] + h2 * values[a + 14] + h3 * values[a + 11],
        )
    a = first + 3 * key[line]
    u = fraction[line]
    if kind == STEP or u == 0:
        return values[a], values[a + 1], values[a + 2]
    return (
        values[a] + u * (values[a + 3] - values[a]),
        values[a + 1] + u * (values[a + 4] - values[a + 1]),
        values[a + 2] + u * (values[a + 5] - values[a + 2]),
    )


@compiled
def _hermite(u, span):  # type: ignore[no-untyped-def]
    """Shares of the first value, its out-tangent, the second value, its in-tangent."""
    u2 = u * u
    u3 = u2 * u
    blend = np.float32(3) * u2 - np.float32(2) * u3
    one = np.float32(1)
    return one - blend, (u3 - np.float32(2) * u2 + u) * span, blend, (u3 - u2) * span


@compiled
def _rotation(parts, channel, base, key, fraction, span):  # type: ignore[no-untyped-def]
    """A unit quaternion."""
    values = parts[10]
    if channel < 0:
        rest = parts[9]
        return rest[base], rest[base + 1], rest[base + 2], rest[base + 3]
    line, first, kind = parts[3][3 * channel], parts[3][3 * channel + 1], parts[3][3 * channel + 2]
    u = fraction[line]
    if kind == CUBIC:
        a = first + 12 * key[line] + 4
        h0, h1, h2, h3 = _hermite(u, span[line])
        b = a + 12 if span[line] != 0 else a
        return _unit(
            h0 * values[a] + h1 * values[a + 4] + h2 * values[b] + h3 * values[b - 4],
            h0 * values[a + 1] + h1 * values[a + 5] + h2 * values[b + 1] + h3 * values[b - 3],
            h0 * values[a + 2] + h1 * values[a + 6] + h2 * values[b + 2] + h3 * values[b - 2],
            h0 * values[a + 3] + h1 * values[a + 7] + h2 * values[b + 3] + h3 * values[b - 1],
        )
    a = first + 4 * key[line]
    ax, ay, az, aw = values[a], values[a + 1], values[a + 2], values[a + 3]
    if kind == STEP or u == 0:
        return ax, ay, az, aw
    bx, by, bz, bw = values[a + 4], values[a + 5], values[a + 6], values[a + 7]
    dot = ax * bx + ay * by + az * bz + aw * bw
    sign = np.float32(1) if dot >= 0 else np.float32(-1)
    wa, wb = np.float32(1) - u, u
    dot *= sign
    if dot < np.float32(0.999999):  # beyond it the straight line is as near as float32 can tell
        angle = np.arccos(dot)
        inverse = np.float32(1) / np.sin(angle)
        wa, wb = np.sin(wa * angle) * inverse, np.sin(wb * angle) * inverse
    wb *= sign
    return _unit(wa * ax + wb * bx, wa * ay + wb * by, wa * az + wb * bz, wa * aw + wb * bw)


@compiled
def _unit(x, y, z, w):  # type: ignore[no-untyped-def]
    inverse = np.float32(1) / np.sqrt(x * x + y * y + z * z + w * w)
    return x * inverse, y * inverse, z * inverse, w * inverse


@compiled
def _attach(globals_, j, parent, t, q, s):  # type: ignore[no-untyped-def]
    """globals[j] = globals[parent] * (T * R * S)."""
    x, y, z, w = q
    x2, y2, z2 = x + x, y + y, z + z
    one = np.float32(1)
    m00, m01, m02 = (one - y * y2 - z * z2) * s[0], (x * y2 - w * z2) * s[1], (x * z2 + w * y2) * s[2]
    m10, m11, m12 = (x * y2 + w * z2) * s[0], (one - x * x2 - z * z2) * s[1], (y * z2 - w * x2) * s[2]
    m20, m21, m22 = (x * z2 - w * y2) * s[0], (y * z2 + w * x2) * s[1], (one - x * x2 - y * y2) * s[2]
    o = 12 * j
    if parent < 0:
        globals_[o], globals_[o + 1], globals_[o + 2], globals_[o + 3] = m00, m01, m02, t[0]
        globals_[o + 4], globals_[o + 5], globals_[o + 6], globals_[o + 7] = m10, m11, m12, t[1]
        globals_[o + 8], globals_[o + 9], globals_[o + 10], globals_[o + 11] = m20, m21, m22, t[2]
        return
    p = 12 * parent
    for _ in range(3):
        a, b, c, d = globals_[p], globals_[p + 1], globals_[p + 2], globals_[p + 3]
        globals_[o] = a * m00 + b * m10 + c * m20
        globals_[o + 1] = a * m01 + b * m11 + c * m21
        globals_[o + 2] = a * m02 + b * m12 + c * m22
        globals_[o + 3] = a * t[0] + b * t[1] + c * t[2] + d
        p += 4
        o += 4


@compiled
def _affine(a, at_a, b, at_b, out, at):  # type: ignore[no-untyped-def]
    """out = a * b, both three rows of four."""
    for row in range(3):
        p, o = at_a + 4 * row, at + 4 * row
        x, y, z, w = a[p], a[p + 1], a[p + 2], a[p + 3]
        for column in range(4):
            out[o + column] = x * b[at_b + column] + y * b[at_b + 4 + column] + z * b[at_b + 8 + column]
        out[o + 3] += w


@compiled
def _rest_joint(parts, globals_, j):  # type: ignore[no-untyped-def]
    parent, rest = parts[0][j], parts[7]
    if parent < 0:
        for i in range(12):
            globals_[12 * j + i] = rest[12 * j + i]
    else:
        _affine(globals_, 12 * parent, rest, 12 * j, globals_, 12 * j)


@compiled
def _palette(parts, globals_, out):  # type: ignore[no-untyped-def]
    slots, inverse = parts[1], parts[8]
    for s in range(slots.size):
        _affine(globals_, 12 * slots[s], inverse, 12 * s, out, 12 * s)


@compiled
def _globals(parts, clip, key, fraction, span, globals_):  # type: ignore[no-untyped-def]
    parents = parts[0]
    for j in range(parents.size):
        row = clip * parents.size + j
        if not parts[5][row]:
            _rest_joint(parts, globals_, j)
            continue
        channel = 3 * row
        t = _vector(parts, parts[6][channel], 10 * row, key, fraction, span)
        q = _rotation(parts, parts[6][channel + 1], 10 * row + 3, key, fraction, span)
        s = _vector(parts, parts[6][channel + 2], 10 * row + 7, key, fraction, span)
        _attach(globals_, j, parents[j], t, q, s)


@compiled
def _one(ints, floats, seconds, clip, time, out):  # type: ignore[no-untyped-def]
    parts = _parts(ints, floats)
    lines = parts[2].size // 2 + 1
    key = np.empty(lines, np.int32)
    shares = np.empty((2, lines), np.float32)
    globals_ = np.empty(12 * parts[0].size, np.float32)
    _find_keys(parts, seconds, clip, time, key, shares[0], shares[1])
    _globals(parts, clip, key, shares[0], shares[1], globals_)
    _palette(parts, globals_, out.reshape(-1))


@compiled
def _many(ints, floats, seconds, clip, times, out):  # type: ignore[no-untyped-def]
    parts = _parts(ints, floats)
    lines = parts[2].size // 2 + 1
    key = np.empty(lines, np.int32)
    shares = np.empty((2, lines), np.float32)
    globals_ = np.empty(12 * parts[0].size, np.float32)
    for n in range(times.size):
        _find_keys(parts, seconds, clip, times[n], key, shares[0], shares[1])
        _globals(parts, clip, key, shares[0], shares[1], globals_)
        _palette(parts, globals_, out[n].reshape(-1))


@compiled
def _add_clip(parts, clip, weight, keys, pose, moved):  # type: ignore[no-untyped-def]
    """pose (J, 10) += weight * the clip's; quaternions on the side of the rest rotation."""
    key, fraction, span = keys
    channels, base = parts[6], parts[9]
    rest = base.size - 10 * moved.size
    for j in range(moved.size):
        row = clip * moved.size + j
        moved[j] |= parts[5][row]
        t = _vector(parts, channels[3 * row], 10 * row, key, fraction, span)
        x, y, z, w = _rotation(parts, channels[3 * row + 1], 10 * row + 3, key, fraction, span)
        s = _vector(parts, channels[3 * row + 2], 10 * row + 7, key, fraction, span)
        r = rest + 10 * j + 3
        side = weight
        if x * base[r] + y * base[r + 1] + z * base[r + 2] + w * base[r + 3] < 0:
            side = -weight
        o = 10 * j
        for i in range(3):
            pose[o + i] += weight * t[i]
            pose[o + 7 + i] += weight * s[i]
        pose[o + 3] += side * x
        pose[o + 4] += side * y
        pose[o + 5] += side * z
        pose[o + 6] += side * w


@compiled
def _blended(ints, floats, seconds, clips, times, weights, out):  # type: ignore[no-untyped-def]
    parts = _parts(ints, floats)
    parents = parts[0]
    lines = parts[2].size // 2 + 1
    key = np.empty(lines, np.int32)
    shares = np.empty((2, lines), np.float32)
    globals_ = np.empty(12 * parents.size, np.float32)
    pose = np.empty(10 * parents.size, np.float32)
    moved = np.empty(parents.size, np.int32)
    for n in range(times.shape[0]):
        pose[:] = 0
        moved[:] = 0
        for k in range(times.shape[1]):
            _find_keys(parts, seconds, clips[n, k], times[n, k], key, shares[0], shares[1])
            _add_clip(parts, clips[n, k], weights[n, k], (key, shares[0], shares[1]), pose, moved)
        for j in range(parents.size):
            if not moved[j]:
                _rest_joint(parts, globals_, j)
                continue
            o = 10 * j
            q = _unit(pose[o + 3], pose[o + 4], pose[o + 5], pose[o + 6])
            t = (pose[o], pose[o + 1], pose[o + 2])
            _attach(globals_, j, parents[j], t, q, (pose[o + 7], pose[o + 8], pose[o + 9]))
        _palette(parts, globals_, out[n].reshape(-1))


@compiled
def _deform(palette, positions, normals, slots, weights, out, turned):  # type: ignore[no-untyped-def]
    rows = palette.reshape(-1)
    m = np.empty(12, np.float32)
    for v in range(positions.shape[0]):
        m[:] = 0
        for k in range(slots.shape[1]):
            weight = weights[v, k]
            if weight == 0:
                break  # weights stand in descending order
            at = 12 * np.int64(slots[v, k])
            for i in range(12):
                m[i] += weight * rows[at + i]
        x, y, z = positions[v, 0], positions[v, 1], positions[v, 2]
        out[v, 0] = m[0] * x + m[1] * y + m[2] * z + m[3]
        out[v, 1] = m[4] * x + m[5] * y + m[6] * z + m[7]
        out[v, 2] = m[8] * x + m[9] * y + m[10] * z + m[11]
        x, y, z = normals[v, 0], normals[v, 1], normals[v, 2]
        c0, c1, c2 = m[5] * m[10] - m[6] * m[9], m[6] * m[8] - m[4] * m[10], m[4] * m[9] - m[5] * m[8]
        a = c0 * x + c1 * y + c2 * z
        b = (m[9] * m[2] - m[10] * m[1]) * x + (m[10] * m[0] - m[8] * m[2]) * y
        b += (m[8] * m[1] - m[9] * m[0]) * z
        c = (m[1] * m[6] - m[2] * m[5]) * x + (m[2] * m[4] - m[0] * m[6]) * y
        c += (m[0] * m[5] - m[1] * m[4]) * z
        length = a * a + b * b + c * c
        inverse = np.float32(1)
        if length > 0:
            inverse = np.float32(1) / np.sqrt(length)
        if m[0] * c0 + m[1] * c1 + m[2] * c2 < 0:
            inverse = -inverse
        turned[v, 0], turned[v, 1], turned[v, 2] = a * inverse, b * inverse, c * inverse
