"""Clips in another unit than the model that they are added to.

Translations are relative to the parent, so what counts are the distances of joints from their parents, and
only where there are none the units that the files state: a file in centimeters may have a node that scales
what is below it to meters.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from .._arguments import brief, positive
from .._text import quoted
from .._types import Array
from ..clip import Clip
from ..errors import SkinpyWarning
from .matching import match_joints

if TYPE_CHECKING:
    from ..model import Model

Scale: TypeAlias = "Literal['auto'] | float | None"

_CLEAR = 2.5  #: characters of one unit differ by less, and inches from centimeters by more
_POWER = 1.02  #: a factor this near to a power of ten is that power
_MAX_SCALE = 1e12  #: more than from the smallest to the largest unit in which characters are made
_MIN_JOINTS = 3  #: that have a length in both skeletons


def checked_scale(scale: Scale) -> Scale:
    """The scale itself; TypeError or ValueError for what Model.add_clips does not take."""
    if scale is None or (isinstance(scale, str) and scale == "auto"):
        return scale
    wanted = "None, 'auto' or a number above 0"
    if isinstance(scale, str):
        raise ValueError(f"scale is {brief(scale)}; expected {wanted}")
    number = positive("scale", scale, wanted)
    if number > _MAX_SCALE:
        raise ValueError(f"scale is {number:g}; expected at most {_MAX_SCALE:g}")
    return number


def fitted(clips: list[Clip], model: Model, scale: Scale) -> list[Clip]:
    """Clips of one source with their translations multiplied by `scale`.

    "auto" finds the factor; None multiplies nothing, and a SkinpyWarning says which factor "auto" finds.
    """
    from ..models.space import scaled_clip  # which imports this package

    if isinstance(scale, float):
        return [scaled_clip(clip, scale) for clip in clips]
    found = []
    factors: dict[int, float] = {}  # by source model
    for clip in clips:
        key = id(clip.model)
        if key not in factors:
            factors[key] = 1.0 if clip.model is None else unit_factor(clip.model, model)
            if scale is None and factors[key] != 1.0 and _translates(clip):
                _warn(clip, model, factors[key])
        found.append(scaled_clip(clip, factors[key]) if scale and factors[key] != 1.0 else clip)
    return found


def unit_factor(source: Model, model: Model) -> float:
    """What translations of `source` must be multiplied by to fit `model`; 1 if nothing shows another unit."""
    if source._block.rig is model._block.rig:
        return 1.0
    stated = None
    if source.unit_meters and model.unit_meters:
        stated = source.unit_meters / model.unit_meters
    ratio = _length_ratio(source, model)
    if ratio is None:
        return 1.0 if stated is None else stated
    if 1 / _CLEAR < ratio < _CLEAR:
        return 1.0
    if stated is not None and 1 / _CLEAR < ratio / stated < _CLEAR:
        return stated
    power = 10.0 ** round(np.log10(ratio))
    return power if 1 / _POWER < ratio / power < _POWER else ratio


def _length_ratio(source: Model, model: Model) -> float | None:
    """The median ratio of the lengths of joints that both skeletons have; None for fewer than three."""
    matched, _ = match_joints(source.skeleton.names, model.skeleton.names, range(len(source.skeleton)))
    own, other = (_lengths(one) for one in (source, model))
    pairs = matched >= 0
    both = np.stack([own[pairs], other[matched[pairs]]])
    both = both[:, (both > 0).all(axis=0)]
    return float(np.median(both[1] / both[0])) if both.shape[1] >= _MIN_JOINTS else None


def _lengths(model: Model) -> Array:
    """The distance (J,) of each joint from its parent at rest; 0 for roots."""
    skeleton = model.skeleton
    lengths = np.linalg.norm(skeleton.translation.astype(np.float64), axis=1)
    return np.where(skeleton.parents < 0, 0.0, lengths)


def _translates(clip: Clip) -> bool:
    return any(channel.path == "translation" for channel in clip.channels) or clip._motion is not None


def _warn(clip: Clip, model: Model, factor: float) -> None:
    units = [one.unit_meters if one is not None else None for one in (clip.model, model)]
    said = f" (units of {units[0]:g} m and {units[1]:g} m)" if all(units) else ""
    warnings.warn(
        f"clip {quoted(clip.name)} is in another unit than the model{said}: its translations are "
        f"{1 / factor:.4g} times as long; add_clips(..., scale='auto') multiplies them by {factor:.4g}",
        SkinpyWarning,
        stacklevel=5,
    )
