"""The animated picture that a notebook stores of a live view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...output.preview import fitting, preview_times
from ..stage import Stage

# Height in pixels and the largest number of frames: tried one after another, until the file is small enough.
_SIZES = ((300, 20), (240, 20), (180, 20), (120, 16), (60, 8))


def film(stage: Stage) -> bytes | None:
    """An animated PNG of the clip that plays; None if nothing plays, or a controller poses the model.

    The time of the stage changes meanwhile, so the caller keeps others from drawing it.
    """
    player = stage.player
    if player.controller is not None or not (player.playing and player.duration > 0):
        return None
    width, height = stage.size
    sizes = [((max(round(h * width / height), 1), h), frames) for h, frames in _SIZES]

    def draw(size: tuple[int, int], max_frames: int) -> tuple[list[NDArray[np.uint8]], float]:
        times, fps = preview_times(player.duration, max_frames)
        pictures = []
        for time in times.tolist():
            player.time = time
            pictures.append(stage.frame(size=size))
        return pictures, fps

    time = player.time
    try:
        return fitting(sizes, draw)
    finally:
        player.time = time
