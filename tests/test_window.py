"""The window: what its keys, its mouse and its files do, and a real one under Xvfb, driven by xdotool."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("moderngl")
pytest.importorskip("PIL", reason="Pillow (the extra `view`) writes the bar")

import skinpy
from skinpy.render import Overlays
from skinpy.view import Stage, show
from skinpy.view.source import Source
from skinpy.view.window.controls import KEYS, Controls
from skinpy.view.window.panels import Bar, BarState, message_image, panel

ROOT = Path(__file__).parents[1]
DATA = Path(skinpy.__file__).parent / "data"
SIZE = (320, 240)
BAR = 46  # pixels at the bottom that are no picture
PATIENCE = 180  # seconds for whatever is waited for; the machine may be busy


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return skinpy.character()


@pytest.fixture
def controls(model: skinpy.Model) -> Controls:
    return Controls(Stage(model, "walk", size=SIZE, playing=False))


def words(controls: Controls) -> str:
    """The message that is shown."""
    message = controls.messages.current
    return "" if message is None else message.text


def is_error(controls: Controls) -> bool:
    message = controls.messages.current
    return message is not None and message.is_error


# ---- keys ------------------------------------------------------------------------------------------


def test_every_key_is_in_the_table_once() -> None:
    names = [name for key in KEYS for name in key.names]
    assert len(names) == len(set(names))
    assert all(key.help and key.shown and key.names for key in KEYS)


def test_the_page_has_every_key() -> None:
    page = (ROOT / "docs" / "window.md").read_text(encoding="utf-8")
    first = re.findall(r"^\| ([^|]+) \|", page.split("## The keys")[1].split("## Options")[0], re.MULTILINE)
    told = " " + re.sub(r"[`,()]", " ", " ".join(first)) + " "
    for key in KEYS:
        for words_ in re.sub(r",|\.\.\.", "|", key.shown).split("|"):
            assert f" {words_.strip()} " in told, key.shown


def test_every_key_does_something_or_says_why_not(controls: Controls) -> None:
    for key in KEYS:
        for name in key.names:
            controls.stage.player.seek(0.3)
            if name != "p":  # it writes a file
                before = controls.changes
                assert controls.press(name)
                assert controls.changes != before
                assert not is_error(controls), words(controls)
    assert controls.closing
    assert not controls.press("y")
    assert not controls.press("caps_lock")


def test_keys_of_time(controls: Controls) -> None:
    stage = controls.stage
    controls.press(" ")
    controls.advance(0.25)
    assert (stage.player.playing, stage.player.time) == (True, 0.25)
    controls.press("right")
    assert (stage.player.playing, stage.player.time) == (False, pytest.approx(0.25 + 1 / 30))
    controls.press(",")
    assert stage.player.time == pytest.approx(0.25)
    speeds = []
    for name in ("+", "=", "-", "-", "-", "z", "-", "+"):
        controls.press(name)
        speeds.append(stage.player.speed)
    assert speeds == [1.5, 2.0, 1.5, 1.0, 0.75, -0.75, -0.5, -0.75]
    controls.press("backspace")
    assert (stage.player.speed, stage.player.time) == (1.0, 0.0)
    loops = [stage.player.loop for _ in range(5) if controls.press("l")]
    assert loops == ["pingpong", "clamp", "once", "wrap", "pingpong"]
    for name in ("+", "-"):
        for _ in range(20):
            controls.press(name)
        assert 0 < stage.player.speed <= 8


def test_keys_of_clips(controls: Controls) -> None:
    names = []
    for name in ("2", "page_down", "]", "[", "page_up", "3", "0", "page_down"):
        controls.press(name)
        names.append(controls.stage.player.clip_name)
    assert names == ["run", "wave", "walk", "wave", "run", "wave", "rest pose", "walk"]
    controls.press("9")
    assert (controls.stage.player.clip_name, words(controls)) == (
        "walk",
        "there is no clip 9: this model has 3 clips",
    )
    assert controls.title == "walk - skinpy"


def test_keys_of_the_camera(controls: Controls) -> None:
    stage = controls.stage
    first = stage.rig.eye
    angles = []
    for _ in range(5):
        controls.press("v")
        angles.append((round(stage.rig.eye.azimuth), round(stage.rig.eye.elevation)))
    assert angles == [(0, 0), (90, 0), (180, 0), (-90, 0), (0, 90)]
    controls.mouse.scroll(4, 10, 10)
    near = stage.rig.eye.distance
    controls.press("c")
    assert stage.rig.eye.distance > near and stage.rig.eye.elevation == 90
    controls.press("R")  # with the caps lock on
    assert stage.rig.eye == first
    controls.press("v")
    assert round(stage.rig.eye.azimuth) == 0  # from the front again
    controls.press("home")
    assert stage.rig.eye == first


def test_keys_of_overlays(controls: Controls) -> None:
    fields = {
        "j": "skeleton",
        "n": "names",
        "a": "axes",
        "b": "rest",
        "x": "boxes",
        "m": "normals",
        "w": "wireframe",
        "i": "influences",
    }
    for name, field in fields.items():
        controls.press(name)
        assert controls.stage.overlays == Overlays(**{field: True})
        controls.press(name)
        assert controls.stage.overlays is None
    counts = [getattr(controls.stage.overlays, "onion", 0) for _ in range(5) if controls.press("o")]
    assert counts == [1, 2, 4, 0, 1]
    assert not controls.stage.floor
    controls.press("f")
    assert controls.stage.floor


def test_weights_go_through_the_joints_that_have_any(controls: Controls) -> None:
    joints = sorted(set(controls.stage.model.skin.joints.tolist()))
    shown = [getattr(controls.stage.overlays, "weights", None) for _ in joints if controls.press("k")]
    assert shown == joints
    controls.press("k")
    assert controls.stage.overlays is None
    controls.press("K")
    assert controls.stage.overlays == Overlays(weights=joints[-1])
    controls.press("i")  # both color the surface
    assert controls.stage.overlays == Overlays(influences=True)
    controls.press("k")
    assert controls.stage.overlays == Overlays(weights=joints[-1])
    controls.press("t")
    assert controls.stage.overlays == Overlays(weights=joints[-1], trajectories=(joints[-1],))
    controls.press("t")
    assert controls.stage.overlays == Overlays(weights=joints[-1])


def test_a_trajectory_wants_a_joint(controls: Controls) -> None:
    controls.press("t")
    assert "click on a joint" in words(controls) and controls.stage.overlays is None


def test_keys_of_a_controller(model: skinpy.Model) -> None:
    controller = skinpy.AnimationController(model)
    controller.play("walk")
    controls = Controls(Stage(model, controller=controller, size=SIZE))
    controls.advance(0.1)
    controls.press("2")
    assert (controls.stage.player.clip_name, controller.layers["base"][-1].fade) == ("run", 0.0)
    controls.advance(0.25)
    assert [track.clip for track in controller.layers["base"]] == [model.clips["run"]]
    for name in ("l", "z", "+", "left", "backspace", "k", "0", " "):
        controls.press(name)
        assert not is_error(controls), words(controls)
        controls.advance(0.1)
    assert len(controls.layers()) == 1


def test_escape_leaves_one_thing_after_another(controls: Controls) -> None:
    for name in ("h", "f11"):
        controls.press(name)
    assert controls.helping and controls.full_screen
    states = []
    for _ in range(3):
        controls.press("escape")
        states.append((controls.helping, controls.full_screen, controls.closing))
    assert states == [(False, True, False), (False, False, False), (False, False, True)]


# ---- the mouse -------------------------------------------------------------------------------------


def test_drags_turn_and_move(controls: Controls, model: skinpy.Model) -> None:
    twin = Stage(model, "walk", size=SIZE)
    controls.mouse.button_down(100, 100)
    controls.mouse.move(120, 90)
    controls.mouse.move(140, 95)
    controls.mouse.button_up(140, 95)
    twin.rig.orbit(20, -10)
    twin.rig.orbit(20, 5)
    assert controls.stage.rig.eye == twin.rig.eye
    for button, shift in (("left", True), ("middle", False), ("right", False)):
        controls.mouse.button_down(50, 60, button, shift)
        controls.mouse.move(70, 90)
        controls.mouse.button_up(70, 90)
        twin.rig.pan(20, 30)
        assert controls.stage.rig.eye == twin.rig.eye
    controls.mouse.move(200, 200)  # no button is down
    assert controls.stage.rig.eye == twin.rig.eye
    controls.mouse.scroll(2, 30, 40)
    twin.rig.zoom(2, 30, 40)
    assert controls.stage.rig.eye == twin.rig.eye


def test_the_bar_scrubs(controls: Controls) -> None:
    stage, bar = controls.stage, controls.mouse.bar()
    stage.player.playing = True
    controls.mouse.button_down(bar.first + 0.5 * (bar.last - bar.first), bar.top + 10)
    assert stage.player.position == pytest.approx(0.5 * stage.player.duration)
    controls.advance(0.1)
    assert stage.player.position == pytest.approx(0.5 * stage.player.duration)  # it is held
    controls.mouse.move(bar.last + 50, 5)
    assert stage.player.position == stage.player.duration
    controls.mouse.move(bar.first - 50, 5)
    assert stage.player.position == 0.0
    controls.mouse.button_up(0, 5)
    controls.advance(0.1)
    assert stage.player.position == pytest.approx(0.1)
    controls.mouse.button_down(bar.first + 5, bar.top + 30)  # the button that pauses
    assert not stage.player.playing and controls.mouse.drag is None
    controls.mouse.scroll(1, 50, bar.top + 10)
    assert stage.player.position == pytest.approx(0.1 + 1 / 30)


def test_a_click_shows_the_weights_of_a_joint(controls: Controls) -> None:
    stage = controls.stage
    controls.press("0")
    number = stage.model.skeleton.names.index("Head")
    x, y = stage.joints_on_screen()[number].tolist()
    controls.mouse.button_down(x, y)
    controls.mouse.button_up(x + 1, y + 1)
    assert stage.overlays == Overlays(weights=number)
    assert "Head" in words(controls)
    controls.mouse.button_down(x, y)
    controls.mouse.move(x + 60, y)  # a drag is no click
    controls.mouse.button_up(x + 60, y)
    assert stage.overlays == Overlays(weights=number)
    controls.mouse.button_down(2, 2)
    controls.mouse.button_up(2, 2)  # beside it
    assert stage.overlays is None


def test_joints_are_where_the_camera_sees_them(controls: Controls) -> None:
    stage = controls.stage
    stage.player.time = 0.3
    places = stage.model.joint_positions("walk", 0.3)
    camera = stage.rig.camera
    for place, seen in zip(places, stage.joints_on_screen(), strict=True):
        x, y, _, w = camera.projection(320 / 240) @ camera.view() @ np.append(place, 1.0)
        assert np.allclose(seen, ((1 + x / w) * 160, (1 - y / w) * 120), atol=1e-3)
    x, y = stage.joints_on_screen()[5]
    assert stage.joint_at(x + 0.5, y, reach=2) == 5
    assert stage.joint_at(-500, -500) is None
    still = Stage(stage.model, stage.model.bake_vertices("walk", 5), size=SIZE)
    assert still.joint_at(160, 120, 1e9) is None


# ---- files -----------------------------------------------------------------------------------------


def test_a_file_has_changed_when_it_stands_still(tmp_path: Path) -> None:
    path = tmp_path / "model.glb"
    shutil.copy(DATA / "character.glb", path)
    source = Source(path)
    looks = [source.has_changed() for _ in range(3)]
    path.write_bytes((DATA / "crane.glb").read_bytes())
    looks += [source.has_changed() for _ in range(3)]
    assert looks == [False, False, False, False, True, False]
    assert source.load().model.clips.names == skinpy.crane().clips.names
    path.unlink()
    assert not any(source.has_changed() for _ in range(3))
    shutil.copy(DATA / "character.glb", path)
    assert [source.has_changed() for _ in range(3)] == [False, True, False]


def test_a_change_on_disk_is_shown(model: skinpy.Model, tmp_path: Path) -> None:
    path = tmp_path / "model.glb"
    shutil.copy(DATA / "character.glb", path)
    controls = Controls(Stage(model, "run", size=SIZE, overlays=Overlays(weights="Head")), Source(path))
    controls.stage.player.time = 0.2
    path.write_bytes(b"glTF, but no more")
    for _ in range(3):
        controls.files.look_for_changes()
    assert is_error(controls) and "model.glb" in words(controls)
    assert controls.stage.model is model
    shutil.copy(DATA / "character.glb", path)
    for _ in range(3):
        controls.files.look_for_changes()
    assert controls.stage.model is not model and "loaded again" in words(controls)
    assert (controls.stage.player.clip_name, controls.stage.player.time) == ("run", 0.2)
    assert controls.stage.overlays == Overlays(weights="Head")
    shutil.copy(DATA / "crane.glb", path)
    for _ in range(3):
        controls.files.look_for_changes()
    assert controls.stage.overlays is None  # that joint is gone
    assert controls.stage.frame().shape == (240, 320, 4)


def test_a_dropped_file_is_shown(controls: Controls, tmp_path: Path, model: skinpy.Model) -> None:
    controls.stage.rig.orbit(10, 10)
    controls.files.drop([str(DATA / "crane.glb")])
    assert words(controls) == "loading crane.glb" and controls.stage.model is model
    controls.files.load_pending()
    crane = Stage(skinpy.crane(), size=SIZE)
    assert controls.stage.clips == crane.clips and controls.stage.rig.eye == crane.rig.eye
    assert controls.title == f"{crane.player.clip_name} - crane.glb - skinpy"
    kept = controls.stage.model
    (tmp_path / "notes.txt").write_text("not a model")
    for path in (tmp_path / "notes.txt", tmp_path / "missing.glb", tmp_path):
        controls.files.drop([path])
        controls.files.load_pending()
        assert is_error(controls) and controls.stage.model is kept
        controls.press(" ")
        assert not is_error(controls)  # read and gone
    controls.files.drop([DATA / "chair.glb", DATA / "crane.glb"])
    controls.files.load_pending()
    controls.files.drop([])
    controls.files.load_pending()
    assert (
        "1 more" in words(controls)
        and controls.files.source
        and controls.files.source.path.name == "chair.glb"
    )


def test_stored_frames_play(shared_data: Path) -> None:
    model, animation = Source(shared_data / "models" / "faerie.md2").load()
    assert animation is not None and animation.model is model
    stage = Stage(model, animation, size=SIZE)
    assert stage.player.duration > 1


def test_pictures_are_numbered(controls: Controls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = pytest.importorskip("PIL.Image")
    monkeypatch.chdir(tmp_path)
    for name in ("skinpy-007.png", "skinpy-x.png", "skinpy-99.jpg"):
        Path(name).write_bytes(b"mine")
    controls.press("p")
    controls.press("p")
    assert words(controls) == "wrote skinpy-009.png"
    assert Path("skinpy-007.png").read_bytes() == b"mine"
    with image.open("skinpy-008.png") as opened:
        assert np.array_equal(np.asarray(opened), controls.stage.frame())
    controls.files.save_picture(controls.stage.frame(), tmp_path / "no" / "folder")
    assert is_error(controls) and "folder" in words(controls)


# ---- what lies over the picture --------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("share", [0.0, 0.37, 1.0])
def test_the_knob_is_where_the_mouse_would_put_it(scale: float, share: float) -> None:
    bar = Bar((400, 300), scale)
    image = bar.draw(BarState(share, True, "walk", "0.1 / 1.0 s"))
    assert image.shape == (bar.height, 400, 4) and bar.top == 300 - bar.height
    track = image[round(13 * scale) + 4 * round(scale)]  # beside the line, where the knob alone is
    bright = np.flatnonzero(track[:, 0] > 200)
    assert abs(bar.fraction(bright.mean()) - share) < 0.02


@pytest.mark.parametrize("size", [(1, 1), (30, 20), (200, 40), (2000, 60)])
def test_everything_fits_into_any_window(model: skinpy.Model, size: tuple[int, int]) -> None:
    controls = Controls(Stage(model, size=size))
    controls.press("h")
    controls.messages.fail(ValueError("a message of some length " * 20))
    for scale in (1.0, 3.0):
        controls.scale = scale
        for image, left, top in controls.layers():
            assert image.dtype == np.uint8 and image.shape[2] == 4 and image.size
            assert left + image.shape[1] <= max(size[0], left + 1) and top >= 0


@pytest.mark.parametrize("size", [(600, 434), (960, 674), (1900, 1000), (700, 300)])
def test_all_keys_find_room(size: tuple[int, int]) -> None:
    """The right and lower edges of the panel are free: nothing is cut off."""
    rows = tuple((key.shown, key.help) for key in KEYS)
    image = panel(rows, 1.0, size)
    assert image.shape[0] <= size[1] and image.shape[1] <= size[0]
    assert (image[:, -4:] == image[0, 0]).all() and (image[-4:] == image[0, 0]).all()
    assert (image[:, -40:] != image[0, 0]).any()  # and the room is used


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("size", [(276, 330), (120, 600), (500, 60), (60, 40)])
def test_keys_that_find_no_room_are_cut_between_letters(size: tuple[int, int], scale: float) -> None:
    image = panel(tuple((key.shown, key.help) for key in KEYS), scale, size)
    assert image.shape[0] <= size[1] and image.shape[1] <= size[0]
    assert (image[:, -4:] == image[0, 0]).all() and (image[-2:] == image[0, 0]).all()


def test_words_that_no_font_has(controls: Controls) -> None:
    controls.messages.fail(ValueError("bytes \udcff and \U0001f9b4 and\nlines\tand " + "w" * 3000))
    assert len(controls.layers()) == 2
    assert message_image("", 1.0, 100, False).shape[2] == 4
    assert panel((("a", "b"),), 1.0, (100, 100)).shape[0] < 60


def test_messages_go_by_themselves_and_errors_stay(
    controls: Controls, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    controls.messages.say("hello")
    before = controls.changes
    assert controls.changes == before and len(controls.layers()) == 2
    monkeypatch.setattr(time, "monotonic", lambda: now + 60)
    assert controls.changes != before and len(controls.layers()) == 1
    controls.messages.fail(ValueError("oh"))
    monkeypatch.setattr(time, "monotonic", lambda: now + 6000)
    assert controls.changes and len(controls.layers()) == 2


def test_overlays_that_cannot_be_drawn_go(model: skinpy.Model) -> None:
    stage = Stage(model, model.bake_vertices("walk", 5), size=SIZE)
    controls = Controls(stage)
    wanted, out = stage.frame(), np.zeros((240, 320, 4), np.uint8)
    for overlays in (Overlays(trajectories=("Head",)), Overlays(weights="Tail")):
        stage.overlays = overlays
        controls.take_picture(out, None)
        assert is_error(controls) and words(controls)
        assert stage.overlays is None and np.array_equal(out, wanted)
    stage.overlays = Overlays(wireframe=True)
    wanted = stage.frame()
    controls.take_picture(out, None)
    controls.press("j")  # stored frames have no joints
    assert stage.overlays == Overlays(wireframe=True, skeleton=True) and not is_error(controls)
    controls.take_picture(out, None)
    assert is_error(controls) and "joints" in words(controls)
    assert stage.overlays == Overlays(wireframe=True) and np.array_equal(out, wanted)
    stage.size = (10, 10)
    with pytest.raises(ValueError, match="out"):
        controls.take_picture(out, None)


# ---- where there is no window ----------------------------------------------------------------------


def without_display() -> dict[str, str]:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def test_no_display_is_one_sentence_with_a_remedy() -> None:
    pytest.importorskip("glfw")
    code = "import skinpy, sys\ntry: skinpy.character().show()\nexcept skinpy.GraphicsError as e: print(e)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=without_display(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "no display" in done.stdout and "render()" in done.stdout and "save()" in done.stdout
    command = [sys.executable, "-m", "skinpy", "view", str(DATA / "character.glb")]
    done = subprocess.run(command, env=without_display(), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("skinpy: there is no display")


def test_windows_belong_to_the_main_thread(model: skinpy.Model) -> None:
    pytest.importorskip("glfw")
    errors: list[BaseException] = []

    def attempt() -> None:
        try:
            show(model)
        except skinpy.GraphicsError as error:
            errors.append(error)

    thread = threading.Thread(target=attempt, name="another")
    thread.start()
    thread.join()
    assert "'another'" in str(errors[0]) and "main thread" in str(errors[0])


def test_without_glfw_the_extra_is_named(model: skinpy.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "glfw", None)
    with pytest.raises(ImportError, match=r"skinpy-anim\[view\]"):
        model.show()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"clip": "fly"}, KeyError),
        ({"size": (0, 1)}, ValueError),
        ({"size": (10**6, 100)}, ValueError),
        ({"speed": "fast"}, TypeError),
        ({"overlays": Overlays(weights="Tail")}, KeyError),
        ({"overlays": Overlays(trajectories=(99,))}, IndexError),
    ],
)
def test_wrong_arguments_come_before_the_window(
    model: skinpy.Model, arguments: dict[str, Any], error: type[Exception]
) -> None:
    pytest.importorskip("glfw")
    with pytest.raises(error):
        model.show(**arguments)


# ---- a real window ---------------------------------------------------------------------------------


class Desktop:
    """A virtual screen, and the window of one `skinpy view` on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.display = ""
        self.window = ""
        self.processes: list[subprocess.Popen[str]] = []

    def open(self, *command: str) -> None:
        """Start the screen, then a command that opens a window, and wait for that."""
        reading, writing = os.pipe()
        screen = ["Xvfb", "-screen", "0", "800x600x24", "-noreset", "-fbdir", str(self.folder)]
        self._start([*screen, "-displayfd", str(writing)], pass_fds=(writing,))
        os.close(writing)
        with os.fdopen(reading) as answer:
            self.display = f":{answer.readline().strip()}"
        self.viewer = self._start(list(command), cwd=self.folder)
        self.window = self.until(lambda: self._find(), "a window")
        self.tell("windowfocus", "--sync", self.window)

    def _start(self, command: list[str], **options: Any) -> subprocess.Popen[str]:
        environment = {name: value for name, value in os.environ.items() if name != "WAYLAND_DISPLAY"}
        environment |= {"DISPLAY": self.display, "XDG_SESSION_TYPE": "x11"}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options
        )
        self.processes.append(process)
        return process

    def _find(self) -> str:
        assert self.viewer.poll() is None, self.viewer.communicate()
        found = self.tell("search", "--onlyvisible", "--name", "skinpy", check=False).split()
        return found[-1] if found else ""

    def tell(self, *words: object, check: bool = True) -> str:
        """Have xdotool do something; what it answers."""
        done = subprocess.run(
            ["xdotool", *map(str, words)],
            env=os.environ | {"DISPLAY": self.display},
            capture_output=True,
            text=True,
            check=check,
        )
        return done.stdout.strip()

    @property
    def title(self) -> str:
        return self.tell("getwindowname", self.window)

    def pixels(self, size: tuple[int, int] = SIZE) -> NDArray[np.uint8]:
        """(h, w, 3): what the screen shows of the window, which stands in its upper left corner."""
        data = (self.folder / "Xvfb_screen0").read_bytes()  # as xwd writes it
        header = np.frombuffer(data, ">u4", 25)
        colors, stride = int(header[19]) * 12, int(header[12])
        image = np.frombuffer(data, np.uint8, offset=int(header[0]) + colors).reshape(-1, stride)
        assert (header[11], header[7]) == (32, 0)  # bits per pixel, the least byte first
        return image.reshape(len(image), -1, 4)[: size[1], : size[0], 2::-1]

    def until(self, find: Callable[[], Any], what: str) -> Any:
        """What `find` gives, as soon as it is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = find()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"there is no {what}")

    def shows(self, stage: Stage, what: str) -> None:
        """Wait until the window shows the picture of a stage, above the bar."""
        stage.rig.inset = BAR
        wanted = stage.frame()[: stage.size[1] - BAR, :, :3].astype(int)

        def equal() -> bool:
            shown = self.pixels(stage.size)[: stage.size[1] - BAR].astype(int)
            return shown.shape == wanted.shape and bool(np.abs(shown - wanted).max() <= 1)

        self.until(equal, what)

    def is_titled(self, title: str) -> None:
        """Wait for a title, which the window gets on its own, before or after a picture."""
        self.until(lambda: self.title == title, f"title {title!r}, but {self.title!r}")

    def ends(self) -> tuple[int, str, str]:
        """Status and words of the command that opened the window, as soon as it has ended."""
        said, complained = self.viewer.communicate(timeout=PATIENCE)
        return self.viewer.returncode, said, complained

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.communicate()


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Callable[..., Desktop]]:
    pytest.importorskip("glfw")
    for program in ("Xvfb", "xdotool"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    opened: list[Desktop] = []

    def start(*command: str) -> Desktop:
        opened.append(Desktop(tmp_path))
        opened[-1].open(*command)
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def view(path: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "skinpy", "view", str(path), "--size", "320x240", *options]


def test_keys_and_mouse_of_a_real_window(desktop: Callable[..., Desktop]) -> None:
    path = DATA / "character.glb"
    screen = desktop(*view(path, "--paused", "--clip", "walk"))
    stage = Stage(skinpy.load(path), "walk", size=SIZE, playing=False)
    stage.rig.inset = BAR
    screen.shows(stage, "picture of the first clip")
    screen.is_titled("walk - character.glb - skinpy")

    screen.tell(
        "mousemove", 100, 80, "mousedown", 1, "mousemove", 140, 90, "mousemove", 190, 70, "mouseup", 1
    )
    stage.rig.orbit(90, -10)
    screen.shows(stage, "picture after a drag")
    screen.tell("mousemove", 120, 60, "click", 4, "click", 4, "click", 4)
    stage.rig.zoom(3, 120, 60)
    screen.shows(stage, "picture after the wheel")
    screen.tell("mousemove", 120, 60, "mousedown", 2, "mousemove", 100, 95, "mouseup", 2)
    stage.rig.pan(-20, 35)
    screen.shows(stage, "picture after a drag with the middle button")

    bar = Bar(SIZE)
    screen.tell("mousemove", 60, bar.top + 12, "mousedown", 1, "mousemove", 200, 100, "mouseup", 1)
    stage.player.seek(bar.fraction(200) * stage.player.duration)
    screen.shows(stage, "picture of where the bar was dragged")

    def knob() -> NDArray[np.intp]:
        return np.flatnonzero(screen.pixels()[bar.top + 17, :, 0] > 200)

    # The file of the screen may be read while the server is still writing the rows below the picture.
    screen.until(lambda: len(found := knob()) and abs(found.mean() - 200) < 2, "knob where it was dragged")

    screen.tell("key", "2", "key", "r", "key", "f")
    stage.choose("run")
    stage.rig.reset()
    stage.floor = True
    screen.shows(stage, "picture of the second clip on a floor")
    screen.is_titled("run - character.glb - skinpy")
    screen.tell("key", "Next", "key", "j")
    stage.choose("wave")
    stage.overlays = Overlays(skeleton=True)
    screen.shows(stage, "picture with the skeleton")

    screen.tell("windowsize", screen.window, 400, 200)
    stage.size = (400, 200)
    screen.shows(stage, "picture in a window of another size")
    screen.tell("key", "h")
    screen.until(lambda: screen.pixels((40, 40))[20, 20].max() < 90, "panel with the keys")
    screen.tell("key", "h", "key", "p")
    screen.until(lambda: (screen.folder / "character-001.png").exists(), "picture on the disk")
    screen.tell("key", "q")
    assert screen.ends() == (0, "", "")


def test_playing_goes_on_and_space_pauses(desktop: Callable[..., Desktop]) -> None:
    screen = desktop(*view(DATA / "character.glb"))
    screen.until(lambda: screen.pixels().any(), "picture")
    first = screen.pixels().copy()
    screen.until(lambda: not np.array_equal(screen.pixels()[:-BAR], first[:-BAR]), "motion")
    top = Bar(SIZE).top
    button = (slice(top + 26, top + 38), slice(14, 25))
    moving = screen.pixels()[button].copy()
    screen.tell("key", "space")
    screen.until(lambda: not np.array_equal(screen.pixels()[button], moving), "triangle in place of two bars")
    still = first

    def stands_still() -> bool:
        """Whether the same is seen for half a second, twenty times."""
        nonlocal still
        still = screen.pixels().copy()
        return all(np.array_equal(screen.pixels(), still) for _ in range(20) if not time.sleep(0.025))

    screen.until(stands_still, "pause")
    screen.tell("key", "space")
    screen.until(lambda: not np.array_equal(screen.pixels()[:-BAR], still[:-BAR]), "motion again")


def test_a_real_window_loads_again(desktop: Callable[..., Desktop], tmp_path: Path) -> None:
    path = tmp_path / "thing.glb"
    shutil.copy(DATA / "character.glb", path)
    screen = desktop(*view(path, "--paused"))
    stage = Stage(skinpy.load(path), size=SIZE, playing=False)
    screen.shows(stage, "picture of the character")
    path.write_bytes(b"glTF")

    def is_red() -> bool:
        red, green, _ = screen.pixels()[3, 3].tolist()
        return bool(red > 2 * green)

    screen.until(is_red, "message on red")
    below = slice(100, SIZE[1] - BAR)
    wanted = stage.frame()[below, :, :3].astype(int)
    screen.until(lambda: np.abs(screen.pixels()[below] - wanted).max() <= 1, "character as before")
    shutil.copy(DATA / "crane.glb", path)
    stage.replace(skinpy.crane())
    wanted = stage.frame()[below, :, :3].astype(int)
    screen.until(lambda: np.abs(screen.pixels()[below] - wanted).max() <= 1, "picture of the crane")


def test_ctrl_c_closes_it(desktop: Callable[..., Desktop]) -> None:
    screen = desktop(*view(DATA / "character.glb"))
    screen.until(lambda: screen.pixels().any(), "picture")
    screen.viewer.send_signal(signal.SIGINT)
    assert screen.ends() == (130, "", "")
    screen.until(lambda: not screen.pixels().any(), "empty screen")


def test_files_dropped_on_a_real_window(desktop: Callable[..., Desktop]) -> None:
    """As GLFW reports them: no program here drags a file from one window to another."""
    path = os.fsencode(DATA / "crane.glb")
    code = f"""if True:
        import ctypes
        import skinpy
        from skinpy.view.window.window import Window

        listen = Window._listen

        def and_drop(self):
            listen(self)
            callback = self._glfw.set_drop_callback(self._handle, None)
            callback(self._handle, 1, (ctypes.c_char_p * 1)({path!r}))

        Window._listen = and_drop
        skinpy.character().show("run", size=(320, 240), playing=False)
    """
    screen = desktop(sys.executable, "-c", code)
    stage = Stage(skinpy.crane(), size=SIZE, playing=False)
    stage.rig.inset = BAR
    below = slice(100, SIZE[1] - BAR)
    wanted = stage.frame()[below, :, :3].astype(int)
    screen.until(lambda: np.abs(screen.pixels()[below] - wanted).max() <= 1, "picture of the crane")
    screen.is_titled(f"{stage.player.clip_name} - crane.glb - skinpy")


def test_the_rest_pose_keeps_overlays_in_a_real_window(desktop: Callable[..., Desktop]) -> None:
    path = DATA / "character.glb"
    options = ("--overlay", "onion=1", "--overlay", "skeleton", "--overlay", "trajectories=Head")
    screen = desktop(*view(path, "--paused", "--clip", "walk", *options))
    overlays = Overlays(onion=1, skeleton=True, trajectories="Head")
    stage = Stage(skinpy.load(path), "walk", size=SIZE, playing=False, overlays=overlays)
    screen.shows(stage, "ghosts of the walk")
    screen.tell("key", "0")
    stage.rest()
    screen.shows(stage, "skeleton of the rest pose")
    screen.tell("key", "2")
    stage.choose(1)
    screen.is_titled("run - character.glb - skinpy")
    screen.shows(stage, "ghosts of the run")
    screen.tell("key", "Escape")
    assert screen.ends()[0] == 0


WINDOWS = """
import gc, threading
import moderngl, skinpy
from skinpy.render import Overlays
from skinpy.render.gpu import context as gl
from skinpy.view import Stage
from skinpy.view.window.controls import Controls
from skinpy.view.window.window import Window

frames = 0

def advance(controls, seconds, before=Controls.advance):
    global frames
    frames += 1
    before(controls, seconds)
    controls.closing = frames % 3 == 0

Controls.advance = advance
kinds = moderngl.Buffer, moderngl.Texture, moderngl.Framebuffer, moderngl.VertexArray, moderngl.Program
model = skinpy.character()
for _ in range(4):
    overlays = Overlays(onion=1, names=True, weights=3)
    skinpy.view.show(model, "walk", size=(200, 150), layer="wave", overlays=overlays, floor=True)
    for _ in range(2):
        gl.call(lambda context: None)
        gc.collect()
    alive = [sum(isinstance(one, kind) for one in gc.get_objects()) for kind in kinds]
    gone = sum(isinstance(one, (Window, Controls, Stage)) for one in gc.get_objects())
    print(alive, threading.active_count(), gone)
"""


def test_closed_windows_leave_nothing(desktop: Callable[..., Desktop]) -> None:
    """The same objects on the GPU and threads after one window and after four, and no window or stage."""
    screen = desktop(*view(DATA / "character.glb", "--paused"))  # it brings the virtual screen
    done = subprocess.run(
        [sys.executable, "-c", WINDOWS],
        env=os.environ | {"DISPLAY": screen.display, "XDG_SESSION_TYPE": "x11"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    first, *others = done.stdout.splitlines()
    assert others == [first] * 3 and first.endswith(" 0"), done.stderr
