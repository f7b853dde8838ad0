"""Baking: the palettes of whole clips into the texels of one texture, under the limits of GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from .._arguments import one_of, whole
from .._progress import working
from .._text import quoted
from .._types import Floats, Rotation
from ..clip import Clip
from ..models.frames import checked_rate, chunks
from ..models.overflow import refuse_overflow
from .baked_clip import SLOT_TEXELS, BakedClip
from .baking import BakedTexture, ClipLike
from .sampling import MAX_BYTES, frame_times

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["bake_texture"]

Precision: TypeAlias = Literal["float32", "float16"]

#: Texels of the largest side that OpenGL 4.1, Direct3D 11 and WebGPU's usual devices all have.
MAX_SIDE = 16384


def bake_texture(
    model: Model,
    clips: ClipLike | Sequence[ClipLike] | None = None,
    fps: float = 30.0,
    *,
    dtype: Precision = "float32",
    rotation: Rotation = "slerp",
    limit: int = MAX_SIDE,
) -> BakedTexture:
    """Bake clips of a model; see `Model.bake_texture`."""
    rate = checked_rate(fps)
    one_of("dtype", dtype, ("float32", "float16"))
    sources = _checked_sources(model, clips)
    slots = len(model.skin.joints)
    if not slots:
        raise ValueError("model has no mesh; there is nothing to bake")
    baked = _planned_clips(sources, rate, slots, dtype, limit)
    height, columns = _layout(baked[-1].row + baked[-1].frames, slots, limit)
    grid = np.zeros((height, columns, slots, SLOT_TEXELS, 4), dtype)
    with working("baking clips", baked[-1].row + baked[-1].frames) as work:
        for plan, source in zip(baked, sources, strict=True):
            frames = np.arange(plan.row, plan.row + plan.frames)
            for span in chunks(len(frames), 64 * len(model.skeleton) + 24 * slots):  # poses take memory too
                palettes = model.palette(
                    source, plan.times[span], affine=True, loop="clamp", rotation=rotation
                )
                _check_range(source, palettes, dtype)
                grid[frames[span] % height, frames[span] // height] = palettes
                work.done = plan.row + span.stop
    return BakedTexture(grid.reshape(height, -1, 4), tuple(baked), slots, rotation, model, sources)


def _planned_clips(
    sources: tuple[Clip, ...], rate: float, slots: int, dtype: Precision, limit: int
) -> list[BakedClip]:
    """Return the frames of each clip; all limits are checked before memory is allocated."""
    most = MAX_BYTES // (SLOT_TEXELS * 4 * np.dtype(dtype).itemsize * slots)
    baked, row = [], 0
    for clip in sources:
        count = row + 1 + int(min(clip.duration * rate, 1e18))
        _layout(count, slots, limit)
        if count > most:
            raise ValueError(
                f"clips have {count} frames of {slots} slots; expected fewer clips, or a lower fps, for at "
                f"most {most} frames"
            )
        count = len(frame_times(clip.duration, rate))
        baked.append(BakedClip(clip.name, row, count, rate, clip.duration, clip.ticks_per_second))
        row += count
    return baked


def _check_range(clip: Clip, palettes: Floats, dtype: Precision) -> None:
    """Raise ValueError for a number that `dtype` cannot hold."""
    largest = np.abs(palettes).max()
    if not np.isfinite(largest):
        refuse_overflow(clip._bound_model(), clip)
    if not largest <= np.finfo(dtype).max:
        wanted = "; expected dtype='float32'" if np.isfinite(largest) else ""
        raise ValueError(
            f"clip {quoted(clip.name)} has a matrix with {largest:.6g} in it, which {dtype} cannot "
            "hold (at most "
            f"{np.finfo(dtype).max:.6g}){wanted}"
        )


def _checked_sources(model: Model, clips: ClipLike | Sequence[ClipLike] | None) -> tuple[Clip, ...]:
    """Return the clips to bake: those given, or all of the model."""
    if clips is None:
        chosen: Sequence[ClipLike] = tuple(model.clips)
    elif isinstance(clips, (Clip, str)) or not isinstance(clips, Sequence):
        chosen = (clips,)
    else:
        chosen = clips
    if not chosen:
        raise ValueError("clips is empty; expected at least one clip to bake")
    return tuple(clip if isinstance(clip, Clip) else model.clips[clip] for clip in chosen)


def _layout(frames: int, slots: int, limit: int) -> tuple[int, int]:
    """Return the rows of the texture and its columns of frames: as few columns as the limit allows."""
    side = whole("limit", limit, 1)
    width = SLOT_TEXELS * slots
    if width > side:
        raise ValueError(
            f"a frame of {slots} slots is {width} texels wide; the limit for a side of a texture is {side}"
        )
    columns = -(-frames // side)
    if columns * width > side:
        raise ValueError(
            f"clips have {frames} frames of {slots} slots; a texture of {side} x {side} texels, the limit, "
            f"holds {side // width * side}. Expected fewer clips, or a lower fps"
        )
    return -(-frames // columns), columns
