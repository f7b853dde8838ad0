"""The wheels of this checkout, as `sh quickstart.sh wheel` builds them: once in a run of the tests.

Several files of tests may want them, in several processes; the first to ask builds them. SKINPY_WHEELS names
a folder that keeps them, for what tests them afterwards (.ci/run).
"""

import fcntl
import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import HANGS, ROOT

PROCESSORS = ("x86_64", "aarch64")
#: What a clone does not have: building and testing leave it behind.
LEFT_BEHIND = (".git", ".venv*", ".roots", ".*cache", "*.so", "_worker", "*.egg-info", "build", "dist")


def build_wheels(folder: Path, cache: Path, *options: str, added_mode: int = 0) -> Path:
    """Build into `folder`, in a copy of this checkout beside it; zig keeps what it compiles in `cache`.

    The files of the copy have the mode bits `added_mode` too.
    """
    tree = folder.with_name(f"{folder.name}-tree")
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*LEFT_BEHIND, "__pycache__"))
    for path in filter(Path.is_file, tree.rglob("*")):
        path.chmod(path.stat().st_mode | added_mode)
    environment = {
        name: value for name, value in os.environ.items() if name not in ("CC", "CXX", "PYTHONPATH")
    }
    environment |= {"SOURCE_DATE_EPOCH": "1700000000", "ZIG_GLOBAL_CACHE_DIR": str(cache)}
    done = subprocess.run(
        ["sh", "quickstart.sh", "wheel", folder, *options],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return folder


def shared_folder(temporary: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run of the tests share."""
    base = temporary.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "wheels"
    folder.mkdir(exist_ok=True)
    return folder


def built_wheels(temporary: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels by processor."""
    folder = shared_folder(temporary)
    complete = Path(os.environ.get("SKINPY_WHEELS") or folder / "complete")
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.is_dir():
            complete.parent.mkdir(exist_ok=True)
            shutil.move(build_wheels(folder / "built", folder / "zig"), complete)
    return {name: path for path in complete.glob("*.whl") for name in PROCESSORS if path.stem.endswith(name)}


def own_wheel(temporary: pytest.TempPathFactory) -> Path:
    """The wheel for the processor of this machine."""
    return built_wheels(temporary)[platform.machine()]
