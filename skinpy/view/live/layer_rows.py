"""The widgets for what a live view mixes: a second clip over the first, or the tracks of a controller."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import ipywidgets

from ..._text import unicode_text
from ...mask import Mask
from ..stage import Layer, Stage
from .widgets import NONE, OTHER, Binding, close_tree, index_of, menu, row, show_menu, slider, toggle

if TYPE_CHECKING:
    from ...playing.track import Track


class LayerRow:
    """A second clip over the first, with its weight, the joints that it moves, and whether it is additive."""

    def __init__(self, stage: Stage, binding: Binding) -> None:
        self._stage = stage
        tooltip = "second clip, laid over the first"
        self.clip = binding.on(menu("layer", tooltip, [("none", NONE)], "158px"), self._choose)
        tooltip = "weight of the layer, 0 to 1"
        self.weight = binding.on(
            slider("weight", tooltip, (0.0, 1.0), 0.01, "192px", value=1.0),
            lambda weight: self._change(weight=weight),
        )
        tooltip = "the layer moves this joint and all below it"
        self.mask = binding.on(menu("below joint", tooltip, [("all joints", NONE)], "186px"), self._set_mask)
        tooltip = "add the layer's motion to the first clip instead of blending the two"
        self.additive = binding.on(
            toggle("additive", tooltip), lambda additive: self._change(additive=additive)
        )
        self.rows = [row(self.clip, self.weight, self.mask, self.additive)]

    def _choose(self, number: int) -> None:
        player = self._stage.player
        if number == NONE:
            player.layer = None
        elif number == OTHER:
            return
        elif player.layer is not None:
            self._change(clip=number)
        else:
            player.layer = Layer(
                number, self.weight.value, self._mask_of(self.mask.value), self.additive.value
            )

    def _change(self, **changes: Any) -> None:
        """Set fields of the layer, if there is one; without one they are for the next."""
        player = self._stage.player
        if player.layer is not None:
            player.layer = dataclasses.replace(player.layer, **changes)

    def _set_mask(self, joint: int) -> None:
        if joint != OTHER:
            self._change(mask=self._mask_of(joint))

    def _mask_of(self, joint: int) -> Mask | None:
        names = self._stage.model.skeleton.names
        return Mask.below(names[joint]) if joint >= 0 else None

    def show(self) -> None:
        """Show the state of the stage."""
        layer, model = self._stage.player.layer, self._stage.model
        joints = model.skeleton.names
        clip, masked = NONE, self.mask.value  # without a layer, the mask is for the next one
        if layer is not None:
            clip = _clip_number(layer, model.clips.names)
            masked = _masked_joint(layer, joints)
            self.weight.value, self.additive.value = layer.weight, layer.additive
        show_menu(self.clip, "none", model.clips.names, clip, "another clip")
        show_menu(self.mask, "all joints", joints, masked, "another mask")


def _clip_number(layer: Layer, names: tuple[str, ...]) -> int:
    if isinstance(layer.clip, int):
        return layer.clip % len(names)
    number = index_of(getattr(layer.clip, "name", layer.clip), names)
    return OTHER if number is None else number


def _masked_joint(layer: Layer, joints: tuple[str, ...]) -> int:
    if layer.mask is None:
        return NONE
    number = index_of(layer.mask, [Mask.below(name) for name in joints])
    return OTHER if number is None else number


class TrackRows:
    """A slider for the weight of each track of a controller."""

    def __init__(self, stage: Stage, binding: Binding) -> None:
        self._stage, self._binding = stage, binding
        self._sliders: dict[Track, Any] = {}
        self.box = ipywidgets.VBox([])
        self.rows = [self.box]

    def show(self) -> None:
        """Show the state of the stage."""
        tracks = [track for layer in self._stage.player.tracks.values() for track in layer]
        if tracks != list(self._sliders):
            before = self._sliders
            self._sliders = {track: before.get(track) or self._slider(track) for track in tracks}
            self.box.children = tuple(self._sliders.values())
            for track in before.keys() - self._sliders.keys():
                close_tree(before[track])
        for track, weight in self._sliders.items():
            weight.max = max(weight.max, track.weight)
            weight.value = track.weight

    def _slider(self, track: Track) -> Any:
        name = "rest pose" if track.clip is None else track.clip.name
        label = unicode_text(f"{track.layer}: {name}")
        weight = slider(label, "weight of this track", (0.0, 1.0), 0.01, "400px")
        return self._binding.on(weight, lambda value: setattr(track, "weight", value))
