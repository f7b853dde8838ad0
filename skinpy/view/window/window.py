"""The event loop of a window: passes events on to the controls, and draws when there is something new."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._text import printable
from .controls import Controls
from .screen import Screen

_FPS = 60.0  # at most: nothing else holds back a window on a virtual screen
_IDLE_SECONDS = 0.2  # between two looks at the file and at whether to close, while nothing moves
_MAX_STEP_SECONDS = 0.5  # that the clip moves in one frame, however long the frame took
_SLOW_SECONDS = 0.03  # for a frame: if frames take longer, what moves is drawn with one sample per pixel
_SLOW_FRAMES = 3  # in a row, as the first frames always take longer


class Window:
    """Passes the events of a GLFW window on to its `Controls`, and shows their stage in the window."""

    def __init__(self, glfw: Any, handle: Any, controls: Controls) -> None:
        self._glfw = glfw
        self._handle = handle
        self._controls = controls
        self._screen = Screen(glfw.get_proc_address)
        self._picture = np.empty((0, 0, 4), np.uint8)
        self._drawn: Any = None  # the state of everything that the shown picture depends on
        self._slow = 0  # slow frames in a row
        self._title = ""
        self._placement: tuple[int, int, int, int] | None = None  # of the window, while it fills the screen
        self._buttons = {
            glfw.MOUSE_BUTTON_LEFT: "left",
            glfw.MOUSE_BUTTON_MIDDLE: "middle",
            glfw.MOUSE_BUTTON_RIGHT: "right",
        }
        self._keys = _special_keys(glfw)
        # The pointer at the time of the last event. Events wait while a frame is drawn, and by then GLFW
        # itself would tell a later position.
        self._pointer = self._pixels(*glfw.get_cursor_pos(handle))
        glfw.swap_interval(1)
        self._listen()

    def run(self, interrupts: Sequence[int]) -> None:
        """Show the window until it is closed, or `interrupts` is no longer empty."""
        glfw, controls = self._glfw, self._controls
        self._draw()  # the first picture takes longest
        glfw.show_window(self._handle)
        self._draw(exposed=True)
        last = looked = time.monotonic()
        while not (controls.closing or interrupts or glfw.window_should_close(self._handle)):
            now = time.monotonic()
            if now - looked > _IDLE_SECONDS:
                controls.files.look_for_changes()
                looked = now
            controls.advance(min(now - last, _MAX_STEP_SECONDS))
            last = now
            self._update_window()
            if self._is_visible():
                self._draw()
            controls.files.load_pending()
            moving = controls.stage.player.playing and self._is_visible()
            spent = time.monotonic() - now
            glfw.wait_events_timeout(max(1 / _FPS - spent, 1e-4) if moving else _IDLE_SECONDS)

    def _is_visible(self) -> bool:
        """Whether there is anything to draw into: minimized windows have no size on some systems."""
        iconified = self._glfw.get_window_attrib(self._handle, self._glfw.ICONIFIED)
        return not iconified and min(self._glfw.get_framebuffer_size(self._handle)) > 0

    def _update_window(self) -> None:
        """Give the window the title and the size that the controls ask for."""
        glfw, controls = self._glfw, self._controls
        if controls.title != self._title:
            self._title = controls.title
            # Window systems refuse bytes that are not UTF-8, which names in files may hold.
            glfw.set_window_title(self._handle, printable(self._title))
        if controls.full_screen and self._placement is None:
            self._placement = (*glfw.get_window_pos(self._handle), *glfw.get_window_size(self._handle))
            monitor = glfw.get_primary_monitor()
            mode = glfw.get_video_mode(monitor)
            glfw.set_window_monitor(self._handle, monitor, 0, 0, *mode.size, mode.refresh_rate)
        elif not controls.full_screen and self._placement is not None:
            glfw.set_window_monitor(self._handle, None, *self._placement, glfw.DONT_CARE)
            self._placement = None

    # ---- drawing ----------------------------------------------------------------------------------------

    def _draw(self, exposed: bool = False) -> None:
        """Show the current picture, unless it is shown already; parts of an `exposed` window may be lost."""
        glfw, controls, stage = self._glfw, self._controls, self._controls.stage
        stage.size = size = glfw.get_framebuffer_size(self._handle)
        controls.scale = max(glfw.get_window_content_scale(self._handle))
        stage.rig.inset = controls.mouse.bar().height
        moves = stage.player.playing or controls.mouse.drag is not None
        coarse = self._slow >= _SLOW_FRAMES and moves
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
        """Draw the stage, and note how long that takes."""
        width, height = self._controls.stage.size
        if self._picture.shape[:2] != (height, width):
            self._picture = np.empty((height, width, 4), np.uint8)
        start = time.perf_counter()
        self._controls.take_picture(self._picture, 0 if coarse else None)
        if not coarse:
            self._slow = self._slow + 1 if time.perf_counter() - start > _SLOW_SECONDS else 0

    # ---- events -----------------------------------------------------------------------------------------

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
        mouse = self._controls.mouse
        if action == self._glfw.RELEASE:
            mouse.button_up(*self._pointer)
        elif button in self._buttons:
            shift = bool(modifiers & self._glfw.MOD_SHIFT)
            mouse.button_down(*self._pointer, self._buttons[button], shift)

    def _on_move(self, _: Any, x: float, y: float) -> None:
        self._pointer = self._pixels(x, y)
        self._controls.mouse.move(*self._pointer)

    def _on_scroll(self, _: Any, right: float, up: float) -> None:
        if up:
            self._controls.mouse.scroll(up, *self._pointer)

    def _on_drop(self, _: Any, paths: list[str]) -> None:
        self._controls.files.drop(paths)

    def _on_refresh(self, _: Any) -> None:
        if self._is_visible():
            self._draw(exposed=True)

    def _pixels(self, x: float, y: float) -> tuple[float, float]:
        """From the units of the window to pixels of its picture, which are more on dense screens."""
        wide, high = self._glfw.get_window_size(self._handle)
        width, height = self._glfw.get_framebuffer_size(self._handle)
        return x * width / max(wide, 1), y * height / max(high, 1)


def _special_keys(glfw: Any) -> dict[int, str]:
    """Names of the keys that write no letter, by GLFW's numbers."""
    names = ("left", "right", "home", "page_up", "page_down", "backspace", "escape", "f1", "f11")
    return {getattr(glfw, f"KEY_{name.upper()}"): name for name in names}
