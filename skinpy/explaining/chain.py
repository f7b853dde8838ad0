"""`Model.explain`: the chain from the keys of the file to a vertex in scene space, in float64.

The chain is computed here from the formulas. `outcomes` compares its end with the C code, the vertex shader
and the same chain for row vectors. docs/explain.md walks through one vertex.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from .. import _block
from .._arguments import brief, finite, integer
from .._types import Array, Loop
from ..clip import Channel, Clip
from ..clips.evaluate import key_tolerance, sample_channel, trs, unit
from ..models.pickling import need_vertices
from .explanation import Explanation, Influence, JointStep, MorphStep, Sampled, freeze
from .outcomes import double, normal_matrix, outcomes

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["explain"]


def explain(
    model: Model,
    vertex: SupportsIndex,
    clip: Clip | str | int | None = None,
    time: float = 0.0,
    *,
    loop: Loop = "wrap",
) -> Explanation:
    """Explain, number by number, how one vertex gets from the keys of the file to scene space.

    `Model.explain` is the same as a method. docs/explain.md has an example.

    Parameters
    ----------
    model : Model
        The model that has the vertex.
    vertex : int
        Index of the vertex.
    clip : Clip, str or int, optional
        A clip of the model, its name or its index. Without it the rest pose is explained.
    time : float, seconds, default 0.0
        The time in the clip.
    loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
        What happens outside the clip.

    Returns
    -------
    Explanation
        All matrices, with the results of the other methods.

    Raises
    ------
    KeyError
        If the model has no clip of this name.
    IndexError
        If the mesh has no such vertex, or the model has no clip of this index.
    ValueError
        If `time` is not finite, the clip belongs to another model, or `loop` is unknown.
    TypeError
        If an argument has the wrong type.
    """
    number = _checked_vertex(model, vertex)
    time = finite("time", time)
    pose = model.pose(clip, time, loop=loop)  # checks clip and loop; the C code continues from this pose
    played = None if clip is None else clip if isinstance(clip, Clip) else model.clips[clip]
    tau = 0.0 if played is None else played._local_time(time, loop)
    mesh = model.mesh
    bind_position, bind_normal = double(mesh.positions[number]), double(mesh.normals[number])
    morphs = _morphs(model, played, tau, number)
    position = bind_position + sum((one.weight * one.position for one in morphs), np.zeros(3))
    normal = bind_normal + sum((one.weight * one.normal for one in morphs), np.zeros(3))
    used = [(int(s), float(w)) for s, w in zip(mesh.slots[number], mesh.weights[number], strict=True) if w]
    joints = _joints(model, played, tau, [int(model.skin.joints[slot]) for slot, _ in used])
    influences = tuple(_influence(model, joints, slot, weight, position) for slot, weight in used)
    matrix = sum((one.weight * one.palette for one in influences), np.zeros((4, 4)))
    palette = pose.palette()
    explanation = Explanation(
        vertex=number,
        submesh=next(one.name for one in mesh.submeshes if number in one.vertex_range),
        clip=None if played is None else played.name,
        duration=0.0 if played is None else played.duration,
        time=time,
        loop=loop,
        local_time=tau,
        bind_position=bind_position,
        bind_normal=bind_normal,
        morphs=morphs,
        position=position,
        normal=normal,
        joints=tuple(joints.values()),
        influences=influences,
        matrix=matrix,
        normal_matrix=normal_matrix(matrix[:3, :3]),
        outcomes=outcomes(model, pose, number, (matrix, position, normal), (joints, influences)),
        palette_error=max(float(np.abs(one.palette - palette[one.slot]).max()) for one in influences),
    )
    freeze(explanation)
    return explanation


def _checked_vertex(model: Model, vertex: SupportsIndex) -> int:
    """Return the index of a vertex of the model."""
    need_vertices(model, "explain")
    count = len(model.mesh.positions)
    number = integer("vertex", vertex)
    if not 0 <= number < count:
        wanted = f"expected 0 to {count - 1}" if count else "the model has no vertices"
        raise IndexError(f"vertex is {brief(number)}; {wanted}")
    return number


def _sampled(clip: Clip, channel: Channel, time: float) -> Sampled:
    """Return a channel at a time within the clip."""
    # Only step keys need the tolerance of key times; the C code uses it for them alone, too.
    slack = key_tolerance(clip) if channel.interpolation == "step" else 0.0
    line, count = channel.times, len(channel.times)
    last = int(np.searchsorted(line, time + slack, side="right")) - 1
    key = max(last, 0)
    between = 0 <= last < count - 1
    keys = slice(key, key + 2 if between else key + 1)
    curved = between and channel.interpolation == "cubic"
    value = sample_channel(channel, np.array([time]), slack)[0]
    return Sampled(
        channel.path,
        channel.interpolation,
        count,
        key,
        line[keys].copy(),
        double(channel.values[keys]),
        double(channel.out_tangents[key]) if curved and channel.out_tangents is not None else None,
        double(channel.in_tangents[key + 1]) if curved and channel.in_tangents is not None else None,
        max(float((time - line[key]) / (line[key + 1] - line[key])), 0.0) if between else 0.0,
        unit(value) if channel.path == "rotation" else value,
    )


def _morphs(model: Model, clip: Clip | None, time: float, vertex: int) -> tuple[MorphStep, ...]:
    """Return the morph targets that move the vertex."""
    channels = () if clip is None else clip._pose_channels
    steps = []
    for number, target in enumerate(model.targets):
        row = int(np.searchsorted(target.vertices, vertex))
        if row == len(target.vertices) or target.vertices[row] != vertex:
            continue
        sampled = None
        for channel in channels:
            if clip is not None and channel.target == number:
                sampled = _sampled(clip, channel, time)
        start = 0.0 if clip is not None and clip.is_additive else target.default_weight
        weight = start if sampled is None else float(sampled.value[0])
        normal = np.zeros(3) if target.normals is None else double(target.normals[row])
        steps.append(MorphStep(number, target.name, weight, sampled, double(target.positions[row]), normal))
    return tuple(steps)


def _joints(model: Model, clip: Clip | None, time: float, ends: list[int]) -> dict[int, JointStep]:
    """Return all joints between a root and `ends`, parents first."""
    parents, wanted = model.skeleton.parents, set(ends)
    for end in ends:
        while parents[end] >= 0:
            end = int(parents[end])
            wanted.add(end)
    found: dict[int, list[Sampled]] = {joint: [] for joint in sorted(wanted)}
    for channel in () if clip is None else clip._pose_channels:
        if clip is not None and channel.joint in found:
            found[channel.joint].append(_sampled(clip, channel, time))
    steps: dict[int, JointStep] = {}
    for joint, channels in found.items():
        above = steps.get(int(parents[joint]))
        steps[joint] = _joint(model, clip, joint, tuple(channels), above)
    return steps


def _joint(
    model: Model, clip: Clip | None, joint: int, channels: tuple[Sampled, ...], above: JointStep | None
) -> JointStep:
    """Return the matrices of one joint; `above` is its parent."""
    skeleton = model.skeleton
    rest = {path: getattr(skeleton, path)[joint] for path in _block.PATHS[:3]}
    local_values = {path: double(value) for path, value in rest.items()}
    if clip is not None and clip.is_additive:  # components without a channel do not differ from rest
        local_values = {"translation": np.zeros(3), "rotation": np.array([0.0, 0, 0, 1]), "scale": np.ones(3)}
    local_values |= {one.path: one.value for one in channels}
    at_rest = all((local_values[path].astype(np.float32) == rest[path]).all() for path in rest)
    local = trs(local_values["translation"], unit(local_values["rotation"]), local_values["scale"])
    if at_rest:  # the matrix of the file may have shear, which T * R * S cannot have
        local = double(skeleton.rest_local[joint])
    return JointStep(
        joint=joint,
        name=skeleton.names[joint],
        parent=int(skeleton.parents[joint]),
        channels=channels,
        **local_values,
        at_rest=at_rest,
        local=local,
        globals=local.copy() if above is None else above.globals @ local,
    )


def _influence(
    model: Model, joints: dict[int, JointStep], slot: int, weight: float, position: Array
) -> Influence:
    """Return one slot with its matrices, and the position that the slot alone gives."""
    joint = int(model.skin.joints[slot])
    chain = [joint]
    while joints[chain[0]].parent >= 0:
        chain.insert(0, joints[chain[0]].parent)
    inverse_bind = double(model.skin.inverse_bind[slot])
    palette = joints[joint].globals @ inverse_bind
    alone = palette[:3, :3] @ position + palette[:3, 3]
    return Influence(slot, joint, joints[joint].name, weight, tuple(chain), inverse_bind, palette, alone)
