"""Models to look at: `show` opens a window, `LiveView` shows a model in a notebook, `make_page` makes a page.

A `Stage` is what window and live view share: a model that plays and a camera. The package needs the extra
`view`. `import skinpy` alone does not load it.
"""

from .live import LiveView
from .page import Page, make_page, save_page
from .stage import CameraRig, Layer, Orbit, Player, Stage
from .window import show

__all__ = [
    "show",
    "LiveView",
    "Page",
    "make_page",
    "save_page",
    "Stage",
    "Player",
    "CameraRig",
    "Orbit",
    "Layer",
]
