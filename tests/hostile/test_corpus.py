"""Hostile files: those of the shared data and those that make_hostile.py makes. Each ends in an error of ours
or in a model that can be used, in time; this process does not grow, and nothing outside the folder is read.

Without SKINPY_CI=1 every eighth of the made files is loaded, and all of those that are made by hand.
"""

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import judge
import make_hostile
import opened_files
import pytest
from conftest import DATA, FULL_RUN, HAS_DATA, NO_DATA

import skinpy

SECONDS = 2.0  # limit of a load; some files would take for ever
SLACK = 120.0  # seconds over its limit that a load may take, on a busy machine
MOST_GROWTH = 64 << 20  # bytes
ALL_FORMATS = tuple(name for name in skinpy.build_info()["formats"] if name.isalnum())
MODELS = {"gltf", "glb", "obj", "dae", "bvh", "ply", "stl", "x", "3ds", "fbx", "b3d", "md2", "smd"}
MODELS |= {"md5mesh", "md5anim", "zae", "3mf"}


def shared_files() -> list[Path]:
    found = (DATA / "hostile").rglob("*") if HAS_DATA else ()
    return sorted(path for path in found if path.is_file() and path.suffix[1:] in MODELS)


def load(path: Path, formats: tuple[str, ...] | None) -> judge.Outcome:
    limits = skinpy.Limits(seconds=SECONDS)
    return judge.outcome_of(lambda: skinpy.load(path, limits=limits, allow_formats=formats))


def check_all(files: Iterable[Path], formats: tuple[str, ...] | None, finite: bool) -> Counter[str]:
    """Loads all; finite: float32 must be able to hold what comes of them."""
    kinds: Counter[str] = Counter()
    wrong = []
    at_first = judge.resident_bytes()
    for path in files:
        outcome = load(path, formats)
        kinds[outcome.kind] += 1
        faults = [*outcome.faults]
        if outcome.growth >= MOST_GROWTH:
            faults.append(f"this process grew by {outcome.growth >> 20} MiB meanwhile")
        if finite and outcome.overflows:
            faults.append(outcome.words)
        if outcome.seconds > SECONDS + SLACK:
            faults.append(f"it took {outcome.seconds:.2f} s")
        if faults:
            wrong.append(f"{path.name}: {'; '.join(faults)}")
    assert not wrong, "\n".join(wrong)
    assert judge.resident_bytes() - at_first < MOST_GROWTH
    return kinds


def test_a_load_that_grows_meanwhile_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though nothing of it stays."""
    if not judge.reset_peak():
        pytest.skip("this system does not let a process reset its peak of memory")

    def greedy(*_: object, **__: object) -> skinpy.Model:
        assert any(bytearray(b"1") * (2 * MOST_GROWTH))
        raise skinpy.LoadError("it is none")

    path = tmp_path / "a.glb"
    path.write_bytes(b"glTF")
    assert check_all([path], None, finite=True) == {"LoadError": 1}
    monkeypatch.setattr(skinpy, "load", greedy)
    with pytest.raises(AssertionError, match=r"a\.glb: this process grew by 1\d\d MiB meanwhile"):
        check_all([path], None, finite=True)


# ---- the shared corpus ---------------------------------------------------------------------------


@pytest.mark.parametrize("formats", [None, ALL_FORMATS], ids=["default formats", "all formats"])
def test_shared_corpus(formats: tuple[str, ...] | None) -> None:
    files = shared_files()
    if not files:
        pytest.skip(NO_DATA)
    kinds = check_all(files, formats, finite=True)
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
    kinds = check_all(written(tmp_path, some(make(), step)), ALL_FORMATS, finite=False)
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


LOAD_ALL = """
import sys, warnings
import skinpy
warnings.simplefilter("ignore")
for path in sys.argv[1:]:
    try: skinpy.load(path)
    except skinpy.LoadError: pass
"""


def check_opened(files: list[Path], folder: Path, secret: Path, log: Path) -> None:
    """Workers open what is below the folder, and libraries; this process nothing of the secret."""
    logs = opened_files.trace([sys.executable, "-c", LOAD_ALL, *files], log)
    by_workers = opened_files.check_workers(logs, folder, len(files))
    assert set(map(str, files)) <= set(by_workers), "strace saw a model that was not opened"
    outside = (str(secret), "/dev/zero", "/dev/stdin")
    assert not [path for path in opened_files.opened_elsewhere(logs) if path.startswith(outside)]


def test_nothing_outside_the_folder_is_opened(tmp_path: Path) -> None:
    paths, secret = make_hostile.escapes(tmp_path)
    check_opened(paths, tmp_path / "model", secret, tmp_path / "log")


def test_nothing_outside_the_folder_is_opened_for_the_shared_set(tmp_path: Path) -> None:
    folder = DATA / "hostile/escape"
    if not HAS_DATA:
        pytest.skip(NO_DATA)
    by_folder: dict[Path, list[Path]] = {}
    for path in shared_files():
        if path.is_relative_to(folder):
            by_folder.setdefault(path.parent, []).append(path)
    assert by_folder
    for number, (inside, paths) in enumerate(by_folder.items()):
        check_opened(paths, inside, folder / "secret", tmp_path / f"log{number}")
