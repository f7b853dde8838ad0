"""No way of drawing shows hidden submeshes: pictures are those of the model without these submeshes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fbx_writer import Fbx
from hiding import hiding, packed, sections_of, without

import skinpy
from skinpy.kinds import bake_vertices

pytest.importorskip("moderngl", reason="moderngl (the extra `view`) draws the pictures")
pytest.importorskip("PIL", reason="Pillow (the extra `view`) reads textures")

from test_page import content_of, unpacked

from skinpy.render import Crowd, Overlays, Renderer, grid, ground_velocity
from skinpy.view import make_page

SIZE = (96, 72)
GONE = ("Head", "Antenna", "LeftFoot", "LeftToe", "RightFoot", "RightToe", "Chest")


def pair(blended: bool = False) -> tuple[skinpy.Model, skinpy.Model]:
    """A character with hidden submeshes, the highest and the lowest among them, and one without these."""
    model = skinpy.character().as_rigid()
    numbers = [
        number for number, one in enumerate(model.mesh.submeshes) if one.name.rpartition("/")[2] in GONE
    ]
    assert len(numbers) == len(GONE)
    if blended:
        sections = sections_of(model)
        sections["MATERIALS"]["alpha"] = 2
        sections["MATERIALS"]["base_color"][:, 3] = 0.4
        model = packed(sections)
    return hiding(model, numbers), without(model, numbers)


def frames(model: skinpy.Model, *arguments: Any, floor: bool = False, **options: Any) -> Any:
    with Renderer(model, size=SIZE, floor=floor) as renderer:
        return renderer.frame(*arguments, **options)


# ---- measures -----------------------------------------------------------------------------------------


def test_bounds_are_those_of_what_is_drawn() -> None:
    hidden, bare = pair()
    assert (hidden.bounds() == bare.bounds()).all() and (hidden.bounds("run") == bare.bounds("run")).all()
    assert np.ptp(hidden.bounds()[:, 1]) < 0.9 * np.ptp(skinpy.character().bounds()[:, 1])
    assert len(hidden.mesh.positions) == len(hidden.deform(hidden.pose())[0]) > len(bare.mesh.positions)


def test_the_floor_moves_as_what_is_drawn() -> None:
    hidden, bare = pair()
    assert (ground_velocity(hidden, "walk") == ground_velocity(bare, "walk")).all()


# ---- pictures -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("opengl")
@pytest.mark.parametrize("blended", [False, True])
def test_pictures_with_a_floor_and_a_shadow(blended: bool) -> None:
    hidden, bare = pair(blended)
    picture = frames(hidden, "walk", 0.3, floor=True)
    assert (picture == frames(bare, "walk", 0.3, floor=True)).all()
    assert (picture != frames(skinpy.character().as_rigid(), "walk", 0.3, floor=True)).any()


@pytest.mark.usefixtures("opengl")
def test_a_hidden_model_of_an_fbx_file() -> None:
    pictures = []
    for others in ((), (0.0,), (1.0,)):
        file = Fbx()
        file.triangle(file.model("shown", kind="Mesh"))
        for visibility in others:
            place = (1.5, 0.0, 0.5)
            file.triangle(file.model("other", kind="Mesh", Lcl_Translation=place, Visibility=visibility))
        pictures.append(frames(file.load("binary"), floor=True))
    assert (pictures[0] == pictures[1]).all() and (pictures[0] != pictures[2]).any()


@pytest.mark.usefixtures("opengl")
def test_stored_frames() -> None:
    pictures = [frames(model, bake_vertices(model, "walk", 10), 0.33, floor=True) for model in pair()]
    assert (pictures[0] == pictures[1]).all()


@pytest.mark.usefixtures("opengl")
@pytest.mark.parametrize("name", ["normals", "wireframe", "boxes", "influences", "onion", "rest"])
def test_overlays(name: str) -> None:
    chosen: Any = {name: 1 if name == "onion" else True}
    pictures = [frames(model, "walk", 0.3, overlays=Overlays(**chosen)) for model in pair()]
    assert (pictures[0] == pictures[1]).all()


@pytest.mark.usefixtures("opengl")
def test_ground_truth() -> None:
    hidden, bare = pair()
    found = []
    for model in (hidden, bare):
        with Renderer(model, size=SIZE) as renderer:
            layers = ("depth", "normal", "joint", "submesh", "face", "flow")
            found.append(renderer.render("walk", 0.3, aov=layers))
    for name in ("picture", "mask", "depth", "normal", "joint", "flow", "joints2d", "visible"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))
    seen = np.unique(found[0].submesh)
    assert len(seen) > 5 and all(hidden.mesh.submeshes[number].visible for number in seen if number >= 0)
    rows = [model.mesh.positions[model.mesh.faces[truth.face[truth.face >= 0]]]
            for model, truth in zip((hidden, bare), found, strict=True)]  # fmt: skip
    np.testing.assert_array_equal(rows[0], rows[1])


@pytest.mark.usefixtures("opengl")
def test_crowds() -> None:
    pictures = []
    for model in pair():
        with Crowd(model, grid(model, 4), size=SIZE, floor=True) as crowd:
            pictures.append(crowd.frame(0, np.linspace(0, 1, 4)))
    assert (pictures[0] == pictures[1]).all()


@pytest.mark.usefixtures("opengl")
def test_nothing_is_drawn_where_all_is_hidden() -> None:
    whole = skinpy.crane()
    model = hiding(whole, range(len(whole.mesh.submeshes)))
    assert (model.bounds() == whole.bounds()).all()
    for overlays in (None, Overlays(normals=True), Overlays(wireframe=True)):
        assert not frames(model, 0, 0.3, overlays=overlays).any()
    with Renderer(model, size=SIZE) as renderer:
        assert (renderer.render(0, 0.3, aov="face").face == -1).all()
    assert content_of(make_page(model))["mesh"]["draws"] == []


# ---- pages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [False, True])
def test_pages(many: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if many:
        monkeypatch.setattr("skinpy.view.page.boxes._MAX_POINTS", 0)
    hidden, bare = pair()
    first, second = (content_of(make_page(model, fps=10)) for model in (hidden, bare))
    positions = [unpacked(one["mesh"]["streams"]["position"])[unpacked(one["mesh"]["faces"])]
                 for one in (first, second)]  # fmt: skip
    np.testing.assert_array_equal(positions[0], positions[1])
    assert first["mesh"]["draws"] == second["mesh"]["draws"] and first["size"] == second["size"]
    for a, b in zip(first["clips"], second["clips"], strict=True):
        np.testing.assert_array_equal(unpacked(a["boxes"]), unpacked(b["boxes"]))
        assert a["extent"] == b["extent"] and a["floor"] == b["floor"]
