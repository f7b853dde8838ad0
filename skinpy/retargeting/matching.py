"""Which joints of two skeletons go together: by equal names, by the part of the body, or by a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from .._arguments import brief, check_model
from ..errors import unknown_name
from .joint_names import evenly, same_parts

if TYPE_CHECKING:
    from ..model import Model
    from .humanoid import Humanoid

__all__ = ["JointMatch", "match_joints"]

JointMap: TypeAlias = Mapping[str, str] | Literal["auto"] | None


@dataclass(frozen=True)
class JointMatch:
    """The joints of two skeletons that go together, and those without a partner, in the skeletons' order.

    Attributes
    ----------
    pairs : tuple of (str, str)
        Names of a source joint and its target joint.
    unmapped_source : tuple of str
        Names of the source joints without a target joint.
    unmapped_target : tuple of str
        Names of the target joints without a source joint.
    """

    pairs: tuple[tuple[str, str], ...]
    unmapped_source: tuple[str, ...]
    unmapped_target: tuple[str, ...]

    def __repr__(self) -> str:
        return (
            f"<JointMatch: {len(self.pairs)} pairs; unmapped: {len(self.unmapped_source)} of the source, "
            f"{len(self.unmapped_target)} of the target>"
        )


def match_joints(source: Model, target: Model, joint_map: JointMap = None) -> JointMatch:
    """Return the pairs of joints that `retarget` uses with the same arguments, and the joints without one.

    With "auto", joints that are the same part of a human figure go together, whatever they are called: see
    `Model.humanoid`. The joints of a spine or a neck are paired in order and evenly. Other joints go together
    if their names differ only in prefix, case, separators and the words for left and right.

    Parameters
    ----------
    source : Model
        The model whose clips are retargeted.
    target : Model
        The model that the clips are for.
    joint_map : mapping of str to str, "auto" or None, default None
        Which joints go together: None pairs equal names, "auto" pairs joints of the same part of the body,
        and a mapping has target names for source names. Where several joints have one name, None pairs them
        in order, and a mapping means the first.

    Returns
    -------
    JointMatch
        The pairs and the joints without a partner.

    Raises
    ------
    KeyError
        If a name of the mapping is not in its skeleton; the message has close names.
    ValueError
        If two source joints go to one target joint, or `joint_map` is another word than "auto".
    TypeError
        If `source` or `target` is not a Model, or `joint_map` is of another type.

    Examples
    --------
    >>> model = skinpy.character()
    >>> skinpy.match_joints(model, model)
    <JointMatch: 26 pairs; unmapped: 0 of the source, 0 of the target>
    """
    check_models(source, target)
    names = source.skeleton.names, target.skeleton.names
    pairs = paired(source, target, joint_map)
    mapped_source, mapped_target = ({pair[side] for pair in pairs} for side in (0, 1))
    return JointMatch(
        tuple((names[0][one], names[1][other]) for one, other in pairs),
        tuple(name for joint, name in enumerate(names[0]) if joint not in mapped_source),
        tuple(name for joint, name in enumerate(names[1]) if joint not in mapped_target),
    )


def check_models(source: object, target: object) -> None:
    """Raise TypeError, with the name of the argument, for an object that is not a Model."""
    for name, value in (("source", source), ("target", target)):
        check_model(name, value)


def paired(source: Model, target: Model, joint_map: JointMap) -> list[tuple[int, int]]:
    """Return pairs of a source joint and a target joint, in the order of the source."""
    source_names, target_names = source.skeleton.names, target.skeleton.names
    if joint_map is None:
        free: dict[str, list[int]] = {}
        for joint, name in enumerate(target_names):
            free.setdefault(name, []).append(joint)
        return [(joint, free[name].pop(0)) for joint, name in enumerate(source_names) if free.get(name)]
    if isinstance(joint_map, str):
        if joint_map != "auto":
            raise ValueError(f"joint_map is {brief(joint_map)}; expected None, 'auto' or a mapping of names")
        return _alike(source, target)
    if not isinstance(joint_map, Mapping):
        kind = type(joint_map).__name__
        raise TypeError(f"joint_map is of type {kind}; expected None, 'auto' or a mapping of names")
    return _mapped(source_names, target_names, joint_map)


def _alike(source: Model, target: Model) -> list[tuple[int, int]]:
    """Return the pairs of joints that are the same bone of a humanoid, then those of like names.

    The joints of the spine, and those of the neck, are paired evenly: ends with ends.
    """
    one, other = source.humanoid, target.humanoid
    pairs: list[tuple[int, int]] = []
    lines: tuple[list[int], list[int]] = ([], [])
    for line_of in (_spine, _neck):
        found = line_of(one), line_of(other)
        if all(found):
            pairs += evenly(*found)
            lines[0].extend(found[0])
            lines[1].extend(found[1])
    pairs += [
        (one.joint(bone), other.joint(bone))
        for bone in one
        if bone in other and one.joint(bone) not in lines[0] and other.joint(bone) not in lines[1]
    ]
    without = (
        _mesh_nodes(source).union(lines[0], (pair[0] for pair in pairs)),
        _mesh_nodes(target).union(lines[1], (pair[1] for pair in pairs)),
    )
    return sorted(pairs + same_parts(source.skeleton.names, target.skeleton.names, without))


def _spine(humanoid: Humanoid) -> list[int]:
    """Return the joints from the lowest of the spine to the highest."""
    bones = [bone for bone in ("spine", "chest", "upperChest") if bone in humanoid]
    return _line(humanoid, bones[0], bones[-1]) if bones else []


def _neck(humanoid: Humanoid) -> list[int]:
    """Return the joints from the neck to below the head."""
    if "neck" not in humanoid:
        return []
    return _line(humanoid, "neck", "head")[:-1] if "head" in humanoid else [humanoid.joint("neck")]


def _line(humanoid: Humanoid, upper: str, lower: str) -> list[int]:
    """Return the joints from that of one bone down to that of another, or both if they are not connected."""
    parents = humanoid.model.skeleton.parents.tolist()
    ends = humanoid.joint(upper), humanoid.joint(lower)
    found = [ends[1]]
    while found[-1] > ends[0]:
        found.append(parents[found[-1]])
    if found[-1] == ends[0]:
        return found[::-1]
    return [*dict.fromkeys(ends)]


def _mapped(
    source_names: tuple[str, ...], target_names: tuple[str, ...], joint_map: Mapping[str, str]
) -> list[tuple[int, int]]:
    """Return the pairs of a mapping of names."""
    taken: dict[str, str] = {}
    for one, other in joint_map.items():
        for name, known, side in ((one, source_names, "source"), (other, target_names, "target")):
            if name not in known:
                raise unknown_name(f"{side} joint", name, known, "joint_map")
        if other in taken:
            raise ValueError(f"joint_map has {taken[other]!r} and {one!r} for the same joint {other!r}")
        taken[other] = one
    return sorted((source_names.index(one), target_names.index(other)) for one, other in joint_map.items())


def _mesh_nodes(model: Model) -> frozenset[int]:
    """Return the nodes that only hold a skinned mesh; their names say nothing about the skeleton."""
    return frozenset({submesh.node for submesh in model.mesh.submeshes} - set(model.skin.joints.tolist()))
