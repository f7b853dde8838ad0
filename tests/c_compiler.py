"""How the tests call the C compiler: the headers' folders are found as setup.py finds them."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

SOURCES = ROOT / "csrc"
#: What a program needs that imports and reads what came of it.
IMPORT_AND_READER = sorted(SOURCES.glob("import/**/*.c"))
IMPORT_AND_READER += sorted(SOURCES.glob("core/model/sk_block*.c"))
IMPORT_AND_READER += [
    *(SOURCES / f"core/base/sk_{name}.c" for name in ["base", "cores", "math", "threads"]),
    *(SOURCES / f"core/model/sk_{name}.c" for name in ["lines", "pack"]),
]


def compiler() -> str:
    """gcc, or what CC names; the test that asks is skipped where there is none."""
    name = os.environ.get("CC") or "gcc"
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no C compiler: {name} is not on PATH")
    return found


def include_flags(*wanted: str) -> list[str]:
    """-isystem for those of cglm, jsmn, assimp, python and numpy that are not in /usr/include."""
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


def run(*command: str | Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """The finished process; what it wrote on both channels is in stdout."""
    return subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=timeout,
    )


def build_apart(folder: Path, **options: str) -> Path:
    """Folder with the package in it, built apart from the checkout, with these environment variables."""
    tree = folder / "tree"
    left_out = shutil.ignore_patterns(
        ".*", "*.so", "*.egg-info", "build", "dist", "__pycache__", "docs", "tests"
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
