"""Contact sheets: every clip of a model a row of frames under its name, in one picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arguments import whole
from .._progress import shown
from .picture import pillow

if TYPE_CHECKING:
    from skinpy.clip import Clip
    from skinpy.model import Model
    from skinpy.render import Camera, Overlays, Renderer

Frame = NDArray[np.uint8]
Color = tuple[int, int, int, int]

_MARGIN = 6  # pixels around the sheet, and between two rows
_LINE = 16  # pixels, the height of a line of text
_LEAST = 24  # pixels of a frame's shorter side: it is not made smaller than that, clips are left out instead
_MOST_FRAMES = 100
_LONGEST = 200  # characters of a name that are looked at


class _Layout(NamedTuple):
    frames: int  # in a row
    size: tuple[int, int]  # of a frame, pixels
    rows: int
    left_out: int  # clips that the sheet has no room for; a last line says so

    @property
    def pitch(self) -> int:
        """Pixels from one row to the next."""
        return _LINE + self.size[1] + _MARGIN

    @property
    def pixels(self) -> tuple[int, int]:
        """(width, height) of the sheet."""
        lines = self.rows * self.pitch + (_LINE + _MARGIN if self.left_out else 0)
        return self.frames * self.size[0] + 2 * _MARGIN, lines + _MARGIN


def sheet(
    model: Model,
    clips: Sequence[Clip | str | int] | None = None,
    *,
    frames: int = 8,
    size: tuple[int, int] = (120, 120),
    limit: int = 4096,
    background: str | Sequence[float] | None = "#ffffff",
    overlays: Overlays | None = None,
    **options: Any,
) -> Frame:
    """A contact sheet, (h, w, 4) uint8, for `save_picture`: each clip is a row of `frames` pictures from its
    start to its end, under its name and duration.

    `clips` are Clips of the model, names or numbers; None is all. A model without clips is shown at rest,
    from all sides. `size` is (width, height) of a frame in pixels, from 24 up. The sheet is at most `limit`
    pixels wide and high: frames are made smaller for that, to 24 pixels, and then the last clips are left
    out, which a line at the bottom says. `background` None is transparent. `overlays` are drawn over each
    frame. `options` are those of `skinpy.render.Renderer`, such as floor and samples. Each row has a camera
    that sees all of its clip.

    Raises ValueError or TypeError for wrong arguments, KeyError or IndexError for an unknown clip,
    ImportError without moderngl or Pillow, GraphicsError without OpenGL.
    """
    pillow()
    from ..render import Renderer
    from ..render.arguments import check_size
    from ..render.color import parse_color
    from ..render.posing import Poser

    poser = Poser(model)
    chosen = [poser.motion(clip) for clip in (model.clips if clips is None else clips)] or [None]
    layout = _laid_out(len(chosen), frames, check_size(size), limit)
    color = (1.0, 1.0, 1.0, 0.0) if background is None else parse_color("background", background)
    red, green, blue, alpha = (round(255 * part) for part in color)
    width, height = layout.pixels
    picture = np.empty((height, width, 4), np.uint8)
    picture[:] = red, green, blue, alpha
    with Renderer(model, size=layout.size, background=background, **options) as renderer:
        for row, clip in enumerate(shown(chosen[: layout.rows], layout.rows, "sheet")):
            top = _MARGIN + row * layout.pitch
            name = "rest pose" if clip is None else f"{clip.name}   {clip.duration:.2f} s"
            _write(picture[top : top + _LINE, _MARGIN:-_MARGIN], name)
            for number, frame in enumerate(_row(renderer, model, clip, layout, overlays)):
                left = _MARGIN + number * layout.size[0]
                picture[top + _LINE : top + _LINE + layout.size[1], left : left + layout.size[0]] = frame
    if layout.left_out:
        last = f"and {layout.left_out} more clip{'s' if layout.left_out > 1 else ''}"
        _write(picture[-_LINE - _MARGIN : -_MARGIN, _MARGIN:-_MARGIN], last)
    return picture


def _laid_out(clips: int, frames: int, size: tuple[int, int], limit: int) -> _Layout:
    frames = whole("frames", frames, 1, _MOST_FRAMES)
    limit = whole("limit", limit, 1)
    if min(size) < _LEAST:
        raise ValueError(f"size is {size}; expected frames of {_LEAST}x{_LEAST} pixels or more")
    smallest = _LEAST / min(size)
    least = _Layout(frames, _scaled(size, smallest), 1, 1).pixels
    if limit < max(least):
        raise ValueError(
            f"limit is {limit}; expected {max(least)} or more for rows of {frames} such frames, fewer "
            f"frames, or a size that is less oblong than {size}"
        )
    wide = (limit - 2 * _MARGIN) / (frames * size[0])
    high = ((limit - _MARGIN) / clips - _LINE - _MARGIN) / size[1]
    layout = _Layout(frames, _scaled(size, max(min(1.0, wide, high), smallest)), clips, 0)
    if layout.pixels[1] <= limit:
        return layout
    rows = (limit - 2 * _MARGIN - _LINE) // layout.pitch
    return layout._replace(rows=rows, left_out=clips - rows)


def _scaled(size: tuple[int, int], factor: float) -> tuple[int, int]:
    width, height = (max(math.floor(side * factor + 1e-9), 1) for side in size)
    return width, height


def _row(
    renderer: Renderer, model: Model, clip: Any, layout: _Layout, overlays: Overlays | None
) -> list[Frame]:
    from ..render import turntable

    count = layout.frames
    if clip is None:
        cameras = turntable(model, None, count, aspect=layout.size[0] / layout.size[1])
        return [renderer.frame(camera=camera, overlays=overlays) for camera in cameras]
    camera: Camera = renderer.camera(clip)
    times = np.linspace(0.0, clip.duration, count).tolist()
    return list(renderer.frames(clip, times, camera=camera, loop="clamp", overlays=overlays))


# ---- text ----------------------------------------------------------------------------------------------


def _write(strip: Frame, words: str) -> None:
    """Write a line into a strip of one color (h, w, 4), in black or white, gray where it is transparent."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default()
    background = strip[0, 0]
    ink = _ink(background)
    # What is transparent has the ink's color, so that letters have no fringe.
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
    """The words as one line that the font can write within so many pixels, cut where it is longer."""
    line = "".join(one if one.isprintable() else " " for one in words)
    if type(font).__name__ == "ImageFont":  # Pillow without FreeType: letters of Latin-1 alone
        line = line.encode("latin-1", "replace").decode("latin-1")
    if len(line) <= _LONGEST and font.getlength(line) <= width:
        return line
    cuts = (line[:end] + "..." for end in range(min(len(line), _LONGEST), 0, -1))
    return next((cut for cut in cuts if font.getlength(cut) <= width), "")
