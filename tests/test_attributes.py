"""What of public objects cannot be set: what never changes by its meaning, and names that are misspelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import public_functions
import pytest

import skinpy

#: What may be set, by class; setting checks the value.
SETTABLE = {
    "Pose": {"translation", "rotation", "scale", "morph_weights"},
    "Track": {"position", "speed", "weight", "enabled", "parameter"},
    "Stage": {"size", "floor", "overlays"},
    "ClipPlayer": {"time", "playing", "speed", "loop", "layer"},
    "ControllerPlayer": {"time", "playing", "speed", "loop", "layer"},
    "CameraRig": {"size", "inset", "boxed", "eye", "camera"},
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> public_functions.World:
    return public_functions.World(tmp_path_factory.mktemp("attributes"))


def check(thing: Any, *, machine: bool = False) -> None:
    """Every public attribute refuses an object of another kind, and keeps its value.

    `machine`: methods may be replaced, and attributes added, as tests and tools do.
    """
    kind = type(thing).__name__
    for name in [*(name for name in dir(thing) if not name.startswith("_")), "misspelled"]:
        if machine and (name == "misspelled" or callable(getattr(type(thing), name, None))):
            continue
        if name in SETTABLE.get(kind, ()):
            with pytest.raises((TypeError, ValueError), match=name):
                setattr(thing, name, object())
        elif isinstance(thing, skinpy.Limits) and name not in thing.__dataclass_fields__:
            with pytest.raises(
                (AttributeError, TypeError)
            ):  # TypeError: CPython 3.11's frozen classes with slots
                setattr(thing, name, object())
        else:
            with pytest.raises(AttributeError, match=name):
                setattr(thing, name, object())


def test_attributes_that_cannot_be_set(world: public_functions.World) -> None:
    for thing in public_functions.instances(world).values():
        check(thing)


def test_attributes_of_what_plays(world: public_functions.World) -> None:
    controller = skinpy.AnimationController(world.model)
    recording = controller.record()
    track = controller.play("walk")
    player = controller.run(world.machine, layer="machine")
    key = controller.key_weight(track, 0.5, 1.0)
    space = skinpy.BlendSpace1D([(0, "walk"), (1, "run")]).bind(world.model)
    for thing in (controller, recording, track, player, key, space):
        check(thing)


def test_attributes_of_what_draws(world: public_functions.World, tmp_path: Path) -> None:
    pytest.importorskip("moderngl")
    from skinpy import render, view

    model, size = world.other, (16, 16)
    with render.Renderer(model, size=size) as renderer, render.Crowd(model, render.grid(model, 2)) as crowd:
        stage = view.Stage(model, "slew", size=size)
        playing = view.Stage(model, controller=skinpy.AnimationController(model), size=size)
        truth = renderer.render("slew", 0.1)
        for thing in (renderer, crowd, stage, stage.player, stage.rig, playing.player):
            check(thing, machine=True)
        values = [truth, render.Floor(), render.Overlays(), render.Camera.look_at((3, 3, 3))]
        for thing in [*values, view.Orbit((0, 0, 0), 3.0), view.Layer("slew")]:
            check(thing)
        stage.close()
        playing.close()


def test_a_pose_stays_with_its_model(world: public_functions.World) -> None:
    pose = world.model.pose()
    with pytest.raises(AttributeError, match="model"):
        pose.model = world.other  # type: ignore[misc]
    assert pose.model is world.model
