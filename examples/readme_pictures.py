"""Draws the pictures of the README and of the tutorial: moving.webp, character.png, quickstart.png and
tutorial.png in docs/images.

    python examples/readme_pictures.py [-o docs/images]

Needs the extra `view`. Only what everybody can call is used here: skinpy.character, model.render, Camera.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import skinpy
from skinpy.output import save_picture
from skinpy.render import Camera

Picture = NDArray[np.uint8]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"

# Clip, time in seconds, azimuth of the camera in degrees, place of the figure's middle in pixels.
POSES = (
    ("walk", 0.00, -48.0, 112),
    ("walk", 0.24, -48.0, 248),
    ("walk", 0.56, -48.0, 380),
    ("run", 0.035, -48.0, 533),
    ("run", 0.28, -48.0, 692),
    ("run", 0.49, -48.0, 857),
    ("wave", 1.08, 4.0, 1040),
)
WIDTH, HEIGHT = 1180, 408
FIGURE_WIDTH = 296  # of the picture that one figure is drawn into
LEVELS = 4  # colors are rounded to multiples of it: not seen, and the file is a third smaller
SHADOW = 0.20  # alpha in the middle of the shadow on the ground

# The film: clip, turns within it, azimuth, place of the figure. Its speeds are within 15 % of the clips'.
ACTS = (("walk", 2, -48.0, 95), ("run", 3, -48.0, 262), ("wave", 1, 4.0, 432))
FILM_SECONDS, FILM_FPS, FILM_WIDTH, FILM_HEIGHT = 2.1, 10, 534, 216
FILM_QUALITY, FILM_ALPHA_QUALITY = 40, 90  # save_film has 90 and 100: more than twice as large


def camera(azimuth: float) -> Camera:
    """The same distance and height for all, so that all figures are equally tall."""
    angle, height = np.radians(azimuth), 0.86
    eye = (7.0 * np.sin(angle), height + 0.9, 7.0 * np.cos(angle))
    return Camera.look_at(eye, (0.0, height, 0.0), fov=15.4)


def shadow(width: int, height: int, center: tuple[float, float], half: tuple[float, float]) -> Picture:
    """A soft dark ellipse on nothing."""
    y, x = np.mgrid[0:height, 0:width]
    r2 = ((x - center[0]) / half[0]) ** 2 + ((y - center[1]) / half[1]) ** 2
    picture = np.zeros((height, width, 4), dtype=np.uint8)
    picture[..., :3] = (24, 32, 56)
    picture[..., 3] = np.round(255.0 * SHADOW * np.clip(1.0 - r2, 0.0, 1.0) ** 1.5)
    return picture


def over(below: Picture, above: Picture, left: int) -> None:
    """Lays a picture with straight alpha on another one, from column `left` on, and cuts it there."""
    start, stop = max(left, 0), min(left + above.shape[1], below.shape[1])
    part = below[:, start:stop]
    top = above[:, start - left : stop - left].astype(np.float64) / 255.0
    base = part.astype(np.float64) / 255.0
    alpha = top[..., 3:] + base[..., 3:] * (1.0 - top[..., 3:])
    color = top[..., :3] * top[..., 3:] + base[..., :3] * base[..., 3:] * (1.0 - top[..., 3:])
    color /= np.maximum(alpha, 1e-6)
    part[...] = np.round(255.0 * np.concatenate([color, alpha], axis=2))


def character_picture(model: skinpy.Model) -> Picture:
    """Walking, running and waving in a row, on nothing: it suits light and dark pages."""
    row = np.zeros((HEIGHT, WIDTH, 4), dtype=np.uint8)
    for clip, _, _, middle in POSES:
        reach = 68 if clip == "run" else 61
        over(row, shadow(WIDTH, HEIGHT, (middle, HEIGHT - 23), (reach, 12)), 0)
    for clip, time, azimuth, middle in POSES:
        figure = model.render(clip, time, size=(FIGURE_WIDTH, HEIGHT), camera=camera(azimuth))
        over(row, figure, middle - FIGURE_WIDTH // 2)
    row[..., :3] = np.minimum((row[..., :3].astype(int) + LEVELS // 2) // LEVELS * LEVELS, 255)
    return row


def moving_pictures(model: skinpy.Model) -> list[Picture]:
    """Walking, running and waving side by side, each in whole turns, so that the film goes on for ever."""
    count = round(FILM_SECONDS * FILM_FPS)
    frames = []
    for frame in range(count):
        row = np.zeros((FILM_HEIGHT, FILM_WIDTH, 4), dtype=np.uint8)
        for clip, turns, azimuth, middle in ACTS:
            over(row, shadow(FILM_WIDTH, FILM_HEIGHT, (middle, FILM_HEIGHT - 12), (36, 7)), 0)
            time = frame / count * turns % 1.0 * model.clips[clip].duration
            figure = model.render(clip, time, size=(FILM_WIDTH // 3, FILM_HEIGHT), camera=camera(azimuth))
            over(row, figure, middle - FILM_WIDTH // 6)
        frames.append(row)
    return frames


def tutorial_picture(model: skinpy.Model) -> Picture:
    """What the tutorial's lines about pictures draw."""
    return model.render("walk", 0.3, size=(480, 360), background="#eef2f8")


def quickstart_picture(model: skinpy.Model) -> Picture:
    """What the README's lines of code draw."""
    return model.render("wave", 1.0, size=(480, 480), background="#eef2f8")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the pictures of the README.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write to (%(default)s)")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    model = skinpy.character()
    for name, picture in (
        ("character.png", character_picture(model)),
        ("quickstart.png", quickstart_picture(model)),
        ("tutorial.png", tutorial_picture(model)),
    ):
        save_picture(folder / name, picture)
        print(f"{folder / name}: {(folder / name).stat().st_size} bytes")
    first, *others = (Image.fromarray(frame) for frame in moving_pictures(model))
    first.save(
        folder / "moving.webp",
        save_all=True,
        append_images=others,
        duration=round(1000 / FILM_FPS),
        loop=0,
        quality=FILM_QUALITY,
        alpha_quality=FILM_ALPHA_QUALITY,
        method=6,
    )
    print(f"{folder / 'moving.webp'}: {(folder / 'moving.webp').stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
