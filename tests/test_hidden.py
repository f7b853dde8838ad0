"""Hidden submeshes: read from FBX, kept by all that makes models, and drawn by nothing."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from fbx_writer import FORMS, Fbx
from hiding import hiding, packed, sections_of

import skinpy
from skinpy.__main__ import main

# ---- reading ------------------------------------------------------------------------------------------


def shown(model: skinpy.Model) -> dict[str, bool]:
    """Whether the submesh of each node is visible, by the name of the node."""
    return {model.skeleton.names[one.node]: one.visible for one in model.mesh.submeshes}


def loaded(file: Fbx, form: str) -> dict[str, bool]:
    for number, (kind, _, _) in enumerate(list(file.objects), 1):
        if kind == "Model":
            file.triangle(number)
    return shown(file.load(form))


@pytest.mark.parametrize("form", FORMS)
def test_visibility_hides_a_model_and_what_is_below(form: str) -> None:
    file = Fbx()
    parent = file.model("parent", kind="Mesh")
    hidden = file.model("hidden", parent, kind="Mesh", Visibility=0.0)
    below = file.model("below", hidden, kind="Mesh")
    file.model("visible below", below, kind="Mesh", Visibility=1.0)
    file.model("beside", parent, kind="Mesh", Visibility=1.0)
    assert loaded(file, form) == {
        "parent": True,
        "hidden": False,
        "below": False,
        "visible below": False,
        "beside": True,
    }


@pytest.mark.parametrize("form", FORMS)
def test_a_model_may_be_visible_below_a_hidden_one(form: str) -> None:
    file = Fbx()
    hidden = file.model("hidden", kind="Mesh", Visibility=0.0)
    apart = file.model("apart", hidden, kind="Mesh", Visibility_Inheritance=0)
    file.model("below apart", apart, kind="Mesh")
    file.model("hidden itself", hidden, kind="Mesh", Visibility=0.0, Visibility_Inheritance=0)
    file.model("inherits", hidden, kind="Mesh", Visibility_Inheritance=1)
    assert loaded(file, form) == {
        "hidden": False,
        "apart": True,
        "below apart": True,
        "hidden itself": False,
        "inherits": False,
    }


def test_show_hides_one_model_alone() -> None:
    file = Fbx()
    unshown = file.model("unshown", kind="Mesh", Show=0)
    file.model("below", unshown, kind="Mesh")
    assert loaded(file, "binary") == {"unshown": False, "below": True}


def test_a_hidden_mesh_is_posed_and_nothing_is_lost() -> None:
    file = Fbx()
    file.triangle(file.model("hidden", kind="Mesh", Visibility=0.0, Lcl_Translation=(0.0, 5.0, 0.0)))
    file.triangle(file.model("shown", kind="Mesh"))
    model = file.load()
    assert len(model.mesh.positions) == 6 and not model.report.lost
    assert model.deform(model.pose())[0][:, 1].tolist() == [5, 5, 6, 0, 0, 1]


# ---- keeping ------------------------------------------------------------------------------------------


def hidden_chair() -> skinpy.Model:
    chair = skinpy.chair()
    assert len(chair.mesh.submeshes) > 2 and all(one.visible for one in chair.mesh.submeshes)
    return hiding(chair, [1])


def test_models_from_arrays_are_visible() -> None:
    model = skinpy.Model.from_arrays(
        ["root"], [-1], np.eye(4)[None],
        positions=np.eye(3), faces=[[0, 1, 2]], joints=np.zeros((3, 1), int), weights=np.ones((3, 1)),
    )  # fmt: skip
    assert [one.visible for one in model.mesh.submeshes] == [True]


def test_hidden_submeshes_stay_hidden(tmp_path: Path) -> None:
    model = hidden_chair()
    visible = [one.visible for one in model.mesh.submeshes]
    assert visible.count(False) == 1
    model.save(tmp_path / "chair.skn")
    for again in (skinpy.load(tmp_path / "chair.skn"), pickle.loads(pickle.dumps(model)), model.as_rigid()):
        assert [one.visible for one in again.mesh.submeshes] == visible


def test_all_pieces_of_a_hidden_submesh_are_hidden() -> None:
    model = skinpy.character()
    (source,) = {one.name for one in model.mesh.submeshes[:1]}
    pieces = hiding(model, [0]).as_rigid().mesh.submeshes
    assert {one.visible for one in pieces if one.name.startswith(f"{source}/")} == {False}
    assert {one.visible for one in pieces if not one.name.startswith(f"{source}/")} == {True}


def test_vertex_animations_have_all_vertices() -> None:
    model = hidden_chair()
    baked = skinpy.kinds.bake_vertices(model, 0, 5)
    assert baked.model is model and baked.frames.shape[1] == len(model.mesh.positions)


def test_gltf_has_them_as_visible_ones(tmp_path: Path) -> None:
    model = hidden_chair()
    name = model.mesh.submeshes[1].name
    with pytest.warns(skinpy.SkinpyWarning, match=f"hidden submeshes; 1 .* the first is '{name}'"):
        model.save(tmp_path / "chair.glb")
    again = skinpy.load(tmp_path / "chair.glb")
    assert (again.mesh.positions == model.mesh.positions).all()
    assert all(one.visible for one in again.mesh.submeshes)


def test_files_of_the_version_before_are_refused() -> None:
    data = bytearray(memoryview(skinpy.chair()._block))
    data[8] = 4
    with pytest.raises(skinpy.LoadError, match="the block has version 4; this build reads version 5"):
        skinpy.load(bytes(data), format="skn")


def test_unknown_flags_are_refused() -> None:
    sections = sections_of(skinpy.chair())
    sections["SUBMESHES"]["flags"][2] = 2
    with pytest.raises(skinpy.LoadError, match="submesh 2 has unknown flags 0x2"):
        packed(sections)


def test_info_counts_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = hidden_chair()
    model.save(tmp_path / "hidden.skn")
    skinpy.chair().save(tmp_path / "visible.skn")
    assert main(["info", str(tmp_path / "hidden.skn")]) == 0
    assert f"{len(model.mesh.submeshes)} submeshes (1 hidden), " in capsys.readouterr().out
    assert main(["info", str(tmp_path / "visible.skn")]) == 0
    assert f"{len(model.mesh.submeshes)} submeshes, " in capsys.readouterr().out
    assert main(["info", "--json", str(tmp_path / "hidden.skn")]) == 0
    assert json.loads(capsys.readouterr().out)["hidden_submeshes"] == 1
