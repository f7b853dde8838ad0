"""The worker's own functions for small pieces of memory, in a program that takes and gives back at random."""

import os
import platform
import shutil
from pathlib import Path

import pytest
from c_compiler import SOURCES, compiler, run
from conftest import ROOT

import skinpy
from skinpy import loading

pytestmark = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="worker_malloc.c is for glibc alone"
)


def test_the_worker_has_them_for_its_libraries_too() -> None:
    """Those that it opens find the program's own functions first, if it shows them."""
    if skinpy.build_info()["isolation"] == ("process",):
        pytest.skip("a sanitizer has such functions itself")
    reader = shutil.which("nm") or pytest.skip("no nm on PATH")
    shown = run(reader, "--dynamic", "--defined-only", os.fsdecode(loading._built_path("_worker"))).stdout
    assert {"malloc", "calloc", "realloc", "free"} <= {line.split()[-1] for line in shown.splitlines()}


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("place", [["heap"], []], ids=["in the heap", "anywhere"])
def test_pieces_hold_what_is_written_to_them(tmp_path: Path, level: str, place: list[str]) -> None:
    """None lies over another one, each is aligned, and where memory ends NULL comes, with ENOMEM.

    Of pages that lie before the first one no small pieces are made: the C library makes them.
    """
    program = tmp_path / "pieces"
    sources = (ROOT / "tests/worker/pieces.c", SOURCES / "worker/worker_malloc.c")
    built = run(compiler(), "-std=gnu11", level, "-Wall", "-Wextra", "-Werror", *sources, "-o", program)
    assert built.returncode == 0, built.stdout
    done = run(program, *place)
    assert done.returncode == 0 and done.stdout == "good\n", done.stdout
