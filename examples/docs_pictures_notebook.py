"""Draws the picture of docs/notebook.md, docs/images/notebook.webp: a real JupyterLab, and a hand in it.

    python examples/docs_pictures_notebook.py [-o docs/images]

Needs the extra `jupyter`, jupyterlab, ipykernel and Chromium (SKINPY_CHROMIUM names it, if it is not on the
PATH).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from lab import PICTURE, WHY_NOT, Lab  # noqa: E402

SIZE = (860, 906)
QUALITY = 82
CELL = """import skinpy

model = skinpy.character()
model.view("walk", floor=True)"""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "images", metavar="FOLDER")
    folder = parser.parse_args(arguments).output
    if WHY_NOT:
        parser.error(WHY_NOT)
    with Lab([CELL], SIZE) as lab:
        lab.run_cell(0)
        x, y, *_ = lab.place(PICTURE)
        lab.wait_for_pictures()
        lab.choose("clip", "run")
        lab.click("button", "skeleton")
        lab.choose("layer", "wave")
        lab.choose("below joint", "Chest")
        lab.tab.drag((x, y), (x + 50, y + 16))
        lab.scrub(0.6)
        lab.click("button .fa-pause")
        time.sleep(3)  # what rests is drawn finely
        lab.tab.mouse("mouseMoved", 5, 5)
        picture = Image.fromarray(lab.tab.picture())
    picture.save(folder / "notebook.webp", quality=QUALITY, method=6)
    print(f"wrote {folder / 'notebook.webp'}, {(folder / 'notebook.webp').stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
