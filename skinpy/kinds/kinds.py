"""Kinds of animation behind one interface: UV animations and stored vertices, beside the clips of a model.

`Animation` is what all kinds have in common; `Clip` (kinds "keyed", "rigid" and "skinned") satisfies it too.
docs/kinds.md tells what each kind stores and how one becomes another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from .. import _block, _core
from .._arguments import check_finite, finite, numbers
from .._confinement import USUAL, confinement
from .._types import Array, Floats, Loop, PathLike
from ..clip import Clip
from ..models.frames import (
    checked_frames,
    checked_out,
    checked_rate,
    checked_times,
    choose_keys,
    chunks,
    frame_errors,
    smooth_normals,
    unit,
)

if TYPE_CHECKING:
    from ..limits import Limits
    from ..loading import External
    from ..model import Model

__all__ = ["Animation", "Kind", "KeyReport", "UVAnimation", "VertexAnimation", "bake_vertices"]

Kind: TypeAlias = Literal["uv", "vertex", "keyed", "rigid", "skinned"]
Interpolation: TypeAlias = Literal["linear", "step"]

_TICKS = 1000.0  # per second, for key times that come without a rate of their own


@runtime_checkable
class Animation(Protocol):
    """What every kind of animation has: Clip, VertexAnimation and UVAnimation.

    `sample(time)` takes seconds of any shape (...), which become the leading axes of what it gives: a Pose
    (clips), positions and normals (...,V,3) (vertex animations), or matrices (...,3,3) (UV animations).
    """

    @property
    def kind(self) -> Kind:
        """ "uv", "vertex" (every frame stored), "keyed" (frames between are made, of stored vertices or of
        weights of morph targets), "rigid" or "skinned"."""

    @property
    def name(self) -> str:
        """Name of the animation; may be empty."""

    @property
    def duration(self) -> float:
        """Seconds; infinite for a UV animation of constant speed."""

    @property
    def nbytes(self) -> int:
        """Bytes of what is stored for the motion."""

    def sample(self, time: npt.ArrayLike, out: Any = None, *, loop: Loop = "wrap") -> Any:
        """What is seen at `time` (...) seconds. `loop` says what lies outside 0 to duration."""


def _interpolation(value: str) -> Interpolation:
    if value == "linear":
        return "linear"
    if value == "step":
        return "step"
    raise ValueError(f"interpolation is {value!r}; expected 'linear' or 'step'")


# ---- texture coordinates ------------------------------------------------------------------------------

_WRAPS = ("repeat", "clamp", "mirror")
_KEY_WIDTHS = {"offset": 2, "rotation": 1, "scale": 2}


class UVAnimation:
    """A transform of texture coordinates over time: vertices stay where they are, the image moves.

    - scroll: (u, v) per second. rotate: radians per second. Both run on without end, whatever `loop` says.
    - scale: (su, sv), constant; 3 makes the image appear three times as often.
    - keys: a dict of "times" (N,), increasing seconds, and any of "offset" (N,2), "rotation" (N,) radians
      and "scale" (N,2), which are added to scroll * time and rotate * time and multiply scale. Between keys
      they go along straight lines, or stay with interpolation="step" (pictures of a flip book).
    - pivot: the (u, v) that rotation and scale leave in place.
    - wrap: what an image shows beyond its edges: "repeat", "clamp" or "mirror".

    The matrix is M = T(pivot + offset) R(rotation) S(scale) T(-pivot), for columns (u, v, 1). A positive
    rotation turns coordinates counter-clockwise as seen on the image (v points down): R = [c s; -s c], as
    engines read glTF's KHR_texture_transform. Where an image repeats, whole periods are left out of the
    offset, so that float32 stays exact however long it scrolls.

    Raises ValueError for a wrong shape, key times that do not increase, numbers that are not finite, and an
    unknown word; KeyError for an unknown key.
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
        if wrap not in _WRAPS:
            raise ValueError(f"wrap is {wrap!r}; expected one of {', '.join(map(repr, _WRAPS))}")
        self._wrap = wrap
        self._interpolation = _interpolation(interpolation)
        self._name = name
        self._times, self._keys = _uv_keys(keys)

    kind: Literal["uv"] = "uv"

    @property
    def name(self) -> str:
        """Name of the animation."""
        return self._name

    @property
    def wrap(self) -> str:
        """What the image shows beyond its edges: "repeat", "clamp" or "mirror"."""
        return self._wrap

    @property
    def scroll(self) -> tuple[float, float]:
        """(u, v) per second."""
        return (float(self._scroll[0]), float(self._scroll[1]))

    @property
    def rotate(self) -> float:
        """Radians per second."""
        return self._rotate

    @property
    def duration(self) -> float:
        """Seconds until the last key; infinite without keys."""
        return float(self._times[-1]) if self._keys else math.inf

    @property
    def nbytes(self) -> int:
        """Bytes of what is stored: seven float32 (scroll, rotate, scale, pivot) and the keys."""
        return 7 * 4 + (self._times.nbytes + sum(a.nbytes for a in self._keys.values()) if self._keys else 0)

    def sample(self, time: npt.ArrayLike, out: Floats | None = None, *, loop: Loop = "wrap") -> Floats:
        """(...,3,3) float32 matrices for columns (u, v, 1), at `time` (...) seconds.

        loop ("wrap", "clamp", "pingpong", "once") is for the keys: scroll and rotate go on by themselves.
        Raises ValueError (time not finite, unknown loop, an unfit out) and TypeError.
        """
        matrices = self._matrices(time, loop)
        if out is None:
            return matrices.astype(np.float32)
        target = checked_out(out, "out", matrices.shape, np.asarray(time))
        target[...] = matrices
        return target

    def apply(self, uvs: npt.ArrayLike, time: npt.ArrayLike, *, loop: Loop = "wrap") -> Floats:
        """(...,V,2) float32: texture coordinates (V,2) at `time` (...), as a vertex shader hands them on.

        They may leave 0 to 1; `wrapped` says where in the image they are looked up. ValueError for a shape.
        """
        points = _numbers("uvs", uvs, (-1, 2))
        matrices = self._matrices(time, loop)
        moved = points @ matrices[..., :2, :2].swapaxes(-1, -2) + matrices[..., None, :2, 2]
        return moved.astype(np.float32)

    def wrapped(self, uvs: npt.ArrayLike) -> Floats:
        """Coordinates (...,2) brought into 0 to 1 as the wrap mode says: where the image is looked up."""
        points = numbers("uvs", uvs)
        if self._wrap == "clamp":
            return np.clip(points, 0.0, 1.0).astype(np.float32)
        if self._wrap == "mirror":
            return (1.0 - np.abs(np.mod(points, 2.0) - 1.0)).astype(np.float32)
        return (points - np.floor(points)).astype(np.float32)

    def _matrices(self, time: npt.ArrayLike, loop: Loop) -> Array:
        duration = self.duration if self._keys else 0.0
        places = _core._find_frames(self._times, time, loop, duration, _TICKS)  # checks time and loop too
        seconds = np.asarray(time, np.float64)
        offset = self._scroll * seconds[..., None] + self._at(places, "offset", 0.0)
        if self._wrap != "clamp":
            offset = np.fmod(offset, 1.0 if self._wrap == "repeat" else 2.0)
        angle = self._rotate * seconds + self._at(places, "rotation", 0.0)[..., 0]
        scale = self._scale * self._at(places, "scale", 1.0)
        cosine, sine = np.cos(angle), np.sin(angle)
        matrices = np.zeros((*seconds.shape, 3, 3))
        matrices[..., 0, 0], matrices[..., 0, 1] = cosine * scale[..., 0], sine * scale[..., 1]
        matrices[..., 1, 0], matrices[..., 1, 1] = -sine * scale[..., 0], cosine * scale[..., 1]
        matrices[..., :2, 2] = self._pivot + offset - matrices[..., :2, :2] @ self._pivot
        matrices[..., 2, 2] = 1.0
        return matrices + 0.0  # no -0, which only puzzles those who read it

    def _at(self, places: Array, name: str, absent: float) -> Array:
        """(...,C) float64: the keys called `name` at places among them."""
        if name not in self._keys:
            return np.full((*places.shape, 1), absent)
        rows = self._keys[name].astype(np.float64)
        low = np.floor(places).astype(np.int64)
        share = (places - low)[..., None] * (self._interpolation == "linear")
        start = rows[low]
        return start + share * (rows[np.minimum(low + 1, len(rows) - 1)] - start)

    def __repr__(self) -> str:
        keys = f", {len(self._times)} keys" if self._keys else ""
        scroll = f"scroll ({self._scroll[0]:g}, {self._scroll[1]:g})/s"
        return f"<UVAnimation {self._name!r}: {scroll}, rotate {self._rotate:g} rad/s{keys}, {self._wrap}>"


def _numbers(name: str, value: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    """Finite float64 of `shape`, where -1 stands for any length."""
    array = np.array(numbers(name, value))
    if array.ndim != len(shape) or any(
        wanted not in (-1, came) for came, wanted in zip(array.shape, shape, strict=True)
    ):
        words = str(shape).replace("-1", "V")
        raise ValueError(f"{name} has shape {array.shape}; expected {words}")
    check_finite(name, array)
    return array


def _pair(name: str, value: npt.ArrayLike) -> Array:
    return _numbers(name, value, (2,))


def _uv_keys(keys: Mapping[str, npt.ArrayLike] | None) -> tuple[Array, dict[str, Floats]]:
    if keys is None:
        return np.zeros(1), {}
    unknown = sorted(set(keys) - {"times", *_KEY_WIDTHS})
    if unknown or "times" not in keys or len(keys) < 2:
        raise KeyError(
            f"keys has {', '.join(map(repr, keys)) or 'nothing'}; "
            "expected 'times' and any of 'offset', 'rotation' and 'scale'"
        )
    count = np.size(keys["times"])
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


# ---- vertices -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeyReport:
    """What `VertexAnimation.to_keyed` chose, and what it costs and saves."""

    source_frames: int  #: N of the animation that it was made from
    keys: int  #: frames that were kept
    bound: float  #: the max_error asked for, in model units
    max_error: float  #: largest distance of any vertex in any source frame from where it was
    rms_error: float  #: root of the mean square of all those distances
    source_nbytes: int
    nbytes: int

    @property
    def saving(self) -> float:
        """Share of the bytes that is saved, 0 to 1."""
        return 1.0 - self.nbytes / self.source_nbytes

    def __str__(self) -> str:
        return (
            f"{self.keys} keys for {self.source_frames} frames, {self.nbytes} bytes for {self.source_nbytes} "
            f"(saves {100 * self.saving:.1f} %), error at most {self.max_error:.3g}, rms {self.rms_error:.3g}"
        )


class VertexAnimation:
    """Stored frames of all vertices: every frame of a motion, or key frames with straight lines between.

    Make one with `every_frame`, `keyed`, `load`, `load_series` or `bake_vertices`. It never changes; its
    arrays are read-only. Positions are in scene space.
    """

    def __init__(
        self,
        kind: Literal["vertex", "keyed"],
        times: Array,
        frames: Floats,
        normals: Floats,
        model: Model,
        name: str,
        ticks_per_second: float,
        interpolation: Interpolation,
        report: KeyReport | None = None,
    ) -> None:
        self._kind = kind
        self._times = _block.read_only(times)
        self._frames = _block.read_only(frames)
        self._normals = _block.read_only(normals)
        self._model = model
        self._name = name
        self._ticks = ticks_per_second
        self._interpolation = interpolation
        self._report = report

    @classmethod
    def every_frame(
        cls,
        frames: npt.ArrayLike,
        fps: float,
        *,
        normals: npt.ArrayLike | None = None,
        model: Model | None = None,
        faces: npt.ArrayLike | None = None,
        uvs: npt.ArrayLike | None = None,
        interpolation: str = "linear",
        name: str = "",
    ) -> VertexAnimation:
        """An animation that stores every frame: `frames` (N,V,3), frame n at n / fps seconds.

        - normals (N,V,3) are divided by their length; without them smooth ones are made from the faces.
        - model: one with V vertices, which brings faces, texture coordinates and materials. Without it one
          is made of frame 0 from faces (F,3) and uvs (V,2); without faces the vertices are points.
        - interpolation: "linear" between frames, or "step" to show the stored frames alone.

        The animation lasts until its last frame, (N - 1) / fps seconds.
        Raises ValueError (no frame, another vertex count, a number that is not finite, fps not positive).
        """
        rate = checked_rate(fps)
        points = checked_frames("frames", frames)
        times = np.arange(len(points)) / rate
        return cls._make("vertex", times, points, normals, model, faces, uvs, interpolation, name, rate)

    @classmethod
    def keyed(
        cls,
        times: npt.ArrayLike,
        frames: npt.ArrayLike,
        *,
        normals: npt.ArrayLike | None = None,
        model: Model | None = None,
        faces: npt.ArrayLike | None = None,
        uvs: npt.ArrayLike | None = None,
        interpolation: str = "linear",
        name: str = "",
    ) -> VertexAnimation:
        """An animation of key frames (N,V,3) at times (N,), increasing seconds from 0 on.

        Before the first key the first is seen. For the other arguments and the errors see `every_frame`.
        """
        points = checked_frames("frames", frames)
        line = checked_times(times, len(points))
        return cls._make("keyed", line, points, normals, model, faces, uvs, interpolation, name, _TICKS)

    @classmethod
    def _make(
        cls,
        kind: Literal["vertex", "keyed"],
        times: Array,
        frames: Floats,
        normals: npt.ArrayLike | None,
        model: Model | None,
        faces: npt.ArrayLike | None,
        uvs: npt.ArrayLike | None,
        interpolation: str,
        name: str,
        ticks: float,
    ) -> VertexAnimation:
        words = _interpolation(interpolation)
        directions = None if normals is None else _directions(normals, frames.shape)
        if model is None:
            model = _points_model(frames[0], None if directions is None else directions[0], faces, uvs)
        elif faces is not None or uvs is not None:
            raise ValueError("give faces and uvs, or a model that has them, not both")
        count = len(model.mesh.positions)
        if count != frames.shape[1]:
            raise ValueError(f"frames has {frames.shape[1]} vertices; the model has {count}")
        if directions is None:
            directions = smooth_normals(frames, model.mesh.faces)
        return cls(kind, times, frames, directions, model, name, ticks, words)

    @classmethod
    def load(
        cls,
        path: PathLike,
        *,
        fps: float | None = None,
        name: str | None = None,
        isolate: bool = True,
        limits: Limits = USUAL,
        allow_formats: Iterable[str] | None = None,
        external: External = "folder",
    ) -> VertexAnimation:
        """An animation from an .md2 file, or from the numbered series of .obj files that `path` belongs to.

        The series of "walk_001.obj" are all files of its folder that differ from it in that number alone,
        in the order of their numbers. fps is 10 for .md2, as the game plays them, and 25 for a series,
        unless it is given. name is the file's stem by default.

        isolate, limits, allow_formats and external are as in `skinpy.load`, for every frame that is read. Of
        the limits, `vertices` counts the face corners of all frames together, `memory` is also that of
        their positions and normals, 24 bytes a corner (while they are joined up to half as much comes on
        top), and `seconds` is for all frames, with isolate=False looked at between them.

        Raises what `skinpy.load` raises; LoadError for files whose frames do not belong together and for
        vertices that are not finite; ValueError and TypeError for an fps that is not positive.
        """
        from ..files.series import load_frames

        rate = None if fps is None else checked_rate(fps)
        confined = confinement(isolate, limits, allow_formats, external)
        frames, normals, model, usual, stem = load_frames(path, confined)
        return cls._stored(frames, normals, model, rate or usual, name or stem)

    @classmethod
    def load_series(
        cls,
        paths: Sequence[PathLike],
        fps: float,
        *,
        name: str = "",
        isolate: bool = True,
        limits: Limits = USUAL,
        allow_formats: Iterable[str] | None = None,
        external: External = "folder",
    ) -> VertexAnimation:
        """An animation from one file per frame (.obj or another format of still meshes), in the order given.

        All need the same faces in the same order. Materials are those of the first. The other arguments are
        as in `load`.
        Raises LoadError for frames that do not belong together, ValueError, and what skinpy.load raises.
        """
        from ..files.series import load_series

        rate = checked_rate(fps)
        confined = confinement(isolate, limits, allow_formats, external)
        frames, normals, model = load_series(paths, confined)
        return cls._stored(frames, normals, model, rate, name)

    @classmethod
    def _stored(
        cls, frames: Floats, normals: Floats, model: Model, rate: float, name: str
    ) -> VertexAnimation:
        """As `every_frame`, of arrays that need no check and become the animation's own."""
        times = np.arange(len(frames)) / rate
        return cls("vertex", times, frames, normals, model, name, rate, "linear")

    # ---- what is stored ---------------------------------------------------------------------------

    @property
    def kind(self) -> Literal["vertex", "keyed"]:
        """ "vertex" where every frame is stored, "keyed" for key frames."""
        return self._kind

    @property
    def name(self) -> str:
        """Name of the animation."""
        return self._name

    @property
    def times(self) -> Array:
        """(N,) float64 seconds of the frames."""
        return self._times

    @property
    def frames(self) -> Floats:
        """(N,V,3) float32 positions, in scene space."""
        return self._frames

    @property
    def normals(self) -> Floats:
        """(N,V,3) float32 unit normals; zero for vertices without faces."""
        return self._normals

    @property
    def model(self) -> Model:
        """The model with the same V vertices: faces, texture coordinates, materials."""
        return self._model

    @property
    def interpolation(self) -> Interpolation:
        """ "linear" or "step"."""
        return self._interpolation

    @property
    def duration(self) -> float:
        """Seconds until the last frame."""
        return float(self._times[-1])

    @property
    def nbytes(self) -> int:
        """Bytes of times, positions and normals."""
        return self._times.nbytes + self._frames.nbytes + self._normals.nbytes

    @property
    def report(self) -> KeyReport | None:
        """What `to_keyed` chose, for an animation that it made; else None."""
        return self._report

    def __len__(self) -> int:
        return len(self._frames)

    # ---- use --------------------------------------------------------------------------------------

    def places(self, time: npt.ArrayLike, *, loop: Loop = "wrap") -> Array:
        """(...) float64: where `time` stands among the frames; 2.25 is a quarter of the way from 2 to 3.

        A whole number is a stored frame. For drawing: two frames and the share of the second.
        Raises ValueError (time not finite, unknown loop) and TypeError.
        """
        places = _core._find_frames(self._times, time, loop, self.duration, self._ticks)
        return np.floor(places) if self._interpolation == "step" else places

    def sample(
        self,
        time: npt.ArrayLike,
        out: tuple[Floats, Floats] | None = None,
        *,
        loop: Loop = "wrap",
    ) -> tuple[Floats, Floats]:
        """Positions and normals (...,V,3) float32 each, at `time` (...) seconds.

        Positions go along straight lines from frame to frame; so do normals, which are then divided by
        their length. loop is as for clips (docs/conventions.md): "wrap" (default), "clamp", "pingpong",
        "once". out is a tuple of two arrays to write. Raises ValueError and TypeError.
        """
        if out is not None and (not isinstance(out, tuple) or len(out) != 2):
            raise TypeError("out is no tuple (positions, normals) of two arrays")
        positions, normals = out or (None, None)
        places = self.places(time, loop=loop)
        points, directions = _core._blend_frames(self._frames, self._normals, places, positions, normals)
        assert directions is not None
        return points, directions

    def cut(self, start: int, stop: int, *, name: str | None = None) -> VertexAnimation:
        """Frames start to stop - 1 as an animation of their own, the first at time 0; numbers as in slices.

        For files that hold several motions one after another. Raises ValueError where no frame is left.
        """
        part = slice(start, stop)
        times = self._times[part]
        if not len(times):
            raise ValueError(
                f"start is {start} and stop is {stop}: no frame of {len(self)} lies between them"
            )
        return VertexAnimation(
            self._kind,
            times - times[0],
            self._frames[part],
            self._normals[part],
            self._model,
            self._name if name is None else name,
            self._ticks,
            self._interpolation,
        )

    def to_keyed(self, max_error: float) -> VertexAnimation:
        """An animation of few of these frames, in which no vertex of any frame is off by more than max_error.

        max_error is a distance in model units, 0 or more, measured at every vertex in every one of these
        frames. The next key is always the last one that a straight line reaches within it, so keys are
        few, though not always the fewest possible. `report` of the result has the errors and the saving.

        Raises ValueError (max_error negative or not finite, frames that are not finite) and TypeError.
        """
        bound = finite("max_error", max_error)
        if bound < 0:
            raise ValueError(f"max_error is {bound:g}; expected a distance, 0 or more")
        _check_finite(f"frames of {self._name!r} hold", self._frames)
        chosen = choose_keys(self._times, self._frames, bound)
        while True:
            thin = self._only(chosen)
            worst, square = frame_errors(self._times, self._frames, thin)
            if worst.max() <= bound:
                break
            # A share that was rounded otherwise in sampling: rare, and the frame itself mends it.
            worst[chosen] = -1.0  # each time another one, so that it ends
            if worst.max() <= bound:
                raise ValueError(
                    f"frames of {self._name!r} are too large for straight lines between them in float32"
                )
            chosen = sorted({*chosen, int(worst.argmax())})
        thin._report = KeyReport(
            len(self),
            len(thin),
            bound,
            float(worst.max()),
            float(np.sqrt(square.mean())),
            self.nbytes,
            thin.nbytes,
        )
        return thin

    def _only(self, chosen: list[int]) -> VertexAnimation:
        return VertexAnimation(
            "keyed",
            self._times[chosen],
            self._frames[chosen],
            self._normals[chosen],
            self._model,
            self._name,
            self._ticks,
            "linear",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return VertexAnimation, (
            self._kind,
            self._times,
            self._frames,
            self._normals,
            self._model,
            self._name,
            self._ticks,
            self._interpolation,
            self._report,
        )

    def __repr__(self) -> str:
        what = "frames" if self._kind == "vertex" else "key frames"
        return (
            f"<VertexAnimation {self._name!r}: {len(self)} {what} of {self._frames.shape[1]} vertices, "
            f"{self.duration:.3f} s>"
        )


def _directions(normals: npt.ArrayLike, shape: tuple[int, ...]) -> Floats:
    array = checked_frames("normals", normals)
    if array.shape != shape:
        raise ValueError(f"normals has shape {array.shape}; expected that of frames, {shape}")
    return unit(array.astype(np.float64))


def _points_model(
    positions: Floats, normals: Floats | None, faces: npt.ArrayLike | None, uvs: npt.ArrayLike | None
) -> Model:
    """A model of one joint that these vertices hang on."""
    from ..model import Model

    count = len(positions)
    return Model.from_arrays(
        ["root"],
        [-1],
        np.eye(4, dtype=np.float32)[None],
        positions=positions,
        faces=np.zeros((0, 3), np.uint32) if faces is None else faces,
        joints=np.zeros((count, 1), np.int64),
        weights=np.ones((count, 1)),
        normals=normals,
        uvs=uvs,
    )


def bake_vertices(
    model: Model, clip: Clip | VertexAnimation | str | int, fps: float, *, name: str | None = None
) -> VertexAnimation:
    """Every frame of a clip as stored vertices: deformed (morphed, skinned or rigid), `fps` times a second.

    clip is a Clip of `model`, its name or its number, or a VertexAnimation of `model`. Frames are at 0,
    1 / fps, 2 / fps, ... and at the clip's end, so that both last equally long. Positions are in scene
    space; the model of the result is `model`. name is the clip's by default.

    Raises KeyError, IndexError, ValueError (fps not positive, a clip of another model, more than 4 GiB of
    positions and normals, positions that are not finite) and TypeError.
    """
    rate = checked_rate(fps)
    source = model.clips[clip] if isinstance(clip, (str, int, np.integer)) else clip
    if not isinstance(source, (Clip, VertexAnimation)):
        raise TypeError(
            f"clip is of type {type(source).__name__}; "
            "expected a Clip, its name or number, or a VertexAnimation"
        )
    count = len(model.mesh.positions)
    if not count:
        raise ValueError("model has no vertex; there is nothing to bake")
    if isinstance(source, VertexAnimation) and source.model is not model:
        raise ValueError("clip is a vertex animation of another model; expected one of this model")
    most = max(MOST_BYTES // (_VERTEX_BYTES * count), 1)
    if source.duration * rate > most - 1:  # before memory is taken
        raise ValueError(
            f"fps is {rate:g}, which is {source.duration * rate:.3g} frames of {count} vertices; expected a "
            f"lower fps, for at most {most} frames"
        )
    times = frame_times(source.duration, rate)
    frames = np.empty((len(times), count, 3), np.float32)
    normals = np.empty_like(frames)
    if isinstance(source, Clip):
        for part in chunks(len(times), 64 * len(model.skeleton)):  # poses take memory too
            model.deform(model.pose(source, times[part], loop="clamp"), out=(frames[part], normals[part]))
    else:
        source.sample(times, (frames, normals), loop="clamp")
    _check_finite(f"clip {source.name!r} bakes to", frames)
    title = source.name if name is None else name
    return VertexAnimation("vertex", times, frames, normals, model, title, rate, "linear")


_VERTEX_BYTES = 24  # of a position and a normal
MOST_BYTES = 4 << 30  # of what is baked


def _check_finite(what: str, frames: Floats) -> None:
    for number, frame in enumerate(frames):
        if not np.isfinite(frame).all():
            raise ValueError(f"{what} a number that is not finite, in frame {number}; expected finite ones")


_MOST_FRAMES = 10_000_000  # of one clip: more than a day of it at 100 frames per second


def frame_times(duration: float, fps: float) -> Array:
    """Seconds 0, 1 / fps, 2 / fps, ... before the end, and the end itself.

    Raises ValueError for more frames than any clip needs, before memory is taken for them.
    """
    if duration * fps > _MOST_FRAMES:
        raise ValueError(
            f"fps is {fps:g}, which is {duration * fps:.3g} frames of {duration:g} s; expected a lower fps, "
            f"for at most {_MOST_FRAMES} frames"
        )
    count = math.ceil(duration * fps - 1e-4)  # an end within 1e-4 frame of a step is that step
    return np.append(np.arange(count) / fps, duration) if duration > 0 else np.zeros(1)
