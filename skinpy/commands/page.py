"""skinpy page: writes one file that plays a model in any browser."""

from argparse import Namespace
from pathlib import Path

from . import values
from .loading import model_source
from .options import Commands, add_clips_option, add_command, add_output, choose_output, chosen_clips


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    help = "write one HTML file that plays a model in any browser"
    parser = add_command(
        commands, "page", run, help, "model file; of an .md2 file the stored frames are played"
    )
    add_output(parser, "PAGE", values.page_file, "file to write, .html or .htm", "page.html")
    add_clips_option(parser)
    parser.add_argument(
        "--fps", type=values.rate, default=30.0, metavar="N", help="stored frames per second (default 30)"
    )
    parser.add_argument(
        "--background",
        type=values.color,
        metavar="COLOR",
        help="background color such as '#204060' (default: light or dark, as the browser is set)",
    )
    parser.add_argument("--no-floor", action="store_true", help="hide the floor until the reader shows it")


def run(options: Namespace) -> None:
    """Run the command."""
    from ..view import save_page

    choose_output(options)
    model, frames = model_source(options).load()
    clips = chosen_clips(model, options.clip)
    save_page(
        options.output,
        model,
        frames if clips is None else clips,
        fps=options.fps,
        background=options.background,
        floor=not options.no_floor,
        title=Path(options.file).stem,
    )
