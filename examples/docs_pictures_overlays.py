"""Draws the picture of docs/overlays.md: docs/images/overlays.webp, every overlay once.

    python examples/docs_pictures_overlays.py [-o docs/images]

Needs the extra `view`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import skinpy
from skinpy.render import Camera, Floor, Overlays, Renderer

Picture = NDArray[np.uint8]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
PAPER, INK = "#eef2f8", "#1f2937"
SIZE, LINE, COLUMNS = (216, 284), 24, 4
CLIP, TIME = "walk", 0.25

# What stands under each picture, the overlays, and whether there is a floor.
PANELS = (
    ("skeleton=True", Overlays(skeleton=True), False),
    ("names=True", Overlays(names=True, skeleton=True), False),
    ("axes=True", Overlays(axes=True), False),
    ("wireframe=True", Overlays(wireframe=True), False),
    ('weights="LeftUpperLeg"', Overlays(weights="LeftUpperLeg"), False),
    ("influences=True", Overlays(influences=True), False),
    ("normals=True", Overlays(normals=True), False),
    ("boxes=True", Overlays(boxes=True), False),
    ("rest=True", Overlays(rest=True), False),
    ("onion=2", Overlays(onion=2), False),
    ('trajectories=("LeftToe", ...)', Overlays(trajectories=("LeftToe", "RightHand")), False),
    ("floor=Floor()", None, True),
)


def panel(name: str, overlays: Overlays | None, floor: bool) -> Picture:
    """One picture over its caption."""
    model = skinpy.character()
    camera = Camera.frame(model.bounds(CLIP), azimuth=34, elevation=10, aspect=SIZE[0] / SIZE[1], margin=0.0)
    with Renderer(model, size=SIZE, background=PAPER, floor=Floor() if floor else None) as renderer:
        picture = renderer.frame(CLIP, TIME, camera=camera, overlays=overlays)
    strip = Image.new("RGB", (SIZE[0], LINE), PAPER)
    font = ImageFont.load_default(13)
    pen = ImageDraw.Draw(strip)
    pen.text(((SIZE[0] - pen.textlength(name, font)) / 2, 3), name, fill=INK, font=font)
    return np.concatenate([picture[..., :3], np.asarray(strip)])


def overlays_picture() -> Picture:
    """All panels, in rows."""
    panels = [panel(*one) for one in PANELS]
    rows = [panels[start : start + COLUMNS] for start in range(0, len(panels), COLUMNS)]
    return np.concatenate([np.concatenate(row, axis=1) for row in rows])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the picture of docs/overlays.md.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write to (%(default)s)")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "overlays.webp"
    Image.fromarray(overlays_picture()).save(path, quality=88, method=6)
    print(f"{path}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
