"""What any format may hold, each in a file of one of them."""

from collections.abc import Callable
from typing import Any

import builders
import import_cases as cases
import numpy as np
from builders import Gltf

from . import Case
from ._files import CORNERS

TITLE = "Any format"


STEPS = [[0, 0, 0], [2, 0, 0]]


def glb(file: Gltf, *codes: str, played: Any = None, **options: Any) -> Case:
    return Case({"a.glb": file.glb()}, played, codes, options=options)


def skinned(joints: Any, weights: Any) -> Gltf:
    """A triangle whose first vertex follows joints 0 and 1 as given; the others follow joint 0."""
    file = Gltf()
    both = [file.node("first"), file.node("second", t=(0, 0, 1))]
    rows = {"joints": [joints, [0] * 4, [0] * 4], "weights": [weights, [1, 0, 0, 0], [1, 0, 0, 0]]}
    normals = np.tile([0, 0, 1.0], (3, 1))
    primitive = file.primitive(CORNERS, [[0, 1, 2]], normals=normals, **rows)
    file.node("body", mesh=file.mesh(primitive), skin=file.skin(both, np.tile(np.eye(4), (2, 1, 1))))
    return file


def with_normals(normals: Any) -> Gltf:
    file = Gltf()
    file.node("n", mesh=file.mesh(file.primitive(CORNERS, [[0, 1, 2]], normals=normals)))
    return file


def colored(color: Any) -> Gltf:
    """A triangle whose material has the base color."""
    file = with_normals(np.tile([0, 0, 1.0], (3, 1)))
    file.materials.append({"pbrMetallicRoughness": {"baseColorFactor": color}})
    return file


def keyed(times: Any, values: Any, path: str = "translation", names: tuple[str, ...] = ("go",)) -> Gltf:
    file = Gltf()
    file.node("n")
    for name in names:
        file.animation(name, file.channel(0, path, times, values))
    return file


def twice() -> Gltf:
    file = Gltf()
    file.node("n")
    channel = file.channel(0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    file.animation("go", channel, channel)
    return file


def sheared() -> Gltf:
    file = Gltf()
    file.node("n", matrix=[[1, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    file.animation("go", file.channel(0, "translation", [0, 1], STEPS))
    return file


def first_at(z: float) -> Any:
    """Where the first vertex stands."""

    def check(model: Any) -> None:
        assert abs(model.deform(model.pose())[0][0, 2] - z) < 1e-6

    return check


def normals_point_up(model: Any) -> None:
    assert np.allclose(model.mesh.normals, (0, 0, 1), atol=1e-6)


def moves(model: Any) -> None:
    assert abs(model.globals(0, 0.5)[0, 0, 3] - 1) < 1e-6


def turns(model: Any) -> None:
    assert np.allclose(model.globals(0, 0.0)[0, :3, :3], np.diag([1, -1, -1]), atol=1e-6)


def is_still(model: Any) -> None:
    assert not model.clips[0].channels


def has_two_clips(model: Any) -> None:
    assert list(model.clips.names) == ["go", "go"]


def has_color(color: Any) -> Callable[[Any], None]:
    def check(model: Any) -> None:
        assert model.materials[0].base_color == color

    return check


def has_influences(count: int) -> Callable[[Any], None]:
    def check(model: Any) -> None:
        assert (model.mesh.weights > 0).sum(axis=1).max() == count

    return check


CASES = {
    "weights that do not sum to 1": lambda: glb(
        skinned([0, 1, 0, 0], [0.25, 0.25, 0, 0]), "weights_normalized", played=first_at(0.5)
    ),
    "negative weights": lambda: glb(
        skinned([0, 1, 0, 0], [1, -1, 0, 0]), "weights_repaired", played=first_at(0)
    ),
    "a joint listed twice for one vertex": lambda: glb(
        skinned([1, 1, 0, 0], [0.5, 0.5, 0, 0]), "influences_merged", played=first_at(1)
    ),
    "vertices without weights": lambda: glb(
        skinned([1, 0, 0, 0], [0, 0, 0, 0]), "vertices_unweighted", played=first_at(0)
    ),
    "more influences than `max_influences`": lambda: glb(
        builders.eight_influences(), "influences_dropped", played=has_influences(4)
    ),
    "up to eight influences (`max_influences=8`)": lambda: glb(
        builders.eight_influences(), played=has_influences(8), max_influences=8
    ),
    "meshes without normals": lambda: glb(with_normals(None), "normals_generated", played=normals_point_up),
    "normals and tangents of other lengths than 1": lambda: glb(
        with_normals(np.tile([0, 0, 3.0], (3, 1))), "normals_normalized", played=normals_point_up
    ),
    "factors of materials outside their range": lambda: glb(
        colored([2.0, -1.0, 0.5, 1.0]), "material_factors_clamped", played=has_color((1, 0, 0.5, 1))
    ),
    "rotations of other lengths than 1": lambda: glb(
        keyed([0, 1], [[2, 0, 0, 0], [2, 0, 0, 0]], "rotation"), "rotations_normalized", played=turns
    ),
    "keys out of order": lambda: glb(keyed([1, 0], STEPS[::-1]), "key_times_repaired", played=moves),
    "two channels for one property": lambda: glb(twice(), "channels_duplicate"),
    "several clips of one name": lambda: glb(
        keyed([0, 1], STEPS, names=("go", "go")), "duplicate_clip_names", played=has_two_clips
    ),
    "scale keys that are left out (`ignore_animated_scale=True`)": lambda: glb(
        keyed([0, 1], [[1, 1, 1], [2, 2, 2]], "scale"),
        "scale_channels_ignored",
        played=is_still,
        ignore_animated_scale=True,
    ),
    "shear of animated joints": lambda: glb(sheared(), "shear_lost"),
    "joints of a skin that are no nodes": lambda: Case(
        {"a.x": cases.x_file(skin=[("gone", (0, 1, 2), cases.x_matrix())])},
        first_at(-1),
        ("bones_without_node",),
    ),
    "files outside the model's folder": lambda: Case(
        {"a.obj": cases.obj(head="mtllib ../up.mtl\n")}, codes=("files_refused",)
    ),
    "textures that are not images by their first bytes": lambda: Case(
        {"a.dae": cases.dae_textured(""), "wood.png": b"#!/bin/sh\n"}, codes=("textures_not_images",)
    ),
}
