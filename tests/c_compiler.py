"""How the tests call the C compiler: the headers' folders are found as setup.py finds them.

The tests build several programs from the same sources. `compile_objects` compiles each source once in a run
of the tests for each set of flags, and uses all processors.
"""

import fcntl
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import FULL_RUN, HANGS, ROOT

import skinpy

SOURCES = ROOT / "csrc"
#: Flags of all programs of the tests; then those under the two sanitizers, which so share their objects.
#: -g1 has the functions and lines that reports name; where variables lie took a quarter of the compiling.
COMMON = (
    *("-std=c11", "-O1", "-g1", "-ffp-contract=off", "-Wall", "-Wextra", *(["-Werror"] if FULL_RUN else [])),
    *("-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-DSK_DEBUG"),
)
SANITIZED = (*COMMON, "-fsanitize=address,undefined")
#: What a program needs that imports and reads what came of it.
IMPORT_AND_READER = sorted(SOURCES.glob("import/**/*.c"))
IMPORT_AND_READER += sorted(SOURCES.glob("core/model/sk_block*.c"))
IMPORT_AND_READER += [
    *(SOURCES / f"core/base/sk_{name}.c" for name in ["base", "cores", "math", "threads"]),
    *(SOURCES / f"core/model/sk_{name}.c" for name in ["lines", "pack"]),
]
#: The libraries that decompress glTF, as the installed skinpy was built with them.
VERSIONS = {name: skinpy.build_info()[f"built_with_{name}"] for name in ("meshoptimizer", "draco")}
COMPRESSORS = [name for name, version in VERSIONS.items() if version]
if "draco" in COMPRESSORS:
    IMPORT_AND_READER += sorted(SOURCES.glob("import/**/*.cpp"))
LIBRARIES = (
    *("-ldl", "-lm", "-lz", "-lexpat", "-pthread", *(f"-l{name}" for name in COMPRESSORS)),
    *(["-lstdc++"] if "draco" in COMPRESSORS else []),
)


def compiler() -> tuple[str, ...]:
    """gcc, or the words of CC, such as `ccache gcc`; the test that asks is skipped where there is none."""
    name, *options = shlex.split(os.environ.get("CC") or "gcc") or ["gcc"]
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no C compiler: {name} is not on PATH")
    return found, *options


def include_flags(*wanted: str) -> list[str]:
    """-isystem for those that are not in /usr/include: python, numpy, and the libraries of setup.py."""
    folders: list[Path] = []
    for name in wanted:
        chosen = os.environ.get(f"SKINPY_{name.upper()}_DIR")
        if name == "python":
            folders.append(Path(sysconfig.get_path("include")))
        elif name == "numpy":
            folders.append(Path(np.get_include()))
        elif chosen:
            folders += [Path(chosen, "include"), Path(chosen)]
        elif name == "assimp":
            folders += [Path(entry, "cmeel.prefix", "include") for entry in sys.path if entry]
    return [f"-isystem{folder}" for folder in folders if folder.is_dir()]


def run(*command: str | Path, timeout: float = HANGS) -> subprocess.CompletedProcess[str]:
    """The finished process; what it wrote on both channels is in stdout."""
    return subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=timeout,
    )


@cache
def steady() -> tuple[str, ...]:
    """The words before a program that is to have its memory at the same addresses each time, where allowed.

    A sanitizer's own are fixed; where the kernel spreads memory widely (a large vm.mmap_rnd_bits) something
    else is there now and then, and the program dies at its start.
    """
    prefix = ("setarch", platform.machine(), "-R")
    return prefix if shutil.which("setarch") and run(*prefix, "true").returncode == 0 else ()


def compile_objects(
    folder: Path, sources: Iterable[Path], flags: Sequence[str], with_compiler: str | None = None
) -> list[Path]:
    """The object files of the sources, in their order; beside each stands what else the flags ask for.

    `folder` is that of the fixture `objects_folder`. An object that the same command made before, in another
    test or in another process of pytest-xdist, is used again.
    """
    program = (with_compiler,) if with_compiler else compiler()

    def compile_one(source: Path) -> Path:
        language = ("-x", "c++", "-std=c++17") if source.suffix == ".cpp" else ()
        ours = [flag for flag in flags if not (language and flag == "-std=c11")]
        command = (*program, *ours, *language, "-c", str(source))
        place = folder / hashlib.sha256(repr(command).encode()).hexdigest()[:16]
        place.mkdir(parents=True, exist_ok=True)
        target, complete = place / f"{source.stem}.o", place / "complete"
        with (place / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not complete.exists():
                done = run(*command, "-o", target)
                assert done.returncode == 0, done.stdout
                complete.touch()
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compile_one, sources))


def compile_core(folder: Path, flags: Sequence[str], with_compiler: str | None = None) -> list[Path]:
    """The object files of the whole core.

    The sources of the SIMD kernels are compiled twice, once for each instruction set (see sk_kernel.h).
    """
    sources, kernels = sorted(SOURCES.glob("core/**/*.c")), sorted(SOURCES.glob("core/simd/*.c"))
    objects = compile_objects(folder, sources, flags, with_compiler)
    return objects + compile_objects(folder, kernels, (*flags, "-DSK_KERNELS_AVX512"), with_compiler)


def compile_importer(
    folder: Path, more: Iterable[Path], flags: Sequence[str], with_compiler: str | None = None
) -> list[Path]:
    """The object files of the importer, of the reader of blocks, and of other sources."""
    defined = [f'-DSKINPY_{name.upper()}="{VERSIONS[name]}"' for name in COMPRESSORS]
    return compile_objects(folder, [*IMPORT_AND_READER, *more], (*flags, *defined), with_compiler)


def build_importer(folder: Path, objects_folder: Path, name: str, flags: Sequence[str] = SANITIZED) -> Path:
    """tests/importer/NAME.c, compiled with the importer."""
    includes = include_flags("cglm", "jsmn", "assimp", *COMPRESSORS)
    objects = compile_importer(objects_folder, [ROOT / f"tests/importer/{name}.c"], (*flags, *includes))
    done = run(*compiler(), *flags, *objects, "-o", folder / name, *LIBRARIES)
    assert done.returncode == 0, done.stdout
    return folder / name


def build_apart(folder: Path, **options: str) -> Path:
    """Folder with the package in it, built apart from the checkout, with these environment variables."""
    tree = folder / "tree"
    left_out = shutil.ignore_patterns(
        ".*", "*.so", "_worker", "*.egg-info", "build", "dist", "__pycache__", "docs", "tests"
    )
    shutil.copytree(ROOT, tree, ignore=left_out)
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build", "--build-base", str(folder / "build")],
        cwd=tree,
        env=os.environ | options,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = (folder / "build").glob("lib*")
    return built
