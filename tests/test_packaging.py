"""What gets installed, and that it works: the wheel of a source archive, and editable installations.

The tests marked `ci` build and install into fresh virtual environments; the others look at the skinpy that
the tests run with. All run skinpy in processes of their own, far from the checkout.
"""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import HANGS, PROJECT, ROOT, needs_checkout

import skinpy

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

C_LIBRARY = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"}
C_LIBRARY |= {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}  # the loader of either processor
ZLIB = r"libz\.so\.1"  # which the importer needs for FBX
EXPAT = r"libexpat\.so\.1"  # and for COLLADA
#: What the importer needs for compressed glTF, where it was built with it: see `build_info`.
COMPRESSORS = {
    "built_with_meshoptimizer": r"libmeshoptimizer\.so\..*",
    "built_with_draco": r"lib(draco|stdc\+\+|gcc_s)\.so\..*",
}

# Prints what an installation has and does. Arguments: a folder to write into, and whether Assimp is there.
PROBE = """
import json, os, sys
from importlib import resources
from pathlib import Path
import skinpy
facts = {"modules": sorted(sys.modules), "package": skinpy.__file__}
folder, has_assimp = Path(sys.argv[1]), sys.argv[2] == "1"
saved = folder / "character.skn"
if has_assimp:
    skinpy.character().save(saved)
glb = resources.files("skinpy").joinpath("data", "character.glb").read_bytes()
try:
    facts["joints"] = len(skinpy.load(glb, format="glb").skeleton.names)
except skinpy.LoadError as error:
    facts["error"] = str(error)
model = skinpy.load(saved)
palette = model.palette(model.clips[0], [0.0, 0.5])
facts["palette"] = list(palette.shape)
facts["moved"] = float(abs(palette[0] - palette[1]).max())
facts["slots"] = len(model.skin.joints)
facts["clips"] = list(model.clips.names)
facts["shaders"] = sorted(entry.name for entry in resources.files("skinpy.shaders").iterdir())
facts["info"] = skinpy.build_info()
facts["core"] = skinpy._core.__file__
worker = skinpy._importer.built_path("_worker").decode()
facts["worker"], facts["executable"] = worker, os.access(worker, os.X_OK)
if has_assimp:
    facts["apart"] = bytes(memoryview(skinpy.load(glb, isolate=True)._block)) == bytes(
        memoryview(skinpy.load(glb, isolate=False)._block)
    )
print(json.dumps(facts))
"""


def run(*command: str | Path, cwd: Path, fails: bool = False) -> str:
    """What the command wrote. Python there sees no source of ours: no PYTHONPATH, another working folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert (done.returncode != 0) == fails, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr if fails else done.stdout


def probe(python: Path | str, folder: Path, has_assimp: bool = True) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(run(python, "-c", PROBE, folder, str(int(has_assimp)), cwd=folder))
    return facts


def importer_of(core: str) -> Path:
    return Path(core).with_name("_import.so")


def check_worker(facts: dict[str, Any], importer_works: bool) -> None:
    """It is there, a program that needs the C library alone, and imports in a process of its own."""
    worker = Path(facts["worker"])
    assert worker.parent == Path(facts["core"]).parent
    assert facts["executable"], "the worker cannot be run"
    dynamic = run("readelf", "--wide", "--dynamic", worker, cwd=worker.parent)
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)) <= C_LIBRARY
    assert "INTERP" in run("readelf", "--wide", "--program-headers", worker, cwd=worker.parent)
    if importer_works:
        assert "process" in facts["info"]["isolation"], facts["info"]["isolation_error"]
        assert facts["info"]["isolation_error"] is None
        assert facts["apart"], "a model is not the same from both processes"


def check_shared_object(path: Path, exported: str, libraries: tuple[str, ...] = ()) -> None:
    """It needs the C library and what is named, and no Assimp, and shows the one name it is opened for."""
    dynamic = run("readelf", "--wide", "--dynamic", path, cwd=path.parent)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)) - C_LIBRARY
    assert not [name for name in needed if not any(re.fullmatch(known, name) for known in libraries)]
    symbols = run("readelf", "--wide", "--dyn-syms", path, cwd=path.parent)
    shown = set(re.findall(r"(?:FUNC|OBJECT)\s+GLOBAL\s+DEFAULT\s+\d+\s+(\w+)", symbols))
    assert shown == {exported}


def check_facts(facts: dict[str, Any], importer_works: bool) -> None:
    """What every installation must say of itself."""
    heavy = ("moderngl", "glcontext", "glfw", "PIL", "scipy", "IPython", "skinpy.render", "skinpy.output")
    assert not set(facts["modules"]) & set(heavy)
    assert facts["palette"] == [2, facts["slots"], 4, 4]
    assert facts["moved"] > 0
    assert {"walk", "run", "wave"} <= set(facts["clips"])
    assert {path.name for path in (ROOT / "shaders").iterdir() if path.is_file()} <= set(facts["shaders"])
    assert facts["info"]["version"] == PROJECT["version"]
    assert facts["info"]["built_with_assimp"].startswith("6")
    if importer_works:
        assert facts["joints"] >= 15
        assert facts["info"]["assimp_version"].startswith("6")
    else:
        assert "cmeel-assimp" in facts["error"]
        assert "cmeel-assimp" in facts["info"]["assimp_error"]
    check_shared_object(Path(facts["core"]), "PyInit__core")
    compressors = [pattern for fact, pattern in COMPRESSORS.items() if facts["info"][fact]]
    check_shared_object(importer_of(facts["core"]), "sk_importer_open", (ZLIB, EXPAT, *compressors))
    check_worker(facts, importer_works)


# ---- the skinpy that the tests run with ---------------------------------------------------------


def test_this_installation(tmp_path: Path) -> None:
    needs_checkout()
    check_facts(probe(sys.executable, tmp_path), importer_works=True)


def test_metadata() -> None:
    metadata = importlib.metadata.metadata(PROJECT["name"])
    assert metadata["Version"] == PROJECT["version"]
    assert metadata["License-Expression"] == "MIT"
    extras = {"view", "plot", "jupyter", "video", "benchmarks", "docs", "test", "dev"}
    assert set(metadata.get_all("Provides-Extra")) == extras
    needed = importlib.metadata.requires(PROJECT["name"]) or []
    plain = {re.split(r"[<>=! ]", line)[0] for line in needed if "extra ==" not in line}
    assert plain == {"numpy", "cmeel-assimp"}


def test_command_is_installed() -> None:
    (command,) = importlib.metadata.entry_points(group="console_scripts", name="skinpy")
    assert command.value == "skinpy.__main__:main"


# ---- what setup.py says when something is missing --------------------------------------------------


def setup_says(tmp_path: Path, **environment: str) -> str:
    """The words of a build that must fail; it never gets as far as to write anything."""
    needs_checkout()
    done = subprocess.run(
        [sys.executable, "setup.py", "--version"],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("name", ["assimp", "cglm", "jsmn", "zlib", "expat", "meshoptimizer", "draco"])
def test_a_named_prefix_without_its_headers_is_refused(tmp_path: Path, name: str) -> None:
    said = setup_says(tmp_path, **{f"SKINPY_{name.upper()}_DIR": str(tmp_path / "nowhere")})
    assert f".h in SKINPY_{name.upper()}_DIR ({tmp_path / 'nowhere'}) is missing" in said


#: Runs setup.py as on a system without headers and NumPy.
BARE = """
import pathlib, runpy, sys
sys.argv = ["setup.py", "--version"]
there = pathlib.Path.is_file
pathlib.Path.is_file = lambda path: path.suffix != ".h" and there(path)
sys.modules["numpy"] = None  # importing it fails
runpy.run_path("setup.py", run_name="__main__")
"""


def test_one_sentence_names_all_that_is_missing() -> None:
    """And the packages of Debian that have it."""
    needs_checkout()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKINPY_")}
    done = subprocess.run(
        [sys.executable, "-c", BARE],
        cwd=ROOT,
        env=environment | {"CC": "no-such-cc"},
        capture_output=True,
        text=True,
    )
    assert done.stderr == (
        "skinpy cannot be built: a C compiler with its headers (no-such-cc), Python.h, NumPy 2, "
        "assimp/scene.h, cglm/cglm.h, jsmn.h, zlib.h and expat.h are missing; on Debian and Ubuntu, run "
        "apt-get install gcc libc6-dev python3-dev libcglm-dev libjsmn-dev zlib1g-dev libexpat1-dev; "
        "run pip install 'numpy>=2,<3' 'cmeel-assimp>=6.0.5,<7'; "
        "docs/installing.md says where skinpy looks.\n"
    )


@pytest.mark.ci
def test_pip_ends_with_what_is_missing(sdist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKINPY_CGLM_DIR", str(tmp_path))
    said = run(sys.executable, "-m", "pip", "install", *OFFLINE, sdist, cwd=tmp_path, fails=True)
    shown = said.partition("[end of output]")[0].splitlines()[-2].strip()
    assert shown.startswith("skinpy cannot be built: cglm/cglm.h in SKINPY_CGLM_DIR")
    assert "Traceback" not in said


@pytest.mark.parametrize("told_by", ["description", "library", "headers"])
def test_an_old_assimp_is_refused(tmp_path: Path, told_by: str) -> None:
    headers = tmp_path / "include/assimp"
    description = tmp_path / "lib/pkgconfig/assimp.pc"
    headers.mkdir(parents=True)
    description.parent.mkdir(parents=True)
    (headers / "scene.h").touch()
    kinds = "" if told_by == "headers" else "enum { aiAnimInterpolation_Cubic_Spline };"
    (headers / "anim.h").write_text(kinds)
    if told_by == "description":
        description.write_text("Name: Assimp\nVersion: 5.4.3\n")
    elif told_by == "library":
        (tmp_path / "lib/libassimp.so.5.4.3").touch()
    said = setup_says(tmp_path, SKINPY_ASSIMP_DIR=str(tmp_path))
    assert "too old" in said
    assert told_by == "headers" or "5.4.3" in said


# ---- other installations ------------------------------------------------------------------------------

#: Options of pip: it builds with what is installed.
OFFLINE = ("--disable-pip-version-check", "--no-index", "--no-build-isolation", "--no-deps")


def source_files() -> set[str]:
    """The files of the repository, with those that are not committed yet."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git repository, which lists the files: this is a source archive")
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    return {name for name in listed.split("\0") if (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources as a clone has them: building leaves files behind."""
    tree = tmp_path_factory.mktemp("tree") / "skinpy"
    for name in source_files():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    return tree


@pytest.fixture(scope="module")
def sdist(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, tree, cwd=folder)
    (archive,) = folder.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built from the sdist, as pip builds it without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    offline = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*offline, "true"], capture_output=True).returncode:
        offline = []  # where that is not allowed
    pip = [*offline, sys.executable, "-m", "pip", "wheel", "--quiet", *OFFLINE]
    run(*pip, "-w", folder, sdist, cwd=folder)
    (archive,) = folder.glob("*.whl")
    return archive


def pip(python: Path, *arguments: str | Path) -> None:
    """Runs the pip of the tests on another environment, which then needs none of its own."""
    command = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python", python)
    run(*command, *arguments, cwd=python.parent)


def fresh_python(folder: Path, *install: str | Path) -> Path:
    """The Python of a new virtual environment with nothing but what is installed into it."""
    venv.create(folder / "venv")
    python = folder / "venv/bin/python"
    pip(python, "install", "--no-compile", *install)
    return python


@pytest.mark.ci
def test_sdist_is_the_repository(sdist: Path) -> None:
    """So whoever packages skinpy builds, tests and documents it without a clone."""
    with tarfile.open(sdist) as archive:
        names = {one.name.partition("/")[2] for one in archive.getmembers() if one.isfile()}
    made = {name for name in names if re.match(r"(PKG-INFO|setup\.cfg|skinpy_anim\.egg-info/.*)$", name)}
    assert names - made == source_files()


@pytest.mark.ci
def test_wheel_holds_the_product_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in names} == {"skinpy"}
    assert not [name for name in names if name.endswith((".c", ".cpp", ".h"))]
    assert {"skinpy/py.typed", "skinpy/_core.pyi", "skinpy/data/character.glb"} <= names
    assert {
        f"skinpy/view/page/web/{path.name}" for path in (ROOT / "skinpy/view/page/web").iterdir()
    } <= names
    built = {name for name in names if name.endswith(".so")}
    assert built == {f"skinpy/{Path(skinpy._core.__file__).name}", "skinpy/_import.so"}
    assert "skinpy/_worker" in names


@pytest.mark.ci
@pytest.mark.skipif(FREE_THREADED, reason="a free-threaded Python, which has no limited API")
def test_wheel_serves_every_later_python(wheel: Path) -> None:
    """What abi3audit knows of each name of Python that the extension uses."""
    assert "-cp311-abi3-" in wheel.name
    said = json.loads(run(sys.executable, "-m", "abi3audit", "--strict", "--report", wheel, cwd=wheel.parent))
    ((_, found),) = said["specs"].items()
    results = {one["name"]: one["result"] for one in found["wheel"]}
    assert results["_core.abi3.so"]["is_abi3_baseline_compatible"], results


def python_of(minor: int) -> str:
    """A Python 3.`minor` with the GIL, of the PATH or of pyenv."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for candidate in (f"python3.{minor}", *sorted(root.glob(f"versions/3.{minor}.*[0-9]/bin/python"))):
        with suppress(OSError):
            if not subprocess.run([candidate, "-c", "import venv"], capture_output=True).returncode:
                return str(candidate)
    pytest.skip(f"no other Python: 3.{minor} is not installed")


@pytest.mark.ci
@pytest.mark.skipif(FREE_THREADED, reason="a free-threaded Python, which has no limited API")
@pytest.mark.parametrize("minor", sorted({12, 13, 14} - {sys.version_info.minor}))
def test_wheel_on_another_python(wheel: Path, tmp_path: Path, minor: int) -> None:
    """One wheel, of the Python that runs the tests, serves the others."""
    run(python_of(minor), "-m", "venv", "--without-pip", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv/bin/python"
    pip(python, "install", "--no-compile", wheel)
    check_facts(probe(python, tmp_path), importer_works=True)


@pytest.mark.ci
@pytest.mark.parametrize("mode", ["lenient", "strict"])
def test_install_editable(tree: Path, tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built for a debugger, which takes half the time; the modes differ in where the files are put."""
    monkeypatch.setenv("SKINPY_DEBUG", "1")
    copy = shutil.copytree(tree, tmp_path / "skinpy-source")
    python = fresh_python(tmp_path, "--config-settings", f"editable_mode={mode}", "--editable", copy)
    facts = probe(python, tmp_path)
    check_facts(facts, importer_works=True)
    assert Path(facts["package"]).resolve().is_relative_to(copy)
