"""The pool of threads as Python sees it: how many, the same bits with any number, forks, many callers."""

import hashlib
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compiler import compiler, run
from conftest import HANGS

import skinpy
from skinpy import _core

TIMES = np.linspace(-1, 4, 3001)
VERTICES = 200_001


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return skinpy.character()


@pytest.fixture(scope="module")
def big() -> skinpy.Model:
    """A chain of joints with a mesh that is worth more than one thread."""
    rng = np.random.default_rng(5)
    rest = np.tile(np.eye(4), (6, 1, 1))
    rest[1:, 1, 3] = 0.5
    return skinpy.Model.from_arrays(
        [f"joint{n}" for n in range(6)],
        list(range(-1, 5)),
        rest,
        positions=rng.normal(size=(VERTICES, 3)),
        faces=np.arange(VERTICES).reshape(-1, 3),
        joints=rng.integers(0, 6, (VERTICES, 4)),
        weights=rng.random((VERTICES, 4)) + 0.01,
    )


@pytest.fixture(autouse=True)
def keep_count() -> Iterator[None]:
    before = skinpy.get_num_threads()
    yield
    skinpy.set_num_threads(before)


def pool_threads() -> set[str]:
    """Names of this process's threads that are the pool's."""
    names = set()
    for path in Path("/proc/self/task").glob("*/comm"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended
            names.add(path.read_text().strip())
    return {name for name in names if name.startswith("skinpy-") and name != "skinpy-graphics"}


def has_threads(*names: str) -> bool:
    """Whether the pool has these threads; /proc shows one that was waited for until the system is done."""
    deadline = time.monotonic() + HANGS
    while pool_threads() - set(names) and time.monotonic() < deadline:
        time.sleep(0.001)
    return pool_threads() == set(names)


def use_threads(model: skinpy.Model, *names: str) -> None:
    """Work until the pool has made these threads, which rest at times on a busy machine."""
    deadline = time.monotonic() + HANGS
    while pool_threads() != set(names) and time.monotonic() < deadline:
        model._sample("walk", TIMES, "wrap", "slerp")
    assert has_threads(*names)


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={name: value for name, value in os.environ.items() if name != "SKINPY_NUM_THREADS"} | environment,
        cwd=Path(skinpy.__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )


# ---- how many ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "error"),
    [
        (0, "ValueError: n is 0; expected 1 to 256"),
        (-3, "ValueError: n is -3; expected 1 to 256"),
        (257, "ValueError: n is 257; expected 1 to 256"),
        (10**30, "ValueError: n is 1000000000000000000000000000000; expected 1 to 256"),
        (2.0, "TypeError: n is 2.0; expected an int or None"),
        ("2", "TypeError: n is '2'; expected an int or None"),
        (True, "TypeError: n is True; expected an int or None"),
    ],
)
def test_bad_numbers(n: Any, error: str) -> None:
    before = skinpy.get_num_threads()
    with pytest.raises((TypeError, ValueError)) as caught:
        skinpy.set_num_threads(n)
    assert f"{caught.type.__name__}: {caught.value}" == error
    assert skinpy.get_num_threads() == before


def test_the_number_is_kept() -> None:
    for n in (1, 7, np.int64(3), _core.MAX_THREADS):
        skinpy.set_num_threads(n)
        assert skinpy.get_num_threads() == n
    skinpy.set_num_threads(None)
    assert 1 <= skinpy.get_num_threads() <= min(len(os.sched_getaffinity(0)), 64)


def test_the_default_is_what_the_process_may_use() -> None:
    code = (
        "import os; one = min(os.sched_getaffinity(0)); os.sched_setaffinity(0, {one});"
        "import skinpy; print(skinpy.get_num_threads())"
    )
    assert run_python(code).stdout == "1\n"


@pytest.mark.parametrize("word", ["1", "5", "256", "007"])
def test_the_environment_sets_the_number(word: str) -> None:
    done = run_python("import skinpy; print(skinpy.get_num_threads())", SKINPY_NUM_THREADS=word)
    assert (done.stdout, done.stderr) == (f"{int(word)}\n", "")


@pytest.mark.parametrize("word", ["", "0", "-1", "1.5", "two", "257", "9" * 5000, "²"])
def test_other_words_warn_once_and_change_nothing(word: str) -> None:
    code = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    import skinpy, skinpy.model\n"
        "(warning,) = caught\n"
        "assert warning.category is skinpy.SkinpyWarning\n"
        f"assert 'SKINPY_NUM_THREADS is ' + repr({word!r}) in str(warning.message)\n"
        "assert warning.filename == '<string>', warning.filename\n"
        "before = skinpy.get_num_threads()\n"
        "skinpy.set_num_threads(None)\n"
        "assert skinpy.get_num_threads() == before\n"
    )
    done = run_python(code, SKINPY_NUM_THREADS=word)
    assert done.returncode == 0, done.stderr


# ---- the threads -------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the names of threads")
def test_threads_are_made_at_use_kept_and_ended(model: skinpy.Model) -> None:
    skinpy.set_num_threads(1)
    model._sample("walk", TIMES, "wrap", "slerp")
    assert has_threads()
    skinpy.set_num_threads(3)
    assert has_threads()
    use_threads(model, "skinpy-1", "skinpy-2")
    model.palette("walk", 0.5)
    assert has_threads("skinpy-1", "skinpy-2")
    skinpy.set_num_threads(2)
    assert has_threads("skinpy-1")
    skinpy.set_num_threads(1)
    assert has_threads()


NO_THREADS = {
    "none can be had": "int pthread_create(void) { return 11; /* EAGAIN */ }",
    "none ever runs": """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
typedef int make(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static void *wait(void *argument) { for (;;) pause(); return argument; }
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *argument) {
  (void)run;
  return ((make *)dlsym(RTLD_NEXT, "pthread_create"))(thread, how, wait, argument);
}
""",
}


@pytest.mark.parametrize("source", NO_THREADS.values(), ids=NO_THREADS)
def test_work_is_done_without_threads(source: str, model: skinpy.Model, tmp_path: Path) -> None:
    arrays = model._sample("walk", np.linspace(0, 3, 3001), "wrap", "slerp")
    wanted = hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
    (tmp_path / "none.c").write_text(source + "\n")
    done = run(*compiler(), "-shared", "-fPIC", tmp_path / "none.c", "-o", tmp_path / "none.so")
    assert done.returncode == 0, done.stdout
    code = "import hashlib; print(hashlib.sha256(work()).hexdigest(), skinpy.get_num_threads())"
    done = run_python(PREPARE + code, LD_PRELOAD=str(tmp_path / "none.so"), OPENBLAS_NUM_THREADS="1")
    assert (done.stdout, done.stderr) == (f"{wanted} 3\n", "")


# ---- the same bits -----------------------------------------------------------------------------------


def results(model: skinpy.Model, big: skinpy.Model, simd: str) -> list[np.ndarray[Any, Any]]:
    """What every kind of batch gives, over odd numbers of poses."""
    before = _core._simd(simd)
    try:
        given = [
            *model._sample("walk", TIMES, "wrap", "slerp"),
            *model._sample("run", TIMES, "pingpong", "nlerp"),
        ]
        for count in (2, 7, 9, 64, len(TIMES)):
            given.append(model.palette("walk", TIMES[:count]))
            given.append(model.palette("run", TIMES[:count], affine=True, loop="clamp", rotation="nlerp"))
            given.append(model.globals("wave", TIMES[:count]))
            given.append(model.joint_positions("walk", TIMES[:count]))
        given.append(model.pose("walk", TIMES).palette(affine=True))
        for count in (3, 500):
            which = np.arange(2 * count).reshape(count, 2) % 4 - 1  # -1 is an unused place
            clips = [model.clips[name] for name in ("walk", "run", "wave")]
            given.append(model.crowd_palette(clips, which, TIMES[:count, None], weights=[[0.3, 0.7]]))
        for deformed in (model, big):
            palettes = deformed.palette(time=TIMES[:3])
            palettes[:, :, 0, 3] += np.linspace(0, 1, palettes.shape[1])  # no two slots alike
            given += [*deformed.deform(palettes[0]), *deformed.deform(palettes)]
    finally:
        _core._simd(before)
    return given


def simd_paths() -> list[str]:
    before = _core._simd(None)
    return list(dict.fromkeys(["plain", before]))


@pytest.mark.parametrize("simd", simd_paths())
def test_any_number_of_threads_gives_the_same_bits(model: skinpy.Model, big: skinpy.Model, simd: str) -> None:
    skinpy.set_num_threads(1)
    wanted = results(model, big, simd)
    for count in (2, 5):
        skinpy.set_num_threads(count)
        for got, want in zip(results(model, big, simd), wanted, strict=True):
            assert got.tobytes() == want.tobytes()


#: Rows of `big` that break a rule, and what is said: section, row and column, what stands there instead.
BROKEN = [
    ("POSITIONS", (150_000, 1), np.nan, "section POSITIONS holds a number that is not finite"),
    ("NORMALS", (VERTICES - 1, 2), -np.inf, "section NORMALS holds a number that is not finite"),
    ("VERTEX_SLOTS", (123_456, 2), 6, "vertex 123456 follows slot 6; the model has 6 slots"),
    ("VERTEX_WEIGHTS", (99_999, 1), np.nan, "section VERTEX_WEIGHTS holds a number that is not finite"),
    ("VERTEX_WEIGHTS", (VERTICES - 1, 3), -0.5, f"vertex {VERTICES - 1}: its weights are negative"),
    (
        "VERTEX_WEIGHTS",
        (77_777, 0),
        1.5,
        "vertex 77777: its weights are negative, not in falling order, or do not",
    ),
    (
        "FACES",
        (66_666, 2),
        VERTICES,
        f"face 66666 uses vertex {VERTICES}; its submesh has {VERTICES} vertices",
    ),
]
DTYPES = {"VERTEX_SLOTS": np.uint16, "FACES": np.uint32}


def rows_of(memory: bytearray, block: Any, name: str) -> Any:
    """(rows, n) of a section of a block's copy."""
    offset, rows, stride = block.sections[name]
    dtype = np.dtype(DTYPES.get(name, np.float32))
    return np.ndarray((rows, stride // dtype.itemsize), dtype, memory, offset)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_large_block_is_judged_alike_on_any_number_of_threads(big: skinpy.Model, threads: int) -> None:
    block = big._block
    assert block.nbytes > 8 << 20
    skinpy.set_num_threads(threads)
    good = bytearray(block)
    assert _core.Block(good).sections == block.sections
    for name, place, value, words in BROKEN:
        memory = bytearray(good)
        rows_of(memory, block, name)[place] = value
        with pytest.raises(skinpy.LoadError, match=words):
            _core.Block(memory)
    for name, place, value, _ in BROKEN[1:]:  # of several faults the first one in this order is named
        rows_of(good, block, name)[place] = value
    with pytest.raises(skinpy.LoadError, match=BROKEN[1][-1]):
        _core.Block(good)


def test_two_callers_and_a_third_that_changes_the_number(model: skinpy.Model) -> None:
    skinpy.set_num_threads(3)
    times = [TIMES, TIMES[::-1] + 0.3]
    wanted = [model._sample("run", some, "wrap", "slerp")[1] for some in times]
    wrong: list[int] = []
    end = threading.Event()

    def work(number: int) -> None:
        for _ in range(20):
            got = model._sample("run", times[number], "wrap", "slerp")[1]
            if not np.array_equal(got, wanted[number]):
                wrong.append(number)

    def change() -> None:
        count = 0
        while not end.is_set():
            count += 1
            skinpy.set_num_threads(1 + count % 5)

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    changer = threading.Thread(target=change)
    for thread in (*threads, changer):
        thread.start()
    for thread in threads:
        thread.join()
    end.set()
    changer.join()
    assert wrong == []


# ---- forks and the end of the process ----------------------------------------------------------------

PREPARE = """
import os, signal, sys, threading, time
import numpy as np
import skinpy
skinpy.set_num_threads(3)
model, times = skinpy.character(), np.linspace(0, 3, 3001)
def work(unused=0):
    return b"".join(array.tobytes() for array in model._sample("walk", times, "wrap", "slerp"))
wanted = work()
def forked():
    child = os.fork()
    if child == 0:
        signal.alarm(300)  # a deadlock ends with a signal
        os._exit(0 if work() == wanted and skinpy.get_num_threads() == 3 else 1)
    return os.waitpid(child, 0)[1]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork")
def test_a_fork_after_use() -> None:
    """From 3.12 on Python warns of forks while threads run: idle ones end before."""
    show = "import warnings; warnings.simplefilter('always')\n"  # os.fork drops it where it is an error
    code = show + "assert [forked() for _ in range(3)] == [0, 0, 0]; assert work() == wanted"
    done = run_python(PREPARE + code)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the names of threads")
def test_idle_threads_end_before_a_fork(model: skinpy.Model) -> None:
    """Python 3.12 and later warn of a fork of a process with threads, whoever made them."""
    skinpy.set_num_threads(3)
    use_threads(model, "skinpy-1", "skinpy-2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other tests may have left threads
        child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    assert has_threads()
    use_threads(model, "skinpy-1", "skinpy-2")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork")
def test_forks_while_another_thread_computes() -> None:
    code = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, from Python 3.12 on
end = threading.Event()
def loop():
    while not end.is_set():
        assert work() == wanted
thread = threading.Thread(target=loop)
thread.start()
codes = [forked() for _ in range(20)]
end.set()
thread.join()
assert codes == [0] * 20, codes
"""
    done = run_python(PREPARE + code)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork")
def test_multiprocessing_by_fork() -> None:
    code = """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(work, range(4)) == [wanted] * 4
"""
    done = run_python(PREPARE + code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", ["", "begun.wait(); time.sleep(0.05); sys.exit(0)"], ids=["idle", "busy"])
def test_the_process_ends_in_order(code: str) -> None:
    """With idle threads, and with a daemon thread that calls again and again."""
    loop = """
begun = threading.Event()
def loop():
    while True:
        work()
        begun.set()
threading.Thread(target=loop, daemon=True).start()
"""
    done = run_python(PREPARE + (loop + code if code else ""))
    assert (done.returncode, done.stderr) == (0, "")
