"""Clip.plot, Clip.to_dict, Clip.to_records and `skinpy curves`."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import mixed_channels

import skinpy
from skinpy.__main__ import main
from skinpy.clips.plot import curve

CHARACTER = Path(skinpy.__file__).parent / "data" / "character.glb"


@pytest.fixture(scope="module")
def mixed() -> skinpy.Model:
    """Step, linear and cubic keys on each of T, R and S."""
    return skinpy.load(mixed_channels().glb(), format="glb")


@pytest.fixture
def plots() -> None:
    pytest.importorskip("matplotlib", reason="plots need matplotlib: install the extra 'plot' or 'dev'")


def face() -> skinpy.Clip:
    """A clip of one morph target, which no model has."""
    return skinpy.Clip.from_arrays("face", times=[0, 2], targets=["smile"], weights=[[0.0], [1.0]])


# ---- curves ----------------------------------------------------------------------------------------------


def test_curves_are_what_is_played(mixed: skinpy.Model) -> None:
    clip = mixed.clips[0]
    assert {one.interpolation for one in clip.channels} == {"step", "linear", "cubic"}
    for channel in clip.channels:
        times, values, keys = curve(channel, clip.duration)
        assert times[0] == 0.0 and times[-1] == clip.duration and (np.diff(times) > 0).all()
        # A step's last moment before its key counts as the key in the pose, so it is looked at below.
        at = np.abs(times[:, None] - channel.times).min(axis=1) > 1e-6
        played = getattr(mixed.pose(clip, times[at], loop="clamp"), channel.path)[:, channel.joint]
        found = values[at]
        if channel.path == "rotation":  # both signs are the same rotation
            found = found * np.sign((found * played).sum(axis=1, keepdims=True))
            found = found / np.linalg.norm(found, axis=1, keepdims=True)
        np.testing.assert_allclose(found, played, atol=1e-6)  # float32 against float64
        assert keys.shape == channel.values.shape
        assert at.sum() > 900


def test_steps_stand_upright(mixed: skinpy.Model) -> None:
    clip = mixed.clips[0]
    channel = next(one for one in clip.channels if one.interpolation == "step")
    times, values, _ = curve(channel, clip.duration)
    for number, time in enumerate(channel.times[1:], 1):
        place = int(np.searchsorted(times, time))
        assert times[place] == time and time - times[place - 1] < 1e-12
        np.testing.assert_array_equal(values[place], channel.values[number])
        np.testing.assert_array_equal(values[place - 1], channel.values[number - 1])


def test_keys_lie_on_their_curve_and_signs_do_not_jump() -> None:
    # Turns about z by 0, 80, 160 and 240 degrees; the second and the last are stored with the other sign.
    half = np.radians([0.0, 40.0, 80.0, 120.0])
    turns = np.stack([0 * half, 0 * half, np.sin(half), np.cos(half)], axis=1)
    stored = turns * np.array([1, -1, 1, -1])[:, None]
    clip = skinpy.Clip.from_arrays("turn", times=[0, 1, 2, 3], joints=["a"], rotation=stored[:, None])
    times, values, keys = curve(clip.channels[0], 3.0)
    np.testing.assert_allclose(keys, turns, atol=1e-7)
    angle = np.radians(40.0) * times
    np.testing.assert_allclose(values[:, 2], np.sin(angle), atol=1e-6)
    np.testing.assert_allclose(values[:, 3], np.cos(angle), atol=1e-6)


def test_near_keys_are_resolved() -> None:
    clip = skinpy.Clip.from_arrays(
        "peak", times=[0, 5, 5.0001, 10], joints=["a"], translation=np.arange(12.0).reshape(4, 1, 3)
    )
    times, _, _ = curve(clip.channels[0], clip.duration)
    assert ((times > 5) & (times < 5.0001)).sum() == 7


# ---- pictures --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plots")
def test_plot_has_a_row_per_channel_and_its_keys(tmp_path: Path) -> None:
    clip = skinpy.character().clips["run"]
    figure = clip.plot("Hips", tmp_path / "hips.png")
    assert (tmp_path / "hips.png").read_bytes()[:4] == b"\x89PNG"
    assert [axes.get_title(loc="right") for axes in figure.axes] == ["29 linear keys"] * 2
    channels = [channel for channel in clip.channels if channel.name == "Hips"]
    for axes, channel in zip(figure.axes, channels, strict=True):
        lines = axes.get_lines()
        assert len(lines) == 2 * channel.values.shape[1]  # curve and keys of each number
        for column in range(channel.values.shape[1]):
            dots = lines[2 * column + 1]
            np.testing.assert_array_equal(dots.get_xdata(), channel.times)
            np.testing.assert_allclose(np.abs(dots.get_ydata()), np.abs(channel.values[:, column]))
            assert dots.get_marker() == "o" and len(lines[2 * column].get_xdata()) >= 1000


@pytest.mark.usefixtures("plots")
def test_plot_takes_numbers_targets_and_clips_without_a_model() -> None:
    clip = skinpy.character().clips["run"]
    hips = skinpy.character().skeleton.index("Hips")
    assert "joint 'Hips'" in clip.plot(np.int32(hips)).get_suptitle()
    for target in ("smile", 0):
        (axes,) = face().plot(target=target).axes
        np.testing.assert_array_equal(axes.get_lines()[1].get_ydata(), [0, 1])
    still = skinpy.Clip.from_arrays("pose", times=[0.0], joints=["$a"], translation=[[[1, 2, 3]]])
    figure = still.plot("$a")
    assert figure.axes[0].get_title(loc="right") == "1 linear key"
    figure.draw_without_rendering()  # "$" alone would begin a formula


@pytest.mark.usefixtures("plots")
def test_a_plot_shows_itself_in_a_notebook() -> None:
    png = face().plot(target=0)._repr_png_()
    assert png.startswith(b"\x89PNG") and len(png) > 1000


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"joint": "Hipps"}, KeyError, "did you mean 'Hips'"),
        ({"joint": 99}, IndexError, "joint is 99; expected 0 to 25"),
        ({"joint": -1}, IndexError, "joint is -1"),
        ({"joint": 1.0}, TypeError, "joint is 1.0"),
        ({}, TypeError, "exactly one of joint and target"),
        ({"joint": 0, "target": 0}, TypeError, "exactly one of joint and target"),
        ({"target": 0}, IndexError, "the model has no targets"),
        ({"joint": "ROOT"}, ValueError, "moves joint 'ROOT'; the clip moves 'Hips', .* and 12 more"),
        ({"joint": "Hips", "path": "x.docx"}, ValueError, "path ends in '.docx'"),
    ],
)
@pytest.mark.usefixtures("plots")
def test_bad_arguments(arguments: Any, error: type[Exception], words: str, tmp_path: Path) -> None:
    if "path" in arguments:
        arguments = {**arguments, "path": tmp_path / arguments["path"]}
    with pytest.raises(error, match=words):
        skinpy.character().clips["run"].plot(**arguments)
    assert not list(tmp_path.iterdir())


def test_plot_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"skinpy-anim\[plot\]"):
        face().plot(target=0)


@pytest.mark.usefixtures("plots")
def test_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "hips.svg"
    for joint in ("Hips", "2"):
        assert main(["curves", str(CHARACTER), "--clip", "run", "--joint", joint, "-o", str(picture)]) == 0
        assert "<svg" in picture.read_text()
        picture.unlink()
    assert main(["curves", str(CHARACTER), "--joint", "Hipps", "-o", str(picture)]) == 1
    assert "did you mean 'Hips'" in capsys.readouterr().err
    assert main(["curves", str(CHARACTER), "--target", "smile", "-o", str(picture)]) == 1
    assert not picture.exists()
    with pytest.raises(SystemExit) as stopped:
        main(["curves", str(CHARACTER), "-o", str(picture)])
    assert stopped.value.code == 2


# ---- plain data --------------------------------------------------------------------------------------------


def test_to_dict_holds_all_of_it(mixed: skinpy.Model) -> None:
    clip = mixed.clips[0].add_event(0.5, "step")
    plain = json.loads(json.dumps(clip.to_dict()))
    assert plain["name"] == "mixed" and plain["duration"] == clip.duration
    assert plain["events"] == [{"time": 0.5, "name": "step"}]
    for one, channel in zip(plain["channels"], clip.channels, strict=True):
        assert (one["joint"], one["path"], one["name"]) == (channel.joint, channel.path, channel.name)
        assert one["times"] == channel.times.tolist() and one["values"] == channel.values.tolist()
        assert (one["in_tangents"] is None) == (channel.interpolation != "cubic")
        if channel.out_tangents is not None:
            assert one["out_tangents"] == channel.out_tangents.tolist()


def test_to_records_has_a_row_per_key(mixed: skinpy.Model) -> None:
    clip = mixed.clips[0]
    records = clip.to_records()
    assert len(records) == sum(len(channel.times) for channel in clip.channels)
    for number, channel in enumerate(clip.channels):
        rows = records[records["channel"] == number]
        assert set(rows["name"]) == {channel.name} and set(rows["interpolation"]) == {channel.interpolation}
        assert (rows["joint"] == channel.joint).all() and (rows["target"] == -1).all()
        np.testing.assert_array_equal(rows["key"], np.arange(len(channel.times)))
        np.testing.assert_array_equal(rows["time"], channel.times)
        for prefix, values in (("", channel.values), ("out_", channel.out_tangents)):
            for column, letter in enumerate("xyzw"):
                there = values is not None and column < values.shape[1]
                wanted = values[:, column] if values is not None and there else np.full(len(rows), np.nan)
                np.testing.assert_array_equal(rows[prefix + letter], wanted)


def test_to_records_of_weights_and_of_nothing() -> None:
    rows = face().to_records()
    assert rows["target"].tolist() == [0, 0] and rows["joint"].tolist() == [-1, -1]
    assert rows["x"].tolist() == [0, 1] and np.isnan(rows["y"]).all()
    empty = skinpy.Clip.from_arrays("still", times=[0, 1], translation=np.zeros((2, 0, 3))).to_records()
    assert empty.shape == (0,) and empty.dtype.names is not None
    assert empty.dtype.names[:7] == (
        *("channel", "joint", "target", "material"),
        *("name", "path", "interpolation"),
    )
    numbers = [f"{side}{letter}" for side in ("", "in_", "out_") for letter in "xyzw"]
    assert empty.dtype.names[7:] == ("key", "time", *numbers)
