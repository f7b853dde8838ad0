"""What is measured: 20 models of the tests' seeded generator, and the real files where they stand."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import builders  # noqa: E402
from twin import Rig  # noqa: E402

from .assimp_side import Assimp  # noqa: E402

DATA = Path(os.environ.get("SKINPY_DATA") or ROOT.parent / "shared" / "data")
REAL = (
    "Fox.glb",
    "RiggedFigure.glb",
    "SimpleSkin.gltf",
    "BoxAnimated.glb",
    "interpolation_test.gltf",
    "AnimatedMorphCube.gltf",
    "RiggedFigure.dae",
    "box_nested_animation.dae",
    "huesitos.fbx",
    "maya_game_sausage.fbx",
    "maya_blend_shape_cube.fbx",
    "RiggedFigure.md5mesh",
    "BCN_Epileptic.X",
)

#: Other formats, by Assimp's names of them, and how their files' names end.
KINDS = {
    "fbx": ".fbx",
    "fbxa": "-text.fbx",
    "collada": ".dae",
    "x": ".x",
    "3ds": ".3ds",
    "obj": ".obj",
    "ply": ".ply",
    "stl": ".stl",
}

#: One more, like the walking man that benchmarks of skinning use: 19 joints, 3,273 vertices.
ALIKE = "alike-19j-3273v"
#: His joints: the number of the parent in this list, None for the first.
PARENTS = (None, 0, 1, 2, 3, 2, 5, 6, 2, 8, 9, 0, 11, 12, 13, 0, 15, 16, 17)
KEYS = 48  # of each of his channels, all at the same times


def generated(folder: Path, count: int = 20, largest: int = 1_000_000) -> Iterator[Path]:
    """Writes the seeded models: joints from 8 to 200, vertices from 500 to `largest`, evenly in logarithm."""
    path = folder / f"{ALIKE}.glb"
    path.write_bytes(walking_man().glb())
    yield path
    joints = np.geomspace(8, 200, count).round().astype(int)
    vertices = np.geomspace(500, largest, count).round().astype(int)
    # neither grows with the other: a fixed shuffle of the vertex counts
    vertices = np.random.default_rng(0).permutation(vertices)
    for seed, (j, v) in enumerate(zip(joints, vertices, strict=True)):
        path = folder / f"seed{seed:02d}-{j}j-{v}v.glb"
        file = builders.random_model(
            seed, joints=int(j), vertices=int(v), shared_times=bool(seed % 2), clips=3
        )
        path.write_bytes(file.glb())
        yield path


def converted(folder: Path, paths: list[Path], assimp: Assimp) -> Iterator[Path]:
    """Some of the models of at most 50,000 vertices as other formats, which Assimp writes."""
    small = [path for path in paths if int(path.stem.rsplit("-", 1)[1][:-1]) <= 50_000]  # ...-500v
    for path in small[2::3]:
        for kind, ending in KINDS.items():
            to = folder / f"{path.stem}{ending}"
            assimp.export(path, kind, to)
            if kind == "collada":  # of several clips Assimp does not read what it wrote
                text, animations = to.read_text(), r"<library_animations>.*</library_animations>"
                to.write_text(re.sub(animations, "", text, flags=re.S))
            yield to


def walking_man() -> builders.Gltf:
    """Torso, head, arms, legs, a body around them and three clips. As in RiggedFigure, which was exported
    likewise, each joint has channels of all three kinds; here every rotation swings and the hips move. The
    other translations and scales are the same throughout, but for noise of rounding in a fifth of them."""
    rng = np.random.default_rng(7)
    file, nodes = builders.Gltf(), list[int]()
    for joint, parent in enumerate(PARENTS):
        offset = (0, 0.15, 0) + rng.normal(size=3) * 0.03
        turn = builders.quaternions(rng, 1, 0.5)[0]
        nodes.append(file.node(f"j{joint}", None if parent is None else nodes[parent], t=offset, r=turn))
    positions, index, weight = _body(rng, builders.rest_globals(file)[nodes, :3, 3], 3273)
    normals = rng.normal(size=(3273, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    faces = np.arange(3271)[:, None] + (0, 1, 2)
    part = file.primitive(positions, faces, normals=normals, joints=index, weights=weight)
    file.node("body", mesh=file.mesh(part), skin=file.skin(nodes, builders.bind(file, nodes)))
    for clip in range(3):
        file.animation(f"clip {clip}", *_walk(file, rng, nodes))
    return file


def _body(rng: np.random.Generator, joints: Any, count: int) -> tuple[Any, Any, Any]:
    """Positions, joints and weights of vertices around the joints, one limb after the other. They follow the
    four nearest joints, the nearest most, as where a program bound them: so that many share their joints."""
    near = np.sort(rng.integers(len(joints), size=count))
    positions = joints[near] + rng.normal(size=(count, 3)) * 0.05
    distance = np.linalg.norm(positions[:, None] - joints, axis=2)
    index = np.argsort(distance, axis=1)[:, :4]
    weight = np.take_along_axis(distance, index, 1) ** -4.0
    return positions, index, weight / weight.sum(1, keepdims=True)


def _walk(file: builders.Gltf, rng: np.random.Generator, nodes: list[int]) -> Iterator[dict[str, Any]]:
    times = file.accessor(np.linspace(0, 2, KEYS))
    phases = np.linspace(0, 2 * np.pi, KEYS)
    for joint, node in enumerate(nodes):
        swing = 0.3 * np.sin(phases + rng.uniform(0, 6)) + rng.uniform(-0.2, 0.2)
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        rotations = np.column_stack([np.sin(swing)[:, None] * axis, np.cos(swing)])
        noise = rng.normal(size=(KEYS, 3)) * (1e-7 if joint % 5 == 0 else 0)
        bob = 0.02 * np.sin(2 * phases)[:, None] * (0, 1, 0) if joint == 0 else 0
        yield file.channel(node, "translation", times, file.nodes[node]["translation"] + noise + bob)
        yield file.channel(node, "rotation", times, rotations)
        yield file.channel(node, "scale", times, 1 + noise)


def real() -> list[Path]:
    """The shared test data that can be animated, or nothing where they are absent."""
    return [DATA / "models" / name for name in REAL if (DATA / "models" / name).exists()]


def rig_of(model: Any) -> Rig:
    """The float64 twin of the tests, for a loaded model."""
    return Rig.of(model)


def line_triplets(count: int) -> Iterator[tuple[str, tuple[bytes, bytes, bytes]]]:
    """`line_triplet` for joints from 8 to 200."""
    for seed, joints in enumerate(np.geomspace(8, 200, count).round().astype(int)):
        yield f"lines{seed:02d}-{joints}j", line_triplet(seed, int(joints))


def tiny() -> bytes:
    """A file to load before memory is measured, so that libraries are there."""
    return builders.chain(2).glb()


def line_triplet(seed: int, joints: int) -> tuple[bytes, bytes, bytes]:
    """Three files with one linear clip: one time line for all channels; a copy of it for every channel, as
    FBX and COLLADA have them; for every channel another part of it, as where an exporter thinned curves."""

    def file() -> builders.Gltf:
        kinds = ("linear", "linear", "linear", "constant")
        return builders.random_model(
            seed, joints=joints, vertices=500, shared_times=True, kinds=kinds, clips=1
        )

    copies, parts = file(), file()
    _split_lines(copies, None)
    _split_lines(parts, np.random.default_rng(seed))
    return file().glb(), copies.glb(), parts.glb()


def _split_lines(file: builders.Gltf, rng: np.random.Generator | None) -> None:
    """Gives every channel its own key times; with `rng` about half of its keys between the ends."""
    for sampler in file.animations[0]["samplers"]:
        times, values = (_floats_of(file, sampler[side]) for side in ("input", "output"))
        rows = np.arange(len(times))
        if rng is not None and len(times) > 2:
            inner = np.sort(rng.choice(rows[1:-1], max(1, (len(times) - 2) // 2), replace=False))
            rows = np.concatenate([rows[:1], inner, rows[-1:]])
        sampler["input"] = file.accessor(times[rows, 0])
        sampler["output"] = file.accessor(values[rows])


def _floats_of(file: builders.Gltf, accessor: int) -> Any:
    """(count, components) of an accessor that holds floats."""
    entry = file.accessors[accessor]
    view = file.views[entry["bufferView"]]
    data = file.blob[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
    return np.frombuffer(bytes(data), np.float32).reshape(entry["count"], -1)
