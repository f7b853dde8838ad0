"""Makes a release of this repository: release.py VERSION [--dry-run].

It joins the changes, sets the version, commits and tags; builds the source archive and the wheels twice and
compares their bytes; checks their metadata, and writes SHA256SUMS. All this happens in temporary clones, so
this repository stays as it is if the work fails or is interrupted. Only when all is well do the commit and
the tag come here, and the files into dist/VERSION; with --dry-run they do not. Nothing is uploaded: the last
line that is printed is the command for that. docs/releasing.md has the details.
"""

import argparse
import contextlib
import gzip
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import changes
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parent.parent
ADDRESSES = ("Homepage", "Documentation", "Source", "Issues", "Changelog")
#: Signals that end the work.
ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
#: Pages say this before the first upload.
NOT_YET = "not on PyPI"


def say(words: str) -> None:
    print(f"release: {words}", flush=True)


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints; ends the release, and shows this output, where it fails.

    The command has a process group of its own, so that all that it started ends with this program. But git
    may ask for the password of a signature, which only a terminal's own group can read.
    """
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        process_group=None if command[0] == "git" else 0,
    )
    try:
        said, _ = process.communicate()
    except BaseException:
        if command[0] != "git":
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if process.returncode:
        sys.exit(f"{said}release: this command failed: {shlex.join(map(str, command))}")
    return said.strip()


def git(*arguments: str | Path, cwd: Path = ROOT) -> str:
    return run("git", *arguments, cwd=cwd)


# ---- what a release needs -------------------------------------------------------------------------------


def project() -> dict[str, object]:
    table: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def parsed(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        return None


def problems_of_version(version: str) -> Iterator[str]:
    wanted = parsed(version)
    if wanted is None or str(wanted) != version:
        yield f"{version!r} is not a version as it is written, such as {wanted or '0.2.0 or 0.2.0rc1'}"
        return
    if wanted < Version(str(project()["version"])):
        yield f"{version} is older than {project()['version']}, which pyproject.toml has"
    if git("tag", "--list", f"v{version}"):
        yield f"the tag v{version} is there already"
    tags = git("tag", "--list", "--merged", "HEAD", "v*").split()
    newest = max((found for tag in tags if (found := parsed(tag[1:]))), default=wanted)
    if wanted < newest:
        yield f"{version} is not newer than {newest}, which is released"
    if (ROOT / "dist" / version).exists():
        yield f"the folder dist/{version} is there already"
    branch = git("branch", "--show-current")
    if branch not in ("main", f"{wanted.major}.{wanted.minor}"):
        yield f"the branch is {branch or 'none'}: {version} is made on main or {wanted.major}.{wanted.minor}"


def problems_of_tree() -> Iterator[str]:
    if changed := git("status", "--porcelain"):
        yield f"the tree has changes that are not committed:\n{changed}"
    for name in ("user.name", "user.email"):
        if not git("config", "--default", "", name):
            yield f"git has no {name}, which the commit and the tag need"


def problems_of_changes() -> Iterator[str]:
    yield from changes.problems(ROOT)
    begun = changes.BEGUN in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not changes.change_files(ROOT) and not begun:
        yield f"{changes.FOLDER} has no changes to release"


def problems_of_first_upload() -> Iterator[str]:
    """What docs/releasing.md asks for once, before the first upload. A dry run does without."""
    urls = project().get("urls", {})
    assert isinstance(urls, dict)
    if missing := [name for name in ADDRESSES if not urls.get(name)]:
        yield f"[project.urls] in pyproject.toml lacks {', '.join(missing)}"
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        if NOT_YET in page.read_text(encoding="utf-8"):
            yield f"{page.relative_to(ROOT)} says that skinpy is {NOT_YET}"


# ---- the work, in temporary clones ----------------------------------------------------------------------


def set_version(pyproject: Path, version: str) -> None:
    text = pyproject.read_text(encoding="utf-8")
    text, count = re.subn(r'^version = ".*"$', f'version = "{version}"', text, flags=re.MULTILINE)
    assert count == 1, f"{pyproject} has {count} lines: version = ..."
    pyproject.write_text(text, encoding="utf-8")


def clone(source: Path, folder: Path) -> Path:
    git("clone", "--quiet", source, folder)
    return folder


def commit_and_tag(tree: Path, version: str) -> None:
    for name in ("user.name", "user.email"):
        git("config", name, git("config", name), cwd=tree)
    changes.join(version, date.today().isoformat(), tree)
    set_version(tree / "pyproject.toml", version)
    git("commit", "--quiet", "--all", "--message", f"Release {version}", cwd=tree)
    git("tag", "--annotate", "--message", f"skinpy {version}", f"v{version}", cwd=tree)


def normalize(archive: Path, time: int) -> None:
    """Rewrites a source archive so that its bytes say nothing of who made it, when and where."""
    content = archive.with_suffix(".new")
    with (
        tarfile.open(archive) as old,
        content.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=time) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            member.mtime = time
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    content.replace(archive)


def build(tree: Path, folder: Path) -> list[str]:
    """Builds the source archive and the wheels of a clone into a folder, dated as its commit.

    Returns the warnings: a wheel may have got a library that lacks Debian's newest corrections.
    """
    time = git("log", "-1", "--format=%ct", cwd=tree)
    folder.mkdir()
    # First, because it would take up what a build of wheels leaves in the clone.
    run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, cwd=tree, SOURCE_DATE_EPOCH=time)
    (archive,) = folder.glob("*.tar.gz")
    normalize(archive, int(time))
    # Its temporary files go with those of this program, which may have to kill it.
    said = run(
        *("sh", "quickstart.sh", "wheel", folder), cwd=tree, SOURCE_DATE_EPOCH=time, TMPDIR=str(tree.parent)
    )
    return [line for line in said.splitlines() if "WARNING" in line]


def sums(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def compare(first: dict[str, str], second: dict[str, str]) -> None:
    if different := sorted(dict(first.items() ^ second.items())):
        sys.exit(f"release: two builds of one commit differ in {', '.join(different)}")


def check(folder: Path, version: str) -> None:
    names = [path.name for path in folder.iterdir()]
    if strange := [name for name in names if not name.startswith(f"skinpy_anim-{version}")]:
        sys.exit(f"release: these files are not of version {version}: {', '.join(strange)}")
    run(sys.executable, "-m", "twine", "check", "--strict", *names, cwd=folder)


def refuse(problems: list[str], dry_run: bool) -> None:
    """Ends the release with its problems; a dry run only says them."""
    if problems and not dry_run:
        sys.exit("\n".join(f"release: {problem}" for problem in problems))
    for problem in problems:
        say(f"a release would be refused: {problem}")


def make(work: Path, version: str, dry_run: bool) -> tuple[Path, Path]:
    """The clone with the commit and the tag, and the folder with the files of the release."""
    say(f"joining the changes and tagging v{version} in a temporary clone")
    tree = clone(ROOT, work / "first")
    commit_and_tag(tree, version)
    files = work / "files"
    say("building the source archive and the wheels")
    refuse(build(tree, files), dry_run)
    check(files, version)
    say("building them once more, to compare")
    build(clone(tree, work / "second"), work / "again")
    found = sums(files)
    compare(found, sums(work / "again"))
    text = "".join(f"{digest}  {name}\n" for name, digest in found.items())
    (files / "SHA256SUMS").write_text(text, encoding="utf-8")
    return tree, files


# ---- the end, in this repository ------------------------------------------------------------------------


def take(tree: Path, files: Path, version: str) -> None:
    """Brings the commit, the tag and the files here: all, or nothing where one of them cannot come."""
    target = ROOT / "dist" / version
    tag = f"refs/tags/v{version}"
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    with contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, target, ignore_errors=True)
        shutil.copytree(files, target)
        git("fetch", "--quiet", "--no-tags", tree, f"{tag}:{tag}")
        undo.callback(git, "update-ref", "-d", tag)
        git("merge", "--quiet", "--ff-only", tag)
        undo.pop_all()


def end(number: int, _: object) -> None:
    sys.exit(128 + number)


def main(version: str, dry_run: bool) -> None:
    for number in ENDS:
        signal.signal(number, end)  # so that the temporary clones are removed
    found = [*problems_of_version(version), *problems_of_tree(), *problems_of_changes()]
    once = list(problems_of_first_upload())
    if found:
        refuse([*found, *once], dry_run=False)
    refuse(once, dry_run)
    with tempfile.TemporaryDirectory(prefix="skinpy-release-", ignore_cleanup_errors=True) as name:
        tree, files = make(Path(name), version, dry_run)
        print((files / "SHA256SUMS").read_text(encoding="utf-8"), end="")
        if dry_run:
            say(f"a dry run: nothing in this repository has changed, and {version} is not released")
            return
        take(tree, files, version)
    say(f"the commit and the tag v{version} are here, and the files in dist/{version}. To publish them:")
    branch = git("branch", "--show-current")
    print(f"git push --atomic origin {branch} v{version} && twine upload dist/{version}/skinpy_anim-*")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("version", help="such as 0.2.0 or 0.2.0rc1")
    parser.add_argument("--dry-run", action="store_true", help="do all of it in temporary clones only")
    arguments = parser.parse_args()
    main(arguments.version, arguments.dry_run)
