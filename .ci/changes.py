"""Joins the files in docs/changes into CHANGELOG.md: changes.py [VERSION].

Without a version this only checks the files and prints the section that they make. docs/changes/README.md
says what the files hold. towncrier (`tool.towncrier` in pyproject.toml) finds, renders and removes them.
"""

import datetime
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "docs/changes"
#: The end of the heading of a section that was written by hand before there were files of changes.
BEGUN = "(not yet released)"
#: A line of a file is a list item of whole sentences.
ENTRY = re.compile(r"- \S.*[^.]\.")
#: Words that an entry does not have: it says what skinpy does, and its heading says what happened.
UNWANTED = {
    "the heading says this already": r"^- (Added?|Changed?|Fix(ed)?|Removed?)\b",
    "write in the present tense": r"\b([Ww]ill|[Ww]on't|[Nn]ow)\b",
    "name what does it": r"\b([Ww]e|[Oo]ur|us)\b",
    "say joint": r"\b[Bb]ones?\b",
}


def kinds_and_areas(root: Path) -> tuple[list[str], list[str]]:
    """Suffixes of the files, and folders for additions, as pyproject.toml lists them."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    return [kind["directory"] for kind in settings["type"]], [
        area["path"] for area in settings["section"] if area["path"]
    ]


def change_files(root: Path) -> list[Path]:
    folder = root / FOLDER
    return sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / "README.md")


def problems_of_text(text: str) -> Iterator[str]:
    for line in text.splitlines() or [""]:
        if not ENTRY.fullmatch(line):
            yield f"an entry is one line, '- ' and whole sentences with a period at the end: {line!r}"
        without_code = re.sub(r"`[^`]*`", "``", line)
        for reason, pattern in UNWANTED.items():
            found = re.search(pattern, without_code)
            if found:
                yield f"{found[0]!r}: {reason}"


def problems(root: Path = ROOT) -> list[str]:
    """What is wrong with the names and the texts of the files, a line each."""
    kinds, areas = kinds_and_areas(root)
    added = rf"(?:{'|'.join(areas)})/[a-z0-9-]+\.added\.md"
    others = rf"[a-z0-9-]+\.(?:{'|'.join(kind for kind in kinds if kind != 'added')})\.md"
    found = []
    for path in change_files(root):
        name = path.relative_to(root / FOLDER).as_posix()
        if not re.fullmatch(f"{added}|{others}", name):
            found.append(f"{name}: a name is AREA/NAME.added.md or NAME.KIND.md: see {FOLDER}/README.md")
        found += [f"{name}: {reason}" for reason in problems_of_text(path.read_text(encoding="utf-8"))]
    return found


def entries_of(section: str) -> Iterator[tuple[str, str, str]]:
    """Kind, area and text of each entry of a section."""
    kind = area = ""
    for line in section.splitlines()[1:]:
        if line.startswith("### "):
            kind, area = line, ""
        elif line.startswith("- "):
            yield kind, area, line
        elif line:
            area = line


def fold(changelog: str, version: str) -> str:
    """The changelog whose newest section also has the entries of the one that was begun by hand, if any."""
    head, *sections = re.split(r"^(?=## )", changelog, flags=re.MULTILINE)
    if len(sections) < 2 or not sections[1].startswith(f"## {version} {BEGUN}\n"):
        return changelog
    new, begun, *older = sections
    kinds: dict[str, dict[str, list[str]]] = {
        f"### {kind}": {} for kind in ("Added", "Changed", "Fixed", "Removed")
    }
    for kind, area, entry in (*entries_of(begun), *entries_of(new)):
        kinds[kind].setdefault(area, []).append(entry)
    blocks = [new.splitlines()[0]]
    for kind, areas in kinds.items():
        blocks += [kind] if areas else []
        for area, entries in areas.items():
            blocks += [*([area] if area else []), "\n".join(entries)]
    return "".join([head, "\n\n".join(blocks) + "\n", *(f"\n{section}" for section in older)])


def towncrier(root: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "towncrier", "build", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"changes.py: towncrier failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def join(version: str, date: str, root: Path = ROOT) -> None:
    """Writes the section of a version into CHANGELOG.md, and removes the files that it is made of."""
    towncrier(root, "--version", version, "--date", date, "--yes")
    changelog = root / "CHANGELOG.md"
    changelog.write_text(fold(changelog.read_text(encoding="utf-8"), version), encoding="utf-8")


def main(arguments: list[str]) -> None:
    if found := problems():
        sys.exit("\n".join(found))
    if not arguments:
        print(towncrier(ROOT, "--version", "NEXT", "--draft").strip() if change_files(ROOT) else "no changes")
        return
    (version,) = arguments
    join(version, datetime.date.today().isoformat())


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] == ["--help"]:
        sys.exit(__doc__)
    main(sys.argv[1:])
