"""The extension, the importer and the worker, built with sanitizers by one command, under tests of their own.

    SKINPY_SANITIZE=address,undefined python setup.py build --build-base FOLDER

The interpreter that loads such an extension needs the sanitizers' libraries before all others (LD_PRELOAD)
and PYTHONMALLOC=malloc: of Python's own allocator the address sanitizer sees nothing. Leaks are not looked
for: Python, NumPy and Assimp keep memory to the end, and tests/hostile/leaks.py counts ours. Workers then
have neither limits of memory, which a sanitizer's terabytes of addresses are above, nor a filter of system
calls, and skinpy.build_info() says so; tests that need these are skipped by name.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from c_compiler import compiler, run
from conftest import DATA, ROOT

pytestmark = pytest.mark.ci

#: What calls our C with arguments of all kinds.
SUITES = ("isolation", "import", "hard_models", "arguments", "model", "deform", "blend", "crowd", "morph")
SUITES += ("kinds", "compiled", "clip_file")


def library(name: str) -> str:
    """Path of a sanitizer's library, or "" where the compiler has none."""
    path = run(compiler(), f"-print-file-name=lib{name}.so").stdout.strip()
    return path if Path(path).is_absolute() else ""


def build(folder: Path, sanitizers: str) -> Path:
    """Folder with the package in it, built apart from the checkout."""
    tree = folder / "tree"
    left_out = shutil.ignore_patterns(
        ".*", "*.so", "*.egg-info", "build", "dist", "__pycache__", "docs", "tests"
    )
    shutil.copytree(ROOT, tree, ignore=left_out)
    environment = os.environ | {"SKINPY_SANITIZE": sanitizers}
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build", "--build-base", str(folder / "build")],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = (folder / "build").glob("lib*")
    return built


def run_sanitized(built: Path, *libraries: str, command: list[str], timeout: float) -> str:
    """What the interpreter wrote that runs `command` with the build; a report of a sanitizer fails."""
    keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "CC") if name in os.environ}
    environment = keep | {
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": str(built),
        "SKINPY_DATA": str(DATA),
    }
    prefix = ["setarch", platform.machine(), "-R"] if shutil.which("setarch") else []
    done = subprocess.run(
        [*prefix, sys.executable, *command],
        cwd=built,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    assert "Sanitizer" not in done.stdout and "runtime error" not in done.stdout, done.stdout[-8000:]
    return done.stdout


# ---- address and undefined behavior --------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    libraries = library("asan"), library("ubsan")
    if not all(libraries):
        pytest.skip("ADDRESS SANITIZER: the compiler has no shared libasan and libubsan")
    return build(tmp_path_factory.mktemp("guarded"), "address,undefined"), *libraries


def test_a_guarded_build_says_what_is_off(guarded: tuple[Path, str, str]) -> None:
    built, *libraries = guarded
    program = "import skinpy; print(skinpy.__file__); print(skinpy.build_info()['isolation'])"
    place, isolation = run_sanitized(built, *libraries, command=["-c", program], timeout=60).splitlines()
    assert Path(place).is_relative_to(built)
    assert isolation == "('process',)"


def test_a_guarded_build_sees_our_memory(guarded: tuple[Path, str, str]) -> None:
    """What lies right behind a block is out of bounds to the sanitizer; else the tests below say nothing."""
    built, *libraries = guarded
    program = """
import ctypes
import numpy as np
import skinpy
block = memoryview(skinpy.character()._block)
address = np.frombuffer(block, "u1").ctypes.data
poisoned = ctypes.CDLL(None).__asan_address_is_poisoned
poisoned.argtypes = [ctypes.c_void_p]
print(any(poisoned(address + at) for at in range(0, len(block), 8)))
print(any(poisoned(address + len(block) + at) for at in range(64)))
"""
    said = run_sanitized(built, *libraries, command=["-c", program], timeout=60)
    assert said.split() == ["False", "True"]


def test_under_the_address_and_undefined_behavior_sanitizers(guarded: tuple[Path, str, str]) -> None:
    built, *libraries = guarded
    suites = [str(ROOT / f"tests/test_{name}.py") for name in SUITES]
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *suites]
    said = run_sanitized(built, *libraries, command=command, timeout=900)
    passed = re.search(r"(\d+) passed", said)
    assert passed and int(passed[1]) > 300, said[-3000:]
