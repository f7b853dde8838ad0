"""The camera that a hand moves, against NumPy: what a drag or a step of the wheel must leave where it is."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("moderngl")

from skinpy.render import Camera
from skinpy.view import Orbit

ORBIT = Orbit((0.3, 1.0, -0.2), 4.0, azimuth=40.0, elevation=15.0, radius=1.2)
UPS = ["+Y", "-Y", "+Z", "-Z", "+X", "-X"]
FRONTS = {"Y": (0, 0, 1), "Z": (0, -1, 0), "X": (0, 0, 1)}


def seen(orbit: Orbit, point: object, aspect: float = 1.5) -> NDArray[np.float64]:
    """Where a point is in the picture: (across, upward) from the middle, in heights of the picture."""
    camera = orbit.camera()
    x, y, _, w = camera.projection(aspect) @ camera.view() @ np.append(np.asarray(point, float), 1.0)
    return np.array([x / w * aspect / 2, y / w / 2])


def in_target_plane(orbit: Orbit, across: float, upward: float) -> NDArray[np.float64]:
    """The point of the target's plane that is seen there."""
    camera = orbit.camera()
    right, up, back = camera.axes()
    tangent = math.tan(math.radians(camera.fov) / 2)
    ray = right * across * 2 * tangent + up * upward * 2 * tangent - back
    eye, target = np.array(camera.eye), np.array(camera.target)
    return eye + ray * ((target - eye) @ back) / (ray @ back)


@pytest.mark.parametrize("up", UPS)
def test_it_stands_where_camera_frame_stands(up: str) -> None:
    """The same angles, seen by the code that pictures have had all along."""
    framed = Camera.frame([[-1, -1, -1], [1, 1, 1]], up=up, azimuth=25, elevation=35)
    orbit = Orbit(framed.target, math.dist(framed.eye, framed.target), 25, 35, up)
    assert np.allclose(orbit.camera().eye, framed.eye)
    assert np.allclose(orbit.camera().axes(), framed.axes())


@pytest.mark.parametrize("up", UPS)
@pytest.mark.parametrize("angles", [(0, 0), (30, 12), (-170, -80), (95, 60), (20, 90), (-130, -90)])
def test_through_a_camera_and_back(up: str, angles: tuple[float, float]) -> None:
    orbit = Orbit((1.0, 2.0, 3.0), 5.0, *angles, up=up)
    again = Orbit.through(orbit.camera(), up=up, radius=1.0)
    assert np.allclose((again.azimuth, again.elevation, again.distance), (*angles, 5.0))
    assert np.allclose(again.camera().view(), orbit.camera().view())


@pytest.mark.parametrize("up", UPS)
def test_azimuth_0_is_in_front(up: str) -> None:
    _, _, back = Orbit((0, 0, 0), 1.0, 0.0, 0.0, up).camera().axes()
    assert np.allclose(back, FRONTS[up[1]])


def test_a_turn_keeps_distance_target_and_horizon() -> None:
    turned = ORBIT.turned(77.0, 31.0)
    eye, target = np.array(turned.camera().eye), np.array(turned.target)
    assert turned.target == ORBIT.target
    assert np.linalg.norm(eye - target) == pytest.approx(4.0, abs=1e-12)
    assert turned.camera().axes()[0][1] == pytest.approx(0.0, abs=1e-12)  # level
    assert np.allclose(seen(turned, ORBIT.target), 0)


def test_turns_stop_at_the_top_and_go_round_at_the_sides() -> None:
    top = ORBIT.turned(0.0, 500.0)
    assert top.elevation == 90.0
    assert np.allclose(top.camera().axes()[2], (0, 1, 0))
    round_ = ORBIT
    for _ in range(8):
        round_ = round_.turned(45.0, 0.0)
    assert round_.azimuth == pytest.approx(ORBIT.azimuth)
    # Over the top the picture does not jump: a little less than upright looks nearly the same.
    almost = ORBIT.turned(0.0, 75.0 - 1e-6)
    assert np.allclose(almost.camera().axes(), top.camera().axes(), atol=1e-6)


@pytest.mark.parametrize(("across", "upward"), [(0.1, 0.0), (0.0, -0.3), (0.42, 0.17)])
def test_a_grabbed_point_stays_under_the_mouse(across: float, upward: float) -> None:
    grabbed = in_target_plane(ORBIT, 0.2, -0.1)
    moved = ORBIT.panned(across, upward)
    assert np.allclose(seen(ORBIT, grabbed), (0.2, -0.1))
    assert np.allclose(seen(moved, grabbed), (0.2 + across, -0.1 + upward))
    right, up, back = ORBIT.camera().axes()
    step = np.subtract(moved.target, ORBIT.target)
    assert step @ back == pytest.approx(0.0, abs=1e-12)  # in the picture's plane
    assert moved.distance == ORBIT.distance
    assert np.allclose(moved.camera().axes(), (right, up, back))


@pytest.mark.parametrize("factor", [0.5, 0.9, 1.0, 1 / 0.9, 3.0])
def test_zoom_keeps_what_is_under_the_pointer(factor: float) -> None:
    point = in_target_plane(ORBIT, -0.3, 0.25)
    zoomed = ORBIT.zoomed(factor, -0.3, 0.25)
    assert zoomed.distance == pytest.approx(4.0 * factor)
    assert np.allclose(seen(zoomed, point), (-0.3, 0.25))
    assert np.allclose(zoomed.camera().axes(), ORBIT.camera().axes())


def test_zoom_ends_somewhere() -> None:
    assert ORBIT.zoomed(1e-9).distance == pytest.approx(1.2 * 0.02)
    assert ORBIT.zoomed(1e9).distance == pytest.approx(1.2 * 50)
    point = in_target_plane(ORBIT, 0.4, 0.4)
    assert np.allclose(seen(ORBIT.zoomed(1e9, 0.4, 0.4), point), (0.4, 0.4))
    far = Orbit((0, 0, 0), 1000.0, radius=1.0)
    assert far.zoomed(2.0).distance == 1000.0  # no farther than it was
    assert far.zoomed(0.5).distance == 500.0  # but on the way back


@pytest.mark.parametrize("factor", [0.0, -1.0, math.nan, math.inf])
def test_a_factor_must_be_a_positive_number(factor: float) -> None:
    with pytest.raises(ValueError, match="factor"):
        ORBIT.zoomed(factor)
