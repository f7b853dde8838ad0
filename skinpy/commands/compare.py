"""skinpy compare: shows what each kind of animation would store for a clip."""

from argparse import Namespace

from . import values
from .loading import load_model
from .options import Commands, add_clip_option, add_command, chosen_clip
from .output import show, show_json


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    help = "compare how many bytes each kind of animation needs for a clip"
    parser = add_command(commands, "compare", run, help)
    add_clip_option(parser)
    parser.add_argument(
        "--fps",
        type=values.rate,
        default=30.0,
        metavar="N",
        help="frames per second of the kinds that store whole frames (default 30)",
    )
    parser.add_argument(
        "--max-error",
        type=values.distance,
        metavar="DISTANCE",
        help="largest allowed error of a vertex in model units (default: 1e-4 of the model's size)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    help = "draw a chart to this file (needs matplotlib)"
    form.add_argument("--plot", type=values.plot_file, metavar="PICTURE", help=help)


def run(options: Namespace) -> None:
    """Run the command."""
    from ..storage import compare

    model = load_model(options)
    table = compare(model, chosen_clip(model, options.clip), fps=options.fps, max_error=options.max_error)
    if options.json:
        show_json(table.to_dict())
    elif options.plot:
        table.plot(options.plot)
    else:
        show(table)
