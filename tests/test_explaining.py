"""Model.explain: each number of the chain against a twin of its own, its text, its HTML, its errors."""

import html.parser
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import chain, matrix_nodes, mixed_channels, negative_scale, two_offsets
from twin import Rig, trs_matrix

import skinpy
from skinpy.__main__ import main
from skinpy.explaining import Explanation, Sampled

CHARACTER = Path(skinpy.__file__).parent / "data" / "character.glb"
BUILT = {"chain": lambda: chain(8), "mixed": mixed_channels, "mirrored": negative_scale}
BUILT |= {"shear": matrix_nodes, "two offsets": two_offsets}


@pytest.fixture(scope="module")
def model() -> skinpy.Model:
    return skinpy.character()


@pytest.fixture(scope="module")
def joined(model: skinpy.Model) -> Explanation:
    """A vertex that four slots move."""
    return model.explain(most_moved(model), "run", 0.31)


def most_moved(model: skinpy.Model) -> int:
    return int(np.argmax((model.mesh.weights > 0.1).sum(axis=1)))


def reach(model: skinpy.Model) -> float:
    """The length that the precision of 1e-6 refers to."""
    return max(float(np.abs(model.bounds(clip)).max()) for clip in (None, *model.clips))


def morphing() -> skinpy.Model:
    """Three vertices on one joint that does not move; "smile" moves vertex 1, "frown" vertices 1 and 2."""
    clip = skinpy.Clip.from_arrays("face", times=[0, 2], targets=["smile"], weights=[[0.0], [1.0]])
    return skinpy.Model.from_arrays(
        ["root"],
        [-1],
        [np.eye(4)],
        positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1.0]] * 3,
        targets={
            "smile": ([[0, 0, 0], [0, 0, 2], [0, 0, 0]], [[0, 0, 0], [3, 0, 0], [0, 0, 0]]),
            "frown": ([[0, 0, 0], [1, 0, 0], [1, 0, 0]]),
        },
        clips=[clip],
    )


# ---- arguments -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((3971,), {}, IndexError, "vertex is 3971; expected 0 to 3970"),
        ((-1,), {}, IndexError, "vertex is -1; expected 0 to 3970"),
        ((1.5,), {}, TypeError, "vertex is 1.5; expected a whole number"),
        (("1",), {}, TypeError, "vertex is '1'"),
        ((True,), {}, TypeError, "vertex is True"),
        ((0, "rum"), {}, KeyError, "did you mean 'run'"),
        ((0, 9), {}, IndexError, "9"),
        ((0, "run", float("nan")), {}, ValueError, "time is nan"),
        ((0, "run", [0.1, 0.2]), {}, TypeError, "time is"),
        ((0, "run", 0.1), {"loop": "round"}, ValueError, "round"),
    ],
)
def test_bad_arguments(
    model: skinpy.Model, arguments: Any, options: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        model.explain(*arguments, **options)


def test_a_model_without_a_mesh_has_nothing_to_explain() -> None:
    empty = skinpy.Model.from_arrays(
        ["root"],
        [-1],
        [np.eye(4)],
        positions=np.zeros((0, 3)),
        faces=np.zeros((0, 3), int),
        joints=np.zeros((0, 1), int),
        weights=np.zeros((0, 1)),
    )
    with pytest.raises(IndexError, match="no vertices"):
        empty.explain(0)


def test_a_clip_of_another_model_is_refused(model: skinpy.Model) -> None:
    with pytest.raises(ValueError, match="add_clips"):
        model.explain(0, skinpy.crane().clips[0])


# ---- the numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT)
def test_the_chain_is_that_of_the_twin(name: str) -> None:
    model = skinpy.load(BUILT[name]().glb(), format="glb")
    rig = Rig.of(model)
    for vertex in (0, len(model.mesh.positions) - 1):
        for time in (-0.2, 0.0, 0.37, 1.0, 1.9):
            one = model.explain(vertex, 0, time)
            # Both are float64 from the same formulas: only the order of the sums differs.
            slack = 1e-12 * (1 + np.abs(rig.palette(0, time)).max())
            t, q, s = rig.pose(0, time)
            local, globals_ = rig.locals(t, q, s), rig.globals(0, time)
            for step in one.joints:
                assert step.parent == rig.parents[step.joint]
                np.testing.assert_allclose(step.local, local[step.joint], atol=slack)
                np.testing.assert_allclose(step.globals, globals_[step.joint], atol=slack)
                np.testing.assert_allclose(step.translation, t[step.joint], atol=slack)
            for each in one.influences:
                np.testing.assert_allclose(each.palette, rig.palette(0, time)[each.slot], atol=slack)
            positions, normals = rig.deform(0, time)
            np.testing.assert_allclose(one["NumPy"].position, positions[vertex], atol=slack)
            np.testing.assert_allclose(one["NumPy"].normal, normals[vertex], atol=1e-9)


@pytest.mark.parametrize("name", BUILT)
@pytest.mark.parametrize("clip", [None, 0])
def test_all_ways_lead_to_one_place(name: str, clip: int | None) -> None:
    model = skinpy.load(BUILT[name]().glb(), format="glb")
    allowed = 1e-6 * reach(model)  # the precision that skinpy promises
    for vertex in (0, len(model.mesh.positions) // 2):
        one = model.explain(vertex, clip, 0.4)
        assert [each.way for each in one.outcomes] == ["NumPy", "C", "shader", "row vectors"]
        for each in one.outcomes:
            if each.position is not None:
                assert each.position_error is not None and each.position_error <= allowed
                # float32, and a normal is the cross product of two rows: a digit less than a position.
                assert each.normal_error is not None and each.normal_error <= 1e-5
        positions, normals = model.deform(model.pose(clip, 0.4))
        np.testing.assert_array_equal(one["C"].position, positions[vertex])
        np.testing.assert_array_equal(one["C"].normal, normals[vertex])
        assert one.palette_error <= allowed


def test_row_vectors_have_no_rounding_of_float32(joined: Explanation) -> None:
    # The same products in float64, in another order: a few units in the last place.
    assert joined["row vectors"].position_error is not None and joined["row vectors"].position_error < 1e-14


def test_influences_are_those_of_the_mesh(model: skinpy.Model, joined: Explanation) -> None:
    slots, weights = model.mesh.slots[joined.vertex], model.mesh.weights[joined.vertex]
    assert [each.slot for each in joined.influences] == slots.tolist() and len(slots) == 4
    assert [each.weight for each in joined.influences] == weights.astype(float).tolist()
    for each in joined.influences:
        assert each.joint == model.skin.joints[each.slot]
        assert each.name == model.skeleton.names[each.joint]
        np.testing.assert_array_equal(each.inverse_bind, model.skin.inverse_bind[each.slot])
        assert model.skeleton.parents[each.chain[0]] == -1 and each.chain[-1] == each.joint
        for parent, joint in zip(each.chain, each.chain[1:], strict=False):
            assert model.skeleton.parents[joint] == parent
    chains = {joint for each in joined.influences for joint in each.chain}
    assert [step.joint for step in joined.joints] == sorted(chains)
    np.testing.assert_allclose(
        sum(each.weight * each.position for each in joined.influences), joined["NumPy"].position, atol=1e-12
    )


def test_a_vertex_that_one_slot_moves(model: skinpy.Model) -> None:
    vertex = int(np.argmax(model.mesh.weights[:, 0]))
    (only,) = model.explain(vertex).influences
    assert only.weight == 1.0


def moving(interpolation: str, **keys: Any) -> Sampled:
    """The one channel of a joint that goes from (0,0,0) over (1,0,0) to (1,2,0), at `time`."""
    time = keys.pop("time")
    clip = skinpy.Clip.from_arrays(
        "go",
        times=[1.0, 2.0, 4.0],
        joints=["root"],
        translation=[[[0, 0, 0]], [[1, 0, 0]], [[1, 2, 0]]],
        interpolation=interpolation,
    )
    model = skinpy.Model.from_arrays(
        ["root"],
        [-1],
        [np.eye(4)],
        positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1.0]] * 3,
        clips=[clip],
    )
    (step,) = model.explain(0, "go", time, loop="clamp").joints
    (sampled,) = step.channels
    np.testing.assert_array_equal(step.translation, sampled.value)
    return sampled


@pytest.mark.parametrize(
    ("interpolation", "time", "key", "times", "fraction", "value"),
    [
        ("linear", 0.5, 0, [1.0], 0.0, [0, 0, 0]),  # before the first
        ("linear", 1.0, 0, [1.0, 2.0], 0.0, [0, 0, 0]),
        ("linear", 3.5, 1, [2.0, 4.0], 0.75, [1, 1.5, 0]),
        ("linear", 4.0, 2, [4.0], 0.0, [1, 2, 0]),  # the last
        ("step", 3.5, 1, [2.0, 4.0], 0.75, [1, 0, 0]),
        ("step", 2.0 - 1e-8, 1, [2.0, 4.0], 0.0, [1, 0, 0]),  # counts as on the key
    ],
)
def test_keys_around_the_time(
    interpolation: str, time: float, key: int, times: list[float], fraction: float, value: list[float]
) -> None:
    one = moving(interpolation, time=time)
    assert (one.interpolation, one.key_count, one.key) == (interpolation, 3, key)
    assert one.times.tolist() == times and len(one.values) == len(times)
    assert one.fraction == pytest.approx(fraction, abs=1e-12)
    np.testing.assert_allclose(one.value, value, atol=1e-12)


def test_cubic_keys_have_their_tangents() -> None:
    model = skinpy.load(mixed_channels().glb(), format="glb")
    joint = model.skeleton.index("m6")
    (channel,) = [one for one in model.clips[0].channels if one.joint == joint]
    time = float(channel.times[1:3].mean())
    vertex = int(np.argmax(model.skin.joints[model.mesh.slots[:, 0]] == joint))
    (sampled,) = model.explain(vertex, 0, time).joints[-1].channels
    assert sampled.interpolation == "cubic" and sampled.key == 1
    assert sampled.fraction == pytest.approx(0.5)
    assert channel.out_tangents is not None and channel.in_tangents is not None
    np.testing.assert_array_equal(sampled.out_tangent, channel.out_tangents[1])
    np.testing.assert_array_equal(sampled.in_tangent, channel.in_tangents[2])
    # Hermite at 1/2: the middle of the values, and an eighth of the tangents' difference over the span.
    span = channel.times[2] - channel.times[1]
    slope = channel.out_tangents[1] - channel.in_tangents[2]
    np.testing.assert_allclose(sampled.value, channel.values[1:3].mean(axis=0) + span * slope / 8, atol=1e-6)
    assert "out tangent" in model.explain(vertex, 0, time).text()


def test_time_within_the_clip(model: skinpy.Model) -> None:
    duration = model.clips["run"].duration
    one = model.explain(0, "run", 0.25 * duration + 3 * duration)
    assert one.local_time == pytest.approx(0.25 * duration) and one.clip == "run"
    assert model.explain(0, "run", 9.0, loop="clamp").local_time == duration
    assert model.explain(0, "run", 1.25 * duration, loop="pingpong").local_time == pytest.approx(
        0.75 * duration
    )
    resting = model.explain(0)
    assert resting.clip is None and not any(step.channels for step in resting.joints)
    assert all(step.at_rest for step in resting.joints)


def test_shear_of_a_joint_at_rest_is_kept() -> None:
    model = skinpy.load(matrix_nodes().glb(), format="glb")
    sheared = model.skeleton.index("sheared")
    vertex = int(np.argmax(model.skin.joints[model.mesh.slots[:, 0]] == sheared))
    step = model.explain(vertex, 0, 0.5).joints[-1]
    assert step.joint == sheared and step.at_rest
    np.testing.assert_array_equal(step.local, model.skeleton.rest_local[sheared])
    made = trs_matrix(step.translation, step.rotation, step.scale)
    assert np.abs(made - step.local).max() > 0.1


def test_morph_targets() -> None:
    model = morphing()
    one = model.explain(1, "face", 0.5)
    smile, frown = one.morphs
    assert (smile.name, smile.weight, frown.weight) == ("smile", 0.25, 0.0)
    assert smile.sampled is not None and smile.sampled.fraction == 0.25 and frown.sampled is None
    np.testing.assert_allclose(one.position, [1, 0, 0.5])
    np.testing.assert_allclose(one.normal, one.bind_normal + [0.75, 0, 0])
    # bind normal (0,0,1): (0.75, 0, 1) has length 1.25
    np.testing.assert_allclose(one["NumPy"].normal, [0.6, 0, 0.8], atol=1e-12)
    for each in one.outcomes:
        if each.position is not None:
            np.testing.assert_allclose(each.position, [1, 0, 0.5], atol=1e-6)
            np.testing.assert_allclose(each.normal, [0.6, 0, 0.8], atol=1e-6)
    assert [step.name for step in model.explain(2, "face").morphs] == ["frown"]
    assert model.explain(0, "face").morphs == ()
    assert "morph target 0 'smile', weight 0.25" in one.text()


def test_additive_clips_are_explained_as_they_are(model: skinpy.Model) -> None:
    one = model.explain(most_moved(model), model.clips["wave"].additive(), 0.4)
    assert one["C"].position_error is not None and one["C"].position_error <= 1e-6 * reach(model)
    np.testing.assert_array_equal(one.joints[0].translation, [0, 0, 0])


# ---- how it shows itself -----------------------------------------------------------------------------------


def test_text_fits_a_hundred_columns_and_says_what_there_is(joined: Explanation) -> None:
    text = joined.text()
    assert str(joined) == text and max(map(len, text.splitlines())) <= 100
    for words in (
        "Vertex 261",
        "'run' at 0.31 s",
        "keys 12 and 13 of 29",
        "fraction 0.4000",
        "for row vectors",
    ):
        assert words in text
    for each in joined.influences:
        assert f"slot {each.slot}, joint {each.joint} '{each.name}', weight {each.weight:.6f}" in text
    assert repr(joined) == "<Explanation of vertex 261 in 'run' at 0.31 s: 4 influences>"


def test_numbers_of_any_size_fit() -> None:
    from skinpy.explaining.words import numbers

    for size in (0.0, 1e-30, 1e-4, 1e-3, 0.5, 9.9999999, 1e3, 9999999.4, 1e7, 1e30):
        first, second = numbers(np.array([-size, size / 3]))
        assert max(len(first), len(second)) <= 10 and not first.startswith("-0.000000")
        assert float(first) == pytest.approx(-size, rel=1e-3) and "nan" not in second


class Seen(html.parser.HTMLParser):
    """The tags of some HTML, closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self._open.append(tag)
        assert all(name in ("class", "open", "lang", "charset") for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def close(self) -> None:
        super().close()
        assert not self._open


def seen(text: str) -> Seen:
    parser = Seen()
    parser.feed(text)
    parser.close()
    return parser


def test_html_has_the_same_and_no_scripts(joined: Explanation) -> None:
    found = seen(joined._repr_html_())
    allowed = {
        "div",
        "style",
        "h3",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "td",
        "th",
        "details",
        "summary",
        "b",
    }
    assert set(found.tags) == allowed
    # Four slots of two matrices, two of each joint, the sum in both conventions.
    assert found.tags.count("table") > 2 * len(joined.joints) + 2 * len(joined.influences) + 2
    assert joined.html().startswith("<!DOCTYPE html>") and "://" not in joined.html()
    assert seen(joined.html()).tags[:4] == ["html", "head", "meta", "title"]


def test_names_are_text() -> None:
    rest = [np.eye(4)] * 2
    model = skinpy.Model.from_arrays(
        ["<script>&", "\udcff\n" + "long" * 40],
        [-1, 0],
        rest,
        positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        faces=[[0, 1, 2]],
        joints=[[0, 1]] * 3,
        weights=[[0.6, 0.4]] * 3,
    )
    one = model.explain(2)
    found = seen(one.html())
    assert "script" not in found.tags and any("<script>&" in words for words in found.words)
    one.html().encode("utf-8")
    one.text().encode("utf-8")
    assert max(map(len, one.text().splitlines())) <= 100
    assert json.loads(json.dumps(one.to_dict()))["joints"][0]["name"] == "<script>&"


def test_to_dict_is_plain(joined: Explanation) -> None:
    plain = json.loads(json.dumps(joined.to_dict()))
    assert plain["vertex"] == joined.vertex and plain["matrix"] == joined.matrix.tolist()
    assert plain["joints"][1]["channels"][0]["times"] == joined.joints[1].channels[0].times.tolist()
    assert [each["way"] for each in plain["outcomes"]] == ["NumPy", "C", "shader", "row vectors"]


def test_nothing_can_be_changed(joined: Explanation) -> None:
    for array in (joined.matrix, joined.influences[0].palette, joined.joints[1].channels[0].values):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        joined.vertex = 3  # type: ignore[misc]
    with pytest.raises(KeyError, match="unknown way 'GPU'"):
        joined["GPU"]


@pytest.mark.parametrize("missing", ["context", "package"])
def test_without_graphics_the_shader_is_skipped(
    model: skinpy.Model, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    def no_context(*_: object, **__: object) -> None:
        raise skinpy.GraphicsError("no OpenGL\ncontext")

    if missing == "package":
        monkeypatch.setitem(sys.modules, "skinpy.render", None)
    else:
        monkeypatch.setattr(pytest.importorskip("skinpy.render"), "Renderer", no_context)
    one = model.explain(0, "run", 0.1)
    assert one["shader"].position is None and one["shader"].position_error is None
    words = {
        "package": "skipped, because there is no OpenGL here: import of",
        "context": "here: no OpenGL context",
    }[missing]
    assert words in one["shader"].note
    assert re.search("^   shader         skipped, because there is no OpenGL", one.text(), re.MULTILINE)
    assert "skipped" in one.text() and "skipped" in one.html()
    assert max(map(len, one.text().splitlines())) <= 100


# ---- the command line --------------------------------------------------------------------------------------


def test_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path, joined: Explanation) -> None:
    arguments = ["explain", str(CHARACTER), "--vertex", "261"]
    assert main([*arguments, "--clip", "run", "--time", "0.31"]) == 0
    assert capsys.readouterr().out == joined.text() + "\n"
    page = tmp_path / "out.html"
    assert main([*arguments, "--html", str(page)]) == 0
    assert "in &#x27;walk&#x27; at 0 s" in page.read_text(encoding="utf-8")
    assert capsys.readouterr().out == ""
    assert main(["explain", str(CHARACTER), "--vertex", "99999"]) == 1
    assert "expected 0 to 3970" in capsys.readouterr().err
    assert main([*arguments, "--html", str(tmp_path / "none" / "out.html")]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]
    with pytest.raises(SystemExit) as stopped:
        main(["explain", str(CHARACTER)])
    assert stopped.value.code == 2
