"""skinpy demo: draws the bundled character."""

from argparse import Namespace

from ..loading import character
from . import values
from .options import Commands, add_picture_options, add_plain_command, choose_output, chosen_clip
from .output import show
from .render import check_drawing, draw_clip

_PICTURE_TIME = 0.25  # seconds: a foot is in the air


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    help = "draw the bundled character"
    parser = add_plain_command(commands, "demo", run, help)
    add_picture_options(parser, output="character.png")
    parser.add_argument(
        "--clip",
        default="walk",
        metavar="CLIP",
        help="name or number of the clip: walk, run or wave (default walk)",
    )
    parser.add_argument(
        "--time",
        type=values.number,
        metavar="S",
        help=f"time of a picture in seconds of the clip (default {_PICTURE_TIME})",
    )


def run(options: Namespace) -> None:
    """Run the command."""
    from ..output.clip_file import kind_of

    choose_output(options)
    if options.time is None and kind_of(options.output) == "picture":
        options.time = _PICTURE_TIME
    check_drawing(options)
    model = character()
    draw_clip(model, chosen_clip(model, options.clip), options)
    show(f"drew the bundled character to {options.output}")
