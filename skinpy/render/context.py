"""The one OpenGL context of the process, and the one thread that may call it.

An OpenGL context belongs to one thread; calls from any other fail without a word. Notebook front ends
and servers call from whichever thread they like, so every GL call of skinpy goes to a worker thread
through a queue: `call(function)` runs `function(context)` there and waits. Exceptions come back to the
caller, and Ctrl-C works while it waits.

GL objects are freed on the same thread: whatever Python drops, wherever it drops it, moderngl keeps in
a list (`gc_mode = "context_gc"`) that the worker empties after each job.
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
    """A function for the worker, and the future that its caller waits for (None: nobody does)."""

    def __init__(self, function: Callable[[moderngl.Context], Any], future: Future[Any] | None) -> None:
        self.function = function
        self.future = future


class GraphicsThread:
    """A worker thread that owns a context; it makes the context when the first job needs it."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._context: moderngl.Context | None = None
        self._thread = threading.Thread(target=self._run, name="skinpy-graphics", daemon=True)
        self._thread.start()
        atexit.register(self._stop)

    def call(self, function: Callable[[moderngl.Context], T]) -> T:
        """Run `function(context)` on the worker; return its result or raise its exception here."""
        if threading.current_thread() is self._thread:
            return function(self._owned_context())
        future: Future[T] = Future()
        self._jobs.put(_Job(function, future))
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

    def _owned_context(self) -> moderngl.Context:
        if self._context is None:
            self._context = create_context()
        return self._context

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                break
            self._do(job)
            del job  # what its closure holds (a model, a picture) must not live on while we wait
            if self._context is not None:
                self._context.gc()
        if self._context is not None:
            self._context.release()

    def _do(self, job: _Job) -> None:
        if job.future is None:
            if self._context is not None:  # without a context there is nothing to tidy up
                job.function(self._context)
        elif job.future.set_running_or_notify_cancel():
            try:
                job.future.set_result(job.function(self._owned_context()))
            except BaseException as error:
                job.future.set_exception(error)

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


def call(function: Callable[[moderngl.Context], T]) -> T:
    """Run `function(context)` on the graphics thread and wait for its result.

    Whatever it raises is raised here. Raises GraphicsError where no context can be made.
    """
    return graphics_thread().call(function)


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
