"""Quake's MDL and Quake III's MD3, which are read where they are named."""

from typing import Any

import test_import_quake as quake

from . import Case
from ._files import image

TITLE = "Quake and Quake III"


def one(suffix: str, content: bytes, *codes: str, played: Any = None, **options: Any) -> Case:
    """With the image that a surface of MD3 names."""
    content = content.replace(b"red\0\0\0\0", b"red.png") if suffix == "md3" else content
    options |= {"allow_formats": (suffix,)}
    return Case({f"a.{suffix}": content, "red.png": image()}, played, codes, options=options)


def shows(frame: int) -> Any:
    def check(model: Any) -> None:
        assert quake.same(quake.shown(model), quake.FRAMES[frame])

    return check


def has_surfaces(model: Any) -> None:
    assert len(model.mesh.submeshes) == 3


def has_normals(model: Any) -> None:
    assert abs(abs(model.mesh.normals[:, 0]) - abs(model.mesh.normals[0, 0])).max() < 1e-5


STILL = quake.FRAMES[:1]

CASES = {
    "a frame of MDL (`frame=3`)": lambda: one("mdl", quake.mdl(), played=shows(3), frame=3),
    "a frame of MD3 (`frame=3`)": lambda: one("md3", quake.md3(), played=shows(3), frame=3),
    "further frames of MDL": lambda: one("mdl", quake.mdl(), "morph_targets_dropped"),
    "further frames of MD3": lambda: one("md3", quake.md3(), "morph_targets_dropped"),
    "frames of several poses (MDL)": lambda: one(
        "mdl", quake.mdl(STILL, group=3), "morph_targets_dropped", played=shows(0)
    ),
    "surfaces of MD3": lambda: one("md3", quake.md3(STILL, surfaces=3), played=has_surfaces),
    "normals of MD3": lambda: one("md3", quake.md3(STILL), played=has_normals),
    "a skin of several images (MDL)": lambda: one(
        "mdl", quake.mdl(STILL, images=2), "looks_ignored", played=shows(0)
    ),
}
