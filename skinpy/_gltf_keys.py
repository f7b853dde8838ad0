"""Clips as glTF animations: channels whose keys lie from 0 to the clip's duration, at float32 times.

glTF knows neither a duration nor times below 0: an animation lasts until its last key. So channels are cut
at both ends of the clip where they reach beyond it, and one is held until the end where none reaches it.
"""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._types import Array
from .errors import SkinpyWarning

if TYPE_CHECKING:
    from ._gltf import Buffer
    from .clip import Channel, Clip
    from .model import Model

_INTERPOLATION = {"step": "STEP", "linear": "LINEAR", "cubic": "CUBICSPLINE"}


@dataclass(frozen=True)
class Line:
    """The keys of one channel: times (K,) float64 seconds, values (K,C), tangents per second."""

    node: int
    path: str
    interpolation: str
    times: Array
    values: Array
    in_tangents: Array
    out_tangents: Array


def animations(model: "Model", buffer: "Buffer") -> list[dict[str, Any]]:
    """The entries of "animations", one per clip."""
    from ._gltf import named

    kept = [clip for clip in model.clips if not clip.is_additive]
    if len(kept) < len(model.clips):
        left = ", ".join(repr(clip.name) for clip in model.clips if clip.is_additive)
        warnings.warn(f"glTF cannot hold additive clips; left out: {left}", SkinpyWarning, stacklevel=2)
    return [named(clip.name) | _animation(model, clip, buffer) | _extras(clip) for clip in kept]


def _extras(clip: "Clip") -> dict[str, Any]:
    """Events and root motion, where there are any. No time is later than the last key's, a float32."""
    from ._gltf import numbers, words

    end = float(np.float32(clip.duration))
    own: dict[str, Any] = {}
    if clip.events:
        own["events"] = [{"time": min(one.time, end), "name": words(one.name)} for one in clip.events]
    if clip._motion is not None:
        keys = zip(clip._motion.times, clip._motion.values, strict=True)
        own["rootMotion"] = [[float(time), *numbers(row)] for time, row in keys]
    return {"extras": {"skinpy": own}} if own else {}


def _animation(model: "Model", clip: "Clip", buffer: "Buffer") -> dict[str, Any]:
    kept = [_cut(line, clip.duration) for line in _lines(model, clip)]
    if not kept:  # an animation has at least one channel: the root stays where it rests
        rest = model.skeleton.translation[:1].astype(np.float64)
        kept = [Line(0, "translation", "step", np.zeros(1), rest, 0 * rest, 0 * rest)]
    if max(line.times[-1] for line in kept) < clip.duration:
        kept[0] = _held(kept[0], clip.duration)
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    known: dict[tuple[Any, ...], int] = {}
    for line in kept:
        key = (
            buffer.add(_float_times(line.times), limits=True),
            buffer.add(_output(line)),
            _INTERPOLATION[line.interpolation],
        )
        if key not in known:
            known[key] = len(samplers)
            samplers.append({"input": key[0], "output": key[1], "interpolation": key[2]})
        channels.append({"sampler": known[key], "target": {"node": line.node, "path": line.path}})
    return {"channels": channels, "samplers": samplers}


def _lines(model: "Model", clip: "Clip") -> list[Line]:
    """One line per joint and path; the weights of all targets of a node are one."""
    lines: dict[tuple[int, str], Line] = {}
    weights: dict[int, Line] = {}
    for channel in clip.channels:
        if channel.joint is not None:
            lines[channel.joint, channel.path] = _line(channel, channel.joint)
        elif channel.target is not None:
            weights[channel.target] = _line(channel, model.targets[channel.target].node)
    for node, targets in targets_of_nodes(model).items():
        if not weights.keys().isdisjoint(targets):
            lines[node, "weights"] = _weights_of_node(model, node, targets, weights)
    return list(lines.values())


def targets_of_nodes(model: "Model") -> dict[int, list[int]]:
    """The morph targets of each node with a mesh: its own, and those that move a vertex of it."""
    found: dict[int, list[int]] = {}
    for submesh in model.mesh.submeshes:
        for number, target in enumerate(model.targets):
            span = np.searchsorted(target.vertices, (submesh.vertex_range.start, submesh.vertex_range.stop))
            if target.node == submesh.node or span[0] < span[1]:
                numbers = found.setdefault(submesh.node, [])
                numbers += [] if number in numbers else [number]
    return {node: sorted(numbers) for node, numbers in found.items()}


def _line(channel: "Channel", node: int) -> Line:
    values = channel.values.astype(np.float64)
    still = np.zeros_like(values)
    return Line(
        node,
        channel.path,
        channel.interpolation,
        channel.times,
        values,
        still if channel.in_tangents is None else channel.in_tangents.astype(np.float64),
        still if channel.out_tangents is None else channel.out_tangents.astype(np.float64),
    )


def _output(line: Line) -> Array:
    """(K,C), or (3K,C) for cubic keys: in tangent, value, out tangent of each. Weights are (K*C,)."""
    rows = line.values
    if line.interpolation == "cubic":
        rows = np.stack([line.in_tangents, line.values, line.out_tangents], axis=1)
    rows = rows.reshape(-1, line.values.shape[1]).astype("<f4")
    return rows.ravel() if line.path == "weights" else rows


def _float_times(times: Array) -> Array:
    """float32, and still increasing where two times are the same in float32."""
    if len(times) and times[-1] > np.finfo(np.float32).max:
        raise ValueError(f"a key stands at {times[-1]:g} s; glTF has times in float32, up to 3.4e38")
    rounded = times.astype("<f4")
    for key in range(1, len(rounded)) if (np.diff(rounded) <= 0).any() else ():
        if rounded[key] <= rounded[key - 1]:
            rounded[key] = np.nextafter(rounded[key - 1], np.float32(np.inf))
    return rounded


# ---- the ends of a clip ---------------------------------------------------------------------------------


def _held(line: Line, time: float) -> Line:
    """The same with one key more, which repeats the last one at `time`."""
    still = np.zeros((1, line.values.shape[1]))
    return replace(
        line,
        times=np.append(line.times, time),
        values=np.concatenate([line.values, line.values[-1:]]),
        in_tangents=np.concatenate([line.in_tangents, still]),
        out_tangents=np.concatenate([line.out_tangents[:-1], still, still]),
    )


def _cut(line: Line, duration: float) -> Line:
    """The keys from 0 to `duration`, with new ones at these ends where the channel reaches beyond them."""
    times = line.times
    inside = (times >= 0) & (times <= duration)
    if inside.all():
        return line
    rows = [(float(t), *parts) for t, *parts in _rows(line) if 0 <= t <= duration]
    if times[0] < 0 and not (rows and rows[0][0] == 0):
        rows.insert(0, (0.0, *_between(line, 0.0)))
    if times[-1] > duration and not (rows and rows[-1][0] == duration):
        rows.append((duration, *_between(line, duration)))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return replace(line, times=columns[0], values=columns[1], in_tangents=columns[2], out_tangents=columns[3])


def _rows(line: Line) -> list[tuple[Any, ...]]:
    return list(zip(line.times, line.values, line.in_tangents, line.out_tangents, strict=True))


def _between(line: Line, time: float) -> tuple[Array, Array, Array]:
    """Value, in and out tangent at `time`, with which the rest of the segment is the same curve as before."""
    still = np.zeros(line.values.shape[1])
    at = int(np.searchsorted(line.times, time))
    if at < len(line.times) and line.times[at] == time:
        return line.values[at], line.in_tangents[at], line.out_tangents[at]
    after = int(np.searchsorted(line.times, time, side="right"))
    if after == 0 or after == len(line.times) or line.interpolation == "step":
        return line.values[max(after - 1, 0)], still, still
    span = line.times[after] - line.times[after - 1]
    u = (time - line.times[after - 1]) / span
    a, b = line.values[after - 1], line.values[after]
    if line.interpolation == "linear":
        return (_slerp(a, b, u) if line.path == "rotation" else a + (b - a) * u), still, still
    m, n = line.out_tangents[after - 1] * span, line.in_tangents[after] * span
    value = (
        (2 * u**3 - 3 * u**2 + 1) * a
        + (u**3 - 2 * u**2 + u) * m
        + (3 * u**2 - 2 * u**3) * b
        + (u**3 - u**2) * n
    )
    slope = (6 * u**2 - 6 * u) * (a - b) + (3 * u**2 - 4 * u + 1) * m + (3 * u**2 - 2 * u) * n
    return value, slope / span, slope / span


def _slerp(a: Array, b: Array, u: float) -> Array:
    """The point at u on the shorter great arc."""
    cosine = float(a @ b)
    b = -b if cosine < 0 else b
    angle = np.arccos(min(abs(cosine), 1.0))
    if angle < 1e-6:
        return np.asarray(a + (b - a) * u)
    mixed = np.sin((1 - u) * angle) * a + np.sin(u * angle) * b
    return np.asarray(mixed / np.linalg.norm(mixed))


# ---- weights --------------------------------------------------------------------------------------------


def _weights_of_node(model: "Model", node: int, targets: list[int], weights: dict[int, Line]) -> Line:
    """All targets of a node in one line, at the key times of any of them, by the richest interpolation."""
    lines = []
    for number in targets:
        rest = np.array([[model.targets[number].default_weight]])
        constant = Line(node, "weights", "step", np.zeros(1), rest, 0 * rest, 0 * rest)
        lines.append(weights.get(number, constant))
    kinds = {line.interpolation for line in lines if len(line.times) > 1}
    kind = "cubic" if "cubic" in kinds else "linear" if "linear" in kinds else "step"
    alike = [_as(line, kind) for line in lines]
    times = np.unique(np.concatenate([line.times for line in alike]))
    columns = zip(*([_between(line, float(time)) for time in times] for line in alike), strict=True)
    rows = [[np.concatenate(part) for part in zip(*row, strict=True)] for row in columns]
    values, before, after = (np.array(part) for part in zip(*rows, strict=True))
    return Line(node, "weights", kind, times, values, before, after)


def _as(line: Line, kind: str) -> Line:
    """The same curve with keys of another interpolation, which must be able to say at least as much."""
    if line.interpolation == kind or len(line.times) == 1:
        return replace(line, interpolation=kind)
    if line.interpolation == "step":  # the old value stays until one float32 before the next key
        before = np.nextafter(line.times[1:].astype(np.float32), np.float32(-np.inf)).astype(np.float64)
        times = np.concatenate([line.times, np.maximum(before, line.times[:-1])])
        values = np.concatenate([line.values, line.values[:-1]])
        times, first = np.unique(times, return_index=True)
        values = values[first]
        line = Line(line.node, line.path, "linear", times, values, 0 * values, 0 * values)
    if kind == "linear":
        return line
    slope = np.diff(line.values, axis=0) / np.diff(line.times)[:, None]
    still = np.zeros((1, line.values.shape[1]))
    return replace(
        line,
        interpolation="cubic",
        in_tangents=np.concatenate([still, slope]),
        out_tangents=np.concatenate([slope, still]),
    )
