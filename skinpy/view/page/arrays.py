"""Packs arrays and images into the text of a page: small, exact, and quick to unpack in a browser."""

from __future__ import annotations

import base64
import io
import math
import warnings
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skinpy._image_structure import is_upright
from skinpy._images import decoded
from skinpy.assets import Texture
from skinpy.errors import SkinpyWarning

from ..._text import quoted
from ...output.picture import pillow

# Types of numbers by their names in web/data.js.
_TYPES = {np.dtype("<f4"): "f4", np.dtype("u1"): "u1", np.dtype("<u2"): "u2", np.dtype("<u4"): "u4"}

# Formats that browsers read, by Pillow's name, with their media type; and Pillow's modes that survive there.
_KEPT = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
_KEPT_MODES = {"1", "L", "LA", "P", "RGB", "RGBA"}


def packed(array: NDArray[Any]) -> dict[str, Any]:
    """An array of float32, uint8, uint16 or uint32 as web/data.js unpacks it: type, shape, packing, data.

    The data are the numbers, compressed by zlib, as base64, in the shorter of two packings. "plain" is
    row-major and little-endian. "tracks" takes the array as (len(array), -1), column by column: the bits of
    each number, as an unsigned integer, minus those of the number in the row before; first the lowest bytes
    of all, then the next, and so on. It packs well what changes little from row to row, such as frames of an
    animation or corners of faces.
    """
    rows = np.ascontiguousarray(array).reshape(len(array), math.prod(array.shape[1:]))
    data, packing = min((_plain(rows), "plain"), (_tracks(rows), "tracks"), key=lambda pair: len(pair[0]))
    return {
        "type": _TYPES[array.dtype.newbyteorder("<")],
        "shape": list(array.shape),
        "packing": packing,
        "data": base64.b64encode(data).decode("ascii"),
    }


def _plain(rows: NDArray[Any]) -> bytes:
    return zlib.compress(rows.astype(rows.dtype.newbyteorder("<")).tobytes(), 9)


def _tracks(rows: NDArray[Any]) -> bytes:
    size = rows.dtype.itemsize
    words = np.ascontiguousarray(rows.astype(rows.dtype.newbyteorder("<")).view(f"<u{size}").T)
    words[:, 1:] -= words[:, :-1].copy()  # modulo 2 ** bits
    planes = np.ascontiguousarray(words.reshape(-1, 1).view(np.uint8).T)
    return zlib.compress(planes.tobytes(), 9)


def packed_image(texture: Texture, largest: int) -> dict[str, str] | None:
    """An image as web/data.js unpacks it: type and data, base64.

    An image that a browser reads is kept byte for byte; others become PNG. Images with a side of more than
    `largest` pixels are made smaller; a JPEG stays a JPEG. An image that cannot be decoded, by the rules of
    `Texture.image`, is None with a SkinpyWarning. Raises ImportError without Pillow.
    """
    tool = pillow()
    try:
        return _read_image(tool, texture, largest)
    except Exception as error:  # decoders raise errors of any type for broken files
        warnings.warn(f"texture {quoted(texture.name)} is not drawn: {error}", SkinpyWarning, stacklevel=2)
        return None


def _read_image(tool: Any, texture: Texture, largest: int) -> dict[str, str]:
    picture = decoded(texture)  # all of it, so that a truncated file is found here and not in the browser
    kind = picture.format
    fits = max(picture.size) <= largest
    upright = is_upright(picture.info.get("exif", b""))  # browsers rotate others, the renderer does not
    if kind in _KEPT and fits and upright and picture.mode in _KEPT_MODES:
        return _image(_KEPT[kind], bytes(texture.data))
    photo = kind == "JPEG"
    picture = picture.convert("RGB" if photo else "RGBA")
    picture.thumbnail((largest, largest), tool.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG" if photo else "PNG", **({"quality": 90} if photo else {"optimize": True}))
    return _image("image/jpeg" if photo else "image/png", buffer.getvalue())


def _image(kind: str, data: bytes) -> dict[str, str]:
    return {"type": kind, "data": base64.b64encode(data).decode("ascii")}
