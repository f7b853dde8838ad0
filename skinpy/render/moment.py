"""What a frame shows, as its caller named it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .figure import Figure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from skinpy._types import Loop, Rotation

    from .posing import Motion, PoseLike


class Moment(NamedTuple):
    """A motion at a time, or a pose, and the figure that it is: the arguments of `Renderer.frame`."""

    motion: Motion
    time: float
    pose: PoseLike | None
    loop: Loop
    rotation: Rotation
    root: ArrayLike | None
    morph_weights: ArrayLike | None
    figure: Figure
