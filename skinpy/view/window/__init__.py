"""A window with a model in it. Its keys are in `controls` and `skinpy.view.controls.keys`."""

from .open_window import show

__all__ = ["show"]
