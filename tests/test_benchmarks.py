"""The benchmarks compare equal work: the NumPy version computes what skinpy does; the tables read well."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
from conftest import ROOT, needs_checkout

import skinpy

needs_checkout()
sys.path.insert(0, str(ROOT))

from benchmarks import (  # noqa: E402
    assimp_side,
    baked,
    instructions,
    measure,
    models,
    numpy_side,
    peers,
    report,
    three_side,
)


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


@pytest.fixture(scope="module")
def mixed() -> Any:
    """Step, linear, cubic and constant channels with times of their own."""
    return skinpy.load(builders.random_model(40, joints=30, vertices=500, clips=3).glb(), format="glb")


def crowd_of(model: Any) -> tuple[Any, Any, Any]:
    """Clips, times and weights (5, 3), each on its own."""
    rng = np.random.default_rng(3)
    weights = rng.uniform(0.1, 1, (5, 3))
    weights /= weights.sum(1, keepdims=True)
    return rng.integers(0, 3, (5, 3)), rng.uniform(0, 9, (5, 3)), weights.astype(np.float32)


def blended(model: Any, clips: Any, times: Any, weights: Any) -> Any:
    """What the weighted sum of the clips' poses makes, with signs against the rest rotation.

    Of three rotations skinpy.blend finds another mean, which takes more work.
    """
    palettes = []
    for clip, time, share in zip(clips, times, weights, strict=True):
        poses = [model.pose(int(c), t) for c, t in zip(clip, time, strict=True)]
        away = [(pose.rotation * model.skeleton.rotation).sum(-1, keepdims=True) < 0 for pose in poses]
        pose = model.pose()
        pose.translation = sum(w * one.translation for w, one in zip(share, poses, strict=True))
        pose.scale = sum(w * one.scale for w, one in zip(share, poses, strict=True))
        turns = sum(
            w * np.where(far, -one.rotation, one.rotation)
            for w, one, far in zip(share, poses, away, strict=True)
        )
        pose.rotation = turns / np.linalg.norm(turns, axis=-1, keepdims=True)
        palettes.append(pose.palette(affine=True))
    return np.array(palettes)


def test_the_numpy_version_blends(mixed: Any) -> None:
    crowd = crowd_of(mixed)
    got = numpy_side.NumpyModel(mixed).crowd(*crowd)
    assert np.abs(got - blended(mixed, *crowd)).max() <= 1e-5


@pytest.mark.extras
def test_the_numba_version_is_right(mixed: Any) -> None:
    numba_side = pytest.importorskip("benchmarks.numba_side", reason="numba is missing", exc_type=ImportError)
    rival = numba_side.NumbaModel(mixed)
    for clip in (0, 1):
        times = np.linspace(-1, 3, 17) * mixed.clips[clip].duration
        want = mixed.palette(clip, times, affine=True)
        assert np.abs(rival.palette(clip, times, np.empty_like(want)) - want).max() <= 1e-5
        assert np.abs(rival.pose(clip, float(times[5]), np.empty_like(want[0])) - want[5]).max() <= 1e-5
        for got, wanted in zip(rival.deform(want[3]), mixed.deform(want[3]), strict=True):
            assert np.median(np.abs(got - wanted)) <= 1e-6
    crowd = crowd_of(mixed)
    want = blended(mixed, *crowd)
    assert np.abs(rival.crowd(*crowd, np.empty_like(want)) - want).max() <= 1e-5


@pytest.mark.extras
@pytest.mark.parametrize("exact", [False, True])
def test_the_usd_version_is_right(mixed: Any, exact: bool) -> None:
    usd_side = pytest.importorskip("benchmarks.usd_side", reason="usd-core is missing", exc_type=ImportError)
    model = skinpy.load(builders.chain(9).glb(), format="glb") if exact else mixed
    film = baked.bake(model, model.clips[0])
    assert film.exact == exact
    rival = usd_side.UsdModel(model, film)
    # a baked clip is right at its frames, one with its own keys between them too
    time = 0.6 * film.times[5] + 0.4 * film.times[6] if exact else float(film.times[5])
    want = model.palette(0, time, affine=True)
    # UsdSkel keeps scales as half floats
    assert np.abs(rival.palette(time) - want).max() <= 1e-3 * np.abs(want).max()
    points = np.array(rival.deform(rival.transforms(time)))
    assert np.abs(points - model.deform(want)[0]).max() <= 1e-3 * np.abs(points).max()


def test_the_momentum_version_is_right(mixed: Any) -> None:
    reason = "pymomentum-cpu is missing"
    side = pytest.importorskip("benchmarks.momentum_side", reason=reason, exc_type=ImportError)
    rival, pose = side.MomentumModel(mixed), mixed.pose(0, np.linspace(0, 2, 7))
    pose.scale = np.ones_like(pose.scale)
    states = rival.globals(rival.parameters(pose))
    assert np.abs(states[..., :3] - pose.globals(affine=True)[..., 3]).max() <= 1e-5
    palette = pose.palette(affine=True)[3]
    points = rival.deform(rival.matrices(palette))
    assert np.abs(points - mixed.deform(palette)[0]).max() <= 1e-5


@pytest.mark.extras
@pytest.mark.skipif(bool(three_side.missing()), reason=three_side.missing() or "three.js is here")
def test_the_three_version_is_right(mixed: Any) -> None:
    times = baked.film_times(mixed.clips[0])
    frames = [0, len(times) // 2, len(times) - 1]
    seconds, got = three_side.play(mixed, mixed.clips[0], frames, 0.01)
    want = mixed.palette(0, times[frames], affine=True)
    assert seconds > 0 and np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


def test_files_that_differ_in_their_time_lines_alone() -> None:
    shared, copies, parts = (
        skinpy.load(data, format="glb").clips[0] for data in models.line_triplet(3, joints=12)
    )
    assert len(shared.channels) == len(copies.channels) == len(parts.channels)
    for one, other, part in zip(shared.channels, copies.channels, parts.channels, strict=True):
        assert np.array_equal(one.times, other.times) and np.array_equal(one.values, other.values)
        rows = np.searchsorted(one.times, part.times)
        assert np.array_equal(one.values[rows], part.values)
    assert len({c.times.tobytes() for c in shared.channels}) == 2  # the common line, and constants
    assert len({c.times.tobytes() for c in parts.channels}) > 5


def test_assimps_keys_are_counted(tmp_path: Path) -> None:
    """A chain of 3 joints with 9 rotation keys each: beside them Assimp holds a key for place and size."""
    path = tmp_path / "chain.glb"
    path.write_bytes(builders.chain(3).glb())
    (keys,) = assimp_side.Assimp().keys(path)
    assert keys.bytes == 3 * (9 * 32 + 2 * 24) and (keys.tracks, keys.constant, keys.repeated) == (9, 6, 0)


def test_repeated_keys_are_those_of_constant_tracks(tmp_path: Path) -> None:
    """The walking man: of his 38 translations and scales only those of every fifth joint move."""
    path = tmp_path / "man.glb"
    path.write_bytes(models.walking_man().glb())
    keys = assimp_side.Assimp().keys(path)[0]
    moving = len(range(0, len(models.PARENTS), 5))
    assert keys.constant == 2 * (len(models.PARENTS) - moving)
    assert keys.repeated == keys.constant * models.KEYS * 24


def test_a_missing_peer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setitem(sys.modules, "pxr", None)
    monkeypatch.setitem(sys.modules, "pymomentum", None)
    for name in ("numba_side", "usd_side", "momentum_side"):
        monkeypatch.delitem(sys.modules, f"benchmarks.{name}", raising=False)
    monkeypatch.setattr(three_side, "FOLDER", "")
    found = peers.find()
    assert {"numba", "UsdSkel", "three.js", "Momentum"} == set(found.missing)
    assert all(found.missing.values()) and set(found.versions) == {"NumPy"}


def test_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    switched: list[str] = []
    clock = [0.0]
    monkeypatch.setattr(measure.time, "perf_counter", lambda: clock[0])

    def lasting(seconds: float) -> Any:
        def work() -> None:
            clock[0] += seconds

        return work

    pair = measure.alternate(
        lasting(1e-6),
        lasting(8e-6),
        sample=1e-4,
        rounds=5,
        before=(lambda: switched.append("ours"), lambda: switched.append("theirs")),
    )
    assert len(pair.ratios) == 5 and pair.ratios == pytest.approx([8.0] * 5)
    assert (pair.median, *pair.quartiles) == pytest.approx((8.0, 8.0, 8.0))
    assert (pair.ours, pair.theirs) == pytest.approx((1e-6, 8e-6))
    assert switched[2:6] == ["ours", "theirs", "theirs", "ours"]  # after one each to find the counts
    assert pair.entry()["rounds"] == 5 and pair.entry()["ratios"][2] == pytest.approx(pair.median, rel=1e-3)


def results_of(**pairs: Any) -> dict[str, Any]:
    """Results of one model with these jobs."""
    facts = {"peak bytes": 3 << 20, "Assimp's peak bytes": 2 << 20}
    counts = {"joints": 20, "slots": 19, "vertices": 4, "influences": 4.0}
    row = {"model": "a.glb", "origin": "real", **counts, "pairs": pairs, "facts": facts}
    row["notes"] = {"UsdSkel": "differs by 0.3"}
    about = ["processor", "system", "python", "assimp", "skinpy", "simd", "busy"]
    return {
        "machine": {**dict.fromkeys(about, "?"), "gigahertz": 3.0},
        "versions": {"NumPy": "2"},
        "missing": {"numba": "no module of this name"},
        "date": "today",
        "minutes": 1.0,
        "instructions": {"key": "gcc", "counts": {"one line: batch, a joint": 80.0}},
        "rows": [row],
        "lines": [],
    }


def entry_of(ratio: float, seconds: float = 2e-4) -> dict[str, Any]:
    return {"ratios": [ratio] * 5, "rounds": 5, "seconds": seconds, "baseline": ratio * seconds}


def test_the_page_says_what_held_and_what_did_not() -> None:
    pose = {"NumPy": entry_of(120.0, 0.5e-6), "UsdSkel": entry_of(6.0, 0.5e-6)}
    results = results_of(load={"Assimp": entry_of(0.5)}, **{"one pose": pose})
    table, page = report.table(results), report.page(results)
    start = "| one pose into `out`, called from Python, "
    assert start + "against NumPy | 100x |  | 120.0x | 120.0x to 120.0x | 120.0x (a.glb) | yes |" in table
    assert start + "19 to 22 joints | at most 0.6 us |  | 0.5 us |" in table
    assert start + "against usd-core | 8x |  | 6.0x | 6.0x to 6.0x | 6.0x (a.glb) | **no** |" in table
    load = "| load in this process, against bare Assimp | at most 1.25x |  | "
    assert load + "2.00x | 2.00x to 2.00x | 2.00x (a.glb) | **no** |" in table
    assert "| load, peak memory against Assimp's | at most 1.3x |  | 1.50x |" in table
    assert start + "against numba | 4x |  | not measured |  |  | numba is missing |" in table
    results["rows"][0]["model"] = report.ALIKE
    table = report.table(results)
    assert "against NumPy | 100x | 120.0x | 120.0x | 120.0x to 120.0x |" in table
    assert "against usd-core | 8x | **6.0x** | 6.0x |" in table
    assert "against usd-core: 8x was promised; missed in 1 of 1, median 6.0x, worst 6.0x in a.glb." in page
    assert "- numba is missing: no module of this name." in page
    assert "- UsdSkel is left out of a.glb: differs by 0.3." in page
    assert "instructions a joint | 62 to 100 |  | 80 | 80 to 80 | 80 (gcc) | yes |" in table
    assert "| a.glb | 20 | 4 | 0.5 (120.0x, -, 6.0x, -) |" in page


def test_skinning_is_told_in_cycles() -> None:
    results = results_of(deform={"NumPy": entry_of(20.0)})
    results["rows"][0]["vertices"] = 3000
    results["rows"][0]["facts"]["cycles a vertex"] = 7.4
    row = "| CPU skinning, 4 influences | under 2.9 ns a vertex at 3.7 GHz |  | 2 ns |"
    assert row in report.table(results)


def test_models_are_converted_to_other_formats(tmp_path: Path) -> None:
    """Each holds the mesh; of some models, none of them too large."""
    paths = [tmp_path / f"{name}-9j-{count}v.glb" for name, count in (("a", 90), ("b", 60_000), ("c", 80))]
    paths += [tmp_path / f"{name}-9j-{count}v.glb" for name, count in (("d", 120), ("e", 100))]
    for seed, path in enumerate(paths):
        path.write_bytes(builders.random_model(seed, joints=9, vertices=120).glb())
    made = list(models.converted(tmp_path, paths, assimp_side.Assimp()))
    assert {path.name for path in made} == {f"d-9j-120v{ending}" for ending in models.KINDS.values()}
    faces = len(skinpy.load(paths[3]).mesh.faces)
    for path in made:
        assert len(skinpy.load(path).mesh.faces) == faces, path.name


def test_what_isolation_adds_is_judged_by_size() -> None:
    results = results_of()

    def row(model: str, size: int, seconds: float, baseline: float) -> dict[str, Any]:
        pair = {"ratios": [0.5] * 5, "rounds": 5, "seconds": seconds, "baseline": baseline}
        return {
            "model": model,
            "pairs": {"isolated load": {"in this process": pair}},
            "facts": {"file bytes": size},
        }

    results["formats"] = [
        row("tiny.obj", 9, 1.0, 0.1),  # of files below 50 kB nothing is promised
        row("small.obj", 60_000, 0.017, 0.006),
        row("large.obj", 5_000_000, 0.0495, 0.030),
    ]
    table, promise = report.table(results), "at most 10 ms more | "
    assert f"to 200 kB | {promise} | 11 ms | 11 ms to 11 ms | 11 ms (small.obj) | **no** |" in table
    assert f"above 200 kB | {promise} | 9.5 ms | 9.5 ms to 9.5 ms | 9.5 ms (large.obj) | yes |" in table


def test_counts_that_grow_are_found() -> None:
    known = {"pose": 100.0, "deform": 50.0}
    assert instructions.grown({"pose": 102.0, "deform": 40.0}, known) == []
    (sentence,) = instructions.grown({"pose": 104.0, "deform": 50.0}, known)
    assert sentence == "pose: 104.0 instructions, 4.0 % more than the recorded 100.0"
    assert instructions.grown({"load": 1.0}, known) == ["load: 1.0 instructions, and nothing is recorded"]


@pytest.mark.ci
def test_no_job_takes_more_instructions_than_recorded() -> None:
    """Steady where times are not. After a change that is meant: python -m benchmarks.instructions --update"""
    try:
        key, counts = instructions.count_all()
    except instructions.NothingToCountWith as reason:
        pytest.skip(f"instruction counts: {reason}")
    record = json.loads(instructions.RECORD.read_text())
    if key not in record:
        pytest.skip(f"instruction counts: none are recorded for {key}, only for {'; '.join(record)}")
    assert instructions.grown(counts, record[key]) == []
