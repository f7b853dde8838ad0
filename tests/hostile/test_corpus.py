"""Hostile files: those of the shared data and those that make_hostile.py makes. Each ends in an error of ours
or in a model that can be used, in time; this process does not grow, and nothing outside the folder is read.

Without SKINPY_CI=1 every eighth of the made files is loaded, and all of those that are made by hand.
"""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import judge
import make_hostile
import pytest
from conftest import DATA, FULL_RUN, HAS_DATA, NO_DATA

import skinpy

SECONDS = 5.0  # limit of a load
FEW_SECONDS = 2.0  # the same for our own files, some of which would take for ever
SLACK = 1.0  # seconds over its limit that a load may take
MOST_GROWTH = 64 << 20  # bytes
ALL_FORMATS = tuple(name for name in skinpy.build_info()["formats"] if name.isalnum())
MODELS = {"gltf", "glb", "obj", "dae", "bvh", "ply", "stl", "x", "3ds", "fbx", "b3d", "md2", "smd"}
MODELS |= {"md5mesh", "md5anim", "zae", "3mf"}


def shared_files() -> list[Path]:
    found = (DATA / "hostile").rglob("*") if HAS_DATA else ()
    return sorted(path for path in found if path.is_file() and path.suffix[1:] in MODELS)


def load(path: Path, formats: tuple[str, ...] | None, seconds: float = SECONDS) -> judge.Outcome:
    limits = skinpy.Limits(seconds=seconds)
    return judge.outcome_of(lambda: skinpy.load(path, limits=limits, allow_formats=formats))


def check_all(
    files: Iterable[Path], formats: tuple[str, ...] | None, seconds: float, finite: bool
) -> Counter[str]:
    """Loads all; finite: float32 must be able to hold what comes of them."""
    kinds: Counter[str] = Counter()
    wrong = []
    at_first = judge.resident_bytes()
    for path in files:
        outcome = load(path, formats, seconds)
        kinds[outcome.kind] += 1
        faults = [*outcome.faults]
        if finite and outcome.overflows:
            faults.append(outcome.words)
        took = outcome.seconds
        for _ in range(2):  # late again and again: one time may be the machine's, which did something else
            if took > seconds + SLACK:
                took = min(took, load(path, formats, seconds).seconds)
        if took > seconds + SLACK:
            faults.append(f"it took {took:.2f} s")
        if faults:
            wrong.append(f"{path.name}: {'; '.join(faults)}")
    assert not wrong, "\n".join(wrong)
    assert judge.resident_bytes() - at_first < MOST_GROWTH
    return kinds


# ---- the shared corpus ---------------------------------------------------------------------------


@pytest.mark.parametrize("formats", [None, ALL_FORMATS], ids=["default formats", "all formats"])
def test_shared_corpus(formats: tuple[str, ...] | None) -> None:
    files = shared_files()
    if not files:
        pytest.skip(NO_DATA)
    kinds = check_all(files, formats, SECONDS, finite=True)
    assert sum(kinds.values()) >= 77
    assert kinds["model"] >= 20, "valid ones are among them"
    assert (kinds["FormatRefused"] > 0) == (formats is None)


# ---- our own -------------------------------------------------------------------------------------


def some(files: Iterator[tuple[str, bytes]], step: int) -> Iterator[tuple[str, bytes]]:
    for number, one in enumerate(files):
        if number % step == 0:
            yield one


def written(folder: Path, files: Iterable[tuple[str, bytes]]) -> Iterator[Path]:
    """One after another: all at once they would take a lot of room."""
    for name, data in files:
        path = folder / name
        path.write_bytes(data)
        yield path
        path.unlink()


BY_HAND = (make_hostile.gltf_bombs, make_hostile.deep_trees, make_hostile.entities, make_hostile.containers)


@pytest.mark.parametrize("make", make_hostile.MAKERS, ids=lambda make: make.__name__)
def test_made_files(make: make_hostile.Maker, tmp_path: Path) -> None:
    step = 1 if FULL_RUN or make in BY_HAND else 8
    kinds = check_all(written(tmp_path, some(make(), step)), ALL_FORMATS, FEW_SECONDS, finite=False)
    assert kinds, "nothing was made"


def test_bombs_are_of_no_default_format(tmp_path: Path) -> None:
    for path in written(tmp_path, make_hostile.containers()):
        with pytest.raises(skinpy.FormatRefused, match="allow_formats"):
            skinpy.load(path)


def test_a_document_cannot_quote_a_file_of_the_system(tmp_path: Path) -> None:
    for path in written(tmp_path, make_hostile.entities()):
        outcome = load(path, None)
        if outcome.kind == "model":
            names = "".join(skinpy.load(path).skeleton.names)
            assert "root:" not in names and "haha" not in names


def test_trees_deeper_than_any_stack_load_where_they_are_valid(tmp_path: Path) -> None:
    path = tmp_path / "deep.bvh"
    path.write_bytes(make_hostile.deep_bvh(2000))
    assert len(skinpy.load(path).skeleton.names) >= 2000


@pytest.mark.parametrize("name", ["nothing", "folder", "pipe", "dangling", "zero"])
def test_what_is_no_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.glb"
    if name == "folder":
        path.mkdir()
    elif name == "pipe":
        os.mkfifo(path)
    elif name in ("dangling", "zero"):
        path.symlink_to(tmp_path / "gone" if name == "dangling" else "/dev/zero")
    outcome = load(path, None)
    assert not outcome.faults and outcome.kind != "model", outcome
    assert outcome.seconds < SECONDS + SLACK


# ---- files that lead outside ---------------------------------------------------------------------


def uses_the_secret(path: Path) -> bool:
    """Whether the model has what only the file outside says: red paint, or a box of 24 vertices."""
    outcome = load(path, None)
    assert not outcome.faults, outcome
    if outcome.kind != "model":
        return False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        model = skinpy.load(path)
    if path.suffix == ".obj":
        return any(one.base_color[0] > 0.9 > 0.1 > one.base_color[1] for one in model.materials)
    return len(model.mesh.positions) > 0


def test_nothing_outside_the_folder_is_used(tmp_path: Path) -> None:
    paths, _ = make_hostile.escapes(tmp_path)
    assert not [path.name for path in paths if uses_the_secret(path)]
    for suffix, told in (("bin", paths[0]), ("mtl", paths[-1])):  # what is inside is: so the test can fail
        shutil.copy(tmp_path / f"secret/secret.{suffix}", told.parent / f"inside.{suffix}")
        name = re.search(rf"[^\s\"]*secret\.{suffix}[^\n\"]*", told.read_text())
        assert name
        told.write_text(told.read_text().replace(name[0], f"inside.{suffix}"))
        assert uses_the_secret(told)


def opened(files: list[Path], log: Path) -> list[str]:
    """Every path that is opened while the files are loaded, by this process's child and by its workers."""
    tool = shutil.which("strace")
    if tool is None:
        pytest.skip("strace is not on PATH")
    program = """
import sys, warnings
import skinpy
warnings.simplefilter("ignore")
for path in sys.argv[1:]:
    try: skinpy.load(path)
    except skinpy.LoadError: pass
"""
    command = [tool, "-f", "-qq", "-y", "-s", "4096", "-e", "trace=open,openat,openat2,creat", "-o", str(log)]
    done = subprocess.run(
        [*command, sys.executable, "-c", program, *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in done.stderr.lower():
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    return [
        line.rpartition("<")[2].rstrip(">")
        for line in log.read_text().splitlines()
        if re.search(r"= \d+<", line)
    ]


def check_opened(files: list[Path], log: Path, secret: Path) -> None:
    paths = opened(files, log)
    assert any(str(files[0]) == path for path in paths), "strace saw no model opened"
    assert not [path for path in paths if path.startswith((str(secret), "/dev/zero"))]


def test_nothing_outside_the_folder_is_opened(tmp_path: Path) -> None:
    paths, secret = make_hostile.escapes(tmp_path)
    check_opened(paths, tmp_path / "log", secret)


def test_nothing_outside_the_folder_is_opened_for_the_shared_set(tmp_path: Path) -> None:
    folder = DATA / "hostile/escape"
    if not HAS_DATA:
        pytest.skip(NO_DATA)
    paths = [path for path in shared_files() if path.is_relative_to(folder)]
    assert paths
    check_opened(paths, tmp_path / "log", folder / "secret")
