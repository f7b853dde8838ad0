"""Work on stored frames of vertices: checking, normals, joining corners, choosing key frames."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .. import _block, _core
from .._arguments import any_array, finite
from .._types import Array, Floats, Loop

#: Numbers of float64 that one step of a long computation holds at once.
_CHUNK = 4_000_000


def chunks(count: int, size: int) -> Iterator[slice]:
    """Slices of `count` things of `size` numbers each, few enough at a time for the memory."""
    step = max(1, _CHUNK // max(size, 1))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def corners(points: Array) -> Array:
    """(...,2,3): lowest and highest corner of points (...,P,3), of the same type; P is 1 or more."""
    # One column after another: over rows of three NumPy takes 25 times as long.
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
    with np.errstate(over="ignore"):  # what is too large for float32 is infinite, and refused below
        frames = np.array(given, np.float32, order="C")
    if frames.ndim != 3 or frames.shape[2] != 3:
        raise ValueError(f"{name} has shape {frames.shape}; expected (N, V, 3)")
    if not frames.shape[0]:
        raise ValueError(f"{name} has shape {frames.shape}: no frame; expected at least one")
    if not frames.shape[1]:
        raise ValueError(f"{name} has shape {frames.shape}: no vertex; expected at least one")
    for number, frame in enumerate(frames):
        if not np.isfinite(frame).all():
            raise ValueError(f"{name} holds a number that is not finite, in frame {number}")
    return frames


def checked_rate(fps: float) -> float:
    """`fps` as a float; ValueError unless it is positive and finite."""
    rate = finite("fps", fps)
    if not rate > 0:
        raise ValueError(f"fps is {rate:g}; expected a positive number of frames per second")
    return rate


def checked_times(value: npt.ArrayLike, count: int) -> Array:
    """A float64 copy (count,) of increasing seconds, none negative; ValueError."""
    times = np.array(value, np.float64)
    if times.shape != (count,):
        raise ValueError(f"times has shape {times.shape}; expected ({count},), one per frame")
    if not np.isfinite(times).all() or (times < 0).any() or (np.diff(times) <= 0).any():
        raise ValueError("times must be finite, increasing and not negative")
    return times


def checked_out(out: Array, name: str, shape: tuple[int, ...], *inputs: Array) -> Floats:
    """`out` where a result of `shape` can be written to it; TypeError or ValueError where it cannot."""
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
    """Vertices that are equal in every array (...,V,C): (first of each class, class of each vertex).

    Classes are numbered by their first vertex.
    """
    count = arrays[0].shape[-2]
    rows = [np.moveaxis(array, -2, 0).reshape(count, -1) for array in arrays]
    table = np.ascontiguousarray(np.concatenate(rows, axis=1))
    keys = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1])))[:, 0]
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[place.reshape(-1)]


def smooth_normals(frames: Floats, faces: Array) -> Floats:
    """(N,V,3) unit normals: in every frame the area-weighted sum over the faces around a vertex.

    Vertices that lie together in all frames share their faces. A vertex without faces has a zero normal.
    """
    normals = np.zeros_like(frames)
    if not len(faces):
        return normals
    _, place = equal_columns([frames])
    corners = place[faces.ravel()]
    order = np.argsort(corners, kind="stable")
    starts = np.flatnonzero(np.diff(corners[order], prepend=-1))
    used = corners[order][starts]
    for part in chunks(len(frames), 3 * len(corners)):
        a, b, c = (frames[part, faces[:, corner]].astype(np.float64) for corner in range(3))
        face = np.cross(b - a, c - a)
        total = np.zeros((len(face), int(place.max()) + 1, 3))
        total[:, used] = np.add.reduceat(face[:, order // 3], starts, axis=1)
        normals[part] = unit(total)[:, place]
    return normals


def unit(rows: Array) -> Floats:
    """float32 rows of length 1; those of length 0 stay."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return (rows / np.where(length > 0, length, 1)).astype(np.float32)


# ---- joining --------------------------------------------------------------------------------------

_VERTEX_STREAMS = ("POSITIONS", "NORMALS", "UVS", "COLORS", "TANGENTS", "VERTEX_SLOTS", "VERTEX_WEIGHTS")


def join_corners(block: _core.Block, frames: Floats, normals: Floats) -> tuple[_core.Block, Array]:
    """A block in which vertices are one where they are equal in every frame (N,V,3) and every attribute.

    Also the vertex of `block` that each of the new ones was. Submeshes keep their order and their faces.
    """
    sections = {name: _block.section(block, name) for name in block.sections}
    submeshes = sections["SUBMESHES"].copy()
    part = np.zeros((frames.shape[1], 1), np.float32)
    for number, one in enumerate(submeshes):
        part[int(one["first_vertex"]) : int(one["first_vertex"]) + int(one["vertex_count"])] = number
    streams = [sections[name] for name in _VERTEX_STREAMS if name in sections]
    first, place = equal_columns(
        [frames, normals, part, *(stream.astype(np.float32, copy=False) for stream in streams)]
    )
    for name in _VERTEX_STREAMS:
        if name in sections:
            sections[name] = sections[name][first]
    sections["FACES"] = place[sections["FACES"]].astype(np.uint32)
    ends = submeshes["first_vertex"].astype(np.int64) + submeshes["vertex_count"]
    starts = np.searchsorted(first, submeshes["first_vertex"])
    submeshes["first_vertex"], submeshes["vertex_count"] = starts, np.searchsorted(first, ends) - starts
    info = sections["INFO"].copy()
    info["vertices"] = len(first)
    sections |= {"SUBMESHES": submeshes, "INFO": info}
    return _block.pack(sections, int(info["influences"][0])), first


# ---- key frames -----------------------------------------------------------------------------------


def choose_keys(times: Array, frames: Floats, bound: float) -> list[int]:
    """Frames to keep so that straight lines between them pass all others within `bound`, vertex by vertex.

    From each key on the next is looked for as far away as the bound allows: doubling the step until it does
    not, then halving the gap. The first and the last frame are always kept.
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
    """Whether the line from frame `start` to frame `end` passes every vertex of those between."""
    low, high = frames[start].astype(np.float64), frames[end].astype(np.float64)
    between = np.arange(start + 1, end)
    # The middle is where a line fails most often.
    order = np.concatenate([between[len(between) // 2 :][:1], between])
    shares = (times[order] - times[start]) / (times[end] - times[start])
    sizes = [slice(0, 1), *chunks(len(order), frames[0].size)]
    for part in sizes:
        line = (low + shares[part, None, None] * (high - low)).astype(np.float32)
        away = line.astype(np.float64) - frames[order[part]]
        if away.size and np.einsum("nvc,nvc->nv", away, away).max() > bound * bound:
            return False
    return True


class Sampled(Protocol):
    """A vertex animation, as far as errors are measured."""

    def sample(self, time: Array, *, loop: Loop) -> tuple[Floats, Floats]: ...


def frame_errors(times: Array, frames: Floats, animation: Sampled) -> tuple[Array, Array]:
    """(N,) largest and (N,) mean square distance of an animation's vertices from those of frames at times."""
    largest, square = np.empty(len(frames)), np.empty(len(frames))
    for part in chunks(len(frames), frames[0].size):
        points = animation.sample(times[part], loop="clamp")[0]
        away = points.astype(np.float64) - frames[part]
        distance = np.einsum("nvc,nvc->nv", away, away)
        largest[part], square[part] = np.sqrt(distance.max(axis=1)), distance.mean(axis=1)
    return largest, square
