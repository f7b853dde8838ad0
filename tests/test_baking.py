"""Baked textures: their texels, the palettes of instances, and the error against the clip."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest

import skinpy
from skinpy.kinds.baking import INSTANCE, BakedTexture


def load(file: builders.Gltf, **options: Any) -> skinpy.Model:
    return skinpy.load(file.glb(), format="glb", **options)


def waving() -> skinpy.Model:
    """A skinned tube with one clip."""
    return load(builders.chain(6, step=0.3))


def reach(model: skinpy.Model) -> float:
    return float(max(np.abs(model.bounds(clip)).max() for clip in (None, *model.clips)))


# ---- what is refused ---------------------------------------------------------------------------------

BAD: list[tuple[str, Callable[[skinpy.Model], Any], type[Exception], str]] = [
    ("clip name", lambda m: m.bake_texture("curll"), KeyError, "curl"),
    ("clip number", lambda m: m.bake_texture([0, 7]), IndexError, "7"),
    ("no clips", lambda m: m.bake_texture([]), ValueError, "clips is empty"),
    ("clip of another", lambda m: m.bake_texture(waving().clips[0]), ValueError, "add_clips"),
    ("fps", lambda m: m.bake_texture(fps=0), ValueError, "fps is 0"),
    ("fps nan", lambda m: m.bake_texture(fps=float("nan")), ValueError, "fps"),
    ("dtype", lambda m: m.bake_texture(dtype="float64"), ValueError, "'float16'"),
    ("limit", lambda m: m.bake_texture(limit=0), ValueError, "limit is 0"),
    ("limit text", lambda m: m.bake_texture(limit="big"), TypeError, "limit is 'big'"),
    ("too wide", lambda m: m.bake_texture(limit=8), ValueError, "18 texels wide.*is 8"),
    ("too many", lambda m: m.bake_texture(fps=100, limit=20), ValueError, "20 x 20 texels.*holds 20"),
    ("other clip", lambda m: m.bake_texture().palette("walk", 0.0), KeyError, "not baked.*'curl'"),
    ("other number", lambda m: m.bake_texture().palette(1, 0.0), IndexError, "0 to 0"),
    ("time", lambda m: m.bake_texture().palette(0, np.nan), ValueError, "time"),
    ("loop", lambda m: m.bake_texture().palette(0, 0.0, loop="round"), ValueError, "loop"),
    ("index", lambda m: m.bake_texture().instances([0, 1], 0.0), ValueError, "holds 1"),
    ("index below", lambda m: m.bake_texture().instances([0, -1], 0.0), ValueError, "holds -1"),
    ("index type", lambda m: m.bake_texture().instances([0.5], 0.0), TypeError, "float64"),
    ("shapes", lambda m: m.bake_texture().instances([0, 0], [0.0] * 3), ValueError, "expected one shape"),
    ("out", lambda m: m.bake_texture().instances(0, 0.0, out=[1]), TypeError, "out"),
    (
        "out dtype",
        lambda m: m.bake_texture().instances([0], 0.0, out=np.zeros(1, np.float32)),
        ValueError,
        "INSTANCE",
    ),
]


@pytest.mark.parametrize(("case", "call", "error", "match"), BAD, ids=[b[0] for b in BAD])
def test_bad_arguments(
    case: str, call: Callable[[skinpy.Model], Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        call(waving())


def test_a_model_without_a_mesh_is_refused() -> None:
    file = builders.chain(3, skinned=False)
    for node in file.nodes:
        node.pop("mesh", None)
    file.meshes.clear()
    with pytest.raises(ValueError, match="no mesh"):
        load(file).bake_texture()


def test_what_float16_cannot_hold_is_refused() -> None:
    model = load(builders.far_away(1e6))
    with pytest.raises(ValueError, match=r"float16 cannot hold \(at most 65504\)"):
        model.bake_texture(dtype="float16")
    assert np.isfinite(model.bake_texture().data).all()


# ---- what is in it -----------------------------------------------------------------------------------


def test_the_texture_is_laid_out_as_documented() -> None:
    model = skinpy.character()
    fps, slots = 60.0, len(model.skin)
    for limit, columns in ((16384, 1), (200, 2)):
        baked = model.bake_texture(["wave", "walk"], fps, limit=limit)
        assert baked.columns == columns
        height, width = baked.data.shape[:2]
        assert max(height, width) <= limit
        assert baked.columns == width // (3 * slots)
        n = 0
        for clip, name in zip(baked.clips, ("wave", "walk"), strict=True):
            duration = model.clips[name].duration
            times = [k / fps for k in range(1000) if k / fps < duration - 1e-5] + [duration]
            assert (clip.name, clip.row, clip.frames) == (name, n, len(times))
            assert (clip.duration, clip.fps) == (duration, fps)
            for t in times:
                column = n // height * 3 * slots
                texels = baked.data[n % height, column : column + 3 * slots]
                want = model.palette(name, t, affine=True, loop="clamp").reshape(-1, 4)
                assert np.abs(texels - want).max() <= 1e-6  # one ulp of the time may move a key
                n += 1


def test_a_texture_never_changes_and_says_what_it_is() -> None:
    baked = waving().bake_texture(fps=10)
    with pytest.raises(ValueError, match="read-only"):
        baked.data[0] = 0
    with pytest.raises(AttributeError):
        baked.slots = 3  # type: ignore[misc]
    assert baked.nbytes == baked.data.nbytes
    assert "'curl'" in repr(baked)
    copy = pickle.loads(pickle.dumps(baked))
    assert (copy.data == baked.data).all()
    assert not copy.data.flags.writeable
    assert copy.clips == baked.clips
    assert copy.error() == baked.error()
    half = baked.model.bake_texture(fps=10, dtype="float16")
    assert half.nbytes * 2 == baked.nbytes
    assert half.data.dtype == np.float16


def test_sixteen_bytes_say_where_an_instance_is() -> None:
    """By hand: the clip of 0.7 s at 10 Hz has 8 frames."""
    model = skinpy.character()
    baked = model.bake_texture(["walk", "run"], 10.0)
    assert [(clip.row, clip.frames) for clip in baked.clips] == [(0, 11), (11, 8)]
    assert INSTANCE.itemsize == 16
    duration = model.clips["run"].duration
    got = baked.instances([0, 1, 1, 1, 1], [0.25, 0.31, duration, 2 * duration, -0.1])
    assert got["row"].tolist() == [0, 11, 11, 11, 11]
    assert got["frames"].tolist() == [11, 8, 8, 8, 8]
    assert got["frame"].tolist()[:4] == [2, 3, 7, 0]  # the last is 6, or just below
    places = got["frame"] + got["share"]
    assert np.allclose(places, [2.5, 3.1, 7.0, 0.0, 6.0], atol=1e-5)
    held = baked.instances(1, [-5.0, 99.0, 1.0], loop="clamp")
    assert np.allclose(held["frame"] + held["share"], [0, 7, 7], atol=1e-5)
    out = np.zeros(3, INSTANCE)
    assert baked.instances(1, [-5.0, 99.0, 1.0], loop="clamp", out=out) is out
    assert (out == held).all()
    assert baked.instances(np.zeros((2, 1), int), np.zeros(3)).shape == (2, 3)


# ---- what comes out of it ------------------------------------------------------------------------------


def straight(model: skinpy.Model, clip: Any, t: float, fps: float) -> Any:
    """The line between the two frames around t, in float64, from the clip alone."""
    duration = model.clips[clip].duration
    k = int(np.floor(t * fps + 1e-9))
    start, end = k / fps, min((k + 1) / fps, duration)
    a, b = (model.palette(clip, x, affine=True, loop="clamp").astype(float) for x in (start, end))
    share = (t - start) / (end - start) if end > start else 0.0
    return a + share * (b - a)


@pytest.mark.parametrize("seed", range(4))
def test_a_palette_is_on_the_line_between_two_frames(seed: int) -> None:
    model = load(builders.random_model(seed))
    rng = np.random.default_rng(seed)
    for number, clip in enumerate(model.clips):
        baked = model.bake_texture(number, 24)
        times = rng.uniform(0, clip.duration, 5)
        got = baked.palette(0, times)
        for palette, t in zip(got, times, strict=True):
            # The clip may have keys so close together that a rounding of the time shows: 1e-6 of a second.
            near = [straight(model, number, float(t) + d, 24) for d in (-1e-6, 0.0, 1e-6) if t + d > 0]
            spread = np.ptp(near, axis=0).max()
            assert np.abs(palette - near[len(near) // 2]).max() <= spread + 4e-6 * max(1.0, reach(model))


def test_frames_themselves_are_exact() -> None:
    model = skinpy.character()
    baked = model.bake_texture(fps=30)
    for clip in baked.clips:
        want = model.palette(clip.name, clip.times, affine=True, loop="clamp")
        # The rounding of one subtraction and one addition in float32.
        assert np.abs(baked.palette(clip.name, clip.times, loop="clamp") - want).max() <= 3e-7


def test_half_precision_is_what_half_floats_hold() -> None:
    model = skinpy.character()
    full, half = (model.bake_texture(fps=15, dtype=d) for d in ("float32", "float16"))
    times = np.linspace(0, 0.69, 13)
    # 11 bits: half an ulp is 2^-12 of numbers below 1 and 2^-11 of those from 1 to 2.
    assert np.abs(full.palette("run", times) - half.palette("run", times)).max() <= 2**-11
    assert np.abs(full.data).max() < 2


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_error_is_the_largest_distance(dtype: Any) -> None:
    model = skinpy.character()
    baked = model.bake_texture(fps=20, dtype=dtype)
    rng = np.random.default_rng(5)
    errors = [baked.error(name) for name in model.clips.names]
    assert baked.error() == max(errors)
    for clip, error in zip(model.clips, errors, strict=True):
        times = rng.uniform(0, clip.duration, 200)
        exact = model.deform(model.palette(clip, times), normals=False)[0].astype(float)
        gap = np.linalg.norm(model.deform(baked.palette(clip, times), normals=False)[0] - exact, axis=-1)
        # Between frames and keys the error is an arch whose top, about halfway, is looked at.
        assert 0.5 * error <= gap.max() <= 1.02 * error


def test_twice_the_frames_are_a_quarter_of_the_error() -> None:
    """Chords of a smooth motion: a turn of a radius is off by r (1 - cos(angle / 2)) halfway."""
    keys = [(0, 0, np.sin(a / 2), np.cos(a / 2)) for a in np.linspace(0, 2, 11)]
    model = waving()
    joint = model.skeleton.names[int(model.skin.joints[0])]
    clip = skinpy.Clip.from_arrays("turn", fps=10, joints=[joint], rotation=np.array(keys)[:, None])
    model = model.add_clips(clip)
    positions = model.deform(model.palette("turn", 0.0), normals=False)[0]
    center = model.joint_positions("turn", 0.0)[model.skeleton.index(joint)]
    radius = np.linalg.norm((positions - center)[:, :2], axis=1).max()
    for fps in (10, 20, 40):
        want = radius * (1 - np.cos(1 / fps))  # 2 radians a second
        assert model.bake_texture("turn", fps).error() == pytest.approx(want, rel=0.02)


def test_a_clip_of_one_pose_is_one_frame() -> None:
    still = waving()
    arrays = still.add_clips(
        skinpy.Clip.from_arrays(
            "still", times=[0.0], joints=[still.skeleton.names[1]], rotation=[[[0, 0, 0.6, 0.8]]]
        )
    )
    one = arrays.bake_texture("still")
    assert one.clips[0].frames == 1
    assert (one.palette(0, [0.0, 3.0]) == arrays.palette("still", [0.0, 0.0], affine=True)).all()
    assert one.error() == 0


# ---- keeping ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_saved_and_loaded(tmp_path: Path, dtype: Any) -> None:
    model = skinpy.character()
    baked = model.bake_texture(["run", "wave"], 25, dtype=dtype, rotation="nlerp", limit=250)
    baked.save(tmp_path / "bake.npz")
    again = BakedTexture.load(tmp_path / "bake.npz", model)
    assert (again.data == baked.data).all()
    assert again.data.dtype == baked.data.dtype
    assert not again.data.flags.writeable
    assert again.clips == baked.clips
    assert (again.slots, again.rotation, again.columns) == (baked.slots, "nlerp", baked.columns)
    assert again.error("run") == baked.error("run")


def test_the_wrong_model_is_refused(tmp_path: Path) -> None:
    baked = skinpy.character().bake_texture("run", 10)
    baked.save(tmp_path / "bake.npz")
    with pytest.raises(ValueError, match="slots"):
        BakedTexture.load(tmp_path / "bake.npz", waving())
    other = skinpy.character().add_clips(
        skinpy.character().clips["run"].trim(0, 0.5), names=["run"], replace=True
    )
    with pytest.raises(ValueError, match=r"add_clips"):
        BakedTexture.load(tmp_path / "bake.npz", other)


def entries(path: Path) -> dict[str, Any]:
    with np.load(path) as archive:
        return {name: archive[name] for name in archive.files}


BROKEN: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    ("no data", lambda e: e.pop("data")),
    ("data of doubles", lambda e: e.update(data=e["data"].astype(float))),
    ("flat data", lambda e: e.update(data=e["data"][0])),
    ("not finite", lambda e: e.update(data=e["data"] * np.float32(np.nan))),
    ("slots", lambda e: e.update(slots=7)),
    ("no slots", lambda e: e.update(slots=0)),
    ("row", lambda e: e.update(row=e["row"] + 1)),
    ("frames", lambda e: e.update(frames=e["frames"] + 1)),
    ("frames beyond", lambda e: e.update(frames=e["frames"] + 2**40)),
    ("duration", lambda e: e.update(duration=e["duration"] * 1e300)),
    ("duration nan", lambda e: e.update(duration=e["duration"] * np.nan)),
    ("fps", lambda e: e.update(fps=e["fps"] * 0)),
    ("ticks", lambda e: e.update(ticks_per_second=e["ticks_per_second"] * -1)),
    ("no clips", lambda e: e.update({n: a[:0] for n, a in e.items() if a.ndim == 1})),
    ("one name", lambda e: e.update(name=e["name"][:0])),
    ("rotation", lambda e: e.update(rotation="spin")),
    ("objects", lambda e: e.update(name=np.array([{}], object))),
]


@pytest.mark.parametrize(("case", "spoil"), BROKEN, ids=[b[0] for b in BROKEN])
def test_broken_files_are_refused(case: str, spoil: Callable[[dict[str, Any]], Any], tmp_path: Path) -> None:
    model = waving()
    path = tmp_path / "bake.npz"
    model.bake_texture(fps=5).save(path)
    content = entries(path)
    spoil(content)
    np.savez(path, **content)
    with pytest.raises(skinpy.LoadError, match="no baked texture"):
        BakedTexture.load(path, model)


def test_other_files_are_refused(tmp_path: Path) -> None:
    model, path = waving(), tmp_path / "bake.npz"
    model.bake_texture(fps=5).save(path)
    whole = path.read_bytes()
    lone = io.BytesIO()
    np.save(lone, np.zeros(3))
    for data in (b"", b"PK\3\4", whole[: len(whole) // 2], whole[:-30], lone.getvalue()):
        path.write_bytes(data)
        with pytest.raises(skinpy.LoadError, match="no baked texture"):
            BakedTexture.load(path, model)
    assert zipfile.is_zipfile(io.BytesIO(whole))
    with pytest.raises(FileNotFoundError):
        BakedTexture.load(tmp_path / "none.npz", model)


def test_frames_without_end_are_refused_before_memory_is_taken() -> None:
    with pytest.raises(ValueError, match="limit"):
        skinpy.character().bake_texture(fps=1e12)


def test_more_frames_than_memory_holds_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"clips have \d+ frames of \d+ slots; expected fewer clips, or a lower fps"
    ):
        skinpy.character().bake_texture(fps=1e9, limit=10**12)
