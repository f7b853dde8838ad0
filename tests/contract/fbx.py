"""FBX 7.1 and newer, after docs/fbx.md. tests/test_fbx_playing.py measures it more closely."""

from collections.abc import Callable
from typing import Any

import numpy as np
from fbx_twin import Curve, Key
from fbx_writer import Fbx, record, table

import skinpy

from . import Case

TITLE = "FBX"
Make = Callable[[Fbx], None]


def one(make: Make, *codes: str, played: Any = None, **files: bytes) -> Case:
    """A file that `make` fills; `files` are others by the stem of their name, of the suffix .png."""
    file = Fbx()
    make(file)
    others = {f"{stem}.png": content for stem, content in files.items()}
    return Case({"a.fbx": file.bytes("binary"), **others}, played=played, codes=codes)


def image() -> bytes:
    texture = skinpy.character().materials[0].texture
    assert texture is not None
    return bytes(texture.data)


def mesh(file: Fbx, *inside: Any, **properties: Any) -> int:
    """A node with a triangle; the number of the node."""
    node = file.model("mesh", kind="Mesh", **properties)
    file.triangle(node)
    name, values, old = file.objects[-1]
    file.objects[-1] = (name, values, [*old, *inside])
    return node


def layer_of(name: str, mapping: str, values: str, rows: Any) -> Any:
    how = [record("MappingInformationType", mapping), record("ReferenceInformationType", "Direct")]
    return record(name, 0, inside=[*how, record(values, np.array(rows, "f8").ravel())])


def x_of(name: str = "joint", *wanted: tuple[float, float]) -> Any:
    """The x of a joint at times."""

    def check(model: Any) -> None:
        joint = model.skeleton.index(name)
        for time, x in wanted:
            assert abs(model.globals(0, time, loop="clamp")[joint, 0, 3] - x) < 1e-4

    return check


# ---- what moves ------------------------------------------------------------------------------------------


def moved(curve: Curve) -> Make:
    def make(file: Fbx) -> None:
        joint = file.model("joint")
        file.curves(file.stack(stop=1.0), joint, "Lcl Translation", (0, 0, 0), X=curve)

    return make


def animated(path: str, word: str) -> Make:
    """A node with a curve of another property than translation, rotation and scale."""

    def make(file: Fbx) -> None:
        layer = file.stack(stop=1.0)
        node = file.add("AnimationCurveNode", f"AnimCurveNode::{word}", "", to=layer)
        file.join(node, mesh(file), path)
        file.join(file.curve(Curve([Key(0, 1, "step"), Key(0.5, 0, "step")])), node, f"d|{word}")

    return make


def two_stacks(file: Fbx) -> None:
    joint = file.model("joint")
    for name, height in (("walk", 1), ("run", 2)):
        file.curves(file.stack(name, stop=1.0), joint, "Lcl Translation", (0, 0, 0), X=[(0, 0), (1, height)])


def layers(file: Fbx) -> None:
    joint = file.model("joint")
    base = file.stack(stop=1.0)
    weight = table(record("P", "Weight", "Number", "", "A", 25.0))
    more = file.add("AnimationLayer", "AnimLayer::more", "", weight, to=base - 1)
    file.curves(base, joint, "Lcl Translation", (1, 0, 0), X=[(0, 1), (1, 1)])
    file.curves(more, joint, "Lcl Translation", (4, 0, 0), X=[(0, 4), (1, 4)])


def dense(file: Fbx) -> None:
    """A million repetitions of a saw in one second."""
    curve = Curve([Key(0, 0, "cubic", 1, 1), Key(1e-6, 1, "cubic", 1, 1)], after=("R", -1))
    moved(curve)(file)


def has_two_clips(model: Any) -> None:
    assert list(model.clips.names) == ["walk", "run"]


def pivots(file: Fbx) -> None:
    file.model("joint", RotationPivot=(1.0, 0.0, 0.0), Lcl_Rotation=(0.0, 0.0, 180.0), RotationActive=1)


def uninherited_scale(file: Fbx) -> None:
    upper = file.model("upper", Lcl_Scaling=(2.0, 2.0, 2.0))
    file.model("lower", upper, Lcl_Translation=(1.0, 0.0, 0.0), InheritType=2)


def at_rest(name: str, matrix: Any) -> Any:
    def check(model: Any) -> None:
        got = model.globals(None, 0.0)[model.skeleton.index(name)]
        assert np.allclose(got, matrix, atol=1e-6), got

    return check


# ---- meshes, skins, shapes -------------------------------------------------------------------------------


def skinned(kind: str, joint: bool = True) -> Make:
    """Three vertices that follow one joint, which moves by 1 along x."""

    def make(file: Fbx) -> None:
        mover = file.model("joint")
        mesh(file)
        words = [record("Version", 101), record("SkinningType", kind)]
        skin = file.add("Deformer", "Deformer::skin", "Skin", *words, to=len(file.objects))
        inside = [
            record("Indexes", np.arange(3, dtype="i4")),
            record("Weights", np.ones(3)),
            record("Transform", np.eye(4).ravel()),
            record("TransformLink", np.eye(4).ravel()),
        ]
        cluster = file.add("Deformer", "SubDeformer::c", "Cluster", *inside, to=skin)
        if joint:
            file.join(mover, cluster)
        file.curves(file.stack(stop=1.0), mover, "Lcl Translation", (0, 0, 0), X=[(0, 0), (1, 1)])

    return make


def follows(model: Any) -> None:
    assert np.allclose(model.deform(model.pose(0, 1.0))[0][:, 0], [1, 2, 1], atol=1e-6)


def shapes(file: Fbx) -> None:
    mesh(file)
    blend = file.add("Deformer", "Deformer::blend", "BlendShape", to=len(file.objects))
    whole = record("FullWeights", np.array([50.0, 100.0]))
    channel = file.add("Deformer", "SubDeformer::smile", "BlendShapeChannel", whole, to=blend)
    for name, height in (("half", 1.0), ("whole", 4.0)):
        offsets = [record("Indexes", np.array([1], "i4")), record("Vertices", np.array([0, 0, height]))]
        file.add("Geometry", f"Geometry::{name}", "Shape", *offsets, to=channel)
    file.curves(file.stack(stop=1.0), channel, "DeformPercent", [0], DeformPercent=[(0, 0), (1, 100)])


def has_shapes(model: Any) -> None:
    heights = [model.deform(model.pose(0, time))[0][1, 2] for time in (0.25, 0.5, 1.0)]
    assert np.allclose(heights, [0.5, 1, 4], atol=1e-5)


def other_geometry(file: Fbx) -> None:
    file.add("Geometry", "Geometry::hair", "NurbsCurve", to=file.model("hair"))


def edge(file: Fbx) -> None:
    """A polygon of two corners, beside a triangle."""
    mesh(file)
    name, values, inside = file.objects[-1]
    corners = record("PolygonVertexIndex", np.array([0, 1, -3, 0, -2], "i4"))
    file.objects[-1] = (name, values, [inside[0], corners, *inside[2:]])


def attributes(file: Fbx) -> None:
    rows = {"Normals": np.tile([0.6, 0.0, 0.8], (3, 1)), "UV": [[0, 0], [1, 0], [0, 1]]}
    colors = np.concatenate([np.eye(3), np.ones((3, 1))], axis=1)
    mesh(
        file,
        layer_of("LayerElementNormal", "ByPolygonVertex", "Normals", rows["Normals"]),
        layer_of("LayerElementUV", "ByPolygonVertex", "UV", rows["UV"]),
        layer_of("LayerElementColor", "ByPolygonVertex", "Colors", colors),
    )


def has_attributes(model: Any) -> None:
    mesh = model.mesh
    assert np.allclose(mesh.normals, (0.6, 0, 0.8), atol=1e-6)
    assert np.allclose(mesh.uvs, [[0, 1], [1, 1], [0, 0]], atol=1e-6)
    assert np.allclose(mesh.colors[:, :3], np.eye(3), atol=1e-6)


def hidden(file: Fbx) -> None:
    mesh(file, Show=0)


def is_hidden(model: Any) -> None:
    assert [part.visible for part in model.mesh.submeshes] == [False]


def geometric(file: Fbx) -> None:
    mesh(file, GeometricTranslation=(0.0, 0.0, 3.0))


def is_lifted(model: Any) -> None:
    assert np.allclose(model.deform(model.pose())[0][:, 2], 3)


# ---- looks -----------------------------------------------------------------------------------------------


def painted(*textures: tuple[str, str]) -> Make:
    """A material of a color; `textures` are properties of the material and names of images."""

    def make(file: Fbx) -> None:
        color = [record("P", "DiffuseColor", "Color", "", "A", 0.2, 0.4, 0.6)]
        clear = [record("P", "Opacity", "Number", "", "A", 0.5)]
        material = file.add("Material", "Material::paint", "", table(*color, *clear), to=mesh(file))
        for path, name in textures:
            texture = file.add("Texture", f"Texture::{path}", "", record("RelativeFilename", name))
            file.join(texture, material, path)

    return make


def has_color(model: Any) -> None:
    (paint,) = model.materials
    assert np.allclose(paint.base_color, (0.2, 0.4, 0.6, 0.5), atol=1e-6) and paint.alpha == "blend"


def has_texture(model: Any) -> None:
    assert model.materials[0].texture.data == image()


def layered(file: Fbx) -> None:
    material = file.add("Material", "Material::paint", "", to=mesh(file))
    group = file.add("LayeredTexture", "LayeredTexture::both", "")
    file.join(group, material, "DiffuseColor")
    for name in ("first", "second"):
        file.add("Texture", f"Texture::{name}", "", record("RelativeFilename", "wood.png"), to=group)


def clamped(file: Fbx) -> None:
    painted(("DiffuseColor", "wood.png"))(file)
    name, values, inside = file.objects[-1]
    modes = [record("P", "WrapModeU", "enum", "", "A", 1), record("P", "WrapModeV", "enum", "", "A", 0)]
    file.objects[-1] = (name, values, [*inside, table(*modes)])


def is_clamped(model: Any) -> None:
    assert model.materials[0].wrap == ("clamp_to_edge", "repeat")


def shiny(file: Fbx) -> None:
    color = record("P", "SpecularColor", "Color", "", "A", 1.0, 1.0, 1.0)
    file.add("Material", "Material::paint", "", table(color), to=mesh(file))


def two_sets(file: Fbx) -> None:
    rows = [[0, 0], [1, 0], [0, 1]]
    mesh(file, *(layer_of("LayerElementUV", "ByPolygonVertex", "UV", rows) for _ in range(2)))


def blinking(file: Fbx) -> None:
    material = file.add("Material", "Material::paint", "", to=mesh(file))
    file.curves(file.stack(stop=1.0), material, "DiffuseColor", (0, 0, 0), X=[(0, 0), (1, 1)])


# ---- the scene -------------------------------------------------------------------------------------------


def filmed(file: Fbx) -> None:
    camera = file.add("NodeAttribute", "NodeAttribute::c", "Camera")
    file.join(camera, file.model("camera", kind="Camera"))


def constrained(file: Fbx) -> None:
    file.model("joint")
    file.add("Constraint", "Constraint::aim", "Aim")


def cached(file: Fbx) -> None:
    mesh(file)
    file.add("Deformer", "Deformer::cloth", "VertexCacheDeformer")


def axes(file: Fbx) -> None:
    words = [("UpAxis", 2), ("UpAxisSign", 1), ("FrontAxis", 1), ("FrontAxisSign", -1)]
    file.settings += [record("P", name, "int", "", "A", value) for name, value in words]
    file.settings.append(record("P", "UnitScaleFactor", "double", "", "A", 100.0))
    mesh(file)


def is_turned(model: Any) -> None:
    assert model.unit_meters == 1 and model.up == "+Y"
    assert np.allclose(model.deform(model.pose())[0], [[0, 0, 0], [1, 0, 0], [0, 0, -1]], atol=1e-6)


CASES = {
    "curves of translation, rotation and scale: steps, lines and cubic spans": lambda: one(
        moved(Curve([Key(0, 0, "step"), Key(0.5, 3, "linear"), Key(1, 5)])),
        played=x_of("joint", (0.4, 0), (0.75, 4)),
    ),
    "extrapolation of curves": lambda: one(
        moved(Curve([Key(0, 0), Key(0.25, 1)], after=("A", -1))),
        played=x_of("joint", (0.375, 1.5), (0.875, 3.5)),
    ),
    "motion faster than keys can follow": lambda: one(dense, "curves_coarse", played=x_of("joint", (0.0, 0))),
    "layers with weights": lambda: one(layers, played=x_of("joint", (0.5, 2))),
    "animation stacks": lambda: one(two_stacks, played=has_two_clips),
    "animated visibility": lambda: one(animated("Visibility", "Visibility"), "visibility_ignored"),
    "pivots, offsets, pre- and post-rotation, rotation orders": lambda: one(
        pivots, played=at_rest("joint", [[-1, 0, 0, 2], [0, -1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    ),
    "scale that children do not inherit": lambda: one(
        uninherited_scale, played=at_rest("lower", [[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    ),
    "geometric transforms": lambda: one(geometric, played=is_lifted),
    "normals, texture coordinates, colors of vertices": lambda: one(attributes, played=has_attributes),
    "polygons of fewer than three corners": lambda: one(edge, "points_lines_dropped"),
    "NURBS, patches, lines": lambda: one(other_geometry, "geometry_ignored"),
    "skins that blend matrices": lambda: one(skinned("Linear"), played=follows),
    "skins that blend dual quaternions": lambda: one(
        skinned("DualQuaternion"), "dual_quaternions_ignored", played=follows
    ),
    "shapes and in-between shapes": lambda: one(shapes, played=has_shapes),
    "geometry caches": lambda: one(cached, "geometry_caches_ignored"),
    "hidden nodes": lambda: one(hidden, played=is_hidden),
    "color and opacity of a material": lambda: one(painted(), played=has_color),
    "texture of the color": lambda: one(
        painted(("DiffuseColor", "wood.png")), played=has_texture, wood=image()
    ),
    "wrapping of a texture": lambda: one(clamped, played=is_clamped, wood=image()),
    "emissive and specular color": lambda: one(shiny, "looks_ignored"),
    "other textures of a material": lambda: one(
        painted(("NormalMap", "wood.png")), "looks_ignored", wood=image()
    ),
    "layers of the color's texture after the first": lambda: one(layered, "looks_ignored", wood=image()),
    "further texture coordinates and colors of vertices": lambda: one(two_sets, "attributes_ignored"),
    "a texture that does not exist": lambda: one(painted(("DiffuseColor", "gone.png")), "textures_missing"),
    "cameras and lights": lambda: one(filmed, "cameras_lights_ignored"),
    "animated materials, textures, pivots": lambda: one(blinking, "channels_dropped"),
    "constraints": lambda: one(constrained, "constraints_ignored"),
    "unit and axes": lambda: one(axes, "axes_converted", played=is_turned),
    "versions before 7.1 (2011)": lambda: Case(
        {"a.fbx": Fbx().bytes("text").replace(b"7400", b"6100")}, refused="convert the file to FBX 2011"
    ),
}
