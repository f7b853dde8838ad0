"""skinpy demo: draws the bundled character."""

from argparse import Namespace

from ..loading import character
from . import values
from .options import Commands, add_picture_options, chosen_clip
from .output import show
from .render import draw_clip

_PICTURE_TIME = 0.25  # seconds: a foot is in the air


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    help = "draw the bundled character"
    parser = commands.add_parser("demo", help=help, description=f"{help[:1].upper()}{help[1:]}.")
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
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Run the command."""
    from ..output.clip_file import kind_of

    if options.time is None and kind_of(options.output) == "picture":
        options.time = _PICTURE_TIME
    model = character()
    draw_clip(model, chosen_clip(model, options.clip), options)
    show(f"drew the bundled character to {options.output}")
