"""Files that are valid and awkward: they load right, in a process of their own and in this one.

tests/test_import.py follows each of them number by number; here stands what a person would look at first.
"""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import builders
import import_cases as cases
import numpy as np
import pytest
from builders import Gltf
from test_import import check_sanity, codes
from test_import_limits import DEFAULT, DEPTH, deep, good, put

import skinpy


def without_normals() -> Gltf:
    file = Gltf()
    points, _, faces = builders.box()
    file.node("box", mesh=file.mesh(file.primitive(points, faces)))
    return file


def of_length_zero() -> Gltf:
    """Clips without keys, with one key, and with keys at one time."""
    file = builders.single_key()
    node = file.node("other")
    file.animation("none")
    file.animation("same", file.channel(node, "translation", (0.5, 0.5), [(1, 0, 0), (2, 0, 0)]))
    return file


def no_inverse_bind(model: Any) -> None:
    assert np.array_equal(model.skin.inverse_bind, np.tile(np.eye(4, dtype="f4"), (2, 1, 1)))
    assert "inverse_bind_missing" in codes(model)
    # b stands 1.5 above the floor; a vertex follows a and b by halves, and both matrices are their globals.
    moved = model.deform(model.pose(), normals=False)[0]
    assert np.allclose(moved, model.mesh.positions + np.float32([0, 1.0, 0]), atol=1e-6)


def eight_influences(model: Any) -> None:
    assert model.mesh.weights.shape[1] == 8
    assert (model.mesh.weights > 0).sum(1).max() == 8
    assert np.allclose(model.mesh.weights.sum(1), 1, atol=1e-6)


def sparse(model: Any) -> None:
    assert np.array_equal(model.mesh.positions[[3, 7, 20]], [(2, 2, 2), (3, 3, 3), (-4, 0, 1)])
    assert np.array_equal(model.clips[0].channels[0].values, [(0, 0, 0), (1, 2, 3), (4, 5, 6), (0, 0, 0)])


def cubic(model: Any) -> None:
    kinds = {channel.interpolation for clip in model.clips for channel in clip.channels}
    assert kinds == {"step", "linear", "cubic"}
    for channel in (channel for clip in model.clips for channel in clip.channels):
        assert (channel.in_tangents is None) == (channel.interpolation != "cubic")


def duplicate_names(model: Any) -> None:
    names = model.skeleton.names
    assert names.count("joint") == 4 and model.skeleton.index("joint") == 0
    # Each of them moves by its own channel: the middle key of node j is (j, 1 + j, 0).
    places = {channel.joint: channel.values[1].tolist() for channel in model.clips["shift"].channels}
    assert len(places) == 11 and len({tuple(place) for place in places.values()}) == 11
    assert places[0] == [0, 1, 0]


def smooth(model: Any) -> None:
    assert "normals_generated" in codes(model)
    assert np.allclose(np.linalg.norm(model.mesh.normals, axis=1), 1, atol=1e-6)


def zero_length(model: Any) -> None:
    pose, none, same = model.clips
    assert (pose.duration, none.duration, same.duration) == (0, 0, 0.5)
    assert len(none.channels) == 0 and len(same.channels[0].times) == 1
    for time in (0.0, 0.3, 7.0, -2.0):
        assert np.array_equal(model.globals("pose", time), model.globals("pose", 0.0))
        assert model.joint_positions("same", time)[model.skeleton.index("other")].tolist() == [1, 0, 0]


AWKWARD: dict[str, tuple[Callable[[], Gltf], Callable[[Any], None]]] = {
    "no inverse bind matrices": (builders.skin_without_ibm, no_inverse_bind),
    "eight influences": (builders.eight_influences, eight_influences),
    "sparse accessors": (builders.sparse_accessors, sparse),
    "cubic keys": (builders.mixed_channels, cubic),
    "duplicate names": (builders.awkward_names, duplicate_names),
    "no normals": (without_normals, smooth),
    "clips of length zero": (of_length_zero, zero_length),
}


@pytest.mark.parametrize("isolate", [True, False])
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_but_valid(tmp_path: Path, name: str, isolate: bool) -> None:
    make, look = AWKWARD[name]
    for path in (put(tmp_path, "a.glb", make().glb()), put(tmp_path, "a.gltf", make().gltf())):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", skinpy.SkinpyWarning)
            model = skinpy.load(path, max_influences=8, isolate=isolate)
        check_sanity(model)
        look(model)


@pytest.mark.parametrize("format", ["gltf", "dae", "x", "bvh"])
def test_deep_trees(tmp_path: Path, format: str) -> None:
    """20,000 nodes below one another: with everything that is done to a skeleton afterwards."""
    model = skinpy.load(put(tmp_path, f"a.{format}", deep(format)))
    assert len(model.skeleton) == DEPTH
    assert model.skeleton.parents.tolist() == list(range(-1, DEPTH - 1))
    assert np.isfinite(model.globals(None, 0.0)).all()
    assert len(skinpy.load(model.save(tmp_path / "a.skn") or tmp_path / "a.skn").skeleton) == DEPTH
    with pytest.raises(skinpy.LimitExceeded, match=rf"the model has {DEPTH} levels of nodes.*depth={DEPTH}"):
        skinpy.load(tmp_path / f"a.{format}", limits=skinpy.Limits(depth=DEPTH - 1))


def test_all_default_formats_load_isolated_and_here(tmp_path: Path) -> None:
    assert set(good()) == set(DEFAULT) == set(skinpy.DEFAULT_FORMATS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        for format, data in good().items():
            path = put(tmp_path, f"{format}.{format}", data)
            apart = skinpy.load(path)
            here = skinpy.load(path, isolate=False, allow_formats=skinpy.DEFAULT_FORMATS)
            assert apart.skeleton.names == here.skeleton.names and len(apart.skeleton) >= 1
            check_sanity(apart)


def test_refusals_are_exceptions_of_their_own(tmp_path: Path) -> None:
    path = put(tmp_path, "a.mdc", b"IDPC")
    glb = put(tmp_path, "a.glb", builders.chain(3).glb())
    csm = put(tmp_path, "b.gltf", b"$Filename a.csm\n")
    put(tmp_path, "data.bin", b"")
    document = json.loads(builders.chain(3).gltf())
    document["buffers"][0]["uri"] = "data.bin"
    beside = put(tmp_path, "c.gltf", json.dumps(document).encode())
    # In this process with it alone: all default formats would bring in the readers that break most often.
    for isolate, others in ((True, r"\*skinpy.DEFAULT_FORMATS, "), (False, "")):
        with pytest.raises(skinpy.FormatRefused, match=rf'a\.mdc: .*allow_formats=\({others}"mdc"'):
            skinpy.load(path, isolate=isolate)
        with pytest.raises(skinpy.FormatRefused, match=rf'allow_formats=\({others}"glb",?\)'):
            skinpy.load(glb, isolate=isolate, allow_formats=("gltf",))
        with pytest.raises(skinpy.LimitExceeded, match=r"a\.glb: the model has 4 nodes.*Limits\(nodes=4\)"):
            skinpy.load(glb, isolate=isolate, limits=skinpy.Limits(nodes=3))
        with pytest.raises(skinpy.LoadError, match=r"named \.gltf, but begins as a \.csm file does"):
            skinpy.load(csm, isolate=isolate)
        with pytest.raises(skinpy.LoadError, match='external="none" allows no other files'):
            skinpy.load(beside, isolate=isolate, external="none")
    assert len(skinpy.load(cases.bvh(), limits=skinpy.Limits(nodes=3)).skeleton) == 3


def with_unknown_value(value: str) -> bytes:
    """A glTF with some JSON that no reader looks at."""
    text = builders.single_key().gltf().decode()
    return (text[:-1] + f', "unknown": {value}}}').encode()


NEST = {
    "arrays": lambda levels: "[" * levels + "]" * levels,
    "objects": lambda levels: '{"x": ' * levels + "1" + "}" * levels,
    "behind others": lambda levels: "[" + "[], " * 1000 + "[" * (levels - 1) + "]" * levels,
    "strings": lambda levels: '["' + "[" * 5000 + '", ' + "[" * (levels - 1) + "]" * levels,
}


@pytest.mark.parametrize("isolate", [True, False])
@pytest.mark.parametrize("kind", NEST)
def test_json_may_be_nested_128_deep(kind: str, isolate: bool) -> None:
    """With the root. The tokenizer stops every 1,024 tokens to look how deep it is."""
    for levels in (2, 100, 127):
        skinpy.load(with_unknown_value(NEST[kind](levels)), format="gltf", isolate=isolate)
    for levels in (128, 1023, 1024, 1025, 5000, 100_000):
        for text in (NEST[kind](levels), NEST[kind](levels).rstrip("]}") + "1"):
            with pytest.raises(skinpy.LoadError) as caught:
                skinpy.load(with_unknown_value(text), format="gltf", isolate=isolate)
            words = str(caught.value)
            if text[-1] == "1":
                assert "nested more than 128 deep" in words or "not valid JSON" in words
            else:
                assert "nested more than 128 deep" in words
