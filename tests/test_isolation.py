"""Isolated imports: a worker that misbehaves cannot harm this process.

False workers are scripts that are started in the true one's place; the true one is given files that crash,
hang or fill its memory, made here. How it is confined is seen from within: strace, where it is installed.
"""

import gc
import itertools
import os
import re
import shlex
import signal
import stat
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import builders
import import_cases as cases
import numpy as np
import opened_files
import pytest
from c_compiler import SOURCES, compiler, run
from conftest import ROOT

import skinpy
from skinpy import _core, _importer, loading

MODEL = builders.random_model(3, joints=8, vertices=200).glb()
#: A model whose block has megabytes.
LARGE = builders.random_model(4, joints=8, vertices=40_000).glb()
MAGIC = 0x534B4E57  # of an answer: "SKNW"
NO_LIMITS = (0, 0, 0, 0, 0)
LONG = 300.0  #: seconds: what lasts so long has not been ended
IN_TIME = 60.0  #: seconds within which it has, however busy the machine is

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the worker is confined on Linux alone")


def blocks(model: skinpy.Model) -> bytes:
    return bytes(memoryview(model._block))


def descriptors() -> set[int]:
    return set(opened_files.open_files())


def children() -> str:
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text()


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    before = len(descriptors())
    yield
    assert len(descriptors()) == before, "descriptors are left open"
    assert not children(), "workers are left running"


@pytest.fixture(params=[MODEL, LARGE], ids=["small", "large"])
def file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "model.glb"
    path.write_bytes(request.param)
    return path


# ---- the true worker -----------------------------------------------------------------------------


def test_a_model_is_the_same_from_both_processes(file: Path) -> None:
    apart, here, data = skinpy.load(file), skinpy.load(file, isolate=False), file.read_bytes()
    assert blocks(apart) == blocks(here)
    assert blocks(skinpy.load(data, format="glb")) == blocks(skinpy.load(data, format="glb", isolate=False))
    assert blocks(skinpy.load(data)) == blocks(here)


def test_options_reach_the_worker(file: Path) -> None:
    for options in (
        {"max_influences": 2},
        {"max_influences": 8},
        {"join_vertices": True},
        {"up": "+Z"},
        {"ignore_animated_scale": True},
    ):
        assert blocks(skinpy.load(file, **options)) == blocks(skinpy.load(file, isolate=False, **options))
    assert blocks(skinpy.load(file, up="+Z")) != blocks(skinpy.load(file))


def test_a_model_outlives_what_it_came_from_and_cannot_be_written(file: Path) -> None:
    positions = skinpy.load(file).mesh.positions
    file.unlink()
    assert np.isfinite(positions).all()
    with pytest.raises(ValueError, match="read-only"):
        positions[0] = 0


def test_names_are_taken_from_the_working_directory_as_everywhere(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    assert blocks(skinpy.load("model.glb")) == blocks(skinpy.load(file))
    with pytest.raises(FileNotFoundError, match=r"other\.glb"):
        skinpy.load("other.glb")


IN_A_SCRIPT = """
import hashlib, os, resource, signal, sys
import skinpy
{first}
block = memoryview(skinpy.load(sys.argv[1])._block)
print(hashlib.sha256(block).hexdigest())
"""


def load_in_a_script(path: Path, first: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", IN_A_SCRIPT.format(first=first), str(path)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=IN_TIME)


def grid_obj(size: int) -> bytes:
    """An OBJ of `size` vertices, each in up to three faces, with a comment that fills 3 MiB."""
    places = "".join(f"v {i % 50} {i // 50} 0.25\n" for i in range(size))
    faces = "".join(f"f {i + 1} {i + 2} {i + 51}\n" for i in range(size - 51))
    return f"{places}{faces}".encode().ljust(3 << 20, b"#")


def large_model(suffix: str, size: int) -> bytes:
    if suffix == "fbx":
        return cases.fbx().ljust(size, b"\n")
    return grid_obj(size) if suffix == "obj" else builders.random_model(5, joints=8, vertices=size).glb()


@pytest.mark.parametrize(
    ("suffix", "size"),
    [("glb", 21_000), ("glb", 62_000), ("glb", 900_000), ("obj", 99), ("obj", 99_000), ("fbx", 9 << 20)],
)
def test_large_models_are_the_same_from_both_processes(tmp_path: Path, suffix: str, size: int) -> None:
    path = tmp_path / f"model.{suffix}"
    path.write_bytes(large_model(suffix, size))
    assert blocks(skinpy.load(path)) == blocks(skinpy.load(path, isolate=False))


@pytest.mark.parametrize("size", [21_000, 62_000])
def test_large_bytes_are_the_file_that_has_them(tmp_path: Path, size: int) -> None:
    path = tmp_path / "model.glb"
    path.write_bytes(large_model("glb", size))
    assert blocks(skinpy.load(path.read_bytes())) == blocks(skinpy.load(path))


def test_a_limit_of_file_size_ends_the_load_and_not_this_process(tmp_path: Path) -> None:
    """The parent must not make the file of the block too large itself: the signal for that would end it."""
    path = tmp_path / "model.glb"
    path.write_bytes(LARGE)
    first = "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
    first += "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))"
    done = load_in_a_script(path, first)
    assert done.returncode == 1 and "LimitExceeded" in done.stderr, (done.returncode, done.stderr)


def test_a_file_that_is_cut_short_meanwhile_is_a_model_or_an_error(tmp_path: Path) -> None:
    """The file is truncated at any moment of the load."""
    path = tmp_path / "model.glb"
    path.write_bytes(LARGE)
    whole, ended = blocks(skinpy.load(path)), threading.Event()

    def cut_and_mend() -> None:
        while not ended.is_set():
            os.truncate(path, 100_000)
            time.sleep(0.001)
            path.write_bytes(LARGE)
            time.sleep(0.006)

    cutting = threading.Thread(target=cut_and_mend)
    cutting.start()
    try:
        for _ in range(60):
            with suppress(skinpy.LoadError):
                skinpy.load(path).check()
    finally:
        ended.set()
        cutting.join()
    assert blocks(skinpy.load(path)) == whole


def test_words_of_the_importer_come_through(tmp_path: Path) -> None:
    path = tmp_path / "no\udcff model.gltf"
    path.write_text('{"asset": {"version": "2.0"}, "nodes": [{"children": [7]}]}')
    with pytest.raises(skinpy.LoadError) as apart:
        skinpy.load(path)
    with pytest.raises(skinpy.LoadError) as here:
        skinpy.load(path, isolate=False)
    assert type(apart.value) is type(here.value) and str(apart.value) == str(here.value)


def test_build_info_says_what_keeps_the_worker_in() -> None:
    info = skinpy.build_info()
    assert info["isolation"][0] == "process" and set(info["isolation"]) <= {
        "process",
        "limits",
        "filter",
        "folders",
    }
    assert info["isolation_error"] is None


@pytest.fixture
def no_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A system that cannot isolate imports, in a process that has not said so yet."""
    monkeypatch.setattr(_importer, "_CAN_ISOLATE", False)
    monkeypatch.setattr(_importer, "isolation", lambda *_: pytest.fail("a worker was asked for"))
    monkeypatch.setattr(_importer, "_UNISOLATED", itertools.count())
    loading._usual.cache_clear()
    yield
    loading._usual.cache_clear()


@pytest.mark.usefixtures("no_worker")
def test_a_system_that_cannot_isolate_imports_here_and_says_so_once(file: Path) -> None:
    assert len(skinpy.load(file, isolate=False).mesh.positions)
    with pytest.warns(
        skinpy.SkinpyWarning, match=r"cannot isolate imports, so load\(\) imports in this"
    ) as given:
        skinpy.load(file)
    assert len(given) == 1 and given[0].filename == __file__
    assert len(skinpy.load(file).mesh.positions)  # any warning more would be an error
    assert len(skinpy.load(file, up="+Z").mesh.positions)
    assert len(skinpy.load(file.read_bytes(), format="glb").mesh.positions)
    assert len(skinpy.check(file)) >= 0
    info = skinpy.build_info()
    assert info["isolation"] == () and "in this process" in info["isolation_error"]


@pytest.mark.usefixtures("no_worker")
def test_strict_isolation_needs_a_worker(file: Path) -> None:
    calls: list[Callable[[], object]] = [
        lambda: skinpy.load(file, isolate="strict"),
        lambda: skinpy.load(file.read_bytes(), isolate="strict"),
        lambda: skinpy.check(file, isolate="strict"),
        lambda: skinpy.crane().add_clips(file, isolate="strict"),
        lambda: skinpy.VertexAnimation.load_series([file, file], 10, isolate="strict"),
    ]
    for call in calls:
        with pytest.raises(skinpy.LoadError, match=r"isolate='strict'.*a process of its own.*cannot isolate"):
            call()


def test_a_build_without_its_worker_imports_here_and_says_so(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = _importer.built_path
    gone = os.fsencode(tmp_path / "gone")
    monkeypatch.setattr(_importer, "built_path", lambda name: gone if name == "_worker" else true(name))
    monkeypatch.setattr(_importer, "_UNISOLATED", itertools.count())
    with pytest.warns(skinpy.SkinpyWarning, match="the worker is missing"):
        assert len(skinpy.load(file, up="+Z").mesh.positions)
    with pytest.raises(skinpy.LoadError, match="the worker is missing"):
        skinpy.load(file, isolate="strict")


#: Python code that lets system calls fail as in a system that lacks them: seccomp(2), SECCOMP_RET_ERRNO.
WITHOUT_CALLS = """
import ctypes, errno, struct, sys
import skinpy
def without(numbers):
    load, compare, answer = 0x20, 0x15, 0x06
    steps = [struct.pack("<HBBI", load, 0, 0, 0)]
    for number in numbers:
        steps.append(struct.pack("<HBBI", compare, 0, 1, number))
        steps.append(struct.pack("<HBBI", answer, 0, 0, 0x00050000 | errno.ENOSYS))
    steps.append(struct.pack("<HBBI", answer, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(steps))
    program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, program, 0, 0) == 0, ctypes.get_errno()  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
path, *numbers = sys.argv[1:]
without(map(int, numbers))
print(skinpy.build_info()["isolation"])
print(len(skinpy.load(path).mesh.positions) > 0)
try: skinpy.load(path, isolate="strict")
except skinpy.LoadError as error: print(error)
else: print("loaded")
"""
LANDLOCK_CREATE_RULESET = 444
SECCOMP = {"x86_64": 317, "aarch64": 277}.get(os.uname().machine, -1)
CAPSET = {"x86_64": 126, "aarch64": 91}.get(os.uname().machine, -1)
PARTS = {
    LANDLOCK_CREATE_RULESET: ("folders", "rules about folders (Landlock, Linux 5.13)"),
    SECCOMP: ("filter", "a filter of system calls (seccomp)"),
}


@pytest.mark.skipif(SECCOMP < 0, reason="the numbers of system calls are those of x86-64 and 64-bit ARM")
@pytest.mark.parametrize("missing", [*((one,) for one in PARTS), (LANDLOCK_CREATE_RULESET, SECCOMP), ()])
def test_strict_isolation_names_what_the_system_lacks(file: Path, missing: tuple[int, ...]) -> None:
    """True uses what there is."""
    if skinpy.build_info()["isolation"] != ("process", "limits", "filter", "folders"):
        pytest.skip("this system lacks a part, or a sanitizer")
    command = [sys.executable, "-c", WITHOUT_CALLS, str(file), *map(str, missing)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    isolation, loaded, said = done.stdout.splitlines()
    assert loaded == "True"
    for number, (name, words) in PARTS.items():
        assert (name in isolation) == (number not in missing)
        assert (words in said) == (number in missing)
    if missing:
        assert said.startswith(f"{file}: isolate='strict' needs what this system lacks: ")
        assert said.endswith("; isolate=True imports with what there is")
    else:
        assert said == "loaded"


@pytest.mark.skipif(CAPSET < 0, reason="the numbers of system calls are those of x86-64 and 64-bit ARM")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to give up")
def test_strict_isolation_of_root_needs_to_give_up_capabilities(file: Path) -> None:
    if skinpy.build_info()["isolation"] != ("process", "limits", "filter", "folders"):
        pytest.skip("this system lacks a part, or a sanitizer")
    command = [sys.executable, "-c", WITHOUT_CALLS, str(file), str(CAPSET)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    _, loaded, said = done.stdout.splitlines()
    assert loaded == "True"
    assert "needs what this system lacks: a way to give up the rights of root (capset); isolate=True" in said


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        (
            None,
            0o644,
            "Permission denied); make this file executable, on a disk that is not mounted with noexec",
        ),
        (b"", 0o755, "Exec format error); install skinpy again"),
        (b"#!/none\n", 0o755, "No such file or directory); install skinpy again"),
    ],
)
def test_a_worker_that_cannot_run_is_named(
    content: bytes | None, mode: int, words: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an installation by a program that loses permissions: it never loads without the worker."""
    monkeypatch.setattr(_importer, "isolation", _importer.isolation.__wrapped__)  # without its cache
    true = _importer.built_path
    worker = tmp_path / "worker"
    worker.write_bytes(Path(os.fsdecode(true("_worker"))).read_bytes() if content is None else content)
    worker.chmod(mode)
    monkeypatch.setattr(
        _importer, "built_path", lambda name: os.fsencode(worker) if name == "_worker" else true(name)
    )
    for isolate in (True, "strict"):
        with pytest.raises(skinpy.LoadError, match=re.escape(f"({worker}: {words}")):
            skinpy.load(file, isolate=isolate, limits=skinpy.Limits(seconds=29))


def test_strict_isolation_gives_the_same_model(file: Path) -> None:
    if skinpy.build_info()["isolation"] != ("process", "limits", "filter", "folders"):
        pytest.skip("this system lacks a part, or a sanitizer")
    assert blocks(skinpy.load(file, isolate="strict")) == blocks(skinpy.load(file))
    data = file.read_bytes()
    assert blocks(skinpy.load(data, isolate="strict", limits=skinpy.Limits(seconds=20))) == blocks(
        skinpy.load(data)
    )
    assert skinpy.check(file, isolate="strict") == skinpy.check(file)


@pytest.mark.parametrize("value", ["Strict", "", b"strict", "yes", np.array(["strict"])])
def test_isolate_is_a_flag_or_strict(file: Path, value: Any) -> None:
    with pytest.raises(TypeError, match=r"isolate is .*'strict'.*; expected True or False"):
        skinpy.load(file, isolate=value)
    with pytest.raises(TypeError, match=r"isolate is .*'strict'.*; expected True or False"):
        skinpy.check(file, isolate=value)


def test_many_threads_load_at_once(file: Path) -> None:
    expected, found = blocks(skinpy.load(file)), []
    threads = [threading.Thread(target=lambda: found.append(blocks(skinpy.load(file)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_a_full_table_of_low_descriptors_does_not_mislead_the_worker(file: Path) -> None:
    """The worker uses 3 to 5. Descriptors of this process with these numbers stay open and unused."""
    program = f"""
import os, sys
for number in range(3, 40):
    try: os.close(number)
    except OSError: pass
import skinpy
a = skinpy.load({str(file)!r})
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(3)]
b = skinpy.load({str(file)!r})
sys.exit(bytes(memoryview(a._block)) != bytes(memoryview(b._block)))
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=os.getcwd())


# ---- limits --------------------------------------------------------------------------------------


def huge_text_bvh(path: Path) -> Path:
    """A BVH that takes long to read."""
    motion = "0 0 0 0 0 0\n" * 600_000
    path.write_text(
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n"
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
        f"End Site\n{{\nOFFSET 0 1 0\n}}\n}}\nMOTION\nFrames: 600000\nFrame Time: 0.01\n{motion}"
    )
    return path


def test_time_is_limited(tmp_path: Path) -> None:
    path = huge_text_bvh(tmp_path / "long.bvh")
    begin = time.monotonic()
    with pytest.raises(skinpy.LimitExceeded, match=r"long\.bvh.*0\.05 seconds.*Limits\(seconds="):
        skinpy.load(path, limits=skinpy.Limits(seconds=0.05))
    assert time.monotonic() - begin < IN_TIME


def test_memory_is_limited(tmp_path: Path) -> None:
    if "limits" not in skinpy.build_info()["isolation"]:
        pytest.skip("no limits of memory here: a sanitizer, or another system")
    path = huge_text_bvh(tmp_path / "large.bvh")
    with pytest.raises(skinpy.LimitExceeded, match=r"large\.bvh.*Limits\(memory="):
        skinpy.load(path, limits=skinpy.Limits(memory=1 << 20))


def large_obj(vertices: int) -> bytes:
    points = "".join(f"v {i} {i % 7} {i % 11}\n" for i in range(vertices))
    return (points + "".join(f"f {i} {i + 1} {i + 2}\n" for i in range(1, vertices - 1))).encode()


def large_dae(numbers: int) -> bytes:
    """A COLLADA file that Assimp calls "malformed XML" when memory runs out."""
    return cases.dae(geometry=cases.dae_triangle(), nodes=f"<!-- {'0 ' * numbers} -->")


@pytest.mark.parametrize(
    ("content", "form", "needed"),
    [
        (LARGE, "glb", 16),
        (large_obj(20_000), "obj", 64),
        (large_dae(2_000_000), "dae", 32),
        (huge_text_bvh, "bvh", 512),
    ],
    ids=["glb", "obj", "dae", "bvh"],
)
def test_short_of_memory_nothing_else_is_said(content: Any, form: str, needed: int, tmp_path: Path) -> None:
    """However little memory there is, the error names the limit, and not a fault of the file."""
    if "limits" not in skinpy.build_info()["isolation"]:
        pytest.skip("no limits of memory here: a sanitizer, or another system")
    path = tmp_path / f"model.{form}"
    if callable(content):
        content(path)
    else:
        path.write_bytes(content)
    for memory in np.geomspace(1 << 16, path.stat().st_size * 0.9, 12).astype(int):
        with pytest.raises(skinpy.LimitExceeded, match=r"Limits\(memory="):
            skinpy.load(path, limits=skinpy.Limits(memory=int(memory)))
    for memory in np.geomspace(path.stat().st_size, needed << 20, 12).astype(int):
        with suppress(skinpy.LimitExceeded):
            skinpy.load(path, limits=skinpy.Limits(memory=int(memory)))
    skinpy.load(path, limits=skinpy.Limits(memory=needed << 20))


def test_little_memory_is_enough_for_little() -> None:
    """The memory of the program and its libraries does not count."""
    model = skinpy.load(MODEL, format="glb", limits=skinpy.Limits(memory=1 << 20))
    assert blocks(model) == blocks(skinpy.load(MODEL, format="glb"))


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("memory", 0, ValueError),
        ("memory", 1.5, TypeError),
        ("seconds", 0, ValueError),
        ("seconds", float("nan"), ValueError),
        ("seconds", "1", TypeError),
        ("seconds", np.inf, ValueError),
        ("seconds", np.float32(-1), ValueError),
        ("seconds", 10**400, ValueError),
        ("nodes", True, TypeError),
        ("keys", -1, ValueError),
        ("vertices", 2**63, ValueError),
    ],
)
def test_limits_are_checked(name: str, value: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=name):
        skinpy.Limits(**{name: value})  # type: ignore[arg-type]


def test_limits_may_be_numbers_of_numpy(file: Path) -> None:
    limits = skinpy.Limits(memory=np.int64(1 << 30), seconds=np.int64(9), keys=np.uint16(60_000))  # type: ignore[arg-type]
    assert limits == skinpy.Limits(memory=1 << 30, seconds=9, keys=60_000)
    assert repr(limits) == repr(skinpy.Limits(memory=1 << 30, seconds=9.0, keys=60_000))
    assert blocks(skinpy.load(file, limits=limits)) == blocks(skinpy.load(file))


def test_all_that_can_be_read_can_be_allowed(file: Path) -> None:
    every = skinpy.build_info()["formats"]
    assert blocks(skinpy.load(file, allow_formats=every)) == blocks(skinpy.load(file))


def test_options_are_checked(file: Path) -> None:
    for options, error, words in (
        ({"isolate": 1}, TypeError, "isolate"),
        ({"limits": 5}, TypeError, "limits"),
        ({"external": "all"}, ValueError, "external"),
        ({"allow_formats": "glb"}, TypeError, "allow_formats"),
        ({"allow_formats": 3}, TypeError, "allow_formats is 3; expected several suffixes"),
        ({"allow_formats": (1,)}, TypeError, "allow_formats"),
        ({"allow_formats": ([],)}, TypeError, "allow_formats"),
        ({"allow_formats": ("a;b",)}, ValueError, "allow_formats"),
    ):
        with pytest.raises(error, match=words):
            skinpy.load(file, **options)


# ---- Ctrl-C --------------------------------------------------------------------------------------


def stop_a_worker(parent: int) -> None:
    """Stop a worker of the thread `parent`, so that it never ends by itself."""
    deadline = time.monotonic() + LONG
    while time.monotonic() < deadline:
        for pid in Path(f"/proc/self/task/{parent}/children").read_text().split():
            with suppress(FileNotFoundError, ProcessLookupError):  # one that has ended
                # Until the worker runs its program, the thread that starts it waits and receives no signal.
                if Path(f"/proc/{pid}/comm").read_text().startswith("_worker"):
                    os.kill(int(pid), signal.SIGSTOP)
                    return
        time.sleep(0.001)
    raise AssertionError("no worker was seen")


def seconds_to_interrupt(path: Path) -> float:
    """The time from the signal to the KeyboardInterrupt, while a worker runs that never ends."""
    times: list[float] = []
    parent = threading.get_native_id()

    def interrupt() -> None:
        stop_a_worker(parent)
        times.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def loads() -> None:
        thread.start()
        while thread.is_alive():  # again where a worker ended before it was held up
            skinpy.load(path, limits=skinpy.Limits(seconds=LONG))

    thread = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt):
        loads()
    late = time.monotonic() - times[0]
    thread.join()
    return late


def test_ctrl_c_ends_a_load_and_its_worker(tmp_path: Path) -> None:
    """One of several loads ends within 100 ms. A busy machine may delay some of them, but not all."""
    path = huge_text_bvh(tmp_path / "long.bvh")
    times: list[float] = []
    while len(times) < 3 or (min(times) >= 0.1 and len(times) < 12):
        times.append(seconds_to_interrupt(path))
    assert min(times) < 0.1, f"the wait looks for signals every 0.05 seconds, but this took {times}"


# ---- false workers -------------------------------------------------------------------------------


def false_worker(folder: Path, program: str) -> Path:
    path = folder / "worker"
    path.write_text(f"#!{sys.executable} -IS\nimport os, signal, struct, sys, time\n{program}\n")
    path.chmod(0o755)
    return path


def load_by(worker: Path, path: Path, seconds: float = IN_TIME, folders: bytes = b"") -> object:
    true = _importer.isolation(skinpy.Limits(), _importer.variables())
    isolation = (os.fsencode(worker), *true[1:3], 1 << 30, seconds, folders)
    return _core._load_file(
        str(path), None, None, 4, -1, False, 0, -1, 1e-5, None, None, 0, NO_LIMITS, isolation
    )


def answer(status: int, size: int, message: bytes = b"", magic: int = MAGIC) -> str:
    """Python code that sends an answer to the parent."""
    return f"os.write(3, {struct.pack('<IiQI1024s4x', magic, status, size, 0, message)!r})"


@pytest.mark.parametrize("then", ["", f"time.sleep({LONG})"], ids=["and ends", "and stays"])
def test_a_false_worker_that_tells_the_truth_is_believed(file: Path, tmp_path: Path, then: str) -> None:
    """So the false workers below fail because of what they do. A worker that has answered is killed."""
    block = blocks(skinpy.load(file))
    (tmp_path / "block").write_bytes(block)
    program = f"""
os.ftruncate(4, 0); os.lseek(4, 0, 0)
os.write(4, open({str(tmp_path / "block")!r}, "rb").read())
{answer(0, len(block))}
{then}"""
    begin = time.monotonic()
    assert bytes(memoryview(load_by(false_worker(tmp_path, program), file))) == block  # type: ignore[arg-type]
    assert time.monotonic() - begin < IN_TIME


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("", "without an answer"),
        ("sys.exit(7)", "exit status 7"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"signal 11"),
        ("os.kill(os.getpid(), signal.SIGKILL)", r"signal 9.*no memory left"),
        ("os.write(3, b'abc')", "without an answer"),
        (answer(0, 100)[:-1] + "[:-1])", "without an answer"),
        (answer(0, 100, magic=1), "without an answer"),
        (answer(77, 0), "makes no sense"),
        (answer(-5, 0), "makes no sense"),
        ("os.ftruncate(4, 0); " + answer(0, 0), "not as large"),
        ("os.ftruncate(4, 50); " + answer(0, 100), "not as large"),
        ("os.ftruncate(4, 100); " + answer(0, 2**63), "not as large"),
    ],
)
def test_a_worker_that_fails_is_an_error(file: Path, tmp_path: Path, program: str, words: str) -> None:
    with pytest.raises(skinpy.ImporterCrashed, match=words):
        load_by(false_worker(tmp_path, program), file)


def test_a_crash_is_one_though_another_process_has_the_pipe(file: Path, tmp_path: Path) -> None:
    """A process that another thread forks at the wrong moment keeps the pipe open after the worker's end."""
    program = """
if os.fork() == 0:
    time.sleep(25)
    os._exit(0)
os.kill(os.getpid(), signal.SIGSEGV)"""
    with pytest.raises(skinpy.ImporterCrashed, match="signal 11"):
        load_by(false_worker(tmp_path, program), file, seconds=20)


def test_ctrl_c_ends_the_copying_of_bytes() -> None:
    """Copying many bytes takes longer than a tenth of a second."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    data, late = bytes(192 << 20), []
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for delay in (0.005, 0.01, 0.02, 0.03, 0.04):
            begin = time.monotonic()
            try:  # the timer begins within: on a busy machine it may end before the load begins
                signal.setitimer(signal.ITIMER_REAL, delay)
                skinpy.load(data, format="obj")
                pytest.fail("the load ended before Ctrl-C came")
            except KeyboardInterrupt:
                pass
            late.append(time.monotonic() - begin - delay)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert min(late) < 0.1, late


@pytest.mark.parametrize("size", [1, 64, 4096, 100_000])
def test_a_block_of_nonsense_is_refused_by_the_reader(file: Path, tmp_path: Path, size: int) -> None:
    program = (
        f"os.ftruncate(4, 0); os.pwrite(4, bytes(i * 7 % 251 for i in range({size})), 0); {answer(0, size)}"
    )
    with pytest.raises(skinpy.LoadError):
        load_by(false_worker(tmp_path, program), file)


@pytest.mark.parametrize("status", range(1, 10))
def test_errors_of_a_worker_become_ours(file: Path, tmp_path: Path, status: int) -> None:
    message = b"\xff" * 1024  # neither UTF-8 nor ended
    with pytest.raises((skinpy.LoadError, MemoryError, ValueError, FileNotFoundError)):
        load_by(false_worker(tmp_path, answer(status, 0, message)), file)


@pytest.mark.parametrize(
    "program",
    [f"time.sleep({LONG})", f"os.close(3); time.sleep({LONG})"],
    ids=["says nothing", "closes the pipe"],
)
def test_a_worker_that_never_ends_is_ended(file: Path, tmp_path: Path, program: str) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # what it ignores does not save it
        program = f"signal.signal(signal.{name}, signal.SIG_IGN)\n{program}"
    begin = time.monotonic()
    with pytest.raises(skinpy.LimitExceeded, match=r"0\.3 seconds"):
        load_by(false_worker(tmp_path, program), file, seconds=0.3)
    assert time.monotonic() - begin < IN_TIME


def test_a_result_that_shrinks_meanwhile_ends_nobody(tmp_path: Path) -> None:
    """Touching a page behind the end of a file ends a process. In C, because the parent is quick."""
    source, worker, path = tmp_path / "worker.c", tmp_path / "worker", tmp_path / "model.glb"
    source.write_text("""
#include <time.h>
#include <unistd.h>
int main(void) {
  clock_t end = clock() + CLOCKS_PER_SEC / 50;
  while (clock() < end)
    if (ftruncate(4, 0) || ftruncate(4, 40 << 20)) return 1;
  return 7;
}""")
    done = run(*compiler(), "-o", worker, source)
    assert done.returncode == 0, done.stdout
    path.write_bytes(bytes(40 << 20))
    for _ in range(20):  # some of them would end a parent that maps the file before it is sealed
        with pytest.raises(skinpy.ImporterCrashed, match="exit status 7"):
            load_by(worker, path)


def test_an_answer_that_comes_between_two_looks_is_heard(file: Path, tmp_path: Path) -> None:
    """poll looks at the pipe first and at the process second. Here the worker lives and ends in between."""
    source, library = tmp_path / "poll.c", tmp_path / "poll.so"
    source.write_text("""
#define _GNU_SOURCE
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
int poll(struct pollfd *files, nfds_t count, int timeout) {
  if (count == 2) {
    syscall(SYS_poll, files, 1, 0);
    syscall(SYS_poll, files + 1, 1, -1);
    return 1;
  }
  return (int)syscall(SYS_poll, files, count, timeout);
}""")
    done = run(*compiler(), "-shared", "-fPIC", "-o", library, source)
    assert done.returncode == 0, done.stdout
    program = f"import skinpy; print(len(skinpy.load({str(file)!r}).mesh.positions))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ
        | {"LD_PRELOAD": f"{os.environ.get('LD_PRELOAD', '')} {library}"},  # a sanitizer is first
        capture_output=True,
        text=True,
        timeout=LONG,
    )
    assert done.stdout.split() == [str(len(skinpy.load(file).mesh.positions))], done.stderr


def test_a_worker_that_the_system_holds_on_to_does_not_hold_us(file: Path, tmp_path: Path) -> None:
    """A tracer keeps the worker, as a disk that does not answer would. A later load waits for its end."""
    tracer = """
import ctypes, sys, time
SEIZE = 0x4206
if ctypes.CDLL(None).ptrace(SEIZE, int(sys.argv[1]), None, None): sys.exit("may not")
print("ready", flush=True)
time.sleep(1000)"""
    draft, pid = tmp_path / "draft", tmp_path / "pid"
    worker = false_worker(
        tmp_path,
        f"open({str(draft)!r}, 'w').write(str(os.getpid())); os.rename({str(draft)!r}, {str(pid)!r}); "
        f"time.sleep({LONG})",
    )
    tracers: list[subprocess.Popen[str]] = []
    said: list[str] = []

    def trace() -> None:
        command = [sys.executable, "-c", tracer, str(wait_until(lambda: pid.exists() and pid.read_text()))]
        tracers.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        said.append((tracers[0].stdout or sys.stdin).readline())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=trace)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            load_by(worker, file, seconds=LONG)
        thread.join()
        if said != ["ready\n"]:
            pytest.skip("no process may trace another here")
        assert pid.read_text() in children().split()  # it has ended, and only its tracer may know
    finally:
        thread.join()
        for process in tracers:
            process.kill()
            process.communicate()
    wait_until(lambda: skinpy.load(file) and not children())


def test_a_worker_that_takes_its_time_to_go_away_is_believed(file: Path, tmp_path: Path) -> None:
    """A large process on a busy machine: here waitpid says for a second that the worker has not ended."""
    source, library = tmp_path / "waitpid.c", tmp_path / "waitpid.so"
    source.write_text("""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
pid_t waitpid(pid_t pid, int *status, int options) {
  static struct timespec first;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  if (!first.tv_sec) first = t;
  if (t.tv_sec - first.tv_sec < 2) return 0;
  return (pid_t)syscall(SYS_wait4, pid, status, options, 0);
}""")
    done = run(*compiler(), "-shared", "-fPIC", "-o", library, source)
    assert done.returncode == 0, done.stdout
    program = f"""
import pathlib, time, skinpy
begin = time.monotonic()
block = bytes(memoryview(skinpy.load({str(file)!r}, limits=skinpy.Limits(seconds={IN_TIME}))._block))
assert time.monotonic() - begin > 0.4, "waitpid was not asked"
children = lambda: pathlib.Path("/proc/thread-self/children").read_text()
assert children(), "it has not ended"
time.sleep(2)
assert bytes(memoryview(skinpy.load({str(file)!r})._block)) == block
assert not children(), "a later load waits for it"
print(len(block))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"LD_PRELOAD": f"{os.environ.get('LD_PRELOAD', '')} {library}"},
        capture_output=True,
        text=True,
        timeout=LONG,
    )
    assert done.stdout.split() == [str(len(blocks(skinpy.load(file))))], done.stderr


def test_a_worker_that_keeps_writing_has_no_hand_on_the_block(file: Path, tmp_path: Path) -> None:
    """A process that the worker leaves behind has mapped the file for writing, so it cannot be sealed."""
    block = blocks(skinpy.load(file))
    (tmp_path / "block").write_bytes(block)
    program = f"""
import mmap
os.ftruncate(4, 0); os.pwrite(4, open({str(tmp_path / "block")!r}, "rb").read(), 0)
if os.fork() == 0:
    os.close(3)
    memory = mmap.mmap(4, 0)
    with open({str(tmp_path / "draft")!r}, "w") as draft: draft.write(str(os.getpid()))
    os.rename({str(tmp_path / "draft")!r}, {str(tmp_path / "pid")!r})
    time.sleep({LONG})
    os._exit(0)
while not os.path.exists({str(tmp_path / "pid")!r}): time.sleep(0.01)
{answer(0, len(block))}"""
    try:
        with pytest.raises(skinpy.ImporterCrashed, match="sealed"):
            load_by(false_worker(tmp_path, program), file)
    finally:
        left = int((tmp_path / "pid").read_text())
        os.kill(left, signal.SIGKILL)
        with suppress(ChildProcessError):  # ours where orphans come to this process
            os.waitpid(left, 0)


def test_what_cannot_be_started_is_an_error_that_names_the_remedy(file: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("this is no program")
    broken.chmod(0o755)
    for program in (tmp_path / "absent", tmp_path, broken):
        with pytest.raises(skinpy.LoadError, match=r"install skinpy again|make this file executable"):
            load_by(program, file)


def test_a_worker_that_is_not_its_parent_s_child_ends(file: Path, tmp_path: Path) -> None:
    """This happens if the parent ends before the worker has asked to end with it."""
    worker = tmp_path / "worker"
    worker.write_text(f"#!/bin/sh\n{shlex.quote(os.fsdecode(_importer.built_path('_worker')))} &\nwait $!\n")
    worker.chmod(0o755)
    with pytest.raises(skinpy.ImporterCrashed, match="exit status 2"):
        load_by(worker, file)


def test_folders_of_libraries_reach_the_worker(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "libraries"))
    true = _importer.isolation(skinpy.Limits(), _importer.variables())
    shown = false_worker(tmp_path, "sys.exit(os.environ['LD_LIBRARY_PATH'].endswith('/libraries') * 5)")
    isolation = (os.fsencode(shown), *true[1:])
    with pytest.raises(skinpy.ImporterCrashed, match="exit status 5"):
        _core._load_file(
            str(file), None, None, 4, -1, False, 0, -1, 1e-5, None, None, 0, NO_LIMITS, isolation
        )
    assert blocks(skinpy.load(file))
    monkeypatch.setenv("LD_LIBRARY_PATH", "/x" * 10_000)
    with pytest.raises(skinpy.LoadError, match="Argument list too long"):
        skinpy.load(file)


@pytest.mark.parametrize(
    ("size", "folders", "names"),
    [
        (10, b"", set()),
        (10, b"/somewhere", {"LD_LIBRARY_PATH"}),
        (1 << 20, b"", set()),
        (1 << 20, b"/somewhere", {"LD_LIBRARY_PATH"}),
    ],
)
def test_of_the_environment_only_what_is_needed_comes_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, folders: bytes, names: set[str]
) -> None:
    """The names come from /proc, because Python adds some to its own environment."""
    monkeypatch.setenv("SECRET", "42")
    (tmp_path / "a.bvh").write_bytes(b"x" * size)
    program = f"open({str(tmp_path / 'seen')!r}, 'wb').write(open('/proc/self/environ', 'rb').read())"
    with pytest.raises(skinpy.ImporterCrashed):
        load_by(false_worker(tmp_path, program), tmp_path / "a.bvh", folders=folders)
    seen = (tmp_path / "seen").read_bytes().split(b"\0")[:-1]
    assert {os.fsdecode(one).partition("=")[0] for one in seen} == names
    assert len(seen) == len(names)


def test_descriptors_of_ours_are_not_the_worker_s(file: Path, tmp_path: Path) -> None:
    with open(tmp_path / "private", "w") as private:
        os.set_inheritable(private.fileno(), True)
        # A worker closes files that C libraries opened without close-on-exec; a script shows the others.
        program = "names = [os.readlink(f'/proc/self/fd/{n}') for n in (0, 1, 2)]\n"
        program += f"open({str(tmp_path / 'seen')!r}, 'w').write(repr(names))"
        with pytest.raises(skinpy.ImporterCrashed):
            load_by(false_worker(tmp_path, program), file)
    assert (tmp_path / "seen").read_text() == repr(["/dev/null"] * 3)


def test_a_descriptor_of_ours_is_not_taken_for_the_model_s_bytes(file: Path, tmp_path: Path) -> None:
    """The bytes of a model have number 5. For a model in a file, 5 is closed, even if it is inheritable."""
    program = "there = os.path.exists('/proc/self/fd/5')\n"
    program += f"open({str(tmp_path / 'seen')!r}, 'w').write(str(there))"
    worker = false_worker(tmp_path, program)
    script = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_isolation as t
os.dup2(os.open("/dev/zero", os.O_RDONLY), 5, inheritable=True)
try: t.load_by(t.Path({str(worker)!r}), t.Path({str(file)!r}))
except t.skinpy.ImporterCrashed: sys.exit(7)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 7, done.stderr
    assert (tmp_path / "seen").read_text() == "False"


def test_who_reaps_all_children_does_not_mislead_us(file: Path) -> None:
    """If SIGCHLD is ignored, the system waits for the worker itself."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert skinpy.load(file)
    finally:
        signal.signal(signal.SIGCHLD, before)


# ---- what the worker may do ----------------------------------------------------------------------


def test_the_worker_opens_nothing_but_libraries_and_files_of_the_folder(tmp_path: Path) -> None:
    folder, outside = tmp_path / "model", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.mtl").write_text("newmtl secret\n")
    (folder / "near.mtl").write_text("newmtl near\n")
    (folder / "link.mtl").symlink_to(outside / "secret.mtl")
    os.mkfifo(folder / "pipe.mtl")
    names = ("near.mtl", "../outside/secret.mtl", str(outside / "secret.mtl"), "link.mtl", "pipe.mtl")
    mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    for number, name in enumerate(names):
        (folder / f"m{number}.obj").write_text(f"mtllib {name}\n{mesh}")
        path = str(folder / f"m{number}.obj")
        program = f"import skinpy, warnings; warnings.simplefilter('ignore'); skinpy.load({path!r})"
        logs = opened_files.trace([sys.executable, "-c", program], tmp_path / f"log{number}")
        opened = opened_files.check_workers(logs, folder, 1)
        assert path in opened
        assert (str(folder / "near.mtl") in opened) == (number == 0)
        elsewhere = opened_files.opened_elsewhere(logs)
        assert not any("secret.mtl" in one for one in elsewhere), f"{name} was opened"


def test_files_of_the_folder_are_read_and_those_outside_are_not(tmp_path: Path) -> None:
    def colored(name: str, external: str) -> bool:
        path = tmp_path / "model" / "m.obj"
        path.write_text(f"mtllib {name}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_, **__: None)
            model = skinpy.load(path, external=external)  # type: ignore[arg-type]
        return any(m.base_color[0] > 0.9 and m.base_color[1] < 0.1 for m in model.materials)

    (tmp_path / "model").mkdir()
    for place in ("red.mtl", "model/red.mtl"):
        (tmp_path / place).write_text("newmtl red\nKd 1 0 0\n")
    assert colored("red.mtl", "folder")
    assert not colored("../red.mtl", "folder")
    assert not colored("red.mtl", "none")
    assert colored("../red.mtl", "any")


def status_of(pid: str) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def wait_until(met: Callable[[], Any]) -> Any:
    """The first true result of `met`."""
    deadline = time.monotonic() + IN_TIME
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError, ProcessLookupError):
            if found := met():
                return found
        time.sleep(0.002)
    raise AssertionError("it never came")


def is_running(pid: str) -> bool:
    try:
        return status_of(pid)["State"][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def stop(pid: str) -> bool:
    """Stop a process, and return whether it has stopped, and not ended before."""
    os.kill(int(pid), signal.SIGSTOP)
    while (state := status_of(pid)["State"][0]) not in "TZX":
        time.sleep(0.001)
    return state == "T"


def stopped_worker(parent: str, filtered: bool) -> str | None:
    """A worker in the middle of its import, stopped as its parent is, if there is one now."""
    for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        if Path(f"/proc/{pid}/comm").read_text().startswith("_worker"):
            facts = status_of(pid)
            if facts["NoNewPrivs"] == "1" and (facts["Seccomp"] == "2" or not filtered):
                with suppress(FileNotFoundError, ProcessLookupError):
                    if stop(parent) and stop(pid):
                        return pid
                os.kill(int(parent), signal.SIGCONT)  # the worker had ended before
    return None


LOADS_FOR_EVER = """
import os, sys, skinpy
path, user = sys.argv[1:]
skinpy.crane()  # imports what another user may not read
if int(user): os.setresuid(int(user), int(user), int(user))
while True: skinpy.load(path, limits=skinpy.Limits(seconds=300))"""


@contextmanager
def running_worker(path: Path, user: int = 0) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A process, of another user unless it is 0, and its worker, both stopped during an import."""
    filtered = "filter" in skinpy.build_info()["isolation"]
    parent = subprocess.Popen([sys.executable, "-c", LOADS_FOR_EVER, str(path), str(user)])
    worker = ""
    try:
        worker = wait_until(lambda: stopped_worker(str(parent.pid), filtered))
        yield parent, worker
    finally:
        parent.kill()
        parent.wait()
        if worker and is_running(worker):
            os.kill(int(worker), signal.SIGKILL)


def test_a_running_worker_is_locked_in_and_ends_with_its_parent(tmp_path: Path) -> None:
    """It has no core file, no new privileges and a filter of calls, and ends when its parent is killed."""
    with running_worker(huge_text_bvh(tmp_path / "long.bvh")) as (parent, worker):
        limits = Path(f"/proc/{worker}/limits").read_text()
        assert re.search(r"^Max core file size +0 +0 ", limits, re.MULTILINE), limits
        facts = status_of(worker)
        assert facts["NoNewPrivs"] == "1" and facts["PPid"] == str(parent.pid)
        assert facts["Seccomp"] == "2" or "filter" not in skinpy.build_info()["isolation"]
        assert is_running(worker)
        parent.kill()
        parent.wait()
        ended, deadline = False, time.monotonic() + 1
        while not ended and time.monotonic() < deadline:
            ended = not is_running(worker)
            time.sleep(0.002)
        assert ended or not is_running(worker), "it outlives its parent by more than a second"


OTHER_USER = 1234
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may act as another user")


@pytest.mark.parametrize("user", [0, pytest.param(OTHER_USER, marks=needs_root)])
def test_where_memory_ends_the_worker_is_the_first_to_go(user: int) -> None:
    """proc(5): the highest score is 1000. Everyone may raise the own score, and only root may lower it."""
    folders = Path(skinpy.__file__).resolve().parents
    if user and not all(folder.stat().st_mode & stat.S_IXOTH for folder in folders):
        pytest.skip("other users cannot reach this installation")
    with TemporaryDirectory() as folder:  # other users cannot reach tmp_path
        os.chmod(folder, 0o755)
        path = huge_text_bvh(Path(folder, "long.bvh"))
        with running_worker(path, user) as (parent, worker):
            assert Path(f"/proc/{worker}/oom_score_adj").read_text() == "1000\n"
            ours = Path("/proc/self/oom_score_adj").read_text()
            assert Path(f"/proc/{parent.pid}/oom_score_adj").read_text() == ours


READ_OTHERS = 1 << 2  # capabilities(7): CAP_DAC_READ_SEARCH


@needs_root
@pytest.mark.parametrize(
    ("owner", "mode", "kept"), [(0, 0o600, 0), (1234, 0o644, 0), (1234, 0o600, READ_OTHERS)]
)
def test_a_worker_of_root_has_no_capabilities(owner: int, mode: int, kept: int, tmp_path: Path) -> None:
    """It keeps the one for reading files of others where it could not read the model without it."""
    if "filter" not in skinpy.build_info()["isolation"]:
        pytest.skip("a sanitizer: no sandbox")
    path = huge_text_bvh(tmp_path / "long.bvh")
    path.chmod(mode)
    os.chown(path, owner, owner)
    with running_worker(path) as (_, worker):
        facts = status_of(worker)
        assert int(facts["CapEff"], 16) == int(facts["CapPrm"], 16) == kept
        assert {facts[name] for name in ("CapInh", "CapBnd", "CapAmb")} == {"0" * 16}


@needs_root
def test_root_reads_models_of_others_as_before(tmp_path: Path) -> None:
    """A private folder with a private file that refers to another one."""
    folder = tmp_path / "private"
    folder.mkdir()
    data = np.zeros((3, 3), np.float32)
    data[1, 0] = data[2, 1] = 1
    (folder / "a.bin").write_bytes(data.tobytes())
    (folder / "a.gltf").write_text(
        '{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],'
        '"meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],'
        '"accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",'
        '"min": [0, 0, 0], "max": [1, 1, 0]}],'
        '"bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"uri": "a.bin", "byteLength": 36}]}'
    )
    for path, mode in ((folder / "a.bin", 0o600), (folder / "a.gltf", 0o600), (folder, 0o700)):
        path.chmod(mode)
        os.chown(path, OTHER_USER, OTHER_USER)
    np.testing.assert_array_equal(skinpy.load(folder / "a.gltf").mesh.positions, data)


@pytest.fixture(scope="module")
def false_importer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("false") / "importer.so"
    sources = (ROOT / "tests/hostile/false_importer.c", SOURCES / "core/base/sk_base.c")
    done = run(*compiler(), "-std=gnu11", "-shared", "-fPIC", *sources, "-o", path)
    assert done.returncode == 0, done.stdout
    return path


def reached(importer: Path, file: Path, external: str) -> set[str]:
    """The things that an importer under the control of a file could do."""
    worker, _, libraries, *rest = _importer.isolation(skinpy.Limits(), _importer.variables())
    isolation = (worker, os.fsencode(importer), libraries, *rest)
    number = loading._EXTERNAL.index(external)
    with pytest.raises(skinpy.LoadError, match="done: ") as error:
        _core._load_file(
            str(file), None, None, 4, -1, False, 0, -1, 1e-5, None, None, number, NO_LIMITS, isolation
        )
    return set(str(error.value).split("done: ")[1].split())


def test_an_importer_that_was_taken_over_is_locked_in(false_importer: Path, tmp_path: Path) -> None:
    protections = skinpy.build_info()["isolation"]
    if not {"filter", "folders"} <= set(protections):
        pytest.skip(f"this system has {protections} alone: a sanitizer, or an old kernel")
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("model/file.glb", "model/neighbor", "outside"):
        (tmp_path / name).write_text("something")
    (folder / "link").symlink_to(tmp_path / "outside")
    file = folder / "file.glb"
    assert reached(false_importer, file, "none") == {"model", "frees"}
    assert reached(false_importer, file, "folder") == {"model", "neighbor", "frees"}
    everything = {"model", "neighbor", "parent", "link", "passwd", "frees"}
    assert everything <= reached(false_importer, file, "any") <= everything | {"environ"}
    assert file.read_text() == "something" and not (folder / "made").exists()


def test_a_worker_that_computes_too_long_while_its_parent_sleeps(
    false_importer: Path, tmp_path: Path
) -> None:
    """The limit of processor time ends it two seconds after the load's own, and is not called a crash."""
    if "limits" not in skinpy.build_info()["isolation"]:
        pytest.skip("no limits of time here: a sanitizer, or another system")
    path = tmp_path / "endless.glb"
    path.write_bytes(MODEL)
    script = f"""
import sys, skinpy
from skinpy import _importer
worker, _, *rest = _importer.isolation(skinpy.Limits(seconds=0.9), _importer.variables())
_importer.isolation = lambda *_: (worker, {os.fsencode(false_importer)!r}, *rest)
try: skinpy.load({str(path)!r}, limits=skinpy.Limits(seconds=0.9))
except skinpy.LoadError as error: print(type(error).__name__, error)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    children_of = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")

    def computing() -> str | None:
        return next(
            (pid for pid in children_of.read_text().split() if status_of(pid)["Seccomp"] == "2"), None
        )

    try:
        worker = wait_until(computing)
        assert stop(str(parent.pid))
        wait_until(lambda: not is_running(worker))
        parent.send_signal(signal.SIGCONT)
        said = parent.communicate(timeout=IN_TIME)[0]
    finally:
        parent.kill()
        parent.wait()
    assert re.match(r"LimitExceeded .*endless\.glb: .*0\.9 seconds.*Limits\(seconds=", said), said


# ---- damage --------------------------------------------------------------------------------------


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Python loses a KeyboardInterrupt in functions that the collector calls, such as finalizers."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_random_signals_while_loading_leave_nothing_behind(file: Path) -> None:
    """SIGINT at any moment gives KeyboardInterrupt or a model, and does not change the next load."""
    rng = np.random.default_rng(1)
    expected = blocks(skinpy.load(file))
    heard: list[int] = []
    usual = signal.getsignal(signal.SIGINT)

    def hear(number: int, frame: object) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    def loads(delay: float) -> Callable[[], None]:
        def send() -> None:
            time.sleep(delay)
            os.kill(os.getpid(), signal.SIGINT)

        return send

    signal.signal(signal.SIGINT, hear)
    try:
        for delay in rng.uniform(0, 0.02, 25):
            thread = threading.Thread(target=loads(float(delay)))
            heard.clear()
            interrupted, deadline = False, time.monotonic() + IN_TIME
            try:
                thread.start()
                while thread.is_alive():
                    skinpy.load(file)
                while not heard and time.monotonic() < deadline:
                    time.sleep(0.001)
            except KeyboardInterrupt:
                interrupted = True
            thread.join()
            assert heard and interrupted
    finally:
        signal.signal(signal.SIGINT, usual)
    assert blocks(skinpy.load(file)) == expected


@pytest.mark.parametrize("status", range(1, 12))
def test_the_words_of_a_false_worker_do_nothing(file: Path, tmp_path: Path, status: int) -> None:
    """A worker under the control of a file says what it likes; a terminal obeys none of it."""
    words = b"\x1b]0;title\x07\x1b[2J\x9b1m\xe2\x80\xae\xff\r\n" * 100
    worker = false_worker(tmp_path, answer(status, 0, words[:1024]))
    with pytest.raises((skinpy.LoadError, OSError, MemoryError, ValueError)) as error:
        load_by(worker, file)
    assert str(error.value).isprintable()
