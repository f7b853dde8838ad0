"""The graphics thread, as tests see it that count what is left."""

import sys
from contextlib import suppress

import skinpy


def finish_drawing() -> None:
    """A caller has its answer before the graphics thread lets go of the question: here it has."""
    graphics = sys.modules.get("skinpy.render.gpu.context")
    if graphics is not None:
        with suppress(skinpy.GraphicsError):  # without OpenGL nothing is drawn
            graphics.call(lambda context: None)
