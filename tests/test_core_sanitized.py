"""The C core's own tests (tests/core), compiled without Python and without Assimp, under the address and
the undefined behavior sanitizer, and in the full run under the thread sanitizer and valgrind too. One suite
a test; a suite prints one line for each of its tests."""

import re
import shutil
from pathlib import Path

import pytest
from c_compiler import (
    COMMON,
    SANITIZED,
    SOURCES,
    compile_core,
    compile_objects,
    compiler,
    include_flags,
    run,
    steady,
)
from conftest import FULL_RUN, ROOT

TESTS = ROOT / "tests/core"
SUITES = tuple(re.findall(r'\{"(\w+)", +\w+_tests\}', (TESTS / "main.c").read_text()))


def build(program: Path, objects_folder: Path, *flags: str) -> Path:
    """The compiled program."""
    flags = (*flags, *include_flags("cglm"))
    objects = compile_core(objects_folder, flags)
    flags = (*flags, "-Wno-missing-field-initializers")
    objects += compile_objects(objects_folder, sorted(TESTS.glob("*.c")), flags)
    done = run(*compiler(), *flags, *objects, "-o", program, "-lm", "-pthread")
    assert done.returncode == 0, done.stdout
    return program


@pytest.fixture(scope="module")
def core_tests(tmp_path_factory: pytest.TempPathFactory, objects_folder: Path) -> tuple[str | Path, ...]:
    """The command that runs the program."""
    return (*steady(), build(tmp_path_factory.mktemp("core") / "core_tests", objects_folder, *SANITIZED))


@pytest.mark.parametrize("suite", SUITES)
def test_core(core_tests: tuple[str | Path, ...], suite: str) -> None:
    done = run(*core_tests, suite)
    assert done.returncode == 0, done.stdout
    assert f"ok     {suite}." in done.stdout


@pytest.mark.parametrize("suite", ["palette", "deform", "blend", "crowd", "kernels"])
def test_core_on_processors_without_avx512(core_tests: tuple[str | Path, ...], suite: str) -> None:
    """The same code, compiled for fewer registers; `test_core` takes the best that is there."""
    done = run("env", "SKINPY_SIMD=avx2", *core_tests, suite)
    assert done.returncode == 0, done.stdout
    assert f"ok     {suite}." in done.stdout


def test_every_file_of_tests_is_a_suite() -> None:
    assert set(SUITES) == {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.c")}


@pytest.mark.skipif(not FULL_RUN, reason="for the full run: SKINPY_CI=1")
def test_without_kernels(tmp_path: Path, objects_folder: Path) -> None:
    """As on another processor and another system: the plain path alone, with nothing left that asks for the
    kernels, and without what Linux alone has."""
    flags = (*COMMON, "-DSK_HAS_AVX2=0", "-DSK_HAS_NEON=0", "-U__linux__", "-fsanitize=undefined")
    done = run(build(tmp_path / "core_tests", objects_folder, *flags))
    assert done.returncode == 0, done.stdout
    assert "ok     palette." in done.stdout


# ---- valgrind ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def under_valgrind(tmp_path_factory: pytest.TempPathFactory, objects_folder: Path) -> tuple[str | Path, ...]:
    """The command that runs the program, without sanitizers: valgrind sees what nobody has written yet."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not on PATH")
    options = ["-q", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]
    options.append("--child-silent-after-fork=yes")  # there what the threads of its parent held is lost
    flags = (*COMMON, "-Wno-maybe-uninitialized")  # valgrind sees those that are
    program = build(tmp_path_factory.mktemp("valgrind") / "core_tests", objects_folder, *flags)
    return ("valgrind", *options, program)


@pytest.mark.ci
@pytest.mark.parametrize("suite", [one for one in SUITES if one != "fuzz"])  # which takes minutes there
def test_core_under_valgrind(under_valgrind: tuple[str | Path, ...], suite: str) -> None:
    done = run(*under_valgrind, suite)
    assert done.returncode == 0, done.stdout
    assert f"ok     {suite}." in done.stdout
    found = re.findall(r"==\d+== (?!Argument 'size' of function malloc)[A-Z0-9].*", done.stdout)
    assert not found, done.stdout  # that more is asked for than there is is what some tests are about


# ---- the thread sanitizer ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def under_thread_sanitizer(
    tmp_path_factory: pytest.TempPathFactory, objects_folder: Path
) -> tuple[str | Path, ...]:
    """The command that runs the program. Skips, and says why, where such programs cannot be made or run."""
    folder = tmp_path_factory.mktemp("thread_sanitizer")
    (folder / "probe.c").write_text("int main(void) { return 0; }\n")
    done = run(*compiler(), "-fsanitize=thread", folder / "probe.c", "-o", folder / "probe")
    if done.returncode:
        pytest.skip(f"THREAD SANITIZER: the compiler cannot build with it: {done.stdout[-300:]}")
    done = run(*steady(), folder / "probe")
    if done.returncode == 0:
        return (*steady(), build(folder / "core_tests", objects_folder, *COMMON, "-fsanitize=thread"))
    pytest.skip(f"THREAD SANITIZER: its programs do not run here: {done.stdout[-300:]}")


@pytest.mark.ci
@pytest.mark.parametrize("suite", SUITES)
def test_core_has_no_data_races(under_thread_sanitizer: tuple[str | Path, ...], suite: str) -> None:
    done = run(*under_thread_sanitizer, suite)
    assert done.returncode == 0, done.stdout
    assert "ThreadSanitizer" not in done.stdout
    assert f"ok     {suite}." in done.stdout


@pytest.mark.parametrize("debug", [True, False])
def test_assumptions_are_checked_in_debug_builds_alone(tmp_path: Path, debug: bool) -> None:
    source = tmp_path / "assume.c"
    source.write_text(
        f'#include "{SOURCES / "core/base/sk_base.h"}"\n'
        "int main(void) { int one = 1; SK_ASSERT(one == 2); return 0; }\n"
    )
    program = tmp_path / "assume"
    flags = ("-DSK_DEBUG",) if debug else ()
    done = run(*compiler(), "-std=c11", *flags, source, SOURCES / "core/base/sk_base.c", "-o", program)
    assert done.returncode == 0, done.stdout
    done = run(program)
    assert (done.returncode != 0) == debug
    assert ("assume.c:2: this should always hold: one == 2" in done.stdout) == debug
