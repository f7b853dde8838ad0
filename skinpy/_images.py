"""The decoding of images: the only module in which bytes of a file become pixels.

Pillow decodes in this process. Only some formats are allowed, because some readers of Pillow start other
programs (Ghostscript for EPS). The size is checked before the pixels are decoded, because a PNG of 20 kB can
hold 500 MB of pixels, and so is the structure (`_image_structure`), because a JPEG of 100 kB can go over its
pixels 1,500 times. Pillow runs in a thread, so that Ctrl-C is answered while a large image is decoded.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ._image_structure import Source, check_structure
from ._text import quoted
from .errors import LimitExceeded, LoadError, SkinpyError, SkinpyWarning

if TYPE_CHECKING:
    from ._types import Array
    from .assets import Texture

#: Formats that are decoded, by the names that Pillow has for them: those that need no other programs. TGA is
#: last, because it has no characteristic first bytes.
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "DDS", "PSD", "PPM", "PCX", "SGI", "QOI", "TGA")

#: Tags of TIFF.
_WIDTH, _LENGTH, _TILE_WIDTH, _TILE_LENGTH = 256, 257, 322, 323

#: Pixels along one side: JPEG, GIF and TGA have no more. Pillow takes 80 bytes for each row, however narrow.
MAX_SIDE = 65_535

#: All images of one model may have this many times the pixels that Pillow allows for one image.
MAX_IMAGES = 4

#: `warnings.catch_warnings` and the handlers of libtiff work in one thread at a time, but windows and films
#: decode in several.
_quiet_lock = threading.Lock()

T = TypeVar("T")


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
    return _decode(texture, before, lambda picture: np.asarray(picture.convert("RGBA")))


def decoded(texture: Texture, before: int = 0) -> Any:
    """The first frame of a texture as a PIL.Image.Image with its pixels; its format is None for "rgba8".

    `before` is the number of pixels of the same model that are decoded already. Texture.image documents the
    errors.
    """
    if texture.format == "rgba8":
        return _pillow().fromarray(_plain(texture))
    return _decode(texture, before, lambda picture: picture)


def _decode(texture: Texture, before: int, finish: Callable[[Any], T]) -> T:
    """What `finish` makes of a texture that is not "rgba8", as a PIL.Image.Image with its pixels."""
    Image, data, subject = _pillow(), bytes(texture.data), f"texture {quoted(texture.name)}"
    source = Source(data, subject)

    def work() -> T:
        with _failures(texture), _quiet(data):
            check_structure(data, subject)
            picture = Image.open(source, formats=FORMATS)
            _check_size(texture, *picture.size)
            if picture.format == "TIFF":
                _check_tiles(texture, picture.tag_v2)
            _check_sum(texture, before + picture.width * picture.height)
            source.in_python = any(tile[0] in Image.DECODERS for tile in picture.tile)
            picture.load()
            return finish(picture)

    return _answering(work, source.cancel)


def _answering(work: Callable[[], T], cancel: Callable[[], None]) -> T:
    """The result of `work`, during which Ctrl-C is answered: `cancel` then asks it to end.

    Only the main thread is told of Ctrl-C, and only between instructions of Python. So it waits while another
    thread works.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[T] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again below
            errors.append(error)
        finally:
            done.set()

    try:
        try:
            threading.Thread(target=run, name="skinpy image").start()
        except RuntimeError:  # there are no more threads, or the interpreter ends
            run()
        done.wait()
    except BaseException:
        cancel()
        done.wait(0.1)  # most decoders read again by then; the others end with their image
        raise
    if errors:
        raise errors.pop()
    return results.pop()


def _plain(texture: Texture) -> Array:
    """The pixels of a texture of the format "rgba8"."""
    width, height, count = texture.width, texture.height, len(texture.data)
    if not count or count != 4 * width * height:
        raise LoadError(
            f"texture {quoted(texture.name)} has {count} bytes; expected {4 * width * height}, "
            f"four for each of {width} x {height} pixels"
        )
    return np.frombuffer(texture.data, np.uint8).reshape(height, width, 4)


def _check_size(texture: Texture, width: int, height: int, what: str = "") -> None:
    """LimitExceeded if one image has too many pixels, or too many along one side."""
    if max(width, height) > MAX_SIDE:
        raise LimitExceeded(
            f"texture {quoted(texture.name)} has {what}{width} x {height} pixels; "
            f"expected at most {MAX_SIDE} along one side"
        )
    limit = _pillow().MAX_IMAGE_PIXELS
    if limit is not None and width * height > limit:
        raise _too_large(texture, f"{what}{width} x {height}", limit)


def _check_tiles(texture: Texture, tags: Any) -> None:
    """LimitExceeded for a TIFF of too large tiles: whole tiles are decoded, even for a small image."""

    def decoded(image: int, tile: int) -> int:
        side = max(int(tags.get(tile, 1)), 1)
        return -(-int(tags[image]) // side) * side

    _check_size(texture, decoded(_WIDTH, _TILE_WIDTH), decoded(_LENGTH, _TILE_LENGTH), "tiles of ")


def _check_sum(texture: Texture, count: int) -> None:
    """LimitExceeded if all images of a model, this one included, have too many pixels."""
    limit = _pillow().MAX_IMAGE_PIXELS
    if limit is not None and count > MAX_IMAGES * limit:
        raise LimitExceeded(
            f"texture {quoted(texture.name)} would take the images of its model to {count} pixels; "
            f"expected at most {MAX_IMAGES * limit}, "
            f"{MAX_IMAGES} times PIL.Image.MAX_IMAGE_PIXELS (None allows any number)"
        )


def _too_large(texture: Texture, count: str, limit: int) -> LimitExceeded:
    """The error for an image of `count` pixels."""
    return LimitExceeded(
        f"texture {quoted(texture.name)} has {count} pixels; expected at most {limit}, which is "
        "PIL.Image.MAX_IMAGE_PIXELS (None allows any number)"
    )


@contextmanager
def _quiet(data: bytes) -> Iterator[None]:
    """Keep Pillow and its libraries from writing to standard error; errors say what matters."""
    logger = logging.getLogger("PIL")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())  # else messages of a program without logging go there
    with _quiet_lock, warnings.catch_warnings(), _quiet_tiff(data):
        warnings.filterwarnings("ignore", module=r"PIL\.")  # of bombs, which are errors here, and of metadata
        yield


@contextmanager
def _quiet_tiff(data: bytes) -> Iterator[None]:
    """Keep libtiff, with which Pillow decodes TIFF, from writing its messages to standard error.

    libtiff has one function for all errors of the process, and one for all warnings. TIFFSetErrorHandler and
    TIFFSetWarningHandler replace them, by NULL for silence, and return the previous ones. Pillow does not
    offer that, so ctypes calls both. Where libtiff is a hidden part of Pillow, they are not found, and its
    messages are written.
    """
    if data[:2] not in (b"II", b"MM"):
        yield
        return
    import ctypes

    # Pillow has loaded this library; a search in it also finds the functions of the libraries that it needs.
    library = ctypes.CDLL(_pillow().core.__file__)
    previous = []
    for name in ("TIFFSetErrorHandler", "TIFFSetWarningHandler"):
        set_handler = getattr(library, name, None)
        if set_handler is not None:
            set_handler.argtypes, set_handler.restype = [ctypes.c_void_p], ctypes.c_void_p
            previous.append((set_handler, set_handler(None)))
    try:
        yield
    finally:
        for set_handler, handler in previous:
            set_handler(handler)


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
            f"texture {quoted(texture.name)} begins with {bytes(texture.data[:8])!r}: its header is "
            "broken, or its "
            f"format is not decoded; expected one of {', '.join(FORMATS)}"
        ) from None
    except Exception as error:  # decoders raise exceptions of any type for broken files
        raise LoadError(
            f"texture {quoted(texture.name)} cannot be decoded: {error or type(error).__name__}"
        ) from error


def _pillow() -> Any:
    """The module PIL.Image; ImportError that names the extra if Pillow is missing."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("textures need Pillow: pip install 'skinpy-anim[view]'") from None
    return Image
