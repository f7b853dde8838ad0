"""How the shared data's FBX files are judged by what ufbx computes for them (fbx/README.md of the data).

Every file has an .npz of the same name: where its nodes and control points are at rest and at some times of
every clip. Errors are parts of the model's size; errors of the 3x3 part of a matrix are parts of the largest
entry of the true one, or of 1 where that is larger.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import skinpy

ON_KEY, BETWEEN = 1e-4, 1e-3  # the data's tolerance; `rest` counts as a key
UNSCALED = "/unscaled"
CHUNK = 256  # points whose nearest neighbors are searched at once

Array = npt.NDArray[Any]


def joints_by_path(skeleton: Any) -> dict[str, int]:
    """The joint of each node's path: names below the root, joined by "/".

    Where a node keeps its scale from children, it is two joints, NAME/unscaled above NAME. The path of both
    is that of the node, and the lower one, which has the whole transform, stands for it.
    """
    paths: list[str] = []
    found: dict[str, int] = {}
    names, parents = skeleton.names, skeleton.parents
    for joint, (name, parent) in enumerate(zip(names, parents, strict=True)):
        if parent < 0:
            paths.append("")
            continue
        above, upper = paths[parent], name.endswith(UNSCALED)
        is_lower = names[parent] == name + UNSCALED
        paths.append(above if is_lower else f"{above}/{name.removesuffix(UNSCALED)}".lstrip("/"))
        if not upper:
            found.setdefault(paths[joint], joint)
    return found


def one_way(got: Array, want: Array) -> Array:
    """(T,): how far the points of `want` (T, n, 3) are from those of `got` (T, m, 3) that go the same way.

    Which point goes the same way as another is decided over all times at once, as the data's README does.
    """
    rows, wanted = (x.transpose(1, 0, 2).reshape(x.shape[1], -1) for x in (got, want))
    near = [
        ((rows[None] - wanted[first : first + CHUNK, None]) ** 2).sum(axis=2).argmin(axis=1)
        for first in range(0, len(wanted), CHUNK)
    ]
    distance: Array = np.linalg.norm(want - got[:, np.concatenate(near)], axis=2).max(axis=1)
    return distance


def point_error(got: Array, want: Array) -> Array:
    """(T,): the distance of two sets of moving points."""
    error: Array = np.maximum(one_way(got, want), one_way(want, got))
    return error


class FbxTruth:
    """One .npz, its file, and the model that skinpy makes of the file."""

    def __init__(self, values: Path, file: Path) -> None:
        self.name = values.stem
        with np.load(values) as z:
            self.values = {key: z[key] for key in z.files}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", skinpy.SkinpyWarning)
            self.model = skinpy.load(file, max_influences=8)
        self.size = float(self.values["size"])
        self.nodes = self.texts("node")
        self.joints = joints_by_path(self.model.skeleton)

    def texts(self, key: str) -> list[str]:
        return [str(text) for text in self.values.get(key, ())]

    @property
    def clips(self) -> list[str]:
        return self.texts("clip")

    @property
    def meshes(self) -> int:
        return len(self.values["mesh_node"])

    def tolerance(self, clip: int) -> Array:
        limit: Array = np.where(self.values[f"c{clip}_on_key"], ON_KEY, BETWEEN)
        return limit

    def times(self, clip: int) -> Array:
        seconds: Array = self.values[f"c{clip}_clip_time"].astype(np.float64)
        return seconds

    def matrix_error(self, got: Array, want: Array) -> Array:
        """Of matrices (..., 3, 4)."""
        off = np.abs(got - want)
        unit = np.maximum(1.0, np.abs(want[..., :3]).max(axis=(-1, -2)))
        error: Array = np.maximum(
            off[..., 3].max(axis=-1) / self.size, off[..., :3].max(axis=(-1, -2)) / unit
        )
        return error

    def global_error(self, globals_: Array, prefix: str) -> Array:
        """(T, N): of all joints' globals (T, J, 4, 4). With its geometric transform a node is right, too."""
        got = globals_[:, [self.joints[node] for node in self.nodes], :3]
        error = self.matrix_error(got, self.values[f"{prefix}globals"].reshape(got.shape))
        for k, node in enumerate(self.texts("geo_node")):
            if node in self.nodes:
                i = self.nodes.index(node)
                want = self.values[f"{prefix}geo_globals"].reshape(len(got), -1, 3, 4)[:, k]
                error[:, i] = np.minimum(error[:, i], self.matrix_error(got[:, i], want))
        return np.asarray(error)

    def rest_global_error(self) -> float:
        if not self.nodes:
            return 0.0
        return float(self.global_error(self.model.globals(None, 0.0)[None], "rest_").max())

    def rest_point_error(self) -> float:
        if not self.meshes:
            return 0.0
        want = np.concatenate([self.values[f"rest_points{i}"] for i in range(self.meshes)]).astype(np.float64)
        return float(point_error(self.points(None, [0.0]), want[None]).max()) / self.size

    def points(self, clip: Any, times: Any) -> Array:
        """(T, n, 3): positions of all vertices."""
        poses = [
            self.model.pose() if clip is None else self.model.pose(clip, time, loop="clamp") for time in times
        ]
        return np.stack([self.model.deform(pose, normals=False)[0] for pose in poses]).astype(np.float64)

    def clip_global_error(self, clip: int) -> Array:
        """(T,)"""
        times = self.times(clip)
        if not self.nodes:
            return np.zeros(len(times))
        error: Array = self.global_error(self.model.globals(clip, times, loop="clamp"), f"c{clip}_").max(
            axis=1
        )
        return error

    def clip_point_error(self, clip: int) -> Array:
        """(T,)"""
        times = self.times(clip)
        if not self.meshes:
            return np.zeros(len(times))
        want = np.concatenate([self.values[f"c{clip}_points{i}"] for i in range(self.meshes)], axis=1)
        return point_error(self.points(clip, times), want.astype(np.float64)) / self.size

    def plain_channels(self) -> list[tuple[int, int]]:
        """(number of the channel, number of the target) of channels whose weight is that of a target."""
        names = [target.name for target in self.model.targets]
        plain = self.values["channel_plain"]
        return [(i, names.index(name)) for i, name in enumerate(self.texts("channel")) if plain[i]]
