"""UV animation: texture coordinates that move over time while the vertices stay where they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments import any_array, check_finite, mapping, numbers, one_of, text
from .._strict import Strict
from .._text import quoted
from .._types import Array, Floats, Loop
from ..models.frames import checked_out, checked_times
from .animation import checked_interpolation

__all__ = ["UVAnimation"]

_WRAPS = ("repeat", "clamp", "mirror")
_KEY_WIDTHS = {"offset": 2, "rotation": 1, "scale": 2}
_TICKS = 1000.0  # per second: the tolerance of key times is a part of a tick


class UVAnimation(Strict):
    """A transform of texture coordinates over time: the vertices stay, and the image moves over them.

    Without keys the animation has no end: `scroll` and `rotate` go on, whatever `loop` says. Keys add an
    offset and a rotation to what they do, and multiply `scale`.

    Parameters
    ----------
    scroll : array_like, shape (2,), default (0.0, 0.0)
        Speed of the offset (u, v) per second.
    rotate : float, default 0.0
        Speed of the rotation, radians per second.
    scale : array_like, shape (2,), default (1.0, 1.0)
        Constant factors of (u, v); 3 shows the image three times as often.
    keys : mapping of str to array_like, optional
        "times" (N,), increasing seconds, and any of "offset" (N, 2), "rotation" (N,) radians and "scale"
        (N, 2).
    pivot : array_like, shape (2,), default (0.5, 0.5)
        The point (u, v) that rotation and scale leave where it is.
    wrap : {"repeat", "clamp", "mirror"}, default "repeat"
        What the image shows beyond its edges.
    interpolation : {"linear", "step"}, default "linear"
        How values between two keys are found. "step" keeps the earlier key, as a flip book does.
    name : str, default ""
        Name of the animation.

    Raises
    ------
    KeyError
        If `keys` has an unknown entry, no "times", or nothing besides them.
    ValueError
        If a shape is wrong, key times do not increase, a number is not finite, or an option is unknown.

    Notes
    -----
    The matrix is ``M = T(pivot + offset) R(rotation) S(scale) T(-pivot)``, for columns ``(u, v, 1)``. A
    positive rotation turns coordinates counterclockwise as seen on the image (v points down):
    ``R = [c s; -s c]``, as engines read KHR_texture_transform of glTF. Where the image repeats, whole periods
    are left out of the offset, so that float32 stays exact however long the image scrolls.

    Examples
    --------
    >>> lava = skinpy.UVAnimation(scroll=(0.1, 0.0), name="lava")
    >>> lava.sample(2.0)[0].round(6)
    array([1. , 0. , 0.2], dtype=float32)
    """

    def __init__(
        self,
        *,
        scroll: npt.ArrayLike = (0.0, 0.0),
        rotate: float = 0.0,
        scale: npt.ArrayLike = (1.0, 1.0),
        keys: Mapping[str, npt.ArrayLike] | None = None,
        pivot: npt.ArrayLike = (0.5, 0.5),
        wrap: str = "repeat",
        interpolation: str = "linear",
        name: str = "",
    ) -> None:
        self._scroll = _pair("scroll", scroll)
        self._rotate = float(_numbers("rotate", rotate, ()))
        self._scale = _pair("scale", scale)
        self._pivot = _pair("pivot", pivot)
        one_of("wrap", wrap, _WRAPS)
        self._wrap = wrap
        self._interpolation = checked_interpolation(interpolation)
        self._name = text("name", name)
        self._times, self._keys = _checked_keys(keys)

    @property
    def kind(self) -> Literal["uv"]:
        """The kind: "uv"."""
        return "uv"

    @property
    def name(self) -> str:
        """The name of the animation."""
        return self._name

    @property
    def wrap(self) -> str:
        """What the image shows beyond its edges: "repeat", "clamp" or "mirror"."""
        return self._wrap

    @property
    def scroll(self) -> tuple[float, float]:
        """The speed of the offset, (u, v) per second."""
        return (float(self._scroll[0]), float(self._scroll[1]))

    @property
    def rotate(self) -> float:
        """The speed of the rotation, radians per second."""
        return self._rotate

    @property
    def duration(self) -> float:
        """The time of the last key in seconds; infinite without keys."""
        return float(self._times[-1]) if self._keys else math.inf

    @property
    def nbytes(self) -> int:
        """The number of bytes stored: seven float32 (scroll, rotate, scale, pivot) and the keys."""
        keys = self._times.nbytes + sum(rows.nbytes for rows in self._keys.values()) if self._keys else 0
        return 7 * 4 + keys

    def sample(self, time: npt.ArrayLike, out: Floats | None = None, *, loop: Loop = "wrap") -> Floats:
        """Return the matrices that transform texture coordinates at one time or at many.

        Parameters
        ----------
        time : array_like, shape (...), seconds
            Times at which the animation is sampled. Their shape is the leading shape of the matrices.
        out : (..., 3, 3) float32 ndarray, optional
            An array that the matrices are written to.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the keys. It does not change `scroll` and `rotate`.

        Returns
        -------
        (..., 3, 3) float32 ndarray
            Matrices for columns ``(u, v, 1)``.

        Raises
        ------
        ValueError
            If a time is not finite, `loop` is unknown, or `out` does not fit.
        TypeError
            If `time` does not hold numbers, or `out` is not an array.
        """
        matrices = self._matrices(time, loop)
        if out is None:
            return matrices.astype(np.float32)
        target = checked_out(out, "out", matrices.shape, np.asarray(time))
        target[...] = matrices
        return target

    def apply(self, uvs: npt.ArrayLike, time: npt.ArrayLike, *, loop: Loop = "wrap") -> Floats:
        """Return texture coordinates as a vertex shader passes them on.

        They may leave the range from 0 to 1; `wrapped` gives the point of the image that is looked up.

        Parameters
        ----------
        uvs : array_like, shape (V, 2)
            Texture coordinates of the mesh.
        time : array_like, shape (...), seconds
            Times at which the animation is sampled.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the keys.

        Returns
        -------
        (..., V, 2) float32 ndarray
            The coordinates at each time.

        Raises
        ------
        ValueError
            If `uvs` has another shape, a number is not finite, or `loop` is unknown.
        TypeError
            If an argument does not hold numbers.
        """
        points = _numbers("uvs", uvs, (-1, 2))
        matrices = self._matrices(time, loop)
        moved = points @ matrices[..., :2, :2].swapaxes(-1, -2) + matrices[..., None, :2, 2]
        return moved.astype(np.float32)

    def wrapped(self, uvs: npt.ArrayLike) -> Floats:
        """Return the points of the image that texture coordinates look up, by the wrap mode.

        Parameters
        ----------
        uvs : array_like, shape (..., 2)
            Texture coordinates.

        Returns
        -------
        (..., 2) float32 ndarray
            Coordinates from 0 to 1.

        Raises
        ------
        TypeError
            If `uvs` does not hold numbers.
        """
        points = numbers("uvs", uvs)
        if self._wrap == "clamp":
            return np.clip(points, 0.0, 1.0).astype(np.float32)
        if self._wrap == "mirror":
            return (1.0 - np.abs(np.mod(points, 2.0) - 1.0)).astype(np.float32)
        return (points - np.floor(points)).astype(np.float32)

    def _matrices(self, time: npt.ArrayLike, loop: Loop) -> Array:
        """Return the matrices (...,3,3) in float64."""
        duration = self.duration if self._keys else 0.0
        positions = _core._find_frames(self._times, time, loop, duration, _TICKS)  # checks time and loop too
        seconds = np.asarray(time, np.float64)
        offset = self._scroll * seconds[..., None] + self._keyed(positions, "offset", 0.0)
        if self._wrap != "clamp":
            offset = np.fmod(offset, 1.0 if self._wrap == "repeat" else 2.0)
        angle = self._rotate * seconds + self._keyed(positions, "rotation", 0.0)[..., 0]
        scale = self._scale * self._keyed(positions, "scale", 1.0)
        cosine, sine = np.cos(angle), np.sin(angle)
        matrices = np.zeros((*seconds.shape, 3, 3))
        matrices[..., 0, 0], matrices[..., 0, 1] = cosine * scale[..., 0], sine * scale[..., 1]
        matrices[..., 1, 0], matrices[..., 1, 1] = -sine * scale[..., 0], cosine * scale[..., 1]
        matrices[..., :2, 2] = self._pivot + offset - matrices[..., :2, :2] @ self._pivot
        matrices[..., 2, 2] = 1.0
        return matrices + 0.0  # -0 would only puzzle a reader

    def _keyed(self, positions: Array, name: str, absent: float) -> Array:
        """Return the values (...,C) of the keys called `name`; `absent` where there are no such keys.

        A position is the number of a key and how far the time is from it to the next.
        """
        if name not in self._keys:
            return np.full((*positions.shape, 1), absent)
        rows = self._keys[name].astype(np.float64)
        low = np.floor(positions).astype(np.int64)
        fraction = (positions - low)[..., None] * (self._interpolation == "linear")
        start = rows[low]
        return start + fraction * (rows[np.minimum(low + 1, len(rows) - 1)] - start)

    def __repr__(self) -> str:
        keys = f", {len(self._times)} keys" if self._keys else ""
        scroll = f"scroll ({self._scroll[0]:g}, {self._scroll[1]:g})/s"
        return (
            f"<UVAnimation {quoted(self._name)}: {scroll}, rotate {self._rotate:g} rad/s{keys}, {self._wrap}>"
        )


def _numbers(name: str, value: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return finite float64 numbers of `shape`, where -1 stands for any length."""
    array = np.array(numbers(name, value))
    if array.ndim != len(shape) or any(
        wanted not in (-1, came) for came, wanted in zip(array.shape, shape, strict=True)
    ):
        expected = str(shape).replace("-1", "V")
        raise ValueError(f"{name} has shape {array.shape}; expected {expected}")
    check_finite(name, array)
    return array


def _pair(name: str, value: npt.ArrayLike) -> Array:
    return _numbers(name, value, (2,))


def _checked_keys(keys: Mapping[str, npt.ArrayLike] | None) -> tuple[Array, dict[str, Floats]]:
    """Return the times of the keys, and their values (N,C) by name."""
    if keys is None:
        return np.zeros(1), {}
    unknown = set(mapping("keys", keys, "a mapping of arrays")) - {"times", *_KEY_WIDTHS}
    if unknown or "times" not in keys or len(keys) < 2:
        raise KeyError(
            f"keys has {', '.join(map(repr, keys)) or 'no entry'}; "
            "expected 'times' and any of 'offset', 'rotation' and 'scale'"
        )
    count = any_array("keys['times']", keys["times"]).size
    if not count:
        raise ValueError("keys['times'] is empty; expected at least one key")
    times = checked_times(keys["times"], count)
    values = {}
    for name, width in _KEY_WIDTHS.items():
        if name in keys:
            shape = (count,) if width == 1 else (count, width)
            rows = _numbers(f"keys[{name!r}]", keys[name], shape)
            values[name] = rows.reshape(count, width).astype(np.float32)
    return times, values
