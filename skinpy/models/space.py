"""Models in another unit or with another up axis: what glTF asks for, meters and +Y up.

With s the factor and q a rotation of the whole scene, every length of the model is multiplied by s, in each
of its spaces: then local, global and inverse bind matrices are the old ones with their translations times s,
and their rotations and scales stay. q goes in front of the roots, so it is in front of every global
transform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _block
from .._types import Array
from ..clip import Channel, Clip
from ..clips.edit import derived, with_keys
from ..clips.events import Motion
from ..posing.kinematics import conjugate, quaternion_product, rotated
from .extras import Extras, number, rows, table, write_extras

if TYPE_CHECKING:
    from ..model import Model

_LENSES = ("perspective", "orthographic")
_LENGTHS = ("znear", "zfar", "xmag", "ymag")  # of a camera's lens
_HALF = 0.5**0.5  # the sine and cosine of 45 degrees
_IDENTITY = (0.0, 0.0, 0.0, 1.0)
#: For each up axis the rotation (quaternion x y z w) that brings it to +Y. Where Z is up, -Y becomes +Z: what
#: faced the viewer by the custom of Z up does so by that of Y up.
_TO_Y_UP = {
    "+X": (0.0, 0.0, _HALF, _HALF),
    "-X": (0.0, 0.0, -_HALF, _HALF),
    "+Y": _IDENTITY,
    "-Y": (1.0, 0.0, 0.0, 0.0),
    "+Z": (-_HALF, 0.0, 0.0, _HALF),
    "-Z": (_HALF, 0.0, 0.0, _HALF),
}


def to_y_up(up: str) -> tuple[Array, Array]:
    """The rotation that brings an up axis to +Y, as a quaternion (4,) and as a matrix (3,3)."""
    turn = np.array(_TO_Y_UP[up])
    return turn, np.rint(rotated(turn, np.eye(3))).T  # quarter turns exchange axes, exactly


def in_meters(model: Model) -> Model:
    """The model with lengths in meters, if its unit is known, and +Y up; the same object if it has both.

    Additive clips stay as they are: glTF does not hold them.
    """
    factor = model.unit_meters or 1.0
    if factor == 1.0 and model.up == "+Y":
        return model
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not finite, and refused by name
        new = type(model)(_block.pack(_sections(model, factor), int(_block.info(model._block)["influences"])))
        clips = [clip if clip.is_additive else _changed(clip, new, factor, model.up) for clip in model.clips]
    return type(model)(new._block, [(clip.name, clip._block, clip._index) for clip in clips])


def _sections(model: Model, factor: float) -> dict[str, Array]:
    """The sections of the model without clips, with lengths times `factor` and +Y up."""
    block, (turn, matrix) = model._block, to_y_up(model.up)
    dropped = ("CLIPS", "CHANNELS", "EVENTS", "TIMES", "VALUES")
    found = {name: _block.section(block, name).copy() for name in block.sections if name not in dropped}
    for name in ("REST_TRANSLATION", "POSITIONS", "TARGET_POSITIONS"):
        if name in found:
            found[name] = _scaled(f"a number in {name}", found[name], factor)
    if "SLOT_INVERSE_BIND" in found:
        binds = found["SLOT_INVERSE_BIND"]
        binds[:, :3, 3] = _scaled("a number in SLOT_INVERSE_BIND", binds[:, :3, 3], factor)
    roots = found["JOINT_PARENTS"] < 0
    translation, rotation, local = (found[f"REST_{name}"] for name in ("TRANSLATION", "ROTATION", "LOCAL"))
    translation[roots] = translation[roots] @ matrix.T
    rotation[roots] = quaternion_product(turn, rotation[roots])
    local[roots, :3, :3] = matrix @ local[roots, :3, :3]
    local[:, :3, 3] = translation
    if factor != 1.0 and "EXTRAS" in found:
        found["EXTRAS"] = write_extras(_scaled_extras(model._extras, factor))
    found["INFO"]["unit_meters"] = found["INFO"]["unit_meters"] / factor
    found["INFO"]["up"] = _block.AXES.index("+Y")
    return found


def _scaled_extras(extras: Extras, factor: float) -> dict[str, Any]:
    """The data beside the model with the lengths of cameras and lights times `factor`."""

    def scaled(holder: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        lengths = {name: number(holder.get(name), None) for name in names}
        return holder | {name: factor * one for name, one in lengths.items() if one is not None}

    def entry(one: dict[str, Any]) -> dict[str, Any]:
        lenses = {kind: scaled(table(one[kind]), _LENGTHS) for kind in _LENSES if kind in one}
        return scaled(one, ("range",)) | lenses

    lists = {name: rows(extras[name]) for name in ("cameras", "lights") if name in extras}
    return {**extras, **{name: [entry(table(one)) for one in of_file] for name, of_file in lists.items()}}


def _scaled(what: str, rows: Array, factor: float) -> Array:
    """Lengths times a factor, in float32; ValueError, which says what they are, if one is too large."""
    found: Array = (rows * np.float64(factor)).astype(np.float32)
    if not np.isfinite(found).all():
        raise ValueError(
            f"{what} of the model is beyond float32 (3.4e38) in meters; expected smaller numbers"
        )
    return found


def _changed(clip: Clip, model: Model, factor: float, up: str) -> Clip:
    """A clip of the model before as one of the model in meters with +Y up."""
    turn, matrix = to_y_up(up)
    parents = model.skeleton.parents

    def change(channel: Channel) -> Channel:
        is_root = channel.joint is not None and parents[channel.joint] < 0
        if channel.path == "translation":
            axes = factor * (matrix if is_root else np.eye(3))
            return with_keys(channel, lambda keys: keys @ axes.T)
        if channel.path == "rotation" and is_root:
            return with_keys(channel, lambda keys: quaternion_product(turn, keys))
        return channel

    return derived(
        clip,
        [change(channel) for channel in clip.channels],
        clip.duration,
        motion=None if clip._motion is None else _moved(clip._motion, factor, up),
        model=model,
    )


def scaled_clip(clip: Clip, factor: float) -> Clip:
    """The clip with its translations, and those of its root motion, multiplied by a factor."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by name
        channels = [
            with_keys(channel, lambda keys: factor * keys) if channel.path == "translation" else channel
            for channel in clip.channels
        ]
        motion = None if clip._motion is None else _moved(clip._motion, factor, "+Y")
    return derived(clip, channels, clip.duration, motion=motion)


def _moved(motion: Motion, factor: float, up: str) -> Motion:
    """Root motion in the rotated scene: q * motion * q^-1, with lengths times `factor`."""
    turn, matrix = to_y_up(up)
    keys = motion.values.astype(np.float64)
    rotations = quaternion_product(quaternion_product(turn, keys[:, 3:]), conjugate(turn))
    values = np.concatenate([factor * keys[:, :3] @ matrix.T, rotations], axis=1)
    return Motion(motion.times, values.astype(np.float32))
