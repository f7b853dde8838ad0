"""What a glTF says beside geometry: pointers, materials, scenes, cameras, lights, variants, VRM and extras.

The values are those of the specifications: glTF 2.0 and its extensions (KHR_...), VRM 0 and 1.
"""

import base64
import io
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import Gltf, beside_geometry

import skinpy
from skinpy import _block

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)


def png(color: tuple[int, int, int] = (255, 0, 0), encoding: str = "png") -> str:
    """The data URI of an image of one color."""
    Image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    Image.new("RGB", (2, 2), color).save(file, encoding)
    return f"data:image/{encoding};base64," + base64.b64encode(file.getvalue()).decode()


def triangle() -> Gltf:
    """A node "board" with one triangle of material 0, and a child "leaf" with another."""
    file = Gltf()
    for name in ("board", "leaf"):
        mesh = file.mesh(file.primitive(CORNERS, [[0, 1, 2]], material=0), name=name)
        file.node(name, None if name == "board" else 0, mesh=mesh)
    file.materials.append({"name": "paint"})
    return file


def load(file: Gltf, silent: bool = True, scene: Any = None, **more: Any) -> skinpy.Model:
    """The model of a file with further members of its root."""
    data = json.dumps(file.document() | document_buffer(file) | more).encode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if silent else "error", skinpy.SkinpyWarning)
        return skinpy.load(data, format="gltf", scene=scene)


def document_buffer(file: Gltf) -> dict[str, Any]:
    uri = "data:application/octet-stream;base64," + base64.b64encode(bytes(file.blob)).decode()
    return {"buffers": [{"byteLength": len(file.blob), "uri": uri}]}


def codes(model: skinpy.Model) -> dict[str, str]:
    return {entry.code: entry.first for entry in model.report if entry.code != "normals_generated"}


def pointer(file: Gltf, text: str, values: Any, interpolation: str = "linear", dtype: str = "f4") -> None:
    """Add a clip whose one channel has keys at 0 and 1 s for a pointer."""
    channel = file.channel(0, "translation", [0, 1], [[0, 0, 0]] * 2, interpolation)
    channel["sampler"]["output"] = file.accessor(values, dtype)
    extension = {"KHR_animation_pointer": {"pointer": text}}
    channel["target"] = {"path": "pointer", "extensions": extension}
    file.animation(text, channel)


# ---- KHR_animation_pointer ------------------------------------------------------------------------------


def test_pointers_to_nodes_are_ordinary_channels() -> None:
    file = triangle()
    pointer(file, "/nodes/1/translation", [[0, 0, 0], [2, 0, 0]])
    pointer(file, "\\/nodes\\/1\\/scale".replace("\\", ""), [[1, 1, 1], [3, 1, 1]])
    model = load(file, silent=False, extensionsUsed=["KHR_animation_pointer"])
    assert codes(model) == {}
    leaf = model.skeleton.index("leaf")
    assert abs(model.globals(0, 0.5)[leaf, 0, 3] - 1) < 1e-6
    assert abs(model.globals(1, 0.5)[leaf, 0, 0] - 2) < 1e-6


@pytest.mark.parametrize(
    ("text", "path", "values"),
    [
        ("pbrMetallicRoughness/baseColorFactor", "base_color_factor", [[1, 0, 0, 1], [0, 1, 0, 0]]),
        ("pbrMetallicRoughness/metallicFactor", "metallic_factor", [[0], [1]]),
        ("pbrMetallicRoughness/roughnessFactor", "roughness_factor", [[0], [1]]),
        ("emissiveFactor", "emissive_factor", [[0, 0, 0], [1, 0.5, 0]]),
        ("extensions/KHR_materials_emissive_strength/emissiveStrength", "emissive_strength", [[1], [9]]),
        ("alphaCutoff", "alpha_cutoff", [[0], [1]]),
        ("normalTexture/scale", "normal_scale", [[0], [2]]),
        ("occlusionTexture/strength", "occlusion_strength", [[0], [1]]),
    ],
)
def test_pointers_to_materials_are_material_tracks(text: str, path: str, values: Any) -> None:
    file = triangle()
    pointer(file, f"/materials/0/{text}", values)
    model = load(file, silent=False)
    (channel,) = model.clips[0].channels
    assert (channel.material, channel.joint, channel.path, channel.name) == (0, None, path, "paint")
    half = np.mean(values, axis=0)
    np.testing.assert_allclose(model.clips[0].material_values(0.5)[0][path], half, atol=1e-6)
    np.testing.assert_allclose(model.clips[0].material_values(1.5)[0][path], half, atol=1e-6)  # wraps


def test_texture_transforms_are_uv_animations() -> None:
    """M = T(offset) R(rotation) S(scale); KHR_texture_transform has the matrices."""
    file = triangle()
    start = "/materials/0/pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform/"
    pointer(file, start + "offset", [[0, 0], [0.5, 0.25]])
    file.animations[0]["channels"] += [
        {"sampler": 1, "target": {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": p}}}}
        for p in [start + "rotation"]
    ]
    times = file.accessor([0, 0.5])
    file.animations[0]["samplers"].append({"input": times, "output": file.accessor([[0], [1]])})
    use = {"index": 0, "extensions": {"KHR_texture_transform": {"scale": [2, 3]}}}
    file.materials[0]["pbrMetallicRoughness"] = {"baseColorTexture": use}
    model = load(file, silent=False, images=[{"uri": png()}], textures=[{"source": 0}])
    (animation,) = model.clips[0].uv_animations.values()
    assert list(model.clips[0].uv_animations) == [(0, "base_color")]
    for time, turn in ((0.0, 0.0), (0.25, 0.5), (0.75, 1.0)):
        c, s = np.cos(turn), np.sin(turn)
        offset = np.array([0.5, 0.25]) * time
        want = [[2 * c, 3 * s, offset[0]], [-2 * s, 3 * c, offset[1]], [0, 0, 1]]
        np.testing.assert_allclose(animation.sample(time), want, atol=1e-6)
        np.testing.assert_allclose(model.clips[0].material_values(time)[0]["uv_transform"], want, atol=1e-6)


def test_visibility_is_inherited() -> None:
    file = triangle()
    hidden = {"extensions": {"KHR_node_visibility": {"visible": False}}}
    file.nodes[1] |= hidden
    pointer(file, "/nodes/0/extensions/KHR_node_visibility/visible", [[1], [0]], "step", "u1")
    pointer(file, "/nodes/1/extensions/KHR_node_visibility/visible", [[0], [1]], "step", "u1")
    model = load(file)
    board, leaf = (model.skeleton.index(name) for name in ("board", "leaf"))
    assert model.clips[0].channels[0].path == "visibility" and model.clips[0].channels[0].joint == board
    shown = [model.clips[0].visible_joints(time) for time in (0.0, 0.9)]
    assert [one[board] for one in shown] == [True, True] and not any(one[leaf] for one in shown)
    assert not model.clips[0].visible_joints(1.0, loop="clamp")[board]
    assert model.clips[1].visible_joints(1.0, loop="clamp")[leaf]
    assert model.clips[1].visible_submeshes(1.0, loop="clamp").all()


@pytest.mark.parametrize(
    "text",
    [
        "/materials/0/pbrMetallicRoughness/other",
        "/cameras/0/perspective/yfov",
        "/nodes/x/translation",
        "/nodes/99999999999999999999/translation",
        "/nodes/0/extensions/KHR_node_visibility/visible/",
    ],
)
def test_other_pointers_are_reported_by_their_text(text: str) -> None:
    file = triangle()
    pointer(file, text, [[0, 0, 0], [1, 1, 1]])
    assert f"{text} is not played" in codes(load(file))["channels_dropped"]


def test_pointers_to_what_is_not_there() -> None:
    file = triangle()
    pointer(file, "/materials/7/alphaCutoff", [[0], [1]])
    assert "its material does not exist" in codes(load(file))["channels_dropped"]


def test_values_without_a_time_are_reported() -> None:
    file = triangle()
    file.animation("long", file.channel(0, "translation", [0, 1], np.eye(3)))
    model = load(file)
    assert codes(model) == {"values_without_times": "animations[0].channels[0]: 3 values for 2 times"}
    assert len(model.clips[0].channels[0].times) == 2


# ---- materials ------------------------------------------------------------------------------------------


def test_samplers() -> None:
    """The numbers are OpenGL's: glTF 2.0, 5.26."""
    file = triangle()
    file.materials[0]["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 0}}
    sampler = {"wrapS": 33071, "wrapT": 33648, "minFilter": 9986, "magFilter": 9728}
    model = load(file, images=[{"uri": png()}], textures=[{"source": 0, "sampler": 0}], samplers=[sampler])
    (paint,) = model.materials
    assert paint.wrap == ("clamp_to_edge", "mirrored_repeat")
    assert (paint.min_filter, paint.mag_filter) == ("nearest_mipmap_linear", "nearest")


def test_values_of_materials() -> None:
    file = triangle()
    file.materials[0] |= {
        "pbrMetallicRoughness": {"roughnessFactor": 0.25, "metallicRoughnessTexture": {"index": 1}},
        "normalTexture": {"index": 0, "scale": 2, "texCoord": 1},
        "occlusionTexture": {"index": 1, "strength": 0.5},
        "emissiveFactor": [0.5, 0.25, 1],
        "extensions": {
            "KHR_materials_emissive_strength": {"emissiveStrength": 4},
            "KHR_materials_clearcoat": {
                "clearcoatFactor": 0.5,
                "clearcoatTexture": {"index": 1, "texCoord": 1},
            },
            "KHR_materials_unlit": {},
        },
    }
    images = [{"uri": png((0, 0, 255))}, {"uri": png((0, 255, 0))}]
    model = load(file, silent=False, images=images, textures=[{"source": 1}, {"source": 0}])
    kept = "KHR_materials_emissive_strength, KHR_materials_clearcoat, KHR_materials_unlit, "
    kept += "metallicRoughnessTexture, normalTexture, occlusionTexture"
    assert codes(model) == {"looks_kept": kept}
    (paint,) = model.materials
    assert (paint.metallic_factor, paint.roughness_factor) == (1.0, 0.25)  # 1 is glTF's default
    assert (paint.normal_scale, paint.occlusion_strength, paint.emissive_strength) == (2, 0.5, 4)
    assert paint.emissive_factor == (0.5, 0.25, 1)
    assert paint.normal_texture is not None and paint.normal_texture.image()[0, 0].tolist() == [
        0,
        255,
        0,
        255,
    ]
    assert paint.occlusion_texture == paint.metallic_roughness_texture is not None
    assert paint.slots["normal_texture"] == {"texture": paint.normal_texture, "scale": 2, "tex_coord": 1}
    coat = paint.extensions["KHR_materials_clearcoat"]
    assert coat == {
        "clearcoat_factor": 0.5,
        "clearcoat_texture": {"texture": paint.occlusion_texture, "tex_coord": 1},
    }
    assert paint.extensions["KHR_materials_unlit"] == {} and paint.emissive_texture is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("clearcoatFactor", "clearcoat_factor"),
        ("uvAnimationScrollXSpeedFactor", "uv_animation_scroll_x_speed_factor"),
        ("ior", "ior"),
        ("shadingToonyFactor", "shading_toony_factor"),
    ],
)
def test_members_of_extensions_are_in_snake_case(name: str, expected: str) -> None:
    file = triangle()
    file.materials[0]["extensions"] = {"KHR_materials_clearcoat": {name: 0.5}}
    assert load(file).materials[0].extensions["KHR_materials_clearcoat"] == {expected: 0.5}


def test_specular_glossiness_gives_color_and_texture() -> None:
    file = triangle()
    name = "KHR_materials_pbrSpecularGlossiness"
    look = {"diffuseFactor": [1, 0, 0, 1], "diffuseTexture": {"index": 0}}
    file.materials[0] |= {
        "extensions": {name: look},
        "pbrMetallicRoughness": {"baseColorFactor": [0, 0, 1, 1]},
    }
    model = load(
        file, silent=False, images=[{"uri": png()}], textures=[{"source": 0}], extensionsRequired=[name]
    )
    (paint,) = model.materials
    assert paint.base_color == (1, 0, 0, 1) and paint.texture is not None


@pytest.mark.parametrize("name", ["EXT_texture_webp", "MSFT_texture_dds"])
def test_images_of_extensions(name: str) -> None:
    file = triangle()
    file.materials[0]["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 0}}
    image = {"uri": png(encoding="webp" if name == "EXT_texture_webp" else "dds")}
    texture = {"extensions": {name: {"source": 0}}}
    model = load(file, silent=False, images=[image], textures=[texture], extensionsRequired=[name])
    assert model.materials[0].texture is not None
    red, green, blue, _ = model.materials[0].texture.image()[0, 0].tolist()
    assert red > 240 and green < 16 and blue < 16  # both codecs lose a little


def test_textures_that_nobody_decodes_are_reported() -> None:
    file = triangle()
    file.materials[0]["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 0}}
    data = base64.b64encode(b"\xabKTX 20\xbb\r\n\x1a\n" + bytes(68)).decode()
    texture = {"extensions": {"KHR_texture_basisu": {"source": 0}}}
    image = {"uri": f"data:image/ktx2;base64,{data}"}
    model = load(file, images=[image], textures=[texture], extensionsRequired=["KHR_texture_basisu"])
    assert codes(model) == {"textures_undecoded": "images[0] is ktx2 (KHR_texture_basisu)"}
    fallback = load(file, silent=False, images=[image, {"uri": png()}], textures=[texture | {"source": 1}])
    assert fallback.materials[0].texture is not None and fallback.materials[0].texture.format == "png"


# ---- extensions -----------------------------------------------------------------------------------------


def test_extensions_that_are_not_read_are_named() -> None:
    file = triangle()
    file.materials[0]["extensions"] = {"KHR_materials_new": {}}
    file.nodes[0]["extras"] = {"extensions": {"not_an_extension": {}}}
    model = load(file, silent=False, extensionsUsed=["ACME_rainbow", "KHR_xmp_json_ld", "MSFT_lod"])
    assert codes(model) == {"extensions_unread": "ACME_rainbow, KHR_xmp_json_ld, MSFT_lod, KHR_materials_new"}
    required = load(file, extensionsUsed=["ACME_rainbow"], extensionsRequired=["ACME_rainbow"])
    assert codes(required)["extensions_ignored"] == "ACME_rainbow"
    assert codes(required)["extensions_unread"] == "KHR_materials_new"


# ---- scenes, cameras, lights ----------------------------------------------------------------------------


def two_scenes() -> dict[str, Any]:
    return {"scenes": [{"nodes": [0], "name": "day"}, {"nodes": [2], "name": "nüght"}]}


def test_a_scene_is_chosen_by_name_or_index() -> None:
    file = triangle()
    file.node("moon", None, mesh=0)
    plain = load(file, **two_scenes())
    assert plain.scenes == ("day", "nüght") and plain.skeleton.names == ("board", "leaf")
    for scene in (1, "nüght"):
        assert load(file, scene=scene, **two_scenes()).skeleton.names == ("moon",)
    for scene, words in ((2, "no scene 2; the file has 2: 0 'day', 1 "), ("x", "no scene 'x'")):
        with pytest.raises(skinpy.LoadError, match=words):
            load(file, scene=scene, **two_scenes())
    with pytest.raises(ValueError, match="scene is -1"):
        load(file, scene=-1)
    with pytest.raises(TypeError, match=r"scene is 1\.5; expected an index or a name"):
        load(file, scene=1.5)
    with pytest.raises(skinpy.LoadError, match="no scenes to choose from"):
        skinpy.load(b"v 0 0 0\n", format="obj", scene=0)


def test_isolated_imports_choose_scenes_too(tmp_path: Path) -> None:
    file = triangle()
    file.node("moon", None, mesh=0)
    path = tmp_path / "a.gltf"
    path.write_text(json.dumps(file.document() | document_buffer(file) | two_scenes()))
    for isolate in (True, False):
        with pytest.warns(skinpy.SkinpyWarning, match="outside the scene that was loaded"):
            model = skinpy.load(path, scene="nüght", isolate=isolate)
        assert model.skeleton.names == ("moon",)


def test_cameras_and_lights() -> None:
    file = triangle()
    file.nodes[1] |= {"camera": 0, "extensions": {"KHR_lights_punctual": {"light": 1}}}
    file.nodes[0] |= {"camera": 1, "extensions": {"KHR_lights_punctual": {"light": 0}}}
    lens = {"yfov": 0.5, "aspectRatio": 1.5, "znear": 0.1}
    lights = [
        {"type": "directional", "intensity": 3, "name": "sun"},
        {"type": "spot", "color": [1, 0.5, 0], "range": 9, "spot": {"outerConeAngle": 0.25}},
    ]
    cameras = [
        {"type": "perspective", "perspective": lens, "name": "eye"},
        {"type": "orthographic", "orthographic": {"xmag": 2, "ymag": 1, "zfar": 5, "znear": 0}},
    ]
    model = load(file, silent=False, cameras=cameras, extensions={"KHR_lights_punctual": {"lights": lights}})
    assert codes(model) == {}
    assert model.cameras == (
        skinpy.SceneCamera("", 0, "orthographic", xmag=2, ymag=1, zfar=5, znear=0),
        skinpy.SceneCamera("eye", 1, "perspective", yfov=0.5, aspect_ratio=1.5, znear=0.1),
    )
    assert model.lights == (
        skinpy.SceneLight("sun", 0, "directional", intensity=3),
        skinpy.SceneLight("", 1, "spot", (1, 0.5, 0), 1, 9, 0, 0.25),
    )


# ---- variants, VRM, extras ------------------------------------------------------------------------------


def with_variants() -> tuple[Gltf, dict[str, Any]]:
    file = triangle()
    file.materials += [{"name": "red"}, {"name": "blue"}]
    mappings = [{"material": 1, "variants": [0]}, {"material": 2, "variants": [1]}]
    primitive = file.meshes[1]["primitives"][0]
    primitive["extensions"] = {"KHR_materials_variants": {"mappings": mappings}}
    variants = {"variants": [{"name": "warm"}, {"name": "cold"}]}
    return file, {"extensions": {"KHR_materials_variants": variants}}


def test_variants() -> None:
    file, more = with_variants()
    model = load(file, silent=False, **more)
    assert model.variants == {"cold": (0, 2), "warm": (0, 1)}
    rigid = model.as_rigid()
    assert rigid.variants == model.variants


def test_vrm() -> None:
    file = triangle()
    human = {"humanBones": {"hips": {"node": 1}}}
    extensions = {"VRMC_vrm": {"specVersion": "1.0", "humanoid": human}, "VRMC_springBone": {"springs": []}}
    file.nodes[1]["extensions"] = {"VRMC_node_constraint": {"constraint": {}}}
    model = load(file, extensions=extensions, extensionsUsed=list(extensions))
    assert [(e.code, e.first) for e in model.report.lost] == [("constraints_ignored", "VRMC_node_constraint")]
    assert model.vrm == {
        "specVersion": "1.0",
        "humanoid": human,
        "version": 1,
        "VRMC_springBone": {"springs": []},
        "joint_of_node": [0, 1],
        "nodes": {1: {"VRMC_node_constraint": {"constraint": {}}}},
    }
    old = load(triangle(), silent=False, extensions={"VRM": {"meta": {"title": "a"}}})
    assert old.vrm == {"meta": {"title": "a"}, "version": 0, "joint_of_node": [0, 1]}
    assert skinpy.character().vrm is None and skinpy.character().variants == {}


def test_extras_of_nodes() -> None:
    file = triangle()
    file.nodes[1]["extras"] = {"health": 3, "tags": ["a", None, True, '\u00e9 "q"'], "big": 1e300}
    model = load(file)
    assert model.skeleton.extras == (None, file.nodes[1]["extras"])


def test_sloppy_json_becomes_json() -> None:
    """What the importer's tokenizer takes and a parser of JSON does not."""
    file = triangle()
    file.nodes[1]["extras"] = {"a": "HERE"}
    data = json.dumps(file.document() | document_buffer(file)).replace(
        '"HERE"', '[01, -, 1.5.2, tru, "\t", 2,]'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        model = skinpy.load(data.encode(), format="gltf")
    assert model.skeleton.extras[1] == {"a": [None, None, None, True, "\t", 2]}


# ---- the section ----------------------------------------------------------------------------------------


def rich() -> skinpy.Model:
    file, more = with_variants()
    file.nodes[1] |= {"extras": {"a": 1}, "camera": 0}
    more |= {"cameras": [{"type": "perspective", "perspective": {"yfov": 1, "znear": 1}}]}
    more["extensions"]["VRM"] = {"meta": {}}
    file.materials[0]["emissiveFactor"] = [1, 1, 1]
    return load(file, **more)


def facts(model: skinpy.Model) -> tuple[Any, ...]:
    return (model.scenes, model.cameras, model.variants, model.vrm, model.skeleton.extras, model.materials)


def test_the_section_is_kept(tmp_path: Path) -> None:
    model = rich()
    model.save(tmp_path / "a.skn")
    again = skinpy.load(tmp_path / "a.skn")
    assert facts(again) == facts(model)
    assert facts(pickle.loads(pickle.dumps(model))) == facts(model)
    clip = skinpy.Clip.from_arrays("c", fps=1, joints=["leaf"], translation=[[[0, 0, 0]], [[1, 0, 0]]])
    assert facts(model.add_clips(clip)) == facts(model)
    assert facts(pickle.loads(pickle.dumps(model.add_clips(clip)))) == facts(model)


def with_section(data: bytes) -> skinpy.Model:
    model = rich()
    sections = {name: _block.section(model._block, name) for name in model._block.sections}
    sections["EXTRAS"] = np.frombuffer(data, np.uint8)
    return skinpy.Model(_block.pack(sections, model.mesh.slots.shape[1]))


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b"NaN", b'{"a":Infinity}', b"[" * 100_000, b'{"a":' + b"1" * 9999 + b"}", b"\xff"]
)
def test_a_section_that_is_no_json_is_a_load_error(data: bytes) -> None:
    with pytest.raises(skinpy.LoadError, match="section EXTRAS"):
        with_section(data)


NOTHING: list[Any] = [
    None,
    True,
    -1,
    1e999,
    "x",
    [],
    {},
    [[]],
    [{}],
    {"a": []},
    [["x", "y"]],
    [[0, 0]],
    [10**40],
]


@pytest.mark.parametrize("value", NOTHING, ids=repr)
def test_values_of_wrong_types_count_as_absent(value: Any) -> None:
    keys = ["scenes", "cameras", "camera_of", "lights", "light_of", "variants", "variant_mappings"]
    keys += ["mapping_of", "vrm", "vrm_nodes", "joint_of_node", "joints", "materials", "textures", "hidden"]
    for key in keys:
        good = {"scenes": ["a"], "cameras": [{}], "camera_of": [[0, 0]], "lights": [{}], "light_of": [[1, 0]]}
        good |= {"variants": [{"name": "v"}], "variant_mappings": [[{"material": 1, "variants": [0]}]]}
        good |= {"mapping_of": [0, 0], "vrm": {"VRM": {}}, "materials": [{}], "joint_of_node": [0]}
        text = json.dumps(good | {key: value}).replace("Infinity", "1e999")
        model = with_section(text.encode())
        assert len(facts(model)) == 6 and model.lights is not None
        assert all(np.isfinite(one.roughness_factor) for one in model.materials)
    for member in ("pbrMetallicRoughness", "normalTexture", "extensions", "emissiveFactor"):
        text = json.dumps({"materials": [{member: value}, value]}).replace("Infinity", "1e999")
        assert len(with_section(text.encode()).materials) == 3


# ---- drawing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sampler", "columns"),
    [  # the colors at u = -0.25, 0.25, 0.75 and 1.25; red lies left of u = 0.5 and blue right of it
        ({}, "BRBR"),
        ({"wrapS": 33071}, "RRBB"),
        ({"wrapS": 33648}, "RRBB"),
        ({"wrapT": 33648}, "BRBR"),
    ],
)
def test_samplers_are_drawn(sampler: dict[str, int], columns: str) -> None:
    """glTF 2.0, 3.8.4.3: CLAMP_TO_EDGE repeats the last texel, MIRRORED_REPEAT every other image reversed."""
    pytest.importorskip("moderngl")
    pillow = pytest.importorskip("PIL.Image")
    image = np.zeros((2, 2, 3), np.uint8)
    image[:, 0], image[:, 1] = (255, 0, 0), (0, 0, 255)
    stream = io.BytesIO()
    pillow.fromarray(image).save(stream, "png")
    uri = "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()
    file = Gltf()
    corners = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]
    uvs = [[-0.5, 1], [1.5, 1], [1.5, 0], [-0.5, 0]]
    normals = np.tile([0, 0, 1], (4, 1))
    primitive = file.primitive(corners, [[0, 1, 2], [0, 2, 3]], uvs=uvs, normals=normals, material=0)
    file.node("quad", mesh=file.mesh(primitive))
    file.materials.append({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}})
    samplers = [{"magFilter": 9728, **sampler}]
    model = load(
        file, False, images=[{"uri": uri}], textures=[{"source": 0, "sampler": 0}], samplers=samplers
    )
    camera = skinpy.render.Camera(eye=(0, 0, 3), target=(0, 0, 0), fov=40)
    picture = model.render(size=(96, 96), camera=camera)
    across = np.array([-0.75, -0.25, 0.25, 0.75]) / (3 * np.tan(np.radians(20)))
    pixels = picture[40, np.rint(48 + 48 * across - 0.5).astype(int)]
    assert "".join("R" if red > blue else "B" for red, _, blue, _ in pixels.tolist()) == columns


# ---- saved as .glb --------------------------------------------------------------------------------------


def test_a_glb_keeps_what_gltf_can_hold(tmp_path: Path) -> None:
    file, more = with_variants()
    file.nodes[0] |= {"extras": {"a": 1}, "camera": 0}
    file.nodes[1]["extensions"] = {"KHR_lights_punctual": {"light": 0}}
    more["cameras"] = [{"type": "perspective", "name": "eye", "perspective": {"yfov": 1, "znear": 1}}]
    more["extensions"]["KHR_lights_punctual"] = {"lights": [{"type": "point", "intensity": 5}]}
    file.materials[0] |= {
        "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0.5},
        "normalTexture": {"index": 1, "scale": 0.5},
        "emissiveFactor": [1, 0.5, 0],
        "extensions": {"KHR_materials_clearcoat": {"clearcoatFactor": 1, "clearcoatTexture": {"index": 1}}},
    }
    images = [{"uri": png()}, {"uri": png((0, 0, 255))}]
    samplers = [{"wrapS": 33071, "wrapT": 33648, "minFilter": 9728, "magFilter": 9729}]
    textures = [{"source": 0, "sampler": 0}, {"source": 1}]
    start = "/materials/0/pbrMetallicRoughness/"
    pointer(file, "/nodes/1/extensions/KHR_node_visibility/visible", [[1], [0]], "step", "u1")
    pointer(file, start + "baseColorFactor", [[1, 0, 0, 1], [0, 1, 0, 1]])
    pointer(file, start + "baseColorTexture/extensions/KHR_texture_transform/offset", [[0, 0], [1, 0]])
    pointer(file, "/materials/0/extensions/KHR_materials_emissive_strength/emissiveStrength", [[1], [2]])
    model = load(file, False, images=images, samplers=samplers, textures=textures, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("error", skinpy.SkinpyWarning)
        model.save(tmp_path / "a.glb")
        again = skinpy.load(tmp_path / "a.glb")
    assert again.cameras == model.cameras and again.lights == model.lights
    assert again.variants == model.variants and again.skeleton.extras == model.skeleton.extras
    for old, new in zip(model.materials, again.materials, strict=True):
        for name in ("wrap", "metallic_factor", "roughness_factor", "emissive_factor", "normal_scale"):
            assert getattr(new, name) == getattr(old, name)
    paint, repainted = model.materials[0], again.materials[0]
    assert (repainted.min_filter, repainted.mag_filter) == ("nearest", "linear")
    assert paint.normal_texture is not None and repainted.normal_texture is not None
    assert repainted.normal_texture.data == paint.normal_texture.data
    coat = repainted.extensions["KHR_materials_clearcoat"]
    assert coat["clearcoat_texture"]["texture"].data == paint.normal_texture.data
    for old_clip, new_clip in zip(model.clips, again.clips, strict=True):
        (old_channel,), (new_channel,) = old_clip._look_channels, new_clip._look_channels
        assert (new_channel.path, new_channel.moved) == (old_channel.path, old_channel.moved)
        np.testing.assert_array_equal(new_channel.values, old_channel.values)
        assert new_channel.interpolation == old_channel.interpolation


def test_hidden_nodes_are_hidden_in_a_glb(tmp_path: Path) -> None:
    file = triangle()
    file.nodes[1]["extensions"] = {"KHR_node_visibility": {"visible": False}}
    model = load(file)
    assert [one.visible for one in model.mesh.submeshes] == [True, False]
    with warnings.catch_warnings():
        warnings.simplefilter("error", skinpy.SkinpyWarning)
        model.save(tmp_path / "a.glb")
    assert [one.visible for one in skinpy.load(tmp_path / "a.glb").mesh.submeshes] == [True, False]


# ---- the command line -----------------------------------------------------------------------------------


def test_info_shows_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from skinpy.__main__ import main

    path = tmp_path / "a.gltf"
    path.write_bytes(beside_geometry().gltf())
    assert main(["info", str(path)]) == 0
    assert "  data      2 scenes, 1 camera, 1 light, 2 variants, VRM 1\n" in capsys.readouterr().out
    assert main(["info", str(path), "--scene", "1", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["joints"] == ["leaf"] and facts["scenes"] == ["day", ""]
    assert main(["info", str(path), "--scene", "night"]) == 1
    assert "there is no scene 'night'" in capsys.readouterr().err
