"""Stored frames from files: the key frames of an .md2, and numbered series of meshes, one file per frame.

Files are read by the importer with one vertex per face corner, so that every frame has the same vertices in
the same order; those that stay equal in all frames are then joined.
"""

import re
import struct
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ._frames import join_corners
from ._types import Floats, PathLike
from .errors import LoadError, SkinpyWarning
from .loading import load
from .model import Model

Stored = tuple[Floats, Floats, Model]  #: positions and normals (N,V,3) in scene space, and their model

_MD2_FPS, _SERIES_FPS = 10.0, 25.0
_NUMBERED = re.compile(r"(\d+)(?=\.[^.]*$)")


def load_frames(path: PathLike) -> tuple[Floats, Floats, Model, float, str]:
    """Positions, normals, model, frames per second and name of an .md2, or of a file's series."""
    file = Path(path)
    if file.suffix.lower() == ".md2":
        return *_load_md2(file), _MD2_FPS, file.stem
    paths = series_of(file)
    stem = _NUMBERED.sub("", file.name).removesuffix(file.suffix).rstrip("_-. ")
    return *load_series(paths), _SERIES_FPS, stem or file.stem


def load_series(paths: Sequence[PathLike]) -> Stored:
    """One frame from each file."""
    files = [Path(path) for path in paths]
    if not files:
        raise ValueError("paths is empty; expected at least one file")
    return _joined(*_collect([str(path) for path in files], lambda number: _still(files[number])))


def series_of(path: Path) -> list[Path]:
    """All files that differ from `path` in the last number of their name alone, in its order."""
    found = _NUMBERED.search(path.name)
    if not found:
        raise LoadError(f"{path}: the name has no number in front of its suffix; give load_series the paths")
    if not path.is_file():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    head, tail = path.name[: found.start()], path.name[found.end() :]
    same = re.compile(re.escape(head) + r"(\d+)" + re.escape(tail))
    numbered = [(int(match[1]), one) for one in path.parent.iterdir() if (match := same.fullmatch(one.name))]
    numbers = [number for number, _ in numbered]
    if len(set(numbers)) < len(numbers):
        raise LoadError(f"{path}: two files of the series have the same number")
    return [one for _, one in sorted(numbered)]


# ---- frame after frame ----------------------------------------------------------------------------


def _load_md2(path: Path) -> Stored:
    count = _md2_frames(path)
    names = [f"{path}, frame {number}" for number in range(count)]
    return _joined(*_collect(names, lambda number: _still(path, number)))


def _md2_frames(path: Path) -> int:
    """The number of frames that the header states (its eleventh word)."""
    with path.open("rb") as file:
        header = file.read(68)
    if len(header) < 68 or header[:4] != b"IDP2":
        raise LoadError(f"{path}: this is no MD2 file")
    count: int = struct.unpack_from("<i", header, 40)[0]
    if not 1 <= count <= path.stat().st_size // 40:  # a frame takes 40 bytes and more
        raise LoadError(
            f"{path}: the header states {count} frames; expected at least one, and no more than fit"
        )
    return count


def _still(path: Path, frame: int | None = None) -> Model:
    """The mesh of a file, or of one of its frames, with a vertex for each face corner."""
    return load(path, join_vertices=False, frame=frame)


def _collect(names: Sequence[str], still: Callable[[int], Model]) -> Stored:
    """All frames of `still`; what they lose is told once, for the first."""
    model = still(0)
    if not len(model.mesh.positions):
        raise LoadError(f"{names[0]}: there is no mesh")
    frames = np.empty((len(names), len(model.mesh.positions), 3), np.float32)
    normals = np.empty_like(frames)
    for number, one in enumerate(_all(model, len(names), still)):
        what = _difference(model, one)
        if what:
            raise LoadError(f"{names[number]} has {what}; expected the faces of {names[0]}")
        one.deform(one.palette(affine=True), out=(frames[number], normals[number]))
    return frames, normals, model


def _all(model: Model, count: int, still: Callable[[int], Model]) -> Iterator[Model]:
    yield model
    for number in range(1, count):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkinpyWarning)
            one = still(number)
        yield one


def _difference(a: Model, b: Model) -> str:
    """What keeps `b` from being a frame of `a`'s mesh; "" where nothing does.

    Faces are not compared: a polygon that turns concave is cut into other triangles, with the same corners.
    """
    if len(a.mesh.positions) != len(b.mesh.positions):
        return f"{len(b.mesh.positions)} face corners instead of {len(a.mesh.positions)}"
    if [part.vertex_range for part in a.mesh.submeshes] != [part.vertex_range for part in b.mesh.submeshes]:
        return "other parts"
    first, second = a.mesh.uvs, b.mesh.uvs
    if (first is None) != (second is None) or (
        first is not None and second is not None and not np.array_equal(first, second)
    ):
        return "other texture coordinates"
    return ""


def _joined(frames: Floats, normals: Floats, model: Model) -> Stored:
    block, first = join_corners(model._block, frames, normals)
    return frames[:, first], normals[:, first], Model(block)
