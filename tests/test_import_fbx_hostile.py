"""FBX files that nobody wrote for a good reason: numbers at their edges, circles, few bytes that ask
for much.

A limit of seconds says how long each may take; most need a hundredth of it. What random changes find is
looked for in tests/hostile.
"""

import warnings

import numpy as np
import pytest
from fbx_twin import Curve
from fbx_writer import Fbx, record

import skinpy

SECONDS = 10.0
FAR = 2**63 - 1
TURN = [(0.0, 0.0), (1.0, 90.0)]


def load(file: Fbx) -> skinpy.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        return skinpy.load(file.bytes("binary"), format="fbx", limits=skinpy.Limits(seconds=SECONDS))


def codes(model: skinpy.Model) -> set[str]:
    return {entry.code for entry in model.report}


def add_raw_curve(file: Fbx, node: int, times: list[int], values: list[float], **arrays: list[int]) -> None:
    inside = [record("KeyTime", np.array(times, "i8")), record("KeyValueFloat", np.array(values, "f4"))]
    inside += [record(name, np.array(numbers, "i8")) for name, numbers in arrays.items()]
    file.join(file.add("AnimationCurve", "AnimCurve::", "", *inside), node, "d|X")


@pytest.mark.parametrize("references", [[-FAR - 1], [FAR], [0], [-5, -5, 9], []])
def test_extreme_key_times_and_reference_counts(references: list[int]) -> None:
    file = Fbx()
    joint = file.model("joint")
    node = file.curves(file.stack(bare=True), joint, "Lcl Translation", None)
    times = [FAR, 0, -FAR - 1, 1, 1]
    add_raw_curve(file, node, times, [1, 2, 3, 4, 5], KeyAttrFlags=[8], KeyAttrRefCount=references)
    model = load(file)
    assert "key_times_repaired" in codes(model)
    assert np.isfinite(model.globals(0, 0.5)).all()


@pytest.mark.parametrize("kind", "RMAK")
@pytest.mark.parametrize("start", [0.0, 9e7, -9e7])
def test_repetitions_without_end(kind: str, start: float) -> None:
    """Short curves in a clip of a year, and in one that begins a year after them."""
    file = Fbx()
    layer = file.stack(start=start, stop=start + (9e7 if start <= 0 else 1.0))
    for number in range(5):
        curve = Curve([(0.0, 0.0), (1e-9, 90.0), (2e-9, 20.0)], before=(kind, -1), after=(kind, -1))
        file.curves(layer, file.model(f"joint{number}"), "Lcl Rotation", None, X=curve)
    model = load(file)
    assert kind == "K" or "curves_coarse" in codes(model)


def test_numbers_that_no_float_holds() -> None:
    file = Fbx()
    huge = file.model("huge", Lcl_Scaling=(1e300, 1.0, 1.0), Lcl_Translation=(1e39, 0.0, 0.0))
    child = file.model("child", huge, Lcl_Translation=(1.0, 2.0, 3.0))
    skin = file.add("Deformer", "Deformer::", "Skin", to=file.triangle(child))
    matrix = record("Transform", np.full(16, 1e300))
    weights = [record("Indexes", np.arange(3, dtype="i4")), record("Weights", np.ones(3))]
    file.join(child, file.add("Deformer", "SubDeformer::", "Cluster", matrix, *weights, to=skin))
    model = load(file)
    (entry,) = (entry for entry in model.report if entry.code == "numbers_repaired")
    assert entry.count == 2 and "'huge'" in entry.first
    assert np.isfinite(model.globals()).all()


def test_circles_and_objects_that_are_twice() -> None:
    file = Fbx()
    one, two = file.model("one"), file.model("two", 1)
    alone = file.add("Model", "Model::alone", "Null")
    for child, parent in ((one, two), (one, one), (alone, alone), (0, one), (two, 0)):
        file.join(child, parent)
    file.objects += file.objects[:2]
    model = load(file)
    assert model.skeleton.names == (
        "RootNode",
        "one",
        "two",
        "one",
        "two",
    )  # the second ones have no connections
    assert "nodes_with_two_parents" in codes(model)


def test_a_layer_counts_once_in_its_stack_and_has_one_curve_node() -> None:
    file = Fbx()
    joint, layer = file.model("joint"), file.stack(stop=1.0)
    nodes = [
        file.curves(layer, joint, "Lcl Translation", None, X=[(0, 0), (1, value)]) for value in (3.0, 7.0)
    ]
    for _ in range(2000):
        file.join(layer, layer - 1)
        file.join(nodes[0], layer)
        file.join(nodes[1], joint, "Lcl Translation")
    model = load(file)
    assert model.globals(0, 1.0)[1][:3, 3].tolist() == [3, 0, 0]


def test_a_turn_that_no_keys_follow() -> None:
    file = Fbx()
    file.curves(file.stack(stop=1.0), file.model("joint"), "Lcl Rotation", None, X=[(0, 0), (1, 1e12)])
    assert "curves_coarse" in codes(load(file))


@pytest.mark.parametrize("inherit", [0, 2])
def test_long_chains_of_scales_that_are_not_inherited(inherit: int) -> None:
    file = Fbx()
    layer, joint = file.stack(stop=1.0), 0
    for number in range(3000):
        joint = file.model(f"j{number}", joint, InheritType=inherit, Lcl_Translation=(0.0, 1.0, 0.0))
        if number % 3 == 0:
            file.curves(layer, joint, "Lcl Scaling", None, X=[(0, 1), (1, 1)])
    model = load(file)
    assert len(model.skeleton.names) == 3001
    assert model.globals()[-1][1, 3] == 3000


def test_many_stacks_materials_and_influences() -> None:
    """A square of each of them would take minutes."""
    file = Fbx()
    joint = file.model("joint")
    for number in range(5000):
        file.stack(f"s{number}")
        file.add("Material", "Material::m", "", to=joint)
    count = 60_000
    points, corners = np.zeros(9), np.tile(np.array([0, 0, -1], "i4"), count)
    words = [
        record("MappingInformationType", "ByPolygon"),
        record("ReferenceInformationType", "IndexToDirect"),
    ]
    numbers = record("Materials", np.arange(count, dtype="i4"))
    layer = record("LayerElementMaterial", 0, inside=[*words, numbers])
    arrays = [record("Vertices", points), record("PolygonVertexIndex", corners), layer]
    mesh = file.add("Geometry", "Geometry::g", "Mesh", *arrays, to=joint)
    skin = file.add("Deformer", "Deformer::", "Skin", to=mesh)
    listed = [record("Indexes", np.zeros(count, "i4")), record("Weights", np.full(count, 1e-3))]
    file.join(joint, file.add("Deformer", "SubDeformer::", "Cluster", *listed, to=skin))
    model = load(file)
    assert len(model.mesh.submeshes) == count
    assert "influences_merged" in codes(model)
