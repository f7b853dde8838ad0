"""skinpy info: shows what a file contains, or how skinpy was built."""

import warnings
from argparse import Namespace
from typing import Any

import numpy as np

from .._text import printable, quoted
from ..clip import Clip
from ..errors import SkinpyWarning
from ..files.series import has_frames
from ..kinds import VertexAnimation
from ..loading import build_info
from ..model import Model
from ..models.bounds import box
from ..retargeting.bones import BONES, CORE
from .loading import load_model, loading_arguments
from .options import Commands, add_command
from .output import show, show_json

_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_PLURALS = {"vertex": "vertices", "submesh": "submeshes"}


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    help = "show the joints, mesh and clips of a file, and what was repaired"
    file = "model file, or 'build' to show how skinpy was built"
    parser = add_command(commands, "info", run, help, file)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> None:
    """Run the command."""
    if options.file == "build":
        _show_build(build_info(), options.json)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkinpyWarning)  # the report of repairs is part of what is shown
        facts = _model_facts(load_model(options))
        facts["frames"] = _stored_frames(options)
    if options.json:
        show_json(facts)
    else:
        _print_facts(options.file, facts)


def _show_build(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        show_json(facts)
        return
    for name, value in facts.items():
        show(f"{name:20} {' '.join(value) if isinstance(value, list) else value}")


def _stored_frames(options: Namespace) -> int:
    """The number of stored vertex frames in a file of such a format, else 0."""
    if options.format or not has_frames(options.file):
        return 0
    arguments = loading_arguments(options)
    arguments.pop(
        "up", None
    )  # frames are taken as they are stored, and the axis does not change their number
    return len(VertexAnimation.load(options.file, **arguments))


def _model_facts(model: Model) -> dict[str, Any]:
    low, high = box(model).tolist()
    return {
        "joints": list(model.skeleton.names),
        "parents": model.skeleton.parents.tolist(),
        "slots": len(model.skin),
        "vertices": len(model.mesh.positions),
        "faces": len(model.mesh.faces),
        "influences": model.mesh.slots.shape[1],
        "submeshes": [submesh.name for submesh in model.mesh.submeshes],
        "hidden_submeshes": sum(not submesh.visible for submesh in model.mesh.submeshes),
        "materials": [material.name for material in model.materials],
        "targets": [target.name for target in model.targets],
        "moved_textures": sum(material.uv_transform != _IDENTITY for material in model.materials),
        "textures": sum(material.texture is not None for material in model.materials),
        "scenes": list(model.scenes),
        "cameras": len(model.cameras),
        "lights": len(model.lights),
        "variants": list(model.variants),
        "vrm": None if model.vrm is None else model.vrm["version"],
        "humanoid": dict(model.humanoid),
        "up": model.up,
        "unit_meters": model.unit_meters,
        "bounds": [low, high],
        "clips": [_clip_facts(clip) for clip in model.clips],
        "report": [
            {
                "code": entry.code,
                "severity": entry.severity,
                "count": entry.count,
                "first": entry.first,
                "message": entry.message,
            }
            for entry in model.report
        ],
    }


def _clip_facts(clip: Clip) -> dict[str, Any]:
    channels = clip.channels
    return {
        "name": clip.name,
        "kind": clip.kind,
        "duration": clip.duration,
        "ticks_per_second": clip.ticks_per_second,
        "channels": len(channels),
        "keys": sum(len(channel.times) for channel in channels),
        "interpolations": sorted({channel.interpolation for channel in channels}),
        "nbytes": clip.nbytes,
    }


def _print_facts(file: str, facts: dict[str, Any]) -> None:
    size = np.subtract(*facts["bounds"][::-1])
    extent = " x ".join(f"{side:.4g}" for side in size)
    if not np.isfinite(size).all():
        extent = "beyond float32 ('skinpy check' names the joint)"
    hidden = f" ({facts['hidden_submeshes']} hidden)" if facts["hidden_submeshes"] else ""
    unit = f", 1 unit = {facts['unit_meters']:g} m" if facts["unit_meters"] else ""
    show(printable(file))
    show(
        f"  skeleton  {_counted(len(facts['joints']), 'joint')}, root {quoted(facts['joints'][0])}, "
        f"{_counted(facts['slots'], 'palette slot')}"
    )
    show(
        f"  mesh      {_counted(facts['vertices'], 'vertex')}, {_counted(facts['faces'], 'face')}, "
        f"{_counted(len(facts['submeshes']), 'submesh')}{hidden}, "
        f"{_counted(facts['influences'], 'influence')} per vertex"
    )
    show(f"  look      {_counted(len(facts['materials']), 'material')}, {facts['textures']} with a texture")
    show(f"  space     {facts['up']} is up{unit}; rest pose {extent}")
    show(f"  kinds     {', '.join(_kinds(facts))}")
    if found := facts["humanoid"]:
        missing = [bone for bone in CORE if bone not in found]
        show(
            f"  humanoid  {len(found)} of {len(BONES)} bones"
            + f", without {', '.join(missing)}" * bool(missing)
        )
    if data := _data(facts):
        show(f"  data      {', '.join(data)}")
    for clip in facts["clips"]:
        show(
            f"  clip      {quoted(clip['name'])}: {clip['duration']:.3f} s, "
            f"{_counted(clip['channels'], 'channel')}, {_counted(clip['keys'], 'key')} "
            f"({', '.join(clip['interpolations'])}), {clip['nbytes']} bytes"
        )
    for entry in facts["report"]:
        show(f"  {entry['severity']:9} {entry['message']} ({entry['count']}x, first: {entry['first']})")


def _kinds(facts: dict[str, Any]) -> list[str]:
    """A phrase for each kind of animation that a file has."""
    clips = [clip["kind"] for clip in facts["clips"]]
    counts = [
        (facts["moved_textures"], "material", " with moved texture coordinates (uv)"),
        (facts["frames"], "stored frame", " (vertex)"),
        (len(facts["targets"]), "morph target", " (keyed)"),
        (clips.count("keyed"), "clip", " of their weights (keyed)"),
        (clips.count("rigid"), "clip", " of rigid parts (rigid)"),
        (clips.count("skinned"), "clip", " of joints (skinned)"),
    ]
    return [f"{_counted(count, noun)}{more}" for count, noun, more in counts if count] or ["none"]


def _data(facts: dict[str, Any]) -> list[str]:
    """A phrase for each kind of data that the file has beside its character, such as cameras."""
    scenes = len(facts["scenes"]) if len(facts["scenes"]) > 1 else 0
    counts = [(scenes, "scene"), (facts["cameras"], "camera"), (facts["lights"], "light")]
    counts.append((len(facts["variants"]), "variant"))
    found = [_counted(count, noun) for count, noun in counts if count]
    return found if facts["vrm"] is None else [*found, f"VRM {facts['vrm']}"]


def _counted(count: int, noun: str) -> str:
    """ "1 clip", "2 clips", "0 vertices"."""
    return f"{count} {noun if count == 1 else _PLURALS.get(noun, noun + 's')}"
