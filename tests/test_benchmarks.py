"""The benchmarks compare equal work: the NumPy version computes what skinpy does; the tables read well."""

from __future__ import annotations

import sys
from pathlib import Path

import builders
import numpy as np
import pytest

import skinpy

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

measure = pytest.importorskip("benchmarks.measure")
numpy_side = pytest.importorskip("benchmarks.numpy_side")
report = pytest.importorskip("benchmarks.report")


@pytest.mark.parametrize("shared", [False, True])
def test_the_numpy_version_is_right(shared: bool) -> None:
    file = builders.random_model(40, joints=30, vertices=500, shared_times=shared)
    model = skinpy.load(file.glb(), format="glb")
    for clip in (0, 1):
        times = np.linspace(-1, 3, 17) * model.clips[clip].duration
        rival = numpy_side.NumpyModel(model).tune(times, clip)
        palettes = rival.palette(clip, times)
        assert np.abs(palettes - model.palette(clip, times, affine=True)).max() <= 1e-4
        ours, normals = model.deform(model.palette(clip, times[3]))
        theirs, turned = rival.deform(palettes[3])
        assert np.abs(ours - theirs).max() <= 1e-4
        assert np.median(np.abs(normals - turned)) <= 1e-5


def test_both_products_and_blends_agree() -> None:
    model = skinpy.load(builders.shear().glb(), format="glb")
    rival = numpy_side.NumpyModel(model)
    local = rival.local_matrices(0, np.array([0.3]))
    by_matmul, by_sums = (f(local, local) for f in (numpy_side.product_by_matmul, numpy_side.product_by_sums))
    assert np.abs(by_matmul - by_sums).max() <= 1e-6
    palette = rival.palette(0, np.array([0.3]))[0]
    assert np.abs(rival._blend_by_gather(palette) - rival._blend_by_product(palette)).max() <= 1e-5


def test_pairs_and_tables() -> None:
    pair = measure.alternate(lambda: sum(range(10)), lambda: sum(range(100)), sample=1e-4, rounds=5)
    assert len(pair.ratios) == 5 and pair.median > 1 and pair.quartiles[0] <= pair.median <= pair.quartiles[1]
    entry = {"ratios": [0.5, 0.4, 0.8], "seconds": 2e-4, "baseline": 1e-4}
    rows = [{"model": "a.glb", "origin": "real", "joints": 3, "vertices": 4, "load": entry}]
    about = ["processor", "system", "python", "numpy", "assimp", "skinpy", "busy"]
    results = {"machine": dict.fromkeys(about, "?")}
    results |= {"date": "today", "rows": rows}
    assert "| load | 1 real | bare Assimp | 2.00x |" in report.table(results)
    assert "a.glb" in report.page(results) and "takes 100 us" in report.page(results)
