"""What FBX files say, against NumPy, by the formulas of FBX itself: ranges, defaults, names, broken files.

Each file is written from one tree of records, as text and as binary.
"""

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from fbx_twin import local_of, turn
from fbx_writer import FORMS, Fbx, prop, record
from import_cases import FBX_SECOND
from test_import import check_sanity, codes, load

import skinpy

# ---- axes without a curve ------------------------------------------------------------------------------

PLACE, ANGLES, SIZE = (1.0, 2.0, 3.0), (20.0, -50.0, 70.0), (2.0, 3.0, 0.5)
PRE, PIVOT = (10.0, 80.0, -30.0), (0.0, 1.0, 2.0)


@pytest.mark.parametrize("keyed", ["X", "Y", "Z", "XY", "XZ", "YZ"])
@pytest.mark.parametrize("order", range(6))
def test_axes_without_a_curve_keep_their_value(order: int, keyed: str) -> None:
    """Maya writes the keyed axes alone, and its joint orient is the PreRotation that makes helper nodes."""
    file = Fbx()
    joint = file.model("joint", Lcl_Translation=PLACE, Lcl_Rotation=ANGLES, Lcl_Scaling=SIZE, PreRotation=PRE,
                       RotationPivot=PIVOT, RotationOrder=order)  # fmt: skip
    layer = file.stack(stop=1.0)
    ends: dict[str, list[float]] = {}
    for path, values, change in (
        ("Translation", PLACE, 4.0),
        ("Rotation", ANGLES, 65.0),
        ("Scaling", SIZE, 1.5),
    ):
        ends[path] = [value + change * (axis in keyed) for axis, value in zip("XYZ", values, strict=True)]
        axes = {axis: [(0, values["XYZ".index(axis)]), (1, ends[path]["XYZ".index(axis)])] for axis in keyed}
        file.curves(layer, joint, f"Lcl {path}", values, **axes)
    model = file.load(FORMS[order % 3])
    index = model.skeleton.index("joint")
    for time, t, r, s in ((0.0, PLACE, ANGLES, SIZE), (1.0, *ends.values())):
        truth = local_of(t, r, s, PRE, PIVOT, order)
        assert model.globals(0, time)[index] == pytest.approx(truth, abs=5e-6)


@pytest.mark.parametrize("form", FORMS)
def test_the_curve_nodes_default_goes_before_the_models_value(form: str) -> None:
    """A clip can hold an axis elsewhere than the rest pose; where the node says nothing the model counts."""
    file = Fbx()
    joint = file.model("joint", Lcl_Translation=PLACE, PreRotation=PRE)
    for name, default in (("told", (1, 7, 8)), ("untold", None)):
        file.curves(file.stack(name, stop=1.0), joint, "Lcl Translation", default, X=[(0, 1), (1, 5)])
    model = file.load(form)
    assert model.clips.names == ("told", "untold")
    joint = model.skeleton.index("joint")
    assert model.globals("told", 1.0)[joint][:3, 3].tolist() == [5, 7, 8]
    assert model.globals("untold", 1.0)[joint][:3, 3].tolist() == [5, 2, 3]


def test_curves_of_other_layers_and_stacks() -> None:
    """A second layer adds to the first, on axes without curves too; curves of other clips do not count."""
    file = Fbx()
    joint = file.model("joint", Lcl_Translation=PLACE, PreRotation=PRE)
    first, second = file.stack("first", stop=1.0), file.stack("second", stop=1.0)
    more = file.add("AnimationLayer", "AnimLayer::more", "", to=first - 1)
    file.curves(first, joint, "Lcl Translation", PLACE, X=[(0, 1), (1, 5)])
    file.curves(more, joint, "Lcl Translation", (0, 1, 0), Z=[(0, 3), (1, 9)])
    file.curves(second, joint, "Lcl Translation", PLACE, Y=[(0, 2), (1, 4)])
    model = file.load()
    index = model.skeleton.index("joint")
    assert model.globals("first", 1.0)[index][:3, 3].tolist() == [5, 3, 12]
    assert model.globals("second", 1.0)[index][:3, 3].tolist() == [1, 4, 3]


# ---- ranges --------------------------------------------------------------------------------------------

LINE = [(-1, -10), (0, 0), (1, 4), (3, 10), (10, 24)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("helper", [False, True])
@pytest.mark.parametrize(
    ("start", "stop"),
    [
        (0.0, 2.0),
        (0.0, 3.0),
        (1.0, 3.0),
        (1.5, 2.5),
        (-0.5, 0.5),
        (4.0, 5.0),
        (0.5, 20.0),
        (12.0, 13.0),
        (-3.0, -2.0),
    ],
)
def test_a_range_cuts_keys_and_not_motion(start: float, stop: float, helper: bool, form: str) -> None:
    file = Fbx()
    orient: dict[str, Any] = {"PreRotation": (0.0, 0.0, 90.0)} if helper else {}
    joint = file.model("joint", **orient)
    file.curves(file.stack(start=start, stop=stop), joint, "Lcl Translation", (0, 0, 0), X=LINE)
    model = file.load(form)
    (clip,) = model.clips
    assert clip.duration == pytest.approx(stop - start, abs=1e-9)
    assert codes(model) <= {"curves_converted"}
    times = np.linspace(0, stop - start, 41)
    truth = np.interp(times + start, *zip(*LINE, strict=True))
    places = model.globals(clip, times, loop="clamp")[:, model.skeleton.index("joint"), 0, 3]
    assert places == pytest.approx(truth, abs=2e-6)
    assert all(channel.times.min() >= 0 and channel.times.max() <= clip.duration for channel in clip.channels)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bare", [False, True])
def test_without_a_range_time_0_is_the_first_key(form: str, bare: bool) -> None:
    file = Fbx()
    joint = file.model("joint")
    file.curves(file.stack(bare=bare), joint, "Lcl Translation", (0, 0, 0), X=[(1, 2), (2.5, 3)])
    (clip,) = file.load(form).clips
    assert clip.duration == 1.5
    assert all(channel.times.tolist() == [0, 1.5] for channel in clip.channels)


def test_a_turn_that_a_range_cuts() -> None:
    """The cut lies on the arc between the keys."""
    file = Fbx()
    joint = file.model("joint")
    file.curves(file.stack(start=0.5, stop=1.5), joint, "Lcl Rotation", (0, 0, 0), Z=[(0, 0), (2, 160)])
    model = file.load()
    for time in (0.0, 0.3, 1.0):
        truth = turn((0, 0, 80 * (time + 0.5)))
        assert model.globals(0, time, loop="clamp")[model.skeleton.index("joint")] == pytest.approx(
            truth, abs=1e-6
        )


def test_stacks_of_one_timeline() -> None:
    """As exporters for games write them: each clip begins at its start. One has no name, two share theirs."""
    file = Fbx()
    joint = file.model("joint")
    file.stack("empty", start=5.0, stop=6.0)
    for number, name in enumerate(["walk", "run", "run", ""]):
        layer = file.stack(name, start=number, stop=number + 1.0)
        file.curves(layer, joint, "Lcl Translation", (0, 0, 0), X=[(0, 0), (8, 8)])
    model = file.load("binary")
    assert [clip.duration for clip in model.clips] == [1, 1, 1, 1]
    for number in range(4):
        times = np.array([0, 0.5, 1])
        places = model.globals(number, times, loop="clamp")[:, model.skeleton.index("joint"), 0, 3]
        assert places == pytest.approx(number + times, abs=1e-6)


def test_times_are_the_files_to_the_last_digit() -> None:
    rng = np.random.default_rng(5)
    ticks = np.unique(rng.integers(0, round(100 * FBX_SECOND), 200))
    file = Fbx()
    joint = file.model("joint")
    keys = [(tick / FBX_SECOND, 1.0 * i) for i, tick in enumerate(ticks.tolist())]
    file.curves(file.stack(stop=100.0), joint, "Lcl Translation", (0, 0, 0), X=keys)
    (clip,) = file.load().clips
    assert np.array_equal(clip.channels[0].times, ticks / FBX_SECOND)


# ---- morph targets ------------------------------------------------------------------------------------


def add_shapes(file: Fbx, mesh: int, *channels: tuple[str, float, Sequence[float]]) -> list[int]:
    """A BlendShape with channels (name, DeformPercent, FullWeights), each of one shape: the point up by 4."""
    blend = file.add("Deformer", "Deformer::blend", "BlendShape", record("Version", 100), to=mesh)
    found = []
    for name, percent, full in channels:
        inside = [record("DeformPercent", float(percent)), record("FullWeights", np.array(full, "f8"))]
        found.append(file.add("Deformer", f"SubDeformer::{name}", "BlendShapeChannel", *inside, to=blend))
        moved = [record("Indexes", np.array([1], "i4")), record("Vertices", np.array([0, 0, 4], "f8"))]
        file.add("Geometry", f"Geometry::{name}", "Shape", *moved, to=found[-1])
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("helper", [False, True])
def test_weights_at_rest_and_full_weights(form: str, helper: bool) -> None:
    file = Fbx()
    orient: dict[str, Any] = {"PreRotation": (0.0, 0.0, 90.0)} if helper else {}
    mesh = file.triangle(file.model("mesh", kind="Mesh", **orient))
    _, early, _ = add_shapes(file, mesh, ("plain", 50, [100]), ("early", 10, [50]), ("late", 25, [100]))
    layer = file.stack(start=1.0, stop=2.0)
    file.curves(layer, early, "DeformPercent", [10], DeformPercent=[(0, 0), (2, 50)])
    model = file.load(form)
    assert [target.name.split(".")[0] for target in model.targets] == ["plain", "early", "late"]
    assert model.pose().morph_weights.tolist() == pytest.approx([0.5, 0.2, 0.25])
    assert model.deform(model.pose())[0][:, 2].tolist() == pytest.approx([0, 4 * 0.95, 0])
    for time in (0.0, 0.5, 1.0):
        weights = model.pose(0, time, loop="clamp").morph_weights.tolist()
        assert weights == pytest.approx([0.5, (time + 1) / 2, 0.25])


def test_meshes_that_share_everything() -> None:
    """Two models of one mesh have its weights, and models of equal names each have their own."""
    file = Fbx()
    first, second = file.model("first", kind="Mesh"), file.model("second", kind="Mesh")
    mesh = file.triangle(first)
    file.join(mesh, second)
    add_shapes(file, mesh, ("smile", 50, [100]))
    assert file.load().pose().morph_weights.tolist() == [0.5, 0.5]
    file = Fbx()
    for percent in (25, 50):
        add_shapes(file, file.triangle(file.model("same", kind="Mesh")), ("smile", percent, [100]))
    assert file.load().pose().morph_weights.tolist() == [0.25, 0.5]


# ---- what is reported ---------------------------------------------------------------------------------


def test_two_blend_shapes_of_one_mesh() -> None:
    """Their channels are all targets of the mesh."""
    file = Fbx()
    mesh = file.triangle(file.model("mesh", kind="Mesh"))
    add_shapes(file, mesh, ("one", 0, [100]))
    (channel,) = add_shapes(file, mesh, ("two", 0, [100]))
    file.curves(file.stack(stop=1.0), channel, "DeformPercent", [0], DeformPercent=[(0, 0), (1, 100)])
    model = file.load()
    assert not model.report.lost and [target.name for target in model.targets] == ["one", "two"]
    assert model.pose(0, 0.5).morph_weights.tolist() == [0, 0.5]


@pytest.mark.parametrize("moved", ["left", "right"])
def test_nodes_of_equal_names(moved: str) -> None:
    """Curves are bound by object id."""
    file = Fbx()
    hands = {name: file.model("hand", file.model(name)) for name in ("left", "right")}
    file.curves(file.stack(stop=1.0), hands[moved], "Lcl Translation", (0, 0, 0), X=[(0, 0), (1, 3)])
    model = file.load("binary")
    assert not model.report.lost
    names, parents = model.skeleton.names, model.skeleton.parents
    for joint, name in enumerate(names):
        if name == "hand":
            place = model.globals(0, 1.0)[joint, :3, 3].tolist()
            assert place == ([3, 0, 0] if names[parents[joint]] == moved else [0, 0, 0])


@pytest.mark.parametrize("kind", range(3))
def test_scale_inheritance_at_rest(kind: int) -> None:
    """RrSs, RSrs and Rrs: how a parent's scale and the rotation of a child go together."""
    file = Fbx()
    parent = file.model("parent", Lcl_Scaling=(2.0, 1.0, 1.0))
    file.model("joint", parent, Lcl_Rotation=(0.0, 0.0, 45.0), InheritType=kind)
    model = file.load()
    assert not model.report.lost
    split = ["parent/unscaled"] * (kind != 1)
    assert sorted(model.skeleton.names) == sorted(["RootNode", *split, "parent", "joint"])
    scale, rotation = np.diag([2.0, 1, 1, 1]), turn((0, 0, 45))
    truth = [rotation @ scale, scale @ rotation, rotation][kind]
    assert model.skeleton.rest_global[model.skeleton.index("joint")] == pytest.approx(truth, abs=1e-6)


# ---- broken files --------------------------------------------------------------------------------------


def busy() -> Fbx:
    file = Fbx()
    parent = file.model("parent", PreRotation=PRE)
    joint = file.model("joint", parent, Lcl_Rotation=ANGLES, PreRotation=PRE)
    layer = file.stack(start=0.5, stop=2.0)
    file.curves(layer, joint, "Lcl Rotation", ANGLES, X=LINE)
    file.curves(layer, parent, "Lcl Translation", PLACE, Y=LINE)
    return file


@pytest.mark.parametrize("form", FORMS)
def test_a_broken_file_is_refused_or_sane(form: str) -> None:
    """Cut short, and with wrong bytes in it: never a crash, and what loads is sane."""
    data, rng = busy().bytes(form), np.random.default_rng(7)
    for number in range(120):
        broken = bytearray(data)
        if number % 3:
            for at in rng.integers(27, len(data), 1 + number % 4):
                broken[at] = rng.integers(0, 256)
        else:
            del broken[int(rng.integers(27, len(data))) :]
        try:
            model = load(bytes(broken), "fbx")
        except skinpy.LoadError:
            continue
        check_sanity(model)


@pytest.mark.parametrize("form", FORMS)
def test_ids_that_are_shared_or_lead_in_a_circle(form: str) -> None:
    file = busy()
    for kind, values, inside in list(file.objects):
        file.objects.append(record(kind, values[0], *values[1:], inside=inside))
    for child in range(1, len(file.objects) // 2 + 1):
        for parent in range(1, len(file.objects) // 2 + 1):
            if child >= parent or child > 3:  # Assimp itself follows a circle of models
                file.join(child, parent, "d|X" if child % 2 else "")
    with contextlib.suppress(skinpy.LoadError):
        check_sanity(load(file.bytes(form), "fbx"))


# ---- space ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1.0, 100.0, 2.5])
def test_the_unit_is_that_of_the_numbers(unit: float) -> None:
    file = Fbx(prop("UnitScaleFactor", "double", unit))
    mesh = file.model("mesh", kind="Mesh", Lcl_Translation=(0.0, 3.0, 0.0))
    file.triangle(mesh)
    model = file.load("binary")
    assert model.unit_meters == pytest.approx(0.01 * unit)
    assert model.deform(model.pose())[0][:, 1].tolist() == [3, 3, 4]  # as in the file
    assert "units_converted" not in codes(model)
