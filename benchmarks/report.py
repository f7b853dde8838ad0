"""The page: what was promised beside what was measured, then every model."""

from __future__ import annotations

from typing import Any

import numpy as np

from .models import ALIKE
from .targets import TARGETS, Target, Verdict, joint_time, judge, median_ratio, multiple

#: Jobs of the table of all models, and the rivals whose ratios stand in a cell.
JOBS = {
    "one pose": ("NumPy", "numba", "UsdSkel", "three.js"),
    "clip at 60 Hz": ("NumPy", "numba", "UsdSkel", "three.js"),
    "crowd of 1,000": ("NumPy", "numba", "copy"),
    "blend of 2": ("NumPy", "numba"),
    "blend of 3": ("NumPy", "numba"),
    "deform": ("NumPy", "numba", "UsdSkel", "Momentum"),
    "given poses": ("Momentum",),
    "controller": ("four plain palettes",),
    "load": ("Assimp",),
}
#: Rivals for which the figure is our time as a multiple of theirs.
MULTIPLES = ("copy", "copy of the result", "four plain palettes", "Assimp", "in order", "one line")


def line(row: dict[str, Any]) -> str:
    """One model on the screen while measuring."""
    parts = []
    for job, found in row["pairs"].items():
        ratios = ", ".join(f"{rival} {ratio(rival, entry)}" for rival, entry in found.items())
        parts.append(f"  {job:20} {1e6 * next(iter(found.values()))['seconds']:12,.2f} us  {ratios}")
    counts = f"{row['joints']} joints" + (f", {row['vertices']:,} vertices" if "vertices" in row else "")
    notes = [f"  {peer} left out: {why}" for peer, why in row.get("notes", {}).items()]
    return "\n".join([f"{row['model']}: {counts}", *parts, *notes])


def ratio(rival: str, entry: dict[str, Any]) -> str:
    value = median_ratio(entry)
    return f"{1 / value:.2f}x" if rival in MULTIPLES else f"{value:.1f}x"


def figure(target: Target, value: float) -> str:
    if target.unit != "x":
        return f"{value:.2g}{target.unit}" if value < 10 else f"{value:.0f}{target.unit}"
    return f"{value:.1f}x" if target.least else f"{value:.2f}x"


def table(results: dict[str, Any]) -> str:
    """The rows of the promise: median and worst model, and whether it held."""
    lines = ["| what | at least | walking man | median | quartiles | worst | held |", "| --- " * 7 + "|"]
    for target in TARGETS:
        verdict = judge(target, results)
        cells = [target.what, target.promise]
        if verdict is None:
            cells += ["", "not measured", "", "", missing(target, results)]
        else:
            worst, model = verdict.worst
            low, high = (figure(target, q) for q in verdict.quartiles)
            cells += [alike(verdict), figure(target, verdict.median), f"{low} to {high}"]
            cells += [f"{figure(target, worst)} ({model})", held(verdict)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def alike(verdict: Verdict) -> str:
    """The figure of the model that is like those of other benchmarks."""
    if ALIKE not in verdict.of:
        return ""
    value = verdict.of[ALIKE]
    said = figure(verdict.target, value)
    return said if verdict.target.holds(value) else f"**{said}**"


def missing(target: Target, results: dict[str, Any]) -> str:
    if target.needs in results["missing"]:
        return f"{target.needs} is missing"
    return "nothing here to measure it on"


def held(verdict: Verdict) -> str:
    if verdict.held == verdict.count:
        return f"yes, in all {verdict.count}" if verdict.count > 1 else "yes"
    if verdict.held == 0:
        return f"**no, in none of {verdict.count}**" if verdict.count > 1 else "**no**"
    return f"**in {verdict.held} of {verdict.count}**"


def misses(results: dict[str, Any]) -> str:
    """One sentence a row that did not hold everywhere."""
    lines = []
    for target in TARGETS:
        verdict = judge(target, results)
        if verdict is None:
            lines.append(f"- {target.what}: not measured, {missing(target, results)}.")
        elif verdict.held < verdict.count:
            short = verdict.count - verdict.held
            lines.append(
                f"- {target.what}: {target.promise} was promised; missed in {short} of {verdict.count}, "
                f"median {figure(target, verdict.median)}, worst {figure(target, verdict.worst[0])} "
                f"in {verdict.worst[1]}."
            )
    return "\n".join(lines) if lines else "None: every row held in every model."


def page(results: dict[str, Any]) -> str:
    m = results["machine"]
    return f"""# Benchmarks

Made by `python -m benchmarks` on {results["date"]} in {results["minutes"]:.1f} minutes,
on one machine:
{m["processor"]} ({clock(m)}), {m["system"]}, Python {m["python"]},
skinpy {m["skinpy"]} ({m["simd"]}), Assimp {m["assimp"]}, {versions(results)}.
One thread on all sides but where two are named; load average at the end {m["busy"]}.

## What was promised, and what was measured

Both sides of a ratio run in turn in one process, so that whatever slows the machine slows both; each round of
the two gives one ratio, and a model's figure is the median of its rounds. The table shows the figure of the
model that is like the walking man of other benchmarks (19 joints, 3,273 vertices; bold where it missed), and
the median, the quartiles and the worst of all models' figures. "50x" says that skinpy is 50 times faster;
where the row says "at most", it is skinpy's time (or memory) as a multiple of the other's.

{table(results)}

Missed or not measured:

{misses(results)}

{external(results)}

{harsher(results)}

{absent(results)}

## What is measured

- **one pose**: `model.palette(clip, t, out)`. **clip at 60 Hz**: every frame of a clip in one call.
  **crowd of 1,000**: `model.palette(clip, times, out)`, 1,000 times at random. **blend of 2, of 3**:
  `model.crowd_palette`, 1,000 instances with clips, times and weights of their own. NumPy and numba sum
  quaternions with signs, which is less work than the mean rotation that skinpy finds for three.
- **random times**: a batch of 1,000 times at random against the same times in order; single poses at random
  against single poses frame after frame.
- **time lines**: one linear clip three times: with one time line for all channels, with a copy of it for
  every channel, and with half of the inner keys, chosen at random, for every channel. Skinpy against skinpy.
- **deform**: `model.deform(palette, out=...)`, positions and normals; UsdSkel gives positions alone.
  **1M vertices**: against `np.copyto` that moves the same bytes: half of what deform reads (positions,
  normals, slots, weights) and writes, as a copy reads and writes each byte.
  The row in nanoseconds is in cycles, counted by a chain of operations of known length that runs in turn with
  it, over 3.7 GHz.
- **2 threads**: against one, by `skinpy.set_num_threads`; the threads, which are kept, were made before.
- **controller**: `advance(dt)` and `palette(out)` of three layers, one masked, one added, against
  `model.palette` at four times on the plain path: three samples, and one more for hierarchy and blending.
- **load**: `skinpy.load(path, isolate=False)` against bare Assimp, `aiImportFile` with
  `aiProcess_Triangulate` and the scene freed. **isolated load**: `skinpy.load(path)`, which imports in a
  process of its own by default, against `skinpy.load(path, isolate=False)`; both free the model. Its files
  are all models, and a third of the generated ones with at most 50,000 vertices in other formats, as Assimp
  writes them: FBX, binary and text, COLLADA (without its animations, which of several clips Assimp does not
  read), X, 3DS, OBJ, PLY, STL. **peak memory**: the highest resident memory over what it was before, when
  free memory had been given back, each load in a new process; judged from a megabyte on, below which pages
  decide.
- **clip memory**: `clip.nbytes + clip.compiled_nbytes` against the `aiVectorKey`s (24 bytes) and
  `aiQuatKey`s (32 bytes) that Assimp holds for the same clip; tracks whose keys are equal are "constant". In
  most generated models constant tracks have one key, so that nearly all of Assimp's bytes are keys that move:
  those take half of them as float32 already, before their times and whatever is compiled.
- **instructions**: counted by callgrind (`python -m benchmarks.instructions`).

The rivals are checked before they are timed: their palettes and vertices agree with skinpy's to 1e-5 of the
largest number, UsdSkel's to 1e-3, as it keeps scales as half floats.

- NumPy (`benchmarks/numpy_side.py`): channels with equal key times together, the hierarchy by levels, float32
  3x4 matrices, and the faster of two forms of each product picked for every model.
- numba (`benchmarks/numba_side.py`): compiled loops, a key found once a time line, three flat arrays,
  fastmath, which was the faster, one thread, compiled beforehand.
- UsdSkel (`benchmarks/usd_side.py`): kept queries; a linear clip has its own keys, one with step or cubic
  channels is baked at 60 frames a second, as exporters do, and asked at these frames.
- Momentum (`benchmarks/momentum_side.py`): it plays no keys, so **given poses** is the global states of 1,000
  poses that are there, with scales of 1, against `pose.globals(out)`; skinning gives positions alone.
- three.js (`benchmarks/three_side.mjs`): mixer, world matrices and bone matrices, with the clip's own keys
  but for cubic channels, which are baked; **in a process of its own**: its ratio is one of two medians, and
  no pairs.

The generated models have 8 to 200 joints and 500 to 1,000,000 vertices, shared and separate key times, and
step, linear, cubic and constant channels (`tests/builders.py`); the same seeds give the same files. One more
is built like the walking man of other benchmarks: torso, head, arms and legs of 19 joints, 3,273 vertices,
and clips of 57 linear channels with 48 keys each, most of whose translations and scales stay the same. His
vertices stand around his joints, a limb after the other, and follow the four nearest ones, so that many share
their four, as in meshes that a program bound to a skeleton; those of the generated models follow joints that
are drawn for each vertex alone, of which skinning can share few.

## Every model

{every_model(results)}

Medians in microseconds; behind them, in this order, {order()}.
Of `copy`, the four plain palettes and Assimp it is skinpy's time as a multiple. The JSON,
`benchmarks/results.json`, has the quartiles of every pair.

{time_lines(results)}

{counted(results)}
"""


def clock(machine: dict[str, Any]) -> str:
    gigahertz = machine["gigahertz"]
    return f"{gigahertz:.1f} GHz when measured" if gigahertz else "clock not measured"


def versions(results: dict[str, Any]) -> str:
    return ", ".join(f"{peer} {version}" for peer, version in results["versions"].items())


def absent(results: dict[str, Any]) -> str:
    """Peers that are missing, and models that a peer was left out of."""
    lines = [f"- {peer} is missing: {why}." for peer, why in results["missing"].items()]
    for row in results["rows"]:
        lines += [f"- {peer} is left out of {row['model']}: {why}." for peer, why in row["notes"].items()]
    return "Peers that were not measured:\n\n" + "\n".join(lines) if lines else "No peer is missing."


def external(results: dict[str, Any]) -> str:
    found = [value for value, _ in joint_time(results)]
    if not found:
        return ""
    return (
        f"A joint of a crowd took {np.median(found):.1f} ns here (median; worst model {max(found):.1f}).\n"
        "An external figure, not measured here: 16 to 25 ns a joint for ozz-animation's AVX2 build, on\n"
        "another machine."
    )


def harsher(results: dict[str, Any]) -> str:
    """The other reading of "a plain copy of the same bytes"."""
    found = [value for value, _ in multiple("big deform", "copy of the result")(results)]
    if not found:
        return ""
    return (
        f"Of a copy of the result alone, 24 bytes a vertex, the skinning of 500,000 to 1M vertices takes\n"
        f"{np.median(found):.2f}x the time (median; worst {max(found):.2f}x)."
    )


def order() -> str:
    return "; ".join(f"{job}: {', '.join(rivals)}" for job, rivals in JOBS.items())


def every_model(results: dict[str, Any]) -> str:
    lines = ["| model | joints | vertices | " + " | ".join(JOBS) + " |", "| --- " * (3 + len(JOBS)) + "|"]
    for row in results["rows"]:
        cells = []
        for job, rivals in JOBS.items():
            found = row["pairs"].get(job, {})
            ratios = [ratio(rival, found[rival]) if rival in found else "-" for rival in rivals]
            first = next(iter(found.values()), None)
            cells.append(f"{1e6 * first['seconds']:,.1f} ({', '.join(ratios)})" if first else "")
        lines.append(
            f"| {row['model']} | {row['joints']} | {row['vertices']:,} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


def counted(results: dict[str, Any]) -> str:
    """The recorded instruction counts."""
    record = results["instructions"]
    if not record:
        return "No instruction counts are recorded for this compiler."
    lines = [f"| instructions, {record['key']} | count |", "| --- | --- |"]
    return "\n".join(lines + [f"| {name} | {count:.0f} |" for name, count in record["counts"].items()])


def time_lines(results: dict[str, Any]) -> str:
    """The models that differ in their time lines alone."""
    cases = ("copies: batch", "copies: one pose", "parts: batch", "parts: one pose")
    lines = ["| time lines | joints | " + " | ".join(cases) + " |", "| --- " * (2 + len(cases)) + "|"]
    for row in results["lines"]:
        cells = [ratio("one line", row["pairs"][case]["one line"]) for case in cases]
        lines.append(f"| {row['model']} | {row['joints']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
