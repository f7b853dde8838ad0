"""Pickles of whatever belongs to a model: how small they are alone, and what they refer to in company."""

from __future__ import annotations

import copy
import gc
import itertools
import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from typing import Any

import builders
import numpy as np
import public_functions
import pytest
from conftest import HANGS
from test_faults_life import shown
from test_looks import model as with_looks  # noqa: F401  # a fixture
from test_looks import plain  # noqa: F401  # another, which that one needs

import skinpy
from skinpy.models.pickling import key_span, read_clip

PROTOCOLS = (2, 3, 4, 5)
CLIPS, JOINTS, VERTICES, KEYS = 401, 24, 4000, 30


def again(thing: Any, protocol: int = 5) -> Any:
    return pickle.loads(pickle.dumps(thing, protocol))


@pytest.fixture(scope="module")
def large() -> skinpy.Model:
    """A chain of joints with many clips, all in one block: "clip 0" to "clip 400"."""
    rng = np.random.default_rng(35)
    names = [f"joint {number}" for number in range(JOINTS)]
    rest = np.tile(np.eye(4), (JOINTS, 1, 1))
    rest[1:, 1, 3] = 0.1
    model = skinpy.Model.from_arrays(
        names,
        np.arange(JOINTS) - 1,
        rest,
        positions=rng.normal(size=(VERTICES, 3)),
        faces=rng.integers(0, VERTICES, (VERTICES, 3)),
        joints=rng.integers(0, JOINTS, (VERTICES, 4)),
        weights=rng.uniform(0.1, 1, (VERTICES, 4)),
        targets={"smile": rng.normal(size=(VERTICES, 3))},
    )
    clips = [
        skinpy.Clip.from_arrays(
            f"clip {number}",
            fps=30,
            joints=names,
            targets=["smile"],
            rotation=rng.normal(size=(KEYS, JOINTS, 4)),
            weights=rng.uniform(size=(KEYS, 1)),
        )
        for number in range(CLIPS)
    ]
    return again(model.add_clips(clips))


def skeleton_bytes(model: skinpy.Model) -> int:
    """The bytes of the arrays and names of the skeleton and the skin."""
    skeleton, skin = model.skeleton, model.skin
    arrays = (skeleton.parents, skeleton.translation, skeleton.rotation, skeleton.scale, skeleton.rest_local)
    names = sum(len(name.encode()) for name in skeleton.names)
    return sum(one.nbytes for one in (*arrays, skin.joints, skin.inverse_bind)) + names


def controller_of(model: skinpy.Model, *clips: str | int) -> skinpy.AnimationController:
    controller = skinpy.AnimationController(model)
    for number, clip in enumerate(clips):
        controller.play(clip, layer=f"layer {number}", mask=skinpy.Mask.array(np.ones(len(model.skeleton))))
    controller.advance(0.1)
    return controller


# ---- alone --------------------------------------------------------------------------------

ALONE: dict[str, tuple[Callable[[skinpy.Model], Any], int]] = {
    "clip": (lambda m: m.clips[200], 1),
    "its copy with an event": (lambda m: m.clips[200].add_event(0.1, "step"), 1),
    "its section": (lambda m: m.clips[200].trim(0.1, 0.9), 1),
    "pose": (lambda m: m.pose("clip 7", 0.2), 0),
    "mask": (lambda m: skinpy.Mask.below("joint 3"), 0),
    "controller": (lambda m: controller_of(m, "clip 7", 300), 2),
    "track": (lambda m: controller_of(m, "clip 7").layers["layer 0"][0], 1),
    "passed event": (lambda m: _passed_event(m), 1),
    "channel": (lambda m: m.clips[3].channels[0], 0),
    "blend space": (lambda m: skinpy.BlendSpace1D({0: m.clips[1], 1: m.clips[2]}), 2),
    "bound blend space": (lambda m: skinpy.BlendSpace1D({0: 1, 1: 2}).bind(m), 2),
    "quantized": (lambda m: skinpy.storage.quantize(m.clips[5].trim(0, 0.2), 0.1), 1),
    "root motion": (lambda m: skinpy.RootMotion([0, 1], np.zeros((2, 3)), [[0, 0, 0, 1]] * 2), 0),
    "skeleton": (lambda m: m.skeleton, 0),
    "skin": (lambda m: m.skin, 0),
    "recording": (lambda m: _recording(m), 1),
}


def _passed_event(model: skinpy.Model) -> Any:
    controller = skinpy.AnimationController(model)
    controller.play(model.clips[2].add_event(0.05, "step"))
    (event,) = controller.advance(0.1)
    return event


def _recording(model: skinpy.Model) -> Any:
    controller = skinpy.AnimationController(model)
    recording = controller.record()
    controller.play("clip 4")
    return recording


@pytest.mark.parametrize("name", sorted(ALONE))
def test_alone_it_writes_the_skeleton_the_skin_and_its_clips(name: str, large: skinpy.Model) -> None:
    """At most twice the bytes of its clips and the skeleton, and 2 kB for names of classes and fields."""
    make, clips = ALONE[name]
    size = len(pickle.dumps(make(large)))
    own = max(clip.nbytes for clip in large.clips)
    assert size <= 2 * clips * own + skeleton_bytes(large) + 2048


@pytest.mark.parametrize("number", [0, 200, CLIPS - 1])
def test_a_clip_is_at_most_twice_its_bytes_and_the_skeleton(number: int, large: skinpy.Model) -> None:
    clip = large.clips[number]
    assert clip.nbytes <= len(pickle.dumps(clip)) <= 2 * clip.nbytes + skeleton_bytes(large)


def test_a_mesh_is_written_without_clips(large: skinpy.Model) -> None:
    mesh = again(large.mesh)
    for name in ("positions", "normals", "slots", "weights", "faces"):
        assert getattr(mesh, name).tobytes() == getattr(large.mesh, name).tobytes()
    assert mesh.uvs is None and mesh.submeshes == large.mesh.submeshes
    assert len(pickle.dumps(large.mesh)) < large.mesh.interleaved.nbytes + large.mesh.faces.nbytes + 10_000
    textured = skinpy.character().mesh
    assert again(textured).interleaved.tobytes() == textured.interleaved.tobytes()


def test_skeleton_skin_and_material_come_back() -> None:
    with pytest.warns(skinpy.SkinpyWarning, match="constraints"):
        model = skinpy.load(builders.beside_geometry().glb(), format="glb")
    skeleton, skin = again([model.skeleton, model.skin])
    assert skeleton.names == model.skeleton.names and skeleton.extras == model.skeleton.extras
    assert skeleton.rest_global.tobytes() == model.skeleton.rest_global.tobytes()
    assert skin.inverse_bind.tobytes() == model.skin.inverse_bind.tobytes()
    for material in (*model.materials, *skinpy.character().materials):
        for protocol in PROTOCOLS:
            assert again(material, protocol) == material
        assert copy.deepcopy(material) == material


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_model_of_a_clip_alone(protocol: int, large: skinpy.Model) -> None:
    """It has joints, slots, morph targets and the clips of the pickle, and no vertices."""
    clip = again(large.clips["clip 200"], protocol)
    light = clip.model
    assert light.skeleton.names == large.skeleton.names
    assert light.skin.inverse_bind.tobytes() == large.skin.inverse_bind.tobytes()
    assert light.mesh.positions.shape == (0, 3) and light.mesh.faces.shape == (0, 3)
    assert [one.name for one in light.targets] == ["smile"]
    assert light.clips.names == ("clip 200",) and light.clips[0] is clip
    times = [0.0, 0.31, 0.9]
    assert light.palette(clip, times).tobytes() == large.palette("clip 200", times).tobytes()
    assert light.palette("clip 200", times).tobytes() == large.palette("clip 200", times).tobytes()
    assert clip.sample(times).morph_weights.tobytes() == large.pose("clip 200", times).morph_weights.tobytes()
    assert light.joint_positions(clip, 0.3).tobytes() == large.joint_positions("clip 200", 0.3).tobytes()
    positions, normals = light.deform(light.pose(clip, times))
    assert positions.shape == normals.shape == (3, 0, 3)


def test_a_clip_alone_is_bound_elsewhere(large: skinpy.Model) -> None:
    clip = again(large.clips[200])
    other = again(large).add_clips(clip)
    assert other.clips.names[-1] == "clip 200.2"
    assert other.palette("clip 200.2", 0.3).tobytes() == large.palette("clip 200", 0.3).tobytes()
    with pytest.raises(ValueError, match="add_clips"):
        large.palette(clip, 0.3)
    found = skinpy.retarget(clip, clip.model, large)
    assert found.to_records().tobytes() == skinpy.retarget("clip 200", large, large).to_records().tobytes()


EDITS: dict[str, Callable[[skinpy.Clip], skinpy.Clip]] = {
    "trim": lambda c: c.trim(0.1, 0.5),
    "resample": lambda c: c.resample(12.0),
    "additive": lambda c: c.additive("rest"),
    "mirror": lambda c: c.mirror(),
    "transform": lambda c: c.transform(np.diag([2.0, 2.0, 2.0, 1.0])),
    "reverse": lambda c: c.reverse(),
    "concatenate": lambda c: skinpy.Clip.concatenate([c, c.speed(2.0), *c.cut(0.1)]),
}


@pytest.mark.parametrize("name", sorted(EDITS))
def test_a_clip_alone_is_edited_as_before(name: str) -> None:
    clip = skinpy.character().clips["run"]
    wanted = EDITS[name](clip)
    found = EDITS[name](again(clip))
    assert found.to_records().tobytes() == wanted.to_records().tobytes()
    assert again(wanted).to_records().tobytes() == wanted.to_records().tobytes()
    assert again(wanted).is_additive == wanted.is_additive


def test_what_needs_the_vertices_says_so() -> None:
    from skinpy.render import ground_velocity

    model = skinpy.character()
    clip = again(model.clips["run"])
    light = clip.model
    for call in (
        light.bounds,
        light.check,
        light.as_rigid,
        lambda: light.bake_vertices("run", 10),
        lambda: light.explain(0),
        clip.compress,
        lambda: clip.compress(0.1),
        clip.extract_root_motion,
        clip.root_motion_from_feet,
        clip.contacts,
        lambda: skinpy.lock_feet(clip),
        lambda: skinpy.storage.quantize(clip),
        lambda: skinpy.storage.compare(light),
        lambda: ground_velocity(light, "run"),
        light.bake_texture().error,
        light.add_clips(model.clips["walk"]).bounds,
    ):
        with pytest.raises(ValueError, match=r"needs the vertices .*; pickle the model together with it"):
            call()


def test_a_model_that_never_had_vertices_lacks_none() -> None:
    bare = skinpy.Model.from_arrays(
        *(["a", "b"], [-1, 0], np.tile(np.eye(4), (2, 1, 1))),
        **dict.fromkeys(("positions", "faces"), np.zeros((0, 3), np.uint32)),
        joints=np.zeros((0, 1), np.uint32),
        weights=np.zeros((0, 1)),
    ).add_clips(skinpy.Clip.from_arrays("c", fps=1, translation=np.arange(12.0).reshape(2, 2, 3)))
    clip = again(bare.clips[0])
    assert clip.model.bounds("c").tolist() == bare.bounds("c").tolist()
    assert clip.compress(0.1).error == bare.clips[0].compress(0.1).error


def test_the_kind_of_a_clip_and_its_error_are_kept() -> None:
    character = skinpy.character()
    rigid, face = character.as_rigid(), public_functions.face()
    smile = skinpy.Clip.from_arrays("smile", fps=1, targets=["smile"], weights=[[0], [1]])
    for clip in (
        character.clips[0],
        rigid.clips[0],
        rigid.clips[0].trim(0, 0.1),
        face.add_clips(smile).clips[0],
        character.clips[0].compress(),
    ):
        found = again(clip)
        assert found.kind == clip.kind and found.error == clip.error
        assert again(found).kind == clip.kind


def test_looks_are_kept(with_looks: skinpy.Model) -> None:  # noqa: F811
    clip = with_looks.clips["walk"]
    found = again(clip)
    for time in (0.0, 0.5, 1.0):
        assert found.visible_joints(time).tolist() == clip.visible_joints(time).tolist()
        assert found.visible_submeshes(time).tolist() == clip.visible_submeshes(time).tolist()
        assert repr(found.material_values(time)) == repr(clip.material_values(time))
    assert found.uv_animations.keys() == clip.uv_animations.keys()
    for key, animation in clip.uv_animations.items():
        assert found.uv_animations[key].sample(0.4).tobytes() == animation.sample(0.4).tobytes()


# ---- in company --------------------------------------------------------------------------------


@dataclass
class Holder:
    """An object of somebody else, which holds things by name."""

    things: dict[str, Any]


CONTAINERS: dict[str, tuple[Callable[[dict[str, Any]], Any], Callable[[Any], dict[str, Any]]]] = {
    "dict": (lambda things: things, lambda found: found),
    "list": (lambda things: list(things.items()), dict),
    "dataclass": (Holder, lambda found: found.things),
    "nested": (
        lambda things: [{name: (thing,)} for name, thing in things.items()],
        lambda found: {name: thing for one in found for name, (thing,) in one.items()},
    ),
}


def things_of(model: skinpy.Model) -> dict[str, Any]:
    clip = model.clips["run"]
    return {
        "model": model,
        "clip": clip,
        "pose": model.pose("wave", 0.2),
        "section": clip.trim(0.0, 0.3),
        "controller": controller_of(model, "run", "walk"),
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("how", sorted(CONTAINERS))
def test_with_the_model_all_refer_to_it_in_any_order(how: str, protocol: int) -> None:
    model = skinpy.character()
    pack, unpack = CONTAINERS[how]
    things = things_of(model)
    wanted = {name: shown(things[name]) for name in ("model", "clip", "pose", "section")}
    step = 1 if (how, protocol) == ("list", 5) else 11
    for order in itertools.islice(itertools.permutations(things), 0, None, step):
        found = unpack(again(pack({name: things[name] for name in order}), protocol))
        whole = found["model"]
        assert type(whole) is skinpy.Model and whole is not model
        for name in ("clip", "pose", "section", "controller"):
            assert found[name].model is whole, (order, name)
        assert whole.clips["run"] is found["clip"] and whole.clips.names == model.clips.names
        assert {name: shown(found[name]) for name in wanted} == wanted
        whole.deform(found["pose"])
        assert found["controller"].layers["layer 0"][0].clip is found["clip"]
        assert found["controller"].palette().tobytes() == things["controller"].palette().tobytes()


@pytest.mark.parametrize("names", [("model", "clip"), ("clip", "model")])
def test_with_the_model_all_is_measured_as_before(names: tuple[str, ...], opengl: None) -> None:
    things = things_of(skinpy.character())
    found = dict(zip(names, again([things[name] for name in names]), strict=True))
    assert repr(found["model"].check()) == repr(things["model"].check())
    assert found["model"].bounds("run").tolist() == things["model"].bounds("run").tolist()
    assert found["clip"].compress().error == things["clip"].compress().error
    pictures = [one["model"].render("run", 0.1, (32, 32)).tobytes() for one in (found, things)]
    assert pictures[0] == pictures[1]


def test_a_clip_in_company_is_written_once(large: skinpy.Model) -> None:
    clips = list(large.clips)
    whole = len(pickle.dumps(large))
    assert len(pickle.dumps((large, clips[3]))) < whole + 5000
    assert len(pickle.dumps((clips[3], large))) < whole + 5000
    assert len(pickle.dumps((clips, large))) < 1.35 * whole  # records of channels, times and names
    more = large.add_clips(large.clips[3].trim(0, 0.5))
    whole = len(pickle.dumps(more))
    for order in ((more, more.clips[-1], more.clips[5]), (more.clips[5], more.clips[-1], more)):
        assert len(pickle.dumps(order)) < whole + 10_000
        found = again(order)
        model = next(one for one in found if isinstance(one, skinpy.Model))
        assert model.clips[-1] in found and all(one is model or one.model is model for one in found)


def test_clips_of_one_pickle_share_their_model(large: skinpy.Model) -> None:
    first, second, pose = again([large.clips[9], large.clips[4], large.pose(9, 0.1)])
    assert first.model is second.model is pose.model
    assert first.model.clips.names == ("clip 9", "clip 4") and first.model.clips["clip 4"] is second
    one, other = again([large.clips[9], large.clips[9]])
    assert one is other


def test_two_models_stay_two() -> None:
    model = skinpy.character()
    more = model.add_clips(model.clips["run"].trim(0, 0.2))
    found = again([more.clips[0], model.clips[0], more, model, more.clips[-1], model.pose()])
    assert found[0].model is found[2] is found[4].model
    assert found[1].model is found[3] is found[5].model
    assert len(found[2].clips) == len(found[3].clips) + 1


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_what_was_read_is_written_again(order: tuple[int, ...]) -> None:
    """From the pickle of a clip alone, of a clip before its model, and of a model before its clip."""
    model = skinpy.character()
    things = [model, model.clips["wave"], model.clips["run"]]
    found = again([things[number] for number in order])
    for _ in range(2):
        found = again(found)
    whole = next(one for one in found if isinstance(one, skinpy.Model))
    assert [one.name for one in found if one is not whole] == [things[n].name for n in order if n]
    assert all(whole.clips[one.name] is one for one in found if one is not whole)
    assert shown(whole) == shown(model)
    light = again(again(model.clips["wave"]))
    assert light.to_records().tobytes() == model.clips["wave"].to_records().tobytes()
    clip, alone = again((light, light.model))
    assert clip.model is alone and alone.clips[0] is clip and not len(alone.mesh.positions)


def test_the_model_that_is_read_later_is_whole() -> None:
    """Whatever was asked of a model before it was whole is asked again."""

    class Asking:
        def __init__(self, clip: Any) -> None:
            self.clip = clip

        def __reduce__(self) -> Any:
            return _asked, (self.clip,)

    model = skinpy.character()
    asked, clips, whole = again((Asking(model.clips["run"]), model.clips, model))
    assert asked == (0, ("run",), 0) and len(whole.mesh.positions) == len(model.mesh.positions)
    assert len(whole.materials[0].texture.data) == len(model.materials[0].texture.data)
    assert clips.names == whole.clips.names == model.clips.names
    assert whole.bounds().tolist() == model.bounds().tolist() and whole.report == whole.report
    with pytest.raises(ValueError, match="does not complete"):
        whole._complete(skinpy.character()._block)


def _asked(clip: skinpy.Clip) -> Any:
    light = clip.model
    assert light is not None and light.skeleton.names and not light._is_rigid and not list(light.report)
    return len(light.mesh.positions), light.clips.names, len(light.mesh.faces)


def test_buffers_may_stay_outside(large: skinpy.Model) -> None:
    """Protocol 5 with a callback: the block and the keys are not copied into the pickle."""
    for thing in (large, (large.clips[7], large), large.clips[7], large.mesh):
        buffers: list[pickle.PickleBuffer] = []
        inside = pickle.dumps(thing, 5, buffer_callback=buffers.append)
        assert len(inside) < 20_000
        found = pickle.loads(inside, buffers=[bytes(one) for one in buffers])
        if isinstance(thing, tuple):
            assert found[1].clips[7] is found[0]
            thing, found = thing[0], found[0]
        if isinstance(thing, skinpy.Model):
            assert found.palette("clip 3", 0.2).tobytes() == thing.palette("clip 3", 0.2).tobytes()
        elif isinstance(thing, skinpy.Clip):
            assert found.to_records().tobytes() == thing.to_records().tobytes()
        else:
            assert found.positions.tobytes() == thing.positions.tobytes()


def test_free_clips_and_strange_names() -> None:
    free = skinpy.Clip.from_arrays("\udcff", fps=1, joints=["\udcfe", "b"], rotation=np.ones((2, 2, 4)))
    for protocol in PROTOCOLS:
        found = again(free, protocol)
        assert found.model is None and found.name == free.name
        assert found.to_records().tobytes() == free.to_records().tobytes()
    model = skinpy.load(builders.awkward_names().glb(), format="glb")
    assert again(model.pose()).model.skeleton.names == model.skeleton.names


@pytest.mark.parametrize("make", [builders.mixed_channels, builders.shear, builders.two_offsets])
def test_channels_of_all_kinds_come_back(make: Callable[[], builders.Gltf]) -> None:
    """Step and cubic keys, channels that do not move, and shared and separate times, bit for bit."""
    model = skinpy.load(make().glb(), format="glb")
    for clip in model.clips:
        found = again(clip)
        assert found.to_records().tobytes() == clip.to_records().tobytes()
        assert found.ticks_per_second == clip.ticks_per_second and found.duration == clip.duration
        assert found.nbytes == clip.nbytes
        start, end = key_span(found._channel_records)
        assert start == 0 and 4 * end <= 2 * found.nbytes
        wanted = model.palette(clip, np.linspace(-1, 3, 50))
        assert found.model.palette(found, np.linspace(-1, 3, 50)).tobytes() == wanted.tobytes()


def test_events_and_root_motion_come_along() -> None:
    clip = skinpy.character().clips["walk"].extract_root_motion().add_event(0.5, "step")
    for found in (again(clip), again(again(clip)), again((clip, clip.model))[0]):
        assert found.events == clip.events
        assert found.root_motion.sample(0.3).tobytes() == clip.root_motion.sample(0.3).tobytes()
        assert found.to_records().tobytes() == clip.to_records().tobytes()


# ---- controllers --------------------------------------------------------------------------------

MACHINE = {
    "start": "slow",
    "parameters": {"speed": 0.0},
    "states": {
        "slow": {"clip": 2},
        "fast": {
            "space": {"kind": "1d", "points": [[0.0, "walk"], [1.0, 1]], "parameter": 0.5},
            "parameter": "speed",
        },
    },
    "transitions": [
        {"from": "slow", "to": "fast", "when": [["speed", ">", 0.1]], "fade": 0.2},
        {"from": "fast", "to": "slow", "when": [["speed", "<", 0.1]], "fade": 0.1},
    ],
}


def played(controller: skinpy.AnimationController) -> Iterator[bytes]:
    """Palettes while the states of a machine change."""
    (player,) = controller.players
    for speed in (0.0, 0.5, 0.9, 0.0, 0.7):
        player.parameters["speed"] = speed
        for _ in range(3):
            controller.advance(0.07)
            yield controller.palette().tobytes()


@pytest.mark.parametrize("company", ["alone", "before the model", "after the model"])
def test_a_controller_goes_on_with_its_state_machine(company: str) -> None:
    """Also into states whose clips have not played, by whatever the machine refers to them."""
    model = skinpy.character()
    controller = skinpy.AnimationController(model)
    controller.run(skinpy.StateMachine(MACHINE))
    controller.advance(0.05)
    if company == "alone":
        found = again(controller)
        assert not len(found.model.mesh.positions) and sorted(found.model.clips.names) == [
            "run",
            "walk",
            "wave",
        ]
    elif company == "before the model":
        found, whole = again((controller, model))
        assert found.model is whole
    else:
        whole, found = again((model, controller))
        assert found.model is whole
    wanted = list(played(controller.clone()))
    assert list(played(found)) == wanted
    assert list(played(controller)) == wanted


def test_a_copied_controller_is_independent() -> None:
    model = skinpy.character()
    controller = controller_of(model, "run", "walk")
    for found in (copy.copy(controller), copy.deepcopy(controller), controller.clone()):
        assert found.model is model and found.layers["layer 0"][0] is not controller.layers["layer 0"][0]
        assert found.layers["layer 0"][0].clip is controller.layers["layer 0"][0].clip
        before = controller.palette().tobytes()
        found.advance(0.2)
        assert controller.palette().tobytes() == before
    first, second = copy.deepcopy((controller, model))
    assert first.model is second is model


def test_what_draws_is_refused_by_name(opengl: None) -> None:
    from skinpy.render import Crowd, Renderer, grid
    from skinpy.view import Stage

    model = skinpy.crane()
    things = [Renderer(model, size=(8, 8)), Crowd(model, grid(model, 2), size=(8, 8)), Stage(model)]
    for thing in things:
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=f"a {type(thing).__name__} cannot be pickled or copied"):
                call(thing)
    truth = things[0].render("slew", 0.1, aov="depth")
    found = again(truth)
    assert (
        found.picture.tobytes() == truth.picture.tobytes() and found.depth.tobytes() == truth.depth.tobytes()
    )
    with pytest.raises(TypeError):
        found.layers["depth"] = 0


# ---- faults --------------------------------------------------------------------------------


def test_counts_that_do_not_agree_are_refused() -> None:
    """The joints, slots and targets of a rig and of its model: jobs take poses of the one with the other."""
    read, (_, pieces) = skinpy.character().__reduce_ex__(5)
    face = public_functions.face()
    read_rig, arguments = face._rig.__reduce__()
    with pytest.raises(
        ValueError, match="the block has 26 joints, 24 slots and 0 morph targets; expected 1, 1"
    ):
        read(read_rig(*arguments), pieces)
    read_clip, (_, number, names, sections, keys, error) = skinpy.character().clips[0].__reduce_ex__(2)
    with pytest.raises(skinpy.LoadError, match="channel 0 moves joint 2; there are 1"):
        read_clip(read_rig(*arguments), number, names, dict(sections), keys.data.tobytes(), error)


def test_what_was_read_is_freed() -> None:
    from skinpy import _core

    data = pickle.dumps(things_of(skinpy.character()))
    gc.collect()
    before = _core._bytes_in_use()
    found = pickle.loads(data)
    for name in list(found):
        del found[name]
        for left in found.values():
            getattr(left, "pose", getattr(left, "palette", getattr(left, "sample", None)))
    del found, left
    gc.collect()
    assert _core._bytes_in_use() == before


SPAWNED = """
def measure(job):
    clip, times = job
    return clip.name, clip.model.joint_positions(clip, times)


def play(controller):
    controller.advance(0.1)
    return controller.palette()
"""


def test_spawned_processes_get_clips_and_controllers_alone(tmp_path: Path) -> None:
    """The example of docs/howto-batches.md."""
    (tmp_path / "spawned_clips.py").write_text(SPAWNED)
    code = f"""
        import multiprocessing, sys
        sys.path.insert(0, {str(tmp_path)!r})
        import numpy as np
        import skinpy
        import spawned_clips

        if __name__ == "__main__":
            model, times = skinpy.character(), np.linspace(0, 0.5, 5)
            controller = skinpy.AnimationController(model)
            controller.play("run")
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                for name, found in pool.map(spawned_clips.measure, [(clip, times) for clip in model.clips]):
                    assert np.array_equal(found, model.joint_positions(name, times))
                palette = pool.apply(spawned_clips.play, (controller,))
                controller.advance(0.1)
                assert np.array_equal(palette, controller.palette())
                pool.close()
                pool.join()
    """
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_clip_at_a_wrong_index_is_refused() -> None:
    """Of a damaged pickle in which the clip comes before its model."""
    model = skinpy.character()
    _, (rig, number, *rest) = model.clips["run"].__reduce_ex__(2)
    for wrong in (number - 1, -1, len(model.clips), 255):

        class Damaged:
            def __reduce__(self, wrong: int = wrong) -> Any:
                return read_clip, (rig, wrong, *rest)

        with pytest.raises(ValueError, match=rf"has no clip 'run' at index {wrong}$"):
            again((Damaged(), model), 2)


def test_many_clips_are_read_in_linear_time() -> None:
    """At most 16 times as long for eight times as many clips; it was 60 times."""
    model = skinpy.Model.from_arrays(
        *(["a"], [-1], np.eye(4)[None]),
        positions=np.zeros((3, 3)),
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=np.ones((3, 1)),
    )
    seconds = []
    for count in (1000, 8000):
        clips = [skinpy.Clip.from_arrays(f"clip {n}", fps=1, scale=np.ones((1, 1, 3))) for n in range(count)]
        data = pickle.dumps(list(model.add_clips(clips).clips))
        tries = []
        for _ in range(3):
            start = thread_time()
            pickle.loads(data)
            tries.append(thread_time() - start)
        seconds.append(min(tries))
    assert seconds[1] < 16 * seconds[0]
