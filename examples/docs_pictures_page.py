"""Draws the picture of docs/page.md: docs/images/page.webp, two pages as Chromium shows them.

    python examples/docs_pictures_page.py [-o docs/images]

Needs the extra `view` and a Chromium (tests/browser.py says where it is looked for).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import Browser, Tab  # noqa: E402

import skinpy  # noqa: E402
from skinpy.render import Overlays  # noqa: E402
from skinpy.view import Page  # noqa: E402

SIZE = (560, 480)
GAP = 12  # white pixels between the two
DRAWN = (
    "skinpyViewer.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))"
)


def screenshot(browser: Browser, page: Page, scheme: str, folder: Path) -> NDArray[np.uint8]:
    """(h, w, 3): the page, paused, in a light or dark scheme."""
    tab = Tab(browser, SIZE)
    tab.prefer(prefers_reduced_motion="reduce", prefers_color_scheme=scheme)
    tab.open(page.save(folder / "page.html"))
    tab.run(f"{DRAWN}.then(() => true)")
    picture = tab.picture()
    tab.close()
    return picture


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws the picture of docs/page.md.")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "images", metavar="FOLDER")
    folder = parser.parse_args().output
    from PIL import Image

    crane = skinpy.crane().page(time=2.4)
    walk = skinpy.character().page(time=0.3, overlays=Overlays(skeleton=True))
    with tempfile.TemporaryDirectory() as aside, Browser() as browser:
        shots = [
            screenshot(browser, page, scheme, Path(aside))
            for page, scheme in ((crane, "light"), (walk, "dark"))
        ]
    space = np.full((SIZE[1], GAP, 3), 255, np.uint8)
    both = np.concatenate([shots[0], space, shots[1]], axis=1)
    Image.fromarray(both).save(folder / "page.webp", quality=88)
    return 0


if __name__ == "__main__":
    sys.exit(main())
