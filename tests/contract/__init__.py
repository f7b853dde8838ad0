"""The cases of the tables in docs/formats.md: one module for each table, one case for each of its rows.

A module has TITLE, the heading of its table, and CASES: the first cell of a row -> a function that returns a
`Case`. tests/test_contract.py compares the rows with the cases and runs each case. A row

    | element | played | reported as |
    | --- | --- | --- |
    | lines | no | `points_lines_dropped` |

needs the case

    CASES = {"lines": lambda: Case({"a.obj": LINES}, codes=("points_lines_dropped",))}

Its third cell lists the codes of the case, in its order, or is empty. A file that is refused has in its
third cell `refused: ` and words of the error, which the case repeats in `refused`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Case", "Cases"]


@dataclass(frozen=True)
class Case:
    """A file that has one element of its format, and what a load of it shows.

    `files` are names and contents, side by side in one folder; the first one is loaded. `played` asserts
    what the model shows of the element; without it the element is not played. `codes` are all entries of the
    report that are losses, and what else the row names. `options` are arguments of skinpy.load.
    """

    files: Mapping[str, bytes]
    played: Callable[[Any], None] | None = None
    codes: tuple[str, ...] = ()
    refused: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


Cases = Mapping[str, Callable[[], Case]]
