"""Clips as glTF animations: channels whose keys lie from 0 to the clip's duration, at float32 times.

glTF knows neither a duration nor times below 0: an animation lasts until its last key. So channels are cut
at both ends of the clip where they reach beyond it, and one is held until the end where none reaches it.
"""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import unicode_text
from .._types import Array
from ..errors import SkinpyWarning

if TYPE_CHECKING:
    from ..assets import Target
    from ..clip import Channel, Clip
    from ..model import Model
    from .glb import Buffer

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


def animations(model: "Model", targets: dict[int, list[int]], buffer: "Buffer") -> list[dict[str, Any]]:
    """The entries of "animations", one per clip; `targets` are those of `targets_of_nodes`."""
    from .glb import named

    kept = [clip for clip in model.clips if not clip.is_additive]
    if len(kept) < len(model.clips):
        left = ", ".join(repr(clip.name) for clip in model.clips if clip.is_additive)
        warnings.warn(f"glTF cannot hold additive clips; left out: {left}", SkinpyWarning, stacklevel=2)
    nodes: dict[int, list[int]] = {}
    for node, numbers in targets.items():
        for number in numbers:
            nodes.setdefault(number, []).append(node)
    return [
        named(clip.name)
        | _animation(model, clip, _lines(model, clip, targets, nodes), buffer)
        | _extras(clip)
        for clip in kept
    ]


def _extras(clip: "Clip") -> dict[str, Any]:
    """Events and root motion, where there are any. No time is later than the last key's, a float32."""
    from .glb import numbers

    end = float(np.float32(clip.duration))
    own: dict[str, Any] = {}
    if clip.events:
        own["events"] = [{"time": min(one.time, end), "name": unicode_text(one.name)} for one in clip.events]
    if clip._motion is not None:
        keys = zip(clip._motion.times, clip._motion.values, strict=True)
        own["rootMotion"] = [[float(time), *numbers(row)] for time, row in keys]
    return {"extras": {"skinpy": own}} if own else {}


def _animation(model: "Model", clip: "Clip", lines: list[Line], buffer: "Buffer") -> dict[str, Any]:
    kept = [_cut(line, clip.duration) for line in lines]
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


def _lines(
    model: "Model", clip: "Clip", targets: dict[int, list[int]], nodes: dict[int, list[int]]
) -> list[Line]:
    """One line per joint and path; the weights of all targets of a node are one.

    `targets` has those of each node, and `nodes` the nodes of each target.
    """
    lines: dict[tuple[int, str], Line] = {}
    weights: dict[int, Line] = {}
    for channel in clip.channels:
        if channel.joint is not None:
            lines[channel.joint, channel.path] = _line(channel, channel.joint)
        elif channel.target is not None:
            weights[channel.target] = _line(channel, model.targets[channel.target].node)
    for node in sorted({node for target in weights for node in nodes.get(target, ())}):
        keyed = [weights.get(number) or _rest(model.targets[number]) for number in targets[node]]
        lines[node, "weights"] = _weights_of_node(node, keyed, clip.duration)
    return list(lines.values())


def targets_of_nodes(model: "Model") -> dict[int, list[int]]:
    """The morph targets of each node with a mesh: its own, and those that move a vertex of it."""
    if not model.targets:
        return {}
    own: dict[int, set[int]] = {}
    for number, target in enumerate(model.targets):
        own.setdefault(target.node, set()).add(number)
    vertices = np.concatenate([target.vertices for target in model.targets])
    numbers = np.repeat(np.arange(len(model.targets)), [len(target.vertices) for target in model.targets])
    order = np.argsort(vertices)
    ranges = [(one.vertex_range.start, one.vertex_range.stop) for one in model.mesh.submeshes]
    spans = np.searchsorted(vertices[order], ranges)
    found: dict[int, set[int]] = {}
    for submesh, (start, stop) in zip(model.mesh.submeshes, spans, strict=True):
        moving = np.unique(numbers[order[start:stop]]).tolist()
        found.setdefault(submesh.node, own.get(submesh.node, set())).update(moving)
    return {node: sorted(shown) for node, shown in found.items() if shown}


def _line(channel: "Channel", node: int) -> Line:
    still = _still(channel.values)
    return Line(
        node,
        channel.path,
        channel.interpolation,
        channel.times,
        _wide(channel.values),
        still if channel.in_tangents is None else _wide(channel.in_tangents),
        still if channel.out_tangents is None else _wide(channel.out_tangents),
    )


def _still(values: Array) -> Array:
    """Tangents of 0 for as many values, in the memory of one number."""
    return np.broadcast_to(0.0, values.shape)


def _wide(keys: Array) -> Array:
    """The same in float64; keys that are one and the same remain so."""
    stored = keys if keys.strides[0] else keys[:1]
    return np.broadcast_to(stored.astype(np.float64), keys.shape)


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
    kept = times[inside]
    if times[0] < 0:
        kept = np.union1d(kept, 0.0)
    if times[-1] > duration:
        kept = np.union1d(kept, duration)
    values, before, behind = _between(line, kept)
    return replace(line, times=kept, values=values, in_tangents=before, out_tangents=behind)


def _between(line: Line, times: Array) -> tuple[Array, Array, Array]:
    """Values, in and out tangents at `times`, with which the rest of each segment is the same curve."""
    after = np.searchsorted(line.times, times, side="right")
    key = np.maximum(after - 1, 0)
    there = line.times[key] == times
    values = line.values[key]
    before, behind = (
        np.where(there[:, None], tangents[key], 0.0) for tangents in (line.in_tangents, line.out_tangents)
    )
    new = np.flatnonzero(~there & (after > 0) & (after < len(line.times)))
    if len(new) and line.interpolation != "step":
        values[new], slopes = _inside(line, times[new], key[new])
        before[new] = behind[new] = slopes
    return values, before, behind


def _inside(line: Line, times: Array, key: Array) -> tuple[Array, Array]:
    """Values and tangents at `times`, each of which lies between a key and the next."""
    span = (line.times[key + 1] - line.times[key])[:, None]
    u = (times - line.times[key])[:, None] / span
    a, b = line.values[key], line.values[key + 1]
    if line.interpolation == "linear":
        turned = line.path == "rotation"
        mixed = [_slerp(*row) for row in zip(a, b, u[:, 0], strict=True)] if turned else a + (b - a) * u
        return np.asarray(mixed), _still(a)
    m, n = line.out_tangents[key] * span, line.in_tangents[key + 1] * span
    u2, u3 = u * u, u * u * u
    values = (2 * u3 - 3 * u2 + 1) * a + (u3 - 2 * u2 + u) * m + (3 * u2 - 2 * u3) * b + (u3 - u2) * n
    slopes = (6 * u2 - 6 * u) * (a - b) + (3 * u2 - 4 * u + 1) * m + (3 * u2 - 2 * u) * n
    return values, slopes / span


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


def _rest(target: "Target") -> Line:
    """The weight of a target that no channel moves."""
    rest = np.array([[target.default_weight]])
    return Line(target.node, "weights", "step", np.zeros(1), rest, 0 * rest, 0 * rest)


def _weights_of_node(node: int, lines: list[Line], duration: float) -> Line:
    """All targets of a node in one line, at the key times of any of them, by the richest interpolation."""
    from .glb import check_size

    kinds = {line.interpolation for line in lines if len(line.times) > 1}
    kind = "cubic" if "cubic" in kinds else "linear" if "linear" in kinds else "step"
    alike = [_as(line, kind) for line in lines]
    different = {line.times.tobytes(): line.times for line in alike}  # most often all are the same
    times = np.unique(np.concatenate(list(different.values())))
    kept = times[(times >= 0) & (times <= duration)]
    numbers = 3 if kind == "cubic" else 1
    check_size(4 * len(kept) * len(lines) * numbers)
    parts = np.empty((numbers, len(times), len(lines)))
    for column, line in enumerate(alike):
        for part, keys in zip(parts, _between(line, times), strict=False):
            part[:, column] = keys[:, 0]
    still = _still(parts[0])
    before, behind = (still, still) if numbers == 1 else parts[1:]
    return Line(node, "weights", kind, times, parts[0], before, behind)


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
        line = Line(line.node, line.path, "linear", times, values, _still(values), _still(values))
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
