"""What keys do to the clip, the speed and the camera of a stage."""

from __future__ import annotations

from collections.abc import Callable

from ..stage import LOOPS, Stage
from .overlay_actions import OverlayActions

_SPEEDS = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0)
# Azimuth and elevation in degrees: from the front, the model's left, its back, its right, from above.
_DIRECTIONS = ((0.0, 0.0), (90.0, 0.0), (180.0, 0.0), (-90.0, 0.0), (0.0, 90.0))


class Actions:
    """Changes a stage as a key asks for; `say` shows a message to the user.

    Actions raise what the stage raises: whoever takes the key shows the error.
    """

    def __init__(self, stage: Stage, say: Callable[[str], None]) -> None:
        self.stage = stage
        self.overlays = OverlayActions(stage, say)  #: what keys do to overlays
        self._say = say
        self._direction = -1

    # ---- playback ---------------------------------------------------------------------------------------

    def play_or_pause(self) -> None:
        """Pause what plays, or play on."""
        self.stage.player.playing = not self.stage.player.playing

    def choose(self, number: int) -> None:
        """Play a clip by its number from 0; -1 is the rest pose."""
        if number < 0:
            self.stage.rest()
        elif number < len(self.stage.clips):
            self.stage.choose(number)
        else:
            count = len(self.stage.clips)
            self._say(
                f"there is no clip {number + 1}: this model has {count} clip{'' if count == 1 else 's'}"
            )

    def next_clip(self, step: int) -> None:
        """Play the clip that is `step` further in the list; after the last comes the first."""
        count = len(self.stage.clips)
        if count:
            number = self.stage.number
            self.choose((number + step) % count if number is not None else (0 if step > 0 else count - 1))

    def faster(self) -> None:
        """Take the next higher speed in the direction of play."""
        self._set_speed(next((speed for speed in _SPEEDS if speed > self._pace + 1e-9), _SPEEDS[-1]))

    def slower(self) -> None:
        """Take the next lower speed in the direction of play."""
        self._set_speed(next((speed for speed in reversed(_SPEEDS) if speed < self._pace - 1e-9), _SPEEDS[0]))

    @property
    def _pace(self) -> float:
        """Speed without direction."""
        return abs(self.stage.player.speed)

    def _set_speed(self, pace: float) -> None:
        self.stage.player.speed = -pace if self.stage.player.speed < 0 else pace

    def reverse(self) -> None:
        """Play in the other direction."""
        self.stage.player.speed = -self.stage.player.speed

    def restart(self) -> None:
        """Play from the start at normal speed."""
        self.stage.player.speed = 1.0
        self.stage.player.seek(0.0)

    def next_loop(self) -> None:
        """Take the next loop mode."""
        self.stage.player.loop = LOOPS[(LOOPS.index(self.stage.player.loop) + 1) % len(LOOPS)]

    # ---- camera and floor -------------------------------------------------------------------------------

    def next_direction(self) -> None:
        """Look from the front, the model's left, its back, its right, from above."""
        self._direction = (self._direction + 1) % len(_DIRECTIONS)
        self.stage.rig.look(*_DIRECTIONS[self._direction])

    def reset_camera(self) -> None:
        """Put the camera where it was before the user moved it."""
        self._direction = -1
        self.stage.rig.reset()

    def toggle_floor(self) -> None:
        """Show or hide the floor."""
        self.stage.floor = not self.stage.floor
