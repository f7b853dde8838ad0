"""Draws the pictures of docs/retargeting.md and docs/howto-retarget.md.

mirror.png is the bundled character's wave and its mirror image. retarget.png is its walk as a file of motion
alone, and on the character.

    python examples/docs_pictures_retarget.py [-o docs/images]

Needs the extra `view`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rigid_gaps import BACKGROUND

import skinpy
from skinpy.output import save_picture, side_by_side
from skinpy.render import Camera

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
LEVELS = 4  # colors are rounded to multiples of it: not seen, and the file is a third smaller
TIMES = (0.6, 1.2)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the pictures of the pages on retargeting.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write to (%(default)s)")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in (("mirror.png", mirrored()), ("retarget.png", retargeted())):
        picture[..., :3] = np.minimum((picture[..., :3].astype(int) + LEVELS // 2) // LEVELS * LEVELS, 255)
        save_picture(folder / name, picture)
        print(f"{folder / name}: {(folder / name).stat().st_size} bytes")
    return 0


def mirrored() -> NDArray[np.uint8]:
    """The wave at two times, and its mirror image."""
    model = skinpy.character()
    wave = model.clips["wave"]
    camera = Camera.look_at((0.0, 1.1, 4.6), (0.0, 0.82, 0.0), fov=24.0)
    return np.concatenate(
        [
            model.render(clip, time, size=(260, 300), camera=camera, background=BACKGROUND)
            for clip in (wave, wave.mirror())
            for time in TIMES
        ],
        axis=1,
    )


def retargeted() -> NDArray[np.uint8]:
    """The walk of a .bvh file, whose figure has no mesh, and on the character."""
    character = skinpy.character()
    with tempfile.TemporaryDirectory() as folder:
        source = skinpy.load(character.clips["walk"].save(Path(folder) / "walk.bvh", joint="Hips"))
    walk = skinpy.retarget(0, source, character, "auto")
    figures = [(source, 0), (character, walk)]
    return side_by_side(figures, frames=5, size=(130, 170), azimuth=55.0, background=BACKGROUND)


if __name__ == "__main__":
    sys.exit(main())
