"""The widgets for the overlays and the floor of a live view."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from ...render import Overlays
from ..stage import Stage
from .widgets import NONE, OTHER, Binding, index_of, menu, row, show_menu, slider, toggle

_MAX_GHOSTS = 6
_LABELS = {"rest": "rest pose"}
_TOOLTIPS = {
    "skeleton": "show the joints as octahedra",
    "names": "show the names of the joints",
    "axes": "show the axes of the joints",
    "rest": "show the rest pose as a ghost",
    "boxes": "show bounding boxes",
    "normals": "show the normals of the vertices",
    "wireframe": "show the edges of the faces",
    "influences": "color the number of joints that move each vertex",
}


class OverlayRows:
    """A switch for each overlay and for the floor, and menus for what belongs to one joint."""

    def __init__(self, stage: Stage, binding: Binding) -> None:
        self._stage = stage
        names = [field.name for field in dataclasses.fields(Overlays) if field.type == "bool"]
        self.toggles = {
            name: binding.on(
                toggle(_LABELS.get(name, name), _TOOLTIPS.get(name, name)),
                functools.partial(self._set_overlay, name),
            )
            for name in names
        }
        floor = toggle("floor", "show a ground plane that scrolls with the walk")
        self.toggles["floor"] = binding.on(floor, self._set_floor)
        no_joint = [("none", NONE)]
        tooltip = "color the weights of this joint"
        self.weights = binding.on(menu("weights of", tooltip, no_joint, "200px"), self._set_weights)
        tooltip = "draw the path of this joint through the clip"
        self.trajectory = binding.on(menu("trajectory of", tooltip, no_joint, "220px"), self._set_trajectory)
        tooltip = "poses that are shown before and after the current one"
        self.ghosts = binding.on(
            slider("ghosts", tooltip, (0, _MAX_GHOSTS), 1, "190px"),
            functools.partial(self._set_overlay, "onion"),
        )
        self.rows = [row(*self.toggles.values()), row(self.weights, self.trajectory, self.ghosts)]

    def _set_overlay(self, name: str, value: Any) -> None:
        if value and name == "influences":  # weights color the surface too
            self._change(weights=None)
        self._change(**{name: value})

    def _set_weights(self, joint: int) -> None:
        self._change(weights=None if joint == NONE else joint, influences=False)

    def _set_trajectory(self, joint: int) -> None:
        if joint != OTHER:
            self._change(trajectories=() if joint == NONE else (joint,))

    def _set_floor(self, value: bool) -> None:
        self._stage.floor = value

    def _change(self, **changes: Any) -> None:
        self._stage.overlays = dataclasses.replace(self._stage.overlays or Overlays(), **changes)

    def show(self) -> None:
        """Show the state of the stage."""
        overlays = self._stage.overlays or Overlays()
        for name, switch in self.toggles.items():
            switch.value = self._stage.floor if name == "floor" else getattr(overlays, name)
        joints = self._stage.model.skeleton.names
        numbers = [one if isinstance(one, int) else index_of(one, joints) for one in overlays.trajectories]
        shown = NONE if not numbers else OTHER if len(numbers) > 1 or numbers[0] is None else numbers[0]
        show_menu(self.trajectory, "none", joints, shown, "several joints")
        weights = overlays.weights
        colored = index_of(weights, joints) if isinstance(weights, str) else weights
        show_menu(self.weights, "none", joints, NONE if colored is None else colored, "")
        self.ghosts.max = max(self.ghosts.max, overlays.onion)
        self.ghosts.value = overlays.onion
