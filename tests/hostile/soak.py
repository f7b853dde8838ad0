"""Loads, plays, renders and exports for minutes and watches the memory: python tests/hostile/soak.py MINUTES

Prints the resident memory of the process every 10 seconds, and judges it flat where it grew by less than
2 MiB after the first part (a twelfth of the time, at least 20 seconds and 80 rounds), without what has been
freed and only not given back; ends with 1 where it is not. What is in use goes up and down by some MiB: so
the least of the first third of the rounds is held against the least of the last third, as what it would be
over all of the time. Without OpenGL, Pillow or ffmpeg it leaves out what needs them, and says so.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

import numpy as np  # noqa: E402

import skinpy  # noqa: E402

ALLOWED = 2 << 20  # bytes of growth after the first part
WARM = 80  # rounds in which OpenGL and the allocator still take memory that they keep, about 1 MiB
SIZE = (96, 72)


def resident() -> int:
    """Bytes of the process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def in_use() -> int:
    """The same, once what is free has gone back to the system, which glibc does when asked to."""
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    return resident()


def load_and_play(folder: Path) -> None:
    data = Path(skinpy.__file__).parent / "data"
    for name in ("crane.glb", "character.glb"):
        model = skinpy.load(data / name)
        clip = model.clips[0]
        model.deform(model.palette(clip, np.linspace(0, 1, 20))[3])
        controller = skinpy.AnimationController(model)
        controller.play(clip)
        controller.cross_fade(1, 0.2)
        for _ in range(20):
            controller.advance(0.02)
            controller.palette()
        model.save(folder / "again.skn")
        skinpy.load(folder / "again.skn", mmap=True).bounds()


def refuse(folder: Path) -> None:
    """What is broken, and what is wrong: errors hold on to nothing."""
    for data in (
        b"",
        b"glTF" + bytes(100),
        (Path(skinpy.__file__).parent / "data" / "crane.glb").read_bytes()[:5000],
    ):
        try:
            skinpy.load(data, format="glb")
        except skinpy.LoadError:
            continue
        raise AssertionError("a broken file was loaded")


def derive(folder: Path) -> None:
    model = skinpy.crane()
    clip = model.clips["slew"]
    model.add_clips([clip.trim(0, 0.5), clip.resample(5.0)], replace=True).palette("slew", 0.1)
    model.bake_texture("slew", 4.0).save(folder / "baked.npz")
    model.to_html(folder / "page.html", "slew", fps=2.0)


def draw(folder: Path) -> None:
    from skinpy.render import Renderer

    model = skinpy.crane()
    with Renderer(model, size=SIZE) as renderer:
        for when in (0.0, 0.3, 0.6):
            renderer.frame("slew", when)
        renderer.render("slew", 0.1, aov=("depth", "normal")).save(folder / "truth.npz")


def export(folder: Path) -> None:
    skinpy.crane().clips["slew"].save(folder / "film.gif", fps=4.0, size=SIZE)


def parts() -> Iterator[Callable[[Path], None]]:
    yield from (load_and_play, refuse, derive)
    try:
        import moderngl
        import PIL

        assert moderngl and PIL
        with tempfile.TemporaryDirectory() as name:
            draw(Path(name))
    except (ImportError, skinpy.GraphicsError) as error:
        print(f"without pictures: {error}")
    else:
        yield from (draw, export)


def growth_of(seen: list[int]) -> int:
    """Bytes by which a line through the least of the first and of the last third rises."""
    third = max(len(seen) // 3, 1)
    apart = max(len(seen) - third, 1)
    return (min(seen[-third:]) - min(seen[:third])) * (len(seen) - 1) // apart


def soak(
    minutes: float,
    every: float = 10.0,
    tell: Callable[[str], object] = print,
    warm: int = 0,
    rounds_at_least: int = 2,
) -> int:
    """Bytes by which the resident memory grew after the first part."""
    jobs = list(parts())
    start = time.monotonic()
    first_part = max(minutes * 60 / 12, min(20.0, minutes * 30))
    seen: list[int] = []  # in use after the first part
    shown, rounds = start, 0
    with tempfile.TemporaryDirectory() as name:
        while rounds < rounds_at_least or time.monotonic() - start < minutes * 60:
            for job in jobs:
                job(Path(name))
            rounds += 1
            now = time.monotonic()
            if now - shown >= every:
                shown = now
                tell(f"{now - start:6.0f} s  {rounds:6d} rounds  {resident() / (1 << 20):8.2f} MiB")
            if now - start >= first_part and rounds >= warm:
                seen.append(in_use())
    seen.append(in_use())
    growth = growth_of(seen)
    tell(
        f"{rounds} rounds of {', '.join(job.__name__ for job in jobs)}: {growth / 1024:+.0f} KiB in use, "
        f"after {first_part:.0f} s and {warm} rounds, "
        f"{'flat' if growth < ALLOWED else 'NOT flat'}"
    )
    return growth


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("minutes", type=float)
    return 0 if soak(parser.parse_args().minutes, warm=WARM, rounds_at_least=2 * WARM) < ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
