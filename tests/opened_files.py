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

#: A library by its name, with or without a version; the worker and the importer are named so, too.
LIBRARY = re.compile(r"\.so(\.\d+)*$")
OF_A_SANITIZER = ("/proc/", "/sys/")  # its memory and its machine
ALWAYS = {"/dev/null", "/etc/ld.so.cache"}
#: glibc asks these whether there are large pages, before main.
PAGES = "/sys/kernel/mm/transparent_hugepage"
ALWAYS |= {f"{PAGES}/enabled", f"{PAGES}/hpage_pmd_size"}

#: A call that succeeded, whose descriptor's true path strace shows.
OPENED = re.compile(r"^(?:open|openat|openat2|creat|open_by_handle_at)\(.* = \d+<(.*)>(?:\(deleted\))?$")
STARTED = re.compile(r'^execve(?:at)?\(.*?"([^"]*)".* = 0$')
CHILD = re.compile(r"^(?:clone|clone3|fork|vfork)\(.* = (\d+)$")
CALLS = "open,openat,openat2,creat,open_by_handle_at,execve,execveat,clone,clone3,fork,vfork"

Logs = dict[int, list[str]]  # the lines of each process and thread


def open_files() -> dict[int, str]:
    """What the descriptors of this process stand for."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one that lists them
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found


def trace(arguments: Sequence[str | Path], log: Path, more: str = "") -> Logs:
    """strace's lines of the program and of all that it starts; `more` calls, separated by commas."""
    tool = shutil.which("strace")
    if tool is None:
        pytest.skip("strace is not on PATH")
    log.mkdir()  # a file for each process and thread: in one for all, calls are cut by those of others
    options = [
        "-ff",
        "-qq",
        "-y",
        "-s",
        "4096",
        "-e",
        f"trace={CALLS},{more}".rstrip(","),
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
    """Each worker: its process, and all threads and processes that come of it."""
    for number, lines in logs.items():
        if any("/_worker." in program for program in matches(STARTED, lines)):
            found = [number]
            for one in found:  # which grows
                found += [int(child) for child in matches(CHILD, logs.get(one, []))]
            yield found


def opened_by(logs: Logs, numbers: Sequence[int]) -> list[str]:
    return [path for number in numbers for path in matches(OPENED, logs.get(number, []))]


def may_open(path: str, folder: Path) -> bool:
    """Whether a worker may that imports a model of the folder."""
    if path in ALWAYS or Path(path) == folder or Path(path).is_relative_to(folder):
        return ".." not in Path(path).parts
    if LIBRARY.search(path):
        return True
    sanitized = skinpy.build_info()["isolation"] == ("process",)
    return sanitized and path.startswith(OF_A_SANITIZER)


def check_workers(logs: Logs, folder: Path, count: int) -> list[str]:
    """All that workers opened; at least `count` of them, and none anything that it may not."""
    folder, found = folder.resolve(), []
    all_workers = list(workers(logs))
    assert len(all_workers) >= count, f"strace saw {len(all_workers)} workers of {count}"
    for numbers in all_workers:
        paths = opened_by(logs, numbers)
        assert any("/_import." in path for path in paths), f"a worker without its importer: {paths}"
        found += paths
    wrong = sorted({path for path in found if not may_open(path, folder)})
    assert not wrong, f"opened, though neither of {folder} nor a library: {wrong}"
    return found


def opened_elsewhere(logs: Logs) -> list[str]:
    """What the rest opened: this package's own process."""
    of_workers = {number for numbers in workers(logs) for number in numbers}
    return opened_by(logs, [number for number in logs if number not in of_workers])
