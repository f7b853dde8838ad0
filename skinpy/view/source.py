"""The file of a model that is shown, and whether it has changed since it was loaded."""

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
    """A model, and its stored frames if the file has any."""

    model: Model
    clip: VertexAnimation | None


class Source:
    """A model file that is loaded again when it changes. `options` are those of `skinpy.load`.

    A program may need a while to write a file, so a file counts as changed when it differs from the loaded
    one and two looks in a row have found it the same. Only the file itself is watched, not its textures.

    Raises ValueError for `up` and `scene` if the file has stored frames, which are taken as they are.
    """

    def __init__(self, path: PathLike, **options: Any) -> None:
        self.path = Path(os.fsdecode(path))
        self._options = options
        self._frames = options.get("format") is None and has_frames(self.path)
        for name in ("up", "scene"):
            if options.get(name) is not None and self._frames:
                raise ValueError(f"{self.path}: stored frames are taken as they are; leave out {name}")
        self._known = self._seen = self._stamp()

    def load(self) -> Loaded:
        """Load the file as it is now. Raises what `skinpy.load` raises."""
        self._known = self._seen = self._stamp()  # before reading: what is written later is a change
        if self._frames:
            animation = VertexAnimation.load(self.path, **self._options)
            return Loaded(animation.model, animation)
        return Loaded(load(self.path, **self._options), None)

    def has_changed(self) -> bool:
        """Look at the file; returns True once for each change."""
        stamp, seen = self._stamp(), self._seen
        self._seen = stamp
        if stamp is None or stamp != seen or stamp == self._known:
            return False
        self._known = stamp
        return True

    def _stamp(self) -> _Stamp | None:
        try:
            found = self.path.stat()
        except OSError:  # the file is being replaced, or gone: the model stays
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
