"""Presses Ctrl-C at random moments of long work and looks for what stays: python tests/hostile/interrupt.py

SIGINT comes from a thread, at a random moment of the time that the work takes. Each must end the work with
KeyboardInterrupt (or find it done), leave no process, no open file, no byte of the core's, no object of
OpenGL, and in the folder of the output nothing but the old file or the whole new one; then the same work is
done again, and must give the same to the bit. Prints a line for each kind of work, with the time from signal
to exception, and a sum; ends with 1 where anything was left. Work that needs what is not installed is left
out, and that is said.

An exception in a finalizer is ignored by Python, and Ctrl-C with it: such signals are counted as lost.

    --count N    signals (1000)
    --seed N     which moments (1)
    --latest S   seconds from signal to exception that an isolated load may take in the median (0.1)
    --only WORD  work whose name holds the word
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).resolve().parent
for folder in (HERE.parent, HERE.parent.parent):
    sys.path.insert(0, str(folder))

import numpy as np  # noqa: E402
import opened_files  # noqa: E402
from drawing import finish_drawing  # noqa: E402

import skinpy  # noqa: E402
from skinpy import _core  # noqa: E402

SIZE = (64, 48)
DATA = Path(skinpy.__file__).parent / "data"
OLD = b"what was there before"
ENOUGH = 4  # signals by which lateness is judged


class Finger:
    """Presses Ctrl-C once, `delay` seconds after `go` was released and `begun` is set."""

    def __init__(self, delay: float, begun: threading.Event | None = None) -> None:
        self.go = threading.Lock()
        self.go.acquire()
        self.begun = begun or threading.Event()
        if begun is None:
            self.begun.set()
        self.sent = self.heard = 0.0
        self._delay = delay
        self.thread = threading.Thread(target=self._press, daemon=True)
        signal.signal(signal.SIGINT, self._hear)
        self.thread.start()

    def _press(self) -> None:
        self.go.acquire()
        self.begun.wait()
        time.sleep(self._delay)
        self.sent = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.heard = time.perf_counter()
        raise KeyboardInterrupt


@dataclass
class Work:
    """Something long: `call` gives what can be compared, and writes to `path` where there is one."""

    name: str
    call: Callable[[], object]
    path: Path | None = None
    seconds: float = 0.0
    wanted: object = None
    whole: bytes = b""  #: the file that it writes
    ended: int = 0  #: signals that ended it; the others found it done
    lost: int = 0
    late: list[float] = field(default_factory=list)  #: seconds from signal to exception
    faults: list[str] = field(default_factory=list)

    @property
    def is_apart(self) -> bool:
        """An isolated load, whose process waits for signals meanwhile."""
        return self.name.startswith("load") and "here" not in self.name

    def __str__(self) -> str:
        late = sorted(self.late) or [0.0]
        return (
            f"{self.name}: {self.seconds * 1e3:.0f} ms, ended {self.ended} times after {milliseconds(late)}, "
            f"{self.lost} lost, {len(self.faults)} faults"
        )


def milliseconds(late: list[float]) -> str:
    return f"{statistics.median(late) * 1e3:.1f} ms (worst {max(late) * 1e3:.1f})"


# ---- what is left -------------------------------------------------------------------------------------


def children() -> list[str]:
    """Numbers of the processes that any thread of this one started."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has ended
            found += (task / "children").read_text().split()
    return sorted(found)


def open_files() -> list[str]:
    """What the descriptors stand for."""
    return sorted(opened_files.open_files().values())


def settle() -> None:
    """What the graphics thread still draws is done, and what nobody holds is gone, on that thread too."""
    finish_drawing()
    gc.collect()
    finish_drawing()


def on_the_gpu() -> int:
    """Objects of OpenGL that somebody holds; of framebuffers, moderngl itself holds the last."""
    moderngl = sys.modules.get("moderngl")
    if moderngl is None:
        return 0
    names = ("Buffer", "Program", "Texture", "VertexArray")
    kinds = tuple(getattr(moderngl, name) for name in names)
    return sum(isinstance(thing, kinds) for thing in gc.get_objects())


class Before:
    """What there is before the work, and what is more after it."""

    def __init__(self, work: Work) -> None:
        settle()
        self._path = work.path
        self._files, self._processes, self._folder = open_files(), children(), self._listed()
        self._core_bytes, self._on_the_gpu = _core._bytes_in_use(), on_the_gpu()

    def _listed(self) -> list[str]:
        return [] if self._path is None else sorted(os.listdir(self._path.parent))

    def left(self, whole: bytes) -> Iterator[str]:
        """`whole` is the file that the work writes."""
        settle()
        if children() != self._processes:
            yield f"processes {children()}"
        if len(open_files()) > len(self._files):
            yield f"open files {[name for name in open_files() if name not in self._files]}"
        if _core._bytes_in_use() != self._core_bytes:
            yield f"{_core._bytes_in_use() - self._core_bytes} bytes of the core"
        if on_the_gpu() != self._on_the_gpu:
            yield f"{on_the_gpu() - self._on_the_gpu} objects of OpenGL"
        if self._listed() != self._folder:
            yield f"files {self._listed()}"
        if self._path is not None and self._path.read_bytes() not in (OLD, whole):
            yield "a file that is neither the old nor the new one"


# ---- pressing -----------------------------------------------------------------------------------------


def prepare(work: Work) -> None:
    """What it gives, and how long it takes; what is kept from the first use on is kept now."""
    work.call()
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work.wanted = work.call()
        times.append(time.perf_counter() - start)
    work.seconds = statistics.median(times)
    if work.path is not None:
        work.whole = work.path.read_bytes()


def press(work: Work, delay: float, begun: threading.Event | None = None) -> None:
    """One signal at one moment; what is not as it should be is put down in `work.faults`.

    The delay counts from the start of the work, or from when it sets `begun`, or ends without that.
    """
    if work.path is not None:
        work.path.write_bytes(OLD)
    before = Before(work)
    finger = Finger(delay, begun)
    done, said = False, ""
    try:
        finger.go.release()
        work.call()
        done = True
        work.lost += finger.heard > 0  # in a finalizer
        finger.begun.set()
        while not finger.heard:
            time.sleep(0.001)
    except KeyboardInterrupt:
        if not done:
            work.ended += 1
            work.late.append(time.perf_counter() - finger.sent)
    except BaseException:
        said = traceback.format_exc()
        finger.begun.set()
        with contextlib.suppress(KeyboardInterrupt):  # which is still to come where the work failed first
            while not finger.heard:
                time.sleep(0.001)
    finger.thread.join()
    found = [said] if said else []
    found += [f"leaves {what}" for what in before.left(work.whole)]
    if work.call() != work.wanted:
        found.append("the next result is another one")
    found += [f"leaves {what} after the next call" for what in before.left(work.whole) if len(found) == 0]
    work.faults += [f"{work.name}, {delay * 1e3:.3f} ms: {what}" for what in found]


def judge_lateness(work: Work, latest: float) -> None:
    """An isolated load that ends more than `latest` seconds late again and again has a fault more."""
    if work.is_apart and len(work.late) >= ENOUGH and statistics.median(work.late) > latest:
        work.faults.append(f"{work.name} ends late: after {milliseconds(work.late)}")


# ---- the work -----------------------------------------------------------------------------------------


def long_bvh(path: Path, frames: int = 100_000) -> Path:
    """A file that takes long to read."""
    path.write_text(
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n"
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
        f"End Site\n{{\nOFFSET 0 1 0\n}}\n}}\nMOTION\nFrames: {frames}\nFrame Time: 0.01\n"
        + "0 0 0 0 0 0\n"
        * frames
    )
    return path


def block_of(model: skinpy.Model) -> bytes:
    return bytes(memoryview(model._block))


def loads(folder: Path) -> Iterator[Work]:
    long = long_bvh(folder / "long.bvh")
    data = (DATA / "character.glb").read_bytes()
    for path in (*sorted(DATA.glob("*.glb")), long):
        yield Work(f"load {path.name}", lambda path=path: block_of(skinpy.load(path)))  # type: ignore[misc]
    yield Work("load bytes", lambda: block_of(skinpy.load(data, format="glb")))
    yield Work("load long.bvh here", lambda: block_of(skinpy.load(long, isolate=False)))
    yield Work("load bundled", lambda: [block_of(model()) for model in (skinpy.character, skinpy.crane)])


def batches(model: skinpy.Model) -> Iterator[Work]:
    times = np.linspace(0, 2, 3000)
    pairs = np.stack([np.zeros(2000, np.int64), np.ones(2000, np.int64)], axis=1)
    poses = model.palette("walk", times[:200])

    def play() -> bytes:
        controller = skinpy.AnimationController(model)
        controller.play("walk")
        seen = []
        for step in range(4000):
            if step == 100:
                controller.cross_fade("run", 0.5)
            controller.advance(0.01)
            seen.append(controller.palette().tobytes())
        return b"".join(seen)

    def crowd() -> bytes:
        return model.crowd_palette(["walk", "run"], pairs, times[:2000]).tobytes()

    def deform() -> list[bytes]:
        return [part.tobytes() for pose in poses for part in model.deform(pose)]

    yield Work("palette", lambda: [model.palette("walk", times).tobytes() for _ in range(5)])
    yield Work("crowd_palette", lambda: [crowd() for _ in range(5)])
    yield Work("deform", deform)
    yield Work("advance", play)
    yield Work("check", lambda: repr(skinpy.check(model)))
    yield Work(
        "bake_texture", lambda: [model.bake_texture("walk", fps).data.tobytes() for fps in range(10, 100)]
    )


def writes(model: skinpy.Model, output: Callable[[str], Path]) -> Iterator[Work]:
    """What needs nothing but Pillow."""

    def writing(name: str, write: Callable[[Path], object]) -> Work:
        path = output(name)
        return Work(f"write {name}", lambda: write(path) and None, path)

    yield writing("model.skn", model.save)
    yield writing("model.glb", model.save)
    yield writing("page.html", lambda path: model.to_html(path, "walk"))


def films(model: skinpy.Model, output: Callable[[str], Path]) -> Iterator[Work]:
    """What needs Pillow and OpenGL."""
    clip = model.clips["walk"].trim(0.0, 0.15)
    names = ["film.apng", "film.gif", "film.webp", "picture.png"]
    if shutil.which("ffmpeg"):
        names.append("film.mp4")
    for name in names:
        path = output(name)
        options: dict[str, Any] = {} if name.endswith(".png") else {"fps": 20.0}
        yield Work(
            f"write {name}",
            lambda path=path, options=options: clip.save(path, size=SIZE, **options) and None,  # type: ignore[misc]
            path,
        )


def drawings(model: skinpy.Model) -> Iterator[Work]:
    from skinpy.render import Renderer, render

    kept = Renderer(model, size=SIZE)
    times = np.linspace(0, 1, 6)

    def draw() -> list[bytes]:
        with Renderer(model, size=SIZE) as renderer:
            return [frame.tobytes() for frame in renderer.frames("walk", times[:3])]

    yield Work("frames", lambda: [frame.tobytes() for frame in kept.frames("walk", times)])
    yield Work("Renderer", draw)
    yield Work("render", lambda: [render(model, "run", when, SIZE).tobytes() for when in times[:3]])
    yield Work(
        "ground truth", lambda: kept.render("walk", 0.2, aov=("depth", "flow")).layers["depth"].tobytes()
    )


def plots(model: skinpy.Model, output: Callable[[str], Path]) -> Iterator[Work]:
    path = output("curves.png")
    yield Work("write curves.png", lambda: model.clips["walk"].plot("Hips", path) and None, path)


def all_work(folder: Path) -> tuple[list[Work], list[str]]:
    """(what can be done here, why the rest cannot)"""

    def output(name: str) -> Path:
        place = folder / name.replace(".", "-")
        place.mkdir()
        return place / name

    model = skinpy.character()
    found, missing = [*loads(folder), *batches(model), *writes(model, output)], []
    more: list[tuple[str, Callable[[], Iterator[Work]]]] = [
        ("films", lambda: films(model, output)),
        ("drawings", lambda: drawings(model)),
        ("plots", lambda: plots(model, output)),
    ]
    for name, make in more:
        try:
            these = list(make())
            for work in these:
                work.call()
        except (ImportError, skinpy.GraphicsError) as error:
            missing.append(f"{name}: {error}")
        else:
            found += these
    return found, missing


def survey(count: int, seed: int, latest: float, only: str = "") -> tuple[list[Work], list[str]]:
    """All work after `count` signals, and why some is left out."""
    rng = random.Random(seed)
    before = signal.getsignal(signal.SIGINT)
    with tempfile.TemporaryDirectory() as name:
        found, missing = all_work(Path(name))
        found = [work for work in found if only in work.name]
        for work in found:
            prepare(work)
        gc.collect()
        gc.freeze()  # so that each collection looks at what is new alone
        try:
            for number in range(count if found else 0):
                work = found[number % len(found)]
                press(work, rng.uniform(0, work.seconds))
        finally:
            gc.unfreeze()
            signal.signal(signal.SIGINT, before)
    for work in found:
        judge_lateness(work, latest)
    return found, missing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--latest", type=float, default=0.1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    found, missing = survey(options.count, options.seed, options.latest, options.only)
    for why in missing:
        print(f"without {why}")
    for work in found:
        print(work)
        print("".join(f"    {fault}\n" for fault in work.faults), end="")
    apart = [late for work in found if work.is_apart for late in work.late]
    faults = sum(len(work.faults) for work in found)
    if apart:
        print(f"isolated loads: {len(apart)} ended after {milliseconds(apart)}")
    print(
        f"{options.count} signals to {len(found)} kinds of work in {time.perf_counter() - start:.0f} s: "
        f"{sum(work.ended for work in found)} ended it, {sum(work.lost for work in found)} were lost, "
        f"{faults} faults"
    )
    return 1 if faults or not found else 0


if __name__ == "__main__":
    sys.exit(main())
