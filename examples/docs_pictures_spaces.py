"""Draws the picture of docs/blend-spaces.md, blend-space.png: one blend space at seven speeds, at one phase.

    python examples/docs_pictures_spaces.py [-o docs/images]

Needs the extra `view`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import skinpy
from skinpy.output import save_picture
from skinpy.render import Camera

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZE = (150, 260)
BACKGROUND = "#eef2f8"
SPEEDS = (0.0, 0.5, 0.9, 1.4, 2.2, 3.1, 4.0)
PHASE = 0.25
LEVELS = 8  # colors are rounded to multiples of it, which makes the file smaller


def with_idle(model: skinpy.Model) -> skinpy.Model:
    """The model with a clip that stands still."""
    still = model.pose("wave", [0.0, 0.0])
    idle = skinpy.Clip.from_arrays(
        "idle",
        times=[0.0, 2.0],
        joints=model.skeleton.names,
        translation=still.translation,
        rotation=still.rotation,
    )
    return model.add_clips(idle)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=FOLDER)
    folder = parser.parse_args().output
    model = with_idle(skinpy.character())
    camera = Camera.look_at((4.2, 1.0, 1.2), (0.0, 0.85, 0.0), fov=27.0)
    panels = []
    for speed in SPEEDS:
        controller = skinpy.AnimationController(model)
        space = skinpy.BlendSpace1D({0: "idle", 1.4: "walk", 4.0: "run"}, speed)
        track = controller.play(space)
        controller.advance(PHASE * track.duration)
        pose = controller.pose()
        panels.append(model.render(pose=pose, size=SIZE, camera=camera, background=BACKGROUND))
    picture = np.concatenate(panels, axis=1)
    rounded = np.minimum((picture.astype(int) + LEVELS // 2) // LEVELS * LEVELS, 255).astype(np.uint8)
    save_picture(folder / "blend-space.png", rounded)


if __name__ == "__main__":
    main()
