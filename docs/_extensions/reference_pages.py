"""Adds to the reference what docstrings alone do not give.

- "docs/clips.md" in a docstring becomes a link to that page.
- A class of many members gets a table of them, each with its summary.
- A class whose docstring has no Parameters is made by skinpy and not by users: it is shown without the
  arguments of its constructor. Arguments whose names begin with an underscore are left out everywhere.
- A value that `skinpy` takes over from another module shows the comment "#:" that stands above it there.
"""

import inspect
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

PAGES = {path.stem for path in Path(__file__).parents[1].glob("*.md")}
PAGE = re.compile(r"\bdocs/([\w-]+)\.md\b")
PARAMETERS = re.compile(r"^Parameters\n-+$", re.MULTILINE)
#: A class with fewer members is shown without a table of them.
MIN_TABLE_MEMBERS = 7


def with_page_links(line: str) -> str:
    """A line in which the paths of pages of this folder are links."""
    return PAGE.sub(lambda found: f":doc:`/{found[1]}`" if found[1] in PAGES else found[0], line)


def members_of(cls: type) -> list[str]:
    """Public documented methods and properties of skinpy's classes, in the order of the source."""
    names: dict[str, None] = {}
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] == "skinpy":
            names |= dict.fromkeys(name for name, value in vars(base).items() if is_documented(name, value))
    return list(names)


def is_documented(name: str, value: Any) -> bool:
    """Whether a member of a class is a public method or property with a docstring."""
    described = inspect.isroutine(value) or inspect.isdatadescriptor(value) or hasattr(value, "func")
    return (
        not name.startswith("_")
        and described
        and bool(value.__doc__)
        and not inspect.ismemberdescriptor(value)
    )


def member_table(name: str, cls: type) -> list[str]:
    """A table of the members of a class and their summaries, as lines of reStructuredText."""
    members = members_of(cls)
    if len(members) < MIN_TABLE_MEMBERS:
        return []
    lines = ["", ".. list-table::", "    :class: members", "    :widths: 1 3", ""]
    for member in members:
        call = "()" if callable(getattr(cls, member, None)) else ""
        summary = (inspect.getdoc(inspect.getattr_static(cls, member)) or "").partition("\n\n")[0]
        lines.append(f"    * - :py:obj:`{member}{call} <{name}.{member}>`")
        lines.append(f"      - {with_page_links(' '.join(summary.split()))}")
    return [*lines, ""]


def comment_above(name: str, value: Any) -> list[str]:
    """The comment "#:" above a value in the module that sets it; autodoc has the docstring of its class."""
    last = name.rpartition(".")[2]
    for module in list(sys.modules.values()):
        if module.__name__.startswith("skinpy.") and getattr(module, last, None) is value:
            found = ModuleAnalyzer.for_module(module.__name__)
            found.analyze()
            if ("", last) in found.attr_docs:
                return list(found.attr_docs["", last])
    return []


def complete_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Changes `lines`, the docstring that autodoc has read, in place."""
    if what == "data":
        lines[:] = comment_above(name, obj)
    lines[:] = [with_page_links(line) for line in lines]
    if what == "class" and "members" in options:
        lines += member_table(name, obj)


def shorten_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, arguments: str | None, result: str
) -> tuple[str, str] | None:
    """The arguments and the result that the page shows, or None for those that autodoc has found."""
    if what == "class" and not PARAMETERS.search(inspect.getdoc(obj) or ""):
        return "", ""
    if arguments and "_" in arguments:
        return re.sub(r"(, \*)?, _\w+=\w+", "", arguments), result
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    # napoleon reads the sections at priority 500; a table must follow what it has made of them.
    app.connect("autodoc-process-docstring", complete_docstring, priority=600)
    app.connect("autodoc-process-signature", shorten_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
