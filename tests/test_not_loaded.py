"""What `import skinpy` says, in one sentence, where it cannot work: in broken copies of the package."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, needs_checkout

import skinpy
from skinpy import _not_loaded

CORE = Path(skinpy._core.__file__)
#: The finder of an editable installation would find the modules of the checkout.
ALONE = "import sys; sys.meta_path[:] = [one for one in sys.meta_path if 'ditable' not in str(one)]\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The package without what is built."""
    needs_checkout()
    package = tmp_path / "skinpy"
    shutil.copytree(ROOT / "skinpy", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return package


def import_says(package: Path, code: str = "") -> str:
    """The sentence of the ImportError, which is the last line."""
    done = subprocess.run(
        [sys.executable, "-c", f"{ALONE}{code}\nimport skinpy"],
        cwd=package.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "circular import" not in done.stderr
    (last,) = re.findall(r"^ImportError: (.*)\Z", done.stderr.rstrip(), re.MULTILINE)
    return last


def test_source_that_is_not_built(package: Path) -> None:
    """Python started in a checkout finds its folder `skinpy` before the installed package."""
    said = import_says(package)
    assert re.search(r"skinpy is source that is not built for this Python: .* with pip install -e \.$", said)


def test_built_for_another_python(package: Path) -> None:
    shutil.copy(CORE, package / "_core.cpython-20t-x86_64-linux-gnu.so")
    said = import_says(package)
    version = f"cpython 3.{sys.version_info.minor}"
    assert f"_core.cpython-20t-x86_64-linux-gnu.so for another Python than this one ({version}" in said
    assert said.endswith("; install skinpy again, with the pip of this Python")


@pytest.mark.parametrize(
    ("at", "value", "words"),
    [
        (4, 1, "is for x86-64 with 32-bit addresses, but this Python is for"),
        (18, 183, "is for AArch64 with 64-bit addresses, but this Python is for"),
        (18, 99, "is for processor 99 with 64-bit addresses, but this Python is for"),
        (0, 0, "cannot be loaded ("),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="Linux's loader")
def test_built_for_another_processor(package: Path, at: int, value: int, words: str) -> None:
    content = bytearray(CORE.read_bytes())
    assert content[4] == 2, "this test changes a file of 64 bits"
    content[at] = value
    (package / CORE.name).write_bytes(content)
    assert f"{package / CORE.name} {words}" in import_says(package)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's loader")
def test_half_a_file(package: Path) -> None:
    (package / CORE.name).write_bytes(CORE.read_bytes()[:100])
    said = import_says(package)
    assert f"{package / CORE.name} cannot be loaded (" in said
    assert said.endswith("; install skinpy again, with the pip of this Python")


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_an_older_glibc(package: Path) -> None:
    """The newest version that the module needs becomes 9.x, which no system has."""
    content = CORE.read_bytes()
    newest = max(re.findall(rb"\0GLIBC_2\.(\d+)\0", content), key=int)
    wanted = content.replace(b"\0GLIBC_2." + newest + b"\0", b"\0GLIBC_9." + newest + b"\0")
    (package / CORE.name).write_bytes(wanted)
    said = import_says(package)
    own = _not_loaded._glibc_version()
    assert f"needs glibc 9.{newest.decode()} or newer, but this system has {own}; use a newer" in said


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_another_c_library(package: Path) -> None:
    (package / CORE.name).write_bytes(b"")
    said = import_says(package, "import os; os.confstr = lambda name: None")
    assert "needs glibc, but this system has another C library" in said


@pytest.mark.skipif(sys.platform != "linux", reason="statvfs of Linux")
def test_a_disk_without_programs(package: Path) -> None:
    """The loader says only that it "failed to map segment"; a file that is cut stands for that here."""
    (package / CORE.name).write_bytes(b"")
    mounted = "import os, types; os.statvfs = lambda path: types.SimpleNamespace(f_flag=os.ST_NOEXEC)"
    said = import_says(package, mounted)
    assert said.startswith(
        f"{package / CORE.name} lies on a disk that is mounted with noexec; install skinpy on"
    )


def test_an_archive(package: Path) -> None:
    archive = shutil.make_archive(str(package.parent / "wheel"), "zip", package.parent, "skinpy")
    shutil.rmtree(package)
    said = import_says(package, f"sys.path.insert(0, {archive!r})")
    assert said.startswith(
        f"{Path(archive, 'skinpy')} lies in an archive, from which Python loads no C modules; install"
    )


def test_an_older_python(package: Path) -> None:
    """Any Python 3 can read the file that refuses it."""
    source = (package / "__init__.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 7))
    said = import_says(package, "sys.version_info = (3, 10, 4); sys.version = '3.10.4 (main)'")
    assert said == "skinpy needs Python 3.11 or newer; this is Python 3.10.4"


def test_a_subinterpreter(tmp_path: Path) -> None:
    """In which NumPy does not work either; newer versions of NumPy refuse it themselves."""
    code = """
try:
    import _interpreters as interpreters
    create = lambda: interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    create = interpreters.create
try:
    error = interpreters.run_string(create(), "import skinpy")
except interpreters.RunFailedError as raised:
    error = raised
print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert "ImportError" in done.stdout, done.stdout + done.stderr
    assert re.search("cannot be imported in a subinterpreter|sub-?interpreter", done.stdout)
