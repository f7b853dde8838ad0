"""The ranges of the factors of a glTF's materials, which the section EXTRAS holds as the file has them.

They are those of glTF 2.0, 5.19 and 5.22, and of the extensions' specifications. The importer has the same
table (import_gltf_material.c), by which it reports what is outside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._types import Array, Floats
from .extras import table

_UP = (0.0, math.inf)
_PART = (0.0, 1.0)

#: The smallest and the largest number of each factor, by the names of the objects that lead to it.
FACTORS: Mapping[tuple[str, ...], tuple[float, float]] = {
    ("pbrMetallicRoughness", "metallicFactor"): _PART,
    ("pbrMetallicRoughness", "roughnessFactor"): _PART,
    ("emissiveFactor",): _PART,
    ("alphaCutoff",): _UP,
    ("occlusionTexture", "strength"): _PART,
    **{
        ("extensions", f"KHR_materials_{extension}", name): bounds
        for extension, name, bounds in (
            ("emissive_strength", "emissiveStrength", _UP),
            ("clearcoat", "clearcoatFactor", _PART),
            ("clearcoat", "clearcoatRoughnessFactor", _PART),
            ("sheen", "sheenColorFactor", _PART),
            ("sheen", "sheenRoughnessFactor", _PART),
            ("transmission", "transmissionFactor", _PART),
            ("specular", "specularFactor", _PART),
            ("specular", "specularColorFactor", _UP),
            ("iridescence", "iridescenceFactor", _PART),
            ("anisotropy", "anisotropyStrength", _PART),
            ("volume", "thicknessFactor", _UP),
            ("volume", "attenuationColor", _PART),
            ("dispersion", "dispersion", _UP),
            ("pbrSpecularGlossiness", "specularFactor", _PART),
            ("pbrSpecularGlossiness", "glossinessFactor", _PART),
        )
    },
}

#: The same by the path of a channel that changes the factor.
_PATHS = {
    "base_color_factor": _PART,
    "metallic_factor": _PART,
    "roughness_factor": _PART,
    "emissive_factor": _PART,
    "occlusion_strength": _PART,
    "emissive_strength": _UP,
    "alpha_cutoff": _UP,
}


def clamped_material(value: Any) -> dict[str, Any]:
    """A material of glTF whose factors are within their ranges; the value itself where they are."""
    material = table(value)
    for path, bounds in FACTORS.items():
        holder = material
        for name in path[:-1]:
            holder = table(holder.get(name))
        if (found := holder.get(path[-1])) is not None and (near := _near(found, bounds)) != found:
            material = _replaced(material, path, near)
    return material


def clamped_value(path: str, value: Array) -> Floats:
    """The values (C,) float32 of a channel of materials, within the range of its path."""
    low, high = _PATHS.get(path, (-math.inf, math.inf))
    return np.clip(value, low, high).astype(np.float32)


def _near(value: Any, bounds: tuple[float, float]) -> Any:
    """The number of the range that is nearest, of each number of a list; other values stay."""
    if isinstance(value, list):
        return [_near(one, bounds) for one in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return min(max(value, bounds[0]), bounds[1])


def _replaced(holder: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """A copy with another value at a path; what it shares with the old one is not changed."""
    name, *rest = path
    return holder | {name: _replaced(holder[name], tuple(rest), value) if rest else value}
