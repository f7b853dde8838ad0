"""Windows and live views over all kinds of models: every overlay, key and fault, and what closing frees."""

from __future__ import annotations

import dataclasses
import gc
import itertools
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("moderngl")
pytest.importorskip("PIL", reason="Pillow (the extra `view`) writes names")

import moderngl
from view_models import KINDS, long_names

import skinpy
from skinpy.render import Overlays
from skinpy.view import Layer, LiveView, Stage
from skinpy.view.window.controls import KEYS, Controls

SIZE = (64, 48)
VALUES = {"weights": 0, "onion": 1, "trajectories": (0,)}
NAMES = [field.name for field in dataclasses.fields(Overlays) if field.name != "onion_step"]
PAIRS = [
    pair
    for pair in itertools.combinations_with_replacement(NAMES, 2)
    if set(pair) != {"weights", "influences"}
]
MOST = tuple(name for name in NAMES if name != "influences")  # all that go together


def overlays_of(names: tuple[str, ...]) -> Overlays:
    return Overlays(**{name: VALUES.get(name, True) for name in names})


def staged(kind: str, **more: Any) -> Stage:
    model, clip, options = KINDS[kind]()
    return Stage(model, clip, **({"size": SIZE, "samples": 0, "playing": False} | options | more))


# ---- every overlay of every kind --------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_is_drawn(kind: str) -> None:
    """What has nothing to show is left out, and nothing else is: the frame is that of the others."""
    stage = staged(kind)
    stage.player.time = 0.3
    for names in (*PAIRS, MOST):
        stage.overlays = overlays_of(names)
        idle = stage.idle_overlays
        assert set(idle) <= set(names) and all(idle.values())
        frame = stage.frame()
        rest = tuple(name for name in names if name not in idle)
        stage.overlays = overlays_of(rest)
        assert stage.idle_overlays == {} and np.array_equal(stage.frame(), frame)


@pytest.mark.parametrize("kind", KINDS)
def test_overlays_survive_the_rest_pose(kind: str) -> None:
    stage = staged(kind)
    stage.overlays = overlays_of(MOST)
    for number in range(-1, len(stage.clips)):
        stage.rest() if number < 0 else stage.choose(number)
        stage.player.advance(0.1)
        assert stage.frame().any() and stage.overlays == overlays_of(MOST)


@pytest.mark.parametrize("names", [("onion",), ("trajectories",), tuple(set(MOST) - {"boxes"})])
def test_what_a_layer_moves_has_ghosts_and_trajectories(names: tuple[str, ...]) -> None:
    """A layer of weight 1 over all joints is the clip itself, and one of weight 0 is none at all."""
    model, overlays = skinpy.character(), overlays_of(names)
    run, walk = model.clips["run"], model.clips["walk"]
    for weight, clip in ((1.0, run), (0.0, walk)):
        alone = Stage(model, clip, size=(160, 120), overlays=overlays)
        camera = alone.rig.camera
        layer = Layer("run", weight)
        layered = Stage(model, "walk", size=(160, 120), overlays=overlays, camera=camera, layer=layer)
        for time in (0.1, 0.45):
            alone.player.time = layered.player.time = time
            first, second = alone.frame().astype(int), layered.frame().astype(int)
            assert np.abs(first - second).mean() < 0.5


@pytest.mark.parametrize("kind", ["skinned", "controller", "layer", "vertex animation"])
def test_no_time_stops_the_frames(kind: str) -> None:
    stage = staged(kind, overlays=overlays_of(("onion", "rest", "boxes")))
    for time in (-0.3, -1e5, 5e-324, 1e8):
        stage.player.time = time
        for loop in ("pingpong", "clamp", "once", "wrap"):
            stage.player.loop = loop
            assert stage.frame().any()
    with pytest.raises(ValueError, match="expected at most 1e"):
        stage.player.time = 1e15


# ---- the window -------------------------------------------------------------------------------------


def windowed(kind: str, **more: Any) -> Controls:
    return Controls(staged(kind, **more))


def shown(controls: Controls) -> str:
    """What the window says after a picture; "" for nothing."""
    controls.take_picture(np.empty((SIZE[1], SIZE[0], 4), np.uint8), None)
    for image, left, top in controls.layers():
        assert image.size and left >= 0 and top >= 0
    message = controls.messages.current
    return "" if message is None else message.text


@pytest.mark.parametrize("names", [(), MOST], ids=["plain", "all overlays"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_key_in_every_state(
    kind: str, names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where the key P writes
    controls = windowed(kind)
    for key in KEYS:
        controls.stage.overlays = overlays_of(names)
        controls.actions.overlays.joint = 1 if names else None  # as after a click
        for name in key.names:
            assert controls.press(name)
        controls.advance(0.05)
        shown(controls)


def test_the_rest_pose_keeps_the_overlays_of_a_window() -> None:
    """Key 0 shows the rest pose; its ghosts come back with the next clip."""
    wanted = Overlays(skeleton=True, onion=2, boxes=True, trajectories=(0,))
    controls = windowed("skinned", overlays=wanted)
    for key in "1023":
        controls.press(key)
        assert shown(controls) == ""
        assert controls.stage.overlays == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_a_window_says_once_what_has_nothing_to_show(kind: str) -> None:
    controls = windowed(kind)
    stage = controls.stage
    for name in NAMES:
        stage.overlays = overlays_of((name,))
        idle = stage.idle_overlays
        words = shown(controls)
        assert (f"overlay {name} has nothing to show: {idle[name]}" == words) if idle else words == ""
        assert stage.overlays == (None if idle else overlays_of((name,)))
        controls.messages.forget_error()
        assert shown(controls) == ""


# ---- key K ------------------------------------------------------------------------------------------


def five_joints() -> skinpy.Model:
    """A row of joints: 1 and 3 move vertices, 0 has a slot that no vertex uses, 4 weights of 0, 2 no slot."""
    count = 5
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    return skinpy.Model.from_arrays(
        [f"j{number}" for number in range(count)],
        [-1, 0, 1, 2, 3],
        np.stack([np.eye(4)] * count),
        positions=positions,
        faces=[[0, 1, 2]],
        joints=np.array([[1, 4], [3, 4], [1, 3]]),
        weights=np.array([[1, 0], [1, 0], [0.5, 0.5]]),
    )


def test_key_k_stops_where_vertices_are_moved_and_goes_around() -> None:
    controls = Controls(Stage(five_joints(), size=SIZE))
    seen = []
    for _ in range(7):
        controls.press("k")
        seen.append(getattr(controls.stage.overlays, "weights", None))
        assert shown(controls) == ""
    assert seen == [1, 3, None, 1, 3, None, 1]
    for joint, key, wanted in (
        (2, "k", 3),
        (2, "K", 1),
        (4, "k", None),
        (0, "k", 1),
        (0, "K", None),
        (3, "k", 3),
    ):
        controls.stage.overlays, controls.actions.overlays.joint = None, joint  # as after a click
        controls.press(key)
        assert getattr(controls.stage.overlays, "weights", None) == wanted, (joint, key)
    for given, wanted in (("j1", 3), ("3", None), (2, 3)):
        controls.stage.overlays = Overlays(weights=given)
        controls.press("k")
        assert getattr(controls.stage.overlays, "weights", None) == wanted, given


@pytest.mark.parametrize("kind", ["no mesh", "no mesh, no clip"])
def test_key_k_says_what_is_missing(kind: str) -> None:
    controls = windowed(kind)
    controls.press("k")
    assert shown(controls) == "this model has no joints that move vertices"


# ---- faults in a frame ------------------------------------------------------------------------------


class Fault:
    """Makes every frame of a stage fail in which something is shown."""

    def __init__(self, stage: Stage, part: str) -> None:
        self.frame, self.stage, self.part = stage.frame, stage, part

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        stage, part = self.stage, self.part
        parts = {"layer": stage.player.layer is not None, "floor": stage.floor, "all": True}
        if parts.get(part, bool(getattr(stage.overlays, part, False))):
            raise RuntimeError(f"no {part} today")
        return self.frame(*arguments, **options)


WITHOUT = ["axes", "onion", "layer", "floor"]


def faulty(part: str) -> Stage:
    stage = staged("layer", floor=True, overlays=Overlays(skeleton=True, axes=True, onion=1))
    stage.frame = Fault(stage, part)  # type: ignore[method-assign]
    return stage


def assert_the_rest_is_there(stage: Stage, part: str) -> None:
    wanted = Overlays(skeleton=True, axes=part != "axes", onion=int(part != "onion"))
    assert stage.overlays == wanted
    assert (stage.player.layer is None, stage.floor) == (part == "layer", part != "floor")


@pytest.mark.parametrize("part", WITHOUT)
def test_a_window_goes_on_without_what_fails(part: str) -> None:
    controls = Controls(faulty(part))
    assert shown(controls) == f"no {part} today"
    assert_the_rest_is_there(controls.stage, part)
    controls.messages.forget_error()
    assert shown(controls) == ""


def test_a_window_ends_where_nothing_can_be_drawn() -> None:
    stage = faulty("all")
    with pytest.raises(RuntimeError, match="no all today"):
        shown(Controls(stage))
    assert_the_rest_is_there(stage, "all")
    controls = Controls(stage)
    stage.overlays = None
    with pytest.raises(RuntimeError, match="no all today"):
        shown(controls)
    assert stage.overlays is None and stage.floor


# ---- live views -------------------------------------------------------------------------------------


def viewed(kind: str, **more: Any) -> Any:
    pytest.importorskip("jupyter_rfb", reason="jupyter_rfb is not installed: extra jupyter")
    model, clip, options = KINDS[kind]()
    if "controller" not in options:
        options["clip"] = clip
    return LiveView(model, **({"size": SIZE, "samples": 0, "playing": False} | options | more))


@pytest.mark.parametrize("kind", KINDS)
def test_a_live_view_draws_every_overlay(kind: str) -> None:
    """By code and by the widgets: a picture always comes, and what has nothing to show is said once."""
    view = viewed(kind)
    panel, stage = view._loop.panel, view.stage
    for name in NAMES:
        view.overlays = overlays_of((name,))
        idle = stage.idle_overlays
        assert view._loop.draw() is not None
        assert bool(idle) == ("ValueError: overlay" in panel.message.value)
        assert stage.overlays == (None if idle else overlays_of((name,)))
        panel.message.value = ""
        assert view._loop.draw() is not None and panel.message.value == ""
    for toggle in (*panel.overlays.toggles.values(), panel.overlays.ghosts):
        toggle.value = not toggle.value
        assert view._loop.draw() is not None
    view.close()


@pytest.mark.parametrize("overlays", [Overlays(weights=99), Overlays(trajectories=("Head", 99, -1))])
def test_a_live_view_refuses_joints_that_are_not_there(overlays: Overlays) -> None:
    view = viewed("skinned", overlays=Overlays(skeleton=True))
    view.overlays = overlays
    assert (
        view._loop.draw() is None and "IndexError: an overlay names joint" in view._loop.panel.message.value
    )
    assert view.overlays == Overlays(skeleton=True)
    assert view._loop.draw() is not None
    view.close()
    with pytest.raises(IndexError, match="an overlay names joint"):
        viewed("skinned", overlays=overlays)


@pytest.mark.parametrize("part", WITHOUT)
def test_a_live_view_goes_on_without_what_fails(part: str) -> None:
    view = viewed("layer", floor=True, overlays=Overlays(skeleton=True, axes=True, onion=1), playing=True)
    stage, message = view.stage, view._loop.panel.message
    stage.frame = Fault(stage, part)
    assert view._loop.draw() is None
    assert message.value.endswith(f"RuntimeError: no {part} today</span>")
    message.value = ""
    for _ in range(3):
        assert view._loop.draw() is not None and message.value == "" and view.playing
    assert_the_rest_is_there(stage, part)
    view.close()


def test_a_live_view_stops_where_nothing_can_be_drawn_and_goes_on_after_that() -> None:
    view = viewed("layer", floor=True, overlays=Overlays(skeleton=True, axes=True, onion=1), playing=True)
    stage, fault = view.stage, Fault(view.stage, "all")
    stage.frame = fault
    assert view._loop.draw() is None and not view.playing
    assert "no all today" in view._loop.panel.message.value
    assert_the_rest_is_there(stage, "all")
    stage.frame = fault.frame
    view.playing = True
    assert view._loop.draw() is not None
    view.close()


def test_a_fault_of_the_panel_does_not_stop_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """jupyter_rfb hides what its callbacks raise, and asks for no further picture."""
    view = viewed("skinned", playing=True)
    panel = view._loop.panel

    def failing(**_: Any) -> None:
        raise RuntimeError("no panel today")

    with monkeypatch.context() as patch:
        patch.setattr(panel, "show", failing)
        assert view._loop.draw() is not None and "no panel today" in panel.message.value
        view._loop.take({"type": "key_down", "key": "j", "modifiers": []})
        view._loop.take({"type": "resize", "width": 30, "height": 20, "ratio": 1.0})
        panel.overlays.toggles["axes"].value = True
        view.stage.frame = Fault(view.stage, "axes")
        assert view._loop.draw() is None
        assert view._loop.draw() is not None and view.playing
    view.close()


# ---- what closing frees -----------------------------------------------------------------------------


def widgets_alive() -> int:
    """Widgets that ipywidgets keeps, with all that their callbacks refer to."""
    import ipywidgets.widgets.widget as module

    return len(module._instances)


def comms_alive() -> int:
    """Connections to front ends that are open."""
    import comm

    return len(comm.get_comm_manager().comms)


def graphics_alive() -> int:
    """Objects on the GPU that are alive, after the graphics thread has freed what it was told to free."""
    from skinpy.render.gpu import context as gl

    gl.call(lambda context: None)
    gc.collect()
    gl.call(lambda context: None)
    kinds = moderngl.Buffer, moderngl.Texture, moderngl.Framebuffer, moderngl.VertexArray
    return sum(isinstance(one, kinds) for one in gc.get_objects())


def used(view: Any) -> None:
    """What a user does with a live view: every widget moves, and a film is made."""
    view.overlays = overlays_of(MOST)
    view._loop.draw()
    view._loop.take({"type": "resize", "width": 40, "height": 30, "ratio": 2.0})
    view._loop.draw()
    view._repr_mimebundle_()


@pytest.mark.parametrize("kind", ["skinned", "layer", "controller", "vertex animation"])
def test_a_closed_live_view_is_gone(kind: str) -> None:
    """With its stage, its model, its widgets and its part of the GPU."""
    model, clip, options = KINDS[kind]()
    model = skinpy.character()
    if kind == "controller":
        options["controller"] = controller = skinpy.AnimationController(model)
        controller.play("walk")
    elif kind == "vertex animation":
        clip = model.bake_vertices("walk", 5)
    gc.collect()
    before = widgets_alive(), comms_alive()
    view = LiveView(model, None if kind == "controller" else clip, size=SIZE, **options)
    used(view)
    if kind == "controller":
        for name in ("run", "wave", "walk"):  # each brings a slider, and takes one away
            controller.cross_fade(name, 0.1)
            view._loop.draw()
            controller.advance(0.2)
            view._loop.draw()
    assert widgets_alive() > before[0] + 50
    view.close()
    assert (widgets_alive(), comms_alive()) == before
    view.clip = view.stage.clips[-1]  # a closed view can still be driven, and take snapshots
    assert view.snapshot().any()
    view.close()
    view.stage.close()
    gone = [weakref.ref(one) for one in (view, view.stage, model, view._loop, view.canvas, view._loop.panel)]
    if kind == "controller":
        del controller
    del view, model, clip, options
    gc.collect()
    assert [one() for one in gone] == [None] * len(gone)


def test_a_controller_that_fades_leaves_no_sliders() -> None:
    view = viewed("controller")
    controller, count = view.stage.player.controller, 0
    for number in range(12):
        controller.cross_fade(("run", "walk")[number % 2], 0.05)
        controller.advance(0.1)
        assert view._loop.draw() is not None
        count = count or widgets_alive()
    assert widgets_alive() == count
    view.close()


def test_fifty_views_leave_nothing() -> None:
    model = skinpy.character()
    counts = []
    for number in range(50):
        view = LiveView(model, "walk", size=SIZE, layer="wave", samples=0, overlays=Overlays(names=True))
        view._loop.draw()
        view.close()
        del view
        if number in (4, 49):
            gc.collect()
            gl_objects = graphics_alive()
            counts.append((widgets_alive(), comms_alive(), gl_objects, threading.active_count()))
    assert counts[0] == counts[1]


def test_stages_and_renderers_leave_nothing() -> None:
    model = skinpy.character()
    counts = []
    for number in range(10):
        stage = Stage(model, "walk", size=SIZE, layer="wave", floor=True, overlays=overlays_of(MOST))
        stage.frame()
        stage.close()
        with skinpy.render.Renderer(model, size=SIZE, floor=True) as renderer:
            renderer.frame("run", 0.1, overlays=overlays_of(MOST))
            renderer.render("run", 0.1, aov="depth")
        gone = weakref.ref(stage), weakref.ref(renderer)
        del stage, renderer
        if number in (3, 9):
            counts.append((graphics_alive(), threading.active_count()))
            assert [one() for one in gone] == [None, None]
    assert counts[0] == counts[1]


# ---- nothing lies on anything else ------------------------------------------------------------------


def overlap(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    """Whether two boxes (left, top, right, bottom) have a pixel in common."""
    return all(first[side] < second[side + 2] and second[side] < first[side + 2] for side in (0, 1))


def assert_apart(boxes: list[tuple[float, ...]], size: tuple[int, int]) -> None:
    for left, top, right, bottom in boxes:
        assert 0 <= left < right <= size[0] and 0 <= top < bottom <= size[1]
    for first, second in itertools.combinations(boxes, 2):
        assert not overlap(first, second)


WINDOWS = [(640, 480), (300, 700), (200, 160), (1280, 960), (2000, 200), (170, 1200), (30, 20)]


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("size", WINDOWS)
def test_bar_message_and_help_lie_side_by_side(size: tuple[int, int], scale: float) -> None:
    controls = Controls(Stage(five_joints(), size=size))
    controls.scale = scale
    for helping, message in itertools.product((False, True), ("a short one", "one of some length " * 20)):
        controls.helping = helping
        controls.messages.say(message)
        layers = controls.layers()
        assert_apart(
            [(left, top, left + image.shape[1], top + len(image)) for image, left, top in layers], size
        )
        if size[1] > 200 * scale and message == "a short one":
            assert len(layers) == 2 + helping


@pytest.mark.parametrize("colored", [{"weights": 3}, {"influences": True}])
@pytest.mark.parametrize("inset", [0, 46, 92])
@pytest.mark.parametrize("size", WINDOWS)
def test_names_and_legend_lie_side_by_side_above_the_bar(
    size: tuple[int, int], inset: int, colored: dict[str, Any]
) -> None:
    """The letters of a frame, and the dots of its legend."""
    from skinpy.render.overlays.plan import Planner
    from skinpy.render.posing import Poser
    from skinpy.render.scene.view import View

    for model in (long_names(), KINDS["skinned"]()[0]):
        stage = Stage(model, size=size)
        stage.rig.inset = inset
        poser, moment = Poser(model), stage.player.moment()
        view = View(stage.rig.camera, size[0] / size[1], np.array([0.0, 1.0, 0.0]))
        overlays = Overlays(names=True, **colored)
        plan = Planner(poser).plan(overlays, moment, poser.figure(moment), view, size, inset)
        assert plan.letters is not None
        letters = plan.letters[1]
        room = size[0], size[1] - inset
        # A glyph has a pixel more on its right than its letter takes, where the next one begins.
        boxes = [
            (x + 1, y, x + width - 2, y + height) for x, y, width, height, *_ in letters.tolist() if width > 3
        ]
        legend = plan.lines_flat
        if room[0] >= 160 and room[1] >= 80:
            assert len(legend) and len(letters)
            half, y = float(legend[0, 10]) / 2, float(legend[0, 1])
            columns = [(x, x) for x in legend[:, 0].tolist()]
            if "weights" in colored:  # a bar
                columns = [(columns[0][0], columns[-1][0])]
            boxes += [(left - half, y - half, right + half, y + half) for left, right in columns]
        elif not len(letters):
            continue
        assert all(box[0] >= 0 and box[2] <= room[0] and box[1] >= 0 and box[3] <= room[1] for box in boxes)
        for first, second in itertools.combinations(boxes, 2):
            same = first[1] == second[1]  # the letters of one line may reach into each other by a pixel
            assert not overlap(first, second) or (same and abs(first[0] - second[0]) > 1)


def seen_by(camera: skinpy.render.Camera, points: Any, size: tuple[int, int]) -> Any:
    """Where points (N, 3) are in a picture, (N, 2): -1 and 1 are its sides."""
    matrix = camera.projection(size[0] / size[1]) @ camera.view()
    clip_space = np.column_stack([points, np.ones(len(points))]) @ matrix.T
    return clip_space[:, :2] / clip_space[:, 3:]


@pytest.mark.parametrize("size", [(640, 480), (300, 700), (900, 200)])
@pytest.mark.parametrize("kind", ["skinned", "rigid", "no mesh", "vertex animation", "no clip"])
def test_boxes_are_in_the_picture(kind: str, size: tuple[int, int]) -> None:
    """With all their corners, for renderers, films and stages whose camera nobody has moved."""
    model, clip, _ = KINDS[kind]()
    boxes = Overlays(boxes=True)
    stage = Stage(model, clip, size=size, overlays=boxes)
    stage.rig.inset = 46
    low, high = stage.player.poser.facts.extent(stage.player.clip)
    corners = np.stack(np.meshgrid(*np.stack([low, high]).T), axis=-1).reshape(-1, 3)
    camera = stage.rig.camera
    device = seen_by(camera, corners, size)
    assert (np.abs(device) < 1).all() and device[:, 1].min() > -1 + 2 * 46 / size[1]
    from skinpy.output import clip_file

    for turntable in (False, True):  # of films
        for shot in clip_file._shots(model, clip, 2.0, size, turntable, None, True):
            assert (np.abs(seen_by(shot.camera, corners, size)) < 1).all()
    stage.rig.inset = 0
    with skinpy.render.Renderer(model, size=size, background="#e9eef5") as renderer:
        picture = renderer.frame(clip, overlays=boxes)
        assert np.abs(picture.astype(int) - stage.frame()).mean() < 0.5
        film = next(renderer.frames(clip, [0.0], overlays=boxes))
        assert np.array_equal(film, picture)
    stage.overlays = None
    assert stage.rig.camera != camera
