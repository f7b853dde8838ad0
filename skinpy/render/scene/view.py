"""What a frame is drawn with apart from the model: the camera, and the light that follows it."""

from __future__ import annotations

from dataclasses import dataclass

import moderngl
import numpy as np
from numpy.typing import NDArray

from ..camera import Camera

# Linear light, by uniforms of lit.frag. A white surface that faces the light gets about 1 from all together.
LIGHTS = {
    "light_color": (0.72, 0.70, 0.66),
    "sky_color": (0.33, 0.35, 0.39),
    "ground_color": (0.13, 0.12, 0.11),
}
# The light stands behind the eye's left shoulder. In the axes of the picture, right, up and back:
LIGHT_FROM = (-0.45, 0.75, 0.80)


@dataclass(frozen=True)
class View:
    """A camera, the picture's aspect (width by height) and the scene's up vector (3,), unit."""

    camera: Camera
    aspect: float
    up: NDArray[np.float64]

    def __post_init__(self) -> None:
        if not isinstance(self.camera, Camera):
            raise TypeError(f"camera is {type(self.camera).__name__}; expected a Camera, or None")

    def set_uniforms(self, program: moderngl.Program) -> None:
        """Set the camera and the light in a program of lit.frag."""
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
        """Set the camera in a program that needs no more than it to place its vertices."""
        # GLSL matrices lie column by column in memory.
        program["view_projection"] = tuple(self.projection().T.ravel())

    def light_direction(self) -> NDArray[np.float64]:
        """From the model towards the light: (3,) float64, unit."""
        direction: NDArray[np.float64] = np.array(LIGHT_FROM) @ np.stack(self.camera.axes())
        return direction / np.linalg.norm(direction)

    def nearness(self, point: NDArray[np.float64]) -> float:
        """How near a point (3,) is to the eye along the view; only the order of these numbers counts."""
        return float(point @ self.camera.axes()[2])
