"""COLLADA files that Assimp refuses or reads half: what is put right, and what is said to be lost."""

from pathlib import Path
from typing import Any

import import_cases as cases
import numpy as np
import pytest
from test_import import codes, entry, load

import skinpy

TRIANGLE = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], np.float64)
MESHES = cases.dae_triangle() + cases.dae_triangle("smile")
NODE = '<node id="n"><translate sid="t">1 2 3</translate>{}</node>'
INSTANCE = '<instance_controller url="#{}"><bind_material/></instance_controller>'


def rows(points: Any) -> Any:
    """In one order: meshes may have theirs."""
    return np.array(sorted(np.round(points, 5).tolist()))


def test_the_case_is_as_its_truth_has_it() -> None:
    model = load(cases.dae(geometry=MESHES, nodes=NODE.format('<instance_geometry url="#tri"/>')), "dae")
    assert np.array_equal(rows(model.mesh.positions), rows(TRIANGLE))


USES = {
    "not at all": ("", '<instance_geometry url="#tri"/>'),
    "by a node": ("", INSTANCE.format("face")),
    "by an empty element": ("", '<instance_controller url="#face"/>'),
    "in other quotation marks": (
        "",
        "<instance_controller\n  name='a>b' url = '#face' ></instance_controller >",
    ),
    "over another morph": (cases.dae_morph("faces", "face"), INSTANCE.format("faces")),
    "and the reader sees a comment": ("<!-- <controller id='x'> --><!-->-->", INSTANCE.format("face")),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("first", [True, False])
def test_a_morph_controller_that_is_used(use: str, first: bool) -> None:
    """The mesh stands where it stood, without targets, and the report says so."""
    more, instance = USES[use]
    both = [cases.dae_morph("face", "tri", ("smile", "smile")), more]
    file = cases.dae(
        geometry=MESHES, controllers="".join(both if first else both[::-1]), nodes=NODE.format(instance)
    )
    model = load(file, "dae")
    note = entry(model, "morph_targets_dropped")
    assert (note.severity, note.count) == ("lost", 3 if "another" in use else 2)
    assert codes(model) <= {"morph_targets_dropped", "normals_generated"} and not model.targets
    moved = model.deform(model.pose(), normals=False)[0]
    assert np.array_equal(rows(moved), rows(TRIANGLE + (1, 2, 3)))


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


def skinned(controllers: str, url: str) -> Any:
    """Joints a (at z = 1) and, below it, b, which turns by 90 degrees about Z in one second."""
    turn = [cases.IDENTITY, (0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)]
    nodes = (
        '<node id="a" sid="a" type="JOINT"><translate>0 0 1</translate><node id="b" sid="b" type="JOINT">'
        f'<matrix sid="transform">{cases.numbers(cases.IDENTITY)}</matrix></node></node>'
        f'<node id="m"><instance_controller url="#{url}"><skeleton>#a</skeleton></instance_controller></node>'
    )
    animation = cases.dae_matrix_animation("b", (0, 1), turn)
    return load(cases.dae(geometry=MESHES, controllers=controllers, nodes=nodes, animation=animation), "dae")


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
    model = skinned("".join(controllers[::order]), url)
    assert "morph_targets_dropped" in codes(model) and len(model.skin.joints) == 2
    for time, turned in ((0.0, TRIANGLE), (1.0, np.array([(0, 0, 0), (0, 1, 0), (-1, 0, 0)]))):
        moved = model.deform(model.pose(0, time), normals=False)[0]
        assert np.allclose(rows(moved), rows(turned + (0, 0, 1)), atol=1e-5)


def test_channels_of_weights_move_no_node() -> None:
    """The target has the node's id in it, and Assimp would write the weights over its first number."""
    keys = (
        cases.dae_source("w-in", "0 1", 2)
        + cases.dae_source("w-out", "0.25 0.75", 2)
        + cases.dae_source("w-kind", "LINEAR LINEAR", 2, "name")
    )
    weights = (
        f'<animation id="w">{keys}<sampler id="w-s"><input semantic="INPUT" source="#w-in"/>'
        '<input semantic="OUTPUT" source="#w-out"/><input semantic="INTERPOLATION" source="#w-kind"/>'
        '</sampler><channel source="#w-s" target="{}"/></animation>'
    )
    for target in ("n-morph-weights(0)", "face-weights(0)"):
        file = cases.dae(
            geometry=MESHES,
            controllers=cases.dae_morph("face", "tri"),
            nodes=NODE.format(INSTANCE.format("face")),
            animation=weights.format("n/t.Y") + weights.format(target).replace("w-", "v-"),
        )
        model = load(file, "dae")
        assert codes(model) == {"morph_targets_dropped", "normals_generated"}
        place = model.globals(0, 1.0)[model.skeleton.index("n")][:3, 3]
        assert np.allclose(place, (1, 0.75, 3), atol=1e-6)


@pytest.mark.parametrize("isolate", [True, False])
def test_a_large_file_with_morphs(tmp_path: Path, isolate: bool) -> None:
    """More than 1 MiB, of which the head alone is kept while Assimp reads."""
    nodes = NODE.format(INSTANCE.format("face")) + "<!-- " + "a long comment " * 100_000 + "-->"
    file = cases.dae(geometry=MESHES, controllers=cases.dae_morph("face", "tri"), nodes=nodes)
    path = tmp_path / "large.dae"
    path.write_bytes(file)
    model = load(path, isolate=isolate)
    assert np.array_equal(rows(model.mesh.positions), rows(TRIANGLE))


def test_morphs_that_lead_nowhere() -> None:
    """Of what is not there, or without an end: a mesh less, or a refusal; and through 2,000 others."""
    node = NODE.format(INSTANCE.format("m0"))
    gone = cases.dae(geometry=MESHES, controllers=cases.dae_morph("m0", "gone"), nodes=node)
    assert not len(load(gone, "dae").mesh.positions)
    chain = "".join(cases.dae_morph(f"m{i}", f"m{i + 1}" if i < 1999 else "tri") for i in range(2000))
    file = cases.dae(geometry=MESHES, controllers=chain, nodes=node)
    assert len(load(file, "dae").mesh.positions) == 3
    for broken in (file.replace(b"</controller>", b""), file.replace(b"</controller>", b"<controller/>")):
        with pytest.raises(skinpy.LoadError):
            load(broken, "dae")


def test_what_is_written_counts_against_the_limit() -> None:
    """Short references to a mesh with a long name."""
    name = "t" * 1000
    file = cases.dae(
        geometry=cases.dae_triangle(name) + cases.dae_triangle("smile"),
        controllers=cases.dae_morph("m", name),
        nodes=NODE.format('<instance_controller url="#m"/>' * 200),
    )
    assert len(load(file, "dae").mesh.faces) == 200
    with pytest.raises(skinpy.LimitExceeded, match="the limit of file_bytes is"):
        load(file, "dae", limits=skinpy.Limits(file_bytes=2 * len(file)))


# ---- what is said to be lost -----------------------------------------------------------------------------


def animated(kind: str = "LINEAR LINEAR", target: str = "n/transform", clips: str = "") -> Any:
    """A node that moves along x; its matrix is at (1, 2, 3) at rest."""
    ends = [(1, 0, 0, x, 0, 1, 0, 2, 0, 0, 1, 3, 0, 0, 0, 1) for x in (1, 5)]
    animation = cases.dae_matrix_animation("n", (0, 1), ends)
    animation = animation.replace("LINEAR LINEAR", kind).replace("n/transform", target)
    nodes = f'<node id="n"><matrix sid="transform">{cases.numbers(ends[0])}</matrix></node>'
    return load(cases.dae(nodes=nodes, animation=animation, clips=clips), "dae")


@pytest.mark.parametrize(
    ("kind", "first"),
    [("LINEAR LINEAR", ""), ("STEP STEP", "STEP"), ("BEZIER LINEAR", "BEZIER"), ("LINEAR HERMITE", "")],
)
def test_interpolation_that_is_not_linear(kind: str, first: str) -> None:
    """Of the last key it is all one."""
    model = animated(kind)
    assert model.globals(0, 0.5)[-1][0, 3] == pytest.approx(3)
    if not first:
        assert not model.report
    else:
        note = entry(model, "interpolation_ignored")
        assert (note.severity, note.count, note.first) == ("lost", 1, first)


def test_names_of_joints_are_no_interpolation() -> None:
    assert codes(skinned(cases.dae_skin("body", "tri"), "body")) <= {
        "weights_normalized",
        "normals_generated",
    }


def test_animation_clips() -> None:
    clip = (
        '<animation_clip id="c{0}" name="walk{0}" start="0" end="1">'
        '<instance_animation url="#n-a"/></animation_clip>'
    )
    model = animated(clips="".join(clip.format(i) for i in range(3)))
    assert len(model.clips) == 1
    note = entry(model, "clips_merged")
    assert (note.severity, note.count, note.first) == ("lost", 3, "'walk0'")


@pytest.mark.parametrize("target", ["a/n/transform", "n.1/transform.X"])
def test_targets_that_assimp_does_not_find(target: str) -> None:
    model = animated(target=target)
    note = entry(model, "channels_dropped")
    assert (note.severity, note.count) == ("lost", 1) and target in note.first


def test_influences_of_no_joint() -> None:
    model = skinned(cases.dae_skin("body", "tri", "0 1 -1 1 1 1"), "body")
    note = entry(model, "influences_misread")
    assert (note.severity, note.count) == ("lost", 1)
