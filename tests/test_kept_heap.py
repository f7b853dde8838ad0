"""The memory of workers' heaps is kept from one large import to the next: cleared in between, for one worker
at a time, and never in the way of a fork, of closed descriptors, or of limits."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import builders
import import_cases as cases
import kept_memory
import pytest
from c_compiler import SOURCES, compiler, run
from conftest import ROOT
from test_isolation import NO_LIMITS, false_worker, load_by

import skinpy
from skinpy import _core, loading

MIB = 1 << 20
LEFT = (0x5449534F50584521).to_bytes(8, "little")  #: what rummaging_importer.c leaves


def obj(places: int) -> bytes:
    """A heap of megabytes."""
    lines = [f"v {i % 50} {i // 50} 0.25\n" for i in range(places)]
    lines += [f"f {i + 1} {i + 2} {i + 51}\n" for i in range(places - 51)]
    return "".join(lines).encode()


SMALLER, LARGER = obj(20_000), obj(60_000)


@pytest.fixture(autouse=True)
def heap(tmp_path: Path) -> Iterator[None]:
    """There is one, of the smaller model; afterwards there is none, as before."""
    kept_memory.forget_heap()
    (tmp_path / "first.obj").write_bytes(SMALLER)
    skinpy.load(tmp_path / "first.obj")
    if kept_memory.heap_file() is None:
        reason = "a sanitizer, another system, one core or no large pages"
        pytest.skip(f"nothing is kept here: {reason}")
    yield
    kept_memory.forget_heap()


def heap_bytes() -> bytes:
    number = kept_memory.heap_file()
    assert number is not None
    return os.pread(number, os.fstat(number).st_size, 0)


def block(path: Path, **options: bool) -> bytes:
    return bytes(memoryview(skinpy.load(path, **options)._block))


def in_a_script(program: str, *arguments: object, status: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    return done.stdout


def test_it_is_as_long_as_an_import_took_and_grows(tmp_path: Path) -> None:
    (tmp_path / "larger.obj").write_bytes(LARGER)
    small = len(heap_bytes())
    assert small % (2 * MIB) == 0 and small >= 4 * MIB
    skinpy.load(tmp_path / "larger.obj")
    large = len(heap_bytes())
    assert large > small
    skinpy.load(tmp_path / "first.obj")
    assert len(heap_bytes()) == large


@pytest.mark.parametrize("content", [SMALLER, LARGER], ids=["as long", "longer"])
def test_models_from_it_are_the_same(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.obj"
    path.write_bytes(content)
    want = block(path, isolate=False)
    for _ in range(4):
        assert kept_memory.heap_file() is not None
        assert block(path) == want


def rummage(importer: Path, path: Path, memory: int = 1 << 30) -> dict[str, int]:
    worker, _, libraries, _, *rest = loading._isolation(skinpy.Limits(), loading._paths_key())
    isolation = (worker, os.fsencode(importer), libraries, memory, *rest)
    number = loading._EXTERNAL.index("any")  # it looks at its own /proc
    with pytest.raises(skinpy.LoadError, match="done: ") as error:
        _core._load_file(str(path), None, None, 4, -1, False, 0, -1, None, number, NO_LIMITS, isolation)
    said = str(error.value).split("done: ")[1]
    return {name: int(count) for name, count in re.findall(r"(\w+) (\d+)", said)}


@pytest.fixture(scope="module")
def importer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("false") / "importer.so"
    sources = (ROOT / "tests/hostile/rummaging_importer.c", SOURCES / "core/base/sk_base.c")
    done = run(compiler(), "-std=gnu11", "-shared", "-fPIC", *sources, "-o", path)
    assert done.returncode == 0, done.stdout
    return path


def test_a_worker_finds_nothing_of_the_one_before(importer: Path, tmp_path: Path) -> None:
    """Nor does the system, which is asked to take pages out of it, leave holes."""
    (tmp_path / "larger.obj").write_bytes(LARGER)
    skinpy.load(tmp_path / "larger.obj")
    assert len(heap_bytes()) >= 12 * MIB
    for _ in range(3):
        found = rummage(importer, tmp_path / "first.obj")
        assert found == {"lent": 8, "left": 0, "removed": 1}
        assert not any(heap_bytes())
    assert block(tmp_path / "larger.obj") == block(tmp_path / "larger.obj", isolate=False)


def test_the_thread_waits_before_it_clears_what_a_worker_left(importer: Path, tmp_path: Path) -> None:
    """So that the test before looks for what was there indeed."""
    (tmp_path / "larger.obj").write_bytes(LARGER)
    skinpy.load(tmp_path / "larger.obj")
    heap_bytes()
    number = next(n for n, name in kept_memory.all_files().items() if name == kept_memory.HEAP)
    for _ in range(20):  # the machine may be slow
        rummage(importer, tmp_path / "first.obj")
        there = os.pread(number, os.fstat(number).st_size, 0)
        if there.count(LEFT) > 4 * MIB // 8:
            break
        kept_memory.heap_file()
    else:
        pytest.fail("nothing that it left was ever seen")
    assert LEFT not in heap_bytes()


def test_no_more_of_it_is_lent_than_is_prepared(importer: Path, tmp_path: Path) -> None:
    """An eighth of what the import may take, which the limit of memory does not count."""
    (tmp_path / "larger.obj").write_bytes(LARGER)
    skinpy.load(tmp_path / "larger.obj")
    heap_bytes()
    assert rummage(importer, tmp_path / "first.obj", 48 * MIB)["lent"] in (4, 5, 6)
    heap_bytes()
    assert rummage(importer, tmp_path / "first.obj", 12 * MIB)["lent"] == 0


def test_two_loads_at_once_do_not_share_it(tmp_path: Path) -> None:
    paths = [tmp_path / f"{k}.obj" for k in range(4)]
    for k, path in enumerate(paths):
        path.write_bytes(obj(15_000 + 3_000 * k))
    want = [block(path, isolate=False) for path in paths]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(block, paths * 8))
    assert found == want * 8


def test_who_closes_all_descriptors_loses_none_of_his_own(tmp_path: Path) -> None:
    """Its number may be another file's by then, which is neither written nor closed."""
    number = kept_memory.heap_file()
    assert number is not None
    mine = tmp_path / "mine"
    mine.write_bytes(b"mine" * MIB)
    other = os.open(mine, os.O_RDWR)
    os.dup2(other, number)
    try:
        for _ in range(3):
            assert block(tmp_path / "first.obj") == block(tmp_path / "first.obj", isolate=False)
            kept_memory.heap_file()
        assert os.path.samestat(os.fstat(number), os.fstat(other))
        assert mine.read_bytes() == b"mine" * MIB
    finally:
        os.close(other)
        os.close(number)


FORKS = """
import os, sys, time
import kept_memory, skinpy

def load(): return bytes(memoryview(skinpy.load(sys.argv[1])._block))

def tasks(): return len(os.listdir("/proc/self/task"))

want = load()
for wait in (0.0, 0.01, 0.021, 0.024, 0.03, 0.2) * 3:
    alone = tasks()
    first = load()
    time.sleep(wait)
    child = os.fork()
    assert tasks() == 1, os.listdir("/proc/self/task")
    if not child:
        names = [name for name in kept_memory.all_files().values() if "skinpy" in name]
        assert not names, names
        with open("/proc/self/maps") as maps:
            assert "skinpy-heap" not in maps.read()
        good = load() == want == load()
        assert kept_memory.heap_file() is not None
        os._exit(not good)
    assert load() == want
    assert os.waitpid(child, 0)[1] == 0
assert kept_memory.heap_file() is not None
print("done")
"""


def test_a_fork_leaves_no_thread_and_shares_nothing(tmp_path: Path) -> None:
    """Whatever the thread is at: it waits, makes memory, clears it, or has ended."""
    assert in_a_script(FORKS, tmp_path / "first.obj") == "done\n"


def test_limits_of_this_process_are_kept(tmp_path: Path) -> None:
    """A file as long would be a deadly signal; address space may be short."""
    program = """
import resource, sys
import kept_memory, skinpy
resource.setrlimit(getattr(resource, sys.argv[2]), (int(sys.argv[3]),) * 2)
for _ in range(3):
    assert len(skinpy.load(sys.argv[1]).mesh.positions)
    print(kept_memory.heap_file() is not None)
"""
    path = tmp_path / "first.obj"
    assert set(in_a_script(program, path, "RLIMIT_FSIZE", 3 * MIB).split()) == {"False"}
    assert set(in_a_script(program, path, "RLIMIT_FSIZE", 1 << 30).split()) == {"True"}


def test_it_is_not_memory_of_this_process() -> None:
    number = kept_memory.heap_file()
    assert number is not None
    with open("/proc/self/smaps") as smaps:
        text = smaps.read()
    found = re.search(r"^\S+ (\S+) .*skinpy-heap[^\n]*\n(?:\w+:.*\n)*?Rss: +(\d+) kB", text, re.M)
    assert found and found[1] == "---s" and int(found[2]) == 0


def test_a_worker_that_crashed_leaves_it_clean(tmp_path: Path) -> None:
    program = """import mmap
with mmap.mmap(6, 2 << 20) as lent: lent[:] = b'left' * (1 << 19)
os.kill(os.getpid(), signal.SIGSEGV)"""
    with pytest.raises(skinpy.ImporterCrashed, match="signal 11"):
        load_by(false_worker(tmp_path, program), tmp_path / "first.obj")
    assert not any(heap_bytes())


@pytest.mark.parametrize("call", ["os.ftruncate(6, 0)", "os.truncate('/proc/self/fd/6', 1 << 30)"])
def test_its_length_is_no_worker_s_to_change(tmp_path: Path, call: str) -> None:
    program = f"try: {call}\nexcept OSError as error: os._exit(50 + error.errno)\nos._exit(1)"
    before = len(heap_bytes())
    with pytest.raises(skinpy.ImporterCrashed, match="exit status 51"):
        load_by(false_worker(tmp_path, program), tmp_path / "first.obj")
    assert len(heap_bytes()) == before


def test_a_large_glb_takes_none_of_it(tmp_path: Path) -> None:
    """What is large in it Assimp does not get, so that its heap is small."""
    kept_memory.forget_heap()
    (tmp_path / "large.glb").write_bytes(builders.random_model(4, joints=8, vertices=40_000).glb())
    skinpy.load(tmp_path / "large.glb")
    assert kept_memory.heap_file() is None


def test_a_text_fbx_that_says_too_much_is_kept_in_part(tmp_path: Path) -> None:
    """At most 96 MiB, however many small pieces there were."""
    numbers = b",".join(b"%d" % (k % 97) for k in range(5_000))
    text = cases.fbx() + b"".join(b"\nExtra%d: {\n a: %b\n}\n" % (k, numbers) for k in range(400))
    (tmp_path / "large.fbx").write_bytes(text)
    skinpy.load(tmp_path / "large.fbx")
    assert len(heap_bytes()) == 96 * MIB


def test_threads_and_descriptors_do_not_pile_up(tmp_path: Path) -> None:
    before = len(kept_memory.open_files()), threading.active_count()
    for _ in range(10):
        skinpy.load(tmp_path / "first.obj")
    assert kept_memory.heap_file() is not None
    assert (len(kept_memory.open_files()), threading.active_count()) == before
    assert [name for name in kept_memory.all_files().values() if "skinpy" in name] == [kept_memory.HEAP]
