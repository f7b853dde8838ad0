"""The layers of ground truth: one function and one row in a table each.

The GPU finds the face at the center of each pixel, and computes the vertices. The rest is geometry in
float64: the ray through the center of the pixel meets the plane of the face at a point whose barycentric
coordinates interpolate all that the corners have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._arguments import brief
from ..scene.facets import Facets, Vertices
from .lens import Lens

_CHUNK = 1 << 16  # pixels that are computed together
_NO_JOINT = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Sight:
    """The faces that a picture shows: `codes` (h, w) uint32 as faces.frag writes them."""

    codes: NDArray[np.uint32]
    facets: Facets
    vertices: Vertices
    lens: Lens

    @cached_property
    def camera_points(self) -> NDArray[np.float64]:
        """The vertices in camera space, (V, 3)."""
        return self.lens.to_camera(self.vertices.positions)

    @cached_property
    def faces(self) -> NDArray[np.intp]:
        """The faces that are seen, (U,), in the order of drawing.

        A face usually has many pixels: what is the same in all of them is computed once for each of these.
        """
        seen = np.zeros(len(self.facets.faces), bool)
        seen[_face_of(self.codes[self.codes != 0])] = True
        return np.flatnonzero(seen)

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The index of each face, (F,), in `faces`."""
        rows = np.zeros(len(self.facets.faces), np.intp)
        rows[self.faces] = np.arange(len(self.faces))
        return rows

    @cached_property
    def sides(self) -> NDArray[np.float64]:
        """b x c, c x a and a x b of the corners a, b, c of the faces that are seen: (U, 3, 3)."""
        a, b, c = np.moveaxis(self.camera_points[self.facets.faces[self.faces]], 1, 0)
        return np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)

    @cached_property
    def followed(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The joints that each seen face follows, (U, W), and their weights at its corners, (U, 3, W).

        Joints are in ascending order. Unused entries are larger than all joints and have no weight.
        """
        corners = self.facets.faces[self.faces]
        joints = np.sort(self.facets.joints[corners].reshape(len(corners), -1), axis=1)
        joints[:, 1:][joints[:, 1:] == joints[:, :-1]] = _NO_JOINT
        joints.sort(axis=1)
        width = int((joints != _NO_JOINT).sum(axis=1).max(initial=1))
        joints = np.ascontiguousarray(joints[:, :width])
        weights = np.zeros((len(corners), 3, width), np.float32)
        for influence in range(self.facets.joints.shape[1]):
            own = self.facets.joints[corners, influence]
            same = joints[:, None, :] == own[:, :, None]
            weights += same * self.facets.weights[corners, influence][:, :, None]
        return joints, weights


@dataclass(frozen=True)
class Later:
    """The vertices (V, 3) of a sight at the time that its flow goes to, and the lens at that time."""

    positions: NDArray[np.float32]
    lens: Lens

    @cached_property
    def camera_points(self) -> NDArray[np.float64]:
        """The vertices in camera space, (V, 3)."""
        return self.lens.to_camera(self.positions)


class Hits:
    """Pixels (N,), counted by rows, that show a face, with the points of the face that they show."""

    def __init__(self, sight: Sight, pixels: NDArray[np.intp]) -> None:
        self.sight = sight
        self.pixels = pixels
        codes = sight.codes.reshape(-1)[pixels]
        self.face = _face_of(codes)  # (N,), in the order of drawing
        self.row = sight.rows[self.face]
        self.front = (codes & 1) == 0  # (N,): whether the front is seen
        self.corners = sight.facets.faces[self.face]  # (N, 3)

    @cached_property
    def barycentric(self) -> NDArray[np.float64]:
        """The barycentric coordinates of the points that are seen, (N, 3).

        The ray d meets the plane of a, b, c at coordinates in the ratio of d . (b x c), d . (c x a) and
        d . (a x b). The GPU rounds corners to a grid before it decides which pixels a face covers. Therefore
        a coordinate may be a little below 0: the point is then moved onto the edge.
        """
        rays = self.sight.lens.rays(self.pixels)
        ratio = np.einsum("ni,nki->nk", rays, self.sight.sides[self.row])
        total = ratio.sum(axis=1, keepdims=True)
        flat = np.abs(total) <= 1e-300  # a face that is seen exactly from its edge: take its middle
        coordinates = np.where(flat, 1 / 3, ratio / np.where(flat, 1.0, total))
        coordinates = np.maximum(coordinates, 0.0)
        inside: NDArray[np.float64] = coordinates / coordinates.sum(axis=1, keepdims=True)
        return inside

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """The points that are seen, in camera space, (N, 3)."""
        return self.blend(self.sight.camera_points)

    def blend(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Values of vertices, (V, C), interpolated at the points that are seen, (N, C)."""
        blended = np.empty((len(self.row), values.shape[1]))
        shares, corners = np.ascontiguousarray(self.barycentric.T), np.ascontiguousarray(self.corners.T)
        for column in range(values.shape[1]):  # one at a time takes a third of the time of a single einsum
            value = np.ascontiguousarray(values[:, column], np.float64)
            blended[:, column] = (shares * value[corners]).sum(axis=0)
        return blended

    def weights(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The joints that each point follows, and their weights, (N, W) each: see `Sight.followed`."""
        joints, weights = self.sight.followed
        blended: NDArray[np.float64] = np.einsum("nk,nkw->nw", self.barycentric, weights[self.row])
        return joints[self.row], blended


def _face_of(codes: NDArray[np.uint32]) -> NDArray[np.intp]:
    """The faces of codes other than 0."""
    return ((codes - 1) >> 1).astype(np.intp)


def _chunks(sight: Sight) -> Iterator[Hits]:
    seen = np.flatnonzero(sight.codes)
    for start in range(0, len(seen), _CHUNK):
        yield Hits(sight, seen[start : start + _CHUNK])


def _depth(hits: Hits, later: Later | None) -> NDArray[Any]:
    return hits.points[:, 2]


def _position(hits: Hits, later: Later | None) -> NDArray[Any]:
    return hits.blend(hits.sight.vertices.positions)


def _normal(hits: Hits, later: Later | None) -> NDArray[Any]:
    """The normal that lights the picture: of the side that is seen, or of the face if vertices have none."""
    normals = hits.blend(hits.sight.vertices.normals)
    normals[~hits.front] *= -1
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    bare = lengths[:, 0] < 1e-6
    if bare.any():
        a, b, c = np.moveaxis(hits.sight.camera_points[hits.corners[bare]], 1, 0)
        own = np.cross(b - a, c - a)
        own *= np.where(np.einsum("ni,ni->n", own, a) > 0, -1.0, 1.0)[:, None]  # towards the eye
        normals[bare] = own @ hits.sight.lens.extrinsics[:3, :3]
        lengths[bare] = np.linalg.norm(normals[bare], axis=1, keepdims=True)
    unit: NDArray[np.float64] = normals / np.maximum(lengths, 1e-300)
    return unit


def _joint(hits: Hits, later: Later | None) -> NDArray[Any]:
    joints, weights = hits.weights()
    return np.take_along_axis(joints, weights.argmax(axis=1)[:, None], axis=1)[:, 0]


def _uv(hits: Hits, later: Later | None) -> NDArray[Any]:
    return hits.blend(hits.sight.facets.uvs)


def _flow(hits: Hits, later: Later | None) -> NDArray[Any]:
    assert later is not None
    here = hits.sight.lens.to_pixels(hits.points)
    return later.lens.to_pixels(hits.blend(later.camera_points)) - here


def _face(hits: Hits, later: Later | None) -> NDArray[Any]:
    return hits.sight.facets.number[hits.face]


def _submesh(hits: Hits, later: Later | None) -> NDArray[Any]:
    return hits.sight.facets.submesh[hits.face]


def _material(hits: Hits, later: Later | None) -> NDArray[Any]:
    return hits.sight.facets.material[hits.face]


def _barycentric(hits: Hits, later: Later | None) -> NDArray[Any]:
    return hits.barycentric


class _Layer(NamedTuple):
    components: int  # 0 is a single number without an axis
    dtype: type[np.generic]
    background: float  # the value where no face is seen
    values: Callable[[Hits, Later | None], NDArray[Any]]


_LAYERS = {
    "depth": _Layer(0, np.float32, np.inf, _depth),
    "position": _Layer(3, np.float32, 0, _position),
    "normal": _Layer(3, np.float32, 0, _normal),
    "joint": _Layer(0, np.int32, -1, _joint),
    "submesh": _Layer(0, np.int32, -1, _submesh),
    "material": _Layer(0, np.int32, -1, _material),
    "face": _Layer(0, np.int32, -1, _face),
    "barycentric": _Layer(3, np.float32, 0, _barycentric),
    "uv": _Layer(2, np.float32, 0, _uv),
    "flow": _Layer(2, np.float32, 0, _flow),
}

AOVS = tuple(_LAYERS)


def check_aov(aov: str | Sequence[str]) -> tuple[str, ...]:
    """`aov` as a tuple of different names. Raises TypeError, or ValueError for an unknown name."""
    names = (aov,) if isinstance(aov, str) else aov
    try:
        names = tuple(dict.fromkeys(names))
    except TypeError:
        raise TypeError(f"aov is {brief(aov)}; expected a name or a sequence of names") from None
    for name in names:
        if name not in _LAYERS:
            raise ValueError(f"aov has {brief(name)}; expected some of {', '.join(map(repr, AOVS))}")
    return names


def draw_layers(names: Sequence[str], sight: Sight, later: Later | None) -> dict[str, NDArray[Any]]:
    """The layers of these names, (h, w) or (h, w, C) each. `later` is for "flow"."""
    result, flat = {}, {}
    for name in names:
        layer = _LAYERS[name]
        tail = (layer.components,) if layer.components else ()
        result[name] = np.full((*sight.codes.shape, *tail), layer.background, layer.dtype)
        flat[name] = result[name].reshape(-1, *tail)
    if names:
        for hits in _chunks(sight):
            for name in names:
                flat[name][hits.pixels] = _LAYERS[name].values(hits, later)
    return result
