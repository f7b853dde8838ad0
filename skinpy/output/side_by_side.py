"""Figures of several models at the same times, such as the source and the target of a retargeted clip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from .._arguments import brief, check_clip, items_of, whole
from .._progress import shown, working
from .contact_sheet import LINE, MARGIN, MAX_FRAMES, Frame, check_frame_size, write_line
from .picture import pillow

if TYPE_CHECKING:
    from skinpy.clip import Clip
    from skinpy.model import Model
    from skinpy.render import Camera
    from skinpy.render.posing import Poser

    from .._options import RendererOptions

_WANTED = "a sequence of (model, clip)"


def side_by_side(
    figures: Sequence[tuple[Model, Clip | str | int]],
    *,
    frames: int = 8,
    size: tuple[int, int] = (120, 160),
    azimuth: float = 30.0,
    background: str | Sequence[float] = "#ffffff",
    **options: Unpack[RendererOptions],
) -> Frame:
    """Draw clips of several models, one below the other, at the same times.

    Each figure is a row, and each time a column. The times are spread evenly from 0 to the end of the longest
    clip. The camera follows each figure, and is as far from it as it must be for the whole row.

    Parameters
    ----------
    figures : sequence of (Model, Clip or str or int)
        The models, each with one of its clips, a name or an index.
    frames : int, default 8
        Frames in a row, at most 100.
    size : (int, int), default (120, 160)
        Width and height of a frame in pixels, at least 24.
    azimuth : float, degrees, default 30.0
        How far the cameras move around the figures from their front to their left.
    background : str or sequence of float, default "#ffffff"
        A color, as in `Renderer`.
    **options : object
        Other arguments of `Renderer`, such as `floor` and `samples`.

    Returns
    -------
    (h, w, 4) uint8 ndarray
        The picture, for `save_picture`.

    Raises
    ------
    ValueError
        If a number or a size is out of range, or there are no figures.
    TypeError
        If an argument has the wrong type.
    KeyError
        If a model has no clip of this name.
    IndexError
        If a model has no clip of this index.
    ImportError
        If moderngl or Pillow is not installed.
    GraphicsError
        If there is no OpenGL 3.3.

    Examples
    --------
    >>> model = skinpy.character()
    >>> skinpy.output.side_by_side([(model, "walk"), (model, "run")], frames=3, size=(60, 80)).shape
    (210, 192, 4)
    """
    pillow()
    from ..render import Renderer
    from ..render.arguments import check_size
    from ..render.color import parse_color

    frames = whole("frames", frames, 1, MAX_FRAMES)
    width, height = check_frame_size(check_size(size))
    posers = _checked(figures)
    times = np.linspace(0.0, max(clip.duration for _, clip in posers), frames)
    color = [round(255 * part) for part in parse_color("background", background)]
    pitch = LINE + height + MARGIN
    picture = np.empty((MARGIN + len(posers) * pitch, frames * width + 2 * MARGIN, 4), np.uint8)
    picture[:] = color
    with working("drawing figures"):
        for row, (poser, clip) in enumerate(shown(posers, len(posers), "drawing figures")):
            top = MARGIN + row * pitch
            write_line(picture[top : top + LINE, MARGIN:-MARGIN], f"{clip.name}   {clip.duration:.2f} s")
            cameras = _following(poser, clip, times, azimuth, width / height)
            with Renderer(poser.model, size=(width, height), background=background, **options) as renderer:
                for column, (time, camera) in enumerate(zip(times.tolist(), cameras, strict=True)):
                    left = MARGIN + column * width
                    frame = renderer.frame(clip, time, camera=camera, loop="clamp")
                    picture[top + LINE : top + LINE + height, left : left + width] = frame
    return picture


def _checked(figures: Sequence[tuple[Model, Clip | str | int]]) -> list[tuple[Poser, Clip]]:
    """The models as posers, each with its clip. Raises TypeError, ValueError, KeyError or IndexError."""
    from skinpy.render.posing import Poser

    found = []
    for figure in items_of("figures", figures, _WANTED):
        if not isinstance(figure, tuple | list) or len(figure) != 2:
            raise TypeError(f"figures has {brief(figure)}; expected {_WANTED}")
        poser = Poser(figure[0])
        clip = poser.motion(figure[1])
        check_clip("clip", clip)
        found.append((poser, cast("Clip", clip)))
    if not found:
        raise ValueError(f"figures is empty; expected {_WANTED}")
    return found


def _following(
    poser: Poser, clip: Clip, times: NDArray[np.float64], azimuth: float, aspect: float
) -> list[Camera]:
    """A camera per time, all equally far from the figure, whose lowest point of all times is in the picture.

    Each frames a box around the figure's middle, as large as the largest of the figure at these times.
    """
    from ..render.camera import Framing, box_corners, up_vector

    points = np.concatenate([poser.points(clip, times[at : at + 1]) for at in range(len(times))])
    lowest, highest = points.min(axis=1), points.max(axis=1)  # (N, 3) each
    upright = np.abs(up_vector(poser.model.up)) > 0
    middle, half = (lowest + highest) / 2, ((highest - lowest) / 2).max(axis=0)
    half[~upright] = half[~upright].max()
    middle[:, upright] = (lowest.min(axis=0) + highest.max(axis=0))[upright] / 2
    half[upright] = np.ptp(points, axis=(0, 1))[upright] / 2
    framing = Framing(poser.model.up, azimuth, aspect=aspect)
    return [framing.camera(box_corners(np.stack([one - half, one + half]))) for one in middle]
