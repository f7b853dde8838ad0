"""A live view in a real JupyterLab, with a real mouse: where both are installed."""

import json
from collections.abc import Iterator

import numpy as np
import pytest
from lab import PICTURE, WHY_NOT, Lab

pytestmark = [
    pytest.mark.extras,
    pytest.mark.skipif(bool(WHY_NOT), reason=f"a live view in JupyterLab: {WHY_NOT}"),
]

CELLS = (
    "import time, threading, skinpy\nmodel = skinpy.character()\nview = model.view('walk')\nview",
    "print(view.time)",
    "eye = view.stage.rig.eye\nprint(eye.azimuth, eye.distance, *eye.target)",
    "print(view.clip.name, view.layer, view.overlays.skeleton, view.playing, view.time)",
    # Holds the main thread until the clip has moved by a second, or has clearly not.
    "start, end = view.time, time.monotonic() + 600\n"
    "while view.time < start + 1 and time.monotonic() < end:\n    time.sleep(0.01)\nprint(view.time - start)",
    # Tells, twenty times a second, how far the clip has moved: also while no page is open.
    "import itertools, pathlib\n"
    "def watch():\n    for number in itertools.count():\n"
    "        pathlib.Path('new.txt').write_text(f'{number} {view.time}')\n"
    "        pathlib.Path('new.txt').replace('time.txt')\n        time.sleep(0.05)\n"
    "threading.Thread(target=watch, daemon=True).start()",
)


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(CELLS) as lab:
        lab.run_cell(0)
        lab.wait_for_pictures()
        yield lab


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


def picture(lab: Lab) -> np.ndarray:
    x, y, width, height = lab.place(PICTURE)
    left, top = round(x - width / 2), round(y - height / 2)
    return lab.tab.picture()[top : top + round(height), left : left + round(width)].astype(int)


def test_the_mouse_turns_moves_and_zooms(lab: Lab) -> None:
    def eye() -> list[float]:
        return numbers(lab.run_cell(2))

    x, y, *_ = lab.place(PICTURE)
    before, was = picture(lab), eye()
    # Messages of widgets and of cells go different ways: what was first may come last.
    lab.tab.drag((x, y), (x + 60, y))  # of 480 pixels
    lab.until(lambda: eye()[0] == pytest.approx(was[0] - 45, abs=0.5), "the turn")
    turned = eye()
    lab.tab.drag((x, y), (x + 60, y), button="right")
    lab.until(lambda: eye()[2:] != turned[2:], "the move")
    assert eye()[:2] == turned[:2]
    lab.click(PICTURE)  # the wheel scrolls the notebook until then
    lab.tab.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
    lab.until(lambda: eye()[1] == pytest.approx(was[1] * 0.9**3), "the zoom")
    lab.wait_for_pictures()
    assert np.abs(picture(lab) - before).mean() > 5


def test_menus_slider_and_switches(lab: Lab) -> None:
    lab.choose("clip", "run")
    lab.choose("layer", "wave")
    lab.click("button", "skeleton")
    lab.click("button .fa-pause")
    lab.until(lambda: "False" in lab.run_cell(3), "the pause")
    lab.scrub(0.5)
    lab.until(lambda: float(lab.run_cell(3).split()[-1]) == pytest.approx(0.35, abs=0.02), "the middle")
    clip, *_, skeleton, playing, _ = lab.run_cell(3).split()
    assert (clip, skeleton, playing) == ("run", "True", "False")
    assert "Layer(clip=2" in lab.run_cell(3)
    lab.click("button .fa-play")
    lab.wait_for_pictures()


def test_it_plays_while_a_cell_computes(lab: Lab) -> None:
    """Where the kernel hands messages of widgets to another thread, as JupyterLab 4 and ipykernel 7 agree."""
    (passed,) = numbers(lab.run_cell(4))
    assert passed >= 1


def test_a_closed_page_draws_nothing_and_an_opened_one_goes_on(lab: Lab) -> None:
    lab.command("docmanager:save")
    assert len(lab.path.read_bytes()) < 2_000_000
    (output,) = (o for o in json.loads(lab.path.read_text())["cells"][0]["outputs"])
    assert {"image/png", "application/vnd.jupyter.widget-view+json"} <= set(output["data"])
    lab.run_cell(5)
    lab.leave()
    seen: list[list[float]] = []  # number of the look, seconds of the clip

    def stands_still() -> bool:
        """Whether the clip has not moved for forty looks of the kernel."""
        look = numbers((lab.root / "time.txt").read_text()) if (lab.root / "time.txt").exists() else []
        if look and look not in seen:
            seen.append(look)
        return len(seen) >= 40 and len({time for _, time in seen[-40:]}) == 1

    lab.until(stands_still, "standstill of the clip")
    left = seen[-1][1]
    lab.load()
    lab.until(lambda: lab.tab.run(f"!!document.querySelector({PICTURE!r})"), "the view")
    lab.wait_for_pictures()
    lab.until(
        lambda: numbers((lab.root / "time.txt").read_text())[1] > left, "motion after the page is opened"
    )
