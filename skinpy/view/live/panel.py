"""The menus, sliders and buttons below the picture of a live view."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from ..stage import Stage
from .layer_rows import LayerRow, TrackRows
from .overlay_rows import OverlayRows
from .playback_rows import PlaybackRows
from .widgets import Act, Binding


class Panel:
    """Widgets that show the state of a stage, and change it through `act`, which runs what it is given.

    `scrubbed` is called when the user has moved the time slider.
    """

    def __init__(self, stage: Stage, act: Act, scrubbed: Callable[[], None]) -> None:
        self._binding = Binding(act)
        self.playback = PlaybackRows(stage, self._binding, scrubbed)
        self.overlays = OverlayRows(stage, self._binding)
        self.layers: LayerRow | TrackRows
        if stage.player.controller is None:
            self.layers = LayerRow(stage, self._binding)
        else:
            self.layers = TrackRows(stage, self._binding)
        self.message = ipywidgets.HTML()
        self.rows = [*self.playback.rows, *self.overlays.rows, *self.layers.rows, self.message]
        self.show()

    def show(self, *, time: bool = True) -> None:
        """Show the state of the stage; without `time` leave the slider alone: the user may be moving it."""
        with self._binding.showing():
            self.playback.show(time)
            self.overlays.show()
            self.layers.show()

    def show_message(self, markup: str) -> None:
        """Show a message below the widgets, as HTML; an empty one removes it."""
        if self.message.value != markup:
            self.message.value = markup
