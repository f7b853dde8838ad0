"""Poses: translation, rotation and scale of every joint, owned by whoever asked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from . import _core
from ._types import Floats
from .posing import goals, kinematics
from .posing.kinematics import AxisLike, JointLike, Space

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Pose"]


class Pose(_core.Pose):
    """One pose of a model's skeleton, or many along leading axes (...).

    `translation` (...,J,3), `rotation` (...,J,4) x y z w, `scale` (...,J,3) and `morph_weights` (...,M) are
    float32, writable and the caller's; `locals()`, `globals()` and `palette()` follow what they hold when
    called. Rotations need not be unit: they are divided by their length.
    """

    __slots__ = ("__weakref__", "model")  # and no __dict__: a name that is misspelled is an error

    model: Model  #: the model whose joints these are

    def __new__(
        cls,
        model: Model,
        translation: Floats,
        rotation: Floats,
        scale: Floats,
        morph_weights: Floats,
        root: npt.ArrayLike | None = None,
    ) -> Pose:
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
    ) -> Pose:
        """Puts a joint, by name or index, where it is wanted, relative to its parent; gives back this pose.

        translation (3,) or (...,3), in units of the parent; rotation (4,) or (...,4) x y z w, of any length
        but 0; scale a number, (3,) or (...,3). (...) are the pose's leading axes; what is None stays.

        Raises KeyError (no such name, with the close ones), IndexError, TypeError and ValueError (a wrong
        shape, a number that is not finite); nothing is changed then.
        """
        kinematics.set_parts(self, joint, translation, rotation, scale)
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
    ) -> Pose:
        """Turns a joint, by name or index, further than it is turned already; gives back this pose.

        Either rotation, a quaternion (4,) or (...,4) x y z w, or an angle, a number or (...), in degrees or
        radians about axis: "x", "y", "z", one of them with "-" in front, or a vector (3,) or (...,3). The
        turn is right-handed. space says whose axes are meant: the joint's own ("local", q = q * turn) or its
        parent's ("parent", q = turn * q). (...) are the pose's leading axes. Everything below the joint
        follows.

        Raises KeyError (no such name, with the close ones), IndexError, TypeError (not exactly one of
        rotation, degrees and radians; an angle without axis) and ValueError; nothing is changed then.
        """
        kinematics.rotate(self, joint, rotation, degrees, radians, axis, space)
        return self

    def translate(self, joint: JointLike, vector: npt.ArrayLike, *, space: Space = "local") -> Pose:
        """Moves a joint, by name or index, by vector (3,) or (...,3); gives back this pose.

        Along the joint's own axes ("local", t += q v) or its parent's ("parent", t += v); lengths are in
        units of the parent either way, so the joint's own scale does not matter.

        Raises KeyError (no such name, with the close ones), IndexError, TypeError and ValueError; nothing
        is changed then.
        """
        kinematics.translate(self, joint, vector, space)
        return self

    # ---- by goal ----------------------------------------------------------------------------------

    def two_bone_ik(
        self,
        end: JointLike,
        target: npt.ArrayLike,
        *,
        middle: JointLike | None = None,
        root: JointLike | None = None,
        pole: npt.ArrayLike | None = None,
        weight: npt.ArrayLike = 1.0,
        soften: float = 1.0,
    ) -> npt.NDArray[np.bool_]:
        """Turns root and middle so that end, say a hand, comes to target; says where that is possible.

        Joints are names or indices; middle is end's parent and root middle's parent unless they are named.
        target and pole are points (3,) or (...,3) of scene space, where (...) are the pose's leading axes.
        The bend at middle comes from the law of cosines, cos C = (a^2 + b^2 - c^2) / 2ab; then root makes
        the shortest turn to the target, and with a pole it turns about the line to the target until middle
        lies on the pole's side. Without one the plane of the bend stays; a limb that is straight has none,
        so give it a pole.

        weight, a number or (...) from 0 to 1, goes that share of the way from the pose as it is (nlerp).
        soften, up to 1, is the share of the limb's length from which it straightens gradually, without a
        jerk: with less than 1 the far targets are not quite reached.

        Gives (...) bool: True where end, at weight 1, comes to within 1e-4 of the limb's length of target.
        Elsewhere the pose is the nearest: straight towards the target, or folded as far as it goes; nearest
        in the space of root's parent. Under a scale of 0 nothing moves, False. Nothing but the rotations of
        root and middle changes, and lengths are kept as far as the scales at root and below are even.

        Raises KeyError (no such name, with the close ones), IndexError, TypeError and ValueError (no chain
        of three joints, a wrong shape, a number out of range or not finite); nothing is changed then.
        """
        return goals.two_bone_ik(self, end, target, middle, root, pole, weight, soften)

    def aim(
        self,
        joint: JointLike,
        target: npt.ArrayLike,
        *,
        axis: AxisLike = "z",
        up: AxisLike = "y",
        pole: npt.ArrayLike | None = None,
        weight: npt.ArrayLike = 1.0,
    ) -> npt.NDArray[np.bool_]:
        """Turns a joint, by name or index, so that its axis points to target: look-at by the shortest turn.

        target and pole are points (3,) or (...,3) of scene space, where (...) are the pose's leading axes;
        axis and up are directions in the joint's own space, "x", "-y", ... or (3,). With a pole the joint
        then turns about the line to the target until up lies on the pole's side; for a direction instead
        of a point give one far away. weight, a number or (...) from 0 to 1, goes that share of the way from
        the pose as it is (nlerp).

        Gives (...) bool: False where the target lies on the joint, or the joint or what is above it has a
        scale of 0; the pose stays there.

        Raises KeyError (no such name, with the close ones), IndexError, TypeError and ValueError; nothing
        is changed then.
        """
        return goals.aim(self, joint, target, axis, up, pole, weight)

    def fabrik(
        self,
        end: JointLike,
        target: npt.ArrayLike,
        *,
        root: JointLike,
        iterations: SupportsIndex = 128,
        tolerance: float = 1e-4,
        weight: npt.ArrayLike = 1.0,
    ) -> npt.NDArray[np.bool_]:
        """Turns all joints from root to end's parent so that end comes to target; says where it does.

        Forward and backward reaching (Aristidou and Lasenby 2011): the joints' places are pulled to the
        target from the end and back to the root, up to `iterations` times, until end is within tolerance,
        over the length of the chain, of it; then each joint makes the shortest turn to the next one's
        place. target is a point (3,) or (...,3) of scene space, where (...) are the pose's leading axes;
        weight, a number or (...) from 0 to 1, goes that share of the way from the pose as it is (nlerp).
        Two links are solved as by two_bone_ik without a pole.

        Gives (...) bool: True where end, at weight 1, comes within tolerance. A target out of reach gives
        the straight chain towards it, False. Lengths are kept as far as scales inside the chain are even.

        Raises KeyError (no such name, with the close ones), IndexError, TypeError and ValueError (root is
        no ancestor of end, a wrong shape, a number out of range or not finite); nothing is changed then.
        """
        return goals.fabrik(self, end, target, root, iterations, tolerance, weight)

    def attach(self, joint: JointLike, offset: npt.ArrayLike | None = None) -> Floats:
        """Where something stands that the joint holds: global(joint) @ offset, (...,4,4) float32.

        joint is a name or an index; offset, (4,4) or (...,4,4), leads from the thing's space to the joint's
        (None: the joint's own place). Scales of the joint and above it act on the thing too.

        Raises KeyError (no such name, with the close ones), IndexError, TypeError and ValueError (a wrong
        shape, a number that is not finite).
        """
        return goals.attach(self, joint, offset)

    def copy(self) -> Pose:
        """A pose of the same model with arrays of its own."""
        return Pose(
            self.model,
            self.translation.copy(),
            self.rotation.copy(),
            self.scale.copy(),
            self.morph_weights.copy(),
            self.root,
        )

    def __copy__(self) -> Pose:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Pose:
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
