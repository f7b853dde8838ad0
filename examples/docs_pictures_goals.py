"""Draws the picture of docs/goals.md, goals.png: the bundled character reaching for points, looking there.

    python examples/docs_pictures_goals.py [-o docs/images]

Needs the extra `view`. The rings are drawn over the finished pictures where the camera sees the points.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

import skinpy
from skinpy.output import save_picture
from skinpy.render import Camera

Array = NDArray[np.float64]
FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZE = (290, 360)
BACKGROUND = "#eef2f8"
REACHED, MISSED, HELD = "#12803c", "#c02020", "#5a3c1e"
LEVELS = 4  # colors are rounded to multiples of it: not seen, and the file is a third smaller


def on_picture(camera: Camera, points: Array) -> list[tuple[float, float]]:
    """Pixels from the top left at which the camera sees points (N,3)."""
    width, height = SIZE
    clip = np.c_[points, np.ones(len(points))] @ (camera.projection(width / height) @ camera.view()).T
    seen = clip[:, :2] / clip[:, 3:]
    return [((1 + x) / 2 * width, (1 - y) / 2 * height) for x, y in seen]


def panel(
    pose: skinpy.Pose, camera: Camera, points: Array, reached: Array, stick: Array
) -> NDArray[np.uint8]:
    """The pose with a ring around each point, and a stick drawn between the points `stick`."""
    drawn = pose.model.render(pose=pose, size=SIZE, camera=camera, background=BACKGROUND)
    image = Image.fromarray(drawn)
    pen = ImageDraw.Draw(image)
    if len(stick):
        pen.line(on_picture(camera, stick), fill=HELD, width=5)
    for (x, y), hit in zip(on_picture(camera, points), reached, strict=True):
        color = REACHED if hit else MISSED
        pen.ellipse((x - 9, y - 9, x + 9, y + 9), outline=color, width=3)
        pen.ellipse((x - 2, y - 2, x + 2, y + 2), fill=color)
    return np.asarray(image)


def reaching(character: skinpy.Model) -> NDArray[np.uint8]:
    """Within reach; out of reach; the same by FABRIK from the spine on; a stick in the hand."""
    camera = Camera.look_at((1.6, 1.25, 4.2), (0.0, 0.92, 0.1), fov=25.0)
    none = np.empty((0, 3))
    panels = []
    for left, right in (((0.36, 1.32, 0.20), (-0.24, 0.95, 0.30)), ((0.50, 1.28, 0.22), (-0.24, 0.95, 0.30))):
        pose = character.pose()
        points = np.array([left, right])
        hits = [
            pose.two_bone_ik("LeftHand", left, pole=(0.5, 0.5, -1)),
            pose.two_bone_ik("RightHand", right, pole=(-1.5, 0.6, -0.5)),
        ]
        pose.aim("Head", left, weight=0.8)
        panels.append(panel(pose, camera, points, np.array(hits), none))
    far = np.array([0.50, 1.28, 0.22])
    pose = character.pose()
    hit = pose.fabrik("LeftHand", far, root="Spine")
    panels.append(panel(pose, camera, far[None], np.array([hit]), none))
    pose = character.pose("wave", 0.9)
    pose.two_bone_ik("LeftHand", (0.30, 1.0, 0.32), pole=(1.2, 0.4, -0.5))
    ends = pose.attach("LeftHand") @ np.array([[-0.03, -0.05, -0.35, 1], [-0.03, -0.05, 0.35, 1]]).T
    panels.append(panel(pose, camera, none, np.empty(0), np.asarray(ends.T[:, :3], np.float64)))
    return np.concatenate(panels, axis=1)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the picture of the page on goals.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write to (%(default)s)")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    picture = reaching(skinpy.character()).copy()
    picture[..., :3] = np.minimum((picture[..., :3].astype(int) + LEVELS // 2) // LEVELS * LEVELS, 255)
    save_picture(folder / "goals.png", picture)
    print(f"{folder / 'goals.png'}: {(folder / 'goals.png').stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
