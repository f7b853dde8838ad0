"""Posing a crowd: from the arguments of a frame to the numbers that the GPU gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skinpy.clip import Clip
from skinpy.kinds.baking import INSTANCE, BakedTexture

from ..._arguments import any_array
from .instances import Staging

if TYPE_CHECKING:
    from skinpy._types import Loop, Rotation
    from skinpy.model import Model


class CrowdMoment(NamedTuple):
    """The arguments of `Crowd.frame` that pose the instances."""

    clip_index: ArrayLike
    time: ArrayLike  # seconds
    weights: ArrayLike | None
    palettes: NDArray[np.float32] | None
    loop: Loop
    rotation: Rotation | None


class CrowdPoser:
    """Poses the instances of a crowd, into memory that each frame uses again."""

    def __init__(
        self,
        model: Model,
        clips: Sequence[Clip | str | int] | None,
        baked: BakedTexture | None,
        instances: int,
    ) -> None:
        self._model = model
        self._count = instances
        self._baked = _checked_bake(baked, model, clips)
        self.clips = _chosen_clips(model, baked, clips)
        self._instances = np.zeros(instances, INSTANCE)

    def make_source(self, limit: int) -> BakedTexture | Staging:
        """What the GPU reads the palettes from. `limit` is the largest side of a texture in texels."""
        if self._baked is not None:
            return self._baked
        return Staging(self._count, len(self._model.skin.joints), limit)

    def numbers(self, moment: CrowdMoment, source: BakedTexture | Staging) -> NDArray[Any]:
        """The numbers of a frame, for `CrowdScene.pose`.

        Raises ValueError, TypeError or IndexError for wrong arguments.
        """
        if isinstance(source, BakedTexture):
            return self._baked_instances(moment, source)
        if moment.palettes is not None:
            _copy_palettes(source.palettes, moment.palettes)
        else:
            self._fill_palettes(source.palettes, moment)
        return source.texels

    def _baked_instances(self, moment: CrowdMoment, baked: BakedTexture) -> NDArray[Any]:
        if moment.weights is not None or moment.palettes is not None or moment.rotation is not None:
            raise ValueError(
                "weights, palettes and rotation do not apply to a baked texture: each instance plays one "
                "clip, which is sampled already"
            )
        index, seconds = self._spread(moment)
        baked.instances(index, seconds, loop=moment.loop, out=self._instances)
        return self._instances

    def _fill_palettes(self, out: NDArray[np.float32], moment: CrowdMoment) -> None:
        if not self.clips:
            out[:] = self._model.palette(None, 0.0, affine=True)
            return
        index, seconds = self._spread(moment)
        weights = None if moment.weights is None else self._array("weights", moment.weights)
        rotation = "slerp" if moment.rotation is None else moment.rotation
        self._model.crowd_palette(
            self.clips, index, seconds, weights=weights, out=out, loop=moment.loop, rotation=rotation
        )

    def _spread(self, moment: CrowdMoment) -> tuple[NDArray[Any], NDArray[Any]]:
        """Clips and times as arrays with a row for each instance, (N,) or (N, K)."""
        index, seconds = self._array("clip_index", moment.clip_index), self._array("time", moment.time)
        rows = (self._count, *index.shape[1:])
        return np.broadcast_to(index, rows), np.broadcast_to(seconds, (self._count, *seconds.shape[1:]))

    def _array(self, name: str, value: ArrayLike) -> NDArray[Any]:
        """`value` as an array with a row for each instance, or one row for all."""
        wanted = f"one number or ({self._count},)"
        if self._baked is None:
            wanted += f", ({self._count}, K) or (1, K)"
        array = any_array(name, value)
        max_axes = 2 if self._baked is None else 1
        if array.ndim > max_axes or (array.ndim and len(array) not in (1, self._count)):
            raise ValueError(f"{name} has shape {array.shape}; expected {wanted}")
        return array if array.ndim else array[None]


def _copy_palettes(out: NDArray[np.float32], palettes: NDArray[np.float32]) -> None:
    given = any_array("palettes", palettes)
    count, slots = out.shape[:2]
    if given.shape not in ((count, slots, 3, 4), (count, slots, 4, 4)):
        raise ValueError(
            f"palettes has shape {given.shape}; expected ({count}, {slots}, 3, 4) or ({count}, {slots}, 4, 4)"
        )
    out[:] = given[:, :, :3]


def _checked_bake(
    baked: BakedTexture | None, model: Model, clips: Sequence[Clip | str | int] | None
) -> BakedTexture | None:
    if baked is None:
        return None
    if not isinstance(baked, BakedTexture):
        raise TypeError(f"baked is {type(baked).__name__}; expected a BakedTexture, or None")
    if baked.model is not model:
        raise ValueError("baked belongs to another model; expected a texture that this model has baked")
    if clips is not None:
        raise ValueError("clips is given together with baked; the clips are those that were baked")
    return baked


def _chosen_clips(
    model: Model, baked: BakedTexture | None, clips: Sequence[Clip | str | int] | None
) -> tuple[Clip, ...]:
    if baked is not None:
        return baked.sources
    if clips is None:
        return tuple(model.clips)
    if isinstance(clips, str) or not isinstance(clips, Sequence):
        raise TypeError(f"clips is {type(clips).__name__}; expected a sequence of Clips, names or numbers")
    return tuple(clip if isinstance(clip, Clip) else model.clips[clip] for clip in clips)
