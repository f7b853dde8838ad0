"""The reader of blocks, the jobs and our own readers of formats under libFuzzer, with the address and the
undefined behavior sanitizer.

SKINPY_FUZZ_SECONDS says for how long (30): the reader and the jobs each, and all formats together three
times as long. The seeds are small models of tests/builders.py, and files of tests/hostile/seed_models.py and
the shared data. What a fuzzer finds it leaves in the folder that the failure names.
"""

import os
import re
import shutil
from pathlib import Path

import builders
import numpy as np
import pytest
import seed_models
from c_compiler import LIBRARIES, compile_core, compile_importer, compiler, include_flags, run
from conftest import DATA, HANGS, ROOT, needs_checkout

import skinpy

needs_checkout()

HERE = Path(__file__).parent
SECONDS = int(os.environ.get("SKINPY_FUZZ_SECONDS", "30"))
LARGEST = 40_000  # bytes of a model that is taken as a seed
MOST = 150  # models of the shared data that are taken as seeds of one format
FLAGS = ("-std=c11", "-O1", "-g1", "-ffp-contract=off")
FLAGS += ("-fno-omit-frame-pointer", "-fno-sanitize-recover=all")
NO_CPP = "-fno-sanitize=vptr,function"  # which ask for the runtime of C++ code


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


def own_formats() -> list[list[str]]:
    """The suffixes of each row of the table of formats that has a reader of ours."""
    text = (ROOT / "csrc/import/import_format.c").read_text()
    rows = text.split("{.suffixes = ")[1:]
    return [row.split('"')[1].split() for row in rows if re.search(r"\.reader = &", row)]


OWN = {suffixes[0]: suffixes for suffixes in own_formats()}


def model_seeds(folder: Path, suffixes: list[str]) -> Path:
    """Models of these suffixes: those made here, and small ones of the shared data."""
    folder.mkdir()
    for seed in seed_models.own_seeds():
        if seed.format in suffixes:
            (folder / f"own_{seed.name}.{seed.format}").write_bytes(seed.data)
    files = [path for path in sorted(DATA.rglob("*")) if path.suffix.lower().lstrip(".") in suffixes]
    for path in [path for path in files if path.stat().st_size <= LARGEST][:MOST]:
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_the_formats_of_our_readers_are_found() -> None:
    assert {"gltf", "fbx"} <= set(OWN) and "glb" in OWN["gltf"] and len(OWN) < 30


@pytest.mark.parametrize("door", ["reader", "jobs", "import"])
def test_the_doors_fit_the_core(door: str) -> None:
    """Without waiting for the full run, which has a compiler with a fuzzer."""
    done = run(
        *compiler(), "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", HERE / f"fuzz_{door}.c"
    )
    assert done.returncode == 0, done.stdout


def fuzzer(door: str, folder: Path, objects_folder: Path) -> Path:
    """The program of a door."""
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("clang, which has libFuzzer, is not on PATH")
    includes = include_flags("cglm", "jsmn", "assimp")
    flags = (*FLAGS, "-fsanitize=fuzzer-no-link,address,undefined", NO_CPP, *includes)
    if door == "import":
        objects = compile_importer(objects_folder, (), flags, clang)
    else:
        objects = compile_core(objects_folder, flags, clang)
    program = folder / "fuzz"
    flags = (*FLAGS, "-fsanitize=fuzzer,address,undefined", NO_CPP, *includes)
    done = run(clang, *flags, HERE / f"fuzz_{door}.c", *objects, "-o", program, *LIBRARIES)
    if "libclang_rt" in done.stdout:
        pytest.skip("libFuzzer (Debian: libclang-rt-dev) is not installed")
    assert done.returncode == 0, done.stdout
    return program


def fuzz(program: Path, corpus: Path, seconds: int, largest: int, least: int) -> None:
    """Runs the program on inputs made of the corpus, of which it must have tried `least`."""
    options = (f"-max_total_time={seconds}", f"-max_len={largest}", "-timeout=20")
    options += ("-rss_limit_mb=2048", "-print_final_stats=1")
    done = run(program, *options, f"-artifact_prefix={program.parent}/", corpus, timeout=seconds + HANGS)
    assert done.returncode == 0, done.stdout[-5000:]
    counts = [line.split() for line in done.stdout.splitlines() if "number_of_executed_units" in line]
    assert counts and int(counts[0][-1]) > least, "the fuzzer hardly ran"
    print(corpus.name, *counts[0])


@pytest.mark.ci
@pytest.mark.parametrize("door", ["reader", "jobs"])
def test_fuzz(door: str, tmp_path: Path, objects_folder: Path) -> None:
    program = fuzzer(door, tmp_path, objects_folder)
    fuzz(program, seeds(tmp_path / "seeds", door == "jobs"), SECONDS, 20_000, 1000)


@pytest.fixture(scope="module")
def import_fuzzer(tmp_path_factory: pytest.TempPathFactory, objects_folder: Path) -> Path:
    return fuzzer("import", tmp_path_factory.mktemp("import"), objects_folder)


@pytest.mark.ci
@pytest.mark.parametrize("format", OWN)
def test_fuzz_our_readers(
    format: str, tmp_path: Path, import_fuzzer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUZZ_ASSIMP", skinpy.build_info()["assimp"] or "")
    monkeypatch.setenv("FUZZ_FORMAT", format)
    program = Path(shutil.copy(import_fuzzer, tmp_path))  # what it finds is put beside it
    fuzz(program, model_seeds(tmp_path / format, OWN[format]), max(5, 3 * SECONDS // len(OWN)), LARGEST, 300)
