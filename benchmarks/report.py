"""The tables: one line per model while measuring, medians and worst cases at the end."""

from __future__ import annotations

from typing import Any

import numpy as np

# job: (what it is, what it is measured against)
JOBS = {
    "one pose": ("`model.palette(clip, t, out)`", "NumPy"),
    "clip at 60 Hz": ("`model.palette(clip, times, out)`, every frame of the clip", "NumPy"),
    "1,000 instances": ("`model.palette(clip, times, out)`, 1,000 times at random", "NumPy"),
    "deform": ("`model.deform(palette, out=...)`, positions and normals", "NumPy"),
    "controller": (
        "`advance(dt)` and `palette(out)` of a controller with three layers, one masked, one added",
        "four plain palettes",
    ),
    "load": ("`skinpy.load(path)`", "bare Assimp"),
}

#: Jobs whose figure is skinpy's time as a multiple of what it is measured against.
MULTIPLES = ("controller", "load")


def median(entry: dict[str, Any]) -> float:
    return float(np.median(entry["ratios"]))


def line(row: dict[str, Any]) -> str:
    parts = [f"{job} {shown(job, median(row[job]))}" for job in JOBS if job in row]
    return f"{row['model']:28} {row['joints']:4} joints {row['vertices']:8} vertices  " + ", ".join(parts)


def shown(job: str, ratio: float) -> str:
    """NumPy: how many times faster skinpy is. Multiples: skinpy's time over the other's."""
    return f"{1 / ratio:.2f}x" if job in MULTIPLES else f"{ratio:.1f}x"


def span(job: str, quartiles: tuple[float, float]) -> str:
    low, high = sorted(quartiles, reverse=job in MULTIPLES)
    return f"{shown(job, low)} to {shown(job, high)}"


def summary(rows: list[dict[str, Any]], job: str) -> dict[str, Any] | None:
    """Median, quartiles over models, and the worst model with its own quartiles over rounds."""
    having = [r for r in rows if job in r]
    if not having:
        return None
    medians = np.array([median(r[job]) for r in having])
    worst = having[int(medians.argmin())]
    spread = np.quantile(worst[job]["ratios"], (0.25, 0.75))
    low, high = np.quantile(medians, (0.25, 0.75))
    return {
        "count": len(having),
        "median": float(np.median(medians)),
        "quartiles": (float(low), float(high)),
        "worst": float(medians.min()),
        "worst model": worst["model"],
        "worst spread": (float(spread[0]), float(spread[1])),
    }


def table(results: dict[str, Any]) -> str:
    lines = [
        "| job | models | against | median | quartiles of models | worst model (quartiles of its rounds) |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for job, (_, rival) in JOBS.items():
        for origin in ("generated", "real"):
            s = summary([r for r in results["rows"] if r["origin"] == origin], job)
            if s:
                cells = [job, f"{s['count']} {origin}", rival, shown(job, s["median"])]
                cells += [span(job, s["quartiles"])]
                cells += [f"{shown(job, s['worst'])} {s['worst model']} ({span(job, s['worst spread'])})"]
                lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(results: dict[str, Any]) -> str:
    m = results["machine"]
    jobs = "\n".join(f"- **{job}**: {what}, against {rival}." for job, (what, rival) in JOBS.items())
    return f"""# Benchmarks

Made by `python -m benchmarks` on {results["date"]}; the figures are those of one machine:
{m["processor"]}, {m["system"]}, Python {m["python"]}, NumPy {m["numpy"]}, Assimp {m["assimp"]},
skinpy {m["skinpy"]}. One thread on both sides; load average at the end {m["busy"]}.

Both sides run in turn in one process, so that whatever slows the machine slows both; each pair of runs gives
one ratio. A model's figure is the median of its rounds. For the four jobs against NumPy the figure says how
many times faster skinpy is; for `controller` and `load` it is skinpy's time as a multiple of the other's,
which is to stay below 1 and 1.25.

{jobs}

{table(results)}

{fixed_cost(results["rows"])}

What the rivals are:

- NumPy: `benchmarks/numpy_side.py`. Channels with equal key times are interpolated together, the hierarchy
  goes by levels, matrices are 3x4 and float32, and the faster of two forms of each product is picked for
  every model. Before anything is timed both sides are checked to give the same vertices.
- Bare Assimp: `aiImportFile` with `aiProcess_Triangulate` from the same shared library, and the scene freed.
  Skinpy's time holds that and its own work: reading what Assimp loses, checking, weights, one block.

The generated models have 8 to 200 joints and 500 to 1,000,000 vertices, shared and separate key times, and
step, linear, cubic and constant channels (`tests/builders.py`); the same seeds give the same files.

## Every model

{every_model(results["rows"])}

Times are medians in microseconds; ratios as above.
"""


def fixed_cost(rows: list[dict[str, Any]]) -> str:
    """What a load costs beside Assimp's work, from the files that Assimp reads in under a millisecond."""
    small = [r["load"] for r in rows if "load" in r and r["load"]["baseline"] < 1e-3]
    if not small:
        return ""
    extra = 1e6 * float(np.median([e["seconds"] - e["baseline"] for e in small]))
    return (
        f"In the {len(small)} files that Assimp reads in under a millisecond a load takes {extra:.0f} us\n"
        "more than Assimp's (median): opening, checking and the Python objects. It does not grow with\n"
        "the file, so it is the ratio of small files that it raises."
    )


def every_model(rows: list[dict[str, Any]]) -> str:
    head = "| model | joints | vertices | " + " | ".join(JOBS) + " |"
    lines = [head, "| --- " * (3 + len(JOBS)) + "|"]
    for row in rows:
        cells = [
            f"{1e6 * row[job]['seconds']:,.1f} ({shown(job, median(row[job]))})" if job in row else ""
            for job in JOBS
        ]
        lines.append(
            f"| {row['model']} | {row['joints']} | {row['vertices']:,} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)
