"""How fast a live view is in a real JupyterLab: pictures per second, and milliseconds from hand to picture.

    python -m benchmarks.live_view [--seconds 6] [--drags 25]

Needs the extra `jupyter`, jupyterlab, ipykernel and Chromium (SKINPY_CHROMIUM names it, if it is not on the
PATH). All of it runs on this machine: the kernel that draws, the server, and the browser that shows.
A picture counts when the browser has decoded it; a hand's way begins with the pointer's event in the browser.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from lab import PICTURE, WHY_NOT, Lab

_CELLS = (
    "import skinpy\nmodel = skinpy.character()\nview = model.view('walk', size=(640, 480))\nview",
    "view.floor = True",
    "view.floor = False\nview.overlays = skinpy.render.Overlays(skeleton=True)",
    "view.overlays = None\nview.playing = False",
    "from skinpy.render.gpu import context\n"
    "print(context.call(lambda gl: gl.info['GL_RENDERER']), '|', view._loop._pace.fineness)",
)

# Times, in milliseconds, at which pictures were shown, and at which the pointer moved with a button down.
_WATCH = f"""(() => {{
    const picture = document.querySelector({PICTURE!r});
    const seen = window.seen = {{shown: [], moved: []}};
    new MutationObserver(async () => {{
        await picture.decode().catch(() => 0);
        seen.shown.push(performance.now());
    }}).observe(picture, {{attributeFilter: ['src']}});
    picture.addEventListener('pointermove', e => e.buttons && seen.moved.push(performance.now()), true);
    return 0;
}})()"""
_RESET = "window.seen.shown.length = window.seen.moved.length = 0"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6.0, help="to watch what plays")
    parser.add_argument("--drags", type=int, default=25, help="to measure one by one")
    chosen = parser.parse_args(arguments)
    if WHY_NOT:
        parser.error(WHY_NOT)
    load = os.getloadavg()[0]
    print(f"{platform.platform()}, {os.cpu_count()} cores, load {load:.1f} before the start")
    with Lab(_CELLS) as lab:
        lab.run_cell(0)
        lab.wait_for_pictures(20)
        lab.tab.run(_WATCH)
        report("playing", playing(lab, chosen.seconds))
        report("playing, while it is dragged round", dragging(lab, chosen.seconds))
        for number, name in ((1, "playing on a floor"), (2, "playing with the skeleton")):
            lab.run_cell(number)
            time.sleep(2)
            report(name, playing(lab, chosen.seconds))
        lab.run_cell(3)
        ways = sorted(delays(lab, chosen.drags))
        late = ways[int(0.95 * len(ways))]
        print(f"from the hand to the picture: median {median(ways):.0f} ms, 95 of 100 within {late:.0f} ms")
        print(lab.run_cell(4).strip())
    return 0


def report(name: str, shown: list[float]) -> None:
    gaps = [after - before for before, after in itertools.pairwise(shown)]
    rate = 1000 * len(gaps) / (shown[-1] - shown[0])
    print(f"{name}: {rate:.1f} pictures/s, median of the gaps {median(gaps):.0f} ms")


def playing(lab: Lab, seconds: float) -> list[float]:
    lab.tab.run(_RESET)
    time.sleep(seconds)
    return seen(lab)["shown"]


def dragging(lab: Lab, seconds: float) -> list[float]:
    x, y, *_ = lab.place(PICTURE)
    held: dict[str, Any] = {"button": "left", "buttons": 1}
    lab.tab.mouse("mousePressed", x, y, clickCount=1, **held)
    lab.tab.run(_RESET)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        way = (seconds - end + time.monotonic()) * 100
        lab.tab.mouse("mouseMoved", x + abs(way % 200 - 100), y, **held)
        time.sleep(0.016)
    shown = seen(lab)["shown"]
    lab.tab.mouse("mouseReleased", x, y, button="left", clickCount=1)
    return shown


def delays(lab: Lab, count: int) -> list[float]:
    """Of moves one by one, each after a rest: milliseconds until the next picture was shown."""
    x, y, *_ = lab.place(PICTURE)
    held: dict[str, Any] = {"button": "left", "buttons": 1}
    lab.tab.mouse("mousePressed", x, y, clickCount=1, **held)
    ways = []
    for number in range(count):
        time.sleep(1.0)  # the fine picture, and the one without loss after it
        lab.tab.run(_RESET)
        lab.tab.mouse("mouseMoved", x + 5 + 5 * (number % 2), y + number, **held)
        time.sleep(0.6)
        found = seen(lab)
        ways.append(next(shown for shown in found["shown"] if shown > found["moved"][0]) - found["moved"][0])
    lab.tab.mouse("mouseReleased", x, y, button="left", clickCount=1)
    return ways


def seen(lab: Lab) -> dict[str, list[float]]:
    found: dict[str, list[float]] = lab.tab.run("window.seen")
    return found


if __name__ == "__main__":
    raise SystemExit(main())
