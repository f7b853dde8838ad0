"""COLLADA 1.4.1 and 1.5.0, after their specifications."""

from collections.abc import Sequence
from typing import Any

import import_cases as cases
import numpy as np
import test_collada_motion as motion

from . import Case, Cases
from ._files import CORNERS, has_corners, image

TITLE = "COLLADA"
PLAIN = '<node id="n"><instance_geometry url="#tri"/></node>'


def one(content: bytes, *codes: str, played: Any = None) -> Case:
    return Case({"a.dae": content, "wood.png": image()}, played, codes)


def scene(inside: str = "", **more: str) -> bytes:
    """A node with a triangle; `inside` stands in front of its mesh."""
    node = f'<node id="n" name="n">{inside}<instance_geometry url="#tri"/></node>'
    return cases.dae(**{"geometry": cases.dae_triangle(), "nodes": node, **more})  # type: ignore[arg-type]


# ---- nodes and motion --------------------------------------------------------------------------------


def stands(matrix: Any) -> Any:
    def check(model: Any) -> None:
        got = model.globals(None, 0.0)[model.skeleton.index("n")]
        assert np.allclose(got, matrix, atol=1e-6), got

    return check


def channel(target: str, kind: str, values: Sequence[float], name: str = "k", more: str = "") -> str:
    """Two keys, at 0 s and 1 s."""
    rows = len(values) // 2
    return (
        f'<animation id="{name}">'
        + cases.dae_source(f"{name}-i", "0 1", 2)
        + cases.dae_source(f"{name}-o", cases.numbers(values), 2, stride=rows)
        + cases.dae_source(f"{name}-k", f"{kind} {kind}", 2, "name")
        + more
        + f'<sampler id="{name}-s"><input semantic="INPUT" source="#{name}-i"/>'
        f'<input semantic="OUTPUT" source="#{name}-o"/><input semantic="INTERPOLATION" source="#{name}-k"/>'
        + (
            f'<input semantic="IN_TANGENT" source="#{name}-t"/>'
            f'<input semantic="OUT_TANGENT" source="#{name}-t"/>'
            if more
            else ""
        )
        + f'</sampler><channel source="#{name}-s" target="{target}"/></animation>'
    )


CHAIN: motion.Chain = (
    ("translate", (0, 3, 0)),
    ("rotate", (0, 0, 1, 90)),
    ("scale", (1, 2, 3)),
    ("skew", (45, 1, 0, 0, 0, 1, 0)),
    ("matrix", (1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)),
)
MOVE = '<translate sid="t">0 0 0</translate>'
TURN = '<rotate sid="z">0 0 1 0</rotate>'
#: Flat tangents: the curve is the smooth step.
FLAT = cases.dae_source("k-t", "0 0", 2)


def moves(time: float, x: float) -> Any:
    def check(model: Any) -> None:
        got = model.globals(0, time, loop="clamp")[model.skeleton.index("n"), 0, 3]
        assert abs(got - x) < 1e-4, got

    return check


def turns(model: Any) -> None:
    """A third of 180 degrees, of which a quaternion knows no direction."""
    got = model.globals(0, 1 / 3)[model.skeleton.index("n"), :2, 0]
    assert np.allclose(got, (0.5, 3**0.5 / 2), atol=1e-4)


def has_clips(model: Any) -> None:
    assert list(model.clips.names) == ["first", "second"]
    assert [clip.duration for clip in model.clips] == [0.5, 0.5]


CLIPS = "".join(
    f'<animation_clip id="{name}" start="{start}" end="{start + 0.5}"><instance_animation url="#k"/>'
    "</animation_clip>"
    for name, start in (("first", 0), ("second", 0.5))
)

SHARED = (
    '<library_nodes><node id="l"><translate>0 0 5</translate><instance_geometry url="#tri"/></node>'
    "</library_nodes>"
)


def is_lifted(model: Any) -> None:
    assert np.allclose(model.deform(model.pose())[0], np.array(CORNERS) + (0, 0, 5), atol=1e-6)


# ---- skins and morphs --------------------------------------------------------------------------------

FIGURE = (
    '<node id="a" sid="a" type="JOINT"><translate sid="t">0 0 0</translate>'
    '<node id="b" sid="b" type="JOINT"/></node><node id="n"><instance_controller url="#body">'
    "<skeleton>#a</skeleton></instance_controller></node>"
)


def skinned() -> bytes:
    """All vertices follow a or b, which move together."""
    return cases.dae(
        geometry=cases.dae_triangle(),
        controllers=cases.dae_skin("body", "tri"),
        nodes=FIGURE,
        animation=channel("a/t", "LINEAR", (0, 0, 0, 0, 0, 5)),
    )


def follows(model: Any) -> None:
    assert np.allclose(model.deform(model.pose(0, 1.0))[0], np.array(CORNERS) + (0, 0, 5), atol=1e-5)


def morphed() -> bytes:
    smile = cases.dae_triangle("smile").replace("0 0 0 1 0 0 0 1 0", "0 0 2 1 0 0 0 1 0")
    return cases.dae(
        geometry=cases.dae_triangle() + smile,
        controllers=cases.dae_morph("face", "tri"),
        nodes='<node id="n"><instance_controller url="#face"/></node>',
        animation=channel("face-weights(0)", "LINEAR", (0, 1)),
    )


def has_shapes(model: Any) -> None:
    assert abs(model.deform(model.pose(0, 0.5))[0][0, 2] - 1) < 1e-5


# ---- geometry ----------------------------------------------------------------------------------------

INPUT = '<input semantic="VERTEX" source="#tri-v" offset="0"/>'
TRIANGLES = f'<triangles count="1">{INPUT}<p>0 1 2</p></triangles>'


def geometry(primitives: str, sources: str = "") -> bytes:
    """The triangle's points with other primitives."""
    mesh = cases.dae_triangle()
    assert TRIANGLES in mesh
    mesh = mesh.replace(TRIANGLES, primitives).replace("<vertices", f"{sources}<vertices", 1)
    return cases.dae(geometry=mesh, nodes=PLAIN)


SOURCES = (
    cases.dae_source("nrm", "0.6 0 0.8", 1, stride=3)
    + cases.dae_source("uv", "0 0 1 0 0 1", 3, stride=2)
    + cases.dae_source("col", "1 0 0 0 1 0 0 0 1", 3, stride=3)
)
ATTRIBUTES = (
    f'<triangles count="1">{INPUT}<input semantic="NORMAL" source="#nrm" offset="1"/>'
    '<input semantic="TEXCOORD" source="#uv" offset="0"/><input semantic="COLOR" source="#col" offset="0"/>'
    "<p>0 0 1 0 2 0</p></triangles>"
)


def has_attributes(model: Any) -> None:
    mesh = model.mesh
    assert np.allclose(mesh.normals, (0.6, 0, 0.8)) and np.allclose(mesh.colors[:, :3], np.eye(3))
    assert np.allclose(mesh.uvs, [(0, 1), (1, 1), (0, 0)])


# ---- materials ---------------------------------------------------------------------------------------


def painted(shading: str, params: str = "") -> bytes:
    library = (
        '<library_images><image id="img"><init_from>wood.png</init_from></image></library_images>'
        f'<library_effects><effect id="fx"><profile_COMMON>{params}<technique sid="t"><phong>{shading}'
        "</phong></technique></profile_COMMON></effect></library_effects><library_materials>"
        '<material id="paint" name="paint"><instance_effect url="#fx"/></material></library_materials>'
    )
    node = PLAIN.replace(
        '<instance_geometry url="#tri"/>',
        '<instance_geometry url="#tri"><bind_material><technique_common>'
        '<instance_material symbol="m" target="#paint"/></technique_common>'
        "</bind_material></instance_geometry>",
    )
    mesh = cases.dae_triangle().replace('count="1">', 'count="1" material="m">', 1)
    return cases.dae(geometry=mesh, nodes=node, more=library)


SAMPLER = (
    '<newparam sid="s"><surface type="2D"><init_from>img</init_from></surface></newparam>'
    '<newparam sid="p"><sampler2D><source>s</source><wrap_s>CLAMP</wrap_s></sampler2D></newparam>'
)
TEXTURE = '<texture texture="p" texcoord="UV"/>'
COLOR = "<diffuse><color>0.2 0.4 0.6 1</color></diffuse>"
CLEAR = (
    '<transparent opaque="A_ONE"><color>1 1 1 1</color></transparent>'
    "<transparency><float>0.5</float></transparency>"
)


def has_color(model: Any) -> None:
    (paint,) = model.materials
    assert np.allclose(paint.base_color, (0.2, 0.4, 0.6, 0.5), atol=1e-6) and paint.alpha == "blend"


def has_texture(model: Any) -> None:
    (paint,) = model.materials
    assert paint.texture.data == image() and paint.wrap == ("clamp_to_edge", "repeat")


def is_scaled(model: Any) -> None:
    assert model.unit_meters == 1
    assert np.allclose(model.deform(model.pose())[0], [[0, 0, 0], [0.01, 0, 0], [0, 0, -0.01]], atol=1e-6)


# ---- what the specification leaves to few files ------------------------------------------------------

MOVED = '<node id="n"><translate sid="t">0 0 0</translate></node>'
FACE = '<node id="n"><instance_controller url="#face"/></node>'


def hidden(model: Any) -> None:
    assert [submesh.visible for submesh in model.mesh.submeshes] == [False]


def sheared() -> Case:
    def check(model: Any) -> None:
        assert np.isclose(model.globals(0, 1.0)[-1][0, 3], 4)

    ends = [(1, x, 0, x, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1) for x in (0, 4)]
    node = f'<node id="n"><matrix sid="transform">{cases.numbers(ends[0])}</matrix></node>'
    file = cases.dae(nodes=node, animation=cases.dae_matrix_animation("n", (0, 1), ends))
    return one(file, "matrix_keys_lost", played=check)


def repeated() -> Case:
    def check(model: Any) -> None:
        assert np.isclose(model.globals(0, 1.0)[-1][0, 3], 4)

    words = channel("n/t.X", "LINEAR", (0, 4)).replace("<sampler", '<sampler post_behavior="CYCLE"')
    return one(cases.dae(nodes=MOVED, animation=words), "interpolation_ignored", played=check)


def together() -> Case:
    def check(model: Any) -> None:
        assert model.clips.names == ("clip0",)
        assert np.allclose(model.globals(0, 0.5)[-1][:3, 3], (1, 2, 0))

    words = channel("n/t.X", "LINEAR", (0, 2)) + channel("n/t.Y", "LINEAR", (0, 4), "l")
    return one(cases.dae(nodes=MOVED, animation=words), played=check)


def of_the_bind_shape() -> Case:
    def check(model: Any) -> None:
        got = model.deform(model.pose(), normals=False)[0]
        assert sorted(np.round(got[:, 2], 5).tolist()) == [1, 1, 7]

    nodes = (
        '<node id="a" sid="a"><translate>0 0 1</translate><node sid="b"/></node><node id="m">'
        '<translate>0 0 7</translate><instance_controller url="#body"><skeleton>#a</skeleton>'
        "</instance_controller></node>"
    )
    skin = cases.dae_skin("body", "tri", "0 1 -1 1 1 1")
    return one(cases.dae(geometry=cases.dae_triangle(), controllers=skin, nodes=nodes), played=check)


def holed() -> Case:
    """A square of 16 with a square of 1 in it."""

    def check(model: Any) -> None:
        corners = np.asarray(model.mesh.positions)[np.asarray(model.mesh.faces)]
        sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
        assert (sides > 0).all() and np.isclose(sides.sum(), 2 * 15)

    geometry = (
        '<geometry id="g"><mesh>'
        + cases.dae_source("g-p", "0 0 0 4 0 0 4 4 0 0 4 0 1 1 0 2 1 0 2 2 0 1 2 0", 8, stride=3)
        + '<vertices id="g-v"><input semantic="POSITION" source="#g-p"/></vertices><polygons count="1">'
        '<input semantic="VERTEX" source="#g-v" offset="0"/><ph><p>0 1 2 3</p><h>4 5 6 7</h></ph></polygons>'
        "</mesh></geometry>"
    )
    nodes = '<node id="n"><instance_geometry url="#g"/></node>'
    return one(cases.dae(geometry=geometry, nodes=nodes), played=check)


def target_with_normals() -> Case:
    normals = '<input semantic="NORMAL" source="#smile-p" offset="0"/>'
    smile = cases.dae_triangle("smile").replace("<p>", normals + "<p>")
    file = cases.dae(
        geometry=cases.dae_triangle() + smile, controllers=cases.dae_morph("face", "tri"), nodes=FACE
    )
    return one(file, "attributes_ignored")


def two_morphs() -> Case:
    file = cases.dae(
        geometry=cases.dae_triangle() + cases.dae_triangle("smile"),
        controllers=cases.dae_morph("face", "tri") + cases.dae_morph("other", "tri"),
        nodes=FACE.replace("</node>", '<instance_controller url="#other"/></node>'),
    )
    return one(file, "morph_targets_dropped")


RARE: Cases = {
    "nodes that Maya or FCollada hides": lambda: one(
        scene('<extra><technique profile="MAYA"><visibility>0</visibility></technique></extra>'),
        played=hidden,
    ),
    "keys of matrices that shear their node": sheared,
    "curves that repeat before or behind their keys": repeated,
    "animations without clips": together,
    "influences of the bind shape (joint -1)": of_the_bind_shape,
    "holes in `polygons`": holed,
    "normals of morph targets": target_with_normals,
    "a second morph controller of a node": two_morphs,
    "a texture that does not exist": lambda: Case(
        {"a.dae": cases.dae_textured("").replace(b"wood.png", b"gone.png")}, codes=("textures_missing",)
    ),
    "XML entity declarations": lambda: Case(
        {"a.dae": cases.dae().replace(b"<COLLADA", b'<!DOCTYPE x [<!ENTITY a "b">]><COLLADA', 1)},
        refused="the file declares entities",
    ),
}

CASES = {
    "`matrix`, `translate`, `rotate`, `scale`, `skew`": lambda: one(
        scene("".join(f"<{word}>{cases.numbers(values)}</{word}>" for word, values in CHAIN)),
        played=stands(motion.product(CHAIN)),
    ),
    "`lookat`": lambda: one(
        scene("<lookat>0 0 5 0 0 0 0 1 0</lookat>"),
        played=stands([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 5], [0, 0, 0, 1]]),
    ),
    "nodes of `library_nodes`": lambda: one(
        cases.dae(
            geometry=cases.dae_triangle(), nodes='<node id="n"><instance_node url="#l"/></node>', more=SHARED
        ),
        played=is_lifted,
    ),
    "keys: `LINEAR`": lambda: one(
        scene(MOVE, animation=channel("n/t", "LINEAR", (0, 0, 0, 4, 0, 0))), played=moves(0.25, 1)
    ),
    "keys: `STEP`": lambda: one(
        scene(MOVE, animation=channel("n/t", "STEP", (0, 0, 0, 4, 0, 0))), played=moves(0.75, 0)
    ),
    "keys: `BEZIER`, `HERMITE`": lambda: one(
        scene(MOVE, animation=channel("n/t.X", "HERMITE", (0, 4), more=FLAT)), played=moves(0.25, 0.625)
    ),
    "keys: `BSPLINE`, `CARDINAL`": lambda: one(
        scene(MOVE, animation=channel("n/t.X", "CARDINAL", (0, 4))),
        "interpolation_ignored",
        played=moves(0.5, 2),
    ),
    "channels of single angles and coordinates": lambda: one(
        scene(TURN, animation=channel("n/z.ANGLE", "LINEAR", (0, 180))), played=turns
    ),
    "`animation_clip`": lambda: one(
        scene(MOVE, animation=channel("n/t", "LINEAR", (0, 0, 0, 4, 0, 0)), clips=CLIPS), played=has_clips
    ),
    "animated visibility": lambda: one(
        scene(MOVE, animation=channel("n/visibility", "STEP", (1, 0))), "visibility_ignored"
    ),
    "animated materials, cameras and lights": lambda: one(
        scene(MOVE, animation=channel("paint/color", "LINEAR", (0, 1))), "channels_dropped"
    ),
    "skins": lambda: one(skinned(), played=follows),
    "morph targets and their weights": lambda: one(morphed(), played=has_shapes),
    "`triangles`, `polylist`, `polygons`, `tristrips`, `trifans`": lambda: one(
        geometry(f'<tristrips count="1">{INPUT}<p>0 1 2</p></tristrips>'), played=has_corners
    ),
    "`lines`, `linestrips`": lambda: one(
        geometry(f'{TRIANGLES}<lines count="1">{INPUT}<p>0 1</p></lines>'), "points_lines_dropped"
    ),
    "`spline`, `convex_mesh`, `brep`": lambda: one(
        cases.dae(geometry='<geometry id="tri"><spline/></geometry>', nodes=PLAIN), "geometry_ignored"
    ),
    "normals, texture coordinates, colors of vertices": lambda: one(
        geometry(ATTRIBUTES, SOURCES), played=has_attributes
    ),
    "further texture coordinates and colors of vertices": lambda: one(
        geometry(
            ATTRIBUTES.replace("<p>", '<input semantic="TEXCOORD" source="#uv" offset="0" set="1"/><p>'),
            SOURCES,
        ),
        "attributes_ignored",
    ),
    "color and transparency of a material": lambda: one(painted(COLOR + CLEAR), played=has_color),
    "texture of the color, and how it wraps": lambda: one(
        painted(f"<diffuse>{TEXTURE}</diffuse>", SAMPLER), played=has_texture
    ),
    "emission, specular color, other textures": lambda: one(
        painted(f"{COLOR}<specular><color>1 1 1 1</color></specular>"), "looks_ignored"
    ),
    "cameras and lights": lambda: one(
        scene('<instance_camera url="#c"/><instance_light url="#l"/>'), "cameras_lights_ignored"
    ),
    "kinematics": lambda: one(
        scene().replace(b"</scene>", b'<instance_kinematics_scene url="#k"/></scene>'), "constraints_ignored"
    ),
    "references that lead nowhere, or out of the file": lambda: one(
        scene().replace(b"#tri", b"other.dae#tri"), "references_ignored"
    ),
    "unit and up axis": lambda: one(
        scene().replace(b"Y_UP", b"Z_UP").replace(b'meter="1"', b'meter="0.01"'),
        "axes_converted",
        "units_converted",
        played=is_scaled,
    ),
    **RARE,
}
