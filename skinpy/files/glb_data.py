"""Data of a model beside geometry and motion, from the section EXTRAS, written back to glTF.

The values are those of the file that the model came from. The index of a node is that of its joint, and
materials keep their indices; textures get new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .._text import unicode_text
from ..models.extras import finite_data, index, rows, table
from ..models.factors import clamped_material

if TYPE_CHECKING:
    from ..model import Model

#: Members of a material that the writer takes from the file; it makes the others itself.
_MEMBERS = ("emissiveFactor", "normalTexture", "occlusionTexture", "emissiveTexture", "extensions", "extras")
_VARIANTS, _LIGHTS, _VISIBILITY = "KHR_materials_variants", "KHR_lights_punctual", "KHR_node_visibility"
_STRENGTH = "KHR_materials_emissive_strength"


def plain(value: Any) -> Any:
    """Plain data as JSON can hold it: numbers that are not finite become None, invalid bytes U+FFFD."""
    return finite_data(value, unicode_text)


def add_nodes(model: Model, nodes: list[dict[str, Any]], switched: set[int]) -> dict[str, Any]:
    """Add extras, cameras, lights and visibility to nodes; return the members of the document for these.

    `switched` are the joints whose visibility a clip changes.
    """
    extras, joints = model._extras, len(model.skeleton)
    for joint, attached in enumerate(model.skeleton.extras):
        if attached is not None:
            nodes[joint]["extras"] = plain(attached)
    hidden = {index(one, joints) for one in rows(extras.get("hidden"))}
    for joint in range(joints):
        if joint in hidden or joint in switched:
            _extension(nodes[joint], _VISIBILITY)["visible"] = joint not in hidden
    found: dict[str, Any] = {}
    cameras, lights = (rows(extras.get(name)) for name in ("cameras", "lights"))
    if cameras and model.cameras:
        found["cameras"] = plain(cameras)
        for place, camera in _pairs(extras.get("camera_of"), joints, len(cameras)):
            nodes[place]["camera"] = camera
    if lights and model.lights:
        found["extensions"] = {_LIGHTS: {"lights": plain(lights)}}
        for place, light in _pairs(extras.get("light_of"), joints, len(lights)):
            _extension(nodes[place], _LIGHTS)["light"] = light
    return found


def animated(model: Model) -> dict[str, set[int]]:
    """The joints and materials that clips change beside poses, by the path of the channels."""
    found: dict[str, set[int]] = {}
    for clip in model.clips:
        for channel in clip._look_channels:
            found.setdefault(channel.path, set()).add(channel.moved)
    return found


def _extension(holder: dict[str, Any], name: str) -> dict[str, Any]:
    """The extension of an object, made where it is missing."""
    found: dict[str, Any] = holder.setdefault("extensions", {}).setdefault(name, {})
    return found


def _pairs(value: Any, joints: int, count: int) -> Iterable[tuple[int, int]]:
    for pair in rows(value):
        joint, item = (
            index(one, n) for one, n in zip((*rows(pair), None, None), (joints, count), strict=False)
        )
        if joint is not None and item is not None:
            yield joint, item


def add_variants(model: Model, primitives: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Add the mappings of variants to primitives, by submesh; return the extension of the document."""
    variants = model.variants
    if not variants:
        return {}
    names = list(variants)
    for submesh, primitive in primitives.items():
        by_material: dict[int, list[int]] = {}
        for number, name in enumerate(names):
            material = variants[name][submesh]
            if material is not None and material != primitive.get("material"):
                by_material.setdefault(material, []).append(number)
        if by_material:
            mappings = [{"material": one, "variants": chosen} for one, chosen in by_material.items()]
            _extension(primitive, _VARIANTS)["mappings"] = mappings
    return {_VARIANTS: {"variants": [{"name": unicode_text(name)} for name in names]}}


def material_members(
    model: Model, number: int, texture: Callable[[int], int | None], needs_strength: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The members of a material, and those of its pbrMetallicRoughness, beyond base color and alpha.

    `texture` takes the index of a texture of the file and returns that of the written one, or None.
    `needs_strength`: a clip changes the strength of the emission, so that value must exist for its pointer.
    """
    materials = rows(model._extras.get("materials"))
    given = clamped_material(materials[number]) if number < len(materials) else {}
    members = {name: plain(given[name]) for name in _MEMBERS if name in given}
    if needs_strength:
        _extension(members, _STRENGTH).setdefault("emissiveStrength", 1.0)
    pbr = table(given.get("pbrMetallicRoughness"))
    material = model.materials[number]
    surface = {"metallicFactor": material.metallic_factor, "roughnessFactor": material.roughness_factor}
    if "metallicRoughnessTexture" in pbr:
        surface["metallicRoughnessTexture"] = plain(pbr["metallicRoughnessTexture"])
    return _renumbered(members, texture), _renumbered(surface, texture)


def _renumbered(value: Any, texture: Callable[[int], int | None]) -> Any:
    """Plain data with the textures that were written; a texture that was not is left out."""
    if isinstance(value, list):
        return [_renumbered(one, texture) for one in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, one in value.items():
        if key == "extras":
            found[key] = one
        elif key.endswith("Texture") and isinstance(one, dict):
            place = one.get("index")
            written = texture(place) if isinstance(place, int) and not isinstance(place, bool) else None
            if written is not None:
                found[key] = _renumbered(one, texture) | {"index": written}
        else:
            found[key] = _renumbered(one, texture)
    return found


def used_extensions(value: Any) -> set[str]:
    """The names of all extensions in a document, without those in extras."""
    found: set[str] = set()
    if isinstance(value, list):
        for one in value:
            found |= used_extensions(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key == "extensions" and isinstance(one, dict):
                found |= set(one)
            if key != "extras":
                found |= used_extensions(one)
    return found
