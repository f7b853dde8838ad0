"""What holds for every model, clip and time: properties over seeded models, and memory that comes back."""

from __future__ import annotations

import ctypes
import gc
import pickle
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import builders
import numpy as np
import pytest

import skinpy

SEEDS = range(100, 108)


@pytest.fixture(scope="module", params=SEEDS)
def model(request: pytest.FixtureRequest) -> Any:
    """8 to 200 joints, step, linear, cubic and constant channels, shared or separate key times."""
    file = builders.random_model(request.param, vertices=500)
    return skinpy.load(file.glb(), format="glb")


def extent(model: Any) -> float:
    low, high = model.bounds()
    return float(max(np.abs(low).max(), np.abs(high).max(), (high - low).max()))


def random_times(model: Any, seed: int = 0, count: int = 40) -> Any:
    rng = np.random.default_rng(seed)
    return rng.uniform(-3, 4, count) * model.clips[0].duration


def test_the_model_is_sane(model: Any) -> None:
    s, mesh, skin = model.skeleton, model.mesh, model.skin
    joints = len(s.names)
    assert (s.parents < np.arange(joints)).all() and s.parents[0] == -1 and s.parents.min() >= -1
    assert np.allclose(np.linalg.norm(s.rotation, axis=1), 1, atol=1e-6)
    assert (mesh.weights >= 0).all() and (np.diff(mesh.weights, axis=1) <= 0).all()
    assert np.abs(mesh.weights.astype(np.float64).sum(1) - 1).max() <= 1e-6
    assert mesh.slots.max(initial=0) < len(skin.joints) and skin.joints.max(initial=0) < joints
    assert mesh.faces.max(initial=0) < len(mesh.positions)
    used, first = np.unique(mesh.slots[mesh.weights > 0], return_index=True)
    assert len(used) == len(skin.joints) and len(first)
    for clip in model.clips:
        assert clip.duration >= max(c.times[-1] for c in clip.channels) - 1e-9
        for channel in clip.channels:
            assert (np.diff(channel.times) > 0).all() and np.isfinite(channel.values).all()
            assert 0 <= channel.joint < joints


@pytest.mark.parametrize("rotation", ["slerp", "nlerp"])
@pytest.mark.parametrize("loop", ["wrap", "clamp", "pingpong", "once"])
def test_rotations_are_unit(model: Any, loop: str, rotation: str) -> None:
    pose = model.pose(0, random_times(model), loop=loop, rotation=rotation)
    assert np.abs(np.linalg.norm(pose.rotation.astype(np.float64), axis=-1) - 1).max() <= 3e-7
    assert np.isfinite(pose.palette()).all()


def test_the_bind_pose_is_the_identity(model: Any) -> None:
    """The generator binds at rest, so the palette there is the identity and no vertex moves."""
    size = extent(model)
    palette = model.pose().palette()
    assert np.abs(palette - np.eye(4)).max() <= 5e-6 * max(size, 1.0)
    positions, normals = model.deform(palette)
    assert np.abs(positions - model.mesh.positions).max() <= 5e-6 * size
    assert np.abs(normals - model.mesh.normals).max() <= 5e-5


def test_wrapped_times_repeat(model: Any) -> None:
    """A period later the pose is the same; 2T is the start, T the end."""
    d = model.clips[0].duration
    size = extent(model)
    rng = np.random.default_rng(1)
    inside = rng.uniform(0.001, 0.999, 20) * d
    for turns in (-2, -1, 1, 5):
        apart = np.abs(model.globals(0, inside + turns * d) - model.globals(0, inside)).max((1, 2, 3))
        # steps may fall on either side of a time that was rounded by the sum: nearly all have to agree
        assert np.sort(apart)[-3] <= 1e-5 * size
    for turns in (-1, 2, 3, 4):
        assert np.array_equal(model.globals(0, turns * d), model.globals(0, 0.0))
    assert np.array_equal(model.globals(0, d), model.globals(0, d, loop="clamp"))
    assert np.array_equal(model.globals(0, 2 * d, loop="pingpong"), model.globals(0, 0.0))
    assert np.array_equal(model.globals(0, -d, loop="clamp"), model.globals(0, 0.0))


def test_order_does_not_matter(model: Any) -> None:
    """A random seek is what playing is: no cursor's state shows in a result."""
    times = random_times(model)
    order = np.random.default_rng(2).permutation(len(times))
    assert np.array_equal(model.palette(0, times)[order], model.palette(0, times[order]))


def test_a_root_moves_everything(model: Any) -> None:
    """A rigid root in front moves every vertex by itself, and normals by its rotation."""
    root = builders.matrix_of((3, -2, 1), builders.about((1, 1, 0), 50), (1, 1, 1)).astype(np.float32)
    t = 0.3 * model.clips[0].duration
    size = extent(model) + 4
    there, turned = model.deform(model.palette(0, t, root=root))
    here, normals = model.deform(model.palette(0, t))
    assert np.abs(there - (here @ root[:3, :3].T + root[:3, 3])).max() <= 4e-6 * size
    assert np.abs(turned - normals @ root[:3, :3].T).max() <= 2e-4


def test_continuous_clips_do_not_jump() -> None:
    """Without steps a small step in time is a small step of every joint."""
    kinds = ("linear", "cubic", "constant")
    model = skinpy.load(builders.random_model(120, vertices=500, kinds=kinds).glb(), format="glb")
    d = model.clips[0].duration
    times = np.linspace(0, d, 4001)
    moved = np.abs(np.diff(model.joint_positions(0, times), axis=0)).max((1, 2))
    assert moved.max() <= 0.05 * extent(model)


def test_bounds(model: Any) -> None:
    """Bounds hold the rest vertices, and with a clip the vertices at any time of it."""
    low, high = model.bounds()
    assert model.bounds().shape == (2, 3) and model.bounds().dtype == np.float64
    positions, _ = model.deform(model.pose(), normals=False)
    assert (positions >= low - 1e-5).all() and (positions <= high + 1e-5).all()
    wide = model.bounds(0)
    assert (wide[1] > wide[0]).all()


# ---------------------------------------------------------------------------------------------- memory


class MallInfo(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_: ClassVar = [(f"field{i}", ctypes.c_size_t) for i in range(10)]
    HBLKHD, UORDBLKS = 4, 7  # bytes in mapped blocks, bytes in use on the heap


def process_bytes() -> int:
    """Bytes that the whole process has from malloc, Assimp's and the importer's too; 0 without glibc."""
    count = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if count is None:
        return 0
    count.restype = MallInfo
    info = count()
    return sum(getattr(info, f"field{i}") for i in (MallInfo.HBLKHD, MallInfo.UORDBLKS))


def core_bytes() -> int:
    """Bytes that the extension has taken and not given back."""
    return int(skinpy._core._bytes_in_use())


def test_a_thousand_loads_leave_nothing(tmp_path: Path) -> None:
    """Load, pose, deform and drop: the byte counter comes back to its start, and so does the process."""
    data = builders.shear().glb()
    path = tmp_path / "m.glb"
    path.write_bytes(data)

    def once(i: int) -> None:
        model = skinpy.load(path) if i % 2 else skinpy.load(data, format="glb")
        model.deform(model.pose(0, 0.1 * i))
        assert len(model.mesh.interleaved)
        with pytest.raises(ValueError, match="time"):
            model.palette(0, np.nan)

    assert_nothing_stays(once, 1000)


def assert_nothing_stays(once: Callable[[int], None], times: int) -> None:
    """After a warm-up the core's counter comes back to the byte, malloc's to within Python's own ways.

    64 bytes a time would be seen in a thousand.
    """
    for i in range(100):
        once(i)
    gc.collect()
    core, process = core_bytes(), process_bytes()
    for i in range(times):
        once(i)
    gc.collect()
    assert core_bytes() == core
    assert process_bytes() - process < 48 << 10


def test_failing_loads_leave_nothing(tmp_path: Path) -> None:
    whole = builders.shear().glb()
    cut = [whole[:n] for n in (0, 11, 100, len(whole) // 2, len(whole) - 40)]

    def once(i: int) -> None:
        with pytest.raises(skinpy.LoadError):
            skinpy.load(cut[i % len(cut)], format="glb")

    assert_nothing_stays(once, 500)


def test_objects_die() -> None:
    """Nothing holds a model, its clip or its pose in a circle that only the collector would find."""
    gc.disable()
    try:
        model = pickle.loads(pickle.dumps(skinpy.load(builders.shear().glb(), format="glb")))
        pose = model.pose(0, 0.1)
        array = model.mesh.positions
        before = core_bytes()
        watch = weakref.ref(model)
        del model
        assert pose.palette().shape[-2:] == (4, 4) and len(array)
        del pose, array
        gc.collect()
        assert watch() is None and core_bytes() < before
    finally:
        gc.enable()
