"""FBX files play as their formulas say: small generated files against the twin of fbx_twin.py."""

import base64
import itertools
import re
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fbx_twin import Curve, Key, Matrix, Node, Vector, chain_globals, part_of, turn
from fbx_writer import FORMS, RARE_FORMS, Fbx, Form, Long, Z, as_binary, as_text, prop, record, table
from import_cases import FBX_SECOND
from test_import import codes, load

import skinpy

#: Of values of a size of about 1 to 30: keys are right to 1e-5 of the size, float32 to 1e-6 of the value.
CLOSE = 5e-5


def locals_of(nodes: Sequence[Node]) -> list[Matrix]:
    found, above = [], np.eye(4)
    for node in nodes:
        above = above @ node.local()
        found.append(above)
    return found


def check_globals(model: Any, truth: Callable[[float], dict[str, Matrix]], times: Sequence[float]) -> None:
    """`truth` gives the globals at a time of the clip by name."""
    for time in times:
        got = model.globals(0, time, loop="clamp")
        for name, want in truth(time).items():
            assert got[model.skeleton.index(name)] == pytest.approx(want, abs=CLOSE), f"{name} at {time}"


# ---- curves --------------------------------------------------------------------------------------------


def key_of(kind: str, time: float, value: float, rng: np.random.Generator) -> Key:
    right, left = np.float32(rng.uniform(-4, 4, 2)).tolist()
    weights = [float(weight) for weight in rng.uniform(0.05, 0.9, 2).round(4)]
    sort = "cubic" if kind == "weighted" else kind
    return Key(time, value, sort, right, left, weights[0], weights[1], kind == "weighted")


def play(curve: Curve, start: float, stop: float, form: str) -> Any:
    file = Fbx()
    joint = file.model("joint")
    file.curves(file.stack(start=start, stop=stop), joint, "Lcl Translation", (0, 0, 0), X=curve)
    return file.load(form)


def check_curve(curve: Curve, start: float, stop: float, form: str = "binary") -> None:
    model = play(curve, start, stop, form)
    assert not model.report.lost
    keys = np.array([key.time for key in curve.keys])
    length = keys[-1] - keys[0]
    jumps = np.concatenate([keys + turn * length for turn in range(-9, 10)])
    times = np.concatenate([np.linspace(start, stop, 173), keys])
    for time in times[(times >= start) & (times <= stop)]:
        near = np.abs(jumps - time).min()
        if near < 1e-3 and time not in keys:
            continue
        place = model.globals(0, time - start, loop="clamp")[model.skeleton.index("joint"), 0, 3]
        assert place == pytest.approx(curve(time), abs=CLOSE), f"at {time}"


KINDS = ("step", "step next", "linear", "cubic", "weighted")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [*KINDS, "mixed"])
def test_curves(kind: str, form: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind) if kind in KINDS else 9)
    times = [1.0, 1.5, 2.25, 2.5, 3.5]
    kinds = KINDS if kind == "mixed" else [kind] * 5
    keys = [
        key_of(one, time, float(value), rng)
        for one, time, value in zip(kinds, times, rng.integers(-9, 9, 5), strict=True)
    ]
    check_curve(Curve(keys), 0.5, 4.0, form)


@pytest.mark.parametrize("kind", ["step", "step next"])
def test_one_jump(kind: str) -> None:
    """At the last key or right after the first one."""
    check_curve(Curve([Key(0, 1, kind), Key(1, 4, kind)]), 0.0, 1.0)


@pytest.mark.parametrize("kind", ["linear", "cubic", "mixed"])
@pytest.mark.parametrize("count", [-1, 0, 1, 2])
@pytest.mark.parametrize("letter", ["C", "R", "M", "K", "A"])
def test_extrapolation(letter: str, count: int, kind: str) -> None:
    rng = np.random.default_rng(len(letter))
    kinds = ["cubic", "linear", "weighted"] if kind == "mixed" else [kind] * 3
    if letter == "K" and count >= 0:
        count = -1
    keys = [
        key_of(one, time, value, rng) for one, time, value in zip(kinds, (0, 0.5, 2), (1, 3, -1), strict=True)
    ]
    check_curve(Curve(keys, before=(letter, count)), -5.0, 2.5)
    check_curve(Curve(keys, after=(letter, count)), 0.25, 7.0)


def test_a_clip_of_one_key_lasts_no_time() -> None:
    file = Fbx()
    joint = file.model("joint")
    file.curves(file.stack(), joint, "Lcl Translation", (0, 0, 0), X=[(3, 7)])
    model = file.load()
    assert model.clips[0].duration == 0
    assert model.globals(0, 0.0)[model.skeleton.index("joint"), :3, 3].tolist() == [7, 0, 0]


def test_keys_hours_away_lose_nothing() -> None:
    start = 100_000.0
    keys = [(start + time, value) for time, value in ((0.0, 1.0), (0.25, 3.0), (0.5, -2.0))]
    file = Fbx()
    joint = file.model("joint")
    file.curves(file.stack(), joint, "Lcl Translation", (0, 0, 0), X=keys)
    model = file.load("binary")
    assert model.clips[0].duration == pytest.approx(0.5, abs=1e-9)
    for time, value in ((0.0, 1), (0.125, 2), (0.25, 3), (0.375, 0.5), (0.5, -2)):
        place = model.globals(0, time, loop="clamp")[model.skeleton.index("joint"), 0, 3]
        assert place == pytest.approx(value, abs=1e-5)


# ---- nodes ---------------------------------------------------------------------------------------------

WORDS = {
    "pre": "PreRotation",
    "post": "PostRotation",
    "rotation_offset": "RotationOffset",
    "rotation_pivot": "RotationPivot",
    "scaling_offset": "ScalingOffset",
    "scaling_pivot": "ScalingPivot",
}
ANGLES = ("pre", "post")
PATHS = {"t": "Lcl Translation", "r": "Lcl Rotation", "s": "Lcl Scaling"}


def curves_of(values: Vector, change: Sequence[float], rng: np.random.Generator) -> dict[str, Curve]:
    """Two cubic spans an axis, with keys at different times."""
    found = {}
    for axis, value, by in zip("XYZ", values, change, strict=True):
        times = (0.0, float(rng.uniform(0.3, 0.7)), 1.0)
        kinds = rng.choice(["linear", "cubic", "weighted"], 3)
        places = (value, value + by, value - by / 2)
        found[axis] = Curve(
            [
                key_of(str(kind), time, place, rng)
                for kind, time, place in zip(kinds, times, places, strict=True)
            ]
        )
    return found


def at(curves: dict[str, Curve], time: float) -> list[float]:
    return [curves[axis](time) for axis in "XYZ"]


@pytest.mark.parametrize("active", [True, False])
@pytest.mark.parametrize("order", range(6))
def test_orders_and_pivots(order: int, active: bool) -> None:
    """A chain of two nodes with everything that a local transform has, all of it animated."""
    rng = np.random.default_rng(order)
    file, parent, parts = Fbx(), 0, []
    layer = None
    for name in ("upper", "lower"):
        space: dict[str, Any] = {
            word: rng.uniform(-1, 1, 3) * (60 if word in ANGLES else 1) for word in WORDS
        }
        node = Node(
            rng.uniform(-1, 1, 3), rng.uniform(-90, 90, 3), rng.uniform(0.5, 2, 3), order=order, **space
        )
        if name == "upper":
            node.s = [1.5, 1.5, 1.5]
        properties: dict[str, Any] = {word: tuple(space[key]) for key, word in WORDS.items()}
        parent = file.model(name, parent, Lcl_Translation=tuple(node.t), Lcl_Rotation=tuple(node.r),
                            Lcl_Scaling=tuple(node.s), RotationOrder=order, RotationActive=int(active),
                            InheritType=1, **properties)  # fmt: skip
        layer = layer or file.stack(stop=1.0)
        curves = {
            "t": curves_of(node.t, (1, -1, 2), rng),
            "r": curves_of(node.r, (40, 70, -60), rng),
            "s": curves_of(node.s, (0.3, 0.3, 0.3) if name == "upper" else (0.2, -0.2, 0.3), rng),
        }
        for key, path in PATHS.items():
            file.curves(layer, parent, path, None, **curves[key])
        parts.append((node, curves))
    model = file.load("binary")
    assert not model.report.lost and model.skeleton.names == ("RootNode", "upper", "lower")

    def truth(time: float) -> dict[str, Matrix]:
        nodes = []
        for node, curves in parts:
            values: dict[str, Any] = {key: at(curves[key], time) for key in PATHS}
            space: dict[str, Any] = {word: getattr(node, word) for word in WORDS}
            if not active:
                space |= {"pre": (0, 0, 0), "post": (0, 0, 0)}
            nodes.append(Node(**values, **space, order=order if active else 0))
        return dict(zip(("upper", "lower"), locals_of(nodes), strict=True))

    check_globals(model, truth, np.linspace(0, 1, 23).tolist())


@pytest.mark.parametrize("kinds", [*itertools.product(range(3), repeat=2)], ids=str)
def test_scale_inheritance(kinds: tuple[int, int]) -> None:
    """RrSs, RSrs and Rrs below an animated scale. With RSrs in the chain all scales are uniform, so that T, R
    and S can express the result."""
    rng = np.random.default_rng(3)
    file, parent = Fbx(), 0
    layer = file.stack(stop=1.0)
    chain, names = [], ("first", "second", "third")
    mixed = 1 in kinds
    for name, kind in zip(names, (1, *kinds), strict=True):
        node = Node(
            t=(0.3, 1, -0.2), r=rng.uniform(-60, 60, 3), s=(1.5, 1.5, 1.5) if mixed else (1.5, 0.7, 1.2)
        )
        parent = file.model(name, parent, Lcl_Translation=tuple(node.t), Lcl_Rotation=tuple(node.r),
                            Lcl_Scaling=tuple(node.s), InheritType=kind)  # fmt: skip
        turned = curves_of(node.r, (30, -20, 50), rng)
        scaled = curves_of(node.s, (0.5, 0.5, 0.5), rng)
        if mixed:
            scaled["Y"] = scaled["Z"] = scaled["X"]
        file.curves(layer, parent, "Lcl Rotation", None, **turned)
        file.curves(layer, parent, "Lcl Scaling", None, **scaled)
        chain.append((node, turned, scaled))
    model = file.load("wide")
    assert not model.report.lost

    def truth(time: float) -> dict[str, Matrix]:
        nodes = [Node(node.t, at(turned, time), at(scaled, time)) for node, turned, scaled in chain]
        return dict(zip(names, chain_globals(nodes, (1, *kinds)), strict=True))

    check_globals(model, truth, np.linspace(0, 1, 17).tolist())


def test_a_node_is_split_only_for_a_scale() -> None:
    file = Fbx()
    upper = file.model("upper")
    file.model("lower", upper, InheritType=2)
    file.curves(file.stack(stop=1.0), upper, "Lcl Scaling", (1, 1, 1), X=[(0, 1), (1, 1)])
    assert file.load().skeleton.names == ("RootNode", "upper", "lower")
    file.curves(file.stack(stop=1.0), upper, "Lcl Scaling", (1, 1, 1), X=[(0, 1), (1, 2)])
    assert sorted(file.load().skeleton.names) == ["RootNode", "lower", "upper", "upper/unscaled"]


# ---- layers --------------------------------------------------------------------------------------------

ADD, OVERRIDE, PASSTHROUGH = range(3)
BY_LAYER, BY_CHANNEL = range(2)  # of rotations
MULTIPLY, SUM = range(2)  # of scales


def add_layer(file: Fbx, stack: int, **properties: Any) -> int:
    """A layer of the stack that `base` of `Fbx.stack` belongs to."""
    sorts = {"Weight": "Number", "Mute": "bool", "Solo": "bool"}
    listed = [prop(word, sorts.get(word, "enum"), value) for word, value in properties.items()]
    return file.add("AnimationLayer", "AnimLayer::more", "", table(*listed), to=stack)


def blended(
    base: Node, own: Node, weight: float, mode: int, rotation: int, scale: int, order: int
) -> tuple[Vector, Matrix, Vector]:
    """Translation, rotation and scale of a layer upon another."""
    if mode == OVERRIDE:
        return own.t, turn(own.r, order), own.s
    keep = 1.0 if mode == ADD else 1.0 - weight
    t, s = (np.multiply(a, keep) + np.multiply(b, weight) for a, b in ((base.t, own.t), (base.s, own.s)))
    if scale == MULTIPLY:
        s = np.power(base.s, keep) * np.power(own.s, weight)
    first, second = turn(base.r, order), turn(own.r, order)
    if rotation == BY_CHANNEL:
        r = turn(np.multiply(base.r, keep) + np.multiply(own.r, weight), order)
    elif mode == ADD:
        r = first @ part_of(second, weight)
    else:
        r = first @ part_of(np.linalg.inv(first) @ second, weight)
    return t, r, s


@pytest.mark.parametrize("animated", [False, True])
@pytest.mark.parametrize("scale", [MULTIPLY, SUM])
@pytest.mark.parametrize("rotation", [BY_LAYER, BY_CHANNEL])
@pytest.mark.parametrize("mode", [ADD, OVERRIDE, PASSTHROUGH])
def test_layers(mode: int, rotation: int, scale: int, animated: bool) -> None:
    rng = np.random.default_rng(100 + mode)
    order = 3
    file = Fbx()
    joint = file.model("joint", RotationOrder=order, RotationActive=1)
    base = file.stack(stop=1.0)
    more = add_layer(file, base - 1, Weight=40.0, BlendMode=mode, RotationAccumulationMode=rotation,
                     ScaleAccumulationMode=scale)  # fmt: skip
    if animated:
        weights = Curve([Key(0, 0, "cubic", 30, 10), Key(0.6, 100, "linear"), Key(1, 20)])
        node = file.add("AnimationCurveNode", "AnimCurveNode::Weight", "", to=base)
        file.join(node, more, "Weight")
        file.join(file.curve(weights), node, "d|Weight")
    sets = []
    for layer in (base, more):
        curves = {
            "t": curves_of((1, 2, 3), (1, -1, 2), rng),
            "r": curves_of((10, 20, -30), (40, 30, -60), rng),
            "s": curves_of((1.2, 0.8, 1.5), (0.3, 0.2, 0.3), rng),
        }
        for key, path in PATHS.items():
            file.curves(layer, joint, path, None, **curves[key])
        sets.append(curves)
    model = file.load("binary")
    assert not model.report.lost

    def truth(time: float) -> dict[str, Matrix]:
        lower, upper = (Node(*(at(curves[key], time) for key in PATHS)) for curves in sets)
        weight = min(max(weights(time) / 100, 0), 1) if animated else 0.4
        t, r, s = blended(lower, upper, weight, mode, rotation, scale, order)
        matrix = r @ np.diag([*s, 1.0])
        matrix[:3, 3] = t
        return {"joint": matrix}

    check_globals(model, truth, np.linspace(0, 1, 23).tolist())


@pytest.mark.parametrize(
    ("properties", "want"),
    [
        ({"Weight": 100.0}, 5.0),
        ({"Weight": 25.0}, 2.0),
        ({"Weight": 100.0, "Mute": 1}, 1.0),
        ({"Weight": 100.0, "Solo": 1}, 4.0),
    ],
)
def test_mute_and_solo(properties: dict[str, Any], want: float) -> None:
    file = Fbx()
    joint = file.model("joint")
    base = file.stack(stop=1.0)
    more = add_layer(file, base - 1, **properties)
    file.curves(base, joint, "Lcl Translation", (1, 0, 0), X=[(0, 1), (1, 1)])
    file.curves(more, joint, "Lcl Translation", (4, 0, 0), X=[(0, 4), (1, 4)])
    model = file.load()
    assert not model.report.lost
    assert model.globals(0, 0.5)[model.skeleton.index("joint"), 0, 3] == pytest.approx(want, abs=1e-6)


# ---- skins ---------------------------------------------------------------------------------------------


def add_skin(file: Fbx, mesh: int, joint: int, bind: Matrix | None = None) -> None:
    """All three points follow one joint; `bind` is where the joint was."""
    skin = file.add("Deformer", "Deformer::skin", "Skin", record("Version", 101), to=mesh)
    bind = np.eye(4) if bind is None else bind
    inside = [
        record("Indexes", np.arange(3, dtype="i4")),
        record("Weights", np.ones(3)),
        record("Transform", np.linalg.inv(bind).T.ravel()),
        record("TransformLink", bind.T.ravel()),
    ]
    cluster = file.add("Deformer", "SubDeformer::cluster", "Cluster", *inside, to=skin)
    file.join(joint, cluster)


@pytest.mark.parametrize("moved", [0, 1])
@pytest.mark.parametrize("form", FORMS)
def test_two_rigs_of_equal_names(form: str, moved: int) -> None:
    """And each mesh has the name of its joint: all is bound by object id."""
    file = Fbx()
    joints = []
    for side in (0.0, 10.0):
        figure = file.model("figure", Lcl_Translation=(side, 0.0, 0.0))
        joints.append(file.model("arm", figure))
        mesh = file.triangle(file.model("arm", figure, kind="Mesh"))
        bind = np.eye(4)
        bind[0, 3] = side
        add_skin(file, mesh, joints[-1], bind)
    file.curves(file.stack(stop=1.0), joints[moved], "Lcl Translation", (0, 0, 0), Y=[(0, 0), (1, 5)])
    model = file.load(form)
    assert not model.report.lost
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    for time in (0.0, 0.5, 1.0):
        got = model.deform(model.pose(0, time, loop="clamp"))[0]
        for number in range(
            2
        ):  # Transform is where vertices are seen from the joint: they stand at their side
            want = corners + [0, 5 * time * (number == moved), 0]
            assert got[3 * number : 3 * number + 3] == pytest.approx(want, abs=1e-6)


def test_a_mesh_that_was_moved_after_binding_stays_with_its_joints() -> None:
    file = Fbx()
    joint = file.model("joint", Lcl_Translation=(0.0, 2.0, 0.0))
    mesh = file.triangle(file.model("mesh", kind="Mesh", Lcl_Translation=(7.0, 0.0, 0.0)))
    add_skin(file, mesh, joint)
    model = file.load()
    assert model.deform(model.pose())[0].tolist() == [[0, 2, 0], [1, 2, 0], [0, 3, 0]]


def test_geometric_transforms_are_for_the_mesh_alone() -> None:
    file = Fbx()
    upper = file.model(
        "upper", kind="Mesh", GeometricTranslation=(0.0, 0.0, 3.0), GeometricScaling=(2.0, 2.0, 2.0)
    )
    file.triangle(upper)
    file.model("lower", upper, Lcl_Translation=(1.0, 0.0, 0.0))
    model = file.load()
    assert model.deform(model.pose())[0].tolist() == [[0, 0, 3], [2, 0, 3], [0, 2, 3]]
    assert model.globals(None, 0.0)[model.skeleton.index("lower"), :3, 3].tolist() == [1, 0, 0]


# ---- shapes --------------------------------------------------------------------------------------------


def shape_offset(percent: float, shapes: dict[float, float]) -> float:
    """The point's height: lines between neighbors, the base among them, which go on beyond the last ones."""
    marks = sorted([0.0, *shapes])
    heights = [0.0 if mark == 0 else shapes[mark] for mark in marks]
    if percent <= marks[0]:
        i = 0
    elif percent >= marks[-1]:
        i = len(marks) - 2
    else:
        i = next(k for k in range(len(marks) - 1) if percent <= marks[k + 1])
    part = (percent - marks[i]) / (marks[i + 1] - marks[i])
    return heights[i] + part * (heights[i + 1] - heights[i])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "shapes",
    [{100.0: 4.0}, {50.0: 4.0}, {40.0: 1.0, 100.0: 4.0}, {30.0: 2.0, 60.0: -1.0, 100.0: 3.0},
     {-100.0: 2.0, 100.0: 3.0}, {-50.0: 1.0, -100.0: 4.0, 50.0: 2.0, 100.0: -2.0}],
    ids=str,
)  # fmt: skip
def test_shapes_of_one_channel(shapes: dict[float, float], form: str) -> None:
    file = Fbx()
    mesh = file.triangle(file.model("mesh", kind="Mesh"))
    blend = file.add("Deformer", "Deformer::blend", "BlendShape", to=mesh)
    places = record("FullWeights", np.array(list(shapes), "f8"))
    channel = file.add("Deformer", "SubDeformer::channel", "BlendShapeChannel", places, to=blend)
    for place, height in shapes.items():
        moved = [record("Indexes", np.array([1], "i4")), record("Vertices", np.array([0, 0, height], "f8"))]
        file.add("Geometry", f"Geometry::at {place:g}", "Shape", *moved, to=channel)
    percents = Curve([Key(0, -130, "cubic", 100, 300), Key(1, 20, "linear"), Key(2, 140)])
    file.curves(file.stack(stop=2.0), channel, "DeformPercent", [0], DeformPercent=percents)
    model = file.load(form)
    assert not model.report.lost and len(model.targets) == len(shapes)
    for time in np.linspace(0, 2, 81):
        height = model.deform(model.pose(0, time, loop="clamp"))[0][1, 2]
        assert height == pytest.approx(shape_offset(percents(time), shapes), abs=2e-4), f"at {time}"


# ---- forms of files ------------------------------------------------------------------------------------


def everything() -> Fbx:
    """Curves of two joints, a skin and a shape."""
    rng = np.random.default_rng(1)
    file = Fbx()
    upper = file.model("upper", Lcl_Rotation=(10.0, 20.0, 30.0), RotationPivot=(1.0, 0.0, 2.0))
    lower = file.model("lower", upper, Lcl_Translation=(0.0, 1.0, 0.0))
    mesh = file.triangle(file.model("mesh", kind="Mesh"))
    add_skin(file, mesh, lower)
    blend = file.add("Deformer", "Deformer::blend", "BlendShape", to=mesh)
    whole = record("FullWeights", np.array([100.0]))
    channel = file.add("Deformer", "SubDeformer::smile", "BlendShapeChannel", whole, to=blend)
    moved = [record("Indexes", np.array([1], "i4")), record("Vertices", np.array([0, 0, 4], "f8"))]
    file.add("Geometry", "Geometry::smile", "Shape", *moved, to=channel)
    layer = file.stack(start=0.25, stop=1.0)
    file.curves(layer, upper, "Lcl Rotation", (10, 20, 30), **curves_of((10, 20, 30), (50, 60, 70), rng))
    file.curves(layer, lower, "Lcl Translation", (0, 1, 0), **curves_of((0, 1, 0), (1, 2, 3), rng))
    file.curves(layer, channel, "DeformPercent", [0], DeformPercent=[(0, 0), (1, 100)])
    return file


def same_motion(a: Any, b: Any) -> None:
    assert a.skeleton.names == b.skeleton.names and codes(a) == codes(b)
    times = np.linspace(0, 0.75, 7)
    assert a.globals(0, times) == pytest.approx(b.globals(0, times), abs=1e-7)
    assert a.pose(0, times).morph_weights == pytest.approx(b.pose(0, times).morph_weights, abs=1e-7)
    for time in times:
        assert a.deform(a.pose(0, time))[0] == pytest.approx(b.deform(b.pose(0, time))[0], abs=1e-6)


@pytest.mark.parametrize("form", ["text", "wide", *RARE_FORMS])
def test_all_forms_play_the_same(form: str) -> None:
    same_motion(everything().load(form), everything().load("binary"))


@pytest.mark.parametrize("form", ["text", "binary", "wide", *RARE_FORMS])
def test_a_value_of_type_z(form: str) -> None:
    """As files with audio have it, here among the objects and in a list of properties."""
    file = everything()
    file.objects.insert(
        0, record("AudioLayer", Z(3), "AudioLayer::sound", "", inside=[record("Volume", Z(1), 5.0)])
    )
    same_motion(file.load(form), everything().load("binary"))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("form", ["text", "binary", "deflated", "big-endian"])
def test_arrays_of_each_type(form: str, dtype: str) -> None:
    """Points of a mesh in any type of number."""
    file = Fbx()
    points = np.array([0, 0, 0, 3, 0, 0, 0, 2, 0], dtype)
    inside = [
        record("Vertices", points),
        record("PolygonVertexIndex", np.array([0, 1, -3], "i8" if dtype == "i8" else "i4")),
    ]
    file.add("Geometry", "Geometry::g", "Mesh", *inside, to=file.model("mesh", kind="Mesh"))
    model = file.load(form)
    assert model.deform(model.pose())[0].tolist() == [[0, 0, 0], [3, 0, 0], [0, 2, 0]]


@pytest.mark.parametrize("version", [5000, 5800, 6000, 6100, 7000])
@pytest.mark.parametrize("binary", [False, True])
def test_old_files_are_refused(version: int, binary: bool) -> None:
    """With the version that was found, and what to do."""
    records = everything().records(version)
    if binary:
        data = (
            b"Kaydara FBX Binary  \0\x1a\0"
            + struct.pack("<I", version)
            + as_binary(records, 27, Form(version))
        )
    else:
        data = f"; FBX {version // 1000}.{version // 100 % 10}.0 project file\n{as_text(records)}".encode()
    number = rf"{version // 1000}\.{version // 100 % 10}"
    with pytest.raises(
        skinpy.LoadError, match=rf"FBX version {number}.*convert the file to FBX 2011 or newer"
    ):
        load(data, "fbx")


def test_hidden_models_are_not_drawn() -> None:
    file = Fbx()
    file.triangle(file.model("shown", kind="Mesh"))
    file.triangle(file.model("hidden", kind="Mesh", Show=0))
    file.triangle(file.model("invisible", kind="Mesh", Visibility=0.0))
    model = file.load()
    seen = {model.skeleton.names[part.node]: part.visible for part in model.mesh.submeshes}
    assert seen == {"shown": True, "hidden": False, "invisible": False}


def test_the_range_may_stand_in_a_take() -> None:
    file = Fbx()
    joint = file.model("joint")
    file.curves(file.stack("walk", bare=True), joint, "Lcl Translation", (0, 0, 0), X=[(0, 0), (4, 8)])
    times = [Long(FBX_SECOND), Long(3 * FBX_SECOND)]
    take = record("Take", "walk", inside=[record("LocalTime", *times)])
    whole = file.records

    def with_takes(version: int) -> list[Any]:
        return [*whole(version), record("Takes", inside=[record("Current", "walk"), take])]

    file.records = with_takes  # type: ignore[method-assign]
    for form in FORMS:
        model = file.load(form)
        assert model.clips[0].duration == 2
        assert model.globals(0, [0.0, 2.0], loop="clamp")[
            :, model.skeleton.index("joint"), 0, 3
        ].tolist() == [2, 6]


def test_attributes_of_keys_count_for_several_keys() -> None:
    """A group has a number of references, for so many keys in a row."""
    file = Fbx()
    joint, layer = file.model("joint"), file.stack(stop=4.0)
    node = file.add("AnimationCurveNode", "AnimCurveNode::T", "", to=layer)
    file.join(node, joint, "Lcl Translation")
    arrays = {
        "KeyTime": np.arange(5) * FBX_SECOND,
        "KeyValueFloat": np.array([0, 3, 1, 5, 2], "f4"),
        "KeyAttrFlags": np.array([0x2, 0x4], "i4"),
        "KeyAttrDataFloat": np.zeros(8, "f4"),
        "KeyAttrRefCount": np.array([2, 3], "i4"),
    }
    inside = [record(name, array) for name, array in arrays.items()]
    file.join(file.add("AnimationCurve", "AnimCurve::", "", *inside), node, "d|X")
    for form in FORMS:
        model = file.load(form)
        places = model.globals(0, [0.5, 1.5, 2.5, 3.5])[:, model.skeleton.index("joint"), 0, 3]
        assert places.tolist() == [0, 3, 3, 3.5]


def test_slopes_of_texts_before_version_7_2_are_decimal() -> None:
    """Later texts write the bits of the same numbers as integers."""
    curve = Curve([Key(0, 0, "cubic", 5, -3), Key(1, 1, "cubic", 2, 4), Key(2, 0)])
    file = Fbx()
    joint = file.model("joint")
    file.curves(file.stack(stop=2.0), joint, "Lcl Translation", (0, 0, 0), X=curve)
    text = file.bytes("text").decode()
    (bits,) = re.findall(r"KeyAttrDataFloat: \*12 \{\s*a: ([^\n]*)", text)
    slopes = np.array(bits.split(","), "i8").astype("i4").view("f4")
    text = text.replace(bits, ",".join(f"{slope:.9g}" for slope in slopes)).replace("7400", "7100")
    model = load(text.encode(), "fbx")
    for time in (0.2, 0.5, 1.3):
        place = model.globals(0, time)[model.skeleton.index("joint"), 0, 3]
        assert place == pytest.approx(curve(time), abs=CLOSE)


def test_properties_that_are_missing_come_from_the_template() -> None:
    file = Fbx()
    upper = file.model("upper", Lcl_Scaling=(2.0, 2.0, 2.0))
    file.model("lower", upper, Lcl_Translation=(1.0, 0.0, 0.0))
    properties = table(prop("InheritType", "enum", 2))
    template = record("PropertyTemplate", "FbxNode", inside=[properties])
    file.definitions = [record("ObjectType", "Model", inside=[record("Count", 2), template])]
    for form in FORMS:
        model = file.load(form)
        lower = model.globals(None, 0.0)[model.skeleton.index("lower")]
        assert lower == pytest.approx(np.array([[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]))


def test_a_layer_adds_to_what_the_first_one_does_not_animate() -> None:
    file = Fbx()
    joint = file.model("joint", Lcl_Translation=(7.0, 0.0, 0.0))
    base = file.stack(stop=1.0)
    more = add_layer(file, base - 1, Weight=100.0)
    file.curves(base, joint, "Lcl Rotation", (0, 0, 0), X=[(0, 0), (1, 0)])
    file.curves(more, joint, "Lcl Translation", (4, 0, 0), X=[(0, 4), (1, 4)])
    model = file.load()
    assert model.globals(0, 0.5)[model.skeleton.index("joint"), 0, 3] == pytest.approx(11)


def test_a_skin_has_the_geometric_transform_of_its_mesh() -> None:
    """`Transform` is of the mesh's node; the vertices go through the geometric transform before it."""
    file = Fbx()
    joint = file.model("joint", Lcl_Translation=(0.0, 2.0, 0.0))
    mesh = file.triangle(file.model("mesh", kind="Mesh", GeometricTranslation=(0.0, 0.0, 3.0)))
    add_skin(file, mesh, joint)
    model = file.load()
    assert model.deform(model.pose())[0].tolist() == [[0, 2, 3], [1, 2, 3], [0, 3, 3]]


def character(clip: str, seed: int) -> Fbx:
    """68 joints, as a Mixamo character has, with rotations before those that a clip animates."""
    rng = np.random.default_rng(2)
    file = Fbx()
    joints = [file.model("mixamorig:Hips")]
    for number in range(67):
        parent = joints[int(rng.integers(max(0, number - 6), number + 1))]
        space = {"PreRotation": tuple(rng.uniform(-90, 90, 3)), "Lcl_Translation": (0.0, 10.0, 0.0)}
        joints.append(file.model(f"mixamorig:Joint{number}", parent, RotationActive=1, **space))
    mesh = file.triangle(file.model("Body", kind="Mesh"))
    add_skin(file, mesh, joints[-1])
    moves = np.random.default_rng(seed)
    layer = file.stack(clip, stop=1.0)
    for joint in joints:
        curves = curves_of(moves.uniform(-20, 20, 3), moves.uniform(-40, 40, 3), moves)
        file.curves(layer, joint, "Lcl Rotation", (0, 0, 0), **curves)
    return file


def test_a_character_has_a_joint_for_each_node() -> None:
    names = character("walk", 1).load("wide").skeleton.names
    assert len(names) == 70 and names[0] == "RootNode" and names[-1] == "Body"


def test_clips_of_another_fbx_keep_all_rotations(tmp_path: Path) -> None:
    """Onto the same rig in FBX, and in glTF, which is in meters."""
    walk, run = character("walk", 1).load("binary"), character("run", 2).load("binary")
    walk.save(tmp_path / "walk.glb")
    (tmp_path / "run.fbx").write_bytes(character("run", 2).bytes("binary"))
    times = np.linspace(0, 1, 9)
    for target in (walk, skinpy.load(tmp_path / "walk.glb")):
        truth = run.globals("run", times, loop="clamp").astype(float)
        truth[..., :3, 3] *= 0.01 / (target.unit_meters or 0.01)
        model = target.add_clips(tmp_path / "run.fbx")
        got = model.globals("run", times, loop="clamp")
        for joint, name in enumerate(run.skeleton.names):
            if name.startswith("mixamorig:"):
                assert got[:, model.skeleton.index(name)] == pytest.approx(truth[:, joint], abs=1e-3)


def test_curve_error_bounds_the_distance_and_spares_keys() -> None:
    """The bound is a part of the size: here of the three units that the curve reaches."""
    curve = Curve([Key(0, 0, "cubic", 2, -5, 0.8, 0.9, True), Key(1, 3, "cubic", 9, 4), Key(2, 1)])
    data = Fbx()
    joint = data.model("joint")
    data.curves(data.stack(stop=2.0), joint, "Lcl Translation", (0, 0, 0), X=curve)
    times = np.linspace(0, 2, 301)
    truth = np.array([curve(time) for time in times])
    size = np.ptp(truth)
    counts = []
    for bound in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
        model = load(data.bytes("binary"), "fbx", curve_error=bound)
        places = model.globals(0, times, loop="clamp")[:, model.skeleton.index("joint"), 0, 3]
        assert np.abs(places - truth).max() <= bound * size + 1e-6
        counts.append(len(model.clips[0].channels[0].times))
    assert counts == sorted(counts, reverse=True) and counts[0] > 3 * counts[-1]
    assert len(load(data.bytes("binary"), "fbx").clips[0].channels[0].times) == counts[1]


@pytest.mark.parametrize("bound", [0.0, -1e-5, 1.5, float("nan"), float("inf")])
def test_a_bound_is_a_part_of_the_size(bound: float) -> None:
    with pytest.raises(ValueError, match="curve_error"):
        skinpy.load(everything().bytes(), format="fbx", curve_error=bound)
    with pytest.raises(TypeError, match="curve_error"):
        skinpy.load(everything().bytes(), format="fbx", curve_error="fine")  # type: ignore[arg-type]


# ---- what is said --------------------------------------------------------------------------------------


def test_the_report_says_what_the_file_has() -> None:
    model = everything().load("binary")
    (curves,) = (one for one in model.report if one.code == "curves_converted")
    assert curves.severity == "repaired" and curves.count == 7
    counts = re.search(r"(\d+) stepped, (\d+) linear, (\d+) cubic, (\d+) of them extrapolated", curves.first)
    assert counts is not None, curves.first
    stepped, linear, cubic, extrapolated = map(int, counts.groups())
    assert stepped + linear + cubic == 7 and cubic > 1 and extrapolated == 0
    assert "stacks: 1, layers: 1, shapes: 1" in curves.first


def test_what_is_not_played_is_reported_lost_by_name() -> None:
    file = everything()
    file.add("Constraint", "Constraint::aim", "Aim")
    file.add("Geometry", "Geometry::hair", "NurbsCurve", to=file.model("hair"))
    file.add("Deformer", "Deformer::cloth", "VertexCacheDeformer")
    blinking = file.model("eye")
    layer = next(number + 1 for number, one in enumerate(file.objects) if one[0] == "AnimationLayer")
    node = file.add("AnimationCurveNode", "AnimCurveNode::Visibility", "", to=layer)
    file.join(node, blinking, "Visibility")
    file.join(file.curve(Curve([Key(0, 1, "step"), Key(0.5, 0, "step")])), node, "d|Visibility")
    for form in FORMS:
        lost = {one.code: one.first for one in file.load(form).report.lost}
        assert set(lost) == {
            "constraints_ignored",
            "geometry_ignored",
            "geometry_caches_ignored",
            "visibility_ignored",
        }
        for code, name in zip(sorted(lost), ("aim", "cloth", "hair", "eye"), strict=True):
            assert name in lost[code]


@pytest.mark.parametrize(
    ("kind", "lost"), [("Linear", False), ("Rigid", False), ("DualQuaternion", True), ("Blend", True)]
)
def test_dual_quaternions_are_reported(kind: str, lost: bool) -> None:
    file = Fbx()
    joint = file.model("joint")
    mesh = file.triangle(file.model("mesh", kind="Mesh"))
    add_skin(file, mesh, joint)
    index = next(number for number, one in enumerate(file.objects) if one[1][2] == "Skin")
    name, values, inside = file.objects[index]
    file.objects[index] = (name, values, [*inside, record("SkinningType", kind)])
    assert ("dual_quaternions_ignored" in codes(file.load("binary"))) == lost


# ---- names, images, clips, clusters --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "written", "name"),
    [
        ("text", "a &quot;b&quot;&lf;&c", 'a "b"\n&c'),
        ("text", "A::B", "A::B"),
        ("binary", "&quot;", "&quot;"),
    ],
)
def test_texts_escape_characters_of_names(form: str, written: str, name: str) -> None:
    file = Fbx()
    file.triangle(file.model(written, kind="Mesh"))
    assert name in file.load(form).skeleton.names


def test_an_image_in_a_text_is_base64_in_pieces(tmp_path: Path) -> None:
    pil = pytest.importorskip("PIL.Image")
    pil.new("RGB", (2, 3), (255, 0, 0)).save(tmp_path / "red.png")
    image = (tmp_path / "red.png").read_bytes()
    pieces = [base64.b64encode(image[:20]).decode(), base64.b64encode(image[20:]).decode()]
    file = Fbx()
    mesh = file.model("mesh", kind="Mesh")
    file.triangle(mesh)
    material = file.add("Material", "Material::m", "", to=mesh)
    texture = file.add("Texture", "Texture::t", "", record("RelativeFilename", "no such.png"))
    file.join(texture, material, "DiffuseColor")
    file.add("Video", "Video::v", "Clip", record("Content", "HERE"), to=texture)
    text = file.bytes().replace(b'"HERE"', f',\n "{pieces[0]}",\n "{pieces[1]}"'.encode())
    model = load(text, "fbx")
    assert not model.report.lost
    assert bytes(model.materials[0].texture.data) == image


def test_a_stack_is_a_clip_where_it_has_curves() -> None:
    """Curves of other properties count as well; values of curve nodes alone do not."""
    file = Fbx()
    mesh = file.model("mesh", kind="Mesh")
    file.triangle(mesh)
    file.curves(file.stack("still", stop=1.0), mesh, "Lcl Translation", (1, 2, 3))
    layer = file.stack("color", stop=2.0)
    material = file.add("Material", "Material::m", "", to=mesh)
    file.curves(layer, material, "DiffuseColor", (0, 0, 0), X=[(0, 0), (2, 1)])
    model = file.load()
    assert [(clip.name, clip.duration, len(clip.channels)) for clip in model.clips] == [("color", 2.0, 0)]
    (curves,) = (one for one in model.report if one.code == "curves_converted")
    assert curves.first.endswith("not played, as their properties or layers are not: 1")


def test_a_cluster_without_a_joint_moves_nothing() -> None:
    file = Fbx()
    joint = file.model("joint")
    mesh = file.triangle(file.model("mesh", kind="Mesh"))
    add_skin(file, mesh, joint)
    skin = next(number + 1 for number, one in enumerate(file.objects) if one[1][2] == "Skin")
    points, weights = np.array([0, 1], "i4"), np.ones(2)
    file.add(
        "Deformer",
        "SubDeformer::c",
        "Cluster",
        record("Indexes", points),
        record("Weights", weights),
        to=skin,
    )
    model = file.load()
    assert "bones_without_node" in codes(model)
    slot = model.skeleton.index("joint")
    assert all(model.skin.joints[s] == slot for s in model.mesh.slots[model.mesh.weights > 0])


def test_a_mesh_without_polygons_is_no_loss() -> None:
    file = Fbx()
    file.triangle(file.model("mesh", kind="Mesh"))
    file.add("Geometry", "Geometry::empty", "Mesh", to=file.model("none", kind="Mesh"))
    assert not file.load().report.lost
