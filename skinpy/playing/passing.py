"""Events that lie between two positions of a clip that loops: each once, none missed."""

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

#: Of one track in one step: more than anybody can use.
MOST_EVENTS = 1e6


class Timed(Protocol):
    """Anything with a time in the clip, seconds."""

    @property
    def time(self) -> float: ...


def passed(
    events: Sequence[Timed], duration: float, loop: str, old: float, new: float, fresh: bool
) -> list[tuple[float, int]]:
    """(position, number of the event) of those between `old` and `new`, in the order in which they are met.

    Positions are seconds that are not wrapped. Of the two ends `new` counts and `old` does not, so that
    intervals that follow each other have each event once; `fresh` counts `old` too, where playing begins,
    but not what belongs to the turn before: where a turn starts, events at the other end of the clip.

    Raises ValueError for more than MOST_EVENTS in more than a few turns, before memory is taken for them.
    """
    low, high = min(old, new), max(old, new)
    if loop in ("wrap", "pingpong") and duration > 0.0:
        turns = (high - low) / duration
        count = turns * len(events)
        if (turns > 4 and count > MOST_EVENTS) or not math.isfinite(max(-low, high) / duration):
            raise ValueError(
                f"dt is too long for a clip of {duration:.3g} s: {count:.3g} events would be passed; "
                f"expected a shorter step or a lower speed, for at most {MOST_EVENTS:g}"
            )
    other_end = 0.0 if new < old else duration
    met = [
        (position, number)
        for number, event in enumerate(events)
        for position in _positions(event.time, duration, loop, low, high)
        if low <= position <= high
        and (position != old or (fresh and (event.time != other_end or new == old)))
    ]
    # Of two at one position the one at the end of its turn comes first.
    return sorted(met, key=lambda pair: (pair[0], -events[pair[1]].time, pair[1]), reverse=new < old)


def _positions(time: float, duration: float, loop: str, low: float, high: float) -> Iterator[float]:
    """Where an event shows up near low to high: at least all that lie there."""
    if loop in ("clamp", "once") or duration <= 0.0:
        yield time
        return
    period = duration if loop == "wrap" else 2 * duration
    if period == math.inf:  # of a clip that is never played to its end
        yield time
        if time not in (0.0, duration):
            yield -time
        return
    turned = () if loop == "wrap" or time in (0.0, duration) else (period - time,)
    for turn in range(math.floor(low / period) - 1, math.floor(high / period) + 1):
        for place in (time, *turned):
            yield place + turn * period
