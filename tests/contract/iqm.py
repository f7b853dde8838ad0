"""Inter-Quake Model, after iqm.txt of its development kit (version 2)."""

from collections.abc import Callable
from typing import Any

import iqm_writer as iqm
import numpy as np
from iqm_writer import REST, STRIP, strip, turned

import skinpy

from . import Case

TITLE = "Inter-Quake Model"
Check = Callable[[Any], None]


def one(
    played: Check | None = None, *codes: str, refused: str = "", images: bool = False, **more: Any
) -> Case:
    texture = skinpy.character().materials[0].texture
    assert texture is not None
    beside = {"wood.png": bytes(texture.data)} if images else {}
    return Case({"a.iqm": strip(**more).bytes(), **beside}, played=played, codes=codes, refused=refused)


def with_array(kind: int, rows: Any, type: str = "<f4") -> dict[str, Any]:
    return {"arrays": [*strip().arrays, (kind, type, rows)]}


def has_joints(model: Any) -> None:
    assert model.skeleton.names == ("<IQMRoot>", "a", "b")
    assert np.allclose(model.skeleton.rest_global[2, :3, 3], (0, 2, 0), atol=1e-6)


def has_strip(model: Any) -> None:
    assert len(model.mesh.faces) == 4 and np.allclose(model.mesh.positions.max(axis=0), (1, 0, 4))


def bends(model: Any) -> None:
    rest, bent = (model.deform(pose, normals=False)[0] for pose in (model.pose(), model.pose(0, 0.5)))
    top = rest[:, 1] > 3
    assert np.allclose(bent[top][:, 1], 2 + rest[top][:, 0], atol=1e-4)


def has_clips(model: Any) -> None:
    assert [(clip.name, round(clip.duration, 6)) for clip in model.clips] == [("low", 0.2), ("high", 0.15)]


def has(name: str, want: Any) -> Check:
    def check(model: Any) -> None:
        assert np.allclose(getattr(model.mesh, name), want, atol=1e-6)

    return check


def has_texture(model: Any) -> None:
    assert model.materials[0].texture is not None and model.materials[0].name == "wood.png"


def two_clips() -> dict[str, Any]:
    return {"clips": [("low", 0, 3, 10.0), ("high", 2, 4, 20.0)]}


WRONG = {"arrays": [(iqm.POSITION, "<f4", STRIP), (iqm.BLEND_INDEX, "u1", [[7]] * 6)]}

CASES = {
    "joints": lambda: one(has_joints),
    "axes": lambda: one(has_strip, "axes_converted"),
    "meshes": lambda: one(has_strip),
    "a mesh without positions": lambda: one(
        None, "meshes_dropped", arrays=[], meshes=[("a", "", 0, 0, 0, 0)]
    ),
    "influences": lambda: one(bends),
    "influences of joints that do not exist": lambda: one(has_strip, "joint_index_out_of_range", **WRONG),
    "normals": lambda: one(
        has("normals", (0.6, 0, 0.8)), **with_array(iqm.NORMAL, np.tile([0.6, 0, 0.8], (6, 1)))
    ),
    "tangents": lambda: one(
        has("tangents", (1, 0, 0, -1)), **with_array(iqm.TANGENT, np.tile([1, 0, 0, -1], (6, 1)))
    ),
    "texture coordinates": lambda: one(
        has("uvs", (0.25, 0.75)), **with_array(iqm.TEXCOORD, np.tile([0.25, 0.75], (6, 1)))
    ),
    "colors": lambda: one(
        has("colors", (1, 0, 0.2, 1)), **with_array(iqm.COLOR, np.tile([255, 0, 51, 255], (6, 1)), "u1")
    ),
    "an array with too few numbers": lambda: one(
        has_strip, "attributes_dropped", **with_array(iqm.NORMAL, np.zeros((6, 2)))
    ),
    "the image of a mesh's material": lambda: one(
        has_texture, images=True, meshes=[("strip", "wood.png", 0, 6, 0, 4)]
    ),
    "an image that does not exist": lambda: one(
        has_strip, "textures_missing", meshes=[("strip", "gone.png", 0, 6, 0, 4)]
    ),
    "animations": lambda: one(has_clips, **two_clips()),
    "an animation of frames that do not exist": lambda: one(
        None, "channels_dropped", clips=[("far", 3, 9, 10.0)]
    ),
    "frames of no animation": lambda: one(None, "channels_dropped", clips=[]),
    "poses of other joints": lambda: one(None, "channels_dropped", pose_parents=(-1, -1)),
    "an animation without a rate": lambda: one(
        bends_at_25, "ticks_per_second_assumed", clips=[("turn", 0, 6, 0.0)]
    ),
    "versions other than 2": lambda: one(None, version=1, refused="version is 1; expected 2"),
}


def bends_at_25(model: Any) -> None:
    assert model.clips[0].duration == 0.2 and model.clips[0].ticks_per_second == 25
    assert turned(0) != REST
