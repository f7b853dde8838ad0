"""skinpy convert: writes what was loaded in another format."""

import errno
import os
import re
import warnings
from argparse import Namespace
from pathlib import Path
from typing import Any

from .._progress import shown
from .._text import printable, quoted, quoted_list, unicode_text
from ..clip import Clip
from ..errors import LoadError, SkinpyError, SkinpyWarning
from ..model import Model
from . import values
from .loading import add_loading_options, load_model, loading_arguments, with_option
from .options import Commands, UsageError, add_clips_option, add_plain_command, chosen_clips, name_or_number
from .output import show

#: Options that say how one file is read; of several files that become one they are about the first.
_OF_FIRST = ("format", "up", "scene")
_MAX_INFLUENCES = 8  # of a vertex: none that a file has is dropped
_UNSAFE = re.compile(r"[^\w.-]+")  # in the name of a clip that becomes a part of a file name


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    help = "write model files, or the motion in them, in another format"
    parser = add_plain_command(commands, "convert", run, help)
    help = "model file; the clips of further ones are added to the first, or with --to each is converted"
    parser.add_argument("files", metavar="FILE", nargs="+", help=help)
    help = (
        "file to write: .glb or .skn for a model, .bvh or .npz for the motion of a clip; or a folder (--to)"
    )
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=help)
    help = "convert each FILE by itself into the folder OUT: glb, skn, bvh or npz (these two for each clip)"
    parser.add_argument(
        "--to",
        choices=[suffix[1:] for suffix in (*values.MODEL_SUFFIXES, *values.MOTION_SUFFIXES)],
        help=help,
    )
    parser.add_argument("--force", action="store_true", help="with --to, replace files in OUT that exist")
    add_clips_option(parser)
    help = "frames per second of .bvh and .npz (default: the rate of the keys if they are even, or else 30)"
    parser.add_argument("--fps", type=values.rate, metavar="N", help=help)
    help = "name or number of the joint that is the root of a .bvh (default: all joints are written)"
    parser.add_argument("--joint", metavar="JOINT", help=help)
    help = "length of one unit of the model in meters, if its file does not say; a .glb is in meters"
    parser.add_argument("--unit", type=values.length, metavar="METERS", help=help)
    help = "factor for the translations of added clips, or 'auto' for that of their unit (default 1)"
    parser.add_argument("--scale", type=values.clip_scale, metavar="FACTOR", help=help)
    add_loading_options(parser, "Without --to, --format, --up and --scene are about the first FILE alone.")


def run(options: Namespace) -> None:
    """Run the command."""
    suffix = _checked_suffix(options)
    if options.to is None:
        _write(_model(options), Path(options.output), options)
        return
    os.makedirs(options.output, exist_ok=True)
    written, failed = set[Path](), 0
    for file in shown(options.files, len(options.files), "converting"):
        try:
            _convert(file, suffix, written, options)
        except (SkinpyError, OSError, ValueError, LookupError) as error:
            failed += 1
            warnings.warn(_told(file, error), SkinpyWarning, stacklevel=1)
    if failed:
        raise SkinpyError(f"{failed} of {len(options.files)} files were not converted")


def _told(file: str, error: Exception) -> str:
    """The sentence of an error, which begins with the file that it is about."""
    if isinstance(error, LoadError):
        return with_option(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{printable(os.fsdecode(error.filename or file))}: {error.strerror}"
    return f"{printable(file)}: {error.args[0] if isinstance(error, KeyError) else error}"


def _checked_suffix(options: Namespace) -> str:
    """The suffix of what is written; UsageError for options that do not go with it."""
    suffix = Path(options.output).suffix.lower() if options.to is None else f".{options.to}"
    if suffix not in (*values.MODEL_SUFFIXES, *values.MOTION_SUFFIXES):
        raise UsageError(
            f"--output {options.output!r} is not a file that can be written; expected one that ends in .glb, "
            ".skn, .bvh or .npz, or --to FORMAT for a folder"
        )
    for name, value, fits, wanted in (
        ("fps", options.fps, suffix in values.MOTION_SUFFIXES, ".bvh or .npz"),
        ("joint", options.joint, suffix == ".bvh", ".bvh"),
        ("unit", options.unit, suffix in values.MODEL_SUFFIXES, ".glb or .skn"),
        ("scale", options.scale, options.to is None and len(options.files) > 1, "several files in one"),
        ("force", options.force or None, options.to is not None, "a folder, which --to names the format for"),
    ):
        if value is not None and not fits:
            raise UsageError(f"--{name} does not go with this; expected it for {wanted}")
    return suffix


def _model(options: Namespace) -> Model:
    """The model of the first file with the clips of the others."""
    options.file, *more = options.files
    model: Model = load_model(options, max_influences=_MAX_INFLUENCES)
    arguments: dict[str, Any] = loading_arguments(options)
    for name in _OF_FIRST:
        arguments.pop(name, None)
    for file in more:
        count = len(model.clips)
        model = model.add_clips(file, scale=options.scale, **arguments)
        if len(model.clips) == count:
            raise ValueError(
                f"{printable(file)} has no clips; expected some to add to {printable(options.file)}"
            )
    return model


def _write(model: Model, path: Path, options: Namespace) -> None:
    """Write a model with its chosen clips, or the motion of one clip."""
    chosen = chosen_clips(model, options.clip)
    clips = list(model.clips) if chosen is None else [model.clips[one] for one in chosen]
    if path.suffix.lower() in values.MOTION_SUFFIXES:
        if len(clips) != 1:
            remedy = f"choose one with --clip, or write all with --to {path.suffix[1:].lower()}: "
            raise ValueError(
                f"{printable(path)} holds one clip, but there are "
                + (f"{len(clips)}; {remedy}{quoted_list([clip.name for clip in clips])}" if clips else "none")
            )
        _write_clip(clips[0], path, options)
        return
    if chosen is not None:
        model = type(model)(model._block, [(clip.name, clip._block, clip._index) for clip in clips])
    model.save(path, unit_meters=options.unit)
    named = f" with {quoted_list(model.clips.names)}" if len(model.clips) else " without clips"
    show(f"wrote {printable(path)}{named}")


def _write_clip(clip: Clip, path: Path, options: Namespace) -> None:
    if path.suffix.lower() == ".npz":
        clip.to_npz(path, fps=options.fps)
    else:
        assert clip.model is not None
        clip.save(path, fps=options.fps, joint=name_or_number(options.joint, clip.model.skeleton.names))
    show(f"wrote {printable(path)} with {quoted(clip.name)}")


# ---- folders ----------------------------------------------------------------------------------------


def _convert(file: str, suffix: str, written: set[Path], options: Namespace) -> None:
    """Convert one file into the folder; `written` are the files that are there by now."""
    options.file = file
    model, stem = load_model(options, max_influences=_MAX_INFLUENCES), Path(file).stem
    if suffix in values.MODEL_SUFFIXES:
        _write(model, _free_path(stem, suffix, written, options), options)
        return
    chosen = chosen_clips(model, options.clip)
    clips = list(model.clips) if chosen is None else [model.clips[one] for one in chosen]
    if not clips:
        raise ValueError(f"it has no clips; expected some, as a {suffix} file holds the motion of one")
    for clip in clips:
        name = stem if len(clips) == 1 else f"{stem}-{_UNSAFE.sub('_', unicode_text(clip.name))}"
        _write_clip(clip, _free_path(name, suffix, written, options), options)


def _free_path(name: str, suffix: str, written: set[Path], options: Namespace) -> Path:
    """A path in the folder that this run has not written; FileExistsError for a file from before."""
    path, number = Path(options.output, name + suffix), 1
    while path in written:
        number += 1
        path = path.with_name(f"{name}-{number}{suffix}")
    if path.exists() and not options.force:
        wanted = "the file exists; name another folder with -o, or replace it with --force"
        raise FileExistsError(errno.EEXIST, wanted, str(path))
    written.add(path)
    return path
