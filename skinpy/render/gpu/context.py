"""The one OpenGL context of the process, and the one thread that may call it.

An OpenGL context belongs to one thread; calls from any other fail without a word. Notebook front ends
and servers call from whichever thread they like, so every GL call of skinpy goes to a worker thread
through a queue: `call(function)` runs `function(context)` there and waits. Exceptions come back to the
caller, and Ctrl-C works while it waits.

GL objects are freed on the same thread: whatever Python drops, wherever it drops it, moderngl keeps in
a list (`gc_mode = "context_gc"`) that the worker empties after each job.

A context may be lost: a driver is reset, other code releases it, or makes another one current. OpenGL says
nothing then and draws nothing, or noise; so a few bytes that only our context has are read before and after
each job. One that was put aside is made current again. For one that is gone the next job gets a new one, and
jobs with objects of the old one raise GraphicsError.
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

# Seconds that the end of the process waits for a picture that is still being drawn.
_STOP_SECONDS = 5.0

_LOST = (
    "the OpenGL context was lost (the driver was reset, or other code released it) and with it what was on "
    "the GPU; make another Renderer or Crowd"
)


def create_context() -> moderngl.Context:
    """A new offscreen OpenGL 3.3 context, current on this thread: EGL first, then the default.

    Raises GraphicsError with what each said and the packages that bring one.
    """
    said = []
    ways: list[tuple[str, dict[str, Any]]] = [("EGL", {"backend": "egl"}), ("the default", {})]
    for name, settings in ways:
        try:
            context = moderngl.create_standalone_context(**settings)
        except Exception as error:  # the loaders raise plain Exception, OSError, ImportError, ValueError
            said.append(f"{name}: {error}")
        else:
            context.gc_mode = "context_gc"
            return context
    raise GraphicsError(
        "no OpenGL 3.3 context for drawing ("
        + "; ".join(said)
        + "). On Debian, install the packages libegl1, libgl1 and libgl1-mesa-dri; no GPU or screen is needed"
    )


class _Job:
    """A function for the worker, the future that its caller waits for (None: nobody does), and the context
    that its objects are of (None: any).
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


class _Owned:
    """A context of this thread, and some bytes in it that no other one has."""

    def __init__(self) -> None:
        self.context = create_context()
        self._bytes = os.urandom(16)
        self._buffer = self.context.buffer(self._bytes)

    def answers(self) -> bool:
        """Whether the context is there, and current."""
        if isinstance(self.context.mglo, moderngl.InvalidObject):  # released, though it may go on drawing
            return False
        try:
            return bool(self._buffer.read() == self._bytes)
        except moderngl.Error:
            return False

    def take_up(self) -> bool:
        """Whether it answers; one that was only put aside is made current again."""
        if self.answers():
            return True
        try:
            self.context.mglo.__enter__()
        except Exception:  # the loaders raise plain Exception
            return False
        return self.answers()

    def run(self, function: Callable[[moderngl.Context], T], of: moderngl.Context | None) -> T:
        """`function(context)`; GraphicsError where the context was lost meanwhile, or `of` is a lost one."""
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
    """A worker thread that owns a context; it makes the context when the first job needs it."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._owned: _Owned | None = None
        self._thread = threading.Thread(target=self._run, name="skinpy-graphics", daemon=True)
        self._thread.start()
        atexit.register(self._stop)

    def call(self, function: Callable[[moderngl.Context], T], of: moderngl.Context | None = None) -> T:
        """Run `function(context)` on the worker; return its result or raise its exception here.

        `of` is the context that the objects it uses are of; GraphicsError where that was lost.
        """
        if threading.current_thread() is self._thread:
            return self._living().run(function, of)
        future: Future[T] = Future()
        self._jobs.put(_Job(function, future, of))
        try:
            return future.result()
        except BaseException:
            future.cancel()  # after Ctrl-C a job that has not begun is not worth beginning
            raise

    def post(self, function: Callable[[moderngl.Context], object]) -> None:
        """Run `function(context)` on the worker some time later, without an answer.

        Safe in finalizers: it takes no lock that the interrupted code may hold.
        """
        self._jobs.put(_Job(function, None))

    def _living(self) -> _Owned:
        """The context; a new one where there is none, or no longer."""
        if self._owned is None or not self._owned.take_up():
            self._owned = _Owned()
        return self._owned

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                break
            self._do(job)
            del job  # what its closure holds (a model, a picture) must not live on while we wait
            if self._owned is not None and self._owned.take_up():
                self._tidy(moderngl.Context.gc, self._owned.context)
        if self._owned is not None and self._owned.take_up():
            self._owned.context.release()

    def _do(self, job: _Job) -> None:
        if job.future is None:
            if self._owned is not None:  # without a context there is nothing to tidy up
                self._tidy(job.function, self._owned.context)
        elif job.future.set_running_or_notify_cancel():
            try:
                job.future.set_result(self._living().run(job.function, job.of))
            except BaseException as error:
                job.future.set_exception(error)

    def _tidy(self, function: Callable[[moderngl.Context], Any], context: moderngl.Context) -> None:
        """`function(context)`; nobody waits, so an error is told as a thread's last one, which it is not."""
        try:
            function(context)
        except Exception as error:
            told = (type(error), error, error.__traceback__, self._thread)
            threading.excepthook(threading.ExceptHookArgs(told))

    def _stop(self) -> None:
        if self.process == os.getpid():
            self._jobs.put(None)
            self._thread.join(_STOP_SECONDS)


_thread: GraphicsThread | None = None
_thread_lock = threading.Lock()


def graphics_thread() -> GraphicsThread:
    """The process's graphics thread, started at the first call.

    Raises GraphicsError in a process that was forked from one that had drawn already: neither the thread
    nor the driver's state survive a fork.
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

    `of` is the context that the objects it uses are of. Whatever the function raises is raised here. Raises
    GraphicsError where no context can be made, and where `of` was lost.
    """
    return graphics_thread().call(function, of)


def check(context: moderngl.Context, doing: str) -> None:
    """Raise GraphicsError when OpenGL has noted an error; `doing` says what was being done."""
    error = context.error
    if error != "GL_NO_ERROR":
        raise GraphicsError(f"OpenGL reports {error} while {doing}")


def check_fits(context: moderngl.Context, size: tuple[int, int]) -> None:
    """Raise ValueError where a picture of `size` is wider or higher than the context can draw."""
    info = context.info
    largest = min(
        info["GL_MAX_RENDERBUFFER_SIZE"], info["GL_MAX_TEXTURE_SIZE"], *info["GL_MAX_VIEWPORT_DIMS"]
    )
    if max(size) > largest:
        raise ValueError(
            f"size is {size[0]}x{size[1]}; this OpenGL draws at most {largest} pixels a side: "
            "take a smaller size"
        )
