"""A second clip over the first, for those who look at clips and have no controller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._arguments import finite, flag
from ..clip import Clip
from ..mask import Mask
from ..playing.controller import AnimationController

if TYPE_CHECKING:
    from .._types import Loop
    from ..model import Model
    from ..pose import Pose


@dataclass(frozen=True)
class Layer:
    """A clip that is laid over what plays, at the same time: a name, a number or a Clip.

    `weight` is its share, 0 to 1; `mask` limits it to some joints: a `skinpy.Mask`, or the name of a joint,
    which stands for that joint and all below it. `additive` adds the clip instead, against its first pose.
    The formulas are those of a controller's layers. Raises TypeError or ValueError; that the model lacks the
    clip or the joint is said where the layer is used.
    """

    clip: Clip | str | int
    weight: float = 1.0
    mask: Mask | str | None = None
    additive: bool = False

    def __post_init__(self) -> None:
        weight = finite("weight", self.weight)
        if not 0 <= weight <= 1:
            raise ValueError(f"weight is {weight:g}; expected 0 to 1")
        object.__setattr__(self, "weight", weight)
        if isinstance(self.mask, str):
            object.__setattr__(self, "mask", Mask.below(self.mask))
        if self.mask is not None and not isinstance(self.mask, Mask):
            raise TypeError(
                f"mask is of type {type(self.mask).__name__}; expected a Mask or the name of a joint"
            )
        flag("additive", self.additive)


class Mixed:
    """A clip, or the rest pose, with a layer over it: poses at any time.

    Raises KeyError, IndexError, TypeError or ValueError where the model has no such clip or joint.
    """

    def __init__(self, model: Model, clip: Clip | None, layer: Layer, loop: Loop) -> None:
        self._controller = AnimationController(model)
        if clip is not None:
            self._controller.play(clip, loop=loop)
        self._controller.play(
            layer.clip,
            layer="over",
            mask=layer.mask if isinstance(layer.mask, Mask) else None,
            weight=layer.weight,
            additive=layer.additive,
            loop=loop,
        )

    def pose(self, time: float) -> Pose:
        """The pose when both have played for `time` seconds."""
        for tracks in self._controller.layers.values():
            for track in tracks:
                track.position = time
        return self._controller.pose()
