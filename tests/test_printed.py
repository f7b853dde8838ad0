"""Text from outside goes to a terminal: names in files, paths and arguments are printed safely.

A terminal obeys control characters: they set its title, its colors and its clipboard, and type answers. So
nothing that skinpy prints of them has any, whatever a file or a caller says: errors, warnings, reports,
representations and the output of commands. Names themselves, as data, stay as the file has them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import import_cases
import numpy as np
import pytest
from hostile.seed_models import Seed, own_seeds
from printed import EVIL, evil_bundled, obeyed, unprintable

import skinpy
from skinpy.__main__ import main
from skinpy._text import MAX_QUOTE, printable, printable_lines, quoted, quoted_list, unicode_text

SIZE = (24, 24)


@pytest.fixture(scope="module")
def evil() -> skinpy.Model:
    """The character, in which each name begins with EVIL."""
    return skinpy.load(evil_bundled("character"), format="glb")


def quietly(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What a call returns, and the warnings and errors that it gives, as text."""
    result, said = None, []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except Exception as error:
            said += [str(error), *map(str, error.args)]
    return result, said + [str(one.message) for one in caught]


def test_one_function_writes_what_no_terminal_obeys() -> None:
    r"""As Python does it in a string; U+E000 is of nobody, and U+DCFF a byte that is not UTF-8."""
    assert printable("Bein é 骨 \x1b[0m\x9b\u202e\ue000\udcff\n") == (
        r"Bein é 骨 \x1b[0m\x9b\u202e\ue000\udcff\n"
    )
    for number in range(0x110000):
        shown = printable(chr(number))
        assert shown.isprintable() and (shown == chr(number)) == chr(number).isprintable()
    assert printable_lines("a\x1b\nb\r") == "a\\x1b\nb\\r"
    assert unicode_text("a\udcff\ud800\n") == "a\ufffd\ufffd\n"


def test_names_are_quoted_up_to_a_length() -> None:
    assert quoted("walk") == "'walk'" and len(quoted("w" * 5000)) <= MAX_QUOTE
    assert quoted_list(["a", "b"]) == "'a', 'b'"
    assert quoted_list([f"c{number}" for number in range(10)]).endswith("'c7' and 2 more")
    assert quoted_list(["w" * 60] * 3).endswith(f"{'w' * 60}' and 2 more")


def same_length(name: bytes) -> bytes:
    return (b"\x1b]0;x\x07\x1b[31m" * len(name))[: len(name)]


@pytest.mark.parametrize("seed", own_seeds(), ids=lambda seed: f"{seed.name}.{seed.format}")
def test_names_in_every_format(seed: Seed, tmp_path: Path) -> None:
    """Each name of a file is replaced by one of control characters, of the same length."""
    for name, content in seed.beside:
        (tmp_path / name).write_bytes(content)
    path = tmp_path / f"model.{seed.format}"
    path.write_bytes(seed.data)
    model, _ = quietly(lambda: skinpy.load(path))
    assert model is not None
    names = {
        *model.skeleton.names,
        *model.clips.names,
        *(one.name for one in (*model.mesh.submeshes, *model.materials, *model.targets)),
    }
    data = seed.data
    for name in sorted(names, key=len, reverse=True):
        plain = name.encode("utf-8", "surrogateescape")
        if len(plain) > 1:
            data = data.replace(plain, same_length(plain))
    path.write_bytes(data)
    changed, said = quietly(lambda: skinpy.load(path))
    if changed is not None:
        said += unprintable(changed, *changed.clips)
        said += quietly(lambda: changed.clips["none"])[1] + quietly(lambda: changed.pose(99))[1]
        said += quietly(lambda: changed.skeleton.index("none"))[1]
        said += [str(changed.check()), repr(changed.check())]
    assert [words for text in said for words in obeyed(text)] == []


def playing(model: skinpy.Model) -> list[object]:
    """Everything that plays clips of the model."""
    walk, run, wave = model.clips.names
    controller = skinpy.AnimationController(model)
    notes = controller.record()
    track = controller.add_track(walk)
    controller.key_weight(track, 0.5, 1.0)
    controller.play(run, layer=EVIL, mask=skinpy.Mask.below(model.skeleton.names[3]))
    events = controller.advance(0.1)
    notes.stop()
    machine = skinpy.StateMachine(
        {
            "start": EVIL,
            "states": {EVIL: {"clip": walk}, "b": {"clip": run}},
            "parameters": {EVIL: "trigger"},
            "transitions": [{"from": EVIL, "to": "b", "switch": "end"}],
        }
    )
    return [
        *(controller, notes, track, events, machine, machine.ways(EVIL)),
        skinpy.AnimationController(model).run(machine),
        skinpy.BlendSpace1D({0.0: walk, 1.0: run}),
        skinpy.BlendSpace2D({(0, 0): walk, (1, 0): run, (0, 1): wave}).bind(model),
    ]


def test_long_names_are_cut() -> None:
    """A name of 10,000 letters does not fill the terminal; as data it stays."""
    from skinpy import storage

    long = "N" * 10_000
    walk = skinpy.Clip.from_arrays(long, fps=2, joints=[long], translation=np.zeros((2, 1, 3)))
    model = skinpy.Model.from_arrays(
        [long, f"{long}s"],
        [-1, 0],
        [np.eye(4)] * 2,
        positions=np.eye(3),
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1]] * 3,
        clips=[walk],
    )
    controller = skinpy.AnimationController(model)
    things = [model, model.skeleton, model.clips, model.clips[0], *model.clips[0].channels, model.explain(0)]
    things += [controller.play(0, layer=long), model.check()]
    things += [skinpy.BlendSpace1D({0.0: long, 1.0: 0}), storage.compare(model, 0, fps=2.0)]
    assert max(len(line) for thing in things for line in f"{thing!r}\n{thing}".split("\n")) < 600
    assert [*model.clips.names, *model.skeleton.names] == [long, long, f"{long}s"]


def test_representations(evil: skinpy.Model) -> None:
    crane = skinpy.load(evil_bundled("crane"), format="glb")
    walk = evil.clips[0]
    assert walk.name == f"{EVIL}walk"  # the name itself
    from skinpy import storage, view

    packed = walk.extract_root_motion()
    things = [evil, walk, packed, packed.root_motion, walk.add_event(0.1, EVIL), evil.explain(5, 0, 0.2)]
    things += [skinpy.match_joints(evil, evil), skinpy.match_joints(evil, crane), evil.check()]
    things += [crane.bake_texture(0, 4.0), crane.as_rigid(), crane.bake_vertices(0, 2.0)]
    things += [storage.compare(evil, walk, fps=2.0), storage.quantize(walk), view.Layer(walk.name)]
    assert unprintable(*things, *playing(evil)) == []


def test_representations_of_what_draws(evil: skinpy.Model) -> None:
    from skinpy import output, render, view

    stage = view.Stage(evil, 0, size=SIZE, overlays=render.Overlays(names=True))
    stage.frame()
    with render.Renderer(evil, size=SIZE) as renderer:
        truth = renderer.render(0, 0.1, aov=["joint"])
        assert unprintable(stage, truth, renderer, render.Overlays(weights=evil.skeleton.names[3])) == []
    stage.close()
    assert output.sheet(evil, frames=2, size=SIZE).size


WRONG: dict[str, Callable[[skinpy.Model, Path], object]] = {
    "clip": lambda model, path: model.pose(EVIL),
    "number of a clip": lambda model, path: model.pose(99),
    "joint": lambda model, path: model.skeleton.index(EVIL),
    "mask": lambda model, path: skinpy.Mask.below(EVIL).weights(model),
    "layer": lambda model, path: skinpy.AnimationController(model).play(EVIL),
    "joint to turn": lambda model, path: model.pose(0).rotate(EVIL, [0, 0, 0, 1]),
    "joint to plot": lambda model, path: model.clips[0].plot(EVIL),
    "other joint map": lambda model, path: skinpy.retarget(model.clips[0], model, model, {EVIL: EVIL}),
    "no such file": lambda model, path: skinpy.load(EVIL),
    "format": lambda model, path: skinpy.load(b"x", format=EVIL),
    "scene": lambda model, path: skinpy.load(evil_bundled("chair"), format="glb", scene=EVIL),
    "axis": lambda model, path: skinpy.load(b"x", up=EVIL),
    "formats": lambda model, path: skinpy.load(b"x", allow_formats=[EVIL]),
    "overlay": lambda model, path: model.render(0, size=SIZE, overlays=skinpy.render.Overlays.parse([EVIL])),
    "color": lambda model, path: model.render(0, size=SIZE, background=EVIL),
    "vertex": lambda model, path: model.explain(5, EVIL),
    "states": lambda model, path: skinpy.StateMachine({"start": EVIL, "states": {EVIL: {EVIL: 1}}}),
    "transition": lambda model, path: skinpy.StateMachine(
        {"start": "a", "states": {"a": {"clip": 0}}, "transitions": [{"from": "a", "to": EVIL}]}
    ),
    "file to load": lambda model, path: skinpy.load(path),
    "file to map": lambda model, path: skinpy.load(path, mmap=True),
    "file to load here": lambda model, path: skinpy.load(path, isolate=False),
    "file of frames": lambda model, path: skinpy.VertexAnimation.load(path),
    "series": lambda model, path: skinpy.VertexAnimation.load_series([path, path]),
    "texture": lambda model, path: skinpy.BakedTexture.load(path, model),
    "machine": lambda model, path: skinpy.StateMachine.load(path),
    "clips": lambda model, path: model.add_clips(path),
    "picture": lambda model, path: skinpy.output.save_picture(path, np.zeros((4, 4, 4), np.uint8)),
    "film": lambda model, path: skinpy.output.save_film(path, [], 10),
    "page": lambda model, path: skinpy.view.save_page(path, model),
    "model": lambda model, path: model.save(path),
    "clip to save": lambda model, path: model.clips[0].save(path),
    "plot": lambda model, path: model.clips[0].plot(0, path),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_errors(evil: skinpy.Model, tmp_path: Path, wrong: str) -> None:
    for suffix in ("glb", "skn", "md2", "txt", EVIL):
        path = tmp_path / f"{EVIL}.{suffix}"
        path.write_bytes(b"nothing")
        _, said = quietly(lambda path=path: WRONG[wrong](evil, path))
        assert said or wrong == "model"  # which can be written
        assert [words for text in said for words in obeyed(text) or text.split("\n")[1:]] == []


def test_warnings(evil: skinpy.Model, tmp_path: Path) -> None:
    loose = skinpy.Clip.from_arrays(
        EVIL, fps=2, joints=[evil.skeleton.names[0], EVIL], translation=np.zeros((2, 2, 3))
    )
    additive = evil.add_clips(evil.clips[0].additive())
    for call in (lambda: evil.add_clips(loose), lambda: additive.save(tmp_path / "additive.glb")):
        _, said = quietly(call)
        assert said and [words for text in said for words in obeyed(text)] == []


def test_names_of_half_characters_are_refused(evil: skinpy.Model) -> None:
    with pytest.raises(ValueError, match=r"the name 'a\\ud800' has half a character"):
        skinpy.Clip.from_arrays("a\ud800", fps=2, joints=["Head"], translation=np.zeros((2, 1, 3)))


def test_pages_and_plots_can_be_written(evil: skinpy.Model, tmp_path: Path) -> None:
    """What is no text in UTF-8, and what is a formula to matplotlib."""
    pytest.importorskip("matplotlib")
    from skinpy import storage, view

    name = "a\udcff $x^$ <b>"
    evil = evil.add_clips(
        skinpy.Clip.from_arrays(name, fps=2, joints=[evil.skeleton.names[0]], translation=np.eye(3)[:2, None])
    )
    clip = evil.clips[name]
    for title in (None, name.replace("\udcff", "\ud800")):
        page = view.make_page(evil, name, fps=2.0, title=title)
        page.save(tmp_path / "page.html")
        assert "<title>a\ufffd $x^$ &lt;b&gt;</title>" in page.html
        page._repr_html_().encode("utf-8")
    view.Page(name).save(tmp_path / "text.html")
    table = storage.compare(evil, clip, fps=2.0)
    for text in (evil.explain(5, name, 0.1).html(), table._repr_html_()):
        text.encode("utf-8")
    table.plot(tmp_path / "table.svg")
    clip.plot(0, tmp_path / "curves.svg")


# ---- commands ---------------------------------------------------------------------------------------


COMMANDS = (
    *("info", "info --json", "check", "check --json", "compare --fps 2", "compare --json --fps 2"),
    *("explain --vertex 5", "sheet --size 24x24 --frames 1 -o OUT.png", "page --fps 2 -o OUT.html"),
    *("render --size 24x24 -o OUT.png", "render --clip none -o OUT.png", "info --format bvh"),
    *("curves --joint none -o OUT.svg", "curves --joint 2 -o OUT.svg", "info --scene none", "info --none"),
    *("render -o OUT.none", "compare --fps none", "check --joints 0", "page -o OUT.none", "info --allow"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{EVIL}model.glb"
    path.write_bytes(evil_bundled("chair"))
    name, *options = command.replace("OUT", str(tmp_path / f"{EVIL}out")).replace("none", EVIL).split(" ")
    with suppress(SystemExit):
        main([name, str(path), *options])
    shown = capsys.readouterr()
    assert obeyed(shown.out) + obeyed(shown.err) == []


def test_a_missing_command_is_named_safely(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([EVIL], ["info", "a", EVIL], ["info", "a", f"--{EVIL}"], ["info", f"{EVIL}.glb"]):
        with suppress(SystemExit):
            main(arguments)
        shown = capsys.readouterr().err
        assert shown and obeyed(shown) == []


@pytest.mark.parametrize("encoding", ["ascii", "ascii:strict", "latin-1", "ascii:surrogateescape"])
def test_terminals_of_few_letters(encoding: str, tmp_path: Path) -> None:
    """No command ends with an error of a codec, whatever the terminal takes."""
    path = os.fsencode(tmp_path) + b"/\xff \xe9\xaa\xa8.bvh"
    Path(os.fsdecode(path)).write_bytes(import_cases.bvh(("Bein é 骨 \udcff",)))
    for command in ("info", "check", "info --json"):
        done = subprocess.run(
            [sys.executable, "-m", "skinpy", *command.split(), path],
            env=os.environ | {"PYTHONIOENCODING": encoding, "LC_ALL": "C"},
            capture_output=True,
            timeout=60,
        )
        assert done.returncode == 0 and not done.stderr, done.stderr
        assert command != "info" or rb"Bein " in done.stdout
        if "--json" in command:
            assert json.loads(done.stdout)["joints"][0] == "Bein é 骨 \ufffd"
