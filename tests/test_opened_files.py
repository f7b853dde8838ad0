"""Forged lines of strace show that the tests of the files that a worker opens can fail."""

from pathlib import Path

import opened_files
import pytest

FOLDER = Path("/home/somebody/model")
WORKER = 'execve("/env/skinpy/_worker", ["skinpy-worker"], 0x7f /* 0 vars */) = 0'
GOOD = [
    'openat(AT_FDCWD</home>, "/dev/null", O_RDWR) = 0</dev/null>',
    WORKER,
    'openat(AT_FDCWD</home>, "/proc/self/oom_score_adj", O_WRONLY) = 5</proc/8/oom_score_adj>',
    'openat(AT_FDCWD</home>, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 5</etc/ld.so.cache>',
    'openat(AT_FDCWD</home>, "/lib/libm.so.6", O_RDONLY|O_CLOEXEC) = 5</usr/lib/libm.so.6>',
    'openat(AT_FDCWD</home>, "/lib/libz.so.1", O_RDONLY|O_CLOEXEC) = 5</usr/lib/libz.so.1.2.13>',
    'openat(AT_FDCWD</home>, "/env/skinpy/_import.so", O_RDONLY) = 5</env/skinpy/_import.so>',
    'openat(AT_FDCWD</home>, "/home/somebody/model/", O_RDONLY|O_CLOEXEC|O_PATH) = 6</home/somebody/model>',
    'openat(AT_FDCWD</home>, "model/a.obj", O_RDONLY) = 5</home/somebody/model/a.obj>',
    'openat(AT_FDCWD</home>, "/etc/hostname", O_RDONLY) = -1 EACCES (Permission denied)',
    "+++ killed by SIGKILL +++",
]
HOSTNAME = 'openat(AT_FDCWD</home>, "/etc/hostname", O_RDONLY) = 7</etc/hostname>'


def test_what_a_worker_may_open_passes() -> None:
    logs = {1: [HOSTNAME], 2: GOOD}
    found = opened_files.check_workers(logs, FOLDER, 1)
    assert len(found) == 8 and "/usr/lib/libz.so.1.2.13" in found
    assert opened_files.opened_elsewhere(logs) == ["/etc/hostname"]


@pytest.mark.parametrize(
    "line",
    [
        HOSTNAME,
        'openat(AT_FDCWD</home>, "link.mtl", O_RDONLY) = 7</home/somebody/secret/secret.mtl>',
        'open("/home/somebody/model2/a.obj", O_RDONLY) = 7</home/somebody/model2/a.obj>',
        'openat(AT_FDCWD</home>, "/home/somebody", O_RDONLY|O_PATH) = 7</home/somebody>',
        'openat2(3</home>, "gone", {flags=O_RDONLY}, 24) = 7</etc/passwd>(deleted)',
        'creat("/tmp/made", 0600) = 7</tmp/made>',
        'openat(AT_FDCWD</home>, "/tmp/a.so.conf", O_RDONLY) = 7</tmp/a.so.conf>',
        'openat(AT_FDCWD</home>, "/proc/self/environ", O_RDONLY) = 7</proc/8/environ>',
    ],
)
def test_one_file_more_fails(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skinpy.build_info", lambda: {"isolation": ("process", "limits", "filter")})
    with pytest.raises(AssertionError, match="neither of /home/somebody/model nor a library"):
        opened_files.check_workers({1: [], 2: [*GOOD, line]}, FOLDER, 1)
    clone = "clone3({flags=CLONE_VM|CLONE_THREAD} => {parent_tid=[4]}, 88) = 4"
    with pytest.raises(AssertionError, match="neither of"):  # opened by a thread or a child of the worker
        opened_files.check_workers({2: [*GOOD, clone], 4: [line]}, FOLDER, 1)


def test_a_log_that_says_nothing_fails() -> None:
    with pytest.raises(AssertionError, match="0 workers of 1"):
        opened_files.check_workers({1: [HOSTNAME]}, FOLDER, 1)
    with pytest.raises(AssertionError, match="1 workers of 2"):
        opened_files.check_workers({2: GOOD}, FOLDER, 2)
    with pytest.raises(AssertionError, match="without its importer"):
        opened_files.check_workers({2: [WORKER]}, FOLDER, 1)
