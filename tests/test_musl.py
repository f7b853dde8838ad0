"""C for Linux with musl: it compiles without a warning, and the worker runs there.

Debian's musl-gcc is enough for both (its package musl-tools has the library too). Of Assimp there is none for
it here: an importer that was taken over stands in for ours, and tells what the worker lets it do.
"""

import os
import platform
import shutil
import sys
from pathlib import Path

import pytest
from c_compiler import SOURCES, include_flags, run
from conftest import ROOT
from test_isolation import NO_LIMITS

import skinpy
from skinpy import _core, loading

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="musl-gcc is looked for on Linux alone"
)

#: Foreign headers, and those of the system itself, behind musl's own.
FOREIGN = [
    "-idirafter/usr/include",
    *(f"-idirafter{folder}" for folder in Path("/usr/include").glob("*-linux-gnu")),
]
FLAGS = ["-std=c11", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-fPIC"]
PARENT = ("worker_ahead.c", "worker_kept.c", "worker_spawn.c")


@pytest.fixture(scope="module")
def compiler() -> str:
    return shutil.which("musl-gcc") or pytest.skip("MUSL: no musl-gcc on PATH; Debian's is in musl-tools")


@pytest.mark.parametrize("layer", ["core", "import", "worker"])
def test_all_that_knows_no_python_compiles(compiler: str, layer: str) -> None:
    sources = sorted((SOURCES / layer).rglob("*.c"))
    done = run(
        compiler, *FLAGS, *include_flags("cglm", "assimp", "jsmn"), *FOREIGN, "-fsyntax-only", *sources
    )
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def isolation(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> loading._Isolation:
    """As skinpy.load hands it over, with a worker and an importer of musl's."""
    folder = tmp_path_factory.mktemp("musl")
    worker = [path for path in sorted(SOURCES.glob("worker/*.c")) if path.name not in PARENT]
    base = SOURCES / "core/base/sk_base.c"
    done = run(compiler, *FLAGS, *FOREIGN, *worker, base, "-pthread", "-o", folder / "worker")
    assert done.returncode == 0, done.stdout
    false = ROOT / "tests/hostile/false_importer.c"
    done = run(
        compiler, "-std=gnu11", "-shared", "-fPIC", *FOREIGN, false, base, "-o", folder / "importer.so"
    )
    assert done.returncode == 0, done.stdout
    usual = loading._isolation(skinpy.Limits(), loading._paths_key())
    return os.fsencode(folder / "worker"), os.fsencode(folder / "importer.so"), *usual[2:]


def test_it_is_kept_in_by_the_same(isolation: loading._Isolation) -> None:
    if skinpy.build_info()["isolation"] == ("process",):
        pytest.skip("a sanitizer keeps the usual worker from it")
    usual = loading._isolation(skinpy.Limits(), loading._paths_key())
    assert _core._cage(isolation) == _core._cage(usual)


def test_an_importer_that_was_taken_over_is_locked_in(isolation: loading._Isolation, tmp_path: Path) -> None:
    if not all(_core._cage(isolation)):
        pytest.skip("an old kernel lacks a filter or rules of folders")
    (tmp_path / "model").mkdir()
    for name in ("model/file.glb", "model/neighbor", "outside"):
        (tmp_path / name).write_text("something")
    path = tmp_path / "model/file.glb"
    for external, reached in ((0, {"model", "neighbor"}), (1, {"model"})):
        with pytest.raises(skinpy.LoadError, match="done: ") as error:
            _core._load_file(str(path), None, None, 4, -1, False, 0, -1, None, external, NO_LIMITS, isolation)
        assert set(str(error.value).split("done: ")[1].split()) == reached
