"""The reader of blocks, the jobs and the readers of files under libFuzzer, with the address and the undefined
behavior sanitizer.

SKINPY_FUZZ_SECONDS says for how long each (60); the seeds are small models of tests/builders.py, and files of
tests/hostile/seed_models.py and the shared data. What a fuzzer finds it leaves in the folder that
the failure names.
"""

import os
import shutil
from pathlib import Path

import builders
import numpy as np
import pytest
import seed_models
from c_compiler import LIBRARIES, compile_core, compile_importer, compiler, include_flags, run
from conftest import DATA, HANGS

import skinpy

HERE = Path(__file__).parent
SECONDS = int(os.environ.get("SKINPY_FUZZ_SECONDS", "60"))
LARGEST = 40_000  # bytes of a file that is taken as a seed
FORMATS = ("fbx", "gltf")  #: those that skinpy reads itself
DOORS = ("reader", "jobs", *FORMATS)
FLAGS = ("-std=c11", "-O1", "-g", "-ffp-contract=off", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all")


def seeds(folder: Path, with_head: bool) -> Path:
    """Blocks; those for the jobs have options, times, weights and goals in front."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    files = [builders.random_model(seed, joints=4, vertices=6) for seed in range(4)]
    files += [builders.mixed_channels(), builders.eight_influences(), builders.shear(), builders.chain(20)]
    for number, file in enumerate(files):
        path = folder / f"{number}.skn"
        skinpy.load(file.glb(), format="glb", isolate=False).save(path)
        if with_head:
            joints = bytes(int(one) for pair in rng.integers(0, 8, 3) for one in (pair, 0))
            head = rng.bytes(8) + joints + rng.bytes(2)
            head += rng.uniform(-1, 3, 9).tobytes() + rng.uniform(0, 1, 9).tobytes()
            head += rng.uniform(-1, 1, 6).tobytes() + rng.uniform(0.01, 1, 3).tobytes()
            path.write_bytes(head + path.read_bytes())
    return folder


def format_seeds(folder: Path, name: str) -> Path:
    """Binary files and texts, of several versions; of glTF also compressed ones."""
    folder.mkdir()
    for seed in seed_models.own_seeds():
        if seed.format == name:
            (folder / f"{seed.name}.{name}").write_bytes(seed.data)
    for path in sorted(DATA.rglob(f"*.{name}")):
        if path.stat().st_size <= LARGEST:
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.mark.parametrize("door", ["reader", "jobs", "import"])
def test_the_doors_fit_the_core(door: str) -> None:
    """Without waiting for the full run, which has a compiler with a fuzzer."""
    done = run(
        compiler(), "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", HERE / f"fuzz_{door}.c"
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.ci
@pytest.mark.parametrize("door", DOORS)
def test_fuzz(door: str, tmp_path: Path, objects_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("clang, which has libFuzzer, is not on PATH")
    is_format, includes = door in FORMATS, include_flags("cglm", "jsmn", "assimp")
    flags = (*FLAGS, "-fsanitize=fuzzer-no-link,address,undefined", *includes)
    if is_format:
        objects = compile_importer(objects_folder, (), flags, clang)
        monkeypatch.setenv("FUZZ_ASSIMP", skinpy.build_info()["assimp"] or "")
        monkeypatch.setenv("FUZZ_FORMAT", door)
    else:
        objects = compile_core(objects_folder, flags, clang)
    program = tmp_path / "fuzz"
    flags = (*FLAGS, "-fsanitize=fuzzer,address,undefined", *includes)
    link = ("-o", program, *LIBRARIES)
    done = run(clang, *flags, HERE / f"fuzz_{'import' if is_format else door}.c", *objects, *link)
    if "libclang_rt" in done.stdout:
        pytest.skip("libFuzzer (Debian: libclang-rt-dev) is not installed")
    assert done.returncode == 0, done.stdout
    folder = tmp_path / "seeds"
    corpus = format_seeds(folder, door) if is_format else seeds(folder, door == "jobs")
    options = (f"-max_total_time={SECONDS}", f"-max_len={LARGEST if is_format else 20000}", "-timeout=20")
    options += ("-rss_limit_mb=2048", "-print_final_stats=1")
    done = run(program, *options, f"-artifact_prefix={tmp_path}/", corpus, timeout=SECONDS + HANGS)
    assert done.returncode == 0, done.stdout[-5000:]
    counts = [line.split() for line in done.stdout.splitlines() if "number_of_executed_units" in line]
    assert counts and int(counts[0][-1]) > 1000, "the fuzzer hardly ran"
    print(door, *counts[0])
