"""Films in MP4, by ffmpeg."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from .._signals import undisturbed
from ..errors import SkinpyError
from .encoding import FilmJob, Frame, opaque

# Errors of the system that mean a full disk or a file that is too large.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_QUOTED = 500  # characters of ffmpeg's messages in an error


def mp4_encoder() -> Callable[[FilmJob], None]:
    """The encoder of .mp4. Raises ImportError without ffmpeg."""
    program = find_ffmpeg()
    return lambda job: _pipe(program, job)


def find_ffmpeg() -> str:
    """The path of ffmpeg: from the PATH, else from the package imageio-ffmpeg. Raises ImportError.

    Folders of the PATH that depend on the working folder do not count: that may be a folder of models.
    """
    found = shutil.which("ffmpeg")
    planted = found is not None and not os.path.isabs(found)
    if planted:
        entries = os.environ.get("PATH", "").split(os.pathsep)
        found = shutil.which("ffmpeg", path=os.pathsep.join(filter(os.path.isabs, entries)))
    if found:
        return found
    try:
        package = importlib.import_module("imageio_ffmpeg")
        if planted and not any(Path(package.__path__[0], "binaries").glob("ffmpeg-*")):
            raise RuntimeError("the package would run what the PATH has")
        return str(package.get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:  # RuntimeError: the package without its program
        raise ImportError(
            "writing .mp4 needs ffmpeg: pip install 'skinpy-anim[video]', or put an ffmpeg on the PATH"
        ) from error


def _pipe(program: str, job: FilmJob) -> None:
    """Send frames through a pipe. ffmpeg opens the file by its name, because writing MP4 has to seek."""
    first = next(job.frames)
    height, width = (side + side % 2 for side in first.shape[:2])
    with contextlib.ExitStack() as afterwards:
        with undisturbed():
            messages = afterwards.enter_context(_scratch())
            process = subprocess.Popen(
                _command(program, width, height, job), stdin=subprocess.PIPE, stdout=messages, stderr=messages
            )
            afterwards.callback(_end, process)
        _let_go_first(process.pid)
        succeeded = _feed(process, _even_frames(first, job))
        _end(process)
        _raise_failure(program, succeeded, process.returncode, messages)


def _scratch() -> IO[bytes]:
    """A file for the messages of ffmpeg: in memory where the system can, as no folder may be writable."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("messages"), "w+b")
    return tempfile.TemporaryFile()


def _let_go_first(process: int) -> None:
    """Let Linux end that process before this one when the memory of the machine ends: see proc(5)."""
    with contextlib.suppress(OSError):  # it has ended, or there is no /proc
        Path(f"/proc/{process}/oom_score_adj").write_text("1000")


def _feed(process: subprocess.Popen[bytes], frames: Iterator[Frame]) -> bool:
    """Send all frames, and return whether the process took them and succeeded."""
    pipe = process.stdin
    assert pipe is not None
    try:
        for frame in frames:
            pipe.write(frame.tobytes())
        pipe.close()
        return process.wait() == 0
    except BrokenPipeError:  # the process ended early; its messages say why
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and close its pipe; harmless for a process that has ended."""
    process.kill()
    process.wait()
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # nobody reads the rest of the buffer
        process.stdin.close()


def _raise_failure(program: str, succeeded: bool, status: int, messages: IO[bytes]) -> None:
    """Raise OSError or SkinpyError with the messages of the process, unless it succeeded."""
    if status == -signal.SIGXFSZ:  # the system ends a process that exceeds the size limit of files
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    messages.seek(0)
    said = " ".join(messages.read().decode("utf-8", "replace").split())
    for number in _NO_ROOM:  # ffmpeg 5 may end with 0 though it could not write the end of the file
        if os.strerror(number) in said:
            raise OSError(number, os.strerror(number))
    if not succeeded:
        why = f"signal {-status} ended it" if status < 0 else "without a message"
        raise SkinpyError(f"ffmpeg ({program}) failed: {said[-_QUOTED:] or why}")


def _even_frames(first: Frame, job: FilmJob) -> Iterator[Frame]:
    """All frames, (h, w, 3), with an odd last column or row repeated, as H.264 needs even sides."""
    padding = ((0, first.shape[0] % 2), (0, first.shape[1] % 2), (0, 0))
    yield np.pad(opaque(first, job.background), padding, mode="edge")
    for frame in job.frames:
        yield np.pad(opaque(frame, job.background), padding, mode="edge")


def _command(program: str, width: int, height: int, job: FilmJob) -> list[str]:
    source = f"-f rawvideo -pix_fmt rgb24 -video_size {width}x{height} -framerate {job.fps!r} -i pipe:0"
    # Players guess the color matrix of an unlabeled film from its size: convert to that of HD, and label it.
    color = "-vf scale=out_color_matrix=bt709:out_range=tv,setparams=range=tv:colorspace=bt709"
    color += ":color_primaries=bt709:color_trc=iec61966-2-1"
    result = "-an -c:v libx264 -crf 18 -pix_fmt yuv420p -movflags +faststart -f mp4"
    options = f"-hide_banner -loglevel error -xerror -y {source} {color} {result}".split()
    return [program, *options, f"file:{job.file.name}"]
