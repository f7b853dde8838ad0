"""Libraries write nothing of their own to standard output or error, whatever a file holds.

A process of its own loads broken files, with isolation and without; what its descriptors get is looked at, so
that Assimp, Expat, Draco and the worker are heard too. tests/test_image_limits.py does the same for images.
"""

import subprocess
import sys
from pathlib import Path

LOADING = """
import random, sys, warnings
sys.path[:0] = sys.argv[1:3]
import mutate, seed_models, skinpy
warnings.simplefilter("ignore", skinpy.SkinpyWarning)
errors = 0
for seed in seed_models.own_seeds():
    if seed.format not in skinpy.DEFAULT_FORMATS:
        continue
    rng = random.Random(len(seed.data))
    for number in range(16):
        data = mutate.mutate(rng, seed)
        try:
            skinpy.load(data, format=seed.format, isolate=number % 2 == 0)
        except (skinpy.LoadError, MemoryError):  # in this process Assimp has no limit but the system
            errors += 1
assert errors > 100, errors
"""


def test_libraries_write_nothing_about_broken_files() -> None:
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(here), str(here.parent)], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
