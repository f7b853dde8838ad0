"""Masks: how much each joint follows a layer or a pose that is blended."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arguments import brief, check_model, flag, floats, instance, items_of, one_of
from ._types import Floats
from .errors import unknown_name

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Mask"]


@dataclass(frozen=True)
class Mask:
    """A weight from 0 to 1 for each joint of any skeleton.

    `Mask.below`, `Mask.named` and `Mask.array` make masks, and ``~mask`` is 1 minus a mask. A mask keeps
    names or patterns and looks them up in the model that it is used with. Masks never change, and two masks
    are equal if their fields are. A morph target takes the weight of the joint that its mesh hangs on.

    Attributes
    ----------
    kind : {"below", "named", "array"}
        How the weights are given.
    values : tuple of str or tuple of float
        Names of joints for "below", patterns for "named", weights for "array".
    inverted : bool
        Whether the weights are subtracted from 1.

    Examples
    --------
    >>> arms = skinpy.Mask.named("*Arm*")
    >>> float(arms.weights(skinpy.character()).sum())
    4.0
    >>> ~arms
    Mask(kind='named', values=('*Arm*',), inverted=True)
    """

    kind: str
    values: tuple[str, ...] | tuple[float, ...]
    inverted: bool = False

    def __post_init__(self) -> None:
        one_of("kind", self.kind, tuple(_FINDERS))
        if self.kind == "array":
            floats("values", self.values, ("J",))
        object.__setattr__(self, "values", tuple(items_of("values", self.values, "names or weights")))
        object.__setattr__(self, "inverted", flag("inverted", self.inverted))
        if self.kind != "array":
            _names("values", self.values)

    @classmethod
    def below(cls, *joints: str) -> Mask:
        """Make a mask that is 1 for some joints and all their descendants, and 0 for the others.

        Parameters
        ----------
        *joints : str
            Names of joints, at least one.

        Returns
        -------
        Mask
            The mask.

        Raises
        ------
        TypeError
            If a name is not a str.
        ValueError
            If there is no name.
        """
        return cls("below", _names("joints", joints))

    @classmethod
    def named(cls, *patterns: str) -> Mask:
        """Make a mask that is 1 for joints whose names match a pattern, and 0 for the others.

        Parameters
        ----------
        *patterns : str
            Patterns such as ``*Arm*`` or ``Hand?``, at least one. Upper and lower case differ.

        Returns
        -------
        Mask
            The mask.

        Raises
        ------
        TypeError
            If a pattern is not a str.
        ValueError
            If there is no pattern.
        """
        return cls("named", _names("patterns", patterns))

    @classmethod
    def array(cls, weights: npt.ArrayLike) -> Mask:
        """Make a mask from one weight for each joint.

        Parameters
        ----------
        weights : array_like, shape (J,)
            Weights from 0 to 1 in the order of the joints of the skeleton.

        Returns
        -------
        Mask
            The mask, which fits skeletons of J joints.

        Raises
        ------
        ValueError
            If a weight lies outside 0 to 1 or is not finite, or the shape is wrong.
        TypeError
            If `weights` does not hold real numbers.
        """
        array = floats("weights", weights, ("J",))
        if len(array) and (array.min() < 0 or array.max() > 1):
            raise ValueError(f"weights go from {array.min():g} to {array.max():g}; expected 0 to 1")
        return cls("array", tuple(array.tolist()))

    def __invert__(self) -> Mask:
        return Mask(self.kind, self.values, not self.inverted)

    def weights(self, model: Model) -> Floats:
        """Return the weights for the joints of a model.

        Parameters
        ----------
        model : Model
            The model whose skeleton the names are looked up in.

        Returns
        -------
        (J,) float32 ndarray
            Read-only weights from 0 to 1.

        Raises
        ------
        KeyError
            If the model has no joint of a name, or no joint that matches a pattern. The message has the
            closest names.
        ValueError
            If the mask is an array and the model has another number of joints.
        TypeError
            If `model` is not a Model.
        """
        check_model("model", model)
        found = _FINDERS[self.kind](self.values, model)
        weights: Floats = np.asarray(1 - found if self.inverted else found, np.float32)
        weights.setflags(write=False)
        return weights

    def to_dict(self) -> dict[str, Any]:
        """Return the mask as plain data for JSON.

        Returns
        -------
        dict
            One key, "below", "named" or "array", with a list; and "inverted" if the mask is inverted.

        Examples
        --------
        >>> (~skinpy.Mask.below("Spine")).to_dict()
        {'below': ['Spine'], 'inverted': True}
        """
        return {self.kind: list(self.values)} | ({"inverted": True} if self.inverted else {})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Mask:
        """Read a mask that `to_dict` wrote.

        Parameters
        ----------
        data : dict
            What `to_dict` returns.

        Returns
        -------
        Mask
            An equal mask.

        Raises
        ------
        ValueError
            If `data` is anything else, or a weight lies outside 0 to 1.
        TypeError
            If a name is not a str or a weight is not a number.
        """
        kinds = [kind for kind in _FINDERS if isinstance(data, dict) and kind in data]
        if len(kinds) != 1 or set(data) - {kinds[0], "inverted"}:
            one = ", ".join(map(repr, _FINDERS))
            raise ValueError(f"mask is {brief(data)}; expected data: a dict with one of {one} and a list")
        makers = {"below": cls.below, "named": cls.named}
        (kind,), values = kinds, data[kinds[0]]
        if kind in makers:
            mask = makers[kind](*items_of(f"data[{kind!r}]", values, "a list of names"))
        else:
            mask = cls.array(values)
        return ~mask if flag("data['inverted']", data.get("inverted", False)) else mask


def mask_of(mask: Mask | str | None) -> Mask | None:
    """The mask of an argument: itself, or for a name the mask of that joint and all below it."""
    if isinstance(mask, str):
        return Mask.below(mask)
    return mask if mask is None else instance("mask", mask, Mask, "a Mask or the name of a joint")


def _names(argument: str, names: tuple[Any, ...]) -> tuple[str, ...]:
    """The names themselves, if there is at least one and all are str."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{argument} holds {brief(name)}; expected str")
    if not names:
        raise ValueError(f"{argument} is empty; expected at least one name")
    return names


def _below(names: tuple[str, ...], model: Model) -> npt.NDArray[np.float64]:
    """Weights (J,) that are 1 for the named joints and all their descendants."""
    skeleton = model.skeleton
    weights = np.zeros(len(skeleton.names))
    for name in names:
        if name not in skeleton.names:
            raise unknown_name("joint", name, skeleton.names, "mask")
        weights[skeleton.index(name)] = 1
    for joint, parent in enumerate(skeleton.parents.tolist()):  # parents come before their children
        if parent >= 0:
            weights[joint] = max(weights[joint], weights[parent])
    return weights


def _named(patterns: tuple[str, ...], model: Model) -> npt.NDArray[np.float64]:
    """Weights (J,) that are 1 for the joints whose names match a pattern."""
    names = model.skeleton.names
    weights = np.zeros(len(names))
    for pattern in patterns:
        hits = [number for number, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not hits:
            raise unknown_name("joint", pattern, names, "mask")
        weights[hits] = 1
    return weights


def _array(values: tuple[float, ...], model: Model) -> npt.NDArray[np.float64]:
    """The given weights, if the model has as many joints."""
    joints = len(model.skeleton.names)
    if len(values) != joints:
        raise ValueError(
            f"mask has {len(values)} weights; the skeleton has {joints} joints; expected as many"
        )
    return np.array(values)


_FINDERS: dict[str, Any] = {"below": _below, "named": _named, "array": _array}
