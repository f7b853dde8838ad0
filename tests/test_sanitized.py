"""The extension, the importer and the worker, built with sanitizers by one command, under tests of their own.

    SKINPY_SANITIZE=address,undefined python setup.py build --build-base FOLDER

(or SKINPY_SANITIZE=thread, which goes with no other.)
The interpreter that loads such an extension needs the sanitizers' libraries before all others (LD_PRELOAD)
and PYTHONMALLOC=malloc: of Python's own allocator the address sanitizer sees nothing. Python, NumPy and
Assimp keep memory to the end: of the leaks only those are looked for that a function of ours stands in, in
a run of their own (tests/hostile/leaks.py counts what is kept while calls go on). Workers then
have neither limits of memory, which a sanitizer's terabytes of addresses are above, nor a filter of system
calls, and skinpy.build_info() says so; tests that need these are skipped by name.
"""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from c_compiler import build_apart, compiler, run, steady
from conftest import DATA, HANGS, ROOT

pytestmark = pytest.mark.ci

#: What calls our C with arguments of all kinds.
SUITES = ("isolation", "import", "hard_models", "arguments", "model", "deform", "blend", "crowd", "morph")
SUITES += ("kinds", "compiled", "clip_file", "import_compressed", "fades")


def library(name: str) -> str:
    """Path of a sanitizer's library, or "" where the compiler has none."""
    path = run(*compiler(), f"-print-file-name=lib{name}.so").stdout.strip()
    return path if Path(path).is_absolute() else ""


def run_with(built: Path, *libraries: str, command: list[str], **options: str) -> str:
    """What the interpreter wrote that runs `command` with the build."""
    keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "CC") if name in os.environ}
    environment = keep | {
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(built),
        "SKINPY_DATA": str(DATA),
        **options,
    }
    done = subprocess.run(
        [*steady(), sys.executable, *command],
        cwd=built,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout


def run_sanitized(built: Path, *libraries: str, command: list[str]) -> str:
    """What the interpreter wrote; a report of the address or the undefined behavior sanitizer fails."""
    options = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
    said = run_with(built, *libraries, command=command, **options)
    assert "Sanitizer" not in said and "runtime error" not in said, said[-8000:]
    return said


# ---- address and undefined behavior --------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    libraries = library("asan"), library("ubsan")
    if not all(libraries):
        pytest.skip("ADDRESS SANITIZER: the compiler has no shared libasan and libubsan")
    return build_apart(tmp_path_factory.mktemp("guarded"), SKINPY_SANITIZE="address,undefined"), *libraries


def test_a_guarded_build_says_what_is_off(guarded: tuple[Path, str, str]) -> None:
    built, *libraries = guarded
    program = "import skinpy; print(skinpy.__file__); print(skinpy.build_info()['isolation'])"
    place, isolation = run_sanitized(built, *libraries, command=["-c", program]).splitlines()
    assert Path(place).is_relative_to(built)
    assert isolation == "('process',)"


def test_a_guarded_build_sees_our_memory(guarded: tuple[Path, str, str]) -> None:
    """What lies right behind a block is out of bounds to the sanitizer; else the tests below say nothing."""
    built, *libraries = guarded
    program = """
import ctypes
import numpy as np
import skinpy
block = memoryview(skinpy.character()._block)
address = np.frombuffer(block, "u1").ctypes.data
poisoned = ctypes.CDLL(None).__asan_address_is_poisoned
poisoned.argtypes = [ctypes.c_void_p]
print(any(poisoned(address + at) for at in range(0, len(block), 8)))
print(any(poisoned(address + len(block) + at) for at in range(64)))
"""
    said = run_sanitized(built, *libraries, command=["-c", program])
    assert said.split() == ["False", "True"]


def test_under_the_address_and_undefined_behavior_sanitizers(guarded: tuple[Path, str, str]) -> None:
    built, *libraries = guarded
    suites = [str(ROOT / f"tests/test_{name}.py") for name in SUITES]
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *suites]
    said = run_sanitized(built, *libraries, command=command)
    passed = re.search(r"(\d+) passed", said)
    assert passed and int(passed[1]) > 300, said[-3000:]


# ---- leaks ----------------------------------------------------------------------------------------

#: Main entry points, and hostile files in both processes.
USE_ALL = """
import gc, pickle, sys, warnings
from pathlib import Path
import numpy as np
import skinpy
from skinpy import _core
warnings.simplefilter("ignore")
folder, hostile = Path(sys.argv[1]), sys.argv[2:]
source = Path(skinpy.__file__).parent / "data/crane.glb"
data = source.read_bytes()

def use():
    model, other = skinpy.character(), skinpy.load(source)
    skinpy.load(source, isolate=False), skinpy.load(data, format="glb")
    skinpy.load(data, format="glb", isolate=False)
    palettes = model.palette("walk", [0.1, 0.2])
    model.palette("walk", 0.1, palettes[0])
    model.globals("walk", 0.1), model.joint_positions("walk", 0.1), model.bounds("wave")
    model.deform(palettes), model.crowd_palette(["walk", "run"], [[0, 1]], 0.2)
    model.clips["walk"].sample(0.2), model.bake_texture("walk", 8.0)
    pose = model.pose("walk", 0.1)
    pose.palette(), pose.locals(), pickle.loads(pickle.dumps(pose))
    controller = skinpy.AnimationController(model)
    controller.play("walk"), controller.play("wave", layer="upper", mask="Chest")
    for number in range(20):
        layer, method = ("base", "upper")[number % 2], "blend" if number < 16 else "inertial"
        controller.cross_fade(number % 3, 0.2, layer=layer, method=method)
        controller.advance(0.05 / (1 + number)), controller.palette()
    three, one, target = (9, 10, 11), np.ones(1), np.ones((1, 3))
    _core._two_bone(pose, three, target, None, one, 1.0), _core._fabrik(pose, 9, 11, target, one, 8, 1e-3)
    _core._aim(pose, 6, target, None, one, target[0], np.array([0.0, 0.0, 1.0]))
    _core._blend(pose, [pose, pose], [one, one], [None, None])
    other.add_clips([other.clips["slew"].resample(5.0)], replace=True)
    other.save(folder / "a.skn"), skinpy.load(folder / "a.skn"), other.save(folder / "a.glb")
    skinpy.check(other), other.check(), pickle.loads(pickle.dumps(other))

def refuse():
    for words in (b"", b"glTF", data[:1000], data[:-1000]):
        for isolate in (True, False):
            try: skinpy.load(words, format="glb", isolate=isolate)
            except skinpy.LoadError: pass
    for call in (lambda: _core.Block(data), lambda: skinpy.character().palette("wlak"),
                 lambda: skinpy.character().palette("walk", float("nan")),
                 lambda: skinpy.character().palette("walk", 0.1, np.empty(3))):
        try: call()
        except (ValueError, KeyError, skinpy.LoadError): pass
        else: raise AssertionError("it was to be refused")

def judge():
    for path in hostile:
        for isolate in (True, False):
            try: skinpy.load(path, isolate=isolate, limits=skinpy.Limits(seconds=30)).check()
            except (skinpy.SkinpyError, FileNotFoundError, MemoryError): pass

if hostile: refuse(), judge()
else: use(), use()
gc.collect()
print("all used")
"""


def hostile_files(folder: Path, patch: pytest.MonkeyPatch) -> list[Path]:
    """Those of the shared semantic corpus, where it is here, and some of the made ones."""
    patch.syspath_prepend(ROOT / "tests/hostile")
    import make_hostile

    folder.mkdir()
    made = [*make_hostile.gltf_references(), *make_hostile.glb_heads(), *list(make_hostile.cut_short())[::6]]
    made += [*list(make_hostile.gltf_counts())[::8], *list(make_hostile.gltf_floats())[::4]]
    for name, data in made:
        (folder / name).write_bytes(data)
    semantic = [path for path in (DATA / "hostile/semantic").rglob("*") if path.suffix in (".gltf", ".glb")]
    return [*semantic, *(folder / name for name, _ in made)]


def leaks_of_ours(said: str, of_assimp: bool = False) -> list[str]:
    """The reports of the leak sanitizer in which a function of ours stands.

    With of_assimp not those of what Assimp took when it was called by us: it loses much of broken files.
    """
    parts = re.split(r"\n\s*\n", said)
    leaks = [
        part for part in parts if re.match("(Direct|Indirect) leak of", part.lstrip()) and "csrc/" in part
    ]
    return [part for part in leaks if not (of_assimp and "assimp" in part.partition("csrc/")[0].lower())]


def run_for_leaks(built: Path, *libraries: str, command: list[str]) -> str:
    options = {
        "ASAN_OPTIONS": "detect_leaks=1:fast_unwind_on_malloc=0:malloc_context_size=40:exitcode=0",
        "LSAN_OPTIONS": "exitcode=0:report_objects=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    return run_with(built, *libraries, command=command, **options)


def test_the_leak_sanitizer_sees_what_is_lost(guarded: tuple[Path, str, str]) -> None:
    """Arrays that nobody lets go; else the tests below say nothing. (What is collected is never lost.)"""
    built, *libraries = guarded
    program = """
import ctypes, skinpy
model = skinpy.crane()
for _ in range(20):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(model.palette("slew", 0.1)))
"""
    said = run_for_leaks(built, *libraries, command=["-c", program])
    assert leaks_of_ours(said) and leaks_of_ours(said, of_assimp=True), said[-3000:]


def test_of_assimp_s_leaks_only_its_own_are_left_out() -> None:
    head = "Direct leak of 8 byte(s) in 1 object(s) allocated from:\n    #0 0x1 in malloc asan.cpp:1\n"
    ours, other = (
        "    #1 0x2 in make csrc/core/base/sk_base.c:9\n",
        "    #1 0x2 in f (/x/libassimp.so.6+0x1)\n",
    )
    report = f"==1==ERROR: LeakSanitizer\n\n{head}{ours}{other}\n{head}{other}{ours}\n{head}{other}\n"
    assert len(leaks_of_ours(report)) == 2
    (left,) = leaks_of_ours(report, of_assimp=True)
    assert left.index("csrc/") < left.index("assimp")


@pytest.mark.parametrize("hostile", [False, True])
def test_nothing_of_ours_is_definitely_lost(
    guarded: tuple[Path, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hostile: bool
) -> None:
    """Of good models Assimp's memory neither, which we have to let go."""
    built, *libraries = guarded
    files = hostile_files(tmp_path / "hostile", monkeypatch) if hostile else []
    assert len(files) > 50 or not hostile
    (tmp_path / "made").mkdir()
    command = ["-c", USE_ALL, str(tmp_path / "made"), *map(str, files)]
    said = run_for_leaks(built, *libraries, command=command)
    assert "all used" in said and "fatal error" not in said, said[-3000:]
    assert not leaks_of_ours(said, of_assimp=hostile), "\n\n".join(leaks_of_ours(said, hostile))[:8000]


# ---- threads --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("THREAD SANITIZER: docs/reliability.md has the command for a Python without a GIL")
    found = library("tsan")
    if not found:
        pytest.skip("THREAD SANITIZER: the compiler has no shared libtsan")
    return build_apart(tmp_path_factory.mktemp("watched"), SKINPY_SANITIZE="thread"), found


def run_watched(watched: tuple[Path, str], *command: str, until_first: bool = False) -> tuple[str, list[str]]:
    """What was written, and of the thread sanitizer's reports those in which a function of ours stands.

    It sees the GIL of an interpreter that was built without it, as that is made of a mutex. It does not see
    the loader's lock, under which the loader frees a thread's variables when that has ended: not ours.
    """
    built, found = watched
    options = f"exitcode=0 halt_on_error={int(until_first)}"
    said = run_with(built, found, command=list(command), TSAN_OPTIONS=options)
    parts = [part for part in said.split("=" * 18) if "WARNING: ThreadSanitizer" in part]
    return said, [part for part in parts if "csrc/" in part and "_dl_deallocate_tls" not in part]


def test_a_watched_build_sees_our_races(watched: tuple[Path, str]) -> None:
    """Two threads that write their results to one place; else the test below says nothing.

    Calls that come one after another by chance, with the GIL in between, are no race: hence long ones, again
    and again until a race was seen, which ends the process.
    """
    program = """
import threading, time
import numpy as np
import skinpy
model, times = skinpy.character(), np.linspace(0, 3, 2000)
end, going = time.monotonic() + 2000, [True]
def look_at_the_clock():
    going[0] = time.monotonic() < end
out, start = model.palette("walk", times), threading.Barrier(2, look_at_the_clock)
def write_again_and_again():
    start.wait()
    while going[0]:
        model.palette("walk", times, out)
        start.wait()
threads = [threading.Thread(target=write_again_and_again) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
    said, reports = run_watched(watched, "-c", program, until_first=True)
    assert reports, said[-3000:]


def test_under_the_thread_sanitizer(watched: tuple[Path, str]) -> None:
    suite = str(ROOT / "tests/test_free_threaded.py")
    said, reports = run_watched(watched, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", suite)
    assert not reports, "".join(reports)[:8000]
    passed = re.search(r"(\d+) passed", said)
    assert passed and int(passed[1]) >= 28, said[-3000:]
