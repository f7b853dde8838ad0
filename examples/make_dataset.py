"""Makes a data set for learning: a model in random clips, moments and views, with ground truth for each.

    python examples/make_dataset.py MODEL -o FOLDER [-n 100] [--size 320x320] [--aov depth --aov joint]

Writes 000000.png (transparent: put backgrounds of your own behind it), 000000.npz and so on, and
annotations.json in the manner of COCO's keypoints. Picture number i depends on --seed and i alone. After
Ctrl-C, or with a larger -n, run it again with the same options: it goes on where it was.

Needs the extra `view`. Only what everybody can call is used here.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import skinpy
from skinpy.output import save_picture
from skinpy.render import Camera, GroundTruth, Renderer

LAYERS = ("depth", "normal", "joint")


def shoot(
    renderer: Renderer, model: skinpy.Model, rng: np.random.Generator, layers: list[str]
) -> GroundTruth:
    """A random moment of a random clip, seen from a random side, all of it in the picture."""
    clip = model.clips[int(rng.integers(len(model.clips)))] if len(model.clips) else None
    width, height = renderer.size
    camera = Camera.frame(
        model.bounds(clip),
        up=model.up,
        azimuth=rng.uniform(-180, 180),
        elevation=rng.uniform(-10, 40),
        fov=rng.uniform(25, 55),
        aspect=width / height,
        margin=rng.uniform(0, 0.2),
    )
    moment = rng.uniform(0, clip.duration) if clip is not None else 0.0
    return renderer.render(clip, moment, aov=layers, camera=camera, loop="clamp")


def annotation(truth: GroundTruth, number: int) -> dict[str, Any]:
    """What annotations.json says of one picture."""
    facts = truth.to_dict()
    for name in ("keypoint_names", "skeleton"):  # the same for all: in the category
        del facts[name]
    return facts | {"id": number, "image_id": number, "category_id": 1}


def read_annotations(path: Path) -> dict[int, dict[str, Any]]:
    """Annotations by number, of a run before this one; none where there was no such run."""
    if not path.exists():
        return {}
    return {entry["id"]: entry for entry in json.loads(path.read_text("utf-8"))["annotations"]}


def write_annotations(path: Path, found: dict[int, dict[str, Any]], model: skinpy.Model) -> None:
    """Writes annotations.json, whole or not at all."""
    entries = [found[number] for number in sorted(found)]
    parents = model.skeleton.parents.tolist()
    document = {
        "images": [
            {"id": e["id"], "file_name": f"{e['id']:06d}.png", "width": e["width"], "height": e["height"]}
            for e in entries
        ],
        "annotations": entries,
        "categories": [
            {
                "id": 1,
                "name": "character",
                "keypoints": list(model.skeleton.names),
                "skeleton": [[parent + 1, joint + 1] for joint, parent in enumerate(parents) if parent >= 0],
            }
        ],
    }
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(document), "utf-8")
    os.replace(draft, path)


def make(options: argparse.Namespace, found: dict[int, dict[str, Any]], model: skinpy.Model) -> None:
    """Draws what `found` lacks, and puts it there."""
    start, shown = time.perf_counter(), sys.stderr.isatty()
    missing = [number for number in range(options.count) if number not in found]
    with Renderer(model, size=options.size) as renderer:
        for done, number in enumerate(missing, 1):
            rng = np.random.default_rng([options.seed, number])
            truth = shoot(renderer, model, rng, options.aov or list(LAYERS))
            name = options.output / f"{number:06d}"
            save_picture(name.with_suffix(".png"), truth.picture)
            truth.save(name.with_suffix(".npz"))
            found[number] = annotation(truth, number)
            if shown:
                rate = done / (time.perf_counter() - start)
                print(f"\r{done} of {len(missing)}, {rate:.1f} a second ", end="", file=sys.stderr)
    if shown:
        print(file=sys.stderr)


def size(words: str) -> tuple[int, int]:
    """WIDTHxHEIGHT."""
    width, height = words.lower().split("x")
    return int(width), int(height)


def main() -> int:
    """Draws until all pictures are there; 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a model file")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the data set")
    parser.add_argument("-n", "--count", type=int, default=100, help="pictures (100)")
    parser.add_argument("--size", type=size, default=(320, 320), metavar="WxH", help="pixels (320x320)")
    parser.add_argument(
        "--aov", action="append", help=f"layer to save; may be repeated ({', '.join(LAYERS)})"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (0)")
    options = parser.parse_args()
    model = skinpy.load(options.model)
    options.output.mkdir(parents=True, exist_ok=True)
    annotations = options.output / "annotations.json"
    found = read_annotations(annotations)
    try:
        make(options, found, model)
    except KeyboardInterrupt:
        print(f"\nstopped with {len(found)} of {options.count}; run it again to go on", file=sys.stderr)
        return 130
    finally:
        write_annotations(annotations, found, model)
    print(f"{len(found)} pictures in {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
