"""The documentation as a site: it has every page and, in its reference, every public name.

It is built without warnings, and no link in it is broken.
"""

import doctest
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from conftest import HANGS, ROOT, needs_checkout

import skinpy
from skinpy.__main__ import main

DOCS = ROOT / "docs"
SOURCES = (".py", ".pyi", ".c", ".h", ".glsl", ".vert", ".frag")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"^\.\. auto(?:class|function|exception|data):: ([\w.]+)", re.MULTILINE)


def listed_pages() -> set[str]:
    """Names of the pages in the table of contents of docs/index.md."""
    blocks = TOCTREE.findall((DOCS / "index.md").read_text(encoding="utf-8"))
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    # "name", or "Title in the table <name>"
    return {line.rpartition("<")[2].rstrip(">") for line in lines if line and not line.startswith(":")}


def test_every_page_is_in_the_table_of_contents() -> None:
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    listed = listed_pages()
    assert sorted(pages - listed) == []
    assert [name for name in listed if "/" not in name and not list(DOCS.glob(f"{name}.*"))] == []


def test_pages_that_the_sources_name_are_there() -> None:
    needs_checkout()
    folders = [ROOT / "skinpy", ROOT / "csrc", ROOT / "shaders", ROOT / "examples"]
    paths = [path for folder in folders for path in folder.rglob("*.*") if path.suffix in SOURCES]
    named = {name for path in paths for name in re.findall(r"docs/[\w-]+\.md", path.read_text("utf-8"))}
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_public_name_is_in_the_reference() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.rst"))
    described = set(DIRECTIVE.findall(text))
    assert [name for name in skinpy.__all__ if name not in described | {"rotation", "__version__"}] == []
    assert "automodule:: skinpy.rotation" in text
    for package in ("render", "output", "view"):
        module = pytest.importorskip(f"skinpy.{package}", reason="drawing needs the extra 'view'")
        assert [name for name in module.__all__ if name not in described] == []
    table = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    assert [name for name in described & set(skinpy.__all__) if f"\n    {name}\n" not in table] == []


@pytest.mark.parametrize("page", sorted((DOCS / "api").glob("*.rst")), ids=lambda page: page.name)
def test_examples_of_the_reference(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("moderngl", reason="the examples draw: install the extra 'view'")
    monkeypatch.chdir(tmp_path)
    done = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert done.failed == 0
    assert done.attempted or page.name == "index.rst"


def test_every_command_is_on_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^    (\w+) ", capsys.readouterr().out, re.MULTILINE)
    assert len(commands) > 8
    assert [
        name for name in commands if f"| `skinpy {name} " not in page and f"`skinpy {name}`" not in page
    ] == []
    for row in page.splitlines():
        command = re.match(r"\| `skinpy (\w+)", row)
        if not command:
            continue
        with pytest.raises(SystemExit):
            main([command[1], "--help"])
        text = capsys.readouterr().out
        assert [option for option in re.findall(r"`(--\w+)", row) if option not in text] == []


# ---- the built site -------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("furo", reason="the site needs the extra 'docs'")
    out = tmp_path_factory.mktemp("site") / "html"  # notebooks are written beside it too
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def broken_links(site: Path) -> Iterator[str]:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.exists():
                yield f"{path.relative_to(site)}: {link}"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{path.relative_to(site)}: {link} has no such anchor"


@pytest.mark.ci
def test_the_site_has_no_broken_links(site: Path) -> None:
    assert len(list(site.rglob("*.html"))) > len(list(DOCS.glob("*.md")))
    assert list(broken_links(site)) == []


@pytest.mark.ci
def test_the_site_fetches_nothing(site: Path) -> None:
    """Styles, scripts and pictures are part of the site, so it works without a network."""
    fetched = re.compile(
        r"<(?:script|img|link rel=\"stylesheet\")[^>]*(?:src|href)=\"(https?:)?//", re.DOTALL
    )
    assert [path.name for path in site.rglob("*.html") if fetched.search(path.read_text("utf-8"))] == []


@pytest.mark.ci
def test_the_reference_has_the_methods_of_c_too(site: Path) -> None:
    text = (site / "api" / "models.html").read_text(encoding="utf-8")
    for name in ("palette", "globals", "deform", "crowd_palette", "joint_positions", "pose", "render"):
        assert f'id="skinpy.Model.{name}"' in text
