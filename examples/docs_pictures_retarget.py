"""Draws the picture of docs/retargeting.md: mirror.png, the bundled character's wave and its mirror image.

    python examples/docs_pictures_retarget.py [-o docs/images]

Needs the extra `view`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from rigid_gaps import BACKGROUND

import skinpy
from skinpy.output import save_picture
from skinpy.render import Camera

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
LEVELS = 4  # colors are rounded to multiples of it: not seen, and the file is a third smaller
TIMES = (0.6, 1.2)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the picture of the page on retargeting.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write to (%(default)s)")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    model = skinpy.character()
    wave = model.clips["wave"]
    camera = Camera.look_at((0.0, 1.1, 4.6), (0.0, 0.82, 0.0), fov=24.0)
    picture = np.concatenate(
        [
            model.render(clip, time, size=(260, 300), camera=camera, background=BACKGROUND)
            for clip in (wave, wave.mirror())
            for time in TIMES
        ],
        axis=1,
    )
    picture[..., :3] = np.minimum((picture[..., :3].astype(int) + LEVELS // 2) // LEVELS * LEVELS, 255)
    save_picture(folder / "mirror.png", picture)
    print(f"{folder / 'mirror.png'}: {(folder / 'mirror.png').stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
