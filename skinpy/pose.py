"""Poses: translation, rotation and scale of every joint, owned by the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import check_model
from ._types import Floats
from .posing import goals, kinematics
from .posing.kinematics import AxisLike, JointLike, Space

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Pose"]


class Pose(_core.Pose):
    """One pose of the skeleton of a model, or many poses along leading axes (...).

    `Model.pose` makes poses. The arrays `translation` (...,J,3), `rotation` (...,J,4) x y z w,
    `scale` (...,J,3) and `morph_weights` (...,M) are float32 and belong to the caller, who may change them:
    `locals`, `globals` and `palette` use what the arrays hold when they are called. Rotations may have any
    length but 0; they are divided by it.

    Examples
    --------
    >>> pose = skinpy.character().pose("walk", 0.25)
    >>> pose.rotate("Head", degrees=30, axis="y")
    <Pose: 26 joints>
    >>> pose.palette().shape
    (24, 4, 4)
    """

    # Without a __dict__ a misspelled attribute is an error.
    __slots__ = ("__weakref__", "_model")

    _model: Model

    def __new__(
        cls,
        model: Model,
        translation: Floats,
        rotation: Floats,
        scale: Floats,
        morph_weights: Floats,
        root: npt.ArrayLike | None = None,
    ) -> Pose:
        check_model("model", model)
        self = super().__new__(cls, model._block, translation, rotation, scale, morph_weights, root)
        self._model = model
        return self

    def __init__(self, *_: Any, **__: Any) -> None:
        """Do nothing: __new__ has taken the arguments."""

    @property
    def model(self) -> Model:
        """The model whose joints are posed."""
        return self._model

    # ---- by hand ----------------------------------------------------------------------------------

    def set(
        self,
        joint: JointLike,
        translation: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        scale: npt.ArrayLike | None = None,
    ) -> Pose:
        """Set translation, rotation or scale of a joint, relative to its parent.

        Parameters
        ----------
        joint : str or int
            Name or index of the joint.
        translation : array_like, shape (3,) or (..., 3), units of the parent, optional
            The new translation. (...) are the leading axes of the pose.
        rotation : array_like, shape (4,) or (..., 4), x y z w, optional
            The new rotation, a quaternion of any length but 0.
        scale : float or array_like, shape (3,) or (..., 3), optional
            The new scale; a single number scales evenly.

        Returns
        -------
        Pose
            This pose.

        Raises
        ------
        KeyError
            If the model has no joint of this name. The message has the closest names.
        IndexError
            If the model has no joint of this index.
        ValueError
            If a shape is wrong, a number is not finite, or a quaternion has length 0. Nothing is changed.
        TypeError
            If an argument has the wrong type. Nothing is changed.
        """
        kinematics.set_components(self, joint, translation, rotation, scale)
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
        """Rotate a joint on top of the rotation that it has.

        Exactly one of `rotation`, `degrees` and `radians` is given. All descendants of the joint follow.

        Parameters
        ----------
        joint : str or int
            Name or index of the joint.
        rotation : array_like, shape (4,) or (..., 4), x y z w, optional
            The additional rotation, a quaternion of any length but 0. (...) are the leading axes of the pose.
        degrees, radians : float or array_like, shape (...), optional
            The angle of the additional rotation, which is right-handed about `axis`.
        axis : str or array_like, shape (3,) or (..., 3), optional
            The axis for an angle: "x", "y", "z", "-x", "-y", "-z", or a vector of any length but 0.
        space : {"local", "parent"}, default "local"
            Whether the axes are those of the joint ("local", ``q = q * r``) or of its parent ("parent",
            ``q = r * q``).

        Returns
        -------
        Pose
            This pose.

        Raises
        ------
        KeyError
            If the model has no joint of this name. The message has the closest names.
        IndexError
            If the model has no joint of this index.
        ValueError
            If a shape is wrong, a number is not finite, a quaternion or axis has length 0, or an option is
            unknown. Nothing is changed.
        TypeError
            If not exactly one of `rotation`, `degrees` and `radians` is given, an angle comes without `axis`
            or a quaternion with it, or an argument has the wrong type. Nothing is changed.
        """
        kinematics.rotate(self, joint, rotation, degrees, radians, axis, space)
        return self

    def translate(self, joint: JointLike, vector: npt.ArrayLike, *, space: Space = "local") -> Pose:
        """Move a joint from where it is.

        Parameters
        ----------
        joint : str or int
            Name or index of the joint.
        vector : array_like, shape (3,) or (..., 3), units of the parent
            The displacement. (...) are the leading axes of the pose. The scale of the joint does not matter.
        space : {"local", "parent"}, default "local"
            Whether the axes are those of the joint ("local", ``t += q v``) or of its parent ("parent",
            ``t += v``).

        Returns
        -------
        Pose
            This pose.

        Raises
        ------
        KeyError
            If the model has no joint of this name. The message has the closest names.
        IndexError
            If the model has no joint of this index.
        ValueError
            If a shape is wrong, a number is not finite, or `space` is unknown. Nothing is changed.
        TypeError
            If an argument has the wrong type. Nothing is changed.
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
        """Rotate the two joints of a limb so that its end, such as a hand, reaches a target.

        Only the rotations of `root` and `middle` change. Lengths are kept as far as the scales of `root` and
        the joints below it are even.

        Parameters
        ----------
        end : str or int
            Name or index of the joint that is to reach the target.
        target : array_like, shape (3,) or (..., 3), scene space
            The points to reach. (...) are the leading axes of the pose.
        middle : str or int, optional
            The joint that bends, such as an elbow. By default it is the parent of `end`.
        root : str or int, optional
            The joint where the limb begins, such as a shoulder. By default it is the parent of `middle`.
        pole : array_like, shape (3,) or (..., 3), scene space, optional
            Points towards which the limb bends. Without a pole the plane of the bend stays as it is; a
            straight limb has no such plane, so give it a pole.
        weight : float or array_like, shape (...), default 1.0
            How much of the change is applied, from 0 to 1; rotations in between are by nlerp.
        soften : float, default 1.0
            The fraction of the limb's length, up to 1, from which the limb straightens gradually and without
            a jerk. With less than 1 far targets are not quite reached.

        Returns
        -------
        (...) bool ndarray
            Whether `end`, with a weight of 1, comes to within 1e-4 of the limb's length of the target.
            Otherwise the limb is straight towards the target or folded as far as possible, which is nearest
            in the space of the parent of `root`. Below a scale of 0 nothing moves and the result is False.

        Raises
        ------
        KeyError
            If the model has no joint of this name. The message has the closest names.
        IndexError
            If the model has no joint of this index.
        ValueError
            If the joints are not a chain of three, a shape is wrong, or a number is out of range or not
            finite. Nothing is changed.
        TypeError
            If an argument has the wrong type. Nothing is changed.

        Notes
        -----
        The angle at `middle` comes from the law of cosines, ``cos C = (a^2 + b^2 - c^2) / 2ab``. Then `root`
        makes the shortest rotation to the target, and with a pole it rotates about the line to the target
        until `middle` lies on the side of the pole.
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
        """Rotate a joint by the shortest rotation so that one of its axes points to a target (look-at).

        Parameters
        ----------
        joint : str or int
            Name or index of the joint.
        target : array_like, shape (3,) or (..., 3), scene space
            The points to look at. (...) are the leading axes of the pose.
        axis : str or array_like, shape (3,), default "z"
            The direction in the space of the joint that is to point to the target: "x", "-y", ... or a
            vector.
        up : str or array_like, shape (3,), default "y"
            The direction in the space of the joint that is to lie on the side of the pole.
        pole : array_like, shape (3,) or (..., 3), scene space, optional
            Points that decide the rotation about the line to the target. For a direction give a point that
            is far away. Without a pole the joint makes the shortest rotation alone.
        weight : float or array_like, shape (...), default 1.0
            How much of the change is applied, from 0 to 1; rotations in between are by nlerp.

        Returns
        -------
        (...) bool ndarray
            False if the target lies on the joint, or the joint or one of its ancestors has a scale of 0. The
            joint does not move then.

        Raises
        ------
        KeyError
            If the model has no joint of this name. The message has the closest names.
        IndexError
            If the model has no joint of this index.
        ValueError
            If a shape is wrong, a number is out of range or not finite, or a direction has length 0. Nothing
            is changed.
        TypeError
            If an argument has the wrong type. Nothing is changed.
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
        """Rotate all joints of a chain so that its end reaches a target (FABRIK).

        The rotations of `root` and of the joints down to the parent of `end` change. Lengths are kept as far
        as the scales inside the chain are even.

        Parameters
        ----------
        end : str or int
            Name or index of the joint that is to reach the target.
        target : array_like, shape (3,) or (..., 3), scene space
            The points to reach. (...) are the leading axes of the pose.
        root : str or int
            The joint where the chain begins, an ancestor of `end`.
        iterations : int, default 128
            The largest number of iterations, at least 1.
        tolerance : float, default 1e-4
            The distance from the target that is near enough, divided by the length of the chain.
        weight : float or array_like, shape (...), default 1.0
            How much of the change is applied, from 0 to 1; rotations in between are by nlerp.

        Returns
        -------
        (...) bool ndarray
            Whether `end`, with a weight of 1, comes within the tolerance. A target that is out of reach gives
            the straight chain towards it and False.

        Raises
        ------
        KeyError
            If the model has no joint of this name. The message has the closest names.
        IndexError
            If the model has no joint of this index.
        ValueError
            If `root` is not an ancestor of `end`, a shape is wrong, or a number is out of range or not
            finite. Nothing is changed.
        TypeError
            If an argument has the wrong type. Nothing is changed.

        Notes
        -----
        The method is forward and backward reaching (Aristidou and Lasenby, "FABRIK: a fast, iterative solver
        for the inverse kinematics problem", Graphical Models 73, 2011). The positions of the joints are
        pulled to the target from the end, then back to the root, until the end is near enough; then each
        joint makes the shortest rotation to the position of the next one. A chain of two links is solved as
        in `two_bone_ik` without a pole.
        """
        return goals.fabrik(self, end, target, root, iterations, tolerance, weight)

    def attach(self, joint: JointLike, offset: npt.ArrayLike | None = None) -> Floats:
        """Return the transform of an object that a joint holds, such as a sword in a hand.

        Parameters
        ----------
        joint : str or int
            Name or index of the joint.
        offset : array_like, shape (4, 4) or (..., 4, 4), optional
            The transform from the space of the object to that of the joint. (...) are the leading axes of the
            pose. By default it is the identity.

        Returns
        -------
        (..., 4, 4) float32 ndarray
            ``globals[joint] @ offset``, from the object to scene space. Scales of the joint and its ancestors
            act on the object too.

        Raises
        ------
        KeyError
            If the model has no joint of this name. The message has the closest names.
        IndexError
            If the model has no joint of this index.
        ValueError
            If the shape is wrong or a number is not finite.
        TypeError
            If an argument has the wrong type.
        """
        return goals.attach(self, joint, offset)

    def copy(self) -> Pose:
        """Return a pose of the same model with arrays of its own.

        Returns
        -------
        Pose
            The copy.
        """
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
            self.model._rig,
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
