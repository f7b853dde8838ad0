"""What this process has open, what other processes open (by strace), and what a worker may open."""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import skinpy

#: The name of a library, with or without a version. The importer has such a name, too.
LIBRARY = re.compile(r"\.so(\.\d+)*$")
OF_A_SANITIZER = ("/proc/", "/sys/")  # a sanitizer reads about its memory and its machine
ALWAYS = {"/dev/null", "/etc/ld.so.cache"}
SCORE = re.compile(r"^/proc/\d+/oom_score_adj$")  #: the worker raises its own

#: A successful call; strace shows the true path of the descriptor.
OPENED = re.compile(r"^(?:open|openat|openat2|creat|open_by_handle_at)\(.* = \d+<(.*)>(?:\(deleted\))?$")
STARTED = re.compile(r'^execve(?:at)?\(.*?"([^"]*)".* = 0$')
CHILD = re.compile(r"^(?:clone|clone3|fork|vfork)\(.* = (\d+)$")
CALLS = "open,openat,openat2,creat,open_by_handle_at,execve,execveat,clone,clone3,fork,vfork"

Logs = dict[int, list[str]]  # the lines of each process and thread


def open_files() -> dict[int, str]:
    """The open files of this process, by their descriptors."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the descriptor of the listing itself
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found


def trace(arguments: Sequence[str | Path], log: Path) -> Logs:
    """The lines of strace for a program and its children."""
    tool = shutil.which("strace")
    if tool is None:
        pytest.skip("strace is not on PATH")
    log.mkdir()  # one file for each process and thread: in a common file their lines would be mixed
    options = [
        "-ff",
        "-qq",
        "-y",
        "-s",
        "4096",
        "-e",
        f"trace={CALLS}",
        "-o",
        str(log / "of"),
    ]
    done = subprocess.run(
        [tool, *options, *map(str, arguments)], capture_output=True, text=True, errors="replace", check=False
    )
    if "ptrace" in done.stderr.lower():
        pytest.skip(f"strace may not trace here: {done.stderr[:200]}")
    assert done.returncode == 0, done.stderr
    return {
        int(path.suffix[1:]): path.read_text(errors="surrogateescape").splitlines()
        for path in sorted(log.iterdir())
    }


def matches(pattern: re.Pattern[str], lines: Sequence[str]) -> list[str]:
    return [found[1] for line in lines if (found := pattern.search(line))]


def workers(logs: Logs) -> Iterator[list[int]]:
    """Each worker as the numbers of its process, and of all threads and processes that it makes."""
    for number, lines in logs.items():
        if any(program.endswith("/_worker") for program in matches(STARTED, lines)):
            found = [number]
            for one in found:  # the list grows
                found += [int(child) for child in matches(CHILD, logs.get(one, []))]
            yield found


def opened_by(logs: Logs, numbers: Sequence[int]) -> list[str]:
    return [path for number in numbers for path in matches(OPENED, logs.get(number, []))]


def may_open(path: str, folder: Path) -> bool:
    """Whether a worker that imports a model of the folder may open the path."""
    if path in ALWAYS or Path(path) == folder or Path(path).is_relative_to(folder):
        return ".." not in Path(path).parts
    if LIBRARY.search(path) or SCORE.search(path):
        return True
    sanitized = skinpy.build_info()["isolation"] == ("process",)
    return sanitized and path.startswith(OF_A_SANITIZER)


def check_workers(logs: Logs, folder: Path, count: int) -> list[str]:
    """Check that at least `count` workers opened only what they may, and return what they opened."""
    folder, found = folder.resolve(), []
    all_workers = list(workers(logs))
    assert len(all_workers) >= count, f"strace saw {len(all_workers)} workers of {count}"
    for numbers in all_workers:
        paths = opened_by(logs, numbers)
        assert any(path.endswith("/_import.so") for path in paths), f"a worker without its importer: {paths}"
        found += paths
    wrong = sorted({path for path in found if not may_open(path, folder)})
    assert not wrong, f"opened, though neither of {folder} nor a library: {wrong}"
    return found


def opened_elsewhere(logs: Logs) -> list[str]:
    """The files that the other processes opened."""
    of_workers = {number for numbers in workers(logs) for number in numbers}
    return opened_by(logs, [number for number in logs if number not in of_workers])
