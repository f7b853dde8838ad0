"""Contact sheets: one picture with a row of frames for every clip of a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from .._arguments import items_of, whole
from .._progress import shown, working
from .picture import pillow

if TYPE_CHECKING:
    from skinpy.clip import Clip
    from skinpy.model import Model
    from skinpy.render import Overlays, Renderer

    from .._options import RendererOptions

Frame = NDArray[np.uint8]
Color = tuple[int, int, int, int]

MARGIN = 6  # pixels around the sheet, and between two rows
LINE = 16  # pixels, the height of a line of text
_MAX_SIDE = 1 << 20  # of a sheet: no limit of the caller is larger
_MIN_SIDE = 24  # pixels of the shorter side of a frame; to keep it, clips are left out
MAX_FRAMES = 100
_MAX_LETTERS = 200  # of a name; the rest is not looked at


class _Layout(NamedTuple):
    """Sizes and counts of a sheet."""

    frames: int  # in a row
    size: tuple[int, int]  # of a frame, pixels
    rows: int
    left_out: int  # clips that the sheet has no room for; a last line says so

    @property
    def pitch(self) -> int:
        """Pixels from one row to the next."""
        return LINE + self.size[1] + MARGIN

    @property
    def pixels(self) -> tuple[int, int]:
        """(width, height) of the sheet."""
        lines = self.rows * self.pitch + (LINE + MARGIN if self.left_out else 0)
        return self.frames * self.size[0] + 2 * MARGIN, lines + MARGIN


def sheet(
    model: Model,
    clips: Sequence[Clip | str | int] | None = None,
    *,
    frames: int = 8,
    size: tuple[int, int] = (120, 120),
    limit: int = 4096,
    background: str | Sequence[float] | None = "#ffffff",
    overlays: Overlays | None = None,
    **options: Unpack[RendererOptions],
) -> Frame:
    """Draw a contact sheet of clips.

    Each clip is a row of frames from its start to its end, under its name and duration. Each row has a
    camera that has the whole clip in the picture. A model without clips is shown at rest, from all sides.

    Parameters
    ----------
    model : Model
        The model.
    clips : sequence of Clip, str or int, optional
        Clips of the model, names or indices. Without it all clips.
    frames : int, default 8
        Frames in a row, at most 100.
    size : (int, int), default (120, 120)
        Width and height of a frame in pixels, at least 24.
    limit : int, default 4096
        Largest width and height of the sheet in pixels. Frames are made smaller for it, down to 24 pixels;
        then the last clips are left out, and a line at the bottom says how many.
    background : str or sequence of float, optional, default "#ffffff"
        A color, as in `Renderer`; None is transparent.
    overlays : Overlays, optional
        What is drawn over each frame to explain it.
    **options : object
        Other arguments of `Renderer`, such as `floor` and `samples`.

    Returns
    -------
    (h, w, 4) uint8 ndarray
        The sheet, for `save_picture`.

    Raises
    ------
    ValueError
        If a number or a size is out of range.
    TypeError
        If an argument has the wrong type.
    KeyError
        If the model has no clip of this name.
    IndexError
        If the model has no clip of this index.
    ImportError
        If moderngl or Pillow is not installed.
    GraphicsError
        If there is no OpenGL 3.3.

    Examples
    --------
    >>> skinpy.output.sheet(skinpy.character(), ["walk", "run"], frames=3, size=(60, 60)).shape
    (170, 192, 4)
    """
    pillow()
    from ..render import Renderer
    from ..render.arguments import check_size
    from ..render.color import parse_color
    from ..render.posing import Poser

    poser = Poser(model)
    given = model.clips if clips is None else items_of("clips", clips, "a sequence of clips")
    chosen = [poser.motion(clip) for clip in given] or [None]
    layout = _laid_out(len(chosen), frames, check_size(size), limit)
    color = (1.0, 1.0, 1.0, 0.0) if background is None else parse_color("background", background)
    red, green, blue, alpha = (round(255 * part) for part in color)
    width, height = layout.pixels
    picture = np.empty((height, width, 4), np.uint8)
    picture[:] = red, green, blue, alpha
    with (
        working("drawing a sheet"),
        Renderer(model, size=layout.size, background=background, **options) as renderer,
    ):
        for row, clip in enumerate(shown(chosen[: layout.rows], layout.rows, "drawing a sheet")):
            top = MARGIN + row * layout.pitch
            name = "rest pose" if clip is None else f"{clip.name}   {clip.duration:.2f} s"
            write_line(picture[top : top + LINE, MARGIN:-MARGIN], name)
            strip = picture[top + LINE : top + LINE + layout.size[1], MARGIN:-MARGIN]
            for number, frame in enumerate(_row(renderer, model, clip, layout, overlays)):
                strip[:, number * layout.size[0] : (number + 1) * layout.size[0]] = frame
    if layout.left_out:
        words = f"and {layout.left_out} more clip{'s' if layout.left_out > 1 else ''}"
        write_line(picture[-LINE - MARGIN : -MARGIN, MARGIN:-MARGIN], words)
    return picture


def _laid_out(clips: int, frames: int, size: tuple[int, int], limit: int) -> _Layout:
    """The layout with the largest frames that fit into `limit` pixels. Raises ValueError or TypeError."""
    frames = whole("frames", frames, 1, MAX_FRAMES)
    limit = min(whole("limit", limit, 1), _MAX_SIDE)
    check_frame_size(size)
    smallest = _MIN_SIDE / min(size)
    smallest_sheet = max(_Layout(frames, _scaled(size, smallest), 1, 1).pixels)
    if limit < smallest_sheet:
        raise ValueError(
            f"limit is {limit}; expected {smallest_sheet} or more for rows of {frames} such frames, fewer "
            f"frames, or a size that is less oblong than {size}"
        )
    fit_width = (limit - 2 * MARGIN) / (frames * size[0])
    fit_height = ((limit - MARGIN) / clips - LINE - MARGIN) / size[1]
    layout = _Layout(frames, _scaled(size, max(min(1.0, fit_width, fit_height), smallest)), clips, 0)
    if layout.pixels[1] <= limit:
        return layout
    rows = (limit - 2 * MARGIN - LINE) // layout.pitch
    return layout._replace(rows=rows, left_out=clips - rows)


def check_frame_size(size: tuple[int, int]) -> tuple[int, int]:
    """`size` as that of a frame among others. Raises ValueError where it is too small."""
    if min(size) < _MIN_SIDE:
        raise ValueError(f"size is {size}; expected frames of {_MIN_SIDE}x{_MIN_SIDE} pixels or more")
    return size


def _scaled(size: tuple[int, int], factor: float) -> tuple[int, int]:
    width, height = (max(math.floor(side * factor + 1e-9), 1) for side in size)
    return width, height


def _row(
    renderer: Renderer, model: Model, clip: Any, layout: _Layout, overlays: Overlays | None
) -> list[Frame]:
    from ..render.camera import Framing
    from ..render.overlays.options import check_overlays
    from ..render.posing import Poser
    from ..render.turntable import circling

    count = layout.frames
    if clip is None:
        framing = Framing(model.up, azimuth=0.0, aspect=layout.size[0] / layout.size[1])
        chosen = check_overlays(overlays)
        cameras = circling(Poser(model), None, count, framing, box=chosen is not None and chosen.boxes)
        return [renderer.frame(camera=camera, overlays=overlays) for camera in cameras]
    times = np.linspace(0.0, clip.duration, count).tolist()
    return list(renderer.frames(clip, times, loop="clamp", overlays=overlays))


# ---- text ----------------------------------------------------------------------------------------------


def write_line(strip: Frame, words: str) -> None:
    """Write a line into a strip of one color (h, w, 4): black or white, or gray where it is transparent."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default()
    background = strip[0, 0]
    ink = _ink(background)
    # Transparent pixels have the color of the ink, so that letters have no fringe.
    under: Any = (*ink, 0) if background[3] < 255 else tuple(background.tolist())
    image = Image.new("RGBA", (strip.shape[1], strip.shape[0]), under)
    ImageDraw.Draw(image).text((1, 1), fitting(words, font, strip.shape[1] - 2), fill=(*ink, 255), font=font)
    drawn = np.asarray(image)
    if background[3] < 255:
        drawn = np.where(drawn[..., 3:] > 0, drawn, background)
    strip[:] = drawn


def _ink(background: Frame) -> tuple[int, int, int]:
    if background[3] < 128:
        return 128, 128, 128
    dark = float(background[:3] @ np.array([0.299, 0.587, 0.114])) < 128
    return (255, 255, 255) if dark else (0, 0, 0)


def fitting(words: str, font: Any, width: int) -> str:
    """The words as one line that the font can write within `width` pixels, cut if it is longer."""
    line = "".join(letter if letter.isprintable() else " " for letter in words)
    if type(font).__name__ == "ImageFont":  # Pillow without FreeType has only the letters of Latin-1
        line = line.encode("latin-1", "replace").decode("latin-1")
    if len(line) <= _MAX_LETTERS and font.getlength(line) <= width:
        return line
    cuts = (line[:end] + "..." for end in range(min(len(line), _MAX_LETTERS), 0, -1))
    return next((cut for cut in cuts if font.getlength(cut) <= width), "")
