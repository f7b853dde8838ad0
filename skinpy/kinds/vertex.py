"""Vertex animation: stored frames of all vertices, every one of a motion or its key frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _block, _core
from .._arguments import brief, check_model, finite, instance, integer, one_of, positive, text
from .._confinement import USUAL, confinement
from .._strict import Strict
from .._text import quoted
from .._types import Array, Floats, Loop, PathLike
from ..models.frames import (
    checked_frames,
    checked_rate,
    checked_times,
    choose_keys,
    frame_errors,
    smooth_normals,
    unit,
)
from .animation import Interpolation, checked_interpolation

if TYPE_CHECKING:
    from ..limits import Limits
    from ..loading import External, Isolate
    from ..model import Model

__all__ = ["KeyReport", "VertexAnimation"]

_TICKS = 1000.0  # per second, for key times that come without a rate of their own


@dataclass(frozen=True)
class KeyReport:
    """What `VertexAnimation.to_keyed` chose, and what that costs and saves.

    Attributes
    ----------
    source_frames : int
        Number of frames of the animation that was reduced.
    keys : int
        Number of frames that were kept.
    bound : float
        The `max_error` that was asked for, in model units.
    max_error : float
        The largest distance of any vertex in any source frame from its position there, in model units.
    rms_error : float
        The root of the mean square of all these distances, in model units.
    source_nbytes : int
        Bytes of the animation that was reduced.
    nbytes : int
        Bytes of the key frames.
    """

    source_frames: int
    keys: int
    bound: float
    max_error: float
    rms_error: float
    source_nbytes: int
    nbytes: int

    @property
    def saving(self) -> float:
        """The fraction of the bytes that is saved, 0 to 1."""
        return 1.0 - self.nbytes / self.source_nbytes

    def __str__(self) -> str:
        return (
            f"{self.keys} keys for {self.source_frames} frames, {self.nbytes} bytes for {self.source_nbytes} "
            f"(saves {100 * self.saving:.1f} %), error at most {self.max_error:.3g}, rms {self.rms_error:.3g}"
        )


class VertexAnimation(Strict):
    """Stored frames of all vertices: every frame of a motion, or key frames with straight lines between.

    Make one with `every_frame`, `keyed`, `load`, `load_series` or `skinpy.kinds.bake_vertices`. An animation
    never changes; its arrays are read-only. Positions are in scene space.
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
        one_of("kind", kind, ("vertex", "keyed"))
        check_model("model", model)
        for argument, array in (("times", times), ("frames", frames), ("normals", normals)):
            instance(argument, array, np.ndarray, "an array")
        self._kind = kind
        self._times = _block.read_only(times)
        self._frames = _block.read_only(frames)
        self._normals = _block.read_only(normals)
        self._model = model
        self._name = text("name", name)
        self._ticks = positive("ticks_per_second", ticks_per_second)
        self._interpolation = checked_interpolation(interpolation)
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
        """Return an animation that stores every frame of a motion.

        Frame n is at n / fps seconds. The animation lasts until its last frame, (N - 1) / fps seconds.

        Parameters
        ----------
        frames : array_like, shape (N, V, 3)
            Positions of the V vertices in each of the N frames, in scene space.
        fps : float
            Frames per second, above 0.
        normals : array_like, shape (N, V, 3), optional
            Normals, which are divided by their lengths. Without them smooth normals are made from the faces.
        model : Model, optional
            A model with V vertices, for its faces, texture coordinates and materials. Without it a model is
            made of frame 0, `faces` and `uvs`.
        faces : array_like, shape (F, 3), optional
            Vertices of each triangle. Without `model` and `faces` the vertices are points.
        uvs : array_like, shape (V, 2), optional
            Texture coordinates.
        interpolation : {"linear", "step"}, default "linear"
            Whether vertices move along straight lines from frame to frame, or only stored frames are shown.
        name : str, default ""
            Name of the animation.

        Returns
        -------
        VertexAnimation
            An animation of kind "vertex".

        Raises
        ------
        ValueError
            If there is no frame, vertex counts differ, a number is not finite, `fps` is not positive, or both
            a model and `faces` or `uvs` are given.
        TypeError
            If an array does not hold real numbers.

        Examples
        --------
        >>> frames = [[[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 0, 1], [0, 1, 1]]]
        >>> rise = skinpy.VertexAnimation.every_frame(frames, 25, faces=[[0, 1, 2]], name="rise")
        >>> rise.sample(0.02)[0][:, 2].tolist()
        [0.5, 0.5, 0.5]
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
        """Return an animation of key frames at times of your choice.

        Before the first key the animation shows the first key.

        Parameters
        ----------
        times : array_like, shape (N,), seconds
            Times of the keys: increasing, none negative.
        frames : array_like, shape (N, V, 3)
            Positions of the V vertices in each of the N keys, in scene space.
        normals : array_like, shape (N, V, 3), optional
            Normals, which are divided by their lengths. Without them smooth normals are made from the faces.
        model : Model, optional
            A model with V vertices, for its faces, texture coordinates and materials. Without it a model is
            made of the first key, `faces` and `uvs`.
        faces : array_like, shape (F, 3), optional
            Vertices of each triangle. Without `model` and `faces` the vertices are points.
        uvs : array_like, shape (V, 2), optional
            Texture coordinates.
        interpolation : {"linear", "step"}, default "linear"
            Whether vertices move along straight lines from key to key, or only stored keys are shown.
        name : str, default ""
            Name of the animation.

        Returns
        -------
        VertexAnimation
            An animation of kind "keyed".

        Raises
        ------
        ValueError
            If there is no key, times do not increase, vertex counts differ, a number is not finite, or both a
            model and `faces` or `uvs` are given.
        TypeError
            If an array does not hold real numbers.
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
        """Return an animation of checked times and frames, with the normals and the model that they need."""
        checked = checked_interpolation(interpolation)
        directions = None if normals is None else _unit_normals(normals, frames.shape)
        if model is None:
            model = _points_model(frames[0], None if directions is None else directions[0], faces, uvs)
        elif faces is not None or uvs is not None:
            raise ValueError("give faces and uvs, or a model that has them, not both")
        count = len(model.mesh.positions)
        if count != frames.shape[1]:
            raise ValueError(f"frames has {frames.shape[1]} vertices; the model has {count}")
        if directions is None:
            directions = smooth_normals(frames, model.mesh.faces)
        return cls(kind, times, frames, directions, model, name, ticks, checked)

    @classmethod
    def load(
        cls,
        path: PathLike,
        *,
        fps: float | None = None,
        name: str | None = None,
        isolate: Isolate = True,
        limits: Limits = USUAL,
        allow_formats: Iterable[str] | None = None,
        external: External = "folder",
    ) -> VertexAnimation:
        """Return the animation of a file that stores frames, or of the numbered files that one belongs to.

        Files of .md2, .md3 and Quake's .mdl store frames. The last two are not default formats; for example,
        ``allow_formats=("md3",)`` allows .md3.

        The series of "walk_001.obj" are all files of its folder whose names differ from it in that number
        alone, in the order of their numbers.

        Parameters
        ----------
        path : str or os.PathLike
            A file that stores frames, or any file of a series.
        fps : float, optional
            Frames per second. Without it 10 for stored frames, as the games play them, and 25 for a series.
        name : str, optional
            Name of the animation. Without it the name of the file, without number and extension.
        isolate : bool or "strict", default True
            Whether each frame is imported in a process of its own, as in `skinpy.load`.
        limits : Limits, optional
            Limits of the import. `Limits.vertices` counts the face corners of all frames together,
            `Limits.memory` also bounds their positions and normals, 24 bytes a corner, and `Limits.seconds`
            is for all frames, with ``isolate=False`` looked at between them.
        allow_formats : iterable of str, optional
            File extensions that may be loaded, as in `skinpy.load`.
        external : {"folder", "none", "any"}, default "folder"
            Which files a file may name, as in `skinpy.load`.

        Returns
        -------
        VertexAnimation
            An animation of kind "vertex".

        Raises
        ------
        LoadError
            If a file cannot be read, the frames do not belong together, or a vertex is not finite.
        FileNotFoundError
            If there is no such file.
        ValueError
            If `fps` is not positive or an option is unknown.
        TypeError
            If an argument has the wrong type.

        Notes
        -----
        While equal face corners are joined, the arrays take up to half as much memory again.
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
        isolate: Isolate = True,
        limits: Limits = USUAL,
        allow_formats: Iterable[str] | None = None,
        external: External = "folder",
    ) -> VertexAnimation:
        """Return an animation that is read from one file per frame, in the order given.

        All files need the same faces in the same order. The materials are those of the first file.

        Parameters
        ----------
        paths : sequence of str or os.PathLike
            The files, .obj or another format of still meshes.
        fps : float
            Frames per second, above 0.
        name : str, default ""
            Name of the animation.
        isolate : bool or "strict", default True
            Whether each frame is imported in a process of its own, as in `skinpy.load`.
        limits : Limits, optional
            Limits of the import, for all frames together, as in `load`.
        allow_formats : iterable of str, optional
            File extensions that may be loaded, as in `skinpy.load`.
        external : {"folder", "none", "any"}, default "folder"
            Which files a file may name, as in `skinpy.load`.

        Returns
        -------
        VertexAnimation
            An animation of kind "vertex".

        Raises
        ------
        LoadError
            If a file cannot be read, the frames do not belong together, or a vertex is not finite.
        FileNotFoundError
            If a file is not there.
        ValueError
            If `paths` is empty, `fps` is not positive, or an option is unknown.
        TypeError
            If an argument has the wrong type.
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
        """Return an animation of arrays that need no check and become the animation's own."""
        times = np.arange(len(frames)) / rate
        return cls("vertex", times, frames, normals, model, name, rate, "linear")

    # ---- what is stored ---------------------------------------------------------------------------

    @property
    def kind(self) -> Literal["vertex", "keyed"]:
        """The kind: "vertex" where every frame is stored, "keyed" for key frames."""
        return self._kind

    @property
    def name(self) -> str:
        """The name of the animation."""
        return self._name

    @property
    def times(self) -> Array:
        """The times of the frames, (N,) float64 seconds."""
        return self._times

    @property
    def frames(self) -> Floats:
        """The positions of the vertices in each frame, (N, V, 3) float32, in scene space."""
        return self._frames

    @property
    def normals(self) -> Floats:
        """The unit normals in each frame, (N, V, 3) float32; zero for vertices without faces."""
        return self._normals

    @property
    def model(self) -> Model:
        """The model with the same V vertices: faces, texture coordinates, materials."""
        return self._model

    @property
    def interpolation(self) -> Interpolation:
        """How vertices get from frame to frame: "linear" or "step"."""
        return self._interpolation

    @property
    def duration(self) -> float:
        """The time of the last frame in seconds."""
        return float(self._times[-1])

    @property
    def nbytes(self) -> int:
        """The number of bytes of times, positions and normals."""
        return self._times.nbytes + self._frames.nbytes + self._normals.nbytes

    @property
    def report(self) -> KeyReport | None:
        """What `to_keyed` chose, for an animation that `to_keyed` made; None for any other."""
        return self._report

    def __len__(self) -> int:
        return len(self._frames)

    # ---- use --------------------------------------------------------------------------------------

    def places(self, time: npt.ArrayLike, *, loop: Loop = "wrap") -> Array:
        """Return the position of one time or many among the frames.

        2.25 is a quarter of the way from frame 2 to frame 3; a whole number is a stored frame. Drawing needs
        this: two frames, and the fraction of the second.

        Parameters
        ----------
        time : array_like, shape (...), seconds
            Times within the animation or outside.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the animation.

        Returns
        -------
        (...) float64 ndarray
            Positions from 0 to N - 1.

        Raises
        ------
        ValueError
            If a time is not finite or `loop` is unknown.
        TypeError
            If `time` does not hold numbers.
        """
        positions = _core._find_frames(self._times, time, loop, self.duration, self._ticks)
        return np.floor(positions) if self._interpolation == "step" else positions

    def sample(
        self,
        time: npt.ArrayLike,
        out: tuple[Floats, Floats] | None = None,
        *,
        loop: Loop = "wrap",
    ) -> tuple[Floats, Floats]:
        """Return the positions and normals of all vertices at one time or at many.

        Positions move along straight lines from frame to frame. Normals do too, and are then divided by their
        lengths. docs/conventions.md explains the four loop modes.

        Parameters
        ----------
        time : array_like, shape (...), seconds
            Times at which the animation is sampled. Their shape is the leading shape of the result.
        out : tuple of two (..., V, 3) float32 ndarray, optional
            Arrays that positions and normals are written to.
        loop : {"wrap", "clamp", "pingpong", "once"}, default "wrap"
            What happens outside the animation.

        Returns
        -------
        positions : (..., V, 3) float32 ndarray
            Positions in scene space.
        normals : (..., V, 3) float32 ndarray
            Unit normals.

        Raises
        ------
        ValueError
            If a time is not finite, `loop` is unknown, or an array of `out` does not fit.
        TypeError
            If `time` does not hold numbers, or `out` is not a tuple of two arrays.
        """
        if out is not None and (not isinstance(out, tuple) or len(out) != 2):
            raise TypeError(f"out is {brief(out)}; expected a tuple (positions, normals) of two arrays")
        positions, normals = out or (None, None)
        found = self.places(time, loop=loop)
        points, directions = _core._blend_frames(self._frames, self._normals, found, positions, normals)
        assert directions is not None
        return points, directions

    def cut(self, start: int, stop: int, *, name: str | None = None) -> VertexAnimation:
        """Return some of the frames as an animation of their own, for files that hold several motions.

        Parameters
        ----------
        start, stop : int
            The frames from `start` to `stop` - 1, counted as in slices. The first of them is at time 0.
        name : str, optional
            Name of the result. Without it the name of this animation.

        Returns
        -------
        VertexAnimation
            An animation of the same kind.

        Raises
        ------
        ValueError
            If no frame lies between `start` and `stop`.
        """
        chosen = slice(integer("start", start), integer("stop", stop))
        times = self._times[chosen]
        if not len(times):
            raise ValueError(
                f"start is {brief(start)} and stop is {brief(stop)}: no frame of {len(self)} lies between "
                "them; expected at least one"
            )
        return VertexAnimation(
            self._kind,
            times - times[0],
            self._frames[chosen],
            self._normals[chosen],
            self._model,
            self._name if name is None else name,
            self._ticks,
            self._interpolation,
        )

    def to_keyed(self, max_error: float) -> VertexAnimation:
        """Return an animation of few of these frames that shows all of them within an error.

        Parameters
        ----------
        max_error : float, model units
            The largest distance, 0 or more, that any vertex may be off in any of these frames.

        Returns
        -------
        VertexAnimation
            An animation of kind "keyed", whose `report` has the errors and the saving.

        Raises
        ------
        ValueError
            If `max_error` is negative or not finite, or a frame is not finite.
        TypeError
            If `max_error` is not a number.

        Notes
        -----
        The next key is always the last frame that a straight line reaches within `max_error`. So keys are
        few, though not always the fewest possible.
        """
        bound = finite("max_error", max_error)
        if bound < 0:
            raise ValueError(f"max_error is {bound:g}; expected a distance, 0 or more")
        check_frames_finite(f"frames of {quoted(self._name)} hold", self._frames)
        chosen = choose_keys(self._times, self._frames, bound)
        while True:
            thin = self._only(chosen)
            worst, square = frame_errors(self._times, self._frames, thin)
            if worst.max() <= bound:
                break
            # Sampling has rounded a fraction in another way. That is rare, and keeping the frame mends it.
            worst[chosen] = -1.0  # every round adds another frame, so the loop ends
            if worst.max() <= bound:
                raise ValueError(
                    f"frames of {quoted(self._name)} are too large for straight lines between them in float32"
                )
            chosen = sorted({*chosen, int(worst.argmax())})
        errors = float(worst.max()), float(np.sqrt(square.mean()))
        thin._report = KeyReport(len(self), len(thin), bound, *errors, self.nbytes, thin.nbytes)
        return thin

    def _only(self, chosen: list[int]) -> VertexAnimation:
        """Return an animation with the chosen frames as keys."""
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
            f"<VertexAnimation {quoted(self._name)}: {len(self)} {what} of {self._frames.shape[1]} vertices, "
            f"{self.duration:.3f} s>"
        )


def check_frames_finite(what: str, frames: Floats) -> None:
    """Raise ValueError for a number that is not finite; `what` is the beginning of its sentence."""
    for number, frame in enumerate(frames):
        if not np.isfinite(frame).all():
            raise ValueError(f"{what} a number that is not finite, in frame {number}; expected finite ones")


def _unit_normals(normals: npt.ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Return checked normals of the shape of the frames, with length 1."""
    array = checked_frames("normals", normals)
    if array.shape != shape:
        raise ValueError(f"normals has shape {array.shape}; expected that of frames, {shape}")
    return unit(array.astype(np.float64))


def _points_model(
    positions: Floats, normals: Floats | None, faces: npt.ArrayLike | None, uvs: npt.ArrayLike | None
) -> Model:
    """Return a model of one joint that all vertices are attached to."""
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
