"""The soft shadow: its area and darkness, from pixels of pictures with and without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from builders import Gltf

import skinpy

pytest.importorskip("moderngl", reason="moderngl (the extra `view`) draws the pictures")

from skinpy.render import Camera, Floor, Renderer, render

SIZE = (320, 240)


pytestmark = pytest.mark.usefixtures("opengl")


def on_ground(camera: Camera, height: float = 0.0) -> np.ndarray:
    """Where the pixels' middles look at the level y = height: (h, w, 3), NaN above the horizon."""
    back = np.subtract(camera.eye, camera.target)
    back /= np.linalg.norm(back)
    right = np.cross(camera.up, back)
    right /= np.linalg.norm(right)
    upward = np.cross(back, right)
    width, high = SIZE
    tangent = np.tan(np.radians(camera.fov) / 2)
    x = ((np.arange(width) + 0.5) / width * 2 - 1) * tangent * width / high
    y = (1 - (np.arange(high) + 0.5) / high * 2) * tangent
    rays = x[None, :, None] * right + y[:, None, None] * upward - back
    with np.errstate(divide="ignore", invalid="ignore"):
        far = (height - camera.eye[1]) / rays[..., 1]
    return np.asarray(np.where((far > 0)[..., None], camera.eye + far[..., None] * rays, np.nan))


def shades(model: Any, camera: Camera, *arguments: Any, floor: Any = None, **options: Any) -> np.ndarray:
    """How much darker each pixel is by the shadow, (h, w): 0 for not at all, 1 for black."""
    floor = floor or {"speed": None, "colors": ("#cccccc", "#cccccc"), "size": 30.0}
    lit, dark = (
        render(model, *arguments, size=SIZE, camera=camera, floor=Floor(**floor, shadow=strength), **options)
        for strength in (0.0, 0.7)
    )
    assert (lit[..., 3] == dark[..., 3]).all()
    before, after = (np.maximum(picture[..., :3].mean(axis=2), 1.0) for picture in (lit, dark))
    return 1 - after / before


def test_it_lies_under_the_feet_and_nowhere_far_away() -> None:
    model = skinpy.character()
    camera = Camera.look_at((2.0, 2.2, 3.0), (0.0, 0.4, 0.0), fov=38)
    dark = shades(model, camera, "walk", 0.25)
    low = model.bounds("walk")[0, 1]
    places = on_ground(camera, low)
    positions = model.deform(model.pose("walk", 0.25))[0].astype(np.float64)
    level = positions[:, [0, 2]]
    near_feet, near_all = (
        distances(places[..., [0, 2]], points) for points in (level[positions[:, 1] < low + 0.03], level[::8])
    )
    feet = (near_feet < 0.03) & (dark > 0)  # pixels of the ground there, not of the feet
    assert feet.sum() > 10
    assert np.median(dark[feet]) > 0.2
    assert dark.min() > -0.01  # nothing gets lighter
    assert np.abs(dark[~(near_all < 0.25)]).max() == 0.0
    assert dark[(near_all > 0.14)].max() < 0.03


def distances(places: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distances (h, w) from positions (h, w, 2) to the nearest of points (N, 2)."""
    nearest = np.full(places.shape[:2], np.inf)
    for point in points:
        nearest = np.fmin(nearest, ((places - point) ** 2).sum(axis=2))
    return np.sqrt(nearest)


def ball(height: float) -> Any:
    """A ball of radius 0.25 whose lowest point is so high."""
    polar, angle = np.meshgrid(np.linspace(0, np.pi, 13), np.linspace(0, 2 * np.pi, 24, endpoint=False))
    points = 0.25 * np.stack(
        [np.sin(polar) * np.cos(angle), np.cos(polar), np.sin(polar) * np.sin(angle)], -1
    )
    points = points.reshape(-1, 3)
    number = np.arange(len(points)).reshape(24, 13)
    a, b = number[:, :-1].ravel(), np.roll(number, -1, axis=0)[:, :-1].ravel()
    faces = np.concatenate([np.stack([a, b, a + 1], 1), np.stack([b, b + 1, a + 1], 1)])
    return skinpy.Model.from_arrays(
        ["root"],
        [-1],
        np.eye(4)[None],
        positions=points + (0, 0.25 + height, 0),
        faces=faces,
        joints=np.zeros((len(points), 1), int),
        weights=np.ones((len(points), 1)),
    )


ABOVE = Camera.look_at((0.0, 3.0, 2.5), (0.0, 0.0, 0.0), fov=30)
FLAT = {"speed": None, "colors": ("#cccccc", "#cccccc"), "size": 30.0, "height": 0.0, "tile": 1.0}


def test_it_fades_with_the_height() -> None:
    darkest, widths = [], []
    for height in (0.0, 0.02, 0.05, 0.12, 0.5, 3.0):
        dark = shades(ball(height), ABOVE, floor=FLAT)
        darkest.append(dark.max())
        widths.append((dark > 0.5 * dark.max()).sum())
    assert (np.diff(darkest) < 0).all()
    assert darkest[0] > 0.4
    assert darkest[-1] < 0.005
    assert widths[3] > widths[0]  # and gets softer


def test_its_middle_is_under_what_hovers() -> None:
    root = np.eye(4)
    for x, z in ((0.0, 0.0), (0.4, -0.3), (-0.5, 0.2)):
        root[[0, 2], 3] = x, z
        dark = shades(ball(0.15), ABOVE, floor=FLAT, root=root)
        places = on_ground(ABOVE)
        seen = dark > 0.02
        near = np.linalg.norm(places[seen][:, [0, 2]] - (x, z), axis=1)
        assert seen.sum() > 100
        assert near.max() < 0.4
        far = np.linalg.norm(places[..., [0, 2]] - (x, z), axis=2) > 0.4
        assert dark[far].max() < 0.02


def test_every_up_axis_has_it() -> None:
    model = skinpy.character()
    for up, turn in (("+Y", np.eye(3)), ("+Z", [[1, 0, 0], [0, 0, -1], [0, 1, 0]])):
        positions = model.mesh.positions @ np.transpose(turn)
        turned = skinpy.Model.from_arrays(
            ["root"],
            [-1],
            np.eye(4)[None],
            positions=positions,
            faces=model.mesh.faces,
            joints=np.zeros((len(positions), 1), int),
            weights=np.ones((len(positions), 1)),
        )
        assert turned.up == "+Y"  # a model from arrays has this default
        root = np.eye(4)
        root[:3, :3] = np.linalg.inv(turn)
        dark = shades(turned, Camera.look_at((2.0, 2.2, 3.0), (0.0, 0.4, 0.0)), root=root, pose=None)
        assert dark.max() > 0.2, up


def test_all_figures_have_it() -> None:
    model = skinpy.character()
    camera = Camera.look_at((2.0, 2.2, 3.0), (0.0, 0.4, 0.0), fov=38)
    clip = shades(model, camera, "walk", 0.25)
    low = float(model.bounds("walk")[0, 1])
    fixed = {"speed": None, "colors": ("#cccccc", "#cccccc"), "size": 30.0, "height": low}
    pose = shades(model, camera, pose=model.pose("walk", 0.25), floor=fixed)
    stored = shades(model, camera, model.bake_vertices("walk", 40), 0.25, floor=fixed)
    assert np.abs(clip - pose).max() < 0.02
    assert np.abs(clip - stored).mean() < 0.002
    file = Gltf()
    file.node("tip", file.node("root"), t=(0.0, 1.0, 0.0))
    skeleton = skinpy.load(file.glb(), format="glb")
    assert shades(skeleton, camera).max() > 0.05


def test_it_is_on_the_floor_alone() -> None:
    model = skinpy.character()
    below = Camera.look_at((2.0, -2.2, 3.0), (0.0, 0.4, 0.0), fov=38)
    assert np.abs(shades(model, below, "walk", 0.25)).max() == 0.0
    small = {"speed": None, "colors": ("#cccccc", "#cccccc"), "size": 0.2}
    camera = Camera.look_at((2.0, 2.2, 3.0), (0.0, 0.4, 0.0), fov=38)
    pictures = [
        render(model, "walk", 0.25, SIZE, camera=camera, floor=Floor(**small, shadow=s)) for s in (0.0, 1.0)
    ]
    alone = pictures[0][..., 3] == 0
    assert pictures[1][alone][:, 3].max() < 4


def test_pictures_without_floor_are_the_same_afterwards() -> None:
    model = skinpy.character()
    with Renderer(model, size=SIZE) as plain, Renderer(model, size=SIZE, floor=Floor()) as floored:
        before = plain.frame("walk", 0.2)
        with_floor = floored.frame("walk", 0.2)
        assert (plain.frame("walk", 0.2) == before).all()
        assert (floored.frame("walk", 0.2) == with_floor).all()


def test_a_frame_sends_its_palette_once() -> None:
    model = skinpy.character()
    with Renderer(model, size=SIZE, floor=Floor()) as renderer:
        renderer.frame("walk", 0.1)
        start = renderer.uploaded_bytes
        renderer.frame("walk", 0.2)
        assert renderer.uploaded_bytes - start == 48 * len(model.skin.joints)


@pytest.mark.parametrize("shadow", [-0.1, 1.5, float("nan"), "dark", None])
def test_wrong_values(shadow: Any) -> None:
    error = ValueError if isinstance(shadow, float) else TypeError
    with pytest.raises(error, match=r"shadow is .*; expected (0 to 1|a finite number|a number)$"):
        Floor(shadow=shadow)
