"""Images that cost far more to decode than their pixels or bytes say, and honest ones like them.

All are made here, by Pillow or by hand. `REFUSED` are refused by name; `DECODED` are decoded.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

SIDE = 16


def picture(side: int = SIDE, mode: str = "RGB") -> Image.Image:
    """Noise."""
    bands = len(Image.new(mode, (1, 1)).getbands())
    return Image.frombytes(mode, (side, side), np.random.default_rng(5).bytes(bands * side * side))


def encoded(kind: str, mode: str = "RGB", side: int = SIDE, **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture(side, mode).save(buffer, kind, **options)
    return buffer.getvalue()


# ---- JPEG ------------------------------------------------------------------------------------------


def scans(count: int, **options: Any) -> bytes:
    """A JPEG whose last scan is repeated until it has so many."""
    data = encoded("JPEG", **options)
    last = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + last * (count - data.count(b"\xff\xda")) + data[-2:]


def with_reserved(data: bytes) -> bytes:
    """A JPEG with a marker in its first scan that says no length, and bytes that look like one."""
    at = data.index(b"\xff\xda") + 15  # behind the header of the scan, and a byte of it
    return data[:at] + b"\xff\x02\x7f\xff\x00" + data[at:]


def with_segments(segment: bytes, count: int) -> bytes:
    """A JPEG with bytes before its first segment, many times."""
    data = encoded("JPEG")
    return data[:2] + segment * count + data[2:]


def comment(data: bytes) -> bytes:
    return b"\xff\xfe" + struct.pack(">H", 2 + len(data)) + data


def photos() -> bytes:
    """Two photos in one file, of which the first is meant."""
    buffer = io.BytesIO()
    picture().save(buffer, "MPO", save_all=True, append_images=[picture()], progressive=True)
    return buffer.getvalue()


# ---- PNG -------------------------------------------------------------------------------------------


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def with_chunks(added: bytes, before: bytes = b"IDAT") -> bytes:
    """A PNG with more chunks before its first one of this kind."""
    data = encoded("PNG")
    at = data.index(before) - 4
    return data[:at] + added + data[at:]


def lines(width: int, height: int) -> bytes:
    """A PNG of one bit for each pixel."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    rows = zlib.compress(bytes((1 + (width + 7) // 8) * height))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", rows) + chunk(b"IEND")


def interlaced() -> bytes:
    """A PNG of one pixel, by Adam7."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 1))
    body = chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    return b"\x89PNG\r\n\x1a\n" + header + body + chunk(b"IEND")


def frames(kind: str, count: int = 200) -> bytes:
    buffer = io.BytesIO()
    first, *others = (picture().rotate(90 * number) for number in range(count))
    first.save(buffer, kind, save_all=True, append_images=others, duration=20)
    return buffer.getvalue()


# ---- TIFF ------------------------------------------------------------------------------------------

_TYPES = {"H": 3, "I": 4, "f": 11}


def tiff(
    width: int,
    height: int,
    data: bytes,
    *more: tuple[int, str, list[int]],
    order: str = "<",
    next_at: int = 0,
) -> bytes:
    """A TIFF of 8-bit gray: one directory, then the values of its tags, then `data`, at offset -1.

    `more` are further tags: their number, type and values; offsets of data that start at -1.
    """
    plain: list[tuple[int, str, list[int]]] = [(256, "I", [width]), (257, "I", [height]), (258, "H", [8])]
    plain += [(262, "H", [1]), (277, "H", [1]), *more]
    plain.sort(key=lambda tag: tag[0])
    behind = 8 + 2 + 12 * len(plain) + 4
    sizes = [struct.calcsize(f"{order}{len(values)}{kind}") for _, kind, values in plain]
    data_at = behind + sum(size for size in sizes if size > 4)
    entries, outside = b"", b""
    for (number, kind, values), size in zip(plain, sizes, strict=True):
        values = [data_at + ~value if value < 0 else value for value in values]
        packed = struct.pack(f"{order}{len(values)}{kind}", *values)
        if size > 4:
            packed, outside = struct.pack(order + "I", behind + len(outside)), outside + packed
        entries += struct.pack(order + "HHI", number, _TYPES[kind], len(values)) + packed.ljust(4, b"\0")
    head = b"II*\0" if order == "<" else b"MM\0*"
    directory = struct.pack(order + "H", len(plain)) + entries + struct.pack(order + "I", next_at)
    return head + struct.pack(order + "I", 8) + directory + outside + data


def strips(count: int, data: bytes, compression: int = 8, sizes: bool = True, width: int = 1) -> bytes:
    """A TIFF with a strip for each row; all strips are the same bytes."""
    tags = [(259, "H", [compression]), (273, "I", [-1] * count), (278, "I", [1])]
    tags += [(279, "I", [len(data)] * count)] * sizes
    return tiff(width, count, data, *tags)


def padded_deflate(size: int) -> bytes:
    """One byte, deflated, behind so many bytes of empty blocks."""
    return zlib.compress(b"")[:2] + b"\0\0\0\xff\xff" * (size // 5) + zlib.compress(b"\0")[2:]


def thin(height: int, tile: int) -> bytes:
    """A TIFF one pixel wide, of tiles that are wide and low; all tiles are the same bytes."""
    count = height // 16
    data = zlib.compress(bytes(16 * tile), 9)
    tags = [(259, "H", [8]), (322, "I", [tile]), (323, "I", [16])]
    return tiff(1, height, data, *tags, (324, "I", [-1] * count), (325, "I", [0] * count))


def jpeg_strip(count: int) -> bytes:
    """A TIFF whose one strip is a JPEG of so many scans."""
    data = scans(count, mode="L")
    return tiff(
        SIDE, SIDE, data, (259, "H", [7]), (273, "I", [-1]), (278, "I", [SIDE]), (279, "I", [len(data)])
    )


# ---- others ----------------------------------------------------------------------------------------


def with_comment(blocks: int) -> bytes:
    """A GIF with a comment before its picture, in blocks of one byte."""
    data = encoded("GIF")
    at = 13 + 3 * 2 ** ((data[10] & 7) + 1)
    return data[:at] + b"!\xfe" + b"\1x" * blocks + b"\0" + data[at:]


def dds(side: int) -> bytes:
    """A header of a DDS of 32 bits a pixel and nothing behind it."""
    head = struct.pack("<4s7I44x", b"DDS ", 124, 0x100F, side, side, 4 * side, 0, 0)
    masks = struct.pack("<2I4s5I", 32, 0x41, b"", 32, 0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    return head + masks + struct.pack("<5I", 0x1000, 0, 0, 0, 0)


def psd(resources: int) -> bytes:
    """A picture of black, with empty resources."""
    resource = b"8BIM" + struct.pack(">HHI", 1000, 0, 0)
    head = struct.pack(">4sH6xHIIHH", b"8BPS", 1, 3, SIDE, SIDE, 8, 3)
    parts = struct.pack(">II", 0, len(resource) * resources) + resource * resources + bytes(4)
    return head + parts + struct.pack(">H", 0) + bytes(3 * SIDE * SIDE)


#: What costs more than it should, and the words of the refusal.
REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "JPEG of many scans": (lambda: scans(1505, progressive=True), "JPEG of 1505 scans; expected at most 32"),
    "JPEG of a scan too many": (lambda: scans(33, progressive=True), "JPEG of 33 scans"),
    "JPEG of many scans, not progressive": (lambda: scans(300), "JPEG of 300 scans"),
    "JPEG of many scans behind filling": (
        lambda: scans(300, progressive=True).replace(b"\xff\xda", b"\xff\xff\xff\xda"),
        "JPEG of 300 scans",
    ),
    "JPEG of many scans behind a reserved marker": (
        lambda: with_reserved(scans(300, progressive=True)),
        "JPEG of 300 scans",
    ),
    "JPEG with arithmetic coding": (
        lambda: encoded("JPEG").replace(b"\xff\xc0", b"\xff\xc9"),
        "JPEG with arithmetic coding",
    ),
    "JPEG of many segments": (lambda: with_segments(comment(b""), 5000), "more than 4096 segments"),
    "JPEG of filling": (lambda: with_segments(b"\xff", 200_000), "too many pieces"),
    "PNG of many empty chunks of pixels": (lambda: with_chunks(chunk(b"IDAT") * 20_000), "too many pieces"),
    "PNG of many chunks before its pixels": (lambda: with_chunks(chunk(b"teSt") * 20_000), "too many pieces"),
    "PNG of many chunks behind its pixels": (
        lambda: with_chunks(chunk(b"teSt") * 20_000, b"IEND"),
        "too many pieces",
    ),
    "PNG of many profiles": (
        lambda: with_chunks(chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(1 << 20))) * 100),
        "100 packed profiles and texts; expected at most 32",
    ),
    "PNG of texts that unpack": (
        lambda: with_chunks(chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(1 << 20))) * 100),
        "100 packed profiles and texts",
    ),
    "PNG of a text that unpacks": (
        lambda: with_chunks(chunk(b"iTXt", b"a\0\1\0\0\0" + zlib.compress(bytes(1 << 22)))),
        "cannot be decoded",
    ),
    "GIF of a comment in many blocks": (lambda: with_comment(200_000), "too many pieces"),
    "TIFF of many strips": (
        lambda: strips(20_000, zlib.compress(b"\0")),
        "20000 strips or tiles; expected at",
    ),
    "TIFF of many plain strips": (lambda: strips(20_000, b"\0", 1), "20000 strips or tiles"),
    "TIFF of strips that overlap": (lambda: strips(16_000, padded_deflate(100_000)), "overlap"),
    "TIFF of strips without sizes": (
        lambda: strips(1000, zlib.compress(b"\0"), sizes=False),
        "sizes are miss",
    ),
    "TIFF of wide tiles": (lambda: thin(60_000, 1 << 14), "tiles of 16384 x 60000 pixels"),
    "TIFF of a JPEG of many scans": (lambda: jpeg_strip(300), "1 strips or tiles and 300 scans"),
    "TIFF of offsets twice": (
        lambda: tiff(1, 1, b"\0", (273, "I", [-1]), (273, "I", [-1]), (279, "I", [1])),
        "the tag 273 of TIFF twice",
    ),
    "TIFF of offsets as fractions": (
        lambda: tiff(1, 1, b"\0", (273, "f", [8]), (279, "I", [1])),
        "unsigned integ",
    ),
    "BigTIFF": (lambda: b"II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0" + bytes(20), "is a BigTIFF"),
    "BigTIFF, big-endian": (lambda: b"MM\0+" + strips(20_000, b"\0", 1)[4:], "is a BigTIFF"),
    "TIFF of a turned header": (
        lambda: b"II\0*" + strips(20_000, b"\0", 1)[4:],
        "a TIFF with a broken header",
    ),
    "TIFF of tiles behind strips that are not there": (
        lambda: tiff(1, 1, b"\0", (273, "I", [-1] * 3), (324, "I", [-1] * 20_000)).replace(
            struct.pack("<HHI", 273, 4, 3), struct.pack("<HHI", 273, 4, 16_000) + b"\xff\xff\xff\x7f"
        ),
        "ends before the values of its tag 273",
    ),
    "TIFF of LZMA": (lambda: strips(1, b"", 34925), "compression 34925; expected none"),
    "TIFF of Zstandard": (lambda: strips(1, b"", 50000), "compression 50000"),
    "TIFF of WebP": (lambda: strips(1, b"", 50001), "compression 50001"),
    "TIFF of a JPEG of the older kind": (lambda: strips(1, b"", 6), "compression 6"),
    "TIFF of a fax": (lambda: strips(1, b"", 4), "compression 4"),
    "PPM of a long comment": (lambda: b"P6 #" + b"x" * 100_000 + b"\n1 1 255\n\0\0\0", "too many pieces"),
    "PPM of many comments": (
        lambda: b"P3 1 1 255\n" + b"#\n" * 5000 + b"1 2 3\n",
        "5000 comments; expected at",
    ),
    "PNG of narrow rows": (lambda: lines(1, 1 << 20), "1 x 1048576 pixels; expected at most 65535 along"),
    "PNG of a long row": (lambda: lines(1 << 20, 1), "1048576 x 1 pixels; expected at most 65535 along"),
    "DDS of a header": (lambda: dds(9000), "too many pieces|not enough image data"),
    "PSD of many resources": (lambda: psd(50_000), "too many pieces"),
}

#: What looks like those and is honest.
DECODED: dict[str, Callable[[], bytes]] = {
    "JPEG of ten scans": lambda: encoded("JPEG", progressive=True),
    "JPEG of four components": lambda: encoded("JPEG", "CMYK", progressive=True),
    "JPEG of as many scans as may be": lambda: scans(32, progressive=True),
    "JPEG with restarts": lambda: encoded("JPEG", side=64, restart_marker_blocks=1),
    "JPEG whose comment has scans": lambda: with_segments(comment(b"\xff\xda" * 500), 1),
    "JPEG of a long profile": lambda: encoded("JPEG", icc_profile=bytes(2_000_000)),
    "JPEG with a second photo": photos,
    "PNG of small chunks": lambda: with_chunks(b"", b"IDAT"),
    "PNG with a profile and a text": lambda: with_chunks(
        chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(1000))) + chunk(b"zTXt", b"a\0\0" + zlib.compress(b"b"))
    ),
    "PNG, interlaced": interlaced,
    "PNG of frames": lambda: frames("PNG"),
    "GIF of frames": lambda: frames("GIF"),
    "WebP of frames": lambda: frames("WEBP"),
    "TIFF of frames": lambda: frames("TIFF", 20),
    "TIFF of a strip for each row": lambda: strips(8000, b"\0", 1),
    "TIFF of a deflated strip for each row": lambda: strips(8, zlib.compress(bytes(8)), width=8),
    "TIFF, big-endian": lambda: tiff(
        2, 2, b"\0\1\2\3", (273, "I", [-1]), (278, "H", [2]), (279, "H", [4]), order=">"
    ),
    "TIFF whose directory follows itself": lambda: tiff(
        2, 2, bytes(4), (273, "I", [-1]), (279, "I", [4]), next_at=8
    ),
    "TIFF of LZW": lambda: encoded("TIFF", compression="tiff_lzw"),
    "TIFF of deflate": lambda: encoded("TIFF", compression="tiff_adobe_deflate"),
    "TIFF of PackBits": lambda: encoded("TIFF", compression="packbits"),
    "TIFF of JPEG": lambda: encoded("TIFF", compression="jpeg", side=64),
    "GIF of a comment": lambda: with_comment(1000),
    "PPM of a comment": lambda: b"P6 # a comment\n1 1 255\n\0\0\0",
    "PNG of as many rows as may be": lambda: lines(1, 65_535),
    "PPM of comments in words": lambda: b"P3 1 1 255\n" + b"# red\n1 # green\n2 " * 300 + b"3\n",
    "PPM in words": lambda: b"P3 1 1 255\n1 2 3\n",
    "DDS of plain pixels": lambda: dds(16) + bytes(4 * 16 * 16),
    "PSD of resources": lambda: psd(100),
    "QOI": lambda: encoded("QOI"),
}
