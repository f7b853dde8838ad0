"""The decoding of images: the only module in which bytes of a file become pixels.

Pillow decodes in this process. Only some formats are allowed, because some readers of Pillow start other
programs (Ghostscript for EPS). The size is checked before the pixels are decoded, because a PNG of 20 kB can
hold 500 MB of pixels.
"""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import LimitExceeded, LoadError, SkinpyError, SkinpyWarning

if TYPE_CHECKING:
    from ._types import Array
    from .assets import Texture

#: Formats that are decoded, by the names that Pillow has for them: those that need no other programs. TGA is
#: last, because it has no characteristic first bytes.
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "DDS", "PSD", "PPM", "PCX", "SGI", "QOI", "TGA")

#: Tags of TIFF.
_TILE_WIDTH, _TILE_LENGTH = 322, 323

#: All images of one model may have this many times the pixels that Pillow allows for one image.
MAX_IMAGES = 4

#: `warnings.catch_warnings` works in one thread at a time, but windows and films decode in several.
_warnings_lock = threading.Lock()


class Album:
    """The decoded images of one model, up to a number of pixels in all."""

    def __init__(self) -> None:
        self._pixels = 0

    def add(self, texture: Texture) -> Array | None:
        """Decode a texture into pixels (h,w,4) uint8.

        The result is None, with a SkinpyWarning, if the texture cannot be decoded or exceeds the limit.
        """
        try:
            image = np.ascontiguousarray(pixels(texture, self._pixels), np.uint8)
        except LoadError as error:
            warnings.warn(f"{error}; it is not drawn", SkinpyWarning, stacklevel=2)
            return None
        self._pixels += image.shape[0] * image.shape[1]
        return image


def pixels(texture: Texture, before: int = 0) -> Array:
    """The pixels (h,w,4) uint8 of a texture; see Texture.image.

    `before` is the number of pixels of the same model that are decoded already.
    """
    if texture.format == "rgba8":
        return _plain(texture)
    picture = decoded(texture, before)
    with _failures(texture):
        return np.asarray(picture.convert("RGBA"))


def decoded(texture: Texture, before: int = 0) -> Any:
    """The first frame of a texture as a PIL.Image.Image with its pixels; its format is None for "rgba8".

    `before` is the number of pixels of the same model that are decoded already. Texture.image documents the
    errors.
    """
    Image = _pillow()
    if texture.format == "rgba8":
        return Image.fromarray(_plain(texture))
    with _failures(texture):
        with _warnings_lock, warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", Image.DecompressionBombWarning
            )  # _check_size raises an error instead
            picture = Image.open(io.BytesIO(texture.data), formats=FORMATS)
        _check_size(texture, *picture.size)
        if picture.format == "TIFF":  # whole tiles are decoded, even for a small image
            tags = picture.tag_v2
            _check_size(texture, int(tags.get(_TILE_WIDTH, 1)), int(tags.get(_TILE_LENGTH, 1)), "tiles of ")
        _check_sum(texture, before + picture.width * picture.height)
        picture.load()
    return picture


def _plain(texture: Texture) -> Array:
    """The pixels of a texture of the format "rgba8"."""
    width, height, count = texture.width, texture.height, len(texture.data)
    if not count or count != 4 * width * height:
        raise LoadError(
            f"texture {texture.name!r} has {count} bytes; expected {4 * width * height}, "
            f"four for each of {width} x {height} pixels"
        )
    return np.frombuffer(texture.data, np.uint8).reshape(height, width, 4)


def _check_size(texture: Texture, width: int, height: int, what: str = "") -> None:
    """LimitExceeded if one image has too many pixels."""
    limit = _pillow().MAX_IMAGE_PIXELS
    if limit is not None and width * height > limit:
        raise _too_large(texture, f"{what}{width} x {height}", limit)


def _check_sum(texture: Texture, count: int) -> None:
    """LimitExceeded if all images of a model, this one included, have too many pixels."""
    limit = _pillow().MAX_IMAGE_PIXELS
    if limit is not None and count > MAX_IMAGES * limit:
        raise LimitExceeded(
            f"texture {texture.name!r} would take the images of its model to {count} pixels; "
            f"expected at most {MAX_IMAGES * limit}, "
            f"{MAX_IMAGES} times PIL.Image.MAX_IMAGE_PIXELS (None allows any number)"
        )


def _too_large(texture: Texture, count: str, limit: int) -> LimitExceeded:
    """The error for an image of `count` pixels."""
    return LimitExceeded(
        f"texture {texture.name!r} has {count} pixels; expected at most {limit}, which is "
        "PIL.Image.MAX_IMAGE_PIXELS (None allows any number)"
    )


@contextmanager
def _failures(texture: Texture) -> Iterator[None]:
    """Turn all exceptions of a decoder into LoadError, except MemoryError."""
    from PIL import UnidentifiedImageError

    Image = _pillow()
    try:
        yield
    except (SkinpyError, MemoryError):
        raise
    except Image.DecompressionBombError as error:  # Pillow raises this for twice its limit
        limit = Image.MAX_IMAGE_PIXELS or 0
        raise _too_large(texture, f"more than {2 * limit}", limit) from error
    except UnidentifiedImageError:
        raise LoadError(
            f"texture {texture.name!r} begins with {bytes(texture.data[:8])!r}: its header is broken, or its "
            f"format is not decoded; expected one of {', '.join(FORMATS)}"
        ) from None
    except Exception as error:  # decoders raise exceptions of any type for broken files
        raise LoadError(
            f"texture {texture.name!r} cannot be decoded: {error or type(error).__name__}"
        ) from error


def _pillow() -> Any:
    """The module PIL.Image; ImportError that names the extra if Pillow is missing."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("textures need Pillow: pip install 'skinpy-anim[view]'") from None
    return Image
