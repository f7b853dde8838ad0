"""Clips as glTF animations: channels whose keys lie from 0 to the clip's duration, at float32 times.

glTF has neither a duration nor times below 0: an animation lasts until its last key. So channels are cut at
both ends of the clip where they extend beyond it. Where no channel reaches the end, one is held until there.
"""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import quoted, quoted_list, unicode_text
from .._types import Array
from ..errors import SkinpyWarning
from .glb_buffer import Buffer, check_size, named, numbers
from .glb_lines import KeyLine, between, converted, cut, held, line_of, zero_tangents

if TYPE_CHECKING:
    from ..assets import Target
    from ..clip import Clip
    from ..model import Model

#: The pointers of KHR_animation_pointer, below the node or the material.
_POINTERS = {
    "visibility": "extensions/KHR_node_visibility/visible",
    "base_color_factor": "pbrMetallicRoughness/baseColorFactor",
    "metallic_factor": "pbrMetallicRoughness/metallicFactor",
    "roughness_factor": "pbrMetallicRoughness/roughnessFactor",
    "emissive_factor": "emissiveFactor",
    "emissive_strength": "extensions/KHR_materials_emissive_strength/emissiveStrength",
    "alpha_cutoff": "alphaCutoff",
    "normal_scale": "normalTexture/scale",
    "occlusion_strength": "occlusionTexture/strength",
    **{
        f"uv_{name}": f"pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform/{name}"
        for name in ("offset", "rotation", "scale")
    },
}
_INTERPOLATION = {"step": "STEP", "linear": "LINEAR", "cubic": "CUBICSPLINE"}


def animations(model: "Model", targets: dict[int, list[int]], buffer: Buffer) -> list[dict[str, Any]]:
    """Return the entries of "animations", one per clip; `targets` come from `targets_of_nodes`."""
    kept = [clip for clip in model.clips if not clip.is_additive]
    if len(kept) < len(model.clips):
        names = quoted_list([clip.name for clip in model.clips if clip.is_additive])
        warnings.warn(f"glTF cannot hold additive clips; left out: {names}", SkinpyWarning, stacklevel=2)
    nodes: dict[int, list[int]] = {}
    for node, of_node in targets.items():
        for number in of_node:
            nodes.setdefault(number, []).append(node)
    return [
        named(clip.name)
        | _animation(model, clip, _lines(model, clip, targets, nodes), buffer)
        | _extras(clip)
        for clip in kept
    ]


def _extras(clip: "Clip") -> dict[str, Any]:
    """Return events and root motion, if there are any; no time is later than the last key, a float32."""
    end = float(np.float32(clip.duration))
    own: dict[str, Any] = {}
    if clip.events:
        own["events"] = [{"time": min(one.time, end), "name": unicode_text(one.name)} for one in clip.events]
    if clip._motion is not None:
        keys = zip(clip._motion.times, clip._motion.values, strict=True)
        own["rootMotion"] = [[min(float(time), end), *numbers(row)] for time, row in keys]
    return {"extras": {"skinpy": own}} if own else {}


def _animation(model: "Model", clip: "Clip", lines: list[KeyLine], buffer: Buffer) -> dict[str, Any]:
    """Return channels and samplers of a clip; equal samplers are stored once."""
    kept = [cut(line, clip.duration) for line in lines]
    if not kept:  # glTF requires a channel: the root stays at rest
        rest = model.skeleton.translation[:1].astype(np.float64)
        kept = [KeyLine(0, "translation", "step", np.zeros(1), rest, 0 * rest, 0 * rest)]
    if max(line.times[-1] for line in kept) < clip.duration:
        kept[0] = held(kept[0], clip.duration)
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    known: dict[tuple[Any, ...], int] = {}
    for line in kept:
        output = _output(line)
        if not np.isfinite(output).all():
            of_joint = line.path == "visibility" or line.path not in _POINTERS
            name = model.skeleton.names[line.node] if of_joint else model.materials[line.node].name
            raise ValueError(
                f"clip {quoted(clip.name)} overflows: {line.path} of {quoted(name)} is beyond float32 "
                "(3.4e38) at "
                "an end of the clip or between keys, where glTF needs a key; expected smaller keys"
            )
        key = (
            buffer.add(_float_times(line.times), limits=True),
            buffer.add(output),
            _INTERPOLATION[line.interpolation],
        )
        if key not in known:
            known[key] = len(samplers)
            samplers.append({"input": key[0], "output": key[1], "interpolation": key[2]})
        channels.append({"sampler": known[key], "target": _target(line)})
    return {"channels": channels, "samplers": samplers}


def _lines(
    model: "Model", clip: "Clip", targets: dict[int, list[int]], nodes: dict[int, list[int]]
) -> list[KeyLine]:
    """Return one line per joint and path, and one for the weights of all targets of a node.

    `targets` has the targets of each node, and `nodes` the nodes of each target.
    """
    lines: dict[tuple[int, str], KeyLine] = {}
    weights: dict[int, KeyLine] = {}
    looks = [line_of(channel, channel.moved) for channel in clip._look_channels]
    for channel in clip._pose_channels:
        if channel.joint is not None:
            lines[channel.joint, channel.path] = line_of(channel, channel.joint)
        elif channel.target is not None:
            weights[channel.target] = line_of(channel, model.targets[channel.target].node)
    for node in sorted({node for target in weights for node in nodes.get(target, ())}):
        keyed = [weights.get(number) or _rest(model.targets[number]) for number in targets[node]]
        lines[node, "weights"] = _weights_of_node(node, keyed, clip.duration)
    return [*lines.values(), *looks]


def _target(line: KeyLine) -> dict[str, Any]:
    """Return what a channel changes: a component of a node, or what a pointer names."""
    rest = _POINTERS.get(line.path)
    if rest is None:
        return {"node": line.node, "path": line.path}
    start = "nodes" if line.path == "visibility" else "materials"
    pointer = {"pointer": f"/{start}/{line.node}/{rest}"}
    return {"path": "pointer", "extensions": {"KHR_animation_pointer": pointer}}


def targets_of_nodes(model: "Model") -> dict[int, list[int]]:
    """Return the morph targets of each node with a mesh: its own, and those that move its vertices."""
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


def _output(line: KeyLine) -> Array:
    """Return values (K,C), or for cubic keys in-tangent, value and out-tangent (3K,C). Weights are (K*C,)."""
    rows = line.values
    if line.interpolation == "cubic":
        rows = np.stack([line.in_tangents, line.values, line.out_tangents], axis=1)
    with np.errstate(over="ignore"):
        rows = rows.reshape(-1, line.values.shape[1]).astype("<f4")
    if line.path == "visibility":
        rows = (rows != 0).astype("u1")
    return rows.ravel() if line.path == "weights" else rows


def _float_times(times: Array) -> Array:
    """Return times in float32 that still increase where two times are the same in float32."""
    if len(times) and times[-1] > np.finfo(np.float32).max:
        raise ValueError(f"a key is at {times[-1]:g} s; glTF has times in float32, up to 3.4e38")
    rounded = times.astype("<f4")
    for key in range(1, len(rounded)) if (np.diff(rounded) <= 0).any() else ():
        if rounded[key] <= rounded[key - 1]:
            rounded[key] = np.nextafter(rounded[key - 1], np.float32(np.inf))
    return rounded


# ---- weights --------------------------------------------------------------------------------------------


def _rest(target: "Target") -> KeyLine:
    """Return the weight of a target that no channel moves."""
    rest = np.array([[target.default_weight]])
    return KeyLine(target.node, "weights", "step", np.zeros(1), rest, 0 * rest, 0 * rest)


def _weights_of_node(node: int, lines: list[KeyLine], duration: float) -> KeyLine:
    """Return all targets of a node as one line, at the key times of any of them.

    Its interpolation is the most general of theirs.
    """
    used = {line.interpolation for line in lines if len(line.times) > 1}
    interpolation = "cubic" if "cubic" in used else "linear" if "linear" in used else "step"
    same = [converted(line, interpolation) for line in lines]
    different = {line.times.tobytes(): line.times for line in same}  # most often all are equal
    times = np.unique(np.concatenate(list(different.values())))
    kept = times[(times >= 0) & (times <= duration)]
    count = 3 if interpolation == "cubic" else 1  # numbers per key: tangents too
    check_size(4 * len(kept) * len(lines) * count)
    columns = np.empty((count, len(times), len(lines)))
    for number, line in enumerate(same):
        for rows, keys in zip(columns, between(line, times), strict=False):
            rows[:, number] = keys[:, 0]
    zeros = zero_tangents(columns[0])
    before, behind = (zeros, zeros) if count == 1 else columns[1:]
    return KeyLine(node, "weights", interpolation, times, columns[0], before, behind)
