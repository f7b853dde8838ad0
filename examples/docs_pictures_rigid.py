"""Draws the pictures of docs/rigid.md: rigid-gaps.png, crane-by-hand.png and machines.png.

    python examples/docs_pictures_rigid.py [-o docs/images]

Needs the extra `view`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rigid_gaps import BACKGROUND
from rigid_gaps import picture as gaps_picture

import skinpy
from skinpy.output import save_picture
from skinpy.render import Camera

Picture = NDArray[np.uint8]
FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
LEVELS = 4  # colors are rounded to multiples of it: not seen, and the file is a third smaller


def by_hand(crane: skinpy.Model) -> Picture:
    """Rest; the house turned; the boom raised, and the line that leaves the vertical with it; put right."""
    poses = [crane.pose()]
    poses.append(poses[-1].copy().rotate("slew", degrees=-35, axis="y"))
    poses.append(poses[-1].copy().rotate("boom", degrees=22, axis="z"))
    poses.append(poses[-1].copy().rotate("line", degrees=-22, axis="z"))
    poses[-1].translate("hook", (0, -2.0, 0)).set("cable", scale=(1, 5.2 / 3.2, 1))
    camera = Camera.look_at((4.5, 6.0, 28.0), (2.5, 4.75, 0.0), fov=23.0)
    return np.concatenate(
        [crane.render(pose=pose, size=(300, 290), camera=camera, background=BACKGROUND) for pose in poses], 1
    )


def machines(crane: skinpy.Model, chair: skinpy.Model) -> Picture:
    """Frames of the clips: the crane above, the chair below."""
    far = Camera.look_at((8.0, 6.0, 27.0), (2.6, 4.1, 0.0), fov=25.0)
    near = Camera.look_at((1.7, 1.4, 3.4), (0.05, 0.61, 0.15), fov=23.5)
    rows = (
        (crane, far, (("slew", 2.4), ("slew", 5.6), ("raise", 2.2), ("raise", 3.05), ("lift", 1.8))),
        (chair, near, (("spin", 0.9), ("spin", 1.5), ("roll", 1.2), ("height", 1.5), ("height", 3.1))),
    )
    return np.concatenate(
        [
            np.concatenate(
                [
                    model.render(clip, time, size=(236, 250), camera=camera, background=BACKGROUND)
                    for clip, time in frames
                ],
                axis=1,
            )
            for model, camera, frames in rows
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the pictures of the page on rigid parts.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write to (%(default)s)")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    character, crane, chair = skinpy.character(), skinpy.crane(), skinpy.chair()
    for name, picture in (
        ("rigid-gaps.png", gaps_picture(character, character.as_rigid())),
        ("crane-by-hand.png", by_hand(crane)),
        ("machines.png", machines(crane, chair)),
    ):
        picture[..., :3] = np.minimum((picture[..., :3].astype(int) + LEVELS // 2) // LEVELS * LEVELS, 255)
        save_picture(folder / name, picture)
        print(f"{folder / name}: {(folder / name).stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
