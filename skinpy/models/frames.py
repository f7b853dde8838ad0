"""Stored frames of vertices: checks, normals, joining of corners, choice of key frames."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .. import _block, _core
from .._arguments import any_array, brief, finite, numbers
from .._types import Array, Floats, Loop

#: float64 numbers that one step of a long computation has in memory at once.
_MAX_CHUNK = 4_000_000


def chunks(count: int, size: int) -> Iterator[slice]:
    """Slices that cover `count` items of `size` numbers each, small enough to be in memory at once."""
    step = max(1, _MAX_CHUNK // max(size, 1))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def corners(points: Array) -> Array:
    """(...,2,3): the lowest and the highest corner around points (...,P,3), of the same dtype; P is not 0."""
    # NumPy takes 25 times as long for rows of three as for one column after another.
    columns = [points[..., column] for column in range(3)]
    low = np.stack([column.min(axis=-1) for column in columns], axis=-1)
    high = np.stack([column.max(axis=-1) for column in columns], axis=-1)
    return np.stack([low, high], axis=-2)


# ---- checks ---------------------------------------------------------------------------------------


def checked_frames(name: str, value: npt.ArrayLike) -> Floats:
    """A finite float32 copy (N,V,3) with at least one frame and one vertex; errors name the argument."""
    given = any_array(name, value)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {given.dtype}; expected real numbers")
    with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite and is refused below
        frames = np.array(given, np.float32, order="C")
    if frames.ndim != 3 or frames.shape[2] != 3:
        raise ValueError(f"{name} has shape {frames.shape}; expected (N, V, 3)")
    if not frames.shape[0]:
        raise ValueError(f"{name} has shape {frames.shape}; expected at least one frame")
    if not frames.shape[1]:
        raise ValueError(f"{name} has shape {frames.shape}; expected at least one vertex")
    for number, frame in enumerate(frames):
        if not np.isfinite(frame).all():
            raise ValueError(
                f"{name} holds a number that is not finite, in frame {number}; expected finite numbers"
            )
    return frames


def checked_rate(fps: float) -> float:
    """`fps` as a float; ValueError unless it is positive and finite."""
    rate = finite("fps", fps)
    if not rate > 0:
        raise ValueError(f"fps is {rate:g}; expected a positive number of frames per second")
    return rate


def checked_times(value: npt.ArrayLike, count: int) -> Array:
    """A float64 copy of times (count,), which are increasing seconds from 0 on; ValueError for others."""
    times = numbers("times", value).copy()
    if times.shape != (count,):
        raise ValueError(f"times has shape {times.shape}; expected ({count},), one per frame")
    if not np.isfinite(times).all() or (times < 0).any() or (np.diff(times) <= 0).any():
        raise ValueError(f"times is {brief(value)}; expected finite, increasing and not negative numbers")
    return times


def checked_out(out: Array, name: str, shape: tuple[int, ...], *inputs: Array) -> Floats:
    """`out` itself, if a result of `shape` can be written to it; otherwise TypeError or ValueError."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{name} is of type {type(out).__name__}; expected a numpy.ndarray")
    if out.shape != shape:
        raise ValueError(f"{name} has shape {out.shape}; expected {shape}")
    if out.dtype != np.dtype(np.float32):
        raise ValueError(f"{name} has dtype {out.dtype}; expected float32 in native byte order")
    if not (out.flags.writeable and out.flags.c_contiguous):
        raise ValueError(f"{name} is read-only or not C-contiguous; expected a writable, contiguous array")
    if any(np.may_share_memory(out, one) for one in inputs):
        raise ValueError(f"{name} overlaps an input; expected memory of its own")
    return out


# ---- normals --------------------------------------------------------------------------------------


def equal_columns(arrays: list[Array]) -> tuple[Array, Array]:
    """Classes of vertices that are equal in every array (...,V,C).

    The first vertex of each class, and the class of each vertex. Classes are in the order of their first
    vertices.
    """
    count = arrays[0].shape[-2]
    rows = [np.moveaxis(array, -2, 0).reshape(count, -1) for array in arrays]
    table = np.ascontiguousarray(np.concatenate(rows, axis=1))
    keys = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1])))[:, 0]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse.reshape(-1)]


def smooth_normals(frames: Floats, faces: Array) -> Floats:
    """(N,V,3) unit normals: the area-weighted mean of the faces around each vertex, frame by frame.

    Vertices of equal position in all frames share their faces. A vertex without faces has a normal of 0.
    """
    normals = np.zeros_like(frames)
    if not len(faces):
        return normals
    _, position = equal_columns([frames])
    corner_positions = position[faces.ravel()]
    order = np.argsort(corner_positions, kind="stable")
    starts = np.flatnonzero(np.diff(corner_positions[order], prepend=-1))
    used = corner_positions[order][starts]
    for chunk in chunks(len(frames), 3 * len(corner_positions)):
        a, b, c = (frames[chunk, faces[:, corner]].astype(np.float64) for corner in range(3))
        face = np.cross(b - a, c - a)  # its length is twice the area
        total = np.zeros((len(face), int(position.max()) + 1, 3))
        total[:, used] = np.add.reduceat(face[:, order // 3], starts, axis=1)
        normals[chunk] = unit(total)[:, position]
    return normals


def unit(rows: Array) -> Floats:
    """Rows divided by their lengths, float32; rows of length 0 stay as they are."""
    largest = np.abs(rows).max(axis=-1, keepdims=True, initial=0)
    # Of tiny and huge numbers the squares would leave the range of floats; near 1 they don't.
    near = rows / np.where(largest > 0, largest, 1).astype(np.float64)
    length = np.linalg.norm(near, axis=-1, keepdims=True)
    return (near / np.where(length > 0, length, 1)).astype(np.float32)


# ---- joining --------------------------------------------------------------------------------------

_VERTEX_STREAMS = ("POSITIONS", "NORMALS", "UVS", "COLORS", "TANGENTS", "VERTEX_SLOTS", "VERTEX_WEIGHTS")


def join_corners(block: _core.Block, frames: Floats, normals: Floats) -> tuple[_core.Block, Array]:
    """A block in which vertices that are equal in every frame (N,V,3) and every attribute are joined.

    Also the index in `block` of each new vertex. Submeshes keep their order and their faces.
    """
    sections = {name: _block.section(block, name) for name in block.sections}
    submeshes = sections["SUBMESHES"].copy()
    submesh = np.zeros((frames.shape[1], 1), np.float32)
    for number, one in enumerate(submeshes):
        submesh[int(one["first_vertex"]) : int(one["first_vertex"]) + int(one["vertex_count"])] = number
    streams = [sections[name] for name in _VERTEX_STREAMS if name in sections]
    first, joined = equal_columns(
        [frames, normals, submesh, *(stream.astype(np.float32, copy=False) for stream in streams)]
    )
    for name in _VERTEX_STREAMS:
        if name in sections:
            sections[name] = sections[name][first]
    sections["FACES"] = joined[sections["FACES"]].astype(np.uint32)
    ends = submeshes["first_vertex"].astype(np.int64) + submeshes["vertex_count"]
    starts = np.searchsorted(first, submeshes["first_vertex"])
    submeshes["first_vertex"], submeshes["vertex_count"] = starts, np.searchsorted(first, ends) - starts
    info = sections["INFO"].copy()
    info["vertices"] = len(first)
    sections |= {"SUBMESHES": submeshes, "INFO": info}
    return _block.pack(sections, int(info["influences"][0])), first


# ---- key frames -----------------------------------------------------------------------------------


def choose_keys(times: Array, frames: Floats, bound: float) -> list[int]:
    """Indices of the frames to keep, so that straight lines between them are within `bound` of all frames.

    The bound is a distance that holds for every vertex. From each kept frame the next is as far away as the
    bound allows; it is found by doubling the step until the bound is exceeded, then by bisection. The first
    and the last frame are always kept.
    """
    keys, last = [0], len(frames) - 1
    while keys[-1] < last:
        start = keys[-1]
        good, bad, step = start + 1, last + 1, 2
        while good < last and bad > last:
            end = min(start + step, last)
            if _passes(times, frames, start, end, bound):
                good, step = end, 2 * step
            else:
                bad = end
        while bad <= last and bad - good > 1:
            middle = (good + bad) // 2
            if _passes(times, frames, start, middle, bound):
                good = middle
            else:
                bad = middle
        keys.append(good)
    return keys


def _passes(times: Array, frames: Floats, start: int, end: int, bound: float) -> bool:
    """Whether the line from frame `start` to frame `end` is within the bound of all frames between."""
    low, high = frames[start].astype(np.float64), frames[end].astype(np.float64)
    between = np.arange(start + 1, end)
    # The middle comes first, because a line exceeds the bound there most often.
    order = np.concatenate([between[len(between) // 2 :][:1], between])
    fractions = (times[order] - times[start]) / (times[end] - times[start])
    for chunk in [slice(0, 1), *chunks(len(order), frames[0].size)]:
        line = (low + fractions[chunk, None, None] * (high - low)).astype(np.float32)
        difference = line.astype(np.float64) - frames[order[chunk]]
        if difference.size and np.einsum("nvc,nvc->nv", difference, difference).max() > bound * bound:
            return False
    return True


class Sampled(Protocol):
    """A vertex animation whose error can be measured."""

    def sample(self, time: Array, *, loop: Loop) -> tuple[Floats, Floats]: ...


def frame_errors(times: Array, frames: Floats, animation: Sampled) -> tuple[Array, Array]:
    """The largest and the mean square distance, (N,) each, of the vertices of an animation from frames."""
    largest, square = np.empty(len(frames)), np.empty(len(frames))
    for chunk in chunks(len(frames), frames[0].size):
        points = animation.sample(times[chunk], loop="clamp")[0]
        difference = points.astype(np.float64) - frames[chunk]
        squares = np.einsum("nvc,nvc->nv", difference, difference)
        largest[chunk], square[chunk] = np.sqrt(squares.max(axis=1)), squares.mean(axis=1)
    return largest, square
