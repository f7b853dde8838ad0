"""The command line: what it prints, its exit status, errors in one line."""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from import_cases import lws

import skinpy
import skinpy.__main__
from skinpy.__main__ import main

CHARACTER = Path(skinpy.__file__).parent / "data" / "character.glb"


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def still() -> skinpy.Model:
    """A triangle on one joint, without clips."""
    corners = {"positions": np.eye(3), "faces": [[0, 1, 2]], "joints": [[0]] * 3, "weights": [[1]] * 3}
    return skinpy.Model.from_arrays(["a"], [-1], [np.eye(4)], **corners)


def test_info_shows_joints_mesh_and_clips(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", CHARACTER) == 0
    shown = capsys.readouterr()
    model = skinpy.character()
    assert f"{len(model.skeleton)} joints" in shown.out
    assert f"{len(model.mesh.positions)} vertices" in shown.out
    for name in model.clips.names:
        assert f"clip      {name!r}" in shown.out
    assert shown.err == ""


def test_info_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", CHARACTER, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    model = skinpy.character()
    assert facts["joints"] == list(model.skeleton.names)
    assert facts["parents"] == model.skeleton.parents.tolist()
    assert facts["vertices"] == len(model.mesh.positions)
    assert [clip["name"] for clip in facts["clips"]] == list(model.clips.names)
    assert facts["clips"][0]["duration"] == model.clips[0].duration


def test_info_has_a_line_on_kinds(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundled = CHARACTER.with_name("crane.glb")
    for file, words in (
        (CHARACTER, "3 clips of joints (skinned)"),
        (bundled, "3 clips of rigid parts (rigid)"),
        (shared_data / "models" / "faerie.md2", "198 stored frames (vertex)"),
        (
            shared_data / "models" / "AnimatedMorphCube.gltf",
            "2 morph targets (keyed), 1 clip of their weights",
        ),
    ):
        assert run("info", file) == 0
        assert f"kinds     {words}" in capsys.readouterr().out


def test_info_build(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", "build", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["version"] == skinpy.__version__
    assert facts["assimp_version"].split(".")[0] >= "6" and "glb" in facts["formats"]


def test_info_of_names_that_are_not_utf8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = skinpy.Model.from_arrays(
        ["\udcff root"],
        [-1],
        [[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]],
        positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1]] * 3,
    )
    model.save(tmp_path / "odd.skn")
    assert run("info", tmp_path / "odd.skn", "--json") == 0
    assert json.loads(capsys.readouterr().out)["joints"] == ["\ufffd root"]


@pytest.mark.parametrize("arguments", [("--clip", "run", "--time", "0.3"), ("--clip", "1"), ()])
def test_render_writes_a_picture(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("moderngl")
    picture = tmp_path / "out.png"
    assert run("render", CHARACTER, "-o", picture, "--size", "80x60", *arguments) == 0
    with image.open(picture) as opened:
        assert opened.size == (80, 60) and opened.mode == "RGBA"
        low, high = opened.getchannel("A").getextrema()
    assert (low, high) == (0, 255)


def test_render_writes_ground_truth_beside_the_picture(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("moderngl")
    picture = tmp_path / "out.png"
    layers = ("--aov", "depth", "--aov", "normal")
    assert run("render", CHARACTER, "-o", picture, "--clip", "run", "--size", "80x60", *layers) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.npz", "out.png"]
    with np.load(tmp_path / "out.npz") as truth, image.open(picture) as opened:
        assert (np.asarray(opened) == truth["picture"]).all()
        assert truth["depth"].shape == (60, 80) and truth["normal"].shape == (60, 80, 3)
        assert np.isfinite(truth["depth"][truth["mask"]]).all() and truth["mask"].any()
        assert "uv" not in truth


def test_demo_draws_the_character(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("moderngl")
    picture = tmp_path / "demo.png"
    assert run("demo", "-o", picture, "--size", "60x80", "--background", "#204060") == 0
    assert str(picture) in capsys.readouterr().out
    with image.open(picture) as opened:
        assert opened.size == (60, 80)
        assert opened.getpixel((0, 0)) == (0x20, 0x40, 0x60, 255)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("info", "missing.glb"), "'missing.glb': No such file or directory"),
        (("info", "empty.glb"), "empty.glb"),
        (("render", str(CHARACTER), "-o", "out.png", "--clip", "rnu"), "did you mean 'run'"),
        (("render", str(CHARACTER), "-o", "out.png", "--clip", "7"), "clip is 7; the model has clips 0 to 2"),
        (("render", str(CHARACTER), "-o", "no/such/folder/out.png"), "make the folder first"),
        (("curves", "still.skn", "-o", "out.png", "--joint", "a"), "'still.skn' has no clips"),
        (("explain", "still.skn", "--vertex", "0", "--clip", "0"), "clip is 0; the model has no clips"),
        (("demo", "-o", "out.png", "--clip", "3"), "clip is 3; the model has clips 0 to 2"),
        (("info", "large.obj", "--memory", "1"), "on the command line, with --memory MIB\n"),
        (("page", "empty.md2", "--up", "Z"), "leave out up"),
    ],
)
def test_bad_input_is_one_line_and_status_1(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    pytest.importorskip("moderngl")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.glb").touch()
    (tmp_path / "empty.md2").touch()
    triangles = (f"v {i} 0 0\nv {i} 1 0\nv {i} 0 1\nf -3 -2 -1\n" for i in range(10_000))
    (tmp_path / "large.obj").write_text("".join(triangles))
    still().save("still.skn")
    assert main(arguments) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("skinpy: ") and shown.err.count("\n") == 1 and words in shown.err
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "empty.glb",
        "empty.md2",
        "large.obj",
        "still.skn",
    ]


def test_a_load_that_takes_too_long_names_its_option(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error is made here: whether a real load is late depends on the machine's pace."""

    def late(path: object, **_: object) -> None:
        raise skinpy.LimitExceeded(f"{path}: late; more are allowed by limits=skinpy.Limits(seconds=...)")

    monkeypatch.setattr("skinpy.commands.loading.load", late)
    assert run("info", "a.glb") == 1
    assert capsys.readouterr().err.endswith("(seconds=...); on the command line, with --seconds S\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("demo", "--size", "640"), "'640' is not a size; expected WIDTHxHEIGHT, such as 640x480"),
        (("demo", "--size", "0x5"), "'0x5' is not a size; width and height must be 1 or more"),
        (("demo", "--time", "0,5"), "'0,5' is not a number; expected a number such as 0.5"),
        (("explain", "x.glb", "--vertex", "0.5"), "'0.5' is not a whole number"),
        (("info", "x.glb", "--memory", "0"), "'0' is not a count; expected a whole number, 1 or more"),
        (
            ("info", "x.glb", "--seconds", "-1"),
            "'-1' is not a time limit; expected a number of seconds above 0",
        ),
        (("info", "x.glb", "--up", "W"), "'W' is not an axis; expected +X, -X, +Y, -Y, +Z or -Z"),
        (
            ("info", "x.glb", "--allow", "a;b"),
            "'a;b' is not a format; expected a file extension, such as lws",
        ),
        (
            ("info", "x.glb", "--limit", "nodes"),
            "expected NAME=N, where NAME is file_bytes, nodes, depth, vertices or keys",
        ),
    ],
)
def test_usage_errors_say_what_is_expected(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert words in capsys.readouterr().err


def test_defaults_are_named_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    """As "(default 30)", not as a bare number in parentheses."""
    for name in (*COMMANDS, "demo"):
        with pytest.raises(SystemExit):
            main([name, "--help"])
        shown = re.sub(r"\s+", " ", capsys.readouterr().out)
        assert "(default" in shown and not re.search(r"\((?!default|\.)[^)]*\d\)", shown)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("fly",),
        ("render", "x.glb"),
        ("render", "x.glb", "-o", "o.png", "--size", "0x5"),
        ("render", "x.glb", "-o", "o.png", "--time", "0,5"),
        ("render", "x.glb", "-o", "o.png", "--crowd", "1000000000"),
        ("explain", "x.glb", "--vertex", "0.5"),
        ("info",),
        ("check", "x.glb", "--joints", "9" * 5000),
        ("info", "x.glb", "--allow", "a;b"),
        ("info", "x.glb", "--allow", ""),
        ("info", "x.glb", "--allow"),
        ("info", "x.glb", "--up", "W"),
        ("info", "x.glb", "--up", "-W"),
        ("info", "x.glb", "--up"),
        ("info", "x.glb", "--memory", "0"),
        ("info", "x.glb", "--memory", "1.5"),
        ("info", "x.glb", "--memory", str(2**43)),
        ("info", "x.glb", "--seconds", "0"),
        ("info", "x.glb", "--seconds", "-1"),
        ("info", "x.glb", "--seconds", "inf"),
        ("info", "x.glb", "--seconds", "nan"),
        ("info", "x.glb", "--seconds", "soon"),
        ("info", "x.glb", "--external", "some"),
        ("demo", "--up", "Z"),
    ],
)
def test_usage_is_status_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    shown = capsys.readouterr().err
    assert shown.startswith("skinpy: ") and shown.count("\n") == 1
    assert "usage:" in shown and " value: " not in shown  # argparse's own words for numbers


#: Values that are wrong for every file, by the name of the option.
WRONG_VALUES: dict[str, tuple[str, ...]] = {
    "allow": ("a;b", "", "."),
    "format": ("a;b", ""),
    "up": ("W", "", "+", "YY"),
    "memory": ("0", "-1", "1.5", "x", "9" * 5000),
    "seconds": ("0", "-1", "nan", "inf", "x"),
    "limit": ("nodes", "nodes=0", "bones=5", "keys=1e3", "=", "x"),
    "external": ("some", ""),
    "joints": ("0", "-1", "1.5", "x", "9" * 5000),
    "size": ("640", "0x5", "axb", "1x2x3", "9999999x5", ""),
    "fps": ("0", "-1", "nan", "inf", "x", ""),
    "time": ("nan", "inf", "-inf", "0,5", "x"),
    "speed": ("nan", "inf", "1e9", "x"),
    "loop": ("x", ""),
    "background": ("mauve-ish", "#12", "", "0.5"),
    "overlay": ("bones", "weights", "onion=x", "onion=-1", "skeleton=maybe", ""),
    "aov": ("dept", "", "DEPTH"),
    "crowd": ("0", "-1", "1.5", "x", "1000000000"),
    "max_error": ("-1", "nan", "inf", "x"),
    "frames": ("0", "-1", "1.5", "101", "x"),
    "vertex": ("-1", "0.5", "x", "9" * 5000),
    "output": ("out.xyz", "out", ".", ""),
    "plot": ("out.xyz", "out", ""),
    "pair": ("Hips", "=pelvis", ""),
    "picture": ("out.xyz", "out", ""),
    "source_pose": ("T", "nan", "inf", "0,5", ""),
    "target_pose": ("T", "0.5", ""),
    "to": ("fbx", ""),
    "unit": ("0", "-1", "nan", "cm"),
    "scale": ("0", "-1", "inf", "Auto"),
}
#: What only a file can tell to be wrong, and files that may be called as one likes.
FREE = {"clip", "scene", "joint", "target", "html", "joint_map"}
NEEDED = {
    "render": ("-o", "a.png"),
    "convert": ("-o", "a.glb"),
    "retarget": ("character", "-o", "a.glb"),
    "curves": ("-o", "a.png", "--joint", "0"),
    "explain": ("--vertex", "0"),
}


def valued_options() -> list[tuple[str, str, str]]:
    """The command, the flag and the name of every option that takes a value."""
    parser = skinpy.__main__._parser()
    (commands,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    return [
        (command, action.option_strings[-1], action.dest)
        for command, of_command in commands.choices.items()
        for action in of_command._actions
        if action.option_strings and action.nargs is None
    ]


@pytest.mark.parametrize(("command", "flag", "name"), valued_options())
def test_a_wrong_value_of_an_option_is_status_2(
    command: str, flag: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before a file is read: there is none. The line has the option, the value and what was expected."""
    pytest.importorskip("moderngl")
    pytest.importorskip("matplotlib")
    if name in FREE:
        return
    needed = list(NEEDED.get(command, ()))
    if flag in needed or flag == "--output":
        needed = [] if command != "curves" else ["--joint", "0"]
    for value in WRONG_VALUES[name]:
        file = [] if command == "demo" else ["missing.glb"]
        with pytest.raises(SystemExit) as stop:
            main([command, *file, *needed, f"{flag}={value}"])
        shown = capsys.readouterr().err
        assert stop.value.code == 2, shown
        assert shown.startswith("skinpy: ") and shown.count("\n") == 1 and len(shown) < 500
        assert flag in shown and (repr(value) in shown or len(value) > 100)
        assert re.search("expected|must|1 or more|choose from", shown), shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "out.gif", "--aov", "depth"), "one picture"),
        (("-o", "out.png", "--aov", "depth", "--crowd", "3"), "--crowd"),
        (("-o", "out.png", "--turntable"), "turntable is for films"),
        (("-o", "out.png", "--fps", "3"), "fps is for films"),
        (("-o", "out.webp", "--time", "0.3"), "time is 0.3"),
        (("-o", "out.webp", "--crowd", "3"), "--crowd draws a picture"),
        (("-o", "out.gif", "--fps", "60"), "at most 50 in .gif"),
        (("-o", "out.html", "--turntable"), "turntable is for pictures and films"),
        (("-o", "out.png", "--overlay", "influences", "--overlay", "weights=a"), "expected one of them"),
        (("-o", "out.png", "--overlay", "skeleton", "--crowd", "3"), "not a crowd"),
    ],
)
def test_options_that_do_not_go_together_are_status_2(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("moderngl")
    with pytest.raises(SystemExit) as stop:
        main(["render", "missing.glb", *arguments])
    shown = capsys.readouterr().err
    assert stop.value.code == 2 and shown.startswith("skinpy: ") and shown.count("\n") == 1 and words in shown


@pytest.mark.parametrize(
    ("command", "own"), [("page", "page.html"), ("sheet", "sheet.png"), ("demo", "character.png")]
)
def test_no_file_is_replaced_that_nobody_named(
    command: str,
    own: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("moderngl")
    monkeypatch.chdir(tmp_path)
    (tmp_path / own).write_text("mine")
    words = [command] if command == "demo" else [command, str(CHARACTER.with_name("crane.glb"))]
    assert main(words) == 1
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1 and own in shown and "--force" in shown
    assert (tmp_path / own).read_text() == "mine"
    assert main([*words, "-o", own]) == 0  # it is named
    assert (tmp_path / own).stat().st_size > 100
    (tmp_path / own).write_text("mine")
    assert main([*words, "--force"]) == 0
    assert (tmp_path / own).stat().st_size > 100
    (tmp_path / own).unlink()
    assert main(words) == 0


# ---- how a file is loaded ------------------------------------------------------------------------------


def test_a_format_is_allowed_by_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = tmp_path / "scene.lws"
    scene.write_bytes(lws())
    assert run("info", scene) == 1
    words = 'allow_formats=(*skinpy.DEFAULT_FORMATS, "lws"); on the command line, with --allow lws\n'
    assert capsys.readouterr().err.endswith(words)
    assert run("info", scene, "--allow", "lws") == 0
    assert run("info", scene, "--allow", "3mf", "--allow", ".LWS") == 0
    assert run("info", CHARACTER, "--allow", "lws") == 0  # it adds to what is read anyway


def test_a_format_is_named_by_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the file is called, also .md2, whose frames are otherwise looked at."""
    for name in ("character", "character.md2"):
        path = tmp_path / name
        path.write_bytes(Path(CHARACTER).read_bytes())
        assert run("info", path, "--format", "glb") == 0
        assert "'walk'" in capsys.readouterr().out
        assert run("page", path, "--format", ".GLB", "-o", tmp_path / "a.html", "--clip", "wave") == 0
    nothing = tmp_path / "nothing"
    nothing.write_bytes(b"some words")
    assert run("info", nothing) == 1
    words = 'pass format="..."; on the command line, with --format FORMAT\n'
    assert capsys.readouterr().err.endswith(words)


@pytest.mark.parametrize(
    ("words", "axis"),
    [(["--up", "+Z"], "+Z"), (["--up", "-Z"], "-Z"), (["--up=-x"], "-X"), (["--up", "z"], "+Z"), ([], "+Y")],
)
def test_the_axis_that_is_up(words: list[str], axis: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", CHARACTER, "--json", *words) == 0
    assert json.loads(capsys.readouterr().out)["up"] == axis


@pytest.mark.parametrize("name", ["file_bytes", "nodes", "depth", "vertices", "keys"])
def test_what_a_limit_refuses_its_error_tells_how_to_allow(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("info", CHARACTER, "--limit", f"{name}=1") == 1
    hint = re.search(rf"on the command line, with --limit ({name}=\d+)$", capsys.readouterr().err.strip())
    assert hint
    allowed = hint[1]
    while run("info", CHARACTER, "--limit", allowed):  # keys are counted clip by clip, say
        more = re.search(rf"--limit ({name}=\d+)$", capsys.readouterr().err.strip())
        assert more and more[1] != allowed
        allowed = more[1]


@pytest.mark.parametrize(
    "words", ["bones=5", "nodes", "nodes=", "nodes=0", "nodes=-1", "keys=1e3", f"keys={2**63}"]
)
def test_limits_that_are_none(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["info", str(CHARACTER), "--limit", words])
    assert ended.value.code == 2
    assert "--limit" in capsys.readouterr().err


def test_what_a_file_may_bring_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "above.mtl").write_text("newmtl red\n")
    (tmp_path / "below" / "beside.mtl").write_text("newmtl red\n")

    def refused(name: str, *words: str) -> bool:
        path = tmp_path / "below" / "model.obj"
        path.write_text(f"mtllib {name}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n")
        assert run("info", path, "--json", *words) == 0
        report = json.loads(capsys.readouterr().out)["report"]
        return "files_refused" in [entry["code"] for entry in report]

    assert refused("../above.mtl") and refused("../above.mtl", "--external", "folder")
    assert not refused("../above.mtl", "--external", "any")
    assert not refused("beside.mtl") and refused("beside.mtl", "--external", "none")


WAYS = ("--allow", "lws", "--up", "-Z", "--memory", "300", "--seconds", "7.5", "--limit", "keys=9")
WAYS += ("--limit", "depth=7", "--external", "none", "--format", "glb")
COMMANDS: dict[str, tuple[str, ...]] = {
    "info": (),
    "check": (),
    "render": ("-o", "out.png"),
    "view": (),
    "page": (),
    "sheet": (),
    "convert": ("-o", "out.glb"),
    "retarget": ("character", "-o", "out.glb"),
    "compare": (),
    "curves": ("-o", "out.png", "--joint", "0"),
    "explain": ("--vertex", "0"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_passes_on_how_to_load(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The call is looked at; what each option then does is for the tests of `load`."""
    pytest.importorskip("moderngl")
    asked: list[dict[str, object]] = []

    def look(path: object, **words: object) -> None:
        assert str(path) == "model.glb"
        asked.append(words)
        raise skinpy.LoadError("seen enough")

    monkeypatch.setattr("skinpy.commands.loading.load", look)
    monkeypatch.setattr("skinpy.view.source.load", look)
    assert run(name, "model.glb", *COMMANDS[name], *WAYS) == 1
    assert capsys.readouterr().err == "skinpy: seen enough\n"
    (words,) = asked
    assert words.pop("max_influences", 8) == 8
    assert words == {
        "allow_formats": (*skinpy.DEFAULT_FORMATS, "lws"),
        "format": "glb",
        "up": "-Z",
        "limits": skinpy.Limits(memory=300 << 20, seconds=7.5, keys=9, depth=7),
        "external": "none",
    }


def test_every_command_that_takes_a_file_is_among_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert {*re.findall(r"^    (\w+) ", capsys.readouterr().out, re.MULTILINE)} == {*COMMANDS, "demo"}


def test_a_page_of_a_file_that_is_loaded_in_its_own_way(tmp_path: Path) -> None:
    pytest.importorskip("moderngl")
    scene, page = tmp_path / "scene.lws", tmp_path / "scene.html"
    scene.write_bytes(lws())
    assert run("page", scene, "-o", page, "--allow", "lws", "--up", "Z") == 0
    assert page.read_text(encoding="utf-8").lstrip().startswith("<!")


def test_stored_frames_are_loaded_within_limits(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("moderngl")
    file = shared_data / "models" / "faerie.md2"
    shown: list[Any] = []
    monkeypatch.setattr("skinpy.view.show", lambda model, clip, **_: shown.append(clip))
    assert run("view", file, "--memory", "900", "--external", "none") == 0
    assert len(shown[0]) == 198
    assert run("view", file, "--seconds", "1e-5") == 1
    assert "--seconds S" in capsys.readouterr().err
    assert run("info", file, "--json", "--memory", "900", "--up", "Z") == 0
    assert json.loads(capsys.readouterr().out)["frames"] == 198


def test_a_window_loads_a_changed_file_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("moderngl")
    scene = tmp_path / "scene.lws"
    scene.write_bytes(lws())
    shown: list[Any] = []
    monkeypatch.setattr("skinpy.view.show", lambda model, clip, *, path, **_: shown.extend((model, path)))
    assert run("view", scene, "--allow", "lws", "--up", "Z") == 0
    model, source = shown
    assert model.up == "+Z" and model.clips[0].duration == 1 and not source.has_changed()
    scene.write_bytes(lws(keys=((0, 0), (1, 2), (2, 4))))
    assert [source.has_changed() for _ in range(3)] == [False, True, False]  # it has to stay the same once
    model, _ = source.load()
    assert model.up == "+Z" and model.clips[0].duration == 2 and not source.has_changed()


# ---- where it is run -----------------------------------------------------------------------------------


def test_one_of_a_thing_is_no_plural(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    still().save(tmp_path / "still.skn")
    assert run("info", tmp_path / "still.skn") == 0
    shown = capsys.readouterr().out
    assert "1 joint, root 'a', 1 palette slot\n" in shown
    assert "3 vertices, 1 face, 1 submesh, 1 influence per vertex\n" in shown


def test_a_terminal_without_all_letters(tmp_path: Path) -> None:
    path = tmp_path / "hé ro 日.glb"
    path.write_bytes(CHARACTER.read_bytes())
    command = [sys.executable, "-m", "skinpy", "info", str(path)]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert r"h\xe9 ro \u65e5.glb" in shown.stdout and "24 palette slots" in shown.stdout


#: Of Python's own: whether what is printed is written at once.
BUFFERING = pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])


@BUFFERING
def test_a_reader_that_has_seen_enough(unbuffered: str) -> None:
    """As in `skinpy info FILE --json | head`: no error, and no half a traceback at the end."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "skinpy", "info", str(CHARACTER), "--json"]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    ended = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, env=environment
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, "")


@BUFFERING
def test_nothing_can_be_printed_to_a_full_disk(unbuffered: str) -> None:
    command = [sys.executable, "-m", "skinpy", "info", str(CHARACTER)]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    words = "'standard output': No space left on device; make room on the disk, or choose another disk"
    assert (ended.returncode, ended.stderr) == (1, f"skinpy: {words}\n")


def test_as_a_module_and_as_a_command() -> None:
    command = [sys.executable, "-m", "skinpy", "--version"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == f"skinpy {skinpy.__version__}"
