"""Events and root motion: what a clip has in addition to its channels, and how blocks store it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _block, _core
from .._arguments import brief, finite
from .._types import Array, Floats

if TYPE_CHECKING:
    from ..clip import Clip

__all__ = ["Event"]


@dataclass(frozen=True)
class Event:
    """Something that happens at one time in a clip, such as a footstep.

    Attributes
    ----------
    time : float, seconds
        When the event happens, from 0 to the duration of the clip.
    name : str
        Name of the event.
    """

    time: float
    name: str


@dataclass(frozen=True, eq=False)
class Motion:
    """The keys of a clip's root motion, as the block stores them.

    times (K,) float64 are increasing seconds. values (K,7) float32 are translations, each followed by a unit
    quaternion x y z w.
    """

    times: Array
    values: Floats


class Overlay(NamedTuple):
    """Events and root motion that replace those of the block; ``...`` stands for those of the block."""

    events: tuple[Event, ...] | EllipsisType = ...
    motion: Motion | EllipsisType | None = ...


def checked_event(time: float, name: str, duration: float) -> Event:
    """An Event of a clip that lasts `duration` seconds; Clip.add_event documents the errors."""
    if not isinstance(name, str):
        raise TypeError(f"name is {brief(name)}; expected str")
    if not name:
        raise TypeError("name is empty; expected a str of at least one character")
    if isinstance(time, bool) or not isinstance(time, (int, float, np.integer, np.floating)):
        raise TypeError(f"time is {brief(time)}; expected a number of seconds")
    if not 0.0 <= finite("time", time) <= duration:
        raise ValueError(
            f"time is {brief(time)}; expected 0 <= time <= {duration!r}, the duration of the clip"
        )
    return Event(float(time), name)


def sorted_events(events: Sequence[Event]) -> tuple[Event, ...]:
    """The events in the order of time; events of one time keep their order."""
    return tuple(sorted(events, key=lambda event: event.time))


# ---- in blocks -------------------------------------------------------------------------------------


def read_events(block: _core.Block, record: Any) -> tuple[Event, ...]:
    """The events of the clip with this record of section CLIPS."""
    first = int(record["first_event"])
    rows = _block.section(block, "EVENTS")[first : first + int(record["event_count"])]
    names = _block.texts(block, rows["name"])
    return tuple(Event(float(time), name) for time, name in zip(rows["time"], names, strict=True))


def read_motion(block: _core.Block, record: Any) -> Motion | None:
    """The root motion of the clip with this record of section CLIPS."""
    count = int(record["motion_count"])
    if not count:
        return None
    start, first = int(record["motion_times"]), int(record["motion_values"])
    values = _block.section(block, "VALUES")[first : first + count * _block.MOTION_WIDTH]
    times = _block.section(block, "TIMES")[start : start + count]
    return Motion(times, values.reshape(count, _block.MOTION_WIDTH))


class ClipRows:
    """The sections CLIPS and EVENTS of a block under construction."""

    def __init__(self, pool: _block.TextPool) -> None:
        self._pool = pool
        self._clips: list[tuple[Any, ...]] = []
        self._events: list[tuple[Any, ...]] = []
        self._channels = 0

    def add(
        self,
        like: Clip,
        channels: int,
        motion: tuple[int, int, int],
        *,
        duration: float | None = None,
        events: Sequence[Event] | None = None,
        additive: bool | None = None,
        name: str | None = None,
        ticks: float | None = None,
    ) -> None:
        """Add a clip of `channels` channels, which is like another clip in whatever is None.

        motion is the number of keys of the root motion and their offsets in the sections TIMES and VALUES, or
        `NO_MOTION`.
        """
        duration = like.duration if duration is None else duration
        events = like.events if events is None else events
        additive = like.is_additive if additive is None else additive
        ticks = like.ticks_per_second if ticks is None else ticks
        name = like.name if name is None else name
        head = (self._pool.add(name), duration, ticks, self._channels, channels)
        flags = _block.ADDITIVE if additive else 0
        self._clips.append((*head, flags, len(self._events), len(events), *motion))
        self._events += [(event.time, self._pool.add(event.name)) for event in events]
        self._channels += channels

    def sections(self) -> dict[str, Array]:
        """The sections CLIPS and EVENTS with all clips that were added."""
        return {
            "CLIPS": np.array(self._clips, _block.RECORDS["CLIPS"]),
            "EVENTS": np.array(self._events, _block.RECORDS["EVENTS"]),
        }


#: What a record of section CLIPS has for a clip without root motion.
NO_MOTION = (0, _block.NO_ARRAY, _block.NO_ARRAY)
