"""Objects and their memory: arrays that outlive all else, any order of dying, copies, processes, threads."""

from __future__ import annotations

import copy
import ctypes
import gc
import itertools
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import public_functions
import pytest
from conftest import HANGS

import skinpy
from skinpy import _core


def fresh() -> skinpy.Model:
    """A model that nothing else shares, with a morph target."""
    return pickle.loads(pickle.dumps(public_functions.face()))


def big() -> skinpy.Model:
    return pickle.loads(pickle.dumps(skinpy.character()))


# ------------------------------------------------------------------------------------------------ arrays

ARRAYS: dict[str, Callable[[skinpy.Model], Any]] = {
    "skeleton": lambda m: [m.skeleton.parents, m.skeleton.rest_local, m.skeleton.rotation],
    "mesh": lambda m: [m.mesh.positions, m.mesh.normals, m.mesh.faces, m.mesh.slots, m.mesh.weights],
    "part of a view": lambda m: [m.mesh.positions[::7, 1:].T, m.mesh.interleaved["position"][3:9]],
    "skin": lambda m: [m.skin.joints, m.skin.inverse_bind],
    "channel": lambda m: [c.values for c in m.clips[0].channels] + [m.clips[0].channels[0].times],
    "texture": lambda m: [np.frombuffer(m.materials[0].texture.data, np.uint8)],
    "pose": lambda m: [m.pose("walk", 0.2).rotation, m.pose("walk", 0.2).translation],
    "palette": lambda m: [m.palette("walk", [0.1, 0.2])],
    "deformed": lambda m: list(m.deform(m.palette("walk", 0.2))),
    "of a clip of a trim": lambda m: [m.clips["run"].trim(0, 0.2).channels[0].values],
    "of an added clip": lambda m: [
        m.add_clips(m.clips["run"].trim(0, 0.1), replace=True).clips[1].channels[0].values
    ],
    "memoryview": lambda m: [np.frombuffer(memoryview(m._block), np.uint8)],
}


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_arrays_outlive_everything(name: str) -> None:
    model = big()
    arrays = ARRAYS[name](model)
    before = [array.tobytes() for array in arrays]
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    others = [big() for _ in range(3)]  # what was freed would be taken by these
    for array, bytes_before in zip(arrays, before, strict=True):
        assert array.tobytes() == bytes_before
    del others
    held = _core._bytes_in_use()
    del arrays, array
    gc.collect()
    assert _core._bytes_in_use() <= held


def parts() -> dict[str, Any]:
    """Things that hold one another; each must do without the names of the others."""
    model = big()
    clip = model.clips["walk"]
    pose = clip.sample(0.2)
    controller = skinpy.AnimationController(model)
    controller.play(clip)
    controller.advance(0.1)
    return {
        "model": model,
        "clip": clip,
        "pose": pose,
        "array": model.mesh.positions,
        "controller": controller,
        "derived": model.add_clips(clip.trim(0.0, 0.1), replace=True),
    }


USES: dict[str, Callable[[Any], object]] = {
    "model": lambda model: model.palette("walk", 0.1),
    "clip": lambda clip: clip.sample(0.3).palette(),
    "pose": lambda pose: pose.palette(),
    "array": lambda array: array.sum(),
    "controller": lambda controller: (controller.advance(0.1), controller.palette()),
    "derived": lambda derived: derived.deform(derived.palette("run", 0.1)),
}


def let_die(order: tuple[str, ...]) -> None:
    things = parts()
    for name in order:
        del things[name]
        for left in things:
            USES[left](things[left])


def test_things_die_in_any_order() -> None:
    """60 of the 720 orders of deletion; what is left works, and at the end nothing is."""
    gc.collect()
    before = _core._bytes_in_use()
    for order in itertools.islice(itertools.permutations(USES), 0, None, 12):
        let_die(order)
    gc.collect()
    assert _core._bytes_in_use() == before


def test_the_last_holder_frees_the_memory() -> None:
    """Each alone keeps what it needs, and lets go of it; without the collector where there is no circle."""
    for name, use in USES.items():
        gc.collect()
        before = _core._bytes_in_use()
        things = parts()
        last = things[name]
        del things
        gc.collect()
        use(last)
        assert _core._bytes_in_use() > before
        del last
        gc.collect()
        assert _core._bytes_in_use() == before, name


def test_circles_are_collected() -> None:
    """Models, clips and poses that hold themselves, weak references, and finalizers that use a model."""
    gc.collect()
    before = _core._bytes_in_use()
    seen: list[Any] = []

    class Finalized:
        def __init__(self, model: skinpy.Model) -> None:
            self.model = model

        def __del__(self) -> None:
            seen.append(self.model.palette("walk", 0.1).shape)

    class Posed(skinpy.Pose):
        """Has a __dict__, as skinpy.Pose has none."""

    class Playing(skinpy.AnimationController):
        """Has a __dict__ too."""

    model = big()
    clip, still = model.clips["walk"], model.pose()
    pose = Posed(model, still.translation, still.rotation, still.scale, still.morph_weights)
    controller = Playing(model)
    del still
    circle = [model, clip, pose, controller, Finalized(model)]
    for thing in circle:
        vars(thing)["circle"] = circle
    del thing, circle
    watched = [weakref.ref(thing, lambda _: seen.append("gone")) for thing in (model, clip, pose, controller)]
    gc.disable()
    try:
        del model, clip, pose, controller
        assert all(watch() is not None for watch in watched)
    finally:
        gc.enable()
    gc.collect()
    assert all(watch() is None for watch in watched)
    assert seen.count("gone") == 4 and (24, 4, 4) in seen
    assert _core._bytes_in_use() == before


def test_a_name_that_adds_a_clip_while_it_is_added() -> None:
    """Names may be of a class of str's, whose __hash__ may do anything while the core looks a name up."""

    block = big()._block
    before = sys.getrefcount(block)
    models = [_core.Model(block)]

    class Adding(str):
        __slots__ = ()
        __eq__ = str.__eq__

        def __hash__(self) -> int:
            if len(models[0]._clip_entries) % 2:
                models[0]._add_clip(("inner", block, 0))
            return str.__hash__(self)

    for number in range(100):
        models[0]._add_clip((Adding(number), block, 0))
    models.clear()
    gc.collect()
    assert sys.getrefcount(block) == before


def test_the_collector_may_run_at_any_time() -> None:
    """At nearly every allocation of Python's."""
    old = gc.get_threshold()
    gc.set_threshold(1)
    try:
        model = big()
        got = model.palette("walk", 0.2)
        model.crowd_palette(["walk", "run"], [[0, 1]], 0.2)
        model.deform(model.pose("walk", [0.1, 0.2]))
        list(model.clips)
        model.clips["walk"].sample(0.2)
    finally:
        gc.set_threshold(*old)
    assert np.array_equal(got, skinpy.character().palette("walk", 0.2))


# ------------------------------------------------------------------------------------------------ copies


def values() -> dict[str, Any]:
    model = skinpy.character()
    return {
        "model": model,
        "clip": model.clips["walk"],
        "loose clip": skinpy.Clip.from_arrays("a", fps=1.0, joints=["Hips"], translation=np.zeros((2, 1, 3))),
        "pose": model.pose("walk", [0.1, 0.2]),
        "mask": ~skinpy.Mask.below("Chest"),
        "limits": skinpy.Limits(nodes=5),
        "event": skinpy.Event(0.5, "step"),
        "findings": skinpy.check(model),
        "report": model.report,
        "baked": skinpy.crane().bake_texture("slew", 2.0),
        "space": skinpy.BlendSpace1D({0.0: "walk", 1.0: "run"}),
        "root motion": model.clips["walk"].extract_root_motion().root_motion,
        "uv": skinpy.UVAnimation(scroll=(0.5, 0.0)),
        "vertex": skinpy.VertexAnimation.every_frame(
            public_functions.frames_of_a_square(), 10.0, faces=public_functions.TRIANGLES
        ),
        "match": skinpy.match_joints(model, model),
    }


def shown(thing: Any) -> Any:
    """What must be the same of a copy."""
    if isinstance(thing, skinpy.Model):
        return thing.palette("walk", [0.1, 0.2]).tobytes()
    if isinstance(thing, skinpy.Clip):
        return thing.to_records().tobytes()
    if isinstance(thing, skinpy.Pose):
        return thing.palette().tobytes()
    if isinstance(thing, skinpy.BakedTexture):
        return thing.data.tobytes()
    if isinstance(thing, skinpy.VertexAnimation):
        return thing.frames.tobytes()
    if isinstance(thing, skinpy.UVAnimation):
        return thing.sample(0.3).tobytes()
    if isinstance(thing, skinpy.RootMotion):
        return thing.sample([0.1, 0.2]).tobytes()
    return repr(thing)


@pytest.mark.parametrize("name", sorted(values()))
@pytest.mark.parametrize("how", ["copy", "deepcopy", "pickle 2", "pickle 5", "in a list, twice"])
def test_copies_are_equal(name: str, how: str) -> None:
    thing = values()[name]
    wanted = shown(thing)
    if how == "copy":
        again = copy.copy(thing)
    elif how == "deepcopy":
        again = copy.deepcopy(thing)
    elif how == "in a list, twice":
        again, other = copy.deepcopy([thing, thing])
        assert again is other
    else:
        again = pickle.loads(pickle.dumps(thing, int(how[-1])))
    assert type(again) is type(thing)
    del thing
    gc.collect()
    assert shown(again) == wanted


def test_a_copied_pose_has_arrays_of_its_own() -> None:
    pose = skinpy.character().pose("walk", 0.1)
    before = pose.rotation.copy()
    for again in (pose.copy(), copy.deepcopy(pose), pickle.loads(pickle.dumps(pose))):
        again.rotation[:] = 1
        assert np.array_equal(pose.rotation, before)


def test_a_pickle_that_was_cut_or_changed_is_an_error() -> None:
    """Never a broken model: what comes out of a changed block is refused by the reader, or reads right."""
    model = public_functions.face()
    read, (rig, pieces) = model.__reduce_ex__(4)
    read_rig, arguments = rig.__reduce__()
    data = b"".join(pieces)

    def make(data: bytes) -> skinpy.Model:
        return read(read_rig(*arguments), [data])

    for cut in (0, 1, 63, 64, 200, len(data) // 2, len(data) - 1):
        with pytest.raises(skinpy.LoadError):
            make(data[:cut])
    rng = np.random.default_rng(8)
    for _ in range(300):
        broken = bytearray(data)
        broken[rng.integers(len(data))] ^= 1 << rng.integers(8)
        try:
            again = make(bytes(broken))
        except (skinpy.LoadError, ValueError):
            continue
        again.deform(again.palette())


# ------------------------------------------------------------------------------- processes and threads


def run_python(code: str) -> None:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=HANGS,
        env=environment,
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork")
def test_a_fork_has_all_that_was_loaded() -> None:
    """Models, compiled clips, mapped blocks and threads that were used before; both sides go on."""
    run_python("""
        import gc, os, warnings
        warnings.simplefilter("ignore")  # newer Pythons warn of a fork beside threads: that is the case here
        import numpy as np
        import skinpy
        skinpy.set_num_threads(3)
        path = skinpy.__path__[0] + "/data/crane.glb"
        model = skinpy.load(path)  # isolated: its block is a mapping
        times = np.linspace(0, 1, 5000)
        before = model.palette("slew", times)
        array = model.mesh.positions
        children = []
        for number in range(3):
            child = os.fork()
            if child == 0:
                try:
                    assert np.array_equal(model.palette("slew", times), before)
                    assert skinpy.load(path).clips.names == model.clips.names
                    assert array.sum() == model.mesh.positions.sum()
                    model.deform(model.pose("slew", [0.1] * 50))
                    del model, array
                    gc.collect()
                    os._exit(0)
                except BaseException:
                    os._exit(1)
            children.append(child)
        assert np.array_equal(model.palette("slew", times), before)
        assert all(os.waitpid(child, 0)[1] == 0 for child in children)
        assert skinpy.load(path).clips.names == model.clips.names
    """)


SPAWNED = """
import skinpy


def palette(job):
    model, clip, pose = job
    return model.palette(clip.name, 0.1).tobytes(), pose.palette().tobytes(), model
"""


def test_spawned_processes_get_models_clips_and_poses(tmp_path: Any) -> None:
    (tmp_path / "spawned_work.py").write_text(SPAWNED)
    run_python(f"""
        import multiprocessing, sys
        sys.path.insert(0, {str(tmp_path)!r})
        import skinpy
        import spawned_work

        if __name__ == "__main__":
            model = skinpy.crane()
            clip, pose = model.clips["slew"], model.pose("slew", 0.2)
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                for palette, given, again in pool.map(spawned_work.palette, [(model, clip, pose)] * 4):
                    assert palette == model.palette("slew", 0.1).tobytes()
                    assert given == pose.palette().tobytes()
                    assert again.clips.names == model.clips.names
                pool.close()
                pool.join()
    """)


def test_many_threads_share_a_model_at_its_first_use() -> None:
    """Compiling, the cache of clips, influences: whoever comes first, all get the same bits."""
    wanted = skinpy.character().palette("walk", [0.1, 0.2]).tobytes()
    for _ in range(10):
        model, start = big(), threading.Barrier(8)

        def work(number: int, model: skinpy.Model = model, start: threading.Barrier = start) -> bytes:
            start.wait()
            model.deform(model.pose("walk", 0.1))
            model.clips["run"].sample(0.2)
            return model.palette("walk", [0.1, 0.2]).tobytes()

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(work, range(8))) == {wanted}


def test_pictures_from_any_thread() -> None:
    """One thread has the context; made here, drawn there, dropped elsewhere, many at once."""
    pytest.importorskip("moderngl")
    from skinpy.render import Renderer

    model = skinpy.crane()
    renderers = [Renderer(model, size=(32, 32)) for _ in range(3)]
    wanted = renderers[0].frame("slew", 0.2)
    with ThreadPoolExecutor(6) as pool:
        frames = list(pool.map(lambda number: renderers[number % 3].frame("slew", 0.2).copy(), range(30)))
        made = list(pool.map(lambda number: Renderer(model, size=(32, 32)), range(6)))
        assert all(np.array_equal(frame, wanted) for frame in frames)
        assert all(np.array_equal(renderer.frame("slew", 0.2), wanted) for renderer in made)
        list(pool.map(lambda renderer: renderer.close(), made[:3]))
        dropped = [made.pop() for _ in range(3)]
        pool.submit(dropped.clear).result()
    gc.collect()
    assert np.array_equal(renderers[0].frame("slew", 0.2), wanted)
    for renderer in renderers:
        renderer.close()
        renderer.close()


# ------------------------------------------------------------------------------- contexts that are lost

#: What happens to the context, and the word of the error; "" where it can be taken up again.
LOSSES = {
    "released": ("gl.call(lambda context: context.release())", "lost"),
    "destroyed": ("gl.call(lambda context: (egl('eglDestroyContext', here), egl('eglMakeCurrent')))", "lost"),
    "put aside": ("gl.call(lambda context: egl('eglMakeCurrent'))", ""),
    "in another's shadow": ("gl.call(lambda context: others.append(another()))", ""),
    "released elsewhere": ("contexts[0].release()", "lost"),
    "beside another": ("others.append(another())", ""),
}

LOSING = """
    import ctypes, gc
    import moderngl
    import numpy as np
    import skinpy
    from skinpy.render import Crowd, Renderer, grid, render
    from skinpy.render.gpu import context as gl

    library = ctypes.CDLL("libEGL.so.1")
    for name in ("eglGetCurrentContext", "eglGetCurrentDisplay"):
        getattr(library, name).restype = ctypes.c_void_p

    def egl(function, *more):
        display = ctypes.c_void_p(library.eglGetCurrentDisplay())
        more = [ctypes.c_void_p(number) for number in more] or [None, None, None]
        assert getattr(library, function)(display, *more)

    def another():
        return moderngl.create_standalone_context(backend="egl")

    model, size, others, contexts = skinpy.crane(), (32, 32), [], []
    gl.call(contexts.append)
    here = gl.call(lambda context: library.eglGetCurrentContext())
    renderer = Renderer(model, size=size)
    crowd = Crowd(model, grid(model, 4), size=size)
    works = dict(
        frame=lambda: renderer.frame("slew", 0.2),
        truth=lambda: renderer.render("slew", 0.2, aov="depth").picture,
        vertices=lambda: renderer.skinned_vertices("slew", 0.2)[0],
        crowd=lambda: crowd.frame(0, 0.2),
        crowd_vertices=lambda: crowd.skinned_vertices(0, 0.2)[0],
    )
    fresh = dict(
        renderer=lambda: Renderer(model, size=size).frame("slew", 0.2),
        render=lambda: render(model, "slew", 0.2, size),
        crowd=lambda: Crowd(model, grid(model, 4), size=size).frame(0, 0.2),
    )
    wanted = {name: work() for name, work in works.items()}
    wanted_fresh = {name: work() for name, work in fresh.items()}
    try:
        LOSE
    except skinpy.GraphicsError as error:
        assert "lost" in str(error), error
    for _ in range(2):
        for name, work in works.items():
            try:
                assert np.array_equal(work(), wanted[name]), name
                assert not WORDS, name
            except skinpy.GraphicsError as error:
                assert WORDS and WORDS in str(error) and "make another" in str(error), error
        for name, work in fresh.items():
            assert np.array_equal(work(), wanted_fresh[name]), name
        gc.collect()
    renderer.close()
    crowd.close()
    for one in others:
        one.release()
    assert np.array_equal(fresh["renderer"](), wanted["frame"])
"""


@pytest.mark.parametrize("how", sorted(LOSSES))
def test_a_context_that_is_lost_is_told_or_taken_up(how: str, opengl: None) -> None:
    """Never noise: the right picture, or an error and the right picture from what is made anew."""
    try:
        ctypes.CDLL("libEGL.so.1")
    except OSError as error:
        pytest.skip(f"no EGL whose context could be lost: {error}")
    lose, words = LOSSES[how]
    run_python(textwrap.dedent(LOSING).replace("LOSE", lose).replace("WORDS", repr(words)))


def test_threads_draw_while_the_context_is_lost(opengl: None) -> None:
    """Again and again: each picture is right, or an error says so.

    All have drawn before the first loss, and losses go on until each thread has met one.
    """
    run_python("""
        import threading, time
        from concurrent.futures import ThreadPoolExecutor
        import numpy as np
        import skinpy
        from skinpy.render import Renderer
        from skinpy.render.gpu import context as gl

        model = skinpy.crane()
        wanted = Renderer(model, size=(32, 32)).frame("slew", 0.2)
        ready = threading.Barrier(5)

        def draw(number):
            renderer, frames, lost = Renderer(model, size=(32, 32)), 0, 0
            ready.wait()
            while frames < 12 or not lost:
                frames += 1
                try:
                    assert np.array_equal(renderer.frame("slew", 0.2), wanted)
                except skinpy.GraphicsError as error:
                    assert "lost" in str(error), error
                    lost += 1
                    try:
                        renderer = Renderer(model, size=(32, 32))
                    except skinpy.GraphicsError as again:
                        assert "lost" in str(again), again

        def lose(drawn):
            ready.wait()
            while not all(one.done() for one in drawn):
                held = []
                gl.call(held.append)
                held[0].release()
                time.sleep(0.01)

        with ThreadPoolExecutor(5) as pool:
            drawn = [pool.submit(draw, number) for number in range(4)]
            pool.submit(lose, drawn).result()
            for one in drawn:
                one.result()
        assert np.array_equal(Renderer(model, size=(32, 32)).frame("slew", 0.2), wanted)
    """)
