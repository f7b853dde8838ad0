"""Eight threads in skinpy at once: the same bits as one after the other, whatever is made at first use, and
no crash when they change under each other's hands what only one of them should.

On a free-threaded Python they run at the same time, and skinpy must not switch the GIL on. On any other the
GIL lets one run at a time, but changes over between any two lines, and within calls of C that give it away.
"""

from __future__ import annotations

import ctypes
import gc
import pickle
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HANGS

import skinpy
from skinpy import Model, _core

THREADS = 8
ROUNDS = 6
TIMES = np.linspace(-0.4, 2.1, 61)
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
CHARACTER = Path(skinpy.__file__).with_name("data") / "character.glb"


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """What `work` gives in each of the threads, which begin together; raises what one of them does."""
    barrier = threading.Barrier(THREADS)
    results: list[Any] = [None] * THREADS
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            barrier.wait(HANGS)
            results[number] = work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


# ---- the same bits -------------------------------------------------------------------------------------


def memory(block: Any) -> bytes:
    return bytes(memoryview(block))


def bits(*arrays: Any) -> bytes:
    return b"".join(np.asarray(array).tobytes() for array in arrays)


def of_pose(pose: skinpy.Pose) -> bytes:
    return bits(pose.translation, pose.rotation, pose.scale, pose.morph_weights)


def crowd(model: Model) -> bytes:
    which = np.arange(80).reshape(40, 2) % 4 - 1  # -1 is an unused place
    return bits(model.crowd_palette(["walk", "run", "wave"], which, TIMES[:40, None], weights=[[0.3, 0.7]]))


def blended(model: Model) -> bytes:
    poses = [model.pose("walk", TIMES), model.pose("run", TIMES)]
    return of_pose(skinpy.blend(poses, [0.4, 0.6], masks=[None, skinpy.Mask.below("Chest")]))


def played(model: Model) -> bytes:
    """By a controller of the thread's own."""
    controller = skinpy.AnimationController(model)
    controller.play("walk")
    controller.play("wave", layer="upper", mask=skinpy.Mask.below("Chest"))
    frames = []
    for frame in range(20):
        if frame == 5:
            controller.cross_fade("run", 0.2)
        controller.advance(1 / 30)
        frames += [controller.palette(), controller.pose().globals()]
    return bits(*frames)


def reached(model: Model) -> bytes:
    pose = model.pose("walk", 0.3)
    pose.two_bone_ik("LeftHand", [0.4, 1.3, 0.3])
    pose.fabrik("RightHand", [-0.4, 1.3, 0.3], root="Chest")
    return of_pose(pose)


def edited(model: Model) -> bytes:
    clip = model.clips["walk"].trim(0.1, 0.6)
    return bits(model.palette(clip, TIMES), model.palette(model.clips["run"].additive("first"), TIMES))


def pickled(model: Model) -> bytes:
    again = pickle.loads(pickle.dumps([model, model.clips["run"], model.pose("run", 0.2)]))
    return memory(again[0]._block) + bits(again[0].palette(again[1], TIMES)) + of_pose(again[2])


def shown(model: Model) -> bytes:
    """What Python makes at first use and keeps."""
    names = repr([model.skeleton.names, model.clips, [one.name for one in model.materials], model.report])
    channels = [channel.values for clip in model.clips for channel in clip.channels]
    return names.encode() + bits(
        model.mesh.interleaved, model.skin.inverse_bind, model.bounds("walk"), *channels
    )


#: By a model that all threads share, and whose clips and mesh nothing was asked of before.
JOBS: dict[str, Callable[[Model], bytes]] = {
    "load": lambda model: memory(skinpy.load(CHARACTER)._block),
    "load in this process": lambda model: memory(skinpy.load(CHARACTER, isolate=False)._block),
    "load of bytes": lambda model: memory(_core.Block(memory(model._block))),
    "palette": lambda model: bits(*(model.palette("walk", time, affine=True) for time in TIMES)),
    "palettes": lambda model: bits(model.palette("walk", TIMES), model.palette(2, TIMES, rotation="nlerp")),
    "pose": lambda model: of_pose(model.pose("run", TIMES)) + bits(model.pose("run", TIMES).palette()),
    "deform": lambda model: bits(*model.deform(model.palette("walk", TIMES[:3]))),
    "deform a pose": lambda model: bits(*model.deform(model.pose("walk", 0.3), normals=False)[:1]),
    "crowd": crowd,
    "blend": blended,
    "controller": played,
    "goals": reached,
    "edited clips": edited,
    "pickle": pickled,
    "what is kept": shown,
}


def fresh(packed: bytes) -> Model:
    return Model(_core.Block(packed))


@pytest.fixture(scope="module")
def packed() -> bytes:
    return memory(skinpy.character()._block)


@pytest.mark.parametrize("name", JOBS)
def test_threads_give_the_bits_of_one(packed: bytes, name: str) -> None:
    """All do the same, for the first time, to one model."""
    wanted = JOBS[name](fresh(packed))
    for _ in range(ROUNDS):
        model = fresh(packed)
        results = at_once(lambda number, model=model: JOBS[name](model))
        assert [result == wanted for result in results] == [True] * THREADS


def test_threads_that_do_different_things(packed: bytes) -> None:
    model = fresh(packed)
    names = list(JOBS)
    wanted = {name: JOBS[name](model) for name in names}

    def work(number: int) -> list[str]:
        order = names[2 * number :] + names[: 2 * number]
        return [name for name in order if JOBS[name](shared) != wanted[name]]

    shared = fresh(packed)
    assert at_once(work) == [[]] * THREADS


def test_threads_save(packed: bytes, tmp_path: Path) -> None:
    """Each into a file of its own and all into one, which is whole at any time."""
    model = fresh(packed)
    for suffix in ("skn", "glb"):
        model.save(tmp_path / f"wanted.{suffix}")
        wanted = (tmp_path / f"wanted.{suffix}").read_bytes()

        def save(number: int, suffix: str = suffix, wanted: bytes = wanted) -> bytes:
            model.save(tmp_path / f"all.{suffix}")
            model.save(tmp_path / f"{number}.{suffix}")
            assert (tmp_path / f"all.{suffix}").read_bytes() == wanted
            return (tmp_path / f"{number}.{suffix}").read_bytes()

        assert at_once(save) == [wanted] * THREADS
    assert len(list(tmp_path.iterdir())) == 2 * (THREADS + 2)


def test_a_clip_is_compiled_once_whoever_comes_first(packed: bytes) -> None:
    alone = fresh(packed)
    alone.palette("walk", 0.1)
    gc.collect()  # of what other tests left, so that it does not go meanwhile
    before = _core._bytes_in_use()
    for _ in range(ROUNDS):
        model = fresh(packed)
        at_once(lambda number, model=model: model.palette("walk", 0.1))
        assert model.clips["walk"].compiled_nbytes == alone.clips["walk"].compiled_nbytes
        del model
    assert _core._bytes_in_use() == before


def test_forms_for_many_models_at_once(packed: bytes) -> None:
    """Twice as many models as forms are kept for: the others play the clips without."""
    keys = fresh(packed)
    models = [Model(fresh(packed)._block, keys._clip_entries) for _ in range(2 * THREADS)]
    gc.collect()
    before = _core._bytes_in_use()
    wanted = keys.palette("walk", TIMES)
    one = keys.clips["walk"].compiled_nbytes

    def work(number: int) -> list[bool]:
        order = models[number:] + models[:number]
        return [bool(np.abs(model.palette("walk", TIMES) - wanted).max() < 1e-5) for model in order]

    assert at_once(work) == [[True] * len(models)] * THREADS
    assert keys.clips["walk"].compiled_nbytes == 8 * one
    assert _core._bytes_in_use() == before + 8 * one


# ---- what changes under the hands of a call ------------------------------------------------------------

Entry = tuple[Any, ...]


def entry(model: Model, weight: Any = 1.0) -> Entry:
    return (model.clips["walk"], 0.1, weight, 0, None, 0)


class Meddler:
    """A weight that does something when it is asked for its number."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def __float__(self) -> float:
        self.act()
        return 1.0

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.act()
        return np.ones(1)


def longer(model: Model, layers: list[Any]) -> None:
    layers[1][2].extend([entry(model)] * 5000)


def shorter(model: Model, layers: list[Any]) -> None:
    layers[0][2].clear()


def fewer(model: Model, layers: list[Any]) -> None:
    layers.clear()


def others(model: Model, layers: list[Any]) -> None:
    layers[1] = "no layer"


@pytest.mark.parametrize(
    ("act", "error"),
    [(longer, RuntimeError), (shorter, IndexError), (fewer, IndexError), (others, TypeError)],
)
def test_layers_that_change_while_they_are_read(packed: bytes, act: Any, error: type[Exception]) -> None:
    model = fresh(packed)
    layers: list[Any] = [(0, 0.5, []), (1, 0.5, [entry(model)])]
    layers[0][2][:] = [entry(model, Meddler(lambda: act(model, layers))), entry(model)]
    with pytest.raises(error):
        model._mix_pose(layers, model.pose())


def test_lists_of_poses_that_change_while_they_are_read(packed: bytes) -> None:
    model = fresh(packed)
    poses = [model.pose("walk", 0.1), model.pose("run", 0.1)]
    one = np.ones(())
    with pytest.raises(IndexError):
        _core._blend(model.pose(), poses, [Meddler(poses.clear), one], [None, None])


def test_sections_that_other_threads_change(packed: bytes) -> None:
    sections: dict[str, Any] = {}

    def work(number: int) -> None:
        for step in range(400):
            if number % 2:
                sections["TEXT"] = np.zeros(1000 + step, np.uint8)
                sections.pop("TEXT", None)
                continue
            with pytest.raises(skinpy.LoadError):  # with or without a text there is not enough in it
                _core.Block.pack(sections, 4)

    at_once(work)
    with pytest.raises(ValueError, match="more sections"):
        _core.Block.pack({str(number): b"" for number in range(100)}, 4)


def test_layers_that_other_threads_change(packed: bytes) -> None:
    """Half of the threads play what the others change: any error will do, and any pose that is one."""
    model = fresh(packed)
    layers: list[Any] = [(0, 0.5, [entry(model)] * 3), (1, 0.5, [entry(model)])]

    def work(number: int) -> None:
        entries = layers[number % 4 // 2][2]
        for step in range(400):
            if number % 2:
                entries[0] = entry(model, 0.25 * (step % 4))
                entries.append(entry(model))
                del entries[3:]
                continue
            with suppress(IndexError, RuntimeError):
                assert np.isfinite(model._mix_pose(layers, model.pose()).rotation).all()

    at_once(work)


def test_one_controller_in_many_threads(packed: bytes) -> None:
    """Not what it is for, and yet no crash."""
    controller = skinpy.AnimationController(fresh(packed))
    controller.play("walk")
    controller.play("wave", layer="upper", mask=skinpy.Mask.below("Chest"))

    def work(number: int) -> bool:
        results = []
        for _ in range(100):
            controller.advance(0.01)
            results.append(controller.palette())
        return bool(np.isfinite(results).all())

    assert at_once(work) == [True] * THREADS


# ---- the interpreter -----------------------------------------------------------------------------------


@pytest.mark.skipif(not FREE_THREADED, reason="FREE-THREADED PYTHON: this one is none")
def test_the_gil_stays_off() -> None:
    """With warnings as errors: Python warns when a module switches it on."""
    code = """
import sys
import skinpy
model = skinpy.character()
skinpy.load(sys.argv[1])
skinpy.AnimationController(model).play("walk")
assert sys._is_gil_enabled() is False
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, CHARACTER], capture_output=True, text=True, timeout=HANGS
    )
    assert (done.returncode, done.stderr) == (0, "")


class ModuleDef(ctypes.Structure):
    """PyModuleDef as Python's headers have it, to its slots."""

    _fields_ = (
        ("base", ctypes.c_char * (object.__basicsize__ + 3 * ctypes.sizeof(ctypes.c_void_p))),
        ("name", ctypes.c_char_p),
        ("doc", ctypes.c_char_p),
        ("size", ctypes.c_ssize_t),
        ("methods", ctypes.c_void_p),
        ("slots", ctypes.c_void_p),
    )


class Slot(ctypes.Structure):
    _fields_ = (("number", ctypes.c_int), ("value", ctypes.c_void_p))


def test_the_module_says_that_it_needs_no_gil() -> None:
    """A free-threaded Python asks modules for it, by a slot, which the limited API does not have."""
    initialize = ctypes.PyDLL(_core.__file__).PyInit__core
    initialize.restype = ctypes.POINTER(ModuleDef)
    definition = initialize().contents
    assert definition.name == b"_core"
    slots = ctypes.cast(definition.slots, ctypes.POINTER(Slot))
    found: dict[int, int | None] = {}
    while slots[len(found)].number:
        found[slots[len(found)].number] = slots[len(found)].value
    executes, gil = 2, 4  # Py_mod_exec, Py_mod_gil
    assert found[executes]
    assert found.get(gil) == (1 if FREE_THREADED else None)  # Py_MOD_GIL_NOT_USED
