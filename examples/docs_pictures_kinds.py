"""Draws the pictures of docs/kinds.md, docs/uv.md and docs/vertex-animation.md.

    python examples/docs_pictures_kinds.py [-o docs/images]

Needs the extra `view`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import skinpy
from skinpy.kinds import UVAnimation, VertexAnimation
from skinpy.output import save_picture
from skinpy.render import Camera, Renderer

Picture = NDArray[np.uint8]
Array = NDArray[np.float64]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
PAPER = "#eef2f8"
CELL = 224  # pixels
GAP = 8
EYE = (0.0, 2.9, 2.4)  # looks down on the water
LEVELS = 4  # colors are rounded to multiples of it: not seen, and the files are smaller


def row(pictures: list[Picture]) -> Picture:
    """Pictures side by side on white."""
    height, width, _ = pictures[0].shape
    sheet = np.full((height, len(pictures) * (width + GAP) - GAP, 4), 255, np.uint8)
    for number, picture in enumerate(pictures):
        left = number * (width + GAP)
        sheet[:, left : left + width] = picture
    colors = np.round(sheet[..., :3] / LEVELS) * LEVELS
    sheet[..., :3] = np.minimum(colors, 255)
    return sheet


# ---- texture coordinates ------------------------------------------------------------------------------


def tile(u: Array, v: Array) -> Array:
    """The color (..., 3), 0 to 1, of an image of four fields, an arrow up and a frame; v points down."""
    color = np.where(((u < 0.5) ^ (v < 0.5))[..., None], (0.86, 0.90, 0.96), (0.70, 0.78, 0.90))
    arrow = (np.abs(u - 0.5) < 0.06) & (v > 0.35) & (v < 0.8)
    arrow |= (np.abs(u - 0.5) < (v - 0.16) * 0.6) & (v < 0.4)
    frame = np.maximum(np.abs(u - 0.5), np.abs(v - 0.5)) > 0.465
    color[arrow] = (0.86, 0.36, 0.20)
    color[frame] = (0.20, 0.27, 0.42)
    return color


def looked_up(animation: UVAnimation, time: float, size: int = CELL) -> Picture:
    """A square with texture coordinates from 0 to 1 as it looks at `time`: every pixel is one lookup."""
    fine = 3 * size  # nine lookups a pixel
    u, v = np.meshgrid(*[(np.arange(fine) + 0.5) / fine] * 2)
    where = animation.wrapped(animation.apply(np.stack([u, v], axis=-1).reshape(-1, 2), time))
    color = tile(where[:, 0], where[:, 1]).reshape(size, 3, size, 3, 3).mean(axis=(1, 3))
    picture = np.full((size, size, 4), 255, np.uint8)
    picture[..., :3] = np.round(255 * color)
    return picture


def uv_picture() -> Picture:
    return row(
        [
            looked_up(UVAnimation(), 0.0),
            looked_up(UVAnimation(scroll=(0.25, 0.0)), 1.0),
            looked_up(UVAnimation(rotate=0.5), 1.0),
            looked_up(UVAnimation(scale=(2.5, 2.5)), 0.0),
            looked_up(UVAnimation(scale=(2.5, 2.5), wrap="mirror"), 0.0),
        ]
    )


# ---- stored vertices ----------------------------------------------------------------------------------


def grid(count: int) -> tuple[Array, NDArray[np.int64]]:
    """Places (V, 2) from -1 to 1, and faces (F, 3) seen from above (+Y)."""
    line = np.linspace(-1.0, 1.0, count)
    x, z = (axis.ravel() for axis in np.meshgrid(line, line))
    corner = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    faces = [corner, corner + count, corner + 1, corner + 1, corner + count, corner + count + 1]
    return np.stack([x, z], axis=1), np.stack(faces, axis=1).reshape(-1, 3)


def drop(fps: float = 30.0, seconds: float = 3.0, count: int = 61) -> VertexAnimation:
    """Rings that run over water from where a drop fell in."""
    places, faces = grid(count)
    times = np.arange(int(fps * seconds) + 1)[:, None] / fps
    distance = np.linalg.norm(places - (-0.25, 0.1), axis=1)[None]
    front = np.clip((times * 0.9 - distance) * 6.0, 0.0, 1.0)
    height = 0.17 * front * np.cos(16.0 * (distance - 0.9 * times)) * np.exp(-1.3 * distance - 0.5 * times)
    frames = np.stack(np.broadcast_arrays(places[None, :, 0], height, places[None, :, 1]), axis=-1)
    return VertexAnimation.every_frame(frames, fps, faces=faces, name="drop")


def star(count: int = 97) -> VertexAnimation:
    """Two keys: a ball, and a star with the same vertices."""
    theta = np.linspace(0.0, np.pi, count)[:, None]
    phi = np.linspace(0.0, 2 * np.pi, count)[None]
    sphere = (np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta))
    ball = np.stack(np.broadcast_arrays(*sphere), axis=-1)
    arms = 1.0 + 0.55 * np.cos(5 * phi) * np.sin(theta) ** 3
    corner = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    sides = [corner, corner + count, corner + 1, corner + 1, corner + count, corner + count + 1]
    faces = np.stack(sides, axis=1).reshape(-1, 3)
    frames = np.stack([ball, ball * arms[..., None]]).reshape(2, -1, 3)
    return VertexAnimation.keyed([0.0, 1.0], frames, faces=faces, name="star")


def drawn(
    animation: VertexAnimation, times: list[float], eye: tuple[float, float, float], fov: float
) -> list[Picture]:
    camera = Camera.look_at(eye, (0.0, 0.0, 0.0), fov=fov)
    with Renderer(animation.model, size=(CELL, CELL), background=PAPER) as renderer:
        return [renderer.frame(animation, time, camera=camera) for time in times]


def vertices_picture() -> Picture:
    return row(drawn(drop(), [0.3, 0.7, 1.1, 1.6, 2.4], EYE, 34.0))


# ---- one of each kind ---------------------------------------------------------------------------------


def kinds_picture() -> Picture:
    scroll = UVAnimation(scroll=(0.2, 0.1), rotate=0.3, scale=(2.0, 2.0))
    crane, character = skinpy.crane(), skinpy.character()
    size = (CELL, CELL)
    return row(
        [
            looked_up(scroll, 1.0),
            *drawn(drop(), [1.1], EYE, 34.0),
            *drawn(star(), [0.85], (1.0, 1.2, 5.0), 36.0),
            crane.render(0, 0.8, size=size, background=PAPER),
            character.render("run", 0.28, size=size, background=PAPER),
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder of the pictures")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {"uv.png": uv_picture, "vertex-animation.png": vertices_picture, "kinds.png": kinds_picture}
    for name, draw in pictures.items():
        save_picture(folder / name, draw())
        print(folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
