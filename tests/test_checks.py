"""The checkers of types and style, as tests of the full run: one result each, in the same report."""

import shutil
import sys
from pathlib import Path

import pytest
from c_compiler import run
from conftest import HANGS, ROOT

pytestmark = pytest.mark.ci

C_FILES = [str(path) for path in sorted((ROOT / "csrc").rglob("*.[ch]*"))]
PYTHON = sys.executable
# The package clang-format installs a program beside the interpreter, and no module that `python -m` runs.
CLANG_FORMAT = str(Path(PYTHON).with_name("clang-format"))
CHECKS = {
    "mypy": (PYTHON, "-m", "mypy", "--strict", "skinpy"),
    "stubtest": (PYTHON, "-m", "mypy.stubtest", "--mypy-config-file", "pyproject.toml", "skinpy._core"),
    "ruff check": (PYTHON, "-m", "ruff", "check", "--no-cache", "."),
    "ruff format": (PYTHON, "-m", "ruff", "format", "--no-cache", "--check", "--diff", "."),
    "clang-format": (CLANG_FORMAT, "--dry-run", "--Werror", *C_FILES),
}


@pytest.mark.parametrize("name", CHECKS)
def test_checker_is_content(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    done = run(*CHECKS[name], timeout=HANGS)
    assert done.returncode == 0, done.stdout


def test_shell_scripts_are_posix(tmp_path: Path) -> None:
    shell = shutil.which("dash") or "/bin/sh"
    done = run(shell, "-n", ROOT / "quickstart.sh")
    assert done.returncode == 0, done.stdout
