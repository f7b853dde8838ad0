"""skinpy sheet: draws every clip of a model as a row of frames."""

from argparse import Namespace

from . import values
from .loading import load_model
from .options import (
    Commands,
    add_clips_option,
    add_command,
    add_floor_option,
    add_output,
    choose_output,
    chosen_clips,
)


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    help = "draw every clip of a model as a row of frames with its name"
    parser = add_command(commands, "sheet", run, help)
    help = "picture to write; the file extension selects the format"
    add_output(parser, "PICTURE", values.picture_file, help, "sheet.png")
    add_clips_option(parser)
    parser.add_argument(
        "--frames", type=values.frames, default=8, metavar="N", help="frames in a row (default 8)"
    )
    parser.add_argument(
        "--size",
        type=values.frame_size,
        default=(120, 120),
        metavar="WxH",
        help="size of a frame in pixels (default 120x120)",
    )
    parser.add_argument(
        "--background",
        default="#ffffff",
        type=values.color_or_none,
        metavar="COLOR",
        help="background color such as '#204060', or 'none' for a transparent one (default #ffffff)",
    )
    add_floor_option(parser)


def run(options: Namespace) -> None:
    """Run the command."""
    from ..output import save_picture, sheet

    choose_output(options)
    model = load_model(options)
    picture = sheet(
        model,
        chosen_clips(model, options.clip),
        frames=options.frames,
        size=options.size,
        background=None if options.background == "none" else options.background,
        floor=options.floor,
    )
    save_picture(options.output, picture)
