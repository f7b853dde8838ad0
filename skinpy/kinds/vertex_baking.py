"""Baking: every frame of a clip as stored vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._arguments import check_model
from .._progress import working
from .._text import quoted
from ..clip import Clip
from ..models.frames import checked_rate, chunks
from ..models.overflow import refuse_points
from ..models.pickling import need_vertices
from .sampling import MAX_BYTES, frame_times
from .vertex import VertexAnimation, check_frames_finite

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["bake_vertices"]

_VERTEX_BYTES = 24  # of a position and a normal
_JOINT_NUMBERS = 64  # float64 numbers that posing one joint takes


def bake_vertices(
    model: Model, clip: Clip | VertexAnimation | str | int, fps: float, *, name: str | None = None
) -> VertexAnimation:
    """Return every frame of a clip as stored vertices.

    The vertices are deformed (morphed, skinned or moved rigidly) `fps` times a second: at 0, 1 / fps,
    2 / fps, ... seconds and at the end of the clip, so that the clip and the result have the same duration.
    Positions are in scene space.

    Parameters
    ----------
    model : Model
        The model whose vertices are deformed. It is also the model of the result.
    clip : Clip, VertexAnimation, str or int
        A clip of `model`, its name or its index, or a vertex animation of `model`.
    fps : float
        Frames per second, above 0.
    name : str, optional
        Name of the result. Without it the result has the name of the clip.

    Returns
    -------
    VertexAnimation
        An animation of kind "vertex".

    Raises
    ------
    KeyError
        If the model has no clip of this name.
    IndexError
        If the model has no clip of this index.
    ValueError
        If `fps` is not positive, the clip belongs to another model, the result would take more than 4 GiB of
        positions and normals, or a position is not finite.
    TypeError
        If `clip` is of another type.

    Examples
    --------
    >>> model = skinpy.character()
    >>> skinpy.kinds.bake_vertices(model, "walk", 10)
    <VertexAnimation 'walk': 11 frames of 3971 vertices, 1.000 s>
    """
    check_model("model", model)
    need_vertices(model, "bake_vertices")
    rate = checked_rate(fps)
    source = _checked_source(model, clip)
    count = len(model.mesh.positions)
    if not count:
        raise ValueError("model has no vertex; there is nothing to bake")
    most = max(MAX_BYTES // (_VERTEX_BYTES * count), 1)
    if source.duration * rate > most - 1:  # before memory is allocated
        raise ValueError(
            f"fps is {rate:g}, which is {source.duration * rate:.3g} frames of {count} vertices; expected a "
            f"lower fps, for at most {most} frames"
        )
    times = frame_times(source.duration, rate)
    frames = np.empty((len(times), count, 3), np.float32)
    normals = np.empty_like(frames)
    if isinstance(source, Clip):
        with working(f"baking {source.name}", len(times)) as work:
            for span in chunks(len(times), _JOINT_NUMBERS * len(model.skeleton)):
                model.deform(model.pose(source, times[span], loop="clamp"), out=(frames[span], normals[span]))
                work.done = span.stop
    else:
        source.sample(times, (frames, normals), loop="clamp")
    if isinstance(source, Clip):
        refuse_points(model, frames, source, times)
    check_frames_finite(f"clip {quoted(source.name)} bakes to", frames)
    title = source.name if name is None else name
    return VertexAnimation("vertex", times, frames, normals, model, title, rate, "linear")


def _checked_source(model: Model, clip: Clip | VertexAnimation | str | int) -> Clip | VertexAnimation:
    """Return what is to be baked, found by name or index where it is given so."""
    source = model.clips[clip] if isinstance(clip, (str, int, np.integer)) else clip
    if not isinstance(source, (Clip, VertexAnimation)):
        raise TypeError(
            f"clip is of type {type(source).__name__}; "
            "expected a Clip, its name or number, or a VertexAnimation"
        )
    if isinstance(source, VertexAnimation) and source.model is not model:
        raise ValueError("clip is a vertex animation of another model; expected one of this model")
    return source
