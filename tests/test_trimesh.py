"""Model.to_trimesh: with a stand-in that keeps its arguments, and with trimesh if it is installed."""

import pickle
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import skinpy


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stand-in whose Trimesh and TextureVisuals are their own arguments."""

    def note(**options: Any) -> SimpleNamespace:
        return SimpleNamespace(**options)

    stand_in = SimpleNamespace(Trimesh=note, visual=SimpleNamespace(TextureVisuals=note))
    monkeypatch.setitem(sys.modules, "trimesh", stand_in)  # type: ignore[arg-type]


@pytest.mark.usefixtures("given")
def test_it_is_the_skinned_mesh() -> None:
    model = skinpy.crane()
    found = model.to_trimesh(0, 0.4)
    positions, normals = model.deform(model.pose(0, 0.4))
    np.testing.assert_array_equal(found.vertices, positions)
    np.testing.assert_array_equal(found.vertex_normals, normals)
    np.testing.assert_array_equal(found.faces, model.mesh.faces)
    assert found.process is False
    numbers = found.face_attributes["submesh"]
    for number, submesh in enumerate(model.mesh.submeshes):
        assert (numbers[submesh.face_range.start : submesh.face_range.stop] == number).all()
    assert numbers.shape == (len(model.mesh.faces),) and numbers.max() == len(model.mesh.submeshes) - 1


@pytest.mark.usefixtures("given")
def test_texture_coordinates_are_turned_over() -> None:
    model = skinpy.character()
    assert model.mesh.uvs is not None
    uv = model.to_trimesh().visual.uv
    np.testing.assert_allclose(uv[:, 0], model.mesh.uvs[:, 0])
    np.testing.assert_allclose(uv[:, 1], 1 - model.mesh.uvs[:, 1], atol=1e-7)
    bare = skinpy.Model.from_arrays(
        ["root"],
        [-1],
        [np.eye(4)],
        positions=np.eye(3),
        faces=[[0, 1, 2]],
        joints=[[0]] * 3,
        weights=[[1.0]] * 3,
    )
    assert bare.to_trimesh().visual is None


@pytest.mark.usefixtures("given")
def test_bad_arguments() -> None:
    model = skinpy.character()
    with pytest.raises(KeyError, match="did you mean 'run'"):
        model.to_trimesh("rum")
    with pytest.raises(ValueError, match=r"time has shape \(2,\)"):
        model.to_trimesh("run", [0.0, 0.1])  # type: ignore[arg-type]


def test_without_trimesh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(ImportError, match="pip install trimesh"):
        skinpy.character().to_trimesh()


def test_with_trimesh_itself() -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    model = skinpy.character()
    found = model.to_trimesh("run", 0.3)
    positions, normals = model.deform(model.pose("run", 0.3))
    np.testing.assert_allclose(found.vertices, positions)
    np.testing.assert_allclose(found.vertex_normals, normals, atol=1e-6)
    np.testing.assert_array_equal(found.faces, model.mesh.faces)
    assert found.visual.uv.shape == (len(positions), 2)


@pytest.mark.usefixtures("given")
def test_a_model_without_vertices_is_refused_in_our_words() -> None:
    """trimesh raises NumPy's error about a reduction."""
    joints = skinpy.load(
        b"HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 0 } MOTION Frames: 0 Frame Time: 1", format="bvh"
    )
    with pytest.raises(ValueError, match="model has no vertices; expected a model with a mesh"):
        joints.to_trimesh()
    light = pickle.loads(pickle.dumps(skinpy.character().clips[0])).model
    with pytest.raises(ValueError, match="to_trimesh needs the vertices of the model"):
        light.to_trimesh()
