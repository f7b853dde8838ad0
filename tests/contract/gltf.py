"""glTF 2.0, after its specification."""

import base64
import io
from collections.abc import Callable
from typing import Any

import compressed
import numpy as np
import pytest
from builders import Gltf

import skinpy

from . import Case

TITLE = "glTF 2.0"
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
Make = Callable[[Gltf, dict[str, Any]], None]


def one(change: Make | None = None, *codes: str, played: Any = None, refused: str = "") -> Case:
    """A node with a triangle. `change` gets the writer, and the primitive of the triangle."""
    file = Gltf()
    primitive = file.primitive(CORNERS, [[0, 1, 2]], normals=np.tile([0.6, 0, 0.8], (3, 1)))
    file.node("mesh", mesh=file.mesh(primitive, name="triangle"))
    if change:
        change(file, primitive)
    return Case({"a.glb": file.glb()}, played=played, codes=codes, refused=refused)


# ---- nodes and clips -------------------------------------------------------------------------------------


def moved(interpolation: str) -> Make:
    tangents = (np.zeros((2, 3)), np.zeros((2, 3))) if interpolation == "cubic" else None

    def change(file: Gltf, primitive: dict[str, Any]) -> None:
        values = [[0, 0, 0], [4, 0, 0]]
        file.animation("go", file.channel(0, "translation", [0, 1], values, interpolation, tangents))

    return change


def x_at_quarter(x: float) -> Any:
    def check(model: Any) -> None:
        assert abs(model.globals(0, 0.25)[model.skeleton.index("mesh"), 0, 3] - x) < 1e-6

    return check


def two_parents(file: Gltf, primitive: dict[str, Any]) -> None:
    child = file.node("child", file.node("a"))
    file.nodes[file.node("b")]["children"] = [child]


def has_first_parent(model: Any) -> None:
    skeleton = model.skeleton
    assert skeleton.names[skeleton.parents[skeleton.index("child")]] == "a"


def matrix(file: Gltf, primitive: dict[str, Any]) -> None:
    file.node("sheared", matrix=[[1, 0.5, 0, 3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def is_sheared(model: Any) -> None:
    got = model.globals(None, 0.0)[model.skeleton.index("sheared"), 0]
    assert np.allclose(got, (1, 0.5, 0, 3))


def outside(file: Gltf, primitive: dict[str, Any]) -> None:
    skinned(True)(file, primitive)
    file.roots.remove(1)


def unseen(file: Gltf, primitive: dict[str, Any]) -> None:
    file.roots.remove(file.node("away", mesh=0))


def extended(name: str, value: dict[str, Any]) -> Make:
    def change(file: Gltf, primitive: dict[str, Any]) -> None:
        file.nodes[0]["extensions"] = {name: value}

    return change


def instances(file: Gltf, primitive: dict[str, Any]) -> None:
    places = {"TRANSLATION": file.accessor([[1, 0, 0], [2, 0, 0]])}
    extended("EXT_mesh_gpu_instancing", {"attributes": places})(file, primitive)


def skinned_instances(file: Gltf, primitive: dict[str, Any]) -> None:
    skinned(True)(file, primitive)
    instances(file, primitive)


def has_instances(model: Any) -> None:
    expected = np.concatenate([CORNERS + [1, 0, 0], CORNERS + [2, 0, 0]])
    assert np.allclose(model.deform(model.pose())[0], expected)
    assert model.skeleton.names == ("mesh", "mesh/0", "mesh/1")


def is_hidden(model: Any) -> None:
    assert [one.visible for one in model.mesh.submeshes] == [False]


def surplus(file: Gltf, primitive: dict[str, Any]) -> None:
    channel = file.channel(0, "translation", [0, 1], [[0, 0, 0], [4, 0, 0]])
    channel["sampler"]["output"] = file.accessor([[0, 0, 0], [4, 0, 0], [9, 9, 9]])
    file.animation("go", channel)


def sparse(file: Gltf, primitive: dict[str, Any]) -> None:
    primitive["attributes"]["POSITION"] = file.sparse(None, 3, [1, 2], CORNERS[1:])


# ---- meshes ----------------------------------------------------------------------------------------------


def mode(number: int) -> Make:
    def change(file: Gltf, primitive: dict[str, Any]) -> None:
        primitive["mode"] = number

    return change


def added(number: int) -> Make:
    """A second primitive, beside the triangle."""

    def change(file: Gltf, primitive: dict[str, Any]) -> None:
        more = file.primitive(CORNERS, [[0, 1, 2]])
        file.meshes[0]["primitives"].append({**more, "mode": number})

    return change


def is_there(model: Any) -> None:
    assert np.allclose(model.deform(model.pose())[0], CORNERS) and len(model.mesh.faces) == 1


def attributes(file: Gltf, primitive: dict[str, Any]) -> None:
    primitive["attributes"] |= {
        "TEXCOORD_0": file.accessor(CORNERS[:, :2]),
        "COLOR_0": file.accessor(np.eye(3)),
        "TANGENT": file.accessor(np.tile([0.8, 0, -0.6, 1], (3, 1))),
    }


def has_attributes(model: Any) -> None:
    mesh = model.mesh
    assert np.allclose(mesh.normals, (0.6, 0, 0.8)) and np.allclose(mesh.uvs, CORNERS[:, :2])
    assert np.allclose(mesh.colors[:, :3], np.eye(3)) and np.allclose(mesh.tangents, (0.8, 0, -0.6, 1))


def short_uvs(file: Gltf, primitive: dict[str, Any]) -> None:
    primitive["attributes"]["TEXCOORD_0"] = file.accessor(CORNERS[:2, :2])


def second_uvs(file: Gltf, primitive: dict[str, Any]) -> None:
    primitive["attributes"] |= {f"TEXCOORD_{i}": file.accessor(CORNERS[:, :2] * i) for i in range(2)}


def painted_by_second_uvs(file: Gltf, primitive: dict[str, Any]) -> None:
    second_uvs(file, primitive)
    look = {"textures": [{"source": 0}], "images": [{"uri": "data:image/png;base64,iVBORw0KGgo="}]}
    plain = file.document
    file.document = lambda: plain() | look  # type: ignore[method-assign]
    file.materials.append({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "texCoord": 1}}})
    primitive["material"] = 0


def has_second_uvs(model: Any) -> None:
    assert np.allclose(model.mesh.uvs, CORNERS[:, :2])


def no_positions(file: Gltf, primitive: dict[str, Any]) -> None:
    file.meshes[0]["primitives"].append({"attributes": {}})


def skinned(with_offsets: bool) -> Make:
    def change(file: Gltf, primitive: dict[str, Any]) -> None:
        joint = file.node("joint", t=(5, 0, 0))
        offsets = np.eye(4)[None].copy()
        offsets[0, 0, 3] = -4
        weights = np.tile([1.0, 0, 0, 0], (3, 1))
        primitive["attributes"]["JOINTS_0"] = file.accessor(np.zeros((3, 4)), "u1")
        primitive["attributes"]["WEIGHTS_0"] = file.accessor(weights)
        file.nodes[0]["skin"] = file.skin([joint], offsets if with_offsets else None)

    return change


def stands_at(x: float) -> Any:
    def check(model: Any) -> None:
        assert np.allclose(model.deform(model.pose())[0], CORNERS + [x, 0, 0])

    return check


def morphed(file: Gltf, primitive: dict[str, Any]) -> None:
    primitive["targets"] = [{"POSITION": file.accessor([[0, 0, 0], [0, 0, 2], [0, 0, 0]])}]
    file.animation("blink", file.channel(0, "weights", [0, 1], [[0], [1]]))


def has_morphs(model: Any) -> None:
    assert abs(model.deform(model.pose(0, 0.5))[0][1, 2] - 1) < 1e-6


def morphed_colors(file: Gltf, primitive: dict[str, Any]) -> None:
    morphed(file, primitive)
    primitive["targets"][0]["COLOR_0"] = file.accessor(np.ones((3, 3)))
    primitive["targets"][0]["TANGENT"] = file.accessor(np.ones((3, 3)))


# ---- materials -------------------------------------------------------------------------------------------


def painted(file: Gltf, primitive: dict[str, Any]) -> None:
    look = {"baseColorFactor": [0.2, 0.4, 0.6, 0.5]}
    file.materials.append({"pbrMetallicRoughness": look, "alphaMode": "BLEND", "doubleSided": True})
    primitive["material"] = 0


def has_color(model: Any) -> None:
    (paint,) = model.materials
    assert np.allclose(paint.base_color, (0.2, 0.4, 0.6, 0.5)) and paint.alpha == "blend"
    assert paint.double_sided


# ---- compression -----------------------------------------------------------------------------------------


def packed_views() -> Case:
    file = Gltf()
    file.node("mesh", mesh=file.mesh(file.primitive(CORNERS, [[0, 1, 2]])))
    return with_library("meshoptimizer", compressed.meshopt(file))


def packed_primitive(count: int = 3, *codes: str) -> Case:
    stream = compressed.draco([[0, 1, 2]], (compressed.POSITION, 0, "f4", CORNERS))
    parts = {"bufferView": 0, "attributes": {"POSITION": 0}}
    primitive = {"attributes": {"POSITION": 0}, "indices": 1, "extensions": {compressed.DRACO: parts}}
    document = {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [primitive]}],
        "accessors": [
            {"componentType": 5126, "count": count, "type": "VEC3"},
            {"componentType": 5123, "count": 3, "type": "SCALAR"},
        ],
    }
    return with_library("draco", compressed.with_draco(document, [stream]), *codes)


def with_library(name: str, data: bytes, *codes: str) -> Case:
    if skinpy.build_info()[f"built_with_{name}"] is None:
        pytest.skip(f"this skinpy was built without {name}")
    return Case({"a.gltf": data}, played=is_there, codes=codes)


# ---- images, and what is kept as data ---------------------------------------------------------------------


def image(encoding: str) -> dict[str, str]:
    """A red image; one that begins as KTX2 and has no pixels."""
    data = b"\xabKTX 20\xbb\r\n\x1a\n" + bytes(68)
    if encoding != "ktx2":
        stream = io.BytesIO()
        pytest.importorskip("PIL.Image").new("RGB", (2, 2), (255, 0, 0)).save(stream, encoding)
        data = stream.getvalue()
    return {"uri": f"data:image/{encoding};base64," + base64.b64encode(data).decode()}


def textured(encoding: str = "png", extension: str = "", **use: Any) -> Make:
    """The triangle with an image, which belongs to an extension of the texture if that is named."""
    source = {"extensions": {extension: {"source": 0}}} if extension else {"source": 0}

    def change(file: Gltf, primitive: dict[str, Any]) -> None:
        file.more |= {"images": [image(encoding)], "textures": [source | {"sampler": 0}]}
        file.more["samplers"] = [{"wrapS": 33071, "magFilter": 9728}]
        file.materials.append({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0, **use}}})
        primitive["material"] = 0

    return change


def has_red_image(model: Any) -> None:
    red, green, blue, _ = model.materials[0].texture.image()[0, 0].tolist()
    assert red > 240 and max(green, blue) < 16


def has_sampler(model: Any) -> None:
    (paint,) = model.materials
    assert paint.wrap == ("clamp_to_edge", "repeat") and paint.mag_filter == "nearest"


def has_transform(model: Any) -> None:
    assert np.allclose(model.materials[0].uv_transform, [[2, 0, 0.5], [0, 3, 0], [0, 0, 1]])


def surface(**members: Any) -> Make:
    def change(file: Gltf, primitive: dict[str, Any]) -> None:
        file.materials.append(members)
        primitive["material"] = 0

    return change


def holds(value: Callable[[Any], Any]) -> Any:
    def check(model: Any) -> None:
        assert value(model)

    return check


def more(node: dict[str, Any] | None = None, **members: Any) -> Make:
    """Further members of the document, and of its first node."""

    def change(file: Gltf, primitive: dict[str, Any]) -> None:
        file.more |= members
        file.nodes[0] |= node or {}

    return change


def variants(file: Gltf, primitive: dict[str, Any]) -> None:
    file.materials += [{}, {}]
    name = "KHR_materials_variants"
    primitive["extensions"] = {name: {"mappings": [{"material": 1, "variants": [0]}]}}
    file.more["extensions"] = {name: {"variants": [{"name": "red"}]}}


def pointed(text: str, values: Any) -> Make:
    """A clip that changes what a pointer names."""

    def change(file: Gltf, primitive: dict[str, Any]) -> None:
        file.materials.append({})
        channel = file.channel(0, "translation", [0, 1], values)
        channel["target"] = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": text}}}
        file.animation("go", channel)

    return change


TRANSFORM = {"KHR_texture_transform": {"offset": [0.5, 0], "scale": [2, 3]}}
LIGHT = {"KHR_lights_punctual": {"lights": [{"type": "point"}]}}
AT_LIGHT = {"extensions": {"KHR_lights_punctual": {"light": 0}}}
LENS = {"type": "perspective", "perspective": {"yfov": 1, "znear": 1}}
DIFFUSE = {"KHR_materials_pbrSpecularGlossiness": {"diffuseFactor": [1, 0, 0, 1]}}


DATA = {
    "texture of the base color, PNG, JPEG, WebP (`EXT_texture_webp`) or DDS (`MSFT_texture_dds`)": lambda: (
        one(textured("webp", "EXT_texture_webp"), played=has_red_image)
    ),
    "samplers: wrap and filter": lambda: one(textured(), played=has_sampler),
    "transforms of the base-color texture (`KHR_texture_transform`)": lambda: one(
        textured(extensions=TRANSFORM), played=has_transform
    ),
    "KTX2 and Basis Universal (`KHR_texture_basisu`), AVIF": lambda: one(
        textured("ktx2", "KHR_texture_basisu"), "textures_undecoded"
    ),
    "`KHR_materials_pbrSpecularGlossiness`": lambda: one(
        surface(extensions=DIFFUSE), played=holds(lambda model: model.materials[0].base_color == (1, 0, 0, 1))
    ),
    "factors of metal, roughness, emission, normals and occlusion": lambda: one(
        surface(emissiveFactor=[1, 1, 0]),
        played=holds(lambda model: model.materials[0].emissive_factor == (1, 1, 0)),
    ),
    "other textures of a material, `KHR_materials_*`": lambda: one(
        surface(extensions={"KHR_materials_unlit": {}}),
        "looks_kept",
        played=holds(lambda model: "KHR_materials_unlit" in model.materials[0].extensions),
    ),
    "`KHR_materials_variants`": lambda: one(
        variants, played=holds(lambda model: model.variants == {"red": (1,)})
    ),
    "cameras, lights (`KHR_lights_punctual`)": lambda: one(
        more({"camera": 0, **AT_LIGHT}, cameras=[LENS], extensions=LIGHT),
        played=holds(lambda model: len(model.cameras) == len(model.lights) == 1),
    ),
    "several scenes": lambda: one(
        more(scenes=[{"nodes": [0]}, {"nodes": [0], "name": "b"}]),
        played=holds(lambda model: model.scenes == ("", "b")),
    ),
    "VRM 0 and 1": lambda: one(
        more(extensions={"VRMC_vrm": {"meta": {}}}), played=holds(lambda model: model.vrm["version"] == 1)
    ),
    "`extras` of nodes": lambda: one(
        more({"extras": {"a": 1}}), played=holds(lambda model: model.skeleton.extras == ({"a": 1},))
    ),
    "`KHR_animation_pointer` to nodes": lambda: one(
        pointed("/nodes/0/translation", [[0, 0, 0], [4, 0, 0]]), played=x_at_quarter(1)
    ),
    "`KHR_animation_pointer` to factors of materials and to texture transforms": lambda: one(
        pointed("/materials/0/alphaCutoff", [[0], [1]]),
        played=holds(lambda model: model.clips[0].material_values(0.5)[0]["alpha_cutoff"] == 0.5),
    ),
    "`KHR_animation_pointer` to visibility": lambda: one(
        pointed("/nodes/0/extensions/KHR_node_visibility/visible", [[0], [1]]),
        played=holds(lambda model: not model.clips[0].visible_submeshes(0.5).any()),
    ),
    "other pointers": lambda: one(pointed("/cameras/0/perspective/yfov", [[0], [1]]), "channels_dropped"),
    "constraints between nodes (`VRMC_node_constraint`)": lambda: one(
        more({"extensions": {"VRMC_node_constraint": {}}}), "constraints_ignored"
    ),
    "required extensions that are not known": lambda: one(
        more(extensionsRequired=["ACME_look"]), "extensions_ignored"
    ),
    "other extensions that are not known": lambda: one(
        more(extensionsUsed=["ACME_look"]), "extensions_unread"
    ),
}

CASES = {
    "nodes with translation, rotation and scale, or a matrix": lambda: one(matrix, played=is_sheared),
    "a node with two parents": lambda: one(two_parents, "nodes_with_two_parents", played=has_first_parent),
    "joints of a skin outside the scene": lambda: one(outside, "joints_outside_scene", played=stands_at(1)),
    "meshes outside the scene": lambda: one(unseen, "meshes_outside_scene"),
    "instances (`EXT_mesh_gpu_instancing`)": lambda: one(instances, played=has_instances),
    "instances of a skinned mesh": lambda: one(skinned_instances, "instances_dropped", played=stands_at(1)),
    "invisible nodes (`KHR_node_visibility`)": lambda: one(
        extended("KHR_node_visibility", {"visible": False}), played=is_hidden
    ),
    "keys: `STEP`": lambda: one(moved("step"), played=x_at_quarter(0)),
    "keys: `LINEAR`": lambda: one(moved("linear"), played=x_at_quarter(1)),
    "keys: `CUBICSPLINE`": lambda: one(moved("cubic"), played=x_at_quarter(4 * (3 / 16 - 2 / 64))),
    "more values than keys": lambda: one(surplus, "values_without_times", played=x_at_quarter(1)),
    "sparse accessors": lambda: one(sparse, played=is_there),
    "triangles": lambda: one(mode(4), played=is_there),
    "triangle strips": lambda: one(mode(5), played=is_there),
    "triangle fans": lambda: one(mode(6), played=is_there),
    "points": lambda: one(added(0), "points_lines_dropped"),
    "lines": lambda: one(added(1), "points_lines_dropped"),
    "a primitive without positions": lambda: one(no_positions, "meshes_dropped"),
    "normals, tangents, `TEXCOORD_0`, `COLOR_0`": lambda: one(attributes, played=has_attributes),
    "an attribute with fewer values than vertices": lambda: one(short_uvs, "attributes_dropped"),
    "`TEXCOORD_1`, where the base color uses it": lambda: one(
        painted_by_second_uvs, "attributes_ignored", played=has_second_uvs
    ),
    "other `TEXCOORD_n` and `COLOR_n`, custom attributes": lambda: one(second_uvs, "attributes_ignored"),
    "skins": lambda: one(skinned(True), played=stands_at(1)),
    "skins without inverse bind matrices": lambda: one(
        skinned(False), "inverse_bind_missing", played=stands_at(5)
    ),
    "morph targets and their weights": lambda: one(morphed, played=has_morphs),
    "tangents, colors and texture coordinates of morph targets": lambda: one(
        morphed_colors, "attributes_ignored"
    ),
    "base color, alpha mode, double-sidedness": lambda: one(painted, played=has_color),
    "bufferViews compressed with meshopt": packed_views,
    "primitives compressed with Draco": packed_primitive,
    "accessors that state other counts than the Draco stream": lambda: packed_primitive(
        2, "compressed_counts_repaired"
    ),
    **DATA,
}
