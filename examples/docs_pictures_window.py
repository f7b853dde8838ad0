"""Draws the picture of docs/window.md: docs/images/window.webp, two moments of a real window.

    python examples/docs_pictures_window.py [-o docs/images]

Needs the extra `view`, and Xvfb and xdotool on the PATH: the window opens on a virtual screen, and keys are
pressed in it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

import skinpy

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
FILE = Path(skinpy.__file__).parent / "data" / "character.glb"
SIZE = (600, 480)
GAP = 8
QUALITY = 88
PATIENCE = 5.0  # seconds that a picture may take after a key
#: Options of `skinpy view`, and the keys pressed in the window.
MOMENTS: tuple[tuple[Sequence[str], Sequence[str]], ...] = (
    (("--clip", "run", "--floor", "--overlay", "weights=Chest", "--overlay", "skeleton"), ("Right",) * 8),
    (("--clip", "walk", "--floor"), ("h",)),
)


def moment(options: Sequence[str], keys: Sequence[str]) -> Image.Image:
    """What the screen shows after the keys were pressed."""
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        screen = ["Xvfb", "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-noreset", "-fbdir", folder]
        with subprocess.Popen([*screen, "-displayfd", str(writing)], pass_fds=(writing,)) as server:
            try:
                os.close(writing)
                with os.fdopen(reading) as answer:
                    environment = os.environ | {"DISPLAY": f":{answer.readline().strip()}"}
                size = f"{SIZE[0]}x{SIZE[1]}"
                view = [
                    sys.executable,
                    "-m",
                    "skinpy",
                    "view",
                    str(FILE),
                    "--paused",
                    "--size",
                    size,
                    *options,
                ]
                with subprocess.Popen(view, env=environment) as viewer:
                    find = ["xdotool", "search", "--sync", "--onlyvisible", "--name", "skinpy"]
                    subprocess.run(
                        [*find, "windowfocus", "--sync", "key", *keys], env=environment, check=True
                    )
                    time.sleep(PATIENCE)
                    picture = screenshot(Path(folder) / "Xvfb_screen0")
                    viewer.terminate()
            finally:
                server.terminate()
    return picture


def screenshot(path: Path) -> Image.Image:
    """The screen that Xvfb keeps in a file, in the format of xwd: a header, a table of colors, pixels."""
    data = path.read_bytes()
    header = np.frombuffer(data, ">u4", 25)
    start, height, colors, stride = int(header[0]), int(header[5]), int(header[19]), int(header[12])
    pixels = np.frombuffer(data, np.uint8, height * stride, start + 12 * colors)
    return Image.fromarray(pixels.reshape(height, -1, 4)[:, : SIZE[0], 2::-1].copy())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draws the picture of docs/window.md.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write to (%(default)s)")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    both = Image.new("RGB", (2 * SIZE[0] + GAP, SIZE[1]), "white")
    for number, (options, keys) in enumerate(MOMENTS):
        both.paste(moment(options, keys), (number * (SIZE[0] + GAP), 0))
    path = folder / "window.webp"
    both.save(path, quality=QUALITY, method=6)
    print(f"{path}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
