"""The encoding of a quantized clip: 8 or 16 bits per number, to store or to send.

Layout, little-endian:

1. the header;
2. the distinct key times as float64, unless they lie on a grid;
3. the time lines: for each a count, then indices of times; a line of all times has no indices;
4. for each channel the index of its time line, then one record per channel;
5. the values of the channels, one channel after another.

A coded channel has two float32 (lowest value, step) for each column, then its columns as unsigned numbers.
Where one component of all quaternions stays away from zero, that component is left out, and decoding computes
it from the unit length. The columns of a cubic channel are its values, in-tangents and out-tangents, in 16
bits. Channels with few keys stay float32.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import _block
from .._types import Array
from ..clip import Channel, Clip
from ..clips.channel import owner_of, owners
from ..clips.edit import derived
from ..clips.evaluate import unit

_MAGIC = b"SKNQNT01"
_HEADER = np.dtype(
    [("magic", "S8"), ("duration", "<f8"), ("grid", "<f8")]
    + [(name, "<u4") for name in ("times", "lines", "channels", "reserved")]
)
_RECORD = np.dtype(
    [("moved", "<u4"), *((name, "u1") for name in ("path", "interpolation", "code", "left_out"))]
)
_LINE = np.dtype("<u4")
_RAW = 0  #: code of a channel in float32; the codes 1 and 2 are the bytes per number
_NONE = 255  #: `left_out` where no component is left out
_MIN_LEFT_OUT = 0.3  #: a component that is never smaller may be left out
_GRID_ERROR = 1e-9  # seconds that a time may be off its grid
_MAX_GRID = 65536  # times on a grid: their indices take 16 bits


def encode(clip: Clip, allowed: Sequence[float]) -> bytes:
    """Return the bytes of a clip; values of channel n may be off by allowed[n] if 8 bits suffice for that."""
    channels = clip.channels
    distinct = np.unique(np.concatenate([np.empty(0), *(channel.times for channel in channels)]))
    step = _grid(distinct)
    numbers = np.rint(distinct / step).astype(np.int64) if step else np.arange(len(distinct))
    count = int(numbers.max(initial=-1)) + 1
    lines: dict[bytes, Array] = {}
    for channel in channels:
        lines.setdefault(channel.times.tobytes(), numbers[np.searchsorted(distinct, channel.times)])
    header = np.array([(_MAGIC, clip.duration, step, count, len(lines), len(channels), 0)], _HEADER).tobytes()
    sections = [header, b"" if step else distinct.astype("<f8").tobytes()]
    for line in lines.values():
        sections.append(np.array([len(line)], _LINE).tobytes())
        sections.append(b"" if len(line) == count else line.astype(_index_type(count)).tobytes())
    line_numbers = {key: number for number, key in enumerate(lines)}
    dtype = _index_type(len(lines))
    sections.append(
        np.array([line_numbers[channel.times.tobytes()] for channel in channels], dtype).tobytes()
    )
    coded = [_Coded.of(channel, limit) for channel, limit in zip(channels, allowed, strict=True)]
    records = [_record(channel, one) for channel, one in zip(channels, coded, strict=True)]
    return b"".join([*sections, np.array(records, _RECORD).tobytes(), *(one.data for one in coded)])


def decode(data: bytes, like: Clip) -> Clip:
    """Return the clip in the bytes, bound as `like` is, which has the same joints and morph targets."""
    reader = _Reader(data)
    header = reader.rows(_HEADER, 1)[0]
    count, step, duration = int(header["times"]), float(header["grid"]), float(header["duration"])
    # The last time of a grid may be a rounding error beyond the end.
    times = np.minimum(np.arange(count) * step, duration) if step else reader.rows(np.dtype("<f8"), count)
    lines = []
    for _ in range(int(header["lines"])):
        length = int(reader.rows(_LINE, 1)[0])
        lines.append(times if length == count else times[reader.rows(_index_type(count), length)])
    line_numbers = reader.rows(_index_type(len(lines)), int(header["channels"]))
    records = reader.rows(_RECORD, int(header["channels"]))
    channels = [
        _channel(reader, record, lines[int(line)], like)
        for record, line in zip(records, line_numbers, strict=True)
    ]
    return derived(like, channels, duration)


class _Reader:
    """Reads arrays from bytes, one after another."""

    def __init__(self, data: bytes) -> None:
        self._data, self._offset = data, 0

    def rows(self, dtype: "np.dtype[np.generic]", count: int) -> Array:
        """Return the next `count` items."""
        found = np.frombuffer(self._data, dtype, count, self._offset)
        self._offset += found.nbytes
        return found


# ---- times ----------------------------------------------------------------------------------------


def _grid(times: Array) -> float:
    """Return seconds of which all times are whole multiples, at most 65,535; 0 if there are none."""
    gaps = np.diff(times, prepend=0.0)
    gaps = gaps[gaps > _GRID_ERROR]
    if not len(gaps):
        return 1.0 if len(times) < 2 else 0.0
    step = float(times[-1] / np.rint(times[-1] / gaps.min()))
    numbers = np.rint(times / step)
    fits = np.abs(times - numbers * step).max() <= _GRID_ERROR and numbers[0] >= 0 and numbers[-1] < _MAX_GRID
    apart = bool((np.diff(numbers) > 0).all())  # else two keys would have one time
    return step if fits and apart else 0.0


def _index_type(count: int) -> "np.dtype[np.generic]":
    """Return the smallest unsigned type for indices below `count`."""
    return np.dtype("u1" if count <= 256 else "<u2" if count <= 65536 else "<u4")


# ---- values ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Coded:
    """The values of one channel as bytes."""

    code: int
    left_out: int
    data: bytes

    @classmethod
    def of(cls, channel: Channel, allowed: float) -> "_Coded":
        """Return the shortest form of a channel whose values may be off by `allowed`."""
        raw = [channel.values, channel.in_tangents, channel.out_tangents]
        unchanged = b"".join(np.asarray(array, "<f4").tobytes() for array in raw if array is not None)
        columns, left_out = _columns(channel)
        low, extent = columns.min(axis=0), np.ptp(columns, axis=0)
        fits_a_byte = (
            channel.interpolation != "cubic" and float(np.linalg.norm(extent)) / (2 * 255) <= allowed
        )
        code = 1 if fits_a_byte else 2
        steps = (extent / (256**code - 1)).astype("<f4")
        low = low.astype("<f4")
        divisor = np.where(steps > 0, steps, 1.0).astype(np.float64)
        levels = np.clip(np.rint((columns - low) / divisor), 0, 256**code - 1)
        data = low.tobytes() + steps.tobytes() + levels.astype(f"<u{code}").tobytes()
        return cls(code, left_out, data) if len(data) < len(unchanged) else cls(_RAW, _NONE, unchanged)


def _columns(channel: Channel) -> tuple[Array, int]:
    """Return the columns (K,C) to be coded, in float64, and the quaternion component that is left out."""
    values = channel.values.astype(np.float64)
    if channel.in_tangents is not None and channel.out_tangents is not None:
        return np.concatenate([values, channel.in_tangents, channel.out_tangents], axis=1), _NONE
    if channel.path != "rotation":
        return values, _NONE
    values = values / np.linalg.norm(values, axis=1, keepdims=True)
    left_out = int(np.abs(values).min(axis=0).argmax())
    if np.abs(values[:, left_out]).min() < _MIN_LEFT_OUT:
        flips = np.cumprod(np.where((values[1:] * values[:-1]).sum(axis=1) < 0, -1.0, 1.0))
        values[1:] *= flips[:, None]  # neighbors of the same sign have a smaller range
        return values, _NONE
    values *= np.sign(values[:, left_out])[:, None]
    return np.delete(values, left_out, axis=1), left_out


def _record(channel: Channel, coded: _Coded) -> tuple[int, int, int, int, int]:
    path = _block.PATHS.index(channel.path)
    interpolation = _block.INTERPOLATIONS.index(channel.interpolation)
    return channel.moved, path, interpolation, coded.code, coded.left_out


def _channel(reader: _Reader, record: np.void, times: Array, like: Clip) -> Channel:
    path, moved = int(record["path"]), int(record["moved"])
    interpolation = _block.INTERPOLATIONS[record["interpolation"]]
    width, keys = _block.PATH_WIDTHS[path], len(times)
    count = 3 if interpolation == "cubic" else 1
    if record["code"] == _RAW:
        arrays = [reader.rows(np.dtype("<f4"), keys * width).reshape(keys, width) for _ in range(count)]
    else:
        coded = _decoded(reader, int(record["code"]), int(record["left_out"]), keys, count * width)
        if _block.PATHS[path] == "rotation" and count == 1:
            coded = unit(coded)
        arrays = np.split(coded.astype(np.float32), count, axis=1)
    into, out = arrays[1:] if count == 3 else (None, None)
    return Channel(
        **owners(path, moved),
        name=like._names[owner_of(path)][moved],
        path=_block.PATHS[path],
        interpolation=interpolation,
        times=times,
        values=arrays[0],
        in_tangents=into,
        out_tangents=out,
    )


def _decoded(reader: _Reader, code: int, left_out: int, keys: int, width: int) -> Array:
    columns = width - (left_out != _NONE)
    low, steps = (reader.rows(np.dtype("<f4"), columns).astype(np.float64) for _ in range(2))
    levels = reader.rows(np.dtype(f"<u{code}"), keys * columns).reshape(keys, columns)
    values = low + levels * steps
    if left_out != _NONE:
        rest = np.sqrt(np.maximum(1.0 - (values**2).sum(axis=1), 0.0))
        values = np.insert(values, left_out, rest, axis=1)
    return np.asarray(values)
