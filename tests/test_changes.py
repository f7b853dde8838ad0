"""The files in docs/changes, and how .ci/changes.py joins them into the changelog."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT, needs_checkout

needs_checkout()

SCRIPT = ROOT / ".ci/changes.py"


@pytest.fixture(scope="module")
def changes() -> ModuleType:
    spec = importlib.util.spec_from_file_location("changes", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with what joining needs, under git as a clone is: towncrier asks git to remove files."""
    for name in ("pyproject.toml", ".ci/changes.py", ".ci/changes.jinja.md", "docs/changes/README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def write(project: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = project / "docs/changes" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def run_script(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(project / ".ci/changes.py"), *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True)


def test_files_of_changes_are_well_formed(changes: ModuleType) -> None:
    assert changes.problems() == []


def test_readme_lists_the_areas_and_kinds(changes: ModuleType) -> None:
    kinds, areas = changes.kinds_and_areas(ROOT)
    text = (ROOT / "docs/changes/README.md").read_text()
    assert re.findall(r"`(\w+)`(?=,| and|\.)", text.split("The areas are")[1].split(";")[0] + ".") == areas
    assert all(f".{kind}.md`" in text for kind in kinds)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("loading/meshes.added.md", "- `load` takes Meshes. It is quick.\n- 3DS files load.\n", ""),
        ("empty-clips.fixed.md", "- Clips `that will` end, last until now_then.\n", ""),
        ("loading/meshes.fixed.md", "- It does.\n", "a name is"),
        ("nowhere/meshes.added.md", "- It does.\n", "a name is"),
        ("meshes.added.md", "- It does.\n", "a name is"),
        ("Meshes.fixed.md", "- It does.\n", "a name is"),
        ("meshes.md", "- It does.\n", "a name is"),
        ("meshes.mended.md", "- It does.\n", "a name is"),
        ("a.fixed.md", "", "an entry is one line"),
        ("a.fixed.md", "\n", "an entry is one line"),
        ("a.fixed.md", "It does.\n", "an entry is one line"),
        ("a.fixed.md", "-It does.\n", "an entry is one line"),
        ("a.fixed.md", "- It does\n", "an entry is one line"),
        ("a.fixed.md", "- It does\n  this.\n", "an entry is one line"),
        ("a.fixed.md", "- Fixed a crash.\n", "the heading says this"),
        ("a.fixed.md", "- Skinpy will load this.\n", "present tense"),
        ("a.fixed.md", "- We load this.\n", "name what does it"),
        ("a.fixed.md", "- A bone moves.\n", "say joint"),
    ],
)
def test_what_a_file_may_hold(changes: ModuleType, project: Path, name: str, text: str, problem: str) -> None:
    write(project, {name: text})
    found = changes.problems(project)
    assert bool(found) == bool(problem)
    assert all(problem in line and line.startswith(name) for line in found)


BEGUN = """\
# Changelog

<!-- towncrier release notes start -->

## 0.1.0 (not yet released)

### Added

Loading and saving

- Old addition.

Clips

- Old clip.

### Fixed

- Old repair.
"""

JOINED = """\
# Changelog

<!-- towncrier release notes start -->

## 0.1.0 (DATE)

### Added

Loading and saving

- Old addition.
- First addition.
- Second addition.

Clips

- Old clip.

Safety

- Safe addition.

### Changed

- New change.

### Fixed

- Old repair.
- New repair.
"""
FILES = {
    "loading/b.added.md": "- Second addition.\n",
    "loading/a.added.md": "- First addition.\n",
    "safety/a.added.md": "- Safe addition.\n",
    "a.changed.md": "- New change.\n",
    "a.fixed.md": "- New repair.\n",
}


def test_joining_continues_the_section_that_was_begun_by_hand(project: Path) -> None:
    pytest.importorskip("towncrier", reason="towncrier is missing")
    (project / "CHANGELOG.md").write_text(BEGUN)
    write(project, FILES)
    assert run_script(project, "0.1.0").returncode == 0
    text = (project / "CHANGELOG.md").read_text()
    assert re.sub(r"\d{4}-\d\d-\d\d", "DATE", text) == JOINED
    assert [path.name for path in (project / "docs/changes").rglob("*.md")] == ["README.md"]

    write(project, {"clips/c.added.md": "- Next clip.\n", "c.removed.md": "- Gone.\n"})
    shown = run_script(project).stdout
    assert "### Added\n\nClips\n\n- Next clip.\n\n### Removed\n\n- Gone." in shown
    assert run_script(project, "0.2.0").returncode == 0
    head, newest, older = re.split("^(?=## )", (project / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert head + older == text
    assert re.fullmatch(
        r"## 0\.2\.0 \([\d-]+\)\n\n### Added\n\nClips\n\n- Next clip\.\n\n### Removed\n\n- Gone\.\n\n", newest
    )


def test_joining_loses_no_entry_of_the_changelog(changes: ModuleType, project: Path) -> None:
    pytest.importorskip("towncrier", reason="towncrier is missing")
    before = (ROOT / "CHANGELOG.md").read_text()
    (project / "CHANGELOG.md").write_text(before)
    shutil.copytree(ROOT / "docs/changes", project / "docs/changes", dirs_exist_ok=True)
    write(project, {"the-last.fixed.md": "- The last repair.\n"})
    files = [path.read_text() for path in changes.change_files(project)]
    assert run_script(project, "0.1.0").returncode == 0
    entries = [line for text in (before, *files) for line in text.splitlines() if line.startswith("- ")]
    after = (project / "CHANGELOG.md").read_text()
    assert sorted(entries) == sorted(line for line in after.splitlines() if line.startswith("- "))
    assert "\n\n\n" not in after and "not yet released" not in after


def test_files_that_are_not_well_formed_are_not_joined(project: Path) -> None:
    (project / "CHANGELOG.md").write_text(BEGUN)
    write(project, {"a.fixed.md": "mended\n"})
    done = run_script(project, "0.1.0")
    assert done.returncode == 1 and done.stderr.startswith("a.fixed.md: an entry is one line")
    assert (project / "CHANGELOG.md").read_text() == BEGUN
