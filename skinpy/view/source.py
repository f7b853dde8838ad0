"""The file that a window shows, and whether it has changed since."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from .._types import PathLike
from ..files.series import has_frames
from ..kinds import VertexAnimation
from ..loading import load
from ..model import Model

_Stamp = tuple[int, int, int]  # modification time in ns, bytes, number of the file


class Loaded(NamedTuple):
    """A model, and what to play of it beside its clips."""

    model: Model
    clip: VertexAnimation | None


class Source:
    """A model file that is looked at again and again.

    A writer may need a while: a file counts as changed when it is another one than was loaded, and has been
    the same at two looks in a row. Only the file itself is looked at, no textures beside it.

    options are those of `skinpy.load`. Raises ValueError for `up` where frames are stored, which are taken as
    they are.
    """

    def __init__(self, path: PathLike, **options: Any) -> None:
        self.path = Path(os.fsdecode(path))
        self._options = options
        self._frames = options.get("format") is None and has_frames(self.path)
        if options.get("up") is not None and self._frames:
            raise ValueError(f"{self.path}: stored frames are taken as they are; leave out up")
        self._known = self._seen = self._stamp()

    def load(self) -> Loaded:
        """What is in the file now. Raises what `skinpy.load` raises."""
        self._known = self._seen = self._stamp()  # before it is read: what comes later is a change
        if self._frames:
            animation = VertexAnimation.load(self.path, **self._options)
            return Loaded(animation.model, animation)
        return Loaded(load(self.path, **self._options), None)

    def has_changed(self) -> bool:
        """Look at the file: whether there is something new to load, which is said once."""
        stamp, seen = self._stamp(), self._seen
        self._seen = stamp
        if stamp is None or stamp != seen or stamp == self._known:
            return False
        self._known = stamp
        return True

    def _stamp(self) -> _Stamp | None:
        try:
            found = self.path.stat()
        except OSError:  # it is being replaced, or is gone: the model that is there stays
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
