"""Draws the picture of docs/ground-truth.md: docs/images/ground-truth.png.

    python examples/docs_pictures_truth.py [-o docs/images]

Needs the extra `view`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
import colorsys
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import skinpy
from skinpy.output import save_picture
from skinpy.render import Camera, GroundTruth, Renderer

Picture = NDArray[np.uint8]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZE = (220, 296)
TIME = 0.17  # seconds of the run
PAPER = (238, 242, 248)
INK = (32, 38, 50)
LEVELS = 4  # colors are rounded to multiples of it: hardly seen, and the file is smaller
FASTEST = 14.0  # pixels from frame to frame that are shown as a full color
REPEATS = 2  # of the texture coordinates' colors
GOLDEN = 0.618034


def bytes_of(values: NDArray[Any]) -> Picture:
    """Numbers from 0 to 1 as bytes."""
    return np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)


def panel(truth: GroundTruth, colors: Picture, name: str) -> Picture:
    """Colors (h, w, 3) where the model is seen, on paper, with a name: (h, w, 4)."""
    shown = np.where(truth.mask[..., None], colors, np.array(PAPER, np.uint8))
    picture = Image.fromarray(shown, "RGB")
    ImageDraw.Draw(picture).text((8, 6), name, fill=INK, font=ImageFont.load_default(15))
    return np.asarray(picture.convert("RGBA"))


def with_joints(truth: GroundTruth) -> Picture:
    """The picture with its joints: full dots are visible, rings are hidden."""
    picture = Image.fromarray(truth.picture).convert("RGB")
    draw = ImageDraw.Draw(picture)
    for (x, y), visible in zip(truth.joints2d, truth.visible, strict=True):
        dot = (x - 3, y - 3, x + 3, y + 3)
        if visible:
            draw.ellipse(dot, fill=(255, 140, 0), outline=(60, 20, 0))
        else:
            draw.ellipse(dot, outline=(255, 40, 90), width=2)
    draw.text((8, 6), "joints", fill=INK, font=ImageFont.load_default(15))
    return np.asarray(picture.convert("RGBA"))


def depth_colors(truth: GroundTruth) -> Picture:
    """Near is bright."""
    depth = truth.depth
    low, high = depth[truth.mask].min(), depth[truth.mask].max()
    share = np.where(truth.mask, (high - depth) / (high - low), 0)
    return bytes_of(share[..., None] * (0.98, 0.95, 0.85) * 0.85 + 0.1)


def joint_colors(truth: GroundTruth) -> Picture:
    """A color of its own for each joint."""
    count = len(truth.names)
    wheel = [
        colorsys.hsv_to_rgb(GOLDEN * i % 1, 0.5 + 0.2 * (i % 2), 0.95 - 0.2 * (i % 3)) for i in range(count)
    ]
    return bytes_of(np.array(wheel))[truth.joint]


def uv_colors(truth: GroundTruth) -> Picture:
    """u is red, v is green, each repeated so that one sees how they lie on the body."""
    u, v = np.moveaxis(truth.uv * REPEATS % 1, 2, 0)
    return bytes_of(np.dstack([u, v, np.full(u.shape, 0.5)]) * 0.8 + 0.1)


def flow_colors(truth: GroundTruth) -> Picture:
    """The hue is the direction, the strength of the color the speed."""
    x, y = np.moveaxis(truth.flow, 2, 0)
    hue = np.arctan2(y, x) / (2 * np.pi) % 1
    strength = np.clip(np.hypot(x, y) / FASTEST, 0, 1)[..., None]
    wheel = np.clip(np.abs((hue[..., None] * 6 + (0, 4, 2)) % 6 - 3) - 1, 0, 1)
    return bytes_of((1 - strength) + strength * wheel * 0.95)


def layers_picture() -> Picture:
    """One moment of the run, and what is known of it."""
    model = skinpy.character()
    vertices = model.deform(model.palette("run", TIME))[0]
    box = [vertices.min(axis=0), vertices.max(axis=0)]
    camera = Camera.frame(box, azimuth=50, elevation=8, aspect=SIZE[0] / SIZE[1], margin=0.05)
    background = "#" + "".join(f"{part:02x}" for part in PAPER)
    with Renderer(model, size=SIZE, background=background) as renderer:
        layers = ("depth", "normal", "joint", "uv", "flow")
        truth = renderer.render("run", TIME, aov=layers, camera=camera)
    panels = [
        with_joints(truth),
        panel(truth, depth_colors(truth), "depth"),
        panel(truth, bytes_of(truth.normal / 2 + 0.5), "normal"),
        panel(truth, joint_colors(truth), "joint"),
        panel(truth, uv_colors(truth), "uv"),
        panel(truth, flow_colors(truth), "flow"),
    ]
    rows = [np.concatenate(panels[start : start + 3], axis=1) for start in (0, 3)]
    picture = np.concatenate(rows)
    picture[..., :3] = np.minimum((picture[..., :3].astype(int) + LEVELS // 2) // LEVELS * LEVELS, 255)
    return picture


def main() -> int:
    """Draws it into the folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder of the picture")
    save_picture(parser.parse_args().output / "ground-truth.png", layers_picture())
    return 0


if __name__ == "__main__":
    sys.exit(main())
