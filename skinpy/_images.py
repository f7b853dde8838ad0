"""Decoding the images of models: the one place where bytes that a file brought become pixels.

Pillow does it, in this process. It is told which formats to try: some of its readers start other programs
(Ghostscript for EPS). It is asked for the size before it decodes: a PNG of 20 kB can hold 500 MB of pixels.
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

#: What is decoded, as Pillow calls it: pictures of pixels that it reads without other programs. TGA has no
#: first bytes to be known by, so it comes last.
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "DDS", "PSD", "PPM", "PCX", "SGI", "QOI", "TGA")

_TILE_WIDTH, _TILE_LENGTH = 322, 323  # TIFF

#: All images that a model is drawn with may have so many times the pixels that Pillow allows one image.
IN_ALL = 4

#: `warnings.catch_warnings` is for one thread at a time; windows and films decode in several.
_alone = threading.Lock()


class Album:
    """The decoded images of one model. Where they would have too many pixels in all, the rest is left out."""

    def __init__(self) -> None:
        self._pixels = 0

    def add(self, texture: Texture) -> Array | None:
        """(h,w,4) uint8; or None, with a SkinpyWarning, for what cannot be decoded or is too much."""
        try:
            image = np.ascontiguousarray(pixels(texture, self._pixels), np.uint8)
        except LoadError as error:
            warnings.warn(f"{error}; it is not drawn", SkinpyWarning, stacklevel=2)
            return None
        self._pixels += image.shape[0] * image.shape[1]
        return image


def pixels(texture: Texture, before: int = 0) -> Array:
    """(h,w,4) uint8 of a texture; see Texture.image. Of the same model so many pixels are decoded already."""
    if texture.format == "rgba8":
        return _plain(texture)
    picture = decoded(texture, before)
    with _failures(texture):
        return np.asarray(picture.convert("RGBA"))


def decoded(texture: Texture, before: int = 0) -> Any:
    """The first frame as a PIL.Image.Image, its pixels loaded; `format` is Pillow's, None for "rgba8".

    `before` pixels of its model are decoded already.

    Raises LoadError, LimitExceeded and ImportError, as Texture.image does.
    """
    Image = _pillow()
    if texture.format == "rgba8":
        return Image.fromarray(_plain(texture))
    with _failures(texture):
        with _alone, warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # an error, below
            picture = Image.open(io.BytesIO(texture.data), formats=FORMATS)
        _check_size(texture, *picture.size)
        if picture.format == "TIFF":  # which decodes whole tiles, however small the picture is
            tags = picture.tag_v2
            _check_size(texture, int(tags.get(_TILE_WIDTH, 1)), int(tags.get(_TILE_LENGTH, 1)), "tiles of ")
        _check_sum(texture, before + picture.width * picture.height)
        picture.load()
    return picture


def _plain(texture: Texture) -> Array:
    """The pixels of a texture that has them as they are."""
    width, height, count = texture.width, texture.height, len(texture.data)
    if not count or count != 4 * width * height:
        raise LoadError(
            f"texture {texture.name!r} has {count} bytes; expected {4 * width * height}, "
            f"four for each of {width} x {height} pixels"
        )
    return np.frombuffer(texture.data, np.uint8).reshape(height, width, 4)


def _check_size(texture: Texture, width: int, height: int, what: str = "") -> None:
    limit = _pillow().MAX_IMAGE_PIXELS
    if limit is not None and width * height > limit:
        raise _too_large(texture, f"{what}{width} x {height}", limit)


def _check_sum(texture: Texture, count: int) -> None:
    limit = _pillow().MAX_IMAGE_PIXELS
    if limit is not None and count > IN_ALL * limit:
        raise LimitExceeded(
            f"texture {texture.name!r} would take the images of its model to {count} pixels; expected at "
            f"most {IN_ALL * limit}, {IN_ALL} times PIL.Image.MAX_IMAGE_PIXELS (None allows any number)"
        )


def _too_large(texture: Texture, count: str, limit: int) -> LimitExceeded:
    return LimitExceeded(
        f"texture {texture.name!r} has {count} pixels; expected at most {limit}, which is "
        "PIL.Image.MAX_IMAGE_PIXELS (None allows any number)"
    )


@contextmanager
def _failures(texture: Texture) -> Iterator[None]:
    """Everything that a decoder raises as a LoadError; but want of memory stays what it is."""
    from PIL import UnidentifiedImageError

    Image = _pillow()
    try:
        yield
    except (SkinpyError, MemoryError):
        raise
    except Image.DecompressionBombError as error:  # Pillow's own, for twice its limit
        limit = Image.MAX_IMAGE_PIXELS or 0
        raise _too_large(texture, f"more than {2 * limit}", limit) from error
    except UnidentifiedImageError:
        raise LoadError(
            f"texture {texture.name!r} begins with {bytes(texture.data[:8])!r}: its header is broken, or its "
            f"format is not decoded; expected one of {', '.join(FORMATS)}"
        ) from None
    except Exception as error:  # decoders raise whatever they like at broken files
        raise LoadError(
            f"texture {texture.name!r} cannot be decoded: {error or type(error).__name__}"
        ) from error


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("textures need Pillow: pip install 'skinpy-anim[view]'") from None
    return Image
