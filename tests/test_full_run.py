"""Where quickstart.sh installs all tools, no test is skipped for want of one (tests/conftest.py)."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

TESTS = """
import pytest
def test_a(): pytest.skip("clang, which has libFuzzer, is not on PATH")
@pytest.mark.skipif(True, reason="strace is not on PATH")
def test_b(): pass
def test_c(): pytest.importorskip("no_such_module", reason="this Python has no _testcapi")
def test_d(): pytest.skip("SKINPY_NODE_MODULES: no folder with node_modules/three, or no node")
@pytest.mark.skipif(True, reason="this processor or this build lacks AVX2")
def test_e(): pass
@pytest.mark.xfail(reason="known")
def test_f(): raise AssertionError
"""
MODULE = "import pytest\nhypothesis = pytest.importorskip('no_such_module', reason='hypothesis is missing')\n"


@pytest.mark.parametrize(
    ("run", "failed", "skipped"), [("quick", 0, 6), ("SKINPY_CI", 4, 2), ("SKINPY_EXTRAS", 5, 1)]
)
def test_skips_for_want_of_a_tool(tmp_path: Path, run: str, failed: int, skipped: int) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "test_module.py").write_text(MODULE)
    runs = {"SKINPY_CI": "", "SKINPY_EXTRAS": "", "SKINPY_INSTALLED": ""} | {run: "1"}
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")} | runs
    options = ["-q", "-p", "conftest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", tmp_path]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--continue-on-collection-errors", "."],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    counts = {name: int(count) for count, name in re.findall(r"(\d+) ([a-z]+)", done.stdout.splitlines()[-1])}
    assert done.returncode == (1 if failed else 0), done.stdout
    assert counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0) == failed, done.stdout
    assert counts["skipped"] == skipped and counts["xfailed"] == 1, done.stdout
    assert ("Nothing is skipped in this run" in done.stdout) == (failed > 0)
