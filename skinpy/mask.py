"""Masks: how much of a layer each joint takes."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import floats
from ._types import Floats
from .errors import unknown_name

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Mask"]


@dataclass(frozen=True)
class Mask:
    """A weight from 0 to 1 for each joint, by names that are looked up when it is used.

    Made by `Mask.below`, `Mask.named` and `Mask.array`; `~mask` is 1 minus it. Masks never change, and
    compare equal where they say the same. A morph target takes the weight of the joint of its mesh.
    """

    kind: str  #: "below", "named" or "array"
    values: tuple[str, ...] | tuple[float, ...]  #: names, patterns or weights
    inverted: bool = False

    @classmethod
    def below(cls, *joints: str) -> Mask:
        """1 for the joints with these names and everything that hangs on them, 0 elsewhere."""
        return cls("below", _names("joints", joints))

    @classmethod
    def named(cls, *patterns: str) -> Mask:
        """1 for joints whose names match one of the patterns ("*Arm*", "Hand?"; case counts), 0 elsewhere."""
        return cls("named", _names("patterns", patterns))

    @classmethod
    def array(cls, weights: npt.ArrayLike) -> Mask:
        """weights (J,), one per joint of the skeleton, 0 to 1. Raises ValueError for numbers outside."""
        array = floats("weights", weights, ("J",))
        if len(array) and (array.min() < 0 or array.max() > 1):
            raise ValueError(f"weights go from {array.min():g} to {array.max():g}; expected 0 to 1")
        return cls("array", tuple(array.tolist()))

    def __invert__(self) -> Mask:
        return Mask(self.kind, self.values, not self.inverted)

    def weights(self, model: Model) -> Floats:
        """(J,) float32, read-only: the weights for a model's joints.

        Raises KeyError for a joint that it lacks (with the close names) or a pattern that matches none, and
        ValueError for an array of another length.
        """
        if not isinstance(model, _core.Model):
            raise TypeError(f"model is of type {type(model).__name__}; expected a Model")
        found = _FINDERS[self.kind](self.values, model)
        weights: Floats = np.asarray(1 - found if self.inverted else found, np.float32)
        weights.setflags(write=False)
        return weights

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, such as {"below": ["Spine"]}; `from_dict` reads it."""
        return {self.kind: list(self.values)} | ({"inverted": True} if self.inverted else {})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Mask:
        """The mask that `to_dict` wrote. Raises ValueError for anything else."""
        kinds = [kind for kind in _FINDERS if isinstance(data, dict) and kind in data]
        if len(kinds) != 1 or set(data) - {kinds[0], "inverted"}:
            raise ValueError(
                f"mask is {data!r}; expected one of {', '.join(map(repr, _FINDERS))} with a list"
            )
        makers = {"below": cls.below, "named": cls.named}
        values = data[kinds[0]]
        mask = makers[kinds[0]](*values) if kinds[0] in makers else cls.array(values)
        return ~mask if data.get("inverted") else mask


def _names(what: str, names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what} holds {name!r}; expected str")
    if not names:
        raise ValueError(f"{what} is empty; expected one name or more")
    return names


def _below(names: tuple[str, ...], model: Model) -> npt.NDArray[np.float64]:
    skeleton = model.skeleton
    weights = np.zeros(len(skeleton.names))
    weights[[skeleton.index(name) for name in names]] = 1
    for joint, parent in enumerate(skeleton.parents.tolist()):  # parents come first
        if parent >= 0:
            weights[joint] = max(weights[joint], weights[parent])
    return weights


def _named(patterns: tuple[str, ...], model: Model) -> npt.NDArray[np.float64]:
    names = model.skeleton.names
    weights = np.zeros(len(names))
    for pattern in patterns:
        hits = [number for number, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not hits:
            raise unknown_name("joint", pattern, names)
        weights[hits] = 1
    return weights


def _array(values: tuple[float, ...], model: Model) -> npt.NDArray[np.float64]:
    joints = len(model.skeleton.names)
    if len(values) != joints:
        raise ValueError(f"mask has {len(values)} weights; the skeleton has {joints} joints")
    return np.array(values)


_FINDERS: dict[str, Any] = {"below": _below, "named": _named, "array": _array}
