"""A film of the bundled character: it walks, runs, turns, and waves while it runs.

    python examples/act.py [-o act.webp] [--size 320x240] [--fps 24]

The suffix says the format: .webp, .gif, .png, .mp4 (which needs ffmpeg). Needs the extra `view`. Only what
everybody can call is used. The controller plays the clips, warps them into each other and lays the wave over
the run; the root motion of the clips moves the character over the floor; turning is up to us.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import skinpy
from skinpy.output import save_film
from skinpy.render import Camera, Floor, Renderer

Controller = skinpy.AnimationController
Array = NDArray[np.float64]

SECONDS = 9.0
ARM = skinpy.Mask.below("RightShoulder", "Neck")  # the wave looks where it waves
TURN = (3.4, 7.6, math.radians(360))  # seconds from and to, and the angle
EYE = np.array([2.1, 1.15, 3.5])  # from the character to the camera
FLOOR = Floor(speed=None, height=0.0, tile=0.5, size=26.0)


def cues(model: skinpy.Model) -> list[tuple[float, Callable[[Controller], object]]]:
    """What is to happen, and when. The planted feet tell how far each step of a clip in place carries."""
    walk = model.clips["walk"].root_motion_from_feet()
    run = model.clips["run"].root_motion_from_feet()
    return [
        (0.0, lambda it: it.play(walk)),
        (1.8, lambda it: it.cross_fade(run, 0.6, ease="smooth", warp=True)),
        (2.8, lambda it: it.cross_fade("wave", 0.3, layer="arm", mask=ARM, loop="once")),
        (4.7, lambda it: it.stop("arm", fade=0.5)),
        (7.4, lambda it: it.cross_fade(walk, 0.6, ease="smooth", warp=True)),
    ]


def turned(time: float) -> float:
    """The angle to the left by which the character has turned: it starts and ends softly."""
    start, end, angle = TURN
    u = min(max((time - start) / (end - start), 0.0), 1.0)
    return angle * u * u * (3 - 2 * u)


def about_y(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]])


def act(controller: Controller, fps: float) -> Iterator[Array]:
    """Plays the film; at each frame, where the character is: (4, 4), scene space."""
    waiting = cues(controller.model)
    place = np.eye(4)
    for frame in range(round(SECONDS * fps)):
        while waiting and waiting[0][0] <= controller.time:
            waiting.pop(0)[1](controller)
        yield place
        before = controller.time
        controller.advance((frame + 1) / fps - before)
        place = place @ controller.root_delta @ about_y(turned(controller.time) - turned(before))


def frames(model: skinpy.Model, size: tuple[int, int], fps: float) -> Iterator[NDArray[np.uint8]]:
    controller = Controller(model)
    watched = np.zeros(3)  # the camera follows the character like a weight on a soft spring
    with Renderer(model, size=size, background="#dfe8f4", floor=FLOOR) as renderer:
        for place in act(controller, fps):
            watched += (place[:3, 3] - watched) * (1 - math.exp(-6 / fps))
            camera = Camera.look_at(watched + EYE, watched + (0, 0.8, 0), fov=30)
            yield renderer.frame(pose=controller.palette(root=place), camera=camera)


def size_of(words: str) -> tuple[int, int]:
    width, height = words.split("x")
    return int(width), int(height)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="A film of the bundled character.")
    parser.add_argument("-o", "--output", type=Path, default=Path("act.webp"), help="film (%(default)s)")
    parser.add_argument("--size", type=size_of, default=(320, 240), metavar="WxH", help="pixels (320x240)")
    parser.add_argument("--fps", type=float, default=24.0, help="frames per second (%(default)s)")
    options = parser.parse_args(arguments)
    save_film(options.output, frames(skinpy.character(), options.size, options.fps), options.fps)
    print(f"{options.output}: {options.output.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
