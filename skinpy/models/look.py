"""Model.from_arrays: colors, a texture and a material, as the sections of a block."""

import os
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _block
from .._arguments import any_array, brief, floats, opened
from .._types import Array, Floats, PathLike
from ..assets import Texture

#: An image: pixels (h,w,3|4) uint8, the bytes or the path of an image file, or a texture of another model.
Image: TypeAlias = npt.ArrayLike | bytes | bytearray | memoryview | PathLike | Texture
Alpha: TypeAlias = Literal["opaque", "mask", "blend"]

#: First bytes of image files, their offset, and the format; equal to the table of the importer.
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", 0, "png"),
    (b"\xff\xd8\xff", 0, "jpg"),
    (b"GIF8", 0, "gif"),
    (b"BM", 0, "bmp"),
    (b"DDS ", 0, "dds"),
    (b"WEBP", 8, "webp"),
    (b"II*\0", 0, "tiff"),
    (b"MM\0*", 0, "tiff"),
)
#: Formats without characteristic first bytes, which are known by the file extension.
_SUFFIXES = ("tga",)


class Look(NamedTuple):
    """The arguments of Model.from_arrays that decide the appearance of the mesh."""

    colors: npt.ArrayLike | None = None
    texture: Image | None = None
    base_color: npt.ArrayLike | None = None
    alpha: str = "opaque"


def look_sections(look: Look, has_uvs: bool, vertices: int, pool: _block.TextPool) -> dict[str, Array]:
    """The section COLORS, and those of one material and its texture, as far as they are given."""
    if not isinstance(look.alpha, str) or look.alpha not in _block.ALPHAS:
        raise ValueError(f"alpha is {brief(look.alpha)}; expected 'opaque', 'mask' or 'blend'")
    sections = {} if look.colors is None else {"COLORS": _colors("colors", look.colors, (vertices,))}
    if look.texture is not None:
        if not has_uvs:
            raise ValueError("texture is given without uvs; expected uvs (V, 2), its coordinates, as well")
        sections |= _texture(look.texture, pool)
    if not sections and look.base_color is None and look.alpha == "opaque":
        return {}
    color = np.ones(4, np.float32) if look.base_color is None else _colors("base_color", look.base_color, ())
    image = -1 if look.texture is None else 0
    sides, alpha = 1, _block.ALPHAS.index(look.alpha)
    record = (pool.add("material"), color, image, sides, alpha, 0.5, ((1, 0, 0), (0, 1, 0)), (0, 0), 0, 0)
    sections["MATERIALS"] = np.array([record], _block.RECORDS["MATERIALS"])
    return sections


def _colors(name: str, value: npt.ArrayLike, rows: tuple[int, ...]) -> Floats:
    """(..., 4) float32: linear RGBA; uint8 counts as n / 255, as in glTF."""
    given = any_array(name, value)
    scale = 255.0 if given.dtype == np.uint8 else 1.0
    if given.shape not in ((*rows, 3), (*rows, 4)):
        raise ValueError(f"{name} has shape {given.shape}; expected {(*rows, 3)} or {(*rows, 4)}")
    numbers = floats(name, given, given.shape, np.float64) / scale
    wrong = numbers[(numbers < 0) | (numbers > 1)]
    if wrong.size:
        raise ValueError(
            f"{name} holds {wrong[0]:g}; expected linear numbers from 0 to 1, or uint8 from 0 to 255"
        )
    colors = np.ones((*rows, 4), np.float32)
    colors[..., : numbers.shape[-1]] = numbers
    return colors


def _texture(given: Any, pool: _block.TextPool) -> dict[str, Array]:
    """The sections TEXTURES and TEXTURE_DATA of one image."""
    name, encoding, data, width, height = _image(given)
    record = (pool.add(name), pool.add(encoding), width, height, 0, len(data))
    return {
        "TEXTURES": np.array([record], _block.RECORDS["TEXTURES"]),
        "TEXTURE_DATA": np.frombuffer(data, np.uint8),
    }


def _image(given: Any) -> tuple[str, str, bytes | memoryview, int, int]:
    """Name, format, bytes, width and height of an image; both sizes are 0 for an encoded image."""
    if isinstance(given, Texture):
        return given.name, given.format, given.data, given.width, given.height
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        with opened("texture", path) as file:
            data = file.read()
        suffix = path.suffix.lower().removeprefix(".")
        return path.name, _format(data, suffix, str(path)), data, 0, 0
    if isinstance(given, bytes | bytearray | memoryview):
        data = bytes(given)
        return "texture", _format(data, "", f"{len(data)} bytes"), data, 0, 0
    pixels = _pixels(any_array("texture", given))
    height, width = pixels.shape[:2]
    return "texture", "rgba8", pixels.tobytes(), width, height


def _format(data: bytes, suffix: str, what: str) -> str:
    """The format of an image file; `what` names the file in the error."""
    for magic, start, name in _MAGIC:
        if data[start : start + len(magic)] == magic:
            return name
    if suffix in _SUFFIXES and data:
        return suffix
    raise ValueError(
        f"texture is {what}, which is not an image of a known format; expected a PNG, JPEG, WebP, GIF, BMP, "
        "TIFF, DDS or TGA file, or pixels (h, w, 3) or (h, w, 4) uint8"
    )


def _pixels(given: Array) -> Array:
    """Pixels (h,w,4) uint8."""
    if given.dtype != np.uint8:
        raise TypeError(f"texture has dtype {given.dtype}; expected uint8 pixels, sRGB")
    if given.ndim != 3 or given.shape[2] not in (3, 4) or not given.size:
        raise ValueError(
            f"texture has shape {given.shape}; expected (h, w, 3) or (h, w, 4), at least one pixel"
        )
    pixels = np.full((*given.shape[:2], 4), 255, np.uint8)
    pixels[..., : given.shape[2]] = given
    return pixels
