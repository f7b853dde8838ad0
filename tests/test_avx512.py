"""The kernels compiled for AVX-512 against the same sources compiled for AVX2: the same bits.

No tolerance: each lane goes through the same operations in the same order. Skipped, and said so, where the
processor has no AVX-512 (or one that is older than Ice Lake and Zen 4)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import SIMD
from simd_cases import CASES
from test_deform import build, palette_of
from test_simd import LOOPS, ROTATIONS, crowd_of, is_there, pose_of, root_of, running, times_of

import skinpy

needs_avx512 = pytest.mark.skipif(
    not is_there("avx512"), reason="this processor or this build lacks AVX-512 (of Ice Lake or later)"
)


def same_bits(job: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    results = []
    for path in ("avx2", "avx512"):
        with running(path):
            result = job(*arguments, **options)
        results.append(result if isinstance(result, tuple) else (result,))
    for narrow, wide in zip(*results, strict=True):
        assert narrow.shape == wide.shape
        assert narrow.tobytes() == wide.tobytes()


@needs_avx512
@pytest.mark.parametrize("name", CASES)
def test_clips(name: str) -> None:
    case = CASES[name]()
    rng = np.random.default_rng(7)
    for number, clip in enumerate(case.clips):
        for count in (1, 2, 7, 29):
            times = times_of(rng, clip, count)
            times = np.asarray(times[0]) if count == 1 else times
            root = None if count == 1 else root_of(rng, count)
            how: dict[str, Any] = {"loop": LOOPS[(number + count) % 4], "rotation": ROTATIONS[count % 2]}
            for job in (case.model.palette, case.model.globals, case.model.joint_positions):
                same_bits(job, clip, times, root=root, **how)
            same_bits(pose_of, case.model, clip, times, **how)
            pose = case.model.pose(clip, times, **how)
            same_bits(pose.palette, affine=True)
            same_bits(pose.globals)


@needs_avx512
@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("name", CASES)
def test_crowds(name: str, k: int) -> None:
    case = CASES[name]()
    rng = np.random.default_rng(k)
    index, times, weights = crowd_of(rng, case, 37, k)
    same_bits(case.model.crowd_palette, case.clips, index, times, weights=weights, affine=k % 2 == 0)


@needs_avx512
@pytest.mark.parametrize("influences", [1, 2, 4, 7])
@pytest.mark.parametrize("shared", [False, True])
def test_skinning(influences: int, shared: bool) -> None:
    targets = {"t": np.full((1700, 3), 0.1)}
    model = build(5, 1700, influences, targets=targets, shared=shared)
    palette = palette_of("near", 11)
    same_bits(model.deform, palette)
    same_bits(model.deform, np.stack([palette, palette[::-1]]), morph_weights=np.array([[0.3], [0.0]]))
    with running("plain"):
        plain = model.deform(palette)[0]
    with running("avx512"):
        np.testing.assert_allclose(model.deform(palette)[0], plain, atol=1e-5)


@needs_avx512
def test_blends() -> None:
    case = CASES["two lines"]()
    poses = [case.model.pose(clip, np.linspace(0, 1, 9)) for clip in case.clips]

    def blended() -> tuple[Any, ...]:
        pose = skinpy.blend(poses, [0.3] * len(poses))
        return pose.translation, pose.rotation, pose.scale

    same_bits(blended)


@pytest.mark.parametrize("path", SIMD)
def test_less_may_be_asked_for(path: str) -> None:
    """By the environment, before skinpy is imported; more than there is gives the best there is."""
    best = [name for name in SIMD if is_there(name)]
    code = "import skinpy; print(skinpy.build_info()['simd'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SKINPY_SIMD": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == (path if path in best else best[-1])
