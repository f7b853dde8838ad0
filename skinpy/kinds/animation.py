"""The interface that all kinds of animation have in common.

`Clip` (kinds "keyed", "rigid" and "skinned"), `VertexAnimation` and `UVAnimation` satisfy it. docs/kinds.md
describes what each kind stores and how one kind is converted into another.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy.typing as npt

from .._arguments import brief, one_of
from .._types import Loop

__all__ = ["Animation", "Interpolation", "Kind", "checked_interpolation"]

Kind: TypeAlias = Literal["uv", "vertex", "keyed", "rigid", "skinned"]
Interpolation: TypeAlias = Literal["linear", "step"]


@runtime_checkable
class Animation(Protocol):
    """The interface of every kind of animation: `Clip`, `VertexAnimation` and `UVAnimation`."""

    @property
    def kind(self) -> Kind:
        """The kind of the animation.

        It is "uv", "vertex" (every frame is stored), "keyed" (frames between stored vertices or between
        weights of morph targets are interpolated), "rigid" or "skinned".
        """

    @property
    def name(self) -> str:
        """The name of the animation, which may be empty."""

    @property
    def duration(self) -> float:
        """The length in seconds; infinite for a UV animation of constant speed."""

    @property
    def nbytes(self) -> int:
        """The number of bytes that are stored for the motion."""

    def sample(self, time: npt.ArrayLike, out: Any = None, *, loop: Loop = "wrap") -> Any:
        """Return what the animation shows at one time or at many.

        Parameters
        ----------
        time : array_like, shape (...), seconds
            Times at which the animation is sampled. Their shape is the leading shape of the result.
        out : object, optional
            What the result is written to; its type depends on the kind.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside 0 to `duration`.

        Returns
        -------
        object
            A `Pose` for clips, positions and normals (..., V, 3) for vertex animations, and matrices
            (..., 3, 3) for UV animations.
        """


def checked_interpolation(value: str) -> Interpolation:
    """Return `value` if it is "linear" or "step"; raise ValueError otherwise."""
    one_of("interpolation", value, ("linear", "step"))
    return "step" if value == "step" else "linear"
    raise ValueError(f"interpolation is {brief(value)}; expected 'linear' or 'step'")
