"""The data of a file beside geometry and motion: the section EXTRAS of a block (see docs/block.md).

The section is not trusted: a value of the wrong type counts as absent. That it is JSON, and not nested too
deep, the reader of blocks has checked.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _block, _core
from .._types import Array
from ..errors import LimitExceeded, LoadError

if TYPE_CHECKING:
    from ..assets import Submesh

__all__ = ["SceneCamera", "SceneLight"]

#: Materials of all variants and submeshes together: far more than files have.
_MAX_VARIANTS = 1 << 24
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # where a word begins in camelCase

Extras = Mapping[str, Any]


def read_extras(block: _core.Block) -> Extras:
    """The object in the section EXTRAS; empty without one."""
    data = _block.section(block, "EXTRAS").tobytes()
    if not data:
        return {}
    try:
        extras = json.loads(data.decode("utf-8", "surrogateescape"), strict=False, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise LoadError(f"section EXTRAS is not JSON: {str(error)[:100]}") from None
    if not isinstance(extras, dict):
        raise LoadError("section EXTRAS is not a JSON object")
    return extras


def write_extras(extras: Extras) -> Array:
    """The section EXTRAS of an object."""
    text = json.dumps(finite_data(extras), ensure_ascii=False, separators=(",", ":"))
    return np.frombuffer(text.encode("utf-8", "backslashreplace"), np.uint8)


def finite_data(value: Any, spell: Callable[[str], str] = str) -> Any:
    """Plain data in which numbers that are not finite are None, with all strings as `spell` returns them."""
    if isinstance(value, dict):
        return {spell(key): finite_data(one, spell) for key, one in value.items()}
    if isinstance(value, list):
        return [finite_data(one, spell) for one in value]
    if isinstance(value, str):
        return spell(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a number in JSON")


# ---- values of any type ---------------------------------------------------------------------------


def table(value: Any) -> dict[str, Any]:
    """The value if it is a JSON object; else an empty dict."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[Any]:
    """The value if it is a list; else an empty list."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """The value if it is a string; else an empty string."""
    return value if isinstance(value, str) else ""


def number(value: Any, default: float | None) -> Any:
    """The value as a float if it is a finite number; else `default`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return default
    try:
        found = float(value)
    except OverflowError:
        return default
    return found if math.isfinite(found) else default


def numbers(value: Any, default: tuple[float, ...]) -> tuple[float, ...]:
    """The value as floats if it is a list of as many finite numbers as `default` has; else `default`."""
    found = tuple(number(one, math.nan) for one in rows(value))
    return found if len(found) == len(default) and not any(map(math.isnan, found)) else default


def index(value: Any, count: int) -> int | None:
    """The value if it is an index below `count`; else None."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        return None
    return value


def snake(name: str) -> str:
    """A camelCase name of glTF in snake_case: "clearcoatFactor" becomes "clearcoat_factor"."""
    return _WORD.sub("_", name).lower()


# ---- cameras and lights -----------------------------------------------------------------------------


@dataclass(frozen=True)
class SceneCamera:
    """A camera of the file. It looks along the -Z axis of its joint, whose +Y axis is up.

    Attributes
    ----------
    name : str
        Name of the camera in the file.
    joint : int
        Index of the joint that the camera moves with.
    type : {"perspective", "orthographic"}
        The projection. Attributes of the other projection are None.
    yfov : float or None, radians
        Perspective: the vertical field of view.
    aspect_ratio : float or None
        Perspective: width divided by height; None for that of the picture.
    xmag : float or None
        Orthographic: half of the visible width.
    ymag : float or None
        Orthographic: half of the visible height.
    znear : float or None
        The distance of the near plane.
    zfar : float or None
        The distance of the far plane; None if there is none.
    """

    name: str
    joint: int
    type: str
    yfov: float | None = None
    aspect_ratio: float | None = None
    xmag: float | None = None
    ymag: float | None = None
    znear: float | None = None
    zfar: float | None = None


@dataclass(frozen=True)
class SceneLight:
    """A light of the file. Directional lights and spots shine along the -Z axis of their joint.

    Attributes
    ----------
    name : str
        Name of the light in the file.
    joint : int
        Index of the joint that the light moves with.
    type : {"directional", "point", "spot"}
        The kind of light.
    color : tuple of 3 float
        Linear RGB.
    intensity : float
        In lux for a directional light, in candela for the others.
    range : float or None
        The distance beyond which the light has no effect; None if it is unlimited.
    inner_cone_angle : float or None, radians
        Spots: the angle from the axis at which the light begins to fade.
    outer_cone_angle : float or None, radians
        Spots: the angle from the axis beyond which there is no light.
    """

    name: str
    joint: int
    type: str
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    intensity: float = 1.0
    range: float | None = None
    inner_cone_angle: float | None = None
    outer_cone_angle: float | None = None


def _used(extras: Extras, key: str, member: str, joints: int) -> list[tuple[int, dict[str, Any]]]:
    """Pairs of a joint and the object of a list, such as a camera, that moves with the joint."""
    objects = rows(extras.get(key))
    found = []
    for pair in rows(extras.get(f"{member}_of")):
        joint, item = (
            index(one, count)
            for one, count in zip((*rows(pair), None, None), (joints, len(objects)), strict=False)
        )
        if joint is not None and item is not None:
            found.append((joint, table(objects[item])))
    return found


def read_cameras(extras: Extras, joints: int) -> tuple[SceneCamera, ...]:
    """The cameras, in the order of their joints."""
    cameras = []
    for joint, one in _used(extras, "cameras", "camera", joints):
        kind = "orthographic" if one.get("type") == "orthographic" else "perspective"
        lens = table(one.get(kind))
        values = {
            name: number(lens.get(key), None)
            for name, key in (
                *(("yfov", "yfov"), ("aspect_ratio", "aspectRatio"), ("xmag", "xmag"), ("ymag", "ymag")),
                *(("znear", "znear"), ("zfar", "zfar")),
            )
        }
        cameras.append(SceneCamera(text(one.get("name")), joint, kind, **values))
    return tuple(cameras)


def read_lights(extras: Extras, joints: int) -> tuple[SceneLight, ...]:
    """The lights, in the order of their joints."""
    lights = []
    for joint, one in _used(extras, "lights", "light", joints):
        kind = one.get("type") if one.get("type") in ("directional", "spot") else "point"
        red, green, blue = numbers(one.get("color"), (1.0, 1.0, 1.0))
        cone = table(one.get("spot")) if kind == "spot" else None
        lights.append(
            SceneLight(
                text(one.get("name")),
                joint,
                str(kind),
                (red, green, blue),
                number(one.get("intensity"), 1.0),
                number(one.get("range"), None),
                None if cone is None else number(cone.get("innerConeAngle"), 0.0),
                None if cone is None else number(cone.get("outerConeAngle"), math.pi / 4),
            )
        )
    return tuple(lights)


# ---- variants ---------------------------------------------------------------------------------------


def read_variants(
    extras: Extras, submeshes: Sequence[Submesh], materials: int
) -> dict[str, tuple[int | None, ...]]:
    """The material of each submesh, by the name of each variant."""
    names = [text(table(one).get("name")) for one in rows(extras.get("variants"))]
    mappings, mapping_of = rows(extras.get("variant_mappings")), rows(extras.get("mapping_of"))
    work = len(names) * len(submeshes)
    changes: list[dict[int, int]] = [{} for _ in names]
    for number_, place in zip(range(len(submeshes)), mapping_of, strict=False):
        mapping = index(place, len(mappings))
        for one in rows(None if mapping is None else mappings[mapping]):
            material = index(table(one).get("material"), materials)
            chosen = rows(table(one).get("variants"))
            work += len(chosen) + 1
            if work > _MAX_VARIANTS:
                raise LimitExceeded(
                    f"the variants have more than {_MAX_VARIANTS} materials; expected fewer of them"
                )
            for variant in chosen:
                at = index(variant, len(names))
                if at is not None and material is not None:
                    changes[at][number_] = material
    plain = [one.material for one in submeshes]
    found: dict[str, tuple[int | None, ...]] = {}
    for name, change in zip(names, changes, strict=True):  # of equal names the first counts
        found.setdefault(name, tuple(change.get(place, material) for place, material in enumerate(plain)))
    return found


def cut_extras(extras: Extras, sources: Sequence[int]) -> Extras:
    """The extras of a model whose submeshes are pieces of those with the numbers `sources`."""
    mapping_of = rows(extras.get("mapping_of"))
    if not mapping_of:
        return extras
    return {**extras, "mapping_of": [mapping_of[one] for one in sources if one < len(mapping_of)]}


# ---- VRM, scenes, joints ----------------------------------------------------------------------------


def read_vrm(extras: Extras) -> dict[str, Any] | None:
    """The extensions of VRM; see Model.vrm."""
    vrm = table(extras.get("vrm"))
    if not vrm:
        return None
    joints = [one if isinstance(one, int) and one >= 0 else None for one in rows(extras.get("joint_of_node"))]
    head = "VRM" if "VRM" in vrm and "VRMC_vrm" not in vrm else "VRMC_vrm"
    found: dict[str, Any] = {**table(vrm.get(head)), "version": 0 if head == "VRM" else 1}
    found |= {name: value for name, value in vrm.items() if name != head}
    found["joint_of_node"] = joints
    nodes = {int(node): one for node, one in table(extras.get("vrm_nodes")).items() if node.isdecimal()}
    if nodes:
        found["nodes"] = nodes
    return copy.deepcopy(found)


def read_scenes(extras: Extras) -> tuple[str, ...]:
    """The names of the scenes."""
    return tuple(map(text, rows(extras.get("scenes"))))


def read_joints(extras: Extras, joints: int) -> tuple[Any, ...]:
    """The data that the author attached to each joint; None for joints without any."""
    attached = table(extras.get("joints"))
    return (
        tuple(copy.deepcopy(attached.get(str(joint))) for joint in range(joints))
        if attached
        else (None,) * joints
    )
