"""The configuration of Sphinx, which builds the site: python -m sphinx -W --keep-going docs docs/_build/html

The build needs the extra `docs` and an installed skinpy. It fetches nothing from a network and runs no
notebook. myst-nb writes a folder beside the output, so the output should have a folder of its own.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS / "_extensions")]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def write(path: Path, text: str) -> None:
    """Write a file, unless it has this text already: Sphinx reads changed files again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def links_from_below(text: str) -> str:
    """The text of a file in notebooks/ with links that are right in docs/notebooks/."""
    return re.sub(r"\]\(\.\./(docs/)?", lambda found: "](../" if found[1] else "](../../", text)


def bring_notebooks(source: Path, folder: Path) -> None:
    """Copy the notebooks into docs/, the only folder that Sphinx reads, and write a page that lists them."""
    notebooks = {path.name: path for path in sorted(source.glob("*.ipynb"))}
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.ipynb"):
        if old.name not in notebooks:
            old.unlink()
    for name, path in notebooks.items():
        notebook = json.loads(links_from_below(path.read_text(encoding="utf-8")))
        # A notebook that was never run does not have its language in its metadata.
        notebook["metadata"].setdefault("language_info", {"name": "python", "pygments_lexer": "ipython3"})
        write(folder / name, json.dumps(notebook))
    readme = source / "README.md"
    head = links_from_below(readme.read_text(encoding="utf-8")) if readme.exists() else "# Notebooks\n"
    names = "\n".join(Path(name).stem for name in notebooks)
    write(folder / "index.md", f"{head}\n```{{toctree}}\n:maxdepth: 1\n:hidden:\n\n{names}\n```\n")


bring_notebooks(ROOT / "notebooks", DOCS / "notebooks")

project = "skinpy"
author = "skinpy contributors"
project_copyright = author
version = release = PROJECT["version"]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "myst_nb",
    "documented_names",
    "live_page",
    "reference_pages",
]
exclude_patterns = ["_build", "jupyter_execute", "_extensions", "_static", "changes", "**/.ipynb_checkpoints"]
templates_path: list[str] = []
smartquotes = False  # quotes in "walk" are those of Python

# ---- Markdown and notebooks ----
nb_execution_mode = "off"
nb_merge_streams = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # the default is fetched from a network
myst_heading_anchors = 3
# Code blocks without a language are plain text, even if they look like Python.
highlight_language = "none"

# ---- docstrings ----
# They have NumPy's sections. Names in single backticks are links if they name something that is documented.
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_rtype = False  # one entry for a result, with its type in front of the description
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
