"""The files of a window: the model that it shows, dropped files, and pictures that it writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..._types import PathLike
from ...output import save_picture
from ..controls.actions import Actions
from ..source import Source
from .messages import Messages


class WindowFiles:
    """Loads models into the stage of a window and saves its pictures. Errors become messages."""

    def __init__(self, actions: Actions, source: Source | None, messages: Messages) -> None:
        self._actions, self._messages = actions, messages
        self._stage = actions.stage
        self.source = source  #: the file of the model, or None
        self._pending: Callable[[], None] | None = None  # a load that has been announced

    def drop(self, paths: Sequence[PathLike]) -> None:
        """Announce that the first of these files is being loaded; `load_pending` loads it."""
        if paths:
            source = Source(paths[0])
            others = (
                f"; {len(paths) - 1} more dropped, but one window shows one file" if len(paths) > 1 else ""
            )
            self._pending = lambda: self._open(source, others)
            self._messages.say(f"loading {source.path.name}")

    def load_pending(self) -> None:
        """Load a dropped file, after the message is shown. If the file cannot be loaded, the model stays."""
        pending, self._pending = self._pending, None
        if pending is not None:
            self._messages.attempt(pending)

    def _open(self, source: Source, others: str) -> None:
        model, clip = source.load()
        self.source = source
        self._actions.overlays.without_joints()
        self._stage.replace(model, clip)
        self._actions.reset_camera()
        self._messages.say(f"{source.path.name}: {model!r}{others}")

    def look_for_changes(self) -> None:
        """Load the file again if it has changed; if that fails, the model stays as it is."""
        source = self.source
        if source is not None and source.has_changed():
            self._messages.attempt(lambda: self._reload(source))

    def _reload(self, source: Source) -> None:
        model, clip = source.load()
        if model.skeleton.names != self._stage.model.skeleton.names:
            self._actions.overlays.without_joints()
        self._stage.replace(model, clip)
        self._messages.say(f"{source.path.name} has changed and was loaded again")

    def save_picture(self, picture: NDArray[np.uint8], folder: PathLike = ".") -> None:
        """Write a picture under the next free number: hero-001.png, hero-002.png and so on."""
        self._messages.attempt(lambda: self._save(picture, Path(folder)))

    def _save(self, picture: NDArray[np.uint8], folder: Path) -> None:
        stem = "skinpy" if self.source is None else self.source.path.stem
        pattern = re.compile(re.escape(stem) + r"-(\d+)\.png")
        found = [pattern.fullmatch(path.name) for path in folder.iterdir()]
        number = max((int(match[1]) for match in found if match), default=0) + 1
        self._messages.say(f"wrote {save_picture(folder / f'{stem}-{number:03d}.png', picture)}")
