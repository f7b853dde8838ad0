"""The camera: numbers only, no OpenGL."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("moderngl", reason="moderngl (the extra `view`) is needed to import skinpy.render")

from skinpy.render import Camera

BOX = np.array([[-1.0, 0.0, -0.5], [1.0, 3.0, 0.5]])

BAD = [
    ("bounds", lambda: Camera.frame(BOX[0])),
    ("up", lambda: Camera.frame(BOX, up="y")),
    ("fov", lambda: Camera.frame(BOX, fov=0)),
    ("fov", lambda: Camera.look_at((0, 0, 1), fov=171)),
    ("aspect", lambda: Camera.frame(BOX, aspect=0)),
    ("aspect", lambda: Camera.frame(BOX, aspect=math.nan)),
    ("elevation", lambda: Camera.frame(BOX, elevation=91)),
    ("margin", lambda: Camera.frame(BOX, margin=0.5)),
    ("eye", lambda: Camera.look_at((0, 0))),
    ("eye", lambda: Camera.look_at((0, math.nan, 0))),
    ("eye and target", lambda: Camera.look_at((1, 2, 3), (1, 2, 3))),
    ("target", lambda: Camera.look_at((0, 0, 1), "x")),
    ("near", lambda: Camera((0, 0, 1), (0, 0, 0), near=2, far=1)),
]


@pytest.mark.parametrize(("name", "make"), BAD)
def test_bad_arguments(name: str, make: Any) -> None:
    with pytest.raises(ValueError, match=name):
        make()


def project(camera: Camera, points: Any, aspect: float) -> Any:
    """Normalized device coordinates, (N, 3)."""
    points = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    clip = points @ (camera.projection(aspect) @ camera.view()).T
    assert (clip[:, 3] > 0).all()
    return clip[:, :3] / clip[:, 3:]


def corners(box: Any) -> Any:
    return np.stack(np.meshgrid(*np.asarray(box, float).T, indexing="ij"), -1).reshape(-1, 3)


@pytest.mark.parametrize("up", ["+Y", "-Y", "+Z", "-Z", "+X", "-X"])
@pytest.mark.parametrize("aspect", [0.3, 1.0, 4 / 3, 5.0])
@pytest.mark.parametrize("angles", [(30, 12), (-120, -60), (0, 90), (200, -90)])
def test_a_frame_holds_the_box_tightly(up: str, aspect: float, angles: Any) -> None:
    camera = Camera.frame(
        BOX, up=up, aspect=aspect, azimuth=angles[0], elevation=angles[1], fov=50, margin=0.1
    )
    seen = project(camera, corners(BOX), aspect)
    extent = np.abs(seen[:, :2]).max(axis=0)
    assert (extent <= 0.8 + 1e-9).all()
    assert extent.max() == pytest.approx(0.8)  # the tighter pair of sides touches, on both sides
    tight = int(extent.argmax())
    assert seen[:, tight].min() == pytest.approx(-0.8)
    assert (np.abs(seen[:, 2]) < 1).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_frame_does_not_care_about_the_unit(scale: float) -> None:
    seen = project(Camera.frame(BOX * scale), corners(BOX * scale), 4 / 3)
    assert np.abs(seen - project(Camera.frame(BOX), corners(BOX), 4 / 3)).max() < 1e-6


@pytest.mark.parametrize("box", [[[1, 2, 3], [1, 2, 3]], [[np.nan] * 3] * 2, [[np.inf] * 3, [-np.inf] * 3]])
def test_nothing_to_frame_is_no_error(box: Any) -> None:
    camera = Camera.frame(box)
    assert np.isfinite(camera.view()).all()
    assert np.isfinite(camera.projection(1)).all()


def test_front_and_angles() -> None:
    """The front is +Z, or -Y where up is Z; a growing azimuth moves the eye to the model's left."""
    center = BOX.mean(axis=0)

    def direction(**options: Any) -> Any:
        camera = Camera.frame(BOX, **options)
        return camera.axes()[2]

    assert np.allclose(direction(azimuth=0, elevation=0), (0, 0, 1))
    assert np.allclose(direction(azimuth=90, elevation=0), (1, 0, 0))
    assert np.allclose(direction(azimuth=0, elevation=90), (0, 1, 0))
    assert np.allclose(direction(azimuth=0, elevation=0, up="+Z"), (0, -1, 0))
    assert np.allclose(direction(azimuth=90, elevation=0, up="+Z"), (1, 0, 0))
    camera = Camera.frame(BOX, azimuth=0, elevation=0)
    assert np.allclose(camera.target[:2], center[:2])


def test_view_and_projection_of_a_known_camera() -> None:
    camera = Camera.look_at((0, 0, 5), (0, 0, 0), fov=90)
    assert np.allclose(camera.view() @ (1, 2, 3, 1), (1, 2, -2, 1))
    seen = project(camera, np.array([[5.0, 0, 0], [0, 5.0, 0]]), 1.0)
    assert np.allclose(seen[:, :2], [[1, 0], [0, 1]])


def test_looking_along_the_up_axis() -> None:
    camera = Camera.look_at((0, 5, 0), (0, 0, 0))
    axes = np.array(camera.axes())
    assert np.allclose(axes @ axes.T, np.eye(3))
    assert np.linalg.det(axes) == pytest.approx(1)
