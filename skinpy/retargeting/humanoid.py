"""`Humanoid`: which joints of a model are the hips, the left hand and the other bones of a human figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from .._arguments import brief, check_model, wrong_type
from ..errors import unknown_name
from .bones import BONES, bones_of_vrm
from .detection import detect
from .limbs import standard_pose

if TYPE_CHECKING:
    from ..model import Model
    from ..pose import Pose

__all__ = ["Humanoid"]


class Found(NamedTuple):
    """The joint of each bone that was found, and one sentence per bone: the evidence, or what was tried."""

    joints: dict[str, int]
    reasons: dict[str, str]


class Humanoid(Mapping[str, str]):
    """The bones of a human figure: a mapping from the bone names of VRM 1.0 to names of joints.

    `Model.humanoid` finds them by itself; this class is for a mapping of one's own. A humanoid never changes.
    docs/retargeting.md lists the bones.

    Parameters
    ----------
    model : Model
        The model whose joints are meant.
    joints : mapping of str to str or int
        Names of joints by names of bones, such as ``{"hips": "Pelvis"}``. Any bones may be left out. Where
        several joints have one name, the first is meant; the index of a joint names it exactly.

    Raises
    ------
    KeyError
        If a bone is not one of VRM 1.0, or the model has no joint of that name. The message has close names.
    IndexError
        If the model has no joint of this index.
    ValueError
        If one joint stands for two bones.
    TypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> model = skinpy.character()
    >>> model.humanoid["leftUpperLeg"]
    'LeftUpperLeg'
    >>> skinpy.Humanoid(model, {"hips": "Hips", "head": "Head"})
    <Humanoid: 2 of 55 bones>
    """

    def __init__(self, model: Model, joints: Mapping[str, str | int]) -> None:
        check_model("model", model)
        if not isinstance(joints, Mapping):
            raise wrong_type("joints", joints, "a mapping of bone names to joint names")
        found: dict[str, int] = {}
        for bone, name in joints.items():
            if bone not in BONES:
                raise unknown_name("bone of a humanoid", bone, BONES, "joints")
            joint = _joint_of(model, bone, name)
            other = next((one for one, taken in found.items() if taken == joint), None)
            if other is not None:
                raise ValueError(f"joints has {brief(name)} for two bones, {other} and {bone}")
            found[bone] = joint
        reasons = dict.fromkeys(found, "It is given by the caller.")
        self._set(model, Found({bone: found[bone] for bone in BONES if bone in found}, reasons))

    @classmethod
    def _of(cls, model: Model, findings: Found) -> Humanoid:
        """Return the humanoid of what was found in a model."""
        humanoid = cls.__new__(cls)
        humanoid._set(model, findings)
        return humanoid

    def _set(self, model: Model, findings: Found) -> None:
        self._model, self._findings = model, findings

    @property
    def model(self) -> Model:
        """The model whose joints are meant."""
        return self._model

    @property
    def missing(self) -> tuple[str, ...]:
        """The bones of VRM 1.0 that have no joint, in the order of the standard."""
        return tuple(bone for bone in BONES if bone not in self._findings.joints)

    def joint(self, bone: str) -> int:
        """Return the index of the joint of a bone.

        Parameters
        ----------
        bone : str
            The name of a bone in VRM 1.0, such as "leftUpperLeg".

        Returns
        -------
        int
            The index of the joint in the skeleton of the model.

        Raises
        ------
        KeyError
            If the humanoid lacks this bone, or there is no such bone. The message says what was tried.
        """
        joint = self._findings.joints.get(bone) if isinstance(bone, str) else None
        if joint is None:
            raise self._lacks(bone)
        return joint

    def why(self, bone: str) -> str:
        """Return one sentence on why a joint is this bone, or on what was tried if none was found.

        Parameters
        ----------
        bone : str
            The name of a bone in VRM 1.0, such as "leftUpperLeg".

        Returns
        -------
        str
            The evidence.

        Raises
        ------
        KeyError
            If there is no such bone.
        """
        if not isinstance(bone, str) or bone not in BONES:
            raise unknown_name("bone of a humanoid", bone, BONES, "bone")
        return self._findings.reasons.get(bone, "The mapping leaves it out.")

    def t_pose(self) -> Pose:
        """Return the rest pose with the limbs turned into a T: arms level to the sides, legs straight down.

        Each limb is turned by the shortest turn, upper before lower, so that it keeps its twist. Spine, head,
        shoulders and fingers stay as they are at rest. Hands follow the arms, and feet keep their slope on
        the floor; only those that are more than 45 degrees off are turned along the arm, or ahead. A figure
        that lies at rest is turned upright at the hips. Translations stay those of the rest pose.

        Returns
        -------
        Pose
            The pose. It belongs to the caller.

        Raises
        ------
        KeyError
            If the humanoid lacks the hips, or a bone of the arms or legs down to hands and feet. The message
            says what was tried.
        ValueError
            If a limb has length 0, or the positions of hips and shoulders do not show left and right.

        Examples
        --------
        >>> model = skinpy.character()
        >>> pose = model.humanoid.t_pose()
        >>> between = pose.globals()[[model.humanoid.joint(b) for b in ("leftLowerArm", "leftHand")], :3, 3]
        >>> bool(np.allclose(between[0, 1], between[1, 1], atol=1e-6))
        True
        """
        return standard_pose(self, 0.0)

    def a_pose(self) -> Pose:
        """Return the rest pose with the limbs turned into an A: arms 45 degrees down, legs straight down.

        In all else it is like `t_pose`.

        Returns
        -------
        Pose
            The pose. It belongs to the caller.

        Raises
        ------
        KeyError
            If the humanoid lacks the hips, or a bone of the arms or legs down to hands and feet. The message
            says what was tried.
        ValueError
            If a limb has length 0, or the positions of hips and shoulders do not show left and right.
        """
        return standard_pose(self, 45.0)

    def _lacks(self, bone: object) -> KeyError:
        """Return the error for a bone that is not in the humanoid."""
        if not isinstance(bone, str) or bone not in BONES:
            return unknown_name("bone of a humanoid", bone, BONES)
        return KeyError(
            f"the humanoid has no {bone}. {self.why(bone)} skinpy.Humanoid(model, {{...}}) takes a mapping"
        )

    def __getitem__(self, bone: str) -> str:
        return self._model.skeleton.names[self.joint(bone)]

    def __contains__(self, bone: object) -> bool:
        return bone in self._findings.joints

    def __iter__(self) -> Iterator[str]:
        return iter(self._findings.joints)

    def __len__(self) -> int:
        return len(self._findings.joints)

    def __repr__(self) -> str:
        return f"<Humanoid: {len(self)} of {len(BONES)} bones>"


def _joint_of(model: Model, bone: str, name: object) -> int:
    """Return the index of the joint that a mapping gives for a bone."""
    names = model.skeleton.names
    if isinstance(name, int) and not isinstance(name, bool):
        if not 0 <= name < len(names):
            raise IndexError(f"joints has {name} for {bone}; the model has joints 0 to {len(names) - 1}")
        return name
    if not isinstance(name, str):
        raise wrong_type(f"joints[{bone!r}]", name, "the name of a joint, or its index")
    if name not in names:
        raise unknown_name("joint", name, names, "joints")
    return names.index(name)


def find_humanoid(model: Model) -> Found:
    """Return the bones that the file of a model states (VRM), or else those that names and structure show."""
    vrm = model.vrm
    stated = bones_of_vrm(vrm, len(model.skeleton)) if vrm else {}
    if stated:
        return Found(
            stated,
            {
                bone: "The VRM file says so."
                if bone in stated
                else "The VRM file names no joint for it, and what the file says counts."
                for bone in BONES
            },
        )
    return Found(*detect(model))
