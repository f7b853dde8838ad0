"""Shows a live page of skinpy on pages of the site, in place of the comment "live character".

Other readers of Markdown ignore the comment.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import skinpy

MARK = "<!-- live character -->"
FILE = "_static/character.html"
TITLE = "The bundled character: drag to rotate"
FRAME = f'<iframe class="live" src="{{}}" loading="lazy" title="{TITLE}"></iframe>'


def insert(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Replace the comment on a page by a frame with the live page."""
    if MARK in context.get("body", ""):
        context["body"] = context["body"].replace(MARK, FRAME.format(context["pathto"](FILE, resource=True)))


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the live page into the folder of the site."""
    if error is None and app.builder.format == "html":
        skinpy.character().to_html(Path(app.outdir) / FILE)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", insert)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
