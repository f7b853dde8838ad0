"""Pictures, films and pages of a clip: the renderer draws, the encoders write, the suffix says which."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arguments import flag
from .film import FILM_SUFFIXES, check_film, save_film
from .picture import PICTURE_SUFFIXES, pillow, save_picture

if TYPE_CHECKING:
    from skinpy.model import Model
    from skinpy.render import Camera, Overlays, Renderer
    from skinpy.render.posing import ClipLike

Frame = NDArray[np.uint8]

FPS = 30.0  #: frames per second unless the caller says otherwise
_ROUND_SECONDS = 4.0  # a turntable takes that long at least: faster, one sees nothing
_MOST_FRAMES = 1_000_000  # of a film: nine hours of it
_MOST_TURNS = 1e15  # of a clip that lasts next to no time
_PICTURES = [suffix for suffix in PICTURE_SUFFIXES if suffix != ".webp"]  # here a film
_FILMS = [suffix for suffix in FILM_SUFFIXES if suffix != ".png"]  # here a picture
_PAGES = [".html", ".htm"]


def save_clip(
    path: str | os.PathLike[str],
    model: Model,
    clip: ClipLike = None,
    *,
    time: float | None = None,
    fps: float | None = None,
    size: tuple[int, int] = (640, 480),
    turntable: bool = False,
    camera: Camera | None = None,
    overlays: Overlays | None = None,
    **options: Any,
) -> Path:
    """Draw a clip into a file and return its path; the suffix decides what it becomes.

    .png, .jpg, .tif and .bmp are one picture, at `time` seconds (0). .apng, .gif, .webp and .mp4 are a film
    of one turn of the clip, `fps` frames per second (30), made to be repeated: the number of frames is whole,
    so that the clip goes faster or slower by half a frame at most. With `turntable` the camera goes once
    round the model meanwhile, and the clip is repeated until that has taken 4 seconds or more; a clip of no
    duration takes 4. .html and .htm are a page that plays the clip (all clips where it is None) in a browser,
    from `time` on, with `fps` frames baked for each second (30); `options` are then those of
    `skinpy.view.make_page`, and the reader chooses size and camera.

    `clip` is a clip of the model, its name or its number, or a VertexAnimation; None is the first clip, or
    the rest pose. `size` is (width, height) in pixels. `camera` None has the whole clip in the picture.
    `overlays` are drawn over each frame. `options` are those of `skinpy.render.Renderer`: background, floor,
    samples, uv, transport. Formats without transparency lie on white unless `background` says otherwise.

    The file appears whole or not at all; on a terminal a bar shows the progress where tqdm is installed.
    Raises ValueError for an unknown suffix, a size of 0 or beyond what OpenGL draws, a `time` for a film, an
    `fps` or `turntable` for a picture, a `turntable` or `camera` for a page; TypeError; KeyError or
    IndexError for an unknown clip; ImportError without moderngl, Pillow or, for .mp4, ffmpeg; GraphicsError
    without OpenGL; OSError where the file cannot be written.
    """
    turntable = flag("turntable", turntable)
    target = Path(os.fsdecode(path))
    kind = kind_of(target)
    if kind == "page":
        if turntable or camera is not None:
            name = "turntable" if turntable else "camera"
            raise ValueError(f"{name} is for pictures and films; in a page, the reader turns the view")
        from ..view import save_page

        rate = FPS if fps is None else fps
        return save_page(target, model, clip, time=time or 0.0, fps=rate, overlays=overlays, **options)
    film = kind == "film"
    if film and time is not None:
        raise ValueError(
            f"time is {time}, but {target.suffix} is a film of the whole clip; expected {_listed(_PICTURES)}"
        )
    if not film and (fps is not None or turntable):
        name = "turntable" if turntable else "fps"
        raise ValueError(f"{name} is for films, but {target.suffix} is a picture; expected {_listed(_FILMS)}")
    rate = check_film(target, FPS if fps is None else fps) if film else FPS
    if not film:
        pillow()  # what is missing is told before the picture is drawn
    if turntable and camera is not None:
        raise ValueError("camera is given together with turntable, which has cameras of its own")
    from ..render import Renderer

    with Renderer(model, size=size, **options) as renderer:
        if not film:
            return save_picture(target, renderer.frame(clip, time or 0.0, camera=camera, overlays=overlays))
        shots = _shots(model, clip, rate, renderer.size, turntable, camera)
        return save_film(target, _Drawn(renderer, clip, shots, overlays), rate)


def kind_of(path: str | os.PathLike[str]) -> Literal["picture", "film", "page"]:
    """What a suffix stands for. Raises ValueError for one that is none of these."""
    suffix = Path(os.fsdecode(path)).suffix.lower()
    if suffix in _PICTURES:
        return "picture"
    if suffix in _FILMS:
        return "film"
    if suffix in _PAGES:
        return "page"
    raise ValueError(
        f"path is {os.fsdecode(path)!r}; expected {_listed(_PICTURES)} for a picture, {_listed(_FILMS)} for "
        f"a film, or {_listed(_PAGES)} for a page"
    )


def turn_times(duration: float, fps: float, least: float = 0.0) -> NDArray[np.float64]:
    """(N,) seconds: the frames of a film of whole turns of a clip that lasts `least` seconds or more.

    N is the whole number nearest to what `fps` asks for, and the step a bit longer or shorter than 1 / fps,
    such that after the last frame comes the first. They go on beyond the duration, as a floor does that moves
    under the feet. For a duration of 0: N frames in `least`, one at least, all at 0. Raises ValueError for
    more than a million.
    """
    turns = max(1, math.ceil(min(least / duration, _MOST_TURNS))) if duration > 0 else 0
    total = turns * duration
    wanted = (total or least) * fps
    if wanted > _MOST_FRAMES:
        raise ValueError(
            f"fps is {fps:g}, which is {wanted:.3g} frames; expected a lower fps or a shorter clip "
            f"(clip.trim), for at most {_MOST_FRAMES} frames"
        )
    count = max(1, round(wanted))
    return np.arange(count) * total / count


class _Shot(NamedTuple):
    time: float
    camera: Camera


class _Drawn:
    """The frames of a film, drawn as they are asked for; their number is known."""

    def __init__(
        self, renderer: Renderer, clip: ClipLike, shots: Sequence[_Shot], overlays: Overlays | None
    ) -> None:
        self._overlays = overlays
        self._renderer = renderer
        self._clip = clip
        self._shots = shots

    def __len__(self) -> int:
        return len(self._shots)

    def __iter__(self) -> Iterator[Frame]:
        for time, camera in self._shots:
            yield self._renderer.frame(self._clip, time, camera=camera, overlays=self._overlays)


def _shots(
    model: Model,
    clip: ClipLike,
    fps: float,
    size: tuple[int, int],
    turned: bool,
    camera: Camera | None,
) -> list[_Shot]:
    from ..render import turntable
    from ..render.posing import Poser

    poser = Poser(model)
    motion = poser.motion(clip)
    duration = 0.0 if motion is None else motion.duration
    times = turn_times(duration, fps, _ROUND_SECONDS if turned else 0.0).tolist()
    aspect = size[0] / size[1]
    if turned:
        cameras = turntable(model, motion, len(times), aspect=aspect)
    else:
        cameras = [camera or poser.motion_camera(motion, None, aspect)] * len(times)
    return [_Shot(*pair) for pair in zip(times, cameras, strict=True)]


def _listed(suffixes: Sequence[str]) -> str:
    return ", ".join(suffixes[:-1]) + " or " + suffixes[-1]
