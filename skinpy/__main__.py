"""The command line: skinpy info, check, render, view, page, sheet, compare, curves, explain, demo.

Exit status 0, 1 bad input, 2 usage, 130 Ctrl-C.
"""

import argparse
import io
import json
import math
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import Clip, Model, VertexAnimation, __version__, _core, build_info, character, check, load
from ._block import AXES
from .errors import LoadError, SkinpyError, SkinpyWarning
from .files.series import has_frames
from .files.whole import replacing
from .limits import DEFAULT_FORMATS, Limits, allowed_formats

if TYPE_CHECKING:
    from .view.source import Source

__all__ = ["main"]

_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_GOLDEN = 0.6180339887498949
_MOST_DIGITS = 20  # of a count: Python refuses to read numbers of some thousand digits
_MOST_MEBIBYTES = (2**63 - 1) >> 20
_MOST_INSTANCES = 1_000_000  # of a crowd: their palettes take memory long before a picture shows them


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status. Errors take one line on standard error."""
    options = _parser().parse_args(_joined(sys.argv[1:] if arguments is None else arguments))
    _write_all_names()
    with warnings.catch_warnings():
        # What was lost is part of what `info` shows, and one line elsewhere.
        warnings.simplefilter("always", SkinpyWarning)
        warnings.showwarning = _show_warning
        try:
            status = options.run(options)
            if sys.stdout is not None:
                sys.stdout.flush()
        except KeyError as error:
            return _fail(error.args[0])
        except BrokenPipeError:  # whoever reads has seen enough, as `head` does
            _settle_output()
            return 0
        except (SkinpyError, OSError, ValueError, IndexError, ImportError, MemoryError) as error:
            _settle_output()
            return _fail(error if str(error) else type(error).__name__)
        except KeyboardInterrupt:
            return 130
    return status or 0


def _settle_output() -> None:
    """What is left of standard output Python writes when it ends, and fails once more where it cannot."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _joined(words: Sequence[str]) -> list[str]:
    """`--up -Z` as `--up=-Z`: argparse takes what begins with a minus for an option."""
    joined: list[str] = []
    for word in words:
        if joined[-1:] == ["--up"] and len(word) == 2 and word[0] == "-":
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _write_all_names() -> None:
    """Let a terminal that has not all letters show names with others by their numbers."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _fail(error: object) -> int:
    message = _with_hint(error) if isinstance(error, LoadError) else error
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        message = f"{os.fsdecode(error.filename)!r}: {error.strerror}"
    print(f"skinpy: {' '.join(str(message).split())}", file=sys.stderr)
    return 1


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"skinpy: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _size(words: str) -> tuple[int, int]:
    try:
        width, height = (int(word) for word in words.lower().split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{words!r} is no size; expected WIDTHxHEIGHT, such as 640x480"
        ) from None
    if width < 1 or height < 1:
        raise argparse.ArgumentTypeError(f"{words!r} is no size: both numbers must be positive")
    return width, height


def _count(words: str, most: int = 2**63 - 1, unit: str = "") -> int:
    if not words.isdecimal() or not words.strip("0"):
        raise argparse.ArgumentTypeError(f"{words!r} is no count; expected 1 or more")
    count = int(words) if len(words) <= _MOST_DIGITS else most + 1
    if count > most:
        raise argparse.ArgumentTypeError(f"{words!r} is too much; expected 1 to {most}{unit}")
    return count


def _number(words: str) -> float:
    try:
        return float(words)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{words!r} is no number; expected one such as 0.5") from None


def _whole(words: str) -> int:
    try:
        return int(words)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{words!r} is no whole number") from None


def _crowd(words: str) -> int:
    return _count(words, _MOST_INSTANCES)


def _suffix(words: str) -> str:
    try:
        allowed_formats((words,), True)
    except (TypeError, ValueError):
        raise argparse.ArgumentTypeError(
            f"{words!r} is no format; expected the suffix of its files, such as lws"
        ) from None
    return words


def _axis(words: str) -> str:
    axis = words.upper() if words[:1] in ("+", "-") else f"+{words.upper()}"
    if axis not in AXES:
        raise argparse.ArgumentTypeError(f"{words!r} is no axis; expected +X, -X, +Y, -Y, +Z or -Z")
    return axis


def _mebibytes(words: str) -> int:
    """In bytes."""
    return _count(words, _MOST_MEBIBYTES, " MiB") << 20


#: Of `Limits`, what is counted; the others have options of their own.
_COUNTED = tuple(field.name for field in fields(Limits) if field.name not in ("memory", "seconds"))


def _limit(words: str) -> tuple[str, int]:
    name, _, number = words.partition("=")
    if name not in _COUNTED or not number:
        raise argparse.ArgumentTypeError(f"{words!r} is no limit; expected {', '.join(_COUNTED)}, and =N")
    return name, _count(number)


def _seconds(words: str) -> float:
    seconds = _number(words)
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{words!r} is no time to wait; expected seconds, more than 0")
    return seconds


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="skinpy", description="Animated 3D characters: what is in a file, and how it looks."
    )
    parser.add_argument("--version", action="version", version=f"skinpy {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (
        *(_add_info, _add_check, _add_render, _add_view, _add_page, _add_sheet),
        *(_add_compare, _add_curves, _add_explain, _add_demo),
    ):
        add(commands)
    return parser


def _command(
    commands: _Commands, name: str, run: Callable[[argparse.Namespace], int | None], help: str, file: str
) -> argparse.ArgumentParser:
    """A command that loads a file."""
    parser = commands.add_parser(name, help=help)
    parser.add_argument("file", help=file)
    _add_loading_options(parser)
    parser.set_defaults(run=run)
    return parser


def _add_one_clip_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clip", help="name or number of the clip (the first)")


def _add_clips_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clip", action="append", help="name or number of a clip; may be repeated (all)")


def _add_picture_options(parser: argparse.ArgumentParser, output: str | None) -> None:
    shown = "a picture (.png, .jpg, .tif, .bmp), a film (.apng, .gif, .webp, .mp4) or a page (.html)"
    shown += f", by its suffix ({output})" if output else ", by its suffix"
    parser.add_argument("-o", "--output", required=output is None, default=output, metavar="FILE", help=shown)
    parser.add_argument("--fps", type=_number, help="of a film: frames per second (30)")
    parser.add_argument("--turntable", action="store_true", help="of a film: go once round the model")
    parser.add_argument("--size", type=_size, default=(640, 480), metavar="WxH", help="pixels (640x480)")
    parser.add_argument("--background", help="a color such as '#ffffff' (transparent)")
    _add_overlay_options(parser)


def _add_overlay_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--floor", action="store_true", help="put a floor under it that moves with its steps")
    parser.add_argument(
        "--overlay",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="draw what explains it: skeleton, names, axes, rest, boxes, normals, wireframe, influences, "
        "weights=JOINT, onion=N or trajectories=JOINT; may be repeated",
    )


# ---- loading -----------------------------------------------------------------------------------------


def _add_loading_options(parser: argparse.ArgumentParser) -> None:
    loading = parser.add_argument_group(
        "loading", "Of these, only --limit applies to a saved .skn (but for depth)."
    )
    loading.add_argument(
        "--allow",
        action="append",
        type=_suffix,
        metavar="FORMAT",
        help="also read this format, by its suffix, such as lws; may be repeated",
    )
    loading.add_argument(
        "--format", type=_suffix, metavar="FORMAT", help="read it as this format, whatever it is called"
    )
    loading.add_argument(
        "--up", type=_axis, metavar="AXIS", help="the axis that is up, +X to -Z, where the file is wrong"
    )
    loading.add_argument(
        "--memory", type=_mebibytes, metavar="MIB", help="the most that the import may take (1024)"
    )
    loading.add_argument("--seconds", type=_seconds, metavar="S", help="the most for the import (30)")
    loading.add_argument(
        "--limit",
        action="append",
        type=_limit,
        metavar="NAME=N",
        help="the most of file_bytes, nodes, depth, vertices or keys; may be repeated",
    )
    loading.add_argument(
        "--external",
        choices=("folder", "none", "any"),
        help="which other files it may bring in: of its own folder and below, none, or any (folder)",
    )


def _loading(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments of skinpy.load, for what the command line says."""
    wanted: dict[str, Any] = {}
    if options.allow:
        wanted["allow_formats"] = (*DEFAULT_FORMATS, *options.allow)
    limits: dict[str, Any] = dict(options.limit or ())
    if options.memory:
        limits["memory"] = options.memory
    if options.seconds:
        limits["seconds"] = options.seconds
    if limits:
        wanted["limits"] = Limits(**limits)
    for name in ("format", "up", "external"):
        if getattr(options, name):
            wanted[name] = getattr(options, name)
    return wanted


def _load(options: argparse.Namespace) -> Model:
    return load(options.file, **_loading(options))


def _source(options: argparse.Namespace) -> "Source":
    """The file as a window and a page have it: stored frames are played, a change is seen."""
    from .view.source import Source

    return Source(options.file, **_loading(options))


#: How an error says what would help in Python, and what does so here.
_HELP = (
    (re.compile(r'allow_formats=\(\*skinpy\.DEFAULT_FORMATS, "([^"]+)"\)'), "--allow {}"),
    (re.compile(r'format="\.\.\."'), "--format FORMAT"),
    (re.compile(r"limits=skinpy\.Limits\(memory="), "--memory MIB"),
    (re.compile(r"limits=skinpy\.Limits\(seconds="), "--seconds S"),
    (re.compile(rf"limits=skinpy\.Limits\(((?:{'|'.join(_COUNTED)})=\d+)\)"), "--limit {}"),
)


def _with_hint(error: LoadError) -> str:
    for pattern, option in _HELP:
        found = pattern.search(str(error))
        if found:
            return f"{error}; on the command line, with {option.format(*map(shlex.quote, found.groups()))}"
    return str(error)


# ---- info --------------------------------------------------------------------------------------------


def _add_info(commands: _Commands) -> None:
    help = "show joints, mesh, clips and what was repaired"
    file = "a model file, or 'build' for what this skinpy was built with"
    parser = _command(commands, "info", _run_info, help, file)
    parser.add_argument("--json", action="store_true", help="as JSON")


def _run_info(options: argparse.Namespace) -> None:
    if options.file == "build":
        facts = build_info()
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkinpyWarning)
            facts = _facts(_load(options))
            facts["frames"] = _stored_frames(options)
    if options.json:
        print(json.dumps(facts, indent=2))
    elif options.file == "build":
        for name, value in facts.items():
            print(f"{name:20} {' '.join(value) if isinstance(value, list) else value}")
    else:
        _print_facts(options.file, facts)


def _clean(name: str) -> str:
    """`name` as it can be printed and put into JSON: bytes that are not UTF-8 become U+FFFD."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


_NOT_MOVED = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def _stored_frames(options: argparse.Namespace) -> int:
    """Full frames of vertices in a file of such a format, else 0."""
    if options.format or not has_frames(options.file):
        return 0
    wanted = _loading(options)
    wanted.pop("up", None)  # which changes their number in no way
    return len(VertexAnimation.load(options.file, **wanted))


def _kinds(facts: dict[str, Any]) -> list[str]:
    """A few words for each kind of animation that a file has."""
    clips = [clip["kind"] for clip in facts["clips"]]
    counts = [
        (facts["moved_textures"], "material", " with moved texture coordinates (uv)"),
        (facts["frames"], "stored frame", " (vertex)"),
        (len(facts["targets"]), "morph target", " (keyed)"),
        (clips.count("keyed"), "clip", " of their weights (keyed)"),
        (clips.count("rigid"), "clip", " of rigid parts (rigid)"),
        (clips.count("skinned"), "clip", " of joints (skinned)"),
    ]
    return [f"{_many(count, what)}{more}" for count, what, more in counts if count] or ["none"]


def _many(count: int, what: str) -> str:
    """ "1 clip", "2 clips", "0 vertices"."""
    plural = {"vertex": "vertices", "submesh": "submeshes"}.get(what, f"{what}s")
    return f"{count} {what if count == 1 else plural}"


def _facts(model: Model) -> dict[str, Any]:
    low, high = model.bounds().tolist()
    return {
        "joints": [_clean(name) for name in model.skeleton.names],
        "parents": model.skeleton.parents.tolist(),
        "slots": len(model.skin),
        "vertices": len(model.mesh.positions),
        "faces": len(model.mesh.faces),
        "influences": model.mesh.slots.shape[1],
        "submeshes": [_clean(submesh.name) for submesh in model.mesh.submeshes],
        "materials": [_clean(material.name) for material in model.materials],
        "targets": [_clean(target.name) for target in model.targets],
        "moved_textures": sum(material.uv_transform != _NOT_MOVED for material in model.materials),
        "textures": sum(material.texture is not None for material in model.materials),
        "up": model.up,
        "unit_meters": model.unit_meters,
        "bounds": [low, high],
        "clips": [_clip_facts(clip) for clip in model.clips],
        "report": [
            {
                "code": entry.code,
                "severity": entry.severity,
                "count": entry.count,
                "first": _clean(entry.first),
                "message": _clean(entry.message),
            }
            for entry in model.report
        ],
    }


def _clip_facts(clip: Clip) -> dict[str, Any]:
    channels = clip.channels
    return {
        "name": _clean(clip.name),
        "kind": clip.kind,
        "duration": clip.duration,
        "ticks_per_second": clip.ticks_per_second,
        "channels": len(channels),
        "keys": sum(len(channel.times) for channel in channels),
        "interpolations": sorted({channel.interpolation for channel in channels}),
        "nbytes": clip.nbytes,
    }


def _print_facts(file: str, facts: dict[str, Any]) -> None:
    (x0, y0, z0), (x1, y1, z1) = facts["bounds"]
    unit = f", 1 unit = {facts['unit_meters']:g} m" if facts["unit_meters"] else ""
    print(file)
    print(
        f"  skeleton  {_many(len(facts['joints']), 'joint')}, root {facts['joints'][0]!r}, "
        f"{_many(facts['slots'], 'palette slot')}"
    )
    print(
        f"  mesh      {_many(facts['vertices'], 'vertex')}, {_many(facts['faces'], 'face')}, "
        f"{_many(len(facts['submeshes']), 'submesh')}, "
        f"{_many(facts['influences'], 'influence')} a vertex"
    )
    print(f"  look      {_many(len(facts['materials']), 'material')}, {facts['textures']} with a texture")
    print(f"  space     {facts['up']} is up{unit}; rest pose {x1 - x0:.4g} x {y1 - y0:.4g} x {z1 - z0:.4g}")
    print(f"  kinds     {', '.join(_kinds(facts))}")
    for clip in facts["clips"]:
        print(
            f"  clip      {clip['name']!r}: {clip['duration']:.3f} s, {_many(clip['channels'], 'channel')}, "
            f"{_many(clip['keys'], 'key')} ({', '.join(clip['interpolations'])}), {clip['nbytes']} bytes"
        )
    for entry in facts["report"]:
        print(f"  {entry['severity']:9} {entry['message']} ({entry['count']}x, first: {entry['first']})")


# ---- check -------------------------------------------------------------------------------------------


def _add_check(commands: _Commands) -> None:
    help = "look for what is wrong with an animated file"
    parser = _command(commands, "check", _run_check, help, "a model file")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--joints", type=_count, metavar="N", help="joints that the target holds (any number)"
    )


def _run_check(options: argparse.Namespace) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkinpyWarning)  # the findings say it
        # With as many influences as there may be, so that what fewer cost can be measured.
        model = load(options.file, max_influences=_core.MAX_INFLUENCES, **_loading(options))
    findings = check(model, joints=options.joints)
    if options.json:
        print(json.dumps({"file": _clean(options.file)} | findings.to_dict(), indent=2))
    else:
        print(findings)
    return int(bool(findings.errors))


# ---- pictures ------------------------------------------------------------------------------------------


def _add_render(commands: _Commands) -> None:
    help = "draw a picture, a film or a page of a model"
    parser = _command(commands, "render", _run_render, help, "a model file")
    _add_picture_options(parser, output=None)
    _add_one_clip_option(parser)
    parser.add_argument("--time", type=_number, help="of a picture: seconds within the clip (0)")
    parser.add_argument(
        "--crowd",
        type=_crowd,
        metavar="N",
        help="draw N instances on a grid, each at a time of its own, in turn with all clips or with --clip",
    )
    parser.add_argument(
        "--aov",
        action="append",
        metavar="NAME",
        help="also write ground truth beside the picture, as .npz: depth, normal, joint, uv, flow, position, "
        "submesh, material, face or barycentric; may be repeated",
    )


def _run_render(options: argparse.Namespace) -> None:
    model = _load(options)
    clip = _clip_of(model, options.clip)
    if options.aov:
        _draw_truth(model, clip, options)
    elif options.crowd is None:
        _draw(model, clip, options)
    else:
        _draw_crowd(model, clip, options)


def _clip_of(model: Model, words: str | None) -> str | int | None:
    return None if words is None else _named(model, words)


def _named(model: Model, words: str) -> str | int:
    """A clip's name, or its number where no clip has that name."""
    if words not in model.clips and words.lstrip("-").isdigit():
        return int(words)
    return words


def _add_demo(commands: _Commands) -> None:
    parser = commands.add_parser("demo", help="draw the bundled character")
    _add_picture_options(parser, output="character.png")
    parser.add_argument("--clip", default="walk", help="walk, run or wave, or its number (walk)")
    parser.add_argument("--time", type=_number, help="of a picture: seconds within the clip (0.25)")
    parser.set_defaults(run=_run_demo)


def _run_demo(options: argparse.Namespace) -> None:
    from .output.clip_file import kind_of

    if options.time is None and kind_of(options.output) == "picture":
        options.time = 0.25  # a foot is in the air
    model = character()
    _draw(model, _clip_of(model, options.clip), options)
    print(f"drew the bundled character to {options.output}")


def _add_view(commands: _Commands) -> None:
    help = "show a model in a window (H shows the keys)"
    file = "a model file; it is loaded again whenever it changes"
    parser = _command(commands, "view", _run_view, help, file)
    _add_one_clip_option(parser)
    parser.add_argument(
        "--size", type=_size, default=(960, 720), metavar="WxH", help="of the window (960x720)"
    )
    parser.add_argument("--background", help="a color such as '#204060' (a light gray)")
    parser.add_argument("--speed", type=_number, default=1.0, help="seconds of the clip per second (1)")
    parser.add_argument("--loop", default="wrap", help="wrap, pingpong, clamp or once (wrap)")
    parser.add_argument("--paused", action="store_true", help="do not play at once")
    _add_overlay_options(parser)


def _run_view(options: argparse.Namespace) -> None:
    from .render import Overlays
    from .view import show
    from .view.stage import BACKGROUND

    source = _source(options)
    model, frames = source.load()
    show(
        model,
        frames if options.clip is None else _named(model, options.clip),
        size=options.size,
        path=source,
        background=BACKGROUND if options.background is None else options.background,
        speed=options.speed,
        loop=options.loop,
        playing=not options.paused,
        floor=options.floor,
        overlays=Overlays.parse(options.overlay),
    )


def _add_page(commands: _Commands) -> None:
    help = "make one file that plays a model in any browser"
    parser = _command(commands, "page", _run_page, help, "a model file, or .md2 for its frames")
    parser.add_argument(
        "-o", "--output", default="page.html", metavar="PAGE", help=".html or .htm (page.html)"
    )
    _add_clips_option(parser)
    parser.add_argument("--fps", type=_number, default=30.0, help="baked frames per second (30)")
    parser.add_argument(
        "--background", help="a color such as '#204060' (light or dark, as the reader has it)"
    )
    parser.add_argument(
        "--no-floor", action="store_true", help="leave it to the reader to bring in the floor"
    )


def _run_page(options: argparse.Namespace) -> None:
    from .view import save_page
    from .view.page import check_suffix

    check_suffix(options.output)
    model, frames = _source(options).load()
    named = None if options.clip is None else [_named(model, words) for words in options.clip]
    save_page(
        options.output,
        model,
        frames if named is None else named,
        fps=options.fps,
        background=options.background,
        floor=not options.no_floor,
        title=Path(options.file).stem,
    )


def _add_sheet(commands: _Commands) -> None:
    help = "draw every clip of a model as a row of frames with its name"
    parser = _command(commands, "sheet", _run_sheet, help, "a model file")
    parser.add_argument(
        "-o",
        "--output",
        default="sheet.png",
        metavar="PICTURE",
        help="its suffix says the format (sheet.png)",
    )
    _add_clips_option(parser)
    parser.add_argument("--frames", type=_whole, default=8, metavar="N", help="in a row (8)")
    parser.add_argument("--size", type=_size, default=(120, 120), metavar="WxH", help="of a frame (120x120)")
    parser.add_argument(
        "--background", default="#ffffff", help="a color such as '#204060', or 'none' (#ffffff)"
    )
    parser.add_argument("--floor", action="store_true", help="put a floor under it that moves with its steps")


def _run_sheet(options: argparse.Namespace) -> None:
    from .output import save_picture, sheet
    from .output.picture import check_format

    check_format(Path(options.output).suffix)
    model = _load(options)
    picture = sheet(
        model,
        None if options.clip is None else [_named(model, words) for words in options.clip],
        frames=options.frames,
        size=options.size,
        background=None if options.background == "none" else options.background,
        floor=options.floor,
    )
    save_picture(options.output, picture)


def _draw(model: Model, clip: str | int | None, options: argparse.Namespace) -> None:
    from .output import save_clip
    from .render import Overlays

    save_clip(
        options.output,
        model,
        clip,
        time=options.time,
        fps=options.fps,
        size=options.size,
        turntable=options.turntable,
        background=options.background,
        floor=options.floor,
        overlays=Overlays.parse(options.overlay),
    )


def _draw_truth(model: Model, clip: str | int | None, options: argparse.Namespace) -> None:
    from .output import save_picture
    from .output.clip_file import kind_of
    from .output.picture import check_format
    from .render import Overlays, Renderer

    film = options.turntable or options.fps is not None
    if kind_of(options.output) != "picture" or film or options.crowd is not None:
        raise ValueError(
            "--aov goes with one picture of one model; expected -o with .png, .jpg, .tif or .bmp, "
            "without --crowd and options of films"
        )
    check_format(Path(options.output).suffix)
    with Renderer(model, size=options.size, background=options.background, floor=options.floor) as renderer:
        truth = renderer.render(
            clip, options.time or 0.0, aov=options.aov, overlays=Overlays.parse(options.overlay)
        )
    save_picture(options.output, truth.picture)
    truth.save(Path(options.output).with_suffix(".npz"))


def _draw_crowd(model: Model, clip: str | int | None, options: argparse.Namespace) -> None:
    from .output import save_picture
    from .output.clip_file import kind_of
    from .render import Crowd, grid

    if kind_of(options.output) != "picture" or options.turntable or options.fps is not None:
        raise ValueError(
            "--crowd draws a picture; expected -o with .png, .jpg, .tif or .bmp and no options of films"
        )
    if options.overlay:
        raise ValueError("--overlay explains one model, not a crowd; leave out --crowd or --overlay")
    clips = list(model.clips) if clip is None else [model.clips[clip]]
    number = np.arange(options.crowd)
    index = number % max(len(clips), 1)
    durations = np.array([one.duration for one in clips] or [0.0])
    # Multiples of the golden ratio: neighbors are far apart in time, and no two instances are at the same.
    time = (options.time or 0.0) + number * _GOLDEN % 1.0 * durations[index]
    places = grid(model, options.crowd)
    with Crowd(
        model, places, clips=clips, size=options.size, background=options.background, floor=options.floor
    ) as crowd:
        save_picture(options.output, crowd.frame(index, time))


# ---- storage -------------------------------------------------------------------------------------------


def _add_compare(commands: _Commands) -> None:
    help = "what each kind of animation would store for a clip"
    parser = _command(commands, "compare", _run_compare, help, "a model file")
    _add_one_clip_option(parser)
    parser.add_argument("--fps", type=_number, default=30.0, help="frames per second of full frames (30)")
    parser.add_argument(
        "--max-error", type=_number, metavar="DISTANCE", help="allowed, in model units (1e-4 of the size)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON")
    form.add_argument("--plot", metavar="PICTURE", help="draw it to a file (needs matplotlib)")


def _run_compare(options: argparse.Namespace) -> None:
    from .storage import compare

    model = _load(options)
    table = compare(model, _clip_of(model, options.clip), fps=options.fps, max_error=options.max_error)
    if options.json:
        facts = table.to_dict()
        print(json.dumps(facts | {"clip": _clean(table.clip)}, indent=2))
    elif options.plot:
        table.plot(options.plot)
    else:
        print(table)


# ---- curves --------------------------------------------------------------------------------------------


def _add_curves(commands: _Commands) -> None:
    help = "draw the curves and keys of a joint (needs matplotlib)"
    parser = _command(commands, "curves", _run_curves, help, "a model file")
    _add_one_clip_option(parser)
    mover = parser.add_mutually_exclusive_group(required=True)
    mover.add_argument("--joint", help="name or number of the joint")
    mover.add_argument("--target", help="name or number of a morph target")
    parser.add_argument("-o", "--output", required=True, metavar="PICTURE", help="its suffix says the format")


def _run_curves(options: argparse.Namespace) -> None:
    model = _load(options)
    if not len(model.clips):
        raise ValueError(f"{_clean(options.file)!r} has no clips; there are no curves to draw")
    clip = model.clips[_clip_of(model, options.clip) or 0]
    targets = [target.name for target in model.targets]
    joint, target = _place(options.joint, model.skeleton.names), _place(options.target, targets)
    clip.plot(joint, options.output, target=target)


def _place(words: str | None, names: Sequence[str]) -> str | int | None:
    """A name, or a number where nothing has that name."""
    if words is not None and words not in names and words.isdecimal():
        return int(words)
    return words


# ---- one vertex ----------------------------------------------------------------------------------------


def _add_explain(commands: _Commands) -> None:
    help = "one vertex from the keys to scene space, by numbers"
    parser = _command(commands, "explain", _run_explain, help, "a model file")
    parser.add_argument("--vertex", type=_whole, required=True, metavar="N", help="number of the vertex")
    _add_one_clip_option(parser)
    parser.add_argument("--time", type=_number, default=0.0, help="seconds within the clip (0)")
    parser.add_argument("--html", metavar="PAGE", help="write it to a file, as HTML")


def _run_explain(options: argparse.Namespace) -> None:
    model = _load(options)
    clip = _clip_of(model, options.clip)
    if clip is None and len(model.clips):
        clip = 0
    explanation = model.explain(options.vertex, clip, options.time)
    if options.html:
        with replacing(options.html) as page:
            page.write(explanation.html().encode("utf-8"))
    else:
        print(explanation)


if __name__ == "__main__":
    sys.exit(main())
