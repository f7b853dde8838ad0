"""The values of a glTF material beyond its base color: metallic-roughness, emission and extensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import LoadError
from .extras import index, number, numbers, snake, table
from .factors import clamped_material

if TYPE_CHECKING:
    from ..assets import Texture

#: The textures of glTF's core material other than that of the base color.
_SLOTS = ("metallicRoughnessTexture", "normalTexture", "occlusionTexture", "emissiveTexture")


def surface(material: Any, images: Sequence[Texture | None]) -> dict[str, Any]:
    """The fields of `Material` that a material of glTF has; `images` are those of the file's textures."""
    given = clamped_material(material)
    pbr, extensions = table(given.get("pbrMetallicRoughness")), table(given.get("extensions"))
    strength = table(extensions.get("KHR_materials_emissive_strength")).get("emissiveStrength")
    fields: dict[str, Any] = {
        "metallic_factor": number(pbr.get("metallicFactor"), 1.0),
        "roughness_factor": number(pbr.get("roughnessFactor"), 1.0),
        "emissive_factor": numbers(given.get("emissiveFactor"), (0.0, 0.0, 0.0)),
        "emissive_strength": number(strength, 1.0),
        "normal_scale": number(table(given.get("normalTexture")).get("scale"), 1.0),
        "occlusion_strength": number(table(given.get("occlusionTexture")).get("strength"), 1.0),
    }
    slots = {key: use for key in _SLOTS if (use := table((pbr if key in pbr else given).get(key)))}
    try:
        fields["slots"] = _plain(slots, images)
        fields["extensions"] = {name: _plain(one, images) for name, one in extensions.items()}
    except RecursionError:
        raise LoadError("a material is nested too deep") from None
    return fields


def _texture(use: dict[str, Any], images: Sequence[Texture | None]) -> Texture | None:
    """The texture that an object with an "index" names."""
    place = index(use.get("index"), len(images))
    return None if place is None else images[place]


def _plain(value: Any, images: Sequence[Texture | None]) -> Any:
    """Plain data with keys in snake_case, and with textures instead of their indices."""
    if isinstance(value, list):
        return tuple(_plain(one, images) for one in value)
    if not isinstance(value, dict):
        return value
    found = {}
    for key, one in value.items():
        name = key if key in ("extras", "extensions") else snake(key)
        found[name] = one if name == "extras" else _plain(one, images)
        if key.endswith("Texture") and isinstance(one, dict):
            found[name].pop("index", None)
            found[name] = {"texture": _texture(one, images), **found[name]}
    return found
