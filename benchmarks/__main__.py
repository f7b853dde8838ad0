"""`python -m benchmarks`: measures everything, prints a table, writes JSON and docs/benchmarks.md.

python -m benchmarks                    all, some minutes
python -m benchmarks --quick            8 smaller models, to see that it works
python -m benchmarks --table FILE.json  only the table of an earlier run
"""

from __future__ import annotations

import os

# One thread on both sides: skinpy's plain path has one, so NumPy's BLAS gets one too. Before NumPy is loaded.
for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import tempfile  # noqa: E402
import warnings  # noqa: E402
from datetime import date  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

import skinpy  # noqa: E402

from . import models, report  # noqa: E402
from .assimp_side import Assimp  # noqa: E402
from .measure import Pair, alternate  # noqa: E402
from .numpy_side import NumpyModel  # noqa: E402

HERE = Path(__file__).resolve().parent
INSTANCES = 1000


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="skinpy against NumPy and Assimp"
    )
    parser.add_argument(
        "--quick", action="store_true", help="8 models of at most 20,000 vertices; writes nothing"
    )
    parser.add_argument(
        "--table", type=Path, metavar="JSON", help="print and write the table of an earlier run"
    )
    options = parser.parse_args()
    results = json.loads(options.table.read_text()) if options.table else measure_all(options.quick)
    print(report.table(results))
    if not options.quick:
        (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")
        (HERE.parent / "docs" / "benchmarks.md").write_text(report.page(results))


def measure_all(quick: bool) -> dict[str, Any]:
    assimp = Assimp()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        made = models.generated(Path(folder), *((8, 20_000) if quick else ()))
        for origin, paths in (("generated", made), ("real", models.real())):
            for path in paths:
                found = measure_model(path, assimp)
                rows.append(
                    {"model": path.stem if origin == "generated" else path.name, "origin": origin, **found}
                )
                print(report.line(rows[-1]), flush=True)
    return {"machine": machine(assimp), "date": date.today().isoformat(), "rows": rows}


def measure_model(path: Path, assimp: Assimp) -> dict[str, Any]:
    model = skinpy.load(path)
    counts = {"joints": len(model.skeleton.names), "vertices": len(model.mesh.positions)}
    pairs = {"load": alternate(lambda: skinpy.load(path), lambda: assimp.load(path), rounds=25, budget=4)}
    if len(model.clips) and model.clips[0].channels and counts["vertices"]:
        pairs |= measure_poses(model)
    return {**counts, **{job: entry(pair) for job, pair in pairs.items()}}


def measure_poses(model: Any) -> dict[str, Pair]:
    clip, d = model.clips[0], model.clips[0].duration
    film = np.arange(0.0, max(d, 1 / 60), 1 / 60)
    crowd = np.random.default_rng(0).uniform(0, 10, INSTANCES)
    one = np.array([0.4 * d])
    slots = len(model.skin.joints)
    out = {n: np.empty((n, slots, 3, 4), np.float32) for n in (len(film), INSTANCES)}
    single = np.empty((slots, 3, 4), np.float32)
    rivals = {
        name: NumpyModel(model).tune(times)
        for name, times in (("one", one), ("film", film), ("crowd", crowd))
    }
    check(model, rivals["film"], film)
    points = (np.empty_like(model.mesh.positions), np.empty_like(model.mesh.positions))
    palette = model.palette(clip, float(one[0]), affine=True)
    return {
        "controller": measure_controller(model, single),
        "one pose": alternate(
            lambda: model.palette(clip, 0.4 * d, single), lambda: rivals["one"].palette(0, one)
        ),
        "clip at 60 Hz": alternate(
            lambda: model.palette(clip, film, out[len(film)]), lambda: rivals["film"].palette(0, film)
        ),
        "1,000 instances": alternate(
            lambda: model.palette(clip, crowd, out[INSTANCES]),
            lambda: rivals["crowd"].palette(0, crowd),
            rounds=9,
        ),
        "deform": alternate(
            lambda: model.deform(palette, out=points), lambda: rivals["one"].deform(palette), rounds=11
        ),
    }


def measure_controller(model: Any, out: Any) -> Pair:
    """Three layers against four plain palettes: three samples, and one more for hierarchy and blending."""
    clip, controller = model.clips[0], skinpy.AnimationController(model)
    half = np.linspace(0, 1, len(model.skeleton.names)) > 0.5
    controller.play(clip)
    controller.play(clip, layer="upper", mask=skinpy.Mask.array(half), speed=0.9)
    controller.play(clip, layer="added", additive=True, weight=0.5)

    def frame() -> None:
        controller.advance(1 / 60)
        controller.palette(out)

    def plain() -> None:
        for share in (0.2, 0.4, 0.6, 0.8):
            model.palette(clip, share * clip.duration, out)

    return alternate(frame, plain)


def check(model: Any, rival: NumpyModel, times: Any) -> None:
    """Both sides have to do the same work: their vertices agree to 1e-4 of the size."""
    times = times[:: max(1, len(times) // 4)]
    palettes = rival.palette(0, times)
    for got, want in zip(palettes, model.palette(0, times, affine=True), strict=True):
        ours, normals = model.deform(want)
        theirs, turned = rival.deform(got)
        size = float(np.ptp(ours, axis=0).max()) + float(np.abs(ours).max())
        if np.abs(ours - theirs).max() > 1e-4 * size or np.median(np.abs(normals - turned)) > 1e-3:
            raise RuntimeError("the NumPy version and skinpy do not compute the same")


def entry(pair: Pair) -> dict[str, Any]:
    digits = [float(f"{r:.4g}") for r in pair.ratios]
    return {"ratios": digits, "seconds": float(f"{pair.ours:.4g}"), "baseline": float(f"{pair.theirs:.4g}")}


def machine(assimp: Assimp) -> dict[str, str]:
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            x.split(":", 1)[1].strip() for x in info.read_text().splitlines() if x.startswith("model name")
        ]
        cpu = f"{names[0]}, {len(names)} cores seen" if names else cpu
    return {
        "processor": cpu,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "assimp": assimp.version,
        "skinpy": skinpy.__version__,
        "busy": f"{os.getloadavg()[0]:.1f}",
    }


if __name__ == "__main__":
    main()
