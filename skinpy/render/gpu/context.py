"""The one OpenGL context of the process, and the one thread that may call it.

An OpenGL context belongs to one thread; calls from any other thread fail silently. Notebook front ends and
servers call from any thread, so every GL call of skinpy goes through a queue to the graphics thread:
`call(function)` runs `function(context)` there and waits. Exceptions come back to the caller, and Ctrl-C
works while it waits.

GL objects are freed on the same thread: when Python drops an object, on any thread, moderngl keeps it in a
list (`gc_mode = "context_gc"`) that the graphics thread empties after each job.

A context may be lost: the driver is reset, or other code releases it or makes another one current. OpenGL
reports nothing then, and draws nothing or noise. Therefore a few bytes that only our context has are read
before and after each job. A context that is no longer current is made current again. After the loss of a
context the next job gets a new one, and jobs with objects of the old one raise GraphicsError.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import moderngl

from skinpy.errors import GraphicsError

T = TypeVar("T")

# The end of the process waits so many seconds for a picture that is still being drawn.
_STOP_SECONDS = 5.0

# A process that draws in software maps less than half of this.
_DRIVER_BYTES = 1 << 31

_LOST = (
    "the OpenGL context was lost (the driver was reset, or other code released it), and with it everything "
    "on the GPU; make another Renderer or Crowd"
)


def create_context() -> moderngl.Context:
    """A new offscreen OpenGL 3.3 context, current on this thread: by EGL, else by the default backend.

    Raises GraphicsError with the messages of both and the packages to install.
    """
    messages = []
    backends: list[tuple[str, dict[str, Any]]] = [("EGL", {"backend": "egl"}), ("the default", {})]
    for name, settings in backends:
        try:
            context = moderngl.create_standalone_context(**settings)
        except Exception as error:  # the loaders raise plain Exception, OSError, ImportError, ValueError
            messages.append(f"{name}: {error}")
        else:
            context.gc_mode = "context_gc"
            return context
    raise GraphicsError("no OpenGL 3.3 context for drawing (" + "; ".join(messages) + f"). {_remedy()}")


def _remedy() -> str:
    """What to do without a context: a device or a driver is missing, or a limit leaves it no memory."""
    import resource

    for limit, what, option in (
        (resource.RLIMIT_AS, "address space (RLIMIT_AS", "v"),
        (resource.RLIMIT_DATA, "data (RLIMIT_DATA", "d"),
    ):
        soft, _ = resource.getrlimit(limit)
        if 0 <= soft < _DRIVER_BYTES:
            return (
                f"This process has a limit of {soft} bytes of {what}, set outside of skinpy), which may "
                f"be too little for a driver; raise it with ulimit -{option}"
            )
    packages = "install the packages libegl1, libgl1 and libgl1-mesa-dri; no GPU or screen is needed"
    # From this variable moderngl takes the number of the EGL device.
    if chosen := os.environ.get("GLCONTEXT_DEVICE_INDEX"):
        return (
            f"GLCONTEXT_DEVICE_INDEX is {chosen[:100]!r}: unset it, or set it to the number of a device that "
            f"is there (the first is 0). If that does not help, on Debian, {packages}"
        )
    return f"On Debian, {packages}"


class _Job:
    """A function for the graphics thread.

    `future` is what the caller waits for, or None if nobody waits. `of` is the context of the objects that
    the function uses, or None if it uses none.
    """

    def __init__(
        self,
        function: Callable[[moderngl.Context], Any],
        future: Future[Any] | None,
        of: moderngl.Context | None = None,
    ) -> None:
        self.function = function
        self.future = future
        self.of = of


class _OwnedContext:
    """A context of this thread, with some bytes in it that no other context has."""

    def __init__(self) -> None:
        self.context = create_context()
        self._bytes = os.urandom(16)
        self._buffer = self.context.buffer(self._bytes)

    def answers(self) -> bool:
        """Whether the context exists and is current."""
        if isinstance(self.context.mglo, moderngl.InvalidObject):  # released, though it may go on drawing
            return False
        try:
            return bool(self._buffer.read() == self._bytes)
        except moderngl.Error:
            return False

    def make_current(self) -> bool:
        """Make the context current unless it is, and return whether it answers then."""
        if self.answers():
            return True
        try:
            self.context.mglo.__enter__()
        except Exception:  # the loaders raise plain Exception
            return False
        return self.answers()

    def run(self, function: Callable[[moderngl.Context], T], of: moderngl.Context | None) -> T:
        """`function(context)`. Raises GraphicsError if the context is lost meanwhile, or `of` was lost."""
        if of is not None and of is not self.context:
            raise GraphicsError(_LOST)
        try:
            result = function(self.context)
        except Exception as error:
            if not self.answers():
                raise GraphicsError(_LOST) from error
            raise
        if not self.answers():
            raise GraphicsError(_LOST)
        return result


class GraphicsThread:
    """A thread that owns a context, which it makes when the first job needs it."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._owned: _OwnedContext | None = None
        self._thread = threading.Thread(target=self._run, name="skinpy-graphics", daemon=True)
        self._thread.start()
        atexit.register(self._stop)

    def call(self, function: Callable[[moderngl.Context], T], of: moderngl.Context | None = None) -> T:
        """Run `function(context)` on the thread; return its result or raise its exception here.

        `of` is the context of the objects that the function uses. Raises GraphicsError if that was lost.
        """
        if threading.current_thread() is self._thread:
            return self._living_context().run(function, of)
        future: Future[T] = Future()
        self._jobs.put(_Job(function, future, of))
        try:
            return future.result()
        except BaseException:
            future.cancel()  # after Ctrl-C nobody waits for a job that has not begun
            raise

    def post(self, function: Callable[[moderngl.Context], object]) -> None:
        """Run `function(context)` on the thread later; the caller does not wait.

        Finalizers may call it: it takes no lock that the interrupted code may hold.
        """
        self._jobs.put(_Job(function, None))

    def _living_context(self) -> _OwnedContext:
        """The context; a new one if there is none, or the old one was lost."""
        if self._owned is None or not self._owned.make_current():
            self._owned = _OwnedContext()
        return self._owned

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                break
            self._do(job)
            del job  # its closure refers to a model or a picture, which must not live on while we wait
            if self._owned is not None and self._owned.make_current():
                self._tidy(moderngl.Context.gc, self._owned.context)
        if self._owned is not None and self._owned.make_current():
            self._owned.context.release()

    def _do(self, job: _Job) -> None:
        if job.future is None:
            if self._owned is not None:  # without a context there is nothing to free
                self._tidy(job.function, self._owned.context)
        elif job.future.set_running_or_notify_cancel():
            try:
                job.future.set_result(self._living_context().run(job.function, job.of))
            except BaseException as error:
                job.future.set_exception(error)

    def _tidy(self, function: Callable[[moderngl.Context], Any], context: moderngl.Context) -> None:
        """`function(context)`. As nobody waits for it, an error is reported as one that ends a thread."""
        try:
            function(context)
        except Exception as error:
            report = (type(error), error, error.__traceback__, self._thread)
            threading.excepthook(threading.ExceptHookArgs(report))

    def _stop(self) -> None:
        if self.process == os.getpid():
            self._jobs.put(None)
            self._thread.join(_STOP_SECONDS)


_thread: GraphicsThread | None = None
_thread_lock = threading.Lock()


def graphics_thread() -> GraphicsThread:
    """The graphics thread of the process, started at the first call.

    Raises GraphicsError in a process that was forked after drawing: neither the thread nor the state of the
    driver survives a fork.
    """
    global _thread
    with _thread_lock:
        if _thread is None:
            _thread = GraphicsThread()
        if _thread.process != os.getpid():
            raise GraphicsError(
                "this process was forked from one that had drawn with OpenGL already; "
                "start it by multiprocessing's 'spawn' or 'forkserver' instead"
            )
        return _thread


def call(function: Callable[[moderngl.Context], T], of: moderngl.Context | None = None) -> T:
    """Run `function(context)` on the graphics thread and wait for its result.

    `of` is the context of the objects that the function uses. Exceptions of the function are raised here.
    Raises GraphicsError if no context can be made, or `of` was lost.
    """
    return graphics_thread().call(function, of)


def check(context: moderngl.Context, doing: str) -> None:
    """Raise GraphicsError if OpenGL has recorded an error; `doing` completes "while" in the message."""
    error = context.error
    if error != "GL_NO_ERROR":
        raise GraphicsError(f"OpenGL reports {error} while {doing}")


def check_fits(context: moderngl.Context, size: tuple[int, int]) -> None:
    """Raise ValueError if a picture of `size` is wider or higher than the context can draw."""
    info = context.info
    largest = min(
        info["GL_MAX_RENDERBUFFER_SIZE"], info["GL_MAX_TEXTURE_SIZE"], *info["GL_MAX_VIEWPORT_DIMS"]
    )
    if max(size) > largest:
        raise ValueError(
            f"size is {size[0]}x{size[1]}; this OpenGL draws at most {largest} pixels a side: "
            "choose a smaller size"
        )
