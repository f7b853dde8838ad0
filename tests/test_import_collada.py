"""COLLADA as its specification means it (1.4.1): nodes, skins, morphs, meshes, materials and the XML itself.

tests/test_collada_motion.py has animations.
"""

import warnings
from pathlib import Path
from typing import Any

import import_cases as cases
import numpy as np
import pytest
from conftest import data_file
from test_import import codes, entry, load

import skinpy

TRIANGLE = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], np.float64)
MESHES = cases.dae_triangle() + cases.dae_triangle("smile")
NODE = '<node id="n"><translate sid="t">1 2 3</translate>{}</node>'
INSTANCE = '<instance_controller url="#{}"><bind_material/></instance_controller>'
#: What files without normals get.
PLAIN = {"normals_generated"}


def rows(points: Any) -> Any:
    """In one order: meshes may have theirs."""
    return np.array(sorted((np.round(points, 5) + 0.0).tolist()))


def moved(model: Any, time: float | None = None) -> Any:
    """Positions at rest, or at a time of the first clip."""
    pose = model.pose() if time is None else model.pose(0, time)
    return model.deform(pose, normals=False)[0]


# ---- cases with their values ---------------------------------------------------------------------------

STRIP = np.array([(0, 0, 0), (1, 0, 0), (0, 2, 0), (0.5, 2.5, 0), (-2, 2, 0), (-2, 3, 0)])
MIRRORED = np.array([(10, 0, 0), (11, 0, 0), (10, 2, 0), (10.5, 1.5, 0), (12, 2, 0), (12, 1, 0)])
SHARED = {
    "dae-animated-library-node.dae": (STRIP, 1.0),
    "dae-two-rigs-same-sids.dae": (np.concatenate([STRIP, MIRRORED]), 1.0),
    "dae-weight-before-joint.dae": (STRIP, 1.0),
    "instance_of_nested_node.dae": (TRIANGLE + (0, 2, 0), None),
    "skin_without_bind_shape.dae": (TRIANGLE + (3, 0, 0), None),
    "two_animations.dae": (np.concatenate([TRIANGLE + (1, 2, 0), TRIANGLE + (-1, 3, 0)]), 2.0),
}


@pytest.mark.parametrize("name", SHARED)
def test_shared_cases(name: str) -> None:
    want, time = SHARED[name]
    model = load(data_file("cases", name))
    assert codes(model) <= PLAIN
    assert np.allclose(rows(moved(model, time)), rows(want), atol=1e-5)


# ---- morph controllers ---------------------------------------------------------------------------------


def test_the_case_is_as_its_truth_has_it() -> None:
    model = load(cases.dae(geometry=MESHES, nodes=NODE.format('<instance_geometry url="#tri"/>')), "dae")
    assert np.array_equal(rows(model.mesh.positions), rows(TRIANGLE))


USES = {
    "by a node": ("", INSTANCE.format("face")),
    "by an empty element": ("", '<instance_controller url="#face"/>'),
    "in other quotation marks": (
        "",
        "<instance_controller\n  name='a>b' url = '#face' ></instance_controller >",
    ),
    "and there is a comment": ("<!-- <controller id='x'> --><!-->", INSTANCE.format("face")),
}
SMILE = cases.dae_triangle("smile").replace("0 0 0 1 0 0 0 1 0", "0 0 2 1 0 0 0 3 0")


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("method", ["NORMALIZED", "RELATIVE"])
def test_a_morph_controller_that_is_used(use: str, method: str) -> None:
    """Each target has the weight 0.5. Of NORMALIZED they are shapes, of RELATIVE differences."""
    more, instance = USES[use]
    morph = cases.dae_morph("face", "tri", ("smile", "smile")).replace("NORMALIZED", method)
    if "comment" in use:
        more += " -->"
    file = cases.dae(
        geometry=cases.dae_triangle() + SMILE, controllers=more + morph, nodes=NODE.format(instance)
    )
    model = load(file, "dae")
    assert codes(model) <= PLAIN and [target.name for target in model.targets] == ["smile", "smile"]
    smile = np.array([(0, 0, 2), (1, 0, 0), (0, 3, 0)])
    want = smile if method == "NORMALIZED" else TRIANGLE + smile
    assert np.allclose(rows(moved(model)), rows(want + (1, 2, 3)), atol=1e-6)


def test_a_scene_in_front_of_its_controllers() -> None:
    file = cases.dae(
        geometry=MESHES,
        controllers=cases.dae_morph("face", "tri"),
        nodes=NODE.format(INSTANCE.format("face")),
    ).decode()
    begin, end = file.index("<library_visual_scenes>"), file.index("<scene>")
    scene = file[begin:end]
    file = file[:begin] + file[end:]
    file = file.replace("<library_geometries>", scene + "<library_geometries>")
    model = load(file.encode(), "dae")
    assert np.array_equal(rows(model.mesh.positions), rows(TRIANGLE))


def skinned(controllers: str, url: str, geometry: str = MESHES, skeleton: str = "#a") -> Any:
    """Joints a (at z = 1) and, below it, b, which turns by 90 degrees about Z in one second."""
    turn = [cases.IDENTITY, (0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)]
    nodes = (
        '<node id="a" sid="a" type="JOINT"><translate>0 0 1</translate><node id="b" sid="b" type="JOINT">'
        f'<matrix sid="transform">{cases.numbers(cases.IDENTITY)}</matrix></node></node>'
        f'<node id="m"><translate>0 0 7</translate><instance_controller url="#{url}">'
        f"<skeleton>{skeleton}</skeleton></instance_controller></node>"
    )
    animation = cases.dae_matrix_animation("b", (0, 1), turn)
    return load(
        cases.dae(geometry=geometry, controllers=controllers, nodes=nodes, animation=animation), "dae"
    )


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("kind", ["skin over morph", "morph over skin", "morph over skin over morph"])
def test_skins_below_and_above_morphs(kind: str, order: int) -> None:
    """Vertex 0 follows a; 1 and 2 follow b, the second with a weight of 0.5 alone, which becomes 1."""
    parts = {
        "skin over morph": ([cases.dae_morph("face", "tri"), cases.dae_skin("body", "face")], "body"),
        "morph over skin": ([cases.dae_skin("body", "tri"), cases.dae_morph("face", "body")], "face"),
        "morph over skin over morph": (
            [
                cases.dae_morph("low", "tri"),
                cases.dae_skin("body", "low"),
                cases.dae_morph("face", "body"),
            ],
            "face",
        ),
    }
    controllers, url = parts[kind]
    model = skinned("".join(controllers[::order]), url, cases.dae_triangle() + SMILE)
    assert ("morph_targets_dropped" in codes(model)) == (kind.count("morph") == 2)
    assert len(model.targets) == 1 and len(model.skin.joints) == 2
    shape = np.array([(0, 0, 1), (1, 0, 0), (0, 2, 0)])
    turned = np.array([(0, 0, 1), (0, 1, 0), (-2, 0, 0)])
    for time, want in ((0.0, shape), (1.0, turned)):
        assert np.allclose(rows(moved(model, time)), rows(want + (0, 0, 1)), atol=1e-5)


@pytest.mark.parametrize("isolate", [True, False])
def test_a_large_file_with_morphs(tmp_path: Path, isolate: bool) -> None:
    """More than 1 MiB, of which the head alone is read at first."""
    nodes = NODE.format(INSTANCE.format("face")) + "<!-- " + "a long comment " * 100_000 + "-->"
    file = cases.dae(geometry=MESHES, controllers=cases.dae_morph("face", "tri"), nodes=nodes)
    path = tmp_path / "large.dae"
    path.write_bytes(file)
    model = load(path, isolate=isolate)
    assert np.array_equal(rows(model.mesh.positions), rows(TRIANGLE))


def test_morphs_that_lead_nowhere() -> None:
    """Of what is not there, or without an end: a mesh less, or a refusal; and through 2,000 others."""
    node = NODE.format(INSTANCE.format("m0"))
    gone = load(cases.dae(geometry=MESHES, controllers=cases.dae_morph("m0", "gone"), nodes=node), "dae")
    assert not len(gone.mesh.positions) and "gone" in entry(gone, "references_ignored").first
    around = cases.dae_morph("m0", "m1") + cases.dae_morph("m1", "m0")
    around_model = load(cases.dae(geometry=MESHES, controllers=around, nodes=node), "dae")
    assert entry(around_model, "meshes_dropped").severity == "lost"
    chain = "".join(cases.dae_morph(f"m{i}", f"m{i + 1}" if i < 1999 else "tri") for i in range(2000))
    file = cases.dae(geometry=MESHES, controllers=chain, nodes=node)
    model = load(file, "dae")
    assert len(model.mesh.positions) == 3 and entry(model, "morph_targets_dropped").count == 1999
    for broken in (file.replace(b"</controller>", b""), file.replace(b"</controller>", b"<controller/>")):
        with pytest.raises(skinpy.LoadError, match="malformed XML in line"):
            load(broken, "dae")


def test_targets_that_do_not_fit() -> None:
    other = cases.dae_triangle("smile").replace('count="3" stride="3"', 'count="2" stride="3"')
    controllers = cases.dae_morph("face", "tri", ("smile", "nobody"))
    file = cases.dae(
        geometry=cases.dae_triangle() + other,
        controllers=controllers,
        nodes=NODE.format(INSTANCE.format("face")),
    )
    model = load(file, "dae")
    assert entry(model, "morph_targets_dropped").count == 2
    assert np.allclose(rows(moved(model)), rows(TRIANGLE + (1, 2, 3)))


# ---- joints of skins -----------------------------------------------------------------------------------


def test_joint_of_minus_one_is_the_node_of_the_mesh() -> None:
    """1.4.1, vertex_weights: the bind shape itself."""
    model = skinned(cases.dae_skin("body", "tri", "0 1 -1 1 1 1"), "body")
    want = np.array([(0, 0, 1), (1, 0, 7), (-1, 0, 1)])
    assert np.allclose(rows(moved(model, 1.0)), rows(want), atol=1e-5)


def test_indices_of_joints_beyond_the_list() -> None:
    model = skinned(cases.dae_skin("body", "tri", "0 1 2 1 1 9"), "body")
    assert entry(model, "joint_index_out_of_range").count == 1
    assert "number 9" in entry(model, "weights_dropped").first


def test_bind_shape_is_applied_before_the_joints() -> None:
    shape = cases.numbers((1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1))
    model = skinned(cases.dae_skin("body", "tri", bind_shape=shape), "body")
    want = np.array([(5, 0, 1), (0, 6, 1), (-1, 5, 1)])
    assert np.allclose(rows(moved(model, 1.0)), rows(want), atol=1e-5)


@pytest.mark.parametrize(
    "kind",
    ["ids", "ids as sids", "paths of sids", "sids of several words", "sids of another figure", "no skeleton"],
)
def test_where_joints_are_looked_for(kind: str) -> None:
    """By sid below the skeleton; IDREFs by id. A figure beside it with the same sids does not matter."""
    skin = cases.dae_skin("body", "tri")
    other = '<node id="x" sid="a"><translate>50 0 0</translate><node id="y" sid="b"/></node>'
    nodes = (
        other
        + '<node id="rig"><node id="i" sid="a"><translate>0 0 1</translate><node id="j" sid="b"/></node>'
        + '<node id="m"><instance_controller url="#body"><skeleton>#i</skeleton></instance_controller></node>'
        + "</node>"
    )
    if kind == "ids":
        skin = skin.replace("Name_array", "IDREF_array").replace("a b", "i j")
    elif kind == "paths of sids":  # 1.5
        skin = skin.replace("Name_array", "SIDREF_array").replace("a b", "rig/a rig/a/b")
    elif kind == "ids as sids":
        skin = skin.replace("a b", "i j")
    elif kind == "sids of several words":  # which Autodesk's exporter writes
        skin = skin.replace("a b", "Bip 1 Bip 1 L Arm")
        nodes = nodes.replace('sid="a"', 'sid="Bip 1"').replace('sid="b"', 'sid="Bip 1 L Arm"')
    elif kind == "no skeleton":
        nodes = nodes.replace("<skeleton>#i</skeleton>", "")
    model = load(cases.dae(geometry=MESHES, controllers=skin, nodes=nodes), "dae")
    assert codes(model) <= PLAIN | {"weights_normalized"}
    assert np.allclose(rows(moved(model)), rows(TRIANGLE + (0, 0, 1)), atol=1e-6)


def test_joints_that_are_not_there() -> None:
    model = skinned(cases.dae_skin("body", "tri").replace("a b", "a nobody"), "body")
    assert "nobody" in entry(model, "bones_without_node").first
    missing = skinned(cases.dae_skin("body", "tri"), "body", skeleton="#gone")
    assert "gone" in entry(missing, "references_ignored").first


def test_a_figure_of_a_library_that_is_used_twice() -> None:
    """Each instance of the skin has the joints of its own instance of the nodes."""
    figure = (
        '<library_nodes><node id="figure"><node sid="a" id="a"><node sid="b" id="b"/></node><node id="m">'
        '<instance_controller url="#body"><skeleton>#a</skeleton></instance_controller></node></node>'
        "</library_nodes>"
    )
    nodes = "".join(
        f'<node id="p{x}"><translate>{x} 0 0</translate><instance_node url="#figure"/></node>'
        for x in (0, 10)
    )
    skin = cases.dae_skin("body", "tri")
    model = load(cases.dae(geometry=MESHES, controllers=skin, nodes=nodes, more=figure), "dae")
    want = np.concatenate([TRIANGLE, TRIANGLE + (10, 0, 0)])
    assert np.allclose(rows(moved(model)), rows(want)) and len(model.mesh.submeshes) == 2


# ---- nodes ---------------------------------------------------------------------------------------------


def test_nodes_that_contain_themselves() -> None:
    library = (
        '<library_nodes><node id="a"><node id="b"><instance_node url="#a"/></node></node></library_nodes>'
    )
    model = load(cases.dae(nodes='<node id="n"><instance_node url="#a"/></node>', more=library), "dae")
    assert model.skeleton.names[1:] == ("n", "a", "b")
    assert "instance of itself" in entry(model, "references_ignored").first


def test_nodes_that_multiply_are_counted() -> None:
    """30 nodes that each have the next one twice: a billion."""
    library = "".join(
        f'<node id="k{i}"><instance_node url="#k{i + 1}"/><instance_node url="#k{i + 1}"/></node>'
        for i in range(30)
    )
    file = cases.dae(
        nodes='<node id="n"><instance_node url="#k0"/></node>',
        more=f'<library_nodes>{library}<node id="k30"/></library_nodes>',
    )
    with pytest.raises(skinpy.LimitExceeded, match="nodes"):
        load(file, "dae", limits=skinpy.Limits(nodes=1000))


def test_long_names_that_are_used_often() -> None:
    """A block may share 64 MiB of text: one that shares more would not open."""
    for use in ('<instance_node url="#k"/>', '<instance_geometry url="#{}"/>'):
        name = "t" * 100_000
        library = f'<library_nodes><node id="k" name="{name}"/></library_nodes>'
        nodes = f'<node id="n">{use.format(name) * 500}</node>'
        file = cases.dae(geometry=cases.dae_triangle(name), nodes=nodes, more=library)
        with pytest.raises(skinpy.LoadError, match="take more than 32 MiB"):
            load(file, "dae")


def test_references_that_lead_out_of_the_file() -> None:
    nodes = '<node id="n"><instance_node url="other.dae#n"/><instance_geometry url="#gone"/></node>'
    note = entry(load(cases.dae(nodes=nodes), "dae"), "references_ignored")
    assert (note.severity, note.count) == ("lost", 2) and "other.dae#n" in note.first


def test_a_file_that_refers_to_itself_by_its_name(tmp_path: Path) -> None:
    nodes = '<node id="n"><instance_geometry url="./own.dae#tri"/></node>'
    (tmp_path / "own.dae").write_bytes(cases.dae(geometry=MESHES, nodes=nodes))
    model = load(tmp_path / "own.dae")
    assert len(model.mesh.positions) == 3 and "references_ignored" not in codes(model)


def test_hidden_nodes() -> None:
    hide = '<extra><technique profile="MAYA"><visibility>0</visibility></technique></extra>'
    nodes = f'<node id="n"><node id="m"><instance_geometry url="#tri"/></node>{hide}</node>'
    nodes += '<node id="o"><instance_geometry url="#tri"/></node>'
    model = load(cases.dae(geometry=MESHES, nodes=nodes), "dae")
    assert [submesh.visible for submesh in model.mesh.submeshes] == [False, True]


def test_what_is_not_shown_is_reported() -> None:
    """Splines, solids, kinematics, cameras and lights."""
    geometry = '<geometry id="s"><spline/></geometry><geometry id="b"><brep/></geometry>'
    instances = '<instance_geometry url="#s"/><instance_camera url="#c"/><instance_light url="#l"/>'
    nodes = f'<node id="n">{instances}</node>'
    file = cases.dae(geometry=geometry, nodes=nodes).replace(
        b"</scene>", b'<instance_kinematics_scene url="#k"/></scene>'
    )
    model = load(file, "dae")
    assert entry(model, "geometry_ignored").count == 2
    assert entry(model, "cameras_lights_ignored").count == 2
    assert entry(model, "constraints_ignored").count == 1


# ---- meshes --------------------------------------------------------------------------------------------


def mesh(points: Any, primitives: str, sources: str = "", vertices: str = "") -> Any:
    flat = np.asarray(points, float).ravel()
    geometry = (
        '<geometry id="g"><mesh>'
        + cases.dae_source("g-p", cases.numbers(flat), len(flat) // 3, stride=3)
        + sources
        + f'<vertices id="g-v"><input semantic="POSITION" source="#g-p"/>{vertices}</vertices>'
        + primitives
        + "</mesh></geometry>"
    )
    return load(
        cases.dae(geometry=geometry, nodes='<node id="n"><instance_geometry url="#g"/></node>'), "dae"
    )


VERTEX = '<input semantic="VERTEX" source="#g-v" offset="0"/>'


def area(model: Any) -> float:
    """Of all faces, as seen along -z: those that are turned over count negative."""
    corners = np.asarray(model.mesh.positions, np.float64)[np.asarray(model.mesh.faces)][..., :2]
    (a, b), (c, d) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    return float((a * d - b * c).sum() / 2)


SQUARE = [(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)]
HOLES = [(1, 1, 0), (2, 1, 0), (2, 2, 0), (1, 2, 0), (3, 2.5, 0), (3, 3, 0), (3.5, 3, 0)]
CONCAVE = [(0, 0, 0), (4, 0, 0), (4, 4, 0), (2, 1, 0)]
FACES = {
    "triangles": (SQUARE, f'<triangles count="2">{VERTEX}<p>0 1 2 0 2 3</p></triangles>', 16, 2),
    "polylist": (
        SQUARE,
        f'<polylist count="2">{VERTEX}<vcount>3 3</vcount><p>0 1 2 0 2 3</p></polylist>',
        16,
        2,
    ),
    "polygons": (CONCAVE, f'<polygons count="1">{VERTEX}<p>0 1 2 3</p></polygons>', 6, 2),
    "tristrips": (SQUARE, f'<tristrips count="1">{VERTEX}<p>0 1 3 2</p></tristrips>', 16, 2),
    "trifans": (SQUARE, f'<trifans count="1">{VERTEX}<p>0 1 2 3</p></trifans>', 16, 2),
    "a hole": (
        [*SQUARE, *HOLES],
        f'<polygons count="1">{VERTEX}<ph><p>0 1 2 3</p><h>4 5 6 7</h></ph></polygons>',
        15,
        8,
    ),
    "two holes, one the other way round": (
        [*SQUARE, *HOLES],
        f'<polygons count="1">{VERTEX}<ph><p>0 1 2 3</p><h>7 6 5 4</h><h>8 9 10</h></ph></polygons>',
        15 - 0.125,
        13,
    ),
}


@pytest.mark.parametrize("kind", FACES)
def test_faces_of_each_kind(kind: str) -> None:
    """They cover the outline once, and turn as it does."""
    points, primitives, size, faces = FACES[kind]
    model = mesh(points, primitives)
    assert area(model) == pytest.approx(size) and len(model.mesh.faces) == faces
    positive = np.asarray(model.mesh.positions)[np.asarray(model.mesh.faces)]
    assert (np.cross(positive[:, 1] - positive[:, 0], positive[:, 2] - positive[:, 0])[:, 2] > 0).all()


def test_indices_make_vertices() -> None:
    """Two colors at one point are two vertices; inputs stand at any offset, behind unused ones."""
    colors = cases.dae_source("g-c", "1 0 0 0 1 0", 2, stride=3)
    inputs = (
        '<input semantic="COLOR" source="#g-c" offset="2"/>'
        '<input semantic="VERTEX" source="#g-v" offset="1"/>'
        '<input semantic="WHATEVER" source="#g" offset="0"/>'
    )
    model = mesh(
        SQUARE,
        f'<triangles count="2">{inputs}<p>9 0 0 9 1 0 9 2 0 9 0 1 9 2 1 9 3 1</p></triangles>',
        colors,
    )
    assert len(model.mesh.positions) == 6
    assert {tuple(color) for color in model.mesh.colors.tolist()} == {(1, 0, 0, 1), (0, 1, 0, 1)}


def test_parameters_without_a_name_are_skipped() -> None:
    """1.4.1, accessor: rows of four numbers, of which the second is not bound."""
    source = (
        '<source id="g-t"><float_array id="g-ta" count="12">0 9 0.25 9 1 9 0.5 9 1 9 1 9</float_array>'
        '<technique_common><accessor source="#g-ta" count="3" stride="4"><param name="S" type="float"/>'
        '<param type="float"/><param name="T" type="float"/></accessor></technique_common></source>'
    )
    primitive = (
        f'<triangles count="1">{VERTEX}<input semantic="TEXCOORD" source="#g-t" offset="0"/>'
        "<p>0 1 2</p></triangles>"
    )
    model = mesh(SQUARE[:3], primitive, source)
    assert np.allclose(rows(model.mesh.uvs), rows([(0, 0.75), (1, 0.5), (1, 0)]))


def test_what_a_primitive_lacks_is_reported() -> None:
    lost = mesh(SQUARE, f'<triangles count="3">{VERTEX}<p>0 1 2 0 2 9 0 1</p></triangles>')
    assert len(lost.mesh.faces) == 1 and entry(lost, "faces_dropped").count == 2
    short = mesh(SQUARE, f'<polylist count="2">{VERTEX}<vcount>4 3</vcount><p>0 1 2 3 0</p></polylist>')
    assert len(short.mesh.faces) == 2 and entry(short, "faces_dropped").count == 1
    lines = mesh(SQUARE, f'<lines count="2">{VERTEX}<p>0 1 1 2</p></lines>')
    assert entry(lines, "points_lines_dropped").count == 2 and "meshes_dropped" in codes(lines)


# ---- materials -----------------------------------------------------------------------------------------


def painted(shading: str, params: str = "", images: str = "", binding: str = "", more: str = "") -> bytes:
    """A triangle with one material."""
    library = (
        f'<library_images>{images}</library_images><library_effects><effect id="fx"><profile_COMMON>{params}'
        f'<technique sid="t">{shading}</technique>{more}</profile_COMMON></effect></library_effects>'
        '<library_materials><material id="paint" name="Paint"><instance_effect url="#fx"/></material>'
        "</library_materials>"
    )
    node = (
        '<node id="n"><instance_geometry url="#tri"><bind_material><technique_common>'
        f'<instance_material symbol="mat" target="#paint">{binding}</instance_material>'
        "</technique_common></bind_material></instance_geometry></node>"
    )
    geometry = cases.dae_triangle().replace('count="1">', 'count="1" material="mat">', 1)
    return cases.dae(geometry=geometry, nodes=node, more=library)


MODES = {
    "": 0.8 * 0.5,
    'opaque="A_ONE"': 0.8 * 0.5,
    'opaque="A_ZERO"': 1 - 0.8 * 0.5,
    'opaque="RGB_ONE"': (0.212671 * 0.2 + 0.715160 * 0.4 + 0.072169 * 0.6) * 0.5,
    'opaque="RGB_ZERO"': 1 - (0.212671 * 0.2 + 0.715160 * 0.4 + 0.072169 * 0.6) * 0.5,
}


@pytest.mark.parametrize("mode", MODES)
def test_opacity_by_mode(mode: str) -> None:
    """1.5.0, Determining Transparency (Opacity)."""
    shading = (
        "<phong><diffuse><color>0.1 0.2 0.3 0.7</color></diffuse>"
        f"<transparent {mode}><color>0.2 0.4 0.6 0.8</color></transparent>"
        "<transparency><float>0.5</float></transparency></phong>"
    )
    material = load(painted(shading), "dae").materials[0]
    assert material.name == "Paint" and material.alpha == "blend"
    assert material.base_color == pytest.approx((0.1, 0.2, 0.3, MODES[mode]), abs=1e-6)


def test_colors_of_parameters_and_of_constant_effects() -> None:
    color = '<newparam sid="c"><float4>0.1 0.2 0.3 1</float4></newparam>'
    material = load(
        painted('<lambert><diffuse><param ref="c"/></diffuse></lambert>', color), "dae"
    ).materials[0]
    assert material.base_color == pytest.approx((0.1, 0.2, 0.3, 1), abs=1e-6) and material.alpha == "opaque"
    file = painted("<constant><emission><color>0.4 0.5 0.6 1</color></emission></constant>")
    extra = b'<extra><technique profile="MAX3D"><double_sided>1</double_sided></technique></extra>'
    file = file.replace(b"</profile_COMMON>", extra + b"</profile_COMMON>")
    material = load(file, "dae").materials[0]
    assert material.base_color[:3] == pytest.approx((0.4, 0.5, 0.6), abs=1e-6) and material.double_sided


IMAGES = {
    "1.4": "<init_from>a%20wood.png</init_from>",
    "1.4, a URI": "<init_from>file:///C:/models/a%20wood.png</init_from>",
    "1.5": "<init_from><ref>./a%20wood.png</ref></init_from>",
    "1.5, inside": "<init_from><hex format='PNG'>{}</hex></init_from>",
}


@pytest.mark.parametrize("kind", IMAGES)
def test_images(kind: str, tmp_path: Path) -> None:
    """Through sampler and surface, or directly; with the way the texture repeats."""
    texture = skinpy.character().materials[0].texture
    assert texture is not None
    (tmp_path / "a wood.png").write_bytes(texture.data)
    image = f'<image id="img">{IMAGES[kind].format(bytes(texture.data).hex())}</image>'
    params = (
        '<newparam sid="s"><surface type="2D"><init_from>img</init_from></surface></newparam>'
        '<newparam sid="p"><sampler2D><source>s</source><wrap_s>CLAMP</wrap_s></sampler2D></newparam>'
    )
    if kind.startswith("1.5"):
        params = '<newparam sid="p"><sampler2D><instance_image url="#img"/></sampler2D></newparam>'
    shading = '<phong><diffuse><texture texture="p" texcoord="UV"/></diffuse></phong>'
    (tmp_path / "a.dae").write_bytes(painted(shading, params, image))
    model = load(tmp_path / "a.dae")
    assert "textures_missing" not in codes(model)
    material = model.materials[0]
    assert bytes(material.texture.data) == bytes(texture.data)
    assert material.base_color == (1, 1, 1, 1)


def test_each_primitive_has_its_material() -> None:
    file = painted("<phong><diffuse><color>1 0 0 1</color></diffuse></phong>").decode()
    begin, end = file.index("<triangles"), file.index("</triangles>") + len("</triangles>")
    second = file[begin:end].replace('material="mat"', 'material="other"')
    file = file[:end] + second + file[end:]
    file = file.replace(
        "</library_materials>",
        '<material id="second"><instance_effect url="#fx"/></material></library_materials>',
    )
    file = file.replace(
        "</technique_common></bind_material>",
        '<instance_material symbol="other" target="#second"/></technique_common></bind_material>',
    )
    model = load(file.encode(), "dae")
    assert [submesh.material for submesh in model.mesh.submeshes] == [0, 1]


def test_the_set_of_texture_coordinates_is_the_bound_one() -> None:
    source = "".join(
        cases.dae_source(f"tri-t{i}", cases.numbers([i, 0.5] * 3), 3, stride=2) for i in range(2)
    )
    inputs = "".join(
        f'<input semantic="TEXCOORD" source="#tri-t{i}" offset="0" set="{i + 3}"/>' for i in range(2)
    )
    shading = '<phong><diffuse><texture texture="img" texcoord="UV"/></diffuse></phong>'
    bind = '<bind_vertex_input semantic="UV" input_semantic="TEXCOORD" input_set="{}"/>'
    for number in (3, 4, 5):  # of a set that is not there the first one counts
        file = painted(shading, images='<image id="img"/>', binding=bind.format(number)).decode()
        file = file.replace("<vertices", source + "<vertices").replace("<p>", inputs + "<p>")
        model = load(file.encode(), "dae")
        assert set(model.mesh.uvs[:, 0].tolist()) == {float(number == 4)}


# ---- XML -----------------------------------------------------------------------------------------------


def test_encodings() -> None:
    """UTF-8, UTF-16, Latin 1, Windows' own, and a file that is not in the encoding that it states."""
    text = cases.dae(nodes='<node id="n" name="Rücken"/>').decode()
    files = [
        text.encode(),
        text.replace("utf-8", "utf-16").encode("utf-16"),
        text.replace("utf-8", "iso-8859-1").encode("latin-1"),
        text.replace("utf-8", "windows-1252").encode("latin-1"),
        text.encode("latin-1"),
    ]
    for file in files:
        assert load(file, "dae").skeleton.names[1] == "Rücken"


def test_xml_that_is_not_plain() -> None:
    """Prefixes, CDATA, references to characters, and what follows the document."""
    file = cases.dae(nodes='<node id="n" name="a&amp;b"><translate><![CDATA[1 2]]> &#51;</translate></node>')
    plain = load(file + b"<trailing", "dae")
    assert plain.skeleton.names[1] == "a&b" and plain.globals()[1][:3, 3].tolist() == [1, 2, 3]
    text = file.decode().replace("xmlns=", "xmlns:c=")
    for name in ("COLLADA", "node", "visual_scene", "scene", "asset"):
        text = text.replace(f"<{name}", f"<c:{name}").replace(f"</{name}", f"</c:{name}")
    assert load(text.encode(), "dae").skeleton.names[1] == "a&b"


def test_decimal_commas() -> None:
    """Of exporters that write numbers as their country does."""
    model = load(cases.dae(nodes='<node id="n"><translate>1,5 -2,25e1 3</translate></node>'), "dae")
    assert model.globals()[1][:3, 3].tolist() == [1.5, -22.5, 3]


def test_entities_are_refused() -> None:
    """Neither files nor texts that grow: a billion laughs."""
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><COLLADA'
    for head in (laughs, '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><COLLADA'):
        with pytest.raises(skinpy.LoadError, match="declares entities"):
            load(cases.dae().replace(b"<COLLADA", head.encode(), 1), "dae")


@pytest.mark.parametrize("isolate", [True, False])
def test_malformed_files_say_where(isolate: bool) -> None:
    with pytest.raises(skinpy.LoadError, match="malformed XML in line 9: mismatched tag"):
        load(cases.dae(nodes="<node>"), "dae", isolate=isolate)
    with warnings.catch_warnings(), pytest.raises(skinpy.LoadError, match="no visual scene"):
        load(b"<COLLADA/>" + b" " * 100, "dae", isolate=isolate)
