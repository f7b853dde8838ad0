"""The events between two positions of a clip that loops: each once, none missed."""

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

#: Events of one track in one step: more than any program can use.
MAX_EVENTS = 1e6


class Timed(Protocol):
    """Anything with a time in the clip, seconds."""

    @property
    def time(self) -> float: ...


def passed(
    events: Sequence[Timed], duration: float, loop: str, old: float, new: float, fresh: bool
) -> list[tuple[float, int]]:
    """Return (position, index of the event) of the events between `old` and `new`, in the order of playing.

    Positions are seconds that are not wrapped. Of the two ends `new` counts and `old` does not, so that
    consecutive intervals have each event once. `fresh` counts `old` too, where playing begins, except for
    events that belong to the cycle before: at the start of a cycle, those at the other end of the clip.

    Raises ValueError, before memory is allocated, for more than MAX_EVENTS in more than a few cycles.
    """
    low, high = min(old, new), max(old, new)
    if loop in ("wrap", "pingpong") and duration > 0.0:
        cycles = (high - low) / duration
        count = cycles * len(events)
        if (cycles > 4 and count > MAX_EVENTS) or not math.isfinite(max(-low, high) / duration):
            raise ValueError(
                f"dt is too long for a clip of {duration:.3g} s: {count:.3g} events would be passed; "
                f"expected a shorter step or a lower speed, for at most {MAX_EVENTS:g}"
            )
    other_end = 0.0 if new < old else duration
    met = [
        (position, number)
        for number, event in enumerate(events)
        for position in _positions(event.time, duration, loop, low, high)
        if low <= position <= high
        and (position != old or (fresh and (event.time != other_end or new == old)))
    ]
    # Of two events at one position, the one at the end of its cycle comes first.
    return sorted(met, key=lambda pair: (pair[0], -events[pair[1]].time, pair[1]), reverse=new < old)


def _positions(time: float, duration: float, loop: str, low: float, high: float) -> Iterator[float]:
    """Yield the positions of an event near low to high: at least all that lie there."""
    if loop in ("clamp", "once") or duration <= 0.0:
        yield time
        return
    period = duration if loop == "wrap" else 2 * duration
    if period == math.inf:  # a clip that is never played to its end
        yield time
        if time not in (0.0, duration):
            yield -time
        return
    backwards = () if loop == "wrap" or time in (0.0, duration) else (period - time,)
    for cycle in range(math.floor(low / period) - 1, math.floor(high / period) + 1):
        for within_period in (time, *backwards):
            yield within_period + cycle * period
