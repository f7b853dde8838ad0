"""Lets autodoc read skinpy's docstrings, which are prose with names in backticks and no other markup.

- Signs that reStructuredText would take for markup (the asterisk of a product, a bar, an underscore at the
  end of a word) are escaped outside of backticks.
- An argument's name where a sentence begins, or before "=", is shown as code.
- An indented block is Python code.
- "docs/clips.md" becomes a link to that page.
- A paragraph, or its end, that begins with "Raises" becomes a field with links to the exceptions.
- A class of many members gets a table of them.
- A class that is never made by its name is shown without the arguments of its constructor.
"""

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

import skinpy

EXCEPTIONS = sorted(
    name
    for name in skinpy.__all__
    if isinstance(getattr(skinpy, name), type) and issubclass(getattr(skinpy, name), Exception)
)
ERRORS = re.compile("|".join([r"\b[A-Z]\w+Error\b", *(rf"\b{name}\b" for name in EXCEPTIONS)]))
SPAN = re.compile(r"(``.+?``|`[^`]+`)", re.DOTALL)
PAGES = {path.stem for path in Path(__file__).parents[1].glob("*.md")}
PAGE = re.compile(r"\bdocs/([\w-]+)\.md\b")
DOTTED = re.compile(r"(?<![\w`\"'/.])(skinpy(?:\.\w+)+)(?![\w`/])")
LAST_SENTENCE = re.compile(r"(?<=\.)\s(?=Raises [A-Z])")
ITEM = re.compile(r"^(?:- |\d+\. )")

#: Made by skinpy.load, by other methods, or by nobody: their constructors are nobody's business.
MADE_BY_OTHERS = {
    *("Model", "Clip", "Clips", "Channel", "Pose", "Skeleton", "Mesh", "Submesh", "Skin", "Target"),
    *("Material", "Texture", "Report", "ReportEntry", "Finding", "Findings", "BakedTexture", "BakedClip"),
    *("Mask", "JointMatch", "Animation", "VertexAnimation", "Event", "Track", "PassedEvent", "Recording"),
    *("KeyReport", "Comparison", "Row", "Explanation", "BoundBlendSpace", "StatePlayer", "Switch"),
}
TABLE_FROM = 7  # members


def arguments_of(obj: Any) -> set[str]:
    try:
        return set(inspect.signature(obj).parameters) - {"self"}
    except (TypeError, ValueError):
        return set()


def escaped(words: str, arguments: set[str]) -> str:
    """`words` without markup of reStructuredText; arguments, modules and pages stand out."""
    words = re.sub(r"([\\*|])", r"\\\1", words)
    words = re.sub(r"(?<=\w)_(?!\w)", r"\\_", words)
    if arguments:
        names = "|".join(sorted(arguments, key=len, reverse=True))
        begin = r"(?:^|(?<=\. )|(?<=; )|(?<=\.\n)|(?<=^- ))"
        words = re.sub(rf"{begin}({names})(?=[ :,.]|$)", r"``\1``", words, flags=re.MULTILINE)
        words = re.sub(rf"(?<![\w`])({names})=(?![=\s])(\"[^\"]*\"|[\w.]*)", r"``\1=\2``", words)
        words = re.sub(rf"(?<![\w`])({names})=(?=[\s,;)])", r"``\1=``", words)
        long = "|".join(sorted((name for name in arguments if "_" in name), key=len, reverse=True))
        if long:
            words = re.sub(rf"(?<![\w`.\"])({long})(?![\w`=\"])", r"``\1``", words)
    words = DOTTED.sub(lambda found: f":py:obj:`{found[1]}`", words)
    return PAGE.sub(lambda found: f":doc:`/{found[1]}`" if found[1] in PAGES else found[0], words)


def code(words: str) -> str:
    """One span in backticks: a name that may be a link, or anything else as it stands."""
    inner = words.strip("`")
    return f":py:obj:`{inner}`" if re.fullmatch(r"[A-Za-z_]\w*", inner) else f"``{inner}``"


def marked_up(words: str, arguments: set[str]) -> str:
    parts = SPAN.split(words)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = f"``{part.strip('`')}``" if part.strip("`") in arguments else code(part)
            continue
        parts[number] = escaped(part, arguments)
        if words.startswith("Raises "):
            parts[number] = ERRORS.sub(lambda found: f":py:exc:`{found[0]}`", parts[number])
    return "".join(parts)


def paragraphs(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines between empty ones; an item of a list starts one of its own."""
    run: list[str] = []
    for line in lines:
        if run and (not line.strip() or ITEM.match(line)):
            yield run
            run = []
        if line.strip():
            run.append(line)
    if run:
        yield run


def shown(words: str) -> list[str]:
    """A paragraph, or the field of the errors."""
    if not words.startswith("Raises "):
        return [*words.split("\n"), ""]
    first, *others = words.removeprefix("Raises ").split("\n")
    return [f":Raises: {first}", *(f"    {line}" for line in others), ""]


def converted(lines: list[str], arguments: set[str]) -> list[str]:
    result: list[str] = []
    in_code = False
    for run in paragraphs(lines):
        if run[0].startswith("    "):
            if not in_code:
                result += [".. code-block:: python", ""]
            result += [*textwrap.indent(textwrap.dedent("\n".join(run)), "    ").split("\n"), ""]
            in_code = True
            continue
        in_code = False
        for part in LAST_SENTENCE.split("\n".join(run)):
            result += shown(marked_up(part, arguments))
    return result


def members_of(cls: type) -> list[str]:
    """Public documented methods and properties of skinpy's classes, in the order of the source."""
    names: dict[str, None] = {}
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] == "skinpy":
            names |= dict.fromkeys(
                name
                for name, value in vars(base).items()
                if not name.startswith("_")
                and getattr(value, "__doc__", None)
                and not isinstance(value, type)
                and type(value).__name__ not in ("member_descriptor", "str", "int", "float", "tuple", "dict")
            )
    return list(names)


def first_sentence(member: Any) -> str:
    words = " ".join((inspect.getdoc(member) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[^.][.:])\s(?=[A-Z])", words)[0].rstrip(":")


def table(name: str, cls: type) -> list[str]:
    """The members and what they are in a sentence, for classes that have many."""
    members = members_of(cls)
    if len(members) < TABLE_FROM:
        return []
    lines = [".. list-table::", "    :class: members", "    :widths: 1 3", ""]
    for member in members:
        found = inspect.getattr_static(cls, member)
        call = "()" if callable(getattr(cls, member, None)) else ""
        lines.append(f"    * - :py:obj:`{member}{call} <{name}.{member}>`")
        lines.append(f"      - {marked_up(first_sentence(found), arguments_of(found))}")
    return [*lines, ""]


def comment_on(name: str, value: Any) -> list[str]:
    """The comment "#:" above a value that is imported from elsewhere; autodoc has the words of its class."""
    last = name.rpartition(".")[2]
    for module in list(sys.modules.values()):
        if module.__name__.startswith("skinpy.") and getattr(module, last, None) is value:
            found = ModuleAnalyzer.for_module(module.__name__)
            found.analyze()
            if ("", last) in found.attr_docs:
                return list(found.attr_docs["", last])
    return []


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    if what == "data":
        lines[:] = comment_on(name, obj)
    lines[:] = converted(lines, arguments_of(obj))
    if what == "class" and "members" in options:
        lines += table(name, obj)


def signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, words: str, result: str
) -> tuple[str, str] | None:
    if what == "class" and name.rpartition(".")[2] in MADE_BY_OTHERS:
        return "", ""
    if words and "_" in words:  # what begins with _ is not for users
        return re.sub(r"(, \*)?, _\w+=\w+", "", words), result
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
