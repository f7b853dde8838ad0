"""What the system does not allow is told as that: whose limit it is, how it is raised, and no other advice.

Each import runs in a process of its own, which has the limits of this one. The limits here are set by
setrlimit, as `ulimit` of a shell does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skinpy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")

#: Code that gives up root, to which the limit of processes does not apply.
WITHOUT_ROOT = "skinpy.load(data); import os; os.getuid() or os.setuid(65534)"
TELL = """
import sys, warnings
import skinpy
warnings.simplefilter("ignore")
path = sys.argv[1]
data = open(path, "rb").read()
{limit}
for given in (path, data):
    try:
        print("loaded", skinpy.load(given, limits=skinpy.Limits(seconds=20)))
    except BaseException as error:
        print(type(error).__name__, error)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.glb"
    skinpy.character().save(path)
    return path


def told(limit: str, path: Path, *before: str) -> list[str]:
    """What two imports, of a path and of bytes, say under a limit that Python code sets."""
    done = subprocess.run(
        [*before, sys.executable, "-c", TELL.format(limit=limit), str(path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def limited(name: str, value: int) -> str:
    return f"import resource; resource.setrlimit(resource.{name}, ({value}, {value}))"


@pytest.mark.parametrize(
    ("name", "value", "option"),
    [
        ("RLIMIT_FSIZE", 0, "f"),
        ("RLIMIT_FSIZE", 100_000, "f"),
        ("RLIMIT_DATA", 0, "d"),
        ("RLIMIT_DATA", 200 << 20, "d"),
        ("RLIMIT_AS", 1, "v"),
        ("RLIMIT_AS", 250 << 20, "v"),
        ("RLIMIT_NOFILE", 10, "n"),
        ("RLIMIT_STACK", 8192, "s"),
        ("RLIMIT_NPROC", 0, "u"),
    ],
)
def test_limits_of_the_process_are_named(model: Path, name: str, value: int, option: str) -> None:
    as_user = name == "RLIMIT_NPROC"  # who cannot read the path
    for said in told(limited(name, value) + f"; {WITHOUT_ROOT}" * as_user, model)[as_user:]:
        assert name in said and f"ulimit -{option}" in said and f" {value} " in said, said
        assert "isolate=False" not in said and "skinpy.Limits" not in said


def test_skinpys_own_limits_are_still_its_own(model: Path) -> None:
    """Under a limit of the process that is higher."""
    for name in ("RLIMIT_AS", "RLIMIT_DATA"):
        code = f"import resource; resource.setrlimit(resource.{name}, (8 << 30, 8 << 30))"
        code += "; old = skinpy.Limits; skinpy.Limits = lambda seconds: old(memory=1 << 14)"
        for said in told(code, model):
            assert said.startswith("LimitExceeded") and "limits=skinpy.Limits(memory=...)" in said


def test_high_limits_are_no_fault(model: Path) -> None:
    for name, value in (("RLIMIT_FSIZE", 1 << 30), ("RLIMIT_AS", 8 << 30), ("RLIMIT_NOFILE", 20)):
        for said in told(limited(name, value), model):
            assert said.startswith("loaded"), said


def test_a_missing_null_device_is_named(model: Path) -> None:
    """/dev is covered by an empty folder, in a mount namespace of the child."""
    if not shutil.which("unshare") or not shutil.which("mount"):
        pytest.skip("needs unshare and mount")
    cover = ["unshare", "--mount", *(["--map-root-user"] if os.getuid() else []), "sh", "-c"]
    if subprocess.run([*cover, "mount -t tmpfs none /dev"], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    for said in told("", model, *cover, 'mount -t tmpfs none /dev && exec "$0" "$@"'):
        assert "/dev/null cannot be opened (No such file or directory)" in said and "mount /dev" in said, said
        assert "isolate=False" not in said


def test_a_limit_of_processor_time_is_named(model: Path, tmp_path: Path) -> None:
    """A false worker computes for ever; the limit ends it before the deadline of the load does."""
    code = f"""
import resource, sys, time
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_isolation import false_worker, load_by
worker = false_worker(Path({str(tmp_path)!r}), "while True: pass")
limit = int(time.process_time()) + 1
resource.setrlimit(resource.RLIMIT_CPU, (limit, 1000))
try:
    load_by(worker, Path({str(model)!r}), seconds=60)
except Exception as error:
    print(limit, type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    limit, kind, said = done.stdout.split(" ", 2)
    assert kind == "LimitExceeded" and f"a limit of {limit} seconds of processor time (RLIMIT_CPU" in said
    assert "ulimit -t" in said and "skinpy.Limits" not in said


def test_a_limit_that_leaves_no_memory_to_a_driver_is_named() -> None:
    """What is missing is not a package then."""
    pytest.importorskip("moderngl")
    code = f"""
import skinpy
from skinpy.render.gpu import context
{limited("RLIMIT_AS", 300_000 << 10)}
try:
    context.create_context()
except skinpy.GraphicsError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "a limit of 307200000 bytes of address space (RLIMIT_AS, set outside of skinpy)" in done.stdout
    assert "ulimit -v" in done.stdout and "install" not in done.stdout
