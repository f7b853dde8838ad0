"""skinpy explain: follows one vertex from the keys of a clip to scene space."""

from argparse import Namespace

from ..files.whole import replacing
from . import values
from .loading import load_model
from .options import Commands, add_clip_option, add_command, chosen_clip
from .output import show


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    help = "follow one vertex from the keys to scene space, with all numbers"
    parser = add_command(commands, "explain", run, help)
    parser.add_argument(
        "--vertex", type=values.index, required=True, metavar="N", help="number of the vertex, from 0"
    )
    add_clip_option(parser)
    parser.add_argument(
        "--time", type=values.number, default=0.0, metavar="S", help="time in seconds of the clip (default 0)"
    )
    parser.add_argument("--html", metavar="PAGE", help="write the explanation to this file as HTML")


def run(options: Namespace) -> None:
    """Run the command."""
    model = load_model(options)
    clip = chosen_clip(model, options.clip)
    if clip is None and len(model.clips):
        clip = 0
    explanation = model.explain(options.vertex, clip, options.time)
    if options.html:
        with replacing(options.html) as page:
            page.write(explanation.html().encode("utf-8"))
    else:
        show(explanation)
