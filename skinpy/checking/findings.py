"""The findings of a check: single ones, and all of them as a sequence, a table and plain data."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias, overload

from .._arguments import instance, item_at, items_of
from .._strict import Strict
from .._text import cut, printable, unicode_text

__all__ = ["LEVELS", "Finding", "Findings", "Level", "finding", "listed", "summary"]

Level: TypeAlias = Literal["error", "warning", "note"]

#: The worst first.
LEVELS: tuple[Level, ...] = ("error", "warning", "note")

_VERSION = 1  # of the data of to_dict; it grows when a key is removed or changes its meaning

#: Findings of one rule and one clip that are listed; the message of the last has the number of the others.
_MAX_LISTED = 8


@dataclass(frozen=True)
class Finding:
    """One fault that `skinpy.check` found; docs/check.md lists all codes.

    Attributes
    ----------
    code : str
        The kind of fault, such as "loop_seam". Codes are stable.
    level : {"error", "warning", "note"}
        How serious the fault is.
    clip : str or None
        Name of the clip; None for a fault of the model.
    joint : str or None
        Name of the joint where the fault is largest.
    time : float or None, seconds
        Time within the clip.
    size : float or None
        How large the fault is; docs/check.md has the unit of each code.
    message : str
        A sentence that describes the fault.
    remedy : str
        What to do about the fault.
    """

    code: str
    level: Level
    clip: str | None
    joint: str | None
    time: float | None
    size: float | None
    message: str
    remedy: str


def finding(
    code: str,
    level: Level,
    message: str,
    remedy: str,
    *,
    clip: str | None = None,
    joint: str | None = None,
    time: float | None = None,
    size: float | None = None,
) -> Finding:
    """Return a finding; what does not apply is left out."""
    seconds = None if time is None else float(time)
    return Finding(code, level, clip, joint, seconds, None if size is None else float(size), message, remedy)


def listed(found: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the largest findings of each code; the message of the last has the number of the others."""
    for code in dict.fromkeys(one.code for one in found):
        same = sorted((one for one in found if one.code == code), key=lambda one: -abs(one.size or 0.0))
        yield from same[: _MAX_LISTED - 1]
        for last in same[_MAX_LISTED - 1 : _MAX_LISTED]:
            rest = len(same) - _MAX_LISTED
            yield replace(last, message=f"{last.message} (and {rest} more joints)") if rest else last


class Findings(Strict, Sequence[Finding]):
    """All findings of a check: errors first, then warnings, then notes.

    Within a level they are in the order of the rules and clips. ``print(findings)`` shows a table. Findings
    are a sequence: they have a length, an index and slices.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        wanted = "a sequence of Finding"
        given = [instance("findings", one, Finding, wanted) for one in items_of("findings", findings, wanted)]
        self._findings = tuple(sorted(given, key=lambda one: LEVELS.index(one.level)))

    @property
    def errors(self) -> "Findings":
        """The findings of level "error": the file contradicts itself, or exceeds a limit that was given."""
        return self._of("error")

    @property
    def warnings(self) -> "Findings":
        """The findings of level "warning": the model plays, but probably not as intended."""
        return self._of("warning")

    @property
    def notes(self) -> "Findings":
        """The findings of level "note": nothing is wrong, but other programs may interpret it differently."""
        return self._of("note")

    def _of(self, level: Level) -> "Findings":
        return Findings([one for one in self if one.level == level])

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as data for JSON.

        Returns
        -------
        dict
            "version", "counts" by level, and "findings" with the fields of `Finding`. Bytes that are not
            UTF-8 become U+FFFD, and numbers that are not finite become None.
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
        return item_at(self._findings, index)

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
    """Return the number of findings of each level, as in "1 error, 2 warnings"."""
    counts = Counter(one.level for one in findings)
    words = [f"{counts[level]} {level}{'s' * (counts[level] != 1)}" for level in LEVELS if counts[level]]
    return ", ".join(words) or "nothing found"


def _table(findings: Findings) -> Iterator[str]:
    """Yield the lines of a table, grouped by level, with the remedy below each finding."""
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
    return printable(one.code), cut(printable(one.clip or "-")), cut(printable(one.joint or "-")), time, size


def _plain(value: str | float | None) -> str | float | None:
    """Return a value that JSON can hold, which has no infinity and no NaN."""
    if isinstance(value, str):
        return unicode_text(value)
    return value if value is None or math.isfinite(value) else None
