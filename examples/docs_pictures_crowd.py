"""Draws the picture of docs/crowds.md: docs/images/crowd.png.

    python examples/docs_pictures_crowd.py [-o docs/images]

Needs the extra `view`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import skinpy
from skinpy.output import save_picture
from skinpy.render import Camera, Crowd, Floor, grid

Picture = NDArray[np.uint8]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
PAPER = "#eef2f8"
LEVELS = 12  # colors are rounded to multiples of it: hardly seen, and the file is smaller
COUNT = 300


def scattered(model: skinpy.Model, rng: np.random.Generator) -> NDArray[np.float32]:
    """Placements (N, 3, 4) on a grid, each pushed aside and turned a little, of sizes that differ."""
    places = grid(model, COUNT, spacing=1.5)
    places[:, ::2, 3] += rng.uniform(-0.35, 0.35, (COUNT, 2))
    turn, size = rng.uniform(-0.6, 0.6, COUNT), rng.uniform(0.85, 1.1, COUNT)
    places[:, 0, 0] = places[:, 2, 2] = size * np.cos(turn)
    places[:, 0, 2], places[:, 2, 0] = size * np.sin(turn), -size * np.sin(turn)
    places[:, 1, 1] = size
    return places


def crowd_picture() -> Picture:
    """Three hundred characters at times of their own, from one baked texture."""
    rng = np.random.default_rng(7)
    model = skinpy.character()
    baked = model.bake_texture(fps=50)
    camera = Camera.look_at((8.0, 4.4, 21.5), (0.6, 0.2, 4.0), fov=22)
    with Crowd(
        model,
        scattered(model, rng),
        baked=baked,
        size=(600, 260),
        background=PAPER,
        floor=Floor(tile=1.5),
    ) as crowd:
        picture = crowd.frame(rng.integers(0, 3, COUNT), rng.uniform(0, 10, COUNT), camera=camera)
    picture[..., :3] = np.minimum((picture[..., :3].astype(int) + LEVELS // 2) // LEVELS * LEVELS, 255)
    return picture


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the picture of docs/crowds.md.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write to (%(default)s)")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    save_picture(folder / "crowd.png", crowd_picture())
    print(f"{folder / 'crowd.png'}: {(folder / 'crowd.png').stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
