"""Objects that hold things on the GPU, and let go of them when they are closed."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any, Self

from . import context as gl


class Closing:
    """Something that is closed once, by `close`, at the end of a `with` block, or when nobody holds it."""

    _finalizer: weakref.finalize[..., Any]

    def close(self) -> None:
        """Free what this holds on the GPU. Closing twice is harmless; drawing afterwards raises."""
        if self._finalizer.alive:
            self._finalizer()
            gl.call(lambda context: None)  # jobs keep their order: the freeing is done when this is

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
