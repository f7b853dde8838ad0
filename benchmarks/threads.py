"""Two threads against one, on the machine as it is and beside a busy process: `python -m benchmarks.threads`

Takes half a minute. The first figures are those of two threads only where nothing else runs. Samples with
one thread and with two alternate in one process, as in all benchmarks; a figure says how many times faster
two threads are. Beside a busy process the samples are longer, because the system lets a process run for some
milliseconds before it gives the core to another one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import skinpy

from .measure import Pair, Work, alternate
from .models import builders, walking_man

CROWDS = (500, 1000, 5000)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.threads", description="two threads against one"
    )
    parser.add_argument("--busy", type=int, default=1, metavar="N", help="busy processes (default 1)")
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f}; {skinpy.get_num_threads()} processors")
    print(f"{'':46} {'one thread':>12} {'alone':>20} {f'beside {options.busy} busy':>20}")
    for model in models():
        joints, vertices = len(model.skeleton.names), len(model.mesh.positions)
        for job, work in works(model).items():
            quiet = two_against_one(work, rounds=25)
            with busy(options.busy):
                beside = two_against_one(work, rounds=15, sample=0.06, budget=10.0)
            print(
                f"{f'{joints} joints, {vertices:,} vertices: {job}':46} {1e6 * quiet.theirs:9.0f} us "
                f"{shown(quiet):>20} {shown(beside):>20}",
                flush=True,
            )


def shown(pair: Pair) -> str:
    """Median and quartiles."""
    low, high = pair.quartiles
    return f"{pair.median:.2f} ({low:.2f} to {high:.2f})"


def two_against_one(work: Work, **options: Any) -> Pair:
    """How many times faster the work is on two threads than on one."""

    def on(threads: int) -> Work:
        def prepare() -> None:  # the pool is kept: its threads are there before the clock runs
            skinpy.set_num_threads(threads)
            work()

        return prepare

    before = skinpy.get_num_threads()
    pair = alternate(work, work, before=(on(2), on(1)), **options)
    skinpy.set_num_threads(before)
    return pair


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many other processes that compute all the time."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def models() -> Iterator[Any]:
    """The walking man, and two larger ones."""
    yield skinpy.load(walking_man().glb(), format="glb")
    for joints, vertices in ((60, 50_000), (20, 250_000)):
        file = builders.random_model(3, joints=joints, vertices=vertices, shared_times=True, clips=3)
        yield skinpy.load(file.glb(), format="glb")


def works(model: Any) -> dict[str, Work]:
    """Crowds of one clip and of blended clips, sampling, and skinning."""
    found: dict[str, Work] = {}
    rng, clip = np.random.default_rng(0), model.clips[0]
    if len(model.mesh.positions) < 100_000:  # the largest model is there for skinning
        for count in CROWDS:
            found[f"crowd of {count:,}"] = crowd(model, rng.uniform(0, 10, count))
        found["blend of 2, 1,000"] = blend(model, rng, 1000)
        times = rng.uniform(0, 10, 1000)
        found["sampling, 1,000"] = lambda: model.pose(clip, times)
    if len(model.mesh.positions) >= 50_000:
        palette, out = model.palette(clip, 0.3, affine=True), np.empty_like(model.mesh.positions)
        points = (out, np.empty_like(out))
        found["skinning"] = lambda: model.deform(palette, out=points)
    return found


def crowd(model: Any, times: Any) -> Work:
    out = np.empty((len(times), len(model.skin.joints), 3, 4), np.float32)
    return lambda: model.palette(model.clips[0], times, out)


def blend(model: Any, rng: np.random.Generator, count: int) -> Work:
    clips = [clip for clip in model.clips if clip.channels][:3]
    index = rng.integers(0, len(clips), (count, 2)).astype(np.int32)
    times, weights = rng.uniform(0, 10, (count, 2)), rng.uniform(0.1, 1, (count, 2)).astype(np.float32)
    out = np.empty((count, len(model.skin.joints), 3, 4), np.float32)
    return lambda: model.crowd_palette(clips, index, times, weights=weights, out=out)


if __name__ == "__main__":
    main()
