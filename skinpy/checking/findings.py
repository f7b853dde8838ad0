"""What a check of a model finds: single findings, and all of them as a sequence, a table and plain data."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, overload

from .._text import printable

__all__ = ["Finding", "Findings", "LEVELS", "Level"]

Level: TypeAlias = Literal["error", "warning", "note"]

#: The worst first.
LEVELS: tuple[Level, ...] = ("error", "warning", "note")

_VERSION = 1  # of what to_dict gives; another one where a key goes or changes its meaning


@dataclass(frozen=True)
class Finding:
    """One thing that skinpy.check found; docs/check.md has all codes."""

    code: str  #: stable, such as "loop_seam"
    level: Level
    clip: str | None  #: name of the clip, or None where it concerns the model
    joint: str | None  #: name of the joint where it is worst, or None
    time: float | None  #: seconds in the clip, or None
    size: float | None  #: how much; docs/check.md has the unit of each code
    message: str
    remedy: str  #: what to do about it


class Findings(Sequence[Finding]):
    """All that a check found: errors first, then warnings, then notes; in the order of the rules and clips.

    `print(findings)` shows a table.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._findings = tuple(sorted(findings, key=lambda one: LEVELS.index(one.level)))

    @property
    def errors(self) -> "Findings":
        """Those of level "error": the file contradicts itself, or breaks a limit that was given."""
        return self._of("error")

    @property
    def warnings(self) -> "Findings":
        """Those of level "warning": it plays, but probably not as it was meant."""
        return self._of("warning")

    @property
    def notes(self) -> "Findings":
        """Those of level "note": nothing is wrong, but other programs may take it otherwise."""
        return self._of("note")

    def _of(self, level: Level) -> "Findings":
        return Findings([one for one in self if one.level == level])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts, fit for JSON: "version", "counts" and "findings".

        Counts are by level; each finding has the fields of Finding. What is not UTF-8 is U+FFFD,
        and what is not finite None.
        """
        counts = Counter(one.level for one in self)
        rows = [{key: _plain(value) for key, value in asdict(one).items()} for one in self]
        return {"version": _VERSION, "counts": {level: counts[level] for level in LEVELS}, "findings": rows}

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> "Findings": ...
    def __getitem__(self, index: int | slice) -> "Finding | Findings":
        if isinstance(index, slice):
            return Findings(self._findings[index])
        return self._findings[index]

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def __eq__(self, other: object) -> bool:
        return self._findings == other._findings if isinstance(other, Findings) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._findings)

    def __str__(self) -> str:
        return "\n".join(_table(self)) if self else "nothing found"

    def __repr__(self) -> str:
        return f"<Findings: {summary(self)}>"


def summary(findings: Findings) -> str:
    """How many of each level, in words."""
    counts = Counter(one.level for one in findings)
    words = [f"{counts[level]} {level}{'s' * (counts[level] != 1)}" for level in LEVELS if counts[level]]
    return ", ".join(words) or "nothing found"


def _table(findings: Findings) -> Iterator[str]:
    """Lines of a table, grouped by level; the remedy stands below each finding."""
    cells = [_cells(one) for one in findings]
    heads = ("code", "clip", "joint", "time", "size")
    widths = [max(len(row[column]) for row in (heads, *cells)) for column in range(len(heads))]
    for level in LEVELS:
        group = [(one, row) for one, row in zip(findings, cells, strict=True) if one.level == level]
        if not group:
            continue
        yield f"{level}s ({len(group)})"
        yield "  " + _row(heads, widths) + "  what"
        for one, row in group:
            yield "  " + _row(row, widths) + "  " + printable(one.message)
            yield "  " + " " * (sum(widths) + 2 * len(widths)) + "-> " + printable(one.remedy)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    *names, time, size = cells
    left = [name.ljust(width) for name, width in zip(names, widths, strict=False)]
    return "  ".join([*left, time.rjust(widths[-2]), size.rjust(widths[-1])])


def _cells(one: Finding) -> tuple[str, ...]:
    time = "-" if one.time is None else f"{one.time:.3f}"
    size = "-" if one.size is None else f"{one.size:.4g}"
    return printable(one.code), printable(one.clip or "-"), printable(one.joint or "-"), time, size


def _plain(value: str | float | None) -> str | float | None:
    """What JSON can hold: it has no infinity, and no NaN."""
    if isinstance(value, str):
        return printable(value)
    return value if value is None or math.isfinite(value) else None
