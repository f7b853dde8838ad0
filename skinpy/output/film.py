"""Films: animated PNG, GIF and WebP by Pillow, MP4 by ffmpeg."""

from __future__ import annotations

import io
import math
import operator
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .._arguments import brief, finite, path_of, text, wrong_type
from .._progress import shown
from ..files.whole import replacing
from .encoding import Color, FilmJob, Frame, opaque
from .mp4 import mp4_encoder
from .picture import check_frame, flatten, pillow

#: Writes the file of a job.
Encoder: TypeAlias = Callable[[FilmJob], None]


def save_film(
    path: str | os.PathLike[str],
    frames: Iterable[Frame],
    fps: float,
    *,
    background: Color = (255, 255, 255),
) -> Path:
    """Write pictures to a film file.

    The suffix selects the format. ".png" and ".apng" are lossless, ".webp" has quality 90; both keep
    transparency. ".gif" has 256 colors per frame, and ".mp4" is H.264 at quality 18. The file appears whole
    or not at all, also when `frames` raises. On a terminal a line shows the progress.

    Parameters
    ----------
    path : str or path-like
        The file: ".png", ".apng", ".gif", ".webp" or ".mp4".
    frames : iterable of (h, w, 4) uint8 ndarray
        Pictures of one size: straight alpha, sRGB, row 0 on top. It may be a generator, also one that fills
        the same array again and again.
    fps : float
        Frames per second.
    background : (int, int, int), default (255, 255, 255)
        An sRGB color, 0 to 255, for formats without transparency (".gif" and ".mp4").

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    TypeError
        If an argument or a frame has the wrong type.
    ValueError
        If the suffix is unknown, there are no frames, or an argument or a frame has a wrong value.
    ImportError
        If Pillow (the extra "view") is not installed, or ffmpeg for ".mp4" is neither on the PATH nor in the
        package imageio-ffmpeg (the extra "video").
    SkinpyError
        If ffmpeg fails; the message has ffmpeg's own.
    OSError
        If the file cannot be written.

    Notes
    -----
    All formats but ".mp4" repeat forever, join equal consecutive frames, and need all frames in memory.
    Times are rounded to 10 ms in a GIF and to 1 ms in PNG and WebP, such that the whole film keeps its
    length. An ".mp4" with an odd width or height repeats its last column or row, because H.264 stores colors
    for two by two pixels.

    Examples
    --------
    >>> with skinpy.render.Renderer(skinpy.character(), size=(80, 60)) as renderer:
    ...     frames = renderer.frames("walk", [0, 0.25, 0.5, 0.75])
    ...     skinpy.output.save_film("walk.webp", frames, fps=4).name
    'walk.webp'
    """
    target = Path(path_of("path", path))
    rate = check_film(target, fps)
    encode = _ENCODERS[target.suffix.lower()][1]()
    flatten(np.zeros((1, 1, 4), np.uint8), background)
    _check_items(frames)
    checked = _checked(shown(frames, operator.length_hint(frames) or None, target.name))
    with replacing(target) as file:
        encode(FilmJob(file, checked, rate, background))
    return target


def encode_film(
    frames: Iterable[Frame], fps: float, format: str, *, background: Color = (255, 255, 255)
) -> bytes:
    """Return the bytes of a film file.

    Parameters
    ----------
    frames : iterable of (h, w, 4) uint8 ndarray
        The pictures, as in `save_film`.
    fps : float
        Frames per second.
    format : str
        "png", "apng", "gif" or "webp", with or without a dot. MP4 is not available, as ffmpeg needs a file.
    background : (int, int, int), default (255, 255, 255)
        An sRGB color, 0 to 255, for formats without transparency.

    Returns
    -------
    bytes
        The file.

    Raises
    ------
    TypeError
        If an argument or a frame has the wrong type.
    ValueError
        If the format is unknown, there are no frames, or an argument or a frame has a wrong value.
    ImportError
        If Pillow is not installed.
    """
    suffix = "." + text("format", format).lower().removeprefix(".")
    if suffix not in _ENCODERS or suffix == ".mp4":
        raise ValueError(f"film format is {brief(format)}; expected png, apng, gif or webp")
    rate = check_film(Path(suffix[1:] + suffix), fps)
    flatten(np.zeros((1, 1, 4), np.uint8), background)
    _check_items(frames)
    buffer = io.BytesIO()
    _ENCODERS[suffix][1]()(FilmJob(buffer, _checked(frames), rate, background))
    return buffer.getvalue()


def check_film(target: Path, fps: float) -> float:
    """`fps` as a float, if a film of that suffix can be written at that rate.

    Raises ImportError for a missing Pillow or ffmpeg here, before a frame is drawn, and otherwise the errors
    of `save_film`.
    """
    suffix = target.suffix.lower()
    if suffix not in _ENCODERS:
        raise ValueError(f"path is {brief(str(target))}; expected one of the suffixes {', '.join(_ENCODERS)}")
    max_rate, make_encoder = _ENCODERS[suffix]
    rate = _rate(fps, max_rate, suffix)
    make_encoder()
    return rate


def _rate(fps: float, max_rate: float, suffix: str) -> float:
    endless = isinstance(fps, float) and math.isinf(fps) and math.isfinite(max_rate)
    rate = fps if endless else finite("fps", fps)  # the message of an endless one has the largest rate
    if not 0 < rate <= max_rate:
        limit = f" and at most {max_rate:g} in {suffix}" if math.isfinite(max_rate) else ""
        raise ValueError(f"fps is {brief(fps)}; expected more than 0{limit}")
    return rate


def _check_items(frames: Iterable[Frame]) -> None:
    """TypeError for what has no items: the encoders would stumble over it after they have begun."""
    if not isinstance(frames, Iterable) or isinstance(frames, str | bytes | Mapping):
        raise wrong_type("frames", frames, "an iterable of pictures")


def _checked(frames: Iterable[Frame]) -> Iterator[Frame]:
    """The frames. Raises TypeError or ValueError for one that is not a picture of the size of the first."""
    size = None
    for number, frame in enumerate(frames):
        check_frame(frame, f"frame {number}")
        size = size or frame.shape
        if frame.shape != size:
            raise ValueError(
                f"frame {number} is {frame.shape[1]}x{frame.shape[0]} pixels; "
                f"expected {size[1]}x{size[0]} as in frame 0"
            )
        yield frame
    if size is None:
        raise ValueError("frames is empty; expected at least one picture")


# ---- encoders that use Pillow ---------------------------------------------------------------------------


def _png_encoder() -> Encoder:
    image = pillow()
    return lambda job: _save(job, "PNG", image.fromarray, tick=1)


def _webp_encoder() -> Encoder:
    image = pillow()
    return lambda job: _save(job, "WEBP", image.fromarray, tick=1, quality=90)


def _gif_encoder() -> Encoder:
    image = pillow()

    def with_256_colors(frame: Frame, background: Color) -> Any:
        # No dithering: its dots would flicker from frame to frame.
        return image.fromarray(opaque(frame, background)).quantize(256, dither=image.Dither.NONE)

    return lambda job: _save(job, "GIF", lambda frame: with_256_colors(frame, job.background), tick=10)


def _save(job: FilmJob, format: str, convert: Callable[[Frame], Any], *, tick: int, **options: Any) -> None:
    # Each frame is copied: Pillow may refer to the memory of the array, which the caller may fill again.
    images = [convert(np.array(frame, order="C")) for frame in job.frames]
    ends = [round((number + 1) * 1000 / job.fps / tick) * tick for number in range(len(images))]
    durations = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    first, *others = images
    try:
        first.save(
            job.file, format, save_all=True, append_images=others, duration=durations, loop=0, **options
        )
    except (struct.error, OverflowError, ValueError) as error:  # durations and sizes are fields of 16 bits
        raise ValueError(
            f"{format} cannot hold this film ({error}): frames, or equal ones in a row, last too long, "
            "or they are too large; write an .mp4 instead"
        ) from error


#: By suffix: the highest rate in frames per second, and what makes the encoder. Players slow GIFs down whose
#: frames are shorter than 20 ms.
_ENCODERS: dict[str, tuple[float, Callable[[], Encoder]]] = {
    ".png": (1000, _png_encoder),
    ".apng": (1000, _png_encoder),
    ".gif": (50, _gif_encoder),
    ".webp": (1000, _webp_encoder),
    ".mp4": (math.inf, mp4_encoder),
}
FILM_SUFFIXES = tuple(_ENCODERS)
