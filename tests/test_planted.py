"""Libraries, programs and modules that lie in a folder of models are never loaded or run.

Each of them would make a file when it is loaded. All of them lie in one folder, which is the working folder,
and that of the script and the model.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import builders
import pytest
from c_compiler import compiler, run
from conftest import ROOT

import skinpy
from skinpy import _importer
from skinpy.output import mp4

ASSIMP = "libassimp.so.6"
#: Libraries that the importer and the loaders of OpenGL open or are linked to.
LIBRARIES = (
    *(ASSIMP, "libmeshoptimizer.so.2d", "libdraco.so.7", "libexpat.so.1", "libz.so.1", "libstdc++.so.6"),
    *("libGL.so", "libGL.so.1", "libEGL.so", "libEGL.so.1", "libglfw.so.3"),
)
#: Modules that skinpy imports sooner or later, and some of Python's own.
MODULES = (
    *("numpy", "PIL", "moderngl", "glfw", "matplotlib", "trimesh", "imageio_ffmpeg", "IPython"),
    *("typing", "argparse", "dataclasses", "json", "warnings", "site", "skinpy_anim"),
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the library is built for Linux")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that makes the file of the variable LOADED when it is loaded."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "planted.c").write_text("""
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void) {
  const char *path = getenv("LOADED");
  close(open(path ? path : "LOADED", O_CREAT | O_WRONLY, 0600));
  _exit(77);
}""")
    done = run(*compiler(), "-shared", "-fPIC", "-o", folder / "planted.so", folder / "planted.c")
    assert done.returncode == 0, done.stdout
    return folder / "planted.so"


@pytest.fixture
def folder(tmp_path: Path, library: Path) -> Path:
    """A folder of models with everything planted."""
    folder = tmp_path / "models"
    for place in (".", "lib", "cmeel.prefix/lib"):
        (folder / place).mkdir(parents=True, exist_ok=True)
        for name in LIBRARIES:
            shutil.copy(library, folder / place / name)
    for name in MODULES:
        (folder / f"{name}.py").write_text(
            "import os\nopen(os.environ['LOADED'], 'w').close()\nos._exit(77)\n"
        )
    for name in ("ffmpeg", "ffprobe", "_worker", "skinpy-worker"):
        (folder / name).write_text('#!/bin/sh\n: >"$LOADED"\n')
        (folder / name).chmod(0o755)
    (folder / "model.glb").write_bytes(builders.random_model(3, joints=4, vertices=50).glb())
    (folder / "model.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    return folder


def started(folder: Path, arguments: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder, and check that nothing there was loaded."""
    made = folder.parent / "loaded"
    environment = {name: value for name, value in os.environ.items() if name != "SKINPY_ASSIMP_DIR"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment | {"LOADED": str(made)} | variables,
        capture_output=True,
        text=True,
    )
    assert not made.exists() and not (folder / "LOADED").exists(), (arguments, done.stdout, done.stderr)
    return done


RELATIVE = [":", ".", "", ":/nowhere", "lib:/nowhere;", "cmeel.prefix/lib"]


@pytest.mark.parametrize("command", [["info", "model.obj"], ["check", "model.glb"], ["info", "./model.obj"]])
def test_the_command_line_loads_nothing_of_its_folder(folder: Path, command: list[str]) -> None:
    done = started(folder, ["-m", "skinpy", *command])
    assert done.returncode == 0, done.stderr


WITHOUT_WHEEL = """
import sys
import skinpy
from skinpy import _importer
_importer._installations = list
try: skinpy.load(sys.argv[1], isolate={isolate})
except skinpy.LoadError as error: print("no Assimp" in str(error))
else: print(not skinpy.build_info()["assimp"].startswith("/tmp"))
"""


@pytest.mark.parametrize("isolate", [True, False])
@pytest.mark.parametrize("entries", ["cmeel.prefix/lib", "./cmeel.prefix/lib:", "/nowhere;cmeel.prefix/lib"])
def test_the_system_does_not_look_in_the_working_folder(folder: Path, entries: str, isolate: bool) -> None:
    for name in LIBRARIES:
        if name != ASSIMP:  # which decides what Python itself loads, too
            (folder / "cmeel.prefix/lib" / name).unlink()
            (folder / name).unlink()
    for name in MODULES:
        (folder / f"{name}.py").unlink()
    code = WITHOUT_WHEEL.format(isolate=isolate)
    assert started(folder, ["-c", code, "model.obj"], LD_LIBRARY_PATH=entries).stdout == "True\n"


SCRIPT = """
import os, sys
import skinpy
model = skinpy.load(sys.argv[1], isolate={isolate})
assert len(model.mesh.positions)
assert not skinpy.build_info()["assimp"].startswith(os.getcwd())
"""


@pytest.mark.parametrize("isolate", [True, False])
@pytest.mark.parametrize("how", ["script", "-c"])
def test_scripts_load_no_library_of_their_folder(folder: Path, how: str, isolate: bool) -> None:
    """Python finds modules in that folder by its own rules, but libraries are skinpy's business."""
    for name in MODULES:
        (folder / f"{name}.py").unlink()
    code = SCRIPT.format(isolate=isolate)
    (folder / "script.py").write_text(code)
    first = ["-c", code] if how == "-c" else [str(folder / "script.py")]
    for name in ("model.obj", str(folder / "model.glb")):
        done = started(folder, [*first, name])
        assert done.returncode == 0, done.stderr
    elsewhere = started(folder / "lib", [*first, str(folder / "model.obj")])
    assert elsewhere.returncode == 0, elsewhere.stderr


@pytest.mark.parametrize("value", ["lib", ".", "../models"])
def test_a_prefix_that_depends_on_the_working_folder_is_refused(folder: Path, value: str) -> None:
    done = started(folder, ["-m", "skinpy", "info", "model.obj"], SKINPY_ASSIMP_DIR=value)
    assert done.returncode == 1 and f"SKINPY_ASSIMP_DIR is {value!r}" in done.stderr
    assert "expected an absolute path" in done.stderr


@pytest.mark.parametrize("entries", RELATIVE)
def test_ffmpeg_of_a_working_folder_is_not_run(
    folder: Path, entries: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder / "cmeel.prefix")
    shutil.copy(folder / "ffmpeg", folder / "cmeel.prefix" / "lib")
    shutil.copy(folder / "ffmpeg", folder / "cmeel.prefix")
    monkeypatch.setenv("PATH", entries)
    monkeypatch.setenv("LOADED", str(folder / "LOADED"))
    monkeypatch.delenv("IMAGEIO_FFMPEG_EXE", raising=False)
    try:
        found = mp4.find_ffmpeg()
    except ImportError:
        found = "/none"
    assert os.path.isabs(found) and not Path(found).is_relative_to(folder)
    monkeypatch.setattr(mp4.importlib, "import_module", lambda name: NoProgram)
    with pytest.raises(ImportError, match="needs ffmpeg"):
        mp4.find_ffmpeg()
    assert not (folder / "LOADED").exists()


class NoProgram:
    """The package imageio-ffmpeg without a program of its own: then it tries that of the PATH."""

    __path__ = ("/nowhere",)

    @staticmethod
    def get_ffmpeg_exe() -> str:
        if shutil.which("ffmpeg"):
            subprocess.run(["ffmpeg"], check=True)
        raise RuntimeError("none")


def test_an_ffmpeg_of_an_absolute_folder_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f":.:{folder / 'tools'}")
    (folder / "tools").mkdir()
    shutil.copy(folder / "ffmpeg", folder / "tools")
    assert mp4.find_ffmpeg() == str(folder / "tools" / "ffmpeg")


def test_paths_of_assimp_are_absolute_and_those_of_installations() -> None:
    *paths, name = _importer.assimp_paths(None, "", isolated=False)
    assert name == ASSIMP.encode() and paths
    assert Path(os.fsdecode(paths[0])).is_file() and all(map(os.path.isabs, paths))
    assert _importer.assimp_paths(None, "/a:/b", isolated=False)[-1] == name
    for entries in (":", ".", "/a:", "/a;b", "$ORIGIN"):
        assert _importer.assimp_paths(None, entries, isolated=True) == (*paths, name)
        assert name not in _importer.assimp_paths(None, entries, isolated=False)
    assert _importer.assimp_paths(None, "/a::b;/c", isolated=False)[-2:] == (b"/a/" + name, b"/c/" + name)
    assert _importer.library_folders("/a::b;/c:") == "/a:/c"


def test_the_checkout_itself_still_runs(tmp_path: Path) -> None:
    """Where skinpy lies in the working folder, that is where it comes from."""
    done = subprocess.run(
        [sys.executable, "-m", "skinpy", "--version"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == f"skinpy {skinpy.__version__}\n", done.stderr
    code = "import sys, skinpy; assert sys.path[0] == ''"  # only `python -m skinpy` is changed
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    (tmp_path / "other.py").write_text("import os, sys, skinpy\nassert sys.path[0] == os.getcwd()")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text(
        "import os, sys, skinpy\nassert sys.path[0] == os.getcwd()"
    )
    (tmp_path / "pack" / "__main__.py").write_text("import other")
    for module in ("other", "pack"):
        subprocess.run([sys.executable, "-m", module, "skinpy"], cwd=tmp_path, check=True)
