"""Draws the pictures of docs/floor.md and of morph targets: docs/images/floor.png, lava.png and morph.png.

    python examples/docs_pictures_floor.py [-o docs/images]

Needs the extra `view`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import lava
import numpy as np
from numpy.typing import NDArray

import skinpy
from skinpy.output import save_picture
from skinpy.render import Camera, Floor, Renderer, render

Picture = NDArray[np.uint8]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
PAPER = "#eef2f8"
LEVELS = 4  # colors are rounded to multiples of it: hardly seen, and the files are smaller
STEPS = (0.05, 0.25, 0.45, 0.65)  # seconds of the walk


def small(picture: Picture) -> Picture:
    """The picture with fewer colors."""
    picture[..., :3] = np.minimum((picture[..., :3].astype(int) + LEVELS // 2) // LEVELS * LEVELS, 255)
    return picture


def floor_picture() -> Picture:
    """Four moments of a walk in place. The red squares go back as fast as the foot that stands."""
    odd = np.indices((6, 6)).sum(axis=0) % 2
    colors = np.array([(205, 212, 222), (172, 182, 196), (208, 72, 58)], np.uint8)
    odd[3, 3] = 2
    tiles = colors[odd].repeat(64, axis=0).repeat(64, axis=1)
    model = skinpy.character()
    camera = Camera.look_at((3.3, 1.35, 1.9), (0, 0.75, 0.05), fov=34)
    with Renderer(model, size=(220, 300), background=PAPER, floor=Floor(texture=tiles, tile=1.5)) as renderer:
        pictures = renderer.frames("walk", STEPS, camera=camera)
        return small(np.concatenate(list(pictures), axis=1))


def face() -> skinpy.Model:
    """A ball of clay with three morph targets."""
    rings, sides = 48, 64
    polar, angle = np.meshgrid(
        np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, sides, endpoint=False), indexing="ij"
    )
    points = np.stack([np.sin(polar) * np.sin(angle), np.cos(polar), np.sin(polar) * np.cos(angle)], axis=-1)
    points = points.reshape(-1, 3)
    low = (np.arange(rings)[:, None] * sides + np.arange(sides)).ravel()
    right = (np.arange(rings)[:, None] * sides + (np.arange(sides) + 1) % sides).ravel()
    faces = np.concatenate(
        [np.stack([low, low + sides, right], 1), np.stack([right, low + sides, right + sides], 1)]
    )

    def bump(x: float, y: float, width: float, depth: float) -> NDArray[np.float64]:
        """Pushed along the normal around a place on the front."""
        away = ((points[:, 0] - x) / width) ** 2 + ((points[:, 1] - y) / 0.13) ** 2
        return points * (depth * np.exp(-away) * (points[:, 2] > 0))[:, None]

    def mouth(curve: float) -> NDArray[np.float64]:
        line = -0.35 + curve * points[:, 0] ** 2
        away = ((points[:, 1] - line) / 0.09) ** 2 + (points[:, 0] / 0.5) ** 8
        return points * (-0.22 * np.exp(-away) * (points[:, 2] > 0))[:, None]

    shapes = {
        "eyes": bump(-0.38, 0.25, 0.15, -0.3) + bump(0.38, 0.25, 0.15, -0.3),
        "smile": mouth(0.7),
        "frown": mouth(-0.7),
    }
    rest = smooth(points, faces)
    targets = {name: (shift, smooth(points + shift, faces) - rest) for name, shift in shapes.items()}
    return skinpy.Model.from_arrays(
        ["head"],
        [-1],
        np.eye(4)[None],
        positions=points,
        faces=faces,
        joints=np.zeros((len(points), 1), int),
        weights=np.ones((len(points), 1)),
        normals=rest,
        targets=targets,
    )


def smooth(points: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.float64]:
    """(V, 3) unit normals; the vertices at either pole share theirs."""
    corners = points[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros_like(points)
    for corner in faces.T:
        np.add.at(normals, corner, across)
    normals[points[:, 1] > 0.9999], normals[points[:, 1] < -0.9999] = (0, 1, 0), (0, -1, 0)
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def morph_picture() -> Picture:
    """Weights of (eyes, smile, frown) by hand; they may go beyond 1."""
    model = face()
    camera = Camera.frame(model.bounds(), azimuth=12, elevation=8, aspect=1)
    weights = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 0, 1), (1.7, 1.4, 0)]
    pictures = [
        render(model, size=(180, 180), morph_weights=w, camera=camera, background=PAPER) for w in weights
    ]
    return small(np.concatenate(pictures, axis=1))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the pictures of docs/floor.md.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write to (%(default)s)")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {"floor.png": floor_picture(), "lava.png": lava.strip(6.0, 3), "morph.png": morph_picture()}
    for name, picture in pictures.items():
        save_picture(folder / name, picture)
        print(f"{folder / name}: {(folder / name).stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
