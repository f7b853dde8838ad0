"""The worker on a system that has what POSIX has and no more, as other systems than Linux with glibc may:

    SKINPY_PLAIN_SYSTEM=1 python setup.py build --build-base FOLDER

No file in memory and no seals, no filter of calls and no rules of folders, no descriptor of a process, no
memory that is prepared, no context and no malloc of its own: the block comes through a file without a name,
and is copied before it is checked. It is built for Linux and runs here; what is like this elsewhere is seen
to here.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import builders
import pytest
from c_compiler import SOURCES, build_apart, compiler, run
from conftest import HAS_DATA, ROOT, data_file
from test_isolation import blocks

import skinpy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux is where a plain system is made up")

TESTS = Path(__file__).parent
#: Of test_isolation.py what does not ask for what is absent here, and is quick.
SAME = """
    a_model_is_the_same options_reach outlives names_are_taken full_table words_of_the_importer many_threads
    time_is_limited memory_is_limited ctrl_c false_worker_that_tells worker_that_fails crash_is_one nonsense
    errors_of_a_worker never_ends cannot_be_started parent_s_child descriptors_of_ours descriptor_of_ours
    reaps_all holds_on_to files_of_the_folder random_signals file_size
"""

#: Run by a plain build: the helpers are those of test_isolation.py.
HELPERS = f"""
import os, signal, sys, time
from pathlib import Path
sys.path.insert(0, {str(TESTS)!r})
import test_isolation as t
import skinpy
from skinpy import _core, loading
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without the vector twins, which take longer to build than all else and have no part in a load."""
    flags = f"{os.environ.get('CFLAGS', '')} -DSK_HAS_AVX2=0"
    return build_apart(tmp_path_factory.mktemp("plain"), SKINPY_PLAIN_SYSTEM="1", CFLAGS=flags)


def ask(plain: Path, *command: str | Path) -> str:
    """What Python wrote with that build."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=plain,
        env=os.environ | {"PYTHONPATH": str(plain), "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def files_of_ours() -> set[Path]:
    return {path for folder in ("/tmp", "/var/tmp") for path in Path(folder).glob("skinpy-b*-??????")}


def test_it_says_what_it_lacks(plain: Path) -> None:
    program = "import skinpy; print(skinpy.__file__); print(skinpy.build_info()['isolation'])"
    place, isolation = ask(plain, "-c", program).splitlines()
    assert Path(place).is_relative_to(plain)
    assert isolation == "('process', 'limits')"


@pytest.mark.filterwarnings("ignore::skinpy.SkinpyWarning")
def test_models_are_bit_for_bit_those_of_the_usual_build(plain: Path, tmp_path: Path) -> None:
    paths = sorted((ROOT / "skinpy/data").glob("*.glb"))
    for number, vertices in enumerate((200, 21_000, 62_000)):
        paths.append(tmp_path / f"{number}.glb")
        paths[-1].write_bytes(builders.random_model(number, joints=8, vertices=vertices).glb())
    if HAS_DATA:
        models = sorted(data_file("models").rglob("*"))
        for suffix in (".fbx", ".dae", ".bvh", ".obj", ".gltf", ".x"):
            paths += [path for path in models if path.suffix == suffix][:1]
    program = """
import hashlib, sys, skinpy
for path in sys.argv[1:]: print(hashlib.sha256(memoryview(skinpy.load(path)._block)).hexdigest())
"""
    wanted = [hashlib.sha256(blocks(skinpy.load(path))).hexdigest() for path in paths]
    assert ask(plain, "-c", program, *paths).split() == wanted


def test_what_a_worker_does_wrong_is_an_error_here_too(plain: Path) -> None:
    """Crashes, nonsense, no end, Ctrl-C, descriptors: by the tests of the usual build."""
    chosen = " or ".join(SAME.split())
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS / "test_isolation.py", "-k", chosen)
    said = ask(plain, *command)
    assert " failed" not in said and "passed" in said, said[-3000:]


def test_who_still_holds_the_file_changes_nothing(plain: Path, tmp_path: Path) -> None:
    """A process that the worker left behind: what it writes comes too late, as what was checked is a copy."""
    (tmp_path / "model.glb").write_bytes(builders.random_model(3, joints=8, vertices=2000).glb())
    program = f"""{HELPERS}
folder = Path({str(tmp_path)!r})
block = t.blocks(skinpy.load(folder / "model.glb"))
(folder / "block").write_bytes(block)
worker = f'''
os.ftruncate(4, 0); os.pwrite(4, open({str(tmp_path / "block")!r}, "rb").read(), 0)
if os.fork() == 0:
    while not os.path.exists({str(tmp_path / "go")!r}): time.sleep(0.01)
    os.pwrite(4, bytes(len({{block!r}})), 0)
    os.ftruncate(4, 10)
    os.close(os.open({str(tmp_path / "done")!r}, os.O_CREAT))
    os._exit(0)
{{t.answer(0, len(block))}}'''
got = t.load_by(t.false_worker(folder, worker), folder / "model.glb")
assert bytes(memoryview(got)) == block
(folder / "go").touch()
t.wait_until((folder / "done").exists)
assert bytes(memoryview(got)) == block
assert "skinpy-b" not in Path("/proc/self/maps").read_text()
"""
    (tmp_path / "program.py").write_text(program)
    ask(plain, tmp_path / "program.py")


def test_a_worker_says_no_more_than_it_may_take(plain: Path, tmp_path: Path) -> None:
    """Its file may have holes; the copy would have none."""
    (tmp_path / "model.glb").write_bytes(b"glTF")
    program = f"""{HELPERS}
folder = Path({str(tmp_path)!r})
worker = t.false_worker(folder, f"os.ftruncate(4, 1 << 40); {{t.answer(0, 1 << 40)}}")
try: t.load_by(worker, folder / "model.glb")
except skinpy.LimitExceeded as error: assert "1024 MiB" in str(error), error
else: raise AssertionError("it was taken")
"""
    (tmp_path / "program.py").write_text(program)
    ask(plain, tmp_path / "program.py")


def test_no_file_is_left_and_no_worker_outlives_its_parent(plain: Path, tmp_path: Path) -> None:
    """While it runs its files have no names; a worker that waits for ever looks for its parent at times."""
    importer = tmp_path / "importer.so"
    sources = (ROOT / "tests/hostile/pausing_importer.c", SOURCES / "core/base/sk_base.c")
    done = run(compiler(), "-std=gnu11", "-shared", "-fPIC", *sources, "-o", importer)
    assert done.returncode == 0, done.stdout
    parent = f"""{HELPERS}
worker, _, libraries, *rest = loading._isolation(skinpy.Limits(seconds=300), loading._paths_key())
_core._load_file(None, b"v 0 0 0", "obj", 4, -1, False, 0, -1, None, 0, t.NO_LIMITS,
                 (worker, {os.fsencode(importer)!r}, libraries, *rest))
"""
    (tmp_path / "parent.py").write_text(parent)
    program = f"""{HELPERS}
import subprocess
parent = subprocess.Popen([sys.executable, {str(tmp_path / "parent.py")!r}])
def running():
    for pid in Path(f"/proc/{{parent.pid}}/task/{{parent.pid}}/children").read_text().split():
        if "/importer.so" in Path(f"/proc/{{pid}}/maps").read_text():
            return pid
worker = t.wait_until(running)
names = [os.readlink(f"/proc/{{worker}}/fd/{{number}}") for number in (4, 5)]
assert all("/skinpy-b" in name and name.endswith(" (deleted)") for name in names), names
assert t.is_running(worker)
parent.kill(), parent.wait()
t.wait_until(lambda: not t.is_running(worker))
print(*(name.split()[0] for name in names))
"""
    (tmp_path / "program.py").write_text(program)
    before = files_of_ours()
    names = ask(plain, tmp_path / "program.py").split()
    assert len(names) == 2 and not any(map(os.path.exists, names))
    assert files_of_ours() <= before
