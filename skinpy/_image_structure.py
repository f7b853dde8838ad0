"""What an image would cost to decode, found from its structure before anything is decoded.

The size in pixels alone does not bound the time: a JPEG may go over its pixels in thousands of scans, and a
TIFF may have thousands of strips that are all the same bytes. Here images are refused that cost more than
common encoders ask for. `Source` bounds the same for what decoders do in Python: every chunk, segment,
comment or directory entry that they handle takes a read.
"""

from __future__ import annotations

import io
import re
import struct

from .errors import LimitExceeded, LoadError

#: The scans of a JPEG: the scripts of common encoders have 10, or 18 for four components.
MAX_SCANS = 32
#: The segments of a JPEG, each of at most 65,533 bytes.
MAX_SEGMENTS = 4096
#: The color profiles and packed texts of a PNG, each of which unpacks to up to a megabyte. Files have a few.
MAX_PACKED = 32
#: The strips or tiles of a TIFF, whose pixels may be as many as those of one image.
MAX_STRIPS = 16_384
#: The comments of a PPM in words. Pillow copies up to a megabyte for each.
MAX_COMMENTS = 1000
#: The reads of a decoder: so many, and one more for each 64 bytes.
_READS = 10_000

_JPEG_MARKER = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")  # neither a stuffed byte, nor a restart, nor filling
_SOF0, _SOI, _EOI, _SOS = 0xC0, 0xD8, 0xD9, 0xDA
_ARITHMETIC = {0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}  # frames; ITU-T T.81, table B.1

#: Tags of TIFF.
_COMPRESSION, _ORIENTATION = 259, 274
_STRIP_OFFSETS, _STRIP_BYTES = 273, 279
_TILE_OFFSETS, _TILE_BYTES = 324, 325
#: Unsigned integers among the types of TIFF: their struct codes.
_WHOLE_TYPES = {1: "B", 3: "H", 4: "I", 13: "I"}
#: Compressions of TIFF: none, LZW, JPEG, deflate, PackBits, and the older number of deflate.
_COMPRESSIONS = {1, 5, 7, 8, 32773, 32946}
_JPEG_IN_TIFF = 7


class Source(io.BytesIO):
    """The bytes of one image for its decoder, which may read them often enough to decode, and no more.

    `subject` begins the errors. `in_python` is set for a decoder that is written in Python and reads byte by
    byte. After `cancel` every read raises, so that a decoder in another thread ends.
    """

    def __init__(self, data: bytes, subject: str) -> None:
        super().__init__(data)
        self.in_python = False
        self._subject = subject
        self._size = len(data)
        self._reads = 0
        self._bytes = 0
        self._canceled = False

    def read(self, size: int | None = -1, /) -> bytes:
        """Read up to `size` bytes; LimitExceeded for a decoder that reads without end."""
        data = super().read(size)
        self._reads += 1
        self._bytes += len(data)
        reads = _READS + self._size // (1 if self.in_python else 64)
        if self._canceled or self._reads > reads or self._bytes > 4 * self._size + (1 << 20):
            raise LimitExceeded(
                f"{self._subject} is in too many pieces: decoding takes {self._reads} reads and "
                f"{self._bytes} bytes of {self._size}; expected at most {reads} reads, and "
                "each byte four times"
            )
        return data

    def cancel(self) -> None:
        """Let all later reads raise."""
        self._canceled = True


def check_structure(data: bytes, subject: str) -> None:
    """LimitExceeded or LoadError if decoding would cost more than it should; `subject` begins the error."""
    if data.startswith(b"\xff\xd8"):
        _check_jpeg(data, subject)
    elif data.startswith(b"\x89PNG"):
        packed = sum(data.count(kind) for kind in (b"iCCP", b"zTXt", b"iTXt"))
        if packed > MAX_PACKED:
            raise LimitExceeded(
                f"{subject} has {packed} packed profiles and texts; expected at most {MAX_PACKED}"
            )
    elif data[:2] in (b"P1", b"P2", b"P3"):
        comments = data.count(b"#")
        if comments > MAX_COMMENTS:
            raise LimitExceeded(f"{subject} has {comments} comments; expected at most {MAX_COMMENTS}")
    elif data[:4] in (b"II*\0", b"MM\0*"):
        _check_tiff(data, subject)
    elif data[:2] in (b"II", b"MM"):  # Pillow and libtiff differ in how they read these
        raise LoadError(f"{subject} is a BigTIFF, or a TIFF with a broken header, which is not decoded")


def is_upright(exif: bytes) -> bool:
    """Whether EXIF data leave a picture as it is, because the tag 274 is 1 or missing."""
    try:
        return tiff_tags(exif.removeprefix(b"Exif\0\0"), {_ORIENTATION}, "EXIF")[_ORIENTATION] == (1,)
    except KeyError:
        return True
    except LoadError:
        return False


def _check_jpeg(data: bytes, subject: str) -> None:
    """Walk over the segments, and over the coded data between them, to the end of the image."""
    scans = segments = 0
    at = 2
    while found := _JPEG_MARKER.search(data, at):
        kind, at = data[found.start() + 1], found.end()
        segments += 1
        if kind == _EOI or segments > MAX_SEGMENTS:
            break
        if kind < _SOF0 or kind == _SOI:  # libjpeg goes on behind a marker that is reserved
            continue
        if kind in _ARITHMETIC:
            raise LoadError(f"{subject} is a JPEG with arithmetic coding, which is not decoded")
        scans += kind == _SOS
        at += max(int.from_bytes(data[at : at + 2], "big"), 2)
    if scans > MAX_SCANS:
        raise LimitExceeded(f"{subject} is a JPEG of {scans} scans; expected at most {MAX_SCANS}")
    if segments > MAX_SEGMENTS:
        raise LimitExceeded(f"{subject} is a JPEG of more than {MAX_SEGMENTS} segments")


def _check_tiff(data: bytes, subject: str) -> None:
    """Check the compression of the first image, and its strips or tiles."""
    tags = tiff_tags(data, {_COMPRESSION, _STRIP_OFFSETS, _STRIP_BYTES, _TILE_OFFSETS, _TILE_BYTES}, subject)
    compression = (*tags.get(_COMPRESSION, ()), 1)[0]
    if compression not in _COMPRESSIONS:
        raise LoadError(
            f"{subject} is a TIFF with compression {compression}; expected none (1), LZW (5), JPEG (7), "
            "deflate (8) or PackBits (32773)"
        )
    offsets = tags.get(_STRIP_OFFSETS, ()) + tags.get(_TILE_OFFSETS, ())
    counts = tags.get(_STRIP_BYTES, ()) + tags.get(_TILE_BYTES, ())
    if len(offsets) > 1 and compression != 1 and (len(counts) != len(offsets) or sum(counts) > 4 * len(data)):
        raise LimitExceeded(
            f"{subject} is a TIFF of {len(offsets)} strips or tiles that overlap, or whose sizes are missing"
        )
    scans = data.count(b"\xff\xda") if compression == _JPEG_IN_TIFF else 0
    if scans > MAX_SCANS * max(len(offsets), 1):
        raise LimitExceeded(
            f"{subject} is a TIFF of {len(offsets)} strips or tiles and {scans} scans; expected at most "
            f"{MAX_SCANS} for each"
        )


def tiff_tags(data: bytes, wanted: set[int], subject: str) -> dict[int, tuple[int, ...]]:
    """The values of tags in the first directory of a TIFF, of those that are unsigned integers.

    A directory that ends early has the tags before its end. LimitExceeded for more values than `MAX_STRIPS`,
    and LoadError for a tag that is there twice, because readers differ in which of the two they take.
    """
    order = "<" if data.startswith(b"II") else ">"
    entry = struct.Struct(order + "HHI4s")
    found: dict[int, tuple[int, ...]] = {}
    try:
        (at,) = struct.unpack_from(order + "I", data, 4)
        (entries,) = struct.unpack_from(order + "H", data, at)
        for number in range(entries):
            tag, kind, count, value = entry.unpack_from(data, at + 2 + number * entry.size)
            if tag in found:
                raise LoadError(f"{subject} has the tag {tag} of TIFF twice")
            if tag in wanted:
                found[tag] = _tiff_values(data, order, tag, kind, count, value, subject)
    except struct.error:
        pass
    return found


def _tiff_values(
    data: bytes, order: str, tag: int, kind: int, count: int, value: bytes, subject: str
) -> tuple[int, ...]:
    """The values of one tag; `value` has them, or their offset where they take more than four bytes."""
    if count > MAX_STRIPS:
        raise LimitExceeded(f"{subject} is a TIFF of {count} strips or tiles; expected at most {MAX_STRIPS}")
    if kind not in _WHOLE_TYPES:
        raise LoadError(f"{subject} has a tag {tag} of TIFF that is not an unsigned integer")
    values = struct.Struct(f"{order}{count}{_WHOLE_TYPES[kind]}")
    if values.size <= len(value):
        return values.unpack_from(value)
    (offset,) = struct.unpack(order + "I", value)
    if offset + values.size > len(data):
        raise LoadError(f"{subject} ends before the values of its tag {tag} of TIFF")
    return values.unpack_from(data, offset)
