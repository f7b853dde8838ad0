"""Overlays: each is read back from pixels and compared with numbers computed without OpenGL."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import Gltf

import skinpy

pytest.importorskip("moderngl", reason="moderngl (the extra `view`) draws the pictures")

from skinpy.__main__ import main
from skinpy.render import Camera, Floor, Overlays, Renderer, available_overlays, render
from skinpy.render.overlays.glyphs import make_glyphs
from skinpy.render.overlays.names import NameLayout
from skinpy.render.overlays.scale import scale_colors
from skinpy.render.scene.view import View

SIZE = (240, 320)


pytestmark = pytest.mark.usefixtures("opengl")


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
    """The pixels (N, 4) at positions (N, 2)."""
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
        ("onion", "onion needs a value; expected onion=N"),
        ("onion=two", "onion is 'two'; expected onion=N"),
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
            alone = apart.min(axis=1) > 8  # the dot of no other joint covers it
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
    with pytest.raises(ValueError, match="a palette does not have the positions of joints"):
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


# ------------------------------------------------------------------------------------------------ surface

# Seen from +Z, 2 units high and wide.
FRONT = Camera.look_at((0, 0, 10), fov=2 * np.degrees(np.arctan(0.1)))


def band() -> Any:
    """A band from x = -0.9 to 0.9 that faces +Z; the weight of "b" grows from 0 at its left to 1."""
    x = np.linspace(-0.9, 0.9, 13)
    positions = np.concatenate([np.stack([x, np.full(13, y), np.zeros(13)], axis=1) for y in (-0.5, 0.5)])
    left = np.arange(12)
    faces = np.concatenate(
        [np.stack([left, left + 1, left + 14], axis=1), np.stack([left, left + 14, left + 13], axis=1)]
    )
    share = np.tile(np.linspace(0, 1, 13), 2)
    return skinpy.Model.from_arrays(
        ["a", "b"],
        [-1, 0],
        np.tile(np.eye(4), (2, 1, 1)),
        positions=positions,
        faces=faces,
        joints=np.tile([0, 1], (26, 1)),
        weights=np.stack([1 - share, share], axis=1),
        normals=np.tile([0.0, 0.0, 1.0], (26, 1)),
    )


def encoded(linear: Any) -> np.ndarray:
    """sRGB from 0 to 255 of linear light."""
    linear = np.asarray(linear, np.float64)
    return 255 * np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def decoded(srgb: Any) -> np.ndarray:
    """Linear light of sRGB from 0 to 255."""
    srgb = np.asarray(srgb, np.float64) / 255
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def lightness(linear: Any) -> np.ndarray:
    """CIE L* of linear sRGB: perceived lightness, by another standard than that of the scale."""
    luminance = np.asarray(linear) @ (0.2126, 0.7152, 0.0722)
    return np.where(luminance > 0.008856, 116 * np.cbrt(luminance) - 16, 903.3 * luminance)


def test_the_scale_is_ordered_for_the_eye() -> None:
    values = np.linspace(0, 1, 101)
    colors = scale_colors(values)
    assert ((colors >= 0) & (colors <= 1)).all()
    steps = np.diff(lightness(colors))
    assert steps.min() > 0
    assert steps.max() < 2.0 * steps.min()  # even by a measure other than the one that made the scale
    assert lightness(colors)[-1] - lightness(colors)[0] > 60


@pytest.mark.parametrize("joint", ["b", 1, "1"])
def test_weights_are_seen_in_the_colors_of_the_scale(joint: str | int) -> None:
    size = (200, 200)
    picture = render(band(), camera=FRONT, size=size, overlays=Overlays(weights=joint))
    x = np.linspace(-0.85, 0.85, 40)
    weight = (x + 0.9) / 1.8
    seen = at(picture, pixels_of(np.stack([x, 0 * x, 0 * x], axis=1), FRONT, size))
    assert (seen[:, 3] == 255).all()
    assert np.abs(seen[:, :3] - encoded(scale_colors(weight))).max() < 8  # a pixel is 1/180 of the scale
    assert (np.diff(lightness(decoded(seen[:, :3]))) > 0).all()


def test_what_a_joint_does_not_move_is_gray() -> None:
    model = skinpy.character()
    hand = model.skeleton.index("LeftHand")
    slots = np.flatnonzero(model.skin.joints == hand)
    weights = (model.mesh.weights * np.isin(model.mesh.slots, slots)).sum(axis=1)
    with Renderer(model, size=(400, 500)) as renderer:
        camera = renderer.camera("wave")
        picture = renderer.frame("wave", 0.2, camera=camera, overlays=Overlays(weights="LeftHand"))
    colorful = np.ptp(picture[..., :3].astype(int), axis=2) > 40
    positions = model.deform(model.pose("wave", 0.2))[0]
    near = pixels_of(positions[weights > 0.02], camera, (400, 500))
    rows, columns = np.nonzero(colorful)
    away = np.linalg.norm(np.stack([columns, rows], axis=1)[:, None] + 0.5 - near[None], axis=2).min(axis=1)
    assert colorful.sum() > 200
    assert away.max() < 12  # the faces between a moved vertex and one that is not


def test_influences_are_counted() -> None:
    size = (200, 200)
    picture = render(band(), camera=FRONT, size=size, overlays=Overlays(influences=True))
    places = pixels_of([[-0.9, 0, 0], [-0.2, 0, 0], [0.5, 0, 0], [0.9, 0, 0]], FRONT, size)
    places += [[1, 0], [0, 0], [0, 0], [-1, 0]]  # within the edge
    seen = at(picture, places)[:, :3]
    assert band().mesh.slots.shape[1] == 2  # no vertex can have more here
    assert np.abs(seen[1:3] - encoded(scale_colors(1.0))).max() < 4
    assert np.abs(seen[[0, 3]] - encoded(scale_colors(1 / 15))).max() < 25  # between this vertex and the next


def test_edges_are_drawn_over_a_colored_surface() -> None:
    with Renderer(band(), size=(200, 200)) as renderer:
        plain, edges = (
            renderer.frame(camera=FRONT, overlays=Overlays(influences=True, wireframe=on)).astype(int)
            for on in (False, True)
        )
    darker = (plain - edges)[..., :3].max(axis=2)
    middle = pixels_of([[0.0, 0.2, 0.0]], FRONT, (200, 200))  # on an edge
    assert at(darker[..., None], middle - [[0.5, 0]])[0] > 10
    assert at(darker[..., None], middle + [[4, 0]])[0] == 0
    assert (edges[..., 3] == plain[..., 3]).mean() > 0.98  # the edge of the band has a soft rim


# ------------------------------------------------------------------------------------------------ ghosts


def test_the_rest_pose_is_a_ghost_behind_the_model() -> None:
    model = skinpy.character()
    with Renderer(model, size=SIZE) as renderer:
        camera = Camera.frame(
            np.stack([model.bounds("run").min(axis=0) - 0.3, model.bounds().max(axis=0) + 0.3])
        )
        posed = renderer.frame("run", 0.2, camera=camera)
        rest = renderer.frame(pose=model.pose(), camera=camera)
        both = renderer.frame("run", 0.2, camera=camera, overlays=Overlays(rest=True))
    solid = posed[..., 3] == 255
    assert (both[solid] == posed[solid]).all()
    ghost = (rest[..., 3] == 255) & (posed[..., 3] == 0)
    assert ghost.sum() > 300
    assert both[ghost][:, 3].min() > 60
    assert np.quantile(both[ghost][:, 3], 0.98) < 230
    assert (both[(rest[..., 3] == 0) & (posed[..., 3] == 0)] > 0).any(axis=1).sum() < 5


def test_onion_skin_shows_the_clip_before_and_after() -> None:
    model = skinpy.character()
    onion = Overlays(onion=1, onion_step=0.15)
    with Renderer(model, size=SIZE) as renderer:
        camera = renderer.camera("run")
        now, before, after = (renderer.frame("run", t, camera=camera)[..., 3] for t in (0.3, 0.15, 0.45))
        both = renderer.frame("run", 0.3, camera=camera, overlays=onion)
        once = renderer.frame("run", 0.0, camera=camera, loop="once", overlays=onion)
        start = renderer.frame("run", 0.0, camera=camera)
    alone = (now == 0) & (before == 255) & (after == 0), (now == 0) & (before == 0) & (after == 255)
    blue, orange = (both[part].astype(int) for part in alone)
    assert min(len(blue), len(orange)) > 200
    assert (blue[:, 2] > blue[:, 0]).all()
    assert (orange[:, 0] > orange[:, 2]).all()
    assert min(blue[:, 3].min(), orange[:, 3].min()) > 60
    assert (both[(now == 0) & (before == 0) & (after == 0)] > 0).any(axis=1).sum() < 5
    only_after = once[start[..., 3] == 0]
    assert (only_after[:, 0] >= only_after[:, 2]).all()  # nothing was before the start


def test_what_stands_still_has_no_onion_skin() -> None:
    model = band()
    plain = render(model, camera=FRONT, size=(80, 80))
    assert (render(model, camera=FRONT, size=(80, 80), overlays=Overlays(onion=3)) == plain).all()


# ------------------------------------------------------------------------------------------------ marks


def is_near(colors: np.ndarray, wanted: tuple[int, int, int], most: int = 60) -> np.ndarray:
    """Which of the pixels (N, 4) have about that color."""
    return np.abs(colors[:, :3] - wanted).max(axis=1) < most


def test_a_trajectory_goes_through_the_places_of_its_joint() -> None:
    model = skinpy.character()
    with Renderer(model, size=(480, 640)) as renderer:
        camera = renderer.camera("run")
        picture = renderer.frame("run", 0.1, camera=camera, overlays=Overlays(trajectories="LeftFoot"))
        plain = renderer.frame("run", 0.1, camera=camera)
    times = np.linspace(0, model.clips["run"].duration, 57)
    joints = model.joint_positions("run", times)[:, model.skeleton.index("LeftFoot")]
    colors = at(picture, pixels_of(joints, camera, (480, 640)))
    magenta, white = is_near(colors, (217, 70, 196)), (colors == 255).all(axis=1)
    assert (magenta | white).all()
    assert 1 <= white.sum() < 8  # where the joint is now
    changed = np.argwhere((picture != plain).any(axis=2))[:, ::-1] + 0.5
    dense = model.joint_positions("run", np.linspace(0, model.clips["run"].duration, 500))
    way = pixels_of(dense[:, model.skeleton.index("LeftFoot")], camera, (480, 640))
    assert np.linalg.norm(changed[:, None] - way, axis=2).min(axis=1).max() < 7


def test_a_clip_of_no_duration_has_a_trajectory_of_one_dot() -> None:
    model = skinpy.character()
    still = skinpy.Clip.from_arrays(
        "still", times=[0.0], joints=["Head"], rotation=np.array([[[0.0, 0.0, 0.0, 1.0]]])
    )
    model = model.add_clips(still)
    camera = Camera.frame(model.bounds(), aspect=0.75)
    picture = render(
        model, "still", 0.0, SIZE, camera=camera, overlays=Overlays(trajectories="Head", onion=1)
    )
    head = model.joint_positions("still", 0.0)[[model.skeleton.index("Head")]]
    assert (at(picture, pixels_of(head, camera, SIZE)) == 255).all()


def test_root_moves_what_overlays_draw() -> None:
    model = skinpy.character()
    root = np.eye(4)
    root[:3, 3] = 0.5, 0.25, 0.0
    shown = Overlays(skeleton=True, trajectories="LeftHand", boxes=True, axes=True, rest=True, onion=1)
    camera = Camera.look_at((0.0, 1.0, 6.0), (0.0, 1.0, 0.0))
    moved = Camera.look_at((0.5, 1.25, 6.0), (0.5, 1.25, 0.0))
    with Renderer(model, size=SIZE) as renderer:
        still = renderer.frame("walk", 0.2, camera=camera, overlays=shown).astype(int)
        there = renderer.frame("walk", 0.2, camera=moved, root=root, overlays=shown).astype(int)
    assert np.abs(still - there).mean() < 0.3


def test_axes_are_red_green_and_blue() -> None:
    file = Gltf()
    half = np.sqrt(0.5)
    file.node("tip", file.node("root", r=(0, 0, half, half)), t=(0.0, 1.0, 0.0))
    model = load(file)
    camera = Camera.look_at((0.3, 0.2, 8.0), (-0.5, 0, 0), fov=12)
    picture = render(model, camera=camera, size=(600, 600), overlays=Overlays(axes=True))
    length = 0.04  # shorter than the axes are
    ends = length * model.globals(None)[0, :3, :3].T
    assert np.allclose(ends[0], (0, length, 0), atol=1e-6)  # x points up
    colors = at(picture, pixels_of(ends, camera, (600, 600)))
    assert is_near(colors[:1], (242, 69, 61)).all()
    assert is_near(colors[1:2], (63, 191, 74)).all()


def test_boxes_stand_around_the_pose() -> None:
    model = skinpy.character()
    size = (480, 640)
    box = model.deform(model.pose("wave", 0.4))[0]
    low, high = box.min(axis=0), box.max(axis=0)
    camera = Camera.frame(np.stack([low - 0.2, high + 0.2]), aspect=0.75)
    picture = render(model, "wave", 0.4, size, camera=camera, overlays=Overlays(boxes=True))
    corners = np.array(
        [[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    )
    edges = [
        (i, j) for i in range(8) for j in range(i) if (np.abs(corners[i] - corners[j]) > 1e-6).sum() == 1
    ]
    assert len(edges) == 12
    shares = np.linspace(0.1, 0.9, 9)[:, None, None]
    starts, ends = (corners[list(side)] for side in zip(*edges, strict=True))
    colors = at(picture, pixels_of((starts + shares * (ends - starts)).reshape(-1, 3), camera, size))
    assert is_near(colors, (15, 157, 143), 40).mean() > 0.85  # the model hides some


def test_normals_stand_on_the_vertices() -> None:
    model = skinpy.character()
    size = (480, 640)
    with Renderer(model, size=size) as renderer:
        camera = renderer.camera("walk")
        plain = renderer.frame("walk", 0.2, camera=camera)
        picture = renderer.frame("walk", 0.2, camera=camera, overlays=Overlays(normals=True))
    positions, normals = model.deform(model.pose("walk", 0.2))
    reach = 0.02 * float(np.ptp(model.bounds(), axis=0).max())  # within the lines
    places = pixels_of(positions + reach * normals, camera, size)
    outside = at(plain, places)[:, 3] == 0
    assert outside.sum() > 100
    assert (at(picture, places)[outside][:, 3] > 40).mean() > 0.9


# ------------------------------------------------------------------------------------------------ names


def test_names_stand_apart_inside_the_picture() -> None:
    pytest.importorskip("PIL.Image", reason="Pillow draws the letters")
    model = skinpy.character()
    places = NameLayout(model.skeleton.names, model.skeleton.parents)
    shown = []
    for time in np.linspace(0, 1, 5):
        with Renderer(model, size=SIZE) as renderer:
            view = View(renderer.camera("walk"), SIZE[0] / SIZE[1], np.array([0.0, 1.0, 0.0]))
        letters = places.letters(model.joint_positions("walk", time), view, SIZE)
        lines = np.split(
            letters, np.flatnonzero(np.abs(np.diff(letters[:, 1])) + (np.diff(letters[:, 0]) < 0)) + 1
        )
        boxes = np.array([[*line[0, :2], line[-1, 0] + 4, line[0, 1] + line[0, 3]] for line in lines])
        assert (boxes[:, :2] >= 0).all()
        assert (boxes[:, 2:] <= SIZE).all()
        for number, box in enumerate(boxes):
            others = np.delete(boxes, number, axis=0)
            assert not ((others[:, :2] < box[2:]) & (others[:, 2:] > box[:2])).all(axis=1).any()
        shown.append(len(lines))
    assert min(shown) > 10


def test_a_name_is_written_as_pillow_writes_it() -> None:
    draw = pytest.importorskip("PIL.ImageDraw", reason="Pillow draws the letters")
    from PIL import Image, ImageFont

    file = Gltf()
    file.node("tip", file.node("Hippocampus"), t=(0.0, 5.0, 0.0))  # the tip is out of sight
    picture = render(load(file), camera=FRONT, size=(300, 60), overlays=Overlays(names=True))
    right = picture[:, 157:]  # of the joint, which is in the middle
    light = decoded(right[..., 1]) * right[..., 3] / 255
    image = Image.new("L", (200, 40))
    draw.Draw(image).text((5, 5), "Hippocampus", fill=255, font=ImageFont.load_default(12.0))
    ink = np.asarray(image) / 255
    rows, columns = np.nonzero(light > 0.5)
    wanted_rows, wanted_columns = np.nonzero(ink > 0.5)
    assert np.ptp(rows) == np.ptp(wanted_rows)
    assert abs(int(np.ptp(columns)) - int(np.ptp(wanted_columns))) <= 4  # letters stand on whole pixels
    assert 0.9 < light.sum() / ink.sum() < 1.1


@pytest.mark.parametrize(
    "name", ["", "  ", "Ж关节\u202e", "a\nb\t\x00", "x" * 500, b"\xff\xfe".decode("utf-8", "surrogateescape")]
)
def test_any_name_can_be_shown(name: str) -> None:
    pytest.importorskip("PIL.Image", reason="Pillow draws the letters")
    places = NameLayout([name], np.array([-1], np.int32))
    view = View(FRONT, 4.0, np.array([0.0, 1.0, 0.0]))
    letters = places.letters(np.zeros((1, 3)), view, (600, 150))
    assert len(letters) == (0 if not name.strip() else min(len(name), 40))


def test_names_bring_the_legend_of_a_colored_surface() -> None:
    pytest.importorskip("PIL.Image", reason="Pillow draws the letters")
    size = (240, 200)
    corner = (slice(size[1] - 45, None), slice(0, 140))
    weights, counts, plain, small = (
        render(band(), camera=FRONT, size=size, overlays=Overlays(names=True, **fields))
        for size, fields in (
            (size, {"weights": "b"}),
            (size, {"influences": True}),
            (size, {}),
            ((120, 60), {"influences": True}),
        )
    )
    assert not plain[corner][..., 3].any()
    assert not small[46:, :30, 3].any()
    row = size[1] - 10 - make_glyphs(frozenset(map(chr, range(32, 127)))).height // 2 - 1
    bar = weights[row, 26 : 26 + 96].astype(int)  # from the bar's start, after a 0 and two gaps
    expected = encoded(scale_colors((np.arange(96) + 0.5) / 96))
    assert (bar[:, 3] == 255).all()
    shift = min(np.abs(np.roll(bar, by, axis=0)[8:-8, :3] - expected[8:-8]).max() for by in range(-8, 9))
    assert shift < 12
    dots = counts[row, :140]
    for color in encoded(scale_colors([0.0, 1.0])):  # the band has two
        assert (np.abs(dots[:, :3] - color).max(axis=1) < 3).any()
    assert not (np.abs(dots[:, :3] - encoded(scale_colors(0.5))).max(axis=1) < 3).any()


def test_names_without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    make_glyphs.cache_clear()
    monkeypatch.setitem(sys.modules, "PIL", None)
    file = Gltf()
    file.node("tip", file.node("root"), t=(0.0, 1.0, 0.0))
    with pytest.raises(ImportError, match=r"writing names needs Pillow: pip install 'skinpy-anim\[view\]'"):
        render(load(file), overlays=Overlays(names=True))


# ------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("overlays", "error", "words"),
    [
        (Overlays(weights="Lefthand"), KeyError, "unknown joint 'Lefthand': did you mean 'LeftHand'"),
        (Overlays(trajectories=("Head", "Tail")), KeyError, "unknown joint 'Tail'"),
        (Overlays(weights=99), IndexError, "an overlay names joint 99; expected 0 to 25"),
        (Overlays(trajectories=-1), IndexError, "joint -1"),
    ],
)
def test_joints_that_are_not_there(overlays: Overlays, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        render(skinpy.character(), overlays=overlays)


def test_a_pose_has_no_other_times() -> None:
    model = skinpy.character()
    for overlays in (Overlays(onion=1), Overlays(trajectories="Head")):
        with pytest.raises(ValueError, match="a pose has no times before and after; draw a clip"):
            render(model, pose=model.pose(), overlays=overlays)
    assert render(
        model, pose=model.palette(0, 0.0), overlays=Overlays(weights=0, rest=True, boxes=True)
    ).any()


def test_which_overlays_have_something_to_show() -> None:
    model = skinpy.character()
    fields = {field.name for field in dataclasses.fields(Overlays)}
    assert available_overlays(model) == fields
    of_vertices = available_overlays(model, model.bake_vertices("walk", 10))
    assert fields - of_vertices == {"skeleton", "names", "axes", "weights", "influences", "trajectories"}
    file = Gltf()
    file.node("tip", file.node("root"), t=(0.0, 1.0, 0.0))
    assert fields - available_overlays(load(file)) == {"weights", "influences", "normals", "wireframe"}


def test_every_overlay_of_every_kind_is_drawn() -> None:
    file = Gltf()
    file.node("tip", file.node("root"), t=(0.0, 1.0, 0.0))
    skeleton, skinned = load(file), skinpy.character()
    baked = skinned.bake_vertices("walk", 10)
    face = morphing()
    values = {"weights": 0, "onion": 2, "trajectories": (0, 1), "onion_step": 0.05}
    for model, clip in ((skeleton, None), (skinned, "walk"), (skinned, baked), (face, None)):
        with Renderer(model, size=(60, 80), floor=Floor()) as renderer:
            names = available_overlays(model, clip)
            for name in names - {"onion_step"}:
                value = values.get(name, True)
                value = (0,) if name == "trajectories" and len(model.skeleton) < 2 else value
                assert renderer.frame(clip, 0.05, overlays=Overlays(**{name: value})).any()
            all_of_them = {name: values.get(name, True) for name in names - {"influences", "trajectories"}}
            assert renderer.frame(clip, 0.05, overlays=Overlays(**all_of_them)).any()


def morphing() -> Any:
    """A triangle with a morph target."""
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    return skinpy.Model.from_arrays(
        ["root"],
        [-1],
        np.eye(4)[None],
        positions=positions,
        faces=[[0, 1, 2]],
        joints=np.zeros((3, 1), int),
        weights=np.ones((3, 1)),
        targets={"up": positions * (0, 0.5, 0)},
    )


# ------------------------------------------------------------------------------------------------ files


def test_films_sheets_and_the_command_line_draw_overlays(tmp_path: Path) -> None:
    pytest.importorskip("PIL.Image", reason="Pillow writes the files")
    from PIL import Image

    from skinpy.output import sheet

    model = skinpy.character()
    overlays = Overlays(skeleton=True)
    plain = model.clips["wave"].save(tmp_path / "plain.png", size=(60, 80))
    drawn = model.clips["wave"].save(tmp_path / "drawn.png", size=(60, 80), overlays=overlays)
    assert Image.open(plain).tobytes() != Image.open(drawn).tobytes()
    film = model.clips["wave"].save(tmp_path / "film.apng", size=(30, 40), fps=4, overlays=overlays)
    with Image.open(film) as image:
        assert image.n_frames > 2
    sheets = [sheet(model, ["wave"], frames=2, size=(40, 60), overlays=shown) for shown in (None, overlays)]
    assert (sheets[0] != sheets[1]).any()
    model.save(tmp_path / "character.skn")
    words = ["render", str(tmp_path / "character.skn"), "--clip", "wave", "--size", "60x80", "-o"]
    assert main([*words, str(tmp_path / "line.png"), "--overlay", "skeleton"]) == 0
    assert Image.open(tmp_path / "line.png").tobytes() == Image.open(drawn).tobytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--overlay", "weights=Tail"], "unknown joint 'Tail'"),
    ],
)
def test_the_command_line_says_what_is_wrong(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("PIL.Image", reason="Pillow writes the files")
    skinpy.character().save(tmp_path / "character.skn")
    assert main(["render", str(tmp_path / "character.skn"), "-o", str(tmp_path / "x.png"), *words]) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "x.png").exists()
