"""Bytes and errors of stored forms: the table against counts by hand, clips with fewer keys and bits.

Errors are measured here against the float64 twin (tests/twin.py), at other times than compress does.
"""

import copy
import json
import math
import pickle
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
from conftest import data_file
from twin import Motion, Rig, Track

import skinpy
from skinpy import storage
from skinpy.__main__ import main
from skinpy.clip import Channel
from skinpy.clips.edit import derived
from skinpy.clips.evaluate import Evaluator
from skinpy.kinds import Animation
from skinpy.storage import reach, skin_error

CHARACTER = Path(skinpy.__file__).parent / "data" / "character.glb"
NOISE = 3e-6  # of the size: what float32 loses by itself
FILES = ["Fox.glb", "RiggedFigure.glb", "BoxAnimated.glb", "interpolation_test.gltf", "huesitos.fbx"]


def load_file(name: str) -> Any:
    """Load a shared test file; one of them lacks a texture, which does not matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        return skinpy.load(data_file("models", name))


# ---- clips by seed ------------------------------------------------------------------------------------


def smooth(rng: np.random.Generator, keys: int, width: int, size: float) -> np.ndarray:
    """(keys,width): sums of a few slow waves."""
    t = np.linspace(0.0, 1.0, keys)[:, None, None]
    speed, phase = rng.uniform(0.5, 3.0, (2, 3, width)) * np.array([2 * np.pi, 1.0])[:, None, None]
    return size * np.sin(t * speed + phase).mean(axis=1)


def channel_of(rng: np.random.Generator, model: Any, joint: int, path: str, how: str) -> Channel:
    """Keys of a joint near its rest pose, on a time line of its own or a common one."""
    rest = getattr(model.skeleton, path)[joint].astype(np.float64)
    keys = 1 if how == "single" else int(rng.integers(2, 60))
    times = np.arange(keys) / 30.0 if rng.random() < 0.6 else np.sort(rng.choice(200, keys, False)) / 100.0
    wave = smooth(rng, keys, len(rest), {"translation": 0.1, "rotation": 0.4, "scale": 0.1}[path])
    if how == "constant":
        wave[:] = wave[0]
    values = rest + wave
    if path == "rotation":
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        values *= np.where(rng.random(keys) < 0.2, -1, 1)[:, None] if how == "linear" else 1
    tangents: tuple[Any, Any] = (None, None)
    if how == "cubic":
        tangents = tuple((rng.normal(size=values.shape) * 0.3).astype(np.float32) for _ in range(2))
    interpolation = how if how in ("step", "linear", "cubic") else "linear"
    name = model.skeleton.names[joint]
    return Channel(joint, None, name, path, interpolation, times, values.astype(np.float32), *tangents)


def random_clip(seed: int) -> Any:
    """A clip of the bundled character or crane with channels of all kinds."""
    rng = np.random.default_rng(seed)
    model = skinpy.crane() if seed % 4 == 0 else skinpy.character()
    channels = []
    for joint in range(len(model.skeleton)):
        for path in ("translation", "rotation", "scale"):
            if rng.random() < (0.8 if path == "rotation" else 0.3):
                how = rng.choice(["single", "constant", "step", "linear", "linear", "cubic"])
                channels.append(channel_of(rng, model, joint, path, str(how)))
    duration = max(float(channel.times[-1]) for channel in channels) + 0.05
    return derived(model.clips[0], channels, duration)


def size_of(clip: Any) -> float:
    """The longest side of the box around the vertices at the start."""
    points = clip.model.deform(clip.sample(0.0), normals=False)[0]
    return float(np.ptp(points, axis=0).max())


def between(clip: Any, count: int = 157) -> np.ndarray:
    """Times all over the clip, on keys and between them, without those where a step changes."""
    times = [np.linspace(0.0, clip.duration, count)]
    steps = [np.zeros(0)]
    for channel in clip.channels:
        times.append(channel.times + 1e-3)
        if channel.interpolation == "step":
            steps.append(channel.times)
    found = np.unique(np.clip(np.concatenate(times), 0.0, clip.duration))
    found = found[:: max(1, len(found) // 400)]
    jumps = np.unique(np.concatenate(steps))
    near = np.abs(found[:, None] - jumps).min(axis=1, initial=1.0) < 2e-6
    return found[~near]


def astray(a: Any, b: Any, times: np.ndarray) -> float:
    """Largest distance of a vertex between two clips of one model, or of a joint where there is no mesh."""
    one, two = (clip.sample(times, loop="clamp") for clip in (a, b))
    if not len(a.model.mesh.positions):
        return float(np.linalg.norm((one.globals() - two.globals())[..., :3, 3], axis=-1).max())
    first, second = (a.model.deform(pose, normals=False)[0].astype(float) for pose in (one, two))
    return float(np.linalg.norm(first - second, axis=-1).max())


# ---- compress -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [1e-2, 1e-4])
@pytest.mark.parametrize("seed", range(6))
def test_compressed_clips_keep_within_the_bound(seed: int, share: float) -> None:
    clip = random_clip(seed)
    bound = share * size_of(clip)
    thin = clip.compress(bound)
    assert thin.model is clip.model and thin.duration == clip.duration and thin.name == clip.name
    assert thin.error is not None and thin.error <= bound
    assert thin.nbytes <= clip.nbytes
    # Looked at elsewhere than compress did: a curve between two looks may be a little further off.
    assert astray(clip, thin, between(clip)) <= bound * 1.05 + NOISE * size_of(clip)


def test_compressed_clips_are_smaller() -> None:
    savings = []
    for seed in range(4):
        clip = random_clip(seed)
        sizes = [clip.compress(share * size_of(clip)).nbytes for share in (1e-2, 1e-3, 1e-4)]
        assert sizes == sorted(sizes)
        savings.append(clip.nbytes / sizes[0])
    assert min(savings) > 1.1 and np.median(savings) > 1.3, savings


@pytest.mark.parametrize("name", FILES)
def test_compressed_clips_of_files(name: str) -> None:
    model = load_file(name)
    for clip in list(model.clips)[:4]:
        bound = 1e-3 * size_of(clip)
        thin = clip.compress(bound)
        assert thin.nbytes <= clip.nbytes
        assert astray(clip, thin, between(clip)) <= bound * 1.05 + NOISE * size_of(clip)


def test_the_default_bound_is_a_share_of_the_size() -> None:
    clip = skinpy.character().clips["wave"]
    assert clip.compress().nbytes == clip.compress(1e-4 * size_of(clip)).nbytes
    assert clip.error is None


def test_constant_channels_keep_one_key_and_those_at_rest_none() -> None:
    model = skinpy.character()
    rest = model.skeleton.rotation
    turned = np.array([0.6, 0.0, 0.0, 0.8])
    keys = np.repeat(rest[None], 50, axis=0)
    keys[:, 3] = turned
    clip = model.add_clips(
        skinpy.Clip.from_arrays("still", fps=30, joints=model.skeleton.names, rotation=keys)
    ).clips["still"]
    thin = clip.compress(1e-5)
    (channel,) = thin.channels
    assert channel.joint == 3 and channel.times.tolist() == [0.0]
    assert np.allclose(channel.values, turned, atol=1e-7)
    assert thin.nbytes == 8 + 16
    assert thin.duration == clip.duration


def test_keys_on_a_straight_line_go() -> None:
    model = skinpy.character()
    times = np.arange(31) / 30
    keys = np.zeros((31, 1, 3))
    keys[:, 0, 0] = np.where(times <= 0.5, times, 1 - times)  # out and back
    clip = model.add_clips(
        skinpy.Clip.from_arrays("slide", times=times, joints=[model.skeleton.names[0]], translation=keys)
    ).clips["slide"]
    (channel,) = clip.compress(1e-5).channels
    assert channel.times.tolist() == [0.0, 0.5, 1.0]


def test_step_channels_stay_steps() -> None:
    model = skinpy.character()
    keys = np.repeat([0.0, 0.1, 0.1, 0.0], 10)[:, None, None] * np.ones((1, 1, 3))
    clip = model.add_clips(
        skinpy.Clip.from_arrays(
            "jump", fps=10, joints=[model.skeleton.names[0]], translation=keys, interpolation="step"
        )
    ).clips["jump"]
    (channel,) = clip.compress(1e-6).channels
    assert channel.interpolation == "step"
    assert channel.times.tolist() == [0.0, 1.0, 3.0]


def test_a_joint_with_shear_keeps_its_channels() -> None:
    rest = np.tile(np.eye(4), (2, 1, 1))
    rest[1, 0, 1] = 0.5
    square = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    model = skinpy.Model.from_arrays(
        ["a", "b"], [-1, 0], rest, positions=square, faces=[[0, 1, 2]], joints=[[1]] * 3, weights=[[1]] * 3
    )
    turn = np.repeat(model.skeleton.rotation[None], 9, axis=0)
    angles = np.linspace(0.0, 0.8, 9)
    turn[:, 0, 2], turn[:, 0, 3] = np.sin(angles), np.cos(angles)
    with pytest.warns(skinpy.SkinpyWarning):
        model = model.add_clips(skinpy.Clip.from_arrays("c", fps=10, joints=["a", "b"], rotation=turn))
    clip = model.clips["c"]
    thin = clip.compress(1e-3)
    assert [(one.name, len(one.times)) for one in thin.channels] == [("a", 2), ("b", 9)]


def test_morph_weights_are_measured_too() -> None:
    model = skinpy.load(data_file("models", "AnimatedMorphCube.gltf"))
    clip = model.clips[0]
    bound = 1e-3 * size_of(clip)
    thin = clip.compress(bound)
    assert thin.nbytes < clip.nbytes
    assert astray(clip, thin, between(clip)) <= bound * 1.05


def test_a_model_without_a_mesh_is_measured_at_its_joints() -> None:
    model = skinpy.load(data_file("models", "sinusoidal.bvh"))
    clip = model.clips[0]
    thin = clip.compress(1e-3)
    assert thin.nbytes < clip.nbytes / 2
    assert astray(clip, thin, np.linspace(0, clip.duration, 301)) <= 1.05e-3


def test_no_error_is_no_change() -> None:
    clip = random_clip(3)
    thin = clip.compress(0)
    assert thin.error == 0.0
    assert astray(clip, thin, between(clip)) == 0.0


def test_compressed_clips_are_clips() -> None:
    clip = skinpy.character().clips["wave"].compress(1e-3)
    assert isinstance(clip, Animation)
    again = pickle.loads(pickle.dumps(clip))
    assert again.error == clip.error and again.nbytes == clip.nbytes
    assert copy.copy(clip).nbytes == clip.nbytes
    picture = clip.model.pose(clip, 0.5)
    assert np.array_equal(picture.rotation, clip.sample(0.5).rotation)
    more = clip.model.add_clips(clip)
    assert len(more.clips) == len(clip.model.clips) + 1


@pytest.mark.parametrize(
    ("wrong", "error"),
    [(-1.0, ValueError), (math.nan, ValueError), (math.inf, ValueError), ([1.0], TypeError)],
)
def test_wrong_bounds(wrong: Any, error: type[Exception]) -> None:
    clip = skinpy.character().clips[0]
    for job in (clip.compress, lambda bound: storage.quantize(clip, bound)):
        with pytest.raises(error, match="max_error"):
            job(wrong)


def test_clips_of_no_model_are_refused() -> None:
    free = skinpy.Clip.from_arrays("free", fps=1, translation=np.zeros((2, 1, 3)))
    for job in (free.compress, lambda: storage.quantize(free)):
        with pytest.raises(ValueError, match="add_clips"):
            job()
    with pytest.raises(ValueError, match="add_clips"):
        storage.compare(skinpy.character(), free)
    with pytest.raises(ValueError, match="another model"):
        storage.compare(skinpy.character(), skinpy.crane().clips[0])


# ---- trim and resample --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_trimmed_clips_show_the_same(seed: int) -> None:
    clip = random_clip(seed)
    start, end = 0.213 * clip.duration, 0.871 * clip.duration
    part = clip.trim(start, end)
    assert part.duration == pytest.approx(end - start)
    times = between(clip)
    times = times[(times > start + 1e-5) & (times < end - 1e-5)]
    one = clip.model.deform(clip.sample(times), normals=False)[0]
    two = clip.model.deform(part.sample(times - start, loop="clamp"), normals=False)[0]
    assert np.abs(one - two).max() <= 2 * NOISE * size_of(clip)


def test_trim_without_arguments_is_the_whole() -> None:
    clip = skinpy.character().clips["run"]
    whole = clip.trim()
    assert whole.duration == clip.duration
    assert astray(clip, whole, between(clip)) <= NOISE * size_of(clip)
    free = skinpy.Clip.from_arrays("free", fps=1, translation=np.arange(9.0).reshape(3, 1, 3))
    assert free.trim(0.5, 1.5).channels[0].values[:, 0].tolist() == [1.5, 3.0, 4.5]


@pytest.mark.parametrize("span", [(-0.1, 0.5), (0.5, 0.5), (0.6, 0.5), (0.0, 1e6), (math.nan, 1.0)])
def test_trim_of_what_is_not_there(span: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="start"):
        skinpy.character().clips[0].trim(*span)


@pytest.mark.parametrize("seed", range(4))
def test_resampled_clips_meet_the_source_at_the_frames(seed: int) -> None:
    clip = random_clip(seed)
    again = clip.resample(24)
    assert again.duration == clip.duration
    times = np.arange(int(clip.duration * 24) + 1) / 24
    steps = [np.zeros(0), *(one.times for one in clip.channels if one.interpolation == "step")]
    times = times[np.abs(times[:, None] - np.concatenate(steps)).min(axis=1, initial=1.0) > 1e-4]
    assert astray(clip, again, times) <= 2 * NOISE * size_of(clip)
    assert {channel.interpolation for channel in again.channels} <= {"step", "linear"}
    assert {len(channel.times) for channel in again.channels} <= {1, math.ceil(clip.duration * 24 - 1e-4) + 1}


@pytest.mark.parametrize("fps", [0, -1, math.nan, math.inf])
def test_wrong_rates(fps: float) -> None:
    with pytest.raises(ValueError, match="fps"):
        skinpy.character().clips[0].resample(fps)
    with pytest.raises(ValueError, match="fps"):
        storage.compare(skinpy.character(), fps=fps)


def test_more_frames_than_any_clip_needs_are_refused_before_memory_is_taken() -> None:
    clip = skinpy.character().clips[0]
    moved = sum(len(channel.times) > 1 for channel in clip.channels)
    with pytest.raises(ValueError, match=r"fps is 1e\+09, .*expected a lower fps"):
        clip.resample(1e9)
    with pytest.raises(ValueError, match=f"keys to each of {moved} channels; expected a lower fps"):
        clip.resample(9e6 / clip.duration)
    with pytest.raises(ValueError, match=r"fps is 1e\+09"):
        skinpy.character().bake_vertices(0, 1e9)


# ---- fewer bits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [1e-2, 1e-4])
@pytest.mark.parametrize("seed", range(4))
def test_quantized_clips_keep_within_the_bound(seed: int, share: float) -> None:
    clip = random_clip(seed)
    bound = share * size_of(clip)
    coded = storage.quantize(clip, bound)
    assert coded.nbytes == len(coded.data)
    assert coded.error <= bound
    played = coded.clip()
    assert played.model is clip.model and played.duration == clip.duration
    assert astray(clip, played, between(clip)) <= bound * 1.05 + NOISE * size_of(clip)
    assert coded.nbytes < clip.compress(bound).nbytes


def test_quantizing_says_where_bits_do_not_suffice() -> None:
    clip = skinpy.character().clips["wave"]
    coded = storage.quantize(clip, 0.0)
    assert 0.0 < coded.error < 1e-4 * size_of(clip)
    assert f"{coded.error:.3g}" in repr(coded)


# ---- the table ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table() -> storage.Comparison:
    return storage.compare(skinpy.character(), "wave", fps=20, max_error=0.01)


def test_the_table_counts_right(table: storage.Comparison) -> None:
    model = skinpy.character()
    mesh, skin, skeleton, clip = model.mesh, model.skin, model.skeleton, model.clips["wave"]
    frames = math.ceil(clip.duration * 20 - 1e-4) + 1
    assert mesh.uvs is not None and mesh.colors is None and mesh.tangents is None and not model.targets
    look = mesh.faces.size * 4 + mesh.uvs.size * 4
    joints, slots = len(skeleton), len(skin)
    posed = look + mesh.positions.size * 4 * 2 + mesh.slots.size * 2 + mesh.weights.size * 4
    posed += joints * 4 * (1 + 3 + 4 + 3 + 16) + slots * (4 + 64)
    full, keyed, rigid, skinned, thin, coded = table.rows
    assert [row.kind for row in table.rows] == ["vertex", "keyed", "rigid", "skinned", "skinned", "skinned"]
    assert full.geometry == keyed.geometry == look
    assert skinned.geometry == thin.geometry == coded.geometry == posed
    assert full.motion == frames * (8 + 24 * len(mesh.positions))
    assert keyed.motion % (8 + 24 * len(mesh.positions)) == 0 and keyed.motion < full.motion
    lines = {channel.times.tobytes(): channel.times for channel in clip.channels}
    values = sum(channel.values.size * 4 for channel in clip.channels)
    assert rigid.motion == skinned.motion == clip.nbytes == values + sum(8 * len(t) for t in lines.values())
    assert thin.motion == clip.compress(0.01).nbytes
    assert coded.motion == len(storage.quantize(clip, 0.01).data)
    assert full.motion > keyed.motion > skinned.motion > thin.motion > coded.motion
    for row in table.rows:
        assert row.per_second == pytest.approx(row.motion / clip.duration)
        assert row.max_percent == pytest.approx(100 * row.max_error / table.size)
        assert row.rms_percent == pytest.approx(100 * row.rms_error / table.size)
        assert 0 < row.rms_error < row.max_error
    assert full.per_frame == keyed.per_frame == 12
    assert skinned.per_frame == thin.per_frame == 48 * slots
    assert table.size == pytest.approx(size_of(clip))


def test_the_errors_of_the_table_are_the_twins(table: storage.Comparison) -> None:
    model = skinpy.character()
    rig, clip = Rig.of(model), model.clips["wave"]
    full = model.bake_vertices("wave", 20)
    times = np.append(np.arange(math.ceil(clip.duration * 80 - 1e-4)) / 80, clip.duration)
    wanted = np.stack([rig.deform("wave", time, loop="clamp")[0] for time in times])
    shown = {
        "full frames": full.sample(times, loop="clamp")[0],
        "key frames": full.to_keyed(0.01).sample(times, loop="clamp")[0],
        "skinned, fewer keys": model.deform(clip.compress(0.01).sample(times, loop="clamp"))[0],
    }
    for row in table.rows:
        if row.name in shown:
            away = np.linalg.norm(shown[row.name] - wanted, axis=-1)
            assert row.max_error == pytest.approx(away.max(), rel=1e-5)
            assert row.rms_error == pytest.approx(np.sqrt((away**2).mean()), rel=1e-5)
    by_name = {row.name: row for row in table.rows}
    assert by_name["skinned, keys as imported"].max_percent < 1e-4
    assert by_name["skinned, fewer keys"].max_error <= 0.01
    assert by_name["skinned, quantized (stored size)"].max_error <= 0.01
    assert by_name["rigid parts"].max_percent > 0.1


def test_the_table_shows_itself(table: storage.Comparison) -> None:
    title, heads, *lines = repr(table).splitlines()
    assert "'wave'" in title and "motion B" in heads
    assert len(lines) == 6 and len({len(line) for line in lines}) == 1
    markup = table._repr_html_()
    assert markup.count("<tr>") == 7 and "skinned, fewer keys" in markup
    facts = json.loads(json.dumps(table.to_dict()))
    assert facts["clip"] == "wave" and facts["rows"][0]["motion"] == table.rows[0].motion


def test_a_rigid_model_has_no_skinned_rows() -> None:
    table = storage.compare(skinpy.crane(), fps=5)
    assert [row.kind for row in table.rows] == ["vertex", "keyed", "rigid", "rigid", "rigid"]


@pytest.mark.parametrize("name", ["AnimatedMorphCube.gltf", "interpolation_test.gltf", "BoxAnimated.glb"])
def test_tables_of_files(name: str) -> None:
    model = load_file(name)
    table = storage.compare(model, 0, fps=30)
    imported = next(row for row in table.rows if row.name.endswith("keys as imported"))
    assert imported.max_percent < 1e-4
    for row in table.rows[-2:]:
        assert row.max_error <= table.allowed * 1.05 + NOISE * table.size, row


def test_what_has_no_table() -> None:
    model = skinpy.character()
    with pytest.raises(KeyError, match="walk"):
        storage.compare(model, "wlak")
    with pytest.raises(IndexError):
        storage.compare(model, 99)
    with pytest.raises(TypeError, match="clip"):
        storage.compare(model, 1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_error"):
        storage.compare(model, max_error=-1)
    still = builders.triangle()
    with pytest.raises(ValueError, match="no clip"):
        storage.compare(still)
    bare = skinpy.Model.from_arrays(
        ["a"],
        [-1],
        np.eye(4)[None],
        positions=np.zeros((0, 3)),
        faces=np.zeros((0, 3), int),
        joints=np.zeros((0, 1), int),
        weights=np.zeros((0, 1)),
    )
    with pytest.raises(ValueError, match="no mesh"):
        storage.compare(bare)


# ---- the float64 evaluator ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_evaluator_is_the_twin(seed: int) -> None:
    clip = random_clip(seed)
    rig = Rig.of(clip.model)

    def wide(array: Any) -> Any:
        return None if array is None else np.array(array, float)

    tracks = [
        Track(
            c.joint, c.path, c.interpolation, *map(wide, (c.times, c.values, c.in_tangents, c.out_tangents))
        )
        for c in clip.channels
    ]
    rig.motions = [Motion("it", clip.duration, clip.ticks_per_second, tracks)]
    times = between(clip, 11)[::7]
    wanted = np.stack([rig.deform(0, time, loop="clamp")[0] for time in times])
    assert np.abs(Evaluator(clip.model).deform(clip, times) - wanted).max() < 1e-11


# ---- plots and the command line -----------------------------------------------------------------------


def test_plot(table: storage.Comparison, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots need matplotlib: install the extra 'plot' or 'dev'")
    table.plot(tmp_path / "table.png")
    assert (tmp_path / "table.png").read_bytes()[:4] == b"\x89PNG"
    figure = table.plot()
    assert len(figure.axes) == 2
    with pytest.raises(ValueError, match="ends in"):
        table.plot(tmp_path / "table.docx")
    assert [path.name for path in tmp_path.iterdir()] == ["table.png"]


def test_plot_without_matplotlib(table: storage.Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"skinpy-anim\[plot\]"):
        table.plot()


def test_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["compare", str(CHARACTER), "--clip", "run", "--fps", "10"]) == 0
    assert "skinned, fewer keys" in capsys.readouterr().out
    assert main(["compare", str(CHARACTER), "--clip", "1", "--fps", "10", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["clip"] == "run" and len(facts["rows"]) == 6
    assert main(["compare", str(CHARACTER), "--clip", "nobody"]) == 1
    assert "nobody" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["compare", str(CHARACTER), "--fps", "0"])
    assert "fps" in capsys.readouterr().err


def test_command_line_plot(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots need matplotlib: install the extra 'plot' or 'dev'")
    assert main(["compare", str(CHARACTER), "--fps", "5", "--plot", str(tmp_path / "x.svg")]) == 0
    assert "<svg" in (tmp_path / "x.svg").read_text()


def test_names_are_shown_as_text() -> None:
    """The name of a clip is not interpreted as markup."""
    source = skinpy.character().clips[0]
    renamed = skinpy.Clip(source._block, source._index, source.model, "<b>")
    assert "<b>" not in storage.compare(source.model, renamed, fps=2)._repr_html_()


@pytest.mark.parametrize("share", [3e-2, 1e-4])
def test_quantized_clips_of_the_bundled_models(share: float) -> None:
    for model in (skinpy.character(), skinpy.crane(), skinpy.chair()):
        for clip in model.clips:
            coded = storage.quantize(clip, share * size_of(clip))
            assert astray(clip, coded.clip(), between(clip)) <= 1.05 * share * size_of(clip)


def test_a_model_of_no_finite_size_needs_a_bound() -> None:
    """Numbers near the largest of float32 can be loaded, but the points that they move are at infinity."""
    file = builders.Gltf()
    joint = file.node("joint", None)
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], np.float32)
    mesh = file.primitive(points, [0, 1, 2], joints=np.zeros((3, 4), int), weights=np.eye(4)[[0, 0, 0]])
    held = file.node("mesh", None)
    file.nodes[held]["mesh"] = file.mesh(mesh)
    file.nodes[held]["skin"] = file.skin([joint], np.diag([3e38, 3e38, 3e38, 1.0])[None])
    keys = file.accessor([0.0, 1.0])
    file.animation("a", file.channel(joint, "scale", keys, np.full((2, 3), 1e30)))
    model = skinpy.load(file.glb(), format="glb")
    for shrunk in (model.clips[0].compress, lambda: storage.quantize(model.clips[0])):
        with pytest.raises(ValueError, match=r"clip 'a' overflows at 0 s: .*'joint'"):
            shrunk()


def growing(scales: Sequence[float]) -> skinpy.Model:
    """A joint at a distance of 2 from its parent, which grows until points are at infinity in float32."""
    file = builders.Gltf()
    root = file.node("root", None)
    file.node("tip", root, t=(2, 0, 0))
    keys = file.accessor(np.arange(len(scales), dtype=np.float32))
    file.animation("a", file.channel(root, "scale", keys, np.repeat(np.array(scales)[:, None], 3, axis=1)))
    return skinpy.load(file.glb(), format="glb")


def test_points_at_infinity_count_where_they_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = growing([1, 2, 3, 4]).clips[0]
    measured = skin_error.SkinError(clip)
    true_points = skin_error.points_at

    def apart(change: Callable[[Any], None], source: Callable[[Any], None] = lambda points: None) -> float:
        """The error when the points of another clip and those of the source are changed."""
        points, others = true_points(clip, measured.times), true_points(clip, measured.times)
        change(points)
        source(others)
        return skin_error.farthest_apart(points, others) ** 0.5

    def put(value: float) -> Callable[[Any], None]:
        return lambda points: points.__setitem__((3, 1, 0), value)

    assert apart(lambda points: None) == 0.0
    for value in (np.inf, -np.inf, np.nan):
        assert apart(put(value)) == np.inf and apart(put(1.0), put(value)) == np.inf
        assert apart(put(value), put(value)) == 0.0
    assert apart(put(np.inf), put(-np.inf)) == np.inf
    assert apart(put(3e38), put(-3e38)) == pytest.approx(6e38)


def test_compression_keeps_what_goes_to_infinity_and_what_does_not() -> None:
    """The distance to a point at infinity is unknown, so no key may be dropped before it is measured."""
    clip = growing([*np.linspace(1, 2, 30), 3e38, 3e38, *np.linspace(2, 1, 30)]).clips[0]
    thin = clip.compress(0.01)
    assert astray(clip, thin, np.linspace(0, 29, 59)) <= 0.0105
    assert np.isinf(skin_error.points_at(thin, np.array([30.5]))).any()


@pytest.mark.parametrize("width", [1, 3, 1000])
def test_how_far_a_deep_tree_reaches_is_estimated_from_above(width: int) -> None:
    """Against the distances of all pairs, for chains, bushes and trees of any shape."""
    rng = np.random.default_rng(width)
    for joints in (1, 2, 40, 150):
        parents = np.array([-1, *(int(rng.integers(max(0, j - width), j)) for j in range(1, joints))])
        origins, around = rng.normal(size=(3, joints, 3)).cumsum(axis=1), rng.random(joints)
        exact = reach._farthest(parents, origins, around)
        ratio = reach._farthest_along(parents, origins, around) / exact
        assert ratio.min() > 1 - 1e-12 and ratio.max() < 1.13


def test_a_deep_chain_keeps_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The 250 joints have more pairs of a joint and an ancestor than are measured one by one."""
    model = skinpy.load(builders.chain(250).glb(), format="glb")
    rng = np.random.default_rng(5)
    channels = []
    for joint in range(250):
        turn = np.append(smooth(rng, 40, 3, 0.02), np.ones((40, 1)), axis=1)
        times = np.linspace(0, 2, 40)
        channels.append(
            Channel(joint, None, "", "rotation", "linear", times, turn.astype(np.float32), None, None)
        )
    clip = derived(model.clips[0], channels, 2.0)
    bound = 1e-2 * size_of(clip)
    thin = clip.compress(bound)
    assert thin.nbytes < clip.nbytes
    assert astray(clip, thin, between(clip)) <= bound * 1.05
    monkeypatch.setattr(reach, "_MAX_PAIRS", 10**9)
    exact = clip.compress(bound)
    assert exact.nbytes < clip.nbytes and thin.nbytes <= exact.nbytes * 1.1


@pytest.mark.parametrize(
    "times", [[0, 1e-9, 1], [0, 1e-45, 1], [1e-30, 2e-30], [0, 5e-324], [0, 1, 1 + 1e-9], [0, 1e300, 1.1e300]]
)
def test_keys_that_are_nearer_than_a_grid_can_tell_stay_apart(times: list[float]) -> None:
    moves = np.arange(3.0 * len(times)).reshape(-1, 1, 3)
    clip = skinpy.Clip.from_arrays("near", times=times, joints=["Hips"], translation=moves)
    clip = skinpy.character().add_clips(clip).clips["near"]
    assert storage.quantize(clip).clip().channels[0].times.tolist() == times


@pytest.mark.parametrize("last", [5, 10, 20, 23, 40, 43])
def test_times_on_a_grid_do_not_pass_the_end(last: int) -> None:
    """For these numbers of keys, float64 has last * (end / last) > end at 24 keys a second."""
    moves = np.random.default_rng(last).random((last + 1, 1, 3))
    times = np.arange(last + 1) / 24
    assert last * (times[-1] / last) > times[-1]
    clip = skinpy.Clip.from_arrays("grid", times=times, joints=["Hips"], translation=moves)
    again = storage.quantize(skinpy.character().add_clips(clip).clips["grid"]).clip()
    assert again.duration == times[-1] == again.channels[0].times[-1]
