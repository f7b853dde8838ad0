"""Models to look at and to turn: a page for any browser (`make_page`), a window (`show`), and the `Stage` and
`Orbit` that the window and the live view of notebooks share.

Needs the extra `view`. `import skinpy` alone does not load this package.
"""

from .layer import Layer
from .live import LiveView
from .orbit import Orbit
from .page import Page, make_page, save_page
from .stage import Stage
from .window import show

__all__ = ["show", "LiveView", "Page", "make_page", "save_page", "Layer", "Orbit", "Stage"]
