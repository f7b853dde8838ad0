"""Overlays: each against numbers worked out without OpenGL, read back from pixels."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from builders import Gltf

import skinpy
from skinpy.errors import GraphicsError

pytest.importorskip("moderngl", reason="moderngl (the extra `view`) draws the pictures")

from skinpy.render import Camera, Overlays, Renderer, render
from skinpy.render import context as gl

SIZE = (240, 320)


@pytest.fixture(autouse=True)
def opengl() -> Iterator[None]:
    """Skips where there is no OpenGL, but not in the full run; checks its error state afterwards."""
    try:
        gl.call(lambda context: None)
    except GraphicsError as error:
        if os.environ.get("SKINPY_CI") == "1":
            raise
        pytest.skip(str(error))
    yield
    assert gl.call(lambda context: context.error) == "GL_NO_ERROR"


def load(file: Gltf, **options: Any) -> Any:
    return skinpy.load(file.glb(), format="glb", **options)


def pixels_of(points: Any, camera: Camera, size: tuple[int, int]) -> np.ndarray:
    """Where points (N, 3) of scene space are seen: (N, 2), column and row of the picture, from its corner."""
    points = np.asarray(points, np.float64)
    back = np.subtract(camera.eye, camera.target)
    back /= np.linalg.norm(back)
    right = np.cross(camera.up, back)
    right /= np.linalg.norm(right)
    seen = (points - camera.eye) @ np.stack([right, np.cross(back, right), back]).T
    high = np.tan(np.radians(camera.fov) / 2) * -seen[:, 2]
    across, upwards = seen[:, 0] / (high * size[0] / size[1]), seen[:, 1] / high
    return np.stack([(across + 1) * size[0] / 2, (1 - upwards) * size[1] / 2], axis=1)


def at(picture: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The pixels (N, 4) at places (N, 2)."""
    column, row = np.floor(places).astype(int).T
    return picture[row, column].astype(int)


# ------------------------------------------------------------------------------------------------ values

BAD = [
    ({"skeleton": 1}, TypeError, "skeleton is 1; expected True or False"),
    ({"onion": -1}, ValueError, "onion is -1; expected 0 to 16"),
    ({"onion": 1.5}, TypeError, "onion is 1.5; expected a whole number"),
    ({"onion_step": 0}, ValueError, "onion_step is 0; expected seconds"),
    ({"weights": 1.5}, TypeError, "weights is 1.5; expected the name or number of a joint"),
    ({"trajectories": (None,)}, TypeError, "trajectories is None; expected the name or number"),
    ({"weights": 0, "influences": True}, ValueError, "expected one of them"),
]


@pytest.mark.parametrize(("fields", "error", "words"), BAD)
def test_wrong_values(fields: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Overlays(**fields)


def test_values_are_equal_hashable_and_false_when_nothing_is_drawn() -> None:
    assert Overlays(trajectories="Hand") == Overlays(trajectories=("Hand",))
    assert len({Overlays(weights=np.int64(3)), Overlays(weights=3)}) == 1
    assert not Overlays() and not Overlays(onion_step=0.5)
    assert all(Overlays(**{name: value}) for name, value in (("names", True), ("weights", 0), ("onion", 1)))


def test_words() -> None:
    words = ["skeleton", "boxes=on", "rest=off", "weights=Left=Hand", "onion=2", "onion_step=0.25"]
    words += ["trajectories=A,B", "trajectories=C"]
    assert Overlays.parse(words) == Overlays(
        skeleton=True, boxes=True, weights="Left=Hand", onion=2, onion_step=0.25, trajectories=("A,B", "C")
    )
    assert not Overlays.parse([])


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("bones", "overlay 'bones' is unknown; expected one of skeleton, names"),
        ("onion", "onion needs a value; expected onion=2"),
        ("onion=two", "onion is 'two'; expected onion=2"),
        ("weights=", "weights needs a value"),
        ("skeleton=maybe", "skeleton is 'maybe'; expected skeleton, skeleton=on"),
    ],
)
def test_wrong_words(word: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Overlays.parse([word])


def test_what_is_no_overlays() -> None:
    with pytest.raises(TypeError, match="overlays is dict; expected an Overlays, or None"):
        render(skinpy.character(), overlays={"skeleton": True})  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ lines


def test_joints_are_seen_where_numpy_projects_them() -> None:
    model = skinpy.character()
    with Renderer(model, size=SIZE) as renderer:
        camera = renderer.camera("run")
        for time in (0.0, 0.31):
            picture = renderer.frame("run", time, camera=camera, overlays=Overlays(skeleton=True))
            joints = model.joint_positions("run", time)
            places = pixels_of(joints, camera, SIZE)
            apart = np.linalg.norm(places[:, None] - places, axis=2) + 99 * np.eye(len(places))
            alone = apart.min(axis=1) > 8  # no other joint's dot lies over it
            assert alone.sum() > 10
            assert (at(picture, places[alone]) == 255).all()  # white, whatever the surface is
            children = np.flatnonzero(model.skeleton.parents >= 0)
            links = places[children] - places[model.skeleton.parents[children]]
            long = children[np.linalg.norm(links, axis=1) > 16]
            middles = (places[long] + places[model.skeleton.parents[long]]) / 2
            colors = at(picture, middles)
            assert len(long) > 8
            assert (np.abs(colors[:, :3] - (255, 194, 51)).max(axis=1) < 60).mean() > 0.8


def test_the_skeleton_has_the_same_width_at_every_size() -> None:
    model = skinpy.character()
    shares = []
    for size in ((150, 200), (600, 800)):
        plain = render(model, "walk", 0.2, size)
        drawn = render(model, "walk", 0.2, size, overlays=Overlays(skeleton=True))
        shares.append((plain != drawn).any(axis=2).sum() / size[1])
    assert 0.8 < shares[1] / shares[0] < 1.6  # lines four times as long, over four times as many rows


def test_a_line_that_begins_behind_the_eye_is_cut_off() -> None:
    file = Gltf()
    file.node("tip", file.node("root", t=(0.0, 0.0, 20.0)), t=(0.0, 0.0, -20.0))
    model = load(file)
    camera = Camera.look_at((0, 1, 10), (0, 0, 0))
    picture = render(model, camera=camera, size=SIZE, overlays=Overlays(skeleton=True))
    middle = pixels_of([[0, 0, 5.0]], camera, SIZE)
    assert picture[..., 3].any()
    assert np.abs(at(picture, middle)[0, :3] - (255, 194, 51)).max() < 60


def test_a_wireframe_is_transparent_between_its_edges() -> None:
    model = skinpy.character()
    with Renderer(model, size=(600, 800)) as renderer:
        camera = renderer.camera("wave")
        solid = renderer.frame("wave", 0.4, camera=camera)
        wires = renderer.frame("wave", 0.4, camera=camera, overlays=Overlays(wireframe=True))
    inside = solid[..., 3] == 255
    assert 0.2 < (wires[inside][:, 3] == 0).mean() < 0.9
    positions = model.deform(model.pose("wave", 0.4))[0]
    ends = positions[model.mesh.faces[:, :2]]
    places = pixels_of(ends.reshape(-1, 3), camera, (600, 800)).reshape(-1, 2, 2)
    towards = np.subtract(camera.eye, ends.mean(axis=1))
    normals = model.deform(model.pose("wave", 0.4))[1][model.mesh.faces[:, 0]]
    facing = (normals * towards).sum(axis=1) > 0.5 * np.linalg.norm(towards, axis=1)
    long = np.linalg.norm(np.ptp(places, axis=1), axis=1) > 6
    middles = places[facing & long].mean(axis=1)
    assert len(middles) > 100
    hidden = 0.25  # arms stand before the body
    assert (at(wires, middles)[:, 3] > 60).mean() > 1 - hidden


def test_a_picture_without_overlays_is_the_same_as_ever() -> None:
    model = skinpy.character()
    with Renderer(model, size=SIZE) as renderer:
        plain = renderer.frame("walk", 0.2)
        sent = renderer.uploaded_bytes
        renderer.frame("walk", 0.2, overlays=Overlays(skeleton=True, wireframe=True))
        between = renderer.uploaded_bytes
        again = renderer.frame("walk", 0.2, overlays=Overlays())
        assert renderer.uploaded_bytes - between < sent
    assert (plain == again).all()


# ------------------------------------------------------------------------------------------------ kinds


def test_what_has_no_joints_says_so() -> None:
    model = skinpy.character()
    animation = model.bake_vertices("walk", 10)
    with pytest.raises(
        ValueError, match=r"overlay skeleton has nothing to show: .*vertex animation.*no joints"
    ):
        render(model, animation, overlays=Overlays(skeleton=True))
    with pytest.raises(ValueError, match="a palette does not tell where the joints are"):
        render(model, pose=model.palette("walk", 0.0), overlays=Overlays(skeleton=True))


def test_what_has_no_mesh_says_so() -> None:
    file = Gltf()
    file.node("tip", file.node("root"), t=(0.0, 1.0, 0.0))
    with pytest.raises(ValueError, match="overlay wireframe has nothing to show: this model has no mesh"):
        render(load(file), overlays=Overlays(wireframe=True))


def test_a_pose_and_a_vertex_animation_have_overlays_too() -> None:
    model = skinpy.character()
    with Renderer(model, size=SIZE) as renderer:
        camera = renderer.camera("walk")
        skeleton = Overlays(skeleton=True, wireframe=True)
        clip = renderer.frame("walk", 0.3, camera=camera, overlays=skeleton)
        pose = renderer.frame(pose=model.pose("walk", 0.3), camera=camera, overlays=skeleton)
        assert np.abs(clip.astype(int) - pose).mean() < 0.1
        baked = model.bake_vertices("walk", 30)
        wires = Overlays(wireframe=True)
        stored = renderer.frame(baked, 0.3, camera=camera, overlays=wires).astype(int)
        skinned = renderer.frame("walk", 0.3, camera=camera, overlays=wires).astype(int)
        assert np.abs(stored - skinned).mean() < 1.0
