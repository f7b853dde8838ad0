"""Films: animated PNG, GIF and WebP by Pillow, MP4 by ffmpeg."""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import math
import operator
import os
import shutil
import signal
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._progress import shown
from .._signals import undisturbed
from ..errors import SkinpyError
from ..files.whole import replacing
from .picture import check_frame, flatten, pillow

Frame = NDArray[np.uint8]
Color = tuple[int, int, int]


class _Job(NamedTuple):
    """What an encoder gets; `frames` are checked, of one size, and at least one."""

    file: BinaryIO
    frames: Iterator[Frame]
    fps: float
    background: Color


def save_film(
    path: str | os.PathLike[str],
    frames: Iterable[Frame],
    fps: float,
    *,
    background: Color = (255, 255, 255),
) -> Path:
    """Write a film to `path` and return the path; the suffix decides the format.

    `frames` are pictures (h, w, 4) uint8, straight alpha, sRGB, row 0 on top, all of one size; a generator
    will do, and so will one that fills the same array again and again. `fps` is frames per second.

    `.png` and `.apng` are without loss, `.webp` at quality 90; both keep transparency. `.gif` has 256 colors
    per frame and `.mp4` is H.264 at quality 18; neither has transparency: their frames are laid on
    `background`, (red, green, blue) sRGB from 0 to 255. All but `.mp4` repeat for ever, join equal frames in
    a row, and hold all frames in memory. Times are rounded to 10 ms in a GIF and to 1 ms in PNG and WebP such
    that the film as a whole keeps its length. An `.mp4` with an odd width or height gets its last column or
    row twice, because H.264 stores color for two by two pixels.

    The file appears whole or not at all, also when `frames` raises. Raises TypeError or ValueError for wrong
    arguments and frames; ImportError without Pillow (the extra `view`) or, for `.mp4`, without an ffmpeg on
    the PATH or in the package imageio-ffmpeg (the extra `video`); SkinpyError with ffmpeg's own words where
    that fails; OSError where the file cannot be written.
    """
    target = Path(os.fsdecode(path))
    rate = check_film(target, fps)
    encode = _ENCODERS[target.suffix.lower()][1]()
    flatten(np.zeros((1, 1, 4), np.uint8), background)
    checked = _checked(shown(frames, operator.length_hint(frames) or None, target.name))
    with replacing(target) as file:
        encode(_Job(file, checked, rate, background))
    return target


def encode_film(
    frames: Iterable[Frame], fps: float, format: str, *, background: Color = (255, 255, 255)
) -> bytes:
    """The frames as the bytes of a film file: png, apng, gif or webp, with or without a dot.

    Arguments and errors are those of `save_film`; .mp4 is refused with a ValueError, as ffmpeg needs a file.
    """
    suffix = "." + format.lower().removeprefix(".")
    if suffix not in _ENCODERS or suffix == ".mp4":
        raise ValueError(f"film format is {format!r}; expected png, apng, gif or webp")
    rate = check_film(Path(suffix[1:] + suffix), fps)
    flatten(np.zeros((1, 1, 4), np.uint8), background)
    buffer = io.BytesIO()
    _ENCODERS[suffix][1]()(_Job(buffer, _checked(frames), rate, background))
    return buffer.getvalue()


def check_film(target: Path, fps: float) -> float:
    """`fps` as a float, where a film can be written to a path of that suffix at that rate.

    What is missing, Pillow or ffmpeg, is told here, before a frame is drawn. Errors are those of `save_film`.
    """
    suffix = target.suffix.lower()
    if suffix not in _ENCODERS:
        raise ValueError(f"path is {str(target)!r}; expected one of the suffixes {', '.join(_ENCODERS)}")
    most, encoder = _ENCODERS[suffix]
    rate = _rate(fps, most, suffix)
    encoder()
    return rate


def _rate(fps: float, most: float, suffix: str) -> float:
    try:
        rate = float(fps)
    except (TypeError, ValueError):
        raise TypeError(f"fps is {fps!r}; expected a number of frames per second") from None
    if not 0 < rate <= most:
        limit = f" and at most {most:g} in {suffix}" if math.isfinite(most) else ""
        raise ValueError(f"fps is {fps!r}; expected more than 0{limit}")
    if math.isinf(rate):
        raise ValueError(f"fps is {fps!r}; expected a finite number")
    return rate


def _checked(frames: Iterable[Frame]) -> Iterator[Frame]:
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


def _opaque(frame: Frame, background: Color) -> Frame:
    """(h, w, 3)"""
    return frame[..., :3] if (frame[..., 3] == 255).all() else flatten(frame, background)


# ---- by Pillow ----------------------------------------------------------------------------------------


def _png() -> Callable[[_Job], None]:
    image = pillow()
    return lambda job: _save(job, "PNG", image.fromarray, tick=1)


def _webp() -> Callable[[_Job], None]:
    image = pillow()
    return lambda job: _save(job, "WEBP", image.fromarray, tick=1, quality=90)


def _gif() -> Callable[[_Job], None]:
    image = pillow()

    def of_256_colors(frame: Frame, background: Color) -> Any:
        # Without dithering: its dots would flicker from frame to frame.
        return image.fromarray(_opaque(frame, background)).quantize(256, dither=image.Dither.NONE)

    return lambda job: _save(job, "GIF", lambda frame: of_256_colors(frame, job.background), tick=10)


def _save(job: _Job, format: str, convert: Callable[[Frame], Any], *, tick: int, **options: Any) -> None:
    # A copy each: Pillow may show the array's own memory, which the caller may fill anew.
    images = [convert(np.array(frame, order="C")) for frame in job.frames]
    ends = [round((number + 1) * 1000 / job.fps / tick) * tick for number in range(len(images))]
    durations = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    first, *others = images
    try:
        first.save(
            job.file, format, save_all=True, append_images=others, duration=durations, loop=0, **options
        )
    except (struct.error, OverflowError, ValueError) as error:  # a field of 16 bits
        raise ValueError(
            f"{format} cannot hold this film ({error}): frames, or equal ones in a row, last too long, "
            "or they are too large; write an .mp4 instead"
        ) from error


# ---- by ffmpeg ----------------------------------------------------------------------------------------


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _mp4() -> Callable[[_Job], None]:
    program = _ffmpeg()
    return lambda job: _pipe(program, job)


def _ffmpeg() -> str:
    """The path of an ffmpeg: that of the PATH, else that of imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        return str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:  # RuntimeError: the package without its program
        raise ImportError(
            "writing .mp4 needs ffmpeg: pip install 'skinpy-anim[video]', or put an ffmpeg on the PATH"
        ) from error


def _pipe(program: str, job: _Job) -> None:
    """Frames go through a pipe, one at a time; ffmpeg writes the file by its name, as MP4 has to seek."""
    first = next(job.frames)
    height, width = (side + side % 2 for side in first.shape[:2])
    with contextlib.ExitStack() as afterwards:
        with undisturbed():
            words = afterwards.enter_context(tempfile.TemporaryFile())
            process = subprocess.Popen(
                _command(program, width, height, job), stdin=subprocess.PIPE, stdout=words, stderr=words
            )
            afterwards.callback(_end, process)
        done = _feed(process, _with_first(first, job))
        _end(process)
        _judge(program, done, process.returncode, words)


def _feed(process: subprocess.Popen[bytes], frames: Iterator[Frame]) -> bool:
    """Whether it took all frames and ended well."""
    pipe = process.stdin
    assert pipe is not None
    try:
        for frame in frames:
            pipe.write(frame.tobytes())
        pipe.close()
        return process.wait() == 0
    except BrokenPipeError:  # it ended early, and says why
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # what the buffer still holds has no reader
        process.stdin.close()


def _judge(program: str, done: bool, status: int, words: IO[bytes]) -> None:
    """Raises what a program that has ended had to say, where something went wrong."""
    if status == -signal.SIGXFSZ:  # the system ends who writes beyond what a file may hold
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    words.seek(0)
    said = " ".join(words.read().decode("utf-8", "replace").split())
    for number in _NO_ROOM:  # ffmpeg 5 may end with 0 though it could not write the end of the file
        if os.strerror(number) in said:
            raise OSError(number, os.strerror(number))
    if not done:
        raise SkinpyError(f"ffmpeg ({program}) failed: {said[-500:] or 'it says nothing'}")


def _with_first(first: Frame, job: _Job) -> Iterator[Frame]:
    """(h, w, 3), both sides even"""
    padding = ((0, first.shape[0] % 2), (0, first.shape[1] % 2), (0, 0))
    yield np.pad(_opaque(first, job.background), padding, mode="edge")
    for frame in job.frames:
        yield np.pad(_opaque(frame, job.background), padding, mode="edge")


def _command(program: str, width: int, height: int, job: _Job) -> list[str]:
    picture = f"-f rawvideo -pix_fmt rgb24 -video_size {width}x{height} -framerate {job.fps!r} -i pipe:0"
    # Unlabeled, players guess the matrix from the size: convert to that of HD, and say so.
    color = "-vf scale=out_color_matrix=bt709:out_range=tv,setparams=range=tv:colorspace=bt709"
    color += ":color_primaries=bt709:color_trc=iec61966-2-1"
    film = "-an -c:v libx264 -crf 18 -pix_fmt yuv420p -movflags +faststart -f mp4"
    words = f"-hide_banner -loglevel error -xerror -y {picture} {color} {film}".split()
    return [program, *words, f"file:{job.file.name}"]


#: suffix: the most frames per second, and the encoder. Players slow down GIFs with frames below 20 ms.
_ENCODERS: dict[str, tuple[float, Callable[[], Callable[[_Job], None]]]] = {
    ".png": (1000, _png),
    ".apng": (1000, _png),
    ".gif": (50, _gif),
    ".webp": (1000, _webp),
    ".mp4": (math.inf, _mp4),
}
FILM_SUFFIXES = tuple(_ENCODERS)
