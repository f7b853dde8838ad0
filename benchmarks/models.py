"""What is measured: 20 models of the tests' seeded generator, and the real files where they stand."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import builders  # noqa: E402

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


def generated(folder: Path, count: int = 20, largest: int = 1_000_000) -> Iterator[Path]:
    """Writes the seeded models: joints from 8 to 200, vertices from 500 to `largest`, evenly in logarithm."""
    joints = np.geomspace(8, 200, count).round().astype(int)
    vertices = np.geomspace(500, largest, count).round().astype(int)
    # neither grows with the other: a fixed shuffle of the vertex counts
    vertices = np.random.default_rng(0).permutation(vertices)
    for seed, (j, v) in enumerate(zip(joints, vertices, strict=True)):
        path = folder / f"seed{seed:02d}-{j}j-{v}v.glb"
        file = builders.random_model(
            seed, joints=int(j), vertices=int(v), shared_times=bool(seed % 2), clips=1
        )
        path.write_bytes(file.glb())
        yield path


def real() -> list[Path]:
    """The shared test data that can be animated, or nothing where they are absent."""
    return [DATA / "models" / name for name in REAL if (DATA / "models" / name).exists()]
