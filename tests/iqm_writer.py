"""Writes .iqm files, after iqm.txt of the Inter-Quake Model development kit (L. Salzman, version 2, 2011)."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = Any
POSITION, TEXCOORD, NORMAL, TANGENT, BLEND_INDEX, BLEND_WEIGHT, COLOR, CUSTOM = *range(7), 0x10
TYPES = ("i1", "u1", "<i2", "<u2", "<i4", "<u4", "<f2", "<f4", "<f8")
REST = (0, 0, 0, 0, 0, 0, 1, 1, 1, 1)  # translation, rotation x y z w, scale


@dataclass
class Iqm:
    """What is written: rows of the tables, in the order of the file.

    A vertex array is (type, numpy type, rows); a mesh (name, material, first vertex, vertices, first
    triangle, triangles); a joint (name, parent, ten numbers); a clip (name, first frame, frames, rate).
    `frames` has ten numbers for each joint in each frame, which are stored in 16 bits where they change.
    """

    arrays: list[tuple[int, str, Any]] = field(default_factory=list)
    meshes: list[tuple[Any, ...]] = field(default_factory=list)
    triangles: Any = ()
    joints: list[tuple[str, int, Sequence[float]]] = field(default_factory=list)
    frames: Any = ()
    clips: list[tuple[str, int, int, float]] = field(default_factory=list)
    version: int = 2
    pose_parents: Sequence[int] | None = None
    text: bytes = b"\0"

    def offset_of(self, name: str) -> int:
        at = len(self.text)
        self.text += name.encode() + b"\0"
        return at

    def poses(self) -> tuple[bytes, bytes, int]:
        """Poses, frames, and the numbers of a frame."""
        frames = np.asarray(self.frames, float)
        if not frames.size:
            return b"", b"", 0
        low, high = frames.min(axis=0), frames.max(axis=0)
        moving = high > low
        scale = np.where(moving, (high - low) / 65535, 0)
        table = b""
        for joint, (_, parent, _) in enumerate(self.joints):
            if self.pose_parents is not None:
                parent = self.pose_parents[joint]
            mask = sum(1 << channel for channel in range(10) if moving[joint, channel])
            table += struct.pack("<iI20f", parent, mask, *low[joint], *scale[joint])
        steps = np.round((frames - low) / np.where(moving, scale, 1))[:, moving]
        return table, steps.astype("<u2").tobytes(), int(moving.sum())

    def bytes(self) -> bytes:
        meshes = b"".join(
            struct.pack("<6I", self.offset_of(row[0]), self.offset_of(row[1]), *row[2:])
            for row in self.meshes
        )
        joints = b"".join(
            struct.pack("<Ii10f", self.offset_of(name), parent, *numbers)
            for name, parent, numbers in self.joints
        )
        anims = b"".join(
            struct.pack("<3IfI", self.offset_of(name), first, count, rate, 0)
            for name, first, count, rate in self.clips
        )
        poses, frames, channels = self.poses()
        triangles = np.asarray(self.triangles, "<u4").tobytes()
        data = [np.ascontiguousarray(rows, TYPES[TYPES.index(kind)]) for _, kind, rows in self.arrays]
        vertices = len(data[0]) if data else 0
        out, at = b"", 16 + 27 * 4

        def put(table: bytes) -> int:
            nonlocal out
            offset = at + len(out)
            out += table + bytes(-len(table) % 8)
            return offset

        at_text = put(self.text)
        at_meshes, at_triangles, at_joints = put(meshes), put(triangles), put(joints)
        at_poses, at_anims, at_frames = put(poses), put(anims), put(frames)
        offsets = [put(rows.tobytes()) for rows in data]
        arrays = b"".join(
            struct.pack("<5I", kind, 0, TYPES.index(type), rows.shape[1], offset)
            for (kind, type, _), rows, offset in zip(self.arrays, data, offsets, strict=True)
        )
        at_arrays = put(arrays)
        header = (
            *(self.version, at + len(out), 0, len(self.text), at_text, len(self.meshes), at_meshes),
            *(len(self.arrays), vertices, at_arrays, len(triangles) // 12, at_triangles, 0),
            *(len(self.joints), at_joints, len(poses) // 88, at_poses, len(self.clips), at_anims),
            *(len(np.asarray(self.frames)), channels, at_frames, 0, 0, 0, 0, 0),
        )
        return b"INTERQUAKEMODEL\0" + struct.pack("<27I", *header) + out


STRIP = np.array([(column, 0, row) for row in (0, 2, 4) for column in (0, 1)], float)
FACES = ((0, 2, 1), (1, 2, 3), (2, 4, 3), (3, 4, 5))


def turned(half: float) -> tuple[float, ...]:
    """Joint b, turned about y by twice the angle."""
    return (0, 0, 2, 0, -np.sin(half), 0, np.cos(half), 1, 1, 1)


def strip(**more: Any) -> Iqm:
    """Joint a at the origin, b 2 above it; in half a second b turns by 90 degrees about -y, from +z to -x."""
    weights = [[255, 0], [255, 0], [128, 127], [128, 127], [255, 0], [255, 0]]
    indices = [[0, 0], [0, 0], [0, 1], [0, 1], [1, 0], [1, 0]]
    frames = [[REST, turned(angle)] for angle in np.linspace(0, np.pi / 4, 6)]
    file = Iqm(
        arrays=[
            (POSITION, "<f4", STRIP),
            (BLEND_INDEX, "u1", indices),
            (BLEND_WEIGHT, "u1", weights),
        ],
        meshes=[("strip", "", 0, 6, 0, 4)],
        triangles=FACES,
        joints=[("a", -1, REST), ("b", 0, turned(0))],
        frames=frames,
        clips=[("turn", 0, 6, 10.0)],
    )
    for name, value in more.items():
        setattr(file, name, value)
    return file
