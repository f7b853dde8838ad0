"""A second clip over the first, as windows and notebooks put it there."""

from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy.view import Layer, Stage


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return skinpy.character()


def globals_of(stage: Stage) -> Any:
    pose = stage.player.pose()
    assert isinstance(pose, skinpy.Pose)
    return pose.globals()


def test_a_mask_limits_it_to_some_joints(model: skinpy.Model) -> None:
    stage = Stage(model, "walk", layer=Layer("wave", mask="RightUpperArm"))
    stage.player.time = 0.4
    mixed = model.pose("walk", 0.4)
    wave = model.pose("wave", 0.4)
    inside = skinpy.Mask.below("RightUpperArm").weights(model) > 0
    assert inside.any() and not inside.all()
    for part in ("translation", "rotation", "scale"):
        getattr(mixed, part)[inside] = getattr(wave, part)[inside]
    np.testing.assert_allclose(globals_of(stage), mixed.globals(), atol=1e-5)


def test_without_weight_nothing_changes_and_with_all_of_it_only_the_layer_counts(model: skinpy.Model) -> None:
    stage = Stage(model, "walk", layer=Layer("run", weight=0.0))
    stage.player.time = 0.2
    np.testing.assert_allclose(globals_of(stage), model.pose("walk", 0.2).globals(), atol=1e-5)
    stage.player.layer = Layer("run")
    np.testing.assert_allclose(globals_of(stage), model.pose("run", 0.2).globals(), atol=1e-5)


def test_time_goes_on_in_both_beyond_the_end_of_the_first(model: skinpy.Model) -> None:
    stage = Stage(model, "run", layer=Layer("wave"))
    stage.player.advance(1.0)
    assert stage.player.time > stage.player.duration
    np.testing.assert_allclose(globals_of(stage), model.pose("wave", 1.0).globals(), atol=1e-5)
    stage.player.loop = "clamp"
    assert stage.player.time == pytest.approx(1.0 % stage.player.duration)


def test_an_additive_layer_goes_on_top(model: skinpy.Model) -> None:
    stage = Stage(model, "walk", layer=Layer("wave", additive=True))
    first = globals_of(stage)
    np.testing.assert_allclose(first, model.pose("walk", 0.0).globals(), atol=1e-5)
    stage.player.time = 0.9
    assert np.abs(globals_of(stage) - model.pose("walk", 0.9).globals()).max() > 0.01


def test_it_stays_with_another_clip_and_goes_with_another_model(model: skinpy.Model) -> None:
    stage = Stage(model, "walk", layer="wave")
    assert stage.player.layer == Layer("wave")
    stage.choose("run")
    np.testing.assert_allclose(globals_of(stage), model.pose("wave").globals(), atol=1e-5)
    stage.rest()
    np.testing.assert_allclose(globals_of(stage), model.pose("wave").globals(), atol=1e-5)
    stage.replace(skinpy.character())
    assert stage.player.layer is None
    stage.player.layer = "wave"
    stage.player.layer = None
    assert stage.player.clip is None
    np.testing.assert_allclose(globals_of(stage), model.pose().globals(), atol=1e-6)


@pytest.mark.parametrize(
    ("layer", "error", "words"),
    [
        ("wav", KeyError, "did you mean 'wave'"),
        (Layer(99), IndexError, "99"),
        (Layer("wave", mask="Chst"), KeyError, "did you mean 'Chest'"),
        (7, TypeError, "layer is of type int; expected a Layer"),
    ],
)
def test_bad_layers_change_nothing(
    layer: Any, error: type[Exception], words: str, model: skinpy.Model
) -> None:
    stage = Stage(model, "walk", layer="wave")
    changes = stage.changes
    with pytest.raises(error, match=words):
        stage.player.layer = layer
    assert stage.player.layer == Layer("wave") and stage.changes == changes
    with pytest.raises(error, match=words):
        Stage(model, layer=layer)


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"weight": 1.5}, ValueError, "weight is 1.5; expected 0 to 1"),
        ({"weight": "much"}, TypeError, "weight"),
        ({"mask": 3}, TypeError, "mask is of type int; expected a Mask or the name of a joint"),
        ({"additive": 1}, TypeError, "additive"),
    ],
)
def test_bad_fields(fields: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Layer("wave", **fields)


def test_controllers_and_vertex_animations_take_none(model: skinpy.Model) -> None:
    controller = skinpy.AnimationController(model)
    with pytest.raises(ValueError, match="a controller has layers of its own"):
        Stage(model, controller=controller, layer="wave")
    baked = model.bake_vertices("walk", 10)
    with pytest.raises(ValueError, match="a vertex animation plays"):
        Stage(model, baked, layer="wave")
    stage = Stage(model, "walk", layer="wave")
    with pytest.raises(ValueError, match="a vertex animation plays"):
        stage.choose(baked)
    assert stage.player.clip_name == "walk"


def test_a_picture_may_be_coarser_than_others(model: skinpy.Model) -> None:
    stage = Stage(model, "walk", size=(64, 48))
    fine = stage.frame()
    assert stage.frame(size=(32, 24), samples=0).shape == (24, 32, 4)
    np.testing.assert_array_equal(stage.frame(), fine)
    coarse = stage.frame(samples=0)
    assert coarse.shape == fine.shape and (coarse != fine).any()
