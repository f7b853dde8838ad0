"""Kinds of animation: UV transforms and stored vertices against a float64 twin, files, and faults."""

from __future__ import annotations

import copy
import math
import os
import pickle
import struct
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import data_file
from import_cases import md2
from twin import clip_time, unit

import skinpy
from skinpy.files import series
from skinpy.kinds import Animation, UVAnimation, VertexAnimation, bake_vertices

LOOPS = ("wrap", "clamp", "pingpong", "once")
FACES = [[0, 1, 2], [2, 1, 3], [3, 4, 0]]


def random_frames(seed: int, count: int = 7, vertices: int = 5) -> Any:
    return np.random.default_rng(seed).normal(size=(count, vertices, 3)).astype(np.float32)


def random_animation(seed: int, **options: Any) -> VertexAnimation:
    rng = np.random.default_rng(seed)
    frames = random_frames(seed)
    normals = unit(rng.normal(size=frames.shape))
    times = np.cumsum(rng.uniform(0.05, 0.4, len(frames))) - (0.05 if seed % 2 else 0.0)
    return VertexAnimation.keyed(np.abs(times), frames, normals=normals, faces=FACES, **options)


# ---- the twin ------------------------------------------------------------------------------------------


def twin_place(times: Any, time: float, loop: str, ticks: float) -> tuple[int, float]:
    """The frame and the fraction of the next, by the rules for clips."""
    tau = clip_time(time, float(times[-1]), loop, ticks)
    low = int(np.searchsorted(times, tau + 1e-4 / ticks, "right")) - 1
    if low < 0 or low == len(times) - 1:
        return max(low, 0), 0.0
    return low, max((tau - times[low]) / (times[low + 1] - times[low]), 0.0)


def twin_vertices(animation: VertexAnimation, time: float, loop: str, ticks: float) -> tuple[Any, Any]:
    low, share = twin_place(animation.times, time, loop, ticks)
    if animation.interpolation == "step":
        share = 0.0
    high = min(low + 1, len(animation) - 1)
    points, normals = animation.frames.astype(np.float64), animation.normals.astype(np.float64)
    blended = [rows[low] + share * (rows[high] - rows[low]) for rows in (points, normals)]
    return blended[0], unit(blended[1]) if share else blended[1]


def twin_uv(time: float, tau: float, options: dict[str, Any]) -> Any:
    """The matrix of a UVAnimation, one factor after another; whole periods are not left out."""
    keys = options.get("keys", {})
    interpolated = {
        name: np.array(
            [np.interp(tau, keys["times"], column) for column in np.atleast_2d(np.transpose(keys[name]))]
        )
        for name in keys
        if name != "times"
    }
    offset = np.array(options.get("scroll", (0, 0))) * time + interpolated.get("offset", 0.0)
    angle = options.get("rotate", 0.0) * time + float(np.sum(interpolated.get("rotation", 0.0)))
    su, sv = np.array(options.get("scale", (1, 1))) * interpolated.get("scale", 1.0)
    pu, pv = options.get("pivot", (0.5, 0.5))
    move = np.array([[1, 0, pu + offset[0]], [0, 1, pv + offset[1]], [0, 0, 1]])
    turn = np.array(
        [[math.cos(angle), math.sin(angle), 0], [-math.sin(angle), math.cos(angle), 0], [0, 0, 1]]
    )
    back = np.array([[1, 0, -pu], [0, 1, -pv], [0, 0, 1]])
    return move @ turn @ np.diag([su, sv, 1.0]) @ back


# ---- one interface -------------------------------------------------------------------------------------


def test_all_kinds_are_animations() -> None:
    model = skinpy.character()
    baked = bake_vertices(model, "walk", 10)
    kinds: list[tuple[Any, str]] = [
        (UVAnimation(), "uv"),
        (baked, "vertex"),
        (baked.to_keyed(0.05), "keyed"),
        (model.clips["walk"], "skinned"),
        (skinpy.crane().clips[0], "rigid"),
    ]
    for animation, kind in kinds:
        assert isinstance(animation, Animation)
        assert animation.kind == kind
        assert animation.duration > 0
        assert animation.nbytes > 0
        assert isinstance(animation.name, str)
        animation.sample([[0.0, 0.1]], loop="clamp")
    assert not isinstance(model, Animation)


# ---- texture coordinates -------------------------------------------------------------------------------

UV_CASES: dict[str, dict[str, Any]] = {
    "still": {},
    "scroll": {"scroll": (0.25, -0.5)},
    "rotate": {"rotate": 1.25, "pivot": (0.0, 0.0)},
    "scale": {"scale": (3.0, -0.5), "rotate": 0.4, "scroll": (0.1, 0.2)},
    "keys": {
        "keys": {
            "times": [0.0, 0.5, 2.0],
            "offset": [[0, 0], [0.5, 0.25], [0, 1]],
            "rotation": [0, 1, -2],
            "scale": [[1, 1], [2, 3], [1, 0.5]],
        },
        "scroll": (0.125, 0.0),
        "pivot": (0.25, 0.75),
    },
    "one key": {"keys": {"times": [0.0], "offset": [[0.25, 0.5]]}},
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("case", UV_CASES)
def test_uv_against_the_twin(case: str, loop: Any) -> None:
    options = UV_CASES[case]
    animation = UVAnimation(**options, wrap="clamp")
    times = np.array([[-1.3, 0.0, 0.2], [0.5, 1.999, 2.0], [2.1, 4.0, 7.7]])
    uvs = np.random.default_rng(1).uniform(-2, 2, (6, 2))
    matrices = animation.sample(times, loop=loop)
    moved = animation.apply(uvs, times, loop=loop)
    assert matrices.shape == (3, 3, 3, 3) and matrices.dtype == np.float32
    assert moved.shape == (3, 3, 6, 2) and moved.dtype == np.float32
    for index, time in np.ndenumerate(times):
        duration = options["keys"]["times"][-1] if "keys" in options else 0.0
        want = twin_uv(float(time), clip_time(float(time), duration, loop), options)
        # api.md, Precision: 1e-6 of the largest distance from the origin, here of texture coordinates.
        assert np.abs(matrices[index] - want).max() <= 1e-6 * np.abs(want).max()
        homogeneous = np.column_stack([uvs, np.ones(len(uvs))]) @ want.T
        assert np.abs(moved[index] - homogeneous[:, :2]).max() <= 1e-6 * np.abs(homogeneous).max()


def test_a_scalar_time_gives_one_matrix() -> None:
    animation = UVAnimation(scroll=(0.25, 0.0))
    assert animation.sample(2.0).shape == (3, 3)
    assert animation.sample(2).tolist() == [[1, 0, 0.5], [0, 1, 0], [0, 0, 1]]
    assert animation.apply([[0.0, 0.0]], 1.0).tolist() == [[0.25, 0.0]]


def test_positive_rotation_is_counter_clockwise_on_the_image() -> None:
    """v points down: a quarter turn takes the right (1, 0) to the top (0, -1)."""
    quarter = UVAnimation(rotate=math.pi / 2, pivot=(0, 0))
    np.testing.assert_allclose(quarter.apply([[1.0, 0.0]], 1.0), [[0.0, -1.0]], atol=1e-7)


@pytest.mark.parametrize(("wrap", "period"), [("repeat", 1.0), ("mirror", 2.0)])
def test_whole_periods_are_left_out_so_that_long_scrolls_stay_exact(wrap: str, period: float) -> None:
    animation = UVAnimation(scroll=(0.3, -0.7), wrap=wrap)
    time = 1e7 + 0.123
    offset = np.array(animation.sample(time)[:2, 2], np.float64)
    assert (np.abs(offset) < period).all()
    away = (offset - np.array([0.3, -0.7]) * time) / period
    np.testing.assert_allclose(away, np.round(away), atol=1e-7 + 1e-9 * 7)


def test_wrapped_looks_up_where_a_sampler_does() -> None:
    points = np.array([[-0.25, 0.25], [1.25, 2.25], [1.0, -1.75]])
    np.testing.assert_allclose(UVAnimation().wrapped(points), [[0.75, 0.25], [0.25, 0.25], [0, 0.25]])
    np.testing.assert_allclose(
        UVAnimation(wrap="mirror").wrapped(points), [[0.25, 0.25], [0.75, 0.25], [1, 0.25]]
    )
    np.testing.assert_allclose(UVAnimation(wrap="clamp").wrapped(points), [[0, 0.25], [1, 1], [1, 0]])


def test_step_keys_turn_the_pages_of_a_flip_book() -> None:
    pages = {"times": np.arange(4) / 8, "offset": [[0, 0], [0.25, 0], [0.5, 0], [0.75, 0]]}
    book = UVAnimation(keys=pages, interpolation="step", wrap="clamp")
    times = np.array([0.0, 0.1, 0.125, 0.2, 0.3])
    assert book.sample(times)[:, 0, 2].tolist() == [0.0, 0.0, 0.25, 0.25, 0.5]
    assert book.duration == 0.375
    assert UVAnimation(scroll=(1, 0)).duration == math.inf


def test_uv_writes_into_out() -> None:
    animation = UVAnimation(scroll=(0.1, 0.2))
    out = np.empty((4, 3, 3), np.float32)
    assert animation.sample(np.arange(4.0), out) is out
    assert np.array_equal(out, animation.sample(np.arange(4.0)))
    with pytest.raises(TypeError, match="out"):
        animation.sample(0.0, [[0.0]])  # type: ignore[arg-type]
    for wrong in (np.empty((3, 3)), np.empty((4, 3, 3), np.float32), np.empty((3, 3), np.float32).T):
        with pytest.raises(ValueError, match="out"):
            animation.sample(0.0, wrong)


UV_FAULTS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"scroll": 1.0}, ValueError, "scroll has shape"),
    ({"scroll": (np.nan, 0)}, ValueError, "scroll holds"),
    ({"rotate": (1, 2)}, ValueError, "rotate has shape"),
    ({"scale": (1, np.inf)}, ValueError, "scale holds"),
    ({"wrap": "tile"}, ValueError, "wrap is 'tile'; expected one of 'repeat'"),
    ({"interpolation": "cubic"}, ValueError, "interpolation is 'cubic'"),
    ({"keys": {"offset": [[0, 0]]}}, KeyError, "times"),
    ({"keys": {"times": [0.0]}}, KeyError, "offset"),
    ({"keys": {"times": [0.0], "turn": [0.0]}}, KeyError, "turn"),
    ({"keys": {"times": [], "rotation": []}}, ValueError, "empty"),
    ({"keys": {"times": [1.0, 0.5], "rotation": [0, 0]}}, ValueError, "increasing"),
    ({"keys": {"times": [-1.0, 0.5], "rotation": [0, 0]}}, ValueError, "not negative"),
    ({"keys": {"times": [0.0, 0.5], "rotation": [0]}}, ValueError, "rotation"),
    ({"keys": {"times": [0.0], "offset": [[0, np.nan]]}}, ValueError, "offset"),
]


@pytest.mark.parametrize(("options", "error", "words"), UV_FAULTS)
def test_uv_faults_name_the_argument(options: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        UVAnimation(**options)


@pytest.mark.parametrize("time", [np.nan, [0.0, np.inf]])
def test_times_are_finite(time: Any) -> None:
    for animation in (UVAnimation(), random_animation(0)):
        with pytest.raises(ValueError, match="time"):
            animation.sample(time)
        with pytest.raises(ValueError, match="loop is 'twice'"):
            animation.sample(0.0, loop="twice")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="time"):
            animation.sample("now")


# ---- stored vertices -----------------------------------------------------------------------------------


@pytest.mark.parametrize("interpolation", ["linear", "step"])
@pytest.mark.parametrize("loop", LOOPS)
def test_vertices_against_the_twin(loop: Any, interpolation: str) -> None:
    for seed in range(6):
        animation = random_animation(seed, interpolation=interpolation)
        d = animation.duration
        more = np.random.default_rng(seed).uniform(-2 * d, 3 * d, 40)
        times = np.concatenate([[0.0, d], animation.times, animation.times + d / 3, more])
        positions, normals = animation.sample(times, loop=loop)
        assert positions.dtype == normals.dtype == np.float32
        for number, time in enumerate(times):
            points, directions = twin_vertices(animation, float(time), loop, 1000.0)
            np.testing.assert_allclose(positions[number], points, atol=1e-6)
            np.testing.assert_allclose(normals[number], directions, atol=1e-6)


def test_shapes_of_time_lead() -> None:
    animation = random_animation(1)
    for time, lead in (
        (0.3, ()),
        ([0.3], (1,)),
        (np.zeros((2, 0, 3)), (2, 0, 3)),
        (np.zeros((2, 3)), (2, 3)),
    ):
        positions, normals = animation.sample(time)
        assert positions.shape == normals.shape == (*lead, 5, 3)
        assert animation.places(time).shape == lead


def test_stored_frames_come_back_to_the_bit() -> None:
    animation = VertexAnimation.every_frame(random_frames(2), 30, faces=FACES)
    positions, normals = animation.sample(animation.times)
    assert np.array_equal(positions, animation.frames)
    assert np.array_equal(normals, animation.normals)
    assert animation.places(animation.times).tolist() == list(range(7))
    assert animation.duration == 0.2
    assert animation.nbytes == 7 * 8 + 2 * 7 * 5 * 3 * 4


def test_time_rules_are_those_of_clips() -> None:
    """The end is a pose of its own, two durations are the start; the tolerance is 1e-4 frame."""
    animation = VertexAnimation.every_frame(random_frames(3), 10, faces=FACES)
    d = animation.duration
    clip = skinpy.Clip.from_arrays("same", fps=10, translation=np.zeros((7, 1, 3)))
    for loop in LOOPS:
        for time in (d, 2 * d, 3 * d, -d, d + 0.9e-5, d - 0.9e-5, d + 1.1e-5, 0.37, -0.01, 5.0):
            want = clip._local_time(time, loop) * 10
            assert animation.places(time, loop=loop) == pytest.approx(want, abs=1.1e-4)
    assert animation.places(d) == 6.0
    assert animation.places(2 * d) == 0.0


def test_before_the_first_key_the_first_is_seen() -> None:
    animation = VertexAnimation.keyed([0.5, 1.0], random_frames(4)[:2], faces=FACES)
    assert np.array_equal(animation.sample(0.2)[0], animation.frames[0])
    assert animation.duration == 1.0


def test_one_frame_is_a_still() -> None:
    animation = VertexAnimation.every_frame(random_frames(5)[:1], 25)
    assert animation.duration == 0.0
    assert np.array_equal(animation.sample([-1.0, 0.0, 9.0])[0], np.repeat(animation.frames, 3, axis=0))
    assert len(animation.to_keyed(0.0)) == 1


def test_cutting_takes_frames_as_slices_do() -> None:
    animation = VertexAnimation.every_frame(random_frames(16), 10, faces=FACES, name="all")
    run = animation.cut(2, 5, name="run")
    assert (run.name, len(run), run.kind) == ("run", 3, "vertex")
    assert run.duration == pytest.approx(0.2)
    assert np.shares_memory(run.frames, animation.frames)
    np.testing.assert_allclose(run.sample(0.15)[0], animation.sample(0.35)[0], atol=1e-6)
    assert len(animation.cut(-2, 99)) == 2
    with pytest.raises(ValueError, match="no frame of 7"):
        animation.cut(5, 5)


def test_opposite_normals_meet_in_zero() -> None:
    up = np.tile([0.0, 0.0, 1.0], (5, 1))
    animation = VertexAnimation.keyed([0.0, 1.0], random_frames(6)[:2], normals=[up, -up], faces=FACES)
    assert not animation.sample(0.5)[1].any()


def test_out_is_written_or_refused() -> None:
    animation = random_animation(7)
    times = np.linspace(0, 1, 9)
    want = animation.sample(times)
    out = (np.empty((9, 5, 3), np.float32), np.empty((9, 5, 3), np.float32))
    got = animation.sample(times, out)
    assert got[0] is out[0] and got[1] is out[1]
    assert all(np.array_equal(a, b) for a, b in zip(got, want, strict=True))
    with pytest.raises(TypeError, match="tuple"):
        animation.sample(times, out[0])  # type: ignore[arg-type]
    refused = [
        (out[0], out[0]),
        (out[0][:8], out[1]),
        (out[0], out[1].astype(np.float64)),
        (out[0], want[0].T),
    ]
    for pair in refused:
        with pytest.raises(ValueError, match=r"out\[[01]\]"):
            animation.sample(times, pair)
    with pytest.raises(ValueError, match="read-only"):
        animation.sample(animation.times, (animation.frames, out[1][:7]))


def test_smooth_normals_are_made_per_frame() -> None:
    """Against the model of each frame alone; vertices that separate later keep their own normals."""
    frames = random_frames(8)
    frames[:, 4] = frames[:, 1]  # together in all frames: one normal
    animation = VertexAnimation.every_frame(frames, 10, faces=FACES)
    for number, frame in enumerate(frames):
        alone = VertexAnimation.every_frame(frame[None], 10, faces=FACES)
        np.testing.assert_allclose(animation.normals[number], alone.model.mesh.normals, atol=1e-6)
    apart = frames.copy()
    apart[0, 4] += 1
    parted = VertexAnimation.every_frame(apart, 10, faces=FACES)
    assert not np.allclose(parted.normals[1, 4], parted.normals[1, 1])


def test_points_without_faces_have_no_normals() -> None:
    animation = VertexAnimation.every_frame(random_frames(9), 10)
    assert not animation.normals.any()
    assert len(animation.model.mesh.faces) == 0


def test_arrays_are_copied_and_stay_read_only() -> None:
    frames = random_frames(10)
    animation = VertexAnimation.every_frame(frames, 10, faces=FACES)
    frames[:] = 0
    assert animation.frames.any()
    for array in (animation.frames, animation.normals, animation.times):
        assert not array.flags.writeable
    again = pickle.loads(pickle.dumps(animation))
    assert np.array_equal(again.frames, animation.frames)
    assert not again.frames.flags.writeable
    assert np.array_equal(copy.deepcopy(animation).sample(0.33)[1], animation.sample(0.33)[1])
    assert "7 frames of 5 vertices" in repr(animation)


def test_threads_get_the_same() -> None:
    animation = VertexAnimation.every_frame(random_frames(11, 20, 5000), 10)
    times = np.linspace(0, 3, 50)
    want, got = animation.sample(times)[0], []
    threads = [threading.Thread(target=lambda: got.append(animation.sample(times)[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 4
    assert all(np.array_equal(one, want) for one in got)


def every(**changes: Any) -> Callable[[], VertexAnimation]:
    arguments = {"frames": random_frames(0), "fps": 10, "faces": FACES} | changes
    return lambda: VertexAnimation.every_frame(**arguments)


def keyed(times: Any) -> Callable[[], VertexAnimation]:
    return lambda: VertexAnimation.keyed(times, random_frames(0)[:2], faces=FACES)


def with_nan() -> Any:
    frames = random_frames(0)
    frames[3, 2, 1] = np.nan
    return frames


VERTEX_FAULTS = [
    (every(frames=np.zeros((0, 5, 3))), "expected at least one frame"),
    (every(frames=np.zeros((2, 0, 3))), "at least one vertex"),
    (every(frames=np.zeros((5, 3))), r"shape \(5, 3\); expected \(N, V, 3\)"),
    (every(frames=with_nan()), "frames holds a number that is not finite, in frame 3"),
    (every(frames=1e300 * np.ones((2, 5, 3))), "not finite, in frame 0"),
    (every(fps=-1), "fps is -1; expected a positive"),
    (every(fps=0), "fps is 0"),
    (every(fps=np.nan), "fps is nan"),
    (
        every(normals=np.zeros((7, 4, 3))),
        r"normals has shape \(7, 4, 3\); expected that of frames, \(7, 5, 3\)",
    ),
    (every(normals=with_nan()), "normals holds"),
    (every(faces=None, model=skinpy.character()), "frames has 5 vertices; the model has"),
    (every(model=skinpy.character()), "not both"),
    (every(faces=[[0, 1, 5]]), "faces holds 5"),
    (every(uvs=np.zeros((4, 2))), "uvs has shape"),
    (every(interpolation="cubic"), "interpolation is 'cubic'"),
    (keyed([0.0]), r"times has shape \(1,\); expected \(2,\), one per frame"),
    (keyed([0.0, 0.0]), "increasing"),
    (keyed([0.5, 0.2]), "increasing"),
    (keyed([-0.5, 0.2]), "not negative"),
    (keyed([0.0, np.inf]), "finite"),
    (lambda: random_animation(0).to_keyed(-1), "max_error is -1"),
    (lambda: random_animation(0).to_keyed(math.nan), "max_error is nan"),
    (lambda: VertexAnimation.load_series([], 25), "paths is empty"),
    (lambda: bake_vertices(skinpy.character(), "walk", -3), "fps is -3"),
    (lambda: bake_vertices(skinpy.character(), random_animation(0), 30), "another model"),
]


@pytest.mark.parametrize(
    ("call", "words"), VERTEX_FAULTS, ids=lambda value: value if type(value) is str else ""
)
def test_faults_say_what_was_wanted(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


# ---- key frames ----------------------------------------------------------------------------------------


def fewest_keys(animation: VertexAnimation, bound: float) -> int:
    """Try every pair of frames: the shortest path from the first frame to the last."""
    times, frames = animation.times, animation.frames.astype(np.float64)
    keys = np.full(len(times), len(times) + 1)
    keys[0] = 1
    for i in range(len(times)):
        for j in range(i + 1, len(times)):
            share = ((times[i + 1 : j] - times[i]) / (times[j] - times[i]))[:, None, None]
            away = frames[i] + share * (frames[j] - frames[i]) - frames[i + 1 : j]
            if np.linalg.norm(away, axis=-1).max(initial=0.0) <= bound * (1 + 1e-6):
                keys[j] = min(keys[j], keys[i] + 1)
    return int(keys[-1])


def test_key_frames_keep_to_the_bound() -> None:
    model = skinpy.character()
    for name in model.clips.names:
        some = bake_vertices(model, name, 30).frames[:, ::40]
        full = VertexAnimation.every_frame(some, 30)
        size = float(np.ptp(full.frames.reshape(-1, 3), axis=0).max())
        for share in (1e-3, 5e-3, 2e-2):
            thin = full.to_keyed(share * size)
            # What plays is measured, from outside: every vertex of every frame of the source.
            away = thin.sample(full.times, loop="clamp")[0].astype(np.float64) - full.frames
            distance = np.linalg.norm(away, axis=-1)
            assert distance.max() <= share * size
            report = thin.report
            assert report is not None and thin.kind == "keyed" and thin.model is full.model
            assert report.max_error == pytest.approx(distance.max(), rel=1e-9)
            assert report.rms_error == pytest.approx(np.sqrt((distance**2).mean()), rel=1e-9)
            assert (report.keys, report.source_frames) == (len(thin), len(full))
            assert report.saving == pytest.approx(1 - thin.nbytes / full.nbytes)
            assert thin.duration == full.duration
            fewest = fewest_keys(full, share * size)
            assert fewest <= len(thin) <= 1.05 * fewest + 1
    assert "keys for" in str(report)


def test_key_frames_of_straight_motion_are_its_ends() -> None:
    start, way = random_frames(12)[:2]
    frames = start + np.linspace(0, 1, 200)[:, None, None] * way
    thin = VertexAnimation.every_frame(frames, 60, faces=FACES).to_keyed(1e-5)
    assert len(thin) == 2
    assert thin.report is not None and thin.report.saving > 0.98


def test_no_error_allowed_keeps_what_lines_do_not_give() -> None:
    full = VertexAnimation.every_frame(random_frames(13), 10, faces=FACES)
    thin = full.to_keyed(0.0)
    assert np.array_equal(thin.sample(full.times)[0], full.frames)
    assert np.array_equal(full.to_keyed(1e9).times, full.times[[0, -1]])


# ---- baking --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fps", [7, 30])
def test_baking_is_deforming(fps: float) -> None:
    for model in (skinpy.character(), skinpy.crane()):
        for clip in model.clips:
            baked = bake_vertices(model, clip, fps)
            assert baked.model is model and baked.name == clip.name and baked.kind == "vertex"
            assert baked.duration == clip.duration
            assert np.array_equal(baked.times[:-1], np.arange(len(baked) - 1) / fps)
            for number, time in enumerate(baked.times):
                positions, normals = model.deform(model.pose(clip, time, loop="clamp"))
                assert np.array_equal(baked.frames[number], positions)
                assert np.array_equal(baked.normals[number], normals)


def test_baking_takes_names_numbers_and_vertex_animations() -> None:
    model = skinpy.character()
    first, named = bake_vertices(model, 0, 12), bake_vertices(model, model.clips[0].name, 12, name="other")
    assert np.array_equal(first.frames, named.frames)
    assert named.name == "other"
    again = bake_vertices(model, first.to_keyed(0.01), 12)
    np.testing.assert_allclose(again.frames, first.frames, atol=0.01)
    with pytest.raises(KeyError, match="unknown clip"):
        bake_vertices(model, "wlak", 12)
    with pytest.raises(IndexError, match="clip is 9; the model has clips 0 to 2"):
        bake_vertices(model, 9, 12)
    with pytest.raises(TypeError, match="clip is of type UVAnimation"):
        bake_vertices(model, UVAnimation(), 12)  # type: ignore[arg-type]


def scaled(scale: float, seconds: float = 1.0) -> skinpy.Model:
    """A triangle on one joint, which a clip scales up from 1."""
    clip = skinpy.Clip.from_arrays(
        "grow", times=[0, seconds], joints=["root"], scale=[[[1.0] * 3], [[scale] * 3]]
    )
    return skinpy.Model.from_arrays(
        ["root"],
        [-1],
        [np.eye(4)],
        positions=[[0, 0, 0], [2, 0, 0], [0, 2, 0]],
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1.0]] * 3,
        clips=[clip],
    )


def test_frames_that_are_not_finite_are_neither_baked_nor_thinned() -> None:
    model = scaled(3e38)
    with pytest.raises(ValueError, match=r"clip 'grow' overflows at 0\.6 s: vertex"):
        bake_vertices(model, 0, 10)
    with pytest.raises(ValueError, match="clip 'grow' overflows"):
        skinpy.storage.compare(model)
    frames = random_frames(1)
    broken = frames.astype(np.float32)
    broken[2, 1, 0] = np.inf
    source = VertexAnimation.every_frame(frames, 10, name="wave")
    spoilt = VertexAnimation(
        "vertex", source.times, broken, source.normals, source.model, "wave", 10, "linear"
    )
    with pytest.raises(ValueError, match="frames of 'wave' hold a number that is not finite, in frame 2"):
        spoilt.to_keyed(0.1)


@pytest.mark.parametrize("bound", [0.0, 1e-3, 1e30])
def test_choosing_keys_ends_for_frames_of_any_size(bound: float) -> None:
    frames = np.where(np.random.default_rng(3).random((9, 4, 3)) < 0.5, -3e38, 3e38)
    full = VertexAnimation.every_frame(frames, 10)
    thin = full.to_keyed(bound)
    assert thin.report is not None and thin.report.max_error <= bound
    assert np.array_equal(thin.frames[[0, -1]], full.frames[[0, -1]])


def test_more_frames_than_memory_holds_are_refused() -> None:
    model = scaled(2.0, 1e6)
    assert len(bake_vertices(model, 0, 0.01)) == 10001
    tracemalloc.start()
    try:
        with pytest.raises(
            ValueError, match=r"fps is 100, which is 1e\+08 frames of 3 vertices; expected a lower"
        ):
            bake_vertices(model, 0, 100)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


# ---- files ---------------------------------------------------------------------------------------------


def write_series(folder: Path, frames: Any, faces: Any = FACES, start: int = 8) -> list[Path]:
    """Write one .obj per frame; sorted by letters, their names would be in another order than by number."""
    paths = []
    for number, frame in enumerate(frames):
        lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in frame]
        lines += [f"vt {0.1 * i:.9g} {0.2 * i:.9g}" for i in range(len(frame))]
        lines += ["f " + " ".join(f"{i + 1}/{i + 1}" for i in face) for face in faces]
        paths.append(folder / f"jump_{start + number}.obj")
        paths[-1].write_text("\n".join(lines) + "\n")
    return paths


def test_a_series_of_obj_files(tmp_path: Path) -> None:
    frames = random_frames(14)
    paths = write_series(tmp_path, frames)
    (tmp_path / "jump.obj").write_text("no part of it")
    (tmp_path / "jump_x9.obj").write_text("nor this")
    animation = VertexAnimation.load(paths[3])
    assert (animation.name, animation.kind, len(animation)) == ("jump", "vertex", 7)
    assert animation.times[1] == 1 / 25
    # Joined again: as many vertices as the files have, in the order of the faces.
    order = list(dict.fromkeys(np.ravel(FACES)))
    np.testing.assert_allclose(animation.frames, frames[:, order], atol=1e-6)
    assert np.array_equal(animation.model.mesh.faces, [[order.index(i) for i in face] for face in FACES])
    assert animation.model.mesh.uvs is not None
    same = VertexAnimation.load_series(paths, 12, name="n")
    assert np.array_equal(same.frames, animation.frames)
    assert (same.name, same.duration) == ("n", 0.5)
    assert VertexAnimation.load(str(paths[0]), fps=50, name="m").duration == 6 / 50


def test_vertices_that_part_later_are_kept_apart(tmp_path: Path) -> None:
    """Two triangles on one edge in the first frame; in the second each has its own."""
    joint = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]], np.float32)
    apart = joint + np.repeat(np.array([[0, 0, 0], [0, 0, 2]], np.float32), 3, axis=0)
    animation = VertexAnimation.load_series(
        write_series(tmp_path, [joint, apart], [[0, 1, 2], [3, 4, 5]]), 25
    )
    np.testing.assert_allclose(animation.frames, [joint, apart])


def test_frames_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    frames = random_frames(15)[:3]
    paths = write_series(tmp_path, frames)
    write_series(tmp_path, frames[2:], FACES[:2], start=10)
    with pytest.raises(skinpy.LoadError, match=r"jump_10\.obj has 6 face corners instead of 9"):
        VertexAnimation.load_series(paths, 25)
    with pytest.raises(skinpy.LoadError, match="no number"):
        VertexAnimation.load(tmp_path / "jump.obj")
    with pytest.raises(FileNotFoundError):
        VertexAnimation.load(tmp_path / "jump_99.obj")
    (tmp_path / "jump_010.obj").write_bytes(paths[2].read_bytes())
    with pytest.raises(skinpy.LoadError, match="same number"):
        VertexAnimation.load(paths[0])


def test_polygons_that_turn_concave_keep_their_corners(tmp_path: Path) -> None:
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    bent = square.copy()
    bent[1] = [0.4, 0.6, 0]  # alone, this one is cut along the other diagonal
    animation = VertexAnimation.load_series(write_series(tmp_path, [square, bent], [[0, 1, 2, 3]]), 25)
    np.testing.assert_allclose(animation.frames, [square, bent])
    assert len(animation.model.mesh.faces) == 2


def test_md2_with_every_frame() -> None:
    path = data_file("models", "faerie.md2")
    with np.load(data_file("goldens", "faerie_md2.npz")) as golden:
        stored, corners, size = golden["frames"].astype(np.float64), golden["tri"], float(golden["size"])
    animation = VertexAnimation.load(path)
    assert (len(animation), animation.name, animation.duration) == (198, "faerie", 19.7)
    # The golden is in the file's space (Z up) and winds the other way.
    root = animation.model.skeleton.rest_global[0, :3, :3].astype(np.float64)
    faces = animation.model.mesh.faces[:, ::-1]
    np.testing.assert_allclose(animation.frames[:, faces], (stored @ root.T)[:, corners], atol=1e-5 * size)
    played = animation.sample(animation.times)[0]
    np.testing.assert_allclose(played[:, faces], (stored @ root.T)[:, corners], atol=1e-5 * size)
    np.testing.assert_allclose(np.linalg.norm(animation.normals, axis=-1), 1.0, atol=1e-6)
    assert not animation.model.report.lost
    halfway = (stored[3] + stored[4]) / 2
    got = animation.sample(0.35)[0][faces]
    np.testing.assert_allclose(got, (halfway @ root.T)[corners], atol=1e-5 * size)


def test_md2_frames_one_by_one() -> None:
    path = data_file("models", "faerie.md2")
    last = skinpy.load(path, frame=197)
    assert not last.report.lost
    assert not np.array_equal(skinpy.load(path, frame=0).bounds(), last.bounds())
    with pytest.raises(skinpy.LoadError):
        skinpy.load(path, frame=198)
    with pytest.raises(ValueError, match="frame is -1"):
        skinpy.load(path, frame=-1)


@pytest.mark.parametrize("data", [b"", b"IDP2", b"glTF" + bytes(64), b"IDP2" + bytes(36) + b"\xff" * 28])
def test_files_that_are_no_md2(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "broken.md2"
    path.write_bytes(data)
    with pytest.raises(skinpy.LoadError, match=r"broken\.md2"):
        VertexAnimation.load(path)


# ---- how much files may take ---------------------------------------------------------------------------


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.md2")
    (tmp_path / "folder.md2").mkdir()
    for name in ("fifo.md2", "folder.md2"):
        with pytest.raises(skinpy.LoadError, match=rf"{name}: this is not a regular file"):
            VertexAnimation.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        VertexAnimation.load(tmp_path / "nothing.md2")


def test_frames_that_a_file_of_holes_states_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "holes.md2"
    path.write_bytes(b"IDP2" + struct.pack("<16i", *[8] * 9, 6_000_000, *[8] * 6))
    os.truncate(path, 255 << 20)
    tracemalloc.start()
    try:
        with pytest.raises(skinpy.LoadError):
            VertexAnimation.load(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    os.truncate(path, 1 << 30)
    with pytest.raises(skinpy.LimitExceeded, match=rf"file_bytes is {256 << 20}; allow it with .*={1 << 30}"):
        VertexAnimation.load(path)


def amplified_md2(frames: int, triangles: int) -> bytes:
    """Frames of 52 bytes each, whose triangles all have the same three vertices."""
    file = bytearray(md2(frames))
    (triangle,) = struct.unpack_from("<i", file, 52)  # where the one triangle stands
    head, one, tail = file[:triangle], file[triangle : triangle + 12], file[triangle + 12 :]
    more = 12 * (triangles - 1)
    struct.pack_into("<i", head, 32, triangles)
    for place in (56, 60, 64):  # frames, commands, end
        struct.pack_into("<i", head, place, struct.unpack_from("<i", head, place)[0] + more)
    return bytes(head + one * triangles + tail)


@pytest.fixture(params=["md2", "series"])
def frames_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Three frames with nine face corners each: 27 in all, which take 648 bytes."""
    if request.param == "series":
        return write_series(tmp_path, random_frames(16)[:3])[0]
    path = tmp_path / "a.md2"
    path.write_bytes(amplified_md2(3, 3))
    return path


def test_all_frames_together_are_limited(frames_file: Path) -> None:
    usual = VertexAnimation.load(frames_file)
    enough = VertexAnimation.load(frames_file, limits=skinpy.Limits(vertices=27))
    assert np.array_equal(usual.frames, enough.frames) and len(usual) == 3
    words = r"the 3 frames have 27 vertices .*limit is 26; .*skinpy\.Limits\(vertices=27\)"
    with pytest.raises(skinpy.LimitExceeded, match=words) as caught:
        VertexAnimation.load(frames_file, limits=skinpy.Limits(vertices=26))
    assert str(caught.value).startswith(f"{frames_file}: ")


def test_memory_is_that_of_all_frames(frames_file: Path) -> None:
    """In this process, as a new process needs more memory to start."""
    options: dict[str, Any] = {"isolate": False, "allow_formats": ["md2", "obj"]}
    assert len(VertexAnimation.load(frames_file, limits=skinpy.Limits(memory=648), **options)) == 3
    with pytest.raises(skinpy.LimitExceeded, match=r"take 648 bytes, .*skinpy\.Limits\(memory=648\)"):
        VertexAnimation.load(frames_file, limits=skinpy.Limits(memory=647), **options)


@pytest.mark.parametrize("isolate", [True, False])
def test_seconds_are_for_all_frames(
    frames_file: Path, isolate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock advances one second with each frame."""
    now, left = [100.0], []

    def slow(path: Path, *, limits: skinpy.Limits, **options: Any) -> skinpy.Model:
        left.append(limits.seconds)
        model = skinpy.load(path, **options)
        now[0] += 1.0
        return model

    monkeypatch.setattr(series, "load", slow)
    monkeypatch.setattr(series.time, "monotonic", lambda: now[0])
    options: dict[str, Any] = {"isolate": isolate, "allow_formats": ["md2", "obj"]}
    assert len(VertexAnimation.load(frames_file, limits=skinpy.Limits(seconds=2.5), **options)) == 3
    assert left == [2.5, 1.5, 0.5]
    words = r"2 of 3 frames were read in the 2 seconds .*skinpy\.Limits\(seconds"
    with pytest.raises(skinpy.LimitExceeded, match=words):
        VertexAnimation.load(frames_file, limits=skinpy.Limits(seconds=2), **options)
    assert left[3:] == [2.0, 1.0]


def test_a_frame_that_takes_the_rest_of_the_time(frames_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second import exceeds its own limit; the error is about all frames."""
    now = [100.0]

    def slow(path: Path, **options: Any) -> skinpy.Model:
        now[0] += 1.0
        if now[0] > 101.0:
            raise skinpy.LimitExceeded("its import takes more than the 0.5 seconds that it may")
        return skinpy.load(path, **options)

    monkeypatch.setattr(series, "load", slow)
    monkeypatch.setattr(series.time, "monotonic", lambda: now[0])
    with pytest.raises(skinpy.LimitExceeded, match=r"1 of 3 frames were read in the 1\.5 seconds"):
        VertexAnimation.load(frames_file, limits=skinpy.Limits(seconds=1.5))


def test_small_files_of_many_frames_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "many.md2"
    path.write_bytes(amplified_md2(4700, 10_000))
    tracemalloc.start()
    try:
        with pytest.raises(skinpy.LimitExceeded, match=r"4700 frames have 141000000 vertices"):
            VertexAnimation.load(path)
        assert tracemalloc.get_traced_memory()[1] < 50e6  # all frames: 3.4e9
    finally:
        tracemalloc.stop()


def test_joining_takes_no_copies_of_all_frames(tmp_path: Path) -> None:
    path = tmp_path / "some.md2"
    path.write_bytes(amplified_md2(40, 10_000))
    stored = 40 * 30_000 * 24
    tracemalloc.start()
    try:
        animation = VertexAnimation.load(path)
        assert tracemalloc.get_traced_memory()[1] < 1.6 * stored
    finally:
        tracemalloc.stop()
    assert animation.frames.shape == (40, 3, 3) and animation.frames.flags.c_contiguous


def test_frames_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    """float32 holds the numbers themselves, but not their product with the scale of the root."""
    paths = [tmp_path / f"a_{number}.skn" for number in range(2)]
    for path, scale in zip(paths, (1.0, 1e30), strict=True):
        skinpy.Model.from_arrays(
            ["root"],
            [-1],
            [np.diag([scale, scale, scale, 1.0])],
            positions=1e10 * np.eye(3),
            faces=[[0, 1, 2]],
            joints=np.zeros((3, 1), np.int64),
            weights=np.ones((3, 1)),
            inverse_bind=[np.eye(4)],
        ).save(path)
    with pytest.raises(skinpy.LoadError, match=r"a_1\.skn has a vertex that is not finite"):
        VertexAnimation.load(paths[0])


def test_every_load_is_told_what_keeps_it_in(frames_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, Any]] = []

    def load(path: Path, **options: Any) -> skinpy.Model:
        told.append(options)
        return skinpy.load(path, **options)

    monkeypatch.setattr(series, "load", load)
    formats = iter(["md2", "obj"])  # which can be asked once
    limits = skinpy.Limits(keys=3)
    VertexAnimation.load(frames_file, isolate=False, limits=limits, allow_formats=formats, external="none")
    wanted = {"isolate": False, "allow_formats": ("md2", "obj"), "external": "none"}
    assert len(told) == 3
    for one in told:
        assert {name: one[name] for name in wanted} == wanted and one["limits"].keys == 3
    suffix = frames_file.suffix[1:]
    for refuse in (
        lambda **options: VertexAnimation.load(frames_file, **options),
        lambda **options: VertexAnimation.load_series([frames_file], 25, **options),
    ):
        with pytest.raises(skinpy.FormatRefused, match=rf"\.{suffix} is not among"):
            refuse(allow_formats=["glb"])


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"isolate": "no"}, TypeError, "isolate is 'no'"),
        ({"limits": 30}, TypeError, "limits is 30; expected a skinpy.Limits"),
        ({"allow_formats": "obj"}, TypeError, "allow_formats is 'obj'"),
        ({"allow_formats": [3]}, TypeError, "allow_formats holds 3"),
        ({"external": "all"}, ValueError, "external is 'all'"),
    ],
)
def test_what_keeps_imports_in_is_checked_everywhere(
    options: dict[str, Any], error: type[Exception], words: str, tmp_path: Path
) -> None:
    """By all functions that may load a file, even if there is nothing to load."""
    model = skinpy.crane()
    for call in (
        lambda: VertexAnimation.load(tmp_path / "none.md2", **options),
        lambda: VertexAnimation.load_series([tmp_path / "none.obj"], 25, **options),
        lambda: model.add_clips(model.clips[0], **options),
        lambda: skinpy.check(model, **options),
    ):
        with pytest.raises(error, match=words):
            call()


def test_clips_and_checks_of_paths_are_kept_in(tmp_path: Path) -> None:
    model = skinpy.crane()
    path = tmp_path / "crane.glb"
    model.save(path)
    for call in (
        lambda **options: model.add_clips([path], **options),
        lambda **options: skinpy.check(path, **options),
    ):
        with pytest.raises(skinpy.LimitExceeded, match=r"nodes, the limit is 1"):
            call(limits=skinpy.Limits(nodes=1))
        with pytest.raises(skinpy.FormatRefused, match=r"\.glb"):
            call(allow_formats=["obj"])
    for isolate in (True, False):
        more = model.add_clips(path, isolate=isolate, allow_formats=iter(["glb"]), external="none")
        assert len(more.clips) == 2 * len(model.clips)
        assert skinpy.check(path, isolate=isolate, allow_formats=iter(["glb"])) == skinpy.check(path)
