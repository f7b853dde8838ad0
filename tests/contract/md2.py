"""Quake II's MD2."""

import struct
from typing import Any

import import_cases as cases
import numpy as np

from . import Case
from ._files import has_texture, image

TITLE = "Quake II"


def with_skins(*names: str) -> bytes:
    """The skins' names, in 64 bytes each, stand between header and texture coordinates."""
    file = cases.md2(frames=1)
    header = list(struct.unpack("<4s10i6i", file[:68]))
    header[5] = len(names)
    header[12:] = [place + 64 * len(names) for place in header[12:]]
    skins = b"".join(name.encode().ljust(64, b"\0") for name in names)
    return struct.pack("<4s10i6i", *header) + skins + file[68:]


def has_triangle(model: Any) -> None:
    """Quake's z is up, and its faces turn the other way."""
    assert len(model.mesh.faces) == 1 and model.up == "+Y"
    assert np.allclose(np.sort(np.ptp(model.deform(model.pose())[0], axis=0)), (0, 1, 1), atol=1e-5)


def has_uvs(model: Any) -> None:
    assert np.allclose(np.ptp(model.mesh.uvs, axis=0), 1 / 16, atol=1e-5)


CASES = {
    "vertices and triangles of a frame": lambda: Case({"a.md2": cases.md2(frames=1)}, has_triangle),
    "texture coordinates": lambda: Case({"a.md2": cases.md2(frames=1)}, has_uvs),
    "a skin": lambda: Case({"a.md2": with_skins("wood.png"), "wood.png": image()}, has_texture),
    "further skins": lambda: Case(
        {"a.md2": with_skins("wood.png", "steel.png"), "wood.png": image()}, codes=("looks_ignored",)
    ),
    "further frames": lambda: Case({"a.md2": cases.md2()}, codes=("morph_targets_dropped",)),
    "a frame that is asked for (`frame=2`)": lambda: Case(
        {"a.md2": cases.md2()}, has_triangle, options={"frame": 2}
    ),
}
