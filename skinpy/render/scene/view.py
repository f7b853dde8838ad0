"""The view of a frame: the camera, and the light that follows it."""

from __future__ import annotations

from dataclasses import dataclass

import moderngl
import numpy as np
from numpy.typing import NDArray

from ..camera import Camera

# Linear light, by uniforms of lit.frag. Together they give a white surface that faces the light about 1.
LIGHTS = {
    "light_color": (0.72, 0.70, 0.66),
    "sky_color": (0.33, 0.35, 0.39),
    "ground_color": (0.13, 0.12, 0.11),
}
# The light is behind the left shoulder of the viewer. In the axes of the picture, right, up and back:
LIGHT_FROM = (-0.45, 0.75, 0.80)


@dataclass(frozen=True)
class View:
    """A camera, the aspect of the picture (width by height), and the unit up vector (3,) of the scene."""

    camera: Camera
    aspect: float
    up: NDArray[np.float64]

    def __post_init__(self) -> None:
        if not isinstance(self.camera, Camera):
            raise TypeError(f"camera is {type(self.camera).__name__}; expected a Camera, or None")

    def set_uniforms(self, program: moderngl.Program) -> None:
        """Set the uniforms of camera and light in a program of lit.frag."""
        self.set_projection(program)
        program["eye"] = self.camera.eye
        program["scene_up"] = tuple(self.up)
        program["light_direction"] = tuple(self.light_direction())
        for name, color in LIGHTS.items():
            program[name] = color

    def projection(self) -> NDArray[np.float64]:
        """Scene space to clip space, (4, 4) float64."""
        return self.camera.projection(self.aspect) @ self.camera.view()

    def set_projection(self, program: moderngl.Program) -> None:
        """Set the uniform view_projection of a program."""
        # GLSL matrices lie column by column in memory.
        program["view_projection"] = tuple(self.projection().T.ravel())

    def light_direction(self) -> NDArray[np.float64]:
        """The unit vector (3,) float64 from the model towards the light."""
        direction: NDArray[np.float64] = np.array(LIGHT_FROM) @ np.stack(self.camera.axes())
        return direction / np.linalg.norm(direction)

    def nearness(self, point: NDArray[np.float64]) -> float:
        """A number that is larger for points (3,) nearer to the eye along the view."""
        return float(point @ self.camera.axes()[2])
