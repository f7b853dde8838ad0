"""Still pictures: PNG, WebP, JPEG, TIFF and BMP, by Pillow."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arguments import brief, numbers, path_of, text
from ..files.whole import replacing


class _Format(NamedTuple):
    pillow: str  # Pillow's name
    alpha: bool  # whether it can be transparent
    options: dict[str, Any]


_FORMATS = {
    "png": _Format("PNG", True, {}),
    "webp": _Format("WEBP", True, {"lossless": True}),
    "jpg": _Format("JPEG", False, {"quality": 92, "subsampling": 0}),
    "jpeg": _Format("JPEG", False, {"quality": 92, "subsampling": 0}),
    "tif": _Format("TIFF", True, {"compression": "tiff_deflate"}),
    "tiff": _Format("TIFF", True, {"compression": "tiff_deflate"}),
    "bmp": _Format("BMP", False, {}),
}

PICTURE_SUFFIXES = tuple(f".{name}" for name in _FORMATS)


def encode_picture(
    frame: NDArray[np.uint8], format: str, *, background: tuple[int, int, int] = (255, 255, 255)
) -> bytes:
    """Return the bytes of a picture file.

    Parameters
    ----------
    frame : (h, w, 4) uint8 ndarray
        The picture: straight alpha, sRGB, row 0 on top.
    format : str
        "png", "webp" (lossless), "jpg", "tif" or "bmp", with or without a dot.
    background : (int, int, int), default (255, 255, 255)
        An sRGB color, 0 to 255. "jpg" and "bmp" have no transparency: the frame is composited over this
        color, as if it had been drawn on it.

    Returns
    -------
    bytes
        The file.

    Raises
    ------
    TypeError
        If `frame` is not an array.
    ValueError
        If the frame, the format or the background has a wrong value.
    ImportError
        If Pillow is not installed.

    Examples
    --------
    >>> frame = skinpy.render.render(skinpy.character(), size=(80, 60))
    >>> skinpy.output.encode_picture(frame, "png")[1:4]
    b'PNG'
    """
    chosen = check_format(format)
    check_frame(frame)
    pixels = frame if chosen.alpha else flatten(frame, background)
    buffer = io.BytesIO()
    pillow().fromarray(np.ascontiguousarray(pixels)).save(buffer, chosen.pillow, **chosen.options)
    return buffer.getvalue()


def save_picture(
    path: str | os.PathLike[str],
    frame: NDArray[np.uint8],
    *,
    format: str | None = None,
    background: tuple[int, int, int] = (255, 255, 255),
) -> Path:
    """Write a picture file.

    The file appears whole or not at all: it is written beside its place under another name, then renamed.

    Parameters
    ----------
    path : str or path-like
        The file. Its suffix selects the format, unless `format` is given.
    frame : (h, w, 4) uint8 ndarray
        The picture: straight alpha, sRGB, row 0 on top.
    format : str, optional
        The format, as in `encode_picture`.
    background : (int, int, int), default (255, 255, 255)
        An sRGB color, 0 to 255, for formats without transparency, as in `encode_picture`.

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    TypeError
        If `frame` is not an array.
    ValueError
        If the path has no suffix and no format is given, or the frame, the format or the background has a
        wrong value.
    ImportError
        If Pillow is not installed.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> frame = skinpy.render.render(skinpy.character(), size=(80, 60))
    >>> skinpy.output.save_picture("character.png", frame).name
    'character.png'
    """
    target = Path(path_of("path", path))
    if format is None and not target.suffix:
        raise ValueError(f"path is {brief(str(target))}, without a suffix; expected {_names()}")
    data = encode_picture(frame, target.suffix if format is None else format, background=background)
    with replacing(target) as file:
        file.write(data)
    return target


def flatten(frame: NDArray[np.uint8], background: tuple[int, int, int]) -> NDArray[np.uint8]:
    """The frame (h, w, 4) composited over a color in linear light, as the renderer does: (h, w, 3) uint8."""
    color = numbers("background", background)
    if color.shape != (3,) or not ((color >= 0) & (color <= 255)).all():
        raise ValueError(f"background is {brief(background)}; expected 3 numbers from 0 to 255")
    alpha = frame[..., 3:].astype(np.float32) / 255
    mixed = _LINEAR[frame[..., :3]] * alpha + _to_linear(color / 255) * (1 - alpha)
    encoded = np.where(mixed <= 0.0031308, mixed * 12.92, 1.055 * np.power(mixed, 1 / 2.4) - 0.055)
    return np.asarray(np.rint(encoded * 255), np.uint8)


def _to_linear(encoded: NDArray[Any]) -> NDArray[np.float32]:
    low, high = encoded / 12.92, np.power((encoded + 0.055) / 1.055, 2.4)
    return np.where(encoded <= 0.04045, low, high).astype(np.float32)


_LINEAR = _to_linear(np.arange(256) / 255)  # linear light of each sRGB byte


def check_format(name: str) -> _Format:
    """The format of a suffix, with or without the dot. Raises ValueError for an unknown one."""
    key = text("format", name).lower().removeprefix(".")
    if key not in _FORMATS:
        raise ValueError(f"picture format is {brief(name)}; expected {_names()}")
    return _FORMATS[key]


def _names() -> str:
    return ", ".join(_FORMATS)


def check_frame(frame: NDArray[np.uint8], name: str = "frame") -> None:
    """Raise TypeError or ValueError, with `name`, unless `frame` is (h, w, 4) uint8 and has pixels."""
    if not isinstance(frame, np.ndarray):
        raise TypeError(f"{name} is {type(frame).__name__}; expected an array (h, w, 4) of uint8")
    if frame.ndim != 3 or frame.shape[2] != 4 or 0 in frame.shape or frame.dtype != np.uint8:
        raise ValueError(
            f"{name} has shape {frame.shape} and type {frame.dtype}; expected (h, w, 4) of uint8"
        )


def pillow() -> Any:
    """Pillow's module Image, imported when it is needed. Raises ImportError that says how to install it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("writing pictures needs Pillow: pip install 'skinpy-anim[view]'") from error
    return Image
