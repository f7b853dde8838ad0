"""Live views in notebooks. `canvas` and `panel` need the extra `jupyter` and are loaded by the first view."""

from .live_view import LiveView

__all__ = ["LiveView"]
