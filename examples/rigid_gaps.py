"""Shows the gaps between rigid parts, and that a skin closes them: the bundled character both ways.

    python examples/rigid_gaps.py [-o rigid-gaps.png]

From left to right: the skinned character; the same pose, each part moved by one joint alone; a leg of it
from near by; the parts drawn apart by moving every joint away from its parent by hand. Prints how wide the
gaps become in each clip. Needs the extra `view`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import skinpy
from skinpy.output import save_picture
from skinpy.render import Camera

Array = NDArray[np.float64]
BACKGROUND = "#eef2f8"
HEIGHT = 460
CLIP, TIME = "run", 0.28


def meeting_places(parts: skinpy.Model) -> NDArray[np.int64]:
    """(V,) the same number for vertices that are at one place at rest: where parts meet, or seams."""
    rest = np.round(parts.deform(parts.pose(), normals=False)[0].astype(np.float64), 5)
    return np.unique(rest, axis=0, return_inverse=True)[1].reshape(-1)


def widest_gap(parts: skinpy.Model, clip: str, fps: float = 30.0) -> float:
    """How far apart vertices ever are that meet at rest."""
    times = np.arange(0.0, parts.clips[clip].duration, 1 / fps)
    places = meeting_places(parts)
    order = np.argsort(places, kind="stable")
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    points = parts.deform(parts.palette(clip, times), normals=False)[0][:, order].astype(np.float64)
    high = np.maximum.reduceat(points, starts, axis=1)
    low = np.minimum.reduceat(points, starts, axis=1)
    return float(np.linalg.norm(high - low, axis=2).max())


def drawn_apart(parts: skinpy.Model, amount: float = 0.35) -> skinpy.Pose:
    """The rest pose with every joint further from its parent, so that the parts are seen one by one."""
    pose = parts.pose()
    for joint, offset in enumerate(parts.skeleton.translation):
        if parts.skeleton.parents[joint] >= 0 and parts.skeleton.names[joint] != "Hips":
            pose.translate(joint, amount * offset, space="parent")
    return pose


def picture(character: skinpy.Model, parts: skinpy.Model) -> NDArray[np.uint8]:
    whole = Camera.look_at((3.0, 1.2, 5.4), (0.0, 0.80, 0.0), fov=17.5)
    near = Camera.look_at((1.4, 0.75, 2.6), (0.08, 0.40, 0.05), fov=14.0)
    far = Camera.look_at((3.4, 1.5, 6.1), (0.0, 0.98, 0.0), fov=21.5)
    panels = [
        model.render(pose=model.pose(CLIP, TIME), size=(290, HEIGHT), camera=whole, background=BACKGROUND)
        for model in (character, parts)
    ]
    panels.append(
        parts.render(pose=parts.pose(CLIP, TIME), size=(290, HEIGHT), camera=near, background=BACKGROUND)
    )
    panels.append(
        parts.render(pose=drawn_apart(parts), size=(330, HEIGHT), camera=far, background=BACKGROUND)
    )
    return np.concatenate(panels, axis=1)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Shows the gaps between rigid parts.")
    parser.add_argument("-o", "--output", type=Path, default=Path("rigid-gaps.png"), help="%(default)s")
    options = parser.parse_args(arguments)
    character = skinpy.character()
    parts = character.as_rigid()
    size = float(np.linalg.norm(np.diff(character.bounds(), axis=0)))
    print(f"{len(character.mesh.positions)} vertices as a skin, {len(parts.mesh.positions)} as parts")
    for clip in parts.clips.names:
        gap, skin = widest_gap(parts, clip), widest_gap(character, clip)
        print(
            f"{clip:>6}: gaps up to {1000 * gap:.0f} mm, {100 * gap / size:.1f}% of the size; "
            f"with the skin {1000 * skin:.1f} mm"
        )
    save_picture(options.output, picture(character, parts))
    print(options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
