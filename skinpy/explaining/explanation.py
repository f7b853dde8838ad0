"""One vertex from the keys of the file to scene space, with every number on the way: `Model.explain`.

The chain is computed here in float64 from the formulas; its end is held against skinpy's C code, its vertex
shader and the same chain for row vectors. docs/explain.md walks through one.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from .. import _block
from .._arguments import finite, integer
from .._types import Array, Loop
from ..clip import Channel, Clip
from ..clips.evaluate import key_tolerance, sample_channel, trs, unit
from ..errors import SkinpyError, SkinpyWarning

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["Explanation", "Influence", "JointStep", "MorphStep", "Outcome", "Sampled", "explain"]


@dataclass(frozen=True, eq=False)
class Sampled:
    """A channel at one time: the keys around it and what comes of them."""

    path: str  #: "translation", "rotation", "scale" or "weights"
    interpolation: str  #: "step", "linear" or "cubic"
    key_count: int  #: keys that the channel has
    key: int  #: number of the first key below
    times: Array  #: (2,) seconds of the keys around the time; (1,) of the first or last, which holds
    values: Array  #: (2,C) or (1,C) of those keys; rotations x y z w
    out_tangent: Array | None  #: (C,) per second, of the first of two cubic keys, else None
    in_tangent: Array | None  #: (C,) per second, of the second
    fraction: float  #: 0 to 1: how far the time is from the first key to the second
    value: Array  #: (C,) what comes of them; rotations of length 1


@dataclass(frozen=True, eq=False)
class MorphStep:
    """What a morph target adds to the vertex before it is skinned."""

    target: int  #: index into model.targets
    name: str
    weight: float
    sampled: Sampled | None  #: where the weight comes from; None: no channel, so it is the default
    position: Array  #: (3,) difference of position, at weight 1
    normal: Array  #: (3,) difference of normal, at weight 1


@dataclass(frozen=True, eq=False)
class JointStep:
    """A joint at the time: from its keys to its local and its global matrix."""

    joint: int
    name: str
    parent: int  #: -1 for a root
    channels: tuple[Sampled, ...]  #: none: the joint is at rest
    translation: Array  #: (3,)
    rotation: Array  #: (4,) x y z w
    scale: Array  #: (3,)
    at_rest: bool  #: whether the file's rest matrix is used itself, and not T * R * S
    local: Array  #: (4,4) to the parent
    globals: Array  #: (4,4) to scene space: global of the parent * local


@dataclass(frozen=True, eq=False)
class Influence:
    """A palette slot that moves the vertex."""

    slot: int
    joint: int
    name: str  #: of the joint
    weight: float
    chain: tuple[int, ...]  #: joints from the root to this one
    inverse_bind: Array  #: (4,4) mesh space at bind to joint space ("offset matrix")
    palette: Array  #: (4,4) global of the joint * inverse bind
    position: Array  #: (3,) where this slot alone would carry the vertex


@dataclass(frozen=True, eq=False)
class Outcome:
    """The vertex in scene space, by one of the ways to compute it."""

    way: str  #: "NumPy", "C", "shader" or "row vectors"
    position: Array | None  #: (3,); None where it was skipped
    normal: Array | None  #: (3,) of length 1 (0 stays 0)
    position_error: float | None  #: model units: distance from NumPy's in float64
    normal_error: float | None  #: length of the difference from NumPy's
    note: str  #: how it was computed, or why it was skipped


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """One vertex, from the keys to scene space. print() shows it as text, Jupyter as HTML.

    Arrays are float64 and read-only; matrices are for column vectors.
    """

    vertex: int
    submesh: str  #: name of the part that it belongs to; "" where it belongs to none
    clip: str | None  #: name of the clip; None: the rest pose
    duration: float  #: seconds of the clip
    time: float  #: seconds, as asked for
    loop: str
    local_time: float  #: seconds within the clip, as loop has it
    bind_position: Array  #: (3,) in mesh space, as the file has it
    bind_normal: Array  #: (3,)
    morphs: tuple[MorphStep, ...]  #: the morph targets that move this vertex
    position: Array  #: (3,) in mesh space, with the morph targets
    normal: Array  #: (3,) likewise; not of length 1
    joints: tuple[JointStep, ...]  #: all joints in the chains of the influences, parents first
    influences: tuple[Influence, ...]  #: slots with a weight above 0, the largest first
    matrix: Array  #: (4,4) sum of weight * palette
    normal_matrix: Array  #: (3,3) cofactors of its upper left 3x3, times the sign of their determinant
    outcomes: tuple[Outcome, ...]  #: by "NumPy", "C", "shader" and "row vectors"
    palette_error: float  #: largest difference of a number of the palettes above from C's

    def __getitem__(self, way: str) -> Outcome:
        """The outcome of a way, such as `explanation["C"]`; KeyError for another word."""
        for one in self.outcomes:
            if one.way == way:
                return one
        raise KeyError(f"unknown way {way!r}: there are {', '.join(repr(one.way) for one in self.outcomes)}")

    def text(self) -> str:
        """All of it as text, at most 100 columns wide."""
        from .text import as_text

        return as_text(self)

    def html(self) -> str:
        """All of it as a whole page of HTML, without scripts and without anything from elsewhere."""
        from .html import as_page

        return as_page(self)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain numbers, strings, lists and dicts, fit for JSON."""
        plain: dict[str, Any] = _plain(self)
        return plain

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        place = "the rest pose" if self.clip is None else f"{self.clip!r} at {self.time:g} s"
        return f"<Explanation of vertex {self.vertex} in {place}: {len(self.influences)} influences>"

    def _repr_html_(self) -> str:
        from .html import as_fragment

        return as_fragment(self)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


# ---- the chain -----------------------------------------------------------------------------------------


def explain(
    model: Model,
    vertex: SupportsIndex,
    clip: Clip | str | int | None = None,
    time: float = 0.0,
    *,
    loop: Loop = "wrap",
) -> Explanation:
    """See Model.explain."""
    number = _checked_vertex(model, vertex)
    time = finite("time", time)
    pose = model.pose(clip, time, loop=loop)  # checks clip and loop, and is what C goes on from
    played = None if clip is None else clip if isinstance(clip, Clip) else model.clips[clip]
    tau = 0.0 if played is None else played._local_time(time, loop)
    mesh = model.mesh
    bind_position, bind_normal = _double(mesh.positions[number]), _double(mesh.normals[number])
    morphs = _morphs(model, played, tau, number)
    position = bind_position + sum((one.weight * one.position for one in morphs), np.zeros(3))
    normal = bind_normal + sum((one.weight * one.normal for one in morphs), np.zeros(3))
    used = [(int(s), float(w)) for s, w in zip(mesh.slots[number], mesh.weights[number], strict=True) if w]
    joints = _joints(model, played, tau, [int(model.skin.joints[slot]) for slot, _ in used])
    influences = tuple(_influence(model, joints, slot, weight, position) for slot, weight in used)
    matrix = sum((one.weight * one.palette for one in influences), np.zeros((4, 4)))
    palette = pose.palette()
    best = Outcome("NumPy", *_skinned(matrix, position, normal), 0.0, 0.0, "float64, the chain above")
    row_way = _by_row_vectors(joints, influences, position, normal)
    others = (_by_c(model, pose, number), _by_shader(model, pose, number), row_way)
    explanation = Explanation(
        vertex=number,
        submesh=next((part.name for part in mesh.submeshes if number in part.vertex_range), ""),
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
        normal_matrix=_normal_matrix(matrix[:3, :3]),
        outcomes=(best, *(_measured(one, best) for one in others)),
        palette_error=max(float(np.abs(one.palette - palette[one.slot]).max()) for one in influences),
    )
    _freeze(explanation)
    return explanation


def _checked_vertex(model: Model, vertex: SupportsIndex) -> int:
    count = len(model.mesh.positions)
    number = integer("vertex", vertex)
    if not 0 <= number < count:
        wanted = f"expected 0 to {count - 1}" if count else "the model has no vertices"
        raise IndexError(f"vertex is {number}; {wanted}")
    return number


def _double(values: Array) -> Array:
    return values.astype(np.float64)


def _freeze(value: Any) -> None:
    """Makes all arrays of dataclasses and tuples read-only."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple):
        for one in value:
            _freeze(one)
    elif is_dataclass(value):
        for field in fields(value):
            _freeze(getattr(value, field.name))


def _sampled(clip: Clip, channel: Channel, time: float) -> Sampled:
    # A curve that does not jump has no need of the tolerance, and C gives it none.
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
        _double(channel.values[keys]),
        _double(channel.out_tangents[key]) if curved and channel.out_tangents is not None else None,
        _double(channel.in_tangents[key + 1]) if curved and channel.in_tangents is not None else None,
        max(float((time - line[key]) / (line[key + 1] - line[key])), 0.0) if between else 0.0,
        unit(value) if channel.path == "rotation" else value,
    )


def _morphs(model: Model, clip: Clip | None, time: float, vertex: int) -> tuple[MorphStep, ...]:
    channels = () if clip is None else clip.channels
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
        normal = np.zeros(3) if target.normals is None else _double(target.normals[row])
        steps.append(MorphStep(number, target.name, weight, sampled, _double(target.positions[row]), normal))
    return tuple(steps)


def _joints(model: Model, clip: Clip | None, time: float, ends: list[int]) -> dict[int, JointStep]:
    """All joints between a root and `ends`, parents first."""
    parents, wanted = model.skeleton.parents, set(ends)
    for end in ends:
        while parents[end] >= 0:
            end = int(parents[end])
            wanted.add(end)
    found: dict[int, list[Sampled]] = {joint: [] for joint in sorted(wanted)}
    for channel in () if clip is None else clip.channels:
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
    skeleton = model.skeleton
    rest = {path: getattr(skeleton, path)[joint] for path in _block.PATHS[:3]}
    parts = {path: _double(value) for path, value in rest.items()}
    if clip is not None and clip.is_additive:  # what an additive clip leaves alone does not differ
        parts = {"translation": np.zeros(3), "rotation": np.array([0.0, 0, 0, 1]), "scale": np.ones(3)}
    parts |= {one.path: one.value for one in channels}
    at_rest = all((parts[path].astype(np.float32) == rest[path]).all() for path in rest)
    local = trs(parts["translation"], unit(parts["rotation"]), parts["scale"])
    if at_rest:  # the file's own matrix counts, as it may hold shear
        local = _double(skeleton.rest_local[joint])
    return JointStep(
        joint=joint,
        name=skeleton.names[joint],
        parent=int(skeleton.parents[joint]),
        channels=channels,
        **parts,
        at_rest=at_rest,
        local=local,
        globals=local.copy() if above is None else above.globals @ local,
    )


def _influence(
    model: Model, joints: dict[int, JointStep], slot: int, weight: float, position: Array
) -> Influence:
    joint = int(model.skin.joints[slot])
    chain = [joint]
    while joints[chain[0]].parent >= 0:
        chain.insert(0, joints[chain[0]].parent)
    inverse_bind = _double(model.skin.inverse_bind[slot])
    palette = joints[joint].globals @ inverse_bind
    alone = palette[:3, :3] @ position + palette[:3, 3]
    return Influence(slot, joint, joints[joint].name, weight, tuple(chain), inverse_bind, palette, alone)


# ---- the ways to compute it ------------------------------------------------------------------------------


def _normal_matrix(blended: Array) -> Array:
    """(3,3) cofactors times the determinant's sign: the inverse transpose but for a positive factor."""
    a, b, c = blended
    cofactors = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)])
    return -cofactors if np.linalg.det(blended) < 0 else cofactors


def _skinned(matrix: Array, position: Array, normal: Array) -> tuple[Array, Array]:
    return matrix[:3, :3] @ position + matrix[:3, 3], unit(_normal_matrix(matrix[:3, :3]) @ normal)


def _by_c(model: Model, pose: Any, vertex: int) -> Outcome:
    positions, normals = model.deform(pose)
    return _outcome("C", positions[vertex], normals[vertex], "model.deform(model.pose(clip, time)), float32")


def _by_shader(model: Model, pose: Any, vertex: int) -> Outcome:
    try:
        from ..render import Renderer

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkinpyWarning)  # a texture matters to no vertex
            with Renderer(model, size=(1, 1), samples=0) as renderer:
                positions, normals = renderer.skinned_vertices(pose=pose)
    except (ImportError, SkinpyError) as error:
        reason = " ".join(str(error).split())
        return Outcome("shader", None, None, None, None, f"skipped, no graphics here: {reason}")
    note = "the vertex shader of the pictures, from C's palette, float32"
    return _outcome("shader", positions[vertex], normals[vertex], note)


def _by_row_vectors(
    joints: dict[int, JointStep], influences: tuple[Influence, ...], position: Array, normal: Array
) -> Outcome:
    """The chain turned round: vectors stand on the left, and every matrix is transposed."""
    to_scene: dict[int, Array] = {}
    for step in joints.values():
        local = step.local.T
        to_scene[step.joint] = local @ to_scene[step.parent] if step.parent >= 0 else local
    matrix = np.zeros((4, 4))
    for one in influences:
        matrix += one.weight * (one.inverse_bind.T @ to_scene[one.joint])
    moved = np.append(position, 1.0) @ matrix
    turned = unit(normal @ _normal_matrix(matrix[:3, :3]))
    return _outcome("row vectors", moved[:3], turned, "v @ sum of weight * inverse bind @ global, float64")


def _outcome(way: str, position: Array, normal: Array, note: str) -> Outcome:
    return Outcome(way, _double(position), _double(normal), None, None, note)


def _measured(one: Outcome, best: Outcome) -> Outcome:
    """With the distances from the best; of what was skipped there are none."""
    if one.position is None or one.normal is None:
        return one
    errors = (np.linalg.norm(one.position - best.position), np.linalg.norm(one.normal - best.normal))
    return Outcome(one.way, one.position, one.normal, float(errors[0]), float(errors[1]), one.note)
