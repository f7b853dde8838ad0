"""A second clip over the first, for viewers of clips that have no controller."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..._arguments import between, flag
from ...clip import Clip
from ...mask import Mask, mask_of
from ...playing.bounds import MAX_SECONDS
from ...playing.controller import AnimationController

if TYPE_CHECKING:
    from ..._types import Loop
    from ...model import Model
    from ...pose import Pose


@dataclass(frozen=True)
class Layer:
    """A clip that is laid over the clip that plays, at the same time.

    The formulas are those of a controller's layers. A clip or a joint that the model lacks is an error where
    the layer is used.

    Parameters
    ----------
    clip : Clip, str or int
        The clip, its name or its number.
    weight : float, 0 to 1, default 1.0
        How far the pose goes from the first clip to this one.
    mask : Mask or str, optional
        The joints that the layer moves. The name of a joint stands for that joint and all below it.
    additive : bool, default False
        Whether the clip's motion is added to the first clip instead, against its own first pose.

    Raises
    ------
    ValueError
        If the weight is not within 0 to 1.
    TypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> skinpy.view.Layer("wave", 0.5, mask="Chest").weight
    0.5
    """

    clip: Clip | str | int
    weight: float = 1.0
    mask: Mask | str | None = None
    additive: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", between("weight", self.weight, 0.0, 1.0))
        object.__setattr__(self, "mask", mask_of(self.mask))
        flag("additive", self.additive)


class LayeredClip:
    """A clip, or the rest pose, together with the layer over it.

    Raises KeyError, IndexError, TypeError or ValueError if the model has no such clip or joint.
    """

    def __init__(self, model: Model, clip: Clip | None, layer: Layer, loop: Loop) -> None:
        self._lock = threading.Lock()  # any thread may draw
        self._controller = AnimationController(model)
        if clip is not None:
            self._controller.play(clip, loop=loop)
        self._controller.play(
            layer.clip,
            layer="over",
            mask=layer.mask,
            weight=layer.weight,
            additive=layer.additive,
            loop=loop,
        )

    def pose(self, time: float) -> Pose:
        """The pose after both have played for `time` seconds."""
        time = min(max(time, -MAX_SECONDS), MAX_SECONDS)  # ghosts are seen before and after the time
        with self._lock:
            for tracks in self._controller.layers.values():
                for track in tracks:
                    track.position = time
            return self._controller.pose()
