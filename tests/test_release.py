"""What a release is made of: one version, metadata and a description for an index, and .ci/release.py.

The release is tried on small repositories, whose `quickstart.sh wheel` builds a wheel of Python alone.
"""

import email
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from conftest import HANGS, PROJECT, ROOT, needs_checkout

needs_checkout()

#: Where the version of the day may stand too: it is history there.
HISTORY = {"CHANGELOG.md", "benchmarks/results.json", "docs/benchmarks.md"}
URLS = """\
[project.urls]
Homepage = "https://example.org/skinpy"
Documentation = "https://example.org/skinpy/docs"
Source = "https://example.org/skinpy/source"
Issues = "https://example.org/skinpy/issues"
Changelog = "https://example.org/skinpy/changes"

"""


def test_one_place_states_the_version() -> None:
    """All else asks pyproject.toml: setup.py, the extension, the documentation."""
    literal = re.compile(rf"(?<![\w.]){re.escape(PROJECT['version'])}(?![\w.]*\d)")
    folders = ("csrc", "skinpy", "shaders", "docs", "benchmarks", "examples", "notebooks", ".ci")
    kinds = re.compile(r"\.(pyi?|c|h|md|rst|toml|json|sh|ipynb|in|js|html)")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*")] + list(ROOT.glob("*"))
    found = {
        path.relative_to(ROOT).as_posix()
        for path in paths
        if path.is_file() and kinds.fullmatch(path.suffix) and literal.search(path.read_text("utf-8"))
        if "_build" not in path.parts
    }
    assert found - HISTORY == {"pyproject.toml"}


def test_classifiers_are_known_and_agree_with_the_metadata() -> None:
    classifiers = set(PROJECT["classifiers"])
    known = pytest.importorskip("trove_classifiers", reason="trove-classifiers is missing").classifiers
    assert classifiers <= set(known)
    assert not [name for name in classifiers if name.startswith("License ::")]  # PEP 639: `license` says it
    oldest = min(int(name.rpartition(".")[2]) for name in classifiers if " :: 3." in name)
    assert PROJECT["requires-python"] == f">=3.{oldest}"


def test_description_has_no_links_into_the_repository(tmp_path: Path) -> None:
    """A package index shows README.md alone, so pages and pictures need addresses."""
    markdown = pytest.importorskip("readme_renderer.markdown", reason="readme-renderer is missing")
    for name in ("setup.py", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    text = (ROOT / "pyproject.toml").read_text()
    (tmp_path / "pyproject.toml").write_text(f"{text}\n{URLS}")
    command = [sys.executable, "setup.py", "-q", "--long-description"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = markdown.render(done.stdout)
    source = "https://example.org/skinpy/source"
    links = set(re.findall(r'(?:href|src)="([^"#][^"]*)"', page))
    assert [link for link in links if not link.startswith("https://")] == []
    ours = [link.removeprefix(source).split("/", 3) for link in links if link.startswith(source)]
    assert len(ours) > 50 and page.count("<img") == (ROOT / "README.md").read_text().count("docs/images/")
    for _, kind, tag, path in ours:
        assert tag == f"v{PROJECT['version']}" and (ROOT / path.partition("#")[0]).is_file()
        assert kind == ("raw" if path.startswith("docs/images/") else "blob")


# ---- releases of a small repository ---------------------------------------------------------------------

PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "skinpy-anim"
version = "0.1.0"
readme = "README.md"

[tool.setuptools]
packages = ["skinpy"]

"""
QUICKSTART = """\
#!/bin/sh
# Stands in for the real one, which takes minutes: quickstart.sh wheel FOLDER
set -eu
{first}
exec {python} -m build --quiet --no-isolation --wheel --outdir "$2" .
"""


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def identify(folder: Path) -> None:
    git(folder, "config", "user.name", "A Maintainer")
    git(folder, "config", "user.email", "maintainer@example.org")


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Change")


def write_quickstart(folder: Path, first: str = "") -> None:
    (folder / "quickstart.sh").write_text(QUICKSTART.format(first=first, python=sys.executable))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with all that a release needs, on main, with one change to release."""
    if not shutil.which("git"):
        pytest.skip("git is missing, which the full run installs")
    folder = tmp_path / "repository"
    for name in ("release.py", "changes.py", "changes.jinja.md"):
        (folder / ".ci").mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / ".ci" / name, folder / ".ci")
    towncrier = re.search(
        r"^\[tool\.towncrier\]\n.*?\n(?=\[)", (ROOT / "pyproject.toml").read_text(), re.S | re.M
    )
    assert towncrier
    files = {
        "pyproject.toml": PYPROJECT + URLS + towncrier[0],
        "README.md": "# A small project\n",
        "CHANGELOG.md": "# Changelog\n\n<!-- towncrier release notes start -->\n",
        "skinpy/__init__.py": "",
        "docs/changes/README.md": "",
        "docs/changes/crash.fixed.md": "- It works.\n",
        ".gitignore": "dist/\nbuild/\n*.egg-info/\n__pycache__/\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    write_quickstart(folder)
    git(folder, "init", "--quiet", "--initial-branch=main")
    identify(folder)
    commit(folder)
    return folder


def state(folder: Path) -> tuple[str, ...]:
    """All that a release may change: references, files that git tracks or does not, and builds."""
    return (
        git(folder, "for-each-ref"),
        git(folder, "status", "--porcelain"),
        git(folder, "log", "--format=%H", "-1"),
        *sorted(str(path) for path in (folder / "dist").rglob("*")),
    )


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    work = folder.parent / "work"
    work.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, ".ci/release.py", *arguments],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(work)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def release(folder: Path, *arguments: str) -> tuple[int, str]:
    process = start(folder, *arguments)
    said, _ = process.communicate(timeout=HANGS)
    assert list((folder.parent / "work").iterdir()) == [], "temporary clones are left"
    return process.returncode, said


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def spoil(folder: Path, how: str) -> None:
    """Makes a repository one that cannot be released, as the name of the case says."""
    match how:
        case "dirty":
            (folder / "README.md").write_text("# Another title\n")
        case "untracked":
            (folder / "new.txt").write_text("new\n")
        case "another branch":
            git(folder, "switch", "--quiet", "--create", "topic")
        case "no branch":
            git(folder, "switch", "--quiet", "--detach")
        case "the tag is there":
            git(folder, "tag", "v0.1.0")
        case "a newer tag":
            git(folder, "tag", "v0.2.0")
            git(folder, "tag", "vector")
        case "a newer version":
            edit(folder / "pyproject.toml", 'version = "0.1.0"', 'version = "0.2.0"')
        case "no changes":
            (folder / "docs/changes/crash.fixed.md").unlink()
        case "a bad change":
            (folder / "docs/changes/crash.fixed.md").write_text("repaired\n")
        case "no address":
            edit(folder / "pyproject.toml", "Issues =", "Others =")
        case "words of the time before":
            (folder / "README.md").write_text("skinpy is not on PyPI yet.\n")
        case "built before":
            (folder / "dist/0.1.0").mkdir(parents=True)
        case "nobody":
            git(folder, "config", "user.email", "")
    if how not in ("dirty", "untracked"):
        git(folder, "add", "--all")
        if git(folder, "status", "--porcelain"):
            commit(folder)


@pytest.mark.parametrize(
    ("how", "version", "reason"),
    [
        ("dirty", "0.1.0", "M README.md"),
        ("untracked", "0.1.0", "new.txt"),
        ("another branch", "0.1.0", "the branch is topic"),
        ("no branch", "0.1.0", "the branch is none"),
        ("the tag is there", "0.1.0", "the tag v0.1.0 is there already"),
        ("a newer tag", "0.1.5", "0.1.5 is not newer than 0.2.0, which is released"),
        ("a newer version", "0.1.5", "0.1.5 is older than 0.2.0, which pyproject.toml has"),
        ("no changes", "0.1.0", "docs/changes has no changes"),
        ("a bad change", "0.1.0", "an entry is one line"),
        ("no address", "0.1.0", "pyproject.toml lacks Issues"),
        ("words of the time before", "0.1.0", "README.md says that skinpy is not on PyPI"),
        ("built before", "0.1.0", "the folder dist/0.1.0 is there already"),
        ("nobody", "0.1.0", "git has no user.email"),
        ("no version", "one", "'one' is not a version"),
        ("not as written", "0.2.0-rc.1", "such as 0.2.0rc1"),
    ],
)
def test_release_is_refused(repository: Path, how: str, version: str, reason: str) -> None:
    spoil(repository, how)
    before = state(repository)
    status, said = release(repository, version)
    assert status == 1 and reason in said and "Traceback" not in said, said
    assert said.count("release: ") == 1, "one problem is one line"
    assert state(repository) == before


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ("exit 1", "this command failed: sh quickstart.sh wheel"),
        ("echo wheel: WARNING: the newest zlib is missing", "WARNING: the newest zlib is missing"),
        pytest.param(
            "date '+# %N' > skinpy/time.py", "two builds of one commit differ", marks=pytest.mark.ci
        ),
    ],
)
def test_release_that_fails_leaves_all_as_it_was(repository: Path, first: str, reason: str) -> None:
    """The wheel cannot be built, or an older library got in, or two builds differ by the time of day."""
    pytest.importorskip("towncrier", reason="towncrier is missing")
    write_quickstart(repository, first)
    commit(repository)
    before = state(repository)
    status, said = release(repository, "0.1.0")
    assert status == 1 and "Traceback" not in said and reason in said, said
    assert state(repository) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_release_that_is_interrupted_leaves_all_as_it_was(repository: Path, number: int) -> None:
    pytest.importorskip("towncrier", reason="towncrier is missing")
    reached = repository.parent / "reached"
    # The build has a process of its own, as a compiler is one.
    write_quickstart(
        repository, f"mktemp -d; sleep 1000 & echo $! >{reached}.new; mv {reached}.new {reached}; wait"
    )
    commit(repository)
    before = state(repository)
    process = start(repository, "0.1.0")
    while not reached.exists():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.02)
    process.send_signal(number)
    process.communicate(timeout=HANGS)
    assert process.returncode == 128 + number
    compiler = Path(f"/proc/{reached.read_text().strip()}/cmdline")
    while compiler.exists() and compiler.read_bytes():  # empty: it has ended, and nobody has asked how yet
        time.sleep(0.02)
    assert state(repository) == before and list((repository.parent / "work").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_building_wheels_that_is_interrupted_leaves_nothing(tmp_path: Path, number: int) -> None:
    reached, work, programs = tmp_path / "reached", tmp_path / "work", tmp_path / "programs"
    work.mkdir()
    programs.mkdir()
    apt = programs / "apt-get"
    apt.write_text(f"#!/bin/sh\ntouch {reached}\nexec sleep 1000\n")
    apt.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, ROOT / ".ci/wheel.py", tmp_path / "wheels"],
        env=os.environ | {"TMPDIR": str(work), "PATH": f"{programs}:{os.environ['PATH']}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not reached.exists():
        assert process.poll() is None
        time.sleep(0.02)
    assert list(work.iterdir())
    process.send_signal(number)
    assert process.wait(timeout=HANGS) in (128 + number, -number)
    assert list(work.iterdir()) == []


def test_release_of_a_repository_that_moved_on_takes_nothing(repository: Path) -> None:
    """Somebody committed while the files were built, so the commit of the release cannot follow."""
    clone, files = repository.parent / "clone", repository.parent / "files"
    git(repository, "clone", "--quiet", ".", str(clone))
    identify(clone)
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "Release")
    git(clone, "tag", "--annotate", "--message", "It", "v0.1.0")
    files.mkdir()
    (files / "SHA256SUMS").write_text("")
    write_quickstart(repository, "exit 2")
    commit(repository)
    before = state(repository)
    code = "import sys; from pathlib import Path; sys.path.insert(0, '.ci'); import release; release.take("
    code += f"Path({str(clone)!r}), Path({str(files)!r}), sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, "0.1.0"], cwd=repository, capture_output=True, text=True
    )
    assert done.returncode == 1 and "merge" in done.stderr, done.stderr
    assert state(repository) == before


@pytest.mark.ci
def test_release(repository: Path) -> None:
    """A dry run changes nothing; the release has a commit, a tag, and files that an index takes."""
    before = state(repository)
    status, said = release(repository, "0.1.0", "--dry-run")
    assert status == 0, said
    assert state(repository) == before
    dry_sums = re.findall(r"^([0-9a-f]{64})  (.*)$", said, re.MULTILINE)

    status, said = release(repository, "0.1.0")
    assert status == 0, said
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "log", "--format=%s", "-1", "v0.1.0") == "Release 0.1.0"
    assert git(repository, "rev-parse", "main") == git(repository, "rev-parse", "v0.1.0^{commit}")
    assert git(repository, "cat-file", "-t", "v0.1.0") == "tag"  # annotated
    assert "### Fixed\n\n- It works.\n" in (repository / "CHANGELOG.md").read_text()
    assert not (repository / "docs/changes/crash.fixed.md").exists()
    assert "git push --atomic origin main v0.1.0 && twine upload dist/0.1.0/" in said.splitlines()[-1]

    folder = repository / "dist/0.1.0"
    listed = [line.split() for line in (folder / "SHA256SUMS").read_text().splitlines()]
    assert {name for _, name in listed} == {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
    assert [name for _, name in listed] == [name for _, name in dry_sums]
    for digest, name in listed:
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        metadata = email.message_from_bytes(archive.read("skinpy_anim-0.1.0.dist-info/METADATA"))
    assert metadata["Version"] == "0.1.0"
    assert {line.split(",")[0] for line in metadata.get_all("Project-URL", [])} == {
        *("Homepage", "Documentation", "Source", "Issues", "Changelog")
    }
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    made = int(git(repository, "log", "-1", "--format=%ct"))
    assert {(member.mtime, member.uid, member.uname, member.mode & 0o22) for member in members} == {
        (made, 0, "", 0)
    }
