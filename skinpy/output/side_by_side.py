"""Figures of several models at the same times, such as the source and the target of a retargeted clip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from .._arguments import brief, check_clip, check_model, finite, items_of, whole
from .._progress import shown, working
from .contact_sheet import LINE, MARGIN, MAX_FRAMES, Frame, check_frame_size, write_line
from .picture import pillow

if TYPE_CHECKING:
    from skinpy.clip import Clip
    from skinpy.model import Model
    from skinpy.render import Camera
    from skinpy.render.posing import Poser

    from .._options import RendererOptions

_RING = 32  # points of a circle that is to be in the picture
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
    clip. The camera follows each figure, and is as far from it as it must be for the whole row. Figures that
    face elsewhere are seen from the same side: from where their hips face at first, by `Model.humanoid`.

    Parameters
    ----------
    figures : sequence of (Model, Clip or str or int)
        The models, each with one of its clips, a name or an index.
    frames : int, default 8
        Frames in a row, at most 100.
    size : (int, int), default (120, 160)
        Width and height of a frame in pixels, at least 24.
    azimuth : float, degrees, default 30.0
        How far the cameras move around the figures from their front to their left. A model whose humanoid
        lacks the thighs counts as facing +Z, or -Y where its up axis is Z.
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
    azimuth = finite("azimuth", azimuth)
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
        check_model("figures", figure[0])
        poser = Poser(figure[0])
        clip = poser.motion(figure[1])
        check_clip("figures", clip)
        found.append((poser, cast("Clip", clip)))
    if not found:
        raise ValueError(f"figures is empty; expected {_WANTED}")
    return found


def _following(
    poser: Poser, clip: Clip, times: NDArray[np.float64], azimuth: float, aspect: float
) -> list[Camera]:
    """A camera per time, all equally far from the figure, whose lowest point of all times is in the picture.

    Each frames an upright cylinder around the figure's middle, which is as wide and high as the figure is at
    any of these times.
    """
    from ..render.camera import Framing, front_vector, up_vector

    up, front = up_vector(poser.model.up), front_vector(poser.model.up)
    points = np.concatenate([poser.points(clip, times[at : at + 1]) for at in range(len(times))])
    heights = points @ up
    level = points - heights[..., None] * up
    middles = (level.min(axis=1) + level.max(axis=1)) / 2
    radius = np.linalg.norm(level - middles[:, None], axis=2).max()
    angles = np.linspace(0.0, 2 * np.pi, _RING, endpoint=False)[:, None]
    ring = radius * (np.cos(angles) * front + np.sin(angles) * np.cross(up, front))
    cylinder = np.concatenate([ring + height * up for height in (heights.min(), heights.max())])
    framing = Framing(poser.model.up, azimuth + _heading(poser.model, clip), aspect=aspect)
    return [framing.camera(middle + cylinder) for middle in middles]


def _heading(model: Model, clip: Clip) -> float:
    """How many degrees a figure is turned to its left at the start of a clip, from where models face."""
    from ..render.camera import front_vector, up_vector

    thighs = [
        model.humanoid.joint(bone) for bone in ("leftUpperLeg", "rightUpperLeg") if bone in model.humanoid
    ]
    if len(thighs) < 2:
        return 0.0
    up, front = up_vector(model.up), front_vector(model.up)
    left, right = model.joint_positions(clip, 0.0)[thighs].astype(np.float64)
    facing = np.cross(left - right, up)
    return math.degrees(math.atan2(up @ np.cross(front, facing), front @ facing))
