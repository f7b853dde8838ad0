"""skinpy curves: draws the curves and keys of a joint or a morph target."""

from argparse import Namespace

from . import values
from .loading import load_model
from .options import (
    Commands,
    add_clip_option,
    add_command,
    add_output,
    chosen_clip,
    name_or_number,
)


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    help = "draw the curves and keys of a joint or a morph target (needs matplotlib)"
    parser = add_command(commands, "curves", run, help)
    add_clip_option(parser)
    curve = parser.add_mutually_exclusive_group(required=True)
    curve.add_argument("--joint", metavar="JOINT", help="name or number of the joint")
    curve.add_argument("--target", metavar="TARGET", help="name or number of the morph target")
    help = "picture to write; the file extension selects the format"
    add_output(parser, "PICTURE", values.plot_file, help)


def run(options: Namespace) -> None:
    """Run the command."""
    model = load_model(options)
    if not len(model.clips):
        raise ValueError(f"{options.file!r} has no clips; there are no curves to draw")
    clip = model.clips[chosen_clip(model, options.clip) or 0]
    targets = [target.name for target in model.targets]
    joint, target = (
        name_or_number(options.joint, model.skeleton.names),
        name_or_number(options.target, targets),
    )
    clip.plot(joint, options.output, target=target)
