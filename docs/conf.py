"""How Sphinx builds the site: python -m sphinx -W --keep-going docs docs/_build

Needs the extra `docs`, and skinpy installed. Nothing is fetched from a network, no notebook is run.
"""

import shutil
import sys
import tomllib
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS / "_extensions")]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def bring(names: list[Path], folder: Path) -> None:
    """Copies of files from elsewhere in the checkout: Sphinx reads below this folder alone.

    Unchanged ones are left, so that they are not read again; those whose original has gone go too.
    """
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.ipynb"):
        if old.name not in {path.name for path in names}:
            old.unlink()
    for path in names:
        copy = folder / path.name
        if not copy.exists() or copy.read_bytes() != path.read_bytes():
            shutil.copyfile(path, copy)


def list_notebooks(folder: Path, notebooks: list[Path]) -> None:
    """A page that lists them: their number, and whether there are any, is not known beforehand."""
    lines = [
        "# Notebooks",
        "",
        f"{len(notebooks)} notebooks, as they stand in the checkout's `notebooks/`.",
        "",
    ]
    lines += ["```{toctree}", ":maxdepth: 1", "", *(path.stem for path in notebooks), "```", ""]
    page, text = folder / "index.md", "\n".join(lines)
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
bring(NOTEBOOKS, DOCS / "notebooks")
list_notebooks(DOCS / "notebooks", NOTEBOOKS)

project = "skinpy"
author = "skinpy contributors"
project_copyright = author
version = release = PROJECT["version"]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "myst_nb",
    "documented_names",
    "prose_docstrings",
]
exclude_patterns = ["_build", "_extensions", "_static", "**/.ipynb_checkpoints"]
templates_path: list[str] = []
smartquotes = False  # "walk" is a string

# ---- Markdown and notebooks ----
nb_execution_mode = "off"
nb_merge_streams = True
myst_heading_anchors = 3
# Pages name languages that Pygments knows; what has none is plain text, also where it looks like Python.
highlight_language = "none"

# ---- docstrings ----
# They are prose: one sentence, then paragraphs with shapes, units and errors. Names in backticks are code,
# and links where they name something that is documented.
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "inherited-members": "Sequence,Mapping,tuple,Exception,BaseException,Protocol,object",
}
autosummary_generate = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
add_module_names = False

# ---- pages ----
html_theme = "furo"
html_title = "skinpy"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "sidebar_hide_name": False,
    "light_css_variables": {"color-brand-primary": "#2456a6", "color-brand-content": "#2456a6"},
    "dark_css_variables": {"color-brand-primary": "#8fb8f5", "color-brand-content": "#8fb8f5"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
