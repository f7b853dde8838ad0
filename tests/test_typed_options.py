"""Type checkers know the options that methods pass on, and what a controller plays."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import public_functions
import pytest

import skinpy

RIGHT = """
import skinpy
from skinpy.view import Layer
model = skinpy.character()
model.render("walk", 0.1, samples=1, floor=True, background="#fff", loop="clamp")
model.page("walk", title="a", floor=None)
model.to_html("a.html", "walk", height=9, limit=5)
model.clips[0].save("a.gif", fps=4.0, floor=True, samples=0)
model.clips[0].page(title="a")
model.clips[0].to_html("a.html", height=3)
model.show("walk", speed=2.0, layer=Layer("wave"))
model.view("walk", controls=False, size=(9, 9))
controller = skinpy.AnimationController(model)
controller.view(speed=2.0)
track: skinpy.Track = controller.play("walk", mask="Chest")
controller.play(0, mask=skinpy.Mask.below("Chest"))
controller.play(model.clips[0])
controller.play(skinpy.BlendSpace1D({0.0: "walk", 1.0: "run"}))
controller.cross_fade(None, 0.1)
passed: list[skinpy.PassedEvent] = controller.advance(0.1)
skinpy.load(open("a.glb", "rb"))
skinpy.load("a.glb", up="Y")
"""
WRONG = """
import skinpy
from skinpy.output import save_clip, sheet
from skinpy.view import save_page, show
model = skinpy.character()
model.render(sice=(1, 1))
model.render(samples="many")
model.page(titel="a")
model.to_html("a.html", overlay=None)
model.clips[0].save("a.gif", flor=True)
model.clips[0].page(titel="a")
model.clips[0].to_html("a.html", titel="a")
model.show(sped=1.0)
model.view(sped=1.0)
skinpy.AnimationController(model).view(sped=1.0)
skinpy.AnimationController(model).play(1.5)
skinpy.AnimationController(model).play(None)
skinpy.AnimationController(model).cross_fade([], 1.0)
skinpy.AnimationController(model).play("walk", mask=3)
save_clip("a.gif", model, flor=True)
sheet(model, flor=True)
save_page("a.html", model, titel="a")
show(model, sped=1.0)
skinpy.load(open("a.glb"))
"""


@pytest.mark.ci
def test_a_type_checker_knows_the_options(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    environment = os.environ | {"MYPYPATH": str(Path(skinpy.__file__).parent.parent)}
    done = subprocess.run(
        [*command, "right.py", "wrong.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    found = [line for line in done.stdout.splitlines() if ": error:" in line]
    lines = {int(line.split(":")[1]) for line in found if line.startswith("wrong.py")}
    assert not [line for line in found if line.startswith("right.py")], done.stdout
    wanted = {number for number, line in enumerate(WRONG.splitlines(), 1) if number > 5 and line}
    assert lines == wanted, done.stdout


def test_no_public_function_takes_options_of_any_name_and_type() -> None:
    for full, thing in public_functions.public_callables().items():
        for parameter in inspect.signature(thing).parameters.values():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD and full != "Animation":
                assert "Unpack[" in str(parameter.annotation), f"{full}(**{parameter.name})"
