"""The findings of the loader's report."""

from collections.abc import Iterator

from ..assets import ReportEntry
from .findings import Finding, finding
from .remedies import MEANING as _MEANING
from .remedies import OTHERS as _OTHERS
from .remedies import remedy_of
from .subject import Subject

#: Codes that a rule of skinpy.check finds in the model itself, with joint and size.
_OWN = {"duplicate_names"}


def report_findings(subject: Subject) -> Iterator[Finding]:
    """Turn each entry of model.report into a finding; its size is the number of occurrences."""
    for entry in subject.model.report:
        if entry.code not in _OWN:
            yield _finding(entry)


def _finding(entry: ReportEntry) -> Finding:
    level, _ = _MEANING.get(entry.code, _OTHERS[entry.severity])
    remedy = remedy_of(entry)
    times = "once" if entry.count == 1 else f"{entry.count} times, the first"
    return finding(entry.code, level, f"{entry.message} ({times}: {entry.first})", remedy, size=entry.count)
