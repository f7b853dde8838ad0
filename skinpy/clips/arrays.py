"""Clip.from_arrays: arrays of keys, checked and arranged as a block of one clip."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import _block, _core
from .._arguments import brief, check_increasing, finite, first, floats, names_of, one_of
from .._types import Array, Floats
from ..errors import LoadError
from .events import NO_MOTION

if TYPE_CHECKING:
    from ..model import Model


def clip_block(
    name: str,
    fps: float | None,
    times: npt.ArrayLike | None,
    joints: Sequence[str] | None,
    targets: Sequence[str],
    keys: Mapping[str, npt.ArrayLike | None],
    interpolation: str,
) -> _core.Block:
    """The block of Clip.from_arrays, which documents the arguments. keys has an array or None by path."""
    if not isinstance(name, str):
        raise TypeError(f"name is {brief(name)}; expected a str")
    one_of("interpolation", interpolation, ("linear", "step"))
    joint_names = None if joints is None else names_of("joints", joints)
    target_names = names_of("targets", targets)
    arrays = _key_arrays(keys, len(target_names))
    line, ticks = _key_times(fps, times, arrays)
    moving = [array.shape[1] for path, array in arrays.items() if path != "weights"]
    count = moving[0] if moving else len(joint_names or ())
    if joint_names is not None and len(joint_names) != count:
        raise ValueError(f"joints has {len(joint_names)} names; expected {count}")
    for path, array in arrays.items():
        if len(array) != len(line):
            raise ValueError(f"{path} has {len(array)} keys; expected {len(line)}, one per time")
    pool = _block.TextPool()
    channels = _channel_rows(arrays, interpolation)
    values = [np.swapaxes(array, 0, 1).ravel() for array in arrays.values()]
    sections = {
        **name_sections(
            {"joint": joint_names or ("",) * count, "target": target_names, "material": ()}, pool
        ),
        "CLIPS": np.array(
            [(pool.add(name), max(float(line[-1]), 0.0), ticks, 0, len(channels), 0, 0, 0, *NO_MOTION)],
            _block.RECORDS["CLIPS"],
        ),
        "CHANNELS": channels,
        "TIMES": line,
        "VALUES": np.concatenate([np.empty(0, np.float32), *values]),
        "TEXT": pool.section(),
    }
    try:
        return _block.pack(sections, 1)
    except LoadError as error:
        raise ValueError(str(error)) from None


def names_of_model(model: "Model") -> dict[str, tuple[str, ...]]:
    """The names of a model's joints, targets and materials, by "joint", "target" and "material"."""
    return {
        "joint": model.skeleton.names,
        "target": tuple(target.name for target in model.targets),
        "material": tuple(material.name for material in model.materials),
    }


def name_sections(names: Mapping[str, Sequence[str]], pool: _block.TextPool) -> dict[str, Array]:
    """The sections of a block of clips that name what channels refer to."""
    info = np.zeros(1, _block.RECORDS["INFO"])
    info["kind"], info["influences"] = _block.CLIPS_ONLY, 1
    info["joints"], info["targets"] = len(names["joint"]), len(names["target"])
    targets = np.zeros(len(names["target"]), _block.RECORDS["TARGETS"])
    materials = np.zeros(len(names["material"]), _block.RECORDS["MATERIALS"])
    materials["texture"] = -1
    for rows, kind in ((targets, "target"), (materials, "material")):
        rows["name"] = pool.names(names[kind])
    return {
        "INFO": info,
        "JOINT_NAMES": pool.names(names["joint"]),
        "TARGETS": targets,
        "MATERIALS": materials,
    }


def _key_times(
    fps: float | None, times: npt.ArrayLike | None, arrays: dict[str, Floats]
) -> tuple[Array, float]:
    """The times (N,) in seconds, and the number of ticks per second of the clip."""
    if (fps is None) == (times is None):
        came = "neither" if fps is None else "both"
        raise ValueError(f"expected exactly one of fps and times; {came} came")
    if fps is not None:
        if not finite("fps", fps) > 0:
            raise ValueError(f"fps is {brief(fps)}; expected a positive number")
        count = len(next(iter(arrays.values()))) if arrays else 1
        return np.arange(count) / float(fps), float(fps)
    assert times is not None
    line = floats("times", times, ("N",), np.float64)
    if not len(line):
        raise ValueError("times is empty; expected at least one key")
    check_increasing("times", line)
    return line, 1000.0


def _key_arrays(keys: Mapping[str, npt.ArrayLike | None], targets: int) -> dict[str, Floats]:
    """The given arrays by path: finite float32 (N,J,3) or (N,J,4) of equal J, and weights (N,M,1)."""
    arrays: dict[str, Floats] = {}
    joints: int | str = "J"
    for path, given in keys.items():
        if given is None:
            continue
        if path == "weights":
            arrays[path] = floats(path, given, ("N", targets))[..., None]
        else:
            width = _block.PATH_WIDTHS[_block.PATHS.index(path)]
            arrays[path] = floats(path, given, ("N", joints, width))
            joints = arrays[path].shape[1]
        if not len(arrays[path]):
            raise ValueError(f"{path} has no keys; expected at least one key")
    if not arrays:
        raise ValueError("expected at least one of translation, rotation, scale and weights; none came")
    if "rotation" in arrays:
        arrays["rotation"] = _unit(arrays["rotation"])
    return arrays


def _unit(rotation: Floats) -> Floats:
    """Quaternions of length 1; ValueError if one has length 0."""
    length = np.linalg.norm(rotation.astype(np.float64), axis=-1, keepdims=True)
    if (length == 0).any():
        item = first("rotation", length[..., 0] == 0)
        raise ValueError(f"{item} is a quaternion of length 0; expected a length above 0")
    unit: Floats = (rotation / length).astype(np.float32)
    return unit


def _channel_rows(arrays: dict[str, Floats], interpolation: str) -> Array:
    """The section CHANNELS: one channel for each path and joint or target.

    The values are in the section VALUES path by path, and joint by joint within a path.
    """
    groups = [np.zeros(0, _block.RECORDS["CHANNELS"])]
    start = 0
    for path, array in arrays.items():
        keys, moved, width = array.shape
        rows = np.zeros(moved, _block.RECORDS["CHANNELS"])
        rows["joint"] = np.arange(moved)
        rows["path"] = _block.PATHS.index(path)
        rows["key_count"] = keys
        rows["stride"] = width
        rows["values"] = start + np.arange(moved) * keys * width
        start += array.size
        groups.append(rows)
    channels = np.concatenate(groups)
    channels["interpolation"] = _block.INTERPOLATIONS.index(interpolation)
    channels["in_tangents"] = channels["out_tangents"] = _block.NO_ARRAY
    return channels
