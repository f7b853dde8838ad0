"""What several formats' cases use."""

from collections.abc import Callable
from typing import Any

import numpy as np

import skinpy

CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def image() -> bytes:
    """A PNG."""
    texture = skinpy.character().materials[0].texture
    assert texture is not None
    return bytes(texture.data)


def has_texture(model: Any) -> None:
    assert [one.texture.data for one in model.materials if one.texture] == [image()]


def has_corners(model: Any) -> None:
    assert np.allclose(model.deform(model.pose())[0], CORNERS, atol=1e-6) and len(model.mesh.faces) == 1


def has_normals(model: Any) -> None:
    assert np.allclose(np.abs(model.mesh.normals), (0.6, 0, 0.8), atol=1e-6)


def has_colors(model: Any) -> None:
    """Red, green and blue."""
    assert np.allclose(model.mesh.colors[:, :3], np.eye(3), atol=1e-6)


def has_color(model: Any) -> None:
    """The material "paint" is half transparent."""
    (paint,) = (one for one in model.materials if one.name == "paint")
    assert np.allclose(paint.base_color, (0.2, 0.4, 0.6, 0.5), atol=1e-6) and paint.alpha == "blend"


def has_faces(count: int) -> Callable[[Any], None]:
    def check(model: Any) -> None:
        assert len(model.mesh.faces) == count

    return check
