"""skinpy render: draws a picture, a film, a page, a crowd, or a picture with ground truth."""

from argparse import Namespace
from pathlib import Path

import numpy as np

from ..model import Model
from . import values
from .loading import load_model
from .options import (
    Commands,
    UsageError,
    add_clip_option,
    add_command,
    add_picture_options,
    chosen_clip,
    chosen_overlays,
    usage,
)

#: Multiples of the golden ratio, modulo 1, put neighbors far apart, and no two instances at one time.
_GOLDEN_RATIO = 0.6180339887498949


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "render", run, "draw a picture, a film or a page of a model")
    add_picture_options(parser, output=None)
    add_clip_option(parser)
    parser.add_argument(
        "--time", type=values.number, metavar="S", help="time of a picture in seconds of the clip (default 0)"
    )
    parser.add_argument(
        "--crowd",
        type=values.instances,
        metavar="N",
        help="draw N instances on a grid, each at its own time; they play all clips in turn, or --clip",
    )
    parser.add_argument(
        "--aov",
        action="append",
        type=values.layer,
        metavar="NAME",
        help="also write ground truth to an .npz file beside the picture: depth, normal, joint, uv, flow, "
        "position, submesh, material, face or barycentric; may be repeated",
    )


def run(options: Namespace) -> None:
    """Run the command."""
    _check_options(options)
    model = load_model(options)
    clip = chosen_clip(model, options.clip)
    if options.aov:
        _draw_truth(model, clip, options)
    elif options.crowd is not None:
        _draw_crowd(model, clip, options)
    else:
        draw_clip(model, clip, options)


def draw_clip(model: Model, clip: str | int | None, options: Namespace) -> None:
    """Draw a clip into `options.output`, whose file extension selects picture, film or page."""
    from ..output import save_clip

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
        overlays=chosen_overlays(options),
    )


def check_drawing(options: Namespace) -> None:
    """Check the options of `draw_clip`, before anything is loaded."""
    from ..output.clip_file import check_arguments

    with usage():
        check_arguments(Path(options.output), options.time, options.fps, options.turntable, None)
    chosen_overlays(options)


def _check_options(options: Namespace) -> None:
    if options.aov and (not _is_one_picture(options) or options.crowd is not None):
        raise UsageError(
            "--aov goes with one picture of one model; expected -o with .png, .jpg, .tif or .bmp, and none "
            "of --crowd, --fps and --turntable"
        )
    if options.crowd is not None and not _is_one_picture(options):
        raise UsageError(
            "--crowd draws a picture; expected -o with .png, .jpg, .tif or .bmp, and neither --fps nor "
            "--turntable"
        )
    if options.crowd is not None and options.overlay:
        raise UsageError("--overlay explains one model, not a crowd; leave out --crowd or --overlay")
    check_drawing(options)


def _is_one_picture(options: Namespace) -> bool:
    from ..output.clip_file import kind_of

    return kind_of(options.output) == "picture" and not options.turntable and options.fps is None


def _draw_truth(model: Model, clip: str | int | None, options: Namespace) -> None:
    from ..output import save_picture
    from ..render import Renderer

    with Renderer(model, size=options.size, background=options.background, floor=options.floor) as renderer:
        truth = renderer.render(clip, options.time or 0.0, aov=options.aov, overlays=chosen_overlays(options))
    save_picture(options.output, truth.picture)
    truth.save(Path(options.output).with_suffix(".npz"))


def _draw_crowd(model: Model, clip: str | int | None, options: Namespace) -> None:
    from ..output import save_picture
    from ..render import Crowd, grid

    clips = list(model.clips) if clip is None else [model.clips[clip]]
    number = np.arange(options.crowd)
    index = number % max(len(clips), 1)
    durations = np.array([one.duration for one in clips] or [0.0])
    time = (options.time or 0.0) + number * _GOLDEN_RATIO % 1.0 * durations[index]
    instances = grid(model, options.crowd)
    with Crowd(
        model, instances, clips=clips, size=options.size, background=options.background, floor=options.floor
    ) as crowd:
        save_picture(options.output, crowd.frame(index, time))
