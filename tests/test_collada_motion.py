"""Transforms and animations of COLLADA against a slow twin, written from the specification (1.4.1).

Curves of single numbers become keys of translation, rotation and scale within `curve_error`, by default 1e-5
of the size, of each joint. TOLERANCE allows as much for the joint and for what is above it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import import_cases as cases
import numpy as np
import pytest
from conftest import data_file
from test_import import codes, entry, load

import skinpy

TOLERANCE = 2e-5

# ---- the twin: transforms ------------------------------------------------------------------------------


def translate(v: Any) -> Any:
    m = np.eye(4)
    m[:3, 3] = v
    return m


def scale(v: Any) -> Any:
    return np.diag([*v, 1.0])


def rotate(v: Any) -> Any:
    """Rodrigues' formula."""
    x, y, z = np.asarray(v[:3], float) / np.linalg.norm(v[:3])
    a = np.radians(v[3])
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    m = np.eye(4)
    m[:3, :3] = np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * (k @ k)
    return m


def matrix(v: Any) -> Any:
    return np.reshape(v, (4, 4))


def lookat(v: Any) -> Any:
    eye, interest, up = np.reshape(v, (3, 3))
    back = (eye - interest) / np.linalg.norm(eye - interest)
    side = np.cross(up, back)
    side /= np.linalg.norm(side)
    m = np.eye(4)
    m[:3, :4] = np.stack([side, np.cross(back, side), back, eye], 1)
    return m


def skew(v: Any) -> Any:
    """RenderMan's: where the axes are at right angles, the first goes along the second by tan(angle)."""
    angle, first, second = v[0], np.asarray(v[1:4], float), np.asarray(v[4:7], float)
    second = second / np.linalg.norm(second)
    across = first - (first @ second) * second
    across /= np.linalg.norm(across)
    between = np.arctan2(first @ second, first @ across)
    m = np.eye(4)
    m[:3, :3] += (np.tan(between + np.radians(angle)) - np.tan(between)) * np.outer(second, across)
    return m


MAKE: dict[str, Callable[[Any], Any]] = {
    function.__name__: function for function in (translate, scale, rotate, matrix, lookat, skew)
}
Chain = Sequence[tuple[str, Sequence[float]]]


def product(chain: Chain) -> Any:
    m = np.eye(4)
    for kind, values in chain:
        m = m @ MAKE[kind](np.asarray(values, float))
    return m


def node(chain: Chain, inside: str = "", name: str = "n") -> str:
    words = "".join(
        f'<{kind} sid="t{i}">{cases.numbers(values)}</{kind}>' for i, (kind, values) in enumerate(chain)
    )
    return f'<node id="{name}">{words}{inside}</node>'


MAYA: Chain = [
    ("translate", (1, 2, 3)),
    ("translate", (0.5, 0, 0)),
    ("rotate", (0, 0, 1, 20)),
    ("rotate", (0, 1, 0, -30)),
    ("rotate", (1, 0, 0, 40)),
    ("translate", (-0.5, 0, 0)),
    ("scale", (1.5, 1.5, 1.5)),
    ("translate", (0, 0.25, 0)),
]
CHAINS: dict[str, Chain] = {
    "parts": [("translate", (1, 2, 3)), ("rotate", (1, 2, 3, 40)), ("scale", (1, 2, -3))],
    "several of each": [
        ("translate", (1, 2, 3)),
        ("translate", (1, 0, 0)),
        ("rotate", (0, 0, 1, 30)),
        ("rotate", (1, 0, 0, 50)),
        ("scale", (2, 1, 1)),
        ("scale", (1, 3, 1)),
    ],
    "another order": [("scale", (2, 2, 2)), ("rotate", (0, 0, 2, 30)), ("translate", (1, 2, 3))],
    "pivots": MAYA,
    "matrices": [("matrix", product(MAYA).ravel()), ("matrix", rotate((0, 0, 1, 20)).ravel())],
    "lookat": [("lookat", (1, 2, 3, 4, -1, 0, 0, 1, 0.5))],
    "skew": [("skew", (30, 0, 1, 0, 1, 0, 0)), ("rotate", (0, 0, 1, 45))],
    "skew of axes that are not at right angles": [("skew", (20, 0.2, 1, 0, 1, 0, 0.1))],
    "none": [],
}


@pytest.mark.parametrize("kind", CHAINS)
def test_transforms_in_their_order(kind: str) -> None:
    model = load(cases.dae(nodes=node(CHAINS[kind])), "dae")
    assert np.allclose(model.globals()[1], product(CHAINS[kind]), atol=1e-6) and not codes(model)


def test_transforms_without_numbers() -> None:
    model = load(cases.dae(nodes='<node id="n"><translate>1 2</translate><scale/></node>'), "dae")
    assert np.array_equal(model.globals()[1], np.eye(4)) and entry(model, "numbers_repaired").count == 2


def test_too_many_transforms() -> None:
    with pytest.raises(skinpy.LoadError, match="more than 100 transforms"):
        load(cases.dae(nodes=node([("scale", (1, 1, 1))] * 101)), "dae")


# ---- the twin: curves ----------------------------------------------------------------------------------

Curve = dict[str, Any]  # times, values, kinds, and tangents in and out


def bezier(a: float, b: float, c: float, d: float, s: float) -> float:
    return (1 - s) ** 3 * a + 3 * (1 - s) ** 2 * s * b + 3 * (1 - s) * s * s * c + s**3 * d


def value_at(curve: Curve, time: float) -> float:
    """1.4.1, Curve Interpolation; the time of a curve is found by halving."""
    times, values = curve["times"], curve["values"]
    if time <= times[0]:
        return float(values[0])
    if time >= times[-1]:
        return float(values[-1])
    k = int(np.searchsorted(times, time, "right")) - 1
    t0, t1, p0, p1, kind = times[k], times[k + 1], values[k], values[k + 1], curve["kinds"][k]
    if kind == "STEP":
        return float(p0)
    if kind == "LINEAR":
        return float(p0 + (time - t0) / (t1 - t0) * (p1 - p0))
    out, into = np.atleast_1d(curve["out"][k]), np.atleast_1d(curve["in"][k + 1])
    c0 = (out[0], out[1]) if len(out) == 2 else ((t1 - t0) / (1 if kind == "HERMITE" else 3), out[0])
    c1 = (into[0], into[1]) if len(into) == 2 else ((t1 - t0) / (1 if kind == "HERMITE" else 3), into[0])
    if kind == "HERMITE":
        c0, c1 = (t0 + c0[0] / 3, p0 + c0[1] / 3), (t1 - c1[0] / 3, p1 - c1[1] / 3)
    elif len(out) == 1:
        c0, c1 = (t0 + c0[0], c0[1]), (t1 - c1[0], c1[1])
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if bezier(t0, c0[0], c1[0], t1, middle) < time else (low, middle)
    return float(bezier(p0, c0[1], c1[1], p1, low))


def animation(target: str, curve: Curve, number: int = 0) -> str:
    """A sampler of single numbers and its channel."""
    name, count = f"a{number}", len(curve["times"])
    words = cases.dae_source(f"{name}-i", cases.numbers(curve["times"]), count)
    words += cases.dae_source(f"{name}-o", cases.numbers(curve["values"]), count)
    inputs = f'<input semantic="INPUT" source="#{name}-i"/><input semantic="OUTPUT" source="#{name}-o"/>'
    if "kinds" in curve:
        words += cases.dae_source(f"{name}-k", " ".join(curve["kinds"]), count, "name")
        inputs += f'<input semantic="INTERPOLATION" source="#{name}-k"/>'
    for key in ("in", "out"):
        if key in curve:
            tangents = np.reshape(curve[key], (count, -1))
            stride = tangents.shape[1]
            words += cases.dae_source(f"{name}-{key}", cases.numbers(tangents.ravel()), count, stride=stride)
            inputs += f'<input semantic="{key.upper()}_TANGENT" source="#{name}-{key}"/>'
    return (
        f'<animation id="{name}">{words}<sampler id="{name}-s">{inputs}</sampler>'
        f'<channel source="#{name}-s" target="{target}"/></animation>'
    )


def straight(times: Sequence[float], values: Sequence[float]) -> Curve:
    return {"times": times, "values": values, "kinds": ["LINEAR"] * len(times)}


CURVES: dict[str, Curve] = {
    "linear": straight((0, 0.5, 1), (0, 90, -60)),
    "steps": {"times": (0, 0.5, 1), "values": (0, 90, -60), "kinds": ["STEP"] * 3},
    "bezier": {
        "times": (0, 1),
        "values": (0, 90),
        "kinds": ["BEZIER"] * 2,
        "in": [(0, 0), (0.9, 100)],
        "out": [(0.6, -20), (1, 90)],
    },
    "bezier, values alone": {
        "times": (0, 1),
        "values": (0, 90),
        "kinds": ["BEZIER"] * 2,
        "in": [0, 20],
        "out": [80, 0],
    },
    "hermite": {
        "times": (0, 1),
        "values": (0, 90),
        "kinds": ["HERMITE"] * 2,
        "in": [(0, 0), (1, 200)],
        "out": [(0.5, 10), (1, 0)],
    },
    "hermite, values alone": {
        "times": (0, 1),
        "values": (0, 90),
        "kinds": ["HERMITE"] * 2,
        "in": [0, 200],
        "out": [-100, 0],
    },
    "all of them": {
        "times": (0, 0.25, 0.5, 1),
        "values": (0, 40, 10, 90),
        "kinds": ["LINEAR", "STEP", "BEZIER", "LINEAR"],
        "in": [(0, 0), (0, 0), (0, 0), (0.8, 20)],
        "out": [(0, 0), (0, 0), (0.6, 60), (0, 0)],
    },
}
TIMES = np.linspace(-0.1, 1.2, 66) + 0.0011  # never where a curve jumps
PLAYED = {"curve_keys_added"}


def check(model: Any, chain: Chain, moving: dict[tuple[int, int], Curve], clip: int = 0) -> None:
    """Number j of transform i follows a curve."""
    assert codes(model) <= PLAYED
    size = 1.0
    for time in TIMES:
        numbers = [list(values) for _, values in chain]
        for (i, j), curve in moving.items():
            numbers[i][j] = value_at(curve, time)
        want = product([(kind, values) for (kind, _), values in zip(chain, numbers, strict=True)])
        size = max(size, float(np.abs(want).max()))
        got = model.globals(clip, min(max(time, 0.0), model.clips[clip].duration))[1]
        assert np.abs(got - want).max() <= TOLERANCE * size, time


@pytest.mark.parametrize("kind", CURVES)
def test_curves_of_an_angle(kind: str) -> None:
    chain: Chain = [("translate", (1, 0, 0)), ("rotate", (1, 2, 3, 0)), ("scale", (1, 2, 1))]
    file = cases.dae(nodes=node(chain), animation=animation("n/t1.ANGLE", CURVES[kind]))
    check(load(file, "dae"), chain, {(1, 3): CURVES[kind]})


@pytest.mark.parametrize("kind", CURVES)
def test_curves_of_a_number_of_a_matrix(kind: str) -> None:
    """(i)(j) has the column first."""
    chain: Chain = [("matrix", cases.IDENTITY)]
    file = cases.dae(nodes=node(chain), animation=animation("n/t0(3)(1)", CURVES[kind]))
    check(load(file, "dae"), chain, {(0, 7): CURVES[kind]})


def test_the_unit_of_a_file_makes_curves_no_coarser() -> None:
    """The bound is a part of the size in the scene, where a unit of this file is a hundredth."""
    curve = CURVES["bezier"]
    words = animation("n/t0.X", curve)
    model = load(cases.dae(meter=0.01, nodes=node([("translate", (0, 0, 0))]), animation=words), "dae")
    for time in TIMES:
        got = model.globals(0, min(max(time, 0.0), 1.0))[1, 0, 3]
        assert abs(got - 0.01 * value_at(curve, time)) <= TOLERANCE * 0.9, time


def test_three_angles_each_by_itself() -> None:
    """120, 80 and -100 degrees in a second: as a rotation between two keys, up to 172 degrees off."""
    chain: Chain = [("rotate", (*axis, 0)) for axis in ((0, 0, 1), (0, 1, 0), (1, 0, 0))]
    moving = {(i, 3): straight((0, 1), (0, end)) for i, end in enumerate((120, 80, -100))}
    words = "".join(animation(f"n/t{i}.ANGLE", curve, i) for (i, _), curve in moving.items())
    check(load(cases.dae(nodes=node(chain), animation=words), "dae"), chain, moving)


def test_a_node_with_pivots() -> None:
    """Rotation about a pivot moves the joint on an arc, with keys of each curve at their own times."""
    moving = {
        (0, 0): straight((0, 1), (1, 3)),
        (2, 3): CURVES["bezier"],
        (4, 3): straight((0.2, 0.7), (40, -70)),
        (6, 0): straight((0, 1), (1, 2)),
        (6, 1): straight((0, 1), (1, 2)),
        (6, 2): straight((0, 1), (1, 2)),
    }
    members = [".X", ".Y", ".Z", ".ANGLE"]
    words = "".join(
        animation(f"n/t{i}{members[j]}", curve, k) for k, ((i, j), curve) in enumerate(moving.items())
    )
    check(load(cases.dae(nodes=node(MAYA), animation=words), "dae"), MAYA, moving)


def test_whole_vectors_and_indices() -> None:
    """A channel without a member has all numbers; (i) is one of them."""
    chain: Chain = [("translate", (0, 0, 0)), ("rotate", (0, 0, 1, 0))]
    whole = cases.dae_source("w-i", "0 1", 2) + cases.dae_source("w-o", "0 1 2 3 4 5", 2, stride=3)
    words = (
        f'<animation>{whole}<sampler id="w"><input semantic="INPUT" source="#w-i"/>'
        '<input semantic="OUTPUT" source="#w-o"/></sampler><channel source="#w" target="n/t0"/></animation>'
    ) + animation("n/t1(3)", straight((0, 1), (0, 50)))
    moving = {(0, j): straight((0, 1), (j, j + 3)) for j in range(3)} | {(1, 3): straight((0, 1), (0, 50))}
    check(load(cases.dae(nodes=node(chain), animation=words), "dae"), chain, moving)


def test_the_shared_case_of_three_angles() -> None:
    model = load(data_file("cases", "dae-three-angle-channels.dae"))
    for time in (0.25, 0.5, 0.75):
        want = translate((0, 2, 0)) @ product(
            [("rotate", (*axis, 90 * time)) for axis in ((0, 0, 1), (0, 1, 0), (1, 0, 0))]
        )
        assert np.abs(model.globals(0, time)[2] - want).max() < 1e-5


# ---- matrices ------------------------------------------------------------------------------------------


def moving_matrices(kind: str = "LINEAR LINEAR", target: str = "n/transform", **more: Any) -> bytes:
    """A node that moves along x; its matrix is at (1, 2, 3) at rest."""
    ends = [(1, 0, 0, x, 0, 1, 0, 2, 0, 0, 1, 3, 0, 0, 0, 1) for x in (1, 5)]
    words = cases.dae_matrix_animation("n", (0, 1), ends)
    words = words.replace("LINEAR LINEAR", kind).replace("n/transform", target)
    nodes = f'<node id="n"><matrix sid="transform">{cases.numbers(ends[0])}</matrix></node>'
    return cases.dae(nodes=nodes, animation=words, **more)


@pytest.mark.parametrize(
    ("kind", "middle", "lost"),
    [
        ("LINEAR LINEAR", 3, ""),
        ("LINEAR HERMITE", 3, ""),
        ("STEP STEP", 1, ""),
        ("BEZIER LINEAR", 3, "'BEZIER' without tangents"),
        ("CARDINAL LINEAR", 3, "'CARDINAL'"),
        ("WHATEVER LINEAR", 3, "'WHATEVER'"),
    ],
)
def test_interpolation_of_matrices(kind: str, middle: float, lost: str) -> None:
    """Behind the last key nothing follows."""
    model = load(moving_matrices(kind), "dae")
    assert model.globals(0, 0.5)[-1][0, 3] == pytest.approx(middle)
    assert model.globals(0, 1.0)[-1][0, 3] == pytest.approx(5)
    if not lost:
        assert not model.report
    else:
        note = entry(model, "interpolation_ignored")
        assert (note.severity, note.count) == ("lost", 1) and note.first.startswith(lost)


def test_matrices_that_shear() -> None:
    sheared = (1, 0.5, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)
    words = cases.dae_matrix_animation("n", (0, 1), (cases.IDENTITY, sheared))
    nodes = f'<node id="n"><matrix sid="transform">{cases.numbers(cases.IDENTITY)}</matrix></node>'
    model = load(cases.dae(nodes=nodes, animation=words), "dae")
    assert entry(model, "matrix_keys_lost").count == 1
    chain: Chain = [("rotate", (0, 0, 1, 30)), ("scale", (1, 3, 1)), ("rotate", (0, 0, 1, 20))]
    words = animation("n/t0.ANGLE", straight((0, 1), (0, 90)))
    model = load(cases.dae(nodes=node(chain), animation=words), "dae")
    assert "'n'" in entry(model, "shear_lost").first


# ---- what is moved -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["n/transform", "a/n/transform", "n.1/transform", "a/transform"])
def test_targets_by_id_and_sid(target: str) -> None:
    """A path of several sids; a dot in an id; a sid further inside."""
    nodes = (
        '<node id="a"><node id="n.1"/><node id="n" sid="n"><matrix sid="transform">{}</matrix></node></node>'
    )
    nodes = nodes.format(cases.numbers(cases.IDENTITY))
    if target == "n.1/transform":
        nodes = nodes.replace('"n.1"', '"x"').replace('id="n"', 'id="n.1"')
    words = cases.dae_matrix_animation("n", (0, 1), (cases.IDENTITY, translate((5, 0, 0)).ravel()))
    model = load(cases.dae(nodes=nodes, animation=words.replace("n/transform", target)), "dae")
    assert model.globals(0, 1.0)[-1][0, 3] == pytest.approx(5) and not model.report


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("gone/transform", "channels_dropped"),
        ("n/gone", "channels_dropped"),
        ("n/transform.ANGLE", "channels_dropped"),
        ("n/transform(4)(9)", "channels_dropped"),
        ("n/visibility", "visibility_ignored"),
        ("lamp/color", "channels_dropped"),
    ],
)
def test_targets_that_move_nothing(target: str, code: str) -> None:
    model = load(moving_matrices(target=target), "dae")
    note = entry(model, code)
    assert (note.severity, note.count) == ("lost", 1) and target in note.first and not len(model.clips)


def test_two_channels_for_one_number() -> None:
    words = animation("n/t0.X", straight((0, 1), (0, 1))) + animation("n/t0.X", straight((0, 1), (0, 5)), 1)
    model = load(cases.dae(nodes=node([("translate", (0, 0, 0))]), animation=words), "dae")
    assert "n/t0.X" in entry(model, "channels_duplicate").first


def test_an_animated_node_that_is_used_twice() -> None:
    library = f"<library_nodes>{node([('translate', (0, 0, 0))])}</library_nodes>"
    nodes = "".join(
        f'<node id="p{x}"><translate>{x} 0 0</translate><instance_node url="#n"/></node>' for x in (0, 10)
    )
    words = animation("n/t0.Y", straight((0, 1), (0, 4)))
    model = load(cases.dae(nodes=nodes, more=library, animation=words), "dae")
    places = model.globals(0, 0.5)[[2, 4], :3, 3]
    assert np.allclose(places, [(0, 2, 0), (10, 2, 0)]) and "duplicate_names" in codes(model)


MORPHED: dict[str, str] = {
    "by the source": "face-weights(1)",
    "by the array": "face-weights-array(1)",
    "by the controller and the sid": "face/w(1)",
    "by the controller": "face(1)",
}


@pytest.mark.parametrize("kind", MORPHED)
def test_weights_of_morph_targets(kind: str) -> None:
    smile = cases.dae_triangle("smile").replace("0 0 0 1 0 0 0 1 0", "0 0 2 1 0 0 0 1 0")
    morph = cases.dae_morph("face", "tri", ("tri2", "smile")).replace("0.5 0.5", "0 0")
    morph = morph.replace('id="face-weights"', 'id="face-weights" sid="w"')
    file = cases.dae(
        geometry=cases.dae_triangle() + cases.dae_triangle("tri2") + smile,
        controllers=morph,
        nodes='<node id="n"><instance_controller url="#face"/></node>',
        animation=animation(MORPHED[kind], CURVES["all of them"]),
    )
    model = load(file, "dae")
    for time in TIMES:
        at = min(max(time, 0.0), 1.0)
        got = model.deform(model.pose(0, at), normals=False)[0][:, 2].max()
        assert got == pytest.approx(2 * value_at(CURVES["all of them"], at), abs=1e-3)  # of 180


def test_weights_of_all_targets_at_once() -> None:
    """A channel without an index has a number for each target."""
    keys = cases.dae_source("w-i", "0 1", 2) + cases.dae_source("w-o", "0 1 1 0.5", 2, stride=2)
    words = (
        f'<animation>{keys}<sampler id="w"><input semantic="INPUT" source="#w-i"/>'
        '<input semantic="OUTPUT" source="#w-o"/></sampler><channel source="#w" target="face-weights"/>'
        "</animation>"
    )
    up = cases.dae_triangle("up").replace("0 0 0 1 0 0 0 1 0", "0 0 2 1 0 0 0 1 0")
    down = cases.dae_triangle("down").replace("0 0 0 1 0 0 0 1 0", "0 0 -4 1 0 0 0 1 0")
    file = cases.dae(
        geometry=cases.dae_triangle() + up + down,
        controllers=cases.dae_morph("face", "tri", ("up", "down")),
        nodes='<node id="n"><instance_controller url="#face"/></node>',
        animation=words,
    )
    model = load(file, "dae")
    for time in (0.0, 0.5, 1.0):
        z = model.deform(model.pose(0, time), normals=False)[0][:, 2]
        want = 2 * time - 4 * (1 - 0.5 * time)
        assert z[np.abs(z).argmax()] == pytest.approx(want, abs=1e-4)


# ---- clips ---------------------------------------------------------------------------------------------


def test_animations_play_together() -> None:
    """Nested ones, without a word on interpolation; the clip ends with the last of them."""
    inner = animation("n/t0.X", {"times": (0, 1), "values": (0, 1)})
    words = f"<animation>{inner}</animation>" + animation("n/t0.Y", straight((0, 2), (0, 2)), 1)
    model = load(cases.dae(nodes=node([("translate", (0, 0, 0))]), animation=words), "dae")
    assert model.clips.names == ("clip0",) and model.clips[0].duration == 2
    assert np.allclose(model.globals(0, 1.5)[1][:3, 3], (1, 1.5, 0)) and not model.report


def test_animation_clips() -> None:
    """Ranges of a time line, which begin at 0; what belongs to no clip plays in one more."""
    words = animation("n/t0.X", CURVES["bezier"]) + animation("n/t0.Y", straight((0, 4), (0, 4)), 1)
    clips = (
        '<animation_clip id="c0" name="walk" start="0.25" end="0.75"><instance_animation url="#a0"/>'
        '</animation_clip><animation_clip id="c1" start="0.5"><instance_animation url="#a0"/>'
        "</animation_clip>"
    )
    model = load(cases.dae(nodes=node([("translate", (0, 0, 0))]), animation=words, clips=clips), "dae")
    assert model.clips.names == ("walk", "c1", "clip2")
    assert [clip.duration for clip in model.clips] == [0.5, 0.5, 4]
    for time in np.linspace(0, 0.5, 9):
        for number, start in ((0, 0.25), (1, 0.5)):
            place = model.globals(number, time)[1][:3, 3]
            assert np.allclose(place, (value_at(CURVES["bezier"], time + start), 0, 0), atol=90 * 1e-5)
    assert np.allclose(model.globals(2, 3.0)[1][:3, 3], (0, 3, 0))


def test_a_range_of_matrices() -> None:
    clips = (
        '<animation_clip name="half" start="0.5" end="2"><instance_animation url="#n-a"/></animation_clip>'
    )
    model = load(moving_matrices(clips=clips), "dae")
    assert model.clips.names == ("half",) and model.clips[0].duration == 1.5
    places = [model.globals(0, time)[-1][0, 3] for time in (0, 0.25, 0.5, 1.5)]
    assert np.allclose(places, (3, 4, 5, 5), atol=1e-5)


def test_clips_that_name_no_animation() -> None:
    """One without any plays all; one that is not there is reported."""
    clips = '<animation_clip name="all" start="0" end="1"/>'
    clips += '<animation_clip name="none"><instance_animation url="#x"/></animation_clip>'
    model = load(moving_matrices(clips=clips), "dae")
    assert model.clips.names == ("all", "none") and len(model.clips[0].channels) == 3
    assert "'#x'" in entry(model, "references_ignored").first


def test_keys_out_of_order_and_not_finite() -> None:
    curve = straight((1, 0, 0.5), (9, 0, 4))
    model = load(
        cases.dae(nodes=node([("translate", (0, 0, 0))]), animation=animation("n/t0.X", curve)), "dae"
    )
    assert "key_times_repaired" in codes(model) and model.globals(0, 0.25)[1][0, 3] == pytest.approx(2)
    words = animation("n/t0.X", straight((0, 0.5, 1), (0, 4, 9))).replace("0 4 9", "0 NaN 9")
    model = load(cases.dae(nodes=node([("translate", (0, 0, 0))]), animation=words), "dae")
    assert entry(model, "numbers_repaired").count == 1
    assert model.globals(0, 0.5)[1][0, 3] == pytest.approx(4.5)


def test_behavior_outside_the_keys() -> None:
    """1.5.0, sampler: what is not constant is reported."""
    words = animation("n/t0.X", straight((0, 1), (0, 1))).replace(
        '<sampler id="a0-s"', '<sampler id="a0-s" pre_behavior="CONSTANT" post_behavior="CYCLE"'
    )
    model = load(cases.dae(nodes=node([("translate", (0, 0, 0))]), animation=words), "dae")
    assert "'CYCLE' behind the last key" in entry(model, "interpolation_ignored").first


def test_keys_are_counted_for_each_instance() -> None:
    library = f"<library_nodes>{node([('translate', (0, 0, 0))])}</library_nodes>"
    nodes = "".join(f'<node id="p{i}"><instance_node url="#n"/></node>' for i in range(50))
    words = animation("n/t0.Y", straight(range(20), range(20)))
    file = cases.dae(nodes=nodes, more=library, animation=words)
    assert len(load(file, "dae").clips) == 1
    with pytest.raises(skinpy.LimitExceeded, match="1000 keys"):
        load(file, "dae", limits=skinpy.Limits(keys=999))
