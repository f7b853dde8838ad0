"""Models of every kind that viewers show, small, and what plays in each."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from builders import Gltf

import skinpy

Shown = tuple[skinpy.Model, Any, dict[str, Any]]
"""A model, what plays, and further arguments of `Stage`."""


_character = cache(skinpy.character)


def skeleton_alone() -> Shown:
    """Joints that move, without a mesh."""
    file = Gltf()
    root = file.node("root")
    tip = file.node("tip", root, t=(0.0, 1.0, 0.0))
    file.node("end", tip, t=(0.0, 1.0, 0.0))
    times = [0.0, 1.0]
    file.animation("swing", file.channel(tip, "translation", times, [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]))
    return skinpy.load(file.glb(), format="glb"), "swing", {}


def still_skeleton() -> Shown:
    """Joints alone, without mesh and clip."""
    file = Gltf()
    file.node("tip", file.node("root"), t=(0.0, 1.0, 0.0))
    return skinpy.load(file.glb(), format="glb"), None, {}


def _square(**more: Any) -> skinpy.Model:
    positions = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float)
    values: dict[str, Any] = {
        "positions": positions,
        "faces": [[0, 1, 2], [0, 2, 3]],
        "joints": np.zeros((4, 1), int),
        "weights": np.ones((4, 1)),
    }
    return skinpy.Model.from_arrays(["root", "unused"], [-1, 0], np.stack([np.eye(4)] * 2), **(values | more))


def morphs_alone() -> Shown:
    """A mesh that morph targets move, and no clip."""
    up = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0]], float)
    return _square(targets={"up": up}), None, {}


def no_skin() -> Shown:
    """A mesh to which no joint gives any weight of its own but the root, and no clip."""
    return _square(), None, {}


def vertex_animation() -> Shown:
    """Stored frames of vertices, which have no joints."""
    model = _character()
    return model, model.bake_vertices("walk", 10), {}


def moved_textures() -> Shown:
    """A clip under moved texture coordinates."""
    return _character(), "walk", {"uv": skinpy.UVAnimation(scroll=(0.3, 0.1)), "floor": True}


def controlled() -> Shown:
    """A controller with two layers."""
    model = _character()
    controller = skinpy.AnimationController(model)
    controller.play("walk")
    controller.play("wave", layer="arm", mask=skinpy.Mask.below("Chest"))
    return model, None, {"controller": controller}


def layered() -> Shown:
    """A clip with a second clip over it."""
    from skinpy.view import Layer

    return _character(), "walk", {"layer": Layer("wave", 0.7, mask="Chest")}


def added() -> Shown:
    """A clip to which the motion of a second one is added."""
    from skinpy.view import Layer

    return _character(), "run", {"layer": Layer("wave", additive=True)}


def long_names() -> skinpy.Model:
    """Joints in a row, each with a long name, and three vertices with weights of 8 joints each."""
    count = 40
    rest = np.stack([np.eye(4)] * count)
    rest[1:, 1, 3] = 0.05
    rng = np.random.default_rng(5)
    return skinpy.Model.from_arrays(
        [f"{number} {'Metacarpophalangeal' * 3}" for number in range(count)],
        np.arange(count) - 1,
        rest,
        positions=np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0]], float),
        faces=[[0, 1, 2]],
        joints=np.stack([rng.permutation(count)[:8] for _ in range(3)]),
        weights=np.full((3, 8), 1 / 8),
    )


KINDS: dict[str, Callable[[], Shown]] = {
    "skinned": lambda: (_character(), "walk", {}),
    "rigid": lambda: (skinpy.crane(), 0, {}),
    "one joint": lambda: (skinpy.chair(), 0, {}),
    "no mesh": skeleton_alone,
    "no mesh, no clip": still_skeleton,
    "no clip": no_skin,
    "morph targets": morphs_alone,
    "vertex animation": vertex_animation,
    "moved textures": moved_textures,
    "controller": controlled,
    "layer": layered,
    "additive layer": added,
}
