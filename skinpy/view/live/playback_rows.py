"""The widgets for the clip and the time of a live view."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import ipywidgets

from ..stage import LOOPS, Stage
from .widgets import NONE, OTHER, Binding, menu, row, show_menu, slider

_TICKS = 1000  # of the time slider: front ends return whole numbers unchanged
_MAX_SPEED = 3.0  # at the ends of the slider, in seconds of the clip per second


class PlaybackRows:
    """Play and pause, the time slider, the clip, the speed, the loop mode, and the reset of the camera.

    `scrubbed` is called when the user has moved the time slider.
    """

    def __init__(self, stage: Stage, binding: Binding, scrubbed: Callable[[], None]) -> None:
        self._stage, self._scrubbed = stage, scrubbed
        self._told: deque[int] = deque(maxlen=4)  # the last values that the view gave the time slider
        self.play = binding.on(
            ipywidgets.ToggleButton(icon="play", tooltip="play or pause", layout={"width": "44px"}),
            self._set_playing,
        )
        self.time = binding.on(
            ipywidgets.IntSlider(
                min=0,
                max=_TICKS,
                readout=False,
                tooltip="time within the clip",
                layout={"flex": "1 1 auto", "min_width": "200px"},
            ),
            self._seek,
        )
        self.label = ipywidgets.Label(tooltip="time and duration of the clip", layout={"width": "104px"})
        self.clip = binding.on(menu("clip", "clip to play", [("rest pose", NONE)], "152px"), self._choose)
        tooltip = "seconds of the clip per second; negative: backwards"
        self.speed = binding.on(
            slider("speed", tooltip, (-_MAX_SPEED, _MAX_SPEED), 0.05, "206px"), self._set_speed
        )
        modes = [(loop, loop) for loop in LOOPS]
        tooltip = "what happens at the end of the clip"
        self.loop = binding.on(menu("loop", tooltip, modes, "124px"), self._set_loop)
        self.reset = binding.on_click(
            ipywidgets.Button(
                description="reset camera",
                icon="home",
                tooltip="show the whole clip again",
                layout={"width": "128px"},
            ),
            stage.rig.reset,
        )
        self.rows = [
            row(self.play, self.time, self.label),
            row(self.clip, self.speed, self.loop, self.reset),
        ]

    def _set_playing(self, playing: bool) -> None:
        self._stage.player.playing = playing

    def _set_speed(self, speed: float) -> None:
        self._stage.player.speed = speed

    def _set_loop(self, loop: str) -> None:
        self._stage.player.loop = loop  # type: ignore[assignment]  # the menu has loop modes alone

    def _seek(self, ticks: int) -> None:
        # A front end may repeat a value that the view gave it a moment ago: that is not the user.
        if not self._stage.player.playing or ticks not in self._told:
            self._scrubbed()
            self._stage.player.seek(ticks / _TICKS * self._stage.player.duration)

    def _choose(self, number: int) -> None:
        if number == NONE:
            self._stage.rest()
        elif number != OTHER:
            self._stage.choose(number)

    def show(self, time: bool) -> None:
        """Show the state of the stage; without `time` leave the slider alone: the user may be moving it."""
        stage, player = self._stage, self._stage.player
        self.play.value = player.playing
        self.play.icon = "pause" if player.playing else "play"
        if time:
            self.time.value = round(_TICKS * player.position / player.duration) if player.duration else 0
            self._told.append(self.time.value)
        self.label.value = player.time_label
        number = stage.number
        value = NONE if player.clip is None else OTHER if number is None else number
        show_menu(self.clip, "rest pose", stage.clips, value, player.clip_name)
        speed = abs(player.speed)
        if speed > self.speed.max:
            self.speed.max, self.speed.min = speed, -speed
        self.speed.value = player.speed
        self.loop.value = player.loop
