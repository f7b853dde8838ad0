"""Draws the pictures of docs/clips.md and docs/rotations.md: clips.webp and rotations.webp in docs/images.

    python examples/docs_pictures_clips.py [-o docs/images]

Needs the extra `view`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import skinpy
from skinpy import rotation
from skinpy.render import Camera, Overlays, Renderer

Picture = NDArray[np.uint8]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZE = (200, 260)
PAPER = "#eef2f8"
INK = (32, 38, 50)


def labeled(picture: Picture, words: str) -> Image.Image:
    image = Image.fromarray(picture).convert("RGB")
    ImageDraw.Draw(image).text((8, 6), words, fill=INK, font=ImageFont.load_default(15))
    return image


def row(pictures: list[Image.Image]) -> Image.Image:
    sheet = Image.new("RGB", (sum(p.width for p in pictures), pictures[0].height))
    for number, picture in enumerate(pictures):
        sheet.paste(picture, (number * picture.width, 0))
    return sheet


def differences() -> Image.Image:
    """A run, a wave as differences from its first pose, and both added."""
    model = skinpy.character()
    run, wave = model.clips["run"], model.clips["wave"]
    time = 0.9
    controller = skinpy.AnimationController(model)
    controller.play(run).position = 0.1
    controller.play(wave, layer="wave", additive=True).position = time
    both = controller.pose()
    with Renderer(model, size=SIZE, background=PAPER) as renderer:
        camera = renderer.camera(wave)
        return row(
            [
                labeled(renderer.frame(run, 0.1, camera=camera), "run"),
                labeled(renderer.frame(wave, time, camera=camera), "wave"),
                labeled(renderer.frame(pose=both, camera=camera), "run + additive wave"),
            ]
        )


def turned_heads() -> Image.Image:
    """The head turned by 40 degrees about each of its own axes."""
    model = skinpy.character()
    head = model.skeleton.index("Head")
    rest = model.pose()
    eye = np.array(model.pose().globals()[head, :3, 3])
    camera = Camera.look_at(eye + [0.5, 0.35, 1.5], target=eye + [0, 0.15, 0], fov=32)
    pictures = []
    with Renderer(model, size=SIZE, background=PAPER) as renderer:
        for axes, angles in (("", ()), ("X", (40,)), ("Y", (40,)), ("Z", (40,))):
            pose: Any = rest.copy()
            if axes:
                turn = rotation.from_euler(axes, np.array(angles, float), degrees=True)
                pose.rotation[head] = rotation.multiply(pose.rotation[head], turn)
            words = f'from_euler("{axes}", 40)' if axes else "rest"
            picture = renderer.frame(pose=pose, camera=camera, overlays=Overlays(axes=True))
            pictures.append(labeled(picture, words))
    return row(pictures)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, metavar="FOLDER")
    folder = parser.parse_args().output
    differences().save(folder / "clips.webp", quality=86, method=6)
    turned_heads().save(folder / "rotations.webp", quality=86, method=6)


if __name__ == "__main__":
    main()
