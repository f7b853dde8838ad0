"""Hidden submeshes: read from FBX, kept by all that makes models, and drawn by nothing."""

from __future__ import annotations

import pytest
from test_import_fbx import FORMS, Fbx

import skinpy

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
