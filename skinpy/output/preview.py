"""What a model or a clip shows of itself in a notebook: a small animated PNG."""

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

_LIMIT = 225_000  # bytes of the PNG: as text, in a notebook's file, it is a third more, 300 kB
#: What is tried until it fits: (width, height) in pixels, frames at most. The last always fits: 77 kB raw.
_LADDER = (((240, 180), 24), ((240, 180), 16), ((160, 120), 24), ((160, 120), 12), ((80, 60), 4))
_FPS = 15.0  # frames per second, where they are not too many
_LONGEST = 3.0  # seconds of a clip that are shown, from its start
_ROUND_SECONDS = 4.0  # what does not move is turned, once in so long
_PATIENCE = 2.0  # seconds of drawing; large models get fewer frames


def bundle(
    thing: object,
    picture: bytes | None,
    include: Collection[str] | None,
    exclude: Collection[str] | None,
) -> dict[str, str]:
    """The representations of `thing` by type, as Jupyter's display protocol has them: text, and the picture
    in base64 where there is one; those of `include` alone, where given, without those of `exclude`.
    """
    found = {"text/plain": repr(thing)}
    if picture is not None:
        found["image/png"] = binascii.b2a_base64(picture, newline=False).decode("ascii")
    return {kind: data for kind, data in found.items() if wanted(kind, include, exclude)}


def wanted(kind: str, include: Collection[str] | None, exclude: Collection[str] | None) -> bool:
    """Whether a front end that includes and excludes these types wants this one."""
    return (include is None or kind in include) and (exclude is None or kind not in exclude)


def preview(model: Model, clip: Clip | None) -> bytes | None:
    """An animated PNG of a clip, of the first one where it is None, smaller than 225,000 bytes.

    240x180 pixels and at most 24 frames, or less until it fits; transparent. A clip of more than 3 seconds
    is shown as far as that; a pose is turned. None where it cannot be drawn, for whatever reason: a notebook
    then shows text alone.
    """
    try:
        # A texture that is lost is told by those who draw on request.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _fitting(model, clip)
    except Exception:  # whatever it is, it must not keep the text from being shown
        return None


def _fitting(model: Model, clip: Clip | None) -> bytes | None:
    return fitting(_LADDER, lambda size, most: _drawn(model, clip, size, most))


def fitting(ladder: Iterable[Step], draw: Callable[[Size, int], tuple[list[Frame], float]]) -> bytes | None:
    """An animated PNG smaller than 225,000 bytes, of the first step (size, most frames) for which it is.

    `draw(size, most)` gives the frames and how many there are in a second. None where none is small enough.
    """
    for size, most in ladder:
        frames, fps = draw(size, most)
        data = encode_film([_coarse(frame) for frame in frames], fps, "png")
        if len(data) <= _LIMIT:
            return data
    return None


def _drawn(model: Model, clip: Clip | None, size: tuple[int, int], most: int) -> tuple[list[Frame], float]:
    from ..render import Renderer, turntable
    from ..render.posing import Poser

    poser = Poser(model)
    motion = poser.motion(clip)
    with Renderer(model, size=size) as renderer:
        camera = renderer.camera(motion)
        most = min(most, _affordable(lambda: renderer.frame(motion, camera=camera)))
        times, fps = preview_times(0.0 if motion is None else motion.duration, most)
        cameras: list[Camera] = [camera] * len(times)
        if not times.any() and len(times) > 1:
            cameras = turntable(model, motion, len(times), aspect=size[0] / size[1])
        frames = [
            renderer.frame(motion, when, camera=eye)
            for when, eye in zip(times.tolist(), cameras, strict=True)
        ]
    return frames, fps


def preview_times(duration: float, most: int) -> tuple[NDArray[np.float64], float]:
    """(N,) seconds within the clip, at most so many, and frames per second; all 0 for what does not move."""
    if duration <= 0:
        return np.zeros(most), most / _ROUND_SECONDS
    shown = min(duration, _LONGEST)
    count = max(1, min(most, round(shown * _FPS)))
    return np.arange(count) * shown / count, count / shown


def _affordable(draw: Callable[[], object]) -> int:
    """How many frames can be drawn in the time that one waits for them; one at least."""
    draw()  # the first takes longer
    start = time.perf_counter()
    draw()
    return max(1, int(_PATIENCE / max(time.perf_counter() - start, 1e-6)))


# 64 levels instead of 256 are hardly seen at this size, and a third of the bytes is gone.
_LEVELS = np.rint((np.arange(256) >> 2) * (255 / 63)).astype(np.uint8)


def _coarse(frame: Frame) -> Frame:
    coarse: Frame = _LEVELS[frame]
    return coarse
