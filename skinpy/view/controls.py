"""The menus, sliders and buttons of a live view: ipywidgets over a stage."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets

from ..mask import Mask
from ..render import Overlays
from .layer import Layer
from .stage import LOOPS, Stage

if TYPE_CHECKING:
    from ..playing.tracks import Track

_NONE, _OTHER = -1, -2  # in menus, where other values are numbers of clips or joints
_TICKS = 1000  # of the time slider: whole numbers come back from front ends as they were
_SPEEDS = 3.0  # the slider's ends, seconds of the clip per second
_MOST_GHOSTS = 6
_LABELS = {"rest": "rest pose"}

Act = Callable[[Callable[[], object]], None]


class Controls:
    """Widgets that show a stage's state, and change it through `act`, which runs what it is given.

    `show` brings the widgets up to date; `scrubbed` is called when a hand has moved the time slider. Any
    thread may show while hands are at work in another.
    """

    def __init__(self, stage: Stage, act: Act, scrubbed: Callable[[], None]) -> None:
        self._stage, self._act, self._scrubbed = stage, act, scrubbed
        self._lock = threading.RLock()
        self._showing = False  # whether values change because the stage has
        self._told: deque[int] = deque(maxlen=4)  # values that the time slider was given
        self._tracks: dict[Track, Any] = {}
        self._make_player()
        self._make_overlays()
        self._layers = ipywidgets.VBox([]) if stage.controller is not None else self._make_layer()
        self.message = ipywidgets.HTML()
        self.rows = [
            self._row(self._play, self._time, self._label),
            self._row(self._clip, self._speed, self._loop, self._reset),
            self._row(*self._toggles.values()),
            self._row(self._weights, self._way, self._onion),
            self._layers,
            self.message,
        ]
        self.show()

    @staticmethod
    def _row(*widgets: Any) -> Any:
        return ipywidgets.HBox(widgets, layout={"flex_flow": "row wrap", "align_items": "center"})

    def _on(self, widget: Any, change: Callable[[Any], object]) -> Any:
        """Runs `change(value)` when a hand gives the widget another value."""

        def changed(event: Any) -> None:
            with self._lock:  # another thread may be showing; this one may too, and then it is not a hand
                if not self._showing:
                    self._act(lambda: change(event["new"]))

        widget.observe(changed, names="value")
        return widget

    # ---- making ---------------------------------------------------------------------------------------

    def _make_player(self) -> None:
        stage = self._stage
        self._play = self._on(
            ipywidgets.ToggleButton(icon="play", tooltip="play or stop", layout={"width": "44px"}),
            lambda value: setattr(stage, "playing", value),
        )
        self._time = self._on(
            ipywidgets.IntSlider(
                min=0, max=_TICKS, readout=False, layout={"flex": "1 1 auto", "min_width": "200px"}
            ),
            self._seek,
        )
        self._label = ipywidgets.Label(layout={"width": "104px"})
        self._clip = self._menu("clip", [("rest pose", _NONE)], self._choose, "176px")
        self._speed = self._on(
            _slider("speed", -_SPEEDS, _SPEEDS, 0.05, "222px"),
            lambda value: setattr(stage, "speed", value),
        )
        self._loop = self._menu(
            "loop", [(loop, loop) for loop in LOOPS], lambda value: setattr(stage, "loop", value), "124px"
        )
        self._reset = ipywidgets.Button(
            description="camera", icon="home", tooltip="the camera as it was first", layout={"width": "96px"}
        )
        self._reset.on_click(lambda _: self._act(stage.reset_camera))

    def _make_overlays(self) -> None:
        names = [field.name for field in dataclasses.fields(Overlays) if field.type == "bool"]
        self._toggles = {
            name: self._on(self._toggle(_LABELS.get(name, name)), functools.partial(self._overlay, name))
            for name in names
        }
        self._toggles["floor"] = self._on(
            self._toggle("floor"), lambda value: setattr(self._stage, "floor", value)
        )
        self._weights = self._menu("weights of", [("none", _NONE)], self._color, "220px")
        self._way = self._menu("way of", [("none", _NONE)], self._trace, "190px")
        self._onion = self._on(
            _slider("ghosts", 0, _MOST_GHOSTS, 1, "210px"),
            functools.partial(self._overlay, "onion"),
        )

    def _make_layer(self) -> Any:
        self._over = self._menu("layer", [("none", _NONE)], self._lay, "170px")
        self._over_weight = self._on(
            _slider("weight", 0.0, 1.0, 0.01, "220px", value=1.0),
            lambda value: self._relay(weight=value),
        )
        self._over_mask = self._menu("below", [("all joints", _NONE)], self._mask, "180px")
        self._over_additive = self._on(self._toggle("add"), lambda value: self._relay(additive=value))
        return self._row(self._over, self._over_weight, self._over_mask, self._over_additive)

    def _menu(self, label: str, options: list[Any], change: Callable[[Any], object], width: str) -> Any:
        menu = ipywidgets.Dropdown(
            options=options,
            value=options[0][1] if options else None,
            description=label,
            style={"description_width": _label_width(label)},
            layout={"width": width},
        )
        return self._on(menu, change)

    @staticmethod
    def _toggle(label: str) -> Any:
        return ipywidgets.ToggleButton(
            description=label, layout={"width": "auto", "padding": "0 8px", "height": "26px"}
        )

    # ---- what hands ask for ---------------------------------------------------------------------------

    def _seek(self, ticks: int) -> None:
        # Front ends may say again what they were told a moment ago, which is no hand.
        if not self._stage.playing or ticks not in self._told:
            self._scrubbed()
            self._stage.seek(ticks / _TICKS * self._stage.duration)

    def _choose(self, number: int) -> None:
        if number == _NONE:
            self._stage.rest()
        elif number != _OTHER:
            self._stage.choose(number)

    def _overlay(self, name: str, value: Any) -> None:
        if value and name == "influences":  # both color the surface
            self._draw_over(weights=None)
        self._draw_over(**{name: value})

    def _color(self, joint: int) -> None:
        self._draw_over(weights=None if joint == _NONE else joint, influences=False)

    def _trace(self, joint: int) -> None:
        if joint != _OTHER:
            self._draw_over(trajectories=() if joint == _NONE else (joint,))

    def _draw_over(self, **changes: Any) -> None:
        self._stage.overlays = dataclasses.replace(self._stage.overlays or Overlays(), **changes)

    def _lay(self, number: int) -> None:
        if number == _NONE:
            self._stage.layer = None
        elif number == _OTHER:
            return
        elif self._stage.layer is not None:
            self._relay(clip=number)
        else:
            weight, additive = self._over_weight.value, self._over_additive.value
            self._stage.layer = Layer(number, weight, self._masked(self._over_mask.value), additive)

    def _relay(self, **changes: Any) -> None:
        """The layer with other fields; nothing where there is none."""
        if self._stage.layer is not None:
            self._stage.layer = dataclasses.replace(self._stage.layer, **changes)

    def _mask(self, joint: int) -> None:
        if joint != _OTHER:
            self._relay(mask=self._masked(joint))

    def _masked(self, joint: int) -> Mask | None:
        names = self._stage.model.skeleton.names
        return Mask.below(names[joint]) if joint >= 0 else None

    # ---- showing --------------------------------------------------------------------------------------

    def show(self, *, time: bool = True) -> None:
        """Bring the widgets up to date; without the slider, if not `time`: a hand may be on it."""
        with self._lock:
            self._showing = True
            try:
                self._show_player(time)
                self._show_overlays()
                if self._stage.controller is not None:
                    self._show_tracks()
                else:
                    self._show_layer()
            finally:
                self._showing = False

    def _show_player(self, time: bool) -> None:
        stage = self._stage
        self._play.value = stage.playing
        self._play.icon = "pause" if stage.playing else "play"
        if time:
            self._time.value = round(_TICKS * stage.position / stage.duration) if stage.duration else 0
            self._told.append(self._time.value)
        self._label.value = stage.time_label
        self._show_clips()
        speed = abs(stage.speed)
        if speed > self._speed.max:
            self._speed.max, self._speed.min = speed, -speed
        self._speed.value = stage.speed
        self._loop.value = stage.loop

    def _show_clips(self) -> None:
        stage, number = self._stage, self._stage.number
        value = _NONE if stage.clip is None else _OTHER if number is None else number
        _show_menu(self._clip, "rest pose", stage.clips, value, stage.clip_name)

    def _show_overlays(self) -> None:
        stage = self._stage
        overlays = stage.overlays or Overlays()
        for name, toggle in self._toggles.items():
            toggle.value = stage.floor if name == "floor" else getattr(overlays, name)
        joints = stage.model.skeleton.names
        numbers = [
            joint if isinstance(joint, int) else _place(joint, joints) for joint in overlays.trajectories
        ]
        way = _NONE if not numbers else _OTHER if len(numbers) > 1 or numbers[0] is None else numbers[0]
        _show_menu(self._way, "none", joints, way, "own choice")
        weights = overlays.weights
        colored = _place(weights, joints) if isinstance(weights, str) else weights
        _show_menu(self._weights, "none", joints, _NONE if colored is None else colored, "")
        self._onion.max = max(self._onion.max, overlays.onion)
        self._onion.value = overlays.onion

    def _show_layer(self) -> None:
        layer, model = self._stage.layer, self._stage.model
        clip = None if layer is None else layer.clip
        names = model.clips.names
        value = _NONE
        if layer is not None:
            number = (
                clip % len(names) if isinstance(clip, int) else _place(getattr(clip, "name", clip), names)
            )
            value = _OTHER if number is None else number
            self._over_weight.value, self._over_additive.value = layer.weight, layer.additive
        _show_menu(self._over, "none", names, value, "own clip")
        joints = model.skeleton.names
        value = self._over_mask.value  # without a layer: for the next one
        if layer is not None:
            number = (
                _NONE if layer.mask is None else _place(layer.mask, [Mask.below(name) for name in joints])
            )
            value = _OTHER if number is None else number
        _show_menu(self._over_mask, "all joints", joints, value, "own mask")

    def _show_tracks(self) -> None:
        """A controller's layers: a slider for the weight of each track."""
        tracks = [track for layer in self._stage.layers.values() for track in layer]
        if tracks != list(self._tracks):
            self._tracks = {track: self._tracks.get(track) or self._track(track) for track in tracks}
            self._layers.children = tuple(self._tracks.values())
        for track, slider in self._tracks.items():
            slider.max = max(slider.max, track.weight)
            slider.value = track.weight

    def _track(self, track: Track) -> Any:
        name = "rest pose" if track.clip is None else track.clip.name
        slider = _slider(f"{track.layer}: {name}", 0.0, 1.0, 0.01, "400px")
        return self._on(slider, lambda value: setattr(track, "weight", value))


def _slider(label: str, least: float, most: float, step: float, width: str, value: float = 0) -> Any:
    kind = ipywidgets.IntSlider if isinstance(least, int) else ipywidgets.FloatSlider
    return kind(
        value,
        min=least,
        max=most,
        step=step,
        description=label,
        style={"description_width": _label_width(label)},
        layout={"width": width},
    )


def _label_width(label: str) -> str:
    return f"{8 + 7 * len(label)}px"


def _place(value: object, values: Sequence[object]) -> int | None:
    return next((number for number, one in enumerate(values) if one == value), None)


def _show_menu(menu: Any, none: str, names: Sequence[str], value: int, other: str) -> None:
    """The names by their numbers after `none`; `other` too, where that is what is shown."""
    options = [(none, _NONE), *((name or f"unnamed {number}", number) for number, name in enumerate(names))]
    options += [(other, _OTHER)] if value == _OTHER else []
    if list(menu.options) != options:
        menu.options = options
    menu.value = value
