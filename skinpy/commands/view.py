"""skinpy view: shows a model in a window."""

from argparse import Namespace

from . import values
from .loading import model_source
from .options import (
    Commands,
    add_clip_option,
    add_command,
    add_floor_option,
    add_overlay_option,
    chosen_clip,
    chosen_overlays,
)


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    help = "show a model in a window; press H there for the keys"
    parser = add_command(commands, "view", run, help, "model file; the window loads it again when it changes")
    add_clip_option(parser)
    parser.add_argument(
        "--size",
        type=values.size,
        default=(960, 720),
        metavar="WxH",
        help="size of the window in pixels (default 960x720)",
    )
    parser.add_argument(
        "--background",
        type=values.color,
        metavar="COLOR",
        help="background color such as '#204060' (default: light gray)",
    )
    parser.add_argument(
        "--speed",
        type=values.speed,
        default=1.0,
        metavar="N",
        help="playback speed in seconds of the clip per second; a negative speed plays backwards (default 1)",
    )
    parser.add_argument(
        "--loop",
        default="wrap",
        choices=("wrap", "pingpong", "clamp", "once"),
        metavar="MODE",
        help="what happens at the end of the clip: wrap, pingpong, clamp or once (default wrap)",
    )
    parser.add_argument("--paused", action="store_true", help="start paused")
    add_floor_option(parser)
    add_overlay_option(parser)


def run(options: Namespace) -> None:
    """Run the command."""
    from ..view import show
    from ..view.stage import BACKGROUND

    overlays = chosen_overlays(options)
    source = model_source(options)
    model, frames = source.load()
    show(
        model,
        frames if options.clip is None else chosen_clip(model, options.clip),
        size=options.size,
        path=source,
        background=BACKGROUND if options.background is None else options.background,
        speed=options.speed,
        loop=options.loop,
        playing=not options.paused,
        floor=options.floor,
        overlays=overlays,
    )
