"""The worker's own functions for memory, in programs that take, fill and give back at random."""

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
    platform.libc_ver()[0] != "glibc", reason="worker_malloc.c and worker_fill.c are for glibc alone"
)


def test_the_worker_has_them_for_its_libraries_too() -> None:
    """Those that it opens find the program's own functions first, if it shows them."""
    if skinpy.build_info()["isolation"] == ("process",):
        pytest.skip("a sanitizer has such functions itself")
    reader = shutil.which("nm") or pytest.skip("no nm on PATH")
    shown = run(reader, "--dynamic", "--defined-only", os.fsdecode(loading._built_path("_worker"))).stdout
    names = {line.split()[-1] for line in shown.splitlines()}
    assert {"malloc", "calloc", "realloc", "free", "memset"} <= names


def build(folder: Path, name: str, level: str, *parts: str) -> Path:
    program = folder / name
    sources = [ROOT / f"tests/worker/{name}.c", *(SOURCES / f"worker/worker_{part}.c" for part in parts)]
    built = run(compiler(), "-std=gnu11", level, "-Wall", "-Wextra", "-Werror", *sources, "-o", program)
    assert built.returncode == 0, built.stdout
    return program


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("place", [["heap"], []], ids=["in the heap", "anywhere"])
def test_pieces_hold_what_is_written_to_them(tmp_path: Path, level: str, place: list[str]) -> None:
    """None lies over another one, each is aligned, and where memory ends NULL comes, with ENOMEM.

    Of pages that lie before the first one no small pieces are made: the C library makes them.
    """
    program = build(tmp_path, "pieces", level, "malloc", "system")
    done = run(program, *place)
    assert done.returncode == 0 and done.stdout == "good\n", done.stdout


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("file", [[], ["without"]], ids=["by a file", "without"])
def test_what_is_filled_holds_that_byte(tmp_path: Path, level: str, file: list[str]) -> None:
    """In any part of a piece, whatever is written or filled afterwards; and 16 MiB take next to no memory."""
    done = run(build(tmp_path, "fill", level, "malloc", "fill", "system"), *file)
    assert done.returncode == 0 and done.stdout == "good\n", done.stdout
