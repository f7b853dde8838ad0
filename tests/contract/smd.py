"""Valve's SMD, as its compiler reads it."""

from typing import Any

import numpy as np

from . import Case
from ._files import CORNERS, has_corners, has_texture, image

TITLE = "SMD"
NODES = 'version 1\nnodes\n0 "root" -1\n1 "arm" 0\nend\n'


def skeleton(*heights: float) -> str:
    """Frames in which the arm is at these heights."""
    frames = "".join(f"time {i}\n0 0 0 0 0 0 0\n1 0 {y} 0 0 0 0\n" for i, y in enumerate(heights))
    return f"skeleton\n{frames}end\n"


def triangles(tail: str = "", material: str = "wood.png") -> str:
    rows = "".join(f"0 {x} {y} {z} 0.6 0 0.8 {x} {y}{tail}\n" for x, y, z in CORNERS)
    return f"triangles\n{material}\n{rows}end\n"


def one(*parts: str, **more: Any) -> Case:
    return Case({"a.smd": (NODES + "".join(parts)).encode(), "wood.png": image()}, **more)


def moves(model: Any) -> None:
    """A frame lasts 1/25 s."""
    arm = model.skeleton.index("arm")
    assert abs(model.globals(0, 0.02)[arm, 1, 3] - 1.5) < 1e-5


def follows(model: Any) -> None:
    assert np.allclose(model.deform(model.pose(0, 0.04))[0][:, 1], [0.5, 0.5, 1.5], atol=1e-5)


def has_normals(model: Any) -> None:
    assert np.allclose(model.mesh.normals, (0.6, 0, 0.8), atol=1e-6)
    assert {tuple(uv) for uv in model.mesh.uvs.tolist()} == {(0, 1), (1, 1), (0, 0)}


def twins() -> Case:
    file = NODES.replace('"arm"', '"root"') + skeleton(1, 2) + triangles(" 2 0 0.5 1 0.5")
    codes = ("duplicate_names", "ticks_per_second_assumed")
    return Case({"a.smd": file.encode(), "wood.png": image()}, follows, codes)


SHAPES = "vertexanimation\ntime 0\n0 0 0 0 0 0 1\n1 1 0 0 0 0 1\n2 0 1 0 0 0 1\nend\n"

CASES = {
    "triangles": lambda: one(skeleton(1), triangles(), played=has_corners),
    "normals and texture coordinates": lambda: one(skeleton(1), triangles(), played=has_normals),
    "the texture of a triangle": lambda: one(skeleton(1), triangles(), played=has_texture),
    "frames of the skeleton": lambda: one(skeleton(1, 2), codes=("ticks_per_second_assumed",), played=moves),
    "frames of vertices (`vertexanimation`)": lambda: one(
        skeleton(1), triangles(), SHAPES, codes=("morph_targets_dropped",)
    ),
    "weights": lambda: one(
        skeleton(1, 2), triangles(" 2 0 0.5 1 0.5"), codes=("ticks_per_second_assumed",), played=follows
    ),
    "joints of one name": twins,
}
