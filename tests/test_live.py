"""Live views, driven by the events that a browser sends, without a browser."""

import asyncio
import subprocess
import sys
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
from PIL import Image

import skinpy
from skinpy.render import Camera, Overlays

pytest.importorskip("jupyter_rfb", reason="jupyter_rfb is not installed: extra jupyter")
pytest.importorskip("ipywidgets", reason="ipywidgets is not installed: extra jupyter")

from skinpy.view import Layer, LiveView
from skinpy.view.live import loop
from skinpy.view.live.pace import Pace, reduced

SIZE = (64, 48)
PATIENCE = 120.0  # seconds for whatever is waited for; the machine may be busy


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return skinpy.character()


@pytest.fixture
def view(model: skinpy.Model) -> Iterator[LiveView]:
    view = model.view("walk", size=SIZE, playing=False)
    yield view
    view.close()


class Clock:
    """Time as a view sees it: it stands until a test lets it go by, however long the machine takes."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def tick(self, seconds: float = 0.02) -> bool:
        self.now += seconds
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(loop, "time", clock)
    return clock


class Browser:
    """The other side of a view: it sends what jupyter_rfb's JavaScript sends, and keeps the pictures."""

    def __init__(self, view: LiveView, monkeypatch: pytest.MonkeyPatch) -> None:
        self.view, self.canvas = view, view.canvas
        self.frames: list[Any] = []
        self.silent = False  # whether it confirms nothing, like a page that was closed
        monkeypatch.setattr(self.canvas, "send", self.receive)

    def receive(self, message: dict[str, Any], buffers: Any = None) -> None:
        assert message["type"] == "framebufferdata"
        self.frames.append(self.canvas._rfb_last_frame)
        if not self.silent:
            feedback = {"index": message["index"], "timestamp": message["timestamp"], "localtime": 0.0}
            asyncio.get_running_loop().call_soon(lambda: self.canvas.set_state({"_frame_feedback": feedback}))

    def show(self, visible: bool = True) -> None:
        if visible:
            self.event("resize", width=SIZE[0], height=SIZE[1], ratio=1.0)
        self.canvas.set_state({"_has_visible_views": visible})
        self.event("show" if visible else "hide")

    def event(self, kind: str, **fields: Any) -> None:
        self.canvas._handle_custom_msg({"type": kind, "timestamp": 0.0, **fields}, [])

    def pointer(
        self, kind: str, x: float, y: float, button: int = 1, modifiers: tuple[str, ...] = ()
    ) -> None:
        self.event(f"pointer_{kind}", x=x, y=y, button=button, buttons=[button], modifiers=list(modifiers))

    def drag(self, dx: float, dy: float, **how: Any) -> None:
        self.pointer("down", 30, 20, **how)
        for part in (0.5, 1.0):
            self.pointer("move", 30 + dx * part, 20 + dy * part, **how)
        self.pointer("up", 30 + dx, 20 + dy, **how)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Lets the view work until something holds; fails after two minutes."""
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await asyncio.sleep(0.01)

    async def rest(self) -> None:
        """Until no picture comes any more: longer than it takes to the fine one after the last coarse one.

        In small steps, as a step in which the machine stood still lets no more than one timer come true.
        """
        count, steps = -1, 0
        while steps < 20:
            steps = steps + 1 if count == len(self.frames) else 0
            count = len(self.frames)
            await asyncio.sleep(0.04)


@pytest.fixture
def browser(view: LiveView, monkeypatch: pytest.MonkeyPatch) -> Browser:
    return Browser(view, monkeypatch)


def moves(widget: Any, value: Any) -> None:
    """What a front end sends when a hand gives a widget another value."""
    key = "index" if hasattr(widget, "options") else "value"
    if key == "index":
        value = [number for _, number in widget.options].index(value)
    widget.set_state({key: value})


# ---- the picture ------------------------------------------------------------------------------------


def test_a_visible_view_is_drawn_and_a_drag_turns_the_model(view: LiveView, browser: Browser) -> None:
    async def session() -> None:
        view.refresh()
        await browser.rest()
        assert not browser.frames  # nobody looks
        browser.show()
        await browser.rest()
        np.testing.assert_array_equal(browser.frames[-1], view.snapshot())
        before, eye = browser.frames[-1], view.stage.rig.eye
        browser.drag(20, 5)
        await browser.rest()
        assert (browser.frames[-1] != before).any()
        np.testing.assert_array_equal(browser.frames[-1], view.snapshot())
        assert view.stage.rig.eye.azimuth != eye.azimuth and view.stage.rig.eye.target == eye.target

    asyncio.run(session())


def test_it_plays_only_in_sight(view: LiveView, browser: Browser) -> None:
    async def session() -> None:
        browser.show()
        view.playing = True
        # A picture that comes late lets up to half a second go by, so there may be few of them by then.
        await browser.until(
            lambda: view.time > 0.3 and len({frame.tobytes() for frame in browser.frames}) > 2
        )
        browser.show(False)
        await browser.rest()
        time, count = view.time, len(browser.frames)
        await browser.rest()
        assert (view.time, len(browser.frames)) == (time, count)
        browser.show()
        await browser.until(lambda: view.time > time + 0.1)

    asyncio.run(session())


def test_a_page_that_confirms_nothing_gets_two_pictures_and_a_new_page_goes_on(
    view: LiveView, browser: Browser
) -> None:
    async def session() -> None:
        browser.show()
        await browser.rest()
        count = len(browser.frames)
        browser.silent = True
        view.playing = True
        await browser.rest()
        assert len(browser.frames) == count + 2  # the page is gone: nothing is drawn for it
        browser.silent = False
        browser.show()
        await browser.until(lambda: len(browser.frames) > count + 5)

    asyncio.run(session())


def test_what_moves_is_drawn_coarser_where_drawing_is_slow_and_what_rests_is_fine(
    view: LiveView, browser: Browser, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    fineness = []
    frame = view.stage.frame

    def noting(*args: Any, samples: int | None = None, **options: Any) -> Any:
        fineness.append(samples)
        return frame(*args, samples=samples, **options)

    async def session() -> None:
        browser.show()
        await browser.rest()
        view._loop._pace._go(1)
        monkeypatch.setattr(view.stage, "frame", noting)
        browser.drag(9, 0)
        await browser.until(lambda: bool(fineness))
        clock.tick(1.0)  # it has come to rest
        await browser.rest()

    asyncio.run(session())
    assert fineness[0] == 0 and fineness[-1] is None
    np.testing.assert_array_equal(browser.frames[-1], view.snapshot())


def test_the_pace_follows_the_time_that_pictures_take() -> None:
    pace = Pace()
    assert pace.is_finest
    for _ in range(3):
        pace.took(0.1)
    assert pace.fineness == (1.0, 0)
    for _ in range(20):
        pace.took(0.02)
    assert pace.fineness == (1.0, 0)  # neither slow nor quick
    for _ in range(20):
        pace.took(1.0)
    assert pace.fineness == (0.5, 0)
    for _ in range(60):
        pace.took(0.001)
    assert pace.is_finest
    assert reduced((640, 480), 0.25) == (160, 120)
    assert reduced((100, 40), 0.25) == (40, 40)


def test_the_picture_has_the_browsers_pixels(view: LiveView, browser: Browser) -> None:
    async def session() -> None:
        browser.show()
        browser.event("resize", width=50.0, height=40.0, ratio=2.0)
        await browser.rest()
        assert browser.frames[-1].shape == (80, 100, 4)
        turned = view.stage.rig.eye.azimuth
        browser.drag(10, 0)  # a quarter of the height: a quarter of a turn
        assert abs((view.stage.rig.eye.azimuth - turned + 180) % 360 - 180) == pytest.approx(90, abs=0.1)

    asyncio.run(session())


def test_other_threads_draw_and_drive(view: LiveView, browser: Browser) -> None:
    """As JupyterLab 4 with ipykernel 7 does it: messages come in another thread, code runs in this one."""
    started, stop = threading.Event(), threading.Event()

    async def session() -> None:
        browser.show()
        started.set()
        while not stop.is_set():
            await asyncio.sleep(0.01)

    def drawn_now() -> bool:
        return bool(browser.frames) and np.array_equal(browser.frames[-1], view.snapshot())

    thread = threading.Thread(target=lambda: asyncio.run(session()))
    thread.start()
    try:
        assert started.wait(PATIENCE)
        for number in range(4):
            view.time = 0.2 * number  # this thread has no loop at all
            end = monotonic() + PATIENCE
            while not drawn_now():
                assert monotonic() < end and thread.is_alive(), f"picture {number} never came"
                stop.wait(0.02)
        assert view.snapshot()[..., :3].std() > 5  # a picture, not one color
    finally:
        stop.set()
        thread.join()
    view.time = 0.0  # nobody runs that loop any more
    assert view.canvas._loop is not None and view.canvas._loop.is_closed()


# ---- the hand -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{"button": 2}, {"button": 3}, {"modifiers": ("Shift",)}])
def test_other_drags_pan(how: dict[str, Any], view: LiveView, browser: Browser) -> None:
    eye = view.stage.rig.eye
    browser.drag(10, 0, **how)
    moved = view.stage.rig.eye
    assert (moved.azimuth, moved.distance) == (eye.azimuth, eye.distance)
    assert np.linalg.norm(np.subtract(moved.target, eye.target)) == pytest.approx(eye.height * 10 / SIZE[1])
    browser.pointer("move", 0, 0)  # with no button down
    assert view.stage.rig.eye == moved


def test_the_wheel_zooms_to_the_pointer_and_a_double_click_resets(view: LiveView, browser: Browser) -> None:
    eye = view.stage.rig.eye
    browser.event("wheel", x=32, y=24, dx=0, dy=-100, buttons=[], modifiers=[])
    assert view.stage.rig.eye.distance == pytest.approx(0.9 * eye.distance)
    assert view.stage.rig.eye.target == pytest.approx(eye.target)
    browser.event("wheel", x=0, y=0, dx=0, dy=100, buttons=[], modifiers=[])
    assert view.stage.rig.eye.distance == pytest.approx(eye.distance)
    assert view.stage.rig.eye.target != pytest.approx(eye.target)
    browser.event("double_click", x=0, y=0, button=1, buttons=[], modifiers=[])
    assert view.stage.rig.eye == eye


def press(browser: Browser, key: str, *modifiers: str) -> None:
    browser.event("key_down", key=key, modifiers=list(modifiers))


def test_keys_are_those_of_windows(view: LiveView, browser: Browser) -> None:
    press(browser, " ")
    assert view.playing
    press(browser, "ArrowRight")
    assert not view.playing and view.time == pytest.approx(1 / 30)
    press(browser, "Home")
    press(browser, "j")
    assert view.overlays == Overlays(skeleton=True) and view._loop.panel.overlays.toggles["skeleton"].value
    press(browser, "2")
    assert view.clip is not None and view.clip.name == "run"
    press(browser, "9")
    assert view._loop.panel.message.value == "there is no clip 9: this model has 3 clips"
    changes = view.stage.changes
    for key in ("p", "q", "F11", "Escape", "Dead", "left", "Shift"):
        press(browser, key)
    press(browser, "j", "Control")
    assert view.stage.changes == changes
    assert view._loop.panel.message.value == ""


def test_a_click_on_a_joint_shows_its_weights_where_joints_are_shown(
    view: LiveView, browser: Browser
) -> None:
    joint = view.model.skeleton.index("Head")
    view.stage.size = (640, 480)
    x, y = next(
        (x, y) for x in range(0, 640, 6) for y in range(0, 480, 6) if view.stage.joint_at(x, y, 8) == joint
    )

    def click() -> None:
        for kind in ("down", "up"):
            browser.pointer(kind, x / 10, y / 10)

    click()
    assert view.overlays is None
    view.overlays = Overlays(skeleton=True)
    click()
    assert view.overlays.weights == joint
    assert view._loop.panel.overlays.weights.label == "Head"
    assert view._loop.panel.message.value == f"joint {joint}: Head"
    browser.pointer("move", 1, 1)
    assert view._loop.panel.message.value == f"joint {joint}: Head"
    click()
    assert view.overlays == Overlays(skeleton=True)


# ---- menus and sliders --------------------------------------------------------------------------------


def test_the_slider_seeks_and_follows(view: LiveView) -> None:
    panel = view._loop.panel
    moves(panel.playback.time, 400)
    assert view.time == pytest.approx(0.4)
    assert panel.playback.label.value == "0.40 / 1.00 s"
    view.time = 1.25
    assert panel.playback.label.value == "0.25 / 1.00 s"
    view._loop._held_until = 0.0
    view.refresh()
    assert panel.playback.time.value == 250


def test_a_hand_on_the_slider_holds_what_plays(view: LiveView, browser: Browser, clock: Clock) -> None:
    async def session() -> None:
        browser.show()
        view.playing = True
        await browser.until(lambda: clock.tick() and view.time > 0)
        moves(view._loop.panel.playback.time, 500)
        for _ in range(3):
            clock.tick(0.1)
            assert view._loop.draw() is not None  # as it plays, but not on
            assert view.time == 0.5 and view._loop.panel.playback.time.value == 500
        await browser.until(lambda: clock.tick() and view.time > 0.5)

    asyncio.run(session())


def test_a_front_end_that_repeats_what_it_was_told_does_not_stop_the_clip(view: LiveView) -> None:
    panel = view._loop.panel
    told = []
    for time in (0.1, 0.2, 0.3):
        view.time = time
        told.append(panel.playback.time.value)
    view.playing = True
    panel.playback.time.set_state({"value": told[0]})
    assert view.time == 0.3 and not view._loop.is_held
    panel.playback.time.set_state({"value": 777})
    assert view.time == pytest.approx(0.777)


def test_menus_and_buttons(view: LiveView) -> None:
    panel = view._loop.panel
    assert panel.playback.clip.label == "walk"
    moves(panel.playback.clip, 1)
    assert view.clip == view.model.clips["run"] and panel.playback.label.value == "0.00 / 0.70 s"
    moves(panel.playback.clip, -1)
    assert view.clip is None and panel.playback.clip.label == "rest pose"
    moves(panel.playback.loop, "once")
    assert view.loop == "once"
    moves(panel.playback.play, True)
    assert view.playing and panel.playback.play.icon == "pause"
    moves(panel.playback.speed, -1.5)
    assert view.speed == -1.5
    view.stage.rig.orbit(20, 0)
    panel.playback.reset.click()
    assert view.stage.rig.eye.azimuth == pytest.approx(30)


def test_overlay_switches(view: LiveView) -> None:
    panel = view._loop.panel
    plain = view.snapshot()
    for name in ("skeleton", "wireframe", "floor"):
        moves(panel.overlays.toggles[name], True)
        assert (view.snapshot() != plain).any(), name
        assert view.floor if name == "floor" else getattr(view.overlays, name)
        moves(panel.overlays.toggles[name], False)
    np.testing.assert_array_equal(view.snapshot(), plain)
    moves(panel.overlays.weights, 3)
    assert view.overlays.weights == 3
    moves(panel.overlays.toggles["influences"], True)
    assert view.overlays.influences and view.overlays.weights is None
    moves(panel.overlays.weights, 4)
    assert view.overlays == Overlays(weights=4) and not panel.overlays.toggles["influences"].value
    moves(panel.overlays.weights, -1)
    moves(panel.overlays.trajectory, 5)
    moves(panel.overlays.ghosts, 2)
    assert view.overlays == Overlays(onion=2, trajectories=(5,))


def test_a_second_clip_as_a_layer(view: LiveView) -> None:
    panel, names = view._loop.panel, view.model.skeleton.names
    moves(panel.layers.mask, names.index("Chest"))
    assert view.layer is None
    moves(panel.layers.clip, 2)
    assert view.layer == Layer(2, mask="Chest")
    moves(panel.layers.weight, 0.5)
    moves(panel.layers.additive, True)
    moves(panel.layers.mask, -1)
    moves(panel.layers.clip, 1)
    assert view.layer == Layer(1, 0.5, additive=True)
    moves(panel.layers.clip, -1)
    assert view.layer is None
    view.layer = Layer("wave", 0.25, skinpy.Mask.named("*Arm*"))
    assert panel.layers.clip.label == "wave" and panel.layers.weight.value == 0.25
    assert panel.layers.mask.label == "another mask"


def test_a_controllers_weights(model: skinpy.Model, clock: Clock) -> None:
    controller = skinpy.AnimationController(model)
    walk = controller.play("walk")
    wave = controller.play("wave", layer="upper", mask=skinpy.Mask.below("Chest"))
    view = controller.view(size=SIZE, playing=True)
    try:
        first, second = view._loop.panel.layers.box.children
        assert (first.description, second.description) == ("base: walk", "upper: wave")
        moves(second, 0.25)
        assert (walk.weight, wave.weight) == (1.0, 0.25)
        controller.play("run", layer="upper")
        view.refresh()
        assert [slider.description for slider in view._loop.panel.layers.box.children] == [
            "base: walk",
            "upper: run",
        ]
        view._loop.draw()
        clock.tick(0.2)
        view._loop.draw()
        assert controller.time == pytest.approx(0.2)
    finally:
        view.close()


# ---- errors ---------------------------------------------------------------------------------------------


def test_errors_are_shown_in_the_view(
    view: LiveView, browser: Browser, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise skinpy.GraphicsError("no <paint> left")

    async def session() -> None:
        browser.show()
        view.playing = True
        with monkeypatch.context() as patch:
            patch.setattr(view.stage, "frame", failing)
            await browser.until(lambda: not view.playing)
        assert "GraphicsError: no &lt;paint&gt; left" in view._loop.panel.message.value
        moves(view._loop.panel.playback.time, 300)
        assert view._loop.panel.message.value == ""

    asyncio.run(session())
    monkeypatch.setattr(view.stage.player, "seek", failing)
    moves(view._loop.panel.playback.time, 100)
    assert "no &lt;paint&gt; left" in view._loop.panel.message.value
    assert view._loop.panel.playback.time.value == 100  # a hand holds it


def test_overlays_that_cannot_be_drawn_are_taken_back(
    view: LiveView, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = view.stage.frame

    def picky(*args: Any, **options: Any) -> Any:
        if view.overlays.axes:
            raise ValueError("no axes for you")
        return frame(*args, **options)

    monkeypatch.setattr(view.stage, "frame", picky)
    view.overlays = Overlays(skeleton=True)
    assert view._loop.draw() is not None
    view.overlays = Overlays(axes=True)
    assert view._loop.draw() is None
    assert "ValueError: no axes for you" in view._loop.panel.message.value
    assert view.overlays == Overlays(skeleton=True)
    assert view._loop.draw() is not None


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"clip": "wlak"}, KeyError, "did you mean 'walk'"),
        ({"time": float("nan")}, ValueError, "time"),
        ({"speed": 1e9}, ValueError, "speed is 1e"),
        ({"loop": "round"}, ValueError, "loop is 'round'"),
        ({"playing": 1}, TypeError, "playing"),
        ({"floor": 1}, TypeError, "floor"),
        ({"layer": "wav"}, KeyError, "did you mean 'wave'"),
        ({"camera": 3}, TypeError, "camera is int; expected a Camera"),
    ],
)
def test_bad_values_from_code_raise(
    change: dict[str, Any], error: type[Exception], words: str, view: LiveView
) -> None:
    ((name, value),) = change.items()
    with pytest.raises(error, match=words):
        setattr(view, name, value)


def test_without_the_extra(model: skinpy.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "skinpy.view.live.canvas")
    monkeypatch.delattr("skinpy.view.live.canvas")
    monkeypatch.setitem(sys.modules, "jupyter_rfb", None)
    with pytest.raises(ImportError, match=r"pip install 'skinpy-anim\[jupyter\]'"):
        model.view()


def test_importing_loads_no_jupyter() -> None:
    code = """
import sys, skinpy, skinpy.view
skinpy.character()
names = ("jupyter_rfb", "ipywidgets", "IPython", "traitlets")
print([name for name in names if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- code, notebooks and neither ----------------------------------------------------------------------


def test_outside_a_notebook_it_says_nothing_and_takes_snapshots() -> None:
    code = """
import skinpy
view = skinpy.character().view("run", size=(64, 48))
picture = view.snapshot()
print(picture.shape, picture.dtype, view.snapshot((30, 40)).shape)
print(view)
view.close()
view.close()
print(view, sorted(view._repr_mimebundle_()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "(48, 64, 4) uint8 (40, 30, 4)",
        "<LiveView of 'run' at 0.00 / 0.70 s, 64x48, playing>",
        "<LiveView of 'run' at 0.00 / 0.70 s, 64x48, closed> ['text/plain']",
    ]
    assert not done.stderr


def test_what_a_notebook_stores(model: skinpy.Model) -> None:
    view = model.view("walk", controls=False)
    bundle = view._repr_mimebundle_()
    assert sorted(bundle) == ["application/vnd.jupyter.widget-view+json", "image/png", "text/plain"]
    assert len(bundle["image/png"]) < 300_000
    assert sorted(view._repr_mimebundle_(include={"text/plain"})) == ["text/plain"]
    assert view.widget.children == (view.canvas, view._loop.panel.message)
    view.close()


def test_a_notebook_that_nobody_watches_stores_a_moving_picture(tmp_path: Path) -> None:
    """In a real kernel, as nbconvert, nbclient and papermill run it: there is no browser for a widget."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    cells = [
        "import skinpy\nmodel = skinpy.character()\nview = model.view('walk', size=(160, 120))\nview",
        "view.playing = False\nview",
        "view.time = 0.25\nprint(view.snapshot().shape, view.time)\nview.close()\nview",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    kernel = {"kernel_name": "python3", "resources": {"metadata": {"path": str(tmp_path)}}}
    nbclient.NotebookClient(notebook, timeout=500, startup_timeout=500, **kernel).execute()
    moving, still, closed = (cell.outputs for cell in notebook.cells)
    assert [sorted(output.data) for output in (*moving, *still)] == [["image/png", "text/plain"]] * 2
    pictures = [Image.open(BytesIO(b64decode(o.data["image/png"]))) for o in (*moving, *still)]
    assert [picture.n_frames > 1 for picture in pictures] == [True, False]
    assert [len(output.data["image/png"]) < 310_000 for output in (*moving, *still)] == [True, True]
    assert closed[0].text == "(120, 160, 4) 0.25\n"
    assert list(closed[1].data) == ["text/plain"]


def test_the_camera_by_code(view: LiveView) -> None:
    view.camera = Camera.look_at((0, 1, 9), (0, 1, 0))
    assert view.camera.eye == pytest.approx((0, 1, 9))
    assert view.camera.target == pytest.approx((0, 1, 0))
    view.reset_camera()
    assert view.stage.rig.eye.azimuth == pytest.approx(30)


def test_a_closed_view_draws_nothing(view: LiveView, browser: Browser) -> None:
    async def session() -> None:
        browser.show()
        view.playing = True
        await browser.until(lambda: view.time > 0)
        view.close()
        count = len(browser.frames)
        await browser.rest()
        assert len(browser.frames) == count and not view.playing

    asyncio.run(session())


def test_closed_views_leave_nothing_in_a_kernel(tmp_path: Path) -> None:
    """In a real kernel, where each widget has a connection to the front end."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    cell = """
import gc, weakref
import comm, ipywidgets, skinpy

def counts():
    gc.collect()
    return len(ipywidgets.widgets.widget._instances), len(comm.get_comm_manager().comms)

before, gone = counts(), []
for _ in range(3):
    model = skinpy.character()
    view = model.view("walk", size=(64, 48), layer="wave", playing=False)
    display(view.widget)
    gone += [weakref.ref(view), weakref.ref(view.stage), weakref.ref(model)]
    view.close()
    del view, model
"""
    # In another cell, as the kernel's event loop has had its turn then: it holds what a view has asked for.
    later = "print(counts() == before, [one() for one in gone] == [None] * 9)"
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, (cell, later))))
    kernel = {"kernel_name": "python3", "resources": {"metadata": {"path": str(tmp_path)}}}
    nbclient.NotebookClient(notebook, timeout=500, startup_timeout=500, **kernel).execute()
    assert [one.text for one in notebook.cells[1].outputs] == ["True True\n"]
