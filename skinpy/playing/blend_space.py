"""Blend spaces: clips at points of a parameter, mixed between them.

A parameter is a number (speed) or a pair (speed and turn). Between two points of a line the weights are
linear; in the plane they are barycentric in the triangle of the points around it, of Delaunay's triangulation
(see triangles.py). At most three clips have a weight at a time, weights are continuous, and at a point its
clip is alone. Gradient band interpolation (R. S. Johansen, "Automated Semi-Procedural Animation for Character
Locomotion", 2009, section 6.3) is smoother, but has any number of clips at work at once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .._arguments import any_array, finite, floats
from .._types import Array
from ..clip import Clip
from .triangles import Share, area, delaunay, edges_of, locate

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["BlendSpace1D", "BlendSpace2D", "BoundBlendSpace"]

ClipName = Clip | str | int
Parameter = float | tuple[float, float]
_LARGEST = (
    1e6  #: of a coordinate, in extents of the space: from farther off, all its points look equally near
)
_THINNEST = (
    1e-9  #: area of a space, in extents squared: below it the points lie on one line but for roundings
)


class _BlendSpace(ABC):
    """What both kinds share. Never changes."""

    _KIND = ""
    __slots__ = ("_parameter", "_points")
    _points: tuple[tuple[Any, ClipName], ...]
    _parameter: Any

    def __init__(self, points: Any, parameter: Any = None) -> None:
        pairs = list(points.items()) if isinstance(points, Mapping) else [tuple(pair) for pair in points]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError("points holds something else than pairs of a parameter and a clip")
        if len(pairs) < 2:
            raise ValueError(f"points has {len(pairs)} points; expected 2 or more")
        for where, clip in pairs:
            if isinstance(clip, bool) or not isinstance(clip, Clip | str | int):
                raise TypeError(f"points has {clip!r} at {where!r}; expected a Clip, a name or an index")
        self._points = tuple((self._number("points", where), clip) for where, clip in pairs)
        places = [where for where, _ in self._points]
        for number, where in enumerate(places):
            if where in places[:number]:
                raise ValueError(f"points has {where} twice")
        self._parameter = places[0] if parameter is None else self._number("parameter", parameter)

    @property
    def clips(self) -> tuple[ClipName, ...]:
        """The clips, names or indices, in the order of the points."""
        return tuple(clip for _, clip in self._points)

    def to_dict(self) -> dict[str, Any]:
        """The space as data for JSON: kind ("1d", "2d"), points (pairs of a parameter and a name or an index
        of a clip), and parameter, the default one. Raises TypeError where a clip is given as a Clip."""
        for clip in self.clips:
            if isinstance(clip, Clip):
                raise TypeError(f"{clip!r} is no data; give the space its name or its index")
        points = [[_plain(where), clip] for where, clip in self._points]
        return {"kind": self._KIND, "points": points, "parameter": _plain(self._parameter)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The space that `to_dict` gave. Raises ValueError for another kind and unknown or missing keys, and
        what the constructor raises."""
        if not isinstance(data, Mapping):
            raise TypeError(f"data is of type {type(data).__name__}; expected a dict")
        unknown = set(data) - {"kind", "points", "parameter"}
        if unknown:
            raise ValueError(
                f"data has the unknown key {min(map(str, unknown))!r}; expected kind, points, parameter"
            )
        if data.get("kind") != cls._KIND:
            raise ValueError(f"data has the kind {data.get('kind')!r}; expected {cls._KIND!r}")
        if "points" not in data:
            raise ValueError("data has no points")
        return cls(data["points"], data.get("parameter"))

    def bind(self, model: Model) -> BoundBlendSpace:
        """The space with a model's clips. Raises KeyError or IndexError for clips that the model lacks, and
        ValueError for a Clip of another model and where some clips are additive and others not."""
        return BoundBlendSpace(self, model)

    @staticmethod
    @abstractmethod
    def _number(name: str, value: Any) -> Any:
        """A coordinate that came, checked."""

    @abstractmethod
    def _shares(self, parameter: Any) -> tuple[Share, ...]:
        """The clips at a place, by number, and their weights."""

    def _weights(self, parameter: npt.ArrayLike, width: tuple[int, ...]) -> Array:
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
            f"{where}: {clip.name if isinstance(clip, Clip) else clip!r}" for where, clip in self._points
        )
        return f"{type(self).__name__}({{{points}}})"


class BlendSpace1D(_BlendSpace):
    """Clips at two or more numbers, such as speeds: `BlendSpace1D({0: "idle", 1.4: "walk", 4.0: "run"})`.

    points is a dict, or pairs, of a number and a clip's name, index or a Clip; parameter is the number that a
    player starts with, by default the first point's. Raises ValueError (fewer than two points, the same point
    twice, a number that is not finite) and TypeError.
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
            raise ValueError("points lie too far apart")

    @property
    def points(self) -> tuple[tuple[float, ClipName], ...]:
        """Pairs of a number and a clip, in the order they were given."""
        return self._points

    @property
    def parameter(self) -> float:
        """The number that a player starts with."""
        return float(self._parameter)

    def weights(self, parameter: npt.ArrayLike) -> Array:
        """Weights (...,P) float64 of the P points at parameter (...): linear between neighbors, those of the
        first or last point outside. Raises ValueError where a number is not finite."""
        return self._weights(parameter, ())

    @staticmethod
    def _number(name: str, value: Any) -> float:
        return finite(name, value)

    def _shares(self, parameter: float) -> tuple[Share, ...]:
        line, order = self._line, self._order
        if parameter <= line[0]:
            return ((order[0], 1.0),)
        for place in range(1, len(line)):
            if parameter <= line[place]:
                share = (parameter - line[place - 1]) / (line[place] - line[place - 1])
                return (order[place - 1], 1.0 - share), (order[place], share)
        return ((order[-1], 1.0),)


class BlendSpace2D(_BlendSpace):
    """Clips at three or more points of a plane, such as speed and turn, that are not all on one line:
    `BlendSpace2D({(0, 0): "idle", (0, 1): "walk", (1, 0): "step right", (-1, 0): "step left"})`.

    points is a dict, or pairs, of a pair of numbers and a clip's name, index or a Clip; parameter is the pair
    that a player starts with, by default the first point. Which points are neighbors depends on the scale of
    the axes: give both about the same extent. Raises ValueError (all on one line, the same point twice, a
    number that is not finite) and TypeError.
    """

    _KIND = "2d"
    __slots__ = ("_edges", "_low", "_numbers", "_scaled", "_span", "_triangles")

    def __init__(
        self,
        points: Mapping[tuple[float, float], ClipName] | Iterable[tuple[tuple[float, float], ClipName]],
        parameter: tuple[float, float] | None = None,
    ) -> None:
        super().__init__(points, parameter)
        places = [where for where, _ in self._points]
        axes = list(zip(*places, strict=True))
        self._low = (min(axes[0]), min(axes[1]))
        self._span = max(max(axis) - min(axis) for axis in axes)
        if not math.isfinite(self._span):
            raise ValueError("points lie too far apart")
        self._scaled = [self._scale(place) for place in places]
        self._numbers = {place: number for number, place in enumerate(self._scaled)}
        if len(self._numbers) < len(places):
            raise ValueError("points has two that lie too close together, measured by the extent of all")
        self._triangles = delaunay(self._scaled)
        if sum(area(self._scaled, one) for one in self._triangles) < _THINNEST:
            raise ValueError("points lie all on one line; a BlendSpace1D along it does that")
        self._edges = edges_of(self._triangles)

    @property
    def points(self) -> tuple[tuple[tuple[float, float], ClipName], ...]:
        """Pairs of a point and a clip, in the order they were given."""
        return self._points

    @property
    def parameter(self) -> tuple[float, float]:
        """The point that a player starts with."""
        found: tuple[float, float] = self._parameter
        return found

    @property
    def triangles(self) -> Array:
        """The triangles (T,3) int32 between the points, by number, counterclockwise; a new array."""
        return np.array(self._triangles, np.int32)

    def weights(self, parameter: npt.ArrayLike) -> Array:
        """Weights (...,P) float64 of the P points at parameter (...,2): barycentric in the triangle that
        holds it; outside, those of the nearest point of the convex hull. Raises ValueError where a number is
        not finite or the last axis is not 2."""
        return self._weights(parameter, (2,))

    @staticmethod
    def _number(name: str, value: Any) -> tuple[float, float]:
        if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
            raise TypeError(f"{name} has {value!r}; expected a pair of numbers")
        return finite(name, value[0]), finite(name, value[1])

    def _scale(self, place: tuple[float, float]) -> tuple[float, float]:
        """The place in extents of the space: what the geometry sees is about 1, whatever the unit."""
        x, y = (
            min(max((value - low) / self._span, -_LARGEST), _LARGEST)
            for value, low in zip(place, self._low, strict=True)
        )
        return x, y

    def _shares(self, parameter: tuple[float, float]) -> tuple[Share, ...]:
        place = self._scale(parameter)
        number = self._numbers.get(place)
        if number is not None:
            return ((number, 1.0),)
        return locate(self._scaled, self._triangles, self._edges, place)


class BoundBlendSpace:
    """A blend space with the clips of one model; `BlendSpace1D.bind` and `BlendSpace2D.bind` make it."""

    def __init__(self, space: _BlendSpace, model: Model) -> None:
        self._space = space
        self._clips = tuple(_clip_of(model, clip) for clip in space.clips)
        kinds = {getattr(clip, "is_additive", False) for clip in self._clips}
        if len(kinds) > 1:
            raise ValueError(f"{space!r} mixes additive clips with others")

    @property
    def clips(self) -> tuple[Clip, ...]:
        """The clips in the order of the points."""
        return self._clips

    @property
    def parameter(self) -> Parameter:
        """The number, or pair of numbers, that a player starts with."""
        found: Parameter = self._space._parameter
        return found

    def check(self, parameter: Any) -> Parameter:
        """The parameter as float or pair of float. Raises TypeError where it is none, and ValueError where it
        is not finite."""
        found: Parameter = self._space._number("parameter", parameter)
        return found

    def samples(self, parameter: Any) -> tuple[tuple[Clip, float], ...]:
        """The clips with a weight at `parameter` and their weights: positive, with sum 1, at most three, each
        clip once. Raises what `check` raises."""
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
    """The blend space of either kind."""
    kinds: dict[str, type[BlendSpace1D] | type[BlendSpace2D]] = {"1d": BlendSpace1D, "2d": BlendSpace2D}
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"the blend space has the kind {kind!r}; expected '1d' or '2d'")
    return kinds[kind].from_dict(data)


def _plain(where: Any) -> Any:
    return list(where) if isinstance(where, tuple) else where


def _clip_of(model: Model, clip: ClipName) -> Clip:
    if not isinstance(clip, Clip):
        return model.clips[clip]
    if clip.model is not model:
        raise ValueError(f"{clip!r} is not bound to this model; model.add_clips(clip) gives one that has it")
    return clip
