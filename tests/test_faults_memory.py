"""Out of memory at every allocation of every public function, and nothing left behind.

The core can be told to fail its n-th allocation; CPython's own test module makes Python's fail. Every call
ends in MemoryError or in the right answer, gives back what it took, and leaves all objects as they were.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import public_functions
import pytest
from conftest import FULL_RUN, HANGS
from drawing import finish_drawing

import skinpy
from skinpy import _core

Case = Callable[[], object]
PLENTY = 1 << 30  #: more allocations than any call makes


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> public_functions.World:
    return public_functions.World(tmp_path_factory.mktemp("world"))


@pytest.fixture(autouse=True)
def no_failure_stays() -> Iterator[None]:
    yield
    _core._fail_allocation(0)


def digest(thing: Any) -> Any:
    """What can be compared with == of what a call gives; None for what has no value of its own."""
    if isinstance(thing, np.ndarray):
        return (thing.shape, str(thing.dtype), thing.tobytes())
    if isinstance(thing, skinpy.Model):
        return (bytes(thing._block), thing.clips.names)
    if isinstance(thing, skinpy.Pose):
        return digest([thing.translation, thing.rotation, thing.scale, thing.morph_weights, thing.root])
    if isinstance(thing, skinpy.Clip):
        return digest(thing.to_records())
    if isinstance(thing, tuple | list):
        return [digest(part) for part in thing]
    if isinstance(thing, dict):
        return {key: digest(part) for key, part in thing.items()}
    return thing if isinstance(thing, str | bytes | float | int | None) else None


def state(world: public_functions.World) -> Any:
    """Of all that the calls share."""
    return digest([world.model, world.other, world.face, world.clip, world.moving, world.palette])


def allocations_of(call: Case) -> tuple[int, Any]:
    """How many allocations of the core a call makes, and what it gives."""
    _core._fail_allocation(PLENTY)
    got = digest(call())
    return PLENTY - _core._fail_allocation(0), got


def fail_each(call: Case) -> tuple[int, int]:
    """(allocations that failed, calls that raised); each must raise MemoryError or give what is right."""
    count, wanted = allocations_of(call)
    raised = 0
    for n in range(1, count + 1):
        _core._fail_allocation(n)
        try:
            got = digest(call())
        except MemoryError:
            raised += 1
            got = wanted
        assert _core._fail_allocation(0) == 0, f"allocation {n} of {count} was not asked for again"
        assert got == wanted
    return count, raised


def test_every_public_function_is_called(world: public_functions.World) -> None:
    """A new public function needs a call in public_functions.py, or a reason there why it has none."""
    called = set(public_functions.cases(world)) | set(public_functions.drawn_cases(world))
    names = public_functions.public_names()
    assert len(names) > 300
    missing = {name for name in names - called if not public_functions.called_elsewhere(name)}
    assert not missing, f"not called in tests/public_functions.py: {sorted(missing)}"
    assert not called - names, "no longer public"
    assert not [name for name in public_functions.UNCALLED if name not in names], "no longer public"


def check_all(world: public_functions.World, calls: dict[str, Case]) -> tuple[int, int]:
    """Over all calls: allocations that failed, and calls that raised."""
    failed = raised = 0
    before = state(world)
    gc.collect()
    gc.freeze()  # so that what is collected below is what the calls leave
    for name, call in calls.items():
        call()  # what is kept from the first use on is kept now
        held = held_now()
        try:
            counts = fail_each(call)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
        assert held_now(held) == held, f"{name} leaves memory behind"
        assert not counts[0] or state(world) == before, f"{name} changes what it was called on"
        failed, raised = failed + counts[0], raised + counts[1]
    assert state(world) == before
    return failed, raised


def held_now(wanted: int | None = None) -> int:
    """Bytes of the core; what only the collector finds is gone where they are not those that are wanted, and
    what the graphics thread has done is let go there."""
    if wanted is None or _core._bytes_in_use() != wanted:
        finish_drawing()
        gc.collect()
        finish_drawing()
    return _core._bytes_in_use()


def test_no_core_memory_for_any_public_function(world: public_functions.World) -> None:
    failed, raised = check_all(world, public_functions.cases(world))
    assert failed > 50 and raised > 40  # the hook is heard, and most of what fails is told


def test_no_core_memory_for_what_draws(world: public_functions.World) -> None:
    pytest.importorskip("moderngl")
    check_all(world, public_functions.drawn_cases(world))


COLD: dict[str, Callable[[skinpy.Model], object]] = {
    "palette": lambda m: m.palette("walk", [0.1, 0.2]),
    "joint_positions": lambda m: m.joint_positions("walk", 0.2),
    "pose": lambda m: m.pose("walk", 0.2),
    "deform": lambda m: m.deform(m.palette("walk", 0.3)),
    "crowd": lambda m: m.crowd_palette(["walk", "run"], [[0, 1]], 0.2),
    "clip": lambda m: m.clips["walk"].sample(0.2),
    "bounds": lambda m: m.bounds("wave"),
}


@pytest.mark.parametrize("name", sorted(COLD))
def test_no_memory_for_what_is_made_at_first_use(name: str, world: public_functions.World) -> None:
    """Compiled clips and influences are made once and kept; without memory for them the answer is the same
    to rounding, and they are made the next time."""
    data = pickle.dumps(world.model)
    wanted = digest_close(COLD[name](pickle.loads(data)))
    before = held_now()
    kept = held_after(data, COLD[name])
    n, left = 0, 0
    while not left:
        n += 1
        model = pickle.loads(data)
        _core._fail_allocation(n)
        try:
            got = COLD[name](model)
        except MemoryError:
            got = None
        left = _core._fail_allocation(0)
        if got is not None:
            close(digest_close(got), wanted)
        got = COLD[name](model)
        close(digest_close(got), wanted)
        del got
        assert _core._bytes_in_use() - before == kept, "what was not made then is made now"
        del model
        gc.collect()
        assert _core._bytes_in_use() == before
    assert n > 3 or _core._simd(None) == "plain"  # which compiles no clips


def held_after(data: bytes, call: Callable[[skinpy.Model], object]) -> int:
    before = _core._bytes_in_use()
    model = pickle.loads(data)
    call(model)
    call(model)
    return _core._bytes_in_use() - before


def digest_close(thing: Any) -> list[Any]:
    if isinstance(thing, skinpy.Pose):
        return [thing.translation, thing.rotation, thing.scale]
    return list(thing) if isinstance(thing, tuple) else [thing]


def close(got: list[Any], wanted: list[Any]) -> None:
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


# ------------------------------------------------------------------------------- Python's own allocations

PYTHON_MEMORY = """
    import gc, json, sys, tempfile
    from pathlib import Path
    import numpy as np
    import _testcapi
    import skinpy
    from skinpy import _core

    model = skinpy.character()
    clip = model.clips["walk"]
    pose, poses = model.pose("walk", 0.1), model.pose("walk", [0.1, 0.2])
    palette, times, out = model.palette("walk", 0.1), np.linspace(0, 1, 20), np.empty((24, 4, 4), np.float32)
    eye, block, three = np.eye(4, dtype=np.float32), bytes(model._block), (9, 10, 11)
    target, one = np.ones((1, 3)), np.ones(1)
    signs, held = np.zeros((2, 24, 4), np.float32), np.ones(240, np.float32)
    entries = [(clip, 0.1, 0.5, 0, None, 0), (held, 0.0, 0.5, 0, None, 0, signs)]
    layers = [(0, 0.5, entries, (signs.copy(), np.ones((72, 8), np.float32), 0.1, 1.0))]
    wrong = np.empty((2, 2), np.float32)
    calls = dict(
        palette=lambda: model.palette(clip, times),
        palette_out=lambda: model.palette(clip, 0.1, out),
        palette_named=lambda: model.palette("walk", 0.1, root=eye),
        globals=lambda: model.globals(1, 0.1),
        joint_positions=lambda: model.joint_positions(clip, times),
        wrong_out=lambda: model.palette(clip, 0.1, wrong),
        wrong_clip=lambda: model.palette("wlak"),
        wrong_time=lambda: model.palette(clip, float("nan")),
        wrong_loop=lambda: model.palette(clip, 0.1, loop="wrop"),
        sample=lambda: model._sample(clip, times, "wrap", "slerp"),
        crowd=lambda: model.crowd_palette([clip, 1], [[0, 1]], [[0.1, 0.2]], weights=[[0.5, 0.5]]),
        deform=lambda: model.deform(palette),
        deform_pose=lambda: model.deform(poses),
        mix=lambda: model._mix_pose(layers, pose),
        mix_palette=lambda: model._mix_palette(layers),
        locals=lambda: pose.locals(),
        pose_palette=lambda: poses.palette(),
        pose_set=lambda: setattr(pose, "scale", 1.0),
        new_pose=lambda: _core.Pose(model._block, pose.translation, pose.rotation, pose.scale,
                                    pose.morph_weights, eye),
        blend=lambda: _core._blend(pose, [pose, pose], [one, one], [None, None]),
        two_bone=lambda: _core._two_bone(pose, three, target, None, one, 1.0),
        aim=lambda: _core._aim(pose, 6, target, None, one, target[0], np.array([0.0, 0.0, 1.0])),
        fabrik=lambda: _core._fabrik(pose, 9, 11, target, one, 8, 1e-3),
        find=lambda: _core._find_frames(times, times, "wrap", 1.0, 1000.0),
        decompose=lambda: _core._decompose(eye),
        block=lambda: _core.Block(block),
        view=lambda: memoryview(model._block),
        sections=lambda: model._block.sections,
        losses=lambda: model._block.losses,
        clip_names=lambda: model._block.clip_names,
        new_model=lambda: _core.Model(model._block),
        new_model_clips=lambda: _core.Model(model._block, model._clip_entries),
        new_clip=lambda: _core.Clip(model._block, 0, model._block),
        local_time=lambda: clip._local_time(0.3),
        bad_block=lambda: _core.Block(block[:100]),
        build_info=lambda: _core._build_info(),
        threads=lambda: _core._set_thread_count(2),
        simd=lambda: _core._simd(None),
    )
    expected = (MemoryError, ValueError, KeyError, skinpy.LoadError)
    counts = {}
    for name, call in calls.items():
        def attempt():
            try:
                call()
            except expected:
                pass
        attempt(); attempt()
        gc.collect()
        before, raised = _core._bytes_in_use(), 0
        for n in range(MOST):
            _testcapi.set_nomemory(n, n + 1)
            try:
                call()
            except MemoryError:
                raised += 1
            except expected:
                pass
            finally:
                _testcapi.remove_mem_hooks()
        gc.collect()
        assert _core._bytes_in_use() == before, name
        counts[name] = raised
    assert np.array_equal(model.palette("walk", 0.1), palette)
    print(json.dumps(counts))
"""


def test_no_memory_for_python_s_objects() -> None:
    """Each entry of the extension, with each of its first allocations from Python failing."""
    pytest.importorskip("_testcapi", reason="this Python has no _testcapi, which makes its allocations fail")
    code = textwrap.dedent(PYTHON_MEMORY).replace("MOST", "40")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    counts = json.loads(done.stdout)
    silent = {name for name, raised in counts.items() if not raised}
    assert silent <= {"simd", "threads", "losses", "mix", "palette_out"}, f"nothing of these failed: {silent}"


PYTHON_CODE = """
    import gc, json, os, sys, tempfile, warnings
    from collections import Counter
    from pathlib import Path
    import _testcapi
    import skinpy
    from skinpy import _core

    warnings.simplefilter("ignore")
    folder, source = Path(tempfile.mkdtemp(dir=sys.argv[1])), Path(skinpy.__file__).parent / "data/crane.glb"
    model, other, data = skinpy.character(), skinpy.crane(), source.read_bytes()
    palette = model.palette("walk", 0.1)

    def block(model):
        return bytes(memoryview(model._block))

    def play():
        controller = skinpy.AnimationController(model)
        controller.play("walk")
        controller.cross_fade("run", 0.2)
        for _ in range(3):
            controller.advance(0.05)
        return controller.palette().tobytes()

    def writing(name, write):
        return lambda: (write(folder / name), (folder / name).read_bytes())[1]

    calls = dict(
        load=lambda: block(skinpy.load(source)),
        load_bytes=lambda: block(skinpy.load(data, format="glb", allow_formats=["glb"])),
        load_here=lambda: block(skinpy.load(source, isolate=False)),
        palette=lambda: model.palette("walk", [0.1, 0.2]).tobytes(),
        deform=lambda: model.deform(palette)[0].tobytes(),
        crowd=lambda: model.crowd_palette(["walk", "run"], [[0, 1]], 0.2).tobytes(),
        pose=lambda: model.pose("walk", 0.1).palette().tobytes(),
        play=play,
        check=lambda: repr(skinpy.check(other)),
        add=lambda: block(other.add_clips([other.clips["slew"].resample(5.0)], replace=True)),
        bake=lambda: other.bake_texture("slew", 4.0).data.tobytes(),
        skn=writing("a.skn", other.save),
        load_skn=lambda: block(skinpy.load(folder / "a.skn")),
        glb=writing("a.glb", other.save),
        html=writing("a.html", lambda path: other.to_html(path, "slew", fps=2.0)),
    )

    def here():
        tasks, gone = Path("/proc/self/task"), gc.collect()
        return (
            [(task / "children").read_text() for task in tasks.iterdir()],
            len(os.listdir("/proc/self/fd")),
            sorted(os.listdir(folder)),
            _core._bytes_in_use(),
        )

    MAIN = {"load", "load_bytes", "palette", "pose", "deform"}  # each of their allocations, in the full run

    # What Python and NumPy make of some of their own allocations that fail.
    others = (SystemError, RuntimeError, TypeError)
    counts = {}
    for name, call in calls.items():
        for _ in range(3):
            wanted = call()
        gc.collect()
        gc.freeze()
        before, count = here(), Counter()
        for n in range(1, 400, 1 if EVERY and name in MAIN else STEP):
            kind, got = "right", wanted
            _testcapi.set_nomemory(n, n + 1)
            try:
                got = call()
            except (MemoryError, *others) as error:
                kind = type(error).__name__
            finally:
                _testcapi.remove_mem_hooks()
            assert got == wanted, f"{name}, allocation {n}: a wrong result"
            assert here() == before, f"{name}, allocation {n}, {kind}: {here()} is left, not {before}"
            assert call() == wanted, f"{name}, allocation {n}, {kind}: the next result is another one"
            count[kind] += 1
        gc.unfreeze()
        counts[name] = count
    print(json.dumps(counts))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what is left is read from Linux's /proc")
def test_no_memory_for_python_s_code(tmp_path: Path) -> None:
    """Main entry points, with one of their first 400 allocations from Python failing: MemoryError or the
    right result, nothing left, and the next call as good as the first. In the full run every one of a load's
    and of a pose's, palette's and deformed mesh's fails, and every third of the others'."""
    pytest.importorskip("_testcapi", reason="this Python has no _testcapi, which makes its allocations fail")
    code = textwrap.dedent(PYTHON_CODE).replace("STEP", "3" if FULL_RUN else "17")
    code = code.replace("EVERY", str(FULL_RUN))
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    counts = json.loads(done.stdout)
    assert all(
        count["MemoryError"] or name in ("palette", "deform", "crowd") for name, count in counts.items()
    )
    total = sum(sum(count.values()) for count in counts.values())
    strange = sum(count.get(kind, 0) for count in counts.values() for kind in ("SystemError", "TypeError"))
    assert strange * 20 < total, counts


def test_the_door_counts_what_is_left() -> None:
    assert _core._fail_allocation(5) == 0
    assert _core._fail_allocation(0) == 5
    with pytest.raises(TypeError):
        _core._fail_allocation("a")  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        _core._fail_allocation(1 << 80)


def test_files_that_do_not_fit_into_memory(tmp_path: Path) -> None:
    """The core's memory for a load that is isolated, and for one that is not."""
    path = tmp_path / "model.glb"
    path.write_bytes((Path(skinpy.__file__).parent / "data" / "crane.glb").read_bytes())
    for isolate in (True, False):
        held = held_now()
        fail_each(lambda isolate=isolate: skinpy.load(path, isolate=isolate))  # type: ignore[misc]
        assert held_now(held) == held


# ------------------------------------------------------------------------------- the scripts of tests/hostile

HOSTILE = Path(__file__).resolve().parent / "hostile"


def script(name: str) -> Any:
    specification = importlib.util.spec_from_file_location(name, HOSTILE / f"{name}.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # dataclasses look there
    specification.loader.exec_module(module)
    return module


def run_script(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, str(HOSTILE / words[0]), *words[1:]], capture_output=True, text=True, timeout=HANGS
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_the_script_of_leaks_finds_leaks(tmp_path: Path) -> None:
    leaks = script("leaks")
    kept: list[Any] = []

    def every(calls: int) -> Case:
        number = iter(range(1 << 30))
        return lambda: kept.append(object()) if next(number) % calls == 0 else None

    for calls, cycles in ((1, 24), (1, 1000), (9, 60), (9, 1000), (100, 1000)):
        left = leaks.measure("blocks", every(calls), cycles, None)
        assert left.leaks and left.cycles == cycles, (calls, cycles, left)
        assert 0.3 < left.blocks * calls / 1000 < 3
    assert leaks.measure(
        "core", lambda: kept.append(pickle.loads(pickle.dumps(skinpy.crane()))), 4, None
    ).leaks
    assert leaks.measure("files", lambda: kept.append((tmp_path / "a").open("wb")), 4, None).leaks
    for thing in kept:
        if hasattr(thing, "close"):
            thing.close()


def test_the_script_of_leaks_takes_no_cache_for_a_leak() -> None:
    leaks = script("leaks")
    kept: list[Any] = []

    def fill() -> None:  # in four steps, of which two come late
        number = next(numbers)
        if number % 200 == 190:
            kept.extend(object() for _ in range(50))

    numbers = iter(range(1 << 30))
    assert not leaks.measure("cache", lambda: fill() if len(kept) < 200 else None, 1000, None).leaks
    assert not leaks.measure("nothing", lambda: [object()], 1000, None).leaks
    cycle: list[Any] = []
    assert not leaks.measure("cycles", lambda: (lambda one: one.append(one))([*cycle]), 1000, None).leaks


def test_a_few_cycles_leave_nothing() -> None:
    assert " 0 leak, 0 bytes" in run_script(
        "leaks.py", "--cycles", "200", "--seconds", "0.3", "--only", "Model."
    )


@pytest.mark.ci
def test_a_thousand_cycles_leave_nothing() -> None:
    said = run_script("leaks.py", "--seconds", "1", "--draw")
    print(said)
    assert " 0 leak, 0 bytes" in said
    fewer = {line.partition(":")[0] for line in said.splitlines()[:-1]}
    assert not fewer & set(script("leaks").MAIN), "the main entry points have their thousand"


def test_the_soak_runs_all_its_parts() -> None:
    """Two rounds say nothing of growth; the full run has two minutes."""
    said: list[str] = []
    script("soak").soak(0.0, every=0.0, tell=said.append)
    assert any(" MiB" in line for line in said)
    assert "load_and_play, refuse, derive" in said[-1] and "flat" in said[-1]


@pytest.mark.ci
def test_two_minutes_are_flat() -> None:
    assert ", flat" in run_script("soak.py", "2")
