"""The table of formats (csrc/import/import_format.c) against what Python says of them."""

import re

from conftest import ROOT, needs_checkout

import skinpy
from skinpy.limits import DEFAULT_FORMATS, FRAGILE_FORMATS

needs_checkout()

TABLE = (ROOT / "csrc" / "import" / "import_format.c").read_text(encoding="utf-8")
#: Suffixes and allowance of each row.
ROWS = [
    (suffixes.split(), allowance or "IMPORT_NAMED")
    for suffixes, allowance in re.findall(
        r'\{\.suffixes = "([^"]+)",(?: /\*[^*]*\*/)?(?:\s*\.allowance = (\w+),)?', TABLE
    )
]


def allowed(*kinds: str) -> set[str]:
    return {suffix for suffixes, allowance in ROWS if allowance in kinds for suffix in suffixes}


def test_each_suffix_has_one_row() -> None:
    suffixes = [suffix for row, _ in ROWS for suffix in row]
    assert len(ROWS) == TABLE.count("{.suffixes = ") - TABLE.count("unknown = {.suffixes")
    assert len(suffixes) == len(set(suffixes)) > 60
    assert all(re.fullmatch(r"[a-z0-9.]{1,15}", suffix) for suffix in suffixes)


def test_default_formats_are_those_of_the_table() -> None:
    assert set(DEFAULT_FORMATS) == set(skinpy.DEFAULT_FORMATS) == allowed("IMPORT_ALWAYS", "IMPORT_ISOLATED")
    assert set(FRAGILE_FORMATS) == allowed("IMPORT_ISOLATED")


def test_rows_name_each_other_by_suffixes_that_exist() -> None:
    suffixes = {suffix for row, _ in ROWS for suffix in row}
    named = {name for names in re.findall(r'\.may_hold = "([^"]+)"', TABLE) for name in names.split()}
    assert named and named <= suffixes
