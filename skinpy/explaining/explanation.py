"""The records of an explanation: one vertex from the keys of the file to scene space, with all numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from .._arguments import brief
from .._text import quoted
from .._types import Array

__all__ = ["Explanation", "Influence", "JointStep", "MorphStep", "Outcome", "Sampled"]


@dataclass(frozen=True, eq=False)
class Sampled:
    """A channel at one time: the keys around the time, and the value between them.

    Attributes
    ----------
    path : {"translation", "rotation", "scale", "weights"}
        What the channel moves.
    interpolation : {"step", "linear", "cubic"}
        How values between two keys are found.
    key_count : int
        Number of keys of the channel.
    key : int
        Index of the first key in `times`.
    times : (2,) or (1,) float64 ndarray, seconds
        Times of the keys around the time; before the first and after the last key, that key alone.
    values : (2, C) or (1, C) float64 ndarray
        Values of these keys; rotations are x y z w.
    out_tangent : (C,) float64 ndarray or None, per second
        Out-tangent of the first of two cubic keys.
    in_tangent : (C,) float64 ndarray or None, per second
        In-tangent of the second of two cubic keys.
    fraction : float
        How far the time is from the first key to the second, 0 to 1.
    value : (C,) float64 ndarray
        The interpolated value; rotations have length 1.
    """

    path: str
    interpolation: str
    key_count: int
    key: int
    times: Array
    values: Array
    out_tangent: Array | None
    in_tangent: Array | None
    fraction: float
    value: Array


@dataclass(frozen=True, eq=False)
class MorphStep:
    """The differences that a morph target adds to the vertex before it is skinned.

    Attributes
    ----------
    target : int
        Index among ``model.targets``.
    name : str
        Name of the target.
    weight : float
        Weight at the time.
    sampled : Sampled or None
        The channel that the weight comes from; None for the default weight.
    position : (3,) float64 ndarray
        Difference of position at weight 1.
    normal : (3,) float64 ndarray
        Difference of normal at weight 1.
    """

    target: int
    name: str
    weight: float
    sampled: Sampled | None
    position: Array
    normal: Array


@dataclass(frozen=True, eq=False)
class JointStep:
    """A joint at the time: from its keys to its local and its global matrix.

    Attributes
    ----------
    joint : int
        Index of the joint.
    name : str
        Name of the joint.
    parent : int
        Index of the parent; -1 for a root.
    channels : tuple of Sampled
        The channels that move the joint; empty for a joint at rest.
    translation : (3,) float64 ndarray
        Local translation.
    rotation : (4,) float64 ndarray
        Local rotation, x y z w.
    scale : (3,) float64 ndarray
        Local scale.
    at_rest : bool
        Whether `local` is the rest matrix of the file, and not T * R * S.
    local : (4, 4) float64 ndarray
        Matrix from the joint to its parent.
    globals : (4, 4) float64 ndarray
        Matrix from the joint to scene space: the global matrix of the parent times `local`.
    """

    joint: int
    name: str
    parent: int
    channels: tuple[Sampled, ...]
    translation: Array
    rotation: Array
    scale: Array
    at_rest: bool
    local: Array
    globals: Array


@dataclass(frozen=True, eq=False)
class Influence:
    """A palette slot that moves the vertex.

    Attributes
    ----------
    slot : int
        Index of the slot.
    joint : int
        Index of its joint.
    name : str
        Name of the joint.
    weight : float
        Weight of the slot, above 0.
    chain : tuple of int
        The joints from the root to this joint.
    inverse_bind : (4, 4) float64 ndarray
        Matrix from mesh space at bind to joint space, also called the offset matrix.
    palette : (4, 4) float64 ndarray
        The global matrix of the joint times `inverse_bind`.
    position : (3,) float64 ndarray
        Where this slot alone would move the vertex.
    """

    slot: int
    joint: int
    name: str
    weight: float
    chain: tuple[int, ...]
    inverse_bind: Array
    palette: Array
    position: Array


@dataclass(frozen=True, eq=False)
class Outcome:
    """The vertex in scene space, by one of the methods to compute it.

    Attributes
    ----------
    way : {"NumPy", "C", "shader", "row vectors"}
        The method.
    position : (3,) float64 ndarray or None
        Position in scene space; None where the method was skipped.
    normal : (3,) float64 ndarray or None
        Normal of length 1 (a normal of length 0 stays 0); None where the method was skipped.
    position_error : float or None, model units
        Distance from the position that NumPy computes in float64.
    normal_error : float or None
        Length of the difference from the normal that NumPy computes.
    note : str
        How the vertex was computed, or why the method was skipped.
    """

    way: str
    position: Array | None
    normal: Array | None
    position_error: float | None
    normal_error: float | None
    note: str


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """One vertex from the keys to scene space; `Model.explain` makes it.

    print() shows an explanation as text, Jupyter as HTML. Arrays are float64 and read-only; matrices are for
    column vectors. ``explanation["C"]`` is the outcome of one method.

    Attributes
    ----------
    vertex : int
        Index of the vertex.
    submesh : str
        Name of the submesh that has the vertex.
    clip : str or None
        Name of the clip; None for the rest pose.
    duration : float, seconds
        Length of the clip.
    time : float, seconds
        The time that was asked for.
    loop : {"wrap", "clamp", "pingpong", "once"}
        What happens outside the clip.
    local_time : float, seconds
        The time within the clip.
    bind_position : (3,) ndarray
        Position in mesh space, as the file has it.
    bind_normal : (3,) ndarray
        Normal in mesh space, as the file has it.
    morphs : tuple of MorphStep
        The morph targets that move the vertex.
    position : (3,) ndarray
        Position in mesh space after the morph targets.
    normal : (3,) ndarray
        Normal in mesh space after the morph targets; its length is not 1.
    joints : tuple of JointStep
        All joints in the chains of the influences, parents first.
    influences : tuple of Influence
        The slots with a weight above 0, the largest first.
    matrix : (4, 4) ndarray
        The sum of weight times palette matrix.
    normal_matrix : (3, 3) ndarray
        The cofactors of the upper left 3x3 of `matrix`, times the sign of their determinant.
    outcomes : tuple of Outcome
        The results by "NumPy", "C", "shader" and "row vectors".
    palette_error : float
        The largest difference of a number of these palette matrices from those of the C code.
    """

    vertex: int
    submesh: str
    clip: str | None
    duration: float
    time: float
    loop: str
    local_time: float
    bind_position: Array
    bind_normal: Array
    morphs: tuple[MorphStep, ...]
    position: Array
    normal: Array
    joints: tuple[JointStep, ...]
    influences: tuple[Influence, ...]
    matrix: Array
    normal_matrix: Array
    outcomes: tuple[Outcome, ...]
    palette_error: float

    def __getitem__(self, way: str) -> Outcome:
        """Return the outcome of a method, such as "C"; raise KeyError for an unknown one."""
        for one in self.outcomes:
            if isinstance(way, str) and one.way == way:
                return one
        raise KeyError(
            f"unknown way {brief(way)}: there are {', '.join(repr(one.way) for one in self.outcomes)}"
        )

    def text(self) -> str:
        """Return the explanation as text.

        Returns
        -------
        str
            Lines of at most 100 columns.
        """
        from .text import as_text

        return as_text(self)

    def html(self) -> str:
        """Return the explanation as a whole page of HTML.

        Returns
        -------
        str
            A page without scripts that loads nothing.
        """
        from .html import as_page

        return as_page(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as data for JSON.

        Returns
        -------
        dict
            The fields by name, as numbers, strings, lists and dicts.
        """
        data: dict[str, Any] = _plain(self)
        return data

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        when = "the rest pose" if self.clip is None else f"{quoted(self.clip)} at {self.time:g} s"
        return f"<Explanation of vertex {self.vertex} in {when}: {len(self.influences)} influences>"

    def _repr_html_(self) -> str:
        from .html import as_fragment

        return as_fragment(self)


def _plain(value: Any) -> Any:
    """Return a record, an array or a tuple as dicts and lists."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def freeze(value: Any) -> None:
    """Make all arrays of records and tuples read-only."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple):
        for one in value:
            freeze(one)
    elif is_dataclass(value):
        for field in fields(value):
            freeze(getattr(value, field.name))
