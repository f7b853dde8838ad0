"""Poses: translation, rotation and scale of every joint, owned by whoever asked for them."""

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from . import _core, _kinematics
from ._kinematics import AxisLike, JointLike, Space
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

    def __new__(
        cls,
        model: "Model",
        translation: Floats,
        rotation: Floats,
        scale: Floats,
        morph_weights: Floats,
        root: npt.ArrayLike | None = None,
    ) -> "Pose":
        self = super().__new__(cls, model._block, translation, rotation, scale, morph_weights, root)
        self.model = model
        return self

    def __init__(self, *_: Any, **__: Any) -> None:
        """See __new__; `model.pose()` makes poses."""

    # ---- by hand ----------------------------------------------------------------------------------

    def set(
        self,
        joint: JointLike,
        translation: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        scale: npt.ArrayLike | None = None,
    ) -> "Pose":
        """Puts a joint, by name or index, where it is wanted, relative to its parent; gives back this pose.

        translation (3,) or (...,3), in units of the parent; rotation (4,) or (...,4) x y z w, of any length
        but 0; scale a number, (3,) or (...,3). (...) are the pose's leading axes; what is None stays.

        Raises KeyError (no such name, with the close ones), IndexError, TypeError and ValueError (a wrong
        shape, a number that is not finite); nothing is changed then.
        """
        _kinematics.set_parts(self, joint, translation, rotation, scale)
        return self

    def rotate(
        self,
        joint: JointLike,
        rotation: npt.ArrayLike | None = None,
        *,
        degrees: npt.ArrayLike | None = None,
        radians: npt.ArrayLike | None = None,
        axis: AxisLike | None = None,
        space: Space = "local",
    ) -> "Pose":
        """Turns a joint, by name or index, further than it is turned already; gives back this pose.

        Either rotation, a quaternion (4,) or (...,4) x y z w, or an angle, a number or (...), in degrees or
        radians about axis: "x", "y", "z", one of them with "-" in front, or a vector (3,) or (...,3). The
        turn is right-handed. space says whose axes are meant: the joint's own ("local", q = q * turn) or its
        parent's ("parent", q = turn * q). (...) are the pose's leading axes. Everything below the joint
        follows.

        Raises KeyError (no such name, with the close ones), IndexError, TypeError (not exactly one of
        rotation, degrees and radians; an angle without axis) and ValueError; nothing is changed then.
        """
        _kinematics.rotate(self, joint, rotation, degrees, radians, axis, space)
        return self

    def translate(self, joint: JointLike, vector: npt.ArrayLike, *, space: Space = "local") -> "Pose":
        """Moves a joint, by name or index, by vector (3,) or (...,3); gives back this pose.

        Along the joint's own axes ("local", t += q v) or its parent's ("parent", t += v); lengths are in
        units of the parent either way, so the joint's own scale does not matter.

        Raises KeyError (no such name, with the close ones), IndexError, TypeError and ValueError; nothing
        is changed then.
        """
        _kinematics.translate(self, joint, vector, space)
        return self

    def copy(self) -> "Pose":
        """A pose of the same model with arrays of its own."""
        return Pose(
            self.model,
            self.translation.copy(),
            self.rotation.copy(),
            self.scale.copy(),
            self.morph_weights.copy(),
            self.root,
        )

    def __copy__(self) -> "Pose":
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Pose":
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return Pose, (
            self.model,
            self.translation,
            self.rotation,
            self.scale,
            self.morph_weights,
            self.root,
        )

    def __repr__(self) -> str:
        *lead, joints, _ = self.translation.shape
        many = f"{tuple(lead)} poses of " if lead else ""
        return f"<Pose: {many}{joints} joints>"
