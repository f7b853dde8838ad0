"""The table of docs/platforms.md, compiled with zig, and skinpy's code for systems other than Linux.

What runs is optimized and linked, and nothing else is. At the first time zig compiles musl, which takes a
minute of one processor, and keeps it in its cache. The importer is compiled without the two libraries that it
may lack. The code for other systems runs here, on Linux.
"""

import importlib.util
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from c_compiler import SOURCES, compile_objects, compiler, include_flags, run
from conftest import ROOT

PAGE = ROOT / "docs/platforms.md"
#: In ISO C11, as setup.py has it. Clang misses initializers in tables where GCC takes the rest for zeros.
FLAGS = (
    *("-std=c11", "-g0", "-ffp-contract=off", "-fno-sanitize=undefined"),
    *("-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers"),
)
#: For what runs. Without -O1 the frame of a kernel is larger than the stack that the core gives its threads.
TESTED = ("-O1", "-DSK_DEBUG")
#: The headers of foreign libraries that the core and the importer include. They are the same on every system.
HEADERS = {
    "cglm": ("cglm",),
    "jsmn": ("jsmn.h",),
    "zlib": ("zlib.h", "zconf.h"),
    "expat": ("expat.h", "expat_external.h"),
}
PARTS = {
    "core": sorted(SOURCES.glob("core/**/*.c")),
    "importer": sorted(SOURCES.glob("import/**/*.c")),
    "worker": sorted(SOURCES.glob("worker/*.c")),
}
TARGETS = {
    *("x86_64-linux-gnu.2.28", "aarch64-linux-gnu.2.28", "x86_64-linux-musl", "s390x-linux-musl"),
    *("aarch64-macos", "x86_64-macos", "x86_64-windows-gnu"),
}


def claims() -> list[tuple[str, str, str]]:
    """Target, part and what the page says of it, for every cell of its table of targets."""
    table = PAGE.read_text().split("| target |")[1].split("\n\n")[0]
    head, _, *rows = ([cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines())
    return [(row[0].strip("`"), part, said) for row in rows for part, said in zip(head, row[1:], strict=True)]


def zig() -> str:
    """The program of the package ziglang."""
    found = importlib.util.find_spec("ziglang")
    if found is None or not found.submodule_search_locations:
        pytest.skip("zig is missing: pip install ziglang")
    return str(Path(found.submodule_search_locations[0]) / "zig")


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the foreign headers and no other header of this system."""
    folder = tmp_path_factory.mktemp("headers")
    for name, entries in HEADERS.items():
        chosen = os.environ.get(f"SKINPY_{name.upper()}_DIR")
        system = (Path("/usr/include"), *Path("/usr/include").glob("*-linux-gnu"), Path("/usr/local/include"))
        places = (Path(chosen, "include"), Path(chosen)) if chosen else system
        for entry in entries:
            (folder / entry).symlink_to(next(place / entry for place in places if (place / entry).exists()))
    return folder


def compile_for(target: str, sources: list[Path], folder: Path, headers: Path, *flags: str) -> str:
    """The words of zig, which writes the object files into `folder`; "" if it found no fault.

    Each source has a call of its own: zig makes one object of all that one call names.
    """
    folder.mkdir(parents=True)
    command = (zig(), "cc", "-target", target, *FLAGS, f"-isystem{headers}", *include_flags("assimp"), *flags)
    words = ""
    for source in sources:
        done = run(*command, "-c", source, "-o", folder / f"{source.stem}.o")
        assert done.returncode == 0 or done.stdout
        words += done.stdout
    return words


def run_suite(target: str, folder: Path, headers: Path) -> None:
    """Link the core's tests with the core in folder/core, and run them."""
    suite = sorted((ROOT / "tests/core").glob("*.c"))
    kernels = sorted(SOURCES.glob("core/simd/*.c"))
    assert not compile_for(target, suite, folder / "suite", headers, *TESTED)
    assert not compile_for(target, kernels, folder / "avx512", headers, *TESTED, "-DSK_KERNELS_AVX512")
    objects = sorted(folder.glob("*/*.o"))
    done = run(zig(), "cc", "-target", target, *objects, "-o", folder / "core_tests", "-lm", "-pthread")
    assert done.returncode == 0, done.stdout
    done = run(folder / "core_tests")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^\d{3} tests, 0 failed$", done.stdout, re.MULTILINE), done.stdout


def check(target: str, part: str, said: str, folder: Path, headers: Path) -> None:
    """One cell of the table."""
    sources = PARTS[part]
    if said == "its tests run":
        assert not compile_for(target, sources, folder / part, headers, *TESTED)
        run_suite(target, folder, headers)
    elif said == "is refused":
        words = compile_for(target, sources[:1], folder / part, headers)
        assert "skinpy needs a little-endian processor" in words
    elif said != "not yet":
        assert said == "compiles" or said.startswith("compiles but for "), said
        left_out = set(re.findall(r"`(\w+\.c)`", said))
        assert left_out <= {source.name for source in sources}
        chosen = [source for source in sources if source.name not in left_out]
        words = compile_for(target, chosen, folder / part, headers)
        assert not words, f"{target}, {part}: {words}"


@pytest.mark.ci
def test_what_compiles_for_other_systems(tmp_path: Path, headers: Path) -> None:
    zig()  # skips here, and not in a thread

    def check_numbered(number: int, claim: tuple[str, str, str]) -> None:
        check(*claim, tmp_path / str(number), headers)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(check_numbered, range(len(claims())), claims()))


def test_table_names_what_is_compiled() -> None:
    """So no row leaves the page, and none is added, without this file."""
    assert {(target, part) for target, part, _ in claims()} == {(t, part) for t in TARGETS for part in PARTS}
    assert all(said for _, _, said in claims())


# ---- where it is not Linux, executed here --------------------------------------------------------------


def test_other_systems_have_no_worker(tmp_path: Path, objects_folder: Path) -> None:
    """The end of worker_spawn.c that other systems get, which `load` does not call."""
    source, program = tmp_path / "no_worker.c", tmp_path / "no_worker"
    source.write_text(
        f'#include "{SOURCES / "worker/worker_spawn.h"}"\n'
        "#include <stdio.h>\n"
        "int main(void) {\n"
        "  worker_job job = {0};\n  sk_error error = {0};\n  uint32_t sandbox = 1;\n"
        "  if (worker_run(&job, &sandbox, &error) != SK_ERROR_LIBRARY || sandbox) return 1;\n"
        "  worker_unmap(NULL, 0);\n"
        "  puts(error.message);\n"
        "}\n"
    )
    flags = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-U__linux__")
    sources = [source, SOURCES / "worker/worker_spawn.c", SOURCES / "core/base/sk_base.c"]
    objects = compile_objects(objects_folder, sources, flags)
    done = run(*compiler(), *objects, "-o", program)
    assert done.returncode == 0, done.stdout
    done = run(program)
    assert (done.returncode, done.stdout) == (0, "this system cannot isolate imports\n")
