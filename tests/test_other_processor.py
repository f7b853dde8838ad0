"""What this processor computes against what another one computed from the same bytes.

    python tests/test_other_processor.py FILE    saves what this processor computes

SKINPY_RESULTS names such a file. `sh quickstart.sh test-arm` saves one on this system and compares it under
qemu. A case, a model with clips, comes from the file, so that both processors begin with the same bits.

Tolerance: that of tests/test_simd.py, 1e-6 of max(size, largest distance from the origin), growing in
proportion for chains deeper than 64 joints (docs/conventions.md, Precision). The path that skinpy chooses,
such as AVX2 or NEON, and the plain path are compared.
"""

from __future__ import annotations

import os
import pickle
import sys
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
from crowd_twin import PRECISION
from simd_cases import CASES, Case
from test_simd import Judge, check_pose, crowd_of, pose_of, root_of, running, steady, times_of

import skinpy
from skinpy import _core, rotation

FILE = os.environ.get("SKINPY_RESULTS")
PATHS = ("usual", "plain")
#: Models that ship with skinpy: each processor imports them itself.
BUNDLED = ("character", "crane")
Results = dict[str, Any]


#: A case, what one processor computes for it on each path, and which instances of its crowd are steady.
Computed = tuple[Case, dict[str, Results], Any]


def pose_results(case: Case, given: Results | None = None) -> Results:
    """All that is computed of one clip and several, at the same times everywhere.

    Vertices come from the `given` palettes, if there are any, since joints that are nearly flat magnify what
    palettes differ by.
    """
    rng = np.random.default_rng(60)
    model, found = case.model, Results()
    for number, clip in enumerate(case.clips):
        times = times_of(rng, clip, 24)
        root = root_of(rng, len(times))
        found[f"globals {number}"] = model.globals(clip, times, root=root)
        found[f"palette {number}"] = palette = model.palette(clip, times, root=root)
        moved = model.deform(palette if given is None else given[f"palette {number}"])
        found[f"positions {number}"], found[f"normals {number}"] = moved
        found[f"pose {number}"] = pose_of(model, clip, times)
        found[f"unmoved globals {number}"] = model.globals(clip, times)
    poses = [model.pose(clip, np.linspace(0, clip.duration, 9)) for clip in case.clips]
    found["palette of blended"] = skinpy.blend(poses, np.linspace(0.3, 1.0, len(poses))).palette()
    index, times, weights = crowd_of(rng, case, 33, 3)
    found["palette of crowd"] = model.crowd_palette(case.clips, index, times, weights=weights)
    return found


def steady_crowd(case: Case) -> Any:
    """Which instances of the crowd have rotations that a last bit does not turn around."""
    rng = np.random.default_rng(60)
    for clip in case.clips:
        root_of(rng, len(times_of(rng, clip, 24)))
    return steady(case, *crowd_of(rng, case, 33, 3))


def on_path(path: str, case: Case, given: Results | None = None) -> Results:
    with running(_core._simd(None) if path == "usual" else path):
        return pose_results(case, given)


def compute(case: Case) -> Computed:
    results = {path: on_path(path, case) for path in PATHS}
    return case, results, steady_crowd(case)


def rotation_results() -> Results:
    rng = np.random.default_rng(61)
    q, p = builders.quaternions(rng, 2000), builders.quaternions(rng, 2000)
    return {
        "multiply": rotation.multiply(q, p),
        "slerp": rotation.slerp(q, p, rng.uniform(0, 1, 2000)),
        "to_matrix": rotation.to_matrix(q),
        "from_matrix": rotation.from_matrix(rotation.to_matrix(p)),
        "from_euler": rotation.from_euler("xyz", rng.uniform(-3, 3, (2000, 3))),
        "from_rotvec": rotation.from_rotvec(rng.uniform(-3, 3, (2000, 3))),
        "to_rotvec": rotation.to_rotvec(q),
    }


def import_results() -> Results:
    """Positions, inverse bind matrices and keys of models that are read on this processor."""
    found = Results()
    for name in BUNDLED:
        data = resources.files("skinpy").joinpath("data", f"{name}.glb").read_bytes()
        model = skinpy.load(data, format="glb", isolate=False)
        found[f"{name} positions"] = model.mesh.positions
        found[f"{name} inverse bind"] = model.skin.inverse_bind
        for clip in model.clips:
            for number, channel in enumerate(clip.channels):
                found[f"{name} {clip.name} {number} times"] = channel.times
                found[f"{name} {clip.name} {number} values"] = channel.values
    return found


def save(path: Path) -> None:
    cases = {name: compute(make()) for name, make in CASES.items()}
    path.write_bytes(pickle.dumps((cases, rotation_results(), import_results())))


@cache
def saved() -> tuple[dict[str, Computed], Results, Results]:
    if FILE is None:
        pytest.skip("SKINPY_RESULTS names no results of another processor")
    result: tuple[dict[str, Computed], Results, Results] = pickle.loads(Path(FILE).read_bytes())
    return result


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", CASES)
def test_poses(name: str, path: str) -> None:
    case, results, steady_ones = saved()[0][name]
    judge, want = Judge(case), results[path]
    got = on_path(path, case, want)
    assert got.keys() == want.keys()
    rest = judge.limit(case.model.globals())
    for what, there in want.items():
        *_, kind, number = what.split()
        here = got[what]
        if kind in ("globals", "palette"):
            judge.check(kind, here, there, judge.limit(want[what.replace("palette", "globals")]))
        elif kind == "pose":
            check_pose(here, there, judge.limit(want[f"unmoved globals {number}"]))
        elif kind == "positions":
            near(here, there, judge.growth)
        elif kind == "normals":
            flat = flatness(want[f"palette {number}"])
            assert (np.abs(here - there).max((-2, -1)) <= PRECISION * flat).all()
        else:
            clear = steady_ones if number == "crowd" else slice(None)
            judge.check("palette", here[clear], there[clear], rest)


def flatness(palette: Any) -> Any:
    """(...): what cofactors of float32 may magnify in a normal: s1 s1 / (s2 s3), of the worst slot.

    s are the singular values of a slot's 3x3 matrix, the largest first. A cofactor is a difference of
    products of at most s1 s1, and what it is multiplied with keeps at least the length s2 s3.
    """
    s = np.linalg.svd(palette[..., :3, :3].astype(np.float64), compute_uv=False)
    return (s[..., 0] ** 2 / (s[..., 1] * s[..., 2])).max(-1)


def near(here: Any, there: Any, growth: float) -> None:
    """Vertices of poses, judged by the size of the pose or its distance from the origin."""
    reach = np.maximum(np.ptp(there, axis=-2).max(-1), np.linalg.norm(there, axis=-1).max(-1))
    assert (np.abs(here - there).max((-2, -1)) <= PRECISION * growth * reach).all()


def test_rotations() -> None:
    """They are computed in float64."""
    here, there = rotation_results(), saved()[1]
    for name, want in there.items():
        np.testing.assert_allclose(here[name], want, rtol=0, atol=1e-6, err_msg=name)


def test_imported_models() -> None:
    here, there = import_results(), saved()[2]
    assert here.keys() == there.keys()
    for name, want in there.items():
        assert here[name].shape == want.shape
        np.testing.assert_allclose(here[name], want, rtol=PRECISION, atol=PRECISION, err_msg=name)


if __name__ == "__main__":
    save(Path(sys.argv[1]))
