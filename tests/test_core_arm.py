"""The C core compiled for 64-bit ARM: its own suites (tests/core), run by qemu's emulator of a processor.

The suites compare the NEON kernels to plain C over many shapes, and results on several threads to those on
one, bit by bit. The tolerances are those of x86-64: 1e-6 of the size of what is compared. An emulator shows
what is computed, not how fast."""

import shutil
from pathlib import Path

import pytest
from c_compiler import COMMON, compile_core, compile_objects, include_flags, run
from test_core_sanitized import SUITES, TESTS

pytestmark = pytest.mark.ci

COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64-static"
#: Readers know no kernels, and take minutes. Forks of a process with threads end in errors of the emulator.
LEFT_OUT = ("fuzz", "threads")
ON_THREADS = ("threads.palettes_are_the_same_with_any_number", "threads.two_threads_work_at_once")


@pytest.fixture(scope="module")
def arm_tests(tmp_path_factory: pytest.TempPathFactory, objects_folder: Path) -> tuple[str | Path, ...]:
    """The command that runs the program, whose core is compiled with the optimization of a release."""
    for program in (COMPILER, EMULATOR):
        if not shutil.which(program):
            pytest.skip(f"{program} is not on PATH")
    # cglm is nothing but headers. Behind the system's own, because those beside it are for another processor.
    flags = (*COMMON, *include_flags("cglm"), "-idirafter", "/usr/include")
    objects = compile_core(objects_folder, (*flags, "-O3"), COMPILER)
    sources = sorted(TESTS.glob("*.c"))
    objects += compile_objects(objects_folder, sources, (*flags, "-Wno-missing-field-initializers"), COMPILER)
    program_file = tmp_path_factory.mktemp("arm") / "core_tests"
    done = run(COMPILER, "-static", *objects, "-o", program_file, "-lm", "-pthread")
    assert done.returncode == 0, done.stdout
    return (EMULATOR, program_file)


def check(*command: str | Path, ran: str) -> None:
    done = run(*command)
    assert done.returncode == 0, done.stdout
    assert f"ok     {ran}" in done.stdout


@pytest.mark.parametrize("suite", [suite for suite in SUITES if suite not in LEFT_OUT])
def test_core_on_arm(arm_tests: tuple[str | Path, ...], suite: str) -> None:
    """With NEON, which every such processor has."""
    check(*arm_tests, suite, ran=f"{suite}.")


@pytest.mark.parametrize("name", ON_THREADS)
def test_threads_on_arm(arm_tests: tuple[str | Path, ...], name: str) -> None:
    check(*arm_tests, name, ran=name)


@pytest.mark.parametrize("suite", ["sample", "palette", "deform", "blend", "crowd"])
def test_plain_c_on_arm(arm_tests: tuple[str | Path, ...], suite: str) -> None:
    check("env", "SKINPY_SIMD=plain", *arm_tests, suite, ran=f"{suite}.")


def test_kernels_are_there(arm_tests: tuple[str | Path, ...]) -> None:
    """None of these suites passes because there is nothing to compare."""
    names = run("aarch64-linux-gnu-nm", arm_tests[-1]).stdout
    assert "sk_kernels_neon" in names
    assert "sk_kernels_avx2" not in names
