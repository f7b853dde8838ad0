"""Poses: translation, rotation and scale of every joint, owned by whoever asked for them."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._types import Floats

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Pose"]


class Pose(_core.Pose):
    """One pose of a model's skeleton, or many along leading axes (...).

    `translation` (...,J,3), `rotation` (...,J,4) x y z w, `scale` (...,J,3) and `morph_weights` (...,M) are
    float32, writable and the caller's; `locals()`, `globals()` and `palette()` follow what they hold when
    called. Rotations need not be unit: they are divided by their length.
    """

    model: "Model"  #: the model whose joints these are
    morph_weights: Floats  #: (...,M) weights of the morph targets

    def __new__(
        cls,
        model: "Model",
        translation: Floats,
        rotation: Floats,
        scale: Floats,
        root: npt.ArrayLike | None = None,
    ) -> "Pose":
        self = super().__new__(cls, model._block, translation, rotation, scale, root)
        self.model = model
        self.morph_weights = np.zeros((*translation.shape[:-2], 0), np.float32)
        return self

    def __init__(self, *_: Any, **__: Any) -> None:
        """See __new__; `model.pose()` makes poses."""

    def copy(self) -> "Pose":
        """A pose of the same model with arrays of its own."""
        return Pose(self.model, self.translation.copy(), self.rotation.copy(), self.scale.copy(), self.root)

    def __copy__(self) -> "Pose":
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Pose":
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return Pose, (self.model, self.translation, self.rotation, self.scale, self.root)

    def __repr__(self) -> str:
        *lead, joints, _ = self.translation.shape
        many = f"{tuple(lead)} poses of " if lead else ""
        return f"<Pose: {many}{joints} joints>"
