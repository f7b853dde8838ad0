"""Every Python example of the README and the docs runs, in order, one file after another."""

import re
from pathlib import Path

import pytest
from conftest import ROOT, needs_checkout

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def pages_with_code() -> list[Path]:
    return [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", pages_with_code(), ids=lambda page: page.name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("moderngl", reason="the examples draw: install the extra 'view'")
    if page.name == "notebook.md":
        pytest.importorskip("jupyter_rfb", reason="live views need the extra 'jupyter'")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": "example"}
    for code in BLOCK.findall(page.read_text(encoding="utf-8")):
        exec(compile(code, str(page), "exec"), scope)


def test_the_readme_has_examples() -> None:
    assert ROOT / "README.md" in pages_with_code()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)|src=\"([^\"]+)\"", text)
    missing = [
        link
        for link in (first or second for first, second in links)
        if "://" not in link and not (page.parent / link).exists()
    ]
    assert not missing


def test_every_report_code_is_explained() -> None:
    """With its severity, and with the remedy of skinpy.check."""
    needs_checkout()
    from skinpy.checking.report import _MEANING, _OWN

    table = (ROOT / "csrc" / "import" / "import_report.h").read_text(encoding="utf-8")
    severities = dict(re.findall(r"ROW\((\w+), SK_(LOST|REPAIRED)", table))
    page = (ROOT / "docs" / "loading.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (lost|repaired) \| [^|]+ \| ([^|]+) \|$", page, re.MULTILINE)
    assert len(rows) > 50
    assert {code: severity.upper() for code, severity, _ in rows} == severities
    remedies = {code: remedy for code, _, remedy in rows if code not in _OWN}
    assert remedies == {code: _MEANING[code][1] for code in remedies}
