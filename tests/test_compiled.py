"""Compiled clips as Python sees them: what they take is given back, whoever goes first; any number of models
may share the keys of a clip; threads may play it for the first time at once."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import SIMD

import skinpy
from skinpy import _core

JOINTS = 9
TIMES = np.linspace(-0.5, 1.5, 23)


@pytest.fixture(autouse=True)
def with_kernels() -> Iterator[None]:
    """On the SIMD path that is there: the plain path compiles no clips."""
    before = _core._simd(None)
    try:
        _core._simd(SIMD[1])
    except ValueError:
        pytest.skip("this processor or this build lacks it")
    yield
    _core._simd(before)


def bare_model(offset: float = 0.0) -> skinpy.Model:
    rest = np.tile(np.eye(4), (JOINTS, 1, 1))
    rest[:, 1, 3] = 0.3
    rest[0, 0, 3] = offset
    return skinpy.Model.from_arrays(
        [f"joint{n}" for n in range(JOINTS)],
        list(range(-1, JOINTS - 1)),
        rest,
        positions=np.zeros((3, 3)),
        faces=[[0, 1, 2]],
        joints=np.full((3, 1), JOINTS - 1),
        weights=np.ones((3, 1)),
    )


def waving() -> skinpy.Clip:
    angles = np.sin(np.linspace(0, 6, 12))[:, None] * np.linspace(0.1, 0.5, JOINTS)
    turns = np.zeros((12, JOINTS, 4))
    turns[..., 2], turns[..., 3] = np.sin(angles / 2), np.cos(angles / 2)
    return skinpy.Clip.from_arrays(
        "wave", fps=12, joints=[f"joint{n}" for n in range(JOINTS)], rotation=turns
    )


@pytest.fixture(scope="module")
def packed() -> bytes:
    """A model with its clip, as it lies in memory."""
    return bytes(bare_model().add_clips(waving())._joined())


def plain(model: Any, clip: Any) -> Any:
    fast = _core._simd("plain")
    try:
        return model.globals(clip, TIMES)
    finally:
        _core._simd(fast)


def test_models_played_and_dropped_leave_nothing(packed: bytes) -> None:
    gc.collect()
    before = _core._bytes_in_use()
    for number in range(1000):
        model = skinpy.Model(_core.Block(packed))
        model.palette("wave", TIMES[number % 23])
        model.crowd_palette(["wave"], [0, 0, 0], 0.3)
        assert before < _core._bytes_in_use() < before + 100_000
        del model
    assert _core._bytes_in_use() == before


def test_a_form_is_made_once_and_counted(packed: bytes) -> None:
    model = skinpy.Model(_core.Block(packed))
    clip = model.clips[0]
    assert clip.compiled_nbytes == 0
    gc.collect()
    before = _core._bytes_in_use()
    model.palette(clip, 0.1)
    taken = clip.compiled_nbytes
    assert taken > 0 and _core._bytes_in_use() - before == taken
    model.globals("wave", TIMES)
    model.pose(0, TIMES)
    assert clip.compiled_nbytes == taken and _core._bytes_in_use() - before == taken
    second = model.add_clips(waving())  # shares the block, and so the form
    second.palette("wave", 0.1)
    assert clip.compiled_nbytes == taken


def test_clips_outlive_their_models(packed: bytes) -> None:
    gc.collect()
    before = _core._bytes_in_use()
    model = skinpy.Model(_core.Block(packed))
    want = model.globals("wave", TIMES)
    clip = model.clips[0]
    del model
    assert clip.compiled_nbytes > 0
    assert np.array_equal(clip.model.globals(clip, TIMES), want)
    del clip
    assert _core._bytes_in_use() == before


def test_keys_shared_by_many_models() -> None:
    """Each plays them as on the plain path, also without a form of its own, and after others are gone."""
    gc.collect()
    before = _core._bytes_in_use()
    first = bare_model().add_clips(waving())
    entries = first._clip_entries
    models = [skinpy.Model(bare_model(number)._block, entries) for number in range(20)]
    for round in range(3):
        for model in models:
            number = float(model.skeleton.translation[0, 0])
            got = model.globals("wave", TIMES)
            assert np.abs(got - plain(model, "wave")).max() <= 1e-6 * (number + 4)
            assert (got[:, 0, 0, 3] == number).all()  # not the root of another model's form
        del models[round]
    one = first.clips[0].compiled_nbytes
    first.palette("wave", 0.1)
    assert first.clips[0].compiled_nbytes == one  # forms are kept for few models alone
    del models, model, got, first, entries
    assert _core._bytes_in_use() == before


def test_a_model_may_go_before_the_keys() -> None:
    """A form is found by its model, not by its model's place in memory, which comes again."""
    first = bare_model().add_clips(waving())
    for number in range(50):
        model = skinpy.Model(bare_model(number)._block, first._clip_entries)
        assert (model.globals("wave", TIMES)[:, 0, 0, 3] == number).all()
        del model


def test_threads_play_a_clip_for_the_first_time_at_once(packed: bytes) -> None:
    want = skinpy.Model(_core.Block(packed)).globals("wave", TIMES)
    for _ in range(20):
        model = skinpy.Model(_core.Block(packed))
        start = threading.Barrier(8)
        results: list[Any] = []

        def play(model: Any = model, start: Any = start, results: list[Any] = results) -> None:
            start.wait()
            results.append(model.globals("wave", TIMES))

        threads = [threading.Thread(target=play) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 8 and all(np.array_equal(result, want) for result in results)
        taken = model.clips[0].compiled_nbytes
        model.globals("wave", TIMES)
        assert model.clips[0].compiled_nbytes == taken > 0
