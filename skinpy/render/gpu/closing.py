"""Objects that own resources on the GPU and free them when they are closed."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

from skinpy._one_process import OneProcess
from skinpy.errors import GraphicsError

from . import context as gl

R = TypeVar("R")


class _Owner(Generic[R]):
    """The only lasting reference to resources; the graphics thread clears it, so they are freed there."""

    def __init__(self, resources: R) -> None:
        self.resources: R | None = resources

    def clear(self) -> None:
        """Drop the resources."""
        self.resources = None


class Closing(OneProcess, Generic[R]):
    """An object that owns resources until `close`, the end of a `with` block, or its own end."""

    _noun: ClassVar[str]  # what error messages call the object
    _owner: _Owner[R]
    _finalizer: weakref.finalize[..., Any]

    def _own(self, resources: R) -> None:
        """Take over the resources; called once, at the end of the constructor."""
        self._owner = owner = _Owner(resources)
        self._finalizer = weakref.finalize(self, _release, gl.graphics_thread(), owner)
        self._finalizer.atexit = False  # the end of the graphics thread frees everything anyway

    def _resources(self) -> R:
        """The resources. Raises GraphicsError after `close`."""
        resources = self._owner.resources if self._finalizer.alive else None
        if resources is None:
            raise GraphicsError(f"this {self._noun} is closed; make another one")
        return resources

    def close(self) -> None:
        """Free the resources on the GPU.

        A second call does nothing. Drawing afterwards raises GraphicsError.
        """
        if self._finalizer.alive:
            self._finalizer()
            gl.call(lambda context: None)  # jobs keep their order: the resources are freed when this returns

    def __enter__(self) -> Self:
        """Return the object itself; the end of the `with` block closes it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the object."""
        self.close()


def _release(thread: gl.GraphicsThread, owner: _Owner[Any]) -> None:
    thread.post(lambda context: owner.clear())
