"""Arrays and images as the text of a page: small, exact, and quick to unpack in a browser."""

from __future__ import annotations

import base64
import io
import math
import warnings
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skinpy._images import decoded
from skinpy.assets import Texture
from skinpy.errors import SkinpyWarning

from ...output.picture import pillow

# What the names of types in web/data.js mean.
_TYPES = {np.dtype("<f4"): "f4", np.dtype("u1"): "u1", np.dtype("<u2"): "u2", np.dtype("<u4"): "u4"}

# Images that browsers read as they are: Pillow's name and the type; and what they hold without loss there.
_KEPT = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
_KEPT_MODES = {"1", "L", "LA", "P", "RGB", "RGBA"}
_ORIENTATION = 274  # EXIF: browsers turn such pictures, what draws on the desktop does not


def packed(array: NDArray[Any]) -> dict[str, Any]:
    """An array of float32, uint8, uint16 or uint32 for web/data.js: type, shape, packing, data.

    Data are base64 of zlib of the numbers, in the shorter of two packings. "plain" is row-major and
    little-endian. "tracks" goes down the columns of the array as (len(array), -1): each number as an unsigned
    integer less the one above it, first the lowest bytes of all, then the next, and so on. What changes
    little from row to row (frames of an animation, the corners of faces) becomes small by it.
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
    words[:, 1:] -= words[:, :-1].copy()  # modulo 2 to the number of bits
    planes = np.ascontiguousarray(words.reshape(-1, 1).view(np.uint8).T)
    return zlib.compress(planes.tobytes(), 9)


def packed_image(texture: Texture, largest: int) -> dict[str, str] | None:
    """An image for web/data.js: type and data, base64.

    What a browser reads is kept as it is; the rest becomes PNG. Images with a side of more than `largest`
    pixels are made smaller, JPEG staying JPEG. None, with a SkinpyWarning, for one that cannot be decoded.
    What is decoded, and up to which size, is as in Texture.image. Raises ImportError without Pillow.
    """
    tool = pillow()
    try:
        return _read_image(tool, texture, largest)
    except Exception as error:  # decoders raise whatever they like at broken files
        warnings.warn(f"texture {texture.name!r} is not drawn: {error}", SkinpyWarning, stacklevel=2)
        return None


def _read_image(tool: Any, texture: Texture, largest: int) -> dict[str, str]:
    picture = decoded(texture)  # whole: a file that breaks off is found here, not in the browser
    kind = picture.format
    fits = max(picture.size) <= largest
    upright = picture.getexif().get(_ORIENTATION, 1) == 1
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
