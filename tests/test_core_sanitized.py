"""The C core's own tests (tests/core), compiled without Python and without Assimp, under the address and
the undefined behavior sanitizer, and in the full run under the thread sanitizer and valgrind too. One suite
a test; a suite prints one line for each of its tests."""

import platform
import re
import shutil
from functools import cache
from pathlib import Path

import pytest
from c_compiler import SOURCES, compiler, include_flags, run
from conftest import FULL_RUN, ROOT

SUITES = ("base", "math", "block", "fuzz", "clip", "sample", "palette", "deform", "frames", "goal", "blend")
SUITES += ("crowd", "threads", "compile", "twins", "pack")
LONG = 500.0  #: seconds for what takes one minute here, and hangs for ever where it hangs


def build(folder: Path, *sanitizers: str) -> Path:
    """The compiled program."""
    program = folder / "core_tests"
    sources = [*sorted(SOURCES.glob("core/**/*.c")), *sorted((ROOT / "tests/core").glob("*.c"))]
    warnings = ["-Wall", "-Wextra", "-Wno-missing-field-initializers", *(["-Werror"] if FULL_RUN else [])]
    done = run(
        compiler(),
        *("-std=c11", "-O1", "-g", "-ffp-contract=off", *warnings),
        *(*sanitizers, "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"),
        *include_flags("cglm"),
        *sources,
        *("-o", program, "-lm", "-pthread"),
        timeout=LONG,
    )
    assert done.returncode == 0, done.stdout
    return program


@cache
def steady() -> tuple[str, ...]:
    """The words before a program that is to have its memory at the same addresses each time, where allowed.

    A sanitizer's own are fixed; where the kernel spreads memory widely (a large vm.mmap_rnd_bits) something
    else is there now and then, and the program dies at its start.
    """
    prefix = ("setarch", platform.machine(), "-R")
    return prefix if shutil.which("setarch") and run(*prefix, "true").returncode == 0 else ()


@pytest.fixture(scope="module")
def core_tests(tmp_path_factory: pytest.TempPathFactory) -> tuple[str | Path, ...]:
    """The command that runs the program."""
    return (*steady(), build(tmp_path_factory.mktemp("core"), "-fsanitize=address,undefined"))


@pytest.mark.parametrize("suite", SUITES)
def test_core(core_tests: tuple[str | Path, ...], suite: str) -> None:
    done = run(*core_tests, suite, timeout=LONG)
    assert done.returncode == 0, done.stdout
    assert f"ok     {suite}." in done.stdout


@pytest.mark.parametrize("suite", ["palette", "deform", "blend", "crowd", "twins"])
def test_core_on_processors_without_avx512(core_tests: tuple[str | Path, ...], suite: str) -> None:
    """The same code, compiled for fewer registers; `test_core` takes the best that is there."""
    done = run("env", "SKINPY_SIMD=avx2", *core_tests, suite, timeout=LONG)
    assert done.returncode == 0, done.stdout
    assert f"ok     {suite}." in done.stdout


def test_every_suite_is_listed(core_tests: tuple[str | Path, ...]) -> None:
    lines = [line.split() for line in run(*core_tests, timeout=LONG).stdout.splitlines()]
    ran = {name.partition(".")[0] for word, name, *_ in lines if word in ("ok", "FAILED")}
    assert ran == set(SUITES)


@pytest.mark.skipif(not FULL_RUN, reason="for the full run: SKINPY_CI=1")
def test_without_the_twins(tmp_path: Path) -> None:
    """As on another processor: the plain path alone, with nothing left that asks for the twins."""
    program = build(tmp_path, "-DSK_HAS_AVX2=0", "-fsanitize=undefined")
    done = run(program, timeout=LONG)
    assert done.returncode == 0, done.stdout
    assert "ok     palette." in done.stdout


# ---- valgrind ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def under_valgrind(tmp_path_factory: pytest.TempPathFactory) -> tuple[str | Path, ...]:
    """The command that runs the program, without sanitizers: valgrind sees what nobody has written yet."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not on PATH")
    options = ["-q", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]
    options.append("--child-silent-after-fork=yes")  # there what the threads of its parent held is lost
    program = build(tmp_path_factory.mktemp("valgrind"), "-Wno-maybe-uninitialized")  # it sees those that are
    return ("valgrind", *options, program)


@pytest.mark.ci
@pytest.mark.parametrize("suite", [one for one in SUITES if one != "fuzz"])  # which takes minutes there
def test_core_under_valgrind(under_valgrind: tuple[str | Path, ...], suite: str) -> None:
    done = run(*under_valgrind, suite, timeout=LONG)
    assert done.returncode == 0, done.stdout
    assert f"ok     {suite}." in done.stdout
    found = re.findall(r"==\d+== (?!Argument 'size' of function malloc)[A-Z0-9].*", done.stdout)
    assert not found, done.stdout  # that more is asked for than there is is what some tests are about


# ---- the thread sanitizer ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def under_thread_sanitizer(tmp_path_factory: pytest.TempPathFactory) -> tuple[str | Path, ...]:
    """The command that runs the program. Skips, and says why, where such programs cannot be made or run."""
    folder = tmp_path_factory.mktemp("thread_sanitizer")
    (folder / "probe.c").write_text("int main(void) { return 0; }\n")
    done = run(compiler(), "-fsanitize=thread", folder / "probe.c", "-o", folder / "probe")
    if done.returncode:
        pytest.skip(f"THREAD SANITIZER: the compiler cannot build with it: {done.stdout[-300:]}")
    done = run(*steady(), folder / "probe")
    if done.returncode == 0:
        return (*steady(), build(folder, "-fsanitize=thread"))
    pytest.skip(f"THREAD SANITIZER: its programs do not run here: {done.stdout[-300:]}")


@pytest.mark.ci
@pytest.mark.parametrize("suite", SUITES)
def test_core_has_no_data_races(under_thread_sanitizer: tuple[str | Path, ...], suite: str) -> None:
    done = run(*under_thread_sanitizer, suite, timeout=LONG)
    assert done.returncode == 0, done.stdout
    assert "ThreadSanitizer" not in done.stdout
    assert f"ok     {suite}." in done.stdout
