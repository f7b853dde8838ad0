"""The clips of a model as a sequence that also takes names."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from .._arguments import brief, integer
from .._strict import Strict
from .._text import quoted
from ..clip import Clip

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["Clips"]


class Clips(Strict, Sequence[Clip]):
    """The clips of a model, by index or by exact name.

    ``clips[0]`` and ``clips["walk"]`` are a `Clip`, and a slice is a tuple of them. ``in`` takes a clip or a
    name.

    Examples
    --------
    >>> clips = skinpy.character().clips
    >>> clips
    <Clips: 'walk', 'run', 'wave'>
    >>> clips["run"].duration < clips[0].duration
    True
    """

    def __init__(self, model: Model, cache: weakref.WeakValueDictionary[int, Clip]) -> None:
        self._model = model
        self._cache = cache

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the clips. If two are equal, ``clips[name]`` is the first clip."""
        return tuple(entry[0] for entry in self._model._clip_entries)

    def __len__(self) -> int:
        return len(self._model._clip_entries)

    @overload
    def __getitem__(self, index: int | str) -> Clip: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Clip, ...]: ...
    def __getitem__(self, index: int | str | slice) -> Clip | tuple[Clip, ...]:
        if isinstance(index, slice):
            return tuple(self._at(number) for number in range(*index.indices(len(self))))
        return self._at(self._model._clip_number(index))

    def _at(self, number: int) -> Clip:
        """The clip of this index, which is the same object as long as it is in use."""
        clip = self._cache.get(number)
        if clip is None:
            name, block, index = self._model._clip_entries[number]
            clip = Clip(block, index, self._model, name)
            clip._number = number
            self._cache[number] = clip
        return clip

    def __iter__(self) -> Iterator[Clip]:
        return (self._at(number) for number in range(len(self)))

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str):
            return item in self.names
        return isinstance(item, Clip) and any(clip == item for clip in self)

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """Return the index of the first clip that is `value` or has it as its name.

        Parameters
        ----------
        value : Clip or str
            A clip or the name of one.
        start, stop : int, optional
            The range of indices to look at, as in a slice.

        Returns
        -------
        int
            The index of the clip.

        Raises
        ------
        ValueError
            If there is no such clip.
        """
        clips: list[Any] = list(self.names if isinstance(value, str) else self)
        last = len(clips) if stop is None else integer("stop", stop)
        try:
            if not isinstance(value, str | Clip):
                raise ValueError
            return clips.index(value, integer("start", start), last)
        except ValueError:
            there = f"one of {list(self.names)} from start {brief(start)} to stop {brief(stop)}"
            raise ValueError(f"value is {brief(value)}; expected {there}") from None

    def count(self, value: object) -> int:
        """Return how many clips are `value` or have it as their name.

        Parameters
        ----------
        value : Clip or str
            A clip or the name of one.

        Returns
        -------
        int
            The number of clips.
        """
        if not isinstance(value, str | Clip):
            return 0  # arrays, say, compare with everything in their own way
        return list[Any](self.names if isinstance(value, str) else self).count(value)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._model, "clips")

    def __repr__(self) -> str:
        return "<Clips: " + (", ".join(map(quoted, self.names)) or "none") + ">"
