"""The options that say how a file is loaded, and how errors of loading point to them."""

import re
import shlex
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from ..limits import DEFAULT_FORMATS, Limits
from ..loading import load
from ..model import Model
from . import values

if TYPE_CHECKING:
    from ..view.source import Source


def add_loading_options(parser: ArgumentParser, more: str = "") -> None:
    """Add the options that every command with a file has; `more` is a sentence for the head of their list."""
    words = "How the file is loaded. For .skn files only --limit applies, and its depth is ignored."
    loading = parser.add_argument_group("loading", f"{words} {more}".rstrip())
    loading.add_argument(
        "--allow",
        action="append",
        type=values.file_format,
        metavar="FORMAT",
        help="also read this format, given by its file extension, such as lws; may be repeated",
    )
    loading.add_argument(
        "--format",
        type=values.file_format,
        metavar="FORMAT",
        help="read the file as this format, such as glb (default: the file extension selects the format)",
    )
    loading.add_argument(
        "--up",
        type=values.axis,
        metavar="AXIS",
        help="axis that points up: +X, -X, +Y, -Y, +Z or -Z (default: what the file says)",
    )
    loading.add_argument(
        "--scene", metavar="SCENE", help="name or index of the scene of a glTF file (default: the file's own)"
    )
    loading.add_argument(
        "--memory", type=values.mebibytes, metavar="MIB", help="memory limit in MiB (default 1024)"
    )
    loading.add_argument(
        "--seconds", type=values.seconds, metavar="S", help="time limit in seconds (default 30)"
    )
    loading.add_argument(
        "--limit",
        action="append",
        type=values.limit,
        metavar="NAME=N",
        help="largest number of file_bytes, nodes, depth, vertices or keys; may be repeated",
    )
    loading.add_argument(
        "--external",
        choices=("folder", "none", "any"),
        help="other files that the model may refer to: those in its own folder and below, none, or any "
        "(default folder)",
    )


def loading_arguments(options: Namespace) -> dict[str, Any]:
    """The arguments of `skinpy.load` that the options ask for; what is not asked for keeps its default."""
    arguments: dict[str, Any] = {}
    if options.allow:
        arguments["allow_formats"] = (*DEFAULT_FORMATS, *options.allow)
    limits: dict[str, Any] = dict(options.limit or ())
    if options.memory:
        limits["memory"] = options.memory
    if options.seconds:
        limits["seconds"] = options.seconds
    if limits:
        arguments["limits"] = Limits(**limits)
    for name in ("format", "up", "external"):
        if getattr(options, name):
            arguments[name] = getattr(options, name)
    if options.scene is not None:
        arguments["scene"] = int(options.scene) if options.scene.isdecimal() else options.scene
    return arguments


def load_model(options: Namespace, **more: Any) -> Model:
    """The model in `options.file`; `more` are further arguments of `skinpy.load`."""
    return load(options.file, **more, **loading_arguments(options))


def model_source(options: Namespace) -> "Source":
    """The file as a window and a page take it: with stored frames, and loaded again when it changes."""
    from ..view.source import Source

    return Source(options.file, **loading_arguments(options))


#: What an error suggests for Python, and the option that does the same on the command line.
_OPTIONS_FOR = (
    (re.compile(r'allow_formats=\(\*skinpy\.DEFAULT_FORMATS, "([^"]+)"\)'), "--allow {}"),
    (re.compile(r'format="\.\.\."'), "--format FORMAT"),
    (re.compile(r"limits=skinpy\.Limits\(memory="), "--memory MIB"),
    (re.compile(r"limits=skinpy\.Limits\(seconds="), "--seconds S"),
    (re.compile(rf"limits=skinpy\.Limits\(((?:{'|'.join(values.COUNTED_LIMITS)})=\d+)\)"), "--limit {}"),
    (re.compile(r"add_clips\(\.\.\., scale='auto'\)"), "--scale auto"),
)


def with_option(error: object) -> str:
    """The message of an error or a warning, and the option that helps, if there is one."""
    for pattern, option in _OPTIONS_FOR:
        found = pattern.search(str(error))
        if found:
            return f"{error}; on the command line, with {option.format(*map(shlex.quote, found.groups()))}"
    return str(error)
