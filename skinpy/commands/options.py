"""The options that several commands share, and what they select in a model."""

import errno
import os
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from ..model import Model
from . import values
from .loading import add_loading_options

if TYPE_CHECKING:
    from ..render import Overlays

Commands: TypeAlias = "_SubParsersAction[ArgumentParser]"


def add_command(
    commands: Commands, name: str, run: Callable[[Namespace], int | None], help: str, file: str = "model file"
) -> ArgumentParser:
    """Add a command that loads a file; `file` is the help of its argument."""
    parser = add_plain_command(commands, name, run, help)
    parser.add_argument("file", metavar="FILE", help=file)
    add_loading_options(parser)
    return parser


def add_plain_command(
    commands: Commands, name: str, run: Callable[[Namespace], int | None], help: str
) -> ArgumentParser:
    """Add a command that loads no file."""
    parser = commands.add_parser(name, help=help, description=f"{help[:1].upper()}{help[1:]}.")
    parser.set_defaults(run=run, fail=parser.error)
    return parser


def add_output(
    parser: ArgumentParser, metavar: str, type: Callable[[str], str], help: str, default: str | None = None
) -> None:
    """Add -o. With a name that the command gives by itself there is --force too; None makes -o required."""
    help = f"{help} (default {default})" if default else help
    parser.add_argument("-o", "--output", required=default is None, type=type, metavar=metavar, help=help)
    parser.set_defaults(own_output=default)
    if default:
        parser.add_argument("--force", action="store_true", help=f"replace {default} if it exists")


def choose_output(options: Namespace) -> None:
    """Give the output the command's own name where -o names none.

    Raises FileExistsError for a file of that name: nobody has asked to replace it. What -o names is replaced.
    """
    if options.output is None:
        options.output = options.own_output
        if os.path.lexists(options.output) and not options.force:
            wanted = "the file exists; name another one with -o, or replace it with --force"
            raise FileExistsError(errno.EEXIST, wanted, options.output)


@contextmanager
def usage() -> Iterator[None]:
    """Turn errors of options that do not go together, whatever the file, into UsageError."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None


class UsageError(Exception):
    """Options that do not go together. It ends the program with status 2, as argparse does."""


def add_clip_option(parser: ArgumentParser) -> None:
    """Add --clip for one clip."""
    parser.add_argument("--clip", metavar="CLIP", help="name or number of the clip (default: the first)")


def add_clips_option(parser: ArgumentParser) -> None:
    """Add --clip for any number of clips."""
    parser.add_argument(
        "--clip",
        action="append",
        metavar="CLIP",
        help="name or number of a clip; may be repeated (default: all clips)",
    )


def add_picture_options(parser: ArgumentParser, output: str | None) -> None:
    """Add the options of a drawn file; `output` is its default name, None makes -o required."""
    kinds = "picture (.png, .jpg, .tif, .bmp), film (.apng, .gif, .webp, .mp4) or page (.html) to write; the "
    kinds += "file extension selects the format"
    add_output(parser, "OUT", values.drawn_file, kinds, output)
    parser.add_argument(
        "--fps", type=values.rate, metavar="N", help="frames per second of a film (default 30)"
    )
    parser.add_argument(
        "--turntable", action="store_true", help="move the camera once around the model during a film"
    )
    parser.add_argument(
        "--size", type=values.size, default=(640, 480), metavar="WxH", help="size in pixels (default 640x480)"
    )
    parser.add_argument(
        "--background",
        type=values.color,
        metavar="COLOR",
        help="background color such as '#ffffff' (default: transparent)",
    )
    add_floor_option(parser)
    add_overlay_option(parser)


def add_floor_option(parser: ArgumentParser) -> None:
    """Add --floor."""
    parser.add_argument("--floor", action="store_true", help="draw a ground plane that scrolls with the walk")


def add_overlay_option(parser: ArgumentParser) -> None:
    """Add --overlay."""
    parser.add_argument(
        "--overlay",
        action="append",
        default=[],
        type=values.overlay,
        metavar="NAME[=VALUE]",
        help="draw an overlay that explains the model: skeleton, names, axes, rest, boxes, normals, "
        "wireframe, influences, weights=JOINT, onion=N or trajectories=JOINT; may be repeated",
    )


def chosen_overlays(options: Namespace) -> "Overlays":
    """The overlays that repeated --overlay options name."""
    from ..render import Overlays

    with usage():
        return Overlays.parse(options.overlay)


def chosen_clip(model: Model, text: str | None) -> str | int | None:
    """The clip that --clip names, by its name or number; None without --clip."""
    return None if text is None else _clip(model, text)


def chosen_clips(model: Model, texts: Sequence[str] | None) -> list[str | int] | None:
    """The clips that repeated --clip options name; None without one."""
    return None if texts is None else [_clip(model, text) for text in texts]


def _clip(model: Model, text: str) -> str | int:
    # Also a negative number is one: the error of an unknown clip says which numbers there are.
    if text not in model.clips and text.lstrip("-").isdigit():
        return int(text)
    return text


def name_or_number(text: str | None, names: Sequence[str]) -> str | int | None:
    """`text` as one of `names`, or as a number where it is none of them."""
    if text is not None and text not in names and text.isdecimal():
        return int(text)
    return text
