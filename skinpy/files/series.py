"""Stored frames from files: those of .md2, .md3 and Quake's .mdl, and numbered files of one mesh per frame.

The importer reads each frame with one vertex per face corner, so that every frame has the same vertices in
the same order. Vertices that are equal in all frames are then joined.

`limits` hold for all frames together, while in `skinpy.load` they hold for one file: a few hundred bytes per
frame may expand to much more.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._arguments import items_of, path_of
from .._confinement import Confinement
from .._text import printable
from .._types import Array, Floats, PathLike
from ..errors import LimitExceeded, LoadError, SkinpyWarning
from ..limits import Limits
from ..loading import load
from ..model import Model
from ..models.frames import join_corners, unit

Stored = tuple[Floats, Floats, Model]  #: positions and normals (N,V,3) in scene space, and their model

_GAME_FPS, _SERIES_FPS = 10.0, 25.0
_VERTEX_BYTES = 2 * 3 * 4  # of one frame: position and normal
_NUMBERED = re.compile(r"(\d+)(?=\.[^.]*$)")


class _Kind(NamedTuple):
    """A format that stores whole frames: its first bytes, and the offset of the number of frames."""

    magic: bytes
    offset: int
    least: int  #: least bytes of a frame


_KINDS = {
    ".md2": _Kind(b"IDP2", 40, 40),
    ".md3": _Kind(b"IDP3", 76, 56),
    ".mdl": _Kind(b"IDPO", 68, 28),
}
_HEAD = 80  # bytes of the file's beginning that contain the number of frames in each format


def has_frames(path: PathLike) -> bool:
    """Return whether a file's format stores whole frames; of the formats called .mdl, only Quake's does."""
    file = Path(os.fsdecode(path))
    suffix = file.suffix.lower()
    if suffix != ".mdl":
        return suffix in _KINDS
    return file.is_file() and _read_head(file, 4)[1] == _KINDS[suffix].magic


def load_frames(path: PathLike, confined: Confinement) -> tuple[Floats, Floats, Model, float, str]:
    """Return positions, normals, model, frames per second and name of a file's frames or series."""
    file = Path(path_of("path", path))
    if has_frames(file):
        return *_load_stored(file, confined), _GAME_FPS, file.stem
    paths = series_of(file)
    stem = _NUMBERED.sub("", file.name).removesuffix(file.suffix).rstrip("_-. ")
    return *load_series(paths, confined), _SERIES_FPS, stem or file.stem


def load_series(paths: Sequence[PathLike], confined: Confinement) -> Stored:
    """Return positions, normals and model of one frame from each file."""
    given = items_of("paths", paths, "a sequence of paths")
    files = [Path(path_of(f"paths[{number}]", path)) for number, path in enumerate(given)]
    if not files:
        raise ValueError("paths is empty; expected at least one file")
    reader = _Reader(printable(files[0]), len(files), lambda number: printable(files[number]), confined)
    return _collect(reader, lambda number: reader.still(files[number]))


def series_of(path: Path) -> list[Path]:
    """Return all files that differ from `path` in the last number of their name alone, in numeric order."""
    found = _NUMBERED.search(path.name)
    if not found:
        raise LoadError(
            f"{printable(path)}: the name has no number before its extension; "
            "give load_series the paths of the files"
        )
    if not path.is_file():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    head, tail = path.name[: found.start()], path.name[found.end() :]
    same = re.compile(re.escape(head) + r"(\d+)" + re.escape(tail))
    numbered = [(int(match[1]), one) for one in path.parent.iterdir() if (match := same.fullmatch(one.name))]
    numbers = [number for number, _ in numbered]
    if len(set(numbers)) < len(numbers):
        raise LoadError(f"{printable(path)}: two files of the series have the same number")
    return [one for _, one in sorted(numbered)]


# ---- reading frames ---------------------------------------------------------------------------------


def _load_stored(path: Path, confined: Confinement) -> Stored:
    count = _stored_frames(path, confined)
    reader = _Reader(printable(path), count, lambda number: f"{printable(path)}, frame {number}", confined)
    return _collect(reader, lambda number: reader.still(path, number))


def _stored_frames(path: Path, confined: Confinement) -> int:
    """Return the number of frames that the header states."""
    limits = confined["limits"]
    suffix = path.suffix.lower()
    kind = _KINDS[suffix]
    size, header = _read_head(path, _HEAD)
    if size > limits.file_bytes:
        raise LimitExceeded(
            f"{printable(path)}: the file has {size} bytes, the limit of file_bytes is {limits.file_bytes}; "
            f"allow it with limits=skinpy.Limits(file_bytes={size})"
        )
    if len(header) < kind.offset + 4 or header[:4] != kind.magic:
        load(path, **confined)  # says what the file is instead
        raise LoadError(f"{printable(path)}: this is not an {suffix[1:].upper()} file")
    count: int = struct.unpack_from("<i", header, kind.offset)[0]
    if not 1 <= count <= size // kind.least:
        raise LoadError(
            f"{printable(path)}: the header states {count} frames; "
            "expected 1 to the number that the file holds"
        )
    return count


def _read_head(path: Path, count: int) -> tuple[int, bytes]:
    """Return length and first bytes of a regular file; a FIFO is an error, as its bytes may never come."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise LoadError(f"{printable(path)}: this is not a regular file")
        return facts.st_size, os.read(descriptor, count)
    finally:
        os.close(descriptor)


class _Reader:
    """Reads frame after frame, all frames within the time limit."""

    def __init__(self, title: str, count: int, name: Callable[[int], str], confined: Confinement) -> None:
        self.title = title
        self.count = count
        self.name = name
        self.limits = confined["limits"]
        self._confined = confined
        self._end = time.monotonic() + self.limits.seconds
        self._done = 0

    def still(self, path: Path, frame: int | None = None) -> Model:
        """Return the mesh of a file, or of one of its frames, with a vertex for each face corner."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise self._late()
        confined = self._confined.copy()
        confined["limits"] = replace(self.limits, seconds=left)
        try:
            model = load(path, join_vertices=False, frame=frame, **confined)
        except LimitExceeded as error:
            if self._done and time.monotonic() >= self._end:
                raise self._late() from error
            raise
        self._done += 1
        return model

    def _late(self) -> LimitExceeded:
        """Return the error for frames that take too long."""
        return LimitExceeded(
            f"{self.title}: {self._done} of {self.count} frames were read in the "
            f"{self.limits.seconds:g} seconds that all frames together may take; "
            "allow more with limits=skinpy.Limits(seconds=...)"
        )


def _collect(reader: _Reader, still: Callable[[int], Model]) -> Stored:
    """Return all frames of `still`, joined; warnings are given once, for the first frame."""
    model = still(0)
    count = len(model.mesh.positions)
    if not count:
        raise LoadError(f"{reader.name(0)}: the file has no mesh")
    _check_limits(reader.title, reader.count, count, reader.limits)
    frames = np.empty((reader.count, count, 3), np.float32)
    normals = np.empty_like(frames)
    leaders = np.zeros(count, np.int64)  # for each vertex the first that is equal in all frames so far
    for number, one in enumerate(_all(model, reader.count, still)):
        difference = _difference(model, one)
        if difference:
            raise LoadError(f"{reader.name(number)} has {difference}; expected the faces of {reader.name(0)}")
        one.deform(one.palette(affine=True), out=(frames[number], normals[number]))
        if not (np.isfinite(frames[number]).all() and np.isfinite(normals[number]).all()):
            raise LoadError(f"{reader.name(number)} has a vertex that is not finite; expected finite numbers")
        _split(leaders, frames[number], normals[number])
        normals[number] = unit(normals[number].astype(np.float64))
    # Joining compares the leaders instead of the frames, of which it would make several copies. Two float32
    # hold a leader exactly.
    halves = np.stack([leaders & 0xFFFF, leaders >> 16], axis=-1)[None].astype(np.float32)
    block, first = join_corners(model._block, halves, halves)
    frames = frames.take(first, axis=1)  # C-contiguous, which [:, first] is not
    return frames, normals.take(first, axis=1), Model(block)


def _check_limits(title: str, frames: int, vertices: int, limits: Limits) -> None:
    """Raise LimitExceeded, before memory is allocated, if all frames together exceed the limits."""
    count = frames * vertices
    total = f"{title}: the {frames} frames have {count} vertices (face corners)"
    if count > limits.vertices:
        raise LimitExceeded(
            f"{total}, the limit is {limits.vertices}; allow it with limits=skinpy.Limits(vertices={count})"
        )
    needed = count * _VERTEX_BYTES
    if needed > limits.memory:
        raise LimitExceeded(
            f"{total}, which take {needed} bytes, the limit of memory is {limits.memory}; "
            f"allow it with limits=skinpy.Limits(memory={needed})"
        )


def _split(leaders: Array, positions: Floats, normals: Floats) -> None:
    """Split off vertices with other bits than their leader in this frame; the first of each class leads."""
    rows = np.concatenate([positions, normals], axis=1).view(np.uint32)
    off = np.flatnonzero((rows != rows[leaders]).any(axis=1))
    if not len(off):
        return
    keys = np.concatenate([leaders[off, None].astype(np.uint32), rows[off]], axis=1)
    _, first, number = np.unique(
        keys.view(np.dtype((np.void, keys.itemsize * keys.shape[1])))[:, 0],
        return_index=True,
        return_inverse=True,
    )
    leaders[off] = off[first[number.reshape(-1)]]


def _all(model: Model, count: int, still: Callable[[int], Model]) -> Iterator[Model]:
    """Yield all frames, the first of which is there already."""
    yield model
    for number in range(1, count):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkinpyWarning)
            one = still(number)
        yield one


def _difference(a: Model, b: Model) -> str:
    """Return the difference that keeps `b` from being a frame of `a`'s mesh, or "".

    Faces are not compared: a polygon that becomes concave is cut into other triangles with the same corners.
    """
    if len(a.mesh.positions) != len(b.mesh.positions):
        return f"{len(b.mesh.positions)} face corners instead of {len(a.mesh.positions)}"
    if [one.vertex_range for one in a.mesh.submeshes] != [one.vertex_range for one in b.mesh.submeshes]:
        return "other submeshes"
    first, second = a.mesh.uvs, b.mesh.uvs
    if (first is None) != (second is None) or (
        first is not None and second is not None and not np.array_equal(first, second)
    ):
        return "other texture coordinates"
    return ""
