"""What window and live view share: time, clips, camera, and the picture that comes of them."""

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("moderngl")

import skinpy
from skinpy.render import Camera, Floor, Renderer
from skinpy.view import Orbit, Stage
from skinpy.view.stage import LOOPS

SIZE = (96, 72)


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return skinpy.character()


def picture(model: skinpy.Model, stage: Stage, **options: Any) -> NDArray[np.uint8]:
    """The same by the renderer alone."""
    with Renderer(model, size=stage.size, background="#e9eef5") as renderer:
        return renderer.frame(camera=stage.rig.camera, **options)


# ---- what is shown ---------------------------------------------------------------------------------


def test_it_shows_the_first_clip_and_goes_on(model: skinpy.Model) -> None:
    stage = Stage(model, size=SIZE)
    assert (stage.player.clip, stage.number, stage.player.clip_name) == (
        model.clips[0],
        0,
        model.clips.names[0],
    )
    assert stage.clips == model.clips.names
    stage.player.advance(0.25)
    assert np.array_equal(stage.frame(), picture(model, stage, clip=0, time=0.25))
    stage.choose("run")
    stage.player.advance(0.1)
    assert np.array_equal(stage.frame(), picture(model, stage, clip="run", time=0.1))
    assert stage.player.time_label == f"0.10 / {model.clips['run'].duration:.2f} s"


def test_out_takes_the_picture(model: skinpy.Model) -> None:
    stage = Stage(model, "run", size=SIZE)
    out = np.zeros((72, 96, 4), np.uint8)
    assert stage.frame(out) is out
    assert np.array_equal(out, stage.frame())


def test_the_rest_pose(model: skinpy.Model) -> None:
    stage = Stage(model, "run", size=SIZE)
    stage.rest()
    assert (stage.player.clip, stage.number, stage.player.clip_name, stage.player.duration) == (
        None,
        None,
        "rest pose",
        0.0,
    )
    stage.player.advance(0.3)
    assert np.array_equal(stage.frame(), picture(model, stage, pose=model.pose()))
    stage.choose(None)
    assert stage.number == 0


def test_a_vertex_animation_can_be_chosen_beside_the_clips(model: skinpy.Model) -> None:
    animation = model.bake_vertices("wave", 10)
    stage = Stage(model, animation, size=SIZE)
    assert stage.clips[1:] == model.clips.names
    assert (stage.number, stage.player.clip) == (0, animation)
    stage.choose(2)
    assert stage.player.clip == model.clips[1]
    stage.choose(0)
    assert stage.player.clip is animation
    assert np.array_equal(stage.frame(), picture(model, stage, clip=animation))


def test_a_model_without_clips() -> None:
    corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    model = skinpy.Model.from_arrays(
        ["root"],
        [-1],
        np.eye(4)[None],
        positions=corner,
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1]] * 3,
    )
    stage = Stage(model, size=SIZE)
    stage.player.advance(1.0)
    assert (stage.clips, stage.player.position, stage.player.clip_name) == ((), 0.0, "rest pose")
    assert np.ptp(stage.frame()[..., 0]) > 30


def test_replacing_the_model_goes_on_where_it_was(model: skinpy.Model) -> None:
    stage = Stage(model, "run", size=SIZE)
    stage.player.time = 0.2
    stage.rig.orbit(10, 5)
    eye = stage.rig.eye
    newer = model.add_clips([])
    stage.replace(newer)
    assert (stage.model, stage.player.clip_name, stage.player.time, stage.rig.eye) == (newer, "run", 0.2, eye)
    other = skinpy.crane()
    stage.replace(other)
    assert (stage.player.clip_name, stage.player.time) == (other.clips.names[0], 0.0)
    stage.rig.reset()
    assert np.array_equal(stage.frame(), picture(other, stage))
    stage.rest()
    stage.replace(model)
    assert stage.player.clip is None


def test_the_floor_comes_and_goes(model: skinpy.Model) -> None:
    stage = Stage(model, "walk", size=SIZE, floor=True)
    with Renderer(model, size=SIZE, background="#e9eef5", floor=Floor()) as renderer:
        assert np.array_equal(stage.frame(), renderer.frame("walk", camera=stage.rig.camera))
    stage.floor = False
    assert not stage.floor
    assert np.array_equal(stage.frame(), picture(model, stage, clip="walk"))
    stage.floor = Floor(colors=("#ff0000", "#ff0000"))
    assert stage.floor
    low = stage.frame()[-1, 48]
    assert low[0] > low[1] + 50


def test_the_size_may_change(model: skinpy.Model) -> None:
    stage = Stage(model, "walk", size=SIZE)
    stage.size = (50, 80)
    assert stage.frame().shape == (80, 50, 4)
    with Renderer(model, size=(50, 80)) as renderer:
        assert np.allclose(stage.rig.camera.eye, renderer.camera("walk").eye)  # nobody moved it: it fits


# ---- time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loop", "time", "position"),
    [
        ("wrap", 0.25, 0.25),
        ("wrap", 1.25, 0.25),
        ("wrap", -0.25, 0.75),
        ("wrap", 1.0, 1.0),  # its end is shown, not its start
        ("pingpong", 1.25, 0.75),
        ("pingpong", 2.25, 0.25),
        ("pingpong", -0.25, 0.25),
        ("clamp", 3.0, 1.0),
        ("once", -3.0, 0.0),
    ],
)
def test_position_is_the_time_within_the_clip(
    model: skinpy.Model, loop: Any, time: float, position: float
) -> None:
    clip = model.clips["walk"]
    stage = Stage(model, clip, size=SIZE, loop=loop)
    stage.player.time = time * clip.duration
    assert stage.player.position == pytest.approx(position * clip.duration)
    # The library's own rule: the pose there is the pose of that place in the clip.
    here, there = (
        model.joint_positions(clip, stage.player.time, loop=loop),
        model.joint_positions(clip, stage.player.position),
    )
    assert np.allclose(here, there, atol=1e-5)


@pytest.mark.parametrize("speed", [1.0, 2.0, -0.5, 0.0])
def test_time_goes_by_at_its_speed(model: skinpy.Model, speed: float) -> None:
    stage = Stage(model, "walk", size=SIZE, speed=speed)
    stage.player.advance(0.1)
    assert stage.player.time == pytest.approx(0.1 * speed)


def test_a_pause_stands_still_and_a_step_goes_on(model: skinpy.Model) -> None:
    stage = Stage(model, "walk", size=SIZE, playing=False)
    stage.player.advance(0.1)
    assert stage.player.time == 0.0
    stage.player.step(3)
    assert stage.player.time == pytest.approx(0.1)
    stage.player.step(-4)
    assert stage.player.position == pytest.approx(stage.player.duration - 1 / 30)
    assert not stage.player.playing


@pytest.mark.parametrize("loop", ["clamp", "once"])
@pytest.mark.parametrize("speed", [1.0, -1.0])
def test_what_ends_stops_and_starts_anew(model: skinpy.Model, loop: Any, speed: float) -> None:
    stage = Stage(model, "run", size=SIZE, loop=loop, speed=speed)
    start, end = (0.0, stage.player.duration) if speed > 0 else (stage.player.duration, 0.0)
    stage.player.time = start
    stage.player.advance(stage.player.duration + 1)
    assert (stage.player.time, stage.player.playing) == (end, False)
    stage.player.playing = True
    assert (stage.player.time, stage.player.playing) == (start, True)
    stage.player.advance(0.1)
    assert abs(stage.player.time - start) == pytest.approx(0.1)


def test_seeking_stays_within_the_clip(model: skinpy.Model) -> None:
    stage = Stage(model, "run", size=SIZE)
    for place, there in ((0.2, 0.2), (-5.0, 0.0), (99.0, stage.player.duration)):
        stage.player.seek(place)
        assert stage.player.time == there
    assert stage.player.playing


def test_another_loop_mode_keeps_the_place(model: skinpy.Model) -> None:
    stage = Stage(model, "run", size=SIZE)
    stage.player.time = 2.25 * stage.player.duration
    for loop in (*LOOPS[1:], LOOPS[0]):
        stage.player.loop = loop
        assert stage.player.position == pytest.approx(0.25 * stage.player.duration)


# ---- a controller ----------------------------------------------------------------------------------


def test_a_controller_in_place_of_a_clip(model: skinpy.Model) -> None:
    controller, twin = skinpy.AnimationController(model), skinpy.AnimationController(model)
    for one in (controller, twin):
        one.play("walk")
        one.play("wave", layer="arms", weight=0.5)
    stage = Stage(model, controller=controller, size=SIZE, speed=2.0)
    stage.player.advance(0.2)
    twin.advance(0.4)
    assert np.array_equal(stage.frame(), picture(model, stage, pose=twin.pose()))
    assert (stage.player.clip_name, stage.player.position) == ("walk", pytest.approx(0.4))
    assert set(stage.player.tracks) == {"base", "arms"}
    stage.player.tracks["arms"][0].weight = 0.0
    stage.player.seek(0.1)
    assert np.array_equal(stage.frame(), picture(model, stage, pose=model.pose("walk", 0.1)))


def test_a_controller_fades_to_another_clip(model: skinpy.Model) -> None:
    controller = skinpy.AnimationController(model)
    stage = Stage(model, controller=controller, size=SIZE)
    assert (stage.player.clip, stage.player.clip_name, stage.player.duration) == (None, "rest pose", 0.0)
    stage.choose("run")
    assert stage.player.clip_name == "run" and controller.layers["base"][-1].fade == 0.0
    stage.player.advance(0.3)
    # A controller sums the poses of its layers and so differs from the clip by 1e-7 of the size: enough to
    # color a pixel at an edge differently, but not one number of the picture in a thousand.
    wanted = picture(model, stage, clip="run", time=0.3)
    assert np.mean(np.abs(stage.frame().astype(int) - wanted) > 8) < 0.001
    stage.player.loop = "once"
    assert (controller.layers["base"][-1].loop, stage.player.position) == ("once", pytest.approx(0.3))
    stage.rest()
    stage.player.advance(1.0)
    assert np.array_equal(stage.frame(), picture(model, stage, pose=model.pose()))


# ---- the camera ------------------------------------------------------------------------------------


def test_a_camera_that_nobody_moved_goes_with_the_clip(model: skinpy.Model) -> None:
    stage = Stage(model, "walk", size=SIZE)
    with Renderer(model, size=SIZE) as renderer:
        for clip in ("walk", "run"):
            stage.choose(clip)
            wanted = renderer.camera(clip)
            assert np.allclose((stage.rig.camera.eye, stage.rig.camera.target), (wanted.eye, wanted.target))
    stage.rig.orbit(7, 0)
    eye = stage.rig.eye
    stage.choose("wave")
    assert stage.rig.eye == eye
    stage.rig.reset()
    assert np.allclose(stage.rig.camera.eye, Stage(model, "wave", size=SIZE).rig.camera.eye)


def test_a_given_camera_stays(model: skinpy.Model) -> None:
    camera = Camera.look_at((3, 2, 4), (0, 1, 0))
    stage = Stage(model, size=SIZE, camera=camera)
    stage.size = (50, 80)
    assert np.allclose(stage.rig.camera.view(), camera.view())


def on_screen(stage: Stage, point: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pixels from the left and from the top."""
    camera, (width, height) = stage.rig.camera, stage.size
    x, y, _, w = camera.projection(width / height) @ camera.view() @ np.append(point, 1.0)
    return np.array([(x / w + 1) * width / 2, (1 - y / w) * height / 2])


def test_drags_are_in_pixels(model: skinpy.Model) -> None:
    stage = Stage(model, size=SIZE)
    target = np.array(stage.rig.eye.target)
    assert np.allclose(on_screen(stage, target), (48, 36))
    stage.rig.pan(11, -7)
    assert np.allclose(on_screen(stage, target), (59, 29))
    stage.rig.zoom(3, 59, 29)
    assert np.allclose(on_screen(stage, target), (59, 29))
    assert stage.rig.eye.distance == pytest.approx(Stage(model, size=SIZE).rig.eye.distance * 0.9**3)
    before = stage.rig.eye.azimuth
    stage.rig.orbit(72 / 4, 0)  # a quarter of the height: a quarter of a turn, and the model follows the hand
    assert (stage.rig.eye.azimuth - before) % 360 == pytest.approx(270)
    front = np.array(stage.rig.eye.target) + stage.rig.eye.axes()[2]
    seen = on_screen(stage, front)
    stage.rig.orbit(5, 4)
    assert (on_screen(stage, front) - seen > 0).all()


def test_a_look_from_the_side_has_it_all_in_the_picture(model: skinpy.Model) -> None:
    stage = Stage(model, "walk", size=SIZE)
    for azimuth, elevation in ((0, 0), (90, 0), (0, 90), (-120, -30)):
        stage.rig.look(azimuth, elevation)
        box = model.bounds("walk")
        corners = [on_screen(stage, np.where(which, box[0], box[1])) for which in np.ndindex(2, 2, 2)]
        assert np.min(corners) > 0 and (np.max(corners, axis=0) < SIZE).all()
    stage.rig.zoom(8)
    stage.rig.fit()
    assert (stage.rig.eye.azimuth, stage.rig.eye.elevation) == pytest.approx((-120, -30))


@pytest.mark.parametrize("inset", [0, 10, 30, 300])
def test_what_is_covered_is_left_free(model: skinpy.Model, inset: int) -> None:
    stage = Stage(model, "walk", size=SIZE)
    whole = stage.rig.eye
    stage.rig.inset = inset
    assert (stage.rig.eye == whole) == (inset == 0)
    free = 72 - min(inset, 36)
    for view in (stage.rig.reset, stage.rig.fit):
        view()
        corners = np.array([on_screen(stage, place) for place in model.deform(model.palette("walk", 0.2))[0]])
        assert corners.min() > 0 and corners[:, 0].max() < 96 and corners[:, 1].max() < free
        assert np.ptp(corners[:, 1]) > 0.5 * free  # and not smaller than it must be
    eye = stage.rig.eye
    stage.rig.inset = 5
    assert stage.rig.eye == eye  # it was moved by hand


# ---- the rest --------------------------------------------------------------------------------------


def test_changes_are_counted(model: skinpy.Model) -> None:
    stage = Stage(model, size=SIZE, playing=False)
    count = stage.changes
    stage.player.advance(0.1)
    stage.frame()
    assert stage.changes == count
    for change in (
        lambda: stage.rig.orbit(1, 1),
        lambda: stage.player.seek(0.1),
        lambda: stage.choose("run"),
        lambda: setattr(stage.player, "speed", 2.0),
        lambda: setattr(stage, "size", (40, 30)),
        lambda: setattr(stage, "floor", True),
        lambda: setattr(stage.player, "playing", True),
        lambda: stage.player.advance(0.1),
    ):
        change()
        assert stage.changes > count
        count = stage.changes


def test_any_thread_may_draw(model: skinpy.Model) -> None:
    stage = Stage(model, "run", size=SIZE)
    wanted = stage.frame()
    frames: list[NDArray[np.uint8]] = []
    threads = [threading.Thread(target=lambda: frames.append(stage.frame())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(frames) == 4 and all(np.array_equal(frame, wanted) for frame in frames)


def test_it_can_be_closed_and_used_again(model: skinpy.Model) -> None:
    stage = Stage(model, "run", size=SIZE)
    wanted = stage.frame()
    stage.close()
    stage.close()
    assert np.array_equal(stage.frame(), wanted)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"clip": "fly"}, KeyError, "fly"),
        ({"clip": 17}, IndexError, "17"),
        ({"size": (0, 5)}, ValueError, "size"),
        ({"speed": float("nan")}, ValueError, "speed"),
        ({"speed": 1e9}, ValueError, "speed"),
        ({"loop": "twice"}, ValueError, "loop"),
        ({"playing": 3}, TypeError, "playing"),
        ({"floor": "wood"}, TypeError, "floor"),
        ({"controller": "walk"}, TypeError, "controller"),
    ],
)
def test_wrong_arguments(
    model: skinpy.Model, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        Stage(model, **({"size": SIZE} | arguments))


def test_a_refused_clip_changes_nothing(model: skinpy.Model) -> None:
    stage = Stage(model, "run", size=SIZE)
    foreign = skinpy.crane().clips[0]
    for clip, error, words in (
        ("fly", KeyError, "fly"),
        (99, IndexError, "clips 0 to 2"),
        (foreign, ValueError, "model"),
    ):
        with pytest.raises(error, match=words):
            stage.choose(clip)
        assert stage.player.clip_name == "run"
    with pytest.raises(TypeError, match="eye"):
        stage.rig.eye = "above"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="seconds"):
        stage.player.advance(-1.0)
    with pytest.raises(ValueError, match="another model"):
        Stage(model, controller=skinpy.AnimationController(skinpy.crane()))
    assert isinstance(stage.rig.eye, Orbit)
