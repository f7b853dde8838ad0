"""Draws the picture of docs/storage.md.

    python examples/docs_pictures_storage.py [-o docs/images]

Needs the extra `plot`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import skinpy
from skinpy.storage import compare

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"


def main() -> int:
    """Compares the bundled character's wave, with an error of half a percent of its size allowed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder of the picture")
    folder: Path = parser.parse_args().output
    model = skinpy.character()
    size = compare(model, "wave", fps=1).size
    table = compare(model, "wave", max_error=0.005 * size)
    table.plot(folder / "compare.png")
    print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
