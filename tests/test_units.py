"""add_clips of clips in another unit: a warning, and scale="auto", which brings them to the model's unit."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA, data_file

import skinpy
from skinpy import _block

NAMES = ["Hips", "Spine", "Head", "LeftFoot"]
LENGTHS = np.array([[0, 1.0, 0], [0, 0.2, 0], [0, 0.5, 0.1], [0.1, -0.9, 0]])


def rig(unit: float, meters: float | None, factors: Any = 1.0) -> skinpy.Model:
    """A figure whose lengths are in a unit, as a model that states another one, or none (None)."""
    rest = np.tile(np.eye(4), (4, 1, 1))
    rest[:, :3, 3] = LENGTHS * factors / unit
    empty: dict[str, Any] = {"positions": np.zeros((0, 3)), "faces": [], "weights": np.zeros((0, 1))}
    model = skinpy.Model.from_arrays(NAMES, [-1, 0, 1, 0], rest, joints=np.zeros((0, 1), int), **empty)
    if meters is None:
        return model
    sections = {name: _block.section(model._block, name).copy() for name in model._block.sections}
    sections["INFO"]["unit_meters"] = meters
    return skinpy.Model(_block.pack(sections, 1))


def walking(model: skinpy.Model, unit: float) -> skinpy.Clip:
    """A clip of the model whose hips travel 2 m."""
    path = np.linspace([0, 1, 0], [0, 1, 2], 5)[:, None] / unit
    go = skinpy.Clip.from_arrays("go", fps=2, joints=["Hips"], translation=path)
    return model.add_clips(go).clips["go"]


def quietly(model: skinpy.Model, source: Any, **options: Any) -> skinpy.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("error", skinpy.SkinpyWarning)
        return model.add_clips(source, **options)


def travel(model: skinpy.Model, clip: str = "go") -> float:
    start, end = model.joint_positions(clip, [0, 2.0], loop="clamp")[:, 0]
    return float(np.linalg.norm(end - start))


@pytest.mark.parametrize("stated", [(0.01, 1.0), (None, None), (0.01, None)], ids=str)
def test_a_clip_in_centimeters(stated: Any) -> None:
    """Lengths that are 100 times as long show it, whatever the files state."""
    source, model = rig(0.01, stated[0]), rig(1.0, stated[1])
    clip = walking(source, 0.01)
    words = (
        r"'go' is in another unit than the model.*: its translations are 100 times as long; .*scale='auto'"
    )
    with pytest.warns(skinpy.SkinpyWarning, match=words):
        assert travel(model.add_clips(clip)) == pytest.approx(200)
    scaled = quietly(model, clip, scale="auto")
    assert travel(scaled) == pytest.approx(2)
    assert travel(quietly(model, clip, scale=0.005)) == pytest.approx(1)
    assert scaled.clips["go"].channels[0].values[0] == pytest.approx([0, 1, 0])


def test_the_other_way_round_and_inches() -> None:
    clip = walking(rig(1.0, 1.0), 1.0)
    assert travel(quietly(rig(0.01, 0.01), clip, scale="auto")) == pytest.approx(200)
    inches = walking(rig(0.0254, 0.0254), 0.0254)
    assert travel(quietly(rig(0.01, 0.01), inches, scale="auto")) == pytest.approx(200)


def test_units_alone_are_no_reason() -> None:
    """A node that scales to meters: the lengths below it are the same, so nothing is to be multiplied."""
    clip = walking(rig(1.0, 0.01), 1.0)
    assert travel(quietly(rig(1.0, 1.0), clip)) == pytest.approx(2)
    assert travel(quietly(rig(1.0, 1.0), clip, scale="auto")) == pytest.approx(2)


def test_units_where_there_are_no_lengths() -> None:
    """Joints that all lie in their parents' origins, as a file with nothing but keys has them."""
    clip = walking(rig(0.01, 0.01, factors=0.0), 0.01)
    with pytest.warns(skinpy.SkinpyWarning, match=r"units of 0\.01 m and 1 m") as told:
        rig(1.0, 1.0).add_clips(clip)
    assert told[0].filename == __file__
    assert travel(quietly(rig(1.0, 1.0), clip, scale="auto")) == pytest.approx(2)


@pytest.mark.parametrize("size", [0.5, 0.8, 1.7])
def test_a_child_and_a_giant_are_no_units(size: float) -> None:
    clip = walking(rig(1.0, 1.0, factors=size), 1.0)
    assert travel(quietly(rig(1.0, 1.0), clip, scale="auto")) == pytest.approx(2)


def test_another_character_in_centimeters() -> None:
    """Other proportions: what the files state is the factor, or else the lengths are."""
    clip = walking(rig(0.01, 0.01, factors=[[1.0], [1.2], [1.3], [1.1]]), 0.01)
    assert travel(quietly(rig(1.0, 1.0), clip, scale="auto")) == pytest.approx(2)
    assert travel(quietly(rig(1.0, None), clip, scale="auto")) == pytest.approx(2 / 1.2, rel=0.2)


def test_rotations_alone_have_no_unit() -> None:
    nod = skinpy.Clip.from_arrays("nod", fps=1, joints=["Head"], rotation=[[[0, 0, 0, 1]], [[1, 0, 0, 1]]])
    clip = rig(0.01, 0.01).add_clips(nod).clips["nod"]
    quietly(rig(1.0, 1.0), clip)


def test_root_motion_and_cubic_keys_are_scaled(tmp_path: Path) -> None:
    model = rig(1.0, 1.0)
    clip = walking(rig(0.01, 0.01), 0.01).extract_root_motion("Hips")
    moved = quietly(model, clip, scale="auto").clips["go"].root_motion
    assert moved is not None
    np.testing.assert_allclose(moved.sample(2.0)[:3, 3], [0, 0, 2], atol=1e-6)
    crane = skinpy.crane()
    for old, new in zip(
        crane.clips["lift"].channels,
        crane.add_clips(crane.clips["lift"], scale=3).clips[-1].channels,
        strict=True,
    ):
        factor = 3.0 if old.path == "translation" else 1.0
        for name in ("values", "in_tangents", "out_tangents"):
            if getattr(old, name) is not None:
                np.testing.assert_allclose(getattr(new, name), getattr(old, name) * factor, rtol=1e-6)


def test_a_clip_of_no_model_is_taken_as_it_is() -> None:
    go = skinpy.Clip.from_arrays("go", fps=2, joints=["Hips"], translation=np.ones((5, 1, 3)))
    quietly(rig(1.0, 1.0), go, scale="auto")


@pytest.mark.parametrize(
    ("scale", "error", "words"),
    [
        ("meters", ValueError, "scale is 'meters'; expected None, 'auto' or a number above 0"),
        (0.0, ValueError, "scale is 0; expected None, 'auto' or"),
        (float("nan"), ValueError, "scale is nan"),
        ([1], TypeError, "scale"),
        (1e39, ValueError, r"scale is 1e\+39; expected at most 1e\+12"),
    ],
)
def test_scales_that_are_none(scale: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        rig(1.0, 1.0).add_clips(walking(rig(1.0, 1.0), 1.0), scale=scale)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared test data")
def test_joint_orients_of_a_clip_move_the_joints() -> None:
    """The case fbx-clip-with-joint-orients: Hips, Spine and Head move, and no name of an importer shows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        source = skinpy.load(data_file("cases", "fbx-clip-with-joint-orients.fbx"))
        target = rig(0.01, 0.01)
        added = target.add_clips(source, scale="auto")
        words = [str(one.message) for one in caught]
    words += [*source.skeleton.names, *map(str, source.check()), *map(str, added.report)]
    assert {"Hips", "Spine", "Head"} <= {channel.name for channel in added.clips[-1].channels}
    assert not [one for one in words if "$" in one]
