"""Factors of materials outside their range are moved into it and reported, in every format that has them."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest

import skinpy
from skinpy.models.extras import snake
from skinpy.models.factors import FACTORS

CODE = "material_factors_clamped"
#: Ranges that the specifications say themselves, by the last name of a path (glTF 2.0, 5.19 and 5.22).
STATED = {"metallicFactor": (0, 1), "emissiveFactor": (0, 1), "emissiveStrength": (0, np.inf)}
COLORS = (
    ("emissiveFactor",),
    ("extensions", "KHR_materials_sheen", "sheenColorFactor"),
    ("extensions", "KHR_materials_specular", "specularColorFactor"),
    ("extensions", "KHR_materials_volume", "attenuationColor"),
    ("extensions", "KHR_materials_pbrSpecularGlossiness", "specularFactor"),
)


def glb(material: dict[str, Any], *, clip: Any = None) -> bytes:
    file = builders.Gltf()
    file.materials.append(material)
    corners = np.eye(3)
    file.node("n", mesh=file.mesh(file.primitive(corners, [[0, 1, 2]], normals=corners, material=0)))
    if clip is not None:
        path, values = clip
        channel = file.channel(0, "translation", [0, 1], values)
        channel["target"] = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": path}}}
        file.animation("c", channel)
    return file.glb()


def load(data: bytes) -> skinpy.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        return skinpy.load(data, format="glb")


def nested(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    first, *rest = path
    return {first: nested(tuple(rest), value) if rest else value}


def counts(model: skinpy.Model) -> int:
    return sum(entry.count for entry in model.report if entry.code == CODE)


def values_of(model: skinpy.Model, path: tuple[str, ...]) -> Iterator[float]:
    """The numbers of a factor as `Material` has them."""
    material, name = model.materials[0], snake(path[-1])
    if path[0] == "extensions":
        found = material.extensions[path[1]][name]
    else:
        found = getattr(material, "occlusion_strength" if name == "strength" else name)
    yield from found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("path", FACTORS, ids=".".join)
def test_a_factor_outside_its_range(path: tuple[str, ...], tmp_path: Path) -> None:
    low, high = STATED.get(path[-1], FACTORS[path])
    is_color = path in COLORS
    for wrong in (low - 1.5, high + 1.5):
        if not np.isfinite(wrong):
            continue
        value = [wrong, 0.5, wrong] if is_color else wrong
        model = load(glb({"alphaMode": "MASK"} | nested(path, value)))
        assert counts(model) == (2 if is_color else 1)
        near = min(max(wrong, low), high)
        assert list(values_of(model, path)) == ([near, 0.5, near] if is_color else [near])
        if path == ("occlusionTexture", "strength"):
            continue  # without an image nothing of it is written
        model.save(tmp_path / "a.glb")
        again = load((tmp_path / "a.glb").read_bytes())
        assert not counts(again)
        assert list(values_of(again, path)) == list(values_of(model, path))


@pytest.mark.parametrize("path", FACTORS, ids=".".join)
def test_a_factor_within_its_range_is_kept(path: tuple[str, ...]) -> None:
    model = load(glb(nested(path, 0.25)))
    assert not counts(model)


def test_base_colors() -> None:
    model = load(glb({"pbrMetallicRoughness": {"baseColorFactor": [1.5, -0.5, 0.5, 2]}}))
    assert counts(model) == 3 and model.materials[0].base_color == (1, 0, 0.5, 1)
    (entry,) = (entry for entry in model.report if entry.code == CODE)
    assert entry.severity == "repaired" and "1.5" in entry.first


def test_base_colors_of_other_formats() -> None:
    x = b"""xof 0303txt 0032
Material m { 2.0;-1.0;0.5;1.0;; 0;0;0;0;; 0;0;0;; }
Frame f { Mesh { 3; 0;0;0;, 1;0;0;, 0;1;0;; 1; 3;0,1,2;; MeshMaterialList { 1; 1; 0; { m } } } }
"""
    model = skinpy.load(x, format="x")
    assert counts(model) == 2 and model.materials[0].base_color == (1, 0, 0.5, 1)


def test_keys_of_factors() -> None:
    data = glb({}, clip=("/materials/0/emissiveFactor", [[0, 0, 0], [2, 0.5, -1]]))
    model = load(data)
    assert counts(model) == 2
    np.testing.assert_array_equal(model.clips[0].channels[0].values, [[0, 0, 0], [1, 0.5, 0]])
    assert model.clips[0].material_values(1.0)[0]["emissive_factor"].tolist() == [1, 0.5, 0]
