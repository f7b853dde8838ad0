"""A window with a model in it, on GLFW: `show`."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import PathLike
from ..errors import GraphicsError
from ..model import Model
from ..render.arguments import check_size
from .screen import Screen
from .source import Source
from .stage import Stage
from .window_controls import Controls

if TYPE_CHECKING:
    from ..render.posing import ClipLike

_FPS = 60.0  # at most: where nothing else holds it back, a window under a virtual screen has no limit
_IDLE = 0.2  # seconds between two looks at the file, and at whether to close
_LONGEST = 0.5  # seconds that one frame may let go by, however long it took
_SLOW = 0.03  # seconds of drawing: where frames take longer, what moves is drawn with one sample a pixel
_SLOW_FRAMES = 3  # so many one after another, as the first ones take longer anyway


def show(
    model: Model,
    clip: ClipLike = None,
    *,
    size: tuple[int, int] = (960, 720),
    path: PathLike | Source | None = None,
    **options: Any,
) -> None:
    """Show a model in a window, until it is closed; H shows the keys, docs/window.md has them too.

    `clip` is as in `Renderer.frame`; `size` is (width, height) of the window, pixels (on dense screens
    points). `path` is the file that the model is from: when it changes, it is loaded again. `options` are
    those of `Stage`: controller, layer, floor, overlays, camera, speed, loop, playing, background, samples,
    uv.

    It belongs on the main thread, as window systems ask for. Raises GraphicsError without a display or
    OpenGL 3.3, and on another thread; ImportError without glfw; KeyError, IndexError, TypeError or ValueError
    for wrong arguments, also overlays of joints that the model does not have and a size beyond OpenGL's
    limit. Overlays that a hand asks for in the window, or that a file which is loaded again no longer has
    joints for, are a red line in it. Ctrl-C closes the window and goes on as KeyboardInterrupt.
    """
    _check_thread()
    glfw = _glfw()
    size = check_size(size)
    source = path if isinstance(path, Source) or path is None else Source(path)
    stage = Stage(model, clip, size=size, **options)
    try:
        # What cannot be drawn is an error here: in the window it would be a red line, and where a window is
        # too large, X11 ends the process.
        stage.frame()
        with _noted_interrupts() as interrupts, _opened(glfw, size) as handle:
            Window(glfw, handle, Controls(stage, source)).run(interrupts)
        if interrupts:
            raise KeyboardInterrupt
    finally:
        stage.close()


def _check_thread() -> None:
    thread = threading.current_thread()
    if thread is not threading.main_thread():
        raise GraphicsError(
            f"show() was called on the thread {thread.name!r}, but windows belong to the main thread: "
            "call it there, or take render() and save(), which work on any"
        )


def _glfw() -> Any:
    try:
        import glfw
    except ImportError as error:
        raise ImportError("a window needs glfw: pip install 'skinpy-anim[view]'") from error
    return glfw


@contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """Ctrl-C, noted in a list at first and raised when it comes again.

    Raised within one of GLFW's callbacks it would be lost. Where a program has a handler of its own, that
    one stays.
    """
    noted: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, _: Any) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(number)

    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _opened(glfw: Any, size: tuple[int, int]) -> Iterator[Any]:
    """A window, its OpenGL context being current; it is gone afterwards.

    GLFW itself stays as it is: others in this process may have windows of their own.
    """
    said: list[str] = []
    before = glfw.set_error_callback(lambda _, words: said.append(_text(words)))
    handle = None
    try:
        if not glfw.init():
            raise GraphicsError(f"there is no display to open a window on ({_last(said)}); {_INSTEAD}")
        handle = _create(glfw, size)
        if not handle:
            raise GraphicsError(f"the display gives no window with OpenGL 3.3 ({_last(said)}); {_INSTEAD}")
        glfw.make_context_current(handle)
        yield handle
    finally:
        if handle:
            glfw.destroy_window(handle)
        glfw.set_error_callback(before)


_INSTEAD = "without one, model.render() draws a picture and clip.save() writes pictures and films"


def _text(words: Any) -> str:
    return words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)


def _last(said: list[str]) -> str:
    return said[-1].rstrip(". ") if said else "GLFW does not say why"


def _create(glfw: Any, size: tuple[int, int]) -> Any:
    glfw.default_window_hints()
    glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, 3)
    glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, 3)
    glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
    glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, True)  # macOS gives no core profile without it
    glfw.window_hint(glfw.SCALE_TO_MONITOR, True)  # on dense screens `size` is in points
    glfw.window_hint(glfw.VISIBLE, False)  # until there is something to see in it
    glfw.window_hint(glfw.DEPTH_BITS, 0)  # finished pictures are all that is drawn in it
    glfw.window_hint(glfw.STENCIL_BITS, 0)
    return glfw.create_window(*size, "skinpy", None, None)


class Window:
    """Passes what happens to a GLFW window on to its `Controls`, and shows their stage in it."""

    def __init__(self, glfw: Any, handle: Any, controls: Controls) -> None:
        self._glfw = glfw
        self._handle = handle
        self._controls = controls
        self._screen = Screen(glfw.get_proc_address)
        self._picture = np.empty((0, 0, 4), np.uint8)
        self._drawn: Any = None  # what the window shows: the state of everything that it depends on
        self._slow = 0  # frames in a row that took long
        self._title = ""
        self._place: tuple[int, int, int, int] | None = None  # of the window, while it fills the screen
        self._buttons = {
            glfw.MOUSE_BUTTON_LEFT: "left",
            glfw.MOUSE_BUTTON_MIDDLE: "middle",
            glfw.MOUSE_BUTTON_RIGHT: "right",
        }
        self._keys = _special_keys(glfw)
        # Where it was when the event came that is looked at: events wait while a frame is drawn, and GLFW
        # itself tells where it is now.
        self._pointer = self._pixels(*glfw.get_cursor_pos(handle))
        glfw.swap_interval(1)
        self._listen()

    def run(self, interrupts: Sequence[int]) -> None:
        """Show it until it is closed, or `interrupts` holds something."""
        glfw, controls = self._glfw, self._controls
        self._draw()  # the first picture takes longest
        glfw.show_window(self._handle)
        self._draw(exposed=True)
        last = looked = time.monotonic()
        while not (controls.closing or interrupts or glfw.window_should_close(self._handle)):
            now = time.monotonic()
            if now - looked > _IDLE:
                controls.look_for_changes()
                looked = now
            controls.advance(min(now - last, _LONGEST))
            last = now
            self._follow()
            if self._is_visible():
                self._draw()
            controls.settle()
            moving = controls.stage.playing and self._is_visible()
            spent = time.monotonic() - now
            glfw.wait_events_timeout(max(1 / _FPS - spent, 1e-4) if moving else _IDLE)

    def _is_visible(self) -> bool:
        """Whether there is anything to draw into: minimized windows have no size on some systems."""
        iconified = self._glfw.get_window_attrib(self._handle, self._glfw.ICONIFIED)
        return not iconified and min(self._glfw.get_framebuffer_size(self._handle)) > 0

    def _follow(self) -> None:
        """Make the window as the controls want it."""
        glfw, controls = self._glfw, self._controls
        if controls.title != self._title:
            self._title = controls.title
            # Names in files may hold bytes that are no text, which window systems refuse.
            glfw.set_window_title(self._handle, "".join(c if c.isprintable() else " " for c in self._title))
        if controls.full_screen and self._place is None:
            self._place = (*glfw.get_window_pos(self._handle), *glfw.get_window_size(self._handle))
            monitor = glfw.get_primary_monitor()
            mode = glfw.get_video_mode(monitor)
            glfw.set_window_monitor(self._handle, monitor, 0, 0, *mode.size, mode.refresh_rate)
        elif not controls.full_screen and self._place is not None:
            glfw.set_window_monitor(self._handle, None, *self._place, glfw.DONT_CARE)
            self._place = None

    def _draw(self, exposed: bool = False) -> None:
        """Show the picture of now, unless it is there already; `exposed` parts of a window may be lost."""
        glfw, controls, stage = self._glfw, self._controls, self._controls.stage
        stage.size = size = glfw.get_framebuffer_size(self._handle)
        controls.scale = max(glfw.get_window_content_scale(self._handle))
        stage.inset = controls.bar().height
        coarse = self._slow >= _SLOW_FRAMES and (stage.playing or controls.grab is not None)
        scene = (stage.changes, size, coarse)
        state = (scene, controls.changes, controls.scale)
        if state == self._drawn and not exposed:
            return
        if self._drawn is None or scene != self._drawn[0]:
            self._take_picture(coarse)
        self._screen.show(size, [(self._picture, 0, 0), *controls.layers()])
        glfw.swap_buffers(self._handle)
        self._drawn = state

    def _take_picture(self, coarse: bool) -> None:
        """Have the stage drawn, and note how long it takes."""
        width, height = self._controls.stage.size
        if self._picture.shape[:2] != (height, width):
            self._picture = np.empty((height, width, 4), np.uint8)
        start = time.perf_counter()
        self._controls.take_picture(self._picture, 0 if coarse else None)
        if not coarse:
            self._slow = self._slow + 1 if time.perf_counter() - start > _SLOW else 0

    # ---- what happens -------------------------------------------------------------------------------

    def _listen(self) -> None:
        glfw, handle = self._glfw, self._handle
        glfw.set_key_callback(handle, self._on_key)
        glfw.set_char_callback(handle, self._on_letter)
        glfw.set_mouse_button_callback(handle, self._on_button)
        glfw.set_cursor_pos_callback(handle, self._on_move)
        glfw.set_scroll_callback(handle, self._on_scroll)
        glfw.set_drop_callback(handle, self._on_drop)
        glfw.set_window_refresh_callback(handle, self._on_refresh)

    def _on_key(self, _: Any, key: int, code: int, action: int, modifiers: int) -> None:
        if key in self._keys and action in (self._glfw.PRESS, self._glfw.REPEAT):
            self._controls.press(self._keys[key])

    def _on_letter(self, _: Any, letter: int) -> None:
        self._controls.press(chr(letter))

    def _on_button(self, _: Any, button: int, action: int, modifiers: int) -> None:
        if action == self._glfw.RELEASE:
            self._controls.button_up(*self._pointer)
        elif button in self._buttons:
            shift = bool(modifiers & self._glfw.MOD_SHIFT)
            self._controls.button_down(*self._pointer, self._buttons[button], shift)

    def _on_move(self, _: Any, x: float, y: float) -> None:
        self._pointer = self._pixels(x, y)
        self._controls.move(*self._pointer)

    def _on_scroll(self, _: Any, right: float, up: float) -> None:
        if up:
            self._controls.scroll(up, *self._pointer)

    def _on_drop(self, _: Any, paths: list[str]) -> None:
        self._controls.drop(paths)

    def _on_refresh(self, _: Any) -> None:
        if self._is_visible():
            self._draw(exposed=True)

    def _pixels(self, x: float, y: float) -> tuple[float, float]:
        """From the window's own units to pixels of its picture: on dense screens these are more."""
        wide, high = self._glfw.get_window_size(self._handle)
        width, height = self._glfw.get_framebuffer_size(self._handle)
        return x * width / max(wide, 1), y * height / max(high, 1)


def _special_keys(glfw: Any) -> dict[int, str]:
    """The keys that write no letter, by their numbers."""
    names = ("left", "right", "home", "page_up", "page_down", "backspace", "escape", "f1", "f11")
    return {getattr(glfw, f"KEY_{name.upper()}"): name for name in names}
