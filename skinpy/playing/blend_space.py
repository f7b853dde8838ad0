"""Blend spaces: clips at points of a parameter, blended between them.

A parameter is a number (speed) or a pair (speed and turning speed). Between two points of a line the weights
are linear. In the plane they are barycentric in the triangle around the parameter, of a Delaunay
triangulation of the points (see triangles.py). At most three clips have a weight at a time, weights are
continuous, and at a point its clip is alone. Rotations in the plane are averaged by the rule for three poses
even if two clips have a weight, so that nothing jumps at the edges of triangles. Gradient band interpolation
(R. S. Johansen, "Automated Semi-Procedural Animation for Character Locomotion", 2009, section 6.3) is
smoother, but blends any number of clips at once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .._arguments import any_array, brief, check_model, finite, floats, items_of
from .._strict import Strict
from .._text import quoted
from .._types import Array
from ..clip import Clip
from .triangles import Share, area, delaunay, edges_of, locate

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["BlendSpace1D", "BlendSpace2D", "BoundBlendSpace"]

ClipName = Clip | str | int
Parameter = float | tuple[float, float]
#: Largest coordinate, in extents of the space: from farther away, all points are equally near.
_MAX_COORDINATE = 1e6
#: Smallest area of a space, in extents squared: below, the points lie on one line within rounding.
_MIN_AREA = 1e-9


class _BlendSpace(ABC):
    """The base of both kinds of blend spaces. A space never changes."""

    _KIND = ""
    __slots__ = ("_parameter", "_points")
    _points: tuple[tuple[Any, ClipName], ...]
    _parameter: Any

    def __init__(self, points: Any, parameter: Any = None) -> None:
        wanted = "a mapping of parameters to clips, or pairs of them"
        pairs = list(points.items()) if isinstance(points, Mapping) else items_of("points", points, wanted)
        for pair in pairs:
            if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
                raise ValueError(f"points has {brief(pair)}; expected pairs of a parameter and a clip")
        if len(pairs) < 2:
            raise ValueError(f"points has {len(pairs)} points; expected 2 or more")
        for where, clip in pairs:
            if isinstance(clip, bool) or not isinstance(clip, Clip | str | int):
                at = f"{brief(clip)} at {brief(where)}"
                raise TypeError(f"points has {at}; expected a Clip, a name or an index")
        self._points = tuple((self._number("points", where), clip) for where, clip in pairs)
        parameters = [where for where, _ in self._points]
        if len(set(parameters)) < len(parameters):
            twice = next(where for number, where in enumerate(parameters) if where in parameters[:number])
            raise ValueError(f"points has {twice} twice")
        self._parameter = parameters[0] if parameter is None else self._number("parameter", parameter)

    @property
    def clips(self) -> tuple[ClipName, ...]:
        """The clips, as a Clip, a name or an index each, in the order of the points."""
        return tuple(clip for _, clip in self._points)

    def to_dict(self) -> dict[str, Any]:
        """Return the space as data for JSON.

        Returns
        -------
        dict
            "kind" ("1d" or "2d"), "points" (pairs of a parameter and a name or an index of a clip), and
            "parameter", with which a player starts.

        Raises
        ------
        TypeError
            If a clip was given as a Clip.
        """
        for clip in self.clips:
            if isinstance(clip, Clip):
                raise TypeError(f"{clip!r} cannot be stored as data; give the space its name or its index")
        points = [[_plain(where), clip] for where, clip in self._points]
        return {"kind": self._KIND, "points": points, "parameter": _plain(self._parameter)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the space that `to_dict` gave as data.

        Parameters
        ----------
        data : mapping
            What `to_dict` returned.

        Returns
        -------
        BlendSpace1D or BlendSpace2D
            The space.

        Raises
        ------
        ValueError
            If the data are of another kind, a key is unknown or missing, or a point has a fault.
        TypeError
            If `data` is not a mapping, or a value has the wrong type.
        """
        if not isinstance(data, Mapping):
            raise TypeError(f"data is of type {type(data).__name__}; expected a dict")
        unknown = set(data) - {"kind", "points", "parameter"}
        if unknown:
            raise ValueError(
                f"data has the unknown key {quoted(min(map(str, unknown)))}; expected kind, points, parameter"
            )
        if data.get("kind") != cls._KIND:
            raise ValueError(f"data has the kind {brief(data.get('kind'))}; expected {cls._KIND!r}")
        if "points" not in data:
            raise ValueError("data has no points")
        return cls(data["points"], data.get("parameter"))

    def bind(self, model: Model) -> BoundBlendSpace:
        """Return the space with the clips of a model.

        Parameters
        ----------
        model : Model
            The model whose clips are blended.

        Returns
        -------
        BoundBlendSpace
            The space with the clips.

        Raises
        ------
        KeyError
            If the model has no clip of a name.
        IndexError
            If the model has no clip of an index.
        ValueError
            If a Clip belongs to another model, or some clips are additive and others are not.
        """
        check_model("model", model)
        return BoundBlendSpace(self, model)

    @staticmethod
    @abstractmethod
    def _number(name: str, value: Any) -> Any:
        """Return a checked parameter."""

    @abstractmethod
    def _shares(self, parameter: Any) -> tuple[Share, ...]:
        """Return the points that have a weight at a parameter, by index, and their weights."""

    def _weights(self, parameter: npt.ArrayLike, width: tuple[int, ...]) -> Array:
        """Return the weights (...,P) at many parameters."""
        given = any_array("parameter", parameter)
        lead = given.shape[: given.ndim - len(width)]
        values = floats("parameter", given, (*lead, *width), np.float64).reshape(-1, *width)
        weights = np.zeros((len(values), len(self._points)))
        for row, value in zip(weights, values.tolist(), strict=True):
            for number, weight in self._shares(tuple(value) if width else value):
                row[number] = weight
        return weights.reshape(*lead, len(self._points))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._points == other._points and bool(self._parameter == other._parameter)

    def __hash__(self) -> int:
        return hash((self._KIND, self._points, self._parameter))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._points, self._parameter)

    def __deepcopy__(self, _: Any) -> Self:
        return self

    def __repr__(self) -> str:
        points = ", ".join(
            f"{where}: {quoted(clip.name if isinstance(clip, Clip) else clip)}"
            for where, clip in self._points
        )
        return f"{type(self).__name__}({{{points}}})"


class BlendSpace1D(_BlendSpace):
    """Clips at two or more numbers, such as speeds, blended linearly between neighbors.

    Parameters
    ----------
    points : mapping or iterable of pairs
        Clips, each a Clip, a name or an index, by two or more numbers, as in the example.
    parameter : float, optional
        The number that a player starts with. Without it the first point.

    Raises
    ------
    ValueError
        If there are fewer than two points, a point comes twice, or a number is not finite.
    TypeError
        If a number or a clip has the wrong type.

    Examples
    --------
    >>> space = skinpy.BlendSpace1D({1.4: "walk", 3.5: "run"})
    >>> space.weights([1.4, 2.45, 9.0])
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    _KIND = "1d"
    __slots__ = ("_line", "_order")

    def __init__(
        self,
        points: Mapping[float, ClipName] | Iterable[tuple[float, ClipName]],
        parameter: float | None = None,
    ) -> None:
        super().__init__(points, parameter)
        self._order = sorted(range(len(self._points)), key=lambda number: self._points[number][0])
        self._line = [self._points[number][0] for number in self._order]
        if not math.isfinite(self._line[-1] - self._line[0]):
            raise ValueError("points lie too far apart; their extent is beyond what a float holds")

    @property
    def points(self) -> tuple[tuple[float, ClipName], ...]:
        """The pairs of a number and a clip, in the order in which they were given."""
        return self._points

    @property
    def parameter(self) -> float:
        """The number that a player starts with."""
        return float(self._parameter)

    def weights(self, parameter: npt.ArrayLike) -> Array:
        """Return the weights of the points at one number or at many.

        Parameters
        ----------
        parameter : array_like, shape (...)
            Numbers. Below the first point and above the last, that point alone has a weight.

        Returns
        -------
        (..., P) float64 ndarray
            Weights of the P points, which sum to 1.

        Raises
        ------
        ValueError
            If a number is not finite.
        TypeError
            If `parameter` does not hold numbers.
        """
        return self._weights(parameter, ())

    @staticmethod
    def _number(name: str, value: Any) -> float:
        return finite(name, value)

    def _shares(self, parameter: float) -> tuple[Share, ...]:
        line, order = self._line, self._order
        if parameter <= line[0]:
            return ((order[0], 1.0),)
        for index in range(1, len(line)):
            if parameter <= line[index]:
                fraction = (parameter - line[index - 1]) / (line[index] - line[index - 1])
                return (order[index - 1], 1.0 - fraction), (order[index], fraction)
        return ((order[-1], 1.0),)


class BlendSpace2D(_BlendSpace):
    """Clips at three or more points of a plane, such as speed and turning speed, blended in triangles.

    Which points are neighbors depends on the scale of the axes: give both about the same extent.

    Parameters
    ----------
    points : mapping or iterable of pairs
        Clips, each a Clip, a name or an index, by pairs of numbers that are not all on one line.
    parameter : (float, float), optional
        The pair that a player starts with. Without it the first point.

    Raises
    ------
    ValueError
        If all points are on one line, a point comes twice, or a number is not finite.
    TypeError
        If a pair or a clip has the wrong type.

    Examples
    --------
    >>> space = skinpy.BlendSpace2D({(0, 0): "walk", (0, 1): "run", (1, 0): "wave"})
    >>> space.weights((0.25, 0.25))
    array([0.5 , 0.25, 0.25])
    """

    _KIND = "2d"
    __slots__ = ("_edges", "_low", "_numbers", "_scaled", "_span", "_triangles")

    def __init__(
        self,
        points: Mapping[tuple[float, float], ClipName] | Iterable[tuple[tuple[float, float], ClipName]],
        parameter: tuple[float, float] | None = None,
    ) -> None:
        super().__init__(points, parameter)
        points_at = [where for where, _ in self._points]
        axes = list(zip(*points_at, strict=True))
        self._low = (min(axes[0]), min(axes[1]))
        self._span = max(max(axis) - min(axis) for axis in axes)
        if not math.isfinite(self._span):
            raise ValueError("points lie too far apart; their extent is beyond what a float holds")
        self._scaled = [self._scale(point) for point in points_at]
        self._numbers = {point: number for number, point in enumerate(self._scaled)}
        if len(self._numbers) < len(points_at):
            raise ValueError("two of the points are too close together, compared with the extent of all")
        self._triangles = delaunay(self._scaled)
        if sum(area(self._scaled, one) for one in self._triangles) < _MIN_AREA:
            raise ValueError("all points lie on one line; use a BlendSpace1D along it")
        self._edges = edges_of(self._triangles)

    @property
    def points(self) -> tuple[tuple[tuple[float, float], ClipName], ...]:
        """The pairs of a point and a clip, in the order in which they were given."""
        return self._points

    @property
    def parameter(self) -> tuple[float, float]:
        """The point that a player starts with."""
        found: tuple[float, float] = self._parameter
        return found

    @property
    def triangles(self) -> Array:
        """The triangles between the points, (T, 3) int32 indices, counterclockwise; a new array."""
        return np.array(self._triangles, np.int32)

    def weights(self, parameter: npt.ArrayLike) -> Array:
        """Return the weights of the points at one pair of numbers or at many.

        Weights are barycentric in the triangle around the pair; outside, they are those of the nearest point
        of the convex hull.

        Parameters
        ----------
        parameter : array_like, shape (..., 2)
            Pairs of numbers.

        Returns
        -------
        (..., P) float64 ndarray
            Weights of the P points, which sum to 1.

        Raises
        ------
        ValueError
            If a number is not finite, or the last axis is not 2.
        TypeError
            If `parameter` does not hold numbers.
        """
        return self._weights(parameter, (2,))

    @staticmethod
    def _number(name: str, value: Any) -> tuple[float, float]:
        if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str) or len(value) != 2:
            raise TypeError(f"{name} has {brief(value)}; expected a pair of numbers")
        return finite(name, value[0]), finite(name, value[1])

    def _scale(self, point: tuple[float, float]) -> tuple[float, float]:
        """Return a point in extents of the space, so that the triangulation has numbers of about 1."""
        x, y = (
            min(max((value - low) / self._span, -_MAX_COORDINATE), _MAX_COORDINATE)
            for value, low in zip(point, self._low, strict=True)
        )
        return x, y

    def _shares(self, parameter: tuple[float, float]) -> tuple[Share, ...]:
        point = self._scale(parameter)
        number = self._numbers.get(point)
        if number is not None:
            return ((number, 1.0),)
        return locate(self._scaled, self._triangles, self._edges, point)


class BoundBlendSpace(Strict):
    """A blend space with the clips of a model; `BlendSpace1D.bind` and `BlendSpace2D.bind` make it."""

    def __init__(self, space: _BlendSpace, model: Model) -> None:
        self._space = space
        self._clips = tuple(_clip_of(model, clip) for clip in space.clips)
        kinds = {getattr(clip, "is_additive", False) for clip in self._clips}
        if len(kinds) > 1:
            raise ValueError(
                f"{space!r} has additive clips beside others; expected clips that are all additive or none"
            )

    @property
    def clips(self) -> tuple[Clip, ...]:
        """The clips in the order of the points."""
        return self._clips

    @property
    def in_plane(self) -> bool:
        """Whether the parameter is a pair, so that up to three clips have weight."""
        return isinstance(self._space, BlendSpace2D)

    @property
    def parameter(self) -> Parameter:
        """The number, or the pair of numbers, that a player starts with."""
        found: Parameter = self._space._parameter
        return found

    def check(self, parameter: Any) -> Parameter:
        """Return a parameter as a float or a pair of floats, checked.

        Parameters
        ----------
        parameter : float or (float, float)
            The parameter.

        Returns
        -------
        float or (float, float)
            The parameter.

        Raises
        ------
        ValueError
            If a number is not finite.
        TypeError
            If the parameter has the wrong type.
        """
        found: Parameter = self._space._number("parameter", parameter)
        return found

    def samples(self, parameter: Any) -> tuple[tuple[Clip, float], ...]:
        """Return the clips with a weight at a parameter, and their weights.

        Parameters
        ----------
        parameter : float or (float, float)
            The parameter.

        Returns
        -------
        tuple of (Clip, float)
            At most three clips, each once, with positive weights that sum to 1.

        Raises
        ------
        ValueError
            If a number is not finite.
        TypeError
            If the parameter has the wrong type.
        """
        return self._samples(self.check(parameter))

    def _samples(self, parameter: Parameter) -> tuple[tuple[Clip, float], ...]:
        found: dict[Clip, float] = {}
        for number, weight in self._space._shares(parameter):
            if weight > 0.0:
                clip = self._clips[number]
                found[clip] = found.get(clip, 0.0) + weight
        return tuple(found.items())

    def __deepcopy__(self, _: Any) -> Self:
        return self

    def __repr__(self) -> str:
        return f"<{self._space!r}, bound>"


def space_from_dict(data: Mapping[str, Any]) -> BlendSpace1D | BlendSpace2D:
    """Return the blend space of either kind that data describe."""
    kinds: dict[str, type[BlendSpace1D] | type[BlendSpace2D]] = {"1d": BlendSpace1D, "2d": BlendSpace2D}
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"the blend space has the kind {brief(kind)}; expected '1d' or '2d'")
    return kinds[kind].from_dict(data)


def _plain(where: Any) -> Any:
    """Return a parameter as JSON has it."""
    return list(where) if isinstance(where, tuple) else where


def _clip_of(model: Model, clip: ClipName) -> Clip:
    """Return the clip of a model that a point refers to."""
    if not isinstance(clip, Clip):
        return model.clips[clip]
    if clip.model is not model:
        raise ValueError(
            f"{clip!r} is not bound to this model; model.add_clips(clip) returns a model that has it"
        )
    return clip
