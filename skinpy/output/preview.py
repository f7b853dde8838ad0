"""The preview of a model or a clip in a notebook: a small animated PNG."""

from __future__ import annotations

import binascii
import time
import warnings
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .film import encode_film

if TYPE_CHECKING:
    from skinpy.clip import Clip
    from skinpy.model import Model
    from skinpy.render import Camera

Frame = NDArray[np.uint8]
Size = tuple[int, int]
Step = tuple[Size, int]

_MAX_BYTES = 225_000  # of the PNG; as text in the file of a notebook it has a third more, 300 kB
#: Sizes in pixels and largest numbers of frames, in the order in which they are tried. The last one always
#: fits: it has 77 kB before compression.
_LADDER = (((240, 180), 24), ((240, 180), 16), ((160, 120), 24), ((160, 120), 12), ((80, 60), 4))
_FPS = 15.0  # frames per second, unless they are too many
_MAX_SECONDS = 3.0  # of a clip that are shown, from its start
_TURNTABLE_SECONDS = 4.0  # in which the camera circles a pose
_DRAWING_SECONDS = 2.0  # for drawing; large models get fewer frames


def bundle(
    thing: object,
    picture: bytes | None,
    include: Collection[str] | None,
    exclude: Collection[str] | None,
) -> dict[str, str]:
    """The representations of `thing` by MIME type, for Jupyter's display protocol.

    They are its text and, if there is one, the picture in base64; only those of `include`, if given, and none
    of `exclude`.
    """
    found = {"text/plain": repr(thing)}
    if picture is not None:
        found["image/png"] = binascii.b2a_base64(picture, newline=False).decode("ascii")
    return {kind: data for kind, data in found.items() if wanted(kind, include, exclude)}


def wanted(kind: str, include: Collection[str] | None, exclude: Collection[str] | None) -> bool:
    """Whether a front end that includes and excludes MIME types wants this one."""
    return (include is None or kind in include) and (exclude is None or kind not in exclude)


def preview(model: Model, clip: Clip | None) -> bytes | None:
    """An animated PNG of a clip (None is the first one), of at most 225,000 bytes, transparent.

    It has 240x180 pixels and at most 24 frames, or fewer until it fits. Of a longer clip it shows the first 3
    seconds; the camera circles a pose. Returns None if it cannot be drawn, for whatever reason: a notebook
    then shows text alone.
    """
    try:
        # Drawing on request warns of textures that are lost; a preview does not.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _fitting(model, clip)
    except Exception:  # no error may keep the text from being shown
        return None


def _fitting(model: Model, clip: Clip | None) -> bytes | None:
    return fitting(_LADDER, lambda size, max_frames: _drawn(model, clip, size, max_frames))


def fitting(ladder: Iterable[Step], draw: Callable[[Size, int], tuple[list[Frame], float]]) -> bytes | None:
    """An animated PNG of at most 225,000 bytes, from the first step of the ladder that gives one.

    `draw(size, max_frames)` returns the frames and their rate per second. Returns None if no step is small
    enough.
    """
    for size, max_frames in ladder:
        frames, fps = draw(size, max_frames)
        data = encode_film([_coarse(frame) for frame in frames], fps, "png")
        if len(data) <= _MAX_BYTES:
            return data
    return None


def _drawn(model: Model, clip: Clip | None, size: Size, max_frames: int) -> tuple[list[Frame], float]:
    from ..render import Renderer, turntable
    from ..render.posing import Poser

    poser = Poser(model)
    motion = poser.motion(clip)
    with Renderer(model, size=size) as renderer:
        camera = renderer.camera(motion)
        max_frames = min(max_frames, _affordable(lambda: renderer.frame(motion, camera=camera)))
        times, fps = preview_times(0.0 if motion is None else motion.duration, max_frames)
        cameras: list[Camera] = [camera] * len(times)
        if not times.any() and len(times) > 1:
            cameras = turntable(model, motion, len(times), aspect=size[0] / size[1])
        frames = [
            renderer.frame(motion, when, camera=one)
            for when, one in zip(times.tolist(), cameras, strict=True)
        ]
    return frames, fps


def preview_times(duration: float, max_frames: int) -> tuple[NDArray[np.float64], float]:
    """Times (N,) in seconds within the clip, and frames per second. A pose has zeros."""
    if duration <= 0:
        return np.zeros(max_frames), max_frames / _TURNTABLE_SECONDS
    shown = min(duration, _MAX_SECONDS)
    count = max(1, min(max_frames, round(shown * _FPS)))
    return np.arange(count) * shown / count, count / shown


def _affordable(draw: Callable[[], object]) -> int:
    """The number of frames that can be drawn in the time for drawing; one at least."""
    draw()  # the first one takes longer
    start = time.perf_counter()
    draw()
    return max(1, int(_DRAWING_SECONDS / max(time.perf_counter() - start, 1e-6)))


# At this size 64 levels look like 256, and they save a third of the bytes.
_LEVELS = np.rint((np.arange(256) >> 2) * (255 / 63)).astype(np.uint8)


def _coarse(frame: Frame) -> Frame:
    coarse: Frame = _LEVELS[frame]
    return coarse
