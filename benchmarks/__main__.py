"""`python -m benchmarks`: measures everything, prints a table, writes JSON and docs/benchmarks.md.

python -m benchmarks                    all, about 8 minutes on two cores
python -m benchmarks --quick            5 smaller models, to see that it works; writes nothing
python -m benchmarks --table FILE.json  only the page of an earlier run

Peers come with `pip install skinpy-anim[benchmarks]`; three.js with node and SKINPY_NODE_MODULES.
"""

from __future__ import annotations

import os

# One thread on all sides. Before NumPy and usd-core are loaded.
for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "PXR_WORK_THREAD_LIMIT"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("TF_ENV_SETTING_ALERTS_ENABLED", "0")  # usd-core would print that one was set

import argparse  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from datetime import date  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import skinpy  # noqa: E402
from skinpy import _core  # noqa: E402

from . import instructions, jobs, models, peers, report  # noqa: E402
from .assimp_side import Assimp  # noqa: E402

HERE = Path(__file__).resolve().parent


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="skinpy against its peers")
    parser.add_argument(
        "--quick", action="store_true", help="5 models of at most 20,000 vertices; writes nothing"
    )
    parser.add_argument(
        "--table", type=Path, metavar="JSON", help="print and write the page of an earlier run"
    )
    options = parser.parse_args()
    results = json.loads(options.table.read_text()) if options.table else measure_all(options.quick)
    print(report.table(results))
    print(report.absent(results))
    if not options.quick:
        (HERE / "results.json").write_text(dump(results))
        (HERE.parent / "docs" / "benchmarks.md").write_text(report.page(results))


def measure_all(quick: bool) -> dict[str, Any]:
    if hasattr(skinpy, "set_num_threads"):
        skinpy.set_num_threads(1)
    start = time.perf_counter()
    assimp, here = Assimp(), peers.find()
    for peer, why in here.missing.items():
        print(f"{peer} is missing: {why}", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        folder = Path(name)
        tiny = folder / "tiny.glb"
        tiny.write_bytes(models.tiny())
        made = list(models.generated(folder, *((4, 20_000) if quick else ())))
        real = models.real()[: 3 if quick else None]
        for origin, paths in (("generated", made), ("real", real)):
            for path in paths:
                rows.append(jobs.measure_model(path, origin, here, assimp, tiny))
                print(report.line(rows[-1]), flush=True)
        formats = [jobs.measure_format(path) for path in models.converted(folder, made, assimp)]
        lines = jobs.measure_lines(models.line_triplets(2 if quick else 20))
    return {
        "machine": machine(assimp, here.gigahertz),
        "versions": here.versions,
        "missing": here.missing,
        "date": date.today().isoformat(),
        "minutes": (time.perf_counter() - start) / 60,
        "instructions": instructions.recorded(),
        "rows": rows,
        "lines": lines,
        "formats": formats,
    }


def dump(results: dict[str, Any]) -> str:
    """JSON with one model a line."""
    parts = []
    for key, value in results.items():
        text = json.dumps(value)
        if isinstance(value, list):
            text = "[\n" + ",\n".join(json.dumps(row) for row in value) + "\n]"
        parts.append(f"{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def machine(assimp: Assimp, gigahertz: float | None) -> dict[str, Any]:
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        fields = [line.split(":", 1) for line in info.read_text().splitlines() if ":" in line]
        names = [value.strip() for key, value in fields if key.strip() == "model name"]
        cpu = f"{names[0]}, {len(names)} cores seen" if names else cpu
    return {
        "processor": cpu,
        "gigahertz": gigahertz,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "assimp": assimp.version,
        "skinpy": skinpy.__version__,
        "simd": _core._simd(None),
        "busy": f"{os.getloadavg()[0]:.1f}",
    }


if __name__ == "__main__":
    main()
