"""Models from arrays with colors and textures: what is kept, what is drawn, and what is refused."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skinpy
from skinpy._types import Array

SQUARE = {
    "positions": [[-1, 0, 0], [1, 0, 0], [1, 2, 0], [-1, 2, 0]],
    "faces": [[0, 1, 2], [0, 2, 3]],
    "joints": [[0]] * 4,
    "weights": [[1]] * 4,
}
UVS = [[0, 1], [1, 1], [1, 0], [0, 0]]
#: Red on top at the left, green beside it, blue below, white at the end.
PIXELS = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 255]]], np.uint8)


def square(**look: Any) -> skinpy.Model:
    """Two triangles that face the front, with a look."""
    return skinpy.Model.from_arrays(["root"], [-1], [np.eye(4)], **(SQUARE | look))


def encoded(pixels: Array, kind: str) -> bytes:
    image = pytest.importorskip("PIL.Image")
    buffer = io.BytesIO()
    image.fromarray(pixels).save(buffer, kind)
    return buffer.getvalue()


def hues(model: skinpy.Model) -> Array:
    """(2,2) numbers of the strongest channel, at the middle of each quarter of the picture; 3 for gray."""
    pytest.importorskip("moderngl")
    from skinpy.render import Camera

    camera = Camera(eye=(0, 1, 5), target=(0, 1, 0))
    picture = model.render(size=(64, 64), camera=camera, samples=0)
    # the square's side of 2, at a distance of 5 and a field of view of 30 degrees, is 48 of 64 pixels long
    colors = picture[[20, 20, 44, 44], [20, 44, 20, 44], :3].astype(int)
    strong: Array = np.where(np.ptp(colors, axis=1) < 20, 3, colors.argmax(axis=1))
    return strong.reshape(2, 2)


def test_pixels_become_a_texture() -> None:
    model = square(uvs=UVS, texture=PIXELS)
    [material] = model.materials
    assert material.texture is not None and material.alpha == "opaque" and material.base_color == (1,) * 4
    assert np.array_equal(material.texture.image()[..., :3], PIXELS)
    assert (material.texture.image()[..., 3] == 255).all()
    assert [submesh.material for submesh in model.mesh.submeshes] == [0]


def test_a_texture_is_drawn_the_right_way_up() -> None:
    large = PIXELS.repeat(32, axis=0).repeat(32, axis=1)
    assert np.array_equal(hues(square(uvs=UVS, texture=large)), [[0, 1], [2, 3]])


def test_colors_are_drawn_as_they_are() -> None:
    """Blue vertices are blue, and as bright as a blue base color: no gray of a missing material dims them."""
    colors = np.tile([0, 0, 1.0], (4, 1))
    model = square(colors=colors)
    assert np.array_equal(model.mesh.colors, [[0, 0, 1, 1]] * 4)
    assert (hues(model) == 2).all()
    assert np.array_equal(model.render(size=(32, 32)), square(base_color=(0, 0, 1)).render(size=(32, 32)))


def test_bytes_count_as_shares_of_255() -> None:
    model = square(colors=np.full((4, 4), 51, np.uint8), base_color=np.array([255, 0, 51], np.uint8))
    assert model.mesh.colors is not None
    assert np.allclose(model.mesh.colors, 0.2) and np.allclose(model.materials[0].base_color, [1, 0, 0.2, 1])


def test_nothing_given_is_no_material() -> None:
    model = square(uvs=UVS)
    assert not model.materials and model.mesh.colors is None and model.mesh.submeshes[0].material is None


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_image_files_are_kept_as_they_are(kind: str, tmp_path: Path) -> None:
    data = encoded(PIXELS, kind)
    path = tmp_path / "an image ü.xyz"  # what is inside decides, not the name
    path.write_bytes(data)
    [of_bytes] = square(uvs=UVS, texture=data).materials
    [of_file] = square(uvs=UVS, texture=path).materials
    [of_words] = square(uvs=UVS, texture=str(path)).materials
    assert of_bytes.texture and of_file.texture and of_words.texture
    assert of_bytes.texture.data == of_file.texture.data == of_words.texture.data == data
    assert of_file.texture.name == path.name
    assert of_bytes.texture.image().shape == (2, 2, 4)


def test_a_texture_of_another_model() -> None:
    first = square(uvs=UVS, texture=PIXELS).materials[0].texture
    assert first is not None
    second = square(uvs=UVS, texture=first).materials[0].texture
    assert second is not None and second.format == "rgba8" and np.array_equal(second.image(), first.image())


@pytest.mark.parametrize("alpha", ["opaque", "mask", "blend"])
def test_alpha_says_what_opacity_does(alpha: str) -> None:
    pytest.importorskip("moderngl")
    model = square(colors=np.tile([1, 1, 1, 0.25], (4, 1)), alpha=alpha)
    middle = model.render(size=(33, 33), samples=0)[16, 16, 3]
    assert middle == {"opaque": 255, "mask": 0, "blend": 64}[alpha]


@pytest.mark.parametrize("suffix", [".skn", ".glb"])
def test_the_look_is_saved(suffix: str, tmp_path: Path) -> None:
    if suffix == ".glb":
        pytest.importorskip("PIL")  # a .glb holds the pixels as a PNG
    colors = [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 0.5]]
    look = {
        "uvs": UVS,
        "texture": PIXELS,
        "colors": colors,
        "base_color": (1, 0.5, 0, 0.75),
        "alpha": "blend",
    }
    square(**look).save(tmp_path / f"square{suffix}")
    again = skinpy.load(tmp_path / f"square{suffix}")
    [material] = again.materials
    assert material.alpha == "blend" and np.allclose(material.base_color, (1, 0.5, 0, 0.75))
    assert material.texture is not None and np.array_equal(material.texture.image()[..., :3], PIXELS)
    assert again.mesh.colors is not None and np.allclose(again.mesh.colors, colors)


@pytest.mark.parametrize(
    ("look", "error", "words"),
    [
        ({"texture": PIXELS}, ValueError, "texture is given without uvs"),
        ({"texture": PIXELS / 255}, TypeError, "texture has dtype float64; expected uint8"),
        ({"texture": PIXELS[..., 0]}, ValueError, r"texture has shape \(2, 2\); expected \(h, w, 3\) or"),
        ({"texture": PIXELS[:0]}, ValueError, "at least one pixel"),
        ({"texture": b"no image"}, ValueError, "texture is 8 bytes, which is not an image of a known format"),
        ({"texture": b""}, ValueError, "texture is 0 bytes"),
        ({"texture": "missing.png"}, FileNotFoundError, "missing.png"),
        ({"texture": 7}, TypeError, "texture has dtype int64"),
        ({"texture": [[1], [1, 2]]}, ValueError, "texture is ragged"),
        ({"colors": [[1, 0, 0]]}, ValueError, r"colors has shape \(1, 3\); expected \(4, 3\)"),
        (
            {"colors": np.ones((4, 2))},
            ValueError,
            r"colors has shape \(4, 2\); expected \(4, 3\) or \(4, 4\)",
        ),
        (
            {"colors": np.full((4, 3), 200)},
            ValueError,
            "colors holds 200; expected linear numbers from 0 to 1",
        ),
        ({"colors": np.full((4, 3), np.nan)}, ValueError, "colors holds a number that is not finite"),
        ({"colors": "red"}, ValueError, r"colors has shape \(\)"),
        ({"base_color": (1, 0)}, ValueError, "base_color has shape"),
        ({"base_color": (-1, 0, 0)}, ValueError, "base_color holds -1"),
        ({"alpha": "clear"}, ValueError, "alpha is 'clear'; expected 'opaque', 'mask' or 'blend'"),
    ],
)
def test_a_wrong_look_is_refused(look: dict[str, Any], error: type[Exception], words: str) -> None:
    uvs = {} if look.get("texture") is PIXELS else {"uvs": UVS}
    with pytest.raises(error, match=words):
        square(**uvs, **look)
