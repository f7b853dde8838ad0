"""skinpy retarget: writes a character that plays the clips of another."""

from __future__ import annotations

import json
import textwrap
import tomllib
import warnings
from argparse import Namespace
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile

from .._text import printable, quoted
from ..clip import Clip
from ..errors import SkinpyWarning, unknown_name
from ..files.npz_arrays import npz_names
from ..loading import character, load
from ..model import Model
from ..planting import lock_feet
from ..retargeting import JointMatch, PoseMatch, match_joints, match_poses, retarget
from . import values
from .loading import add_loading_options, load_model, loading_arguments
from .options import Commands, add_clips_option, add_output, add_plain_command, chosen_clips
from .output import show

#: Options that say how one file is read; they are about the source. The others are about both files.
_OF_SOURCE = ("format", "up", "scene")
_MAX_INFLUENCES = 8  # of a vertex of the target: none that its file has is dropped
_FRAMES = 8  # of the picture
_MAX_NAMES = 12  # of joints without a partner that are printed
_POSE_HELP = {
    "source": "pose of SOURCE that shows the same posture as that of TARGET: rest, t or a (arms level, or 45 "
    "degrees down), a time of the clip in seconds, or auto (default auto)",
    "target": "pose of TARGET that shows the same posture: rest, t, a or auto (default auto)",
}


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    help = "write a character that plays the clips of another file"
    parser = add_plain_command(commands, "retarget", run, help)
    help = "file with the clips, such as a .bvh or .fbx file, or an .npz file of SMPL (AMASS)"
    parser.add_argument("source", metavar="SOURCE", help=help)
    help = "model file of the character, or 'character' for the bundled one"
    parser.add_argument("target", metavar="TARGET", help=help)
    help = (
        "file to write: .glb or .skn for the character with its own clips and the new ones, .bvh or .npz for "
        "the motion of one new clip"
    )
    add_output(parser, "OUT", values.motion_file, help)
    add_clips_option(parser)
    parser.add_argument(
        "--joint-map",
        metavar="FILE",
        help="JSON object or TOML table of target joints by source joints (default: found from names and "
        "structure)",
    )
    parser.add_argument(
        "--pair",
        action="append",
        default=[],
        type=values.pair,
        metavar="SOURCE=TARGET",
        help="pair these two joints, whatever else was found; SOURCE= leaves a joint out; may be repeated",
    )
    for side in ("source", "target"):
        parser.add_argument(
            f"--{side}-pose",
            type=values.reference_pose if side == "source" else values.reference_word,
            metavar="POSE",
            help=_POSE_HELP[side],
        )
    help = "keep planted feet where they are, and on the ground"
    parser.add_argument("--lock-feet", action="store_true", help=help)
    help = "also draw source and target at the same times, one below the other, to this file"
    parser.add_argument("--picture", metavar="PICTURE", type=values.picture_file, help=help)
    add_loading_options(parser, "--format, --up and --scene are about SOURCE alone.")


def run(options: Namespace) -> None:
    """Run the command."""
    source = _source(options)
    if not len(source.clips):
        raise ValueError(f"{options.source!r} has no clips; there is nothing to retarget")
    target = _target(options)
    joint_map = _joint_map(options, source, target)
    arguments = {
        "joint_map": joint_map,
        "source_pose": _pose(source, options.source_pose),
        "target_pose": _pose(target, options.target_pose),
    }
    chosen = chosen_clips(source, options.clip) or range(len(source.clips))
    if Path(options.output).suffix.lower() in values.MOTION_SUFFIXES and len(chosen) > 1:
        raise ValueError(
            f"{printable(options.output)} holds one clip, and {len(chosen)} are retargeted; choose one with "
            "--clip"
        )
    with warnings.catch_warnings():
        # The joints without a partner are listed below.
        warnings.filterwarnings("ignore", ".* have no counterpart ", SkinpyWarning)
        clips = [retarget(clip, source, target, **arguments) for clip in chosen]
    if options.lock_feet:
        clips = [lock_feet(clip) for clip in clips]
    result = target.add_clips(clips)
    new = list(result.clips)[-len(clips) :]
    _save(options.output, result, new)
    show(f"{printable(options.source)} on {printable(options.target)}")
    moved = {channel.name for clip in chosen for channel in source.clips[clip].channels}
    _show_match(match_joints(source, target, joint_map), moved)
    for clip in chosen:
        _show_poses(source.clips[clip].name, match_poses(clip, source, target, **arguments))
    plural = "s" if len(new) > 1 else ""
    names = ", ".join(quoted(clip.name) for clip in new)
    _show_line("wrote", f"{printable(options.output)}, with the new clip{plural} {names}")
    if options.picture:
        _draw(options.picture, (source, source.clips[next(iter(chosen))]), (result, new[0]))


def _source(options: Namespace) -> Model:
    """The model in SOURCE, or the figure that its parameters of SMPL move."""
    options.file = options.source
    if options.format is None and _holds_smpl(options.source):
        return cast(Model, Clip.from_smpl(options.source, up=options.up or "+Z").model)
    return load_model(options)


def _holds_smpl(path: str) -> bool:
    """Whether an .npz file is not one that `Clip.to_npz` wrote."""
    if Path(path).suffix.lower() != ".npz":
        return False
    with open(path, "rb") as file:
        try:
            return "format" not in npz_names(file)
        except BadZipFile:  # loading says what the file is instead
            return False


def _target(options: Namespace) -> Model:
    if options.target == "character":
        return character()
    arguments = loading_arguments(options)
    shared = {name: value for name, value in arguments.items() if name not in _OF_SOURCE}
    return load(options.target, max_influences=_MAX_INFLUENCES, **shared)


def _joint_map(options: Namespace, source: Model, target: Model) -> Any:
    """The joints that --joint-map and --pair give, or "auto" for those of `match_joints` alone."""
    given = None if options.joint_map is None else _read_map(options.joint_map)
    if not options.pair:
        return "auto" if given is None else given
    pairs = dict(match_joints(source, target, "auto").pairs if given is None else given)
    for one, other in options.pair:
        for side, name, model in (("source", one, source), ("target", other, target)):
            if name and name not in model.skeleton.names:
                raise unknown_name(f"{side} joint", name, model.skeleton.names, "--pair")
        # The new pair takes both joints from the pairs that they were in.
        pairs = {name: partner for name, partner in pairs.items() if name != one and partner != other}
        if other:
            pairs[one] = other
    return pairs


def _read_map(path: str) -> dict[str, str]:
    """The names of target joints by source joints, from a JSON or TOML file."""
    wanted = "expected a JSON object or a TOML table of names of target joints by names of source joints"
    with open(path, "rb") as file:
        try:
            found = tomllib.load(file) if Path(path).suffix.lower() == ".toml" else json.load(file)
        except ValueError as error:  # of JSON, TOML or UTF-8
            raise ValueError(f"--joint-map {path!r} cannot be read ({error}); {wanted}") from None
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found.values()):
        raise ValueError(f"--joint-map {path!r} has something else than names; {wanted}")
    return found


def _save(path: str, model: Model, new: list[Clip]) -> None:
    suffix = Path(path).suffix.lower()
    if suffix == ".npz":
        new[0].to_npz(path)
    elif suffix == ".bvh":
        new[0].save(path)
    else:
        model.save(path)


def _pose(model: Model, word: str | float | None) -> Any:
    """The reference pose that an option names, as `retarget` takes it."""
    if word == "t":
        return model.humanoid.t_pose()
    return model.humanoid.a_pose() if word == "a" else word


def _show_match(match: JointMatch, moved: Collection[str]) -> None:
    """Print the pairs of joints, one a line, and the joints without a partner; of the source, those moved."""
    width = max(len(printable(one)) for one, _ in match.pairs)
    for number, (one, other) in enumerate(match.pairs):
        _show_line("" if number else "pairs", f"{printable(one):{width}} -> {printable(other)}")
    left_out = [name for name in match.unmapped_source if name in moved]
    for label, names in (("left out", left_out), ("at rest", match.unmapped_target)):
        if names:
            more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
            _show_list(label, [printable(name) for name in names[:_MAX_NAMES]], more)


def _show_poses(clip: str, match: PoseMatch) -> None:
    """Print where the reference poses of a clip come from, and how far apart their limbs were."""
    _show_line("poses", f"of {quoted(clip)}: source {match.source_from}; target {match.target_from}")
    apart = [f"{bone} {angle:.0f}" for bone, angle in match.degrees.items()]
    if apart:
        _show_list("degrees", [f"that limbs were apart before: {apart[0]}", *apart[1:]])


def _show_line(label: str, words: str) -> None:
    show(f"  {label:9} {words}")


def _show_list(label: str, words: Sequence[str], end: str = "") -> None:
    """Print words behind a label, broken into lines between them."""
    text = ", ".join(words) + end
    first, later = f"  {label:9} ", " " * 12
    show(textwrap.fill(text, 100, initial_indent=first, subsequent_indent=later, break_on_hyphens=False))


def _draw(path: str, *figures: tuple[Model, Clip]) -> None:
    from ..output import save_picture, side_by_side

    save_picture(path, side_by_side(figures, frames=_FRAMES, floor=True))
    _show_line("drew", printable(path))
