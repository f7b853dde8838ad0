"""The C core's own tests (tests/core), compiled without Python and without Assimp, under the address and
the undefined behavior sanitizer. One suite a test; a suite prints one line for each of its tests."""

from pathlib import Path

import pytest
from c_compiler import SOURCES, compiler, include_flags, run
from conftest import FULL_RUN, ROOT

SUITES = (
    *("base", "math", "block", "fuzz", "clip", "sample"),
    *("palette", "deform", "frames", "goal", "blend", "threads", "crowd"),
)


@pytest.fixture(scope="module")
def core_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled program."""
    program = tmp_path_factory.mktemp("core") / "core_tests"
    sources = [*sorted(SOURCES.glob("core/*.c")), *sorted((ROOT / "tests/core").glob("*.c"))]
    warnings = ["-Wall", "-Wextra", "-Wno-missing-field-initializers", *(["-Werror"] if FULL_RUN else [])]
    done = run(
        compiler(),
        *("-std=c11", "-O1", "-g", "-ffp-contract=off", *warnings),
        *("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"),
        *include_flags("cglm"),
        *sources,
        *("-o", program, "-lm", "-pthread"),
    )
    assert done.returncode == 0, done.stdout
    return program


@pytest.mark.parametrize("suite", SUITES)
def test_core(core_tests: Path, suite: str) -> None:
    done = run(core_tests, suite)
    assert done.returncode == 0, done.stdout
    assert f"ok     {suite}." in done.stdout


def test_every_suite_is_listed(core_tests: Path) -> None:
    lines = [line.split() for line in run(core_tests).stdout.splitlines()]
    ran = {name.partition(".")[0] for word, name, *_ in lines if word in ("ok", "FAILED")}
    assert ran == set(SUITES)
