"""Recordings: the calls that a controller got, as plain data that can be made again."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..clip import Clip
from ..mask import Mask
from .tracks import Key, Track

if TYPE_CHECKING:
    from .controller import AnimationController

__all__ = ["Recording"]


def plain(value: Any) -> Any:
    """An argument as data: what is no number, string or list becomes a dict whose one key says what it is."""
    if isinstance(value, Track):
        return {"track": value.number}
    if isinstance(value, Key):
        return {"key": value.number}
    if isinstance(value, Mask):
        return {"mask": value.to_dict()}
    if hasattr(value, "to_dict") and hasattr(value, "bind"):
        return {"space": value.to_dict()}
    if hasattr(value, "to_dict") and not isinstance(value, Clip):
        return {"machine": value.to_dict()}
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if hasattr(value, "item"):
        return value.item()  # a number of NumPy's
    return value


class Recording:
    """The calls of a controller, in order; made by `AnimationController.record`.

    `calls` is a list of [method, arguments, keywords]. It grows until `stop`. `to_json` and `from_json` keep
    it in a file; it needs the same clips in the model that it is replayed on.
    """

    def __init__(self, calls: list[list[Any]] | None = None) -> None:
        self.calls: list[list[Any]] = [] if calls is None else calls
        self._grows = calls is None
        self._made: dict[tuple[str, int], Any] = {}

    def stop(self) -> None:
        """No further calls are noted."""
        self._grows = False
        self._made = {}

    def to_json(self) -> str:
        """The calls as JSON. Raises ValueError where one has a Clip itself and not its name or index."""
        try:
            return json.dumps(self.calls, allow_nan=False)
        except TypeError:
            raise ValueError(
                "a recorded call has a Clip object, which JSON cannot hold; call clips by name or index"
            ) from None

    @classmethod
    def from_json(cls, text: str) -> "Recording":
        """The recording that `to_json` wrote. Raises ValueError for anything else."""
        try:
            calls = json.loads(text)
        except ValueError as error:
            raise ValueError(f"text is no recording: {error}") from None
        if not isinstance(calls, list) or not all(_is_call(call) for call in calls):
            raise ValueError("text is no recording: expected a list of [method, arguments, keywords]")
        return cls(calls)

    def calls_on(self, controller: "AnimationController") -> Iterator[str]:
        """Makes the calls again on a fresh controller; yields the name of each after it was made."""
        made = Recording()
        controller._recording = made
        for method, args, keywords in self.calls:
            values = [self._value(one, made) for one in args]
            named = {name: self._value(one, made) for name, one in keywords.items()}
            if method == "set" and named["name"] in _SETTABLE:
                setattr(made._made["track", named["track"]], named["name"], named["value"])
            elif method == "player" and named["method"] in _PLAYER_METHODS:
                getattr(made._made["player", named["player"]], named["method"])(*values)
            else:
                getattr(controller, method)(*values, **named)
            yield method
        controller._recording = None

    @staticmethod
    def _value(value: Any, made: "Recording") -> Any:
        """The argument that `plain` made data of."""
        from .blend_space import space_from_dict
        from .state_machine import StateMachine

        if isinstance(value, list):
            return tuple(Recording._value(one, made) for one in value)
        if not isinstance(value, dict) or len(value) != 1:
            return value
        ((kind, data),) = value.items()
        if kind in ("track", "key", "player"):
            return made._made[kind, data]
        makers = {"mask": Mask.from_dict, "space": space_from_dict, "machine": StateMachine}
        return makers[kind](data) if kind in makers else value

    def _note(self, method: str, args: list[Any], keywords: dict[str, Any]) -> None:
        if self._grows:
            self.calls.append([method, args, keywords])

    def _keep(self, made: Any) -> None:
        """Remembers a track, a key or a player by its number, for calls that name it."""
        self._made[type(made).__name__.removeprefix("State").lower(), made.number] = made

    def __len__(self) -> int:
        return len(self.calls)

    def __repr__(self) -> str:
        return f"<Recording: {len(self.calls)} calls>"


_SETTABLE = ("weight", "speed", "position", "enabled", "parameter")
_PLAYER_METHODS = ("trigger", "travel", "_set")
_METHODS = frozenset(
    ("play", "add_track", "cross_fade", "stop", "pause", "resume", "seek", "advance", "cancel", "run")
    + ("key_speed", "key_weight", "key_position", "key_enable", "key_priority_blend", "set", "player")
)


def _is_call(call: Any) -> bool:
    return (
        isinstance(call, list)
        and len(call) == 3
        and call[0] in _METHODS
        and isinstance(call[1], list)
        and isinstance(call[2], dict)
    )
