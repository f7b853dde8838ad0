"""What is measured: 20 models of the tests' seeded generator, and the real files where they stand."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import builders  # noqa: E402
from twin import Rig  # noqa: E402

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


#: One more, like the walking man that benchmarks of skinning use: 19 joints, 3,273 vertices, one time line.
ALIKE = "alike-19j-3273v"


def generated(folder: Path, count: int = 20, largest: int = 1_000_000) -> Iterator[Path]:
    """Writes the seeded models: joints from 8 to 200, vertices from 500 to `largest`, evenly in logarithm."""
    path = folder / f"{ALIKE}.glb"
    alike = builders.random_model(7, joints=19, vertices=3273, shared_times=True, kinds=("linear",), clips=3)
    path.write_bytes(alike.glb())
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
