"""`show` opens a window with a model in it, on GLFW."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Unpack

from ..._types import PathLike
from ...errors import GraphicsError
from ...model import Model
from ...render.arguments import check_size
from ..source import Source
from ..stage import Stage
from .controls import Controls
from .window import Window

if TYPE_CHECKING:
    from ..._options import ShowOptions
    from ...render.posing import ClipLike

_INSTEAD = "without one, model.render() draws a picture and clip.save() writes pictures and films"


def show(
    model: Model,
    clip: ClipLike = None,
    *,
    size: tuple[int, int] = (960, 720),
    path: PathLike | Source | None = None,
    **options: Unpack[ShowOptions],
) -> None:
    """Show a model in a window, and return when the window is closed.

    Press H in the window for its keys; docs/window.md lists them too. Errors in the open window, such as
    overlays that a reloaded file has no joints for, appear in it as a red line. Ctrl-C closes the window.

    Parameters
    ----------
    model : Model
        The model to show.
    clip : Clip, VertexAnimation, str or int, optional
        What plays, as in `Renderer.frame`. Without it the first clip plays.
    size : (int, int), pixels, default (960, 720)
        Width and height of the window; points on screens with a high density.
    path : path-like, optional
        The file of the model. It is loaded again whenever it changes.
    **options
        The other arguments of `Stage`: controller, layer, floor, overlays, camera, speed, loop, playing,
        background, samples, uv.

    Raises
    ------
    GraphicsError
        If there is no display with OpenGL 3.3, or the call is not on the main thread, which owns windows.
    ImportError
        If glfw is not installed (the extra `view`).
    KeyError
        If the model has no clip, or no joint that an overlay names.
    IndexError
        If the model has no clip, or no joint of an overlay, of this number.
    ValueError
        If an argument is out of range, such as a size beyond OpenGL's limit.
    TypeError
        If an argument has the wrong type.
    KeyboardInterrupt
        If Ctrl-C has closed the window.
    """
    _check_thread()
    glfw = _glfw()
    size = check_size(size)
    source = path if isinstance(path, Source) or path is None else Source(path)
    stage = Stage(model, clip, size=size, **options)
    try:
        # What cannot be drawn raises here. In the open window it would only be a red line, and X11 ends the
        # process of a window that is too large.
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
            "call it there, or use render() and save(), which work on any thread"
        )


def _glfw() -> Any:
    try:
        import glfw
    except ImportError as error:
        raise ImportError("a window needs glfw: pip install 'skinpy-anim[view]'") from error
    return glfw


@contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """Note the first Ctrl-C in a list, and raise KeyboardInterrupt at the second.

    An exception that is raised within one of GLFW's callbacks would be lost. A handler that the program has
    set itself stays.
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
    """A window whose OpenGL context is current; it is destroyed at the end of the block.

    GLFW itself stays initialized: other code of this process may have windows of its own.
    """
    messages: list[str] = []
    before = glfw.set_error_callback(lambda _, text: messages.append(_decoded(text)))
    handle = None
    try:
        if not glfw.init():
            raise GraphicsError(f"there is no display to open a window on ({_last(messages)}); {_INSTEAD}")
        handle = _create(glfw, size)
        if not handle:
            raise GraphicsError(
                f"the display gives no window with OpenGL 3.3 ({_last(messages)}); {_INSTEAD}"
            )
        glfw.make_context_current(handle)
        yield handle
    finally:
        if handle:
            glfw.destroy_window(handle)
        glfw.set_error_callback(before)


def _decoded(text: Any) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def _last(messages: list[str]) -> str:
    return messages[-1].rstrip(". ") if messages else "GLFW does not say why"


def _create(glfw: Any, size: tuple[int, int]) -> Any:
    glfw.default_window_hints()
    glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, 3)
    glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, 3)
    glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
    glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, True)  # macOS gives no core profile without it
    glfw.window_hint(glfw.SCALE_TO_MONITOR, True)  # on dense screens `size` is in points
    glfw.window_hint(glfw.VISIBLE, False)  # until the first picture is drawn
    glfw.window_hint(glfw.DEPTH_BITS, 0)  # the window only shows finished pictures
    glfw.window_hint(glfw.STENCIL_BITS, 0)
    return glfw.create_window(*size, "skinpy", None, None)
