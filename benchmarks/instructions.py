"""Instruction counts of the core's jobs: `python -m benchmarks.instructions [--update]`

Times shake, counts do not: callgrind counts what benchmarks/count.c runs, compiled as setup.py compiles the
core, on a block made from seeds. They are compared to benchmarks/instructions.json, which has an entry for
each compiler, C library and SIMD path, as counts depend on all three; a count may grow by TOLERANCE.
`--update` puts the counts of this machine there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RECORD = HERE / "instructions.json"
TOLERANCE = 0.03  # of a count: what another patch release of a compiler or library may change
COUNT = 256  # poses or instances

DEFORM, OPEN = "deform, a vertex", "open a block, a vertex"

#: What is counted: the job of count.c, and what its instructions are divided by.
JOBS = {
    "one pose, a joint": ("pose", "joints"),
    "batch, a joint": ("batch", "joints"),
    "crowd of blends of 2, a joint": ("crowd", "joints"),
    "sampled poses, a joint": ("sample", "joints"),
    "blend of 2 poses, a joint": ("blend", "joints"),
    DEFORM: ("deform", "vertices"),
    "compile a clip, a key": ("compile", "keys"),
    OPEN: ("open", "vertices"),
}
#: Of which model. The walking man's vertices share their slots, those of the others do not.
MODELS = {
    "one line": list(JOBS),
    "own lines": [what for what in JOBS if what not in (DEFORM, OPEN)],
    "walking man": [DEFORM],
}


class NothingToCountWith(Exception):
    """Valgrind or a compiler is missing here."""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.instructions", description="instruction counts"
    )
    parser.add_argument("--update", action="store_true", help="write the counts to instructions.json")
    options = parser.parse_args()
    try:
        key, counts = count_all()
    except NothingToCountWith as error:
        raise SystemExit(f"nothing was counted: {error}") from None
    record = json.loads(RECORD.read_text())
    known = record.get(key)
    print(key)
    for name, count in counts.items():
        before = f"  (recorded {known[name]:.1f})" if known and name in known else ""
        print(f"  {name:44} {count:10.1f}{before}")
    if options.update:
        record[key] = counts
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    elif known is None:
        raise SystemExit(f"no counts are recorded for {key}; --update records these")
    elif grown(counts, known):
        raise SystemExit("\n".join(grown(counts, known)))


def grown(counts: dict[str, float], known: dict[str, float]) -> list[str]:
    """One sentence for every count beyond its tolerance, or that is not recorded."""
    found = []
    for name, count in counts.items():
        if name not in known:
            found.append(f"{name}: {count:.1f} instructions, and nothing is recorded")
        elif count > known[name] * (1 + TOLERANCE):
            more = 100 * (count / known[name] - 1)
            found.append(
                f"{name}: {count:.1f} instructions, {more:.1f} % more than the recorded {known[name]:.1f}"
            )
    return found


def compiler_key(simd: str) -> str:
    """Such as "gcc 12, glibc 2.36, avx2"."""
    compiler = _compiler()
    major = _ask(compiler, "-dumpversion").strip().partition(".")[0]
    library = " ".join(platform.libc_ver()).strip() or "an unknown C library"
    return f"{Path(compiler).name} {major}, {library}, {simd}"


def recorded() -> dict[str, Any] | None:
    """The recorded counts of this compiler on the best path, for the page; None where there are none."""
    try:
        keys = [compiler_key(simd) for simd in ("avx2", "plain")]
    except NothingToCountWith:
        return None
    record = json.loads(RECORD.read_text())
    return next(({"key": key, "counts": record[key]} for key in keys if key in record), None)


def count_all() -> tuple[str, dict[str, float]]:
    """The key of the record, and instructions by model and job. Raises NothingToCountWith."""
    if not shutil.which("valgrind"):
        raise NothingToCountWith("valgrind is not on PATH")
    counts: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(folder)
        for (model, jobs), block in zip(MODELS.items(), blocks(folder), strict=True):
            for what in jobs:
                job, unit = JOBS[what]
                total, sizes, simd = count(program, block, job)
                units = sizes[unit] * (COUNT if unit == "joints" else 1)
                counts[f"{model}: {what}"] = round(total / units, 2)
    return compiler_key(simd), counts


def blocks(folder: Path) -> list[Path]:
    """Two of 19 joints, 3,273 vertices and two linear clips, whose channels share their times or do not; and
    the walking man."""
    import skinpy

    from .models import builders, walking_man

    def generated(shared: bool) -> builders.Gltf:
        return builders.random_model(
            7, joints=19, vertices=3273, shared_times=shared, kinds=("linear",), clips=2
        )

    paths = []
    for model, file in zip(MODELS, (generated(True), generated(False), walking_man()), strict=True):
        paths.append(folder / f"{model}.skn")
        skinpy.load(file.glb(), format="glb").save(paths[-1])
    return paths


def build(folder: Path) -> Path:
    """The program, with the flags of setup.py. callgrind does not know AVX-512: its kernels are left out."""
    program, root = folder / "count", HERE.parent
    chosen = os.environ.get("SKINPY_CGLM_DIR")
    headers = (
        [f"-isystem{p}" for p in (Path(chosen, "include"), Path(chosen)) if p.is_dir()] if chosen else []
    )
    flags = [
        "-std=c11",
        "-O3",
        "-ffp-contract=off",
        "-DSK_HAS_AVX512=0",
        "-fvisibility=hidden",
        "-Wall",
        "-Wextra",
        "-Werror",
        *headers,
    ]
    sources = [HERE / "count.c", *sorted(root.glob("csrc/core/**/*.c"))]
    _ask(_compiler(), *flags, "-o", program, *sources, "-lm", "-pthread")
    return program


def count(program: Path, block: Path, job: str) -> tuple[int, dict[str, int], str]:
    """Instructions inside of `measured`; joints, vertices and keys of the model; the SIMD path."""
    answer = _ask(
        *("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"),
        *("--collect-atstart=no", "--toggle-collect=measured", program, block, job, str(COUNT)),
    )
    collected = re.search(r"Collected : (\d+)", answer)
    sizes = re.search(r"^(\d+) (\d+) (\d+) (\w+)$", answer, re.MULTILINE)
    if not collected or not sizes or not int(collected[1]):
        raise RuntimeError(f"callgrind said: {answer}")
    names = zip(("joints", "vertices", "keys"), map(int, sizes.groups()[:3]), strict=True)
    return int(collected[1]), dict(names), sizes[4]


def _compiler() -> str:
    found = shutil.which(os.environ.get("CC") or "gcc")
    if not found:
        raise NothingToCountWith("no C compiler is on PATH")
    return found


def _ask(*command: str | Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main()
