"""Pages that play a model in any browser."""

from .page import Page, make_page, save_page

__all__ = ["Page", "make_page", "save_page"]
