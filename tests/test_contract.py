"""The tables of docs/formats.md: what a format can hold, whether it is played, and how a loss is reported.

Each row has a case in tests/contract, and each case a row. A case is a file that has the element: its model
shows what the row promises, its report has the codes that the row names, and no other loss.
"""

import importlib
import pkgutil
import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import ROOT

import skinpy

pytest.register_assert_rewrite("contract")
import contract  # noqa: E402
from contract import Case, Cases  # noqa: E402

PAGE = ROOT / "docs" / "formats.md"
#: What the model does not show in any format: no loss of the model.
NOT_SHOWN = {
    *(
        "looks_ignored",
        "attributes_ignored",
        "cameras_lights_ignored",
        "metadata_ignored",
        "extensions_unread",
        "looks_kept",
    )
}
HEAD = "| element | played | reported as |"


class Row(NamedTuple):
    """A row of a table; the words are those of the page."""

    table: str
    element: str
    played: str
    reported: str

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(re.findall(r"`(\w+)`", self.reported))


def rows() -> list[Row]:
    """The rows of all tables, with the heading above each of them."""
    found, title, inside = [], "", False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            title = line.lstrip("# ")
        inside = line == HEAD or (inside and line.startswith("|"))
        if inside and line != HEAD and not line.startswith("| ---"):
            found.append(Row(title, *(cell.strip() for cell in line.strip("|").split("|"))))
    return found


def tables() -> dict[str, Cases]:
    """The cases of each table by its heading."""
    names = [one.name for one in pkgutil.iter_modules(contract.__path__) if one.name[0] != "_"]
    modules = [importlib.import_module(f"contract.{name}") for name in names]
    return {module.TITLE: module.CASES for module in modules}


ROWS = rows()
CASES = tables()


def test_each_row_has_a_case_and_each_case_a_row() -> None:
    listed = [(row.table, row.element) for row in ROWS]
    assert len(set(listed)) == len(listed), "an element stands twice in one table"
    assert set(listed) == {(title, element) for title, cases in CASES.items() for element in cases}


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.table}: {row.element}" for row in ROWS])
def test_nothing_is_lost_in_silence(row: Row) -> None:
    """What is not played has a code, or the file is refused."""
    assert re.match(r"(yes|partly|no)\b", row.played)
    assert row.played.startswith("yes") or row.reported, "a loss without a word"


def load(case: Case, folder: Path) -> Any:
    paths = [folder / name for name in case.files]
    for path, content in zip(paths, case.files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", skinpy.SkinpyWarning)
        return skinpy.load(paths[0], **case.options)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.table}: {row.element}" for row in ROWS])
def test_the_row_is_true(row: Row, tmp_path: Path) -> None:
    case = CASES[row.table][row.element]()
    assert bool(case.played) != row.played.startswith("no"), "the case and the row differ"
    if case.refused:
        assert row.reported == f"refused: {case.refused}"
        with pytest.raises(skinpy.LoadError, match=re.escape(case.refused)):
            load(case, tmp_path)
        return
    assert row.codes == case.codes
    model = load(case, tmp_path)
    found = {entry.code: entry for entry in model.report}
    assert set(case.codes) <= set(found), f"the report has {sorted(found)}"
    assert {entry.code for entry in model.report.lost} <= set(case.codes), "another loss"
    if not row.played.startswith("yes"):
        named = {code for code in case.codes if found[code].severity == "lost"} | {*case.codes} & NOT_SHOWN
        assert named, "the loss is not called one"
    if case.played:
        case.played(model)
