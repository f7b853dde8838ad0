"""A clip as a picture, a film or a page; the suffix of the file selects which."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from .._arguments import brief, check_model, flag, instance, path_of
from .film import FILM_SUFFIXES, check_film, save_film
from .picture import PICTURE_SUFFIXES, pillow, save_picture

if TYPE_CHECKING:
    from skinpy.model import Model
    from skinpy.render import Camera, Overlays, Renderer
    from skinpy.render.posing import ClipLike

    from .._options import DrawnFileOptions

Frame = NDArray[np.uint8]

FPS = 30.0  #: frames per second unless the caller says otherwise
_TURNTABLE_SECONDS = 4.0  # the shortest time of a turntable: a faster one is hard to watch
_MAX_FRAMES = 1_000_000  # of a film: nine hours of it
_MAX_LOOPS = 1e15  # of a clip that lasts almost no time
_PICTURES = [suffix for suffix in PICTURE_SUFFIXES if suffix != ".webp"]  # here a film
_FILMS = [suffix for suffix in FILM_SUFFIXES if suffix != ".png"]  # here a picture
_PAGES = [".html", ".htm"]

Kind: TypeAlias = Literal["picture", "film", "page"]


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
    **options: Unpack[DrawnFileOptions],
) -> Path:
    """Draw a clip into a picture, a film or a page.

    The suffix of the path selects which. ".png", ".jpg", ".tif" and ".bmp" are one picture. ".apng", ".gif",
    ".webp" and ".mp4" are a film of the whole clip that is made to be repeated. ".html" and ".htm" are a page
    that plays the clip in a browser. The file appears whole or not at all. On a terminal a line shows the
    progress. docs/films.md explains it.

    Parameters
    ----------
    path : str or path-like
        The file.
    model : Model
        The model.
    clip : Clip, VertexAnimation, str or int, optional
        A clip of the model, its name or its index, or a vertex animation. Without it the first clip, or the
        rest pose of a model that has none; a page then plays all clips.
    time : float, seconds, optional
        The time in the clip of a picture, or at which a page starts. Without it, 0. Not for films.
    fps : float, optional
        Frames per second of a film, or samples per second of a page. Without it, 30. A film has a whole
        number of frames, so that the clip plays faster or slower by half a frame at most.
    size : (int, int), default (640, 480)
        Width and height in pixels. A page has the size that its reader gives it.
    turntable : bool, default False
        Whether the camera of a film circles the model once. The clip is repeated until that has taken 4
        seconds or more; a clip of duration 0 takes 4.
    camera : Camera, optional
        The camera of a picture or film. Without it the whole clip is in the picture.
    overlays : Overlays, optional
        What is drawn over each frame to explain it.
    **options : object
        Other arguments of `Renderer` (background, floor, samples, uv, transport), or of `make_page` for a
        page. A format without transparency lies on white, unless `background` is given.

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    ValueError
        If the suffix is unknown, the size is 0 or larger than OpenGL allows, or an argument does not apply
        to this kind of file: `time` to a film, `fps` or `turntable` to a picture, `turntable` or `camera` to
        a page.
    TypeError
        If an argument has the wrong type.
    KeyError
        If the model has no clip of this name.
    IndexError
        If the model has no clip of this index.
    ImportError
        If moderngl, Pillow or, for ".mp4", ffmpeg is not installed.
    GraphicsError
        If there is no OpenGL 3.3.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> skinpy.output.save_clip("run.gif", skinpy.character(), "run", fps=10, size=(80, 60)).name
    'run.gif'
    """
    turntable = flag("turntable", turntable)
    check_model("model", model)
    target = Path(path_of("path", path))
    kind = check_arguments(target, time, fps, turntable, camera)
    others: dict[str, Any] = {**options}  # of the page or of the renderer, which refuse what they do not have
    if kind == "page":
        from ..view import save_page

        rate = FPS if fps is None else fps
        return save_page(target, model, clip, time=time or 0.0, fps=rate, overlays=overlays, **others)
    if kind == "picture":
        pillow()  # raises ImportError before the picture is drawn
    rate = check_film(target, FPS if fps is None else fps) if kind == "film" else FPS
    from ..render import Renderer
    from ..render.overlays.options import check_overlays

    with Renderer(model, size=size, **others) as renderer:
        if kind == "picture":
            return save_picture(target, renderer.frame(clip, time or 0.0, camera=camera, overlays=overlays))
        chosen = check_overlays(overlays)
        boxes = chosen is not None and chosen.boxes
        shots = _shots(model, clip, rate, renderer.size, turntable, camera, boxes)
        return save_film(target, _Drawn(renderer, clip, shots, overlays), rate)


def check_arguments(
    target: Path, time: float | None, fps: float | None, turntable: bool, camera: Camera | None
) -> Kind:
    """The kind of a file; raises ValueError for arguments that do not apply to this kind."""
    kind = kind_of(target)
    if kind == "page" and (turntable or camera is not None):
        name = "turntable" if turntable else "camera"
        raise ValueError(f"{name} is for pictures and films; in a page, the reader turns the view")
    if kind == "film" and time is not None:
        raise ValueError(
            f"time is {brief(time)}, but {target.suffix} is a film of the whole clip; "
            f"expected {_listed(_PICTURES)}"
        )
    if kind == "picture" and (fps is not None or turntable):
        name = "turntable" if turntable else "fps"
        raise ValueError(f"{name} is for films, but {target.suffix} is a picture; expected {_listed(_FILMS)}")
    if camera is not None:
        from ..render import Camera  # only those who draw import it

        instance("camera", camera, Camera, "a Camera, or None")
    if turntable and camera is not None:
        raise ValueError("camera is given together with turntable, which has its own; leave out one of them")
    if kind == "film":
        check_film(target, FPS if fps is None else fps)
    return kind


def kind_of(path: str | os.PathLike[str]) -> Kind:
    """The kind of file that a suffix selects. Raises ValueError for an unknown suffix."""
    suffix = Path(path_of("path", path)).suffix.lower()
    if suffix in _PICTURES:
        return "picture"
    if suffix in _FILMS:
        return "film"
    if suffix in _PAGES:
        return "page"
    raise ValueError(
        f"path is {brief(os.fspath(path))}; expected {_listed(_PICTURES)} for a picture, "
        f"{_listed(_FILMS)} for a film, or {_listed(_PAGES)} for a page; Clip.save also writes .bvh"
    )


def loop_times(duration: float, fps: float, min_seconds: float = 0.0) -> NDArray[np.float64]:
    """Times (N,) in seconds of a film of whole loops of a clip that lasts `min_seconds` or more.

    N is the whole number nearest to what `fps` asks for. The step is a bit longer or shorter than 1 / fps,
    such that the first frame follows the last. The times go on beyond the duration, because a floor moves on
    under the feet. For a duration of 0 they are N zeros for `min_seconds`, one at least. Raises ValueError
    for more than a million.
    """
    loops = max(1, math.ceil(min(min_seconds / duration, _MAX_LOOPS))) if duration > 0 else 0
    total = loops * duration
    wanted = (total or min_seconds) * fps
    if wanted > _MAX_FRAMES:
        raise ValueError(
            f"fps is {fps:g}, which is {wanted:.3g} frames; expected a lower fps or a shorter clip "
            f"(clip.trim), for at most {_MAX_FRAMES} frames"
        )
    count = max(1, round(wanted))
    return np.arange(count) * total / count


class _Shot(NamedTuple):
    time: float
    camera: Camera


class _Drawn:
    """The frames of a film, each drawn when it is asked for; their number is known."""

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
    turntable: bool,
    camera: Camera | None,
    boxes: bool,
) -> list[_Shot]:
    from ..render.camera import Framing
    from ..render.posing import Poser
    from ..render.turntable import circling

    poser = Poser(model)
    motion = poser.motion(clip)
    duration = 0.0 if motion is None else motion.duration
    times = loop_times(duration, fps, _TURNTABLE_SECONDS if turntable else 0.0).tolist()
    aspect = size[0] / size[1]
    if turntable:
        framing = Framing(model.up, azimuth=0.0, aspect=aspect)
        cameras = circling(poser, motion, len(times), framing, box=boxes)
    else:
        one = poser.facts.camera(motion, None, aspect, boxes) if camera is None else camera
        cameras = [one] * len(times)
    return [_Shot(*pair) for pair in zip(times, cameras, strict=True)]


def _listed(suffixes: Sequence[str]) -> str:
    return ", ".join(suffixes[:-1]) + " or " + suffixes[-1]
